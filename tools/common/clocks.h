/* SPDX-License-Identifier: BSD-2-Clause */
/* Clocks of the GPUs while ranges were recorded. */
#ifndef OPK_TOOL_CLOCKS_H
#define OPK_TOOL_CLOCKS_H

#include "offpeak.h"

struct clock_span {
	uint32_t least, most; /* MHz, over all GPUs; 0 where unknown */
	bool drifted;         /* those of some GPU, by more than OPK_CLOCK_DRIFT */
};

struct clocks {
	struct clock_span sm, memory;
};

void clocks_find(struct clocks *out, const struct opk_range *ranges, size_t count);
/* "1755 to 1980", "1980", or "" where it is unknown; free(). NULL: no memory. */
char *clock_text(const struct clock_span *span);

#endif
