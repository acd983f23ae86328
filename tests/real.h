/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the tests that use NVIDIA's own libraries. */
#ifndef OPK_REAL_H
#define OPK_REAL_H

#include "testing.h"

/* The releases whose numbers the tests know. */
enum { CUPTI_12_8 = 26, CUPTI_13_0 = 130001 };

static inline uint32_t version_of(struct opk_ctx *ctx)
{
	struct opk_nvidia_info info = OPK_INIT(info);

	/* Not ck_assert: it is also called outside of tests, to decide whether to skip them. */
	if (opk_nvidia_get_info(&info, ctx))
		abort();
	return info.cupti_version;
}

#endif
