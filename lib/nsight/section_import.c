/* SPDX-License-Identifier: BSD-2-Clause */
/* Collects a section file's metrics, from charts, tables and lists, and its formulas. */
#include "nsight/nsight.h"

#include <string.h>

#include "base/ascii.h"
#include "base/ctx.h"
#include "base/problems.h"

enum { PASS_CHIPS = 64, MAX_PASS_GROUPS = 1000 };

/* A pass group of PM sampling: one pass collects its metrics. */
struct pass_group {
	const char *name;   /* borrowed */
	opk_chip_mask seen; /* chips on which the group has a pass number */
	uint8_t pass[PASS_CHIPS];
};

struct importer {
	struct opk_drafts *drafts;
	struct opk_definitions definitions;
	struct pass_group *groups;
	size_t group_count, group_capacity;
	uint8_t passes[PASS_CHIPS]; /* on each chip so far */
};

/* The chips to which a part of a section applies. */
struct filter {
	opk_chip_mask chips;
	bool old_driver; /* only for drivers up to a version */
};

/* What applies to everything inside a message. */
struct scope {
	struct filter filter;
	const char *title, *text; /* the heading */
};

/* One name that the section asks for on some chips. */
struct request {
	const struct opk_field *message; /* the message with the name */
	const char *name, *label, *group;
	opk_chip_mask chips;
	bool covered; /* options replace it on some of its chips */
	const struct scope *scope;
};

static bool is_message(const struct opk_field *field, const char *name)
{
	return field->kind == OPK_FIELD_MESSAGE && !strcmp(field->name, name);
}

static void fail_without_memory(struct importer *im)
{
	im->drafts->code = opk_nomem(im->drafts->ctx, "a section");
}

/* ---- filters */

/* "CC_90" or "90"; `otherwise` if the field is absent. */
static unsigned read_arch(struct importer *im, const struct opk_field *filter, const char *name,
                          unsigned otherwise)
{
	const struct opk_field *field = opk_field_find(filter, name, OPK_FIELD_WORD);
	const char *digits;

	if (!field || im->drafts->code)
		return otherwise;
	digits = field->text + (strncmp(field->text, "CC_", 3) ? 0 : 3);
	if (*digits && strlen(digits) <= 4 && !digits[opk_span(digits, opk_is_digit)])
		return (unsigned)strtoul(digits, NULL, 10);
	im->drafts->code = opk_fail_at(im->drafts->ctx, &field->place,
	                               "%s is an architecture like CC_90, not %s", name,
	                               field->text);
	return otherwise;
}

/* Reads one filter without its items. */
static struct filter read_bounds(struct importer *im, const struct opk_field *filter)
{
	unsigned least = read_arch(im, filter, "MinArch", OPK_CC_NONE);
	unsigned most = read_arch(im, filter, "MaxArch", OPK_CC_OPEN);

	return (struct filter){ opk_chips_between(least, most),
		                opk_field_find(filter, "MaxKmd", OPK_FIELD_WORD) != NULL };
}

/* Reads MinArch and MaxArch, and any of several Items with them. */
static struct filter read_filter(struct importer *im, const struct opk_field *filter)
{
	struct filter out = read_bounds(im, filter);
	bool has_items = false;
	opk_chip_mask any = 0;

	for (size_t i = 0; i < filter->count; i++) {
		struct filter one;

		if (!is_message(&filter->fields[i], "Items"))
			continue;
		one = read_bounds(im, &filter->fields[i]);
		has_items = true;
		any |= one.old_driver ? 0 : one.chips;
	}
	if (has_items)
		out.chips &= any;
	return out;
}

/*
 * Reads the message's own filters. Conditions that are not about chips (how to collect, which
 * platform) exclude nothing.
 */
static struct filter filter_of(struct importer *im, const struct opk_field *message)
{
	struct filter out = { .chips = opk_chips_all() };

	for (size_t i = 0; i < message->count; i++) {
		struct filter one;

		if (!is_message(&message->fields[i], "Filter"))
			continue;
		one = read_filter(im, &message->fields[i]);
		out.chips &= one.chips;
		out.old_driver |= one.old_driver;
	}
	return out;
}

static struct scope scope_of(struct importer *im, const struct opk_field *message,
                             const struct scope *around)
{
	struct filter own = filter_of(im, message);
	struct scope scope = *around;

	scope.filter.chips &= own.chips;
	scope.filter.old_driver |= own.old_driver;
	return scope;
}

/* ---- passes of PM sampling */

/* The group with that name; NULL if there are too many. */
static struct pass_group *find_group(struct importer *im, const char *name)
{
	struct pass_group *added;

