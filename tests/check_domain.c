/* SPDX-License-Identifier: BSD-2-Clause */
/* Chips, catalogs and plans, where NVIDIA's libraries refuse and fail on demand. */
#include "chip/door.h"
#include "plan/door.h"
#include "plan/plan_detail.h"
#include "set/door.h"
#include "set/set.h"
#include "base/buf.h"
#include "fake_nv.h"
#include "testing.h"

FAKE_TEST(chips_and_profilers)
{
	static const struct {
		struct here here;
		const char *name;
		bool range, pm;
	} rows[] = {
		{ HERE, "FA100", true, true },
		{ HERE, "FB100", true, false },
		{ HERE, "FC100", false, false },
	};
	struct opk_chips *chips;

	ck_ok(ctx, opk_chips_new(&chips, ctx));
	ck_assert_uint_eq(opk_chips_count(chips), 3);
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct opk_chip *chip = opk_chips_get(chips, i);

		ck_row(&rows[i], !strcmp(chip->name, rows[i].name), "%s", chip->name);
		ck_row(&rows[i], chip->range == rows[i].range, "range");
		ck_row(&rows[i], chip->pm_sampling == rows[i].pm, "pm");
	}
	opk_chips_free(chips);
	ck_assert_int_eq(fake.hosts, 0);
	/* Any other status is an error. */
	fake.status[FAKE_cuptiProfilerHostInitialize] = 8;
	fake.from[FAKE_cuptiProfilerHostInitialize] = fake.calls[FAKE_cuptiProfilerHostInitialize]
	                                              + 3;
	ck_fails(ctx, opk_chips_new(&chips, ctx), OPK_EFAILED, "profilers of FB100");
}

static const struct number {
	struct here here;
	int (*ask)(size_t *out, struct opk_ctx *ctx, const struct opk_chip *chip,
	           enum opk_profiler profiler);
	const char *chip;
	enum opk_profiler profiler;
	enum fake_call call;
	const char *symbol;
	int status, wanted; /* of that call, and of the whole */
	size_t number;
	const char *told;
} numbers[] = {
	{ HERE, opk_chip_metric_count, "FA100", OPK_PROFILER_RANGE,
	  CALL(cuptiProfilerHostGetBaseMetrics), 0, OPK_OK, 6, NULL },
	{ HERE, opk_chip_metric_count, "FA100", OPK_PROFILER_PM,
	  CALL(cuptiProfilerHostGetBaseMetrics), 0, OPK_OK, 6, NULL },
	{ HERE, opk_chip_metric_count, "FA100", OPK_PROFILER_RANGE,
	  CALL(cuptiProfilerHostGetBaseMetrics), 7, OPK_EFAILED, 0,
	  "no number of metrics of FA100" },
	{ HERE, opk_chip_metric_count, "FA100", OPK_PROFILER_RANGE,
	  CALL(cuptiProfilerHostInitialize), 999, OPK_EFAILED, 0, "no number of metrics of FA100" },
	{ HERE, opk_chip_metric_count, "FB100", OPK_PROFILER_PM, CALL(cuptiProfilerHostInitialize),
	  0, OPK_EFAILED, 0, "no number of metrics of FB100" },
	{ HERE, opk_chip_metrics_per_pass, "FA100", OPK_PROFILER_RANGE,
	  CALL(cuptiProfilerHostGetMaxNumHardwareMetricsPerPass), 0, OPK_OK, 4, NULL },
	{ HERE, opk_chip_metrics_per_pass, "FA100", OPK_PROFILER_PM,
	  CALL(cuptiProfilerHostGetMaxNumHardwareMetricsPerPass), 0, OPK_OK, 12, NULL },
	{ HERE, opk_chip_metrics_per_pass, "FB100", OPK_PROFILER_PM,
	  CALL(cuptiProfilerHostGetMaxNumHardwareMetricsPerPass), 0, OPK_EFAILED, 0,
	  "no number of metrics per pass of FB100" },
	{ HERE, opk_chip_metrics_per_pass, "FA100", OPK_PROFILER_RANGE,
	  CALL(cuptiProfilerHostGetMaxNumHardwareMetricsPerPass), 999, OPK_EFAILED, 0,
	  "no number of metrics per pass of FA100" },
};

