/* SPDX-License-Identifier: BSD-2-Clause */
/* Catalogs with all their full names, their pass counts, and the cache. */
#include "adapters/nv/nv.h"
#include "allocation.h"
#include "catalogs.h"
#include "fake_nv.h"
#include "folder.h"

/* ---- the table */

static void check_text(struct opk_catalog_table *table, const char *text)
{
	uint32_t first, second;

	ck_assert(opk_catalog_table_text(&first, table, text));
	ck_assert(opk_catalog_table_text(&second, table, text));
	ck_assert_uint_eq(first, second);
	ck_assert_str_eq(opk_catalog_table_get(table, first), text);
}

TEST(text_is_kept_once)
{
	struct opk_catalog_table table;
	char name[32];
	size_t size;

	ck_assert(opk_catalog_table_init(&table, 0));
	check_text(&table, "");
	for (int i = 0; i < 40000; i++) {
		snprintf(name, sizeof name, "name %d", i);
		check_text(&table, name);
	}
	size = table.text.size;
	for (int i = 0; i < 40000; i++) {
		snprintf(name, sizeof name, "name %d", i);
		check_text(&table, name);
	}
	ck_assert_uint_eq(table.text.size, size);
	opk_catalog_table_clear(&table);
}

static void add_sub(struct opk_catalog_table *table, size_t base, const char *suffix,
                    const char *unit)
{
	struct opk_sub_record sub = { 0 };

	ck_assert(opk_catalog_table_text(&sub.suffix, table, suffix));
	ck_assert(opk_catalog_table_text(&sub.dim_unit, table, unit));
	ck_assert(opk_catalog_table_add(table, &table->bases[base], &sub));
}

static void fill_table(struct opk_catalog_table *table)
{
	ck_assert(opk_catalog_table_init(table, 2));
	ck_assert(opk_catalog_table_text(&table->bases[0].name, table, "a__b"));
	ck_assert(opk_catalog_table_text(&table->bases[1].name, table, "c__d"));
	add_sub(table, 0, ".sum", "byte");
	add_sub(table, 0, ".avg", "byte");
	add_sub(table, 1, ".pct", "percent");
	table->subs[1].passes = -27;
	table->bases[1].scope = OPK_SCOPE_DEVICE;
}

/* A text that could not be added is not found later. */
TEST(tables_without_memory)
{
	static const char text[] = "dram__bytes";
	struct opk_catalog_table table;
	uint32_t at = 7;

	ck_assert(opk_catalog_table_init(&table, 1));
	fail_allocation(0);
	ck_assert(!opk_catalog_table_text(&at, &table, text));
	ck_assert(allocation_failed());
	ck_assert(!opk_catalog_table_text(&at, &table, text));
	ck_assert_uint_eq(at, 0);
	opk_catalog_table_clear(&table);
}

TEST(tables_are_read_as_written)
{
	opk_autobuf struct opk_buf bytes = { 0 };
	struct opk_catalog_table table, again;

	fill_table(&table);
	opk_catalog_table_write(&bytes, &table);
	ck_assert(!bytes.failed);
	ck_assert(opk_catalog_table_read(&again, bytes.data, bytes.size));
	ck_assert_uint_eq(again.base_count, 2);
	ck_assert_uint_eq(again.sub_count, 3);
	ck_assert_str_eq(opk_catalog_table_get(&again, again.bases[1].name), "c__d");
	ck_assert_uint_eq(again.bases[1].first, 2);
	ck_assert_str_eq(opk_catalog_table_get(&again, again.subs[2].suffix), ".pct");
	ck_assert_int_eq(again.subs[1].passes, -27);
	ck_assert_uint_eq(again.bases[1].scope, OPK_SCOPE_DEVICE);
	opk_catalog_table_clear(&again);
	for (size_t size = 0; size < bytes.size; size++)
		ck_assert(!opk_catalog_table_read(&again, bytes.data, size));
	opk_catalog_table_clear(&table);
}

