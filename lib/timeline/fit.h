/* SPDX-License-Identifier: BSD-2-Clause */
/* What a launch of each kernel counts, from samples that are longer than launches. */
#ifndef OPK_FIT_H
#define OPK_FIT_H

#include "timeline/timeline_inside.h"

/*
 * An amount is estimated without each of some parts of the samples, with all of them, with shorter
 * and with longer pieces, and at last with what is assumed being wrong.
 */
enum { OPK_FIT_PARTS = 16, OPK_FIT_SYSTEMS = OPK_FIT_PARTS + 3, OPK_FIT_ESTIMATES };
/* So many launches of a row at least. */
enum { OPK_FIT_LEAST = 48 };

/* A unit: launches of the same kernel and shape, of which none takes much longer than others. */
struct opk_fit_shape {
	uint32_t row;
	size_t first; /* unknown; SIZE_MAX: no room, and samples in which it ran are left out */
	size_t edges; /* at each end, that it has room for */
	double launches, length;
	double sampled; /* launches of these, in any sample */
	bool is_known;  /* one of them is in a sample that is not left out */
};

/* What ran on a GPU, and its samples; borrowed. fit.c */
struct opk_fit {
	const struct opk_sample_time *samples;
	size_t sample_count;
	const struct opk_stretch *stretches;
	size_t stretch_count;
	uint32_t *unit_of; /* one per stretch */
	size_t unit_count;
	struct opk_fit_shape *shapes; /* one per unit */
	size_t unknowns;
	uint64_t origin; /* times count from here */
	double interval; /* mean length of a sample */
	/* One per system. */
	double *factors, *rights;
	double *room;
};

/* `unit_of`: one per stretch; launches of a unit may still differ in length. */
int opk_fit_init(struct opk_fit *fit, struct opk_ctx *ctx, const struct opk_sample_time *samples,
                 size_t sample_count, const struct opk_stretch *stretches, size_t stretch_count,
                 const uint32_t *unit_of, size_t unit_count);
void opk_fit_clear(struct opk_fit *fit);

/*
 * Finds the mean amount of a launch of each unit by `values`, the amounts of all samples, which are
 * finite. totals has unit_count amounts for each of OPK_FIT_ESTIMATES.
 */
int opk_fit_amounts(double *totals, struct opk_fit *fit, struct opk_ctx *ctx, const double *values);

/*
 * Divides units whose launches are of different lengths, and counts them. `unit_of` has one for
 * each stretch. units.c
 */
int opk_units_split(uint32_t *unit_of, size_t *unit_count, struct opk_ctx *ctx,
                    const struct opk_stretch *stretches, size_t count);

/* What fits say of the rows of all GPUs, for one metric. fitted.c */
struct opk_fitted {
	size_t row_count;
	double *launches; /* one per row */
	double *sums[2];  /* OPK_FIT_ESTIMATES per row: launches times amounts; denominators */
	bool is_whole;    /* all samples have values */
};
int opk_fitted_init(struct opk_fitted *fitted, struct opk_ctx *ctx, size_t row_count);
void opk_fitted_clear(struct opk_fitted *fitted);
/* Forgets the metric before. */
void opk_fitted_begin(struct opk_fitted *fitted);
/* Adds a GPU by its samples' values per ns. */
int opk_fitted_add(struct opk_fitted *fitted, struct opk_ctx *ctx, struct opk_fit *fit,
                   const double *values, bool is_denominator);
/*
 * A row's value, and how far from it the true one lies at most, in 95 of 100 cases. NaN: the
 * launches don't determine it well enough. `length`: how long a launch takes.
 */
double opk_fitted_value(double *within, const struct opk_fitted *fitted, size_t row,
                        enum opk_kind kind, double length);

#endif
