/* SPDX-License-Identifier: BSD-2-Clause */
/* Converts expressions of Nsight Compute to formulas of metric sets. */
#include "nsight/nsight.h"

#include <string.h>

#include "base/ascii.h"
#include "base/ctx.h"
#include "container/container.h"
#include "formula/formula.h"

enum { MAX_DEFINITIONS = 1000, LONGEST_NAME = 90 };

struct reader {
	struct opk_ctx *ctx;
	struct opk_definitions *all;
	struct opk_definition *of;
	const char *at;
	struct opk_buf out;
	int code; /* why reading ended; OPK_EINPUT: see the definition's problem */
};

static int resolve_one(struct opk_definitions *all, struct opk_ctx *ctx,
                       struct opk_definition *item);

/* Records the reason why there is no formula. */
static void refuse(struct reader *r, const char *format, const char *text, size_t length)
{
	opk_autofree char *word = opk_strndup(text, length);

	r->of->problem = word ? opk_printf(format, word) : NULL;
	r->code = r->of->problem ? OPK_EINPUT : opk_nomem(r->ctx, "a formula");
}

struct opk_definition *opk_definitions_find(const struct opk_definitions *all, const char *name)
{
	size_t i;

	return opk_index_find(&i, &all->names, name) ? &all->items[i] : NULL;
}

/* The definition that holds on all chips of the formula. */
static struct opk_definition *find(const struct reader *r, const char *name)
{
	struct opk_definition *item = opk_definitions_find(r->all, name);

	while (item && r->of->chips & ~item->chips)
		item = item->same;
	return item;
}

static bool is_metric(const char *name)
{
	struct opk_asked asked = opk_asked_name(name);

	return !asked.reason && asked.name == name && opk_asked_has_rollup(name);
}

/* Two operands without an operator stay separate. */
static void put_operand(struct reader *r, const char *text, size_t length)
{
	if (r->out.size && opk_in_full_name((char)r->out.data[r->out.size - 1]))
		opk_buf_add_text(&r->out, " ");
	opk_buf_add(&r->out, text, length);
}

static void put_name(struct reader *r, const char *word, size_t length)
{
	opk_autofree char *name = opk_strndup(word, length);
	struct opk_definition *found = name ? find(r, name) : NULL;

	if (!name)
		r->code = opk_nomem(r->ctx, "a formula");
	else if (found && !found->busy && !found->formula && !found->problem)
		r->code = resolve_one(r->all, r->ctx, found);
	if (r->code)
		return;
	if (found && found->busy)
		refuse(r, found == r->of ? "needs itself" : "needs %s, which needs it", word,
		       length);
	else if (found && found->formula)
		put_operand(r, found->short_name, strlen(found->short_name));
	else if (!found && (is_metric(name) || opk_attribute_is_name(name)))
		put_operand(r, word, length);
	else
		refuse(r, "needs %s", word, length);
}

static void skip_blanks(struct reader *r)
{
	r->at += opk_span(r->at, opk_is_blank);
}

static bool in_word(char c)
{
	return opk_in_full_name(c) || c == ':';
}

/* Reads a name, or simplify(), which concerns instances and does not change a value. */
static void read_word(struct reader *r)
{
	size_t length = opk_span(r->at, in_word);
	const char *word = r->at;

	r->at += length;
	skip_blanks(r);
	if (*r->at != '(')
		put_name(r, word, length);
	else if (length != 8 || strncmp(word, "simplify", 8))
		refuse(r, "uses %s()", word, length);
}

/* The length of the digits after `skipped` characters, plus these characters; 0: no digits. */
static size_t digits(const char *at, size_t skipped)
{
	size_t count = opk_span(at + skipped, opk_is_digit);

	return count ? skipped + count : 0;
}

/* Formulas need digits on both sides of a point: ".5" and "5." become 0.5 and 5. */
static void read_number(struct reader *r)
{
	size_t whole = opk_span(r->at, opk_is_digit),
	       part = r->at[whole] == '.' ? digits(r->at + whole, 1) : 0;
	const char *after = r->at + whole + part + (whole && !part && r->at[whole] == '.');
	bool exponent = (*after | 32) == 'e';
	size_t power = exponent ? digits(after, 1 + (after[1] == '+' || after[1] == '-')) : 0;

	if (!whole && !part) {
		refuse(r, "uses '%s'", r->at, 1);
		return;
	}
	put_operand(r, whole ? r->at : "0", whole ? whole : 1);
	opk_buf_add(&r->out, r->at + whole, part);
	opk_buf_add(&r->out, after, power);
	r->at = after + power;
}

/* Whether a sign here belongs to the next operand: it follows '(' or an operator, or is first. */
static bool is_unary(const struct opk_buf *out)
{
	return !out->size || strchr("( -", out->data[out->size - 1]);
}

