/* SPDX-License-Identifier: BSD-2-Clause */
/* Sets divided into plans of a few passes each. */
#include "base/buf.h"
#include "plan/door.h"
#include "plan/plan.h"
#include "set/door.h"
#include "set/set.h"
#include "fake_nv.h"
#include "folder.h"
#include "testing.h"

static const char some[] = "fake__a.sum,fake__b.sum,fake__c.sum";

static int split(struct opk_plan_split **out, struct opk_ctx *ctx, const char *names,
                 size_t max_passes, const char *availability)
{
	struct opk_plan_options options = OPK_INIT(options);
	freed(opk_set) *set = NULL;

	*out = NULL;
	ck_ok(ctx, opk_set_from_names(&set, ctx, names));
	options.chip = "FA100";
	options.max_passes = max_passes;
	options.availability = availability;
	options.availability_size = availability ? 8 : 0;
	return opk_plan_split_new(out, ctx, set, &options);
}

static size_t count_metrics(const struct opk_plan_split *all, size_t max_passes)
{
	size_t count = 0, size;

	for (size_t i = 0; i < opk_plan_split_count(all); i++) {
		const struct opk_plan *plan = opk_plan_split_get(all, i);

		ck_assert_uint_le(opk_plan_passes(plan), max_passes);
		ck_assert(opk_plan_config(plan, &size) && size);
		count += opk_plan_metrics(plan)->count;
	}
	return count;
}

/* A pass of the fake has room for two metrics; a ratio needs two passes. */
TEST(splits)
{
	static const struct {
		struct here here;
		const char *names;
		size_t max_passes, plans, metrics;
	} rows[] = {
		{ HERE, "fake__a.sum", 1, 1, 1 },
		{ HERE, some, 1, 2, 3 },
		{ HERE, some, 2, 1, 3 },
		{ HERE, some, 100, 1, 3 },
		{ HERE, "fake__ratio.pct", 2, 1, 1 },
	};

	for (size_t i = 0; i < 3 * COUNT(rows); i++) {
		struct nv_table table = fake_table();
		freed(opk_ctx) *ctx = NULL;
		struct opk_plan_split *all;
		size_t row = i % COUNT(rows);

		fake_reset();
		/* With and without PerfWorks' planner; a child plans with an availability image. */
		if (i / COUNT(rows) == 1)
			table.NVPW_CUDA_RawCounterConfig_Create = NULL;
		ctx = fake_ctx_of(&table);
		ck_ok(ctx, split(&all, ctx, rows[row].names, rows[row].max_passes,
		                 i / COUNT(rows) == 2 ? "avail   " : NULL));
		ck_row(&rows[row], opk_plan_split_count(all) == rows[row].plans, "%zu plans",
		       opk_plan_split_count(all));
		ck_row(&rows[row], count_metrics(all, rows[row].max_passes) == rows[row].metrics,
		       "metrics");
		opk_plan_split_free(all);
		opk_plan_split_free(NULL);
		ck_assert_int_eq(fake.hosts + fake.evaluators + fake.schedulers, 0);
	}
}

static struct opk_set *load_text(struct opk_ctx *ctx, const char *text)
{
	struct opk_set *set = NULL;

	put_file("t.yaml", text, strlen(text));
	ck_ok(ctx, opk_set_load(&set, ctx, in_folder("t.yaml")));
	return set;
}

static void add_columns(struct opk_buf *out, const struct opk_plan *plan)
{
	for (size_t i = 0; i < plan->resolved.columns.count; i++)
		opk_buf_add_printf(out, "%s ", plan->resolved.columns.items[i]);
	opk_buf_add_text(out, "| ");
}

