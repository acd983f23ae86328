/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The recording of one process: a thread compresses and appends each segment, a counter data
 * image with a row for each range or the times of its samples, while the program runs on.
 */
#ifndef OPK_SEGMENTS_H
#define OPK_SEGMENTS_H

#include "offpeak.h"

struct segments;

/* Begins the file with its metadata and the counter-availability image. Failures go to stderr. */
int segments_new(struct segments **out, const char *path, const struct opk_meta *meta,
                 const void *availability, size_t availability_size);
/*
 * Takes the image and the ranges over, with their names and nvtx strings; waits only while several
 * segments are already in line.
 */
void segments_add(struct segments *segments, void *image, size_t size, struct opk_range *ranges,
                  size_t range_count);
/* Takes an image of samples and their times over. */
void segments_add_samples(struct segments *segments, void *image, size_t size,
                          struct opk_time *times, size_t count);
/* What segments_add() does with the ranges when it is done, for ranges that it does not get. */
void segments_free_ranges(struct opk_range *ranges, size_t count);
void segments_clear_range(struct opk_range *range);
/* Writes what is left and the counts, and ends the file; false after a failure. */
bool segments_finish(struct segments *segments, const struct opk_stats *stats);

#endif
