/* SPDX-License-Identifier: BSD-2-Clause */
/* From set and chip to config image and number of passes. */
#include "domain/plan.h"

#include <string.h>

#include "adapters/nv/nv.h"
#include "base/buf.h"
#include "domain/catalog.h"
#include "domain/chip.h"
#include "domain/contain.h"
#include "domain/set.h"

int opk_plan_try(size_t *passes, void **config, size_t *size, struct opk_ctx *ctx,
                 const struct opk_plan *plan, const char *const *metrics, size_t count)
{
	struct opk_nv_host *host = NULL;
	opk_autofree void *image = NULL;
	size_t image_size = 0;
	int code = opk_nv_host_new(&host, ctx, plan->chip, plan->profiler, plan->availability);

	if (!code)
		code = opk_nv_add_metrics(ctx, host, metrics, count);
	if (!code)
		code = opk_nv_config_image(&image, &image_size, ctx, host);
	if (!code)
		code = opk_nv_passes(passes, ctx, image, image_size);
	opk_nv_host_free(host);
	if (code)
		return code;
	if (config) {
		*config = opk_take(image);
		*size = image_size;
	}
	return OPK_OK;
}

/* Whether a metric is refused by itself, and why; OPK_OK where it is not. */
static int explain_metric(struct opk_ctx *ctx, const struct opk_plan *plan,
                          const struct opk_catalog *catalog, const char *name, const char *place)
{
	/* A context of its own: trying must not disturb the chain that is being built. */
	struct opk_ctx quiet = { .nv = ctx->nv };
	size_t passes;
	int code = opk_plan_try(&passes, NULL, NULL, &quiet, plan, &name, 1);

	if (code && !opk_catalog_has_full(catalog, ctx, name))
		code = opk_catalog_explain(ctx, *place ? OPK_EINPUT : OPK_EUSAGE, catalog, name,
		                           place);
	else if (code)
		opk_add(ctx, code,
		        "%s%s%s is listed for %s but can't be scheduled on it, profiler %s (%s)",
		        place, *place ? ": " : "", name, plan->chip,
		        opk_profiler_name(plan->profiler),
		        quiet.error_count ? quiet.errors[0] : "out of memory");
	opk_clear_errors(&quiet);
	return code;
}

static bool claims_chip(const struct opk_set *set, const char *chip)
{
	return !set->chips.count || opk_strlist_contains(&set->chips, chip);
}

/* Why the set as a whole was refused: each metric is tried alone. */
static int explain_refusal(struct opk_ctx *ctx, const struct opk_plan *plan,
                           const struct opk_set *set, int code)
{
	/* What NVIDIA said of the whole set is the innermost cause. */
	opk_autofree char *cause =
		opk_strdup(ctx->error_count ? ctx->errors[0] : "no reason was given");
	struct opk_catalog *catalog = NULL;
	size_t refused = 0;
	int worst = code;

	if (!cause || opk_catalog_new(&catalog, ctx, plan->chip, plan->profiler))
		return code;
	opk_fail(ctx, code, "%s", cause);
	/* Backwards, since the chain is read from its outer end. */
	for (size_t i = set->metrics.count; i-- > 0;) {
		int one = explain_metric(ctx, plan, catalog, set->metrics.items[i],
		                         set->places.items[i]);

		refused += one != OPK_OK;
		/* A wrong name is worse than a metric that can't be scheduled. */
		worst = one > worst || (one && refused == 1) ? one : worst;
	}
	opk_catalog_free(catalog);
	/* The set is right and the chip is not. */
	if (refused && !claims_chip(set, plan->chip))
		worst = OPK_EUSAGE;
	if (!refused)
		return opk_add(ctx, code, "%s refuses the metrics of set %s together, not one by one",
		               plan->chip, plan->set_name);
	return opk_add(ctx, worst, "set %s: %zu of %zu metrics don't work on %s, profiler %s%s%s",
	               plan->set_name, refused, set->metrics.count, plan->chip,
	               opk_profiler_name(plan->profiler),
	               claims_chip(set, plan->chip) ? "" : "; it is made for other chips, such as ",
	               claims_chip(set, plan->chip) ? "" : set->chips.items[0]);
}

/* Takes the metrics in order, keeps those that fit into `limit` passes, and names the others. */
static int explain_passes(struct opk_ctx *ctx, const struct opk_plan *plan, size_t limit)
{
	opk_autofree const char **kept = opk_alloc_array(plan->metrics.count, sizeof *kept);
	opk_autobuf struct opk_buf others = { 0 };
	size_t count = 0, passes, left_out = 0;

	if (!kept)
		return opk_nomem(ctx, "a plan");
	for (size_t i = 0; i < plan->metrics.count; i++) {
		int code;

		kept[count] = plan->metrics.items[i];
		code = opk_plan_try(&passes, NULL, NULL, ctx, plan, kept, count + 1);
		if (code)
			return code;
		if (passes <= limit) {
			count++;
			continue;
		}
		opk_buf_add_printf(&others, "%s%s", left_out++ ? ", " : "", plan->metrics.items[i]);
	}
	opk_buf_add(&others, "", 1);
	if (others.failed)
		return opk_nomem(ctx, "a plan");
	opk_fail(ctx, OPK_EFAILED, "taken in order, %zu of %zu metrics fit into %zu pass%s; not: %s",
	         count, plan->metrics.count, limit, limit == 1 ? "" : "es", (char *)others.data);
	return opk_add(ctx, OPK_EFAILED, "set %s needs %zu passes on %s; %s", plan->set_name,
	               plan->passes, plan->chip,
	               plan->profiler == OPK_PROFILER_PM
	                       ? "PM sampling has one: take fewer metrics"
	                       : "allow more, or take fewer metrics");
}

