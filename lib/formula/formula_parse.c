/* SPDX-License-Identifier: BSD-2-Clause */
/* Parses a formula into steps, by recursive descent of bounded depth. */
#include <string.h>

#include "base/ascii.h"
#include "base/decimal.h"
#include "base/utf8.h"
#include "formula/formula_code.h"

struct parser {
	struct opk_formula *formula;
	const char *text;
	size_t size;
	size_t at;
	size_t stack; /* values on the stack after the steps so far */
	int depth;
	const char *wanted; /* NULL: no error yet */
	const char *wrong;  /* instead: the full error */
	bool nomem;
};

static bool parse_comparison(struct parser *p);

/* ---- problems --------------------------------------------------------------------------- */

/* Reports "X is needed here" at the current position. */
static bool need(struct parser *p, const char *what)
{
	p->wanted = what;
	return false;
}

static bool wrong(struct parser *p, size_t at, const char *what)
{
	p->at = at;
	p->wrong = what;
	return false;
}

static bool nomem(struct parser *p)
{
	p->nomem = true;
	return false;
}

/* Describes the character at the current position, for a message. */
static void describe(char out[16], const struct parser *p)
{
	const char *text = p->text + p->at;
	size_t length = opk_utf8_length((const unsigned char *)text, p->size - p->at);

	if (p->at == p->size)
		snprintf(out, 16, "the end");
	else if (!length || (unsigned char)*text < ' ')
		snprintf(out, 16, "byte 0x%02x", (unsigned char)*text);
	else
		snprintf(out, 16, "'%.*s'", (int)length, text);
}

static int report(const struct parser *p, struct opk_ctx *ctx)
{
	char found[16];

	if (p->nomem)
		return opk_nomem(ctx, "a formula");
	if (p->wrong)
		return opk_fail(ctx, OPK_EINPUT, "%s", p->wrong);
	describe(found, p);
	return opk_fail(ctx, OPK_EINPUT, "%s is needed here, not %s", p->wanted, found);
}

/* ---- steps ------------------------------------------------------------------------------ */

static bool add_step(struct parser *p, const struct opk_formula_step *step)
{
	struct opk_formula *formula = p->formula;

	if (!opk_grow(&formula->steps, &formula->step_capacity, formula->step_count,
	              sizeof *formula->steps))
		return nomem(p);
	formula->steps[formula->step_count++] = *step;
	p->stack = p->stack + 1 - opk_formula_operands(step->op);
	if (p->stack > formula->stack)
		formula->stack = p->stack;
	return formula->stack <= OPK_MAX_FORMULA_STACK || wrong(p, step->at, "nested too deeply");
}

static bool add_op(struct parser *p, enum opk_formula_op op, size_t at)
{
	return add_step(p, &(struct opk_formula_step){ .op = op, .at = (uint32_t)at });
}

static bool add_name(struct parser *p, size_t at, size_t length)
{
	struct opk_formula *formula = p->formula;
	struct opk_formula_step step = { .op = OPK_OP_NAME, .at = (uint32_t)at };
	size_t i = 0;
	char *text;

	while (i < formula->name_count
	       && (strncmp(formula->names[i].text, p->text + at, length)
	           || formula->names[i].text[length]))
		i++;
	if (i == formula->name_count) {
		if (i == OPK_MAX_FORMULA_NAMES)
			return wrong(p, at, "a formula has at most 1000 different names");
		if (!opk_grow(&formula->names, &formula->name_capacity, i, sizeof *formula->names)
		    || !(text = opk_strndup(p->text + at, length)))
			return nomem(p);
		formula->names[formula->name_count++] = (struct opk_formula_name){ text, at };
	}
	step.name = (uint32_t)i;
	return add_step(p, &step);
}

/* ---- words ------------------------------------------------------------------------------ */

static void skip_blanks(struct parser *p)
{
	while (opk_is_blank(p->text[p->at]))
		p->at++;
}

/* The next character after blanks; NUL at the end of the text. */
static char peek(struct parser *p)
{
	skip_blanks(p);
	return p->text[p->at];
}

