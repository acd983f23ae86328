/* SPDX-License-Identifier: BSD-2-Clause */
/* Derived metrics on a chip: their units, metrics, and formulas with numbers for constants. */
#include <string.h>

#include "container/container.h"
#include "formula/formula.h"
#include "resolve/resolver.h"

/* ---- units */

static const char *unit_of_metric(struct opk_resolver *r, const char *name)
{
	const struct opk_metric *metric = opk_resolver_need_catalog(r)
	                                          ? opk_catalog_find(r->catalog, name)
	                                          : NULL;
	size_t i;

	/* 12.x describes some metrics with empty text. */
	if (!metric
	    || !opk_catalog_find_submetric(&i, r->catalog, metric, name + strlen(metric->name))
	    || (!*metric->hw_unit && !*metric->dim_unit && !*metric->description))
		return NULL;
	return opk_catalog_submetric(r->catalog, metric, i).dim_unit;
}

static const char *unit_of(struct opk_resolver *r, const char *name)
{
	const struct opk_symbols *symbols = &r->symbols;
	size_t at;

	if (opk_index_find(&at, &symbols->names, name))
		return r->states[at].unit;
	if (opk_index_find(&at, &symbols->constants, name))
		return symbols->constant.items[at]->unit.text;
	if (opk_index_find(&at, &r->labels, name))
		name = r->list->items[at].name;
	if (opk_attribute_is_name(name))
		return *opk_attribute_unit(name) ? opk_attribute_unit(name) : NULL;
	return unit_of_metric(r, name);
}

/*
 * Compares the unit that the set gives with the formula's unit. The table of nvprof's names is more
 * reliable than a formula: its operations are counted by instructions.
 */
static void compare_units(struct opk_resolver *r, struct opk_derived_state *state,
                          const struct opk_derived_symbol *derived)
{
	const struct opk_word *declared = &derived->unit;
	struct opk_unit said, computed;

	if (!declared->text || !opk_unit_try(&said, declared->text))
		return;
	if (!derived->legacy_unit && state->unit && opk_unit_try(&computed, state->unit)
	    && !opk_unit_equal(&said, &computed))
		opk_problems_add(&r->problems, &declared->place,
		                 "on " OPK_THE_CHIP " the formula gives %s, not %s",
		                 *state->unit ? state->unit : "a number without unit",
		                 *declared->text ? declared->text : "a number without unit");
	free(state->unit);
	state->unit = opk_unit_text(&said);
	opk_problems_need(&r->problems, state->unit);
}

static void find_unit(struct opk_resolver *r, size_t i)
{
	const struct opk_derived_symbol *derived = &r->symbols.derived.items[i];
	size_t count = opk_formula_name_count(derived->parsed), offset = 0;
	opk_autofree const char **units = opk_alloc_array(count + 1, sizeof *units);
	struct opk_place place;
	int code = OPK_ENOMEM;

	for (size_t j = 0; units && j < count; j++)
		units[j] = unit_of(r, opk_formula_name(derived->parsed, j));
	free(opk_take(r->states[i].unit));
	if (units)
		code = opk_formula_unit(&r->states[i].unit, r->ctx, derived->parsed, units,
		                        &offset);
	if (code == OPK_EINPUT) {
		place = opk_symbols_place(&r->symbols, derived, offset);
		opk_problems_add(&r->problems, &place, "on " OPK_THE_CHIP " %s",
		                 opk_outermost(r->ctx));
	}
	opk_problems_need(&r->problems, code != OPK_ENOMEM);
	compare_units(r, &r->states[i], derived);
}

/* ---- formulas */

/* A number that replaces a constant, or a metric that the chip lacks, in a formula. */
struct value_text {
	struct opk_resolver *r;
	char text[64];
};

/* The shortest text that reads back as this number, with a point in every locale. */
static void write_number(char text[64], double value)
{
	int digits = 15;

	do
		snprintf(text, 64, value < 0 ? "(%.*g)" : "%.*g", digits, value);
	while (strtod(text + (value < 0), NULL) != value && digits++ < 17);
	for (char *c = text; *c; c++)
		*c = *c == ',' ? '.' : *c;
}

/* The short name of a metric that is not for this chip: `else` gives its number. */
static bool is_else(const struct opk_resolver *r, const char *name, size_t *at)
{
	return opk_index_find(at, &r->symbols.labels, name)
	       && !opk_index_find(NULL, &r->labels, name);
}

/* NULL: keep the name. */
static const char *value_of(void *data, const char *name)
{
	struct value_text *value = data;
	size_t at;

	if (opk_index_find(&at, &value->r->symbols.constants, name))
		write_number(value->text,
		             *opk_resolver_value(value->r, value->r->symbols.constant.items[at]));
	else if (is_else(value->r, name, &at))
		write_number(value->text, value->r->symbols.label.items[at]->otherwise);
	else
		return NULL;
	return value->text;
}

/* ---- the result */

/* Adds the metrics that only formulas name. */
static void add_hidden(struct opk_resolver *r, struct opk_index *hidden,
                       const struct opk_derived_symbol *derived)
{
	for (size_t i = 0; i < opk_formula_name_count(derived->parsed); i++) {
		const char *name = opk_formula_name(derived->parsed, i);
		size_t known = i, wanted = r->out->metrics.count;
		struct opk_place place;

		if (!strstr(name, "__") || opk_attribute_is_name(name)
		    || opk_entries_find(r->list, name))
			continue;
		if (!opk_index_add(hidden, name, wanted, &known))
			r->problems.code = OPK_ENOMEM;
		if (known != wanted)
			continue;
		place = opk_symbols_place(&r->symbols, derived,
		                          opk_formula_name_offset(derived->parsed, i));
		opk_resolver_add_metric(r, name, "", &place);
	}
}

static void add_derived(struct opk_resolver *r, size_t i)
{
	const struct opk_derived_symbol *from = &r->symbols.derived.items[i];
	const char *unit = r->states[i].unit; /* "" means that it has no unit */
	struct value_text value = { .r = r };
	struct opk_meta_derived *derived = opk_append(&r->out->derived, &r->out->derived_capacity,
	                                              &r->out->derived_count, sizeof *derived);

	if (!opk_problems_need(&r->problems, derived))
		return;
	derived->name = opk_strdup(from->name.text);
	derived->formula = opk_formula_text(from->parsed, from->formula, value_of, &value);
	derived->unit = opk_strdup(unit && !*unit ? "unitless" : unit ? unit : "");
	derived->description = from->description.text
	                               ? opk_symbols_substitute(&r->symbols, &from->description)
	                               : opk_strdup("");
	if (!derived->name || !derived->formula || !derived->unit || !derived->description)
		r->problems.code = OPK_ENOMEM;
}

void opk_resolve_units(struct opk_resolver *r)
{
	for (size_t i = 0; i < r->symbols.ordered && !r->problems.code; i++) {
		size_t derived = r->symbols.order[i];

		if (r->states[derived].needed && r->symbols.derived.items[derived].parsed)
			find_unit(r, derived);
	}
}

void opk_resolve_derived(struct opk_resolver *r)
{
	opk_autoindex struct opk_index hidden = { 0 };

	for (size_t i = 0; i < r->symbols.ordered && !r->problems.code; i++) {
		size_t derived = r->symbols.order[i];

		if (!r->states[derived].needed)
			continue;
		find_unit(r, derived);
		add_hidden(r, &hidden, &r->symbols.derived.items[derived]);
		add_derived(r, derived);
	}
}
