/* SPDX-License-Identifier: BSD-2-Clause */
/* eval RUN.opk [COLUMN...]: the rows of a recording: metrics, and names of facts such as kernel. */
#include <inttypes.h>
#include <offpeak.h>
#include <stdio.h>

static int report(const struct opk_ctx *ctx, int code)
{
	for (size_t i = opk_error_count(ctx); i > 0; i--)
		fprintf(stderr, "%s\n", opk_error_message(ctx, i - 1));
	return code;
}

static void print_cell(const struct opk_column *column, const union opk_cell *cell)
{
	if (column->type == OPK_CELL_STRING)
		printf("  %s = %s\n", column->name, cell->string);
	else if (column->type == OPK_CELL_DOUBLE)
		printf("  %s = %.17g\n", column->name, cell->number);
	else if (column->type == OPK_CELL_UINT)
		printf("  %s = %" PRIu64 "\n", column->name, cell->uint);
	else if (column->type == OPK_CELL_OPTIONAL)
		printf("  %s = %" PRIu64 "\n", column->name, cell->optional.uint);
}

static int print_rows(struct opk_table *table)
{
	const union opk_cell *cells;
	const bool *known;
	size_t count, row = 0;
	const struct opk_column *columns = opk_table_columns(table, &count);
	int code;

	/* A row is there until the next one is read; NULL comes after the last. */
	while (!(code = opk_table_next(&cells, &known, table)) && cells) {
		printf("row %zu\n", row++);
		for (size_t i = 0; i < count; i++)
			if (known[i])
				print_cell(&columns[i], &cells[i]);
	}
	return code ? report(opk_table_error(table), code) : OPK_OK;
}

int main(int argc, char **argv)
{
	struct opk_ctx_options options = OPK_INIT(options);
	struct opk_table_options asked = OPK_INIT(asked);
	struct opk_env env = OPK_INIT(env);
	struct opk_table *table = NULL;
	struct opk_ctx *ctx;
	int code;

	if (argc < 2) {
		fprintf(stderr, "usage: eval RUN.opk [COLUMN...]\n");
		return OPK_EUSAGE;
	}
	opk_env_read(&env);
	options.env = &env;
	code = opk_ctx_new(&ctx, &options);
	if (code)
		return code;
	asked.columns = argc > 2 ? (const char *const *)argv + 2 : NULL;
	asked.column_count = (size_t)argc - 2;
	code = opk_table_new(&table, ctx, (const char *const *)argv + 1, 1, &asked);
	code = code ? report(ctx, code) : print_rows(table);
	opk_table_free(table);
	opk_ctx_free(ctx);
	return code;
}