	for (size_t i = 0; i < im->group_count; i++)
		if (!strcmp(im->groups[i].name, name))
			return &im->groups[i];
	if (im->group_count >= MAX_PASS_GROUPS)
		return NULL;
	added = opk_append(&im->groups, &im->group_capacity, &im->group_count, sizeof *added);
	if (added)
		added->name = name;
	else
		fail_without_memory(im);
	return added;
}

/* The chips on which the group is this pass: each chip numbers its groups in order. */
static opk_chip_mask chips_of_pass(struct importer *im, struct pass_group *group,
                                   opk_chip_mask chips, size_t pass)
{
	opk_chip_mask out = 0;

	for (size_t i = 0; i < PASS_CHIPS; i++) {
		opk_chip_mask chip = chips & (opk_chip_mask)1 << i;

		if (chip & ~group->seen) {
			group->pass[i] = im->passes[i];
			im->passes[i] += im->passes[i] < UINT8_MAX;
		}
		group->seen |= chip;
		if (chip && group->pass[i] == pass)
			out |= chip;
	}
	return out;
}

/* ---- metrics */

static void leave_out(struct importer *im, const struct request *request, const char *reason)
{
	opk_drafts_leave_out(im->drafts, reason, request->name, request->label);
}

static void put(struct importer *im, size_t which, const struct request *request, const char *name,
                opk_chip_mask chips)
{
	const struct opk_field *factor = opk_field_find(request->message, "Multiplier",
	                                                OPK_FIELD_WORD);
	bool has_label = request->label && *request->label && !strchr(request->label, '{');
	opk_autofree char *label = NULL;

	if (has_label)
		label = factor ? opk_printf("%s: this times %s", request->label, factor->text)
		               : opk_strdup(request->label);
	if (has_label && !label) {
		fail_without_memory(im);
		return;
	}
	opk_drafts_put(im->drafts, which, request->scope->title, request->scope->text,
	               &(struct opk_draft_metric){ .name = (char *)name,
	                                           .label = label,
	                                           .chips = chips,
	                                           .optional = true });
}

/* PM sampling: each pass of a chip goes into its own set. */
static void put_sampled(struct importer *im, const struct request *request, const char *name)
{
	struct pass_group *group = find_group(im, request->group ? request->group : "");
	opk_chip_mask left = request->chips;

	for (size_t pass = 0; group && left && pass < OPK_DRAFT_PASSES; pass++) {
		opk_chip_mask now = chips_of_pass(im, group, left, pass);

		if (now)
			put(im, OPK_DRAFT_PM + pass, request, name, now);
		left &= ~now;
	}
	if (left)
		leave_out(im, request, "in a pass of PM sampling beyond the 16th");
}

/* False if the section does not define the name. */
static bool put_defined(struct importer *im, const struct request *request)
{
	const struct opk_definition *first = opk_definitions_find(&im->definitions, request->name);

	for (const struct opk_definition *item = first; item; item = item->same)
		if (item->formula && (item->chips & request->chips))
			put(im, OPK_DRAFT_RANGE, request, item->short_name,
			    item->chips & request->chips);
	return first;
}

/* Why the metric is not in the set; NULL: it is in the set. */
static const char *reason_against(const struct request *request, const struct opk_asked *asked)
{
	if (opk_field_find(request->message, "UserMetricExpr", OPK_FIELD_STRING))
		return "defined by a script in the section";
	if (!asked->pattern && !opk_asked_has_rollup(asked->name))
		return "without a rollup: metrics of Nsight Compute's own";
	if (request->scope->filter.old_driver)
		return "for old drivers only";
	if (request->chips)
		return NULL;
	return request->covered ? "others stand for it on all of its chips"
	                        : "for chips that are not known here";
}

static void ask(struct importer *im, const struct request *request)
{
	struct opk_asked asked = opk_asked_name(request->name);
	opk_autofree char *name = NULL;
	const char *reason;

	if (put_defined(im, request))
		return;
	if (asked.reason) {
		leave_out(im, request, asked.reason);
		return;
	}
	name = opk_drafts_name(im->drafts, &asked, request->name,
	                       &opk_field_find(request->message, "Name", OPK_FIELD_STRING)->place);
	if (!name)
		return;
	reason = reason_against(request, &asked);
	if (reason) {
		leave_out(im, request, reason);
		return;
	}
	if (asked.profiler == OPK_PROFILER_PM)
		put_sampled(im, request, name);
	else
		put(im, asked.device ? OPK_DRAFT_DEVICE : OPK_DRAFT_RANGE, request, name,
		    request->chips);
	opk_drafts_put_parts(im->drafts, &asked, request->name, request->scope->title);
}