/* No number in the table points outside of it. Uses all that was read: sanitizers would report. */
TEST(tables_are_checked)
{
	opk_autobuf struct opk_buf bytes = { 0 };
	struct opk_catalog_table table, again;
	volatile size_t length = 0;

	fill_table(&table);
	opk_catalog_table_write(&bytes, &table);
	for (size_t i = 0; i < bytes.size; i++) {
		uint8_t was = bytes.data[i];

		for (int value = 0; value < 256; value += 51) {
			bytes.data[i] = (uint8_t)value;
			if (!opk_catalog_table_read(&again, bytes.data, bytes.size))
				continue;
			for (size_t b = 0; b < again.base_count; b++) {
				const struct opk_base_record *base = &again.bases[b];

				length += strlen(opk_catalog_table_get(&again, base->name));
				ck_assert_int_le(base->scope, OPK_SCOPE_DEVICE);
				for (size_t s = 0; s < base->count; s++)
					length += strlen(opk_catalog_table_get(
						&again, again.subs[base->first + s].dim_unit));
			}
			opk_catalog_table_clear(&again);
		}
		bytes.data[i] = was;
	}
	opk_catalog_table_clear(&table);
}

/* ---- over the fake */

static struct opk_submetric sub_of(const struct opk_catalog *catalog, const char *full)
{
	const struct opk_metric *metric = opk_catalog_find(catalog, full);

	ck_assert_msg(metric != NULL, "%s", full);
	for (size_t i = 0; i < opk_catalog_submetric_count(catalog, metric); i++) {
		struct opk_submetric sub = opk_catalog_submetric(catalog, metric, i);

		if (!strcmp(sub.suffix, full + strlen(metric->name)))
			return sub;
	}
	ck_abort_msg("no %s", full);
	return (struct opk_submetric){ 0 };
}

static const struct {
	struct here here;
	const char *name;
	int passes;
	enum opk_method method;
} fake_passes[] = {
	{ HERE, "fake__a.sum", 1, OPK_METHOD_HARDWARE },
	{ HERE, "fake__b.sum", 1, OPK_METHOD_HARDWARE },
	{ HERE, "fake__ratio.pct", 2, OPK_METHOD_HARDWARE },
	{ HERE, "fake__throughput.avg.pct_of_peak_sustained_elapsed", 1, OPK_METHOD_BOTH },
	{ HERE, "fake__listed.sum", -999, OPK_METHOD_HARDWARE },
};

static void check_fake_passes(const struct opk_catalog *catalog, bool methods)
{
	for (size_t i = 0; i < COUNT(fake_passes); i++) {
		struct opk_submetric sub = sub_of(catalog, fake_passes[i].name);

		ck_row(&fake_passes[i], sub.passes == fake_passes[i].passes, "%d", sub.passes);
		ck_row(&fake_passes[i],
		       sub.method == (methods ? fake_passes[i].method : OPK_METHOD_UNKNOWN), "%d",
		       sub.method);
	}
}

FAKE_TEST(fake_catalog)
{
	struct opk_catalog *catalog;

	ck_ok(ctx, opk_catalog_new(&catalog, ctx, "fa100", OPK_PROFILER_RANGE));
	ck_assert_uint_eq(total(catalog), 0);
	ck_assert(opk_catalog_has_full(catalog, ctx, "fake__a.sum"));
	ck_ok(ctx, opk_catalog_complete(catalog, ctx));
	ck_assert_uint_eq(total(catalog), 7);
	ck_assert_str_eq(sub_of(catalog, "fake__ratio.pct").dim_unit, "bytes");
	ck_assert_int_eq(sub_of(catalog, "fake__a.sum").passes, 0);
	ck_assert(opk_catalog_has_full(catalog, ctx, "fake__a.sum"));
	ck_assert(!opk_catalog_has_full(catalog, ctx, "fake__a.avg"));
	ck_assert(!opk_catalog_has_full(catalog, ctx, "fake__a"));
	ck_ok(ctx, count_all(catalog, ctx));
	check_fake_passes(catalog, true);
	/* A full name whose submetric its metric does not have is unknown. */
	ck_ok(ctx,
	      opk_catalog_count_passes(catalog, ctx,
	                               &(struct opk_full_name){ opk_catalog_get(catalog, 0), 1 }, 1,
	                               NULL));
	check_fake_passes(catalog, true);
	ck_assert_str_eq(opk_refusal_name(sub_of(catalog, "fake__listed.sum").passes),
	                 "CUPTI_ERROR_UNKNOWN");
	ck_assert_str_eq(opk_refusal_name(1), "");
	opk_catalog_free(catalog);
	ck_assert_int_eq(fake.hosts + fake.evaluators + fake.schedulers, 0);
}

