/* SPDX-License-Identifier: BSD-2-Clause */
/* Internals of the fake CUPTI. */
#ifndef FAKE_CUPTI_H
#define FAKE_CUPTI_H

#include <cuda.h>
#include <cupti.h>
#include <cupti_pmsampling.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>
#include <pthread.h>

#include "fake_gpu/fake_common.h"
#include "fake_gpu/fake_hooks.h"
#include "fake_gpu/fake_image.h"

/* The fake driver, which the first call loads. */
const struct fake_driver *cupti_driver(void);
/* Whether this CUPTI file was used first; a second file in the process does not work. */
bool cupti_is_first(void);
/* Converts host time to the time that samples have. */
uint64_t cupti_time(uint64_t host);
bool cupti_finalized(void);
/* Protects sessions and samplers; not held while callbacks run. */
extern pthread_mutex_t cupti_lock;
/* 0 after cuptiProfilerInitialize. */
int profiler_ready(void);
size_t passes_of_config(const void *config, size_t size);

/* Forwards the driver's callbacks to the subscriber. */
void callbacks_emit(int domain, uint32_t id, const void *data);
/* Ends all subscriptions. */
void callbacks_end(void);

/* An image whose size and header are valid; NULL otherwise. */
struct fake_image *image_open(const uint8_t *bytes, size_t size, enum fake_image_kind kind);
void *image_record(struct fake_image *image, size_t i);
void image_init(uint8_t *bytes, size_t size, enum fake_image_kind kind, size_t record_size,
                size_t prefix_size);
size_t image_path_room(const struct fake_image *image);

/* Records what the GPU did. */
void activity_worked(const struct fake_work *work);
void activity_called(const struct fake_called *call);

/* Counts a kernel's instructions and samples them. */
void code_worked(const struct fake_work *work);
/* A function of a module ran; so many warps. The lock is held. */
enum { FAKE_INSTRUCTIONS = 3, FAKE_INSTRUCTION_BYTES = 16 };
struct fake_function {
	uint32_t crc;     /* of its module */
	const char *name; /* never freed */
	uint64_t warps;
};
void sass_ran(CUcontext context, const struct fake_function *function);
void sass_context_destroyed(CUcontext context);
void pc_ran(CUcontext context, const struct fake_function *function);
void pc_context_destroyed(CUcontext context);

/* Whether sampling, or a session, is enabled on any context. */
bool pm_active(void);

/*
 * Whether a parameter struct of this size is accepted: it has the size that this version knows or,
 * if the struct has grown since 12.6, its size in 12.6.
 */
bool cupti_takes_size(const char *type, size_t size, size_t known);
#define SIZED(type, params)                                                                        \
	(cupti_takes_size(#type, (params)->structSize, type##_STRUCT_SIZE)                         \
	         ? 0                                                                               \
	         : CUPTI_ERROR_INVALID_PARAMETER)
/* Evaluates `work` under the lock if the struct is valid. */
#define CUPTI_CALL(type, params, work, ...)                                                        \
	FAKE_CALL(CUptiResult, __extension__({                                                     \
			  int result_;                                                             \
			  pthread_mutex_lock(&cupti_lock);                                         \
			  result_ = (int)SIZED(type, params) ?: (int)(work);                       \
			  pthread_mutex_unlock(&cupti_lock);                                       \
			  result_;                                                                 \
		  }),                                                                              \
	          __VA_ARGS__)

#endif
