/* SPDX-License-Identifier: BSD-2-Clause */
/* What the command and other rooms use of this one. */
#ifndef OPK_ANSWERS_DOOR_H
#define OPK_ANSWERS_DOOR_H

#include "base/ctx.h"
#include "base/mem.h"
#include "base/strlist.h"
#include "eval/door.h"
#include "summary/door.h"

/* The most that is said of a kernel. */
enum { OPK_MOST_FINDINGS = 5, OPK_BARS = 5 };

/* How far a part of the GPU, or what warps wait for, explains a kernel's time. */
struct opk_limiter {
	const char *name;  /* of the rule: "dram"; NULL: not known */
	const char *label; /* for people: "DRAM" */
	double percent;    /* of the part's peak, of the SMs' time or of the warps' time */
};

/* Something to do about a kernel. */
struct opk_answer_finding {
	const char *name; /* of the rule */
	const char *text; /* a sentence with its values */
	const char *advice, *because;
	/* At most this share of the kernel's time can be saved, from 0 to 1. */
	double gain;
	bool about_limiter; /* then it comes before the others */
};

/* A kernel, or a range of the program, with all its launches. */
struct opk_answer {
	const char *name;
	const char *full; /* the kernel's whole name, or the range's */
	const char *nvtx; /* the path of the ranges around its launches; "": none, or several */
	size_t number;    /* for opk_answers_value() */
	uint64_t launches, timed; /* all, and those whose time is known */
	/* Its launches together, and that in percent of all kernels, or of the outermost ranges. */
	double time_ns, share;
	/* The mean time of many more launches is within so many percent, at 95%; NaN: unknown. */
	double within;
	struct opk_limiter limiter, next;
	const char *text;      /* what limits it, in words with values */
	const char *remark;    /* on its time, a sentence; "": none */
	bool sure;             /* the limiter's values are clear */
	bool whole;            /* what is needed for the limiter is known */
	double bars[OPK_BARS]; /* percent of peak over the kernel's time; NaN: unknown */
	/* Percent of the warps that an SM can hold: while it is active; the most of such blocks. */
	double occupancy, possible;
	struct opk_answer_finding findings[OPK_MOST_FINDINGS]; /* the greatest gain first */
	size_t finding_count;
};

struct opk_answers;
/*
 * What bounds the kernels of a recording of ranges, those with the most time first: evaluates the
 * set "answers", of which the recording may lack metrics, and applies data/findings.yaml. `file`
 * must outlive it. OPK_EUSAGE: the recording has no counters of kernels. OPK_EFAILED: no rules are
 * installed. Others: as opk_eval_file().
 */
int opk_answers_new(struct opk_answers **out, struct opk_ctx *ctx, struct opk_file *file,
                    const struct opk_answers_options *options);
/*
 * The same of a summary, in steps, so that the file is evaluated once: begin, make the summary with
 * these metrics besides, let the answers see the values of launches, finish. The summary must
 * outlive the answers. OPK_EUSAGE: the recording lacks what answers need.
 */
int opk_answers_begin(struct opk_answers **out, struct opk_ctx *ctx, struct opk_file *file);
const struct opk_strlist *opk_answers_metrics(const struct opk_answers *answers);
/* What the set "answers" means on this chip; after opk_answers_begin(). */
const char *opk_answers_set_hash(const struct opk_answers *answers);
const char *opk_answers_definition(const struct opk_answers *answers);
/* The evaluation's column with the times of launches. */
void opk_answers_watch(struct opk_answers *answers, size_t time_column);
/* As `take` of struct opk_summary_values. */
void opk_answers_take(struct opk_answers *answers, size_t group, size_t column,
                      const double *values, size_t count);
/* `some`: the summary does not have all kernels of the recording. */
int opk_answers_finish(struct opk_answers *answers, struct opk_ctx *ctx,
                       const struct opk_summary *summary, bool some);
void opk_answers_free(struct opk_answers *answers);
OPK_DEFINE_AUTO(opk_answers)
/* Whether the recording has what answers need: else limiters may be others than these. */
bool opk_answers_are_whole(const struct opk_answers *answers);
/* Whether launches in different NVTX ranges are kept apart. */
bool opk_answers_by_nvtx(const struct opk_answers *answers);
/* Whether some launch of the recording was in such a range. */
bool opk_answers_have_nvtx(const struct opk_answers *answers);
/* Kernels, or ranges of the program. */
bool opk_answers_are_kernels(const struct opk_answers *answers);
/* Launches of all kernels, and how long these ran together. */
uint64_t opk_answers_launches(const struct opk_answers *answers);
double opk_answers_time(const struct opk_answers *answers);
size_t opk_answers_count(const struct opk_answers *answers);
const struct opk_answer *opk_answers_get(const struct opk_answers *answers, size_t i);
/* A value of the set "answers" by its name there, the mean of a launch; NaN: unknown. */
double opk_answers_value(const struct opk_answers *answers, const struct opk_answer *answer,
                         const char *name);
/* The name of a bar: "compute". */
const char *opk_answers_bar(size_t bar);

/* What text and pages say alike: answers_text.c. */
enum { OPK_ANSWER_TEXT = 128 };
/* "3.55 s" */
const char *opk_answer_time(char out[OPK_ANSWER_TEXT], double ns);
/* "53 launches, 3 timed, +-15%" */
const char *opk_answer_launches(char out[OPK_ANSWER_TEXT], const struct opk_answers *answers,
                                const struct opk_answer *answer);
/* What is said of a limiter that no finding is about; NULL: there are findings, or no limiter. */
const char *opk_answer_without_finding(const struct opk_answer *answer);
/* What a share of the time is of: "GPU time", or "all ranges". */
const char *opk_answers_whole(const struct opk_answers *answers);
/* "5 kernels, 265 launches, 26.2 ms of GPU time" */
const char *opk_answers_head(char out[OPK_ANSWER_TEXT], const struct opk_answers *answers);

#endif
