/* SPDX-License-Identifier: BSD-2-Clause */
/* One context under a profiler: images that fill with ranges, are decoded and handed on. */
#ifndef OPK_SESSION_H
#define OPK_SESSION_H

#include "collect/profilers/profiler.h"

struct session;

/* Profiles the current context. NULL with a message on stderr where it can't be profiled. */
struct session *session_new(const struct profiling *profiling, CUcontext context);
/*
 * Begins a range; false where it is not recorded. `row` is what is known of it: with true its name
 * and nvtx are handed over (NULL or malloc'ed); other strings must outlive the session.
 */
bool session_begin(struct session *session, const struct opk_range *row);
void session_end(struct session *session);
/* Ends a range whose launch failed: the profiler makes no range of it. */
void session_cancel(struct session *session);
/* Chooses the next ranges' pass group; ends the present image where that is another one's. */
void session_select(struct session *session, size_t group);
/* Decodes what the current image holds and hands it on; nothing while a range is open. */
void session_flush(struct session *session);
/* Hands on what there is and leaves the GPU alone until the next range begins. */
void session_suspend(struct session *session);

struct session_counts {
	uint64_t recorded, dropped;
};

/* The last flush, and the end of profiling in this context. */
struct session_counts session_close(struct session *session);
/* Seconds since the first range that was not yet handed on; 0 where there is none. */
double session_age(const struct session *session);

#endif
