/* SPDX-License-Identifier: BSD-2-Clause */
/* Divides images among children that evaluate side by side, and reads their results as one. */
#include "eval/eval_inside.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "adapters/nv/nv.h"
#include "container/container.h"
#include "child/child.h"

int opk_spools_init(struct opk_spools *spools, struct opk_ctx *ctx, size_t count)
{
	*spools = (struct opk_spools){
		.results = opk_alloc_array(count, sizeof *spools->results),
		.trailers = opk_alloc_array(count, sizeof *spools->trailers),
		.firsts = opk_alloc_array(count, sizeof *spools->firsts),
		.count = count,
	};
	if (spools->results && spools->trailers && spools->firsts)
		return OPK_OK;
	spools->count = 0;
	return opk_nomem(ctx, "an evaluation");
}

void opk_spools_clear(struct opk_spools *spools)
{
	for (size_t i = 0; i < spools->count; i++)
		opk_result_clear(&spools->results[i]);
	free(spools->results);
	free(spools->trailers);
	free(spools->firsts);
	free(spools->name);
	free(spools->remarks);
	free(spools->of_row.items);
	*spools = (struct opk_spools){ 0 };
}

/* ---- children evaluate, each a part of the images */

/*
 * Costs in bytes that take as long to unpack and evaluate: the fixed cost of an image; the work
 * that makes up for a child's start of some milliseconds.
 */
static const uint64_t image_cost = 64 << 10, worthwhile = 16 << 20;

static uint64_t size_of(const struct opk_eval_job *job, size_t i)
{
	return job->file->sections[job->segments[i].image].plain_size;
}

/* As many parts as cores and bytes make worthwhile, or as were asked for. */
static size_t count_parts(uint64_t total, size_t images, size_t workers)
{
	size_t most = workers ? workers : opk_core_count();

	if (!workers && total / worthwhile < most)
		most = total / worthwhile;
	if (most > OPK_MAX_WORKERS)
		most = OPK_MAX_WORKERS;
	most = most < images ? most : images;
	return most ? most : 1;
}

/* A part ends once it and the parts before it have their share of the bytes. */
static size_t divide_images(struct opk_eval_job *parts, size_t count,
                            const struct opk_eval_job *job, uint64_t total)
{
	uint64_t done = 0;
	size_t part = 0;

	for (size_t i = 0; i < count; i++)
		parts[i] = *job;
	for (size_t i = job->first; i < job->end; i++) {
		if (job->unwanted[i])
			continue;
		if (part + 1 < count && done >= total / count * (part + 1)) {
			parts[part++].end = i;
			parts[part].first = i;
		}
		done += size_of(job, i) + image_cost;
	}
	parts[part].end = job->end;
	/* With few large images some parts may get none. */
	return part + 1;
}

/* Ranges of one row may be anywhere: each part makes some images of means, from all segments. */
static size_t divide_means(struct opk_eval_job *parts, size_t count, const struct opk_eval_job *job)
{
	size_t means = job->joining->image_count;

	count = count < means ? count : means;
	for (size_t i = 0; i < count; i++) {
		parts[i] = *job;
		parts[i].first_mean = means * i / count;
		parts[i].end_mean = means * (i + 1) / count;
	}
	return count;
}

struct opk_contain_options opk_eval_contain(uint64_t largest_image)
{
	return (struct opk_contain_options){
		.phase = OPK_PHASE_EVALUATION,
		.limits.memory = 4 * largest_image,
	};
}

/*
 * Loads the libraries before the fork if there are several children, if another thread may hold the
 * dynamic loader's lock, which a child would wait for, or if this process has evaluated before.
 */
static void load_if_it_helps(struct opk_ctx *ctx, size_t children)
{
	static atomic_bool again;

	if (children > 1 || opk_thread_count() > 1 || atomic_exchange(&again, true))
		opk_nv_load(ctx);
}

