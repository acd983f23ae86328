/* SPDX-License-Identifier: BSD-2-Clause */
/* Plans rows made of several ranges: which ranges, and which image has their mean. */
#include <math.h>
#include <string.h>

#include "container/container.h"
#include "eval/eval_inside.h"

enum { IMAGE_SLOTS = 1000 };

static int fail_nomem(struct opk_ctx *ctx)
{
	return opk_nomem(ctx, "joined ranges");
}

/* ---- rows ------------------------------------------------------------------------------- */

static int find_key(unsigned *key, struct opk_ctx *ctx, const char *how)
{
	/* Launches match only by index and kernel: programs may take different paths. */
	static const struct {
		const char *how;
		unsigned key;
	} joins[] = {
		{ "kernel", OPK_KEY_KERNEL | OPK_KEY_SHAPE | OPK_KEY_SHARED | OPK_KEY_GPU },
		{ "launch",
		  OPK_KEY_KERNEL | OPK_KEY_SHAPE | OPK_KEY_LAUNCH | OPK_KEY_GPU | OPK_KEY_RANK },
		{ "name", OPK_KEY_NAME | OPK_KEY_GPU | OPK_KEY_RANK },
	};

	for (size_t i = 0; i < sizeof joins / sizeof *joins; i++)
		if (!strcmp(how, joins[i].how)) {
			*key = joins[i].key;
			return OPK_OK;
		}
	return opk_fail(ctx, OPK_EUSAGE, "'%s' is not a way to join ranges", how);
}

static int add_mean(struct opk_joining *joining, struct opk_ctx *ctx, size_t metrics)
{
	struct opk_mean *mean = opk_append(&joining->means, &joining->capacity, &joining->count,
	                                   sizeof *mean);

	if (!mean)
		return fail_nomem(ctx);
	*mean = (struct opk_mean){
		.launches = opk_alloc_array(joining->passes + 1, sizeof *mean->launches),
		.values = opk_alloc_array(metrics + 1, sizeof *mean->values),
		.counts = opk_alloc_array(metrics + 1, sizeof *mean->counts),
	};
	return mean->launches && mean->values && mean->counts ? OPK_OK : fail_nomem(ctx);
}

/* Adds attributes, which images lack. */
static void add_attributes(struct opk_mean *mean, const struct opk_eval_job *job,
                           const struct opk_range *range)
{
	for (size_t i = 0; i < job->metric_count; i++) {
		double value;

		if (!opk_attribute_is_name(job->metrics[i]))
			continue;
		value = opk_attribute_value(job->metrics[i], job->meta, range);
		if (isnan(value))
			continue;
		mean->values[i] += value;
		mean->counts[i]++;
	}
}

static void average_attributes(struct opk_joining *joining, size_t metrics)
{
	for (size_t i = 0; i < joining->count; i++)
		for (size_t j = 0; j < metrics; j++)
			if (joining->means[i].counts[j])
				joining->means[i].values[j] /= (double)joining->means[i].counts[j];
}

static int take_row(struct opk_joining *joining, struct opk_ctx *ctx,
                    const struct opk_eval_job *job, const struct opk_segment *segment, size_t i,
                    size_t number)
{
	struct opk_row row = { .index = number, .name = "" };
	struct opk_mean *mean;
	struct opk_range room;
	bool accepted;
	size_t group;

	opk_segment_describe(&row, &room, segment, i);
	TRY(opk_filter_accepts(&accepted, ctx, job->filter, OPK_PROFILER_RANGE, &row, 0));
	if (!accepted)
		return OPK_OK;
	if (joining->grouping.key & OPK_KEY_NAME && !*row.name)
		return opk_fail(ctx, OPK_EINPUT,
		                "its ranges are joined by name, and the range table has none");
	TRY(opk_grouping_add(&group, &joining->grouping, ctx, row.name, row.range));
	if (group == joining->count)
		TRY(add_mean(joining, ctx, job->metric_count));
	mean = &joining->means[group];
	add_attributes(mean, job, row.range);
	if (mean->launches[segment->pass] == OPK_MOST_AVERAGED)
		return OPK_OK;
	mean->launches[segment->pass]++;
	joining->group_of[number] = group;
	return OPK_OK;
}

static int take_rows(struct opk_joining *joining, struct opk_ctx *ctx,
                     const struct opk_eval_job *job)
{
	size_t number = 0;

	for (size_t i = job->first; i < job->end; i++) {
		const struct opk_segment *segment = &job->segments[i];

		joining->left_out += !segment->has_ranges;
		for (size_t j = 0; j < segment->row_count; j++, number++) {
			joining->group_of[number] = SIZE_MAX;
			if (segment->has_ranges && !job->unwanted[i])
				TRY(take_row(joining, ctx, job, segment, j, number));
		}
	}
	if (!joining->count && joining->left_out)
		return opk_fail(ctx, OPK_EINPUT, "ranges can't be joined without a range table");
	return OPK_OK;
}

/* ---- images ----------------------------------------------------------------------------- */

/* One per GPU. */
struct gpu {
	uint64_t slot_size;           /* bytes that a range takes at most */
	struct opk_mean_image *image; /* now being filled, or NULL */
};

/* Takes the least size of a slot over images, since some images have free slots. */
static void find_slot_sizes(struct gpu *gpus, const struct opk_joining *joining,
                            const size_t *gpu_of, const struct opk_eval_job *job)
{
	size_t number = 0;

	for (size_t i = job->first; i < job->end; i++) {
		const struct opk_segment *segment = &job->segments[i];
		uint64_t size = job->file->sections[segment->image].plain_size;

		for (size_t j = 0; j < segment->row_count; j++, number++) {
			size_t group = joining->group_of[number];
			struct gpu *gpu = group == SIZE_MAX ? NULL : &gpus[gpu_of[group]];

			if (gpu && (!gpu->slot_size || gpu->slot_size > size / segment->row_count))
				gpu->slot_size = size / segment->row_count + 1;
		}
	}
}