FAKE_TEST_EACH(numbers_of_chips, numbers)
{
	const struct opk_chip chip = { .name = row->chip };
	size_t number = 0;
	int code;

	fake.status[row->call] = row->status;
	code = row->ask(&number, ctx, &chip, row->profiler);
	ck_row(row, code == row->wanted, "code %d: %s", code, errors_of(ctx));
	/* The number does not change on failure. */
	ck_row(row, number == row->number, "%zu", number);
	ck_row(row, !code || told(ctx, row->symbol), "%s", errors_of(ctx));
	ck_row(row, !code || told(ctx, row->told), "%s", errors_of(ctx));
	ck_assert_int_eq(fake.hosts, 0);
}

/* A library without the call. */
TEST(no_metrics_per_pass)
{
	static const struct opk_chip chip = { .name = "FA100", .range = true };
	struct nv_table table = fake_table();
	freed(opk_ctx) *ctx = NULL;
	size_t number = 0;

	fake_reset();
	table.cuptiProfilerHostGetMaxNumHardwareMetricsPerPass = NULL;
	ctx = fake_ctx_of(&table);
	ck_fails(ctx, opk_chip_metrics_per_pass(&number, ctx, &chip, OPK_PROFILER_RANGE),
	         OPK_ENVIDIA, "GetMaxNumHardwareMetricsPerPass");
	ck_ok(ctx, opk_chip_metric_count(&number, ctx, &chip, OPK_PROFILER_RANGE));
	ck_assert_uint_eq(number, 6);
}

static const struct {
	struct here here;
	size_t properties_size;
	const char *device_metric;
	int status; /* of properties calls after the first */
	int code;
	bool wanted;
} device_level_rows[] = {
	{ HERE, 64, "fake__a", 0, OPK_OK, true },
	{ HERE, 64, "fake__b", 0, OPK_OK, true },
	{ HERE, 64, "fake__listed", 0, OPK_OK, true },
	{ HERE, 64, "fake__ratio", 0, OPK_OK, true },
	{ HERE, 64, "fake__throughput", 0, OPK_OK, true },
	{ HERE, 64, "nobody", 0, OPK_OK, false },
	/* A name without properties in CUPTI is not a failure. */
	{ HERE, 64, "fake__ratio", NV_CUPTI_INVALID_METRIC_NAME, OPK_OK, false },
	{ HERE, 64, "fake__ratio", 999, OPK_EFAILED, false },
	{ HERE, 60, "fake__a", 0, OPK_ENVIDIA, false },
};

/* Any place of the metric in the list; all metrics of the fake have one unit. */
FAKE_TEST_EACH(device_level, device_level_rows)
{
	const struct opk_chip chip = { .name = "FA100", .range = true };
	bool device = false;
	int code;

	fake.properties_size = row->properties_size;
	fake.device_metric = row->device_metric;
	fake.status[FAKE_cuptiProfilerHostGetMetricProperties] = row->status;
	fake.from[FAKE_cuptiProfilerHostGetMetricProperties] = 2;
	code = opk_chip_device_level(&device, ctx, &chip, OPK_PROFILER_RANGE);
	ck_row(row, code == row->code, "%d: %s", code, errors_of(ctx));
	ck_row(row, device == row->wanted, "%d", device);
	ck_assert_int_eq(fake.hosts, 0);
}

