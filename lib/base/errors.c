/* SPDX-License-Identifier: BSD-2-Clause */
/* Cause chains of contexts: adds causes, sets a chain aside, shows it, sends it to a process. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/ctx.h"

void opk_cause_clear(struct opk_cause *cause)
{
	if (cause->general != cause->text)
		free((char *)cause->general);
	free((char *)cause->file);
	free((char *)cause->message);
	free((char *)cause->excerpt);
	free((char *)cause->caret);
}

static void free_chain(struct opk_causes *causes)
{
	for (size_t i = 0; i < causes->count; i++)
		opk_cause_clear(&causes->items[i]);
	free(causes->items);
	*causes = (struct opk_causes){ 0 };
}

void opk_clear_errors(struct opk_ctx *ctx)
{
	free_chain(&ctx->causes);
}

int opk_allow(struct opk_ctx *ctx, int code, int allowed)
{
	if (code != allowed)
		return code;
	opk_clear_errors(ctx);
	return OPK_OK;
}

void opk_errors_mark(struct opk_errors_mark *mark, struct opk_ctx *ctx)
{
	*mark = (struct opk_errors_mark){ ctx->causes, ctx->log };
	ctx->causes = (struct opk_causes){ 0 };
	ctx->log = NULL;
}

void opk_errors_rewind(struct opk_ctx *ctx, struct opk_errors_mark *mark)
{
	free_chain(&ctx->causes);
	ctx->causes = mark->causes;
	ctx->log = mark->log;
}

int opk_errors_keep(struct opk_ctx *ctx, struct opk_errors_mark *mark, int code)
{
	free_chain(&mark->causes);
	ctx->log = mark->log;
	return code;
}

/* ---- adding */

/* When out of memory, the cause is lost; the code still says what happened. */
void opk_add_cause(struct opk_ctx *ctx, struct opk_cause cause)
{
	struct opk_causes *causes = &ctx->causes;
	struct opk_cause *grown = cause.message ? realloc(causes->items,
	                                                  (causes->count + 1) * sizeof *grown)
	                                        : NULL;

	if (!cause.general)
		cause.general = cause.text;
	if (!grown) {
		opk_cause_clear(&cause);
		return;
	}
	causes->items = grown;
	causes->items[causes->count++] = cause;
}

/* Whether there is more than where something was looked for. */
static bool has_error(const struct opk_ctx *ctx)
{
	for (size_t i = 0; i < ctx->causes.count; i++)
		if (ctx->causes.items[i].kind != OPK_CAUSE_TRIED)
			return true;
	return false;
}

static void add(struct opk_ctx *ctx, int code, const char *format, va_list args)
{
	enum opk_cause_kind kind = has_error(ctx) ? OPK_CAUSE_WHILE : OPK_CAUSE_ERROR;
	char *message;

	if (vasprintf(&message, format, args) >= 0)
		opk_add_cause(ctx, (struct opk_cause){ .code = code,
		                                       .kind = kind,
		                                       .text = message,
		                                       .message = message });
}

int opk_fail(struct opk_ctx *ctx, int code, const char *format, ...)
{
	va_list args;

	opk_clear_errors(ctx);
	va_start(args, format);
	add(ctx, code, format, args);
	va_end(args);
	return code;
}

int opk_add(struct opk_ctx *ctx, int code, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add(ctx, code, format, args);
	va_end(args);
	return code;
}

void opk_add_tried(struct opk_ctx *ctx, int code, const char *place)
{
	size_t count = ctx->causes.count;

	opk_add(ctx, code, "tried %s", place);
	if (ctx->causes.count > count)
		ctx->causes.items[count].kind = OPK_CAUSE_TRIED;
}

int opk_advise(struct opk_ctx *ctx, int code, enum opk_remedy remedy)
{
	if (ctx->causes.count)
		ctx->causes.items[ctx->causes.count - 1].remedy = remedy;
	return code;
}

int opk_os_error(struct opk_ctx *ctx, int code, int number)
{
	if (ctx->causes.count)
		ctx->causes.items->os_error = number;
	return code;
}

int opk_nomem(struct opk_ctx *ctx, const char *what)
{
	return opk_fail(ctx, OPK_ENOMEM, "out of memory for %s", what);
}

int opk_fail_errno(struct opk_ctx *ctx, int code, const char *what, const char *path)
{
	int number = errno;

	opk_fail(ctx, code, "%s: %s: %s", *path ? path : "''", what, strerror(number));
	if (ctx->causes.count)
		ctx->causes.items->file = opk_strdup(path);
	return opk_os_error(ctx, code, number);
}

/* ---- showing */

size_t opk_error_cause_count(const struct opk_ctx *ctx)
{
	return ctx->causes.count;
}

const struct opk_cause *opk_error_cause(const struct opk_ctx *ctx, size_t i)
{
	return i < ctx->causes.count ? &ctx->causes.items[i] : NULL;
}

