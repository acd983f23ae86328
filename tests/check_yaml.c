/* SPDX-License-Identifier: BSD-2-Clause */
/* YAML trees and metric sets, good and bad. */
#include <dirent.h>
#include <sys/stat.h>

#include "adapters/yaml/yaml_tree.h"
#include "base/buf.h"
#include "base/strlist.h"
#include "testing.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define FILES TEST_SOURCE_DIR "/files/"

static long until_failure;

/* Fails one allocation and serves all others: what fails must notice by itself. */
static void *failing(void *old, size_t size)
{
	return until_failure-- == 0 ? NULL : realloc(old, size);
}

static void fail_allocation(long n)
{
	until_failure = n;
	opk_set_realloc(failing);
}

static bool allocation_failed(void)
{
	opk_set_realloc(NULL);
	return until_failure < 0;
}

/* The innermost cause without the folder, wherever that stands in it. */
static const char *cause(const struct opk_ctx *ctx)
{
	static char text[1024];
	const char *from = opk_error_count(ctx) ? opk_error_message(ctx, 0) : "";
	size_t used = 0;

	while (*from && used < sizeof text - 1) {
		if (!strncmp(from, FILES, strlen(FILES)))
			from += strlen(FILES);
		text[used++] = *from++;
	}
	text[used] = '\0';
	return text;
}

/* A scratch folder with one set in it, for what is searched by name. */
static char folder[64];

static void make_folder(void)
{
	strcpy(folder, "/tmp/check_yaml.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
}

static const char *in_folder(const char *name)
{
	static char path[512];

	snprintf(path, sizeof path, "%s/%s", folder, name);
	return path;
}

static void remove_folder(void)
{
	DIR *dir = opendir(folder);

	for (struct dirent *entry; (entry = readdir(dir));)
		unlink(in_folder(entry->d_name));
	closedir(dir);
	rmdir(folder);
}

static void write_file(const char *name, const void *text, size_t size)
{
	FILE *file = fopen(in_folder(name), "w");

	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(fwrite(text, 1, size, file), size);
	ck_assert_int_eq(fclose(file), 0);
}

static void write_set(const char *name)
{
	static const char text[] = "name: own\nmetrics: [own__metric.sum]\n";

	write_file(name, text, sizeof text - 1);
}

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

/* All names with a blank behind each. */
static const char *listed(const struct opk_set *set, size_t count,
                          const char *get(const struct opk_set *set, size_t i))
{
	static char text[2048];

	text[0] = '\0';
	for (size_t i = 0; i < count; i++) {
		ck_assert_uint_lt(strlen(text) + strlen(get(set, i)) + 2, sizeof text);
		strcat(strcat(text, get(set, i)), " ");
	}
	return text;
}

static const char *metrics_of(const struct opk_set *set)
{
	return listed(set, opk_set_metric_count(set), opk_set_metric);
}

static const char *chips_of(const struct opk_set *set)
{
	return listed(set, opk_set_chip_count(set), opk_set_chip);
}

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
	write_file("large.yaml", buf.data, buf.size);
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

/* ---- sets from names, joined sets -------------------------------------------------------- */

START_TEST(sets_from_names)
{
	static const struct {
		struct here here;
		const char *names;
		const char *wanted; /* NULL: refused */
	} rows[] = {
		{ HERE, "a__b.sum", "a__b.sum " },
		{ HERE, "b__b.sum,a__a.avg", "b__b.sum a__a.avg " },
		{ HERE, "a__b.sum,a__b.sum,a__b.avg", "a__b.sum a__b.avg " },
		{ HERE, ",a__b.sum,,c__d.sum,", "a__b.sum c__d.sum " },
		{ HERE, "anything", "anything " },
		{ HERE, "", NULL },
		{ HERE, ",,", NULL },
	};
	struct opk_ctx *ctx = new_ctx();

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct opk_set *set = NULL;
		int code = opk_set_from_names(&set, ctx, rows[i].names);

		ck_row(&rows[i], code == (rows[i].wanted ? OPK_OK : OPK_EUSAGE), "code %d", code);
		if (code) {
			ck_row(&rows[i], strstr(cause(ctx), "names no metric"), "%s", cause(ctx));
			continue;
		}
		ck_row(&rows[i], !strcmp(metrics_of(set), rows[i].wanted), "%s", metrics_of(set));
		ck_assert_str_eq(opk_set_name(set), "custom");
		ck_assert_str_eq(opk_set_path(set), "");
		ck_assert_str_eq(opk_set_metric_place(set, 0), "");
		ck_assert(!opk_set_has_profiler(set));
		opk_set_free(set);
	}
	opk_set_free(NULL);
	opk_ctx_free(ctx);
}
END_TEST

