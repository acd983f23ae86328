/* SPDX-License-Identifier: BSD-2-Clause */
/* Questions about one growing pass. */
#ifndef OPK_BESIDE_H
#define OPK_BESIDE_H

#include "base/ctx.h"
#include "base/strlist.h"

struct opk_nv_scheduler;

/* Whether these counters, as numbers of names and each once, fit one pass of the scheduler. */
struct opk_question {
	const struct opk_strlist *names;
	struct opk_nv_scheduler *scheduler;
	const size_t *counters;
	size_t count;
};

/* Start with a zeroed struct. */
struct opk_beside {
	struct opk_nv_scheduler *pass;       /* with the counters that are marked as held */
	const struct opk_nv_scheduler *like; /* `pass` has the same GPU and domains */
	uint8_t *marks;                      /* one per counter */
	size_t mark_count;
	size_t held_count;
	size_t fitting_count; /* of the last set that fitted */
};

void opk_beside_clear(struct opk_beside *beside);

/* Notes that the answer is yes. false: out of memory. */
bool opk_beside_note(struct opk_beside *beside, const struct opk_question *question);
/*
 * Asks PerfWorks. If the counters include the last set that fitted, asks only whether the
 * additional ones fit beside it.
 */
int opk_beside_ask(bool *out, struct opk_ctx *ctx, struct opk_beside *beside,
                   const struct opk_question *question);

#endif
