/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Replaces ${name} by a parameter's value, once: values are not searched again. Parses the formulas
 * of the symbols, checks their names, and orders them so that they can be computed.
 */
#include <string.h>

#include "base/ascii.h"
#include "base/buf.h"
#include "base/nearest.h"
#include "formula/formula.h"
#include "set/set.h"

enum { MAX_TEXT = 1 << 16, MAX_NAME = 100 };

/* A piece of text: plain, or a parameter. */
struct piece {
	size_t size;      /* in the text */
	const char *name; /* NULL: plain */
	size_t name_size;
};

/* False if "${" is not closed. */
static bool next_piece(struct piece *out, const char *text)
{
	const char *open = strstr(text, "${"), *close;

	*out = (struct piece){ .size = open ? (size_t)(open - text) : strlen(text) };
	if (open != text)
		return true;
	close = strchr(text, '}');
	if (!close)
		return false;
	*out = (struct piece){ (size_t)(close + 1 - text), text + 2, (size_t)(close - text - 2) };
	return true;
}

static const char *value_of(const struct opk_symbols *symbols, const struct piece *piece,
                            bool *known)
{
	char name[MAX_NAME + 1];
	size_t i;

	*known = false;
	if (piece->name_size > MAX_NAME)
		return NULL;
	memcpy(name, piece->name, piece->name_size);
	name[piece->name_size] = '\0';
	*known = opk_index_find(&i, &symbols->parameters, name);
	return *known ? symbols->values.items[i] : NULL;
}

static void report_at(struct opk_problems *problems, const struct opk_word *word, const char *at,
                      const char *what, const char *value)
{
	struct opk_place place = opk_place_within(&word->place, word->text,
	                                          (size_t)(at - word->text));

	opk_problems_add(problems, &place, "%s%.100s", what, value);
}

void opk_symbols_try_all(struct opk_nearest *nearest, const struct opk_index *index)
{
	for (size_t i = 0; i < index->count; i++)
		if (index->slots[i].key)
			opk_nearest_try(nearest, index->slots[i].key);
}

static void report_unknown(const struct opk_symbols *symbols, const struct opk_word *word,
                           const char *at, const struct piece *piece)
{
	opk_autofree char *name = opk_strndup(piece->name, piece->name_size);
	struct opk_place place = opk_place_within(&word->place, word->text,
	                                          (size_t)(at - word->text));
	struct opk_nearest nearest = { .name = name };

	if (!opk_problems_need(symbols->problems, name))
		return;
	opk_symbols_try_all(&nearest, &symbols->parameters);
	if (!symbols->broken)
		opk_problems_add(symbols->problems, &place,
		                 "there is no parameter '%.100s'" OPK_DID_YOU_MEAN, name,
		                 OPK_NEAR(nearest.best));
}

/* Whether the value needs parentheses: it is an expression, not a name or number. */
static bool is_operand(const char *value)
{
	return value[opk_span(value, opk_in_full_name)];
}

/* Whether parentheses around the value form a pair: "1)+(2" would close them. */
static bool is_whole(const char *value)
{
	size_t depth = 0;

	for (; *value; value++)
		if (*value == '(')
			depth++;
		else if (*value == ')' && !depth--)
			return false;
	return !depth;
}

/* In a formula, a value that is more than a part of a name or number gets parentheses. */
static char *substitute(const struct opk_symbols *symbols, const struct opk_word *word,
                        bool formula)
{
	opk_autobuf struct opk_buf out = { 0 };
	struct piece piece;
	char *text;

	for (const char *at = word->text; *at && !out.failed; at += piece.size) {
		const char *value;
		bool known;

		if (!next_piece(&piece, at)) {
			report_at(symbols->problems, word, at, "a '}' is missing after '${'", "");
			return NULL;
		}
		value = piece.name ? value_of(symbols, &piece, &known) : NULL;
		/* A parameter without a value is reported at its definition. */
		if (piece.name && !known)
			report_unknown(symbols, word, at, &piece);
		if (piece.name && !value)
			return NULL;
		if (formula && value && !is_whole(value)) {
			report_at(symbols->problems, word, at,
			          "a value in a formula has parentheses in pairs, not ", value);
			return NULL;
		}
		if (formula && value && is_operand(value))
			opk_buf_add_printf(&out, "(%s)", value);
		else
			opk_buf_add(&out, value ? value : at, value ? strlen(value) : piece.size);
	}
	if (!out.failed && out.size >= MAX_TEXT) {
		opk_problems_add(symbols->problems, &word->place,
		                 "with its parameters this has more than %d characters", MAX_TEXT);
		return NULL;
	}
	text = opk_buf_take_text(&out);
	opk_problems_need(symbols->problems, text);
	return text;
}

char *opk_symbols_substitute(const struct opk_symbols *symbols, const struct opk_word *word)
{
	return substitute(symbols, word, false);
}

/* The position in the written formula of a byte of the result. */
static size_t written_at(const struct opk_symbols *symbols, const char *written, size_t offset)
{
	struct piece piece;
	size_t from = 0;

	for (const char *at = written; *at && next_piece(&piece, at); at += piece.size) {
		bool known;
		const char *value = piece.name ? value_of(symbols, &piece, &known) : NULL;
		size_t size = value ? strlen(value) + 2 * is_operand(value) : piece.size;

		if (offset < from + size)
			return (size_t)(at - written) + (piece.name ? 0 : offset - from);
		from += size;
	}
	return strlen(written);
}

/* ---- formulas */

struct opk_place opk_symbols_place(const struct opk_symbols *symbols,
                                   const struct opk_derived_symbol *derived, size_t offset)
{
	const struct opk_word *written = &derived->written;

	if (!written->text)
		return derived->name.place;
	return opk_place_within(&written->place, written->text,
	                        written_at(symbols, written->text, offset));
}

