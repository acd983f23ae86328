/* SPDX-License-Identifier: BSD-2-Clause */
/* A filter leaves out exactly the right rows, with any tables of images. */
#include <fcntl.h>

#include "allocation.h"
#include "container/container.h"
#include "eval/eval_inside.h"
#include "fake_nv.h"
#include "folder.h"
#include "images/door.h"

static bool accepts(struct opk_ctx *ctx, const struct opk_filter *filter,
                    enum opk_profiler profiler, const struct opk_row *row)
{
	bool out;

	ck_ok(ctx, opk_filter_accepts(&out, ctx, filter, profiler, row, 0));
	return out;
}

static const char *const names[] = { "fake__a.sum", "fake__c.sum" };

static const char *path_of(void)
{
	return in_folder("t.opk");
}

/*
 * "D" is an image with three ranges or samples, "R3" a table of three ranges, "T3" one of times,
 * "S" another section. Row n has kernel k<n mod 10> and device n / 3; if n is even, the image has
 * its name.
 */
static void write_sections(struct opk_ctx *ctx, const char *sections, bool complete)
{
	static const char *const kernels[] = { "k0", "k1", "k2", "k3", "k4",
		                               "k5", "k6", "k7", "k8", "k9" };
	struct opk_meta meta = { .kind = "recording",
		                 .chip = "FA100",
		                 .metrics = names,
		                 .metric_count = 2,
		                 .profiler = fake.image_is_pm ? OPK_PROFILER_PM
		                                              : OPK_PROFILER_RANGE };
	static const struct opk_stats stats = { .launches = 6 };
	struct opk_range ranges[9];
	struct opk_time times[9];
	freed(opk_writer) *writer = NULL;
	size_t row = 0, time = 0;

	unlink(path_of());
	ck_ok(ctx, opk_writer_new_live(&writer, ctx, path_of()));
	ck_ok(ctx, opk_writer_add_meta(writer, &meta));
	for (const char *at = sections; *at; at++) {
		size_t count = (size_t)(at[1] - '0');

		if (*at == 'D')
			ck_ok(ctx, opk_writer_add(writer, OPK_SECTION_DATA, fake_image(),
			                          FAKE_IMAGE_SIZE));
		if (*at == 'S')
			ck_ok(ctx, opk_writer_add_stats(writer, &stats));
		for (size_t i = 0; *at == 'R' && i < count; i++, row++)
			ranges[i] = (struct opk_range){ .name = row % 2 ? "odd" : "",
				                        .kernel = kernels[row % 10],
				                        .symbol = "",
				                        .nvtx = "",
				                        .rank = -1,
				                        .device = (int32_t)(row / 3) };
		if (*at == 'R')
			ck_ok(ctx, opk_writer_add_ranges(writer, ranges, count,
			                                 sizeof(struct opk_range)));
		for (size_t i = 0; *at == 'T' && i < count; i++, time++)
			times[i] = (struct opk_time){ 100 * time, 100 * time + 100,
				                      (int64_t)(time / 3) };
		if (*at == 'T')
			ck_ok(ctx,
			      opk_writer_add_times(writer, times, count, sizeof(struct opk_time)));
	}
	if (complete)
		ck_ok(ctx, opk_writer_finish(writer));
}

/* ---- filters ---------------------------------------------------------------------------- */

static int evaluate(struct opk_evaluation **out, struct opk_file **file, struct opk_ctx *ctx,
                    const char *condition, size_t workers)
{
	struct opk_eval_options options = OPTIONS(options, .where = &condition,
	                                          .where_count = condition != NULL,
	                                          .workers = workers, .allow_incomplete = true);

	ctx->timeout_s = 20;
	ck_ok(ctx, opk_file_open(file, ctx, path_of()));
	return opk_eval_file(out, ctx, *file, &options);
}

/* The rows that `judge` accepts, one a line; NULL: all rows. */
static void list_rows(char *out, size_t size, struct opk_ctx *ctx,
                      struct opk_evaluation *evaluation, const struct opk_filter *judge)
{
	const struct opk_row *row;

	*out = '\0';
	for (;;) {
		size_t used = strlen(out);

		ck_ok(ctx, opk_evaluation_next(&row, ctx, evaluation));
		if (!row)
			return;
		if (judge && !accepts(ctx, judge, opk_evaluation_profiler(evaluation), row))
			continue;
		snprintf(out + used, size - used, "%zu %s %s %ju %ju %d %.17g %.17g\n", row->index,
		         row->name, row->range ? row->range->kernel : "none",
		         (uintmax_t)row->start_ns, (uintmax_t)row->end_ns, row->spans_earlier,
		         row->values[0], row->values[1]);
	}
}

