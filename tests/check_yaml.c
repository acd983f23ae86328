/* SPDX-License-Identifier: BSD-2-Clause */
/* YAML trees, and files of metric sets, good and bad. */
#include <dirent.h>

#include "adapters/yaml/yaml_tree.h"
#include "base/buf.h"
#include "folder.h"
#include "metric_sets.h"
#include "testing.h"

/* ---- bad and good files ----------------------------------------------------------------- */

static const struct bad {
	struct here here;
	const char *file, *wanted;
} bad[] = {
	{ HERE, "bad-alias.yaml", "4:5: aliases are not allowed here" },
	{ HERE, "bad-anchor.yaml", "4:5: anchors are not allowed here" },
	{ HERE, "bad-anchor-list.yaml", "3:10: anchors are not allowed here" },
	{ HERE, "bad-anchor-map.yaml", "2:1: anchors are not allowed here" },
	{ HERE, "bad-chip-map.yaml", "3:16: one of the chips is needed here, as plain text" },
	{ HERE, "bad-chip-twice.yaml", "3:23: chip GH100 is listed twice" },
	{ HERE, "bad-chips-empty.yaml", "3:8: a list of chips is needed here" },
	{ HERE, "bad-chips-text.yaml", "3:8: a list of chips is needed here" },
	{ HERE, "bad-colon.yaml", "2:8: mapping values are not allowed in this context" },
	{ HERE, "bad-control.yaml", "2:8: control characters are not allowed" },
	{ HERE, "bad-description-map.yaml", "4:3: text is needed here" },
	{ HERE, "bad-duplicate-key.yaml", "4:1: duplicate key 'name', first on line 2" },
	{ HERE, "bad-empty.yaml", "2:1: the file is empty" },
	{ HERE, "bad-empty-document.yaml",
	  "3:1: a metric set is a map with name, description and metrics" },
	{ HERE, "bad-indent.yaml", "5:3: did not find expected key" },
	{ HERE, "bad-key-case.yaml", "2:1: unknown key 'Name', did you mean name?" },
	{ HERE, "bad-key-list.yaml", "3:3: a key must be plain text" },
	{ HERE, "bad-laughs.yaml", "2:4: anchors are not allowed here" },
	{ HERE, "bad-merge-key.yaml", "3:5: aliases are not allowed here" },
	{ HERE, "bad-metric-blank.yaml",
	  "4:5: 'sm__cycles_elapsed.sum dram__bytes.sum' is no metric name" },
	{ HERE, "bad-metric-comma.yaml",
	  "4:5: 'sm__cycles_elapsed.sum,dram__bytes.sum' is no metric name" },
	{ HERE, "bad-metric-list.yaml", "5:5: one of the metrics is needed here, as plain text" },
	{ HERE, "bad-metric-newline.yaml", "4:5: 'sm__cycles\n_elapsed.sum' is no metric name" },
	{ HERE, "bad-metric-quote.yaml", "4:5: 'sm__cycles_elapsed.sum\"' is no metric name" },
	{ HERE, "bad-metric-twice.yaml", "6:5: metric sm__cycles_elapsed.sum is listed twice, "
	                                 "first at bad-metric-twice.yaml:4:5" },
	{ HERE, "bad-metrics-empty.yaml", "3:10: a list of metrics is needed here" },
	{ HERE, "bad-metrics-map.yaml", "4:3: a list of metrics is needed here" },
	{ HERE, "bad-metrics-null.yaml", "5:4: one of the metrics is needed here, as plain text" },
	{ HERE, "bad-name-empty.yaml", "2:6: text is needed here" },
	{ HERE, "bad-name-list.yaml", "2:7: text is needed here" },
	{ HERE, "bad-nested.yaml", "3:26: nested too deeply" },
	{ HERE, "bad-nested-open.yaml", "2:26: nested too deeply" },
	{ HERE, "bad-no-metrics.yaml", "2:1: the key 'metrics' is missing" },
	{ HERE, "bad-no-name.yaml", "3:1: the key 'name' is missing" },
	{ HERE, "bad-nul.yaml", "2:8: control characters are not allowed" },
	{ HERE, "bad-nul-escape.yaml", "2:7: a NUL character in text" },
	{ HERE, "bad-profiler.yaml", "3:11: profiler must be range or pm" },
	{ HERE, "bad-profiler-list.yaml", "3:11: profiler must be range or pm" },
	{ HERE, "bad-root-list.yaml",
	  "2:1: a metric set is a map with name, description and metrics" },
	{ HERE, "bad-root-text.yaml",
	  "2:1: a metric set is a map with name, description and metrics" },
	{ HERE, "bad-tab.yaml", "4:1: found character that cannot start any token" },
	{ HERE, "bad-two-documents.yaml", "4:1: one document a file, please" },
	{ HERE, "bad-unclosed-list.yaml", "4:1: did not find expected ',' or ']'" },
	{ HERE, "bad-unclosed-quote.yaml", "4:1: found unexpected end of stream" },
	{ HERE, "bad-unknown-key.yaml", "3:1: unknown key 'metrcs', did you mean metrics?" },
	{ HERE, "bad-unknown-key-far.yaml", "3:1: unknown key 'unexpected'" },
	{ HERE, "bad-utf8.yaml", "2:8: invalid leading UTF-8 octet" },
	{ HERE, "bad-utf8-cut.yaml", "2:10: invalid trailing UTF-8 octet" },
};

