/* SPDX-License-Identifier: BSD-2-Clause */
/* The values of each column on both sides: of groups of rows, by the clock, and of all rows. */
#include <math.h>
#include <string.h>

#include "base/option_struct.h"
#include "compare/compare.h"

const char opk_compared_duration[] = "duration_ns", opk_compared_mhz[] = "sm_mhz";

static int fail_nomem(struct opk_ctx *ctx)
{
	return opk_nomem(ctx, "a comparison");
}

/* ---- rows ------------------------------------------------------------------------------- */

/* One side's rows by group: group i begins at starts[i]. */
struct sorted {
	size_t *rows, *starts;
	double *values; /* of one column, one per row */
	bool *present;
	struct opk_compared_values of_group;
	size_t *present_rows;       /* the rows of the group's values */
	double *counts, *exposures; /* of code, in each source */
};

static int sort_rows(struct sorted *out, struct opk_ctx *ctx, const struct opk_diff *diff,
                     enum opk_compared_side side)
{
	const size_t *group_of = diff->group_of[side].items;
	size_t count = diff->group_of[side].count, groups = diff->groups.count;

	out->rows = opk_alloc_array(count + 1, sizeof *out->rows);
	out->starts = opk_alloc_array(groups + 2, sizeof *out->starts);
	out->values = opk_alloc_array(count + 1, sizeof *out->values);
	out->present = opk_alloc_array(count + 1, sizeof *out->present);
	out->of_group.values = opk_alloc_array(count + 1, sizeof *out->of_group.values);
	out->of_group.weights = opk_alloc_array(count + 1, sizeof *out->of_group.weights);
	out->present_rows = opk_alloc_array(count + 1, sizeof *out->present_rows);
	out->exposures = opk_alloc_array(diff->source_count + 1, sizeof *out->exposures);
	out->counts = opk_alloc_array(diff->source_count + 1, sizeof *out->counts);
	if (!out->exposures || !out->counts || !out->present_rows || !out->rows || !out->starts
	    || !out->values || !out->present || !out->of_group.values || !out->of_group.weights)
		return fail_nomem(ctx);
	/* Group i is counted in starts[i + 2]: below, starts[i + 1] is where its next row goes. */
	for (size_t i = 0; i < count; i++)
		out->starts[group_of[i] + 2]++;
	for (size_t i = 2; i < groups + 2; i++)
		out->starts[i] += out->starts[i - 1];
	for (size_t i = 0; i < count; i++)
		out->rows[out->starts[group_of[i] + 1]++] = i;
	return OPK_OK;
}

static void clear_sorted(struct sorted *sorted)
{
	free(sorted->rows);
	free(sorted->starts);
	free(sorted->values);
	free(sorted->present);
	free(sorted->present_rows);
	free(sorted->counts);
	free(sorted->exposures);
	free(sorted->of_group.values);
	free(sorted->of_group.weights);
}

/* The source of a side's row. */
static size_t source_of(const struct opk_diff *diff, enum opk_compared_side side, size_t row)
{
	size_t i = diff->source_count - 1;

	while (i > 0 && (diff->sources[i].side != side || diff->sources[i].first_row > row))
		i--;
	return i;
}

/* Replaces the values of each source by the mean of its launches. */
static void join_sources(struct opk_compared_values *out, const struct opk_diff *diff,
                         enum opk_compared_side side, const size_t *rows)
{
	size_t count = 0, last = SIZE_MAX;

	for (size_t i = 0; i < out->count; i++) {
		size_t source = source_of(diff, side, rows[i]);
		double *value = &out->values[count - (source == last)];
		uint64_t *weight = &out->weights[count - (source == last)];
		double sum = out->values[i] * (double)out->weights[i];
		uint64_t all = out->weights[i];

		if (source == last) {
			sum += *value * (double)*weight;
			all += *weight;
		}
		*value = sum / (double)all;
		*weight = all;
		count += source != last;
		last = source;
	}
	out->count = count;
}

