/* SPDX-License-Identifier: BSD-2-Clause */
/* Lays out the columns of a table: side by side, narrowed, or in blocks. */
#include <string.h>

#include "base/utf8.h"
#include "output/output.h"

enum {
	NAME_WIDTH = 14, /* names of columns wrap at about this width */
	NAME_LINES = 5,
	TEXT_WIDTH = 16,  /* the least width of texts that wrap */
	FIRST_WIDTH = 24, /* the same for the first column, which identifies the row */
	ROW_LINES = 3,
};

/* ---- lines of a text */

size_t opk_text_width(const char *text, size_t size)
{
	size_t width = 0;

	for (size_t i = 0; i < size; i++)
		width += ((unsigned char)text[i] & 0xc0) != 0x80;
	return width;
}

/* The bytes of the first `width` characters, or of all. */
static size_t bytes_of(const char *text, size_t width)
{
	size_t i = 0;

	for (; text[i]; i++)
		if (((unsigned char)text[i] & 0xc0) != 0x80 && !width--)
			break;
	return i;
}

/* Breaks at a blank before the edge, else at a sign in a name, else inside a word. */
size_t opk_line_length(const char *text, size_t width, size_t *skipped)
{
	size_t most = bytes_of(text, width ? width : 1), least = most / 3;

	*skipped = 0;
	if (!text[most])
		return most;
	for (size_t i = most; i > least; i--)
		if (text[i] == ' ') {
			*skipped = 1;
			return i;
		}
	for (size_t i = most; i > least; i--)
		if (strchr("_.,:/)>-", text[i - 1]))
			return i;
	return most;
}

size_t opk_line_count(const char *text, size_t width)
{
	size_t lines = 0;

	do {
		size_t skipped, length = opk_line_length(text, width, &skipped);

		text += length + skipped;
		lines++;
	} while (*text);
	return lines;
}

/* ---- columns */

static const char *cell(const struct opk_table_layout *layout, size_t row, size_t column)
{
	return layout->out->cells.items[row * layout->out->column_count + column].text;
}

static size_t wider(size_t width, const char *text)
{
	size_t other = opk_text_width(text, strlen(text));

	return other > width ? other : width;
}

static void measure(struct opk_table_layout *layout)
{
	for (size_t i = 0; i < layout->out->column_count; i++) {
		layout->widths[i] = wider(0, layout->out->units.items[i]);
		for (size_t row = 0; row < layout->rows; row++)
			layout->widths[i] = wider(layout->widths[i], cell(layout, row, i));
	}
}

/* The width of a name, wrapped to the allowed lines if its column is narrower. */
static size_t name_width(const struct opk_table_layout *layout, size_t column)
{
	const char *name = layout->out->columns[column].name;
	size_t whole = strlen(name), width = layout->widths[column];

	if (!layout->narrow || whole <= width)
		return whole > width ? whole : width;
	width = width > NAME_WIDTH ? width : NAME_WIDTH;
	while (width < whole && opk_line_count(name, width) > NAME_LINES)
		width++;
	return width < whole ? width : whole;
}

static size_t total(const struct opk_table_layout *layout)
{
	size_t sum = 0;

	for (size_t i = 0; i < layout->shown_count; i++)
		sum += layout->widths[layout->shown[i]] + (i ? OPK_TABLE_GAP : 0);
	return sum;
}

static void show(struct opk_table_layout *layout)
{
	layout->shown_count = 0;
	for (size_t i = 0; i < layout->out->column_count; i++)
		if (!layout->hidden[i])
			layout->shown[layout->shown_count++] = i;
	measure(layout);
	for (size_t i = 0; i < layout->out->column_count; i++)
		layout->widths[i] = name_width(layout, i);
}

/* ---- columns that say nothing about a row */

static bool same_columns(const struct opk_table_layout *layout, size_t a, size_t b)
{
	for (size_t row = 0; row < layout->rows; row++)
		if (strcmp(cell(layout, row, a), cell(layout, row, b)) != 0)
			return false;
	return true;
}

static bool is_constant(const struct opk_table_layout *layout, size_t column)
{
	for (size_t row = 1; row < layout->rows; row++)
		if (strcmp(cell(layout, row, column), cell(layout, 0, column)) != 0)
			return false;
	return true;
}

static bool repeats_another(const struct opk_table_layout *layout, size_t column)
{
	for (size_t i = 0; i < column; i++)
		if (!layout->hidden[i] && same_columns(layout, i, column))
			return true;
	return false;
}

/* Hides columns that are the same in all rows, except values and the first column. */
static void hide(struct opk_table_layout *layout)
{
	const struct opk_out *out = layout->out;

	for (size_t i = 1; i < out->column_count && layout->rows > 1; i++) {
		const char *first = cell(layout, 0, i);

		if (out->columns[i].type == OPK_CELL_DOUBLE || i == out->unit_column)
			continue;
		if (!is_constant(layout, i)) {
			layout->hidden[i] = repeats_another(layout, i);
			continue;
		}
		layout->hidden[i] = true;
		if (*first)
			opk_buf_add_printf(&layout->constants, "%s%s %s",
			                   layout->constants.size ? ", " : "all rows: ",
			                   out->columns[i].name, first);
	}
}

