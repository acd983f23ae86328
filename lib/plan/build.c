/* SPDX-License-Identifier: BSD-2-Clause */
/* From a plan to what travels: prefix, set.opk. */
#include <string.h>

#include "adapters/nv/nv.h"
#include "base/extreme.h"
#include "base/option_struct.h"
#include "config.h"
#include "container/container.h"
#include "plan/plan.h"

/* Those whose values are made instance by instance: without, they are nan on an H100. */
static const char *const by_instance[] = { "mio2rf_writeback_active" };

static bool needs_instances(const char *metric)
{
	for (size_t i = 0; i < sizeof by_instance / sizeof *by_instance; i++)
		if (strstr(metric, by_instance[i]))
			return true;
	return opk_metric_is_extreme(metric);
}

static bool any_needs_instances(const struct opk_plan *plan)
{
	for (size_t i = 0; i < plan->metrics.count; i++)
		if (needs_instances(plan->metrics.items[i]))
			return true;
	return false;
}

/* What the metrics depend on, in their order; and what those that need instances do, sorted. */
static int counters_of_metrics(struct opk_strlist *raw, struct opk_strlist *needed,
                               struct opk_ctx *ctx, const struct opk_plan *plan)
{
	opk_auto(opk_nv_evaluator) struct opk_nv_evaluator *evaluator = NULL;
	int code = opk_nv_evaluator_new(&evaluator, ctx, plan->target.chip);

	for (size_t i = 0; !code && i < plan->metrics.count; i++) {
		const char *metric = plan->metrics.items[i];

		code = opk_nv_raw_counters(raw, ctx, evaluator, metric);
		if (!code && needs_instances(metric))
			code = opk_nv_raw_counters(needed, ctx, evaluator, metric);
	}
	opk_strlist_sort(needed);
	return code;
}

/* What the config image collects: PerfWorks' evaluator does not know PM-sampling metrics. */
static int counters_of_config(struct opk_strlist *raw, struct opk_ctx *ctx,
                              const struct opk_plan *plan)
{
	int code = OPK_OK;

	for (size_t pass = 0; !code && pass < plan->schedule.passes; pass++)
		code = opk_nv_config_counters(raw, ctx, plan->schedule.config, plan->schedule.size,
		                              pass);
	return code;
}

int opk_prefix_new(void **out, size_t *size, struct opk_ctx *ctx, const struct opk_plan *plan,
                   enum opk_instances instances)
{
	opk_autostrlist struct opk_strlist raw = { 0 }, needed = { 0 };
	opk_autofree bool *keep = NULL;
	bool sampled = plan->target.profiler == OPK_PROFILER_PM;
	int code = sampled ? counters_of_config(&raw, ctx, plan)
	                   : counters_of_metrics(&raw, &needed, ctx, plan);

	/* Whose counters are whose is not known of samples. */
	if (sampled && instances == OPK_INSTANCES_NEEDED)
		instances = any_needs_instances(plan) ? OPK_INSTANCES_ALL : OPK_INSTANCES_NONE;
	if (!code && !(keep = opk_alloc_array(raw.count + 1, sizeof *keep)))
		return opk_nomem(ctx, "a counter-data prefix");
	for (size_t i = 0; !code && i < raw.count; i++)
		keep[i] = instances == OPK_INSTANCES_NEEDED
		                  ? opk_strlist_contains_sorted(&needed, raw.items[i])
		                  : instances == OPK_INSTANCES_ALL;
	if (!code)
		code = opk_nv_prefix(out, size, ctx, plan->target.chip, opk_strlist_items(&raw),
		                     raw.count, keep);
	return code ? opk_add(ctx, code, "no counter-data prefix for set %s on %s", plan->set_name,
	                      plan->target.chip)
	            : OPK_OK;
}

enum opk_instances opk_build_instances(const struct opk_plan *plan,
                                       const struct opk_build_options *given)
{
	OPK_OPTIONS(opk_build_options, options, given);

	if (options.no_instances)
		return OPK_INSTANCES_NONE;
	if (options.keep_instances
	    || (plan->target.profiler == OPK_PROFILER_PM && any_needs_instances(plan)))
		return OPK_INSTANCES_ALL;
	return OPK_INSTANCES_NEEDED;
}

