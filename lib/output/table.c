/* SPDX-License-Identifier: BSD-2-Clause */
/* Tables for people: columns as wide as their widest cell, lines cut at the terminal's edge. */
#include <string.h>

#include "output/output.h"

/* Columns between columns; width of prose, where the terminal does not say. */
enum { GAP = 2, PROSE = 100 };

static const char ellipsis[] = "...";

/* A terminal obeys control characters, and a line break would forge a row. */
static void defuse(struct opk_buf *text)
{
	for (size_t i = 0; i < text->size; i++)
		if (text->data[i] < ' ' || text->data[i] == 0x7f)
			text->data[i] = '?';
}

static char *text_of(enum opk_cell_type type, const union opk_cell *cell)
{
	opk_autobuf struct opk_buf text = { 0 };

	opk_cell_text(&text, type, cell);
	defuse(&text);
	opk_buf_add(&text, "", 1);
	return text.failed ? NULL : (char *)opk_take(text.data);
}

static bool is_number(enum opk_cell_type type)
{
	return type == OPK_CELL_UINT || type == OPK_CELL_DOUBLE || type == OPK_CELL_OPTIONAL
	       || type == OPK_CELL_EITHER;
}

/* One line, built apart so that it can be cut. UTF-8 is cut between characters. */
static void put_line(struct opk_out *out, struct opk_buf *line, bool bold)
{
	size_t length = line->size;
	const char *rest = "";

	while (length && line->data[length - 1] == ' ')
		length--;
	if (out->width && length > out->width) {
		rest = out->width > strlen(ellipsis) ? ellipsis : "";
		length = out->width - strlen(rest);
		while (length && (line->data[length] & 0xc0) == 0x80)
			length--;
	}
	opk_buf_add_text(&out->buf, bold ? "\033[1m" : "");
	opk_buf_add(&out->buf, line->data, length);
	opk_buf_add_text(&out->buf, rest);
	opk_buf_add_text(&out->buf, bold ? "\033[0m\n" : "\n");
	out->buf.failed |= line->failed;
}

static void pad(struct opk_buf *line, size_t count)
{
	while (count--)
		opk_buf_add(line, " ", 1);
}

static void record(struct opk_out *out, const struct opk_column *columns,
                   const union opk_cell *cells, size_t count)
{
	size_t widest = 0;

	for (size_t i = 0; i < count; i++)
		if (strlen(columns[i].name) > widest)
			widest = strlen(columns[i].name);
	for (size_t i = 0; i < count; i++) {
		opk_autobuf struct opk_buf line = { 0 };

		opk_buf_add_text(&line, columns[i].name);
		pad(&line, widest + GAP - line.size);
		opk_cell_text(&line, columns[i].type, &cells[i]);
		defuse(&line);
		put_line(out, &line, false);
	}
}

/* Widths are known once all rows are: cells wait in out->texts until the table ends. */
static void begin_table(struct opk_out *out)
{
	for (size_t i = 0; i < out->column_count; i++)
		if (!opk_strlist_add(&out->texts, out->columns[i].name))
			out->buf.failed = true;
}

static void row(struct opk_out *out, const union opk_cell *cells)
{
	for (size_t i = 0; i < out->column_count; i++)
		if (!opk_strlist_take(&out->texts, text_of(out->columns[i].type, &cells[i])))
			out->buf.failed = true;
}

static void put_row(struct opk_out *out, char **texts, const size_t *widths, bool bold)
{
	opk_autobuf struct opk_buf line = { 0 };

	for (size_t i = 0; i < out->column_count; i++) {
		size_t space = widths[i] - strlen(texts[i]);

		if (is_number(out->columns[i].type))
			pad(&line, space);
		opk_buf_add_text(&line, texts[i]);
		if (!is_number(out->columns[i].type))
			pad(&line, space);
		pad(&line, GAP);
	}
	put_line(out, &line, bold);
}

/* ---- headings */

