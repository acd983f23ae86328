/* SPDX-License-Identifier: BSD-2-Clause */
/* What the tests against NVIDIA's own libraries share. */
#ifndef OPK_REAL_H
#define OPK_REAL_H

#include "testing.h"

/* The release whose numbers are known. */
enum { CUPTI_12_8 = 26, CUPTI_13_0 = 130001 };

static inline uint32_t version_of(struct opk_ctx *ctx)
{
	struct opk_nvidia_info info = OPK_INIT(info);

	/* Not ck_assert: a test is also left out where none runs. */
	if (opk_nvidia_get_info(&info, ctx))
		abort();
	return info.cupti_version;
}

#endif
