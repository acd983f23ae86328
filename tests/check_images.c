/* SPDX-License-Identifier: BSD-2-Clause */
/* Commands on images, over the fake: trim, split, sums, and their failures. */
#include <math.h>

#include "allocation.h"
#include "base/file.h"
#include "eval/door.h"
#include "images/door.h"
#include "images/images.h"
#include "recordings.h"

/* The expected row. */
struct wanted {
	const char *name;
	uint64_t count; /* of the range */
	double values[METRICS];
};

static void check_rows(struct opk_ctx *ctx, const char *name, const struct wanted *wanted,
                       size_t count)
{
	freed(opk_file) *file = open_file(ctx, name);
	freed(opk_evaluation) *evaluation = NULL;
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
}

static const struct wanted all_rows[] = {
	{ "r0", 0, { 0.5, 1.5, 2.5 } },       { "r1", 0, { 100.5, 101.5, 102.5 } },
	{ "r2", 0, { 200.5, 201.5, 202.5 } }, { "r3", 0, { 0.5, 1.5, 2.5 } },
	{ "r4", 0, { 100.5, 101.5, 102.5 } }, { "r5", 0, { 200.5, 201.5, 202.5 } },
};

/* ---- trim ------------------------------------------------------------------------------- */

static int trim(struct opk_ctx *ctx, const char *from, const char *to)
{
	freed(opk_file) *file = open_file(ctx, from);
	opk_autofree char *path = strdup(in_folder(to));

	return opk_trim(ctx, file, path);
}

FAKE_TEST(trimmed)
{
	static const struct recording recording = { .ranges = plain };
	freed(opk_file) *file = NULL;

	put("in.opk", &recording);
	ck_ok(ctx, trim(ctx, "in.opk", "out.opk"));
	check_rows(ctx, "out.opk", all_rows, COUNT(all_rows));
	file = open_file(ctx, "out.opk");
	ck_assert_uint_eq(opk_file_section_count(file), 7);
	for (size_t i = 0; i < opk_file_section_count(file); i++)
		if (opk_file_section(file, i)->type == OPK_SECTION_DATA)
			ck_assert_uint_lt(opk_file_section(file, i)->plain_size, FAKE_IMAGE_SIZE);
}

/* Without free slots no image is made; only the metadata say that the file was trimmed. */
FAKE_TEST(nothing_to_trim)
{
	static const struct recording recording = { .ranges = plain };
	opk_autofree void *in = NULL, *out = NULL;
	size_t in_size, out_size;

	fake.slots = RANGES;
	fake.sum_deed = FAKE_ABORTS;
	put("in.opk", &recording);
	ck_ok(ctx, trim(ctx, "in.opk", "trimmed.opk"));
	ck_ok(ctx, trim(ctx, "trimmed.opk", "out.opk"));
	ck_ok(ctx, opk_read_file(&in, &in_size, ctx, in_folder("trimmed.opk")));
	ck_ok(ctx, opk_read_file(&out, &out_size, ctx, in_folder("out.opk")));
	ck_assert_uint_eq(in_size, out_size);
	ck_assert(!memcmp(in, out, in_size));
}

FAKE_TEST(trimmed_samples)
{
	static const struct recording recording = { .samples = true };
	freed(opk_file) *file = NULL;

	fake.image_is_pm = true;
	put("in.opk", &recording);
	ck_ok(ctx, trim(ctx, "in.opk", "out.opk"));
	file = open_file(ctx, "out.opk");
	ck_assert_uint_eq(opk_file_section(file, 2)->plain_size, FAKE_IMAGE_SIZE / 2);
}

/* ---- split ------------------------------------------------------------------------------ */

static int split(struct opk_ctx *ctx, const char *by, size_t *count)
{
	char *paths[] = { strdup(in_folder("o1")), strdup(in_folder("o2")),
		          strdup(in_folder("o3")) };
	struct opk_file *file = open_file(ctx, "in.opk");
	struct opk_split *parts = NULL;
	int code = opk_split_new(&parts, ctx, file, by);

	*count = code ? 0 : opk_split_count(parts);
	if (!code && *count <= COUNT(paths))
		code = opk_split_write(ctx, parts, (const char *const *)paths);
	opk_split_free(parts);
	opk_file_free(file);
	for (size_t i = 0; i < COUNT(paths); i++)
		free(paths[i]);
	return code;
}

