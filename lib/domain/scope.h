/* SPDX-License-Identifier: BSD-2-Clause */
/* The names that a set and those that it includes define, and the formulas over them. */
#ifndef OPK_SCOPE_H
#define OPK_SCOPE_H

#include "base/index.h"
#include "base/problems.h"
#include "domain/set.h"

struct opk_formula;

/* A derived metric, possibly one that a name of nvprof's stands for. */
struct opk_scope_derived {
	struct opk_word name;    /* borrowed, as `unit` and `description` */
	struct opk_word written; /* the formula in the set's file; no text: from data/legacy_names.tsv */
	char *formula;           /* with the parameters' values */
	struct opk_formula *parsed; /* NULL: it is none */
	struct opk_word unit, description;
	const struct opk_set *set;
	char *legacy; /* the name of nvprof's, possibly its own; else NULL */
};

struct opk_scope {
	/* Each set once, and before those that include it. */
	const struct opk_set **sets;
	size_t set_count, set_capacity;
	bool broken; /* a set could not be read whole: what is not known may be defined there */
	struct opk_index parameters; /* name -> `values` */
	const char **values;
	size_t value_count, value_capacity;
	struct opk_index constants; /* name -> `constant` */
	const struct opk_constant **constant;
	size_t constant_count, constant_capacity;
	struct opk_index labels; /* short names of metrics, -> `label` */
	const struct opk_word **label;
	size_t label_count, label_capacity;
	struct opk_index names; /* of derived metrics, -> `derived` */
	struct opk_scope_derived *derived;
	size_t derived_count, derived_capacity;
	size_t *order; /* of the derived metrics, so that each comes after those that it uses */
	size_t ordered;
};

/* What is wrong with the definitions is told; only without memory is it incomplete. */
void opk_scope_init(struct opk_scope *scope, struct opk_ctx *ctx, struct opk_problems *problems,
                    const struct opk_set *set);
void opk_scope_clear(struct opk_scope *scope);
#define opk_autoscope __attribute__((cleanup(opk_scope_clear)))

/* Of scope_formulas.c: parses all formulas, knows their names and orders them. */
void opk_scope_check_formulas(struct opk_scope *scope, struct opk_ctx *ctx, struct opk_problems *problems);
/* Fills `parsed` from `formula`, or tells why not. */
void opk_scope_parse(const struct opk_scope *scope, struct opk_ctx *ctx, struct opk_problems *problems,
                     struct opk_scope_derived *derived);
/* Where in the set's file a byte of the formula came from. */
struct opk_place opk_scope_place(const struct opk_scope *scope, const struct opk_scope_derived *derived,
                                 size_t offset);

/* The text with parameters' values in the places of ${name}; free(). NULL: a problem is told. */
char *opk_scope_substitute(const struct opk_scope *scope, struct opk_problems *problems,
                           const struct opk_word *word);
/* Which byte of the text as it is written became that byte of the result. */
size_t opk_scope_written_at(const struct opk_scope *scope, const char *written, size_t offset);

/* Of set_check.c: entries and changes, as far as they can be judged without a chip. */
void opk_set_check(const struct opk_scope *scope, struct opk_ctx *ctx, struct opk_problems *problems);

#endif
