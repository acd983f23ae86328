/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes metric sets from section files of Nsight Compute, lists of names and single-pass sets. */
#include <string.h>

#include "base/ascii.h"
#include "base/ctx.h"
#include "base/file.h"
#include "base/problems.h"
#include "chip/chip.h"
#include "nsight/command.h"
#include "set/set.h"

enum { MAX_FILE = 8 << 20, MAX_NAME = 1024 };

struct opk_set_import {
	struct opk_imported_set sets[OPK_DRAFTS];
	size_t count;
	struct opk_ncu_command command;
	bool has_command;
};

/* ---- a list of names, as ncu --metrics takes it: lines, commas, comments */

struct list {
	struct opk_drafts *drafts;
	struct opk_source *source;
	const char *text;       /* the source's text */
	size_t size, at, start; /* `start`: of the line */
	char *comment;          /* alone on its line, for the next metric */
	struct opk_place place; /* of the byte `placed`, which is not after `at` */
	size_t placed;
};

static void fail_in_list(struct list *list, size_t at, const char *what)
{
	struct opk_place place = opk_place_of_byte(list->source, at);

	list->drafts->code = opk_fail_at(list->drafts->ctx, &place, "%s", what);
}

static void fail_without_memory(struct list *list)
{
	list->drafts->code = opk_nomem(list->drafts->ctx, "a metric set");
}

static bool ends_line(const struct list *list, size_t at)
{
	return at >= list->size || list->text[at] == '\n';
}

/* The comment at this '#', without it and surrounding blanks; free(). */
static char *comment_at(const struct list *list, size_t at)
{
	size_t end;

	while (!ends_line(list, at) && strchr("# \t", list->text[at]))
		at++;
	for (end = at; !ends_line(list, end);)
		end++;
	while (end > at && strchr(" \t\r", list->text[end - 1]))
		end--;
	return opk_strndup(list->text + at, end - at);
}

static void put(struct list *list, const char *text, const char *label)
{
	if (opk_drafts_put_name(list->drafts, text, &list->place, label, list->comment))
		free(opk_take(list->comment));
}

/* Reads one name from `list->at` on. */
static void read_name(struct list *list)
{
	size_t from = list->at, end = from, after;
	bool labelled;
	opk_autofree char *name = NULL, *label = NULL;

	for (; end < list->size && !strchr(", \t\r\n", list->text[end]); end++)
		if ((unsigned char)list->text[end] < ' ' || (unsigned char)list->text[end] > '~') {
			fail_in_list(list, end, "this is not a metric name");
			return;
		}
	if (end - from > MAX_NAME) {
		fail_in_list(list, from, "a metric name is not that long");
		return;
	}
	name = opk_strndup(list->text + from, end - from);
	for (after = end; after < list->size && strchr(", \t", list->text[after]);)
		after++;
	labelled = after < list->size && list->text[after] == '#';
	label = labelled ? comment_at(list, after) : NULL;
	if (!name || (labelled && !label)) {
		fail_without_memory(list);
		return;
	}
	opk_place_move(&list->place, &list->placed, from);
	list->at = end;
	if (opk_drafts_count(list->drafts, 0))
		put(list, name, label && *label ? label : NULL);
}

/* Reads a comment on a separate line; a comment after a name was read as its label. */
static void read_comment(struct list *list)
{
	bool alone = true;

	for (size_t i = list->start; i < list->at; i++)
		alone &= strchr(" \t", list->text[i]) != NULL;
	if (alone) {
		free(list->comment);
		list->comment = comment_at(list, list->at);
		if (!list->comment)
			fail_without_memory(list);
	}
	while (!ends_line(list, list->at))
		list->at++;
}

static void read_next(struct list *list)
{
	char c = list->text[list->at];

	if (c == '#') {
		read_comment(list);
	} else if (!c || !strchr(", \t\r\n", c)) {
		read_name(list);
	} else {
		list->at++;
		if (c == '\n')
			list->start = list->at;
	}
}

/* "folder/mine.txt" -> "mine" */
static char *stem(const char *source)
{
	const char *dot = strrchr(source, '.');

	return dot && dot != source ? opk_strndup(source, (size_t)(dot - source))
	                            : opk_strdup(source);
}

static void import_list(struct opk_drafts *drafts, struct opk_source *source)
{
	struct list list = { .drafts = drafts,
		             .source = source,
		             .text = source->text,
		             .size = source->size,
		             .place = { source, 1, 1 } };

	while (!drafts->code && list.at < list.size)
		read_next(&list);
	free(list.comment);
}

