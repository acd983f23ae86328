/* SPDX-License-Identifier: BSD-2-Clause */
/* A picture of a recording: as SVG, as shapes, and as the numbers drawn. */
#include "base/listing.h"
#include "base/option_struct.h"
#include "picture/picture.h"
#include "picture/stack.h"
#include "series/series.h"

enum { LISTS = OPK_PICTURE_RAN + 1 };

struct opk_picture {
	struct opk_svg svg;
	struct opk_listing *lists[LISTS]; /* except those of `svg` */
	char *text;                       /* of `svg` */
	bool listed;                      /* lists are wanted */
};

OPK_DEFINE_AUTO(opk_picture)
OPK_DEFINE_AUTO(opk_summary)

void opk_picture_free(struct opk_picture *picture)
{
	if (!picture)
		return;
	for (int i = 0; i < LISTS; i++)
		opk_listing_free(picture->lists[i]);
	opk_svg_clear(&picture->svg);
	free(picture->text);
	free(picture);
}

/* ---- numbers */

static struct opk_listing *list_roofs(const struct opk_roofline *r)
{
	struct opk_listing *rows = opk_listing_new("name is_level? peak% idle? unit");

	for (size_t i = 0; i < r->roof_count; i++)
		opk_listing_row(rows, cell_text(r->roofs[i].name), cell_flag(r->roofs[i].is_level),
		                cell_value(r->roofs[i].peak), cell_flag(r->roofs[i].idle),
		                cell_text(r->roofs[i].unit));
	return rows;
}

static struct opk_listing *list_dots(const struct opk_roofline *r,
                                     const struct opk_summary *summary)
{
	struct opk_listing *rows = opk_listing_new(
		"kernel level intensity% rate% unit share% highest text");

	for (size_t i = 0; i < r->dot_count; i++) {
		const struct opk_roofline_dot *dot = &r->dots[i];
		const struct opk_summary_group *group = &summary->groups[dot->kernel];

		opk_listing_row(rows, cell_text(group->name), cell_text(r->roofs[dot->roof].name),
		                cell_value(dot->intensity), cell_value(dot->rate),
		                cell_text(r->unit), cell_value(group->share / 100),
		                cell_text(r->kernels[dot->kernel].highest),
		                cell_text(r->kernels[dot->kernel].text));
	}
	return rows;
}

static struct opk_listing *list_kernels(const struct opk_summary *summary)
{
	struct opk_listing *rows = opk_listing_new("kernel time% share%");

	for (size_t i = 0; i < summary->kernel_count; i++)
		opk_listing_row(rows, cell_text(summary->kernels[i].name),
		                cell_value((double)summary->kernels[i].ran->time_ns),
		                cell_value(summary->kernels[i].share / 100));
	for (size_t i = 0; !summary->kernel_count && i < summary->group_count; i++)
		opk_listing_row(rows, cell_text(summary->groups[i].name),
		                cell_value(summary->groups[i].time),
		                cell_value(summary->groups[i].share / 100));
	return rows;
}

static struct opk_listing *list_parts(const struct opk_summary *summary,
                                      const struct opk_meta_heading *heading)
{
	struct opk_listing *rows = opk_listing_new("kernel part value% unit");

	for (size_t i = 0; i < summary->group_count; i++)
		for (size_t j = 0; j < summary->column_count; j++) {
			const struct opk_summary_column *column = &summary->columns[j];

			if (column->heading != heading || column->at == SIZE_MAX)
				continue;
			opk_listing_row(rows, cell_text(summary->groups[i].name),
			                cell_text(column->name),
			                cell_value(summary->groups[i].of->columns[column->at].mean),
			                cell_text(column->unit));
		}
	return rows;
}

static void add_points(struct opk_listing *rows, const struct opk_chart *chart,
                       const struct opk_chart_place *place, const struct opk_chart_line *line)
{
	double part = (double)(chart->end_ns - chart->start_ns) / (double)chart->points;

	for (size_t i = 0; i < chart->points; i++)
		opk_listing_row(rows, cell_text(place->title), cell_text(line->name),
		                cell_text(line->unit),
		                cell_number(chart->start_ns + (uint64_t)((double)i * part)),
		                cell_number(chart->start_ns + (uint64_t)((double)(i + 1) * part)),
		                cell_value(line->least[i]), cell_value(line->most[i]),
		                cell_value(line->mean[i]));
}