FAKE_TEST(split_by_kernel)
{
	static const struct recording recording = { .ranges = plain };
	const struct wanted x[] = { all_rows[0], all_rows[2], all_rows[3], all_rows[5] };
	const struct wanted y[] = { all_rows[1], all_rows[4] };
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
}

FAKE_TEST(split_by_number)
{
	static const struct recording recording = { .ranges = plain };
	size_t count;

	put("in.opk", &recording);
	ck_ok(ctx, split(ctx, "4", &count));
	ck_assert_uint_eq(count, 2);
	check_rows(ctx, "o1", all_rows, 4);
	check_rows(ctx, "o2", all_rows + 4, 2);
}

/* Unchanged images need no combiner. */
FAKE_TEST(split_by_segment)
{
	static const struct recording recording = { .ranges = plain };
	size_t count;

	put("in.opk", &recording);
	fake.sum_deed = FAKE_ABORTS;
	ck_ok(ctx, split(ctx, "segment", &count));
	ck_assert_uint_eq(count, 2);
	check_rows(ctx, "o1", all_rows, 3);
	check_rows(ctx, "o2", all_rows + 3, 3);
}

FAKE_TEST(split_samples)
{
	static const struct recording recording = { .samples = true };
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
	ck_fails(ctx, split(ctx, "2", &count), OPK_EUSAGE, "samples of one image can't be divided");
}

/* ---- sums ------------------------------------------------------------------------------- */

static int sum(struct opk_ctx *ctx, const char *key)
{
	struct opk_sum_options options = OPTIONS(options, .key = key);
	char *in = strdup(in_folder("in.opk")), *out = strdup(in_folder("out.opk"));
	int code;

	code = opk_sum(ctx, (const char *const *)&in, 1, &options, out);
	free(in);
	free(out);
	return code;
}

FAKE_TEST(summed_by_kernel)
{
	static const struct recording recording = { .ranges = plain };
	/* x: ranges 0 and 2 of both images. */
	static const struct wanted wanted[] = {
		{ NULL, 4, { 402, 406, 410 } },
		{ NULL, 2, { 201, 203, 205 } },
	};
	const struct opk_range *ranges;
	freed(opk_file) *file = NULL;
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
}

/* Sums of sums know the original number of ranges. */
FAKE_TEST(summed_names)
{
	static const struct opk_range ranges[] = {
		RANGE("a", "", 0),
		RANGE("b", "", 0),
		RANGE("a", "", 0),
		RANGE("b", "", 0),
		RANGE("b", "", 0),
		{ .name = "a", .kernel = "", .symbol = "", .nvtx = "", .rank = -1, .count = 5 },
	};
	static const struct recording recording = { .ranges = ranges };
	static const struct wanted wanted[] = {
		{ "a", 7, { 401.5, 404.5, 407.5 } },
		{ "b", 3, { 201.5, 204.5, 207.5 } },
	};
	const struct opk_range *summed;
	freed(opk_file) *file = NULL;
	size_t count;

	put("in.opk", &recording);
	ck_ok(ctx, sum(ctx, "name"));
	check_rows(ctx, "out.opk", wanted, COUNT(wanted));
	file = open_file(ctx, "out.opk");
	ck_ok(ctx, opk_file_ranges(&summed, &count, ctx, file));
	/* One duration is unknown. */
	ck_assert_uint_eq(summed[0].duration_ns, 0);
	ck_assert_uint_eq(summed[1].duration_ns, 30);
}

FAKE_TEST(summed_passes)
{
	static const struct recording recording = { .ranges = rotated, .join = "kernel" };
	static const struct wanted wanted[] = {
		{ NULL, 2, { 201, NAN, NAN } },
		{ NULL, 1, { 100.5, NAN, NAN } },
		{ NULL, 1, { NAN, 0.5, 1.5 } },
		{ NULL, 2, { NAN, 301, 303 } },
	};
	static const char *const kernels[] = { "x", "y", "y", "x" };
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
		ck_assert_uint_eq(ranges[i].pass, i < 2 ? 1 : 2);
		ck_assert_uint_eq(ranges[i].count, wanted[i].count);
		ck_assert_str_eq(ranges[i].kernel, kernels[i]);
	}
	opk_file_free(file);
	check_rows(ctx, "out.opk", wanted, COUNT(wanted));
}

