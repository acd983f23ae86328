/* SPDX-License-Identifier: BSD-2-Clause */
/* Words that call the driver, which this opens as the CUDA runtime does. */
#include <cuda.h>
#include <cudaProfiler.h>
#include <dlfcn.h>
#include <pthread.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_gpu/app.h"

#define DRIVER(X)                                                                                  \
	X(cuInit)                                                                                  \
	X(cuCtxCreate)                                                                             \
	X(cuCtxDestroy)                                                                            \
	X(cuCtxGetCurrent)                                                                         \
	X(cuCtxSetCurrent)                                                                         \
	X(cuCtxSynchronize)                                                                        \
	X(cuDevicePrimaryCtxRetain)                                                                \
	X(cuDevicePrimaryCtxRelease)                                                               \
	X(cuModuleLoadData)                                                                        \
	X(cuModuleGetFunction)                                                                     \
	X(cuLibraryLoadData)                                                                       \
	X(cuLibraryGetKernel)                                                                      \
	X(cuStreamCreate)                                                                          \
	X(cuStreamBeginCapture)                                                                    \
	X(cuStreamEndCapture)                                                                      \
	X(cuGraphInstantiate)                                                                      \
	X(cuGraphLaunch)                                                                           \
	X(cuLaunchKernel)                                                                          \
	X(cuLaunchKernelEx)                                                                        \
	X(cuLaunchCooperativeKernel)                                                               \
	X(cuMemAlloc)                                                                              \
	X(cuMemsetD8Async)                                                                         \
	X(cuMemcpyHtoDAsync)                                                                       \
	X(cuProfilerStart)                                                                         \
	X(cuProfilerStop)

/* cuda.h uses these names in programs built with a default stream for each thread. */
#define cuLaunchKernel_ptsz_t __typeof__(cuLaunchKernel)
#define cuGraphLaunch_ptsz_t __typeof__(cuGraphLaunch)

#define TEXT(symbol) TEXT_(symbol)
#define TEXT_(symbol) #symbol

enum { MAX_CONTEXTS = 1024, MAX_KERNELS = 1024 };

static struct {
#define X(symbol) __typeof__(symbol) *symbol;
	DRIVER(X)
#undef X
	cuLaunchKernel_ptsz_t *launch_ptsz;
	cuGraphLaunch_ptsz_t *graph_ptsz;
} cuda;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static CUcontext contexts[MAX_CONTEXTS]; /* in the order of the words that made them */
static size_t context_count;
static struct {
	CUcontext context;
	int how; /* it was loaded: enum load; of a library the handle is a CUkernel */
	char name[256];
	CUfunction handle;
} kernels[MAX_KERNELS];
static size_t kernel_count;

static __thread CUcontext current; /* kept, since asking the driver each time would fill the log */
static __thread CUstream stream;
static __thread CUgraphExec graph;

static void *find(void *library, const char *symbol)
{
	void *function = dlsym(library, symbol);

	if (!function) {
		fprintf(stderr, "fake_app: no %s\n", symbol);
		exit(71);
	}
	return function;
}

void app_load_cuda(void)
{
	void *library = cuda.cuInit ? NULL : dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);

	if (cuda.cuInit)
		return;
	if (!library) {
		fprintf(stderr, "fake_app: %s\n", dlerror());
		exit(71);
	}
#define X(symbol) cuda.symbol = (__typeof__(cuda.symbol))find(library, TEXT(symbol));
	DRIVER(X)
#undef X
	cuda.launch_ptsz = (cuLaunchKernel_ptsz_t *)find(library, "cuLaunchKernel_ptsz");
	cuda.graph_ptsz = (cuGraphLaunch_ptsz_t *)find(library, "cuGraphLaunch_ptsz");
}

void *app_context(void)
{
	return current;
}

void app_use_context(void *context)
{
	if (context && !cuda.cuCtxSetCurrent(context))
		current = context;
}

