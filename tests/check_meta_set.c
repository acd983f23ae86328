/* SPDX-License-Identifier: BSD-2-Clause */
/* What metadata says of a set beyond its metrics: labels, derived metrics, columns, headings. */
#include "allocation.h"
#include "container/container.h"
#include "containers.h"

#define HEAD "{\"chip\":\"GH100\",\"profiler\":\"range\",\"metrics\":[\"a.b\",\"c.d\",\"e.f\"],"

static int read_meta(struct opk_ctx *ctx, struct opk_file **file, const struct opk_meta **meta,
                     const char *members)
{
	opk_autofree char *text = opk_printf(HEAD "%s}", members);
	struct opk_writer *writer;

	unlink(path);
	ck_ok(ctx, opk_writer_new(&writer, ctx, path));
	ck_ok(ctx, opk_writer_add(writer, OPK_SECTION_META, text, strlen(text)));
	ck_ok(ctx, opk_writer_finish(writer));
	opk_writer_free(writer);
	*file = open_file(ctx);
	return opk_file_meta(meta, ctx, *file);
}

CTX_TEST(read_as_written)
{
	const struct opk_meta *meta;
	freed(opk_file) *file = NULL;

	ck_ok(ctx,
	      read_meta(
		      ctx, &file, &meta,
		      "\"version\":3,\"set_hash\":\"crc32:0\",\"labels\":{\"c.d\":\"_x.1\"},"
		      "\"hidden\":[\"e.f\"],\"derived\":[{\"name\":\"d\",\"formula\":\"?!\","
		      "\"future\":[]},{\"description\":\"D\",\"unit\":\"U\",\"formula\":\"1\","
		      "\"name\":\"d2\"}],\"columns\":[\"d2\",\"_x.1\",\"a.b\"],"
		      "\"headings\":[{\"title\":\"\",\"first\":2,\"count\":1,\"draw\":\"stack\"}],"
		      "\"roofline\":{\"work\":[\"d\",\"a.b\"],\"time\":\"_x.1\",\"roofs\":["
		      "{\"name\":\"L\",\"bytes\":\"a.b\",\"peak\":\"d2\","
		      "\"throughput\":\"d\"},{\"name\":\"R\",\"peak\":\"c.d\",\"work\":"
		      "\"d2\"},{\"name\":\"S\",\"peak\":\"c.d\"}]}"));
	ck_assert_uint_eq(meta->set_version, 3);
	ck_assert_str_eq(meta->set_hash, "crc32:0");
	ck_assert_uint_eq(meta->label_count, 1);
	ck_assert_str_eq(meta->labels[0].metric, "c.d");
	ck_assert_str_eq(meta->labels[0].name, "_x.1");
	ck_assert_uint_eq(meta->hidden_count, 1);
	ck_assert_str_eq(meta->hidden[0], "e.f");
	ck_assert_uint_eq(meta->derived_count, 2);
	ck_assert_str_eq(meta->derived[0].formula, "?!");
	ck_assert_str_eq(meta->derived[0].unit, "");
	ck_assert_str_eq(meta->derived[0].description, "");
	ck_assert_str_eq(meta->derived[1].unit, "U");
	ck_assert_str_eq(meta->derived[1].description, "D");
	ck_assert_uint_eq(meta->column_count, 3);
	ck_assert_str_eq(meta->columns[1], "_x.1");
	ck_assert_uint_eq(meta->heading_count, 1);
	ck_assert_str_eq(meta->headings[0].text, "");
	ck_assert_uint_eq(meta->headings[0].first, 2);
	ck_assert_str_eq(meta->headings[0].draw, "stack");
	ck_assert_str_eq(meta->roofline.title, "");
	ck_assert_uint_eq(meta->roofline.work_count, 2);
	ck_assert_str_eq(meta->roofline.work[1], "a.b");
	ck_assert_str_eq(meta->roofline.time, "_x.1");
	ck_assert_uint_eq(meta->roofline.roof_count, 3);
	ck_assert_str_eq(meta->roofline.roofs[0].bytes, "a.b");
	ck_assert_str_eq(meta->roofline.roofs[1].bytes, "");
	ck_assert_str_eq(meta->roofline.roofs[1].peak, "c.d");
	ck_assert_str_eq(meta->roofline.roofs[0].throughput, "d");
	ck_assert_str_eq(meta->roofline.roofs[1].work, "d2");
	ck_assert_str_eq(meta->roofline.roofs[2].work, "");
}

