/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Columns of recordings whose set has more than metrics, over the fake: an image has three ranges,
 * in each of which the n-th requested metric has the value 100 * range + n + 0.5.
 */
#include "eval/eval.h"

#include <math.h>
#include <string.h>

#include "allocation.h"
#include "eval/door.h"
#include "fake_nv.h"
#include "folder.h"

enum { METRICS = 4, MAX_COLUMNS = 8 };

/* In the ranges of one image: 0.5, 1.5, 2.5 and 3.5, and 100 more in each further range. */
static const char *const names[METRICS] = { "fake__a.sum", "fake__b.sum", "fake__ratio.pct",
	                                    "fake__c.sum" };
static const struct opk_meta_label labels[] = { { "fake__b.sum", "b" }, { "fake__c.sum", "c" } };
static const char *const hidden[] = { "fake__c.sum" };
static const struct opk_meta_derived derived[] = {
	{ "twice", "2 * b", "byte", "" }, { "sum", "twice + fake__a.sum + c", "", "" },
	{ "ratio", "sum / b", "", "" },   { "one", "1", "", "" },
	{ "all", "c + b", "", "" },
};
static const char *const listed[] = { "ratio", "fake__b.sum", "fake__a.sum", "twice", "one" };

static const struct opk_meta base = {
	.chip = "FA100",
	.metrics = names,
	.metric_count = METRICS,
	.labels = labels,
	.label_count = 2,
	.hidden = hidden,
	.hidden_count = 1,
	.derived = derived,
	.derived_count = 5,
	.columns = listed,
	.column_count = 5,
};

static const char *path_of(void)
{
	return in_folder("t.opk");
}

static void write_recording(struct opk_ctx *ctx, const struct opk_meta *meta,
                            const struct opk_range *ranges, size_t count, size_t images)
{
	freed(opk_writer) *writer = NULL;
	char image[FAKE_IMAGE_SIZE];

	ck_ok(ctx, opk_writer_new(&writer, ctx, path_of()));
	ck_ok(ctx, opk_writer_add_meta(writer, meta));
	for (size_t i = 0; i < images; i++) {
		memcpy(image, fake_image(), sizeof image);
		if (count)
			fake_mark_pass(image, ranges[i * count / images].pass);
		ck_ok(ctx, opk_writer_add(writer, OPK_SECTION_DATA, image, sizeof image));
		if (count)
			ck_ok(ctx, opk_writer_add_ranges(writer, ranges + i * count / images,
			                                 count / images, sizeof(struct opk_range)));
	}
	ck_ok(ctx, opk_writer_finish(writer));
}

static int evaluate(struct opk_evaluation **out, struct opk_file **file, struct opk_ctx *ctx,
                    const char *const *wanted, size_t count)
{
	struct opk_eval_options options = OPTIONS(options, .metrics = wanted, .metric_count = count,
	                                          .inside = &(struct opk_eval_inside){
							  .join = "" });

	ctx->timeout_s = 20;
	ck_ok(ctx, opk_file_open(file, ctx, path_of()));
	return opk_eval_file(out, ctx, *file, &options);
}

/* What a recording shows, one row of the table for each column. */
struct column {
	const char *name;
	const char *unit;
	double value; /* in the second range */
};

static bool same(double a, double b)
{
	return isnan(a) ? isnan(b) : a == b;
}

static void check_shown(const struct here *here, struct opk_ctx *ctx, const struct opk_meta *meta,
                        const char *const *wanted, size_t wanted_count,
                        const struct column *columns, size_t count)
{
	const struct {
		struct here here;
	} at = { *here }, *row = &at;
	freed(opk_file) *file = NULL;
	const struct opk_row *range;
	const double *values;
	freed(opk_evaluation) *evaluation = NULL;

	write_recording(ctx, meta, NULL, 0, 1);
	ck_ok(ctx, evaluate(&evaluation, &file, ctx, wanted, wanted_count));
	ck_row(row, opk_evaluation_column_count(evaluation) == count, "%zu columns",
	       opk_evaluation_column_count(evaluation));
	ck_ok(ctx, opk_evaluation_next(&range, ctx, evaluation));
	ck_ok(ctx, opk_evaluation_next(&range, ctx, evaluation));
	values = opk_evaluation_values(evaluation);
	for (size_t i = 0; i < count; i++) {
		ck_row(row, !strcmp(opk_evaluation_column(evaluation, i), columns[i].name),
		       "column %zu: %s", i, opk_evaluation_column(evaluation, i));
		ck_row(row, !strcmp(opk_evaluation_column_unit(evaluation, i), columns[i].unit),
		       "%s: unit '%s'", columns[i].name, opk_evaluation_column_unit(evaluation, i));
		ck_row(row, same(values[i], columns[i].value), "%s: %.17g", columns[i].name,
		       values[i]);
	}
}

