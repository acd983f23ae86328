/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions that the fake driver and the fake CUPTI exchange when CUPTI is first called. */
#ifndef FAKE_HOOKS_H
#define FAKE_HOOKS_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Work of the GPU, for activity records and counts of instructions. */
struct fake_work {
	enum { FAKE_KERNEL, FAKE_COPY, FAKE_SET } kind;
	const char *name; /* of a kernel; never freed */
	unsigned grid[3], block[3], shared;
	uint32_t cluster[3], carveout_plus_1; /* zeros: the launch does not say */
	uint32_t device, context, stream, correlation;
	uint64_t node; /* of a graph */
	uint64_t bytes;
	const void *cubin; /* of a kernel's module; NULL: a graph's node */
	size_t cubin_size;
};

/* A call of the driver, which has returned. */
struct fake_called {
	const char *name;     /* never freed */
	uint32_t correlation; /* the same as of its work */
	uint64_t start, end;
};

/* Functions of CUPTI that the driver calls. */
struct fake_hooks {
	/* Domain, callback id and data are as CUPTI defines them. */
	void (*emit)(int domain, uint32_t id, const void *data);
	/* One kernel ran, or all kernels of a graph. */
	void (*ran)(CUcontext context, size_t kernels);
	void (*destroyed)(CUcontext context);
	void (*worked)(const struct fake_work *work);
	void (*called)(const struct fake_called *call);
};

/* Functions of the driver that CUPTI calls. */
struct fake_driver {
	bool (*ready)(void); /* cuInit has returned in this process */
	unsigned (*device_count)(void);
	CUcontext (*current)(void);
	bool (*alive)(CUcontext context);
	unsigned (*device_of)(CUcontext context);
	uint32_t (*id_of)(CUcontext context);
	uint32_t (*stream_id_of)(CUstream stream); /* 0: no stream */
	/* An open capture fails as work reaches the GPU; false: there is no open capture. */
	bool (*spoil_capture)(void);
	/* Whether the driver calls these hooks: they must be from the first CUPTI file in use. */
	bool (*serves)(const struct fake_hooks *hooks);
};

/* Exported by the fake driver. */
const struct fake_driver *fake_cuda_exchange(const struct fake_hooks *hooks);

#endif
