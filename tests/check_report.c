/* SPDX-License-Identifier: BSD-2-Clause */
/* Summaries and reports of the fake's recordings: order, words, and names that stay text. */
#include "base/file.h"
#include "container/door.h"
#include "fake_nv.h"
#include "folder.h"
#include "summary/door.h"

enum { IMAGES = 2, ROWS = 3 };

static const char *const names[] = { "fake__a.sum", "fake__ratio.pct", "fake__c.sum" };
static const char *const inflated[] = { "fake__c.sum" };

/*
 * Kernels of six launches. Their names: the first reverses text, the second is markup, the third
 * has line ends of JavaScript.
 */
static const char *const kernels[] = { "plain\xe2\x80\xae", "<b>&\"'",
	                               "a\xe2\x80\xa8</script>\xe2\x80\xa9" };

static struct opk_range range_of(size_t image, size_t row)
{
	return (struct opk_range){ .name = "r",
		                   .kernel = kernels[row],
		                   .symbol = "",
		                   .nvtx = "<!--",
		                   .rank = (int32_t)image,
		                   .device = 0,
		                   .host = "",
		                   .gpu = "",
		                   .grid = { 2, 1, 1 },
		                   .block = { 32, 1, 1 },
		                   .duration_ns = row ? 0 : 1000,
		                   .sm_mhz = image ? 1980 : 1000 };
}

static void write_recording(const char *name, const char *kind)
{
	static const struct opk_drop drop = { "<i>no memory", 2 };
	static const struct opk_stats stats = {
		.launches = 8, .ranges = 6, .depth = 1, .drops = &drop, .drop_count = 1
	};
	struct opk_meta meta = { .kind = kind,
		                 .chip = "FA100",
		                 .metrics = names,
		                 .metric_count = COUNT(names),
		                 .passes = 1,
		                 .inflated = inflated,
		                 .inflated_count = 1,
		                 .set_description = "</dl>" };
	freed(opk_ctx) *ctx = new_ctx();
	freed(opk_writer) *writer = NULL;

	ck_ok(ctx, opk_writer_new(&writer, ctx, in_folder(name)));
	ck_ok(ctx, opk_writer_add_meta(writer, &meta));
	for (size_t i = 0; i < IMAGES; i++) {
		struct opk_range ranges[ROWS];

		for (size_t j = 0; j < ROWS; j++)
			ranges[j] = range_of(i, j);
		ck_ok(ctx, opk_writer_add(writer, OPK_SECTION_DATA, fake_image(), FAKE_IMAGE_SIZE));
		ck_ok(ctx, opk_writer_add_ranges(writer, ranges, ROWS, sizeof(struct opk_range)));
	}
	ck_ok(ctx, opk_writer_add_stats(writer, &stats));
	ck_ok(ctx, opk_writer_finish(writer));
}

static struct opk_ctx *report_ctx(void)
{
	struct opk_ctx *ctx = fake_ctx();

	free((char *)ctx->data_dir);
	ctx->data_dir = strdup(TEST_DATA_DIR);
	return ctx;
}

/* The page about in.opk; the caller frees it. */
static char *make_page(const struct opk_report_options *options)
{
	freed(opk_ctx) *ctx = report_ctx();
	char path[512];
	const char *const paths[] = { path };
	void *page;
	size_t size;

	write_recording("in.opk", "recording");
	snprintf(path, sizeof path, "%s", in_folder("in.opk"));
	ck_ok(ctx, opk_report(ctx, paths, 1, options, in_folder("out.html")));
	ck_ok(ctx, opk_read_file(&page, &size, ctx, in_folder("out.html")));
	ck_assert_uint_eq(strlen(page), size);
	return page;
}

static size_t count_of(const char *text, const char *part)
{
	size_t count = 0;

	for (; (text = strstr(text, part)); text += strlen(part))
		count++;
	return count;
}

