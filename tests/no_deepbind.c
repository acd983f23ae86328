/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tests of a sanitizer build preload this because of NVIDIA's libraries: AddressSanitizer ends
 * a process that calls dlopen() with RTLD_DEEPBIND, as libcupti does for libnvperf_host; without
 * the flag both work. LeakSanitizer sometimes crashes when libcupti is loaded, so only processes
 * without it are checked for leaks.
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
