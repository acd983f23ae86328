/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes what limits each kernel, and what to try, as data for the page's first part. */
#include <math.h>

#include "answers/door.h"
#include "report/report_inside.h"

enum { NEXT_TEXT = 80 };

static bool has_metric(const struct opk_meta *meta, const char *part)
{
	for (size_t i = 0; i < meta->metric_count; i++)
		if (strstr(meta->metrics[i], part))
			return true;
	return false;
}

/* Without these metrics nothing can be said, and evaluating takes its time. */
static bool may_answer(const struct opk_meta *meta)
{
	return meta->profiler == OPK_PROFILER_RANGE && has_metric(meta, "issue_stalled")
	       && has_metric(meta, "dram") && has_metric(meta, "lts__");
}

int report_begin_answers(struct report_run *run, struct opk_ctx *ctx)
{
	int code;

	if (!may_answer(run->meta))
		return OPK_OK;
	code = opk_answers_begin(&run->answers, ctx, run->file);
	/* An old library may lack what was recorded. */
	if (code == OPK_EINPUT)
		opk_log(ctx, "%s: what limits its kernels is not known: %s", run->path,
		        opk_innermost(ctx));
	return opk_allow(ctx, opk_allow(ctx, code, OPK_EUSAGE), OPK_EINPUT);
}

int report_end_answers(struct report_run *run, struct opk_ctx *ctx, bool some)
{
	if (!run->answers || report_has_counters(run))
		return run->answers ? opk_answers_finish(run->answers, ctx, run->summary, some)
		                    : OPK_OK;
	report_clear_answers(run);
	return OPK_OK;
}

void report_clear_answers(struct report_run *run)
{
	opk_answers_free(run->answers);
	run->answers = NULL;
}

bool report_has_counters(const struct report_run *run)
{
	const struct opk_summary *summary = run->summary;

	return run->meta->profiler == OPK_PROFILER_RANGE && summary->evaluation
	       && summary->group_count && summary->kind != OPK_SUMMARY_DEVICES;
}

/* ---- rows of the table of kernels */

const char *report_full_name(const struct opk_summary_group *group)
{
	return *group->of->range.kernel ? group->of->range.kernel : group->of->name;
}

/* The whole name of a row of the page's table; NULL past the end. */
static const char *row_name(const struct opk_summary *summary, size_t row)
{
	if (summary->kernel_count)
		return row < summary->kernel_count ? summary->kernels[row].range->kernel : NULL;
	return row < summary->group_count ? report_full_name(&summary->groups[row]) : NULL;
}

int report_index_rows(struct opk_index *rows, struct report_page *page,
                      const struct report_run *run)
{
	const char *name;

	for (size_t i = 0; i < REPORT_MOST_ROWS && (name = row_name(run->summary, i)); i++)
		if (!opk_index_add(rows, name, i, NULL))
			return opk_nomem(page->ctx, "a page");
	return OPK_OK;
}

void report_put_row(struct report_page *page, const struct opk_index *rows, const char *name)
{
	size_t row;

	if (!opk_index_find(&row, rows, name))
		return;
	opk_json_key(&page->json, "kernel");
	opk_json_put_u64(&page->json, row);
}

/* ---- findings */

static void put_finding(struct report_page *page, const struct opk_answer_finding *finding)
{
	struct opk_json_writer *json = &page->json;

	opk_json_begin_object(json);
	opk_json_add_string(json, "text", finding->text);
	opk_json_add_string(json, "try", finding->advice);
	opk_json_add_string(json, "because", finding->because);
	opk_json_key(json, "gain");
	report_number(json, finding->gain);
	opk_json_end_object(json);
}

static void put_findings(struct report_page *page, const struct opk_answer *answer)
{
	opk_json_key(&page->json, "findings");
	opk_json_begin_array(&page->json);
	for (size_t i = 0; i < answer->finding_count; i++)
		put_finding(page, &answer->findings[i]);
	opk_json_end_array(&page->json);
}

/* ---- answers */

static void put_number(struct opk_json_writer *json, const char *key, double number)
{
	opk_json_key(json, key);
	report_number(json, number);
}

/* A part that is busier than what limits the kernel does not come next. */
static void put_next(struct opk_json_writer *json, const struct opk_answer *answer)
{
	const struct opk_limiter *next = &answer->next;
	bool busier = next->percent > answer->limiter.percent;
	char text[NEXT_TEXT];

	if (!next->name)
		return;
	snprintf(text, sizeof text, "%s: %s, %.0f%%", busier ? "Also busy" : "Next", next->label,
	         next->percent);
	opk_json_add_string(json, "next", text);
}

static void put_bars(struct opk_json_writer *json, const struct opk_answer *answer)
{
	opk_json_key(json, "bars");
	opk_json_begin_array(json);
	for (size_t i = 0; i < OPK_BARS; i++)
		report_number(json, answer->bars[i]);
	opk_json_end_array(json);
	put_number(json, "warps", answer->occupancy);
}

static void put_answer(struct report_page *page, const struct report_run *run,
                       const struct opk_index *rows, const struct opk_answer *answer)
{
	struct opk_json_writer *json = &page->json;
	const char *none = opk_answer_without_finding(answer);
	char launches[OPK_ANSWER_TEXT];

	opk_json_begin_object(json);
	report_put_short(page, "name", answer->name);
	report_put_row(page, rows, answer->full);
	opk_json_add_string(json, "launches", opk_answer_launches(launches, run->answers, answer));
	put_number(json, "time", answer->time_ns);
	put_number(json, "share", answer->share);
	opk_json_add_string(json, "text", answer->text);
	if (*answer->remark)
		opk_json_add_string(json, "remark", answer->remark);
	put_next(json, answer);
	put_bars(json, answer);
	put_findings(page, answer);
	if (none)
		opk_json_add_string(json, "none", none);
	opk_json_end_object(json);
}

static int put_answers(struct report_page *page, const struct report_run *run)
{
	opk_autoindex struct opk_index rows = { 0 };
	struct opk_json_writer *json = &page->json;
	size_t count = opk_answers_count(run->answers);
	char head[OPK_ANSWER_TEXT];

	TRY(report_index_rows(&rows, page, run));
	opk_json_begin_object(json);
	opk_json_add_string(json, "head", opk_answers_head(head, run->answers));
	opk_json_add_string(json, "whole", opk_answers_whole(run->answers));
	opk_json_add_u64(json, "total", count);
	opk_json_key(json, "rows");
	opk_json_begin_array(json);
	for (size_t i = 0; i < count && i < REPORT_MOST_ANSWERS; i++)
		put_answer(page, run, &rows, opk_answers_get(run->answers, i));
	opk_json_end_array(json);
	opk_json_end_object(json);
	return OPK_OK;
}

int report_write_answers(struct report_page *page, const struct report_run *run,
                         const struct report_part *part)
{
	int code;

	if (!run->answers || !opk_answers_are_whole(run->answers))
		return OPK_OK;
	report_begin(page, run, part, part->title, "");
	report_begin_data(page, run, part->id);
	code = put_answers(page, run);
	report_end_data(page);
	report_end(page);
	return code;
}
