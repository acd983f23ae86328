/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes a config image and a number of passes from a set and a chip. */
#include "plan/plan_detail.h"

#include <string.h>

#include "adapters/nv/nv.h"
#include "base/option_struct.h"
#include "chip/chip.h"
#include "child/child.h"
#include "plan/door.h"
#include "plan/pass_costs.h"
#include "set/set.h"

/* Schedules all metrics of the plan. */
static int try_all(struct opk_plan *plan, struct opk_ctx *ctx)
{
	opk_schedule_result_clear(&plan->schedule);
	return opk_schedule_try(&plan->schedule, ctx, &plan->target,
	                        opk_strlist_items(&plan->metrics), plan->metrics.count);
}

static int prepare(struct opk_plan *plan, struct opk_ctx *ctx, const struct opk_set *set,
                   const struct opk_plan_options *options)
{
	char *chip = NULL;

	plan->target.profiler = options->has_profiler ? options->profiler
	                        : set->has_profiler   ? set->profiler
	                                              : OPK_PROFILER_RANGE;
	plan->seconds = opk_plan_seconds(options);
	plan->set_name = opk_strdup(set->name);
	plan->set_description = opk_strdup(set->description);
	if (set->single_pass)
		plan->target.single_pass = opk_strdup(set->single_pass);
	if (!plan->set_name || !plan->set_description
	    || (set->single_pass && !plan->target.single_pass))
		return opk_nomem(ctx, "a plan");
	TRY(opk_chip_resolve_for(&chip, ctx, options->chip, plan->target.profiler));
	plan->target.chip = chip;
	TRY(opk_set_resolve(&plan->resolved, ctx, set, plan->target.chip, plan->target.profiler));
	for (size_t i = 0; i < plan->resolved.metrics.count; i++)
		if (!opk_strlist_add(&plan->metrics, plan->resolved.metrics.items[i]))
			return opk_nomem(ctx, "a plan");
	return OPK_OK;
}

/* A config image names its chip: check that the availability image is not another chip's. */
static int check_chip(struct opk_ctx *ctx, const struct opk_plan *plan)
{
	if (!plan->target.availability
	    || memmem(plan->schedule.config, plan->schedule.size, plan->target.chip,
	              strlen(plan->target.chip)))
		return OPK_OK;
	return opk_fail(ctx, OPK_EINPUT, "it is of another chip than %s", plan->target.chip);
}

static int keep_one_pass(struct opk_plan *plan, struct opk_ctx *ctx, bool strict_order)
{
	TRY(opk_plan_fit_one_pass(plan, ctx, strict_order));
	return try_all(plan, ctx);
}

/* With as many passes it has nothing that the first plan lacks. */
static bool is_worth_it(const struct opk_plan *cheap, const struct opk_plan *plan)
{
	return cheap->schedule.cheap && cheap->schedule.passes > plan->schedule.passes
	       && (!plan->limit || cheap->schedule.passes <= plan->limit);
}

/* Another plan of the same metrics. */
static int schedule_cheap(struct opk_plan *plan, struct opk_ctx *ctx)
{
	struct opk_plan_options options = OPK_INIT(options);
	struct opk_plan cheap = *plan;
	int code;

	options.prefer_cheap = true;
	cheap.schedule = (struct opk_schedule_result){ 0 };
	code = try_all(&cheap, ctx);
	if (!code)
		code = opk_plan_search(&cheap, ctx, &options);
	if (code || !is_worth_it(&cheap, plan))
		opk_schedule_result_clear(&cheap.schedule);
	plan->rotation = cheap.schedule;
	return code;
}

/* Where costs were measured: elsewhere a user must ask for cheap passes. */
static int schedule_rotation(struct opk_plan *plan, struct opk_ctx *ctx)
{
	struct opk_pass_costs costs = { 0 };
	int code = opk_pass_costs_read(&costs, ctx, plan->target.chip);
	bool measured = !code && costs.count;

	opk_pass_costs_clear(&costs);
	return measured && plan->schedule.passes > 1 ? schedule_cheap(plan, ctx) : code;
}

static int schedule(struct opk_plan *plan, struct opk_ctx *ctx, const struct opk_set *set,
                    const struct opk_plan_options *options)
{
	int code = try_all(plan, ctx);

	if (opk_nv_refused(ctx, code))
		return opk_plan_explain_refusal(ctx, plan, set, code);
	TRY(code);
	TRY(check_chip(ctx, plan));
	if (options->single_pass && plan->schedule.passes > 1)
		TRY(keep_one_pass(plan, ctx, options->strict_order));
	if (options->effort >= 0)
		TRY(opk_plan_search(plan, ctx, options));
	if (options->effort >= 0 && options->for_rotation && !options->prefer_cheap)
		TRY(schedule_rotation(plan, ctx));
	return plan->limit && plan->schedule.passes > plan->limit
	               ? opk_plan_explain_passes(ctx, plan)
	               : OPK_OK;
}

