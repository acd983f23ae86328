/* SPDX-License-Identifier: BSD-2-Clause */
/* The hottest lines: their share of the samples, why warps wait there, and what was counted. */
#include <math.h>
#include <string.h>

#include "base/ascii.h"
#include "base/utf8.h"
#include "code/door.h"
#include "show/show.h"

enum {
	LINES = 10,      /* by default */
	COLUMNS = 80,    /* where nothing limits the width */
	LEAST_TEXT = 12, /* bytes, worth a column */
	ENOUGH = 1000,   /* samples */
	MOST_TEXT = 400  /* in other formats */
};

struct lines {
	struct show *show;
	struct opk_hot *hot;
	struct opk_sources *sources;
	struct opk_kernel_names *names;
	size_t text_width, kernel_width, place_width, reason_width;
	char over_ideal[32]; /* of the line that is being filled in */
	bool has_paths;      /* of --source-path */
	bool people, has_text, found_text, many_kernels;
};

/* Text of this length at most, which ends with "..." if it is cut. free(); NULL: no memory. */
static char *cut(const char *text, size_t most)
{
	size_t end = strlen(text), step, kept = 0;

	if (end <= most)
		return opk_strdup(text);
	while (kept < most - 3 && (step = opk_utf8_step(text + kept, end - kept)) > 0
	       && kept + step <= most - 3)
		kept += step;
	return opk_printf("%.*s...", (int)kept, text);
}

/* The line's text without its indentation, harmless and not too long. free(); NULL: no memory. */
static char *text_of(struct lines *lines, const struct opk_code *code)
{
	opk_autofree char *text = NULL, *sound = NULL;
	const char *begin;
	size_t length;

	if (!lines->has_text)
		return opk_strdup("");
	if (opk_sources_line(&begin, &length, lines->sources, code->source, code->line))
		return NULL;
	while (length && opk_is_blank(*begin)) {
		begin++;
		length--;
	}
	text = opk_strndup(begin ? begin : "", length < MOST_TEXT ? length : MOST_TEXT);
	for (char *at = text; at && *at; at++)
		if ((unsigned char)*at < ' ')
			*at = ' ';
	sound = text ? opk_utf8_repair(text) : NULL;
	return sound ? cut(sound, lines->text_width) : NULL;
}

static union opk_cell count_cell(double count)
{
	return cell_known(isnan(count) ? 0 : (uint64_t)count, !isnan(count));
}

static void put_samples(struct app_fields *fields, const struct lines *lines,
                        const struct opk_hot_place *place)
{
	if (!opk_hot_is_sampled(lines->hot))
		return;
	if (!lines->people)
		field_add(fields, "samples", OPK_CELL_OPTIONAL, count_cell(place->samples));
	field_text(fields, "reason", place->reason);
}

/* People see how many times the fewest sectors were moved. */
static void put_counts(struct app_fields *fields, struct lines *lines,
                       const struct opk_hot_place *place)
{
	if (opk_hot_is_counted(lines->hot))
		field_add(fields, "executed", lines->people ? OPK_CELL_DOUBLE : OPK_CELL_OPTIONAL,
		          lines->people ? cell_value(place->executed)
		                        : count_cell(place->executed));
	if (!opk_hot_has_sectors(lines->hot))
		return;
	if (lines->people) {
		char *text = lines->over_ideal;

		*text = '\0';
		if (place->sectors > 0 && place->ideal > 0)
			snprintf(text, sizeof lines->over_ideal, "%.3gx",
			         place->sectors / place->ideal);
		field_text(fields, "ideal", text);
		return;
	}
	field_add(fields, "sectors", OPK_CELL_OPTIONAL, count_cell(place->sectors));
	field_add(fields, "ideal", OPK_CELL_OPTIONAL, count_cell(place->ideal));
}

/* ---- lines ---------------------------------------------------------------------------------- */

/* The first line that is shown says which columns there are. */
static void fill(struct app_fields *fields, struct lines *lines, size_t i, char *place, size_t size,
                 const char *text)
{
	const struct opk_row *row = opk_hot_get(lines->hot, i)->row;
	const struct opk_code *code = row->code;

	fields->count = 0;
	if (!lines->people || lines->many_kernels)
		field_text(fields, "kernel", opk_kernel_names_get(lines->names, row->range));
	if (lines->people) {
		snprintf(place, size, "%s:%u", opk_base_name(code->source), code->line);
		field_text(fields, "line", code->line ? place : "unknown");
	} else {
		field_text(fields, "source", code->source);
		field_add(fields, "line", OPK_CELL_OPTIONAL, cell_known(code->line, code->line));
	}
	field_add(fields, "share", OPK_CELL_DOUBLE, cell_value(opk_hot_share(lines->hot, i)));
	put_samples(fields, lines, opk_hot_get(lines->hot, i));
	put_counts(fields, lines, opk_hot_get(lines->hot, i));
	if (lines->has_text)
		field_text(fields, "text", text);
}

static int put_line(struct lines *lines, size_t i)
{
	opk_autofree char *text = text_of(lines, opk_hot_get(lines->hot, i)->row->code);
	struct app_fields fields;
	char place[300];

	if (!text)
		return app_nomem(lines->show->app);
	fill(&fields, lines, i, place, sizeof place, text);
	if (!i) {
		TRY(app_fields_table(lines->show->app, "lines", &fields));
		for (size_t j = 0; j < fields.count; j++)
			if (fields.columns[j].type == OPK_CELL_DOUBLE)
				opk_out_unit(lines->show->app->out, j,
				             strcmp(fields.columns[j].name, "share") ? "warps"
				                                                     : "percent");
	}
	return opk_out_row(lines->show->app->out, fields.cells);
}

