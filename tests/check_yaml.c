/* SPDX-License-Identifier: BSD-2-Clause */
/* YAML trees; check_set_files.c has the files of metric sets. */
#include "adapters/yaml/yaml_tree.h"
#include "allocation.h"
#include "base/buf.h"
#include "metric_sets.h"
#include "testing.h"

/* ---- the tree --------------------------------------------------------------------------- */

/* Text@line:column; lists in brackets, maps in braces. */
static void describe(struct opk_buf *out, const struct opk_yaml *node)
{
	static const char *const brackets[] = { "", "[]", "{}", "?" };

	opk_buf_add(out, brackets[node->kind], node->kind != OPK_YAML_SCALAR);
	if (node->kind == OPK_YAML_SCALAR)
		opk_buf_add_text(out, node->text);
	opk_buf_add_printf(out, "@%zu:%zu", node->place.line, node->place.column);
	for (size_t i = 0; i < node->count; i++) {
		opk_buf_add_text(out, " ");
		describe(out, &node->items[i]);
	}
	opk_buf_add(out, brackets[node->kind] + 1,
	            node->kind == OPK_YAML_LIST || node->kind == OPK_YAML_MAP);
}

/* The tree of a text, possibly with problems, which are all in the chain. */
static int parse(struct opk_yaml **root, struct opk_ctx *ctx, const char *text, size_t size)
{
	opk_autoproblems struct opk_problems problems = { 0 };
	opk_auto(opk_source) struct opk_source *source = opk_source_new("t", text, size);
	int code = opk_yaml_parse(root, ctx, &problems, source);

	return code == OPK_ENOMEM ? code : opk_problems_fail(ctx, &problems, OPK_EINPUT, "t");
}

