/* SPDX-License-Identifier: BSD-2-Clause */
/* Turns a bare counter data image into a recording, once it has been evaluated. */
#include <string.h>

#include "adapters/nv/nv.h"
#include "base/json_read.h"
#include "base/option_struct.h"
#include "config.h"
#include "container/container.h"
#include "eval/eval_inside.h"

/* In the child, since damaged config images crash: counts the passes of one. */
static int count_passes(struct opk_ctx *ctx, void *data, struct opk_child *child)
{
	const struct opk_import_options *options = data;
	void *config = opk_child_guarded_copy(options->config, options->config_size);
	size_t passes = 0;
	int code = config ? opk_nv_passes(&passes, ctx, config, options->config_size)
	                  : opk_nomem(ctx, "a config image");

	opk_put_number(child, passes);
	return code;
}

static int passes_of(size_t *out, struct opk_ctx *ctx, const struct opk_import_options *options)
{
	opk_autosent struct opk_result result = { 0 };
	int code;

	*out = options->passes;
	if (!options->config)
		return OPK_OK;
	code = opk_contain(&result, ctx, count_passes, (void *)options, NULL);
	if (code)
		return opk_add(ctx, code == OPK_ENOMEM ? code : OPK_EINPUT,
		               "the config image can't be used");
	*out = opk_get_number(&result, SIZE_MAX);
	opk_result_expect(&result, *out > 0);
	return opk_result_check(&result, ctx);
}

static int parse_ranges(struct opk_range_table *table, struct opk_ctx *ctx,
                        const struct opk_import_options *options, uint64_t rows, size_t passes)
{
	opk_auto(opk_json) struct opk_json *root = NULL;

	if (options->ranges_size > OPK_MAX_JSON)
		return opk_fail(ctx, OPK_EINPUT, "a range table of more than %d bytes",
		                OPK_MAX_JSON);
	TRY(opk_json_parse(&root, ctx, options->ranges, options->ranges_size));
	if (root->type == OPK_JSON_ARRAY && root->count != rows)
		return opk_fail(ctx, OPK_EINPUT, "the range table has %zu rows for %ju ranges",
		                root->count, (uintmax_t)rows);
	TRY(opk_ranges_from_json(table, ctx, root));
	return opk_ranges_check_pass(ctx, table->rows.items, table->rows.count, passes);
}

/* Refuses a range table that readers of the recording would refuse. */
static int read_ranges(struct opk_range_table *table, struct opk_ctx *ctx,
                       const struct opk_import_options *options, uint64_t rows, size_t passes)
{
	int code = options->ranges ? parse_ranges(table, ctx, options, rows, passes) : OPK_OK;

	return code ? opk_add(ctx, code, "the range table %s can't be used",
	                      options->ranges_name ? options->ranges_name : "given")
	            : OPK_OK;
}

static int add_optional(struct opk_writer *writer, uint32_t type, const void *data, size_t size)
{
	return data ? opk_writer_add(writer, type, data, size) : OPK_OK;
}

static int write_sections(struct opk_writer *writer, const struct opk_meta *meta, const void *image,
                          size_t size, const struct opk_range_table *ranges,
                          const struct opk_import_options *options)
{
	TRY(opk_writer_add_meta(writer, meta));
	TRY(add_optional(writer, OPK_SECTION_CONFIG, options->config, options->config_size));
	TRY(add_optional(writer, OPK_SECTION_AVAILABILITY, options->availability,
	                 options->availability_size));
	TRY(opk_writer_add(writer, OPK_SECTION_DATA, image, size));
	if (options->ranges)
		TRY(opk_writer_add_ranges(writer, ranges->rows.items, ranges->rows.count,
		                          sizeof *ranges->rows.items));
	return opk_writer_finish(writer);
}

/* The metadata list the metrics asked for, or the set as resolved for the image's chip. */
static struct opk_meta meta_of(const struct opk_evaluation *evaluation,
                               const struct opk_import_options *options)
{
	const struct opk_eval_options *eval = options->eval;
	struct opk_meta meta = { .metrics = eval->metrics, .metric_count = eval->metric_count };

	if (eval->set)
		meta = evaluation->set.meta;
	meta.set_name = options->set_name;
	if (eval->set && !options->set_name)
		meta.set_name = opk_set_name(eval->set);
	meta.kind = "recording";
	meta.generator = "offpeak " PACKAGE_VERSION;
	meta.chip = opk_evaluation_chip(evaluation);
	meta.profiler = opk_evaluation_profiler(evaluation);
	meta.keep_instances = !options->no_instances;
	meta.source = options->source;
	meta.has_gpu_time_shift = eval->has_gpu_time_shift;
	meta.gpu_time_shift = eval->gpu_time_shift;
	return meta;
}

static int write_recording(struct opk_ctx *ctx, const struct opk_evaluation *evaluation,
                           const void *image, size_t size, const struct opk_import_options *options,
                           const char *path)
{
	struct opk_nvidia_info info = OPK_INIT(info);
	struct opk_meta meta = meta_of(evaluation, options);
	opk_auto(opk_writer) struct opk_writer *writer = NULL;
	opk_autoranges struct opk_range_table ranges = { 0 };
	char hash[15] = "";

	TRY(passes_of(&meta.passes, ctx, options));
	TRY(read_ranges(&ranges, ctx, options, opk_evaluation_row_count(evaluation), meta.passes));
	TRY(opk_nvidia_get_info(&info, ctx));
	TRY(opk_writer_new_made(&writer, ctx, path, OPK_OUTPUT_IMPORTED));
	meta.cupti_version = info.cupti_version;
	meta.config_hash = hash;
	if (options->config)
		opk_config_hash(hash, options->config, options->config_size);
	return write_sections(writer, &meta, image, size, &ranges, options);
}

int opk_import(struct opk_ctx *ctx, const void *image, size_t size,
               const struct opk_import_options *given, const char *path)
{
	OPK_OPTIONS(opk_import_options, options, given);
	OPK_OPTIONS(opk_eval_options, eval, options.eval);
	opk_auto(opk_evaluation) struct opk_evaluation *evaluation = NULL;

	TRY(opk_check_output(ctx, path, OPK_OUTPUT_IMPORTED));
	eval.size = sizeof eval;
	options.eval = &eval;
	/* A recording lists full names of metrics. */
	for (size_t i = 0; !eval.set && i < eval.metric_count; i++)
		if (!strstr(eval.metrics[i], "__"))
			return opk_fail(ctx, OPK_EUSAGE, "'%s' is not a full metric name",
			                eval.metrics[i]);
	TRY(opk_eval_image(&evaluation, ctx, image, size, &eval));
	return write_recording(ctx, evaluation, image, size, &options, path);
}
