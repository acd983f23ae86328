/* SPDX-License-Identifier: BSD-2-Clause */
/* Code of kernels: CRCs of cubins, and which functions a kernel runs. */
#include <cupti_pcsampling.h>
#include <stdlib.h>
#include <string.h>

#include "fake_gpu/fake_cupti.h"

/* CRC-32 as of zlib. */
static uint32_t crc_of(const uint8_t *bytes, size_t size)
{
	uint32_t crc = UINT32_MAX;

	for (size_t i = 0; i < size; i++) {
		crc ^= bytes[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
	}
	return ~crc;
}

static int cubin_crc(CUpti_GetCubinCrcParams *params)
{
	if (params->size != CUpti_GetCubinCrcParamsSize || !params->cubin || !params->cubinSize)
		return CUPTI_ERROR_INVALID_PARAMETER;
	params->cubinCrc = crc_of(params->cubin, params->cubinSize);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiGetCubinCrc(CUpti_GetCubinCrcParams *params)
{
	return FAKE_CALL(CUptiResult, cubin_crc(params), "%zu", params->cubinSize);
}

static void ran(const struct fake_function *function)
{
	CUcontext context = cupti_driver()->current();

	sass_ran(context, function);
	pc_ran(context, function);
}

/* FAKE_GPU_DEVICE_FUNCTIONS: names that each kernel calls, with commas. */
static void run_device_functions(struct fake_function function)
{
	static char *names;
	char *rest, *name;

	if (!getenv("FAKE_GPU_DEVICE_FUNCTIONS"))
		return;
	if (!names)
		names = strdup(getenv("FAKE_GPU_DEVICE_FUNCTIONS"));
	rest = strdup(names);
	while ((name = strsep(&rest, ","))) {
		function.name = name;
		ran(&function);
	}
}

static uint64_t warps_of(const struct fake_work *work)
{
	uint64_t blocks = (uint64_t)work->grid[0] * work->grid[1] * work->grid[2];
	uint64_t threads = (uint64_t)work->block[0] * work->block[1] * work->block[2];

	return blocks * ((threads + 31) / 32);
}

void code_worked(const struct fake_work *work)
{
	struct fake_function function = {
		.name = work->name,
		.warps = warps_of(work),
	};

	if (work->kind != FAKE_KERNEL)
		return;
	if (work->cubin)
		function.crc = crc_of(work->cubin, work->cubin_size);
	pthread_mutex_lock(&cupti_lock);
	ran(&function);
	run_device_functions(function);
	pthread_mutex_unlock(&cupti_lock);
}
