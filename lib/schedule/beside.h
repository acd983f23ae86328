/* SPDX-License-Identifier: BSD-2-Clause */
/* Questions about one pass that grows. */
#ifndef OPK_BESIDE_H
#define OPK_BESIDE_H

#include "base/ctx.h"
#include "base/strlist.h"

struct opk_nv_scheduler;

/* Begins zeroed. */
struct opk_beside {
	struct opk_nv_scheduler *pass;       /* with the counters that are marked as held */
	const struct opk_nv_scheduler *like; /* for the same GPU and domains as this one */
	uint8_t *marks;                      /* one a counter */
	size_t mark_count;
	size_t held_count;
	size_t fitting_count; /* of the last set that was found to fit */
};

void opk_beside_clear(struct opk_beside *beside);

/* These counters, numbers among the names, fit one pass of the scheduler. false: out of memory. */
bool opk_beside_note(struct opk_beside *beside, const struct opk_strlist *names,
                     const struct opk_nv_scheduler *scheduler, const size_t *counters,
                     size_t count);
/*
 * Whether these do: where they have all of the last ones, it is asked about what they have beside
 * these.
 */
int opk_beside_ask(bool *out, struct opk_ctx *ctx, struct opk_beside *beside,
                   const struct opk_strlist *names, struct opk_nv_scheduler *scheduler,
                   const size_t *counters, size_t count);

#endif
