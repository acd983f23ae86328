/* SPDX-License-Identifier: BSD-2-Clause */
/* One kernel launch, as a CUPTI callback describes it. */
#ifndef OPK_LAUNCH_H
#define OPK_LAUNCH_H

#include "collect/shared/target.h"

struct launch {
	const char *symbol; /* mangled; borrowed from CUPTI during the call */
	uint32_t grid[3], block[3];
	uint32_t shared_bytes; /* dynamic */
	uint32_t cluster[3];   /* in blocks; zeros: the call does not say */
	int32_t carveout;      /* preferred percent of shared memory; -1: the call does not say */
	CUcontext context;
	CUstream stream;
	bool per_thread;     /* stream 0 is the thread's own default stream */
	CUfunction function; /* NULL: a graph with any number of kernels */
};

/* Fills *launch; false if the call launches no kernel. */
bool launch_read(struct launch *launch, CUpti_CallbackId call, const CUpti_CallbackData *data);
/* The launch's stream, as a handle with the same meaning in every call. */
CUstream launch_stream(const struct launch *launch);
bool stream_is_captured(CUstream stream);
/* During capture of its stream into a graph, a launch call launches nothing. */
bool launch_is_captured(const struct launch *launch);
struct function_facts;
/* Fills a range's row with facts about the launch, except its strings. */
void launch_describe(struct opk_range *row, struct function_facts *facts,
                     const struct launch *launch);

#endif
