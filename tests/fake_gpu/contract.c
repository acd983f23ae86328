/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs the contract's tests against the fake GPU that this was built with, or against a real one if
 * CONTRACT_IMAGES names the folder that tests/gpu/contract.sh fills, and CONTRACT_CUPTI a libcupti.
 * Arguments select tests by name.
 */
#include "fake_gpu/contract.h"

#include <dlfcn.h>
#include <sys/wait.h>

#include "fake_gpu/fake_image.h"

#ifndef FAKE_DRIVER
#define FAKE_DRIVER "libcuda.so.1"
#define FAKE_CUPTI "libcupti.so"
#endif

struct contract_api api;

static struct contract_test *tests;

void know_contract_test(struct contract_test *test)
{
	test->next = tests;
	tests = test;
}

static void *find(void *library, const char *symbol)
{
	void *function = dlsym(library, symbol);

	EXPECT(function, "no %s", symbol);
	return function;
}

#define TEXT(symbol) TEXT_(symbol)
#define TEXT_(symbol) #symbol

void load(void)
{
	bool real = getenv("CONTRACT_IMAGES") != NULL;
	const char *path = real ? getenv("CONTRACT_CUPTI") : FAKE_CUPTI;
	void *driver = dlopen(real ? "libcuda.so.1" : FAKE_DRIVER, RTLD_NOW | RTLD_LOCAL);
	void *cupti = dlopen(path ? path : "libcupti.so", RTLD_NOW | RTLD_LOCAL);
	char beside[4096];
	Dl_info info;

	EXPECT(driver && cupti, "%s", dlerror());
#define X(symbol) api.symbol = (__typeof__(api.symbol))find(driver, TEXT(symbol));
	DRIVER_SYMBOLS(X)
#undef X
#define X(symbol) api.symbol = (__typeof__(api.symbol))find(cupti, #symbol);
	CUPTI_SYMBOLS(X)
#undef X
#define X(symbol, params) api.symbol = (__typeof__(api.symbol))find(cupti, #symbol);
	CUPTI_CALLS(X)
#undef X
	if (!dladdr((void *)(uintptr_t)api.cuptiGetVersion, &info))
		return;
	snprintf(beside, sizeof beside, "%.*s/libnvperf_host.so",
	         (int)(strrchr(info.dli_fname, '/') - info.dli_fname), info.dli_fname);
	api.perfworks = dlopen(beside, RTLD_NOW | RTLD_LOCAL);
}

CUcontext make_context(void)
{
	CUcontext context = NULL;

	OK(api.cuInit(0));
	OK(api.cuCtxCreate(&context, NULL, 0, 0));
	return context;
}

CUfunction make_kernel(void)
{
	static const char code[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
				   ".visible .entry kernel()\n{\nret;\n}\n";
	CUfunction function = NULL;
	CUmodule module;

	OK(api.cuModuleLoadData(&module, code));
	OK(api.cuModuleGetFunction(&function, module, "kernel"));
	return function;
}

CUresult launch_kernel(CUfunction function, CUstream stream)
{
	return api.cuLaunchKernel(function, 2, 3, 4, 32, 2, 1, 100, stream, NULL, NULL);
}

static struct bytes read_bytes(const char *kind, unsigned passes)
{
	const char *folder = getenv("CONTRACT_IMAGES");
	struct fake_config fake = { FAKE_CONFIG_MAGIC, passes ? passes : 1 };
	struct bytes bytes = { calloc(1, 1 << 20), sizeof fake };
	char path[4096];
	FILE *file;

	EXPECT(bytes.data, "out of memory");
	memcpy(bytes.data, &fake, sizeof fake);
	if (!folder)
		return bytes;
	snprintf(path, sizeof path, "%s/%s.%u", folder, kind, passes);
	file = fopen(path, "rb");
	EXPECT(file, "%s: can't open", path);
	bytes.size = fread(bytes.data, 1, 1 << 20, file);
	fclose(file);
	return bytes;
}

struct bytes config_of(unsigned passes)
{
	return read_bytes("config", passes);
}

struct bytes prefix_of(unsigned passes)
{
	return read_bytes("prefix", passes);
}

static bool chosen(const char *name, char **names)
{
	bool any = *names != NULL;

	for (; *names; names++)
		if (!strcmp(*names, name))
			return true;
	return !any;
}

/* Whether the test passed. */
static bool run(const struct contract_test *test)
{
	pid_t child = fork();
	int status = 0;

	if (!child) {
		alarm(60);
		test->run();
		exit(0);
	}
	waitpid(child, &status, 0);
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return true;
	if (WIFSIGNALED(status))
		fprintf(stderr, "signal %d\n", WTERMSIG(status));
	fprintf(stderr, "FAILED: %s\n", test->name);
	return false;
}

int main(int argc, char **argv)
{
	int checks = 0, failures = 0;

	(void)argc;
	for (const struct contract_test *test = tests; test; test = test->next)
		if (chosen(test->name, argv + 1)) {
			checks++;
			failures += !run(test);
		}
	printf("%d%%: Checks: %d, Failures: %d, Errors: 0\n",
	       checks ? 100 * (checks - failures) / checks : 0, checks, failures);
	return failures ? 1 : 0;
}
