/* SPDX-License-Identifier: BSD-2-Clause */
/* What the command and other rooms use of this one, beside the public functions. */
#ifndef OPK_COMPARE_DOOR_H
#define OPK_COMPARE_DOOR_H

#include "base/ctx.h"

/* All rules in the order in which they were added, borrowed. */
size_t opk_diff_rules_count(const struct opk_diff_rules *rules);
const struct opk_diff_rule *opk_diff_rules_get(const struct opk_diff_rules *rules, size_t i);

#endif
