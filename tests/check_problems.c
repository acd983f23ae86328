/* SPDX-License-Identifier: BSD-2-Clause */
/* Places of errors in text files; and lookup of names: globs, the index. */
#include "allocation.h"
#include "base/glob.h"
#include "base/index.h"
#include "base/problems.h"
#include "testing.h"

/* ---- lines and carets ------------------------------------------------------------------- */

/* A line of 200 characters, numbered by tens. */
#define TEN(digit) digit "........."
#define FIVE(a, b, c, d, e) TEN(a) TEN(b) TEN(c) TEN(d) TEN(e)
#define FIRST_HALF FIVE("0", "1", "2", "3", "4") FIVE("5", "6", "7", "8", "9")
#define LONG FIRST_HALF FIVE("a", "b", "c", "d", "e") FIVE("f", "g", "h", "i", "j")

static const struct {
	struct here here;
	const char *text;
	size_t line, column;
	const char *shown; /* NULL: nothing */
	size_t caret;      /* blanks before it */
} shown_lines_rows[] = {
	{ HERE, "a: b", 1, 1, "a: b", 0 },
	{ HERE, "a: b", 1, 4, "a: b", 3 },
	{ HERE, "a\nbc\n", 2, 2, "bc", 1 },
	{ HERE, "a\r\nbc\r\nd", 2, 2, "bc", 1 },
	{ HERE, "a\rbc\rd", 2, 2, "bc", 1 },
	{ HERE,
	  "a\xc2\x85"
	  "bc",
	  2, 1, "bc", 0 },
	{ HERE,
	  "a\xe2\x80\xa8"
	  "bc\xe2\x80\xa9"
	  "d",
	  3, 1, "d", 0 },
	/* After the end of the line, and of the file. */
	{ HERE, "ab", 1, 3, "ab", 2 },
	{ HERE, "ab", 1, 99, "ab", 2 },
	{ HERE, "ab\n", 2, 1, NULL, 0 },
	{ HERE, "", 1, 1, NULL, 0 },
	{ HERE, "ab\n", 3, 1, NULL, 0 },
	/* Columns are characters. */
	{ HERE, "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80x", 1, 4,
	  "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80x", 3 },
	{ HERE,
	  "\xef\xbb\xbf"
	  "ab",
	  1, 2, "ab", 1 },
	{ HERE, "a\xff\xc3x", 1, 4, "a??x", 3 },
	/* Control characters must not reach a terminal. */
	{ HERE, "a\x1b[2Jb", 1, 6, "a?[2Jb", 5 },
	{ HERE,
	  "a\x7f"
	  "b",
	  1, 3, "a?b", 2 },
	{ HERE, "\ta", 1, 2, "        a", 8 },
	{ HERE, "ab\tc\td", 1, 6, "ab      c       d", 16 },
	{ HERE, "ab\tc", 1, 3, "ab      c", 2 },
	{ HERE,
	  "\xff\xfe"
	  "a\0",
	  1, 1, NULL, 0 },
	{ HERE,
	  "\xfe\xff\0"
	  "a",
	  1, 1, NULL, 0 },
	/* Long lines show the part around the place. */
	{ HERE, LONG, 1, 1,
	  TEN("0") TEN("1") TEN("2") TEN("3") TEN("4") TEN("5") TEN("6") TEN("7") TEN("8") TEN("9")
	          TEN("a") TEN("b") "...",
	  0 },
	{ HERE, LONG, 1, 101,
	  "..." TEN("4") TEN("5") TEN("6") TEN("7") TEN("8") TEN("9") TEN("a") TEN("b") TEN("c")
	          TEN("d") TEN("e") TEN("f") "...",
	  63 },
	{ HERE, LONG, 1, 201, "..." TEN("e") TEN("f") TEN("g") TEN("h") TEN("i") TEN("j"), 63 },
};

TEST_EACH(shown_lines, shown_lines_rows)
{
	size_t size = strlen(row->text);
	opk_auto(opk_source) struct opk_source *source = opk_source_new("t", row->text,
	                                                                size < 3 ? size : size);
	struct opk_place place = { source, row->line, row->column };
	opk_autofree char *line = NULL;
	opk_autofree char *caret = NULL;
	bool shown = opk_place_show(&line, &caret, &place);

	ck_row(row, shown == (row->shown != NULL), "shown: %s", line);
	if (!shown)
		return;
	ck_row(row, !strcmp(line, row->shown), "got %s", line);
	ck_row(row, strlen(caret) == row->caret + 1 && caret[row->caret] == '^', "got %s", caret);
}

