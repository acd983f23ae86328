/* SPDX-License-Identifier: BSD-2-Clause */
/* Applies the rules to the values of one kernel. */
#include <math.h>
#include <string.h>

#include "answers/answers_inside.h"
#include "base/buf.h"
#include "base/glob.h"

/* Percent of the kernel's time, of its peak, or of the warps' time. */
static const double busy = 60, half = 50, some = 40; /* a part */
static const double surely = 75, lead = 3;           /* a part, and before the next one */
static const double idle = 30;                       /* of the SMs' time */
static const double waiting = 30, some_wait = 20;    /* of the warps' time */
static const double worth = 0.02;                    /* a smaller gain is not told */
static const double least_next = 20;                 /* a smaller limiter is not told */

enum { NUMBER_TEXT = 32 };

/* NaN: a value is not known. */
static double value_of(const struct opk_answer_values *values, const struct opk_formula *formula)
{
	double known[OPK_MAX_FORMULA_NAMES];
	size_t count = opk_formula_name_count(formula), at;

	for (size_t i = 0; i < count; i++)
		known[i] = opk_index_find(&at, values->names, opk_formula_name(formula, i))
		                   ? values->values[at]
		                   : (double)NAN;
	return opk_formula_value(formula, known);
}

/* ---- limiters ------------------------------------------------------------------------------- */

/* A limiter's percent, and by what it is ranked: below the parts that it yields to. */
struct ranked {
	double percent, rank;
};

static double rank_of(const struct ranked *ranked, const struct opk_answer_rules *rules, size_t i)
{
	const struct opk_strlist *yields = &rules->limiters.items[i].yields;
	double rank = ranked[i].percent;
	size_t other;

	for (size_t j = 0; j < yields->count; j++)
		if (opk_index_find(&other, &rules->numbers, yields->items[j])
		    && ranked[other].percent >= busy
		    && ranked[i].percent <= ranked[other].percent + rules->limiters.items[i].margin
		    && rank >= ranked[other].rank)
			rank = ranked[other].rank - 1e-6;
	return rank;
}

static void rank_all(struct ranked *ranked, const struct opk_answer_rules *rules,
                     const struct opk_answer_values *values)
{
	for (size_t i = 0; i < rules->limiters.count; i++)
		ranked[i].percent = rules->limiters.items[i].ranges && !values->ranges
		                            ? (double)NAN
		                            : value_of(values, rules->limiters.items[i].percent);
	/* Rules yield to earlier ones alone. */
	for (size_t i = 0; i < rules->limiters.count; i++)
		ranked[i].rank = rank_of(ranked, rules, i);
}

/* Whether a part is the other one, or says the same of the same unit. */
static bool is_within(const struct opk_answer_rules *rules, size_t i, size_t other)
{
	const char *within = rules->limiters.items[i].within;

	return i == other
	       || (within && other != SIZE_MAX
	           && !strcmp(within, rules->limiters.items[other].name));
}

/*
 * The limiter of a kind with the highest rank, the first of equal ones; not `except`, nor what is
 * within it. SIZE_MAX: nothing is known.
 */
static size_t find_best(const struct ranked *ranked, const struct opk_answer_rules *rules,
                        enum opk_limiter_kind kind, size_t except)
{
	size_t best = SIZE_MAX;

	for (size_t i = 0; i < rules->limiters.count; i++)
		if (rules->limiters.items[i].kind == kind && !is_within(rules, i, except)
		    && !isnan(ranked[i].percent)
		    && (best == SIZE_MAX || ranked[i].rank > ranked[best].rank))
			best = i;
	return best;
}

static double percent_of(const struct ranked *ranked, size_t i)
{
	return i == SIZE_MAX ? -1 : ranked[i].percent;
}

/* What limits the kernel, in words. */
static char *headline(const struct opk_answer *answer, const struct opk_answer_rules *rules,
                      size_t chosen)
{
	const char *sure = answer->sure ? "" : "probably ", *label = answer->limiter.label;
	double percent = answer->limiter.percent;

	if (chosen == SIZE_MAX)
		return opk_strdup("limited by nothing that can be named: no part is busy, and "
		                  "warps wait for many things");
	switch (rules->limiters.items[chosen].kind) {
	case OPK_LIMITER_PART:
		return opk_printf("%slimited by %s: %.0f%% of its peak", sure, label, percent);
	case OPK_LIMITER_IDLE:
		return opk_printf("%sSMs are idle %.0f%% of the time: %s", sure, percent, label);
	default:
		return opk_printf("%slimited by %s: %.0f%% of its warps' time", sure, label,
		                  percent);
	}
}

static void put_limiter(struct opk_limiter *out, const struct opk_answer_rules *rules,
                        const struct ranked *ranked, size_t i)
{
	if (i == SIZE_MAX)
		return;
	*out = (struct opk_limiter){ rules->limiters.items[i].name, rules->limiters.items[i].label,
		                     ranked[i].percent };
}

