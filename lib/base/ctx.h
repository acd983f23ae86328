/* SPDX-License-Identifier: BSD-2-Clause */
/* The context: options, cause chain, and the slot that holds NVIDIA's libraries. */
#ifndef OPK_CTX_H
#define OPK_CTX_H

#include <stdatomic.h>

#include "base/mem.h"
#include "base/try.h"

struct opk_nv;

/* A cause chain, innermost first. */
struct opk_causes {
	struct opk_cause *items; /* their strings are owned; `general` NULL: the same as `text` */
	size_t count;
};

struct opk_ctx {
	const char *cuda_dir; /* owned, as are the texts below */
	const char *data_dir;
	const char *cache_dir;
	const char *libcuda;
	bool force;
	unsigned timeout_s; /* of a child without progress; 0: 30 */
	void (*progress)(void *data, enum opk_phase phase, uint64_t done, uint64_t total);
	void *progress_data;
	enum opk_phase whole; /* if set, progress of other phases is not reported */
	struct opk_env env;   /* owned copies */
	opk_log_fn *log;
	void *log_data;
	struct opk_causes causes;
	/* Filled by the nv adapter on first use; tests put a fake here. */
	struct opk_nv *nv;
	void (*nv_free)(struct opk_nv *nv);
	bool noted_mixed;           /* by opk_nv_note_mixed() */
	struct opk_stream *streams; /* base/stream.h */
	atomic_bool interrupted;    /* by opk_ctx_interrupt() */
	void (*leave_kept)(void);   /* set once the context has asked a kept child: child/kept.c */
};

/* Reports progress to the caller, if the context has a `progress` callback. */
void opk_progress(struct opk_ctx *ctx, enum opk_phase phase, uint64_t done, uint64_t total);
/* The i-th text setting: an option of the context, or a variable that the library reads. */
enum { OPK_CTX_SETTINGS = 14 };
const char **opk_ctx_setting(const struct opk_ctx *ctx, size_t i);

/* For loops that take long: OPK_EFAILED once the context was interrupted. */
int opk_check_interrupt(struct opk_ctx *ctx);
bool opk_interrupted(const struct opk_ctx *ctx);

/* Starts a new cause chain and returns `code`. */
int opk_fail(struct opk_ctx *ctx, int code, const char *format, ...) OPK_PRINTF(3, 4);
/* Adds to the cause chain what was being done at the failure, and returns `code`. */
int opk_add(struct opk_ctx *ctx, int code, const char *format, ...) OPK_PRINTF(3, 4);
enum { OPK_REMEDY_LAST = OPK_REMEDY_COMMON };
/* Gives the current failure this remedy; returns `code`. */
int opk_advise(struct opk_ctx *ctx, int code, enum opk_remedy remedy);
/* OPK_ENOMEM with what the memory was for. */
int opk_nomem(struct opk_ctx *ctx, const char *what);
/* A failed system call: its errno in words. */
int opk_fail_errno(struct opk_ctx *ctx, int code, const char *what, const char *path);
/* Adds a cause and takes its strings over. Its text is a part of its message. */
void opk_add_cause(struct opk_ctx *ctx, struct opk_cause cause);
void opk_cause_clear(struct opk_cause *cause);
void opk_clear_errors(struct opk_ctx *ctx);
/* If `code` is the allowed failure: clears its causes and returns OPK_OK. Else returns `code`. */
int opk_allow(struct opk_ctx *ctx, int code, int allowed);
/* Adds "tried PLACE", a cause that only names where something was looked for. */
void opk_add_tried(struct opk_ctx *ctx, int code, const char *place);
/*
 * The text at this end of the chain, for another message; "out of memory" if the chain is empty.
 * The innermost one is not of OPK_CAUSE_TRIED.
 */
const char *opk_innermost(const struct opk_ctx *ctx);
const char *opk_outermost(const struct opk_ctx *ctx);
/* Gives the innermost cause an errno, for callers who ask why; returns `code`. */
int opk_os_error(struct opk_ctx *ctx, int code, int number);

/*
 * A chain as bytes for another process: only the outermost OPK_MAX_CAUSES, with long texts cut off.
 * The sender may have run wild: opk_errors_get() returns false if the bytes are not a chain.
 */
enum { OPK_MAX_CAUSES = 1000, OPK_MAX_CAUSE = 1024, OPK_MAX_CHAIN_SIZE = 8 << 20 };
struct opk_buf;
struct opk_reader;
void opk_errors_put(struct opk_buf *out, const struct opk_ctx *ctx);
bool opk_errors_get(struct opk_ctx *ctx, struct opk_reader *in);

/*
 * For an attempt that may fail: a mark empties the cause chain and silences the log, until one of
 * the other two functions ends it.
 */
struct opk_errors_mark {
	struct opk_causes causes;
	opk_log_fn *log;
};

void opk_errors_mark(struct opk_errors_mark *mark, struct opk_ctx *ctx);
/* Restores the chain of the mark. */
void opk_errors_rewind(struct opk_ctx *ctx, struct opk_errors_mark *mark);
/* Keeps the chain since the mark and drops the one from before it. Returns `code`. */
int opk_errors_keep(struct opk_ctx *ctx, struct opk_errors_mark *mark, int code);

void opk_log(struct opk_ctx *ctx, const char *format, ...) OPK_PRINTF(2, 3);

/* Takes a piece of output, valid during the call; non-zero stops the writer with OPK_EFAILED. */
typedef int opk_sink_fn(void *data, const void *bytes, size_t size);

struct opk_sink {
	opk_sink_fn *write;
	void *data;
};

#endif
