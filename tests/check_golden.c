/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Recordings evaluate to the values that were computed on the GPU machine, bit for bit, from the
 * .opk file and from the bare image in it.
 */
#include <math.h>
#include <stdint.h>
#include <sys/stat.h>

#include "eval/door.h"
#include "testing.h"

static const struct recording {
	struct here here;
	const char *name;
	bool is_pm;
	bool has_golden;
	bool has_times; /* the host times were recorded */
	size_t rows;    /* 0: the image was full before its first sample was complete */
	uint64_t incomplete;
	uint32_t since; /* the first release that knows all its metrics */
} recordings[] = {
	{ HERE, "simple", false, true, false, 5, 0, 0 },
	{ HERE, "nested", false, true, false, 4, 0, 0 },
	{ HERE, "wide-auto", false, true, false, 5, 0, 130000 },
	{ HERE, "pm-small", true, true, true, 383, 0, 130000 },
	{ HERE, "pm-triage", true, true, false, 0, 60, 26 },
	{ HERE, "legacy-noinst", false, false, false, 0, 0, 0 },
	{ HERE, "legacy-user", false, false, false, 0, 0, 0 },
};

static bool unknown_metrics(const struct recording *recording, struct opk_ctx *ctx)
{
	struct opk_nvidia_info info = OPK_INIT(info);

	ck_ok(ctx, opk_nvidia_get_info(&info, ctx));
	return info.cupti_version < recording->since;
}

static const char *path_of(const struct recording *recording)
{
	static char path[512];

	snprintf(path, sizeof path, TEST_DATA_DIR "/recordings/gh100-%s.opk", recording->name);
	return path;
}

/* ---- the golden values: a header line, then one line a row */

struct golden {
	FILE *file;
	char *line;
	size_t capacity;
	char *rest; /* of the line */
};

static void golden_open(struct golden *golden, const struct recording *recording)
{
	char path[512];

	snprintf(path, sizeof path, TEST_SOURCE_DIR "/golden/gh100-%s.csv", recording->name);
	*golden = (struct golden){ .file = fopen(path, "r") };
	ck_assert_msg(golden->file, "%s", path);
}

static void golden_close(struct golden *golden)
{
	fclose(golden->file);
	free(golden->line);
}

/* false at the end */
static bool golden_line(struct golden *golden)
{
	if (getline(&golden->line, &golden->capacity, golden->file) < 0)
		return false;
	golden->line[strcspn(golden->line, "\r\n")] = '\0';
	golden->rest = golden->line;
	return true;
}

static const char *golden_field(struct golden *golden)
{
	const char *field = strsep(&golden->rest, ",");

	ck_assert_msg(field, "the golden line is too short");
	return field;
}

static bool same_bits(double a, double b)
{
	uint64_t bits_a, bits_b;

	memcpy(&bits_a, &a, sizeof a);
	memcpy(&bits_b, &b, sizeof b);
	return bits_a == bits_b || (isnan(a) && isnan(b));
}

static void check_header(const struct recording *recording, struct golden *golden,
                         const struct opk_evaluation *evaluation)
{
	ck_assert(golden_line(golden));
	ck_assert_str_eq(golden_field(golden), recording->is_pm ? "start" : "range");
	if (recording->is_pm)
		ck_assert_str_eq(golden_field(golden), "end");
	for (size_t i = 0; i < opk_evaluation_metric_count(evaluation); i++)
		ck_assert_str_eq(golden_field(golden), opk_evaluation_metric(evaluation, i));
	ck_assert_ptr_null(golden->rest);
}

static void check_place(const struct recording *recording, struct golden *golden,
                        const struct opk_row *row, bool times)
{
	if (!recording->is_pm) {
		ck_assert_str_eq(row->name, golden_field(golden));
		return;
	}
	for (int end = 0; end < 2; end++) {
		const char *field = golden_field(golden);

		uint64_t got = end ? row->end_ns : row->start_ns;

		ck_row(recording, !times || strtoull(field, NULL, 10) == got,
		       "row %zu: %s is not %s", row->index, end ? "end" : "start", field);
	}
}

/* Constants that need counters from 13.3 on, which were not collected. */
static bool is_lost(struct opk_ctx *ctx, const char *metric, double value)
{
	static const char *const names[] = {
		"smsp__average_inst_executed_pipe_alu_per_warp.max_rate",
		"smsp__average_inst_executed_pipe_ipa_per_warp.max_rate",
		"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.max_rate",
	};
	struct opk_nvidia_info info = OPK_INIT(info);

	for (size_t i = 0; isnan(value) && i < COUNT(names); i++) {
		if (strcmp(metric, names[i]))
			continue;
		ck_ok(ctx, opk_nvidia_get_info(&info, ctx));
		return info.cupti_version >= 130300;
	}
	return false;
}

/* Returns the number of rows. */
static size_t check_values(const struct recording *recording, struct opk_ctx *ctx,
                           struct opk_evaluation *evaluation, bool times)
{
	const struct opk_row *row;
	struct golden golden;

	golden_open(&golden, recording);
	check_header(recording, &golden, evaluation);
	for (size_t index = 0;; index++) {
		ck_ok(ctx, opk_evaluation_next(&row, ctx, evaluation));
		if (!row) {
			ck_row(recording, !golden_line(&golden), "rows after %zu are missing",
			       index);
			golden_close(&golden);
			return index;
		}
		ck_row(recording, golden_line(&golden), "row %zu is too many", index);
		ck_assert_uint_eq(row->index, index);
		check_place(recording, &golden, row, times);
		for (size_t i = 0; i < opk_evaluation_metric_count(evaluation); i++) {
			const char *field = golden_field(&golden);
			const char *metric = opk_evaluation_metric(evaluation, i);

			if (is_lost(ctx, metric, row->values[i]))
				continue;
			ck_row(recording, same_bits(row->values[i], strtod(field, NULL)),
			       "row %zu, %s: %.17g is not %s", index, metric, row->values[i],
			       field);
		}
		ck_assert_ptr_null(golden.rest);
	}
}

