/* SPDX-License-Identifier: BSD-2-Clause */
/* Combines the values of several GPUs, with a rule for each kind of metric: docs/formats.md. */
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "chip/chip.h"
#include "images/images.h"

enum { NONE = -1, EXACT_WEIGHTS = 2 };

/* A weight: the product of two metrics, divided by two others. */
struct weight {
	bool known; /* the chip has all these metrics */
	long over[2], under[2];
	/* For guessed weights: value = numerator / weight * scale; 0: not a guess. */
	double scale;
	long numerator;
};

struct opk_rule {
	enum { ADD, GREATEST, LEAST, WEIGH } kind;
	/* Possible denominators of the metric: weights that give the ratio of the sums. */
	struct weight exact[EXACT_WEIGHTS];
};

/* ---- rules ------------------------------------------------------------------------------ */

struct maker {
	struct opk_rules *rules;
	struct opk_ctx *ctx;
	struct opk_index numbers; /* of metrics and helpers */
	struct opk_catalog *catalog;
	const struct opk_strlist *among; /* in place of the catalog, or NULL */
	bool failed;
};

/* The number of a metric, which becomes a helper if it is new; or NONE. */
OPK_PRINTF(2, 3) static long find(struct maker *m, const char *format, ...)
{
	struct opk_strlist *helpers = &m->rules->helpers;
	char name[1024];
	va_list arguments;
	size_t number;
	int length;

	va_start(arguments, format);
	length = vsnprintf(name, sizeof name, format, arguments);
	va_end(arguments);
	if (length < 0 || (size_t)length >= sizeof name)
		return NONE;
	if (opk_index_find(&number, &m->numbers, name))
		return (long)number;
	if (m->among ? !opk_strlist_contains(m->among, name)
	             : !opk_catalog_has_full(m->catalog, m->ctx, name))
		return NONE;
	number = m->rules->metric_count + helpers->count;
	if (!opk_strlist_add(helpers, name)
	    || !opk_index_add(&m->numbers, helpers->items[helpers->count - 1], number, NULL)) {
		m->failed = true;
		return NONE;
	}
	return (long)number;
}

static struct weight make_weight(bool known, long over, long under)
{
	return (struct weight){
		.known = known, .over = { over, NONE }, .under = { under, NONE }, .numerator = NONE
	};
}

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

/*
 * Weighs an average over instances by their number, which is the sum over the average. `length`: of
 * the name before the rollup; `rest`: the text after it.
 */
static void weigh_average(struct maker *m, struct opk_rule *rule, const char *name, int length,
                          const char *rest, long self)
{
	long sum = find(m, "%.*s.sum%s", length, name, rest);
	long all = find(m, "%.*s.sum.peak_sustained", length, name);
	long one = find(m, "%.*s.avg.peak_sustained", length, name);

	rule->exact[0] = make_weight(sum >= 0, sum, self);
	rule->exact[1] = make_weight(all >= 0 && one >= 0, all, one);
}

/* Weighs rates by time or cycles; an average rate by time or cycles of all instances. */
static void weigh_rate(struct maker *m, struct opk_rule *rule, const char *name, int length,
                       const char *rest, long self)
{
	bool average = begins(name + length, ".avg");
	long sum = find(m, "%.*s.sum", length, name), over = NONE, all = NONE, one = NONE;

	if (!strcmp(rest, ".per_second"))
		over = find(m, "gpu__time_duration.sum");
	else
		over = find(m, "%.*s.sum.peak_sustained_%s", length, name,
		            rest + strlen(".per_cycle_"));
	if (average && !strcmp(rest, ".per_second"))
		all = find(m, "%.*s.sum.peak_sustained", length, name);
	if (strcmp(rest, ".per_second") != 0 || average)
		one = find(m, "%.*s.%s.peak_sustained", length, name, average ? "avg" : "sum");
	rule->exact[0] = make_weight(over >= 0, over, one);
	rule->exact[0].over[1] = all;
	if (strcmp(rest, ".per_second") != 0 || average)
		rule->exact[0].known &= one >= 0;
	rule->exact[1] = make_weight(sum >= 0, sum, self);
}

static void find_exact(struct maker *m, struct opk_rule *rule, const char *name, int length,
                       const char *rest, long self)
{
	long peak;

	if (opk_metric_degree(name) == 1) {
		weigh_average(m, rule, name, length, rest, self);
	} else if (begins(rest, ".pct_of_peak_sustained_")) {
		peak = find(m, "%.*s.sum.peak_sustained_%s", length, name,
		            rest + strlen(".pct_of_peak_sustained_"));
		rule->exact[0] = make_weight(peak >= 0, peak, NONE);
	} else if (!strcmp(rest, ".per_second") || begins(rest, ".per_cycle_")) {
		weigh_rate(m, rule, name, length, rest, self);
	}
}

