/* SPDX-License-Identifier: BSD-2-Clause */
/* Metric sets made from section files and lists of names, and their YAML. */
#include <dirent.h>
#include <time.h>

#include "adapters/yaml/yaml_tree.h"
#include "allocation.h"
#include "base/buf.h"
#include "base/file.h"
#include "nsight/door.h"
#include "nsight/nsight.h"
#include "folder.h"
#include "metric_sets.h"

#define SECTIONS FILES "sections/"

/* ---- YAML ------------------------------------------------------------------------------- */

static int parse(struct opk_yaml **out, struct opk_ctx *ctx, const void *text, size_t size)
{
	opk_auto(opk_source) struct opk_source *source = opk_source_new("t", text, size);
	opk_autoproblems struct opk_problems problems = { 0 };
	int code = opk_yaml_parse(out, ctx, &problems, source);

	return code ? opk_problems_fail(ctx, &problems, code, "t") : code;
}

/* Writing and reading again gives the same, except bytes that are not UTF-8. */
CTX_TEST(yaml_comes_back)
{
	static const char *const texts[] = {
		"",
		"a",
		"A b",
		" a",
		"a ",
		"a: b",
		"a #b",
		"#",
		"- a",
		"-",
		"---",
		"...",
		"?",
		"!x",
		"&x",
		"*x",
		"%x",
		"@x",
		"`",
		"|",
		">",
		">-",
		"'",
		"\"",
		"it's \"so\"",
		"[a]",
		"{a}",
		"a, b",
		"null",
		"~",
		"yes",
		"No",
		"12",
		"0x1F",
		"1e9",
		"1.5",
		"2 * a__b.sum",
		"(a + b) / c",
		"-1",
		"<<",
		"a\nb",
		"a\tb",
		"\x01\x7f",
		"\\",
		"\\n",
		"\xc2\x85",
		"\xe2\x80\xa8",
		"\xef\xbb\xbf",
		"\xc3\xa9\xe2\x82\xac",
		"\xf0\x9f\x98\x80",
		"\xc2\xa0",
		"/a__b\\.[a-z]+/",
		"a  b",
		"a\r\nb",
		"  ",
		"\xef\xbf\xbe",
		"a very long text which is folded, for it has more than a hundred characters: it goes on, # and on, "
		"and 'on', - until it finds an end.",
		"a very long text which can't be folded, for it has  two blanks, and more than a hundred characters "
		"as it goes on until it ends.",
		" a very long text which can't be folded, for it begins with a blank, and has more than a hundred "
		"characters as it goes on.",
		"averylongwordwhichhasmorethanahundredcharactersandcannotbefoldedanywhereforithasnoblanksanywhereatallno",
	};

	for (size_t i = 0; i < COUNT(texts); i++) {
		opk_autobuf struct opk_buf buf = { 0 };
		opk_autostrlist struct opk_strlist list = { 0 };
		freed(opk_yaml) *root = NULL;

		ck_assert(opk_strlist_add(&list, texts[i]) && opk_strlist_add(&list, "x"));
		opk_yaml_put_prose(&buf, 0, "prose", texts[i]);
		opk_buf_add_text(&buf, "list: ");
		opk_yaml_put_list(&buf, &list);
		opk_buf_add_text(&buf, "  ");
		opk_yaml_put_comment(&buf, texts[i]);
		opk_buf_add_text(&buf, "\nitems:\n  - ");
		opk_yaml_put_text(&buf, texts[i]);
		opk_buf_add_text(&buf, "\n");
		opk_buf_add_text(&buf, "map:\n");
		opk_yaml_put_prose(&buf, 4, "prose", texts[i]);
		ck_assert(!buf.failed);
		ck_ok(ctx, parse(&root, ctx, buf.data, buf.size));
		ck_assert_uint_eq(root->count, 8);
		ck_assert_str_eq(root->items[1].text, texts[i]);
		ck_assert_uint_eq(root->items[3].count, 2);
		ck_assert_str_eq(root->items[3].items[0].text, texts[i]);
		ck_assert_str_eq(root->items[5].items[0].text, texts[i]);
		ck_assert_str_eq(root->items[7].items[1].text, texts[i]);
	}
}

