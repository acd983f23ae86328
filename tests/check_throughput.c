/* SPDX-License-Identifier: BSD-2-Clause */
/* Throughputs and their parts: missing parts, failures, and unknown parts. */
#include <math.h>

#include "eval/eval_inside.h"
#include "fake_nv.h"
#include "testing.h"

#define SHARE ".avg.pct_of_peak_sustained_elapsed"

/* The first is the highest of a and b; the second has only c. */
static const char *const metrics[] = { "fake__throughput" SHARE, "fake__other_throughput" SHARE };

enum { METRICS = COUNT(metrics), ROWS = 3 };

/* ---- values */

struct evaluator {
	struct opk_ctx *ctx;
	struct opk_nv_evaluator *evaluator;
	struct opk_values by;
};

static void begin(struct evaluator *e, struct opk_ctx *ctx, bool perfworks)
{
	static const bool wanted[METRICS] = { true, true };

	*e = (struct evaluator){ .ctx = ctx };
	if (perfworks)
		ck_ok(ctx, opk_nv_evaluator_new(&e->evaluator, ctx, "FA100"));
	e->by = (struct opk_values){
		.chip = "FA100",
		.profiler = OPK_PROFILER_RANGE,
		.metrics = metrics,
		.metric_count = METRICS,
		.evaluator = e->evaluator,
	};
	ck_ok(ctx, opk_values_begin(&e->by, ctx));
	ck_ok(ctx, opk_values_of_image(&e->by, ctx, fake_image(), FAKE_IMAGE_SIZE, wanted));
}

static void end(struct evaluator *e)
{
	opk_values_clear(&e->by);
	opk_nv_evaluator_free(e->evaluator);
	opk_ctx_free(e->ctx);
}

