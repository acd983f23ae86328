/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * add_code CUBIN OUT.opk PROFILER [lines|none]: a recording of "sass" or "pc" with counts of two
 * instructions of the histogram in tests/files/insn.cubin, and this module.
 */
#include "base/file.h"
#include "container/container.h"
#include "program.h"
#include "freed.h"

enum { CRC = 0xd06011c0 };

static void add_module(struct opk_writer *writer, const char *name, bool lines)
{
	size_t size;
	opk_autofree void *data = NULL;

	must(opk_read_file(&data, &size, ctx, name));
	if (lines)
		must(opk_cubin_remove_code(ctx, data, size));
	must(opk_writer_add_module(writer, &(struct opk_module){ CRC, size, !lines, data }));
}

static void add_counts(struct opk_writer *writer, const char *const *metric)
{
	static const uint64_t counts[] = { 64, 32 };
	struct opk_instruction rows[2];

	for (uint32_t i = 0; i < 2; i++)
		rows[i] = (struct opk_instruction){ .module = CRC,
			                            .function = "_Z9histogramPKjPji",
			                            .offset = 16 * i,
			                            .launches = 1,
			                            .rank = -1 };
	must(opk_writer_add_instructions(writer, &(struct opk_instruction_table){ metric, 1, rows,
	                                                                          2, counts }));
}

static void add_kernel(struct opk_writer *writer, uint64_t start)
{
	must(opk_writer_add_activities(writer,
	                               &(struct opk_activity){
					       .kind = OPK_ACTIVITY_KERNEL,
					       .name = "histogram(const unsigned int *, "
						       "unsigned int *, int)",
					       .symbol = "_Z9histogramPKjPji",
					       .start_ns = start,
					       .end_ns = start + 1000,
					       .rank = -1 },
	                               1));
}

int main(int argc, char **argv)
{
	bool sass = argc > 3 && !strcmp(argv[3], "sass");
	const char *metric = sass ? "smsp__sass_inst_executed.sum" : "smsp__pcsamp_sample_count";
	const char *code = argc > 4 ? argv[4] : "";
	freed(opk_writer) *writer = NULL;

	if (argc < 4 || opk_ctx_new(&ctx, NULL))
		return 1;
	must(opk_writer_new(&writer, ctx, argv[2]));
	must(opk_writer_add_meta(writer, &(struct opk_meta){ .kind = "recording",
	                                                     .generator = "offpeak",
	                                                     .chip = "GH100",
	                                                     .profiler = sass ? OPK_PROFILER_SASS
	                                                                      : OPK_PROFILER_PC,
	                                                     .metrics = &metric,
	                                                     .metric_count = 1,
	                                                     .mode = "kernel" }));
	if (strcmp(code, "none"))
		add_module(writer, argv[1], !strcmp(code, "lines"));
	add_counts(writer, &metric);
	add_kernel(writer, sass ? 1000 : 5000);
	must(opk_writer_finish(writer));
	opk_writer_free(opk_take(writer));
	opk_ctx_free(ctx);
	return 0;
}
