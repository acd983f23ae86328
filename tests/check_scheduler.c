/* SPDX-License-Identifier: BSD-2-Clause */
/* PerfWorks' scheduler of raw counters: over the fake, and with NVIDIA's own libraries. */
#include "adapters/nv/nv.h"
#include "allocation.h"
#include "plan/plan.h"
#include "fake_nv.h"
#include "real.h"
#include "set/door.h"

enum { MAX_COUNTERS = 4 };

static size_t count_of(const char *const *counters)
{
	size_t count = 0;

	while (count < MAX_COUNTERS && counters[count])
		count++;
	return count;
}

/* ---- over the fake: a pass has room for four, of which raw_a, b and c take two each, raw_r six */

FAKE_TEST(fits)
{
	static const struct {
		struct here here;
		const char *counters[MAX_COUNTERS];
		bool wanted;
	} rows[] = {
		{ HERE, { "raw_a" }, true },
		{ HERE, { "raw_a", "raw_shared" }, true },
		{ HERE, { "raw_a", "raw_b", "raw_shared" }, true },
		{ HERE, { "raw_a", "raw_b", "raw_t" }, false },
		{ HERE, { "raw_r" }, false },
		{ HERE, { "raw_unknown" }, false },
		{ HERE, { NULL }, true },
		{ HERE, { "raw_a" }, true },
	};
	struct opk_nv_scheduler *scheduler;

	ck_ok(ctx, opk_nv_scheduler_new(&scheduler, ctx, "FA100", NULL));
	for (size_t i = 0; i < COUNT(rows); i++) {
		bool yes = !rows[i].wanted;

		ck_ok(ctx, opk_nv_scheduler_fits(&yes, ctx, scheduler, rows[i].counters,
		                                 count_of(rows[i].counters)));
		ck_row(&rows[i], yes == rows[i].wanted, "fits: %d", yes);
	}
	/* One pass group serves all questions: making it takes most of the time. */
	ck_assert_uint_eq(fake.calls[FAKE_NVPW_RawCounterConfig_BeginPassGroup], 1);
	opk_nv_scheduler_free(scheduler);
	ck_assert_int_eq(fake.schedulers, 0);
}

static void check_domains(struct opk_ctx *ctx, struct opk_nv_scheduler *scheduler,
                          const char *counter, struct opk_strlist *list, const char *wanted)
{
	char text[256] = "";

	ck_ok(ctx, opk_nv_counter_domains(list, ctx, scheduler, counter));
	for (size_t i = 0; i < list->count; i++) {
		size_t used = strlen(text);

		snprintf(text + used, sizeof text - used, "%s%s", i ? " " : "", list->items[i]);
	}
	ck_assert_str_eq(text, wanted);
}

FAKE_TEST(counter_domains)
{
	opk_autostrlist struct opk_strlist list = { 0 };
	struct opk_nv_scheduler *scheduler;

	ck_ok(ctx, opk_nv_scheduler_new(&scheduler, ctx, "FA100", NULL));
	check_domains(ctx, scheduler, "raw_t", &list, "gpu_sass");
	check_domains(ctx, scheduler, "raw_c", &list, "gpu_sass gpu_sm_a gpu_sm_c gpu_sm_c_sm_a");
	check_domains(ctx, scheduler, "raw_a", &list, "gpu_sass gpu_sm_a gpu_sm_c gpu_sm_c_sm_a");
	ck_fails(ctx, opk_nv_counter_domains(&list, ctx, scheduler, "raw_unknown"), OPK_EUSAGE,
	         "raw counter raw_unknown");
	/* A counter without a domain is unknown; any other failure is an error. */
	fake.status[FAKE_NVPW_RawCounterConfig_GetRawCounterProperties] = 18;
	ck_code(ctx, opk_nv_counter_domains(&list, ctx, scheduler, "raw_a"), OPK_EUSAGE);
	fake.status[FAKE_NVPW_RawCounterConfig_GetRawCounterProperties] = 2;
	ck_code(ctx, opk_nv_counter_domains(&list, ctx, scheduler, "raw_a"), OPK_EFAILED);
	ck_assert_uint_eq(list.count, 4);
	opk_nv_scheduler_free(scheduler);
	opk_nv_scheduler_free(NULL);
}

/* ---- what fails */

