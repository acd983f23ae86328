/* SPDX-License-Identifier: BSD-2-Clause */
/* Tables for people: what is cut, and what stands over columns and rows. */
#include "rows.h"
#include "testing.h"

START_TEST(lines_are_cut)
{
	static const struct {
		struct here here;
		const char *text;
		size_t width;
		const char *wanted;
	} rows[] = {
		{ HERE, "abcdef", 0, "abcdef" },
		{ HERE, "abcdef", 6, "abcdef" },
		{ HERE, "abcdef", 7, "abcdef" },
		{ HERE, "abcdef", 5, "ab..." },
		{ HERE, "abcdef", 4, "a..." },
		{ HERE, "abcdef", 3, "abc" },
		{ HERE, "abcdef", 1, "a" },
		{ HERE, "abc   ", 3, "abc" },
		{ HERE, "a\xc3\xa9z", 3, "a\xc3\xa9" },
		{ HERE, "a\xc3\xa9z", 2, "a" },
		{ HERE, "\xc3\xa9", 1, "" },
		{ HERE, "\xe2\x82\xac\xe2\x82\xaczz", 6, "\xe2\x82\xac..." },
		{ HERE, "\xe2\x82\xac\xe2\x82\xac", 5, "..." },
		{ HERE, "\xe2\x82\xac\xe2\x82\xac", 4, "..." },
		{ HERE, "\xe2\x82\xac\xe2\x82\xac", 3, "\xe2\x82\xac" },
		{ HERE, "\xf0\x9f\x98\x80z", 3, "" },
		{ HERE, "\xf0\x9f\x98\x80zzzz", 7, "\xf0\x9f\x98\x80..." },
	};
	static const struct opk_column column = { "c", OPK_CELL_STRING };

	for (size_t i = 0; i < COUNT(rows); i++) {
		union opk_cell cell = { .string = rows[i].text };
		opk_autofree char *got = one_cell(OPK_TABLE, column, cell, rows[i].width);
		opk_autofree char *wanted = opk_printf("c\n%s\n", rows[i].wanted);

		ck_row(&rows[i], !strcmp(got, wanted), "got %s", got);
	}
}
END_TEST

START_TEST(records_are_cut)
{
	static const struct opk_column column = { "name", OPK_CELL_STRING };
	opk_autofree char *got = NULL, *csv = NULL;
	struct writing w;

	begin(&w, OPK_TABLE, 8);
	ck_ok(w.ctx, opk_out_record(w.out, &column, &(union opk_cell){ .string = "abcdef" }, 1));
	got = end(&w);
	ck_assert_str_eq(got, "name ...\n");
	csv = one_cell(OPK_CSV, column, (union opk_cell){ .string = "abcdef" }, 3);
	ck_assert_str_eq(csv, "name\nabcdef\n");
}
END_TEST

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

START_TEST(headings_over_columns)
{
	static const struct {
		struct here here;
		enum opk_format format;
		size_t width;
		const char *wanted;
	} rows[] = {
		/* Drawn out over its columns; the last one makes room for a long title. */
		{ HERE, OPK_TABLE, 0,
		  "      One -  Three?\n"
		  "name  a   b       c\n"
		  "x     1  22       3\n" },
		{ HERE, OPK_TABLE, 12, "      One...\nname  a  ...\nx     1  ...\n" },
		{ HERE, OPK_CSV, 0, "name,a,b,c\nx,1,22,3\n" },
		{ HERE, OPK_JSON, 0, "[{\"name\":\"x\",\"a\":1,\"b\":22,\"c\":3}\n]\n" },
		{ HERE, OPK_NDJSON, 0, "{\"name\":\"x\",\"a\":1,\"b\":22,\"c\":3}\n" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		opk_autofree char *got = with_spans(rows[i].format, rows[i].width);

		ck_row(&rows[i], !strcmp(got, rows[i].wanted), "got\n%s", got);
	}
}
END_TEST

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

START_TEST(headings_over_rows)
{
	static const struct {
		struct here here;
		enum opk_format format;
		size_t width;
		const char *wanted;
	} rows[] = {
		{ HERE, OPK_TABLE, 0,
		  "name    a\nx       1\n\nOne?\n  Prose that is longer than a line.\nlong  200\n\nTwo\n"
		  "y       3\n\nz       4\n" },
		{ HERE, OPK_TABLE, 16,
		  "name    a\nx       1\n\nOne?\n  Prose that is\n  longer than a\n  line.\nlong  200\n\nTwo\n"
		  "y       3\n\nz       4\n" },
		{ HERE, OPK_CSV, 0, "name,a\nx,1\nlong,200\ny,3\nz,4\n" },
		{ HERE, OPK_NDJSON, 0,
		  "{\"name\":\"x\",\"a\":1}\n{\"name\":\"long\",\"a\":200}\n"
		  "{\"name\":\"y\",\"a\":3}\n{\"name\":\"z\",\"a\":4}\n" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		opk_autofree char *got = with_headings(rows[i].format, rows[i].width);

		ck_row(&rows[i], !strcmp(got, rows[i].wanted), "got\n%s", got);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tables");
	TCase *tests = tcase_create("tables");

	tcase_add_test(tests, lines_are_cut);
	tcase_add_test(tests, records_are_cut);
	tcase_add_test(tests, headings_over_columns);
	tcase_add_test(tests, headings_over_rows);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
