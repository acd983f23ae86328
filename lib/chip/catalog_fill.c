/* SPDX-License-Identifier: BSD-2-Clause */
/* Fills a catalog's table from NVIDIA's libraries. */
#include <string.h>

#include "chip/chip.h"

static const char *const plainest_suffixes[] = {
	[OPK_COUNTER] = ".sum",
	[OPK_RATIO] = ".ratio",
	[OPK_THROUGHPUT] = ".avg.pct_of_peak_sustained_elapsed",
};

const char *opk_plainest_suffix(enum opk_metric_type type)
{
	return plainest_suffixes[type];
}

/*
 * 12.x has properties only for full names. The plainest full name of a metric shows its type, and
 * has the properties of the base name: checked for all metrics of all chips of 13.0, and by
 * check_real_catalog for some.
 */
static int ask(struct opk_metric *out, struct opk_ctx *ctx, struct opk_nv_host *host,
               const char *name)
{
	int code = opk_nv_properties(out, ctx, host, name);

	for (int type = OPK_COUNTER; code == OPK_EUSAGE && type <= OPK_THROUGHPUT; type++) {
		opk_autofree char *full = opk_printf("%s%s", name,
		                                     opk_plainest_suffix(
							     (enum opk_metric_type)type));

		opk_clear_errors(ctx);
		code = full ? opk_nv_properties(out, ctx, host, full) : opk_nomem(ctx, "metrics");
	}
	if (code == OPK_EUSAGE) {
		opk_clear_errors(ctx);
		*out = (struct opk_metric){
			.type = OPK_COUNTER, .hw_unit = "", .dim_unit = "", .description = ""
		};
		code = OPK_OK;
	}
	out->name = name;
	return code;
}

static int fill_base(struct opk_base_record *base, struct opk_ctx *ctx, struct opk_catalog *catalog,
                     const char *name)
{
	struct opk_catalog_table *table = &catalog->table;
	struct opk_metric metric;

	TRY(ask(&metric, ctx, catalog->host, name));
	base->type = metric.type;
	return opk_catalog_table_text(&base->name, table, name)
	                       && opk_catalog_table_text(&base->hw_unit, table, metric.hw_unit)
	                       && opk_catalog_table_text(&base->dim_unit, table, metric.dim_unit)
	                       && opk_catalog_table_text(&base->description, table,
	                                                 metric.description)
	               ? OPK_OK
	               : opk_nomem(ctx, "metrics");
}

int opk_catalog_need_host(struct opk_catalog *catalog, struct opk_ctx *ctx)
{
	return catalog->host ? OPK_OK
	                     : opk_nv_host_new_for_set(&catalog->host, ctx, catalog->chip,
	                                               catalog->profiler, NULL, catalog->set);
}

int opk_catalog_fill_bases(struct opk_catalog *catalog, struct opk_ctx *ctx, const char *chip)
{
	opk_autostrlist struct opk_strlist names = { 0 };

	TRY(opk_chip_resolve(&catalog->chip, ctx, chip));
	TRY(opk_catalog_need_host(catalog, ctx));
	TRY(opk_nv_all_base_metrics(&names, ctx, catalog->host));
	opk_strlist_sort(&names);
	if (!opk_catalog_table_init(&catalog->table, names.count))
		return opk_nomem(ctx, "metrics");
	for (size_t i = 0; i < names.count; i++)
		TRY(fill_base(&catalog->table.bases[i], ctx, catalog, names.items[i]));
	return OPK_OK;
}

/*
 * The source of a full name's unit: CUPTI up to 13.0. From 13.1 on CUPTI returns the unit of the
 * base metric, and PerfWorks is the source. Both agree for all names of all chips of 13.0.
 */
struct source {
	struct opk_catalog *catalog;
	bool with_base;                     /* CUPTI returns the base metric's unit */
	struct opk_nv_evaluator *evaluator; /* NULL: PerfWorks does not know the chip */
};

static const char *name_of(const struct opk_catalog *catalog, const struct opk_base_record *base)
{
	return opk_catalog_table_get(&catalog->table, base->name);
}

/* Whether CUPTI gives a percentage of the peak the unit of its base metric. */
static int check_answers(bool *with_base, struct opk_ctx *ctx, const struct opk_catalog *catalog,
                         const struct opk_base_record *base)
{
	opk_autofree char *full = opk_printf("%s.sum.pct_of_peak_sustained_elapsed",
	                                     name_of(catalog, base));
	struct opk_metric metric;
	int code = full ? opk_nv_properties(&metric, ctx, catalog->host, full)
	                : opk_nomem(ctx, "submetrics");

	*with_base = !code && strcmp(metric.dim_unit, "percent") != 0;
	return opk_allow(ctx, code, OPK_EUSAGE);
}

