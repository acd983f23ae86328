/* SPDX-License-Identifier: BSD-2-Clause */
/* The names that a set and those that it includes define, and the formulas over them. */
#ifndef OPK_SYMBOLS_H
#define OPK_SYMBOLS_H

#include "base/index.h"
#include "base/nearest.h"
#include "base/problems.h"
#include "set/set.h"

struct opk_formula;

/* A derived metric, possibly one that a name of nvprof's means. */
struct opk_derived_symbol {
	struct opk_word name; /* borrowed, as `unit` and `description` */
	struct opk_word
		written; /* the formula in the set's file; no text: from data/legacy_names.tsv */
	char *formula;   /* with the parameters' values */
	struct opk_formula *parsed; /* NULL: it is not a formula */
	struct opk_word unit, description;
	const struct opk_set *set;
	char *legacy; /* the name of nvprof's, possibly its own; else NULL */
};

struct opk_symbols {
	struct opk_ctx *ctx;
	struct opk_problems *problems; /* what is wrong is reported here */
	/* Each set once, and before those that include it. */
	OPK_LIST(const struct opk_set *) sets;
	bool broken; /* a set could not be read whole: what is not known may be defined there */
	bool unfit;  /* as a set's */
	struct opk_index parameters; /* name -> `values` */
	OPK_LIST(const char *) values;
	struct opk_index constants; /* name -> `constant` */
	OPK_LIST(const struct opk_constant *) constant;
	struct opk_index labels;                     /* short names of metrics, -> `label` */
	OPK_LIST(const struct opk_set_item *) label; /* of several entries one that has `else` */
	struct opk_index names;                      /* of derived metrics, -> `derived` */
	OPK_LIST(struct opk_derived_symbol) derived;
	size_t *order; /* of the derived metrics, so that each comes after those that it uses */
	size_t ordered;
};

/* Reports what is wrong with the definitions; only without memory is it incomplete. */
void opk_symbols_init(struct opk_symbols *symbols, struct opk_ctx *ctx,
                      struct opk_problems *problems, const struct opk_set *set);
void opk_symbols_clear(struct opk_symbols *symbols);
#define opk_autosymbols __attribute__((cleanup(opk_symbols_clear)))

/* symbol_formulas.c: parses all formulas, knows their names and orders them. */
void opk_symbols_check_formulas(struct opk_symbols *symbols);
/* Fills `parsed` from `formula`, or reports why not. */
void opk_symbols_parse(const struct opk_symbols *symbols, struct opk_derived_symbol *derived);
/* Where in the set's file a byte of the formula came from. */
struct opk_place opk_symbols_place(const struct opk_symbols *symbols,
                                   const struct opk_derived_symbol *derived, size_t offset);

/* Tries all names of an index. */
void opk_symbols_try_all(struct opk_nearest *nearest, const struct opk_index *index);
/* The text with parameters' values for ${name}; free(). NULL: a problem is reported. */
char *opk_symbols_substitute(const struct opk_symbols *symbols, const struct opk_word *word);
/*
 * set_check.c: entries and changes, as far as they can be judged without a chip. Regular
 * expressions are compiled if wished; else matching finds what is wrong with them. False
 * where there is too much to be tried on a chip.
 */
bool opk_set_check(const struct opk_symbols *symbols, bool compile);

#endif
