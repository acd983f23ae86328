/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the files of this folder: a summary while it is made. */
#ifndef OPK_SUMMARY_INSIDE_H
#define OPK_SUMMARY_INSIDE_H

#include <string.h>

#include "base/buf.h"
#include "base/ctx.h"
#include "base/strlist.h"
#include "code/door.h"
#include "container/door.h"
#include "eval/eval.h"
#include "images/door.h"
#include "summary/door.h"

static inline int summary_nomem(const struct opk_summary *s)
{
	return opk_nomem(s->ctx, "a summary");
}
static inline bool summary_is_sampled(const struct opk_summary *s)
{
	return s->meta->profiler == OPK_PROFILER_PM;
}
/* Whether the recording only has what ran and when. */
static inline bool summary_is_trace(const struct opk_summary *s)
{
	return !strcmp(s->meta->mode, "trace");
}
/* Whether the recording only has what was counted at instructions. */
static inline bool summary_is_code(const struct opk_summary *s)
{
	return opk_hot_is_alone(s->file, s->meta);
}
/* Whether a recording has no ranges or samples to evaluate. */
static inline bool summary_lacks_rows(const struct opk_summary *s)
{
	return summary_is_trace(s) || summary_is_code(s);
}
static inline bool summary_is_set(const struct opk_summary *s)
{
	return !strcmp(s->meta->kind, "set");
}

/* Lists the columns and their names; after the evaluation, finds their places in it. */
int opk_summary_list_columns(struct opk_summary *s);
int opk_summary_place_columns(struct opk_summary *s);
/* Makes a condition from the option `kernel`; evaluates, and sorts the groups. */
int opk_summary_make_condition(struct opk_summary *s);
int opk_summary_evaluate(struct opk_summary *s);
/* Takes over the text; NULL: out of memory. */
int opk_summary_add_remark(struct opk_summary *s, char *text);
/* Reads what ran, with values from samples. */
int opk_summary_read_kernels(struct opk_summary *s);
void opk_summary_clear_kernels(struct opk_summary *s);
int opk_summary_write_words(struct opk_summary *s);

/* ---- noise: what the result borrows from, and what is needed until it is complete ---- */

struct opk_noise_inside {
	struct opk_ctx *ctx;
	struct opk_noise_options options;
	unsigned by; /* of the options */
	struct opk_strlist metrics, fulls, units;
	struct opk_strlist known;    /* metrics that are not wanted, for suggestions */
	struct opk_index numbers;    /* of metrics */
	struct opk_index often_read; /* metrics of the set "answers", by whole name */
	struct opk_grouping groups;
	struct opk_kernel_names *names;
	OPK_LIST(struct opk_evaluation *) timelines; /* have the names of what ran */
	bool has_shapes;                             /* of launches */
	/* The first file, its chip and what it has: the others have the same. */
	const struct opk_file *first;
	const char *chip, *what;
};

static inline int noise_nomem(const struct opk_noise_inside *in)
{
	return opk_nomem(in->ctx, "the noise of metrics");
}
/* noise_read.c: fills in the kernels, whose values are in the order of metrics, with gaps. */
int opk_noise_read(struct opk_noise *noise, struct opk_file *const *files, size_t count);

#endif
