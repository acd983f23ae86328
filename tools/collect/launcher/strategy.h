/* SPDX-License-Identifier: BSD-2-Clause */
/* Before the program starts: whether the set can be collected, and how. */
#ifndef OPK_STRATEGY_H
#define OPK_STRATEGY_H

#include "collect/launcher/command_line.h"

/*
 * The fastest way that is sound for the set's metrics, or the one that was asked for, into the
 * settings; *groups of the set take turns, or 0: the whole set is collected. Checks every checksum
 * of the set. OPK_OK or an exit code, with a message on stderr.
 */
int strategy_choose(struct settings *settings, size_t *groups);
/* Whether this user may read GPU counters, as far as the driver says; otherwise a message. */
int strategy_permission(void);

#endif