/* ---- narrower, without some, or in blocks */

bool opk_table_is_whole(const struct opk_out *out, size_t column)
{
	return column < 64 && out->whole >> column & 1;
}

/* The widest text that can shrink; the first column only if no other can, or if it has names. */
static size_t *find_widest(struct opk_table_layout *layout)
{
	size_t *widest = NULL;

	for (size_t at = layout->shown_count; at-- > 0;) {
		size_t column = layout->shown[at], *width = &layout->widths[column];
		size_t least = at ? TEXT_WIDTH : FIRST_WIDTH;

		if (opk_cell_is_number(layout->out->columns[column].type) || *width <= least
		    || (!at && widest && !opk_table_is_whole(layout->out, column)))
			continue;
		if (!widest || *width > *widest)
			widest = width;
	}
	return widest;
}

/* Makes texts narrower. */
static void shrink(struct opk_table_layout *layout)
{
	size_t all = total(layout), *widest = NULL;

	while (all > layout->out->width && (widest = find_widest(layout))) {
		--*widest;
		all--;
	}
}

static void leave_out(struct opk_table_layout *layout)
{
	const struct opk_out *out = layout->out;
	const char *before = ": ";

	opk_buf_add_printf(&layout->constants, "%snot shown in %zu characters a line",
	                   layout->constants.size ? "; " : "", out->width);
	for (size_t i = 1; i < out->column_count && i < 64; i++) {
		if (layout->hidden[i] || !(out->optional >> i & 1))
			continue;
		layout->hidden[i] = true;
		opk_buf_add_printf(&layout->constants, "%s%s", before, out->columns[i].name);
		before = ", ";
	}
}

/* Moves a column to an earlier place. */
static void move_column(struct opk_table_layout *layout, size_t from, size_t to)
{
	size_t column = layout->shown[from];

	memmove(layout->shown + to + 1, layout->shown + to, (from - to) * sizeof *layout->shown);
	layout->shown[to] = column;
}

static bool is_text(const struct opk_table_layout *layout, size_t at)
{
	return !opk_cell_is_number(layout->out->columns[layout->shown[at]].type);
}

/*
 * In a long table the first text, the metric before the unit, and the unit identify a row: they
 * come first, in three fifths of the width.
 */
static bool find_long_key(struct opk_table_layout *layout)
{
	size_t most = layout->out->width * 3 / 5, first = 0, unit = 0, *metric;

	while (unit < layout->shown_count && layout->shown[unit] != layout->out->unit_column)
		unit++;
	while (first < layout->shown_count && !is_text(layout, first))
		first++;
	if (unit >= layout->shown_count || unit < 2 || first + 1 >= unit
	    || !is_text(layout, unit - 1))
		return false;
	move_column(layout, first, 0);
	move_column(layout, unit - 1, 1);
	move_column(layout, unit, 2);
	layout->key_count = 3;
	if (layout->widths[layout->shown[0]] > TEXT_WIDTH)
		layout->widths[layout->shown[0]] = TEXT_WIDTH;
	metric = &layout->widths[layout->shown[1]];
	first = layout->widths[layout->shown[0]] + layout->widths[layout->shown[2]]
	        + 3 * OPK_TABLE_GAP;
	if (first + *metric > most)
		*metric = most > first + TEXT_WIDTH ? most - first : TEXT_WIDTH;
	return true;
}

/* The columns up to the first text identify a row. */
static void find_key(struct opk_table_layout *layout)
{
	size_t width = 0, half = layout->out->width / 2;

	layout->key_count = 0;
	if (layout->out->unit_column != NO_COLUMN && find_long_key(layout))
		return;
	for (size_t i = 0; i + 1 < layout->shown_count; i++) {
		size_t *own = &layout->widths[layout->shown[i]];
		bool number = opk_cell_is_number(layout->out->columns[layout->shown[i]].type);

		if (!number && *own > half - width && half > width + NAME_WIDTH)
			*own = half - width;
		width += *own + OPK_TABLE_GAP;
		if (width > half + OPK_TABLE_GAP)
			return;
		layout->key_count = i + 1;
		if (!number)
			return;
	}
}

static size_t key_width(const struct opk_table_layout *layout)
{
	size_t width = 0;

	for (size_t i = 0; i < layout->key_count; i++)
		width += layout->widths[layout->shown[i]] + OPK_TABLE_GAP;
	return width;
}

/* Limits other texts to the width that the key leaves. */
static void fit_to_block(struct opk_table_layout *layout)
{
	size_t left = layout->out->width - key_width(layout);

	for (size_t i = layout->key_count; i < layout->shown_count; i++) {
		size_t column = layout->shown[i];

		if (!opk_cell_is_number(layout->out->columns[column].type)
		    && layout->widths[column] > left)
			layout->widths[column] = left;
	}
}

