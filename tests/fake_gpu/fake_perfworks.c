/* SPDX-License-Identifier: BSD-2-Clause */
/* A fake libnvperf_host: the calls that PM sampling needs, which no header declares. */
#include <stdlib.h>
#include <string.h>

#include "fake_gpu/fake_common.h"
#include "fake_gpu/fake_image.h"
#include "fake_gpu/fake_perfworks.h"

#define PERFWORKS_CALL(params, work, ...)                                                          \
	FAKE_CALL(int, (params)->size != sizeof *(params) ? 1 : (work), __VA_ARGS__)

int NVPW_InitializeHost(struct fake_plain_params *params)
{
	return PERFWORKS_CALL(params, 0, "%s", "");
}

int NVPW_InitializeTarget(struct fake_plain_params *params)
{
	return PERFWORKS_CALL(params, 0, "%s", "");
}

int NVPW_CUDA_LoadDriver(struct fake_plain_params *params)
{
	return PERFWORKS_CALL(params, 0, "%s", "");
}

static int sample_size(struct fake_record_size_params *params)
{
	params->sample_size = FAKE_RECORD_BYTES;
	return !params->config || !params->config_size;
}

int NVPW_PeriodicSampler_Config_GetGpuEstimatedSampleSize(struct fake_record_size_params *params)
{
	return PERFWORKS_CALL(params, sample_size(params), "%s", "");
}

static size_t image_size(const struct fake_image_options *options)
{
	return sizeof(struct fake_image) + options->max_samples * sizeof(struct fake_sample_record);
}

static bool valid(const struct fake_image_options *options)
{
	return options && options->size == sizeof *options && options->prefix
	       && options->prefix_size && options->max_samples;
}

static int calculate_size(struct fake_image_size_params *params)
{
	if (!valid(params->options))
		return 1;
	params->image_size = image_size(params->options);
	return 0;
}

int NVPW_GPU_PeriodicSampler_CounterDataImage_CalculateSize(struct fake_image_size_params *params)
{
	return PERFWORKS_CALL(params, calculate_size(params), "%zu", params->image_size);
}

static int initialize(const struct fake_image_init_params *params)
{
	struct fake_image *image = (struct fake_image *)params->image;

	if (!valid(params->options) || !image || params->image_size < image_size(params->options))
		return 1;
	memset(image, 0, params->image_size);
	memcpy(image->magic, FAKE_IMAGE_MAGIC, sizeof image->magic);
	image->kind = FAKE_IMAGE_SAMPLES;
	image->record_size = sizeof(struct fake_sample_record);
	image->max_records = params->options->max_samples;
	image->prefix_size = params->options->prefix_size;
	return 0;
}

int NVPW_GPU_PeriodicSampler_CounterDataImage_Initialize(struct fake_image_init_params *params)
{
	return PERFWORKS_CALL(params, initialize(params), "%zu", params->image_size);
}

static int trim(struct fake_trim_params *params)
{
	struct fake_image *image = (struct fake_image *)params->image;

	if (!image || params->image_size < sizeof *image || image->kind != FAKE_IMAGE_SAMPLES)
		return 1;
	image->max_records = image->count;
	params->trimmed_size = sizeof *image + image->count * (size_t)image->record_size;
	return 0;
}

int NVPW_PeriodicSampler_CounterData_TrimInPlace(struct fake_trim_params *params)
{
	return PERFWORKS_CALL(params, trim(params), "%zu", params->trimmed_size);
}
