/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A file that grows inside somebody else's program, which may close any descriptor and give its
 * number to a file of its own. It has its final name from the start: what was written stays,
 * whatever happens next.
 */
#ifndef OPK_LIVE_FILE_H
#define OPK_LIVE_FILE_H

#include <sys/types.h>

#include "base/ctx.h"

struct opk_live_file {
	struct opk_ctx *ctx;
	const char *path; /* borrowed */
	int fd;
	/* The file itself, whatever becomes of name and descriptor. */
	dev_t device;
	ino_t inode;
	uint64_t size;
};

/*
 * There must be nothing of that name; others can't read the file. If its descriptor is closed under
 * it, it is opened again, and nothing is written to another file that has the number by then. That
 * is looked at before each write: a file that gets the number right between the two is not seen.
 */
int opk_live_create(struct opk_live_file *file, struct opk_ctx *ctx, const char *path);
/* Goes on with one that is there, opened for reading as `fd`, after its first `size` bytes. */
int opk_live_resume(struct opk_live_file *file, struct opk_ctx *ctx, const char *path, int fd,
                    uint64_t size);
/* Sees to it that file->fd is that file. */
int opk_live_find(struct opk_live_file *file);
int opk_live_write(struct opk_live_file *file, const void *data, size_t size);
void opk_live_close(struct opk_live_file *file);

#endif
