/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Metrics that fit one pass together: read from the cache, or asked for and cached. The text, the
 * same in the cache, has a line "set NAME PROFILER ORIGIN", and after it lines of "metric NAME" and
 * "left_out NAME"; and lines of "unusable NAME REASON" for sets. There are tabs between the words.
 */
#include "plan/single_pass.h"

#include <string.h>
#include <strings.h>

#include "adapters/deflate/deflate.h"
#include "chip/chip.h"

static const char kind[] = "single-pass";

/* ---- the text in pieces */

static bool parse_origin(enum opk_single_pass_origin *out, const char *name)
{
	for (*out = 0; name && *out <= OPK_SINGLE_PASS_OFFPEAK; ++*out)
		if (!strcmp(name, opk_single_pass_origin_name(*out)))
			return true;
	return false;
}

/* While the text is cut: the next of each list. */
struct cutting {
	struct opk_single_pass_sets *sets;
	const char **metric, **left_out;
};

static bool take_set(struct cutting *c, char *rest)
{
	struct opk_single_pass_set *set = &c->sets->sets[c->sets->count++];
	const char *profiler;

	set->name = strsep(&rest, "\t");
	profiler = strsep(&rest, "\t");
	set->metrics = c->metric;
	set->left_out = c->left_out;
	return profiler && opk_profiler_parse(&set->profiler, profiler)
	       && parse_origin(&set->origin, rest);
}

static bool take_unusable(struct cutting *c, char *rest)
{
	const char *name = strsep(&rest, "\t");

	c->sets->unusable[c->sets->unusable_count++] = (struct opk_unusable){ name, rest };
	return rest;
}

/* False if the line is not ours. */
static bool take_line(struct cutting *c, const char *what, char *rest)
{
	struct opk_single_pass_sets *sets = c->sets;
	struct opk_single_pass_set *set = sets->count ? &sets->sets[sets->count - 1] : NULL;

	if (!strcmp(what, "set"))
		return take_set(c, rest);
	if (!strcmp(what, "unusable"))
		return take_unusable(c, rest);
	if (set && !strcmp(what, "metric")) {
		*c->metric++ = rest;
		set->metric_count++;
		return true;
	}
	if (set && !strcmp(what, "left_out")) {
		*c->left_out++ = rest;
		set->left_out_count++;
		return true;
	}
	return false;
}

static size_t count_lines(const char *text)
{
	size_t count = 1;

	for (; *text; text++)
		count += *text == '\n';
	return count;
}

/* False if the text is not ours, or memory is out: then the libraries are asked. */
static bool cut(struct opk_single_pass_sets *sets)
{
	size_t lines = count_lines(sets->text);
	char *rest = sets->text;
	struct cutting c = { .sets = sets };

	sets->sets = opk_alloc_array(lines, sizeof *sets->sets);
	sets->metrics = opk_alloc_array(lines, sizeof *sets->metrics);
	sets->left_out = opk_alloc_array(lines, sizeof *sets->left_out);
	sets->unusable = opk_alloc_array(lines, sizeof *sets->unusable);
	if (!sets->sets || !sets->metrics || !sets->left_out || !sets->unusable)
		return false;
	c.metric = sets->metrics;
	c.left_out = sets->left_out;
	for (char *line; (line = strsep(&rest, "\n"));) {
		const char *what = strsep(&line, "\t");

		if (line ? !take_line(&c, what, line) : *what)
			return false;
	}
	return true;
}

static void forget(struct opk_single_pass_sets *sets)
{
	free(opk_take(sets->text));
	free(opk_take(sets->sets));
	free(opk_take(sets->metrics));
	free(opk_take(sets->left_out));
	free(opk_take(sets->unusable));
	sets->count = sets->unusable_count = 0;
}

/* ---- all of it */

/* Asks, and caches the answer under the name `whom`, which may be NULL. */
static int ask(struct opk_single_pass_sets *sets, struct opk_ctx *ctx, const char *chip,
               char *wanted, const char *path, const char *whom)
{
	opk_autobuf struct opk_buf text = { 0 };

	TRY(opk_single_pass_ask(&text, ctx, chip, wanted, path));
	sets->text = opk_buf_take_text(&text);
	if (sets->text)
		opk_cache_store(ctx, kind, whom, sets->text, strlen(sets->text));
	return sets->text && cut(sets) ? OPK_OK : opk_nomem(ctx, "single-pass sets");
}

static int fill(struct opk_single_pass_sets *sets, struct opk_ctx *ctx, const char *chip)
{
	opk_autofree char *name = opk_chip_spelling(chip), *whom = NULL;
	opk_autofree char *path = NULL, *wanted = NULL;
	size_t size;

	TRY(name ? opk_data_file(&wanted, &path, ctx, "single_pass.tsv")
	         : opk_nomem(ctx, "single-pass sets"));
	if (!wanted && !(wanted = opk_strdup("")))
		return opk_nomem(ctx, "single-pass sets");
	whom = opk_cache_whom(ctx, "single-pass sets %08x %s\n",
	                      opk_crc32(0, wanted, strlen(wanted)), name);
	sets->text = opk_cache_load(&size, ctx, kind, whom);
	if (sets->text && cut(sets))
		return OPK_OK;
	forget(sets);
	return ask(sets, ctx, chip, wanted, path, whom);
}

/* Logs CUPTI's sets that are left out, with the reason of the first. */
static void note_unusable(const struct opk_single_pass_sets *sets, struct opk_ctx *ctx,
                          const char *chip)
{
	opk_autobuf struct opk_buf names = { 0 };

	for (size_t i = 0; i < sets->unusable_count; i++)
		opk_buf_add_printf(&names, "%s %s", i ? "," : "", sets->unusable[i].name);
	if (sets->unusable_count && !names.failed)
		opk_log(ctx, "single-pass sets that CUPTI lists for %s, but can't use (%s):%.*s",
		        chip, sets->unusable->reason, (int)names.size, (const char *)names.data);
}

OPK_DEFINE_AUTO(opk_single_pass_sets)

int opk_single_pass_sets_quietly(struct opk_single_pass_sets **out, struct opk_ctx *ctx,
                                 const char *chip)
{
	opk_auto(opk_single_pass_sets) struct opk_single_pass_sets *sets = opk_alloc(sizeof *sets);
	int code = sets ? fill(sets, ctx, chip) : opk_nomem(ctx, "single-pass sets");

	if (code)
		return opk_add(ctx, code, "no single-pass sets of %s", chip);
	*out = opk_take(sets);
	return OPK_OK;
}

int opk_single_pass_sets_new(struct opk_single_pass_sets **out, struct opk_ctx *ctx,
                             const char *chip)
{
	TRY(opk_single_pass_sets_quietly(out, ctx, chip));
	note_unusable(*out, ctx, chip);
	return OPK_OK;
}

void opk_single_pass_sets_free(struct opk_single_pass_sets *sets)
{
	if (!sets)
		return;
	forget(sets);
	free(sets);
}

size_t opk_single_pass_sets_count(const struct opk_single_pass_sets *sets)
{
	return sets->count;
}

const struct opk_single_pass_set *opk_single_pass_sets_get(const struct opk_single_pass_sets *sets,
                                                           size_t i)
{
	return &sets->sets[i];
}

const struct opk_single_pass_set *opk_single_pass_sets_find(const struct opk_single_pass_sets *sets,
                                                            const char *name)
{
	for (size_t i = 0; i < sets->count; i++)
		if (!strcasecmp(sets->sets[i].name, name))
			return &sets->sets[i];
	return NULL;
}