/* Every operation, so that each call is made. */
static int do_all(struct opk_ctx *ctx)
{
	static const char *const counters[] = { "raw_a", "raw_c" };
	opk_autostrlist struct opk_strlist list = { 0 }, places = { 0 };
	opk_autofree void *image = NULL;
	freed(opk_nv_scheduler) *scheduler = NULL;
	size_t size, passes;
	bool yes;
	int code = opk_nv_scheduler_new(&scheduler, ctx, "FA100", NULL);

	if (code)
		return code;
	code = opk_nv_scheduler_fits(&yes, ctx, scheduler, counters, COUNT(counters));
	if (!code)
		code = opk_nv_counter_domains(&list, ctx, scheduler, "raw_c");
	if (!code)
		code = opk_nv_counter_places(&places, NULL, ctx, scheduler, "raw_c");
	for (size_t i = 0; !code && i < COUNT(counters); i++)
		code = opk_nv_scheduler_add_pass(ctx, scheduler, &counters[i], 1);
	if (!code)
		code = opk_nv_scheduler_image(&image, &size, &passes, ctx, scheduler);
	return code;
}

static const struct failing {
	struct here here;
	enum fake_call call;
	const char *symbol;
	unsigned from;
	int wanted;
} failing_calls[] = {
	{ HERE, CALL(NVPW_InitializeHost), 0, OPK_ENVIDIA },
	{ HERE, CALL(NVPW_CUDA_RawCounterConfig_Create), 0, OPK_EFAILED },
	{ HERE, CALL(NVPW_RawCounterConfig_GetAllAvailableRawCounterDomains), 0, OPK_EFAILED },
	{ HERE, CALL(NVPW_RawCounterConfig_GetAllAvailableRawCounterDomains), 2, OPK_EFAILED },
	{ HERE, CALL(NVPW_RawCounterConfig_BeginPassGroup), 0, OPK_EFAILED },
	{ HERE, CALL(NVPW_RawCounterConfig_AreRawCountersSchedulable), 0, OPK_EFAILED },
	{ HERE, CALL(NVPW_RawCounterConfig_GetRawCounterProperties), 0, OPK_EFAILED },
	{ HERE, CALL(NVPW_RawCounterConfig_RawCounterDomainToString), 0, OPK_EFAILED },
	{ HERE, CALL(NVPW_RawCounterConfig_RawCounterDomainToString), 3, OPK_EFAILED },
	{ HERE, CALL(NVPW_RawCounterConfig_CooperativeDomainGroup_GetMemberDomains), 0,
	  OPK_EFAILED },
	{ HERE, CALL(NVPW_RawCounterConfig_AddRawCounters), 0, OPK_EFAILED },
	{ HERE, CALL(NVPW_RawCounterConfig_EndPassGroup), 0, OPK_EFAILED },
	{ HERE, CALL(NVPW_RawCounterConfig_EndPassGroup), 2, OPK_EFAILED },
	{ HERE, CALL(NVPW_RawCounterConfig_BeginPassGroup), 2, OPK_EFAILED },
	{ HERE, CALL(NVPW_RawCounterConfig_GetNumPasses), 0, OPK_EFAILED },
	{ HERE, CALL(NVPW_RawCounterConfig_GenerateConfigImage), 0, OPK_EFAILED },
	{ HERE, CALL(NVPW_RawCounterConfig_GetConfigImage), 0, OPK_EFAILED },
	{ HERE, CALL(NVPW_RawCounterConfig_GetConfigImage), 2, OPK_EFAILED },
};

FAKE_TEST_EACH(each_call_fails, failing_calls)
{
	fake.status[row->call] = 19;
	fake.from[row->call] = row->from;
	ck_row_ends(row, ctx, do_all(ctx), row->wanted, row->symbol);
	ck_row(row, told(ctx, "NVPA_STATUS_INVALID_OBJECT_STATE (19)"), "%s", errors_of(ctx));
	ck_row(row, !fake.schedulers, "%d schedulers left", fake.schedulers);
}

/* check_adapter.c covers the calls before these. The outcome of Destroy changes nothing. */
TEST(no_call_is_forgotten)
{
	for (int call = FAKE_CALL_COUNT; call < FAKE_SYMBOL_COUNT; call++) {
		bool found = call == FAKE_NVPW_RawCounterConfig_Destroy;

		for (size_t i = 0; i < COUNT(failing_calls); i++)
			found = found || (int)failing_calls[i].call == call;
		ck_assert_msg(found, "call %d has no failing row", call);
	}
}

static const struct symbol_row {
	const char *symbol;
	enum nv_feature feature;
} symbol_rows[] = {
#define X(symbol, params, last, feature) { #symbol, NV_FEATURE_##feature },
	NV_CUPTI_SYMBOLS(X) NV_NVPERF_SYMBOLS(X)
#undef X
};

