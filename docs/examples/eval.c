/* SPDX-License-Identifier: BSD-2-Clause */
/* eval RUN.opk [COLUMN...]: a recording as CSV: metrics, and names of facts such as kernel. */
#include <inttypes.h>
#include <offpeak.h>
#include <stdio.h>
#include <stdlib.h>

/* Ends the program with a call's error, the outermost cause first, as the offpeak tool prints it. */
static void check(const struct opk_ctx *ctx, int code)
{
	for (size_t i = code ? opk_error_count(ctx) : 0; i > 0; i--)
		fprintf(stderr, "%s\n", opk_error_message(ctx, i - 1));
	if (code)
		exit(code);
}

int main(int argc, char **argv)
{
	struct opk_ctx_options options = OPK_INIT(options);
	struct opk_env env = OPK_INIT(env);
	struct opk_table_options asked = OPK_INIT(asked);
	const struct opk_column *columns;
	const union opk_cell *cells;
	struct opk_table *table;
	const bool *known;
	size_t count;
	struct opk_ctx *ctx;

	if (argc < 2) {
		fprintf(stderr, "usage: eval RUN.opk [COLUMN...]\n");
		return OPK_EUSAGE;
	}
	opk_env_read(&env);
	options.env = &env;
	if (opk_ctx_new(&ctx, &options))
		return OPK_ENOMEM;
	asked.columns = argc > 2 ? (const char *const *)argv + 2 : NULL;
	asked.column_count = (size_t)argc - 2;
	check(ctx, opk_table_new(&table, ctx, (const char *const *)argv + 1, 1, &asked));
	columns = opk_table_columns(table, &count);
	for (size_t i = 0; i < count; i++)
		printf("%s%c", columns[i].name, i + 1 < count ? ',' : '\n');
	while (check(opk_table_error(table), opk_table_next(&cells, &known, table)), cells) {
		for (size_t i = 0; i < count; i++) {
			if (known[i] && columns[i].type == OPK_CELL_STRING)
				printf("\"%s\"", cells[i].string);
			else if (known[i] && columns[i].type == OPK_CELL_DOUBLE)
				printf("%.17g", cells[i].number);
			else if (known[i])
				printf("%" PRIu64, columns[i].type == OPK_CELL_UINT
				                           ? cells[i].uint
				                           : cells[i].optional.uint);
			putchar(i + 1 < count ? ',' : '\n');
		}
	}
	opk_table_free(table);
	opk_ctx_free(ctx);
	return 0;
}