static const struct {
	struct here here;
	enum fake_deed deed;
	int wanted;
} passes_with_availability_rows[] = {
	{ HERE, FAKE_RETURNS, OPK_OK },
	{ HERE, FAKE_SEGFAULTS, OPK_EINPUT },
	{ HERE, FAKE_EXITS_HAPPY, OPK_EINPUT },
};

FAKE_TEST_EACH(passes_with_availability, passes_with_availability_rows)
{
	freed(opk_catalog) *catalog = NULL;
	int code;

	ck_ok(ctx, opk_catalog_new(&catalog, ctx, "FA100", OPK_PROFILER_RANGE));
	ck_ok(ctx, opk_catalog_complete(catalog, ctx));
	ck_ok(ctx, count_all(catalog, ctx));
	ck_ok(ctx, opk_catalog_set_availability(catalog, ctx, fake_image(), FAKE_IMAGE_SIZE));
	ck_assert_int_eq(sub_of(catalog, "fake__a.sum").passes, 0);
	fake.availability_deed = row->deed;
	code = count_all(catalog, ctx);
	ck_row(row, code == row->wanted, "code %d: %s", code, errors_of(ctx));
	if (!code)
		check_fake_passes(catalog, true);
	ck_row(row, !code || told(ctx, "availability image can't be used"), "%s", errors_of(ctx));
	ck_ok(ctx, opk_catalog_set_availability(catalog, ctx, NULL, 0));
	ck_ok(ctx, count_all(catalog, ctx));
	check_fake_passes(catalog, true);
}

/* Without PerfWorks' scheduler or evaluator, and for PM sampling, CUPTI plans each name. */
TEST(passes_without_perfworks)
{
	static const enum fake_call missing[] = {
		FAKE_NVPW_CUDA_RawCounterConfig_Create,
		FAKE_NVPW_CUDA_MetricsEvaluator_Initialize,
	};

	for (size_t i = 0; i <= COUNT(missing); i++) {
		struct nv_table table;
		freed(opk_ctx) *ctx = NULL;
		freed(opk_catalog) *catalog = NULL;

		fake_reset();
		table = fake_table();
		if (i < COUNT(missing))
			*fake_slot(&table, missing[i]) = NULL;
		ctx = fake_ctx_of(&table);
		ck_ok(ctx,
		      opk_catalog_new(&catalog, ctx, "FA100",
		                      i < COUNT(missing) ? OPK_PROFILER_RANGE : OPK_PROFILER_PM));
		ck_ok(ctx, opk_catalog_complete(catalog, ctx));
		ck_ok(ctx, count_all(catalog, ctx));
		check_fake_passes(catalog, false);
	}
}

/* PerfWorks does not know counters without a domain, so CUPTI is asked. */
TEST(uncounted_counters)
{
	static const int statuses[] = { 8, 18 };

	for (size_t i = 0; i < COUNT(statuses); i++) {
		freed(opk_ctx) *ctx = fake_ctx();
		freed(opk_catalog) *catalog = NULL;

		ck_ok(ctx, opk_catalog_new(&catalog, ctx, "FA100", OPK_PROFILER_RANGE));
		ck_ok(ctx, opk_catalog_complete(catalog, ctx));
		fake.status[FAKE_NVPW_RawCounterConfig_GetRawCounterProperties] = statuses[i];
		ck_ok(ctx, count_all(catalog, ctx));
		check_fake_passes(catalog, false);
	}
}

static const struct {
	struct here here;
	enum fake_call call;
	int status, wanted;
} calls_fail_rows[] = {
	{ HERE, FAKE_cuptiProfilerHostInitialize, 8, OPK_EFAILED },
	{ HERE, FAKE_cuptiProfilerHostConfigAddMetrics, 8, OPK_ENOMEM },
	{ HERE, FAKE_cuptiProfilerHostGetConfigImage, 8, OPK_EFAILED },
	{ HERE, FAKE_cuptiProfilerHostGetNumOfPasses, 1, OPK_EFAILED },
	{ HERE, FAKE_NVPW_MetricsEvaluator_ConvertMetricNameToMetricEvalRequest, 2, OPK_EFAILED },
	{ HERE, FAKE_NVPW_MetricsEvaluator_GetMetricRawDependencies, 8, OPK_EFAILED },
	{ HERE, FAKE_NVPW_RawCounterConfig_AreRawCountersSchedulable, 8, OPK_EFAILED },
	{ HERE, FAKE_NVPW_RawCounterConfig_GetRawCounterProperties, 2, OPK_EFAILED },
	{ HERE, FAKE_NVPW_RawCounterConfig_RawCounterDomainToString, 8, OPK_EFAILED },
};

