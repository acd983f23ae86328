/* SPDX-License-Identifier: BSD-2-Clause */
/* If a plan needs several passes, keeps the metrics that fit one pass, in order. */
#include "plan/plan.h"

#include <string.h>

#include "adapters/nv/nv.h"

struct fitting {
	struct opk_ctx *ctx;
	const struct opk_plan *plan;
	const char **names; /* of the kept metrics, then of metrics that are tried */
	size_t count;       /* kept so far */
	bool *kept;         /* one a metric */
	size_t *numbers;    /* the numbers of these metrics */
	/* PerfWorks is asked first: it is faster, and what it refuses CUPTI refuses, too. */
	struct opk_counters counters;
	struct opk_nv_scheduler *scheduler; /* NULL: it does not know these metrics */
	struct opk_answers answers;
};

static int may_fit(bool *out, struct fitting *f, size_t count)
{
	struct opk_question question = { &f->counters.names, f->scheduler, NULL, 0 };
	opk_autofree size_t *counters = NULL;

	*out = true;
	if (!f->scheduler)
		return OPK_OK;
	TRY(opk_counters_needed(&counters, &question.count, f->ctx, &f->counters, f->numbers,
	                        f->count + count));
	question.counters = counters;
	return opk_answers_ask(out, f->ctx, &f->answers, &question);
}

/* Whether `count` metrics from `first` on fit beside the kept metrics; if so, keeps them. */
static int try_some(bool *fits, struct fitting *f, size_t first, size_t count)
{
	opk_autoresult struct opk_schedule_result result = { 0 };
	int code;

	for (size_t i = 0; i < count; i++) {
		f->names[f->count + i] = f->plan->metrics.items[first + i];
		f->numbers[f->count + i] = first + i;
	}
	code = may_fit(fits, f, count);
	if (code || !*fits)
		return code;
	code = opk_schedule_try(&result, f->ctx, &f->plan->target, f->names, f->count + count);
	if (code)
		return code;
	*fits = result.passes == 1;
	if (*fits) {
		memset(f->kept + first, true, count);
		f->count += count;
	}
	return OPK_OK;
}

/* Keeps metrics that fit beside the kept ones, in order: all at once, or else half by half. */
static int add_fitting(struct fitting *f, size_t first, size_t count)
{
	bool fits;
	int code = try_some(&fits, f, first, count);

	if (code || fits || count == 1)
		return code;
	code = add_fitting(f, first, count / 2);
	return code ? code : add_fitting(f, first + count / 2, count - count / 2);
}

/* Adds metrics up to the first one that does not fit. */
static int add_leading(struct fitting *f)
{
	size_t too_many = f->plan->metrics.count;

	while (too_many - f->count > 1) {
		size_t middle = (too_many - f->count) / 2;
		size_t end = f->count + middle;
		bool fits;

		TRY(try_some(&fits, f, f->count, middle));
		if (!fits)
			too_many = end;
	}
	return OPK_OK;
}

static int explain_none(const struct fitting *f, bool strict_order)
{
	opk_autoresult struct opk_schedule_result alone = { 0 };
	const char *first = f->plan->metrics.items[0];

	if (!strict_order)
		return opk_fail(f->ctx, OPK_EFAILED,
		                "each of the metrics needs several passes by itself");
	TRY(opk_schedule_try(&alone, f->ctx, &f->plan->target, &first, 1));
	return opk_fail(f->ctx, OPK_EFAILED,
	                "%s needs %zu passes by itself and is the first: take it out, or "
	                "take those that fit, in any place, without a strict order",
	                first, alone.passes);
}

/* PerfWorks knows only range metrics, and its scheduler came with 12.9. */
static int open_perfworks(struct fitting *f)
{
	const struct opk_target *target = &f->plan->target;
	int code;

	if (target->profiler != OPK_PROFILER_RANGE)
		return OPK_OK;
	code = opk_counters_of(&f->counters, f->ctx, target->chip, &f->plan->metrics);
	if (!code)
		code = opk_nv_scheduler_new(&f->scheduler, f->ctx, target->chip,
		                            target->availability);
	return opk_allow(f->ctx, opk_allow(f->ctx, code, OPK_ENVIDIA), OPK_EUSAGE);
}

int opk_plan_fit_one_pass(struct opk_plan *plan, struct opk_ctx *ctx, bool strict_order)
{
	size_t count = plan->metrics.count;
	opk_autofree const char **names = opk_alloc_array(count + 1, sizeof *names);
	opk_autofree bool *kept = opk_alloc_array(count + 1, sizeof *kept);
	opk_autofree size_t *numbers = opk_alloc_array(count + 1, sizeof *numbers);
	struct fitting f = {
		.ctx = ctx, .plan = plan, .names = names, .kept = kept, .numbers = numbers
	};
	int code = names && kept && numbers ? open_perfworks(&f) : opk_nomem(ctx, "a plan");

	if (!code)
		code = strict_order ? add_leading(&f) : add_fitting(&f, 0, count);
	if (!code && !f.count)
		code = explain_none(&f, strict_order);
	opk_counters_clear(&f.counters);
	opk_answers_clear(&f.answers);
	opk_nv_scheduler_free(f.scheduler);
	return code ? code : opk_plan_keep(plan, ctx, kept);
}

int opk_plan_keep(struct opk_plan *plan, struct opk_ctx *ctx, const bool *kept)
{
	struct opk_strlist *metrics = &plan->metrics;
	size_t count = 0;

	for (size_t i = 0; i < metrics->count; i++)
		if (!kept[i] && !opk_strlist_add(&plan->left_out, metrics->items[i]))
			return opk_nomem(ctx, "a plan");
	for (size_t i = 0; i < metrics->count; i++) {
		if (kept[i])
			metrics->items[count++] = metrics->items[i];
		else
			free(metrics->items[i]);
	}
	metrics->count = count;
	return OPK_OK;
}
