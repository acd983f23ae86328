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
	struct opk_made made;
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
	if (m->made.image)
		return OPK_OK;
	TRY(opk_made_begin(&m->made, m->ctx, image, size,
	                   &(struct opk_nv_room){ m->plan->slots, NAME_SIZE }));
	return opk_blame_image(
		opk_nv_combiner_ranges(m->ctx, m->made.combiner, m->plan->slots, NULL));
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
			TRY(opk_blame_image(opk_nv_combiner_average(m->ctx, m->made.combiner,
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

static int add_part(struct making *m, struct opk_result *result)
{
	size_t size;
	opk_autofree void *image = NULL;

	TRY(opk_part_receive(&image, &size, m->ctx, result, m->plan->slots));
	if (!image)
		return OPK_OK;
	TRY(begin(m, image, size));
	return opk_made_add(&m->made, m->ctx, m->child, image, result, m->plan->slots,
	                    opk_nv_combiner_average);
}

static void clear(struct making *m)
{
	opk_made_clear(&m->made);
	opk_layout_clear(&m->layout);
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
		opk_made_send(&m.made, child, m.plan->slots);
	*image = opk_take(m.made.image);
	*size = m.made.size;
	return OPK_OK;
}
