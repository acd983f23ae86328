/* SPDX-License-Identifier: BSD-2-Clause */
/* Formulas: their form, their values down to NaN and -0, their units, and the shipped ones. */
#include "formula/formula.h"

#include <locale.h>
#include <math.h>

#include "allocation.h"
#include "testing.h"

/* Values of the names in the tests. */
static const struct {
	const char *name;
	double value;
	const char *unit;
} named[] = {
	{ "a", 6, "byte" },
	{ "b", 4, "byte" },
	{ "t", 2, "second" },
	{ "rate", 3, "byte/second" },
	{ "p", 50, "percent" },
	{ "r", 0.5, "" },
	{ "u", 7, NULL },
	{ "odd", 8, "no unit!" },
	{ "n", (double)NAN, NULL },
	{ "z", 0, NULL },
	{ "mz", -0.0, NULL },
	{ "inf", (double)INFINITY, NULL },
	{ "UNIT.Set.a__b.avg", 11, "warp" },
	{ "dram__bytes.sum.per_second", 12, "byte/second" },
	{ "if", 13, NULL },
	{ "_min", 14, NULL },
	{ "e9", 15, NULL },
};

static size_t index_of(const char *name)
{
	for (size_t i = 0; i < COUNT(named); i++)
		if (!strcmp(named[i].name, name))
			return i;
	ck_abort_msg("no value for %s", name);
}

static struct opk_formula *parsed(struct opk_ctx *ctx, const char *text)
{
	struct opk_formula *formula = NULL;

	ck_ok(ctx, opk_formula_parse(&formula, ctx, text, NULL));
	return formula;
}

static double value_of(struct opk_ctx *ctx, const char *text)
{
	freed(opk_formula) *formula = parsed(ctx, text);
	double values[COUNT(named)], value;

	for (size_t i = 0; i < opk_formula_name_count(formula); i++)
		values[i] = named[index_of(opk_formula_name(formula, i))].value;
	value = opk_formula_value(formula, values);
	return value;
}

/* -0 differs from 0; the sign of NaN is ignored. */
static bool same(double a, double b)
{
	return isnan(a) ? isnan(b) && !signbit(a) : a == b && !signbit(a) == !signbit(b);
}

