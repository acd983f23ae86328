/* SPDX-License-Identifier: BSD-2-Clause */
/* NVIDIA's parameter structs for the calls in fake_perfworks.c, with our names. */
#ifndef FAKE_PERFWORKS_H
#define FAKE_PERFWORKS_H

#include <stddef.h>
#include <stdint.h>

enum { FAKE_RECORD_BYTES = 64 }; /* in the hardware buffer, for a sample */

struct fake_plain_params {
	size_t size;
	void *priv;
};

struct fake_record_size_params {
	size_t size;
	void *priv;
	const uint8_t *config;
	size_t config_size;
	size_t sample_size; /* out */
};

struct fake_image_options {
	size_t size;
	const uint8_t *prefix;
	size_t prefix_size;
	uint32_t max_samples;
	uint32_t append_mode;
};

struct fake_image_size_params {
	size_t size;
	void *priv;
	size_t device;
	const struct fake_image_options *options;
	size_t image_size; /* out */
};

struct fake_image_init_params {
	size_t size;
	void *priv;
	size_t device;
	const struct fake_image_options *options;
	uint8_t *image;
	size_t image_size;
};

struct fake_trim_params {
	size_t size;
	void *priv;
	uint8_t *image;
	size_t image_size;
	size_t trimmed_size; /* out */
};

int NVPW_InitializeHost(struct fake_plain_params *params);
int NVPW_InitializeTarget(struct fake_plain_params *params);
int NVPW_CUDA_LoadDriver(struct fake_plain_params *params);
int NVPW_PeriodicSampler_Config_GetGpuEstimatedSampleSize(struct fake_record_size_params *params);
int NVPW_GPU_PeriodicSampler_CounterDataImage_CalculateSize(struct fake_image_size_params *params);
int NVPW_GPU_PeriodicSampler_CounterDataImage_Initialize(struct fake_image_init_params *params);
int NVPW_PeriodicSampler_CounterData_TrimInPlace(struct fake_trim_params *params);

#endif