/* Metrics that were evaluated: 100.5, 101.5, 102.5, 103.5. */
#define A 100.5
#define B 101.5
#define R 102.5
#define C 103.5

FAKE_TEST(shown_by_itself)
{
	static const struct column wanted[] = {
		{ "ratio", "unitless", (2 * B + A + C) / B },
		{ "b", "bytes", B },
		{ "fake__a.sum", "bytes", A },
		{ "twice", "byte", 2 * B },
		{ "one", "", 1 },
	};
	static const struct column all[] = {
		{ "fake__a.sum", "bytes", A },
		{ "b", "bytes", B },
		{ "fake__ratio.pct", "bytes", R },
		{ "twice", "byte", 2 * B },
		{ "sum", "byte", 2 * B + A + C },
		{ "ratio", "unitless", (2 * B + A + C) / B },
		{ "one", "", 1 },
		{ "all", "byte", C + B },
	};
	static const struct column plain[] = {
		{ "fake__a.sum", "bytes", A },
		{ "fake__b.sum", "bytes", B },
		{ "fake__ratio.pct", "bytes", R },
		{ "fake__c.sum", "bytes", C },
	};
	static const struct column labelled[] = {
		{ "fake__a.sum", "bytes", A },
		{ "b", "bytes", B },
		{ "fake__ratio.pct", "bytes", R },
		{ "c", "bytes", C },
	};
	struct opk_meta meta = base;

	fake.factors[0] = (struct nv_DimUnitFactor){ .dimUnit = 0, .exponent = 1 };
	fake.factor_count = 1;
	check_shown(&(struct here)HERE, ctx, &meta, NULL, 0, wanted, COUNT(wanted));
	meta.column_count = 0;
	check_shown(&(struct here)HERE, ctx, &meta, NULL, 0, all, COUNT(all));
	meta.derived_count = meta.hidden_count = 0;
	check_shown(&(struct here)HERE, ctx, &meta, NULL, 0, labelled, COUNT(labelled));
	meta.label_count = 0;
	meta.set_version = 3;
	check_shown(&(struct here)HERE, ctx, &meta, NULL, 0, plain, COUNT(plain));
}

/* Metrics are evaluated in the requested order, so the fake's values differ. */
FAKE_TEST(asked_for)
{
	static const char *const labels_and_all[] = {
		"c",   "fake__b.sum", "b",
		"one", "c",           "fake__throughput.avg.pct_of_peak_sustained_elapsed"
	};
	static const struct column of_labels[] = {
		{ "c", "bytes", 100.5 },
		{ "fake__b.sum", "bytes", 101.5 },
		{ "b", "bytes", 102.5 },
		{ "one", "", 1 },
		{ "c", "bytes", 103.5 },
		{ "fake__throughput.avg.pct_of_peak_sustained_elapsed", "bytes", 104.5 },
	};
	/* "fake__a.sum" and "c" of "sum" first, then "b" of "twice". */
	static const char *const one_derived[] = { "ratio" };
	static const struct column of_one[] = {
		{ "ratio", "unitless", (2 * 100.5 + 101.5 + 102.5) / 100.5 },
	};
	static const char *const mixed[] = { "sum", "b" };
	static const struct column of_mixed[] = {
		{ "sum", "byte", 2 * 100.5 + 101.5 + 102.5 },
		{ "b", "bytes", 100.5 },
	};

	fake.factors[0] = (struct nv_DimUnitFactor){ .dimUnit = 0, .exponent = 1 };
	fake.factor_count = 1;
	check_shown(&(struct here)HERE, ctx, &base, labels_and_all, 6, of_labels, 6);
	check_shown(&(struct here)HERE, ctx, &base, one_derived, 1, of_one, 1);
	check_shown(&(struct here)HERE, ctx, &base, mixed, 2, of_mixed, 2);
}