TEST(yaml_of_other_bytes)
{
	opk_autobuf struct opk_buf buf = { 0 };

	opk_yaml_put_text(&buf, "a\xff\xc3"
	                        "b");
	opk_yaml_put_comment(&buf, "a\xff\n\xe2\x80\xa9"
	                           "b");
	opk_buf_add(&buf, "", 1);
	ck_assert_str_eq((char *)buf.data, "\"a\\ufffd\\ufffdb\"# a   b");
}

/* ---- sets ------------------------------------------------------------------------------- */

static const struct bad {
	struct here here;
	const char *file, *wanted;
} bad[] = {
	{ HERE, "bad-arch.section", "5:21: MinArch is an architecture like CC_90, not Hopper" },
	{ HERE, "bad-arch-text.section", "4:20: MaxArch is an architecture like CC_90, not CC_" },
	{ HERE, "bad-bracket.section", "5:1: '}' does not close the '<' of line 3" },
	{ HERE, "bad-closing.section", "4:1: '}' closes nothing" },
	{ HERE, "bad-colon.section", "2:12: ':' or '{' is needed after Identifier" },
	{ HERE, "bad-deep.section", "3:131: nested deeper than 32 levels" },
	{ HERE, "bad-escape.section", "2:16: unknown escape in a string" },
	{ HERE, "bad-extension.section", "3:1: an extension's name is not understood here" },
	{ HERE, "bad-identifier.section",
	  "1:1: a section has an Identifier, which this one lacks" },
	{ HERE, "bad-list-control.txt", "2:18: this is not a metric name" },
	{ HERE, "bad-list-name.txt", "2:24: 'dram__bytes;sum' is not a metric name" },
	{ HERE, "bad-list-prefix.txt", "2:1: a name is needed after the prefix" },
	{ HERE, "bad-list.section", "4:1: ',' or ']' is needed here, in the list of Numbers" },
	{ HERE, "bad-metric.section", "3:17: 'sm__cycles active.avg' is not a metric name" },
	{ HERE, "bad-name.section", "3:1: a field's name is needed here, not ':'" },
	{ HERE, "bad-nul.section", "2:19: a NUL character in a string" },
	{ HERE, "bad-number.section",
	  "3:8: '12abc' is neither a number nor a name; text has quotes" },
	{ HERE, "bad-open.section", "3:8: '{' is never closed" },
	{ HERE, "bad-regex.section",
	  "4:17: regular expression /dram__[bytes/: Unmatched [, [^, [:, [., or [=" },
	{ HERE, "bad-string.section", "2:13: a string that is not closed on its line" },
	{ HERE, "bad-utf8.section", "2:13: this string is not UTF-8" },
	{ HERE, "bad-value.section", "3:8: a value is needed after Order:" },
};

CTX_TEST(bad_files)
{
	for (size_t i = 0; i < COUNT(bad); i++) {
		struct opk_set_import *import = NULL;
		char path[600], wanted[300];
		int code;

		snprintf(path, sizeof path, SECTIONS "%s", bad[i].file);
		snprintf(wanted, sizeof wanted, "sections/%s:%s", bad[i].file, bad[i].wanted);
		code = opk_set_import_new(&import, ctx,
		                          &(struct opk_set_import_options){ .path = path });
		ck_row(&bad[i], code == OPK_EINPUT && !import, "code %d", code);
		ck_row(&bad[i], !strcmp(cause(ctx), wanted), "got %s", cause(ctx));
	}
}

static const struct good {
	struct here here;
	const char *file;
	const char *sets; /* the golden files, in the order of the sets */
	size_t left_out;
} good[] = {
	{ HERE, "kernel.section", "kernel.yaml kernel-device.yaml", 13 },
	{ HERE, "names.txt", "names.yaml names-pm.yaml", 3 },
	{ HERE, "sampling.section", "sampling.yaml sampling-range.yaml sampling-pm2.yaml", 3 },
	{ HERE, "syntax.section", "syntax.yaml", 0 },
};

