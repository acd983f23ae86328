/* SPDX-License-Identifier: BSD-2-Clause */
/* Modules, functions and launches of the fake driver. */
#include <cudaProfiler.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cupti.h>

#include "fake_gpu/fake_driver.h"

enum { MOST_CUBIN = 1 << 18 };

/*
 * A module or library keeps its text, which must be PTX: its entries are its kernels. Its cubin is
 * that of FAKE_GPU_CUBIN, or else its text.
 */
struct CUmod_st {
	char *text;
	const void *cubin;
	size_t cubin_size;
	struct CUmod_st *next;
};

struct CUlib_st {
	struct CUmod_st module;
};

/* Nothing is freed: there are few handles. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct CUmod_st *modules;
static struct CUfunc_st *functions;
static struct CUkern_st *kernels;

/* As many zero bytes follow as texts were loaded before, so that each text has a CRC of its own. */
static void read_cubin(struct CUmod_st *module, const char *path)
{
	FILE *in = fopen(path, "rb");
	struct CUmod_st *old = modules;
	size_t size = 0, number = 0;
	char *bytes = calloc(1, MOST_CUBIN);

	for (; old && strcmp(old->text, module->text) != 0; old = old->next)
		number++;
	if (!in || !bytes) {
		fprintf(stderr, "fake GPU: no FAKE_GPU_CUBIN %s\n", path);
		abort();
	}
	size = fread(bytes, 1, MOST_CUBIN / 2, in);
	fclose(in);
	module->cubin = old ? old->cubin : bytes;
	module->cubin_size = old ? old->cubin_size : size + number;
	if (old)
		free(bytes);
}

static void report_module(const struct CUmod_st *module)
{
	static uint32_t last_id;
	CUpti_ModuleResourceData data = {
		.moduleId = __atomic_add_fetch(&last_id, 1, __ATOMIC_RELAXED),
		.cubinSize = module->cubin_size,
		.pCubin = module->cubin,
	};

	driver_emit(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_MODULE_LOADED,
	            &(CUpti_ResourceData){ .context = context_current(),
	                                   .resourceDescriptor = &data });
}

static int load(struct CUmod_st **out, size_t size, const void *image)
{
	const char *cubin = getenv("FAKE_GPU_CUBIN");
	struct CUmod_st *module = image ? calloc(1, size) : NULL;

	if (!image)
		return CUDA_ERROR_INVALID_VALUE;
	if (!module)
		return CUDA_ERROR_OUT_OF_MEMORY;
	module->text = strdup(image);
	module->cubin = module->text;
	module->cubin_size = strlen(module->text);
	pthread_mutex_lock(&lock);
	if (cubin && *cubin)
		read_cubin(module, cubin);
	module->next = modules;
	modules = module;
	pthread_mutex_unlock(&lock);
	if (cubin && *cubin)
		report_module(module);
	*out = module;
	return CUDA_SUCCESS;
}

CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
	return DRIVER_CALL(context_alive(context_current()) ? load(module, sizeof **module, image)
	                                                    : CUDA_ERROR_INVALID_CONTEXT,
	                   "%s", "");
}

CUresult cuModuleUnload(CUmodule module)
{
	return DRIVER_CALL(module ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE, "%s", "");
}

/* NULL: nothing asked for it before. */
static struct CUfunc_st *find_function(const struct CUmod_st *module, const char *name)
{
	struct CUfunc_st *function;

	pthread_mutex_lock(&lock);
	function = functions;
	while (function && (function->module != module || strcmp(function->name, name) != 0))
		function = function->next;
	pthread_mutex_unlock(&lock);
	return function;
}

static int get_function(CUfunction *out, const struct CUmod_st *module, const char *name)
{
	struct CUfunc_st *function = find_function(module, name);

	if (function) {
		*out = function;
		return CUDA_SUCCESS;
	}
	function = calloc(1, sizeof *function);
	if (!function || !strstr(module->text, name)) {
		free(function);
		return CUDA_ERROR_NOT_FOUND;
	}
	function->kind = HANDLE_FUNCTION;
	function->module = module;
	snprintf(function->name, sizeof function->name, "%s", name);
	pthread_mutex_lock(&lock);
	function->next = functions;
	functions = function;
	pthread_mutex_unlock(&lock);
	*out = function;
	return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
	return DRIVER_CALL(get_function(function, module, name), "%s", name);
}

