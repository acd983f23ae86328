// SPDX-License-Identifier: BSD-2-Clause
/*
 * What an emulator of another machine, or a namespace, does not do though the kernel does: a word
 * for each on a line. tools/packaging/arm64.sh runs it for both machines, and excuses the tests
 * that need what only one of them has.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* A limit of the address space is kept, and refuses what is beyond it. */
static int limits_memory(void)
{
	struct rlimit limit = { .rlim_cur = (rlim_t)2 << 30, .rlim_max = RLIM_INFINITY };
	struct rlimit kept = { 0 };
	void *memory;

	if (setrlimit(RLIMIT_AS, &limit) || getrlimit(RLIMIT_AS, &kept))
		return 0;
	memory = mmap(NULL, (size_t)4 << 30, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return kept.rlim_cur == limit.rlim_cur && memory == MAP_FAILED;
}

/* The kernel knows that huge pages were asked for, at the address that the program has. */
static int knows_huge_pages(void)
{
	size_t size = (size_t)8 << 20;
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	FILE *smaps = fopen("/proc/self/smaps", "r");
	uintptr_t from = 0, to = 0;
	char line[1024];
	int found = 0;

	if (memory == MAP_FAILED || !smaps || madvise(memory, size, MADV_HUGEPAGE))
		return 0;
	while (fgets(line, sizeof line, smaps)) {
		uintptr_t begin, end;

		if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " ", &begin, &end) == 2) {
			from = begin;
			to = end;
		} else if (!strncmp(line, "VmFlags:", 8) && from <= (uintptr_t)memory
		           && (uintptr_t)memory < to) {
			found = strstr(line, " hg") != NULL;
		}
	}
	fclose(smaps);
	return found;
}

/* Root can give a file to another user. */
static int has_second_user(void)
{
	char name[] = "/tmp/emulator.XXXXXX";
	int file = mkstemp(name);
	int given;

	if (file < 0)
		return 0;
	given = !fchown(file, 65534, (gid_t)-1);
	unlink(name);
	close(file);
	return given;
}

int main(void)
{
	printf("huge_pages %d\n", knows_huge_pages());
	printf("second_user %d\n", has_second_user());
	printf("memory_limit %d\n", limits_memory());
	return 0;
}