FAKE_TEST_EACH(calls_fail, calls_fail_rows)
{
	struct opk_catalog *catalog;

	ck_ok(ctx, opk_catalog_new(&catalog, ctx, "FA100", OPK_PROFILER_RANGE));
	ck_ok(ctx, opk_catalog_complete(catalog, ctx));
	fake.status[row->call] = row->status;
	ck_row_ends(row, ctx, count_all(catalog, ctx), row->wanted, "can't be counted");
	ck_assert_int_eq(sub_of(catalog, "fake__a.sum").passes, 0);
	opk_catalog_free(catalog);
	ck_assert_int_eq(fake.hosts + fake.evaluators + fake.schedulers, 0);
}

/* 12.x: submetrics that later releases list, if the metric has properties. */
FAKE_TEST(submetrics_that_are_not_listed)
{
	freed(opk_catalog) *listed = NULL, *catalog = NULL;

	ck_ok(ctx, opk_catalog_new(&listed, ctx, "FA100", OPK_PROFILER_RANGE));
	ck_ok(ctx, opk_catalog_complete(listed, ctx));
	fake.lists_no_submetrics = true;
	ck_ok(ctx, opk_catalog_new(&catalog, ctx, "FA100", OPK_PROFILER_RANGE));
	ck_assert(opk_catalog_has_full(catalog, ctx, "fake__a.sum"));
	ck_assert(!opk_catalog_has_full(catalog, ctx, "fake__a.avg"));
	ck_ok(ctx, opk_catalog_complete(catalog, ctx));
	check_same(catalog, listed);
	ck_ok(ctx, count_all(catalog, ctx));
	check_fake_passes(catalog, true);
}

FAKE_TEST(no_submetrics_at_all)
{
	freed(opk_catalog) *catalog = NULL;

	fake.status[FAKE_cuptiProfilerHostGetSubMetrics] = NV_CUPTI_INVALID_METRIC_NAME;
	fake.status[FAKE_cuptiProfilerHostGetMetricProperties] = NV_CUPTI_INVALID_METRIC_NAME;
	ck_ok(ctx, opk_catalog_new(&catalog, ctx, "FA100", OPK_PROFILER_RANGE));
	/* Without facts about the metrics, no name can be refused. */
	ck_assert(opk_catalog_has_full(catalog, ctx, "fake__a.sum"));
	ck_fails(ctx, opk_catalog_complete(catalog, ctx), OPK_ENVIDIA, "this libcupti lists none");
	ck_assert_uint_eq(total(catalog), 0);
}

static int make_catalog(struct opk_ctx *ctx)
{
	freed(opk_catalog) *catalog = NULL;

	TRY(opk_catalog_new(&catalog, ctx, "FA100", OPK_PROFILER_RANGE));
	return opk_catalog_complete(catalog, ctx);
}

static const bool listless[] = { false, true };

FAKE_TEST_EACH(without_memory, listless)
{
	long n = 0;

	fake.lists_no_submetrics = *row;
	for (; is_short(ctx, n, make_catalog(ctx)); n++)
		ck_assert_int_eq(fake.hosts, 0);
	ck_assert_int_gt(n, 10);
}

/* ---- the cache, over the fake, for libraries that are only files */

static void write_text(const char *name, const char *text)
{
	FILE *file = fopen(in_folder(name), "w");

	ck_assert_ptr_nonnull(file);
	fputs(text, file);
	fclose(file);
}

/* Counts NVIDIA's calls from here on. */
static struct opk_ctx *caching_ctx(const char *cache)
{
	struct opk_ctx *ctx = fake_ctx();

	ctx->cuda_dir = strdup(folder);
	ctx->cache_dir = cache ? strdup(in_folder(cache)) : NULL;
	return ctx;
}

