/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes a table's lines: titles, names of columns, units, rows. */
#include <string.h>

#include "output/output.h"

/* The width of prose if the terminal's is not known. */
enum { PROSE = 100 };

void opk_table_pad(struct opk_buf *line, size_t count)
{
	while (count-- && !line->failed)
		opk_buf_add(line, " ", 1);
}

void opk_table_line(struct opk_out *out, struct opk_buf *line, bool bold)
{
	size_t length = line->size;

	while (length && line->data[length - 1] == ' ')
		length--;
	opk_buf_add_text(&out->buf, bold && length ? "\033[1m" : "");
	opk_buf_add(&out->buf, line->data, length);
	opk_buf_add_text(&out->buf, bold && length ? "\033[0m\n" : "\n");
	out->buf.failed |= line->failed;
}

/* Columns side by side, and the rest of each cell's text. */
struct block {
	const struct opk_table_layout *layout;
	size_t *columns;
	const char **texts;
	size_t count;
};

static size_t width_of(const struct block *block, size_t i)
{
	return block->layout->widths[block->columns[i]];
}

/* ---- cells */

static void put_cell(struct opk_buf *line, const struct block *block, size_t i, size_t length)
{
	enum opk_cell_type type = block->layout->out->columns[block->columns[i]].type;
	size_t taken = opk_text_width(block->texts[i], length);
	size_t space = width_of(block, i) > taken ? width_of(block, i) - taken : 0;

	if (opk_cell_is_number(type))
		opk_table_pad(line, space);
	opk_buf_add(line, block->texts[i], length);
	if (!opk_cell_is_number(type))
		opk_table_pad(line, space);
	opk_table_pad(line, OPK_TABLE_GAP);
}

/* Writes the next line of all cells. `skip_lines`: lines to leave empty first, per column. */
static bool put_cells(struct opk_out *out, struct block *block, bool bold, const size_t *skip_lines)
{
	opk_autobuf struct opk_buf line = { 0 };
	bool more = false;

	for (size_t i = 0; i < block->count; i++) {
		size_t skipped = 0, length = 0;

		if (!skip_lines || !skip_lines[i])
			length = opk_line_length(block->texts[i], width_of(block, i), &skipped);
		put_cell(&line, block, i, length);
		block->texts[i] += length + skipped;
		more |= *block->texts[i] != '\0';
	}
	opk_table_line(out, &line, bold);
	return more;
}

void opk_table_prose(struct opk_out *out, const char *text, size_t indent, bool bold)
{
	size_t width = out->width > 4 * OPK_TABLE_GAP ? out->width : PROSE;

	while (*text) {
		opk_autobuf struct opk_buf line = { 0 };
		size_t skipped, length = opk_line_length(text, width - indent, &skipped);

		opk_table_pad(&line, indent);
		opk_buf_add(&line, text, length);
		opk_table_line(out, &line, bold);
		text += length + skipped;
	}
}

/* Whether a word of the text is longer than the line. */
static bool has_long_word(const char *text, size_t width)
{
	while (*text) {
		size_t length = strcspn(text, " ");

		if (opk_text_width(text, length) > width)
			return true;
		text += length + (text[length] == ' ');
	}
	return false;
}

/* Names that would be broken come before the rest of the row. */
static void put_long_names(struct opk_out *out, struct block *block)
{
	for (size_t i = 0; i < block->count; i++) {
		if (!opk_table_is_whole(out, block->columns[i])
		    || !has_long_word(block->texts[i], width_of(block, i)))
			continue;
		opk_table_prose(out, block->texts[i], 0, false);
		block->texts[i] = "";
	}
}

static void put_row(struct opk_out *out, struct block *block, const struct opk_out_cell *cells)
{
	for (size_t i = 0; i < block->count; i++)
		block->texts[i] = cells[block->columns[i]].text;
	put_long_names(out, block);
	while (put_cells(out, block, false, NULL))
		;
}

/* Names end on the line above the rows: those with fewer lines begin further down. */
static bool put_names(struct opk_out *out, struct block *block)
{
	opk_autofree size_t *skip = opk_alloc_array(block->count + 1, sizeof *skip);
	size_t most = 1;

	if (!skip)
		return false;
	for (size_t i = 0; i < block->count; i++) {
		block->texts[i] = out->columns[block->columns[i]].name;
		skip[i] = opk_line_count(block->texts[i], width_of(block, i));
		most = skip[i] > most ? skip[i] : most;
	}
	for (size_t i = 0; i < block->count; i++)
		skip[i] = most - skip[i];
	for (; most; most--) {
		put_cells(out, block, out->bold, skip);
		for (size_t i = 0; i < block->count; i++)
			skip[i] -= skip[i] > 0;
	}
	return true;
}

