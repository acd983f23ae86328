/* SPDX-License-Identifier: BSD-2-Clause */
/* What the program does: its kernels and ranges, and which pass a launch gets. */
#ifndef OPK_COLLECT_RANGES_H
#define OPK_COLLECT_RANGES_H

#include "collect/shared/shared.h"

/* A turn of a repeating user range: a pass, and a level of ranges. */
struct turn {
	size_t pass;  /* from 0 */
	size_t level; /* from 1 */
};

/*
 * The ranges of one NVTX domain that a thread pushed and has not popped. Domains nest
 * independently: a library's ranges are neither inside nor around the program's.
 */
struct user_nest {
	char *domain;                               /* "": the default domain */
	struct user_range ranges[USER_RANGE_DEPTH]; /* outermost first */
	size_t count;
	size_t beyond; /* number of ranges pushed without room */
	/* For the collector. */
	struct turn turn; /* of the outermost range */
	size_t outside;   /* number of outer ranges that began outside of --capture-range */
};

/* As NVTX returns it: the level of the range in its domain, from 0; negative: out of memory. */
int user_range_push(const char *domain, const char *name);
/* Ends the innermost range of the domain; negative if there is none. */
int user_range_pop(const char *domain);

/* The calling thread's nests, the default domain first, then by name; some may be empty. */
struct user_nest *const *user_nests(size_t *count);
/*
 * The names of a nest's ranges joined by '/', with "DOMAIN@" in front if it has a domain, and a '\'
 * before each '/' and '\' inside a name; "": no range is open. Valid until the thread asks again.
 */
const char *user_nest_path(const struct user_nest *nest);
/* The paths of all domains, joined by '/', in the order of user_nests(). */
const char *user_range_path(void);

/*
 * Ranges of the whole process (nvtxRangeStart, nvtxRangeEnd): any thread may end one. They overlap
 * freely, so they do not nest.
 */

/* The id of a new range, from 1; 0: memory is out. */
uint64_t started_range_begin(const char *domain, const char *name);
/* Does nothing if no open range has this id. */
void started_range_end(uint64_t id);
/* Whether an open range matches the filter. */
bool started_range_match(const struct nvtx_filter *filter);
/*
 * Called, on the acting thread, after each push, when the range is innermost in its domain; before
 * each pop, while it still is; and after each range of the process begins or ends. NULL members are
 * skipped.
 */
struct range_listener {
	void (*pushed)(struct user_nest *nest);
	void (*popping)(struct user_nest *nest);
	void (*started)(uint64_t id, const struct user_range *range);
	void (*ended)(uint64_t id, const struct user_range *range);
};
/* NULL: no listener. */
void ranges_listen(const struct range_listener *listener);
/* "DOMAIN@NAME", escaped as in a path; free(). NULL: memory is out. */
char *user_range_text(const struct user_range *range);

/* offpeak_range.h finds these here. */
void offpeak_collect_push(const char *name);
void offpeak_collect_pop(void);

/* The kernels launched so far, each once: their names, and whether a filter wants them. */

/* What the driver says about the function that was launched last: it does not change. */
struct function_facts {
	const void *handle;
	int registers;                             /* of a thread */
	uint32_t static_shared_plus_1, cluster[3]; /* as in struct opk_range */
};

struct kernel {
	char *symbol; /* mangled */
	char *name;   /* demangled; the symbol itself if that fails */
	bool wanted;  /* symbol or name matches the filter, or there is no filter */
	uint64_t launches;
	struct function_facts function;
};

struct kernels;

/* `filter` is borrowed; NULL wants all. NULL: memory is out. */
struct kernels *kernels_new(const struct kernel_filter *filter);
/* Valid until kernels_free(); NULL: memory is out. */
struct kernel *kernels_find(struct kernels *kernels, const char *symbol);
/* Counts a launch of the kernel; whether the filter wants it. */
bool kernels_launch(const struct kernels *kernels, struct kernel *kernel);
void kernels_free(struct kernels *kernels);

/* Functions that were launched or sampled. Begins zeroed, with `kernels`, which it does not own. */
struct launched {
	struct kernels *kernels;
	struct opk_index index; /* of functions, by symbol */
	OPK_LIST(struct launched_function) functions;
};
struct launched_function {
	const struct kernel *names; /* live as long as `kernels` */
	uint32_t launches;
	uint64_t samples;
	const void *handle; /* the driver's, of the last launch; NULL: none */
	uint64_t module;    /* its CRC, as far as counts or samples tell it; else 0 */
	bool several;       /* handles or modules have a function of that name */
};
/* Valid until the next call; NULL: memory is out. */
struct launched_function *launched_find(struct launched *launched, const char *symbol);
/*
 * Notes by which handle it is launched; true: by another one than before. The driver is not asked
 * for the module: that would load a library's module inside CUPTI's callback.
 */
bool launched_from(struct launched_function *function, const void *handle);
void launched_clear(struct launched *launched);

/*
 * Says which pass is collected when, where a set needs several: launches take them image by image,
 * repetitions of a user range one after the other. With the passes in their order, a change costs
 * the profiler what any new image does, 20 to 50 ms (H100), as much as that many launches.
 */

/* Launches that are alike. */
struct launch_kind {
	const char *kernel; /* the same string for the same kernel */
	uint32_t grid[3], block[3];
};

/* The turns of launches, or of all ranges. */
enum { FIRST_ROOM = 8 };
struct rotation {
	size_t passes;
	size_t first;      /* the pass of the first image, from 0 */
	size_t turn;       /* number of images before the present one */
	uint64_t launches; /* in these */
	/* us that a launch took in each pass, 0: not known; NULL: all passes are equal. */
	double *launch_us;
	/* Kinds of launches in the first round. */
	struct launch_kind kind[FIRST_ROOM];
	size_t kinds;
	unsigned present, all; /* bits of the kinds in this image, and in those before */
	bool many, missed;     /* more kinds than that; an image did not have all of them */
};

/* Whether each pass has had a turn. */
bool rotation_is_round(const struct rotation *rotation);
/* Notes what is launched, to know after the first round whether each image had everything. */
void rotation_saw(struct rotation *rotation, const struct opk_range *row);
/*
 * How many ranges images of the present round should hold: 8, 64, then `most`; 8, then `most` where
 * each image of the first round had all kinds of launches of that round.
 */
uint32_t rotation_room(const struct rotation *rotation, uint32_t most);

/* The present pass, from 0. */
size_t rotation_pass(const struct rotation *rotation);
/*
 * How many launches the present image takes, if it has room for `most`. The first rounds are short,
 * so that short programs get every pass. Later turns vary in length, so that in time every pass
 * sees all launches of a program that repeats itself. Passes in which launches take more than twice
 * as long as in the fastest get fewer of them in large images: at least a quarter, later an eighth.
 */
uint32_t rotation_batch(const struct rotation *rotation, uint32_t most);
/* Notes how long a launch took in the present image; the shortest time of each pass counts. */
void rotation_note(struct rotation *rotation, double launch_us);
/*
 * `cut`: the image ended early. After the first round this then skips one turn in eight, in case
 * the program's rhythm ended the image.
 */
void rotation_next(struct rotation *rotation, bool cut);

/* The turns of outermost user ranges, by name. */
struct repetitions {
	struct repetition *items; /* one per name */
	size_t count, capacity;
};

/*
 * The turn of this repetition: all passes at level 1, then all at level 2, up to `levels`, then
 * again from the start. Without memory, or beyond 4096 names, always the first turn.
 */
struct turn repetitions_next(struct repetitions *repetitions, const char *name, size_t passes,
                             size_t levels);

#endif