CUresult cuLibraryLoadData(CUlibrary *library, const void *code, CUjit_option *jit_options,
                           void **jit_values, unsigned jit_count, CUlibraryOption *options,
                           void **values, unsigned count)
{
	(void)jit_options;
	(void)jit_values;
	(void)jit_count;
	(void)options;
	(void)values;
	(void)count;
	return DRIVER_CALL(load((struct CUmod_st **)library, sizeof **library, code), "%s", "");
}

static int get_kernel(CUkernel *out, CUlibrary library, const char *name)
{
	struct CUkern_st *kernel = calloc(1, sizeof *kernel);
	int status = kernel ? get_function(&kernel->function, &library->module, name)
	                    : CUDA_ERROR_OUT_OF_MEMORY;

	if (status) {
		free(kernel);
		return status;
	}
	kernel->kind = HANDLE_KERNEL;
	pthread_mutex_lock(&lock);
	kernel->next = kernels;
	kernels = kernel;
	pthread_mutex_unlock(&lock);
	*out = kernel;
	return CUDA_SUCCESS;
}

CUresult cuLibraryGetKernel(CUkernel *kernel, CUlibrary library, const char *name)
{
	return DRIVER_CALL(get_kernel(kernel, library, name), "%s", name);
}

static bool is_kernel(const void *handle)
{
	return handle && *(const uint32_t *)handle == HANDLE_KERNEL;
}

static bool is_function(const void *handle)
{
	return handle && *(const uint32_t *)handle == HANDLE_FUNCTION;
}

/* A launch takes both kinds of handle. */
static const struct CUfunc_st *function_of(CUfunction handle)
{
	if (is_kernel(handle))
		return ((CUkernel)handle)->function;
	return is_function(handle) ? handle : NULL;
}

static const char *name_of(CUfunction handle)
{
	return function_of(handle) ? function_of(handle)->name : NULL;
}

static int kernel_function(CUfunction *function, CUkernel kernel)
{
	if (!is_kernel(kernel))
		return CUDA_ERROR_INVALID_HANDLE;
	*function = kernel->function;
	return CUDA_SUCCESS;
}

CUresult cuKernelGetFunction(CUfunction *function, CUkernel kernel)
{
	return DRIVER_CALL(kernel_function(function, kernel), "%s", "");
}

static int function_name(const char **name, CUfunction function)
{
	if (!is_function(function))
		return CUDA_ERROR_INVALID_HANDLE;
	*name = function->name;
	return CUDA_SUCCESS;
}

CUresult cuFuncGetName(const char **name, CUfunction function)
{
	return DRIVER_CALL(function_name(name, function), "%s", "");
}

static int function_attribute(int *value, CUfunction_attribute which, CUfunction function)
{
	const int cluster = (int)fake_number("FAKE_GPU_CLUSTER", 0);
	const int values[CU_FUNC_ATTRIBUTE_MAX] = {
		[CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK] = 1024,
		[CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES] = 2048,
		[CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES] = 64,
		[CU_FUNC_ATTRIBUTE_NUM_REGS] = 40,
		[CU_FUNC_ATTRIBUTE_PTX_VERSION] = 90,
		[CU_FUNC_ATTRIBUTE_BINARY_VERSION] = 90,
		[CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES] = 49152,
		[CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT] = (int)
			fake_number("FAKE_GPU_CARVEOUT", UINT64_MAX),
		[CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH] = cluster,
		[CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT] = cluster > 0,
		[CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH] = cluster > 0,
	};

	if (!is_function(function))
		return CUDA_ERROR_INVALID_HANDLE;
	if ((int)which < 0 || which >= CU_FUNC_ATTRIBUTE_MAX)
		return CUDA_ERROR_INVALID_VALUE;
	*value = values[which];
	return CUDA_SUCCESS;
}

CUresult cuFuncGetAttribute(int *value, CUfunction_attribute which, CUfunction function)
{
	return DRIVER_CALL(function_attribute(value, which, function), "%d", (int)which);
}

struct launch {
	const char *call;
	CUpti_CallbackId id;
	const void *params;
	CUstream stream;
	const char *symbol; /* of a kernel */
	const struct CUfunc_st *function;
	bool valid;
	size_t kernels;
	struct fake_work work; /* of a kernel */
};

