/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds which items fit together, one question at a time, and how few bins suffice. */
#include "schedule/schedule.h"

#include <time.h>

#include "base/mem.h"

/* ---- how long it may take */

double opk_processor_seconds(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

bool opk_patience_over(const struct opk_patience *patience)
{
	return patience && patience->end > 0 && opk_processor_seconds() >= patience->end;
}

enum { UNKNOWN, FITS, CLASHES };

/* ---- what is known of two items */

static uint8_t *pair(const struct opk_packing *packing, size_t a, size_t b)
{
	return &packing->pairs[a * packing->count + b];
}

static int try_pair(bool *clash, struct opk_packing *packing, struct opk_ctx *ctx, size_t a,
                    size_t b)
{
	const size_t items[] = { a, b };
	bool fits;

	if (*pair(packing, a, b) == UNKNOWN) {
		TRY(packing->fits(&fits, ctx, packing->data, items, 2));
		*pair(packing, a, b) = *pair(packing, b, a) = fits ? FITS : CLASHES;
	}
	*clash = *pair(packing, a, b) == CLASHES;
	return OPK_OK;
}

int opk_packing_init(struct opk_packing *packing, struct opk_ctx *ctx)
{
	packing->pairs = opk_alloc_array(packing->count * packing->count + 1,
	                                 sizeof *packing->pairs);
	return packing->pairs ? OPK_OK : opk_nomem(ctx, "a packing");
}

/* With more items only some pairs are tried: enough to see which items clash most. */
enum { ALL_PAIRS = 40, PARTNERS = 20 };

/* Counts clashes of an item with every step-th other one. */
static int count_clashes(double *out, struct opk_packing *packing, struct opk_ctx *ctx, size_t item,
                         size_t step)
{
	for (size_t other = item % step; other < packing->count; other += step) {
		bool clash = false;

		if (other != item)
			TRY(try_pair(&clash, packing, ctx, item, other));
		*out += clash;
	}
	return OPK_OK;
}

int opk_packing_clashes(double *out, struct opk_ctx *ctx, struct opk_packing *packing)
{
	size_t step = packing->count > ALL_PAIRS ? packing->count / PARTNERS : 1;

	for (size_t i = 0; i < packing->count && !opk_patience_over(packing->patience); i++) {
		out[i] = 0;
		TRY(count_clashes(&out[i], packing, ctx, i, step));
	}
	return OPK_OK;
}

void opk_packing_clear(struct opk_packing *packing)
{
	free(opk_take(packing->pairs));
}

/* ---- order */

static int compare_ranks(const void *a, const void *b)
{
	const struct opk_ranked *x = a, *y = b;

	return x->rank != y->rank ? (x->rank < y->rank) - (x->rank > y->rank)
	                          : (x->item > y->item) - (x->item < y->item);
}

struct opk_ranked *opk_hardest_first(const double *hardness, size_t count)
{
	struct opk_ranked *order = opk_alloc_array(count + 1, sizeof *order);

	for (size_t i = 0; order && i < count; i++)
		order[i] = (struct opk_ranked){ i, hardness[i] };
	if (order)
		qsort(order, count, sizeof *order, compare_ranks);
	return order;
}

/* ---- overfilled bins */

/* Bins during the filling: the items of bin b start at b * count. */
struct filling {
	struct opk_ctx *ctx;
	struct opk_packing *packing;
	size_t *items;
	size_t *sizes;
	size_t bins;
};

static int fits_bin(bool *out, const struct filling *f, size_t bin, size_t item)
{
	size_t *items = &f->items[bin * f->packing->count];

	*out = false;
	for (size_t i = 0; i < f->sizes[bin]; i++)
		if (*pair(f->packing, item, items[i]) == CLASHES)
			return OPK_OK;
	items[f->sizes[bin]] = item;
	return f->packing->fits(out, f->ctx, f->packing->data, items, f->sizes[bin] + 1);
}

void opk_packed_clear(struct opk_packed *bins)
{
	free(opk_take(bins->bin_of));
	bins->count = 0;
}

/* ---- the fewest bins */

int opk_packing_clique(size_t *out, struct opk_ctx *ctx, struct opk_packing *packing)
{
	opk_autofree struct opk_ranked *order = opk_hardest_first(packing->hardness,
	                                                          packing->count);
	opk_autofree size_t *clique = opk_alloc_array(packing->count + 1, sizeof *clique);
	size_t size = 0;

	if (!order || !clique)
		return opk_nomem(ctx, "a packing");
	for (size_t i = 0; i < packing->count && !opk_patience_over(packing->patience); i++) {
		bool clashes = true;

		for (size_t j = 0; clashes && j < size; j++)
			TRY(try_pair(&clashes, packing, ctx, order[i].item, clique[j]));
		if (clashes)
			clique[size++] = order[i].item;
	}
	*out = size ? size : 1;
	return OPK_OK;
}

/*
 * Puts every item into every bin that still takes it. Items of later bins were already tried in the
 * earlier bins, which held no more then than now.
 */
static int overfill(struct filling *f, const struct opk_packed *bins, size_t *taken)
{
	for (size_t i = 0; i < f->packing->count; i++)
		f->items[bins->bin_of[i] * f->packing->count + f->sizes[bins->bin_of[i]]++] = i;
	f->bins = bins->count;
	for (size_t bin = 0; bin < f->bins; bin++) {
		bool fits;
		/* The answer is known; with it, the next questions cost less (beside.h). */
		int code = f->packing->fits(&fits, f->ctx, f->packing->data,
		                            &f->items[bin * f->packing->count], f->sizes[bin]);

		for (size_t i = 0; !code && i < f->packing->count; i++) {
			fits = false;
			code = bins->bin_of[i] < bin ? fits_bin(&fits, f, bin, i) : OPK_OK;

			f->sizes[bin] += fits;
			taken[i] += fits || bins->bin_of[i] == bin;
		}
		if (code)
			return code;
		if (opk_patience_over(f->packing->patience))
			return OPK_OK;
	}
	return OPK_OK;
}

/* How many items don't fit every bin, divided by the most of these in one bin. */
static size_t bound_by_size(const struct filling *f, const size_t *taken)
{
	size_t wanting = 0, most = 1;

	for (size_t i = 0; i < f->packing->count; i++)
		wanting += taken[i] < f->bins;
	for (size_t bin = 0; bin < f->bins; bin++) {
		size_t here = 0;

		for (size_t i = 0; i < f->sizes[bin]; i++)
			here += taken[f->items[bin * f->packing->count + i]] < f->bins;
		most = here > most ? here : most;
	}
	return (wanting + most - 1) / most;
}

int opk_packing_bound(size_t *out, struct opk_ctx *ctx, struct opk_packing *packing,
                      const struct opk_packed *bins)
{
	size_t count = packing->count;
	opk_autofree size_t *taken = opk_alloc_array(count + 1, sizeof *taken);
	opk_autofree size_t *items = opk_alloc_array(count * count + 1, sizeof *items);
	opk_autofree size_t *sizes = opk_alloc_array(count + 1, sizeof *sizes);
	struct filling f = { .ctx = ctx, .packing = packing, .items = items, .sizes = sizes };

	*out = 1;
	if (!taken || !items || !sizes)
		return opk_nomem(ctx, "a packing");
	if (bins->count <= 1)
		return OPK_OK;
	TRY(overfill(&f, bins, taken));
	if (!opk_patience_over(packing->patience))
		*out = bound_by_size(&f, taken);
	return OPK_OK;
}
