/* SPDX-License-Identifier: BSD-2-Clause */
/* Any text as a formula; if it parses, it has a value and a unit. */
#include <stdlib.h>
#include <string.h>

#include "formula/formula.h"
#include "fuzz.h"

static void use(struct opk_ctx *ctx, const struct opk_formula *formula)
{
	static const char *const some[] = { "byte", "byte/second", "", "percent", NULL, "?" };
	size_t count = opk_formula_name_count(formula), offset;
	const char *units[OPK_MAX_FORMULA_NAMES];
	double values[OPK_MAX_FORMULA_NAMES];
	char *unit;

	for (size_t i = 0; i < count; i++) {
		const char *name = opk_formula_name(formula, i);

		values[i] = (double)i - 1;
		units[i] = some[strlen(name) % (sizeof some / sizeof *some)];
	}
	opk_formula_value(formula, values);
	if (!opk_formula_unit(&unit, ctx, formula, units, &offset))
		free(unit);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct opk_ctx *ctx = fuzz_ctx();
	char *text = malloc(size + 1);
	struct opk_formula *formula;
	size_t offset = 0;

	memcpy(text, data, size);
	text[size] = '\0';
	if (!opk_formula_parse(&formula, ctx, text, &offset)) {
		use(ctx, formula);
		opk_formula_free(formula);
	} else if (offset > strlen(text)) {
		abort();
	}
	free(text);
	opk_ctx_free(ctx);
	return 0;
}
