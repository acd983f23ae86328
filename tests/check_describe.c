/* SPDX-License-Identifier: BSD-2-Clause */
/* Descriptions of metrics, similar names, nvprof's names: over the fake. */
#include <sys/stat.h>

#include "adapters/nv/nv.h"
#include "chip/chip.h"
#include "fake_nv.h"
#include "folder.h"

/* ---- suggestions */

static const struct {
	struct here here;
	const char *name;
	const char *first; /* NULL: none */
} suggests_rows[] = {
	{ HERE, "dram__byte", "dram__bytes" },
	{ HERE, "DRAM__BYTES", "dram__bytes" },
	{ HERE, "dram__read_bytes", "dram__bytes_read" },
	{ HERE, "dram_write_bytes", "dram__bytes_write" },
	{ HERE, "smm__inst_executed", "sm__inst_executed" },
	{ HERE, "sm__active_warps", "sm__warps_active" },
	{ HERE, "sm__inst_exec", "sm__inst_executed" },
	{ HERE, "zzzz", NULL },
	{ HERE, "", NULL },
	{ HERE, "____", NULL },
};

TEST_EACH(suggests, suggests_rows)
{
	static const char *const candidates[] = {
		"dram__bytes",       "dram__bytes_read",    "dram__bytes_write", "lts__t_bytes",
		"sm__inst_executed", "smsp__inst_executed", "sm__warps_active",  "dram__sectors",
	};
	struct opk_suggestions s = { .name = row->name };

	for (size_t j = 0; j < COUNT(candidates); j++)
		opk_suggestions_try(&s, candidates[j]);
	ck_row(row, s.count <= OPK_MAX_SUGGESTIONS, "%zu names", s.count);
	ck_row(row, !row->first == !s.count, "%zu names", s.count);
	ck_row(row, !s.count || !strcmp(s.best[0].name, row->first), "%s", s.best[0].name);
	for (size_t j = 1; j < s.count; j++)
		ck_row(row, s.best[j - 1].cost <= s.best[j].cost, "out of order");
}

static const struct {
	struct here here;
	const char *name, *candidate;
	bool wanted;
} suggests_no_other_quantity_rows[] = {
	{ HERE, "dram__bytes_read", "dram__bytes_op_read", true },
	{ HERE, "dram__bytes_read", "dram__bytes_write", false },
	{ HERE, "dram__bytes_raed", "dram__bytes_read", true },
	{ HERE, "dram__bytes_read", "dram__sectors_read", false },
	{ HERE, "lts__t_sectors_op_ld", "lts__t_sectors_op_read", true },
	{ HERE, "lts__t_sectors_op_ld", "lts__t_sectors_op_st", false },
	{ HERE, "lts__t_sectors_lookup_hit", "lts__t_sectors_lookup_miss", false },
	{ HERE, "nvlrx__bytes", "nvltx__bytes", false },
	{ HERE, "half_precision_fu_utilisation", "half_precision_fu_utilization", true },
	{ HERE, "half_precision_fu_utilisation", "double_precision_fu_utilization", false },
	{ HERE, "smsp__inst_executed_pipe_fp16", "smsp__inst_executed_pipe_fp64", false },
};

/* A different direction, unit or precision is not a misspelling. */
TEST_EACH(suggests_no_other_quantity, suggests_no_other_quantity_rows)
{
	struct opk_suggestions s = { .name = row->name };

	opk_suggestions_try(&s, row->candidate);
	ck_row(row, (s.count == 1) == row->wanted, "%zu", s.count);
}

/* ---- over the fake */

static struct opk_catalog *catalog_of(struct opk_ctx *ctx, enum opk_profiler profiler)
{
	struct opk_catalog *catalog = NULL;

	ck_ok(ctx, opk_catalog_new(&catalog, ctx, "FA100", profiler));
	ck_ok(ctx, opk_catalog_complete(catalog, ctx));
	return catalog;
}

/* Texts and lists of a listing's rows: "raw_a: gpu_sm_a; raw_b". */
static const char *rows_of(struct opk_ctx *ctx, const struct opk_description *d,
                           enum opk_description_list list)
{
	static char text[1024];
	freed(opk_listing) *rows = NULL;
	const struct opk_column *columns;
	size_t count, used = 0;