static struct opk_set *load(struct opk_ctx *ctx, const char *file)
{
	char path[512];
	struct opk_set *set = NULL;

	snprintf(path, sizeof path, FILES "%s", file);
	ck_ok(ctx, opk_set_load(&set, ctx, path));
	return set;
}

static struct opk_set *names(struct opk_ctx *ctx, const char *text)
{
	struct opk_set *set = NULL;

	ck_ok(ctx, opk_set_from_names(&set, ctx, text));
	return set;
}

START_TEST(joined_sets)
{
	struct opk_ctx *ctx = new_ctx();
	struct opk_set *sets[] = { load(ctx, "good-minimal.yaml"), names(ctx, "a__b.sum,x__y.sum"),
		                   load(ctx, "good-json.yaml") };
	struct opk_set *set;

	ck_ok(ctx, opk_set_join(&set, ctx, (const struct opk_set *const *)sets, 3));
	ck_assert_str_eq(metrics_of(set), "sm__cycles_elapsed.sum a__b.sum x__y.sum c__d.avg ");
	ck_assert_str_eq(opk_set_name(set), "minimal+custom+json");
	ck_assert_str_eq(opk_set_path(set), "");
	ck_assert_str_eq(opk_set_metric_place(set, 1), "");
	ck_assert_ptr_nonnull(strstr(opk_set_metric_place(set, 3), "good-json.yaml:2:63"));
	ck_assert(opk_set_has_profiler(set));
	ck_assert_int_eq(opk_set_profiler(set), OPK_PROFILER_RANGE);
	for (size_t i = 0; i < COUNT(sets); i++)
		opk_set_free(sets[i]);
	/* What was joined lives on. */
	ck_assert_str_eq(opk_set_metric(set, 3), "c__d.avg");
	opk_set_free(set);
	opk_ctx_free(ctx);
}
END_TEST

START_TEST(one_set_joined)
{
	struct opk_ctx *ctx = new_ctx();
	struct opk_set *full = load(ctx, "good-full.yaml"), *set;

	ck_ok(ctx, opk_set_join(&set, ctx, (const struct opk_set *const *)&full, 1));
	ck_assert_str_eq(opk_set_name(set), "full");
	ck_assert_str_eq(opk_set_path(set), opk_set_path(full));
	ck_assert_str_eq(opk_set_description(set), opk_set_description(full));
	ck_assert_uint_eq(opk_set_metric_count(set), 3);
	ck_assert_int_eq(opk_set_profiler(set), OPK_PROFILER_PM);
	ck_assert_str_eq(chips_of(set), "GH100 GB100 ");
	opk_set_free(set);
	opk_set_free(full);
	opk_ctx_free(ctx);
}
END_TEST

START_TEST(sets_that_do_not_join)
{
	struct opk_ctx *ctx = new_ctx();
	struct opk_set *sets[] = { load(ctx, "good-full.yaml"), names(ctx, "a__b.sum"),
		                   load(ctx, "good-json.yaml") };
	struct opk_set *set = NULL;

	ck_code(ctx, opk_set_join(&set, ctx, (const struct opk_set *const *)sets, 3), OPK_EUSAGE);
	ck_assert_str_eq(cause(ctx), "set json is for profiler range, a set before it for pm: "
	                             "build them apart");
	ck_code(ctx, opk_set_join(&set, ctx, NULL, 0), OPK_EUSAGE);
	ck_assert_str_eq(cause(ctx), "no metric set was named");
	ck_assert_ptr_null(set);
	for (size_t i = 0; i < COUNT(sets); i++)
		opk_set_free(sets[i]);
	opk_ctx_free(ctx);
}
END_TEST

