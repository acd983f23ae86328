/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The fake's activity records of kernels, copies, memsets and calls, in buffers that the client
 * provides. A buffer returns to the client when it is full, or with a flush.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fake_gpu/fake_cupti.h"

enum { MAX_KINDS = 64 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static CUpti_BuffersCallbackRequestFunc requested;
static CUpti_BuffersCallbackCompleteFunc completed;
static bool enabled[MAX_KINDS];
static struct buffer {
	struct buffer *next; /* in the list of full buffers */
	uint8_t *bytes;
	size_t size, used, records, most;
} current, *full;
static size_t dropped; /* since the client last asked */
static uint64_t made;

static bool is_wanted(CUpti_ActivityKind kind)
{
	return completed && (int)kind < MAX_KINDS && enabled[kind];
}

static bool take_buffer(void)
{
	current = (struct buffer){ 0 };
	requested(&current.bytes, &current.size, &current.most);
	if (!current.most)
		current.most = fake_number("FAKE_GPU_ACTIVITY_RECORDS", SIZE_MAX);
	return current.bytes;
}

/* The buffer waits for the next flush; the last full one comes first. */
static void put_aside(void)
{
	struct buffer *aside = current.records ? calloc(1, sizeof *aside) : NULL;

	if (!aside)
		return;
	*aside = current;
	aside->next = full;
	full = aside;
	current = (struct buffer){ 0 };
}

static void put(const void *record, size_t size)
{
	if (!current.bytes && !take_buffer()) {
		dropped++;
		return;
	}
	memcpy(current.bytes + current.used, record, size);
	current.used += size;
	if (++current.records == current.most || current.size - current.used < 1024)
		put_aside();
}

static struct buffer *take_all(void)
{
	struct buffer *all;

