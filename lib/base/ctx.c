/* SPDX-License-Identifier: BSD-2-Clause */
/* The context: its settings, its log, and what it closes in the end. */
#include "base/ctx.h"

#include <stdarg.h>
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
	};

	opk_fill_sized(env, &found, sizeof found);
}

/* Copies `text`; NULL and "" become NULL. Returns false when out of memory. */
static bool copy_setting(const char **out, const char *text)
{
	*out = NULL;
	if (!text || !*text)
		return true;
	*out = opk_strdup(text);
	return *out != NULL;
}

static bool copy_env(struct opk_env *to, const struct opk_env *from)
{
	return copy_setting(&to->offpeak_cuda, from->offpeak_cuda)
	       && copy_setting(&to->cuda_home, from->cuda_home)
	       && copy_setting(&to->cuda_path, from->cuda_path)
	       && copy_setting(&to->virtual_env, from->virtual_env)
	       && copy_setting(&to->home, from->home) && copy_setting(&to->wheels, from->wheels)
	       && copy_setting(&to->sets, from->sets) && copy_setting(&to->tmpdir, from->tmpdir)
	       && copy_setting(&to->offpeak_libcuda, from->offpeak_libcuda);
}

static void free_env(struct opk_env *env)
{
	free((char *)env->offpeak_cuda);
	free((char *)env->cuda_home);
	free((char *)env->cuda_path);
	free((char *)env->virtual_env);
	free((char *)env->home);
	free((char *)env->wheels);
	free((char *)env->sets);
	free((char *)env->tmpdir);
	free((char *)env->offpeak_libcuda);
}

int opk_ctx_new(struct opk_ctx **out, const struct opk_ctx_options *given)
{
	OPK_OPTIONS(opk_ctx_options, options, given);
	OPK_OPTIONS(opk_env, env, options.env);
	struct opk_ctx *ctx = opk_alloc(sizeof *ctx);

	if (!ctx)
		return OPK_ENOMEM;
	ctx->log = options.log;
	ctx->log_data = options.log_data;
	ctx->force = options.force;
	ctx->timeout_s = options.timeout_s;
	ctx->progress = options.progress;
	ctx->progress_data = options.progress_data;
	if (!copy_setting(&ctx->cuda_dir, options.cuda_dir)
	    || !copy_setting(&ctx->data_dir, options.data_dir)
	    || !copy_setting(&ctx->cache_dir, options.cache_dir)
	    || !copy_setting(&ctx->libcuda, options.libcuda) || !copy_env(&ctx->env, &env)) {
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
	free_env(&ctx->env);
	free((char *)ctx->cuda_dir);
	free((char *)ctx->data_dir);
	free((char *)ctx->cache_dir);
	free((char *)ctx->libcuda);
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
