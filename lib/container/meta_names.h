/* SPDX-License-Identifier: BSD-2-Clause */
/* What a name means in a recording's columns and formulas: a metric, by name or label, or a derived one. */
#ifndef OPK_META_NAMES_H
#define OPK_META_NAMES_H

#include "base/ctx.h"

struct opk_meta_name {
	const char *name;
	bool derived;
	bool label;   /* of a metric */
	size_t index; /* of the metric, or of the derived one */
};

struct opk_meta_names {
	struct opk_meta_name *items; /* sorted */
	size_t count;
};

/*
 * Borrows from `meta`, whose labels name metrics of its own. OPK_EINPUT where a label or derived
 * one has another's name, or a label's metric is none.
 */
int opk_meta_names_init(struct opk_meta_names *names, struct opk_ctx *ctx,
                        const struct opk_meta *meta);
void opk_meta_names_clear(struct opk_meta_names *names);
const struct opk_meta_name *opk_meta_names_find(const struct opk_meta_names *names,
                                                const char *name);

#endif
