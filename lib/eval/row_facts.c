/* SPDX-License-Identifier: BSD-2-Clause */
/* The facts of rows: one list for tables, filters and databases. */
#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "base/metric.h"
#include "base/sum.h"
#include "eval/door.h"

/*
 * Rows of code are of the profiler sass, also those of samples. They add up what all processes and
 * GPUs counted, and therefore have neither.
 */
enum { OF_RANGES = 1, OF_SAMPLES = 2, OF_CODE = 4 };

static const struct {
	struct opk_column column;
	int of;
} facts[OPK_FACT_COUNT] = {
	[OPK_FACT_SAMPLE] = { { "sample", OPK_CELL_UINT }, OF_SAMPLES },
	[OPK_FACT_SAMPLE_START] = { { "start_ns", OPK_CELL_UINT }, OF_SAMPLES },
	[OPK_FACT_SAMPLE_END] = { { "end_ns", OPK_CELL_UINT }, OF_SAMPLES },
	[OPK_FACT_BINNED] = { { "samples", OPK_CELL_UINT }, OF_SAMPLES },
	[OPK_FACT_COVERED] = { { "covered_ns", OPK_CELL_UINT }, OF_SAMPLES },
	[OPK_FACT_SPANS_EARLIER] = { { "spans_earlier", OPK_CELL_BOOL }, OF_SAMPLES },
	[OPK_FACT_RANGE] = { { "range", OPK_CELL_UINT }, OF_RANGES | OF_CODE },
	[OPK_FACT_NAME] = { { "name", OPK_CELL_STRING }, OF_RANGES | OF_CODE },
	[OPK_FACT_KERNEL] = { { "kernel", OPK_CELL_STRING }, OF_RANGES | OF_CODE },
	[OPK_FACT_SYMBOL] = { { "symbol", OPK_CELL_STRING }, OF_RANGES | OF_CODE },
	[OPK_FACT_GRID] = { { "grid", OPK_CELL_STRING }, OF_RANGES },
	[OPK_FACT_BLOCK] = { { "block", OPK_CELL_STRING }, OF_RANGES },
	[OPK_FACT_GRID_X] = { { "grid_x", OPK_CELL_OPTIONAL }, OF_RANGES },
	[OPK_FACT_GRID_Y] = { { "grid_y", OPK_CELL_OPTIONAL }, OF_RANGES },
	[OPK_FACT_GRID_Z] = { { "grid_z", OPK_CELL_OPTIONAL }, OF_RANGES },
	[OPK_FACT_BLOCK_X] = { { "block_x", OPK_CELL_OPTIONAL }, OF_RANGES },
	[OPK_FACT_BLOCK_Y] = { { "block_y", OPK_CELL_OPTIONAL }, OF_RANGES },
	[OPK_FACT_BLOCK_Z] = { { "block_z", OPK_CELL_OPTIONAL }, OF_RANGES },
	[OPK_FACT_DEVICE] = { { "device", OPK_CELL_OPTIONAL }, OF_RANGES | OF_SAMPLES },
	[OPK_FACT_LAUNCH] = { { "launch", OPK_CELL_OPTIONAL }, OF_RANGES },
	[OPK_FACT_SHARED_BYTES] = { { "shared_bytes", OPK_CELL_OPTIONAL }, OF_RANGES },
	[OPK_FACT_REGISTERS] = { { "registers", OPK_CELL_OPTIONAL }, OF_RANGES },
	[OPK_FACT_STREAM] = { { "stream", OPK_CELL_OPTIONAL }, OF_RANGES },
	[OPK_FACT_CONTEXT] = { { "context", OPK_CELL_OPTIONAL }, OF_RANGES },
	[OPK_FACT_NVTX] = { { "nvtx", OPK_CELL_STRING }, OF_RANGES },
	[OPK_FACT_PROCESS] = { { "process", OPK_CELL_OPTIONAL }, OF_RANGES },
	[OPK_FACT_RANK] = { { "rank", OPK_CELL_OPTIONAL }, OF_RANGES | OF_SAMPLES },
	[OPK_FACT_HOST] = { { "host", OPK_CELL_STRING }, OF_RANGES | OF_SAMPLES },
	[OPK_FACT_GPU] = { { "gpu", OPK_CELL_STRING }, OF_RANGES | OF_SAMPLES },
	[OPK_FACT_SM_MHZ] = { { "sm_mhz", OPK_CELL_OPTIONAL }, OF_RANGES },
	[OPK_FACT_MEMORY_MHZ] = { { "memory_mhz", OPK_CELL_OPTIONAL }, OF_RANGES },
	[OPK_FACT_START] = { { "start_ns", OPK_CELL_OPTIONAL }, OF_RANGES },
	[OPK_FACT_SUMMED] = { { "count", OPK_CELL_OPTIONAL }, OF_RANGES },
	[OPK_FACT_DURATION] = { { "duration_ns", OPK_CELL_OPTIONAL }, OF_RANGES },
	[OPK_FACT_LAUNCHES] = { { "launches", OPK_CELL_OPTIONAL }, OF_RANGES | OF_CODE },
	[OPK_FACT_LAUNCHES_MIN] = { { "launches_min", OPK_CELL_UINT }, OF_RANGES },
	[OPK_FACT_KIND] = { { "kind", OPK_CELL_STRING }, OF_RANGES },
	[OPK_FACT_END] = { { "end_ns", OPK_CELL_OPTIONAL }, OF_RANGES },
	[OPK_FACT_TIME] = { { "time_ns", OPK_CELL_OPTIONAL }, OF_RANGES },
	[OPK_FACT_LEAST] = { { "min_ns", OPK_CELL_OPTIONAL }, OF_RANGES },
	[OPK_FACT_MOST] = { { "max_ns", OPK_CELL_OPTIONAL }, OF_RANGES },
	[OPK_FACT_SHARED] = { { "shared_ns", OPK_CELL_OPTIONAL }, OF_RANGES },
	[OPK_FACT_GRAPH_NODE] = { { "graph_node", OPK_CELL_OPTIONAL }, OF_RANGES },
	[OPK_FACT_LATENCY] = { { "launch_latency_ns", OPK_CELL_OPTIONAL }, OF_RANGES },
	[OPK_FACT_GAP] = { { "gap_ns", OPK_CELL_OPTIONAL }, OF_RANGES },
	[OPK_FACT_HOST_GAP] = { { "host_gap_ns", OPK_CELL_OPTIONAL }, OF_RANGES },
	[OPK_FACT_BYTES] = { { "bytes", OPK_CELL_OPTIONAL }, OF_RANGES },
	[OPK_FACT_SAMPLES] = { { "samples", OPK_CELL_OPTIONAL }, OF_RANGES },
	[OPK_FACT_SAMPLES_ALONE] = { { "samples_alone", OPK_CELL_OPTIONAL }, OF_RANGES },
	[OPK_FACT_MODULE] = { { "module", OPK_CELL_STRING }, OF_CODE },
	[OPK_FACT_FUNCTION] = { { "function", OPK_CELL_STRING }, OF_CODE },
	[OPK_FACT_OFFSET] = { { "offset", OPK_CELL_OPTIONAL }, OF_CODE },
	[OPK_FACT_OPCODE] = { { "opcode", OPK_CELL_STRING }, OF_CODE },
	[OPK_FACT_SASS] = { { "sass", OPK_CELL_STRING }, OF_CODE },
	[OPK_FACT_SOURCE] = { { "source", OPK_CELL_STRING }, OF_CODE },
	[OPK_FACT_LINE] = { { "line", OPK_CELL_OPTIONAL }, OF_CODE },
	[OPK_FACT_INLINED_AT] = { { "inlined_at", OPK_CELL_STRING }, OF_CODE },
	[OPK_FACT_ADDRESSES] = { { "addresses", OPK_CELL_OPTIONAL }, OF_CODE },
};

