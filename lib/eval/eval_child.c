/* SPDX-License-Identifier: BSD-2-Clause */
/* The part of evaluation that calls NVIDIA's code, in a process of its own. */
#include <string.h>
#include <strings.h>

#include "adapters/nv/nv.h"
#include "chip/chip.h"
#include "container/container.h"
#include "eval/eval.h"
#include "eval/eval_inside.h"

struct work {
	struct opk_ctx *ctx;
	const struct opk_eval_job *job;
	struct opk_child *child;
	char *chip;
	enum opk_profiler profiler;
	struct opk_nv_evaluator *evaluator; /* PerfWorks'; NULL: not available */
	bool prepared;
	struct opk_values by;
	double *values;
	struct opk_measured measured;
	uint64_t done, total; /* bytes of images */
	size_t segment;       /* the current one */
	bool row_known;       /* else earlier images have an unknown number of rows */
	uint64_t row;         /* the next row's number, over all images of the file */
	uint64_t dropped;     /* rows since the last one that was stored */
	struct opk_spool_trailer counts;
};

/* Sends the header and the unit of each metric; "": the library does not know it. */
static void put_header(struct work *w)
{
	struct opk_spool_header header = { .profiler = (int32_t)w->profiler,
		                           .versions = opk_nv_versions(w->ctx) };

	snprintf(header.chip, sizeof header.chip, "%s", w->chip);
	opk_put(w->child, &header, sizeof header);
	for (size_t i = 0; i < w->job->metric_count; i++) {
		const char *name = w->job->metrics[i], *known = opk_attribute_unit(name);
		opk_autofree char *unit = NULL;

		if (w->evaluator && !opk_attribute_is_name(name))
			opk_nv_unit(&unit, w->ctx, w->evaluator, name);
		opk_put_bytes(w->child, unit ? unit : known, strlen(unit ? unit : known));
	}
	opk_clear_errors(w->ctx);
}

/* The chip from the caller or recording, or from the image. If both name one, they must agree. */
static int find_chip(struct work *w, const void *image, size_t size)
{
	const char *given = w->job->chip, *stated = NULL;
	int code = image ? opk_nv_image_chip(&stated, w->ctx, image, size) : OPK_OK;

	if (code && !given)
		return code == OPK_EFAILED ? opk_add(w->ctx, OPK_EINPUT,
		                                     "the image does not say its chip; name it")
		                           : code;
	code = opk_chip_resolve(&w->chip, w->ctx, given ? given : stated);
	if (code == OPK_EUSAGE && (!given || w->job->file))
		return opk_add(w->ctx, OPK_EINPUT, "the %s names no chip that this library knows",
		               given ? "recording" : "image");
	if (!code && stated && strcasecmp(w->chip, stated))
		return opk_fail(w->ctx, OPK_EINPUT, "the image was made on %s, not on %s", stated,
		                w->chip);
	return code;
}

static int find_profiler(struct work *w, const void *image)
{
	int code = OPK_OK;

	if (image)
		code = opk_nv_image_profiler(&w->profiler, w->ctx, image);
	else
		w->profiler = w->job->profiler;
	if (code && !w->job->has_profiler)
		return code;
	if (!code && w->job->has_profiler && w->job->profiler != w->profiler)
		return opk_fail(w->ctx, OPK_EINPUT, "the image is of profiler %s, not %s",
		                opk_profiler_name(w->profiler),
		                opk_profiler_name(w->job->profiler));
	if (w->job->has_profiler)
		w->profiler = w->job->profiler;
	return OPK_OK;
}

/* CUPTI's single-pass set that was collected, or NULL. */
static const char *set_of(const struct work *w)
{
	const struct opk_meta *meta = w->job->meta;

	return meta && meta->single_pass && *meta->single_pass ? meta->single_pass : NULL;
}

