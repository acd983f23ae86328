/* SPDX-License-Identifier: BSD-2-Clause */
/* Recordings as one table: its options, and the facts of its files. */
#include <string.h>

#include "base/buf.h"
#include "base/decimal.h"
#include "base/listing.h"
#include "base/option_struct.h"
#include "images/door.h"
#include "set/door.h"
#include "table/table_inside.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- a new one */

static bool copy_texts(struct opk_strlist *to, const char *const *texts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!opk_strlist_add(to, texts[i]))
			return false;
	return true;
}

/* Reads "100ms" as ns, at least one. */
static int parse_time(uint64_t *out, struct opk_ctx *ctx, const char *text)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {
		{ "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 }, { "min", 60e9 }, { "h", 3600e9 }
	};
	double number = 0;
	size_t length = 0;

	if (*text >= '0' && *text <= '9'
	    && opk_decimal_read(&number, &length, text) == OPK_DECIMAL_NOMEM)
		return opk_nomem(ctx, "a time");
	for (size_t i = 0; length && i < COUNT(units); i++) {
		double ns = number * units[i].ns;

		if (!strcmp(text + length, units[i].name) && ns >= 1 && ns <= 0x1p62) {
			*out = (uint64_t)(ns + 0.5);
			return OPK_OK;
		}
	}
	return opk_fail(ctx, OPK_EUSAGE, "'%s' is not a time such as 100ms, 1s or 10min", text);
}

/* Copies the options that the table keeps; their texts are the caller's. */
static int take_options(struct opk_table *table, struct opk_ctx *ctx)
{
	static const char *const none[] = { NULL };
	const struct opk_table_options *options = &table->options;
	opk_auto(opk_filter) struct opk_filter *filter = NULL;
	int code = OPK_OK;

	opk_copy_options(&table->eval, sizeof table->eval, options->eval);
	table->eval.size = sizeof table->eval;
	table->eval_inside = *opk_eval_inside(&table->eval);
	if (options->resample)
		TRY(parse_time(&table->eval_inside.resample_ns, ctx, options->resample));
	table->eval.inside = &table->eval_inside;
	if (!copy_texts(&table->metrics, table->eval.metrics, table->eval.metric_count)
	    || !copy_texts(&table->chosen, options->columns, options->column_count)
	    || !copy_texts(&table->where, table->eval.where, table->eval.where_count))
		return opk_nomem(ctx, "a table");
	table->metrics_named = table->eval.metrics != NULL;
	/* An empty list is not NULL, which means all. */
	if (table->eval.metrics)
		table->eval.metrics = table->metrics.count ? opk_strlist_items(&table->metrics)
		                                           : none;
	if (options->set)
		code = opk_set_find(&table->set, ctx, options->set);
	else if (table->eval.set)
		code = opk_set_join(&table->set, ctx, &table->eval.set, 1);
	table->eval.set = table->set;
	table->eval.where = opk_strlist_items(&table->where);
	/* Malformed conditions are found before any file is read. */
	if (!code && table->where.count)
		code = opk_filter_new(&filter, ctx, table->eval.where, table->where.count);
	table->layout = options->aggregate ? OPK_TABLE_GROUPS
	                : options->is_long ? OPK_TABLE_LONG
	                                   : OPK_TABLE_WIDE;
	return code ? code : opk_kernel_names_new(&table->names, ctx, options->kernel_names);
}

static int take_paths(struct opk_table *table, struct opk_ctx *ctx, const char *const *paths,
                      size_t count)
{
	const char *const *names = table->options.names ? table->options.names : paths;

	if (!count)
		return opk_fail(ctx, OPK_EUSAGE, "a table of no file");
	table->inputs = opk_alloc_array(count, sizeof *table->inputs);
	table->input_count = table->inputs ? count : 0;
	for (size_t i = 0; i < table->input_count; i++) {
		table->inputs[i].rows = table->options.rows;
		table->inputs[i].path = opk_strdup(paths[i]);
		table->inputs[i].name = opk_strdup(names[i]);
		if (!table->inputs[i].path || !table->inputs[i].name)
			return opk_nomem(ctx, "a table");
	}
	return table->input_count ? OPK_OK : opk_nomem(ctx, "a table");
}

