/* SPDX-License-Identifier: BSD-2-Clause */
/* Metrics that the chip's catalog lists, and CUPTI refuses: told beside a set's other errors. */
#include <string.h>

#include "formula/formula.h"
#include "resolve/resolver.h"

/* What the set wants of the chip, each once, and where it says so. */
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
		w->r->problems.no_memory = true;
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
	for (size_t i = 0; i < r->symbols.derived_count; i++)
		if (r->states[i].needed && r->symbols.derived[i].parsed)
			want_names(&w, &r->symbols.derived[i]);
	refused.names = w.names;
	refused.count = w.count;
	if (!r->problems.no_memory && !opk_problems_full(&r->problems))
		r->code = opk_find_refused(r->ctx, &refused);
	opk_index_clear(&w.seen);
	free(w.names);
	free(w.places);
}
