/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef OPK_SET_H
#define OPK_SET_H

#include "base/ctx.h"
#include "base/strlist.h"

struct opk_set {
	char *name;
	char *description;
	char *path; /* "" unless from a file */
	bool has_profiler;
	enum opk_profiler profiler;
	struct opk_strlist metrics;
	struct opk_strlist places; /* "file:line:column" of each metric, or "" */
	struct opk_strlist chips;
	struct opk_strlist chip_places;
};

/* An empty set of that name. */
struct opk_set *opk_set_create(const char *name, const char *path);
/* Adds a metric once; false when out of memory. */
bool opk_set_add_metric(struct opk_set *set, const char *metric, const char *place);

/* Whether the set names the chip, or none at all. */
bool opk_set_claims(const struct opk_set *set, const char *chip);

OPK_DEFINE_AUTO(opk_set)

#endif
