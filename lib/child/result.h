/* SPDX-License-Identifier: BSD-2-Clause */
/* What a child sends its parent: reports while it works, and a result in a temporary file. */
#ifndef OPK_RESULT_H
#define OPK_RESULT_H

#include <stdio.h>

#include "base/ctx.h"
#include "base/strlist.h"

/* A file without a name in the folder that TMPDIR names, else in /tmp; it is gone once closed. */
int opk_spool_new(int *fd, struct opk_ctx *ctx);
/* Reports errno: in which folder it can't be written, why, and what helps. */
int opk_spool_fail(struct opk_ctx *ctx);

/* ---- the child's side */

/* What the work sees of its process. */
struct opk_child {
	struct opk_ctx *ctx;
	FILE *spool;      /* where the result goes; NULL: the parent wants none */
	int reports;      /* progress and the outcome go to the parent here */
	int64_t reported; /* when progress was, ms */
	/* Where works follow each other: what is done before this one, and what there is. */
	uint64_t before, whole;
};

/* What goes through the pipe. After REPORT_DONE come `length` bytes of opk_errors_put(). */
struct opk_report {
	enum { REPORT_PROGRESS = 1, REPORT_DONE } kind;
	int code;
	uint32_t length;
	uint64_t progress, total;
};

/* Reports that the work goes on, now and then; long silence ends the child. */
void opk_child_progress(struct opk_child *child, uint64_t done, uint64_t total);
/* Reports the code, and the context's causes with it, and ends the process. */
void opk_child_end(struct opk_child *child, int code) __attribute__((noreturn));

/* Appends to the result. If it can't be written, the child ends, and its parent learns why. */
void opk_put(struct opk_child *child, const void *data, size_t size);
void opk_put_number(struct opk_child *child, uint64_t number);
/* With their size in front. */
void opk_put_bytes(struct opk_child *child, const void *data, size_t size);

/* ---- the parent's side */

/*
 * A result, or a part of one. A child that met damaged bytes may have written anything. A read past
 * the end, a number that is too large and what makes no sense to the caller are a failure that
 * sticks: after it all reads give 0 or NULL.
 */
struct opk_result {
	struct opk_shared_spool *spool;
	uint64_t at, end;
	uint8_t *buffer;
	uint64_t buffered; /* which byte of the spool is the buffer's first */
	size_t filled;
	int code;
};

/* Takes the file over, also on failure. */
int opk_result_open(struct opk_result *result, struct opk_ctx *ctx, int fd);
/* `size` bytes from byte `at` of the file on, not yet read; to be cleared on its own. */
struct opk_result opk_result_part(const struct opk_result *result, uint64_t at, uint64_t size);
void opk_result_clear(struct opk_result *result);
#define opk_autosent __attribute__((cleanup(opk_result_clear)))

void opk_get(struct opk_result *result, void *to, size_t size);
uint64_t opk_get_number(struct opk_result *result, uint64_t most);
/* What opk_put_bytes() wrote, and a NUL; free(). `size` may be NULL. */
void *opk_get_bytes(size_t *size, struct opk_result *result, uint64_t most);
/* Appends them as text. */
void opk_get_text(struct opk_strlist *list, struct opk_result *result, uint64_t most);
/* What was read makes no sense, unless `sound`. */
void opk_result_expect(struct opk_result *result, bool sound);
/* The error, if there was one. */
int opk_result_check(const struct opk_result *result, struct opk_ctx *ctx);

/* Milliseconds of a clock that only goes forward. */
int64_t opk_now_ms(void);

#endif
