/* SPDX-License-Identifier: BSD-2-Clause */
/* Images without ranges, as copies of the first one, which takes long to make. */
#include "collect/profilers/profilers.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/descriptor.h"

/*
 * A file in memory; -1: this system has none, or the program may not write one of that size, and
 * would be killed by a signal.
 */
static int new_file(size_t size)
{
	struct rlimit most;

	if (getrlimit(RLIMIT_FSIZE, &most) || most.rlim_cur < size)
		return -1;
#ifdef SYS_memfd_create
	return opk_out_of_the_way((int)syscall(SYS_memfd_create, "offpeak", 1u /* MFD_CLOEXEC */));
#else
	return -1;
#endif
}

/* The program may have closed the descriptor, and have a file of its own there. */
static bool is_own(const struct blank *blank, int file)
{
	struct stat now;

	return opk_is_still(file, blank->info.st_dev, blank->info.st_ino, &now);
}

/* Moves the image into a file, if that can be. */
static void into_file(struct blank *blank)
{
	int file = new_file(blank->size);

	if (file < 0 || fstat(file, &blank->info))
		return;
	if (opk_write_all(file, blank->image, blank->size) && is_own(blank, file)) {
		free(opk_take(blank->image));
		blank->file = file;
	} else if (is_own(blank, file))
		close(file);
}

static bool is_in_file(const struct blank *blank)
{
	return blank->size && !blank->image;
}

/* NULL: the file is gone. */
static void *map(const struct blank *blank)
{
	void *image = mmap(NULL, blank->size, PROT_READ | PROT_WRITE, MAP_PRIVATE, blank->file, 0);

	if (image == MAP_FAILED)
		return NULL;
	if (is_own(blank, blank->file))
		return image;
	munmap(image, blank->size);
	return NULL;
}

bool blank_copy(struct segment *copy, struct blank *blank, const struct profiler *profiler)
{
	copy->image = is_in_file(blank) ? map(blank) : NULL;
	copy->mapped = copy->image;
	if (!copy->mapped && !blank->image) {
		blank_clear(blank);
		blank->image = image_new(profiler, &blank->size);
		if (!blank->image) {
			blank->size = 0;
			return false;
		}
	}
	copy->image_size = blank->size;
	if (copy->mapped)
		return true;
	copy->image = malloc(blank->size);
	if (!copy->image)
		return false;
	memcpy(copy->image, blank->image, blank->size);
	into_file(blank);
	return true;
}

void blank_clear(struct blank *blank)
{
	if (is_in_file(blank) && is_own(blank, blank->file))
		close(blank->file);
	free(blank->image);
	*blank = (struct blank){ 0 };
}
