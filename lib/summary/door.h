/* SPDX-License-Identifier: BSD-2-Clause */
/* What the command and other rooms use of this one, beside the public functions. */
#ifndef OPK_SUMMARY_DOOR_H
#define OPK_SUMMARY_DOOR_H

#include "base/ctx.h"
#include "base/strlist.h"
#include "images/door.h"

/* The time of a launch. */
#define opk_summary_time_metric "gpu__time_duration.sum"

/* The kind of a summary's groups. */
enum opk_summary_kind {
	OPK_SUMMARY_KERNELS,
	OPK_SUMMARY_RANGES, /* of the program */
	OPK_SUMMARY_DEVICES /* of PM samples */
};

/* The kind of time that is known of groups. */
enum opk_summary_time { OPK_SUMMARY_NO_TIME, OPK_SUMMARY_NS, OPK_SUMMARY_CYCLES };

/* A kernel with all its launches, a user range or a device. */
struct opk_summary_group {
	const struct opk_aggregated *of; /* range.count: its launches, ranges or samples */
	size_t number;                   /* its place in the recorded order */
	const char *name;                /* the short name */
	double time;  /* of all launches, in the unit of `time` of the summary; NaN: unknown */
	double share; /* of the time of all groups, in percent */
};

/* A column of the recording, in its order. */
struct opk_summary_column {
	const char *name;                       /* a metric, a label or a derived metric */
	const char *words;                      /* for people: opk_metric_labels() */
	const char *metric;                     /* its full name; NULL: derived */
	const char *unit;                       /* "": not known */
	const char *description;                /* "": not known */
	const struct opk_meta_heading *heading; /* or NULL */
	/* Places in `columns` of struct opk_aggregated: its own, and its share of the peak. */
	size_t at, peak; /* SIZE_MAX: none */
	/* The place in `columns` of the summary of its peak, in its own unit; SIZE_MAX: none. */
	size_t limit;
	bool inflated; /* counts idle time around short kernels, because of how it was recorded */
	bool unknown;  /* no group has a value */
	bool sparse_peak; /* the peak is for sparse operands, above the peak for dense ones */
};

/* A kernel on the timeline: its launches were recorded with samples or without. */
struct opk_summary_kernel {
	const char *name;
	const struct opk_range *range; /* what its launches have in common */
	const struct opk_ran *ran;     /* how often and how long it ran */
	double share;                  /* of the time of all kernels, in percent */
	const double *peaks; /* its shares of peaks in percent or NaN, see opk_summary_peak() */
	double key;          /* the sort key, the greatest first */
};

/* The recording in a few lines. */
struct opk_summary_words {
	const char *run;      /* what was recorded */
	const char *machine;  /* where, when */
	const char *clocks;   /* "": not known */
	const char *complete; /* "yes", or what is missing */
};

/* As `values` of struct opk_aggregate_options; `group` is `number` of a summary's group. */
struct opk_summary_values {
	void (*take)(void *data, size_t group, size_t column, const double *values,
	             const size_t *rows, size_t count);
	void *data;
	/* Called first: the column of the evaluation with the times of launches; SIZE_MAX: none. */
	void (*begin)(void *data, size_t time_column);
	const struct opk_strlist *also; /* full names of metrics to evaluate besides; or NULL */
	/* Keys that keep groups of ranges, and what ran, apart, besides: "shape"; NULL: none. */
	const char *by;
};
/*
 * A summary, for other rooms to read: kernels, ranges or devices in the order of `sort`; columns in
 * the order of the recording; kernels on the timeline by time; remarks, a sentence each.
 */
struct opk_summary {
	enum opk_summary_kind kind;
	bool only_words;            /* nothing else was made */
	enum opk_summary_time time; /* of groups */
	struct opk_summary_group *groups;
	size_t group_count;
	struct opk_summary_column *columns;
	size_t column_count;
	struct opk_summary_kernel *kernels; /* none if what ran was not recorded */
	size_t kernel_count, kernel_capacity;
	struct opk_summary_words words;
	struct opk_strlist remarks;
	struct opk_kernel_names *kernel_names; /* knows all kernels of the file */
	/* All its rows were read; NULL: a set, or a recording that has no ranges or samples. */
	struct opk_evaluation *evaluation;

	/* For the files of this room. */
	struct opk_ctx *ctx;
	struct opk_summary_options options;
	struct opk_file *file;
	const struct opk_meta *meta;
	const struct opk_range *ranges;
	size_t range_count;
	struct opk_summary_values take;
	struct opk_value_sink *bake; /* takes the values of its groups, of the images; or NULL */
	/* Columns that the recording shows, then columns that only their peaks and times need. */
	struct opk_strlist names;
	struct opk_strlist peaks;        /* per shown column: its share of the peak, or "" */
	struct opk_strlist descriptions; /* one per column */
	struct opk_strlist column_words; /* one per column */
	struct opk_catalog *catalog; /* while columns are listed; NULL: not available, or freed */
	const char *condition;       /* from the option `kernel`; or NULL */
	struct opk_aggregate *aggregate;
	struct opk_evaluation *timeline; /* what ran, if it was recorded */
	struct opk_strlist kernel_texts; /* names of `kernels` */
	struct opk_strlist group_texts;  /* names of devices */
	const struct opk_activity *activities;
	size_t activity_count;
	/* Sums over GPUs: recorded time, and busy time. */
	uint64_t span_ns, busy_ns;
	size_t gpu_count; /* GPUs on which anything ran */
	/* What ran by recorded calls: how much, its median latency, and how long GPUs waited. */
	size_t called;
	uint64_t latency_ns, host_gap_ns;
};
/* As opk_summary_new(). NULL: no values are taken. */
int opk_summary_make(struct opk_summary **out, struct opk_ctx *ctx, struct opk_file *file,
                     const struct opk_summary_options *options,
                     const struct opk_summary_values *values);
