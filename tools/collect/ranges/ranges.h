/* SPDX-License-Identifier: BSD-2-Clause */
/* What the program does: kernels, its own ranges, and whose turn a launch is. */
#ifndef OPK_COLLECT_RANGES_H
#define OPK_COLLECT_RANGES_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collect/shared/shared.h"

/* A turn of a user range that repeats: which pass, and which level of ranges. */
struct turn {
	size_t pass;  /* from 0 */
	size_t level; /* from 1 */
};

/*
 * The ranges of one NVTX domain that a thread pushed and did not pop yet. Each domain nests by
 * itself: a library's ranges are neither inside the program's nor around them.
 */
struct user_nest {
	char *domain;                               /* "": the default one */
	struct user_range ranges[USER_RANGE_DEPTH]; /* outermost first */
	size_t count;
	size_t beyond; /* pushed where there was no room */
	/* What the collector keeps here. */
	struct turn turn; /* of the outermost range */
	size_t outside;   /* so many outer ranges began where --capture-range lets nothing in */
};

/* What NVTX returns: the level of the range in its domain, from 0; negative: out of memory. */
int user_range_push(const char *domain, const char *name);
/* Ends the innermost range of the domain; negative where there is none. */
int user_range_pop(const char *domain);

/* The calling thread's, the default domain first and then by their names; some may be empty. */
struct user_nest *const *user_nests(size_t *count);
/*
 * The names of a domain's ranges with '/' between, "DOMAIN@" before those of a domain, '/' and '\'
 * inside a name after a '\'; "" where there are none. It stays until the thread asks again.
 */
const char *user_nest_path(const struct user_nest *nest);
/* The paths of all domains, with '/' between, in the order of user_nests(). */
const char *user_range_path(void);

/*
 * Ranges of the whole process (nvtxRangeStart, nvtxRangeEnd): any thread may end one, and they
 * overlap as they like, so that they nest in nothing, and nothing in them.
 */

/* The id of a range that begins, from 1; 0 where memory is out. */
uint64_t started_range_begin(const char *domain, const char *name);
/* Does nothing where no open range has this id. */
void started_range_end(uint64_t id);
/* Whether one is open that a filter names. */
bool started_range_match(const struct nvtx_filter *filter);
/*
 * Hears, on the thread that does it, of each push, when the range is the domain's innermost one; of
 * each pop, while it still is; and of each range of the process that begins, or has ended. NULL: of
 * none of these.
 */
struct range_listener {
	void (*pushed)(struct user_nest *nest);
	void (*popping)(struct user_nest *nest);
	void (*started)(uint64_t id, const struct user_range *range);
	void (*ended)(uint64_t id, const struct user_range *range);
};
/* NULL: there is no listener. */
void ranges_listen(const struct range_listener *listener);
/* "DOMAIN@NAME", escaped as in a path; free(). NULL where memory is out. */
char *user_range_text(const struct user_range *range);

/* What offpeak_range.h finds here. */
void offpeak_collect_push(const char *name);
void offpeak_collect_pop(void);

/* The kernels that were launched so far, each once: its names, and whether a filter wants it. */

struct kernel {
	char *symbol; /* mangled */
	char *name;   /* demangled; the symbol itself where that can't be done */
	bool wanted;  /* symbol or name match the filter, or there is none */
};

struct kernels;

/* `filter` is borrowed; NULL wants all. NULL where memory is out. */
struct kernels *kernels_new(const regex_t *filter);
/* Stays valid until kernels_free(); NULL where memory is out. */
const struct kernel *kernels_find(struct kernels *kernels, const char *symbol);
void kernels_free(struct kernels *kernels);

/*
 * Says which pass is collected when, where a set needs several: launches take them image by image,
 * repetitions of a user range one after the other. With the passes in their order, a change costs
 * the profiler what any new image does, 20 to 50 ms (H100), as much as that many launches.
 */

/* The turns of launches, or of all ranges. */
struct rotation {
	size_t passes;
	size_t first; /* the pass of the first image, from 0 */
	size_t turn;  /* images before the present one */
};

/* Whether each pass has had a turn. */
bool rotation_is_round(const struct rotation *rotation);
/* How much room images of the present round should have, `most` at most: 8, 64, and then all. */
uint32_t rotation_room(const struct rotation *rotation, uint32_t most);

/* The present pass, from 0. */
size_t rotation_pass(const struct rotation *rotation);
/*
 * How many launches the present image takes, where it has room for `most` at most. The first rounds
 * are short, so that short programs see every pass. From then on turns are of uneven length, so
 * that a program which repeats itself shows every pass all of its launches in time.
 */
uint32_t rotation_batch(const struct rotation *rotation, uint32_t most);
/*
 * `cut`: the image ended early. After the first round one turn in eight is left out then, in case
 * it was the program's rhythm that did it.
 */
void rotation_next(struct rotation *rotation, bool cut);

/* The turns of outermost user ranges, by their names. */
struct repetitions {
	struct repetition *items; /* one a name */
	size_t count, capacity;
};

/*
 * The turn of this repetition: all passes at level 1, then all at level 2, up to `levels`, then
 * from the start. Beyond memory or 4096 names it is always the first.
 */
struct turn repetitions_next(struct repetitions *repetitions, const char *name, size_t passes,
                             size_t levels);
void repetitions_clear(struct repetitions *repetitions);

#endif
