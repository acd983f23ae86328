/* SPDX-License-Identifier: BSD-2-Clause */
/* Facts of rows, and filters over them. */
#include "eval/eval_inside.h"

#include "allocation.h"
#include "fake_nv.h"
#include "folder.h"

static bool accepts(struct opk_ctx *ctx, const struct opk_filter *filter,
                    enum opk_profiler profiler, const struct opk_row *row)
{
	bool out;

	ck_ok(ctx, opk_filter_accepts(&out, ctx, filter, profiler, row, 0));
	return out;
}

static const struct opk_range launched = {
	.name = "r",
	.kernel = "gemm<float, 4>(const float *, int [2])",
	.symbol = "_Z4gemm",
	.grid = { 32, 2, 1 },
	.block = { 16, 16, 1 },
	.device = 1,
	.launch = 9,
	.shared_bytes = 0,
	.nvtx = "step/forward",
	.rank = 0,
	.stream = 0,
	.duration_ns = 5010,
	.start_ns = UINT64_MAX,
};
static const struct opk_range unknown = {
	.name = "", .kernel = "", .symbol = "", .nvtx = "", .device = -1, .rank = -1
};

/* ---- facts ------------------------------------------------------------------------------ */

static const struct {
	struct here here;
	const char *name;
	enum opk_profiler profiler;
	int wanted; /* -1: there is no such row */
} facts_by_name_rows[] = {
	{ HERE, "range", OPK_PROFILER_RANGE, OPK_FACT_RANGE },
	{ HERE, "range", OPK_PROFILER_PM, -1 },
	{ HERE, "index", OPK_PROFILER_RANGE, OPK_FACT_RANGE },
	{ HERE, "index", OPK_PROFILER_PM, OPK_FACT_SAMPLE },
	{ HERE, "block_z", OPK_PROFILER_RANGE, OPK_FACT_BLOCK_Z },
	{ HERE, "grid_x", OPK_PROFILER_PM, -1 },
	{ HERE, "sample", OPK_PROFILER_PM, OPK_FACT_SAMPLE },
	{ HERE, "sample", OPK_PROFILER_RANGE, -1 },
	{ HERE, "start_ns", OPK_PROFILER_PM, OPK_FACT_SAMPLE_START },
	{ HERE, "start_ns", OPK_PROFILER_RANGE, OPK_FACT_START },
	{ HERE, "device", OPK_PROFILER_PM, OPK_FACT_DEVICE },
	{ HERE, "device", OPK_PROFILER_RANGE, OPK_FACT_DEVICE },
	{ HERE, "launches_min", OPK_PROFILER_RANGE, OPK_FACT_LAUNCHES_MIN },
	{ HERE, "Kernel", OPK_PROFILER_RANGE, -1 },
	{ HERE, "", OPK_PROFILER_RANGE, -1 },
};

TEST_EACH(facts_by_name, facts_by_name_rows)
{
	enum opk_fact fact = OPK_FACT_COUNT;
	bool found = opk_fact_find(&fact, row->name, row->profiler);

	ck_row(row, found == (row->wanted >= 0), "found: %d", found);
	ck_row(row, !found || (int)fact == row->wanted, "fact %d", (int)fact);
}

/* Each fact is a column somewhere, and each name belongs to one fact. */
TEST(facts_are_columns)
{
	for (enum opk_fact fact = 0; fact < OPK_FACT_COUNT; fact++) {
		size_t count = 0;

		for (enum opk_profiler profiler = 0; profiler <= OPK_PROFILER_SASS; profiler++) {
			const struct opk_column *column = opk_fact_column(fact, profiler);
			enum opk_fact found;

			if (!column)
				continue;
			count++;
			ck_assert(opk_fact_find(&found, column->name, profiler));
			ck_assert_int_eq(found, fact);
		}
		ck_assert_uint_gt(count, 0);
	}
}

/* ---- conditions ------------------------------------------------------------------------- */

