/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A throughput is the highest of its parts, but CUPTI ignores parts that it can't compute: if a
 * part was not collected, its result is too low. Such values become NaN here.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "chip/chip.h"
#include "eval/eval_inside.h"

enum { MOST_LEVELS = 8 };

static const char *suffix_of(const char *metric)
{
	return metric + opk_base_length(metric);
}

/* Every throughput has this word in its name; other metrics are not looked up. */
bool opk_may_be_throughput(const char *metric)
{
	return strstr(metric, "throughput") != NULL;
}

bool opk_any_throughput(const char *const *metrics, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (opk_may_be_throughput(metrics[i]))
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

static void name_part(struct opk_remark *remark, const char *part)
{
	if (!*remark->part)
		snprintf(remark->part, sizeof remark->part, "%s", part);
}

/* A throughput in the making. */
struct maker {
	struct opk_throughputs *all;
	struct opk_throughput *one;
	struct opk_ctx *ctx;
	struct opk_nv_evaluator *evaluator;
};

static int fail_nomem(const struct maker *m)
{
	return opk_nomem(m->ctx, "parts of a throughput");
}

static bool has_part(const struct maker *m, const char *name)
{
	const struct opk_strlist *parts = &m->all->parts;

	return opk_texts_contain(opk_strlist_items(parts) + m->one->first,
	                         parts->count - m->one->first, name);
}

/* Leaves out a part that the library lists but can't compute, as for GR100. */
static int add_part(const struct maker *m, const char *name)
{
	opk_autostrlist struct opk_strlist counters = { 0 };
	int code = opk_nv_raw_counters(&counters, m->ctx, m->evaluator, name);

	if (code == OPK_ENOMEM)
		return code;
	opk_clear_errors(m->ctx);
	if (code)
		name_part(&m->one->remarks[OPK_PART_FAILS], name);
	else if (!has_part(m, name) && !opk_strlist_add(&m->all->parts, name))
		return fail_nomem(m);
	return OPK_OK;
}

static int add_undivided(const struct maker *m, const char *metric, int level)
{
	name_part(&m->one->remarks[OPK_PARTS_UNKNOWN], metric);
	return level ? add_part(m, metric) : OPK_OK;
}

/* Adds the parts of a throughput, recursively. One that PerfWorks can't divide is its own part. */
static int add_parts(const struct maker *m, const char *metric, int level)
{
	opk_autostrlist struct opk_strlist counters = { 0 }, throughputs = { 0 };
	const char *suffix = suffix_of(metric);
	int code = m->evaluator ? opk_nv_constituents(&counters, &throughputs, m->ctx, m->evaluator,
	                                              metric)
	                        : OPK_OK;

	if (code == OPK_ENOMEM)
		return code;
	opk_clear_errors(m->ctx);
	if (code || !(counters.count || throughputs.count))
		return add_undivided(m, metric, level);
	for (size_t i = 0; !code && i < counters.count; i++) {
		opk_autofree char *name = opk_printf("%s%s", counters.items[i], suffix);

		code = name ? add_part(m, name) : fail_nomem(m);
	}
	for (size_t i = 0; !code && i < throughputs.count && level < MOST_LEVELS; i++) {
		opk_autofree char *name = opk_printf("%s%s", throughputs.items[i], suffix);

		code = name ? add_parts(m, name, level + 1) : fail_nomem(m);
	}
	return code;
}

/* Appends the counters of a metric; a metric without counters is unknown to the library. */
static int add_counters(struct opk_strlist *out, struct opk_ctx *ctx,
                        struct opk_nv_evaluator *evaluator, const char *metric)
{
	int code = opk_nv_raw_counters(out, ctx, evaluator, metric);

	if (code == OPK_ENOMEM)
		return code;
	opk_clear_errors(ctx);
	return OPK_OK;
}

static bool are_all_among(const struct opk_strlist *few, const struct opk_strlist *sorted)
{
	for (size_t i = 0; i < few->count; i++)
		if (!opk_strlist_contains_sorted(sorted, few->items[i]))
			return false;
	return few->count > 0;
}

/* For samples the library lists only some parts of lts__throughput, which has more counters. */
static int check_whole(const struct maker *m, const char *metric)
{
	opk_autostrlist struct opk_strlist whole = { 0 }, parts = { 0 };

	TRY(add_counters(&whole, m->ctx, m->evaluator, metric));
	for (size_t i = m->one->first; i < m->all->parts.count; i++)
		TRY(add_counters(&parts, m->ctx, m->evaluator, m->all->parts.items[i]));
	opk_strlist_sort(&parts);
	if (!are_all_among(&whole, &parts))
		name_part(&m->one->remarks[OPK_PARTS_UNKNOWN], metric);
	return OPK_OK;
}

static int add_throughput(struct opk_throughputs *t, struct opk_ctx *ctx,
                          struct opk_nv_evaluator *evaluator, const char *metric, size_t number)
{
	struct opk_throughput *next = &t->items[t->count++];
	const struct maker m = { t, next, ctx, evaluator };
	int code;

	*next = (struct opk_throughput){ .metric = number, .first = t->parts.count };
	code = add_parts(&m, metric, 0);
	next->end = t->parts.count;
	return code || *next->remarks[OPK_PART_FAILS].part || *next->remarks[OPK_PARTS_UNKNOWN].part
	               ? code
	               : check_whole(&m, metric);
}

int opk_throughputs_init(struct opk_throughputs *t, struct opk_ctx *ctx,
                         struct opk_nv_evaluator *evaluator, const char *const *metrics,
                         size_t count)
{
	*t = (struct opk_throughputs){ .items = opk_alloc_array(count + 1, sizeof *t->items) };
	if (!t->items)
		return opk_nomem(ctx, "throughputs");
	for (size_t i = 0; i < count; i++) {
		if (opk_may_be_throughput(metrics[i]))
			TRY(add_throughput(t, ctx, evaluator, metrics[i], i));
	}
	return OPK_OK;
}

void opk_throughputs_clear(struct opk_throughputs *t)
{
	opk_strlist_clear(&t->parts);
	free(t->items);
	*t = (struct opk_throughputs){ 0 };
}

/* ---- which are trusted */

bool opk_throughputs_in_doubt(const struct opk_throughputs *t)
{
	for (size_t i = 0; i < t->count; i++)
		if (*t->items[i].remarks[OPK_PARTS_UNKNOWN].part)
			return true;
	return false;
}

/* Drops the doubt: listed parts were checked. An undivided throughput gets another remark. */
static void trust(struct opk_throughput *t, const char *metric)
{
	char *part = t->remarks[OPK_PARTS_UNKNOWN].part;

	if (!strcmp(part, metric))
		name_part(&t->remarks[OPK_UNDIVIDED], part);
	*part = '\0';
}

int opk_throughputs_trust(struct opk_throughputs *t, struct opk_ctx *ctx,
                          struct opk_nv_evaluator *evaluator, const char *const *metrics,
                          const struct opk_meta *meta)
{
	opk_autostrlist struct opk_strlist collected = { 0 };

	for (size_t i = 0; i < t->count; i++)
		if (opk_meta_has_metric(meta, metrics[t->items[i].metric]))
			trust(&t->items[i], metrics[t->items[i].metric]);
	if (!opk_throughputs_in_doubt(t))
		return OPK_OK;
	for (size_t i = 0; i < meta->metric_count; i++)
		TRY(add_counters(&collected, ctx, evaluator, meta->metrics[i]));
	opk_strlist_sort(&collected);
	for (size_t i = 0; i < t->count; i++) {
		opk_autostrlist struct opk_strlist needed = { 0 };
		const char *metric = metrics[t->items[i].metric];

		TRY(add_counters(&needed, ctx, evaluator, metric));
		if (are_all_among(&needed, &collected))
			trust(&t->items[i], metric);
	}
	return OPK_OK;
}

void opk_remark_add(struct opk_remark *all, const struct opk_remark *one)
{
	if (!all->rows)
		*all = *one;
	else
		all->rows += one->rows;
	all->least = fmin(all->least, one->least);
	all->most = fmax(all->most, one->most);
}

void opk_throughput_remark(struct opk_throughput *t, enum opk_remark_kind kind, const char *part,
                           double value)
{
	struct opk_remark *all = &t->remarks[kind];
	struct opk_remark one = {
		.metric = t->metric, .rows = 1, .kind = kind, .least = value, .most = value
	};

	snprintf(one.part, sizeof one.part, "%s", *all->part ? all->part : part);
	opk_remark_add(all, &one);
}
