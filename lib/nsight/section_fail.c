/* SPDX-License-Identifier: BSD-2-Clause */
/* Errors in files that are imported: one ends the import. */
#include "nsight/section_fail.h"

#include <stdarg.h>

int opk_fail_at(struct opk_ctx *ctx, const struct opk_place *place, const char *format, ...)
{
	opk_autoproblems struct opk_problems problems = { 0 };
	char message[512];
	va_list args;

	va_start(args, format);
	vsnprintf(message, sizeof message, format, args);
	va_end(args);
	opk_problems_add(&problems, place, "%s", message);
	return opk_problems_fail(ctx, &problems, OPK_EINPUT, "");
}
