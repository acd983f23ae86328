/* SPDX-License-Identifier: BSD-2-Clause */
/* What bounds each kernel, how busy the GPU's parts are, and what to try. */
#include <math.h>

#include "answers/door.h"
#include "base/buf.h"
#include "base/number_text.h"
#include "base/utf8.h"
#include "container/door.h"
#include "show/show.h"

enum {
	INDENT = 4,
	BAR = 10,      /* characters of 100% */
	BAR_ROOM = 12, /* with the gap to the next one */
	LEAST_NAME = 12,
	REST_TEXT = 64,
};

/* ---- text ----------------------------------------------------------------------------------- */

void show_paragraph(struct opk_buf *out, const struct show *show, size_t indent, const char *text)
{
	size_t limit = app_width(show->app), column = indent;

	limit = limit ? limit : SHOW_COLUMNS;
	opk_buf_add_printf(out, "%*s", (int)indent, "");
	while (*text) {
		size_t length = strcspn(text, " ");

		if (column > indent && column + 1 + length > limit) {
			opk_buf_add_printf(out, "\n%*s", (int)indent, "");
			column = indent;
		} else if (column > indent) {
			opk_buf_add_text(out, " ");
			column++;
		}
		opk_buf_add(out, text, length);
		column += length;
		text += length;
		text += *text == ' ';
	}
	opk_buf_add_text(out, "\n");
}

static void put_paragraph(struct opk_buf *out, const struct show *show, const char *text)
{
	show_paragraph(out, show, INDENT, text);
}

/* "5 kernels, 5 launches, 502 us of GPU time; NVIDIA H100 80GB HBM3 (GH100)" */
static void put_run(struct opk_buf *out, const struct show *show)
{
	const char *device = opk_meta_fact(show->meta, "device.0.name");
	char head[OPK_ANSWER_TEXT];

	opk_buf_add_printf(out, *device ? "%s; %s (%s)\n" : "%s; %s%s\n",
	                   opk_answers_head(head, show->answers), device, show->meta->chip);
	show_limiters(out, show);
	if (*show->summary->words.clocks)
		opk_buf_add_printf(out, "clocks: %s\n", show->summary->words.clocks);
	if (strcmp(show->summary->words.complete, "yes") != 0)
		opk_buf_add_printf(out, "complete: %s\n", show->summary->words.complete);
}

/* The gap to the next bar after text of this length. */
static void put_gap(struct opk_buf *out, size_t length, bool last)
{
	if (!last)
		opk_buf_add_printf(out, "%*s", length < BAR_ROOM ? (int)(BAR_ROOM - length) : 1,
		                   "");
}

static void put_percent(struct opk_buf *out, const char *label, double percent, bool last)
{
	char text[BAR_ROOM + 8];

	if (isnan(percent))
		snprintf(text, sizeof text, "%s ?", label);
	else
		snprintf(text, sizeof text, "%s %.0f%%", label, percent);
	opk_buf_add_text(out, text);
	put_gap(out, strlen(text), last);
}

static void put_bar(struct opk_buf *out, double percent, bool last)
{
	int length = isnan(percent) ? 0 : (int)lround(fmin(percent, 100) / 100 * BAR);

	for (int i = 0; i < BAR && !isnan(percent); i++)
		opk_buf_add_text(out, i < length ? "#" : ".");
	put_gap(out, isnan(percent) ? 0 : BAR, last);
}

/* "warps 47%", or "warps 47 of 48%" where an SM can't hold all of such blocks. */
static void put_warps(struct opk_buf *out, const struct opk_answer *answer)
{
	if (isnan(answer->occupancy) || !(answer->possible < 99.5))
		put_percent(out, "warps", answer->occupancy, true);
	else
		opk_buf_add_printf(out, "warps %.0f of %.0f%%", answer->occupancy,
		                   answer->possible);
}

static void put_bars(struct opk_buf *out, const struct opk_answer *answer)
{
	static const char *const labels[OPK_BARS] = { "compute", "issue", "L1", "L2", "DRAM" };

	opk_buf_add_printf(out, "%*s", INDENT, "");
	for (size_t i = 0; i < OPK_BARS; i++)
		put_percent(out, labels[i], answer->bars[i], false);
	put_warps(out, answer);
	opk_buf_add_printf(out, "\n%*s", INDENT, "");
	for (size_t i = 0; i < OPK_BARS; i++)
		put_bar(out, answer->bars[i], false);
	put_bar(out, answer->occupancy, true);
	opk_buf_add_text(out, "\n");
}

