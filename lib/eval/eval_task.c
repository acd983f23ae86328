/* SPDX-License-Identifier: BSD-2-Clause */
/* The evaluation of a file or image step by step: check, divide among children, finish. */
#include <string.h>

#include "adapters/nv/nv.h"
#include "base/option_struct.h"
#include "chip/chip.h"
#include "container/container.h"
#include "eval/eval_inside.h"

/* ---- a file --------------------------------------------------------------------------------- */

int opk_eval_check_whole(struct opk_ctx *ctx, struct opk_file *file, bool allow_incomplete)
{
	bool has_data = opk_file_find(file, OPK_SECTION_DATA) >= 0
	                || opk_file_find(file, OPK_SECTION_LEFT_OUT) >= 0;
	const struct opk_meta *meta;
	int code = opk_file_meta(&meta, ctx, file);

	if (!code && has_data && (!allow_incomplete || opk_file_lacks_values(file)))
		code = opk_file_check_complete(ctx, file, OPK_REMEDY_ALLOW_INCOMPLETE);
	if (code || has_data)
		return code;
	return opk_fail(ctx, OPK_EINPUT, "%s: no counter data; %s", file->path,
	                !file->complete             ? "it was cut off before any was whole"
	                : opk_meta_is_probe(meta)   ? "it says what a GPU is like"
	                : strcmp(meta->kind, "set") ? "nothing that was to be recorded happened"
	                                            : "it was built, not yet recorded");
}

/*
 * Uses no byte of a file unless the file is whole, has data and all checksums match. Images are
 * checked where they are decoded.
 */
static int check_file(struct opk_ctx *ctx, struct opk_file *file, bool allow_incomplete)
{
	TRY(opk_eval_check_whole(ctx, file, allow_incomplete));
	for (size_t i = 0; i < file->section_count; i++) {
		if (file->sections[i].type != OPK_SECTION_DATA)
			TRY(opk_file_verify(ctx, file, i));
	}
	return OPK_OK;
}

/* How ranges are joined; NULL: each is a row. */
static const char *join_of(const struct opk_eval_options *options, const struct opk_meta *meta)
{
	const char *how = opk_eval_inside(options)->join;

	how = how && !*how ? meta->join : how;
	return how && *how ? how : NULL;
}

/* Its job has no segments: tables are read image by image. */
static int begin_bins(struct opk_eval_task *task, struct opk_ctx *ctx, struct opk_file *file,
                      const struct opk_eval_options *options, struct opk_filter *filter)
{
	opk_auto(opk_filter) struct opk_filter *taken = filter;
	struct opk_eval_job *job = &task->job;
	const struct opk_meta *meta;

	TRY(opk_file_meta(&meta, ctx, file));
	if (meta->profiler != OPK_PROFILER_PM)
		return opk_fail(ctx, OPK_EUSAGE, "only PM samples can be summed over time");
	TRY(opk_baked_check_images(ctx, file, "a sum of samples over time"));
	*job = (struct opk_eval_job){
		.file = file,
		.meta = meta,
		.chip = meta->chip,
		.has_profiler = true,
		.profiler = meta->profiler,
		.gpu_time_shift = meta->gpu_time_shift,
		.end_bin = UINT64_MAX,
	};
	TRY(opk_evaluation_begin(&task->evaluation, ctx, job, options, opk_take(taken)));
	TRY(opk_bins_new(&task->evaluation->bins, ctx, file, job->filter,
	                 opk_eval_inside(options)->resample_ns));
	job->bins = task->evaluation->bins;
	task->evaluation->bins->latest = opk_eval_inside(options)->latest_bin;
	return OPK_OK;
}

static int begin_task(struct opk_eval_task *task, struct opk_ctx *ctx, struct opk_file *file,
                      const struct opk_eval_options *options, struct opk_filter *filter)
{
	opk_auto(opk_filter) struct opk_filter *taken = filter;
	struct opk_eval_job *job = &task->job;
	struct opk_joining *joining;
	const char *how;

	if (opk_eval_inside(options)->resample_ns)
		return begin_bins(task, ctx, file, options, opk_take(taken));
	TRY(opk_eval_job_of_file(job, &task->unwanted, ctx, file, filter));
	TRY(opk_evaluation_begin(&task->evaluation, ctx, job, options, opk_take(taken)));
	if (opk_eval_inside(options)->without_rows) {
		job->end = job->first;
		return OPK_OK;
	}
	how = join_of(options, job->meta);
	if (!how)
		return OPK_OK;
	TRY(opk_joining_new(&task->evaluation->joining, ctx, job, how));
	job->joining = joining = task->evaluation->joining;
	job->end_mean = joining->image_count;
	return OPK_OK;
}

