/* SPDX-License-Identifier: BSD-2-Clause */
/* Inside the fake CUPTI. */
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

/* The fake driver, loaded with the first call. */
const struct fake_driver *cupti_driver(void);
/* Another file of CUPTI that is used later works no more. */
bool cupti_is_first(void);
/* Somebody called cuptiFinalize(). */
/* A host time as the times of samples are told. */
uint64_t cupti_time(uint64_t host);
bool cupti_finalized(void);
/* Over sessions and samplers; not held while callbacks run. */
extern pthread_mutex_t cupti_lock;
/* 0 after cuptiProfilerInitialize. */
int profiler_ready(void);
size_t passes_of_config(const void *config, size_t size);

/* Callbacks of the driver, for the subscriber. */
void callbacks_emit(int domain, uint32_t id, const void *data);
/* Nobody subscribes any longer. */
void callbacks_end(void);

/* An image whose size and header hold; NULL otherwise. */
struct fake_image *image_open(const uint8_t *bytes, size_t size, enum fake_image_kind kind);
void *image_record(struct fake_image *image, size_t i);
void image_init(uint8_t *bytes, size_t size, enum fake_image_kind kind, size_t record_size,
                size_t prefix_size);
size_t image_path_room(const struct fake_image *image);

/* The GPU did something. */
void activity_worked(const struct fake_work *work);

/* Sampling, or a session, is enabled on some context. */
bool pm_active(void);

/*
 * Whether a parameter struct of this size is taken: it has the size that this version knows, or for
 * one that has grown since 12.6 the one it had there.
 */
bool cupti_takes_size(const char *type, size_t size, size_t known);
#define SIZED(type, params)                                                                        \
	(cupti_takes_size(#type, (params)->structSize, type##_STRUCT_SIZE)                         \
	         ? 0                                                                               \
	         : CUPTI_ERROR_INVALID_PARAMETER)
/* `work` under the lock, where the struct is right. */
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
