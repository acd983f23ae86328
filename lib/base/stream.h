/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pipes in place of files. The program says beforehand which names are streams, and the context
 * keeps their bytes, so code that opens files by name treats pipes like files.
 */
#ifndef OPK_STREAM_H
#define OPK_STREAM_H

#include "base/ctx.h"

/*
 * Whether the path is a descriptor of this process (/dev/stdin, /dev/stdout, /dev/fd/3) or a named
 * pipe.
 */
bool opk_names_stream(const char *path);
/* N of /dev/fd/N; 0, 1 or 2 of /dev/stdin and the like; -1 for other paths. */
int opk_stream_number(const char *path);

/*
 * Copies the whole stream to a temporary file; from now on opk_stream_open() of this name opens the
 * copy. OPK_EINPUT: more than `most` bytes.
 */
int opk_stream_read(struct opk_ctx *ctx, const char *path, uint64_t most);
/* A new file of this name is written to a temporary file; its commit copies it to the stream. */
int opk_stream_write(struct opk_ctx *ctx, const char *path);

/* Opens the copy of the stream of this name, or else the file, for reading. -1 with errno set. */
int opk_stream_open(const struct opk_ctx *ctx, const char *path);

/* opk_stream_find() returns NULL if no stream of this name is known. */
struct opk_stream {
	struct opk_stream *next;
	char *path;
	int fd; /* the temporary file, or -1; of an output: from its last opk_stream_create() */
	int to; /* the pipe that is written; -1: an input */
};
struct opk_stream *opk_stream_find(const struct opk_ctx *ctx, const char *path);
/* Creates the temporary file of an output; the descriptor is a copy. */
int opk_stream_create(int *fd, struct opk_ctx *ctx, struct opk_stream *stream);
/* Copies the temporary file to the pipe; false with errno set. */
bool opk_stream_send(const struct opk_stream *stream);
void opk_streams_free(struct opk_ctx *ctx);

#endif
