/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes one page about one or several recordings. */
#include "answers/door.h"
#include "base/file.h"
#include "base/option_struct.h"
#include "container/container.h"
#include "report/report_inside.h"

/* In the page's order. */
static const struct report_part parts[] = {
	{ "answers", "What limits the time", report_write_answers },
	{ "about", "Run", report_write_about },
	{ "memory", "Memory", report_write_memory },
	{ "roofline", "Roofline", report_write_roofline },
	{ "stacks", "Breakdown", report_write_stacks },
	{ "timeline", "Timeline", report_write_timeline },
	{ "ranks", "Ranks", report_write_ranks },
	{ "kernels", "Kernels", report_write_kernels },
	{ "source", "Source", report_write_source },
	{ "devices", "Devices", report_write_devices },
};

/* ---- recordings */

/* Other counts do not show where time goes: only eval has them. */
static int open_code(struct report_run *run, struct opk_ctx *ctx, const char *kernel)
{
	const struct opk_hot_options options = { .rows = OPK_ROWS_INSTRUCTIONS,
		                                 .kernel = kernel,
		                                 .allow_incomplete = true,
		                                 .in_order = true };

	if (opk_file_find(run->file, OPK_SECTION_INSTRUCTIONS) < 0)
		return OPK_OK;
	return opk_allow(ctx, opk_hot_new(&run->hot, ctx, run->file, &options), OPK_EUSAGE);
}

static int open_run(struct report_run *run, struct opk_ctx *ctx,
                    const struct opk_report_options *options)
{
	struct opk_summary_values values = { .take = report_take_values,
		                             .data = run,
		                             .begin = report_begin_values };
	struct opk_summary_options summary = OPK_INIT(summary);
	int code;

	summary.kernel = options->kernel;
	summary.kernel_names = options->kernel_names;
	code = opk_file_meta(&run->meta, ctx, run->file);
	if (!code && !strcmp(run->meta->kind, "set"))
		return opk_fail(ctx, OPK_EINPUT,
		                "%s is a set, with which to record: there is nothing to report yet",
		                run->path);
	if (!code)
		code = report_begin_answers(run, ctx);
	if (!code && run->answers)
		values.also = opk_answers_metrics(run->answers);
	if (!code)
		code = report_find_lanes(run, ctx);
	if (!code)
		code = opk_summary_make(&run->summary, ctx, run->file, &summary, &values);
	if (!code)
		code = open_code(run, ctx, options->kernel);
	if (!code && run->failed)
		code = opk_nomem(ctx, "a page");
	if (!code && run->summary->evaluation
	    && opk_evaluation_roofline(run->summary->evaluation)->roof_count)
		code = opk_roofline_new(&run->roofline, ctx, run->summary);
	if (!code)
		code = report_end_answers(run, ctx, options->kernel != NULL);
	return code ? opk_add(ctx, code, "can't report %s", run->path) : OPK_OK;
}

/* Groups of samples are devices: a pattern for kernels does not remove them. */
static bool has_rows(const struct report_run *run)
{
	const struct opk_summary *summary = run->summary;

	return summary->kernel_count || (run->hot && opk_hot_count(run->hot))
	       || (summary->kind != OPK_SUMMARY_DEVICES && summary->group_count);
}

/* It is not an error if a pattern matches in only one of several recordings. */
static int check_pattern(const struct report_page *page, const char *kernel)
{
	size_t found = 0;

	for (size_t i = 0; kernel && i < page->run_count; i++)
		found += has_rows(&page->runs[i]);
	if (!kernel || found == page->run_count)
		return OPK_OK;
	if (!found) {
		opk_fail(page->ctx, OPK_EUSAGE, "no kernel or range is like %s", kernel);
		return opk_advise(page->ctx, OPK_EUSAGE, OPK_REMEDY_LIST_ROWS);
	}
	for (size_t i = 0; i < page->run_count; i++)
		if (!has_rows(&page->runs[i]))
			opk_log(page->ctx, "%s: no kernel or range is like %s", page->runs[i].path,
			        kernel);
	return OPK_OK;
}

static void clear(struct report_page *page)
{
	for (size_t i = 0; i < page->run_count; i++) {
		report_clear_spreads(&page->runs[i]);
		report_clear_lanes(&page->runs[i].lanes);
		opk_index_clear(&page->runs[i].kernels);
		report_clear_answers(&page->runs[i]);
		opk_roofline_free(page->runs[i].roofline);
		opk_hot_free(page->runs[i].hot);
		opk_summary_free(page->runs[i].summary);
	}
	opk_runs_clear(&page->recordings);
	for (size_t i = 0; i < page->file_count; i++)
		opk_file_free(page->files[i]);
	free(page->files);
	opk_sources_free(page->sources);
	free(page->runs);
	free(page->not_compared);
	opk_buf_clear(&page->html);
	opk_buf_clear(&page->contents);
	opk_buf_clear(&page->block);
	opk_strlist_clear(&page->units);
}

