/* SPDX-License-Identifier: BSD-2-Clause */
/* offpeak diff: what it compares, and the parts of its output. */
#ifndef OPK_TOOL_DIFF_H
#define OPK_TOOL_DIFF_H

#include "common/args.h"
#include "compare/door.h"
#include "eval/door.h"

OPK_DEFINE_AUTO(opk_diff)

struct diff {
	struct app *app;
	const struct opk_diff *of;
	const struct opk_diff_found *found; /* borrowed from the comparison */
	struct option_list before, after;
	bool has_rules;
	struct opk_kernel_names *names; /* for tables */
	const char *by;
	bool code; /* rows are of code */
	bool all;  /* the text table has unchanged values, too */
	size_t top;
	size_t left_out;            /* values not in the text table: the same, or noise */
	size_t one_sided;           /* metrics not in it: only one side has them */
	bool facts[OPK_FACT_COUNT]; /* columns that distinguish rows */
};

/* diff_tables.c: prints all tables. */
int diff_tables(struct diff *diff);
/* diff_notes.c: prints notes on the comparison as a whole. */
void diff_notes(const struct diff *diff);
/* diff_notes.c: prints each broken rule on stderr. */
void diff_breaches(const struct diff *diff);

#endif
