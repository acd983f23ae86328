/* SPDX-License-Identifier: BSD-2-Clause */
/* Tables of values that do not fit together, claim too much, or are of a later offpeak. */
#include <math.h>

#include "allocation.h"
#include "baked/baked.h"
#include "base/buf.h"
#include "base/ctx.h"
#include "containers.h"
#include "container/container.h"
#include "eval/door.h"
#include "folder.h"
#include "suite.h"

/* The file has this table of three rows, a__b.sum of 7, 8, 9, and then others. */
static const char *const own[] = { "a__b.sum" };
static const double values[] = { 7, 8, 9 };

struct column {
	uint32_t role, encoding;
	const char *name;
	uint8_t width; /* of the numbers, which are all 0x42; other encodings have a byte */
};
struct extra {
	uint32_t kind;
	uint64_t first, count, members;
	struct column columns[3]; /* until one without a role */
	uint32_t times;           /* that the file has it */
};

static void add_column(struct opk_buf *heads, struct opk_buf *bytes, const struct column *column,
                       uint64_t entries, uint32_t text)
{
	size_t before = bytes->size;

	opk_buf_add_u32(bytes, column->width);
	for (uint64_t i = 0; i < entries * column->width; i++)
		opk_buf_add(bytes, "B", 1);
	opk_buf_add_u32(heads, column->role);
	opk_buf_add_u32(heads, text);
	opk_buf_add_u32(heads, 0);
	opk_buf_add_u32(heads, column->encoding);
	opk_buf_add_u64(heads, bytes->size - before);
}

static void add_extra(struct opk_ctx *ctx, struct opk_writer *writer, const struct extra *extra)
{
	opk_autobuf struct opk_buf out = { 0 }, texts = { 0 }, heads = { 0 }, bytes = { 0 };
	uint32_t count = 0, named = 0, before = 0;

	for (; count < COUNT(extra->columns) && extra->columns[count].role; count++) {
		const struct column *column = &extra->columns[count];

		if (column->name) {
			opk_buf_add(&texts, column->name, strlen(column->name) + 1);
			named++;
		}
		add_column(&heads, &bytes, column,
		           column->role == OPK_VALUE_GROUP ? extra->members : extra->count,
		           (column->name ? named : 0) - before);
		before = column->name ? named : 0;
	}
	opk_buf_add_u32(&out, extra->kind);
	opk_buf_add_u32(&out, count);
	opk_buf_add_u64(&out, extra->first);
	opk_buf_add_u64(&out, extra->count);
	opk_buf_add_u64(&out, extra->members);
	opk_buf_add_u32(&out, named);
	opk_buf_add_u32(&out, (uint32_t)texts.size);
	opk_buf_add(&out, texts.data, texts.size);
	opk_buf_add(&out, heads.data, heads.size);
	opk_buf_add(&out, bytes.data, bytes.size);
	ck_assert(!out.failed);
	ck_ok(ctx, opk_writer_add(writer, OPK_SECTION_VALUES, out.data, out.size));
}

static const struct opk_range ranges[3] = { { .kernel = "a" },
	                                    { .kernel = "a" },
	                                    { .kernel = "b" } };

/* Begins v.opk. */
static struct opk_writer *begin_file(struct opk_ctx *ctx)
{
	const struct opk_meta meta = { .kind = "recording",
		                       .chip = "FA100",
		                       .metrics = own,
		                       .metric_count = 1,
		                       .profiler = OPK_PROFILER_RANGE };
	struct opk_writer *writer;

	ck_ok(ctx, opk_writer_new(&writer, ctx, in_folder("v.opk")));
	ck_ok(ctx, opk_writer_add_meta(writer, &meta));
	return writer;
}

/* Makes v.opk with the table of its own, and extra ones. */
static const char *write_file(struct opk_ctx *ctx, const struct extra *extra, size_t count)
{
	static const char *const units[] = { "" };
	static const struct opk_baked_image images[] = { { 3, 0 } };
	const struct opk_given_values given = { own, units, 1, 3, values, "test", images, 1 };
	opk_auto(opk_writer) struct opk_writer *writer = begin_file(ctx);

	ck_ok(ctx, opk_writer_add_place(writer, 1, 0));
	ck_ok(ctx, opk_writer_add_ranges(writer, ranges, 3, sizeof *ranges));
	ck_ok(ctx, opk_writer_add_given_values(writer, ctx, &given));
	for (size_t i = 0; i < count; i++)
		for (uint32_t j = 0; j < (extra[i].times ? extra[i].times : 1); j++)
			add_extra(ctx, writer, &extra[i]);
	ck_ok(ctx, opk_writer_finish(writer));
	return in_folder("v.opk");
}

