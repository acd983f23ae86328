/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records what runs on the GPU, and when, from CUPTI's activity records; and the program's ranges
 * and calls.
 * CUPTI fills buffers and returns them on its own thread; a thread of this library makes it do so
 * now and then, and hands the records on.
 */
#include <sys/syscall.h>

#include "collect/profilers/nvml.h"
#include "collect/profilers/profilers.h"
#include "collect/ranges/ranges.h"

enum {
	BUFFER_BYTES = 1 << 20, /* 4600 kernels */
	MAX_BUFFERS = 32,
	MAX_PENDING = 1 << 17, /* records: 20 MB */
	BATCH = 1 << 15,       /* records handed on at once */
	WAIT_MS = 250,
};
static const double flush_interval_s = 1;

/* One per process: CUPTI's callbacks get no pointer to user data. */
static struct {
	const struct profiling *profiling;
	trace_begin_fn *begin;
	struct kernels *kernels;
	pthread_mutex_t lock;
	pthread_mutex_t kinds;  /* held while kinds of records are enabled or disabled for good */
	pthread_cond_t changed; /* by a clock that only goes forward */
	pthread_t thread;
	bool running, ending, paused;
	bool stuck;   /* records can't be handed on yet */
	bool refused; /* records can never be handed on: there will be no recording */
	bool left;    /* the program has CUPTI's records */
	struct opk_activity *pending;
	size_t count, capacity;
	pid_t pid;        /* forks share this state, but not the GPU */
	int device;       /* the GPU on which something ran; -1: nothing ran so far */
	unsigned buffers; /* number that CUPTI has */
	/* The program pushed this number before the call with this correlation. */
	CUpti_ActivityExternalCorrelation external;
	CUpti_ActivityThreadIdType threads; /* the way that CUPTI numbers them without us */
	struct counts counts;
} trace = { .lock = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP,
	    .kinds = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP,
	    .device = -1 };

/* False if this thread has the lock: a signal that arrived meanwhile ends the program. */
static bool lock(void)
{
	return !pthread_mutex_lock(&trace.lock);
}

static void unlock(void)
{
	pthread_mutex_unlock(&trace.lock);
}

static const CUpti_ActivityKind kinds[] = {
	CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
	CUPTI_ACTIVITY_KIND_MEMCPY,
	CUPTI_ACTIVITY_KIND_MEMCPY2,
	CUPTI_ACTIVITY_KIND_MEMSET,
	/* The records of a call come after its external ones. */
	CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION,
	CUPTI_ACTIVITY_KIND_DRIVER,
	CUPTI_ACTIVITY_KIND_RUNTIME,
};
/* How many of these kinds each word of the setting wants. */
static const size_t wanted[] = {
	[TRACE_KERNELS] = 1,
	[TRACE_ALL] = 4,
	[TRACE_API] = 7,
};

/* ---- records of this library --------------------------------------------------------------- */

/* Adds a record, with the common members filled in; NULL: it is lost. The lock is held. */
static struct opk_activity *add(enum opk_activity_kind kind)
{
	struct opk_activity *activity;

	if (trace.refused || trace.count == MAX_PENDING
	    || !opk_grow(&trace.pending, &trace.capacity, trace.count, sizeof *trace.pending)) {
		++*(trace.stuck ? &trace.counts.drops[DROP_HOMELESS]
		                : &trace.counts.drops[DROP_RECORDS]);
		return NULL;
	}
	activity = &trace.pending[trace.count++];
	*activity = (struct opk_activity){
		.kind = kind,
		.device = -1,
		.process = (uint32_t)trace.pid,
		.rank = trace.profiling->rank,
	};
	if (trace.count == BATCH)
		pthread_cond_signal(&trace.changed);
	return activity;
}

