/* SPDX-License-Identifier: BSD-2-Clause */
/* The passes of a plan that have a metric's counters, and how build writes them. */
#include "adapters/nv/nv.h"
#include "allocation.h"
#include "plan/plan.h"
#include "fake_nv.h"
#include "folder.h"
#include "real.h"
#include "set/door.h"

#define RECORDING(name) TEST_DATA_DIR "/recordings/gh100-" name ".opk"

/* A pass of the fake has room for four; a, b and c take two each, the ratio six. */
static const char all_names[] = "fake__a.sum,fake__ratio.pct,fake__b.sum,fake__c.sum";

static struct opk_plan *plan_of(struct opk_ctx *ctx, const char *chip, const char *names)
{
	struct opk_plan_options options = OPTIONS(options, .chip = chip);
	struct opk_plan *plan = NULL;
	freed(opk_set) *set = NULL;

	ck_ok(ctx, opk_set_from_names(&set, ctx, names));
	ck_ok(ctx, opk_plan_new(&plan, ctx, set, &options));
	return plan;
}

/* Whether a pass with these counters counts any counter of a metric. */
static bool is_served(struct opk_ctx *ctx, struct opk_nv_evaluator *evaluator,
                      const struct opk_strlist *here, const char *metric)
{
	opk_autostrlist struct opk_strlist raw = { 0 };
	bool served = false;

	ck_ok(ctx, opk_nv_raw_counters(&raw, ctx, evaluator, metric));
	for (size_t i = 0; i < raw.count; i++)
		served |= opk_strlist_contains(here, raw.items[i]);
	return served;
}

/* In the file's form: each metric's passes by number, from 1, ascending. */
static void check_passes(struct opk_ctx *ctx, const struct opk_plan *plan,
                         const struct opk_pass_list *lists)
{
	opk_auto(opk_nv_evaluator) struct opk_nv_evaluator *evaluator = NULL;
	opk_autofree size_t *at = opk_alloc_array(plan->metrics.count, sizeof *at);

	ck_ok(ctx, opk_nv_evaluator_new(&evaluator, ctx, plan->target.chip));
	for (size_t pass = 0; pass < plan->schedule.passes; pass++) {
		opk_autostrlist struct opk_strlist here = { 0 };

		ck_ok(ctx, opk_nv_config_counters(&here, ctx, plan->schedule.config,
		                                  plan->schedule.size, pass));
		for (size_t i = 0; i < plan->metrics.count; i++) {
			const char *metric = plan->metrics.items[i];
			bool listed = at[i] < lists[i].count && lists[i].passes[at[i]] == pass + 1;

			at[i] += listed;
			ck_assert_msg(is_served(ctx, evaluator, &here, metric) == listed,
			              "%s, pass %zu", metric, pass);
		}
	}
	for (size_t i = 0; i < plan->metrics.count; i++)
		ck_assert_uint_eq(at[i], lists[i].count);
}

static int find_use(struct opk_pass_use *use, struct opk_ctx *ctx, const struct opk_plan *plan)
{
	opk_autocounters struct opk_counters counters = { 0 };
	int code = opk_counters_of(&counters, ctx, plan->target.chip, &plan->metrics);

	return code ? code : opk_pass_use_find(use, ctx, plan, &counters);
}

FAKE_TEST(fake_passes)
{
	opk_auto(opk_nv_evaluator) struct opk_nv_evaluator *evaluator = NULL;
	struct opk_plan *plan = plan_of(ctx, "FA100", all_names);
	struct opk_pass_use use = { 0 };

	ck_assert_uint_gt(plan->schedule.passes, 1);
	ck_ok(ctx, find_use(&use, ctx, plan));
	ck_assert_uint_eq(use.metrics, 4);
	ck_assert_uint_eq(use.passes, plan->schedule.passes);
	ck_ok(ctx, opk_nv_evaluator_new(&evaluator, ctx, plan->target.chip));
	for (size_t i = 0; i < use.passes * use.metrics; i++)
		ck_assert(use.serves[i]
		          == is_served(ctx, evaluator, &use.counters[i / use.metrics],
		                       plan->metrics.items[i % use.metrics]));
	opk_pass_use_clear(&use);
	opk_nv_evaluator_free(opk_take(evaluator));
	opk_plan_free(plan);
	ck_assert_int_eq(fake.hosts + fake.evaluators, 0);
}

TEST(calls_fail)
{
	static const enum fake_call calls[] = {
		FAKE_NVPW_CUDA_MetricsEvaluator_Initialize,
		FAKE_NVPW_Config_GetRawCounters,
		FAKE_NVPW_MetricsEvaluator_GetMetricRawDependencies,
	};

	for (size_t i = 0; i < COUNT(calls); i++) {
		freed(opk_ctx) *ctx = fake_ctx();
		freed(opk_plan) *plan = plan_of(ctx, "FA100", all_names);
		opk_autopassuse struct opk_pass_use use = { 0 };

		fake.status[calls[i]] = 1;
		ck_assert_msg(find_use(&use, ctx, plan), "call %zu", i);
		ck_assert_int_eq(fake.hosts + fake.evaluators, 0);
	}
}

FAKE_TEST(without_memory)
{
	freed(opk_plan) *plan = plan_of(ctx, "FA100", all_names);
	bool failed = true;

	for (long n = 0; failed; n++) {
		struct opk_pass_use use = { 0 };

		failed = is_short(ctx, n, find_use(&use, ctx, plan));
		opk_pass_use_clear(&use);
	}
}

