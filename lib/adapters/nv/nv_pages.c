/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * NVIDIA's libraries write to 100 MB of zeroed data while they are loaded. These are 26,000 pages:
 * the faults take 60 ms, and a fork() that copies an entry for each takes 4 ms, and its end 6; huge
 * pages take next to nothing. The kernel has to be asked for them after the loader has mapped the
 * library and before its constructors run, and the loader calls nobody in between: another thread
 * looks for the mapping meanwhile.
 */
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "adapters/nv/nv_table.h"

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

	/* Late is better than never: the kernel also makes huge pages of small ones in time. */
	do {
		last = atomic_load(opened);
		if (dl_iterate_phdr(ask_for_huge_pages, NULL))
			return NULL;
		nanosleep(&pause, NULL);
	} while (!last);
	return NULL;
}

/* The program's signals are for threads of its own. */
static bool start_thread(pthread_t *thread, void *data)
{
	sigset_t every, before;
	bool started;

	sigfillset(&every);
	pthread_sigmask(SIG_SETMASK, &every, &before);
	started = !pthread_create(thread, NULL, look_for_mapping, data);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return started;
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