/* Adds a record of GPU work. NULL: it is lost, or not wanted. */
static struct opk_activity *add_work(enum opk_activity_kind kind, uint32_t device, uint64_t start,
                                     uint64_t end)
{
	int only = trace.profiling->settings->device;
	struct opk_activity *activity;

	if (only >= 0 && (uint32_t)only != device)
		return NULL;
	/* This is how CUPTI marks missing times. */
	if (!start || !end || end < start) {
		trace.counts.drops[DROP_TIMELESS]++;
		return NULL;
	}
	/* Set it even without room: records that wait for a device can be handed on now. */
	trace.device = (int)device;
	activity = add(kind);
	if (!activity)
		return NULL;
	activity->device = (int32_t)device;
	activity->start_ns = start;
	activity->end_ns = end;
	return activity;
}

/* ---- CUPTI's records ---------------------------------------------------------------------- */

/* Later versions of these structs are longer. */
static void add_kernel(const CUpti_ActivityKernel9 *record)
{
	struct opk_activity *activity = add_work(OPK_ACTIVITY_KERNEL, record->deviceId,
	                                         record->start, record->end);
	const struct kernel *kernel;

	if (!activity)
		return;
	kernel = record->name ? kernels_find(trace.kernels, record->name) : NULL;
	activity->name = kernel ? kernel->name : NULL;
	activity->symbol = kernel ? kernel->symbol : NULL;
	activity->stream = record->streamId;
	activity->context = record->contextId;
	activity->correlation = record->correlationId;
	activity->graph_node = record->graphNodeId;
	activity->grid[0] = (uint32_t)record->gridX;
	activity->grid[1] = (uint32_t)record->gridY;
	activity->grid[2] = (uint32_t)record->gridZ;
	activity->block[0] = (uint32_t)record->blockX;
	activity->block[1] = (uint32_t)record->blockY;
	activity->block[2] = (uint32_t)record->blockZ;
	activity->registers = record->registersPerThread;
	activity->static_shared_bytes = (uint32_t)record->staticSharedMemory;
	activity->shared_bytes = (uint32_t)record->dynamicSharedMemory;
	activity->cluster[0] = record->clusterX ? record->clusterX : 1;
	activity->cluster[1] = record->clusterY ? record->clusterY : 1;
	activity->cluster[2] = record->clusterZ ? record->clusterZ : 1;
	if (record->isSharedMemoryCarveoutRequested)
		activity->carveout_plus_1 = record->sharedMemoryCarveoutRequested + 1u;
}

static const char *copy_name(uint8_t kind)
{
	static const char *const names[] = {
		[CUPTI_ACTIVITY_MEMCPY_KIND_HTOD] = "memcpy HtoD",
		[CUPTI_ACTIVITY_MEMCPY_KIND_DTOH] = "memcpy DtoH",
		[CUPTI_ACTIVITY_MEMCPY_KIND_HTOA] = "memcpy HtoA",
		[CUPTI_ACTIVITY_MEMCPY_KIND_ATOH] = "memcpy AtoH",
		[CUPTI_ACTIVITY_MEMCPY_KIND_ATOA] = "memcpy AtoA",
		[CUPTI_ACTIVITY_MEMCPY_KIND_ATOD] = "memcpy AtoD",
		[CUPTI_ACTIVITY_MEMCPY_KIND_DTOA] = "memcpy DtoA",
		[CUPTI_ACTIVITY_MEMCPY_KIND_DTOD] = "memcpy DtoD",
		[CUPTI_ACTIVITY_MEMCPY_KIND_HTOH] = "memcpy HtoH",
		[CUPTI_ACTIVITY_MEMCPY_KIND_PTOP] = "memcpy PtoP",
	};

	return kind < sizeof names / sizeof *names && names[kind] ? names[kind] : "memcpy";
}

#define ADD_MEMORY(kind, text, record)                                                             \
	do {                                                                                       \
		struct opk_activity *activity = add_work(kind, (record)->deviceId,                 \
		                                         (record)->start, (record)->end);          \
		if (!activity)                                                                     \
			break;                                                                     \
		activity->name = text;                                                             \
		activity->bytes = (record)->bytes;                                                 \
		activity->stream = (record)->streamId;                                             \
		activity->context = (record)->contextId;                                           \
		activity->correlation = (record)->correlationId;                                   \
		activity->graph_node = (record)->graphNodeId;                                      \
	} while (0)

