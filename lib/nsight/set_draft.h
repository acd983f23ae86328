/* SPDX-License-Identifier: BSD-2-Clause */
/* A metric set in the making, as it will be written: with comments, conditions and what was left out. */
#ifndef OPK_SET_DRAFT_H
#define OPK_SET_DRAFT_H

#include "base/buf.h"
#include "base/index.h"
#include "chip/chip_mask.h"

struct opk_draft_metric {
	char *name; /* a full name, /a regular expression/, or the name of a formula of this set */
	char *label; /* what it is called where it comes from: its short name where it can be; NULL: nothing */
	char *comment; /* of the line before; NULL: none */
	opk_chip_mask chips;
	bool optional;
};

/* A heading over some metrics that follow each other. */
struct opk_draft_group {
	char *title, *text; /* "": none */
	size_t first, count;
};

struct opk_draft_formula {
	char *name, *formula;
};

/* What is not in the set, under a reason that they share. */
struct opk_draft_reason {
	char *reason;
	struct opk_strlist names;
	struct opk_index known; /* of the names */
};

struct opk_draft {
	char *name, *description;    /* "": none */
	struct opk_strlist comments; /* the file's first lines */
	enum opk_profiler profiler;
	struct opk_strlist chips; /* claims; none: all chips */
	opk_chip_mask claimed;    /* what is for these needs no condition */
	struct opk_draft_metric *metrics;
	size_t metric_count, metric_capacity;
	struct opk_index names; /* to the metrics */
	struct opk_draft_group *groups;
	size_t group_count, group_capacity;
	struct opk_draft_formula *formulas;
	size_t formula_count, formula_capacity;
	struct opk_draft_reason *reasons;
	size_t reason_count, reason_capacity;
};

/* All false when out of memory; texts are copied. */
bool opk_draft_init(struct opk_draft *draft, const char *name, const char *description,
                    enum opk_profiler profiler);
/* Goes on in the last group if that has this title, else in one more: metrics stay in their order. */
bool opk_draft_enter(struct opk_draft *draft, const char *title, const char *text);
/* The metric of that name, wherever it is; NULL: there is none. */
struct opk_draft_metric *opk_draft_find(const struct opk_draft *draft, const char *name);
/* One that is not there yet, into the last group. */
bool opk_draft_add(struct opk_draft *draft, const struct opk_draft_metric *metric);
bool opk_draft_add_formula(struct opk_draft *draft, const char *name, const char *formula);
/* Once for each name and reason. */
bool opk_draft_leave_out(struct opk_draft *draft, const char *reason, const char *name);
size_t opk_draft_left_out_count(const struct opk_draft *draft);
void opk_draft_clear(struct opk_draft *draft);

/* The set as YAML, in the form of docs/metric-sets.md; the buffer's failure tells. */
void opk_draft_write(struct opk_buf *out, const struct opk_draft *draft);

#endif
