/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Words that call CUPTI, from the library that FAKE_APP_CUPTI names. FAKE_APP_FINDS=linked: as if
 * the program were linked with it, so that what is preloaded comes first; looked-up: by dlsym();
 * else as if it had CUPTI inside, so that no other library sees its calls.
 */
#include <cupti.h>
#include <cupti_pmsampling.h>
#include <cupti_profiler_target.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_gpu/app.h"

static CUpti_SubscriberHandle subscriber;
static unsigned heard, traced;

typedef void *dlsym_fn(void *library, const char *symbol);

/* libc's, which no preloaded library replaces. */
static dlsym_fn *libc_dlsym(void)
{
	static const char *const libraries[] = { "libc.so.6", "libdl.so.2" };
	dlsym_fn *found = NULL;

	for (size_t i = 0; i < 2 && !found; i++) {
		void *library = dlopen(libraries[i], RTLD_NOW | RTLD_NOLOAD);

		*(void **)&found = library ? dlsym(library, "dlsym") : NULL;
	}
	return found ? found : dlsym;
}

static void *find(const char *symbol)
{
	const char *path = getenv("FAKE_APP_CUPTI"), *finds = getenv("FAKE_APP_FINDS");
	bool linked = finds && !strcmp(finds, "linked");
	void *library = path ? dlopen(path, RTLD_NOW | (linked ? RTLD_GLOBAL : RTLD_LOCAL)) : NULL;
	dlsym_fn *look_up = finds ? dlsym : libc_dlsym();
	void *function = library ? look_up(linked ? RTLD_DEFAULT : library, symbol) : NULL;

	if (!function) {
		fprintf(stderr, "fake_app: no %s: FAKE_APP_CUPTI names a libcupti\n", symbol);
		exit(71);
	}
	return function;
}

#define CALL(symbol) ((__typeof__(&symbol))find(#symbol))

static void CUPTIAPI hear(void *data, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                          const void *details)
{
	(void)data;
	(void)domain;
	(void)id;
	heard += ((const CUpti_CallbackData *)details)->callbackSite == CUPTI_API_ENTER;
}

/* "share": as from 13.2 on */
static int word_subscribe(const char *const *fields)
{
	struct {
		CUpti_SubscriberParams params;
		uint8_t share;
	} sharing = { { .structSize = sizeof sharing.params + 1, .subscriberName = "fake_app" },
		      1 };
	int status = strcmp(fields[0], "share")
	                     ? CALL(cuptiSubscribe)(&subscriber, hear, NULL)
	                     : CALL(cuptiSubscribe_v2)(&subscriber, hear, NULL, &sharing.params);

	return status ? status
	              : (int)CALL(cuptiEnableCallback)(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API,
	                                               CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel);
}

static int word_load(const char *const *fields)
{
	(void)fields;
	find("cuptiGetVersion");
	return 0;
}

static int word_unsubscribe(const char *const *fields)
{
	(void)fields;
	return CALL(cuptiUnsubscribe)(subscriber);
}

/* Prints how many launches the callback was called for. */
static int word_heard(const char *const *fields)
{
	(void)fields;
	printf("heard %u\n", heard);
	return 0;
}

static int word_finalize(const char *const *fields)
{
	(void)fields;
	return CALL(cuptiFinalize)();
}

static int word_deinit(const char *const *fields)
{
	CUpti_Profiler_DeInitialize_Params params = {
		.structSize = CUpti_Profiler_DeInitialize_Params_STRUCT_SIZE
	};

	(void)fields;
	return CALL(cuptiProfilerDeInitialize)(&params);
}

/* Samples device 0 through the profiler's API, as CUPTI's examples do; "host": only prepares it. */
static int word_sample(const char *const *fields)
{
	CUpti_Profiler_Initialize_Params initialize = {
		.structSize = CUpti_Profiler_Initialize_Params_STRUCT_SIZE
	};
	CUpti_PmSampling_Enable_Params enable = {
		.structSize = CUpti_PmSampling_Enable_Params_STRUCT_SIZE
	};
	int status = CALL(cuptiProfilerInitialize)(&initialize);

	return status || !strcmp(fields[0], "host") ? status
	                                            : (int)CALL(cuptiPmSamplingEnable)(&enable);
}

static void CUPTIAPI give_buffer(uint8_t **buffer, size_t *size, size_t *most)
{
	*size = 1 << 16;
	*buffer = malloc(*size);
	*most = 0;
}

static void CUPTIAPI take_buffer(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size,
                                 size_t valid)
{
	CUpti_Activity *record = NULL;

	(void)context, (void)stream, (void)size;
	while (valid && !CALL(cuptiActivityGetNextRecord)(buffer, valid, &record))
		traced += record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
	free(buffer);
}

/* Records kernels as torch.profiler does, or "copies"; "off": no more; "context": of one. */
static int word_activities(const char *const *fields)
{
	int status;

	if (!strcmp(fields[0], "off"))
		return CALL(cuptiActivityDisable)(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	if (!strcmp(fields[0], "off-context"))
		return CALL(cuptiActivityDisableContext)(app_context(),
		                                         CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	status = CALL(cuptiActivityRegisterCallbacks)(give_buffer, take_buffer);
	if (!status && !strcmp(fields[0], "context"))
		return CALL(cuptiActivityEnableContext)(app_context(),
		                                        CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	return status ? status
	              : (int)CALL(cuptiActivityEnable)(
			      strcmp(fields[0], "copies") ? CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL
							  : CUPTI_ACTIVITY_KIND_MEMCPY);
}

/* Prints how many kernels are in the records so far. */
static int word_traced(const char *const *fields)
{
	int status = CALL(cuptiActivityFlushAll)(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);

	(void)fields;
	printf("traced %u\n", traced);
	return status;
}

static int word_external(const char *const *fields)
{
	return CALL(cuptiActivityPushExternalCorrelationId)(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0,
	                                                    strtoull(fields[0], NULL, 10));
}

static int word_unsetenv(const char *const *fields)
{
	return unsetenv(fields[0]);
}

const struct word cupti_words[] = {
	{ "activities", word_activities }, { "load", word_load },
	{ "subscribe", word_subscribe },   { "unsubscribe", word_unsubscribe },
	{ "heard", word_heard },           { "external", word_external },
	{ "finalize", word_finalize },     { "deinit", word_deinit },
	{ "sample", word_sample },         { "traced", word_traced },
	{ "unsetenv", word_unsetenv },     { 0 },
};