START_TEST(supported_chips)
{
	static const struct {
		struct here here;
		const char *file;
		struct opk_chip chip;
		bool wanted;
	} rows[] = {
		{ HERE, "good-full.yaml", { "GH100", true, true }, true },
		{ HERE, "good-full.yaml", { "GB100", false, true }, true },
		{ HERE, "good-full.yaml", { "GH100", true, false }, false },
		{ HERE, "good-full.yaml", { "GA100", true, true }, false },
		{ HERE, "good-json.yaml", { "GA100", true, false }, true },
		{ HERE, "good-json.yaml", { "GA100", false, true }, false },
		{ HERE, "good-minimal.yaml", { "GA100", true, false }, true },
		{ HERE, "good-minimal.yaml", { "GA100", false, true }, false },
	};
	struct opk_ctx *ctx = new_ctx();

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct opk_set *set = load(ctx, rows[i].file);

		ck_row(&rows[i], opk_set_supports(set, &rows[i].chip) == rows[i].wanted, "%s",
		       rows[i].chip.name);
		opk_set_free(set);
	}
	opk_ctx_free(ctx);
}
END_TEST

/* ---- finding sets ----------------------------------------------------------------------- */

START_TEST(found_sets)
{
	static const struct {
		struct here here;
		const char *spec, *name;
	} rows[] = {
		{ HERE, "memory", "memory" },
		{ HERE, "pm-overview", "pm-overview" },
		{ HERE, FILES "good-json.yaml", "json" },
		{ HERE, "sm__cycles_elapsed.sum", "custom" },
		{ HERE, "memory,roofline", "custom" },
	};
	struct opk_ctx *ctx = new_ctx();

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct opk_set *set = NULL;
		int code = opk_set_find(&set, ctx, rows[i].spec);

		ck_row(&rows[i], code == OPK_OK, "%s", errors_of(ctx));
		ck_row(&rows[i], !strcmp(opk_set_name(set), rows[i].name), "%s", opk_set_name(set));
		opk_set_free(set);
	}
	opk_ctx_free(ctx);
}
END_TEST

START_TEST(sets_not_found)
{
	static const struct {
		struct here here;
		const char *spec;
		int code;
		const char *wanted;
	} rows[] = {
		{ HERE, "memroy", OPK_EUSAGE,
		  "no metric set 'memroy', did you mean memory?; 'offpeak" },
		{ HERE, "speed-of-ligth", OPK_EUSAGE, "did you mean speed-of-light?" },
		{ HERE, "Memory", OPK_EUSAGE, "did you mean memory?" },
		{ HERE, "somethingelse", OPK_EUSAGE,
		  "no metric set 'somethingelse'; 'offpeak sets'" },
		{ HERE, "", OPK_EUSAGE, "no metric set ''" },
		{ HERE, ",", OPK_EUSAGE, "',' names no metric" },
		{ HERE, "none.yaml", OPK_EINPUT, "none.yaml: can't open" },
		{ HERE, "none.yml", OPK_EINPUT, "none.yml: can't open" },
		{ HERE, "no/ne", OPK_EINPUT, "no/ne: can't open" },
	};
	struct opk_ctx *ctx = new_ctx();

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct opk_set *set = NULL;
		int code = opk_set_find(&set, ctx, rows[i].spec);

		ck_row(&rows[i], code == rows[i].code && !set, "code %d", code);
		ck_row(&rows[i], strstr(cause(ctx), rows[i].wanted), "got %s", cause(ctx));
	}
	opk_ctx_free(ctx);
}
END_TEST

/* A context whose OFFPEAK_SETS is the scratch folder. */
static struct opk_ctx *new_ctx_with_folder(void)
{
	struct opk_ctx_options options = OPK_INIT(options);
	struct opk_env env = { .sets = folder };
	struct opk_ctx *ctx;

	options.env = &env;
	options.log = unexpected_log;
	options.data_dir = TEST_DATA_DIR;
	ck_assert_int_eq(opk_ctx_new(&ctx, &options), OPK_OK);
	return ctx;
}

