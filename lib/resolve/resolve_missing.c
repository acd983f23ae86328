/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the derived metrics that are needed on a chip, and those that can't be computed there. */
#include <string.h>
#include <strings.h>

#include "chip/chip.h"
#include "container/container.h"
#include "formula/formula.h"
#include "resolve/resolver.h"

static const struct opk_formula *formula_of(const struct opk_resolver *r, size_t derived)
{
	return r->symbols.derived.items[derived].parsed;
}

/* ---- what is needed */

static void find_labels(struct opk_resolver *r, bool report)
{
	opk_index_clear(&r->labels);
	for (size_t i = 0; i < r->list->count; i++) {
		const struct opk_entry *entry = &r->list->items[i];
		size_t first = i;

		if (!entry->label)
			continue;
		if (!opk_index_add(&r->labels, entry->label->text, i, &first))
			r->problems.code = OPK_ENOMEM;
		else if (first != i && report)
			opk_problems_add(&r->problems, &entry->label->place,
			                 "on " OPK_THE_CHIP " '%.100s' is also the name of %.200s",
			                 entry->label->text, r->list->items[first].name);
	}
}

/* The formula of one of nvprof's names on the chip; the first formula if the chip has none. */
static int formula_of_legacy(char **out, struct opk_resolver *r, const char *formulas)
{
	opk_autofree char *chosen = NULL;

	TRY(opk_legacy_choose(&chosen, r->ctx, r->catalog, formulas));
	if (!chosen && !(chosen = opk_strndup(formulas, strcspn(formulas, "|"))))
		return opk_nomem(r->ctx, "a formula");
	return opk_legacy_expand(out, r->ctx, r->catalog, chosen);
}

static void choose_legacy(struct opk_resolver *r)
{
	struct opk_symbols *symbols = &r->symbols;

	for (size_t i = 0; i < symbols->derived.count; i++) {
		struct opk_derived_symbol *derived = &symbols->derived.items[i];

		if (!derived->legacy || !opk_resolver_need_catalog(r))
			continue;
		if (!opk_problems_stop(&r->problems, formula_of_legacy(&derived->formula, r,
		                                                       derived->legacy_formulas)))
			return;
		opk_symbols_parse(symbols, derived);
	}
}

static void need_names(struct opk_resolver *r, size_t derived)
{
	const struct opk_formula *formula = formula_of(r, derived);
	size_t used;

	for (size_t i = 0; formula && i < opk_formula_name_count(formula); i++)
		if (opk_index_find(&used, &r->symbols.names, opk_formula_name(formula, i)))
			r->states[used].needed = true;
}

static void find_needed(struct opk_resolver *r)
{
	for (size_t i = 0; i < r->symbols.derived.count; i++)
		r->states[i].needed = false;
	for (size_t i = 0; i < r->list->count; i++)
		if (r->list->items[i].derived != OPK_NOT_DERIVED)
			r->states[r->list->items[i].derived].needed = true;
	for (size_t i = r->symbols.ordered; i-- > 0;)
		if (r->states[r->symbols.order[i]].needed)
			need_names(r, r->symbols.order[i]);
}

/* ---- what is missing */

const double *opk_resolver_value(const struct opk_resolver *r, const struct opk_constant *constant)
{
	const double *value = constant->has_default ? &constant->value : NULL;

	for (size_t i = 0; i < constant->where.count; i++) {
		const char *word = constant->where.items[i].text;

		if (!strcasecmp(word, opk_chip_architecture(r->target.chip)))
			value = &constant->values[i];
		else if (opk_chip_is_meant(r->target.chip, word))
			return &constant->values[i];
	}
	return value;
}

static enum opk_lack lack_of_metric(struct opk_resolver *r, const char *name)
{
	if (opk_entries_find(r->list, name))
		return OPK_LACKS_NOTHING;
	if (opk_strlist_contains(&r->out->left_out, name))
		return OPK_LACKS_OPTIONAL;
	if (!opk_resolver_need_catalog(r) || opk_catalog_has_full(r->catalog, r->ctx, name))
		return OPK_LACKS_NOTHING;
	return OPK_LACKS_NEEDED;
}

static enum opk_lack lack_of(struct opk_resolver *r, const char *name)
{
	const struct opk_symbols *symbols = &r->symbols;
	size_t at;

	if (opk_index_find(&at, &symbols->constants, name))
		return symbols->constant.items[at]->wrong
		                       || opk_resolver_value(r, symbols->constant.items[at])
		               ? OPK_LACKS_NOTHING
		               : OPK_LACKS_NEEDED;
	if (opk_index_find(&at, &symbols->labels, name))
		return opk_index_find(NULL, &r->labels, name)
		                       || opk_strlist_contains(&r->lost_labels, name)
		                       || symbols->label.items[at]->has_else
		               ? OPK_LACKS_NOTHING
		               : OPK_LACKS_OPTIONAL;
	/* Recordings contain it, or evaluation reports that they don't. */
	if (opk_attribute_is_name(name))
		return OPK_LACKS_NOTHING;
	/* A name without "__" is not a metric: that is already reported. */
	return strstr(name, "__") ? lack_of_metric(r, name) : OPK_LACKS_NOTHING;
}