/* ---- with NVIDIA's libraries */

static struct opk_plan *plan_recording(struct opk_ctx *ctx, const char *path)
{
	struct opk_plan *plan;
	const struct opk_meta *meta;
	opk_autofree char *names = opk_strdup("");
	freed(opk_file) *file = NULL;

	ck_ok(ctx, opk_file_open(&file, ctx, path));
	ck_ok(ctx, opk_file_meta(&meta, ctx, file));
	for (size_t i = 0; i < meta->metric_count; i++) {
		char *longer = opk_printf("%s%s%s", names, i ? "," : "", meta->metrics[i]);

		free(names);
		names = longer;
	}
	plan = plan_of(ctx, meta->chip, names);
	return plan;
}

static size_t count_sections(const struct opk_file *file, uint32_t type)
{
	size_t count = 0;

	for (size_t i = 0; i < opk_file_section_count(file); i++)
		count += opk_file_section(file, i)->type == type;
	return count;
}

/* One config image and one prefix, for any number of passes; the metadata has the passes. */
static void check_built(struct opk_ctx *ctx, const struct opk_plan *plan)
{
	const struct opk_meta *meta;
	freed(opk_file) *file = NULL;

	ck_ok(ctx, opk_build(ctx, plan, NULL, in_folder("set.opk")));
	ck_ok(ctx, opk_file_open(&file, ctx, in_folder("set.opk")));
	ck_ok(ctx, opk_file_meta(&meta, ctx, file));
	ck_assert_uint_eq(count_sections(file, OPK_SECTION_CONFIG), 1);
	ck_assert_uint_eq(count_sections(file, OPK_SECTION_PREFIX), 1);
	ck_assert(!meta->keep_instances);
	if (meta->passes == 1) {
		ck_assert_uint_eq(meta->metric_pass_count, 0);
	} else {
		ck_assert_uint_eq(meta->metric_pass_count, meta->metric_count);
		check_passes(ctx, plan, meta->metric_passes);
	}
}

CTX_TEST(built, .needs = have_cupti)
{
	const char *const recordings[] = { RECORDING("simple"), RECORDING("wide-auto") };

	/* Older releases lack metrics of the second. */
	for (size_t i = 0; i < (version_of(ctx) < 130000 ? 1 : COUNT(recordings)); i++) {
		freed(opk_plan) *plan = plan_recording(ctx, recordings[i]);

		check_built(ctx, plan);
	}
}

CTX_TEST(built_of_one_pass, .needs = have_cupti)
{
	freed(opk_plan) *plan = plan_of(ctx, "GH100", "sm__cycles_active.avg");

	check_built(ctx, plan);
}

static void *prefix_of(size_t *size, struct opk_ctx *ctx, const struct opk_plan *plan, bool none,
                       bool all)
{
	struct opk_build_options options = OPTIONS(options, .no_instances = none,
	                                           .keep_instances = all);
	void *prefix;

	ck_ok(ctx, opk_prefix_new(&prefix, size, ctx, plan, &options));
	return prefix;
}

/* Whether the prefix with needed instances equals the prefix with all or none. */
static bool is_same(struct opk_ctx *ctx, const struct opk_plan *plan, bool none, bool all)
{
	size_t size, other_size;
	opk_autofree void *needed = prefix_of(&size, ctx, plan, false, false);
	opk_autofree void *other = prefix_of(&other_size, ctx, plan, none, all);

	return size == other_size && !memcmp(needed, other, size);
}

/* Metrics that need instances keep them: minima, maxima, and metrics with such a counter. */
CTX_TEST(instances, .needs = have_cupti)
{
	enum kept { NONE, SOME, ALL };
	static const struct {
		struct here here;
		const char *chip, *names;
		enum kept kept;
	} rows[] = {
		{ HERE, "GH100", "sm__cycles_active.avg", NONE },
		{ HERE, "GH100", "sm__cycles_active.max", ALL },
		{ HERE, "GH100", "sm__mio2rf_writeback_active.avg", ALL },
		{ HERE, "GH100", "smsp__mio2rf_writeback_active.sum", ALL },
		{ HERE, "GH100", "smsp__mio2rf_writeback_active_pipe_lsu_op_gmma.sum", ALL },
		{ HERE, "GH100", "sm__cycles_active.avg,smsp__inst_executed.max", SOME },
		/* A part, or a part of a part, needs them. */
		{ HERE, "GH100", "sm__memory_throughput.avg.pct_of_peak_sustained_elapsed", SOME },
		{ HERE, "GH100", "sm__throughput.avg.pct_of_peak_sustained_elapsed", SOME },
		{ HERE, "GH100", "sm__instruction_throughput.avg.pct_of_peak_sustained_elapsed",
		  NONE },
		{ HERE, "GH100", "dram__throughput.avg.pct_of_peak_sustained_elapsed", NONE },
		{ HERE, "GB100", "sm__throughput.avg.pct_of_peak_sustained_elapsed", NONE },
		{ HERE, "AD102", "sm__throughput.avg.pct_of_peak_sustained_elapsed", NONE },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		freed(opk_plan) *plan = plan_of(ctx, rows[i].chip, rows[i].names);

		ck_row(&rows[i], is_same(ctx, plan, true, false) == (rows[i].kept == NONE), "none");
		ck_row(&rows[i], is_same(ctx, plan, false, true) == (rows[i].kept == ALL), "all");
	}
}

SUITE(.set_up = make_folder, .tear_down = remove_folder, .seconds = 300);