static const struct value_row {
	struct here here;
	const char *text;
	double wanted;
} value_rows[] = {
	{ HERE, "1", 1 },
	{ HERE, "2.5", 2.5 },
	{ HERE, "1e9", 1e9 },
	{ HERE, "1.5E-3", 1.5e-3 },
	{ HERE, "2e+2", 200 },
	{ HERE, "007", 7 },
	{ HERE, "0e-999", 0 },
	{ HERE, "0.000", 0 },
	{ HERE, "4.9e-324", 4.9406564584124654e-324 },
	{ HERE, "0.1", 0.1 },
	{ HERE, "1.7976931348623157e308", 1.7976931348623157e308 },
	{ HERE, " a\t+\n b\r", 10 },
	{ HERE, "UNIT.Set.a__b.avg", 11 },
	{ HERE, "dram__bytes.sum.per_second*2", 24 },
	{ HERE, "if + _min + e9", 42 },
	/* Precedence, and left to right. */
	{ HERE, "1 + 2 * 3", 7 },
	{ HERE, "(1 + 2) * 3", 9 },
	{ HERE, "10 - 4 - 3", 3 },
	{ HERE, "100 / 5 / 2", 10 },
	{ HERE, "100 / 5 * 2", 40 },
	{ HERE, "2 - -3", 5 },
	{ HERE, "--2", 2 },
	{ HERE, "-2 * -3", 6 },
	{ HERE, "-a + b", -2 },
	{ HERE, "2*-a", -12 },
	{ HERE, "1 + 1 < 3 * 1", 1 },
	{ HERE, "(1 < 2) + (2 < 1)", 1 },
	{ HERE, "((((a))))", 6 },
	{ HERE, "a+a+a+b", 22 },
	/* Comparisons. */
	{ HERE, "a < b", 0 },
	{ HERE, "b < a", 1 },
	{ HERE, "a < a", 0 },
	{ HERE, "a <= b", 0 },
	{ HERE, "b <= a", 1 },
	{ HERE, "a <= a", 1 },
	{ HERE, "a > b", 1 },
	{ HERE, "b > a", 0 },
	{ HERE, "a > a", 0 },
	{ HERE, "a >= b", 1 },
	{ HERE, "b >= a", 0 },
	{ HERE, "a >= a", 1 },
	{ HERE, "a == b", 0 },
	{ HERE, "a == a", 1 },
	{ HERE, "a != b", 1 },
	{ HERE, "a != a", 0 },
	{ HERE, "a<=-b", 0 },
	{ HERE, "a>-b", 1 },
	{ HERE, "z == mz", 1 },
	{ HERE, "mz < z", 0 },
	{ HERE, "inf == inf", 1 },
	{ HERE, "-inf < inf", 1 },
	{ HERE, "inf > 1e308", 1 },
	/* Functions. */
	{ HERE, "min(a, b)", 4 },
	{ HERE, "max(a, b)", 6 },
	{ HERE, "min(b, a)", 4 },
	{ HERE, "max(b, a)", 6 },
	{ HERE, "min(5, 4, 3, 9)", 3 },
	{ HERE, "max(5, 4, 3, 9)", 9 },
	{ HERE, "min(a + 1, b * 2, 1 < 2)", 1 },
	{ HERE, "max ( 1 , min(2, 3) )", 2 },
	{ HERE, "abs(-3)", 3 },
	{ HERE, "abs(3)", 3 },
	{ HERE, "sqrt(9)", 3 },
	{ HERE, "if(1, 2, 3)", 2 },
	{ HERE, "if(0, 2, 3)", 3 },
	{ HERE, "if(-0.5, 2, 3)", 2 },
	{ HERE, "if(mz, 2, 3)", 3 },
	{ HERE, "if(inf, 2, 3)", 2 },
	{ HERE, "if(a > b, a - b, b - a)", 2 },
	{ HERE, "if(a > b, if(b > a, 1, 2), 3)", 2 },
	{ HERE, "1 + if(1, 2, 3) * 10", 21 },
	/* Zero and its sign. */
	{ HERE, "-z", -0.0 },
	{ HERE, "-mz", 0 },
	{ HERE, "0 - 0", 0 },
	{ HERE, "-0", -0.0 },
	{ HERE, "abs(mz)", 0 },
	{ HERE, "sqrt(mz)", -0.0 },
	{ HERE, "mz + z", 0 },
	{ HERE, "min(z, mz)", -0.0 },
	{ HERE, "min(mz, z)", -0.0 },
	{ HERE, "max(z, mz)", 0 },
	{ HERE, "max(mz, z)", 0 },
	{ HERE, "min(mz, mz)", -0.0 },
	{ HERE, "max(mz, mz)", -0.0 },
	{ HERE, "z * -1", -0.0 },
	{ HERE, "z / -1", -0.0 },
	/* Division by zero. */
	{ HERE, "1 / 0", (double)INFINITY },
	{ HERE, "-1 / 0", -(double)INFINITY },
	{ HERE, "1 / mz", -(double)INFINITY },
	{ HERE, "-1 / mz", (double)INFINITY },
	{ HERE, "0 / 0", (double)NAN },
	{ HERE, "mz / z", (double)NAN },
	{ HERE, "n / 0", (double)NAN },
	{ HERE, "inf / 0", (double)INFINITY },
	{ HERE, "0 / inf", 0 },
	{ HERE, "1 / -inf", -0.0 },
	/* Infinity. */
	{ HERE, "inf - inf", (double)NAN },
	{ HERE, "inf + -inf", (double)NAN },
	{ HERE, "inf * 0", (double)NAN },
	{ HERE, "inf / inf", (double)NAN },
	{ HERE, "1e308 * 10", (double)INFINITY },
	{ HERE, "min(inf, 1)", 1 },
	{ HERE, "max(-inf, 1)", 1 },
	{ HERE, "abs(-inf)", (double)INFINITY },
	{ HERE, "sqrt(inf)", (double)INFINITY },
	{ HERE, "sqrt(-inf)", (double)NAN },
	/* NaN propagates. */
	{ HERE, "n", (double)NAN },
	{ HERE, "-n", (double)NAN },
	{ HERE, "n + 1", (double)NAN },
	{ HERE, "1 - n", (double)NAN },
	{ HERE, "n * 0", (double)NAN },
	{ HERE, "0 / n", (double)NAN },
	{ HERE, "n * inf", (double)NAN },
	{ HERE, "abs(n)", (double)NAN },
	{ HERE, "sqrt(n)", (double)NAN },
	{ HERE, "sqrt(-1)", (double)NAN },
	{ HERE, "min(n, 1)", (double)NAN },
	{ HERE, "min(1, n)", (double)NAN },
	{ HERE, "max(n, 1)", (double)NAN },
	{ HERE, "max(1, n)", (double)NAN },
	{ HERE, "min(n, -inf)", (double)NAN },
	{ HERE, "max(inf, n)", (double)NAN },
	{ HERE, "min(1, n, 2)", (double)NAN },
	{ HERE, "max(1, 2, 3, n)", (double)NAN },
	{ HERE, "n < 1", (double)NAN },
	{ HERE, "1 < n", (double)NAN },
	{ HERE, "n <= n", (double)NAN },
	{ HERE, "n > 1", (double)NAN },
	{ HERE, "n >= 1", (double)NAN },
	{ HERE, "n == n", (double)NAN },
	{ HERE, "n != n", (double)NAN },
	{ HERE, "inf != n", (double)NAN },
	/* if() takes one branch, and the other's NaN does not matter. */
	{ HERE, "if(n, 1, 2)", (double)NAN },
	{ HERE, "if(n, 1, 1)", (double)NAN },
	{ HERE, "if(n > 1, 1, 2)", (double)NAN },
	{ HERE, "if(1, n, 2)", (double)NAN },
	{ HERE, "if(1, 2, n)", 2 },
	{ HERE, "if(0, n, 2)", 2 },
	{ HERE, "if(0, 2, n)", (double)NAN },
	{ HERE, "if(z == 0, 0, a / z)", 0 },
	{ HERE, "if(z > 0, 0 / z, 5)", 5 },
	{ HERE, "if(0 / 0 > 1, 1, 2)", (double)NAN },
	{ HERE, "if(if(n, 1, 0), 1, 2)", (double)NAN },
	{ HERE, "if(if(1, 0, n), n, 3)", 3 },
	{ HERE, "if(1, if(n, 1, 2), 3)", (double)NAN },
	{ HERE, "if(0, if(n, 1, 2), 3)", 3 },
	{ HERE, "min(if(n, 1, 2), 1)", (double)NAN },
};

