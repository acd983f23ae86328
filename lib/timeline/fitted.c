/* SPDX-License-Identifier: BSD-2-Clause */
/* Values of rows from fits of all GPUs, and how far to trust them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/student.h"
#include "timeline/fit.h"

/*
 * Launches also differ by what ran before them, which the checks don't see. Intervals that are
 * longer by this factor held 98% of the true values on an H100, and without it 87%.
 */
static const double SAFETY = 2;
/* No value is known better than this, since the times of launches are rounded. */
static const double LEAST_WITHIN = 0.001;
/* If the interval is wider than this share of the value, the launches don't determine it. */
static const double MOST_WITHIN = 0.05;

int opk_fitted_init(struct opk_fitted *fitted, struct opk_ctx *ctx, size_t row_count)
{
	fitted->row_count = row_count;
	fitted->launches = opk_alloc_array(row_count + 1, sizeof *fitted->launches);
	for (size_t i = 0; i < 2; i++)
		fitted->sums[i] = opk_alloc_array(row_count + 1,
		                                  OPK_FIT_ESTIMATES * sizeof *fitted->sums[i]);
	return fitted->launches && fitted->sums[0] && fitted->sums[1]
	               ? OPK_OK
	               : opk_nomem(ctx, "kernels on the timeline");
}

void opk_fitted_clear(struct opk_fitted *fitted)
{
	free(fitted->launches);
	free(fitted->sums[0]);
	free(fitted->sums[1]);
}

void opk_fitted_begin(struct opk_fitted *fitted)
{
	fitted->is_whole = fitted->row_count > 0;
	memset(fitted->launches, 0, fitted->row_count * sizeof *fitted->launches);
	for (size_t i = 0; i < 2; i++)
		memset(fitted->sums[i], 0,
		       fitted->row_count * OPK_FIT_ESTIMATES * sizeof *fitted->sums[i]);
}

static void add_rows(struct opk_fitted *fitted, const struct opk_fit *fit, const double *totals,
                     bool is_denominator)
{
	for (size_t unit = 0; unit < fit->unit_count; unit++) {
		const struct opk_fit_shape *shape = &fit->shapes[unit];
		double *sums = fitted->sums[is_denominator] + shape->row * OPK_FIT_ESTIMATES;

		/* Launches that no sample covers are taken to be as the others of their row. */
		if (!(shape->sampled > 0))
			continue;
		if (!is_denominator)
			fitted->launches[shape->row] += shape->sampled;
		for (size_t i = 0; i < OPK_FIT_ESTIMATES; i++)
			sums[i] += shape->is_known
			                   ? shape->sampled * totals[i * fit->unit_count + unit]
			                   : (double)NAN;
	}
}

int opk_fitted_add(struct opk_fitted *fitted, struct opk_ctx *ctx, struct opk_fit *fit,
                   const double *values, bool is_denominator)
{
	size_t count = fit->sample_count;
	opk_autofree double *amounts = opk_alloc_array(count + 1, sizeof *amounts);
	opk_autofree double *totals = opk_alloc_array(fit->unit_count + 1,
	                                              OPK_FIT_ESTIMATES * sizeof *totals);

	if (!amounts || !totals)
		return opk_nomem(ctx, "kernels on the timeline");
	for (size_t i = 0; i < count; i++) {
		amounts[i] = values[i] * (double)(fit->samples[i].end - fit->samples[i].start);
		fitted->is_whole &= isfinite(amounts[i]);
	}
	if (!fitted->is_whole || !fit->unit_count)
		return OPK_OK;
	TRY(opk_fit_amounts(totals, fit, ctx, amounts));
	add_rows(fitted, fit, totals, is_denominator);
	return OPK_OK;
}

static double estimate(const struct opk_fitted *fitted, size_t row, size_t i, enum opk_kind kind,
                       double length)
{
	double sum = fitted->sums[0][row * OPK_FIT_ESTIMATES + i];

	if (kind == OPK_DIVIDED)
		return sum / fitted->sums[1][row * OPK_FIT_ESTIMATES + i];
	return sum / fitted->launches[row] / (kind == OPK_LASTS ? length : 1);
}

double opk_fitted_value(double *within, const struct opk_fitted *fitted, size_t row,
                        enum opk_kind kind, double length)
{
	enum { PARTS = OPK_FIT_PARTS };
	double value, mean = 0, squares = 0, other = 0, doubt;

	*within = (double)NAN;
	if (!fitted->is_whole || !(fitted->launches[row] >= OPK_FIT_LEAST))
		return (double)NAN;
	value = estimate(fitted, row, PARTS, kind, length);
	for (size_t i = 0; i < PARTS; i++)
		mean += estimate(fitted, row, i, kind, length) / PARTS;
	for (size_t i = 0; i < PARTS; i++)
		squares += pow(estimate(fitted, row, i, kind, length) - mean, 2);
	squares *= (double)(PARTS - 1) / PARTS;
	for (size_t i = PARTS + 1; i < OPK_FIT_SYSTEMS; i++)
		other = fmax(other, fabs(estimate(fitted, row, i, kind, length) - value));
	doubt = estimate(fitted, row, OPK_FIT_SYSTEMS, kind, length) - value;
	*within = hypot(other, doubt);
	*within = hypot(*within, opk_student_quantile(0.95, PARTS - 1) * sqrt(squares));
	*within = hypot(SAFETY * *within, LEAST_WITHIN * value);
	if (*within <= MOST_WITHIN * fabs(value))
		return value;
	*within = (double)NAN;
	return (double)NAN;
}
