/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_code CUBIN INSTRUCTIONS: how long rows of so many instructions take, of as many copies of
 * the cubin as have them; a copy is a module of its own.
 */
#include <unistd.h>

#include "base/file.h"
#include "code/door.h"
#include "container/door.h"
#include "program.h"

static const char *const metric = "smsp__sass_inst_executed";

/* A count of each instruction of the module's functions. */
static size_t add_module(struct opk_writer *writer, const struct opk_module *module, size_t most)
{
	struct opk_instruction *rows = calloc(most, sizeof *rows);
	uint64_t *counts = calloc(most, sizeof *counts);
	struct opk_cubin_function function;
	struct opk_cubin cubin;
	size_t at = 0, count = 0;

	must(opk_cubin_init(&cubin, ctx, module->data, module->size));
	while (opk_cubin_next_function(&function, &cubin, &at))
		for (uint32_t i = 0; i < function.size && count < most; i += 16) {
			counts[count] = i;
			rows[count++] = (struct opk_instruction){ .module = module->crc,
				                                  .function = function.name,
				                                  .offset = i,
				                                  .launches = 1,
				                                  .rank = -1 };
		}
	must(opk_writer_add_module(writer, module));
	must(opk_writer_add_instructions(writer, &(struct opk_instruction_table){ &metric, 1, rows,
	                                                                          count, counts }));
	free(rows);
	free(counts);
	return count;
}

static void write_recording(const char *path, const char *name, size_t wanted)
{
	struct opk_module module = { .has_code = true };
	struct opk_writer *writer;
	size_t count = 0;
	void *data;

	must(opk_read_file(&data, &module.size, ctx, name));
	module.data = data;
	must(opk_writer_new(&writer, ctx, path));
	must(opk_writer_add_meta(writer, &(struct opk_meta){ .kind = "recording",
	                                                     .chip = "GH100",
	                                                     .profiler = OPK_PROFILER_SASS,
	                                                     .metrics = &metric,
	                                                     .metric_count = 1 }));
	while (count < wanted) {
		module.crc++;
		count += add_module(writer, &module, wanted - count);
	}
	must(opk_writer_finish(writer));
	opk_writer_free(writer);
	free(data);
}

static void bench(const char *path, const char *what, enum opk_rows rows)
{
	double start = seconds_of(CLOCK_MONOTONIC);
	struct opk_evaluation *evaluation;
	const struct opk_row *row;
	struct opk_file *file;
	size_t count = 0;

	must(opk_file_open(&file, ctx, path));
	must(opk_code_eval(&evaluation, ctx, file, NULL, rows));
	for (;;) {
		must(opk_evaluation_next(&row, ctx, evaluation));
		if (!row)
			break;
		count++;
	}
	printf("%-12s %7zu rows %8.3f s\n", what, count, seconds_of(CLOCK_MONOTONIC) - start);
	opk_evaluation_free(evaluation);
	opk_file_free(file);
}

int main(int argc, char **argv)
{
	char path[] = "/tmp/bench_code_XXXXXX";
	int fd = mkstemp(path);

	if (argc != 3 || fd < 0 || opk_ctx_new(&ctx, NULL))
		return 1;
	close(fd);
	unlink(path);
	write_recording(path, argv[1], strtoul(argv[2], NULL, 10));
	bench(path, "functions", OPK_ROWS_FUNCTIONS);
	bench(path, "lines", OPK_ROWS_LINES);
	bench(path, "instructions", OPK_ROWS_INSTRUCTIONS);
	unlink(path);
	opk_ctx_free(ctx);
	return 0;
}
