/* SPDX-License-Identifier: BSD-2-Clause */
/* One context under the range profiler: images that fill, are decoded and handed on. */
#ifndef OPK_SESSION_H
#define OPK_SESSION_H

#include "collect/launch.h"
#include "collect/segments.h"
#include "collect/settings.h"
#include "collect/target.h"

/* From set.opk, for all contexts. */
struct collect_set {
	void *config, *prefix;
	size_t config_size, prefix_size;
};

struct session;

/* NULL with a message on stderr where the context can't be profiled. */
struct session *session_new(const struct target *target, const struct settings *settings,
                            const struct collect_set *set, struct segments *segments,
                            CUcontext context, int device);
/* Around the driver's launch call; begin is false where the launch is not recorded. */
bool session_begin_launch(struct session *session, const struct launch *launch, uint64_t index);
void session_end_launch(struct session *session);
/* Decodes what the current image holds, hands it on, and begins the next one. */
void session_flush(struct session *session, bool last);
/* The last flush, and the end of profiling in this context. */
void session_close(struct session *session);
/* Seconds since the first range that was not yet handed on; 0 where there is none. */
double session_age(const struct session *session);
uint64_t session_dropped(const struct session *session);

#endif
