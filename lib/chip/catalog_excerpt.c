/* SPDX-License-Identifier: BSD-2-Clause */
/* What a recording with values says of its metrics, in place of the chip's catalog. */
#include <string.h>

#include "baked/baked.h"
#include "chip/chip.h"

/* ---- from a recording ------------------------------------------------------------------------ */

static int add_suffixes(struct opk_catalog_table *table, struct opk_base_record *base,
                        const struct opk_baked_metric *metric)
{
	for (size_t i = 0; i < metric->suffix_count; i++) {
		struct opk_sub_record sub = { 0 };

		if (!opk_catalog_table_text(&sub.suffix, table, metric->suffixes[i].name)
		    || !opk_catalog_table_text(&sub.dim_unit, table, metric->suffixes[i].value)
		    || !opk_catalog_table_add(table, base, &sub))
			return OPK_ENOMEM;
	}
	return OPK_OK;
}

static int fill(struct opk_catalog_table *table, struct opk_ctx *ctx, const struct opk_baked *baked)
{
	if (!opk_catalog_table_init(table, baked->metric_count))
		return opk_nomem(ctx, "metrics");
	for (size_t i = 0; i < baked->metric_count; i++) {
		const struct opk_baked_metric *metric = &baked->metrics[i];
		struct opk_base_record *base = &table->bases[i];
		enum opk_metric_type type;

		if (i && strcmp(metric[-1].name, metric->name) >= 0)
			return opk_fail(ctx, OPK_EINPUT,
			                "the metrics of its values are not sorted");
		if (!opk_metric_type_parse(&type, metric->type))
			return opk_fail(ctx, OPK_EINPUT, "'%s' is not a type of metrics",
			                metric->type);
		base->type = type;
		if (!opk_catalog_table_text(&base->name, table, metric->name)
		    || !opk_catalog_table_text(&base->hw_unit, table, metric->hw_unit)
		    || !opk_catalog_table_text(&base->dim_unit, table, metric->unit)
		    || !opk_catalog_table_text(&base->description, table, metric->description)
		    || add_suffixes(table, base, metric))
			return opk_nomem(ctx, "metrics");
	}
	return OPK_OK;
}

int opk_catalog_of_file(struct opk_catalog **out, struct opk_ctx *ctx, const struct opk_file *file,
                        const char *chip, enum opk_profiler profiler)
{
	opk_auto(opk_baked_file) struct opk_baked_file *baked = NULL;
	opk_autotable struct opk_catalog_table table = { 0 };

	*out = NULL;
	TRY(opk_baked_open(&baked, ctx, file));
	if (!baked || !opk_baked_get(baked)->metric_count)
		return OPK_OK;
	TRY(fill(&table, ctx, opk_baked_get(baked)));
	return opk_catalog_of_table(out, ctx, &table, chip, profiler);
}

/* ---- for a recording ------------------------------------------------------------------------- */

static const char tensor[] = "__ops_path_tensor_";

/* Whether the chip counts sparse operands, too, decides what a share of a peak means. */
static bool is_beside(const char *base, const struct opk_strlist *names)
{
	if (!strstr(base, tensor) || !strstr(base, "_sparsity_on"))
		return false;
	for (size_t i = 0; i < names->count; i++)
		if (strstr(names->items[i], tensor))
			return true;
	return false;
}

static struct opk_baked_metric *begin_metric(struct opk_excerpt *out,
                                             const struct opk_metric *metric)
{
	struct opk_baked_metric *item = &out->items[out->count++];

	*item = (struct opk_baked_metric){
		.name = metric->name,
		.type = opk_metric_type_name(metric->type),
		.hw_unit = metric->hw_unit,
		.unit = metric->dim_unit,
		.description = metric->description,
	};
	return item;
}

static bool has_base(const struct opk_strlist *names, const char *base)
{
	size_t length = strlen(base);

	for (size_t i = 0; i < names->count; i++)
		if (opk_base_length(names->items[i]) == length
		    && !strncmp(names->items[i], base, length))
			return true;
	return false;
}

/* Keeps the catalog's order of suffixes, in which patterns find them. */
static int add_suffixes_of(struct opk_excerpt *out, size_t *used, struct opk_ctx *ctx,
                           const struct opk_catalog *catalog, const struct opk_metric *metric)
{
	struct opk_baked_metric *item = begin_metric(out, metric);

	item->suffixes = &out->suffixes[*used];
	for (size_t i = 0; i < opk_catalog_submetric_count(catalog, metric); i++) {
		struct opk_submetric sub = opk_catalog_submetric(catalog, metric, i);
		opk_autofree char *name = opk_printf("%s%s", metric->name, sub.suffix);

		if (!name)
			return opk_nomem(ctx, "metrics");
		if (!opk_strlist_contains_sorted(&out->names, name))
			continue;
		out->suffixes[(*used)++] = (struct opk_property){ sub.suffix, sub.dim_unit };
		item->suffix_count++;
	}
	return OPK_OK;
}

int opk_excerpt_make(struct opk_excerpt *out, struct opk_ctx *ctx,
                     const struct opk_catalog *catalog, const struct opk_strlist *names)
{
	size_t bases = opk_catalog_count(catalog), used = 0;

	for (size_t i = 0; i < names->count; i++)
		if (!opk_strlist_add(&out->names, names->items[i]))
			return opk_nomem(ctx, "metrics");
	opk_strlist_sort_unique(&out->names);
	out->items = opk_alloc_array(bases + 1, sizeof *out->items);
	out->suffixes = opk_alloc_array(out->names.count + 1, sizeof *out->suffixes);
	if (!out->items || !out->suffixes)
		return opk_nomem(ctx, "metrics");
	for (size_t i = 0; i < bases; i++) {
		const struct opk_metric *metric = opk_catalog_get(catalog, i);

		if (has_base(&out->names, metric->name))
			TRY(add_suffixes_of(out, &used, ctx, catalog, metric));
		else if (is_beside(metric->name, &out->names))
			begin_metric(out, metric)->description = "";
	}
	return OPK_OK;
}

void opk_excerpt_clear(struct opk_excerpt *excerpt)
{
	free(excerpt->items);
	free(excerpt->suffixes);
	opk_strlist_clear(&excerpt->names);
	*excerpt = (struct opk_excerpt){ 0 };
}
