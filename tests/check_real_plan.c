/* SPDX-License-Identifier: BSD-2-Clause */
/* Plans, prefixes, availability images and built sets with NVIDIA's own libraries. */
#include <unistd.h>

#include "eval/door.h"
#include "real.h"
#include "container/door.h"
#include "plan/door.h"
#include "plan/plan_detail.h"
#include "set/door.h"
#include "testing.h"

#define RECORDING(name) TEST_DATA_DIR "/recordings/gh100-" name ".opk"

/* The first section of a type, decoded; the caller frees it. */
static void *section_of(size_t *size, struct opk_ctx *ctx, struct opk_file *file, uint32_t type)
{
	void *data = NULL;

	for (size_t i = 0; i < opk_file_section_count(file) && !data; i++)
		if (opk_file_section(file, i)->type == type)
			ck_ok(ctx, opk_file_read(&data, size, ctx, file, i));
	return data;
}

/* A recording's metrics, separated by commas; the caller frees them. */
static char *metrics_of(struct opk_ctx *ctx, struct opk_file *file)
{
	const struct opk_meta *meta;
	size_t size = 1;
	char *names;

	ck_ok(ctx, opk_file_meta(&meta, ctx, file));
	for (size_t i = 0; i < meta->metric_count; i++)
		size += strlen(meta->metrics[i]) + 1;
	names = calloc(1, size);
	for (size_t i = 0; i < meta->metric_count; i++) {
		strcat(names, meta->metrics[i]);
		strcat(names, ",");
	}
	return names;
}

static int plan_names(struct opk_plan **out, struct opk_ctx *ctx, const char *names,
                      struct opk_plan_options *options)
{
	freed(opk_set) *set = NULL;

	ck_ok(ctx, opk_set_from_names(&set, ctx, names));
	return opk_plan_new(out, ctx, set, options);
}

/* Some metrics of the wide recordings came with 13.0. */
static bool knows_wide(struct opk_ctx *ctx)
{
	return version_of(ctx) >= 130000;
}

static struct opk_plan *plan_recording(struct opk_ctx *ctx, const char *path)
{
	struct opk_plan_options options = OPTIONS(options, .chip = "GH100");
	struct opk_plan *plan;
	freed(opk_file) *file = NULL;
	opk_autofree char *names = NULL;

	/* No search: the recordings were made with CUPTI's own plans. */
	options.effort = -1;
	ck_ok(ctx, opk_file_open(&file, ctx, path));
	names = metrics_of(ctx, file);
	ck_ok(ctx, plan_names(&plan, ctx, names, &options));
	return plan;
}

/* ---- plans */

CTX_TEST(plan_of_recordings)
{
	static const struct {
		struct here here;
		const char *path;
		size_t passes; /* on 13.0 */
		bool same;     /* its config image was made by the same method */
	} rows[] = {
		{ HERE, RECORDING("simple"), 3, false },
		{ HERE, RECORDING("wide-auto"), 16, true },
	};
	bool known = version_of(ctx) == CUPTI_13_0;

	for (size_t i = 0; i < (knows_wide(ctx) ? COUNT(rows) : 1); i++) {
		freed(opk_plan) *plan = plan_recording(ctx, rows[i].path);
		size_t recorded_size, size, passes = opk_plan_passes(plan);
		const void *config = opk_plan_config(plan, &size);
		freed(opk_file) *file = NULL;
		void *recorded;

		ck_row(&rows[i], known ? passes == rows[i].passes : passes > 0, "%zu", passes);
		ck_row(&rows[i], !strcmp(opk_plan_chip(plan), "GH100"), "%s", opk_plan_chip(plan));
		ck_ok(ctx, opk_file_open(&file, ctx, rows[i].path));
		recorded = section_of(&recorded_size, ctx, file, OPK_SECTION_CONFIG);
		ck_row(&rows[i],
		       !known || !rows[i].same
		               || (recorded && recorded_size == size
		                   && !memcmp(recorded, config, size)),
		       "another config image: %zu and %zu bytes", size, recorded_size);
		free(recorded);
	}
}

CTX_TEST(prefixes)
{
	freed(opk_plan) *plan = plan_recording(ctx, RECORDING("simple"));
	struct opk_build_options all = OPK_INIT(all), none = OPK_INIT(none);
	void *with, *without;
	size_t with_size, without_size;

	all.keep_instances = none.no_instances = true;
	ck_ok(ctx, opk_prefix_new(&with, &with_size, ctx, plan, &all));
	ck_ok(ctx, opk_prefix_new(&without, &without_size, ctx, plan, &none));
	if (version_of(ctx) == CUPTI_13_0) {
		ck_assert_uint_eq(with_size, 364);
		ck_assert_uint_eq(without_size, 364);
	}
	ck_assert_uint_eq(with_size, without_size);
	ck_assert_msg(memcmp(with, without, with_size), "instances make no difference");
	free(with);
	free(without);
}