/* ---- section, command line or list */

/* The first character that is neither a blank nor in a comment. */
static size_t first_character(const char *text, size_t size)
{
	size_t at = 0;

	while (at < size && text[at] && strchr(" \t\r\n#", text[at]))
		if (text[at] == '#')
			while (at < size && text[at] != '\n')
				at++;
		else
			at++;
	return at;
}

/* Whether this is a section, not a list of names: by its file name, or by a field at its start. */
static bool is_section(const char *path, const char *text, size_t size)
{
	static const char *const prefixes[] = { "pmsampling", "breakdown", "regex", "group" };
	const char *dot = strrchr(path, '.'), *word = text + first_character(text, size),
		   *end = word;
	size_t length;

	if (dot && !strcmp(dot, ".section"))
		return true;
	/* The text is NUL-terminated. */
	end += opk_span(end, opk_in_name);
	length = (size_t)(end - word);
	for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
		if (length == strlen(prefixes[i]) && !strncmp(word, prefixes[i], length))
			return false;
	end += strspn(end, " \t");
	return length && *end && strchr("{<:", *end);
}

/* ---- the resulting sets */

/* An included set counts as many metrics. */
static size_t weight(const struct opk_draft *draft)
{
	return draft->metrics.count + 100 * draft->includes.count;
}

/* The set that lists what was left out: the one with the most metrics. */
static size_t largest(const struct opk_drafts *drafts)
{
	size_t best = 0;

	for (size_t i = 1; i < OPK_DRAFTS; i++)
		if (weight(&drafts->drafts[i]) > weight(&drafts->drafts[best]))
			best = i;
	return best;
}

/* The suffix of a set's name: "", "-range", "-device", "-pm", "-pm2". */
static char *suffix_of(size_t which, bool first)
{
	if (first)
		return opk_strdup("");
	if (which < OPK_DRAFT_PM)
		return opk_strdup(which == OPK_DRAFT_RANGE ? "-range" : "-device");
	return which == OPK_DRAFT_PM ? opk_strdup("-pm")
	                             : opk_printf("-pm%zu", which - OPK_DRAFT_PM + 1);
}

static void add_comments(struct opk_draft *draft, const struct opk_drafts *drafts)
{
	bool titled = drafts->title && *drafts->title;

	opk_draft_comment(draft, opk_printf("%s%sFrom %s by offpeak sets --import.",
	                                    titled ? drafts->title : "", titled ? ". " : "",
	                                    drafts->source));
	for (size_t i = 0; i < draft->notes.count; i++)
		opk_draft_comment(draft, opk_strdup(draft->notes.items[i]));
	if (drafts->optional)
		opk_draft_comment(draft, opk_strdup("Metrics are optional, as they are in Nsight "
		                                    "Compute: what a chip does not have is left "
		                                    "out there."));
}

/* Adds the chips that any of the metrics is for; an included set claims its own. */
static bool add_claims(struct opk_draft *draft, const struct opk_drafts *drafts)
{
	opk_chip_mask chips = draft->includes.count ? drafts->chips : 0;

	for (size_t i = 0; i < draft->metrics.count; i++)
		chips |= draft->metrics.items[i].chips;
	draft->claimed = chips;
	return chips == opk_chips_all() || opk_chip_mask_names(&draft->chips, chips);
}

static bool add_names(struct opk_draft *draft, const struct opk_drafts *drafts, const char *suffix)
{
	free(draft->name);
	free(draft->description);
	draft->name = opk_printf("%s%s", drafts->name, suffix);
	draft->description = opk_strdup(drafts->description ? drafts->description : "");
	return draft->name && draft->description;
}

static int write_set(struct opk_set_import *import, struct opk_drafts *drafts, size_t which,
                     bool first)
{
	struct opk_imported_set *set = &import->sets[import->count++];
	struct opk_draft *draft = &drafts->drafts[which];

	set->suffix = suffix_of(which, first);
	if (!set->suffix || !add_names(draft, drafts, set->suffix) || !add_claims(draft, drafts))
		return opk_nomem(drafts->ctx, "a metric set");
	add_comments(draft, drafts);
	set->name = opk_strdup(draft->name);
	set->profiler = draft->profiler;
	set->metric_count = draft->metrics.count;
	set->include_count = draft->includes.count;
	set->undivided = first && drafts->undivided;
	set->left_out_count = opk_draft_left_out_count(draft);
	set->yaml = opk_draft_write(draft);
	return set->name && set->yaml ? OPK_OK : opk_nomem(drafts->ctx, "a metric set");
}

