/* SPDX-License-Identifier: BSD-2-Clause */
/* A track: samples as buckets, which folding makes fewer and longer. */
#include "series/series.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* NaN if both are NaN. */
static double least_of(double a, double b)
{
	return isnan(a) || b < a ? b : a;
}

static double most_of(double a, double b)
{
	return isnan(a) || b > a ? b : a;
}

static double *most_values(const struct opk_track *track)
{
	return track->most ? track->most : track->least;
}

static double *mean_values(const struct opk_track *track)
{
	return track->mean ? track->mean : track->least;
}

/* The mean of two values, each over so many ns; a value that is NaN does not count. */
static double mean_of(double a, double a_ns, double b, double b_ns)
{
	if (isnan(a) || isnan(b))
		return isnan(a) ? b : a;
	return a + (b - a) * (b_ns / (a_ns + b_ns));
}

/* Never 0, so that each sample counts. */
static double length_of(uint64_t start, uint64_t end)
{
	return end > start ? (double)(end - start) : 1;
}

/* ---- adding samples --------------------------------------------------------------------- */

static int begin(struct opk_track *track, struct opk_ctx *ctx)
{
	track->fold = 1;
	track->lowest = opk_alloc_array(track->metrics + 1, sizeof *track->lowest);
	track->highest = opk_alloc_array(track->metrics + 1, sizeof *track->highest);
	track->missing = opk_alloc_array(track->metrics + 1, sizeof *track->missing);
	if (!track->lowest || !track->highest || !track->missing)
		return opk_nomem(ctx, "samples to draw");
	for (size_t i = 0; i < track->metrics; i++)
		track->lowest[i] = track->highest[i] = NAN;
	return OPK_OK;
}

static int grow(struct opk_track *track, struct opk_ctx *ctx)
{
	size_t capacity = track->capacity ? track->capacity + track->capacity / 2 : 4;
	size_t values = capacity * track->metrics + 1;
	uint64_t *starts = opk_realloc_array(track->starts, capacity, sizeof *starts);
	uint64_t *ends = opk_realloc_array(track->ends, capacity, sizeof *ends);
	double *least = opk_realloc_array(track->least, values, sizeof *least);
	double *most = track->most ? opk_realloc_array(track->most, values, sizeof *most) : NULL;
	double *mean = track->mean ? opk_realloc_array(track->mean, values, sizeof *mean) : NULL;
	float *known = track->known ? opk_realloc_array(track->known, values, sizeof *known) : NULL;
	bool failed = !starts || !ends || !least || (track->most && !most) || (track->mean && !mean)
	              || (track->known && !known);

	/* Arrays that did grow have moved. */
	track->starts = starts ? starts : track->starts;
	track->ends = ends ? ends : track->ends;
	track->least = least ? least : track->least;
	track->most = most ? most : track->most;
	track->mean = mean ? mean : track->mean;
	track->known = known ? known : track->known;
	if (failed)
		return opk_nomem(ctx, "samples to draw");
	track->capacity = capacity;
	return OPK_OK;
}

static void take_extremes(struct opk_track *track, const double *values)
{
	for (size_t i = 0; i < track->metrics; i++) {
		track->lowest[i] = least_of(track->lowest[i], values[i]);
		track->highest[i] = most_of(track->highest[i], values[i]);
		track->missing[i] += isnan(values[i]);
	}
}

/* Whether `start` is later than `end` by more than a sample's mean length. */
static bool is_apart(const struct opk_track *track, uint64_t end, uint64_t start)
{
	return start > end && start - end > track->time_ns / track->samples;
}

/* For how long a sample knows a value: not at all if that is NaN. */
static float known_of(double value, double ns)
{
	return isnan(value) ? 0 : (float)ns;
}

static void put_bucket(struct opk_track *track, uint64_t start, uint64_t end, const double *values)
{
	size_t at = track->count++ * track->metrics;

	track->starts[track->count - 1] = start;
	track->ends[track->count - 1] = end;
	memcpy(track->least + at, values, track->metrics * sizeof *values);
	if (track->most) {
		memcpy(track->most + at, values, track->metrics * sizeof *values);
		memcpy(track->mean + at, values, track->metrics * sizeof *values);
	}
	for (size_t i = 0; track->known && i < track->metrics; i++)
		track->known[at + i] = known_of(values[i], length_of(start, end));
	track->in_last = 1;
}

static void add_to_last(struct opk_track *track, uint64_t start, uint64_t end, const double *values)
{
	size_t last = track->count - 1, at = last * track->metrics;
	double ns = length_of(start, end);

	track->ends[last] = end;
	for (size_t i = 0; i < track->metrics; i++) {
		track->least[at + i] = least_of(track->least[at + i], values[i]);
		track->most[at + i] = most_of(track->most[at + i], values[i]);
		track->mean[at + i] = mean_of(track->mean[at + i], track->known[at + i], values[i],
		                              ns);
		track->known[at + i] += known_of(values[i], ns);
	}
	track->in_last++;
}

