/* SPDX-License-Identifier: BSD-2-Clause */
/* A chip's metrics, from the cache or from NVIDIA's libraries; finds names among them. */
#include "chip/chip.h"

#include <string.h>

#include "base/nearest.h"
#include "chip/door.h"

static const char *const type_names[] = { "counter", "ratio", "throughput" };

enum { TYPE_COUNT = sizeof type_names / sizeof *type_names };

const char *opk_method_name(enum opk_method method)
{
	static const char *const names[] = { "", "hardware", "sass", "both" };

	return names[method];
}

const char *opk_scope_name(enum opk_scope scope)
{
	static const char *const names[] = { NULL, "context", "device" };

	return names[scope];
}

const char *opk_refusal_name(int passes)
{
	return passes < 0 ? opk_nv_status_name(-passes) : "";
}

const char *opk_metric_type_name(enum opk_metric_type type)
{
	return type_names[type];
}

bool opk_metric_type_parse(enum opk_metric_type *out, const char *name)
{
	for (size_t i = 0; i < TYPE_COUNT; i++) {
		if (strcmp(name, type_names[i]))
			continue;
		*out = (enum opk_metric_type)i;
		return true;
	}
	return false;
}

static bool is_undescribed(const struct opk_metric *metric)
{
	return !*metric->hw_unit && !*metric->dim_unit && !*metric->description;
}

/* ---- in the cache folder */

static const char cache_kind[] = "catalog";

static char *whom_of(struct opk_ctx *ctx, const char *chip, enum opk_profiler profiler)
{
	opk_autofree char *name = ctx->cache_dir ? opk_chip_spelling(chip) : NULL;

	return name ? opk_cache_whom(ctx, "%s %s\n", name, opk_profiler_name(profiler)) : NULL;
}

bool opk_catalog_cache_read(struct opk_catalog_table *table, struct opk_ctx *ctx, const char *chip,
                            enum opk_profiler profiler)
{
	opk_autofree char *whom = whom_of(ctx, chip, profiler);
	size_t size = 0;
	opk_autofree void *data = opk_cache_load(&size, ctx, cache_kind, whom);

	return data && opk_catalog_table_read(table, data, size);
}

static bool takes_catalog(struct opk_ctx *ctx, const char *chip, enum opk_profiler profiler)
{
	opk_autofree char *whom = whom_of(ctx, chip, profiler);

	return opk_cache_takes(ctx, whom);
}

void opk_catalog_cache_write(struct opk_ctx *ctx, const struct opk_catalog_table *table,
                             const char *chip, enum opk_profiler profiler)
{
	opk_autofree char *whom = whom_of(ctx, chip, profiler);
	opk_autobuf struct opk_buf bytes = { 0 };

	if (!whom)
		return;
	opk_catalog_table_write(&bytes, table);
	if (!bytes.failed)
		opk_cache_store(ctx, cache_kind, whom, bytes.data, bytes.size);
}

/* ---- the catalog */

/* The array is allocated once; its text moves as it grows. */
static bool make_metrics(struct opk_catalog *catalog)
{
	const struct opk_catalog_table *table = &catalog->table;

	if (!catalog->metrics)
		catalog->metrics = opk_alloc_array(table->base_count + 1, sizeof *catalog->metrics);
	for (size_t i = 0; catalog->metrics && i < table->base_count; i++) {
		const struct opk_base_record *base = &table->bases[i];

		catalog->metrics[i] = (struct opk_metric){
			.name = opk_catalog_table_get(table, base->name),
			.type = (enum opk_metric_type)base->type,
			.hw_unit = opk_catalog_table_get(table, base->hw_unit),
			.dim_unit = opk_catalog_table_get(table, base->dim_unit),
			.description = opk_catalog_table_get(table, base->description),
			.scope = (enum opk_scope)base->scope,
		};
	}
	return catalog->metrics != NULL;
}