/* Moves what was left out to the first set. */
static void give_reasons(struct opk_draft *to, struct opk_draft *from)
{
	to->failed |= from->failed;
	to->reasons = from->reasons;
	from->reasons = (struct opk_draft_reasons){ 0 };
}

/* "section Tile (reason), a, b and 3 more (reason)". */
static char *name_left_out(const struct opk_draft_reasons *reasons)
{
	enum { NAMED = 3 };
	opk_autobuf struct opk_buf text = { 0 };

	for (size_t i = 0; i < reasons->count; i++) {
		const struct opk_strlist *names = &reasons->items[i].names;

		for (size_t k = 0; k < names->count && k < NAMED; k++)
			opk_buf_add_printf(&text, "%s%.100s", text.size ? ", " : "",
			                   names->items[k]);
		if (names->count > NAMED)
			opk_buf_add_printf(&text, " and %zu more", names->count - NAMED);
		opk_buf_add_printf(&text, " (%s)", reasons->items[i].reason);
	}
	return opk_buf_take_text(&text);
}

static int fail_empty(const struct opk_drafts *drafts)
{
	opk_autofree char *names = name_left_out(&drafts->left.reasons);

	if (!names)
		return opk_nomem(drafts->ctx, "a metric set");
	return opk_fail(drafts->ctx, OPK_EFAILED,
	                "%s: it names nothing that a metric set can collect%s%s", drafts->path,
	                *names ? ": " : "", names);
}

static int write_sets(struct opk_set_import *import, struct opk_drafts *drafts)
{
	size_t first = largest(drafts);

	if (drafts->left.failed)
		return opk_nomem(drafts->ctx, "a metric set");
	for (size_t i = 0; i < OPK_DRAFTS; i++)
		if (drafts->drafts[i].failed)
			return opk_nomem(drafts->ctx, "a metric set");
	if (opk_draft_is_empty(&drafts->drafts[first]))
		return fail_empty(drafts);
	give_reasons(&drafts->drafts[first], &drafts->left);
	TRY(write_set(import, drafts, first, true));
	for (size_t i = 0; i < OPK_DRAFTS; i++) {
		if (i != first && !opk_draft_is_empty(&drafts->drafts[i]))
			TRY(write_set(import, drafts, i, false));
	}
	return OPK_OK;
}

/* The name of a set of a list or a command line: texts, and what comes from a pipe, have none. */
static void name_drafts(struct opk_drafts *drafts, const struct opk_set_import_options *options)
{
	bool named = !options->text && strncmp(drafts->path, "/dev/", 5) != 0;

	drafts->name = named           ? stem(drafts->source)
	               : options->name ? opk_strdup(options->name)
	                               : opk_strdup("ncu");
	if (!drafts->name)
		drafts->code = opk_nomem(drafts->ctx, "a metric set");
}

static void import_text(struct opk_set_import *import, struct opk_drafts *drafts,
                        struct opk_source *source, const struct opk_set_import_options *options)
{
	if (is_section(drafts->path, source->text, source->size)) {
		opk_section_import(drafts, source);
		return;
	}
	name_drafts(drafts, options);
	if (drafts->code)
		return;
	import->has_command = opk_has_ncu_command(source->text, source->size);
	if (import->has_command) {
		drafts->source = options->text ? "a command line of ncu" : drafts->source;
		opk_command_import(&import->command, drafts, source);
		return;
	}
	drafts->code = opk_check_other_tools(drafts->ctx, source);
	if (!drafts->code)
		import_list(drafts, source);
}

static int import_file(struct opk_set_import *import, struct opk_drafts *drafts,
                       const struct opk_set_import_options *options)
{
	const char *text = options->text;
	opk_auto(opk_source) struct opk_source *source = NULL;
	opk_autofree void *file = NULL;
	size_t size = text ? strlen(text) : 0, mark;

	if (!text) {
		TRY(opk_read_small_file(&file, &size, drafts->ctx, drafts->path, MAX_FILE));
		text = file;
	}
	mark = size >= 3 && !memcmp(text, "\xef\xbb\xbf", 3) ? 3 : 0;
	source = opk_source_new(drafts->path, text + mark, size - mark);
	if (!source)
		return opk_nomem(drafts->ctx, "a metric set");
	import_text(import, drafts, source, options);
	return drafts->code ? drafts->code : write_sets(import, drafts);
}

