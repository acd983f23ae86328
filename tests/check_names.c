/* SPDX-License-Identifier: BSD-2-Clause */
/* Metric names that begin with a text: from the libraries, and the same from the cache. */
#include "allocation.h"
#include "chip/chip.h"
#include "chip/door.h"
#include "fake_nv.h"
#include "folder.h"

static const struct {
	struct here here;
	const char *prefix, *wanted;
} rows[] = {
	{ HERE, "", "fake__a fake__b fake__c fake__listed fake__ratio fake__throughput " },
	{ HERE, "fake__", "fake__a fake__b fake__c fake__listed fake__ratio fake__throughput " },
	{ HERE, "fake__r", "fake__ratio " },
	{ HERE, "fake__a", "fake__a " },
	{ HERE, "fake__a.", "fake__a.sum " },
	{ HERE, "fake__a.s", "fake__a.sum " },
	{ HERE, "fake__a.sum", "fake__a.sum " },
	{ HERE, "fake__throughput.avg.pct_",
	  "fake__throughput.avg.pct_of_peak_sustained_elapsed " },
	{ HERE, "fake__ratio.", "fake__ratio.pct fake__ratio.ratio " },
	{ HERE, "fake__a.sum.", "" },
	{ HERE, "fake__a.x", "" },
	{ HERE, "FAKE", "" },
	{ HERE, "fake__a ", "" },
	{ HERE, "x.y", "" },
	{ HERE, ".", "" },
};

static const char *joined(const struct opk_strlist *names)
{
	static char text[512];

	text[0] = '\0';
	for (size_t i = 0; i < names->count; i++) {
		strcat(text, names->items[i]);
		strcat(text, " ");
	}
	return text;
}

/* Counts NVIDIA's calls from here on. */
static struct opk_ctx *caching_ctx(void)
{
	struct opk_ctx *ctx = fake_ctx();

	ctx->cuda_dir = strdup(folder);
	ctx->cache_dir = strdup(folder);
	return ctx;
}

static void check_rows(struct opk_ctx *ctx)
{
	for (size_t i = 0; i < COUNT(rows); i++) {
		opk_autostrlist struct opk_strlist names = { 0 };

		ck_ok(ctx,
		      opk_complete_name(&names, ctx, "fa100", OPK_PROFILER_RANGE, rows[i].prefix));
		ck_row(&rows[i], !strcmp(joined(&names), rows[i].wanted), "%s", joined(&names));
	}
	ck_assert_int_eq(fake.hosts, 0);
}

FAKE_TEST(from_libraries)
{
	check_rows(ctx);
	ck_assert_uint_eq(fake.calls[FAKE_cuptiProfilerHostGetMetricProperties], 0);
}

TEST(from_cache)
{
	struct opk_ctx *ctx;
	struct opk_catalog *catalog;

	/* A file replaces the libraries. */
	put_file("libcupti.so.13", "a library", 9);
	ctx = caching_ctx();
	ck_ok(ctx, opk_catalog_new(&catalog, ctx, "FA100", OPK_PROFILER_RANGE));
	ck_ok(ctx, opk_catalog_complete(catalog, ctx));
	opk_catalog_free(catalog);
	opk_ctx_free(ctx);
	ctx = caching_ctx();
	check_rows(ctx);
	ck_assert_uint_eq(fake.calls[FAKE_cuptiProfilerHostInitialize], 0);
	opk_ctx_free(ctx);
}

/* 12.x lists no submetrics. */
FAKE_TEST(without_submetrics)
{
	opk_autostrlist struct opk_strlist names = { 0 };

	fake.status[FAKE_cuptiProfilerHostGetSubMetrics] = NV_CUPTI_INVALID_METRIC_NAME;
	ck_ok(ctx, opk_complete_name(&names, ctx, "FA100", OPK_PROFILER_RANGE, "fake__a."));
	ck_assert_str_eq(joined(&names), "");
	ck_ok(ctx, opk_complete_name(&names, ctx, "FA100", OPK_PROFILER_RANGE, "fake__a"));
	ck_assert_str_eq(joined(&names), "fake__a ");
}