/* Its words alone, without evaluating anything: what was recorded, where, how complete. */
int opk_summary_make_head(struct opk_summary **out, struct opk_ctx *ctx, struct opk_file *file);
/* The metrics in `peaks` of kernels on the timeline, in that order. */
size_t opk_summary_peak_count(const struct opk_summary *summary);
const char *opk_summary_peak(const struct opk_summary *summary, size_t i);
/* Whether any kernel has a value of the peak: PM sampling may lack it. */
bool opk_summary_has_peak(const struct opk_summary *summary, size_t i);

/*
 * The names that a summary of the file evaluates, with these besides: metrics, labels and derived
 * metrics. And a summary that hands the values of its groups over, for a file that has them.
 */
int opk_summary_names(struct opk_strlist *out, struct opk_ctx *ctx, struct opk_file *file,
                      const struct opk_strlist *also);
int opk_summary_bake(struct opk_ctx *ctx, struct opk_file *file, const struct opk_strlist *also,
                     struct opk_value_sink *sink);
/* The place of a column in `columns` of struct opk_aggregated, by name; SIZE_MAX: none. */
size_t opk_summary_find(const struct opk_summary *summary, const char *column);
/* The same by a metric's full name, also where the recording has a label for it. */
size_t opk_summary_find_metric(const struct opk_summary *summary, const char *metric);

/* ---- how far means can be trusted: noise.c ---- */

struct opk_noise_options {
	const char *kernel;         /* as in struct opk_summary_options */
	const char *by;             /* keeps kernels apart, besides: "shape"; NULL: nothing does */
	const char *const *columns; /* only these */
	size_t column_count;        /* 0: all */
	enum opk_kernel_style kernel_names;
	double level, within; /* as for opk_precision_find() */
};

/* A metric of a kernel. */
struct opk_noise_value {
	const char *metric, *unit; /* as the recording has them, by a label where it has one */
	const char *full;          /* the metric's whole name, else the same */
	size_t number;             /* of the metric, in the order of the recordings */
	struct opk_moments of;     /* launches that have a value of their own */
	double mean;               /* of these; if there are none, of all launches together */
	double deviation;
	struct opk_precision precision;
	uint64_t more; /* launches of the kernel until `needed` have the metric; unknown: 0, too */
	bool trusted;  /* the half-width is at most `within` */
};

/* A kernel with all its launches, or a user range. */
struct opk_noise_kernel {
	char *name;                    /* with what `by` says */
	const struct opk_range *range; /* what its launches have in common */
	size_t number;                 /* its place in the recorded order */
	uint64_t launches;
	bool mixed;  /* of several launch shapes */
	double time; /* of all launches; NaN: unknown */
	/* The least trustworthy come first, those of which nothing is known last. */
	OPK_LIST(struct opk_noise_value) values;
	size_t trusted, unknown; /* of them */
	/*
	 * So many more launches would do for all values but `all_but`. Values that take more than
	 * ten times the launches do not count.
	 */
	uint64_t more;
	size_t all_but;
	/* So many would do for its time. Above `more`: its time is among `all_but`. */
	uint64_t time_more;
	bool time_known;
};

/* Kernels in the order of their time. Recordings add up: runs, or ranks. */
struct opk_noise {
	bool of_kernels; /* else user ranges */
	OPK_LIST(struct opk_noise_kernel) kernels;
	size_t values, trusted, unknown, zero; /* of all kernels; zero: in all launches */
	struct opk_noise_inside *inside;       /* for noise.c */
};
/*
 * The files must outlive the result. OPK_EUSAGE: files that have nothing to do with each other, or
 * the same launches; samples of no kernel; counts of instructions alone; an unknown column.
 */
int opk_noise_new(struct opk_noise **out, struct opk_ctx *ctx, struct opk_file *const *files,
                  size_t count, const struct opk_noise_options *options);
void opk_noise_free(struct opk_noise *noise);
OPK_DEFINE_AUTO(opk_noise)
/*
 * Chooses at most `most` values of the kernel for people: its time, and those that can't be
 * trusted, first such as answers are made from. `out` has room for all its values. How many.
 */
size_t opk_noise_choose(const struct opk_noise_value **out, const struct opk_noise *noise,
                        const struct opk_noise_kernel *kernel, size_t most);

#endif
