/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which pass group is collected when, where a set needs several: launches take them image by image,
 * repetitions of a user range one after the other. With the groups in their order, a change costs
 * the profiler what any new image does, 20 to 50 ms (H100), as much as that many launches.
 */
#ifndef OPK_TURNS_H
#define OPK_TURNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The turns of launches. */
struct rotation {
	size_t groups;
	size_t turn; /* images before the present one */
};

/* The present group, from 0. */
size_t rotation_group(const struct rotation *rotation);
/*
 * How many launches the present image takes, of the `room` that it has. The first round is short,
 * so that short programs see every group; later ones are of uneven length, so that a program which
 * repeats itself shows every group all of its launches in time.
 */
uint32_t rotation_batch(const struct rotation *rotation, uint32_t room);
/*
 * `cut`: the image ended early. After the first round one turn in eight is left out then, in case
 * it was the program's rhythm that did it.
 */
void rotation_next(struct rotation *rotation, bool cut);

/* The turns of outermost user ranges, by their names. */
struct repetitions {
	struct repetition *names;
	size_t count, capacity;
};

struct turn {
	size_t group; /* from 0 */
	size_t level; /* from 1 */
};

/*
 * The turn of this repetition: all groups at level 1, then all at level 2, up to `levels`, then
 * from the start. Beyond memory or 4096 names it is always the first.
 */
struct turn repetitions_next(struct repetitions *repetitions, const char *name, size_t groups,
                             size_t levels);
void repetitions_clear(struct repetitions *repetitions);

#endif