static const struct {
	struct here here;
	bool listed;                     /* whether the set lists columns, in another order */
	const char *wanted[MAX_COLUMNS]; /* none: all */
	const char *told;                /* the first letter of each column's heading */
} headings_over_columns_rows[] = {
	{ HERE, true, { NULL }, "OO-T-" },
	{ HERE, true, { "twice", "b", "fake__b.sum", "sum", "fake__c.sum", "ratio" }, "TOO--O" },
	{ HERE, false, { NULL }, "OO-T----" },
	{ HERE, false, { "fake__b.sum", "b", "fake__ratio.pct", "twice" }, "OO-T" },
};

CTX_TEST_EACH(headings_over_columns, headings_over_columns_rows)
{
	static const struct opk_meta_heading headings[] = { { "One", "", 0, 2, "" },
		                                            { "Two", "prose", 3, 1, "" } };
	struct opk_meta meta = base;
	struct opk_columns columns;
	char told[MAX_COLUMNS + 1] = "";
	size_t count = 0;

	while (count < MAX_COLUMNS && row->wanted[count])
		count++;
	meta.headings = headings;
	meta.heading_count = 2;
	meta.column_count = row->listed ? 5 : 0;
	ck_ok(ctx, opk_columns_init(&columns, ctx, &meta,
	                            &(struct opk_wanted){ .shown = count ? row->wanted : NULL,
	                                                  .shown_count = count }));
	for (size_t j = 0; j < columns.names.count; j++)
		told[j] = columns.headings[j] ? *columns.headings[j]->title : '-';
	ck_row(row, !strcmp(told, row->told), "%s", told);
	opk_columns_clear(&columns);
}

static const struct {
	struct here here;
	const char *name;
	const char *told;
} names_of_nothing_rows[] = {
	{ HERE, "rati",
	  "'rati' is not a metric, label or derived metric of the recording, did you "
	  "mean ratio?" },
	{ HERE, "xyzzy", "'xyzzy' is not a metric, label or derived metric of the recording" },
	{ HERE, "fake__q.sum", "fake__q" },
};

FAKE_TEST_EACH(names_of_nothing, names_of_nothing_rows)
{
	struct opk_evaluation *evaluation = NULL;
	freed(opk_file) *file = NULL;

	write_recording(ctx, &base, NULL, 0, 1);
	ck_code(ctx, evaluate(&evaluation, &file, ctx, &row->name, 1), OPK_EUSAGE);
	ck_row(row, told(ctx, row->told), "%s", errors_of(ctx));
	ck_row(row, told(ctx, "can't evaluate"), "%s", errors_of(ctx));
	ck_assert_ptr_null(evaluation);
}

static const struct {
	struct here here;
	const char *first, *second;
	const char *told;
} bad_formulas_rows[] = {
	{ HERE, "1 +", "1", "derived metric 'first', byte 3 of its formula" },
	{ HERE, "1 +", "1", "a number, a name or '(' is needed here, not the end" },
	{ HERE, "1", "b * fake__q.sum",
	  "derived metric 'second', byte 4 of its formula: "
	  "'fake__q.sum' is not a metric" },
	{ HERE, "second", "1", "'second' is not a metric, label or earlier derived metric" },
	{ HERE, "first", "1", "'first' is not a metric, label or earlier derived metric" },
	{ HERE, "second", "first", "'second' is not a metric" },
	{ HERE, "1", "first + B", "byte 8 of its formula: 'B' is not a metric" },
};

