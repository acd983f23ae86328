/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds what a launch of each kernel counts if launches are shorter than samples. What a sample
 * counts is a sum over the launches in it, and thousands of samples that launches overlap in
 * different ways determine each kernel's amounts: least squares. The first blocks of a kernel and
 * its last ones don't count as the others do, so that a launch has pieces with amounts of their
 * own: fixed times after its start and before its end, the middle, and short times outside of it,
 * in which its blocks are already launched or what it wrote still moves.
 *
 * Three checks say how far to trust an amount: it is found again without each of some parts of the
 * samples (jackknife); with longer and with shorter pieces; and by how much it depends on what is
 * assumed where samples say nothing, namely that neighbouring pieces have equal rates.
 */
#include "timeline/fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	EDGES = 7,              /* at each end of a launch */
	PIECES = 2 * EDGES + 3, /* with the middle and what is outside */
	ASSUMPTIONS = 2 * PIECES + 1,
	MOST_UNKNOWNS = 640,
	RUN = 32, /* so many samples in a row are left out together: launches overlap several */
};
/* Lengths in ns. Blocks of a kernel are mostly launched in its first microsecond. */
static const double edges[EDGES] = { 250, 500, 1000, 2000, 4000, 8000, 16000 };
static const double before = 500, after = 2000;
/* A kernel has the first edges alone if it has fewer launches than these. */
static const double launches_for[EDGES] = { 0, 0, 0, 48, 48, 100, 100 };
/* The squares of these are as many launches as assumptions weigh. */
static const double to_neighbour = 0.3, to_0 = 0.03;
/* So that a sample with nothing in it has a weight. */
static const double least_sum = 0.1, typical_sum = 4;
/* The lengths of pieces: as above, for all estimates with parts of the samples; shorter; longer. */
static const double scales[] = { 1, 1 / 1.7, 1.7 };

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
	double scale;
	size_t sample, next; /* stretch */
	OPK_LIST(size_t) active;
	double *weights; /* one per unknown */
	bool *has;       /* likewise: it is among `inside` */
	size_t *inside;
	size_t count;
	bool is_known; /* all that ran in the sample has unknowns */
};

