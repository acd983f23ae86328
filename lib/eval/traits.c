/* SPDX-License-Identifier: BSD-2-Clause */
/* What names of metrics, and formulas, reveal about values: sums, times, peaks, clocks. */
#include <string.h>

#include "container/container.h"
#include "eval/eval.h"

/* Counters of time and of a unit's clock, by the end of the name before the first '.'. */
static const struct {
	const char *ending;
	enum { TIME, MOMENT, CYCLES } kind;
} bases[] = {
	{ "__time_active", TIME },
	{ "__time_duration", TIME },
	{ "__time_duration_measured_user", TIME },
	{ "__time_duration_measured_wallclock", TIME },
	{ "__time_end", MOMENT },
	{ "__time_start", MOMENT },
	{ "__cycles_elapsed", CYCLES },
	{ "__cycles_elapsed_gpc", CYCLES }, /* of GB20x, in later releases */
	{ "__cycles_elapsed_tpc", CYCLES },
	{ "__dram_cycles_elapsed", CYCLES },
};

/* Suffixes after a rollup, or after the name of a ratio. */
static const struct {
	const char *text;
	bool of_base; /* the counter itself, perhaps per second: here a time stays a time */
	struct opk_traits traits;
} submetrics[] = {
	{ "", true, { 1, 0, false } },
	{ ".peak_sustained", false, { 0, 0, true } },
	{ ".peak_sustained_active", false, { 1, 0, false } },
	{ ".peak_sustained_active.per_second", false, { 0, 1, false } },
	{ ".peak_sustained_elapsed", false, { 1, 0, false } },
	{ ".peak_sustained_elapsed.per_second", false, { 0, 1, true } },
	{ ".per_cycle_active", false, { 0, 0, false } },
	{ ".per_cycle_elapsed", false, { 0, 0, false } },
	{ ".per_second", true, { 0, 1, false } },
	{ ".pct_of_peak_sustained_active", false, { 0, 0, false } },
	{ ".pct_of_peak_sustained_elapsed", false, { 0, 0, false } },
	{ ".max_rate", false, { 0, 0, true } },
	{ ".pct", false, { 0, 0, false } },
	{ ".ratio", false, { 0, 0, false } },
};
enum { BASES = sizeof bases / sizeof *bases, SUBMETRICS = sizeof submetrics / sizeof *submetrics };

/* ---- names ------------------------------------------------------------------------------ */

/* "unit__name" and what follows the rollup; ratios have no rollup. */
struct parts {
	const char *name;
	size_t length;
	const char *rest;
};

static bool is_rollup(const char *text, size_t length)
{
	static const char *const rollups[] = { "sum", "avg", "min", "max" };

	for (size_t i = 0; i < sizeof rollups / sizeof *rollups; i++)
		if (length == strlen(rollups[i]) && !memcmp(text, rollups[i], length))
			return true;
	return false;
}

/* False if nothing follows the counter's name. */
static bool find_parts(struct parts *out, const char *metric)
{
	const char *unit = strstr(metric, "__"), *dot = unit ? strchr(unit, '.') : NULL;
	size_t rollup = dot ? strcspn(dot + 1, ".") : 0;

	if (!dot)
		return false;
	*out = (struct parts){ metric, (size_t)(dot - metric), dot };
	if (is_rollup(dot + 1, rollup))
		out->rest += 1 + rollup;
	return true;
}

static bool ends_with(const struct parts *parts, const char *ending)
{
	size_t length = strlen(ending);

	return parts->length >= length
	       && !memcmp(parts->name + parts->length - length, ending, length);
}

/* The counter's place in `bases`; BASES: it is another counter. */
static size_t find_base(const struct parts *parts)
{
	size_t i = 0;

	while (i < BASES && !ends_with(parts, bases[i].ending))
		i++;
	return i;
}

static size_t find_submetric(const char *rest)
{
	size_t i = 0;

	while (i < SUBMETRICS && strcmp(submetrics[i].text, rest) != 0)
		i++;
	return i;
}

bool opk_metric_traits_known(const char *metric)
{
	struct parts parts;

	return find_parts(&parts, metric) && find_submetric(parts.rest) < SUBMETRICS;
}

/* ---- metrics ---------------------------------------------------------------------------- */