/* Collects the rows from `first` to before `end` that have a value in the column. */
static void gather(struct sorted *side, const uint64_t *weights, size_t first, size_t end)
{
	struct opk_compared_values *out = &side->of_group;

	out->count = 0;
	for (size_t i = first; i < end; i++) {
		size_t row = side->rows[i];

		if (!side->present[row])
			continue;
		side->present_rows[out->count] = row;
		out->values[out->count] = side->values[row];
		out->weights[out->count++] = weights[row];
	}
}

/* Multiplies the values of the side before by the factor. */
static bool compare_group(struct opk_diff_value *out, const struct opk_diff *diff,
                          struct sorted *sides, size_t group, double factor)
{
	struct opk_compared_values of_group[OPK_SIDES];

	for (int i = 0; i < OPK_SIDES; i++) {
		struct sorted *side = &sides[i];

		gather(side, diff->weights[i].items, side->starts[group], side->starts[group + 1]);
		for (size_t j = 0; i == OPK_BEFORE && j < side->of_group.count; j++)
			side->of_group.values[j] *= factor;
		of_group[i] = side->of_group;
		of_group[i].mixed = diff->about.items[group].mixed;
		if (of_group[i].mixed)
			join_sources(&of_group[i], diff, (enum opk_compared_side)i,
			             side->present_rows);
	}
	return opk_compare_values(out, of_group);
}

/* ---- code ------------------------------------------------------------------------------- */

/* What the rows of a group count in each source. */
static void add_up(struct sorted *of, const struct opk_diff *diff, enum opk_compared_side side,
                   size_t group)
{
	memset(of->counts, 0, diff->source_count * sizeof *of->counts);
	memset(of->exposures, 0, diff->source_count * sizeof *of->exposures);
	for (size_t i = of->starts[group]; i < of->starts[group + 1]; i++) {
		size_t row = of->rows[i], source = source_of(diff, side, row);

		if (!of->present[row])
			continue;
		of->counts[source] += of->values[row];
		of->exposures[source] += (double)diff->weights[side].items[row];
	}
}

/* What samples are of: a function that ran in a recording may have no sample of the row there. */
static double exposure_of_samples(const struct opk_diff *diff, size_t group,
                                  const struct opk_compared_source *source, size_t column)
{
	size_t function = diff->about.items[group].function;

	return source->measured[column] ? opk_compared_exposure(diff, source, function) : 0;
}

static struct opk_counted count_group(struct sorted *of, const struct opk_diff *diff,
                                      enum opk_compared_side side, size_t group, size_t column)
{
	enum opk_count_kind kind = opk_compared_kind(diff, column);
	struct opk_counted counted = { of->counts, of->exposures, 0 };

	add_up(of, diff, side, group);
	for (size_t i = 0; i < diff->source_count; i++) {
		double exposure = of->exposures[i], weight = 1;

		if (diff->sources[i].side != side)
			continue;
		if (kind == OPK_SAMPLED)
			exposure = exposure_of_samples(diff, group, &diff->sources[i], column);
		if (!(exposure > 0))
			continue;
		/* As if all were of the longest interval: never more than were taken. */
		if (kind == OPK_SAMPLED)
			weight = diff->sources[i].most_weight;
		of->exposures[counted.count] = exposure / weight;
		of->counts[counted.count++] = of->counts[i] / weight;
	}
	return counted;
}

/* By how much recordings of a side differ is seen in all rows together. */
static struct opk_dispersion find_dispersion(const struct opk_diff *diff, struct sorted *sides,
                                             size_t column)
{
	struct opk_dispersion dispersion = { 0 };

	for (size_t i = 0; i < diff->groups.count; i++)
		for (int side = 0; side < OPK_SIDES; side++) {
			struct opk_counted counted = count_group(&sides[side], diff,
			                                         (enum opk_compared_side)side, i,
			                                         column);

			opk_dispersion_add(&dispersion, &counted);
		}
	return dispersion;
}

