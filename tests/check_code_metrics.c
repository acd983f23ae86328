/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Metrics of instructions: the shipped lists, catalogs of them, and sets that are planned and built
 * without a call of NVIDIA's.
 */
#include "chip/chip.h"
#include "chip/door.h"
#include "container/container.h"
#include "fake_nv.h"
#include "folder.h"
#include "metric_sets.h"
#include "plan/door.h"

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

/* ---- sets */

static void put_own(struct opk_ctx *ctx)
{
	put_lists(ctx,
	          "FA100\tsmsp__sass_inst_executed\ti\nFA100\tsmsp__sass_sectors\ts\n"
	          "FA100\tsmsp__sass_sectors_ideal\tj\nFB100\tsmsp__sass_inst_executed\ti\n",
	          "*\tsmsp__pcsamp_a\ta\n*\tsmsp__pcsamp_b\tb\n");
}

/* The set's text without its name, or the errors. */
static int plan_text(struct opk_plan **out, struct opk_ctx *ctx, const char *chip, const char *text)
{
	opk_autofree char *yaml = opk_printf("name: t\n%s", text);
	struct opk_plan_options options = OPTIONS(options, .chip = chip);
	freed(opk_set) *set = NULL;
	int code = opk_set_parse(&set, ctx, yaml, strlen(yaml), NULL);

	return code ? code : opk_plan_new(out, ctx, set, &options);
}

static const char *joined(const struct opk_strlist *names)
{
	static char text[512];

	text[0] = '\0';
	for (size_t i = 0; i < names->count; i++)
		strcat(strcat(text, i ? " " : ""), names->items[i]);
	return text;
}

#define SASS "profiler: sass\n"

static const struct {
	struct here here;
	const char *text, *metrics, *missing;
} set_rows[] = {
	{ HERE, SASS "metrics: [smsp__sass_inst_executed]\n", "smsp__sass_inst_executed", "" },
	{ HERE, SASS "metrics: ['smsp__sass_sectors*']\n",
	  "smsp__sass_sectors smsp__sass_sectors_ideal", "" },
	{ HERE, SASS "metrics: [/.*_ideal/, smsp__sass_inst_executed]\n",
	  "smsp__sass_sectors_ideal smsp__sass_inst_executed", "" },
	{ HERE,
	  SASS "metrics:\n- smsp__sass_sectors\n- {metric: smsp__sass_gone, optional: true}\n",
	  "smsp__sass_sectors", "smsp__sass_gone" },
	{ HERE, SASS "metrics:\n- {any: [smsp__sass_gone, smsp__sass_sectors], as: s}\n",
	  "smsp__sass_sectors", "" },
	{ HERE,
	  SASS "metrics:\n- {metric: smsp__sass_sectors, as: s}\n- group: G\n  metrics: [excess]\n"
	       "derived: {excess: s - smsp__sass_sectors_ideal}\n",
	  "smsp__sass_sectors smsp__sass_sectors_ideal", "" },
	{ HERE, SASS "derived: {d: smsp__sass_sectors / smsp__sass_inst_executed}\n",
	  "smsp__sass_sectors smsp__sass_inst_executed", "" },
	{ HERE,
	  SASS "metrics:\n- smsp__sass_sectors\n- {metric: d, optional: true}\n"
	       "derived: {d: smsp__sass_gone / smsp__sass_inst_executed}\n",
	  "smsp__sass_sectors", "d" },
	{ HERE,
	  SASS "metrics: [{metric: smsp__sass_sectors, only: [sass]}, "
	       "{metric: smsp__sass_sectors_ideal, except: [sass, pc]}]\n",
	  "smsp__sass_sectors", "" },
	{ HERE, "profiler: pc\n", "", "" },
	{ HERE, "profiler: pc\nmetrics: [smsp__pcsamp_b]\n", "smsp__pcsamp_b", "" },
	{ HERE, "profiler: pc\nmetrics: ['*']\n", "smsp__pcsamp_a smsp__pcsamp_b", "" },
};

