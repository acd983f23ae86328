/* SPDX-License-Identifier: BSD-2-Clause */
/* What the command and other rooms use of this one, beside the public functions. */
#ifndef OPK_SUMMARY_DOOR_H
#define OPK_SUMMARY_DOOR_H

#include "base/ctx.h"

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
	double time;  /* of all launches, in what opk_summary_get_time() says; NaN: unknown */
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
/* As opk_summary_new(). NULL: no values are taken. Pointers below are borrowed from the summary. */
int opk_summary_make(struct opk_summary **out, struct opk_ctx *ctx, struct opk_file *file,
                     const struct opk_summary_options *options,
                     const struct opk_summary_values *values);
/* What the groups are, and in which unit their time is. */
enum opk_summary_kind opk_summary_get_kind(const struct opk_summary *summary);
enum opk_summary_time opk_summary_get_time(const struct opk_summary *summary);
/* Kernels, ranges or devices, in the order of `sort`. */
size_t opk_summary_group_count(const struct opk_summary *summary);
const struct opk_summary_group *opk_summary_get_group(const struct opk_summary *summary, size_t i);
/* What the values are, in the order of the recording. */
size_t opk_summary_column_count(const struct opk_summary *summary);
const struct opk_summary_column *opk_summary_get_column(const struct opk_summary *summary,
                                                        size_t i);
/* Kernels on the timeline, by time; none where it was not recorded what ran beside samples. */
size_t opk_summary_kernel_count(const struct opk_summary *summary);
const struct opk_summary_kernel *opk_summary_get_kernel(const struct opk_summary *summary,
                                                        size_t i);
/* The metrics of `peaks` of these kernels, in their order. */
size_t opk_summary_peak_count(const struct opk_summary *summary);
const char *opk_summary_peak(const struct opk_summary *summary, size_t i);
/* The run, the machine, the clocks and the state of the file, in words. */
const struct opk_summary_words *opk_summary_get_words(const struct opk_summary *summary);
/* What else is to be known of the values, a sentence each. */
size_t opk_summary_remark_count(const struct opk_summary *summary);
const char *opk_summary_remark(const struct opk_summary *summary, size_t i);
/* What kernels are called: those of the file are among them. */
struct opk_kernel_names *opk_summary_kernel_names(const struct opk_summary *summary);

/*
 * What was evaluated, whose rows were all read already; NULL for a set, and where only what ran was
 * recorded.
 */
struct opk_evaluation *opk_summary_evaluation(const struct opk_summary *summary);

/*
 * The place of a column of that name among `columns` of struct opk_aggregated; SIZE_MAX: there is
 * none.
 */
size_t opk_summary_find(const struct opk_summary *summary, const char *column);

#endif
