/* SPDX-License-Identifier: BSD-2-Clause */
/* From a plan to what travels: prefix, set.opk. */
#include "adapters/nv/nv.h"
#include "base/options.h"
#include "config.h"
#include "domain/container.h"
#include "domain/meta.h"
#include "domain/plan.h"

/* What the metrics depend on, in their order. */
static int counters_of_metrics(struct opk_strlist *raw, struct opk_ctx *ctx,
                               const struct opk_plan *plan)
{
	struct opk_nv_evaluator *evaluator = NULL;
	int code = opk_nv_evaluator_new(&evaluator, ctx, plan->chip);

	for (size_t i = 0; !code && i < plan->metrics.count; i++)
		code = opk_nv_raw_counters(raw, ctx, evaluator, plan->metrics.items[i]);
	opk_nv_evaluator_free(evaluator);
	return code;
}

/* What the config image collects: PerfWorks' evaluator does not know PM-sampling metrics. */
static int counters_of_config(struct opk_strlist *raw, struct opk_ctx *ctx,
                              const struct opk_plan *plan)
{
	int code = OPK_OK;

	for (size_t pass = 0; !code && pass < plan->passes; pass++)
		code = opk_nv_config_counters(raw, ctx, plan->config, plan->config_size, pass);
	return code;
}

int opk_prefix_new(void **out, size_t *size, struct opk_ctx *ctx, const struct opk_plan *plan,
                   bool keep_instances)
{
	opk_autostrlist struct opk_strlist raw = { 0 };
	int code = plan->profiler == OPK_PROFILER_PM ? counters_of_config(&raw, ctx, plan)
	                                             : counters_of_metrics(&raw, ctx, plan);

	if (!code)
		code = opk_nv_prefix(out, size, ctx, plan->chip, opk_strlist_items(&raw), raw.count,
		                     keep_instances);
	return code ? opk_add(ctx, code, "no counter-data prefix for set %s on %s", plan->set_name,
	                      plan->chip)
	            : OPK_OK;
}

static int write_sections(struct opk_writer *writer, struct opk_ctx *ctx,
                          const struct opk_plan *plan, const struct opk_build_options *options)
{
	struct opk_nvidia_info info;
	char hash[15];
	struct opk_meta meta = {
		.kind = "set",
		.generator = "offpeak " PACKAGE_VERSION,
		.chip = plan->chip,
		.profiler = plan->profiler,
		.set_name = plan->set_name,
		.set_description = plan->set_description,
		.metrics = opk_strlist_items(&plan->metrics),
		.metric_count = plan->metrics.count,
		.passes = plan->passes,
		.keep_instances = !options->no_instances,
		.config_hash = hash,
	};
	opk_autofree void *prefix = NULL;
	size_t prefix_size;
	int code = opk_nvidia_info(&info, ctx);

	meta.cupti_version = info.cupti_version;
	opk_config_hash(hash, plan->config, plan->config_size);
	if (!code)
		code = opk_prefix_new(&prefix, &prefix_size, ctx, plan, !options->no_instances);
	if (!code)
		code = opk_writer_add_meta(writer, &meta);
	if (!code)
		code = opk_writer_add(writer, OPK_SECTION_CONFIG, plan->config, plan->config_size);
	if (!code)
		code = opk_writer_add(writer, OPK_SECTION_PREFIX, prefix, prefix_size);
	if (!code && options->availability)
		code = opk_writer_add(writer, OPK_SECTION_AVAILABILITY, options->availability,
		                      options->availability_size);
	return code ? code : opk_writer_finish(writer);
}

int opk_build(struct opk_ctx *ctx, const struct opk_plan *plan,
              const struct opk_build_options *given, const char *path)
{
	OPK_OPTIONS(opk_build_options, options, given);
	struct opk_writer *writer;
	int code = opk_writer_new(&writer, ctx, path);

	if (code)
		return code;
	code = write_sections(writer, ctx, plan, &options);
	opk_writer_free(writer);
	return code;
}