static const struct {
	struct here here;
	const char *text;
	size_t byte, line, column;
} places_of_bytes_rows[] = {
	{ HERE, "abc", 0, 1, 1 },
	{ HERE, "abc", 2, 1, 3 },
	{ HERE, "abc", 9, 1, 4 },
	{ HERE, "a\nb\nc", 4, 3, 1 },
	{ HERE, "a\r\nb", 3, 2, 1 },
	{ HERE,
	  "\xc3\xa9"
	  "b",
	  2, 1, 2 },
	{ HERE,
	  "\xef\xbb\xbf"
	  "ab",
	  4, 1, 2 },
};

TEST_EACH(places_of_bytes, places_of_bytes_rows)
{
	opk_auto(opk_source) struct opk_source *source = opk_source_new("t", row->text,
	                                                                strlen(row->text));
	struct opk_place place = opk_place_of_byte(source, row->byte);

	ck_row(row, place.line == row->line && place.column == row->column, "%zu:%zu", place.line,
	       place.column);
}

static const struct {
	struct here here;
	const char *file;
	size_t line, column; /* the place of the text */
	const char *text;
	size_t offset, wanted_line, wanted_column;
} places_within_rows[] = {
	{ HERE, "f: a + b", 1, 4, "a + b", 4, 1, 8 },
	{ HERE, "f: 'a + b'", 1, 4, "a + b", 4, 1, 9 },
	{ HERE, "f: \"a + b\"", 1, 4, "a + b", 0, 1, 5 },
	{ HERE, "f: a +\n   b", 1, 4, "a + b", 4, 2, 4 },
	{ HERE, "f: >-\n  a\n  + b\n", 1, 4, "a + b", 2, 3, 3 },
	{ HERE, "f: >-\n  a\n  + b\n", 1, 4, "a + b", 4, 3, 5 },
	{ HERE, "f: |\n\n  a\n", 1, 4, "\na\n", 1, 3, 3 },
	/* The end is right after the text. */
	{ HERE, "f: a +\ng: b", 1, 4, "a +", 3, 1, 7 },
	/* Escapes are not resolved. */
	{ HERE, "f: \"\\x61 + b\"", 1, 4, "a + b", 4, 1, 4 },
	{ HERE, "f: a", 1, 4, "a", 0, 1, 4 },
	{ HERE, "f: a", 9, 4, "a", 0, 9, 4 },
};

/* Places inside a text that is quoted or folded in the file. */
TEST_EACH(places_within, places_within_rows)
{
	opk_auto(opk_source) struct opk_source *source = opk_source_new("t", row->file,
	                                                                strlen(row->file));
	struct opk_place at = { source, row->line, row->column };
	struct opk_place place = opk_place_within(&at, row->text, row->offset);

	ck_row(row, place.line == row->wanted_line && place.column == row->wanted_column, "%zu:%zu",
	       place.line, place.column);
}

/* ---- problems --------------------------------------------------------------------------- */

static const char *chain(const struct opk_ctx *ctx)
{
	static char text[4096];

	text[0] = '\0';
	for (size_t i = opk_error_count(ctx); i-- > 0;)
		strcat(strcat(text, opk_error_message(ctx, i)), "\n");
	return text;
}

static void add(struct opk_problems *problems, struct opk_source *source, size_t line,
                size_t column)
{
	struct opk_place place = { source, line, column };

	opk_problems_add(problems, &place, "wrong");
}