static void compare_code(struct opk_diff *diff, struct sorted *sides, const size_t *places,
                         size_t column)
{
	enum opk_count_kind kind = opk_compared_kind(diff, column);
	struct opk_dispersion dispersion = { 0 };

	if (kind == OPK_SAMPLED)
		dispersion = find_dispersion(diff, sides, column);
	for (size_t i = 0; i < diff->groups.count; i++) {
		struct opk_counted of_group[OPK_SIDES] = {
			count_group(&sides[OPK_BEFORE], diff, OPK_BEFORE, i, column),
			count_group(&sides[OPK_AFTER], diff, OPK_AFTER, i, column),
		};

		opk_compare_counts(&diff->compared[places[i] * diff->columns.count + column],
		                   of_group, kind == OPK_SAMPLED ? &dispersion : NULL);
		diff->beyond_clock[places[i] * diff->columns.count + column] = (double)NAN;
	}
}

/* ---- of one column ---------------------------------------------------------------------- */

/* Reads one column at a time: all of them may not fit into memory. */
static int read_column(struct sorted *sides, struct opk_diff *diff, struct opk_ctx *ctx,
                       size_t column)
{
	for (int i = 0; i < OPK_SIDES; i++)
		TRY(opk_column_file_read(sides[i].values, sides[i].present, &diff->values[i], ctx,
		                         column));
	return OPK_OK;
}

static int compare_column(struct opk_diff *diff, struct opk_ctx *ctx, struct sorted *sides,
                          const size_t *places, size_t column)
{
	TRY(read_column(sides, diff, ctx, column));
	if (opk_compared_kind(diff, column) != OPK_COUNT_KINDS) {
		compare_code(diff, sides, places, column);
		return OPK_OK;
	}
	for (size_t i = 0; i < diff->groups.count; i++) {
		size_t at = places[i] * diff->columns.count + column;

		diff->beyond_clock[at] = (double)NAN;
		if (!compare_group(&diff->compared[at], diff, sides, i, 1))
			return fail_nomem(ctx);
	}
	return OPK_OK;
}

/* ---- by the clock ----------------------------------------------------------------------- */

bool opk_compared_has_both(const struct opk_diff *diff, size_t column)
{
	for (size_t i = 0; i < diff->found.row_count; i++)
		if (!isnan(diff->found.rows[i].values[column].change))
			return true;
	return false;
}

/* The clock counted in the launches themselves, else the clock that NVML reported. */
static size_t find_clock(const struct opk_diff *diff)
{
	size_t mhz = 0;

	for (size_t i = 0; i < diff->columns.count; i++)
		if (opk_metric_is_sm_clock(diff->columns.items[i].name)
		    && opk_compared_has_both(diff, i))
			return i;
	opk_index_find(&mhz, &diff->numbers, opk_compared_mhz);
	return opk_compared_has_both(diff, mhz) ? mhz : SIZE_MAX;
}

/* Compares again as if the clock before had been the clock afterwards. */
static int take_out_clock(struct opk_diff *diff, struct opk_ctx *ctx, struct sorted *sides,
                          size_t group, size_t place, size_t column)
{
	struct opk_diff_value *row = &diff->compared[place * diff->columns.count];
	const struct opk_diff_value *clock = &row[diff->clock];
	int degree = diff->columns.items[column].traits.clock;
	double factor = pow(clock->after.value / clock->before.value, degree);
	struct opk_diff_value beyond;

	if (isnan(row[column].change) || !isfinite(factor))
		return OPK_OK;
	row[column].clock = 100 * (factor - 1);
	if (!compare_group(&beyond, diff, sides, group, factor))
		return fail_nomem(ctx);
	diff->beyond_clock[place * diff->columns.count + column] =
		beyond.verdict == OPK_VERDICT_SAME ? 1 : beyond.p;
	return OPK_OK;
}

static bool depends_on_clock(const struct opk_compared_column *column)
{
	const struct opk_traits *traits = &column->traits;

	return traits->clock && traits->clock != OPK_NO_DEGREE && !traits->of_gpu;
}

