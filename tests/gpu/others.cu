// A program that marks ranges and calls CUPTI itself, by words in order as for tests/fake_gpu/fake_app.
#include <cuda_profiler_api.h>
#include <cuda_runtime.h>
#include <cupti.h>
#include <cupti_profiler_target.h>
#include <dlfcn.h>
#include <nvtx3/nvToolsExt.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <thread>
#include <unistd.h>

static void *library;
static CUpti_SubscriberHandle subscriber;
static long records;
static std::map<std::string, nvtxRangeId_t> started;

#define CUPTI(symbol) ((decltype(&symbol))dlsym(library, #symbol))

__global__ void spin(long long clocks)
{
	for (long long begin = clock64(); clock64() - begin < clocks;)
		;
}

static void CUPTIAPI hear(void *, CUpti_CallbackDomain, CUpti_CallbackId, const void *) {}

static void CUPTIAPI give(uint8_t **buffer, size_t *size, size_t *most)
{
	*size = 1 << 20;
	*buffer = (uint8_t *)aligned_alloc(8, *size);
	*most = 0;
}

static void CUPTIAPI take(CUcontext, uint32_t, uint8_t *buffer, size_t, size_t size)
{
	for (CUpti_Activity *record = nullptr; !CUPTI(cuptiActivityGetNextRecord)(buffer, size, &record);)
		records++;
	free(buffer);
}

static int trace()
{
	int status = CUPTI(cuptiActivityRegisterCallbacks)(give, take);
	return status ? status : (int)CUPTI(cuptiActivityEnable)(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
}

static int traced()
{
	int status = CUPTI(cuptiActivityFlushAll)(0);
	printf("%ld kernels traced\n", records);
	return status;
}

static int launch(long count)
{
	while (count-- > 0)
		spin<<<132, 256>>>(15000);
	return cudaDeviceSynchronize();
}

static int run(const std::string &word, const char *field)
{
	if (word == "init") return cudaFree(nullptr);
	if (word == "launch") return launch(atol(field));
	if (word == "sleep") return usleep(1000 * atol(field));
	if (word == "start") return cudaProfilerStart();
	if (word == "stop") return cudaProfilerStop();
	if (word == "lib") return !(library = dlopen(field, RTLD_NOW | RTLD_LOCAL));
	if (word == "subscribe") return CUPTI(cuptiSubscribe)(&subscriber, hear, nullptr);
	if (word == "unsubscribe") return CUPTI(cuptiUnsubscribe)(subscriber);
	if (word == "trace") return trace();
	if (word == "traced") return traced();
	if (word == "finalize") return CUPTI(cuptiFinalize)();
	if (word == "deinit") { CUpti_Profiler_DeInitialize_Params p = {CUpti_Profiler_DeInitialize_Params_STRUCT_SIZE}; return CUPTI(cuptiProfilerDeInitialize)(&p); }
	if (word == "reset") return cudaDeviceReset();
	if (word == "nvtxpush") return nvtxRangePushA(field) < 0 ? 0 : 0;
	if (word == "nvtxpop") return nvtxRangePop() < 0 ? 0 : 0;
	if (word == "nvtxstart") return (started[field] = nvtxRangeStartA(field)) ? 0 : 1;
	if (word == "nvtxend") return nvtxRangeEnd(started[field]), 0;
	// As "end", but in another thread.
	if (word == "threadend") return std::thread([=] { cudaFree(nullptr); nvtxRangeEnd(started[field]); }).join(), 0;
	return -1;
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		const char *colon = strchr(argv[i], ':');
		std::string word(argv[i], colon ? colon - argv[i] : strlen(argv[i]));
		int status = run(word, colon ? colon + 1 : "");
		if (status)
			printf("%s: %d\n", argv[i], status);
		fflush(stdout);
	}
}
