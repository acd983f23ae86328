/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * NVIDIA's libraries write to 100 MB of zeroed data while they are loaded. These are 26,000 pages,
 * and a fork() that copies an entry for each takes 6 ms; as huge pages they take 0.5 ms. Where the
 * kernel has none to give, all stays as it is.
 */
#ifndef OPK_HUGE_PAGES_H
#define OPK_HUGE_PAGES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

/* Linux 6.1, glibc 2.37. */
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

/* Each by itself: one that can't be had does not end it. */
static inline void collapse(uintptr_t start, uintptr_t end)
{
	const uintptr_t huge = (uintptr_t)2 << 20;

	for (start = (start + huge - 1) / huge * huge; start + huge <= end; start += huge)
		madvise((void *)start, huge, MADV_COLLAPSE);
}

/* Zeroed data is the mapping without a name after those of the library's file. */
static inline void use_huge_pages(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	bool after_library = false;
	uintptr_t start, end;
	char line[1024];

	while (maps && fgets(line, sizeof line, maps)) {
		bool library = strstr(line, "/libnvperf_host");

		if (!library && after_library && sscanf(line, "%lx-%lx rw-p", &start, &end) == 2)
			collapse(start, end);
		after_library = library;
	}
	if (maps)
		fclose(maps);
}

#endif
