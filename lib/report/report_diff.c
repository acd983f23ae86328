/* SPDX-License-Identifier: BSD-2-Clause */
/* Shows what changed from the first recording to the second, and whether it is noise. */
#include <math.h>

#include "chip/door.h"
#include "compare/door.h"
#include "report/report_inside.h"

enum { MOST_ROWS = 1000, MOST_CELLS = 60000 };

OPK_DEFINE_AUTO(opk_diff)

static void put_text(struct opk_json_writer *json, const char *key, const char *text)
{
	opk_json_key(json, key);
	opk_json_put_string(json, text);
}

static void put_number(struct opk_json_writer *json, const char *key, uint64_t number)
{
	opk_json_key(json, key);
	opk_json_put_u64(json, number);
}

/* ---- what is compared */

static void put_differences(struct opk_json_writer *json, const struct opk_diff_found *diff)
{
	opk_json_key(json, "differences");
	opk_json_begin_array(json);
	for (size_t i = 0; i < diff->difference_count; i++) {
		const struct opk_diff_difference *difference = &diff->differences[i];

		opk_json_begin_object(json);
		put_text(json, "what", difference->what);
		put_text(json, "before", difference->before);
		put_text(json, "after", difference->after);
		opk_json_end_object(json);
	}
	opk_json_end_array(json);
}

static void put_summary(struct opk_json_writer *json, const struct opk_diff_found *diff)
{
	const struct opk_diff_summary *summary = &diff->summary;

	opk_json_key(json, "level");
	report_number(json, summary->level);
	put_number(json, "launches_least", summary->launches_least);
	put_number(json, "launches_needed", summary->foremost.launches_needed);
	opk_json_key(json, "verdicts");
	opk_json_begin_array(json);
	for (size_t i = 0; i < OPK_VERDICTS; i++)
		opk_json_put_string(json, opk_verdict_name((enum opk_verdict)i));
	opk_json_end_array(json);
}

static void put_peaks(struct report_page *page, const struct opk_diff_found *diff)
{
	struct opk_json_writer *json = &page->json;
	const struct opk_diff_summary *summary = &diff->summary;

	opk_json_key(json, "peaks");
	opk_json_begin_array(json);
	for (size_t i = 0; i < summary->peak_count; i++) {
		const struct opk_diff_peak *peak = &summary->peaks[i];

		opk_json_begin_object(json);
		put_text(json, "name", peak->name);
		put_text(json, "unit", report_unit(page, peak->unit));
		opk_json_key(json, "before");
		report_number(json, peak->before.value);
		opk_json_key(json, "after");
		report_number(json, peak->after.value);
		opk_json_key(json, "change");
		report_number(json, peak->change);
		opk_json_end_object(json);
	}
	opk_json_end_array(json);
}

/* What the page calls the columns. */
static int find_words(struct opk_strlist *out, struct opk_ctx *ctx,
                      const struct opk_diff_found *diff)
{
	opk_autofree const char **names = opk_alloc_array(diff->column_count + 1, sizeof *names);

	if (!names)
		return opk_nomem(ctx, "a page");
	for (size_t i = 0; i < diff->column_count; i++)
		names[i] = diff->columns[i].name;
	return opk_metric_labels(out, ctx, names, diff->column_count);
}

static void put_columns(struct report_page *page, const struct opk_diff_found *diff,
                        const struct opk_strlist *words)
{
	struct opk_json_writer *json = &page->json;

	opk_json_key(json, "columns");
	opk_json_begin_array(json);
	for (size_t i = 0; i < diff->column_count; i++) {
		struct opk_diff_column column = diff->columns[i];

		opk_json_begin_object(json);
		put_text(json, "name", column.name);
		if (strcmp(words->items[i], column.name) != 0)
			put_text(json, "words", words->items[i]);
		put_text(json, "unit", report_unit(page, column.unit));
		opk_json_add_string(json, "heading", column.heading);
		if (column.is_time) {
			opk_json_key(json, "time");
			opk_json_put_bool(json, true);
		}
		if (!column.shown && !column.is_time) {
			opk_json_key(json, "hidden");
			opk_json_put_bool(json, true);
		}
		opk_json_end_object(json);
	}
	opk_json_end_array(json);
}

/* ---- rows */