/* The file has metadata alone. */
static void check_built(struct opk_ctx *ctx, const struct opk_plan *plan)
{
	char path[300];
	freed(opk_file) *file = NULL;
	const struct opk_meta *meta;
	size_t size = 1;

	snprintf(path, sizeof path, "%s/built.opk", folder);
	ck_ok(ctx, opk_build(ctx, plan, NULL, path));
	ck_ok(ctx, opk_file_open(&file, ctx, path));
	ck_ok(ctx, opk_file_meta(&meta, ctx, file));
	ck_assert_uint_eq(file->section_count, 1);
	ck_assert_str_eq(meta->kind, "set");
	ck_assert_int_eq(meta->profiler, opk_plan_profiler(plan));
	ck_assert_uint_eq(meta->metric_count, opk_plan_metrics(plan)->count);
	for (size_t i = 0; i < meta->metric_count; i++)
		ck_assert_str_eq(meta->metrics[i], opk_plan_metrics(plan)->items[i]);
	ck_assert_uint_eq(meta->passes, 1);
	ck_assert_str_eq(meta->config_hash, "");
	ck_assert_ptr_null(opk_plan_config(plan, &size));
	ck_assert_uint_eq(size, 0);
	unlink(path);
}

static void check_lists(struct opk_ctx *ctx, struct opk_plan *plan)
{
	for (int list = OPK_PLAN_ABOUT; list <= OPK_PLAN_DOMAINS; list++) {
		freed(opk_listing) *rows = NULL;

		ck_ok(ctx, opk_plan_list(&rows, ctx, plan, (enum opk_plan_list)list));
		if (list == OPK_PLAN_COSTS)
			ck_assert_uint_eq(opk_listing_get(rows, 0)[0].uint, 1);
		if (list == OPK_PLAN_METRICS)
			ck_assert_uint_eq(opk_listing_count(rows), opk_plan_metrics(plan)->count);
	}
}

FAKE_TEST_EACH(planned, set_rows)
{
	freed(opk_plan) *plan = NULL;

	put_own(ctx);
	ck_ok(ctx, plan_text(&plan, ctx, "fa100", row->text));
	ck_row(row, !strcmp(joined(opk_plan_metrics(plan)), row->metrics), "%s",
	       joined(opk_plan_metrics(plan)));
	ck_row(row, !strcmp(joined(opk_plan_missing(plan)), row->missing), "missing: %s",
	       joined(opk_plan_missing(plan)));
	ck_assert_uint_eq(opk_plan_passes(plan), 1);
	check_built(ctx, plan);
	check_lists(ctx, plan);
	check_no_call();
}

static const struct {
	struct here here;
	const char *chip, *text;
	int code;
	const char *wrong;
} wrong_rows[] = {
	{ HERE, "FA100", SASS "metrics: [smsp__sass_inst_executed.sum]\n", OPK_EINPUT,
	  "smsp__sass_inst_executed takes no '.sum': profiler sass has no rollups" },
	{ HERE, "FA100", SASS "metrics: [smsp__sass_inst_executd]\n", OPK_EINPUT,
	  "'smsp__sass_inst_executd' for profiler sass, did you mean smsp__sass_inst_executed?" },
	{ HERE, "FA100", SASS "metrics: [smsp__pcsamp_a]\n", OPK_EINPUT,
	  "for profiler sass: it is one of profiler pc" },
	{ HERE, "FA100", "profiler: pc\nmetrics: [smsp__sass_sectors]\n", OPK_EINPUT,
	  "for profiler pc: it is one of profiler sass" },
	{ HERE, "FA100", "metrics: [smsp__sass_sectors]\n", OPK_EINPUT,
	  "FA100 has no metric 'smsp__sass_sectors': it is one of profiler sass" },
	{ HERE, "FA100", "metrics: [smsp__sass_sectors.sum]\n", OPK_EINPUT,
	  "FA100 has no metric 'smsp__sass_sectors.sum': smsp__sass_sectors is one of" },
	{ HERE, "FA100", "profiler: pm\nmetrics: [smsp__sass_sectors]\n", OPK_EINPUT,
	  "for PM sampling: it is one of profiler sass" },
	{ HERE, "FB100", SASS "metrics: [smsp__sass_sectors]\n", OPK_EINPUT,
	  "FB100 has no metric 'smsp__sass_sectors' for profiler sass" },
	{ HERE, "FA100", SASS "metrics: ['smsp__none*']\n", OPK_EINPUT,
	  "FA100 has no metric that matches smsp__none* for profiler sass" },
	{ HERE, "FA100", SASS "derived: {d: smsp__sass_gone + 1}\n", OPK_EINPUT,
	  "has no metric 'smsp__sass_gone' for profiler sass" },
	{ HERE, "FA100", SASS, OPK_EINPUT, "the key 'metrics' is missing" },
	{ HERE, "FA100", SASS "metrics: []\n", OPK_EINPUT, "" },
	{ HERE, "FA100", "profiler: ptx\nmetrics: [smsp__sass_sectors]\n", OPK_EINPUT,
	  "profiler must be range, pm, sass or pc" },
	{ HERE, "GV100", SASS "metrics: [smsp__sass_inst_executed]\n", OPK_EFAILED,
	  "GV100 is not among the chips that have metrics of instructions" },
};