int opk_eval_task_begin(struct opk_eval_task *task, struct opk_ctx *ctx, struct opk_file *file,
                        const struct opk_eval_options *options)
{
	opk_auto(opk_filter) struct opk_filter *filter = NULL;
	const struct opk_meta *meta;

	TRY(check_file(ctx, file, options->allow_incomplete));
	TRY(opk_file_meta(&meta, ctx, file));
	TRY(opk_filter_of(&filter, ctx, options));
	TRY(opk_filter_check(filter, ctx, meta->profiler));
	task->silent = opk_eval_inside(options)->silent;
	return opk_evaluation_blame(ctx, file,
	                            begin_task(task, ctx, file, options, opk_take(filter)));
}

int opk_eval_task_take(struct opk_eval_task *task, struct opk_ctx *ctx, struct opk_result *result)
{
	struct opk_spools *spools = &task->evaluation->spools;

	TRY(opk_spools_init(spools, ctx, 1));
	*spools->results = *result;
	*result = (struct opk_result){ 0 };
	return OPK_OK;
}

/* Finishes once all children have ended. */
static int finish(struct opk_evaluation *evaluation, struct opk_ctx *ctx, const char *of)
{
	TRY(opk_evaluation_finish(evaluation, ctx));
	TRY(opk_evaluation_note_remarks(evaluation, ctx, of));
	if (evaluation->bins)
		return opk_evaluation_read_bins(evaluation, ctx);
	return evaluation->joining ? opk_evaluation_read_joined(evaluation, ctx) : OPK_OK;
}

int opk_eval_task_finish(struct opk_evaluation **out, struct opk_ctx *ctx,
                         struct opk_eval_task *task)
{
	struct opk_evaluation *evaluation = task->evaluation;
	const struct opk_file *file = task->job.file;

	TRY(opk_evaluation_blame(ctx, file,
	                         finish(evaluation, ctx, task->silent ? NULL : file->path)));
	evaluation->segments = task->job.segments;
	evaluation->segment_count = task->job.end;
	*out = opk_take(task->evaluation);
	return OPK_OK;
}

void opk_eval_task_clear(struct opk_eval_task *task)
{
	opk_evaluation_free(task->evaluation);
	free(task->unwanted);
	*task = (struct opk_eval_task){ 0 };
}

/* An unknown name came from the recording, not from the caller. */
static int fail_recorded(struct opk_ctx *ctx, uint32_t cupti_version)
{
	const struct opk_nv_release release = opk_nv_release_of(cupti_version);

	if (!*release.name)
		return opk_add(ctx, OPK_EFAILED,
		               "it does not say with which CUPTI it was made; choose metrics to "
		               "evaluate some");
	return opk_add(ctx, OPK_EFAILED,
	               "it was made with %s; take that, or choose metrics to evaluate some",
	               release.name);
}

/* Why a file with values needs NVIDIA's libraries all the same. */
static int explain_baked(struct opk_ctx *ctx, int code, const struct opk_eval_job *job)
{
	const char *lacking;

	TRY(opk_baked_find_lacking(&lacking, ctx, job->file, job->metrics, job->metric_count));
	if (!lacking)
		return opk_add(ctx, code, "the values that it has are not enough");
	opk_add(ctx, code, "%s is not among the values that it has", lacking);
	return opk_advise(ctx, code, OPK_REMEDY_BAKE);
}

int opk_eval_task_read(bool *served, struct opk_eval_task *task, struct opk_ctx *ctx,
                       const struct opk_eval_options *options)
{
	*served = false;
	if (!opk_eval_inside(options)->from_images)
		TRY(opk_eval_by_baked(served, &task->evaluation->spools, ctx, &task->job));
	return *served ? OPK_OK : opk_baked_check_images(ctx, task->job.file, "this");
}

static int run(struct opk_eval_task *task, struct opk_ctx *ctx,
               const struct opk_eval_options *options)
{
	bool served;
	int code;

	TRY(opk_eval_task_read(&served, task, ctx, options));
	if (served)
		return OPK_OK;
	code = opk_eval_run(&task->evaluation->spools, ctx, &task->job, options);
	if (code == OPK_EUSAGE && !options->metrics && !task->evaluation->columns.also_count)
		return fail_recorded(ctx, task->job.meta->cupti_version);
	return code == OPK_ENVIDIA && opk_file_is_baked(task->job.file)
	               ? explain_baked(ctx, code, &task->job)
	               : code;
}

