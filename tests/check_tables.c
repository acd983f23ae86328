/* SPDX-License-Identifier: BSD-2-Clause */
/* Tables for people: lines, units, narrow terminals, and headings over columns and rows. */
#include "rows.h"
#include "testing.h"

#include "output/output.h"

static const struct {
	struct here here;
	const char *text;
	size_t width;
	const char *wanted;
} texts_on_lines_rows[] = {
	{ HERE, "abcdef", 0, "abcdef" },
	{ HERE, "abcdef", 6, "abcdef" },
	{ HERE, "abcdef", 5, "abcde\nf" },
	{ HERE, "ab cd ef", 5, "ab cd\nef" },
	{ HERE, "ab cdefg", 5, "ab\ncdefg" },
	{ HERE, "sm__inst.sum", 8, "sm__\ninst.sum" },
	{ HERE, "a\xc3\xa9z", 3, "a\xc3\xa9z" },
	{ HERE, "a\xc3\xa9z", 2, "a\xc3\xa9\nz" },
	{ HERE, "\xe2\x82\xac\xe2\x82\xac", 1, "\xe2\x82\xac\n\xe2\x82\xac" },
};

TEST_EACH(texts_on_lines, texts_on_lines_rows)
{
	opk_autobuf struct opk_buf got = { 0 };
	size_t width = row->width ? row->width : SIZE_MAX, skipped = 0, length;

	for (const char *text = row->text; *text; text += length + skipped) {
		length = opk_line_length(text, width, &skipped);
		opk_buf_add_printf(&got, "%s%.*s", got.size ? "\n" : "", (int)length, text);
	}
	opk_buf_add(&got, "", 1);
	ck_row(row, !strcmp((char *)got.data, row->wanted), "got %s", got.data);
}

TEST(records_on_lines)
{
	static const char *const items[] = {
		"one", "two", "three", "four", "five", "six", "seven"
	};
	static const struct opk_column fields[] = { { "name", OPK_CELL_STRING },
		                                    { "n", OPK_CELL_LIST } };
	opk_autofree char *got = NULL;
	struct writing w;

	begin(&w, OPK_FORMAT_TABLE, 16);
	ck_ok(w.ctx, opk_out_record(w.out, fields,
	                            (union opk_cell[]){ { .string = "a name that is long" },
	                                                { .list = { items, 7 } } },
	                            2));
	got = end(&w);
	ck_assert_str_eq(got, "name  a name\n      that is\n      long\n"
	                      "n     one two\n      three four\n      five six ...\n");
}

/* ---- narrow terminals -------------------------------------------------------------------- */

static const struct opk_column wide_columns[] = {
	{ "range", OPK_CELL_UINT },
	{ "name", OPK_CELL_STRING },
	{ "kernel", OPK_CELL_STRING },
	{ "device", OPK_CELL_STRING },
	{ "nvtx", OPK_CELL_STRING },
	{ "dram__bytes.sum", OPK_CELL_DOUBLE },
	{ "time_long_name", OPK_CELL_DOUBLE },
	{ "hit__rate.pct", OPK_CELL_DOUBLE },
};

static char *narrow(size_t width, size_t height)
{
	struct opk_out_options options = OPTIONS(options, .width = width, .height = height);
	struct writing w = { .ctx = new_ctx() };

	ck_ok(w.ctx, opk_out_new(&w.out, w.ctx, &options, collect, &w.buf));
	ck_ok(w.ctx, opk_out_table(w.out, "t", wide_columns, COUNT(wide_columns)));
	ck_ok(w.ctx, opk_out_unit(w.out, 5, "bytes"));
	ck_ok(w.ctx, opk_out_unit(w.out, 6, "nanoseconds"));
	ck_ok(w.ctx, opk_out_unit(w.out, 7, "percent"));
	for (size_t i = 0; i < 2; i++) {
		const union opk_cell row[] = {
			{ .uint = i },
			{ .string = i ? "1" : "0" },
			{ .string = i ? "scale_matrix" : "add" },
			{ .string = "0" },
			{ .string = NULL },
			{ .number = i ? 838860800 : 5e5 },
			{ .number = i ? 12345678 : (double)NAN },
			{ .number = i ? 36.08725785435005 : 0 },
		};

		ck_ok(w.ctx, opk_out_row(w.out, row));
	}
	return end(&w);
}