	ck_ok(ctx, opk_description_list(&rows, ctx, d, list));
	columns = opk_listing_columns(rows, &count);
	text[0] = '\0';
	for (size_t i = 0; i < opk_listing_count(rows); i++) {
		const union opk_cell *row = opk_listing_get(rows, i);

		used += (size_t)sprintf(text + used, "%s%s", i ? "; " : "", row[0].string);
		if (columns[1].type == OPK_CELL_STRING)
			used += (size_t)sprintf(text + used, ": %s", row[1].string);
		for (size_t j = 0; columns[1].type == OPK_CELL_LIST && j < row[1].list.count; j++)
			used += (size_t)sprintf(text + used, ": %s", row[1].list.items[j]);
	}
	return text;
}

static size_t count_of(struct opk_ctx *ctx, const struct opk_description *d,
                       enum opk_description_list list)
{
	freed(opk_listing) *rows = NULL;
	size_t count;

	ck_ok(ctx, opk_description_list(&rows, ctx, d, list));
	count = opk_listing_count(rows);
	return count;
}

/* How many domains the first raw counter has. */
static size_t domains_of(struct opk_ctx *ctx, const struct opk_description *d)
{
	freed(opk_listing) *rows = NULL;
	size_t count = 0;

	ck_ok(ctx, opk_description_list(&rows, ctx, d, OPK_DESCRIPTION_COUNTERS));
	if (opk_listing_count(rows))
		count = opk_listing_get(rows, 0)[1].list.count;
	return count;
}

FAKE_TEST(describes)
{
	struct opk_catalog *catalog = catalog_of(ctx, OPK_PROFILER_RANGE);
	struct opk_description *d;
	struct opk_listing *rows;
	const union opk_cell *about;

	ck_ok(ctx, opk_catalog_describe(&d, ctx, catalog, "fake__a"));
	ck_ok(ctx, opk_description_list(&rows, ctx, d, OPK_DESCRIPTION_METRIC));
	ck_assert_uint_eq(opk_listing_count(rows), 1);
	about = opk_listing_get(rows, 0);
	ck_assert_str_eq(about[2].string, "fake__a.sum");
	ck_assert_uint_eq(about[8].either.uint, 1);
	ck_assert_uint_eq(about[11].list.count, 1);
	ck_assert_str_eq(about[11].list.items[0], "FB100");
	opk_listing_free(rows);
	ck_assert_uint_eq(count_of(ctx, d, OPK_DESCRIPTION_COUNTERS), 2);
	ck_assert_msg(!strncmp(rows_of(ctx, d, OPK_DESCRIPTION_COUNTERS), "raw_a: gpu_sm_a; ", 17),
	              "%s", rows_of(ctx, d, OPK_DESCRIPTION_COUNTERS));
	ck_assert_uint_eq(count_of(ctx, d, OPK_DESCRIPTION_CONSTITUENTS), 0);
	ck_assert_uint_eq(count_of(ctx, d, OPK_DESCRIPTION_LEGACY), 0);
	ck_assert_uint_eq(count_of(ctx, d, OPK_DESCRIPTION_TERMS), 0);
	opk_description_free(d);
	ck_ok(ctx, opk_catalog_describe(&d, ctx, catalog, "fake__throughput"));
	ck_assert_str_eq(rows_of(ctx, d, OPK_DESCRIPTION_CONSTITUENTS),
	                 "fake__a: counter; fake__b: counter; fake__throughput: throughput");
	opk_description_free(d);
	/* A ratio has raw counters, but no metric counts raw_r, and raw_shared is not a counter. */
	ck_ok(ctx, opk_catalog_describe(&d, ctx, catalog, "fake__ratio.pct"));
	ck_assert_uint_eq(count_of(ctx, d, OPK_DESCRIPTION_CONSTITUENTS), 0);
	opk_description_free(d);
	opk_description_free(NULL);
	/* A metric that can't be planned is described, too. */
	ck_ok(ctx, opk_catalog_describe(&d, ctx, catalog, "fake__listed.sum"));
	ck_ok(ctx, opk_description_list(&rows, ctx, d, OPK_DESCRIPTION_METRIC));
	ck_assert_str_eq(opk_listing_get(rows, 0)[8].either.word, "unschedulable");
	opk_listing_free(rows);
	opk_description_free(d);
	opk_catalog_free(catalog);
	ck_assert_int_eq(fake.hosts, 0);
	ck_assert_int_eq(fake.evaluators, 0);
	ck_assert_int_eq(fake.schedulers, 0);
}

