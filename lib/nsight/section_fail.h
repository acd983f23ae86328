/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef OPK_SECTION_FAIL_H
#define OPK_SECTION_FAIL_H

#include "base/problems.h"

/* OPK_EINPUT, with the place, its line and a caret, as metric sets have them. */
int opk_fail_at(struct opk_ctx *ctx, const struct opk_place *place, const char *format, ...)
	OPK_PRINTF(3, 4);

#endif
