/* SPDX-License-Identifier: BSD-2-Clause */
/* JSON read and written, good and bad. */
#include <math.h>

#include "allocation.h"
#include "base/buf.h"
#include "base/json_read.h"
#include "base/json_write.h"
#include "testing.h"

/* Writes a tree again; numbers pass through a double. */
static void put_node(struct opk_json_writer *json, const struct opk_json *node)
{
	if (node->key)
		opk_json_key(json, node->key);
	switch (node->type) {
	case OPK_JSON_NULL:
		opk_json_put_string(json, NULL);
		return;
	case OPK_JSON_BOOL:
		opk_json_put_bool(json, node->boolean);
		return;
	case OPK_JSON_NUMBER:
		opk_json_put_double(json, strtod(node->text, NULL));
		return;
	case OPK_JSON_STRING:
		opk_json_put_string(json, node->text);
		return;
	case OPK_JSON_ARRAY:
		opk_json_begin_array(json);
		break;
	case OPK_JSON_OBJECT:
		opk_json_begin_object(json);
		break;
	}
	for (size_t i = 0; i < node->count; i++)
		put_node(json, &node->children[i]);
	if (node->type == OPK_JSON_ARRAY)
		opk_json_end_array(json);
	else
		opk_json_end_object(json);
}

static struct opk_json *parse(struct opk_ctx *ctx, const char *text)
{
	struct opk_json *root = NULL;

	ck_ok(ctx, opk_json_parse(&root, ctx, text, strlen(text)));
	return root;
}

