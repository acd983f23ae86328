/* SPDX-License-Identifier: BSD-2-Clause */
/* Metric sets of Nsight Compute's section files and of lists of names. */
#include "nsight/set_import.h"

#include <string.h>

#include "base/ascii.h"
#include "base/file.h"
#include "chip/chip.h"
#include "set/expression.h"

enum { MAX_FILE = 8 << 20, MAX_ASKED = 50000, MAX_METRICS = 10000 };

struct opk_set_import {
	struct opk_imported_set sets[OPK_DRAFTS];
	size_t count;
};

int opk_drafts_count(struct opk_drafts *drafts)
{
	if (++drafts->asked > MAX_ASKED)
		return opk_fail(drafts->ctx, OPK_EINPUT, "%s: names metrics more than %d times",
		                drafts->path, MAX_ASKED);
	return OPK_OK;
}

int opk_drafts_put(struct opk_drafts *drafts, size_t which, const char *title, const char *text,
                   const struct opk_draft_metric *metric)
{
	struct opk_draft *draft = &drafts->drafts[which];
	struct opk_draft_metric *found = opk_draft_find(draft, metric->name);

	if (found) {
		found->chips |= metric->chips;
		return OPK_OK;
	}
	if (draft->metric_count >= MAX_METRICS)
		return opk_fail(drafts->ctx, OPK_EINPUT, "%s: more than %d metrics", drafts->path,
		                MAX_METRICS);
	return opk_draft_enter(draft, title, text) && opk_draft_add(draft, metric)
	               ? OPK_OK
	               : opk_nomem(drafts->ctx, "a metric set");
}

int opk_drafts_leave_out(struct opk_drafts *drafts, const char *reason, const char *name,
                         const char *label)
{
	opk_autofree char *text = label && *label ? opk_printf("%s (%s)", name, label)
	                                          : opk_strdup(name);

	return text && opk_draft_leave_out(&drafts->left, reason, text)
	               ? OPK_OK
	               : opk_nomem(drafts->ctx, "a metric set");
}

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

/* Whether this is a section rather than names: it is called so, or begins with a field. */
static bool is_section(const char *path, const char *text, size_t size)
{
	static const char *const prefixes[] = { "pmsampling", "breakdown", "regex", "group" };
	const char *dot = strrchr(path, '.'), *word = text + first_character(text, size),
		   *end = word;
	size_t length;

	if (dot && !strcmp(dot, ".section"))
		return true;
	/* A NUL stands behind the text. */
	end += opk_span(end, opk_in_name);
	length = (size_t)(end - word);
	for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
		if (length == strlen(prefixes[i]) && !strncmp(word, prefixes[i], length))
			return false;
	end += strspn(end, " \t");
	return length && *end && strchr("{<:", *end);
}

/* The set that what could not be had belongs to: the one with most metrics. */
static size_t largest(const struct opk_drafts *drafts)
{
	size_t best = 0;

	for (size_t i = 1; i < OPK_DRAFTS; i++)
		if (drafts->drafts[i].metric_count > drafts->drafts[best].metric_count)
			best = i;
	return best;
}

/* What tells one set of the file from another: "", "-range", "-device", "-pm", "-pm2". */
static char *suffix_of(size_t which, bool first)
{
	if (first)
		return opk_strdup("");
	if (which < OPK_DRAFT_PM)
		return opk_strdup(which == OPK_DRAFT_RANGE ? "-range" : "-device");
	return which == OPK_DRAFT_PM ? opk_strdup("-pm")
	                             : opk_printf("-pm%zu", which - OPK_DRAFT_PM + 1);
}

static bool add_comments(struct opk_draft *draft, const struct opk_drafts *drafts)
{
	bool titled = drafts->title && *drafts->title;

	if (!opk_strlist_take(&draft->comments, opk_printf("%s%sFrom %s by offpeak sets --import.",
	                                                   titled ? drafts->title : "",
	                                                   titled ? ". " : "", drafts->source)))
		return false;
	return !drafts->optional
	       || opk_strlist_add(&draft->comments,
	                          "Metrics are optional, as they are in Nsight Compute: "
	                          "what a chip does not have is left out there.");
}

/* The chips that any of the metrics is for. */
static bool add_claims(struct opk_draft *draft)
{
	opk_chip_mask chips = 0;

	for (size_t i = 0; i < draft->metric_count; i++)
		chips |= draft->metrics[i].chips;
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
	opk_autofree char *suffix = suffix_of(which, first);
	opk_autobuf struct opk_buf buf = { 0 };

	if (!suffix || !add_names(draft, drafts, suffix) || !add_comments(draft, drafts)
	    || !add_claims(draft))
		return opk_nomem(drafts->ctx, "a metric set");
	opk_draft_write(&buf, draft);
	opk_buf_add(&buf, "", 1);
	set->name = opk_strdup(draft->name);
	set->suffix = opk_take(suffix);
	set->profiler = draft->profiler;
	set->metric_count = draft->metric_count;
	set->left_out_count = opk_draft_left_out_count(draft);
	set->yaml = buf.failed ? NULL : (const char *)opk_take(buf.data);
	return set->name && set->suffix && set->yaml ? OPK_OK
	                                             : opk_nomem(drafts->ctx, "a metric set");
}

