/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the set that words mean: names of sets, paths, metrics, names of nvprof, lists of these. */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "chip/chip.h"
#include "set/door.h"
#include "set/set.h"
#include "set/set_read.h"

int opk_set_from_names(struct opk_set **out, struct opk_ctx *ctx, const char *spec)
{
	opk_auto(opk_set) struct opk_set *set = opk_set_create("custom", "");
	opk_autofree char *names = opk_strdup(spec);
	char *rest = names;
	bool ok = set && names;

	for (char *name; ok && (name = strsep(&rest, ","));)
		if (*name)
			ok = opk_set_add_name(set, name);
	if (!ok || !opk_set_complete(set))
		return opk_nomem(ctx, "a metric set");
	if (!set->metrics.count)
		return opk_fail(ctx, OPK_EUSAGE, "'%s' names no metric", spec);
	*out = opk_take(set);
	return OPK_OK;
}

/* ---- words that are not a set */

static int is_legacy(bool *out, struct opk_ctx *ctx, const char *name)
{
	opk_autolegacyrow struct opk_legacy_row row = { 0 };

	TRY(opk_legacy_find(&row, ctx, name));
	*out = row.name != NULL;
	return OPK_OK;
}

/* The user may have meant a file here: it needs a path. */
static int no_such_set(struct opk_ctx *ctx, const char *name)
{
	static const char *const endings[] = { "yaml", "yml" };
	opk_autofree char *near = NULL;
	struct stat status;

	if (!stat(name, &status) && S_ISREG(status.st_mode))
		return opk_fail(ctx, OPK_EUSAGE,
		                "no metric set '%s' is shipped; the file of that name is read as a "
		                "set where its name ends in .yaml or .yml, or as ./%s",
		                name, name);
	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
		opk_autofree char *path = opk_printf("./%s.%s", name, endings[i]);

		if (!path)
			return opk_nomem(ctx, "a metric set");
		if (*name && !access(path, F_OK))
			return opk_fail(ctx, OPK_EUSAGE,
			                "no metric set '%s' is shipped; did you mean the file %s?",
			                name, path);
	}
	TRY(opk_name_meant(&near, ctx, name));
	return opk_set_none_shipped(ctx, name, near);
}

/* ---- one word */

static int find_word(struct opk_set **out, struct opk_ctx *ctx, const char *word)
{
	opk_autofree char *path = NULL;
	bool legacy = false;
	int code;

	if (opk_set_is_path(word))
		return opk_set_load_partly(out, ctx, word);
	/* Metric names have a double underscore, sets don't. */
	if (strstr(word, "__"))
		return opk_set_from_names(out, ctx, word);
	code = opk_set_shipped(&path, ctx, word);
	if (code || path)
		return code ? code : opk_set_load_partly(out, ctx, path);
	code = is_legacy(&legacy, ctx, word);
	if (code)
		return code;
	return legacy ? opk_set_from_names(out, ctx, word) : no_such_set(ctx, word);
}

/* ---- lists */

/* Whether the word means a set: a word that is neither a path nor shipped can only be a metric. */
static int means_set(bool *out, struct opk_ctx *ctx, const char *word)
{
	opk_autofree char *path = NULL;

	*out = opk_set_is_path(word);
	if (*out || !*word || strstr(word, "__"))
		return OPK_OK;
	TRY(opk_set_shipped(&path, ctx, word));
	*out = path != NULL;
	return OPK_OK;
}

/* The sets of a list; its metrics are one set, in the place of the first metric. */
struct words {
	struct opk_set **sets;
	size_t count;
	struct opk_buf names;
	struct opk_set **metrics; /* the place of that set among the sets; NULL: none */
};

static int add_word(struct words *w, struct opk_ctx *ctx, const char *word)
{
	bool set = false;
	int code = means_set(&set, ctx, word);

	if (code || !*word)
		return code;
	if (set) {
		code = opk_set_find(&w->sets[w->count], ctx, word);
		w->count += !code;
		return code;
	}
	if (!w->metrics)
		w->metrics = &w->sets[w->count++];
	opk_buf_add_printf(&w->names, "%s,", word);
	return w->names.failed ? opk_nomem(ctx, "a metric set") : OPK_OK;
}

static int join_words(struct opk_set **out, struct words *w, struct opk_ctx *ctx)
{
	opk_autofree char *names = opk_buf_take_text(&w->names);

	if (!names)
		return opk_nomem(ctx, "a metric set");
	if (w->metrics)
		TRY(opk_set_from_names(w->metrics, ctx, names));
	return opk_set_join(out, ctx, (const struct opk_set *const *)w->sets, w->count);
}

static void clear(struct words *w)
{
	for (size_t i = 0; i < w->count; i++)
		opk_set_free(w->sets[i]);
	free(w->sets);
	opk_buf_clear(&w->names);
}

static int find_list(struct opk_set **out, struct opk_ctx *ctx, const char *spec)
{
	opk_autofree char *copy = opk_strdup(spec);
	char *rest = copy;
	__attribute__((cleanup(clear))) struct words w = {
		.sets = opk_alloc_array(strlen(spec) + 1, sizeof *w.sets)
	};

	if (!copy || !w.sets)
		return opk_nomem(ctx, "a metric set");
	for (char *word; (word = strsep(&rest, ","));)
		TRY(add_word(&w, ctx, word));
	/* Metrics alone are returned as one set. */
	return w.count > (w.metrics != NULL) ? join_words(out, &w, ctx)
	                                     : opk_set_from_names(out, ctx, spec);
}

int opk_set_find_partly(struct opk_set **out, struct opk_ctx *ctx, const char *spec)
{
	*out = NULL;
	/* A comma may be part of a path. */
	if (!strchr(spec, ',') || (opk_set_is_path(spec) && !access(spec, F_OK)))
		return find_word(out, ctx, spec);
	return find_list(out, ctx, spec);
}

int opk_set_find(struct opk_set **out, struct opk_ctx *ctx, const char *spec)
{
	opk_auto(opk_set) struct opk_set *set = NULL;

	TRY(opk_set_find_partly(&set, ctx, spec));
	*out = opk_take(set);
	return OPK_OK;
}