static int run(struct opk_result *results, struct opk_ctx *ctx, const struct opk_eval_job *jobs,
               size_t count, const struct opk_contain_options *contain)
{
	load_if_it_helps(ctx, count);
	return opk_contain_all(results, ctx,
	                       &(struct opk_contained){ opk_eval_in_child, (void *)jobs,
	                                                sizeof *jobs, count },
	                       contain);
}

/* One image of means: children make it from parts of the segments, and a last child joins these. */
static int run_partial(struct opk_spools *spools, struct opk_ctx *ctx, struct opk_eval_job *parts,
                       size_t count, const struct opk_contain_options *contain)
{
	opk_autofree struct opk_result *results = opk_alloc_array(count, sizeof *results);
	struct opk_eval_job whole = parts[0];
	int code = results ? opk_spools_init(spools, ctx, 1) : opk_nomem(ctx, "an evaluation");

	if (code)
		return code;
	for (size_t i = 0; i < count; i++)
		parts[i].partial = true;
	TRY(run(results, ctx, parts, count, contain));
	whole.parts = results;
	whole.part_count = count;
	code = run(spools->results, ctx, &whole, 1, contain);
	for (size_t i = 0; i < count; i++)
		opk_result_clear(&results[i]);
	return code;
}

static int run_parts(struct opk_spools *spools, struct opk_ctx *ctx,
                     const struct opk_eval_job *parts, size_t count,
                     const struct opk_contain_options *contain)
{
	bool served = false;
	int code = opk_spools_init(spools, ctx, count);

	if (!code && count == 1)
		code = opk_eval_by_kept(&served, spools->results, ctx, parts, contain);
	return code || served ? code : run(spools->results, ctx, parts, count, contain);
}

/* ---- bins of time */

/* Each part has the bins from the first sample of an image on, with its share of the bytes. */
static size_t divide_bins(struct opk_eval_job *parts, size_t count, const struct opk_eval_job *job,
                          uint64_t total)
{
	const struct opk_bins *bins = job->bins;
	uint64_t done = 0;
	size_t part = 0;

	*parts = *job;
	for (size_t i = 0; i < bins->count; i++) {
		uint64_t bin = bins->images[i].first / bins->interval;

		if (part + 1 < count && done >= total / count * (part + 1)
		    && bin > parts[part].first_bin) {
			parts[part++].end_bin = bin;
			parts[part] = *job;
			parts[part].first_bin = bin;
		}
		done += job->file->sections[bins->images[i].section].plain_size + image_cost;
	}
	return part + 1;
}

static int run_bins(struct opk_spools *spools, struct opk_ctx *ctx, const struct opk_eval_job *job,
                    size_t workers)
{
	const struct opk_bins *bins = job->bins;
	opk_autofree struct opk_eval_job *parts = NULL;
	struct opk_contain_options contain;
	uint64_t total = 0, largest = 0;
	size_t count;

	for (size_t i = 0; i < bins->count; i++) {
		uint64_t size = job->file->sections[bins->images[i].section].plain_size;

		total += size + image_cost;
		largest = size > largest ? size : largest;
	}
	count = count_parts(total, bins->count, workers);
	parts = opk_alloc_array(count, sizeof *parts);
	if (!parts)
		return opk_nomem(ctx, "an evaluation");
	count = divide_bins(parts, count, job, total);
	contain = opk_eval_contain(largest + bins->gpus.count * OPK_SUMS_BYTES);
	TRY(opk_spools_init(spools, ctx, count));
	return run(spools->results, ctx, parts, count, &contain);
}

