/* SPDX-License-Identifier: BSD-2-Clause */
/* Internals of the fake driver. */
#ifndef FAKE_DRIVER_H
#define FAKE_DRIVER_H

#include <cuda.h>
#include <pthread.h>

#include "fake_gpu/fake_common.h"
#include "fake_gpu/fake_hooks.h"

enum { MAX_CONTEXTS = 256, MAX_STREAMS = 256 };

struct CUctx_st {
	bool alive;
	bool primary;
	unsigned references; /* of the primary context */
	unsigned device;
	uint32_t id;
};

/* cuLaunchKernel takes both CUfunction and CUkernel, so each handle begins with its kind. */
enum handle_kind { HANDLE_FUNCTION = 0x66756e63, HANDLE_KERNEL = 0x6b65726e };

struct CUfunc_st {
	uint32_t kind;
	struct CUfunc_st *next; /* in the list of all */
	const struct CUmod_st *module;
	char name[256];
};

struct CUkern_st {
	uint32_t kind;
	struct CUfunc_st *function;
	struct CUkern_st *next; /* in the list of all */
};

/* 0 if cuInit has returned in this process; else the status that every call returns. */
int driver_ready(void);
unsigned driver_device_count(void);
void driver_emit(int domain, uint32_t id, const void *data);
void driver_ran(CUcontext context, size_t kernels);
void driver_destroyed(CUcontext context);
/* Reports the work, with device and context filled in. */
void driver_worked(struct fake_work work);
/* The number of this thread's call, which gives the GPU work. */
uint32_t driver_correlation(void);
/* Each call's record; a call may be inside another one, which goes on. */
struct driver_call {
	uint64_t start;
	uint32_t outer; /* the correlation of the call around it; 0: none */
};
struct driver_call driver_enter(void);
void driver_leave(const char *name, const struct driver_call *call);

CUcontext context_current(void);
bool context_alive(CUcontext context);

/* The capture state of a stream; kernels launched into a capture become nodes. */
bool stream_valid(CUstream stream);
bool stream_captures(CUstream stream, size_t kernels);
uint32_t stream_id(CUstream stream);
bool capture_under_way(void);
bool capture_spoil(void);
/* How many kernels a graph launches; 0: there is no such graph. */
size_t graph_kernels(CUgraphExec graph);
/* The GPU's own clock advances only when a kernel runs. */
void gpu_clock_advance(size_t kernels);

/* Calls that need an initialized driver. */
#define DRIVER_CALL(work, ...)                                                                     \
	__extension__({                                                                            \
		struct driver_call call_ = driver_enter();                                         \
		CUresult result_ = FAKE_CALL(CUresult, driver_ready() ?: (int)(work),              \
		                             __VA_ARGS__);                                         \
		driver_leave(__func__, &call_);                                                    \
		result_;                                                                           \
	})

#endif