/* The chips that words mean; they are checked when sets are made for them. */
static int find_chips(struct opk_drafts *drafts, const struct opk_set_import_options *options)
{
	drafts->chips = options->chip_count ? 0 : opk_chips_all();
	for (size_t i = 0; i < options->chip_count; i++) {
		opk_autofree char *chip = NULL;
		struct opk_divided *divided;

		TRY(opk_chip_resolve(&chip, drafts->ctx, options->chips[i]));
		drafts->chips |= opk_chips_meant(chip);
		divided = opk_list_add(&drafts->divided);
		if (!divided)
			return opk_nomem(drafts->ctx, "a metric set");
		divided->chip = opk_take(chip);
	}
	return OPK_OK;
}

static void init_drafts(struct opk_drafts *drafts, struct opk_ctx *ctx, const char *path)
{
	*drafts = (struct opk_drafts){ .ctx = ctx, .path = path };
	drafts->seconds = OPK_EXPRESSION_SECONDS;
	drafts->source = opk_base_name(path);
	opk_draft_init(&drafts->left, "", "", OPK_PROFILER_RANGE);
	for (size_t i = 0; i < OPK_DRAFTS; i++)
		opk_draft_init(&drafts->drafts[i], "", "",
		               i < OPK_DRAFT_PM ? OPK_PROFILER_RANGE : OPK_PROFILER_PM);
}

static void clear_drafts(struct opk_drafts *drafts)
{
	opk_divided_clear(drafts);
	for (size_t i = 0; i < OPK_DRAFTS; i++)
		opk_draft_clear(&drafts->drafts[i]);
	opk_draft_clear(&drafts->left);
	free(drafts->name);
	free(drafts->description);
	free(drafts->title);
}

int opk_set_import_new(struct opk_set_import **out, struct opk_ctx *ctx,
                       const struct opk_set_import_options *options)
{
	struct opk_set_import *import = opk_alloc(sizeof *import);
	struct opk_drafts drafts;
	int code;

	if (!import)
		return opk_nomem(ctx, "a metric set");
	init_drafts(&drafts, ctx, options->path);
	code = find_chips(&drafts, options);
	if (!code)
		code = import_file(import, &drafts, options);
	clear_drafts(&drafts);
	if (code)
		opk_set_import_free(import);
	else
		*out = import;
	return code;
}

void opk_set_import_free(struct opk_set_import *import)
{
	if (!import)
		return;
	for (size_t i = 0; i < import->count; i++) {
		free((char *)import->sets[i].name);
		free((char *)import->sets[i].suffix);
		free((char *)import->sets[i].yaml);
	}
	opk_ncu_command_clear(&import->command);
	free(import);
}

size_t opk_set_import_count(const struct opk_set_import *import)
{
	return import->count;
}

const struct opk_imported_set *opk_set_import_get(const struct opk_set_import *import, size_t i)
{
	return &import->sets[i];
}

const struct opk_ncu_command *opk_set_import_command(const struct opk_set_import *import)
{
	return import->has_command ? &import->command : NULL;
}

int opk_single_pass_set_yaml(char **out, struct opk_ctx *ctx, const struct opk_single_pass_set *set,
                             const char *chip)
{
	opk_autofree char *upper = opk_chip_spelling(chip);
	struct opk_draft draft = { 0 };

	if (!upper)
		return opk_nomem(ctx, "a metric set");
	opk_draft_init(&draft, set->name, "", set->profiler);
	draft.failed |= !opk_strlist_add(&draft.chips, upper);
	opk_draft_comment(&draft,
	                  opk_printf("A single-pass set of %s (%s), by offpeak sets --single-pass.",
	                             upper, opk_single_pass_origin_name(set->origin)));
	for (size_t i = 0; i < set->metric_count; i++)
		opk_draft_add(&draft, &(struct opk_draft_metric){ .name = (char *)set->metrics[i],
		                                                  .chips = opk_chips_all() });
	for (size_t i = 0; i < set->left_out_count; i++)
		opk_draft_leave_out(&draft, "what does not fit beside the metrics above",
		                    set->left_out[i]);
	*out = opk_draft_write(&draft);
	opk_draft_clear(&draft);
	return *out ? OPK_OK : opk_nomem(ctx, "a metric set");
}