static bool skip_digits(struct parser *p)
{
	size_t count = opk_span(p->text + p->at, opk_is_digit);

	p->at += count;
	return count;
}

static bool add_number(struct parser *p, size_t at)
{
	struct opk_formula_step step = { .op = OPK_OP_NUMBER, .at = (uint32_t)at };
	size_t length;

	switch (opk_decimal_read(&step.number, &length, p->text + at)) {
	case OPK_DECIMAL_GOOD:
		return add_step(p, &step);
	case OPK_DECIMAL_NOMEM:
		return nomem(p);
	case OPK_DECIMAL_SMALL:
		return wrong(p, at, "this number is too small: a double would have it as 0");
	default:
		return wrong(p, at, "this number is too large");
	}
}

static bool parse_number(struct parser *p)
{
	size_t start = p->at;

	skip_digits(p);
	if (p->text[p->at] == '.') {
		p->at++;
		if (!skip_digits(p))
			return need(p, "a digit");
	}
	if (p->text[p->at] == 'e' || p->text[p->at] == 'E') {
		p->at++;
		if (p->text[p->at] == '+' || p->text[p->at] == '-')
			p->at++;
		if (!skip_digits(p))
			return need(p, "a digit");
	}
	if (opk_in_full_name(p->text[p->at]))
		return need(p, "an operator");
	return add_number(p, start);
}

/* ---- functions -------------------------------------------------------------------------- */

static const struct function {
	const char *name;
	enum opk_formula_op op;
	size_t least, most;
	const char *arguments;
} functions[] = {
	{ "min", OPK_OP_MIN, 2, SIZE_MAX, "min() takes two values or more" },
	{ "max", OPK_OP_MAX, 2, SIZE_MAX, "max() takes two values or more" },
	{ "if", OPK_OP_IF, 3, 3, "if() takes a condition, and a value for either case" },
	{ "abs", OPK_OP_ABS, 1, 1, "abs() takes one value" },
	{ "sqrt", OPK_OP_SQRT, 1, 1, "sqrt() takes one value" },
};

static const struct function *find_function(const char *name, size_t length)
{
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
		if (strlen(functions[i].name) == length && !memcmp(functions[i].name, name, length))
			return &functions[i];
	return NULL;
}

bool opk_formula_is_function(const char *name)
{
	return find_function(name, strlen(name));
}

/* Starts after the '('. min() and max() of many become steps of two: the stack stays low. */
static bool parse_arguments(struct parser *p, const struct function *function, size_t at)
{
	size_t count = 0;

	if (peek(p) != ')')
		for (;;) {
			if (!parse_comparison(p))
				return false;
			if (++count > function->most)
				return wrong(p, at, function->arguments);
			if (count > 1 && function->most == SIZE_MAX && !add_op(p, function->op, at))
				return false;
			if (peek(p) != ',')
				break;
			p->at++;
		}
	if (p->text[p->at] != ')')
		return need(p, count ? "an operator, ',' or ')'" : "')'");
	if (count < function->least)
		return wrong(p, at, function->arguments);
	p->at++;
	return function->most == SIZE_MAX || add_op(p, function->op, at);
}

static bool parse_word(struct parser *p)
{
	const struct function *function;
	size_t start = p->at, length = opk_span(p->text + start, opk_in_full_name);

	p->at += length;
	if (peek(p) != '(')
		return add_name(p, start, length);
	function = find_function(p->text + start, length);
	if (!function)
		return wrong(p, start,
		             "no such function; there are min, max, if, abs and sqrt, and a "
		             "product needs a '*'");
	p->at++;
	return parse_arguments(p, function, start);
}

/* ---- grammar ---------------------------------------------------------------------------- */

static bool parse_parenthesis(struct parser *p)
{
	p->at++;
	if (!parse_comparison(p))
		return false;
	if (peek(p) != ')')
		return need(p, "an operator or ')'");
	p->at++;
	return true;
}

static bool parse_value(struct parser *p);

