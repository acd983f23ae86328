/* SPDX-License-Identifier: BSD-2-Clause */
/* Any bytes as an .opk file: open, verify, decode, metadata, tables, modules, and a trace. */
#include "baked/baked.h"
#include "container/door.h"
#include "eval/door.h"
#include "fuzz.h"
#include "trace/door.h"

static int drop(void *data, const void *bytes, size_t size)
{
	(void)data;
	(void)bytes;
	(void)size;
	return 0;
}

/* Files with samples are left out: children would evaluate them. */
static void trace(struct opk_ctx *ctx, struct opk_file *file)
{
	struct opk_trace_options options = OPK_INIT(options);
	struct opk_eval_options eval = OPK_INIT(eval);

	eval.allow_incomplete = true;
	options.eval = &eval;
	for (size_t i = 0; i < opk_file_section_count(file); i++)
		if (opk_file_section(file, i)->type == OPK_SECTION_DATA)
			return;
	opk_trace_write(NULL, ctx, &file, 1, &options, &(struct opk_sink){ drop, NULL });
}

static void list(struct opk_ctx *ctx, struct opk_file *file, enum opk_file_list which)
{
	struct opk_listing *rows;

	if (!opk_file_list(&rows, ctx, file, which))
		opk_listing_free(rows);
}

/* Tables of values, and rows of files that have no images. */
static void read_values(struct opk_ctx *ctx, struct opk_file *file, size_t section)
{
	opk_auto(opk_baked_file) struct opk_baked_file *baked = NULL;

	if (opk_file_section(file, section)->type == OPK_SECTION_VALUES)
		opk_value_table_check(ctx, file, section);
	if (opk_file_section(file, section)->type == OPK_SECTION_BAKED)
		opk_baked_read(&baked, ctx, file, section);
}

/* Without an image no child is needed. */
static void evaluate(struct opk_ctx *ctx, struct opk_file *file)
{
	struct opk_eval_options options = OPK_INIT(options);
	opk_auto(opk_evaluation) struct opk_evaluation *evaluation = NULL;
	const struct opk_row *row = NULL;

	for (size_t i = 0; i < opk_file_section_count(file); i++)
		if (opk_file_section(file, i)->type == OPK_SECTION_DATA
		    || opk_file_section(file, i)->plain_size > 1 << 24)
			return;
	options.allow_incomplete = true;
	if (opk_file_is_baked(file) && !opk_eval_file(&evaluation, ctx, file, &options))
		while (!opk_evaluation_next(&row, ctx, evaluation) && row)
			;
}

static void read_all(struct opk_ctx *ctx, struct opk_file *file)
{
	const struct opk_meta *meta;
	const struct opk_range *ranges;
	const struct opk_stats *stats;
	const struct opk_time *times;
	const struct opk_activity *activities;
	size_t count;

	for (size_t i = 0; i < opk_file_section_count(file); i++) {
		void *data;
		size_t size;

		/* A section that unpacks to hundreds of megabytes is legal, but slow. */
		if (opk_file_section(file, i)->plain_size > 1 << 24)
			continue;
		opk_file_verify(ctx, file, i);
		if (!opk_file_read(&data, &size, ctx, file, i))
			free(data);
		read_values(ctx, file, i);
	}
	opk_file_meta(&meta, ctx, file);
	opk_file_ranges(&ranges, &count, ctx, file);
	opk_file_times(&times, &count, ctx, file);
	opk_file_stats(&stats, ctx, file);
	opk_file_activities(&activities, &count, ctx, file);
	list(ctx, file, OPK_FILE_CODE);
	list(ctx, file, OPK_FILE_FUNCTIONS);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct opk_ctx *ctx = fuzz_ctx();
	struct opk_file *file;
	char path[32];
	int fd = fuzz_file(path, data, size);

	if (!opk_file_open(&file, ctx, path)) {
		read_all(ctx, file);
		evaluate(ctx, file);
		trace(ctx, file);
		opk_file_free(file);
	}
	close(fd);
	opk_ctx_free(ctx);
	return 0;
}