START_TEST(bad_sets)
{
	struct opk_ctx *ctx = new_ctx();

	for (size_t i = 0; i < COUNT(bad); i++) {
		char path[512], wanted[512];
		struct opk_set *set = NULL;
		int code;

		snprintf(path, sizeof path, FILES "%s", bad[i].file);
		snprintf(wanted, sizeof wanted, "%s:%s", bad[i].file, bad[i].wanted);
		code = opk_set_load(&set, ctx, path);
		ck_row(&bad[i], code == OPK_EINPUT && !set, "code %d", code);
		ck_row(&bad[i], !strcmp(cause(ctx), wanted), "got %s", cause(ctx));
	}
	opk_ctx_free(ctx);
}
END_TEST

static const struct good {
	struct here here;
	const char *file, *name, *description;
	const char *profiler; /* NULL: none named */
	const char *metrics, *chips, *last_place;
} good[] = {
	{ HERE, "good-minimal.yaml", "minimal", "", NULL, "sm__cycles_elapsed.sum ", "", "3:11" },
	{ HERE, "good-full.yaml", "full", "Folded text on two lines, with an \xc3\xa9.", "pm",
	  "sm__cycles_elapsed.max dram__bytes.sum.per_second TriageCompute.sm__inst_executed.sum ",
	  "GH100 GB100 ", "5:5" },
	{ HERE, "good-json.yaml", "json", "", "range", "a__b.sum c__d.avg ", "", "2:63" },
	{ HERE, "good-markers.yaml", "markers", "", NULL, "a__b.sum ", "", "5:11" },
	{ HERE, "good-crlf.yaml", "crlf", "", NULL, "a__b.sum c__d.sum ", "", "5:5" },
	{ HERE, "good-scalars.yaml", "12", "null", NULL, "a__b.sum c__d.sum e__f.sum ", "",
	  "4:33" },
};

static void check_good(const struct good *row, const struct opk_set *set, const char *path)
{
	const char *profiler =
		opk_set_has_profiler(set) ? opk_profiler_name(opk_set_profiler(set)) : "(none)";
	char place[600];

	snprintf(place, sizeof place, "%s:%s", path, row->last_place);
	ck_row(row, !strcmp(opk_set_name(set), row->name), "%s", opk_set_name(set));
	ck_row(row, !strcmp(opk_set_description(set), row->description), "%s",
	       opk_set_description(set));
	ck_row(row, !strcmp(opk_set_path(set), path), "%s", opk_set_path(set));
	ck_row(row, !strcmp(profiler, row->profiler ? row->profiler : "(none)"), "%s", profiler);
	ck_row(row, !strcmp(metrics_of(set), row->metrics), "%s", metrics_of(set));
	ck_row(row, !strcmp(chips_of(set), row->chips), "%s", chips_of(set));
	ck_row(row, !strcmp(opk_set_metric_place(set, opk_set_metric_count(set) - 1), place), "%s",
	       opk_set_metric_place(set, opk_set_metric_count(set) - 1));
}

