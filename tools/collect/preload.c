/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * liboffpeak-preload.so, which the launcher preloads into the program: the program's calls of CUPTI
 * that a recording could disturb come here first. The collector makes way, and then CUPTI
 * gets the call. It needs only libc, since each program of a job loads it.
 */
#include <cupti.h>
#include <cupti_pcsampling.h>
#include <cupti_pmsampling.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_sass_metrics.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "collect/shared/program_cupti.h"

#define EXPORT __attribute__((visibility("default")))

/* Numbers of what is in use; activity records: a bit a kind. */
static struct {
	unsigned callbacks, counters;
	uint64_t activities;
	bool buffers;
} used;

static void begun(unsigned *uses)
{
	__atomic_add_fetch(uses, 1, __ATOMIC_RELAXED);
}

/* Some end more often than they begin. */
static void ended(unsigned *uses, bool really)
{
	if (really && __atomic_load_n(uses, __ATOMIC_RELAXED))
		__atomic_sub_fetch(uses, 1, __ATOMIC_RELAXED);
}

EXPORT unsigned offpeak_program_uses(void)
{
	return (used.callbacks ? USE_CALLBACKS : 0) | (used.activities ? USE_ACTIVITIES : 0)
	       | (used.counters ? USE_COUNTERS : 0) | (used.buffers ? USE_BUFFERS : 0);
}

/* ---- programs that look CUPTI's functions up, as JAX does ---- */

typedef void *dlsym_fn(void *library, const char *symbol);

/*
 * Sanitizers look functions up before what they add to code can run. A call at the end of these
 * functions has to be a jump, at every level of optimization.
 */
#ifdef __clang__
#define EARLY __attribute__((no_sanitize("address", "undefined")))
#define JUMP __attribute__((musttail))
#else
#define EARLY __attribute__((no_sanitize("address", "undefined"), optimize("O2")))
#define JUMP
#endif

/* libc's own; its versions on x86_64, on both, and on arm64. */
EARLY static dlsym_fn *libc_dlsym(void)
{
	static dlsym_fn *found;

	if (!found)
		*(void **)&found = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
	if (!found)
		*(void **)&found = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
	if (!found)
		*(void **)&found = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.17");
	return found;
}

/* The collector's path; the program may change its environment later. */
static const char *collector_path(void)
{
	static char *path;
	const char *given = path ? NULL : getenv("CUDA_INJECTION64_PATH");

	if (given)
		path = strdup(given);
	return path;
}

static __attribute__((constructor)) void keep_path(void)
{
	collector_path();
}

/* Whether the caller is this library or the collector's, which need CUPTI's own functions. */
static bool is_ours(const void *caller)
{
	const char *collector = collector_path();
	Dl_info info, here;

	if (!dladdr(caller, &info) || !dladdr((const void *)(uintptr_t)is_ours, &here))
		return false;
	return info.dli_fbase == here.dli_fbase
	       || (collector && info.dli_fname && !strcmp(info.dli_fname, collector));
}

static void *opened(const char *path)
{
	return dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
}

/* Our function of that name; NULL: the program's calls of it do not matter. */
static void *ours(const char *symbol)
{
	static void *library;
	Dl_info here;

	if (!library && dladdr((const void *)(uintptr_t)ours, &here))
		library = opened(here.dli_fname);
	return library ? libc_dlsym()(library, symbol) : NULL;
}

static void *real(const char *symbol);

/* What libc would have found without this library. RTLD_DEFAULT has the caller's own libraries. */
static void *find_after_ours(void *library, const char *symbol, const void *caller)
{
	void *found = libc_dlsym()(RTLD_NEXT, symbol), *own = NULL;
	Dl_info info;

	if (!found && library == RTLD_DEFAULT && dladdr(caller, &info))
		own = opened(info.dli_fname);
	if (own) {
		found = libc_dlsym()(own, symbol);
		dlclose(own);
	}
	/* The last call decides what dlerror() says. */
	return found ? found : libc_dlsym()(RTLD_NEXT, symbol);
}

/* Our function, if it calls the one that the program would get. */
static void *replaced(void *function, void *library, const char *symbol, const void *caller)
{
	void *called = real(symbol);
	void *found = libc_dlsym()(library, symbol);

	if (found == function)
		found = find_after_ours(library, symbol, caller);
	return found && found == called ? function : found;
}

/*
 * libc's function is jumped to, and sees the caller, whose libraries it searches; its call is the
 * last one, so that dlerror() is about it. A program without CUPTI that refers to one of these
 * functions weakly finds this library's.
 */
