/* SPDX-License-Identifier: BSD-2-Clause */
/* Formulas over named values, and units. */
#ifndef OPK_FORMULA_H
#define OPK_FORMULA_H

#include "base/buf.h"
#include "base/ctx.h"

/*
 * Formulas over named values: + - * / unary -, parentheses, numbers (1, 2.5, 1e9), comparisons (<
 * <= > >= == !=, giving 1 or 0), min(a, b, ...), max(a, b, ...), if(condition, a, b), abs(x),
 * sqrt(x). A name is letters, digits, '_' and '.', and does not begin with a digit or '.'.
 */

enum {
	OPK_MAX_FORMULA = 65535,     /* bytes */
	OPK_MAX_FORMULA_DEPTH = 199, /* parentheses, functions and signs in each other */
	OPK_MAX_FORMULA_NAMES = 1000,
};

struct opk_formula;
/*
 * OPK_EINPUT says what is wanted and what is there instead, and *offset is that byte of the
 * text. `offset` may be NULL.
 */
int opk_formula_parse(struct opk_formula **out, struct opk_ctx *ctx, const char *text,
                      size_t *offset);
/* Whether formulas call a function so, which nothing else can then be called. */
bool opk_formula_is_function(const char *name);
void opk_formula_free(struct opk_formula *formula);

/* The names in it, each once, in order of appearance, and where each first is in the text. */
size_t opk_formula_name_count(const struct opk_formula *formula);
const char *opk_formula_name(const struct opk_formula *formula, size_t i);
size_t opk_formula_name_offset(const struct opk_formula *formula, size_t i);

/*
 * The text that was parsed, on one line, with `replace`'s texts for the names that it does not give
 * NULL for; free(). NULL when out of memory.
 */
char *opk_formula_text(const struct opk_formula *formula, const char *text,
                       const char *replace(void *data, const char *name), void *data);
/* What it computes, which is the same however its text is written: for hashes, not for readers. */
void opk_formula_add_code(struct opk_buf *out, const struct opk_formula *formula);

/*
 * The value for one value a name. NaN goes through everything, comparisons, min() and max() too; of
 * if() only the condition and the branch that it takes count. What has no value is NaN: 0 / 0,
 * sqrt(-1), inf - inf; another x / 0 is infinite.
 */
double opk_formula_value(const struct opk_formula *formula, const double *values);

/*
 * The unit of the result from the units of the names, as opk_unit functions read them; NULL or
 * other text: not known. The caller free()s *out, which is NULL where the result's unit is not
 * known. A number may have any unit ("* 32" may make bytes of sectors), so that of a product with
 * a number is not known; sums, comparisons, min(), max() and if() want equal units where both are
 * known. OPK_EINPUT says which are not equal, and *offset (which may be NULL) where.
 */
int opk_formula_unit(char **out, struct opk_ctx *ctx, const struct opk_formula *formula,
                     const char *const *units, size_t *offset);

/*
 * How the result grows where the names' values do: of degree 1 it is twice as much when values of
 * degree 1 are, of degree 0 it stays, as a ratio of such values does. OPK_NO_DEGREE: neither that
 * nor any other, as of "a + 1".
 */
enum { OPK_NO_DEGREE = 1 << 20 };
int opk_formula_degree(int *out, struct opk_ctx *ctx, const struct opk_formula *formula,
                       const int *degrees);

OPK_DEFINE_AUTO(opk_formula)

/*
 * Units as products of powers. They are written "byte/second", "byte*warp/second",
 * "l2_sector/byte/second", "byte^2", "1/second"; "" and "unitless" are without dimension. NVIDIA's
 * two spellings are read, too: plurals (PerfWorks: "bytes/second") and names without a sign between
 * (CUPTI: "bytegpc_cycle/l2_sectorsecond"). Percent is a unit of its own.
 */

enum { OPK_MAX_UNIT_NAME = 48, OPK_MAX_UNIT_FACTORS = 16, OPK_MAX_UNIT_POWER = 99 };

struct opk_unit_factor {
	char name[OPK_MAX_UNIT_NAME];
	int power; /* never 0 */
};

/* Without dimension where all is zero. */
struct opk_unit {
	struct opk_unit_factor factors[OPK_MAX_UNIT_FACTORS]; /* by name */
	size_t count;
};

/* OPK_EINPUT with the byte and what is wanted there. */
int opk_unit_parse(struct opk_unit *out, struct opk_ctx *ctx, const char *text);
/* The same without a message: false, with *out unchanged, where the text is not a unit. */
bool opk_unit_try(struct opk_unit *out, const char *text);
/* a * b^power; false, with *a unchanged, where that has too many factors or too high a power. */
bool opk_unit_multiply(struct opk_unit *a, const struct opk_unit *b, int power);
/* The square root; false, with *unit unchanged, where it has broken powers. */
bool opk_unit_root(struct opk_unit *unit);
bool opk_unit_equal(const struct opk_unit *a, const struct opk_unit *b);
/*
 * One spelling for equal units: singular, factors by name, '/' before each divisor. NULL when out
 * of memory.
 */
char *opk_unit_text(const struct opk_unit *unit);

/* The name of one unit that NVIDIA's libraries use, in order, and its plural; NULL past the end. */
const char *opk_unit_known(size_t i, const char **plural);

#endif
