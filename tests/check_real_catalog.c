/* SPDX-License-Identifier: BSD-2-Clause */
/* Catalogs and pass counts with NVIDIA's own libraries. */
#include "adapters/nv/nv.h"
#include "adapters/nv/nv_table.h"
#include "catalogs.h"
#include "eval/eval.h"
#include "schedule/schedule.h"
#include "real.h"

static char *full_of(const struct opk_catalog *catalog, const struct opk_full_name *name)
{
	return opk_printf("%s%s", name->metric->name,
	                  opk_catalog_submetric(catalog, name->metric, name->submetric).suffix);
}

/* Plans only that name; returns its passes, or the status that refuses it. */
static int plan_alone(struct opk_ctx *ctx, const struct opk_catalog *catalog, const char *name)
{
	freed(opk_nv_host) *host = NULL;
	opk_autoresult struct opk_schedule_result made = { 0 };
	int result;

	ck_ok(ctx, opk_nv_host_new(&host, ctx, catalog->chip, catalog->profiler, NULL));
	if (opk_nv_add_metrics(ctx, host, &name, 1)) {
		result = -opk_nv_host_status(host);
		opk_clear_errors(ctx);
	} else {
		ck_ok(ctx, opk_schedule_image(&made, ctx, host));
		result = (int)made.passes;
	}
	return result;
}

static void check_alone(struct opk_ctx *ctx, const struct opk_catalog *catalog,
                        const struct opk_full_name *name)
{
	int passes = opk_catalog_submetric(catalog, name->metric, name->submetric).passes;
	opk_autofree char *full = full_of(catalog, name);
	int alone = plan_alone(ctx, catalog, full);

	ck_assert_msg(alone == passes, "%s %s %s: %d, alone %d", catalog->chip,
	              opk_profiler_name(catalog->profiler), full, passes, alone);
}

static struct opk_catalog *complete(struct opk_ctx *ctx, const char *chip,
                                    enum opk_profiler profiler)
{
	struct opk_catalog *catalog = NULL;

	ck_ok(ctx, opk_catalog_new(&catalog, ctx, chip, profiler));
	ck_ok(ctx, opk_catalog_complete(catalog, ctx));
	return catalog;
}

/* A pseudorandom sample, the same each time. */
static uint32_t next_random(uint32_t *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 8;
}

static void check_passes(struct opk_ctx *ctx, const char *chip, size_t sample)
{
	freed(opk_catalog) *catalog = complete(ctx, chip, OPK_PROFILER_RANGE);
	uint32_t random = 1;
	size_t count;
	opk_autofree struct opk_full_name *names = all_names(catalog, &count);

	ck_ok(ctx, count_all(catalog, ctx));
	for (size_t i = 0; i < sample; i++)
		check_alone(ctx, catalog, &names[next_random(&random) % count]);
}

CTX_TEST(real_passes)
{
	static const char *const chips[] = { "TU102", "GA100", "AD102", "GH100", "GB202" };

	for (size_t i = 0; i < COUNT(chips); i++)
		/* In make check only the fastest chip. */
		if (is_long() || !strcmp(chips[i], "AD102"))
			check_passes(ctx, chips[i], is_long() ? 400 : 40);
}

/* Counts the passes of all names, and compares each with a plan. */
static void check_all(struct opk_ctx *ctx, struct opk_catalog *catalog,
                      const struct opk_full_name *names, size_t count)
{
	ck_ok(ctx, opk_catalog_count_passes(catalog, ctx, names, count, NULL));
	for (size_t i = 0; i < count; i++)
		check_alone(ctx, catalog, &names[i]);
}

/* Names of PM sampling share passes by their form: all names of some metrics. */
CTX_TEST(real_pm_passes)
{
	static const char *const chips[] = { "TU102", "GA102", "AD102", "GH100", "GB202" };

	/* TU102 and GH100; make check-long takes all. */
	for (size_t i = 0; i < COUNT(chips); i += is_long() ? 1 : 3) {
		freed(opk_catalog) *catalog = complete(ctx, chips[i], OPK_PROFILER_PM);
		size_t count, found = 0;
		opk_autofree struct opk_full_name *names = all_names(catalog, &count);

		for (size_t n = 0; n < count; n++)
			if ((names[n].metric - opk_catalog_get(catalog, 0)) % (is_long() ? 40 : 800)
			    == 0)
				names[found++] = names[n];
		check_all(ctx, catalog, names, found);
	}
}

