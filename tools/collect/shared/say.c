/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages. */
#include "collect/shared/shared.h"

#include <stdarg.h>

#include "base/signals.h"
#include "base/terminal.h"

/* Where nothing reads stderr any more, the signal must end neither the program nor a watch. */
static void write_safely(const char *text)
{
	const struct timespec none = { 0 };
	sigset_t ours, pending, before;

	sigemptyset(&ours);
	sigaddset(&ours, SIGPIPE);
	sigpending(&pending);
	pthread_sigmask(SIG_BLOCK, &ours, &before);
	opk_terminal_say(stderr, "offpeak-collect: ", text);
	/* The program may have one that waits. */
	if (!sigismember(&pending, SIGPIPE))
		sigtimedwait(&ours, NULL, &none);
	opk_restore_signals(&before);
}

int say(int code, const char *format, ...)
{
	opk_autofree char *text = NULL;
	va_list args;

	va_start(args, format);
	text = opk_vprintf(format, args);
	va_end(args);
	write_safely(text ? text : "out of memory");
	return code;
}

const char *outer_cause(const struct opk_ctx *ctx)
{
	size_t count = ctx ? opk_error_count(ctx) : 0;

	return count ? opk_error_message(ctx, count - 1) : "out of memory";
}