/* Writes the row's kernel in each recording: its number on the page. */
static void put_kernels(struct opk_json_writer *json, const struct report_page *page,
                        const char *kernel)
{
	opk_json_key(json, "kernels");
	opk_json_begin_array(json);
	for (size_t i = 0; i < 2; i++) {
		size_t at;

		if (*kernel && opk_index_find(&at, &page->runs[i].kernels, kernel))
			opk_json_put_u64(json, at);
		else
			opk_json_put_string(json, NULL);
	}
	opk_json_end_array(json);
}

static void put_row(struct report_page *page, const struct opk_diff_row *row,
                    struct opk_kernel_names *names)
{
	struct opk_json_writer *json = &page->json;
	const char *kernel = row->range.kernel;

	opk_json_begin_object(json);
	report_put_short(page, "name",
	                 *kernel ? opk_kernel_names_get(names, &row->range) : row->name);
	if (row->range.grid[0]) {
		opk_json_key(json, "shape");
		opk_json_begin_array(json);
		for (size_t i = 0; i < 6; i++)
			opk_json_put_u64(json,
			                 i < 3 ? row->range.grid[i] : row->range.block[i - 3]);
		opk_json_end_array(json);
	}
	put_number(json, "before", row->before_launches);
	put_number(json, "after", row->after_launches);
	put_kernels(json, page, kernel);
	opk_json_key(json, "time_change");
	report_number(json, row->time_change);
	opk_json_key(json, "time_changed");
	opk_json_put_bool(json, row->time_changed);
	opk_json_end_object(json);
}

/*
 * [BEFORE, AFTER, CHANGE, VERDICT, CLOCK, quartiles of both sides]; a change from 0 has no
 * percentage.
 */
static void put_value(struct opk_json_writer *json, const struct opk_diff_value *value)
{
	opk_json_begin_array(json);
	report_number(json, value->before.value);
	report_number(json, value->after.value);
	report_number(json, value->change);
	opk_json_put_u64(json, (uint64_t)value->verdict);
	report_number(json, value->clock);
	if (value->has_spread) {
		report_number(json, value->before.low);
		report_number(json, value->before.high);
		report_number(json, value->after.low);
		report_number(json, value->after.high);
	}
	opk_json_end_array(json);
}

static void put_rows(struct report_page *page, const struct opk_diff_found *diff,
                     struct opk_kernel_names *names, size_t count)
{
	struct opk_json_writer *json = &page->json;

	opk_json_key(json, "rows");
	opk_json_begin_array(json);
	for (size_t i = 0; i < count; i++)
		put_row(page, &diff->rows[i], names);
	opk_json_end_array(json);
	opk_json_key(json, "values");
	opk_json_begin_array(json);
	for (size_t i = 0; i < count; i++) {
		opk_json_begin_array(json);
		for (size_t j = 0; j < diff->column_count; j++)
			put_value(json, &diff->rows[i].values[j]);
		opk_json_end_array(json);
	}
	opk_json_end_array(json);
}

static void put_unmatched(struct report_page *page, const struct opk_diff_found *diff,
                          struct opk_kernel_names *names)
{
	struct opk_json_writer *json = &page->json;
	size_t count = diff->unmatched_count;

	put_number(json, "unmatched_total", count);
	opk_json_key(json, "unmatched");
	opk_json_begin_array(json);
	for (size_t i = 0; i < count && i < MOST_ROWS; i++)
		put_row(page, &diff->unmatched[i], names);
	opk_json_end_array(json);
}

static void put_headline(struct report_page *page, const struct opk_diff *diff,
                         struct opk_kernel_names *names)
{
	opk_autofree char *text = opk_diff_headline(diff, names);

	page->block.failed |= !text;
	put_text(&page->json, "headline", text ? text : "");
}

static void put_diff(struct report_page *page, const struct opk_diff *of,
                     struct opk_kernel_names *names, const struct opk_strlist *words)
{
	const struct opk_diff_found *diff = opk_diff_found(of);
	size_t columns = diff->column_count, most = MOST_CELLS / (columns ? columns : 1);
	size_t count = diff->row_count;
	struct opk_json_writer *json = &page->json;

	most = most < MOST_ROWS ? most : MOST_ROWS;
	opk_json_begin_object(json);
	put_text(json, "before", opk_base_name(page->runs[0].path));
	put_text(json, "after", opk_base_name(page->runs[1].path));
	put_number(json, "total", count);
	put_headline(page, of, names);
	put_differences(json, diff);
	put_summary(json, diff);
	put_peaks(page, diff);
	put_columns(page, diff, words);
	put_rows(page, diff, names, count < most ? count : most);
	put_unmatched(page, diff, names);
	opk_json_end_object(json);
}