/* Sums of two hosts have equal names and device numbers. */
FAKE_TEST(summed_passes_of_hosts)
{
	struct opk_range ranges[2 * RANGES];
	const struct recording recording = { .ranges = ranges, .join = "name" };
	struct opk_eval_options options = OPK_INIT(options);
	freed(opk_file) *file = NULL;
	freed(opk_evaluation) *evaluation = NULL;

	for (size_t i = 0; i < COUNT(ranges); i++) {
		ranges[i] = (struct opk_range)RANGE("s", "", i < RANGES ? 1 : 2);
		ranges[i].host = i % RANGES ? "n2" : "n1";
	}
	put("in.opk", &recording);
	ck_ok(ctx, sum(ctx, "name"));
	file = open_file(ctx, "out.opk");
	options.inside = &(struct opk_eval_inside){ .join = "" };
	ck_ok(ctx, opk_eval_file(&evaluation, ctx, file, &options));
	ck_assert_uint_eq(opk_evaluation_row_count(evaluation), 2);
	for (size_t i = 0; i < 2; i++) {
		const struct opk_row *row;

		ck_ok(ctx, opk_evaluation_next(&row, ctx, evaluation));
		ck_assert_str_eq(row->range->host, i ? "n2" : "n1");
		ck_assert(row->values[0] == (i ? 301 : 0.5));
	}
}

static const struct {
	struct here here;
	struct recording recording;
	const char *key;
	int code;
	const char *wanted;
} not_summed_rows[] = {
	{ HERE, { .ranges = plain }, "kernel,shape", OPK_OK, NULL },
	{ HERE, { .ranges = plain, .gpus = { 2, 1 } }, "kernel", OPK_EUSAGE, "can't be summed" },
	{ HERE, { .ranges = plain, .gpus = { 2, 1 } }, "name", OPK_OK, NULL },
	{ HERE, { .ranges = plain, .gpus = { 1, 1 } }, "kernel", OPK_OK, NULL },
	{ HERE,
	  { .ranges = uneven, .join = "kernel" },
	  "kernel",
	  OPK_EUSAGE,
	  "2 ranges of pass 1, and 1 of pass 2" },
	{ HERE, { .ranges = uneven, .join = "kernel" }, "device", OPK_OK, NULL },
	{ HERE, { .ranges = plain }, "", OPK_EUSAGE, "ranges are not grouped by ''" },
	{ HERE, { .ranges = plain }, "kernel,,rank", OPK_EUSAGE, "ranges are not grouped by ''" },
	{ HERE, { .ranges = plain }, "launch", OPK_EUSAGE, "are not grouped by 'launch'" },
	{ HERE, { .samples = true }, "device", OPK_EUSAGE, "samples can't be summed" },
};

FAKE_TEST_EACH(not_summed, not_summed_rows)
{
	int code;

	fake.image_is_pm = row->recording.samples;
	put("in.opk", &row->recording);
	code = sum(ctx, row->key);
	ck_row(row, code == row->code, "code %d: %s", code, errors_of(ctx));
	ck_row(row, !row->wanted || told(ctx, row->wanted), "%s", errors_of(ctx));
	ck_row(row, entries(false) == (code ? 1 : 2), "files are left");
	entries(true);
}

/* ---- failures --------------------------------------------------------------------------- */

/* Does each of them; returns the first error. */
static int do_all(struct opk_ctx *ctx)
{
	size_t count;
	int code = trim(ctx, "in.opk", "out.opk");

	if (!code)
		code = split(ctx, "kernel", &count);
	return code ? code : sum(ctx, "kernel");
}

