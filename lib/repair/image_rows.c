/* SPDX-License-Identifier: BSD-2-Clause */
/* Asks NVIDIA's code, in a child, how many rows images have. */
#include "adapters/nv/nv.h"
#include "child/child.h"
#include "eval/eval.h"
#include "repair/repair_inside.h"

struct question {
	const struct opk_file *file;
	enum opk_profiler profiler;
	const size_t *images; /* sections */
	const uint32_t *passes;
	size_t count;
};

static int count_rows(uint64_t *rows, struct opk_ctx *ctx, const struct question *question,
                      uint32_t pass, const void *image, size_t size)
{
	struct opk_nv_image_info info;
	size_t found = 0;
	int code = opk_blame_image(opk_nv_image_info(&info, ctx, image, size));

	if (!code)
		code = opk_image_check(&found, ctx, &info, size, question->profiler, pass);
	*rows = found;
	return code;
}

static int count_in_child(struct opk_ctx *ctx, void *data, struct opk_child *child)
{
	const struct question *question = data;
	struct opk_decoder decoder = { 0 };

	for (size_t i = 0; i < question->count; i++) {
		const void *image;
		uint64_t rows = 0;
		size_t size;

		opk_child_progress(child, i, question->count);
		TRY(opk_file_decode(&image, &size, ctx, question->file, question->images[i],
		                    &decoder));
		TRY(count_rows(&rows, ctx, question, question->passes[i], image, size));
		opk_put_number(child, rows);
	}
	return OPK_OK;
}

int opk_image_rows(uint64_t *rows, struct opk_ctx *ctx, const struct opk_file *file,
                   enum opk_profiler profiler, const size_t *images, const uint32_t *passes,
                   size_t count)
{
	struct question question = { file, profiler, images, passes, count };
	struct opk_contain_options options = { 0 };
	opk_autosent struct opk_result result = { 0 };

	for (size_t i = 0; i < count; i++) {
		uint64_t memory = 4 * file->sections[images[i]].plain_size;

		if (memory > options.limits.memory)
			options.limits.memory = memory;
	}
	TRY(opk_contain(&result, ctx, count_in_child, &question, &options));
	for (size_t i = 0; i < count; i++)
		rows[i] = opk_get_number(&result, file->sections[images[i]].plain_size);
	return opk_result_check(&result, ctx);
}
