/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds what a launch of each kernel counts if launches are shorter than samples. What a sample
 * counts is a sum over the launches in it, and thousands of samples that launches overlap in
 * different ways determine each kernel's amounts: least squares. The first blocks of a kernel and
 * its last ones don't count as the others do, so that a launch has pieces with amounts of their
 * own: fixed times after its start and before its end, the middle, and short times outside of it,
 * in which its blocks are already launched or what it wrote still moves. Samples with kernels whose
 * launches differ most weigh least.
 *
 * Three checks say how far to trust an amount: it is found again without each of some parts of the
 * samples (jackknife); with slightly different times and pieces; and by how much it depends on what
 * is assumed where samples say nothing, namely that neighbouring pieces have equal rates.
 */
#include "timeline/fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	EDGES = 7,              /* at each end of a launch */
	PIECES = 2 * EDGES + 3, /* with the middle and what is outside */
	ASSUMPTIONS = 2 * PIECES + 1,
	MOST_UNKNOWNS = 800,
	RUN = 32, /* so many samples in a row are left out together: launches overlap several */
};
/* Lengths in ns. Blocks of a kernel are mostly launched in its first microsecond. */
static const double edges[EDGES] = { 250, 500, 1000, 2000, 4000, 8000, 16000 };
static const double before = 500, after = 2000;
/* A kernel has the first edges alone if it has fewer launches than these. */
static const double launches_for[EDGES] = { 0, 0, 0, 48, 48, 100, 100 };
/* The squares of these are as many launches as assumptions weigh. */
static const double to_neighbour = 0.3, to_0 = 0.03;
/* Other times and pieces: samples may be this much earlier or later, and pieces longer. */
static const double other_shift = 100, other_scale = 1.7;
/* No sample has less noise than this share of the mean. */
static const double least_noise = 0.001;

/* How samples and pieces lie: samples are later by `shift`, edges farther by `scale`. */
struct lie {
	double shift, scale;
};

static const struct lie as_recorded = { 0, 1 };

static size_t count_pieces(const struct opk_fit_shape *shape)
{
	return 2 * shape->edges + 3;
}

/* Launches that take longer may count more; the mean launch has none of this last unknown. */
static size_t count_unknowns(const struct opk_fit_shape *shape)
{
	return count_pieces(shape) + 1;
}

/* Where the pieces of a launch begin, and where the last one ends. */
static void find_bounds(double bounds[PIECES + 1], const struct opk_fit_shape *shape, double start,
                        double end, double scale)
{
	size_t count = 0;
	double outer = shape->edges ? 2 * edges[shape->edges - 1] : 0;

	/* The middle keeps a tenth. */
	if (outer * scale > 0.9 * (end - start))
		scale = 0.9 * (end - start) / outer;
	bounds[count++] = start - before;
	bounds[count++] = start;
	for (size_t i = 0; i < shape->edges; i++)
		bounds[count++] = start + scale * edges[i];
	for (size_t i = shape->edges; i-- > 0;)
		bounds[count++] = end - scale * edges[i];
	bounds[count++] = end;
	bounds[count++] = end + after;
}

static bool has_room(const struct opk_fit_shape *shape)
{
	return shape->first != SIZE_MAX;
}

/* ---- samples, one after the other ------------------------------------------------------- */

/* A row of the linear system: which unknowns are in a sample, and how much of each. */
struct sweep {
	const struct opk_fit *fit;
	struct lie lie;
	size_t sample, next; /* stretch */
	OPK_LIST(size_t) active;
	double *weights; /* one per unknown */
	bool *has;       /* likewise: it is among `inside` */
	size_t *inside;
	size_t count;
	bool is_known; /* all that ran in the sample has unknowns */
};

