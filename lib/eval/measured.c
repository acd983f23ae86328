/* SPDX-License-Identifier: BSD-2-Clause */
/* Looks up which metrics a pass group has. */
#include "eval/eval.h"

#include <string.h>

#include "base/mem.h"

static size_t find(const struct opk_meta *meta, const char *name)
{
	for (size_t i = 0; i < meta->metric_count; i++)
		if (!strcmp(meta->metrics[i], name))
			return i;
	return OPK_NOT_IN_SET;
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
	bool recorded = meta && metrics == meta->metrics;

	*measured = (struct opk_measured){
		.meta = meta,
		.count = count,
		.positions = opk_alloc_array(count, sizeof *measured->positions),
		.grouped = opk_alloc_array(count, sizeof *measured->grouped),
		.in_group = opk_alloc_array(meta ? meta->metric_count : 1, sizeof(bool)),
		.current = opk_alloc_array(count, sizeof *measured->current),
	};
	if (!measured->positions || !measured->grouped || !measured->in_group
	    || !measured->current) {
		opk_measured_clear(measured);
		return opk_nomem(ctx, "an evaluation");
	}
	for (size_t i = 0; i < count; i++)
		measured->positions[i] = recorded ? i
		                         : meta   ? find(meta, metrics[i])
		                                  : OPK_NOT_IN_SET;
	if (meta)
		find_grouped(measured);
	return OPK_OK;
}

void opk_measured_clear(struct opk_measured *measured)
{
	free(measured->positions);
	free(measured->grouped);
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
		memset(measured->current, true, measured->count);
		return measured->current;
	}
	memset(measured->in_group, false, meta->metric_count);
	add_group(measured, &meta->groups[group - 1]);
	for (size_t i = 0; i < measured->count; i++) {
		size_t position = measured->positions[i];

		measured->current[i] = position == OPK_NOT_IN_SET || measured->in_group[position];
	}
	return measured->current;
}
