/* SPDX-License-Identifier: BSD-2-Clause */
/* Values, counts, units and degrees of columns from those of metrics. */
#include <string.h>

#include "eval/eval.h"

static void derive(const struct opk_columns *columns, const double *metrics)
{
	double *values = columns->values, operands[OPK_MAX_FORMULA_NAMES];

	memcpy(values + columns->derived_count, metrics, columns->metric_count * sizeof *values);
	for (size_t i = 0; i < columns->derived_count; i++) {
		const struct opk_derivation *derivation = &columns->derived[i];

		if (!derivation->formula)
			continue;
		for (size_t j = 0; j < opk_formula_name_count(derivation->formula); j++)
			operands[j] = values[derivation->operands[j]];
		values[i] = opk_formula_value(derivation->formula, operands);
	}
}

void opk_columns_compute(double *out, const struct opk_columns *columns, const double *metrics)
{
	derive(columns, metrics);
	for (size_t i = 0; i < columns->names.count; i++)
		out[i] = columns->values[columns->sources[i]];
}

void opk_columns_compute_also(double *out, const struct opk_columns *columns, const double *metrics)
{
	derive(columns, metrics);
	for (size_t i = 0; i < columns->also_count; i++)
		out[i] = columns->values[columns->also[i]];
}

void opk_columns_least(uint64_t *out, const struct opk_columns *columns, const uint64_t *metrics)
{
	uint64_t *numbers = columns->numbers;

	memcpy(numbers + columns->derived_count, metrics, columns->metric_count * sizeof *numbers);
	for (size_t i = 0; i < columns->derived_count; i++) {
		const struct opk_derivation *derivation = &columns->derived[i];

		numbers[i] = UINT64_MAX;
		for (size_t j = 0;
		     derivation->formula && j < opk_formula_name_count(derivation->formula); j++)
			if (numbers[derivation->operands[j]] < numbers[i])
				numbers[i] = numbers[derivation->operands[j]];
	}
	for (size_t i = 0; i < columns->names.count; i++)
		out[i] = numbers[columns->sources[i]];
}

/* Units that don't go together were reported for the set: here the result's unit is unknown. */
static int compute_unit(struct opk_columns *columns, struct opk_ctx *ctx, size_t index,
                        const struct opk_strlist *units)
{
	struct opk_derivation *derivation = &columns->derived[index];
	const char *operands[OPK_MAX_FORMULA_NAMES];
	int code;

	for (size_t i = 0; i < opk_formula_name_count(derivation->formula); i++) {
		size_t value = derivation->operands[i];

		if (value < columns->derived_count)
			operands[i] = columns->derived[value].unit;
		else
			operands[i] = units->items[value - columns->derived_count];
		operands[i] = operands[i] && *operands[i] ? operands[i] : NULL;
	}
	code = opk_formula_unit(&derivation->unit, ctx, derivation->formula, operands, NULL);
	if (code == OPK_EINPUT)
		opk_clear_errors(ctx);
	else if (code)
		return code;
	/* PerfWorks says so, too, and "" is an unknown unit. */
	if (derivation->unit && !*derivation->unit) {
		free(derivation->unit);
		derivation->unit = opk_strdup("unitless");
		return derivation->unit ? OPK_OK : opk_nomem(ctx, "units");
	}
	return OPK_OK;
}

int opk_columns_find_units(struct opk_columns *columns, struct opk_ctx *ctx,
                           const struct opk_strlist *units)
{
	int code = OPK_OK;

	for (size_t i = 0; !code && i < columns->derived_count; i++)
		if (columns->derived[i].formula && !columns->derived[i].unit)
			code = compute_unit(columns, ctx, i, units);
	return code;
}

/* ---- which columns add up over ranges --------------------------------------------------- */

static bool begins_with(const char *text, size_t length, const char *start)
{
	return length == strlen(start) && !memcmp(text, start, length);
}

static bool is_rollup(const char *text, size_t length)
{
	return begins_with(text, length, "sum") || begins_with(text, length, "avg")
	       || begins_with(text, length, "min") || begins_with(text, length, "max");
}

/* Moments, not durations. */
static bool is_moment(const char *base, size_t length)
{
	static const char *const ends[] = { "__time_start", "__time_end" };

	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
		size_t end = strlen(ends[i]);

		if (length >= end && !memcmp(base + length - end, ends[i], end))
			return true;
	}
	return false;
}

/*
 * A counter's sum, average, least and greatest over the unit's instances add up, and what they
 * could have been at most does. Rates, percentages, ratios and throughputs are something of
 * something, and don't.
 */
int opk_metric_degree(const char *metric)
{
	static const char *const adding[] = { "", ".peak_sustained_active",
		                              ".peak_sustained_elapsed" };
	const char *unit = strstr(metric, "__"), *rollup, *rest;
	size_t length;

	if (opk_attribute_is_name(metric))
		return opk_attribute_adds(metric);
	rollup = unit ? strchr(unit, '.') : NULL;
	if (!rollup)
		return 0;
	if (is_moment(metric, (size_t)(rollup - metric)))
		return OPK_NO_DEGREE;
	length = strcspn(rollup + 1, ".");
	if (!is_rollup(rollup + 1, length))
		return 0;
	rest = rollup + 1 + length;
	for (size_t i = 0; i < sizeof adding / sizeof *adding; i++)
		if (!strcmp(rest, adding[i]))
			return 1;
	return 0;
}

static int find_derived(int *degrees, struct opk_ctx *ctx, const struct opk_columns *columns,
                        size_t index)
{
	const struct opk_derivation *derivation = &columns->derived[index];
	int operands[OPK_MAX_FORMULA_NAMES];

	if (!derivation->formula) {
		degrees[index] = OPK_NO_DEGREE;
		return OPK_OK;
	}
	for (size_t i = 0; i < opk_formula_name_count(derivation->formula); i++)
		operands[i] = degrees[derivation->operands[i]];
	return opk_formula_degree(&degrees[index], ctx, derivation->formula, operands);
}

int opk_columns_degrees(int *out, struct opk_ctx *ctx, const struct opk_columns *columns)
{
	size_t derived = columns->derived_count;
	opk_autofree int *degrees = opk_alloc_array(derived + columns->metric_count + 1,
	                                            sizeof *degrees);
	int code = OPK_OK;

	if (!degrees)
		return opk_nomem(ctx, "columns");
	for (size_t i = 0; i < columns->metric_count; i++)
		degrees[derived + i] = opk_metric_degree(columns->metrics[i]);
	for (size_t i = 0; !code && i < derived; i++)
		code = find_derived(degrees, ctx, columns, i);
	for (size_t i = 0; !code && i < columns->names.count; i++)
		out[i] = degrees[columns->sources[i]];
	return code;
}