/* The best of each kind, and the part behind the best one. */
struct best {
	size_t part, idle, wait, next;
};

/* What explains the kernel's time: a busy part, idle SMs, waiting warps, and then less of these. */
static size_t choose(const struct best *best, const struct ranked *ranked)
{
	const struct {
		size_t limiter;
		double least;
	} steps[] = {
		{ best->part, busy }, { best->idle, idle },      { best->wait, waiting },
		{ best->part, half }, { best->wait, some_wait }, { best->part, some },
	};

	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
		if (percent_of(ranked, steps[i].limiter) >= steps[i].least)
			return steps[i].limiter;
	return SIZE_MAX;
}

/* Whether a part is clearly ahead of the next one, or that one only follows from it. */
static bool leads(const struct opk_answer_rules *rules, const struct best *best,
                  const struct ranked *ranked)
{
	const struct opk_limiter_rule *limiters = rules->limiters.items;

	return best->next == SIZE_MAX
	       || opk_strlist_contains(&limiters[best->next].yields, limiters[best->part].name)
	       || ranked[best->part].percent - ranked[best->next].percent >= lead;
}

/* What warps wait for second longest; rules that divide the same wait have the same percent. */
static double second_wait(const struct opk_answer_rules *rules, const struct ranked *ranked,
                          double longest)
{
	double second = 0;

	for (size_t i = 0; i < rules->limiters.count; i++)
		if (rules->limiters.items[i].kind == OPK_LIMITER_WAIT && ranked[i].percent < longest
		    && ranked[i].percent > second)
			second = ranked[i].percent;
	return second;
}

static bool is_sure(const struct opk_answer_rules *rules, const struct best *best,
                    const struct ranked *ranked, size_t chosen)
{
	double part = percent_of(ranked, best->part), wait = percent_of(ranked, best->wait);

	if (chosen == SIZE_MAX || rules->limiters.items[chosen].unsure)
		return false;
	if (chosen == best->part)
		return part >= surely && leads(rules, best, ranked);
	return chosen == best->idle
	       || (wait >= waiting && part < half
	           && wait - second_wait(rules, ranked, wait) >= lead);
}

static int choose_limiter(struct opk_answer *answer, struct opk_ctx *ctx,
                          const struct opk_answer_rules *rules, const struct ranked *ranked,
                          bool doubt, struct opk_strlist *texts)
{
	size_t part = find_best(ranked, rules, OPK_LIMITER_PART, SIZE_MAX);
	struct best best = {
		.part = part,
		.idle = find_best(ranked, rules, OPK_LIMITER_IDLE, SIZE_MAX),
		.wait = find_best(ranked, rules, OPK_LIMITER_WAIT, SIZE_MAX),
		.next = find_best(ranked, rules, OPK_LIMITER_PART, part),
	};
	size_t chosen, next;

	chosen = choose(&best, ranked);
	next = chosen == part ? best.next : part;
	put_limiter(&answer->limiter, rules, ranked, chosen);
	answer->sure = !doubt && is_sure(rules, &best, ranked, chosen);
	if (percent_of(ranked, next) >= least_next)
		put_limiter(&answer->next, rules, ranked, next);
	if (!opk_strlist_take(texts, headline(answer, rules, chosen)))
		return opk_nomem(ctx, "findings");
	answer->text = texts->items[texts->count - 1];
	return OPK_OK;
}

/* A bar is the busiest of its parts, if most of them are known. */
static double bar_of(const struct opk_answer_rules *rules, const struct ranked *ranked, size_t bar)
{
	size_t known = 0, count = 0;
	double most = 0;

	for (size_t i = 0; i < rules->limiters.count; i++) {
		if (rules->limiters.items[i].bar != bar)
			continue;
		count++;
		known += !isnan(ranked[i].percent);
		most = fmax(most, ranked[i].percent);
	}
	return 2 * known > count ? most : (double)NAN;
}

/* ---- findings ------------------------------------------------------------------------------- */

static bool relieves(const struct opk_finding_rule *rule, const char *name)
{
	return opk_strlist_contains(&rule->relieves, name)
	       || opk_strlist_contains(&rule->relieves, "*");
}

/* The largest share of time that the finding can save: parts that it does not relieve stay busy. */
static double bound_of(const struct opk_answer_rules *rules, const struct ranked *ranked,
                       const struct opk_finding_rule *rule)
{
	double most = 0;

	for (size_t i = 0; i < rules->limiters.count; i++)
		if (rules->limiters.items[i].kind == OPK_LIMITER_PART
		    && !rules->limiters.items[i].either
		    && !relieves(rule, rules->limiters.items[i].name) && ranked[i].percent > most)
			most = ranked[i].percent;
	return most < 100 ? 1 - most / 100 : 0;
}

