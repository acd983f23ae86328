/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Units as products of powers. They are written "byte/second", "byte*warp/second",
 * "l2_sector/byte/second", "byte^2", "1/second"; "" and "unitless" are without dimension. NVIDIA's
 * two spellings are read, too: plurals (PerfWorks: "bytes/second") and names without a sign between
 * (CUPTI: "bytegpc_cycle/l2_sectorsecond"). Percent is a unit of its own.
 */
#ifndef OPK_UNITS_H
#define OPK_UNITS_H

#include "base/ctx.h"

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
/* The same without a word: false, with *out unchanged, where the text is no unit. */
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