	pthread_mutex_lock(&lock);
	put_aside();
	all = full;
	full = NULL;
	pthread_mutex_unlock(&lock);
	return all;
}

/* Not under the lock: the client reads the records, and may call the driver. */
static void deliver(struct buffer *buffers)
{
	while (buffers) {
		struct buffer *next = buffers->next;

		completed(NULL, 0, buffers->bytes, buffers->size, buffers->used);
		free(buffers);
		buffers = next;
	}
}

/* FAKE_GPU_TIMELESS=N: every N-th record has no times. */
static bool has_times(void)
{
	uint64_t every = fake_number("FAKE_GPU_TIMELESS", 0);

	return ++made && (!every || made % every);
}

static void put_kernel(const struct fake_work *work, uint64_t start, uint64_t end)
{
	CUpti_ActivityKernel10 record = {
		.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
		.registersPerThread = 40,
		.start = start,
		.end = end,
		.deviceId = work->device,
		.contextId = work->context,
		.streamId = work->stream,
		.gridX = (int32_t)work->grid[0],
		.gridY = (int32_t)work->grid[1],
		.gridZ = (int32_t)work->grid[2],
		.blockX = (int32_t)work->block[0],
		.blockY = (int32_t)work->block[1],
		.blockZ = (int32_t)work->block[2],
		.staticSharedMemory = 2048,
		.dynamicSharedMemory = (int32_t)work->shared,
		.clusterX = work->cluster[0],
		.clusterY = work->cluster[1],
		.clusterZ = work->cluster[2],
		.isSharedMemoryCarveoutRequested = work->carveout_plus_1 > 0,
		.sharedMemoryCarveoutRequested = (uint8_t)(work->carveout_plus_1 - 1),
		.correlationId = work->correlation,
		.name = work->name,
		.graphNodeId = work->node,
	};

	put(&record, sizeof record);
}

static void put_copy(const struct fake_work *work, uint64_t start, uint64_t end)
{
	CUpti_ActivityMemcpy6 record = {
		.kind = CUPTI_ACTIVITY_KIND_MEMCPY,
		.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_HTOD,
		.bytes = work->bytes,
		.start = start,
		.end = end,
		.deviceId = work->device,
		.contextId = work->context,
		.streamId = work->stream,
		.correlationId = work->correlation,
	};

	put(&record, sizeof record);
}

static void put_set(const struct fake_work *work, uint64_t start, uint64_t end)
{
	CUpti_ActivityMemset4 record = {
		.kind = CUPTI_ACTIVITY_KIND_MEMSET,
		.bytes = work->bytes,
		.start = start,
		.end = end,
		.deviceId = work->device,
		.contextId = work->context,
		.streamId = work->stream,
		.correlationId = work->correlation,
	};

	put(&record, sizeof record);
}

void activity_worked(const struct fake_work *work)
{
	static const struct {
		CUpti_ActivityKind kind;
		void (*put)(const struct fake_work *work, uint64_t start, uint64_t end);
	} kinds[] = {
		[FAKE_KERNEL] = { CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, put_kernel },
		[FAKE_COPY] = { CUPTI_ACTIVITY_KIND_MEMCPY, put_copy },
		[FAKE_SET] = { CUPTI_ACTIVITY_KIND_MEMSET, put_set },
	};
	uint64_t start = fake_now(), end = start + fake_number("FAKE_GPU_KERNEL_NS", 10000);

	pthread_mutex_lock(&lock);
	if (is_wanted(kinds[work->kind].kind)) {
		bool timed = has_times();

		kinds[work->kind].put(work, timed ? start : 0, timed ? end : 0);
	}
	pthread_mutex_unlock(&lock);
}

/* ---- calls: each name has an id, in the order of first calls */

enum { MAX_NAMES = 256 };
static const char *names[MAX_NAMES];
static CUpti_ActivityThreadIdType threads;
static __thread struct {
	CUpti_ExternalCorrelationKind kind;
	uint64_t id;
} external;

static uint32_t id_of(const char *name)
{
	uint32_t id = 1;

	while (id < MAX_NAMES - 1 && names[id] && strcmp(names[id], name) != 0)
		id++;
	names[id] = name;
	return id;
}

static void put_external(uint32_t correlation)
{
	CUpti_ActivityExternalCorrelation record = {
		.kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION,
		.externalKind = external.kind,
		.externalId = external.id,
		.correlationId = correlation,
	};

	if (external.id && is_wanted(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION))
		put(&record, sizeof record);
}

static void put_call(CUpti_ActivityKind kind, const char *name, const struct fake_called *call)
{
	bool system = threads == CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM;
	CUpti_ActivityAPI record = {
		.kind = kind,
		.cbid = id_of(name),
		.start = call->start,
		.end = call->end,
		.processId = (uint32_t)getpid(),
		.threadId = system ? (uint32_t)syscall(SYS_gettid)
		                   : (uint32_t)(uintptr_t)pthread_self(),
		.correlationId = call->correlation,
	};

	if (!is_wanted(kind))
		return;
	put_external(call->correlation);
	put(&record, sizeof record);
}

/* FAKE_GPU_RUNTIME=1: the runtime launches kernels, by these calls of the driver. */
void activity_called(const struct fake_called *call)
{
	bool runtime = fake_number("FAKE_GPU_RUNTIME", 0) && !strcmp(call->name, "cuLaunchKernel");

	pthread_mutex_lock(&lock);
	put_call(CUPTI_ACTIVITY_KIND_DRIVER, call->name, call);
	if (runtime)
		put_call(CUPTI_ACTIVITY_KIND_RUNTIME, "cudaLaunchKernel_v7000", call);
	pthread_mutex_unlock(&lock);
}

CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, uint32_t id, const char **name)
{
	(void)domain;
	*name = id < MAX_NAMES ? names[id] : NULL;
	return *name ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

static int set_threads(CUpti_ActivityThreadIdType type)
{
	threads = type;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiSetThreadIdType(CUpti_ActivityThreadIdType type)
{
	return FAKE_CALL(CUptiResult, set_threads(type), "%d", (int)type);
}

CUptiResult cuptiGetThreadIdType(CUpti_ActivityThreadIdType *type)
{
	*type = threads;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityPushExternalCorrelationId(CUpti_ExternalCorrelationKind kind, uint64_t id)
{
	external.kind = kind;
	external.id = id;
	return CUPTI_SUCCESS;
}

static int register_callbacks(CUpti_BuffersCallbackRequestFunc request,
                              CUpti_BuffersCallbackCompleteFunc complete)
{
	if (!request || !complete)
		return CUPTI_ERROR_INVALID_PARAMETER;
	cupti_driver();
	requested = request;
	completed = complete;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                           CUpti_BuffersCallbackCompleteFunc complete)
{
	return FAKE_CALL(CUptiResult, register_callbacks(request, complete), "%s", "");
}

static int enable(CUpti_ActivityKind kind, bool wanted)
{
	if ((int)kind >= MAX_KINDS)
		return CUPTI_ERROR_INVALID_KIND;
	pthread_mutex_lock(&lock);
	enabled[kind] = wanted;
	pthread_mutex_unlock(&lock);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind)
{
	return FAKE_CALL(CUptiResult, enable(kind, true), "%d", (int)kind);
}

CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind)
{
	return FAKE_CALL(CUptiResult, enable(kind, false), "%d", (int)kind);
}

CUptiResult cuptiActivityEnableContext(CUcontext context, CUpti_ActivityKind kind)
{
	return FAKE_CALL(CUptiResult, enable(kind, true), "%p %d", (void *)context, (int)kind);
}

/* As if another context still recorded. */
CUptiResult cuptiActivityDisableContext(CUcontext context, CUpti_ActivityKind kind)
{
	return FAKE_CALL(CUptiResult, CUPTI_SUCCESS, "%p %d", (void *)context, (int)kind);
}

static int flush_all(void)
{
	if (!completed)
		return CUPTI_ERROR_INVALID_OPERATION;
	deliver(take_all());
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityFlushAll(uint32_t flag)
{
	return FAKE_CALL(CUptiResult, flush_all(), "%u", flag);
}

static size_t size_of(const CUpti_Activity *record)
{
	switch (record->kind) {
	case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
		return sizeof(CUpti_ActivityKernel10);
	case CUPTI_ACTIVITY_KIND_MEMCPY:
		return sizeof(CUpti_ActivityMemcpy6);
	case CUPTI_ACTIVITY_KIND_DRIVER:
	case CUPTI_ACTIVITY_KIND_RUNTIME:
		return sizeof(CUpti_ActivityAPI);
	case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION:
		return sizeof(CUpti_ActivityExternalCorrelation);
	default:
		return sizeof(CUpti_ActivityMemset4);
	}
}

/* Not logged: both are called for each record. */
CUptiResult cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, CUpti_Activity **record)
{
	uint8_t *next = *record ? (uint8_t *)*record + size_of(*record) : buffer;

	if (next >= buffer + valid)
		return CUPTI_ERROR_MAX_LIMIT_REACHED;
	*record = (CUpti_Activity *)next;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext context, uint32_t stream, size_t *count)
{
	(void)context, (void)stream;
	pthread_mutex_lock(&lock);
	*count = dropped;
	dropped = 0;
	pthread_mutex_unlock(&lock);
	return CUPTI_SUCCESS;
}
