/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds what a launch of each kernel counts if launches are shorter than samples. What a sample
 * counts is a sum over the launches in it, and thousands of samples that launches overlap in
 * different ways determine each kernel's amounts: least squares. The first blocks of a kernel and
 * its last ones don't count as the others do, so that a launch has pieces with amounts of their
 * own: fixed times after its start and before its end, the middle, and short times outside of it,
 * in which what it wrote still moves. Pieces that samples can't tell apart get equal rates.
 *
 * Each estimate is made again without each of GROUPS parts of the samples. How much these differ
 * says how far to trust it (jackknife).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "timeline/fit.h"

enum {
	EDGES = 7,              /* at each end of a launch */
	PIECES = 2 * EDGES + 3, /* with the middle and what is outside */
	MOST_UNKNOWNS = 640,
	ROUNDS = 2,
	RUN = 32, /* so many samples in a row are left out together: launches overlap several */
};
static const double edges[EDGES] = { 250, 500, 1000, 2000, 4000, 8000, 16000 }, before = 500,
		    after = 2000; /* ns */
/* The squares of these are as many launches as assumptions weigh. */
static const double to_neighbour = 0.3, to_0 = 0.03;
/* The shift is known as well as this, ns. */
static const double shift_doubt = 100, NOISE_FLOOR = 0.001;

static size_t count_pieces(const struct opk_fit_shape *shape)
{
	return 2 * shape->edges + 3;
}

/* Launches that take longer may count more; the mean launch has none of this last unknown. */
static size_t count_unknowns(const struct opk_fit_shape *shape)
{
	return count_pieces(shape) + 1;
}

/* Where the pieces of a launch begin, and where the last one ends. Returns their number. */
static size_t find_bounds(double bounds[PIECES + 1], const struct opk_fit_shape *shape,
                          double start, double end)
{
	size_t count = 0;
	double outer = shape->edges ? edges[shape->edges - 1] : 0, length = end - start;
	double scale = 2 * outer > 0.9 * length ? 0.9 * length / (2 * outer) : 1;

	bounds[count++] = start - before;
	bounds[count++] = start;
	for (size_t i = 0; i < shape->edges; i++)
		bounds[count++] = start + scale * edges[i];
	for (size_t i = shape->edges; i-- > 0;)
		bounds[count++] = end - scale * edges[i];
	bounds[count++] = end;
	bounds[count++] = end + after;
	return count - 1;
}

/* ---- samples, one after the other ------------------------------------------------------- */

/* A row of the linear system: which unknowns are in a sample, and how much of each. */
struct sweep {
	const struct opk_fit *fit;
	double shift;
	size_t sample, next; /* stretch */
	OPK_LIST(size_t) active;
	double *weights; /* one per unknown */
	bool *has;       /* likewise: it is among `inside` */
	size_t *inside;
	size_t count;
	bool is_known; /* all that ran in the sample has unknowns */
};

static int begin_sweep(struct sweep *s, struct opk_ctx *ctx, const struct opk_fit *fit,
                       double shift)
{
	*s = (struct sweep){
		.fit = fit,
		.shift = shift,
		.sample = SIZE_MAX,
		.weights = opk_alloc_array(fit->unknowns, sizeof *s->weights),
		.has = opk_alloc_array(fit->unknowns, sizeof *s->has),
		.inside = opk_alloc_array(fit->unknowns, sizeof *s->inside),
	};
	return s->weights && s->has && s->inside ? OPK_OK
	                                         : opk_nomem(ctx, "kernels on the timeline");
}

static void clear_sweep(struct sweep *s)
{
	free(s->weights);
	free(s->has);
	free(s->inside);
	free(s->active.items);
}

static void add_weight(struct sweep *s, size_t unknown, double weight)
{
	if (!s->has[unknown])
		s->inside[s->count++] = unknown;
	s->has[unknown] = true;
	s->weights[unknown] += weight;
}

