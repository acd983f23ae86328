/* SPDX-License-Identifier: BSD-2-Clause */
/* Asks NVIDIA's libraries about one metric, and writes the text that describe.c reads. */
#include <string.h>

#include "adapters/nv/nv.h"
#include "chip/chip.h"
#include "plan/plan.h"
#include "schedule/schedule.h"

struct asking {
	struct opk_ctx *ctx;
	const struct opk_catalog *catalog;
	const struct opk_metric *metric;
	const char *full;
	struct opk_buf *text;
	bool complete;
};

/* ---- other chips */

static int ask_chip(struct asking *a, const char *chip)
{
	opk_autostrlist struct opk_strlist names = { 0 };
	opk_auto(opk_nv_host) struct opk_nv_host *host = NULL;
	bool has = false;
	int code = opk_nv_host_supported(&has, a->ctx, chip, a->catalog->profiler);

	if (code || !has)
		return code;
	TRY(opk_nv_host_new(&host, a->ctx, chip, a->catalog->profiler, NULL));
	code = opk_nv_all_base_metrics(&names, a->ctx, host);
	if (!code && opk_strlist_contains(&names, a->metric->name))
		opk_buf_add_printf(a->text, "chip\t%s\n", chip);
	return code;
}

static int ask_scope(struct asking *a)
{
	opk_auto(opk_nv_host) struct opk_nv_host *host = NULL;
	enum opk_scope scope = OPK_SCOPE_UNKNOWN;
	int code = opk_nv_host_new(&host, a->ctx, a->catalog->chip, a->catalog->profiler, NULL);

	if (!code)
		code = opk_nv_scope(&scope, a->ctx, host, a->metric->name);
	if (scope)
		opk_buf_add_printf(a->text, "scope\t%s\n", opk_scope_name(scope));
	/* 12.x lists some metrics that it has no properties for. */
	return opk_allow(a->ctx, code, OPK_EUSAGE);
}

/* A metric of instructions has no counters. */
static int list_code(struct asking *a)
{
	opk_autostrlist struct opk_strlist chips = { 0 };

	opk_buf_add_printf(a->text, "scope\t%s\n", opk_scope_name(a->metric->scope));
	TRY(opk_code_chips_with(&chips, a->ctx, a->catalog->profiler, a->metric->name));
	for (size_t i = 0; i < chips.count; i++)
		if (strcmp(chips.items[i], a->catalog->chip))
			opk_buf_add_printf(a->text, "chip\t%s\n", chips.items[i]);
	return OPK_OK;
}

static int ask_chips(struct asking *a)
{
	opk_autostrlist struct opk_strlist chips = { 0 };

	TRY(opk_nv_chips(&chips, a->ctx));
	for (size_t i = 0; i < chips.count; i++) {
		if (strcmp(chips.items[i], a->catalog->chip))
			TRY(ask_chip(a, chips.items[i]));
	}
	return OPK_OK;
}

/* ---- raw counters */

/* If a library is missing, describes the rest, and logs what is left out. */
static int go_on(struct asking *a, int code, const char *without)
{
	if (code != OPK_ENVIDIA)
		return code;
	a->complete = false;
	opk_log(a->ctx, "%s are left out: %s", without, opk_innermost(a->ctx));
	return opk_allow(a->ctx, code, OPK_ENVIDIA);
}

/* From the config image of the metric alone; an empty list if CUPTI refuses the metric. */
static int counters_of_config(struct opk_strlist *out, struct asking *a)
{
	const struct opk_target target = { a->catalog->chip, a->catalog->profiler, NULL, NULL };
	opk_autoresult struct opk_schedule_result alone = { 0 };
	int code = opk_schedule_alone(&alone, a->ctx, &target, a->full);

	for (size_t i = 0; !code && i < alone.passes; i++)
		code = opk_nv_config_counters(out, a->ctx, alone.config, alone.size, i);
	return go_on(a, code, "raw counters");
}

static int add_counter(struct asking *a, struct opk_nv_scheduler *scheduler, const char *counter)
{
	opk_autostrlist struct opk_strlist domains = { 0 };
	int code = scheduler ? opk_nv_counter_domains(&domains, a->ctx, scheduler, counter)
	                     : OPK_OK;

	opk_buf_add_printf(a->text, "counter\t%s", counter);
	for (size_t i = 0; i < domains.count; i++)
		opk_buf_add_printf(a->text, "\t%s", domains.items[i]);
	opk_buf_add_text(a->text, "\n");
	/* A name that PerfWorks does not know may be one that only CUPTI knows. */
	return opk_allow(a->ctx, code, OPK_EUSAGE);
}