static int open_source(struct source *source, struct opk_ctx *ctx, struct opk_catalog *catalog)
{
	const struct opk_catalog_table *table = &catalog->table;
	size_t i = 0;
	int code;

	*source = (struct source){ .catalog = catalog };
	while (i < table->base_count && table->bases[i].type != OPK_COUNTER)
		i++;
	if (i == table->base_count)
		return OPK_OK;
	code = check_answers(&source->with_base, ctx, catalog, &table->bases[i]);
	if (code || !source->with_base)
		return code;
	code = opk_nv_evaluator_of_new(&source->evaluator, ctx, catalog->chip, catalog->profiler);
	return code == OPK_ENOMEM ? code : opk_allow(ctx, code, code);
}

/*
 * The unit of a full name follows from the base metric's hardware unit, its own unit, its type and
 * the suffix: checked for all names of all chips of 13.0, and by check_catalog for some of the
 * installed library. Asking once for each combination saves nine in ten of 150,000 calls.
 */
struct unit_key {
	uint32_t hw_unit, dim_unit, type, suffix;
};

struct unit {
	struct unit_key key; /* suffix 0: a free slot */
	uint32_t dim_unit;
};

struct units {
	struct unit *slots;
	size_t count, used;
};

static struct unit *find_unit(const struct units *units, const struct unit_key *key)
{
	size_t i = (key->hw_unit * 31 + key->dim_unit * 17 + key->type) * 2654435761U
	           + key->suffix * 40503U;

	for (i &= units->count - 1; units->slots[i].key.suffix; i = (i + 1) & (units->count - 1))
		if (!memcmp(&units->slots[i].key, key, sizeof *key))
			break;
	return &units->slots[i];
}

static bool grow_units(struct units *units)
{
	struct units grown = { .count = units->count ? units->count * 2 : 1 << 13,
		               .used = units->used };

	grown.slots = opk_alloc_array(grown.count, sizeof *grown.slots);
	if (!grown.slots)
		return false;
	for (size_t i = 0; i < units->count; i++)
		if (units->slots[i].key.suffix)
			*find_unit(&grown, &units->slots[i].key) = units->slots[i];
	free(units->slots);
	*units = grown;
	return true;
}

/* OPK_EUSAGE: PerfWorks lacks some of CUPTI's names. */
static int ask_perfworks(uint32_t *out, struct opk_ctx *ctx, const struct source *source,
                         const char *full)
{
	opk_autofree char *unit = NULL;

	TRY(opk_nv_cupti_unit(&unit, ctx, source->evaluator, full));
	return opk_catalog_table_text(out, &source->catalog->table, unit)
	               ? OPK_OK
	               : opk_nomem(ctx, "submetrics");
}

static int ask_cupti(uint32_t *out, struct opk_ctx *ctx, struct opk_catalog *catalog,
                     const char *full)
{
	struct opk_metric metric;

	TRY(opk_nv_properties(&metric, ctx, catalog->host, full));
	return opk_catalog_table_text(out, &catalog->table, metric.dim_unit)
	               ? OPK_OK
	               : opk_nomem(ctx, "submetrics");
}

static int ask_unit(uint32_t *out, struct opk_ctx *ctx, const struct source *source,
                    const struct opk_base_record *base, uint32_t suffix)
{
	struct opk_catalog *catalog = source->catalog;
	opk_autofree char *full = opk_printf("%s%s", name_of(catalog, base),
	                                     opk_catalog_table_get(&catalog->table, suffix));
	int code;

	if (!full)
		return opk_nomem(ctx, "submetrics");
	if (!source->with_base)
		return ask_cupti(out, ctx, catalog, full);
	/* No unit is better than a wrong one. */
	*out = 0;
	code = source->evaluator ? ask_perfworks(out, ctx, source, full) : OPK_OK;
	return opk_allow(ctx, code, OPK_EUSAGE);
}

static int unit_of(uint32_t *out, struct opk_ctx *ctx, const struct source *source,
                   struct units *units, const struct opk_base_record *base, uint32_t suffix)
{
	struct unit_key key = { base->hw_unit, base->dim_unit, base->type, suffix };
	struct unit *unit;

	if (units->used * 2 >= units->count && !grow_units(units))
		return opk_nomem(ctx, "submetrics");
	unit = find_unit(units, &key);
	if (!unit->key.suffix) {
		TRY(ask_unit(&unit->dim_unit, ctx, source, base, suffix));
		unit->key = key;
		units->used++;
	}
	*out = unit->dim_unit;
	return OPK_OK;
}

/* Without `units`, asks the library for the unit: OPK_EUSAGE if it lacks the name. */
static int fill_sub(struct opk_base_record *base, struct opk_ctx *ctx, const struct source *source,
                    struct units *units, const char *suffix)
{
	struct opk_catalog *catalog = source->catalog;
	struct opk_sub_record sub = { 0 };