static void add_launch(struct sweep *s, const struct opk_stretch *stretch, size_t unit, double from,
                       double to)
{
	const struct opk_fit_shape *shape = &s->fit->shapes[unit];
	double bounds[PIECES + 1],
		longer = (double)(stretch->end - stretch->start) / shape->length - 1;
	size_t count;

	if (shape->first == SIZE_MAX) {
		s->is_known = false;
		return;
	}
	count = find_bounds(bounds, shape, (double)(stretch->start - s->fit->origin),
	                    (double)(stretch->end - s->fit->origin));
	for (size_t i = 0; i < count; i++) {
		double inside = fmin(to, bounds[i + 1]) - fmax(from, bounds[i]);

		if (!(inside > 0))
			continue;
		inside /= bounds[i + 1] - bounds[i];
		add_weight(s, shape->first + i, inside);
		if (i == count / 2)
			add_weight(s, shape->first + count, inside * longer);
	}
}

/* The launches of the sample from `from` until before `to`. */
static bool find_active(struct sweep *s, double from, double to)
{
	const struct opk_fit *fit = s->fit;
	size_t kept = 0;

	while (s->next < fit->stretch_count
	       && (double)(fit->stretches[s->next].start - fit->origin) - before < to) {
		size_t *launch = opk_list_add(&s->active);

		if (!launch)
			return false;
		*launch = s->next++;
	}
	for (size_t i = 0; i < s->active.count; i++)
		if ((double)(fit->stretches[s->active.items[i]].end - fit->origin) + after > from)
			s->active.items[kept++] = s->active.items[i];
	s->active.count = kept;
	return true;
}

/* Goes to the next sample; *more is false after the last. */
static int next_sample(bool *more, struct sweep *s, struct opk_ctx *ctx)
{
	const struct opk_fit *fit = s->fit;
	double from, to, covered, idle = 0;

	for (size_t i = 0; i < s->count; i++) {
		s->weights[s->inside[i]] = 0;
		s->has[s->inside[i]] = false;
	}
	s->count = 0;
	s->is_known = true;
	s->sample++;
	*more = s->sample < fit->overlaps->sample_count;
	if (!*more)
		return OPK_OK;
	from = (double)(fit->samples[s->sample].start - fit->origin) - s->shift;
	to = (double)(fit->samples[s->sample].end - fit->origin) - s->shift;
	covered = from;
	if (!find_active(s, from, to))
		return opk_nomem(ctx, "kernels on the timeline");
	for (size_t i = 0; i < s->active.count; i++) {
		const struct opk_stretch *stretch = &fit->stretches[s->active.items[i]];
		double start = (double)(stretch->start - fit->origin) - before;

		/* What is between launches is idle time. */
		if (start > covered)
			idle += start - covered;
		covered = fmax(covered, (double)(stretch->end - fit->origin) + after);
		add_launch(s, stretch, fit->unit_of[s->active.items[i]], from, to);
	}
	if (to > covered)
		idle += to - covered;
	if (idle > 0)
		add_weight(s, fit->unknowns - 1, idle / fit->interval);
	return OPK_OK;
}

/* ---- normal equations ------------------------------------------------------------------- */

static double *normal_of(const struct opk_fit *fit, size_t part)
{
	return fit->normals + part * fit->unknowns * fit->unknowns;
}

static double *right_of(const struct opk_fit *fit, size_t part)
{
	return fit->rights + part * fit->unknowns;
}

static size_t part_of(size_t sample)
{
	return sample / RUN % OPK_FIT_PARTS;
}

static void add_products(const struct opk_fit *fit, const struct sweep *s, double value,
                         double weight)
{
	double *normal = normal_of(fit, part_of(s->sample)),
	       *right = right_of(fit, part_of(s->sample));

	for (size_t i = 0; i < s->count; i++) {
		right[s->inside[i]] += weight * s->weights[s->inside[i]] * value;
		for (size_t j = 0; j < s->count; j++)
			if (s->inside[j] <= s->inside[i])
				normal[s->inside[i] * fit->unknowns + s->inside[j]] +=
					weight * s->weights[s->inside[i]]
					* s->weights[s->inside[j]];
	}
}

/*
 * What is assumed where samples say nothing: neighbouring pieces of a unit have equal rates, and
 * unknowns are small. An assumption is a further equation of one or two unknowns with the value 0.
 */
struct assumption {
	size_t unknown;
	double here, next; /* what the unknown, and the one after it, are multiplied by */
	double doubt;      /* how far the value may be from 0, if the unit has a rate of 1 */
};

