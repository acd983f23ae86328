/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Recordings in groups, over the fake: an image has three ranges, in each of which the n-th
 * requested metric has the value 100 * range + n + 0.5.
 */
#include <math.h>
#include <string.h>

#include "allocation.h"
#include "eval/eval_inside.h"
#include "fake_nv.h"
#include "folder.h"

enum { RANGES = 3, METRICS = 4 };

static const char *const names[METRICS] = { "fake__a.sum", "fake__b.sum", "fake__ratio.pct",
	                                    "fake__c.sum" };
/* Pass 1 has a and c, pass 2 has b; the ratio has counters of both. */
static const uint32_t passes[] = { 1, 2 };
static const struct opk_pass_list metric_passes[] = {
	{ passes, 1 }, { passes + 1, 1 }, { passes, 2 }, { passes, 1 }
};

static const char *path_of(void)
{
	return in_folder("t.opk");
}

/* How a recording is made. */
struct recording {
	const char *join;
	enum opk_profiler profiler;
	const struct opk_range *ranges; /* one after the other; empty: no range table */
	size_t range_count;
	size_t time_count;
	size_t images;
	bool incomplete;
};

/* Three for each image; the last image's table has the rest. */
static size_t rows_of(const struct recording *recording, size_t count, size_t image)
{
	return image + 1 < recording->images ? 3 : count - 3 * image;
}

/* The GPU numbers in the images, in turn. */
static uint16_t gpus[2];

static void write_recording(struct opk_ctx *ctx, const struct recording *recording)
{
	struct opk_meta meta = { .chip = "FA100",
		                 .profiler = recording->profiler,
		                 .metrics = names,
		                 .metric_count = METRICS,
		                 .passes = 2,
		                 .metric_passes = metric_passes,
		                 .metric_pass_count = METRICS,
		                 .join = recording->join };
	freed(opk_writer) *writer = NULL;
	struct opk_time times[20];
	char image[FAKE_IMAGE_SIZE];

	unlink(path_of());
	ck_ok(ctx, opk_writer_new_live(&writer, ctx, path_of()));
	ck_ok(ctx, opk_writer_add_meta(writer, &meta));
	for (size_t i = 0; i < COUNT(times); i++)
		times[i] = (struct opk_time){ 7000 + i, 8000 + i, 0 };
	for (size_t i = 0; i < recording->images; i++) {
		size_t done = 3 * i;

		memcpy(image, fake_image(), sizeof image);
		memcpy(image + FAKE_GPU_AT, &gpus[i % COUNT(gpus)], sizeof *gpus);
		if (recording->range_count > done)
			fake_mark_pass(image, recording->ranges[done].pass);
		ck_ok(ctx, opk_writer_add(writer, OPK_SECTION_DATA, image, sizeof image));
		/* Cut off after the second image, without its rows. */
		if (recording->range_count > done && !(recording->incomplete && i))
			ck_ok(ctx,
			      opk_writer_add_ranges(writer, recording->ranges + done,
			                            rows_of(recording, recording->range_count, i),
			                            sizeof(struct opk_range)));
		if (recording->time_count > done)
			ck_ok(ctx,
			      opk_writer_add_times(writer, times + done,
			                           rows_of(recording, recording->time_count, i),
			                           sizeof(struct opk_time)));
	}
	if (!recording->incomplete)
		ck_ok(ctx, opk_writer_finish(writer));
}

/* Children that divide the images; 0: one for so few. */
static size_t workers;

static int evaluate(struct opk_evaluation **out, struct opk_file **file, struct opk_ctx *ctx,
                    const char *const *metrics, size_t count, const char *how)
{
	struct opk_eval_options options = OPTIONS(options, .workers = workers,
	                                          .inside = &(
							  struct opk_eval_inside){ .join = how },
	                                          .metrics = metrics, .metric_count = count,
	                                          .allow_incomplete = true);

	ck_ok(ctx, opk_file_open(file, ctx, path_of()));
	return opk_eval_file(out, ctx, *file, &options);
}

