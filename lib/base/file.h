/* SPDX-License-Identifier: BSD-2-Clause */
/* Files that appear whole or not at all. */
#ifndef OPK_FILE_H
#define OPK_FILE_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/ctx.h"
#include "base/descriptor.h"
#include "base/live_file.h"

/* Whether a file of that kind may replace what has this name: opk_check_output(). */
typedef int opk_check_fn(struct opk_ctx *ctx, const char *path, enum opk_output output);

/*
 * A file under a temporary name beside its final one. The struct must not move in memory until the
 * file is committed or discarded.
 */
struct opk_newfile {
	struct opk_newfile *next; /* in the list of unfinished files */
	struct opk_ctx *ctx;
	char *path;
	char *temporary;
	int fd;
	bool replaces;             /* this user's own older file, whose mode it gets */
	opk_check_fn *check;       /* asked before the file is put in place; NULL: replaces all */
	enum opk_output output;    /* the kind that `check` is asked about */
	struct opk_stream *stream; /* a commit copies the file here; NULL: not a stream */
	int code; /* the first failure: each later write and the commit fail with it */
	enum { NEWFILE_UNPLACED, NEWFILE_ADDED, NEWFILE_EXCHANGED, NEWFILE_PUT_OVER } placed;
	struct opk_live_file live; /* used instead of `fd` if it has a path */
};

/* Asks `check` now, and again right before the file takes its place. */
int opk_newfile_create(struct opk_newfile *file, struct opk_ctx *ctx, const char *path,
                       opk_check_fn *check, enum opk_output output);
/* Like opk_live_create(): the file has its final name at once, and what was written stays. */
int opk_newfile_create_live(struct opk_newfile *file, struct opk_ctx *ctx, const char *path);
/* Continues an existing file, open for reading as `fd`, after its first `size` bytes. */
int opk_newfile_resume_live(struct opk_newfile *file, struct opk_ctx *ctx, const char *path, int fd,
                            uint64_t size);
/* Denies access to other users, unless the file replaces this user's own and has its mode. */
int opk_newfile_make_private(struct opk_newfile *file);
/* An opk_sink_fn. */
int opk_newfile_write(void *newfile, const void *data, size_t size);
/* Calls fsync() and renames the file; the temporary name is gone afterwards. */
int opk_newfile_commit(struct opk_newfile *file);
/*
 * Commits all files or none: if one can't be put in place, the files that the others replaced come
 * back. Where the file system can't exchange names, new files that replaced older ones stay.
 */
int opk_newfiles_commit(struct opk_newfile *const *files, size_t count);
/* Removes an uncommitted file; safe to call twice, and for a struct that is all zero. */
void opk_newfile_discard(struct opk_newfile *file);
#define opk_autonewfile __attribute__((cleanup(opk_newfile_discard)))

/*
 * Renames a file, and replaces an older one. If the name was free, a file that gets it meanwhile
 * stays, if the file system supports that. False with errno set.
 */
bool opk_move_file(const char *from, const char *to);
/* Renames a file unless there is one with that name: then false, and errno is EEXIST. */
bool opk_move_new_file(const char *from, const char *to);

/* Whether this user may replace the file: not another user's file in a folder like /tmp. */
bool opk_can_replace(const char *path);
/* Programs with that option add this to a message whose remedy is OPK_REMEDY_FORCE. */
#define OPK_GIVE_FORCE ", or give --force"
/* Whether both names are of one existing file: the same device and inode. */
bool opk_is_same_file(const char *one, const char *other);
/* Reads a whole file, and adds a NUL that *size does not count; free(). */
int opk_read_file(void **data, size_t *size, struct opk_ctx *ctx, const char *path);
/* Like opk_read_file(); OPK_EINPUT: the file has more than `most` bytes. */
int opk_read_small_file(void **data, size_t *size, struct opk_ctx *ctx, const char *path,
                        size_t most);
/* Random bytes; glibc has getrandom() from 2.25 on. False with errno set. */
bool opk_random(void *out, size_t size);
/* Makes a folder with that mode, and missing parent folders; false with errno set. */
bool opk_make_folder(const char *path, mode_t mode);

#endif
