/* SPDX-License-Identifier: BSD-2-Clause */
/* Plans cut to one pass, and why metrics are left out of them. */
#include "plan/door.h"
#include "set/door.h"
#include "set/set.h"
#include "fake_nv.h"
#include "testing.h"

static void keep_log(void *data, const char *message)
{
	snprintf(data, 256, "%s", message);
}

static int make_ordered(struct opk_plan **plan, struct opk_ctx *ctx, const char *names,
                        const void *availability, bool strict_order)
{
	struct opk_plan_options options = OPK_INIT(options);
	freed(opk_set) *set = NULL;

	ck_ok(ctx, opk_set_from_names(&set, ctx, names));
	options.chip = "FA100";
	options.single_pass = true;
	options.strict_order = strict_order;
	options.availability = availability;
	options.availability_size = availability ? 8 : 0;
	return opk_plan_new(plan, ctx, set, &options);
}

static int make_plan(struct opk_plan **plan, struct opk_ctx *ctx, const char *names,
                     const void *availability)
{
	return make_ordered(plan, ctx, names, availability, false);
}

TEST(one_pass)
{
	/* A pass has room for two of a, b and c, or for one of them and t. */
	static const struct {
		struct here here;
		const char *names, *kept, *strictly;
	} rows[] = {
		{ HERE, "fake__a.sum", "a", "a" },
		{ HERE, "fake__a.sum,fake__b.sum", "ab", "ab" },
		{ HERE, "fake__a.sum,fake__b.sum,fake__c.sum", "ab", "ab" },
		{ HERE, "fake__a.sum,fake__ratio.pct,fake__c.sum", "ac", "a" },
		{ HERE, "fake__ratio.pct,fake__a.sum,fake__ratio.ratio,fake__c.sum", "ac", NULL },
		{ HERE,
		  "fake__a.sum,fake__throughput.avg.pct_of_peak_sustained_elapsed,fake__b.sum,"
		  "fake__c.sum",
		  "at", "at" },
	};

	for (size_t i = 0; i < 4 * COUNT(rows); i++) {
		struct opk_ctx *ctx = fake_ctx();
		const char *availability = i < 2 * COUNT(rows) ? NULL : "avail   ";
		size_t row = i % COUNT(rows), size, length;
		bool strict = i / COUNT(rows) % 2;
		const char *kept = strict ? rows[row].strictly : rows[row].kept;
		struct opk_plan *plan;

		if (!kept) {
			opk_ctx_free(ctx);
			continue;
		}
		ck_ok(ctx, make_ordered(&plan, ctx, rows[row].names, availability, strict));
		length = strlen(kept);
		ck_row(&rows[row], opk_plan_metrics(plan)->count == length, "%zu kept",
		       opk_plan_metrics(plan)->count);
		for (size_t j = 0; j < length; j++)
			ck_row(&rows[row],
			       opk_plan_metrics(plan)->items[j][strlen("fake__")] == kept[j], "%s",
			       opk_plan_metrics(plan)->items[j]);
		ck_assert_uint_eq(opk_plan_passes(plan), 1);
		ck_assert(opk_plan_config(plan, &size) && size);
		opk_plan_free(plan);
		ck_assert_int_eq(fake.hosts, 0);
		opk_ctx_free(ctx);
	}
}

FAKE_TEST(none_fits)
{
	struct opk_plan *plan;

	ck_fails(ctx, make_ordered(&plan, ctx, "fake__ratio.pct,fake__a.sum", NULL, true),
	         OPK_EFAILED, "fake__ratio.pct needs 2 passes by itself and is the first");
	ck_fails(ctx, make_plan(&plan, ctx, "fake__ratio.pct,fake__ratio.ratio", NULL), OPK_EFAILED,
	         "each of the metrics needs several passes by itself");
}

