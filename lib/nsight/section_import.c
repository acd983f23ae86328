/* SPDX-License-Identifier: BSD-2-Clause */
/* What a section file asks for: metrics wherever a chart, table or list names one, and formulas. */
#include <string.h>

#include "base/ctx.h"
#include "nsight/section_fail.h"
#include "nsight/section_filter.h"
#include "nsight/section_formula.h"
#include "nsight/section_name.h"
#include "nsight/section_passes.h"
#include "nsight/section_text.h"
#include "nsight/set_import.h"

struct importer {
	struct opk_drafts *drafts;
	struct opk_definitions definitions;
	struct opk_pass_groups passes;
};

/* What holds for all that is inside a message. */
struct scope {
	struct opk_section_filter filter;
	const char *title, *text; /* the heading */
};

/* One name that the section asks for, on some chips. */
struct request {
	const struct opk_field *message; /* where it stands */
	const char *name, *label, *group;
	opk_chip_mask chips;
	bool covered; /* others stand for it on some of its chips */
	const struct scope *scope;
};

static int enter_scope(struct scope *out, const struct importer *im,
                       const struct opk_field *message, const struct scope *around)
{
	struct opk_section_filter own;
	int code = opk_section_filter(&own, im->drafts->ctx, message);

	if (code)
		return code;
	*out = *around;
	out->filter.chips &= own.chips;
	out->filter.old_driver |= own.old_driver;
	return OPK_OK;
}

static int leave_out(struct importer *im, const struct request *request, const char *reason)
{
	return opk_drafts_leave_out(im->drafts, reason, request->name, request->label);
}

static int put(struct importer *im, size_t which, const struct request *request, const char *name,
               opk_chip_mask chips)
{
	const struct opk_field *factor = opk_field_find(request->message, "Multiplier",
	                                                OPK_FIELD_WORD);
	bool has_label = request->label && *request->label && !strchr(request->label, '{');
	opk_autofree char *label = NULL;

	if (has_label)
		label = factor ? opk_printf("%s: this times %s", request->label, factor->text)
		               : opk_strdup(request->label);
	if (has_label && !label)
		return opk_nomem(im->drafts->ctx, "a metric set");
	return opk_drafts_put(im->drafts, which, request->scope->title, request->scope->text,
	                      &(struct opk_draft_metric){ .name = (char *)name,
	                                                  .label = label,
	                                                  .chips = chips,
	                                                  .optional = true });
}

/* PM sampling: a set for each of a chip's passes. */
static int put_sampled(struct importer *im, const struct request *request, const char *name)
{
	opk_chip_mask left = request->chips;
	int code = OPK_OK;

	for (size_t pass = 0; !code && left && pass < OPK_DRAFT_PASSES; pass++) {
		opk_chip_mask now = opk_pass_chips(&im->passes, request->group, left, pass);

		if (now)
			code = put(im, OPK_DRAFT_PM + pass, request, name, now);
		left &= ~now;
	}
	if (im->passes.failed)
		return opk_nomem(im->drafts->ctx, "a metric set");
	return !code && left ? leave_out(im, request, "in a pass of PM sampling beyond the 16th")
	                     : code;
}

static int put_metric(struct importer *im, const struct request *request,
                      const struct opk_asked *asked, const char *name)
{
	return asked->profiler == OPK_PROFILER_PM
	               ? put_sampled(im, request, name)
	               : put(im, asked->device ? OPK_DRAFT_DEVICE : OPK_DRAFT_RANGE, request, name,
	                     request->chips);
}

/* A name that the section defines; `*found` where it does. */
static int put_defined(struct importer *im, const struct request *request, bool *found)
{
	const struct opk_definition *item = opk_definitions_find(&im->definitions, request->name);
	int code = OPK_OK;

	*found = item;
	for (; !code && item; item = item->same)
		if (item->formula && (item->chips & request->chips))
			code = put(im, OPK_DRAFT_RANGE, request, item->short_name,
			           item->chips & request->chips);
	return code;
}

static int ask(struct importer *im, const struct request *request)
{
	struct opk_asked asked = opk_asked_name(request->name);
	opk_autofree char *name = NULL;
	bool defined = false;
	int code;

	/* A placeholder in a table. */
	if (!*request->name)
		return OPK_OK;
	code = opk_drafts_count(im->drafts);
	if (!code)
		code = put_defined(im, request, &defined);
	if (code || defined)
		return code;
	if (asked.reason)
		return leave_out(im, request, asked.reason);
	code = opk_drafts_name(&name, im->drafts, &asked, request->name,
	                       &opk_field_find(request->message, "Name", OPK_FIELD_STRING)->place);
	if (code)
		return code;
	if (opk_field_find(request->message, "UserMetricExpr", OPK_FIELD_STRING))
		return leave_out(im, request, "defined by a script in the section");
	if (!asked.pattern && !opk_asked_has_rollup(asked.name))
		return leave_out(im, request, "without a rollup: metrics of Nsight Compute's own");
	if (request->scope->filter.old_driver)
		return leave_out(im, request, "for old drivers only");
	if (!request->chips)
		return leave_out(im, request,
		                 request->covered ? "others stand for it on all of its chips"
		                                  : "for chips that are not known here");
	code = opk_drafts_leave_out_parts(im->drafts, &asked, request->name);
	return code ? code : put_metric(im, request, &asked, name);
}

