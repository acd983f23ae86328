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
	OPK_MAX_FORMULA_DEPTH = 199, /* of nested parentheses, functions and signs */
	OPK_MAX_FORMULA_NAMES = 1000,
};

struct opk_formula;
/*
 * OPK_EINPUT reports what is needed and what is there instead; *offset is that byte of the text.
 * `offset` may be NULL.
 */
int opk_formula_parse(struct opk_formula **out, struct opk_ctx *ctx, const char *text,
                      size_t *offset);
/* Whether a function has this name, which nothing else may have then. */
bool opk_formula_is_function(const char *name);
void opk_formula_free(struct opk_formula *formula);

/* The names in it, each once, in order of appearance, and the position of the first appearance. */
size_t opk_formula_name_count(const struct opk_formula *formula);
const char *opk_formula_name(const struct opk_formula *formula, size_t i);
size_t opk_formula_name_offset(const struct opk_formula *formula, size_t i);

/*
 * The parsed text on one line, with each name replaced by the text that `replace` returns; NULL:
 * the name stays. free(). NULL when out of memory.
 */
char *opk_formula_text(const struct opk_formula *formula, const char *text,
                       const char *replace(void *data, const char *name), void *data);
/* Adds its computation, which does not depend on spelling: for hashes, not for readers. */
void opk_formula_add_code(struct opk_buf *out, const struct opk_formula *formula);

/*
 * The value, from one value per name. NaN makes every result NaN, also of comparisons, min() and
 * max(); for if() only the condition and the branch taken matter. Undefined values are NaN: 0 / 0,
 * sqrt(-1), inf - inf; any other x / 0 is infinite.
 */
double opk_formula_value(const struct opk_formula *formula, const double *values);

/*
 * The unit of the result, from the units of the names as opk_unit functions read them; NULL or
 * other text: unknown. The caller free()s *out, which is NULL if the result's unit is unknown. A
 * number may have any unit ("* 32" may make bytes of sectors), so a product with a number has an
 * unknown unit; sums, comparisons, min(), max() and if() need equal units if both are known.
 * OPK_EINPUT says which units differ, and *offset (which may be NULL) where.
 */
int opk_formula_unit(char **out, struct opk_ctx *ctx, const struct opk_formula *formula,
                     const char *const *units, size_t *offset);

/*
 * How the result scales with the names' values. Degree 1: it doubles when values of degree 1
 * double; degree 0: it stays the same, like a ratio of such values. OPK_NO_DEGREE: it has no
 * degree, like "a + 1".
 */
enum { OPK_NO_DEGREE = 1 << 20 };
int opk_formula_degree(int *out, struct opk_ctx *ctx, const struct opk_formula *formula,
                       const int *degrees);

OPK_DEFINE_AUTO(opk_formula)

/*
 * Units as products of powers. They are written "byte/second", "byte*warp/second",
 * "l2_sector/byte/second", "byte^2", "1/second"; "" and "unitless" have no dimension. NVIDIA's two
 * spellings are read, too: plurals (PerfWorks: "bytes/second") and joined names (CUPTI:
 * "bytegpc_cycle/l2_sectorsecond"). Percent is a separate unit.
 */

enum { OPK_MAX_UNIT_NAME = 48, OPK_MAX_UNIT_FACTORS = 16, OPK_MAX_UNIT_POWER = 99 };

struct opk_unit_factor {
	char name[OPK_MAX_UNIT_NAME];
	int power; /* never 0 */
};

/* All zero: no dimension. */
struct opk_unit {
	struct opk_unit_factor factors[OPK_MAX_UNIT_FACTORS]; /* by name */
	size_t count;
};

/* OPK_EINPUT, with the byte and what is needed there. */
int opk_unit_parse(struct opk_unit *out, struct opk_ctx *ctx, const char *text);
/* opk_unit_parse() without a message: false, with *out unchanged, if the text is not a unit. */
bool opk_unit_try(struct opk_unit *out, const char *text);
/* a * b^power; false, with *a unchanged, if there are too many factors or the power is too high. */
bool opk_unit_multiply(struct opk_unit *a, const struct opk_unit *b, int power);
/* The square root; false, with *unit unchanged, if it has odd powers. */
bool opk_unit_root(struct opk_unit *unit);
bool opk_unit_equal(const struct opk_unit *a, const struct opk_unit *b);
/*
 * The same text for equal units: singular, factors by name, '/' before each divisor. NULL when out
 * of memory.
 */
char *opk_unit_text(const struct opk_unit *unit);

/* The i-th unit name that NVIDIA's libraries use, and its plural; NULL past the end. */
const char *opk_unit_known(size_t i, const char **plural);

#endif