FAKE_TEST(catalog)
{
	struct opk_catalog *list;

	ck_ok(ctx, opk_catalog_new(&list, ctx, "fa100", OPK_PROFILER_RANGE));
	ck_assert_str_eq(opk_catalog_chip(list), "FA100");
	ck_assert_uint_eq(opk_catalog_count(list), 6);
	ck_assert_str_eq(opk_catalog_get(list, 0)->name, "fake__a");
	ck_assert_str_eq(opk_catalog_get(list, 0)->description, "a fake metric");
	ck_assert_str_eq(opk_catalog_get(list, 2)->description, "");
	opk_catalog_free(list);
	ck_fails(ctx, opk_catalog_new(&list, ctx, "FB100", OPK_PROFILER_PM), OPK_EFAILED,
	         "CUPTI_ERROR_NOT_SUPPORTED (27)");
	ck_fails(ctx, opk_catalog_new(&list, ctx, "FA10", OPK_PROFILER_PM), OPK_EUSAGE,
	         "did you mean FA100?");
	fake.status[FAKE_cuptiProfilerHostGetMetricProperties] = 999;
	fake.from[FAKE_cuptiProfilerHostGetMetricProperties] =
		fake.calls[FAKE_cuptiProfilerHostGetMetricProperties] + 4;
	ck_fails(ctx, opk_catalog_new(&list, ctx, "FA100", OPK_PROFILER_RANGE), OPK_EFAILED,
	         "no metric catalog of FA100");
	ck_assert_int_eq(fake.hosts, 0);
}

/* ---- plans */

static const struct plan_row {
	struct here here;
	const char *metrics;
	enum opk_profiler profiler;
	size_t max_passes;
	size_t passes; /* 0: refused */
	int together;  /* status of several at once */
	int wanted;
	const char *not_told;
	const char *told; /* texts with | between */
} plan_rows[] = {
	{ HERE, "fake__a.sum,fake__b.sum", OPK_PROFILER_RANGE, 0, 1, 0, OPK_OK, NULL, NULL },
	{ HERE, "fake__a.sum,fake__b.sum,fake__c.sum", OPK_PROFILER_RANGE, 0, 2, 0, OPK_OK, NULL,
	  NULL },
	{ HERE, "fake__a.sum,fake__b.sum,fake__c.sum", OPK_PROFILER_RANGE, 2, 2, 0, OPK_OK, NULL,
	  NULL },
	{ HERE, "fake__a.sum,fake__b.sum", OPK_PROFILER_PM, 0, 1, 0, OPK_OK, NULL, NULL },
	/* Unknown, with a suggestion. */
	{ HERE, "fake__b.sum,fake__aa.sum", OPK_PROFILER_RANGE, 0, 0, 0, OPK_EUSAGE, "fake__b.sum",
	  "FA100 has no metric 'fake__aa.sum', did you mean fake__a.sum?|"
	  "1 of 2 metrics don't work on FA100, profiler range, with CUPTI 99.0" },
	{ HERE, "dram__bytes.sum", OPK_PROFILER_RANGE, 0, 0, 0, OPK_EUSAGE, "did you mean",
	  "FA100 has no metric 'dram__bytes.sum'" },
	/* A bare base name, and an unknown rollup. */
	{ HERE, "fake__a,fake__ratio,fake__throughput", OPK_PROFILER_RANGE, 0, 0, 0, OPK_EUSAGE,
	  NULL,
	  "fake__a needs a rollup, for example fake__a.sum|"
	  "fake__ratio needs a submetric, for example fake__ratio.pct|"
	  "fake__throughput needs a rollup|"
	  "3 of 3 metrics" },
	{ HERE, "fake__a.sum,fake__b.wrong", OPK_PROFILER_RANGE, 0, 0, 0, OPK_EUSAGE, "fake__a",
	  "fake__b has no rollup or submetric 'wrong'" },
	/* Listed, yet not schedulable. */
	{ HERE, "fake__a.sum,fake__listed.sum", OPK_PROFILER_RANGE, 0, 0, 0, OPK_EFAILED,
	  "fake__a.sum",
	  "fake__listed.sum is listed for FA100 but can't be scheduled|1 of 2 metrics" },
	/* Each of several wrong names is reported. */
	{ HERE, "fake__listed.sum,fake__a.sum,fake__bb.sum,nothing__like_it.sum",
	  OPK_PROFILER_RANGE, 0, 0, 0, OPK_EUSAGE, "fake__a.sum",
	  "fake__listed.sum is listed|"
	  "no metric 'fake__bb.sum', did you mean fake__b.sum?|"
	  "no metric 'nothing__like_it.sum'|"
	  "3 of 4 metrics" },
	{ HERE,
	  "x__1.sum,x__2.sum,x__3.sum,x__4.sum,x__5.sum,x__6.sum,x__7.sum,x__8.sum,x__9.sum,"
	  "x__10.sum,x__11.sum,x__12.sum",
	  OPK_PROFILER_RANGE, 0, 0, 0, OPK_EUSAGE, NULL,
	  "'x__1.sum'|'x__11.sum'|'x__12.sum'|12 of 12 metrics" },
	/* CUPTI refuses the metrics together, but not alone. */
	{ HERE, "fake__a.sum,fake__b.sum", OPK_PROFILER_RANGE, 0, 0, 999, OPK_EFAILED, NULL,
	  "FA100 refuses the metrics of set custom together, not one by one" },
	/* Too many passes. */
	{ HERE, "fake__a.sum,fake__b.sum,fake__c.sum", OPK_PROFILER_PM, 0, 0, 0, OPK_EFAILED,
	  "fake__a.sum",
	  "2 of 3 metrics fit into 1 pass; not: fake__c.sum|"
	  "needs 2 passes on FA100|"
	  "PM sampling has one: keep what fits a single pass, or divide the set among several files" },
	{ HERE, "fake__ratio.pct,fake__a.sum,fake__b.sum,fake__c.sum", OPK_PROFILER_PM, 5, 0, 0,
	  OPK_EFAILED, NULL, "2 of 4 metrics fit into 1 pass; not: fake__ratio.pct, fake__c.sum" },
	{ HERE, "fake__a.sum,fake__ratio.pct,fake__b.sum,fake__c.sum", OPK_PROFILER_RANGE, 2, 0, 0,
	  OPK_EFAILED, "PM sampling",
	  "2 of 4 metrics fit into 2 passes; not: fake__b.sum, fake__c.sum|"
	  "needs 3 passes on FA100|"
	  "allow more, take fewer metrics, or divide the set among several files" },
};

