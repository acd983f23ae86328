/* SPDX-License-Identifier: BSD-2-Clause */
/* Derived metrics on a chip: their units, their formulas with numbers for constants, and what they are over. */
#include <string.h>

#include "base/ascii.h"
#include "base/buf.h"
#include "domain/formula.h"
#include "domain/resolver.h"
#include "domain/units.h"

/* ---- units */

static const char *unit_of_metric(struct opk_resolver *r, const char *name)
{
	const struct opk_metric *metric = opk_resolver_need_catalog(r) ? opk_catalog_find(r->catalog, name) : NULL;
	size_t i;

	/* 12.x describes some metrics with nothing. */
	if (!metric || !opk_catalog_find_submetric(&i, r->catalog, metric, name + strlen(metric->name))
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
		return symbols->constant[at]->unit.text;
	if (opk_index_find(&at, &r->labels, name))
		name = r->list->items[at].name;
	return unit_of_metric(r, name);
}

/* What the set says of the unit against what the formula says. */
static void compare_units(struct opk_resolver *r, struct opk_derived_state *state, const struct opk_word *declared)
{
	struct opk_unit said, computed;

	if (!declared->text || !opk_unit_try(&said, declared->text))
		return;
	if (state->unit && opk_unit_try(&computed, state->unit) && !opk_unit_equal(&said, &computed))
		opk_problems_add(&r->problems, &declared->place,
		                 "on %s the formula gives %s, not %s", r->chip,
		                 *state->unit ? state->unit : "a number without unit",
		                 *declared->text ? declared->text : "a number without unit");
	free(state->unit);
	state->unit = opk_unit_text(&said);
	r->problems.no_memory |= !state->unit;
}

static void find_unit(struct opk_resolver *r, size_t i)
{
	const struct opk_derived_symbol *derived = &r->symbols.derived[i];
	size_t count = opk_formula_name_count(derived->parsed), offset = 0;
	opk_autofree const char **units = opk_alloc_array(count + 1, sizeof *units);
	struct opk_place place;
	int code = OPK_ENOMEM;

	for (size_t j = 0; units && j < count; j++)
		units[j] = unit_of(r, opk_formula_name(derived->parsed, j));
	free(opk_take(r->states[i].unit));
	if (units)
		code = opk_formula_unit(&r->states[i].unit, r->ctx, derived->parsed, units, &offset);
	if (code == OPK_EINPUT) {
		place = opk_symbols_place(&r->symbols, derived, offset);
		opk_problems_add(&r->problems, &place, "on %s %s", r->chip,
		                 opk_error_message(r->ctx, opk_error_count(r->ctx) - 1));
	}
	r->problems.no_memory |= code == OPK_ENOMEM;
	compare_units(r, &r->states[i], &derived->unit);
}

/* ---- formulas */

/* How much of the text is a name; 0: none begins here. */
static size_t name_length(const char *text)
{
	size_t length = 0;

	if (!opk_is_letter(*text))
		return 0;
	while (opk_is_letter(text[length]) || opk_is_digit(text[length]) || text[length] == '.')
		length++;
	return length;
}

/* The e of 1e9 begins no name. */
static size_t number_length(const char *text)
{
	size_t length = 0;

	while (opk_is_digit(text[length]) || text[length] == '.')
		length++;
	if (length && (text[length] == 'e' || text[length] == 'E'))
		length += 1 + (text[length + 1] == '+' || text[length + 1] == '-');
	while (length && opk_is_digit(text[length]))
		length++;
	return length;
}

/* The shortest text that is this very number, with a point in every locale. */
static void add_number(struct opk_buf *out, double value)
{
	char text[64];
	int digits = 15;

	do
		snprintf(text, sizeof text, value < 0 ? "(%.*g)" : "%.*g", digits, value);
	while (strtod(text + (value < 0), NULL) != value && digits++ < 17);
	for (char *c = text; *c; c++)
		*c = *c == ',' ? '.' : *c;
	opk_buf_add_text(out, text);
}

/* The short name of a metric that is not for this chip stands for a number. */
static bool is_else(const struct opk_resolver *r, const char *name, size_t *at)
{
	return opk_index_find(at, &r->symbols.labels, name) && !opk_index_find(NULL, &r->labels, name);
}

static void add_name(struct opk_buf *out, struct opk_resolver *r, const char *text, size_t length)
{
	opk_autofree char *name = opk_strndup(text, length);
	size_t at;

	out->failed |= !name;
	if (name && opk_index_find(&at, &r->symbols.constants, name))
		add_number(out, *opk_resolver_value(r, r->symbols.constant[at]));
	else if (name && is_else(r, name, &at))
		add_number(out, r->symbols.label[at]->otherwise);
	else
		opk_buf_add(out, text, length);
}

/* The formula with numbers for constants and for what is not there, on one line. */
static char *final_formula(struct opk_resolver *r, const char *text)
{
	opk_autobuf struct opk_buf out = { 0 };

	while (*text) {
		size_t name = name_length(text), number = number_length(text);
		size_t length = name ? name : number ? number : 1;

		if (name)
			add_name(&out, r, text, length);
		else if (opk_is_blank(*text))
			opk_buf_add(&out, " ", out.size && out.data[out.size - 1] != ' ');
		else
			opk_buf_add(&out, text, length);
		text += length;
	}
	if (out.size && out.data[out.size - 1] == ' ')
		out.size--;
	opk_buf_add(&out, "", 1);
	return out.failed ? NULL : (char *)opk_take(out.data);
}

/* ---- the result */

/* Metrics that only formulas name join the others. */
static void add_hidden(struct opk_resolver *r, struct opk_index *hidden, const struct opk_derived_symbol *derived)
{
	for (size_t i = 0; i < opk_formula_name_count(derived->parsed); i++) {
		const char *name = opk_formula_name(derived->parsed, i);
		size_t known = i, wanted = r->out->metrics.count;
		struct opk_place place;

		if (!strstr(name, "__") || opk_entries_find(r->list, name))
			continue;
		if (!opk_index_add(hidden, name, wanted, &known))
			r->problems.no_memory = true;
		if (known != wanted)
			continue;
		place = opk_symbols_place(&r->symbols, derived, opk_formula_name_offset(derived->parsed, i));
		opk_resolver_add_metric(r, name, "", &place);
	}
}

static void add_derived(struct opk_resolver *r, size_t i)
{
	const struct opk_derived_symbol *from = &r->symbols.derived[i];
	struct opk_derived *derived = opk_append(&r->out->derived, &r->out->derived_capacity,
	                                         &r->out->derived_count, sizeof *derived);

	if (!derived) {
		r->problems.no_memory = true;
		return;
	}
	derived->name = opk_strdup(from->name.text);
	derived->formula = final_formula(r, from->formula);
	derived->unit = opk_strdup(r->states[i].unit ? r->states[i].unit : "");
	derived->description = from->description.text
	                               ? opk_symbols_substitute(&r->symbols, &r->problems, &from->description)
	                               : opk_strdup("");
	if (!derived->name || !derived->formula || !derived->unit || !derived->description)
		r->problems.no_memory = true;
}

void opk_resolve_units(struct opk_resolver *r)
{
	for (size_t i = 0; i < r->symbols.ordered && !r->code && !r->problems.no_memory; i++) {
		size_t derived = r->symbols.order[i];

		if (r->states[derived].needed && r->symbols.derived[derived].parsed)
			find_unit(r, derived);
	}
}

void opk_resolve_derived(struct opk_resolver *r)
{
	opk_autoindex struct opk_index hidden = { 0 };

	for (size_t i = 0; i < r->symbols.ordered && !r->code && !r->problems.no_memory; i++) {
		size_t derived = r->symbols.order[i];

		if (!r->states[derived].needed)
			continue;
		find_unit(r, derived);
		add_hidden(r, &hidden, &r->symbols.derived[derived]);
		add_derived(r, derived);
	}
}