/* If a part can't be evaluated, the other throughput and the other part are still checked. */
TEST(failing_parts)
{
	static const struct {
		struct here here;
		bool perfworks;
		const char *refused, *failing, *nan_part;
		bool lacks[METRICS];
		uint64_t doubts; /* rows of the first one */
	} rows[] = {
		{ HERE, true, NULL, NULL, NULL, { false, false }, 0 },
		{ HERE, true, NULL, NULL, "fake__c", { false, true }, 0 },
		{ HERE, true, NULL, NULL, "fake__b", { true, false }, 0 },
		{ HERE, true, "fake__b" SHARE, NULL, "fake__c", { false, true }, ROWS },
		{ HERE, true, "fake__b" SHARE, NULL, "fake__a", { true, false }, 0 },
		{ HERE, true, NULL, "fake__b" SHARE, "fake__c", { false, true }, ROWS },
		{ HERE, true, NULL, "fake__b" SHARE, "fake__a", { true, false }, 0 },
		{ HERE, false, NULL, NULL, "fake__c", { false, true }, 0 },
		{ HERE, false, "fake__b" SHARE, NULL, "fake__c", { false, true }, ROWS },
		{ HERE, false, NULL, "fake__b" SHARE, "fake__c", { false, true }, ROWS },
		{ HERE, false, NULL, "fake__b" SHARE, "fake__a", { true, false }, 0 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct evaluator e;
		struct opk_ctx *ctx = fake_ctx();

		fake.refused = rows[i].refused;
		fake.failing = rows[i].failing;
		fake.nan_part = rows[i].nan_part;
		begin(&e, ctx, rows[i].perfworks);
		for (size_t row = 0; row < ROWS; row++) {
			double values[METRICS];

			ck_ok(ctx, opk_values_of_range(values, &e.by, ctx, row));
			for (size_t j = 0; j < METRICS; j++)
				ck_row(&rows[i], isnan(values[j]) == rows[i].lacks[j],
				       "row %zu: %s is %g", row, metrics[j], values[j]);
		}
		ck_row(&rows[i],
		       e.by.throughputs.items[0].remarks[OPK_PART_FAILS].rows == rows[i].doubts,
		       "doubts");
		end(&e);
	}
}

/* Whether a unit was idle is checked in each row, with the same requests. */
TEST(requests_made_once)
{
	for (int idle = 0; idle < 2; idle++) {
		struct opk_ctx *ctx = fake_ctx();
		double values[METRICS];
		struct evaluator e;
		unsigned before;

		fake.nan_part = "fake__c";
		fake.part_is_idle = idle;
		begin(&e, ctx, true);
		ck_ok(ctx, opk_values_of_range(values, &e.by, ctx, 0));
		before =
			fake.calls[FAKE_NVPW_MetricsEvaluator_ConvertMetricNameToMetricEvalRequest];
		for (size_t row = 1; row < ROWS; row++)
			ck_ok(ctx, opk_values_of_range(values, &e.by, ctx, row));
		ck_assert_uint_eq(
			fake.calls[FAKE_NVPW_MetricsEvaluator_ConvertMetricNameToMetricEvalRequest],
			before);
		ck_assert(isnan(values[1]) == !idle);
		end(&e);
	}
}

/* ---- messages about them */

static char logged[4096];

static void remember(void *data, const char *message)
{
	size_t used = strlen(logged);

	(void)data;
	snprintf(logged + used, sizeof logged - used, "%s\n", message);
}

static struct opk_evaluation *evaluate(struct opk_ctx *ctx)
{
	struct opk_eval_options options = OPK_INIT(options);
	struct opk_evaluation *evaluation;

	ctx->log = remember;
	*logged = '\0';
	options.metrics = metrics;
	options.metric_count = METRICS;
	ctx->timeout_s = 20;
	/* The catalog does not list the other one. */
	ck_ok(ctx, opk_eval_image(&evaluation, ctx, fake_image(), FAKE_IMAGE_SIZE, &options));
	return evaluation;
}

static const struct {
	struct here here;
	const char *told;
	const char *refused, *failing, *nan_part;
	bool undivided, hides_parts;
	bool explained; /* the second metric */
	size_t bound;   /* number of the metric that is a bound, from 1; 0: none */
} notes_rows[] = {
	{ HERE, .told = "" },
	{ HERE,
	  "the image: fake__other_throughput" SHARE
	  " is nan in 3 rows, because its part fake__c" SHARE
	  " was not collected, or not with the instances that it needs; its other parts "
	  "amount to at least 1%\n",
	  .nan_part = "fake__c", .explained = true },
	{ HERE,
	  "the image: fake__throughput" SHARE
	  " may be more than it shows in 3 rows: its part fake__b" SHARE " can't be evaluated\n",
	  .refused = "fake__b" SHARE, .bound = 1 },
	{ HERE,
	  "the image: fake__throughput" SHARE
	  " may be more than it shows in 3 rows: its part fake__a" SHARE " can't be evaluated\n",
	  .failing = "fake__a" SHARE, .bound = 1 },
	{ HERE,
	  "the image: fake__other_throughput" SHARE
	  " may be more than it shows in 3 rows: the library does not name all parts of "
	  "fake__other_throughput" SHARE "\n",
	  .undivided = true, .bound = 2 },
	{ HERE,
	  "the image: fake__throughput" SHARE
	  " may be more than it shows in 3 rows: the library does not name all parts of "
	  "fake__throughput" SHARE "\n",
	  .hides_parts = true, .bound = 1 },
};

FAKE_TEST_EACH(notes, notes_rows)
{
	freed(opk_evaluation) *evaluation = NULL;

	fake.refused = row->refused;
	fake.failing = row->failing;
	fake.nan_part = row->nan_part;
	fake.undivided = row->undivided;
	fake.hides_parts = row->hides_parts;
	evaluation = evaluate(ctx);
	ck_row(row, !strcmp(logged, row->told), "%s", logged);
	ck_row(row, opk_evaluation_is_explained(evaluation, 1) == row->explained, "explained");
	for (size_t j = 0; j < METRICS; j++)
		ck_row(row, opk_evaluation_is_bound(evaluation, j) == (row->bound == j + 1),
		       "%s: bound", metrics[j]);
}

/* A recording with all counters evaluates as planned, though its parts were not checked. */
TEST(recorded)
{
	static const char *const all[] = { "fake__throughput" SHARE,
		                           "fake__other_throughput" SHARE };
	static const struct {
		struct here here;
		size_t count; /* so many of `all` were recorded */
		bool trusted;
	} rows[] = { { HERE, 2, true }, { HERE, 1, false }, { HERE, 0, false } };

	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct opk_meta meta = { .metrics = all, .metric_count = rows[i].count };
		struct opk_ctx *ctx = fake_ctx();
		struct evaluator e;
		const struct opk_remark *remarks;
		double values[METRICS];

		fake.undivided = true;
		begin(&e, ctx, true);
		ck_ok(ctx, opk_values_trust(&e.by, ctx, &meta));
		ck_ok(ctx, opk_values_of_range(values, &e.by, ctx, 0));
		remarks = e.by.throughputs.items[1].remarks;
		ck_row(&rows[i], remarks[OPK_PARTS_UNKNOWN].rows == !rows[i].trusted, "unknown");
		ck_row(&rows[i], remarks[OPK_UNDIVIDED].rows == rows[i].trusted, "undivided");
		end(&e);
	}
}