static int fill(struct opk_catalog *catalog, struct opk_ctx *ctx, const char *chip,
                enum opk_profiler profiler)
{
	catalog->profiler = profiler;
	if (opk_profiler_is_code(profiler)) {
		TRY(opk_catalog_fill_code(catalog, ctx, chip));
		return make_metrics(catalog) ? OPK_OK : opk_nomem(ctx, "metrics");
	}
	catalog->complete = !catalog->set
	                    && opk_catalog_cache_read(&catalog->table, ctx, chip, profiler);
	if (catalog->complete)
		catalog->chip = opk_chip_spelling(chip);
	else
		TRY(opk_catalog_fill_bases(catalog, ctx, chip));
	if (!catalog->chip || !make_metrics(catalog))
		return opk_nomem(ctx, "metrics");
	return OPK_OK;
}

int opk_catalog_of_table(struct opk_catalog **out, struct opk_ctx *ctx,
                         struct opk_catalog_table *table, const char *chip,
                         enum opk_profiler profiler)
{
	struct opk_catalog *catalog = opk_alloc(sizeof *catalog);

	if (!catalog)
		return opk_nomem(ctx, "a catalog");
	catalog->profiler = profiler;
	catalog->complete = true;
	catalog->table = *table;
	*table = (struct opk_catalog_table){ 0 };
	catalog->chip = opk_strdup(chip);
	if (catalog->chip && make_metrics(catalog)) {
		*out = catalog;
		return OPK_OK;
	}
	opk_catalog_free(catalog);
	return opk_nomem(ctx, "a catalog");
}

int opk_catalog_new(struct opk_catalog **out, struct opk_ctx *ctx, const char *chip,
                    enum opk_profiler profiler)
{
	return opk_catalog_of_set_new(out, ctx, chip, profiler, NULL);
}

OPK_DEFINE_AUTO(opk_catalog)

int opk_catalog_of_set_new(struct opk_catalog **out, struct opk_ctx *ctx, const char *chip,
                           enum opk_profiler profiler, const char *set)
{
	opk_auto(opk_catalog) struct opk_catalog *catalog = opk_alloc(sizeof *catalog);
	int code;

	if (catalog && set)
		catalog->set = opk_strdup(set);
	code = catalog && !set == !catalog->set ? fill(catalog, ctx, chip, profiler)
	                                        : opk_nomem(ctx, "a catalog");
	/* The message about an unknown chip is complete. */
	if (code)
		return code == OPK_EUSAGE ? code
		                          : opk_add(ctx, code, "no metric catalog of %s", chip);
	*out = opk_take(catalog);
	return OPK_OK;
}

static void forget_subs(struct opk_catalog_table *table)
{
	table->sub_count = 0;
	for (size_t i = 0; i < table->base_count; i++)
		table->bases[i].first = table->bases[i].count = 0;
}

int opk_catalog_complete(struct opk_catalog *catalog, struct opk_ctx *ctx)
{
	int code;

	if (catalog->complete)
		return OPK_OK;
	code = opk_catalog_fill_subs(catalog, ctx);
	if (!code && catalog->table.base_count && !catalog->table.sub_count)
		code = opk_fail(ctx, OPK_ENVIDIA,
		                "this libcupti lists none, nor has it properties "
		                "for those that others list");
	if (code)
		forget_subs(&catalog->table);
	/* The text has moved. */
	make_metrics(catalog);
	if (code)
		return opk_add(ctx, code, "no submetrics of %s", catalog->chip);
	catalog->complete = true;
	if (!catalog->set)
		opk_catalog_cache_write(ctx, &catalog->table, catalog->chip, catalog->profiler);
	return OPK_OK;
}

void opk_catalog_keep(struct opk_catalog *catalog, struct opk_ctx *ctx)
{
	if (catalog->complete || !takes_catalog(ctx, catalog->chip, catalog->profiler))
		return;
	if (opk_catalog_complete(catalog, ctx))
		opk_clear_errors(ctx);
}

/* ---- scopes */