CTX_TEST_EACH(values_of_formulas, value_rows)
{
	double value = value_of(ctx, row->text);

	ck_row(row, same(value, row->wanted), "%s is %.17g", row->text, value);
}

static const struct bad_row {
	struct here here;
	const char *text;
	size_t offset;
	const char *wanted;
} bad_rows[] = {
	{ HERE, "", 0, "a number, a name or '(' is needed here, not the end" },
	{ HERE, "  ", 2, "a number, a name or '(' is needed here, not the end" },
	{ HERE, "1 +", 3, "a number, a name or '(' is needed here, not the end" },
	{ HERE, "1 + * 2", 4, "a number, a name or '(' is needed here, not '*'" },
	{ HERE, "+1", 0, "not '+'" },
	{ HERE, "1 ++ 1", 3, "not '+'" },
	{ HERE, "1 2", 2, "an operator or the end is needed here, not '2'" },
	{ HERE, "a b", 2, "an operator or the end is needed here, not 'b'" },
	{ HERE, "2x", 1, "an operator is needed here, not 'x'" },
	{ HERE, "1.5.2", 3, "an operator is needed here, not '.'" },
	{ HERE, "1.", 2, "a digit is needed here, not the end" },
	{ HERE, "1.e5", 2, "a digit is needed here, not 'e'" },
	{ HERE, ".5", 0, "a number, a name or '(' is needed here, not '.'" },
	{ HERE, "1e", 2, "a digit is needed here, not the end" },
	{ HERE, "1e+", 3, "a digit" },
	{ HERE, "0x10", 1, "an operator is needed here, not 'x'" },
	{ HERE, "1,5", 1, "an operator or the end is needed here, not ','" },
	{ HERE, "a + 1e999", 4, "this number is too large" },
	{ HERE, "a + 1e-999", 4, "this number is too small: a double would have it as 0" },
	{ HERE, "0.0001e-320", 0, "this number is too small" },
	{ HERE, "(1", 2, "an operator or ')' is needed here, not the end" },
	{ HERE, "1)", 1, "an operator or the end is needed here, not ')'" },
	{ HERE, "()", 1, "a number, a name or '('" },
	{ HERE, "a = b", 2, "'==' compares" },
	{ HERE, "a === b", 4, "a number, a name or '('" },
	{ HERE, "a ! b", 2, "an operator or the end is needed here, not '!'" },
	{ HERE, "a <> b", 3, "a number, a name or '('" },
	{ HERE, "a < b < 3", 6, "a comparison can't be compared without parentheses" },
	{ HERE, "a && b", 2, "not '&'" },
	{ HERE, "a ^ 2", 2, "not '^'" },
	{ HERE, "a % 2", 2, "not '%'" },
	{ HERE, "a__{op}.sum", 3, "not '{'" },
	{ HERE, "\"a\"", 0, "not '\"'" },
	{ HERE, "a + \xc3\xa9", 4, "not '\xc3\xa9'" },
	{ HERE, "a + \xff", 4, "not byte 0xff" },
	{ HERE, "a + \x01", 4, "not byte 0x01" },
	{ HERE, "foo(1)", 0, "no such function; there are min, max, if, abs and sqrt" },
	{ HERE, "a (b)", 0, "no such function" },
	{ HERE, "1 + Min(1, 2)", 4, "no such function" },
	{ HERE, "min()", 0, "min() takes two values or more" },
	{ HERE, "2*min(1)", 2, "min() takes two values or more" },
	{ HERE, "max(1, )", 7, "a number, a name or '('" },
	{ HERE, "max(1, 2", 8, "an operator, ',' or ')' is needed here, not the end" },
	{ HERE, "abs()", 0, "abs() takes one value" },
	{ HERE, "abs(1, 2)", 0, "abs() takes one value" },
	{ HERE, "abs(", 4, "a number, a name or '('" },
	{ HERE, "sqrt(1, 2)", 0, "sqrt() takes one value" },
	{ HERE, "if(1, 2)", 0, "if() takes a condition, and a value for either case" },
	{ HERE, "if(1, 2, 3, 4)", 0, "if() takes a condition" },
};

