/* SPDX-License-Identifier: BSD-2-Clause */
/* What was found in a file, one after the other: sound sections, and what is wrong. */
#ifndef OPK_FINDINGS_H
#define OPK_FINDINGS_H

#include "base/ctx.h"

struct opk_findings {
	struct opk_finding *items; /* `problem` is owned */
	size_t count, capacity;
};

int opk_findings_add(struct opk_findings *findings, struct opk_ctx *ctx, struct opk_finding finding,
                     const char *problem);
/* The problem of one that was sound so far; an earlier one stays. */
int opk_finding_blame(struct opk_finding *finding, struct opk_ctx *ctx, const char *problem);
void opk_findings_clear(struct opk_findings *findings);

#endif