static struct opk_traits attribute_traits(const char *name)
{
	return (struct opk_traits){ opk_attribute_adds(name), 0, opk_attribute_is_of_device(name) };
}

struct opk_traits opk_metric_traits(const char *metric)
{
	struct opk_traits traits = { 0 };
	struct parts parts;
	size_t base, submetric;

	if (opk_attribute_is_name(metric))
		return attribute_traits(metric);
	if (!find_parts(&parts, metric))
		return traits;
	base = find_base(&parts);
	submetric = find_submetric(parts.rest);
	if (submetric < SUBMETRICS)
		traits = submetrics[submetric].traits;
	if (base == BASES)
		return traits;
	if (bases[base].kind == MOMENT)
		traits.degree = traits.clock = OPK_NO_DEGREE;
	else if (submetric < SUBMETRICS && submetrics[submetric].of_base)
		traits.clock -= bases[base].kind == TIME;
	/* Elapsed cycles per second are the clock. */
	traits.of_gpu |= bases[base].kind == CYCLES && traits.clock == 1;
	return traits;
}

enum opk_count_kind opk_count_kind(const char *metric)
{
	return !strncmp(metric, "smsp__pcsamp_", 13) ? OPK_SAMPLED
	       : !strncmp(metric, "smsp__sass_", 11) ? OPK_COUNTED
	                                             : OPK_COUNT_KINDS;
}

int opk_metric_degree(const char *metric)
{
	return opk_metric_traits(metric).degree;
}

bool opk_metric_is_cycles(const char *metric)
{
	struct parts parts;
	size_t base = find_parts(&parts, metric) ? find_base(&parts) : BASES;

	return base < BASES && bases[base].kind == CYCLES && !*parts.rest;
}

/* These units run at the SM's clock. Only .avg is a clock, not the sum over instances. */
bool opk_metric_is_sm_clock(const char *metric)
{
	static const char *const units[] = { "sm", "smsp", "gpc", "tpc", "l1tex" };
	static const char clock[] = "__cycles_elapsed.avg.per_second";

	for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
		size_t length = strlen(units[i]);

		if (!strncmp(metric, units[i], length) && !strcmp(metric + length, clock))
			return true;
	}
	return false;
}

/* ---- columns ---------------------------------------------------------------------------- */

static int find_derived(struct opk_traits *traits, struct opk_ctx *ctx,
                        const struct opk_columns *columns, size_t index)
{
	const struct opk_derivation *derivation = &columns->derived[index];
	int degrees[OPK_MAX_FORMULA_NAMES], clocks[OPK_MAX_FORMULA_NAMES];
	struct opk_traits *out = &traits[index];
	size_t count;

	*out = (struct opk_traits){ OPK_NO_DEGREE, OPK_NO_DEGREE, false };
	if (!derivation->formula)
		return OPK_OK;
	count = opk_formula_name_count(derivation->formula);
	out->of_gpu = count > 0;
	for (size_t i = 0; i < count; i++) {
		const struct opk_traits *operand = &traits[derivation->operands[i]];

		degrees[i] = operand->degree;
		clocks[i] = operand->clock;
		out->of_gpu &= operand->of_gpu;
	}
	TRY(opk_formula_degree(&out->degree, ctx, derivation->formula, degrees));
	return opk_formula_degree(&out->clock, ctx, derivation->formula, clocks);
}

int opk_columns_traits(struct opk_traits *out, struct opk_ctx *ctx,
                       const struct opk_columns *columns)
{
	size_t derived = columns->derived_count, shown = columns->names.count;
	opk_autofree struct opk_traits *traits = opk_alloc_array(derived + columns->metric_count
	                                                                 + 1,
	                                                         sizeof *traits);

	if (!traits)
		return opk_nomem(ctx, "columns");
	for (size_t i = 0; i < columns->metric_count; i++)
		traits[derived + i] = opk_metric_traits(columns->metrics[i]);
	for (size_t i = 0; i < derived; i++)
		TRY(find_derived(traits, ctx, columns, i));
	for (size_t i = 0; i < shown; i++)
		out[i] = traits[columns->sources[i]];
	for (size_t i = 0; i < columns->also_count; i++)
		out[shown + i] = traits[columns->also[i]];
	return OPK_OK;
}
