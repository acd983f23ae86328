/* SPDX-License-Identifier: BSD-2-Clause */
/* Plans of several passes in groups of one pass: over the fake, and with NVIDIA's own libraries. */
#include "adapters/nv/nv.h"
#include "allocation.h"
#include "base/buf.h"
#include "plan/plan.h"
#include "fake_nv.h"
#include "folder.h"
#include "real.h"

/* ---- over the fake: a pass has room for four, of which a, b and c take two each, the ratio six */

static const char all_names[] = "fake__a.sum,fake__ratio.pct,fake__b.sum,fake__c.sum,"
				"fake__throughput.avg.pct_of_peak_sustained_elapsed";

static struct opk_plan *plan_of(struct opk_ctx *ctx, const char *chip, const char *names)
{
	struct opk_plan_options options = OPK_INIT(options);
	struct opk_plan *plan = NULL;
	struct opk_set *set;

	options.chip = chip;
	ck_ok(ctx, opk_set_from_names(&set, ctx, names));
	ck_ok(ctx, opk_plan_new(&plan, ctx, set, &options));
	opk_set_free(set);
	return plan;
}

static void check_fake_groups(const struct opk_pass_groups *groups)
{
	static const size_t wanted[2][2] = { { 0, 2 }, { 3, 4 } };

	uint32_t passes;

	ck_assert_uint_eq(groups->count, 2);
	for (size_t i = 0; i < 2; i++) {
		ck_assert_uint_eq(groups->items[i].metric_count, 2);
		ck_assert_mem_eq(groups->items[i].metrics, wanted[i], sizeof wanted[i]);
		ck_assert_uint_eq(groups->items[i].schedule.size, FAKE_CONFIG_SIZE);
	}
	ck_assert_uint_eq(groups->schedule.size, FAKE_CONFIG_SIZE);
	memcpy(&passes, groups->schedule.config, sizeof passes);
	ck_assert_uint_eq(passes, 2);
}

START_TEST(first_fit)
{
	struct opk_ctx *ctx = fake_ctx();
	struct opk_plan *plan = plan_of(ctx, "FA100", all_names);
	struct opk_pass_groups groups;

	ck_ok(ctx, opk_pass_groups_pack(&groups, ctx, plan, NULL, 0));
	check_fake_groups(&groups);
	opk_pass_groups_clear(&groups);
	opk_plan_free(plan);
	ck_assert_int_eq(fake.hosts + fake.evaluators, 0);
	opk_ctx_free(ctx);
}
END_TEST

/* PerfWorks' word only makes a good beginning: without its scheduler it works as well. */
START_TEST(without_scheduler)
{
	struct nv_table table = fake_table();
	struct opk_pass_groups groups;
	struct opk_plan *plan;
	struct opk_ctx *ctx;

	fake_reset();
	*fake_slot(&table, FAKE_NVPW_CUDA_RawCounterConfig_Create) = NULL;
	ctx = fake_ctx_of(&table);
	plan = plan_of(ctx, "FA100", all_names);
	ck_ok(ctx, opk_pass_groups_pack(&groups, ctx, plan, NULL, 0));
	check_fake_groups(&groups);
	ck_assert_uint_eq(opk_error_count(ctx), 0);
	opk_pass_groups_clear(&groups);
	opk_plan_free(plan);
	opk_ctx_free(ctx);
}
END_TEST

START_TEST(with_availability)
{
	static const struct {
		struct here here;
		enum fake_deed deed;
		int wanted;
	} rows[] = {
		{ HERE, FAKE_RETURNS, OPK_OK },
		{ HERE, FAKE_SEGFAULTS, OPK_EINPUT },
		{ HERE, FAKE_EXITS_HAPPY, OPK_EINPUT },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct opk_ctx *ctx = fake_ctx();
		struct opk_plan *plan = plan_of(ctx, "FA100", all_names);
		struct opk_pass_groups groups = { 0 };
		int code;

		fake.availability_deed = rows[i].deed;
		code = opk_pass_groups_pack(&groups, ctx, plan, fake_image(), FAKE_IMAGE_SIZE);
		ck_row(&rows[i], code == rows[i].wanted, "code %d: %s", code, errors_of(ctx));
		if (!code)
			check_fake_groups(&groups);
		ck_row(&rows[i], !code || !groups.items, "groups after a failure");
		opk_pass_groups_clear(&groups);
		opk_plan_free(plan);
		opk_ctx_free(ctx);
	}
}
END_TEST

