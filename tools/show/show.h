/* SPDX-License-Identifier: BSD-2-Clause */
/* offpeak show: what is evaluated, and the parts of what is shown. */
#ifndef OPK_TOOL_SHOW_H
#define OPK_TOOL_SHOW_H

#include <string.h>

#include "common/args.h"

/* A kernel, a user range or a device, and its place in what is shown. */
struct show_group {
	const struct opk_aggregated *of;
	const char *name;
	double time;  /* ns, or cycles; NaN: not known */
	double share; /* of all of them, in percent */
	double key;   /* it is ordered by this one, the greatest first */
};

/* A kernel on the timeline, a kind of copy, or idle time. */
struct show_kernel {
	const struct opk_range *range;
	const struct opk_ran *ran;
	const char *name;
	double *shares; /* of peaks, one a column of the timeline */
	double key;     /* it is ordered by this one, the greatest first */
};

/* What groups are ordered by, and which time there is. */
enum show_time { TIME_UNKNOWN, TIME_NS, TIME_CYCLES };

struct show {
	struct app *app;
	const char *path, *kernel, *sort;
	uint64_t top;
	struct opk_file *file;
	const struct opk_meta *meta;
	const struct opk_range *ranges;
	size_t range_count;
	bool has_kernels;
	struct opk_kernel_names *kernel_names;
	/* Columns that the recording shows; then those that only their peaks and times need. */
	struct opk_strlist names;
	size_t shown;             /* of them */
	struct opk_strlist peaks; /* for each shown one the name of its share of the peak; or "" */
	struct opk_catalog *catalog; /* NULL: descriptions are not to be had */
	struct opk_filter *filter;
	struct opk_evaluation *evaluation;
	struct opk_aggregate *aggregate;
	struct show_group *groups;
	size_t group_count;
	enum show_time time;
	/* What ran, where that was recorded: show_kernels.c. */
	struct opk_evaluation *timeline;
	const struct opk_activity *activities;
	size_t activity_count;
	struct show_kernel *kernels;
	size_t kernel_count, kernel_capacity;
	uint64_t span_ns, busy_ns; /* of all GPUs: recorded, and with something running */
	bool has_devices;          /* other than the first */
	/* What the tables' columns are. */
	struct app_fields group_fields, value_fields;
	struct app_fields kernel_fields, stream_fields, copy_fields, nvtx_fields;
};

/* Whether it is about samples, not ranges. */
static inline bool show_is_sampled(const struct show *show)
{
	return show->meta->profiler == OPK_PROFILER_PM;
}

/* Whether it only says what ran and when. */
static inline bool show_is_trace(const struct show *show)
{
	return !strcmp(show->meta->mode, "trace");
}

/* The record of three lines: what ran, where, and how complete it is. show_run.c */
int show_run(struct show *show);

/* What the columns are, and what they are called: show_names.c. */
int show_names_list(struct show *show);
/* The full name of the metric that a column shows; NULL: it is derived. */
const char *show_metric_of(const struct show *show, const char *column);
/* What it means; "" where that is not known. */
const char *show_description(const struct show *show, const char *column);

/* --kernel as a filter: show_values.c. */
int show_make_filter(struct show *show);
/* Evaluates, and orders the groups: show_values.c. */
int show_evaluate(struct show *show);
/* The index of a column in the evaluation; SIZE_MAX. */
size_t show_find(const struct show *show, const char *column);

/* Tables: of the groups, of their values, of what the columns mean. show_tables.c */
int show_tables(struct show *show);
/* What ran: read, with what samples say of it; its tables. show_kernels.c */
int show_kernels_read(struct show *show);
int show_kernels(struct show *show);
void show_kernels_clear(struct show *show);
/* Of a set: its columns and what they mean. */
int show_descriptions(struct show *show);

#endif