/* Any tool may write recordings: invalid formulas give messages, and do not affect the others. */
FAKE_TEST_EACH(bad_formulas, bad_formulas_rows)
{
	static const char *const asked[] = { "b", "fake__a.sum" };
	struct opk_meta_derived bad[] = { { "first", row->first, "", "" },
		                          { "second", row->second, "", "" } };
	struct opk_evaluation *evaluation = NULL;
	struct opk_meta meta = base;
	struct opk_file *file;

	meta.derived = bad;
	meta.derived_count = 2;
	meta.column_count = 0;
	write_recording(ctx, &meta, NULL, 0, 1);
	ck_code(ctx, evaluate(&evaluation, &file, ctx, NULL, 0), OPK_EINPUT);
	ck_row(row, told(ctx, row->told), "%s", errors_of(ctx));
	ck_row(row, told(ctx, "choose metrics to evaluate some"), "%s", errors_of(ctx));
	opk_file_free(file);
	ck_ok(ctx, evaluate(&evaluation, &file, ctx, asked, 2));
	opk_evaluation_free(evaluation);
	opk_file_free(file);
}

FAKE_TEST(nan_goes_through)
{
	static const char *const asked[] = { "b", "twice", "all", "one" };
	freed(opk_file) *file = NULL;
	const struct opk_row *row;
	freed(opk_evaluation) *evaluation = NULL;
	const double *values;

	fake.nan_or_inf = (double)NAN;
	fake.evaluate_at = 0;
	write_recording(ctx, &base, NULL, 0, 1);
	ck_ok(ctx, evaluate(&evaluation, &file, ctx, asked, 4));
	for (size_t i = 0; i < 3; i++) {
		ck_ok(ctx, opk_evaluation_next(&row, ctx, evaluation));
		values = opk_evaluation_values(evaluation);
		for (size_t j = 0; j < 3; j++)
			ck_assert_int_eq(isnan(values[j]) != 0, i == 0);
		ck_assert(same(values[3], 1));
	}
}

/* ---- joined ----------------------------------------------------------------------------- */

#define RANGE(kernel_, group_)                                                                     \
	{                                                                                          \
		.name = "n", .kernel = kernel_, .symbol = "", .nvtx = "", .grid = { 2, 1, 1 },     \
		.block = { 32, 1, 1 }, .pass = group_, .rank = -1                                  \
	}

/* Group 1 has a and c, group 2 has b, twice; neither has the ratio. */
static const uint32_t pass_1[] = { 1 }, pass_2[] = { 2 };
static const struct opk_pass_list metric_passes[] = {
	{ pass_1, 1 }, { pass_2, 1 }, { NULL, 0 }, { pass_1, 1 }
};
static const struct opk_range rotated[] = {
	RANGE("x", 1), RANGE("y", 1), RANGE("z", 1), RANGE("x", 2), RANGE("y", 2),
	RANGE("z", 2), RANGE("x", 2), RANGE("x", 2), RANGE("z", 2),
};

FAKE_TEST(of_joined_rows)
{
	static const char *const asked[] = { "sum", "all", "fake__a.sum", "one", "twice" };
	static const uint64_t least[] = { 1, 1, 1, 4, 3 };
	freed(opk_file) *file = NULL;
	const struct opk_row *row;
	struct opk_meta meta = base;
	freed(opk_evaluation) *evaluation = NULL;
	/* Metrics are requested in the order a, c, b; b is in ranges 0, 0 and 1. */
	static const unsigned needed[] = { 1 << 1, 1 << 1, 1 << 2 };
	const double *values;
	double b = (2.5 + 2.5 + 102.5) / 3;
	const uint64_t *counts;

	meta.passes = 2;
	meta.metric_passes = metric_passes;
	meta.metric_pass_count = 4;
	meta.join = "kernel";
	memcpy(fake.needed, needed, sizeof needed);
	write_recording(ctx, &meta, rotated, 9, 3);
	ck_ok(ctx, evaluate(&evaluation, &file, ctx, asked, 5));
	ck_assert_uint_eq(opk_evaluation_row_count(evaluation), 3);
	ck_ok(ctx, opk_evaluation_next(&row, ctx, evaluation));
	values = opk_evaluation_values(evaluation);
	counts = opk_evaluation_counts(evaluation);
	ck_assert(same(values[4], 2 * b) && same(values[2], 0.5));
	ck_assert(same(values[0], 2 * b + 0.5 + 1.5) && same(values[1], 1.5 + b));
	for (size_t i = 0; i < 5; i++)
		ck_assert_uint_eq(counts[i], least[i]);
}