static int evaluate(struct opk_ctx *ctx, const char *made, const char *also)
{
	const char *const metrics[] = { own[0], also };
	struct opk_eval_options options = OPK_INIT(options);
	opk_auto(opk_evaluation) struct opk_evaluation *evaluation = NULL;
	opk_auto(opk_file) struct opk_file *file = NULL;
	const struct opk_row *row;
	size_t rows = 0;

	options.metrics = metrics;
	options.metric_count = also ? 2 : 1;
	TRY(opk_file_open(&file, ctx, made));
	TRY(opk_eval_file(&evaluation, ctx, file, &options));
	for (;;) {
		TRY(opk_evaluation_next(&row, ctx, evaluation));
		if (!row)
			break;
		ck_assert(row->values[0] == values[rows++]);
	}
	ck_assert_uint_eq(rows, 3);
	return OPK_OK;
}

#define METRIC(...)                                                                                \
	{                                                                                          \
		OPK_VALUE_METRIC, 1, __VA_ARGS__                                                   \
	}
#define GROUP(...)                                                                                 \
	{                                                                                          \
		OPK_VALUE_GROUP, 1, __VA_ARGS__                                                    \
	}

static const char no_later[] = "a column is stored in a way that a later offpeak knows";
static const struct tables_row {
	struct here here;
	struct extra extra[2];
	const char *also;     /* asked for beside a__b.sum */
	const char *problem;  /* what evaluation says; "": nothing */
	const char *verified; /* likewise of verification */
} tables_rows[] = {
	{ HERE, { { 1, 0, 3, 0, { METRIC("c__d.sum", 8) }, 0 } }, "c__d.sum", "", "" },
	/* Tables of the same rows, or of rows after these. */
	{ HERE,
	  { { 1, 0, 2, 0, { METRIC("c__d.sum", 8) }, 0 } },
	  "c__d.sum",
	  "it has 2 rows, and the table before it, which begins with the same row, has 3",
	  "it has 2 row" },
	{ HERE,
	  { { 1, 0, 1, 0, { METRIC("c__d.sum", 8) }, 0 } },
	  NULL,
	  "it has 1 row, and the table before it, which begins with the same row, has 3",
	  "it has 1 row" },
	{ HERE,
	  { { 1, 0, 4, 0, { METRIC("c__d.sum", 8) }, 0 } },
	  "c__d.sum",
	  "it has 4 rows, and the table before it, which begins with the same row, has 3",
	  "it has 4 row" },
	{ HERE,
	  { { 1, 2, 1, 0, { METRIC("c__d.sum", 8) }, 0 } },
	  NULL,
	  "do not follow",
	  "do not follow" },
	{ HERE,
	  { { 1, 3, 1, 0, { METRIC("a__b.sum", 8) }, 0 } },
	  NULL,
	  "more rows than images",
	  "of 4 rows, and the images have 3" },
	/* What nothing asks for may be of a later offpeak. */
	{ HERE, { { 9, 5, 7, 9, { { 1, 77, "c__d.sum", 1 } }, 0 } }, NULL, "", "" },
	{ HERE, { { 1, 0, 3, 0, { { 99, 77, NULL, 1 }, { 99, 77, NULL, 1 } }, 0 } }, NULL, "", "" },
	{ HERE, { { 1, 0, 3, 0, { { 1, 77, "c__d.sum", 1 } }, 0 } }, NULL, "", "" },
	{ HERE, { { 1, 0, 3, 0, { { 1, 77, "c__d.sum", 1 } }, 0 } }, "c__d.sum", no_later, "" },
	{ HERE, { { 1, 0, 3, 0, { { 20, 1, "a__b.sum", 8 } }, 0 } }, NULL, "", "" },
	/* A quotient of too few bytes. */
	{ HERE,
	  { { 1, 0, 3, 0, { { 1, 5, "c__d.sum", 0 } }, 0 } },
	  "c__d.sum",
	  "a column's bytes are not as many as it needs",
	  "a column's bytes are not as many as it needs" },
	/* Columns have an entry for each mean, and one has an entry for each row. */
	{ HERE,
	  { { 3,
	      0,
	      1,
	      1 << 24,
	      { GROUP(NULL, 0), METRIC("c__d.sum", 8), METRIC("e__f.sum", 8) },
	      0 } },
	  NULL,
	  "",
	  "" },
	{ HERE,
	  { { 3, 0, 1 << 24, 1 << 24, { GROUP(NULL, 0), METRIC("c__d.sum", 0) }, 0 } },
	  NULL,
	  "too many entries",
	  "too many entries" },
	/* Many entries of few bytes: 5 and 4 times 2^25. */
	{ HERE,
	  { { 2, 0, 1, 1 << 24, { GROUP(NULL, 0), METRIC("c__d.sum", 8) }, 9 } },
	  NULL,
	  "more than a file of this size",
	  "more than a file of this size" },
	{ HERE,
	  { { 2, 0, 1, 1 << 24, { GROUP(NULL, 0), METRIC("c__d.sum", 8) }, 8 } },
	  NULL,
	  "",
	  "" },
	{ HERE,
	  { { 3, 0, 1 << 25, 0, { METRIC("c__d.sum", 0) }, 5 } },
	  NULL,
	  "more than a file of this size",
	  "more than a file of this size" },
};