/* The interval may change, so a sample is compared only with the two before. */
static bool spans_pause(struct opk_track *track, uint64_t length)
{
	uint64_t longer = track->lengths[0] > track->lengths[1] ? track->lengths[0]
	                                                        : track->lengths[1];

	track->lengths[0] = track->lengths[1];
	track->lengths[1] = length;
	return longer && length / OPK_SERIES_PAUSE > longer;
}

int opk_track_add(struct opk_track *track, struct opk_ctx *ctx, uint64_t start, uint64_t end,
                  const double *values)
{
	uint64_t length = end > start ? end - start : 0;
	uint64_t last = track->count ? track->ends[track->count - 1] : 0;
	bool earlier = track->count && start < track->starts[track->count - 1];

	end = start + length;
	if (!track->fold)
		TRY(begin(track, ctx));
	if (spans_pause(track, length)) {
		track->pauses++;
		return OPK_OK;
	}
	take_extremes(track, values);
	if (track->count && track->in_last < track->fold && !earlier
	    && !is_apart(track, last, start))
		add_to_last(track, start, end, values);
	else {
		if (!(track->count < track->capacity))
			TRY(grow(track, ctx));
		put_bucket(track, start, end, values);
	}
	track->unordered |= earlier;
	track->samples++;
	track->time_ns += length;
	return OPK_OK;
}

/* ---- folding ---------------------------------------------------------------------------- */

static void move_bucket(struct opk_track *track, size_t to, size_t from)
{
	size_t size = track->metrics * sizeof *track->least;

	track->starts[to] = track->starts[from];
	track->ends[to] = track->ends[from];
	memmove(track->least + to * track->metrics, track->least + from * track->metrics, size);
	memmove(track->most + to * track->metrics, track->most + from * track->metrics, size);
	memmove(track->mean + to * track->metrics, track->mean + from * track->metrics, size);
	memmove(track->known + to * track->metrics, track->known + from * track->metrics,
	        track->metrics * sizeof *track->known);
}

static void join_bucket(struct opk_track *track, size_t to, size_t from)
{
	size_t metrics = track->metrics, a = to * metrics, b = from * metrics;

	track->ends[to] = track->ends[from];
	for (size_t i = 0; i < metrics; i++) {
		track->least[a + i] = least_of(track->least[a + i], track->least[b + i]);
		track->most[a + i] = most_of(track->most[a + i], track->most[b + i]);
		track->mean[a + i] = mean_of(track->mean[a + i], track->known[a + i],
		                             track->mean[b + i], track->known[b + i]);
		track->known[a + i] += track->known[b + i];
	}
}

/* Joins buckets in pairs; not across gaps or back in time unless `over_gaps`. */
static void join_pairs(struct opk_track *track, bool over_gaps)
{
	size_t kept = 0;

	for (size_t i = 0; i < track->count; kept++) {
		bool last = i + 1 == track->count;

		move_bucket(track, kept, i++);
		if (last || track->starts[i] < track->starts[i - 1]
		    || (!over_gaps && is_apart(track, track->ends[kept], track->starts[i])))
			continue;
		join_bucket(track, kept, i++);
		if (i == track->count)
			track->in_last += track->fold;
	}
	track->count = kept;
	if (track->fold <= SIZE_MAX / 2)
		track->fold *= 2;
}

/* A bucket of one sample has it three times. */
static int copy_values(double **out, const struct opk_track *track, struct opk_ctx *ctx)
{
	*out = opk_alloc_array(track->capacity * track->metrics + 1, sizeof **out);
	if (!*out)
		return opk_nomem(ctx, "samples to draw");
	memcpy(*out, track->least, track->count * track->metrics * sizeof **out);
	return OPK_OK;
}

static int begin_known(struct opk_track *track, struct opk_ctx *ctx)
{
	track->known = opk_alloc_array(track->capacity * track->metrics + 1, sizeof *track->known);
	if (!track->known)
		return opk_nomem(ctx, "samples to draw");
	for (size_t i = 0; i < track->count * track->metrics; i++) {
		size_t bucket = i / track->metrics;

		track->known[i] = known_of(track->least[i],
		                           length_of(track->starts[bucket], track->ends[bucket]));
	}
	return OPK_OK;
}

