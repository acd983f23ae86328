/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ranges for `offpeak-collect --range user`, for programs that want no NVTX:
 *
 *     offpeak_range_push("step");
 *     ...launches...
 *     offpeak_range_pop();
 *
 * And for `offpeak-collect --capture-range offpeak`, which records only what is between these:
 *
 *     offpeak_start();
 *     ...launches...
 *     offpeak_stop();
 *
 * Ranges nest; each thread has its own. Without the collector all calls do nothing. Nothing needs
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

/* Calls the collector's function with that name, which is looked for once. */
static inline void offpeak_range_call(const char *symbol, void (**call)(void), int *looked)
{
	if (!*looked) {
		*(void **)call = offpeak_range_find(symbol);
		*looked = 1;
	}
	if (*call)
		(*call)();
}

/* Ends the range that this thread began last. */
static inline void offpeak_range_pop(void)
{
	static void (*call)(void);
	static int looked;

	offpeak_range_call("offpeak_collect_pop", &call, &looked);
}

/* Begins what is recorded, in all threads; again after offpeak_stop() if you like. */
static inline void offpeak_start(void)
{
	static void (*call)(void);
	static int looked;

	offpeak_range_call("offpeak_collect_start", &call, &looked);
}

/* Ends what is recorded. */
static inline void offpeak_stop(void)
{
	static void (*call)(void);
	static int looked;

	offpeak_range_call("offpeak_collect_stop", &call, &looked);
}

#ifdef __cplusplus
}
#endif

#endif