static int word_init(const char *const *fields)
{
	(void)fields;
	app_load_cuda();
	return cuda.cuInit(0);
}

static int keep_context(int status, CUcontext context)
{
	stream = NULL;
	if (status)
		return status;
	current = context;
	if (context_count < MAX_CONTEXTS)
		contexts[context_count++] = context;
	return CUDA_SUCCESS;
}

static int word_context(const char *const *fields)
{
	CUcontext context = NULL;
	int status = cuda.cuCtxCreate(&context, NULL, 0, atoi(fields[0]));

	return keep_context(status, context);
}

static int word_primary(const char *const *fields)
{
	CUcontext context = NULL;
	int status = cuda.cuDevicePrimaryCtxRetain(&context, atoi(fields[0]));

	return keep_context(status ? status : (int)cuda.cuCtxSetCurrent(context), context);
}

/* Handles are reused with another meaning, so all of this context's kernels are forgotten. */
static void forget_kernels(CUcontext context)
{
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < kernel_count; i++)
		if (kernels[i].context == context)
			kernels[i].name[0] = '\0';
	pthread_mutex_unlock(&lock);
}

static int word_release(const char *const *fields)
{
	int status = cuda.cuDevicePrimaryCtxRelease(atoi(fields[0]));

	/* Modules loaded into it are gone, and its handle may be reused. */
	forget_kernels(current);
	return status;
}

/* Makes the Nth context that a word made current; 0: no context. */
static int word_use(const char *const *fields)
{
	size_t n = strtoul(fields[0], NULL, 10);

	stream = NULL;
	current = n && n <= context_count ? contexts[n - 1] : NULL;
	return cuda.cuCtxSetCurrent(current);
}

static int word_destroy(const char *const *fields)
{
	size_t n = strtoul(fields[0], NULL, 10);
	CUcontext context = n && n <= context_count ? contexts[n - 1] : current;
	int status;

	stream = NULL;
	forget_kernels(context);
	status = cuda.cuCtxDestroy(context);
	return status ? status : (int)cuda.cuCtxGetCurrent(&current);
}

static int word_sync(const char *const *fields)
{
	(void)fields;
	return cuda.cuCtxSynchronize();
}

/* Uses a new stream for this thread's launches; "stream:0" returns to the default stream. */
static int word_stream(const char *const *fields)
{
	stream = NULL;
	return fields[0][0] ? CUDA_SUCCESS : (int)cuda.cuStreamCreate(&stream, 0);
}

/* As a compiler would mangle NAME(const float *, const float *, float *, int); "=NAME" as it is. */
static void mangle(char *symbol, size_t size, const char *name)
{
	if (*name == '=')
		snprintf(symbol, size, "%s", name + 1);
	else
		snprintf(symbol, size, "_Z%zu%sPKfS0_Pfi", strlen(name), name);
}

/* How a kernel is loaded. A twin is in a module with another text. */
enum load { MODULE, LIBRARY, TWIN };

static int load_kernel(CUfunction *out, const char *name, enum load how)
{
	CUlibrary loaded;
	CUmodule module;
	char ptx[512];
	int status;

	snprintf(
		ptx, sizeof ptx,
		".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry %s()\n{\nret;\n}\n%s",
		name, how == TWIN ? "// twin\n" : "");
	if (how != LIBRARY) {
		status = cuda.cuModuleLoadData(&module, ptx);
		return status ? status : (int)cuda.cuModuleGetFunction(out, module, name);
	}
	status = cuda.cuLibraryLoadData(&loaded, ptx, NULL, NULL, 0, NULL, NULL, 0);
	return status ? status : (int)cuda.cuLibraryGetKernel((CUkernel *)out, loaded, name);
}