FAKE_TEST(unknown_names)
{
	static const struct {
		struct here here;
		const char *name, *told;
	} rows[] = {
		{ HERE, "fake__aa", "FA100 has no metric 'fake__aa'; the nearest: fake__a" },
		{ HERE, "fake__aa.sum", "the nearest: fake__a.sum" },
		{ HERE, "fake__a.summ",
		  "fake__a has no rollup or submetric '.summ'; the nearest: "
		  "fake__a.sum" },
		{ HERE, "nothing__like_that", "no metric 'nothing__like_that'" },
		{ HERE, "achieved_ocupancy", "the nearest: achieved_occupancy" },
	};
	freed(opk_catalog) *catalog = catalog_of(ctx, OPK_PROFILER_RANGE);
	struct opk_description *d = NULL;

	for (size_t i = 0; i < COUNT(rows); i++) {
		int code = opk_catalog_describe(&d, ctx, catalog, rows[i].name);

		ck_row(&rows[i], code == OPK_EUSAGE, "code %d", code);
		ck_row(&rows[i], told(ctx, rows[i].told), "%s", errors_of(ctx));
	}
	ck_assert_ptr_null(d);
}

/* Each call fails, one after the other: the description fails, or a part is left out. */
FAKE_TEST(calls_fail)
{
	freed(opk_catalog) *catalog = catalog_of(ctx, OPK_PROFILER_RANGE);
	struct opk_description *d;

	for (size_t call = 0; call < FAKE_SYMBOL_COUNT; call++) {
		int code;

		/* If these calls failed, objects of the fake would not be freed. */
		if (call == FAKE_cuptiProfilerHostDeinitialize
		    || call == FAKE_NVPW_RawCounterConfig_Destroy)
			continue;
		fake.status[call] = 1;
		code = opk_catalog_describe(&d, ctx, catalog,
		                            "fake__throughput.avg.pct_of_peak_sustained_elapsed");
		if (!code)
			opk_description_free(d);
		fake.status[call] = 0;
		/* Destroy is called for every object, even if it fails. */
		ck_assert_msg(call == FAKE_NVPW_MetricsEvaluator_Destroy || !fake.evaluators,
		              "call %zu: %d evaluators", call, fake.evaluators);
		ck_assert_msg(!fake.schedulers, "call %zu: %d schedulers", call, fake.schedulers);
		fake.evaluators = fake.schedulers = 0;
	}
}

/* Passes are known: counters and their domains are read now, and that fails. */
static const struct asked {
	struct here here;
	enum opk_profiler profiler;
	enum fake_call call;
	const char *symbol;
	int status, wanted;
	size_t counters, domains; /* of the first */
} asked[] = {
	{ HERE, OPK_PROFILER_PM, CALL(NVPW_InitializeHost), 0, OPK_OK, 2, 1 },
	/* CUPTI refuses the metric. */
	{ HERE, OPK_PROFILER_PM, CALL(cuptiProfilerHostConfigAddMetrics), 999, OPK_OK, 0, 0 },
	{ HERE, OPK_PROFILER_PM, CALL(cuptiProfilerHostConfigAddMetrics), 17, OPK_OK, 0, 0 },
	{ HERE, OPK_PROFILER_PM, CALL(cuptiProfilerHostConfigAddMetrics), 8, OPK_ENOMEM, 0, 0 },
	{ HERE, OPK_PROFILER_PM, CALL(cuptiProfilerHostGetConfigImageSize), 7, OPK_EFAILED, 0, 0 },
	{ HERE, OPK_PROFILER_PM, CALL(cuptiProfilerHostGetConfigImage), 7, OPK_EFAILED, 0, 0 },
	{ HERE, OPK_PROFILER_PM, CALL(cuptiProfilerHostGetNumOfPasses), 1, OPK_EFAILED, 0, 0 },
	{ HERE, OPK_PROFILER_PM, CALL(NVPW_Config_GetRawCounters), 2, OPK_EFAILED, 0, 0 },
	{ HERE, OPK_PROFILER_RANGE, CALL(NVPW_InitializeHost), 0, OPK_OK, 2, 1 },
	/* PerfWorks does not know the name, or returns no counters. */
	{ HERE, OPK_PROFILER_RANGE,
	  CALL(NVPW_MetricsEvaluator_ConvertMetricNameToMetricEvalRequest), 8, OPK_OK, 2, 1 },
	{ HERE, OPK_PROFILER_RANGE,
	  CALL(NVPW_MetricsEvaluator_ConvertMetricNameToMetricEvalRequest), 2, OPK_EFAILED, 0, 0 },
	{ HERE, OPK_PROFILER_RANGE, CALL(NVPW_MetricsEvaluator_GetMetricRawDependencies), 8,
	  OPK_EFAILED, 0, 0 },
	/* The chip does not count it; any other failure is an error. */
	{ HERE, OPK_PROFILER_RANGE, CALL(NVPW_RawCounterConfig_GetRawCounterProperties), 8, OPK_OK,
	  2, 0 },
	{ HERE, OPK_PROFILER_RANGE, CALL(NVPW_RawCounterConfig_GetRawCounterProperties), 18, OPK_OK,
	  2, 0 },
	{ HERE, OPK_PROFILER_RANGE, CALL(NVPW_RawCounterConfig_GetRawCounterProperties), 2,
	  OPK_EFAILED, 0, 0 },
	{ HERE, OPK_PROFILER_RANGE, CALL(NVPW_RawCounterConfig_RawCounterDomainToString), 8,
	  OPK_EFAILED, 0, 0 },
};

