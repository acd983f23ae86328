/* SPDX-License-Identifier: BSD-2-Clause */
/* What the command and other rooms use of this one. */
#ifndef OPK_CODE_DOOR_H
#define OPK_CODE_DOOR_H

#include "base/ctx.h"
#include "eval/door.h"

/*
 * Counts and samples of instructions as rows: OPK_ROWS_INSTRUCTIONS, _LINES or _FUNCTIONS. Counts
 * of all sections of the file add up. The metrics are those that were counted; by default those of
 * the metadata's set where it is one for instructions, else all. A child process finds source lines
 * (cuptiGetSassToSourceCorrelation), because modules may be damaged; without them, or without a
 * usable libcupti, lines are unknown. `file` must outlive the evaluation. OPK_EUSAGE: nothing was
 * counted at instructions. OPK_EINPUT: the file is cut off or damaged.
 */
int opk_code_eval(struct opk_evaluation **out, struct opk_ctx *ctx, struct opk_file *file,
                  const struct opk_eval_options *options, enum opk_rows rows);

#endif
