/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes and reads what children send, in native layout, since it never leaves the machine. */
#include "child/child.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/spool.h"

enum {
	REPORT_MS = 50,
	BUFFER = 16 << 10,
};

int64_t opk_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t opk_awake_ms(int64_t *looked)
{
	int64_t now = opk_now_ms(), passed = now - *looked;

	*looked = now;
	return passed < 2 * OPK_CHILD_TICK_MS ? passed : OPK_CHILD_TICK_MS;
}

/* ---- the child's side */

void opk_child_progress(struct opk_child *child, uint64_t done, uint64_t total)
{
	struct opk_report report = {
		.kind = REPORT_PROGRESS,
		.progress = child->before + done,
		.total = child->whole ? child->whole : total,
	};
	int64_t now = opk_now_ms();

	if (now - child->reported < REPORT_MS)
		return;
	child->reported = now;
	opk_write_all(child->reports, &report, sizeof report);
}

void opk_child_end(struct opk_child *child, int code)
{
	struct opk_report done = { .kind = REPORT_DONE, .code = code };
	opk_autobuf struct opk_buf causes = { 0 };

	if (code)
		opk_errors_put(&causes, child->ctx);
	/* When out of memory the causes are lost, but not the code. */
	done.length = causes.failed ? 0 : (uint32_t)causes.size;
	opk_write_all(child->reports, &done, sizeof done);
	opk_write_all(child->reports, causes.data, done.length);
	_exit(0);
}

void opk_put(struct opk_child *child, const void *data, size_t size)
{
	if (size && fwrite(data, size, 1, child->spool) != 1)
		opk_child_end(child, opk_spool_fail(child->ctx));
}

void opk_put_number(struct opk_child *child, uint64_t number)
{
	opk_put(child, &number, sizeof number);
}

void opk_put_bytes(struct opk_child *child, const void *data, size_t size)
{
	opk_put_number(child, size);
	opk_put(child, data, size);
}

/* ---- the parent's side */

/* A spool that all parts of a result share. */
struct opk_shared_spool {
	int fd;
	size_t users;
};

int opk_result_open(struct opk_result *result, struct opk_ctx *ctx, int fd)
{
	struct stat info;

	*result = (struct opk_result){ .spool = opk_alloc(sizeof *result->spool) };
	if (!result->spool || fstat(fd, &info)) {
		free(result->spool);
		*result = (struct opk_result){ 0 };
		close(fd);
		return opk_nomem(ctx, "a child's result");
	}
	*result->spool = (struct opk_shared_spool){ .fd = fd, .users = 1 };
	result->end = (uint64_t)info.st_size;
	return OPK_OK;
}

struct opk_result opk_result_part(const struct opk_result *result, uint64_t at, uint64_t size)
{
	struct opk_result part = { .spool = result->spool, .at = at, .code = result->code };

	if (at < result->at || at > result->end || size > result->end - at)
		part.code = OPK_EINPUT;
	else
		part.end = at + size;
	part.spool->users++;
	return part;
}

void opk_result_clear(struct opk_result *result)
{
	if (result->spool && !--result->spool->users) {
		close(result->spool->fd);
		free(result->spool);
	}
	free(result->buffer);
	*result = (struct opk_result){ 0 };
}

static void fail(struct opk_result *result, int code)
{
	if (!result->code)
		result->code = code;
}

/* Reads the next bytes into the buffer, as many as it holds. */
static bool fill(struct opk_result *result)
{
	uint64_t left = result->end - result->at;
	size_t wanted = left < BUFFER ? (size_t)left : BUFFER;

	/* Later reads have fewer bytes left, so the first size is always enough. */
	if (!result->buffer)
		result->buffer = opk_realloc(NULL, wanted);
	if (!result->buffer) {
		fail(result, OPK_ENOMEM);
		return false;
	}
	result->buffered = result->at;
	result->filled = wanted;
	return opk_pread_all(result->spool->fd, result->buffer, wanted, result->at);
}

static bool get(struct opk_result *result, void *to, size_t size)
{
	uint64_t ahead = result->at - result->buffered;

	if (result->code || size > result->end - result->at)
		return false;
	if (size > BUFFER)
		return opk_pread_all(result->spool->fd, to, size, result->at);
	if (ahead > result->filled || size > result->filled - ahead) {
		if (!fill(result))
			return false;
		ahead = 0;
	}
	memcpy(to, result->buffer + ahead, size);
	return true;
}

void opk_get(struct opk_result *result, void *to, size_t size)
{
	if (!size)
		return;
	if (get(result, to, size)) {
		result->at += size;
		return;
	}
	fail(result, OPK_EINPUT);
	memset(to, 0, size);
}

uint64_t opk_get_number(struct opk_result *result, uint64_t most)
{
	uint64_t number;

	opk_get(result, &number, sizeof number);
	opk_result_expect(result, number <= most);
	return result->code ? 0 : number;
}

void *opk_get_bytes(size_t *size, struct opk_result *result, uint64_t most)
{
	uint64_t left = result->end - result->at;
	size_t count = opk_get_number(result, most < left ? most : left);
	opk_autofree char *bytes = result->code ? NULL : opk_realloc(NULL, count + 1);

	if (size)
		*size = 0;
	if (!bytes) {
		fail(result, OPK_ENOMEM);
		return NULL;
	}
	bytes[count] = '\0';
	opk_get(result, bytes, count);
	if (result->code)
		return NULL;
	if (size)
		*size = count;
	return opk_take(bytes);
}

void opk_get_text(struct opk_strlist *list, struct opk_result *result, uint64_t most)
{
	char *text = opk_get_bytes(NULL, result, most);

	if (text && !opk_strlist_take(list, text))
		fail(result, OPK_ENOMEM);
}

void opk_result_expect(struct opk_result *result, bool sound)
{
	if (!sound)
		fail(result, OPK_EINPUT);
}

int opk_result_check(const struct opk_result *result, struct opk_ctx *ctx)
{
	if (result->code == OPK_ENOMEM)
		return opk_nomem(ctx, "a child's result");
	return result->code
	               ? opk_fail(ctx, OPK_EINPUT,
	                          "the result of a child process is damaged, as its input must be")
	               : OPK_OK;
}
