/* SPDX-License-Identifier: BSD-2-Clause */
/* The columns that a plan's set will show, and metrics that only formulas need, over the fake. */
#include "allocation.h"
#include "base/buf.h"
#include "fake_nv.h"
#include "folder.h"
#include "metric_sets.h"

static int plan_text(struct opk_plan **plan, struct opk_ctx *ctx, const char *text,
                     bool single_pass)
{
	struct opk_plan_options options = OPK_INIT(options);
	freed(opk_set) *set = NULL;

	put_file("t.yaml", text, strlen(text));
	ck_ok(ctx, opk_set_load(&set, ctx, in_folder("t.yaml")));
	options.chip = "FA100";
	options.single_pass = single_pass;
	return opk_plan_new(plan, ctx, set, &options);
}

/* "NAME [UNIT] under GROUP is METRIC = FORMULA", one a line; the caller frees it. */
static char *describe(const struct opk_listing *columns)
{
	opk_autobuf struct opk_buf out = { 0 };

	for (size_t i = 0; i < opk_listing_count(columns); i++) {
		const union opk_cell *cells = opk_listing_get(columns, i);
		const char *group = cells[3].string, *metric = cells[4].string;

		opk_buf_add_printf(&out, "%s%s [%s]", cells[1].boolean ? "" : "hidden ",
		                   cells[0].string, cells[2].string);
		opk_buf_add_printf(&out, *group ? " under %s" : "", group);
		opk_buf_add_printf(&out, *metric ? " is %s" : "", metric);
		opk_buf_add_printf(&out, *cells[5].string ? " = %s\n" : "\n", cells[5].string);
	}
	opk_buf_add(&out, "", 1);
	return (char *)opk_take(out.data);
}

static const char much[] =
	"name: t\nderived: {d: x * 2, e: {formula: d + fake__b.sum, unit: byte}}\n"
	"metrics:\n- {group: g, metrics: [e, {metric: fake__a.sum, as: x}]}\n- fake__ratio.pct\n"
	"changes: [{for: [FA100], remove: [d]}]\n";

FAKE_TEST(columns_of_plans)
{
	static const struct {
		struct here here;
		const char *text;
		bool single_pass;
		const char *wanted;
	} rows[] = {
		/* A plain list has no columns. */
		{ HERE, "name: t\nmetrics: [fake__a.sum, fake__b.sum]\n", false, "" },
		{ HERE, "name: t\nmetrics: [fake__a.sum, {metric: fake__b.sum, as: b}]\n", false,
		  "fake__a.sum [bytes]\nb [bytes] is fake__b.sum\n" },
		{ HERE, "name: t\nmetrics: [{group: g, metrics: [fake__a.sum]}]\n", false,
		  "fake__a.sum [bytes] under g\n" },
		{ HERE, "name: t\nconstants: {c: 3}\nderived: {d: fake__a.sum * c}\n", false,
		  "d [] = fake__a.sum * 3\nhidden fake__a.sum [bytes]\n" },
		/* Not shown: a formula for another formula. */
		{ HERE, much, false,
		  "e [byte] under g = d + fake__b.sum\nx [bytes] under g is fake__a.sum\n"
		  "fake__ratio.pct [bytes]\nhidden d [] = x * 2\nhidden fake__b.sum [bytes]\n" },
		/* The columns that one pass can have. */
		{ HERE, much, true,
		  "e [byte] under g = d + fake__b.sum\nx [bytes] under g is fake__a.sum\n"
		  "hidden d [] = x * 2\nhidden fake__b.sum [bytes]\n" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		freed(opk_plan) *plan = NULL;
		freed(opk_listing) *columns = NULL;
		opk_autofree char *got = NULL;

		ck_ok(ctx, plan_text(&plan, ctx, rows[i].text, rows[i].single_pass));
		ck_ok(ctx, opk_plan_list(&columns, ctx, plan, OPK_PLAN_COLUMNS));
		got = describe(columns);
		ck_row(&rows[i], !strcmp(got, rows[i].wanted), "got:\n%s", got);
	}
	ck_assert_int_eq(fake.hosts, 0);
}

/* A metric without properties has no unit; other failures are reported. */
FAKE_TEST(units_that_fail)
{
	struct opk_listing *columns = NULL;
	freed(opk_plan) *plan = NULL;

	ck_ok(ctx,
	      plan_text(&plan, ctx, "name: t\nmetrics: [{metric: fake__a.sum, as: a}]\n", false));
	fake.status[FAKE_cuptiProfilerHostGetMetricProperties] = NV_CUPTI_INVALID_METRIC_NAME;
	ck_ok(ctx, opk_plan_list(&columns, ctx, plan, OPK_PLAN_COLUMNS));
	ck_assert_str_eq(opk_listing_get(columns, 0)[2].string, "");
	opk_listing_free(columns);
	fake.status[FAKE_cuptiProfilerHostGetMetricProperties] = 999;
	ck_fails(ctx, opk_plan_list(&columns, ctx, plan, OPK_PLAN_COLUMNS), OPK_EFAILED,
	         "cuptiProfilerHostGetMetricProperties");
	ck_assert_int_eq(fake.hosts, 0);
}

FAKE_TEST(without_memory)
{
	freed(opk_plan) *plan = NULL;
	bool failed = true;
	long n;

	ck_ok(ctx, plan_text(&plan, ctx, much, false));
	for (n = 0; failed; n++) {
		freed(opk_listing) *columns = NULL;

		failed = is_short(ctx, n, opk_plan_list(&columns, ctx, plan, OPK_PLAN_COLUMNS));
	}
	ck_assert_int_gt(n, 8);
	ck_assert_int_eq(fake.hosts, 0);
}

SUITE(.set_up = make_folder, .tear_down = remove_folder);
