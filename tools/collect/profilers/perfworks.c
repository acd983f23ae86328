/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls libnvperf_host. */
#include "base/library.h"
#include "collect/profilers/profilers.h"

#include <dlfcn.h>

/* The parts of NVIDIA's parameter structs that are needed. */
struct record_size_params {
	size_t size;
	void *priv;
	const uint8_t *config;
	size_t config_size;
	size_t sample_size; /* out */
};

struct image_options {
	size_t size;
	const uint8_t *prefix;
	size_t prefix_size;
	uint32_t max_samples;
	uint32_t append_mode; /* 0: linear */
};

struct image_size_params {
	size_t size;
	void *priv;
	size_t device;
	const struct image_options *options;
	size_t image_size; /* out */
};

struct image_init_params {
	size_t size;
	void *priv;
	size_t device;
	const struct image_options *options;
	uint8_t *image;
	size_t image_size;
};

struct trim_params {
	size_t size;
	void *priv;
	uint8_t *image;
	size_t image_size;
	size_t trimmed_size; /* out */
};

#define SYMBOLS(X)                                                                                 \
	X(NVPW_PeriodicSampler_Config_GetGpuEstimatedSampleSize, record_size_params)               \
	X(NVPW_GPU_PeriodicSampler_CounterDataImage_CalculateSize, image_size_params)              \
	X(NVPW_GPU_PeriodicSampler_CounterDataImage_Initialize, image_init_params)                 \
	X(NVPW_PeriodicSampler_CounterData_TrimInPlace, trim_params)

/* Shared by all devices. */
static struct {
	void *library;
#define X(symbol, params) int (*symbol)(struct params *);
	SYMBOLS(X)
#undef X
} perfworks;

/* Whether the function exists and succeeds. */
#define CALL(symbol, ...) (perfworks.symbol && !perfworks.symbol(__VA_ARGS__))

void perfworks_open(const char *cupti_path)
{
	static const char name[] = "libnvperf_host.so";
	opk_autoloading bool begun = loading_begin();
	const char *slash = strrchr(cupti_path, '/');
	char path[4096];

	if (perfworks.library)
		return;
	/* The one that libcupti uses, wherever it found it: another is not initialised. */
	perfworks.library = dlopen(name, RTLD_NOW | RTLD_NOLOAD);
	if (!perfworks.library && slash) {
		snprintf(path, sizeof path, "%.*s%s", (int)(slash - cupti_path) + 1, cupti_path,
		         name);
		perfworks.library = opk_library_flaw(path) ? NULL
		                                           : dlopen(path, RTLD_NOW | RTLD_LOCAL);
	}
	if (!perfworks.library)
		perfworks.library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
	if (!perfworks.library)
		return;
#define X(symbol, params) *(void **)&perfworks.symbol = dlsym(perfworks.library, #symbol);
	SYMBOLS(X)
#undef X
}

size_t perfworks_record_bytes(const struct image_set *images)
{
	struct record_size_params params = {
		.size = sizeof params,
		.config = images->config,
		.config_size = images->config_size,
	};

	return CALL(NVPW_PeriodicSampler_Config_GetGpuEstimatedSampleSize, &params)
	               ? params.sample_size
	               : 0;
}

static struct image_options options_of(const struct image_set *images, uint32_t samples)
{
	return (struct image_options){
		.size = sizeof(struct image_options),
		.prefix = images->prefix,
		.prefix_size = images->prefix_size,
		.max_samples = samples,
	};
}

size_t perfworks_image_size(const struct image_set *images, uint32_t samples, size_t device)
{
	struct image_options options = options_of(images, samples);
	struct image_size_params params = {
		.size = sizeof params,
		.device = device,
		.options = &options,
	};

	return CALL(NVPW_GPU_PeriodicSampler_CounterDataImage_CalculateSize, &params)
	               ? params.image_size
	               : 0;
}

bool perfworks_image_init(const struct image_set *images, uint32_t samples, size_t device,
                          uint8_t *image, size_t size)
{
	struct image_options options = options_of(images, samples);

	return CALL(NVPW_GPU_PeriodicSampler_CounterDataImage_Initialize,
	            &(struct image_init_params){
			    .size = sizeof(struct image_init_params),
			    .device = device,
			    .options = &options,
			    .image = image,
			    .image_size = size,
		    });
}

size_t perfworks_trim(uint8_t *image, size_t size)
{
	struct trim_params params = {
		.size = sizeof params,
		.image = image,
		.image_size = size,
	};

	return CALL(NVPW_PeriodicSampler_CounterData_TrimInPlace, &params)
	                       && params.trimmed_size <= size
	               ? params.trimmed_size
	               : size;
}