static void check_detail(const struct opk_plan *plan, const struct opk_plan_detail *detail)
{
	size_t passes = opk_plan_passes(plan);

	ck_assert_uint_ge(detail->lower_bound, 1);
	ck_assert_uint_le(detail->lower_bound, passes);
	for (size_t pass = 0; pass < passes; pass++)
		ck_assert_uint_gt(detail->use.counters[pass].count, 0);
	for (size_t metric = 0; metric < opk_plan_metrics(plan)->count; metric++) {
		size_t served = 0;

		for (size_t pass = 0; pass < passes; pass++)
			served += opk_pass_serves(&detail->use, pass, metric);
		ck_assert_msg(served, "no pass serves %s", opk_plan_metrics(plan)->items[metric]);
	}
}

CTX_TEST(plan_details)
{
	static const char *const paths[] = { RECORDING("simple"), RECORDING("wide-auto") };

	for (size_t i = 0; i < (knows_wide(ctx) ? COUNT(paths) : 1); i++) {
		freed(opk_plan) *plan = plan_recording(ctx, paths[i]);
		freed(opk_plan_detail) *detail = NULL;

		ck_ok(ctx, opk_plan_detail_new(&detail, ctx, plan));
		check_detail(plan, detail);
	}
}

static const struct refusal {
	struct here here;
	const char *chip, *names;
	enum opk_profiler profiler;
	size_t max_passes;
	int wanted;
	const char *told; /* texts with | between */
} refusals[] = {
	{ HERE, "GH100", "dram__bytes.sum,dram__byts.sum", OPK_PROFILER_RANGE, 0, OPK_EUSAGE,
	  "no metric 'dram__byts.sum', did you mean dram__bytes.sum?|1 of 2 metrics" },
	{ HERE, "GH100", "dram__bytes", OPK_PROFILER_RANGE, 0, OPK_EUSAGE,
	  "dram__bytes needs a rollup, for example dram__bytes.sum" },
	{ HERE, "GH100", "dram__bytes.nosuch", OPK_PROFILER_RANGE, 0, OPK_EUSAGE,
	  "dram__bytes has no rollup or submetric 'nosuch'" },
	{ HERE, "GH100", "lts__t_sector_hit_rate", OPK_PROFILER_RANGE, 0, OPK_EUSAGE,
	  "needs a submetric, for example lts__t_sector_hit_rate.pct" },
	{ HERE, "GH100",
	  "dram__bytes.sum,CTC.TriageCompute.ctc__throughput.avg.pct_of_peak_sustained_elapsed",
	  OPK_PROFILER_RANGE, 0, OPK_EFAILED,
	  "CTC.TriageCompute.ctc__throughput.avg.pct_of_peak_sustained_elapsed is listed for GH100 but can't be scheduled|"
	  "1 of 2 metrics" },
	{ HERE, "GH10", "dram__bytes.sum", OPK_PROFILER_RANGE, 0, OPK_EUSAGE,
	  "unknown chip 'GH10', did you mean GH100?" },
	{ HERE, "GV100", "dram__bytes.sum", OPK_PROFILER_PM, 0, OPK_EFAILED,
	  "GV100 is not among the chips that have PM sampling" },
	{ HERE, "GH100",
	  "sm__warps_active.avg.pct_of_peak_sustained_active,lts__t_sector_hit_rate.pct,"
	  "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum,dram__bytes.sum",
	  OPK_PROFILER_RANGE, 1, OPK_EFAILED, "fit into 1 pass; not: |passes on GH100" },
};

TEST_EACH(refused_plans, refusals)
{
	struct opk_ctx *ctx = new_ctx();
	bool known = version_of(ctx) == CUPTI_13_0;
	struct opk_plan_options options = OPK_INIT(options);
	struct opk_plan *plan = NULL;
	int code;

	/* 13.2 and later can schedule it. */
	if (strstr(row->names, "ctc__throughput") && version_of(ctx) >= 130200) {
		opk_ctx_free(ctx);
		return;
	}
	options.chip = row->chip;
	options.has_profiler = true;
	options.profiler = row->profiler;
	options.max_passes = row->max_passes;
	code = plan_names(&plan, ctx, row->names, &options);
	ck_row(row, !plan == !!code, "a plan after code %d, or none", code);
	ck_row(row, !code || opk_error_count(ctx), "code %d without a message", code);
	/* Releases refuse different metrics, with different errors. */
	ck_row(row, !known || code == row->wanted, "code %d: %s", code, errors_of(ctx));
	ck_row(row, !known || !untold(ctx, row->told), "no '%s' in: %s", untold(ctx, row->told),
	       errors_of(ctx));
	opk_ctx_free(ctx);
}

