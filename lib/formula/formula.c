/* SPDX-License-Identifier: BSD-2-Clause */
/* What a parsed formula names, and its value. */
#include <math.h>

#include "formula/formula_code.h"

void opk_formula_free(struct opk_formula *formula)
{
	if (!formula)
		return;
	for (size_t i = 0; i < formula->name_count; i++)
		free(formula->names[i].text);
	free(formula->names);
	free(formula->steps);
	free(formula);
}

size_t opk_formula_name_count(const struct opk_formula *formula)
{
	return formula->name_count;
}

const char *opk_formula_name(const struct opk_formula *formula, size_t i)
{
	return formula->names[i].text;
}

size_t opk_formula_name_offset(const struct opk_formula *formula, size_t i)
{
	return formula->names[i].at;
}

/* Of -0 and 0 the first is less, whatever their order. */
static double lesser(double a, double b)
{
	return a < b || (a == b && signbit(a)) ? a : b;
}

static double greater(double a, double b)
{
	return a > b || (a == b && !signbit(a)) ? a : b;
}

/* What the processor does to NaN by itself, and what it does not. */
static double combine(enum opk_formula_op op, double a, double b)
{
	if (isnan(a) || isnan(b))
		return (double)NAN;
	switch (op) {
	case OPK_OP_ADD:
		return a + b;
	case OPK_OP_SUBTRACT:
		return a - b;
	case OPK_OP_MULTIPLY:
		return a * b;
	case OPK_OP_DIVIDE:
		return a / b;
	case OPK_OP_LESS:
		return a < b;
	case OPK_OP_LESS_EQUAL:
		return a <= b;
	case OPK_OP_GREATER:
		return a > b;
	case OPK_OP_GREATER_EQUAL:
		return a >= b;
	case OPK_OP_EQUAL:
		return a == b;
	case OPK_OP_NOT_EQUAL:
		return a != b;
	case OPK_OP_MIN:
		return lesser(a, b);
	case OPK_OP_MAX:
		return greater(a, b);
	default:
		return (double)NAN;
	}
}

static double choose(const double *operands)
{
	return isnan(operands[0]) ? (double)NAN : operands[0] != 0 ? operands[1] : operands[2];
}

static double apply(const struct opk_formula_step *step, const double *operands,
                    const double *values)
{
	switch (step->op) {
	case OPK_OP_NUMBER:
		return step->number;
	case OPK_OP_NAME:
		return values[step->name];
	case OPK_OP_NEGATE:
		return -operands[0];
	case OPK_OP_ABS:
		return fabs(operands[0]);
	case OPK_OP_SQRT:
		return sqrt(operands[0]);
	case OPK_OP_IF:
		return choose(operands);
	default:
		return combine(step->op, operands[0], operands[1]);
	}
}

double opk_formula_value(const struct opk_formula *formula, const double *values)
{
	double stack[OPK_MAX_FORMULA_STACK];
	size_t height = 0;

	for (size_t i = 0; i < formula->step_count; i++) {
		const struct opk_formula_step *step = &formula->steps[i];

		height -= opk_formula_operands(step->op);
		stack[height] = apply(step, stack + height, values);
		height++;
	}
	/* Without a sign, which 0 / 0 has on some processors. */
	return isnan(stack[0]) ? (double)NAN : stack[0];
}
