/* SPDX-License-Identifier: BSD-2-Clause */
/* Looks up which metrics have a counter in a pass. */
#include "eval/eval.h"

#include "base/mem.h"

static int find_positions(struct opk_measured *measured, struct opk_ctx *ctx,
                          const char *const *metrics)
{
	const struct opk_meta *meta = measured->meta;
	opk_autoindex struct opk_index index = { 0 };

	for (size_t i = 0; meta && i < meta->metric_count; i++)
		if (!opk_index_find(NULL, &index, meta->metrics[i])
		    && !opk_index_add(&index, meta->metrics[i], i, NULL))
			return opk_nomem(ctx, "an evaluation");
	for (size_t i = 0; i < measured->count; i++)
		if (!opk_index_find(&measured->positions[i], &index, metrics[i]))
			measured->positions[i] = OPK_NOT_IN_SET;
	return OPK_OK;
}

static const struct opk_pass_list *passes_of(const struct opk_measured *measured, size_t position)
{
	static const struct opk_pass_list unknown = { NULL, 0 };

	return position < measured->meta->metric_pass_count
	               ? &measured->meta->metric_passes[position]
	               : &unknown;
}

static bool is_in_pass(const struct opk_measured *measured, size_t position, uint32_t pass)
{
	const struct opk_pass_list *list = passes_of(measured, position);

	for (size_t i = 0; i < list->count; i++)
		if (list->passes[i] == pass)
			return true;
	return false;
}

static void find_counted(struct opk_measured *measured)
{
	for (size_t i = 0; i < measured->count; i++) {
		size_t position = measured->positions[i];

		measured->counted[i] = position != OPK_NOT_IN_SET
		                       && passes_of(measured, position)->count;
	}
}

int opk_measured_init(struct opk_measured *measured, struct opk_ctx *ctx,
                      const struct opk_meta *meta, const char *const *metrics, size_t count)
{
	*measured = (struct opk_measured){
		.meta = meta,
		.count = count,
		.positions = opk_alloc_array(count, sizeof *measured->positions),
		.counted = opk_alloc_array(count, sizeof *measured->counted),
		.attribute = opk_alloc_array(count, sizeof *measured->attribute),
		.current = opk_alloc_array(count, sizeof *measured->current),
	};
	if (!measured->positions || !measured->counted || !measured->attribute
	    || !measured->current) {
		opk_measured_clear(measured);
		return opk_nomem(ctx, "an evaluation");
	}
	for (size_t i = 0; i < count; i++)
		measured->attribute[i] = opk_attribute_is_name(metrics[i]);
	if (find_positions(measured, ctx, metrics)) {
		opk_measured_clear(measured);
		return OPK_ENOMEM;
	}
	if (meta)
		find_counted(measured);
	return OPK_OK;
}

void opk_measured_clear(struct opk_measured *measured)
{
	free(measured->positions);
	free(measured->counted);
	free(measured->attribute);
	free(measured->current);
	*measured = (struct opk_measured){ 0 };
}

const bool *opk_measured_by(struct opk_measured *measured, uint32_t pass)
{
	/* Ranges of one pass follow upon each other. */
	if (measured->known && measured->pass == pass)
		return measured->current;
	measured->known = true;
	measured->pass = pass;
	if (!pass) {
		for (size_t i = 0; i < measured->count; i++)
			measured->current[i] = !measured->attribute[i];
		return measured->current;
	}
	for (size_t i = 0; i < measured->count; i++) {
		size_t position = measured->positions[i];

		measured->current[i] = position == OPK_NOT_IN_SET
		                               ? !measured->attribute[i]
		                               : is_in_pass(measured, position, pass);
	}
	return measured->current;
}
