/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Images worked on, over the fake: trim, split, sums, statistics. An image has three whole ranges in eight slots; the
 * n-th metric that CUPTI is asked for has the value 100 * range + n + 0.5 in it, and in a sum that of all its ranges.
 */
#include <math.h>

#include "allocation.h"
#include "domain/columns.h"
#include "domain/grouping.h"
#include "domain/statistics.h"
#include "fake_nv.h"
#include "folder.h"

enum { RANGES = 3, METRICS = 3 };

static const char *const names[METRICS] = { "fake__a.sum", "fake__ratio.pct", "fake__c.sum" };
static const size_t first[] = { 0 }, second[] = { 1, 2 };
static const struct opk_group groups[] = { { first, 1 }, { second, 2 } };

#define RANGE(name_, kernel_, group_)                                                              \
	{ .name = name_, .kernel = kernel_, .symbol = "", .nvtx = "", .grid = { 2, 1, 1 },         \
	  .block = { 32, 1, 1 }, .group = group_, .rank = -1, .duration_ns = 10 }

static const struct opk_range plain[] = {
	RANGE("r0", "x", 0), RANGE("r1", "y", 0), RANGE("r2", "x", 0),
	RANGE("r3", "x", 0), RANGE("r4", "y", 0), RANGE("r5", "x", 0),
};
/* Of kernel x two ranges with each group's metrics, of y one. */
static const struct opk_range rotated[] = {
	RANGE("r0", "x", 1), RANGE("r1", "y", 1), RANGE("r2", "x", 1),
	RANGE("r3", "y", 2), RANGE("r4", "x", 2), RANGE("r5", "x", 2),
};
/* Of x one with the first group's metrics, and two with the second's. */
static const struct opk_range uneven[] = {
	RANGE("r0", "x", 1), RANGE("r1", "y", 1), RANGE("r2", "y", 1),
	RANGE("r3", "y", 2), RANGE("r4", "x", 2), RANGE("r5", "x", 2),
};

/* What a recording of two images is made of. */
struct recording {
	const struct opk_range *ranges;
	const char *join;
	bool samples;
	unsigned char gpus[2];
};

static void put(const char *name, const struct recording *recording)
{
	static const struct opk_stats stats = { .launches = 6, .ranges = 6 };
	struct opk_meta meta = { .kind = "recording", .chip = "FA100", .metrics = names, .metric_count = METRICS,
		                 .groups = groups, .group_count = recording->join ? 2 : 0,
		                 .join = recording->join ? recording->join : "",
		                 .profiler = recording->samples ? OPK_PROFILER_PM : OPK_PROFILER_RANGE };
	struct opk_ctx *ctx = new_ctx();
	struct opk_writer *writer;

	ck_ok(ctx, opk_writer_new(&writer, ctx, in_folder(name)));
	ck_ok(ctx, opk_writer_add_meta(writer, &meta));
	ck_ok(ctx, opk_writer_add(writer, OPK_SECTION_CONFIG, "config", 6));
	for (size_t i = 0; i < 2; i++) {
		const struct opk_time times[RANGES] = { { 1, 2, (int64_t)i }, { 2, 3, (int64_t)i },
			                                { 3, 4, (int64_t)i } };
		char image[FAKE_IMAGE_SIZE];

		memcpy(image, fake_image(), sizeof image);
		image[FAKE_GPU_AT] = (char)recording->gpus[i];
		ck_ok(ctx, opk_writer_add(writer, OPK_SECTION_DATA, image, sizeof image));
		if (recording->samples)
			ck_ok(ctx, opk_writer_add_times(writer, times, RANGES));
	}
	if (recording->ranges)
		ck_ok(ctx, opk_writer_add_ranges(writer, recording->ranges, 2 * RANGES));
	ck_ok(ctx, opk_writer_add_stats(writer, &stats));
	ck_ok(ctx, opk_writer_finish(writer));
	opk_writer_free(writer);
	opk_ctx_free(ctx);
}

static struct opk_file *open_file(struct opk_ctx *ctx, const char *name)
{
	struct opk_file *file;

	ck_ok(ctx, opk_file_open(&file, ctx, in_folder(name)));
	return file;
}

/* What a row should be. */
struct wanted {
	const char *name;
	uint64_t count; /* of the range */
	double values[METRICS];
};

