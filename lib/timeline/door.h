/* SPDX-License-Identifier: BSD-2-Clause */
/* What the command and other rooms use of this one, beside the public functions. */
#ifndef OPK_TIMELINE_DOOR_H
#define OPK_TIMELINE_DOOR_H

#include "base/ctx.h"
#include "eval/door.h"

/*
 * What was recorded of kernels, copies and sets as rows, and the values of PM samples that were
 * recorded beside it divided among them; docs/formats.md says how. Without samples there are no
 * values. `each_launch`: a row for each, in the order of their starts; else for each kernel. Idle
 * time of the GPU is the last row, but among launches only where there are samples: its values are
 * of all pauses together, and it has no launches in OPK_FACT_LAUNCHES. Rows are those of ranges:
 * their names are those of kernels and "(idle)".
 *
 * The options say what samples are evaluated for, and their conditions choose the rows here. `file`
 * must outlive the evaluation. OPK_EUSAGE: it does not say what ran, or it has no samples, which
 * metrics were asked for. OPK_EINPUT: it is cut off or damaged. Samples are evaluated as
 * opk_eval_file() does it.
 */
int opk_timeline_eval(struct opk_evaluation **out, struct opk_ctx *ctx, struct opk_file *file,
                      const struct opk_eval_options *options, bool each_launch);

#endif