void opk_symbols_parse(const struct opk_symbols *symbols, struct opk_derived_symbol *derived)
{
	size_t offset = 0;
	int code = opk_formula_parse(&derived->parsed, symbols->ctx, derived->formula, &offset);
	struct opk_place place;

	if (!code)
		return;
	place = opk_symbols_place(symbols, derived, offset);
	if (code == OPK_ENOMEM)
		symbols->problems->code = OPK_ENOMEM;
	else
		opk_problems_add(symbols->problems, &place, "%s", opk_outermost(symbols->ctx));
}

/* ---- names */

static bool is_known(const struct opk_symbols *symbols, const char *name)
{
	return strstr(name, "__") || opk_index_find(NULL, &symbols->names, name)
	       || opk_index_find(NULL, &symbols->constants, name)
	       || opk_index_find(NULL, &symbols->labels, name);
}

static void check_unit(struct opk_ctx *ctx, struct opk_problems *problems,
                       const struct opk_word *unit)
{
	struct opk_unit parsed;

	if (!unit->text || !opk_unit_parse(&parsed, ctx, unit->text))
		return;
	opk_problems_add(problems, &unit->place, "%s", opk_outermost(ctx));
}

static void check_names(const struct opk_symbols *symbols, const struct opk_derived_symbol *derived)
{
	for (size_t i = 0; i < opk_formula_name_count(derived->parsed); i++) {
		const char *name = opk_formula_name(derived->parsed, i);
		struct opk_nearest nearest = { .name = name, .except = derived->name.text };
		struct opk_place place;

		if (is_known(symbols, name) || symbols->broken)
			continue;
		if (!opk_problems_full(symbols->problems)) {
			opk_symbols_try_all(&nearest, &symbols->names);
			opk_symbols_try_all(&nearest, &symbols->constants);
			opk_symbols_try_all(&nearest, &symbols->labels);
		}
		place = opk_symbols_place(symbols, derived,
		                          opk_formula_name_offset(derived->parsed, i));
		opk_problems_add(
			symbols->problems, &place,
			"'%.100s' is not a metric's full name, nor named or defined in this set" OPK_DID_YOU_MEAN,
			name, OPK_NEAR(nearest.best));
	}
}

/* ---- order */

enum state { NEW, BEGUN, DONE };

/* A derived metric on the path to one that it uses. */
struct step {
	size_t derived, name;
};

struct walk {
	struct opk_symbols *symbols;
	enum state *states;
	struct step *steps;
	size_t depth;
};

/* Reports "a uses b uses a". */
static void report_cycle(struct walk *w, size_t begin)
{
	const struct opk_derived_symbol *all = w->symbols->derived.items;
	opk_autofree char *chain = opk_strdup(all[begin].name.text);
	size_t i = w->depth;

	while (w->steps[i - 1].derived != begin)
		i--;
	for (; chain && i < w->depth; i++) {
		char *longer = opk_printf("%s uses %s", chain, all[w->steps[i].derived].name.text);

		free(chain);
		chain = longer;
	}
	if (chain)
		opk_problems_add(w->symbols->problems, &all[begin].name.place,
		                 "derived metrics use each other: %.1000s uses %s", chain,
		                 all[begin].name.text);
	else
		w->symbols->problems->code = OPK_ENOMEM;
}

/* Goes one step: to a new metric that the last one uses, or back. */
static void step(struct walk *w)
{
	struct step *last = &w->steps[w->depth - 1];
	const struct opk_formula *formula = w->symbols->derived.items[last->derived].parsed;
	size_t next;

	while (formula && last->name < opk_formula_name_count(formula)) {
		if (!opk_index_find(&next, &w->symbols->names,
		                    opk_formula_name(formula, last->name++))
		    || w->states[next] == DONE)
			continue;
		if (w->states[next] == BEGUN) {
			report_cycle(w, next);
			continue;
		}
		w->states[next] = BEGUN;
		w->steps[w->depth++] = (struct step){ next, 0 };
		return;
	}
	w->states[last->derived] = DONE;
	w->symbols->order[w->symbols->ordered++] = last->derived;
	w->depth--;
}

static void order(struct opk_symbols *symbols)
{
	size_t count = symbols->derived.count;
	opk_autofree enum state *states = opk_alloc_array(count + 1, sizeof *states);
	opk_autofree struct step *steps = opk_alloc_array(count + 1, sizeof *steps);
	struct walk walk = { .symbols = symbols, .states = states, .steps = steps };

	symbols->order = opk_alloc_array(count + 1, sizeof *symbols->order);
	if (!opk_problems_need(symbols->problems, states && steps && symbols->order))
		return;
	for (size_t i = 0; i < count; i++) {
		if (states[i] != NEW)
			continue;
		states[i] = BEGUN;
		steps[walk.depth++] = (struct step){ i, 0 };
		while (walk.depth)
			step(&walk);
	}
}

void opk_symbols_check_formulas(struct opk_symbols *symbols)
{
	for (size_t i = 0; i < symbols->constant.count; i++)
		check_unit(symbols->ctx, symbols->problems, &symbols->constant.items[i]->unit);
	for (size_t i = 0; i < symbols->derived.count; i++) {
		struct opk_derived_symbol *derived = &symbols->derived.items[i];

		check_unit(symbols->ctx, symbols->problems, &derived->unit);
		if (derived->written.text)
			derived->formula = substitute(symbols, &derived->written, true);
		/* The meaning of nvprof's names depends on the chip. */
		if (derived->formula && !derived->legacy)
			opk_symbols_parse(symbols, derived);
		if (derived->parsed)
			check_names(symbols, derived);
	}
	if (!symbols->problems->code)
		order(symbols);
}
