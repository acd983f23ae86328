/* SPDX-License-Identifier: BSD-2-Clause */
/* Key groups: ranges that share a key; what a key has, and what its ranges have in common. */
#ifndef OPK_GROUPING_H
#define OPK_GROUPING_H

#include "base/ctx.h"
#include "base/index.h"

enum opk_key_part {
	OPK_KEY_NAME = 1 << 0,
	OPK_KEY_KERNEL = 1 << 1, /* and its symbol */
	OPK_KEY_SHAPE = 1 << 2,  /* grid and block */
	OPK_KEY_SHARED = 1 << 3, /* bytes of shared memory */
	OPK_KEY_LAUNCH = 1 << 4, /* index */
	OPK_KEY_NVTX = 1 << 5,
	OPK_KEY_DEVICE = 1 << 6,
	OPK_KEY_RANK = 1 << 7,
	OPK_KEY_GROUP = 1 << 8, /* of metrics */
};

/* "kernel,rank" to parts. OPK_EUSAGE says which words there are. */
int opk_key_parse(unsigned *out, struct opk_ctx *ctx, const char *text);

struct opk_grouped {
	struct opk_range range; /* what all have in common; what they differ in is as unknown */
	char *name;             /* of the first */
	bool many_names;
	bool many_streams; /* `range.stream` can't say that it is unknown */
	uint64_t rows;
	uint64_t ranges;                    /* that the rows are of: more, where some are sums */
	uint64_t durations, duration_count; /* the sum of those known, and their number */
	char *key;                          /* what the numbers are found by */
};

/* Begin with { .key = parts }. Groups are in the order of the first range of each. */
struct opk_grouping {
	unsigned key;
	struct opk_grouped *groups;
	size_t count;
	size_t capacity;
	struct opk_index numbers; /* of groups, by their keys */
};

/* `range` may be NULL, where nothing is known of it but its name; its strings are borrowed. */
int opk_grouping_add(size_t *group, struct opk_grouping *grouping, struct opk_ctx *ctx,
                     const char *name, const struct opk_range *range);
void opk_grouping_clear(struct opk_grouping *grouping);
#define opk_autogrouping __attribute__((cleanup(opk_grouping_clear)))

#endif
