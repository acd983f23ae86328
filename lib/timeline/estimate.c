/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Divides samples among the kernels that ran in them. A sample in which one kernel ran belongs to
 * it. A sample of several kernels is divided by how fast each kernel counts. These rates come from
 * all samples together: least squares over the time that each kernel ran in each sample, drawn
 * slightly to the kernels' shares of time. So kernels that no sample tells apart get these shares.
 * Each sample is divided in proportion: the parts add up to the sample, and a kernel keeps the
 * different rates at its beginning and end.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "timeline/timeline.h"

/* The shares weigh as much as 0.1 samples. */
static const double to_shares = 0.1;

/* Lists the kernels of a sample in `inside` and `weights`; returns their number. */
static size_t gather(struct opk_estimator *e, size_t sample)
{
	const struct opk_overlaps *o = e->overlaps;
	double length = (double)o->lengths[sample];
	size_t count = 0;

	for (size_t i = o->first[sample]; i < o->first[sample + 1]; i++) {
		size_t kernel = e->kernel_of[o->items[i].row];

		if (e->weights[kernel] == 0 && o->items[i].time > 0)
			e->inside[count++] = kernel;
		e->weights[kernel] += (double)o->items[i].time / length;
	}
	if (o->idle[sample] > 0) {
		e->inside[count++] = e->kernel_count;
		e->weights[e->kernel_count] = (double)(o->idle[sample] / o->lengths[sample]);
	}
	return count;
}

static void forget(struct opk_estimator *e, size_t count)
{
	for (size_t i = 0; i < count; i++)
		e->weights[e->inside[i]] = 0;
}

static void add_products(struct opk_estimator *e)
{
	size_t n = e->kernel_count + 1;

	for (size_t sample = 0; sample < e->overlaps->sample_count; sample++) {
		size_t count;

		if (!(e->overlaps->lengths[sample] > 0))
			continue;
		count = gather(e, sample);
		for (size_t i = 0; i < count; i++)
			for (size_t j = 0; j < count; j++)
				if (e->inside[j] <= e->inside[i])
					e->factor[e->inside[i] * n + e->inside[j]] +=
						e->weights[e->inside[i]] * e->weights[e->inside[j]];
		forget(e, count);
	}
}

/* Four sums at once, two in each vector. */
typedef double two __attribute__((vector_size(16), aligned(8)));

static double dot(const double *a, const double *b, size_t count)
{
	two even = { 0 }, odd = { 0 };
	size_t i = 0;

	for (; i + 4 <= count; i += 4) {
		even += *(const two *)(a + i) * *(const two *)(b + i);
		odd += *(const two *)(a + i + 2) * *(const two *)(b + i + 2);
	}
	for (; i < count; i++)
		even[0] += a[i] * b[i];
	return even[0] + even[1] + (odd[0] + odd[1]);
}

/* So many rows at once that they stay in the processor's cache while the rows before pass by. */
enum { ROWS = 16 };

void opk_factorise(double *a, size_t n, double least)
{
	for (size_t from = 0; from < n; from += ROWS) {
		size_t to = from + ROWS < n ? from + ROWS : n;

		for (size_t j = 0; j < to; j++) {
			for (size_t i = from > j ? from : j; i < to; i++) {
				double sum = a[i * n + j] - dot(a + i * n, a + j * n, j);

				a[i * n + j] = i == j ? sqrt(fmax(sum, least)) : sum / a[j * n + j];
			}
		}
	}
}

static void solve_lower(double *x, const double *a, size_t n, size_t from)
{
	for (size_t i = from; i < n; i++) {
		for (size_t k = from; k < i; k++)
			x[i] -= a[i * n + k] * x[k];
		x[i] /= a[i * n + i];
	}
}

static void solve_upper(double *x, const double *a, size_t n)
{
	for (size_t i = n; i-- > 0;) {
		for (size_t k = i + 1; k < n; k++)
			x[i] -= a[k * n + i] * x[k];
		x[i] /= a[i * n + i];
	}
}

void opk_solve(double *x, const double *a, size_t n)
{
	solve_lower(x, a, n, 0);
	solve_upper(x, a, n);
}

/* At least 0; NaN stays NaN. */
static double not_less_than_0(double number)
{
	return number < 0 ? 0 : number;
}

/* Evidence is 1 / variance of a kernel's rate, if a sample has variance 1. */
static void find_evidence(struct opk_estimator *e)
{
	size_t n = e->kernel_count + 1;
	double *column = e->scratch;

	for (size_t i = 0; i < n; i++) {
		double sum = 0;

		memset(column, 0, n * sizeof *column);
		column[i] = 1;
		solve_lower(column, e->factor, n, i);
		for (size_t j = i; j < n; j++)
			sum += column[j] * column[j];
		e->evidence[i] = not_less_than_0(1 / sum - to_shares);
	}
}

int opk_estimator_init(struct opk_estimator *e, struct opk_ctx *ctx,
                       const struct opk_overlaps *overlaps, const uint32_t *kernel_of,
                       size_t row_count, size_t kernel_count)
{
	size_t n = kernel_count + 1;

	*e = (struct opk_estimator){
		.overlaps = overlaps,
		.kernel_of = kernel_of,
		.row_count = row_count,
		.kernel_count = kernel_count,
		.factor = opk_alloc_array(n * n, sizeof *e->factor),
		.evidence = opk_alloc_array(n, sizeof *e->evidence),
		.rates = opk_alloc_array(n, sizeof *e->rates),
		.scratch = opk_alloc_array(n, sizeof *e->scratch),
		.weights = opk_alloc_array(n, sizeof *e->weights),
		.inside = opk_alloc_array(n, sizeof *e->inside),
	};
	if (!e->factor || !e->evidence || !e->rates || !e->scratch || !e->weights || !e->inside) {
		opk_estimator_clear(e);
		return opk_nomem(ctx, "kernels on the timeline");
	}
	add_products(e);
	/* to_shares on the diagonal keeps the matrix positive definite. */
	for (size_t i = 0; i < n; i++)
		e->factor[i * n + i] += to_shares;
	opk_factorise(e->factor, n, to_shares * 1e-3);
	find_evidence(e);
	return OPK_OK;
}

