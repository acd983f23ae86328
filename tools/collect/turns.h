/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who collects which one-pass group, where a set needs several: launches take them batch by batch,
 * repetitions of a user range one after the other. A change of group costs the profiler what a new image
 * of the same group does, 9 to 52 ms (H100), as much as some ten launches.
 */
#ifndef OPK_TURNS_H
#define OPK_TURNS_H

#include <stddef.h>
#include <stdint.h>

/* Of launches. */
struct rotation {
	size_t groups;
	size_t turn; /* batches begun before the present one */
};

/* The present group, from 0. */
size_t rotation_group(const struct rotation *rotation);
/*
 * How many launches the present batch takes. The first round is short, so that short programs see every
 * group; later ones fill an image, and are of uneven length, so that a program which repeats itself does
 * not show each group the same launches for ever.
 */
uint32_t rotation_batch(const struct rotation *rotation);
void rotation_next(struct rotation *rotation);

/* Of outermost user ranges with one name. */
struct repetitions {
	struct repetition *names;
	size_t count;
};

struct turn {
	size_t group; /* from 0 */
	size_t level; /* from 1 */
};

/*
 * The turn of this repetition: all groups at level 1, then all at level 2, up to `levels`, then from
 * the start. Beyond memory or 4096 names it is always the first.
 */
struct turn repetitions_next(struct repetitions *repetitions, const char *name, size_t groups,
                             size_t levels);
void repetitions_clear(struct repetitions *repetitions);

#endif
