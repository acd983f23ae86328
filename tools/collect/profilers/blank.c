/* SPDX-License-Identifier: BSD-2-Clause */
/* Images without ranges, as copies of the first one, which takes long to make. */
#include "collect/profilers/profilers.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A file in memory with these bytes; -1: this system has no such files, or no room. */
static int file_of(const uint8_t *bytes, size_t size)
{
	int file = -1;
	ssize_t wrote = 1;

#ifdef SYS_memfd_create
	file = (int)syscall(SYS_memfd_create, "offpeak", 1u /* MFD_CLOEXEC */);
#endif
	for (size_t done = 0; file >= 0 && done < size && wrote > 0; done += (size_t)wrote)
		wrote = write(file, bytes + done, size - done);
	if (file >= 0 && wrote <= 0) {
		close(file);
		return -1;
	}
	return file;
}

static bool make(struct blank *blank, const struct profiler *profiler)
{
	blank->image = image_new(profiler, &blank->size);
	blank->file = blank->image ? file_of(blank->image, blank->size) : -1;
	if (blank->file >= 0)
		free(opk_take(blank->image));
	blank->made = blank->image || blank->file >= 0;
	return blank->made;
}

bool blank_copy(struct segment *copy, struct blank *blank, const struct profiler *profiler)
{
	void *image = NULL;

	if (!blank->made && !make(blank, profiler))
		return false;
	copy->mapped = blank->file >= 0;
	if (copy->mapped)
		image = mmap(NULL, blank->size, PROT_READ | PROT_WRITE, MAP_PRIVATE, blank->file,
		             0);
	else
		image = malloc(blank->size);
	if (!image || image == MAP_FAILED)
		return false;
	if (!copy->mapped)
		memcpy(image, blank->image, blank->size);
	copy->image = image;
	copy->image_size = blank->size;
	return true;
}

void blank_clear(struct blank *blank)
{
	if (blank->made && blank->file >= 0)
		close(blank->file);
	free(blank->image);
	*blank = (struct blank){ 0 };
}