static const struct {
	struct here here;
	const char *chip;
	enum opk_profiler profiler;
	enum fake_call call;
	int status, code;
} refused_rows[] = {
	{ HERE, "FA10", OPK_PROFILER_RANGE, 0, 0, OPK_EUSAGE },
	{ HERE, "FB100", OPK_PROFILER_PM, 0, 0, OPK_EFAILED },
	{ HERE, "FA100", OPK_PROFILER_RANGE, FAKE_cuptiProfilerHostGetSupportedChips, 999,
	  OPK_EFAILED },
	{ HERE, "FA100", OPK_PROFILER_RANGE, FAKE_cuptiProfilerHostGetBaseMetrics, 999,
	  OPK_EFAILED },
	{ HERE, "FA100", OPK_PROFILER_RANGE, FAKE_cuptiProfilerHostGetSubMetrics, 999,
	  OPK_EFAILED },
};

FAKE_TEST_EACH(refused, refused_rows)
{
	opk_autostrlist struct opk_strlist names = { 0 };

	fake.status[row->call] = row->status;
	ck_row_ends(row, ctx, opk_complete_name(&names, ctx, row->chip, row->profiler, "fake__a."),
	            row->code, "no metric names of");
	ck_assert_int_eq(fake.hosts, 0);
}

FAKE_TEST(without_memory)
{
	long n = 0;

	for (;; n++) {
		opk_autostrlist struct opk_strlist names = { 0 };

		fail_allocation(n);
		if (!was_short(ctx, n,
		               opk_complete_name(&names, ctx, "FA100", OPK_PROFILER_RANGE,
		                                 "fake__a."))) {
			ck_assert_str_eq(joined(&names), "fake__a.sum ");
			break;
		}
		ck_assert_int_eq(fake.hosts, 0);
	}
	ck_assert_int_gt(n, 5);
}

static const struct {
	struct here here;
	const char *word, *spelling, *last; /* of several, the last; NULL: not a chip */
} chip_words_rows[] = {
	{ HERE, "gh100", "GH100", "GH100" },
	{ HERE, "h100", "GH100", "GH100" },
	{ HERE, "B200", "GB100", "GB100" },
	{ HERE, "sm_90", "GH100", "GH100" },
	{ HERE, "SM90a", "GH100", "GH100" },
	{ HERE, "compute_100", "GB100", "GB100" },
	{ HERE, "90", "GH100", "GH100" },
	{ HERE, "9.0", "GH100", "GH100" },
	{ HERE, "101", "GB10B", "GB10B" },
	{ HERE, "t4", "TU104", "TU104" },
	{ HERE, "GB10", "GB20B", "GB20B" },
	{ HERE, "NVIDIA H100 80GB HBM3", "GH100", "GH100" },
	{ HERE, "Tesla V100-SXM2-16GB", "GV100", "GV100" },
	{ HERE, "NVIDIA GeForce RTX 4090", "AD102", "AD102" },
	{ HERE, "rtx3080", "GA102", "GA102" },
	{ HERE, "hopper", "GH100", "GH100" },
	{ HERE, "86", "86", "GA107" },
	{ HERE, "sm_75", "SM_75", "TU117" },
	{ HERE, "Ada", "ADA", "AD107" },
	{ HERE, "NVIDIA A10G", "GA102", "GA102" },
	{ HERE, "NVIDIA RTX A6000", "GA102", "GA102" },
	{ HERE, "A5000", "GA102", "GA102" },
	{ HERE, "RTX A4000", "GA104", "GA104" },
	{ HERE, "NVIDIA A800-SXM4-80GB", "GA100", "GA100" },
	{ HERE, "NVIDIA H800 PCIe", "GH100", "GH100" },
	{ HERE, "NVIDIA GH200 144G HBM3e", "GH100", "GH100" },
	{ HERE, "NVIDIA RTX 6000 Ada Generation", "AD102", "AD102" },
	{ HERE, "NVIDIA L40S", "AD102", "AD102" },
	{ HERE, "L4", "AD104", "AD104" },
	{ HERE, "B100", "GB100", "GB100" },
	{ HERE, "RTX PRO 6000 Blackwell Server Edition", "GB202", "GB202" },
	{ HERE, "RTX PRO 6000 Blackwell Max-Q Workstation Edition", "GB202", "GB202" },
	{ HERE, "GeForce RTX 2080 Max-Q", "TU104", "TU104" },
	{ HERE, "NVIDIA A10-24Q", "GA102", "GA102" },
	{ HERE, "NVIDIA A40-8Q", "GA102", "GA102" },
	{ HERE, "NVIDIA L40S-48Q", "AD102", "AD102" },
	{ HERE, "GRID T4-16C", "TU104", "TU104" },
	{ HERE, "NVIDIA RTX6000-Ada-4A", "AD102", "AD102" },
	{ HERE, "GeForce RTX 3070 Laptop GPU", "GA104", "GA104" },
	{ HERE, "NVIDIA GeForce RTX 5080 Laptop GPU", "GB203", "GB203" },
	{ HERE, "RTX 3080 Ti Laptop GPU", "GA103", "GA103" },
	{ HERE, "Orin", "GA10B", "GA10B" },
	{ HERE, "Laptop", "LAPTOP", NULL },
	{ HERE, "V", "V", NULL },
	{ HERE, "D", "D", NULL },
	{ HERE, "Super", "SUPER", NULL },
	{ HERE, "RTX", "RTX", NULL },
	{ HERE, "Nano", "NANO", NULL },
	{ HERE, "24Q", "24Q", NULL },
	{ HERE, "GeForce RTX 3080 Laptop GPU", "GEFORCE RTX 3080 LAPTOP GPU", NULL },
	{ HERE, "NVIDIA GeForce RTX 4090 Laptop GPU", "NVIDIA GEFORCE RTX 4090 LAPTOP GPU", NULL },
	{ HERE, "RTX 4070 Ti Super", "RTX 4070 TI SUPER", NULL },
	{ HERE, "9.0a", "9.0A", NULL },
	{ HERE, "sm_", "SM_", NULL },
	{ HERE, "9000000090", "9000000090", NULL },
	{ HERE, "gpu", "GPU", NULL },
	{ HERE, "-", "-", NULL },
	{ HERE, "", "", NULL },
};

