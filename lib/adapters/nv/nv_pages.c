/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * NVIDIA's libraries write to 100 MB of zeroed data while they are loaded. These are 26,000 pages:
 * the faults take 60 ms, a fork(), which copies an entry for each page, takes 4 ms, and the child's
 * end 6 ms; with huge pages all this takes almost no time. The kernel must be asked for them after
 * the loader maps the library and before its constructors run. The loader has no callback at that
 * time, so another thread looks for the mapping.
 */
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "adapters/nv/nv_table.h"
#include "base/signals.h"

static int ask_for_huge_pages(struct dl_phdr_info *library, size_t size, void *unused)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);

	(void)size, (void)unused;
	if (!strstr(library->dlpi_name, "/libnvperf_host"))
		return 0;
	for (size_t i = 0; i < library->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &library->dlpi_phdr[i];
		uintptr_t start = library->dlpi_addr + part->p_vaddr;
		uintptr_t zeroed = (start + part->p_filesz + page - 1) / page * page;

		if (part->p_type == PT_LOAD && start + part->p_memsz > zeroed)
			madvise((void *)zeroed, start + part->p_memsz - zeroed, MADV_HUGEPAGE);
	}
	return 1;
}

static void *look_for_mapping(void *data)
{
	const struct timespec pause = { .tv_nsec = 50000 };
	atomic_bool *opened = data;
	bool last;

	/* Asking late still helps: the kernel also merges small pages into huge ones later. */
	do {
		last = atomic_load(opened);
		if (dl_iterate_phdr(ask_for_huge_pages, NULL))
			return NULL;
		nanosleep(&pause, NULL);
	} while (!last);
	return NULL;
}

/* Blocks signals in the thread: the program's own threads handle them. */
static bool start_thread(pthread_t *thread, void *data)
{
	opk_autosignals sigset_t before = opk_block_signals();

	return !pthread_create(thread, NULL, look_for_mapping, data);
}

void *nv_open_host(const char *path)
{
	atomic_bool opened = false;
	pthread_t thread;
	bool looks = start_thread(&thread, &opened);
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	atomic_store(&opened, true);
	if (looks)
		pthread_join(thread, NULL);
	return library;
}