static const char *verify(struct opk_ctx *ctx, const char *made)
{
	static char problem[256];
	struct opk_listing *found;

	*problem = '\0';
	ck_ok(ctx, opk_verify(&found, ctx, made, NULL));
	for (size_t i = 0; i < opk_listing_count(found) && !*problem; i++) {
		const char *text = finding_of(found, i).problem;

		snprintf(problem, sizeof problem, "%s", text ? text : "");
	}
	opk_listing_free(found);
	return problem;
}

CTX_TEST_EACH(tables, tables_rows)
{
	size_t count = 0;
	const char *made;
	int code;

	while (count < COUNT(row->extra) && row->extra[count].kind)
		count++;
	made = write_file(ctx, row->extra, count);
	code = evaluate(ctx, made, row->also);
	ck_row(row,
	       *row->problem ? code == OPK_EINPUT && strstr(errors_of(ctx), row->problem) : !code,
	       "evaluation: %d, %s", code, errors_of(ctx));
	opk_clear_errors(ctx);
	ck_row(row,
	       *row->verified ? !!strstr(verify(ctx, made), row->verified) : !*verify(ctx, made),
	       "verification: %s", verify(ctx, made));
}

/* ---- values of other images than the file has ------------------------------------------------ */

/* The file has an image of two rows, and one of one row. */
static const struct images_row {
	struct here here;
	struct opk_baked_image images[3];
	size_t image_count;
	size_t place; /* bytes of a section ROWS */
	bool values_alone;
	const char *verified;
} images_rows[] = {
	{ HERE, { { 2, 0 }, { 1, 0 } }, 2, 8, false, "" },
	{ HERE, { { 3, 0 } }, 1, 8, false, "its values are of 1 image, and the file has 2" },
	{ HERE,
	  { { 2, 0 }, { 1, 0 }, { 0, 0 } },
	  3,
	  8,
	  false,
	  "its values are of 3 images, and the file has 2" },
	{ HERE,
	  { { 1, 0 }, { 2, 0 } },
	  2,
	  8,
	  false,
	  "its values are of 1 row of image 1, and its tables have 2" },
	{ HERE, { { 2, 0 }, { 1, 0 } }, 2, 9, false, "it has 9 bytes, not 8" },
	{ HERE,
	  { { 2, 0 }, { 1, 0 } },
	  2,
	  8,
	  true,
	  "nothing says how these values were evaluated" },
};

static void add_rows(struct opk_value_sink *sink, struct opk_ctx *ctx)
{
	opk_autovalues struct opk_value_table table = { .kind = OPK_VALUES_OF_ROWS, .count = 3 };
	uint64_t *entries;

	ck_ok(ctx, opk_value_table_add(&entries, &table, ctx, OPK_VALUE_METRIC, own[0], ""));
	for (size_t i = 0; i < 3; i++)
		entries[i] = opk_bits_of(values[i]);
	ck_ok(ctx, opk_sink_add(sink, ctx, &table));
}

CTX_TEST_EACH(other_images, images_rows)
{
	const struct opk_baked baked = { .generator = "test",
		                         .images = row->images,
		                         .image_count = row->image_count };
	opk_auto(opk_writer) struct opk_writer *writer = begin_file(ctx);
	struct opk_value_sink sink = { .writer = writer };
	const char *found;

	for (size_t i = 0; i < 2; i++) {
		ck_ok(ctx,
		      opk_writer_add(writer, OPK_SECTION_LEFT_OUT, "\1\0\0\0\0\0\0\0", row->place));
		ck_ok(ctx, opk_writer_add_ranges(writer, ranges + 2 * i, 2 - i, sizeof *ranges));
	}
	if (!row->values_alone)
		ck_ok(ctx, opk_writer_add_baked(writer, &baked));
	add_rows(&sink, ctx);
	opk_sink_clear(&sink);
	ck_ok(ctx, opk_writer_finish(writer));
	found = verify(ctx, in_folder("v.opk"));
	ck_row(row, *row->verified ? !!strstr(found, row->verified) : !*found, "verification: %s",
	       found);
}

