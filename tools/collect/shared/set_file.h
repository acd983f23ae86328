/* SPDX-License-Identifier: BSD-2-Clause */
/* What set.opk holds for the collector. */
#ifndef OPK_COLLECT_SET_H
#define OPK_COLLECT_SET_H

#include "offpeak.h"

/* Config image and counter-data prefix that belong together. */
struct image_set {
	void *config, *prefix;
	size_t config_size, prefix_size;
};

struct collect_set {
	struct opk_ctx *ctx;
	struct opk_file *file;
	const struct opk_meta *meta;
	struct image_set *images; /* number 0: the whole set's; then one a pass group */
	size_t image_count;
	void *turns_config; /* a pass for each group; NULL without groups */
	size_t turns_config_size;
};

/*
 * Opens the set and checks that it is whole, byte by byte; its images stay in the file. OPK_OK, or
 * a message on stderr. collect_set_clear() in either case.
 */
int collect_set_open(struct collect_set *set, const char *path);
/* Opens it as above, and decodes its images. */
int collect_set_load(struct collect_set *set, const char *path);
void collect_set_clear(struct collect_set *set);

/*
 * A range that is pushed around a launch holds some microseconds of idle time, which count into
 * elapsed cycles and times, and so into what is divided by them. Counts and what is counted in
 * active cycles are right.
 */
bool metric_is_inflated(const char *metric);
/* The names of such metrics among those of a set, borrowed from it; free() the list. */
const char **inflated_metrics(size_t *count, const struct opk_meta *meta);

#endif
