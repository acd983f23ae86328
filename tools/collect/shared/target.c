/* SPDX-License-Identifier: BSD-2-Clause */
/* Opens libcuda and libcupti, and reports calls that fail or take long. */
#include "collect/shared/target.h"

#include <dlfcn.h>
#include <limits.h>

#include "base/library.h"
#include "collect/shared/shared.h"

/* cuda.h renames some entry points to newer versions: the macro's result is the symbol. */
#define SYMBOL_TEXT(symbol) SYMBOL_TEXT_(symbol)
#define SYMBOL_TEXT_(symbol) #symbol

/* CUPTI_ERROR_* of 12.8 and later, which the headers of 12.6 lack. */
enum {
	MIG_DEVICE_NOT_SUPPORTED = 43,
	SLI_DEVICE_NOT_SUPPORTED = 44,
	WSL_DEVICE_NOT_SUPPORTED = 45,
};

/* What a user can do about a CUPTI status. */
static const struct {
	CUptiResult status;
	const char *advice;
} advices[] = {
	{ CUPTI_ERROR_INSUFFICIENT_PRIVILEGES,
	  "run as root or with CAP_SYS_ADMIN, or load the driver with "
	  "NVreg_RestrictProfilingToAdminUsers=0" },
	{ CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES,
	  "profiling is switched off for this vGPU: the host's administrator can enable it" },
	{ CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED, "this vGPU can't be profiled" },
	{ CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED,
	  "another profiler or debugger is attached to the program" },
	{ CUPTI_ERROR_LEGACY_PROFILER_NOT_SUPPORTED, "this GPU has the range profiler only" },
	{ CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED,
	  "the GPU is in confidential-computing mode" },
	{ CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED, "a mining processor can't be profiled" },
	{ (CUptiResult)MIG_DEVICE_NOT_SUPPORTED,
	  "CUPTI can't profile this MIG instance: use the whole GPU" },
	{ (CUptiResult)SLI_DEVICE_NOT_SUPPORTED, "switch SLI off" },
	{ (CUptiResult)WSL_DEVICE_NOT_SUPPORTED, "WSL can't be profiled with this driver" },
	{ CUPTI_ERROR_NOT_SUPPORTED, "is the program a client of MPS? It can't be profiled there" },
};

struct target target;

/* *missing, unless NULL, becomes the first symbol that is missing. */
static void bind(void *slot, void *library, const char *symbol, const char **missing)
{
	*(void **)slot = dlsym(library, symbol);
	if (missing && !*missing && !*(void **)slot)
		*missing = symbol;
}

const char *target_open(const char *cupti)
{
	static char problem[PATH_MAX + 200];
	void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
	Dl_info info;
	const char *flaw = opk_library_flaw(cupti), *missing = NULL;
	void *library = driver && !flaw ? dlopen(cupti, RTLD_NOW | RTLD_LOCAL) : NULL;

	if (!driver || flaw) {
		snprintf(problem, sizeof problem, "%s %s",
		         driver ? cupti : "there is no NVIDIA driver here:",
		         driver ? flaw : dlerror());
		return problem;
	}
	if (!library) {
		snprintf(problem, sizeof problem,
		         "%s: --cupti FILE names libcupti of CUDA 12.6 or later, such as "
		         "/usr/local/cuda/lib64/libcupti.so",
		         dlerror());
		return problem;
	}
#define NEED(symbol) bind(&target.symbol, library, #symbol, &missing);
	TARGET_CUPTI(NEED)
	if (missing) {
		snprintf(
			problem, sizeof problem,
			"%s lacks %s: it must be the libcupti of CUDA 12.6 or later, which --cupti "
			"FILE names",
			cupti, missing);
		return problem;
	}
#define WANT(symbol) bind(&target.symbol, library, #symbol, NULL);
	TARGET_CUPTI_OPTIONAL(WANT)
	WANT(cuptiSubscribe_v2)
	WANT(cuptiProfilerHostInitialize)
	WANT(cuptiProfilerHostDeinitialize)
	WANT(cuptiProfilerHostEvaluateToGpuValues)
#define NEED_OF_DRIVER(symbol) bind(&target.symbol, driver, SYMBOL_TEXT(symbol), &missing);
	TARGET_DRIVER(NEED_OF_DRIVER)
#define WANT_OF_DRIVER(symbol) bind(&target.symbol, driver, SYMBOL_TEXT(symbol), NULL);
	TARGET_DRIVER_OPTIONAL(WANT_OF_DRIVER)
	if (missing)
		return missing;
	target.cupti_path = dladdr((const void *)target.cuptiGetVersion, &info) && info.dli_fname
	                            ? info.dli_fname
	                            : "";
	target.cuptiGetVersion(&target.cupti_version);
	return NULL;
}

static __thread struct timespec begun;

void target_begin(void)
{
	begun = clock_now();
}

static void tell_time(const char *call)
{
	static const double long_ms = 50;
	double milliseconds;

	if (!target.verbose || !begun.tv_sec)
		return;
	milliseconds = clock_seconds_since(&begun) * 1e3;
	if (milliseconds >= long_ms)
		say(0, "%s took %d ms", call, (int)milliseconds);
}

/* The counters' image and a session are refused while the process has another one open. */
static bool is_taken(const char *call, CUptiResult status)
{
	return (status == CUPTI_ERROR_INVALID_PARAMETER || status == CUPTI_ERROR_INVALID_OPERATION)
	       && (strstr(call, "GetCounterAvailability") || strstr(call, "Enable"));
}

static const char *advice_for(const char *call, CUptiResult status)
{
	static __thread char busy[768];
	char who[512];

	for (size_t i = 0; i < sizeof advices / sizeof *advices; i++)
		if (advices[i].status == status)
			return advices[i].advice;
	if (is_taken(call, status))
		return "does the program profile itself? CUPTI's profiler serves one at a time";
	if (status != CUPTI_ERROR_HARDWARE_BUSY)
		return NULL;
	busy_describe(who, sizeof who);
	snprintf(busy, sizeof busy,
	         "another profiler has the GPU's counters: %s; --wait SECONDS waits for it", who);
	return busy;
}

static __thread bool is_quiet;

void target_be_quiet(bool quiet)
{
	is_quiet = quiet;
}

bool target_check(const char *call, CUptiResult status)
{
	const char *name = NULL, *advice;

	tell_time(call);
	if (!status)
		return true;
	if (is_quiet || busy_tolerate(status))
		return false;
	advice = advice_for(call, status);
	if (target.cuptiGetResultString(status, &name) || !name)
		name = "unknown status";
	return say(false, "%s: %s (%d)%s%s", call, name, status, advice ? ": " : "",
	           advice ? advice : "");
}