/* ---- tables with more than a reader takes ---------------------------------------------------- */

static const struct fit_row {
	struct here here;
	uint64_t columns, count, members;
	bool fits;
} fit_rows[] = {
	{ HERE, 0, 0, 0, true },           { HERE, 0, 100, 0, true },
	{ HERE, 0, 101, 0, false },        { HERE, 10, 10, 0, true },
	{ HERE, 11, 10, 0, false },        { HERE, 9, 10, 10, true },
	{ HERE, 9, 10, 11, false },        { HERE, 2, UINT64_MAX, 0, false },
	{ HERE, 1, 1, UINT64_MAX, false }, { HERE, (1 << 20) + 1, 0, 0, false },
};

TEST_EACH(fits, fit_rows)
{
	ck_row(row, opk_values_fit(row->columns, row->count, row->members, 100) == row->fits,
	       "not %d", row->fits);
}

/* What can't be written in parts is not written. */
CTX_TEST(too_large)
{
	opk_auto(opk_writer) struct opk_writer *writer = begin_file(ctx);
	struct opk_value_table table = { .kind = OPK_VALUES_OF_ROWS, .count = OPK_MOST_VALUES + 1 };
	struct opk_value_sink sink = { .writer = writer };

	ck_assert_int_eq(opk_sink_add(&sink, ctx, &table), OPK_EFAILED);
	ck_assert(told(ctx, "a table of values can't have 0 columns of 33554433 entries"));
	opk_sink_clear(&sink);
}

static const char *const two[] = { "a__b.sum", "c__d.sum" };

/* Adds metrics of some entries, and remarks unless these are NULL. */
static void add_table(struct opk_value_sink *sink, struct opk_ctx *ctx,
                      struct opk_value_table *table, const double *const *columns,
                      const double *remarks)
{
	uint64_t *entries;

	for (size_t i = 0; i < COUNT(two); i++) {
		if (!columns[i])
			continue;
		ck_ok(ctx, opk_value_table_add(&entries, table, ctx, OPK_VALUE_METRIC, two[i], ""));
		for (uint64_t j = 0; j < table->count; j++)
			entries[j] = opk_bits_of(columns[i][j]);
	}
	if (remarks) {
		ck_ok(ctx,
		      opk_value_table_add(&entries, table, ctx, OPK_VALUE_REMARK, two[1], "part"));
		for (uint64_t j = 0; j < table->count; j++)
			entries[j] = opk_bits_of(remarks[j]);
	}
	ck_ok(ctx, opk_sink_add(sink, ctx, table));
	opk_value_table_clear(table);
}

/* The texts of the first table are stored once. */
static size_t count_tables(struct opk_ctx *ctx, const char *made)
{
	opk_auto(opk_file) struct opk_file *file = NULL;
	size_t found = 0;

	ck_ok(ctx, opk_file_open(&file, ctx, made));
	for (size_t i = 0; i < file->section_count; i++) {
		opk_autofree void *data = NULL;
		size_t size;

		if (file->sections[i].type != OPK_SECTION_VALUES)
			continue;
		ck_ok(ctx, opk_file_read(&data, &size, ctx, file, i));
		ck_assert_uint_eq(((uint8_t *)data)[35] >> 7, found > 0);
		found++;
	}
	return found;
}

static void check_group(const struct opk_value_table *table, uint32_t role, const char *name,
                        double one, double other)
{
	const struct opk_value_column *column = opk_value_table_find(table, role, name);

	ck_assert_ptr_nonnull(column);
	ck_assert_double_eq(opk_double_of(column->entries[0]), one);
	ck_assert_double_eq(opk_double_of(column->entries[1]), other);
}

/* The second group has one row: its a__b.sum is not stored again; its remark is not the row's. */
static const struct parts_row {
	struct here here;
	uint64_t most;
	size_t tables;
} parts_rows[] = { { HERE, 0, 3 }, { HERE, 7, 5 } };