static bool is_option(const struct opk_field *field)
{
	return field->kind == OPK_FIELD_MESSAGE && !strcmp(field->name, "Options")
	       && opk_field_string(field, "Name");
}

/* The chips on which the metric's options stand for it. */
static int chips_of_options(opk_chip_mask *out, const struct importer *im,
                            const struct opk_field *metric)
{
	int code = OPK_OK;

	*out = 0;
	for (size_t i = 0; !code && i < metric->count; i++) {
		struct opk_section_filter filter;

		if (!is_option(&metric->fields[i]))
			continue;
		code = opk_section_filter(&filter, im->drafts->ctx, &metric->fields[i]);
		if (!code)
			*out |= filter.chips;
	}
	return code;
}

/* The first option whose filter a chip passes is the chip's. */
static int ask_options(struct importer *im, const struct opk_field *metric,
                       const struct request *around)
{
	opk_chip_mask left = around->scope->filter.chips;
	int code = OPK_OK;

	for (size_t i = 0; !code && i < metric->count; i++) {
		const struct opk_field *field = &metric->fields[i];
		const char *label = opk_field_string(field, "Label");
		struct request option = *around;
		struct opk_section_filter filter;

		if (!is_option(field))
			continue;
		code = opk_section_filter(&filter, im->drafts->ctx, field);
		if (code)
			break;
		option.message = field;
		option.name = opk_field_string(field, "Name");
		option.label = label ? label : around->label;
		option.chips = left & filter.chips;
		option.covered = (around->scope->filter.chips & filter.chips) != option.chips;
		left &= ~filter.chips;
		code = ask(im, &option);
	}
	return code;
}

/* A metric for its own chips less those of its options, and the options. */
static int ask_metric(struct importer *im, const struct opk_field *metric,
                      const struct scope *scope)
{
	struct request request = { .message = metric,
		                   .name = opk_field_string(metric, "Name"),
		                   .label = opk_field_string(metric, "Label"),
		                   .group = opk_field_string(metric, "Groups") };
	opk_chip_mask others;
	struct scope own;
	int code = enter_scope(&own, im, metric, scope);

	if (!code)
		code = chips_of_options(&others, im, metric);
	if (code)
		return code;
	request.scope = &own;
	request.chips = own.filter.chips & ~others;
	request.covered = request.chips != own.filter.chips;
	code = ask(im, &request);
	request.scope = scope;
	return code ? code : ask_options(im, metric, &request);
}

/* Each base name with each suffix. */
static int ask_table(struct importer *im, const struct opk_field *bases,
                     const struct opk_field *suffixes, const struct scope *scope)
{
	int code = OPK_OK;

	for (size_t i = 0; !code && i < bases->count * suffixes->count; i++) {
		const struct opk_field *base = &bases->fields[i / suffixes->count];
		const struct opk_field *suffix = &suffixes->fields[i % suffixes->count];
		const char *stem = opk_field_string(base, "Name"),
			   *end = opk_field_string(suffix, "Name");
		opk_autofree char *name = NULL;
		struct scope own;

		if (!stem || !*stem || !end)
			continue;
		name = opk_printf("%s%s", stem, end);
		if (!name)
			return opk_nomem(im->drafts->ctx, "a section");
		code = enter_scope(&own, im, base, scope);
		if (!code)
			code = ask(im, &(struct request){ .message = base,
			                                  .name = name,
			                                  .label = opk_field_string(base, "Label"),
			                                  .chips = own.filter.chips,
			                                  .scope = &own });
	}
	return code;
}

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

static int walk(struct importer *im, const struct opk_field *message, const struct scope *scope);

/* What a heading takes from a chart, a table, a row of charts. */
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

/* Any message inside the section: a metric, a table of names, or something with such in it. */
static int enter(struct importer *im, const struct opk_field *message,
                 const struct opk_field *parent, const struct scope *around)
{
	const struct opk_field *bases = opk_field_find(message, "BaseNames", OPK_FIELD_MESSAGE);
	const struct opk_field *suffixes = opk_field_find(message, "Suffixes", OPK_FIELD_MESSAGE);
	struct scope scope;
	int code;

	if (opk_field_string(message, "Name"))
		return ask_metric(im, message, around);
	code = enter_scope(&scope, im, message, around);
	if (code)
		return code;
	take_heading(&scope, message);
	if (bases && suffixes)
		return ask_table(im, bases, suffixes, &scope);
	if (!strcmp(parent->name, "Items") && !has_messages(message))
		return opk_drafts_leave_out(
			im->drafts, "charts and tables whose metrics Nsight Compute has built in",
			message->name, opk_field_string(message, "Label"));
	return walk(im, message, &scope);
}