static int plan_of(struct opk_plan **plan, struct opk_ctx *ctx, const char *metrics,
                   struct opk_plan_options *options)
{
	freed(opk_set) *set = NULL;

	ck_ok(ctx, opk_set_from_names(&set, ctx, metrics));
	return opk_plan_new(plan, ctx, set, options);
}

FAKE_TEST_EACH(plan, plan_rows)
{
	struct opk_plan_options options = OPTIONS(options, .chip = "fa100", .has_profiler = true,
	                                          .profiler = row->profiler,
	                                          .max_passes = row->max_passes);
	struct opk_plan *made = NULL;
	int code;

	fake.together_status = row->together;
	code = plan_of(&made, ctx, row->metrics, &options);
	ck_row(row, code == row->wanted, "code %d: %s", code, errors_of(ctx));
	ck_row(row, !made == !row->passes, "a plan of a failure, or none of success");
	if (made)
		ck_row(row, opk_plan_passes(made) == row->passes, "%zu", opk_plan_passes(made));
	ck_row(row, !untold(ctx, row->told), "no '%s' in: %s", untold(ctx, row->told),
	       errors_of(ctx));
	ck_row(row, !row->not_told || !told(ctx, row->not_told), "%s", errors_of(ctx));
	opk_plan_free(made);
	ck_row(row, fake.hosts == 0, "%d host objects left", fake.hosts);
}

