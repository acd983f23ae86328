/* SPDX-License-Identifier: BSD-2-Clause */
/* A session of ranges on one context: what the range profiler and the legacy API have in common. */
#ifndef FAKE_SESSION_H
#define FAKE_SESSION_H

#include "fake_gpu/fake_cupti.h"

enum { MAX_DEPTH = 16, MAX_PATH_LENGTH = 512 };

/* A range of the pass under way, or of one that waits to be decoded. */
struct pending_range {
	size_t pass;
	size_t passes; /* kernel replay does all of them at once */
	uint64_t launches;
	uint32_t depth;
	char path[MAX_PATH_LENGTH];
};

struct session_config {
	CUpti_ProfilerRange range;
	CUpti_ProfilerReplayMode replay;
	size_t max_ranges;
	unsigned levels, min_level;
	size_t pass; /* the next */
	unsigned level;
	size_t passes;
	uint64_t hash; /* of the config image */
};

struct session {
	struct session *next; /* of all that are enabled */
	bool legacy;
	CUcontext context;
	uint32_t context_id;
	bool orphan; /* its context was destroyed */
	bool configured;
	struct session_config config;
	struct fake_image *image; /* touched by SetConfig and Decode alone */
	size_t path_room;
	size_t first_max; /* of the first config: no later one keeps more */
	uint64_t first_hash;
	bool in_pass, enabled, submitted;
	size_t count;      /* ranges of this pass, kept or not */
	size_t auto_index; /* the name of the next automatic range */
	size_t dropped;
	char path[MAX_PATH_LENGTH];
	unsigned depth;
	struct pending_range *pending;
	size_t pending_count;
};

/* All return CUPTI's statuses and are called under the lock. */
int session_new(struct session **out, CUcontext context, bool legacy);
void session_free(struct session *session);
struct session *session_of(CUcontext context, bool legacy); /* NULL: the current context */
bool session_any(void);
bool session_valid(const struct session *session);
/* Whether one was enabled ever. */
bool session_ever(void);

/* What of a config image matters. */
void session_read_config(struct session_config *config, const void *image, size_t size);
int session_configure(struct session *session, const struct session_config *config,
                      struct fake_image *image);
int session_begin_pass(struct session *session);
int session_end_pass(struct session *session);
int session_push(struct session *session, const char *name);
int session_pop(struct session *session);
int session_decode(struct session *session, size_t *dropped);
void session_ran(CUcontext context, size_t kernels);
void session_context_destroyed(CUcontext context);

#endif
