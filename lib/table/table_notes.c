/* SPDX-License-Identifier: BSD-2-Clause */
/* Notes on a table's files, key groups and rows. */
#include <inttypes.h>
#include <string.h>

#include "images/door.h"
#include "images/images.h"
#include "table/table_inside.h"

/* ---- files */

static void note_state(const struct opk_table *table, struct opk_ctx *ctx,
                       const struct opk_table_file *input)
{
	const char *own = opk_profiler_name(input->meta->profiler);
	const struct opk_set *set = table->set;

	/* Metrics that the set has only for another profiler are left out without an error. */
	if (set && opk_set_has_profiler(set) && opk_set_profiler(set) != input->meta->profiler
	    && !(opk_table_is_code(input) && opk_profiler_is_code(opk_set_profiler(set))))
		opk_log(ctx,
		        "%s: of profiler %s, and set %s is for %s: only its metrics for %s are evaluated",
		        input->path, own, opk_set_name(set),
		        opk_profiler_name(opk_set_profiler(set)), own);
	if (!opk_file_complete(input->file))
		opk_log(ctx, "%s: cut off: these are the %s of its %zu whole sections", input->path,
		        opk_table_is_timeline(input) ? "records" : "ranges",
		        opk_file_section_count(input->file));
}

/* `earlier`: how many samples begin before sampling began. */
static void note_samples(const struct opk_table *table, struct opk_ctx *ctx,
                         const struct opk_table_file *input, uint64_t earlier)
{
	uint64_t incomplete = opk_evaluation_incomplete_samples(input->evaluation);
	const struct opk_table_options *options = &table->options;

	if (incomplete)
		opk_log(ctx, "%s: %" PRIu64 " sample%s begun but not completed; left out",
		        input->path, incomplete, incomplete == 1 ? " was" : "s were");
	if (!earlier || table->inside.mark_first_sample || table->inside.drop_first_sample)
		return;
	opk_log(ctx,
	        "%s: %" PRIu64 " sample%s at an earlier event, so that times and values span more "
	        "than an interval; %s",
	        input->path, earlier, earlier == 1 ? " begins" : "s begin",
	        options->keep_first_sample ? "kept" : "left out unless the first sample is kept");
}

/* ---- key groups */

/* Notes that grouping had no effect. */
static void note_undivided(struct opk_ctx *ctx, const struct opk_table_file *input, const char *key)
{
	const struct opk_range *range;

	if (opk_aggregate_count(input->aggregate) != 1)
		return;
	range = &opk_aggregate_get(input->aggregate, 0)->range;
	if ((!strcmp(key, "nvtx") && !*range->nvtx) || (!strcmp(key, "rank") && range->rank < 0)
	    || (!strcmp(key, "kernel") && !*range->kernel)
	    || (!strcmp(key, "device") && range->device < 0 && !(range->gpu && *range->gpu)))
		opk_log(ctx, "%s: no %s is recorded of its %s: they are one group", input->path,
		        key, input->meta->profiler == OPK_PROFILER_PM ? "samples" : "ranges");
}

/* A row that is a sum keeps only the total and mean of its ranges. */
static void note_summed(struct opk_ctx *ctx, const struct opk_table_file *input)
{
	size_t groups = opk_aggregate_count(input->aggregate), count = 0;

	for (size_t i = 0; i < groups; i++)
		count += opk_aggregate_get(input->aggregate, i)->summed;
	if (count)
		opk_log(ctx,
		        "%s: %zu of %zu key groups have rows that are sums of ranges: min, max and "
		        "percentiles, which are over single ranges, are nan",
		        input->path, count, groups);
}

/* If launches of different kernels have one pass each, each pass has another mix of kernels. */
static void note_mixed(struct opk_ctx *ctx, const struct opk_table_file *input)
{
	size_t groups = opk_aggregate_count(input->aggregate), count = 0;

	if (strcmp(input->meta->join, "kernel") != 0)
		return;
	for (size_t i = 0; i < groups; i++) {
		const struct opk_range *range = &opk_aggregate_get(input->aggregate, i)->range;

		count += !*range->kernel || !range->grid[0];
	}
	if (count)
		opk_log(ctx,
		        "%s: %zu of %zu key groups have launches of different kernels or shapes, "
		        "each of one pass: ratios of counters of different passes are of different "
		        "launches; the key kernel,shape keeps them apart",
		        input->path, count, groups);
}

/* Counts the columns for which `is` holds in some group, and finds the first one. */
static size_t count_weighted(const struct opk_table_file *input,
                             bool (*is)(const struct opk_statistics *of),
                             const struct opk_statistics **first, size_t *column)
{
	size_t groups = opk_aggregate_count(input->aggregate), count = 0;

	for (size_t i = opk_evaluation_column_count(input->evaluation); i-- > 0;) {
		size_t j = 0;

		while (j < groups && !is(&opk_aggregate_get(input->aggregate, j)->columns[i]))
			j++;
		if (j == groups)
			continue;
		count++;
		*first = &opk_aggregate_get(input->aggregate, j)->columns[i];
		*column = i;
	}
	return count;
}

