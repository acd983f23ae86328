/* SPDX-License-Identifier: BSD-2-Clause */
/* What a plan's set shows beyond plain metrics, and what it collects for formulas alone. */
#include <string.h>

#include "base/index.h"
#include "chip/chip.h"
#include "plan/plan.h"

struct opk_plan_columns {
	struct opk_plan_column *items;
	size_t count;
	struct opk_strlist units; /* of metrics, in their order */
};

static const char *unit_in(const struct opk_catalog *catalog, const char *name)
{
	const struct opk_metric *metric = opk_catalog_find(catalog, name);
	size_t i;

	return metric
	                       && opk_catalog_find_submetric(&i, catalog, metric,
	                                                     name + strlen(metric->name))
	               ? opk_catalog_submetric(catalog, metric, i).dim_unit
	               : "";
}

/* The unit of each metric of the resolved set; "" where the library has none. */
static int find_units(struct opk_plan_columns *columns, struct opk_ctx *ctx,
                      const struct opk_plan *plan)
{
	struct opk_catalog *catalog = NULL;
	int code = opk_catalog_of_set_new(&catalog, ctx, plan->target.chip, plan->target.profiler,
	                                  plan->target.single_pass);

	/* Metrics without properties have no units. */
	if (!code)
		code = opk_allow(ctx, opk_catalog_complete(catalog, ctx), OPK_EUSAGE);
	for (size_t i = 0; !code && i < plan->resolved.metrics.count; i++)
		if (!opk_strlist_add(&columns->units,
		                     unit_in(catalog, plan->resolved.metrics.items[i])))
			code = opk_nomem(ctx, "units");
	opk_catalog_free(catalog);
	return code;
}

/* ---- columns */

/* Names of the set: metrics from 0 on, then derived ones. */
struct names {
	const struct opk_resolved *set;
	struct opk_index index;
	bool *listed;
};

static bool index_names(struct names *names)
{
	const struct opk_resolved *set = names->set;
	bool ok = true;

	for (size_t i = 0; ok && i < set->metrics.count; i++)
		ok = opk_index_add(&names->index,
		                   *set->labels.items[i] ? set->labels.items[i]
		                                         : set->metrics.items[i],
		                   i, NULL);
	for (size_t i = 0; ok && i < set->derived_count; i++)
		ok = opk_index_add(&names->index, set->derived[i].name, set->metrics.count + i,
		                   NULL);
	return ok;
}

static struct opk_plan_column column_of(const struct opk_plan_columns *columns,
                                        const struct opk_resolved *set, size_t name)
{
	struct opk_plan_column column = {
		.metric = "", .formula = "", .group = "", .description = "", .prose = ""
	};

	if (name >= set->metrics.count) {
		const struct opk_meta_derived *derived = &set->derived[name - set->metrics.count];

		column.name = derived->name;
		column.formula = derived->formula;
		column.unit = derived->unit;
		column.description = derived->description;
		return column;
	}
	column.name = set->metrics.items[name];
	if (*set->labels.items[name]) {
		column.name = set->labels.items[name];
		column.metric = set->metrics.items[name];
	}
	column.unit = columns->units.items[name];
	return column;
}

static void add_shown(struct opk_plan_columns *columns, struct names *names)
{
	const struct opk_resolved *set = names->set;
	size_t at;

	for (size_t i = 0; i < set->columns.count; i++) {
		if (!opk_index_find(&at, &names->index, set->columns.items[i]))
			continue;
		names->listed[at] = true;
		columns->items[columns->count] = column_of(columns, set, at);
		columns->items[columns->count++].shown = true;
	}
	for (size_t i = 0; i < set->heading_count; i++)
		for (size_t j = 0; j < set->headings[i].count; j++) {
			struct opk_plan_column
				*column = &columns->items[set->headings[i].first + j];

			column->group = set->headings[i].title;
			column->prose = set->headings[i].text;
		}
}

/* What only formulas need: derived metrics, then metrics. */
static void add_hidden(struct opk_plan_columns *columns, const struct names *names)
{
	size_t metrics = names->set->metrics.count, all = metrics + names->set->derived_count;

	for (size_t i = metrics; i < all; i++)
		if (!names->listed[i])
			columns->items[columns->count++] = column_of(columns, names->set, i);
	for (size_t i = 0; i < metrics; i++)
		if (!names->listed[i])
			columns->items[columns->count++] = column_of(columns, names->set, i);
}

static bool says_more(const struct opk_resolved *set)
{
	bool labels = false;

	for (size_t i = 0; i < set->labels.count; i++)
		labels |= *set->labels.items[i];
	return labels || set->derived_count || set->heading_count
	       || set->shown < set->metrics.count;
}

static int fill(struct opk_plan_columns *columns, struct opk_ctx *ctx, const struct opk_plan *plan)
{
	const struct opk_resolved *set = &plan->resolved;
	size_t all = set->metrics.count + set->derived_count;
	opk_autofree bool *listed = opk_alloc_array(all + 1, sizeof *listed);
	struct names names = { .set = set, .listed = listed };
	int code = find_units(columns, ctx, plan);

	if (code)
		return code;
	columns->items = opk_alloc_array(all + 1, sizeof *columns->items);
	if (listed && columns->items && index_names(&names)) {
		add_shown(columns, &names);
		add_hidden(columns, &names);
	} else {
		code = opk_nomem(ctx, "columns");
	}
	opk_index_clear(&names.index);
	return code;
}

int opk_plan_columns_new(struct opk_plan_columns **out, struct opk_ctx *ctx,
                         const struct opk_plan *plan)
{
	struct opk_plan_columns *columns = opk_alloc(sizeof *columns);
	int code = columns ? OPK_OK : opk_nomem(ctx, "columns");

	if (!code && says_more(&plan->resolved))
		code = fill(columns, ctx, plan);
	if (code) {
		opk_plan_columns_free(columns);
		return code;
	}
	*out = columns;
	return OPK_OK;
}

void opk_plan_columns_free(struct opk_plan_columns *columns)
{
	if (!columns)
		return;
	free(columns->items);
	opk_strlist_clear(&columns->units);
	free(columns);
}

size_t opk_plan_columns_count(const struct opk_plan_columns *columns)
{
	return columns->count;
}

const struct opk_plan_column *opk_plan_columns_get(const struct opk_plan_columns *columns, size_t i)
{
	return &columns->items[i];
}
