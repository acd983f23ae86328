/* SPDX-License-Identifier: BSD-2-Clause */
/* Options of eval that depend on what the files are: traces without metrics, and code. */
#include <string.h>

#include "eval/eval_table.h"

/* Options for samples, or for ranges and their statistics. */
static int check_trace(struct eval *eval, const char *path)
{
	bool first = eval->drops_as_told || eval->first_sample != FIRST_DROP;
	const char *option = eval->per == PER_SAMPLE               ? "--per sample"
	                     : first                               ? "--first-sample"
	                     : eval->single                        ? "--join none"
	                     : eval->level                         ? "--level"
	                     : eval->is_tree                       ? "--layout tree"
	                     : eval->is_long && !eval->to_database ? "--layout long"
	                                                           : NULL;

	TRY(opk_trace_refuse(eval->app->ctx, path, option));
	TRY(opk_trace_check_key(eval->app->ctx, path, "--aggregate", eval->key));
	for (size_t i = 0; i < eval->order.key_count; i++)
		if (eval->order.keys[i].statistic)
			return app_error(eval->app, OPK_EUSAGE,
			                 "--sort %s:%s: %s only says what ran and when: time_ns is "
			                 "a sum, duration_ns a mean, and they have no statistics",
			                 eval->order.keys[i].name, eval->order.keys[i].statistic,
			                 path);
	return OPK_OK;
}

int eval_check_files(struct eval *eval)
{
	const struct opk_table_file *file;
	int code = OPK_OK;

	for (size_t i = 0; !code && (file = opk_table_get_file(eval->table, i)); i++)
		if (file->meta && !strcmp(file->meta->mode, "trace"))
			code = check_trace(eval, file->path);
	/* Here a row is all launches of a kernel, not a key group. */
	if (!opk_table_get_file(eval->table, 0)->aggregate) {
		free(eval->key);
		eval->key = NULL;
	}
	return code;
}

static bool is_trace(struct app *app, const char *path)
{
	opk_auto(opk_file) struct opk_file *file = NULL;
	const struct opk_meta *meta;

	return !opk_file_open(&file, app->ctx, path) && !opk_file_meta(&meta, app->ctx, file)
	       && !strcmp(meta->mode, "trace");
}

bool eval_is_code(struct app *app)
{
	opk_auto(opk_file) struct opk_file *file = NULL;
	struct opk_errors_mark mark;
	const struct opk_meta *meta;
	bool is;

	opk_errors_mark(&mark, app->ctx);
	is = app->argument_count && !opk_file_open(&file, app->ctx, *app->arguments)
	     && !opk_file_meta(&meta, app->ctx, file) && opk_profiler_is_code(meta->profiler);
	opk_errors_rewind(app->ctx, &mark);
	return is;
}

int eval_name_option(struct eval *eval, int failure)
{
	struct app *app = eval->app;
	struct opk_errors_mark mark;
	int code = OPK_OK;

	if (failure != OPK_EUSAGE)
		return failure;
	opk_errors_mark(&mark, app->ctx);
	for (size_t i = 0; !code && i < app->argument_count; i++) {
		if (!is_trace(app, app->arguments[i]))
			break;
		code = check_trace(eval, app->arguments[i]);
	}
	if (code)
		return opk_errors_keep(app->ctx, &mark, code);
	opk_errors_rewind(app->ctx, &mark);
	return failure;
}
