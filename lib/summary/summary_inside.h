/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of this folder share: a summary while it is made. */
#ifndef OPK_SUMMARY_INSIDE_H
#define OPK_SUMMARY_INSIDE_H

#include <string.h>

#include "base/buf.h"
#include "base/ctx.h"
#include "base/strlist.h"
#include "container/door.h"
#include "images/door.h"
#include "summary/door.h"

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
/* The option `kernel` as a condition; evaluates, and orders the groups. */
int opk_summary_make_condition(struct opk_summary *s);
int opk_summary_evaluate(struct opk_summary *s);
/* Takes the text; NULL: memory is out. */
int opk_summary_add_remark(struct opk_summary *s, char *text);
/* What ran: read, with what samples say of it. */
int opk_summary_read_kernels(struct opk_summary *s);
void opk_summary_clear_kernels(struct opk_summary *s);
int opk_summary_write_words(struct opk_summary *s);

#endif