CTX_TEST_EACH(bad_forms, bad_rows)
{
	struct opk_formula *formula = NULL;
	size_t offset = 999;
	int code = opk_formula_parse(&formula, ctx, row->text, &offset);

	ck_row(row, code == OPK_EINPUT && !formula, "code %d", code);
	ck_row(row, strstr(errors_of(ctx), row->wanted), "%s", errors_of(ctx));
	ck_row(row, offset == row->offset, "byte %zu", offset);
	ck_code(ctx, opk_formula_parse(&formula, ctx, row->text, NULL), OPK_EINPUT);
}

CTX_TEST(names_in_order)
{
	struct opk_formula *formula = parsed(ctx, "b + min(a.b, b, ab) * (a.b - a)");
	static const struct {
		const char *name;
		size_t offset;
	} wanted[] = { { "b", 0 }, { "a.b", 8 }, { "ab", 16 }, { "a", 29 } };

	ck_assert_uint_eq(opk_formula_name_count(formula), COUNT(wanted));
	for (size_t i = 0; i < COUNT(wanted); i++) {
		ck_assert_str_eq(opk_formula_name(formula, i), wanted[i].name);
		ck_assert_uint_eq(opk_formula_name_offset(formula, i), wanted[i].offset);
	}
	opk_formula_free(formula);
	formula = parsed(ctx, "1 + 2");
	ck_assert_uint_eq(opk_formula_name_count(formula), 0);
	ck_assert(same(opk_formula_value(formula, NULL), 3));
	opk_formula_free(formula);
	opk_formula_free(NULL);
}

