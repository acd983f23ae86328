/* SPDX-License-Identifier: BSD-2-Clause */
/* One kernel launch, as a CUPTI callback describes it. */
#ifndef OPK_LAUNCH_H
#define OPK_LAUNCH_H

#include "collect/shared/target.h"

struct launch {
	const char *symbol; /* mangled; borrowed from CUPTI for the call */
	uint32_t grid[3], block[3];
	uint32_t shared_bytes; /* dynamic */
	CUcontext context;
	CUstream stream;
	bool per_thread;     /* stream 0 is the thread's own default stream */
	CUfunction function; /* NULL: a graph, of any number of kernels */
};

/* Fills *launch; false for calls that launch no kernel. */
bool launch_read(struct launch *launch, CUpti_CallbackId call, const CUpti_CallbackData *data);
/* Its stream by a handle that means the same in every call. */
CUstream launch_stream(const struct launch *launch);
/* While a stream is captured into a graph, a launch call launches nothing. */
bool launch_is_captured(const struct launch *launch);
/* Fills what a range's row says of a launch, except its strings. */
void launch_describe(struct opk_range *row, const struct launch *launch);

#endif