void opk_estimator_clear(struct opk_estimator *e)
{
	free(e->factor);
	free(e->evidence);
	free(e->rates);
	free(e->scratch);
	free(e->weights);
	free(e->inside);
	*e = (struct opk_estimator){ 0 };
}

/* ---- rates ------------------------------------------------------------------------------ */

/* The rate of each kernel by its shares alone. */
static void find_share_rates(struct opk_estimator *e, const double *values)
{
	const struct opk_overlaps *o = e->overlaps;
	size_t n = e->kernel_count + 1;
	double *times = e->scratch;

	memset(e->rates, 0, n * sizeof *e->rates);
	memset(times, 0, n * sizeof *times);
	for (size_t sample = 0; sample < o->sample_count; sample++) {
		if (!isfinite(values[sample]))
			continue;
		for (size_t i = o->first[sample]; i < o->first[sample + 1]; i++) {
			size_t kernel = e->kernel_of[o->items[i].row];

			e->rates[kernel] += values[sample] * (double)o->items[i].share;
			times[kernel] += (double)o->items[i].time;
		}
		e->rates[n - 1] += values[sample] * (double)o->idle[sample];
		times[n - 1] += (double)o->idle[sample];
	}
	for (size_t i = 0; i < n; i++)
		e->rates[i] = times[i] > 0 ? e->rates[i] / times[i] : 0;
}

static void find_rates(struct opk_estimator *e, const double *values)
{
	const struct opk_overlaps *o = e->overlaps;
	size_t n = e->kernel_count + 1;
	double *residuals = e->scratch;

	find_share_rates(e, values);
	memset(residuals, 0, n * sizeof *residuals);
	for (size_t sample = 0; sample < o->sample_count; sample++) {
		double left = values[sample];
		size_t count;

		if (!isfinite(left) || !(o->lengths[sample] > 0))
			continue;
		count = gather(e, sample);
		for (size_t i = 0; i < count; i++)
			left -= e->weights[e->inside[i]] * e->rates[e->inside[i]];
		for (size_t i = 0; i < count; i++)
			residuals[e->inside[i]] += e->weights[e->inside[i]] * left;
		forget(e, count);
	}
	opk_solve(residuals, e->factor, n);
	for (size_t i = 0; i < n; i++)
		e->rates[i] = not_less_than_0(e->rates[i] + residuals[i]);
}

/* ---- parts ------------------------------------------------------------------------------ */

static double rate_of(const struct opk_estimator *e, const struct opk_overlap *item)
{
	return e->rates[e->kernel_of[item->row]];
}

void opk_estimator_divide(struct opk_part *parts, struct opk_estimator *e, const double *values)
{
	const struct opk_overlaps *o = e->overlaps;

	find_rates(e, values);
	for (size_t sample = 0; sample < o->sample_count; sample++) {
		double length = (double)o->lengths[sample], idle = (double)o->idle[sample];
		double whole = idle * e->rates[e->kernel_count], amount = values[sample] * length;
		struct opk_part *rest = &parts[e->row_count];

		if (isnan(amount) || !(length > 0))
			continue;
		for (size_t i = o->first[sample]; i < o->first[sample + 1]; i++)
			whole += (double)o->items[i].time * rate_of(e, &o->items[i]);
		for (size_t i = o->first[sample]; i < o->first[sample + 1]; i++) {
			const struct opk_overlap *item = &o->items[i];
			double time = (double)item->time;
			double share = whole > 0 ? time * rate_of(e, item) / whole
			                         : (double)item->share / length;

			parts[item->row].amount += amount * share;
			parts[item->row].time += time;
		}
		rest->amount += amount
		                * (whole > 0 ? idle * e->rates[e->kernel_count] / whole
		                             : idle / length);
		rest->time += idle;
	}
}

void opk_overlaps_mean(struct opk_part *parts, const struct opk_overlaps *o, size_t row_count,
                       const double *values)
{
	for (size_t sample = 0; sample < o->sample_count; sample++) {
		double busy = (double)o->lengths[sample] - (double)o->idle[sample];
		size_t first = o->first[sample], end = o->first[sample + 1];

		if (isnan(values[sample]))
			continue;
		for (size_t i = first; i < end && busy > 0; i++) {
			double share = (double)o->items[i].share / busy;
			struct opk_part *part = &parts[o->items[i].row];

			part->amount += values[sample] * share * share;
			part->time += share * share;
		}
		if (first == end) {
			parts[row_count].amount += values[sample];
			parts[row_count].time++;
		}
	}
}

static void add_time(struct opk_part *part, double value, float time)
{
	part->amount += value * (double)time;
	part->time += (double)time;
}

void opk_overlaps_whole(struct opk_part *parts, const struct opk_overlaps *o, size_t row_count,
                        const double *values)
{
	for (size_t sample = 0; sample < o->sample_count; sample++) {
		if (isnan(values[sample]))
			continue;
		for (size_t i = o->first[sample]; i < o->first[sample + 1]; i++)
			add_time(&parts[o->items[i].row], values[sample], o->items[i].time);
		add_time(&parts[row_count], values[sample], o->idle[sample]);
	}
}