static int take_out_clock_of_all(struct opk_diff *diff, struct opk_ctx *ctx, struct sorted *sides,
                                 const size_t *places)
{
	diff->clock = find_clock(diff);
	if (diff->clock == SIZE_MAX)
		return OPK_OK;
	for (size_t i = 0; i < diff->columns.count; i++) {
		if (!depends_on_clock(&diff->columns.items[i]))
			continue;
		TRY(read_column(sides, diff, ctx, i));
		for (size_t j = 0; j < diff->groups.count; j++)
			TRY(take_out_clock(diff, ctx, sides, j, places[j], i));
	}
	return OPK_OK;
}

/* ---- of all rows ------------------------------------------------------------------------ */

static int add_peak(struct opk_diff *diff, struct opk_ctx *ctx, struct sorted *sides, size_t column)
{
	const struct opk_compared_column *of = &diff->columns.items[column];
	struct opk_compared_values all[OPK_SIDES];
	struct opk_diff_value value;

	TRY(read_column(sides, diff, ctx, column));
	for (int i = 0; i < OPK_SIDES; i++) {
		gather(&sides[i], diff->weights[i].items, 0, diff->group_of[i].count);
		all[i] = sides[i].of_group;
	}
	if (!opk_compare_values(&value, all))
		return fail_nomem(ctx);
	diff->peaks[diff->found.summary.peak_count++] = (struct opk_diff_peak){
		.name = of->name,
		.unit = of->unit,
		.before = value.before,
		.after = value.after,
		.change = value.change,
	};
	return OPK_OK;
}

/* The clock by which changes are divided comes first. */
static int find_peaks(struct opk_diff *diff, struct opk_ctx *ctx, struct sorted *sides)
{
	diff->peaks = opk_alloc_array(diff->columns.count + 1, sizeof *diff->peaks);
	if (!diff->peaks)
		return fail_nomem(ctx);
	diff->found.summary.peaks = diff->peaks;
	if (diff->clock != SIZE_MAX)
		TRY(add_peak(diff, ctx, sides, diff->clock));
	for (size_t i = 0; i < diff->columns.count; i++) {
		if (diff->columns.items[i].is_peak && i != diff->clock)
			TRY(add_peak(diff, ctx, sides, i));
	}
	return OPK_OK;
}

/* ---- all of them ------------------------------------------------------------------------ */

static bool has_any(const struct opk_diff *diff, size_t column)
{
	for (size_t i = 0; i < diff->groups.count; i++)
		if (diff->found.rows[i].values[column].before.count
		    || diff->found.rows[i].values[column].after.count)
			return true;
	return false;
}

/* Hides the column of times if no row has a time, and usual metrics of code that are missing. */
static void hide_columns(struct opk_diff *diff)
{
	OPK_OPTIONS(opk_eval_options, eval, diff->options.eval);
	size_t duration = 0;

	opk_index_find(&duration, &diff->numbers, opk_compared_duration);
	diff->columns.items[duration].shown = has_any(diff, duration);
	for (size_t i = 0; opk_compared_is_code(diff) && !eval.metrics && i < diff->columns.count;
	     i++)
		diff->columns.items[i].shown &= has_any(diff, i);
}

int opk_compare_columns(struct opk_diff *diff, struct opk_ctx *ctx, const size_t *places)
{
	struct sorted sides[OPK_SIDES] = { { 0 } };
	int code = OPK_OK;

	for (int side = 0; !code && side < OPK_SIDES; side++)
		code = sort_rows(&sides[side], ctx, diff, (enum opk_compared_side)side);
	for (size_t i = 0; !code && i < diff->columns.count; i++)
		code = compare_column(diff, ctx, sides, places, i);
	if (!code)
		code = take_out_clock_of_all(diff, ctx, sides, places);
	if (!code)
		code = find_peaks(diff, ctx, sides);
	for (int side = 0; side < OPK_SIDES; side++)
		clear_sorted(&sides[side]);
	if (!code)
		hide_columns(diff);
	return code;
}
