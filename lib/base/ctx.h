/* SPDX-License-Identifier: BSD-2-Clause */
/* The context: options, cause chain, and the slot that holds NVIDIA's libraries. */
#ifndef OPK_CTX_H
#define OPK_CTX_H

#include "offpeak.h"

struct opk_nv;

/* A cause chain, innermost first. */
struct opk_causes {
	struct opk_cause *items; /* their strings are owned; general may be NULL: as text */
	size_t count;
};

struct opk_ctx {
	const char *cuda_dir; /* owned, as data_dir */
	const char *data_dir;
	const char *cache_dir;
	struct opk_env env; /* owned copies */
	opk_log_fn *log;
	void *log_data;
	struct opk_causes causes;
	/* Filled by the nv adapter on first use; tests put a fake here. */
	struct opk_nv *nv;
	void (*nv_free)(struct opk_nv *nv);
};

/* Starts a new cause chain and returns `code`. */
int opk_fail(struct opk_ctx *ctx, int code, const char *format, ...) OPK_PRINTF(3, 4);
/* Adds what was being done when it failed, and returns `code`. */
int opk_add(struct opk_ctx *ctx, int code, const char *format, ...) OPK_PRINTF(3, 4);
/* OPK_ENOMEM with what the memory was for. */
int opk_nomem(struct opk_ctx *ctx, const char *what);
/* A failed system call: its errno in words. */
int opk_fail_errno(struct opk_ctx *ctx, int code, const char *what, const char *path);
/* Adds a cause with all that is known of it. Its strings are taken over; text is a part of message. */
void opk_add_cause(struct opk_ctx *ctx, struct opk_cause cause);
void opk_clear_errors(struct opk_ctx *ctx);
/* A failure that is allowed is none: OPK_OK, without its causes. Another code stays. */
int opk_allow(struct opk_ctx *ctx, int code, int allowed);
/* The text at an end of the chain, to be quoted in another message; "out of memory" if it is empty. */
const char *opk_innermost(const struct opk_ctx *ctx);
const char *opk_outermost(const struct opk_ctx *ctx);

/*
 * A chain on its way between processes: of too many causes the outermost, and the beginnings of
 * long texts. What is read may come from a process that ran wild: false where it has not this form.
 */
enum { OPK_MAX_CAUSES = 1000, OPK_MAX_CAUSE = 1024, OPK_MAX_CHAIN_SIZE = 8 << 20 };
struct opk_buf;
struct opk_reader;
void opk_errors_put(struct opk_buf *out, const struct opk_ctx *ctx);
bool opk_errors_get(struct opk_ctx *ctx, struct opk_reader *in);

/*
 * What is only tried may fail without a word: from a mark on, the cause chain begins empty and
 * nothing is logged. Each mark ends with one of the other two.
 */
struct opk_errors_mark {
	struct opk_causes causes;
	opk_log_fn *log;
};

void opk_errors_mark(struct opk_errors_mark *mark, struct opk_ctx *ctx);
/* The chain is again what it was at the mark. */
void opk_errors_rewind(struct opk_ctx *ctx, struct opk_errors_mark *mark);
/* The chain since the mark counts, and the one before it is gone. Returns `code`. */
int opk_errors_keep(struct opk_ctx *ctx, struct opk_errors_mark *mark, int code);

void opk_log(struct opk_ctx *ctx, const char *format, ...) OPK_PRINTF(2, 3);

#endif