CTX_TEST(chains)
{
	opk_auto(opk_source) struct opk_source *a = opk_source_new("a", "one\ntwo", 7);
	opk_auto(opk_source) struct opk_source *b = opk_source_new("b", "three", 5);
	opk_autoproblems struct opk_problems problems = { 0 };

	ck_assert_int_eq(opk_problems_fail(ctx, &problems, OPK_EINPUT, "title"), OPK_OK);
	add(&problems, a, 2, 2);
	ck_code(ctx, opk_problems_fail(ctx, &problems, OPK_EINPUT, "title"), OPK_EINPUT);
	ck_assert_str_eq(chain(ctx), "a:2:2: wrong\n  two\n   ^\n");
	add(&problems, b, 1, 5);
	add(&problems, a, 2, 1);
	add(&problems, b, 1, 1);
	add(&problems, a, 1, 3);
	add(&problems, NULL, 0, 0);
	ck_code(ctx, opk_problems_fail(ctx, &problems, OPK_EUSAGE, "title"), OPK_EUSAGE);
	ck_assert_str_eq(chain(ctx),
	                 "title: 6 errors\na:1:3: wrong\n  one\n    ^\na:2:1: wrong\n  two\n  ^\n"
	                 "a:2:2: wrong\n  two\n   ^\nb:1:1: wrong\n  three\n  ^\n"
	                 "b:1:5: wrong\n  three\n      ^\nwrong\n");
}

/* The chip is in the message, but not in the key that compares errors of chips. */
CTX_TEST(problems_of_a_chip)
{
	opk_auto(opk_source) struct opk_source *source = opk_source_new("a", "one\ntwo", 7);
	opk_autoproblems struct opk_problems problems = { .chip = "FA100" };
	const struct opk_cause *cause;

	opk_problems_add(&problems, &(struct opk_place){ source, 1, 2 },
	                 OPK_THE_CHIP " isn't " OPK_THE_CHIP);
	add(&problems, source, 2, 1);
	ck_code(ctx, opk_problems_fail(ctx, &problems, OPK_EINPUT, "on " OPK_THE_CHIP), OPK_EINPUT);
	ck_assert_str_eq(chain(ctx), "on FA100: 2 errors\na:1:2: FA100 isn't FA100\n  one\n   ^\n"
	                             "a:2:1: wrong\n  two\n  ^\n");
	ck_assert_uint_eq(opk_error_cause_count(ctx), 3);
	ck_assert_str_eq(opk_error_cause(ctx, 0)->general, "wrong");
	cause = opk_error_cause(ctx, 1);
	ck_assert_str_eq(cause->file, "a");
	ck_assert_uint_eq(cause->line, 1);
	ck_assert_uint_eq(cause->column, 2);
	ck_assert_str_eq(cause->text, "FA100 isn't FA100");
	ck_assert_str_eq(cause->general, "* isn't *");
	ck_assert_str_eq(cause->message, "a:1:2: FA100 isn't FA100");
	ck_assert_int_eq(cause->kind, OPK_CAUSE_ERROR);
	ck_assert_str_eq(opk_error_cause(ctx, 2)->general, "on *: 2 errors");
	ck_assert_int_eq(opk_error_cause(ctx, 2)->kind, OPK_CAUSE_WHILE);
}

TEST(known_problems_are_dropped)
{
	opk_auto(opk_source) struct opk_source *source = opk_source_new("a", "one\ntwo", 7);
	opk_autoproblems struct opk_problems problems = { 0 }, known = { 0 };

	add(&known, source, 1, 1);
	add(&problems, source, 1, 1);
	add(&problems, source, 1, 2);
	add(&problems, NULL, 1, 1);
	opk_problems_drop(&problems, &known);
	ck_assert_uint_eq(problems.count, 2);
	ck_assert_uint_eq(problems.items[0].place.column, 2);
	ck_assert_ptr_null(problems.items[1].place.source);
}

CTX_TEST(many_problems)
{
	opk_autoproblems struct opk_problems problems = { 0 };

	for (size_t i = 0; i < 1000; i++) {
		ck_assert_int_eq(opk_problems_full(&problems), i >= 100);
		add(&problems, NULL, i, 0);
	}
	ck_code(ctx, opk_problems_fail(ctx, &problems, OPK_EINPUT, "t"), OPK_EINPUT);
	ck_assert_uint_eq(opk_error_count(ctx), 101);
	ck_assert_str_eq(opk_error_message(ctx, 100), "t: 1000 errors, the first 100 of them:");
}

