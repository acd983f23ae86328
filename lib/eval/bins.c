/* SPDX-License-Identifier: BSD-2-Clause */
/* Plans rows of bins of time: which images have samples in which, and the rows that come of it. */
#include <string.h>

#include "eval/eval_inside.h"

static int fail_nomem(struct opk_ctx *ctx)
{
	return opk_nomem(ctx, "bins of samples");
}

/* ---- when the samples of each image were taken ------------------------------------------- */

/* The group keeps its own texts, since the image's table is freed. */
static int find_gpu(size_t *out, struct opk_bins *bins, struct opk_ctx *ctx,
                    const struct opk_segment *segment)
{
	struct opk_range range = { OPK_UNKNOWN_RANGE };
	struct opk_row row = { .name = "" };
	struct opk_range room;

	opk_segment_describe(&row, &room, segment, 0);
	if (row.range) {
		range.device = row.range->device;
		range.rank = row.range->rank;
		range.host = row.range->host ? row.range->host : "";
		range.gpu = row.range->gpu ? row.range->gpu : "";
	}
	range.host = opk_texts_keep(&bins->texts, range.host);
	range.gpu = opk_texts_keep(&bins->texts, range.gpu);
	return bins->texts.failed ? fail_nomem(ctx)
	                          : opk_grouping_add(out, &bins->gpus, ctx, "", &range);
}

/*
 * The first sample of a session begins at an earlier event, and a host's clock may be set back
 * between two samples. An image without all its samples' times may have samples of any time, and is
 * in the order where the file has it.
 */
static void find_span(struct opk_binned *image, const struct opk_bins *bins,
                      const struct opk_segment *segment)
{
	uint64_t start = UINT64_MAX, first = UINT64_MAX, end = 0, before = 0;
	bool known = segment->row_count > 0, in_order = true;

	for (size_t i = 0; known && i < segment->row_count; i++) {
		struct opk_row row = { .name = "" };
		struct opk_range room;

		opk_segment_describe(&row, &room, segment, i);
		known = row.end_ns != 0;
		in_order = in_order && row.end_ns >= before;
		before = row.end_ns;
		start = row.start_ns < start ? row.start_ns : start;
		first = row.end_ns < first ? row.end_ns : first;
		end = row.end_ns > end ? row.end_ns : end;
	}
	if (!known) {
		image->first = bins->count ? image[-1].first : 0;
		image->end = UINT64_MAX;
		return;
	}
	image->start = start;
	image->first = first;
	image->end = end;
	image->in_order = in_order;
}

static int take_image(struct opk_bins *bins, struct opk_ctx *ctx, struct opk_file *file,
                      size_t section, const struct opk_filter *filter)
{
	opk_auto(opk_recording) struct opk_recording *recording = NULL;
	struct opk_binned *image = &bins->images[bins->count];
	opk_autofree bool *unwanted = NULL;
	const struct opk_segment *segment;

	TRY(opk_recording_of_image(&recording, ctx, file, section));
	segment = opk_recording_segment(recording);
	TRY(opk_filter_segments(&unwanted, ctx, filter, OPK_PROFILER_PM, segment, 1,
	                        bins->row_count));
	*image = (struct opk_binned){ .section = section, .first_row = bins->row_count };
	bins->row_count += segment->row_count;
	find_span(image, bins, segment);
	TRY(find_gpu(&image->gpu, bins, ctx, segment));
	bins->count += !*unwanted;
	return OPK_OK;
}

static int by_time(const void *a, const void *b)
{
	const struct opk_binned *x = a, *y = b;

	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return (x->section > y->section) - (x->section < y->section);
}

/* Whether the image has what one before it has, which also is or is not in order. */
static bool is_twice(const struct opk_binned *image, const struct opk_binned *before)
{
	/* Less than half of an image may be a host's clock that was set back. */
	if (image->in_order)
		return image->first < before->first + (before->end - before->first) / 2;
	/* It was set back between the samples of both: only a copy has the same times. */
	return image->start == before->start && image->first == before->first
	       && image->end == before->end;
}