static int begin_sweep(struct sweep *s, struct opk_ctx *ctx, const struct opk_fit *fit,
                       double scale)
{
	*s = (struct sweep){
		.fit = fit,
		.scale = scale,
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
	find_bounds(bounds, shape, start, end, s->scale);
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
	from = covered = time_of(fit, fit->samples[s->sample].start);
	to = time_of(fit, fit->samples[s->sample].end);
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

/*
 * Systems: without each of the parts of the samples, with all parts, and with other pieces. Each
 * has a factor and a right side.
 */
static double *factor_of(const struct opk_fit *fit, size_t system)
{
	return fit->factors + system * fit->unknowns * fit->unknowns;
}

static double *right_of(const struct opk_fit *fit, size_t system)
{
	return fit->rights + system * fit->unknowns;
}

/* From the sums of each part: the sum of all parts, and the sums without each. */
static void leave_out(double *sums, size_t size)
{
	double *all = sums + OPK_FIT_PARTS * size;

	for (size_t i = 0; i < size; i++)
		for (size_t part = 0; part < OPK_FIT_PARTS; part++)
			all[i] += sums[part * size + i];
	for (size_t part = 0; part < OPK_FIT_PARTS; part++)
		for (size_t i = 0; i < size; i++)
			sums[part * size + i] = all[i] - sums[part * size + i];
}

/* A sample in which more ends and begins tells less about each: there is more that differs. */
static double weigh(const struct sweep *s)
{
	double sum = least_sum;

	for (size_t i = 0; i < s->count; i++)
		sum += fabs(s->weights[s->inside[i]]);
	return typical_sum / sum;
}

static void add_products(struct opk_fit *fit, const struct sweep *s, size_t system)
{
	double *normal = factor_of(fit, system), weight = weigh(s);

	for (size_t i = 0; i < s->count; i++) {
		double *row = normal + s->inside[i] * fit->unknowns;
		double here = weight * s->weights[s->inside[i]];

		for (size_t j = 0; j < s->count; j++)
			if (s->inside[j] <= s->inside[i])
				row[s->inside[j]] += here * s->weights[s->inside[j]];
	}
}

static void add_right(struct opk_fit *fit, const struct sweep *s, size_t system, double value)
{
	double *right = right_of(fit, system), weight = weigh(s);

	for (size_t i = 0; i < s->count; i++)
		right[s->inside[i]] += weight * s->weights[s->inside[i]] * value;
}

/* The system of a sample: each part of samples has one, and all samples with other pieces. */
static size_t system_of(size_t sample, size_t scale)
{
	return scale ? OPK_FIT_PARTS + scale : sample / RUN % OPK_FIT_PARTS;
}

/* Counts the launches in the sample, those that `counted` does not have yet. */
static void count_sampled(struct opk_fit *fit, const struct sweep *s, bool *counted)
{
	const struct opk_sample_time *sample = &fit->samples[s->sample];

	for (size_t i = 0; i < s->active.count; i++) {
		size_t launch = s->active.items[i];
		const struct opk_stretch *stretch = &fit->stretches[launch];
		struct opk_fit_shape *shape = &fit->shapes[fit->unit_of[launch]];

		if (stretch->start >= sample->end || stretch->end < sample->start)
			continue;
		shape->sampled += !counted[launch];
		shape->is_known |= s->is_known;
		counted[launch] = true;
	}
}

/* Adds all samples to their systems: products, or right sides if there are values. */
static int add_samples(struct opk_fit *fit, struct opk_ctx *ctx, const double *values, size_t scale)
{
	__attribute__((cleanup(clear_sweep))) struct sweep s = { 0 };
	bool first = !values && !scale, more;
	opk_autofree bool *counted = opk_alloc_array(first ? fit->stretch_count + 1 : 1,
	                                             sizeof *counted);

	TRY(begin_sweep(&s, ctx, fit, scales[scale]));
	if (!counted)
		return opk_nomem(ctx, "short kernels");
	do {
		TRY(next_sample(&more, &s, ctx));
		if (first && more)
			count_sampled(fit, &s, counted);
		if (!more || !s.is_known)
			continue;
		if (values)
			add_right(fit, &s, system_of(s.sample, scale), values[s.sample]);
		else
			add_products(fit, &s, system_of(s.sample, scale));
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

static int make_systems(struct opk_fit *fit, struct opk_ctx *ctx)
{
	size_t n = fit->unknowns;

	for (size_t scale = 0; scale < sizeof scales / sizeof *scales; scale++)
		TRY(add_samples(fit, ctx, NULL, scale));
	leave_out(fit->factors, n * n);
	for (size_t system = 0; system < OPK_FIT_SYSTEMS; system++) {
		add_assumptions(fit, factor_of(fit, system));
		opk_factorise(factor_of(fit, system), n, 1e-12);
	}
	return OPK_OK;
}

/* ---- amounts ---------------------------------------------------------------------------- */

/* Adds up the pieces of a launch of each unit. */
static void add_pieces(double *totals, const struct opk_fit *fit, const double *amounts)
{
	for (size_t i = 0; i < fit->unit_count; i++) {
		const struct opk_fit_shape *shape = &fit->shapes[i];

		totals[i] = has_room(shape) ? 0 : (double)NAN;
		for (size_t j = 0; has_room(shape) && j < count_pieces(shape); j++)
			totals[i] += amounts[shape->first + j];
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
	opk_solve(by, factor_of(fit, OPK_FIT_PARTS), fit->unknowns);
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
	size_t n = fit->unit_count;
	const double *all = totals + OPK_FIT_PARTS * n;

	memset(fit->rights, 0, OPK_FIT_SYSTEMS * fit->unknowns * sizeof *fit->rights);
	for (size_t scale = 0; scale < sizeof scales / sizeof *scales; scale++)
		TRY(add_samples(fit, ctx, values, scale));
	leave_out(fit->rights, fit->unknowns);
	for (size_t system = 0; system < OPK_FIT_SYSTEMS; system++) {
		opk_solve(right_of(fit, system), factor_of(fit, system), fit->unknowns);
		add_pieces(totals + system * n, fit, right_of(fit, system));
	}
	for (size_t i = 0; i < n; i++)
		totals[OPK_FIT_SYSTEMS * n + i] = all[i]
		                                  + (has_room(&fit->shapes[i])
		                                             ? find_doubt(fit, all, &fit->shapes[i])
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
	fit->factors = opk_alloc_array(OPK_FIT_SYSTEMS * n, n * sizeof *fit->factors);
	fit->rights = opk_alloc_array(OPK_FIT_SYSTEMS * n, sizeof *fit->rights);
	fit->room = opk_alloc_array(n, sizeof *fit->room);
	return fit->factors && fit->rights && fit->room ? make_systems(fit, ctx)
	                                                : opk_nomem(ctx, "short kernels");
}

void opk_fit_clear(struct opk_fit *fit)
{
	free(fit->unit_of);
	free(fit->shapes);
	free(fit->factors);
	free(fit->rights);
	free(fit->room);
	*fit = (struct opk_fit){ 0 };
}