static bool parse_negated(struct parser *p)
{
	size_t at = p->at++;

	return parse_value(p) && add_op(p, OPK_OP_NEGATE, at);
}

static bool parse_value(struct parser *p)
{
	char c = peek(p);
	bool ok;

	if (++p->depth > OPK_MAX_FORMULA_DEPTH + 1)
		return wrong(p, p->at, "nested too deeply: more than 199 levels");
	if (c == '-')
		ok = parse_negated(p);
	else if (c == '(')
		ok = parse_parenthesis(p);
	else if (opk_is_digit(c))
		ok = parse_number(p);
	else if (opk_is_letter(c))
		ok = parse_word(p);
	else
		ok = need(p, "a number, a name or '('");
	p->depth--;
	return ok;
}

/* Parses left-associative operators of equal rank; `signs` are their signs, `ops` their steps. */
static bool parse_rank(struct parser *p, bool (*operand)(struct parser *), const char *signs,
                       const enum opk_formula_op *ops)
{
	if (!operand(p))
		return false;
	for (const char *sign; peek(p) && (sign = strchr(signs, p->text[p->at]));) {
		size_t at = p->at++;

		if (!operand(p) || !add_op(p, ops[sign - signs], at))
			return false;
	}
	return true;
}

static bool parse_product(struct parser *p)
{
	static const enum opk_formula_op ops[] = { OPK_OP_MULTIPLY, OPK_OP_DIVIDE };

	return parse_rank(p, parse_value, "*/", ops);
}

static bool parse_sum(struct parser *p)
{
	static const enum opk_formula_op ops[] = { OPK_OP_ADD, OPK_OP_SUBTRACT };

	return parse_rank(p, parse_product, "+-", ops);
}

/* Reads a comparison's sign. */
static bool take_comparison(struct parser *p, enum opk_formula_op *op)
{
	static const struct {
		const char *sign;
		enum opk_formula_op op;
	} signs[] = {
		{ "<=", OPK_OP_LESS_EQUAL }, { ">=", OPK_OP_GREATER_EQUAL },
		{ "==", OPK_OP_EQUAL },      { "!=", OPK_OP_NOT_EQUAL },
		{ "<", OPK_OP_LESS },        { ">", OPK_OP_GREATER },
	};

	skip_blanks(p);
	for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
		size_t length = strlen(signs[i].sign);

		if (strncmp(p->text + p->at, signs[i].sign, length))
			continue;
		p->at += length;
		*op = signs[i].op;
		return true;
	}
	return false;
}

static bool parse_comparison(struct parser *p)
{
	enum opk_formula_op op, second;
	size_t at;

	if (!parse_sum(p))
		return false;
	skip_blanks(p);
	at = p->at;
	if (!take_comparison(p, &op))
		return true;
	if (!parse_sum(p) || !add_op(p, op, at))
		return false;
	skip_blanks(p);
	at = p->at;
	return !take_comparison(p, &second)
	       || wrong(p, at, "a comparison can't be compared without parentheses");
}

static bool parse(struct parser *p)
{
	if (p->size > OPK_MAX_FORMULA)
		return wrong(p, OPK_MAX_FORMULA, "a formula has at most 65535 bytes");
	if (!parse_comparison(p))
		return false;
	if (peek(p) == '=')
		return wrong(p, p->at, "'==' compares");
	return p->at == p->size || need(p, "an operator or the end");
}

int opk_formula_parse(struct opk_formula **out, struct opk_ctx *ctx, const char *text,
                      size_t *offset)
{
	struct parser p = {
		.formula = opk_alloc(sizeof *p.formula),
		.text = text,
		.size = strnlen(text, OPK_MAX_FORMULA + 1),
	};
	int code = OPK_OK;

	p.nomem = !p.formula;
	if (p.nomem || !parse(&p))
		code = report(&p, ctx);
	if (code) {
		opk_formula_free(p.formula);
		if (offset)
			*offset = p.at;
		return code;
	}
	*out = p.formula;
	return OPK_OK;
}