static int make_room(struct opk_table *table, struct opk_ctx *ctx)
{
	size_t columns = table->column_count + 1, values = 0, metrics = 0;

	for (size_t i = 0; i < table->input_count; i++) {
		const struct opk_evaluation *evaluation = table->inputs[i].evaluation;

		if (opk_evaluation_column_count(evaluation) > values)
			values = opk_evaluation_column_count(evaluation);
		if (opk_evaluation_metric_count(evaluation) > metrics)
			metrics = opk_evaluation_metric_count(evaluation);
	}
	table->cells = opk_alloc_array(columns, sizeof *table->cells);
	table->texts = opk_alloc_array(columns, sizeof *table->texts);
	table->known = opk_alloc_array(columns, sizeof *table->known);
	table->has_values = opk_alloc_array(values + 1, sizeof *table->has_values);
	table->has_metrics = opk_alloc_array(metrics + 1, sizeof *table->has_metrics);
	table->picked = opk_alloc_array(values + table->chosen.count + 1, sizeof *table->picked);
	if (!table->cells || !table->texts || !table->known || !table->has_values
	    || !table->has_metrics || !table->picked)
		return opk_nomem(ctx, "a table");
	return OPK_OK;
}

/* ---- facts of the files */

static const char *const files_facts[] = { "chip", "profiler", "set", "recorded_set" };

static const char *set_of(const struct opk_table *table, const struct opk_table_file *input)
{
	if (table->set)
		return opk_set_name(table->set);
	return input->meta && !table->metrics_named ? input->meta->set_name : "";
}

static const char *fact_of(const struct opk_table *table, const struct opk_table_file *input,
                           const char *fact)
{
	const struct opk_meta *meta = input->meta;

	if (!strcmp(fact, "chip"))
		return meta ? meta->chip : opk_evaluation_chip(input->evaluation);
	if (!strcmp(fact, "set"))
		return set_of(table, input);
	if (!strcmp(fact, "recorded_set"))
		return meta ? meta->set_name : "";
	return opk_profiler_name(opk_evaluation_profiler(input->evaluation));
}

static int add_about(struct opk_table *table, struct opk_ctx *ctx, const char *fact)
{
	opk_autostrlist struct opk_strlist texts = { 0 };
	opk_autobuf struct opk_buf joined = { 0 };

	for (size_t i = 0; i < table->input_count; i++) {
		const char *text = fact_of(table, &table->inputs[i], fact);

		if (!*text || opk_strlist_contains(&texts, text))
			continue;
		if (!opk_strlist_add(&texts, text))
			return opk_nomem(ctx, "a table");
		opk_buf_add_text(&joined, texts.count > 1 ? "," : "");
		opk_buf_add_text(&joined, text);
	}
	if (!opk_strlist_add(&table->about, fact)
	    || !opk_strlist_take(&table->about, opk_buf_take_text(&joined)))
		return opk_nomem(ctx, "a table");
	return OPK_OK;
}

static int find_about(struct opk_table *table, struct opk_ctx *ctx)
{
	for (size_t i = 0; i < COUNT(files_facts); i++)
		TRY(add_about(table, ctx, files_facts[i]));
	return OPK_OK;
}

const char *opk_table_about(const struct opk_table *table, const char *fact)
{
	for (size_t i = 0; i + 1 < table->about.count; i += 2)
		if (!strcmp(table->about.items[i], fact))
			return table->about.items[i + 1];
	return "";
}

static struct opk_listing *list_units(const struct opk_table *table)
{
	struct opk_listing *rows = opk_listing_new("unit");

	for (size_t i = 0; i < table->column_count; i++)
		opk_listing_row(rows, cell_text(table->columns[i].unit));
	return rows;
}

/* The facts are the columns of a single row. */
static struct opk_listing *list_about(const struct opk_table *table)
{
	union opk_cell cells[COUNT(files_facts)];
	opk_autobuf struct opk_buf columns = { 0 };
	opk_autofree char *text = NULL;
	struct opk_listing *rows;

	for (size_t i = 0; i < COUNT(files_facts); i++) {
		opk_buf_add_printf(&columns, "%s%s", i ? " " : "", files_facts[i]);
		cells[i] = cell_text(opk_table_about(table, files_facts[i]));
	}
	text = opk_buf_take_text(&columns);
	rows = opk_listing_new(text);
	opk_listing_add(rows, cells);
	return rows;
}