/* tests/files/sections/make.sh makes golden files; check them before keeping them. */
static void check_golden(const struct good *row, const struct opk_imported_set *set,
                         const char *file)
{
	freed(opk_ctx) *ctx = new_ctx();
	opk_autofree void *text = NULL;
	freed(opk_set) *read = NULL;
	char path[600];
	size_t size;

	snprintf(path, sizeof path, SECTIONS "%s", file);
	ck_ok(ctx, opk_read_file(&text, &size, ctx, path));
	ck_row(row, size == strlen(set->yaml) && !memcmp(text, set->yaml, size), "%s is not\n%s",
	       file, set->yaml);
	ck_row(row, opk_set_load(&read, ctx, path) == OPK_OK, "%s", errors_of(ctx));
	ck_row(row, !strcmp(opk_set_name(read), set->name), "named %s", opk_set_name(read));
	ck_row(row, opk_set_profiler(read) == set->profiler, "profiler %d", opk_set_profiler(read));
}

CTX_TEST(good_files)
{
	for (size_t i = 0; i < COUNT(good); i++) {
		opk_autofree char *copy = opk_strdup(good[i].sets);
		freed(opk_set_import) *import = NULL;
		char path[600], *rest = copy;
		size_t count = 0;
		int code;

		snprintf(path, sizeof path, SECTIONS "%s", good[i].file);
		code = opk_set_import_new(&import, ctx,
		                          &(struct opk_set_import_options){ .path = path });
		ck_row(&good[i], code == OPK_OK, "%s", errors_of(ctx));
		for (char *name; (name = strsep(&rest, " ")); count++) {
			ck_row(&good[i], count < opk_set_import_count(import), "%zu sets", count);
			check_golden(&good[i], opk_set_import_get(import, count), name);
		}
		ck_row(&good[i], count == opk_set_import_count(import), "more than %zu sets",
		       count);
		ck_row(&good[i], opk_set_import_get(import, 0)->left_out_count == good[i].left_out,
		       "%zu left out", opk_set_import_get(import, 0)->left_out_count);
	}
	opk_set_import_free(NULL);
}

static bool in_tables(const char *file)
{
	for (size_t i = 0; i < COUNT(bad); i++)
		if (!strcmp(bad[i].file, file))
			return true;
	for (size_t i = 0; i < COUNT(good); i++)
		if (!strcmp(good[i].file, file) || strstr(good[i].sets, file))
			return true;
	return !strcmp(file, "make.sh") || file[0] == '.';
}

/* Each file must be in a table, and must have an explanation. */
TEST(files_are_listed_and_explained)
{
	DIR *dir = opendir(SECTIONS);

	ck_assert_ptr_nonnull(dir);
	for (struct dirent *entry; (entry = readdir(dir));) {
		char path[600];
		FILE *file;

		ck_assert_msg(in_tables(entry->d_name), "no table has %s", entry->d_name);
		snprintf(path, sizeof path, SECTIONS "%s", entry->d_name);
		file = fopen(path, "r");
		ck_assert_ptr_nonnull(file);
		ck_assert_msg(entry->d_name[0] == '.' || fgetc(file) == '#',
		              "%s begins with no comment", entry->d_name);
		fclose(file);
	}
	closedir(dir);
}

CTX_TEST(import_without_memory)
{
	static const char *const files[] = { SECTIONS "kernel.section", SECTIONS "sampling.section",
		                             SECTIONS "names.txt" };

	for (size_t i = 0; i < COUNT(files); i++)
		for (long n = 0;; n++) {
			struct opk_set_import *import = NULL;
			bool failed;
			int code;

			fail_allocation(n);
			code = opk_set_import_new(&import, ctx,
			                          &(struct opk_set_import_options){
							  .path = files[i] });
			failed = allocation_failed();
			ck_assert_msg(!failed || (code == OPK_ENOMEM && !import),
			              "%s, allocation %ld: %d", files[i], n, code);
			opk_set_import_free(import);
			if (!failed)
				break;
		}
}

/* The error for a text, written to a file. */
static const char *refusal(struct opk_ctx *ctx, const char *file, const struct opk_buf *text,
                           int wanted)
{
	struct opk_set_import *import = NULL;
	const char *colon;

	put_file(file, text->data, text->size);
	ck_code(ctx,
	        opk_set_import_new(&import, ctx,
	                           &(struct opk_set_import_options){ .path = in_folder(file) }),
	        wanted);
	ck_assert_ptr_null(import);
	colon = strchr(cause(ctx), ':');
	return colon ? colon : cause(ctx);
}

