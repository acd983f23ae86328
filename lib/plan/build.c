/* SPDX-License-Identifier: BSD-2-Clause */
/* Builds from a plan what goes to the GPU machine: the counter-data prefix and the file set.opk. */
#include <string.h>

#include "adapters/nv/nv.h"
#include "base/option_struct.h"
#include "config.h"
#include "container/container.h"
#include "plan/door.h"
#include "plan/plan.h"

/* All counters of the config image: PerfWorks' evaluator knows no PM-sampling metrics. */
static int counters_of_config(struct opk_counters *out, struct opk_ctx *ctx,
                              const struct opk_plan *plan)
{
	*out = (struct opk_counters){ 0 };
	for (size_t pass = 0; pass < plan->schedule.passes; pass++)
		TRY(opk_nv_config_counters(&out->names, ctx, plan->schedule.config,
		                           plan->schedule.size, pass));
	return OPK_OK;
}

static int counters_of_plan(struct opk_counters *out, struct opk_ctx *ctx,
                            const struct opk_plan *plan)
{
	return plan->target.profiler == OPK_PROFILER_PM
	               ? counters_of_config(out, ctx, plan)
	               : opk_counters_of(out, ctx, plan->target.chip, &plan->metrics);
}

static int make_prefix(void **out, size_t *size, struct opk_ctx *ctx, const struct opk_plan *plan,
                       const struct opk_counters *counters, const bool *keep)
{
	return opk_nv_prefix(out, size, ctx, plan->target.chip, &counters->names, keep);
}

static int fail_prefix(struct opk_ctx *ctx, int code, const struct opk_plan *plan)
{
	return code ? opk_add(ctx, code, "no counter-data prefix for set %s on %s", plan->set_name,
	                      plan->target.chip)
	            : OPK_OK;
}

static enum opk_instances instances_of(const struct opk_build_options *options)
{
	return options->no_instances     ? OPK_INSTANCES_NONE
	       : options->keep_instances ? OPK_INSTANCES_ALL
	                                 : OPK_INSTANCES_NEEDED;
}

/* Metrics of instructions have neither counters nor images. */
static int check_images(struct opk_ctx *ctx, const struct opk_plan *plan)
{
	return opk_profiler_is_code(plan->target.profiler)
	               ? opk_fail(ctx, OPK_EUSAGE,
	                          "profiler %s uses no counters: there is no config image, no "
	                          "counter-data prefix and nothing with instances",
	                          opk_profiler_name(plan->target.profiler))
	               : OPK_OK;
}

int opk_prefix_new(void **out, size_t *size, struct opk_ctx *ctx, const struct opk_plan *plan,
                   const struct opk_build_options *given)
{
	OPK_OPTIONS(opk_build_options, options, given);
	opk_autocounters struct opk_counters counters = { 0 };
	opk_autofree bool *keep = NULL;
	int code = check_images(ctx, plan);

	if (!code)
		code = counters_of_plan(&counters, ctx, plan);
	if (!code)
		code = opk_instances_find(&keep, ctx, plan, &counters, instances_of(&options));
	if (!code)
		code = make_prefix(out, size, ctx, plan, &counters, keep);
	return fail_prefix(ctx, code, plan);
}

/* Columns are needed unless they are simply the metrics in the order of scheduling. */
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
	TRY(opk_resolved_to_meta(meta, labels, ctx, &plan->resolved));
	if (!needs_columns(plan))
		meta->column_count = 0;
	return OPK_OK;
}

/* What the metadata say about one config image of a plan. */
struct image_facts {
	char hash[15];
	struct opk_pass_list *passes; /* one for each metric; NULL: there is one pass */
	uint32_t *numbers;            /* of all lists */
};

static void clear_facts(struct image_facts *facts)
{
	free(facts->passes);
	free(facts->numbers);
}
#define opk_autofacts __attribute__((cleanup(clear_facts)))

/* Lists the numbers, from 1, of the passes that serve each metric. */
static int list_passes(struct image_facts *facts, struct opk_ctx *ctx, const struct opk_plan *plan,
                       const struct opk_counters *counters)
{
	opk_autopassuse struct opk_pass_use use = { 0 };
	uint32_t *numbers;

	TRY(opk_pass_use_find(&use, ctx, plan, counters));
	facts->passes = opk_alloc_array(use.metrics + 1, sizeof *facts->passes);
	facts->numbers = opk_alloc_array(use.metrics * use.passes + 1, sizeof *facts->numbers);
	if (!facts->passes || !facts->numbers)
		return opk_nomem(ctx, "passes of metrics");
	numbers = facts->numbers;
	for (size_t i = 0; i < use.metrics; i++) {
		facts->passes[i].passes = numbers;
		for (size_t pass = 0; pass < use.passes; pass++)
			if (opk_pass_serves(&use, pass, i))
				numbers[facts->passes[i].count++] = (uint32_t)pass + 1;
		numbers += facts->passes[i].count;
	}
	return OPK_OK;
}

