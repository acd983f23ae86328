/* SPDX-License-Identifier: BSD-2-Clause */
/* Metric names that begin with a text. */
#include <string.h>

#include "adapters/nv/nv.h"
#include "chip/chip.h"
#include "chip/door.h"

static bool begins(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

/* "dram__bytes.s" asks for the full names of dram__bytes. */
static bool asks_for_full(const char *prefix, const char *base)
{
	return begins(prefix, base) && prefix[strlen(base)] == '.';
}

static bool add_base(struct opk_strlist *list, const char *prefix, const char *base)
{
	return !begins(base, prefix) || opk_strlist_add(list, base);
}

static bool add_full(struct opk_strlist *list, const char *prefix, const char *base,
                     const char *suffix)
{
	opk_autofree char *full = opk_printf("%s%s", base, suffix);

	return full && (!begins(full, prefix) || opk_strlist_take(list, opk_take(full)));
}

static bool take_from_table(struct opk_strlist *list, const struct opk_catalog_table *table,
                            const char *prefix)
{
	for (size_t i = 0; i < table->base_count; i++) {
		const struct opk_base_record *base = &table->bases[i];
		const char *name = opk_catalog_table_get(table, base->name);

		if (!add_base(list, prefix, name))
			return false;
		for (size_t j = 0; asks_for_full(prefix, name) && j < base->count; j++)
			if (!add_full(list, prefix, name,
			              opk_catalog_table_get(table,
			                                    table->subs[base->first + j].suffix)))
				return false;
	}
	return true;
}

static int ask_full(struct opk_strlist *list, struct opk_ctx *ctx, struct opk_nv_host *host,
                    enum opk_metric_type type, const char *prefix, const char *base)
{
	const char *const *suffixes;
	size_t count = 0;
	int code = opk_nv_submetrics(&suffixes, &count, ctx, host, type, base);

	for (size_t i = 0; !code && i < count; i++)
		if (!add_full(list, prefix, base, suffixes[i]))
			code = opk_nomem(ctx, "metric names");
	/* 12.x has the call, but it finds no metric. */
	return opk_allow(ctx, code, OPK_EUSAGE);
}

static int ask_type(struct opk_strlist *list, struct opk_ctx *ctx, struct opk_nv_host *host,
                    enum opk_metric_type type, const char *prefix)
{
	opk_autostrlist struct opk_strlist bases = { 0 };

	TRY(opk_nv_base_metrics(&bases, ctx, host, type));
	for (size_t i = 0; i < bases.count; i++) {
		if (!add_base(list, prefix, bases.items[i]))
			return opk_nomem(ctx, "metric names");
		else if (asks_for_full(prefix, bases.items[i]))
			TRY(ask_full(list, ctx, host, type, prefix, bases.items[i]));
	}
	return OPK_OK;
}

static int ask(struct opk_strlist *list, struct opk_ctx *ctx, const char *name,
               enum opk_profiler profiler, const char *prefix)
{
	opk_autofree char *chip = NULL;
	opk_auto(opk_nv_host) struct opk_nv_host *host = NULL;

	TRY(opk_chip_resolve(&chip, ctx, name));
	TRY(opk_nv_host_new(&host, ctx, chip, profiler, NULL));
	for (int type = OPK_COUNTER; type <= OPK_THROUGHPUT; type++)
		TRY(ask_type(list, ctx, host, (enum opk_metric_type)type, prefix));
	return OPK_OK;
}

OPK_DEFINE_AUTO(opk_catalog)

static int fill_code(struct opk_strlist *list, struct opk_ctx *ctx, const char *chip,
                     enum opk_profiler profiler, const char *prefix)
{
	opk_auto(opk_catalog) struct opk_catalog *catalog = NULL;

	TRY(opk_catalog_new(&catalog, ctx, chip, profiler));
	return take_from_table(list, &catalog->table, prefix) ? OPK_OK
	                                                      : opk_nomem(ctx, "metric names");
}

static int fill(struct opk_strlist *list, struct opk_ctx *ctx, const char *chip,
                enum opk_profiler profiler, const char *prefix)
{
	opk_autotable struct opk_catalog_table table = { 0 };

	if (opk_profiler_is_code(profiler))
		return fill_code(list, ctx, chip, profiler, prefix);
	if (!opk_catalog_cache_read(&table, ctx, chip, profiler))
		return ask(list, ctx, chip, profiler, prefix);
	return take_from_table(list, &table, prefix) ? OPK_OK : opk_nomem(ctx, "metric names");
}

int opk_complete_name(struct opk_strlist *out, struct opk_ctx *ctx, const char *chip,
                      enum opk_profiler profiler, const char *prefix)
{
	int code = fill(out, ctx, chip, profiler, prefix);

	opk_strlist_sort(out);
	return code ? opk_add(ctx, code, "no metric names of %s", chip) : OPK_OK;
}