/* "{name}" becomes the value, with at least three digits. */
static bool put_value(struct opk_buf *out, const struct opk_answer_values *values, const char *name,
                      size_t length)
{
	opk_autofree char *text = opk_strndup(name, length);
	char number[NUMBER_TEXT];
	double value = (double)NAN;
	size_t at;

	if (!text)
		return false;
	if (opk_index_find(&at, values->names, text))
		value = values->values[at];
	snprintf(number, sizeof number, fabs(value) < 100 ? "%.3g" : "%.0f", value);
	opk_buf_add_text(out, number);
	return true;
}

static const char *say(struct opk_strlist *texts, const char *says,
                       const struct opk_answer_values *values)
{
	opk_autobuf struct opk_buf out = { 0 };

	while (*says) {
		size_t plain = strcspn(says, "{"), end;

		opk_buf_add(&out, says, plain);
		says += plain;
		end = strcspn(says, "}");
		if (*says && !put_value(&out, values, says + 1, end - 1))
			return NULL;
		says += end + (says[end] == '}');
	}
	return opk_strlist_take(texts, opk_buf_take_text(&out)) ? texts->items[texts->count - 1]
	                                                        : NULL;
}

static bool is_for(const struct opk_finding_rule *rule, const char *name)
{
	for (size_t i = 0; i < rule->kernels.count; i++)
		if (opk_glob_match(rule->kernels.items[i], name))
			return true;
	return !rule->kernels.count;
}

static bool has_needs(const struct opk_answer_rules *rules, const struct opk_answer_values *values)
{
	size_t at;

	for (size_t i = 0; i < rules->needs.count; i++)
		if (!opk_index_find(&at, values->names, rules->needs.items[i])
		    || isnan(values->values[at]))
			return false;
	return true;
}

/* Where bounds are about the same, the rule that comes first is the more special one. */
static bool comes_before(const struct opk_answer_finding *a, const struct opk_answer_finding *b)
{
	static const double same = 1.05;

	return a->about_limiter != b->about_limiter ? a->about_limiter : a->gain > b->gain * same;
}

/* Keeps the foremost findings, in their order. */
static void keep(struct opk_answer *answer, const struct opk_answer_finding *finding)
{
	size_t at = answer->finding_count;

	while (at && comes_before(finding, &answer->findings[at - 1]))
		at--;
	if (at == OPK_MOST_FINDINGS)
		return;
	if (answer->finding_count < OPK_MOST_FINDINGS)
		answer->finding_count++;
	memmove(&answer->findings[at + 1], &answer->findings[at],
	        (answer->finding_count - at - 1) * sizeof *finding);
	answer->findings[at] = *finding;
}

static int find(struct opk_answer *answer, struct opk_ctx *ctx,
                const struct opk_answer_rules *rules, const struct ranked *ranked,
                const struct opk_answer_values *values, struct opk_strlist *texts)
{
	size_t at;
	bool alone = answer->limiter.name
	             && opk_index_find(&at, &rules->numbers, answer->limiter.name)
	             && rules->limiters.items[at].alone;

	for (size_t i = 0; i < rules->findings.count; i++) {
		const struct opk_finding_rule *rule = &rules->findings.items[i];
		double bound = bound_of(rules, ranked, rule);
		struct opk_answer_finding finding = { .name = rule->name,
			                              .advice = rule->advice,
			                              .because = rule->because,
			                              .gain = value_of(values, rule->gain) };

		finding.gain = finding.gain < bound ? finding.gain : bound;
		finding.about_limiter = answer->limiter.name
		                        && opk_strlist_contains(&rule->about, answer->limiter.name);
		if (!is_for(rule, values->name)
		    || ((rule->only_if_named || alone) && !finding.about_limiter))
			continue;
		/* NaN: it does not hold as far as is known. */
		if (!(value_of(values, rule->when) > 0) || !(finding.gain >= worth))
			continue;
		finding.text = say(texts, rule->says, values);
		if (!finding.text)
			return opk_nomem(ctx, "findings");
		keep(answer, &finding);
	}
	return OPK_OK;
}

int opk_answer_judge(struct opk_answer *answer, struct opk_ctx *ctx,
                     const struct opk_answer_rules *rules, const struct opk_answer_values *values,
                     struct opk_strlist *texts)
{
	opk_autofree struct ranked *ranked = opk_alloc_array(rules->limiters.count + 1,
	                                                     sizeof *ranked);
	bool doubt = rules->doubt && value_of(values, rules->doubt) > 0;

	if (!ranked)
		return opk_nomem(ctx, "findings");
	rank_all(ranked, rules, values);
	for (size_t bar = 0; bar < OPK_BARS; bar++)
		answer->bars[bar] = bar_of(rules, ranked, bar);
	answer->whole = has_needs(rules, values);
	answer->text = "not known: its launches lack metrics that the answer needs";
	if (!answer->whole)
		return OPK_OK;
	TRY(choose_limiter(answer, ctx, rules, ranked, doubt, texts));
	return find(answer, ctx, rules, ranked, values, texts);
}
