/* SPDX-License-Identifier: BSD-2-Clause */
/* Sets of chips as bits, by compute capability. */
#include "chip/chip.h"

#include <string.h>

static opk_chip_mask bit(size_t i)
{
	return (opk_chip_mask)1 << i;
}

opk_chip_mask opk_chips_all(void)
{
	return opk_chips_between(OPK_CC_NONE, OPK_CC_OPEN);
}

opk_chip_mask opk_chips_between(unsigned least, unsigned most)
{
	opk_chip_mask mask = most >= OPK_CC_OPEN ? OPK_CHIPS_LATER : 0;
	unsigned known = 0;

	for (size_t i = 0; i < OPK_CHIP_MASK_LATER && opk_chip_known(i); i++) {
		unsigned now = opk_capability_number(opk_chip_known_facts(i).compute_capability);

		known = now ? now : known;
		if (known >= least && known <= most)
			mask |= bit(i);
	}
	return mask;
}

/* All chips of the i-th one's architecture. */
static opk_chip_mask architecture_of(size_t i)
{
	const char *architecture = opk_chip_known_facts(i).architecture;
	opk_chip_mask mask = 0;

	for (size_t k = 0; k < OPK_CHIP_MASK_LATER && opk_chip_known(k); k++)
		if (!strcmp(opk_chip_known_facts(k).architecture, architecture))
			mask |= bit(k);
	return mask;
}

bool opk_chip_mask_names(struct opk_strlist *out, opk_chip_mask mask)
{
	for (size_t i = 0; i < OPK_CHIP_MASK_LATER && opk_chip_known(i); i++) {
		opk_chip_mask family = architecture_of(i);
		bool whole = (mask & family) == family;

		if (!(mask & bit(i)))
			continue;
		if (!opk_strlist_add(out, whole ? opk_chip_known_facts(i).architecture
		                                : opk_chip_known(i)))
			return false;
		mask &= ~(whole ? family : bit(i));
	}
	return true;
}