/* The name without the version that CUPTI adds to names of the runtime. It is never freed. */
static const char *name_of_call(CUpti_CallbackDomain domain, CUpti_CallbackId id)
{
	enum { MOST = 2048 };
	static char *names[2][MOST];
	char **name = &names[domain == CUPTI_CB_DOMAIN_RUNTIME_API][id < MOST ? id : 0];
	const char *found = NULL, *version;

	if (*name && id < MOST)
		return *name;
	if (id >= MOST || !target.cuptiGetCallbackName
	    || target.cuptiGetCallbackName(domain, id, &found) || !found)
		return "(call)";
	version = strstr(found, "_v");
	*name = version && strspn(version + 2, "0123456789") > 3
	                ? strndup(found, (size_t)(version - found))
	                : strdup(found);
	return *name;
}

/*
 * Drops the calls that were made inside this one, whose records come first: the runtime's of the
 * driver, and this library's in callbacks. There are few, so that the last records have them.
 */
static void drop_inner(const CUpti_ActivityAPI *outer)
{
	enum { LAST = 64 };
	size_t least = trace.count > LAST ? trace.count - LAST : 0;

	for (size_t i = trace.count; i-- > least;) {
		struct opk_activity *inner = &trace.pending[i];

		/* One that ended later came before it from another buffer. */
		if (inner->kind != OPK_ACTIVITY_CALL || inner->thread != outer->threadId
		    || inner->end_ns > outer->end)
			continue;
		if (inner->start_ns < outer->start)
			return;
		memmove(inner, inner + 1, (--trace.count - i) * sizeof *inner);
	}
}

static void add_call(const CUpti_ActivityAPI *record)
{
	bool driver = record->kind == CUPTI_ACTIVITY_KIND_DRIVER;
	struct opk_activity *activity;

	if (thread_is_own(record->threadId, record->start))
		return;
	if (!record->start || record->end < record->start) {
		trace.counts.drops[DROP_TIMELESS]++;
		return;
	}
	drop_inner(record);
	activity = add(OPK_ACTIVITY_CALL);
	if (!activity)
		return;
	activity->name = name_of_call(driver ? CUPTI_CB_DOMAIN_DRIVER_API
	                                     : CUPTI_CB_DOMAIN_RUNTIME_API,
	                              record->cbid);
	activity->start_ns = record->start;
	activity->end_ns = record->end;
	activity->thread = record->threadId;
	activity->correlation = record->correlationId;
	if (trace.external.correlationId == record->correlationId)
		activity->external = trace.external.externalId;
}

static void add_record(const CUpti_Activity *record)
{
	const CUpti_ActivityMemcpy5 *copy = (const void *)record;
	const CUpti_ActivityMemcpyPtoP4 *peer = (const void *)record;
	const CUpti_ActivityMemset4 *set = (const void *)record;

	switch (record->kind) {
	case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
		add_kernel((const void *)record);
		break;
	case CUPTI_ACTIVITY_KIND_MEMCPY:
		ADD_MEMORY(OPK_ACTIVITY_COPY, copy_name(copy->copyKind), copy);
		break;
	case CUPTI_ACTIVITY_KIND_MEMCPY2:
		ADD_MEMORY(OPK_ACTIVITY_COPY, copy_name(peer->copyKind), peer);
		break;
	case CUPTI_ACTIVITY_KIND_MEMSET:
		ADD_MEMORY(OPK_ACTIVITY_SET, "memset", set);
		break;
	case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION:
		trace.external = *(const CUpti_ActivityExternalCorrelation *)record;
		break;
	case CUPTI_ACTIVITY_KIND_DRIVER:
	case CUPTI_ACTIVITY_KIND_RUNTIME:
		add_call((const void *)record);
		break;
	default:
		break;
	}
}

/* Limits memory: if CUPTI gets no buffer, it counts what it drops. */
static void CUPTIAPI buffer_requested(uint8_t **buffer, size_t *size, size_t *max_records)
{
	opk_autounlock pthread_mutex_t *held = opk_lock(&trace.lock);

	*buffer = held && trace.buffers < MAX_BUFFERS ? malloc(BUFFER_BYTES) : NULL;
	trace.buffers += *buffer != NULL;
	*size = *buffer ? BUFFER_BYTES : 0;
	*max_records = 0;
}

