/* SPDX-License-Identifier: BSD-2-Clause */
/* Metrics of instructions: the shipped lists, and catalogs of them without a call of NVIDIA's. */
#include "chip/chip.h"
#include "chip/door.h"
#include "fake_nv.h"
#include "folder.h"

OPK_DEFINE_AUTO(opk_catalog)

/* ---- the shipped lists */

enum { CHIPS = 28, LEAST = 37, MOST = 63 };

static void check_metric(const struct opk_catalog *catalog, const struct opk_metric *metric)
{
	struct opk_submetric sub = opk_catalog_submetric(catalog, metric, 0);

	ck_assert_msg(!strcmp(metric->hw_unit, "smsp") && *metric->dim_unit && *metric->description,
	              "%s", metric->name);
	ck_assert_int_eq(metric->type, OPK_COUNTER);
	ck_assert_int_eq(metric->scope, OPK_SCOPE_CONTEXT);
	ck_assert_uint_eq(opk_catalog_submetric_count(catalog, metric), 1);
	ck_assert_str_eq(sub.suffix, "");
	ck_assert_str_eq(sub.dim_unit, metric->dim_unit);
	ck_assert_int_eq(sub.passes, 1);
	ck_assert_ptr_eq(opk_catalog_find(catalog, metric->name), metric);
}

static size_t check_catalog(struct opk_ctx *ctx, const char *chip, enum opk_profiler profiler)
{
	opk_auto(opk_catalog) struct opk_catalog *catalog = NULL;
	size_t count;

	ck_ok(ctx, opk_catalog_new(&catalog, ctx, chip, profiler));
	count = opk_catalog_count(catalog);
	ck_assert_str_eq(opk_catalog_chip(catalog), chip);
	for (size_t i = 0; i < count; i++) {
		check_metric(catalog, opk_catalog_get(catalog, i));
		ck_assert(!i
		          || strcmp(opk_catalog_get(catalog, i - 1)->name,
		                    opk_catalog_get(catalog, i)->name)
		                     < 0);
	}
	return count;
}

static void check_no_call(void)
{
	for (size_t i = 0; i < sizeof fake.calls / sizeof *fake.calls; i++)
		ck_assert_msg(!fake.calls[i], "call %zu", i);
}

FAKE_TEST(shipped)
{
	opk_autostrlist struct opk_strlist chips = { 0 };

	free((char *)ctx->data_dir);
	ctx->data_dir = strdup(TEST_DATA_DIR);
	ck_ok(ctx, opk_code_chips(&chips, ctx));
	ck_assert_uint_eq(chips.count, CHIPS);
	for (size_t i = 0; i < chips.count; i++) {
		size_t count = check_catalog(ctx, chips.items[i], OPK_PROFILER_SASS);

		ck_assert_msg(count >= LEAST && count <= MOST, "%s: %zu", chips.items[i], count);
		ck_assert_uint_gt(check_catalog(ctx, chips.items[i], OPK_PROFILER_PC), 0);
	}
	check_no_call();
}

static const struct {
	struct here here;
	const char *name;
	enum opk_profiler profiler; /* OPK_PROFILER_RANGE: neither */
} known_rows[] = {
	{ HERE, "smsp__sass_inst_executed", OPK_PROFILER_SASS },
	{ HERE, "smsp__sass_inst_executed_op_tma", OPK_PROFILER_SASS },
	{ HERE, "smsp__sass_inst_executed_op_utcmma", OPK_PROFILER_RANGE }, /* of Blackwell */
	{ HERE, "smsp__pcsamp_sample_count", OPK_PROFILER_PC },
	{ HERE, "smsp__inst_executed", OPK_PROFILER_RANGE },
	{ HERE, "smsp__sass_inst_executed.sum", OPK_PROFILER_RANGE },
	{ HERE, "", OPK_PROFILER_RANGE },
};

CTX_TEST_EACH(profilers, known_rows)
{
	enum opk_profiler profiler;
	bool found;

	ck_ok(ctx, opk_code_profiler_of(&found, &profiler, ctx, "GH100", row->name));
	ck_row(row, found == (row->profiler != OPK_PROFILER_RANGE), "found %d", found);
	ck_row(row, !found || profiler == row->profiler, "%d", profiler);
}

/* ---- words for chips */