/* Names that CUPTI refuses, in any hardware unit. */
CTX_TEST(real_refusals)
{
	static const struct {
		const char *chip, *pattern;
		enum opk_profiler profiler;
	} rows[] = {
		{ "GH100", "ctc__", OPK_PROFILER_RANGE },
		{ "GB202", "lts__t_requests_srcunit_ce_realtime", OPK_PROFILER_RANGE },
		{ "GB202", "lts__t_requests_srcnode_gpc_realtime", OPK_PROFILER_PM },
	};

	/* 12.6 does not know GB202. */
	for (size_t i = 0; i < (version_of(ctx) < CUPTI_12_8 ? 1 : COUNT(rows)); i++) {
		freed(opk_catalog) *catalog = complete(ctx, rows[i].chip, rows[i].profiler);
		size_t count, found = 0;
		opk_autofree struct opk_full_name *names = all_names(catalog, &count);

		for (size_t n = 0; n < count; n++)
			if (strstr(names[n].metric->name, rows[i].pattern)
			    && (is_long() || n % 9 == 0))
				names[found++] = names[n];
		check_all(ctx, catalog, names, found);
		ck_assert(version_of(ctx) != CUPTI_13_0 || found);
	}
}

/* PerfWorks converts each name for both profilers, and GH100 has the expected number. */
CTX_TEST(real_names)
{
	freed(opk_chips) *chips = NULL;

	ck_ok(ctx, opk_chips_new(&chips, ctx));
	for (size_t i = 0; i < opk_chips_count(chips); i++) {
		const struct opk_chip *chip = opk_chips_get(chips, i);

		for (int profiler = 0; profiler < 2; profiler++) {
			freed(opk_catalog) *catalog = NULL;

			if (!(profiler == OPK_PROFILER_PM ? chip->pm_sampling : chip->range)
			    || !is_sampled(chip->name))
				continue;
			catalog = complete(ctx, chip->name, (enum opk_profiler)profiler);
			ck_assert_uint_gt(total(catalog), 100);
			if (version_of(ctx) == CUPTI_13_0 && !strcmp(chip->name, "GH100")
			    && profiler == OPK_PROFILER_RANGE)
				ck_assert_uint_eq(total(catalog), 150179);
		}
	}
}

/* Up to 13.0 CUPTI reports the same units, each derived here from another name's; and scopes. */
CTX_TEST(real_units)
{
	static const char *const chips[] = { "TU102", "GH100", "GB202" };

	for (size_t i = 0; i < 2 * COUNT(chips); i++) {
		enum opk_profiler profiler = i % 2 ? OPK_PROFILER_PM : OPK_PROFILER_RANGE;
		freed(opk_catalog) *catalog = NULL;
		size_t count;
		opk_autofree struct opk_full_name *names = NULL;

		/* 12.6 does not know GB202. */
		if (version_of(ctx) < CUPTI_12_8 && i >= 4)
			break;
		catalog = complete(ctx, chips[i / 2], profiler);
		names = all_names(catalog, &count);
		for (size_t n = 0; version_of(ctx) <= CUPTI_13_0 && n < count;
		     n += count / enough(count)) {
			opk_autofree char *full = full_of(catalog, &names[n]);
			struct opk_metric said;

			ck_ok(ctx, opk_nv_properties(&said, ctx, catalog->host, full));
			ck_assert_msg(!strcmp(said.dim_unit,
			                      opk_catalog_submetric(catalog, names[n].metric,
			                                            names[n].submetric)
			                              .dim_unit),
			              "%s: %s", full, said.dim_unit);
		}
	}
}

static void check_unit(const struct opk_catalog *catalog, const char *name, const char *wanted)
{
	const struct opk_metric *metric = opk_catalog_find(catalog, name);
	const char *unit;
	size_t i;

	ck_assert_msg(metric, "%s", name);
	ck_assert(opk_catalog_find_submetric(&i, catalog, metric, name + strlen(metric->name)));
	unit = opk_catalog_submetric(catalog, metric, i).dim_unit;
	ck_assert_msg(!strcmp(unit, wanted), "%s: '%s', not '%s'", name, unit, wanted);
}

/* Every release reports the same units, 13.1 and later through PerfWorks. */
CTX_TEST(units_of_full_names)
{
	static const struct {
		const char *name, *unit;
	} rows[] = {
		{ "dram__bytes.sum", "byte" },
		{ "dram__bytes.sum.per_second", "byte/second" },
		{ "dram__bytes.sum.pct_of_peak_sustained_elapsed", "percent" },
		{ "dram__bytes.sum.peak_sustained", "byte/dram_cycle" },
		{ "sm__cycles_active.avg.per_cycle_elapsed", "" },
		{ "sm__cycles_active.avg.per_second", "gpc_cycle/second" },
		{ "sm__inst_executed.sum.per_cycle_active", "instruction/gpc_cycle" },
		{ "sm__throughput.avg.pct_of_peak_sustained_elapsed", "percent" },
		{ "lts__average_t_sector_srcunit_tex_hit_rate.max_rate", "" },
	};

	for (int profiler = OPK_PROFILER_RANGE; profiler <= OPK_PROFILER_PM; profiler++) {
		freed(opk_catalog) *catalog = complete(ctx, "GH100", (enum opk_profiler)profiler);

		for (size_t i = 0; i < COUNT(rows); i++)
			if (opk_catalog_find(catalog, rows[i].name))
				check_unit(catalog, rows[i].name, rows[i].unit);
	}
}

static int (*real_properties)(struct nv_HostGetMetricProperties *);

