/* SPDX-License-Identifier: BSD-2-Clause */
/* nvprof's names: reads their table, and describes a name on a chip. */
#include "chip/chip.h"
#include "base/nearest.h"
#include "chip/door.h"

#include <fnmatch.h>
#include <string.h>

/* Owns the arrays and the text of `shown`. */
struct legacy {
	struct opk_legacy shown;
	struct opk_legacy_row row, other;
	char *name, *formula, *other_formula;
	char *lack;
	char *cut; /* the terms */
	struct opk_legacy_term *terms;
	struct opk_strlist near;
};

/* ---- the file */

/* False if the line lacks one of the first three columns. */
static bool cut_line(struct opk_legacy_row *out, char *line)
{
	const char **const cells[] = { &out->kind,  &out->name, &out->nvidia,
		                       &out->today, &out->unit, &out->note };
	enum { COLUMNS = sizeof cells / sizeof *cells };
	size_t count = 0;

	line[strcspn(line, "\r")] = '\0';
	for (size_t i = 0; i < COLUMNS; i++) {
		count += line != NULL;
		*cells[i] = line ? strsep(&line, "\t") : "";
	}
	if (!*out->today)
		out->today = out->nvidia;
	return count >= 3 && *out->name;
}

/* Calls `take` with each line's row until it returns false; the rows' text is in *file, free(). */
static int each_row(char **file, struct opk_ctx *ctx,
                    bool (*take)(void *data, const struct opk_legacy_row *row), void *data)
{
	opk_autofree char *path = NULL;
	size_t line_number = 0;
	char *text;

	TRY(opk_data_file(file, &path, ctx, "legacy_names.tsv"));
	text = *file;
	for (char *line; (line = strsep(&text, "\n"));) {
		struct opk_legacy_row row = { 0 };

		if (!line_number++ || !*line)
			continue;
		if (!cut_line(&row, line))
			return opk_fail(
				ctx, OPK_EINPUT,
				"%s:%zu: not a kind, a name and a formula with tabs between", path,
				line_number);
		if (!take(data, &row))
			return OPK_OK;
	}
	return OPK_OK;
}

/* ---- similar names */

static bool try_name(void *data, const struct opk_legacy_row *row)
{
	struct opk_suggestions *suggestions = data;

	for (size_t i = 0; i < suggestions->count; i++)
		if (!strcmp(suggestions->best[i].name, row->name))
			return true;
	opk_suggestions_try(suggestions, row->name);
	return true;
}

int opk_legacy_suggest(struct opk_strlist *list, struct opk_ctx *ctx, const char *name)
{
	opk_autofree char *file = NULL;
	opk_autostrlist struct opk_strlist all = { 0 };
	struct opk_suggestions suggestions = { .name = name };
	bool ok = true;

	TRY(each_row(&file, ctx, try_name, &suggestions));
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

/* All chips' units. */
static bool begins_with_unit(const char *name)
{
	static const char *const units[] = { "ctc",  "dram", "dramc",  "fbpa",  "fe",    "gcc",
		                             "gpc",  "gpu",  "gr",     "idc",   "l1tex", "lrc",
		                             "lts",  "mcc",  "nvlrx",  "nvltx", "pcie",  "sm",
		                             "smsp", "sys",  "syslts", "tpc" };
	size_t length = strcspn(name, "_");

	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (strlen(units[i]) == length && !strncmp(units[i], name, length))
			return true;
	return false;
}

/* "sm_eficiency" is sm_efficiency, not a metric of the unit sm; nvprof's names have no ending. */
static bool is_misspelt(const char *name, const struct opk_strlist *near)
{
	struct opk_nearest nearest = { .name = name };
	size_t unit = strcspn(name, "_") + 1;

	for (size_t i = 0; i < near->count; i++)
		if (!strncmp(near->items[i], name, unit))
			opk_nearest_try(&nearest, near->items[i]);
	return nearest.best != NULL;
}

int opk_name_meant(char **out, struct opk_ctx *ctx, const char *name)
{
	opk_autostrlist struct opk_strlist near = { 0 };
	const char *rest = strchr(name, '_');
	int code = opk_legacy_suggest(&near, ctx, name);

	*out = NULL;
	if (code == OPK_ENOMEM)
		return code;
	/* Suggestions are optional, so a failure is ignored. */
	if (code)
		opk_clear_errors(ctx);
	if (rest && (strchr(rest, '.') || (begins_with_unit(name) && !is_misspelt(name, &near))))
		*out = opk_printf("%.*s_%s", (int)(rest - name), name, rest);
	else if (near.count)
		*out = opk_strdup(near.items[0]);
	else
		return OPK_OK;
	return *out ? OPK_OK : opk_nomem(ctx, "a name");
}

/* ---- one name */

/* Looks for the n-th of a name's rows. */
struct search {
	const char *name;
	size_t n;
	struct opk_legacy_row found;
};

static bool take_name(void *data, const struct opk_legacy_row *row)
{
	struct search *search = data;

	if (strcmp(row->name, search->name) || search->n--)
		return true;
	search->found = *row;
	return false;
}

static int find(struct opk_legacy_row *out, struct opk_ctx *ctx, const char *name, size_t n)
{
	opk_autofree char *file = NULL;
	struct search search = { .name = name, .n = n };
	int code = each_row(&file, ctx, take_name, &search);

	*out = (struct opk_legacy_row){ 0 };
	if (code || !search.found.name)
		return code;
	*out = search.found;
	out->file = opk_take(file);
	return OPK_OK;
}

int opk_legacy_find(struct opk_legacy_row *out, struct opk_ctx *ctx, const char *name)
{
	return find(out, ctx, name, 0);
}

void opk_legacy_row_clear(struct opk_legacy_row *row)
{
	free(row->file);
	*row = (struct opk_legacy_row){ 0 };
}

/* ---- terms */

/* "..._op_{op}.sum" means several metrics; *found is the first of them. */
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

	for (size_t i = 0; i < l->shown.term_count; i++)
		if (!strcmp(l->terms[i].name, name))
			return OPK_OK;
	term->name = name;
	l->shown.term_count++;
	term->exists = opk_catalog_has_full(catalog, ctx, name);
	if (term->exists)
		return OPK_OK;
	TRY(match(&term->nearest, l, ctx, catalog, name));
	term->exists = term->nearest != NULL;
	return OPK_OK;
}

