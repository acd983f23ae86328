/* SPDX-License-Identifier: BSD-2-Clause */
/* The cost of launches, and plans that avoid passes with a high cost: with NVIDIA's libraries. */
#include "container/container.h"
#include "folder.h"
#include "offpeak.h"
#include "plan/door.h"
#include "plan/plan_detail.h"
#include "real.h"
#include "set/door.h"

enum { DEAR_US = 500 };

/* A plan and its description. */
struct made {
	struct opk_plan *plan;
	struct opk_plan_detail *detail;
};

static struct made make(struct opk_ctx *ctx, const char *chip, const char *names, bool cheap)
{
	struct opk_plan_options options = OPTIONS(options, .chip = chip, .prefer_cheap = cheap);
	freed(opk_set) *set = NULL;
	struct made made;

	ck_ok(ctx, opk_set_find(&set, ctx, names));
	ck_ok(ctx, opk_plan_new(&made.plan, ctx, set, &options));
	ck_ok(ctx, opk_plan_detail_new(&made.detail, ctx, made.plan));
	return made;
}

static void clear(struct made *made)
{
	opk_plan_detail_free(made->detail);
	opk_plan_free(made->plan);
}

static size_t count_dear(const struct made *made)
{
	size_t count = 0;

	for (size_t pass = 0; pass < opk_plan_passes(made->plan); pass++)
		count += made->detail->costs[pass].launch_us > DEAR_US;
	return count;
}

static size_t count_counters(struct opk_ctx *ctx, const struct made *made)
{
	struct opk_schedule schedule;
	struct opk_counters counters;
	size_t placed = 0;

	ck_ok(ctx, opk_counters_of(&counters, ctx, "GH100", &made->plan->metrics));
	ck_ok(ctx, opk_schedule_read(&schedule, ctx, &counters, &made->plan->schedule));
	for (size_t i = 0; i < counters.names.count; i++)
		placed += schedule.pass_of[i] < schedule.passes;
	ck_assert_uint_eq(placed, counters.names.count);
	opk_schedule_clear(&schedule);
	opk_counters_clear(&counters);
	return placed;
}

/* Counters that fit elsewhere leave the SMs' own counters; no counter is lost. */
CTX_TEST(cheap_plans, .needs = have_cupti)
{
	static const struct {
		struct here here;
		const char *names;
		size_t dear, cheap_dear;
	} rows[] = {
		{ HERE, "smsp__inst_executed.sum", 1, 0 },
		{ HERE, "sm__cycles_elapsed.max,lts__t_sectors.sum,dram__bytes.sum", 0, 0 },
		/* Metrics of this row need the SMs' own counters. */
		{ HERE, "smsp__warps_active.sum,sm__inst_executed.sum", 1, 1 },
		{ HERE,
		  "smsp__inst_executed.sum,sm__cycles_active.sum,smsp__issue_active.sum,"
		  "sm__inst_executed_pipe_fma.sum,lts__t_sectors.sum,"
		  "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum",
		  1, 0 },
	};
	/* Older releases count some in another domain. */
	bool known = version_of(ctx) >= 130000;

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct made usual = make(ctx, "GH100", rows[i].names, false);
		struct made cheap = make(ctx, "GH100", rows[i].names, true);

		ck_row(&rows[i], !known || count_dear(&usual) == rows[i].dear, "%zu",
		       count_dear(&usual));
		ck_row(&rows[i], !known || count_dear(&cheap) == rows[i].cheap_dear, "%zu",
		       count_dear(&cheap));
		ck_row(&rows[i], count_counters(ctx, &usual) == count_counters(ctx, &cheap),
		       "lost");
		ck_row(&rows[i], *usual.detail->measured, "where");
		clear(&usual);
		clear(&cheap);
	}
}

/* A set file has both plans, from the same counter-data prefix, where costs are known. */
CTX_TEST(both_plans, .needs = have_cupti)
{
	static const char *const chips[] = { "GH100", "TU102" };

	for (size_t i = 0; i < COUNT(chips); i++) {
		struct opk_plan_options options = OPTIONS(options, .chip = chips[i],
		                                          .for_rotation = true);
		freed(opk_plan) *plan = NULL;
		freed(opk_set) *set = NULL;
		freed(opk_file) *file = NULL;
		const struct opk_meta *meta;
		struct made cheap = make(ctx, chips[i], "compute", !i);

		ck_ok(ctx, opk_set_find(&set, ctx, "compute"));
		ck_ok(ctx, opk_plan_new(&plan, ctx, set, &options));
		ck_ok(ctx, opk_build(ctx, plan, NULL, in_folder("both.opk")));
		ck_ok(ctx, opk_file_open(&file, ctx, in_folder("both.opk")));
		ck_ok(ctx, opk_file_meta(&meta, ctx, file));
		ck_assert((opk_file_find(file, OPK_SECTION_ROTATION) < 0) == (i > 0));
		ck_assert_uint_eq(meta->rotation.passes, i ? 0 : opk_plan_passes(cheap.plan));
		ck_assert_uint_eq(meta->rotation.metric_pass_count, i ? 0 : meta->metric_count);
		ck_assert(i || meta->passes < opk_plan_passes(cheap.plan));
		clear(&cheap);
	}
}

/* A plan of one pass has no cheaper one. */
TEST(one_pass_is_not_cheap, .needs = have_cupti)
{
	static const struct {
		enum opk_profiler profiler;
		bool single_pass;
		const char *wanted;
	} rows[] = {
		{ OPK_PROFILER_PM, false, "PM sampling has one pass" },
		{ OPK_PROFILER_RANGE, true, "a single pass is wanted" },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		freed(opk_ctx) *ctx = new_ctx();
		struct opk_plan_options options = OPTIONS(options, .chip = "GH100",
		                                          .prefer_cheap = true,
		                                          .has_profiler = true,
		                                          .profiler = rows[i].profiler,
		                                          .single_pass = rows[i].single_pass);
		struct opk_plan *plan = NULL;
		freed(opk_set) *set = NULL;

		ck_ok(ctx, opk_set_from_names(&set, ctx, "sm__cycles_active.avg"));
		ck_fails(ctx, opk_plan_new(&plan, ctx, set, &options), OPK_EUSAGE, rows[i].wanted);
		ck_assert(!plan);
	}
}

/* A chip that was not measured has no costs. */
CTX_TEST(unmeasured, .needs = have_cupti)
{
	struct made made = make(ctx, "TU102", "smsp__inst_executed.sum", false);

	ck_assert_uint_eq(made.detail->costs[0].launch_us, 0);
	ck_assert_uint_eq(made.detail->costs[0].replay_us, 0);
	ck_assert_str_eq(made.detail->measured, "");
	clear(&made);
}

CTX_TEST(shipped_costs)
{
	struct opk_pass_costs costs;

	ck_ok(ctx, opk_pass_costs_read(&costs, ctx, "GH100"));
	ck_assert(costs.count > 5);
	ck_assert(opk_domain_is_dear(&costs, "gpu_sm_b"));
	ck_assert(!opk_domain_is_dear(&costs, "gpu_sm_a"));
	ck_assert(!opk_domain_is_dear(&costs, "gpu_no_such"));
	opk_pass_costs_clear(&costs);
}

SUITE(.seconds = 300);