static void put_finding(struct opk_buf *out, const struct show *show,
                        const struct opk_answer *answer, const struct opk_answer_finding *finding)
{
	double saved = finding->gain * answer->time_ns;
	opk_autofree char *advice = NULL;
	char time[OPK_ANSWER_TEXT];

	put_paragraph(out, show, finding->text);
	if (!(saved > 0))
		advice = opk_printf("try: %s", finding->advice);
	else if (isnan(answer->share))
		advice = opk_printf("try: %s; at most %s less", finding->advice,
		                    opk_answer_time(time, saved));
	else
		advice = opk_printf("try: %s; at most %s less (%.3g%% of %s)", finding->advice,
		                    opk_answer_time(time, saved), finding->gain * answer->share,
		                    opk_answers_whole(show->answers));
	if (advice)
		put_paragraph(out, show, advice);
	out->failed |= !advice;
}

/* The name, and how long it ran. */
static void put_title(struct opk_buf *out, const struct show *show, size_t at)
{
	const struct opk_answer *answer = opk_answers_get(show->answers, at);
	size_t width = app_width(show->app), room;
	opk_autofree char *title = opk_printf("%s%s", show_outside(show, answer), answer->name);
	char facts[200], time[OPK_ANSWER_TEXT], launches[OPK_ANSWER_TEXT], share[20] = "";
	opk_autofree char *name = NULL;

	if (!isnan(answer->share))
		snprintf(share, sizeof share, "  %.3g%%", answer->share);
	snprintf(facts, sizeof facts, "  %.20s%s  %s",
	         answer->time_ns > 0 ? opk_answer_time(time, answer->time_ns) : "", share,
	         opk_answer_launches(launches, show->answers, answer));
	width = width ? width : SHOW_COLUMNS;
	room = width > INDENT + strlen(facts) ? width - INDENT - strlen(facts) : 0;
	name = title ? opk_utf8_fit(title, room < LEAST_NAME ? LEAST_NAME : room) : NULL;
	out->failed |= !name;
	if (name)
		opk_buf_add_printf(out, "\n%2zu  %s%s\n", at + 1, name, facts);
}

/* What to try, and that there is more, or nothing. */
static void put_findings(struct opk_buf *out, const struct show *show,
                         const struct opk_answer *answer)
{
	size_t count = answer->finding_count, shown = show->all || !count ? count : 1;
	const char *none = opk_answer_without_finding(answer);
	char rest[REST_TEXT];

	for (size_t i = 0; i < shown; i++)
		put_finding(out, show, answer, &answer->findings[i]);
	snprintf(rest, sizeof rest, "%zu more finding%s: --all", count - shown,
	         opk_plural(count - shown));
	if (shown < count)
		put_paragraph(out, show, rest);
	if (none)
		put_paragraph(out, show, none);
}

static void put_kernel(struct opk_buf *out, const struct show *show, size_t at)
{
	const struct opk_answer *answer = opk_answers_get(show->answers, at);

	put_title(out, show, at);
	put_paragraph(out, show, answer->text);
	if (*answer->remark)
		put_paragraph(out, show, answer->remark);
	put_bars(out, answer);
	put_findings(out, show, answer);
}

