/* SPDX-License-Identifier: BSD-2-Clause */
/* Streams, capture, graphs and events of the fake driver. */
#include <cupti.h>
#include <stdlib.h>

#include "fake_gpu/fake_driver.h"

/* This is cuda.h's name for the second version; the first version is exported, too. */
#undef cuEventElapsedTime
#undef cuStreamGetCtx

struct CUstream_st {
	bool alive;
	uint32_t id;
	CUcontext context;
	CUstreamCaptureStatus capture;
	CUstreamCaptureMode mode;
	size_t nodes;
};

/* Both kinds of handles count kernels, and are never freed. */
struct CUgraph_st {
	size_t kernels;
	struct CUgraph_st *next;
};

struct CUgraphExec_st {
	size_t kernels;
	struct CUgraphExec_st *next;
};

struct CUevent_st {
	uint64_t time; /* on the GPU's clock */
	bool recorded;
	struct CUevent_st *next, **place;
};

enum { LEGACY_STREAM_ID = 7, PER_THREAD_STREAM_ID = 8, FIRST_STREAM_ID = 13 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct CUstream_st streams[MAX_STREAMS];
static uint32_t last_stream_id = FIRST_STREAM_ID - 1;
static struct CUgraph_st *graphs;
static struct CUgraphExec_st *execs;
static struct CUevent_st *events;
static uint64_t gpu_clock = 1000000;

static bool is_default(CUstream stream)
{
	return !stream || stream == CU_STREAM_LEGACY || stream == CU_STREAM_PER_THREAD;
}

static bool is_created(CUstream stream)
{
	return stream >= streams && stream < streams + MAX_STREAMS && stream->alive;
}

bool stream_valid(CUstream stream)
{
	return is_default(stream) || is_created(stream);
}

uint32_t stream_id(CUstream stream)
{
	if (is_created(stream))
		return stream->id;
	if (stream == CU_STREAM_PER_THREAD)
		return PER_THREAD_STREAM_ID;
	return is_default(stream) ? LEGACY_STREAM_ID : 0;
}

static int create_stream(CUstream *out)
{
	CUstream stream = streams;

	if (!context_alive(context_current()))
		return CUDA_ERROR_INVALID_CONTEXT;
	pthread_mutex_lock(&lock);
	while (stream < streams + MAX_STREAMS && stream->alive)
		stream++;
	if (stream < streams + MAX_STREAMS) {
		*stream = (struct CUstream_st){ .alive = true,
			                        .id = ++last_stream_id,
			                        .context = context_current() };
		*out = stream;
	}
	pthread_mutex_unlock(&lock);
	return stream < streams + MAX_STREAMS ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuStreamCreate(CUstream *stream, unsigned flags)
{
	(void)flags;
	return DRIVER_CALL(create_stream(stream), "%s", "");
}

CUresult cuStreamDestroy(CUstream stream)
{
	uint32_t id = stream_id(stream);
	bool created = is_created(stream);

	if (created)
		stream->alive = false;
	return DRIVER_CALL(created ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE, "%u", id);
}

CUresult cuStreamSynchronize(CUstream stream)
{
	return DRIVER_CALL(!stream_valid(stream) ? CUDA_ERROR_INVALID_HANDLE
	                   : capture_spoil()     ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
	                                         : CUDA_SUCCESS,
	                   "%u", stream_id(stream));
}

CUresult cuStreamGetId(CUstream stream, unsigned long long *id)
{
	*id = stream_id(stream);
	return DRIVER_CALL(*id ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE, "%u", stream_id(stream));
}

CUresult cuStreamGetCtx(CUstream stream, CUcontext *context)
{
	*context = is_created(stream) ? stream->context : context_current();
	return DRIVER_CALL(stream_valid(stream) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE, "%u",
	                   stream_id(stream));
}

bool capture_under_way(void)
{
	for (CUstream stream = streams; stream < streams + MAX_STREAMS; stream++)
		if (stream->alive && stream->capture != CU_STREAM_CAPTURE_STATUS_NONE)
			return true;
	return false;
}

bool capture_spoil(void)
{
	bool spoilt = false;

	for (CUstream stream = streams; stream < streams + MAX_STREAMS; stream++) {
		if (!stream->alive || stream->capture == CU_STREAM_CAPTURE_STATUS_NONE)
			continue;
		stream->capture = CU_STREAM_CAPTURE_STATUS_INVALIDATED;
		spoilt = true;
	}
	return spoilt;
}

bool stream_captures(CUstream stream, size_t kernels)
{
	if (!is_created(stream) || stream->capture == CU_STREAM_CAPTURE_STATUS_NONE)
		return false;
	stream->nodes += kernels;
	return true;
}

/* The legacy stream can't be queried while another stream is captured. */
static int is_capturing(CUstream stream, CUstreamCaptureStatus *status)
{
	*status = CU_STREAM_CAPTURE_STATUS_NONE;
	if (!stream_valid(stream))
		return CUDA_ERROR_INVALID_HANDLE;
	if (is_created(stream))
		*status = stream->capture;
	else if (stream != CU_STREAM_PER_THREAD && capture_under_way())
		return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
	return CUDA_SUCCESS;
}

CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status)
{
	return DRIVER_CALL(is_capturing(stream, status), "%u", stream_id(stream));
}

static int begin_capture(CUstream stream, CUstreamCaptureMode mode)
{
	if (!is_created(stream))
		return is_default(stream) ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
		                          : CUDA_ERROR_INVALID_HANDLE;
	if (stream->capture != CU_STREAM_CAPTURE_STATUS_NONE)
		return CUDA_ERROR_ILLEGAL_STATE;
	stream->capture = CU_STREAM_CAPTURE_STATUS_ACTIVE;
	stream->mode = mode;
	stream->nodes = 0;
	return CUDA_SUCCESS;
}

/* Calls the subscriber before and after a call. */
static void emit(CUpti_CallbackId id, const char *call, CUpti_ApiCallbackSite site,
                 CUresult *result, CUstream stream)
{
	/* The first parameter of each of them. */
	driver_emit(CUPTI_CB_DOMAIN_DRIVER_API, id,
	            &(CUpti_CallbackData){ .callbackSite = site,
	                                   .functionName = call,
	                                   .functionParams = &stream,
	                                   .functionReturnValue = result,
	                                   .context = context_current() });
}

CUresult cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode mode)
{
	enum { ID = CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2 };
	CUresult result = CUDA_SUCCESS;

	emit(ID, __func__, CUPTI_API_ENTER, &result, stream);
	result = DRIVER_CALL(begin_capture(stream, mode), "%u", stream_id(stream));
	emit(ID, __func__, CUPTI_API_EXIT, &result, stream);
	return result;
}

