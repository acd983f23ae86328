/* SPDX-License-Identifier: BSD-2-Clause */
/* A session of ranges on one context, shared by the range profiler and the legacy API. */
#ifndef FAKE_SESSION_H
#define FAKE_SESSION_H

#include "fake_gpu/fake_cupti.h"

enum { MAX_DEPTH = 16, MAX_PATH_LENGTH = 512 };

/* A range of the current pass, or of a pass that is not decoded yet. */
struct pending_range {
	size_t pass;
	size_t passes; /* kernel replay makes all passes at once */
	uint64_t launches;
	uint32_t depth;
	char path[MAX_PATH_LENGTH];
};

struct session_config {
	CUpti_ProfilerRange range;
	CUpti_ProfilerReplayMode replay;
	size_t max_ranges;
	unsigned levels, min_level;
	size_t pass; /* the next one */
	unsigned level;
	size_t passes;
	uint64_t hash; /* of the config image */
};

struct session {
	struct session *next; /* in the list of all enabled sessions */
	bool legacy;
	CUcontext context;
	uint32_t context_id;
	bool orphan; /* its context was destroyed */
	bool configured;
	struct session_config config;
	struct fake_image *image; /* only SetConfig and Decode use it */
	size_t path_room;
	size_t first_max; /* of the first config; later configs keep no more */
	uint64_t first_hash;
	bool in_pass, enabled, submitted;
	size_t count;      /* ranges of this pass, stored or not */
	size_t auto_index; /* the name of the next automatic range */
	size_t dropped;
	char path[MAX_PATH_LENGTH];
	unsigned depth;
	struct pending_range *pending;
	size_t pending_count;
};

/* All return CUPTI statuses; the caller holds the lock. */
int session_new(struct session **out, CUcontext context, bool legacy);
void session_free(struct session *session);
struct session *session_of(CUcontext context, bool legacy); /* NULL: the current context */
bool session_any(void);
bool session_valid(const struct session *session);
/* Whether a session was ever enabled. */
bool session_ever(void);

/* Reads what the session needs of a config image. */
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
