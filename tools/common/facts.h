/* SPDX-License-Identifier: BSD-2-Clause */
/* What is recorded of ranges, and so worth a column. */
#ifndef OPK_TOOLS_FACTS_H
#define OPK_TOOLS_FACTS_H

#include "offpeak.h"

/*
 * Adds the facts that some of these ranges have to those found so far: the kernel and its launch
 * shape, device, nvtx, rank, number of summed ranges and duration; with `all` every other one, too.
 */
void facts_find(bool found[OPK_FACT_COUNT], const struct opk_range *ranges, size_t count, bool all);
/* Whether any of these ranges has it recorded. */
bool facts_known(enum opk_fact fact, const struct opk_range *ranges, size_t count);

#endif