EXPORT EARLY void *dlsym(void *library, const char *symbol)
{
	dlsym_fn *look_up = libc_dlsym();
	const void *caller = __builtin_return_address(0);
	void *function = NULL;

	if (library != RTLD_NEXT && !strncmp(symbol, "cupti", strlen("cupti")) && !is_ours(caller))
		function = ours(symbol);
	if (!function)
		JUMP return look_up(library, symbol);
	return replaced(function, library, symbol, caller);
}

/* CUPTI's own function: modules of Python bring a CUPTI that only they see. */
static void *real(const char *symbol)
{
	void *function = dlsym(RTLD_NEXT, symbol);
	char *path = function ? NULL : cupti_loaded(NULL);

	if (!function)
		function = loaded_function(path, symbol);
	free(path);
	return function;
}

/* CUPTI's function, called; before CUPTI is loaded nothing works. */
#define CALL(symbol, ...)                                                                          \
	({                                                                                         \
		__typeof__(symbol) *function = real(#symbol);                                      \
		function ? function(__VA_ARGS__) : CUPTI_ERROR_NOT_INITIALIZED;                    \
	})

/* Before the program uses CUDA there is no collector. 0: the program has given something back. */
static void make_way(unsigned use)
{
	__typeof__(offpeak_make_way) *ask = loaded_function(collector_path(), "offpeak_make_way");

	if (ask)
		ask(use);
}

/* ---- the program's end ---- */

static void (*leaving)(void);

EXPORT void offpeak_preloaded(void (*before_exit)(void))
{
	leaving = before_exit;
}

EXPORT void exit(int status)
{
	__typeof__(exit) *function = dlsym(RTLD_NEXT, "exit");

	if (leaving)
		leaving();
	function(status);
	__builtin_unreachable();
}

typedef int main_fn(int count, char **arguments, char **environment);
static main_fn *program;

/* libc ends a program whose main() returns by an exit() of its own. */
static int run(int count, char **arguments, char **environment)
{
	exit(program(count, arguments, environment));
}

int __libc_start_main(main_fn *main, int count, char **arguments, void (*init)(void),
                      void (*fini)(void), void (*loader_fini)(void), void *stack);

EXPORT int __libc_start_main(main_fn *main, int count, char **arguments, void (*init)(void),
                             void (*fini)(void), void (*loader_fini)(void), void *stack)
{
	__typeof__(__libc_start_main) *function = dlsym(RTLD_NEXT, "__libc_start_main");

	program = main;
	return function(run, count, arguments, init, fini, loader_fini, stack);
}

/* ---- callbacks ---- */

/* The call is repeated only where CUPTI says that the callbacks are taken: they may be shared. */
#define SUBSCRIBE(symbol, ...)                                                                     \
	do {                                                                                       \
		CUptiResult status = CALL(symbol, __VA_ARGS__);                                    \
                                                                                                   \
		begun(&used.callbacks);                                                            \
		if (status == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED) {                    \
			make_way(USE_CALLBACKS);                                                   \
			status = CALL(symbol, __VA_ARGS__);                                        \
		}                                                                                  \
		ended(&used.callbacks, status != CUPTI_SUCCESS);                                   \
		return status;                                                                     \
	} while (0)

EXPORT CUptiResult cuptiSubscribe(CUpti_SubscriberHandle *subscriber, CUpti_CallbackFunc callback,
                                  void *data)
{
	SUBSCRIBE(cuptiSubscribe, subscriber, callback, data);
}

#if CUPTI_API_VERSION >= 130000
EXPORT CUptiResult cuptiSubscribe_v2(CUpti_SubscriberHandle *subscriber,
                                     CUpti_CallbackFunc callback, void *data,
                                     CUpti_SubscriberParams *params)
{
	SUBSCRIBE(cuptiSubscribe_v2, subscriber, callback, data, params);
}
#endif

EXPORT CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle subscriber)
{
	CUptiResult status = CALL(cuptiUnsubscribe, subscriber);

	ended(&used.callbacks, !status);
	make_way(0);
	return status;
}

EXPORT CUptiResult cuptiFinalize(void)
{
	__typeof__(offpeak_end_cupti) *tell = loaded_function(collector_path(),
	                                                      "offpeak_end_cupti");
	CUptiResult status;

	if (tell)
		tell(true, false);
	status = CALL(cuptiFinalize);
	if (tell)
		tell(false, !status);
	used.callbacks = used.counters = 0;
	used.activities = 0;
	return status;
}

/* ---- activity records ---- */

static uint64_t bit(CUpti_ActivityKind kind)
{
	return (unsigned)kind < 64 ? (uint64_t)1 << kind : (uint64_t)1 << 63;
}