static const struct {
	struct here here;
	enum fake_call call;
	const char *symbol;
	int wanted;
} each_call_fails_rows[] = {
	{ HERE, CALL(NVPW_CounterData_ExtractCounterDataPrefix), OPK_EINPUT },
	{ HERE, CALL(NVPW_CounterData_CalculateCounterDataImageCopySize), OPK_EINPUT },
	{ HERE, CALL(NVPW_CounterData_InitializeCounterDataImageCopy), OPK_EINPUT },
	{ HERE, CALL(NVPW_CounterDataCombiner_Create), OPK_EINPUT },
	{ HERE, CALL(NVPW_CounterDataCombiner_CreateRange), OPK_EINPUT },
	{ HERE, CALL(NVPW_CounterDataCombiner_SumIntoRange), OPK_EINPUT },
	{ HERE, CALL(cuptiPmSamplingGetCounterDataInfo), OPK_EINPUT },
	{ HERE, CALL(cuptiProfilerHostGetRangeName), OPK_EINPUT },
};

FAKE_TEST_EACH(each_call_fails, each_call_fails_rows)
{
	static const struct recording recording = { .ranges = plain };

	put("in.opk", &recording);
	fake.status[row->call] = 2;
	ck_row_ends(row, ctx, do_all(ctx), row->wanted, row->symbol);
	ck_row(row, told(ctx, "can't trim") && told(ctx, "section 3 (DATA)"), "%s", errors_of(ctx));
	ck_row(row, entries(false) == 1, "files are left");
}

TEST(crashes_are_errors)
{
	static const enum fake_deed deeds[] = { FAKE_SEGFAULTS, FAKE_ABORTS, FAKE_EXITS,
		                                FAKE_EXITS_HAPPY };
	static const struct recording recording = { .ranges = plain };

	for (size_t i = 0; i < COUNT(deeds); i++) {
		freed(opk_ctx) *ctx = fake_ctx();
		size_t count;

		fake.sum_deed = deeds[i];
		put("in.opk", &recording);
		ck_code(ctx, trim(ctx, "in.opk", "out.opk"), OPK_EINPUT);
		ck_code(ctx, split(ctx, "kernel", &count), OPK_EINPUT);
		ck_code(ctx, sum(ctx, "kernel"), OPK_EINPUT);
		ck_assert_uint_eq(entries(false), 1);
	}
}

/* Several files fail like the first of them alone. */
FAKE_TEST(many_files_that_crash)
{
	static const struct recording recording = { .ranges = plain };
	struct opk_evaluation *evaluations[5];
	struct opk_file *files[5];

	put("in.opk", &recording);
	for (size_t i = 0; i < COUNT(files); i++)
		files[i] = open_file(ctx, "in.opk");
	fake.evaluate_deed = FAKE_SEGFAULTS;
	ck_fails(ctx, opk_eval_files(evaluations, ctx, files, COUNT(files), NULL), OPK_EINPUT,
	         "crashed on these bytes");
	ck_assert(told(ctx, "in.opk"));
	for (size_t i = 0; i < COUNT(files); i++) {
		ck_assert_ptr_null(evaluations[i]);
		opk_file_free(files[i]);
	}
}

/* A byte of any section is changed: none of the file reaches NVIDIA's code. */
/* Metadata say sass, images are of ranges: nothing indexes by the wrong profiler. */
FAKE_TEST(images_of_instructions)
{
	static const struct recording recording = { .ranges = plain, .code = true };
	static const char *const conditions[] = { "kernel=x", "sample>1" };
	struct opk_eval_options options = OPTIONS(options, .where = conditions, .where_count = 1);
	freed(opk_listing) *parts = NULL;
	freed(opk_file) *file = NULL;

	put("code.opk", &recording);
	file = open_file(ctx, "code.opk");
	for (size_t i = 0; i < COUNT(conditions); i++) {
		struct opk_evaluation *evaluation = NULL;

		options.where = &conditions[i];
		ck_assert_int_ne(opk_eval_file(&evaluation, ctx, file, &options), OPK_OK);
		opk_evaluation_free(evaluation);
	}
	ck_assert_int_ne(trim(ctx, "code.opk", "trimmed.opk"), OPK_OK);
	ck_assert_int_ne(opk_split(&parts, ctx, file, "kernel", in_folder("part.opk")), OPK_OK);
}

FAKE_TEST(damage_is_found_before)
{
	static const struct recording recording = { .ranges = plain };
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
	ck_fails(ctx, trim(ctx, "in.opk", "out.opk"), OPK_EINPUT, "CRC-32");
	ck_assert(!told(ctx, "999"));
}

