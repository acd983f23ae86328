/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The library that CUDA loads into the program: CUDA_INJECTION64_PATH names it, the driver calls
 * InitializeInjection() when the program first uses CUDA.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collect/launch.h"
#include "collect/segments.h"
#include "collect/session.h"
#include "collect/settings.h"
#include "collect/target.h"

enum { MAX_CONTEXTS = 64, FLUSH_INTERVAL_S = 1 };

static struct {
	struct target target;
	struct settings settings;
	struct collect_set set;
	struct opk_ctx *ctx;
	struct opk_file *file;
	const struct opk_meta *meta;
	struct segments *segments;
	CUpti_SubscriberHandle subscriber;
	pthread_mutex_t lock; /* over all that follows, and over the profiler */
	struct {
		CUcontext context;
		struct session *session; /* NULL: can't be profiled */
	} contexts[MAX_CONTEXTS];
	size_t context_count;
	struct session *open; /* a launch is under way in it */
	uint64_t launches;    /* all */
	uint64_t matches;     /* those that the filter let through */
	uint64_t recorded;
	pid_t pid;
	pthread_t ticker;
	bool ended;
} collector = { .lock = PTHREAD_MUTEX_INITIALIZER };

int InitializeInjection(void);

static void complain(const char *what)
{
	fprintf(stderr, "offpeak-collect: %s\n", what);
}

/* The first section of a type, decoded; NULL with *size 0 where there is none. */
static void *read_section(uint32_t type, size_t *size)
{
	void *data = NULL;

	*size = 0;
	for (size_t i = 0; !data && i < opk_file_section_count(collector.file); i++)
		if (opk_file_section(collector.file, i)->type == type
		    && opk_file_read(&data, size, collector.ctx, collector.file, i))
			return NULL;
	return data;
}

static bool load_set(void)
{
	struct collect_set *set = &collector.set;

	if (opk_ctx_new(&collector.ctx, NULL)
	    || opk_file_open(&collector.file, collector.ctx, collector.settings.set_path)
	    || opk_file_meta(&collector.meta, collector.ctx, collector.file)) {
		complain(opk_error_message(collector.ctx, 0));
		return false;
	}
	set->config = read_section(OPK_SECTION_CONFIG, &set->config_size);
	set->prefix = read_section(OPK_SECTION_PREFIX, &set->prefix_size);
	if (!set->config || !set->prefix) {
		complain("the set has no config image or no counter-data prefix");
		return false;
	}
	return true;
}

/* Not before the driver is up, which it is not when the library is loaded. */
static bool initialize_profiler(void)
{
	CUpti_Profiler_Initialize_Params params = {
		.structSize = CUpti_Profiler_Initialize_Params_STRUCT_SIZE,
	};
	CUptiResult status = collector.target.cuptiProfilerInitialize(&params);

	if (!status)
		return true;
	fprintf(stderr, "offpeak-collect: cuptiProfilerInitialize: %s (%d)\n",
	        target_status(&collector.target, status), status);
	return false;
}

/*
 * Before the first session: while one is active the call fails, and after one it crashes. Without
 * access to the counters it fails where all else seems to work, so it is the permission check, too.
 */
static void *counter_availability(CUcontext context, size_t *size)
{
	CUpti_Profiler_GetCounterAvailability_Params params = {
		.structSize = CUpti_Profiler_GetCounterAvailability_Params_STRUCT_SIZE,
		.ctx = context,
	};
	CUptiResult status = collector.target.cuptiProfilerGetCounterAvailability(&params);
	void *image = status ? NULL : calloc(1, params.counterAvailabilityImageSize);


	params.pCounterAvailabilityImage = image;
	if (image)
		status = collector.target.cuptiProfilerGetCounterAvailability(&params);
	*size = params.counterAvailabilityImageSize;
	if (!status)
		return image;
	free(image);
	fprintf(stderr, "offpeak-collect: no access to the counters: %s (%d)\n",
	        target_status(&collector.target, status), status);
	return NULL;
}

static bool begin_recording(CUcontext context)
{
	struct opk_meta meta = *collector.meta;
	char generator[64];
	uint32_t version = 0;
	size_t size;
	void *availability = initialize_profiler() ? counter_availability(context, &size) : NULL;
	int code;

	if (!availability)
		return false;
	snprintf(generator, sizeof generator, "offpeak-collect %s", opk_version());
	collector.target.cuptiGetVersion(&version);
	meta.kind = "recording";
	meta.generator = generator;
	meta.cupti_version = version;
	meta.mode = settings_mode_name(collector.settings.mode);
	code = segments_new(&collector.segments, collector.settings.output_path, &meta, availability,
	                    size);
	free(availability);
	return code == OPK_OK;
}

static bool right_chip(int device)
{
	CUpti_Device_GetChipName_Params params = {
		.structSize = CUpti_Device_GetChipName_Params_STRUCT_SIZE,
		.deviceIndex = (size_t)device,
	};

	if (collector.target.cuptiDeviceGetChipName(&params) || !params.pChipName
	    || !strcmp(params.pChipName, collector.meta->chip))
		return true;
	fprintf(stderr, "offpeak-collect: the set was built for %s, device %d is a %s\n",
	        collector.meta->chip, device, params.pChipName);
	return false;
}

static struct session *open_session(CUcontext context)
{
	CUdevice device = 0;

	if (collector.target.cuCtxGetDevice(&device) || !right_chip(device))
		return NULL;
	if (!collector.segments && !begin_recording(context))
		return NULL;
	return session_new(&collector.target, &collector.settings, &collector.set,
	                   collector.segments, context, device);
}

