/* SPDX-License-Identifier: BSD-2-Clause */
/* Two rows with a cell of each kind, for tests of output. */
#ifndef OPK_ROWS_H
#define OPK_ROWS_H

#include <math.h>

#include "testing.h"

enum { FORMATS = 4 };

static const struct opk_column columns[] = {
	{ "name", OPK_CELL_STRING }, { "n", OPK_CELL_UINT },      { "value", OPK_CELL_DOUBLE },
	{ "ok", OPK_CELL_BOOL },     { "units", OPK_CELL_LIST },
};
static const char *const units[] = { "sm", "l2" };
static const union opk_cell cells[][COUNT(columns)] = {
	{ { .string = "a,\"b\"" }, { .uint = UINT64_MAX }, { .number = 0.5 }, { .boolean = true },
	  { .list = { units, 2 } } },
	{ { .string = NULL }, { .uint = 0 }, { .number = (double)NAN }, { .boolean = false },
	  { .list = { NULL, 0 } } },
};

#endif