int opk_table_list(struct opk_listing **out, struct opk_ctx *ctx, const struct opk_table *table,
                   enum opk_table_list which)
{
	return opk_listing_finish(out, ctx,
	                          which == OPK_TABLE_UNITS ? list_units(table) : list_about(table));
}

OPK_DEFINE_AUTO(opk_table)

static int begin(struct opk_table **out, struct opk_ctx *ctx, const char *const *paths,
                 size_t count, const struct opk_table_options *options)
{
	opk_auto(opk_table) struct opk_table *table = opk_alloc(sizeof *table);
	struct opk_ctx_options of_rows = OPK_INIT(of_rows);

	if (!table)
		return opk_nomem(ctx, "a table");
	opk_copy_options(&table->options, sizeof table->options, options);
	if (table->options.inside)
		table->inside = *table->options.inside;
	of_rows.log = table->options.log;
	of_rows.log_data = table->options.log_data;
	if (opk_ctx_new(&table->ctx, &of_rows))
		return opk_nomem(ctx, "a table");
	TRY(take_options(table, ctx));
	TRY(take_paths(table, ctx, paths, count));
	*out = opk_take(table);
	return OPK_OK;
}

/* Finishes a table whose inputs are evaluated. */
static int finish(struct opk_table *table, struct opk_ctx *ctx)
{
	int code = opk_table_list_columns(table, ctx);

	for (size_t i = 0; i < table->input_count; i++)
		table->inputs[i].set_name = set_of(table, &table->inputs[i]);
	if (!code)
		code = find_about(table, ctx);
	if (!code)
		code = make_room(table, ctx);
	if (!code)
		code = opk_table_watch_begin(table, ctx);
	if (!code)
		opk_table_note_files(table, ctx);
	return code;
}

int opk_table_new(struct opk_table **out, struct opk_ctx *ctx, const char *const *paths,
                  size_t count, const struct opk_table_options *options)
{
	opk_auto(opk_table) struct opk_table *table = NULL;

	TRY(begin(&table, ctx, paths, count, options));
	TRY(opk_table_read(table, ctx));
	TRY(finish(table, ctx));
	*out = opk_take(table);
	return OPK_OK;
}

int opk_table_new_image(struct opk_table **out, struct opk_ctx *ctx, const void *image, size_t size,
                        const char *name, const struct opk_table_options *options)
{
	opk_auto(opk_table) struct opk_table *table = NULL;

	TRY(begin(&table, ctx, &name, 1, options));
	TRY(opk_table_read_image(table, ctx, image, size));
	TRY(finish(table, ctx));
	*out = opk_take(table);
	return OPK_OK;
}

void opk_table_free(struct opk_table *table)
{
	if (!table)
		return;
	opk_table_watch_clear(table);
	for (size_t i = 0; i < table->input_count; i++)
		opk_aggregate_free(table->inputs[i].aggregate);
	opk_table_clear_levels(&table->levels);
	opk_kernel_names_free(table->names);
	for (size_t i = 0; i < table->input_count; i++)
		opk_evaluation_free(table->inputs[i].evaluation);
	opk_set_free(table->set);
	for (size_t i = 0; i < table->input_count; i++) {
		opk_file_free(table->inputs[i].file);
		free(table->inputs[i].inflated);
		free(table->inputs[i].path);
		free(table->inputs[i].name);
	}
	free(table->inputs);
	opk_strlist_clear(&table->metrics);
	opk_strlist_clear(&table->chosen);
	opk_strlist_clear(&table->where);
	opk_strlist_clear(&table->about);
	free(table->wanted);
	free(table->columns);
	free(table->headers);
	free(table->sources);
	free(table->cells);
	free(table->texts);
	free(table->known);
	free(table->has_values);
	free(table->has_metrics);
	free(table->picked);
	opk_ctx_free(table->ctx);
	free(table);
}

const struct opk_column *opk_table_columns(const struct opk_table *table, size_t *count)
{
	*count = table->column_count;
	return table->headers;
}

const struct opk_table_column *opk_table_get_column(const struct opk_table *table, size_t i)
{
	return i < table->column_count ? &table->columns[i] : NULL;
}

const struct opk_table_file *opk_table_get_file(const struct opk_table *table, size_t i)
{
	return i < table->input_count ? &table->inputs[i] : NULL;
}

const struct opk_ctx *opk_table_error(const struct opk_table *table)
{
	return table->ctx;
}
