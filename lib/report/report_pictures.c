/* SPDX-License-Identifier: BSD-2-Clause */
/* The roofline, and stacked bars: pictures of lib/picture inside the page. */
#include "report/report_inside.h"

static int append(void *html, const void *bytes, size_t size)
{
	opk_buf_add(html, bytes, size);
	return 0;
}

static struct opk_picture_options in_page(void)
{
	struct opk_picture_options options = OPK_INIT(options);

	options.in_page = true;
	options.width = 1180;
	return options;
}

bool report_has_roofline(const struct report_run *run)
{
	const struct opk_evaluation *evaluation = opk_summary_evaluation(run->summary);

	return evaluation && opk_evaluation_roofline(evaluation)->roof_count;
}

int report_add_roofline(struct report_page *page, const struct report_run *run)
{
	struct opk_picture_options options = in_page();
	int code;

	options.height = 640;
	opk_buf_add_printf(
		&page->html,
		"<figure class=\"panel drawing roofline\" tabindex=\"0\" data-of=\"%zu\">\n",
		run->number);
	code = opk_picture_roofline(append, &page->html, page->ctx, run->summary, &options);
	opk_buf_add_text(&page->html, "</figure>\n");
	return code;
}

int report_write_roofline(struct report_page *page, const struct report_run *run,
                          const struct report_part *part)
{
	int code;

	if (!report_has_roofline(run))
		return OPK_OK;
	report_begin(
		page, run, part, part->title,
		"Each kernel at each level of memory: how much it computes a second over how much it "
		"computes for each byte. A kernel can't be above the lines. Below the slope of a level, "
		"fewer bytes there or a faster level help; below a roof, other instructions do; far "
		"below all of them, the kernel waits for something else. Drag to move; with Ctrl, or "
		"after a click, the wheel zooms, and so do + and \xe2\x88\x92; 0 shows all again.");
	code = report_add_roofline(page, run);
	report_end(page);
	return code;
}

int report_write_stacks(struct report_page *page, const struct report_run *run,
                        const struct report_part *part)
{
	enum { MOST = 40 };
	const struct opk_meta_heading *heading = opk_picture_stack_heading(run->summary, 0);
	struct opk_picture_options options = in_page();
	int code = OPK_OK;

	if (!heading || !opk_summary_evaluation(run->summary)
	    || !opk_summary_group_count(run->summary))
		return OPK_OK;
	options.top = MOST;
	report_begin(page, run, part, part->title,
	             "What belongs together as one bar a kernel, those that took most time first.");
	for (size_t i = 0; !code && (heading = opk_picture_stack_heading(run->summary, i)); i++) {
		opk_buf_add_text(&page->html, "<h3>");
		report_text(&page->html, heading->title);
		opk_buf_add_text(&page->html, "</h3>\n<p class=\"prose\">");
		report_text(&page->html, heading->text ? heading->text : "");
		opk_buf_add_text(&page->html, "</p>\n<figure class=\"panel drawing\">\n");
		code = opk_picture_stack(append, &page->html, page->ctx, run->summary, heading,
		                         &options);
		opk_buf_add_text(&page->html, "</figure>\n");
	}
	report_end(page);
	return code;
}
