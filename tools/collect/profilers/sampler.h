/* SPDX-License-Identifier: BSD-2-Clause */
/* PM sampling of one device: a thread decodes what the hardware wrote and hands it on. */
#ifndef OPK_SAMPLER_H
#define OPK_SAMPLER_H

#include "collect/profilers/profiler.h"

struct sampler;

/* Begins to sample; NULL with a message on stderr where that can't be. */
struct sampler *sampler_new(const struct profiling *profiling, int device);

struct sampler_counts {
	uint64_t samples;
	uint64_t lost; /* samples in pauses to empty the hardware's buffer, as far as times show */
	uint64_t never_came; /* samples after an overflow or a failure */
};

/* Ends sampling, hands on what the buffer still holds, and frees. */
struct sampler_counts sampler_close(struct sampler *sampler);

#endif