static void check_rows(struct opk_ctx *ctx, const char *name, const struct wanted *wanted, size_t count)
{
	struct opk_evaluation *evaluation;
	struct opk_file *file = open_file(ctx, name);
	const struct opk_row *row;

	ck_ok(ctx, opk_eval_file(&evaluation, ctx, file, NULL));
	ck_assert_uint_eq(opk_evaluation_row_count(evaluation), count);
	for (size_t i = 0; i < count; i++) {
		ck_ok(ctx, opk_evaluation_next(&row, ctx, evaluation));
		if (wanted[i].name)
			ck_assert_str_eq(row->name, wanted[i].name);
		ck_assert_uint_eq(row->range ? row->range->count : 0, wanted[i].count);
		for (size_t j = 0; j < METRICS; j++)
			ck_assert_msg(isnan(wanted[i].values[j])
			                      ? isnan(row->values[j])
			                      : row->values[j] == wanted[i].values[j],
			              "%s, row %zu, metric %zu: %g", name, i, j, row->values[j]);
	}
	opk_evaluation_free(evaluation);
	opk_file_free(file);
}

static const struct wanted all_rows[] = {
	{ "r0", 0, { 0.5, 1.5, 2.5 } }, { "r1", 0, { 100.5, 101.5, 102.5 } },
	{ "r2", 0, { 200.5, 201.5, 202.5 } }, { "r3", 0, { 0.5, 1.5, 2.5 } },
	{ "r4", 0, { 100.5, 101.5, 102.5 } }, { "r5", 0, { 200.5, 201.5, 202.5 } },
};

/* ---- trim ------------------------------------------------------------------------------- */

static int trim(struct opk_ctx *ctx, const char *from, const char *to)
{
	struct opk_file *file = open_file(ctx, from);
	char *path = strdup(in_folder(to));
	int code = opk_trim(ctx, file, NULL, path);

	free(path);
	opk_file_free(file);
	return code;
}

START_TEST(trimmed)
{
	static const struct recording recording = { .ranges = plain };
	struct opk_ctx *ctx = fake_ctx();
	struct opk_file *file;

	put("in.opk", &recording);
	ck_ok(ctx, trim(ctx, "in.opk", "out.opk"));
	check_rows(ctx, "out.opk", all_rows, COUNT(all_rows));
	file = open_file(ctx, "out.opk");
	ck_assert_uint_eq(opk_file_section_count(file), 6);
	for (size_t i = 0; i < opk_file_section_count(file); i++)
		if (opk_file_section(file, i)->type == OPK_SECTION_DATA)
			ck_assert_uint_lt(opk_file_section(file, i)->plain_size, FAKE_IMAGE_SIZE);
	opk_file_free(file);
	opk_ctx_free(ctx);
}
END_TEST

/* Without free slots nothing is made. */
START_TEST(nothing_to_trim)
{
	static const struct recording recording = { .ranges = plain };
	struct opk_ctx *ctx = fake_ctx();
	opk_autofree void *in = NULL, *out = NULL;
	size_t in_size, out_size;

	fake.slots = RANGES;
	fake.sum_deed = FAKE_ABORTS;
	put("in.opk", &recording);
	ck_ok(ctx, trim(ctx, "in.opk", "out.opk"));
	ck_ok(ctx, opk_read_file(&in, &in_size, ctx, in_folder("in.opk")));
	ck_ok(ctx, opk_read_file(&out, &out_size, ctx, in_folder("out.opk")));
	ck_assert_uint_eq(in_size, out_size);
	ck_assert(!memcmp(in, out, in_size));
	opk_ctx_free(ctx);
}
END_TEST

START_TEST(trimmed_samples)
{
	static const struct recording recording = { .samples = true };
	struct opk_ctx *ctx = fake_ctx();
	struct opk_file *file;

	fake.image_is_pm = true;
	put("in.opk", &recording);
	ck_ok(ctx, trim(ctx, "in.opk", "out.opk"));
	file = open_file(ctx, "out.opk");
	ck_assert_uint_eq(opk_file_section(file, 2)->plain_size, FAKE_IMAGE_SIZE / 2);
	opk_file_free(file);
	opk_ctx_free(ctx);
}
END_TEST

/* ---- split ------------------------------------------------------------------------------ */

static int split(struct opk_ctx *ctx, const char *by, size_t *count)
{
	char *paths[] = { strdup(in_folder("o1")), strdup(in_folder("o2")), strdup(in_folder("o3")) };
	struct opk_file *file = open_file(ctx, "in.opk");
	struct opk_split *parts = NULL;
	int code = opk_split_new(&parts, ctx, file, by, NULL);

	*count = code ? 0 : opk_split_count(parts);
	if (!code && *count <= COUNT(paths))
		code = opk_split_write(ctx, parts, (const char *const *)paths);
	opk_split_free(parts);
	opk_file_free(file);
	for (size_t i = 0; i < COUNT(paths); i++)
		free(paths[i]);
	return code;
}