int opk_eval_file(struct opk_evaluation **out, struct opk_ctx *ctx, struct opk_file *file,
                  const struct opk_eval_options *given)
{
	__attribute__((cleanup(opk_eval_task_clear))) struct opk_eval_task task = { 0 };
	OPK_OPTIONS(opk_eval_options, options, given);

	TRY(opk_eval_task_begin(&task, ctx, file, &options));
	TRY(opk_evaluation_blame(ctx, file, run(&task, ctx, &options)));
	return opk_eval_task_finish(out, ctx, &task);
}

/* ---- a bare image --------------------------------------------------------------------------- */

/* Every counter data image begins with this; the rest of its format is not public. */
static bool looks_like_image(const void *image, size_t size)
{
	static const char magic[] = "LOPDATA";

	return size > 64 && !memcmp(image, magic, sizeof magic);
}

/* Reads the image's chip and profiler, which only NVIDIA's code can do. */
static int ask_origin(char **chip, struct opk_ctx *ctx, struct opk_eval_job *job,
                      struct opk_eval_options *options)
{
	struct opk_contain_options contain = opk_eval_contain(job->image_size);
	opk_autosent struct opk_result result = { 0 };

	TRY(opk_contain(&result, ctx, opk_image_origin_in_child, job, &contain));
	*chip = opk_get_bytes(NULL, &result, sizeof((struct opk_spool_header *)NULL)->chip - 1);
	options->profiler = (enum opk_profiler)opk_get_number(&result, OPK_PROFILER_PM);
	return opk_result_check(&result, ctx);
}

/* A set has metrics only once the chip is known. */
static int find_origin(char **chip, struct opk_ctx *ctx, struct opk_eval_job *job,
                       struct opk_eval_options *options)
{
	bool known = options->chip && options->has_profiler;

	TRY(known ? opk_chip_resolve(chip, ctx, options->chip)
	          : ask_origin(chip, ctx, job, options));
	options->chip = job->chip = *chip;
	return OPK_OK;
}

static int check_image(struct opk_ctx *ctx, const void *image, size_t size,
                       const struct opk_eval_options *options)
{
	const char *join = opk_eval_inside(options)->join;

	if (!options->set && (!options->metrics || !options->metric_count))
		return opk_fail(ctx, OPK_EUSAGE,
		                "a bare image does not say its metrics: name them");
	if (join && *join)
		return opk_fail(ctx, OPK_EUSAGE,
		                "a bare image has no range table, so its ranges can't be joined");
	if (size >= OPK_MAGIC_SIZE && !memcmp(image, OPK_MAGIC, OPK_MAGIC_SIZE))
		return opk_fail(ctx, OPK_EINPUT, "this is an .opk file, not a bare image");
	if (!looks_like_image(image, size))
		return opk_fail(ctx, OPK_EINPUT, "not a counter data image");
	return OPK_OK;
}

int opk_eval_image(struct opk_evaluation **out, struct opk_ctx *ctx, const void *image, size_t size,
                   const struct opk_eval_options *given)
{
	__attribute__((cleanup(opk_eval_task_clear))) struct opk_eval_task task = { 0 };
	OPK_OPTIONS(opk_eval_options, options, given);
	opk_auto(opk_filter) struct opk_filter *filter = NULL;
	opk_autofree char *chip = NULL;

	TRY(check_image(ctx, image, size, &options));
	task.job = (struct opk_eval_job){
		.image = image,
		.image_size = size,
		.chip = options.chip,
		.has_profiler = options.has_profiler,
		.profiler = options.profiler,
		.gpu_time_shift = options.gpu_time_shift,
	};
	if (options.set)
		TRY(find_origin(&chip, ctx, &task.job, &options));
	TRY(opk_filter_of(&filter, ctx, &options));
	TRY(opk_evaluation_begin(&task.evaluation, ctx, &task.job, &options, opk_take(filter)));
	TRY(opk_eval_run(&task.evaluation->spools, ctx, &task.job, &options));
	TRY(finish(task.evaluation, ctx, "the image"));
	*out = opk_take(task.evaluation);
	return OPK_OK;
}
