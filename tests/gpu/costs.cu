// The cost of a launch under the range profiler, for bare images that tests/gpu/sets.sh makes:
//     costs launch|replay FOLDER NAME...
// launch: one pass without replay: a launch, programming the pass (Start), ending it (Stop, DecodeData).
// replay: kernel replay, and its calls of the kernel driver (ioctl).
#include <cuda.h>
#include <cuda_runtime.h>
#include <cupti.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

typedef std::vector<uint8_t> bytes;
enum { SLOTS = 32, LAUNCHES = 24 };

static unsigned long calls;
static double call_us;
static bool counting;

static double now()
{
	timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e6 + t.tv_nsec * 1e-3;
}

// The driver's libraries call this one.
extern "C" int ioctl(int fd, unsigned long request, ...)
{
	va_list list;
	va_start(list, request);
	void *argument = va_arg(list, void *);
	va_end(list);
	double begun = now();
	int result = syscall(SYS_ioctl, fd, request, argument);
	if (counting) {
		calls++;
		call_us += now() - begun;
	}
	return result;
}

static void check(int status, const char *what)
{
	if (!status)
		return;
	fprintf(stderr, "%s: %d\n", what, status);
	_exit(1);
}

static bytes read(const std::string &path)
{
	std::ifstream file(path, std::ios::binary);
	return bytes(std::istreambuf_iterator<char>(file), {});
}

__global__ void spin(float *x, int steps)
{
	float v = x[threadIdx.x];
	for (int i = 0; i < steps; i++)
		v = v * 1.0001f + 0.5f;
	x[threadIdx.x] = v;
}

static float *memory;

// The median time of some launches.
static double launch(int count)
{
	std::vector<double> times;
	for (int i = 0; i < count; i++) {
		double begun = now();
		spin<<<132, 256>>>(memory, 3000);
		check(cudaDeviceSynchronize(), "spin");
		times.push_back(now() - begun);
	}
	std::sort(times.begin(), times.end());
	return times[times.size() / 2];
}

#define CALL(name, ...)                                                                            \
	do {                                                                                       \
		CUpti_RangeProfiler_##name##_Params p = {                                          \
			CUpti_RangeProfiler_##name##_Params_STRUCT_SIZE                            \
		};                                                                                 \
		p.pRangeProfilerObject = object;                                                   \
		__VA_ARGS__;                                                                       \
		check(cuptiRangeProfiler##name(&p), #name);                                        \
	} while (0)

struct session {
	CUpti_RangeProfiler_Object *object;
	bytes config, prefix, image;

	session(const std::string &path) : config(read(path + ".config")), prefix(read(path + ".prefix"))
	{
		CUpti_RangeProfiler_Enable_Params p = { CUpti_RangeProfiler_Enable_Params_STRUCT_SIZE };
		check(cuCtxGetCurrent(&p.ctx), "cuCtxGetCurrent");
		check(cuptiRangeProfilerEnable(&p), "Enable");
		object = p.pRangeProfilerObject;
	}
	void configure(CUpti_ProfilerReplayMode replay)
	{
		CUpti_Profiler_CounterDataImageOptions o = { CUpti_Profiler_CounterDataImageOptions_STRUCT_SIZE };
		o.pCounterDataPrefix = prefix.data();
		o.counterDataPrefixSize = prefix.size();
		o.maxNumRanges = o.maxNumRangeTreeNodes = SLOTS;
		o.maxRangeNameLength = 16;
		CUpti_Profiler_CounterDataImage_CalculateSize_Params s = {
			CUpti_Profiler_CounterDataImage_CalculateSize_Params_STRUCT_SIZE
		};
		s.sizeofCounterDataImageOptions = sizeof o;
		s.pOptions = &o;
		check(cuptiProfilerCounterDataImageCalculateSize(&s), "CalculateSize");
		image.assign(s.counterDataImageSize, 0);
		CUpti_Profiler_CounterDataImage_Initialize_Params i = {
			CUpti_Profiler_CounterDataImage_Initialize_Params_STRUCT_SIZE
		};
		i.sizeofCounterDataImageOptions = sizeof o;
		i.pOptions = &o;
		i.counterDataImageSize = image.size();
		i.pCounterDataImage = image.data();
		check(cuptiProfilerCounterDataImageInitialize(&i), "Initialize");
		CALL(SetConfig, p.pConfig = config.data(); p.configSize = config.size();
		     p.pCounterDataImage = image.data(); p.counterDataImageSize = image.size();
		     p.range = CUPTI_AutoRange; p.replayMode = replay; p.maxRangesPerPass = SLOTS;
		     p.numNestingLevels = p.minNestingLevel = p.targetNestingLevel = 1);
	}
	~session() { CALL(Disable); }
};

static void without_replay(const std::string &folder, const char *name)
{
	session s(folder + "/" + name);
	CUpti_RangeProfiler_Object *object = s.object;
	double us = 0, begun = 0, started = 0, ended = 0, decoded = 0;
	// The first Start of a session is slower than later ones.
	for (int turn = 0; turn < 2; turn++) {
		s.configure(CUPTI_UserReplay);
		begun = now();
		CALL(Start);
		started = now();
		us = launch(LAUNCHES);
		ended = now();
		CALL(Stop);
		CALL(DecodeData);
		decoded = now();
	}
	printf("%-12s launch %6.0f us, start %6.0f us, end %6.0f us\n", name, us, started - begun, decoded - ended);
}

static void by_replay(const std::string &folder, const char *name)
{
	session s(folder + "/" + name);
	CUpti_RangeProfiler_Object *object = s.object;
	s.configure(CUPTI_KernelReplay);
	CALL(Start);
	launch(1);
	calls = 0;
	call_us = 0;
	counting = true;
	double begun = now();
	launch(6);
	double us = (now() - begun) / 6;
	counting = false;
	printf("%-12s launch %7.0f us, of which %7.0f us in %lu calls of the kernel driver\n", name, us, call_us / 6, calls / 6);
	CALL(Stop);
	CALL(DecodeData);
}

int main(int argc, char **argv)
{
	CUpti_Profiler_Initialize_Params p = { CUpti_Profiler_Initialize_Params_STRUCT_SIZE };

	check(cuInit(0) || cudaMalloc(&memory, 4096) || cudaMemset(memory, 0, 4096), "CUDA");
	printf("alone        launch %6.0f us\n", launch(LAUNCHES));
	check(cuptiProfilerInitialize(&p), "cuptiProfilerInitialize");
	for (int i = 3; i < argc; i++)
		(strcmp(argv[1], "replay") ? without_replay : by_replay)(argv[2], argv[i]);
}