START_TEST(own_folder_comes_first)
{
	struct opk_ctx *ctx = new_ctx_with_folder();
	struct opk_set *set;

	write_set("memory.yaml");
	ck_ok(ctx, opk_set_find(&set, ctx, "memory"));
	ck_assert_str_eq(opk_set_name(set), "own");
	opk_set_free(set);
	ck_ok(ctx, opk_set_find(&set, ctx, "roofline"));
	ck_assert_str_eq(opk_set_name(set), "roofline");
	opk_set_free(set);
	opk_ctx_free(ctx);
}
END_TEST

/* What the list names can be found. */
START_TEST(own_folder_with_yml)
{
	struct opk_ctx *ctx = new_ctx_with_folder();
	struct opk_set_list *list;
	struct opk_set *set;

	write_set("mine.yml");
	write_set(".hidden.yaml");
	write_set("mine.txt");
	ck_ok(ctx, opk_set_list_new(&list, ctx));
	ck_assert_str_eq(opk_set_list_path(list, 0), in_folder("mine.yml"));
	ck_assert_ptr_null(strstr(opk_set_list_path(list, 1), folder));
	opk_set_list_free(list);
	ck_ok(ctx, opk_set_find(&set, ctx, "mine"));
	ck_assert_str_eq(opk_set_name(set), "own");
	opk_set_free(set);
	opk_ctx_free(ctx);
}
END_TEST

/* ---- shipped sets ----------------------------------------------------------------------- */

static size_t shipped_files(void)
{
	DIR *dir = opendir(TEST_DATA_DIR "/sets");
	size_t count = 0;

	ck_assert_ptr_nonnull(dir);
	for (struct dirent *entry; (entry = readdir(dir));)
		count += strstr(entry->d_name, ".yaml") != NULL;
	closedir(dir);
	return count;
}

static void check_shipped(struct opk_ctx *ctx, const char *path)
{
	struct opk_set *set = NULL, *found = NULL;
	char wanted[600];

	ck_ok(ctx, opk_set_load(&set, ctx, path));
	snprintf(wanted, sizeof wanted, "%s/sets/%s.yaml", TEST_DATA_DIR, opk_set_name(set));
	ck_assert_str_eq(path, wanted);
	ck_assert_msg(*opk_set_description(set), "%s: no description", path);
	ck_assert_msg(opk_set_has_profiler(set), "%s: no profiler", path);
	ck_ok(ctx, opk_set_find(&found, ctx, opk_set_name(set)));
	ck_assert_str_eq(opk_set_path(found), path);
	ck_assert_uint_eq(opk_set_metric_count(found), opk_set_metric_count(set));
	opk_set_free(found);
	opk_set_free(set);
}

START_TEST(shipped_sets)
{
	struct opk_ctx *ctx = new_ctx();
	struct opk_set_list *list;
	char last[64] = "";

	ck_ok(ctx, opk_set_list_new(&list, ctx));
	ck_assert_uint_gt(opk_set_list_count(list), 20);
	ck_assert_uint_eq(opk_set_list_count(list), shipped_files());
	for (size_t i = 0; i < opk_set_list_count(list); i++) {
		check_shipped(ctx, opk_set_list_path(list, i));
		const char *name = strrchr(opk_set_list_path(list, i), '/') + 1;
		int length = (int)strcspn(name, ".");

		ck_assert_int_gt(strncmp(name, last, (size_t)length), 0);
		snprintf(last, sizeof last, "%.*s", length, name);
	}
	opk_set_list_free(list);
	opk_set_list_free(NULL);
	opk_ctx_free(ctx);
}
END_TEST

/* ---- out of memory ---------------------------------------------------------------------- */

static int load_full(struct opk_set **out, struct opk_ctx *ctx)
{
	return opk_set_load(out, ctx, FILES "good-full.yaml");
}

static int find_memory(struct opk_set **out, struct opk_ctx *ctx)
{
	return opk_set_find(out, ctx, "memory");
}

static int find_names(struct opk_set **out, struct opk_ctx *ctx)
{
	return opk_set_find(out, ctx, "a__b.sum,c__d.sum");
}

static const struct opk_set *to_join[2];

static int join_two(struct opk_set **out, struct opk_ctx *ctx)
{
	return opk_set_join(out, ctx, to_join, 2);
}

static int join_one(struct opk_set **out, struct opk_ctx *ctx)
{
	return opk_set_join(out, ctx, to_join, 1);
}

