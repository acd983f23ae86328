/* SPDX-License-Identifier: BSD-2-Clause */
/* The inputs of a table: opened, evaluated, joined or aggregated. */
#include <string.h>

#include "base/metric.h"
#include "code/door.h"
#include "container/container.h"
#include "eval/eval.h"
#include "images/door.h"
#include "table/table_inside.h"
#include "timeline/door.h"

/* ---- opened, and which rows they have */

/* A recording of instructions, whose rows were not chosen. */
static bool has_code_alone(const struct opk_table *table, const struct opk_table_file *input)
{
	return table->options.rows <= OPK_ROWS_SINGLE && opk_profiler_is_code(input->meta->profiler)
	       && strcmp(input->meta->kind, "set") != 0;
}

/* The files of one run become a single input. */
static int join_inputs(struct opk_table *table, struct opk_ctx *ctx)
{
	opk_autofree const char **paths = opk_alloc_array(table->input_count, sizeof *paths);
	struct opk_table_file *input = table->inputs;

	if (!paths)
		return opk_nomem(ctx, "a table");
	for (size_t i = 0; i < table->input_count; i++)
		paths[i] = table->inputs[i].path;
	TRY(opk_file_join(&input->file, ctx, paths, table->input_count));
	for (size_t i = 0; i < table->input_count; i++) {
		free(table->inputs[i].path);
		free(table->inputs[i].name);
	}
	table->input_count = 1;
	input->path = opk_strdup(input->file->path);
	input->name = opk_strdup(input->file->path);
	if (!input->path || !input->name)
		return opk_nomem(ctx, "a table");
	TRY(opk_file_meta(&input->meta, ctx, input->file));
	if (input->meta->profiler == OPK_PROFILER_PM && !input->meta->metric_count)
		return opk_fail(ctx, OPK_EUSAGE, "%s has no PM samples: it only says what ran",
		                input->path);
	return OPK_OK;
}

static int open_inputs(struct opk_table *table, struct opk_ctx *ctx)
{
	if (opk_table_is_resampled(table))
		return join_inputs(table, ctx);
	for (size_t i = 0; i < table->input_count; i++) {
		struct opk_table_file *input = &table->inputs[i];

		TRY(opk_file_open(&input->file, ctx, input->path));
		TRY(opk_file_meta(&input->meta, ctx, input->file));
		if (has_code_alone(table, input))
			input->rows = OPK_ROWS_FUNCTIONS;
	}
	return OPK_OK;
}

int opk_trace_refuse(struct opk_ctx *ctx, const char *path, const char *what)
{
	return what ? opk_fail(ctx, OPK_EUSAGE,
	                       "%s: %s only says what ran and when: it has no samples and values, "
	                       "and no ranges that could be joined or be inside each other",
	                       what, path)
	            : OPK_OK;
}

int opk_trace_check_key(struct opk_ctx *ctx, const char *path, const char *what, const char *key)
{
	return key && strcmp(key, "kernel") != 0
	               ? opk_fail(ctx, OPK_EUSAGE,
	                          "%s %s: %s says what ran and when, which is put together by "
	                          "kernel",
	                          what, key, path)
	               : OPK_OK;
}

/* Refuses options that a recording of launches alone can't satisfy. */
static int check_trace(const struct opk_table *table, struct opk_ctx *ctx, const char *path)
{
	const char *what = table->options.rows == OPK_ROWS_SINGLE             ? "join none"
	                   : table->options.keep_first_sample                 ? "first sample"
	                   : table->options.aggregate && table->options.level ? "level"
	                   : table->options.is_long                           ? "layout long"
	                                                                      : NULL;

	TRY(opk_trace_check_key(ctx, path, "statistics by", table->options.aggregate));
	return opk_trace_refuse(ctx, path, what);
}

/* A recording of only what ran has just such rows, which don't mix with rows of values. */
static int choose_rows(struct opk_table *table, struct opk_ctx *ctx)
{
	const struct opk_table_file *trace = NULL, *other = NULL;
	enum opk_rows rows = table->options.aggregate ? OPK_ROWS_KERNELS : OPK_ROWS_LAUNCHES;

	for (size_t i = 0; i < table->input_count; i++)
		*(opk_table_is_trace(&table->inputs[i]) ? &trace : &other) = &table->inputs[i];
	if (!trace || table->options.rows > OPK_ROWS_SINGLE)
		return OPK_OK;
	TRY(check_trace(table, ctx, trace->path));
	for (size_t i = 0; i < table->input_count; i++)
		if (opk_table_is_trace(&table->inputs[i]))
			table->inputs[i].rows = rows;
	if (other)
		return OPK_OK;
	table->options.aggregate = NULL;
	table->layout = OPK_TABLE_WIDE;
	return OPK_OK;
}

/* ---- evaluated */