/* Numbers are never cut, at any width. */
TEST(narrow_tables)
{
	static const struct {
		struct here here;
		size_t width, height;
		const char *wanted;
	} rows[] = {
		{ HERE, 0, 0,
		  "range  name  kernel        device  nvtx  dram__bytes.sum  time_long_name  "
		  "hit__rate.pct\n"
		  "                                                      MB              ms             "
		  " %\n"
		  "    0  0     add           0                         0.5             nan             "
		  " 0\n"
		  "    1  1     scale_matrix  0                      838.86          12.346         "
		  "36.087\n" },
		{ HERE, 70, 0,
		  "all rows: device 0\n"
		  "                       dram__bytes.\n"
		  "range  kernel                   sum  time_long_name  hit__rate.pct\n"
		  "                                 MB              ms              %\n"
		  "    0  add                      0.5             nan              0\n"
		  "    1  scale_matrix          838.86          12.346         36.087\n" },
		{ HERE, 40, 0,
		  "all rows: device 0\n"
		  "                       dram__bytes.\n"
		  "range  kernel                   sum\n"
		  "                                 MB\n"
		  "    0  add                      0.5\n"
		  "    1  scale_matrix          838.86\n"
		  "\n"
		  "range  kernel        time_long_name\n"
		  "                                 ms\n"
		  "    0  add                      nan\n"
		  "    1  scale_matrix          12.346\n"
		  "\n"
		  "range  kernel        hit__rate.pct\n"
		  "                                 %\n"
		  "    0  add                       0\n"
		  "    1  scale_matrix         36.087\n" },
		/* For a pager: lines are not cut. */
		{ HERE, 40, 1,
		  "all rows: device 0\n"
		  "                       dram__bytes.\n"
		  "range  kernel                   sum  time_long_name  hit__rate.pct\n"
		  "                                 MB              ms              %\n"
		  "    0  add                      0.5             nan              0\n"
		  "    1  scale_matrix          838.86          12.346         36.087\n" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		opk_autofree char *got = narrow(rows[i].width, rows[i].height);

		ck_row(&rows[i], !strcmp(got, rows[i].wanted), "got\n%s", got);
	}
	for (size_t width = 1; width < 100; width++) {
		opk_autofree char *got = narrow(width, 0);

		ck_assert_msg(strstr(got, "838.86") && strstr(got, "12.346")
		                      && strstr(got, "36.087"),
		              "width %zu:\n%s", width, got);
	}
}

static const struct {
	struct here here;
	const char *unit;
	double number;
	const char *wanted, *wanted_unit;
} readable_units_rows[] = {
	{ HERE, "bytes", 838860800, "838.86", "MB" },
	{ HERE, "byte", 512, "512", "B" },
	{ HERE, "bytes/second", 2.5e12, "2.5", "TB/s" },
	{ HERE, "byte/second", 40, "40", "B/s" },
	{ HERE, "nanoseconds", 99, "99", "ns" },
	{ HERE, "nanosecond", 23392, "23.392", "us" },
	{ HERE, "second", 2.3392e-5, "23.392", "us" },
	{ HERE, "second", 90, "90", "s" },
	{ HERE, "second", 0, "0", "s" },
	{ HERE, "percent", 99.12345, "99.123", "%" },
	{ HERE, "percent", 1234567, "1234567", "%" },
	{ HERE, "instructions", 16384, "16384", "instructions" },
	{ HERE, "instructions", 2621440, "2.6214", "M instructions" },
	{ HERE, "instructions", -2621440, "-2.6214", "M instructions" },
	{ HERE, "gpc_cycles/second", 1.755e9, "1.755", "G gpc_cycles/s" },
	{ HERE, "instructions/gpc_cycle", 2.5, "2.5", "instructions/gpc_cycle" },
	{ HERE, "unitless", 838860800, "838860800", "" },
	{ HERE, "", 0.000012345678, "1.2346e-05", "" },
	{ HERE, "bytes", (double)INFINITY, "inf", "B" },
};

TEST_EACH(readable_units, readable_units_rows)
{
	opk_autobuf struct opk_buf got = { 0 };
	struct opk_scale scale;

	opk_scale_find(&scale, row->unit, opk_most_of(0, row->number));
	opk_put_readable(&got, row->number / scale.divisor);
	opk_buf_add(&got, "", 1);
	ck_row(row, !strcmp((char *)got.data, row->wanted), "got %s", got.data);
	ck_row(row, !strcmp(scale.unit, row->wanted_unit), "got %s", scale.unit);
}

/* In a long table each row has its own unit. */
TEST(units_of_rows)
{
	static const struct opk_column long_columns[] = { { "unit", OPK_CELL_STRING },
		                                          { "mean", OPK_CELL_DOUBLE },
		                                          { "max", OPK_CELL_DOUBLE } };
	opk_autofree char *got = NULL;
	struct writing w;

	begin(&w, OPK_FORMAT_TABLE, 0);
	ck_ok(w.ctx, opk_out_table(w.out, "t", long_columns, 3));
	ck_ok(w.ctx, opk_out_unit_in(w.out, 0));
	ck_ok(w.ctx, opk_out_row(w.out, (union opk_cell[]){ { .string = "bytes" },
	                                                    { .number = 5e5 },
	                                                    { .number = 2e9 } }));
	ck_ok(w.ctx, opk_out_row(w.out, (union opk_cell[]){ { .string = "unitless" },
	                                                    { .number = 1 },
	                                                    { .number = 2 } }));
	ck_assert_uint_eq(opk_out_row_count(w.out), 2);
	got = end(&w);
	ck_assert_str_eq(got, "unit    mean  max\nGB    0.0005    2\n           1    2\n");
}

/* What is too small for the unit of its column, or of its row, says its own. */
TEST(small_numbers)
{
	static const struct opk_column two[] = { { "bytes", OPK_CELL_DOUBLE },
		                                 { "time", OPK_CELL_DOUBLE },
		                                 { "rate", OPK_CELL_DOUBLE } };
	static const double rows[][3] = { { 4194304, 3, 1.9859e12 },
		                          { 4, 2e-9, 2717391 },
		                          { 420, 0, -1.5 } };
	opk_autofree char *got = NULL;
	struct writing w;

	begin(&w, OPK_FORMAT_TABLE, 0);
	ck_ok(w.ctx, opk_out_table(w.out, "t", two, 3));
	ck_ok(w.ctx, opk_out_unit(w.out, 0, "bytes"));
	ck_ok(w.ctx, opk_out_unit(w.out, 1, "seconds"));
	ck_ok(w.ctx, opk_out_unit(w.out, 2, "byte/second"));
	for (size_t i = 0; i < COUNT(rows); i++)
		ck_ok(w.ctx, opk_out_row(w.out, (union opk_cell[]){ { .number = rows[i][0] },
		                                                    { .number = rows[i][1] },
		                                                    { .number = rows[i][2] } }));
	got = end(&w);
	ck_assert_str_eq(got, "  bytes  time         rate\n"
	                      "     MB     s         TB/s\n"
	                      " 4.1943     3       1.9859\n"
	                      "    4 B  2 ns  2.7174 MB/s\n"
	                      "0.00042     0     -1.5 B/s\n");
}

static const struct {
	struct here here;
	size_t width;
	const char *wanted;
} optional_columns_rows[] = {
	{ HERE, 72,
	  "metric                            mean  min  max  unit  of peak\n"
	  "sm__throughput.avg.pct_of_peak  0.0005  1 B    2  GB    98.2% ########\n" },
	{ HERE, 60,
	  "not shown in 60 characters a line: min, max\n"
	  "metric                            mean  unit  of peak\n"
	  "sm__throughput.avg.pct_of_peak  0.0005  GB    98.2% ########\n" },
	{ HERE, 40,
	  "not shown in 40 characters a line: min,\nmax\n"
	  "metric                  mean  unit\n"
	  "sm__throughput.avg.   0.0005  GB\npct_of_peak\n"
	  "\n"
	  "metric                of peak\n"
	  "sm__throughput.avg.   98.2% ########\npct_of_peak\n" },
};

TEST_EACH(optional_columns, optional_columns_rows)
{
	static const struct opk_column with_extremes[] = {
		{ "metric", OPK_CELL_STRING }, { "mean", OPK_CELL_DOUBLE },
		{ "min", OPK_CELL_DOUBLE },    { "max", OPK_CELL_DOUBLE },
		{ "unit", OPK_CELL_STRING },   { "of peak", OPK_CELL_STRING }
	};
	opk_autofree char *got = NULL;
	struct writing w;

	begin(&w, OPK_FORMAT_TABLE, row->width);
	ck_ok(w.ctx, opk_out_table(w.out, "t", with_extremes, COUNT(with_extremes)));
	ck_ok(w.ctx, opk_out_unit_in(w.out, 4));
	ck_ok(w.ctx, opk_out_optional(w.out, 2));
	ck_ok(w.ctx, opk_out_optional(w.out, 3));
	ck_ok(w.ctx, opk_out_optional(w.out, 64));
	ck_ok(w.ctx,
	      opk_out_row(w.out, (union opk_cell[]){ { .string = "sm__throughput.avg.pct_of_peak" },
	                                             { .number = 5e5 },
	                                             { .number = 1 },
	                                             { .number = 2e9 },
	                                             { .string = "bytes" },
	                                             { .string = "98.2% ########" } }));
	got = end(&w);
	ck_row(row, !strcmp(got, row->wanted), "got\n%s", got);
}

/* ---- names that stay whole -------------------------------------------------------------- */

static const struct {
	struct here here;
	size_t width;
	const char *wanted;
} whole_names_rows[] = {
	{ HERE, 60,
	  "metric                            a  unit\n"
	  "sm__throughput.avg.pct_of_peak  1.5  %\n"
	  "DRAM bytes read a second          2  GB/s\n" },
	{ HERE, 40,
	  "metric                           a  unit\n"
	  "sm__throughput.avg.pct_of_peak\n"
	  "                               1.5  %\n"
	  "DRAM bytes read a second         2  GB/s\n" },
	/* Only what is longer than a line is broken. */
	{ HERE, 28,
	  "metric                          a  unit\n"
	  "sm__throughput.avg.pct_of_\npeak\n"
	  "                              1.5  %\n"
	  "DRAM bytes read a second        2  GB/s\n" },
};

TEST_EACH(whole_names, whole_names_rows)
{
	static const struct opk_column named[] = { { "metric", OPK_CELL_STRING },
		                                   { "a", OPK_CELL_DOUBLE },
		                                   { "unit", OPK_CELL_STRING } };
	opk_autofree char *got = NULL;
	struct writing w;

	begin(&w, OPK_FORMAT_TABLE, row->width);
	ck_ok(w.ctx, opk_out_table(w.out, "t", named, COUNT(named)));
	ck_ok(w.ctx, opk_out_unit_in(w.out, 2));
	ck_ok(w.ctx, opk_out_whole(w.out, 0));
	ck_ok(w.ctx, opk_out_whole(w.out, 64));
	ck_ok(w.ctx,
	      opk_out_row(w.out, (union opk_cell[]){ { .string = "sm__throughput.avg.pct_of_peak" },
	                                             { .number = 1.5 },
	                                             { .string = "percent" } }));
	ck_ok(w.ctx,
	      opk_out_row(w.out, (union opk_cell[]){ { .string = "DRAM bytes read a second" },
	                                             { .number = 2e9 },
	                                             { .string = "bytes/second" } }));
	got = end(&w);
	ck_row(row, !strcmp(got, row->wanted), "got\n%s", got);
}

/* A paragraph before and after tables; programs get none. */
TEST(paragraphs)
{
	static const struct opk_column one[] = { { "a", OPK_CELL_UINT } };
	static const char *const wanted[] = { "one two\nthree\na\n1\nfour\n", "a\n1\n" };

	for (size_t i = 0; i < COUNT(wanted); i++) {
		opk_autofree char *got = NULL;
		struct writing w;

		begin(&w, i ? OPK_FORMAT_CSV : OPK_FORMAT_TABLE, 10);
		ck_ok(w.ctx, opk_out_prose(w.out, "one two three"));
		ck_ok(w.ctx, opk_out_table(w.out, "t", one, COUNT(one)));
		ck_ok(w.ctx, opk_out_row(w.out, (union opk_cell[]){ { .uint = 1 } }));
		ck_ok(w.ctx, opk_out_prose(w.out, "four"));
		got = end(&w);
		ck_assert_str_eq(got, wanted[i]);
	}
}

/* ---- headings --------------------------------------------------------------------------- */

static const struct opk_column plain[] = { { "name", OPK_CELL_STRING },
	                                   { "a", OPK_CELL_UINT },
	                                   { "b", OPK_CELL_UINT },
	                                   { "c", OPK_CELL_UINT } };

static char *with_spans(enum opk_format format, size_t width)
{
	struct writing w;

	begin(&w, format, width);
	ck_ok(w.ctx, opk_out_table(w.out, "t", plain, COUNT(plain)));
	ck_ok(w.ctx, opk_out_span(w.out, "One", 1, 2));
	ck_ok(w.ctx, opk_out_span(w.out, "Nothing", 2, 9));
	ck_ok(w.ctx, opk_out_span(w.out, "Three\033", 3, 1));
	ck_ok(w.ctx, opk_out_row(w.out, (union opk_cell[]){ { .string = "x" },
	                                                    { .uint = 1 },
	                                                    { .uint = 22 },
	                                                    { .uint = 3 } }));
	return end(&w);
}

static const struct {
	struct here here;
	enum opk_format format;
	size_t width;
	const char *wanted;
} headings_over_columns_rows[] = {
	/* Centred over its columns; the last one is widened for a long title. */
	{ HERE, OPK_FORMAT_TABLE, 0,
	  "      One -  Three?\n"
	  "name  a   b       c\n"
	  "x     1  22       3\n" },
	{ HERE, OPK_FORMAT_TABLE, 12,
	  "      One -\nname  a   b\nx     1  22\n\n      Three?\nname  c\nx     3\n" },
	{ HERE, OPK_FORMAT_CSV, 0, "name,a,b,c\nx,1,22,3\n" },
	{ HERE, OPK_FORMAT_JSON, 0, "[{\"name\":\"x\",\"a\":1,\"b\":22,\"c\":3}\n]\n" },
	{ HERE, OPK_FORMAT_NDJSON, 0, "{\"name\":\"x\",\"a\":1,\"b\":22,\"c\":3}\n" },
};

TEST_EACH(headings_over_columns, headings_over_columns_rows)
{
	opk_autofree char *got = with_spans(row->format, row->width);

	ck_row(row, !strcmp(got, row->wanted), "got\n%s", got);
}

static char *with_headings(enum opk_format format, size_t width)
{
	struct writing w;

	begin(&w, format, width);
	ck_ok(w.ctx, opk_out_table(w.out, "t", plain, 2));
	ck_ok(w.ctx, opk_out_row(w.out, (union opk_cell[]){ { .string = "x" }, { .uint = 1 } }));
	ck_ok(w.ctx, opk_out_heading(w.out, "One\n", "Prose that is longer than a line."));
	ck_ok(w.ctx,
	      opk_out_row(w.out, (union opk_cell[]){ { .string = "long" }, { .uint = 200 } }));
	ck_ok(w.ctx, opk_out_heading(w.out, "Two", ""));
	ck_ok(w.ctx, opk_out_row(w.out, (union opk_cell[]){ { .string = "y" }, { .uint = 3 } }));
	ck_ok(w.ctx, opk_out_heading(w.out, "", ""));
	ck_ok(w.ctx, opk_out_row(w.out, (union opk_cell[]){ { .string = "z" }, { .uint = 4 } }));
	return end(&w);
}

static const struct {
	struct here here;
	enum opk_format format;
	size_t width;
	const char *wanted;
} headings_over_rows_rows[] = {
	{ HERE, OPK_FORMAT_TABLE, 0,
	  "name    a\nx       1\n\nOne?\n  Prose that is longer than a line.\nlong  200\n\nTwo\n"
	  "y       3\n\nz       4\n" },
	{ HERE, OPK_FORMAT_TABLE, 16,
	  "name    a\nx       1\n\nOne?\n  Prose that is\n  longer than a\n  line.\nlong  200\n\nTwo\n"
	  "y       3\n\nz       4\n" },
	{ HERE, OPK_FORMAT_CSV, 0, "name,a\nx,1\nlong,200\ny,3\nz,4\n" },
	{ HERE, OPK_FORMAT_NDJSON, 0,
	  "{\"name\":\"x\",\"a\":1}\n{\"name\":\"long\",\"a\":200}\n"
	  "{\"name\":\"y\",\"a\":3}\n{\"name\":\"z\",\"a\":4}\n" },
};

TEST_EACH(headings_over_rows, headings_over_rows_rows)
{
	opk_autofree char *got = with_headings(row->format, row->width);

	ck_row(row, !strcmp(got, row->wanted), "got\n%s", got);
}