static size_t load_calls(bool *complete)
{
	freed(opk_ctx) *ctx = caching_ctx("cache");
	freed(opk_catalog) *catalog = NULL;
	size_t calls;

	ck_ok(ctx, opk_catalog_new(&catalog, ctx, "fa100", OPK_PROFILER_RANGE));
	*complete = catalog->complete;
	calls = fake.calls[FAKE_cuptiProfilerHostInitialize];
	ck_assert_str_eq(opk_catalog_chip(catalog), "FA100");
	ck_assert_uint_eq(opk_catalog_count(catalog), 6);
	ck_ok(ctx, opk_catalog_complete(catalog, ctx));
	ck_assert_uint_eq(total(catalog), 7);
	return calls;
}

static void cached_path(char *path, size_t size)
{
	DIR *dir = opendir(in_folder("cache"));
	size_t found = 0;

	ck_assert_ptr_nonnull(dir);
	for (struct dirent *entry; (entry = readdir(dir));)
		if (strstr(entry->d_name, ".catalog")) {
			char name[300];

			snprintf(name, sizeof name, "cache/%.250s", entry->d_name);
			snprintf(path, size, "%s", in_folder(name));
			found++;
		}
	closedir(dir);
	ck_assert_uint_eq(found, 1);
}

static void empty_cache(void)
{
	char command[200];

	snprintf(command, sizeof command, "rm -rf '%s/cache'", folder);
	ck_assert_int_eq(system(command), 0);
}

TEST(cache_answers)
{
	bool complete;

	write_text("libcupti.so.13", "a library");
	ck_assert_uint_gt(load_calls(&complete), 0);
	ck_assert(!complete);
	ck_assert_uint_eq(load_calls(&complete), 0);
	ck_assert(complete);
	/* Another library has another catalog. */
	write_text("libcupti.so.13", "a new library");
	ck_assert_uint_gt(load_calls(&complete), 0);
	ck_assert_uint_eq(load_calls(&complete), 0);
	write_text("libnvperf_host.so", "beside it");
	ck_assert_uint_gt(load_calls(&complete), 0);
	empty_cache();
}

TEST(cache_keeps_passes)
{
	struct opk_ctx *ctx;
	struct opk_catalog *catalog;

	write_text("libcupti.so.13", "a library");
	for (int round = 0; round < 2; round++) {
		ctx = caching_ctx("cache");
		ck_ok(ctx, opk_catalog_new(&catalog, ctx, "FA100", OPK_PROFILER_RANGE));
		ck_ok(ctx, opk_catalog_complete(catalog, ctx));
		ck_ok(ctx, count_all(catalog, ctx));
		check_fake_passes(catalog, true);
		ck_assert(!round == !!fake.calls[FAKE_cuptiProfilerHostInitialize]);
		opk_catalog_free(catalog);
		opk_ctx_free(ctx);
	}
	empty_cache();
}

static void ask_all_scopes(struct opk_catalog *catalog, struct opk_ctx *ctx)
{
	size_t count = opk_catalog_count(catalog);
	opk_autofree const struct opk_metric **metrics = opk_alloc_array(count, sizeof *metrics);

	for (size_t i = 0; i < count; i++)
		metrics[i] = opk_catalog_get(catalog, i);
	ck_ok(ctx, opk_catalog_ask_scopes(catalog, ctx, metrics, count));
}

/* Scopes, which 13.1 reports and 13.0 does not: with a library, and from a cached catalog. */
TEST(scopes_where_asked)
{
	for (int round = 0; round < 4; round++) {
		bool tells = round >= 2;
		freed(opk_ctx) *ctx = NULL;
		freed(opk_catalog) *catalog = NULL;

		if (!(round % 2))
			write_text("libcupti.so.13", tells ? "13.1" : "13.0 and longer");
		ctx = caching_ctx("cache");
		if (tells)
			fake.properties_size = 64;
		ck_ok(ctx, opk_catalog_new(&catalog, ctx, "FA100", OPK_PROFILER_RANGE));
		ck_assert_int_eq(catalog->complete, round % 2);
		ck_ok(ctx, opk_catalog_complete(catalog, ctx));
		/* Scopes are read only on request. */
		ck_assert_int_eq(opk_catalog_find(catalog, "fake__b")->scope, OPK_SCOPE_UNKNOWN);
		ask_all_scopes(catalog, ctx);
		ck_assert_int_eq(opk_catalog_find(catalog, "fake__b")->scope,
		                 tells ? OPK_SCOPE_DEVICE : OPK_SCOPE_UNKNOWN);
		ck_assert_int_eq(opk_catalog_find(catalog, "fake__a")->scope,
		                 tells ? OPK_SCOPE_CONTEXT : OPK_SCOPE_UNKNOWN);
	}
	empty_cache();
}