/* Each symbol that CUPTI before 12.9 lacks: without it, everything else works. */
TEST_TIMES(missing_symbol, i, FAKE_SYMBOL_COUNT - FAKE_CALL_COUNT)
{
	size_t call = FAKE_CALL_COUNT + i;
	enum nv_feature feature = symbol_rows[call].feature;
	struct nv_table table = fake_table();
	freed(opk_ctx) *ctx = NULL;

	fake_reset();
	ck_assert(feature == NV_FEATURE_SCHEDULER || feature == NV_FEATURE_PLANNER);
	*fake_slot(&table, (enum fake_call)call) = NULL;
	ctx = fake_ctx_of(&table);
	ck_fails(ctx, do_all(ctx), OPK_ENVIDIA, symbol_rows[call].symbol);
	ck_assert_msg(told(ctx, feature == NV_FEATURE_PLANNER ? "'planner'" : "'scheduler'"), "%s",
	              errors_of(ctx));
	ck_assert_int_eq(fake.schedulers, 0);
	for (size_t f = 0; f < NV_FEATURE_COUNT; f++)
		ck_assert(ctx->nv->features[f].available == (f != feature));
}

FAKE_TEST(unknown_chip)
{
	struct opk_nv_scheduler *scheduler = NULL;

	ck_code(ctx, opk_nv_scheduler_new(&scheduler, ctx, "FX100", NULL), OPK_EFAILED);
	ck_assert_ptr_null(scheduler);
}

FAKE_TEST(without_memory)
{
	long n = 0;

	for (; is_short(ctx, n, do_all(ctx)); n++)
		ck_assert_int_eq(fake.schedulers, 0);
	ck_assert_int_eq(fake.schedulers, 0);
	/* The object, its domains, the requests, and three names in a list. */
	ck_assert_int_ge(n, 6);
}

/* ---- with NVIDIA's own libraries */

/* 12.9's version number: the first release with a scheduler. */
enum { CUPTI_12_9 = 28 };

/* False if the release has no scheduler. */
static bool real_scheduler(struct opk_nv_scheduler **out, struct opk_ctx *ctx)
{
	bool wanted = version_of(ctx) >= CUPTI_12_9;

	if (ctx->nv->features[NV_FEATURE_SCHEDULER].available) {
		ck_ok(ctx, opk_nv_scheduler_new(out, ctx, "GH100", NULL));
		return true;
	}
	ck_assert(!wanted);
	ck_fails(ctx, opk_nv_scheduler_new(out, ctx, "GH100", NULL), OPK_ENVIDIA,
	         "NVPW_CUDA_RawCounterConfig_Create");
	return false;
}

static struct opk_plan *plan_of(struct opk_ctx *ctx, const char *names)
{
	struct opk_plan_options options = OPTIONS(options, .chip = "GH100");
	struct opk_plan *plan = NULL;
	freed(opk_set) *set = NULL;

	ck_ok(ctx, opk_set_from_names(&set, ctx, names));
	ck_ok(ctx, opk_plan_new(&plan, ctx, set, &options));
	return plan;
}

static const struct agreed {
	struct here here;
	const char *metric;
	bool wanted; /* on 13.0 */
} agreed[] = {
	{ HERE, "smsp__inst_executed.sum", true },
	{ HERE, "dram__bytes.sum.per_second", true },
	{ HERE, "sm__ops_path_tensor_op_hmma_src_bf16_dst_fp32.sum", true },
	{ HERE, "sm__throughput.avg.pct_of_peak_sustained_elapsed", false },
	{ HERE, "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", false },
	{ HERE, "l1tex__throughput.avg.pct_of_peak_sustained_elapsed", false },
	{ HERE, "smsp__sass_inst_executed_op_global.sum", true },
	/* The first metric again, after a counter that did not fit. */
	{ HERE, "smsp__inst_executed.sum", true },
};

/* PerfWorks schedules in one pass the same metrics that CUPTI plans in one pass. */
TEST(real_agreement, .needs = have_cupti)
{
	struct opk_ctx *ctx = new_ctx();
	struct opk_nv_scheduler *scheduler;
	struct opk_nv_evaluator *evaluator;
	struct opk_plan *plan;

	if (!real_scheduler(&scheduler, ctx)) {
		opk_ctx_free(ctx);
		return;
	}
	plan = plan_of(ctx, "smsp__inst_executed.sum");
	ck_ok(ctx, opk_nv_evaluator_new(&evaluator, ctx, "GH100"));
	for (size_t i = 0; i < COUNT(agreed); i++) {
		opk_autostrlist struct opk_strlist raw = { 0 };
		bool yes, known = version_of(ctx) == CUPTI_13_0;
		opk_autoresult struct opk_schedule_result result = { 0 };

		ck_ok(ctx, opk_nv_raw_counters(&raw, ctx, evaluator, agreed[i].metric));
		ck_ok(ctx, opk_nv_scheduler_fits(&yes, ctx, scheduler, opk_strlist_items(&raw),
		                                 raw.count));
		ck_ok(ctx, opk_schedule_try(&result, ctx, &plan->target, &agreed[i].metric, 1));
		ck_row(&agreed[i], yes == (result.passes == 1), "fits: %d, %zu passes", yes,
		       result.passes);
		ck_row(&agreed[i], !known || yes == agreed[i].wanted, "fits: %d", yes);
	}
	opk_nv_evaluator_free(evaluator);
	opk_nv_scheduler_free(scheduler);
	opk_plan_free(plan);
	opk_ctx_free(ctx);
}