START_TEST(calls_fail)
{
	static const enum fake_call calls[] = {
		FAKE_cuptiProfilerHostInitialize,
		FAKE_cuptiProfilerHostGetConfigImage,
		FAKE_NVPW_RawCounterConfig_AreRawCountersSchedulable,
		FAKE_NVPW_CUDA_MetricsEvaluator_Initialize,
		FAKE_NVPW_MetricsEvaluator_GetMetricRawDependencies,
	};

	for (size_t i = 0; i < COUNT(calls); i++) {
		struct opk_ctx *ctx = fake_ctx();
		struct opk_plan *plan = plan_of(ctx, "FA100", all_names);
		struct opk_pass_groups groups = { 0 };

		fake.status[calls[i]] = 8;
		ck_code(ctx, opk_pass_groups_pack(&groups, ctx, plan, NULL, 0), OPK_EFAILED);
		ck_assert_msg(told(ctx, "can't be packed"), "%s", errors_of(ctx));
		ck_assert(!groups.items && !groups.count);
		ck_assert_int_eq(fake.hosts + fake.evaluators, 0);
		opk_plan_free(plan);
		opk_ctx_free(ctx);
	}
}
END_TEST

/* Then the image of all groups would not be what it should be. */
START_TEST(passes_are_shared)
{
	struct opk_ctx *ctx = fake_ctx();
	struct opk_plan *plan = plan_of(ctx, "FA100", all_names);
	struct opk_pass_groups groups = { 0 };

	fake.calls_share_passes = true;
	ck_code(ctx, opk_pass_groups_pack(&groups, ctx, plan, NULL, 0), OPK_EFAILED);
	ck_assert_msg(told(ctx, "CUPTI takes 1 pass"), "%s", errors_of(ctx));
	ck_assert(!groups.items && !groups.count);
	opk_plan_free(plan);
	opk_ctx_free(ctx);
}
END_TEST

START_TEST(without_memory)
{
	struct opk_ctx *ctx = fake_ctx();
	struct opk_plan *plan = plan_of(ctx, "FA100", all_names);
	long n = 0;

	for (;; n++) {
		struct opk_pass_groups groups = { 0 };
		int code;

		fail_allocation(n);
		code = opk_pass_groups_pack(&groups, ctx, plan, NULL, 0);
		if (!allocation_failed()) {
			ck_ok(ctx, code);
			opk_pass_groups_clear(&groups);
			break;
		}
		ck_assert_msg(code == OPK_ENOMEM, "allocation %ld: %d: %s", n, code,
		              errors_of(ctx));
		ck_assert_int_eq(fake.hosts + fake.evaluators, 0);
	}
	ck_assert_int_gt(n, 20);
	opk_plan_free(plan);
	opk_ctx_free(ctx);
}
END_TEST

/* ---- with NVIDIA's own libraries */

#define RECORDING(name) TEST_DATA_DIR "/recordings/gh100-" name ".opk"

static struct opk_plan *plan_recording(struct opk_ctx *ctx, const char *path)
{
	opk_autobuf struct opk_buf names = { 0 };
	const struct opk_meta *meta;
	struct opk_plan *plan;
	struct opk_file *file;

	ck_ok(ctx, opk_file_open(&file, ctx, path));
	ck_ok(ctx, opk_file_meta(&meta, ctx, file));
	for (size_t i = 0; i < meta->metric_count; i++)
		opk_buf_add_printf(&names, "%s%s", i ? "," : "", meta->metrics[i]);
	opk_buf_add(&names, "", 1);
	plan = plan_of(ctx, "GH100", (char *)names.data);
	opk_file_free(file);
	return plan;
}

/* Plans as `config` does, in one pass; the metrics are each in one group alone. */
static void check_group(struct opk_ctx *ctx, const struct opk_plan *plan,
                        const struct opk_pass_group *group, bool *seen)
{
	const char *names[1000];
	opk_autoresult struct opk_schedule_result result = { 0 };

	for (size_t i = 0; i < group->metric_count; i++) {
		size_t metric = group->metrics[i];

		ck_assert_uint_lt(metric, opk_plan_metric_count(plan));
		ck_assert_msg(!seen[metric], "%s is in two groups", opk_plan_metric(plan, metric));
		ck_assert(!i || metric > group->metrics[i - 1]);
		seen[metric] = true;
		names[i] = opk_plan_metric(plan, metric);
	}
	ck_ok(ctx, opk_schedule_try(&result, ctx, &plan->target, names, group->metric_count));
	ck_assert_uint_eq(result.passes, 1);
	ck_assert_uint_eq(result.size, group->schedule.size);
	ck_assert_mem_eq(result.config, group->schedule.config, result.size);
}

