/* SPDX-License-Identifier: BSD-2-Clause */
/* What is recorded of ranges, and so worth a column. */
#ifndef OPK_TOOLS_FACTS_H
#define OPK_TOOLS_FACTS_H

#include "offpeak.h"

/* Whether any of these ranges has it recorded. */
bool facts_known(enum opk_fact fact, const struct opk_range *ranges, size_t count);

#endif
