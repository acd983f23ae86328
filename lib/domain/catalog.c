/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "adapters/nv/nv.h"
#include "base/nearest.h"
#include "domain/catalog.h"
#include "domain/chip.h"

/* Properties are borrowed from the host object, which therefore lives as long. */
struct opk_catalog {
	char *chip;
	enum opk_profiler profiler;
	struct opk_nv_host *host;
	struct opk_strlist names;
	struct opk_metric *metrics;
};

static const char *const type_names[] = { "counter", "ratio", "throughput" };

/* What makes a base metric a full name, in short; docs/metric-sets.md has them all. */
static const char *const endings[] = {
	[OPK_COUNTER] = ".sum, .avg, .min or .max, and behind it possibly .per_second, "
	                ".per_cycle_active, .pct_of_peak_sustained_elapsed and the like",
	[OPK_RATIO] = ".ratio, .pct or .max_rate",
	[OPK_THROUGHPUT] = ".sum, .avg, .min or .max, and behind it "
	                   ".pct_of_peak_sustained_elapsed or the like",
};

enum { TYPE_COUNT = sizeof type_names / sizeof *type_names };

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

/* 12.x lists the metrics of single-pass sets but has no properties for them. */
static int describe(struct opk_metric *out, struct opk_ctx *ctx, struct opk_nv_host *host,
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

static bool is_undescribed(const struct opk_metric *metric)
{
	return !*metric->hw_unit && !*metric->dim_unit && !*metric->description;
}

static int fill(struct opk_catalog *catalog, struct opk_ctx *ctx, const char *chip,
                enum opk_profiler profiler)
{
	int code = opk_chip_resolve(&catalog->chip, ctx, chip);

	catalog->profiler = profiler;
	if (!code)
		code = opk_nv_host_new(&catalog->host, ctx, catalog->chip, profiler, NULL);
	for (size_t type = 0; !code && type < TYPE_COUNT; type++)
		code = opk_nv_base_metrics(&catalog->names, ctx, catalog->host,
		                           (enum opk_metric_type)type);
	if (code)
		return code;
	opk_strlist_sort(&catalog->names);
	catalog->metrics = opk_alloc_array(catalog->names.count, sizeof *catalog->metrics);
	if (!catalog->metrics)
		return opk_nomem(ctx, "metrics");
	for (size_t i = 0; !code && i < catalog->names.count; i++)
		code = describe(&catalog->metrics[i], ctx, catalog->host, catalog->names.items[i]);
	return code;
}

int opk_catalog_new(struct opk_catalog **out, struct opk_ctx *ctx, const char *chip,
                    enum opk_profiler profiler)
{
	struct opk_catalog *catalog = opk_alloc(sizeof *catalog);
	int code = catalog ? fill(catalog, ctx, chip, profiler) : opk_nomem(ctx, "a catalog");

	if (code) {
		opk_catalog_free(catalog);
		return opk_add(ctx, code, "no metric catalog of %s", chip);
	}
	*out = catalog;
	return OPK_OK;
}

void opk_catalog_free(struct opk_catalog *catalog)
{
	if (!catalog)
		return;
	opk_nv_host_free(catalog->host);
	opk_strlist_clear(&catalog->names);
	free(catalog->metrics);
	free(catalog->chip);
	free(catalog);
}

const char *opk_catalog_chip(const struct opk_catalog *catalog)
{
	return catalog->chip;
}

size_t opk_catalog_count(const struct opk_catalog *catalog)
{
	return catalog->names.count;
}

const struct opk_metric *opk_catalog_get(const struct opk_catalog *catalog, size_t i)
{
	return &catalog->metrics[i];
}

/*
 * "dram__bytes.sum" -> "dram__bytes". Names of single-pass sets have dots of their own before the
 * double underscore: "CTC.TriageCompute.ctc__rx_bytes.sum".
 */
static size_t base_length(const char *name)
{
	const char *unit_end = strstr(name, "__");
	const char *dot = strchr(unit_end ? unit_end : name, '.');

	return dot ? (size_t)(dot - name) : strlen(name);
}

static int compare_name(const void *key, const void *metric)
{
	return strcmp(key, ((const struct opk_metric *)metric)->name);
}

const struct opk_metric *opk_catalog_find(const struct opk_catalog *catalog, const char *name)
{
	opk_autofree char *base = opk_strndup(name, base_length(name));

	return base ? bsearch(base, catalog->metrics, catalog->names.count,
	                      sizeof *catalog->metrics, compare_name)
	            : NULL;
}

const struct opk_metric *opk_catalog_nearest(const struct opk_catalog *catalog, const char *name)
{
	opk_autofree char *base = opk_strndup(name, base_length(name));
	struct opk_nearest nearest = { .name = base };
	const struct opk_metric *best = NULL;

	for (size_t i = 0; base && i < catalog->names.count; i++) {
		opk_nearest_try(&nearest, catalog->metrics[i].name);
		if (nearest.best == catalog->metrics[i].name)
			best = &catalog->metrics[i];
	}
	return best;
}

bool opk_catalog_has_full(const struct opk_catalog *catalog, const struct opk_ctx *ctx,
                          const char *name)
{
	const struct opk_metric *base = opk_catalog_find(catalog, name);
	/* A context of its own: asking must not disturb the caller's cause chain. */
	struct opk_ctx quiet = { .nv = ctx->nv };
	struct opk_metric properties;
	int code;

	if (!base || !strcmp(base->name, name))
		return false;
	/* Properties are found for full names only where they are right. */
	code = opk_nv_properties(&properties, &quiet, catalog->host, name);
	opk_clear_errors(&quiet);
	return !code || is_undescribed(base);
}

int opk_catalog_explain(struct opk_ctx *ctx, int code, const struct opk_catalog *catalog,
                        const char *name, const char *place)
{
	const struct opk_metric *metric = opk_catalog_find(catalog, name);
	const char *colon = *place ? ": " : "";

	if (metric && !strcmp(metric->name, name))
		return opk_add(ctx, code, "%s%s%s needs a %s, for example %s%s", place, colon, name,
		               metric->type == OPK_RATIO ? "submetric" : "rollup", name,
		               metric->type == OPK_COUNTER ? ".sum"
		               : metric->type == OPK_RATIO ? ".pct"
		                                           : ".avg.pct_of_peak_sustained_elapsed");
	if (metric)
		return opk_add(ctx, code, "%s%s%s has no rollup or submetric '%s'; a %s takes %s", place,
		               colon, metric->name, name + strlen(metric->name) + 1,
		               type_names[metric->type], endings[metric->type]);
	metric = opk_catalog_nearest(catalog, name);
	return opk_add(ctx, code, "%s%s%s has no metric '%s'%s%s%s%s", place, colon, catalog->chip,
	               name, catalog->profiler == OPK_PROFILER_PM ? " for PM sampling" : "", metric ? ", did you mean " : "", metric ? metric->name : "",
	               metric ? "?" : "");
}
