/* SPDX-License-Identifier: BSD-2-Clause */
#include "eval/eval_spool.h"

#include <string.h>

#include "base/buf.h"

int opk_spools_init(struct opk_spools *spools, struct opk_ctx *ctx, size_t count)
{
	*spools = (struct opk_spools){
		.files = opk_alloc_array(count, sizeof *spools->files),
		.trailers = opk_alloc_array(count, sizeof *spools->trailers),
		.count = count,
	};
	if (spools->files && spools->trailers)
		return OPK_OK;
	spools->count = 0;
	return opk_nomem(ctx, "an evaluation");
}

void opk_spools_clear(struct opk_spools *spools)
{
	for (size_t i = 0; i < spools->count; i++)
		if (spools->files[i])
			fclose(spools->files[i]);
	free(spools->files);
	free(spools->trailers);
	free(spools->name);
	*spools = (struct opk_spools){ 0 };
}

static int damaged_spool(struct opk_ctx *ctx)
{
	return opk_fail(ctx, OPK_EINPUT,
	                "the evaluation's result is damaged, as its input must be");
}

static int get(struct opk_ctx *ctx, FILE *file, void *to, size_t size)
{
	return !size || fread(to, size, 1, file) == 1 ? OPK_OK : damaged_spool(ctx);
}

static int read_trailer(struct opk_spools *spools, struct opk_ctx *ctx, size_t i)
{
	struct opk_spool_trailer *trailer = &spools->trailers[i];
	FILE *file = spools->files[i];
	int code;

	if (fseek(file, -(long)sizeof *trailer, SEEK_END))
		return damaged_spool(ctx);
	code = get(ctx, file, trailer, sizeof *trailer);
	if (code)
		return code;
	rewind(file);
	spools->incomplete_samples += trailer->incomplete_samples;
	if (trailer->stored > trailer->rows
	    || __builtin_add_overflow(spools->total_rows, trailer->rows, &spools->total_rows))
		return damaged_spool(ctx);
	return OPK_OK;
}

static int read_units(struct opk_ctx *ctx, FILE *file, size_t size, struct opk_strlist *units,
                      size_t metric_count)
{
	opk_autofree char *text = opk_alloc(size + 1);
	struct opk_reader reader = { .data = (uint8_t *)text, .left = size };
	int code = text ? get(ctx, file, text, size) : opk_nomem(ctx, "units");

	for (size_t i = 0; !code && i < metric_count; i++) {
		const char *unit = (const char *)reader.data;

		if (!opk_read_bytes(&reader, strnlen(unit, reader.left) + 1))
			return damaged_spool(ctx);
		if (!opk_strlist_add(units, unit))
			return opk_nomem(ctx, "units");
	}
	return code;
}

/* Children evaluate parts of the same thing, and say the same of it. */
static int read_header(struct opk_spools *spools, struct opk_ctx *ctx, size_t i,
                       struct opk_strlist *units, size_t metric_count)
{
	opk_autostrlist struct opk_strlist others = { 0 };
	struct opk_spool_header header;
	int code = read_trailer(spools, ctx, i);

	if (!code)
		code = get(ctx, spools->files[i], &header, sizeof header);
	if (code)
		return code;
	header.chip[sizeof header.chip - 1] = '\0';
	if (header.profiler != OPK_PROFILER_RANGE && header.profiler != OPK_PROFILER_PM)
		return damaged_spool(ctx);
	if (!i)
		spools->header = header;
	else if (strcmp(header.chip, spools->header.chip)
	         || header.profiler != spools->header.profiler)
		return damaged_spool(ctx);
	return read_units(ctx, spools->files[i], header.unit_size, i ? &others : units,
	                  metric_count);
}

/* The first one from `at` on that has rows. */
static void begin_file(struct opk_spools *spools, size_t at)
{
	spools->left = 0;
	for (spools->at = at; spools->at < spools->count; spools->at++) {
		spools->next = spools->next_end;
		spools->next_end += spools->trailers[spools->at].rows;
		spools->left = spools->trailers[spools->at].stored;
		if (spools->left)
			return;
	}
}

int opk_spools_begin(struct opk_spools *spools, struct opk_ctx *ctx, struct opk_strlist *units,
                     size_t metric_count)
{
	int code = OPK_OK;

	for (size_t i = 0; !code && i < spools->count; i++)
		code = read_header(spools, ctx, i, units, metric_count);
	if (!code)
		begin_file(spools, 0);
	return code;
}

static int read_name(struct opk_spools *spools, struct opk_ctx *ctx, uint32_t size)
{
	char *name;
	int code;

	if (size > OPK_MAX_RANGE_NAME)
		return damaged_spool(ctx);
	name = opk_realloc(spools->name, (size_t)size + 1);
	if (!name)
		return opk_nomem(ctx, "a range name");
	spools->name = name;
	code = get(ctx, spools->files[spools->at], name, size);
	name[size] = '\0';
	return code;
}

/* A row's number, as far as what the child dropped is to be believed. */
static int count_row(struct opk_spools *spools, struct opk_ctx *ctx,
                     const struct opk_spool_row *row, uint64_t *number)
{
	if (row->dropped >= spools->next_end - spools->next)
		return damaged_spool(ctx);
	*number = spools->next + row->dropped;
	spools->next = *number + 1;
	return OPK_OK;
}

int opk_spools_next(struct opk_spool_row *row, uint64_t *number, const char **name, double *values,
                    struct opk_ctx *ctx, struct opk_spools *spools, size_t metric_count)
{
	FILE *file = spools->files[spools->at];
	int code = get(ctx, file, row, sizeof *row);

	if (!code)
		code = count_row(spools, ctx, row, number);
	if (!code)
		code = read_name(spools, ctx, row->name_size);
	if (!code)
		code = get(ctx, file, values, metric_count * sizeof *values);
	if (code)
		return code;
	*name = spools->name;
	if (!--spools->left)
		begin_file(spools, spools->at + 1);
	return OPK_OK;
}

bool opk_spools_ended(const struct opk_spools *spools)
{
	return !spools->left;
}