/* Whether the kind was not in use before. */
static bool enabling(CUpti_ActivityKind kind)
{
	uint64_t before = __atomic_fetch_or(&used.activities, bit(kind), __ATOMIC_RELAXED);

	make_way(USE_ACTIVITIES);
	return !(before & bit(kind));
}

/* A refused call ends nothing that an earlier one began. */
static CUptiResult enabled(CUpti_ActivityKind kind, bool is_new, CUptiResult status)
{
	if (status && is_new)
		__atomic_and_fetch(&used.activities, ~bit(kind), __ATOMIC_RELAXED);
	else if (!status)
		__atomic_or_fetch(&used.activities, bit(kind), __ATOMIC_RELAXED);
	return status;
}

EXPORT CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc requested,
                                                  CUpti_BuffersCallbackCompleteFunc completed)
{
	used.buffers = true;
	make_way(USE_BUFFERS);
	return CALL(cuptiActivityRegisterCallbacks, requested, completed);
}

EXPORT CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind)
{
	bool is_new = enabling(kind);

	return enabled(kind, is_new, CALL(cuptiActivityEnable, kind));
}

EXPORT CUptiResult cuptiActivityEnableAndDump(CUpti_ActivityKind kind)
{
	bool is_new = enabling(kind);

	return enabled(kind, is_new, CALL(cuptiActivityEnableAndDump, kind));
}

EXPORT CUptiResult cuptiActivityEnableContext(CUcontext context, CUpti_ActivityKind kind)
{
	bool is_new = enabling(kind);

	return enabled(kind, is_new, CALL(cuptiActivityEnableContext, context, kind));
}

EXPORT CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind)
{
	CUptiResult status = CALL(cuptiActivityDisable, kind);

	if (!status)
		__atomic_and_fetch(&used.activities, ~bit(kind), __ATOMIC_RELAXED);
	make_way(0);
	return status;
}

/* cuptiActivityDisableContext() is not here: other contexts may still record that kind. */

/* ---- profilers ---- */

#define PROFILER(enable, enable_params, disable, disable_params)                                   \
	EXPORT CUptiResult enable(enable_params *params)                                           \
	{                                                                                          \
		CUptiResult status;                                                                \
                                                                                                   \
		begun(&used.counters);                                                             \
		make_way(USE_COUNTERS);                                                            \
		status = CALL(enable, params);                                                     \
		ended(&used.counters, status != CUPTI_SUCCESS);                                    \
		return status;                                                                     \
	}                                                                                          \
	EXPORT CUptiResult disable(disable_params *params)                                         \
	{                                                                                          \
		CUptiResult status = CALL(disable, params);                                        \
                                                                                                   \
		ended(&used.counters, !status);                                                    \
		make_way(0);                                                                       \
		return status;                                                                     \
	}

/* Not cuptiProfilerInitialize(): programs need it for the host API, too, without the counters. */
PROFILER(cuptiProfilerBeginSession, CUpti_Profiler_BeginSession_Params, cuptiProfilerEndSession,
         CUpti_Profiler_EndSession_Params)
PROFILER(cuptiRangeProfilerEnable, CUpti_RangeProfiler_Enable_Params, cuptiRangeProfilerDisable,
         CUpti_RangeProfiler_Disable_Params)
PROFILER(cuptiPmSamplingEnable, CUpti_PmSampling_Enable_Params, cuptiPmSamplingDisable,
         CUpti_PmSampling_Disable_Params)
PROFILER(cuptiPCSamplingEnable, CUpti_PCSamplingEnableParams, cuptiPCSamplingDisable,
         CUpti_PCSamplingDisableParams)
PROFILER(cuptiSassMetricsEnable, CUpti_SassMetricsEnable_Params, cuptiSassMetricsDisable,
         CUpti_SassMetricsDisable_Params)

/* The collector needs it, and CUPTI crashes where samplers end after it: then it is left out. */
EXPORT CUptiResult cuptiProfilerDeInitialize(CUpti_Profiler_DeInitialize_Params *params)
{
	__typeof__(offpeak_profiles) *ask = loaded_function(collector_path(), "offpeak_profiles");

	return ask && ask() ? CUPTI_SUCCESS : CALL(cuptiProfilerDeInitialize, params);
}

/* The answer needs the counters for a moment, and programs ask before they enable anything. */
#define AVAILABILITY(ask, ask_params)                                                              \
	EXPORT CUptiResult ask(ask_params *params)                                                 \
	{                                                                                          \
		make_way(USE_COUNTERS);                                                            \
		return CALL(ask, params);                                                          \
	}

AVAILABILITY(cuptiProfilerGetCounterAvailability, CUpti_Profiler_GetCounterAvailability_Params)
AVAILABILITY(cuptiPmSamplingGetCounterAvailability, CUpti_PmSampling_GetCounterAvailability_Params)