static void judge(struct opk_resolver *r, size_t derived)
{
	const struct opk_formula *formula = formula_of(r, derived);
	enum opk_lack *lack = &r->states[derived].lack;
	size_t used;

	for (size_t i = 0; formula && i < opk_formula_name_count(formula) && !r->problems.code;
	     i++) {
		const char *name = opk_formula_name(formula, i);
		enum opk_lack found = opk_index_find(&used, &r->symbols.names, name)
		                              ? r->states[used].lack
		                              : lack_of(r, name);

		if (*lack == OPK_LACKS_NOTHING || found == OPK_LACKS_OPTIONAL)
			*lack = found;
	}
}

static void report_missing_name(struct opk_resolver *r, const struct opk_derived_symbol *derived,
                                size_t i)
{
	const char *name = opk_formula_name(derived->parsed, i);
	struct opk_place place = opk_symbols_place(&r->symbols, derived,
	                                           opk_formula_name_offset(derived->parsed, i));

	if (strstr(name, "__"))
		opk_resolver_explain(r, name, &place);
	else
		opk_problems_add(&r->problems, &place,
		                 "constant %.100s has no value for " OPK_THE_CHIP
		                 ": give it one, or a default",
		                 name);
}

static void report_no_counterpart(struct opk_resolver *r, const struct opk_derived_symbol *derived)
{
	opk_autolegacyrow struct opk_legacy_row row = { 0 };
	opk_autofree char *lack = NULL;
	int code = opk_legacy_find(&row, r->ctx, derived->legacy);

	if (!code)
		code = opk_legacy_lack(&lack, r->ctx, r->catalog, &row);
	if (opk_problems_stop(&r->problems, code))
		opk_problems_add(&r->problems, &derived->name.place,
		                 "nvprof's %.100s has no counterpart on " OPK_THE_CHIP "%s: %s",
		                 derived->legacy, opk_profiler_phrase(r->target.profiler), lack);
}

/* Reports what the formula itself lacks; formulas that it uses report what they lack. */
static void report_missing(struct opk_resolver *r, size_t derived)
{
	const struct opk_formula *formula = formula_of(r, derived);
	size_t used;

	if (r->symbols.derived.items[derived].legacy) {
		report_no_counterpart(r, &r->symbols.derived.items[derived]);
		return;
	}
	for (size_t i = 0; formula && i < opk_formula_name_count(formula); i++) {
		const char *name = opk_formula_name(formula, i);

		if (opk_index_find(&used, &r->symbols.names, name))
			r->states[used].blamed |= r->states[used].lack == OPK_LACKS_NEEDED;
		else if (lack_of(r, name) == OPK_LACKS_NEEDED)
			report_missing_name(r, &r->symbols.derived.items[derived], i);
	}
}

/* A formula is reported after the formulas that it uses. */
static void report_blamed(struct opk_resolver *r)
{
	for (size_t i = r->symbols.ordered; i-- > 0;)
		if (r->states[r->symbols.order[i]].blamed)
			report_missing(r, r->symbols.order[i]);
}

/* Returns whether the entry leaves the list. */
static bool leaves(struct opk_resolver *r, const struct opk_entry *entry,
                   struct opk_derived_state *state)
{
	bool out = state->lack == OPK_LACKS_OPTIONAL || entry->optional;

	if (out)
		opk_resolver_leave_out(r, entry->name);
	else
		state->blamed = true;
	return out;
}

/* Drops the derived metrics for which the chip lacks something. */
static void drop(struct opk_resolver *r)
{
	opk_autofree bool *marked = opk_alloc_array(r->list->count + 1, sizeof *marked);
	size_t dropped = 0;

	for (size_t i = 0; marked && i < r->list->count; i++) {
		const struct opk_entry *entry = &r->list->items[i];

		if (entry->derived == OPK_NOT_DERIVED
		    || r->states[entry->derived].lack == OPK_LACKS_NOTHING)
			continue;
		marked[i] = leaves(r, entry, &r->states[entry->derived]);
		dropped += marked[i];
	}
	opk_problems_need(&r->problems, marked);
	if (marked && dropped)
		opk_entries_drop(r->list, &r->problems, marked);
	report_blamed(r);
}

void opk_resolve_missing(struct opk_resolver *r)
{
	find_labels(r, true);
	choose_legacy(r);
	find_needed(r);
	for (size_t i = 0; i < r->symbols.ordered && !r->problems.code; i++)
		if (r->states[r->symbols.order[i]].needed)
			judge(r, r->symbols.order[i]);
	if (r->problems.code)
		return;
	drop(r);
	/* Entries have moved. */
	find_labels(r, false);
	find_needed(r);
}
