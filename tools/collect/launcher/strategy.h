/* SPDX-License-Identifier: BSD-2-Clause */
/* Before the program starts: whether the set can be collected, and how. */
#ifndef OPK_STRATEGY_H
#define OPK_STRATEGY_H

#include "collect/launcher/command_line.h"
#include "collect/shared/settings.h"

struct strategy {
	enum collect_mode mode;
	enum collect_turns turns;
	bool application; /* the program runs once for each group, and level of user ranges */
	size_t groups;    /* that it runs for, at least 1 */
	bool tight;       /* see struct settings */
	bool grouped;     /* the groups are the set's; else there is one, the whole set */
};

/*
 * The fastest way that is sound for the set's metrics, or the one that was asked for. Checks every
 * checksum of the set. OPK_OK or an exit code, told on stderr.
 */
int strategy_choose(struct strategy *strategy, const struct request *request);
/* Whether this user may read GPU counters, as far as the driver tells; the remedies on stderr. */
int strategy_permission(void);

#endif