/* An empty name is a placeholder. */
static void ask_message(struct importer *im, const struct request *request)
{
	if (*request->name && opk_drafts_count(im->drafts, request->message->count))
		ask(im, request);
}

static bool is_option(const struct opk_field *field)
{
	return is_message(field, "Options") && opk_field_string(field, "Name");
}

/* The chips on which options replace the metric. */
static opk_chip_mask chips_of_options(struct importer *im, const struct opk_field *metric)
{
	opk_chip_mask chips = 0;

	for (size_t i = 0; i < metric->count; i++)
		if (is_option(&metric->fields[i]))
			chips |= filter_of(im, &metric->fields[i]).chips;
	return chips;
}

/* A chip takes the first option whose filter includes it. */
static void ask_options(struct importer *im, const struct opk_field *metric,
                        const struct request *around)
{
	opk_chip_mask all = around->scope->filter.chips, left = all;

	for (size_t i = 0; i < metric->count; i++) {
		const struct opk_field *field = &metric->fields[i];
		const char *label = opk_field_string(field, "Label");
		struct request option = *around;
		opk_chip_mask chips;

		if (!is_option(field))
			continue;
		chips = filter_of(im, field).chips;
		option.message = field;
		option.name = opk_field_string(field, "Name");
		option.label = label ? label : around->label;
		option.chips = left & chips;
		option.covered = (all & chips) != option.chips;
		left &= ~chips;
		ask_message(im, &option);
	}
}

/* Asks for a metric's options, and for the metric on those of its chips that no option is for. */
static void ask_metric(struct importer *im, const struct opk_field *metric,
                       const struct scope *scope)
{
	struct scope own = scope_of(im, metric, scope);
	struct request request = { .message = metric,
		                   .name = opk_field_string(metric, "Name"),
		                   .label = opk_field_string(metric, "Label"),
		                   .group = opk_field_string(metric, "Groups"),
		                   .scope = &own };

	request.chips = own.filter.chips & ~chips_of_options(im, metric);
	request.covered = request.chips != own.filter.chips;
	ask_message(im, &request);
	request.scope = scope;
	ask_options(im, metric, &request);
}

/* Asks for each base name with each suffix. */
static void ask_table(struct importer *im, const struct opk_field *bases,
                      const struct opk_field *suffixes, const struct scope *scope)
{
	for (size_t i = 0; !im->drafts->code && i < bases->count * suffixes->count; i++) {
		const struct opk_field *base = &bases->fields[i / suffixes->count];
		const struct opk_field *suffix = &suffixes->fields[i % suffixes->count];
		const char *stem = opk_field_string(base, "Name"),
			   *end = opk_field_string(suffix, "Name");
		opk_autofree char *name = NULL;
		struct scope own;

		/* Looking names up goes through all fields. */
		if (!opk_drafts_count(im->drafts, base->count + suffix->count) || !stem || !*stem
		    || !end)
			continue;
		own = scope_of(im, base, scope);
		name = opk_printf("%s%s", stem, end);
		if (name)
			ask(im, &(struct request){ .message = base,
			                           .name = name,
			                           .label = opk_field_string(base, "Label"),
			                           .chips = own.filter.chips,
			                           .scope = &own });
		else
			fail_without_memory(im);
	}
}

/* ---- messages */

static bool is_named(const struct opk_field *field, const char *const *names)
{
	for (; *names; names++)
		if (!strcmp(field->name, *names))
			return true;
	return false;
}

static bool has_messages(const struct opk_field *message)
{
	for (size_t i = 0; i < message->count; i++)
		if (message->fields[i].kind == OPK_FIELD_MESSAGE)
			return true;
	return false;
}

static void walk(struct importer *im, const struct opk_field *message, const struct scope *scope);

/* Takes the heading of a chart, a table, or a row of charts. */
static void take_heading(struct scope *scope, const struct opk_field *message)
{
	static const char *const rows[] = { "MetricRows", NULL };
	const char *label = opk_field_string(message, "Label");
	const char *text = opk_field_string(message, "Description");

	if (!strcmp(message->name, "Body"))
		label = opk_field_string(message, "DisplayName");
	if (!label || !*label || is_named(message, rows))
		return;
	scope->title = label;
	scope->text = text ? text : "";
}