CTX_TEST(limits_of_files)
{
	opk_autobuf struct opk_buf many = { 0 }, often = { 0 }, large = { 0 }, none = { 0 },
				   defined = { 0 }, table = { 0 }, wide = { 0 };

	for (size_t i = 0; i < 10001; i++)
		opk_buf_add_printf(&many, "a__%zu.sum\n", i);
	ck_assert_str_eq(refusal(ctx, "x", &many, OPK_EINPUT), ": more than 10000 metrics");
	for (size_t i = 0; i < 50001; i++)
		opk_buf_add_text(&often, "a__b.sum,");
	ck_assert_str_eq(refusal(ctx, "x", &often, OPK_EINPUT),
	                 ": names metrics more than 50000 times");
	/* Nothing in this table has a name. */
	opk_buf_add_text(&table, "Identifier: 'a' Body { BaseNames {");
	for (size_t i = 0; i < 600; i++)
		opk_buf_add_text(&table, i == 300 ? " } Suffixes { a: 1" : " a: 1");
	opk_buf_add_text(&table, " } }");
	ck_assert_str_eq(refusal(ctx, "x.section", &table, OPK_EINPUT),
	                 ": names metrics more than 50000 times");
	/* Each name means a walk over the fields of its message. */
	opk_buf_add_text(&wide, "Identifier: 'a' Body { BaseNames { x { Name: 'a__b.' ");
	for (size_t i = 0; i < 7400; i++)
		opk_buf_add_text(&wide, i < 6400    ? " a: 1"
		                        : i == 6400 ? " } } Suffixes {"
		                                    : " x { Name: 'sum' }");
	opk_buf_add_text(&wide, " } }");
	ck_assert_str_eq(refusal(ctx, "x.section", &wide, OPK_EINPUT),
	                 ": names metrics more than 50000 times");
	while (large.size <= 8 << 20)
		opk_buf_add_text(&large, "a__b.sum\n");
	ck_assert_str_eq(refusal(ctx, "x", &large, OPK_EINPUT), ": more than 8388608 bytes");
	opk_buf_add_text(&none, "# nothing\n");
	ck_assert_str_eq(refusal(ctx, "x", &none, OPK_EFAILED),
	                 ": it names nothing that a metric set can collect");
	opk_buf_add_text(&defined, "Identifier: 'x' MetricDefinitions {");
	for (size_t i = 0; i < 1001; i++)
		opk_buf_add_text(&defined, "MetricDefinitions { Name: 'x' Expression: '1' }");
	opk_buf_add_text(&defined, "}");
	ck_assert_str_eq(refusal(ctx, "x", &defined, OPK_EINPUT),
	                 "more than 1000 definitions of metrics");
}

/* Each name of a table counts once. */
CTX_TEST(names_of_a_table)
{
	opk_autobuf struct opk_buf text = { 0 };
	freed(opk_set_import) *import = NULL;

	opk_buf_add_text(&text, "Identifier: 'a' Body { BaseNames {");
	for (size_t i = 0; i < 400; i++)
		opk_buf_add_text(&text, i < 200    ? " x { Name: 'a__b.' }"
		                        : i == 200 ? " } Suffixes { x { Name: 'sum' }"
		                                   : " x { Name: 'sum' }");
	opk_buf_add_text(&text, " } }");
	put_file("x.section", text.data, text.size);
	ck_ok(ctx, opk_set_import_new(&import, ctx,
	                              &(struct opk_set_import_options){
					      .path = in_folder("x.section") }));
	ck_assert_uint_eq(opk_set_import_get(import, 0)->metric_count, 1);
}

/* The maximum number of names, quickly: a search among all others for each takes seconds. */
CTX_TEST(many_names)
{
	opk_autobuf struct opk_buf text = { 0 };
	freed(opk_set_import) *import = NULL;
	clock_t before;

	for (size_t i = 0; i < 10000; i++)
		opk_buf_add_printf(&text, "a__%zu.sum # %zu\n", i, i);
	for (size_t i = 0; i < 40000; i++)
		opk_buf_add_printf(&text, "launch__%zu\n", i);
	put_file("x.txt", text.data, text.size);
	before = clock();
	ck_ok(ctx,
	      opk_set_import_new(&import, ctx,
	                         &(struct opk_set_import_options){ .path = in_folder("x.txt") }));
	ck_assert_int_lt(clock() - before, 2 * CLOCKS_PER_SEC);
	ck_assert_uint_eq(opk_set_import_get(import, 0)->metric_count, 10000);
	ck_assert_uint_eq(opk_set_import_get(import, 0)->left_out_count, 40000);
}