size_t opk_table_block_end(const struct opk_table_layout *layout, size_t first)
{
	size_t width = first ? key_width(layout) : 0, end = first;

	if (!layout->key_count)
		return layout->shown_count;
	do {
		width += layout->widths[layout->shown[end++]] + OPK_TABLE_GAP;
	} while (end < layout->shown_count
	         && width + layout->widths[layout->shown[end]] <= layout->out->width);
	return end;
}

size_t opk_table_block(size_t *columns, const struct opk_table_layout *layout, size_t first,
                       size_t end)
{
	size_t count = 0;

	for (size_t i = 0; first && i < layout->key_count; i++)
		columns[count++] = layout->shown[i];
	for (size_t i = first; i < end; i++)
		columns[count++] = layout->shown[i];
	return count;
}

/* ---- the choice */

static size_t lines_of_row(const struct opk_table_layout *layout, size_t row)
{
	size_t most = 1;

	for (size_t i = 0; i < layout->shown_count; i++) {
		size_t column = layout->shown[i];
		size_t lines = opk_line_count(cell(layout, row, column), layout->widths[column]);

		/* Further lines will be left out. */
		if (layout->out->columns[column].type == OPK_CELL_LIST && lines > OPK_LIST_LINES)
			lines = OPK_LIST_LINES;
		most = lines > most ? lines : most;
	}
	return most;
}

/*
 * Whether the table fits a screen, or each row takes few lines without scrolling sideways. With
 * blocks each row appears several times.
 */
static bool is_low(const struct opk_table_layout *layout)
{
	size_t lines = layout->out->headings.count, blocks = 0;
	size_t height = layout->out->height;

	for (size_t at = 0; at < layout->shown_count; at = opk_table_block_end(layout, at))
		blocks++;
	for (size_t row = 0; row < layout->rows; row++)
		lines += lines_of_row(layout, row);
	return !height || (lines + NAME_LINES + 2) * blocks <= height
	       || (blocks == 1 && height > 1 && lines <= ROW_LINES * layout->rows);
}

static void abridge(char *text, size_t width)
{
	size_t at = 0, skipped = 0;
	const char *dots;

	for (size_t lines = 0; lines < OPK_LIST_LINES && text[at]; lines++)
		at += opk_line_length(text + at, width, &skipped) + skipped;
	if (!text[at] || at < 5)
		return;
	for (at -= 4; at && text[at] != ' ';)
		at--;
	dots = at ? " ..." : "...";
	memcpy(text + at, dots, strlen(dots) + 1);
}

/* Shortens long lists of metrics to their first names. */
static void abridge_lists(const struct opk_table_layout *layout)
{
	const struct opk_out *out = layout->out;

	for (size_t i = 0; i < out->cells.count; i++)
		if (out->columns[i % out->column_count].type == OPK_CELL_LIST)
			abridge(out->cells.items[i].text, layout->widths[i % out->column_count]);
}

/* Limits the first text to half the width, so that values are in view before scrolling. */
static void keep_in_view(struct opk_table_layout *layout)
{
	size_t most = layout->out->width / 2 + 1;

	for (size_t i = 0; i + 1 < layout->shown_count; i++) {
		size_t column = layout->shown[i];

		if (opk_cell_is_number(layout->out->columns[column].type))
			continue;
		if (layout->widths[column] > most)
			layout->widths[column] = most;
		return;
	}
}

static bool fits(struct opk_table_layout *layout)
{
	shrink(layout);
	return total(layout) <= layout->out->width;
}

/* Wraps texts; else leaves out columns; else makes blocks of columns. */
static void fold(struct opk_table_layout *layout)
{
	if (fits(layout))
		return;
	if (layout->out->optional) {
		leave_out(layout);
		show(layout);
		if (fits(layout))
			return;
	}
	show(layout);
	find_key(layout);
	fit_to_block(layout);
}

static void choose(struct opk_table_layout *layout)
{
	size_t width = layout->out->width;

	show(layout);
	if (!width || total(layout) <= width)
		return;
	layout->narrow = true;
	hide(layout);
	show(layout);
	if (total(layout) <= width)
		return;
	fold(layout);
	if (is_low(layout)) {
		abridge_lists(layout);
		return;
	}
	layout->key_count = 0;
	show(layout);
	keep_in_view(layout);
}

bool opk_table_layout_init(struct opk_table_layout *layout, const struct opk_out *out)
{
	size_t columns = out->column_count + 1;

	layout->out = out;
	layout->rows = out->row_count;
	layout->widths = opk_alloc_array(columns, sizeof *layout->widths);
	layout->hidden = opk_alloc_array(columns, sizeof *layout->hidden);
	layout->shown = opk_alloc_array(columns, sizeof *layout->shown);
	if (!layout->widths || !layout->hidden || !layout->shown)
		return false;
	choose(layout);
	return !layout->constants.failed;
}

void opk_table_layout_clear(struct opk_table_layout *layout)
{
	free(layout->widths);
	free(layout->hidden);
	free(layout->shown);
	opk_buf_clear(&layout->constants);
}