static void CUPTIAPI buffer_completed(CUcontext context, uint32_t stream, uint8_t *buffer,
                                      size_t size, size_t valid)
{
	CUpti_Activity *record = NULL;
	size_t dropped = 0;

	(void)context, (void)stream, (void)size;
	target.cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped);
	if (lock()) {
		trace.counts.drops[DROP_RECORDS] += dropped;
		while (valid && !target.cuptiActivityGetNextRecord(buffer, valid, &record))
			add_record(record);
		trace.buffers -= trace.buffers > 0;
		unlock();
	}
	free(buffer);
}

/* ---- the program's ranges ----------------------------------------------------------------- */

static void add_range(const struct user_range *range, uint64_t thread)
{
	uint64_t end = clock_host_ns();
	struct opk_activity *activity;

	/* Another thread may have held the lock when this process was forked. */
	if (trace.pid != getpid() || !lock())
		return;
	activity = trace.ending || trace.paused ? NULL : add(OPK_ACTIVITY_RANGE);
	if (activity) {
		activity->name = opk_printf("%s%s%s", range->domain, *range->domain ? "@" : "",
		                            range->name);
		activity->start_ns = range->begun_ns;
		/* The host's clock may have been set back. */
		activity->end_ns = end > range->begun_ns ? end : range->begun_ns;
		activity->thread = thread;
	}
	unlock();
}

static void popping(struct user_nest *nest)
{
	add_range(&nest->ranges[nest->count - 1], (uint64_t)syscall(SYS_gettid));
}

/* The record has no thread: another thread may have begun the range. */
static void ended(uint64_t id, const struct user_range *range)
{
	(void)id;
	add_range(range, 0);
}

/* ---- handing on --------------------------------------------------------------------------- */

static size_t wanted_kinds(void)
{
	return wanted[trace.profiling->settings->trace];
}

static void disable_from(size_t first, size_t count)
{
	for (size_t i = first; i < count; i++)
		target.cuptiActivityDisable(kinds[i]);
}

static void disable_kinds(size_t count)
{
	disable_from(0, count);
}

/* Drops everything, since the recording never begins. */
static void give_up(void)
{
	disable_kinds(wanted_kinds());
	if (!lock())
		return;
	trace.refused = true;
	trace.counts.drops[DROP_HOMELESS] += trace.count;
	for (size_t i = 0; i < trace.count; i++)
		if (trace.pending[i].kind == OPK_ACTIVITY_RANGE)
			free((char *)trace.pending[i].name);
	free(opk_take(trace.pending));
	trace.count = trace.capacity = 0;
	unlock();
}

/* Writes nothing until something ran: before that the device is unknown. */
static void hand_on(void)
{
	struct segments *segments = NULL;
	struct segment segment = { 0 };
	bool never = false;
	int device;

	if (!lock())
		return;
	device = trace.count ? trace.device : -1;
	unlock();
	if (device >= 0)
		segments = trace.begin(device, &never);
	clocks_look(device);
	if (!lock())
		return;
	trace.stuck = !segments;
	if (segments) {
		segment.activities = opk_take(trace.pending);
		segment.count = trace.count;
		trace.counts.activities += trace.count;
		trace.count = trace.capacity = 0;
	}
	unlock();
	if (segments)
		segments_add(segments, &segment);
	else if (never)
		give_up();
}

static void flush(uint32_t how)
{
	if (!trace.counts.drops[DROP_DEAF] && !trace.left)
		trace.counts.drops[DROP_DEAF] = !TARGET_CALL(cuptiActivityFlushAll, how);
}

/* Waits until there is a batch, or for some time; false at the end. */
static bool wait_a_while(void)
{
	struct timespec until;
	bool going;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += WAIT_MS * 1000000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	if (!lock())
		return false;
	if (!trace.ending && (trace.count < BATCH || trace.stuck))
		pthread_cond_timedwait(&trace.changed, &trace.lock, &until);
	going = !trace.ending;
	unlock();
	return going;
}

