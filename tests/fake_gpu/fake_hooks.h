/* SPDX-License-Identifier: BSD-2-Clause */
/* What the fake driver and the fake CUPTI know of each other; exchanged when CUPTI first calls. */
#ifndef FAKE_HOOKS_H
#define FAKE_HOOKS_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the GPU does, for records of it. */
struct fake_work {
	enum { FAKE_KERNEL, FAKE_COPY, FAKE_SET } kind;
	const char *name; /* of a kernel; stays */
	unsigned grid[3], block[3], shared;
	uint32_t device, context, stream, correlation;
	uint64_t node; /* of a graph */
	uint64_t bytes;
};

/* CUPTI's, called by the driver. */
struct fake_hooks {
	/* Domains and callback ids are CUPTI's; the data is what they say it is. */
	void (*emit)(int domain, uint32_t id, const void *data);
	/* Kernels run: one, or those of a graph. */
	void (*ran)(CUcontext context, size_t kernels);
	void (*destroyed)(CUcontext context);
	void (*worked)(const struct fake_work *work);
};

/* The driver's, called by CUPTI. */
struct fake_driver {
	bool (*ready)(void); /* cuInit has returned, in this process */
	unsigned (*device_count)(void);
	CUcontext (*current)(void);
	bool (*alive)(CUcontext context);
	unsigned (*device_of)(CUcontext context);
	uint32_t (*id_of)(CUcontext context);
	uint32_t (*stream_id_of)(CUstream stream); /* 0: no stream */
	/* Work on the GPU spoils a capture that is open; false: there is none. */
	bool (*spoil_capture)(void);
	/* Whether these hooks are called: those of the first file of CUPTI that is used. */
	bool (*serves)(const struct fake_hooks *hooks);
};

/* Exported by the fake driver. */
const struct fake_driver *fake_cuda_exchange(const struct fake_hooks *hooks);

#endif
