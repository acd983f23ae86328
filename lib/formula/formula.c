/* SPDX-License-Identifier: BSD-2-Clause */
/* A parsed formula: its names, value, and text. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/ascii.h"
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

/* -0 is less than 0 in either order. */
static double lesser(double a, double b)
{
	return a < b || (a == b && signbit(a)) ? a : b;
}

static double greater(double a, double b)
{
	return a > b || (a == b && !signbit(a)) ? a : b;
}

/* NaN in, NaN out: processors ensure that only for some operations. */
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
	/* Drop the sign that 0 / 0 has on some processors. */
	return isnan(stack[0]) ? (double)NAN : stack[0];
}

/* ---- as text */

/* Replaces each run of blanks by one blank. */
static void add_piece(struct opk_buf *out, const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (!opk_is_blank(text[i]))
			opk_buf_add(out, &text[i], 1);
		else if (out->size && out->data[out->size - 1] != ' ')
			opk_buf_add_text(out, " ");
}

char *opk_formula_text(const struct opk_formula *formula, const char *text,
                       const char *replace(void *data, const char *name), void *data)
{
	opk_autobuf struct opk_buf out = { 0 };
	size_t from = 0;

	/* The steps have the names in the text's order. */
	for (size_t i = 0; i < formula->step_count; i++) {
		const struct opk_formula_step *step = &formula->steps[i];
		const char *name = step->op == OPK_OP_NAME ? formula->names[step->name].text : NULL;
		const char *other = name ? replace(data, name) : NULL;

		if (!other)
			continue;
		add_piece(&out, text + from, step->at - from);
		opk_buf_add_text(&out, other);
		from = step->at + strlen(name);
	}
	add_piece(&out, text + from, strlen(text + from));
	if (out.size && out.data[out.size - 1] == ' ')
		out.size--;
	return opk_buf_take_text(&out);
}

void opk_formula_add_code(struct opk_buf *out, const struct opk_formula *formula)
{
	for (size_t i = 0; i < formula->step_count; i++) {
		const struct opk_formula_step *step = &formula->steps[i];
		uint64_t bits;

		if (step->op == OPK_OP_NAME) {
			opk_buf_add_printf(out, "%s ", formula->names[step->name].text);
		} else if (step->op == OPK_OP_NUMBER) {
			memcpy(&bits, &step->number, sizeof bits);
			opk_buf_add_printf(out, "#%016" PRIx64 " ", bits);
		} else {
			opk_buf_add_printf(out, "!%d ", (int)step->op);
		}
	}
}
