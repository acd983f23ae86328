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

/*
 * The collector's function with that name, or NULL; offpeak-collect names its library. It is looked
 * for once, maybe by several threads at a time: *kept then has it, or its own address if there is
 * none.
 */
static inline void *offpeak_range_find(const char *symbol, void **kept)
{
	void *found = __atomic_load_n(kept, __ATOMIC_ACQUIRE);

	if (!found) {
		const char *path = getenv("OFFPEAK_COLLECT_LIBRARY");
		void *library = path ? dlopen(path, RTLD_LAZY | RTLD_LOCAL) : NULL;

		found = library ? dlsym(library, symbol) : NULL;
		found = found ? found : (void *)kept;
		__atomic_store_n(kept, found, __ATOMIC_RELEASE);
	}
	return found != (void *)kept ? found : NULL;
}

static inline void offpeak_range_call(const char *symbol, void **kept)
{
	void (*call)(void);

	*(void **)&call = offpeak_range_find(symbol, kept);
	if (call)
		call();
}

/* Begins a range on this thread; the name is copied. */
static inline void offpeak_range_push(const char *name)
{
	static void *kept;
	void (*push)(const char *);

	*(void **)&push = offpeak_range_find("offpeak_collect_push", &kept);
	if (push)
		push(name);
}

/* Ends the range that this thread began last. */
static inline void offpeak_range_pop(void)
{
	static void *kept;

	offpeak_range_call("offpeak_collect_pop", &kept);
}

/* Begins what is recorded, in all threads; again after offpeak_stop() if you like. */
static inline void offpeak_start(void)
{
	static void *kept;

	offpeak_range_call("offpeak_collect_start", &kept);
}

/* Ends what is recorded. */
static inline void offpeak_stop(void)
{
	static void *kept;

	offpeak_range_call("offpeak_collect_stop", &kept);
}

#ifdef __cplusplus
}
#endif

#endif