TEST_EACH(files, recordings)
{
	struct opk_ctx *ctx = new_ctx();
	struct opk_eval_options options = OPK_INIT(options);
	struct opk_evaluation *evaluation;
	struct opk_file *file;

	if (unknown_metrics(row, ctx)) {
		opk_ctx_free(ctx);
		return;
	}
	ctx->timeout_s = 120;
	ck_ok(ctx, opk_file_open(&file, ctx, path_of(row)));
	ck_ok(ctx, opk_eval_file(&evaluation, ctx, file, &options));
	ck_assert_str_eq(opk_evaluation_chip(evaluation), "GH100");
	ck_assert_int_eq(opk_evaluation_profiler(evaluation),
	                 row->is_pm ? OPK_PROFILER_PM : OPK_PROFILER_RANGE);
	if (row->has_golden)
		ck_assert_uint_eq(check_values(row, ctx, evaluation, row->has_times), row->rows);
	ck_assert_uint_eq(opk_evaluation_incomplete_samples(evaluation), row->incomplete);
	opk_evaluation_free(evaluation);
	opk_file_free(file);
	opk_ctx_free(ctx);
}

static void *image_of(size_t *size, struct opk_ctx *ctx, struct opk_file *file)
{
	void *image = NULL;

	for (size_t i = 0; i < opk_file_section_count(file); i++) {
		if (opk_file_section(file, i)->type != OPK_SECTION_DATA)
			continue;
		ck_assert_ptr_null(image);
		ck_ok(ctx, opk_file_read(&image, size, ctx, file, i));
	}
	ck_assert_ptr_nonnull(image);
	return image;
}

/* Chip and profiler are read from the image. */
TEST_EACH(bare_images, recordings)
{
	struct opk_ctx *ctx = new_ctx();
	struct opk_eval_options options = OPK_INIT(options);
	struct opk_evaluation *evaluation;
	const struct opk_meta *meta;
	struct opk_file *file;
	size_t size;
	void *image;

	if (unknown_metrics(row, ctx)) {
		opk_ctx_free(ctx);
		return;
	}
	ck_ok(ctx, opk_file_open(&file, ctx, path_of(row)));
	ck_ok(ctx, opk_file_meta(&meta, ctx, file));
	image = image_of(&size, ctx, file);
	ctx->timeout_s = 120;
	options.metrics = meta->metrics;
	options.metric_count = meta->metric_count;
	ck_ok(ctx, opk_eval_image(&evaluation, ctx, image, size, &options));
	ck_assert_str_eq(opk_evaluation_chip(evaluation), "GH100");
	ck_assert_int_eq(opk_evaluation_profiler(evaluation),
	                 row->is_pm ? OPK_PROFILER_PM : OPK_PROFILER_RANGE);
	/* Its times are on the GPU's clock. */
	if (row->has_golden)
		check_values(row, ctx, evaluation, false);
	opk_evaluation_free(evaluation);
	free(image);
	opk_file_free(file);
	opk_ctx_free(ctx);
}

static const struct legacy {
	struct here here;
	const char *name;
	const char *nan_metric; /* NULL: none; all others are finite */
} legacies[] = {
	{ HERE, "legacy-noinst", "sm__cycles_elapsed.max" },
	{ HERE, "legacy-user", NULL },
};

/* Without instances there is no maximum; all other metrics evaluate. */
CTX_TEST_EACH(legacy_recordings, legacies)
{
	struct recording recording = { .name = row->name };
	struct opk_eval_options options = OPK_INIT(options);
	freed(opk_file) *file = NULL;
	const struct opk_row *found;
	freed(opk_evaluation) *evaluation = NULL;
	size_t rows = 0, nans = 0;

	ck_ok(ctx, opk_file_open(&file, ctx, path_of(&recording)));
	ck_ok(ctx, opk_eval_file(&evaluation, ctx, file, &options));
	for (;; rows++) {
		ck_ok(ctx, opk_evaluation_next(&found, ctx, evaluation));
		if (!found)
			break;
		for (size_t i = 0; i < opk_evaluation_metric_count(evaluation); i++) {
			const char *metric = opk_evaluation_metric(evaluation, i);
			bool wanted = row->nan_metric && !strcmp(metric, row->nan_metric);

			ck_row(row, wanted ? isnan(found->values[i]) : isfinite(found->values[i]),
			       "row %zu, %s: %g", rows, metric, found->values[i]);
			nans += wanted;
		}
	}
	ck_row(row, rows > 0, "no rows");
	ck_row(row, nans == (row->nan_metric ? rows : 0), "%zu of %zu", nans, rows);
}

/* The point of the format: recordings are small. */
CTX_TEST(sizes)
{
	uint64_t stored = 0, plain = 0;

	for (size_t i = 0; i < COUNT(recordings); i++) {
		freed(opk_file) *file = NULL;

		ck_ok(ctx, opk_file_open(&file, ctx, path_of(&recordings[i])));
		stored += opk_file_size(file);
		for (size_t s = 0; s < opk_file_section_count(file); s++)
			if (opk_file_section(file, s)->type == OPK_SECTION_DATA)
				plain += opk_file_section(file, s)->plain_size;
	}
	ck_assert_uint_gt(plain, 30000000);
	ck_assert_msg(stored * 100 <= plain * 7, "%ju bytes for %ju", (uintmax_t)stored,
	              (uintmax_t)plain);
	ck_assert_uint_lt(stored, 2500000);
}

SUITE(.needs = have_cupti, .seconds = 300);
