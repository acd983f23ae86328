/* SPDX-License-Identifier: BSD-2-Clause */
/* Sums the samples of each bin with PerfWorks' combiner, in a child; streams over the images. */
#include <string.h>

#include "adapters/nv/nv.h"
#include "container/container.h"
#include "eval/eval_inside.h"

enum { SUMS_BYTES = OPK_SUMS_BYTES / 2, MOST_SUMS = 256, LEAST_SUMS = 4, NAME_SIZE = 24 };

/* An image of sums, one a bin. */
struct sums {
	struct opk_made made;
	struct opk_bin bins[MOST_SUMS];
	size_t count, most;
};

/*
 * A GPU's last two images of sums. The clocks of two images differ a little, and a sample of the
 * second one may be earlier than the first one's last: it still finds its bin.
 */
struct gpu {
	struct sums sums[2];
	size_t current;
	struct opk_layout layout;
};

struct making {
	struct opk_ctx *ctx;
	struct opk_child *child;
	const struct opk_eval_job *job;
	const struct opk_bins *bins;
	opk_bins_fn *use;
	void *data;
	struct gpu *gpus;
	struct opk_decoder decoder;
	uint64_t incomplete; /* samples */
};

/* ---- sums -------------------------------------------------------------------------------- */

static void clear_sums(struct sums *sums)
{
	opk_made_clear(&sums->made);
	sums->count = 0;
}

static int finish_sums(struct making *m, struct sums *sums)
{
	int code = OPK_OK;

	if (sums->count)
		code = m->use(m->data, sums->made.image, sums->made.size, sums->bins, sums->count);
	clear_sums(sums);
	return code;
}

static int begin_sums(struct making *m, struct sums *sums, const void *image, size_t size,
                      size_t slots)
{
	size_t most = slots && size / slots ? SUMS_BYTES / (size / slots) : MOST_SUMS;

	sums->most = most > MOST_SUMS ? MOST_SUMS : most < LEAST_SUMS ? LEAST_SUMS : most;
	return opk_made_begin(&sums->made, m->ctx, image, size,
	                      &(struct opk_nv_room){ sums->most, NAME_SIZE });
}

static struct opk_bin *find_bin(struct sums *sums, uint64_t number)
{
	for (size_t i = sums->count; i-- > 0;)
		if (sums->bins[i].number == number)
			return &sums->bins[i];
	return NULL;
}

/* The image that the sample goes into, and its bin there. */
static int choose(struct sums **sums, struct opk_bin **bin, struct making *m, size_t number,
                  uint64_t of_time, const void *image, size_t size, size_t slots)
{
	struct gpu *gpu = &m->gpus[number];

	for (size_t i = 0; i < 2; i++) {
		*sums = &gpu->sums[(gpu->current + i) % 2];
		if ((*bin = find_bin(*sums, of_time)))
			return OPK_OK;
	}
	*sums = &gpu->sums[gpu->current];
	if ((*sums)->made.image && (*sums)->count == (*sums)->most) {
		gpu->current = !gpu->current;
		*sums = &gpu->sums[gpu->current];
		TRY(finish_sums(m, *sums));
	}
	if (!(*sums)->made.image)
		TRY(begin_sums(m, *sums, image, size, slots));
	*bin = &(*sums)->bins[(*sums)->count++];
	**bin = (struct opk_bin){ .number = of_time, .gpu = number };
	return OPK_OK;
}

/* ---- samples ----------------------------------------------------------------------------- */

/* A sample is in the bin of its middle. */
static int add_sample(struct making *m, size_t gpu, const struct opk_row *row, const void *image,
                      size_t size, size_t slots, size_t index)
{
	uint64_t length = row->end_ns - row->start_ns;
	uint64_t number = (row->start_ns + length / 2) / m->bins->interval;
	struct opk_bin *bin;
	struct sums *sums;

	if (number < m->job->first_bin || number >= m->job->end_bin)
		return OPK_OK;
	TRY(choose(&sums, &bin, m, gpu, number, image, size, slots));
	bin->samples++;
	bin->covered_ns += length;
	return opk_blame_image(opk_nv_combiner_sum(m->ctx, sums->made.combiner,
	                                           (size_t)(bin - sums->bins), image, index));
}

