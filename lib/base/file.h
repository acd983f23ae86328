/* SPDX-License-Identifier: BSD-2-Clause */
/* Files that appear whole or not at all. */
#ifndef OPK_FILE_H
#define OPK_FILE_H

#include "base/ctx.h"

/* A file under a temporary name beside its final one. It stays where it is in memory until it is discarded. */
struct opk_newfile {
	struct opk_newfile *next; /* of the unfinished ones */
	char *path;
	char *temporary;
	int fd;
	enum { NEWFILE_UNPLACED, NEWFILE_ADDED, NEWFILE_EXCHANGED, NEWFILE_PUT_OVER } placed;
};

int opk_newfile_create(struct opk_newfile *file, struct opk_ctx *ctx, const char *path);
/* Under its final name from the start: what was written stays, whatever happens next. */
int opk_newfile_create_live(struct opk_newfile *file, struct opk_ctx *ctx, const char *path);
int opk_newfile_write(struct opk_newfile *file, struct opk_ctx *ctx, const void *data, size_t size);
/* fsync, rename; the temporary name is gone afterwards. */
int opk_newfile_commit(struct opk_newfile *file, struct opk_ctx *ctx);
/*
 * All of them or none: where one can't be put in place, the files that the others have replaced are
 * there again. On a file system that can't exchange two names, new ones stay where older ones were.
 */
int opk_newfiles_commit(struct opk_newfile *const *files, size_t count, struct opk_ctx *ctx);
/* Removes what was not committed; safe to call twice. */
void opk_newfile_discard(struct opk_newfile *file);

/* All of `size` bytes at `offset`, or false with errno set (0 at the end of the file). */
bool opk_pread_all(int fd, void *data, size_t size, uint64_t offset);
bool opk_write_all(int fd, const void *data, size_t size);

#endif
