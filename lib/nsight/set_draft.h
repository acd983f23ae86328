/* SPDX-License-Identifier: BSD-2-Clause */
/* Metric sets in the making: with comments, conditions and what was left out. */
#ifndef OPK_SET_DRAFT_H
#define OPK_SET_DRAFT_H

#include "base/buf.h"
#include "base/index.h"
#include "base/source.h"
#include "chip/chip_mask.h"
#include "nsight/section_name.h"

struct opk_draft_metric {
	char *name;  /* a full name, /a regular expression/, or the name of a formula of this set */
	char *label; /* another name for it, its short name if that can be one; or NULL */
	char *comment; /* for the line before, or NULL */
	opk_chip_mask chips;
	bool optional;
};

/* A heading over some metrics that follow each other. */
struct opk_draft_heading {
	char *title, *text; /* may be "" */
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
	char *name, *description;    /* may be "" */
	struct opk_strlist comments; /* the file's first lines */
	enum opk_profiler profiler;
	struct opk_strlist chips; /* that it claims; empty: all chips */
	opk_chip_mask claimed;    /* a metric for all of these needs no condition */
	struct opk_draft_metric *metrics;
	size_t metric_count, metric_capacity;
	struct opk_index names; /* to the metrics */
	struct opk_draft_heading *headings;
	size_t heading_count, heading_capacity;
	struct opk_draft_formula *formulas;
	size_t formula_count, formula_capacity;
	struct opk_draft_reason *reasons;
	size_t reason_count, reason_capacity;
	bool failed; /* out of memory at some point: the contents are useless */
};

/* Texts are copied. */
void opk_draft_init(struct opk_draft *draft, const char *name, const char *description,
                    enum opk_profiler profiler);
/* Adds a line of comment at the beginning, which is taken over; NULL: memory is out. */
void opk_draft_comment(struct opk_draft *draft, char *text);
/* The metric of that name, wherever it is; NULL: there is none. */
struct opk_draft_metric *opk_draft_find(const struct opk_draft *draft, const char *name);
/* Adds a metric that is not there yet, below the last heading. */
void opk_draft_add(struct opk_draft *draft, const struct opk_draft_metric *metric);
void opk_draft_add_formula(struct opk_draft *draft, const char *name, const char *formula);
/* Adds what is left out, once for each name and reason. */
void opk_draft_leave_out(struct opk_draft *draft, const char *reason, const char *name);
size_t opk_draft_left_out_count(const struct opk_draft *draft);
void opk_draft_clear(struct opk_draft *draft);

/* The set as YAML, free(), in the form of docs/metric-sets.md; NULL: out of memory. */
char *opk_draft_write(const struct opk_draft *draft);

/* ---- the sets that one file becomes */

/*
 * CUPTI refuses metrics of the whole device beside others. A set for PM sampling has one pass: a
 * chip's second pass goes into the second set, and so on.
 */
enum {
	OPK_DRAFT_RANGE,
	OPK_DRAFT_DEVICE,
	OPK_DRAFT_PM,
	OPK_DRAFT_PASSES = 16,
	OPK_DRAFTS = OPK_DRAFT_PM + OPK_DRAFT_PASSES,
};

struct opk_drafts {
	struct opk_ctx *ctx;
	const char *path;   /* of the file, for errors */
	const char *source; /* its name alone */
	char *name, *description, *title;
	bool optional; /* metrics that a chip lacks are left out there */
	struct opk_draft drafts[OPK_DRAFTS];
	struct opk_draft left; /* has only what was left out of any set */
	size_t asked;          /* metrics so far, repeated ones included */
	size_t patterns;       /* how many of these are patterns */
	double seconds;        /* still left to check expressions */
	int code;              /* of the first failure: after it nothing is added */
};

/* Counts one more metric; false where there are too many. */
bool opk_drafts_count(struct opk_drafts *drafts);
/*
 * Adds a metric below the heading of that title, which is the last or one more: metrics stay in
 * their order. A metric that is there already is for these chips as well.
 */
void opk_drafts_put(struct opk_drafts *drafts, size_t which, const char *title, const char *text,
                    const struct opk_draft_metric *metric);
/* "name (label)" under a reason; the label may be NULL. */
void opk_drafts_leave_out(struct opk_drafts *drafts, const char *reason, const char *name,
                          const char *label);
/*
 * What the set has for a name that the file has as `text` at that place, free(): the name, an
 * expression, or for a base metric an expression for its first submetrics. NULL: there was a
 * failure, or no set can have it.
 */
char *opk_drafts_name(struct opk_drafts *drafts, const struct opk_asked *asked, const char *text,
                      const struct opk_place *place);
/* Leaves out a throughput's parts, if these were asked for. */
void opk_drafts_leave_out_parts(struct opk_drafts *drafts, const struct opk_asked *asked,
                                const char *text);

#endif