static void read_sign(struct reader *r)
{
	char c = *r->at++;

	if (!strchr("+-*/()", c))
		refuse(r, "uses '%s'", r->at - 1, 1);
	else if (c == '(' || c == ')' || is_unary(&r->out))
		opk_buf_add(&r->out, &c, c != '+');
	else
		opk_buf_add_printf(&r->out, " %c ", c);
}

static void read_expression(struct reader *r)
{
	r->at = r->of->expression;
	skip_blanks(r);
	if (!*r->at)
		refuse(r, "has no expression", "", 0);
	while (!r->code && *r->at) {
		if (opk_is_digit(*r->at) || *r->at == '.')
			read_number(r);
		else if (opk_is_letter(*r->at))
			read_word(r);
		else
			read_sign(r);
		skip_blanks(r);
	}
}

/* Each word and sign is valid; the parser of formulas checks the whole. */
static void check_formula(struct reader *r)
{
	opk_auto(opk_formula) struct opk_formula *formula = NULL;
	const char *reason;

	r->code = opk_formula_parse(&formula, r->ctx, (const char *)r->out.data, NULL);
	if (r->code != OPK_EINPUT)
		return;
	reason = opk_outermost(r->ctx);
	refuse(r, "%s", reason, strlen(reason));
	opk_clear_errors(r->ctx);
}

static int resolve_one(struct opk_definitions *all, struct opk_ctx *ctx,
                       struct opk_definition *item)
{
	struct reader r = { .ctx = ctx, .all = all, .of = item };

	item->busy = true;
	read_expression(&r);
	item->busy = false;
	opk_buf_add(&r.out, "", 1);
	if (r.out.failed)
		r.code = opk_nomem(ctx, "a formula");
	if (!r.code)
		check_formula(&r);
	if (!r.code)
		item->formula = (char *)opk_take(r.out.data);
	opk_buf_clear(&r.out);
	return r.code == OPK_EINPUT ? OPK_OK : r.code;
}

/* "derived__l1tex__bytes.sum" -> "l1tex_bytes_sum", with a number appended if it is taken. */
static char *short_name(const struct opk_definitions *all, const char *name)
{
	opk_autofree char *base = opk_strdup(strncmp(name, "derived__", 9) ? name : name + 9);
	opk_autofree char *unique = NULL;
	const char *prefix;
	size_t length = 0;

	if (!base)
		return NULL;
	for (const char *c = base; *c && length < LONGEST_NAME; c++) {
		bool fits = opk_in_name(*c) && *c != '_';

		if (fits || (length && base[length - 1] != '_'))
			base[length++] = fits ? *c : '_';
	}
	base[length] = '\0';
	prefix = opk_is_digit(*base) || !*base || opk_formula_is_function(base) ? "m_" : "";
	unique = opk_printf("%s%s", prefix, base);
	for (size_t i = 2; unique && opk_index_find(NULL, &all->short_names, unique); i++) {
		free(unique);
		unique = opk_printf("%s%s_%zu", prefix, base, i);
	}
	return opk_take(unique);
}

int opk_definitions_add(struct opk_definitions *all, struct opk_ctx *ctx, const char *name,
                        const char *expression, opk_chip_mask chips)
{
	if (all->count >= MAX_DEFINITIONS)
		return opk_fail(ctx, OPK_EINPUT, "more than %d definitions of metrics",
		                MAX_DEFINITIONS);
	if (!opk_grow(&all->items, &all->capacity, all->count, sizeof *all->items))
		return opk_nomem(ctx, "a formula");
	all->items[all->count++] = (struct opk_definition){ .name = name,
		                                            .expression = expression,
		                                            .chips = chips };
	return OPK_OK;
}

/* Definitions with one name stay in order. */
static bool index_names(struct opk_definitions *all)
{
	for (size_t i = 0; i < all->count; i++) {
		struct opk_definition *item = &all->items[i];
		size_t first = i;

		item->short_name = short_name(all, item->name);
		if (!item->short_name
		    || !opk_index_add(&all->short_names, item->short_name, i, NULL)
		    || !opk_index_add(&all->names, item->name, i, &first))
			return false;
		if (first == i)
			continue;
		for (item = &all->items[first]; item->same;)
			item = item->same;
		item->same = &all->items[i];
	}
	return true;
}

int opk_definitions_resolve(struct opk_definitions *all, struct opk_ctx *ctx)
{
	if (!index_names(all))
		return opk_nomem(ctx, "a formula");
	for (size_t i = 0; i < all->count; i++) {
		if (!all->items[i].formula && !all->items[i].problem)
			TRY(resolve_one(all, ctx, &all->items[i]));
	}
	return OPK_OK;
}

void opk_definitions_clear(struct opk_definitions *all)
{
	for (size_t i = 0; i < all->count; i++) {
		free(all->items[i].short_name);
		free(all->items[i].formula);
		free(all->items[i].problem);
	}
	free(all->items);
	opk_index_clear(&all->names);
	opk_index_clear(&all->short_names);
	*all = (struct opk_definitions){ 0 };
}