static struct opk_listing *list_points(const struct opk_chart *chart)
{
	struct opk_listing *rows = opk_listing_new(
		"place metric unit start_ns# end_ns# least% most% mean%");

	for (size_t i = 0; i < chart->place_count; i++)
		for (size_t j = 0; j < chart->places[i].line_count; j++)
			add_points(rows, chart, &chart->places[i], &chart->places[i].lines[j]);
	return rows;
}

static void add_bars(struct opk_listing *rows, const struct opk_chart_place *place,
                     const struct opk_chart_lane *lane)
{
	for (size_t i = 0; i < lane->bar_count; i++) {
		const struct opk_chart_bar *of = &lane->bars[i];

		opk_listing_row(rows, cell_text(place->title), cell_text(lane->title),
		                cell_number(of->start_ns), cell_number(of->end_ns),
		                cell_text(of->name), cell_text(of->full_name),
		                cell_number(of->records));
	}
}

static struct opk_listing *list_ran(const struct opk_chart *chart)
{
	struct opk_listing *rows = opk_listing_new(
		"place lane start_ns# end_ns# name full_name records#");

	for (size_t i = 0; i < chart->place_count; i++)
		for (size_t j = 0; j < chart->places[i].lane_count; j++)
			add_bars(rows, &chart->places[i], &chart->places[i].lanes[j]);
	return rows;
}

/* ---- drawing */

static int draw_roofline(struct opk_picture *p, struct opk_ctx *ctx,
                         const struct opk_summary *summary,
                         const struct opk_picture_options *options)
{
	opk_auto(opk_roofline) struct opk_roofline *roofline = NULL;

	TRY(opk_roofline_new(&roofline, ctx, summary));
	p->lists[OPK_PICTURE_NUMBERS] = list_dots(roofline, summary);
	p->lists[OPK_PICTURE_ROOFS] = list_roofs(roofline);
	return opk_picture_roofline(&p->svg, ctx, summary, roofline, options);
}

static int draw_kernels(struct opk_picture *p, struct opk_ctx *ctx,
                        const struct opk_summary *summary,
                        const struct opk_picture_options *options)
{
	p->lists[OPK_PICTURE_NUMBERS] = list_kernels(summary);
	return opk_picture_kernels(&p->svg, ctx, summary, options);
}

static int draw_stack(struct opk_picture *p, struct opk_ctx *ctx, const struct opk_summary *summary,
                      const struct opk_picture_options *options)
{
	const struct opk_meta_heading *heading = NULL;
	opk_autobuf struct opk_buf others = { 0 };
	const char *wanted = options->group;

	for (size_t i = 0; (heading = opk_picture_stack_heading(summary, i)); i++) {
		if (!wanted || !strcmp(heading->title, wanted))
			break;
		opk_buf_add_printf(&others, "%s%s", i ? ", " : "", heading->title);
	}
	opk_buf_add(&others, "", 1);
	if (!heading && others.size > 1)
		return opk_fail(ctx, OPK_EUSAGE, "group %s: what can be stacked is %s", wanted,
		                (char *)others.data);
	if (!heading || !summary->evaluation)
		return opk_fail(ctx, OPK_EUSAGE,
		                "no stacked bars: no group of the recording's set has draw: stack, "
		                "as those of the sets top-down and stalls have");
	p->lists[OPK_PICTURE_NUMBERS] = list_parts(summary, heading);
	return opk_picture_stack(&p->svg, ctx, summary, heading, options);
}

static int draw_timeline(struct opk_picture *p, struct opk_ctx *ctx, struct opk_file *file,
                         const struct opk_picture_options *options)
{
	opk_auto(opk_chart) struct opk_chart *chart = NULL;

	TRY(opk_picture_chart(&chart, ctx, file, options));
	if (p->listed) {
		p->lists[OPK_PICTURE_NUMBERS] = list_points(chart);
		p->lists[OPK_PICTURE_RAN] = list_ran(chart);
	}
	return opk_draw_timeline(&p->svg, ctx, chart, options);
}

