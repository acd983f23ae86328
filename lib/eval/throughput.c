/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A throughput is the highest of its parts, and CUPTI leaves out those that it can't compute: where
 * a part was not collected, what it makes of the others is too low. Here that becomes nan.
 */
#include <stdio.h>
#include <string.h>

#include "chip/chip.h"
#include "eval/eval_inside.h"

enum { MOST_LEVELS = 8 };

static const char *suffix_of(const char *metric)
{
	return metric + opk_base_length(metric);
}

/* Every throughput has this in its name: nothing is asked about others. */
static bool may_be_throughput(const char *metric)
{
	return strstr(metric, "throughput") != NULL;
}

bool opk_any_throughput(const char *const *metrics, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (may_be_throughput(metrics[i]))
			return true;
	return false;
}

char *opk_throughput_part_sum(const char *part)
{
	return opk_printf("%.*s.sum", (int)opk_base_length(part), part);
}

/* ".avg.pct_of_peak_sustained_active" is the share of ".avg.peak_sustained_active". */
char *opk_throughput_part_peak(const char *part)
{
	const char *share = strstr(suffix_of(part), ".pct_of_");

	return share ? opk_printf("%.*s.%s", (int)(share - part), part, share + strlen(".pct_of_"))
	             : opk_strdup(part);
}

static int add_part(struct opk_throughputs *t, struct opk_ctx *ctx, const char *base,
                    const char *suffix)
{
	opk_autofree char *name = opk_printf("%s%s", base, suffix);

	return name && opk_strlist_add(&t->parts, name) ? OPK_OK
	                                                : opk_nomem(ctx, "parts of a throughput");
}

/* The parts of a throughput and of those among them; one that PerfWorks does not divide is one. */
static int add_parts(struct opk_throughputs *t, struct opk_ctx *ctx,
                     struct opk_nv_evaluator *evaluator, const char *metric, int level)
{
	opk_autostrlist struct opk_strlist counters = { 0 }, throughputs = { 0 };
	const char *suffix = suffix_of(metric);
	int code = opk_nv_constituents(&counters, &throughputs, ctx, evaluator, metric);

	if (!code && level && !counters.count && !throughputs.count)
		code = add_part(t, ctx, metric, "");
	for (size_t i = 0; !code && i < counters.count; i++)
		code = add_part(t, ctx, counters.items[i], suffix);
	for (size_t i = 0; !code && i < throughputs.count && level < MOST_LEVELS; i++) {
		opk_autofree char *name = opk_printf("%s%s", throughputs.items[i], suffix);

		code = name ? add_parts(t, ctx, evaluator, name, level + 1)
		            : opk_nomem(ctx, "parts of a throughput");
	}
	return code;
}

static int add_throughput(struct opk_throughputs *t, struct opk_ctx *ctx,
                          struct opk_nv_evaluator *evaluator, const char *metric, size_t number)
{
	struct opk_throughput *next = &t->items[t->count];
	size_t first = t->parts.count;
	int code = add_parts(t, ctx, evaluator, metric, 0);

	if (!code && t->parts.count > first) {
		*next = (struct opk_throughput){ .metric = number,
			                         .first = first,
			                         .end = t->parts.count };
		t->count++;
	}
	return code;
}

int opk_throughputs_init(struct opk_throughputs *t, struct opk_ctx *ctx,
                         struct opk_nv_evaluator *evaluator, const char *const *metrics,
                         size_t count)
{
	int code = OPK_OK;

	*t = (struct opk_throughputs){ .items = opk_alloc_array(count + 1, sizeof *t->items) };
	if (!t->items)
		return opk_nomem(ctx, "throughputs");
	if (!evaluator)
		return OPK_OK;
	for (size_t i = 0; code != OPK_ENOMEM && i < count; i++)
		if (may_be_throughput(metrics[i]))
			code = add_throughput(t, ctx, evaluator, metrics[i], i);
	if (code == OPK_ENOMEM)
		return code;
	/* A name that is unknown is refused with the other metrics. */
	opk_clear_errors(ctx);
	return OPK_OK;
}

void opk_throughputs_clear(struct opk_throughputs *t)
{
	opk_strlist_clear(&t->parts);
	free(t->items);
	*t = (struct opk_throughputs){ 0 };
}

void opk_throughput_lacks(struct opk_throughput *t, const char *part, double rest)
{
	struct opk_remark one = { .metric = t->metric, .rows = 1, .least = rest, .most = rest };

	snprintf(one.part, sizeof one.part, "%s", part);
	opk_remark_add(&t->lacking, &one);
}
