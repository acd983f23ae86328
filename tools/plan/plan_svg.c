/* SPDX-License-Identifier: BSD-2-Clause */
/* Draws a plan: measures, then draws the parts from top to bottom. */
#include "plan/plan_svg.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/number_text.h"
#include "picture/door.h"
#include "plan/door.h"

enum {
	MARGIN = 16,
	HEADING = 56, /* above the columns' numbers */
	NUMBERS = 24,
	CELL_WIDTH = 40,
	CELL_HEIGHT = 28,
	GAP = 3,
	LETTER = 7, /* the widest of the small text */
	BOUND = 96, /* the lower bound's column */
	LEAST_WIDTH = 600,
	HEADING_LETTER = 10,
};

/* Columns of OPK_PLAN_PASSES and OPK_PLAN_DOMAINS. */
enum { PASS_COUNTERS = 1, PASS_DOMAINS, PASS_METRICS = 5 };
enum { DOMAINS_NAMES, DOMAINS_BOUND = 3, DOMAINS_FULLEST, DOMAINS_SOFTWARE };

struct picture {
	struct opk_buf *out;
	const struct opk_plan *plan;
	const struct opk_listing *in_passes, *domains;
	size_t lower_bound;
	size_t rows, passes, label_width;
};

/* Light or dark like the reader's setting; bars are transparent, so that numbers stay readable. */
static const char style[] =
	"<style>\n"
	"svg { background: #fff; color: #1f2328; font: 12px sans-serif }\n"
	"text { fill: currentColor }\n"
	".heading { font-size: 16px; font-weight: bold }\n"
	".quiet { opacity: .75 }\n"
	".number { text-anchor: middle }\n"
	".label { text-anchor: end }\n"
	".cell { fill: none; stroke: currentColor; stroke-opacity: .3 }\n"
	".bar { fill: #2f7ed8; fill-opacity: .45 }\n"
	".software { fill: #d8872f }\n"
	".pass:hover .cell { stroke-opacity: 1 }\n"
	"@media (prefers-color-scheme: dark) { svg { background: #0d1117; color: #e6edf3 } }\n"
	"</style>\n";

/* The domains of a row; NULL: the row has all counters. */
static const union opk_cell *domains_of(const struct picture *p, size_t row)
{
	return opk_listing_count(p->domains) ? opk_listing_get(p->domains, row) : NULL;
}

/* The label of a row; `whole`: with the names of all its domains. */
static void put_label(struct opk_buf *out, const struct picture *p, size_t row, bool whole)
{
	static const char *const all[] = { "counters" };
	const union opk_cell *domains = domains_of(p, row);
	const char *const *names = domains ? domains[DOMAINS_NAMES].list.items : all;
	size_t count = domains ? domains[DOMAINS_NAMES].list.count : 1;

	for (size_t i = 0; i < (whole ? count : 1); i++) {
		opk_buf_add_text(out, i ? ", " : "");
		opk_xml_put_text(out, names[i]);
	}
	if (!whole && count > 1)
		opk_buf_add_printf(out, " + %zu", count - 1);
}

/* ---- positions */

static size_t column_x(const struct picture *p, size_t pass)
{
	return MARGIN + p->label_width + pass * (CELL_WIDTH + GAP);
}

static size_t row_y(size_t row)
{
	return MARGIN + HEADING + NUMBERS + row * (CELL_HEIGHT + GAP);
}

static void measure(struct picture *p)
{
	p->passes = opk_plan_passes(p->plan);
	p->rows = opk_listing_count(p->domains);
	p->rows += p->rows == 0;
	for (size_t row = 0; row < p->rows; row++) {
		opk_autobuf struct opk_buf label = { 0 };
		size_t width;

		put_label(&label, p, row, false);
		width = LETTER * label.size + MARGIN;
		p->label_width = width > p->label_width ? width : p->label_width;
	}
}

/* ---- the parts */

static void put_heading(const struct picture *p)
{
	size_t metrics = opk_plan_metrics(p->plan)->count;

	opk_buf_add_printf(p->out, "<text class=\"heading\" x=\"%d\" y=\"%d\">%zu pass%s: ", MARGIN,
	                   MARGIN + 14, p->passes, p->passes == 1 ? "" : "es");
	opk_xml_put_text(p->out, opk_plan_set_name(p->plan));
	opk_buf_add_text(p->out, " on ");
	opk_xml_put_text(p->out, opk_plan_chip(p->plan));
	opk_buf_add_printf(
		p->out,
		"</text>\n<text class=\"quiet\" x=\"%d\" y=\"%d\">%zu metric%s, profiler %s, "
		"lower bound %zu; counters of each pass by their domains</text>\n",
		MARGIN, MARGIN + 36, metrics, opk_plural(metrics),
		opk_profiler_name(opk_plan_profiler(p->plan)), p->lower_bound);
	opk_buf_add_printf(p->out, "<text class=\"quiet\" x=\"%zu\" y=\"%zu\">at least</text>\n",
	                   column_x(p, p->passes) + GAP, row_y(0) - 8);
}

static void put_row_label(const struct picture *p, size_t row)
{
	size_t y = row_y(row) + CELL_HEIGHT / 2 + 4;
	const union opk_cell *domains = domains_of(p, row);
	size_t bound = domains ? domains[DOMAINS_BOUND].uint : p->lower_bound;

	opk_buf_add_printf(p->out, "<g><title>");
	put_label(p->out, p, row, true);
	opk_buf_add_printf(p->out, "</title><text class=\"label\" x=\"%zu\" y=\"%zu\">",
	                   column_x(p, 0) - 2 * GAP, y);
	put_label(p->out, p, row, false);
	opk_buf_add_printf(
		p->out,
		"</text></g>\n<text class=\"quiet\" x=\"%zu\" y=\"%zu\">%zu pass%s</text>\n",
		column_x(p, p->passes) + GAP, y, bound, bound == 1 ? "" : "es");
}

