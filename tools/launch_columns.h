/* SPDX-License-Identifier: BSD-2-Clause */
/* What is known of a range's launch, as columns: only those that any range has something for. */
#ifndef OPK_LAUNCH_COLUMNS_H
#define OPK_LAUNCH_COLUMNS_H

#include "offpeak.h"

enum launch_fact {
	FACT_LAUNCH,
	FACT_SHARED_BYTES,
	FACT_REGISTERS,
	FACT_STREAM,
	FACT_CONTEXT,
	FACT_NVTX,
	FACT_PROCESS,
	FACT_RANK,
	FACT_START,
	FACT_DURATION,
	FACT_SUMMED,
	FACT_COUNT
};

struct launch_columns {
	bool all; /* asked for; else those that everybody wants */
	/* Found in the ranges: kernel, grid, block and device; device alone; the others. */
	bool kernel, device, facts[FACT_COUNT];
};

enum { MAX_LAUNCH_COLUMNS = 4 + FACT_COUNT, LAUNCH_TEXT_SIZE = 48 };

/* What cells point to, as long as a row is in the making. */
struct launch_text {
	char grid[LAUNCH_TEXT_SIZE], block[LAUNCH_TEXT_SIZE], device[LAUNCH_TEXT_SIZE];
};

/* Notes what these ranges have. */
void launch_columns_find(struct launch_columns *columns, const struct opk_range *ranges,
                         size_t count);
/* Puts the columns at *out, which has room for all; returns their number. */
size_t launch_columns_add(const struct launch_columns *columns, struct opk_column *out);
/* The cells of as many columns; `range` may be NULL, nothing is known then. */
void launch_columns_fill(const struct launch_columns *columns, union opk_cell *cells,
                         struct launch_text *text, const struct opk_range *range,
                         bool many_streams);

#endif
