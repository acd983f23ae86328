/* SPDX-License-Identifier: BSD-2-Clause */
/* Files that appear whole or not at all. */
#ifndef OPK_FILE_H
#define OPK_FILE_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/ctx.h"
#include "base/descriptor.h"
#include "base/live_file.h"

/* Whether a file of that kind may take this name from what has it: opk_check_output(). */
typedef int opk_check_fn(struct opk_ctx *ctx, const char *path, enum opk_output output);

/*
 * A file under a temporary name beside its final one. It stays where it is in memory until it is
 * committed or discarded.
 */
struct opk_newfile {
	struct opk_newfile *next; /* in the list of unfinished files */
	struct opk_ctx *ctx;
	char *path;
	char *temporary;
	int fd;
	bool replaces;             /* a file of ours, whose mode it has */
	opk_check_fn *check;       /* asked before it takes its place; NULL: it replaces any file */
	enum opk_output output;    /* the kind that `check` is asked about */
	struct opk_stream *stream; /* that a commit copies it to; NULL: it is a file of its own */
	int code; /* the first failure: every later write, and the commit, fails with it */
	enum { NEWFILE_UNPLACED, NEWFILE_ADDED, NEWFILE_EXCHANGED, NEWFILE_PUT_OVER } placed;
	struct opk_live_file live; /* in the place of `fd`, where it has a path */
};

/* `check` is asked now, and again at the moment at which the file takes its place. */
int opk_newfile_create(struct opk_newfile *file, struct opk_ctx *ctx, const char *path,
                       opk_check_fn *check, enum opk_output output);
/* As opk_live_create() does: it has its final name, and what was written stays. */
int opk_newfile_create_live(struct opk_newfile *file, struct opk_ctx *ctx, const char *path);
/* Goes on with one that is there, opened for reading as `fd`, after its first `size` bytes. */
int opk_newfile_resume_live(struct opk_newfile *file, struct opk_ctx *ctx, const char *path, int fd,
                            uint64_t size);
/* Nobody else can read it, unless it replaces a file of ours, whose mode it has. */
int opk_newfile_make_private(struct opk_newfile *file);
/* An opk_sink_fn. */
int opk_newfile_write(void *newfile, const void *data, size_t size);
/* fsync, rename; the temporary name is gone afterwards. */
int opk_newfile_commit(struct opk_newfile *file);
/*
 * Commits all of them or none: if one can't be put in place, the files that the others replaced
 * come back. On a file system that can't exchange two names, new files stay where older ones were.
 */
int opk_newfiles_commit(struct opk_newfile *const *files, size_t count);
/* Removes what was not committed; safe to call twice, and for one that is all zero. */
void opk_newfile_discard(struct opk_newfile *file);
#define opk_autonewfile __attribute__((cleanup(opk_newfile_discard)))

/*
 * Renames a file, and replaces an older one. A file that comes to the name after it was found free
 * stays, if the file system supports that. False with errno set.
 */
bool opk_move_file(const char *from, const char *to);

/* Whether this user may put another file in its place: not in a folder like /tmp that of others. */
bool opk_can_replace(const char *path);
/* What programs with that option add to a message whose remedy is OPK_REMEDY_FORCE. */
#define OPK_GIVE_FORCE ", or give --force"
/* Whether both names are those of one existing file: the same device and inode. */
bool opk_is_same_file(const char *one, const char *other);
/* Reads a whole file, and puts a NUL after it that *size does not count; free(). */
int opk_read_file(void **data, size_t *size, struct opk_ctx *ctx, const char *path);
/* This is opk_read_file(), but nothing is read of a file of more than so many bytes: OPK_EINPUT. */
int opk_read_small_file(void **data, size_t *size, struct opk_ctx *ctx, const char *path,
                        size_t most);
/* Random bytes; glibc has getrandom() from 2.25 on. False with errno set. */
bool opk_random(void *out, size_t size);
/* Makes a folder with that mode, and those above it that are missing; false with errno set. */
bool opk_make_folder(const char *path, mode_t mode);

#endif
