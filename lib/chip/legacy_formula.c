/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Formulas of nvprof's names on a chip: chooses the first of several whose metrics the chip has,
 * and expands terms that mean several metrics.
 */
#include "chip/chip.h"

#include <string.h>

#include "base/ascii.h"
#include "base/buf.h"
#include "chip/door.h"

/* ---- terms for several metrics */

/* "BEFORE{op}AFTER" in a formula. */
struct several {
	const char *before, *after, *end; /* after the brace; after the term */
	size_t before_size;
};

/* The first such term from `text` on; false if there is none. */
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

/* The words that the chip's names have in place of {op}: "ld", "st". */
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

/* ---- which formula */

/* The first metric of the formula that the chip lacks; NULL: it has all. In *text, free(). */
static int find_missing(const char **out, char **text, struct opk_ctx *ctx,
                        const struct opk_catalog *catalog, const char *formula)
{
	char *rest;

	*out = NULL;
	TRY(opk_legacy_expand(text, ctx, catalog, formula));
	rest = *text;
	for (char *name; (name = strsep(&rest, " ()*/+-,"));)
		if (strstr(name, "__") && !opk_catalog_has_full(catalog, ctx, name)) {
			*out = name;
			break;
		}
	return OPK_OK;
}

/* Cuts the first formula off *rest. */
static char *next_formula(char **rest)
{
	char *formula = strsep(rest, "|");
	size_t length;

	formula += opk_span(formula, opk_is_blank);
	length = strlen(formula);
	while (length && opk_is_blank(formula[length - 1]))
		formula[--length] = '\0';
	return formula;
}

int opk_legacy_choose(char **out, struct opk_ctx *ctx, const struct opk_catalog *catalog,
                      const char *formulas)
{
	opk_autofree char *copy = opk_strdup(formulas);
	char *rest = copy;

	*out = NULL;
	if (!copy)
		return opk_nomem(ctx, "a formula");
	while (*copy && rest) {
		const char *formula = next_formula(&rest), *missing;
		opk_autofree char *text = NULL;

		TRY(find_missing(&missing, &text, ctx, catalog, formula));
		if (missing)
			continue;
		*out = opk_strdup(formula);
		return *out ? OPK_OK : opk_nomem(ctx, "a formula");
	}
	return OPK_OK;
}

int opk_legacy_lack(char **out, struct opk_ctx *ctx, const struct opk_catalog *catalog,
                    const struct opk_legacy_row *row)
{
	opk_autofree char *copy = opk_strdup(row->today);
	opk_autobuf struct opk_buf text = { 0 };
	char *rest = copy;

	if (!copy)
		return opk_nomem(ctx, "a reason");
	if (!*copy)
		opk_buf_add_text(&text, row->note);
	while (*copy && rest) {
		opk_autofree char *names = NULL;
		const char *missing;

		TRY(find_missing(&missing, &names, ctx, catalog, next_formula(&rest)));
		opk_buf_add_printf(&text, "%s%s", text.size ? " nor " : "it has no ",
		                   missing ? missing : "");
	}
	*out = opk_buf_take_text(&text);
	return *out ? OPK_OK : opk_nomem(ctx, "a reason");
}