/* The number of a pass's counters in a row's domains, listed as "gpu_lts:8". */
static size_t fill_of(const union opk_cell *pass, const union opk_cell *domains)
{
	const char *name = domains[DOMAINS_NAMES].list.items[0];
	size_t length = strlen(name);

	for (size_t i = 0; i < pass[PASS_DOMAINS].list.count; i++) {
		const char *fill = pass[PASS_DOMAINS].list.items[i];

		if (!strncmp(fill, name, length) && fill[length] == ':')
			return strtoul(fill + length + 1, NULL, 10);
	}
	return 0;
}

/* A bar at the cell's bottom: its height is relative to the fullest pass. */
static void put_cell(const struct picture *p, const union opk_cell *in_pass, size_t pass,
                     size_t row)
{
	const union opk_cell *domains = domains_of(p, row);
	size_t fill = domains ? fill_of(in_pass, domains) : in_pass[PASS_COUNTERS].uint;
	size_t fullest = domains ? domains[DOMAINS_FULLEST].uint : 0, height;
	size_t x = column_x(p, pass), y = row_y(row);
	bool software = domains && domains[DOMAINS_SOFTWARE].boolean;

	for (size_t i = 0; !domains && i < p->passes; i++) {
		size_t counters = opk_listing_get(p->in_passes, i)[PASS_COUNTERS].uint;

		fullest = counters > fullest ? counters : fullest;
	}
	height = fullest ? (fill * CELL_HEIGHT + fullest - 1) / fullest : 0;
	if (fill)
		opk_buf_add_printf(
			p->out,
			"<rect class=\"bar%s\" x=\"%zu\" y=\"%zu\" width=\"%d\" height=\"%zu\"/>\n",
			software ? " software" : "", x, y + CELL_HEIGHT - height, CELL_WIDTH,
			height);
	opk_buf_add_printf(
		p->out, "<rect class=\"cell\" x=\"%zu\" y=\"%zu\" width=\"%d\" height=\"%d\"/>\n",
		x, y, CELL_WIDTH, CELL_HEIGHT);
	if (fill)
		opk_buf_add_printf(p->out,
		                   "<text class=\"number\" x=\"%zu\" y=\"%zu\">%zu</text>\n",
		                   x + CELL_WIDTH / 2, y + CELL_HEIGHT / 2 + 4, fill);
}

static void put_pass(const struct picture *p, size_t pass)
{
	const union opk_cell *cells = opk_listing_get(p->in_passes, pass);
	size_t counters = cells[PASS_COUNTERS].uint;

	opk_buf_add_printf(p->out, "<g class=\"pass\"><title>pass %zu: %zu counter%s", pass + 1,
	                   counters, opk_plural(counters));
	for (size_t i = 0; i < cells[PASS_METRICS].list.count; i++) {
		opk_buf_add_text(p->out, "\n");
		opk_xml_put_text(p->out, cells[PASS_METRICS].list.items[i]);
	}
	opk_buf_add_printf(
		p->out, "</title>\n<text class=\"number quiet\" x=\"%zu\" y=\"%zu\">%zu</text>\n",
		column_x(p, pass) + CELL_WIDTH / 2, row_y(0) - 8, pass + 1);
	for (size_t row = 0; row < p->rows; row++)
		put_cell(p, cells, pass, row);
	opk_buf_add_text(p->out, "</g>\n");
}

static void put_picture(struct picture *p)
{
	size_t width, heading, height;

	measure(p);
	width = column_x(p, p->passes) + BOUND;
	heading = HEADING_LETTER * (strlen(opk_plan_set_name(p->plan)) + 20) + 2 * MARGIN;
	width = width > heading ? width : heading;
	width = width > LEAST_WIDTH ? width : LEAST_WIDTH;
	height = row_y(p->rows) + MARGIN;
	opk_buf_add_printf(p->out,
	                   "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
	                   "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%zu\" height=\"%zu\" "
	                   "viewBox=\"0 0 %zu %zu\" role=\"img\">\n%s",
	                   width, height, width, height, style);
	put_heading(p);
	for (size_t row = 0; row < p->rows; row++)
		put_row_label(p, row);
	for (size_t pass = 0; pass < p->passes; pass++)
		put_pass(p, pass);
	opk_buf_add_text(p->out, "</svg>\n");
}

int plan_svg(struct opk_newfile *out, struct app *app, struct opk_plan *plan, size_t lower_bound,
             const char *path)
{
	opk_auto(opk_listing) struct opk_listing *in_passes = NULL, *domains = NULL;
	opk_autobuf struct opk_buf text = { 0 };
	struct picture p = { .out = &text, .plan = plan, .lower_bound = lower_bound };

	TRY(opk_plan_list(&in_passes, app->ctx, plan, OPK_PLAN_PASSES));
	TRY(opk_plan_list(&domains, app->ctx, plan, OPK_PLAN_DOMAINS));
	p.in_passes = in_passes;
	p.domains = domains;
	put_picture(&p);
	if (text.failed)
		return app_nomem(app);
	TRY(opk_newfile_create(out, app->ctx, path, opk_check_output, OPK_OUTPUT_SVG));
	return opk_newfile_write(out, text.data, text.size);
}