TEST(words_of_a_page)
{
	static const struct words {
		struct here here;
		const char *text;
		size_t count;
	} rows[] = {
		{ HERE, "<dd>6 launches of 3 kernels; 3 metrics in 1 pass</dd>", 1 },
		{ HERE, "<dd>no: 2 missing: &lt;i&gt;no memory</dd>", 1 },
		{ HERE, "<dd>SM 1000 to 1980 MHz, memory ? MHz", 1 },
		{ HERE, "1 of 3 metrics counts idle time around short kernels", 1 },
		{ HERE, "<code>fake__c.sum</code>", 1 },
		{ HERE, "\"lanes\":[\"rank 0\",\"rank 1\"]", 1 },
		{ HERE, "\"name\":\"plain\xef\xbf\xbd\",\"count\":2,", 1 },
		{ HERE, "<li>2 of 3 kernels have no time (nan): shares of time are of what", 1 },
		{ HERE, "\"kernels\":[{\"row\":0,\"communicates\":false},{\"row\":1,", 1 },
		{ HERE, "\"communicates\":false}],\"total\":3,\"metrics\":", 1 },
		{ HERE, "Timelines are drawn by", 0 }, /* the recording has nothing over time */
	};
	struct opk_report_options options = OPTIONS(options, .kernel_names = OPK_KERNEL_SHORT);
	opk_autofree char *page = NULL;

	page = make_page(&options);
	for (size_t i = 0; i < COUNT(rows); i++)
		ck_row(&rows[i], count_of(page, rows[i].text) == rows[i].count, "%s: %zu times",
		       rows[i].text, count_of(page, rows[i].text));
}

/* A name occurs in JSON with escapes, or as text with entities; nowhere else. */
TEST(names_are_text)
{
	struct opk_report_options options = OPTIONS(options, .title = "<t>\xff\x01\xe2\x80\xae");
	char *page, *end;

	page = make_page(&options);
	ck_assert_uint_eq(count_of(page,
	                           "<title>&lt;t&gt;\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd</title>"),
	                  1);
	ck_assert_uint_eq(count_of(page, "<t>"), 0);
	ck_assert_uint_eq(count_of(page, "<!--"), 0);
	ck_assert_uint_eq(count_of(page, "<i>"), 0);
	ck_assert_uint_eq(count_of(page, "<dd>&lt;/dl&gt;</dd>"), 1);
	ck_assert_uint_eq(count_of(page, "\xe2\x80\xa8"), 0);
	ck_assert_uint_eq(count_of(page, "\xe2\x80\xa9"), 0);
	ck_assert_uint_eq(count_of(page, "\xe2\x80\xae"), 0);
	ck_assert_uint_gt(count_of(page, "\"plain\xef\xbf\xbd\""), 0);
	ck_assert_uint_eq(count_of(page, "\"a\\u2028\\u003c/script\\u003e \\u2029\""), 1);
	ck_assert_uint_eq(count_of(page, "\"\\u003cb\\u003e \\u0026\\\"'\""), 1);
	end = strstr(page, "</main>");
	ck_assert_ptr_nonnull(end);
	*end = '\0';
	ck_assert_uint_eq(count_of(page, "<script"), count_of(page, "</script"));
	free(page);
}

/* Writes a page about in.opk, a trace of these records; the caller frees it. */
static char *page_of_trace(const struct opk_activity *ran, size_t count)
{
	static const struct opk_meta meta = {
		.kind = "recording", .chip = "FA100", .profiler = OPK_PROFILER_PM, .mode = "trace"
	};
	freed(opk_ctx) *ctx = report_ctx();
	freed(opk_writer) *writer = NULL;
	char path[512];
	const char *const paths[] = { path };
	void *page;
	size_t size;

	snprintf(path, sizeof path, "%s", in_folder("in.opk"));
	ck_ok(ctx, opk_writer_new(&writer, ctx, path));
	ck_ok(ctx, opk_writer_add_meta(writer, &meta));
	ck_ok(ctx, opk_writer_add_activities(writer, ran, count));
	ck_ok(ctx, opk_writer_finish(writer));
	ck_ok(ctx, opk_report(ctx, paths, 1, NULL, in_folder("out.html")));
	ck_ok(ctx, opk_read_file(&page, &size, ctx, in_folder("out.html")));
	return page;
}

