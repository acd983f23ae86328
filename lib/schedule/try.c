/* SPDX-License-Identifier: BSD-2-Clause */
/* The only way to try metrics: by CUPTI, else by PerfWorks in CUPTI's order. */
#include "schedule/schedule.h"

#include <string.h>

#include "adapters/nv/nv.h"

void opk_schedule_result_clear(struct opk_schedule_result *result)
{
	free(result->config);
	*result = (struct opk_schedule_result){ 0 };
}

int opk_schedule_image(struct opk_schedule_result *out, struct opk_ctx *ctx,
                       struct opk_nv_host *host)
{
	int code;

	*out = (struct opk_schedule_result){ 0 };
	code = opk_nv_config_image(&out->config, &out->size, ctx, host);
	if (!code)
		code = opk_nv_passes(&out->passes, ctx, out->config, out->size);
	if (code)
		opk_schedule_result_clear(out);
	return code;
}

/* Uses its own host object. Metrics of instructions have no config image, and fit one pass. */
static int try_cupti(struct opk_schedule_result *out, struct opk_ctx *ctx,
                     const struct opk_target *target, const char *const *metrics, size_t count)
{
	opk_auto(opk_nv_host) struct opk_nv_host *host = NULL;
	int code;

	*out = (struct opk_schedule_result){ .passes = opk_profiler_is_code(target->profiler) };
	if (out->passes)
		return OPK_OK;
	TRY(opk_nv_host_new_for_set(&host, ctx, target->chip, target->profiler,
	                            target->availability, target->single_pass));
	code = opk_nv_add_metrics(ctx, host, metrics, count);
	if (!code)
		code = opk_schedule_image(out, ctx, host);
	else if (opk_nv_refused(ctx, code))
		out->refused = opk_nv_host_status(host);
	return code;
}

/* ---- metrics that CUPTI refuses together */

/*
 * Counters of links, buses and memory controllers belong to the device, the others to a context.
 * CUPTI refuses to combine them, in one call or several (27); PerfWorks and the GPU do not. These
 * are all domains that CUPTI 12.9 to 13.1 refuses beside others, on any of 30 chips.
 */
static const char *const device_domains[] = {
	"gpu_ctc", "gpu_ctc_a", "gpu_ctc_b", "gpu_nvlrx", "gpu_nvltx", "gpu_pci", "soc_mcc",
};

struct together {
	struct opk_ctx *ctx;
	const struct opk_target *target;
	const char *const *metrics;
	struct opk_counters counters;
	struct opk_nv_scheduler *scheduler;
	bool *of_device; /* one per counter */
};

static bool is_of_device(const struct opk_strlist *domains)
{
	for (size_t i = 0; i < domains->count; i++)
		if (opk_texts_contain(device_domains,
		                      sizeof device_domains / sizeof *device_domains,
		                      domains->items[i]))
			return true;
	return false;
}

static int look_up(struct together *t, size_t count)
{
	opk_autostrlist struct opk_strlist names = { 0 };

	for (size_t i = 0; i < count; i++)
		if (!opk_strlist_add(&names, t->metrics[i]))
			return opk_nomem(t->ctx, "a plan");
	TRY(opk_nv_scheduler_new(&t->scheduler, t->ctx, t->target->chip, t->target->availability));
	TRY(opk_counters_of(&t->counters, t->ctx, t->target->chip, &names));
	t->of_device = opk_alloc_array(t->counters.names.count + 1, sizeof *t->of_device);
	if (!t->of_device)
		return opk_nomem(t->ctx, "a plan");
	for (size_t i = 0; i < t->counters.names.count; i++) {
		opk_autostrlist struct opk_strlist domains = { 0 };

		TRY(opk_nv_counter_domains(&domains, t->ctx, t->scheduler,
		                           t->counters.names.items[i]));
		t->of_device[i] = is_of_device(&domains);
	}
	return OPK_OK;
}

static bool needs_device(const struct together *t, size_t metric)
{
	for (size_t i = t->counters.first[metric]; i < t->counters.first[metric + 1]; i++)
		if (t->of_device[t->counters.needs[i]])
			return true;
	return false;
}

/* Asks CUPTI to plan only the device's metrics, or only the others; `used` is their number. */
static int try_apart(size_t *used, const struct together *t, bool device)
{
	opk_autofree const char **names = opk_alloc_array(t->counters.metric_count + 1,
	                                                  sizeof *names);
	opk_autoresult struct opk_schedule_result result = { 0 };

	*used = 0;
	if (!names)
		return opk_nomem(t->ctx, "a plan");
	for (size_t i = 0; i < t->counters.metric_count; i++)
		if (needs_device(t, i) == device)
			names[(*used)++] = t->metrics[i];
	return *used ? try_cupti(&result, t->ctx, t->target, names, *used) : OPK_EUSAGE;
}