START_TEST(sets_without_memory)
{
	static const struct {
		struct here here;
		int (*make)(struct opk_set **out, struct opk_ctx *ctx);
	} rows[] = {
		{ HERE, load_full }, { HERE, find_memory }, { HERE, find_names },
		{ HERE, join_two },  { HERE, join_one },
	};
	struct opk_ctx *ctx = new_ctx();
	struct opk_set *sets[] = { load(ctx, "good-minimal.yaml"), load(ctx, "good-json.yaml") };

	to_join[0] = sets[0];
	to_join[1] = sets[1];
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct opk_set *set = NULL;
		int code;

		for (long n = 0;; n++) {
			fail_allocation(n);
			code = rows[i].make(&set, ctx);
			if (!allocation_failed())
				break;
			ck_row(&rows[i], code == OPK_ENOMEM && !set, "allocation %ld: %d", n, code);
			ck_row(&rows[i], strstr(cause(ctx), "out of memory"), "%s", cause(ctx));
		}
		ck_row(&rows[i], code == OPK_OK, "%s", errors_of(ctx));
		opk_set_free(set);
	}
	opk_set_free(sets[0]);
	opk_set_free(sets[1]);
	opk_ctx_free(ctx);
}
END_TEST

START_TEST(list_without_memory)
{
	struct opk_ctx *ctx = new_ctx();
	struct opk_set_list *list = NULL;
	int code;

	for (long n = 0;; n++) {
		fail_allocation(n);
		code = opk_set_list_new(&list, ctx);
		if (!allocation_failed())
			break;
		ck_assert_msg(code == OPK_ENOMEM && !list, "allocation %ld: %d", n, code);
	}
	ck_assert_int_eq(code, OPK_OK);
	opk_set_list_free(list);
	opk_ctx_free(ctx);
}
END_TEST

/* The suggestion may be lost with the memory, the answer may not. */
START_TEST(misspelt_without_memory)
{
	struct opk_ctx *ctx = new_ctx();
	struct opk_set *set = NULL;
	int code;

	for (long n = 0;; n++) {
		fail_allocation(n);
		code = opk_set_find(&set, ctx, "memroy");
		if (!allocation_failed())
			break;
		ck_assert_msg(code == OPK_ENOMEM || code == OPK_EUSAGE, "allocation %ld: %d", n,
		              code);
	}
	ck_assert_int_eq(code, OPK_EUSAGE);
	ck_assert_ptr_nonnull(strstr(cause(ctx), "did you mean memory?"));
	opk_ctx_free(ctx);
}
END_TEST

static TCase *add_case(Suite *suite, const char *name)
{
	TCase *tests = tcase_create(name);

	suite_add_tcase(suite, tests);
	/* A memory checker is twenty times slower. */
	tcase_set_timeout(tests, 60);
	return tests;
}

static void add_files(TCase *tests)
{
	tcase_add_checked_fixture(tests, make_folder, remove_folder);
	tcase_add_test(tests, bad_sets);
	tcase_add_test(tests, good_sets);
	tcase_add_test(tests, files_are_listed_and_explained);
	tcase_add_test(tests, unreadable_sets);
	tcase_add_test(tests, large_sets);
	tcase_add_test(tests, own_folder_comes_first);
	tcase_add_test(tests, own_folder_with_yml);
}

int main(void)
{
	Suite *suite = suite_create("yaml");
	TCase *tests = add_case(suite, "tree");

	tcase_add_test(tests, trees);
	tcase_add_test(tests, bad_trees);
	tcase_add_test(tests, tree_depth);
	add_files(add_case(suite, "files"));
	tests = add_case(suite, "sets");
	tcase_add_test(tests, sets_from_names);
	tcase_add_test(tests, joined_sets);
	tcase_add_test(tests, one_set_joined);
	tcase_add_test(tests, sets_that_do_not_join);
	tcase_add_test(tests, supported_chips);
	tcase_add_test(tests, found_sets);
	tcase_add_test(tests, sets_not_found);
	tcase_add_test(tests, shipped_sets);
	tests = add_case(suite, "memory");
	tcase_add_test(tests, sets_without_memory);
	tcase_add_test(tests, list_without_memory);
	tcase_add_test(tests, misspelt_without_memory);
	return run_suite(suite);
}