CTX_TEST(conditions)
{
	static const struct opk_row rows_of[] = {
		{ .index = 3, .name = "step/mm", .range = &launched },
		{ .index = 4, .name = "0", .range = &unknown },
		{ .index = 5, .name = "none" },
	};
	static const struct {
		struct here here;
		const char *first, *second; /* NULL: one condition */
		bool wanted[COUNT(rows_of)];
	} rows[] = {
		{ HERE, "kernel=gemm*", NULL, { 1, 0, 0 } },
		{ HERE, "kernel=gemm", NULL, { 1, 0, 0 } },
		{ HERE, "kernel=gem", NULL, { 0, 0, 0 } },
		{ HERE, "kernel!=gemm*", NULL, { 0, 1, 1 } },
		{ HERE, "kernel=", NULL, { 0, 1, 1 } },
		{ HERE, "kernel!=", NULL, { 1, 0, 0 } },
		{ HERE, "kernel=*", NULL, { 1, 1, 1 } },
		/* A whole name is its own pattern, except for brackets. */
		{ HERE, "kernel=gemm<float, 4>(const float *, int [[]2])", NULL, { 1, 0, 0 } },
		{ HERE, "symbol=_Z4gemm", NULL, { 1, 0, 0 } },
		{ HERE, "device=1", NULL, { 1, 0, 0 } },
		{ HERE, "device=0", NULL, { 0, 0, 0 } },
		{ HERE, "device=[0-3]", NULL, { 1, 0, 0 } },
		{ HERE, "device!=0", NULL, { 1, 1, 1 } },
		{ HERE, "range=step/*", NULL, { 1, 0, 0 } },
		{ HERE, "range=3", NULL, { 1, 0, 0 } },
		{ HERE, "range=5", NULL, { 0, 0, 1 } },
		{ HERE, "range!=5", NULL, { 1, 1, 0 } },
		/* A name that is a number is matched before the range's own number. */
		{ HERE, "range=4", NULL, { 0, 0, 0 } },
		{ HERE, "range=0", NULL, { 0, 1, 0 } },
		{ HERE, "range<5", NULL, { 1, 1, 0 } },
		{ HERE, "range>3.5", NULL, { 0, 1, 1 } },
		{ HERE, "name=0", NULL, { 0, 1, 0 } },
		{ HERE, "name=[!0]*", NULL, { 1, 0, 1 } },
		{ HERE, "grid=32x*", NULL, { 1, 0, 0 } },
		{ HERE, "block=", NULL, { 0, 1, 1 } },
		{ HERE, "rank=0", NULL, { 1, 0, 0 } },
		{ HERE, "rank=nan", NULL, { 0, 1, 1 } },
		{ HERE, "rank!=nan", NULL, { 1, 0, 0 } },
		{ HERE, "rank!=0", NULL, { 0, 1, 1 } },
		{ HERE, "rank>=nan", NULL, { 0, 0, 0 } },
		{ HERE, "stream=0", NULL, { 1, 0, 0 } },
		{ HERE, "shared_bytes=", NULL, { 0, 1, 1 } },
		{ HERE, "launch=9", NULL, { 1, 0, 0 } },
		{ HERE, "start_ns=18446744073709551615", NULL, { 1, 0, 0 } },
		{ HERE, "nvtx=step/*", "device=1", { 1, 0, 0 } },
		{ HERE, "nvtx=step/*", "device=0", { 0, 0, 0 } },
		{ HERE, "kernel=*gemm*", "kernel!=*float*", { 0, 0, 0 } },
		{ HERE, "name=a=b", NULL, { 0, 0, 0 } },
		/* Numbers are compared as numbers; an unknown one is neither less nor greater. */
		{ HERE, "index=3", NULL, { 1, 0, 0 } },
		{ HERE, "index>3", NULL, { 0, 1, 1 } },
		{ HERE, "index>=4", "index<5", { 0, 1, 0 } },
		{ HERE, "index<=3.5", NULL, { 1, 0, 0 } },
		{ HERE, "index > -1", NULL, { 1, 1, 1 } },
		{ HERE, "index != 4", NULL, { 1, 0, 1 } },
		{ HERE, "name = step/mm", NULL, { 1, 0, 0 } },
		{ HERE, "kernel = gemm", NULL, { 1, 0, 0 } },
		{ HERE, "index=3.0", NULL, { 1, 0, 0 } },
		{ HERE, "index<nan", NULL, { 0, 0, 0 } },
		{ HERE, "grid_x>=32", NULL, { 1, 0, 0 } },
		{ HERE, "grid_x<32", NULL, { 0, 0, 0 } },
		{ HERE, "grid_x!=32", NULL, { 0, 1, 1 } },
		{ HERE, "device<9", NULL, { 1, 0, 0 } },
		{ HERE, "start_ns>=18446744073709551615", NULL, { 1, 0, 0 } },
		{ HERE, "start_ns>18446744073709551614", NULL, { 1, 0, 0 } },
		{ HERE, "start_ns<18446744073709551615", NULL, { 0, 0, 0 } },
		/* Conditions on values are undecided until the values exist. */
		{ HERE, "fake__a.sum>1", "device=1", { 1, 0, 0 } },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *texts[] = { rows[i].first, rows[i].second };
		freed(opk_filter) *filter = NULL;

		ck_ok(ctx, opk_filter_new(&filter, ctx, texts, rows[i].second ? 2 : 1));
		for (size_t j = 0; j < COUNT(rows_of); j++)
			ck_row(&rows[i],
			       accepts(ctx, filter, OPK_PROFILER_RANGE, &rows_of[j])
			               == rows[i].wanted[j],
			       "row %zu", j);
	}
}

