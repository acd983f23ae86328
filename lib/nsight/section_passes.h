/* SPDX-License-Identifier: BSD-2-Clause */
/* Nsight Compute's pass groups of PM sampling: which pass of a chip a metric belongs to. */
#ifndef OPK_SECTION_PASSES_H
#define OPK_SECTION_PASSES_H

#include "chip/chip_mask.h"

enum { OPK_PASS_CHIPS = 64 };

struct opk_pass_group {
	const char *name;   /* borrowed */
	opk_chip_mask seen; /* chips on which it has its pass */
	uint8_t pass[OPK_PASS_CHIPS];
};

/* A chip's groups are its passes, in the order in which they are asked for. */
struct opk_pass_groups {
	struct opk_pass_group *items;
	size_t count, capacity;
	uint8_t passes[OPK_PASS_CHIPS]; /* so far, of each chip */
	bool failed;                    /* out of memory */
};

/* Those of the chips on which the group (NULL: none) is the pass of that number, from 0. */
opk_chip_mask opk_pass_chips(struct opk_pass_groups *groups, const char *group, opk_chip_mask chips,
                             size_t pass);
void opk_pass_groups_clear(struct opk_pass_groups *groups);

#endif