const struct opk_column *opk_fact_column(enum opk_fact fact, enum opk_profiler profiler)
{
	int wanted = profiler == OPK_PROFILER_PM      ? OF_SAMPLES
	             : opk_profiler_is_code(profiler) ? OF_CODE
	                                              : OF_RANGES;

	return facts[fact].of & wanted ? &facts[fact].column : NULL;
}

bool opk_fact_find(enum opk_fact *out, const char *name, enum opk_profiler profiler)
{
	/* "range" could be mistaken for the name, which it is in conditions. */
	if (!strcmp(name, "index")) {
		*out = profiler == OPK_PROFILER_PM ? OPK_FACT_SAMPLE : OPK_FACT_RANGE;
		return true;
	}
	for (enum opk_fact fact = 0; fact < OPK_FACT_COUNT; fact++) {
		const struct opk_column *column = opk_fact_column(fact, profiler);

		if (!column || strcmp(column->name, name))
			continue;
		*out = fact;
		return true;
	}
	return false;
}

static const char *shape_text(struct opk_fact_text *text, const uint32_t shape[3])
{
	if (!shape[0])
		return NULL;
	snprintf(text->text, sizeof text->text, "%ux%ux%u", shape[0], shape[1], shape[2]);
	return text->text;
}

static union opk_cell string(const char *text)
{
	return (union opk_cell){ .string = text };
}

