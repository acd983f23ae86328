/* SPDX-License-Identifier: BSD-2-Clause */
/* Allocations that fail on request. */
#ifndef OPK_ALLOCATION_H
#define OPK_ALLOCATION_H

#include <stdlib.h>
#include <sys/mman.h>

#include "base/mem.h"
#include "testing.h"

/* Child processes count their allocations, too. */
static inline long *until_failure(void)
{
	static long *shared;

	if (shared)
		return shared;
	shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
	              0);
	ck_assert_ptr_ne(shared, MAP_FAILED);
	return shared;
}

/* Fails one allocation and serves all others: the code must notice the failure by itself. */
static inline void *failing(void *old, size_t size)
{
	return (*until_failure())-- == 0 ? NULL : realloc(old, size);
}

static inline void fail_allocation(long n)
{
	*until_failure() = n;
	opk_set_realloc(failing);
}

static inline bool allocation_failed(void)
{
	opk_set_realloc(NULL);
	return *until_failure() < 0;
}

/* Whether the n-th allocation failed: then code must be OPK_ENOMEM, otherwise OPK_OK. */
static inline bool was_short(struct opk_ctx *ctx, long n, int code)
{
	if (!allocation_failed()) {
		ck_ok(ctx, code);
		return false;
	}
	ck_assert_msg(code == OPK_ENOMEM, "allocation %ld: %d: %s", n, code, errors_of(ctx));
	return true;
}

/* For loops over n: the n-th allocation of the call fails. False when there are fewer. */
#define is_short(ctx, n, call) (fail_allocation(n), was_short(ctx, n, call))

#endif
