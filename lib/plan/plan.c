/* SPDX-License-Identifier: BSD-2-Clause */
/* From set and chip to config image and number of passes. */
#include "plan/plan.h"

#include <string.h>

#include "adapters/nv/nv.h"
#include "base/option_struct.h"
#include "chip/catalog.h"
#include "chip/chip.h"
#include "child/contain.h"
#include "plan/plan_search.h"
#include "set/set.h"
#include "child/spool.h"

int opk_plan_image(size_t *passes, void **config, size_t *size, struct opk_ctx *ctx,
                   struct opk_nv_host *host)
{
	opk_autofree void *image = NULL;
	size_t image_size = 0;
	int code = opk_nv_config_image(&image, &image_size, ctx, host);

	if (!code)
		code = opk_nv_passes(passes, ctx, image, image_size);
	if (code || !config)
		return code;
	*config = opk_take(image);
	*size = image_size;
	return OPK_OK;
}

int opk_plan_by_cupti(size_t *passes, void **config, size_t *size, struct opk_ctx *ctx,
                      const struct opk_plan *plan, const char *const *metrics, size_t count)
{
	struct opk_nv_host *host = NULL;
	int code = opk_nv_host_new(&host, ctx, plan->chip, plan->profiler, plan->availability);

	if (!code)
		code = opk_nv_add_metrics(ctx, host, metrics, count);
	if (!code)
		code = opk_plan_image(passes, config, size, ctx, host);
	opk_nv_host_free(host);
	return code;
}

static int try_metrics(size_t *apart, size_t *passes, void **config, size_t *size,
                       struct opk_ctx *ctx, const struct opk_plan *plan, const char *const *metrics,
                       size_t count)
{
	struct opk_errors_mark mark;
	int code = opk_plan_by_cupti(passes, config, size, ctx, plan, metrics, count), composed;

	*apart = 0;
	if (code != OPK_EFAILED || count < 2 || plan->profiler != OPK_PROFILER_RANGE)
		return code;
	/* What counts is why CUPTI refused them. */
	opk_errors_mark(&mark, ctx);
	composed = opk_plan_together(apart, passes, config, size, ctx, plan, metrics, count);
	opk_errors_rewind(ctx, &mark);
	if (composed)
		return composed == OPK_ENOMEM ? opk_nomem(ctx, "a plan") : code;
	opk_clear_errors(ctx);
	return OPK_OK;
}

int opk_plan_try(size_t *passes, void **config, size_t *size, struct opk_ctx *ctx,
                 const struct opk_plan *plan, const char *const *metrics, size_t count)
{
	size_t apart;

	return try_metrics(&apart, passes, config, size, ctx, plan, metrics, count);
}

int opk_plan_make(struct opk_plan *plan, struct opk_ctx *ctx)
{
	return try_metrics(&plan->apart, &plan->passes, &plan->config, &plan->config_size, ctx,
	                   plan, opk_strlist_items(&plan->metrics), plan->metrics.count);
}

int opk_plan_alone(int *passes, void **config, size_t *size, struct opk_ctx *ctx,
                   const struct opk_catalog *catalog, const char *metric)
{
	struct opk_nv_host *host;
	size_t count = 0;
	int code = opk_nv_host_new(&host, ctx, catalog->chip, catalog->profiler, NULL), status = 0;

	if (code)
		return code;
	code = opk_nv_add_metrics(ctx, host, &metric, 1);
	if (code == OPK_EUSAGE || code == OPK_EFAILED) {
		opk_clear_errors(ctx);
		status = opk_nv_host_status(host);
		code = OPK_OK;
	} else if (!code) {
		code = opk_plan_image(&count, config, size, ctx, host);
	}
	opk_nv_host_free(host);
	if (!code)
		*passes = status ? -status : (int)count;
	return code;
}

