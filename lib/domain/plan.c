/* SPDX-License-Identifier: BSD-2-Clause */
/* From set and chip to config image and number of passes. */
#include "domain/plan.h"

#include <string.h>

#include "adapters/nv/nv.h"
#include "base/buf.h"
#include "base/options.h"
#include "base/problems.h"
#include "domain/catalog.h"
#include "domain/chip.h"
#include "domain/contain.h"
#include "domain/plan_search.h"
#include "domain/refused.h"
#include "domain/set.h"

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

int opk_plan_try(size_t *passes, void **config, size_t *size, struct opk_ctx *ctx,
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

/* Why a set was refused, metric by metric. */
struct refusal {
	const struct opk_plan *plan;
	struct opk_catalog *catalog;
	struct opk_problems problems;
	const char **listed; /* names that the catalog has, and which metrics they are */
	size_t *metrics, count;
	int worst; /* OPK_OK: no name is wrong */
	bool ended;
};

static void tell_wrong_names(struct refusal *refusal, struct opk_ctx *ctx)
{
	const struct opk_resolved *resolved = &refusal->plan->resolved;

	for (size_t i = 0; i < resolved->metrics.count; i++) {
		const char *name = resolved->metrics.items[i];

		if (opk_catalog_has_full(refusal->catalog, ctx, name)) {
			refusal->metrics[refusal->count] = i;
			refusal->listed[refusal->count++] = name;
		} else {
			opk_catalog_tell(ctx, &refusal->problems, &resolved->marks[i], refusal->catalog, name);
			if (refusal->worst != OPK_EINPUT)
				refusal->worst = resolved->marks[i].source ? OPK_EINPUT : OPK_EUSAGE;
		}
	}
}

static bool tell_refused(void *data, size_t i, const char *reason)
{
	struct refusal *refusal = data;

	opk_tell_refused(&refusal->problems, &refusal->plan->resolved.marks[refusal->metrics[i]], refusal->plan,
	                 refusal->listed[i], reason);
	refusal->ended = opk_problems_full(&refusal->problems);
	return !refusal->ended;
}

/* The title over what is wrong with metrics. */
static int sum_up(struct opk_ctx *ctx, const struct opk_set *set, struct refusal *refusal, int code)
{
	const struct opk_plan *plan = refusal->plan;
	bool claimed = opk_set_claims(set, plan->chip);

	/* A wrong name is worse than a metric that can't be scheduled. */
	code = refusal->worst ? refusal->worst : code;
	opk_problems_push(ctx, &refusal->problems, code);
	/* The set is right and the chip is not. */
	return opk_add(ctx, claimed ? code : OPK_EUSAGE,
	               "set %s: %s%zu of %zu metrics don't work on %s, profiler %s%s%s", plan->set_name,
	               refusal->ended ? "at least " : "", refusal->problems.count + refusal->problems.untold,
	               plan->resolved.metrics.count, plan->chip, opk_profiler_name(plan->profiler),
	               claimed ? "" : "; it is made for other chips, such as ",
	               claimed ? "" : opk_set_example(set));
}

static int explain_each(struct opk_ctx *ctx, const struct opk_set *set, struct refusal *refusal, int code)
{
	/* What NVIDIA said of the whole set is the innermost cause. */
	opk_autofree char *cause = opk_strdup(ctx->error_count ? ctx->errors[0] : "no reason was given");
	struct opk_refused refused = { .ctx = ctx, .plan = refusal->plan, .names = refusal->listed,
		                       .tell = tell_refused, .data = refusal };
	int found = OPK_OK;

	tell_wrong_names(refusal, ctx);
	refusal->ended = refusal->count && opk_problems_full(&refusal->problems);
	if (!refusal->ended)
		found = opk_find_refused(&refused, refusal->count);
	if (!found && (!cause || refusal->problems.no_memory))
		found = opk_nomem(ctx, "a plan");
	if (found)
		return found;
	opk_fail(ctx, code, "%s", cause);
	return refusal->problems.count
	               ? sum_up(ctx, set, refusal, code)
	               : opk_add(ctx, code, "%s refuses the metrics of set %s together, not one by one",
	                         refusal->plan->chip, refusal->plan->set_name);
}

static int explain_refusal(struct opk_ctx *ctx, const struct opk_plan *plan, const struct opk_set *set,
                           int code)
{
	size_t count = plan->resolved.metrics.count;
	opk_autofree const char **listed = opk_alloc_array(count, sizeof *listed);
	opk_autofree size_t *metrics = opk_alloc_array(count, sizeof *metrics);
	struct refusal refusal = { .plan = plan, .listed = listed, .metrics = metrics };

	if (!listed || !metrics)
		return opk_nomem(ctx, "a plan");
	if (opk_catalog_new(&refusal.catalog, ctx, plan->chip, plan->profiler))
		return code;
	code = explain_each(ctx, set, &refusal, code);
	opk_catalog_free(refusal.catalog);
	opk_problems_clear(&refusal.problems);
	return code;
}

/* Takes the metrics in order, keeps those that fit into the passes allowed, and names the others. */
static int explain_passes(struct opk_ctx *ctx, const struct opk_plan *plan)
{
	opk_autofree const char **kept = opk_alloc_array(plan->metrics.count, sizeof *kept);
	opk_autobuf struct opk_buf others = { 0 };
	size_t limit = plan->limit, count = 0, passes, left_out = 0;

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
	                       ? "PM sampling has one: --single-pass keeps what fits, build --split makes "
	                         "several files"
	                       : "allow more, take fewer metrics, or make several files with build --split");
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
	int code = opk_plan_try(&plan->passes, &plan->config, &plan->config_size, ctx, plan,
	                        opk_strlist_items(&plan->metrics), plan->metrics.count);

	if (code == OPK_EUSAGE || code == OPK_EFAILED)
		return explain_refusal(ctx, plan, set, code);
	if (!code)
		code = check_chip(ctx, plan);
	if (!code && options->single_pass && plan->passes > 1)
		code = opk_plan_shorten(plan, ctx);
	if (!code && options->effort >= 0)
		code = opk_plan_search(plan, ctx, options);
	if (!code && plan->limit && plan->passes > plan->limit)
		return explain_passes(ctx, plan);
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

	plan->availability =
		opk_child_guarded_copy(job->options->availability, job->options->availability_size);
	if (!plan->availability)
		return opk_nomem(ctx, "a counter-availability image");
	code = schedule(plan, ctx, job->set, job->options);
	if (code)
		return code;
	if (fwrite(&plan->passes, sizeof plan->passes, 1, child->spool) != 1
	    || fwrite(&plan->metrics.count, sizeof plan->metrics.count, 1, child->spool) != 1
	    || fwrite(&plan->config_size, sizeof plan->config_size, 1, child->spool) != 1
	    || fwrite(plan->config, plan->config_size, 1, child->spool) != 1)
		return opk_fail(ctx, OPK_EFAILED, "can't write a temporary file");
	return OPK_OK;
}

static int read_contained(struct opk_plan *plan, struct opk_ctx *ctx, FILE *spool)
{
	enum { MAX_CONFIG = 1 << 28 };
	size_t metrics;

	if (fread(&plan->passes, sizeof plan->passes, 1, spool) != 1
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

static int schedule_contained(struct opk_plan *plan, struct opk_ctx *ctx,
                              const struct opk_set *set, const struct opk_plan_options *options)
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

	return code ? code : opk_resolved_keep(&plan->resolved, ctx, plan->set_name, &plan->metrics);
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
