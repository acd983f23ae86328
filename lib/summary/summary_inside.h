/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of this folder share: a summary while it is made. */
#ifndef OPK_SUMMARY_INSIDE_H
#define OPK_SUMMARY_INSIDE_H

#include <string.h>

#include "base/buf.h"
#include "base/ctx.h"
#include "base/strlist.h"
#include "summary/door.h"

struct opk_summary {
	struct opk_ctx *ctx;
	struct opk_summary_options options;
	struct opk_file *file;
	const struct opk_meta *meta;
	const struct opk_range *ranges;
	size_t range_count;
	enum opk_summary_kind kind;
	struct opk_summary_values take;
	struct opk_kernel_names *kernel_names;
	/* Columns that the recording shows; then those that only their peaks and times need. */
	struct opk_strlist names;
	struct opk_strlist peaks; /* for each shown one the name of its share of the peak; or "" */
	struct opk_summary_column *columns;
	size_t column_count;
	struct opk_strlist descriptions; /* one a column */
	struct opk_catalog *catalog; /* while columns are listed; NULL: not to be had, or freed */
	struct opk_filter *filter;
	struct opk_evaluation *evaluation; /* NULL: a set, or only what ran was recorded */
	struct opk_aggregate *aggregate;
	struct opk_summary_group *groups;
	size_t group_count;
	enum opk_summary_time time;
	/* What ran, where that was recorded: summary_kernels.c. */
	struct opk_evaluation *timeline;
	const struct opk_activity *activities;
	size_t activity_count;
	struct opk_summary_kernel *kernels;
	size_t kernel_count, kernel_capacity;
	/* Sums over GPUs: recorded, and with something running. */
	uint64_t span_ns, busy_ns;
	size_t gpu_count; /* on which anything ran */
	struct opk_strlist remarks;
	struct opk_summary_words words;
};

#define opk_summary_time_metric "gpu__time_duration.sum"

static inline int summary_nomem(const struct opk_summary *s)
{
	return opk_nomem(s->ctx, "a summary");
}
static inline bool summary_is_sampled(const struct opk_summary *s)
{
	return s->meta->profiler == OPK_PROFILER_PM;
}
/* Whether it only says what ran and when. */
static inline bool summary_is_trace(const struct opk_summary *s)
{
	return !strcmp(s->meta->mode, "trace");
}
static inline bool summary_is_set(const struct opk_summary *s)
{
	return !strcmp(s->meta->kind, "set");
}

/* What the columns are, and what they are called; after the evaluation, where they are in it. */
int opk_summary_list_columns(struct opk_summary *s);
int opk_summary_place_columns(struct opk_summary *s);
/* The option `kernel` as a filter; evaluates, and orders the groups. */
int opk_summary_make_filter(struct opk_summary *s);
int opk_summary_evaluate(struct opk_summary *s);
/* Takes the text; NULL: memory is out. */
int opk_summary_add_remark(struct opk_summary *s, char *text);
/* What ran: read, with what samples say of it. */
int opk_summary_read_kernels(struct opk_summary *s);
void opk_summary_clear_kernels(struct opk_summary *s);
int opk_summary_write_words(struct opk_summary *s);

#endif