static int prepare(struct opk_plan *plan, struct opk_ctx *ctx, const struct opk_set *set,
                   const struct opk_plan_options *options)
{
	int code;

	plan->profiler = options->has_profiler ? options->profiler
	                 : set->has_profiler   ? set->profiler
	                                       : OPK_PROFILER_RANGE;
	plan->set_name = opk_strdup(set->name);
	plan->set_description = opk_strdup(set->description);
	if (!plan->set_name || !plan->set_description)
		return opk_nomem(ctx, "a plan");
	code = opk_chip_resolve(&plan->chip, ctx, options->chip);
	if (!code)
		code = opk_set_resolve(&plan->resolved, ctx, set, plan->chip, plan->profiler);
	for (size_t i = 0; !code && i < plan->resolved.metrics.count; i++)
		if (!opk_strlist_add(&plan->metrics, plan->resolved.metrics.items[i]))
			code = opk_nomem(ctx, "a plan");
	return code;
}

/* A config image names its chip; with another chip's availability image it is another one's. */
static int check_chip(struct opk_ctx *ctx, const struct opk_plan *plan)
{
	if (!plan->availability
	    || memmem(plan->config, plan->config_size, plan->chip, strlen(plan->chip)))
		return OPK_OK;
	return opk_fail(ctx, OPK_EINPUT, "it is of another chip than %s", plan->chip);
}

static int schedule(struct opk_plan *plan, struct opk_ctx *ctx, const struct opk_set *set,
                    const struct opk_plan_options *options)
{
	int code = opk_plan_make(plan, ctx);

	if (code == OPK_EUSAGE || code == OPK_EFAILED)
		return opk_plan_explain_refusal(ctx, plan, set, code);
	if (!code)
		code = check_chip(ctx, plan);
	if (!code && options->single_pass && plan->passes > 1)
		code = opk_plan_shorten(plan, ctx);
	if (!code && options->effort >= 0)
		code = opk_plan_search(plan, ctx, options);
	if (!code && plan->limit && plan->passes > plan->limit)
		return opk_plan_explain_passes(ctx, plan);
	return code;
}

/* Nothing can be checked of an availability image: all that reads it runs in a child. */
struct contained_plan {
	struct opk_plan *plan;
	const struct opk_set *set;
	const struct opk_plan_options *options;
};

static int schedule_in_child(struct opk_ctx *ctx, void *data, struct opk_child *child)
{
	const struct contained_plan *job = data;
	struct opk_plan *plan = job->plan;
	int code;

	plan->availability = opk_child_guarded_copy(job->options->availability,
	                                            job->options->availability_size);
	if (!plan->availability)
		return opk_nomem(ctx, "a counter-availability image");
	code = schedule(plan, ctx, job->set, job->options);
	if (code)
		return code;
	if (fwrite(&plan->passes, sizeof plan->passes, 1, child->spool) != 1
	    || fwrite(&plan->apart, sizeof plan->apart, 1, child->spool) != 1
	    || fwrite(&plan->metrics.count, sizeof plan->metrics.count, 1, child->spool) != 1
	    || fwrite(&plan->config_size, sizeof plan->config_size, 1, child->spool) != 1
	    || fwrite(plan->config, plan->config_size, 1, child->spool) != 1)
		return opk_spool_fail(ctx);
	return OPK_OK;
}

static int read_contained(struct opk_plan *plan, struct opk_ctx *ctx, FILE *spool)
{
	enum { MAX_CONFIG = 1 << 28 };
	size_t metrics;

	if (fread(&plan->passes, sizeof plan->passes, 1, spool) != 1
	    || fread(&plan->apart, sizeof plan->apart, 1, spool) != 1
	    || fread(&metrics, sizeof metrics, 1, spool) != 1 || metrics > plan->metrics.count
	    || fread(&plan->config_size, sizeof plan->config_size, 1, spool) != 1
	    || !plan->config_size || plan->config_size > MAX_CONFIG)
		return opk_fail(ctx, OPK_EINPUT, "no config image came of it");
	plan->config = opk_alloc(plan->config_size);
	if (!plan->config)
		return opk_nomem(ctx, "a config image");
	if (fread(plan->config, plan->config_size, 1, spool) != 1)
		return opk_fail(ctx, OPK_EINPUT, "no config image came of it");
	return opk_plan_keep(plan, ctx, metrics);
}