/* The groups' config image has all that the metrics of a group need in the pass of that group. */
static void check_passes(struct opk_ctx *ctx, const struct opk_plan *plan,
                         const struct opk_pass_groups *groups)
{
	struct opk_nv_evaluator *evaluator;

	ck_ok(ctx, opk_nv_evaluator_new(&evaluator, ctx, opk_plan_chip(plan)));
	for (size_t i = 0; i < groups->count; i++) {
		const struct opk_pass_group *group = &groups->items[i];
		opk_autostrlist struct opk_strlist counters = { 0 }, raw = { 0 };

		ck_ok(ctx, opk_nv_config_counters(&counters, ctx, groups->schedule.config,
		                                  groups->schedule.size, i));
		opk_strlist_sort(&counters);
		for (size_t j = 0; j < group->metric_count; j++)
			ck_ok(ctx, opk_nv_raw_counters(&raw, ctx, evaluator,
			                               opk_plan_metric(plan, group->metrics[j])));
		for (size_t j = 0; j < raw.count; j++)
			ck_assert_msg(opk_strlist_contains_sorted(&counters, raw.items[j]),
			              "pass %zu lacks %s", i, raw.items[j]);
	}
	opk_nv_evaluator_free(evaluator);
}

static size_t check_groups(struct opk_ctx *ctx, const struct opk_plan *plan,
                           const struct opk_pass_groups *groups)
{
	size_t count = opk_plan_metric_count(plan), ungrouped = 0;
	opk_autofree bool *seen = calloc(count, sizeof *seen);

	for (size_t i = 0; i < groups->count; i++)
		check_group(ctx, plan, &groups->items[i], seen);
	check_passes(ctx, plan, groups);
	for (size_t i = 0; i < count; i++) {
		const char *name = opk_plan_metric(plan, i);
		opk_autoresult struct opk_schedule_result alone = { 0 };

		if (seen[i])
			continue;
		ungrouped++;
		ck_ok(ctx, opk_schedule_try(&alone, ctx, &plan->target, &name, 1));
		ck_assert_msg(alone.passes > 1, "%s fits a pass and is in no group", name);
	}
	return ungrouped;
}

START_TEST(real_groups)
{
	static const struct {
		struct here here;
		const char *path;
		size_t groups, ungrouped; /* on 13.0 */
	} rows[] = {
		{ HERE, RECORDING("simple"), 2, 1 },
		{ HERE, RECORDING("wide-auto"), 16, 11 },
	};
	struct opk_ctx *ctx = new_ctx();
	bool known = version_of(ctx) == CUPTI_13_0;

	/* Some metrics of the wide recording came with 13.0. */
	for (size_t i = 0; i < (version_of(ctx) >= 130000 ? COUNT(rows) : 1); i++) {
		struct opk_plan *plan = plan_recording(ctx, rows[i].path);
		struct opk_pass_groups groups;
		size_t ungrouped;

		ck_ok(ctx, opk_pass_groups_pack(&groups, ctx, plan, NULL, 0));
		ungrouped = check_groups(ctx, plan, &groups);
		ck_row(&rows[i], !known || groups.count <= rows[i].groups, "%zu", groups.count);
		ck_row(&rows[i], !known || ungrouped == rows[i].ungrouped, "%zu", ungrouped);
		opk_pass_groups_clear(&groups);
		opk_plan_free(plan);
	}
	opk_ctx_free(ctx);
}
END_TEST

static void ignore_log(void *data, const char *message)
{
	(void)data;
	(void)message;
}