static const struct {
	struct here here;
	const char *metric;
	enum fake_call fails;
	int code, passes;
} plan_alone_rows[] = {
	{ HERE, "fake__a.sum", FAKE_CALL_COUNT, OPK_OK, 1 },
	{ HERE, "fake__ratio.pct", FAKE_CALL_COUNT, OPK_OK, 2 },
	{ HERE, "fake__listed.sum", FAKE_CALL_COUNT, OPK_OK, -999 },
	{ HERE, "fake__gone.sum", FAKE_CALL_COUNT, OPK_OK, -NV_CUPTI_INVALID_METRIC_NAME },
	{ HERE, "fake__a.sum", FAKE_cuptiProfilerHostInitialize, OPK_EFAILED, 0 },
	{ HERE, "fake__a.sum", FAKE_cuptiProfilerHostGetConfigImage, OPK_EFAILED, 0 },
	{ HERE, "fake__a.sum", FAKE_cuptiProfilerHostGetNumOfPasses, OPK_EFAILED, 0 },
};

/* One metric by itself: its passes, or the negative status that refuses it. */
FAKE_TEST_EACH(plan_alone, plan_alone_rows)
{
	struct opk_catalog *list;
	const struct opk_target target = { "FA100", OPK_PROFILER_RANGE, NULL, NULL };
	opk_autoresult struct opk_schedule_result result = { .passes = 77 };
	int code, passes;

	ck_ok(ctx, opk_catalog_new(&list, ctx, "FA100", OPK_PROFILER_RANGE));
	fake.status[row->fails] = 8;
	code = opk_schedule_alone(&result, ctx, &target, row->metric);
	passes = result.refused ? -result.refused : (int)result.passes;
	ck_row(row, code == row->code && passes == row->passes, "%d, %d passes: %s", code, passes,
	       errors_of(ctx));
	opk_catalog_free(list);
	ck_row(row, !fake.hosts, "%d host objects left", fake.hosts);
}

static const struct {
	struct here here;
	const char *before; /* the wrong ones */
	const char *wrong;  /* with a number in it */
	const char *title;
	size_t messages;
} many_wrong_metrics_rows[] = {
	{ HERE, "", "x__%d.sum",
	  "set custom: 9000 of 9000 metrics don't work on FA100, profiler range, with CUPTI 99.0",
	  101 },
	{ HERE, "fake__a.sum", "x__%d.sum", "set custom: at least 9000 of 9001 metrics don't work",
	  101 },
	{ HERE, "fake__listed.sum,x__a.sum", "fake__a.x%d", "set custom on FA100: 9001 errors",
	  101 },
};

/* Thousands of wrong metrics are counted and the first are named; CUPTI does not get each one. */
FAKE_TEST_EACH(many_wrong_metrics, many_wrong_metrics_rows)
{
	struct opk_plan_options options = OPK_INIT(options);
	struct opk_plan *made = NULL;
	opk_autobuf struct opk_buf names = { 0 };

	opk_buf_add_text(&names, row->before);
	for (int n = 0; n < 9000; n++) {
		opk_buf_add_text(&names, ",");
		opk_buf_add_printf(&names, row->wrong, n);
	}
	opk_buf_add(&names, "", 1);
	options.chip = "FA100";
	ck_code(ctx, plan_of(&made, ctx, (char *)names.data, &options), OPK_EUSAGE);
	ck_row(row, strstr(opk_error_message(ctx, opk_error_count(ctx) - 1), row->title), "%s",
	       opk_error_message(ctx, opk_error_count(ctx) - 1));
	ck_row(row, opk_error_count(ctx) == row->messages, "%zu", opk_error_count(ctx));
	ck_row(row, fake.calls[FAKE_cuptiProfilerHostInitialize] < 10, "%u host objects",
	       fake.calls[FAKE_cuptiProfilerHostInitialize]);
}