static int no_submetrics(struct nv_HostGetSubMetrics *params)
{
	(void)params;
	return NV_CUPTI_INVALID_METRIC_NAME;
}

static int no_base_properties(struct nv_HostGetMetricProperties *params)
{
	return params->pMetricName[opk_base_length(params->pMetricName)]
	               ? real_properties(params)
	               : NV_CUPTI_INVALID_METRIC_NAME;
}

/* The catalog expects of 12.x what later releases list: this hides their lists to compare. */
CTX_TEST(real_expected)
{
	static const struct {
		const char *chip;
		enum opk_profiler profiler;
	} rows[] = { { "TU102", OPK_PROFILER_RANGE }, { "GH100", OPK_PROFILER_PM } };
	struct opk_catalog *listed[COUNT(rows)];

	for (size_t i = 0; i < COUNT(rows); i++)
		listed[i] = complete(ctx, rows[i].chip, rows[i].profiler);
	real_properties = ctx->nv->call.cuptiProfilerHostGetMetricProperties;
	ctx->nv->call.cuptiProfilerHostGetMetricProperties = no_base_properties;
	ctx->nv->call.cuptiProfilerHostGetSubMetrics = no_submetrics;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct opk_catalog *catalog = complete(ctx, rows[i].chip, rows[i].profiler);

		check_same(catalog, listed[i]);
		opk_catalog_free(catalog);
		opk_catalog_free(listed[i]);
	}
}

/*
 * CUPTI has properties for names of regions and frames, plans them, and returns 0 or inf; it lists
 * none of them.
 */
CTX_TEST(unlisted_names)
{
	static const struct {
		struct here here;
		const char *name;
		bool listed;
	} rows[] = {
		{ HERE, "smsp__inst_executed.sum.per_cycle_elapsed", true },
		{ HERE, "smsp__inst_executed.sum.per_cycle_in_region", false },
		{ HERE, "smsp__inst_executed.sum.per_cycle_in_frame", false },
		{ HERE, "smsp__inst_executed.sum.peak_sustained_region.per_second", false },
		{ HERE, "sm__throughput.avg.pct_of_peak_sustained_elapsed", true },
		{ HERE, "sm__throughput.avg.pct_of_peak_sustained_frame", false },
	};
	struct opk_catalog *lists[2] = { NULL, complete(ctx, "GH100", OPK_PROFILER_RANGE) };

	ck_ok(ctx, opk_catalog_new(&lists[0], ctx, "GH100", OPK_PROFILER_RANGE));
	for (size_t i = 0; i < COUNT(rows); i++)
		for (size_t j = 0; j < COUNT(lists); j++)
			ck_row(&rows[i],
			       opk_catalog_has_full(lists[j], ctx, rows[i].name) == rows[i].listed,
			       "%s", rows[i].name);
	for (size_t j = 0; j < COUNT(lists); j++)
		opk_catalog_free(lists[j]);
}

static void check_traits(const char *metric, const char *suffix)
{
	opk_autofree char *name = opk_printf("%s%s", metric, suffix);

	ck_assert_msg(opk_metric_traits_known(name), "%s", name);
}

/* Metrics with a unit of time are times, and elapsed cycles per second are clocks. */
CTX_TEST(traits_of_counters)
{
	static const char *const chips[] = { "GH100", "TU102", "GB202" };

	for (size_t i = 0; i < COUNT(chips); i++) {
		freed(opk_catalog) *catalog = NULL;

		ck_ok(ctx, opk_catalog_new(&catalog, ctx, chips[i], OPK_PROFILER_RANGE));
		for (size_t j = 0; j < opk_catalog_count(catalog); j++) {
			const struct opk_metric *metric = opk_catalog_get(catalog, j);
			opk_autofree char *sum = opk_printf("%s.sum", metric->name);
			opk_autofree char *rate = opk_printf("%s.avg.per_second", metric->name);
			bool time = strstr(metric->dim_unit, "nanosecond");
			bool clock = strstr(metric->name, "cycles_elapsed");

			if (metric->type != OPK_COUNTER)
				continue;
			/* 12.x has no units. */
			ck_assert_msg(!time || opk_metric_traits(sum).clock, "%s", sum);
			ck_assert_msg(opk_metric_traits(rate).of_gpu == clock, "%s", rate);
		}
	}
}

/* All names that the library lists have known endings, so that names need no search. */
CTX_TEST(listed_suffixes)
{
	freed(opk_catalog) *catalog = complete(ctx, "GH100", OPK_PROFILER_RANGE);

	for (size_t i = 0; i < opk_catalog_count(catalog); i += 50) {
		const struct opk_metric *metric = opk_catalog_get(catalog, i);

		for (size_t j = 0; j < opk_catalog_submetric_count(catalog, metric); j++) {
			const char *suffix = opk_catalog_submetric(catalog, metric, j).suffix;

			ck_assert_msg(opk_has_listed_suffix(suffix), "%s%s", metric->name, suffix);
			check_traits(metric->name, suffix);
		}
	}
}

SUITE(.needs = have_cupti, .seconds = 300);