static size_t assume(struct assumption all[2 * PIECES + 1], const struct opk_fit_shape *shape)
{
	double bounds[PIECES + 1];
	size_t pieces = find_bounds(bounds, shape, 0, shape->length), count = 0;

	for (size_t i = 0; i + 1 < pieces; i++) {
		double here = bounds[i + 1] - bounds[i], next = bounds[i + 2] - bounds[i + 1];
		double least = fmin(here, next);

		all[count++] = (struct assumption){ shape->first + i, to_neighbour * least / here,
			                            -to_neighbour * least / next,
			                            to_neighbour * least };
	}
	for (size_t i = 0; i <= pieces; i++)
		all[count++] = (struct assumption){ shape->first + i, to_0, 0,
			                            to_0 * shape->length };
	return count;
}

static void add_assumptions(const struct opk_fit *fit, double *normal)
{
	size_t n = fit->unknowns;

	for (size_t i = 0; i < fit->unit_count; i++) {
		struct assumption all[2 * PIECES + 1];
		size_t count = fit->shapes[i].first == SIZE_MAX ? 0 : assume(all, &fit->shapes[i]);

		for (size_t j = 0; j < count; j++) {
			size_t at = all[j].unknown;

			normal[at * n + at] += all[j].here * all[j].here;
			if (all[j].next == 0)
				continue;
			normal[(at + 1) * n + at] += all[j].here * all[j].next;
			normal[(at + 1) * n + at + 1] += all[j].next * all[j].next;
		}
	}
	normal[n * n - 1] += to_0 * to_0;
}

/* Factorises the sum of all parts but one; OPK_FIT_PARTS: of all. */
static void factorise(const struct opk_fit *fit, size_t but)
{
	size_t n = fit->unknowns;

	memset(fit->factor, 0, n * n * sizeof *fit->factor);
	for (size_t part = 0; part < OPK_FIT_PARTS; part++)
		for (size_t i = 0; part != but && i < n * n; i++)
			fit->factor[i] += normal_of(fit, part)[i];
	add_assumptions(fit, fit->factor);
	opk_factorise(fit->factor, n, 1e-12);
}

/* ---- amounts ---------------------------------------------------------------------------- */

/* Adds up the pieces of each kernel's launch. */
static void add_pieces(double *totals, const struct opk_fit *fit, const double *amounts)
{
	for (size_t i = 0; i < fit->unit_count; i++) {
		bool known = fit->shapes[i].first != SIZE_MAX;

		totals[i] = known ? 0 : (double)NAN;
		for (size_t j = 0; known && j < count_pieces(&fit->shapes[i]); j++)
			totals[i] += amounts[fit->shapes[i].first + j];
	}
}

/* A sample weighs more if what is in it was found with less noise. */
static double weigh(const struct opk_fit *fit, const struct sweep *s)
{
	double noise = fit->least_noise;

	for (size_t i = 0; i < s->count; i++)
		noise += fabs(s->weights[s->inside[i]]) * fit->noise[s->inside[i]];
	return fit->mean_noise / noise;
}

/* Makes the normal equations of all samples for this shift. */
static int add_samples(struct opk_fit *fit, struct opk_ctx *ctx, const double *values, double shift)
{
	__attribute__((cleanup(clear_sweep))) struct sweep s = { 0 };
	size_t n = fit->unknowns;
	bool more;

	memset(fit->normals, 0, OPK_FIT_PARTS * n * n * sizeof *fit->normals);
	memset(fit->rights, 0, OPK_FIT_PARTS * n * sizeof *fit->rights);
	TRY(begin_sweep(&s, ctx, fit, shift));
	do {
		TRY(next_sample(&more, &s, ctx));
		if (more && s.is_known)
			add_products(fit, &s, values[s.sample], weigh(fit, &s));
	} while (more);
	return OPK_OK;
}

/* Solves for all parts but one; OPK_FIT_PARTS: for all. */
static void solve(struct opk_fit *fit, size_t but)
{
	size_t n = fit->unknowns;

	factorise(fit, but);
	memset(fit->amounts, 0, n * sizeof *fit->amounts);
	for (size_t part = 0; part < OPK_FIT_PARTS; part++)
		for (size_t i = 0; part != but && i < n; i++)
			fit->amounts[i] += right_of(fit, part)[i];
	opk_solve(fit->amounts, fit->factor, n);
}

