/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the files of lib/answers alone. */
#ifndef OPK_ANSWERS_INSIDE_H
#define OPK_ANSWERS_INSIDE_H

#include "answers/door.h"
#include "base/index.h"
#include "base/strlist.h"
#include "eval/eval.h"
#include "formula/formula.h"
#include "images/door.h"
#include "summary/door.h"

enum opk_limiter_kind {
	OPK_LIMITER_PART, /* a part of the GPU that is busy */
	OPK_LIMITER_IDLE, /* SMs have nothing to do */
	OPK_LIMITER_WAIT, /* warps wait */
	OPK_LIMITER_KINDS
};

struct opk_limiter_rule {
	const char *name, *label;
	enum opk_limiter_kind kind;
	struct opk_formula *percent;
	/* Parts that are named instead where this one is busier by so many points at most. */
	struct opk_strlist yields;
	double margin;
	const char *within; /* the part that says the same of the same unit; or NULL */
	size_t bar;         /* SIZE_MAX: none */
	bool unsure;        /* it is never named without doubt */
	bool either;        /* its work may run on another part: it bounds no gain */
	bool ranges;        /* it limits ranges of the program, not kernels */
	bool alone;         /* where it is named, findings about others are not told */
};

struct opk_finding_rule {
	const char *name, *says, *advice, *because;
	struct opk_formula *when, *gain;
	struct opk_strlist relieves; /* parts that are less busy then */
	struct opk_strlist about;    /* limiters */
	struct opk_strlist kernels;  /* patterns of names; empty: any kernel */
	bool only_if_named;          /* it holds if one of these is the kernel's */
};

struct opk_answer_rules {
	struct opk_strlist needs;  /* names of values */
	struct opk_formula *doubt; /* above 0: nothing is sure; or NULL */
	OPK_LIST(struct opk_limiter_rule) limiters;
	OPK_LIST(struct opk_finding_rule) findings;
	struct opk_strlist texts;
	struct opk_index numbers; /* of limiters, by name */
};
/* Reads data/findings.yaml; rules.c */
int opk_answer_rules_load(struct opk_answer_rules *rules, struct opk_ctx *ctx);
/* Reads rules in memory, which messages call `name`. */
int opk_answer_rules_read(struct opk_answer_rules *rules, struct opk_ctx *ctx, const char *name,
                          const char *text, size_t size);
void opk_answer_rules_clear(struct opk_answer_rules *rules);

/* The values of a kernel or a range, by the names of the set's columns. */
struct opk_answer_values {
	const struct opk_index *names;
	const double *values;
	const char *name; /* of the kernel or range */
	bool ranges;      /* they are of ranges of the program, not of kernels */
};
/* Fills in limiters, bars and findings; texts go to *texts. judge.c */
int opk_answer_judge(struct opk_answer *answer, struct opk_ctx *ctx,
                     const struct opk_answer_rules *rules, const struct opk_answer_values *values,
                     struct opk_strlist *texts);

enum { OPK_MOST_ANSWER_METRICS = 500 };
/* Values are of an evaluation of the set, or of a summary that has what the set needs. */
struct opk_answers {
	struct opk_answer *items;
	size_t count;
	bool kernels;
	char *key; /* of the statistics */
	unsigned keys;
	bool has_nvtx; /* a launch was in an NVTX range */
	uint64_t launches;
	double time_ns; /* of all kernels */
	struct opk_answer_rules rules;
	struct opk_strlist texts;
	struct opk_set *set;
	struct opk_index columns; /* of the set, by name */
	size_t column_count;
	OPK_LIST(struct opk_moments) times; /* of launches, by group */
	size_t timed;                       /* the column that has them */

	struct opk_evaluation *own;        /* the times of launches */
	struct opk_evaluation *evaluation; /* the set's columns */
	struct opk_aggregate *aggregate;
	struct opk_kernel_names *names;

	/* answers_summary.c */
	const struct opk_summary *summary; /* NULL: `aggregate` has values */
	struct opk_set_meta set_meta;
	struct opk_columns set_columns;
	struct opk_strlist metrics; /* that the set needs */
	size_t *places;             /* their columns in the summary's evaluation; SIZE_MAX: none */
};
/* The rules and the set; the answers come later. OPK_EUSAGE: there are no counters of kernels. */
int opk_answers_prepare(struct opk_answers **out, struct opk_ctx *ctx, const struct opk_meta *meta);
/* Takes the set's columns by their names. */
int opk_answers_index(struct opk_answers *answers, struct opk_ctx *ctx,
                      const struct opk_strlist *names);
/* Whether metrics that are needed were recorded: evaluating the set takes long in vain without. */
bool opk_answers_have_needs(const struct opk_answers *answers, const struct opk_meta *meta);
/* Finds what bounds `count` groups; `some`: not all kernels of the recording. */
int opk_answers_fill(struct opk_answers *answers, struct opk_ctx *ctx, size_t count, bool some);
/* The values of a group of the summary, one for each column of the set. */
void opk_answers_compute(double *out, const struct opk_answers *answers, size_t group);

#endif