/* PerfWorks makes the image of groups that CUPTI refuses together; CUPTI makes all others. */
START_TEST(real_together)
{
	static const char *const names[] = {
		"dram__bytes.sum,lts__t_sectors_op_read.sum,lts__t_sectors_op_write.sum,"
		"lts__t_sector_hit_rate.pct,sm__inst_executed.sum,"
		"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum",
		"dram__bytes.sum,lts__t_sectors_op_read.sum,lts__t_sectors_op_write.sum,"
		"lts__t_sector_hit_rate.pct,sm__inst_executed.sum,pcie__read_bytes.sum,"
		"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum,nvlrx__bytes.sum",
	};
	struct opk_ctx *ctx = new_ctx();

	ctx->log = ignore_log;
	for (size_t i = 0; i < COUNT(names) && version_of(ctx) >= 130000; i++) {
		struct opk_plan *plan = plan_of(ctx, "GH100", names[i]);
		struct opk_pass_groups groups, again;

		ck_ok(ctx, opk_pass_groups_pack(&groups, ctx, plan, NULL, 0));
		ck_assert_uint_gt(groups.count, 1);
		check_groups(ctx, plan, &groups);
		ck_assert_uint_eq(plan->schedule.apart, 2 * i);
		plan->schedule.apart = 2;
		ck_ok(ctx, opk_pass_groups_pack(&again, ctx, plan, NULL, 0));
		ck_assert_uint_eq(again.schedule.size, groups.schedule.size);
		ck_assert_mem_eq(again.schedule.config, groups.schedule.config,
		                 groups.schedule.size);
		opk_pass_groups_clear(&groups);
		opk_pass_groups_clear(&again);
		opk_plan_free(plan);
	}
	opk_ctx_free(ctx);
}
END_TEST

/* The same groups where the GPU's own availability image allows all counters. */
START_TEST(real_availability)
{
	struct opk_ctx *ctx = new_ctx();
	struct opk_plan *plan = plan_recording(ctx, RECORDING("simple"));
	struct opk_pass_groups groups;
	struct opk_file *file;
	void *image = NULL;
	size_t size = 0;

	ck_ok(ctx, opk_file_open(&file, ctx, RECORDING("simple")));
	for (size_t i = 0; i < opk_file_section_count(file); i++)
		if (opk_file_section(file, i)->type == OPK_SECTION_AVAILABILITY)
			ck_ok(ctx, opk_file_read(&image, &size, ctx, file, i));
	ck_assert_ptr_nonnull(image);
	ck_ok(ctx, opk_pass_groups_pack(&groups, ctx, plan, image, size));
	ck_assert_uint_eq(groups.count, 2);
	ck_assert_uint_eq(groups.items[0].metric_count + groups.items[1].metric_count, 6);
	opk_pass_groups_clear(&groups);
	free(image);
	opk_file_free(file);
	opk_plan_free(plan);
	opk_ctx_free(ctx);
}
END_TEST

/* ---- what build makes of them */

static size_t count_sections(const struct opk_file *file, uint32_t type)
{
	size_t count = 0;

	for (size_t i = 0; i < opk_file_section_count(file); i++)
		count += opk_file_section(file, i)->type == type;
	return count;
}

START_TEST(built_groups)
{
	struct opk_ctx *ctx = new_ctx();
	struct opk_plan *plan = plan_recording(ctx, RECORDING("simple"));

	for (int no_groups = 0; no_groups < 2; no_groups++) {
		struct opk_build_options options = OPK_INIT(options);
		size_t wanted = no_groups ? 0 : 2;
		const struct opk_meta *meta;
		struct opk_file *file;

		options.no_groups = no_groups;
		ck_ok(ctx, opk_build(ctx, plan, &options, in_folder("set.opk")));
		ck_ok(ctx, opk_file_open(&file, ctx, in_folder("set.opk")));
		ck_ok(ctx, opk_file_meta(&meta, ctx, file));
		ck_assert_uint_eq(meta->group_count, wanted);
		ck_assert_uint_eq(count_sections(file, OPK_SECTION_CONFIG),
		                  no_groups ? 1 : wanted + 2);
		ck_assert_uint_eq(count_sections(file, OPK_SECTION_PREFIX), wanted + 1);
		ck_assert(meta->keep_instances);
		opk_file_free(file);
	}
	opk_plan_free(plan);
	opk_ctx_free(ctx);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("groups");
	TCase *tests = tcase_create("fake"), *real = tcase_create("real");

	tcase_add_test(tests, first_fit);
	tcase_add_test(tests, without_scheduler);
	tcase_add_test(tests, with_availability);
	tcase_add_test(tests, calls_fail);
	tcase_add_test(tests, passes_are_shared);
	tcase_add_test(tests, without_memory);
	suite_add_tcase(suite, tests);
	if (have_cupti()) {
		tcase_add_checked_fixture(real, make_folder, remove_folder);
		tcase_add_test(real, real_groups);
		tcase_add_test(real, real_together);
		tcase_add_test(real, real_availability);
		tcase_add_test(real, built_groups);
		tcase_set_timeout(real, 300);
		suite_add_tcase(suite, real);
	}
	return run_suite(suite);
}
