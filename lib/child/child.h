/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Work in child processes: untrusted bytes under limits, and small jobs on all cores. Children send
 * their results to the parent.
 */
#ifndef OPK_CHILD_H
#define OPK_CHILD_H

#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/ctx.h"
#include "base/strlist.h"

/* A separate process for code that reads untrusted bytes, with limits on what it can do. */

struct opk_limits {
	uint64_t memory;     /* bytes that it may map, besides those of NVIDIA's libraries */
	uint64_t data;       /* bytes of data that it may add to those of its parent; 0: no limit */
	unsigned seconds;    /* CPU time, after which SIGXCPU ends it; 0: no limit */
	const char *program; /* that it may execute, with its loader: an absolute path; NULL */
};

/*
 * Forks a child that does `work` and ends without exit handlers: they and the buffers of stdio are
 * the parent's. The child ends with its parent, writes no core file and nothing on the terminal,
 * and has limits. Code that only reads bytes needs little, so the child can't open files for
 * writing, create, change or remove files, run programs, signal other processes, make TCP
 * connections, or gain privileges. Open files stay open. Kernels before 5.13 lack Landlock and
 * refuse less. Returns -1 with errno set if no child was started; otherwise the caller must wait
 * for it.
 */
pid_t opk_child_start(void (*work)(void *data), void *data, const struct opk_limits *limits);

/* Confines this process in the same way. */
void opk_child_confine(const struct opk_limits *limits);

/* A child sends its parent reports while it works, and a result in a temporary file. */

/* ---- the child's side */

/* A child process, as its work sees it. */
struct opk_child {
	struct opk_ctx *ctx;
	FILE *spool;      /* the result's file; NULL: the parent wants no result */
	int reports;      /* the pipe for progress and the outcome */
	int64_t reported; /* time of the last progress report, ms */
	/* For one of several works in sequence: progress before it, and the total of all. */
	uint64_t before, whole;
};

/* A message in the pipe. After REPORT_DONE follow `length` bytes of opk_errors_put(). */
struct opk_report {
	enum { REPORT_PROGRESS = 1, REPORT_DONE } kind;
	int code;
	uint32_t length;
	uint64_t progress, total;
};

/* Reports progress, at most once in a while. The parent ends a child that is silent for long. */
void opk_child_progress(struct opk_child *child, uint64_t done, uint64_t total);
/*
 * Runs the program of the limits, and adds what it prints to `out`. It finds `input` in the file
 * OPK_CHILD_INPUT. `arguments` begins with its path and ends with NULL. OPK_EINPUT: it failed, or
 * printed more than `most` bytes.
 */
#define OPK_CHILD_INPUT "/proc/self/fd/3"
int opk_child_run(struct opk_buf *out, struct opk_ctx *ctx, char *const *arguments,
                  const struct opk_buf *input, size_t most);
/* Reports the code and the context's causes, and ends the process. */
void opk_child_end(struct opk_child *child, int code) __attribute__((noreturn));

/* Appends to the result. If writing fails, reports why and ends the child. */
void opk_put(struct opk_child *child, const void *data, size_t size);
void opk_put_number(struct opk_child *child, uint64_t number);
/* Writes the size before the bytes. */
void opk_put_bytes(struct opk_child *child, const void *data, size_t size);

/* ---- the parent's side */

/*
 * A result, or a part of one. A child that read damaged bytes may have written anything. A failure
 * sticks, and all later reads return 0 or NULL: a read past the end, a number that is too large, or
 * content that the caller rejects.
 */
struct opk_result {
	struct opk_shared_spool *spool;
	uint64_t at, end;
	uint8_t *buffer;
	uint64_t buffered; /* offset of the buffer's first byte in the spool */
	size_t filled;
	int code;
};

/* Takes the file over, even on failure. */
int opk_result_open(struct opk_result *result, struct opk_ctx *ctx, int fd);
/* A new reader of `size` bytes of the file from byte `at` on; clear it separately. */
struct opk_result opk_result_part(const struct opk_result *result, uint64_t at, uint64_t size);
void opk_result_clear(struct opk_result *result);
#define opk_autosent __attribute__((cleanup(opk_result_clear)))

void opk_get(struct opk_result *result, void *to, size_t size);
uint64_t opk_get_number(struct opk_result *result, uint64_t most);
/* Reads the bytes of one opk_put_bytes() and adds a NUL; free(). `size` may be NULL. */
void *opk_get_bytes(size_t *size, struct opk_result *result, uint64_t most);
/* Appends such bytes to the list as text. */
void opk_get_text(struct opk_strlist *list, struct opk_result *result, uint64_t most);
/* The result fails unless `sound`. */
void opk_result_expect(struct opk_result *result, bool sound);
/* Reports the failure, if there was one. */
int opk_result_check(const struct opk_result *result, struct opk_ctx *ctx);

/* Milliseconds of a monotonic clock. */
int64_t opk_now_ms(void);

enum {
	OPK_CHILD_TICK_MS = 100, /* interval of checks for an interrupt */
	OPK_CHILD_TIMEOUT_S = 30,
};

/*
 * Milliseconds since *looked, which becomes now, for callers that look once a tick. Time during
 * which this process was stopped does not count: its children were stopped, too.
 */
