/* SPDX-License-Identifier: BSD-2-Clause */
/* offpeak show: what is shown, and its parts. */
#ifndef OPK_TOOL_SHOW_H
#define OPK_TOOL_SHOW_H

#include <string.h>

#include "common/args.h"
#include "summary/door.h"

struct show {
	struct app *app;
	uint64_t top;
	const char *kernel;
	struct opk_file *file;
	const struct opk_meta *meta;
	struct opk_summary *summary;
	/* What ran, where that was recorded: show_kernels.c. */
	const struct opk_activity *activities;
	size_t activity_count;
	bool has_devices; /* other than the first */
	/* What the tables' columns are. */
	struct app_fields group_fields, value_fields, roofline_fields;
	struct app_fields kernel_fields, stream_fields, copy_fields, nvtx_fields;
};

/* Tables: of the groups, of their values, of what the columns mean. show_tables.c */
int show_tables(struct show *show);
/* Tables of what ran: show_kernels.c */
int show_kernels(struct show *show);
/* Shows the columns of a set and what they mean. */
int show_descriptions(struct show *show);

#endif