const char *opk_innermost(const struct opk_ctx *ctx)
{
	size_t i = 0;

	if (!ctx->causes.count)
		return "out of memory";
	/* Where a library was looked for explains the next cause, that it was not found. */
	while (i + 1 < ctx->causes.count && ctx->causes.items[i].kind == OPK_CAUSE_TRIED)
		i++;
	return ctx->causes.items[i].text;
}

const char *opk_outermost(const struct opk_ctx *ctx)
{
	return ctx->causes.count ? ctx->causes.items[ctx->causes.count - 1].text : "out of memory";
}

/* Callers print the last one first, so the order is: caret, line, message. */
const char *opk_error_message(const struct opk_ctx *ctx, size_t i)
{
	for (size_t at = 0; at < ctx->causes.count; at++) {
		const struct opk_cause *cause = &ctx->causes.items[at];
		const char *lines[] = { cause->caret, cause->excerpt, cause->message };

		for (size_t line = cause->caret ? 0 : 2; line < 3; line++)
			if (!i--)
				return lines[line];
	}
	return NULL;
}

size_t opk_error_count(const struct opk_ctx *ctx)
{
	size_t count = 0;

	for (size_t i = 0; i < ctx->causes.count; i++)
		count += ctx->causes.items[i].caret ? 3 : 1;
	return count;
}

/* ---- between processes */

static void put_text(struct opk_buf *out, const char *text)
{
	size_t length = text ? strnlen(text, OPK_MAX_CAUSE) : 0;

	opk_buf_add_u32(out, text ? (uint32_t)length + 1 : 0);
	opk_buf_add(out, text, length);
}

/* The numbers and lengths of a cause take less than 100 bytes. */
_Static_assert(OPK_MAX_CAUSES *(5 * OPK_MAX_CAUSE + 100) <= OPK_MAX_CHAIN_SIZE, "");

void opk_errors_put(struct opk_buf *out, const struct opk_ctx *ctx)
{
	size_t count = ctx->causes.count < OPK_MAX_CAUSES ? ctx->causes.count : OPK_MAX_CAUSES;

	opk_buf_add_u32(out, (uint32_t)count);
	for (size_t i = ctx->causes.count - count; i < ctx->causes.count; i++) {
		const struct opk_cause *cause = &ctx->causes.items[i];

		opk_buf_add_u32(out, (uint32_t)cause->code);
		opk_buf_add_u32(out, cause->kind);
		opk_buf_add_u32(out, cause->remedy);
		opk_buf_add_u32(out, (uint32_t)cause->os_error);
		opk_buf_add_u64(out, cause->line);
		opk_buf_add_u64(out, cause->column);
		opk_buf_add_u32(out, (uint32_t)(cause->text - cause->message));
		put_text(out, cause->file);
		put_text(out, cause->general == cause->text ? NULL : cause->general);
		put_text(out, cause->message);
		put_text(out, cause->excerpt);
		put_text(out, cause->caret);
	}
}

static const char *get_text(struct opk_reader *in)
{
	uint32_t length = opk_read_u32(in);
	const void *bytes = NULL;

	in->failed |= length > OPK_MAX_CAUSE + 1;
	if (length && !in->failed)
		bytes = opk_read_bytes(in, length - 1);
	return bytes ? opk_strndup(bytes, length - 1) : NULL;
}

static void get_cause(struct opk_ctx *ctx, struct opk_reader *in)
{
	struct opk_cause cause = { .code = (int)opk_read_u32(in) };
	uint32_t kind = opk_read_u32(in), remedy;
	size_t place;

	cause.kind = kind <= OPK_CAUSE_TRIED ? (enum opk_cause_kind)kind : OPK_CAUSE_WHILE;
	remedy = opk_read_u32(in);
	cause.remedy = remedy <= OPK_REMEDY_LAST ? (enum opk_remedy)remedy : OPK_REMEDY_NONE;
	cause.os_error = (int)opk_read_u32(in);
	cause.line = opk_read_u64(in);
	cause.column = opk_read_u64(in);
	place = opk_read_u32(in);
	cause.file = get_text(in);
	cause.general = get_text(in);
	cause.message = get_text(in);
	cause.excerpt = get_text(in);
	cause.caret = get_text(in);
	if (cause.message)
		cause.text = cause.message + strnlen(cause.message, place);
	/* A caret is useless without its line. */
	if (!cause.excerpt)
		free((char *)opk_take(cause.caret));
	if (in->failed)
		opk_cause_clear(&cause);
	else
		opk_add_cause(ctx, cause);
}

bool opk_errors_get(struct opk_ctx *ctx, struct opk_reader *in)
{
	size_t count = opk_read_u32(in);

	in->failed |= count > OPK_MAX_CAUSES;
	for (size_t i = 0; i < count && !in->failed; i++)
		get_cause(ctx, in);
	return !in->failed;
}