static const struct bad {
	struct here here;
	const char *members, *wanted;
} bad_rows[] = {
	{ HERE, "\"version\":\"1\"", "version is of the wrong type" },
	{ HERE, "\"version\":-1", "version is out of range" },
	{ HERE, "\"version\":1.5", "version is out of range" },
	{ HERE, "\"version\":4294967296", "version is out of range" },
	{ HERE, "\"set_hash\":1", "hash is of the wrong type" },
	{ HERE, "\"set_hash\":null", "hash is of the wrong type" },
	{ HERE, "\"labels\":[]", "member labels is of the wrong type" },
	{ HERE, "\"labels\":{\"a.b\":1}", "labels: member a.b is of the wrong type" },
	{ HERE, "\"labels\":{\"a.b\":\"\"}", "label 1 is not a usable name" },
	{ HERE, "\"labels\":{\"a.b\":\"x y\"}", "label 1 is not a usable name" },
	{ HERE, "\"labels\":{\"a.b\":\"1x\"}", "label 1 is not a usable name" },
	{ HERE, "\"labels\":{\"a.b\":\".x\"}", "label 1 is not a usable name" },
	{ HERE, "\"labels\":{\"a.b\":\"x\\u00e9\"}", "label 1 is not a usable name" },
	{ HERE, "\"labels\":{\"x.y\":\"x\"}", "label 'x' is of 'x.y', which is not a metric" },
	{ HERE, "\"labels\":{\"a.b\":\"x\",\"a.b\":\"y\"}", "metric a.b has two labels" },
	{ HERE, "\"labels\":{\"a.b\":\"x\",\"c.d\":\"x\"}", "'x' is used twice" },
	{ HERE, "\"labels\":{\"a.b\":\"c.d\"}", "'c.d' is used twice" },
	{ HERE, "\"labels\":{\"a.b\":\"a.b\"}", "'a.b' is used twice" },
	{ HERE, "\"labels\":{\"a.b\":\"p\",\"c.d\":\"q\",\"e.f\":\"r\",\"a.b\":\"s\"}",
	  "more labels than metrics" },
	{ HERE, "\"hidden\":{}", "member hidden is of the wrong type" },
	{ HERE, "\"hidden\":[1]", "hidden 1 is not a text" },
	{ HERE, "\"hidden\":[\"x\"]", "'x' is hidden and not a metric" },
	{ HERE, "\"hidden\":[\"a.b\",\"a.b\"]", "'a.b' is hidden twice" },
	{ HERE, "\"labels\":{\"a.b\":\"x\"},\"hidden\":[\"x\"]", "'x' is hidden and not a metric" },
	{ HERE, "\"derived\":{}", "member derived is of the wrong type" },
	{ HERE, "\"derived\":[1]", "derived 1 is not an object" },
	{ HERE, "\"derived\":[[]]", "derived 1 is not an object" },
	{ HERE, "\"derived\":[{\"name\":1,\"formula\":\"1\"}]", "member name is of the wrong" },
	{ HERE, "\"derived\":[{\"name\":\"d\",\"formula\":1}]", "derived 1: member formula" },
	{ HERE, "\"derived\":[{\"name\":\"d\",\"formula\":\"1\",\"unit\":[]}]", "member unit is" },
	{ HERE, "\"derived\":[{\"name\":\"d\",\"formula\":\"1\",\"description\":{}}]",
	  "wrong type" },
	{ HERE, "\"derived\":[{\"formula\":\"1\"}]", "derived metric 1 has no usable name" },
	{ HERE, "\"derived\":[{\"name\":\"a b\",\"formula\":\"1\"}]",
	  "metric 1 has no usable name" },
	{ HERE, "\"derived\":[{\"name\":\"d\"}]", "derived metric 'd' has no formula" },
	{ HERE, "\"derived\":[{\"name\":\"d\",\"formula\":\"\"}]", "'d' has no formula" },
	{ HERE, "\"derived\":[{\"name\":\"c.d\",\"formula\":\"1\"}]", "'c.d' is used twice" },
	{ HERE,
	  "\"derived\":[{\"name\":\"d\",\"formula\":\"1\"},{\"name\":\"d\",\"formula\":\"2\"}]",
	  "'d' is used twice" },
	{ HERE, "\"labels\":{\"a.b\":\"d\"},\"derived\":[{\"name\":\"d\",\"formula\":\"1\"}]",
	  "'d' is used twice" },
	{ HERE, "\"columns\":\"a.b\"", "member columns is of the wrong type" },
	{ HERE, "\"columns\":[null]", "columns 1 is not a text" },
	{ HERE, "\"columns\":[\"a.b\",\"x\"]", "column 'x' is not a metric, label or derived" },
	{ HERE, "\"columns\":[\"a.b\",\"c.d\",\"a.b\"]", "column 'a.b' is hidden, or is there" },
	{ HERE, "\"labels\":{\"a.b\":\"x\"},\"columns\":[\"a.b\",\"x\"]",
	  "column 'x' is hidden, or" },
	{ HERE, "\"hidden\":[\"a.b\"],\"columns\":[\"a.b\"]", "column 'a.b' is hidden, or" },
	{ HERE, "\"headings\":{}", "member headings is of the wrong type" },
	{ HERE, "\"headings\":[\"x\"]", "headings 1 is not an object" },
	{ HERE, "\"headings\":[{\"title\":1,\"first\":0,\"count\":1}]",
	  "headings 1: member title" },
	{ HERE, "\"headings\":[{\"text\":1,\"first\":0,\"count\":1}]", "headings 1: member text" },
	{ HERE, "\"headings\":[{\"title\":\"t\",\"count\":1}]", "member first is missing" },
	{ HERE, "\"headings\":[{\"title\":\"t\",\"first\":0,\"count\":-1}]",
	  "count is out of range" },
	{ HERE, "\"headings\":[{\"title\":\"t\",\"first\":4,\"count\":0}]",
	  "not over the 3 columns" },
	{ HERE, "\"headings\":[{\"title\":\"t\",\"first\":1,\"count\":3}]",
	  "not over the 3 columns" },
	{ HERE, "\"headings\":[{\"title\":\"t\",\"first\":1,\"count\":18446744073709551615}]",
	  "not over the 3 columns" },
	{ HERE, "\"hidden\":[\"a.b\"],\"headings\":[{\"title\":\"t\",\"first\":0,\"count\":3}]",
	  "not over the 2 columns" },
	{ HERE, "\"columns\":[\"a.b\"],\"headings\":[{\"title\":\"t\",\"first\":0,\"count\":2}]",
	  "not over the 1 columns" },
	{ HERE, "\"headings\":[{\"title\":\"t\",\"first\":0,\"count\":1,\"draw\":1}]",
	  "headings 1: member draw is" },
	{ HERE, "\"roofline\":[]", "member roofline is of the wrong type" },
	{ HERE, "\"roofline\":{\"time\":1}", "roofline: member time is" },
	{ HERE, "\"roofline\":{\"work\":[1]}", "work 1 is not a text" },
	{ HERE, "\"roofline\":{\"roofs\":[{\"peak\":1}]}", "roofs 1: member peak is" },
	{ HERE, "\"roofline\":{\"time\":\"x\",\"roofs\":[{\"peak\":\"a.b\"}]}",
	  "the roofline: 'x' is not a metric" },
	{ HERE, "\"roofline\":{\"time\":\"a.b\",\"work\":[\"x\"],\"roofs\":[{\"peak\":\"a.b\"}]}",
	  "the roofline: 'x' is not a metric" },
	{ HERE, "\"roofline\":{\"time\":\"a.b\",\"roofs\":[{\"bytes\":\"x\",\"peak\":\"a.b\"}]}",
	  "the roofline: 'x' is not a metric" },
	{ HERE, "\"roofline\":{\"time\":\"a.b\",\"roofs\":[{\"peak\":\"a.b\",\"work\":\"x\"}]}",
	  "the roofline: 'x' is not a metric" },
	{ HERE,
	  "\"roofline\":{\"time\":\"a.b\",\"roofs\":[{\"peak\":\"a.b\",\"throughput\":\"x\"}]}",
	  "the roofline: 'x' is not a metric" },
	{ HERE, "\"roofline\":{\"time\":\"a.b\",\"roofs\":[{\"name\":\"r\"}]}",
	  "the roofline: '' is not a metric" },
};