/* A damaged cache file is treated as missing, and written again. */
TEST(cache_is_checked)
{
	char path[600];
	uint8_t *bytes = NULL;
	size_t size;
	bool complete;
	FILE *file;

	write_text("libcupti.so.13", "a library");
	load_calls(&complete);
	cached_path(path, sizeof path);
	file = fopen(path, "r+");
	ck_assert_ptr_nonnull(file);
	fseek(file, 0, SEEK_END);
	size = (size_t)ftell(file);
	bytes = malloc(size);
	rewind(file);
	ck_assert_uint_eq(fread(bytes, 1, size, file), size);
	fclose(file);
	for (size_t i = 0; i < size; i += 7) {
		file = fopen(path, "w");
		bytes[i] ^= 0x40;
		fwrite(bytes, 1, i % 3 ? size : i, file);
		bytes[i] ^= 0x40;
		fclose(file);
		load_calls(&complete);
		ck_assert_msg(!complete, "byte %zu of %zu", i, size);
		load_calls(&complete);
		ck_assert(complete);
	}
	free(bytes);
	empty_cache();
}

/* If nothing can be kept, everything works as without a cache. */
TEST(cache_is_no_need)
{
	bool complete;

	write_text("cache", "a file in the way");
	write_text("libcupti.so.13", "a library");
	for (int i = 0; i < 2; i++) {
		load_calls(&complete);
		ck_assert(!complete);
	}
	ck_assert_int_eq(unlink(in_folder("cache")), 0);
	/* Libraries that the loader finds by itself cannot be distinguished. */
	ck_assert_int_eq(unlink(in_folder("libcupti.so.13")), 0);
	for (int i = 0; i < 2; i++) {
		load_calls(&complete);
		ck_assert(!complete);
	}
}

static const struct {
	struct here here;
	const char *cache;
	bool in_the_way, wanted;
} keeps_where_it_can_rows[] = {
	{ HERE, NULL, false, false },
	{ HERE, "cache", true, false },
	{ HERE, "cache", false, true },
};

/* Without a cache the submetrics are not read. */
TEST_EACH(keeps_where_it_can, keeps_where_it_can_rows)
{
	struct opk_ctx *ctx = caching_ctx(row->cache);
	struct opk_catalog *catalog;
	unsigned calls;

	write_text("libcupti.so.13", "a library");
	if (row->in_the_way)
		write_text("cache", "a file");
	ck_ok(ctx, opk_catalog_new(&catalog, ctx, "FA100", OPK_PROFILER_RANGE));
	opk_catalog_keep(catalog, ctx);
	calls = fake.calls[FAKE_cuptiProfilerHostGetSubMetrics];
	ck_row(row, catalog->complete == row->wanted, "%d", catalog->complete);
	ck_row(row, !calls == !row->wanted, "%u calls", calls);
	opk_catalog_free(catalog);
	opk_ctx_free(ctx);
	empty_cache();
}

/* If the submetrics can't be read, the catalog stays usable, and there is no error. */
TEST(keeping_fails)
{
	struct opk_ctx *ctx;
	struct opk_catalog *catalog;

	write_text("libcupti.so.13", "a library");
	ctx = caching_ctx("cache");
	fake.status[FAKE_cuptiProfilerHostGetSubMetrics] = 999;
	ck_ok(ctx, opk_catalog_new(&catalog, ctx, "FA100", OPK_PROFILER_RANGE));
	opk_catalog_keep(catalog, ctx);
	ck_assert_uint_gt(fake.calls[FAKE_cuptiProfilerHostGetSubMetrics], 0);
	ck_assert(!catalog->complete);
	ck_assert_uint_eq(opk_error_count(ctx), 0);
	ck_assert_str_eq(opk_catalog_get(catalog, 0)->name, "fake__a");
	opk_catalog_free(catalog);
	opk_ctx_free(ctx);
	empty_cache();
}

SUITE(.set_up = make_folder, .tear_down = remove_folder);