START_TEST(good_sets)
{
	struct opk_ctx *ctx = new_ctx();

	for (size_t i = 0; i < COUNT(good); i++) {
		char path[512];
		struct opk_set *set = NULL;
		int code;

		snprintf(path, sizeof path, FILES "%s", good[i].file);
		code = opk_set_load(&set, ctx, path);
		ck_row(&good[i], code == OPK_OK, "%s", errors_of(ctx));
		check_good(&good[i], set, path);
		opk_set_free(set);
	}
	opk_ctx_free(ctx);
}
END_TEST

static bool in_tables(const char *file)
{
	for (size_t i = 0; i < COUNT(bad); i++)
		if (!strcmp(bad[i].file, file))
			return true;
	for (size_t i = 0; i < COUNT(good); i++)
		if (!strcmp(good[i].file, file))
			return true;
	return false;
}

/* A file that no table names tests nothing, and one that explains nothing helps nobody. */
START_TEST(files_are_listed_and_explained)
{
	DIR *dir = opendir(FILES);
	size_t count = 0;

	ck_assert_ptr_nonnull(dir);
	for (struct dirent *entry; (entry = readdir(dir));) {
		char path[600];
		FILE *file;

		if (!strstr(entry->d_name, ".yaml"))
			continue;
		ck_assert_msg(in_tables(entry->d_name), "no table has %s", entry->d_name);
		snprintf(path, sizeof path, FILES "%s", entry->d_name);
		file = fopen(path, "r");
		ck_assert_ptr_nonnull(file);
		ck_assert_msg(fgetc(file) == '#', "%s begins with no comment", entry->d_name);
		fclose(file);
		count++;
	}
	closedir(dir);
	ck_assert_uint_eq(count, COUNT(bad) + COUNT(good));
}
END_TEST

START_TEST(unreadable_sets)
{
	static const struct bad rows[] = {
		{ HERE, "/nowhere/set.yaml",
		  "/nowhere/set.yaml: can't open: No such file or directory" },
		{ HERE, "/dev/null", "/dev/null: not a regular file" },
		{ HERE, "/tmp", "/tmp: not a regular file" },
	};
	struct opk_ctx *ctx = new_ctx();
	struct opk_set *set = NULL;

	for (size_t i = 0; i < COUNT(rows); i++) {
		int code = opk_set_load(&set, ctx, rows[i].file);

		ck_row(&rows[i], code == OPK_EINPUT && !set, "code %d", code);
		ck_row(&rows[i], !strcmp(cause(ctx), rows[i].wanted), "got %s", cause(ctx));
	}
	opk_ctx_free(ctx);
}
END_TEST

/* A set of `count` metrics, filled up with a comment to `size` bytes. */
static void write_large(size_t count, size_t size)
{
	opk_autobuf struct opk_buf buf = { 0 };

	opk_buf_add_text(&buf, "name: large\nmetrics:\n");
	for (size_t i = 0; i < count; i++)
		opk_buf_add_printf(&buf, "- m__%zu.sum\n", i);
	opk_buf_add_text(&buf, "#");
	while (buf.size < size)
		opk_buf_add_text(&buf, "x");
	put_file("large.yaml", buf.data, buf.size);
}

START_TEST(large_sets)
{
	static const struct {
		struct here here;
		size_t count, size;
		const char *wanted; /* NULL: good */
	} rows[] = {
		{ HERE, 5, 1 << 20, NULL },
		{ HERE, 5, (1 << 20) + 1, "a metric set has at most 1048576 bytes" },
		{ HERE, 10001, 0, "large.yaml:3:1: more than 10000 metrics" },
	};
	struct opk_ctx *ctx = new_ctx();

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct opk_set *set = NULL;
		int code;

		write_large(rows[i].count, rows[i].size);
		code = opk_set_load(&set, ctx, in_folder("large.yaml"));
		ck_row(&rows[i], code == (rows[i].wanted ? OPK_EINPUT : OPK_OK), "code %d", code);
		ck_row(&rows[i], !rows[i].wanted || strstr(cause(ctx), rows[i].wanted), "got %s",
		       cause(ctx));
		opk_set_free(set);
	}
	opk_ctx_free(ctx);
}
END_TEST

/* ---- the tree --------------------------------------------------------------------------- */