static int find_kernel(CUfunction *out, const char *name, enum load how)
{
	size_t i = 0;
	int status = 0;

	pthread_mutex_lock(&lock);
	while (i < kernel_count
	       && (kernels[i].context != current || kernels[i].how != (int)how
	           || strcmp(kernels[i].name, name)))
		i++;
	if (i == kernel_count && i < MAX_KERNELS) {
		status = load_kernel(&kernels[i].handle, name, how);
		kernels[i].context = current;
		kernels[i].how = (int)how;
		snprintf(kernels[i].name, sizeof kernels[i].name, "%s", name);
		kernel_count += !status;
	}
	*out = i < MAX_KERNELS ? kernels[i].handle : NULL;
	pthread_mutex_unlock(&lock);
	return status;
}

struct request {
	CUfunction function;
	unsigned grid[3], block[3], shared;
};

static void read_shape(unsigned shape[3], const char *text, unsigned otherwise)
{
	shape[0] = otherwise;
	shape[1] = shape[2] = 1;
	sscanf(text, "%ux%ux%u", &shape[0], &shape[1], &shape[2]);
}

/* NAME:GRID:BLOCK:SHARED */
static int read_request(struct request *request, const char *const *fields, enum load how)
{
	char symbol[256];

	mangle(symbol, sizeof symbol, fields[0]);
	read_shape(request->grid, fields[1], 1);
	read_shape(request->block, fields[2], 32);
	request->shared = (unsigned)strtoul(fields[3], NULL, 10);
	return find_kernel(&request->function, symbol, how);
}

static int launch(__typeof__(cuLaunchKernel) *call, const char *const *fields, enum load how)
{
	struct request r;
	int status = read_request(&r, fields, how);

	return status ? status
	              : (int)call(r.function, r.grid[0], r.grid[1], r.grid[2], r.block[0],
	                          r.block[1], r.block[2], r.shared, stream, NULL, NULL);
}

static int word_launch(const char *const *fields)
{
	return launch(cuda.cuLaunchKernel, fields, MODULE);
}

static int word_library_launch(const char *const *fields)
{
	return launch(cuda.cuLaunchKernel, fields, LIBRARY);
}

static int word_twin(const char *const *fields)
{
	return launch(cuda.cuLaunchKernel, fields, TWIN);
}

static int word_launch_ptsz(const char *const *fields)
{
	return launch(cuda.launch_ptsz, fields, MODULE);
}

static int word_cooperative(const char *const *fields)
{
	struct request r;
	int status = read_request(&r, fields, MODULE);

	return status ? status
	              : (int)cuda.cuLaunchCooperativeKernel(r.function, r.grid[0], r.grid[1],
	                                                    r.grid[2], r.block[0], r.block[1],
	                                                    r.block[2], r.shared, stream, NULL);
}

static void add_cluster(CUlaunchConfig *config, CUlaunchAttribute *attributes,
                        const unsigned cluster[3])
{
	CUlaunchAttribute *attribute = &attributes[config->numAttrs++];

	attribute->id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
	attribute->value.clusterDim.x = cluster[0];
	attribute->value.clusterDim.y = cluster[1];
	attribute->value.clusterDim.z = cluster[2];
}

static void add_carveout(CUlaunchConfig *config, CUlaunchAttribute *attributes, unsigned percent)
{
	CUlaunchAttribute *attribute = &attributes[config->numAttrs++];

	attribute->id = CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT;
	attribute->value.sharedMemCarveout = percent;
}

/* After the launch's own fields: CLUSTER, as 2x1x1, and a carveout in percent, as 2x1x1@50 */
static int word_launch_ex(const char *const *fields)
{
	CUlaunchAttribute attributes[2] = { 0 };
	unsigned cluster[3], carveout = UINT_MAX;
	struct request r;
	int status = read_request(&r, fields, MODULE);
	CUlaunchConfig config = {
		.gridDimX = r.grid[0],
		.gridDimY = r.grid[1],
		.gridDimZ = r.grid[2],
		.blockDimX = r.block[0],
		.blockDimY = r.block[1],
		.blockDimZ = r.block[2],
		.sharedMemBytes = r.shared,
		.hStream = stream,
		.attrs = attributes,
	};

	if (sscanf(fields[4], "%ux%ux%u@%u", &cluster[0], &cluster[1], &cluster[2], &carveout) >= 3)
		add_cluster(&config, attributes, cluster);
	if (carveout <= 100)
		add_carveout(&config, attributes, carveout);
	return status ? status : (int)cuda.cuLaunchKernelEx(&config, r.function, NULL, NULL);
}