/* The metrics as they are scheduled are the columns, unless the set says otherwise. */
static bool needs_columns(const struct opk_plan *plan)
{
	const struct opk_resolved *set = &plan->resolved;

	if (set->derived_count || set->heading_count || set->columns.count != plan->metrics.count)
		return true;
	for (size_t i = 0; i < plan->metrics.count; i++)
		if (strcmp(set->columns.items[i], plan->metrics.items[i]))
			return true;
	return false;
}

int opk_plan_to_meta(struct opk_meta *meta, struct opk_meta_label **labels, struct opk_ctx *ctx,
                     const struct opk_plan *plan)
{
	int code = opk_resolved_to_meta(meta, labels, ctx, &plan->resolved);

	if (!code && !needs_columns(plan))
		meta->column_count = 0;
	return code;
}

static int write_sections(struct opk_writer *writer, struct opk_ctx *ctx,
                          const struct opk_plan *plan, const struct opk_meta *meta,
                          const struct opk_build_options *options)
{
	opk_autofree void *prefix = NULL;
	size_t size;
	int code = opk_writer_add_meta(writer, meta);

	if (!code)
		code = opk_prefix_new(&prefix, &size, ctx, plan,
		                      opk_build_instances(plan, options));
	if (!code)
		code = opk_writer_add(writer, OPK_SECTION_CONFIG, plan->schedule.config,
		                      plan->schedule.size);
	if (!code)
		code = opk_writer_add(writer, OPK_SECTION_PREFIX, prefix, size);
	if (!code && options->availability)
		code = opk_writer_add(writer, OPK_SECTION_AVAILABILITY, options->availability,
		                      options->availability_size);
	return code;
}

static int write_set(struct opk_writer *writer, struct opk_ctx *ctx, const struct opk_plan *plan,
                     const struct opk_metric_passes *passes,
                     const struct opk_build_options *options)
{
	struct opk_nvidia_info info;
	char hash[15];
	struct opk_meta meta = {
		.kind = "set",
		.generator = "offpeak " PACKAGE_VERSION,
		.chip = plan->target.chip,
		.profiler = plan->target.profiler,
		.set_name = plan->set_name,
		.set_description = plan->set_description,
		.metrics = opk_strlist_items(&plan->metrics),
		.metric_count = plan->metrics.count,
		.passes = plan->schedule.passes,
		.keep_instances = opk_build_instances(plan, options) == OPK_INSTANCES_ALL,
		.config_hash = hash,
		.metric_passes = passes->lists,
		.metric_pass_count = passes->count,
	};
	opk_autofree struct opk_meta_label *labels = NULL;
	int code = opk_nvidia_info(&info, ctx);

	if (!code)
		code = opk_plan_to_meta(&meta, &labels, ctx, plan);
	if (code)
		return code;
	meta.cupti_version = info.cupti_version;
	opk_config_hash(hash, plan->schedule.config, plan->schedule.size);
	return write_sections(writer, ctx, plan, &meta, options);
}

int opk_build_begin(struct opk_writer **out, struct opk_ctx *ctx, const struct opk_plan *plan,
                    const struct opk_build_options *given, const char *path)
{
	OPK_OPTIONS(opk_build_options, options, given);
	struct opk_metric_passes passes = { 0 };
	struct opk_writer *writer;
	int code = opk_writer_new(&writer, ctx, path);

	if (code)
		return code;
	/* One pass has all metrics. */
	if (plan->schedule.passes > 1)
		code = opk_metric_passes_find(&passes, ctx, plan);
	if (!code)
		code = write_set(writer, ctx, plan, &passes, &options);
	opk_metric_passes_clear(&passes);
	if (code)
		opk_writer_free(writer);
	else
		*out = writer;
	return code;
}

int opk_build(struct opk_ctx *ctx, const struct opk_plan *plan,
              const struct opk_build_options *options, const char *path)
{
	struct opk_writer *writer;
	int code = opk_build_begin(&writer, ctx, plan, options, path);

	if (code)
		return code;
	code = opk_writer_finish(writer);
	opk_writer_free(writer);
	return code;
}