FAKE_TEST_EACH(counters_of, asked)
{
	struct opk_catalog *catalog = catalog_of(ctx, row->profiler);
	struct opk_description *d = NULL;
	int code;

	ck_ok(ctx, opk_catalog_describe(&d, ctx, catalog, "fake__a.sum"));
	opk_description_free(opk_take(d));
	fake.status[row->call] = row->status;
	code = opk_catalog_describe(&d, ctx, catalog, "fake__a.sum");
	ck_row_ends(row, ctx, code, row->wanted, row->symbol);
	ck_row(row, code || !opk_error_count(ctx), "%s", errors_of(ctx));
	if (!code) {
		size_t counters = count_of(ctx, d, OPK_DESCRIPTION_COUNTERS);

		ck_row(row, counters == row->counters, "%zu", counters);
		ck_row(row, domains_of(ctx, d) == row->domains, "%zu domains", domains_of(ctx, d));
	}
	opk_description_free(d);
	opk_catalog_free(catalog);
	ck_assert_int_eq(fake.hosts + fake.evaluators + fake.schedulers, 0);
}

FAKE_TEST(odd_constituents)
{
	freed(opk_catalog) *catalog = catalog_of(ctx, OPK_PROFILER_RANGE);
	struct opk_description *d;

	fake.odd_constituents = true;
	ck_fails(ctx, opk_catalog_describe(&d, ctx, catalog, "fake__throughput"), OPK_EFAILED,
	         "constituent 99 of 1 metrics");
}

static void count_log(void *data, const char *message)
{
	++*(int *)data;
	ck_assert_ptr_nonnull(strstr(message, "left out"));
}

static const struct {
	struct here here;
	enum fake_call call;
	const char *symbol;
	size_t counters, domains, constituents;
} without_a_symbol_rows[] = {
	{ HERE, CALL(NVPW_MetricsEvaluator_GetMetricNames), 2, 1, 0 },
	{ HERE, CALL(NVPW_CUDA_RawCounterConfig_Create), 2, 0, 3 },
};

/* A missing symbol's part is left out, with a note. */
TEST_EACH(without_a_symbol, without_a_symbol_rows)
{
	struct nv_table table = fake_table();
	freed(opk_ctx) *ctx = NULL;
	freed(opk_catalog) *catalog = NULL;
	freed(opk_description) *d = NULL;
	size_t counters, constituents;
	int logs = 0;

	fake_reset();
	*fake_slot(&table, row->call) = NULL;
	ctx = fake_ctx_of(&table);
	ctx->log = count_log;
	ctx->log_data = &logs;
	catalog = catalog_of(ctx, OPK_PROFILER_RANGE);
	ck_ok(ctx, opk_catalog_describe(&d, ctx, catalog, "fake__throughput"));
	counters = count_of(ctx, d, OPK_DESCRIPTION_COUNTERS);
	ck_row(row, counters == row->counters, "%zu counters", counters);
	ck_row(row, !domains_of(ctx, d) == !row->domains, "domains");
	constituents = count_of(ctx, d, OPK_DESCRIPTION_CONSTITUENTS);
	ck_row(row, constituents == row->constituents, "%zu constituents", constituents);
	ck_row(row, logs == 1, "%d logs", logs);
}

/* ---- nvprof's names */