CTX_TEST_EACH(parts, parts_rows)
{
	static const double c[] = { 1, 2, 3 }, said[] = { NAN, NAN, 10 };
	static const double a_means[] = { 7.5, 9 }, c_means[] = { 1.5, 4 },
			    said_of_means[] = { 20, 50 };
	static const size_t group_of[] = { 0, 0, 1 };
	static const struct opk_baked_image images[] = { { 3, 0 } };
	const struct opk_baked baked = { .generator = "test", .images = images, .image_count = 1 };
	const struct opk_value_groups groups = { OPK_VALUES_OF_MEANS, group_of, 3, 2, two,
		                                 COUNT(two) };
	opk_autovalues struct opk_value_table table = { .kind = OPK_VALUES_OF_ROWS, .count = 3 };
	opk_auto(opk_writer) struct opk_writer *writer = begin_file(ctx);
	struct opk_value_sink sink = { .writer = writer, .most = row->most };
	opk_auto(opk_file) struct opk_file *file = NULL;
	bool found;

	ck_ok(ctx, opk_writer_add_place(writer, 1, 0));
	ck_ok(ctx, opk_writer_add_ranges(writer, ranges, 3, sizeof *ranges));
	ck_ok(ctx, opk_writer_add_baked(writer, &baked));
	add_table(&sink, ctx, &table, (const double *[]){ values, c }, said);
	ck_ok(ctx, opk_value_groups_begin(&table, ctx, &groups));
	add_table(&sink, ctx, &table, (const double *[]){ NULL, c_means }, said_of_means);
	ck_ok(ctx, opk_value_groups_begin(&table, ctx, &groups));
	add_table(&sink, ctx, &table, (const double *[]){ a_means, NULL }, NULL);
	opk_sink_clear(&sink);
	ck_ok(ctx, opk_writer_finish(writer));
	ck_assert_str_eq(verify(ctx, in_folder("v.opk")), "");
	ck_assert_uint_eq(count_tables(ctx, in_folder("v.opk")), row->tables);
	ck_ok(ctx, evaluate(ctx, in_folder("v.opk"), NULL));
	ck_ok(ctx, opk_file_open(&file, ctx, in_folder("v.opk")));
	ck_ok(ctx, opk_value_groups_gather(&found, &table, ctx, file, &groups));
	ck_assert(found);
	check_group(&table, OPK_VALUE_METRIC, two[0], 7.5, 9);
	check_group(&table, OPK_VALUE_METRIC, two[1], 1.5, 4);
	check_group(&table, OPK_VALUE_REMARK, two[1], 20, 50);
}

/* Values of other tools are in several tables, too. */
CTX_TEST(many_rows)
{
	enum { ROWS = OPK_VALUES_AT_ONCE / 2 + 2 };
	static const char *const units[] = { "" };
	static const struct opk_baked_image images[] = { { ROWS, 0 } };
	opk_autofree double *all = calloc(ROWS, sizeof *all);
	const struct opk_given_values given = { own, units, 1, ROWS, all, "test", images, 1 };
	opk_auto(opk_writer) struct opk_writer *writer = begin_file(ctx);

	ck_ok(ctx, opk_writer_add_given_values(writer, ctx, &given));
	ck_ok(ctx, opk_writer_finish(writer));
	ck_assert_uint_eq(count_tables(ctx, in_folder("v.opk")), 2);
}

CTX_TEST(long_description)
{
	opk_auto(opk_writer) struct opk_writer *writer = begin_file(ctx);
	opk_autofree char *text = calloc(OPK_MAX_JSON + 1, 1);

	memset(text, 'x', OPK_MAX_JSON);
	ck_assert_int_eq(opk_writer_add_baked(writer, &(struct opk_baked){ .generator = text }),
	                 OPK_EUSAGE);
	ck_assert(told(ctx, "a description of values of more than"));
}

/* ---- the files of one watch ------------------------------------------------------------------ */

/* Each file has an image of two samples, and values of this many. */
static const struct watch_row {
	struct here here;
	size_t rows[2];
	uint64_t most; /* as in struct opk_value_sink: 2 has a table for each metric */
	const char *problem;
} watch_rows[] = {
	{ HERE, { 2, 2 }, 0, "" },
	{ HERE, { 2, 2 }, 2, "" },
	{ HERE, { 1, 3 }, 0, "it has values of more rows than images" },
	{ HERE, { 3, 1 }, 0, "it has values of more rows than images" },
	{ HERE, { 0, 4 }, 0, "it has values of more rows than images" },
	{ HERE, { 2, 1 }, 0, "it lacks the values of some rows" },
};