static void list_all(char *out, size_t size, struct opk_ctx *ctx, const char *condition,
                     const struct opk_filter *judge, size_t workers)
{
	freed(opk_file) *file = NULL;
	freed(opk_evaluation) *evaluation = NULL;

	ck_ok(ctx, evaluate(&evaluation, &file, ctx, condition, workers));
	list_rows(out, size, ctx, evaluation, judge);
}

/* If some rows are not evaluated, all others do not change. */
TEST(same_rows)
{
	static const struct {
		struct here here;
		bool samples;
		const char *sections;
		bool incomplete;
	} rows[] = {
		{ HERE, false, "DR3DR3DR3", false }, { HERE, false, "DR3SDR3", false },
		{ HERE, false, "DDR3DR3", false },   { HERE, false, "DR3DDR3", false },
		{ HERE, false, "DD", false },        { HERE, false, "DR3DR3", true },
		{ HERE, false, "DR3D", true },       { HERE, true, "DT3DT3DT3", false },
		{ HERE, true, "DDT3DT3", false },    { HERE, true, "DD", false },
		{ HERE, true, "DR3DR3", false },     { HERE, true, "DT3R3DR3T3", false },
	};
	static const char *const conditions[2][9] = {
		{ "kernel=k4", "kernel!=k4", "device=1", "range=odd", "range=outer/range1",
		  "name!=*", "kernel=", "kernel=no", "device!=0" },
		{ "sample=4", "sample!=4", "device=1", "spans_earlier=yes", "start_ns=300",
		  "end_ns=*0", "device=", "sample=99", "spans_earlier=no" },
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		for (size_t j = 0; j < 9; j++) {
			const char *text = conditions[rows[i].samples][j];
			freed(opk_ctx) *ctx = fake_ctx();
			char wanted[2000], got[2000];
			freed(opk_filter) *filter = NULL;

			fake.image_is_pm = rows[i].samples;
			write_sections(ctx, rows[i].sections, !rows[i].incomplete);
			ck_ok(ctx, opk_filter_new(&filter, ctx, &text, 1));
			list_all(wanted, sizeof wanted, ctx, NULL, filter, 1);
			for (size_t workers = 1; workers < 4; workers += 2) {
				list_all(got, sizeof got, ctx, text, NULL, workers);
				ck_row(&rows[i], !strcmp(got, wanted),
				       "%s, %zu workers:\n%sinstead of\n%s", text, workers, got,
				       wanted);
			}
		}
}

static const struct {
	struct here here;
	const char *sections, *condition;
	bool harmless;
} no_needless_values_rows[] = {
	{ HERE, "DR3DR3", "kernel=k3", true },       { HERE, "DR3DR3", "kernel=k4", false },
	{ HERE, "DR3DR3", "kernel=no", true },       { HERE, "DDR3", "kernel=k0", true },
	{ HERE, "DDR3", "kernel=k1", false },        { HERE, "DD", "range=outer/range2", true },
	{ HERE, "DD", "range=outer/range1", false }, { HERE, "DR3", "range=odd", false },
	{ HERE, "DR3", "range=outer/range2", true },
};

/* Evaluating the second range of each image ends the child. */
FAKE_TEST_EACH(no_needless_values, no_needless_values_rows)
{
	freed(opk_file) *file = NULL;
	freed(opk_evaluation) *evaluation = NULL;
	int code;

	write_sections(ctx, row->sections, true);
	fake.evaluate_at = 1;
	fake.evaluate_deed = FAKE_SEGFAULTS;
	code = evaluate(&evaluation, &file, ctx, row->condition, 1);
	ck_row(row, code == (row->harmless ? OPK_OK : OPK_EINPUT), "%s: %s", row->condition,
	       errors_of(ctx));
}

/* Flips a bit of the payload of the n-th image. */
static void damage_image(struct opk_ctx *ctx, size_t n)
{
	freed(opk_file) *file = NULL;
	int fd = open(path_of(), O_RDWR);
	char byte;

	ck_ok(ctx, opk_file_open(&file, ctx, path_of()));
	for (size_t i = 0; i < file->section_count; i++) {
		off_t at = (off_t)file->sections[i].offset + 8;

		if (file->sections[i].type != OPK_SECTION_DATA || n--)
			continue;
		ck_assert_int_eq(pread(fd, &byte, 1, at), 1);
		byte ^= 1;
		ck_assert_int_eq(pwrite(fd, &byte, 1, at), 1);
	}
	close(fd);
}

/* Damage in unwanted images is not noticed; in wanted ones it is. */
TEST(no_needless_images)
{
	static const struct {
		struct here here;
		const char *sections, *condition;
		bool harmless;
	} rows[] = {
		{ HERE, "DR3DR3", "kernel=k1", true },
		{ HERE, "DR3DR3", "kernel=k4", false },
		{ HERE, "DR3DR3", "device=0", true },
		{ HERE, "DR3DR3", "device=1", false },
		{ HERE, "DR3DR3", "kernel=no", true },
		{ HERE, "DR3DR3", "range=odd", false },
		{ HERE, "DR3D", "kernel=k1", false },
		{ HERE, "DD", "range=no", false },
		/* A name that only the image has. */
		{ HERE, "DR3DR3", "range=no", false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		freed(opk_ctx) *ctx = fake_ctx();
		freed(opk_file) *file = NULL;
		freed(opk_evaluation) *evaluation = NULL;
		int code;

		write_sections(ctx, rows[i].sections, true);
		damage_image(ctx, 1);
		code = evaluate(&evaluation, &file, ctx, rows[i].condition, 1);
		ck_row(&rows[i], code == (rows[i].harmless ? OPK_OK : OPK_EINPUT), "%s: %s",
		       rows[i].condition, errors_of(ctx));
		ck_row(&rows[i], !evaluation || opk_evaluation_row_count(evaluation) == 6, "rows");
	}
}

/* Statistics cover the wanted rows, and need no image without one. */
FAKE_TEST(statistics_of_some)
{
	static const char *const text = "device=0";
	struct opk_aggregate_options options = OPTIONS(options, .key = "device");
	freed(opk_file) *file = NULL;
	freed(opk_evaluation) *evaluation = NULL;
	freed(opk_aggregate) *statistics = NULL;

	write_sections(ctx, "DR3DR3", true);
	damage_image(ctx, 1);
	ck_ok(ctx, evaluate(&evaluation, &file, ctx, text, 1));
	ck_ok(ctx, opk_aggregate_new(&statistics, ctx, evaluation, file, &options));
	ck_assert_uint_eq(opk_aggregate_count(statistics), 1);
	ck_assert_uint_eq(opk_aggregate_left_out(statistics), 0);
	ck_assert_uint_eq(opk_aggregate_get(statistics, 0)->range.count, 3);
	ck_assert(opk_aggregate_get(statistics, 0)->columns[0].sum == 301.5);
	ck_assert(opk_aggregate_get(statistics, 0)->columns[0].max == 200.5);
}

/* Chip and names are checked even if no image is evaluated. */
FAKE_TEST(nothing_wanted)
{
	static const char *const text = "kernel=no", *const unknown = "fake__no.sum";
	struct opk_eval_options options = OPK_INIT(options);
	struct opk_evaluation *evaluation;
	const struct opk_row *row;
	freed(opk_file) *file = NULL;

	write_sections(ctx, "DR3", true);
	ck_ok(ctx, evaluate(&evaluation, &file, ctx, text, 0));
	ck_assert_str_eq(opk_evaluation_chip(evaluation), "FA100");
	ck_assert(*opk_evaluation_unit(evaluation, 0));
	ck_ok(ctx, opk_evaluation_next(&row, ctx, evaluation));
	ck_assert_ptr_null(row);
	opk_evaluation_free(evaluation);
	options.where = &text;
	options.where_count = 1;
	options.metrics = &unknown;
	options.metric_count = 1;
	ck_fails(ctx, opk_eval_file(&evaluation, ctx, file, &options), OPK_EUSAGE, "fake__no.sum");
}

/* A missing row in one table and an additional one in another do not cancel out. */
TEST(tables_of_other_images)
{
	static const char *const sections[] = { "DR2DR4", "DR4DR2", "DT2DT4" };

	for (size_t i = 0; i < COUNT(sections); i++) {
		struct opk_evaluation *evaluation;
		freed(opk_ctx) *ctx = fake_ctx();
		freed(opk_file) *file = NULL;

		fake.image_is_pm = strchr(sections[i], 'T') != NULL;
		write_sections(ctx, sections[i], true);
		ck_fails(ctx, evaluate(&evaluation, &file, ctx, NULL, 0), OPK_EINPUT,
		         fake.image_is_pm ? "times of 2 samples, and 3 samples"
		                          : " rows for 3 ranges");
	}
}

FAKE_TEST(out_of_memory)
{
	static const char *const text = "kernel=k4";
	const struct opk_segment *segments;
	freed(opk_filter) *filter = NULL;
	long n = 0;
	int code;

	write_sections(ctx, "DR3T3DR3", true);
	ck_ok(ctx, opk_filter_new(&filter, ctx, &text, 1));
	do {
		freed(opk_file) *file = NULL;
		bool *unwanted = NULL;
		size_t count;

		fail_allocation(n++);
		code = opk_file_open(&file, ctx, path_of());
		if (!code)
			code = opk_file_segments(&segments, &count, ctx, file);
		if (!code)
			code = opk_filter_segments(&unwanted, ctx, filter, OPK_PROFILER_RANGE,
			                           segments, count, 0);
		if (!allocation_failed())
			n = 0;
		ck_assert(code == (n ? OPK_ENOMEM : OPK_OK));
		ck_assert(code || (count == 2 && unwanted[0] && !unwanted[1]));
		free(unwanted);
	} while (n);
}

SUITE(.set_up = make_folder, .tear_down = remove_folder);
