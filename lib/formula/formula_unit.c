/* SPDX-License-Identifier: BSD-2-Clause */
/* The unit of a formula, and conflicts between its units. */
#include "formula/formula_code.h"
#include "formula/formula.h"

struct value {
	bool known;
	struct opk_unit unit;
};

/* The operation that needs equal units, for a message; NULL: any units will do. */
static const char *verb_of(enum opk_formula_op op)
{
	switch (op) {
	case OPK_OP_ADD:
		return "added";
	case OPK_OP_SUBTRACT:
		return "subtracted";
	case OPK_OP_MULTIPLY:
	case OPK_OP_DIVIDE:
		return NULL;
	default:
		return "compared";
	}
}

static int refuse(struct opk_ctx *ctx, const struct opk_formula_step *step, const struct value *a,
                  const struct value *b)
{
	opk_autofree char *first = opk_unit_text(&a->unit), *second = opk_unit_text(&b->unit);

	if (!first || !second)
		return opk_nomem(ctx, "a unit");
	if (step->op == OPK_OP_IF)
		return opk_fail(ctx, OPK_EINPUT, "if() gives %s in one case and %s in the other",
		                *first ? first : "unitless", *second ? second : "unitless");
	return opk_fail(ctx, OPK_EINPUT, "%s and %s can't be %s", *first ? first : "unitless",
	                *second ? second : "unitless", verb_of(step->op));
}

/* Checks that units are equal if both are known; *a becomes the known one. */
static int agree(struct value *a, struct opk_ctx *ctx, const struct opk_formula_step *step,
                 const struct value *b)
{
	if (a->known && b->known && !opk_unit_equal(&a->unit, &b->unit))
		return refuse(ctx, step, a, b);
	if (!a->known)
		*a = *b;
	return OPK_OK;
}

static int combine(struct value *a, struct opk_ctx *ctx, const struct opk_formula_step *step,
                   const struct value *b)
{
	if (!verb_of(step->op)) {
		a->known = a->known && b->known
		           && opk_unit_multiply(&a->unit, &b->unit,
		                                step->op == OPK_OP_MULTIPLY ? 1 : -1);
		return OPK_OK;
	}
	TRY(agree(a, ctx, step, b));
	if (step->op >= OPK_OP_LESS && step->op <= OPK_OP_NOT_EQUAL)
		*a = (struct value){ .known = true };
	return OPK_OK;
}

static int apply(struct value *operands, struct opk_ctx *ctx, const struct opk_formula_step *step,
                 const char *const *units)
{
	struct value *result = operands;
	int code;

	switch (step->op) {
	case OPK_OP_NUMBER:
		*result = (struct value){ .known = false };
		return OPK_OK;
	case OPK_OP_NAME:
		result->known = units[step->name] && opk_unit_try(&result->unit, units[step->name]);
		return OPK_OK;
	case OPK_OP_NEGATE:
	case OPK_OP_ABS:
		return OPK_OK;
	case OPK_OP_SQRT:
		result->known = result->known && opk_unit_root(&result->unit);
		return OPK_OK;
	case OPK_OP_IF:
		code = agree(&operands[1], ctx, step, &operands[2]);
		*result = operands[1];
		return code;
	default:
		return combine(&operands[0], ctx, step, &operands[1]);
	}
}

int opk_formula_unit(char **out, struct opk_ctx *ctx, const struct opk_formula *formula,
                     const char *const *units, size_t *offset)
{
	opk_autofree struct value *stack = opk_alloc_array(formula->stack, sizeof *stack);
	char *text = NULL;
	size_t height = 0;

	if (!stack)
		return opk_nomem(ctx, "units");
	for (size_t i = 0; i < formula->step_count; i++) {
		const struct opk_formula_step *step = &formula->steps[i];
		int code;

		height -= opk_formula_operands(step->op);
		code = apply(stack + height, ctx, step, units);
		if (code && offset)
			*offset = step->at;
		if (code)
			return code;
		height++;
	}
	if (stack[0].known && !(text = opk_unit_text(&stack[0].unit)))
		return opk_nomem(ctx, "a unit");
	*out = text;
	return OPK_OK;
}