static int end_capture(CUstream stream, CUgraph *out)
{
	CUstreamCaptureStatus before;
	CUgraph graph;

	*out = NULL;
	if (!is_created(stream) || stream->capture == CU_STREAM_CAPTURE_STATUS_NONE)
		return CUDA_ERROR_ILLEGAL_STATE;
	before = stream->capture;
	stream->capture = CU_STREAM_CAPTURE_STATUS_NONE;
	if (before == CU_STREAM_CAPTURE_STATUS_INVALIDATED)
		return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
	graph = calloc(1, sizeof *graph);
	if (!graph)
		return CUDA_ERROR_OUT_OF_MEMORY;
	graph->kernels = stream->nodes;
	pthread_mutex_lock(&lock);
	graph->next = graphs;
	graphs = graph;
	pthread_mutex_unlock(&lock);
	*out = graph;
	return CUDA_SUCCESS;
}

CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph)
{
	enum { ID = CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture };
	CUresult result = CUDA_SUCCESS;

	emit(ID, __func__, CUPTI_API_ENTER, &result, stream);
	result = DRIVER_CALL(end_capture(stream, graph), "%u", stream_id(stream));
	emit(ID, __func__, CUPTI_API_EXIT, &result, stream);
	return result;
}

static int instantiate(CUgraphExec *out, CUgraph graph)
{
	CUgraphExec exec = calloc(1, sizeof *exec);

	if (!exec)
		return CUDA_ERROR_OUT_OF_MEMORY;
	exec->kernels = graph->kernels;
	pthread_mutex_lock(&lock);
	exec->next = execs;
	execs = exec;
	pthread_mutex_unlock(&lock);
	*out = exec;
	return CUDA_SUCCESS;
}