/* BYTES, in memory allocated for it */
static int word_memset(const char *const *fields)
{
	size_t bytes = strtoul(fields[0], NULL, 10);
	CUdeviceptr memory;
	int status = cuda.cuMemAlloc(&memory, bytes);

	return status ? status : (int)cuda.cuMemsetD8Async(memory, 0, bytes, stream);
}

static int word_copy(const char *const *fields)
{
	size_t bytes = strtoul(fields[0], NULL, 10);
	char *data = calloc(1, bytes);
	CUdeviceptr memory;
	int status = cuda.cuMemAlloc(&memory, bytes);

	if (!status)
		status = (int)cuda.cuMemcpyHtoDAsync(memory, data, bytes, stream);
	free(data);
	return status;
}

/* "capture:begin" needs a stream other than the default one, and makes it if there is none. */
static int begin_capture(void)
{
	int status = stream ? 0 : (int)cuda.cuStreamCreate(&stream, 0);

	return status ? status
	              : (int)cuda.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
}

static int end_capture(void)
{
	CUgraph captured = NULL;
	int status = cuda.cuStreamEndCapture(stream, &captured);

	stream = NULL;
	return status ? status : (int)cuda.cuGraphInstantiate(&graph, captured, 0);
}

static int word_capture(const char *const *fields)
{
	return strcmp(fields[0], "begin") ? end_capture() : begin_capture();
}

/* "graph:N" makes a graph of N kernels; "graph" launches the last graph, made or captured. */
static int make_graph(unsigned long count)
{
	const char *const fields[MAX_FIELDS] = { "node", "", "", "", "" };
	struct request warm_up;
	/* Loads the module first: loading can't be captured. */
	int status = read_request(&warm_up, fields, MODULE);

	if (!status)
		status = begin_capture();
	while (!status && count--)
		status = word_launch(fields);
	return status ? status : end_capture();
}

static int prepare_graph(const char *const *fields)
{
	unsigned long count = strtoul(fields[0], NULL, 10);

	return graph && !count ? 0 : make_graph(count ? count : 1);
}

static int word_graph(const char *const *fields)
{
	int status = prepare_graph(fields);

	return status ? status : (int)cuda.cuGraphLaunch(graph, stream);
}

static int word_graph_ptsz(const char *const *fields)
{
	int status = prepare_graph(fields);

	return status ? status : (int)cuda.graph_ptsz(graph, stream);
}

static int word_profiler_start(const char *const *fields)
{
	(void)fields;
	return cuda.cuProfilerStart();
}

static int word_profiler_stop(const char *const *fields)
{
	(void)fields;
	return cuda.cuProfilerStop();
}

const struct word cuda_words[] = {
	{ "init", word_init },
	{ "ctx", word_context },
	{ "primary", word_primary },
	{ "release", word_release },
	{ "use", word_use },
	{ "ctxdestroy", word_destroy },
	{ "sync", word_sync },
	{ "stream", word_stream },
	{ "launch", word_launch },
	{ "klaunch", word_library_launch },
	{ "twin", word_twin },
	{ "launch_ptsz", word_launch_ptsz },
	{ "coop", word_cooperative },
	{ "ex", word_launch_ex },
	{ "memset", word_memset },
	{ "copy", word_copy },
	{ "capture", word_capture },
	{ "graph", word_graph },
	{ "graph_ptsz", word_graph_ptsz },
	{ "profstart", word_profiler_start },
	{ "profstop", word_profiler_stop },
	{ 0 },
};
