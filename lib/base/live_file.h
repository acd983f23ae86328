/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A file that the library writes in another program's process. The program may close any descriptor
 * and reuse its number for another file. The live file has its final name from the start: what was
 * written stays, even after a crash.
 */
#ifndef OPK_LIVE_FILE_H
#define OPK_LIVE_FILE_H

#include <sys/types.h>

#include "base/ctx.h"

struct opk_live_file {
	struct opk_ctx *ctx;
	const char *path; /* borrowed */
	int fd;
	/* Identify the file even if its name or descriptor changes. */
	dev_t device;
	ino_t inode;
	uint64_t size;
};

/*
 * The name must be free; other users can't read the file. Before each write, the descriptor is
 * checked: if the program closed it, the file is opened again, and nothing is written to another
 * file with its number. A file that gets the number between the check and the write is not seen.
 */
int opk_live_create(struct opk_live_file *file, struct opk_ctx *ctx, const char *path);
/* Continues an existing file, open for reading as `fd`, after its first `size` bytes. */
int opk_live_resume(struct opk_live_file *file, struct opk_ctx *ctx, const char *path, int fd,
                    uint64_t size);
/* Makes sure that file->fd is that file; opens it again if not. */
int opk_live_find(struct opk_live_file *file);
int opk_live_write(struct opk_live_file *file, const void *data, size_t size);
void opk_live_close(struct opk_live_file *file);

#endif