static void *run(void *data)
{
	struct timespec flushed = clock_now();

	while (wait_a_while()) {
		if (clock_seconds_since(&flushed) >= flush_interval_s) {
			flush(0);
			flushed = clock_now();
		}
		hand_on();
	}
	/* Calls go on until the end, and would fill buffers that no flush takes. */
	if (!trace.refused && !trace.left)
		disable_from(wanted[TRACE_ALL], wanted_kinds());
	/* First take the complete buffers, then the others, too. */
	flush(0);
	flush(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
	hand_on();
	return data;
}

/* ---- beginning and end -------------------------------------------------------------------- */

/* Enables all kinds of records, or none. */
static bool enable_kinds(void)
{
	for (size_t i = 0; i < wanted_kinds(); i++)
		if (!TARGET_CALL(cuptiActivityEnable, kinds[i])) {
			disable_kinds(i);
			return false;
		}
	return true;
}

static bool listen_to_cupti(void)
{
	if (!target.cuptiActivityRegisterCallbacks)
		return say(false, "%s has no activity records", target.cupti_path);
	/* Calls and ranges of a thread have the same number. The program gets its numbers back. */
	if (wanted_kinds() == wanted[TRACE_API] && target.cuptiSetThreadIdType
	    && target.cuptiGetThreadIdType && !target.cuptiGetThreadIdType(&trace.threads))
		target.cuptiSetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
	return TARGET_CALL(cuptiActivityRegisterCallbacks, buffer_requested, buffer_completed);
}

/* Whether CUPTI's records are this library's. */
static bool is_active(void)
{
	opk_autounlock pthread_mutex_t *held = opk_lock(&trace.lock);

	return held && trace.running && !trace.refused && !trace.left;
}

/* A range open at the beginning or end is recorded as a whole if it ends inside. */
void trace_pause(bool pause)
{
	opk_autounlock pthread_mutex_t *held = opk_lock(&trace.kinds);
	bool active;

	if (!held)
		return;
	active = is_active();
	if (lock()) {
		trace.paused = pause && active;
		unlock();
	}
	if (active && pause)
		disable_kinds(wanted_kinds());
	else if (active)
		enable_kinds();
}

bool trace_leave(void)
{
	/* Several threads may ask: one that came later would disable what the program enabled. */
	opk_autounlock pthread_mutex_t *held = opk_lock(&trace.kinds);

	if (!held || !is_active())
		return false;
	flush(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
	disable_kinds(wanted_kinds());
	if (wanted_kinds() == wanted[TRACE_API] && target.cuptiSetThreadIdType)
		target.cuptiSetThreadIdType(trace.threads);
	trace.left = true;
	return true;
}

bool trace_start(const struct profiling *profiling, trace_begin_fn *begin, bool paused)
{
	static const struct range_listener listener = { .popping = popping, .ended = ended };
	pthread_condattr_t steady;

	trace.profiling = profiling;
	trace.begin = begin;
	trace.pid = getpid();
	trace.kernels = kernels_new(NULL);
	trace.paused = paused;
	pthread_condattr_init(&steady);
	pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
	pthread_cond_init(&trace.changed, &steady);
	if (!trace.kernels || !listen_to_cupti() || (!paused && !enable_kinds()))
		return false;
	/* Not by the thread: where the program forks meanwhile, the child could load nothing. */
	nvml_open();
	trace.running = thread_start(&trace.thread, run, NULL);
	if (!trace.running) {
		disable_kinds(wanted_kinds());
		return false;
	}
	ranges_listen(&listener);
	return true;
}

void trace_stop(struct counts *counts)
{
	bool running;

	if (trace.pid != getpid() || !lock())
		return;
	running = trace.running;
	trace.running = false;
	trace.ending = true;
	pthread_cond_signal(&trace.changed);
	unlock();
	if (!running)
		return;
	pthread_join(trace.thread, NULL);
	if (!trace.refused && !trace.left)
		disable_kinds(wanted_kinds());
	/* All buffers came back, unless another client of CUPTI registered and received them. */
	trace.counts.drops[DROP_TAKEN] = trace.left || trace.buffers > 0;
	counts_add(counts, &trace.counts);
}
