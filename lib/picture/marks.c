/* SPDX-License-Identifier: BSD-2-Clause */
/* Common parts of all pictures of kernels. */
#include "picture/picture.h"
#include "summary/door.h"

void opk_drawn_kernels_clear(struct opk_drawn_kernels *kernels)
{
	free(kernels->items);
	free(kernels->values);
	*kernels = (struct opk_drawn_kernels){ 0 };
}

int opk_drawn_kernels_init(struct opk_drawn_kernels *out, struct opk_ctx *ctx,
                           const struct opk_summary *summary)
{
	const struct opk_evaluation *evaluation = summary->evaluation;
	size_t columns = evaluation ? opk_evaluation_column_count(evaluation) : 0;
	size_t count = summary->group_count;

	*out = (struct opk_drawn_kernels){
		.items = opk_alloc_array(count + 1, sizeof *out->items),
		.values = opk_alloc_array(count * columns + 1, sizeof *out->values),
		.count = count,
		.unit = summary->time,
	};
	if (!out->items || !out->values) {
		opk_drawn_kernels_clear(out);
		return opk_nomem(ctx, "a picture");
	}
	for (size_t i = 0; i < count; i++) {
		const struct opk_summary_group *group = &summary->groups[i];
		double *values = out->values + i * columns;

		for (size_t j = 0; j < columns; j++)
			values[j] = group->of->columns[j].mean;
		out->items[i] = (struct opk_drawn){ group->name, group->time, group->share / 100,
			                            values };
	}
	return OPK_OK;
}

int opk_drawn_kernels_of_launches(struct opk_drawn_kernels *out, struct opk_ctx *ctx,
                                  const struct opk_summary *summary)
{
	size_t count = summary->kernel_count;

	*out = (struct opk_drawn_kernels){
		.items = opk_alloc_array(count + 1, sizeof *out->items),
		.count = count,
		.unit = OPK_SUMMARY_NS,
	};
	if (!out->items)
		return opk_nomem(ctx, "a picture");
	for (size_t i = 0; i < count; i++) {
		const struct opk_summary_kernel *kernel = &summary->kernels[i];

		out->items[i] = (struct opk_drawn){ kernel->name, (double)kernel->ran->time_ns,
			                            kernel->share / 100, NULL };
	}
	return OPK_OK;
}