static int show_text(struct show *show, size_t most)
{
	struct opk_buf out = { 0 };
	opk_autofree char *text = NULL;
	int code;

	put_run(&out, show);
	code = show_ranges(&out, show);
	for (size_t i = 0; i < most; i++)
		put_kernel(&out, show, i);
	if (show->all)
		opk_buf_add_text(&out, "\n");
	text = opk_buf_take_text(&out);
	TRY(code);
	return text ? opk_out_text(show->app->out, text) : app_nomem(show->app);
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* Whole percents, as in text: more digits would be noise. */
static union opk_cell percent_cell(double percent)
{
	return cell_value(round(percent));
}

/* Small ones in steps that are short as text. */
static union opk_cell share_cell(double share)
{
	return share < 10 ? cell_value(round(share * 8) / 8) : percent_cell(share);
}

/* Two digits where it is small, in steps that are short as text. */
static union opk_cell within_cell(double within)
{
	return cell_value(ceil(within * 8) / 8);
}

/* Whether passes took turns, so that some of the shown kernels' launches have no time. */
static bool has_untimed(const struct show *show)
{
	size_t count = opk_answers_count(show->answers);

	for (size_t i = 0; i < count && i < show->top; i++) {
		const struct opk_answer *answer = opk_answers_get(show->answers, i);

		if (answer->timed != answer->launches)
			return true;
	}
	return false;
}

static void fill_kernel(struct app_fields *fields, const struct show *show,
                        const struct opk_answer *answer, bool untimed)
{
	const struct opk_answer_finding *finding = answer->finding_count ? &answer->findings[0]
	                                                                 : NULL;

	fields->count = 0;
	field_text(fields, "kernel", answer->name);
	field_number(fields, "launches", answer->launches);
	if (untimed)
		field_number(fields, "timed", answer->timed);
	field_add(fields, "time_ns", OPK_CELL_DOUBLE, cell_value(round(answer->time_ns)));
	field_add(fields, "share", OPK_CELL_DOUBLE, share_cell(answer->share));
	field_add(fields, "within", OPK_CELL_DOUBLE, within_cell(answer->within));
	field_text(fields, "limiter", answer->limiter.name ? answer->limiter.name : "");
	field_add(fields, "percent", OPK_CELL_DOUBLE, percent_cell(answer->limiter.percent));
	field_flag(fields, "sure", answer->sure);
	field_text(fields, "next", answer->next.name ? answer->next.name : "");
	for (size_t i = 0; i < OPK_BARS; i++)
		field_add(fields, opk_answers_bar(i), OPK_CELL_DOUBLE,
		          percent_cell(answer->bars[i]));
	field_add(fields, "warps", OPK_CELL_DOUBLE, percent_cell(answer->occupancy));
	if (show->all) {
		field_add(fields, "possible", OPK_CELL_DOUBLE, percent_cell(answer->possible));
		field_text(fields, "remark", answer->remark);
	}
	field_text(fields, "finding", finding ? finding->name : "");
	field_add(fields, "gain", OPK_CELL_DOUBLE,
	          cell_value(finding ? ceil(100 * finding->gain) : (double)NAN));
	field_text(fields, "text", finding ? finding->text : "");
}

static void fill_finding(struct app_fields *fields, const struct opk_answer *answer,
                         const struct opk_answer_finding *finding)
{
	fields->count = 0;
	field_text(fields, "kernel", answer->name);
	field_text(fields, "finding", finding->name);
	field_add(fields, "gain", OPK_CELL_DOUBLE, cell_value(ceil(100 * finding->gain)));
	field_text(fields, "text", finding->text);
	field_text(fields, "try", finding->advice);
	field_text(fields, "because", finding->because);
}

static int put_finding_rows(struct show *show, size_t most)
{
	struct app_fields fields = { 0 };
	bool begun = false;

	for (size_t i = 0; i < most; i++) {
		const struct opk_answer *answer = opk_answers_get(show->answers, i);

		for (size_t j = 0; j < answer->finding_count; j++) {
			fill_finding(&fields, answer, &answer->findings[j]);
			if (!begun)
				TRY(app_fields_table(show->app, "findings", &fields));
			begun = true;
			TRY(opk_out_row(show->app->out, fields.cells));
		}
	}
	return OPK_OK;
}

static int show_rows(struct show *show, size_t most)
{
	struct app_fields fields = { 0 };
	bool untimed = has_untimed(show);

	for (size_t i = 0; i < most; i++) {
		fill_kernel(&fields, show, opk_answers_get(show->answers, i), untimed);
		if (!i)
			TRY(app_fields_table(show->app, "kernels", &fields));
		TRY(opk_out_row(show->app->out, fields.cells));
	}
	TRY(show_ranges(NULL, show));
	return show->all ? put_finding_rows(show, most) : OPK_OK;
}

int show_answers(struct show *show)
{
	size_t count = opk_answers_count(show->answers);
	size_t most = show->top < count ? (size_t)show->top : count;
	double rest = 0;

	for (size_t i = most; i < count; i++)
		rest += opk_answers_get(show->answers, i)->share;
	if (most < count && isnan(rest))
		app_note("%zu more: --top %zu shows %s", count - most, count,
		         count - most == 1 ? "it" : "them");
	else
		show_rest(opk_answers_are_kernels(show->answers) ? "kernel" : "range", most, count,
		          &rest);
	return app_shows_table(show->app) ? show_text(show, most) : show_rows(show, most);
}
