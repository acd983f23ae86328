/* SPDX-License-Identifier: BSD-2-Clause */
/* Looks up which metrics have all their counters in a pass. */
#include "eval/eval.h"

#include <math.h>

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

const struct opk_pass_list *opk_measured_passes(const struct opk_measured *measured, size_t metric)
{
	static const struct opk_pass_list unknown = { NULL, 0 };
	size_t position = measured->positions[metric];

	return measured->meta && position < measured->meta->metric_pass_count
	               ? &measured->meta->metric_passes[position]
	               : &unknown;
}

int opk_measured_init(struct opk_measured *measured, struct opk_ctx *ctx,
                      const struct opk_meta *meta, const char *const *metrics, size_t count)
{
	*measured = (struct opk_measured){
		.meta = meta,
		.count = count,
		.positions = opk_alloc_array(count, sizeof *measured->positions),
		.attribute = opk_alloc_array(count, sizeof *measured->attribute),
		.current = opk_alloc_array(count, sizeof *measured->current),
	};
	if (!measured->positions || !measured->attribute || !measured->current) {
		opk_measured_clear(measured);
		return opk_nomem(ctx, "an evaluation");
	}
	for (size_t i = 0; i < count; i++)
		measured->attribute[i] = opk_attribute_is_name(metrics[i]);
	if (find_positions(measured, ctx, metrics)) {
		opk_measured_clear(measured);
		return OPK_ENOMEM;
	}
	return OPK_OK;
}

void opk_measured_clear(struct opk_measured *measured)
{
	free(measured->positions);
	free(measured->attribute);
	free(measured->current);
	*measured = (struct opk_measured){ 0 };
}

uint64_t opk_launches_least(bool *equal, const struct opk_pass_list *needed,
                            const uint64_t *launches, size_t passes)
{
	size_t count = needed->count ? needed->count : passes;
	uint64_t least = count ? UINT64_MAX : launches[0], most = 0;

	for (size_t i = 0; i < count; i++) {
		size_t pass = needed->count ? needed->passes[i] : i + 1;
		uint64_t of_pass = launches[0] + (pass <= passes ? launches[pass] : 0);

		if (!of_pass && !needed->count)
			continue;
		least = of_pass < least ? of_pass : least;
		most = of_pass > most ? of_pass : most;
	}
	*equal = !count || least == most;
	return least == UINT64_MAX ? 0 : least;
}

const bool *opk_measured_by(struct opk_measured *measured, uint32_t pass)
{
	/* Ranges of the same pass follow each other. */
	if (measured->known && measured->pass == pass)
		return measured->current;
	measured->known = true;
	measured->pass = pass;
	for (size_t i = 0; i < measured->count; i++) {
		const struct opk_pass_list *passes = opk_measured_passes(measured, i);
		bool whole = !pass || !passes->count
		             || (passes->count == 1 && passes->passes[0] == pass);

		measured->current[i] = whole && !measured->attribute[i];
	}
	return measured->current;
}

const bool *opk_measured_by_mean(struct opk_measured *measured, const uint64_t *launches,
                                 size_t passes)
{
	bool equal;

	measured->known = false;
	for (size_t i = 0; i < measured->count; i++) {
		const struct opk_pass_list *needed = opk_measured_passes(measured, i);

		measured->current[i] = !measured->attribute[i]
		                       && (!needed->count
		                           || opk_launches_least(&equal, needed, launches, passes));
	}
	return measured->current;
}

bool opk_measured_has(const struct opk_measured *measured, size_t metric, uint32_t pass,
                      double value)
{
	return measured->current[metric]
	       && !(pass && !opk_measured_passes(measured, metric)->count && isnan(value));
}
