/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ranges for `offpeak-collect --range user`, for programs that want no NVTX:
 *
 *     offpeak_range_push("step");
 *     ...launches...
 *     offpeak_range_pop();
 *
 * Ranges nest; each thread has its own. Without the collector both calls do nothing. Nothing needs
 * to be linked but, on systems older than glibc 2.34, libdl. Any number of files may include this.
 */
#ifndef OFFPEAK_RANGE_H
#define OFFPEAK_RANGE_H

#include <dlfcn.h>
#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The collector's function with that name, or NULL; offpeak-collect names its library. */
static inline void *offpeak_range_find(const char *symbol)
{
	const char *path = getenv("OFFPEAK_COLLECT_LIBRARY");
	void *library = path ? dlopen(path, RTLD_LAZY | RTLD_LOCAL) : NULL;

	return library ? dlsym(library, symbol) : NULL;
}

/* Begins a range on this thread; the name is copied. */
static inline void offpeak_range_push(const char *name)
{
	static void (*push)(const char *);
	static int looked;

	if (!looked) {
		*(void **)&push = offpeak_range_find("offpeak_collect_push");
		looked = 1;
	}
	if (push)
		push(name);
}

/* Ends the range that this thread began last. */
static inline void offpeak_range_pop(void)
{
	static void (*pop)(void);
	static int looked;

	if (!looked) {
		*(void **)&pop = offpeak_range_find("offpeak_collect_pop");
		looked = 1;
	}
	if (pop)
		pop();
}

#ifdef __cplusplus
}
#endif

#endif