FAKE_TEST_EACH(wrong, wrong_rows)
{
	freed(opk_plan) *plan = NULL;

	put_own(ctx);
	ck_row_ends(row, ctx, plan_text(&plan, ctx, row->chip, row->text), row->code, row->wrong);
}

/* The shipped sets have all their metrics on all chips. */
FAKE_TEST(shipped_sets)
{
	static const char *const names[] = { "source", "hot" };
	opk_autostrlist struct opk_strlist listed = { 0 };

	free((char *)ctx->data_dir);
	ctx->data_dir = strdup(TEST_DATA_DIR);
	ck_ok(ctx, opk_code_chips(&listed, ctx));
	for (size_t i = 0; i < COUNT(names) * listed.count; i++) {
		struct opk_plan_options options = OPTIONS(options,
		                                          .chip = listed.items[i % listed.count]);
		freed(opk_set) *set = NULL;
		freed(opk_plan) *plan = NULL;

		ck_ok(ctx, opk_set_find(&set, ctx, names[i / listed.count]));
		ck_ok(ctx, opk_plan_new(&plan, ctx, set, &options));
		ck_assert_uint_eq(opk_plan_missing(plan)->count, 0);
		check_built(ctx, plan);
	}
	check_no_call();
}

/* What counters have, and instructions have not. */
FAKE_TEST(refused_options)
{
	static const char text[] = "name: t\n" SASS "metrics: [smsp__sass_sectors]\n";
	const struct opk_build_options builds[] = {
		{ .size = sizeof *builds, .no_instances = true },
		{ .size = sizeof *builds, .keep_instances = true },
		{ .size = sizeof *builds, .availability = "x", .availability_size = 1 },
	};
	struct opk_plan_options options = OPTIONS(options, .chip = "FA100");
	freed(opk_set) *set = NULL;
	freed(opk_plan) *plan = NULL;
	struct opk_plan *refused = NULL;
	struct opk_plan_split *split = NULL;
	void *prefix = NULL;
	size_t size;

	put_own(ctx);
	ck_ok(ctx, opk_set_parse(&set, ctx, text, strlen(text), NULL));
	ck_ok(ctx, opk_plan_new(&plan, ctx, set, &options));
	for (size_t i = 0; i < COUNT(builds); i++)
		ck_fails(ctx, opk_build(ctx, plan, &builds[i], "t.opk"), OPK_EUSAGE,
		         "profiler sass uses no counters");
	ck_fails(ctx, opk_prefix_new(&prefix, &size, ctx, plan, NULL), OPK_EUSAGE,
	         "profiler sass uses no counters");
	options.max_passes = 2;
	ck_fails(ctx, opk_plan_split_new(&split, ctx, set, &options), OPK_EUSAGE,
	         "nothing can be divided");
	options.prefer_cheap = true;
	ck_fails(ctx, opk_plan_new(&refused, ctx, set, &options), OPK_EUSAGE,
	         "profiler sass has one pass");
	options.prefer_cheap = false;
	options.availability = "x";
	options.availability_size = 1;
	ck_fails(ctx, opk_plan_new(&refused, ctx, set, &options), OPK_EUSAGE,
	         "profiler sass uses no counters: no availability applies to it");
	check_no_call();
}

SUITE(.set_up = make_folder, .tear_down = remove_folder);
