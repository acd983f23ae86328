/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by programs for scripts: one context, and an exit if a call fails. */
#ifndef OPK_PROGRAM_H
#define OPK_PROGRAM_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "offpeak.h"

static struct opk_ctx *ctx;

static inline void must(int code)
{
	if (!code)
		return;
	for (size_t i = 0; i < opk_error_count(ctx); i++)
		fprintf(stderr, "%s: %s\n", program_invocation_short_name,
		        opk_error_message(ctx, i));
	exit(code);
}

/* Makes the context, over the libraries that the environment names. */
static inline void begin_program(void)
{
	struct opk_ctx_options options = OPK_INIT(options);
	struct opk_env env = OPK_INIT(env);

	opk_env_read(&env);
	options.env = &env;
	must(opk_ctx_new(&ctx, &options));
}

/* Seconds by the given clock. */
static inline double seconds_of(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

#endif
