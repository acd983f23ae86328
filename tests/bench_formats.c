/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_formats RECORDING VALUES: how fast so many values are written in each format. The rows are
 * the recording's, again and again; evaluating them is not in the times.
 */
#include "database/door.h"
#include "eval/door.h"
#include "output/door.h"
#include "program.h"

enum { MAX_ROWS = 64 };

static struct opk_evaluation *evaluation;
static double *values[MAX_ROWS];
static union opk_cell *cells[MAX_ROWS];
static size_t row_count, column_count, wanted;

static void read_rows(const char *path)
{
	struct opk_eval_options options = OPK_INIT(options);
	const struct opk_row *row;
	struct opk_file *file;

	must(opk_file_open(&file, ctx, path));
	must(opk_eval_file(&evaluation, ctx, file, &options));
	column_count = opk_evaluation_column_count(evaluation);
	for (; row_count < MAX_ROWS; row_count++) {
		must(opk_evaluation_next(&row, ctx, evaluation));
		if (!row)
			break;
		values[row_count] = calloc(column_count, sizeof *values[0]);
		cells[row_count] = calloc(column_count, sizeof *cells[0]);
		memcpy(values[row_count], opk_evaluation_values(evaluation),
		       column_count * sizeof *values[0]);
		for (size_t i = 0; i < column_count; i++)
			cells[row_count][i].number = values[row_count][i];
	}
}

static int count_bytes(void *data, const void *bytes, size_t size)
{
	(void)bytes;
	*(size_t *)data += size;
	return 0;
}

static void report(const char *name, double start, size_t bytes)
{
	double seconds = seconds_of(CLOCK_PROCESS_CPUTIME_ID) - start;

	printf("%-8s %8.3f s  %7.1f ns a value  %12zu bytes\n", name, seconds,
	       seconds * 1e9 / (double)wanted, bytes);
}

static void bench_text(const char *name, enum opk_format format)
{
	struct opk_out_options options = OPK_INIT(options);
	struct opk_column *columns = calloc(column_count, sizeof *columns);
	size_t bytes = 0;
	struct opk_out *out;
	double start = seconds_of(CLOCK_PROCESS_CPUTIME_ID);

	options.format = format;
	must(opk_out_new(&out, ctx, &options, count_bytes, &bytes));
	for (size_t i = 0; i < column_count; i++)
		columns[i] = (struct opk_column){ opk_evaluation_column(evaluation, i),
			                          OPK_CELL_DOUBLE };
	must(opk_out_table(out, "ranges", columns, column_count));
	for (size_t done = 0, row = 0; done < wanted; done += column_count, row++)
		must(opk_out_row(out, cells[row % row_count]));
	must(opk_out_finish(out));
	opk_out_free(out);
	free(columns);
	report(name, start, bytes);
}

static void bench_database(void)
{
	struct opk_database_run run = OPK_INIT(run);
	char path[] = "/tmp/bench_formats.XXXXXX";
	struct opk_database *database;
	int fd = mkstemp(path);
	double start = seconds_of(CLOCK_PROCESS_CPUTIME_ID);

	if (fd < 0)
		return;
	run.file = "bench";
	run.evaluation = evaluation;
	must(opk_database_new(&database, ctx, path, NULL));
	must(opk_database_add_run(database, &run));
	for (size_t done = 0, row = 0; done < wanted; done += column_count, row++) {
		const struct opk_row facts = { .index = row, .name = "range" };

		must(opk_database_add_row(database, &facts, values[row % row_count], NULL));
	}
	must(opk_database_finish(database));
	opk_database_free(database);
	report("sqlite", start, 0);
	remove(path);
}

int main(int argc, char **argv)
{
	if (argc != 3 || opk_ctx_new(&ctx, NULL))
		return 2;
	wanted = strtoul(argv[2], NULL, 10);
	read_rows(argv[1]);
	bench_text("csv", OPK_FORMAT_CSV);
	bench_text("json", OPK_FORMAT_JSON);
	bench_text("ndjson", OPK_FORMAT_NDJSON);
	bench_database();
	return 0;
}