/* If only columns say which metrics are wanted, no others are evaluated. */
static int choose_metrics(struct opk_table *table, struct opk_ctx *ctx)
{
	size_t count = 0;

	if (table->options.rows == OPK_ROWS_TABLES) {
		static const char *const none[] = { NULL };

		table->eval.metrics = none;
		table->eval.metric_count = 0;
	}
	if (table->eval.set || table->eval.metrics || !table->chosen.count)
		return OPK_OK;
	for (size_t i = 0; i < table->input_count; i++)
		TRY(opk_table_check_recorded(table, ctx, &table->inputs[i]));
	table->wanted = opk_alloc_array(table->chosen.count, sizeof *table->wanted);
	if (!table->wanted)
		return opk_nomem(ctx, "a table");
	for (size_t i = 0; i < table->chosen.count; i++) {
		struct opk_table_column column;

		if (!opk_table_find(&column, table, table->chosen.items[i]))
			table->wanted[count++] = table->chosen.items[i];
	}
	table->eval.metrics = count || opk_table_is_wide(table) ? table->wanted : NULL;
	table->eval.metric_count = count;
	return OPK_OK;
}

static int evaluate_tables(struct opk_table *table, struct opk_ctx *ctx,
                           struct opk_table_file *input)
{
	if (!table->eval.allow_incomplete)
		TRY(opk_file_check_complete(ctx, input->file, OPK_REMEDY_ALLOW_INCOMPLETE));
	return opk_recorded_eval(&input->evaluation, ctx, input->file, &table->eval);
}

static int evaluate_alike(struct opk_table *table, struct opk_ctx *ctx,
                          struct opk_table_file *inputs, size_t count)
{
	opk_autofree struct opk_evaluation **evaluations = opk_alloc_array(count,
	                                                                   sizeof *evaluations);
	opk_autofree struct opk_file **files = opk_alloc_array(count, sizeof *files);

	if (!evaluations || !files)
		return opk_nomem(ctx, "a table");
	for (size_t i = 0; i < count; i++)
		files[i] = inputs[i].file;
	TRY(opk_eval_files(evaluations, ctx, files, count, &table->eval));
	for (size_t i = 0; i < count; i++)
		inputs[i].evaluation = evaluations[i];
	return OPK_OK;
}

/* Whether opcodes or SASS texts are shown, or choose rows. */
static bool wants_sass(const struct opk_table *table)
{
	const struct opk_strlist *chosen = &table->chosen, *where = &table->where;

	return table->inside.with_sass || !chosen->count
	       || opk_code_names_sass(opk_strlist_items(chosen), chosen->count)
	       || opk_code_names_sass(opk_strlist_items(where), where->count);
}

static int evaluate(struct opk_table *table, struct opk_ctx *ctx)
{
	struct opk_table_file *inputs = table->inputs;
	bool apart = table->options.rows == OPK_ROWS_SINGLE || table->layout == OPK_TABLE_GROUPS;
	int code = OPK_OK;

	table->eval_inside.join = apart ? NULL : "";
	table->eval_inside.without_sass = !wants_sass(table);
	for (size_t at = 0, end; !code && at < table->input_count; at = end) {
		end = at + 1;
		if (opk_table_is_code(&inputs[at])) {
			code = opk_code_eval(&inputs[at].evaluation, ctx, inputs[at].file,
			                     &table->eval, inputs[at].rows);
			continue;
		}
		if (inputs[at].rows == OPK_ROWS_TABLES || opk_table_is_timeline(&inputs[at])) {
			code = inputs[at].rows == OPK_ROWS_TABLES
			               ? evaluate_tables(table, ctx, &inputs[at])
			               : opk_timeline_eval(&inputs[at].evaluation, ctx,
			                                   inputs[at].file, &table->eval,
			                                   inputs[at].rows == OPK_ROWS_LAUNCHES);
			continue;
		}
		while (end < table->input_count && inputs[end].rows == inputs[at].rows
		       && inputs[end].meta->profiler == inputs[at].meta->profiler)
			end++;
		code = evaluate_alike(table, ctx, inputs + at, end - at);
	}
	return code;
}

/* ---- what they have twice */

static int check_twice(const struct opk_table *table, struct opk_ctx *ctx)
{
	opk_autofree struct opk_file **files = opk_alloc_array(table->input_count, sizeof *files);

	if (!files)
		return opk_nomem(ctx, "a table");
	if (opk_table_is_resampled(table))
		return OPK_OK;
	for (size_t i = 0; i < table->input_count; i++)
		files[i] = table->inputs[i].file;
	return opk_twice_check(ctx, files, table->input_count,
	                       table->inside.refuse_twice ? OPK_EFAILED : OPK_OK);
}

/* ---- inflated values, and names */