static const struct counted {
	struct here here;
	const char *metric, *has, *lacks;
} counted[] = {
	{ HERE, "smsp__sass_inst_executed_op_global.sum", "gpu_sass", "gpu_sm_a" },
	{ HERE, "smsp__inst_executed.sum", "gpu_sm_a", "gpu_sass" },
	{ HERE, "smsp__inst_executed.sum", "gpu_sm_c_sm_a", "gpu_fbsp" },
	{ HERE, "dram__bytes.sum", "gpu_fbsp", "gpu_sm_a" },
};

TEST(real_domains, .needs = have_cupti)
{
	struct opk_ctx *ctx = new_ctx();
	struct opk_nv_scheduler *scheduler;
	struct opk_nv_evaluator *evaluator;

	if (!real_scheduler(&scheduler, ctx)) {
		opk_ctx_free(ctx);
		return;
	}
	ck_ok(ctx, opk_nv_evaluator_new(&evaluator, ctx, "GH100"));
	for (size_t i = 0; i < COUNT(counted); i++) {
		opk_autostrlist struct opk_strlist raw = { 0 }, domains = { 0 };

		ck_ok(ctx, opk_nv_raw_counters(&raw, ctx, evaluator, counted[i].metric));
		for (size_t j = 0; j < raw.count; j++)
			ck_ok(ctx, opk_nv_counter_domains(&domains, ctx, scheduler, raw.items[j]));
		ck_row(&counted[i], opk_strlist_contains(&domains, counted[i].has), "not %s",
		       counted[i].has);
		ck_row(&counted[i], !opk_strlist_contains(&domains, counted[i].lacks), "also %s",
		       counted[i].lacks);
	}
	opk_nv_evaluator_free(evaluator);
	opk_nv_scheduler_free(scheduler);
	opk_ctx_free(ctx);
}

CTX_TEST(real_unknown, .needs = have_cupti)
{
	static const char *const counters[] = { "no_such_counter" };
	opk_autostrlist struct opk_strlist domains = { 0 };
	struct opk_nv_scheduler *scheduler, *none = NULL;
	bool yes = true;

	if (real_scheduler(&scheduler, ctx)) {
		ck_ok(ctx, opk_nv_scheduler_fits(&yes, ctx, scheduler, counters, 1));
		ck_assert(!yes);
		ck_code(ctx, opk_nv_counter_domains(&domains, ctx, scheduler, counters[0]),
		        OPK_EUSAGE);
		ck_code(ctx, opk_nv_scheduler_new(&none, ctx, "XX100", NULL), OPK_EFAILED);
		ck_assert_ptr_null(none);
		opk_nv_scheduler_free(scheduler);
	}
}

/* A metric of GB202 needs this counter, but no domain counts it. */
CTX_TEST(real_uncounted, .needs = have_cupti)
{
	opk_autostrlist struct opk_strlist raw = { 0 }, domains = { 0 };
	struct opk_nv_scheduler *scheduler;
	struct opk_nv_evaluator *evaluator;
	bool yes = true;

	if (version_of(ctx) == CUPTI_13_0) {
		ck_ok(ctx, opk_nv_scheduler_new(&scheduler, ctx, "GB202", NULL));
		ck_ok(ctx, opk_nv_evaluator_new(&evaluator, ctx, "GB202"));
		ck_ok(ctx, opk_nv_raw_counters(&raw, ctx, evaluator,
		                               "lts__t_requests_srcunit_ce_realtime.sum"));
		ck_assert_uint_eq(raw.count, 1);
		ck_fails(ctx, opk_nv_counter_domains(&domains, ctx, scheduler, raw.items[0]),
		         OPK_EUSAGE, "INVALID_CONTEXT_STATE (18)");
		ck_ok(ctx, opk_nv_scheduler_fits(&yes, ctx, scheduler, opk_strlist_items(&raw), 1));
		ck_assert(!yes);
		opk_nv_evaluator_free(evaluator);
		opk_nv_scheduler_free(scheduler);
	}
}

SUITE(.seconds = 300);
