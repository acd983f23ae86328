/* SPDX-License-Identifier: BSD-2-Clause */
/* What the command and other rooms use of this one, beside the public functions. */
#ifndef OPK_SUMMARY_DOOR_H
#define OPK_SUMMARY_DOOR_H

#include "base/ctx.h"
#include "base/strlist.h"
#include "images/door.h"

/* What the groups of a summary are. */
enum opk_summary_kind {
	OPK_SUMMARY_KERNELS,
	OPK_SUMMARY_RANGES, /* of the program */
	OPK_SUMMARY_DEVICES /* of PM samples */
};

/* What time is known of groups. */
enum opk_summary_time { OPK_SUMMARY_NO_TIME, OPK_SUMMARY_NS, OPK_SUMMARY_CYCLES };

/* A kernel with all its launches, a user range or a device. */
struct opk_summary_group {
	const struct opk_aggregated *of; /* range.count: its launches, ranges or samples */
	size_t number;                   /* of it in the order in which they were recorded */
	const char *name;                /* as people call it */
	double time;  /* of all launches, in the unit of `time` of the summary; NaN: unknown */
	double share; /* of the time of all groups, in percent */
};

/* What the recording shows, in its order. */
struct opk_summary_column {
	const char *name;                       /* a metric, a label or a derived metric */
	const char *metric;                     /* its full name; NULL: it is derived */
	const char *unit;                       /* "" where it is not known */
	const char *description;                /* "" where it is not known */
	const struct opk_meta_heading *heading; /* over it; NULL: none */
	/* Its place among `columns` of struct opk_aggregated; and that of its share of the peak. */
	size_t at, peak; /* SIZE_MAX: there is none */
	bool inflated;   /* counts idle time around short kernels, because of how it was recorded */
	bool unknown;    /* no group has a value */
	bool sparse_peak; /* the peak is that of sparse operands, higher than that of dense ones */
};

/* A kernel on the timeline: launches that were recorded beside samples, or alone. */
struct opk_summary_kernel {
	const char *name;
	const struct opk_range *range; /* what its launches have in common */
	const struct opk_ran *ran;     /* how often, and how long */
	double share;                  /* of the time of all kernels, in percent */
	const double *peaks; /* its shares of peaks in percent, see opk_summary_peak(); or NaN */
	double key;          /* it is ordered by this one, the greatest first */
};

/* The recording in a few lines. */
struct opk_summary_words {
	const char *run;      /* what was recorded */
	const char *machine;  /* where, when */
	const char *clocks;   /* "" where they are not known */
	const char *complete; /* "yes", or what is missing */
};

/* As `values` of struct opk_aggregate_options; `group` is `number` of a summary's group. */
struct opk_summary_values {
	void (*take)(void *data, size_t group, size_t column, const double *values,
	             const size_t *rows, size_t count);
	void *data;
};
/*
 * Other rooms read it. Kernels, ranges or devices in the order of `sort`, columns in that of the
 * recording, kernels on the timeline by time, and remarks, a sentence each.
 */
struct opk_summary {
	enum opk_summary_kind kind;
	enum opk_summary_time time; /* of groups */
	struct opk_summary_group *groups;
	size_t group_count;
	struct opk_summary_column *columns;
	size_t column_count;
	struct opk_summary_kernel *kernels; /* none where it was not recorded what ran */
	size_t kernel_count, kernel_capacity;
	struct opk_summary_words words;
	struct opk_strlist remarks;
	struct opk_kernel_names *kernel_names; /* those of the file are among them */
	/* Its rows were all read; NULL: a set, or only what ran was recorded. */
	struct opk_evaluation *evaluation;

	/* What the files of this room need besides. */
	struct opk_ctx *ctx;
	struct opk_summary_options options;
	struct opk_file *file;
	const struct opk_meta *meta;
	const struct opk_range *ranges;
	size_t range_count;
	struct opk_summary_values take;
	/* Columns that the recording shows; then those that only their peaks and times need. */
	struct opk_strlist names;
	struct opk_strlist peaks; /* for each shown one the name of its share of the peak; or "" */
	struct opk_strlist descriptions; /* one a column */
	struct opk_catalog *catalog; /* while columns are listed; NULL: not to be had, or freed */
	const char *condition;       /* the option `kernel`; NULL */
	struct opk_aggregate *aggregate;
	struct opk_evaluation *timeline; /* what ran, where that was recorded */
	const struct opk_activity *activities;
	size_t activity_count;
	/* Sums over GPUs: recorded, and with something running. */
	uint64_t span_ns, busy_ns;
	size_t gpu_count; /* on which anything ran */
};
/* As opk_summary_new(). NULL: no values are taken. */
int opk_summary_make(struct opk_summary **out, struct opk_ctx *ctx, struct opk_file *file,
                     const struct opk_summary_options *options,
                     const struct opk_summary_values *values);
/* The metrics of `peaks` of kernels on the timeline, in their order. */
size_t opk_summary_peak_count(const struct opk_summary *summary);
const char *opk_summary_peak(const struct opk_summary *summary, size_t i);
/* Whether any kernel has a value of it: PM sampling may lack the peak. */
bool opk_summary_has_peak(const struct opk_summary *summary, size_t i);

/*
 * The place of a column of that name among `columns` of struct opk_aggregated; SIZE_MAX: there is
 * none.
 */
size_t opk_summary_find(const struct opk_summary *summary, const char *column);

#endif