/* CUPTI refuses the list as a whole: OPK_EUSAGE says which names are wrong. */
static int check_metrics(struct work *w)
{
	struct opk_catalog *catalog = NULL;
	int code = opk_catalog_of_set_new(&catalog, w->ctx, w->chip, w->profiler, set_of(w));

	if (code)
		return code;
	opk_clear_errors(w->ctx);
	/* Backwards, since the chain is read from its last cause. */
	for (size_t i = w->job->metric_count; i-- > 0;) {
		const char *name = w->job->metrics[i];
		struct opk_cause cause = { .code = OPK_EUSAGE, .kind = OPK_CAUSE_ERROR };

		if (opk_attribute_is_name(name) || opk_catalog_has_full(catalog, w->ctx, name))
			continue;
		code = OPK_EUSAGE;
		cause.text = cause.message = opk_catalog_explain(catalog, w->ctx, w->chip, name);
		opk_add_cause(w->ctx, cause);
	}
	opk_catalog_free(catalog);
	return code ? opk_add(w->ctx, code,
	                      "these metrics can't be evaluated on %s, profiler %s, with %s",
	                      w->chip, opk_profiler_name(w->profiler), opk_nv_release(w->ctx).name)
	            : OPK_OK;
}

/* CUPTI gives values even for names that no chip lists: this refuses them. */
static int refuse_unlisted(struct work *w)
{
	for (size_t i = 0; i < w->job->metric_count; i++)
		if (!opk_attribute_is_name(w->job->metrics[i])
		    && !opk_has_listed_suffix(w->job->metrics[i]))
			return check_metrics(w);
	return OPK_OK;
}

/* Takes the previous job's evaluator if that had the same chip. */
static void make_evaluator(struct work *w)
{
	struct opk_eval_warm *warm = w->job->warm;

	if (warm && warm->chip && !strcmp(warm->chip, w->chip)) {
		w->evaluator = warm->evaluator;
		return;
	}
	opk_nv_evaluator_new(&w->evaluator, w->ctx, w->chip);
	opk_clear_errors(w->ctx);
	if (!warm)
		return;
	opk_nv_evaluator_free(warm->evaluator);
	free(warm->chip);
	warm->evaluator = w->evaluator;
	warm->chip = opk_strdup(w->chip);
}

/*
 * Finds chip and profiler and makes the evaluators, from the first image, or from the metadata
 * alone if no image is wanted.
 */
static int prepare(struct work *w, const void *image, size_t size)
{
	TRY(find_chip(w, image, size));
	TRY(find_profiler(w, image));
	TRY(opk_filter_check(w->job->filter, w->ctx, w->profiler));
	TRY(refuse_unlisted(w));
	make_evaluator(w);
	w->by = (struct opk_values){
		.chip = w->chip,
		.profiler = w->profiler,
		.metrics = w->job->metrics,
		.metric_count = w->job->metric_count,
		.evaluator = w->job->plain ? NULL : w->evaluator,
	};
	TRY(opk_values_begin(&w->by, w->ctx));
	if (w->job->meta)
		TRY(opk_values_trust(&w->by, w->ctx, w->job->meta));
	w->by.single_pass = set_of(w);
	w->prepared = true;
	put_header(w);
	return OPK_OK;
}

/* Sends a remark of the row alone, and forgets it. */
static void put_remark_of_row(struct work *w, struct opk_remark *remark)
{
	struct opk_row_remark one = { remark->metric, remark->kind, remark->most };

	if (!remark->rows)
		return;
	opk_put(w->child, &one, sizeof one);
	opk_put_bytes(w->child, remark->part, strlen(remark->part));
	remark->rows = 0;
	/* Others are of all rows, and name their part once. */
	if (remark->kind == OPK_PART_LACKS)
		*remark->part = '\0';
}

/* Shares above the whole show in the values. */
static void put_remarks_of_row(struct work *w)
{
	struct opk_throughputs *all = &w->by.throughputs;
	uint64_t count = 0;

	for (size_t i = 0; i < all->count * OPK_THROUGHPUT_KINDS; i++)
		count +=
			all->items[i / OPK_THROUGHPUT_KINDS].remarks[i % OPK_THROUGHPUT_KINDS].rows;
	opk_put_number(w->child, count);
	for (size_t i = 0; i < all->count * OPK_THROUGHPUT_KINDS; i++)
		put_remark_of_row(w, &all->items[i / OPK_THROUGHPUT_KINDS]
		                              .remarks[i % OPK_THROUGHPUT_KINDS]);
}