START_TEST(split_by_kernel)
{
	static const struct recording recording = { .ranges = plain };
	const struct wanted x[] = { all_rows[0], all_rows[2], all_rows[3], all_rows[5] };
	const struct wanted y[] = { all_rows[1], all_rows[4] };
	struct opk_ctx *ctx = fake_ctx();
	const struct opk_stats *stats;
	struct opk_file *file;
	size_t count;

	put("in.opk", &recording);
	ck_ok(ctx, split(ctx, "kernel", &count));
	ck_assert_uint_eq(count, 2);
	check_rows(ctx, "o1", x, COUNT(x));
	check_rows(ctx, "o2", y, COUNT(y));
	file = open_file(ctx, "o1");
	ck_ok(ctx, opk_file_stats(&stats, ctx, file));
	ck_assert_uint_eq(stats->launches, 6);
	opk_file_free(file);
	file = open_file(ctx, "o2");
	ck_ok(ctx, opk_file_stats(&stats, ctx, file));
	ck_assert_ptr_null(stats);
	opk_file_free(file);
	opk_ctx_free(ctx);
}
END_TEST

START_TEST(split_by_number)
{
	static const struct recording recording = { .ranges = plain };
	struct opk_ctx *ctx = fake_ctx();
	size_t count;

	put("in.opk", &recording);
	ck_ok(ctx, split(ctx, "4", &count));
	ck_assert_uint_eq(count, 2);
	check_rows(ctx, "o1", all_rows, 4);
	check_rows(ctx, "o2", all_rows + 4, 2);
	opk_ctx_free(ctx);
}
END_TEST

/* Images that stay whole need no combiner. */
START_TEST(split_by_segment)
{
	static const struct recording recording = { .ranges = plain };
	struct opk_ctx *ctx = fake_ctx();
	size_t count;

	put("in.opk", &recording);
	fake.sum_deed = FAKE_ABORTS;
	ck_ok(ctx, split(ctx, "segment", &count));
	ck_assert_uint_eq(count, 2);
	check_rows(ctx, "o1", all_rows, 3);
	check_rows(ctx, "o2", all_rows + 3, 3);
	opk_ctx_free(ctx);
}
END_TEST

START_TEST(split_samples)
{
	static const struct recording recording = { .samples = true };
	struct opk_ctx *ctx = fake_ctx();
	const struct opk_time *times;
	struct opk_file *file;
	size_t count;

	fake.image_is_pm = true;
	put("in.opk", &recording);
	ck_ok(ctx, split(ctx, "device", &count));
	ck_assert_uint_eq(count, 2);
	file = open_file(ctx, "o2");
	ck_ok(ctx, opk_file_times(&times, &count, ctx, file));
	ck_assert_uint_eq(count, RANGES);
	ck_assert_int_eq(times[2].device, 1);
	opk_file_free(file);
	ck_code(ctx, split(ctx, "2", &count), OPK_EUSAGE);
	ck_assert_msg(told(ctx, "samples of one image can't be divided"), "%s", errors_of(ctx));
	opk_ctx_free(ctx);
}
END_TEST

/* ---- sums ------------------------------------------------------------------------------- */

static int sum(struct opk_ctx *ctx, const char *key)
{
	struct opk_sum_options options = OPK_INIT(options);
	char *in = strdup(in_folder("in.opk")), *out = strdup(in_folder("out.opk"));
	int code;

	options.key = key;
	code = opk_sum(ctx, (const char *const *)&in, 1, &options, out);
	free(in);
	free(out);
	return code;
}

START_TEST(summed_by_kernel)
{
	static const struct recording recording = { .ranges = plain };
	/* x: ranges 0 and 2 of both images. */
	static const struct wanted wanted[] = {
		{ NULL, 4, { 402, 406, 410 } }, { NULL, 2, { 201, 203, 205 } },
	};
	struct opk_ctx *ctx = fake_ctx();
	const struct opk_range *ranges;
	struct opk_file *file;
	size_t count;

	put("in.opk", &recording);
	ck_ok(ctx, sum(ctx, "kernel"));
	check_rows(ctx, "out.opk", wanted, COUNT(wanted));
	file = open_file(ctx, "out.opk");
	ck_ok(ctx, opk_file_ranges(&ranges, &count, ctx, file));
	ck_assert_str_eq(ranges[0].kernel, "x");
	ck_assert_str_eq(ranges[0].name, "");
	ck_assert_uint_eq(ranges[0].grid[0], 2);
	ck_assert_uint_eq(ranges[0].duration_ns, 40);
	ck_assert_uint_eq(ranges[1].count, 2);
	opk_file_free(file);
	opk_ctx_free(ctx);
}
END_TEST

