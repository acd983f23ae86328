/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pipes in the place of files. Whoever reads or writes files by their names needs no case for them:
 * the program says beforehand which names are streams, and the context keeps their bytes.
 */
#ifndef OPK_STREAM_H
#define OPK_STREAM_H

#include "base/ctx.h"

/*
 * Whether this is a descriptor of the process itself (/dev/stdin, /dev/stdout, /dev/fd/3), or a
 * pipe that has a name.
 */
bool opk_names_stream(const char *path);
/* N of /dev/fd/N, and so of the others; -1 for all else. */
int opk_stream_number(const char *path);

/*
 * Reads all of it into a temporary file, which is what opening this name gives from now on. More
 * than `most` bytes are OPK_EINPUT.
 */
int opk_stream_read(struct opk_ctx *ctx, const char *path, uint64_t most);
/* A file that is created by this name is a temporary one, and its commit copies it here. */
int opk_stream_write(struct opk_ctx *ctx, const char *path);

/* Opens for reading: what the stream of this name has, or else the file. -1 with errno set. */
int opk_stream_open(const struct opk_ctx *ctx, const char *path);

/* NULL where no stream of this name is known. */
struct opk_stream {
	struct opk_stream *next;
	char *path;
	int fd; /* the temporary file, or -1; of an output, that of its last opk_stream_create() */
	int to; /* -1: it is read */
};
struct opk_stream *opk_stream_find(const struct opk_ctx *ctx, const char *path);
/* A file for what is to be written; the descriptor is a copy. */
int opk_stream_create(int *fd, struct opk_ctx *ctx, struct opk_stream *stream);
/* Copies all that was written; false with errno set. */
bool opk_stream_send(const struct opk_stream *stream);
void opk_streams_free(struct opk_ctx *ctx);

#endif
