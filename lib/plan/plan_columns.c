/* SPDX-License-Identifier: BSD-2-Clause */
/* What a plan's set shows besides plain metrics, and what it collects only for formulas. */
#include <string.h>

#include "base/index.h"
#include "base/listing.h"
#include "chip/chip.h"
#include "plan/plan.h"

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

OPK_DEFINE_AUTO(opk_catalog)

/* The unit of each metric of the resolved set; "" where the library has none. */
static int find_units(struct opk_strlist *units, struct opk_ctx *ctx, const struct opk_plan *plan)
{
	opk_auto(opk_catalog) struct opk_catalog *catalog = NULL;

	TRY(opk_catalog_of_set_new(&catalog, ctx, plan->target.chip, plan->target.profiler,
	                           plan->target.single_pass));
	/* Metrics without properties have no units. */
	TRY(opk_allow(ctx, opk_catalog_complete(catalog, ctx), OPK_EUSAGE));
	for (size_t i = 0; i < plan->resolved.metrics.count; i++)
		if (!opk_strlist_add(units, unit_in(catalog, plan->resolved.metrics.items[i])))
			return opk_nomem(ctx, "units");
	return OPK_OK;
}

/* ---- columns */

/* Names of the set: metrics from 0 on, then derived ones. */
struct names {
	const struct opk_resolved *set;
	struct opk_index index;
	struct opk_strlist units; /* of metrics */
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

static void add_derived(struct opk_listing *rows, const struct opk_meta_derived *derived,
                        const struct opk_meta_heading *heading, bool shown)
{
	opk_listing_row(rows, cell_text(derived->name), cell_flag(shown), cell_text(derived->unit),
	                cell_text(heading->title), cell_text(""), cell_text(derived->formula),
	                cell_text(derived->description), cell_text(heading->text));
}

static void add_row(struct opk_listing *rows, const struct names *names, size_t name,
                    const struct opk_meta_heading *heading, bool shown)
{
	static const struct opk_meta_heading none = { .title = "", .text = "" };
	const struct opk_resolved *set = names->set;
	const char *label, *metric;

	heading = heading ? heading : &none;
	if (name >= set->metrics.count) {
		add_derived(rows, &set->derived[name - set->metrics.count], heading, shown);
		return;
	}
	label = set->labels.items[name];
	metric = set->metrics.items[name];
	opk_listing_row(rows, cell_text(*label ? label : metric), cell_flag(shown),
	                cell_text(names->units.items[name]), cell_text(heading->title),
	                cell_text(*label ? metric : ""), cell_text(""), cell_text(""),
	                cell_text(heading->text));
}

static const struct opk_meta_heading *heading_over(const struct opk_resolved *set, size_t column)
{
	for (size_t i = 0; i < set->heading_count; i++)
		if (column - set->headings[i].first < set->headings[i].count)
			return &set->headings[i];
	return NULL;
}

static void add_shown(struct opk_listing *rows, struct names *names)
{
	const struct opk_resolved *set = names->set;
	size_t at, count = 0;

	for (size_t i = 0; i < set->columns.count; i++) {
		if (!opk_index_find(&at, &names->index, set->columns.items[i]))
			continue;
		names->listed[at] = true;
		add_row(rows, names, at, heading_over(set, count++), true);
	}
}

/* Lists what only formulas need: derived metrics, then metrics. */
static void add_hidden(struct opk_listing *rows, const struct names *names)
{
	size_t metrics = names->set->metrics.count, all = metrics + names->set->derived_count;

	for (size_t i = metrics; i < all; i++)
		if (!names->listed[i])
			add_row(rows, names, i, NULL, false);
	for (size_t i = 0; i < metrics; i++)
		if (!names->listed[i])
			add_row(rows, names, i, NULL, false);
}

static bool says_more(const struct opk_resolved *set)
{
	bool labels = false;

	for (size_t i = 0; i < set->labels.count; i++)
		labels |= *set->labels.items[i];
	return labels || set->derived_count || set->heading_count
	       || set->shown < set->metrics.count;
}

static void clear(struct names *names)
{
	opk_index_clear(&names->index);
	opk_strlist_clear(&names->units);
}

int opk_plan_add_columns(struct opk_listing *rows, struct opk_ctx *ctx, const struct opk_plan *plan)
{
	const struct opk_resolved *set = &plan->resolved;
	size_t all = set->metrics.count + set->derived_count;
	opk_autofree bool *listed = opk_alloc_array(all + 1, sizeof *listed);
	__attribute__((cleanup(clear))) struct names names = { .set = set, .listed = listed };

	if (!says_more(set))
		return OPK_OK;
	TRY(find_units(&names.units, ctx, plan));
	if (!(listed && index_names(&names)))
		return opk_nomem(ctx, "columns");
	add_shown(rows, &names);
	add_hidden(rows, &names);
	return OPK_OK;
}
