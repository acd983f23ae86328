/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the parameters of each launch call. */
#include "collect/ranges/launch.h"
#include "collect/ranges/ranges.h"

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

static void from_attribute(struct launch *launch, const CUlaunchAttribute *attribute)
{
	if (attribute->id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
		launch->cluster[0] = attribute->value.clusterDim.x;
		launch->cluster[1] = attribute->value.clusterDim.y;
		launch->cluster[2] = attribute->value.clusterDim.z;
	} else if (attribute->id == CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT) {
		launch->carveout = (int32_t)attribute->value.sharedMemCarveout;
	}
}

static void from_config(struct launch *launch, const cuLaunchKernelEx_params *params)
{
	TAKE_SHAPE(launch, params->config);
	launch->function = params->f;
	for (unsigned i = 0; i < params->config->numAttrs; i++)
		from_attribute(launch, &params->config->attrs[i]);
}

bool launch_read(struct launch *launch, CUpti_CallbackId call, const CUpti_CallbackData *data)
{
	const cuLaunchKernel_params *kernel = data->functionParams;

	*launch = (struct launch){ .symbol = data->symbolName ? data->symbolName : "",
		                   .context = data->context,
		                   .carveout = -1 };
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
		TAKE_SHAPE(launch, kernel);
		launch->function = kernel->f;
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

bool stream_is_captured(CUstream stream)
{
	CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;

	return !target.cuStreamIsCapturing(stream, &status)
	       && status != CU_STREAM_CAPTURE_STATUS_NONE;
}

bool launch_is_captured(const struct launch *launch)
{
	/* The legacy default stream is never captured, and asking fails while another one is. */
	return (launch->stream || launch->per_thread) && stream_is_captured(launch_stream(launch));
}

/* Negative: the driver does not say. */
static int ask(CUfunction function, CUfunction_attribute which)
{
	int value = -1;

	return target.cuFuncGetAttribute(&value, which, function) ? -1 : value;
}

static uint32_t cluster_extent(CUfunction function, CUfunction_attribute which)
{
	int blocks = ask(function, which);

	return blocks > 0 ? (uint32_t)blocks : 1;
}

static void learn(struct function_facts *facts, CUfunction function)
{
	facts->static_shared_plus_1 = (uint32_t)(ask(function, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)
	                                         + 1);
	facts->cluster[0] = cluster_extent(function, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH);
	facts->cluster[1] = cluster_extent(function, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT);
	facts->cluster[2] = cluster_extent(function, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH);
}

/* A program may change a function's between launches. */
static int carveout_of(CUfunction function, const struct launch *launch)
{
	return launch->carveout >= 0
	               ? launch->carveout
	               : ask(function, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT);
}

/* A handle may be used again after its module is gone, so registers are asked each time. */
static void describe_function(struct opk_range *row, struct function_facts *facts,
                              const struct launch *launch)
{
	CUfunction function = launch->function;
	int registers = ask(function, CU_FUNC_ATTRIBUTE_NUM_REGS);

	if (registers < 0 && target.cuKernelGetFunction
	    && !target.cuKernelGetFunction(&function, (CUkernel)function))
		registers = ask(function, CU_FUNC_ATTRIBUTE_NUM_REGS);
	if (registers < 0)
		return;
	if (facts->handle != launch->function || facts->registers != registers)
		learn(facts, function);
	facts->handle = launch->function;
	facts->registers = registers;
	row->registers = (uint32_t)registers;
	row->static_shared_plus_1 = facts->static_shared_plus_1;
	memcpy(row->cluster, launch->cluster[0] ? launch->cluster : facts->cluster,
	       sizeof row->cluster);
	row->carveout_plus_1 = (uint32_t)(carveout_of(function, launch) + 1);
}

void launch_describe(struct opk_range *row, struct function_facts *facts,
                     const struct launch *launch)
{
	uint32_t stream = 0;

	memcpy(row->grid, launch->grid, sizeof row->grid);
	memcpy(row->block, launch->block, sizeof row->block);
	row->shared_bytes = launch->shared_bytes;
	if (launch->function)
		describe_function(row, facts, launch);
	if (!target.cuptiGetStreamIdEx(launch->context, launch->stream, launch->per_thread,
	                               &stream))
		row->stream = stream;
}
