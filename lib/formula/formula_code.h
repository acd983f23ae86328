/* SPDX-License-Identifier: BSD-2-Clause */
/* A parsed formula: steps for a stack machine. formula_parse.c makes them. */
#ifndef OPK_FORMULA_CODE_H
#define OPK_FORMULA_CODE_H

#include "formula/formula.h"

enum opk_formula_op {
	OPK_OP_NUMBER,
	OPK_OP_NAME,
	/* One operand. */
	OPK_OP_NEGATE,
	OPK_OP_ABS,
	OPK_OP_SQRT,
	/* Two. */
	OPK_OP_ADD,
	OPK_OP_SUBTRACT,
	OPK_OP_MULTIPLY,
	OPK_OP_DIVIDE,
	OPK_OP_LESS,
	OPK_OP_LESS_EQUAL,
	OPK_OP_GREATER,
	OPK_OP_GREATER_EQUAL,
	OPK_OP_EQUAL,
	OPK_OP_NOT_EQUAL,
	OPK_OP_MIN,
	OPK_OP_MAX,
	/* Three: condition, then, else. */
	OPK_OP_IF,
};

struct opk_formula_step {
	enum opk_formula_op op;
	uint32_t at; /* position in the text */
	union {
		double number;
		uint32_t name;
	};
};

struct opk_formula_name {
	char *text;
	size_t at;
};

/* Five per level: a comparison, a sum, a product, and two arguments of if(). */
enum { OPK_MAX_FORMULA_STACK = 5 * (OPK_MAX_FORMULA_DEPTH + 1) };

struct opk_formula {
	struct opk_formula_step *steps;
	size_t step_count, step_capacity;
	struct opk_formula_name *names;
	size_t name_count, name_capacity;
	size_t stack; /* the most entries that the steps need */
};

static inline size_t opk_formula_operands(enum opk_formula_op op)
{
	return op < OPK_OP_NEGATE ? 0 : op < OPK_OP_ADD ? 1 : op < OPK_OP_IF ? 2 : 3;
}

#endif