/* Words with a double underscore are metric names. */
static int find_terms(struct legacy *l, struct opk_ctx *ctx, const struct opk_catalog *catalog,
                      const char *formula)
{
	char *rest;

	l->cut = opk_strndup(formula, strcspn(formula, "|"));
	l->terms = opk_alloc_array(strlen(formula) + 1, sizeof *l->terms);
	if (!l->cut || !l->terms)
		return opk_nomem(ctx, "a formula");
	rest = l->cut;
	for (char *name; (name = strsep(&rest, " ()*/+-,"));) {
		if (strstr(name, "__"))
			TRY(add_term(l, ctx, catalog, name));
	}
	l->shown.terms = l->terms;
	return OPK_OK;
}

/* ---- the description of a name */

/* What a row means on the chip; "" for nothing. */
static int formula_of(char **out, struct opk_ctx *ctx, const struct opk_catalog *catalog,
                      const struct opk_legacy_row *row)
{
	TRY(opk_legacy_choose(out, ctx, catalog, row->today));
	if (!*out && !(*out = opk_strdup("")))
		return opk_nomem(ctx, "a formula");
	return OPK_OK;
}

static int fill_other(struct legacy *l, struct opk_ctx *ctx, const struct opk_catalog *catalog)
{
	int code = find(&l->other, ctx, l->name, 1);

	if (code || !l->other.name)
		return code;
	code = formula_of(&l->other_formula, ctx, catalog, &l->other);
	l->shown.other_kind = l->other.kind;
	l->shown.other_formula = l->other_formula;
	return code;
}

static int fill(struct legacy *l, struct opk_ctx *ctx, const struct opk_catalog *catalog)
{
	int code = find(&l->row, ctx, l->name, 0);

	if (code || !l->row.name)
		return code;
	code = formula_of(&l->formula, ctx, catalog, &l->row);
	if (code)
		return code;
	l->shown.kind = l->row.kind;
	l->shown.formula = l->formula;
	l->shown.nvidia = l->row.nvidia;
	l->shown.unit = l->row.unit;
	l->shown.note = l->row.note;
	if (!*l->formula)
		code = opk_legacy_lack(&l->lack, ctx, catalog, &l->row);
	l->shown.lack = l->lack;
	if (!code)
		code = find_terms(l, ctx, catalog, *l->formula ? l->formula : l->row.today);
	return code ? code : fill_other(l, ctx, catalog);
}

int opk_legacy_new(struct opk_legacy **out, struct opk_ctx *ctx, const struct opk_catalog *catalog,
                   const char *name)
{
	struct legacy *l = opk_alloc(sizeof *l);
	int code;

	if (!l || !(l->name = opk_strdup(name))) {
		opk_legacy_free(l ? &l->shown : NULL);
		return opk_nomem(ctx, "a legacy name");
	}
	l->shown.name = l->name;
	code = fill(l, ctx, catalog);
	*out = NULL;
	if (code || !l->shown.kind)
		opk_legacy_free(&l->shown);
	else
		*out = &l->shown;
	return code;
}

void opk_legacy_free(struct opk_legacy *legacy)
{
	/* `shown` is the first member. */
	struct legacy *l = (struct legacy *)legacy;

	if (!l)
		return;
	opk_strlist_clear(&l->near);
	opk_legacy_row_clear(&l->row);
	opk_legacy_row_clear(&l->other);
	free(l->name);
	free(l->formula);
	free(l->other_formula);
	free(l->lack);
	free(l->terms);
	free(l->cut);
	free(l);
}
