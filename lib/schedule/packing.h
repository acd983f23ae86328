/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Puts items into as few bins as can be found, where what fits a bin together has to be asked.
 * What fits stays fit when an item is taken out.
 */
#ifndef OPK_PACKING_H
#define OPK_PACKING_H

#include "base/ctx.h"

/* Whether these items, by number, fit one bin. */
typedef int opk_packing_fits(bool *out, struct opk_ctx *ctx, void *data, const size_t *items,
                             size_t count);

struct opk_packing {
	size_t count; /* of items */
	opk_packing_fits *fits;
	void *data;
	uint8_t *pairs;    /* what is known of each two: count * count */
	uint32_t *clashes; /* of each item, with those it was tried against */
};

/* The bin of each item. */
struct opk_bins {
	size_t count;
	size_t *bin_of; /* one an item */
};

/* Tries pairs: all of a few items, or each item against about twenty others. */
int opk_packing_init(struct opk_packing *out, struct opk_ctx *ctx, size_t count,
                     opk_packing_fits *fits, void *data);
void opk_packing_clear(struct opk_packing *packing);

/*
 * First fit, the items that clash most first; another `seed` than 0 shuffles that order. The same
 * seed gives the same bins.
 */
int opk_packing_try(struct opk_bins *out, struct opk_ctx *ctx, struct opk_packing *packing,
                    uint64_t seed);
void opk_bins_clear(struct opk_bins *bins);

/*
 * No packing has fewer bins, unless a bin can hold more items than the fullest of `bins` with all
 * that still fits it: items that fit every bin aside, there are so many to a bin; and items that
 * clash each with each want a bin each.
 */
int opk_packing_bound(size_t *out, struct opk_ctx *ctx, struct opk_packing *packing,
                      const struct opk_bins *bins);

#endif