/* An availability image can't be checked: all that reads it runs in a child. */
struct contained_plan {
	struct opk_plan *plan;
	const struct opk_set *set;
	const struct opk_plan_options *options;
};

static int schedule_in_child(struct opk_ctx *ctx, void *data, struct opk_child *child)
{
	const struct contained_plan *job = data;
	struct opk_plan *plan = job->plan;

	plan->target.availability = opk_child_guarded_copy(job->options->availability,
	                                                   job->options->availability_size);
	if (!plan->target.availability)
		return opk_nomem(ctx, "a counter-availability image");
	TRY(schedule(plan, ctx, job->set, job->options));
	opk_put_number(child, plan->schedule.passes);
	opk_put_number(child, plan->schedule.apart);
	opk_put_number(child, plan->schedule.cheap);
	opk_put_bytes(child, plan->schedule.config, plan->schedule.size);
	opk_put_number(child, plan->rotation.passes);
	opk_put_bytes(child, plan->rotation.config, plan->rotation.size);
	opk_put_number(child, plan->left_out.count);
	for (size_t i = 0; i < plan->left_out.count; i++)
		opk_put_bytes(child, plan->left_out.items[i], strlen(plan->left_out.items[i]));
	return OPK_OK;
}

static int read_contained(struct opk_plan *plan, struct opk_ctx *ctx, struct opk_result *result)
{
	opk_autofree bool *kept = opk_alloc_array(plan->metrics.count + 1, sizeof *kept);
	opk_autostrlist struct opk_strlist left_out = { 0 };
	size_t count;

	if (!kept)
		return opk_nomem(ctx, "a plan");
	plan->schedule.passes = opk_get_number(result, SIZE_MAX);
	plan->schedule.apart = opk_get_number(result, SIZE_MAX);
	plan->schedule.cheap = opk_get_number(result, plan->schedule.passes);
	plan->schedule.config = opk_get_bytes(&plan->schedule.size, result, OPK_MAX_CONFIG);
	plan->rotation.passes = opk_get_number(result, SIZE_MAX);
	plan->rotation.config = opk_get_bytes(&plan->rotation.size, result, OPK_MAX_CONFIG);
	opk_result_expect(result, plan->schedule.size > 0
	                                  && !plan->rotation.passes == !plan->rotation.size);
	count = opk_get_number(result, plan->metrics.count);
	for (size_t i = 0; i < count; i++)
		opk_get_text(&left_out, result, OPK_MAX_CONFIG);
	TRY(opk_result_check(result, ctx));
	opk_strlist_sort(&left_out);
	for (size_t i = 0; i < plan->metrics.count; i++)
		kept[i] = !opk_strlist_contains_sorted(&left_out, plan->metrics.items[i]);
	return opk_plan_keep(plan, ctx, kept);
}

static int schedule_contained(struct opk_plan *plan, struct opk_ctx *ctx, const struct opk_set *set,
                              const struct opk_plan_options *options)
{
	struct contained_plan job = { plan, set, options };
	opk_autosent struct opk_result result = { 0 };
	int code = opk_contain(&result, ctx, schedule_in_child, &job, NULL);

	if (!code)
		code = read_contained(plan, ctx, &result);
	/* The set causes all other failures. */
	return code == OPK_EINPUT
	               ? opk_add(ctx, code, "the counter-availability image can't be used")
	               : code;
}

static int schedule_anywhere(struct opk_plan *plan, struct opk_ctx *ctx, const struct opk_set *set,
                             const struct opk_plan_options *options)
{
	return options->availability ? schedule_contained(plan, ctx, set, options)
	                             : schedule(plan, ctx, set, options);
}

/* A cheap plan has more passes than it needs. */
static int check_options(struct opk_ctx *ctx, const struct opk_plan *plan,
                         const struct opk_plan_options *options)
{
	if (options->availability)
		TRY(opk_availability_allowed(ctx, plan->target.profiler));
	if (!options->prefer_cheap)
		return OPK_OK;
	if (opk_profiler_is_code(plan->target.profiler))
		return opk_fail(ctx, OPK_EUSAGE,
		                "profiler %s has one pass: no cheaper passes can be preferred",
		                opk_profiler_name(plan->target.profiler));
	if (plan->target.profiler == OPK_PROFILER_PM)
		return opk_fail(ctx, OPK_EUSAGE,
		                "PM sampling has one pass: no cheaper passes can be preferred");
	if (options->single_pass)
		return opk_fail(ctx, OPK_EUSAGE,
		                "cheap passes are more, and a single pass is wanted: not both");
	return OPK_OK;
}