/* Groups of samples are devices: a pattern for kernels does not remove them. */
static int summarize(struct opk_summary **out, struct opk_ctx *ctx, struct opk_file *file,
                     const struct opk_picture_options *options)
{
	struct opk_summary_options how = OPK_INIT(how);

	how.kernel = options->kernel;
	how.kernel_names = OPK_KERNEL_SHORT;
	TRY(opk_summary_new(out, ctx, file, &how));
	if (!how.kernel || (*out)->kernel_count
	    || ((*out)->kind != OPK_SUMMARY_DEVICES && (*out)->group_count))
		return OPK_OK;
	return opk_fail(ctx, OPK_EUSAGE, "no kernel is like %s", how.kernel);
}

static int draw(struct opk_picture *p, struct opk_ctx *ctx, struct opk_file *file,
                enum opk_picture_kind kind, const struct opk_picture_options *options)
{
	static int (*const draws[])(struct opk_picture * p, struct opk_ctx * ctx,
	                            const struct opk_summary *summary,
	                            const struct opk_picture_options *options) = {
		[OPK_PICTURE_ROOFLINE] = draw_roofline,
		[OPK_PICTURE_KERNELS] = draw_kernels,
		[OPK_PICTURE_STACK] = draw_stack,
	};
	opk_auto(opk_summary) struct opk_summary *summary = NULL;

	if (kind == OPK_PICTURE_TIMELINE)
		return draw_timeline(p, ctx, file, options);
	TRY(summarize(&summary, ctx, file, options));
	return draws[kind](p, ctx, summary, options);
}

/* Either the lists are complete, or the picture fails. */
static int finish(struct opk_picture *p, struct opk_ctx *ctx)
{
	p->lists[OPK_PICTURE_PANELS] = opk_take(p->svg.panels);
	p->lists[OPK_PICTURE_SHAPES] = opk_take(p->svg.shapes);
	for (int i = 0; p->listed && i < LISTS; i++) {
		struct opk_listing *list = p->lists[i] ? opk_take(p->lists[i])
		                                       : opk_listing_new("name");

		TRY(opk_listing_finish(&p->lists[i], ctx, list));
	}
	p->text = opk_buf_take_text(&p->svg.buf);
	return p->text ? OPK_OK : opk_nomem(ctx, "a picture");
}

static int make(struct opk_picture **out, struct opk_ctx *ctx, struct opk_file *file,
                enum opk_picture_kind kind, const struct opk_picture_options *given, bool listed)
{
	OPK_OPTIONS(opk_picture_options, options, given);
	opk_auto(opk_picture) struct opk_picture *p = opk_alloc(sizeof *p);

	if (!p)
		return opk_nomem(ctx, "a picture");
	p->listed = listed;
	if (listed) {
		p->svg.panels = opk_listing_new("left% top% right% bottom% x_from% x_to% x_log? "
		                                "y_from% y_to% y_log? width% height%");
		p->svg.shapes = opk_listing_new("kind panel~ class x% y% x2% y2% size% points text "
		                                "anchor angle% colour opacity% stroke% kernel~");
	}
	TRY(draw(p, ctx, file, kind, &options));
	TRY(finish(p, ctx));
	*out = opk_take(p);
	return OPK_OK;
}

int opk_picture_new(struct opk_picture **out, struct opk_ctx *ctx, struct opk_file *file,
                    enum opk_picture_kind kind, const struct opk_picture_options *options)
{
	return make(out, ctx, file, kind, options, true);
}

int opk_picture_draw(struct opk_picture **out, struct opk_ctx *ctx, struct opk_file *file,
                     enum opk_picture_kind kind, const struct opk_picture_options *options)
{
	return make(out, ctx, file, kind, options, false);
}

const char *opk_picture_svg(const struct opk_picture *picture)
{
	return picture->text;
}

const struct opk_listing *opk_picture_list(const struct opk_picture *picture,
                                           enum opk_picture_list which)
{
	return picture->lists[which];
}