#define RANGE(kernel_, launch_, group_)                                                            \
	{                                                                                          \
		.name = "n" kernel_, .kernel = kernel_, .symbol = "", .nvtx = "",                  \
		.grid = { 2, 1, 1 }, .block = { 32, 1, 1 }, .launch = launch_, .pass = group_,     \
		.rank = -1                                                                         \
	}

/* The same three kernels twice: with the metrics of group 1, then of group 2. */
static const struct opk_range rotated[] = {
	RANGE("x", 1, 1), RANGE("y", 2, 1), RANGE("x", 3, 1),
	RANGE("y", 4, 2), RANGE("x", 5, 2), RANGE("x", 6, 2),
};

/* ---- groups ----------------------------------------------------------------------------- */

FAKE_TEST(values_of_the_group)
{
	static const struct recording recording = {
		"", OPK_PROFILER_RANGE, rotated, 6, 0, 2, false
	};
	static const bool measured[2][METRICS] = { { 1, 0, 0, 1 }, { 0, 1, 0, 0 } };
	static const double values[2][METRICS] = { { 0.5, NAN, NAN, 1.5 }, { NAN, 0.5, NAN, NAN } };
	freed(opk_file) *file = NULL;
	const struct opk_row *row;
	freed(opk_evaluation) *evaluation = NULL;

	write_recording(ctx, &recording);
	ck_ok(ctx, evaluate(&evaluation, &file, ctx, NULL, 0, NULL));
	for (size_t i = 0; i < 6; i++) {
		ck_ok(ctx, opk_evaluation_next(&row, ctx, evaluation));
		for (size_t j = 0; j < METRICS; j++) {
			double wanted = values[i / 3][j] + (double)(i % 3 * 100);

			ck_assert_int_eq(row->measured[j], measured[i / 3][j]);
			ck_assert_msg(isnan(wanted) ? isnan(row->values[j])
			                            : row->values[j] == wanted,
			              "row %zu, metric %zu: %g", i, j, row->values[j]);
		}
	}
}

/* Metrics by name: in their group; metrics outside of the set, in any range with their counters. */
FAKE_TEST(metrics_by_name)
{
	static const char *const asked[] = {
		"fake__throughput.avg.pct_of_peak_sustained_elapsed",
		"fake__b.sum",
	};
	static const struct recording recording = {
		"", OPK_PROFILER_RANGE, rotated, 6, 0, 2, false
	};
	freed(opk_file) *file = NULL;
	const struct opk_row *row;
	freed(opk_evaluation) *evaluation = NULL;

	fake.nan_or_inf = (double)NAN;
	fake.evaluate_at = 0;
	write_recording(ctx, &recording);
	ck_ok(ctx, evaluate(&evaluation, &file, ctx, asked, 2, NULL));
	for (size_t i = 0; i < 6; i++) {
		ck_ok(ctx, opk_evaluation_next(&row, ctx, evaluation));
		ck_assert_int_eq(row->measured[0], i % 3 != 0);
		ck_assert_int_eq(row->measured[1], i >= 3);
		ck_assert(i >= 3 || isnan(row->values[1]));
	}
}