static const struct {
	struct here here;
	const char *name, *told;
} misspelt_submetrics_rows[] = {
	{ HERE, "sm__cycles_active.avgg",
	  "sm__cycles_active has no rollup or submetric 'avgg'; a counter takes .sum" },
	{ HERE, "sm__cycles_active.avg.per_secon",
	  "sm__cycles_active has no rollup or submetric 'avg.per_secon'; a counter" },
	{ HERE, "l1tex__t_sector_hit_rate.pc",
	  "l1tex__t_sector_hit_rate has no rollup or submetric 'pc'; a ratio takes" },
	{ HERE, "sm__throughput.avg.pct_of_peak_sustained_elapse",
	  "has no rollup or submetric 'avg.pct_of_peak_sustained_elapse'; a throughput" },
	{ HERE, "sm__cycles_actve.avg", "did you mean sm__cycles_active.avg?" },
};

/* 13.1 and later accept some of these themselves: the message is the same on every release. */
CTX_TEST_EACH(misspelt_submetrics, misspelt_submetrics_rows)
{
	struct opk_plan_options options = OPTIONS(options, .chip = "GH100");
	freed(opk_plan) *plan = NULL;

	ck_row_ends(row, ctx, plan_names(&plan, ctx, row->name, &options), OPK_EUSAGE, row->told);
}

/* The message names the metrics that don't fit, and no others. */
TEST(refused_pm_plan)
{
	struct opk_ctx *ctx = new_ctx();
	struct opk_plan_options options = OPK_INIT(options);
	struct opk_plan *plan = NULL;
	const char *others;

	if (version_of(ctx) != CUPTI_13_0) {
		opk_ctx_free(ctx);
		return;
	}
	options.chip = "GH100";
	options.has_profiler = true;
	options.profiler = OPK_PROFILER_PM;
	ck_fails(ctx,
	         plan_names(&plan, ctx,
	                    "sm__inst_executed_pipe_cbu.sum,"
	                    "sm__inst_executed_pipe_lsu_mem_shared_cmd_read.sum,"
	                    "l1tex__t_sectors_lookup_miss.sum,l1tex__data_bank_writes.sum,"
	                    "l1tex__texin_requests.sum,lts__t_bytes.sum,"
	                    "sm__warps_launched_shader_ps.sum",
	                    &options),
	         OPK_EFAILED, "PM sampling has one");
	others = strstr(errors_of(ctx), "; not: ");
	ck_assert_msg(others && strstr(others, "__"), "%s", errors_of(ctx));
	ck_assert_msg(!strstr(others, "sm__inst_executed_pipe_cbu.sum"), "%s", others);
	ck_assert_ptr_null(plan);
	opk_ctx_free(ctx);
}

/* ---- counter-availability images */

static int plan_with(struct opk_ctx *ctx, const void *availability, size_t size)
{
	struct opk_plan_options options = OPTIONS(options, .chip = "GH100",
	                                          .availability = availability,
	                                          .availability_size = size);
	freed(opk_plan) *plan = NULL;
	int code;

	code = plan_names(&plan, ctx, "dram__bytes.sum,sm__cycles_active.avg", &options);
	ck_assert(!plan == !!code);
	return code;
}

CTX_TEST(availability)
{
	freed(opk_file) *file = NULL;
	size_t size = 0;
	opk_autofree void *image = NULL;

	ck_ok(ctx, opk_file_open(&file, ctx, RECORDING("simple")));
	image = section_of(&size, ctx, file, OPK_SECTION_AVAILABILITY);
	ck_assert_msg(image, "the recording has no availability image");
	ck_ok(ctx, plan_with(ctx, image, size));
}

/* The plan fails with a message, and does not crash. */
static void check_refused(struct opk_ctx *ctx, const void *image, size_t size, const char *what)
{
	int code = plan_with(ctx, image, size);

	ck_assert_msg(code == OPK_EINPUT || code == OPK_EFAILED, "%s: code %d", what, code);
	ck_assert_msg(opk_error_count(ctx) && *opk_error_message(ctx, 0), "%s: no message", what);
}

/*
 * In memory, other bytes follow the truncated image: code that reads past the size would not
 * notice.
 */
static void check_truncated(struct opk_ctx *ctx, const void *image, size_t size)
{
	char what[64];

	snprintf(what, sizeof what, "first %zu bytes", size);
	check_refused(ctx, image, size, what);
}

