/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libnvperf_host's constructors fill 100 MB of zeroed memory: 26,000 page faults in each process
 * that opens it, most of the time that a short command takes. With huge pages there are a thousand.
 *
 * The memory can be advised only after it was mapped and before the constructors run. In between
 * runs the library's _init(), which calls __gmon_start__() where the program has it, as programs
 * built for gprof do. So a program that is linked with this file has it. liboffpeak.so does not
 * export it, since its user's process is not ours.
 */
#include <dlfcn.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "adapters/nv/nv_table.h"

/* The file that this thread opens now. */
static __thread const char *opening;

/* What follows the file's bytes in memory, in whole pages. */
static void advise_zeroed(const struct dl_phdr_info *library, const ElfW(Phdr) * part)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t start = library->dlpi_addr + part->p_vaddr;
	uintptr_t from = (start + part->p_filesz + page - 1) / page * page;
	uintptr_t to = start + part->p_memsz;

	/* Best effort: kernels without huge pages refuse. */
	if (part->p_type == PT_LOAD && to > from)
		madvise((void *)from, to - from, MADV_HUGEPAGE);
}

static int advise(struct dl_phdr_info *library, size_t size, void *path)
{
	size_t length = strlen(library->dlpi_name), wanted = strlen(path);

	(void)size;
	/* The loader puts a folder before a bare name. */
	if (length < wanted || strcmp(library->dlpi_name + length - wanted, path) != 0)
		return 0;
	for (size_t i = 0; i < library->dlpi_phnum; i++)
		advise_zeroed(library, &library->dlpi_phdr[i]);
	return 1;
}

/* Weak: a program built with -pg has its own, and opens the library more slowly. */
void __gmon_start__(void);
__attribute__((weak)) void __gmon_start__(void)
{
	if (opening)
		dl_iterate_phdr(advise, (void *)(uintptr_t)opening);
}

void *nv_dlopen_huge(const char *path)
{
	void *library;

	opening = path;
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	opening = NULL;
	return library;
}