/* Finds the mean square of what remains of samples that have each unknown. */
static int find_noise(struct opk_fit *fit, struct opk_ctx *ctx, const double *values)
{
	__attribute__((cleanup(clear_sweep))) struct sweep s = { 0 };
	double *sums = fit->right, squares = 0, count = 0;
	size_t n = fit->unknowns;
	bool more;

	memset(fit->noise, 0, n * sizeof *fit->noise);
	memset(sums, 0, n * sizeof *sums);
	TRY(begin_sweep(&s, ctx, fit, fit->shift));
	do {
		double left;

		TRY(next_sample(&more, &s, ctx));
		if (!more || !s.is_known)
			continue;
		left = values[s.sample];
		for (size_t i = 0; i < s.count; i++)
			left -= s.weights[s.inside[i]] * fit->amounts[s.inside[i]];
		squares += left * left;
		count++;
		for (size_t i = 0; i < s.count; i++) {
			fit->noise[s.inside[i]] += fabs(s.weights[s.inside[i]]) * left * left;
			sums[s.inside[i]] += fabs(s.weights[s.inside[i]]);
		}
	} while (more);
	for (size_t i = 0; i < n; i++)
		fit->noise[i] /= sums[i] > 0 ? sums[i] : 1;
	fit->mean_noise = squares > 0 ? squares / count : 1;
	fit->least_noise = fit->mean_noise * NOISE_FLOOR;
	return OPK_OK;
}

/* How much the amount of a unit's launch may be off since what is assumed is wrong. */
static double find_doubt(struct opk_fit *fit, const double *totals, size_t unit)
{
	const struct opk_fit_shape *shape = &fit->shapes[unit];
	double *by = fit->right, doubt = 0;

	/* `by` becomes how much each equation's value changes the amount. */
	memset(by, 0, fit->unknowns * sizeof *by);
	for (size_t i = 0; i < count_pieces(shape); i++)
		by[shape->first + i] = 1;
	opk_solve(by, fit->factor, fit->unknowns);
	for (size_t i = 0; i < fit->unit_count; i++) {
		struct assumption all[2 * PIECES + 1];
		size_t count = fit->shapes[i].first == SIZE_MAX ? 0 : assume(all, &fit->shapes[i]);
		double rate = fabs(totals[i]) / fit->shapes[i].length;

		for (size_t j = 0; j < count; j++)
			doubt += rate * all[j].doubt
			         * fabs(by[all[j].unknown] * all[j].here
			                + (all[j].next != 0 ? by[all[j].unknown + 1] * all[j].next
			                                    : 0));
	}
	return doubt;
}

int opk_fit_amounts(double *totals, struct opk_fit *fit, struct opk_ctx *ctx, const double *values)
{
	size_t n = fit->unit_count;

	memset(fit->noise, 0, fit->unknowns * sizeof *fit->noise);
	fit->mean_noise = fit->least_noise = 1;
	for (int i = 0; i < ROUNDS; i++) {
		TRY(add_samples(fit, ctx, values, fit->shift));
		solve(fit, OPK_FIT_PARTS);
		TRY(find_noise(fit, ctx, values));
	}
	for (int i = -1; i <= 1; i += 2) {
		TRY(add_samples(fit, ctx, values, fit->shift + i * shift_doubt));
		solve(fit, OPK_FIT_PARTS);
		add_pieces(totals + (OPK_FIT_PARTS + 1 + (i > 0)) * n, fit, fit->amounts);
	}
	TRY(add_samples(fit, ctx, values, fit->shift));
	for (size_t part = 0; part <= OPK_FIT_PARTS; part++) {
		solve(fit, part);
		add_pieces(totals + (part + 1) % (OPK_FIT_PARTS + 1) * n, fit, fit->amounts);
	}
	for (size_t i = 0; i < n; i++)
		totals[(OPK_FIT_ESTIMATES - 1) * n + i] = totals[i]
		                                          + (fit->shapes[i].first == SIZE_MAX
		                                                     ? 0
		                                                     : find_doubt(fit, totals, i));
	return OPK_OK;
}

/* ---- begin and end ---------------------------------------------------------------------- */

