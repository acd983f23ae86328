/* SPDX-License-Identifier: BSD-2-Clause */
/* A roofline as lists. */
#include "base/listing.h"
#include "picture/picture.h"

static struct opk_listing *list_about(const struct opk_roofline *r)
{
	struct opk_listing *rows = opk_listing_new("title unit notes");
	struct opk_buf text = { 0 };
	opk_autofree char *notes = NULL;

	opk_roofline_put_notes(&text, r);
	notes = opk_buf_take_text(&text);
	if (!notes) {
		opk_listing_free(rows);
		return NULL;
	}
	opk_listing_row(rows, cell_text(r->title), cell_text(r->unit), cell_text(notes));
	return rows;
}

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
		"kernel roof# intensity% rate% share% highest text");

	for (size_t i = 0; i < r->dot_count; i++) {
		const struct opk_roofline_dot *dot = &r->dots[i];
		const struct opk_summary_group *group = &summary->groups[dot->kernel];

		opk_listing_row(rows, cell_text(group->name), cell_number(dot->roof),
		                cell_value(dot->intensity), cell_value(dot->rate),
		                cell_value(group->share / 100),
		                cell_text(r->kernels[dot->kernel].highest),
		                cell_text(r->kernels[dot->kernel].text));
	}
	return rows;
}

int opk_roofline_list(struct opk_listing **out, struct opk_ctx *ctx,
                      const struct opk_summary *summary, enum opk_roofline_list which)
{
	opk_auto(opk_roofline) struct opk_roofline *r = NULL;

	TRY(opk_roofline_new(&r, ctx, summary));
	return opk_listing_finish(out, ctx,
	                          which == OPK_ROOFLINE_ABOUT   ? list_about(r)
	                          : which == OPK_ROOFLINE_ROOFS ? list_roofs(r)
	                                                        : list_dots(r, summary));
}
