/* SPDX-License-Identifier: BSD-2-Clause */
/* Files of metric sets, good and bad: tests/files, and files that are too large or missing. */
#include <dirent.h>

#include "allocation.h"
#include "base/buf.h"
#include "base/strlist.h"
#include "fake_nv.h"
#include "folder.h"
#include "golden.h"
#include "metric_sets.h"
#include "resolve/resolve.h"
#include "set/door.h"
#include "testing.h"

/* ---- bad files -------------------------------------------------------------------------- */

/* The sorted names in tests/files that begin so. */
static void list_files(struct opk_strlist *out, const char *beginning)
{
	DIR *dir = opendir(FILES);

	ck_assert_ptr_nonnull(dir);
	for (struct dirent *entry; (entry = readdir(dir));)
		if (!strncmp(entry->d_name, beginning, strlen(beginning))
		    && strstr(entry->d_name, ".yaml"))
			ck_assert(opk_strlist_add(out, entry->d_name));
	closedir(dir);
	opk_strlist_sort(out);
}

static void add_messages(struct opk_buf *out, const struct opk_ctx *ctx)
{
	for (size_t i = 0; i < opk_error_count(ctx); i++) {
		const char *line = message(ctx, i);

		for (; *line; line++)
			opk_buf_add(out, *line == '\n' ? "?" : line, 1);
		opk_buf_add_text(out, "\n");
	}
}

/* Adds what offpeak prints for a file. */
static void add_errors(struct opk_buf *out, struct opk_ctx *ctx, const char *file)
{
	char path[512];
	struct opk_set *set = NULL;
	int code;

	snprintf(path, sizeof path, FILES "%s", file);
	code = opk_set_load(&set, ctx, path);
	ck_assert_msg(code == OPK_EINPUT && !set, "%s: %d", file, code);
	opk_buf_add_printf(out, "== %s\n", file);
	add_messages(out, ctx);
}

/* Adds what it prints in addition when it checks the file on a chip. */
static void add_errors_on(struct opk_buf *out, struct opk_ctx *ctx, const char *file)
{
	char path[512];
	freed(opk_set) *set = NULL;
	freed(opk_chips) *chips = NULL;

	snprintf(path, sizeof path, FILES "%s", file);
	ck_code(ctx, opk_set_find_partly(&set, ctx, path), OPK_EINPUT);
	ck_assert_ptr_nonnull(set);
	ck_ok(ctx, opk_chips_new(&chips, ctx));
	opk_buf_add_text(out, "-- chips\n");
	if (opk_set_check_claims(ctx, set, chips))
		add_messages(out, ctx);
	opk_buf_add_text(out, "-- FA100\n");
	if (opk_set_check_on(ctx, set, "fa100"))
		add_messages(out, ctx);
}

/* Every word of every error is compared with the golden file. */
TEST(bad_sets)
{
	struct opk_ctx *ctx = new_ctx(), *with_chips = fake_ctx();
	opk_autostrlist struct opk_strlist names = { 0 };
	opk_autobuf struct opk_buf told = { 0 };

	list_files(&names, "bad-");
	ck_assert_uint_gt(names.count, 45);
	for (size_t i = 0; i < names.count; i++) {
		bool mixed = strstr(names.items[i], "mixed");

		add_errors(&told, mixed ? with_chips : ctx, names.items[i]);
		if (mixed)
			add_errors_on(&told, with_chips, names.items[i]);
	}
	ck_assert_int_eq(fake.hosts, 0);
	opk_ctx_free(with_chips);
	ck_golden("bad-sets.txt", told.data, told.size);
	opk_ctx_free(ctx);
}

/* ---- good files ------------------------------------------------------------------------- */

static const struct good {
	struct here here;
	const char *file, *name, *description;
	const char *profiler; /* NULL: none */
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
	const char *profiler = opk_set_has_profiler(set) ? opk_profiler_name(opk_set_profiler(set))
	                                                 : "(none)";
	opk_autofree char *found = opk_place_text(
		&set->items.items[set->items.count - 1].what.place);
	char place[600];

	snprintf(place, sizeof place, "%s:%s", path, row->last_place);
	ck_row(row, !strcmp(opk_set_name(set), row->name), "%s", opk_set_name(set));
	ck_row(row, !strcmp(opk_set_description(set), row->description), "%s",
	       opk_set_description(set));
	ck_row(row, !strcmp(opk_set_path(set), path), "%s", opk_set_path(set));
	ck_row(row, !strcmp(profiler, row->profiler ? row->profiler : "(none)"), "%s", profiler);
	ck_row(row, !strcmp(metrics_of(set), row->metrics), "%s", metrics_of(set));
	ck_row(row, !strcmp(chips_of(set), row->chips), "%s", chips_of(set));
	ck_row(row, found && !strcmp(found, place), "%s", found);
}