CTX_TEST(json_good)
{
	static const struct {
		struct here here;
		const char *text, *wanted;
	} rows[] = {
		{ HERE, "null", "null" },
		{ HERE, " \t\r\ntrue \n", "true" },
		{ HERE, "false", "false" },
		{ HERE, "0", "0" },
		{ HERE, "-0", "-0" },
		{ HERE, "120", "120" },
		{ HERE, "-12.50", "-12.5" },
		{ HERE, "0.5", "0.5" },
		{ HERE, "1e3", "1000" },
		{ HERE, "1E+3", "1000" },
		{ HERE, "25e-1", "2.5" },
		{ HERE, "1e999", "null" },
		{ HERE, "\"\"", "\"\"" },
		{ HERE, "\"a b\"", "\"a b\"" },
		{ HERE, "\"\\\"\\\\\\/\\n\"", "\"\\\"\\\\/\\n\"" },
		{ HERE, "\"\\b\\f\\r\\t\"", "\"\\u0008\\u000c\\u000d\\u0009\"" },
		{ HERE, "\"\\u0041\\u00e9\\u20AC\"", "\"A\xc3\xa9\xe2\x82\xac\"" },
		{ HERE, "\"\\u007f\\u0080\\u07ff\\u0800\"",
		  "\"\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80\"" },
		{ HERE, "\"\\ud83d\\ude00\"", "\"\xf0\x9f\x98\x80\"" },
		{ HERE, "\"\\uDBFF\\uDFFF\"", "\"\xf4\x8f\xbf\xbf\"" },
		{ HERE, "\"\\uffff\\ue000\"", "\"\xef\xbf\xbf\xee\x80\x80\"" },
		{ HERE, "\"\xf0\x9f\x98\x80\"", "\"\xf0\x9f\x98\x80\"" },
		{ HERE, "[]", "[]" },
		{ HERE, "[ ]", "[]" },
		{ HERE, "[1,[2],[[]] , \"x\"]", "[1,[2],[[]],\"x\"]" },
		{ HERE, "[1,2,3,4,5,6,7,8,9,10]", "[1,2,3,4,5,6,7,8,9,10]" },
		{ HERE, "{}", "{}" },
		{ HERE, "{\t}", "{}" },
		{ HERE, "{\"a\" : 1 , \"b\":{\"c\":[true,null]}}",
		  "{\"a\":1,\"b\":{\"c\":[true,null]}}" },
		{ HERE, "{\"\":0,\"a\\\"\":0}", "{\"\":0,\"a\\\"\":0}" },
		{ HERE, "{\"a\":1,\"a\":2}", "{\"a\":1,\"a\":2}" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		opk_autobuf struct opk_buf buf = { 0 };
		struct opk_json_writer json = { .buf = &buf };
		freed(opk_json) *root = NULL;
		int code = opk_json_parse(&root, ctx, rows[i].text, strlen(rows[i].text));

		ck_row(&rows[i], code == OPK_OK, "%s", errors_of(ctx));
		put_node(&json, root);
		opk_buf_add(&buf, "", 1);
		ck_row(&rows[i], !strcmp((char *)buf.data, rows[i].wanted), "got %s", buf.data);
	}
	opk_json_free(NULL);
}

static const struct bad_json {
	struct here here;
	const char *text, *wanted;
} bad_json[] = {
	{ HERE, "", "byte 0: a value is needed here" },
	{ HERE, "  ", "byte 2: a value is needed here" },
	{ HERE, "tru", "byte 0: unknown word" },
	{ HERE, "True", "a value is needed here" },
	{ HERE, "nul1", "unknown word" },
	{ HERE, "falsy", "unknown word" },
	{ HERE, "nullx", "byte 4: more text after the value" },
	{ HERE, "1 2", "byte 2: more text after the value" },
	{ HERE, "{}{}", "byte 2: more text after the value" },
	{ HERE, "[1]]", "byte 3: more text after the value" },
	{ HERE, "01", "byte 1: more text after the value" },
	{ HERE, "-01", "byte 2: more text after the value" },
	{ HERE, "1.", "a number ends with its point" },
	{ HERE, "1.e3", "a number ends with its point" },
	{ HERE, "1e", "a number lacks its exponent" },
	{ HERE, "1e+", "a number lacks its exponent" },
	{ HERE, "-", "a value is needed here" },
	{ HERE, "+1", "a value is needed here" },
	{ HERE, ".5", "a value is needed here" },
	{ HERE, "0x10", "more text after the value" },
	{ HERE, "NaN", "a value is needed here" },
	{ HERE, "-Infinity", "a value is needed here" },
	{ HERE, "'a'", "a value is needed here" },
	{ HERE, "\v1", "a value is needed here" },
	{ HERE, "\xef\xbb\xbf{}", "byte 0: a value is needed here" },
	{ HERE, "\"", "byte 1: the text ends inside a string" },
	{ HERE, "\"abc", "byte 4: the text ends inside a string" },
	{ HERE, "\"a\\", "in a string" },
	{ HERE, "\"a\nb\"", "byte 2: a control character in a string" },
	{ HERE, "\"\x1f\"", "a control character in a string" },
	{ HERE, "\"\\a\"", "unknown escape in a string" },
	{ HERE, "\"\\'\"", "unknown escape in a string" },
	{ HERE, "\"\\U0041\"", "unknown escape in a string" },
	{ HERE, "\"\\u12\"", "\\u needs four hexadecimal digits" },
	{ HERE, "\"\\u12", "\\u needs four hexadecimal digits" },
	{ HERE, "\"\\u00g0\"", "\\u needs four hexadecimal digits" },
	{ HERE, "\"\\u-001\"", "\\u needs four hexadecimal digits" },
	{ HERE, "\"\\u0000\"", "a NUL character in a string" },
	{ HERE, "\"\\udc00\"", "half a surrogate pair" },
	{ HERE, "\"\\udfff\\ud800\"", "half a surrogate pair" },
	{ HERE, "\"\\ud800\"", "half a surrogate pair" },
	{ HERE, "\"\\ud800x\"", "half a surrogate pair" },
	{ HERE, "\"\\ud800\\n\"", "half a surrogate pair" },
	{ HERE, "\"\\ud800\\u0041\"", "half a surrogate pair" },
	{ HERE, "\"\\ud800\\ud800\"", "half a surrogate pair" },
	{ HERE, "\"\\ud800\\ue000\"", "half a surrogate pair" },
	{ HERE, "[", "a value is needed here" },
	{ HERE, "[1", "byte 2: an array needs ',' or ']' here" },
	{ HERE, "[1 2]", "byte 3: an array needs ',' or ']' here" },
	{ HERE, "[1,]", "byte 3: a value is needed here" },
	{ HERE, "[,1]", "a value is needed here" },
	{ HERE, "[1}", "an array needs ',' or ']' here" },
	{ HERE, "{", "a string is needed here" },
	{ HERE, "{1:2}", "byte 1: a string is needed here" },
	{ HERE, "{a:2}", "a string is needed here" },
	{ HERE, "{\"a\"", "':' is needed after a key" },
	{ HERE, "{\"a\",1}", "':' is needed after a key" },
	{ HERE, "{\"a\":}", "a value is needed here" },
	{ HERE, "{\"a\":1", "an object needs ',' or '}' here" },
	{ HERE, "{\"a\":1,}", "byte 7: a string is needed here" },
	{ HERE, "{\"a\":1]", "an object needs ',' or '}' here" },
	{ HERE, "[/* no */]", "a value is needed here" },
};

CTX_TEST(json_bad)
{
	for (size_t i = 0; i < COUNT(bad_json); i++) {
		/* A copy of exact size: a sanitizer reports each byte read past the end. */
		size_t size = strlen(bad_json[i].text);
		opk_autofree char *copy = malloc(size + !size);
		struct opk_json *root = NULL;
		int code = opk_json_parse(&root, ctx, memcpy(copy, bad_json[i].text, size), size);

		ck_row(&bad_json[i], code == OPK_EINPUT && !root, "code %d", code);
		ck_row(&bad_json[i], strstr(errors_of(ctx), bad_json[i].wanted), "got %s",
		       errors_of(ctx));
	}
}

static const struct bad_json json_bad_utf8_rows[] = {
	{ HERE, "\"\xff\"", "UTF-8" },         { HERE, "\"\x80\"", "UTF-8" },
	{ HERE, "\"\xc3\"", "UTF-8" },         { HERE, "\"\xc0\xaf\"", "UTF-8" },
	{ HERE, "\"\xed\xa0\x80\"", "UTF-8" }, { HERE, "\"\xf5\x80\x80\x80\"", "UTF-8" },
};

/* Text that is not UTF-8 is not JSON, and would make the tools' own JSON invalid. */
CTX_TEST_EACH(json_bad_utf8, json_bad_utf8_rows)
{
	struct opk_json *root = NULL;
	int code = opk_json_parse(&root, ctx, row->text, strlen(row->text));

	opk_json_free(root);
	ck_row(row, code == OPK_EINPUT, "code %d", code);
	ck_row(row, strstr(errors_of(ctx), row->wanted), "got %s", errors_of(ctx));
}

static const struct {
	struct here here;
	const char *text;
	size_t size;
	const char *wanted;
} json_nul_bytes_rows[] = {
	{ HERE, "\0", 1, "a value is needed here" },
	{ HERE, "1\0", 2, "byte 1: more text after the value" },
	{ HERE, "\"a\0b\"", 5, "byte 2: a control character in a string" },
	{ HERE, "\"\\\0\"", 4, "unknown escape in a string" },
	{ HERE, "[1\0]", 4, "an array needs" },
	{ HERE, "tr\0e", 4, "unknown word" },
};

CTX_TEST_EACH(json_nul_bytes, json_nul_bytes_rows)
{
	struct opk_json *root = NULL;
	int code = opk_json_parse(&root, ctx, row->text, row->size);

	ck_row(row, code == OPK_EINPUT, "code %d", code);
	ck_row(row, strstr(errors_of(ctx), row->wanted), "got %s", errors_of(ctx));
}

/* The outermost value is at depth 0. */
CTX_TEST(json_depth)
{
	struct opk_json *root = NULL;
	char text[200];

	for (size_t levels = 30; levels < 100; levels++) {
		int code;

		memset(text, '[', levels);
		memset(text + levels, ']', levels);
		code = opk_json_parse(&root, ctx, text, 2 * levels);
		ck_assert_int_eq(code, levels <= 33 ? OPK_OK : OPK_EINPUT);
		if (code)
			ck_assert_str_eq(errors_of(ctx), "JSON, byte 33: nested too deeply");
		else
			opk_json_free(root);
	}
}

static const struct {
	struct here here;
	const char *text;
	bool is_u64, is_i64;
	uint64_t value;
} json_integers_rows[] = {
	{ HERE, "0", true, true, 0 },
	{ HERE, "42", true, true, 42 },
	{ HERE, "-1", false, true, UINT64_MAX },
	{ HERE, "9223372036854775807", true, true, INT64_MAX },
	{ HERE, "9223372036854775808", true, false, (uint64_t)INT64_MAX + 1 },
	{ HERE, "-9223372036854775808", false, true, (uint64_t)INT64_MAX + 1 },
	{ HERE, "-9223372036854775809", false, false, 0 },
	{ HERE, "18446744073709551615", true, false, UINT64_MAX },
	{ HERE, "18446744073709551616", false, false, 0 },
	{ HERE, "1e3", false, false, 0 },
	{ HERE, "1.0", false, false, 0 },
	{ HERE, "\"1\"", false, false, 0 },
	{ HERE, "true", false, false, 0 },
	{ HERE, "null", false, false, 0 },
};

CTX_TEST_EACH(json_integers, json_integers_rows)
{
	char text[64];
	freed(opk_json) *root = NULL;
	uint64_t u64 = 77;
	int64_t i64 = 77;

	snprintf(text, sizeof text, "{\"n\":%s}", row->text);
	root = parse(ctx, text);
	ck_row(row, opk_json_u64(&u64, root, "n") == row->is_u64, "u64");
	ck_row(row, opk_json_to_i64(&i64, root->children) == row->is_i64, "i64");
	ck_row(row, !row->is_u64 || u64 == row->value, "got %ju", (uintmax_t)u64);
	ck_row(row, !row->is_i64 || i64 == (int64_t)row->value, "i64 value");
	/* Callers preset a default, which stays if the value is invalid. */
	ck_row(row, row->is_u64 || u64 == 77, "u64 became %ju", (uintmax_t)u64);
	ck_row(row, row->is_i64 || i64 == 77, "i64 became %jd", (intmax_t)i64);
}

CTX_TEST(json_members)
{
	freed(opk_json) *root = parse(ctx, "{\"s\":\"x\",\"n\":1,\"s\":\"y\",\"o\":{\"s\":\"z\"}}");
	freed(opk_json) *array = parse(ctx, "[\"s\"]");
	const struct opk_json *inner = opk_json_get(root, "o", OPK_JSON_OBJECT);
	uint64_t value;

	ck_assert_str_eq(opk_json_string(root, "s"), "x");
	ck_assert_str_eq(opk_json_string(inner, "s"), "z");
	ck_assert_str_eq(opk_json_string(root, "n"), "");
	ck_assert_str_eq(opk_json_string(root, "none"), "");
	ck_assert_ptr_null(opk_json_get(root, "n", OPK_JSON_STRING));
	ck_assert_ptr_nonnull(opk_json_get(root, "n", OPK_JSON_NUMBER));
	ck_assert_ptr_null(opk_json_get(array, "s", OPK_JSON_STRING));
	ck_assert(!opk_json_u64(&value, array, "s"));
}

/* Each character alone and all of them together survive writing and reading. */
CTX_TEST(json_strings_round_trip)
{
	char all[160] = "";
	int count = 0;

	for (int c = 1; c < 128; c++)
		all[count++] = (char)c;
	strcpy(all + count, "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
	for (int c = 1; c < 129; c++) {
		const char *text = c == 128 ? all : (char[]){ (char)c, '\0' };
		opk_autobuf struct opk_buf buf = { 0 };
		struct opk_json_writer json = { .buf = &buf };
		freed(opk_json) *root = NULL;

		opk_json_begin_object(&json);
		opk_json_key(&json, text);
		opk_json_put_strings(&json, &text, 1);
		opk_json_end_object(&json);
		ck_ok(ctx, opk_json_parse(&root, ctx, (char *)buf.data, buf.size));
		ck_assert_str_eq(root->children[0].key, text);
		ck_assert_str_eq(root->children[0].children[0].text, text);
	}
}

TEST(json_numbers_written)
{
	opk_autobuf struct opk_buf buf = { 0 };
	struct opk_json_writer json = { .buf = &buf };

	opk_json_begin_array(&json);
	opk_json_put_u64(&json, UINT64_MAX);
	opk_json_put_i64(&json, INT64_MIN);
	opk_json_put_double(&json, 0.1);
	opk_json_put_double(&json, (double)NAN);
	opk_json_put_double(&json, -(double)INFINITY);
	opk_json_put_strings(&json, NULL, 0);
	opk_json_put_strings(&json, (const char *[]){ "a", NULL }, 2);
	opk_json_end_array(&json);
	opk_buf_add(&buf, "", 1);
	ck_assert_str_eq((char *)buf.data, "[18446744073709551615,-9223372036854775808,"
	                                   "0.10000000000000001,null,null,[],[\"a\",null]]");
}

CTX_TEST(json_without_memory)
{
	static const char text[] =
		"{\"a\":[1,2,3,4,5,6,7,8,9,\"\\u20ac long enough to grow\"],\"b\":{}}";
	freed(opk_json) *root = NULL;

	for (long n = 0; is_short(ctx, n, opk_json_parse(&root, ctx, text, sizeof text - 1)); n++) {
		ck_assert_str_eq(errors_of(ctx), "out of memory for JSON");
		ck_assert_ptr_null(root);
	}
}

static const struct {
	struct here here;
	const char *text, *wanted;
} json_written_from_any_bytes_rows[] = {
	{ HERE, "plain", "\"plain\"" },
	{ HERE, "\xc3\xa4", "\"\xc3\xa4\"" },
	{ HERE,
	  "a\xff"
	  "b",
	  "\"a\xef\xbf\xbd"
	  "b\"" },
	{ HERE, "\xe2\x82", "\"\xef\xbf\xbd\xef\xbf\xbd\"" },
	{ HERE, "\t\"", "\"\\u0009\\\"\"" },
};

/* Paths and range names may be any bytes; the output is always UTF-8. */
TEST_EACH(json_written_from_any_bytes, json_written_from_any_bytes_rows)
{
	opk_autobuf struct opk_buf buf = { 0 };
	struct opk_json_writer json = { .buf = &buf };

	opk_json_put_string(&json, row->text);
	opk_buf_add(&buf, "", 1);
	ck_row(row, !strcmp((char *)buf.data, row->wanted), "%s", (char *)buf.data);
}