static int check_twice(const struct opk_bins *bins, struct opk_ctx *ctx,
                       const struct opk_file *file)
{
	/* For each GPU: the last image that is not in order, and the last one that is. */
	opk_autofree const struct opk_binned **lasts = opk_alloc_array(bins->gpus.count + 1,
	                                                               2 * sizeof *lasts);

	if (!lasts)
		return fail_nomem(ctx);
	for (size_t i = 0; i < bins->count; i++) {
		const struct opk_binned *image = &bins->images[i];
		const struct opk_binned **last = &lasts[2 * image->gpu + image->in_order];

		if (image->end == UINT64_MAX)
			continue;
		if (*last && is_twice(image, *last)) {
			opk_fail(ctx, OPK_EUSAGE,
			         "it has samples of the same GPU and time as section %zu of %s",
			         opk_section_number(file, (*last)->section),
			         opk_section_path(file, &file->sections[(*last)->section]));
			return opk_file_add_place(ctx, OPK_EUSAGE, file, image->section);
		}
		*last = image;
	}
	return OPK_OK;
}

int opk_bins_new(struct opk_bins **out, struct opk_ctx *ctx, struct opk_file *file,
                 const struct opk_filter *filter, uint64_t interval)
{
	struct opk_bins *bins = *out = opk_alloc(sizeof *bins);

	if (!bins)
		return fail_nomem(ctx);
	bins->file = file;
	bins->interval = interval;
	bins->gpus.key = OPK_KEY_GPU | OPK_KEY_RANK;
	bins->images = opk_alloc_array(file->section_count + 1, sizeof *bins->images);
	if (!bins->images)
		return fail_nomem(ctx);
	for (size_t i = 0; i < file->section_count; i++)
		if (file->sections[i].type == OPK_SECTION_DATA)
			TRY(take_image(bins, ctx, file, i, filter));
	qsort(bins->images, bins->count, sizeof *bins->images, by_time);
	return check_twice(bins, ctx, file);
}

void opk_bins_free(struct opk_bins *bins)
{
	if (!bins)
		return;
	opk_grouping_clear(&bins->gpus);
	opk_texts_clear(&bins->texts);
	free(bins->images);
	free(bins);
}

/* ---- rows -------------------------------------------------------------------------------- */

static int by_bin_and_gpu(const void *a, const void *b)
{
	const struct opk_spool_row *x = a, *y = b;

	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return (x->segment > y->segment) - (x->segment < y->segment);
}

/* Reads what children sent: `dropped` of a row becomes the place of its values. */
static int read_rows(struct opk_spool_row **out, double **values, size_t *count,
                     struct opk_evaluation *evaluation, struct opk_ctx *ctx)
{
	size_t metrics = evaluation->metrics.count, most = evaluation->spools.total_rows;
	opk_autofree struct opk_spool_row *rows = opk_alloc_array(most + 1, sizeof *rows);
	opk_autofree double *all = opk_alloc_array(most + 1, metrics * sizeof *all + 1);

	if (!rows || !all)
		return fail_nomem(ctx);
	for (*count = 0; !opk_spools_ended(&evaluation->spools); ++*count) {
		struct opk_spooled read;

		TRY(opk_spools_next(&read, all + *count * metrics, ctx, &evaluation->spools));
		if (*count >= most || !read.row.row
		    || read.row.segment >= evaluation->bins->gpus.count)
			return opk_fail(ctx, OPK_EINPUT, "the evaluation's result is damaged");
		rows[*count] = read.row;
		rows[*count].dropped = *count;
	}
	qsort(rows, *count, sizeof *rows, by_bin_and_gpu);
	*out = opk_take(rows);
	*values = opk_take(all);
	return OPK_OK;
}