#define TEN(text) text text text text text text text text text text

/* Each NVTX domain nests separately, and a range's name has the domain of its last part. */
CTX_TEST(nvtx_domains)
{
	static const struct {
		struct here here;
		const char *condition, *text; /* the row's NVTX ranges, and its name */
		bool wanted;
	} rows[] = {
		{ HERE, "nvtx=step/*", "NCCL@init/step/forward", true },
		{ HERE, "nvtx=step/forward", "NCCL@init/step/forward", true },
		{ HERE, "nvtx=step/forward", "step/NCCL@a/forward/NCCL@b", true },
		{ HERE, "nvtx=NCCL@a/NCCL@b", "step/NCCL@a/forward/NCCL@b", true },
		{ HERE, "nvtx=step/forward/NCCL@a", "step/forward/NCCL@a", true },
		{ HERE, "nvtx=forward", "step/forward/NCCL@a", false },
		{ HERE, "nvtx=NCCL@*", "step/forward", false },
		{ HERE, "nvtx!=step/*", "NCCL@init/step/forward", false },
		{ HERE, "nvtx=step", "N/C@init/step", false },
		{ HERE, "nvtx=step", "N\\/C@init/step", true },
		{ HERE, "nvtx=a\\@b", "a\\@b/N@c", true },
		{ HERE, "nvtx=a\\@b", "a@b/N@c", false },
		{ HERE, "nvtx=", "N@a", false },
		{ HERE, "range=step/*", "NCCL@init/step/forward", true },
		{ HERE, "name=step/forward", "NCCL@init/step/forward", true },
		{ HERE, "name=step/forward", "step/forward/NCCL@a", false },
		{ HERE, "name=NCCL@a", "step/forward/NCCL@a", true },
		{ HERE, "symbol=step", "step", false },
		/* So many levels are damage: the domains of their ranges are not looked for. */
		{ HERE, "nvtx=step", TEN(TEN("N@/")) "step", false },
		{ HERE, "name=step", TEN(TEN("N@/")) "step", true },
		{ HERE, "nvtx=step", TEN("N@/N@/N@/N@/N@/N@/N@/N@/N@/") "step", true },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct opk_range range = unknown;
		struct opk_row row = { .name = rows[i].text, .range = &range };
		freed(opk_filter) *filter = NULL;

		range.nvtx = rows[i].text;
		ck_ok(ctx, opk_filter_new(&filter, ctx, &rows[i].condition, 1));
		ck_row(&rows[i], accepts(ctx, filter, OPK_PROFILER_RANGE, &row) == rows[i].wanted,
		       "%s", rows[i].condition);
	}
}