CTX_TEST(damaged_availability)
{
	static const size_t short_sizes[] = { 8, 64 }, long_sizes[] = { 1000, 4096, 9000 };
	freed(opk_file) *file = NULL;
	size_t size = 0;
	uint64_t noise[1024];
	opk_autofree void *image = NULL;

	srandom(1);
	for (size_t round = 0; round < 5; round++) {
		for (size_t i = 0; i < COUNT(noise); i++)
			noise[i] = (uint64_t)random() << 33 ^ (uint64_t)random();
		check_refused(ctx, noise, sizeof noise, "noise");
	}
	memset(noise, 0, sizeof noise);
	check_refused(ctx, noise, sizeof noise, "zeros");
	ck_ok(ctx, opk_file_open(&file, ctx, RECORDING("simple")));
	image = section_of(&size, ctx, file, OPK_SECTION_AVAILABILITY);
	for (size_t i = 0; i < COUNT(short_sizes); i++)
		check_truncated(ctx, image, short_sizes[i]);
	/* Long enough for these metrics: the point is that nothing is read after the end. */
	for (size_t i = 0; i < COUNT(long_sizes); i++)
		if (long_sizes[i] < size)
			plan_with(ctx, image, long_sizes[i]);
}

/* ---- build */

static const char *scratch_dir(void)
{
	static char dir[64];

	snprintf(dir, sizeof dir, "/tmp/check_real.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	return dir;
}

static void check_built(struct opk_ctx *ctx, const char *path, const struct opk_plan *plan,
                        bool keep_instances)
{
	freed(opk_file) *file = NULL;
	const struct opk_meta *meta;
	size_t size, config_size;
	opk_autofree void *config = NULL;

	ck_ok(ctx, opk_file_open(&file, ctx, path));
	ck_assert(opk_file_complete(file));
	ck_ok(ctx, opk_file_meta(&meta, ctx, file));
	ck_assert_str_eq(meta->kind, "set");
	ck_assert_str_eq(meta->chip, "GH100");
	ck_assert_int_eq(meta->profiler, OPK_PROFILER_RANGE);
	ck_assert_uint_eq(meta->passes, opk_plan_passes(plan));
	ck_assert_uint_eq(meta->cupti_version, version_of(ctx));
	ck_assert(meta->keep_instances == keep_instances);
	ck_assert_uint_eq(meta->metric_count, opk_plan_metrics(plan)->count);
	for (size_t i = 0; i < meta->metric_count; i++)
		ck_assert_str_eq(meta->metrics[i], opk_plan_metrics(plan)->items[i]);
	config = section_of(&size, ctx, file, OPK_SECTION_CONFIG);
	ck_assert(config && !memcmp(config, opk_plan_config(plan, &config_size), size));
	ck_assert_uint_eq(size, config_size);
}

CTX_TEST(build_and_read)
{
	freed(opk_plan) *plan = plan_recording(ctx, RECORDING("simple"));
	const char *dir = scratch_dir();
	char path[128];

	snprintf(path, sizeof path, "%s/set.opk", dir);
	for (int keep = 0; keep < 2; keep++) {
		struct opk_build_options options = OPTIONS(options, .keep_instances = keep);
		struct opk_eval_options eval = OPK_INIT(eval);
		struct opk_evaluation *evaluation = NULL;
		freed(opk_file) *file = NULL;

		ck_ok(ctx, opk_build(ctx, plan, &options, path));
		check_built(ctx, path, plan, keep);
		/* A built set has no counter data to evaluate. */
		ck_ok(ctx, opk_file_open(&file, ctx, path));
		ck_fails(ctx, opk_eval_file(&evaluation, ctx, file, &eval), OPK_EINPUT,
		         "no counter data");
	}
	unlink(path);
	ck_assert_int_eq(rmdir(dir), 0); /* and no temporary file is left */
}

CTX_TEST(build_to_nowhere)
{
	freed(opk_plan) *plan = plan_recording(ctx, RECORDING("simple"));
	struct opk_build_options options = OPK_INIT(options);
	struct opk_file *file = NULL;

	ck_fails(ctx, opk_build(ctx, plan, &options, "/nonexistent/folder/set.opk"), OPK_EFAILED,
	         "/nonexistent/folder");
	ck_fails(ctx, opk_file_open(&file, ctx, "/nonexistent/folder/set.opk"), OPK_EINPUT,
	         "/nonexistent/folder/set.opk");
	ck_fails(ctx, opk_file_open(&file, ctx, "/tmp"), OPK_EINPUT, "/tmp: is a folder");
}

SUITE(.needs = have_cupti, .seconds = 300);
