/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds why metrics did not fit the one pass of a plan. */
#include <string.h>

#include "adapters/nv/nv.h"
#include "base/listing.h"
#include "plan/plan.h"

/* What trying one metric needs. */
struct trying {
	struct opk_ctx *ctx;
	const struct opk_plan *plan;
	const char **names;                 /* the kept ones, and room for one more */
	struct opk_strlist kept;            /* their raw counters, sorted */
	struct opk_nv_scheduler *scheduler; /* NULL: domains are unknown */
	struct opk_nv_evaluator *evaluator; /* NULL: it does not know these metrics */
};

/* The raw counters of a plan's first pass, and those only in later passes. */
static int split_counters(struct opk_strlist *first, struct opk_strlist *later, struct opk_ctx *ctx,
                          const struct opk_schedule_result *plan)
{
	opk_autostrlist struct opk_strlist others = { 0 };

	TRY(opk_nv_config_counters(first, ctx, plan->config, plan->size, 0));
	opk_strlist_sort(first);
	for (size_t i = 1; i < plan->passes; i++)
		TRY(opk_nv_config_counters(&others, ctx, plan->config, plan->size, i));
	for (size_t i = 0; i < others.count; i++)
		if (!opk_strlist_contains_sorted(first, others.items[i])
		    && !opk_strlist_add(later, others.items[i]))
			return opk_nomem(ctx, "raw counters");
	return OPK_OK;
}

/* The domains of the counters that the kept metrics lack, or else of all counters. */
static int add_domains(struct opk_strlist *out, const struct trying *t,
                       const struct opk_strlist *counters)
{
	size_t own = 0;
	int code = OPK_OK;

	for (size_t i = 0; i < counters->count; i++)
		own += !opk_strlist_contains_sorted(&t->kept, counters->items[i]);
	for (size_t i = 0; !code && i < counters->count; i++) {
		if (own && opk_strlist_contains_sorted(&t->kept, counters->items[i]))
			continue;
		code = opk_nv_counter_domains(out, t->ctx, t->scheduler, counters->items[i]);
		/* Some counters of GB20x have no domain. */
		code = opk_allow(t->ctx, code, OPK_EUSAGE);
	}
	return code;
}

/* Whether this counter, or all of these together, fit beside the kept counters. */
static int fit_beside(bool *out, const struct trying *t, const char *const *counters, size_t count)
{
	opk_autofree const char **names = opk_alloc_array(t->kept.count + count + 1, sizeof *names);
	size_t used = 0;

	if (!names)
		return opk_nomem(t->ctx, "raw counters");
	for (size_t i = 0; i < count; i++)
		if (!opk_strlist_contains_sorted(&t->kept, counters[i]))
			names[used++] = counters[i];
	for (size_t i = 0; i < t->kept.count; i++)
		names[used++] = t->kept.items[i];
	return opk_nv_scheduler_fits(out, t->ctx, t->scheduler, names, used);
}

/* The counters that do not fit; all of them, if each one fits alone but not all together. */
static int find_homeless(struct opk_strlist *out, const struct trying *t,
                         const struct opk_strlist *counters)
{
	bool fits;

	for (size_t i = 0; i < counters->count; i++) {
		TRY(fit_beside(&fits, t, opk_strlist_items(counters) + i, 1));
		if (!fits && !opk_strlist_add(out, counters->items[i]))
			return opk_nomem(t->ctx, "raw counters");
	}
	for (size_t i = 0; !out->count && i < counters->count; i++) {
		if (!opk_strlist_add(out, counters->items[i]))
			return opk_nomem(t->ctx, "raw counters");
	}
	return OPK_OK;
}

/* PerfWorks finds quickly what does not fit; CUPTI is asked only about the rest. */
static int ask_perfworks(bool *may_fit, struct opk_strlist *domains, const struct trying *t,
                         const char *metric)
{
	opk_autostrlist struct opk_strlist counters = { 0 }, homeless = { 0 };
	int code;

	*may_fit = true;
	if (!t->evaluator)
		return OPK_OK;
	code = opk_nv_raw_counters(&counters, t->ctx, t->evaluator, metric);
	if (code)
		return opk_allow(t->ctx, code, OPK_EUSAGE);
	TRY(fit_beside(may_fit, t, opk_strlist_items(&counters), counters.count));
	if (*may_fit)
		return OPK_OK;
	TRY(find_homeless(&homeless, t, &counters));
	return add_domains(domains, t, &homeless);
}

/* Whether the metric would fit, and if not, which domains are full. */
static int try_one(bool *fits, struct opk_strlist *domains, const struct trying *t,
                   const char *metric)
{
	size_t count = t->plan->metrics.count;
	opk_autoresult struct opk_schedule_result result = { 0 };
	opk_autostrlist struct opk_strlist first = { 0 }, later = { 0 };
	bool may_fit;

	t->names[count] = metric;
	TRY(ask_perfworks(&may_fit, domains, t, metric));
	if (!may_fit)
		return OPK_OK;
	TRY(opk_schedule_try(&result, t->ctx, &t->plan->target, t->names, count + 1));
	*fits = result.passes == 1;
	if (*fits || !t->scheduler)
		return OPK_OK;
	TRY(split_counters(&first, &later, t->ctx, &result));
	return add_domains(domains, t, &later);
}

/* Without PerfWorks' scheduler the rest is still found. */
static int open_scheduler(struct trying *t)
{
	int code = opk_nv_scheduler_new(&t->scheduler, t->ctx, t->plan->target.chip, NULL);

	if (code == OPK_ENVIDIA)
		opk_log(t->ctx, "full domains are left out: %s", opk_innermost(t->ctx));
	if (code)
		return opk_allow(t->ctx, code, OPK_ENVIDIA);
	if (t->plan->target.profiler == OPK_PROFILER_RANGE)
		code = opk_nv_evaluator_new(&t->evaluator, t->ctx, t->plan->target.chip);
	return code ? code
	            : opk_nv_config_counters(&t->kept, t->ctx, t->plan->schedule.config,
	                                     t->plan->schedule.size, 0);
}

static int add_rows(struct opk_listing *rows, struct trying *t)
{
	if (t->plan->left_out.count)
		TRY(open_scheduler(t));
	opk_strlist_sort(&t->kept);
	for (size_t i = 0; i < t->plan->metrics.count; i++)
		t->names[i] = t->plan->metrics.items[i];
	for (size_t i = 0; i < t->plan->left_out.count; i++) {
		const char *metric = t->plan->left_out.items[i];
		opk_autostrlist struct opk_strlist domains = { 0 };
		bool fits = false;

		TRY(try_one(&fits, &domains, t, metric));
		opk_listing_row(rows, cell_text(metric), cell_flag(fits), cell_texts(&domains));
	}
	return OPK_OK;
}

int opk_plan_add_left_out(struct opk_listing *rows, struct opk_ctx *ctx,
                          const struct opk_plan *plan)
{
	opk_autofree const char **names = opk_alloc_array(plan->metrics.count + 1, sizeof *names);
	struct trying t = { .ctx = ctx, .plan = plan, .names = names };
	int code = names ? add_rows(rows, &t) : opk_nomem(ctx, "metrics");

	opk_nv_scheduler_free(t.scheduler);
	opk_nv_evaluator_free(t.evaluator);
	opk_strlist_clear(&t.kept);
	return code ? opk_add(ctx, code, "metrics that were left out can't be explained") : OPK_OK;
}
