/* SPDX-License-Identifier: BSD-2-Clause */
/* Nsight Compute's expressions of derived metrics as formulas of metric sets. */
#ifndef OPK_SECTION_FORMULA_H
#define OPK_SECTION_FORMULA_H

#include "base/buf.h"
#include "base/index.h"
#include "chip/chip_mask.h"

/* A definition of the section, and what became of it. */
struct opk_definition {
	const char *name, *expression; /* borrowed */
	opk_chip_mask chips;
	char *short_name, *formula; /* NULL: there is none */
	char *problem;              /* why there is none */
	bool busy;                  /* while it is resolved: what needs it now needs itself */
	struct opk_definition
		*same; /* the next of this name, for other chips; NULL: there is none */
};

struct opk_definitions {
	struct opk_definition *items;
	size_t count, capacity;
	struct opk_index names, short_names; /* to the first of that name, once they are resolved */
};

int opk_definitions_add(struct opk_definitions *all, struct opk_ctx *ctx, const char *name,
                        const char *expression, opk_chip_mask chips);
/*
 * Finds short names and formulas. A formula can have numbers, + - * /, parentheses, simplify(),
 * metrics that hardware counts, and definitions that have a formula themselves.
 */
int opk_definitions_resolve(struct opk_definitions *all, struct opk_ctx *ctx);
/* The first definition of that name; NULL: there is none. */
struct opk_definition *opk_definitions_find(const struct opk_definitions *all, const char *name);
void opk_definitions_clear(struct opk_definitions *all);

#endif