static int by_launches(const void *a, const void *b)
{
	const struct opk_fit_shape *const *x = a, *const *y = b;

	if ((*x)->launches != (*y)->launches)
		return (*x)->launches < (*y)->launches ? 1 : -1;
	return *x < *y ? -1 : *x > *y;
}

/* Gives pieces to the units with most launches, while there are unknowns for them. */
static int make_shapes(struct opk_fit *fit, struct opk_ctx *ctx)
{
	opk_autofree struct opk_fit_shape **order = opk_alloc_array(fit->unit_count + 1,
	                                                            sizeof *order);

	if (getenv("SHIFT"))
		fit->shift = atof(getenv("SHIFT"));
	fit->shapes = opk_alloc_array(fit->unit_count + 1, sizeof *fit->shapes);
	if (!order || !fit->shapes)
		return opk_nomem(ctx, "kernels on the timeline");
	for (size_t i = 0; i < fit->unit_count; i++)
		order[i] = &fit->shapes[i];
	for (size_t i = 0; i < fit->stretch_count; i++) {
		struct opk_fit_shape *shape = &fit->shapes[fit->unit_of[i]];

		shape->length += (double)(fit->stretches[i].end - fit->stretches[i].start);
		shape->launches++;
		shape->row = fit->stretches[i].row;
	}
	qsort(order, fit->unit_count, sizeof *order, by_launches);
	fit->unknowns = 1;
	for (size_t i = 0; i < fit->unit_count; i++) {
		struct opk_fit_shape *shape = order[i];

		shape->length /= fmax(shape->launches, 1);
		while (shape->edges < EDGES && 2 * edges[shape->edges] < 0.75 * shape->length)
			shape->edges++;
		shape->first = SIZE_MAX;
		if (!(shape->launches > 0) || fit->unknowns + count_unknowns(shape) > MOST_UNKNOWNS)
			continue;
		shape->first = fit->unknowns - 1;
		fit->unknowns += count_unknowns(shape);
	}
	return OPK_OK;
}

int opk_fit_init(struct opk_fit *fit, struct opk_ctx *ctx, const struct opk_overlaps *overlaps,
                 const struct opk_sample_time *samples, const struct opk_stretch *stretches,
                 size_t stretch_count, const uint32_t *unit_of, size_t unit_count)
{
	size_t n;

	*fit = (struct opk_fit){
		.overlaps = overlaps,
		.samples = samples,
		.stretches = stretches,
		.stretch_count = stretch_count,
		.unit_of = opk_alloc_array(stretch_count + 1, sizeof *fit->unit_of),
		.unit_count = unit_count,
		.origin = overlaps->sample_count ? samples->start : 0,
	};
	if (!fit->unit_of)
		return opk_nomem(ctx, "kernels on the timeline");
	memcpy(fit->unit_of, unit_of, stretch_count * sizeof *unit_of);
	TRY(opk_units_split(fit->unit_of, &fit->unit_count, ctx, stretches, stretch_count));
	for (size_t i = 0; i < overlaps->sample_count; i++)
		fit->interval += (double)overlaps->lengths[i] / (double)overlaps->sample_count;
	TRY(make_shapes(fit, ctx));
	n = fit->unknowns;
	fit->normals = opk_alloc_array(OPK_FIT_PARTS * n, n * sizeof *fit->normals);
	fit->rights = opk_alloc_array(OPK_FIT_PARTS * n, sizeof *fit->rights);
	fit->factor = opk_alloc_array(n, n * sizeof *fit->factor);
	fit->right = opk_alloc_array(n, sizeof *fit->right);
	fit->noise = opk_alloc_array(n, sizeof *fit->noise);
	fit->amounts = opk_alloc_array(n, sizeof *fit->amounts);
	return fit->normals && fit->rights && fit->factor && fit->right && fit->noise
	                       && fit->amounts
	               ? OPK_OK
	               : opk_nomem(ctx, "kernels on the timeline");
}

void opk_fit_clear(struct opk_fit *fit)
{
	free(fit->unit_of);
	free(fit->shapes);
	free(fit->normals);
	free(fit->rights);
	free(fit->factor);
	free(fit->right);
	free(fit->noise);
	free(fit->amounts);
	*fit = (struct opk_fit){ 0 };
}
