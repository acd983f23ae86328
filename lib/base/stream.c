/* SPDX-License-Identifier: BSD-2-Clause */
/* Pipes: keeps their input in temporary files, and writes output to them once it is complete. */
#include "base/stream.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/descriptor.h"
#include "base/mem.h"
#include "base/spool.h"

enum { CHUNK = 64 << 10 };

/* ---- names */

int opk_stream_number(const char *path)
{
	static const char *const standard[] = { "/dev/stdin", "/dev/stdout", "/dev/stderr" };
	static const char *const folders[] = { "/dev/fd/", "/proc/self/fd/" };

	for (size_t i = 0; i < 3; i++)
		if (!strcmp(path, standard[i]))
			return (int)i;
	for (size_t i = 0; i < 2; i++) {
		const char *number = path + strlen(folders[i]);

		if (!strncmp(path, folders[i], strlen(folders[i]))
		    && isdigit((unsigned char)*number) && strlen(number) < 7
		    && strspn(number, "0123456789") == strlen(number))
			return atoi(number);
	}
	return -1;
}

bool opk_names_stream(const char *path)
{
	struct stat info;

	return opk_stream_number(path) >= 0 || (!stat(path, &info) && S_ISFIFO(info.st_mode));
}

/* ---- the list */

struct opk_stream *opk_stream_find(const struct opk_ctx *ctx, const char *path)
{
	struct opk_stream *stream = ctx ? ctx->streams : NULL;

	while (stream && strcmp(stream->path, path))
		stream = stream->next;
	return stream;
}

static void free_one(struct opk_stream *stream)
{
	if (stream->fd >= 0)
		close(stream->fd);
	if (stream->to >= 0)
		close(stream->to);
	free(stream->path);
	free(stream);
}

void opk_streams_free(struct opk_ctx *ctx)
{
	while (ctx->streams) {
		struct opk_stream *next = ctx->streams->next;

		free_one(ctx->streams);
		ctx->streams = next;
	}
}

static struct opk_stream *add(struct opk_ctx *ctx, const char *path)
{
	struct opk_stream *stream = opk_alloc(sizeof *stream);

	if (!stream)
		return NULL;
	*stream = (struct opk_stream){ .next = ctx->streams, .fd = -1, .to = -1 };
	stream->path = opk_strdup(path);
	if (!stream->path) {
		free(stream);
		return NULL;
	}
	ctx->streams = stream;
	return stream;
}

/* Opening a named pipe waits for its other end, as in any program. */
static int open_end(const char *path, int flags)
{
	int number = opk_stream_number(path);

	if (number >= 0)
		return fcntl(number, F_DUPFD_CLOEXEC, 3);
	return opk_beyond_standard(open(path, flags | O_CLOEXEC));
}

/* ---- reading */

/* A regular file at its beginning, as from a shell's "<", needs no copy. */
static bool is_whole_file(int fd)
{
	struct stat info;

	return !fstat(fd, &info) && S_ISREG(info.st_mode) && !lseek(fd, 0, SEEK_CUR);
}

static int copy(int to, struct opk_ctx *ctx, int from, const char *path, uint64_t most)
{
	opk_autofree char *chunk = opk_realloc(NULL, CHUNK);

	if (!chunk)
		return opk_nomem(ctx, "a pipe");
	for (uint64_t total = 0; total <= most;) {
		ssize_t got = read(from, chunk, CHUNK);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return opk_fail_errno(ctx, OPK_EINPUT, "can't read", path);
		if (!got)
			return OPK_OK;
		if (!opk_write_all(to, chunk, (size_t)got))
			return opk_spool_fail(ctx);
		total += (uint64_t)got;
	}
	return opk_fail(ctx, OPK_EINPUT, "%s: more than %ju MiB, and no more is read from a pipe",
	                path, (uintmax_t)(most >> 20));
}

static int keep(struct opk_stream *stream, struct opk_ctx *ctx, int from, uint64_t most)
{
	if (is_whole_file(from)) {
		stream->fd = fcntl(from, F_DUPFD_CLOEXEC, 3);
		return stream->fd < 0 ? opk_spool_fail(ctx) : OPK_OK;
	}
	TRY(opk_spool_new(&stream->fd, ctx));
	return copy(stream->fd, ctx, from, stream->path, most);
}

int opk_stream_read(struct opk_ctx *ctx, const char *path, uint64_t most)
{
	opk_autoclose int from = -1;
	struct opk_stream *stream;

	if (opk_stream_find(ctx, path))
		return OPK_OK;
	from = open_end(path, O_RDONLY);
	if (from < 0)
		return opk_fail_errno(ctx, OPK_EINPUT, "can't open", path);
	stream = add(ctx, path);
	return stream ? keep(stream, ctx, from, most) : opk_nomem(ctx, "a pipe");
}

int opk_stream_open(const struct opk_ctx *ctx, const char *path)
{
	const struct opk_stream *stream = opk_stream_find(ctx, path);

	if (stream)
		return fcntl(stream->fd, F_DUPFD_CLOEXEC, 3);
	/* Without O_NONBLOCK, opening a pipe would wait before the caller can refuse it. */
	return opk_beyond_standard(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
}

/* ---- writing */

int opk_stream_write(struct opk_ctx *ctx, const char *path)
{
	struct opk_stream *stream;

	if (opk_stream_find(ctx, path))
		return OPK_OK;
	stream = add(ctx, path);
	if (!stream)
		return opk_nomem(ctx, "a pipe");
	stream->to = open_end(path, O_WRONLY);
	return stream->to < 0 ? opk_fail_errno(ctx, OPK_EFAILED, "can't open", path) : OPK_OK;
}

int opk_stream_create(int *fd, struct opk_ctx *ctx, struct opk_stream *stream)
{
	int spool;

	*fd = -1;
	TRY(opk_spool_new(&spool, ctx));
	*fd = fcntl(spool, F_DUPFD_CLOEXEC, 3);
	if (stream->fd >= 0)
		close(stream->fd);
	stream->fd = spool;
	return *fd < 0 ? opk_spool_fail(ctx) : OPK_OK;
}

bool opk_stream_send(const struct opk_stream *stream)
{
	opk_autofree char *chunk = opk_realloc(NULL, CHUNK);
	off_t size = lseek(stream->fd, 0, SEEK_END);

	for (off_t at = 0; chunk && at < size;) {
		size_t part = size - at < CHUNK ? (size_t)(size - at) : CHUNK;

		if (!opk_pread_all(stream->fd, chunk, part, (uint64_t)at)
		    || !opk_write_all(stream->to, chunk, part))
			return false;
		at += (off_t)part;
	}
	return chunk && size >= 0;
}
