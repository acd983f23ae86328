/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Preloaded by the tests of a sanitizer build, for the sake of NVIDIA's libraries:
 * AddressSanitizer ends a process that calls dlopen() with RTLD_DEEPBIND, which libcupti does to
 * open libnvperf_host; without the flag both work. And LeakSanitizer crashes now and then where
 * libcupti is loaded, so leaks are looked for in the processes that do without it.
 */
#include <dlfcn.h>
#include <link.h>
#include <string.h>

int __lsan_is_turned_off(void);

void *dlopen(const char *path, int flags)
{
	void *(*next)(const char *, int) = (void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");

	return next(path, flags & ~RTLD_DEEPBIND);
}

static int is_cupti(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)size;
	(void)data;
	return strstr(info->dlpi_name, "libcupti") != NULL;
}

int __lsan_is_turned_off(void)
{
	return dl_iterate_phdr(is_cupti, NULL);
}