/* ---- articles */

static int write_run(struct report_page *page, const struct report_run *run)
{
	int code = OPK_OK;

	report_begin_run(page, run, opk_base_name(run->path));
	for (size_t i = 0; !code && i < sizeof parts / sizeof *parts; i++)
		code = parts[i].write(page, run, &parts[i]);
	report_end_run(page);
	return code;
}

/* The comparison shows the page's kernels, or ranges. */
static int make_condition(char **out, struct report_page *page, const char *kernel)
{
	bool ranges = page->runs[0].summary->kind == OPK_SUMMARY_RANGES
	              && !page->runs[0].summary->kernel_count;

	if (!kernel)
		return OPK_OK;
	*out = opk_printf("%s=%s", ranges ? "name" : "kernel", kernel);
	return *out ? OPK_OK : opk_nomem(page->ctx, "a page");
}

static int write_page(struct opk_buf *out, struct report_page *page,
                      const struct opk_report_options *options)
{
	opk_autobuf struct opk_buf title = { 0 };
	opk_autofree char *text = NULL;
	struct opk_eval_options eval = OPK_INIT(eval);
	opk_autofree char *condition = NULL;
	int code;

	eval.allow_incomplete = true;
	code = make_condition(&condition, page, options->kernel);
	eval.where = (const char *const *)&condition;
	eval.where_count = condition != NULL;
	if (!code)
		code = report_write_diff(page, &eval);
	for (size_t i = 0; !code && i < page->run_count; i++) {
		opk_buf_add_printf(&title, "%s%s", i ? ", " : "",
		                   opk_base_name(page->runs[i].path));
		code = write_run(page, &page->runs[i]);
	}
	report_put_units(page);
	text = opk_buf_take_text(&title);
	if (!code && !text)
		code = opk_nomem(page->ctx, "a page");
	return code ? code : report_assemble(out, page, options->title ? options->title : text);
}

static int write_file(struct opk_ctx *ctx, const struct opk_buf *text, const char *path)
{
	opk_autonewfile struct opk_newfile file = { 0 };

	TRY(opk_newfile_create(&file, ctx, path, opk_check_output, OPK_OUTPUT_HTML));
	TRY(opk_newfile_write(&file, text->data, text->size));
	return opk_newfile_commit(&file);
}

/* The files of one watch are one recording. */
static int open_runs(struct report_page *page, const char *const *paths, size_t count,
                     const struct opk_report_options *options)
{
	page->files = opk_alloc_array(count, sizeof *page->files);
	page->runs = opk_alloc_array(count, sizeof *page->runs);
	if (!page->files || !page->runs)
		return opk_nomem(page->ctx, "a page");
	for (; page->file_count < count; page->file_count++) {
		const char *path = paths[page->file_count];
		int code = opk_file_open(&page->files[page->file_count], page->ctx, path);

		if (code)
			return opk_add(page->ctx, code, "can't report %s", path);
	}
	TRY(opk_runs_find(&page->recordings, page->ctx, page->files, count));
	page->run_count = page->recordings.count;
	for (size_t i = 0; i < page->run_count; i++) {
		struct report_run *run = &page->runs[i];

		run->number = i;
		run->file = page->recordings.files[i];
		run->path = run->file->path;
		TRY(open_run(run, page->ctx, options));
	}
	return OPK_OK;
}

int opk_report(struct opk_ctx *ctx, const char *const *paths, size_t count,
               const struct opk_report_options *given, const char *path)
{
	OPK_OPTIONS(opk_report_options, options, given);
	__attribute__((cleanup(clear))) struct report_page page = { .ctx = ctx,
		                                                    .style = options.kernel_names };
	opk_autobuf struct opk_buf text = { 0 };
	int code;

	if (!count)
		return opk_fail(ctx, OPK_EUSAGE, "a report of which recordings?");
	code = opk_check_output(ctx, path, OPK_OUTPUT_HTML);
	if (code)
		return code;
	if (options.embed_source)
		TRY(opk_sources_new(&page.sources, ctx, options.source_maps,
		                    options.source_map_count));
	code = open_runs(&page, paths, count, &options);
	if (!code)
		code = check_pattern(&page, options.kernel);
	if (!code)
		code = write_page(&text, &page, &options);
	return code ? code : write_file(ctx, &text, path);
}
