/* SPDX-License-Identifier: BSD-2-Clause */
#include "collect/recording/recording.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "collect/recording/machine_facts.h"
#include "collect/shared/metric_names.h"
#include "collect/shared/file_names.h"

bool recording_initialize(const struct target *target)
{
	CUpti_Profiler_Initialize_Params params = {
		.structSize = CUpti_Profiler_Initialize_Params_STRUCT_SIZE,
	};

	return TARGET_CALL(target, cuptiProfilerInitialize, &params);
}

/* After a failure: why the device can't be profiled, where CUPTI knows. */
static void explain(const struct target *target, int device)
{
	CUpti_Profiler_DeviceSupported_Params params = {
		.structSize = CUpti_Profiler_DeviceSupported_Params_STRUCT_SIZE,
		.cuDevice = device,
	};
	const struct {
		const CUpti_Profiler_Support_Level *level;
		const char *what;
	} reasons[] = {
		{ &params.architecture, "its architecture is too old" },
		{ &params.sli, "SLI is on" },
		{ &params.vGpu, "this vGPU does not allow it" },
		{ &params.confidentialCompute, "confidential computing is on" },
		{ &params.cmp, "it is a mining processor" },
		{ &params.wsl, "WSL does not allow it" },
	};

	if (target->cuptiProfilerDeviceSupported(&params)
	    || params.isSupported != CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED)
		return;
	for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
		if (*reasons[i].level == CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED
		    || *reasons[i].level == CUPTI_PROFILER_CONFIGURATION_DISABLED)
			fprintf(stderr, "offpeak-collect: device %d can't be profiled: %s\n",
			        device, reasons[i].what);
}

static void *range_availability(const struct target *target, CUcontext context, size_t *size)
{
	CUpti_Profiler_GetCounterAvailability_Params params = {
		.structSize = CUpti_Profiler_GetCounterAvailability_Params_STRUCT_SIZE,
		.ctx = context,
	};
	void *image;

	if (!TARGET_CALL(target, cuptiProfilerGetCounterAvailability, &params))
		return NULL;
	image = calloc(1, params.counterAvailabilityImageSize);
	params.pCounterAvailabilityImage = image;
	*size = params.counterAvailabilityImageSize;
	if (image && TARGET_CALL(target, cuptiProfilerGetCounterAvailability, &params))
		return image;
	free(image);
	return NULL;
}

static void *sampling_availability(const struct target *target, int device, size_t *size)
{
	CUpti_PmSampling_GetCounterAvailability_Params params = {
		.structSize = CUpti_PmSampling_GetCounterAvailability_Params_STRUCT_SIZE,
		.deviceIndex = (size_t)device,
	};
	void *image;

	if (!target->cuptiPmSamplingGetCounterAvailability
	    || !TARGET_CALL(target, cuptiPmSamplingGetCounterAvailability, &params))
		return NULL;
	image = calloc(1, params.counterAvailabilityImageSize);
	params.pCounterAvailabilityImage = image;
	*size = params.counterAvailabilityImageSize;
	if (image && TARGET_CALL(target, cuptiPmSamplingGetCounterAvailability, &params))
		return image;
	free(image);
	return NULL;
}

static const char *join_of(const struct settings *settings)
{
	if (settings->turns == TURNS_ROTATE)
		return "kernel";
	if (settings->turns == TURNS_REPEAT)
		return "name";
	if (settings->group)
		return settings->mode == MODE_USER_RANGE ? "name" : "launch";
	return "";
}

static bool part_path(char *path, size_t size, const struct settings *settings)
{
	char name[3072];

	if (name_expand(name, sizeof name, settings->output))
		return snprintf(path, size, "%s.%s-%d" PART_ENDING, name, settings->launcher,
		                (int)getpid())
		       < (int)size;
	fprintf(stderr, "offpeak-collect: %s: no usable name of a recording\n", settings->output);
	return false;
}

static struct segments *begin_file(const struct target *target, const struct settings *settings,
                                   const struct collect_set *set, const struct profiler_ops *ops,
                                   const void *availability, size_t availability_size)
{
	struct opk_meta meta = *set->meta;
	struct segments *segments = NULL;
	char generator[64], path[4096];
	uint32_t version = 0;
	struct facts facts;

	if (!part_path(path, sizeof path, settings))
		return NULL;
	snprintf(generator, sizeof generator, "offpeak-collect %s", opk_version());
	target->cuptiGetVersion(&version);
	facts_collect(&facts, target, settings);
	meta.kind = "recording";
	meta.generator = generator;
	meta.cupti_version = version;
	meta.mode = settings_mode_name(settings->mode);
	meta.join = join_of(settings);
	meta.backend = settings->mode == MODE_SAMPLING ? "pm-sampling" : ops->name;
	meta.run = facts.items;
	meta.run_count = facts.count;
	if (settings->mode == MODE_LAUNCH_RANGE && settings_push(settings))
		meta.inflated = inflated_metrics(&meta.inflated_count, set->meta);
	segments_new(&segments, path, &meta, availability, availability_size);
	free((void *)meta.inflated);
	facts_clear(&facts);
	return segments;
}

struct segments *recording_begin(const struct target *target, const struct settings *settings,
                                 const struct collect_set *set, const struct profiler_ops *ops,
                                 CUcontext context, int device)
{
	struct segments *segments = NULL;
	void *availability = NULL;
	size_t size = 0;

	availability = settings->mode == MODE_SAMPLING
	                       ? sampling_availability(target, device, &size)
	                       : range_availability(target, context, &size);
	if (!availability)
		explain(target, device);
	else
		segments = begin_file(target, settings, set, ops, availability, size);
	free(availability);
	return segments;
}
