/* SPDX-License-Identifier: BSD-2-Clause */
/* A resolved set of which only some metrics are left: what they don't suffice for goes, too. */
#include <string.h>

#include "base/index.h"
#include "formula/formula.h"
#include "resolve/resolver.h"

/* What is still there, by name: metrics, labels, derived metrics. */
struct kept {
	struct opk_index metrics, names;
	struct opk_strlist used; /* by formulas that are kept */
	bool no_memory;
};

static void add(struct kept *kept, struct opk_index *index, const char *name)
{
	kept->no_memory |= !opk_index_add(index, name, 0, NULL);
}

static void drop_item(struct opk_strlist *list, size_t from, size_t to)
{
	if (to != from)
		list->items[to] = list->items[from];
}

static void keep_metrics(struct kept *kept, struct opk_resolved *resolved)
{
	size_t count = 0, shown = 0;

	for (size_t i = 0; i < resolved->metrics.count; i++) {
		if (!opk_index_find(NULL, &kept->metrics, resolved->metrics.items[i])) {
			free(resolved->metrics.items[i]);
			free(resolved->labels.items[i]);
			continue;
		}
		add(kept, &kept->names, resolved->metrics.items[i]);
		if (*resolved->labels.items[i])
			add(kept, &kept->names, resolved->labels.items[i]);
		drop_item(&resolved->metrics, i, count);
		drop_item(&resolved->labels, i, count);
		resolved->marks[count++] = resolved->marks[i];
		shown += i < resolved->shown;
	}
	resolved->metrics.count = resolved->labels.count = count;
	resolved->shown = shown;
}

static int has_all(bool *out, struct opk_ctx *ctx, struct kept *kept, const char *text)
{
	opk_auto(opk_formula) struct opk_formula *formula = NULL;
	int code = opk_formula_parse(&formula, ctx, text, NULL);

	*out = true;
	for (size_t i = 0; !code && i < opk_formula_name_count(formula); i++)
		*out &= opk_index_find(NULL, &kept->names, opk_formula_name(formula, i));
	for (size_t i = 0; !code && *out && i < opk_formula_name_count(formula); i++)
		kept->no_memory |= !opk_strlist_add(&kept->used, opk_formula_name(formula, i));
	return code;
}

static int keep_derived(struct kept *kept, struct opk_ctx *ctx, struct opk_resolved *resolved)
{
	size_t count = 0;
	int code = OPK_OK;

	for (size_t i = 0; i < resolved->derived_count; i++) {
		struct opk_meta_derived *derived = &resolved->derived[i];
		bool keeps = true;

		if (!code)
			code = has_all(&keeps, ctx, kept, derived->formula);
		if (keeps) {
			add(kept, &kept->names, derived->name);
			resolved->derived[count++] = *derived;
			continue;
		}
		opk_derived_clear(derived);
	}
	resolved->derived_count = count;
	return code;
}

/* Headings lose the columns that go, and go with the last. */
static void shrink_headings(struct opk_resolved *resolved, size_t column)
{
	for (size_t i = 0; i < resolved->heading_count; i++) {
		struct opk_meta_heading *heading = &resolved->headings[i];

		if (column < heading->first)
			heading->first--;
		else if (column < heading->first + heading->count)
			heading->count--;
	}
}

static void drop_headings(struct opk_resolved *resolved)
{
	size_t count = 0;

	for (size_t i = 0; i < resolved->heading_count; i++) {
		if (resolved->headings[i].count)
			resolved->headings[count++] = resolved->headings[i];
		else
			opk_heading_clear(&resolved->headings[i]);
	}
	resolved->heading_count = count;
}

static void keep_columns(const struct kept *kept, struct opk_resolved *resolved)
{
	size_t count = 0, listed = 0;

	for (size_t i = 0; i < resolved->columns.count; i++) {
		if (!opk_index_find(NULL, &kept->names, resolved->columns.items[i])) {
			free(resolved->columns.items[i]);
			shrink_headings(resolved, count);
			continue;
		}
		drop_item(&resolved->columns, i, count++);
		listed += i < resolved->listed;
	}
	resolved->columns.count = count;
	resolved->listed = listed;
	drop_headings(resolved);
}

static void move_item(struct opk_strlist *list, size_t from, size_t to)
{
	char *item = list->items[from];

	memmove(list->items + to + 1, list->items + to, (from - to) * sizeof item);
	list->items[to] = item;
}

/* What was collected for formulas that are gone is worth a column of its own. */
static void show_unused(struct kept *kept, struct opk_resolved *resolved)
{
	opk_strlist_sort(&kept->used);
	for (size_t i = resolved->shown; i < resolved->metrics.count; i++) {
		const char *name = resolved->metrics.items[i];
		struct opk_place mark = resolved->marks[i];
		size_t to = resolved->shown;

		if (opk_strlist_contains_sorted(&kept->used, name))
			continue;
		kept->no_memory |= !opk_strlist_add(&resolved->columns, name);
		move_item(&resolved->metrics, i, to);
		move_item(&resolved->labels, i, to);
		memmove(resolved->marks + to + 1, resolved->marks + to, (i - to) * sizeof mark);
		resolved->marks[to] = mark;
		resolved->shown++;
	}
}

int opk_resolved_keep(struct opk_resolved *resolved, struct opk_ctx *ctx, const char *name,
                      const struct opk_strlist *metrics)
{
	struct kept kept = { 0 };
	opk_autofree char *hash = NULL;
	int code = OPK_OK;

	for (size_t i = 0; i < metrics->count; i++)
		add(&kept, &kept.metrics, metrics->items[i]);
	if (!kept.no_memory) {
		keep_metrics(&kept, resolved);
		code = keep_derived(&kept, ctx, resolved);
		keep_columns(&kept, resolved);
		show_unused(&kept, resolved);
		hash = opk_resolved_hash(resolved, ctx, name);
	}
	opk_index_clear(&kept.metrics);
	opk_index_clear(&kept.names);
	opk_strlist_clear(&kept.used);
	if (code)
		return code;
	if (kept.no_memory || !hash)
		return opk_nomem(ctx, "a plan");
	free(resolved->hash);
	resolved->hash = opk_take(hash);
	return OPK_OK;
}
