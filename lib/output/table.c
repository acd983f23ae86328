/* SPDX-License-Identifier: BSD-2-Clause */
/* Tables for people: cells wait until the table ends, since widths and units depend on all rows. */
#include <math.h>
#include <string.h>

#include "base/terminal.h"
#include "output/output.h"

/* The text of a cell, safe for terminals, without line breaks, which could forge a row. */
static char *text_of(enum opk_cell_type type, const union opk_cell *cell)
{
	opk_autobuf struct opk_buf text = { 0 };
	char *taken;

	if (type == OPK_CELL_DOUBLE)
		opk_put_readable(&text, cell->number);
	else
		opk_cell_text(&text, type, cell);
	taken = opk_buf_take_text(&text);
	if (taken)
		opk_terminal_defuse(taken);
	return taken;
}

static char *one_line(const char *text)
{
	return text_of(OPK_CELL_STRING, &(union opk_cell){ .string = text });
}

/* ---- records */

/* Writes a value after its name, wrapped; of a long list only the first lines. */
static void put_field(struct opk_out *out, const struct opk_column *column, const char *text,
                      size_t indent)
{
	size_t width = out->width > indent + 8 ? out->width - indent : SIZE_MAX, lines = 0;
	bool is_list = column->type == OPK_CELL_LIST;

	do {
		opk_autobuf struct opk_buf line = { 0 };
		size_t skipped, length = opk_line_length(text, width, &skipped);

		opk_buf_add_text(&line, lines ? "" : column->name);
		opk_table_pad(&line, indent - line.size);
		opk_buf_add(&line, text, length);
		text += length + skipped;
		if (is_list && ++lines == OPK_LIST_LINES && *text && out->width) {
			opk_buf_add_text(&line, " ...");
			text = "";
		}
		lines += !is_list;
		opk_table_line(out, &line, false);
	} while (*text);
}

static void record(struct opk_out *out, const struct opk_column *columns,
                   const union opk_cell *cells, size_t count)
{
	size_t widest = 0;

	for (size_t i = 0; i < count; i++)
		if (strlen(columns[i].name) > widest)
			widest = strlen(columns[i].name);
	for (size_t i = 0; i < count; i++) {
		opk_autofree char *text = text_of(columns[i].type, &cells[i]);

		if (text)
			put_field(out, &columns[i], text, widest + OPK_TABLE_GAP);
		else
			out->buf.failed = true;
	}
}

/* ---- tables */

static void begin_table(struct opk_out *out)
{
	for (size_t i = 0; i < out->column_count; i++)
		out->buf.failed |= !opk_strlist_add(&out->units, "");
}

static void row(struct opk_out *out, const union opk_cell *cells)
{
	for (size_t i = 0; i < out->column_count; i++) {
		struct opk_out_cell *added = opk_list_add(&out->cells);

		bool is_double = out->columns[i].type == OPK_CELL_DOUBLE;
		bool given = i < out->cell_count;

		if (added && given && is_double)
			added->number = cells[i].number;
		else if (added)
			added->text = given ? text_of(out->columns[i].type, &cells[i])
			                    : opk_strdup("");
		if (!added || (!added->text && !(given && is_double)))
			out->buf.failed = true;
	}
}

static void set_text(struct opk_out *out, char **to, const char *text)
{
	free(*to);
	*to = one_line(text);
	out->buf.failed |= !*to;
}

static void unit(struct opk_out *out, size_t column, const char *text)
{
	if (column >= out->units.count)
		return;
	if (!text && column && column < 64)
		out->shared |= UINT64_C(1) << column;
	set_text(out, &out->units.items[column],
	         text     ? text
	         : column ? out->units.items[column - 1]
	                  : "");
}

static void add_heading(struct opk_out *out, struct opk_out_headings *to, const char *title,
                        const char *text, size_t first, size_t count)
{
	struct opk_out_heading *added = opk_append(&to->items, &to->capacity, &to->count,
	                                           sizeof *added);

	if (!added) {
		out->buf.failed = true;
		return;
	}
	*added = (struct opk_out_heading){ one_line(title), one_line(text), first, count };
	out->buf.failed |= !added->title || !added->text;
}

static void span(struct opk_out *out, const char *title, size_t first, size_t count)
{
	add_heading(out, &out->spans, title, "", first, count);
}