/* Any message in the section: a metric, a table of names, or a message that contains such. */
static void enter(struct importer *im, const struct opk_field *message,
                  const struct opk_field *parent, const struct scope *around)
{
	const struct opk_field *bases = opk_field_find(message, "BaseNames", OPK_FIELD_MESSAGE);
	const struct opk_field *suffixes = opk_field_find(message, "Suffixes", OPK_FIELD_MESSAGE);
	struct scope scope;

	if (opk_field_string(message, "Name")) {
		ask_metric(im, message, around);
		return;
	}
	scope = scope_of(im, message, around);
	take_heading(&scope, message);
	if (bases && suffixes)
		ask_table(im, bases, suffixes, &scope);
	else if (!strcmp(parent->name, "Items") && !has_messages(message))
		opk_drafts_leave_out(im->drafts,
		                     "charts and tables whose metrics Nsight Compute has built in",
		                     message->name, opk_field_string(message, "Label"));
	else
		walk(im, message, &scope);
}

static void walk(struct importer *im, const struct opk_field *message, const struct scope *scope)
{
	/* Messages without names of metrics, or that were read before. */
	static const char *const others[] = { "Filter", "Group", "Sets", "MetricDefinitions",
		                              NULL };

	for (size_t i = 0; !im->drafts->code && i < message->count; i++)
		if (message->fields[i].kind == OPK_FIELD_MESSAGE
		    && !is_named(&message->fields[i], others))
			enter(im, &message->fields[i], message, scope);
}

/* ---- definitions */

/* Finds MetricDefinitions, which contain others with that field name. */
static void find_definitions(struct importer *im, const struct opk_field *message)
{
	for (size_t i = 0; !im->drafts->code && i < message->count; i++) {
		const struct opk_field *field = &message->fields[i];
		const char *name = opk_field_string(field, "Name");
		const char *expression = opk_field_string(field, "Expression");
		opk_chip_mask chips;

		if (!is_message(field, "MetricDefinitions"))
			continue;
		chips = filter_of(im, field).chips;
		if (name && !im->drafts->code)
			im->drafts->code = opk_definitions_add(&im->definitions, im->drafts->ctx,
			                                       name, expression ? expression : "",
			                                       chips);
		find_definitions(im, field);
	}
}

/* A formula that no chart shows is optional and comes last: else it would be required. */
static void take_formula(struct importer *im, const struct opk_definition *item)
{
	struct opk_draft *draft = &im->drafts->drafts[OPK_DRAFT_RANGE];

	opk_draft_add_formula(draft, item->short_name, item->formula);
	if (!opk_draft_find(draft, item->short_name))
		opk_drafts_put(im->drafts, OPK_DRAFT_RANGE, "", "",
		               &(struct opk_draft_metric){ .name = item->short_name,
		                                           .chips = item->chips,
		                                           .optional = true });
}

/* Takes the section's formulas, and leaves out definitions without one. */
static void take_definitions(struct importer *im)
{
	for (size_t i = 0; !im->drafts->code && i < im->definitions.count; i++) {
		const struct opk_definition *item = &im->definitions.items[i];
		opk_autofree char *why = NULL;

		if (item->formula) {
			take_formula(im, item);
			continue;
		}
		why = opk_printf("%s; %s", item->expression, item->problem);
		if (why)
			opk_drafts_leave_out(im->drafts, "formulas that can't be had here",
			                     item->name, why);
		else
			fail_without_memory(im);
	}
}

/* ---- the section */

static void read_head(struct importer *im, const struct opk_field *root)
{
	const char *name = opk_field_string(root, "Identifier");
	const char *title = opk_field_string(root, "DisplayName");
	const char *description = opk_field_string(root, "Description");
	struct opk_drafts *drafts = im->drafts;

	if (!name || !*name) {
		drafts->code = opk_fail_at(drafts->ctx, &root->place,
		                           "a section has an Identifier, which this one lacks");
		return;
	}
	drafts->optional = true;
	drafts->name = opk_strdup(name);
	drafts->title = opk_strdup(title ? title : "");
	drafts->description = opk_strdup(description ? description : "");
	if (!drafts->name || !drafts->title || !drafts->description)
		fail_without_memory(im);
}

static void import_tree(struct importer *im, const struct opk_field *root)
{
	struct opk_drafts *drafts = im->drafts;
	struct scope scope, all = { .filter.chips = drafts->chips, .title = "", .text = "" };

	read_head(im, root);
	find_definitions(im, root);
	if (!drafts->code)
		drafts->code = opk_definitions_resolve(&im->definitions, drafts->ctx);
	scope = scope_of(im, root, &all);
	walk(im, root, &scope);
	take_definitions(im);
}

void opk_section_import(struct opk_drafts *drafts, struct opk_source *source)
{
	struct importer im = { .drafts = drafts };
	struct opk_field *root = NULL;

	drafts->code = opk_section_parse(&root, drafts->ctx, source);
	if (!drafts->code)
		import_tree(&im, root);
	opk_definitions_clear(&im.definitions);
	free(im.groups);
	opk_section_free(root);
}