static void put_row(struct work *w, struct opk_spool_row *row, const char *name)
{
	row->dropped = w->dropped;
	w->dropped = 0;
	w->counts.stored++;
	opk_put(w->child, row, sizeof *row);
	opk_put_bytes(w->child, name, name ? strnlen(name, OPK_MAX_RANGE_NAME) : 0);
	opk_put(w->child, w->values, w->job->metric_count * sizeof *w->values);
	if (w->job->apart)
		put_remarks_of_row(w);
}

static int describe_sample(struct work *w, struct opk_spool_row *row, const void *image,
                           size_t index)
{
	int code = opk_nv_sample_time(&row->start_ns, &row->end_ns, w->ctx, image, index);

	/* The first sample of a session has no start of its own: it begins at an earlier event. */
	row->spans_earlier = row->start_ns == 0;
	if (row->start_ns)
		row->start_ns += (uint64_t)w->job->gpu_time_shift;
	row->end_ns += (uint64_t)w->job->gpu_time_shift;
	return code;
}

static const struct opk_segment *segment_of(const struct work *w)
{
	static const struct opk_segment none = { 0 };

	return w->job->file ? &w->job->segments[w->segment] : &none;
}

/*
 * Whether the parent may want row number `index` of the image. `image`: what the image says of the
 * row; NULL: not yet read.
 */
static int is_wanted(bool *wanted, struct work *w, size_t index, const struct opk_spool_row *image,
                     const char *name)
{
	struct opk_row row = { .index = w->row, .name = name ? name : "" };
	struct opk_range room;
	uint64_t unknown;

	if (image) {
		row.start_ns = image->start_ns;
		row.end_ns = image->end_ns;
		row.spans_earlier = image->spans_earlier;
	}
	unknown = opk_segment_describe(&row, &room, segment_of(w), index);
	if (image)
		unknown = 0;
	if (!w->row_known)
		unknown |= UINT64_C(1) << OPK_FACT_SAMPLE | UINT64_C(1) << OPK_FACT_RANGE;
	return opk_filter_accepts(wanted, w->ctx, w->job->filter, w->profiler, &row, unknown);
}

static int describe_row(struct work *w, struct opk_spool_row *row, char **name, const void *image,
                        size_t size, size_t index)
{
	return w->profiler == OPK_PROFILER_PM ? describe_sample(w, row, image, index)
	                                      : opk_nv_range_name(name, w->ctx, image, size, index);
}

static int evaluate_row(struct work *w, const void *image, size_t size, size_t index)
{
	struct opk_spool_row row = { .segment = w->segment, .row = index };
	opk_autofree char *name = NULL;
	bool wanted = true;
	int code;

	if (w->job->filter)
		TRY(is_wanted(&wanted, w, index, NULL, NULL));
	code = wanted ? describe_row(w, &row, &name, image, size, index) : OPK_OK;
	if (!code && wanted && w->job->filter)
		TRY(is_wanted(&wanted, w, index, &row, name));
	if (!code && !wanted) {
		w->dropped++;
		return OPK_OK;
	}
	if (!code)
		code = opk_values_of_range(w->values, &w->by, w->ctx, index);
	if (code == OPK_EUSAGE && check_metrics(w))
		return OPK_EUSAGE;
	if (code)
		return opk_add(w->ctx, opk_blame_image(code), "while evaluating range %zu", index);
	put_row(w, &row, name);
	return OPK_OK;
}

static int evaluate_image(struct work *w, const void *image, size_t size)
{
	const struct opk_segment *segment = segment_of(w);
	struct opk_nv_image_info info;
	const bool *wanted;
	size_t rows = 0;

	if (!w->prepared)
		TRY(prepare(w, image, size));
	TRY(opk_blame_image(opk_nv_image_info(&info, w->ctx, image, size)));
	TRY(opk_image_check(&rows, w->ctx, &info, size, w->profiler, segment->pass));
	TRY(opk_segment_check(w->ctx, segment, rows));
	if (w->profiler == OPK_PROFILER_PM && info.populated > info.completed)
		w->counts.incomplete_samples += info.populated - info.completed;
	wanted = opk_measured_by(&w->measured, segment->pass);
	TRY(opk_values_of_image(&w->by, w->ctx, image, size, wanted));
	for (size_t i = 0; i < rows; i++, w->row++, w->counts.rows++) {
		opk_child_progress(w->child, w->done + size * i / rows, w->total);
		TRY(evaluate_row(w, image, size, i));
	}
	w->done += size;
	return OPK_OK;
}

