/* SPDX-License-Identifier: BSD-2-Clause */
/* The formulas among symbols: parsed, their names known, in an order in which they can be computed. */
#include <string.h>

#include "base/nearest.h"
#include "formula/formula.h"
#include "set/symbols.h"
#include "formula/units.h"

struct opk_place opk_symbols_place(const struct opk_symbols *symbols,
                                   const struct opk_derived_symbol *derived, size_t offset)
{
	const struct opk_word *written = &derived->written;

	if (!written->text)
		return derived->name.place;
	return opk_place_within(&written->place, written->text,
	                        opk_symbols_written_at(symbols, written->text, offset));
}

void opk_symbols_parse(const struct opk_symbols *symbols, struct opk_ctx *ctx,
                       struct opk_problems *problems, struct opk_derived_symbol *derived)
{
	size_t offset = 0;
	int code = opk_formula_parse(&derived->parsed, ctx, derived->formula, &offset);
	struct opk_place place;

	if (!code)
		return;
	place = opk_symbols_place(symbols, derived, offset);
	if (code == OPK_ENOMEM)
		problems->no_memory = true;
	else
		opk_problems_add(problems, &place, "%s", opk_outermost(ctx));
}

/* ---- names */

static void try_all(struct opk_nearest *nearest, const struct opk_index *index)
{
	for (size_t i = 0; i < index->count; i++)
		if (index->slots[i].key)
			opk_nearest_try(nearest, index->slots[i].key);
}

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

static void check_names(const struct opk_symbols *symbols, struct opk_problems *problems,
                        const struct opk_derived_symbol *derived)
{
	for (size_t i = 0; i < opk_formula_name_count(derived->parsed); i++) {
		const char *name = opk_formula_name(derived->parsed, i);
		struct opk_nearest nearest = { .name = name };
		struct opk_place place;

		if (is_known(symbols, name) || symbols->broken)
			continue;
		if (!opk_problems_full(problems)) {
			try_all(&nearest, &symbols->names);
			try_all(&nearest, &symbols->constants);
			try_all(&nearest, &symbols->labels);
		}
		place = opk_symbols_place(symbols, derived,
		                          opk_formula_name_offset(derived->parsed, i));
		opk_problems_add(
			problems, &place,
			"'%.100s' is no metric's full name, nor named or defined in this set" OPK_DID_YOU_MEAN,
			name, OPK_NEAR(nearest.best));
	}
}

/* ---- order */

enum state { NEW, BEGUN, DONE };

/* A derived metric on the way to one that it uses. */
struct step {
	size_t derived, name;
};

struct walk {
	struct opk_symbols *symbols;
	struct opk_problems *problems;
	enum state *states;
	struct step *steps;
	size_t depth;
};

/* "a uses b uses a" */
static void tell_cycle(struct walk *w, size_t begin)
{
	const struct opk_derived_symbol *all = w->symbols->derived;
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
		opk_problems_add(w->problems, &all[begin].name.place,
		                 "derived metrics use each other: %.1000s uses %s", chain,
		                 all[begin].name.text);
	else
		w->problems->no_memory = true;
}

/* Goes one step: to a metric that the last one uses and that is new, or back. */
static void step(struct walk *w)
{
	struct step *last = &w->steps[w->depth - 1];
	const struct opk_formula *formula = w->symbols->derived[last->derived].parsed;
	size_t next;

	while (formula && last->name < opk_formula_name_count(formula)) {
		if (!opk_index_find(&next, &w->symbols->names,
		                    opk_formula_name(formula, last->name++))
		    || w->states[next] == DONE)
			continue;
		if (w->states[next] == BEGUN) {
			tell_cycle(w, next);
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

static void order(struct opk_symbols *symbols, struct opk_problems *problems)
{
	size_t count = symbols->derived_count;
	opk_autofree enum state *states = opk_alloc_array(count + 1, sizeof *states);
	opk_autofree struct step *steps = opk_alloc_array(count + 1, sizeof *steps);
	struct walk walk = {
		.symbols = symbols, .problems = problems, .states = states, .steps = steps
	};

	symbols->order = opk_alloc_array(count + 1, sizeof *symbols->order);
	if (!states || !steps || !symbols->order) {
		problems->no_memory = true;
		return;
	}
	for (size_t i = 0; i < count; i++) {
		if (states[i] != NEW)
			continue;
		states[i] = BEGUN;
		steps[walk.depth++] = (struct step){ i, 0 };
		while (walk.depth)
			step(&walk);
	}
}

void opk_symbols_check_formulas(struct opk_symbols *symbols, struct opk_ctx *ctx,
                                struct opk_problems *problems)
{
	for (size_t i = 0; i < symbols->constant_count; i++)
		check_unit(ctx, problems, &symbols->constant[i]->unit);
	for (size_t i = 0; i < symbols->derived_count; i++) {
		struct opk_derived_symbol *derived = &symbols->derived[i];

		check_unit(ctx, problems, &derived->unit);
		if (derived->written.text)
			derived->formula = opk_symbols_substitute_formula(symbols, problems,
			                                                  &derived->written);
		/* What stands for several metrics depends on the chip. */
		if (derived->formula && !(derived->legacy && strchr(derived->formula, '{')))
			opk_symbols_parse(symbols, ctx, problems, derived);
		if (derived->parsed)
			check_names(symbols, problems, derived);
	}
	if (!problems->no_memory)
		order(symbols, problems);
}