CTX_TEST(wrong_conditions)
{
	static const struct {
		struct here here;
		const char *text, *wanted;
	} rows[] = {
		{ HERE, "kernel", "NAME=PATTERN, NAME!=PATTERN or, with" },
		{ HERE, "device!0", "a condition is NAME=PATTERN" },
		{ HERE, "device>", "'' is not a number" },
		{ HERE, "device<x", "'x' is not a number" },
		{ HERE, "start_ns>=1.5s",
		  "in their own unit, which for nanoseconds is 1500000000" },
		{ HERE, "gpu__time_duration.sum>25us",
		  "'25us' has a unit: values are compared with a plain number in their own unit, "
		  "which for nanoseconds is 25000" },
		{ HERE, "duration>50us", "which for nanoseconds is 50000, and for seconds 5e-05" },
		{ HERE, "bandwidth>1.5TB/s",
		  "own unit, which for bytes a second is 1500000000000" },
		{ HERE, "dram__bytes.sum<=3GB", "with a plain number in their own unit" },
		{ HERE, "gpu__time_duration.sum>1.001us", "nanoseconds is 1001" },
		{ HERE, "start_ns>25 \u00b5s", "nanoseconds is 25000" },
		{ HERE, "gpu__time_duration.sum>1_000",
		  "'1_000' is not a number, and a metric is compared with a number" },
		{ HERE, "gpu__time_duration.sum>1e", "'1e' is not a number" },
		{ HERE, "gpu__time_duration.sum=infinite", "'infinite' is not a number" },
		{ HERE, "start_ns>-inftys", "'-inftys' is not a number" },
		{ HERE, "kernel>1", "kernel is text, which has = and != alone" },
		{ HERE, "name<5", "name is text, which has = and != alone" },
		{ HERE, "spans_earlier>0", "spans_earlier is text" },
		{ HERE, "", "NAME=PATTERN" },
		{ HERE, "device==0", "NAME=PATTERN" },
		{ HERE, "=x", "a condition is NAME=PATTERN" },
		{ HERE, "!=x", "a condition is NAME=PATTERN" },
		{ HERE, "kernal=x", "rows have no 'kernal' to ask for, did you mean kernel?" },
		{ HERE, "dram__bytes.sum=1*",
		  "'1*' is not a number, and a metric is compared with a number" },
		{ HERE, "xyzzy=x", "kernel, name and device, for example, and metrics" },
		{ HERE, "launches=1", "launches is known only after rows are joined" },
		{ HERE, "kernel=operator[]", "[[] is the character itself" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *const texts[] = { "device=0", rows[i].text };
		struct opk_filter *filter = NULL;
		int code = opk_filter_new(&filter, ctx, texts, 2);

		ck_row(&rows[i], code == OPK_EUSAGE, "code %d", code);
		ck_row(&rows[i], !filter, "out parameter");
		ck_row(&rows[i], told(ctx, rows[i].wanted), "%s", errors_of(ctx));
		ck_row(&rows[i], told(ctx, "can't filter by '"), "%s", errors_of(ctx));
	}
	opk_filter_free(NULL);
}

CTX_TEST(conditions_of_the_other_profiler)
{
	static const struct {
		struct here here;
		const char *text, *wanted[3]; /* by profiler; NULL: it fits */
	} rows[] = {
		{ HERE, "device=0", { NULL, NULL, "lines and functions do not have it" } },
		{ HERE, "start_ns=0", { NULL, NULL, "lines and functions do not have it" } },
		/* Values of ranges and samples may have such names. */
		{ HERE, "line=3", { NULL, NULL, NULL } },
		{ HERE, "source<3", { NULL, NULL, "source is text" } },
		{ HERE,
		  "source=*.cu",
		  { "only rows of code have that text", "only rows of code have that text",
		    NULL } },
		{ HERE, "file=*.cu", { "only code is chosen by", "only code is chosen by", NULL } },
		{ HERE,
		  "kernel=x",
		  { NULL, "can't filter by kernel: PM samples only have sample, start_ns, end_ns, "
		          "samples, covered_ns, spans_earlier, device, rank, host and gpu" } },
		{ HERE, "range=x", { NULL, "can't filter by range", NULL } },
		{ HERE,
		  "sample=0",
		  { "can't filter by sample: that is of PM samples", NULL, "do not have it" } },
	};

	ck_ok(ctx, opk_filter_check(NULL, ctx, OPK_PROFILER_PM));
	for (size_t i = 0; i < COUNT(rows); i++)
		for (enum opk_profiler profiler = 0; profiler <= OPK_PROFILER_SASS; profiler++) {
			const char *wanted = rows[i].wanted[profiler];
			freed(opk_filter) *filter = NULL;

			ck_ok(ctx, opk_filter_new(&filter, ctx, &rows[i].text, 1));
			if (opk_profiler_is_code(profiler))
				opk_filter_judge_code(filter);
			ck_row(&rows[i],
			       opk_filter_check(filter, ctx, profiler)
			               == (wanted ? OPK_EUSAGE : OPK_OK),
			       "profiler %d", (int)profiler);
			ck_row(&rows[i], !wanted || told(ctx, wanted), "%s", errors_of(ctx));
		}
}

CTX_TEST(out_of_memory)
{
	static const char *const texts[] = { "device=0", "kernel=*" };
	long n = 0;
	int code;

	do {
		freed(opk_filter) *filter = NULL;

		fail_allocation(n++);
		code = opk_filter_new(&filter, ctx, texts, 2);
		if (!allocation_failed())
			n = 0;
		ck_assert(code == (n ? OPK_ENOMEM : OPK_OK));
	} while (n);
}

/* ---- evaluations ------------------------------------------------------------------------ */

/* Three ranges; kernel and device differ for two of them. */
static void write_recording(struct opk_ctx *ctx, const char *join)
{
	static const char *const names[] = { "fake__a.sum" };
	static const struct opk_range ranges[] = {
		{ .name = "a", .kernel = "x", .symbol = "", .nvtx = "", .rank = 0 },
		{ .name = "b", .kernel = "x", .symbol = "", .nvtx = "", .rank = 1 },
		{ .name = "c", .kernel = "y", .symbol = "", .nvtx = "", .rank = 0 },
	};
	struct opk_meta meta = { .kind = "recording",
		                 .chip = "FA100",
		                 .metrics = names,
		                 .metric_count = 1,
		                 .join = join };
	freed(opk_writer) *writer = NULL;

	ck_ok(ctx, opk_writer_new(&writer, ctx, in_folder("t.opk")));
	ck_ok(ctx, opk_writer_add_meta(writer, &meta));
	ck_ok(ctx, opk_writer_add(writer, OPK_SECTION_DATA, fake_image(), FAKE_IMAGE_SIZE));
	ck_ok(ctx, opk_writer_add_ranges(writer, ranges, 3, sizeof(struct opk_range)));
	ck_ok(ctx, opk_writer_finish(writer));
}

static int evaluate(struct opk_evaluation **out, struct opk_file **file, struct opk_ctx *ctx,
                    const char *condition)
{
	struct opk_eval_options options = OPTIONS(options, .where = &condition,
	                                          .where_count = condition != NULL,
	                                          .inside = &(struct opk_eval_inside){
							  .join = "" });

	ctx->timeout_s = 20;
	ck_ok(ctx, opk_file_open(file, ctx, in_folder("t.opk")));
	return opk_eval_file(out, ctx, *file, &options);
}

TEST(rows_of_an_evaluation)
{
	static const struct {
		struct here here;
		const char *text;
		const char *wanted; /* index, name and value of each row */
	} rows[] = {
		{ HERE, "kernel=x", "0 a 0.5, 1 b 100.5, " },
		{ HERE, "range=c", "2 c 200.5, " },
		{ HERE, "rank=0", "0 a 0.5, 2 c 200.5, " },
		{ HERE, "device=9", "" },
		{ HERE, "fake__a.sum>100", "1 b 100.5, 2 c 200.5, " },
		{ HERE, "fake__a.sum=100.5", "1 b 100.5, " },
		{ HERE, "fake__a.sum!=nan", "0 a 0.5, 1 b 100.5, 2 c 200.5, " },
		{ HERE, "fake__a.sum=nan", "" },
		{ HERE, "launch__device_id=0", "0 a 0.5, 1 b 100.5, 2 c 200.5, " },
		{ HERE, "launch__grid_size>0", "" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		freed(opk_ctx) *ctx = fake_ctx();
		freed(opk_file) *file = NULL;
		const struct opk_row *row;
		freed(opk_evaluation) *evaluation = NULL;
		char got[200] = "";

		write_recording(ctx, "");
		ck_ok(ctx, evaluate(&evaluation, &file, ctx, rows[i].text));
		ck_row(&rows[i], opk_evaluation_row_count(evaluation) == 3, "rows");
		for (;;) {
			size_t used = strlen(got);

			ck_ok(ctx, opk_evaluation_next(&row, ctx, evaluation));
			if (!row)
				break;
			snprintf(got + used, sizeof got - used, "%zu %s %g, ", row->index,
			         row->name, row->values[0]);
		}
		ck_row(&rows[i], !strcmp(got, rows[i].wanted), "%s", got);
	}
}

/* Rows are filtered before they are joined, while all of them still have their rank. */
FAKE_TEST(joined_rows)
{
	freed(opk_file) *file = NULL;
	freed(opk_evaluation) *evaluation = NULL;
	const struct opk_row *row;

	write_recording(ctx, "kernel");
	ck_ok(ctx, evaluate(&evaluation, &file, ctx, "rank=0"));
	ck_assert_uint_eq(opk_evaluation_row_count(evaluation), 2);
	ck_ok(ctx, opk_evaluation_next(&row, ctx, evaluation));
	ck_assert_uint_eq(row->joined->ranges, 1);
	ck_assert(row->values[0] == 0.5);
	ck_assert_int_eq(row->range->rank, 0);
}

FAKE_TEST(filter_that_does_not_fit)
{
	struct opk_evaluation *evaluation = NULL;
	freed(opk_file) *file = NULL;

	write_recording(ctx, "");
	ck_fails(ctx, evaluate(&evaluation, &file, ctx, "sample=1"), OPK_EUSAGE, "of PM samples");
	ck_assert_ptr_null(evaluation);
}

/* An allocation fails during filtering: the result is an error. */
CTX_TEST(rows_without_memory)
{
	static const char *const texts[] = { "kernel=scale", "kernel!=scale" };
	struct opk_range range = launched;
	const struct opk_segment segment = { .has_ranges = true, .row_count = 1, .ranges = &range };

	range.kernel = "void n::scale<float>(const float *)";
	for (size_t i = 0; i < COUNT(texts); i++) {
		freed(opk_filter) *filter = NULL;
		bool *unwanted = NULL;

		ck_ok(ctx, opk_filter_new(&filter, ctx, &texts[i], 1));
		fail_allocation(1);
		ck_code(ctx,
		        opk_filter_segments(&unwanted, ctx, filter, OPK_PROFILER_RANGE, &segment, 1,
		                            0),
		        OPK_ENOMEM);
		ck_assert(allocation_failed());
		ck_assert_ptr_null(unwanted);
	}
}

SUITE(.set_up = make_folder, .tear_down = remove_folder);
