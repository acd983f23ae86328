/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * make_code CUBIN OUT.opk NAME COUNT FUNCTIONS: a recording of COUNT instructions in functions
 * called NAME, of which the first is the histogram in tests/files/insn.cubin. Instruction I, from
 * 0, has I modulo 50 samples and was executed 64 times.
 */
#include "container/container.h"
#include "freed.h"
#include "program.h"

enum { CRC = 0xd06011c0, METRICS = 3 };

static const char *const metrics[METRICS] = { "smsp__pcsamp_warps_issue_stalled_wait",
	                                      "smsp__pcsamp_warps_issue_stalled_selected",
	                                      "smsp__sass_inst_executed" };

/* Lines alone: a disassembler that may be here changes nothing. */
static void add_module(struct opk_writer *writer, const char *name)
{
	char data[1 << 16];
	size_t size;
	FILE *in = fopen(name, "rb");

	if (!in)
		exit(1);
	size = fread(data, 1, sizeof data, in);
	fclose(in);
	must(opk_cubin_remove_code(ctx, data, size));
	must(opk_writer_add_module(writer, &(struct opk_module){ CRC, size, false, data }));
}

/* The i-th row is in function i / each. */
static void fill(struct opk_instruction *rows, uint64_t *values, uint32_t count, const char *name,
                 char (*symbols)[24], uint32_t each)
{
	for (uint32_t i = 0; i < count; i++) {
		char *symbol = symbols[i / each];

		if (i % each == 0)
			snprintf(symbol, sizeof *symbols, i ? "function%u" : "_Z9histogramPKjPji",
			         i / each);
		rows[i] = (struct opk_instruction){ .module = CRC,
			                            .function = symbol,
			                            .name = name,
			                            .offset = 16 * (i % each),
			                            .launches = 1,
			                            .rank = -1 };
		values[METRICS * (size_t)i] = i % 50;
		values[METRICS * (size_t)i + 2] = 64;
	}
}

static void add_counts(struct opk_writer *writer, const char *name, uint32_t count,
                       uint32_t functions)
{
	struct opk_instruction *rows = calloc(count, sizeof *rows);
	uint64_t *values = calloc(count, METRICS * sizeof *values);
	char(*symbols)[24] = calloc(functions, sizeof *symbols);

	fill(rows, values, count, name, symbols, count / functions);
	must(opk_writer_add_instructions(writer, &(struct opk_instruction_table){
							 metrics, METRICS, rows, count, values }));
	free(symbols);
	free(values);
	free(rows);
}

int main(int argc, char **argv)
{
	freed(opk_writer) *writer = NULL;

	/* Each function has as many instructions. */
	if (argc < 6 || opk_ctx_new(&ctx, NULL))
		return 1;
	must(opk_writer_new(&writer, ctx, argv[2]));
	must(opk_writer_add_meta(writer, &(struct opk_meta){ .kind = "recording",
	                                                     .generator = "offpeak",
	                                                     .chip = "GH100",
	                                                     .profiler = OPK_PROFILER_PC,
	                                                     .metrics = metrics,
	                                                     .metric_count = METRICS,
	                                                     .mode = "code" }));
	add_module(writer, argv[1]);
	add_counts(writer, argv[3], (uint32_t)atoi(argv[4]), (uint32_t)atoi(argv[5]));
	must(opk_writer_finish(writer));
	opk_writer_free(opk_take(writer));
	opk_ctx_free(ctx);
	return 0;
}