FAKE_TEST(explains)
{
	struct opk_plan *plan;
	struct opk_listing *leftovers;
	const union opk_cell *one;

	ck_ok(ctx, make_plan(&plan, ctx,
	                     "fake__a.sum,fake__throughput.avg.pct_of_peak_sustained_elapsed,"
	                     "fake__ratio.pct,fake__c.sum",
	                     NULL));
	ck_assert_uint_eq(opk_plan_metrics(plan)->count, 2);
	ck_ok(ctx, opk_plan_list(&leftovers, ctx, plan, OPK_PLAN_LEFT_OUT));
	ck_assert_uint_eq(opk_listing_count(leftovers), 2);
	one = opk_listing_get(leftovers, 0);
	ck_assert_str_eq(one[0].string, "fake__ratio.pct");
	ck_assert(!one[1].boolean);
	ck_assert_uint_eq(one[2].list.count, 1);
	ck_assert_str_eq(one[2].list.items[0], "gpu_sm_a");
	one = opk_listing_get(leftovers, 1);
	ck_assert_uint_eq(one[2].list.count, 3);
	ck_assert_str_eq(one[2].list.items[2], "gpu_sm_c_sm_a");
	opk_listing_free(leftovers);
	opk_plan_free(plan);
	/* After one that does not fit comes one that would. */
	ck_ok(ctx, make_ordered(&plan, ctx, "fake__a.sum,fake__ratio.pct,fake__b.sum", NULL, true));
	ck_ok(ctx, opk_plan_list(&leftovers, ctx, plan, OPK_PLAN_LEFT_OUT));
	ck_assert_uint_eq(opk_listing_count(leftovers), 2);
	ck_assert(!opk_listing_get(leftovers, 0)[1].boolean);
	one = opk_listing_get(leftovers, 1);
	ck_assert_str_eq(one[0].string, "fake__b.sum");
	ck_assert(one[1].boolean && !one[2].list.count);
	opk_listing_free(leftovers);
	opk_listing_free(NULL);
	opk_plan_free(plan);
}

TEST(explains_without_scheduler)
{
	static char log[256];
	struct nv_table table = fake_table();
	freed(opk_ctx) *ctx = NULL;
	freed(opk_plan) *plan = NULL;
	freed(opk_listing) *leftovers = NULL;

	fake_reset();
	table.NVPW_CUDA_RawCounterConfig_Create = NULL;
	ctx = fake_ctx_of(&table);
	ctx->log = keep_log;
	ctx->log_data = log;
	ck_ok(ctx, make_plan(&plan, ctx, "fake__a.sum,fake__b.sum,fake__c.sum", NULL));
	ck_ok(ctx, opk_plan_list(&leftovers, ctx, plan, OPK_PLAN_LEFT_OUT));
	ck_assert_uint_eq(opk_listing_get(leftovers, 0)[2].list.count, 0);
	ck_assert(strstr(log, "full domains are left out"));
}

static const struct {
	struct here here;
	enum fake_call call;
	const char *name;
	unsigned from; /* from this call of the explanation on */
	int status;
	bool explaining;
} plan_calls_fail_rows[] = {
	{ HERE, CALL(cuptiProfilerHostInitialize), 2, 999, false },
	{ HERE, CALL(cuptiProfilerHostConfigAddMetrics), 2, 999, false },
	{ HERE, CALL(cuptiProfilerHostGetConfigImage), 2, 999, false },
	{ HERE, CALL(cuptiProfilerHostGetNumOfPasses), 3, 999, false },
	{ HERE, CALL(cuptiProfilerHostInitialize), 0, 999, true },
	{ HERE, CALL(cuptiProfilerHostConfigAddMetrics), 0, 999, true },
	{ HERE, CALL(cuptiProfilerHostGetConfigImage), 0, 999, true },
	{ HERE, CALL(NVPW_CUDA_RawCounterConfig_Create), 0, 2, true },
	{ HERE, CALL(NVPW_Config_GetRawCounters), 0, 2, true },
	{ HERE, CALL(NVPW_RawCounterConfig_GetRawCounterProperties), 0, 2, true },
};

/* All metrics are planned before the cut, and the cut plan before the others are explained. */
FAKE_TEST_EACH(plan_calls_fail, plan_calls_fail_rows)
{
	struct opk_plan *plan = NULL;
	struct opk_listing *leftovers = NULL;
	int code = OPK_OK;

	/* One of the metrics left out would fit, and CUPTI is asked about it. */
	if (row->explaining)
		ck_ok(ctx, make_ordered(&plan, ctx, "fake__a.sum,fake__ratio.pct,fake__b.sum", NULL,
		                        true));
	fake.status[row->call] = row->status;
	fake.from[row->call] = row->from;
	code = row->explaining ? opk_plan_list(&leftovers, ctx, plan, OPK_PLAN_LEFT_OUT)
	                       : make_plan(&plan, ctx, "fake__a.sum,fake__b.sum,fake__c.sum", NULL);
	ck_row(row, code == OPK_EFAILED && !leftovers, "%d", code);
	ck_row(row, row->explaining || !plan, "a plan");
	ck_row(row, told(ctx, row->name), "%s", errors_of(ctx));
	opk_plan_free(plan);
	ck_assert_int_eq(fake.hosts + fake.schedulers, 0);
}
