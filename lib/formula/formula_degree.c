/* SPDX-License-Identifier: BSD-2-Clause */
/* The degree of a formula in the values of its names. */
#include "formula/formula_code.h"

/* 0 has any degree, as in max(a, 0). */
enum { ANY_DEGREE = OPK_NO_DEGREE + 1 };

static int agree(int a, int b)
{
	if (a == ANY_DEGREE || a == b)
		return b;
	return b == ANY_DEGREE ? a : OPK_NO_DEGREE;
}

/* 0 times something is 0. */
static int product(int a, int b, int sign)
{
	if (a == OPK_NO_DEGREE || b == OPK_NO_DEGREE)
		return OPK_NO_DEGREE;
	if (a == ANY_DEGREE || b == ANY_DEGREE)
		return a == ANY_DEGREE ? a : OPK_NO_DEGREE;
	return a + sign * b;
}

/* Values of the same degree keep their order. */
static int compare(int a, int b)
{
	return agree(a, b) == OPK_NO_DEGREE ? OPK_NO_DEGREE : 0;
}

static int root(int a)
{
	return a == ANY_DEGREE || (a != OPK_NO_DEGREE && a % 2 == 0) ? a == ANY_DEGREE ? a : a / 2
	                                                             : OPK_NO_DEGREE;
}

/* A condition that depends on the scale may take either branch. */
static int choose(const int *operands)
{
	return operands[0] == 0 || operands[0] == ANY_DEGREE ? agree(operands[1], operands[2])
	                                                     : OPK_NO_DEGREE;
}

static int apply(const struct opk_formula_step *step, const int *operands, const int *degrees)
{
	switch (step->op) {
	case OPK_OP_NUMBER:
		return step->number == 0 ? ANY_DEGREE : 0;
	case OPK_OP_NAME:
		return degrees[step->name];
	case OPK_OP_NEGATE:
	case OPK_OP_ABS:
		return operands[0];
	case OPK_OP_SQRT:
		return root(operands[0]);
	case OPK_OP_ADD:
	case OPK_OP_SUBTRACT:
	case OPK_OP_MIN:
	case OPK_OP_MAX:
		return agree(operands[0], operands[1]);
	case OPK_OP_MULTIPLY:
		return product(operands[0], operands[1], 1);
	case OPK_OP_DIVIDE:
		return product(operands[0], operands[1], -1);
	case OPK_OP_IF:
		return choose(operands);
	default:
		return compare(operands[0], operands[1]);
	}
}

int opk_formula_degree(int *out, struct opk_ctx *ctx, const struct opk_formula *formula,
                       const int *degrees)
{
	opk_autofree int *stack = opk_alloc_array(formula->stack, sizeof *stack);
	size_t height = 0;

	if (!stack)
		return opk_nomem(ctx, "a formula");
	for (size_t i = 0; i < formula->step_count; i++) {
		const struct opk_formula_step *step = &formula->steps[i];

		height -= opk_formula_operands(step->op);
		stack[height] = apply(step, stack + height, degrees);
		height++;
	}
	*out = stack[0] == ANY_DEGREE ? 0 : stack[0];
	return OPK_OK;
}
