/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs work in child processes, so that their crash or hang is an error here. */
#ifndef OPK_CONTAIN_H
#define OPK_CONTAIN_H

#include "child/confine.h"
#include "child/result.h"

/*
 * A copy whose end lies before a page that can't be read: code that reads on where the bytes are
 * cut off crashes, instead of taking for data what happens to follow. 8-byte aligned; goes with
 * the child. NULL when out of memory.
 */
void *opk_child_guarded_copy(const void *data, size_t size);

typedef int opk_contained_fn(struct opk_ctx *ctx, void *data, struct opk_child *child);

struct opk_contain_options {
	unsigned timeout_s; /* without progress; 0: 30 */
	struct opk_limits limits;
	void (*progress)(void *data, uint64_t done, uint64_t total);
	void *progress_data;
	/* No foreign bytes: it may be silent for any time, and a crash is not the input's fault. */
	bool trusted;
};

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

/* What fails on an image alone is the image's fault. */
static inline int opk_blame_image(int code)
{
	return code == OPK_EFAILED ? OPK_EINPUT : code;
}

#endif
