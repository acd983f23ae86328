/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * NVIDIA's libraries write to 100 MB of zeroed data while they are loaded. These are 26,000 pages,
 * and a fork() that copies an entry for each takes 4 ms, and its end 6; as huge pages next to
 * nothing. Copying them takes 30 ms, so that it pays with the third fork.
 */
#include <inttypes.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "adapters/nv/nv.h"

/* Linux 6.1, glibc 2.37. */
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

/* Each by itself: one that can't be had does not end it. */
static void collapse(uintptr_t start, uintptr_t end)
{
	const uintptr_t huge = (uintptr_t)2 << 20;

	for (start = (start + huge - 1) / huge * huge; start + huge <= end; start += huge)
		madvise((void *)start, huge, MADV_COLLAPSE);
}

bool opk_nv_zeroed(uintptr_t *start, uintptr_t *end, bool *after_library, const char *line)
{
	bool library = strstr(line, "/libnvperf_host"), after = *after_library;
	int ends = 0;

	*after_library = library;
	return after && !library
	       && sscanf(line, "%" SCNxPTR "-%" SCNxPTR " rw-p 00000000 00:00 0 %n", start, end,
	                 &ends)
	                  == 2
	       && ends && !line[ends];
}

void opk_nv_use_huge_pages(void)
{
	static atomic_bool done;
	opk_autofclose FILE *maps = NULL;
	bool after_library = false;
	uintptr_t start, end;
	char line[1024];

	if (!opk_nv_loaded() || atomic_exchange(&done, true))
		return;
	maps = fopen("/proc/self/maps", "re");
	while (maps && fgets(line, sizeof line, maps))
		if (opk_nv_zeroed(&start, &end, &after_library, line))
			collapse(start, end);
}