/* Sums of sums tell how many ranges there were at first. */
START_TEST(summed_names)
{
	static const struct opk_range ranges[] = {
		RANGE("a", "", 0), RANGE("b", "", 0), RANGE("a", "", 0),
		RANGE("b", "", 0), RANGE("b", "", 0), { .name = "a", .kernel = "", .symbol = "", .nvtx = "",
		                                         .rank = -1, .count = 5 },
	};
	static const struct recording recording = { .ranges = ranges };
	static const struct wanted wanted[] = {
		{ "a", 7, { 401.5, 404.5, 407.5 } }, { "b", 3, { 201.5, 204.5, 207.5 } },
	};
	struct opk_ctx *ctx = fake_ctx();
	const struct opk_range *summed;
	struct opk_file *file;
	size_t count;

	put("in.opk", &recording);
	ck_ok(ctx, sum(ctx, "name"));
	check_rows(ctx, "out.opk", wanted, COUNT(wanted));
	file = open_file(ctx, "out.opk");
	ck_ok(ctx, opk_file_ranges(&summed, &count, ctx, file));
	/* One duration is not known. */
	ck_assert_uint_eq(summed[0].duration_ns, 0);
	ck_assert_uint_eq(summed[1].duration_ns, 30);
	opk_file_free(file);
	opk_ctx_free(ctx);
}
END_TEST

START_TEST(summed_groups)
{
	static const struct recording recording = { .ranges = rotated, .join = "kernel" };
	static const struct wanted wanted[] = {
		{ NULL, 2, { 201, NAN, NAN } }, { NULL, 1, { 100.5, NAN, NAN } },
		{ NULL, 1, { NAN, 0.5, 1.5 } }, { NULL, 2, { NAN, 301, 303 } },
	};
	static const char *const kernels[] = { "x", "y", "y", "x" };
	struct opk_ctx *ctx = fake_ctx();
	const struct opk_range *ranges;
	const struct opk_meta *meta;
	struct opk_file *file;
	size_t count;

	put("in.opk", &recording);
	ck_ok(ctx, sum(ctx, "kernel"));
	file = open_file(ctx, "out.opk");
	ck_ok(ctx, opk_file_meta(&meta, ctx, file));
	ck_assert_str_eq(meta->join, "name");
	ck_ok(ctx, opk_file_ranges(&ranges, &count, ctx, file));
	ck_assert_uint_eq(count, COUNT(wanted));
	for (size_t i = 0; i < count; i++) {
		ck_assert_uint_eq(ranges[i].group, i < 2 ? 1 : 2);
		ck_assert_uint_eq(ranges[i].count, wanted[i].count);
		ck_assert_str_eq(ranges[i].kernel, kernels[i]);
	}
	opk_file_free(file);
	check_rows(ctx, "out.opk", wanted, COUNT(wanted));
	opk_ctx_free(ctx);
}
END_TEST