static int schedule_contained(struct opk_plan *plan, struct opk_ctx *ctx, const struct opk_set *set,
                              const struct opk_plan_options *options)
{
	struct contained_plan job = { plan, set, options };
	opk_autofclose FILE *spool = NULL;
	int code = opk_contain(&spool, ctx, schedule_in_child, &job, NULL);

	if (!code)
		code = read_contained(plan, ctx, spool);
	/* Other failures are the set's. */
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

static int make(struct opk_plan **out, struct opk_ctx *ctx, const struct opk_set *set,
                const struct opk_plan_options *options, bool limited)
{
	opk_auto(opk_plan) struct opk_plan *plan = opk_alloc(sizeof *plan);
	int code = plan ? prepare(plan, ctx, set, options) : opk_nomem(ctx, "a plan");

	if (code)
		return code;
	if (limited)
		plan->limit = plan->profiler == OPK_PROFILER_PM ? 1 : options->max_passes;
	code = schedule_anywhere(plan, ctx, set, options);
	if (!code && plan->left_out.count)
		code = opk_resolved_keep(&plan->resolved, ctx, plan->set_name, &plan->metrics);
	if (code)
		return code;
	if (!opk_set_claims(set, plan->chip))
		opk_log(ctx, "set %s does not claim to support %s", plan->set_name, plan->chip);
	if (plan->apart)
		opk_log(ctx,
		        "set %s: CUPTI alone refuses %zu of the metrics, of links, buses or memory "
		        "controllers, beside the others; a GPU without the link records neither, "
		        "as --availability would tell",
		        plan->set_name, plan->apart);
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
	int code;

	if (!plan)
		return opk_nomem(ctx, "a plan");
	plan->profiler = whole->profiler;
	plan->chip = opk_strdup(whole->chip);
	plan->set_name = opk_strdup(whole->set_name);
	plan->set_description = opk_strdup(whole->set_description);
	if (!plan->chip || !plan->set_name || !plan->set_description)
		return opk_nomem(ctx, "a plan");
	for (size_t i = 0; i < metrics->count; i++)
		if (!opk_strlist_add(&plan->metrics, metrics->items[i]))
			return opk_nomem(ctx, "a plan");
	code = schedule_anywhere(plan, ctx, set, options);
	if (!code)
		*out = opk_take(plan);
	return code;
}

int opk_plan_resolve(struct opk_plan *plan, struct opk_ctx *ctx, const struct opk_set *set)
{
	int code = opk_set_resolve(&plan->resolved, ctx, set, plan->chip, plan->profiler);

	return code ? code
	            : opk_resolved_keep(&plan->resolved, ctx, plan->set_name, &plan->metrics);
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
	free(plan->chip);
	free(plan->set_name);
	free(plan->set_description);
	opk_resolved_clear(&plan->resolved);
	opk_strlist_clear(&plan->metrics);
	opk_strlist_clear(&plan->left_out);
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

uint32_t opk_plan_set_version(const struct opk_plan *plan)
{
	return plan->resolved.version;
}

const char *opk_plan_set_hash(const struct opk_plan *plan)
{
	return plan->resolved.hash;
}

size_t opk_plan_column_count(const struct opk_plan *plan)
{
	return plan->resolved.columns.count;
}

const char *opk_plan_column(const struct opk_plan *plan, size_t i)
{
	return plan->resolved.columns.items[i];
}

size_t opk_plan_missing_count(const struct opk_plan *plan)
{
	return plan->resolved.left_out.count;
}

const char *opk_plan_missing(const struct opk_plan *plan, size_t i)
{
	return plan->resolved.left_out.items[i];
}

size_t opk_plan_left_out_count(const struct opk_plan *plan)
{
	return plan->left_out.count;
}

const void *opk_plan_config(const struct opk_plan *plan, size_t *size)
{
	*size = plan->config_size;
	return plan->config;
}