static void fill_row(struct opk_made_rows *made, size_t at, const struct opk_spool_row *row,
                     const struct opk_range *gpu)
{
	made->ranges[at] = *gpu;
	made->ranges[at].start_ns = row->start_ns;
	made->ranges[at].end_ns = row->end_ns;
	made->ran[at] = (struct opk_ran){
		.kind = "bin",
		.launches = row->row,
		.samples = row->row,
		.time_ns = row->covered_ns,
	};
}

/*
 * Notes rows that are shorter than their samples, so that many times have no row; and rows of times
 * that were sampled twice: images that overlap by less than half are taken.
 */
static void note_misfits(const struct opk_evaluation *evaluation, struct opk_ctx *ctx)
{
	uint64_t interval = evaluation->bins->interval;
	size_t rows = evaluation->made.count, shorter = 0, twice = 0;

	for (size_t i = 0; i < rows; i++) {
		const struct opk_ran *ran = &evaluation->made.ran[i];

		shorter += ran->time_ns / ran->samples > interval;
		twice += ran->time_ns > interval + 2 * ran->time_ns / ran->samples;
	}
	if (shorter)
		opk_log(ctx,
		        "%zu of %zu rows have samples that are longer than the time of a row: choose a "
		        "longer time",
		        shorter, rows);
	if (twice)
		opk_log(ctx,
		        "%zu of %zu rows have samples of more time than a row has, as where a host's "
		        "clock was set back: what is divided by covered_ns is right",
		        twice, rows);
}

/* Whether samples go on to the end of the row, to within two samples. */
static bool is_full(const struct opk_spool_row *row, uint64_t interval)
{
	return row->covered_ns + 2 * row->covered_ns / row->row >= interval;
}

/* Keeps of each GPU the last row, or the one before it while the last one's time is not over. */
static int keep_latest(struct opk_spool_row *rows, size_t *count, struct opk_ctx *ctx,
                       const struct opk_bins *bins)
{
	opk_autofree size_t *chosen = opk_alloc_array(bins->gpus.count + 1, sizeof *chosen);
	size_t kept = 0;

	if (!chosen)
		return fail_nomem(ctx);
	/* One more than the row's number. */
	for (size_t i = 0; i < *count; i++) {
		size_t *of_gpu = &chosen[rows[i].segment];
		bool last = true;

		for (size_t j = i + 1; last && j < *count; j++)
			last = rows[j].segment != rows[i].segment;
		if (!*of_gpu || !last || is_full(&rows[i], bins->interval))
			*of_gpu = i + 1;
	}
	for (size_t i = 0; i < *count; i++)
		if (chosen[rows[i].segment] == i + 1)
			rows[kept++] = rows[i];
	*count = kept;
	return OPK_OK;
}

int opk_evaluation_read_bins(struct opk_evaluation *evaluation, struct opk_ctx *ctx)
{
	struct opk_made_rows *made = &evaluation->made;
	size_t metrics = evaluation->metrics.count, count = 0;
	opk_autofree struct opk_spool_row *rows = NULL;
	opk_autofree double *values = NULL;

	TRY(read_rows(&rows, &values, &count, evaluation, ctx));
	if (evaluation->bins->latest)
		TRY(keep_latest(rows, &count, ctx, evaluation->bins));
	made->ranges = opk_alloc_array(count + 1, sizeof *made->ranges);
	made->ran = opk_alloc_array(count + 1, sizeof *made->ran);
	made->values = opk_alloc_array(count + 1, metrics * sizeof *values + 1);
	if (!made->ranges || !made->ran || !made->values)
		return fail_nomem(ctx);
	for (size_t i = 0; i < count; i++) {
		if (i && !by_bin_and_gpu(&rows[i - 1], &rows[i]))
			return opk_fail(ctx, OPK_EINPUT,
			                "samples of a GPU are not in the order of time");
		fill_row(made, i, &rows[i], &evaluation->bins->gpus.groups[rows[i].segment].range);
		memcpy(made->values + i * metrics, values + rows[i].dropped * metrics,
		       metrics * sizeof *values);
	}
	made->count = count;
	evaluation->is_made = true;
	note_misfits(evaluation, ctx);
	return OPK_OK;
}