int opk_eval_run(struct opk_spools *spools, struct opk_ctx *ctx, const struct opk_eval_job *job,
                 const struct opk_eval_options *options)
{
	size_t images = 0, count, means = job->joining ? job->joining->image_count : 0;
	opk_autofree struct opk_eval_job *parts = NULL;
	uint64_t total = 0, largest = job->image_size;
	struct opk_contain_options contain;

	if (job->bins)
		return run_bins(spools, ctx, job, options->workers);
	for (size_t i = job->first; i < job->end; i++) {
		if (job->unwanted[i])
			continue;
		images++;
		total += size_of(job, i) + image_cost;
		largest = size_of(job, i) > largest ? size_of(job, i) : largest;
	}
	count = count_parts(total, images, options->workers);
	parts = opk_alloc_array(count, sizeof *parts);
	if (!parts)
		return opk_nomem(ctx, "an evaluation");
	count = means > 1 ? divide_means(parts, count, job)
	                  : divide_images(parts, count, job, total);
	contain = opk_eval_contain(largest + (means ? OPK_MEANS_BYTES : 0));
	return means == 1 && count > 1 ? run_partial(spools, ctx, parts, count, &contain)
	                               : run_parts(spools, ctx, parts, count, &contain);
}

/* ---- their results are read as one */

static void read_trailer(struct opk_spools *spools, size_t i)
{
	struct opk_spool_trailer *trailer = &spools->trailers[i];
	struct opk_result *result = &spools->results[i];
	opk_autosent struct opk_result last = opk_result_part(result, result->end - sizeof *trailer,
	                                                      sizeof *trailer);

	opk_get(&last, trailer, sizeof *trailer);
	opk_result_expect(&last,
	                  trailer->stored <= trailer->rows
	                          && !__builtin_add_overflow(spools->total_rows, trailer->rows,
	                                                     &spools->total_rows));
	if (last.code)
		result->code = last.code;
	spools->incomplete_samples += trailer->incomplete_samples;
}

/* Reads the remarks, which precede the trailer. */
static void read_remarks(struct opk_spools *spools, size_t i, size_t metric_count)
{
	uint64_t count = spools->trailers[i].remarks, size = count * sizeof(struct opk_remark);
	struct opk_result *result = &spools->results[i];
	struct opk_remark one;
	struct opk_result part;

	opk_result_expect(result, count <= OPK_REMARK_KINDS * metric_count
	                                  && size <= result->end - sizeof *spools->trailers);
	if (result->code || !count)
		return;
	part = opk_result_part(result, result->end - sizeof *spools->trailers - size, size);
	while (count--) {
		opk_get(&part, &one, sizeof one);
		opk_result_expect(&part, one.metric < metric_count && one.kind < OPK_REMARK_KINDS
		                                 && one.rows);
		one.part[sizeof one.part - 1] = '\0';
		if (!part.code)
			opk_remark_add(&spools->remarks[OPK_REMARK_KINDS * one.metric + one.kind],
			               &one);
	}
	if (part.code)
		result->code = part.code;
	opk_result_clear(&part);
}

/* Children that evaluate parts of the same data must send the same header and units. */
static int read_header(struct opk_spools *spools, struct opk_ctx *ctx, size_t i,
                       struct opk_strlist *units, size_t metric_count)
{
	opk_autostrlist struct opk_strlist others = { 0 };
	struct opk_result *result = &spools->results[i];
	struct opk_spool_header header;

	read_trailer(spools, i);
	read_remarks(spools, i, metric_count);
	opk_get(result, &header, sizeof header);
	header.chip[sizeof header.chip - 1] = '\0';
	if (!i)
		spools->header = header;
	opk_result_expect(result, (header.profiler == OPK_PROFILER_RANGE
	                           || header.profiler == OPK_PROFILER_PM)
	                                  && header.profiler == spools->header.profiler
	                                  && !strcmp(header.chip, spools->header.chip));
	for (size_t k = 0; k < metric_count && !result->code; k++)
		opk_get_text(i ? &others : units, result, OPK_MAX_UNIT);
	spools->firsts[i] = result->at;
	if (!result->code)
		opk_nv_note_mixed(ctx, &header.versions);
	return opk_result_check(result, ctx);
}

/* Begins the first result from `at` on that has rows. */
static void begin_result(struct opk_spools *spools, size_t at)
{
	spools->left = 0;
	for (spools->at = at; spools->at < spools->count; spools->at++) {
		spools->next = spools->next_end;
		spools->next_end += spools->trailers[spools->at].rows;
		spools->left = spools->trailers[spools->at].stored;
		if (spools->left)
			return;
	}
}

