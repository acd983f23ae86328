/* SPDX-License-Identifier: BSD-2-Clause */
/* What the command and other rooms use of this one, beside the public functions. */
#ifndef OPK_CONTAINER_DOOR_H
#define OPK_CONTAINER_DOOR_H

#include "base/ctx.h"

/* Checks one section's CRC without decoding it. OPK_EINPUT: it is wrong. */
int opk_file_verify(struct opk_ctx *ctx, const struct opk_file *file, size_t i);
/* The value of a fact of `run`, such as "hostname"; "" without it. It goes with the metadata. */
const char *opk_meta_fact(const struct opk_meta *meta, const char *name);

/*
 * The counter-availability image in a set, a recording or a probe, for this profiler: free() it.
 * `chip`, as "GH100", chooses among the chips of a probe; NULL: there is one only. OPK_EINPUT where
 * there is none: NVIDIA has an image of its own for each profiler. OPK_EUSAGE where GPUs of a probe
 * differ, as one without NVLink does.
 */
int opk_file_availability(void **data, size_t *size, struct opk_ctx *ctx, struct opk_file *file,
                          const char *chip, enum opk_profiler profiler);

/* A counter data image of a recording, and what the tables that name it say. */
struct opk_segment {
	size_t image;                   /* its section */
	bool has_ranges, has_times;     /* which tables there are */
	size_t row_count;               /* of each; 0 without a table */
	const struct opk_range *ranges; /* NULL where it has none */
	const struct opk_time *times;   /* NULL where it has none */
	uint32_t pass;          /* the pass that it has counters of, from 1; 0: it has all passes */
	const char *host, *gpu; /* of samples that no range table describes; "" where unknown */
};

/*
 * All segments in the order of their images; they go with the file. OPK_EINPUT where a link is
 * inconsistent: two tables of a kind for one image, tables of different lengths, a pass that is not
 * there. That an image has as many ranges as its tables have rows is seen when it is evaluated.
 */
int opk_file_segments(const struct opk_segment **segments, size_t *count, struct opk_ctx *ctx,
                      struct opk_file *file);

/*
 * Under the final name from the start, for a recording in the making: each section is in the file
 * when opk_writer_add() returns, and stays there if the process is killed. OPK_EFAILED where
 * something has that name, be it a link; nobody else can read the file. Should the program close
 * its descriptor, or give the number to another file, it is opened again by its name.
 */
int opk_writer_new_live(struct opk_writer **out, struct opk_ctx *ctx, const char *path);

/*
 * Goes on with a recording that was cut off, after its whole sections; an image that ends them,
 * whose table is missing, is cut off, too. OPK_EUSAGE for a file that is complete. What is added is
 * in the file at once; opk_writer_finish() completes it.
 */
int opk_writer_resume(struct opk_writer **out, struct opk_ctx *ctx, const struct opk_file *file);
/* Any number of such sections; where strings are NULL it is as if they were "". */
int opk_writer_add_activities(struct opk_writer *writer, const struct opk_activity *activities,
                              size_t count);
int opk_writer_add_stats(struct opk_writer *writer, const struct opk_stats *stats);

/*
 * Several at once, all or none: where one can't be put in place, what the others have replaced is
 * there again.
 */
int opk_writers_finish(struct opk_writer *const *writers, size_t count);

#endif