CTX_TEST(good_sets)
{
	for (size_t i = 0; i < COUNT(good); i++) {
		char path[512];
		freed(opk_set) *set = NULL;
		int code;

		snprintf(path, sizeof path, FILES "%s", good[i].file);
		code = opk_set_load(&set, ctx, path);
		ck_row(&good[i], code == OPK_OK, "%s", errors_of(ctx));
		check_good(&good[i], set, path);
	}
}

/* check_real_resolve.c checks their metrics. */
CTX_TEST(all_good_sets_load)
{
	opk_autostrlist struct opk_strlist names = { 0 };

	list_files(&names, "good-");
	ck_assert_uint_gt(names.count, COUNT(good));
	for (size_t i = 0; i < names.count; i++) {
		char path[600];
		freed(opk_set) *set = NULL;

		snprintf(path, sizeof path, FILES "%s", names.items[i]);
		ck_ok(ctx, opk_set_load(&set, ctx, path));
	}
}

/* Each file needs an explanation. */
TEST(files_are_explained)
{
	opk_autostrlist struct opk_strlist names = { 0 };

	list_files(&names, "");
	for (size_t i = 0; i < names.count; i++) {
		char path[600];
		FILE *file;

		snprintf(path, sizeof path, FILES "%s", names.items[i]);
		file = fopen(path, "r");
		ck_assert_ptr_nonnull(file);
		ck_assert_msg(fgetc(file) == '#', "%s begins with no comment", names.items[i]);
		fclose(file);
	}
}

/* ---- other files ------------------------------------------------------------------------ */

static const struct {
	struct here here;
	const char *file, *wanted;
} unreadable_sets_rows[] = {
	{ HERE, "/nowhere/set.yaml", "/nowhere/set.yaml: can't open: No such file or directory" },
	{ HERE, "/dev/null", "/dev/null: not a regular file" },
	{ HERE, "/tmp", "/tmp: is a folder" },
	{ HERE, TEST_SOURCE_DIR "/../data/recordings/gh100-simple.opk",
	  TEST_SOURCE_DIR
	  "/../data/recordings/gh100-simple.opk: is an .opk file, not the YAML of a metric set" },
};

CTX_TEST_EACH(unreadable_sets, unreadable_sets_rows)
{
	struct opk_set *set = NULL;
	int code = opk_set_load(&set, ctx, row->file);

	ck_row(row, code == OPK_EINPUT && !set, "code %d", code);
	ck_row(row, !strcmp(cause(ctx), row->wanted), "got %s", cause(ctx));
}

TEST(no_folder_of_sets)
{
	struct opk_ctx_options options = OPTIONS(options, .data_dir = "/nowhere");
	struct opk_set *set = NULL;
	freed(opk_ctx) *ctx = NULL;

	ck_assert_int_eq(opk_ctx_new(&ctx, &options), OPK_OK);
	ck_code(ctx, opk_set_find(&set, ctx, "roofline"), OPK_EUSAGE);
	ck_assert_ptr_nonnull(strstr(cause(ctx), "no shipped sets were found"));
	ck_assert_ptr_nonnull(strstr(cause(ctx), "none in /nowhere/sets;"));
}

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

static const struct {
	struct here here;
	size_t count, size;
	const char *wanted; /* NULL: good */
} large_sets_rows[] = {
	{ HERE, 5, 1 << 20, NULL },
	{ HERE, 5, (1 << 20) + 1, "more than 1048576 bytes" },
	{ HERE, 10001, 0, "large.yaml:3:1: more than 10000 metrics" },
};

CTX_TEST_EACH(large_sets, large_sets_rows)
{
	freed(opk_set) *set = NULL;
	int code;

	write_large(row->count, row->size);
	code = opk_set_load(&set, ctx, in_folder("large.yaml"));
	ck_row(row, code == (row->wanted ? OPK_EINPUT : OPK_OK), "code %d", code);
	ck_row(row, !row->wanted || strstr(cause(ctx), row->wanted), "got %s", cause(ctx));
}

/* Writes `count` lines after "name: x" and a beginning. */
static void write_lines(const char *beginning, const char *line, int count)
{
	opk_autobuf struct opk_buf buf = { 0 };

	opk_buf_add_printf(&buf, "name: x\n%s\n", beginning);
	for (int i = 0; i < count; i++) {
		const char *number = strchr(line, '#');

		opk_buf_add_printf(&buf, "%.*s%d%s\n", (int)(number - line), line, i, number + 1);
	}
	put_file("lines.yaml", buf.data, buf.size);
}

