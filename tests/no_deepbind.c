/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Preloaded by the tests of a sanitizer build. AddressSanitizer ends a process that calls dlopen()
 * with RTLD_DEEPBIND, which libcupti does to open libnvperf_host; without the flag both work.
 */
#include <dlfcn.h>

void *dlopen(const char *path, int flags)
{
	void *(*next)(const char *, int) = (void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");

	return next(path, flags & ~RTLD_DEEPBIND);
}
