/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the facts that become columns: those that rows have, in the order of tables. */
#include <string.h>

#include "table/table_inside.h"

/* Facts that are columns by default if some range has them; others are only on request. */
static const bool basic[OPK_FACT_COUNT] = {
	[OPK_FACT_NVTX] = true,
	[OPK_FACT_RANK] = true,
	[OPK_FACT_SUMMED] = true,
	[OPK_FACT_DURATION] = true,
};

/* Rank 0 is a value; for other numbers 0 means nothing to show. */
static bool has_something(enum opk_fact fact, const struct opk_row *row)
{
	struct opk_fact_text text;
	union opk_cell cell = opk_fact_get(&text, fact, row);

	if (opk_fact_column(fact, OPK_PROFILER_RANGE)->type == OPK_CELL_STRING)
		return cell.string && *cell.string;
	return cell.optional.known && (cell.optional.uint || fact == OPK_FACT_RANK);
}

void opk_facts_find(bool found[OPK_FACT_COUNT], const struct opk_range *ranges, size_t count,
                    bool all)
{
	for (size_t i = 0; i < count; i++) {
		const struct opk_row row = { .name = "", .range = &ranges[i] };

		found[OPK_FACT_KERNEL] |= *ranges[i].kernel;
		found[OPK_FACT_DEVICE] |= ranges[i].device > 0;
		for (enum opk_fact fact = OPK_FACT_LAUNCH; fact <= OPK_FACT_DURATION; fact++)
			if (!found[fact] && (all || basic[fact]))
				found[fact] = has_something(fact, &row);
	}
	found[OPK_FACT_GRID] = found[OPK_FACT_BLOCK] = found[OPK_FACT_KERNEL];
	found[OPK_FACT_DEVICE] |= found[OPK_FACT_KERNEL];
}

void opk_facts_find_ran(bool found[OPK_FACT_COUNT], const struct opk_range *ranges, size_t count,
                        bool all)
{
	if (all)
		opk_facts_find(found, ranges, count, true);
	for (size_t i = 0; i < count; i++) {
		found[OPK_FACT_DEVICE] |= ranges[i].device > 0;
		found[OPK_FACT_HOST] |= strcmp(ranges[i].host, ranges->host) != 0
		                        && *ranges[i].host;
		found[OPK_FACT_RANK] |= ranges[i].rank >= 0;
		found[OPK_FACT_NVTX] |= *ranges[i].nvtx != '\0';
	}
}

int opk_facts_find_recorded(bool found[OPK_FACT_COUNT], struct opk_ctx *ctx, struct opk_file *file,
                            bool all)
{
	const struct opk_meta *meta;
	const struct opk_range *ranges;
	const struct opk_time *times;
	const struct opk_segment *segments;
	size_t range_count, time_count, segment_count;

	TRY(opk_file_meta(&meta, ctx, file));
	TRY(opk_file_ranges(&ranges, &range_count, ctx, file));
	TRY(opk_file_times(&times, &time_count, ctx, file));
	TRY(opk_file_segments(&segments, &segment_count, ctx, file));
	for (size_t i = 0; i < time_count; i++)
		found[OPK_FACT_DEVICE] |= times[i].device > 0;
	if (meta->profiler == OPK_PROFILER_RANGE)
		opk_facts_find(found, ranges, range_count, all);
	for (size_t i = 0; i < segment_count; i++)
		found[OPK_FACT_RANK] |= meta->profiler == OPK_PROFILER_PM && segments[i].rank >= 0
		                        && !segments[i].ranges;
	for (size_t i = 0; meta->profiler == OPK_PROFILER_PM && i < range_count; i++)
		found[OPK_FACT_RANK] |= ranges[i].rank >= 0;
	for (size_t i = 0; i < range_count; i++)
		found[OPK_FACT_HOST] |= strcmp(ranges[i].host, ranges->host) != 0;
	return OPK_OK;
}

/* ---- their order */

bool opk_fact_precedes_file(enum opk_fact fact)
{
	return fact == OPK_FACT_NAME || fact == OPK_FACT_SAMPLE_END || fact == OPK_FACT_KIND
	       || fact == OPK_FACT_FUNCTION;
}

static bool is_shown(const struct opk_facts_options *options, enum opk_fact fact)
{
	switch (fact) {
	case OPK_FACT_SAMPLE:
		return !options->found[OPK_FACT_BINNED];
	case OPK_FACT_SAMPLE_START:
	case OPK_FACT_SAMPLE_END:
	case OPK_FACT_RANGE:
	case OPK_FACT_NAME:
		return true;
	case OPK_FACT_SPANS_EARLIER:
		return options->spans_earlier;
	case OPK_FACT_LAUNCHES:
	case OPK_FACT_LAUNCHES_MIN:
		return options->joined;
	default:
		return options->found[fact];
	}
}

