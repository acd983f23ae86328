/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * add_samples CUBIN OUT.opk INTERVAL ROW...: a recording of the function of tests/files/scale.cu.
 * INTERVAL is as --interval's, or "" if it is not known. A row is KIND OFFSET:LAUNCHES:NUMBER; the
 * kind is s, samples, or c, how often the instruction was executed: s16:0:1000
 */
#include <inttypes.h>

#include "adapters/deflate/deflate.h"
#include "base/file.h"
#include "container/container.h"
#include "program.h"
#include "freed.h"

enum { MOST_ROWS = 64 };

static void add_rows(struct opk_writer *writer, uint64_t crc, char kind, char **texts,
                     uint32_t interval)
{
	const char *metric = kind == 's' ? "smsp__pcsamp_sample_count" : "smsp__sass_inst_executed";
	struct opk_instruction rows[MOST_ROWS];
	uint64_t counts[MOST_ROWS];
	size_t count = 0;

	for (; *texts && count < MOST_ROWS; texts++) {
		struct opk_instruction *row = &rows[count];

		*row = (struct opk_instruction){
			.module = crc, .function = "_Z5scalePffi", .interval = interval, .rank = -1
		};
		if (**texts == kind
		    && sscanf(*texts + 1, "%" SCNu32 ":%" SCNu32 ":%" SCNu64, &row->offset,
		              &row->launches, &counts[count])
		               == 3)
			count++;
	}
	if (count)
		must(opk_writer_add_instructions(writer,
		                                 &(struct opk_instruction_table){ &metric, 1, rows,
		                                                                  count, counts }));
}

int main(int argc, char **argv)
{
	const char *metric = "smsp__pcsamp_sample_count";
	freed(opk_writer) *writer = NULL;
	opk_autofree void *data = NULL;
	size_t size;
	uint64_t crc;

	if (argc < 4 || opk_ctx_new(&ctx, NULL))
		return 1;
	must(opk_writer_new(&writer, ctx, argv[2]));
	must(opk_writer_add_meta(writer,
	                         &(struct opk_meta){
					 .kind = "recording",
					 .generator = "offpeak",
					 .chip = "GH100",
					 .profiler = OPK_PROFILER_PC,
					 .metrics = &metric,
					 .metric_count = 1,
					 .mode = "code",
					 .run = &(struct opk_property){ "interval", argv[3] },
					 .run_count = *argv[3] != '\0' }));
	must(opk_read_file(&data, &size, ctx, argv[1]));
	crc = opk_crc32(0, data, size);
	must(opk_writer_add_module(writer, &(struct opk_module){ crc, size, true, data }));
	add_rows(writer, crc, 's', argv + 4, *argv[3] ? (uint32_t)atoi(argv[3] + 2) : 0);
	add_rows(writer, crc, 'c', argv + 4, 0);
	must(opk_writer_finish(writer));
	opk_writer_free(opk_take(writer));
	opk_ctx_free(ctx);
	return 0;
}