static const struct {
	struct here here;
	const char *beginning, *line;
	int most;
	const char *wanted;
} bounds_rows[] = {
	{ HERE, "metrics:", "- a__#*", 500, "lines.yaml:503:3: more than 500 patterns" },
	{ HERE, "metrics:", "- /a__#/", 500, "lines.yaml:503:3: more than 500 patterns" },
	{ HERE, "metrics: [a__b.sum]\nchanges:", "- {for: [pm], remove: [a__b.sum#]}", 1000,
	  "lines.yaml:1004:3: more than 1000 changes" },
	{ HERE, "metrics: [a__b.sum]\nchanges:", "- {for: [pm], remove: [a__b*#]}", 500,
	  "lines.yaml:504:24: more than 500 patterns" },
	{ HERE, "metrics: [a__b.sum]\nparameters:", "  p#: 1", 10000,
	  "lines.yaml:10004:3: more than 10000 keys" },
	{ HERE, "derived:", "  d#: a__b.sum", 10000, "lines.yaml:10003:3: more than 10000 keys" },
};

CTX_TEST_EACH(bounds, bounds_rows)
{
	struct opk_set *set = NULL;
	int code;

	write_lines(row->beginning, row->line, row->most);
	code = opk_set_load(&set, ctx, in_folder("lines.yaml"));
	ck_row(row, code == OPK_OK, "%s", errors_of(ctx));
	opk_set_free(opk_take(set));
	write_lines(row->beginning, row->line, row->most + 1);
	code = opk_set_load(&set, ctx, in_folder("lines.yaml"));
	ck_row(row, code == OPK_EINPUT, "code %d", code);
	ck_row(row, strstr(cause(ctx), row->wanted), "got %s", cause(ctx));
}

/* ---- text without a file ----------------------------------------------------------------- */

static const struct {
	struct here here;
	const char *text, *name;
	const char *wanted; /* the metrics; or the beginning of the error */
} sets_of_text_rows[] = {
	{ HERE, "name: a\nmetrics: [a__b.sum]\n", NULL, "a__b.sum " },
	{ HERE, "{\"name\": \"a\", \"metrics\": [\"a__b.sum\"]}", NULL, "a__b.sum " },
	{ HERE, "metrics: [a__b.sum]\n", NULL, "<text>:1:1: " },
	{ HERE, "name: a\nmetrcs: [a__b.sum]\n", "cell 1", "cell 1:2:1: unknown key" },
	{ HERE, "name: a\ninclude: [./set.yaml]\n", NULL,
	  "<text>:2:11: './set.yaml' is relative to a file" },
	{ HERE, "name: a\ninclude: [nothing]\n", NULL, "<text>:2:11: no metric set" },
};

CTX_TEST_EACH(sets_of_text, sets_of_text_rows)
{
	freed(opk_set) *set = NULL;
	int code = opk_set_parse(&set, ctx, row->text, strlen(row->text), row->name);
	const char *got = code ? errors_of(ctx) : metrics_of(set);

	ck_row(row, strstr(got, row->wanted), "got %s", got);
	ck_assert(!set || !*opk_set_path(set));
}

/* YAML in memory may include a file by an absolute path; errors don't show the file's text. */
CTX_TEST(text_that_includes)
{
	opk_autofree char *text = opk_printf("name: a\ninclude: [%s]\nmetrics: [c__d.sum]\n",
	                                     in_folder("set.yaml"));
	struct opk_set *set = NULL;

	ck_assert_ptr_nonnull(text);
	put_file("set.yaml", "name: b\nmetrics: [a__b.sum]\n", 28);
	ck_ok(ctx, opk_set_parse(&set, ctx, text, strlen(text), NULL));
	ck_assert_str_eq(metrics_of(set), "a__b.sum c__d.sum ");
	opk_set_free(opk_take(set));
	put_file("set.yaml", "root:x:0:0\n", 11);
	ck_code(ctx, opk_set_parse(&set, ctx, text, strlen(text), NULL), OPK_EINPUT);
	ck_assert_ptr_null(strstr(errors_of(ctx), "root:x"));
}

CTX_TEST(text_too_large)
{
	opk_autofree char *text = opk_alloc(2 << 20);
	struct opk_set *set = NULL;

	ck_assert_ptr_nonnull(text);
	memset(text, ' ', 2 << 20);
	ck_code(ctx, opk_set_parse(&set, ctx, text, 2 << 20, NULL), OPK_EINPUT);
	ck_assert_ptr_nonnull(strstr(cause(ctx), "too large"));
}

SUITE(.set_up = make_folder, .tear_down = remove_folder);