/* The columns of a set that each file has, and those that no file has. */
FAKE_TEST(columns_of_splits)
{
	static const struct {
		struct here here;
		const char *text; /* after "name: t" */
		const char *wanted;
	} rows[] = {
		{ HERE, "profiler: pm\nmetrics: [fake__a.sum, fake__b.sum, fake__c.sum]",
		  "fake__a.sum fake__b.sum | fake__c.sum | lost: " },
		/* A metric of two passes can't be sampled, and is optional here. */
		{ HERE,
		  "profiler: pm\nmetrics: [fake__a.sum, fake__b.sum, {metric: fake__ratio.pct, optional: true}, "
		  "{metric: fake__c.sum, as: c}]",
		  "fake__a.sum fake__b.sum | c | lost: " },
		{ HERE,
		  "derived: {d: fake__a.sum + fake__b.sum, e: fake__a.sum + c, f: e / 2}\n"
		  "metrics: [f, d, {metric: fake__c.sum, as: c}]",
		  "f c e | fake__b.sum | lost: d " },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		opk_autofree char *text = opk_printf("name: t\n%s\n", rows[i].text);
		struct opk_plan_options options = OPTIONS(options, .chip = "FA100",
		                                          .max_passes = 1);
		freed(opk_set) *set = load_text(ctx, text);
		freed(opk_plan_split) *all = NULL;
		opk_autobuf struct opk_buf got = { 0 };

		ck_ok(ctx, opk_plan_split_new(&all, ctx, set, &options));
		for (size_t j = 0; j < opk_plan_split_count(all); j++)
			add_columns(&got, opk_plan_split_get(all, j));
		opk_buf_add_text(&got, "lost: ");
		for (size_t j = 0; j < opk_plan_split_lost(all)->count; j++)
			opk_buf_add_printf(&got, "%s ", opk_plan_split_lost(all)->items[j]);
		opk_buf_add(&got, "", 1);
		ck_row(&rows[i], !strcmp((char *)got.data, rows[i].wanted), "%s", (char *)got.data);
	}
	ck_assert_int_eq(fake.hosts + fake.evaluators + fake.schedulers, 0);
}

static const struct {
	struct here here;
	const char *names;
	size_t max_passes;
	int code;
	const char *told;
} refuses_rows[] = {
	{ HERE, "fake__a.sum,fake__ratio.pct", 1, OPK_EFAILED,
	  "1 of the metrics of set custom needs more than 1 pass by itself on FA100: "
	  "fake__ratio.pct" },
	{ HERE, "fake__a.sum,fake__gone.sum", 1, OPK_EUSAGE, "fake__gone.sum" },
	{ HERE, some, 0, OPK_EUSAGE, "number of passes" },
};

FAKE_TEST_EACH(refuses, refuses_rows)
{
	struct opk_plan_split *all;
	int code = split(&all, ctx, row->names, row->max_passes, NULL);

	ck_row(row, code == row->code && !all, "%d", code);
	ck_row(row, told(ctx, row->told), "%s", errors_of(ctx));
	ck_assert_int_eq(fake.hosts + fake.evaluators + fake.schedulers, 0);
}

/* Each call fails, each time; a planner that fails in the middle is an error. */
TEST(calls_fail)
{
	static const enum fake_call calls[] = {
		FAKE_cuptiProfilerHostInitialize,
		FAKE_cuptiProfilerHostGetConfigImage,
		FAKE_cuptiProfilerHostGetNumOfPasses,
		FAKE_NVPW_CUDA_RawCounterConfig_Create,
		FAKE_NVPW_MetricsEvaluator_GetMetricRawDependencies,
		FAKE_NVPW_RawCounterConfig_AreRawCountersSchedulable,
	};

	for (size_t i = 0; i < COUNT(calls); i++)
		for (unsigned from = 0; from < 8; from++) {
			freed(opk_ctx) *ctx = fake_ctx();
			struct opk_plan_split *all;

			fake.status[calls[i]] = 1;
			fake.from[calls[i]] = from;
			if (split(&all, ctx, some, 1, NULL))
				ck_assert_ptr_null(all);
			opk_plan_split_free(all);
			ck_assert_int_eq(fake.hosts + fake.evaluators + fake.schedulers, 0);
		}
}

SUITE(.set_up = make_folder, .tear_down = remove_folder);