static bool has_kind(const struct opk_table *table, enum opk_table_kind kind)
{
	for (size_t i = 0; i < table->column_count; i++)
		if (table->columns[i].kind == kind)
			return true;
	return false;
}

/* Explains means of ratios if the column that says so was not chosen. */
static void note_ratios(const struct opk_table *table, struct opk_ctx *ctx,
                        const struct opk_table_file *input)
{
	const struct opk_statistics *first;
	size_t column = 0, count;

	if (!has_kind(table, OPK_TABLE_MEAN) || has_kind(table, OPK_TABLE_WEIGHTED))
		return;
	count = count_weighted(input, opk_is_ratio_of_sums, &first, &column);
	if (count)
		opk_log(ctx,
		        "%s: the mean of %zu of %zu metrics, such as %s, is the ratio of all %s "
		        "together, in which each weighs as much as its denominator: the column "
		        "weighted_by says which",
		        input->path, count, opk_evaluation_column_count(input->evaluation),
		        opk_evaluation_column(input->evaluation, column),
		        input->meta->profiler == OPK_PROFILER_PM ? "samples" : "ranges");
}

/* Notes that a group has several GPUs, and which of its means are not exact. */
static void note_gpus(struct opk_ctx *ctx, const struct opk_table_file *input)
{
	const struct opk_statistics *first;
	size_t most = 0, column = 0, weighted;

	for (size_t i = 0; i < opk_aggregate_count(input->aggregate); i++)
		if (opk_aggregate_get(input->aggregate, i)->gpus > most)
			most = opk_aggregate_get(input->aggregate, i)->gpus;
	if (most < 2)
		return;
	opk_log(ctx,
	        "%s: key groups have ranges of up to %zu GPUs, or of images that can't be summed, "
	        "and their values are put together; device in the key keeps GPUs apart",
	        input->path, most);
	weighted = count_weighted(input, opk_is_approximate, &first, &column);
	if (weighted)
		opk_log(ctx,
		        "%s: %zu of %zu metrics, such as %s, can't be computed of several GPUs: "
		        "their means are weighted by %s, as the column weighted_by says",
		        input->path, weighted, opk_evaluation_column_count(input->evaluation),
		        opk_evaluation_column(input->evaluation, column), first->weighted_by);
}

void opk_table_note_files(const struct opk_table *table, struct opk_ctx *ctx)
{
	for (size_t i = 0; i < table->input_count; i++)
		if (table->inputs[i].file)
			note_state(table, ctx, &table->inputs[i]);
	for (size_t i = 0; table->layout == OPK_TABLE_GROUPS && i < table->input_count; i++) {
		const struct opk_table_file *input = &table->inputs[i];

		note_samples(table, ctx, input, opk_aggregate_left_out(input->aggregate));
		note_undivided(ctx, input, table->options.aggregate);
		note_summed(ctx, input);
		note_mixed(ctx, input);
		note_gpus(ctx, input);
		note_ratios(table, ctx, input);
	}
}

/* ---- rows */

/* Names inflated metrics; a long table has a column for them. */
static void note_inflated(struct opk_ctx *ctx, const struct opk_table_file *input)
{
	size_t total = opk_evaluation_column_count(input->evaluation), count = 0, named = 0;
	const char *names[3] = { "", "", "" };

	for (size_t i = 0; input->inflated && i < total; i++) {
		if (!input->inflated[i])
			continue;
		if (named < 3)
			names[named++] = opk_evaluation_column(input->evaluation, i);
		count++;
	}
	if (count)
		opk_log(ctx,
		        "%s: %zu of %zu metrics count idle time around short kernels as it was "
		        "collected: %s%s%s%s%s%s; kernel replay does not",
		        input->path, count, total, names[0], named > 1 ? ", " : "", names[1],
		        named > 2 ? ", " : "", names[2], count > 3 ? "..." : "");
}

/* Notes kernels with too little data in samples. */
static void note_unknown(const struct opk_table *table)
{
	if (table->unknown_count)
		opk_log(table->ctx,
		        "%zu of %zu %s ran for less than a sample, or too few samples tell %s "
		        "apart (samples_alone): nan; recording with a shorter interval shows more",
		        table->unknown_count, table->seen_count,
		        table->inputs->rows == OPK_ROWS_KERNELS ? "kernels" : "launches",
		        table->unknown_count == 1 ? "it" : "them");
}

