/* SPDX-License-Identifier: BSD-2-Clause */
/* What NVIDIA's libraries say of a chip's metrics, as a table. */
#include <string.h>

#include "domain/catalog.h"
#include "domain/chip.h"

/* 12.x lists the metrics of single-pass sets but has no properties for them. */
static int ask(struct opk_metric *out, struct opk_ctx *ctx, struct opk_nv_host *host,
               const char *name)
{
	int code = opk_nv_properties(out, ctx, host, name);

	if (code != OPK_EUSAGE)
		return code;
	opk_clear_errors(ctx);
	*out = (struct opk_metric){ .name = name, .type = OPK_COUNTER, .hw_unit = "",
		                    .dim_unit = "", .description = "" };
	return OPK_OK;
}

static int fill_base(struct opk_base_record *base, struct opk_ctx *ctx,
                     struct opk_catalog *catalog, const char *name)
{
	struct opk_table *table = &catalog->table;
	struct opk_metric metric;
	int code = ask(&metric, ctx, catalog->host, name);

	if (code)
		return code;
	base->type = metric.type;
	return opk_table_text(&base->name, table, name)
	                       && opk_table_text(&base->hw_unit, table, metric.hw_unit)
	                       && opk_table_text(&base->dim_unit, table, metric.dim_unit)
	                       && opk_table_text(&base->description, table, metric.description)
	               ? OPK_OK
	               : opk_nomem(ctx, "metrics");
}

int opk_catalog_fill_bases(struct opk_catalog *catalog, struct opk_ctx *ctx, const char *chip)
{
	opk_autostrlist struct opk_strlist names = { 0 };
	int code = opk_chip_resolve(&catalog->chip, ctx, chip);

	if (!code)
		code = opk_nv_host_new(&catalog->host, ctx, catalog->chip, catalog->profiler, NULL);
	for (int type = OPK_COUNTER; !code && type <= OPK_THROUGHPUT; type++)
		code = opk_nv_base_metrics(&names, ctx, catalog->host, (enum opk_metric_type)type);
	if (code)
		return code;
	opk_strlist_sort(&names);
	if (!opk_table_init(&catalog->table, names.count))
		return opk_nomem(ctx, "metrics");
	for (size_t i = 0; !code && i < names.count; i++)
		code = fill_base(&catalog->table.bases[i], ctx, catalog, names.items[i]);
	return code;
}

static int fill_sub(struct opk_base_record *base, struct opk_ctx *ctx, struct opk_catalog *catalog,
                    const char *suffix)
{
	const char *name = opk_table_get(&catalog->table, base->name);
	char full[1024];
	struct opk_metric metric;
	int code;

	if ((size_t)snprintf(full, sizeof full, "%s%s", name, suffix) >= sizeof full)
		return opk_fail(ctx, OPK_EFAILED, "%s%s: the name is too long", name, suffix);
	code = opk_nv_properties(&metric, ctx, catalog->host, full);
	if (code)
		return code;
	return opk_table_add(&catalog->table, base, suffix, metric.dim_unit)
	               ? OPK_OK
	               : opk_nomem(ctx, "submetrics");
}

static int fill_subs_of(struct opk_base_record *base, struct opk_ctx *ctx,
                        struct opk_catalog *catalog)
{
	const char *const *suffixes;
	size_t count = 0;
	int code = opk_nv_submetrics(&suffixes, &count, ctx, catalog->host,
	                             (enum opk_metric_type)base->type,
	                             opk_table_get(&catalog->table, base->name));

	if (code == OPK_EUSAGE) {
		opk_clear_errors(ctx);
		return OPK_OK;
	}
	for (size_t i = 0; !code && i < count; i++)
		code = fill_sub(base, ctx, catalog, suffixes[i]);
	return code;
}

int opk_catalog_fill_subs(struct opk_catalog *catalog, struct opk_ctx *ctx)
{
	int code = OPK_OK;

	for (size_t i = 0; !code && i < catalog->table.base_count; i++)
		code = fill_subs_of(&catalog->table.bases[i], ctx, catalog);
	return code;
}
