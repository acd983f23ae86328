/* SPDX-License-Identifier: BSD-2-Clause */
/* What the command and other rooms use of this one, beside the public functions. */
#ifndef OPK_TIMELINE_DOOR_H
#define OPK_TIMELINE_DOOR_H

#include "base/ctx.h"
#include "eval/door.h"

/*
 * Gives recorded kernels, copies and sets as rows, and divides the values of PM samples recorded
 * beside them among the rows; docs/formats.md says how. Without samples there are no values.
 * `each_launch`: a row per launch, in the order of starts; else a row per kernel. The last row is
 * the GPU's idle time; with `each_launch` it needs samples. Its values are of all pauses together,
 * and OPK_FACT_LAUNCHES is unknown for it. Rows have the facts of ranges, and kernels or "(idle)"
 * as names.
 *
 * Samples are evaluated for the metrics of the options, whose conditions choose rows. `file` must
 * outlive the evaluation. OPK_EUSAGE: it does not record what ran, or metrics were asked for and it
 * has no samples. OPK_EINPUT: it is cut off or damaged. Samples are evaluated as opk_eval_file()
 * does it.
 */
int opk_timeline_eval(struct opk_evaluation **out, struct opk_ctx *ctx, struct opk_file *file,
                      const struct opk_eval_options *options, bool each_launch);

/* The program's calls, by process and correlation; records are borrowed. Begins zeroed. */
struct opk_calls {
	const struct opk_activity **items;
	size_t count;
};
int opk_calls_find(struct opk_calls *calls, struct opk_ctx *ctx,
                   const struct opk_activity *activities, size_t count);
/* The call that launched a record of GPU work; NULL: it is not recorded. */
const struct opk_activity *opk_calls_of(const struct opk_calls *calls,
                                        const struct opk_activity *ran);
/*
 * Of the time in which the GPU did nothing before this work: how long the program had not called
 * yet. The rest is what launching takes. `idle_from`: the end of all earlier work of the GPU.
 */
uint64_t opk_calls_host_gap(const struct opk_activity *call, const struct opk_activity *ran,
                            uint64_t idle_from);
void opk_calls_clear(struct opk_calls *calls);

#endif