/* ---- limits ----------------------------------------------------------------------------- */

/* `before` repeated, then "1", then `after` repeated. */
static char *nested(const char *before, const char *after, size_t times)
{
	size_t front = strlen(before), back = strlen(after);
	char *text = malloc(times * (front + back) + 2), *end = text;

	for (size_t i = 0; i < times; i++, end += front)
		memcpy(end, before, front);
	*end++ = '1';
	for (size_t i = 0; i < times; i++, end += back)
		memcpy(end, after, back);
	*end = '\0';
	return text;
}

static const struct {
	struct here here;
	const char *before, *after;
	double wanted; /* of 199 levels */
} nests[] = {
	{ HERE, "(", ")", 1 },
	{ HERE, "-", "", -1 },
	{ HERE, "2-(", ")", 1 },
	{ HERE, "abs(", ")", 1 },
	{ HERE, "min(2, ", ")", 1 },
	{ HERE, "if(1, ", ", 2)", 1 },
	{ HERE, "if(0, 2, 1 < 2 + 1 * ", ")", 1 },
	{ HERE, "if(", ", 1, 0)", 1 },
};

CTX_TEST_EACH(depth, nests)
{
	struct opk_formula *formula = NULL;
	char *text = nested(row->before, row->after, 199);
	double value = value_of(ctx, text);

	ck_row(row, same(value, row->wanted), "%g", value);
	free(text);
	for (size_t times = 200; times <= 10000; times += 9800) {
		text = nested(row->before, row->after, times);
		ck_code(ctx, opk_formula_parse(&formula, ctx, text, NULL), OPK_EINPUT);
		ck_row(row, told(ctx, "nested too deeply") || told(ctx, "65535 bytes"), "%s",
		       errors_of(ctx));
		free(text);
	}
}

CTX_TEST(longest)
{
	struct opk_formula *formula = NULL;
	opk_autofree char *text = malloc(70001);
	size_t offset = 0;

	memset(text, ' ', 70000);
	text[70000] = '\0';
	text[0] = '1';
	text[65534] = '9';
	text[65533] = '+';
	text[65535] = '\0';
	ck_assert(same(value_of(ctx, text), 10));
	text[65535] = ' ';
	text[65536] = '\0';
	ck_code(ctx, opk_formula_parse(&formula, ctx, text, &offset), OPK_EINPUT);
	ck_assert(told(ctx, "at most 65535 bytes") && offset == 65535);
	text[65536] = ' ';
	ck_code(ctx, opk_formula_parse(&formula, ctx, text, NULL), OPK_EINPUT);
}

/* A sum, or the least, of `count` names, or of twice as many values. */
static char *long_list(const char *before, const char *sign, const char *after, size_t count)
{
	char *text = malloc(70000), *end = text + sprintf(text, "%s", before);

	for (size_t i = 0; i < 2 * count; i++)
		end += sprintf(end, "%sx%zu", i ? sign : "", i % count);
	strcpy(end, after);
	return text;
}

static const struct {
	const char *before, *sign, *after;
	double wanted;
} many_names_rows[] = { { "", "+", "", 999000 }, { "max(", ",", ")", 999 } };

CTX_TEST_EACH(many_names, many_names_rows)
{
	char *text = long_list(row->before, row->sign, row->after, 1000);
	struct opk_formula *formula = parsed(ctx, text);
	double values[1000];

	ck_assert_uint_eq(opk_formula_name_count(formula), 1000);
	for (size_t j = 0; j < 1000; j++)
		values[j] = (double)j;
	ck_assert(same(opk_formula_value(formula, values), row->wanted));
	opk_formula_free(formula);
	free(text);
	text = long_list(row->before, row->sign, row->after, 1001);
	ck_fails(ctx, opk_formula_parse(&formula, ctx, text, NULL), OPK_EINPUT,
	         "at most 1000 different names");
	free(text);
}

