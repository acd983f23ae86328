/* SPDX-License-Identifier: BSD-2-Clause */
/* Images that PerfWorks' combiner makes in a child, or in several, of which each makes a part. */
#include "eval/eval.h"

int opk_made_begin(struct opk_made *made, struct opk_ctx *ctx, const void *like, size_t size,
                   const struct opk_nv_room *room)
{
	TRY(opk_blame_image(opk_nv_image_like(&made->image, &made->size, ctx, like, size, room)));
	return opk_blame_image(opk_nv_combiner_new(&made->combiner, ctx, made->image));
}

void opk_made_clear(struct opk_made *made)
{
	opk_nv_combiner_free(made->combiner);
	free(made->image);
	*made = (struct opk_made){ 0 };
}

void opk_made_send(const struct opk_made *made, struct opk_child *child, size_t slots)
{
	opk_put_bytes(child, made->image, made->size);
	for (size_t i = 0; made->size && i < slots; i++) {
		uint8_t begun = opk_nv_combiner_begun(made->combiner, i);

		opk_put(child, &begun, sizeof begun);
	}
}

int opk_part_receive(void **image, size_t *size, struct opk_ctx *ctx, struct opk_result *sent,
                     size_t slots)
{
	opk_autofree void *part = opk_get_bytes(size, sent, SIZE_MAX);
	struct opk_nv_image_info info;

	*image = NULL;
	TRY(opk_result_check(sent, ctx));
	if (!*size)
		return OPK_OK;
	TRY(opk_blame_image(opk_nv_image_info(&info, ctx, part, *size)));
	if (info.slots != slots)
		return opk_fail(ctx, OPK_EINPUT, "a part of an image has %zu ranges, not %zu",
		                info.slots, slots);
	*image = opk_take(part);
	return OPK_OK;
}

int opk_made_add(struct opk_made *made, struct opk_ctx *ctx, struct opk_child *child,
                 const void *image, struct opk_result *sent, size_t slots, opk_combine_fn *add)
{
	for (size_t i = 0; i < slots; i++) {
		uint8_t begun = 0;

		opk_child_progress(child, i, slots);
		opk_get(sent, &begun, sizeof begun);
		if (begun)
			TRY(opk_blame_image(add(ctx, made->combiner, i, image, i)));
	}
	return opk_result_check(sent, ctx);
}