static union opk_cell number(uint64_t value)
{
	return (union opk_cell){ .uint = value };
}

static union opk_cell optional(uint64_t value, bool known)
{
	return (union opk_cell){ .optional = { value, known } };
}

/* A fact of the launch. 0 shared bytes and stream 0 are known values if one kernel ran. */
static union opk_cell get_of_launch(struct opk_fact_text *text, enum opk_fact fact,
                                    const struct opk_range *range, bool many_streams)
{
	bool launched = *range->kernel && range->count < 2;

	switch (fact) {
	case OPK_FACT_KERNEL:
		return string(range->kernel);
	case OPK_FACT_SYMBOL:
		return string(range->symbol);
	case OPK_FACT_GRID:
		return string(shape_text(text, range->grid));
	case OPK_FACT_BLOCK:
		return string(shape_text(text, range->block));
	case OPK_FACT_GRID_X:
	case OPK_FACT_GRID_Y:
	case OPK_FACT_GRID_Z:
		return optional(range->grid[fact - OPK_FACT_GRID_X], *range->grid > 0);
	case OPK_FACT_BLOCK_X:
	case OPK_FACT_BLOCK_Y:
	case OPK_FACT_BLOCK_Z:
		return optional(range->block[fact - OPK_FACT_BLOCK_X], *range->block > 0);
	case OPK_FACT_DEVICE:
		return optional((uint64_t)range->device, range->device >= 0);
	case OPK_FACT_LAUNCH:
		return optional(range->launch, range->launch > 0);
	case OPK_FACT_SHARED_BYTES:
		return optional(range->shared_bytes, launched || range->shared_bytes);
	case OPK_FACT_REGISTERS:
		return optional(range->registers, range->registers > 0);
	case OPK_FACT_STREAM:
		return optional(range->stream, !many_streams && (launched || range->stream));
	case OPK_FACT_CONTEXT:
		return optional(range->context, range->context > 0);
	case OPK_FACT_NVTX:
		return string(range->nvtx);
	case OPK_FACT_PROCESS:
		return optional(range->process, range->process > 0);
	case OPK_FACT_RANK:
		return optional((uint64_t)range->rank, range->rank >= 0);
	case OPK_FACT_HOST:
		return string(range->host);
	case OPK_FACT_GPU:
		return string(range->gpu);
	case OPK_FACT_SM_MHZ:
		return optional(range->sm_mhz, range->sm_mhz > 0);
	case OPK_FACT_MEMORY_MHZ:
		return optional(range->memory_mhz, range->memory_mhz > 0);
	case OPK_FACT_SUMMED:
		return optional(range->count, range->count > 0);
	case OPK_FACT_START:
		return optional(range->start_ns, range->start_ns > 0);
	default:
		return optional(range->duration_ns, range->duration_ns > 0);
	}
}

/* A fact of what ran; unknown for other rows. */
static union opk_cell get_of_ran(enum opk_fact fact, const struct opk_row *row)
{
	static const struct opk_ran none;
	const struct opk_ran *ran = row->ran ? row->ran : &none;
	bool known = row->ran != NULL;