/* Whether a sample is wanted, and when it was taken. */
static int look_at(bool *wanted, struct opk_row *row, struct making *m,
                   const struct opk_segment *segment, const void *image, size_t index)
{
	/* What only rows of bins have. */
	const uint64_t unknown = opk_facts_of_bins;
	struct opk_range room;

	TRY(opk_nv_sample_time(&row->start_ns, &row->end_ns, m->ctx, image, index));
	/* The first sample of a session has no start of its own. */
	*wanted = row->start_ns != 0;
	row->start_ns += (uint64_t)m->job->gpu_time_shift;
	row->end_ns += (uint64_t)m->job->gpu_time_shift;
	opk_segment_describe(row, &room, segment, index);
	*wanted = *wanted && row->end_ns > row->start_ns;
	if (*wanted)
		TRY(opk_filter_accepts(wanted, m->ctx, m->job->filter, OPK_PROFILER_PM, row,
		                       unknown));
	return OPK_OK;
}

static int add_samples(struct making *m, const struct opk_binned *binned,
                       const struct opk_segment *segment, const void *image, size_t size)
{
	struct opk_nv_image_info info;
	bool fits = true, wanted;
	size_t rows;

	TRY(opk_blame_image(opk_nv_image_info(&info, m->ctx, image, size)));
	TRY(opk_image_check(&rows, m->ctx, &info, size, OPK_PROFILER_PM, 0));
	TRY(opk_segment_check(m->ctx, segment, rows));
	/* Only one job counts them, though several may read the image. */
	if (binned->end / m->bins->interval < m->job->end_bin || m->job->end_bin == UINT64_MAX)
		m->incomplete += info.populated > rows ? info.populated - rows : 0;
	/* The combiner crashes on samples from images of another layout. */
	TRY(opk_layout_fits(&fits, &m->gpus[binned->gpu].layout, m->ctx, image, size));
	if (!fits)
		return opk_fail(m->ctx, OPK_EINPUT,
		                "other counters or instances than in earlier images of this GPU: "
		                "their samples can't be summed");
	for (size_t i = 0; i < rows; i++) {
		struct opk_row row = { .name = "", .index = binned->first_row + i };

		TRY(look_at(&wanted, &row, m, segment, image, i));
		if (wanted)
			TRY(add_sample(m, binned->gpu, &row, image, size, info.slots, i));
	}
	return OPK_OK;
}

static int add_image(struct making *m, const struct opk_binned *binned)
{
	opk_auto(opk_recording) struct opk_recording *recording = NULL;
	struct opk_file *file = m->bins->file;
	const void *image;
	size_t size;
	int code;

	TRY(opk_recording_of_image(&recording, m->ctx, file, binned->section));
	TRY(opk_file_decode(&image, &size, m->ctx, file, binned->section, &m->decoder));
	code = add_samples(m, binned, opk_recording_segment(recording), image, size);
	return code == OPK_EINPUT ? opk_file_add_place(m->ctx, code, file, binned->section) : code;
}

/* Whether a sample of the image may be in the job's bins. */
static bool is_mine(const struct making *m, const struct opk_binned *binned)
{
	const struct opk_eval_job *job = m->job;

	return binned->end / m->bins->interval >= job->first_bin
	       && binned->start / m->bins->interval < job->end_bin;
}

static void clear(struct making *m)
{
	for (size_t i = 0; m->gpus && i < m->bins->gpus.count; i++) {
		clear_sums(&m->gpus[i].sums[0]);
		clear_sums(&m->gpus[i].sums[1]);
		opk_layout_clear(&m->gpus[i].layout);
	}
	free(m->gpus);
	opk_decoder_clear(&m->decoder);
}

int opk_bins_make(struct opk_ctx *ctx, struct opk_child *child, const struct opk_eval_job *job,
                  opk_bins_fn *use, void *data, uint64_t *incomplete)
{
	const struct opk_bins *bins = job->bins;
	__attribute__((cleanup(clear))) struct making m = {
		.ctx = ctx,
		.child = child,
		.job = job,
		.bins = bins,
		.use = use,
		.data = data,
		.gpus = opk_alloc_array(bins->gpus.count + 1, sizeof *m.gpus),
	};

	if (!m.gpus)
		return opk_nomem(ctx, "bins of samples");
	for (size_t i = 0; i < bins->count; i++) {
		opk_child_progress(child, i, bins->count);
		if (is_mine(&m, &bins->images[i]))
			TRY(add_image(&m, &bins->images[i]));
	}
	*incomplete += m.incomplete;
	for (size_t i = 0; i < bins->gpus.count; i++) {
		TRY(finish_sums(&m, &m.gpus[i].sums[!m.gpus[i].current]));
		TRY(finish_sums(&m, &m.gpus[i].sums[m.gpus[i].current]));
	}
	return OPK_OK;
}