static int prepare(struct opk_plan *plan, struct opk_ctx *ctx, const struct opk_set *set,
                   const struct opk_plan_options *options)
{
	plan->profiler = options->has_profiler ? options->profiler
	                 : set->has_profiler   ? set->profiler
	                                       : OPK_PROFILER_RANGE;
	plan->set_name = opk_strdup(set->name);
	plan->set_description = opk_strdup(set->description);
	plan->availability = options->availability;
	plan->availability_size = options->availability_size;
	if (!plan->set_name || !plan->set_description)
		return opk_nomem(ctx, "a plan");
	for (size_t i = 0; i < set->metrics.count; i++)
		if (!opk_strlist_add(&plan->metrics, set->metrics.items[i]))
			return opk_nomem(ctx, "a plan");
	return opk_chip_resolve(&plan->chip, ctx, options->chip);
}

/* In the child: is the availability image one that NVIDIA's code survives? */
static int try_availability(struct opk_ctx *ctx, void *data, struct opk_child *child)
{
	const struct opk_plan *plan = data;
	struct opk_nv_host *host = NULL;
	void *image = opk_child_guarded_copy(plan->availability, plan->availability_size);
	int code = image ? opk_nv_host_new(&host, ctx, plan->chip, plan->profiler, image)
	                 : opk_nomem(ctx, "a counter-availability image");

	(void)child;
	if (!code)
		code = opk_nv_add_metrics(ctx, host, opk_strlist_items(&plan->metrics),
		                          plan->metrics.count);
	opk_nv_host_free(host);
	/* Metrics that are refused are explained in the parent. */
	return code == OPK_EUSAGE || code == OPK_EFAILED ? OPK_OK : code;
}

static int schedule(struct opk_plan *plan, struct opk_ctx *ctx, const struct opk_set *set,
                    const struct opk_plan_options *options)
{
	size_t limit = plan->profiler == OPK_PROFILER_PM ? 1 : options->max_passes;
	int code = OPK_OK;

	if (plan->availability)
		code = opk_contain(NULL, ctx, try_availability, plan, NULL);
	if (code)
		return opk_add(ctx, code, "the counter-availability image can't be used");
	code = opk_plan_try(&plan->passes, &plan->config, &plan->config_size, ctx, plan,
	                    opk_strlist_items(&plan->metrics), plan->metrics.count);
	if (code == OPK_EUSAGE || code == OPK_EFAILED)
		return explain_refusal(ctx, plan, set, code);
	if (!code && !claims_chip(set, plan->chip))
		opk_log(ctx, "set %s does not claim to support %s", plan->set_name, plan->chip);
	if (!code && limit && plan->passes > limit)
		return explain_passes(ctx, plan, limit);
	return code;
}

int opk_plan_new(struct opk_plan **out, struct opk_ctx *ctx, const struct opk_set *set,
                 const struct opk_plan_options *options)
{
	opk_auto(opk_plan) struct opk_plan *plan = opk_alloc(sizeof *plan);
	int code = plan ? prepare(plan, ctx, set, options) : opk_nomem(ctx, "a plan");

	if (!code)
		code = schedule(plan, ctx, set, options);
	if (code)
		return code;
	plan->availability = NULL;
	*out = opk_take(plan);
	return OPK_OK;
}

void opk_plan_free(struct opk_plan *plan)
{
	if (!plan)
		return;
	free(plan->chip);
	free(plan->set_name);
	free(plan->set_description);
	opk_strlist_clear(&plan->metrics);
	free(plan->config);
	free(plan);
}

const char *opk_plan_chip(const struct opk_plan *plan)
{
	return plan->chip;
}

enum opk_profiler opk_plan_profiler(const struct opk_plan *plan)
{
	return plan->profiler;
}

const char *opk_plan_set_name(const struct opk_plan *plan)
{
	return plan->set_name;
}

size_t opk_plan_passes(const struct opk_plan *plan)
{
	return plan->passes;
}

size_t opk_plan_metric_count(const struct opk_plan *plan)
{
	return plan->metrics.count;
}

const char *opk_plan_metric(const struct opk_plan *plan, size_t i)
{
	return plan->metrics.items[i];
}

const void *opk_plan_config(const struct opk_plan *plan, size_t *size)
{
	*size = plan->config_size;
	return plan->config;
}