/* ---- the article */

static int name_kernels(struct opk_kernel_names **out, struct report_page *page)
{
	TRY(opk_kernel_names_new(out, page->ctx, page->style));
	for (size_t i = 0; i < 2; i++) {
		const struct opk_range *ranges;
		size_t count;

		TRY(opk_file_ranges(&ranges, &count, page->ctx, page->runs[i].file));
		TRY(opk_kernel_names_add(*out, page->ctx, ranges, count));
	}
	return OPK_OK;
}

/* Maps each kernel's name to its number on the page; the first of several with that name. */
static int index_kernels(struct report_page *page)
{
	for (size_t i = 0; i < 2; i++) {
		const struct opk_summary *summary = page->runs[i].summary;

		for (size_t j = 0; j < summary->group_count; j++)
			if (!opk_index_add(&page->runs[i].kernels,
			                   summary->groups[j].of->range.kernel, j, &(size_t){ 0 }))
				return opk_nomem(page->ctx, "a page");
	}
	return OPK_OK;
}

static int leave_apart(struct report_page *page, const char *why)
{
	opk_log(page->ctx, "the recordings are not compared: %s", why);
	page->not_compared = opk_strdup(why);
	return page->not_compared ? OPK_OK : opk_nomem(page->ctx, "a page");
}

static int compare(struct opk_diff **out, struct report_page *page,
                   const struct opk_eval_options *eval)
{
	struct opk_file *const files[] = { page->runs[0].file, page->runs[1].file };
	struct opk_diff_options options = OPK_INIT(options);
	const bool alone[] = { opk_hot_is_alone(files[0], page->runs[0].meta),
		               opk_hot_is_alone(files[1], page->runs[1].meta) };
	int code;

	if (alone[0] || alone[1])
		return leave_apart(page, alone[0] && alone[1]
		                                 ? "both have only counts or samples of "
		                                   "instructions, and pages do not compare code"
		                                 : "one of them has only counts or samples of "
		                                   "instructions");
	options.eval = eval;
	code = opk_diff_new(out, page->ctx, files, 1, 1, &options);
	/* Recordings that can't be compared are still on one page. */
	if (code == OPK_EUSAGE)
		TRY(leave_apart(page, opk_innermost(page->ctx)));
	return opk_allow(page->ctx, code, OPK_EUSAGE);
}

/* Both rooflines are in one section, so that movements are visible. */
static int write_rooflines(struct report_page *page, const struct report_run *run)
{
	static const struct report_part part = { "rooflines", "Rooflines", NULL };
	static const char *const titles[] = { "A: before", "B: after" };
	int code = OPK_OK;

	if (!page->runs[0].roofline || !page->runs[1].roofline)
		return OPK_OK;
	report_begin(
		page, run, &part, part.title,
		"Each kernel at each level of memory, in A and in B; the chosen one is framed in both.");
	for (size_t i = 0; !code && i < 2; i++) {
		opk_buf_add_printf(&page->html, "<h3>%s</h3>\n", titles[i]);
		code = report_add_roofline(page, &page->runs[i]);
	}
	report_end(page);
	return code;
}

int report_write_diff(struct report_page *page, const struct opk_eval_options *eval)
{
	static const struct report_part part = { "diff", "Comparison", NULL };
	const struct report_run run = { .number = page->run_count };
	opk_auto(opk_kernel_names) struct opk_kernel_names *names = NULL;
	opk_auto(opk_diff) struct opk_diff *diff = NULL;
	opk_autostrlist struct opk_strlist words = { 0 };
	int code;

	if (page->run_count != 2)
		return OPK_OK;
	code = compare(&diff, page, eval);
	if (code || !diff)
		return code;
	code = name_kernels(&names, page);
	if (!code)
		code = index_kernels(page);
	if (!code)
		code = find_words(&words, page->ctx, opk_diff_found(diff));
	if (code)
		return code;
	report_begin_run(page, &run, part.title);
	report_begin(page, &run, &part, part.title, "");
	report_begin_data(page, &run, part.id);
	put_diff(page, diff, names, &words);
	report_end_data(page);
	report_end(page);
	code = write_rooflines(page, &run);
	report_end_run(page);
	return code;
}