/* With one pass, that pass has all metrics. */
static int find_facts(struct image_facts *facts, struct opk_ctx *ctx, const struct opk_plan *plan,
                      const struct opk_counters *counters)
{
	if (plan->schedule.config)
		opk_config_hash(facts->hash, plan->schedule.config, plan->schedule.size);
	return plan->schedule.passes > 1 ? list_passes(facts, ctx, plan, counters) : OPK_OK;
}

/* The plan for rotation, as a plan of its own, which borrows all. */
static struct opk_plan rotation_of(const struct opk_plan *plan)
{
	struct opk_plan rotation = *plan;

	rotation.schedule = plan->rotation;
	return rotation;
}

static int add_meta(struct opk_writer *writer, struct opk_ctx *ctx, const struct opk_plan *plan,
                    const struct opk_counters *counters, bool all_instances)
{
	opk_autofacts struct image_facts facts = { 0 }, turns = { 0 };
	opk_autofree struct opk_meta_label *labels = NULL;
	struct opk_nvidia_info info = OPK_INIT(info);
	struct opk_plan rotation = rotation_of(plan);
	struct opk_meta meta = {
		.kind = "set",
		.generator = "offpeak " PACKAGE_VERSION,
		.chip = plan->target.chip,
		.profiler = plan->target.profiler,
		.set_name = plan->set_name,
		.set_description = plan->set_description,
		.single_pass = plan->target.single_pass,
		.metrics = opk_strlist_items(&plan->metrics),
		.metric_count = plan->metrics.count,
		.passes = plan->schedule.passes,
		.keep_instances = all_instances,
		.config_hash = facts.hash,
	};

	TRY(find_facts(&facts, ctx, plan, counters));
	TRY(find_facts(&turns, ctx, &rotation, counters));
	if (plan->schedule.config)
		TRY(opk_nvidia_get_info(&info, ctx));
	TRY(opk_plan_to_meta(&meta, &labels, ctx, plan));
	meta.cupti_version = info.cupti_version;
	meta.metric_passes = facts.passes;
	meta.metric_pass_count = facts.passes ? plan->metrics.count : 0;
	meta.rotation = (struct opk_meta_rotation){
		.passes = rotation.schedule.passes,
		.config_hash = turns.hash,
		.metric_passes = turns.passes,
		.metric_pass_count = turns.passes ? plan->metrics.count : 0,
	};
	return opk_writer_add_meta(writer, &meta);
}

static bool are_all(const bool *flags, size_t count)
{
	size_t set = 0;

	while (set < count && flags[set])
		set++;
	return set == count;
}

static int write_set(struct opk_writer *writer, struct opk_ctx *ctx, const struct opk_plan *plan,
                     const struct opk_build_options *options)
{
	opk_autocounters struct opk_counters counters = { 0 };
	opk_autofree void *prefix = NULL;
	opk_autofree bool *keep = NULL;
	size_t size;

	if (opk_profiler_is_code(plan->target.profiler))
		return add_meta(writer, ctx, plan, &counters, true);
	TRY(counters_of_plan(&counters, ctx, plan));
	TRY(opk_instances_find(&keep, ctx, plan, &counters, instances_of(options)));
	TRY(add_meta(writer, ctx, plan, &counters, are_all(keep, counters.names.count)));
	TRY(fail_prefix(ctx, make_prefix(&prefix, &size, ctx, plan, &counters, keep), plan));
	TRY(opk_writer_add(writer, OPK_SECTION_CONFIG, plan->schedule.config, plan->schedule.size));
	if (plan->rotation.config)
		TRY(opk_writer_add(writer, OPK_SECTION_ROTATION, plan->rotation.config,
		                   plan->rotation.size));
	TRY(opk_writer_add(writer, OPK_SECTION_PREFIX, prefix, size));
	if (options->availability)
		TRY(opk_writer_add(writer, OPK_SECTION_AVAILABILITY, options->availability,
		                   options->availability_size));
	return OPK_OK;
}

int opk_build_begin(struct opk_writer **out, struct opk_ctx *ctx, const struct opk_plan *plan,
                    const struct opk_build_options *given, const char *path)
{
	OPK_OPTIONS(opk_build_options, options, given);
	opk_auto(opk_writer) struct opk_writer *writer = NULL;

	if (options.no_instances || options.keep_instances || options.availability)
		TRY(check_images(ctx, plan));
	TRY(opk_writer_new_made(&writer, ctx, path, OPK_OUTPUT_SET));
	TRY(write_set(writer, ctx, plan, &options));
	*out = opk_take(writer);
	return OPK_OK;
}

int opk_build(struct opk_ctx *ctx, const struct opk_plan *plan,
              const struct opk_build_options *options, const char *path)
{
	opk_auto(opk_writer) struct opk_writer *writer = NULL;

	TRY(opk_build_begin(&writer, ctx, plan, options, path));
	return opk_writer_finish(writer);
}