static const struct {
	struct here here;
	const char *text, *wanted;
	bool bad;
} lists_rows[] = {
	{ HERE,
	  "\xef\xbb\xbf"
	  "dram__bytes.sum\n",
	  "  - dram__bytes.sum\n", false },
	{ HERE,
	  "\xef\xbb\xbf"
	  "dram__bytes;sum\n",
	  "x.txt:1:1: 'dram__bytes;sum' is not a metric name", true },
	/* Nsight Compute's own lists are left out, as in sections. */
	{ HERE, "a__b.sum\ngroup:foo\n",
	  "# lists of metrics that Nsight Compute has built in:\n#     group:foo\n", false },
	{ HERE, "a__b.sum\ngroup:smsp__pcsamp_warp\n", "#     group:smsp__pcsamp_warp\n", false },
	{ HERE, "regex:^a|b$", "  - '/.*(^a|b$).*/'\n", false },
	{ HERE, "regex:^(a|b)$", "  - '/^(a|b)$/'\n", false },
	{ HERE, "regex:[)]|x", "  - '/.*([)]|x).*/'\n", false },
	/* Lines that a set can't have. */
	{ HERE, "a__b.sum\nregex:dram__(",
	  "x.txt:2:1: regular expression /dram__(/: Unmatched ( or \\(", true },
	{ HERE, "regex:)(|", "x.txt:1:1: regular expression /)(|/: a ')' closes nothing", true },
	{ HERE, "regex:(a)\\1", "x.txt:1:1: back-references are not allowed in regular expressions",
	  true },
	{ HERE, "regex:a$", "  - '/.*(a$).*/'\n", false },
	{ HERE, "regex:${x}", "x.txt:1:1: '${' stands for a parameter in sets", true },
	{ HERE, "a__b.sum\n a:b", "x.txt:2:2: 'a:b' is not a metric name", true },
	{ HERE, "# \xe2\x80\xa8 \xc3\xa9\nb__c.sum # \xc3\xa9\n, a:b",
	  "x.txt:4:3: 'a:b' is not a metric name", true },
};

/* Pieces of lists, and the resulting set, or the error of a bad one. */
CTX_TEST_EACH(lists, lists_rows)
{
	freed(opk_set_import) *import = NULL;
	const char *got;
	int code;

	put_file("x.txt", row->text, strlen(row->text));
	code = opk_set_import_new(&import, ctx,
	                          &(struct opk_set_import_options){ .path = in_folder("x.txt") });
	ck_row(row, code == (row->bad ? OPK_EINPUT : OPK_OK), "%d: %s", code, errors_of(ctx));
	got = code ? strstr(cause(ctx), "x.txt:") : opk_set_import_get(import, 0)->yaml;
	ck_row(row, strstr(got, row->wanted), "got %s", got);
}

/* A chip with more passes than there may be sets. */
CTX_TEST(many_passes)
{
	opk_autobuf struct opk_buf text = { 0 };
	freed(opk_set_import) *import = NULL;

	opk_buf_add_text(&text, "Identifier: 'x'");
	for (size_t i = 0; i < 400; i++)
		opk_buf_add_printf(&text,
		                   "Metrics { Name: 'pmsampling:a__%zu.sum' Groups: 'g%zu' }", i,
		                   i);
	put_file("x.section", text.data, text.size);
	ck_ok(ctx, opk_set_import_new(&import, ctx,
	                              &(struct opk_set_import_options){
					      .path = in_folder("x.section") }));
	ck_assert_uint_eq(opk_set_import_count(import), 16);
	ck_assert_uint_eq(opk_set_import_get(import, 0)->left_out_count, 384);
	ck_assert_str_eq(opk_set_import_get(import, 15)->name, "x-pm16");
}

SUITE(.set_up = make_folder, .tear_down = remove_folder);
