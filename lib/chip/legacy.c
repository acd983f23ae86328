/* SPDX-License-Identifier: BSD-2-Clause */
/* nvprof's names: what they are today, names like a misspelt one, terms for several metrics. */
#include "chip/chip.h"

#include <fnmatch.h>
#include <string.h>

#include "base/ascii.h"
#include "base/buf.h"

/* Owns the arrays and the text of `shown`. */
struct legacy {
	struct opk_legacy shown;
	char *file; /* cut into pieces */
	char *formula;
	struct opk_legacy_term *terms;
	struct opk_strlist near;
};

/* ---- the file */

struct entry {
	const char *kind, *name, *formula;
};

/* Calls `take` with each line's entry, after the heading; they are in *file, free(). */
static int each_entry(char **file, struct opk_ctx *ctx,
                      void (*take)(void *data, const struct entry *entry), void *data)
{
	opk_autofree char *path = NULL;
	size_t line_number = 0;
	int code = opk_data_file(file, &path, ctx, "legacy_names.tsv");
	char *text = *file;

	if (code)
		return code;

	for (char *line; (line = strsep(&text, "\n"));) {
		struct entry entry = { .kind = strsep(&line, "\t") };

		line_number++;
		entry.name = line ? strsep(&line, "\t") : NULL;
		entry.formula = line ? strsep(&line, "\t\r") : NULL;
		if (!*entry.kind || line_number == 1)
			continue;
		if (!entry.formula || !*entry.name)
			return opk_fail(
				ctx, OPK_EINPUT,
				"%s:%zu: not a kind, a name and a formula with tabs between", path,
				line_number);
		take(data, &entry);
	}
	return OPK_OK;
}

/* ---- names like it */

static void try_name(void *data, const struct entry *entry)
{
	struct opk_suggestions *suggestions = data;

	for (size_t i = 0; i < suggestions->count; i++)
		if (!strcmp(suggestions->best[i].name, entry->name))
			return;
	opk_suggestions_try(suggestions, entry->name);
}

int opk_legacy_suggest(struct opk_strlist *list, struct opk_ctx *ctx, const char *name)
{
	opk_autofree char *file = NULL;
	opk_autostrlist struct opk_strlist all = { 0 };
	struct opk_suggestions suggestions = { .name = name };
	int code = each_entry(&file, ctx, try_name, &suggestions);
	bool ok = true;

	if (code)
		return code;
	for (size_t i = 0; ok && i < suggestions.count; i++)
		ok = opk_strlist_add(&all, suggestions.best[i].name);
	for (size_t i = 0; ok && i < list->count; i++)
		ok = opk_strlist_add(&all, list->items[i]);
	if (!ok)
		return opk_nomem(ctx, "names");
	opk_strlist_clear(list);
	*list = all;
	all = (struct opk_strlist){ 0 };
	return OPK_OK;
}

/* ---- terms */

/* "..._op_{op}.sum" stands for several metrics; *found is the first of them. */
static int match(const char **found, struct legacy *l, struct opk_ctx *ctx,
                 const struct opk_catalog *catalog, const char *term)
{
	opk_autofree char *pattern = opk_strdup(term);
	char *open = pattern ? strchr(pattern, '{') : NULL,
	     *close = open ? strchr(open, '}') : NULL;
	char full[1024];

	if (!pattern)
		return opk_nomem(ctx, "a term");
	if (!close)
		return OPK_OK;
	*open = '*';
	memmove(open + 1, close + 1, strlen(close + 1) + 1);
	for (size_t i = 0; i < opk_catalog_count(catalog); i++) {
		const struct opk_metric *metric = opk_catalog_get(catalog, i);

		snprintf(full, sizeof full, "%s%s", metric->name,
		         strrchr(pattern, '.') ? strrchr(pattern, '.') : "");
		if (fnmatch(pattern, full, 0) || !opk_catalog_has_full(catalog, ctx, full))
			continue;
		if (!opk_strlist_add(&l->near, full))
			return opk_nomem(ctx, "a term");
		*found = l->near.items[l->near.count - 1];
		return OPK_OK;
	}
	return OPK_OK;
}

static int add_term(struct legacy *l, struct opk_ctx *ctx, const struct opk_catalog *catalog,
                    const char *name)
{
	struct opk_legacy_term *term = &l->terms[l->shown.term_count];
	size_t before = l->near.count;
	int code;

	for (size_t i = 0; i < l->shown.term_count; i++)
		if (!strcmp(l->terms[i].name, name))
			return OPK_OK;
	term->name = name;
	l->shown.term_count++;
	term->exists = opk_catalog_has_full(catalog, ctx, name);
	if (term->exists)
		return OPK_OK;
	code = match(&term->nearest, l, ctx, catalog, name);
	term->exists = term->nearest != NULL;
	if (code || term->exists)
		return code;
	if (!opk_catalog_suggest(&l->near, catalog, name, 1))
		return opk_nomem(ctx, "a term");
	term->nearest = l->near.count > before ? l->near.items[before] : NULL;
	return OPK_OK;
}

/* Metric names are what has a double underscore. */
static int find_terms(struct legacy *l, struct opk_ctx *ctx, const struct opk_catalog *catalog)
{
	char *rest;

	l->formula = opk_strdup(l->shown.formula);
	l->terms = opk_alloc_array(strlen(l->shown.formula) + 1, sizeof *l->terms);
	if (!l->formula || !l->terms)
		return opk_nomem(ctx, "a formula");
	rest = l->formula;
	for (char *name; (name = strsep(&rest, " ()*/+-,"));) {
		int code = strstr(name, "__") ? add_term(l, ctx, catalog, name) : OPK_OK;

		if (code)
			return code;
	}
	l->shown.terms = l->terms;
	return OPK_OK;
}

