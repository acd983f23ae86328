/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages. */
#include "collect/shared/shared.h"

#include <stdarg.h>

#include "base/terminal.h"

int say(int code, const char *format, ...)
{
	opk_autofree char *text = NULL;
	va_list args;

	va_start(args, format);
	text = opk_vprintf(format, args);
	va_end(args);
	opk_terminal_say(stderr, "offpeak-collect: ", text ? text : "out of memory");
	return code;
}

const char *outer_cause(const struct opk_ctx *ctx)
{
	size_t count = ctx ? opk_error_count(ctx) : 0;

	return count ? opk_error_message(ctx, count - 1) : "out of memory";
}