static int decode_and_evaluate(struct work *w, struct opk_decoder *decoder)
{
	const struct opk_file *file = w->job->file;
	size_t section = segment_of(w)->image;
	const void *image;
	size_t size;
	int code = opk_file_decode(&image, &size, w->ctx, file, section, decoder);

	if (code)
		return code;
	code = evaluate_image(w, image, size);
	/* Only damage is the section's fault, not a missing library. */
	return code == OPK_EINPUT ? opk_file_add_place(w->ctx, code, file, section) : code;
}

static void drop_segment(struct work *w)
{
	size_t count = segment_of(w)->row_count;

	w->row += count;
	w->dropped += count;
	w->counts.rows += count;
}

/* Row numbers continue from the images before, if their row counts are known. */
static void begin_rows(struct work *w)
{
	const struct opk_eval_job *job = w->job;

	w->row_known = true;
	for (size_t i = 0; i < job->first; i++) {
		w->row_known = w->row_known && opk_segment_is_counted(&job->segments[i]);
		w->row += job->segments[i].row_count;
	}
	for (size_t i = job->first; i < job->end; i++)
		if (!job->unwanted[i])
			w->total += job->file->sections[job->segments[i].image].plain_size;
}

static int evaluate_file(struct work *w)
{
	const struct opk_eval_job *job = w->job;
	struct opk_decoder own = { 0 }, *decoder = job->warm ? &job->warm->decoder : &own;
	int code = OPK_OK;

	/* The decoder's base is from another file. */
	decoder->base.size = 0;
	begin_rows(w);
	for (w->segment = job->first; !code && w->segment < job->end; w->segment++) {
		if (job->unwanted[w->segment])
			drop_segment(w);
		else
			code = decode_and_evaluate(w, decoder);
	}
	opk_decoder_clear(&own);
	if (!code && !w->prepared)
		code = prepare(w, NULL, 0);
	return code;
}

/* ---- rows of several ranges */

/* Evaluates a range of the present image as the row; `what`: what it is the sum of. */
static int put_summed(struct work *w, size_t slot, struct opk_spool_row *row, const char *what)
{
	int code = opk_values_of_range(w->values, &w->by, w->ctx, slot);

	if (code == OPK_EUSAGE && check_metrics(w))
		return OPK_EUSAGE;
	if (code)
		return opk_add(w->ctx, opk_blame_image(code), "while evaluating %s", what);
	put_row(w, row, NULL);
	w->counts.rows++;
	return OPK_OK;
}

static int evaluate_mean(struct work *w, size_t slot, size_t group)
{
	const struct opk_joining *joining = w->job->joining;
	struct opk_spool_row row = { .row = group };

	TRY(opk_values_choose(&w->by, w->ctx,
	                      opk_measured_by_mean(&w->measured, joining->means[group].launches,
	                                           joining->passes)));
	return put_summed(w, slot, &row, "joined ranges");
}

static int evaluate_means(struct work *w, size_t number)
{
	const struct opk_mean_image *made = &w->job->joining->images[number];
	opk_autofree void *image = NULL;
	size_t size = 0;

	TRY(opk_means_make(&image, &size, w->ctx, w->child, w->job, number));
	if (w->job->partial)
		return OPK_OK;
	if (!w->prepared)
		TRY(prepare(w, image, size));
	TRY(opk_values_of_image(&w->by, w->ctx, image, size, opk_measured_by(&w->measured, 0)));
	for (size_t i = 0; i < made->slots; i++) {
		opk_child_progress(w->child, i, made->slots);
		TRY(evaluate_mean(w, i, made->groups[i]));
	}
	return OPK_OK;
}

static int evaluate_joined(struct work *w)
{
	for (size_t i = w->job->first_mean; i < w->job->end_mean; i++)
		TRY(evaluate_means(w, i));
	if (!w->prepared && !w->job->partial)
		TRY(prepare(w, NULL, 0));
	return OPK_OK;
}

