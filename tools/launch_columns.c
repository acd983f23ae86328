/* SPDX-License-Identifier: BSD-2-Clause */
#include "launch_columns.h"

#include <stdio.h>

static const struct {
	const char *name;
	enum opk_cell_type type;
	bool basic; /* shown without asking */
} facts[FACT_COUNT] = {
	[FACT_LAUNCH] = { "launch", OPK_CELL_OPTIONAL, false },
	[FACT_SHARED_BYTES] = { "shared_bytes", OPK_CELL_OPTIONAL, false },
	[FACT_REGISTERS] = { "registers", OPK_CELL_OPTIONAL, false },
	[FACT_STREAM] = { "stream", OPK_CELL_OPTIONAL, false },
	[FACT_CONTEXT] = { "context", OPK_CELL_OPTIONAL, false },
	[FACT_NVTX] = { "nvtx", OPK_CELL_STRING, true },
	[FACT_PROCESS] = { "process", OPK_CELL_OPTIONAL, false },
	[FACT_RANK] = { "rank", OPK_CELL_OPTIONAL, true },
	[FACT_START] = { "start_ns", OPK_CELL_OPTIONAL, false },
	[FACT_DURATION] = { "duration_ns", OPK_CELL_OPTIONAL, true },
	[FACT_SUMMED] = { "count", OPK_CELL_OPTIONAL, true },
};

static uint64_t number_of(enum launch_fact fact, const struct opk_range *range)
{
	const uint64_t numbers[FACT_COUNT] = {
		[FACT_LAUNCH] = range->launch,
		[FACT_SHARED_BYTES] = range->shared_bytes,
		[FACT_REGISTERS] = range->registers,
		[FACT_STREAM] = range->stream,
		[FACT_CONTEXT] = range->context,
		[FACT_PROCESS] = range->process,
		[FACT_RANK] = range->rank >= 0 ? (uint64_t)range->rank : 0,
		[FACT_START] = range->start_ns,
		[FACT_DURATION] = range->duration_ns,
		[FACT_SUMMED] = range->count,
	};

	return numbers[fact];
}

static bool has_fact(enum launch_fact fact, const struct opk_range *range)
{
	if (fact == FACT_NVTX)
		return *range->nvtx;
	return fact == FACT_RANK ? range->rank >= 0 : number_of(fact, range) != 0;
}

/* No shared memory and the default stream are 0, and known where one kernel was launched. */
static bool is_known(enum launch_fact fact, const struct opk_range *range, bool many_streams)
{
	if (fact == FACT_STREAM && many_streams)
		return false;
	if ((fact == FACT_STREAM || fact == FACT_SHARED_BYTES) && *range->kernel && range->count < 2)
		return true;
	return has_fact(fact, range);
}

void launch_columns_find(struct launch_columns *columns, const struct opk_range *ranges,
                         size_t count)
{
	for (size_t i = 0; i < count; i++) {
		columns->kernel |= *ranges[i].kernel;
		columns->device |= ranges[i].device > 0;
		for (size_t fact = 0; fact < FACT_COUNT; fact++)
			if (columns->all || facts[fact].basic)
				columns->facts[fact] |= has_fact((enum launch_fact)fact,
				                                 &ranges[i]);
	}
}

size_t launch_columns_add(const struct launch_columns *columns, struct opk_column *out)
{
	size_t count = 0;

	if (columns->kernel) {
		out[count++] = (struct opk_column){ "kernel", OPK_CELL_STRING };
		out[count++] = (struct opk_column){ "grid", OPK_CELL_STRING };
		out[count++] = (struct opk_column){ "block", OPK_CELL_STRING };
	}
	if (columns->kernel || columns->device)
		out[count++] = (struct opk_column){ "device", OPK_CELL_STRING };
	for (size_t fact = 0; fact < FACT_COUNT; fact++)
		if (columns->facts[fact])
			out[count++] = (struct opk_column){ facts[fact].name, facts[fact].type };
	return count;
}

static const char *shape_text(char text[LAUNCH_TEXT_SIZE], const uint32_t shape[3])
{
	if (!shape[0])
		return NULL;
	snprintf(text, LAUNCH_TEXT_SIZE, "%ux%ux%u", shape[0], shape[1], shape[2]);
	return text;
}

void launch_columns_fill(const struct launch_columns *columns, union opk_cell *cells,
                         struct launch_text *text, const struct opk_range *range,
                         bool many_streams)
{
	static const struct opk_range unknown = { .kernel = "", .nvtx = "", .device = -1, .rank = -1 };

	range = range ? range : &unknown;
	if (columns->kernel) {
		(cells++)->string = range->kernel;
		(cells++)->string = shape_text(text->grid, range->grid);
		(cells++)->string = shape_text(text->block, range->block);
	}
	if (columns->kernel || columns->device) {
		snprintf(text->device, sizeof text->device, "%d", range->device);
		(cells++)->string = range->device >= 0 ? text->device : NULL;
	}
	for (enum launch_fact fact = 0; fact < FACT_COUNT; fact++) {
		if (!columns->facts[fact])
			continue;
		if (fact == FACT_NVTX) {
			(cells++)->string = range->nvtx;
			continue;
		}
		cells->optional.known = is_known(fact, range, many_streams);
		(cells++)->optional.uint = number_of(fact, range);
	}
}
