/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Handles metrics that the chip's catalog lists but CUPTI refuses: optional ones are tried and left
 * out, the others are reported with the set's other errors.
 */
#include <string.h>

#include "adapters/nv/nv.h"
#include "formula/formula.h"
#include "resolve/resolver.h"

/* ---- optional ones */

bool opk_resolver_plans(struct opk_resolver *r, const char *name)
{
	opk_autoresult struct opk_schedule_result result = { 0 };
	struct opk_errors_mark mark;
	int code;

	if (r->excerpt)
		return opk_catalog_has_full(r->catalog, r->ctx, name);
	opk_errors_mark(&mark, r->ctx);
	code = opk_schedule_try(&result, r->ctx, &r->target, &name, 1);
	if (code && !opk_nv_refused(r->ctx, code))
		opk_problems_stop(&r->problems, opk_errors_keep(r->ctx, &mark, code));
	else
		opk_errors_rewind(r->ctx, &mark);
	return !code;
}

static bool mark(void *data, size_t i, const char *reason)
{
	bool *refused = data;

	(void)reason;
	refused[i] = true;
	return true;
}

static bool may_be_left_out(const struct opk_entry *entry)
{
	return entry->derived == OPK_NOT_DERIVED && entry->optional;
}

/* Removes the refused metrics from the list. */
static void drop_refused(struct opk_resolver *r, const bool *refused)
{
	opk_autofree bool *marked = opk_alloc_array(r->list->count + 1, sizeof *marked);
	size_t at = 0;

	for (size_t i = 0; marked && i < r->list->count; i++) {
		const struct opk_entry *entry = &r->list->items[i];

		marked[i] = may_be_left_out(entry) && refused[at++];
		if (marked[i])
			opk_resolver_leave_out(r, entry->label ? entry->label->text : entry->name);
	}
	opk_problems_need(&r->problems, marked);
	if (marked)
		opk_entries_drop(r->list, &r->problems, marked);
}

/* What is tried: optional entries, and metrics that only formulas of optional entries need. */
struct trial {
	const char **names;
	size_t count, capacity;
};

static void add_name(struct opk_resolver *r, struct trial *trial, const char *name)
{
	if (opk_grow(&trial->names, &trial->capacity, trial->count, sizeof *trial->names))
		trial->names[trial->count++] = name;
	else
		r->problems.code = OPK_ENOMEM;
}

static void add_operands(struct opk_resolver *r, struct trial *trial, size_t derived,
                         bool *optional)
{
	const struct opk_formula *formula = r->symbols.derived.items[derived].parsed;
	size_t used;

	for (size_t i = 0; formula && i < opk_formula_name_count(formula); i++) {
		const char *name = opk_formula_name(formula, i);

		if (opk_index_find(&used, &r->symbols.names, name))
			optional[used] = true;
		else if (strstr(name, "__") && !opk_entries_find(r->list, name)
		         && opk_resolver_need_catalog(r)
		         && opk_catalog_has_full(r->catalog, r->ctx, name))
			add_name(r, trial, name);
	}
}

static void add_all_operands(struct opk_resolver *r, struct trial *trial)
{
	opk_autofree bool *optional = opk_alloc_array(r->symbols.derived.count + 1,
	                                              sizeof *optional);

	opk_problems_need(&r->problems, optional);
	for (size_t i = 0; optional && i < r->list->count; i++)
		if (r->list->items[i].derived != OPK_NOT_DERIVED && r->list->items[i].optional)
			optional[r->list->items[i].derived] = true;
	/* Each derived metric is after those that it uses. */
	for (size_t i = r->symbols.ordered; optional && i-- > 0;)
		if (optional[r->symbols.order[i]])
			add_operands(r, trial, r->symbols.order[i], optional);
}

static void try(struct opk_resolver *r, const struct trial *trial, size_t entries)
{
	opk_autofree bool *refused = opk_alloc_array(trial->count + 1, sizeof *refused);
	/* PM sampling has one pass, so a metric that needs two can't be sampled. */
	struct opk_refused find = { .target = &r->target,
		                    .names = trial->names,
		                    .count = trial->count,
		                    .max_passes = r->target.profiler == OPK_PROFILER_PM,
		                    .report = mark,
		                    .data = refused };

	opk_problems_need(&r->problems, refused);
	if (refused)
		opk_problems_stop(&r->problems, opk_find_refused(r->ctx, &find));
	if (!refused || r->problems.code)
		return;
	/* resolve_missing.c also leaves out derived metrics that need what is left out here. */
	for (size_t i = entries; i < trial->count; i++)
		if (refused[i])
			opk_resolver_leave_out(r, trial->names[i]);
	if (memchr(refused, true, entries))
		drop_refused(r, refused);
}

void opk_resolve_optional(struct opk_resolver *r)
{
	struct trial trial = { 0 };
	size_t entries;

	if (r->excerpt)
		return;
	for (size_t i = 0; i < r->list->count; i++)
		if (may_be_left_out(&r->list->items[i]))
			add_name(r, &trial, r->list->items[i].name);
	entries = trial.count;
	add_all_operands(r, &trial);
	if (trial.count && !r->problems.code)
		try(r, &trial, entries);
	free(trial.names);
}

/* ---- the others */

/* Names that the set wants from the chip, each once, with their places. */
struct wanted {
	struct opk_resolver *r;
	struct opk_index seen;
	const char **names;
	struct opk_place *places;
	size_t count, capacity, place_capacity;
};

static void want(struct wanted *w, const char *name, const struct opk_place *place)
{
	size_t known = w->count;

	if (!strstr(name, "__") || !opk_catalog_has_full(w->r->catalog, w->r->ctx, name))
		return;
	if (!opk_grow(&w->names, &w->capacity, w->count, sizeof *w->names)
	    || !opk_grow(&w->places, &w->place_capacity, w->count, sizeof *w->places)
	    || !opk_index_add(&w->seen, name, w->count, &known)) {
		w->r->problems.code = OPK_ENOMEM;
		return;
	}
	if (known != w->count)
		return;
	w->names[w->count] = name;
	w->places[w->count++] = *place;
}

static void want_names(struct wanted *w, const struct opk_derived_symbol *derived)
{
	for (size_t i = 0; i < opk_formula_name_count(derived->parsed); i++) {
		struct opk_place place = opk_symbols_place(&w->r->symbols, derived,
		                                           opk_formula_name_offset(derived->parsed,
		                                                                   i));

		want(w, opk_formula_name(derived->parsed, i), &place);
	}
}

static bool report(void *data, size_t i, const char *reason)
{
	struct wanted *w = data;

	opk_refused_problem(&w->r->problems, &w->places[i], &w->r->target, w->names[i], reason);
	return !opk_problems_full(&w->r->problems);
}

void opk_resolve_refused(struct opk_resolver *r)
{
	struct wanted w = { .r = r };
	struct opk_refused refused = { .target = &r->target, .report = report, .data = &w };

	for (size_t i = 0; i < r->list->count; i++)
		if (r->list->items[i].derived == OPK_NOT_DERIVED)
			want(&w, r->list->items[i].name, &r->list->items[i].place);
	for (size_t i = 0; i < r->symbols.derived.count; i++)
		if (r->states[i].needed && r->symbols.derived.items[i].parsed)
			want_names(&w, &r->symbols.derived.items[i]);
	refused.names = w.names;
	refused.count = w.count;
	if (!r->problems.code && !opk_problems_full(&r->problems))
		opk_problems_stop(&r->problems, opk_find_refused(r->ctx, &refused));
	opk_index_clear(&w.seen);
	free(w.names);
	free(w.places);
}