	if (!opk_catalog_table_text(&sub.suffix, &catalog->table, suffix))
		return opk_nomem(ctx, "submetrics");
	TRY(units ? unit_of(&sub.dim_unit, ctx, source, units, base, sub.suffix)
	          : ask_unit(&sub.dim_unit, ctx, source, base, sub.suffix));
	return opk_catalog_table_add(&catalog->table, base, &sub) ? OPK_OK
	                                                          : opk_nomem(ctx, "submetrics");
}

/*
 * 12.x lists no submetrics, but has properties for full names. 13.0 lists the same for every metric
 * of a type, on all chips and for both profilers: these, in this order, NULL after the last.
 */
static const char *const rollups[] = { ".avg", ".max", ".min", ".sum", NULL };
static const char *const no_rollup[] = { "", NULL };
static const char *const of_ratio[] = { ".max_rate", ".pct", ".ratio", NULL };
static const char *const of_counter[] = {
	"",
	".peak_sustained",
	".peak_sustained_active",
	".peak_sustained_active.per_second",
	".peak_sustained_elapsed",
	".peak_sustained_elapsed.per_second",
	".per_cycle_active",
	".per_cycle_elapsed",
	".per_second",
	".pct_of_peak_sustained_active",
	".pct_of_peak_sustained_elapsed",
	NULL,
};
static const char *const of_throughput[] = {
	".pct_of_peak_sustained_active",
	".pct_of_peak_sustained_elapsed",
	NULL,
};

static const struct {
	const char *const *rollups, *const *rests;
} expected[] = {
	[OPK_COUNTER] = { rollups, of_counter },
	[OPK_RATIO] = { no_rollup, of_ratio },
	[OPK_THROUGHPUT] = { rollups, of_throughput },
};

static bool is_expected(enum opk_metric_type type, const char *suffix)
{
	for (const char *const *rollup = expected[type].rollups; *rollup; rollup++) {
		size_t length = strlen(*rollup);

		if (strncmp(suffix, *rollup, length))
			continue;
		for (const char *const *rest = expected[type].rests; *rest; rest++)
			if (!strcmp(suffix + length, *rest))
				return true;
	}
	return false;
}

bool opk_has_listed_suffix(const char *name)
{
	const char *suffix = name + opk_base_length(name);

	return is_expected(OPK_COUNTER, suffix) || is_expected(OPK_RATIO, suffix)
	       || is_expected(OPK_THROUGHPUT, suffix);
}

static int fill_expected_sub(struct opk_base_record *base, struct opk_ctx *ctx,
                             const struct source *source, const char *rollup, const char *rest)
{
	opk_autofree char *suffix = opk_printf("%s%s", rollup, rest);
	int code = suffix ? fill_sub(base, ctx, source, NULL, suffix)
	                  : opk_nomem(ctx, "submetrics");

	return opk_allow(ctx, code, OPK_EUSAGE);
}

static int fill_expected(struct opk_base_record *base, struct opk_ctx *ctx,
                         const struct source *source)
{
	for (const char *const *rollup = expected[base->type].rollups; *rollup; rollup++)
		for (const char *const *rest = expected[base->type].rests; *rest; rest++)
			TRY(fill_expected_sub(base, ctx, source, *rollup, *rest));
	return OPK_OK;
}

static int fill_subs_of(struct opk_base_record *base, struct opk_ctx *ctx,
                        const struct source *source, struct units *units)
{
	const struct opk_catalog *catalog = source->catalog;
	const char *const *suffixes;
	size_t count = 0;
	int code = opk_nv_submetrics(&suffixes, &count, ctx, catalog->host,
	                             (enum opk_metric_type)base->type, name_of(catalog, base));

	if (code == OPK_EUSAGE) {
		opk_clear_errors(ctx);
		return fill_expected(base, ctx, source);
	}
	for (size_t i = 0; !code && i < count; i++)
		code = fill_sub(base, ctx, source, units, suffixes[i]);
	return code;
}

static void free_units(struct units *units)
{
	free(units->slots);
}

static void close_source(struct source *source)
{
	opk_nv_evaluator_free(source->evaluator);
}

int opk_catalog_fill_subs(struct opk_catalog *catalog, struct opk_ctx *ctx)
{
	__attribute__((cleanup(free_units))) struct units units = { 0 };
	__attribute__((cleanup(close_source))) struct source source = { 0 };

	TRY(open_source(&source, ctx, catalog));
	for (size_t i = 0; i < catalog->table.base_count; i++)
		TRY(fill_subs_of(&catalog->table.bases[i], ctx, &source, &units));
	return OPK_OK;
}