TEST(tables_that_do_not_fit)
{
	static const struct opk_range mixed[] = {
		RANGE("x", 1, 1),
		RANGE("y", 2, 1),
		RANGE("x", 3, 2),
	};
	static const struct opk_range beyond[] = {
		RANGE("x", 1, 3),
		RANGE("y", 2, 3),
		RANGE("x", 3, 3),
	};
	static const struct opk_range longer[] = {
		RANGE("x", 1, 1),
		RANGE("y", 2, 1),
		RANGE("x", 3, 1),
		RANGE("x", 4, 1),
	};
	static const struct {
		struct here here;
		struct recording recording;
		const char *wanted; /* NULL: it fits */
	} rows[] = {
		{ HERE, { "", OPK_PROFILER_RANGE, rotated, 3, 0, 1, false }, NULL },
		{ HERE, { "", OPK_PROFILER_RANGE, NULL, 0, 0, 1, false }, NULL },
		{ HERE, { "", OPK_PROFILER_RANGE, mixed, 3, 0, 1, false }, "of passes 1 and 2" },
		{ HERE,
		  { "", OPK_PROFILER_RANGE, beyond, 3, 0, 1, false },
		  "a range is of pass 3, and there are 2" },
		{ HERE,
		  { "", OPK_PROFILER_RANGE, rotated, 2, 0, 1, false },
		  "2 rows for 3 ranges" },
		{ HERE, { "", OPK_PROFILER_RANGE, rotated, 2, 0, 1, true }, "2 rows for 3 ranges" },
		{ HERE, { "", OPK_PROFILER_RANGE, longer, 4, 0, 1, true }, "4 rows for 3 ranges" },
		{ HERE, { "", OPK_PROFILER_RANGE, rotated, 3, 3, 1, false }, NULL },
		{ HERE,
		  { "", OPK_PROFILER_RANGE, NULL, 0, 4, 1, false },
		  "times of 4 samples, and 3" },
		{ HERE,
		  { "", OPK_PROFILER_RANGE, NULL, 0, 2, 1, false },
		  "times of 2 samples, and 3" },
		{ HERE,
		  { "", OPK_PROFILER_RANGE, NULL, 0, 2, 1, true },
		  "times of 2 samples, and 3" },
		{ HERE,
		  { "", OPK_PROFILER_RANGE, NULL, 0, 4, 1, true },
		  "times of 4 samples, and 3" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		freed(opk_ctx) *ctx = fake_ctx();
		freed(opk_file) *file = NULL;
		freed(opk_evaluation) *evaluation = NULL;
		int code;

		write_recording(ctx, &rows[i].recording);
		code = evaluate(&evaluation, &file, ctx, NULL, 0, NULL);
		ck_row_ends(&rows[i], ctx, code, rows[i].wanted ? OPK_EINPUT : OPK_OK,
		            rows[i].wanted);
		ck_row(&rows[i], !code == !!evaluation, "out parameter");
	}
}

/* Recorded times are better than the GPU's own. */
FAKE_TEST(times_of_samples)
{
	static const struct recording recording = { "", OPK_PROFILER_PM, NULL, 0, 6, 2, false };
	freed(opk_file) *file = NULL;
	const struct opk_row *row;
	freed(opk_evaluation) *evaluation = NULL;

	fake.image_is_pm = true;
	write_recording(ctx, &recording);
	ck_ok(ctx, evaluate(&evaluation, &file, ctx, names, 1, NULL));
	for (size_t i = 0; i < 6; i++) {
		ck_ok(ctx, opk_evaluation_next(&row, ctx, evaluation));
		ck_assert_uint_eq(row->start_ns, 7000 + i);
		ck_assert_uint_eq(row->end_ns, 8000 + i);
	}
}

/* ---- joining ---------------------------------------------------------------------------- */

/*
 * Writes, evaluates and joins; the caller frees *file and *evaluation in any case. The ratio has
 * counters of both passes.
 */
static int join(struct opk_evaluation **evaluation, struct opk_file **file, struct opk_ctx *ctx,
                const struct recording *recording, const char *how)
{
	static const unsigned needed[METRICS] = { 1 << 1, 1 << 2, 1 << 1 | 1 << 2, 1 << 1 };

	*evaluation = NULL;
	memcpy(fake.needed, needed, sizeof needed);
	write_recording(ctx, recording);
	return evaluate(evaluation, file, ctx, NULL, 0, how);
}

/* The joined row with this number. */
static const struct opk_row *row_at(struct opk_ctx *ctx, struct opk_evaluation *evaluation,
                                    size_t number)
{
	const struct opk_bookmark mark = { .number = number };
	const struct opk_row *row;

	ck_ok(ctx, opk_evaluation_reread(&row, ctx, evaluation, &mark));
	return row;
}

static void check_joined(const struct opk_row *row, const double *values, const uint64_t *counts)
{
	for (size_t i = 0; i < METRICS; i++) {
		ck_assert_uint_eq(row->joined->counts[i], counts[i]);
		ck_assert_msg(isnan(values[i]) ? isnan(row->values[i])
		                               : row->values[i] == values[i],
		              "metric %zu: %g", i, row->values[i]);
	}
}

FAKE_TEST(by_kernel)
{
	static const struct recording recording = { "kernel", OPK_PROFILER_RANGE, rotated, 6, 0, 2,
		                                    false };
	/* x has ranges 0 and 2 of the first image, and 1 and 2 of the second. */
	static const double values[2][METRICS] = {
		{ 100.5, 151.5, 127.5, 103.5 },
		{ 100.5, 1.5, 52.5, 103.5 },
	};
	static const uint64_t counts[2][METRICS] = { { 2, 2, 2, 2 }, { 1, 1, 1, 1 } };
	freed(opk_file) *file = NULL;
	freed(opk_evaluation) *evaluation = NULL;

	ck_ok(ctx, join(&evaluation, &file, ctx, &recording, ""));
	ck_assert_uint_eq(opk_evaluation_row_count(evaluation), 2);
	ck_assert_uint_eq(opk_evaluation_left_out(evaluation), 0);
	for (size_t i = 0; i < 2; i++) {
		const struct opk_row *row = row_at(ctx, evaluation, i);

		ck_assert_str_eq(row->name, i ? "ny" : "nx");
		ck_assert_str_eq(row->range->kernel, i ? "y" : "x");
		ck_assert_uint_eq(row->range->grid[0], 2);
		ck_assert_uint_eq(row->range->launch, 0);
		ck_assert_uint_eq(row->range->pass, 0);
		ck_assert_uint_eq(row->joined->ranges, i ? 2 : 4);
		ck_assert_uint_eq(row->joined->ranges_min, i ? 1 : 2);
		check_joined(row, values[i], counts[i]);
	}
}

/* A pass that was not collected shows as 0; a value that could not be computed as NaN. */
FAKE_TEST(incomplete_rows)
{
	static const struct recording recording = { "kernel", OPK_PROFILER_RANGE, rotated, 3, 0, 1,
		                                    false };
	/* Images have values in the order in which they are asked for: a, c. */
	static const unsigned needed[METRICS] = { 1 << 1, 1 << 1 };
	static const double values[2][METRICS] = { { NAN, NAN, NAN, 101.5 },
		                                   { 100.5, NAN, NAN, 101.5 } };
	static const uint64_t counts[2][METRICS] = { { 2, 0, 0, 2 }, { 1, 0, 0, 1 } };
	freed(opk_file) *file = NULL;
	freed(opk_evaluation) *evaluation = NULL;

	fake.nan_or_inf = (double)NAN;
	fake.evaluate_at = 0;
	memcpy(fake.needed, needed, sizeof needed);
	write_recording(ctx, &recording);
	ck_ok(ctx, evaluate(&evaluation, &file, ctx, NULL, 0, ""));
	ck_assert_uint_eq(opk_evaluation_row_count(evaluation), 2);
	for (size_t i = 0; i < 2; i++) {
		ck_assert_uint_eq(row_at(ctx, evaluation, i)->joined->ranges_min, 0);
		check_joined(row_at(ctx, evaluation, i), values[i], counts[i]);
	}
}

#define OTHER(name_, kernel_, symbol_, grid_y, block_x, rank_, ...)                                \
	{                                                                                          \
		.name = name_, .kernel = kernel_, .symbol = symbol_, .grid = { 2, grid_y, 1 },     \
		.block = { block_x, 1, 1 }, .launch = 1, .pass = 1, .rank = rank_, __VA_ARGS__     \
	}

/* Two ranges that differ in one fact: which kinds of join keep them apart? */
static const struct key_row {
	struct here here;
	struct opk_range other;
	bool kernel, launch, name; /* one row */
} key_rows[] = {
	{ HERE, RANGE("x", 1, 1), true, true, true },
	{ HERE, RANGE("x", 2, 1), true, false, true },
	{ HERE, RANGE("y", 1, 1), false, false, false },
	{ HERE, OTHER("nx", "y", "", 1, 32, -1, .nvtx = ""), false, false, true },
	{ HERE, OTHER("m", "x", "", 1, 32, -1, .nvtx = ""), true, true, false },
	{ HERE, OTHER("nx", "x", "s", 1, 32, -1, .nvtx = ""), true, true, true },
	{ HERE, OTHER("nx", "x", "", 2, 32, -1, .nvtx = ""), false, false, true },
	{ HERE, OTHER("nx", "x", "", 1, 64, -1, .nvtx = ""), false, false, true },
	{ HERE, OTHER("nx", "x", "", 1, 32, -1, .nvtx = "", .shared_bytes = 8), false, true, true },
	{ HERE, OTHER("nx", "x", "", 1, 32, -1, .nvtx = "", .device = 1), false, false, false },
	{ HERE, OTHER("nx", "x", "", 1, 32, 0, .nvtx = ""), true, false, false },
	{ HERE,
	  OTHER("nx", "x", "", 1, 32, -1, .nvtx = "a", .stream = 5, .registers = 9, .context = 2,
	        .process = 3, .duration_ns = 4),
	  true, true, true },
};

TEST_EACH(keys, key_rows)
{
	static const char *const kinds[] = { "kernel", "launch", "name" };
	const bool wanted[] = { row->kernel, row->launch, row->name };
	struct opk_range ranges[RANGES] = { RANGE("x", 1, 1), row->other, RANGE("x", 1, 1) };
	const struct recording recording = { "", OPK_PROFILER_RANGE, ranges, 3, 0, 1, false };

	for (size_t i = 0; i < COUNT(kinds); i++) {
		freed(opk_ctx) *ctx = fake_ctx();
		freed(opk_file) *file = NULL;
		freed(opk_evaluation) *evaluation = NULL;

		ck_ok(ctx, join(&evaluation, &file, ctx, &recording, kinds[i]));
		ck_row(row, opk_evaluation_row_count(evaluation) == (wanted[i] ? 1 : 2),
		       "%s: %zu rows", kinds[i], opk_evaluation_row_count(evaluation));
		ck_row(row, row_at(ctx, evaluation, 0)->joined->ranges == (wanted[i] ? 3 : 2), "%s",
		       kinds[i]);
	}
}

#define RAN(nvtx_, launch_, stream_, context_, process_, rank_, start, end, ...)                   \
	{                                                                                          \
		.name = "n", .kernel = "x", .symbol = "s", .registers = 32, .pass = 1,             \
		.static_shared_plus_1 = 1, .cluster = { launch_, 1, 1 }, .carveout_plus_1 = rank_, \
		.nvtx = nvtx_, .launch = launch_, .stream = stream_, .context = context_,          \
		.process = process_, .rank = rank_, .start_ns = start, .end_ns = end, __VA_ARGS__  \
	}

/* Facts that differ are unknown in the joined row, except the duration. */
FAKE_TEST(common_facts)
{
	static const struct opk_range ranges[RANGES] = {
		RAN("a/b", 1, 4, 1, 7, 0, 1, 2, .duration_ns = 100),
		RAN("a/b", 1, 4, 1, 8, 0, 1, 3, .duration_ns = 201),
		RAN("a/c", 2, 0, 2, 7, 1, 2, 2, .duration_ns = 0),
	};
	static const struct recording recording = { "kernel", OPK_PROFILER_RANGE, ranges, 3, 0, 1,
		                                    false };
	freed(opk_file) *file = NULL;
	const struct opk_range *range;
	freed(opk_evaluation) *evaluation = NULL;

	ck_ok(ctx, join(&evaluation, &file, ctx, &recording, ""));
	ck_assert_uint_eq(opk_evaluation_row_count(evaluation), 1);
	range = row_at(ctx, evaluation, 0)->range;
	ck_assert_str_eq(range->symbol, "s");
	ck_assert_str_eq(range->nvtx, "");
	ck_assert_uint_eq(range->registers, 32);
	/* Shared memory is unknown where the preferred share of it is. */
	ck_assert(!range->static_shared_plus_1);
	ck_assert(!range->cluster[0] && !range->cluster[1] && !range->carveout_plus_1);
	ck_assert_uint_eq(range->duration_ns, 151); /* the mean of the two known ones */
	ck_assert(!range->launch && !range->context && !range->process && !range->start_ns);
	ck_assert(!range->end_ns && !range->stream && range->rank == -1 && range->pass == 1);
	ck_assert(row_at(ctx, evaluation, 0)->joined->many_streams);
}

/*
 * More rows than the table's initial room, of one GPU or two, in one child or three: they become
 * one image of means, or one image each.
 */
static const struct {
	size_t workers;
	int32_t devices;
} ways[] = { { 0, 1 }, { 3, 1 }, { 0, 2 }, { 3, 2 } };

FAKE_TEST_EACH(many_rows, ways)
{
	enum { IMAGES = 200 };
	static struct opk_range ranges[IMAGES * RANGES];
	static const struct recording recording = {
		"launch", OPK_PROFILER_RANGE, ranges, IMAGES * RANGES, 0, IMAGES, false
	};
	struct opk_evaluation *evaluation;
	struct opk_file *file;
	size_t half = IMAGES * RANGES / 2;

	workers = row->workers;
	for (size_t i = 0; i < IMAGES * RANGES; i++)
		ranges[i] = (struct opk_range){
			.kernel = "x",
			.launch = 1 + i % half,
			.device = (int32_t)(i / RANGES) % row->devices,
			.rank = -1,
			.pass = i < half ? 1 : 2,
		};
	ck_ok(ctx, join(&evaluation, &file, ctx, &recording, ""));
	ck_assert_uint_eq(opk_evaluation_row_count(evaluation), half);
	for (size_t i = 0; i < half; i++) {
		const struct opk_row *got = row_at(ctx, evaluation, i);

		ck_assert_uint_eq(got->range->launch, i + 1);
		ck_assert_uint_eq(got->joined->ranges, 2);
		ck_assert_uint_eq(got->joined->ranges_min, 1);
		ck_assert_double_eq(got->values[1], (double)(i % 3 * 100) + 1.5);
	}
	opk_evaluation_free(evaluation);
	opk_file_free(file);
	workers = 0;
}

/* Counters of two passes can be added. Counters of two GPUs can't, even if the tables allow it. */
TEST(other_layouts)
{
	static const struct {
		uint16_t gpus[2];
		bool joined;
	} rows[] = {
		{ { 1, 1 }, true },     { { 1, 0 }, true },          { { 1, 2 }, false },
		{ { 0x210, 0 }, true }, { { 0x210, 0x200 }, false }, { { 0x100, 0x84 }, false },
	};
	static const struct recording recording = { "kernel", OPK_PROFILER_RANGE, rotated, 6, 0, 2,
		                                    false };

	for (size_t i = 0; i < 2 * COUNT(rows); i++) {
		freed(opk_ctx) *ctx = fake_ctx();
		freed(opk_file) *file = NULL;
		freed(opk_evaluation) *evaluation = NULL;
		int code;

		workers = i % 2 ? 2 : 0;
		memcpy(gpus, rows[i / 2].gpus, sizeof gpus);
		code = join(&evaluation, &file, ctx, &recording, "");
		ck_assert_msg(code == (rows[i / 2].joined ? OPK_OK : OPK_EINPUT), "%zu: %d: %s", i,
		              code, errors_of(ctx));
		ck_assert(!code || told(ctx, "ranges of different GPUs"));
	}
	workers = 0;
	memset(gpus, 0, sizeof gpus);
}

/* A child that NVIDIA's code has corrupted may send any image as its part of a mean. */
static int send_image(struct opk_ctx *ctx, void *data, struct opk_child *child)
{
	(void)ctx;
	(void)data;
	opk_put_bytes(child, fake_image(), FAKE_IMAGE_SIZE);
	return OPK_OK;
}

static int make_mean(struct opk_ctx *ctx, void *job, struct opk_child *child)
{
	opk_autofree void *image = NULL;
	size_t size;

	return opk_means_make(&image, &size, ctx, child, job, 0);
}

FAKE_TEST(parts_of_other_sizes)
{
	struct opk_mean_image planned = { .slots = fake.slots + 1 };
	struct opk_joining joining = { .images = &planned, .image_count = 1 };
	struct opk_result part = { 0 }, result = { 0 };
	struct opk_eval_job job = { .joining = &joining, .parts = &part, .part_count = 1 };

	ck_ok(ctx, opk_contain(&part, ctx, send_image, NULL, NULL));
	ck_fails(ctx, opk_contain(&result, ctx, make_mean, &job, NULL), OPK_EINPUT,
	         "a part of an image has");
	opk_result_clear(&part);
	opk_result_clear(&result);
}

static const struct {
	struct here here;
	struct recording recording;
	const char *how;
	int code;
	const char *wanted;
} refused_joins_rows[] = {
	{ HERE,
	  { "", OPK_PROFILER_RANGE, rotated, 3, 0, 1, false },
	  "stream",
	  OPK_EUSAGE,
	  "'stream' is not a way to join" },
	{ HERE,
	  { "kernel", OPK_PROFILER_RANGE, NULL, 0, 0, 1, false },
	  "",
	  OPK_EINPUT,
	  "can't be joined without a range table" },
	{ HERE,
	  { "kernel", OPK_PROFILER_PM, rotated, 3, 0, 1, false },
	  "",
	  OPK_EUSAGE,
	  "only ranges of a recording" },
};

FAKE_TEST_EACH(refused_joins, refused_joins_rows)
{
	freed(opk_file) *file = NULL;
	freed(opk_evaluation) *evaluation = NULL;

	fake.image_is_pm = row->recording.profiler == OPK_PROFILER_PM;
	ck_row_ends(row, ctx, join(&evaluation, &file, ctx, &row->recording, row->how), row->code,
	            row->wanted);
}

/* Rows may be missing at the end of a cut-off file. */
FAKE_TEST(cut_off)
{
	static const struct recording recording = { "kernel", OPK_PROFILER_RANGE, rotated, 3, 0, 2,
		                                    true };
	freed(opk_file) *file = NULL;
	freed(opk_evaluation) *evaluation = NULL;

	ck_ok(ctx, join(&evaluation, &file, ctx, &recording, ""));
	ck_assert_uint_eq(opk_evaluation_row_count(evaluation), 2);
	ck_assert_uint_eq(opk_evaluation_left_out(evaluation), 1);
}

static const size_t few_workers[] = { 0, 2 };

FAKE_TEST_EACH(without_memory, few_workers)
{
	static const struct recording recording = { "kernel", OPK_PROFILER_RANGE, rotated, 6, 0, 2,
		                                    false };
	struct opk_eval_options options = OPTIONS(options,
	                                          .inside = &(struct opk_eval_inside){ .join = "" },
	                                          .workers = *row);

	write_recording(ctx, &recording);
	for (long n = 0;; n++) {
		struct opk_evaluation *evaluation;
		struct opk_file *file;
		int code;

		ck_ok(ctx, opk_file_open(&file, ctx, path_of()));
		evaluation = NULL;
		fail_allocation(n);
		code = opk_eval_file(&evaluation, ctx, file, &options);
		if (!code) {
			allocation_failed();
			ck_assert_int_gt(n, 20);
			opk_evaluation_free(evaluation);
			opk_file_free(file);
			break;
		}
		/* The child counts its own allocations. */
		allocation_failed();
		ck_assert_msg(code == OPK_ENOMEM, "allocation %ld: %d: %s", n, code,
		              errors_of(ctx));
		opk_evaluation_free(evaluation);
		opk_file_free(file);
	}
}

SUITE(.set_up = make_folder, .tear_down = remove_folder);