static void put_units(struct opk_out *out, struct block *block)
{
	bool any = false;

	for (size_t i = 0; i < block->count; i++) {
		block->texts[i] = out->units.items[block->columns[i]];
		any |= *block->texts[i] != '\0';
	}
	if (any)
		put_cells(out, block, out->bold, NULL);
}

/* ---- titles over columns */

static bool is_under(const struct opk_out_heading *span, size_t column)
{
	return column >= span->first && column < span->first + span->count;
}

/* Finds where the columns of a span begin and end in the line; false if the block has none. */
static bool find_extent(size_t *begin, size_t *end, const struct block *block,
                        const struct opk_out_heading *span)
{
	size_t at = 0;
	bool any = false;

	for (size_t i = 0; i < block->count; i++) {
		if (is_under(span, block->columns[i])) {
			*begin = any ? *begin : at;
			*end = at + width_of(block, i);
			any = true;
		}
		at += width_of(block, i) + OPK_TABLE_GAP;
	}
	return any;
}

/* Writes a line of titles, each extended over its columns or cut to their width. */
static void put_spans(struct opk_out *out, const struct block *block)
{
	opk_autobuf struct opk_buf line = { 0 };

	for (size_t i = 0; i < out->spans.count; i++) {
		const char *title = out->spans.items[i].title;
		size_t begin, end, length = strlen(title);

		if (!find_extent(&begin, &end, block, &out->spans.items[i]))
			continue;
		opk_table_pad(&line, begin > line.size ? begin - line.size : 0);
		if (length > end - begin && out->width && end - begin > 2)
			opk_buf_add_printf(&line, "%.*s..", (int)(end - begin - 2), title);
		else
			opk_buf_add_text(&line, title);
		if (line.size < end)
			opk_buf_add(&line, " ", 1);
		while (!line.failed && line.size < end)
			opk_buf_add(&line, "-", 1);
	}
	if (line.size || line.failed)
		opk_table_line(out, &line, out->bold);
}

/* Widens the last column of a span for a long title, unless the table is narrow. */
static void make_room(const struct opk_out *out, const struct block *block)
{
	for (size_t i = 0; i < out->spans.count && !block->layout->narrow; i++) {
		const struct opk_out_heading *span = &out->spans.items[i];
		size_t begin, end, wide = strlen(span->title);

		if (find_extent(&begin, &end, block, span) && wide > end - begin)
			block->layout->widths[span->first + span->count - 1] += wide
			                                                        - (end - begin);
	}
}

/* ---- titles between rows */

static void put_headings(struct opk_out *out, size_t *next, size_t at, bool prose)
{
	for (; *next < out->headings.count && out->headings.items[*next].first == at; ++*next) {
		const struct opk_out_heading *heading = &out->headings.items[*next];

		opk_buf_add(&out->buf, "\n", 1);
		opk_table_prose(out, heading->title, 0, out->bold);
		if (prose && *heading->title)
			opk_table_prose(out, heading->text, OPK_TABLE_GAP, false);
	}
}

/* ---- all of it */

static bool put_block(struct opk_out *out, struct block *block, bool first)
{
	size_t next = 0;

	make_room(out, block);
	put_spans(out, block);
	if (!put_names(out, block))
		return false;
	put_units(out, block);
	for (size_t i = 0; i < out->cells.count; i += out->column_count) {
		put_headings(out, &next, i, first);
		put_row(out, block, out->cells.items + i);
	}
	return true;
}

void opk_table_print(struct opk_out *out, const struct opk_table_layout *layout)
{
	opk_autofree size_t *columns = opk_alloc_array(out->column_count + 1, sizeof *columns);
	opk_autofree const char **texts = opk_alloc_array(out->column_count + 1, sizeof *texts);
	struct block block = { layout, columns, texts, 0 };
	bool good = columns && texts;

	if (layout->constants.size) {
		opk_autofree char *text = opk_strndup((const char *)layout->constants.data,
		                                      layout->constants.size);

		opk_table_prose(out, text ? text : "", 0, false);
		good = good && text;
	}
	for (size_t at = 0, end; good && at < layout->shown_count; at = end) {
		end = opk_table_block_end(layout, at);
		if (at)
			opk_buf_add(&out->buf, "\n", 1);
		block.count = opk_table_block(columns, layout, at, end);
		good = put_block(out, &block, !at);
	}
	out->buf.failed |= !good;
}