/* Appends a name with its first "sector", "request" or "warp" in the plural. */
static void put_plural(struct opk_buf *out, const char *name, size_t length)
{
	static const char *const words[] = { "sector", "request", "warp" };

	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		const char *at = memmem(name, length, words[i], strlen(words[i]));
		size_t before = at ? (size_t)(at - name) + strlen(words[i]) : 0;

		if (!at || (before < length && name[before] != '_'))
			continue;
		opk_buf_add(out, name, before);
		opk_buf_add_text(out, "s");
		opk_buf_add(out, name + before, length - before);
		return;
	}
	opk_buf_add(out, name, length);
}

/* Finds the sum of the counter unit__NAME, where NAME may be in the plural. */
static long find_counter(struct maker *m, const char *unit, int unit_length, const char *name,
                         size_t length, const char *end)
{
	opk_autobuf struct opk_buf plural = { 0 };
	opk_autofree char *text = NULL;
	long found = find(m, "%.*s%.*s%s.sum", unit_length, unit, (int)length, name, end);

	if (found >= 0)
		return found;
	put_plural(&plural, name, length);
	text = opk_buf_take_text(&plural);
	return text ? find(m, "%.*s%s%s.sum", unit_length, unit, text, end) : NONE;
}

/*
 * Guesses a ratio's counters from names such as unit__average_A_per_B, unit__A_per_B and
 * unit__A_hit_rate. The guess is wrong if these counters don't give the value.
 */
static void find_ratio(struct maker *m, struct opk_rule *rule, const char *name)
{
	const char *counter = strstr(name, "__"), *dot = counter ? strchr(counter, '.') : NULL;
	const char *per = NULL, *rate;
	struct weight *weight = &rule->exact[0];
	int unit;

	if (!dot || (strcmp(dot, ".ratio") != 0 && strcmp(dot, ".pct") != 0))
		return;
	unit = (int)(counter - name) + 2;
	counter += begins(counter, "__average_") ? strlen("__average_") : 2;
	for (const char *at = counter; (at = strstr(at, "_per_")); at++)
		per = at;
	rate = strstr(counter, "_hit_rate.");
	*weight = (struct weight){ .over = { NONE, NONE }, .under = { NONE, NONE } };
	weight->scale = strcmp(dot, ".pct") ? 1 : 100;
	weight->numerator = NONE;
	if (per) {
		weight->numerator = find_counter(m, name, unit, counter, (size_t)(per - counter),
		                                 "");
		weight->over[0] = find_counter(m, name, unit, per + 5, (size_t)(dot - per) - 5, "");
	} else if (rate) {
		size_t length = (size_t)(rate - counter);

		weight->numerator = find_counter(m, name, unit, counter, length, "_lookup_hit");
		weight->over[0] = find_counter(m, name, unit, counter, length, "");
	}
	weight->known = weight->numerator >= 0 && weight->over[0] >= 0;
}

static void make_rule(struct maker *m, struct opk_rule *rule, const char *name, long self)
{
	const char *unit = strstr(name, "__"), *rollup = unit ? strchr(unit, '.') : NULL;

	*rule = (struct opk_rule){ .kind = WEIGH };
	find_ratio(m, rule, name);
	if (!rollup)
		return;
	if (begins(rollup, ".max"))
		rule->kind = GREATEST;
	else if (begins(rollup, ".min"))
		rule->kind = LEAST;
	else if (begins(rollup, ".sum") && opk_metric_degree(name) == 1)
		rule->kind = ADD;
	else if (begins(rollup, ".sum") || begins(rollup, ".avg"))
		find_exact(m, rule, name, (int)(rollup - name), rollup + 4, self);
}

static int make_all(struct maker *m, const char *const *metrics)
{
	struct opk_rules *rules = m->rules;

	for (size_t i = 0; i < rules->metric_count; i++)
		if (!opk_index_add(&m->numbers, metrics[i], i, NULL))
			return opk_nomem(m->ctx, "statistics");
	for (size_t i = 0; i < rules->metric_count; i++)
		make_rule(m, &rules->rules[i], metrics[i], (long)i);
	rules->weights[OPK_BY_TIME] = find(m, "gpu__time_duration.sum");
	rules->weights[OPK_BY_CYCLES] = find(m, "sm__cycles_elapsed.max");
	return m->failed ? opk_nomem(m->ctx, "statistics") : OPK_OK;
}

static int make_rules(struct maker *m, const char *const *metrics, size_t count)
{
	struct opk_rules *rules = m->rules;
	int code;

	*rules = (struct opk_rules){ .metric_count = count };
	rules->rules = opk_alloc_array(count + 1, sizeof *rules->rules);
	code = rules->rules ? make_all(m, metrics) : opk_nomem(m->ctx, "statistics");
	opk_index_clear(&m->numbers);
	return code;
}

