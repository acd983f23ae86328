/* SPDX-License-Identifier: BSD-2-Clause */
/* Which chips a part of a section is for. */
#ifndef OPK_SECTION_FILTER_H
#define OPK_SECTION_FILTER_H

#include "chip/chip_mask.h"
#include "nsight/section_text.h"

struct opk_section_filter {
	opk_chip_mask chips;
	bool old_driver; /* only for drivers up to a version */
};

/*
 * What the message's own filters say: MinArch and MaxArch, or any of several Items of them.
 * Conditions that are not of chips (how it is collected, which platform) let all pass. OPK_EINPUT,
 * with the place: an architecture that is not like CC_90.
 */
int opk_section_filter(struct opk_section_filter *out, struct opk_ctx *ctx,
                       const struct opk_field *message);

#endif
