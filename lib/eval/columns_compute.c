/* SPDX-License-Identifier: BSD-2-Clause */
/* Values, counts and units of columns from those of metrics. */
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

/* Units that don't go together were reported with the set; here the unit is unknown. */
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
	/* PerfWorks' word: "" would mean that the unit is unknown. */
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
	for (size_t i = 0; i < columns->derived_count; i++) {
		if (columns->derived[i].formula && !columns->derived[i].unit)
			TRY(compute_unit(columns, ctx, i, units));
	}
	return OPK_OK;
}