static const struct {
	struct here here;
	enum fake_call call;
	const char *symbol;
	int status, wanted;
} plan_calls_fail_rows[] = {
	{ HERE, CALL(cuptiProfilerHostGetSupportedChips), 8, OPK_EFAILED },
	{ HERE, CALL(cuptiProfilerHostInitialize), 8, OPK_EFAILED },
	{ HERE, CALL(cuptiProfilerHostGetConfigImageSize), 8, OPK_EFAILED },
	{ HERE, CALL(cuptiProfilerHostGetConfigImage), 8, OPK_EFAILED },
	{ HERE, CALL(cuptiProfilerHostGetNumOfPasses), 8, OPK_EFAILED },
};

/* A failure of the plan's own calls is reported. */
FAKE_TEST_EACH(plan_calls_fail, plan_calls_fail_rows)
{
	struct opk_plan_options options = OPTIONS(options, .chip = "FA100");
	struct opk_plan *made = NULL;

	fake.status[row->call] = row->status;
	ck_row_ends(row, ctx, plan_of(&made, ctx, "fake__a.sum", &options), row->wanted,
	            row->symbol);
	ck_row(row, !made && !fake.hosts, "left over");
}

static const struct {
	struct here here;
	enum fake_deed deed;
	int wanted;
} plan_with_availability_rows[] = {
	{ HERE, FAKE_RETURNS, OPK_OK },         { HERE, FAKE_SEGFAULTS, OPK_EINPUT },
	{ HERE, FAKE_ABORTS, OPK_EINPUT },      { HERE, FAKE_EXITS, OPK_EINPUT },
	{ HERE, FAKE_EXITS_HAPPY, OPK_EINPUT },
};

FAKE_TEST_EACH(plan_with_availability, plan_with_availability_rows)
{
	struct opk_plan_options options = OPTIONS(options, .chip = "FA100",
	                                          .availability = fake_image(),
	                                          .availability_size = FAKE_IMAGE_SIZE);
	freed(opk_plan) *made = NULL;

	fake.availability_deed = row->deed;
	ck_row_ends(row, ctx, plan_of(&made, ctx, "fake__a.sum", &options), row->wanted,
	            "availability image can't be used");
}

FAKE_TEST(plan_detail)
{
	struct opk_plan_options options = OPTIONS(options, .chip = "FA100");
	struct opk_plan_detail *detail;
	struct opk_plan *made;

	ck_ok(ctx, plan_of(&made, ctx, "fake__a.sum,fake__b.sum,fake__c.sum", &options));
	ck_ok(ctx, opk_plan_detail_new(&detail, ctx, made));
	/* Three metrics of two each, with room for four in a pass. */
	ck_assert_uint_eq(detail->lower_bound, 2);
	ck_assert_uint_eq(detail->parts.count, 1);
	ck_assert_uint_eq(detail->parts.all[0].bound, 2);
	ck_assert_uint_eq(detail->parts.all[0].domains.count, 2);
	ck_assert_uint_eq(detail->fill[0], 2);
	ck_assert_uint_eq(detail->fill[1], 1);
	/* Without c, two metrics need one pass. */
	ck_assert_uint_eq(detail->saves[2], 1);
	ck_assert_uint_eq(detail->use.counters[0].count, 2);
	ck_assert(opk_pass_serves(&detail->use, 0, 0) && opk_pass_serves(&detail->use, 0, 1));
	ck_assert(!opk_pass_serves(&detail->use, 0, 2) && opk_pass_serves(&detail->use, 1, 2));
	ck_assert(!opk_pass_serves(&detail->use, 1, 0));
	opk_plan_detail_free(detail);
	fake.status[FAKE_NVPW_Config_GetRawCounters] = 8;
	fake.from[FAKE_NVPW_Config_GetRawCounters] = fake.calls[FAKE_NVPW_Config_GetRawCounters]
	                                             + 3;
	ck_fails(ctx, opk_plan_detail_new(&detail, ctx, made), OPK_EFAILED,
	         "NVPW_Config_GetRawCounters");
	opk_plan_free(made);
	ck_assert_int_eq(fake.hosts + fake.evaluators, 0);
}