static const struct {
	struct here here;
	const char *chip;
	int code;
	const char *text;
} chip_rows[] = {
	{ HERE, "gh100", OPK_OK, "" },
	{ HERE, "H100", OPK_OK, "" },
	{ HERE, "sm_90", OPK_OK, "" },
	{ HERE, "GV100", OPK_EFAILED, "GV100 is not among the chips that have metrics of" },
	{ HERE, "V100", OPK_EFAILED, "GV100 is not among the chips that have metrics of" },
	{ HERE, "sm_120", OPK_EUSAGE, "means several chips" },
	{ HERE, "GH10", OPK_EUSAGE, "unknown chip 'GH10', did you mean GH100?" },
	{ HERE, "P100", OPK_EUSAGE, "older than Volta" },
	{ HERE, "", OPK_EUSAGE, "unknown chip" },
};

CTX_TEST_EACH(chips, chip_rows)
{
	opk_auto(opk_catalog) struct opk_catalog *catalog = NULL;

	ck_row_ends(row, ctx, opk_catalog_new(&catalog, ctx, row->chip, OPK_PROFILER_SASS),
	            row->code, row->text);
}

/* ---- other lists */

static void put_lists(struct opk_ctx *ctx, const char *sass, const char *pc)
{
	put_file("sass_metrics.tsv", sass, strlen(sass));
	put_file("pc_metrics.tsv", pc, strlen(pc));
	free((char *)ctx->data_dir);
	ctx->data_dir = strdup(folder);
}

static const struct {
	struct here here;
	const char *sass, *pc, *wrong;
} damaged_rows[] = {
	{ HERE, "FA100\n", "", "/sass_metrics.tsv:1: not a chip, a metric and a description" },
	{ HERE, "# x\nFA100\tfake__a\n", "", "/sass_metrics.tsv:2: not a chip" },
	{ HERE, "\tfake__a\tx\n", "", "/sass_metrics.tsv:1: not a chip" },
	{ HERE, "FA100\t\tx\n", "", "/sass_metrics.tsv:1: not a chip" },
	{ HERE, "FA100\tfake__a\tx\ty\n", "", "/sass_metrics.tsv:1: not a chip" },
	{ HERE, "FA100\tfake__a\tx\n", "*\tfake__a\n", "/pc_metrics.tsv:1: not a chip" },
};

FAKE_TEST_EACH(damaged, damaged_rows)
{
	opk_auto(opk_catalog) struct opk_catalog *catalog = NULL;

	put_lists(ctx, row->sass, row->pc);
	ck_row_ends(row, ctx, opk_catalog_new(&catalog, ctx, "FA100", OPK_PROFILER_PC), OPK_EINPUT,
	            row->wrong);
}

FAKE_TEST(missing)
{
	opk_auto(opk_catalog) struct opk_catalog *catalog = NULL;

	free((char *)ctx->data_dir);
	ctx->data_dir = strdup(folder);
	ck_fails(ctx, opk_catalog_new(&catalog, ctx, "GH100", OPK_PROFILER_SASS), OPK_EFAILED,
	         "sass_metrics.tsv is not installed");
}

/* Names are sorted whatever the file's order; "*" means all chips with SASS metrics. */
FAKE_TEST(own)
{
	opk_autostrlist struct opk_strlist names = { 0 };

	put_lists(
		ctx,
		"FB100\tsmsp__sectors\tb\r\nFA100\tsmsp__tags\ta\n\nFA100\tsmsp__inst_executed\tc\n",
		"*\tsmsp__pcsamp_y\ty\nFA100\tsmsp__pcsamp_x\tx\n");
	ck_assert_uint_eq(check_catalog(ctx, "FA100", OPK_PROFILER_SASS), 2);
	ck_assert_uint_eq(check_catalog(ctx, "FB100", OPK_PROFILER_SASS), 1);
	ck_assert_uint_eq(check_catalog(ctx, "FA100", OPK_PROFILER_PC), 2);
	ck_assert_uint_eq(check_catalog(ctx, "FB100", OPK_PROFILER_PC), 1);
	ck_ok(ctx, opk_complete_name(&names, ctx, "fa100", OPK_PROFILER_SASS, "smsp__t"));
	ck_assert_uint_eq(names.count, 1);
	ck_assert_str_eq(names.items[0], "smsp__tags");
	check_no_call();
}

SUITE(.set_up = make_folder, .tear_down = remove_folder);