int opk_rules_init(struct opk_rules *rules, struct opk_ctx *ctx, const char *chip,
                   enum opk_profiler profiler, const char *const *metrics, size_t count,
                   const struct opk_file *file)
{
	struct maker m = { .rules = rules, .ctx = ctx };
	int code = file ? opk_catalog_of_file(&m.catalog, ctx, file, chip, profiler) : OPK_OK;

	*rules = (struct opk_rules){ 0 };
	if (!code && !m.catalog)
		code = opk_catalog_new(&m.catalog, ctx, chip, profiler);
	if (!code)
		code = make_rules(&m, metrics, count);
	opk_catalog_free(m.catalog);
	return code;
}

int opk_rules_among(struct opk_rules *rules, struct opk_ctx *ctx, const char *const *metrics,
                    size_t count, const struct opk_strlist *helpers)
{
	struct maker m = { .rules = rules, .ctx = ctx, .among = helpers };

	return make_rules(&m, metrics, count);
}

void opk_rules_clear(struct opk_rules *rules)
{
	free(rules->rules);
	opk_strlist_clear(&rules->helpers);
	*rules = (struct opk_rules){ 0 };
}

/* ---- values ----------------------------------------------------------------------------- */

static double weight_of(const struct weight *weight, const double *all)
{
	double value = 1;

	for (size_t i = 0; i < 2; i++) {
		value *= weight->over[i] >= 0 ? all[weight->over[i]] : 1;
		value /= weight->under[i] >= 0 ? all[weight->under[i]] : 1;
	}
	return value;
}

static bool is_denominator(const struct weight *weight, double one,
                           const struct opk_part_value *part)
{
	double value;

	if (!weight || !weight->scale)
		return true;
	value = part->all[weight->numerator] / one * weight->scale;
	return fabs(value - part->value) <= 1e-9 * fabs(value);
}

/* False if a weight is not a number above 0, or the guessed denominator is wrong. */
static bool mean_by(double *out, const struct weight *weight, const struct opk_part_value *parts,
                    size_t count)
{
	double sum = 0, weights = 0;

	for (size_t i = 0; i < count; i++) {
		double one = weight ? weight_of(weight, parts[i].all) : (double)parts[i].count;

		if (!(one > 0) || !isfinite(one) || !is_denominator(weight, one, &parts[i]))
			return false;
		sum += one * parts[i].value;
		weights += one;
	}
	*out = sum / weights;
	return true;
}

static bool are_equal(const struct opk_part_value *parts, size_t count)
{
	bool equal = true;

	for (size_t i = 1; equal && i < count; i++)
		equal = parts[i].value == parts->value;
	return equal;
}

static enum opk_weight weigh(double *out, const struct opk_rules *rules,
                             const struct opk_rule *rule, const struct opk_part_value *parts,
                             size_t count)
{
	*out = parts->value;
	if (are_equal(parts, count))
		return OPK_EXACT;
	for (size_t i = 0; i < EXACT_WEIGHTS; i++)
		if (rule->exact[i].known && mean_by(out, &rule->exact[i], parts, count))
			return OPK_EXACT;
	for (enum opk_weight by = OPK_BY_TIME; by > OPK_BY_COUNT; by--) {
		const struct weight weight = make_weight(true, rules->weights[by], NONE);

		if (rules->weights[by] >= 0 && mean_by(out, &weight, parts, count))
			return by;
	}
	if (!mean_by(out, NULL, parts, count))
		*out = (double)NAN;
	return OPK_BY_COUNT;
}

enum opk_weight opk_combine(double *out, const struct opk_rules *rules, size_t metric,
                            const struct opk_part_value *parts, size_t count)
{
	const struct opk_rule *rule = &rules->rules[metric];
	double sum = 0, least = (double)INFINITY, greatest = (double)-INFINITY;

	for (size_t i = 0; i < count; i++) {
		sum += parts[i].value;
		least = fmin(least, parts[i].value);
		greatest = fmax(greatest, parts[i].value);
	}
	/* If one GPU's value is unknown, so is that of all GPUs. */
	if (isnan(sum) || rule->kind == ADD)
		*out = sum;
	else if (rule->kind == LEAST)
		*out = least;
	else if (rule->kind == GREATEST)
		*out = greatest;
	else
		return weigh(out, rules, rule, parts, count);
	return OPK_EXACT;
}

enum opk_weight opk_combine_ratios(double *out, const struct opk_rules *rules, size_t metric,
                                   const struct opk_part_value *parts, size_t count)
{
	*out = (double)NAN;
	for (size_t i = 0; i < count; i++)
		if (isnan(parts[i].value))
			return OPK_EXACT;
	return weigh(out, rules, &rules->rules[metric], parts, count);
}

double opk_rules_denominator(const struct opk_rules *rules, size_t metric, const double *all)
{
	const struct opk_part_value part = { .value = all[metric], .all = all };

	for (size_t i = 0; i < EXACT_WEIGHTS; i++) {
		const struct weight *weight = &rules->rules[metric].exact[i];
		double one = weight->known ? weight_of(weight, all) : (double)NAN;

		if (one == 0 || (isfinite(one) && one > 0 && is_denominator(weight, one, &part)))
			return one;
	}
	return (double)NAN;
}