/* In CUPTI's order: for metrics that CUPTI plans, the image is CUPTI's, byte for byte. */
static int compose(struct opk_schedule_result *out, const struct together *t)
{
	TRY(opk_nv_scheduler_add_pass(t->ctx, t->scheduler, opk_strlist_items(&t->counters.names),
	                              t->counters.names.count));
	TRY(opk_nv_scheduler_image(&out->config, &out->size, &out->passes, t->ctx, t->scheduler));
	return opk_nv_passes(&out->passes, t->ctx, out->config, out->size);
}

static void clear(struct together *t)
{
	opk_counters_clear(&t->counters);
	opk_nv_scheduler_free(t->scheduler);
	free(t->of_device);
}

/*
 * Plans by PerfWorks range metrics that CUPTI refuses together, but accepts when the device's and
 * the others are apart. A failure except OPK_ENOMEM only means that this is not the case.
 */
static int try_perfworks(struct opk_schedule_result *out, struct opk_ctx *ctx,
                         const struct opk_target *target, const char *const *metrics, size_t count)
{
	__attribute__((cleanup(clear))) struct together t = { .ctx = ctx,
		                                              .target = target,
		                                              .metrics = metrics };
	opk_autoresult struct opk_schedule_result made = { 0 };
	size_t others;

	TRY(look_up(&t, count));
	TRY(try_apart(&made.apart, &t, true));
	TRY(try_apart(&others, &t, false));
	TRY(compose(&made, &t));
	*out = made;
	made.config = NULL;
	return OPK_OK;
}

int opk_schedule_try(struct opk_schedule_result *out, struct opk_ctx *ctx,
                     const struct opk_target *target, const char *const *metrics, size_t count)
{
	struct opk_errors_mark mark;
	int code = try_cupti(out, ctx, target, metrics, count), composed;

	if (code != OPK_EFAILED || count < 2 || target->profiler != OPK_PROFILER_RANGE)
		return code;
	/* Only CUPTI's reason for the refusal matters. */
	opk_errors_mark(&mark, ctx);
	composed = try_perfworks(out, ctx, target, metrics, count);
	opk_errors_rewind(ctx, &mark);
	if (composed)
		return composed == OPK_ENOMEM ? opk_nomem(ctx, "a plan") : code;
	opk_clear_errors(ctx);
	return OPK_OK;
}

int opk_schedule_alone(struct opk_schedule_result *out, struct opk_ctx *ctx,
                       const struct opk_target *target, const char *metric)
{
	int code = try_cupti(out, ctx, target, &metric, 1);

	if (!out->refused)
		return code;
	opk_clear_errors(ctx);
	return OPK_OK;
}

/* ---- which are refused */

struct search {
	struct opk_ctx *ctx;
	const struct opk_refused *what;
	int code; /* of a failure that is not a refusal */
	bool ended;
};

static bool is_refused(struct search *s, size_t from, size_t to)
{
	size_t most = s->what->max_passes;
	opk_autoresult struct opk_schedule_result result = { 0 };
	struct opk_errors_mark mark;
	int code;

	opk_errors_mark(&mark, s->ctx);
	code = opk_schedule_try(&result, s->ctx, s->what->target, s->what->names + from, to - from);
	if (!code && most && result.passes > most)
		code = opk_fail(s->ctx, OPK_EFAILED, "it needs %zu passes", result.passes);
	if (code && !opk_nv_refused(s->ctx, code)) {
		s->code = opk_errors_keep(s->ctx, &mark, code);
		return true;
	}
	if (code && to - from == 1)
		s->ended = !s->what->report(s->what->data, from, opk_innermost(s->ctx));
	opk_errors_rewind(s->ctx, &mark);
	return code;
}

/* Time grows faster than the number of metrics that are tried together. */
enum { CHUNK = 64 };

/* Searches by halves, since few metrics are refused. */
static void search(struct search *s, size_t from, size_t to)
{
	size_t middle = from + (to - from) / 2;

	if (from == to || s->code || s->ended || !is_refused(s, from, to) || to - from == 1)
		return;
	search(s, from, middle);
	search(s, middle, to);
}

int opk_find_refused(struct opk_ctx *ctx, const struct opk_refused *refused)
{
	struct search s = { .ctx = ctx, .what = refused };

	for (size_t from = 0; from < refused->count; from += CHUNK)
		search(&s, from, refused->count - from < CHUNK ? refused->count : from + CHUNK);
	return s.code;
}

void opk_refused_problem(struct opk_problems *problems, const struct opk_place *place,
                         const struct opk_target *target, const char *name, const char *reason)
{
	opk_problems_add(problems, place,
	                 "%s is listed for " OPK_THE_CHIP
	                 " but can't be scheduled on it, profiler %s (%s)",
	                 name, opk_profiler_name(target->profiler), reason);
}