/* Says where values of short kernels are from. */
static void note_fitted(const struct opk_table *table)
{
	if (table->fitted_count)
		opk_log(table->ctx,
		        "values of %zu of %zu kernels, whose launches take few samples or less, are "
		        "from all of their launches together; METRIC:within says how far off each "
		        "may be, in 95 of 100 cases",
		        table->fitted_count, table->seen_count);
}

/*
 * Says which values are less certain than they look: what short launches count in a sample also
 * goes to the others in it, which is much beside a count that is small.
 */
static void note_divided(const struct opk_table *table)
{
	bool is_kernels = table->inputs->rows == OPK_ROWS_KERNELS;

	if (table->divided_count)
		opk_log(table->ctx,
		        "values of %zu of %zu %s are from divided samples: how far off they are is not "
		        "known, and a small count may be mostly from short launches in the same samples",
		        table->divided_count, table->seen_count,
		        is_kernels ? "kernels, where METRIC:within is nan, and of (idle)"
		                   : "launches");
}

/* Says how values of samples differ from replay's. */
static void note_instructions(const struct opk_table *table)
{
	const struct opk_evaluation *evaluation = table->inputs->evaluation;

	if (!table->fitted_count)
		return;
	for (size_t i = 0; i < opk_evaluation_metric_count(evaluation); i++) {
		const char *name = opk_evaluation_metric(evaluation, i);

		if (!strstr(name, "__inst_executed."))
			continue;
		opk_log(table->ctx,
		        "%s: samples count 8 instructions more for each warp than kernel replay",
		        name);
		return;
	}
}

/* Says why columns about calls that were asked for are empty. */
static void note_calls(const struct opk_table *table)
{
	for (size_t i = 0; table->seen_count && !table->called_count && i < table->column_count;
	     i++) {
		const struct opk_table_column *column = &table->columns[i];

		if (column->kind != OPK_TABLE_FACT
		    || (column->fact != OPK_FACT_LATENCY && column->fact != OPK_FACT_GAP
		        && column->fact != OPK_FACT_HOST_GAP))
			continue;
		opk_log(table->ctx, "%s is empty: no calls of CUDA are recorded for these %s",
		        column->header.name,
		        table->inputs->rows == OPK_ROWS_KERNELS ? "kernels" : "launches");
		return;
	}
}

static void note_drift(struct opk_ctx *ctx, const char *path, const char *clock,
                       const struct opk_clock_span *span)
{
	if (span->drifted)
		opk_log(ctx,
		        "%s: the %s clock was between %u and %u MHz, so that times and rates "
		        "differ for that alone; the columns sm_mhz and memory_mhz show it for "
		        "each launch",
		        path, clock, span->least, span->most);
}

static void note_clocks(struct opk_ctx *ctx, const struct opk_table_file *input)
{
	const struct opk_range *ranges;
	struct opk_clocks clocks;
	size_t count;

	if (!input->file)
		return;
	/* Failing to make a note is not an error. */
	if (opk_file_ranges(&ranges, &count, ctx, input->file)) {
		opk_clear_errors(ctx);
		return;
	}
	opk_clocks_find(&clocks, ranges, count);
	note_drift(ctx, input->path, "SM", &clocks.sm);
	note_drift(ctx, input->path, "memory", &clocks.memory);
}

static void note_read(const struct opk_table *table, size_t file)
{
	const struct opk_table_file *input = &table->inputs[file];
	struct opk_ctx *ctx = table->ctx;

	if (!input->has_rows && file < table->input && table->found && !table->where.count)
		opk_log(ctx, "%s: there are no rows", input->path);
	if (!opk_evaluation_is_joined(input->evaluation))
		note_samples(table, ctx, input, table->inputs[file].spans_earlier);
	else if (opk_evaluation_left_out(input->evaluation))
		opk_log(ctx,
		        "%s: cut off: %" PRIu64 " of its images are left out, for nothing says "
		        "what their ranges are",
		        input->path, opk_evaluation_left_out(input->evaluation));
	if (opk_table_is_wide(table))
		note_inflated(ctx, input);
}

void opk_table_note_rows(struct opk_table *table)
{
	bool groups = table->layout == OPK_TABLE_GROUPS;

	if (table->noted || !table->ctx->log)
		return;
	table->noted = true;
	for (size_t i = 0; !groups && i < table->input_count; i++)
		note_read(table, i);
	note_unknown(table);
	note_fitted(table);
	note_instructions(table);
	note_divided(table);
	note_calls(table);
	if (!table->found)
		opk_table_note_none(table);
	if (table->layout != OPK_TABLE_LONG)
		opk_table_note_nan(table);
	for (size_t i = 0; i < table->input_count; i++)
		if (table->inputs[i].rows != OPK_ROWS_TABLES && !opk_table_is_resampled(table))
			note_clocks(table->ctx, &table->inputs[i]);
}