/* ---- one name */

static void take_name(void *data, const struct entry *entry)
{
	struct opk_legacy *shown = data;

	if (strcmp(entry->name, shown->name))
		return;
	if (!shown->kind) {
		shown->kind = entry->kind;
		shown->formula = entry->formula;
	} else {
		shown->other_kind = entry->kind;
		shown->other_formula = entry->formula;
	}
}

int opk_legacy_formula(char **out, struct opk_ctx *ctx, const char *name)
{
	opk_autofree char *file = NULL;
	struct opk_legacy found = { .name = name };
	int code = each_entry(&file, ctx, take_name, &found);

	if (code || !found.kind)
		return code;
	*out = opk_strdup(found.formula);
	return *out ? OPK_OK : opk_nomem(ctx, "a formula");
}

static int fill(struct legacy *l, struct opk_ctx *ctx, const struct opk_catalog *catalog)
{
	int code = each_entry(&l->file, ctx, take_name, &l->shown);

	return code || !l->shown.kind ? code : find_terms(l, ctx, catalog);
}

int opk_legacy_new(struct opk_legacy **out, struct opk_ctx *ctx, const struct opk_catalog *catalog,
                   const char *name)
{
	struct legacy *l = opk_alloc(sizeof *l);
	int code;

	if (!l || !(l->shown.name = opk_strdup(name))) {
		opk_legacy_free(l ? &l->shown : NULL);
		return opk_nomem(ctx, "a legacy name");
	}
	code = fill(l, ctx, catalog);
	if (code || !l->shown.kind) {
		opk_legacy_free(&l->shown);
		if (!code)
			*out = NULL;
		return code;
	}
	*out = &l->shown;
	return OPK_OK;
}

void opk_legacy_free(struct opk_legacy *legacy)
{
	/* `shown` comes first. */
	struct legacy *l = (struct legacy *)legacy;

	if (!l)
		return;
	opk_strlist_clear(&l->near);
	free((char *)(uintptr_t)l->shown.name);
	free(l->terms);
	free(l->formula);
	free(l->file);
	free(l);
}

/* ---- terms for several metrics */

/* "BEFORE{op}AFTER" in a formula. */
struct several {
	const char *before, *after, *end; /* after the brace; after the term */
	size_t before_size;
};

/* The first such term from `text` on; false where there is none. */
static bool find_several(struct several *out, const char *formula, const char *text)
{
	const char *open = strchr(text, '{'), *close = open ? strchr(open, '}') : NULL;

	if (!close)
		return false;
	out->before = open;
	while (out->before > formula && opk_in_full_name(out->before[-1]))
		out->before--;
	out->before_size = (size_t)(open - out->before);
	out->after = out->end = close + 1;
	while (opk_in_full_name(*out->end))
		out->end++;
	return true;
}

/* Whether the chip has a metric for the word in each term. */
static bool all_exist(const struct opk_catalog *catalog, struct opk_ctx *ctx, const char *formula,
                      const char *word)
{
	struct several term;

	for (const char *at = formula; find_several(&term, formula, at); at = term.end) {
		char name[1024];

		snprintf(name, sizeof name, "%.*s%s%.*s", (int)term.before_size, term.before, word,
		         (int)(term.end - term.after), term.after);
		if (!opk_catalog_has_full(catalog, ctx, name))
			return false;
	}
	return true;
}

/* What the names of the chip have in the place of {op}: "ld", "st". */
static bool find_words(struct opk_strlist *words, struct opk_ctx *ctx,
                       const struct opk_catalog *catalog, const char *formula,
                       const struct several *term)
{
	for (size_t i = 0; i < opk_catalog_count(catalog); i++) {
		const char *name = opk_catalog_get(catalog, i)->name;
		opk_autofree char *word = NULL;

		if (strncmp(name, term->before, term->before_size))
			continue;
		name += term->before_size;
		word = opk_strndup(name, strcspn(name, "_."));
		if (!word
		    || (*word && !opk_strlist_contains(words, word)
		        && all_exist(catalog, ctx, formula, word) && !opk_strlist_add(words, word)))
			return false;
	}
	return words->count || opk_strlist_add(words, "op");
}

static void add_sum(struct opk_buf *out, const struct several *term,
                    const struct opk_strlist *words)
{
	for (size_t i = 0; i < words->count; i++) {
		opk_buf_add_text(out, i ? " + " : "(");
		opk_buf_add(out, term->before, term->before_size);
		opk_buf_add_text(out, words->items[i]);
		opk_buf_add(out, term->after, (size_t)(term->end - term->after));
	}
	opk_buf_add_text(out, ")");
}

int opk_legacy_expand(char **out, struct opk_ctx *ctx, const struct opk_catalog *catalog,
                      const char *formula)
{
	opk_autostrlist struct opk_strlist words = { 0 };
	opk_autobuf struct opk_buf text = { 0 };
	const char *at = formula;
	struct several term;

	if (find_several(&term, formula, at) && !find_words(&words, ctx, catalog, formula, &term))
		return opk_nomem(ctx, "a formula");
	for (; find_several(&term, formula, at); at = term.end) {
		opk_buf_add(&text, at, (size_t)(term.before - at));
		add_sum(&text, &term, &words);
	}
	opk_buf_add(&text, at, strlen(at) + 1);
	if (text.failed)
		return opk_nomem(ctx, "a formula");
	*out = (char *)opk_take(text.data);
	return OPK_OK;
}