/* ---- rows of bins of time */

static int evaluate_bin(struct work *w, size_t slot, const struct opk_bin *bin)
{
	uint64_t interval = w->job->bins->interval;
	struct opk_spool_row row = {
		.segment = bin->gpu,
		.row = bin->samples,
		.start_ns = bin->number * interval,
		.end_ns = (bin->number + 1) * interval,
		.covered_ns = bin->covered_ns,
	};

	return put_summed(w, slot, &row, "summed samples");
}

static int use_bins(void *data, const void *image, size_t size, const struct opk_bin *bins,
                    size_t count)
{
	struct work *w = data;

	if (!w->prepared)
		TRY(prepare(w, image, size));
	TRY(opk_values_of_image(&w->by, w->ctx, image, size, opk_measured_by(&w->measured, 0)));
	for (size_t i = 0; i < count; i++)
		TRY(evaluate_bin(w, i, &bins[i]));
	return OPK_OK;
}

static int evaluate_bins(struct work *w)
{
	TRY(opk_bins_make(w->ctx, w->child, w->job, use_bins, w, &w->counts.incomplete_samples));
	return w->prepared ? OPK_OK : prepare(w, NULL, 0);
}

static int evaluate_bare(struct work *w)
{
	void *image = opk_child_guarded_copy(w->job->image, w->job->image_size);

	w->total = w->job->image_size;
	w->row_known = true;
	return image ? evaluate_image(w, image, w->job->image_size) : opk_nomem(w->ctx, "an image");
}

static int allocate(struct work *w)
{
	size_t count = w->job->metric_count;

	w->values = opk_alloc_array(count, sizeof *w->values);
	if (!w->values)
		return opk_nomem(w->ctx, "values");
	return opk_measured_init(&w->measured, w->ctx, w->job->meta, w->job->metrics, count);
}

static void put_remark(struct work *w, const struct opk_remark *remark)
{
	if (!remark->rows || w->job->apart)
		return;
	opk_put(w->child, remark, sizeof *remark);
	w->counts.remarks++;
}

/* Sends the remarks on values, and the trailer. */
static void put_trailer(struct work *w)
{
	for (size_t i = 0; i < w->by.throughputs.count; i++)
		for (size_t j = 0; j < OPK_THROUGHPUT_KINDS; j++)
			put_remark(w, &w->by.throughputs.items[i].remarks[j]);
	for (size_t i = 0; i < w->by.metric_count; i++)
		put_remark(w, &w->by.above[i]);
	opk_put(w->child, &w->counts, sizeof w->counts);
}

static void clear(struct work *w)
{
	opk_values_clear(&w->by);
	if (!w->job->warm)
		opk_nv_evaluator_free(w->evaluator);
	opk_measured_clear(&w->measured);
	free(w->values);
	free(w->chip);
}

int opk_eval_in_child(struct opk_ctx *ctx, void *data, struct opk_child *child)
{
	__attribute__((cleanup(clear))) struct work w = { .ctx = ctx, .job = data, .child = child };

	TRY(allocate(&w));
	if (w.job->bins)
		TRY(evaluate_bins(&w));
	else if (w.job->joining)
		TRY(evaluate_joined(&w));
	else
		TRY(w.job->file ? evaluate_file(&w) : evaluate_bare(&w));
	if (w.job->partial)
		return OPK_OK;
	/* Names are checked even if there was no row that could have refused them. */
	if (!w.counts.stored && !w.job->names_known)
		TRY(check_metrics(&w));
	put_trailer(&w);
	return OPK_OK;
}

int opk_image_origin_in_child(struct opk_ctx *ctx, void *data, struct opk_child *child)
{
	__attribute__((cleanup(clear))) struct work w = { .ctx = ctx, .job = data };
	size_t size = w.job->image_size;
	void *image = opk_child_guarded_copy(w.job->image, size);

	TRY(image ? find_chip(&w, image, size) : opk_nomem(ctx, "an image"));
	TRY(find_profiler(&w, image));
	opk_put_bytes(child, w.chip, strlen(w.chip));
	opk_put_number(child, w.profiler);
	return OPK_OK;
}