CUresult cuGraphInstantiate(CUgraphExec *exec, CUgraph graph, unsigned long long flags)
{
	(void)flags;
	return DRIVER_CALL(instantiate(exec, graph), "%zu", graph->kernels);
}

size_t graph_kernels(CUgraphExec graph)
{
	size_t kernels = 0;

	pthread_mutex_lock(&lock);
	for (CUgraphExec exec = execs; exec; exec = exec->next)
		if (exec == graph)
			kernels = exec->kernels;
	pthread_mutex_unlock(&lock);
	return kernels;
}

CUresult cuGraphDestroy(CUgraph graph)
{
	return DRIVER_CALL(graph ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE, "%s", "");
}

CUresult cuGraphExecDestroy(CUgraphExec exec)
{
	return DRIVER_CALL(exec ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE, "%s", "");
}

void gpu_clock_advance(size_t kernels)
{
	__atomic_add_fetch(&gpu_clock, kernels * fake_number("FAKE_GPU_KERNEL_NS", 10000),
	                   __ATOMIC_RELAXED);
}

static int create_event(CUevent *out)
{
	CUevent event = calloc(1, sizeof *event);

	if (!event)
		return CUDA_ERROR_OUT_OF_MEMORY;
	pthread_mutex_lock(&lock);
	event->next = events;
	event->place = &events;
	if (events)
		events->place = &event->next;
	events = event;
	pthread_mutex_unlock(&lock);
	*out = event;
	return CUDA_SUCCESS;
}

CUresult cuEventCreate(CUevent *event, unsigned flags)
{
	(void)flags;
	return DRIVER_CALL(create_event(event), "%s", "");
}

static int record(CUevent event, CUstream stream)
{
	if (!event || !stream_valid(stream))
		return CUDA_ERROR_INVALID_HANDLE;
	/* An event recorded into a graph has no time. */
	event->recorded = !stream_captures(stream, 0);
	event->time = __atomic_load_n(&gpu_clock, __ATOMIC_RELAXED);
	return CUDA_SUCCESS;
}

CUresult cuEventRecord(CUevent event, CUstream stream)
{
	return DRIVER_CALL(record(event, stream), "%u", stream_id(stream));
}

CUresult cuEventSynchronize(CUevent event)
{
	return DRIVER_CALL(!event            ? CUDA_ERROR_INVALID_HANDLE
	                   : capture_spoil() ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
	                                     : CUDA_SUCCESS,
	                   "%s", "");
}

CUresult cuEventQuery(CUevent event)
{
	return DRIVER_CALL(event ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE, "%s", "");
}

static int elapsed(float *ms, CUevent start, CUevent end)
{
	if (!start || !end || !start->recorded || !end->recorded)
		return CUDA_ERROR_INVALID_HANDLE;
	*ms = (float)((double)(int64_t)(end->time - start->time) * 1e-6);
	return CUDA_SUCCESS;
}

CUresult cuEventElapsedTime(float *ms, CUevent start, CUevent end);
CUresult cuEventElapsedTime(float *ms, CUevent start, CUevent end)
{
	return DRIVER_CALL(elapsed(ms, start, end), "%s", "");
}

CUresult cuEventElapsedTime_v2(float *ms, CUevent start, CUevent end)
{
	return DRIVER_CALL(elapsed(ms, start, end), "%s", "");
}

static int destroy_event(CUevent event)
{
	if (!event)
		return CUDA_ERROR_INVALID_HANDLE;
	pthread_mutex_lock(&lock);
	*event->place = event->next;
	if (event->next)
		event->next->place = event->place;
	pthread_mutex_unlock(&lock);
	free(event);
	return CUDA_SUCCESS;
}

CUresult cuEventDestroy(CUevent event)
{
	return DRIVER_CALL(destroy_event(event), "%s", "");
}
