/* SPDX-License-Identifier: BSD-2-Clause */
/* offpeak diff: what is compared, and the parts of what is shown. */
#ifndef OPK_TOOL_DIFF_H
#define OPK_TOOL_DIFF_H

#include "common/args.h"
#include "compare/door.h"
#include "eval/door.h"

OPK_DEFINE_AUTO(opk_diff)

struct diff {
	struct app *app;
	const struct opk_diff *of;
	const struct opk_diff_found *found; /* of it */
	struct option_list before, after;
	bool has_rules;
	struct opk_kernel_names *names; /* for tables */
	const char *by;
	bool all; /* people see what is the same, too */
	size_t top;
	size_t left_out;            /* values that people are not shown: the same, or noise */
	size_t one_sided;           /* metrics that they are not shown */
	bool facts[OPK_FACT_COUNT]; /* columns that tell rows apart */
};

/* All tables: diff_tables.c. */
int diff_tables(struct diff *diff);
/* What is to be known of the comparison as a whole, as notes: diff_notes.c. */
void diff_notes(const struct diff *diff);
/* Each broken rule on stderr: diff_notes.c. */
void diff_breaches(const struct diff *diff);

#endif
