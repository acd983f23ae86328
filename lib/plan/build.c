/* SPDX-License-Identifier: BSD-2-Clause */
/* From a plan to what travels: prefix, set.opk. */
#include <string.h>

#include "adapters/nv/nv.h"
#include "base/option_struct.h"
#include "config.h"
#include "container/container.h"
#include "plan/plan.h"

/* What the metrics depend on, in their order. */
static int counters_of_metrics(struct opk_strlist *raw, struct opk_ctx *ctx,
                               const struct opk_plan *plan)
{
	opk_auto(opk_nv_evaluator) struct opk_nv_evaluator *evaluator = NULL;
	int code = opk_nv_evaluator_new(&evaluator, ctx, plan->target.chip);

	for (size_t i = 0; !code && i < plan->metrics.count; i++)
		code = opk_nv_raw_counters(raw, ctx, evaluator, plan->metrics.items[i]);
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
                   bool keep_instances)
{
	opk_autostrlist struct opk_strlist raw = { 0 };
	int code = plan->target.profiler == OPK_PROFILER_PM ? counters_of_config(&raw, ctx, plan)
	                                                    : counters_of_metrics(&raw, ctx, plan);

	if (!code)
		code = opk_nv_prefix(out, size, ctx, plan->target.chip, opk_strlist_items(&raw),
		                     raw.count, keep_instances);
	return code ? opk_add(ctx, code, "no counter-data prefix for set %s on %s", plan->set_name,
	                      plan->target.chip)
	            : OPK_OK;
}

/* ".max" and ".min" as a whole part of a metric's name. */
static bool has_extreme(const char *metric)
{
	for (const char *part = strchr(metric, '.'); part; part = strchr(part + 1, '.'))
		if ((!strncmp(part, ".min", 4) || !strncmp(part, ".max", 4))
		    && (!part[4] || part[4] == '.'))
			return true;
	return false;
}

bool opk_build_keeps_instances(const struct opk_plan *plan, const struct opk_build_options *given)
{
	OPK_OPTIONS(opk_build_options, options, given);

	if (options.no_instances || options.keep_instances
	    || plan->target.profiler != OPK_PROFILER_PM)
		return !options.no_instances;
	/* Sampling fills images fast, and only these two need each instance's value. */
	for (size_t i = 0; i < plan->metrics.count; i++)
		if (has_extreme(plan->metrics.items[i]))
			return true;
	return false;
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

/* Config image and prefix, of the whole set or of a group. */
static int write_images(struct opk_writer *writer, struct opk_ctx *ctx, const struct opk_plan *plan,
                        bool keep_instances)
{
	opk_autofree void *prefix = NULL;
	size_t size;
	int code = opk_prefix_new(&prefix, &size, ctx, plan, keep_instances);

	if (!code)
		code = opk_writer_add(writer, OPK_SECTION_CONFIG, plan->schedule.config,
		                      plan->schedule.size);
	return code ? code : opk_writer_add(writer, OPK_SECTION_PREFIX, prefix, size);
}

/* The group as a plan of its own; what it borrows belongs to the two. */
static int write_group(struct opk_writer *writer, struct opk_ctx *ctx, const struct opk_plan *plan,
                       const struct opk_pass_group *group, bool keep_instances)
{
	opk_autofree char **names = opk_alloc_array(group->metric_count, sizeof *names);
	struct opk_plan part = *plan;

	if (!names)
		return opk_nomem(ctx, "a pass group");
	for (size_t i = 0; i < group->metric_count; i++)
		names[i] = plan->metrics.items[group->metrics[i]];
	part.metrics = (struct opk_strlist){ .items = names, .count = group->metric_count };
	part.schedule = group->schedule;
	return write_images(writer, ctx, &part, keep_instances);
}

/* After the last one comes the config image that has a pass for each. */
static int write_groups(struct opk_writer *writer, struct opk_ctx *ctx, const struct opk_plan *plan,
                        const struct opk_pass_groups *groups, bool keep_instances)
{
	int code = OPK_OK;

	for (size_t i = 0; !code && i < groups->count; i++)
		code = write_group(writer, ctx, plan, &groups->items[i], keep_instances);
	if (!code && groups->count)
		code = opk_writer_add(writer, OPK_SECTION_CONFIG, groups->schedule.config,
		                      groups->schedule.size);
	return code;
}

static int write_sections(struct opk_writer *writer, struct opk_ctx *ctx,
                          const struct opk_plan *plan, const struct opk_pass_groups *groups,
                          const struct opk_meta *meta, const struct opk_build_options *options)
{
	int code = opk_writer_add_meta(writer, meta);

	if (!code)
		code = write_images(writer, ctx, plan, meta->keep_instances);
	if (!code)
		code = write_groups(writer, ctx, plan, groups, meta->keep_instances);
	if (!code && options->availability)
		code = opk_writer_add(writer, OPK_SECTION_AVAILABILITY, options->availability,
		                      options->availability_size);
	return code;
}

static int write_set(struct opk_writer *writer, struct opk_ctx *ctx, const struct opk_plan *plan,
                     const struct opk_pass_groups *groups, const struct opk_build_options *options)
{
	opk_autofree struct opk_group *listed = opk_alloc_array(groups->count + 1, sizeof *listed);
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
		.keep_instances = opk_build_keeps_instances(plan, options),
		.config_hash = hash,
		.groups = listed,
		.group_count = groups->count,
	};
	opk_autofree struct opk_meta_label *labels = NULL;
	int code = opk_nvidia_info(&info, ctx);

	if (!code)
		code = opk_plan_to_meta(&meta, &labels, ctx, plan);
	if (code)
		return code;
	if (!listed)
		return opk_nomem(ctx, "pass groups");
	meta.cupti_version = info.cupti_version;
	opk_config_hash(hash, plan->schedule.config, plan->schedule.size);
	for (size_t i = 0; i < groups->count; i++)
		listed[i] = (struct opk_group){ groups->items[i].metrics,
			                        groups->items[i].metric_count };
	return write_sections(writer, ctx, plan, groups, &meta, options);
}

/* In hundredths, as all progress of plans. */
static void report(void *data, uint64_t done, uint64_t total)
{
	const struct opk_build_options *options = data;

	if (options->progress)
		options->progress(options->progress_data, done < total ? done * 100 / total : 100,
		                  100);
}

static int pack(struct opk_pass_groups *groups, struct opk_ctx *ctx, const struct opk_plan *plan,
                struct opk_build_options *options)
{
	struct opk_plan reporting = *plan;

	reporting.progress = report;
	reporting.progress_data = options;
	return opk_pass_groups_pack(groups, ctx, &reporting, options->availability,
	                            options->availability_size);
}

int opk_build_begin(struct opk_writer **out, struct opk_ctx *ctx, const struct opk_plan *plan,
                    const struct opk_build_options *given, const char *path)
{
	OPK_OPTIONS(opk_build_options, options, given);
	opk_autopassgroups struct opk_pass_groups groups = { 0 };
	struct opk_writer *writer;
	int code = opk_writer_new(&writer, ctx, path);

	if (code)
		return code;
	options.size = sizeof options;
	/* What has one pass needs no groups: PM sampling always, other sets if they are small. */
	if (plan->schedule.passes > 1 && !options.no_groups)
		code = pack(&groups, ctx, plan, &options);
	if (!code)
		code = write_set(writer, ctx, plan, &groups, &options);
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
