/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows as table, CSV, JSON and NDJSON. */
#include <math.h>

#include "base/json_read.h"
#include "rows.h"
#include "testing.h"

/* ---- one table -------------------------------------------------------------------------- */

TEST(tables)
{
	static const struct {
		struct here here;
		enum opk_format format;
		size_t rows;
		const char *wanted;
	} rows[] = {
		{ HERE, OPK_FORMAT_CSV, 0, "name,n,value,ok,units\n" },
		{ HERE, OPK_FORMAT_CSV, 2,
		  "name,n,value,ok,units\n"
		  "\"a,\"\"b\"\"\",18446744073709551615,0.5,yes,sm l2\n"
		  ",0,nan,no,\n" },
		{ HERE, OPK_FORMAT_JSON, 0, "[]\n" },
		{ HERE, OPK_FORMAT_JSON, 1,
		  "[{\"name\":\"a,\\\"b\\\"\",\"n\":18446744073709551615,\"value\":0.5,\"ok\":true,"
		  "\"units\":[\"sm\",\"l2\"]}\n]\n" },
		{ HERE, OPK_FORMAT_JSON, 2,
		  "[{\"name\":\"a,\\\"b\\\"\",\"n\":18446744073709551615,\"value\":0.5,\"ok\":true,"
		  "\"units\":[\"sm\",\"l2\"]}\n"
		  ",{\"name\":null,\"n\":0,\"value\":null,\"ok\":false,\"units\":[]}\n]\n" },
		{ HERE, OPK_FORMAT_NDJSON, 0, "" },
		{ HERE, OPK_FORMAT_NDJSON, 2,
		  "{\"name\":\"a,\\\"b\\\"\",\"n\":18446744073709551615,\"value\":0.5,\"ok\":true,"
		  "\"units\":[\"sm\",\"l2\"]}\n"
		  "{\"name\":null,\"n\":0,\"value\":null,\"ok\":false,\"units\":[]}\n" },
		{ HERE, OPK_FORMAT_TABLE, 0, "" },
		{ HERE, OPK_FORMAT_TABLE, 2,
		  "name                      n  value  ok   units\n"
		  "a,\"b\"  18446744073709551615    0.5  yes  sm l2\n"
		  "                          0    nan  no\n" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		opk_autofree char *got = NULL;
		struct writing w;

		begin(&w, rows[i].format, 0);
		ck_ok(w.ctx, opk_out_table(w.out, "t", columns, COUNT(columns)));
		for (size_t j = 0; j < rows[i].rows; j++)
			ck_ok(w.ctx, opk_out_row(w.out, cells[j]));
		got = end(&w);
		ck_row(&rows[i], !strcmp(got, rows[i].wanted), "got\n%s", got);
	}
}

static const struct {
	struct here here;
	enum opk_format format;
	const char *wanted;
} nested_rows_rows[] = {
	{ HERE, OPK_FORMAT_JSON,
	  "[{\"n\":0,\"children\":[{\"n\":1,\"children\":[{\"n\":2},{\"n\":3}]},{\"n\":4}]}\n"
	  ",{\"n\":5}\n,{\"n\":6,\"children\":[{\"n\":7}]}\n]\n" },
	{ HERE, OPK_FORMAT_NDJSON,
	  "{\"n\":0,\"children\":[{\"n\":1,\"children\":[{\"n\":2},{\"n\":3}]},{\"n\":4}]}\n"
	  "{\"n\":5}\n{\"n\":6,\"children\":[{\"n\":7}]}\n" },
	{ HERE, OPK_FORMAT_CSV, "n,value\n0,\n1,\n2,\n3,\n4,\n5,\n6,\n7,\n" },
	{ HERE, OPK_FORMAT_TABLE, "n  value\n0\n1\n2\n3\n4\n5\n6\n7\n" },
};

/* Depths, and rows with only the first two cells. */
TEST_EACH(nested_rows, nested_rows_rows)
{
	static const size_t depths[] = { 0, 1, 2, 2, 1, 0, 0, 1 };
	static const struct opk_column two[] = { { "n", OPK_CELL_UINT },
		                                 { "value", OPK_CELL_DOUBLE } };
	opk_autofree char *got = NULL;
	struct writing w;

	begin(&w, row->format, 0);
	ck_ok(w.ctx, opk_out_table(w.out, "t", two, COUNT(two)));
	for (size_t j = 0; j < COUNT(depths); j++)
		ck_ok(w.ctx,
		      opk_out_nested_row(w.out, depths[j], &(union opk_cell){ .uint = j }, 1));
	got = end(&w);
	ck_row(row, !strcmp(got, row->wanted), "got\n%s", got);
}

/* ---- a record with tables ---------------------------------------------------------------- */

static const struct opk_column sub_columns[] = { { "type", OPK_CELL_STRING },
	                                         { "size", OPK_CELL_UINT } };

/* A record, a table of two rows, and an empty one. */
static char *write_record(enum opk_format format)
{
	struct writing w;

	begin(&w, format, 0);
	ck_ok(w.ctx, opk_out_record(w.out, columns, cells[0], COUNT(columns)));
	ck_ok(w.ctx, opk_out_table(w.out, "sections", sub_columns, 2));
	ck_ok(w.ctx, opk_out_row(w.out, (union opk_cell[]){ { .string = "META" }, { .uint = 7 } }));
	ck_ok(w.ctx, opk_out_row(w.out, (union opk_cell[]){ { .string = "a,b" }, { .uint = 8 } }));
	ck_ok(w.ctx, opk_out_table(w.out, "none", sub_columns, 2));
	return end(&w);
}

#define RECORD_AS_JSON                                                                             \
	"{\"name\":\"a,\\\"b\\\"\",\"n\":18446744073709551615,\"value\":0.5,\"ok\":true,"          \
	"\"units\":[\"sm\",\"l2\"],\"sections\":[{\"type\":\"META\",\"size\":7},"                  \
	"{\"type\":\"a,b\",\"size\":8}],\"none\":[]}\n"

static const struct {
	struct here here;
	enum opk_format format;
	const char *wanted;
} records_rows[] = {
	{ HERE, OPK_FORMAT_CSV,
	  "field,value\n"
	  "name,\"a,\"\"b\"\"\"\n"
	  "n,18446744073709551615\n"
	  "value,0.5\n"
	  "ok,yes\n"
	  "units,sm l2\n"
	  "sections[0].type,META\n"
	  "sections[0].size,7\n"
	  "sections[1].type,\"a,b\"\n"
	  "sections[1].size,8\n" },
	{ HERE, OPK_FORMAT_JSON, RECORD_AS_JSON },
	{ HERE, OPK_FORMAT_NDJSON, RECORD_AS_JSON },
	{ HERE, OPK_FORMAT_TABLE,
	  "name   a,\"b\"\n"
	  "n      18446744073709551615\n"
	  "value  0.5\n"
	  "ok     yes\n"
	  "units  sm l2\n"
	  "\n"
	  "type  size\n"
	  "META     7\n"
	  "a,b      8\n"
	  "\n"
	  "none: no rows\n" },
};

TEST_EACH(records, records_rows)
{
	opk_autofree char *got = write_record(row->format);

	ck_row(row, !strcmp(got, row->wanted), "got\n%s", got);
}

TEST(record_alone)
{
	static const char *const wanted[FORMATS] = { "name\n", "field,value\nname,\n",
		                                     "{\"name\":null}\n", "{\"name\":null}\n" };

	for (size_t i = 0; i < FORMATS; i++) {
		opk_autofree char *got = NULL;
		struct writing w;

		begin(&w, (enum opk_format)i, 0);
		ck_ok(w.ctx, opk_out_record(w.out, columns, cells[1], 1));
		got = end(&w);
		ck_assert_str_eq(got, wanted[i]);
	}
}

/* ---- cells ------------------------------------------------------------------------------ */

static const struct {
	struct here here;
	const char *text, *wanted;
} csv_quoting_rows[] = {
	{ HERE, "plain", "plain" },
	{ HERE, "", "\"\"" }, /* many readers skip an empty line */
	{ HERE, " a b ", " a b " },
	{ HERE, "a,b", "\"a,b\"" },
	{ HERE, "a\"b", "\"a\"\"b\"" },
	{ HERE, "\"", "\"\"\"\"" },
	{ HERE, "\"\"", "\"\"\"\"\"\"" },
	{ HERE, "a\nb", "\"a\nb\"" },
	{ HERE, "a\r\nb", "\"a\r\nb\"" },
	{ HERE, "\r", "\"\r\"" },
	{ HERE, "f<a, b>(\"x\")", "\"f<a, b>(\"\"x\"\")\"" },
	{ HERE, "a;b\t'c'", "a;b\t'c'" },
	{ HERE, "\xc3\xa9", "\xc3\xa9" },
};

TEST_EACH(csv_quoting, csv_quoting_rows)
{
	const char *items[] = { row->text };
	opk_autofree char *wanted = opk_printf("c\n%s\n", row->wanted);
	opk_autofree char *as_name = opk_printf("%s\n1\n", row->wanted);
	opk_autofree char *string = one_cell(OPK_FORMAT_CSV,
	                                     (struct opk_column){ "c", OPK_CELL_STRING },
	                                     (union opk_cell){ .string = row->text }, 0);
	opk_autofree char *list = one_cell(OPK_FORMAT_CSV,
	                                   (struct opk_column){ "c", OPK_CELL_LIST },
	                                   (union opk_cell){ .list = { items, 1 } }, 0);
	opk_autofree char *name = one_cell(OPK_FORMAT_CSV,
	                                   (struct opk_column){ row->text, OPK_CELL_UINT },
	                                   (union opk_cell){ .uint = 1 }, 0);

	ck_row(row, !strcmp(string, wanted), "got %s", string);
	ck_row(row, !strcmp(list, wanted), "got %s", list);
	ck_row(row, !strcmp(name, as_name), "got %s", name);
}

/* The names of fields are fields too. */
/* Text that a spreadsheet would compute, and text that it would not. */
TEST(csv_safe)
{
	static const struct {
		struct here here;
		const char *text, *wanted;
	} rows[] = {
		{ HERE, "=1+1", "'=1+1" },
		{ HERE, "+1", "'+1" },
		{ HERE, "-x", "'-x" },
		{ HERE, "@SUM(A1)", "'@SUM(A1)" },
		{ HERE, "\tx", "'\tx" },
		{ HERE, "\rx", "\"'\rx\"" },
		{ HERE, "=a,b", "\"'=a,b\"" },
		{ HERE, "a=b", "a=b" },
		{ HERE, "", "" },
	};
	static const struct opk_column two[] = { { "c", OPK_CELL_STRING },
		                                 { "d", OPK_CELL_DOUBLE } };

	for (size_t i = 0; i < COUNT(rows); i++)
		for (int safe = 0; safe < 2; safe++) {
			struct opk_out_options options = OPTIONS(options, .format = OPK_FORMAT_CSV,
			                                         .csv_safe = safe);
			struct writing w = { .ctx = new_ctx() };
			opk_autofree char *got = NULL, *wanted = NULL;

			ck_ok(w.ctx, opk_out_new(&w.out, w.ctx, &options, collect, &w.buf));
			ck_ok(w.ctx, opk_out_table(w.out, "t", two, 2));
			ck_ok(w.ctx,
			      opk_out_row(w.out, (union opk_cell[]){ { .string = rows[i].text },
			                                             { .number = -1 } }));
			got = end(&w);
			wanted = opk_printf("c,d\n%s,-1\n", rows[i].wanted);
			ck_row(&rows[i], !strcmp(got, wanted) || (!safe && !strchr(got, '\'')),
			       "got %s", got);
		}
}

/* Control characters take a column in a table, as they are shown. */
TEST(cells_of_tables_are_harmless)
{
	static const struct opk_column column = { "c", OPK_CELL_STRING };
	union opk_cell cell = { .string = "a\033[31m\xc2\x9b"
		                          "b\xe2\x80\xae\xff" };
	opk_autofree char *got = one_cell(OPK_FORMAT_TABLE, column, cell, 0);

	ck_assert_str_eq(got, "c\na?[31m?b??\n");
}

TEST(csv_quoting_in_records)
{
	static const struct opk_column odd[] = { { "a,b", OPK_CELL_UINT },
		                                 { "\"", OPK_CELL_UINT } };
	static const union opk_cell ones[] = { { .uint = 1 }, { .uint = 1 } };
	opk_autofree char *got = NULL;
	struct writing w;

	begin(&w, OPK_FORMAT_CSV, 0);
	ck_ok(w.ctx, opk_out_record(w.out, odd, ones, 2));
	ck_ok(w.ctx, opk_out_table(w.out, "t", odd, 2));
	ck_ok(w.ctx, opk_out_row(w.out, ones));
	got = end(&w);
	ck_assert_str_eq(got, "field,value\n\"a,b\",1\n\"\"\"\",1\n"
	                      "\"t[0].a,b\",1\n\"t[0].\"\"\",1\n");
}

TEST(long_table_name_in_records)
{
	static const struct opk_column column = { "c", OPK_CELL_UINT };
	static const union opk_cell one = { .uint = 1 };
	opk_autofree char *got = NULL, *wanted = NULL;
	struct writing w;
	char name[101];

	memset(name, 'n', 100);
	name[100] = '\0';
	begin(&w, OPK_FORMAT_CSV, 0);
	ck_ok(w.ctx, opk_out_record(w.out, &column, &one, 1));
	ck_ok(w.ctx, opk_out_table(w.out, name, &column, 1));
	ck_ok(w.ctx, opk_out_row(w.out, &one));
	got = end(&w);
	wanted = opk_printf("field,value\nc,1\n%s[0].c,1\n", name);
	ck_assert_str_eq(got, wanted);
}

static const struct {
	struct here here;
	enum opk_format format;
	const char *only, *wanted;
} one_alone_rows[] = {
	{ HERE, OPK_FORMAT_CSV, "summary", "field,value\nn,7\n" },
	{ HERE, OPK_FORMAT_CSV, "sections", "type,size\nMETA,7\n" },
	{ HERE, OPK_FORMAT_CSV, "none", "type,size\n" },
	{ HERE, OPK_FORMAT_JSON, "summary", "{\"n\":7}\n" },
	{ HERE, OPK_FORMAT_JSON, "sections", "[{\"type\":\"META\",\"size\":7}\n]\n" },
	{ HERE, OPK_FORMAT_JSON, "none", "[]\n" },
	{ HERE, OPK_FORMAT_NDJSON, "summary", "{\"n\":7}\n" },
	{ HERE, OPK_FORMAT_NDJSON, "sections", "{\"type\":\"META\",\"size\":7}\n" },
	{ HERE, OPK_FORMAT_TABLE, "summary", "n  7\n" },
	{ HERE, OPK_FORMAT_TABLE, "sections", "type  size\nMETA     7\n" },
	{ HERE, OPK_FORMAT_TABLE, "none", "none: no rows\n" },
};

/* Writes only the record, or one of its tables. */
TEST_EACH(one_alone, one_alone_rows)
{
	static const struct opk_column column = { "n", OPK_CELL_UINT };
	static const union opk_cell seven = { .uint = 7 };
	opk_autofree char *got = NULL;
	struct writing w;

	begin_only(&w, row->format, 0, row->only);
	ck_ok(w.ctx, opk_out_record(w.out, &column, &seven, 1));
	ck_ok(w.ctx, opk_out_table(w.out, "sections", sub_columns, 2));
	if (!strcmp(row->only, "none")) {
		ck_ok(w.ctx, opk_out_span(w.out, "left out", 0, 2));
		ck_ok(w.ctx, opk_out_heading(w.out, "left out", "too"));
	}
	ck_ok(w.ctx, opk_out_row(w.out, (union opk_cell[]){ { .string = "META" }, { .uint = 7 } }));
	ck_ok(w.ctx, opk_out_table(w.out, "none", sub_columns, 2));
	got = end(&w);
	ck_row(row, !strcmp(got, row->wanted), "got\n%s", got);
}

static const struct {
	struct here here;
	double number;
	const char *csv, *json, *table;
} numbers_rows[] = {
	{ HERE, 0, "0", "0", "0" },
	{ HERE, -0.0, "-0", "-0", "-0" },
	{ HERE, 1, "1", "1", "1" },
	{ HERE, 0.1, "0.10000000000000001", "0.10000000000000001", "0.1" },
	{ HERE, 1e300, "1.0000000000000001e+300", "1.0000000000000001e+300", "1e+300" },
	{ HERE, 123456789012345678.0, "1.2345678901234568e+17", "1.2345678901234568e+17",
	  "1.2346e+17" },
	/* Five digits; but all digits of a whole number. */
	{ HERE, 838860800, "838860800", "838860800", "838860800" },
	{ HERE, 99999.25, "99999.25", "99999.25", "99999" },
	{ HERE, 36.08725785435005, "36.08725785435005", "36.08725785435005", "36.087" },
	{ HERE, 5e-324, "4.9406564584124654e-324", "4.9406564584124654e-324", "4.9407e-324" },
	{ HERE, (double)NAN, "nan", "null", "nan" },
	{ HERE, -(double)NAN, "nan", "null", "nan" },
	{ HERE, (double)INFINITY, "inf", "null", "inf" },
	{ HERE, -(double)INFINITY, "-inf", "null", "-inf" },
};

TEST_EACH(numbers, numbers_rows)
{
	static const struct opk_column column = { "c", OPK_CELL_DOUBLE };
	union opk_cell cell = { .number = row->number };
	opk_autofree char *csv = one_cell(OPK_FORMAT_CSV, column, cell, 0);
	opk_autofree char *ndjson = one_cell(OPK_FORMAT_NDJSON, column, cell, 0);
	opk_autofree char *table = one_cell(OPK_FORMAT_TABLE, column, cell, 0);
	opk_autofree char *wanted_csv = opk_printf("c\n%s\n", row->csv);
	opk_autofree char *wanted_json = opk_printf("{\"c\":%s}\n", row->json);

	ck_row(row, !strcmp(csv, wanted_csv), "got %s", csv);
	ck_row(row, !strcmp(ndjson, wanted_json), "got %s", ndjson);
	ck_row(row, strstr(table, row->table), "got %s", table);
}

/* An optional number differs from 0. */
TEST(optional_numbers)
{
	static const struct {
		struct here here;
		enum opk_format format;
		const char *known, *unknown;
	} rows[] = {
		{ HERE, OPK_FORMAT_CSV, "a,b\n0,7\n", "a,b\n,7\n" },
		{ HERE, OPK_FORMAT_NDJSON, "{\"a\":0,\"b\":7}\n", "{\"a\":null,\"b\":7}\n" },
		{ HERE, OPK_FORMAT_TABLE, "a  b\n0  7\n", "a  b\n   7\n" },
	};
	static const struct opk_column two[] = { { "a", OPK_CELL_OPTIONAL },
		                                 { "b", OPK_CELL_UINT } };

	for (size_t i = 0; i < COUNT(rows); i++)
		for (int known = 0; known < 2; known++) {
			union opk_cell row[2] = { { .optional = { 0, known } }, { .uint = 7 } };
			opk_autofree char *text = NULL;
			struct writing w;

			begin(&w, rows[i].format, 0);
			ck_ok(w.ctx, opk_out_table(w.out, "t", two, 2));
			ck_ok(w.ctx, opk_out_row(w.out, row));
			text = end(&w);
			ck_row(&rows[i], !strcmp(text, known ? rows[i].known : rows[i].unknown),
			       "%s", text);
		}
}

static const struct {
	struct here here;
	enum opk_format format;
	const char *wanted;
} optional_booleans_rows[] = {
	{ HERE, OPK_FORMAT_CSV, "a,b\nno,7\nyes,7\n,7\n" },
	{ HERE, OPK_FORMAT_NDJSON,
	  "{\"a\":false,\"b\":7}\n{\"a\":true,\"b\":7}\n{\"a\":null,\"b\":7}\n" },
	{ HERE, OPK_FORMAT_TABLE, "a    b\nno   7\nyes  7\n     7\n" },
};

TEST_EACH(optional_booleans, optional_booleans_rows)
{
	static const struct opk_column two[] = { { "a", OPK_CELL_OPTIONAL_BOOL },
		                                 { "b", OPK_CELL_UINT } };
	opk_autofree char *text = NULL;
	struct writing w;

	begin(&w, row->format, 0);
	ck_ok(w.ctx, opk_out_table(w.out, "t", two, 2));
	for (unsigned value = 0; value < 3; value++)
		ck_ok(w.ctx,
		      opk_out_row(w.out, (union opk_cell[]){ { .optional = { value, value < 2 } },
		                                             { .uint = 7 } }));
	text = end(&w);
	ck_row(row, !strcmp(text, row->wanted), "%s", text);
}

static const struct {
	struct here here;
	enum opk_format format;
	const char *wanted;
} numbers_or_words_rows[] = {
	{ HERE, OPK_FORMAT_CSV, "a\n0\n\"none,never\"\n\"\"\n" },
	{ HERE, OPK_FORMAT_NDJSON, "{\"a\":0}\n{\"a\":\"none,never\"}\n{\"a\":null}\n" },
	{ HERE, OPK_FORMAT_TABLE, "         a\n         0\nnone,never\n\n" },
};

TEST_EACH(numbers_or_words, numbers_or_words_rows)
{
	static const struct opk_column column = { "a", OPK_CELL_EITHER };
	static const union opk_cell values[] = {
		{ .either = { NULL, 0 } },
		{ .either = { "none,never", 3 } },
		{ .either = { "", 3 } },
	};
	opk_autofree char *text = NULL;
	struct writing w;

	begin(&w, row->format, 0);
	ck_ok(w.ctx, opk_out_table(w.out, "t", &column, 1));
	for (size_t j = 0; j < COUNT(values); j++)
		ck_ok(w.ctx, opk_out_row(w.out, &values[j]));
	text = end(&w);
	ck_row(row, !strcmp(text, row->wanted), "%s", text);
}

/* Values that are compared have one unit; each column may have another. */
TEST(columns_share_a_unit)
{
	static const struct opk_column four[] = { { "mean", OPK_CELL_DOUBLE },
		                                  { "min", OPK_CELL_DOUBLE },
		                                  { "max", OPK_CELL_DOUBLE },
		                                  { "sum", OPK_CELL_DOUBLE } };
	static const union opk_cell rows[][4] = {
		{ { .number = 1066934 },
		  { .number = 12608 },
		  { .number = 33e6 },
		  { .number = 81e9 } },
		{ { .number = 24545 },
		  { .number = 10336 },
		  { .number = 101060 },
		  { .number = 7e6 } },
	};
	opk_autofree char *text = NULL;
	struct writing w;

	begin(&w, OPK_FORMAT_TABLE, 0);
	ck_ok(w.ctx, opk_out_table(w.out, "t", four, 4));
	for (size_t i = 0; i < 4; i++)
		ck_ok(w.ctx, opk_out_unit(w.out, i, i == 1 || i == 2 ? NULL : "nanoseconds"));
	for (size_t i = 0; i < COUNT(rows); i++)
		ck_ok(w.ctx, opk_out_row(w.out, rows[i]));
	text = end(&w);
	ck_assert_str_eq(text, "    mean       min      max    sum\n"
	                       "      ms        ms       ms      s\n"
	                       "  1.0669  0.012608       33     81\n"
	                       "0.024545  0.010336  0.10106  0.007\n");
}

TEST(doubles_round_trip)
{
	static const struct opk_column column = { "c", OPK_CELL_DOUBLE };
	uint64_t state = 88172645463325252u;

	for (int i = 0; i < 300; i++) {
		opk_autofree char *csv = NULL, *json = NULL;
		double wanted, from_csv, from_json;

		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		memcpy(&wanted, &state, sizeof wanted);
		if (!isfinite(wanted))
			continue;
		csv = one_cell(OPK_FORMAT_CSV, column, (union opk_cell){ .number = wanted }, 0);
		json = one_cell(OPK_FORMAT_NDJSON, column, (union opk_cell){ .number = wanted }, 0);
		from_csv = strtod(csv + strlen("c\n"), NULL);
		from_json = strtod(json + strlen("{\"c\":"), NULL);
		ck_assert_mem_eq(&from_csv, &wanted, sizeof wanted);
		ck_assert_mem_eq(&from_json, &wanted, sizeof wanted);
	}
}

TEST(json_is_json)
{
	static const char *const texts[] = { "\x01\x1f\x7f", "\\\"/\b\f\n\r\t", "\xe2\x82\xac" };

	for (size_t i = 0; i < COUNT(texts); i++) {
		opk_autofree char *got = one_cell(OPK_FORMAT_JSON,
		                                  (struct opk_column){ texts[i], OPK_CELL_STRING },
		                                  (union opk_cell){ .string = texts[i] }, 0);
		freed(opk_ctx) *ctx = new_ctx();
		freed(opk_json) *root = NULL;

		ck_ok(ctx, opk_json_parse(&root, ctx, got, strlen(got)));
		ck_assert_str_eq(opk_json_string(&root->children[0], texts[i]), texts[i]);
	}
}

static const struct {
	struct here here;
	size_t count;
	const char *csv, *json;
} lists_rows[] = {
	{ HERE, 0, "\"\"", "[]" },
	{ HERE, 1, "a", "[\"a\"]" },
	{ HERE, 2, "a ", "[\"a\",\"\"]" },
	{ HERE, 3, "a  b c", "[\"a\",\"\",\"b c\"]" },
};

TEST_EACH(lists, lists_rows)
{
	static const char *const items[] = { "a", "", "b c" };
	static const struct opk_column column = { "c", OPK_CELL_LIST };
	union opk_cell cell = { .list = { items, row->count } };
	opk_autofree char *csv = one_cell(OPK_FORMAT_CSV, column, cell, 0);
	opk_autofree char *ndjson = one_cell(OPK_FORMAT_NDJSON, column, cell, 0);
	opk_autofree char *wanted_csv = opk_printf("c\n%s\n", row->csv);
	opk_autofree char *wanted_json = opk_printf("{\"c\":%s}\n", row->json);

	ck_row(row, !strcmp(csv, wanted_csv), "got %s", csv);
	ck_row(row, !strcmp(ndjson, wanted_json), "got %s", ndjson);
}