/* Text@line:column; lists in brackets, maps in braces. */
static void describe(struct opk_buf *out, const struct opk_yaml *node)
{
	static const char *const brackets[] = { "", "[]", "{}" };

	opk_buf_add(out, brackets[node->kind], node->kind != OPK_YAML_SCALAR);
	if (node->kind == OPK_YAML_SCALAR)
		opk_buf_add_text(out, node->text);
	opk_buf_add_printf(out, "@%zu:%zu", node->line, node->column);
	for (size_t i = 0; i < node->count; i++) {
		opk_buf_add_text(out, " ");
		describe(out, &node->items[i]);
	}
	opk_buf_add(out, brackets[node->kind] + 1, node->kind != OPK_YAML_SCALAR);
}

START_TEST(trees)
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
	struct opk_ctx *ctx = new_ctx();

	for (size_t i = 0; i < COUNT(rows); i++) {
		opk_autobuf struct opk_buf buf = { 0 };
		struct opk_yaml *root = NULL;
		int code = opk_yaml_parse(&root, ctx, "t", rows[i].text, strlen(rows[i].text));

		ck_row(&rows[i], code == OPK_OK, "%s", errors_of(ctx));
		describe(&buf, root);
		opk_buf_add(&buf, "", 1);
		ck_row(&rows[i], !strcmp((char *)buf.data, rows[i].wanted), "got %s", buf.data);
		opk_yaml_free(root);
	}
	opk_yaml_free(NULL);
	opk_ctx_free(ctx);
}
END_TEST

START_TEST(bad_trees)
{
	static const struct bad rows[] = {
		{ HERE, "", "t:1:1: the file is empty" },
		{ HERE, "\n\n# only this\n", "t:4:1: the file is empty" },
		{ HERE, "{a: 1, b: 2, a: 3}", "t:1:14: duplicate key 'a', first on line 1" },
		{ HERE, "[{a: 1, \"a\": 3}]", "t:1:9: duplicate key 'a', first on line 1" },
		{ HERE, "{[a]: 1}", "t:1:2: a key must be plain text" },
		{ HERE, "{{a: 1}: 1}", "t:1:2: a key must be plain text" },
		{ HERE, "a\n---\nb", "t:2:1: one document a file, please" },
		{ HERE, "&a b", "t:1:1: anchors are not allowed here" },
		{ HERE, "{&a b: c}", "t:1:2: anchors are not allowed here" },
		{ HERE, "*a", "t:1:1: aliases are not allowed here" },
		{ HERE, "[a", "t:2:1: did not find expected ',' or ']'" },
		{ HERE, "%YAML 9.9\n---\na", "t:1:1: found incompatible YAML document" },
		{ HERE, "!x!y z", "t:1:1: found undefined tag handle" },
	};
	struct opk_ctx *ctx = new_ctx();

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct opk_yaml *root = NULL;
		int code = opk_yaml_parse(&root, ctx, "t", rows[i].file, strlen(rows[i].file));

		ck_row(&rows[i], code == OPK_EINPUT && !root, "code %d", code);
		ck_row(&rows[i], !strcmp(cause(ctx), rows[i].wanted), "got %s", cause(ctx));
	}
	opk_ctx_free(ctx);
}
END_TEST

/* The outermost node is at depth 0. */
START_TEST(tree_depth)
{
	struct opk_ctx *ctx = new_ctx();
	char text[200];

	for (size_t levels = 10; levels < 100; levels++) {
		struct opk_yaml *root = NULL;
		int code;

		memset(text, '[', levels);
		memset(text + levels, ']', levels);
		code = opk_yaml_parse(&root, ctx, "t", text, 2 * levels);
		ck_assert_int_eq(code, levels <= 17 ? OPK_OK : OPK_EINPUT);
		if (code)
			ck_assert_str_eq(cause(ctx), "t:1:18: nested too deeply");
		opk_yaml_free(root);
	}
	opk_ctx_free(ctx);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("yaml");
	TCase *tests = add_case(suite, "tree");

	tcase_add_test(tests, trees);
	tcase_add_test(tests, bad_trees);
	tcase_add_test(tests, tree_depth);
	tests = add_case(suite, "files");
	tcase_add_checked_fixture(tests, make_folder, remove_folder);
	tcase_add_test(tests, bad_sets);
	tcase_add_test(tests, good_sets);
	tcase_add_test(tests, files_are_listed_and_explained);
	tcase_add_test(tests, unreadable_sets);
	tcase_add_test(tests, large_sets);
	return run_suite(suite);
}
