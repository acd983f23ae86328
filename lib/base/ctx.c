/* SPDX-License-Identifier: BSD-2-Clause */
/* The context: its settings, its log, and what it closes when it is freed. */
#include "base/ctx.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/option_struct.h"
#include "base/stream.h"
#include "config.h"

const char *opk_version(void)
{
	return PACKAGE_VERSION;
}

uint32_t opk_version_number(void)
{
	return OPK_VERSION_NUMBER;
}

void opk_env_read(struct opk_env *env)
{
	const struct opk_env found = {
		.offpeak_cuda = getenv("OFFPEAK_CUDA"),
		.cuda_home = getenv("CUDA_HOME"),
		.cuda_path = getenv("CUDA_PATH"),
		.virtual_env = getenv("VIRTUAL_ENV"),
		.home = getenv("HOME"),
		.wheels = getenv("OFFPEAK_WHEELS"),
		.sets = getenv("OFFPEAK_SETS"),
		.cache = getenv("XDG_CACHE_HOME"),
		.pager = getenv("PAGER"),
		.no_color = getenv("NO_COLOR"),
		.columns = getenv("COLUMNS"),
		.tmpdir = getenv("TMPDIR"),
		.offpeak_libcuda = getenv("OFFPEAK_LIBCUDA"),
		.path = getenv("PATH"),
	};

	opk_fill_sized(env, &found, sizeof found);
}

const char **opk_ctx_setting(const struct opk_ctx *ctx, size_t i)
{
	static const size_t settings[] = {
		offsetof(struct opk_ctx, cuda_dir),
		offsetof(struct opk_ctx, data_dir),
		offsetof(struct opk_ctx, cache_dir),
		offsetof(struct opk_ctx, libcuda),
		offsetof(struct opk_ctx, env.offpeak_cuda),
		offsetof(struct opk_ctx, env.cuda_home),
		offsetof(struct opk_ctx, env.cuda_path),
		offsetof(struct opk_ctx, env.virtual_env),
		offsetof(struct opk_ctx, env.home),
		offsetof(struct opk_ctx, env.wheels),
		offsetof(struct opk_ctx, env.sets),
		offsetof(struct opk_ctx, env.tmpdir),
		offsetof(struct opk_ctx, env.offpeak_libcuda),
		offsetof(struct opk_ctx, env.path),
	};

	_Static_assert(sizeof settings / sizeof *settings == OPK_CTX_SETTINGS, "");
	return (const char **)((char *)ctx + settings[i]);
}

/* Copies the settings; NULL and "" become NULL. False when out of memory. */
static bool copy_settings(struct opk_ctx *to, const struct opk_ctx *from)
{
	for (size_t i = 0; i < OPK_CTX_SETTINGS; i++) {
		const char *text = *opk_ctx_setting(from, i), **copy = opk_ctx_setting(to, i);

		*copy = text && *text ? opk_strdup(text) : NULL;
		if (text && *text && !*copy)
			return false;
	}
	return true;
}

int opk_ctx_new(struct opk_ctx **out, const struct opk_ctx_options *given)
{
	OPK_OPTIONS(opk_ctx_options, options, given);
	OPK_OPTIONS(opk_env, env, options.env);
	struct opk_ctx *ctx = opk_alloc(sizeof *ctx);
	const struct opk_ctx said = { .cuda_dir = options.cuda_dir,
		                      .data_dir = options.data_dir,
		                      .cache_dir = options.cache_dir,
		                      .libcuda = options.libcuda,
		                      .env = env };

	if (!ctx)
		return OPK_ENOMEM;
	ctx->log = options.log;
	ctx->log_data = options.log_data;
	ctx->force = options.force;
	ctx->timeout_s = options.timeout_s;
	ctx->progress = options.progress;
	ctx->progress_data = options.progress_data;
	if (!copy_settings(ctx, &said)) {
		opk_ctx_free(ctx);
		return OPK_ENOMEM;
	}
	*out = ctx;
	return OPK_OK;
}

void opk_ctx_free(struct opk_ctx *ctx)
{
	if (!ctx)
		return;
	if (ctx->nv && ctx->nv_free)
		ctx->nv_free(ctx->nv);
	if (ctx->leave_kept)
		ctx->leave_kept();
	opk_clear_errors(ctx);
	opk_streams_free(ctx);
	for (size_t i = 0; i < OPK_CTX_SETTINGS; i++)
		free((char *)*opk_ctx_setting(ctx, i));
	free(ctx);
}

void opk_progress(struct opk_ctx *ctx, enum opk_phase phase, uint64_t done, uint64_t total)
{
	if (ctx->whole && phase != ctx->whole)
		return;
	if (ctx->progress && phase && total)
		ctx->progress(ctx->progress_data, phase, done, total);
}

void opk_ctx_interrupt(struct opk_ctx *ctx)
{
	atomic_store(&ctx->interrupted, true);
}

void opk_ctx_resume(struct opk_ctx *ctx)
{
	atomic_store(&ctx->interrupted, false);
}

bool opk_interrupted(const struct opk_ctx *ctx)
{
	return atomic_load_explicit(&ctx->interrupted, memory_order_relaxed);
}

int opk_check_interrupt(struct opk_ctx *ctx)
{
	return opk_interrupted(ctx) ? opk_fail(ctx, OPK_EFAILED, "interrupted") : OPK_OK;
}

void opk_log(struct opk_ctx *ctx, const char *format, ...)
{
	opk_autofree char *message = NULL;
	va_list args;

	if (!ctx->log)
		return;
	va_start(args, format);
	if (vasprintf(&message, format, args) < 0)
		message = NULL;
	va_end(args);
	ctx->log(ctx->log_data, message ? message : "out of memory");
}