/* ---- ranges inside others */

#define TEN(text) text text text text text text text text text text

static const struct nested {
	struct here here;
	const char *outer_scope, *outer, *scope, *path;
	bool is_kernel, is_inside;
} nested[] = {
	{ HERE, "s", "a", "s", "a/b", false, true },
	{ HERE, "s", "a", "s", "a", false, false },
	{ HERE, "s", "a", "s", "a", true, true },
	{ HERE, "s", "a", "t", "a/b", false, false },
	{ HERE, "s", "a", "s", "a\\/b", false, false },
	/* Texts of files may have any bytes. */
	{ HERE, "a", "b", "a\nb/c", "", false, false },
	{ HERE, "a\nb", "c", "a\nb", "c/d", false, true },
	{ HERE, "a", "b", "a\n", "b/c", false, false },
	{ HERE, "1", "2:b", "12", ":b/c", false, false },
	{ HERE, "s", "a/\n", "s", "a", true, false },
	{ HERE, "s", "", "s", "", true, false },
	/* So many levels are damage. */
	{ HERE, "s", "a", "s", TEN("a/a/a/a/a/a/a/a/a/") "b", false, true },
	{ HERE, "s", "a", "s", TEN(TEN("a/")) "b", false, false },
};

TEST_EACH(ranges_inside_others, nested)
{
	opk_autofree char *key = opk_nesting_key(row->scope, row->path, row->is_kernel);
	size_t number = 9, end = 0, path = (size_t)(opk_nesting_path(key) - key);
	opk_autofree char *before = strdup(key);
	struct opk_nesting nesting = { 0 };
	bool inside;

	ck_assert(opk_nesting_add(&number, &nesting,
	                          opk_nesting_key(row->outer_scope, row->outer, false)));
	ck_assert_uint_eq(number, 0);
	ck_row(row, !strncmp(key + path, row->path, strlen(row->path)), "path %s", key + path);
	inside = opk_nesting_next(&number, &end, &nesting, key);
	ck_row(row, inside == row->is_inside, "inside: %d", inside);
	ck_row(row, !inside || end == path + strlen(row->outer), "end %zu", end);
	while (inside && opk_nesting_next(&number, &end, &nesting, key))
		ck_row(row, false, "a second holder, to byte %zu", end);
	ck_assert_str_eq(key, before);
	opk_nesting_clear(&nesting);
}

/* Names as in shares of time: whether one of "step" and "a\\/b" holds the range. */
static const struct {
	struct here here;
	const char *path;
	bool is_inside;
} shared[] = {
	{ HERE, "step", false },
	{ HERE, "step/a", true },
	{ HERE, "step/a/b", true },
	{ HERE, "steps/a", false },
	{ HERE, "step\\/a", false },
	{ HERE, "a\\/b/c", true },
	{ HERE, "a/step", false },
	{ HERE, "step/" TEN("a/a/a/a/a/") TEN("a/a/a/a/") "b", true },
	{ HERE, "step/" TEN(TEN("a/")) "b", false },
	{ HERE, "", false },
};

CTX_TEST_EACH(ranges_in_ranges_of_known_time, shared)
{
	struct opk_index known = { 0 };
	bool inside;

	ck_assert(opk_index_add(&known, "step", 0, NULL));
	ck_assert(opk_index_add(&known, "a\\/b", 1, NULL));
	ck_assert_int_eq(opk_path_is_inside(&inside, ctx, &known, row->path), OPK_OK);
	ck_row(row, inside == row->is_inside, "inside: %d", inside);
	opk_index_clear(&known);
}

/* ---- units ------------------------------------------------------------------------------ */