/* Marks values that need a metric that the metadata call inflated. */
static int find_inflated(struct opk_ctx *ctx, struct opk_table_file *input)
{
	const struct opk_meta *meta = input->meta;
	size_t count = opk_evaluation_column_count(input->evaluation);
	size_t metrics = opk_evaluation_metric_count(input->evaluation);
	opk_autofree uint64_t *sound = NULL, *least = NULL;

	if (!meta->inflated_count)
		return OPK_OK;
	sound = opk_alloc_array(metrics + 1, sizeof *sound);
	least = opk_alloc_array(count + 1, sizeof *least);
	input->inflated = opk_alloc_array(count + 1, sizeof *input->inflated);
	if (!sound || !least || !input->inflated)
		return opk_nomem(ctx, "a table");
	for (size_t i = 0; i < metrics; i++)
		sound[i] = !opk_meta_is_inflated(meta, opk_evaluation_metric(input->evaluation, i));
	opk_columns_least(least, opk_evaluation_columns(input->evaluation), sound);
	for (size_t i = 0; i < count; i++)
		input->inflated[i] = !least[i];
	return OPK_OK;
}

/* Only kernels get short names; idle time and copies have no symbol. */
static int add_names_of_ran(struct opk_table *table, struct opk_ctx *ctx,
                            const struct opk_table_file *input)
{
	const struct opk_range *ranges;
	size_t count = opk_evaluation_ranges(&ranges, input->evaluation);

	for (size_t i = 0; i < count; i++) {
		if (*ranges[i].symbol)
			TRY(opk_kernel_names_add(table->names, ctx, &ranges[i], 1));
	}
	return OPK_OK;
}

static int add_names(struct opk_table *table, struct opk_ctx *ctx,
                     const struct opk_table_file *input)
{
	const struct opk_range *ranges;
	size_t count;

	if (opk_table_is_timeline(input) || opk_table_is_code(input))
		return add_names_of_ran(table, ctx, input);
	TRY(opk_file_ranges(&ranges, &count, ctx, input->file));
	return opk_kernel_names_add(table->names, ctx, ranges, count);
}

static int prepare_rows(struct opk_table *table, struct opk_ctx *ctx, struct opk_table_file *input)
{
	if (!opk_table_is_resampled(table))
		TRY(add_names(table, ctx, input));
	TRY(find_inflated(ctx, input));
	return table->layout == OPK_TABLE_GROUPS ? opk_table_aggregate(table, ctx, input) : OPK_OK;
}

/* Numbers the key groups across all files. */
static void number_groups(struct opk_table *table)
{
	for (size_t i = 1; table->layout == OPK_TABLE_GROUPS && i < table->input_count; i++)
		table->inputs[i].first_group = table->inputs[i - 1].first_group
		                               + opk_aggregate_count(
						       table->inputs[i - 1].aggregate);
}

/* ---- all of them */

static int check_options(const struct opk_table_options *options, struct opk_ctx *ctx)
{
	if (options->resample
	    && (options->aggregate || options->rows != OPK_ROWS_RECORDED
	        || options->keep_first_sample))
		return opk_fail(ctx, OPK_EUSAGE,
		                "samples are summed over time as they were recorded, without the "
		                "first one: no statistics, no other rows, no first sample");
	if (options->level && !options->aggregate)
		return opk_fail(ctx, OPK_EUSAGE, "a level goes with statistics");
	if (options->aggregate && options->rows != OPK_ROWS_RECORDED)
		return opk_fail(ctx, OPK_EUSAGE,
		                "statistics are of rows as they were recorded: choose no others");
	return OPK_OK;
}

static int check_code(const struct opk_table *table, struct opk_ctx *ctx)
{
	for (size_t i = 0; table->options.aggregate && i < table->input_count; i++)
		if (opk_table_is_code(&table->inputs[i]))
			return opk_fail(ctx, OPK_EUSAGE,
			                "%s: statistics are of ranges, and this is a recording of "
			                "instructions",
			                table->inputs[i].path);
	return OPK_OK;
}

int opk_table_read(struct opk_table *table, struct opk_ctx *ctx)
{
	TRY(check_options(&table->options, ctx));
	TRY(open_inputs(table, ctx));
	TRY(check_code(table, ctx));
	TRY(opk_table_check_recorded_fit(table, ctx));
	TRY(choose_rows(table, ctx));
	/* All rows of a table have the same facts; key groups have those of ranges. */
	table->profiler = table->layout == OPK_TABLE_GROUPS ? OPK_PROFILER_RANGE
	                                                    : opk_table_profiler_of(table->inputs);
	TRY(choose_metrics(table, ctx));
	TRY(check_twice(table, ctx));
	TRY(evaluate(table, ctx));
	for (size_t i = 0; i < table->input_count; i++)
		TRY(prepare_rows(table, ctx, &table->inputs[i]));
	number_groups(table);
	return OPK_OK;
}

int opk_table_read_image(struct opk_table *table, struct opk_ctx *ctx, const void *image,
                         size_t size)
{
	struct opk_table_file *input = table->inputs;
	int code;

	if (table->options.aggregate || table->options.rows != OPK_ROWS_RECORDED)
		return opk_fail(ctx, OPK_EUSAGE,
		                "%s: a bare image does not say what ran, and has no key groups: "
		                "make a recording of it",
		                input->path);
	code = opk_eval_image(&input->evaluation, ctx, image, size, &table->eval);
	if (code)
		return opk_add(ctx, code, "can't evaluate %s", input->path);
	table->profiler = opk_evaluation_profiler(input->evaluation);
	return OPK_OK;
}