/* A graph reports each kernel as a node. */
static void tell_work(const struct launch *launch, uint32_t correlation)
{
	struct fake_work work = launch->work;

	work.stream = stream_id(launch->stream);
	work.correlation = correlation;
	work.name = launch->symbol ? launch->symbol : "node";
	if (launch->function) {
		work.cubin = launch->function->module->cubin;
		work.cubin_size = launch->function->module->cubin_size;
	}
	for (size_t i = 0; i < launch->kernels; i++) {
		work.node = launch->symbol ? 0 : i + 1;
		driver_worked(work);
	}
}

static int execute(const struct launch *launch, uint32_t correlation)
{
	if (!launch->valid || !launch->kernels)
		return CUDA_ERROR_INVALID_VALUE;
	if (!stream_valid(launch->stream))
		return CUDA_ERROR_INVALID_HANDLE;
	if (stream_captures(launch->stream, launch->kernels))
		return CUDA_SUCCESS;
	driver_ran(context_current(), launch->kernels);
	tell_work(launch, correlation);
	return CUDA_SUCCESS;
}

/* Logs between the callbacks, so that the log shows what happened around the kernel. */
static int execute_logged(const struct launch *launch, uint32_t correlation)
{
	int status;

	if (!fake_fails(launch->call, &status))
		status = execute(launch, correlation);
	fake_log(launch->call, status, "%s", launch->symbol ? launch->symbol : "");
	return status;
}

static CUresult run(const struct launch *launch)
{
	CUcontext context = context_current();
	CUresult result = CUDA_SUCCESS;
	struct driver_call call;
	uint64_t shared = 0;
	CUpti_CallbackData data = {
		.callbackSite = CUPTI_API_ENTER,
		.functionName = launch->call,
		.functionParams = launch->params,
		.functionReturnValue = &result,
		.symbolName = launch->symbol,
		.context = context,
		.correlationData = &shared,
	};

	if (driver_ready())
		return (CUresult)driver_ready();
	if (!context_alive(context))
		return CUDA_ERROR_INVALID_CONTEXT;
	data.contextUid = context->id;
	call = driver_enter();
	data.correlationId = driver_correlation();
	driver_emit(CUPTI_CB_DOMAIN_DRIVER_API, launch->id, &data);
	result = (CUresult)execute_logged(launch, data.correlationId);
	data.callbackSite = CUPTI_API_EXIT;
	driver_emit(CUPTI_CB_DOMAIN_DRIVER_API, launch->id, &data);
	driver_leave(launch->call, &call);
	return result;
}

/* Both kinds of parameters have the same members for grid and block. */
#define VALID_SHAPE(p)                                                                             \
	((p)->gridDimX && (p)->gridDimY && (p)->gridDimZ && (p)->blockDimX && (p)->blockDimY       \
	 && (p)->blockDimZ && (uint64_t)(p)->blockDimX * (p)->blockDimY * (p)->blockDimZ <= 1024)

#define WORK(p)                                                                                    \
	{                                                                                          \
		.grid = { (p)->gridDimX, (p)->gridDimY, (p)->gridDimZ },                           \
		.block = { (p)->blockDimX, (p)->blockDimY, (p)->blockDimZ },                       \
		.shared = (p)->sharedMemBytes,                                                     \
	}

/* A cooperative launch's parameters are a prefix of a plain launch's. */
static CUresult run_kernel(const char *call, CUpti_CallbackId id, const void *params)
{
	const cuLaunchCooperativeKernel_params *kernel = params;

	return run(&(struct launch){
		.call = call,
		.id = id,
		.params = params,
		.stream = kernel->hStream,
		.symbol = name_of(kernel->f),
		.function = function_of(kernel->f),
		.valid = name_of(kernel->f) && VALID_SHAPE(kernel),
		.kernels = 1,
		.work = WORK(kernel),
	});
}

static struct fake_work work_of(const CUlaunchConfig *config)
{
	struct fake_work work = WORK(config);