static void put_legacy(struct opk_ctx *ctx, const char *text, size_t size)
{
	put_file("legacy_names.tsv", text, size);
	free((void *)(uintptr_t)ctx->data_dir);
	ctx->data_dir = strdup(folder);
}

FAKE_TEST(legacy)
{
	static const char text[] = "kind\tlegacy\tperfworks\n"
				   "metric\tone\t(fake__a.sum + fake__a.sum) / fake__bb.sum\n"
				   "event\tone\tfake__b.sum\n"
				   "event\tnone\t\n"
				   "metric\tbare\tfake__a * 32\n"
				   "metric\tmany\tfake__{op}.sum * 32";
	freed(opk_catalog) *catalog = catalog_of(ctx, OPK_PROFILER_RANGE);
	struct opk_legacy *l;

	put_legacy(ctx, text, sizeof text - 1);
	ck_ok(ctx, opk_legacy_new(&l, ctx, catalog, "one"));
	ck_assert_str_eq(l->kind, "metric");
	ck_assert_str_eq(l->other_kind, "event");
	ck_assert_str_eq(l->other_formula, "fake__b.sum");
	ck_assert_uint_eq(l->term_count, 2);
	ck_assert(l->terms[0].exists && !l->terms[0].nearest && !l->terms[1].exists);
	/* A metric that the chip lacks has no similar one: the table would name it. */
	ck_assert_ptr_null(l->terms[1].nearest);
	ck_assert_str_eq(l->lack, "it has no fake__bb.sum");
	opk_legacy_free(l);
	ck_ok(ctx, opk_legacy_new(&l, ctx, catalog, "none"));
	ck_assert_str_eq(l->formula, "");
	ck_assert_uint_eq(l->term_count, 0);
	opk_legacy_free(l);
	ck_ok(ctx, opk_legacy_new(&l, ctx, catalog, "many"));
	ck_assert(l->terms[0].exists);
	ck_assert_str_eq(l->terms[0].nearest, "fake__a.sum");
	opk_legacy_free(l);
	ck_ok(ctx, opk_legacy_new(&l, ctx, catalog, "bare"));
	ck_assert(!l->terms[0].exists && !l->terms[0].nearest);
	opk_legacy_free(l);
	ck_ok(ctx, opk_legacy_new(&l, ctx, catalog, "unknown"));
	ck_assert_ptr_null(l);
	opk_legacy_free(l);
}

static const struct {
	struct here here;
	const char *text;
	size_t size;
	int wanted;
} damaged_legacy_rows[] = {
	{ HERE, "", 0, OPK_OK },
	{ HERE, "\n\n\n", 3, OPK_OK },
	{ HERE, "kind\tlegacy\n", 12, OPK_OK },
	{ HERE, "a\nmetric\n", 9, OPK_EINPUT },
	{ HERE, "a\nmetric\tone\n", 13, OPK_EINPUT },
	{ HERE, "a\nmetric\t\t\n", 11, OPK_EINPUT },
	{ HERE, "a\nmetric\tone\t{__\n", 17, OPK_OK },
	{ HERE, "a\nmetric\tone\t}__{\n", 18, OPK_OK },
	{ HERE, "a\0b\n", 4, OPK_EINPUT },
};

FAKE_TEST_EACH(damaged_legacy, damaged_legacy_rows)
{
	freed(opk_catalog) *catalog = catalog_of(ctx, OPK_PROFILER_RANGE);
	freed(opk_legacy) *l = NULL;
	int code;

	put_legacy(ctx, row->text, row->size);
	code = opk_legacy_new(&l, ctx, catalog, "one");
	ck_row(row, code == row->wanted, "code %d: %s", code, errors_of(ctx));
}

/* The shipped file: every formula consists of names, numbers, and operators. */
TEST(shipped_legacy)
{
	FILE *file = fopen(TEST_DATA_DIR "/legacy_names.tsv", "r");
	char line[4096];
	size_t rows = 0;

	ck_assert_ptr_nonnull(file);
	while (fgets(line, sizeof line, file)) {
		char *rest = line;
		const char *kind = strsep(&rest, "\t"), *name = rest ? strsep(&rest, "\t") : NULL;

		ck_assert_msg(name && rest, "line %zu", rows + 1);
		if (rows++)
			ck_assert_msg((!strcmp(kind, "metric") || !strcmp(kind, "event")) && *name,
			              "line %zu", rows);
	}
	fclose(file);
	ck_assert_uint_eq(rows, 262);
}

SUITE(.set_up = make_folder, .tear_down = remove_folder);