/* Words mean chips: this needs names only, not a library. */
TEST_EACH(chip_words, chip_words_rows)
{
	opk_chip_mask meant = opk_chips_meant(row->word);
	opk_autofree char *spelling = opk_chip_spelling(row->word);
	const char *last = NULL;

	for (size_t k = 0; opk_chip_known(k); k++)
		if (meant >> k & 1)
			last = opk_chip_known(k);
	ck_row(row, !strcmp(spelling, row->spelling), "%s", spelling);
	ck_row(row, !last == !row->last, "%s", last ? last : "none");
	ck_row(row, !last || !strcmp(last, row->last), "%s", last);
	ck_row(row, !last || opk_chip_is_meant(last, row->word), "%s", last);
	ck_row(row, !opk_chip_is_meant("GV11B", row->word), "GV11B");
}

/* Names of cards that are not known must not suggest a card with another chip. */
static const struct {
	struct here here;
	const char *word, *near;
} misspelt_rows[] = {
	{ HERE, "GH10", "GH100" },
	{ HERE, "gh1O0", "GH100" },
	{ HERE, "RTX 4O90", "RTX-4090" },
	{ HERE, "H10O", "H100" },
	{ HERE, "GF100", NULL },
	{ HERE, "GTX 4090", "RTX-4090" },
	{ HERE, "RXT-A6000", NULL },
	{ HERE, "RTXA-6000x", "RTX-A6000" },
	{ HERE, "A15", NULL },
	{ HERE, "L2", NULL },
	{ HERE, "H900", NULL },
	{ HERE, "B400", NULL },
	{ HERE, "GB400", NULL },
	{ HERE, "MI300X", NULL },
	{ HERE, "RTX 3050", NULL },
	{ HERE, "TITAN Z", NULL },
	{ HERE, "RTX 4070 Ti SUPER", NULL },
	{ HERE, "RTX 4090 Laptop GPU", NULL },
	{ HERE, "", NULL },
};

TEST_EACH(misspelt_chips, misspelt_rows)
{
	opk_autostrlist struct opk_strlist chips = { 0 };
	const char *near;

	for (size_t i = 0; opk_chip_known(i); i++)
		ck_assert(opk_strlist_add(&chips, opk_chip_known(i)));
	near = opk_chip_nearest(&chips, row->word);
	ck_row(row, !near == !row->near && (!near || !strcmp(near, row->near)), "%s",
	       near ? near : "none");
}

SUITE(.set_up = make_folder, .tear_down = remove_folder);