static int make(struct opk_plan **out, struct opk_ctx *ctx, const struct opk_set *set,
                const struct opk_plan_options *options, bool limited)
{
	opk_auto(opk_plan) struct opk_plan *plan = opk_alloc(sizeof *plan);

	TRY(plan ? prepare(plan, ctx, set, options) : opk_nomem(ctx, "a plan"));
	TRY(check_options(ctx, plan, options));
	if (limited)
		plan->limit = plan->target.profiler == OPK_PROFILER_PM ? 1 : options->max_passes;
	TRY(schedule_anywhere(plan, ctx, set, options));
	if (plan->left_out.count)
		TRY(opk_resolved_keep(&plan->resolved, ctx, plan->set_name, &plan->metrics));
	if (!opk_set_claims(set, plan->target.chip))
		opk_log(ctx, "set %s does not claim to support %s", plan->set_name,
		        plan->target.chip);
	if (plan->schedule.apart)
		opk_log(ctx,
		        "set %s: CUPTI alone refuses %zu of the metrics, of links, buses or memory "
		        "controllers, together with the others; a GPU without the link records neither, "
		        "as its availability would show",
		        plan->set_name, plan->schedule.apart);
	*out = opk_take(plan);
	return OPK_OK;
}

int opk_plan_unlimited(struct opk_plan **out, struct opk_ctx *ctx, const struct opk_set *set,
                       const struct opk_plan_options *options)
{
	return make(out, ctx, set, options, false);
}

int opk_plan_some(struct opk_plan **out, struct opk_ctx *ctx, const struct opk_plan *whole,
                  const struct opk_set *set, const struct opk_plan_options *options,
                  const struct opk_strlist *metrics)
{
	opk_auto(opk_plan) struct opk_plan *plan = opk_alloc(sizeof *plan);

	if (!plan)
		return opk_nomem(ctx, "a plan");
	plan->target.profiler = whole->target.profiler;
	plan->seconds = whole->seconds;
	plan->target.chip = opk_strdup(whole->target.chip);
	plan->set_name = opk_strdup(whole->set_name);
	plan->set_description = opk_strdup(whole->set_description);
	if (whole->target.single_pass)
		plan->target.single_pass = opk_strdup(whole->target.single_pass);
	if (!plan->target.chip || !plan->set_name || !plan->set_description
	    || !plan->target.single_pass != !whole->target.single_pass)
		return opk_nomem(ctx, "a plan");
	for (size_t i = 0; i < metrics->count; i++)
		if (!opk_strlist_add(&plan->metrics, metrics->items[i]))
			return opk_nomem(ctx, "a plan");
	TRY(schedule_anywhere(plan, ctx, set, options));
	*out = opk_take(plan);
	return OPK_OK;
}

int opk_plan_resolve(struct opk_plan *plan, struct opk_ctx *ctx, const struct opk_set *set)
{
	TRY(opk_set_resolve(&plan->resolved, ctx, set, plan->target.chip, plan->target.profiler));
	return opk_resolved_keep(&plan->resolved, ctx, plan->set_name, &plan->metrics);
}

int opk_plan_new(struct opk_plan **out, struct opk_ctx *ctx, const struct opk_set *set,
                 const struct opk_plan_options *given)
{
	OPK_OPTIONS(opk_plan_options, options, given);

	return make(out, ctx, set, &options, true);
}

void opk_plan_free(struct opk_plan *plan)
{
	if (!plan)
		return;
	free((char *)plan->target.chip);
	free((char *)plan->target.single_pass);
	free(plan->set_name);
	free(plan->set_description);
	opk_resolved_clear(&plan->resolved);
	opk_strlist_clear(&plan->metrics);
	opk_strlist_clear(&plan->left_out);
	opk_schedule_result_clear(&plan->schedule);
	opk_schedule_result_clear(&plan->rotation);
	opk_plan_detail_free(plan->detail);
	free(plan);
}

const char *opk_plan_chip(const struct opk_plan *plan)
{
	return plan->target.chip;
}

enum opk_profiler opk_plan_profiler(const struct opk_plan *plan)
{
	return plan->target.profiler;
}

const char *opk_plan_set_name(const struct opk_plan *plan)
{
	return plan->set_name;
}

size_t opk_plan_passes(const struct opk_plan *plan)
{
	return plan->schedule.passes;
}

size_t opk_plan_rotation_passes(const struct opk_plan *plan)
{
	return plan->rotation.passes;
}

const struct opk_strlist *opk_plan_metrics(const struct opk_plan *plan)
{
	return &plan->metrics;
}

const struct opk_strlist *opk_plan_missing(const struct opk_plan *plan)
{
	return &plan->resolved.left_out;
}

const struct opk_strlist *opk_plan_left_out(const struct opk_plan *plan)
{
	return &plan->left_out;
}

const void *opk_plan_config(const struct opk_plan *plan, size_t *size)
{
	*size = plan->schedule.size;
	return plan->schedule.config;
}