static char *one_line(const char *text)
{
	return text_of(OPK_CELL_STRING, &(union opk_cell){ .string = text });
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
	add_heading(out, &out->headings, title, text, out->texts.count, 0);
}

/* How wide so many columns are. */
static size_t extent(const size_t *widths, size_t first, size_t count)
{
	size_t sum = count ? (count - 1) * GAP : 0;

	for (size_t i = first; i < first + count; i++)
		sum += widths[i];
	return sum;
}

/* The last of a span's columns makes room for a long title. */
static void make_room(struct opk_out *out, size_t *widths)
{
	for (size_t i = 0; i < out->spans.count; i++) {
		const struct opk_out_heading *span = &out->spans.items[i];
		size_t wide = extent(widths, span->first, span->count);

		if (strlen(span->title) > wide)
			widths[span->first + span->count - 1] += strlen(span->title) - wide;
	}
}

/* A line of titles, each drawn out over its columns. */
static void put_spans(struct opk_out *out, const size_t *widths)
{
	opk_autobuf struct opk_buf line = { 0 };

	for (size_t i = 0; i < out->spans.count; i++) {
		const struct opk_out_heading *span = &out->spans.items[i];
		size_t begin = span->first ? extent(widths, 0, span->first) + GAP : 0;
		size_t end = begin + extent(widths, span->first, span->count);

		pad(&line, begin > line.size ? begin - line.size : 0);
		opk_buf_add_text(&line, span->title);
		if (line.size < end)
			opk_buf_add(&line, " ", 1);
		while (!line.failed && line.size < end)
			opk_buf_add(&line, "-", 1);
	}
	if (out->spans.count)
		put_line(out, &line, out->bold);
}

/* As many words to a line as there is room for. */
static void put_prose(struct opk_out *out, const char *text)
{
	size_t most = out->width > 2 * GAP ? out->width : PROSE;

	while (*text) {
		opk_autobuf struct opk_buf line = { 0 };
		size_t length = strcspn(text, " ");

		pad(&line, GAP);
		do {
			opk_buf_add(&line, text, length);
			text += length + strspn(text + length, " ");
			opk_buf_add(&line, " ", 1);
			length = strcspn(text, " ");
		} while (*text && line.size + length <= most && !line.failed);
		put_line(out, &line, false);
	}
}

static void put_heading(struct opk_out *out, const struct opk_out_heading *heading)
{
	opk_autobuf struct opk_buf line = { 0 };

	opk_buf_add(&out->buf, "\n", 1);
	if (!*heading->title)
		return;
	opk_buf_add_text(&line, heading->title);
	put_line(out, &line, out->bold);
	put_prose(out, heading->text);
}

/* ---- all of it */

static void put_rows(struct opk_out *out, const size_t *widths)
{
	size_t next = 0;

	for (size_t i = 0; i < out->texts.count; i += out->column_count) {
		for (; next < out->headings.count && out->headings.items[next].first == i; next++)
			put_heading(out, &out->headings.items[next]);
		put_row(out, out->texts.items + i, widths, out->bold && !i);
	}
}

static void end_table(struct opk_out *out)
{
	size_t columns = out->column_count;
	opk_autofree size_t *widths = opk_alloc_array(columns, sizeof *widths);

	if (!widths || out->buf.failed) {
		out->buf.failed = true;
		return;
	}
	for (size_t i = 0; i < out->texts.count; i++)
		if (strlen(out->texts.items[i]) > widths[i % columns])
			widths[i % columns] = strlen(out->texts.items[i]);
	make_room(out, widths);
	if (out->has_record)
		opk_buf_add(&out->buf, "\n", 1);
	put_spans(out, widths);
	put_rows(out, widths);
}

const struct opk_out_ops opk_out_table_ops = {
	.record = record,
	.begin_table = begin_table,
	.row = row,
	.end_table = end_table,
	.span = span,
	.heading = heading,
};
