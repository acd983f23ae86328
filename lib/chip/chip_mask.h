/* SPDX-License-Identifier: BSD-2-Clause */
/* Sets of chips that something is for, by compute capability, without NVIDIA's libraries. */
#ifndef OPK_CHIP_MASK_H
#define OPK_CHIP_MASK_H

#include "base/strlist.h"

/* A bit for each chip that chip_facts.c has, in its order, and one for all that are yet to come. */
typedef uint64_t opk_chip_mask;
enum { OPK_CHIP_MASK_LATER = 63 };
#define OPK_CHIPS_LATER ((opk_chip_mask)1 << OPK_CHIP_MASK_LATER)

opk_chip_mask opk_chips_all(void);
/*
 * Compute capabilities as in sm_90 or CC_100, both ends included. Chips to come are there where
 * there is no upper end. A chip whose capability is not known goes with the one before it.
 */
enum { OPK_CC_NONE = 0, OPK_CC_OPEN = 100000 };
opk_chip_mask opk_chips_between(unsigned least, unsigned most);
/* Architectures that are there as a whole, else chips; chips to come are not named. */
bool opk_chip_mask_names(struct opk_strlist *out, opk_chip_mask mask);

#endif
