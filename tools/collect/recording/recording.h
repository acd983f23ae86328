/* SPDX-License-Identifier: BSD-2-Clause */
/* The beginning of a process's recording: what its metadata says, and the availability image. */
#ifndef OPK_RECORDING_H
#define OPK_RECORDING_H

#include "collect/profilers/profiler.h"
#include "collect/recording/segments.h"
#include "collect/shared/settings.h"

/* Readies CUPTI's profiler, when the driver is up; 60 to 100 ms. False with a message on stderr. */
bool recording_initialize(const struct target *target);

/*
 * Asks for the counter-availability image of the context's device, and
 * begins the file. Must come before the first session: while one is active the call for the image
 * fails, and after one it crashes. Without access to the counters it fails where all else seems to
 * work, so it is the permission check, too. NULL with a message on stderr.
 */
struct segments *recording_begin(const struct target *target, const struct settings *settings,
                                 const struct collect_set *set, const struct profiler_ops *ops,
                                 CUcontext context, int device);

#endif