/* Two steps may find the same error. */
CTX_TEST(told_twice)
{
	opk_autoproblems struct opk_problems problems = { 0 };

	add(&problems, NULL, 1, 1);
	add(&problems, NULL, 1, 2);
	add(&problems, NULL, 1, 1);
	opk_problems_add(&problems, &(struct opk_place){ NULL, 1, 1 }, "also wrong");
	ck_code(ctx, opk_problems_fail(ctx, &problems, OPK_EINPUT, "t"), OPK_EINPUT);
	ck_assert_str_eq(chain(ctx), "t: 3 errors\nwrong\nalso wrong\nwrong\n");
}

CTX_TEST(problems_without_memory)
{
	opk_autoproblems struct opk_problems problems = { 0 };

	fail_allocation(0);
	add(&problems, NULL, 0, 0);
	ck_assert(allocation_failed());
	ck_code(ctx, opk_problems_fail(ctx, &problems, OPK_EINPUT, "t"), OPK_ENOMEM);
}

/* ---- globs and the index ---------------------------------------------------------------- */

TEST(globs)
{
	static const struct {
		struct here here;
		const char *pattern, *text;
		bool wanted;
	} rows[] = {
		{ HERE, "abc", "abc", true },
		{ HERE, "abc", "abcd", false },
		{ HERE, "abc", "ab", false },
		{ HERE, "", "", true },
		{ HERE, "*", "", true },
		{ HERE, "*", "abc", true },
		{ HERE, "?", "", false },
		{ HERE, "a?c", "abc", true },
		{ HERE, "a*c", "ac", true },
		{ HERE, "a*c", "abcbc", true },
		{ HERE, "a*c", "abcb", false },
		{ HERE, "*a*b*", "xxaxxbxx", true },
		{ HERE, "*a*b*", "xxbxxaxx", false },
		{ HERE, "**", "a", true },
		{ HERE, "[abc]", "b", true },
		{ HERE, "[abc]", "d", false },
		{ HERE, "[a-c]x", "bx", true },
		{ HERE, "[a-c]", "d", false },
		{ HERE, "[!a-c]", "d", true },
		{ HERE, "[^a-c]", "b", false },
		{ HERE, "[]]", "]", true },
		{ HERE, "[!]]", "a", true },
		{ HERE, "[a-]", "-", true },
		{ HERE, "[-a]", "-", true },
		{ HERE, "*[0-9]", "lts0", true },
		{ HERE, "*[0-9]", "lts0x", false },
		{ HERE, "dram__bytes*.sum", "dram__bytes_read.sum", true },
		{ HERE, "dram__bytes*.sum", "dram__bytes.sum.per_second", false },
		{ HERE, ".*", ".a", true },
		{ HERE, "*", ".a", true },
		/* Backtracking would take an hour. */
		{ HERE, "a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b",
		  "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
		  false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		bool found = opk_glob_match(rows[i].pattern, rows[i].text);

		ck_row(&rows[i], found == rows[i].wanted, "%s: %d", rows[i].pattern, found);
		ck_row(&rows[i], opk_glob_sound(rows[i].pattern), "%s", rows[i].pattern);
	}
	ck_assert(!opk_glob_sound("[a"));
	ck_assert(!opk_glob_sound("["));
	ck_assert(!opk_glob_sound("[]"));
	ck_assert(!opk_glob_sound("[!]"));
	ck_assert(!opk_glob_sound("[a]["));
}

TEST(indices)
{
	enum { COUNT_OF_KEYS = 10000 };
	static char keys[COUNT_OF_KEYS][16];
	opk_autoindex struct opk_index index = { 0 };
	size_t found;

	ck_assert(!opk_index_find(&found, &index, "k1"));
	for (size_t i = 0; i < COUNT_OF_KEYS; i++) {
		snprintf(keys[i], sizeof keys[i], "k%zu", i);
		ck_assert(opk_index_add(&index, keys[i], i, NULL));
	}
	for (size_t i = 0; i < COUNT_OF_KEYS; i++) {
		ck_assert(opk_index_find(&found, &index, keys[i]));
		ck_assert_uint_eq(found, i);
		ck_assert(opk_index_add(&index, keys[i], 0, &found));
		ck_assert_uint_eq(found, i);
	}
	ck_assert(!opk_index_find(NULL, &index, "k10000"));
}