CTX_TEST_EACH(bad_members, bad_rows)
{
	const struct opk_meta *meta = NULL;
	freed(opk_file) *file = NULL;
	int code = read_meta(ctx, &file, &meta, row->members);

	ck_row(row, code == OPK_EINPUT && !meta, "code %d", code);
	ck_row(row, strstr(opk_error_message(ctx, 0), row->wanted), "%s", errors_of(ctx));
	ck_row(row, strstr(opk_error_message(ctx, 1), "section 1 (META)"), "%s", errors_of(ctx));
}

static const struct {
	struct here here;
	const char *key, *item;
	size_t count;
	const char *wanted;
} too_much_rows[] = {
	{ HERE, "derived", "{\"name\":\"d%zu\",\"formula\":\"1\"}", 10001, "more than 10000" },
	{ HERE, "derived", "{\"name\":\"d%zu\",\"formula\":\"1%01100d\"}", 1000,
	  "formulas of more than 1048576 bytes" },
	{ HERE, "headings", "{\"title\":\"\",\"first\":0,\"count\":0}", 10001, "more than 10000" },
	{ HERE, "columns", "\"a.b\"", 100000, "is there twice" },
};

/* Sets over the limits are refused quickly. */
CTX_TEST_EACH(too_much, too_much_rows)
{
	opk_autobuf struct opk_buf buf = { 0 };
	const struct opk_meta *meta;
	freed(opk_file) *file = NULL;

	opk_buf_add_printf(&buf, "\"%s\":[", row->key);
	for (size_t j = 0; j < row->count; j++) {
		char item[2000];

		snprintf(item, sizeof item, row->item, j, 0);
		opk_buf_add_printf(&buf, "%s%s", j ? "," : "", item);
	}
	opk_buf_add(&buf, "]", 2);
	ck_code(ctx, read_meta(ctx, &file, &meta, (const char *)buf.data), OPK_EINPUT);
	ck_row(row, told(ctx, row->wanted), "%s", errors_of(ctx));
}

