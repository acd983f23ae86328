/* SPDX-License-Identifier: BSD-2-Clause */
/* A cubin of nvcc -lineinfo, tests/files/insn.cubin, and counts of its instructions. */
#ifndef OPK_CUBINS_H
#define OPK_CUBINS_H

#include "testing.h"
#include "container/door.h"

#define HISTOGRAM "_Z9histogramPKjPji"
enum { CUBIN_CRC = 0xd06011c0, CUBIN_FUNCTIONS = 4, HISTOGRAM_COUNTED = 2 };

/* Loads a file of tests/files. */
static inline void *load_cubin_of(const char *name, size_t *size)
{
	char whole[256];
	FILE *in;
	void *data;

	snprintf(whole, sizeof whole, TEST_SOURCE_DIR "/files/%s", name);
	in = fopen(whole, "rb");
	ck_assert(in);
	data = malloc(1 << 16);
	ck_assert(data);
	*size = fread(data, 1, 1 << 16, in);
	fclose(in);
	return data;
}

static inline void *load_cubin(size_t *size)
{
	return load_cubin_of("insn.cubin", size);
}

/* Counts of two instructions of a function, in two launches. */
static inline void add_histogram(struct opk_ctx *ctx, struct opk_writer *writer)
{
	static const char *const names[] = { "smsp__sass_inst_executed.sum" };
	static const uint64_t counts[] = { 64, 64, 32, 64 };
	struct opk_instruction rows[4];

	for (uint32_t i = 0; i < 4; i++)
		rows[i] = (struct opk_instruction){ .module = CUBIN_CRC,
			                            .function = HISTOGRAM,
			                            .offset = 16 * (i % 2),
			                            .launch = 1 + i / 2,
			                            .launches = 1,
			                            .rank = -1 };
	ck_ok(ctx, opk_writer_add_instructions(writer, &(struct opk_instruction_table){
							       names, 1, rows, 4, counts }));
}

#endif
