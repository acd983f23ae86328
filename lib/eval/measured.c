/* SPDX-License-Identifier: BSD-2-Clause */
/* Looks up which metrics a pass group has. */
#include "eval/eval.h"

#include <string.h>

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

static void add_group(struct opk_measured *measured, const struct opk_group *group)
{
	for (size_t i = 0; i < group->metric_count; i++)
		measured->in_group[group->metrics[i]] = true;
}

static void find_grouped(struct opk_measured *measured)
{
	for (size_t i = 0; i < measured->meta->group_count; i++)
		add_group(measured, &measured->meta->groups[i]);
	for (size_t i = 0; i < measured->count; i++) {
		size_t position = measured->positions[i];

		measured->grouped[i] = position != OPK_NOT_IN_SET && measured->in_group[position];
	}
}

int opk_measured_init(struct opk_measured *measured, struct opk_ctx *ctx,
                      const struct opk_meta *meta, const char *const *metrics, size_t count)
{
	*measured = (struct opk_measured){
		.meta = meta,
		.count = count,
		.positions = opk_alloc_array(count, sizeof *measured->positions),
		.grouped = opk_alloc_array(count, sizeof *measured->grouped),
		.attribute = opk_alloc_array(count, sizeof *measured->attribute),
		.in_group = opk_alloc_array(meta ? meta->metric_count : 1, sizeof(bool)),
		.current = opk_alloc_array(count, sizeof *measured->current),
	};
	if (!measured->positions || !measured->grouped || !measured->in_group
	    || !measured->attribute || !measured->current) {
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
		find_grouped(measured);
	return OPK_OK;
}

void opk_measured_clear(struct opk_measured *measured)
{
	free(measured->positions);
	free(measured->grouped);
	free(measured->attribute);
	free(measured->in_group);
	free(measured->current);
	*measured = (struct opk_measured){ 0 };
}

const bool *opk_measured_by(struct opk_measured *measured, uint32_t group)
{
	const struct opk_meta *meta = measured->meta;

	/* Ranges of one group follow upon each other. */
	if (measured->known && measured->group == group)
		return measured->current;
	measured->known = true;
	measured->group = group;
	if (!group) {
		for (size_t i = 0; i < measured->count; i++)
			measured->current[i] = !measured->attribute[i];
		return measured->current;
	}
	memset(measured->in_group, false, meta->metric_count);
	add_group(measured, &meta->groups[group - 1]);
	for (size_t i = 0; i < measured->count; i++) {
		size_t position = measured->positions[i];

		measured->current[i] = position == OPK_NOT_IN_SET ? !measured->attribute[i]
		                                                  : measured->in_group[position];
	}
	return measured->current;
}
