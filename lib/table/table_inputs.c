/* SPDX-License-Identifier: BSD-2-Clause */
/* The recordings of a table, opened and evaluated. */
#include <string.h>

#include "table/table_inside.h"

static bool is_timeline(const struct opk_table_input *input)
{
	return input->rows == OPK_ROWS_KERNELS || input->rows == OPK_ROWS_LAUNCHES;
}

static int open_input(struct opk_table *table, struct opk_ctx *ctx, struct opk_table_input *input)
{
	int code = opk_file_open(&input->file, ctx, input->path);

	if (!code)
		code = opk_file_meta(&input->meta, ctx, input->file);
	if (code)
		return code;
	input->rows = table->options.rows;
	if (!strcmp(input->meta->mode, "trace") && !is_timeline(input))
		input->rows = OPK_ROWS_LAUNCHES;
	return OPK_OK;
}

static enum opk_profiler profiler_of(const struct opk_table_input *input)
{
	return is_timeline(input) ? OPK_PROFILER_RANGE : input->meta->profiler;
}

/* The columns of one table are of one kind. */
static int check_alike(const struct opk_table *table, struct opk_ctx *ctx)
{
	const struct opk_table_input *first = table->inputs;

	for (size_t i = 1; i < table->input_count; i++) {
		const struct opk_table_input *input = &table->inputs[i];

		if (profiler_of(input) != profiler_of(first))
			return opk_fail(ctx, OPK_EUSAGE,
			                "%s: ranges and PM samples don't go into one table",
			                input->path);
		if (is_timeline(input) != is_timeline(first))
			return opk_fail(ctx, OPK_EUSAGE,
			                "%s and %s: one only says what ran and when: their rows "
			                "don't go into one table",
			                first->path, input->path);
	}
	return OPK_OK;
}

/* Where columns alone say which metrics are wanted, no others are evaluated. */
static int choose_metrics(struct opk_table *table, struct opk_ctx *ctx)
{
	size_t count = 0;
	int code = OPK_OK;

	if (table->set || table->eval.metrics || !table->chosen.count)
		return OPK_OK;
	for (size_t i = 0; !code && i < table->input_count; i++)
		code = opk_table_check_chosen(table, ctx, &table->inputs[i]);
	if (code)
		return code;
	table->wanted = opk_alloc_array(table->chosen.count, sizeof *table->wanted);
	if (!table->wanted)
		return opk_nomem(ctx, "a table");
	for (size_t i = 0; i < table->chosen.count; i++) {
		struct opk_table_column column;

		if (!opk_table_find(&column, table->profiler, table->chosen.items[i]))
			table->wanted[count++] = table->chosen.items[i];
	}
	table->eval.metrics = table->wanted;
	table->eval.metric_count = count;
	return OPK_OK;
}

static int evaluate_timelines(struct opk_table *table, struct opk_ctx *ctx)
{
	struct opk_timeline_options options = OPK_INIT(options);
	int code = OPK_OK;

	options.eval = &table->eval;
	for (size_t i = 0; !code && i < table->input_count; i++) {
		struct opk_table_input *input = &table->inputs[i];

		options.each_launch = input->rows == OPK_ROWS_LAUNCHES;
		code = opk_timeline_eval(&input->evaluation, ctx, input->file, &options);
	}
	return code;
}

static int evaluate(struct opk_table *table, struct opk_ctx *ctx)
{
	size_t count = table->input_count;
	opk_autofree struct opk_evaluation **evaluations = opk_alloc_array(count,
	                                                                   sizeof *evaluations);
	opk_autofree struct opk_file **files = opk_alloc_array(count, sizeof *files);
	int code;

	if (is_timeline(table->inputs))
		return evaluate_timelines(table, ctx);
	if (!evaluations || !files)
		return opk_nomem(ctx, "a table");
	for (size_t i = 0; i < count; i++)
		files[i] = table->inputs[i].file;
	table->eval.join = table->options.rows == OPK_ROWS_SINGLE ? NULL : "";
	code = opk_eval_files(evaluations, ctx, files, count, &table->eval);
	for (size_t i = 0; !code && i < count; i++)
		table->inputs[i].evaluation = evaluations[i];
	return code;
}

/* Only kernels have names of theirs: not idle time and copies. */
static int add_names_of_ran(struct opk_table *table, struct opk_ctx *ctx,
                            const struct opk_table_input *input)
{
	const struct opk_range *ranges;
	size_t count = opk_evaluation_ranges(&ranges, input->evaluation);
	int code = OPK_OK;

	for (size_t i = 0; !code && i < count; i++)
		if (*ranges[i].symbol)
			code = opk_kernel_names_add(table->names, ctx, &ranges[i], 1);
	return code;
}

static int add_names(struct opk_table *table, struct opk_ctx *ctx,
                     const struct opk_table_input *input)
{
	const struct opk_range *ranges;
	size_t count;
	int code;

	if (is_timeline(input))
		return add_names_of_ran(table, ctx, input);
	code = opk_file_ranges(&ranges, &count, ctx, input->file);
	return code ? code : opk_kernel_names_add(table->names, ctx, ranges, count);
}

static int prepare_rows(struct opk_table *table, struct opk_ctx *ctx)
{
	int code = opk_kernel_names_new(&table->names, ctx, table->options.kernel_names);

	for (size_t i = 0; !code && i < table->input_count; i++) {
		struct opk_table_input *input = &table->inputs[i];

		code = add_names(table, ctx, input);
		if (!code && *input->meta->join && input->rows == OPK_ROWS_RECORDED)
			code = opk_join_new(&input->join, ctx, input->evaluation);
	}
	return code;
}

int opk_table_read(struct opk_table *table, struct opk_ctx *ctx)
{
	int code = OPK_OK;

	for (size_t i = 0; !code && i < table->input_count; i++)
		code = open_input(table, ctx, &table->inputs[i]);
	if (!code)
		code = check_alike(table, ctx);
	if (code)
		return code;
	table->profiler = profiler_of(table->inputs);
	code = choose_metrics(table, ctx);
	if (!code)
		code = evaluate(table, ctx);
	return code ? code : prepare_rows(table, ctx);
}
