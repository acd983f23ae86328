/* SPDX-License-Identifier: BSD-2-Clause */
/* Tables of values that do not fit together, claim too much, or are of a later offpeak. */
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

/* Makes v.opk with the table of its own, and extra ones. */
static const char *write_file(struct opk_ctx *ctx, const struct extra *extra, size_t count)
{
	static const char *const units[] = { "" };
	static const struct opk_baked_image images[] = { { 3, 0 } };
	static const struct opk_range ranges[3] = { { .kernel = "a" },
		                                    { .kernel = "a" },
		                                    { .kernel = "b" } };
	const struct opk_meta meta = { .kind = "recording",
		                       .chip = "FA100",
		                       .metrics = own,
		                       .metric_count = 1,
		                       .profiler = OPK_PROFILER_RANGE };
	const struct opk_given_values given = { own, units, 1, 3, values, "test", images, 1 };
	opk_auto(opk_writer) struct opk_writer *writer = NULL;

	ck_ok(ctx, opk_writer_new(&writer, ctx, in_folder("v.opk")));
	ck_ok(ctx, opk_writer_add_meta(writer, &meta));
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
	  "another number of rows",
	  "another number of rows" },
	{ HERE,
	  { { 1, 0, 1, 0, { METRIC("c__d.sum", 8) }, 0 } },
	  NULL,
	  "another number of rows",
	  "another number of rows" },
	{ HERE,
	  { { 1, 0, 4, 0, { METRIC("c__d.sum", 8) }, 0 } },
	  "c__d.sum",
	  "another number of rows",
	  "another number of rows" },
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

SUITE(.set_up = make_folder, .tear_down = remove_folder);