/* Whether the rows of what ran may have the fact. */
static bool is_known_of_ran(const struct opk_facts_options *options, enum opk_fact fact)
{
	switch (fact) {
	case OPK_FACT_GRAPH_NODE:
	case OPK_FACT_LATENCY:
	case OPK_FACT_GAP:
	case OPK_FACT_HOST_GAP:
		return options->found[fact];
	case OPK_FACT_SAMPLES:
	case OPK_FACT_SAMPLES_ALONE:
		return options->sampled;
	default:
		return true;
	}
}

/* Columns of what ran: launches and times of kernels; when and where for launches. */
static size_t list_ran(enum opk_fact *facts, const struct opk_facts_options *options)
{
	static const struct {
		enum opk_fact fact;
		bool of_kernels, of_launches;
	} order[] = {
		{ OPK_FACT_KERNEL, true, true },    { OPK_FACT_KIND, true, true },
		{ OPK_FACT_STREAM, false, true },   { OPK_FACT_GRAPH_NODE, true, true },
		{ OPK_FACT_START, false, true },    { OPK_FACT_END, false, true },
		{ OPK_FACT_LAUNCHES, true, false }, { OPK_FACT_TIME, true, false },
		{ OPK_FACT_DURATION, true, true },  { OPK_FACT_LEAST, true, false },
		{ OPK_FACT_MOST, true, false },     { OPK_FACT_SHARED, true, true },
		{ OPK_FACT_LATENCY, true, true },   { OPK_FACT_GAP, true, true },
		{ OPK_FACT_HOST_GAP, true, true },  { OPK_FACT_BYTES, false, true },
		{ OPK_FACT_SAMPLES, true, true },   { OPK_FACT_SAMPLES_ALONE, true, true },
	};
	bool kernels = options->rows == OPK_ROWS_KERNELS;
	size_t count = 0;

	for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
		if ((kernels ? order[i].of_kernels : order[i].of_launches)
		    && is_known_of_ran(options, order[i].fact))
			facts[count++] = order[i].fact;
		for (enum opk_fact fact = OPK_FACT_SYMBOL; !i && fact <= OPK_FACT_GPU; fact++)
			if (options->found[fact] && fact != OPK_FACT_STREAM)
				facts[count++] = fact;
	}
	return count;
}

/* Columns of code, the place first. */
static size_t list_code(enum opk_fact *facts, enum opk_rows rows)
{
	static const enum opk_fact order[] = {
		OPK_FACT_MODULE,     OPK_FACT_FUNCTION,  OPK_FACT_SYMBOL,   OPK_FACT_OFFSET,
		OPK_FACT_OPCODE,     OPK_FACT_SASS,      OPK_FACT_SOURCE,   OPK_FACT_LINE,
		OPK_FACT_INLINED_AT, OPK_FACT_ADDRESSES, OPK_FACT_LAUNCHES,
	};
	const bool left_out[OPK_FACT_COUNT] = {
		[OPK_FACT_MODULE] = rows == OPK_ROWS_LINES,
		[OPK_FACT_SYMBOL] = rows == OPK_ROWS_LINES,
		[OPK_FACT_OFFSET] = rows != OPK_ROWS_INSTRUCTIONS,
		[OPK_FACT_OPCODE] = rows != OPK_ROWS_INSTRUCTIONS,
		[OPK_FACT_SASS] = rows != OPK_ROWS_INSTRUCTIONS,
		[OPK_FACT_SOURCE] = rows == OPK_ROWS_FUNCTIONS,
		[OPK_FACT_LINE] = rows == OPK_ROWS_FUNCTIONS,
		[OPK_FACT_INLINED_AT] = rows != OPK_ROWS_INSTRUCTIONS,
		[OPK_FACT_ADDRESSES] = rows == OPK_ROWS_INSTRUCTIONS,
	};
	size_t count = 0;

	for (size_t i = 0; i < sizeof order / sizeof *order; i++)
		if (!left_out[order[i]])
			facts[count++] = order[i];
	return count;
}

size_t opk_facts_list(enum opk_fact facts[OPK_FACT_COUNT], const struct opk_facts_options *options)
{
	size_t count = 0;

	if (options->rows == OPK_ROWS_KERNELS || options->rows == OPK_ROWS_LAUNCHES)
		return list_ran(facts, options);
	if (options->rows >= OPK_ROWS_INSTRUCTIONS)
		return list_code(facts, options->rows);
	for (enum opk_fact fact = 0; fact < OPK_FACT_COUNT; fact++)
		if (opk_fact_column(fact, options->profiler) && is_shown(options, fact))
			facts[count++] = fact;
	return count;
}