int opk_spools_begin(struct opk_spools *spools, struct opk_ctx *ctx, struct opk_strlist *units,
                     size_t metric_count)
{
	spools->metric_count = metric_count;
	spools->remarks = opk_alloc_array(OPK_REMARK_KINDS * metric_count + 1,
	                                  sizeof *spools->remarks);
	if (!spools->remarks)
		return opk_nomem(ctx, "an evaluation");
	for (size_t i = 0; i < spools->count; i++)
		TRY(read_header(spools, ctx, i, units, metric_count));
	begin_result(spools, 0);
	return OPK_OK;
}

void opk_spools_rewind(struct opk_spools *spools)
{
	for (size_t i = 0; i < spools->count; i++)
		spools->results[i].at = spools->firsts[i];
	spools->next_end = 0;
	begin_result(spools, 0);
}

static int read_remark_of_row(struct opk_spools *spools, struct opk_ctx *ctx,
                              struct opk_result *result)
{
	struct opk_remark *added = opk_list_add(&spools->of_row);
	opk_autofree char *part = NULL;
	struct opk_row_remark one;

	if (!added)
		return opk_nomem(ctx, "an evaluation");
	opk_get(result, &one, sizeof one);
	part = opk_get_bytes(NULL, result, sizeof added->part - 1);
	opk_result_expect(result,
	                  one.metric < spools->metric_count && one.kind < OPK_THROUGHPUT_KINDS);
	*added = (struct opk_remark){ one.metric, 1, one.kind, one.value, one.value, "" };
	snprintf(added->part, sizeof added->part, "%s", part ? part : "");
	return opk_result_check(result, ctx);
}

static int read_remarks_of_row(struct opk_spools *spools, struct opk_ctx *ctx,
                               struct opk_result *result)
{
	uint64_t count = opk_get_number(result, OPK_THROUGHPUT_KINDS * spools->metric_count);

	spools->of_row.count = 0;
	TRY(opk_result_check(result, ctx));
	while (count--)
		TRY(read_remark_of_row(spools, ctx, result));
	return OPK_OK;
}

static int read_row(struct opk_spooled *out, double *values, struct opk_ctx *ctx,
                    struct opk_spools *spools, struct opk_result *result)
{
	opk_get(result, &out->row, sizeof out->row);
	free(spools->name);
	out->name = spools->name = opk_get_bytes(NULL, result, OPK_MAX_RANGE_NAME);
	opk_get(result, values, spools->metric_count * sizeof *values);
	TRY(opk_result_check(result, ctx));
	return spools->apart ? read_remarks_of_row(spools, ctx, result) : OPK_OK;
}

int opk_spools_reread(struct opk_spooled *out, double *values, struct opk_ctx *ctx,
                      struct opk_spools *spools, const struct opk_bookmark *at)
{
	struct opk_result *result = &spools->results[at->part];
	uint64_t before = result->at;
	int code;

	out->at = *at;
	result->at = at->byte;
	code = read_row(out, values, ctx, spools, result);
	result->at = before;
	return code;
}

int opk_spools_next(struct opk_spooled *out, double *values, struct opk_ctx *ctx,
                    struct opk_spools *spools)
{
	struct opk_result *result = &spools->results[spools->at];

	out->at = (struct opk_bookmark){ .part = spools->at, .byte = result->at };
	TRY(read_row(out, values, ctx, spools, result));
	opk_result_expect(result, out->row.dropped < spools->next_end - spools->next);
	TRY(opk_result_check(result, ctx));
	out->at.number = spools->next + out->row.dropped;
	spools->next = out->at.number + 1;
	if (!--spools->left)
		begin_result(spools, spools->at + 1);
	return OPK_OK;
}

bool opk_spools_ended(const struct opk_spools *spools)
{
	return !spools->left;
}
