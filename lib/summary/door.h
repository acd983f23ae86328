/* SPDX-License-Identifier: BSD-2-Clause */
/* What the command and other rooms use of this one, beside the public functions. */
#ifndef OPK_SUMMARY_DOOR_H
#define OPK_SUMMARY_DOOR_H

#include "base/ctx.h"

/*
 * What was evaluated, whose rows were all read already; NULL for a set, and where only what ran was
 * recorded.
 */
struct opk_evaluation *opk_summary_evaluation(const struct opk_summary *summary);

/*
 * The place of a column of that name among `columns` of struct opk_aggregated; SIZE_MAX: there is
 * none.
 */
size_t opk_summary_find(const struct opk_summary *summary, const char *column);

#endif