static int walk(struct importer *im, const struct opk_field *message, const struct scope *scope)
{
	/* What has names that are none of metrics, or was looked at before. */
	static const char *const others[] = { "Filter", "Group", "Sets", "MetricDefinitions",
		                              NULL };
	int code = OPK_OK;

	for (size_t i = 0; !code && i < message->count; i++)
		if (message->fields[i].kind == OPK_FIELD_MESSAGE
		    && !is_named(&message->fields[i], others))
			code = enter(im, &message->fields[i], message, scope);
	return code;
}

/* MetricDefinitions, which hold others of their name. */
static int find_definitions(struct importer *im, const struct opk_field *message)
{
	static const char *const definitions[] = { "MetricDefinitions", NULL };
	int code = OPK_OK;

	for (size_t i = 0; !code && i < message->count; i++) {
		const struct opk_field *field = &message->fields[i];
		const char *name = opk_field_string(field, "Name");
		const char *expression = opk_field_string(field, "Expression");
		struct opk_section_filter filter;

		if (field->kind != OPK_FIELD_MESSAGE || !is_named(field, definitions))
			continue;
		code = opk_section_filter(&filter, im->drafts->ctx, field);
		if (!code && name)
			code = opk_definitions_add(&im->definitions, im->drafts->ctx, name,
			                           expression ? expression : "", filter.chips);
		if (!code)
			code = find_definitions(im, field);
	}
	return code;
}

/* One that no chart shows has its place at the end, where it is optional, and not required, as without a place. */
static int take_formula(struct importer *im, const struct opk_definition *item)
{
	struct opk_draft *draft = &im->drafts->drafts[OPK_DRAFT_RANGE];

	if (!opk_draft_add_formula(draft, item->short_name, item->formula))
		return opk_nomem(im->drafts->ctx, "a formula");
	if (opk_draft_find(draft, item->short_name))
		return OPK_OK;
	return opk_drafts_put(im->drafts, OPK_DRAFT_RANGE, "", "",
	                      &(struct opk_draft_metric){ .name = item->short_name,
	                                                  .chips = item->chips,
	                                                  .optional = true });
}

/* The formulas of the set, and those that can't be had. */
static int take_definitions(struct importer *im)
{
	int code = OPK_OK;

	for (size_t i = 0; !code && i < im->definitions.count; i++) {
		const struct opk_definition *item = &im->definitions.items[i];
		opk_autofree char *why = NULL;

		if (item->formula) {
			code = take_formula(im, item);
			continue;
		}
		why = opk_printf("%s; %s", item->expression, item->problem);
		if (!why)
			return opk_nomem(im->drafts->ctx, "a formula");
		code = opk_drafts_leave_out(im->drafts, "formulas that can't be had here",
		                            item->name, why);
	}
	return code;
}

static int read_head(struct importer *im, const struct opk_field *root)
{
	const char *name = opk_field_string(root, "Identifier");
	const char *title = opk_field_string(root, "DisplayName");
	const char *description = opk_field_string(root, "Description");

	if (!name || !*name)
		return opk_fail_at(im->drafts->ctx, &root->place,
		                   "a section has an Identifier, which this one lacks");
	im->drafts->optional = true;
	im->drafts->name = opk_strdup(name);
	im->drafts->title = opk_strdup(title ? title : "");
	im->drafts->description = opk_strdup(description ? description : "");
	return im->drafts->name && im->drafts->title && im->drafts->description
	               ? OPK_OK
	               : opk_nomem(im->drafts->ctx, "a section");
}

static int import_tree(struct importer *im, const struct opk_field *root)
{
	struct scope scope, all = { .filter.chips = opk_chips_all(), .title = "", .text = "" };
	int code = read_head(im, root);

	if (!code)
		code = find_definitions(im, root);
	if (!code)
		code = opk_definitions_resolve(&im->definitions, im->drafts->ctx);
	if (!code)
		code = enter_scope(&scope, im, root, &all);
	if (!code)
		code = walk(im, root, &scope);
	return code ? code : take_definitions(im);
}

int opk_section_import(struct opk_drafts *drafts, struct opk_source *source)
{
	struct importer im = { .drafts = drafts };
	struct opk_field *root = NULL;
	int code = opk_section_parse(&root, drafts->ctx, source);

	if (!code)
		code = import_tree(&im, root);
	opk_definitions_clear(&im.definitions);
	opk_pass_groups_clear(&im.passes);
	opk_section_free(root);
	return code;
}
