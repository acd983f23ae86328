/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads any config image, in a child process: NVIDIA's code crashes on foreign bytes. */
#include <string.h>

#include "adapters/nv/nv.h"
#include "base/listing.h"
#include "child/child.h"
#include "plan/plan.h"

struct image {
	const void *data;
	size_t size;
};

/* The first chip whose name is in the image as a whole word. */
static int find_chip(const char **out, struct opk_ctx *ctx, const struct opk_strlist *chips,
                     const struct image *image)
{
	*out = "";
	for (size_t i = 0; i < chips->count; i++)
		if (memmem(image->data, image->size, chips->items[i],
		           strlen(chips->items[i]) + 1)) {
			*out = chips->items[i];
			return OPK_OK;
		}
	return opk_fail(ctx, OPK_EINPUT, "it names no chip that this library knows");
}

static int put_passes(struct opk_ctx *ctx, struct opk_child *child, const void *image, size_t size)
{
	size_t passes;
	int code = opk_nv_passes(&passes, ctx, image, size);

	if (code)
		return opk_blame_image(code);
	opk_put_number(child, passes);
	for (size_t i = 0; !code && i < passes; i++) {
		opk_autostrlist struct opk_strlist counters = { 0 };

		code = opk_nv_config_counters(&counters, ctx, image, size, i);
		opk_put_number(child, counters.count);
	}
	return opk_blame_image(code);
}

static int look_at(struct opk_ctx *ctx, void *data, struct opk_child *child)
{
	const struct image *image = data;
	opk_autostrlist struct opk_strlist chips = { 0 };
	void *copy = opk_child_guarded_copy(image->data, image->size);
	const char *chip;

	TRY(copy ? opk_nv_chips(&chips, ctx) : opk_nomem(ctx, "a config image"));
	TRY(find_chip(&chip, ctx, &chips, image));
	opk_put_bytes(child, chip, strlen(chip));
	return put_passes(ctx, child, copy, image->size);
}

/* More passes than bytes make no sense. */
static int read_rows(struct opk_listing *rows, struct opk_ctx *ctx, struct opk_result *result,
                     size_t most)
{
	opk_autofree char *chip = opk_get_bytes(NULL, result, most);
	size_t passes = opk_get_number(result, most);

	opk_result_expect(result, passes > 0);
	for (size_t i = 0; i < passes; i++) {
		size_t counters = opk_get_number(result, most);

		opk_listing_row(rows, cell_number(i + 1), cell_number(counters), cell_text(chip));
	}
	return opk_result_check(result, ctx);
}

int opk_config_info(struct opk_listing **out, struct opk_ctx *ctx, const void *image, size_t size)
{
	struct image job = { image, size };
	opk_autosent struct opk_result result = { 0 };
	opk_auto(opk_listing) struct opk_listing *rows = opk_listing_new("pass# counters# chip");
	int code = opk_contain(&result, ctx, look_at, &job, NULL);

	if (!code)
		code = read_rows(rows, ctx, &result, size);
	return code ? opk_add(ctx, code, "these bytes are not a config image that can be read")
	            : opk_listing_finish(out, ctx, opk_take(rows));
}