/* So many scopes are worth a file: CUPTI takes a millisecond for each. */
enum { WORTH_KEEPING = 50 };

static int ask_scope(struct opk_catalog *catalog, struct opk_ctx *ctx, size_t i)
{
	enum opk_scope scope;
	int code = opk_catalog_need_host(catalog, ctx);

	if (!code)
		code = opk_nv_scope(&scope, ctx, catalog->host, catalog->metrics[i].name);
	/* 12.x lists some metrics without properties. */
	if (code)
		return opk_allow(ctx, code, OPK_EUSAGE);
	catalog->metrics[i].scope = scope;
	catalog->table.bases[i].scope = scope;
	return OPK_OK;
}

int opk_catalog_ask_scopes(struct opk_catalog *catalog, struct opk_ctx *ctx,
                           const struct opk_metric *const *metrics, size_t count)
{
	size_t known = 0;

	for (size_t i = 0; i < count; i++) {
		if (metrics[i]->scope)
			continue;
		TRY(ask_scope(catalog, ctx, (size_t)(metrics[i] - catalog->metrics)));
		known += metrics[i]->scope != OPK_SCOPE_UNKNOWN;
	}
	if (known >= WORTH_KEEPING && catalog->complete && !catalog->set)
		opk_catalog_cache_write(ctx, &catalog->table, catalog->chip, catalog->profiler);
	return OPK_OK;
}

int opk_catalog_set_availability(struct opk_catalog *catalog, struct opk_ctx *ctx,
                                 const void *image, size_t size)
{
	opk_autofree void *copy = image ? opk_alloc(size + 1) : NULL;

	if (image && !copy)
		return opk_nomem(ctx, "a counter-availability image");
	if (copy)
		memcpy(copy, image, size);
	free(catalog->availability);
	catalog->availability = opk_take(copy);
	catalog->availability_size = size;
	for (size_t i = 0; i < catalog->table.sub_count; i++) {
		catalog->table.subs[i].passes = 0;
		catalog->table.subs[i].method = OPK_METHOD_UNKNOWN;
	}
	return OPK_OK;
}

void opk_catalog_free(struct opk_catalog *catalog)
{
	if (!catalog)
		return;
	opk_nv_host_free(catalog->host);
	opk_catalog_table_clear(&catalog->table);
	free(catalog->availability);
	free(catalog->metrics);
	free(catalog->chip);
	free(catalog->set);
	free(catalog);
}

const char *opk_catalog_chip(const struct opk_catalog *catalog)
{
	return catalog->chip;
}

size_t opk_catalog_count(const struct opk_catalog *catalog)
{
	return catalog->table.base_count;
}

const struct opk_metric *opk_catalog_get(const struct opk_catalog *catalog, size_t i)
{
	return &catalog->metrics[i];
}

static const struct opk_base_record *record_of(const struct opk_catalog *catalog,
                                               const struct opk_metric *metric)
{
	return &catalog->table.bases[metric - catalog->metrics];
}

size_t opk_catalog_submetric_count(const struct opk_catalog *catalog,
                                   const struct opk_metric *metric)
{
	return record_of(catalog, metric)->count;
}

struct opk_submetric opk_catalog_submetric(const struct opk_catalog *catalog,
                                           const struct opk_metric *metric, size_t i)
{
	const struct opk_catalog_table *table = &catalog->table;
	const struct opk_sub_record *sub = &table->subs[record_of(catalog, metric)->first + i];

	return (struct opk_submetric){
		.suffix = opk_catalog_table_get(table, sub->suffix),
		.dim_unit = opk_catalog_table_get(table, sub->dim_unit),
		.passes = sub->passes,
		.method = (enum opk_method)sub->method,
	};
}

bool opk_catalog_find_submetric(size_t *out, const struct opk_catalog *catalog,
                                const struct opk_metric *metric, const char *suffix)
{
	size_t count = opk_catalog_submetric_count(catalog, metric);

	for (*out = 0; *out < count; ++*out)
		if (!strcmp(opk_catalog_submetric(catalog, metric, *out).suffix, suffix))
			return true;
	return false;
}