static void heading(struct opk_out *out, const char *title, const char *text)
{
	add_heading(out, &out->headings, title, text, out->cells.count, 0);
}

/* ---- numbers become text */

/* A number that is too small for the scale of its column has a unit of its own: 4 B among MB. */
static void write_number(struct opk_out *out, struct opk_out_cell *cell,
                         const struct opk_scale *scale, const char *unit)
{
	static const double least = 1e-4; /* smaller ones would be printed as 4e-06 */
	double number = fabs(cell->number / scale->divisor);
	opk_autobuf struct opk_buf text = { 0 };
	struct opk_scale own = *scale;

	/* A text means that the row has no such cell. */
	if (cell->text)
		return;
	if (number > 0 && number < least)
		opk_scale_find(&own, unit, fabs(cell->number));
	opk_put_readable(&text, cell->number / own.divisor);
	if (own.divisor < scale->divisor)
		opk_buf_add_printf(&text, " %s", own.unit);
	cell->text = opk_buf_take_text(&text);
	out->buf.failed |= !cell->text;
}

static double most_of_column(const struct opk_out *out, size_t column)
{
	double most = 0;

	for (size_t i = column; i < out->cells.count; i += out->column_count)
		most = opk_most_of(most, out->cells.items[i].number);
	return most;
}

static bool is_shared(const struct opk_out *out, size_t column)
{
	return column < out->column_count && column < 64 && out->shared >> column & 1;
}

/*
 * Writes the doubles of a column, and of the next columns that share its unit, in one scale. The
 * first column with a number above 0 decides the scale. Returns the column after them.
 */
static size_t write_columns(struct opk_out *out, size_t first)
{
	struct opk_scale scale;
	size_t end = first + 1;
	double most = most_of_column(out, first);

	while (is_shared(out, end)) {
		most = most > 0 ? most : most_of_column(out, end);
		end++;
	}
	opk_scale_find(&scale, out->units.items[first], most);
	for (size_t column = first; column < end; column++) {
		for (size_t i = column; i < out->cells.count; i += out->column_count)
			write_number(out, &out->cells.items[i], &scale, out->units.items[column]);
		set_text(out, &out->units.items[column], scale.unit);
	}
	return end;
}

/* Writes the doubles of a row in one scale. */
static void write_row(struct opk_out *out, struct opk_out_cell *cells)
{
	struct opk_out_cell *unit_cell = &cells[out->unit_column];
	struct opk_scale scale;
	double most = 0;

	for (size_t i = 0; i < out->column_count; i++)
		if (out->columns[i].type == OPK_CELL_DOUBLE)
			most = opk_most_of(most, cells[i].number);
	opk_scale_find(&scale, unit_cell->text, most);
	for (size_t i = 0; i < out->column_count; i++)
		if (out->columns[i].type == OPK_CELL_DOUBLE)
			write_number(out, &cells[i], &scale, unit_cell->text);
	if (*scale.unit || !strcmp(unit_cell->text, "unitless"))
		set_text(out, &unit_cell->text, scale.unit);
}

static void write_numbers(struct opk_out *out)
{
	bool by_row = out->unit_column != NO_COLUMN;

	for (size_t i = 0; by_row && i < out->cells.count; i += out->column_count)
		write_row(out, out->cells.items + i);
	for (size_t i = 0; !by_row && i < out->column_count;)
		i = out->columns[i].type == OPK_CELL_DOUBLE ? write_columns(out, i) : i + 1;
}

static void end_table(struct opk_out *out)
{
	struct opk_table_layout layout = { 0 };

	if (out->buf.failed)
		return;
	if (out->has_record)
		opk_buf_add(&out->buf, "\n", 1);
	if (!out->row_count) {
		if (out->has_record || out->only)
			opk_buf_add_printf(&out->buf, "%s: no rows\n", out->table);
		return;
	}
	write_numbers(out);
	if (!out->buf.failed && opk_table_layout_init(&layout, out))
		opk_table_print(out, &layout);
	else
		out->buf.failed = true;
	opk_table_layout_clear(&layout);
}

const struct opk_out_ops opk_out_table_ops = {
	.record = record,
	.begin_table = begin_table,
	.row = row,
	.end_table = end_table,
	.span = span,
	.unit = unit,
	.heading = heading,
};