CTX_TEST(units_of_columns)
{
	static const struct {
		struct here here;
		const char *formula, *declared, *wanted;
	} rows[] = {
		{ HERE, "fake__a.sum", "", "byte/second" },
		{ HERE, "fake__a.sum * b", "", "" },
		{ HERE, "fake__a.sum / fake__a.sum", "", "unitless" },
		{ HERE, "fake__a.sum / c", "", "byte/warp" },
		{ HERE, "fake__a.sum + c", "", "" },
		{ HERE, "fake__a.sum + c", "furlong", "furlong" },
		{ HERE, "fake__a.sum * 2", "", "" },
		{ HERE, "fake__ratio.pct", "", "percent" },
		{ HERE, "d0 * fake__a.sum", "", "byte/second" },
	};
	static const char *const given[] = { "bytes/second", "", "percent", "warps/second" };
	struct opk_strlist units = { 0 };

	for (size_t i = 0; i < COUNT(given); i++)
		ck_assert(opk_strlist_add(&units, given[i]));
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct opk_meta_derived one[] = { { "d0", "c / c", "", "" },
			                          { "d", rows[i].formula, rows[i].declared, "" } };
		struct opk_meta meta = base;
		struct opk_columns columns;
		const char *got;

		meta.derived = one;
		meta.derived_count = 2;
		meta.column_count = 0;
		ck_ok(ctx, opk_columns_init(&columns, ctx, &meta, &(struct opk_wanted){ 0 }));
		ck_ok(ctx, opk_columns_find_units(&columns, ctx, &units));
		got = columns.derived[1].unit ? columns.derived[1].unit : "";
		ck_row(&rows[i], !strcmp(got, rows[i].wanted), "%s", got);
		ck_assert_uint_eq(opk_error_count(ctx), 0);
		opk_columns_clear(&columns);
	}
	opk_strlist_clear(&units);
}

CTX_TEST(without_memory)
{
	static const char *const asked[] = { "ratio", "c", "twice" };
	struct opk_strlist units = { 0 };

	for (size_t i = 0; i < METRICS; i++)
		ck_assert(opk_strlist_add(&units, "byte"));
	for (int way = 0; way < 3; way++) {
		struct opk_meta meta = base;
		bool failed = true;
		long n;

		meta.column_count = way == 2 ? 0 : 5;
		meta.headings = &(struct opk_meta_heading){ "One", "", 0, 2, "" };
		meta.heading_count = 1;
		for (n = 0; failed; n++) {
			struct opk_columns columns;
			int code;

			fail_allocation(n);
			code = opk_columns_init(&columns, ctx, &meta,
			                        &(struct opk_wanted){ .shown = way ? NULL : asked,
			                                              .shown_count = way ? 0 : 3,
			                                              .also = asked,
			                                              .also_count = 3 });
			if (!code)
				code = opk_columns_find_units(&columns, ctx, &units);
			failed = allocation_failed();
			ck_assert_msg(code == (failed ? OPK_ENOMEM : OPK_OK),
			              "allocation %ld: %d: %s", n, code, errors_of(ctx));
			opk_columns_clear(&columns);
		}
		ck_assert_int_gt(n, 20);
	}
	opk_strlist_clear(&units);
}

static const struct {
	struct here here;
	uint32_t version;
	const char *wanted;
} recorded_elsewhere_rows[] = {
	{ HERE, 0, "it does not say with which CUPTI it was made; choose metrics" },
	{ HERE, 25, "it was made with CUPTI (API version 25); take that, or choose" },
	{ HERE, 130100, "it was made with CUPTI 13.1; take that, or choose metrics" },
};

/* A recording by another tool has the metrics that it names. */
FAKE_TEST_EACH(recorded_elsewhere, recorded_elsewhere_rows)
{
	static const char *const gone[] = { "fake__aa.sum" };
	struct opk_meta meta = { .chip = "FA100", .metrics = gone, .metric_count = 1 };
	struct opk_evaluation *evaluation;
	freed(opk_file) *file = NULL;
	int code;

	meta.cupti_version = row->version;
	write_recording(ctx, &meta, NULL, 0, 1);
	code = evaluate(&evaluation, &file, ctx, NULL, 0);
	ck_row(row, code == OPK_EFAILED && told(ctx, row->wanted), "%d: %s", code, errors_of(ctx));
}

SUITE(.set_up = make_folder, .tear_down = remove_folder);
