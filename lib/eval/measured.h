/* SPDX-License-Identifier: BSD-2-Clause */
/* Which of the evaluated metrics the ranges of a group have. */
#ifndef OPK_MEASURED_H
#define OPK_MEASURED_H

#include "base/ctx.h"

struct opk_measured {
	const struct opk_meta *meta; /* NULL: a bare image, without groups */
	size_t *positions;           /* of the evaluated metrics in the set, or OPK_NOT_IN_SET */
	size_t count;
	bool *grouped;  /* of the evaluated metrics: in any group at all */
	bool *in_group; /* of the set's metrics */
	bool *current;  /* of the evaluated metrics: what the last call gave */
	bool known;     /* there was a call, for this group */
	uint32_t group;
};

#define OPK_NOT_IN_SET SIZE_MAX

/* Borrows `meta`. */
int opk_measured_init(struct opk_measured *measured, struct opk_ctx *ctx,
                      const struct opk_meta *meta, const char *const *metrics, size_t count);
void opk_measured_clear(struct opk_measured *measured);

/*
 * One a metric, valid until the next call; group 0 is the whole set, and the others must exist.
 * Metrics that are not in the set may be computed from what was collected for others: they are
 * true.
 */
const bool *opk_measured_by(struct opk_measured *measured, uint32_t group);

#endif
