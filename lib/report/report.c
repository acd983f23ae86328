/* SPDX-License-Identifier: BSD-2-Clause */
/* One page of one or several recordings. */
#include "base/file.h"
#include "base/option_struct.h"
#include "report/report_inside.h"

/* In the order of the page. */
static const struct report_part parts[] = {
	{ "about", "Run", report_write_about },
	{ "kernels", "Kernels", report_write_kernels },
	{ "devices", "Devices", report_write_devices },
	{ "timeline", "Timeline", report_write_timeline },
	{ "ranks", "Ranks", report_write_ranks },
};

/* ---- recordings */

static int open_run(struct report_run *run, struct opk_ctx *ctx,
                    const struct opk_report_options *options)
{
	struct opk_summary_options summary = OPK_INIT(summary);
	int code = opk_file_open(&run->file, ctx, run->path);

	summary.kernel = options->kernel;
	summary.names = options->names;
	summary.values = report_take_values;
	summary.values_data = run;
	summary.progress = options->progress;
	summary.progress_data = options->progress_data;
	if (!code)
		code = opk_file_meta(&run->meta, ctx, run->file);
	if (!code && !strcmp(run->meta->kind, "set"))
		return opk_fail(ctx, OPK_EINPUT,
		                "%s is a set, with which to record: there is nothing to report yet",
		                run->path);
	if (!code)
		code = report_find_lanes(run, ctx);
	if (!code)
		code = opk_summary_new(&run->summary, ctx, run->file, &summary);
	if (!code && run->failed)
		code = opk_nomem(ctx, "a page");
	return code ? opk_add(ctx, code, "can't report %s", run->path) : OPK_OK;
}

static void clear(struct report_page *page)
{
	for (size_t i = 0; i < page->run_count; i++) {
		report_clear_spreads(&page->runs[i]);
		report_clear_lanes(&page->runs[i].lanes);
		opk_summary_free(page->runs[i].summary);
		opk_file_free(page->runs[i].file);
	}
	free(page->runs);
	opk_buf_clear(&page->html);
	opk_buf_clear(&page->contents);
	opk_buf_clear(&page->block);
}

static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* ---- articles */

static int write_run(struct report_page *page, const struct report_run *run)
{
	int code = OPK_OK;

	opk_buf_add_printf(&page->html,
	                   "<article class=\"run\" id=\"run-%zu\" data-run=\"%zu\" data-name=\"",
	                   run->number, run->number);
	report_text(&page->html, file_name(run->path));
	opk_buf_add_text(&page->html, "\">\n");
	for (size_t i = 0; !code && i < sizeof parts / sizeof *parts; i++)
		code = parts[i].write(page, run, &parts[i]);
	opk_buf_add_text(&page->html, "</article>\n");
	return code;
}

static int write_page(struct opk_buf *out, struct report_page *page,
                      const struct opk_report_options *options)
{
	opk_autobuf struct opk_buf title = { 0 };
	opk_autofree char *text = NULL;
	int code = OPK_OK;

	for (size_t i = 0; !code && i < page->run_count; i++) {
		opk_buf_add_printf(&title, "%s%s", i ? ", " : "", file_name(page->runs[i].path));
		code = write_run(page, &page->runs[i]);
	}
	text = opk_buf_take_text(&title);
	if (!code && !text)
		code = opk_nomem(page->ctx, "a page");
	return code ? code : report_assemble(out, page, options->title ? options->title : text);
}

static int write_file(struct opk_ctx *ctx, const struct opk_buf *text, const char *path)
{
	opk_autonewfile struct opk_newfile file = { 0 };
	int code = opk_newfile_create(&file, ctx, path);

	if (!code)
		code = opk_newfile_write(&file, text->data, text->size);
	return code ? code : opk_newfile_commit(&file);
}

int opk_report(struct opk_ctx *ctx, const char *const *paths, size_t count,
               const struct opk_report_options *given, const char *path)
{
	__attribute__((cleanup(clear))) struct report_page page = { .ctx = ctx };
	OPK_OPTIONS(opk_report_options, options, given);
	opk_autobuf struct opk_buf text = { 0 };
	int code = OPK_OK;

	if (!count)
		return opk_fail(ctx, OPK_EUSAGE, "a report of which recordings?");
	page.runs = opk_alloc_array(count, sizeof *page.runs);
	if (!page.runs)
		return opk_nomem(ctx, "a page");
	page.run_count = count;
	for (size_t i = 0; !code && i < count; i++) {
		page.runs[i].number = i;
		page.runs[i].path = paths[i];
		code = open_run(&page.runs[i], ctx, &options);
	}
	if (!code)
		code = write_page(&text, &page, &options);
	return code ? code : write_file(ctx, &text, path);
}
