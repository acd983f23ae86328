/* SPDX-License-Identifier: BSD-2-Clause */
#include "collect/launch.h"

#define CALL(name) CUPTI_DRIVER_TRACE_CBID_##name

const CUpti_CallbackId launch_calls[] = {
	CALL(cuLaunchKernel),
	CALL(cuLaunchKernel_ptsz),
	CALL(cuLaunchKernelEx),
	CALL(cuLaunchKernelEx_ptsz),
	CALL(cuLaunchCooperativeKernel),
	CALL(cuLaunchCooperativeKernel_ptsz),
	CALL(cuGraphLaunch),
	CALL(cuGraphLaunch_ptsz),
	0,
};

static void from_kernel(struct launch *launch, const cuLaunchKernel_params *params)
{
	launch->grid[0] = params->gridDimX;
	launch->grid[1] = params->gridDimY;
	launch->grid[2] = params->gridDimZ;
	launch->block[0] = params->blockDimX;
	launch->block[1] = params->blockDimY;
	launch->block[2] = params->blockDimZ;
	launch->shared_bytes = params->sharedMemBytes;
	launch->stream = params->hStream;
}

static void from_config(struct launch *launch, const CUlaunchConfig *config)
{
	launch->grid[0] = config->gridDimX;
	launch->grid[1] = config->gridDimY;
	launch->grid[2] = config->gridDimZ;
	launch->block[0] = config->blockDimX;
	launch->block[1] = config->blockDimY;
	launch->block[2] = config->blockDimZ;
	launch->shared_bytes = config->sharedMemBytes;
	launch->stream = config->hStream;
}

bool launch_read(struct launch *launch, CUpti_CallbackId call, const CUpti_CallbackData *data)
{
	*launch = (struct launch){ .symbol = data->symbolName, .context = data->context };
	switch (call) {
	case CALL(cuLaunchKernel):
	case CALL(cuLaunchKernel_ptsz):
	case CALL(cuLaunchCooperativeKernel):
	case CALL(cuLaunchCooperativeKernel_ptsz):
		/* A cooperative launch has the same parameters but for the last one. */
		from_kernel(launch, data->functionParams);
		return true;
	case CALL(cuLaunchKernelEx):
	case CALL(cuLaunchKernelEx_ptsz):
		from_config(launch,
		            ((const cuLaunchKernelEx_params *)data->functionParams)->config);
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
