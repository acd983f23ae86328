/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes images of mean ranges with PerfWorks' combiner, in a child. */
#include <string.h>

#include "adapters/nv/nv.h"
#include "container/container.h"
#include "eval/eval_inside.h"

struct making {
	struct opk_ctx *ctx;
	struct opk_child *child;
	const struct opk_eval_job *job;
	size_t number; /* of the image */
	const struct opk_mean_image *plan;
	/* The image being made, after the first range. */
	void *image;
	size_t size;
	struct opk_nv_combiner *combiner;
	struct opk_layout layout; /* of the images whose ranges are in it */
};

/* The combiner crashes on ranges from images of another layout. */
static int begin(struct making *m, const void *image, size_t size)
{
	enum { NAME_SIZE = 24 };
	bool fits = true;

	TRY(opk_layout_fits(&fits, &m->layout, m->ctx, image, size));
	if (!fits)
		return opk_fail(m->ctx, OPK_EINPUT,
		                "ranges of different GPUs, or of other counters or instances, "
		                "can't be joined: evaluate each by itself, without a join");
	if (m->image)
		return OPK_OK;
	TRY(opk_blame_image(opk_nv_image_like(&m->image, &m->size, m->ctx, image, size,
	                                      &(struct opk_nv_room){ m->plan->slots, NAME_SIZE })));
	TRY(opk_blame_image(opk_nv_combiner_new(&m->combiner, m->ctx, m->image)));
	return opk_blame_image(opk_nv_combiner_ranges(m->ctx, m->combiner, m->plan->slots, NULL));
}

/* ---- of the file's images --------------------------------------------------------------- */

/* `first`: the number of the segment's first row. */
static int add_ranges(struct making *m, const struct opk_segment *segment, size_t first,
                      const void *image, size_t size)
{
	const struct opk_joining *joining = m->job->joining;
	struct opk_nv_image_info info;
	size_t rows;

	TRY(opk_blame_image(opk_nv_image_info(&info, m->ctx, image, size)));
	TRY(opk_image_check(&rows, m->ctx, &info, size, OPK_PROFILER_RANGE, segment->pass));
	TRY(opk_segment_check(m->ctx, segment, rows));
	TRY(begin(m, image, size));
	for (size_t i = 0; i < segment->row_count; i++) {
		size_t group = joining->group_of[first + i];

		if (group != SIZE_MAX && joining->means[group].image == m->number)
			TRY(opk_blame_image(opk_nv_combiner_average(m->ctx, m->combiner,
			                                            joining->means[group].slot,
			                                            image, i)));
	}
	return OPK_OK;
}

static int add_source(struct making *m, const struct opk_mean_source *source,
                      struct opk_decoder *decoder)
{
	const struct opk_eval_job *job = m->job;
	const struct opk_segment *segment = &job->segments[source->segment];
	const void *image;
	size_t size;
	int code = opk_file_decode(&image, &size, m->ctx, job->file, segment->image, decoder);

	if (code)
		return code;
	code = add_ranges(m, segment, source->row, image, size);
	if (code == OPK_EINPUT)
		opk_file_add_place(m->ctx, code, job->file, segment->image);
	return code;
}

static int add_file(struct making *m)
{
	const struct opk_mean_source *sources = m->plan->sources;
	size_t count = m->plan->source_count;
	struct opk_decoder decoder = { 0 };
	int code = OPK_OK;

	for (size_t i = 0; !code && i < count; i++) {
		opk_child_progress(m->child, i, count);
		if (sources[i].segment >= m->job->first && sources[i].segment < m->job->end)
			code = add_source(m, &sources[i], &decoder);
	}
	opk_decoder_clear(&decoder);
	return code;
}

/* ---- of what other children made -------------------------------------------------------- */

static int check_part(struct making *m, const void *image, size_t size)
{
	struct opk_nv_image_info info;

	TRY(opk_blame_image(opk_nv_image_info(&info, m->ctx, image, size)));
	if (info.slots != m->plan->slots)
		return opk_fail(m->ctx, OPK_EINPUT, "a part of a mean has %zu ranges, not %zu",
		                info.slots, m->plan->slots);
	return OPK_OK;
}

/* Sends the image, and for each slot whether it has data. */
static void put_part(const struct making *m)
{
	opk_put_bytes(m->child, m->image, m->size);
	for (size_t i = 0; m->size && i < m->plan->slots; i++) {
		uint8_t begun = opk_nv_combiner_begun(m->combiner, i);

		opk_put(m->child, &begun, sizeof begun);
	}
}

static int add_part(struct making *m, struct opk_result *result)
{
	size_t size;
	opk_autofree void *image = opk_get_bytes(&size, result, SIZE_MAX);

	TRY(opk_result_check(result, m->ctx));
	if (!size)
		return OPK_OK;
	TRY(check_part(m, image, size));
	TRY(begin(m, image, size));
	for (size_t i = 0; i < m->plan->slots; i++) {
		uint8_t begun = 0;

		opk_child_progress(m->child, i, m->plan->slots);
		opk_get(result, &begun, sizeof begun);
		if (begun)
			TRY(opk_blame_image(
				opk_nv_combiner_average(m->ctx, m->combiner, i, image, i)));
	}
	return opk_result_check(result, m->ctx);
}

static void clear(struct making *m)
{
	opk_nv_combiner_free(m->combiner);
	opk_layout_clear(&m->layout);
	free(m->image);
}

int opk_means_make(void **image, size_t *size, struct opk_ctx *ctx, struct opk_child *child,
                   const struct opk_eval_job *job, size_t number)
{
	__attribute__((cleanup(clear))) struct making m = {
		.ctx = ctx,
		.child = child,
		.job = job,
		.number = number,
		.plan = &job->joining->images[number],
	};

	if (!job->parts)
		TRY(add_file(&m));
	for (size_t i = 0; i < job->part_count; i++)
		TRY(add_part(&m, &job->parts[i]));
	if (job->partial)
		put_part(&m);
	*image = opk_take(m.image);
	*size = m.size;
	return OPK_OK;
}