static void write_watched(struct opk_ctx *ctx, const char *name, size_t part,
                          const struct watch_row *row)
{
	static const struct opk_baked_image images[] = { { 2, 0 } };
	static const struct opk_time times[] = {
		{ 10, 20, 0 }, { 20, 30, 0 }, { 30, 40, 0 }, { 40, 50, 0 }
	};
	static const double a[] = { 1, 2, 3, 4 }, c[] = { 5, 6, 7, 8 };
	const struct opk_meta meta = { .kind = "recording",
		                       .chip = "FA100",
		                       .metrics = two,
		                       .metric_count = 2,
		                       .profiler = OPK_PROFILER_PM };
	const struct opk_baked baked = { .generator = "test", .images = images, .image_count = 1 };
	struct opk_value_table table = { .kind = OPK_VALUES_OF_ROWS, .count = row->rows[part] };
	size_t before = part ? row->rows[0] : 0;
	opk_auto(opk_writer) struct opk_writer *writer = NULL;
	struct opk_value_sink sink = { .most = row->most };

	ck_ok(ctx, opk_writer_new(&writer, ctx, in_folder(name)));
	sink.writer = writer;
	ck_ok(ctx, opk_writer_add_meta(writer, &meta));
	ck_ok(ctx, opk_writer_add(writer, OPK_SECTION_DATA, part ? "two" : "one", 3));
	ck_ok(ctx, opk_writer_add_times(writer, times + 2 * part, 2, sizeof *times));
	ck_ok(ctx, opk_writer_add_baked(writer, &baked));
	add_table(&sink, ctx, &table, (const double *[]){ a + before, c + before }, NULL);
	opk_sink_clear(&sink);
	ck_ok(ctx, opk_writer_finish(writer));
}

/* Reads all rows of both files. */
static int read_watch(struct opk_ctx *ctx, const char *const *paths)
{
	opk_auto(opk_evaluation) struct opk_evaluation *evaluation = NULL;
	opk_auto(opk_file) struct opk_file *file = NULL;
	const struct opk_row *row;
	double next = 1;

	TRY(opk_file_join(&file, ctx, paths, 2));
	TRY(opk_eval_file(&evaluation, ctx, file, NULL));
	for (;;) {
		TRY(opk_evaluation_next(&row, ctx, evaluation));
		if (!row)
			break;
		ck_assert_double_eq(row->values[0], next);
		ck_assert_double_eq(row->values[1], 4 + next++);
	}
	ck_assert_double_eq(next, 5);
	return OPK_OK;
}

CTX_TEST_EACH(watch, watch_rows)
{
	char one[512], other[512];
	int code;

	snprintf(one, sizeof one, "%s", in_folder("one.opk"));
	snprintf(other, sizeof other, "%s", in_folder("two.opk"));
	write_watched(ctx, "one.opk", 0, row);
	write_watched(ctx, "two.opk", 1, row);
	code = read_watch(ctx, (const char *[]){ other, one });
	ck_row(row, *row->problem ? code == OPK_EINPUT && told(ctx, row->problem) : !code, "%d: %s",
	       code, errors_of(ctx));
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* Shares of numbers that another column has are computed from these. */
CTX_TEST(out_of_memory)
{
	static const double whole[] = { 10, 30, 70, 90, 110, 130 },
			    counted[] = { 3, 7, 11, 13, 17, 19 };
	double shares[COUNT(whole)];
	opk_autovalues struct opk_value_table table = { .kind = OPK_VALUES_OF_ROWS,
		                                        .count = COUNT(whole) };
	opk_auto(opk_writer) struct opk_writer *writer = begin_file(ctx);
	struct opk_value_sink sink = { .writer = writer };
	opk_auto(opk_file) struct opk_file *file = NULL;
	long section;

	for (size_t i = 0; i < COUNT(whole); i++)
		shares[i] = 100 * (counted[i] / whole[i]);
	add_table(&sink, ctx, &table, (const double *[]){ whole, shares }, NULL);
	opk_sink_clear(&sink);
	ck_ok(ctx, opk_writer_finish(writer));
	ck_ok(ctx, opk_file_open(&file, ctx, in_folder("v.opk")));
	section = opk_file_find(file, OPK_SECTION_VALUES);
	for (long n = 0; is_short(ctx, n, opk_value_table_check(ctx, file, (size_t)section)); n++)
		opk_clear_errors(ctx);
}

SUITE(.set_up = make_folder, .tear_down = remove_folder);