static const struct {
	struct here here;
	struct recording recording;
	size_t populated;
	const char *wanted;
} missing_passes_and_rows_rows[] = {
	{ HERE, { .ranges = plain }, 4, "only 3 of 4 ranges are whole" },
	{ HERE, { .ranges = plain, .shifted = true }, 3, "4 rows for 3 ranges" },
};

/* Each part is complete by itself; the recording lacks a part. */
FAKE_TEST_EACH(missing_passes_and_rows, missing_passes_and_rows_rows)
{
	struct opk_evaluation *evaluation;
	freed(opk_file) *file = NULL;
	size_t count;

	fake.populated = row->populated;
	put("in.opk", &row->recording);
	file = open_file(ctx, "in.opk");
	ck_code(ctx, opk_eval_file(&evaluation, ctx, file, NULL), OPK_EINPUT);
	ck_row(row, told(ctx, row->wanted), "%s", errors_of(ctx));
	ck_code(ctx, trim(ctx, "in.opk", "out.opk"), OPK_EINPUT);
	ck_row(row, told(ctx, row->wanted), "%s", errors_of(ctx));
	ck_code(ctx, split(ctx, "kernel", &count), OPK_EINPUT);
	ck_code(ctx, sum(ctx, "kernel"), OPK_EINPUT);
	ck_row(row, told(ctx, row->wanted), "%s", errors_of(ctx));
	ck_assert_uint_eq(entries(false), 1);
}

/* ---- means ------------------------------------------------------------------------------ */

/* The mean of `first` times row 0, and row 1 up to `all`. */
static double mean_of(struct opk_ctx *ctx, size_t first, size_t all)
{
	static const char *const metrics[] = { "fake__a.sum" };
	opk_autofree struct opk_move *moves = opk_alloc_array(all, sizeof *moves);
	struct opk_target target = { .moves = moves, .move_count = all, .slots = 1 };
	struct opk_recombination job = { .mean = true, .targets = &target, .target_count = 1 };
	struct opk_eval_options eval = OPK_INIT(eval);
	opk_autosent struct opk_result result = { 0 };
	freed(opk_file) *file = open_file(ctx, "in.opk");
	struct opk_evaluation *evaluation;
	struct opk_survey survey;
	const struct opk_row *row;
	opk_autofree void *image = NULL;
	size_t size;
	double value;

	for (size_t i = 0; i < all; i++)
		moves[i].row = i >= first;
	eval.metrics = metrics;
	eval.metric_count = 1;
	eval.chip = "FA100";
	eval.has_profiler = true;
	ck_ok(ctx, opk_survey_make(&survey, ctx, &file, 1));
	job.survey = &survey;
	ck_ok(ctx, opk_recombine(&result, ctx, &job));
	ck_ok(ctx, opk_recombine_next(&image, &size, ctx, &result));
	ck_ok(ctx, opk_eval_image(&evaluation, ctx, image, size, &eval));
	ck_ok(ctx, opk_evaluation_next(&row, ctx, evaluation));
	value = row->values[0];
	opk_evaluation_free(evaluation);
	opk_survey_clear(&survey);
	return value;
}

/* A mean has at most as many ranges as fit a 32-bit count. */
FAKE_TEST(too_many_for_a_mean)
{
	static const struct recording recording = { .ranges = plain };

	put("in.opk", &recording);
	ck_assert_double_eq(mean_of(ctx, 3, 4), 25.5);
	ck_assert_double_eq(mean_of(ctx, OPK_MOST_AVERAGED, OPK_MOST_AVERAGED + 9), 0.5);
	ck_assert_double_gt(mean_of(ctx, OPK_MOST_AVERAGED - 1, OPK_MOST_AVERAGED + 9), 0.5);
	ck_assert_uint_lt((uint64_t)OPK_MOST_AVERAGED * 4096, (uint64_t)1 << 32);
}

FAKE_TEST(without_memory)
{
	static const struct recording recording = { .ranges = rotated, .join = "kernel" };
	int code = OPK_ENOMEM;
	long n = 0;

	put("in.opk", &recording);
	/* Allocations in a child are not counted: their failure is an error of the child. */
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
}

SUITE(.set_up = make_folder, .tear_down = remove_folder);