static void put_into_image(struct opk_joining *joining, struct gpu *gpu, size_t group)
{
	size_t most = gpu->slot_size ? OPK_MEANS_BYTES / gpu->slot_size : 1;

	most = most > IMAGE_SLOTS ? IMAGE_SLOTS : most ? most : 1;
	if (!gpu->image || gpu->image->slots == most)
		gpu->image = &joining->images[joining->image_count++];
	joining->means[group].image = (size_t)(gpu->image - joining->images);
	joining->means[group].slot = gpu->image->slots++;
}

static int add_segment(struct opk_mean_image *image, struct opk_ctx *ctx, size_t segment,
                       size_t row)
{
	struct opk_mean_source *source;

	if (image->source_count && image->sources[image->source_count - 1].segment == segment)
		return OPK_OK;
	source = opk_append(&image->sources, &image->capacity, &image->source_count,
	                    sizeof *source);
	if (!source)
		return fail_nomem(ctx);
	*source = (struct opk_mean_source){ segment, row };
	return OPK_OK;
}

/* Finds the segments that have ranges of an image. */
static int find_segments(struct opk_joining *joining, struct opk_ctx *ctx,
                         const struct opk_eval_job *job)
{
	size_t row = 0;

	for (size_t i = job->first; i < job->end; row += job->segments[i++].row_count)
		for (size_t j = 0; j < job->segments[i].row_count; j++) {
			size_t group = joining->group_of[row + j];

			if (group != SIZE_MAX)
				TRY(add_segment(&joining->images[joining->means[group].image], ctx,
				                i, row));
		}
	return OPK_OK;
}

static void order_groups(struct opk_joining *joining)
{
	size_t at = 0;

	for (size_t i = 0; i < joining->image_count; at += joining->images[i++].slots)
		joining->images[i].groups = joining->order + at;
	for (size_t i = 0; i < joining->count; i++)
		joining->images[joining->means[i].image].groups[joining->means[i].slot] = i;
}

/* One GPU per image: only ranges of the same GPU can be added up. */
static int make_images(struct opk_joining *joining, struct opk_ctx *ctx,
                       const struct opk_eval_job *job)
{
	opk_autogrouping struct opk_grouping numbers = { .key = OPK_KEY_GPU };
	opk_autofree size_t *gpu_of = opk_alloc_array(joining->count + 1, sizeof *gpu_of);
	opk_autofree struct gpu *gpus = opk_alloc_array(joining->count + 1, sizeof *gpus);

	joining->images = opk_alloc_array(joining->count + 1, sizeof *joining->images);
	joining->order = opk_alloc_array(joining->count + 1, sizeof *joining->order);
	if (!gpu_of || !gpus || !joining->images || !joining->order)
		return fail_nomem(ctx);
	for (size_t i = 0; i < joining->count; i++)
		TRY(opk_grouping_add(&gpu_of[i], &numbers, ctx, "",
		                     &joining->grouping.groups[i].range));
	find_slot_sizes(gpus, joining, gpu_of, job);
	for (size_t i = 0; i < joining->count; i++)
		put_into_image(joining, &gpus[gpu_of[i]], i);
	order_groups(joining);
	return find_segments(joining, ctx, job);
}

/* ---- all of it -------------------------------------------------------------------------- */

int opk_joining_new(struct opk_joining **out, struct opk_ctx *ctx, const struct opk_eval_job *job,
                    const char *how)
{
	struct opk_joining *joining = *out = opk_alloc(sizeof *joining);
	size_t rows = 0;

	if (!joining)
		return fail_nomem(ctx);
	if (job->profiler != OPK_PROFILER_RANGE)
		return opk_fail(ctx, OPK_EUSAGE, "only ranges of a recording can be joined");
	TRY(find_key(&joining->grouping.key, ctx, how));
	for (size_t i = job->first; i < job->end; i++) {
		rows += job->segments[i].row_count;
		if (joining->passes < job->segments[i].pass)
			joining->passes = job->segments[i].pass;
	}
	joining->group_of = opk_alloc_array(rows + 1, sizeof *joining->group_of);
	TRY(joining->group_of ? take_rows(joining, ctx, job) : fail_nomem(ctx));
	average_attributes(joining, job->metric_count);
	return make_images(joining, ctx, job);
}

struct opk_value_groups opk_joining_groups(const struct opk_joining *joining,
                                           const struct opk_eval_job *job)
{
	struct opk_value_groups groups = {
		.kind = OPK_VALUES_OF_MEANS,
		.group_of = joining->group_of,
		.group_count = joining->count,
		.metrics = job->metrics,
		.metric_count = job->metric_count,
	};

	for (size_t i = job->first; i < job->end; i++)
		groups.row_count += job->segments[i].row_count;
	return groups;
}

void opk_joining_free(struct opk_joining *joining)
{
	if (!joining)
		return;
	for (size_t i = 0; i < joining->count; i++) {
		free(joining->means[i].launches);
		free(joining->means[i].values);
		free(joining->means[i].counts);
	}
	for (size_t i = 0; i < joining->image_count; i++)
		free(joining->images[i].sources);
	free(joining->means);
	opk_grouping_clear(&joining->grouping);
	free(joining->group_of);
	free(joining->images);
	free(joining->order);
	free(joining);
}
