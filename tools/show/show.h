/* SPDX-License-Identifier: BSD-2-Clause */
/* offpeak show: its data, and its parts. */
#ifndef OPK_TOOL_SHOW_H
#define OPK_TOOL_SHOW_H

#include <string.h>

#include "answers/door.h"
#include "base/buf.h"
#include "common/args.h"
#include "summary/door.h"

struct show {
	struct app *app;
	uint64_t top;
	const char *kernel;
	struct opk_file *file;
	const struct opk_meta *meta;
	struct opk_summary *summary;
	struct opk_answers *answers; /* NULL: not shown */
	bool all, metrics;           /* findings and values; values alone */
	bool full_names;             /* of metrics */
	/* What ran, if that was recorded: show_kernels.c. */
	const struct opk_activity *activities;
	size_t activity_count;
	bool has_devices; /* besides the first */
};

/* show_tables.c: tables of the groups, of their values, and of the columns' meanings. */
int show_tables(struct show *show);
/* show_kernels.c: tables of what ran. */
int show_kernels(struct show *show);
/* Notes how many are not shown, if any, and their share of the time, unless it is NULL. */
void show_rest(const char *word, size_t most, size_t count, const double *share);
/* show_source.c: the hottest lines of code. `paths`: texts OLD=NEW of --source-path. */
int show_source(struct show *show, const struct option_list *paths, enum opk_kernel_style style);
/* show_unlike.c: notes that nothing is like --kernel, and what is nearly. */
int show_unlike(const struct show *show);
/* show_answers.c: what bounds each kernel. */
int show_answers(struct show *show);
enum { SHOW_COLUMNS = 80 /* where nothing limits the width */ };
/* Adds a paragraph within the width, indented. */
void show_paragraph(struct opk_buf *out, const struct show *show, size_t indent, const char *text);
/* show_limiters.c: what limits all kernels together, in a line. */
void show_limiters(struct opk_buf *out, const struct show *show);
/* The NVTX ranges with their kernels, if these are kept apart by range. `out` NULL: as rows. */
int show_ranges(struct opk_buf *out, const struct show *show);
/* Shows a set's columns and their meanings. */
int show_descriptions(struct show *show);

#endif
