/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What runs in child processes: foreign bytes under limits, small jobs over all cores, and
 * how results come back.
 */
#ifndef OPK_CHILD_H
#define OPK_CHILD_H

#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/ctx.h"
#include "base/strlist.h"

/* A process of its own for code that meets foreign bytes, with limits on what it can do. */

struct opk_limits {
	uint64_t memory;  /* bytes that it may map beyond what NVIDIA's libraries take */
	uint64_t data;    /* bytes of data that it may add to what is there; 0: any */
	unsigned seconds; /* of a core's time; 0: any. After them comes SIGXCPU */
};

/*
 * Forks a child that does `work` and ends without exit handlers: they, and what stdio has buffered,
 * are the parent's. It ends with its parent, makes no core file, keeps to its limits, and writes
 * nothing on the terminal. Code that only reads bytes needs no more, so this is refused: opening
 * files for writing, making, changing and removing them, running programs, signals to others, TCP
 * connections, new privileges. What is open stays open. Kernels before 5.13, which lack Landlock,
 * refuse less. Returns -1 with errno set if there is no child; otherwise the caller has to wait for
 * it.
 */
pid_t opk_child_start(void (*work)(void *data), void *data, const struct opk_limits *limits);

/* The same limits and refusals for this process. */
void opk_child_confine(const struct opk_limits *limits);

/* What a child sends its parent: reports while it works, and a result in a temporary file. */

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

enum {
	OPK_CHILD_TICK_MS = 100, /* in which an interrupt is noticed */
	OPK_CHILD_TIMEOUT_S = 30,
};

/*
 * Since *looked, which becomes now, by who looks once a tick. A stop of this process stops its
 * children, too, and is not their silence.
 */
int64_t opk_awake_ms(int64_t *looked);

/* The error of a child that was ended after so long without progress. */
int opk_fail_silent(struct opk_ctx *ctx, unsigned seconds);

/* Runs work in child processes, so that their crash or hang is an error here. */

/*
 * A copy whose end lies before a page that can't be read: code that reads on where the bytes are
 * cut off crashes, instead of taking for data what happens to follow. 8-byte aligned; goes with
 * the child. NULL when out of memory.
 */
void *opk_child_guarded_copy(const void *data, size_t size);

typedef int opk_contained_fn(struct opk_ctx *ctx, void *data, struct opk_child *child);

struct opk_contain_options {
	unsigned timeout_s; /* without progress; 0: as the context says */
	struct opk_limits limits;
	enum opk_phase phase; /* what the context is told of; OPK_PHASE_NONE: nothing */
	uint64_t total;       /* of all children; 0: what each says, together */
	/* No foreign bytes: it may be silent for any time, and a crash is not the input's fault. */
	bool trusted;
};

/* In seconds. */
static inline unsigned opk_child_timeout(const struct opk_ctx *ctx,
                                         const struct opk_contain_options *options)
{
	return options->timeout_s ? options->timeout_s
	       : ctx->timeout_s   ? ctx->timeout_s
	                          : OPK_CHILD_TIMEOUT_S;
}

/*
 * Runs `work` in a child and waits. Its code and cause chain become those of the caller; a crash
 * or a timeout is OPK_EINPUT. On success *result, unless NULL, is what it has put, to be cleared by
 * the caller. The child must not be needed for anything but the result: what it changes in memory
 * is lost.
 */
int opk_contain(struct opk_result *result, struct opk_ctx *ctx, opk_contained_fn *work, void *data,
                const struct opk_contain_options *options);

/* Work for several children. */
struct opk_contained {
	opk_contained_fn *work;
	void *data;  /* an array with an element for each */
	size_t size; /* of an element; 0: all have the same */
	size_t count;
};

/*
 * The same in several children side by side, each with its own result; `results` may be NULL. If
 * several fail, the code and causes of the first in their order become the caller's, and those
 * after it are stopped. The first trusted one that fails, at any place, stops all others.
 */
int opk_contain_all(struct opk_result *results, struct opk_ctx *ctx,
                    const struct opk_contained *contained,
                    const struct opk_contain_options *options);

/*
 * A child that is kept between works, with what it has made for them. It is this library run as a
 * program, and has nothing of this process but what it is sent. It ends with the last context that
 * has asked it, with this process, after a minute without work, and after the first work that
 * fails.
 */

/*
 * In the child: does what the request says. `input` is a file that it may read, and open again by
 * its number. The code of a failure is all that is sent of it.
 */
typedef int opk_kept_work(struct opk_ctx *ctx, struct opk_reader *request, int input,
                          struct opk_child *child);

struct opk_kept_ask {
	/* Where the library begins as a program: it calls opk_kept_serve(). The linker knows it. */
	void (*entry)(void);
	const struct opk_buf *request;
	int input;
	const struct opk_contain_options *options; /* limits are OPK_KEPT_MOST_BYTES's */
	bool only_if_there;                        /* none is started */
};

/* What such a child may be sent at most, of images as they are unpacked. */
enum { OPK_KEPT_MOST_BYTES = 32 << 20 };

/*
 * *served: a kept child has done the work, and *result is what it has put. False where there is no
 * such child, where NVIDIA's code has crashed in it, or its work failed: the same in a child of its
 * own says why. A code: interrupted, too long without progress, or out of memory.
 */
int opk_kept_ask(bool *served, struct opk_result *result, struct opk_ctx *ctx,
                 const struct opk_kept_ask *how);
void opk_kept_serve(opk_kept_work *work) __attribute__((noreturn));

/* What fails on an image alone is the image's fault. */
static inline int opk_blame_image(int code)
{
	return code == OPK_EFAILED ? OPK_EINPUT : code;
}

/* Many small independent jobs over all cores: processes, as NVIDIA's code may not like threads. */

/*
 * Job `i`: its result is a number. Runs in a child process, which does many of them; what it
 * changes in memory is lost to the caller and to other children. A code, with its causes on `ctx`,
 * ends all.
 */
typedef int opk_worker_job(int32_t *result, struct opk_ctx *ctx, void *data, size_t i);

struct opk_workers {
	opk_worker_job *job;
	void *data;           /* of the jobs */
	size_t processes;     /* at most; 0: one a core that this process may use */
	enum opk_phase phase; /* as that of struct opk_contain_options */
};

/*
 * Fills results[0] to results[count - 1], or leaves them alone and returns a code. A failed job's
 * code and cause chain become the caller's; a child that crashes or ends by itself is OPK_EFAILED.
 * No child is left in either case.
 */
int opk_workers_run(int32_t *results, struct opk_ctx *ctx, const struct opk_workers *workers,
                    size_t count);

/* Cores that this process may use, at least one. */
size_t opk_core_count(void);
/* Threads of this process; 2 where nothing says it. */
size_t opk_thread_count(void);

#endif
