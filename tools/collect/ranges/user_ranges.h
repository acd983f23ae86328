/* SPDX-License-Identifier: BSD-2-Clause */
/* Each thread's stack of ranges that the program pushed and did not pop yet. */
#ifndef OPK_USER_RANGES_H
#define OPK_USER_RANGES_H

#include "collect/shared/nvtx_filter.h"

/* What NVTX returns: the level of the range, from 0; negative where memory is out. */
int user_range_push(const char *domain, const char *name);
/* Ends the innermost range of the domain; negative where there is none. */
int user_range_pop(const char *domain);

/* The calling thread's ranges, outermost first. */
const struct user_range *user_ranges(size_t *count);
/*
 * Their names with '/' between, "DOMAIN@" before those of a domain, '/' and '\' inside a name after
 * a '\'; "" where there are none.
 */
const char *user_range_path(void);

/*
 * Hears of each push, when the range is on the stack, and of each pop, before it leaves; on the
 * thread that does it. `depth` is the stack's, with the range. NULL: there is no listener.
 */
struct user_range_listener {
	void (*pushed)(size_t depth);
	void (*popping)(size_t depth);
};
void user_ranges_listen(const struct user_range_listener *listener);

/* What offpeak_range.h finds here. */
void offpeak_collect_push(const char *name);
void offpeak_collect_pop(void);

#endif
