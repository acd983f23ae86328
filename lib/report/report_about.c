/* SPDX-License-Identifier: BSD-2-Clause */
/* Says in words what ran where, how complete the recording is, and which values to doubt. */
#include "report/report_inside.h"

static void put_line(struct opk_buf *html, const char *name, const char *text)
{
	if (!*text)
		return;
	opk_buf_add_printf(html, "<dt>%s</dt><dd>", name);
	report_text(html, text);
	opk_buf_add_text(html, "</dd>\n");
}

static void put_run(struct opk_buf *html, const struct report_run *run)
{
	const struct opk_summary_words *words = &run->summary->words;

	opk_buf_add_text(html, "<dl class=\"words\">\n");
	put_line(html, "File", opk_base_name(run->path));
	put_line(html, "Run", words->run);
	put_line(html, "Machine", words->machine);
	put_line(html, "Clocks", words->clocks);
	put_line(html, "Complete", words->complete);
	if (*run->meta->set_description)
		put_line(html, "Set", run->meta->set_description);
	opk_buf_add_text(html, "</dl>\n");
}

/* ---- remarks on values ------------------------------------------------------------------ */

static bool is_inflated(const struct opk_summary_column *column)
{
	return column->inflated;
}

static bool is_unknown(const struct opk_summary_column *column)
{
	return column->unknown;
}

/* Writes a remark with the names of the metrics to which it applies. */
static void put_names(struct opk_buf *html, const struct opk_summary *summary,
                      bool (*is)(const struct opk_summary_column *column), const char *one,
                      const char *many)
{
	size_t count = 0, all = summary->column_count;

	for (size_t i = 0; i < all; i++)
		count += is(&summary->columns[i]);
	if (!count)
		return;
	opk_buf_add_printf(html, "<li><details><summary>%zu of %zu metrics %s</summary><p>", count,
	                   all, count == 1 ? one : many);
	for (size_t i = 0; i < all; i++) {
		if (!is(&summary->columns[i]))
			continue;
		opk_buf_add_text(html, "<code>");
		report_text(html, summary->columns[i].name);
		opk_buf_add_text(html, "</code> ");
	}
	opk_buf_add_text(html, "</p></details></li>\n");
}

static void put_items(struct opk_buf *html, const struct opk_strlist *texts)
{
	for (size_t i = 0; i < texts->count; i++) {
		opk_buf_add_text(html, "<li>");
		report_text(html, texts->items[i]);
		opk_buf_add_text(html, "</li>\n");
	}
}

/* Folds many remarks, until a click shows them. */
static void put_doubts(struct opk_buf *html, const struct opk_strlist *doubts)
{
	enum { FEW = 4 };

	if (doubts->count <= FEW) {
		put_items(html, doubts);
		return;
	}
	opk_buf_add_printf(html, "<li><details><summary>%zu values are doubtful</summary><ul>\n",
	                   doubts->count);
	put_items(html, doubts);
	opk_buf_add_text(html, "</ul></details></li>\n");
}

static void put_remarks(struct report_page *page, const struct opk_summary *summary)
{
	struct opk_buf *html = &page->html;

	opk_buf_add_text(html, "<ul class=\"remarks\">\n");
	if (page->not_compared) {
		opk_buf_add_text(html, "<li>The recordings are not compared: ");
		report_text(html, page->not_compared);
		opk_buf_add_text(html, "</li>\n");
	}
	put_names(html, summary, is_unknown, "has no value (nan)", "have no value (nan)");
	put_names(html, summary, is_inflated,
	          "counts idle time around short kernels, because of how it was recorded",
	          "count idle time around short kernels, because of how they were recorded");
	if (summary->evaluation)
		put_doubts(html, opk_evaluation_doubts(summary->evaluation));
	put_items(html, &summary->remarks);
	opk_buf_add_text(html, "</ul>\n");
}

int report_write_about(struct report_page *page, const struct report_run *run,
                       const struct report_part *part)
{
	report_begin(page, run, part, part->title, "");
	put_run(&page->html, run);
	put_remarks(page, run->summary);
	report_end(page);
	return OPK_OK;
}
