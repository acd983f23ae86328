/* SPDX-License-Identifier: BSD-2-Clause */
/* The file of one process: its metadata, and its segments. */
#ifndef OPK_COLLECT_RECORDING_H
#define OPK_COLLECT_RECORDING_H

#include "collect/shared/shared.h"
#include "collect/shared/target.h"
#include "container/door.h"

/*
 * The recording of one process: a thread compresses and appends each segment, a counter data
 * image with a row for each range or the times of its samples, while the program runs on.
 */

struct segments;

/*
 * Begins the file with its metadata and, unless NULL, the counter-availability image. NULL with a
 * message, or where *taken: another process has just made a file of that name.
 */
struct segments *segments_new(bool *taken, const char *path, const struct opk_meta *meta,
                              const void *availability, size_t availability_size);

/* An image with its ranges, or with the times of its samples; or records of what ran. */
struct segment {
	void *image;
	size_t image_size;
	struct opk_range *ranges;
	struct opk_time *times;
	struct opk_activity *activities;
	size_t count;
};

/*
 * Takes over what the segment holds, with the ranges' names and nvtx strings, and the names of NVTX
 * ranges among the records; waits only while several segments are already in line.
 */
void segments_add(struct segments *segments, const struct segment *segment);
/* Waits until all of them are in the file. */
void segments_settle(struct segments *segments);
/* Frees what a segment or a range holds, where segments_add() does not get it. */
void segment_clear(struct segment *segment);
void segments_clear_range(struct opk_range *range);
/* Writes what is left and the counts, and ends the file. */
void segments_finish(struct segments *segments, const struct opk_stats *stats);

/* The beginning of a process's recording: its name, and what its metadata says. */

/*
 * Begins the file with the metadata of this run, of which `backend` is a part, and the
 * counter-availability image, unless NULL. NULL with a message on stderr.
 */
struct segments *recording_begin(const struct target *target, const struct settings *settings,
                                 const struct collect_set *set, const char *backend,
                                 const void *availability, size_t availability_size);
/* What META's `run` says of machine, devices, command and environment. */
struct facts {
	struct opk_property *items;
	size_t count, capacity;
};

/* What memory has no room for is left out. The driver must be up. */
void facts_collect(struct facts *facts, const struct target *target);
/* Driver, libcupti and devices alone. */
void facts_add_gpus(struct facts *facts, const struct target *target);
void facts_clear(struct facts *facts);
/* Appends to a file the paths of the libraries that are in memory, one a line; opened.c */
void opened_append(const char *path);
/*
 * The rank in an MPI, SLURM or torchrun job, from the environment; -1 where there is none. A note
 * on stderr names what is no number.
 */
int recording_rank(void);

#endif