int64_t opk_awake_ms(int64_t *looked);

/* The error for a child that was ended after `seconds` without progress. */
int opk_fail_silent(struct opk_ctx *ctx, unsigned seconds);

/* Runs work in child processes, so that a crash or hang becomes an error in the parent. */

/*
 * A copy that ends right before an unreadable page: code that reads past the end of cut off bytes
 * crashes instead of using the memory after them. 8-byte aligned; never freed, as the child ends.
 * NULL when out of memory.
 */
void *opk_child_guarded_copy(const void *data, size_t size);

typedef int opk_contained_fn(struct opk_ctx *ctx, void *data, struct opk_child *child);

struct opk_contain_options {
	unsigned timeout_s; /* longest time without progress; 0: the context's timeout */
	struct opk_limits limits;
	enum opk_phase phase; /* the phase whose progress is reported; OPK_PHASE_NONE: none is */
	uint64_t total;       /* progress total of all children; 0: the sum of their reports */
	/* No untrusted bytes: there is no timeout, and a crash is not the input's fault. */
	bool trusted;
};

/* The timeout in seconds. */
static inline unsigned opk_child_timeout(const struct opk_ctx *ctx,
                                         const struct opk_contain_options *options)
{
	return options->timeout_s ? options->timeout_s
	       : ctx->timeout_s   ? ctx->timeout_s
	                          : OPK_CHILD_TIMEOUT_S;
}

/*
 * Runs `work` in a child and waits. The caller gets its code and cause chain; a crash or a timeout
 * is OPK_EINPUT. On success *result, unless NULL, is the child's result, which the caller clears.
 * The work must have no other effect: what it changes in memory is lost.
 */
int opk_contain(struct opk_result *result, struct opk_ctx *ctx, opk_contained_fn *work, void *data,
                const struct opk_contain_options *options);

/* Work for several children. */
struct opk_contained {
	opk_contained_fn *work;
	void *data;  /* an array with an element for each child */
	size_t size; /* of an element; 0: all children get the same `data` */
	size_t count;
};

/*
 * The same in several children in parallel, each with its own result; `results` may be NULL. If
 * several fail, the caller gets the code and causes of the first in array order, and the children
 * after it are stopped. With trusted children, the first one that fails stops all others.
 */
int opk_contain_all(struct opk_result *results, struct opk_ctx *ctx,
                    const struct opk_contained *contained,
                    const struct opk_contain_options *options);

/*
 * A kept child: it stays between works, and so do the objects that it made for them. It is this
 * library run as a program, and has only what this process sends it. It ends when the last context
 * that has asked it is freed, when this process ends, after a minute without work, and after the
 * first work that fails.
 */

/*
 * Runs in the child and serves a request. `input` is a file that it may read, and open again by its
 * number. Only the code of a failure is sent back, without causes.
 */
typedef int opk_kept_work(struct opk_ctx *ctx, struct opk_reader *request, int input,
                          struct opk_child *child);

struct opk_kept_ask {
	/* The library's ELF entry point as a program, which calls opk_kept_serve(). */
	void (*entry)(void);
	const struct opk_buf *request;
	int input;
	const struct opk_contain_options *options; /* limits that suit OPK_KEPT_MOST_BYTES */
	bool only_if_there;                        /* do not start a child */
};

/* The most bytes of unpacked images that callers may send to a kept child. */
enum { OPK_KEPT_MOST_BYTES = 32 << 20 };

/*
 * *served: a kept child has done the work, and *result is its result. False if there is no such
 * child, NVIDIA's code crashed in it, or its work failed: repeat the work in a new child to learn
 * why. A failure code: interrupted, too long without progress, or out of memory.
 */
int opk_kept_ask(bool *served, struct opk_result *result, struct opk_ctx *ctx,
                 const struct opk_kept_ask *how);
void opk_kept_serve(opk_kept_work *work) __attribute__((noreturn));

/* A failure on a single image is the image's fault. */
static inline int opk_blame_image(int code)
{
	return code == OPK_EFAILED ? OPK_EINPUT : code;
}

/* Many small independent jobs on all cores, in processes: NVIDIA's code may not be thread-safe. */

/*
 * Does job `i`, whose result is a number. Runs in a child process, which does many jobs; the caller
 * and other children don't see what it changes in memory. A failure code, with its causes on `ctx`,
 * ends all jobs.
 */
typedef int opk_worker_job(int32_t *result, struct opk_ctx *ctx, void *data, size_t i);

struct opk_workers {
	opk_worker_job *job;
	void *data;           /* of the jobs */
	size_t processes;     /* at most; 0: one for each core that this process may use */
	enum opk_phase phase; /* as in struct opk_contain_options */
};

/*
 * Fills results[0] to results[count - 1]; on failure leaves them unchanged and returns a code. The
 * caller gets a failed job's code and cause chain; a child that crashes or exits is OPK_EFAILED.
 * All children have ended when it returns.
 */
int opk_workers_run(int32_t *results, struct opk_ctx *ctx, const struct opk_workers *workers,
                    size_t count);

/* Cores that this process may use, at least one. */
size_t opk_core_count(void);
/* Threads of this process; 2 if not known. */
size_t opk_thread_count(void);

#endif