	for (unsigned i = 0; i < config->numAttrs; i++) {
		const CUlaunchAttribute *attribute = &config->attrs[i];

		if (attribute->id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
			memcpy(work.cluster, &attribute->value.clusterDim, sizeof work.cluster);
		if (attribute->id == CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT)
			work.carveout_plus_1 = attribute->value.sharedMemCarveout + 1;
	}
	return work;
}

static CUresult run_config(const char *call, CUpti_CallbackId id,
                           const cuLaunchKernelEx_params *params)
{
	const CUlaunchConfig *config = params->config;

	return run(&(struct launch){
		.call = call,
		.id = id,
		.params = params,
		.stream = config->hStream,
		.symbol = name_of(params->f),
		.function = function_of(params->f),
		.valid = name_of(params->f) && VALID_SHAPE(config),
		.kernels = 1,
		.work = work_of(config),
	});
}

static CUresult run_graph(const char *call, CUpti_CallbackId id, const cuGraphLaunch_params *params)
{
	return run(&(struct launch){
		.call = call,
		.id = id,
		.params = params,
		.stream = params->hStream,
		.valid = true,
		.kernels = graph_kernels(params->hGraph),
	});
}

/* A program's own start and stop of profiling. */
static CUresult mark(const char *call, CUpti_CallbackId id)
{
	CUresult result = CUDA_SUCCESS;
	CUpti_CallbackData data = {
		.callbackSite = CUPTI_API_ENTER,
		.functionName = call,
		.functionReturnValue = &result,
		.context = context_current(),
	};

	if (driver_ready())
		return (CUresult)driver_ready();
	driver_emit(CUPTI_CB_DOMAIN_DRIVER_API, id, &data);
	fake_log(call, result, "%s", "");
	data.callbackSite = CUPTI_API_EXIT;
	driver_emit(CUPTI_CB_DOMAIN_DRIVER_API, id, &data);
	return result;
}

CUresult cuProfilerStart(void)
{
	return mark("cuProfilerStart", CUPTI_DRIVER_TRACE_CBID_cuProfilerStart);
}

CUresult cuProfilerStop(void)
{
	return mark("cuProfilerStop", CUPTI_DRIVER_TRACE_CBID_cuProfilerStop);
}

/* Defines each call twice: the second one is for programs with a default stream for each thread. */
#define LAUNCH_KERNEL(symbol)                                                                      \
	CUresult symbol(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,          \
	                unsigned by, unsigned bz, unsigned shared, CUstream stream,                \
	                void **arguments, void **extra);                                           \
	CUresult symbol(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,          \
	                unsigned by, unsigned bz, unsigned shared, CUstream stream,                \
	                void **arguments, void **extra)                                            \
	{                                                                                          \
		cuLaunchKernel_params params = { f,  gx,     gy,     gz,        bx,   by,          \
			                         bz, shared, stream, arguments, extra };           \
		return run_kernel(#symbol, CUPTI_DRIVER_TRACE_CBID_##symbol, &params);             \
	}
LAUNCH_KERNEL(cuLaunchKernel)
LAUNCH_KERNEL(cuLaunchKernel_ptsz)

#define LAUNCH_COOPERATIVE(symbol)                                                                 \
	CUresult symbol(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,          \
	                unsigned by, unsigned bz, unsigned shared, CUstream stream,                \
	                void **arguments);                                                         \
	CUresult symbol(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,          \
	                unsigned by, unsigned bz, unsigned shared, CUstream stream,                \
	                void **arguments)                                                          \
	{                                                                                          \
		cuLaunchCooperativeKernel_params params = { f,  gx, gy,     gz,     bx,            \
			                                    by, bz, shared, stream, arguments };   \
		return run_kernel(#symbol, CUPTI_DRIVER_TRACE_CBID_##symbol, &params);             \
	}
LAUNCH_COOPERATIVE(cuLaunchCooperativeKernel)
LAUNCH_COOPERATIVE(cuLaunchCooperativeKernel_ptsz)

#define LAUNCH_CONFIG(symbol)                                                                      \
	CUresult symbol(const CUlaunchConfig *config, CUfunction f, void **arguments,              \
	                void **extra);                                                             \
	CUresult symbol(const CUlaunchConfig *config, CUfunction f, void **arguments,              \
	                void **extra)                                                              \
	{                                                                                          \
		cuLaunchKernelEx_params params = { config, f, arguments, extra };                  \
		return run_config(#symbol, CUPTI_DRIVER_TRACE_CBID_##symbol, &params);             \
	}
LAUNCH_CONFIG(cuLaunchKernelEx)
LAUNCH_CONFIG(cuLaunchKernelEx_ptsz)

#define LAUNCH_GRAPH(symbol)                                                                       \
	CUresult symbol(CUgraphExec graph, CUstream stream);                                       \
	CUresult symbol(CUgraphExec graph, CUstream stream)                                        \
	{                                                                                          \
		cuGraphLaunch_params params = { graph, stream };                                   \
		return run_graph(#symbol, CUPTI_DRIVER_TRACE_CBID_##symbol, &params);              \
	}
LAUNCH_GRAPH(cuGraphLaunch)
LAUNCH_GRAPH(cuGraphLaunch_ptsz)
