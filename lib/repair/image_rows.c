/* SPDX-License-Identifier: BSD-2-Clause */
/* Asks NVIDIA's code, in a child, how many rows images have. */
#include "adapters/nv/nv.h"
#include "child/child.h"
#include "eval/eval.h"
#include "repair/repair_inside.h"

static int count_in_child(struct opk_ctx *ctx, void *data, struct opk_child *child)
{
	const struct opk_some_images *images = data;
	opk_autodecoder struct opk_decoder decoder = { 0 };

	for (size_t i = 0; i < images->count; i++) {
		struct opk_nv_image_info info;
		const void *image;
		size_t size, rows;

		opk_child_progress(child, i, images->count);
		TRY(opk_file_decode(&image, &size, ctx, images->file, images->sections[i],
		                    &decoder));
		TRY(opk_blame_image(opk_nv_image_info(&info, ctx, image, size)));
		TRY(opk_image_check(&rows, ctx, &info, size, images->profiler, images->passes[i]));
		opk_put_number(child, rows);
	}
	return OPK_OK;
}

static uint64_t size_of(const struct opk_some_images *images, size_t i)
{
	return images->file->sections[images->sections[i]].plain_size;
}

int opk_image_rows(uint64_t *rows, struct opk_ctx *ctx, const struct opk_some_images *images)
{
	struct opk_contain_options options = { 0 };
	opk_autosent struct opk_result result = { 0 };

	for (size_t i = 0; i < images->count; i++)
		if (4 * size_of(images, i) > options.limits.memory)
			options.limits.memory = 4 * size_of(images, i);
	TRY(opk_contain(&result, ctx, count_in_child, (void *)images, &options));
	for (size_t i = 0; i < images->count; i++)
		rows[i] = opk_get_number(&result, size_of(images, i));
	return opk_result_check(&result, ctx);
}
