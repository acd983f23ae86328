/* SPDX-License-Identifier: BSD-2-Clause */
/* eval RUN.opk [METRIC...]: the ranges of a recording with the values that were asked for. */
#include <offpeak.h>
#include <stdio.h>
#include <stdlib.h>

static int report(const struct opk_ctx *ctx, int code)
{
	for (size_t i = opk_error_count(ctx); i > 0; i--)
		fprintf(stderr, "%s\n", opk_error_message(ctx, i - 1));
	return code;
}

/* Columns are metrics and what is derived of them; `columns` has room for their values. */
static void print_row(const struct opk_evaluation *evaluation, const struct opk_row *row,
                      double *columns)
{
	opk_evaluation_compute(columns, evaluation, row->values);
	printf("%zu %s\n", row->index,
	       row->range && *row->range->kernel ? row->range->kernel : row->name);
	for (size_t i = 0; i < opk_evaluation_column_count(evaluation); i++)
		printf("  %s = %.17g %s\n", opk_evaluation_column(evaluation, i), columns[i],
		       opk_evaluation_column_unit(evaluation, i));
}

static int print_rows(struct opk_ctx *ctx, struct opk_evaluation *evaluation)
{
	size_t count = opk_evaluation_column_count(evaluation);
	double *columns = (double *)calloc(count, sizeof *columns);
	const struct opk_row *row;
	int code = columns || !count ? OPK_OK : OPK_ENOMEM;

	/* A row is there until the next one is read; NULL comes after the last. */
	while (!code && !(code = opk_evaluation_next(&row, ctx, evaluation)) && row)
		print_row(evaluation, row, columns);
	free(columns);
	return code;
}

static int evaluate(struct opk_ctx *ctx, const char *path, const struct opk_eval_options *options)
{
	struct opk_file *file = NULL;
	struct opk_evaluation *evaluation = NULL;
	int code = opk_file_open(&file, ctx, path);

	if (!code)
		code = opk_eval_file(&evaluation, ctx, file, options);
	if (!code)
		code = print_rows(ctx, evaluation);
	opk_evaluation_free(evaluation); /* before the file, from which it borrows */
	opk_file_free(file);
	return code;
}

int main(int argc, char **argv)
{
	struct opk_ctx_options options = OPK_INIT(options);
	struct opk_eval_options asked = OPK_INIT(asked);
	struct opk_env env = OPK_INIT(env);
	struct opk_ctx *ctx;
	int code;

	if (argc < 2) {
		fprintf(stderr, "usage: eval RUN.opk [METRIC...]\n");
		return OPK_EUSAGE;
	}
	opk_env_read(&env);
	options.env = &env;
	code = opk_ctx_new(&ctx, &options);
	if (code)
		return code;
	asked.metrics = (const char *const *)argv + 2;
	asked.metric_count = (size_t)argc - 2;
	code = evaluate(ctx, argv[1], argc > 2 ? &asked : NULL);
	if (code)
		report(ctx, code);
	opk_ctx_free(ctx);
	return code;
}
