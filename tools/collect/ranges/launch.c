/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the parameters of each launch call. */
#include "collect/ranges/launch.h"

#include <string.h>

#define CALL(name) CUPTI_DRIVER_TRACE_CBID_##name

/* cuLaunchKernel's parameters and cuLaunchKernelEx' configuration have the same members. */
#define TAKE_SHAPE(launch, from)                                                                   \
	do {                                                                                       \
		(launch)->grid[0] = (from)->gridDimX;                                              \
		(launch)->grid[1] = (from)->gridDimY;                                              \
		(launch)->grid[2] = (from)->gridDimZ;                                              \
		(launch)->block[0] = (from)->blockDimX;                                            \
		(launch)->block[1] = (from)->blockDimY;                                            \
		(launch)->block[2] = (from)->blockDimZ;                                            \
		(launch)->shared_bytes = (from)->sharedMemBytes;                                   \
		(launch)->stream = (from)->hStream;                                                \
	} while (0)

static void from_kernel(struct launch *launch, const cuLaunchKernel_params *params)
{
	TAKE_SHAPE(launch, params);
	launch->function = params->f;
}

static void from_config(struct launch *launch, const cuLaunchKernelEx_params *params)
{
	TAKE_SHAPE(launch, params->config);
	launch->function = params->f;
}

bool launch_read(struct launch *launch, CUpti_CallbackId call, const CUpti_CallbackData *data)
{
	*launch = (struct launch){ .symbol = data->symbolName ? data->symbolName : "",
		                   .context = data->context };
	launch->per_thread = call == CALL(cuLaunchKernel_ptsz)
	                     || call == CALL(cuLaunchCooperativeKernel_ptsz)
	                     || call == CALL(cuLaunchKernelEx_ptsz)
	                     || call == CALL(cuGraphLaunch_ptsz);
	switch (call) {
	case CALL(cuLaunchKernel):
	case CALL(cuLaunchKernel_ptsz):
	case CALL(cuLaunchCooperativeKernel):
	case CALL(cuLaunchCooperativeKernel_ptsz):
		/* A cooperative launch has the same parameters, except the last one. */
		from_kernel(launch, data->functionParams);
		return true;
	case CALL(cuLaunchKernelEx):
	case CALL(cuLaunchKernelEx_ptsz):
		from_config(launch, data->functionParams);
		return true;
	case CALL(cuGraphLaunch):
	case CALL(cuGraphLaunch_ptsz):
		launch->symbol = "graph";
		launch->stream = ((const cuGraphLaunch_params *)data->functionParams)->hStream;
		return true;
	default:
		return false;
	}
}

CUstream launch_stream(const struct launch *launch)
{
	if (!launch->stream)
		return launch->per_thread ? CU_STREAM_PER_THREAD : CU_STREAM_LEGACY;
	return launch->stream;
}

bool launch_is_captured(const struct launch *launch)
{
	CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;

	/* The legacy default stream is never captured, and asking fails while another one is. */
	if (!launch->stream && !launch->per_thread)
		return false;
	return !target.cuStreamIsCapturing(launch_stream(launch), &status)
	       && status != CU_STREAM_CAPTURE_STATUS_NONE;
}

static uint32_t registers_of(CUfunction function)
{
	int registers = 0;

	if (!function)
		return 0;
	if (target.cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, function)
	    && target.cuKernelGetFunction
	    && !target.cuKernelGetFunction(&function, (CUkernel)function))
		target.cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, function);
	return registers > 0 ? (uint32_t)registers : 0;
}

void launch_describe(struct opk_range *row, const struct launch *launch)
{
	uint32_t stream = 0;

	memcpy(row->grid, launch->grid, sizeof row->grid);
	memcpy(row->block, launch->block, sizeof row->block);
	row->shared_bytes = launch->shared_bytes;
	row->registers = registers_of(launch->function);
	if (!target.cuptiGetStreamIdEx(launch->context, launch->stream, launch->per_thread,
	                               &stream))
		row->stream = stream;
}