/* The page has room for the names of kernels, then for some of the ranges' names. */
TEST(too_many_names)
{
	enum { MANY = 40000, LENGTH = 200 };
	opk_autofree struct opk_activity *ran = calloc(MANY + 1, sizeof *ran);
	opk_autofree char(*texts)[LENGTH + 8] = calloc(MANY, sizeof *texts);
	opk_autofree char *page = NULL;
	size_t named;

	for (uint64_t i = 0; i < MANY; i++) {
		snprintf(texts[i], sizeof *texts, "%0*d", LENGTH, (int)i);
		ran[i] = (struct opk_activity){ .kind = OPK_ACTIVITY_RANGE,
			                        .name = texts[i],
			                        .device = -1,
			                        .rank = -1,
			                        .start_ns = 1000 + i * 100,
			                        .end_ns = 1090 + i * 100 };
	}
	ran[MANY] = (struct opk_activity){ .kind = OPK_ACTIVITY_KERNEL,
		                           .name = "last(int)",
		                           .rank = -1,
		                           .start_ns = 1000 + MANY * 100,
		                           .end_ns = 1090 + MANY * 100 };
	page = page_of_trace(ran, MANY + 1);
	named = count_of(page, "\"name\":\"00000");
	ck_assert_uint_ge(named, MANY / 8);
	ck_assert_uint_le(strlen(page), 4 << 20);
	ck_assert_uint_eq(count_of(page, "\"name\":\"last"), 2); /* also of the table */
	ck_assert_uint_eq(count_of(page, ",3,3,3,3,3"), (MANY - named - 1) / 5);
	ck_assert_uint_eq(count_of(page, "names of what ran. </p>"), 1);
}

TEST(a_kernel_alone)
{
	struct opk_report_options options = OPTIONS(options, .kernel = "pl*",
	                                            .kernel_names = OPK_KERNEL_SHORT);
	opk_autofree char *page = NULL;

	page = make_page(&options);
	ck_assert_uint_eq(count_of(page, "2 launches of 1 kernel like pl*"), 1);
	ck_assert_uint_eq(count_of(page, "</b>") + count_of(page, "\\u003cb"), 1);
}

static const struct refusal {
	struct here here;
	const char *name;
	size_t count;
	int code;
	const char *message;
} refused_rows[] = {
	{ HERE, "in.opk", 0, OPK_EUSAGE, "of which recordings" },
	{ HERE, "set.opk", 1, OPK_EINPUT, "there is nothing to report yet" },
	{ HERE, "none.opk", 1, OPK_EINPUT, "none.opk" },
};

TEST_EACH(refused, refused_rows)
{
	freed(opk_ctx) *ctx = report_ctx();
	char path[512];
	const char *const paths[] = { path };
	int code;

	write_recording("in.opk", "recording");
	write_recording("set.opk", "set");
	snprintf(path, sizeof path, "%s", in_folder(row->name));
	code = opk_report(ctx, paths, row->count, NULL, in_folder("out.html"));
	ck_row(row, code == row->code && strstr(errors_of(ctx), row->message), "%d: %s", code,
	       errors_of(ctx));
	ck_row(row, entries(false) == 2, "files are left");
}

/* The files of which pages are made are missing. */
TEST(not_installed)
{
	freed(opk_ctx) *ctx = report_ctx();
	char path[512];
	const char *const paths[] = { path };

	write_recording("in.opk", "recording");
	snprintf(path, sizeof path, "%s", in_folder("in.opk"));
	free((char *)ctx->data_dir);
	ctx->data_dir = strdup(folder);
	ck_assert_int_eq(opk_report(ctx, paths, 1, NULL, in_folder("out.html")), OPK_EFAILED);
	ck_assert_ptr_nonnull(strstr(errors_of(ctx), "is missing: offpeak is not installed"));
}

static const struct sorted {
	struct here here;
	const char *sort, *first;
	int code;
} summary_sorted_rows[] = {
	{ HERE, NULL, "plain", OPK_OK },         { HERE, "launches", "plain", OPK_OK },
	{ HERE, "name", "<b>", OPK_OK },         { HERE, "fake__a.sum", "a", OPK_OK },
	{ HERE, "fake__a.sun", "", OPK_EUSAGE },
};

/* The n-th kernel has the values 100 n + metric + 0.5 in both images. */
FAKE_TEST_EACH(summary_sorted, summary_sorted_rows)
{
	struct opk_summary_options options = OPTIONS(options, .sort = row->sort);
	freed(opk_file) *file = NULL;
	freed(opk_summary) *summary = NULL;
	int code;

	write_recording("in.opk", "recording");
	ck_ok(ctx, opk_file_open(&file, ctx, in_folder("in.opk")));
	code = opk_summary_new(&summary, ctx, file, &options);
	ck_row(row, code == row->code, "%d: %s", code, errors_of(ctx));
	if (!code)
		ck_row(row, !strncmp(summary->groups[0].name, row->first, strlen(row->first)), "%s",
		       summary->groups[0].name);
	else
		ck_row(row, strstr(errors_of(ctx), "such as fake__a.sum?"), "%s", errors_of(ctx));
}

SUITE(.set_up = make_folder, .tear_down = remove_folder);