	switch (fact) {
	case OPK_FACT_KIND:
		return string(ran->kind);
	case OPK_FACT_END:
		return optional(row->end_ns, known && row->end_ns);
	case OPK_FACT_TIME:
		return optional(ran->time_ns, known);
	case OPK_FACT_LEAST:
		return optional(ran->least_ns, known && ran->launches);
	case OPK_FACT_MOST:
		return optional(ran->most_ns, known && ran->launches);
	case OPK_FACT_SHARED:
		return optional(ran->shared_ns, known);
	case OPK_FACT_GRAPH_NODE:
		return optional(ran->graph_node, ran->graph_node > 0);
	case OPK_FACT_LATENCY:
		return optional(opk_mean_of(ran->latency_ns, ran->called), ran->called > 0);
	case OPK_FACT_GAP:
		return optional(ran->gap_ns, ran->called > 0);
	case OPK_FACT_HOST_GAP:
		return optional(ran->host_gap_ns, ran->called > 0);
	case OPK_FACT_BYTES:
		return optional(ran->bytes, ran->bytes > 0);
	case OPK_FACT_SAMPLES:
		return optional(ran->samples, known);
	default:
		return optional(ran->samples_alone, known);
	}
}

/* A fact of code; unknown for other rows. */
static union opk_cell get_of_code(struct opk_fact_text *text, enum opk_fact fact,
                                  const struct opk_row *row)
{
	static const struct opk_code none = {
		.opcode = "", .sass = "", .source = "", .inlined_at = ""
	};
	const struct opk_code *code = row->code ? row->code : &none;

	switch (fact) {
	case OPK_FACT_MODULE:
		snprintf(text->text, sizeof text->text, "%08" PRIx64, code->module);
		return string(code->of_module ? text->text : NULL);
	case OPK_FACT_FUNCTION:
		return string(row->code && row->range ? row->range->kernel : NULL);
	case OPK_FACT_OFFSET:
		return optional(code->offset, code->is_one);
	case OPK_FACT_OPCODE:
		return string(code->opcode);
	case OPK_FACT_SASS:
		return string(code->sass);
	case OPK_FACT_SOURCE:
		return string(code->source);
	case OPK_FACT_LINE:
		return optional(code->line, code->line > 0);
	case OPK_FACT_INLINED_AT:
		return string(code->inlined_at);
	default:
		return optional(code->instructions, code->instructions > 0);
	}
}

/* Idle time has pauses, which a sum of launches must not count. */
static union opk_cell launches_of(const struct opk_row *row)
{
	if (row->joined)
		return optional(row->joined->ranges, true);
	if (row->code)
		return optional(row->code->launches, row->code->launches > 0);
	if (!row->ran)
		return optional(1, true);
	return optional(row->ran->launches, strcmp(row->ran->kind, "idle") != 0);
}

union opk_cell opk_fact_get(struct opk_fact_text *text, enum opk_fact fact,
                            const struct opk_row *row)
{
	static const struct opk_range unknown = {
		.name = "", .kernel = "", .symbol = "", .nvtx = "", .device = -1, .rank = -1
	};

	switch (fact) {
	case OPK_FACT_SAMPLE:
	case OPK_FACT_RANGE:
		return number(row->index);
	case OPK_FACT_SAMPLE_START:
		return number(row->start_ns);
	case OPK_FACT_SAMPLE_END:
		return number(row->end_ns);
	case OPK_FACT_BINNED:
		return number(row->ran ? row->ran->samples : 1);
	case OPK_FACT_COVERED:
		return number(row->ran ? row->ran->time_ns : row->end_ns - row->start_ns);
	case OPK_FACT_SPANS_EARLIER:
		return (union opk_cell){ .boolean = row->spans_earlier };
	case OPK_FACT_NAME:
		return string(row->name);
	case OPK_FACT_LAUNCHES:
		return launches_of(row);
	case OPK_FACT_LAUNCHES_MIN:
		return number(row->joined ? row->joined->ranges_min : 1);
	default:
		if (fact >= OPK_FACT_MODULE)
			return get_of_code(text, fact, row);
		if (fact > OPK_FACT_LAUNCHES_MIN)
			return get_of_ran(fact, row);
		return get_of_launch(text, fact, row->range ? row->range : &unknown,
		                     row->joined && row->joined->many_streams);
	}
}