static int add_counters(struct asking *a, const struct opk_strlist *counters)
{
	opk_auto(opk_nv_scheduler) struct opk_nv_scheduler *scheduler = NULL;
	int code = opk_nv_scheduler_new(&scheduler, a->ctx, a->catalog->chip, NULL);

	code = go_on(a, code, "domains of raw counters");
	for (size_t i = 0; !code && i < counters->count; i++)
		code = add_counter(a, scheduler, counters->items[i]);
	return code;
}

static int ask_counters(struct asking *a, struct opk_nv_evaluator *evaluator)
{
	opk_autostrlist struct opk_strlist counters = { 0 };
	int code = evaluator ? opk_nv_raw_counters(&counters, a->ctx, evaluator, a->full)
	                     : OPK_EUSAGE;

	if (code == OPK_EUSAGE) {
		opk_clear_errors(a->ctx);
		opk_strlist_clear(&counters);
		code = counters_of_config(&counters, a);
	}
	return code || !counters.count ? code : add_counters(a, &counters);
}

/* ---- constituents */

static void add_constituents(struct opk_buf *text, enum opk_metric_type type,
                             const struct opk_strlist *names)
{
	for (size_t i = 0; i < names->count; i++)
		opk_buf_add_printf(text, "constituent\t%s\t%s\n", opk_metric_type_name(type),
		                   names->items[i]);
}

static bool are_among(const struct opk_strlist *counters, const struct opk_strlist *sorted)
{
	size_t own = 0;

	for (size_t i = 0; i < counters->count; i++) {
		if (!opk_strlist_contains_sorted(sorted, counters->items[i]))
			return false;
		own += !opk_is_trace(counters->items[i]);
	}
	return own > 0;
}

/* NVIDIA does not say what a ratio divides; counters over its raw counters are good guesses. */
static int ask_ratio(struct opk_strlist *out, struct asking *a, struct opk_nv_evaluator *evaluator)
{
	opk_autostrlist struct opk_strlist wanted = { 0 };
	int code = opk_nv_raw_counters(&wanted, a->ctx, evaluator, a->full);

	opk_strlist_sort(&wanted);
	for (size_t i = 0; !code && i < a->catalog->table.base_count; i++) {
		const struct opk_metric *metric = &a->catalog->metrics[i];
		opk_autofree char *full = opk_printf("%s%s", metric->name,
		                                     opk_plainest_suffix(metric->type));
		opk_autostrlist struct opk_strlist counters = { 0 };

		if (metric->type != OPK_COUNTER)
			continue;
		code = full ? opk_nv_raw_counters(&counters, a->ctx, evaluator, full)
		            : opk_nomem(a->ctx, "a metric's name");
		if (code == OPK_EUSAGE) {
			opk_clear_errors(a->ctx);
			code = OPK_OK;
		} else if (!code && are_among(&counters, &wanted)
		           && !opk_strlist_add(out, metric->name)) {
			code = opk_nomem(a->ctx, "constituents");
		}
	}
	return code;
}

static int ask_constituents(struct asking *a, struct opk_nv_evaluator *evaluator)
{
	opk_autostrlist struct opk_strlist counters = { 0 }, throughputs = { 0 };
	int code = evaluator && a->metric->type == OPK_RATIO ? ask_ratio(&counters, a, evaluator)
	           : evaluator ? opk_nv_constituents(&counters, &throughputs, a->ctx, evaluator,
	                                             a->full)
	                       : OPK_OK;

	if (code)
		return go_on(a, opk_allow(a->ctx, code, OPK_EUSAGE), "constituents");
	add_constituents(a->text, OPK_COUNTER, &counters);
	add_constituents(a->text, OPK_THROUGHPUT, &throughputs);
	return OPK_OK;
}

static int ask_all(struct asking *a)
{
	opk_auto(opk_nv_evaluator) struct opk_nv_evaluator *evaluator = NULL;

	TRY(ask_scope(a));
	TRY(ask_chips(a));
	/* PerfWorks knows only the range profiler's metrics. */
	if (a->catalog->profiler == OPK_PROFILER_RANGE)
		TRY(go_on(a, opk_nv_evaluator_new(&evaluator, a->ctx, a->catalog->chip),
		          "raw counters"));
	TRY(ask_counters(a, evaluator));
	return ask_constituents(a, evaluator);
}

int opk_describe_ask(struct opk_buf *text, bool *complete, struct opk_ctx *ctx,
                     const struct opk_catalog *catalog, const struct opk_metric *metric,
                     const char *full)
{
	struct asking a = {
		.ctx = ctx,
		.catalog = catalog,
		.metric = metric,
		.full = full,
		.text = text,
		.complete = true,
	};

	TRY(opk_profiler_is_code(catalog->profiler) ? list_code(&a) : ask_all(&a));
	if (text->failed)
		return opk_nomem(ctx, "a description");
	*complete = a.complete;
	return OPK_OK;
}