struct opk_submetric opk_catalog_submetric_of(const struct opk_catalog *catalog,
                                              const struct opk_full_name *name)
{
	if (opk_catalog_submetric_count(catalog, name->metric))
		return opk_catalog_submetric(catalog, name->metric, name->submetric);
	return (struct opk_submetric){ .suffix = "", .dim_unit = name->metric->dim_unit };
}

size_t opk_catalog_plainest(const struct opk_catalog *catalog, const struct opk_metric *metric)
{
	size_t found;

	return opk_catalog_find_submetric(&found, catalog, metric,
	                                  opk_plainest_suffix(metric->type))
	               ? found
	               : 0;
}

struct base_name {
	const char *text;
	size_t length;
};

static int compare_name(const void *key, const void *metric)
{
	const struct base_name *base = key;
	const char *name = ((const struct opk_metric *)metric)->name;
	int order = strncmp(base->text, name, base->length);

	return order ? order : -(name[base->length] != '\0');
}

const struct opk_metric *opk_catalog_find(const struct opk_catalog *catalog, const char *name)
{
	const struct base_name base = { name, opk_base_length(name) };

	return bsearch(&base, catalog->metrics, catalog->table.base_count, sizeof *catalog->metrics,
	               compare_name);
}

const struct opk_metric *opk_catalog_nearest(const struct opk_catalog *catalog, const char *name)
{
	opk_autofree char *base = opk_strndup(name, opk_base_length(name));
	struct opk_nearest nearest = { .name = base };
	const struct opk_metric *best = NULL;

	for (size_t i = 0; base && i < catalog->table.base_count; i++) {
		opk_nearest_try(&nearest, catalog->metrics[i].name);
		if (nearest.best == catalog->metrics[i].name)
			best = &catalog->metrics[i];
	}
	return best;
}

/* If the library lists the metric's submetrics, whether this one is among them. */
static bool ask_listed(bool *listed, const struct opk_catalog *catalog, struct opk_ctx *ctx,
                       const struct opk_metric *base, const char *suffix)
{
	const char *const *suffixes;
	struct opk_errors_mark mark;
	size_t count = 0;

	opk_errors_mark(&mark, ctx);
	if (opk_nv_submetrics(&suffixes, &count, ctx, catalog->host, base->type, base->name))
		count = 0;
	opk_errors_rewind(ctx, &mark);
	*listed = false;
	for (size_t i = 0; !*listed && i < count; i++)
		*listed = !strcmp(suffixes[i], suffix);
	return count > 0;
}

/* 12.x lists no submetrics: a full name is right if the library has properties for it. */
static bool has_properties(const struct opk_catalog *catalog, struct opk_ctx *ctx, const char *name)
{
	struct opk_errors_mark mark;
	struct opk_metric properties;
	int code;

	opk_errors_mark(&mark, ctx);
	code = opk_nv_properties(&properties, ctx, catalog->host, name);
	opk_errors_rewind(ctx, &mark);
	return !code;
}

bool opk_catalog_has_full(const struct opk_catalog *catalog, struct opk_ctx *ctx, const char *name)
{
	const struct opk_metric *base = opk_catalog_find(catalog, name);
	bool usual = opk_has_listed_suffix(name), listed;
	size_t submetric;

	if (!base || !strcmp(base->name, name) != opk_profiler_is_code(catalog->profiler))
		return false;
	/* 12.x has empty descriptions of some metrics. */
	if (usual && is_undescribed(base))
		return true;
	if (catalog->complete)
		return opk_catalog_find_submetric(&submetric, catalog, base,
		                                  name + strlen(base->name));
	if (ask_listed(&listed, catalog, ctx, base, name + strlen(base->name)))
		return listed;
	return usual && has_properties(catalog, ctx, name);
}