/* What was left out is told by the first set. */
static void give_reasons(struct opk_draft *to, struct opk_draft *from)
{
	to->reasons = opk_take(from->reasons);
	to->reason_count = from->reason_count;
	to->reason_capacity = from->reason_capacity;
	from->reason_count = from->reason_capacity = 0;
}

static int write_sets(struct opk_set_import *import, struct opk_drafts *drafts)
{
	size_t first = largest(drafts);
	int code;

	if (!drafts->drafts[first].metric_count)
		return opk_fail(drafts->ctx, OPK_EFAILED,
		                "%s: there is no metric of the hardware's in it (%zu others)",
		                drafts->path, opk_draft_left_out_count(&drafts->left));
	give_reasons(&drafts->drafts[first], &drafts->left);
	code = write_set(import, drafts, first, true);
	for (size_t i = 0; !code && i < OPK_DRAFTS; i++)
		if (i != first && drafts->drafts[i].metric_count)
			code = write_set(import, drafts, i, false);
	return code;
}

static int import_file(struct opk_set_import *import, struct opk_drafts *drafts)
{
	opk_auto(opk_source) struct opk_source *source = NULL;
	opk_autofree void *text = NULL;
	size_t size = 0, mark; /* of UTF-8, as some editors write it */
	int code = opk_read_file(&text, &size, drafts->ctx, drafts->path);

	if (code)
		return code;
	if (size > MAX_FILE)
		return opk_fail(drafts->ctx, OPK_EINPUT, "%s: more than %d bytes", drafts->path,
		                MAX_FILE);
	mark = size >= 3 && !memcmp(text, "\xef\xbb\xbf", 3) ? 3 : 0;
	source = opk_source_new(drafts->path, (char *)text + mark, size - mark);
	if (!source)
		return opk_nomem(drafts->ctx, "a section");
	code = is_section(drafts->path, source->text, source->size)
	               ? opk_section_import(drafts, source)
	               : opk_list_import(drafts, source);
	return code ? code : write_sets(import, drafts);
}

static int init_drafts(struct opk_drafts *drafts, struct opk_ctx *ctx, const char *path)
{
	const char *slash = strrchr(path, '/');
	bool good = opk_draft_init(&drafts->left, "", "", OPK_PROFILER_RANGE);

	drafts->ctx = ctx;
	drafts->path = path;
	drafts->seconds = OPK_EXPRESSION_SECONDS;
	drafts->source = slash ? slash + 1 : path;
	for (size_t i = 0; good && i < OPK_DRAFTS; i++)
		good = opk_draft_init(&drafts->drafts[i], "", "",
		                      i < OPK_DRAFT_PM ? OPK_PROFILER_RANGE : OPK_PROFILER_PM);
	return good ? OPK_OK : opk_nomem(ctx, "a metric set");
}

static void clear_drafts(struct opk_drafts *drafts)
{
	for (size_t i = 0; i < OPK_DRAFTS; i++)
		opk_draft_clear(&drafts->drafts[i]);
	opk_draft_clear(&drafts->left);
	free(drafts->name);
	free(drafts->description);
	free(drafts->title);
}

int opk_set_import_new(struct opk_set_import **out, struct opk_ctx *ctx, const char *path)
{
	struct opk_set_import *import = opk_alloc(sizeof *import);
	struct opk_drafts drafts = { 0 };
	int code;

	if (!import)
		return opk_nomem(ctx, "a metric set");
	code = init_drafts(&drafts, ctx, path);
	if (!code)
		code = import_file(import, &drafts);
	clear_drafts(&drafts);
	if (code) {
		opk_set_import_free(import);
		return code;
	}
	*out = import;
	return OPK_OK;
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

int opk_single_pass_set_yaml(char **out, struct opk_ctx *ctx, const struct opk_single_pass_set *set,
                             const char *chip)
{
	opk_autofree char *upper = opk_chip_upper(chip);
	opk_autobuf struct opk_buf buf = { 0 };
	struct opk_draft draft = { 0 };
	bool good = upper && opk_draft_init(&draft, set->name, "", set->profiler)
	            && opk_strlist_add(&draft.chips, upper);

	good = good
	       && opk_strlist_take(
		       &draft.comments,
		       opk_printf("A single-pass set of %s (%s), by offpeak sets --single-pass.",
	                          upper, opk_single_pass_origin_name(set->origin)));
	for (size_t i = 0; good && i < set->metric_count; i++)
		good = opk_draft_add(&draft,
		                     &(struct opk_draft_metric){ .name = (char *)set->metrics[i],
		                                                 .chips = opk_chips_all() });
	for (size_t i = 0; good && i < set->left_out_count; i++)
		good = opk_draft_leave_out(&draft, "what does not fit beside the metrics above",
		                           set->left_out[i]);
	if (good)
		opk_draft_write(&buf, &draft);
	opk_draft_clear(&draft);
	opk_buf_add(&buf, "", 1);
	if (!good || buf.failed)
		return opk_nomem(ctx, "a metric set");
	*out = (char *)opk_take(buf.data);
	return OPK_OK;
}
