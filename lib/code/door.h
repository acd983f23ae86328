/* SPDX-License-Identifier: BSD-2-Clause */
/* What the command and other rooms use of this one. */
#ifndef OPK_CODE_DOOR_H
#define OPK_CODE_DOOR_H

#include "base/ctx.h"
#include "eval/door.h"

/*
 * Counts and samples of instructions as rows: OPK_ROWS_INSTRUCTIONS, _LINES or _FUNCTIONS. Counts
 * of all sections of the file add up. The default metrics are the columns of the metadata's set
 * where that is for instructions, and all others that were counted, by name. A child process
 * finds source lines (cuptiGetSassToSourceCorrelation), because modules may be damaged; without
 * them, or without a usable libcupti, lines are unknown. `file` must outlive the evaluation.
 * OPK_EUSAGE: nothing was counted at instructions. OPK_EINPUT: the file is cut off or damaged.
 */
int opk_code_eval(struct opk_evaluation **out, struct opk_ctx *ctx, struct opk_file *file,
                  const struct opk_eval_options *options, enum opk_rows rows);

/* Whether columns or conditions are of the opcode or the SASS text, which take a disassembler. */
bool opk_code_names_sass(const char *const *texts, size_t count);

/* ---- where time goes, for people: hot.c ------------------------------------------------------ */

/* What the metrics of samples begin with, before their reason. */
#define OPK_HOT_STALLED "smsp__pcsamp_warps_issue_stalled_"

/* A row of code, with what was counted there. NaN: no section of the file counts it there. */
struct opk_hot_place {
	const struct opk_row *row; /* its facts */
	double samples;            /* of all stall reasons */
	const char *reason;        /* with the most samples, without warps being ready; "": none */
	double of_reason;          /* its samples */
	const double *of_reasons;  /* the samples of each reason; NaN: unknown */
	double executed;           /* warps that executed it, times */
	double threads;            /* threads that executed it, times */
	double sectors, ideal;     /* of global memory: moved, and the fewest that would do */
};

/* Whether a recording has only counts and samples of instructions: no ranges to sum up. */
bool opk_hot_is_alone(const struct opk_file *file, const struct opk_meta *meta);

struct opk_hot;

struct opk_hot_options {
	enum opk_rows rows; /* OPK_ROWS_INSTRUCTIONS, _LINES or _FUNCTIONS */
	const char *kernel; /* a condition's pattern; NULL: all */
	bool allow_incomplete;
	bool in_order; /* in the order of modules, functions and code, not of heat */
};

/*
 * All places, those with the most samples first; without samples, those that executed most. Errors
 * as opk_code_eval(). `file` must outlive the result. opk_hot_free() accepts NULL.
 */
int opk_hot_new(struct opk_hot **out, struct opk_ctx *ctx, struct opk_file *file,
                const struct opk_hot_options *options);
void opk_hot_free(struct opk_hot *hot);
OPK_DEFINE_AUTO(opk_hot)

size_t opk_hot_count(const struct opk_hot *hot);
const struct opk_hot_place *opk_hot_get(const struct opk_hot *hot, size_t i);
/* What a share is of: the samples, or executed instructions, of all places of all kernels. */
double opk_hot_whole(const struct opk_hot *hot);
/* The place's part of it in percent; NaN: unknown. */
double opk_hot_share(const struct opk_hot *hot, size_t i);
/* The reasons why warps wait, or are ready: those of `of_reasons` of places. */
size_t opk_hot_reason_count(const struct opk_hot *hot);
const char *opk_hot_reason(const struct opk_hot *hot, size_t reason);
bool opk_hot_is_sampled(const struct opk_hot *hot);
/* Whether any place has them. */
bool opk_hot_is_counted(const struct opk_hot *hot);
bool opk_hot_has_sectors(const struct opk_hot *hot);

/* ---- source files on the machine that reads the recording: sources.c ------------------------- */

struct opk_sources;

/*
 * `maps` are texts OLD=NEW: a recorded path that begins with OLD begins with NEW here; the first
 * that fits holds. Copies nothing: `maps` must outlive it. OPK_EUSAGE: a map is no such text.
 */
int opk_sources_new(struct opk_sources **out, struct opk_ctx *ctx, const char *const *maps,
                    size_t count);
void opk_sources_free(struct opk_sources *sources);
OPK_DEFINE_AUTO(opk_sources)

/*
 * *out: the line of this file without its newline, *length bytes; NULL: there is no such file,
 * regular and of at most 16 MiB, or no such line. It lasts as long as `sources`. OPK_ENOMEM.
 */
int opk_sources_line(const char **out, size_t *length, struct opk_sources *sources,
                     const char *path, uint32_t line);

#endif