static struct session *session_of(CUcontext context)
{
	size_t i = 0;

	while (i < collector.context_count && collector.contexts[i].context != context)
		i++;
	if (i == MAX_CONTEXTS)
		return NULL;
	if (i == collector.context_count) {
		collector.contexts[i].context = context;
		collector.contexts[i].session = open_session(context);
		collector.context_count++;
	}
	return collector.contexts[i].session;
}

/* --kernel, --skip, --every, --count, --max-ranges, in this order. */
static bool wanted(const struct launch *launch)
{
	const struct settings *settings = &collector.settings;
	uint64_t match;

	if (settings->has_kernel
	    && (!launch->symbol || regexec(&settings->kernel, launch->symbol, 0, NULL, 0)))
		return false;
	match = collector.matches++;
	if (match < settings->skip || (settings->every && (match - settings->skip) % settings->every))
		return false;
	if (settings->count && match - settings->skip >= settings->count)
		return false;
	return !settings->max_ranges || collector.recorded < settings->max_ranges;
}

/* True: the launch is recorded, and the lock is held until it returns: one range at a time. */
static bool enter_launch(const struct launch *launch)
{
	struct session *session;
	uint64_t index;

	pthread_mutex_lock(&collector.lock);
	index = collector.launches++;
	if (collector.ended || collector.pid != getpid() || !wanted(launch)) {
		pthread_mutex_unlock(&collector.lock);
		return false;
	}
	session = session_of(launch->context);
	if (!session || !session_begin_launch(session, launch, index)) {
		pthread_mutex_unlock(&collector.lock);
		return false;
	}
	collector.recorded++;
	collector.open = session;
	return true;
}

static __thread bool inside; /* this thread holds the lock for a launch */

static void CUPTIAPI callback(void *data, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                              const void *details)
{
	const CUpti_CallbackData *call = details;
	struct launch launch;

	(void)data;
	(void)domain;
	if (call->callbackSite == CUPTI_API_ENTER) {
		if (!inside && launch_read(&launch, id, call))
			inside = enter_launch(&launch);
	} else if (inside) {
		session_end_launch(collector.open);
		collector.open = NULL;
		inside = false;
		pthread_mutex_unlock(&collector.lock);
	}
}

/* From another thread than the launches': with the session's context current. */
static void in_context(size_t i, void (*work)(struct session *session))
{
	CUcontext before;

	if (!collector.contexts[i].session)
		return;
	collector.target.cuCtxPushCurrent(collector.contexts[i].context);
	work(collector.contexts[i].session);
	collector.target.cuCtxPopCurrent(&before);
}

static void flush_if_old(struct session *session)
{
	if (session_age(session) > FLUSH_INTERVAL_S * 0.75)
		session_flush(session, false);
}

/* Hands on what has waited for longer than the flush interval, should no launch come by. */
static void *tick(void *data)
{
	while (!collector.ended) {
		usleep(FLUSH_INTERVAL_S * 1000000 / 4);
		pthread_mutex_lock(&collector.lock);
		for (size_t i = 0; !collector.ended && i < collector.context_count; i++)
			in_context(i, flush_if_old);
		pthread_mutex_unlock(&collector.lock);
	}
	return data;
}

static void finish(void)
{
	const char *error = NULL;
	uint64_t dropped = 0;

	pthread_mutex_lock(&collector.lock);
	if (collector.ended || collector.pid != getpid()) {
		pthread_mutex_unlock(&collector.lock);
		return;
	}
	for (size_t i = 0; i < collector.context_count; i++) {
		in_context(i, session_close);
		if (collector.contexts[i].session)
			dropped += session_dropped(collector.contexts[i].session);
	}
	collector.ended = true;
	collector.target.cuptiUnsubscribe(collector.subscriber);
	if (collector.segments)
		error = segments_finish(collector.segments);
	if (error)
		complain(error);
	if (collector.settings.verbose || dropped)
		fprintf(stderr,
		        "offpeak-collect: %ju launches, %ju recorded, %ju dropped by the profiler\n",
		        (uintmax_t)collector.launches, (uintmax_t)collector.recorded,
		        (uintmax_t)dropped);
	pthread_mutex_unlock(&collector.lock);
}

static bool subscribe(void)
{
	CUptiResult status =
		collector.target.cuptiSubscribe(&collector.subscriber, callback, NULL);

	for (size_t i = 0; !status && launch_calls[i]; i++)
		status = collector.target.cuptiEnableCallback(1, collector.subscriber,
		                                              CUPTI_CB_DOMAIN_DRIVER_API,
		                                              launch_calls[i]);
	if (!status)
		return true;
	fprintf(stderr, "offpeak-collect: cuptiSubscribe: %s (%d)%s\n",
	        target_status(&collector.target, status), status,
	        status == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED
	                ? "; another profiler is attached"
	                : "");
	return false;
}

static void start_ticker(void)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_create(&collector.ticker, NULL, tick, NULL);
	pthread_detach(collector.ticker);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

__attribute__((visibility("default"))) int InitializeInjection(void)
{
	const char *problem = settings_read(&collector.settings);

	if (!problem)
		problem = target_open(&collector.target, collector.settings.cupti_path);
	if (problem)
		complain(problem);
	if (problem || !load_set() || !subscribe())
		return 1;
	collector.pid = getpid();
	atexit(finish);
	start_ticker();
	return 1;
}