CTX_TEST(trees)
{
	static const struct {
		struct here here;
		const char *text, *wanted;
	} rows[] = {
		{ HERE, "a", "a@1:1" },
		{ HERE, "\n  a", "a@2:3" },
		{ HERE, "''", "@1:1" },
		{ HERE, "~", "~@1:1" },
		{ HERE, "[]", "[@1:1]" },
		{ HERE, "{}", "{@1:1}" },
		{ HERE, "[a, [b], {}]", "[@1:1 a@1:2 [@1:5 b@1:6] {@1:10}]" },
		{ HERE, "- a\n-\n  - b\n", "[@1:1 a@1:3 [@3:3 b@3:5]]" },
		{ HERE, "k: v\nl:\n  - m: n\n",
		  "{@1:1 k@1:1 v@1:4 l@2:1 [@3:3 {@3:5 m@3:5 n@3:8}]}" },
		{ HERE, "k:\nl: |\n  a\n  b\n", "{@1:1 k@1:1 @1:3 l@2:1 a\nb\n@2:4}" },
		{ HERE, "{a: 1, A: 1, 'a ': 1}", "{@1:1 a@1:2 1@1:5 A@1:8 1@1:11 a @1:14 1@1:20}" },
		{ HERE, "\"\\u20ac\"", "\xe2\x82\xac@1:1" },
		{ HERE, "!!str 1", "1@1:1" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		opk_autobuf struct opk_buf buf = { 0 };
		freed(opk_yaml) *root = NULL;
		int code = parse(&root, ctx, rows[i].text, strlen(rows[i].text));

		ck_row(&rows[i], code == OPK_OK, "%s", errors_of(ctx));
		describe(&buf, root);
		opk_buf_add(&buf, "", 1);
		ck_row(&rows[i], !strcmp((char *)buf.data, rows[i].wanted), "got %s", buf.data);
	}
	opk_yaml_free(NULL);
}

static const struct bad {
	struct here here;
	const char *text;
	const char *wanted; /* all messages from the outer end, without the lines of the file */
	const char *tree;   /* NULL: no tree */
} bad[] = {
	{ HERE, "", "t:1:1: the file is empty|", NULL },
	{ HERE, "\n\n# only this\n", "t:4:1: the file is empty|", NULL },
	{ HERE, "{a: 1, b: 2, a: 3}", "t:1:14: duplicate key 'a', first on line 1|",
	  "{@1:1 a@1:2 1@1:5 b@1:8 2@1:11 ?@1:14 3@1:17}" },
	{ HERE, "[{a: 1, \"a\": 3}]", "t:1:9: duplicate key 'a', first on line 1|",
	  "[@1:1 {@1:2 a@1:3 1@1:6 ?@1:9 3@1:14}]" },
	{ HERE, "{[a]: 1}", "t:1:2: a key must be plain text|", "{@1:1 ?@1:2 a@1:3 1@1:7}" },
	{ HERE, "{{a: 1}: 1}", "t:1:2: a key must be plain text|",
	  "{@1:1 ?@1:2 a@1:3 1@1:6 1@1:10}" },
	{ HERE, "a\n---\nb", "t:2:1: one document a file, please|", "a@1:1" },
	{ HERE, "&a b", "t:1:1: anchors are not allowed here|", "b@1:1" },
	{ HERE, "{&a b: c}", "t:1:2: anchors are not allowed here|", "{@1:1 b@1:2 c@1:8}" },
	{ HERE, "*a",
	  "t:1:1: aliases are not allowed here; a pattern that begins with '*' goes in quotes|",
	  "?@1:1" },
	{ HERE, "[&a b, *a, \"\\0\"]",
	  "t: 3 errors|t:1:2: anchors are not allowed here|t:1:8: aliases are not allowed here; a pattern that begins with '*' goes in quotes|"
	  "t:1:12: a NUL character in text|",
	  "[@1:1 b@1:2 ?@1:8 ?@1:12]" },
	{ HERE, "&a\nb: &c [*a]",
	  "t: 3 errors|t:1:1: anchors are not allowed here|t:2:4: anchors are not allowed here|"
	  "t:2:8: aliases are not allowed here; a pattern that begins with '*' goes in quotes|",
	  "{@1:1 b@2:1 [@2:4 ?@2:8]}" },
	{ HERE, "[*a, b: c: d]",
	  "t: 2 errors|t:1:2: aliases are not allowed here; a pattern that begins with '*' goes in quotes|"
	  "t:1:10: did not find expected ',' or ']'|",
	  NULL },
	{ HERE, "- *dram*",
	  "t:1:8: did not find expected alphabetic or numeric character; a pattern that begins with '*' goes in quotes|",
	  "[@1:1 ?@1:1]" },
	{ HERE, "a: \"b", "t:1:6: found unexpected end of stream; a quotation mark is not closed|",
	  "{@1:1 a@1:1 ?@1:1 ?@1:1 ?@1:1}" },
	{ HERE, "[a",
	  "t:2:1: did not find expected ',' or ']', while parsing a flow sequence that begins on line 1|",
	  NULL },
	/* The part before the error is kept; "?" marks where more might be. */
	{ HERE, "a: b\nc: [d",
	  "t:3:1: did not find expected ',' or ']', while parsing a flow sequence that begins on line 2|",
	  "{@1:1 a@1:1 b@1:4 c@2:1 ?@2:4 d@2:5 ?@2:4 ?@1:1 ?@1:1}" },
	{ HERE, "a:\n- b\nc",
	  "t:4:1: could not find expected ':', while scanning a simple key that begins on line 3|",
	  "{@1:1 a@1:1 [@2:1 b@2:3 ?@2:1] ?@1:1 ?@1:1}" },
	{ HERE, "a: {b: x${c}}",
	  "t:1:10: did not find expected ',' or '}'; inside {...} and [...] a text with ${...} goes in quotes|",
	  "{@1:1 a@1:1 ?@1:4 b@1:5 x$@1:8 ?@1:4 ?@1:4 ?@1:1 ?@1:1}" },
	{ HERE, "%YAML 9.9\n---\na", "t:1:1: found incompatible YAML document|", NULL },
	{ HERE, "!x!y z", "t:1:1: found undefined tag handle|", NULL },
};

/* The messages without lines of the file. */
static const char *messages_of(const struct opk_ctx *ctx)
{
	static char text[4096];

	text[0] = '\0';
	for (size_t i = opk_error_count(ctx); i-- > 0;)
		if (*opk_error_message(ctx, i) != ' ')
			strcat(strcat(text, opk_error_message(ctx, i)), "|");
	return text;
}

CTX_TEST_EACH(bad_trees, bad)
{
	opk_autobuf struct opk_buf buf = { 0 };
	freed(opk_yaml) *root = NULL;
	int code = parse(&root, ctx, row->text, strlen(row->text));

	ck_row(row, code == OPK_EINPUT, "code %d", code);
	ck_row(row, !strcmp(messages_of(ctx), row->wanted), "got %s", messages_of(ctx));
	ck_row(row, !root == !row->tree, "%s tree", root ? "a" : "no");
	if (root)
		describe(&buf, root);
	opk_buf_add(&buf, "", 1);
	ck_row(row, !row->tree || !strcmp((char *)buf.data, row->tree), "got %s", buf.data);
}

/* Too many keys end the parsing. */
CTX_TEST(many_keys)
{
	opk_autobuf struct opk_buf buf = { 0 };
	struct opk_yaml *root = NULL;

	for (int i = 0; i < 10000; i++)
		opk_buf_add_printf(&buf, "k%d: v\n", i);
	ck_ok(ctx, parse(&root, ctx, (char *)buf.data, buf.size));
	ck_assert_uint_eq(root->count, 20000);
	opk_yaml_free(root);
	opk_buf_add_text(&buf, "more: v\n");
	root = NULL;
	ck_code(ctx, parse(&root, ctx, (char *)buf.data, buf.size), OPK_EINPUT);
	ck_assert_str_eq(messages_of(ctx), "t:10001:1: more than 10000 keys|");
	ck_assert_uint_eq(root->count, 20002 + 2);
	opk_yaml_free(root);
}

/* The outermost node is at depth 0. */
CTX_TEST(tree_depth)
{
	char text[200];

	for (size_t levels = 10; levels < 100; levels++) {
		freed(opk_yaml) *root = NULL;
		int code;

		memset(text, '[', levels);
		memset(text + levels, ']', levels);
		code = parse(&root, ctx, text, 2 * levels);
		ck_assert_int_eq(code, levels <= 17 ? OPK_OK : OPK_EINPUT);
		if (code)
			ck_assert_str_eq(cause(ctx), "t:1:18: nested too deeply");
	}
}

static const char every_kind[] = "{a: [b, {c: \"d\"}], &e a: *f, [g]: h}";

CTX_TEST(trees_without_memory)
{
	int code;

	for (long n = 0;; n++) {
		opk_autoproblems struct opk_problems problems = { 0 };
		opk_auto(opk_source) struct opk_source *source = opk_source_new("t", every_kind,
		                                                                sizeof every_kind
		                                                                        - 1);
		struct opk_yaml *root = NULL;
		bool failed;

		fail_allocation(n);
		code = opk_yaml_parse(&root, ctx, &problems, source);
		failed = allocation_failed();
		ck_assert_msg(!code == !!root || code == OPK_EINPUT, "allocation %ld: %d", n, code);
		ck_assert_msg(!failed || code == OPK_ENOMEM || problems.code, "allocation %ld: %d",
		              n, code);
		ck_assert_msg(failed || problems.count == 4, "%zu problems", problems.count);
		opk_yaml_free(root);
		if (!failed)
			break;
	}
	ck_assert_int_eq(code, OPK_OK);
}