/* In a locale with decimal commas, formulas still use points. */
CTX_TEST(any_locale)
{
	static const char *const locales[] = { "de_DE.UTF-8", "de_DE", "fr_FR.UTF-8",
		                               "ru_RU.UTF-8" };

	for (size_t i = 0; i < COUNT(locales); i++)
		if (setlocale(LC_ALL, locales[i]))
			ck_assert(same(value_of(ctx, "2.5e-1"), 0.25));
}

CTX_TEST(out_of_memory)
{
	freed(opk_formula) *formula = NULL;
	bool failed = true;

	for (long n = 0; failed; n++) {
		failed = is_short(ctx, n,
		                  opk_formula_parse(&formula, ctx, "min(a__b.sum, b) / (c + 1e9)",
		                                    NULL));
	}
	for (long n = 0; n < 2; n++) {
		static const char *const units[] = { "byte", "byte", "byte" };
		char *unit = NULL;

		fail_allocation(n);
		ck_code(ctx, opk_formula_unit(&unit, ctx, formula, units, NULL), OPK_ENOMEM);
		ck_assert(allocation_failed() && !unit);
	}
}

/* ---- units ------------------------------------------------------------------------------ */

static const struct unit_row {
	struct here here;
	const char *text;
	const char *wanted;  /* NULL: unknown */
	const char *problem; /* instead */
	size_t offset;
} unit_rows[] = {
	{ HERE, "a", "byte", NULL, 0 },
	{ HERE, "-a", "byte", NULL, 0 },
	{ HERE, "a + b", "byte", NULL, 0 },
	{ HERE, "a / t", "byte/second", NULL, 0 },
	{ HERE, "a / t + rate", "byte/second", NULL, 0 },
	{ HERE, "rate * t - b", "byte", NULL, 0 },
	{ HERE, "a / b", "", NULL, 0 },
	{ HERE, "r / t", "1/second", NULL, 0 },
	{ HERE, "a * b", "byte^2", NULL, 0 },
	{ HERE, "sqrt(a * b)", "byte", NULL, 0 },
	{ HERE, "sqrt(a)", NULL, NULL, 0 },
	{ HERE, "abs(a - b)", "byte", NULL, 0 },
	{ HERE, "min(a, b, a)", "byte", NULL, 0 },
	{ HERE, "max(a, 5)", "byte", NULL, 0 },
	{ HERE, "a > b", "", NULL, 0 },
	{ HERE, "(a > b) * rate", "byte/second", NULL, 0 },
	{ HERE, "if(p > 50, a, b)", "byte", NULL, 0 },
	{ HERE, "if(u, a, 0)", "byte", NULL, 0 },
	{ HERE, "if(u, 0, a)", "byte", NULL, 0 },
	{ HERE, "a / UNIT.Set.a__b.avg", "byte/warp", NULL, 0 },
	/* Numbers and unknown units: they agree with all, and make products unknown. */
	{ HERE, "1", NULL, NULL, 0 },
	{ HERE, "a + 1", "byte", NULL, 0 },
	{ HERE, "1 - p", "percent", NULL, 0 },
	{ HERE, "2 * a", NULL, NULL, 0 },
	{ HERE, "a / 1e9", NULL, NULL, 0 },
	{ HERE, "2 * a + b", "byte", NULL, 0 },
	{ HERE, "100 * a / b", NULL, NULL, 0 },
	{ HERE, "a * u", NULL, NULL, 0 },
	{ HERE, "a + u", "byte", NULL, 0 },
	{ HERE, "u", NULL, NULL, 0 },
	{ HERE, "odd", NULL, NULL, 0 },
	{ HERE, "odd + a", "byte", NULL, 0 },
	{ HERE, "a > 5", "", NULL, 0 },
	/* Units that do not match. */
	{ HERE, "a + rate", NULL, "byte and byte/second can't be added", 2 },
	{ HERE, "1 + (a - t)", NULL, "byte and second can't be subtracted", 7 },
	{ HERE, "a + r", NULL, "byte and unitless can't be added", 2 },
	{ HERE, "a / b + p", NULL, "unitless and percent can't be added", 6 },
	{ HERE, "a < t", NULL, "byte and second can't be compared", 2 },
	{ HERE, "a == p", NULL, "byte and percent can't be compared", 2 },
	{ HERE, "2 * min(a, b, t)", NULL, "byte and second can't be compared", 4 },
	{ HERE, "max(1, a, t)", NULL, "byte and second can't be compared", 0 },
	{ HERE, "1 + if(1, a, rate)", NULL,
	  "if() gives byte in one case and byte/second in the other", 4 },
	{ HERE, "(a > b) + a", NULL, "unitless and byte can't be added", 8 },
	{ HERE, "(u + a) + t", NULL, "byte and second can't be added", 8 },
};