static int begin_sweep(struct sweep *s, struct opk_ctx *ctx, const struct opk_fit *fit,
                       const struct lie *lie)
{
	*s = (struct sweep){
		.fit = fit,
		.lie = *lie,
		.sample = SIZE_MAX,
		.weights = opk_alloc_array(fit->unknowns, sizeof *s->weights),
		.has = opk_alloc_array(fit->unknowns, sizeof *s->has),
		.inside = opk_alloc_array(fit->unknowns, sizeof *s->inside),
	};
	return s->weights && s->has && s->inside ? OPK_OK : opk_nomem(ctx, "short kernels");
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

static void add_launch(struct sweep *s, const struct opk_fit_shape *shape, double start, double end,
                       double from, double to)
{
	size_t count = count_pieces(shape);
	double bounds[PIECES + 1];

	if (!has_room(shape)) {
		s->is_known = false;
		return;
	}
	find_bounds(bounds, shape, start, end, s->lie.scale);
	for (size_t i = 0; i < count; i++) {
		double inside = fmin(to, bounds[i + 1]) - fmax(from, bounds[i]);

		if (!(inside > 0))
			continue;
		inside /= bounds[i + 1] - bounds[i];
		add_weight(s, shape->first + i, inside);
		if (i == count / 2)
			add_weight(s, shape->first + count,
			           inside * ((end - start) / shape->length - 1));
	}
}

static double time_of(const struct opk_fit *fit, uint64_t time)
{
	return time > fit->origin ? (double)(time - fit->origin) : -(double)(fit->origin - time);
}

/* The launches of the sample from `from` until before `to`. */
static bool find_active(struct sweep *s, double from, double to)
{
	const struct opk_fit *fit = s->fit;
	size_t kept = 0;

	while (s->next < fit->stretch_count
	       && time_of(fit, fit->stretches[s->next].start) - before < to) {
		size_t *launch = opk_list_add(&s->active);

		if (!launch)
			return false;
		*launch = s->next++;
	}
	for (size_t i = 0; i < s->active.count; i++)
		if (time_of(fit, fit->stretches[s->active.items[i]].end) + after > from)
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
	*more = ++s->sample < fit->sample_count;
	if (!*more)
		return OPK_OK;
	from = covered = time_of(fit, fit->samples[s->sample].start) - s->lie.shift;
	to = time_of(fit, fit->samples[s->sample].end) - s->lie.shift;
	if (!find_active(s, from, to))
		return opk_nomem(ctx, "short kernels");
	for (size_t i = 0; i < s->active.count; i++) {
		size_t launch = s->active.items[i];
		double start = time_of(fit, fit->stretches[launch].start);
		double end = time_of(fit, fit->stretches[launch].end);

		idle += fmax(start - before - covered, 0);
		covered = fmax(covered, end + after);
		add_launch(s, &fit->shapes[fit->unit_of[launch]], start, end, from, to);
	}
	idle += fmax(to - covered, 0);
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

/* A sample weighs more if what is in it was found with less noise. */
static double weigh(const struct opk_fit *fit, const struct sweep *s)
{
	double noise = least_noise;

	for (size_t i = 0; i < s->count; i++)
		noise += fabs(s->weights[s->inside[i]]) * fit->noise[s->inside[i]];
	return 1 / noise;
}

static void add_products(const struct opk_fit *fit, const struct sweep *s, double value)
{
	size_t part = s->sample / RUN % OPK_FIT_PARTS;
	double *normal = normal_of(fit, part), *right = right_of(fit, part), weight = weigh(fit, s);

	for (size_t i = 0; i < s->count; i++) {
		double *row = normal + s->inside[i] * fit->unknowns;
		double here = weight * s->weights[s->inside[i]];

		right[s->inside[i]] += here * value;
		for (size_t j = 0; j < s->count; j++)
			if (s->inside[j] <= s->inside[i])
				row[s->inside[j]] += here * s->weights[s->inside[j]];
	}
}

static int add_samples(struct opk_fit *fit, struct opk_ctx *ctx, const double *values,
                       const struct lie *lie)
{
	__attribute__((cleanup(clear_sweep))) struct sweep s = { 0 };
	size_t n = fit->unknowns;
	bool more;

	memset(fit->normals, 0, OPK_FIT_PARTS * n * n * sizeof *fit->normals);
	memset(fit->rights, 0, OPK_FIT_PARTS * n * sizeof *fit->rights);
	TRY(begin_sweep(&s, ctx, fit, lie));
	do {
		TRY(next_sample(&more, &s, ctx));
		if (more && s.is_known)
			add_products(fit, &s, values[s.sample]);
	} while (more);
	return OPK_OK;
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

/* Returns the number of assumptions about a unit. */
static size_t assume(struct assumption all[ASSUMPTIONS], const struct opk_fit_shape *shape)
{
	double bounds[PIECES + 1];
	size_t pieces = count_pieces(shape), count = 0;

	if (!has_room(shape))
		return 0;
	find_bounds(bounds, shape, 0, shape->length, 1);
	for (size_t i = 0; i + 1 < pieces; i++) {
		double here = bounds[i + 1] - bounds[i], next = bounds[i + 2] - bounds[i + 1];
		double weight = to_neighbour * fmin(here, next);

		all[count++] = (struct assumption){ shape->first + i, weight / here, -weight / next,
			                            weight };
	}
	for (size_t i = 0; i < count_unknowns(shape); i++)
		all[count++] = (struct assumption){ shape->first + i, to_0, 0,
			                            to_0 * shape->length };
	return count;
}

static void add_assumptions(const struct opk_fit *fit, double *normal)
{
	size_t n = fit->unknowns;

	for (size_t i = 0; i < fit->unit_count; i++) {
		struct assumption all[ASSUMPTIONS];
		size_t count = assume(all, &fit->shapes[i]);

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

/* Finds the amounts of all unknowns without one part of the samples; OPK_FIT_PARTS: with all. */
static void solve(struct opk_fit *fit, size_t but)
{
	size_t n = fit->unknowns;

	memset(fit->factor, 0, n * n * sizeof *fit->factor);
	memset(fit->amounts, 0, n * sizeof *fit->amounts);
	for (size_t part = 0; part < OPK_FIT_PARTS; part++) {
		for (size_t i = 0; part != but && i < n * n; i++)
			fit->factor[i] += normal_of(fit, part)[i];
		for (size_t i = 0; part != but && i < n; i++)
			fit->amounts[i] += right_of(fit, part)[i];
	}
	add_assumptions(fit, fit->factor);
	opk_factorise(fit->factor, n, 1e-12);
	opk_solve(fit->amounts, fit->factor, n);
}

/* Finds the mean square of what is left of samples that have each unknown; 1: of all samples. */
static int find_noise(struct opk_fit *fit, struct opk_ctx *ctx, const double *values)
{
	__attribute__((cleanup(clear_sweep))) struct sweep s = { 0 };
	double *sums = fit->room, squares = 0, count = 0;
	size_t n = fit->unknowns;
	bool more;

	memset(fit->noise, 0, n * sizeof *fit->noise);
	memset(sums, 0, n * sizeof *sums);
	TRY(begin_sweep(&s, ctx, fit, &as_recorded));
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
			double weight = fabs(s.weights[s.inside[i]]);

			fit->noise[s.inside[i]] += weight * left * left;
			sums[s.inside[i]] += weight;
		}
	} while (more);
	for (size_t i = 0; i < n; i++)
		fit->noise[i] = squares > 0 && sums[i] > 0
		                        ? fit->noise[i] / sums[i] / (squares / count)
		                        : 1;
	return OPK_OK;
}

/* ---- amounts ---------------------------------------------------------------------------- */

/* Adds up the pieces of a launch of each unit. */
static void add_pieces(double *totals, const struct opk_fit *fit)
{
	for (size_t i = 0; i < fit->unit_count; i++) {
		const struct opk_fit_shape *shape = &fit->shapes[i];

		totals[i] = has_room(shape) ? 0 : (double)NAN;
		for (size_t j = 0; has_room(shape) && j < count_pieces(shape); j++)
			totals[i] += fit->amounts[shape->first + j];
	}
}

/* How much the amount of a unit's launch may be off since what is assumed is wrong. */
static double find_doubt(struct opk_fit *fit, const double *totals, const struct opk_fit_shape *of)
{
	double *by = fit->room, doubt = 0;

	/* `by` becomes how much each equation's value changes the amount. */
	memset(by, 0, fit->unknowns * sizeof *by);
	for (size_t i = 0; i < count_pieces(of); i++)
		by[of->first + i] = 1;
	opk_solve(by, fit->factor, fit->unknowns);
	for (size_t i = 0; i < fit->unit_count; i++) {
		struct assumption all[ASSUMPTIONS];
		size_t count = assume(all, &fit->shapes[i]);
		double rate = fabs(totals[i]) / fit->shapes[i].length;

		for (size_t j = 0; j < count; j++) {
			double change = by[all[j].unknown] * all[j].here;

			if (all[j].next != 0)
				change += by[all[j].unknown + 1] * all[j].next;
			doubt += rate * all[j].doubt * fabs(change);
		}
	}
	return doubt;
}

int opk_fit_amounts(double *totals, struct opk_fit *fit, struct opk_ctx *ctx, const double *values)
{
	static const struct lie others[] = { { -other_shift, 1 / other_scale },
		                             { other_shift, other_scale } };
	size_t n = fit->unit_count;
	double *doubts = totals + (OPK_FIT_ESTIMATES - 1) * n;
	opk_autofree double *normals = opk_alloc_array(OPK_FIT_PARTS * fit->unknowns,
	                                               fit->unknowns * sizeof *normals);

	fit->normals = normals;
	if (!normals)
		return opk_nomem(ctx, "short kernels");
	for (size_t i = 0; i < fit->unknowns; i++)
		fit->noise[i] = 1;
	for (int round = 0; round < 2; round++) {
		TRY(add_samples(fit, ctx, values, &as_recorded));
		solve(fit, OPK_FIT_PARTS);
		TRY(find_noise(fit, ctx, values));
	}
	for (size_t i = 0; i < 2; i++) {
		TRY(add_samples(fit, ctx, values, &others[i]));
		solve(fit, OPK_FIT_PARTS);
		add_pieces(totals + (OPK_FIT_PARTS + 1 + i) * n, fit);
	}
	TRY(add_samples(fit, ctx, values, &as_recorded));
	for (size_t part = 0; part < OPK_FIT_PARTS; part++) {
		solve(fit, part);
		add_pieces(totals + (part + 1) * n, fit);
	}
	solve(fit, OPK_FIT_PARTS);
	add_pieces(totals, fit);
	for (size_t i = 0; i < n; i++)
		doubts[i] = totals[i]
		            + (has_room(&fit->shapes[i]) ? find_doubt(fit, totals, &fit->shapes[i])
		                                         : 0);
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

static void count_launches(struct opk_fit *fit)
{
	for (size_t i = 0; i < fit->stretch_count; i++) {
		struct opk_fit_shape *shape = &fit->shapes[fit->unit_of[i]];

		shape->length += (double)(fit->stretches[i].end - fit->stretches[i].start);
		shape->launches++;
		shape->row = fit->stretches[i].row;
	}
	/* A launch that takes no time has pieces that do. */
	for (size_t i = 0; i < fit->unit_count; i++)
		fit->shapes[i].length = fmax(fit->shapes[i].length
		                                     / fmax(fit->shapes[i].launches, 1),
		                             1);
}

/* Gives pieces to the units with most launches, while there are unknowns for them. */
static int make_shapes(struct opk_fit *fit, struct opk_ctx *ctx)
{
	opk_autofree struct opk_fit_shape **order = opk_alloc_array(fit->unit_count + 1,
	                                                            sizeof *order);

	fit->shapes = opk_alloc_array(fit->unit_count + 1, sizeof *fit->shapes);
	if (!order || !fit->shapes)
		return opk_nomem(ctx, "short kernels");
	count_launches(fit);
	for (size_t i = 0; i < fit->unit_count; i++)
		order[i] = &fit->shapes[i];
	qsort(order, fit->unit_count, sizeof *order, by_launches);
	for (size_t i = 0; i < fit->unit_count; i++) {
		struct opk_fit_shape *shape = order[i];

		while (shape->edges < EDGES && shape->launches >= launches_for[shape->edges]
		       && 2 * edges[shape->edges] < 0.75 * shape->length)
			shape->edges++;
		shape->first = SIZE_MAX;
		if (!(shape->launches > 0)
		    || fit->unknowns + count_unknowns(shape) + 1 > MOST_UNKNOWNS)
			continue;
		shape->first = fit->unknowns;
		fit->unknowns += count_unknowns(shape);
	}
	fit->unknowns++; /* idle time */
	return OPK_OK;
}

int opk_fit_init(struct opk_fit *fit, struct opk_ctx *ctx, const struct opk_sample_time *samples,
                 size_t sample_count, const struct opk_stretch *stretches, size_t stretch_count,
                 const uint32_t *unit_of, size_t unit_count)
{
	size_t n;

	*fit = (struct opk_fit){
		.samples = samples,
		.sample_count = sample_count,
		.stretches = stretches,
		.stretch_count = stretch_count,
		.unit_of = opk_alloc_array(stretch_count + 1, sizeof *fit->unit_of),
		.unit_count = unit_count,
		.origin = sample_count ? samples->start : 0,
	};
	if (!fit->unit_of)
		return opk_nomem(ctx, "short kernels");
	memcpy(fit->unit_of, unit_of, stretch_count * sizeof *unit_of);
	TRY(opk_units_split(fit->unit_of, &fit->unit_count, ctx, stretches, stretch_count));
	for (size_t i = 0; i < sample_count; i++)
		fit->interval += (double)(samples[i].end - samples[i].start) / (double)sample_count;
	TRY(make_shapes(fit, ctx));
	n = fit->unknowns;
	fit->rights = opk_alloc_array(OPK_FIT_PARTS * n, sizeof *fit->rights);
	fit->factor = opk_alloc_array(n, n * sizeof *fit->factor);
	fit->room = opk_alloc_array(n, sizeof *fit->room);
	fit->noise = opk_alloc_array(n, sizeof *fit->noise);
	fit->amounts = opk_alloc_array(n, sizeof *fit->amounts);
	return fit->rights && fit->factor && fit->room && fit->noise && fit->amounts
	               ? OPK_OK
	               : opk_nomem(ctx, "short kernels");
}

void opk_fit_clear(struct opk_fit *fit)
{
	free(fit->unit_of);
	free(fit->shapes);
	free(fit->rights);
	free(fit->factor);
	free(fit->room);
	free(fit->noise);
	free(fit->amounts);
	*fit = (struct opk_fit){ 0 };
}