/* The writer refuses what readers would refuse. */
CTX_TEST(refused)
{
	static const struct opk_meta_label nowhere[] = { { "x.y", "x" } };
	static const struct opk_meta_label nameless[] = { { "sm__cycles.sum", NULL } };
	static const struct opk_meta_derived empty[] = { { "d", NULL, NULL, NULL } };
	static const struct opk_meta_heading wide[] = { { "t", NULL, 0, 3, NULL } };
	static const char *const none[] = { "x" };
	static const struct {
		struct here here;
		struct opk_meta lists;
		const char *wanted;
	} rows[] = {
		{ HERE, { .labels = nowhere, .label_count = 1 }, "'x.y', which is not a metric" },
		{ HERE, { .labels = nameless, .label_count = 1 }, "label 1 is not a usable name" },
		{ HERE, { .derived = empty, .derived_count = 1 }, "'d' has no formula" },
		{ HERE, { .hidden = none, .hidden_count = 1 }, "'x' is hidden" },
		{ HERE, { .columns = none, .column_count = 1 }, "column 'x' is not a metric" },
		{ HERE, { .headings = wide, .heading_count = 1 }, "not over the 2 columns" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct opk_meta meta = rows[i].lists;
		freed(opk_writer) *writer = NULL;

		meta.chip = "A";
		meta.metrics = metric_names;
		meta.metric_count = 2;
		unlink(path);
		ck_ok(ctx, opk_writer_new(&writer, ctx, path));
		ck_row_ends(&rows[i], ctx, opk_writer_add_meta(writer, &meta), OPK_EUSAGE,
		            rows[i].wanted);
	}
}

/* Without a set's members the metadata is the same as in earlier versions. */
TEST(nothing_to_say)
{
	static const struct opk_meta plain = {
		.chip = "A", .metrics = metric_names, .metric_count = 1, .set_hash = ""
	};
	opk_autobuf struct opk_buf buf = { 0 };

	opk_meta_to_json(&buf, &plain);
	opk_buf_add(&buf, "", 1);
	ck_assert_str_eq((char *)buf.data, "{\"chip\":\"A\",\"profiler\":\"range\",\"metrics\":["
	                                   "\"sm__cycles.sum\"],\"keep_instances\":false}");
}

TEST(differences)
{
	static const char *const other[] = { "UNIT.Set.a__b.avg", "x", "y" };
	struct opk_meta_derived derived[2] = { full_derived[0], full_derived[1] };
	struct opk_meta_heading headings[2] = { full_headings[0], full_headings[1] };
	struct opk_meta_label label = full_labels[0];
	struct opk_meta meta = full_meta;

	ck_assert(same_set(&meta, &full_meta));
#define CK_DIFFERS(change)                                                                         \
	do {                                                                                       \
		meta = full_meta;                                                                  \
		change;                                                                            \
		ck_assert(!same_set(&meta, &full_meta));                                           \
		ck_assert(!same_set(&full_meta, &meta));                                           \
	} while (0)
	CK_DIFFERS(meta.set_version = 3);
	CK_DIFFERS(meta.set_hash = NULL);
	CK_DIFFERS(meta.label_count = 0);
	CK_DIFFERS(meta.hidden_count = 0);
	CK_DIFFERS(meta.hidden = other);
	CK_DIFFERS(meta.derived_count = 1);
	CK_DIFFERS(meta.columns = other);
	CK_DIFFERS(meta.column_count = 2);
	CK_DIFFERS(meta.heading_count = 1);
	label.name = "ba";
	CK_DIFFERS(meta.labels = &label);
	derived[1].description = "other";
	CK_DIFFERS(meta.derived = derived);
	derived[1] = full_derived[1];
	derived[0].formula = "ab / 3";
	CK_DIFFERS(meta.derived = derived);
	headings[1].first = 2;
	CK_DIFFERS(meta.headings = headings);
	headings[1] = full_headings[1];
	headings[0].text = NULL;
	CK_DIFFERS(meta.headings = headings);
#undef CK_DIFFERS
}

CTX_TEST(meaning_of_names)
{
	struct opk_meta_names names;
	const struct opk_meta_name *found;

	ck_ok(ctx, opk_meta_names_init(&names, ctx, &full_meta));
	found = opk_meta_names_find(&names, "ab");
	ck_assert(found && found->label && !found->derived && found->index == 1);
	found = opk_meta_names_find(&names, "UNIT.Set.a__b.avg");
	ck_assert(found && !found->label && !found->derived && found->index == 1);
	found = opk_meta_names_find(&names, "twice");
	ck_assert(found && found->derived && found->index == 1);
	ck_assert_ptr_null(opk_meta_names_find(&names, "Twice"));
	opk_meta_names_clear(&names);
	ck_assert_ptr_null(opk_meta_names_find(&names, "ab"));
}

CTX_TEST(without_memory)
{
	struct opk_writer *writer;
	bool failed = true;

	unlink(path);
	ck_ok(ctx, opk_writer_new(&writer, ctx, path));
	ck_ok(ctx, opk_writer_add_meta(writer, &full_meta));
	ck_ok(ctx, opk_writer_finish(writer));
	opk_writer_free(writer);
	for (long n = 0; failed; n++) {
		freed(opk_file) *file = open_file(ctx);
		const struct opk_meta *meta;

		failed = is_short(ctx, n, opk_file_meta(&meta, ctx, file));
	}
}

SUITE(.set_up = make_path, .tear_down = remove_path);
