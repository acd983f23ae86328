/* SPDX-License-Identifier: BSD-2-Clause */
/* Where kernels are between the roofs: operations, bytes and time become intensities and rates. */
#include <math.h>
#include <string.h>

#include "picture/picture.h"

struct roofline {
	struct opk_roofline public;
	struct opk_roof *roofs;
	size_t *bytes, *peaks; /* columns; bytes of levels alone */
	size_t *work;
	size_t work_count, time;
	double seconds; /* of the time column's unit */
	struct opk_roofline_dot *dots;
};

void opk_roofline_free(struct opk_roofline *public)
{
	struct roofline *r = (struct roofline *)public;

	if (!r)
		return;
	free(r->roofs);
	free(r->bytes);
	free(r->peaks);
	free(r->work);
	free(r->dots);
	free(r);
}

/* ---- columns */

static int find(size_t *out, struct opk_ctx *ctx, const struct opk_evaluation *evaluation,
                const char *name)
{
	*out = opk_find_column(evaluation, name);
	return *out != SIZE_MAX ? OPK_OK
	                        : opk_fail(ctx, OPK_EUSAGE,
	                                   "the roofline needs %s, which is not evaluated", name);
}

static int find_time(struct roofline *r, struct opk_ctx *ctx,
                     const struct opk_evaluation *evaluation, const char *name)
{
	int code = find(&r->time, ctx, evaluation, name);
	const char *unit;

	if (code)
		return code;
	unit = opk_evaluation_column_unit(evaluation, r->time);
	if (!strncmp(unit, "nanosecond", 10))
		r->seconds = 1e-9;
	else if (!strcmp(unit, "second") || !strcmp(unit, "seconds"))
		r->seconds = 1;
	else
		code = opk_fail(ctx, OPK_EUSAGE,
		                "the roofline's time %s is in '%s', neither second nor nanosecond",
		                name, unit);
	return code;
}

static int find_columns(struct roofline *r, struct opk_ctx *ctx,
                        const struct opk_evaluation *evaluation,
                        const struct opk_meta_roofline *from)
{
	int code = find_time(r, ctx, evaluation, from->time);

	for (size_t i = 0; !code && i < from->work_count; i++)
		code = find(&r->work[i], ctx, evaluation, from->work[i]);
	for (size_t i = 0; !code && i < from->roof_count; i++) {
		const struct opk_meta_roof *roof = &from->roofs[i];

		r->roofs[i].name = roof->name;
		r->roofs[i].is_level = roof->bytes && *roof->bytes;
		code = find(&r->peaks[i], ctx, evaluation, roof->peak);
		if (!code && r->roofs[i].is_level)
			code = find(&r->bytes[i], ctx, evaluation, roof->bytes);
	}
	return code;
}

/* ---- roofs and dots */

static void find_peaks(struct roofline *r, const struct opk_drawn *kernels, size_t count)
{
	for (size_t i = 0; i < r->public.roof_count; i++) {
		r->roofs[i].peak = (double)NAN;
		for (size_t j = 0; j < count; j++)
			r->roofs[i].peak = fmax(r->roofs[i].peak, kernels[j].values[r->peaks[i]]);
	}
}

static double highest_roof(const struct roofline *r)
{
	double most = (double)NAN;

	for (size_t i = 0; i < r->public.roof_count; i++)
		if (!r->roofs[i].is_level)
			most = fmax(most, r->roofs[i].peak);
	return most;
}

static bool is_positive(double number)
{
	return isfinite(number) && number > 0;
}

/* NaN where any of it is. */
static double work_of(const struct roofline *r, const struct opk_drawn *kernel)
{
	double sum = 0;

	for (size_t i = 0; i < r->work_count; i++)
		sum += kernel->values[r->work[i]];
	return sum;
}

/* A dot at each level that it moved bytes at. */
static void add_dots(struct roofline *r, const struct opk_drawn *kernels, size_t kernel,
                     double roof)
{
	const double *values = kernels[kernel].values;
	double work = work_of(r, &kernels[kernel]), rate = work / (values[r->time] * r->seconds);
	bool unknown = isnan(rate);

	for (size_t i = 0; i < r->public.roof_count && is_positive(rate); i++) {
		double bytes = r->roofs[i].is_level ? values[r->bytes[i]] : 0;
		double bound = fmin(work / bytes * r->roofs[i].peak, roof);

		unknown |= isnan(bytes);
		if (is_positive(bytes))
			r->dots[r->public.dot_count++] = (struct opk_roofline_dot){
				kernel, i, work / bytes, rate, rate / bound
			};
	}
	r->public.unknown_count += unknown;
	r->public.idle_count += work == 0;
}

static int allocate(struct roofline *r, struct opk_ctx *ctx, const struct opk_meta_roofline *from,
                    size_t count)
{
	r->roofs = opk_alloc_array(from->roof_count, sizeof *r->roofs);
	r->bytes = opk_alloc_array(from->roof_count, sizeof *r->bytes);
	r->peaks = opk_alloc_array(from->roof_count, sizeof *r->peaks);
	r->work = opk_alloc_array(from->work_count + 1, sizeof *r->work);
	r->dots = opk_alloc_array(from->roof_count * count + 1, sizeof *r->dots);
	return r->roofs && r->bytes && r->peaks && r->work && r->dots
	               ? OPK_OK
	               : opk_nomem(ctx, "a roofline");
}

int opk_roofline_of(struct opk_roofline **out, struct opk_ctx *ctx,
                    const struct opk_evaluation *evaluation,
                    const struct opk_drawn_kernels *kernels, size_t shown)
{
	const struct opk_meta_roofline *from;
	struct roofline *r;
	int code;

	if (!evaluation)
		return opk_fail(ctx, OPK_EUSAGE, "no roofline: there are no values of kernels");
	from = opk_evaluation_roofline(evaluation);
	if (!from->roof_count)
		return opk_fail(ctx, OPK_EUSAGE,
		                "no roofline: neither recording nor set says what it is drawn of: "
		                "record with the set roofline-hierarchical, which does");
	r = opk_alloc(sizeof *r);
	code = r ? allocate(r, ctx, from, shown) : opk_nomem(ctx, "a roofline");
	if (!code)
		code = find_columns(r, ctx, evaluation, from);
	if (code) {
		opk_roofline_free((struct opk_roofline *)r);
		return code;
	}
	r->work_count = from->work_count;
	r->public = (struct opk_roofline){
		.title = from->title ? from->title : "",
		.unit = from->work_count ? opk_evaluation_column_unit(evaluation, r->work[0]) : "",
		.roofs = r->roofs,
		.roof_count = from->roof_count,
		.dots = r->dots,
	};
	find_peaks(r, kernels->items, kernels->count);
	for (size_t i = 0; i < shown; i++)
		add_dots(r, kernels->items, i, highest_roof(r));
	*out = &r->public;
	return OPK_OK;
}

int opk_roofline_new(struct opk_roofline **out, struct opk_ctx *ctx,
                     const struct opk_summary *summary)
{
	opk_autodrawn struct opk_drawn_kernels kernels = { 0 };
	int code = opk_drawn_kernels_init(&kernels, ctx, summary);

	return code ? code
	            : opk_roofline_of(out, ctx, opk_summary_evaluation(summary), &kernels,
	                              kernels.count);
}