START_TEST(not_summed)
{
	static const struct {
		struct here here;
		struct recording recording;
		const char *key;
		int code;
		const char *wanted;
	} rows[] = {
		{ HERE, { .ranges = plain }, "kernel,shape", OPK_OK, NULL },
		{ HERE, { .ranges = plain, .gpus = { 0, 1 } }, "kernel", OPK_EUSAGE, "can't be summed" },
		{ HERE, { .ranges = plain, .gpus = { 0, 1 } }, "name", OPK_OK, NULL },
		{ HERE, { .ranges = plain, .gpus = { 1, 1 } }, "kernel", OPK_OK, NULL },
		{ HERE, { .ranges = uneven, .join = "kernel" }, "kernel", OPK_EUSAGE,
		  "2 have metrics of group 1, and 1 those of group 2" },
		{ HERE, { .ranges = uneven, .join = "kernel" }, "device", OPK_OK, NULL },
		{ HERE, { .ranges = plain }, "", OPK_EUSAGE, "is nothing that ranges share" },
		{ HERE, { .ranges = plain }, "kernel,,rank", OPK_EUSAGE, "is nothing that ranges share" },
		{ HERE, { .ranges = plain }, "launch", OPK_EUSAGE, "'launch' is nothing" },
		{ HERE, { .samples = true }, "device", OPK_EUSAGE, "samples can't be summed" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct opk_ctx *ctx = fake_ctx();
		int code;

		fake.image_is_pm = rows[i].recording.samples;
		put("in.opk", &rows[i].recording);
		code = sum(ctx, rows[i].key);
		ck_row(&rows[i], code == rows[i].code, "code %d: %s", code, errors_of(ctx));
		ck_row(&rows[i], !rows[i].wanted || told(ctx, rows[i].wanted), "%s", errors_of(ctx));
		ck_row(&rows[i], entries(false) == (code ? 1 : 2), "files are left");
		entries(true);
		opk_ctx_free(ctx);
	}
}
END_TEST

/* ---- statistics ------------------------------------------------------------------------- */

/* Fails only where the aggregation does. */
static int aggregate(struct opk_aggregate **out, struct opk_evaluation **evaluation,
                     struct opk_file **file, struct opk_ctx *ctx, const char *key)
{
	struct opk_aggregate_options options = OPK_INIT(options);

	options.key = key;
	*file = open_file(ctx, "in.opk");
	ck_ok(ctx, opk_eval_file(evaluation, ctx, *file, NULL));
	return opk_aggregate_new(out, ctx, *evaluation, *file, &options);
}

static void check_statistics(const struct opk_aggregated *row, const struct opk_statistics *wanted)
{
	for (size_t i = 0; i < METRICS; i++) {
		const struct opk_statistics *got = &row->columns[i];
		const double values[] = { got->sum, got->mean, got->min, got->max,
			                  got->p50, got->p90,  got->p99 };
		const double wants[] = { wanted[i].sum, wanted[i].mean, wanted[i].min, wanted[i].max,
			                 wanted[i].p50, wanted[i].p90,  wanted[i].p99 };

		ck_assert_uint_eq(got->count, wanted[i].count);
		for (size_t j = 0; j < COUNT(values); j++)
			ck_assert_msg(isnan(wants[j]) ? isnan(values[j])
			                              : fabs(values[j] - wants[j]) < 1e-9,
			              "metric %zu, value %zu: %.17g", i, j, values[j]);
	}
}

START_TEST(statistics_of_kernels)
{
	static const struct recording recording = { .ranges = plain };
	/* The ratio of x is what the sum of its four ranges evaluates to. */
	static const struct opk_statistics wanted[2][METRICS] = {
		{ { 4, 402, 100.5, 0.5, 200.5, 100.5, 200.5, 200.5 },
		  { 4, NAN, 406, 1.5, 201.5, 101.5, 201.5, 201.5 },
		  { 4, 410, 102.5, 2.5, 202.5, 102.5, 202.5, 202.5 } },
		{ { 2, 201, 100.5, 100.5, 100.5, 100.5, 100.5, 100.5 },
		  { 2, NAN, 203, 101.5, 101.5, 101.5, 101.5, 101.5 },
		  { 2, 205, 102.5, 102.5, 102.5, 102.5, 102.5, 102.5 } },
	};
	struct opk_ctx *ctx = fake_ctx();
	struct opk_evaluation *evaluation;
	struct opk_aggregate *statistics;
	struct opk_file *file;

	put("in.opk", &recording);
	ck_ok(ctx, aggregate(&statistics, &evaluation, &file, ctx, "kernel"));
	ck_assert_uint_eq(opk_aggregate_count(statistics), 2);
	ck_assert_uint_eq(opk_aggregate_left_out(statistics), 0);
	for (size_t i = 0; i < 2; i++) {
		const struct opk_aggregated *row = opk_aggregate_get(statistics, i);

		ck_assert_str_eq(row->name, "");
		ck_assert_str_eq(row->range.kernel, i ? "y" : "x");
		ck_assert_uint_eq(row->range.count, i ? 2 : 4);
		check_statistics(row, wanted[i]);
	}
	opk_aggregate_free(statistics);
	opk_evaluation_free(evaluation);
	opk_file_free(file);
	opk_ctx_free(ctx);
}
END_TEST

/* Each metric over the ranges that have it, whatever their number. */
START_TEST(statistics_of_groups)
{
	static const struct recording recording = { .ranges = uneven, .join = "kernel" };
	static const struct opk_statistics wanted[METRICS] = {
		{ 1, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5 },
		{ 2, NAN, 301, 100.5, 200.5, 150.5, 190.5, 199.5 },
		{ 2, 303, 151.5, 101.5, 201.5, 151.5, 191.5, 200.5 },
	};
	struct opk_ctx *ctx = fake_ctx();
	struct opk_evaluation *evaluation;
	struct opk_aggregate *statistics;
	struct opk_file *file;

	put("in.opk", &recording);
	ck_ok(ctx, aggregate(&statistics, &evaluation, &file, ctx, "kernel"));
	check_statistics(opk_aggregate_get(statistics, 0), wanted);
	opk_aggregate_free(statistics);
	opk_evaluation_free(evaluation);
	opk_file_free(file);
	opk_ctx_free(ctx);
}
END_TEST

/* The first sample of each image begins at an earlier event. */
START_TEST(statistics_of_samples)
{
	static const struct recording recording = { .samples = true };
	static const struct opk_statistics wanted[METRICS] = {
		{ 2, 301, 150.5, 100.5, 200.5, 150.5, 190.5, 199.5 },
		{ 2, NAN, 303, 101.5, 201.5, 151.5, 191.5, 200.5 },
		{ 2, 305, 152.5, 102.5, 202.5, 152.5, 192.5, 201.5 },
	};
	struct opk_ctx *ctx = fake_ctx();
	struct opk_aggregate *statistics;
	struct opk_evaluation *evaluation;
	struct opk_file *file;

	fake.image_is_pm = true;
	put("in.opk", &recording);
	ck_ok(ctx, aggregate(&statistics, &evaluation, &file, ctx, "device"));
	ck_assert_uint_eq(opk_aggregate_count(statistics), 2);
	ck_assert_uint_eq(opk_aggregate_left_out(statistics), 2);
	for (size_t i = 0; i < 2; i++) {
		ck_assert_int_eq(opk_aggregate_get(statistics, i)->range.device, (int)i);
		check_statistics(opk_aggregate_get(statistics, i), wanted);
	}
	opk_aggregate_free(statistics);
	opk_evaluation_free(evaluation);
	opk_file_free(file);
	ck_code(ctx, aggregate(&statistics, &evaluation, &file, ctx, "kernel"), OPK_EUSAGE);
	ck_assert_msg(told(ctx, "samples have no kernel"), "%s", errors_of(ctx));
	opk_evaluation_free(evaluation);
	opk_file_free(file);
	opk_ctx_free(ctx);
}
END_TEST

/* A value that could not be computed spoils what is computed of it, and nothing else. */
START_TEST(statistics_with_nan)
{
	static const struct recording recording = { .ranges = plain };
	struct opk_ctx *ctx = fake_ctx();
	struct opk_aggregate *statistics;
	struct opk_evaluation *evaluation;
	const struct opk_statistics *columns;
	struct opk_file *file;

	fake.nan_or_inf = (double)NAN;
	fake.evaluate_at = 1;
	put("in.opk", &recording);
	ck_ok(ctx, aggregate(&statistics, &evaluation, &file, ctx, "kernel"));
	columns = opk_aggregate_get(statistics, 1)->columns;
	ck_assert(isnan(columns[0].sum) && isnan(columns[0].min) && isnan(columns[0].p99));
	ck_assert(columns[1].min == 101.5 && columns[2].sum == 205);
	ck_assert(opk_aggregate_get(statistics, 0)->columns[0].sum == 402);
	opk_aggregate_free(statistics);
	opk_evaluation_free(evaluation);
	opk_file_free(file);
	opk_ctx_free(ctx);
}
END_TEST

/* ---- failures --------------------------------------------------------------------------- */

/* Each of them, or the code of the first that fails. */
static int do_all(struct opk_ctx *ctx)
{
	struct opk_aggregate *statistics = NULL;
	struct opk_evaluation *evaluation = NULL;
	struct opk_file *file = NULL;
	size_t count;
	int code = trim(ctx, "in.opk", "out.opk");

	if (!code)
		code = split(ctx, "kernel", &count);
	if (!code)
		code = sum(ctx, "kernel");
	if (code)
		return code;
	code = aggregate(&statistics, &evaluation, &file, ctx, "kernel");
	opk_aggregate_free(statistics);
	opk_evaluation_free(evaluation);
	opk_file_free(file);
	return code;
}

START_TEST(each_call_fails)
{
	static const struct recording recording = { .ranges = plain };
	static const struct {
		struct here here;
		enum fake_call call;
		const char *symbol;
		int wanted;
	} rows[] = {
		{ HERE, CALL(NVPW_CounterData_ExtractCounterDataPrefix), OPK_EINPUT },
		{ HERE, CALL(NVPW_CounterData_CalculateCounterDataImageCopySize), OPK_EINPUT },
		{ HERE, CALL(NVPW_CounterData_InitializeCounterDataImageCopy), OPK_EINPUT },
		{ HERE, CALL(NVPW_CounterDataCombiner_Create), OPK_EINPUT },
		{ HERE, CALL(NVPW_CounterDataCombiner_CreateRange), OPK_EINPUT },
		{ HERE, CALL(NVPW_CounterDataCombiner_SumIntoRange), OPK_EINPUT },
		{ HERE, CALL(cuptiPmSamplingGetCounterDataInfo), OPK_EINPUT },
		{ HERE, CALL(cuptiProfilerHostGetRangeName), OPK_EINPUT },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct opk_ctx *ctx = fake_ctx();
		int code;

		put("in.opk", &recording);
		fake.status[rows[i].call] = 2;
		code = do_all(ctx);
		ck_row(&rows[i], code == rows[i].wanted, "code %d: %s", code, errors_of(ctx));
		ck_row(&rows[i], told(ctx, rows[i].symbol), "%s", errors_of(ctx));
		ck_row(&rows[i], told(ctx, "can't trim") && told(ctx, "section 3 (DATA)"), "%s",
		       errors_of(ctx));
		ck_row(&rows[i], entries(false) == 1, "files are left");
		opk_ctx_free(ctx);
	}
}
END_TEST

START_TEST(crashes_are_errors)
{
	static const enum fake_deed deeds[] = { FAKE_SEGFAULTS, FAKE_ABORTS, FAKE_EXITS, FAKE_EXITS_HAPPY };
	static const struct recording recording = { .ranges = plain };

	for (size_t i = 0; i < COUNT(deeds); i++) {
		struct opk_ctx *ctx = fake_ctx();
		size_t count;

		fake.sum_deed = deeds[i];
		put("in.opk", &recording);
		ck_code(ctx, trim(ctx, "in.opk", "out.opk"), OPK_EINPUT);
		ck_code(ctx, split(ctx, "kernel", &count), OPK_EINPUT);
		ck_code(ctx, sum(ctx, "kernel"), OPK_EINPUT);
		ck_assert_uint_eq(entries(false), 1);
		opk_ctx_free(ctx);
	}
}
END_TEST

/* A byte of any section is not what it was: nothing of it reaches NVIDIA's code. */
START_TEST(damage_is_found_before)
{
	static const struct recording recording = { .ranges = plain };
	struct opk_ctx *ctx = fake_ctx();
	struct opk_file *file;
	uint64_t offset;
	FILE *out;

	put("in.opk", &recording);
	file = open_file(ctx, "in.opk");
	offset = opk_file_section(file, 3)->offset;
	opk_file_free(file);
	out = fopen(in_folder("in.opk"), "r+");
	ck_assert_int_eq(fseek(out, (long)offset + 5, SEEK_SET), 0);
	fputc('!', out);
	fclose(out);
	fake.sum_deed = FAKE_ABORTS;
	fake.status[FAKE_cuptiPmSamplingGetCounterDataInfo] = 999;
	ck_code(ctx, trim(ctx, "in.opk", "out.opk"), OPK_EINPUT);
	ck_assert_msg(told(ctx, "CRC-32") && !told(ctx, "999"), "%s", errors_of(ctx));
	opk_ctx_free(ctx);
}
END_TEST

START_TEST(without_memory)
{
	static const struct recording recording = { .ranges = rotated, .join = "kernel" };
	struct opk_ctx *ctx = fake_ctx();
	int code = OPK_ENOMEM;
	long n = 0;

	put("in.opk", &recording);
	/* Allocations in a child are not counted here: their failure is one of the child. */
	for (; code; n++) {
		fail_allocation(n);
		code = sum(ctx, "kernel");
		allocation_failed();
		ck_assert_msg(!code || code == OPK_ENOMEM, "allocation %ld: %d: %s", n, code,
		              errors_of(ctx));
		ck_assert_uint_eq(entries(false), code ? 1 : 2);
		ck_assert_int_lt(n, 10000);
	}
	ck_assert_int_gt(n, 20);
	opk_ctx_free(ctx);
}
END_TEST

/* ---- pieces ----------------------------------------------------------------------------- */

START_TEST(degrees_of_metrics)
{
	static const struct {
		struct here here;
		const char *metric;
		int wanted;
	} rows[] = {
		{ HERE, "smsp__inst_executed.sum", 1 },
		{ HERE, "smsp__inst_executed.avg", 1 },
		{ HERE, "sm__cycles_elapsed.max", 1 },
		{ HERE, "sm__cycles_elapsed.min", 1 },
		{ HERE, "smsp__inst_executed.sum.peak_sustained_active", 1 },
		{ HERE, "smsp__inst_executed.sum.peak_sustained_elapsed", 1 },
		{ HERE, "U.Triage.sm__inst_executed.sum", 1 },
		{ HERE, "smsp__inst_executed.sum.peak_sustained", 0 },
		{ HERE, "smsp__inst_executed.sum.per_second", 0 },
		{ HERE, "smsp__inst_executed.sum.per_cycle_active", 0 },
		{ HERE, "smsp__inst_executed.sum.peak_sustained_active.per_second", 0 },
		{ HERE, "sm__warps_active.avg.pct_of_peak_sustained_active", 0 },
		{ HERE, "lts__t_sector_hit_rate.pct", 0 },
		{ HERE, "smsp__average_inst.ratio", 0 },
		{ HERE, "smsp__average_inst.max_rate", 0 },
		{ HERE, "gpu__time_duration.sum", 1 },
		{ HERE, "gpu__time_start.sum", OPK_NO_DEGREE },
		{ HERE, "gpu__time_end.max", OPK_NO_DEGREE },
		{ HERE, "odd", 0 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		int degree = opk_metric_degree(rows[i].metric);

		ck_row(&rows[i], degree == rows[i].wanted, "%s: %d", rows[i].metric, degree);
	}
}
END_TEST

/* Of a and b, which add up, and r, which does not. */
START_TEST(degrees_of_formulas)
{
	static const struct {
		struct here here;
		const char *formula;
		int wanted;
	} rows[] = {
		{ HERE, "a", 1 },
		{ HERE, "r", 0 },
		{ HERE, "7", 0 },
		{ HERE, "0", 0 },
		{ HERE, "32 * a", 1 },
		{ HERE, "a + b", 1 },
		{ HERE, "-abs(a - b)", 1 },
		{ HERE, "a / b", 0 },
		{ HERE, "100 * a / (a + b)", 0 },
		{ HERE, "a * r", 1 },
		{ HERE, "a * b", 2 },
		{ HERE, "sqrt(a * b)", 1 },
		{ HERE, "sqrt(a)", OPK_NO_DEGREE },
		{ HERE, "1 / a", -1 },
		{ HERE, "a + 1", OPK_NO_DEGREE },
		{ HERE, "a + r", OPK_NO_DEGREE },
		{ HERE, "a + 0", 1 },
		{ HERE, "max(a, 0)", 1 },
		{ HERE, "min(a, b, a)", 1 },
		{ HERE, "max(a, 1)", OPK_NO_DEGREE },
		{ HERE, "a < b", 0 },
		{ HERE, "a < 1", OPK_NO_DEGREE },
		{ HERE, "if(a > b, a, b)", 1 },
		{ HERE, "if(a > 0, b / a, 0)", 0 },
		{ HERE, "if(a > 1, a, b)", OPK_NO_DEGREE },
		{ HERE, "if(a > b, a, r)", OPK_NO_DEGREE },
	};
	struct opk_ctx *ctx = new_ctx();

	for (size_t i = 0; i < COUNT(rows); i++) {
		opk_auto(opk_formula) struct opk_formula *formula = NULL;
		int degrees[2], degree;

		ck_ok(ctx, opk_formula_parse(&formula, ctx, rows[i].formula, NULL));
		for (size_t j = 0; j < opk_formula_name_count(formula); j++)
			degrees[j] = strcmp(opk_formula_name(formula, j), "r") != 0;
		ck_ok(ctx, opk_formula_degree(&degree, ctx, formula, degrees));
		ck_row(&rows[i], degree == rows[i].wanted, "%s: %d", rows[i].formula, degree);
	}
	opk_ctx_free(ctx);
}
END_TEST

START_TEST(percentiles)
{
	static const struct {
		struct here here;
		double values[5];
		size_t count;
		double min, max, p50, p90, p99;
	} rows[] = {
		{ HERE, { 0 }, 0, NAN, NAN, NAN, NAN, NAN },
		{ HERE, { 7 }, 1, 7, 7, 7, 7, 7 },
		{ HERE, { 3, 1 }, 2, 1, 3, 2, 2.8, 2.98 },
		{ HERE, { 5, 1, 3, 2, 4 }, 5, 1, 5, 3, 4.6, 4.96 },
		{ HERE, { 1, NAN, 2 }, 3, NAN, NAN, NAN, NAN, NAN },
		{ HERE, { INFINITY, INFINITY, INFINITY }, 3, INFINITY, INFINITY, INFINITY, INFINITY, INFINITY },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		double values[5];
		struct opk_statistics got;

		memcpy(values, rows[i].values, sizeof values);
		opk_statistics_order(&got, values, rows[i].count);
		if (isnan(rows[i].min)) {
			ck_row(&rows[i], isnan(got.min) && isnan(got.max) && isnan(got.p50)
			       && isnan(got.p90) && isnan(got.p99), "not nan");
			continue;
		}
		ck_row(&rows[i], got.min == rows[i].min && got.max == rows[i].max, "%g to %g", got.min,
		       got.max);
		ck_row(&rows[i], got.p50 == rows[i].p50, "p50 %.17g", got.p50);
		ck_row(&rows[i], got.p90 == rows[i].p90 || fabs(got.p90 - rows[i].p90) < 1e-12,
		       "p90 %.17g", got.p90);
		ck_row(&rows[i], got.p99 == rows[i].p99 || fabs(got.p99 - rows[i].p99) < 1e-12,
		       "p99 %.17g", got.p99);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("images");
	TCase *tests = tcase_create("images");

	tcase_add_checked_fixture(tests, make_folder, remove_folder);
	tcase_add_test(tests, trimmed);
	tcase_add_test(tests, nothing_to_trim);
	tcase_add_test(tests, trimmed_samples);
	tcase_add_test(tests, split_by_kernel);
	tcase_add_test(tests, split_by_number);
	tcase_add_test(tests, split_by_segment);
	tcase_add_test(tests, split_samples);
	tcase_add_test(tests, summed_by_kernel);
	tcase_add_test(tests, summed_names);
	tcase_add_test(tests, summed_groups);
	tcase_add_test(tests, not_summed);
	tcase_add_test(tests, statistics_of_kernels);
	tcase_add_test(tests, statistics_of_groups);
	tcase_add_test(tests, statistics_of_samples);
	tcase_add_test(tests, statistics_with_nan);
	tcase_add_test(tests, each_call_fails);
	tcase_add_test(tests, crashes_are_errors);
	tcase_add_test(tests, damage_is_found_before);
	tcase_add_test(tests, without_memory);
	tcase_add_test(tests, degrees_of_metrics);
	tcase_add_test(tests, degrees_of_formulas);
	tcase_add_test(tests, percentiles);
	tcase_set_timeout(tests, 120);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