int opk_track_fold(struct opk_track *track, struct opk_ctx *ctx)
{
	size_t before = track->count;

	if (!track->most)
		TRY(copy_values(&track->most, track, ctx));
	if (!track->mean)
		TRY(copy_values(&track->mean, track, ctx));
	if (!track->known)
		TRY(begin_known(track, ctx));
	join_pairs(track, false);
	/* If gaps left more than nine tenths of the buckets, joins across gaps, too. */
	if (before > 1 && track->count * 10 > before * 9)
		join_pairs(track, true);
	return OPK_OK;
}

size_t opk_track_size(const struct opk_track *track)
{
	return track->count * track->metrics * (track->most ? 3 : 1);
}

/* ---- reading ---------------------------------------------------------------------------- */

/* The first bucket that ends after this time. */
static size_t first_after(const struct opk_track *track, uint64_t time)
{
	size_t low = 0, high = track->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (track->ends[middle] > time)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* The part of a bucket's time in which the value is known. */
static double known_part(const struct opk_track *track, size_t at)
{
	size_t bucket = at / track->metrics;

	return track->known
	               ? track->known[at] / length_of(track->starts[bucket], track->ends[bucket])
	               : 1;
}

/* The shares of a bucket's time that are in each column that it touches weigh its mean. */
static void add_bucket(double *values, double *known, size_t columns, const struct opk_track *track,
                       size_t at, double from, double to)
{
	double *least = values, *most = values + columns, *mean = values + 2 * columns;
	double value = mean_values(track)[at], part = known_part(track, at);

	for (size_t c = (size_t)from; c < columns && (double)c < to; c++) {
		double share = part * (fmin(to, (double)c + 1) - fmax(from, (double)c));

		share = fmax(share, DBL_MIN);

		least[c] = least_of(least[c], track->least[at]);
		most[c] = most_of(most[c], most_values(track)[at]);
		mean[c] = mean_of(mean[c], known[c], value, share);
		known[c] += isnan(value) ? 0 : share;
	}
}

int opk_track_envelope(double *values, struct opk_ctx *ctx, size_t columns,
                       const struct opk_track *track, size_t metric, uint64_t start, uint64_t end)
{
	double scale = (double)columns / (double)(end - start);
	opk_autofree double *known = opk_alloc_array(columns + 1, sizeof *known);

	if (!known)
		return opk_nomem(ctx, "samples to draw");
	for (size_t i = 0; i < 3 * columns; i++)
		values[i] = NAN;
	for (size_t i = first_after(track, start); i < track->count && track->starts[i] < end;
	     i++) {
		double from = track->starts[i] > start ? (double)(track->starts[i] - start) : 0;

		add_bucket(values, known, columns, track, i * track->metrics + metric, from * scale,
		           (double)(track->ends[i] - start) * scale);
	}
	return OPK_OK;
}

/* ---- order ------------------------------------------------------------------------------ */

static int by_start(const void *a, const void *b, void *starts)
{
	const uint64_t *of = starts;
	size_t x = *(const size_t *)a, y = *(const size_t *)b;

	return of[x] != of[y] ? (of[x] > of[y]) - (of[x] < of[y]) : (x > y) - (x < y);
}

/* array[i] = array[order[i]] for elements of `size` bytes; `room` has space for all. */
static void permute(void *array, void *room, const size_t *order, size_t count, size_t size)
{
	if (!array)
		return;
	for (size_t i = 0; i < count; i++)
		memcpy((char *)room + i * size, (char *)array + order[i] * size, size);
	memcpy(array, room, count * size);
}

int opk_track_order(struct opk_track *track, struct opk_ctx *ctx)
{
	size_t row = track->metrics * sizeof *track->least;
	opk_autofree size_t *order = NULL;
	opk_autofree void *room = NULL;

	if (!track->unordered)
		return OPK_OK;
	order = opk_alloc_array(track->count, sizeof *order);
	room = opk_alloc_array(track->count, row > sizeof *order ? row : sizeof *order);
	if (!order || !room)
		return opk_nomem(ctx, "samples to draw");
	for (size_t i = 0; i < track->count; i++)
		order[i] = i;
	qsort_r(order, track->count, sizeof *order, by_start, track->starts);
	permute(track->least, room, order, track->count, row);
	permute(track->most, room, order, track->count, row);
	permute(track->mean, room, order, track->count, row);
	permute(track->known, room, order, track->count, track->metrics * sizeof *track->known);
	permute(track->ends, room, order, track->count, sizeof *track->ends);
	permute(track->starts, room, order, track->count, sizeof *track->starts);
	track->unordered = false;
	return OPK_OK;
}

void opk_track_clear(struct opk_track *track)
{
	free(track->starts);
	free(track->ends);
	free(track->least);
	free(track->most);
	free(track->mean);
	free(track->known);
	free(track->lowest);
	free(track->highest);
	free(track->missing);
}