CTX_TEST_EACH(units_of_formulas, unit_rows)
{
	freed(opk_formula) *formula = parsed(ctx, row->text);
	const char *given[COUNT(named)];
	opk_autofree char *unit = opk_strdup("untouched");
	size_t offset = 999;
	char *before = unit;
	int code;

	for (size_t i = 0; i < opk_formula_name_count(formula); i++)
		given[i] = named[index_of(opk_formula_name(formula, i))].unit;
	code = opk_formula_unit(&unit, ctx, formula, given, &offset);
	ck_row(row, code == (row->problem ? OPK_EINPUT : OPK_OK), "code %d", code);
	if (row->problem) {
		ck_row(row, unit == before, "out parameter");
		ck_row(row, told(ctx, row->problem), "%s", errors_of(ctx));
		ck_row(row, offset == row->offset, "byte %zu", offset);
	} else {
		free(before);
		ck_row(row, !unit == !row->wanted, "unit %s", unit ? unit : "not known");
		ck_row(row, !unit || !strcmp(unit, row->wanted), "unit %s", unit);
	}
}

/* A unit with too many factors is unknown. */
CTX_TEST(wide_unit)
{
	static const char *const units[] = { "a*b*c*d*e*f*g*h*i", "j*k*l*m*n*o*p*q" };
	freed(opk_formula) *formula = parsed(ctx, "x * y");
	char *unit = NULL;

	ck_ok(ctx, opk_formula_unit(&unit, ctx, formula, units, NULL));
	ck_assert_ptr_null(unit);
}

/* ---- the shipped formulas ---------------------------------------------------------------- */

/* All names of nvprof have formulas, except some without counterpart and one for several. */
CTX_TEST(legacy_names)
{
	FILE *file = fopen(TEST_DATA_DIR "/legacy_names.tsv", "r");
	size_t formulas = 0, empty = 0, patterns = 0, named_count = 0;
	char line[4096];

	ck_assert_ptr_nonnull(file);
	ck_assert_ptr_nonnull(fgets(line, sizeof line, file));
	while (fgets(line, sizeof line, file)) {
		char *rest = line, *kind = strsep(&rest, "\t"), *name = strsep(&rest, "\t");
		/* A column with the current formula may follow. */
		char *text = rest ? strsep(&rest, "\t\n") : NULL;
		struct opk_formula *formula = NULL;
		size_t offset = 0;

		ck_assert_msg(kind && name && text, "%s", line);
		if (!*text) {
			empty++;
		} else if (strchr(text, '{')) {
			ck_code(ctx, opk_formula_parse(&formula, ctx, text, &offset), OPK_EINPUT);
			ck_assert_int_eq(text[offset], '{');
			ck_assert_str_eq(name, "global_hit_rate");
			patterns++;
		} else {
			ck_ok(ctx, opk_formula_parse(&formula, ctx, text, &offset));
			named_count += opk_formula_name_count(formula);
			for (size_t i = 0; i < opk_formula_name_count(formula); i++)
				ck_assert_ptr_nonnull(strstr(opk_formula_name(formula, i), "__"));
			opk_formula_free(formula);
			formulas++;
		}
	}
	ck_assert_uint_eq(patterns, 1);
	ck_assert_uint_eq(formulas + empty + patterns, 261);
	ck_assert_uint_gt(formulas, 200);
	ck_assert_uint_gt(named_count, formulas);
	fclose(file);
}
