/* SPDX-License-Identifier: BSD-2-Clause */
/* How many ranges or samples images have: NVIDIA's code tells, in a child. */
#include "adapters/nv/nv.h"
#include "child/contain.h"
#include "container/container.h"
#include "repair/recover.h"

struct counting {
	const struct opk_file *file;
	struct opk_recovered *parts;
	size_t count;
};

static bool is_sound_image(const struct opk_recovered *part)
{
	return !part->table && part->sound;
}

/* More than there are bytes for is damage. */
static int count_ranges(size_t *count, struct opk_ctx *ctx, const void *image, size_t size)
{
	struct opk_nv_image_info info = { 0 };
	int code = opk_nv_image_info(&info, ctx, image, size);

	*count = code || info.completed > size / 8 ? OPK_UNCOUNTED : info.completed;
	if (code != OPK_EINPUT && code != OPK_EFAILED)
		return code;
	opk_clear_errors(ctx);
	return OPK_OK;
}

static int count_in_child(struct opk_ctx *ctx, void *data, struct opk_child *child)
{
	const struct counting *counting = data;
	struct opk_decoder decoder = { 0 };
	int code = OPK_OK;

	for (size_t i = 0; !code && i < counting->count; i++) {
		const struct opk_recovered *part = &counting->parts[i];
		const void *image;
		size_t size, count;

		if (!is_sound_image(part))
			continue;
		opk_child_progress(child, i, counting->count);
		code = opk_file_decode(&image, &size, ctx, counting->file, part->section, &decoder);
		if (!code)
			code = count_ranges(&count, ctx, image, size);
		if (!code)
			opk_put_number(child, count);
	}
	opk_decoder_clear(&decoder);
	return code;
}

static uint64_t largest_image(const struct counting *counting)
{
	uint64_t largest = 0;

	for (size_t i = 0; i < counting->count; i++) {
		const struct opk_recovered *part = &counting->parts[i];

		if (is_sound_image(part)
		    && counting->file->sections[part->section].plain_size > largest)
			largest = counting->file->sections[part->section].plain_size;
	}
	return largest;
}

int opk_recover_count(bool *counted, struct opk_ctx *ctx, const struct opk_file *file,
                      struct opk_recovered *parts, size_t count)
{
	struct counting counting = { file, parts, count };
	struct opk_contain_options options = { .limits.memory = 4 * largest_image(&counting) };
	opk_autosent struct opk_result result = { 0 };
	int code = opk_contain(&result, ctx, count_in_child, &counting, &options);

	*counted = false;
	if (code)
		return code == OPK_ENOMEM ? code : OPK_OK;
	for (size_t i = 0; i < count; i++)
		if (is_sound_image(&parts[i]))
			parts[i].ranges = opk_get_number(&result, SIZE_MAX);
	*counted = !result.code;
	return OPK_OK;
}
