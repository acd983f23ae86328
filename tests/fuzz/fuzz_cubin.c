/* SPDX-License-Identifier: BSD-2-Clause */
/* Any bytes as a cubin: its sections and functions, which stay when its code is removed. */
#include <string.h>

#include "code/code_inside.h"
#include "fuzz.h"

/* Reads all bytes of all sections; returns the number of functions. */
static size_t use(struct opk_ctx *ctx, const void *data, size_t size)
{
	struct opk_cubin_function function;
	struct opk_cubin_section section;
	struct opk_line_table lines = { 0 };
	struct opk_cubin cubin;
	size_t at = 0, count = 0;
	unsigned sum = 0;

	if (opk_cubin_init(&cubin, ctx, data, size))
		return 0;
	for (size_t i = 0; i < 100 && i < cubin.count; i++) {
		if (!opk_cubin_section(&section, &cubin, i))
			continue;
		sum += (unsigned)strlen(section.name);
		for (uint64_t j = 0; j < section.size; j++)
			sum += section.data[j];
	}
	opk_line_table_read(&lines, ctx, &cubin);
	opk_clear_errors(ctx);
	while (opk_cubin_next_function(&function, &cubin, &at)) {
		struct opk_line_frame frames[OPK_MOST_FRAMES];
		size_t calls = opk_line_table_find(frames, &lines, function.section,
		                                   function.offset);

		for (size_t i = 0; i < calls; i++)
			sum += (unsigned)(strlen(frames[i].folder) + strlen(frames[i].file));
		sum += (unsigned)strlen(function.name);
		count++;
	}
	opk_line_table_clear(&lines);
	return sum == 1 ? 0 : count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct opk_ctx *ctx = fuzz_ctx();
	void *copy = malloc(size ? size : 1);

	memcpy(copy, data, size);
	use(ctx, copy, size);
	if (!opk_cubin_remove_code(ctx, copy, size))
		use(ctx, copy, size);
	free(copy);
	opk_ctx_free(ctx);
	return 0;
}