static void widen(size_t *width, size_t text)
{
	*width = text > *width ? text : *width;
}

/* What the columns of all lines depend on. */
static int look_at(struct lines *lines, size_t count)
{
	const char *kernel = NULL;

	for (size_t i = 0; i < count; i++) {
		const struct opk_row *row = opk_hot_get(lines->hot, i)->row;
		const char *text;
		size_t length;

		TRY(opk_kernel_names_add(lines->names, lines->show->app->ctx, row->range, 1));
		widen(&lines->reason_width, strlen(opk_hot_get(lines->hot, i)->reason));
		widen(&lines->place_width,
		      (size_t)snprintf(NULL, 0, "%s:%u", opk_base_name(row->code->source),
		                       row->code->line));
		TRY(opk_sources_line(&text, &length, lines->sources, row->code->source,
		                     row->code->line));
		lines->has_text |= text != NULL;
		lines->found_text |= text != NULL;
		lines->many_kernels |= kernel && strcmp(kernel, row->range->kernel) != 0;
		kernel = row->range->kernel;
	}
	for (size_t i = 0; i < count; i++)
		widen(&lines->kernel_width,
		      strlen(opk_kernel_names_get(lines->names,
		                                  opk_hot_get(lines->hot, i)->row->range)));
	return OPK_OK;
}

/* The first recorded path shows what OLD may be. */
static void note_no_source(const struct lines *lines)
{
	const char *path = opk_hot_get(lines->hot, 0)->row->code->source;

	app_note("no source file is here%s, such as %s: --source-path OLD=NEW says where the files "
	         "are whose recorded paths begin with OLD",
	         lines->has_paths ? " by --source-path" : "", *path ? path : "an unknown one");
}

static void put_notes(const struct lines *lines, size_t most)
{
	size_t count = opk_hot_count(lines->hot);
	double rest = 0;

	for (size_t i = most; i < count; i++)
		rest += isnan(opk_hot_share(lines->hot, i)) ? 0 : opk_hot_share(lines->hot, i);
	app_note("a share is of %.10g %s of all kernels", opk_hot_whole(lines->hot),
	         opk_hot_is_sampled(lines->hot) ? "samples" : "executed instructions");
	if (opk_hot_is_sampled(lines->hot) && opk_hot_whole(lines->hot) < ENOUGH)
		app_note(
			"so few samples are a rough picture: a shorter --interval, such as 2^12, gives "
			"more");
	if (most < count)
		app_note("%zu more line%s, %.3g%% of them: --top %zu shows %s", count - most,
		         count - most == 1 ? "" : "s", rest, count,
		         count - most == 1 ? "it" : "them");
	if (!lines->found_text && count)
		note_no_source(lines);
}

/* Source text has the room that other columns leave in a line for people. */
static void choose_text(struct lines *lines)
{
	size_t width = app_width(lines->show->app);
	size_t taken = 11 + lines->place_width + 2; /* share, line */

	width = width ? width : COLUMNS;
	lines->text_width = MOST_TEXT;
	if (!lines->people)
		return;
	taken += lines->many_kernels ? lines->kernel_width + 2 : 0;
	taken += opk_hot_is_sampled(lines->hot) ? lines->reason_width + 2 : 0;
	taken += opk_hot_is_counted(lines->hot) ? 10 : 0;
	taken += opk_hot_has_sectors(lines->hot) ? 7 : 0;
	lines->text_width = taken < width ? width - taken : 0;
	if (lines->text_width > MOST_TEXT)
		lines->text_width = MOST_TEXT;
	if (!lines->has_text || lines->text_width >= LEAST_TEXT)
		return;
	lines->has_text = false;
	app_note(
		"the text of lines takes %zu columns, and there are %zu: a wider terminal, COLUMNS "
		"or --format csv shows it",
		taken + LEAST_TEXT, width);
}

static int put_lines(struct lines *lines)
{
	size_t count = opk_hot_count(lines->hot), top = lines->show->top ? lines->show->top : LINES;
	size_t most = top < count ? top : count;

	if (!count)
		return app_error(lines->show->app, OPK_EUSAGE, "no kernel is like --kernel %s",
		                 lines->show->kernel);
	TRY(look_at(lines, most));
	TRY(app_begin_output(lines->show->app));
	lines->people = app_shows_table(lines->show->app);
	choose_text(lines);
	put_notes(lines, most);
	for (size_t i = 0; i < most; i++)
		TRY(put_line(lines, i));
	return app_end_output(lines->show->app);
}

int show_source(struct show *show, const struct option_list *paths, enum opk_kernel_style style)
{
	const struct opk_hot_options options = { .rows = OPK_ROWS_LINES, .kernel = show->kernel };
	opk_auto(opk_hot) struct opk_hot *hot = NULL;
	opk_auto(opk_sources) struct opk_sources *sources = NULL;
	opk_auto(opk_kernel_names) struct opk_kernel_names *names = NULL;
	struct lines lines = { .show = show };

	TRY(opk_sources_new(&sources, show->app->ctx, (const char *const *)paths->items,
	                    paths->count));
	TRY(opk_hot_new(&hot, show->app->ctx, show->file, &options));
	TRY(opk_kernel_names_new(&names, show->app->ctx, style));
	lines.hot = hot;
	lines.sources = sources;
	lines.has_paths = paths->count;
	lines.names = names;
	return put_lines(&lines);
}
