/* SPDX-License-Identifier: BSD-2-Clause */
/* Puts pictures of lib/picture into the page: the roofline, and stacked bars. */
#include "eval/door.h"
#include "picture/picture.h"
#include "report/report_inside.h"

enum { WIDTH = 980, HEIGHT = 560 };

static int add(struct report_page *page, int code, const struct opk_svg *svg)
{
	opk_buf_add(&page->html, svg->buf.data, svg->buf.size);
	opk_buf_add_text(&page->html, "</figure>\n");
	return code;
}

int report_add_roofline(struct report_page *page, const struct report_run *run)
{
	const struct opk_picture_options options = { .width = WIDTH, .height = HEIGHT };
	opk_autosvg struct opk_svg svg = { .in_page = true };

	opk_buf_add_printf(
		&page->html,
		"<figure class=\"panel drawing roofline\" tabindex=\"0\" data-of=\"%zu\">\n",
		run->number);
	return add(page,
	           opk_picture_roofline(&svg, page->ctx, run->summary, run->roofline, &options),
	           &svg);
}

/* Adds what the picture shows under the mouse, for kernels with the most time. */
static void add_nearest(struct report_page *page, const struct report_run *run)
{
	enum { MOST = 10, WIDEST = 400 };

	opk_buf_add_text(&page->html, "<ul class=\"prose nearest\">\n");
	for (size_t i = 0; i < run->roofline->kernel_count && i < MOST; i++) {
		const char *name = run->summary->groups[i].name;
		opk_autofree char *fitting = opk_label_fit(name, WIDEST);

		opk_buf_add_text(&page->html, "<li><strong>");
		report_text(&page->html, fitting ? fitting : "");
		opk_buf_add_text(&page->html, "</strong>: ");
		report_text(&page->html, run->roofline->kernels[i].text);
		opk_buf_add_text(&page->html, "</li>\n");
	}
	opk_buf_add_text(&page->html, "</ul>\n");
}

int report_write_roofline(struct report_page *page, const struct report_run *run,
                          const struct report_part *part)
{
	int code;

	if (!run->roofline)
		return OPK_OK;
	report_begin(
		page, run, part, part->title,
		"Each kernel at each level of memory: how much it computes a second over how much it "
		"computes for each byte. Operations of each type have a roof of their own, by which "
		"kernels are judged; roofs of operations that no kernel has are faint. What is near a roof "
		"needs fewer or other instructions, and what is near the slope of a level fewer bytes "
		"there. In parentheses is the level's throughput: how busy its busiest part was, which "
		"can be high where few bytes move. Only a kernel for which all of this is known and low, "
		"below 60% as a rule of thumb, waits for something that is not in the picture. "
		"Drag to move; with Ctrl, or after a click, the wheel zooms, and so do + and "
		"\xe2\x88\x92; 0 shows all again.");
	code = report_add_roofline(page, run);
	add_nearest(page, run);
	report_end(page);
	return code;
}

int report_write_stacks(struct report_page *page, const struct report_run *run,
                        const struct report_part *part)
{
	enum { MOST = 40 };
	const struct opk_meta_heading *heading = opk_picture_stack_heading(run->summary, 0);
	const struct opk_picture_options options = { .width = WIDTH, .top = MOST };
	int code = OPK_OK;

	if (!heading || !run->summary->evaluation || !run->summary->group_count)
		return OPK_OK;
	report_begin(page, run, part, part->title,
	             "What belongs together as one bar a kernel, those that took most time first.");
	for (size_t i = 0; !code && (heading = opk_picture_stack_heading(run->summary, i)); i++) {
		opk_autosvg struct opk_svg svg = { .in_page = true };

		opk_buf_add_text(&page->html, "<h3>");
		report_text(&page->html, heading->title);
		opk_buf_add_text(&page->html, "</h3>\n<p class=\"prose\">");
		report_text(&page->html, heading->text ? heading->text : "");
		opk_buf_add_text(&page->html, "</p>\n<figure class=\"panel drawing\">\n");
		code = add(page,
		           opk_picture_stack(&svg, page->ctx, run->summary, heading, &options),
		           &svg);
	}
	report_end(page);
	return code;
}
