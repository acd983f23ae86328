/* SPDX-License-Identifier: BSD-2-Clause */
/* RFC 4180 with a header line, commas, and quotes where needed, but LF instead of CRLF. */
#include <string.h>

#include "output/output.h"

static void put_field(struct opk_buf *buf, const char *text)
{
	if (!strpbrk(text, ",\"\r\n")) {
		opk_buf_add_text(buf, text);
		return;
	}
	opk_buf_add(buf, "\"", 1);
	for (; *text; text++) {
		if (*text == '"')
			opk_buf_add(buf, "\"", 1);
		opk_buf_add(buf, text, 1);
	}
	opk_buf_add(buf, "\"", 1);
}

static void put_text(struct opk_buf *buf, struct opk_buf *text)
{
	opk_buf_add(text, "", 1);
	if (text->failed)
		buf->failed = true;
	else
		put_field(buf, (const char *)text->data);
}

/* Whether a spreadsheet would take the text for a formula. */
static bool is_formula(const struct opk_buf *text)
{
	return text->size && memchr("=+-@\t\r", text->data[0], 6);
}

static void put_string(struct opk_out *out, enum opk_cell_type type, const union opk_cell *cell)
{
	opk_autobuf struct opk_buf plain = { 0 }, safe = { 0 };

	opk_cell_text(&plain, type, cell);
	if (!is_formula(&plain)) {
		put_text(&out->buf, &plain);
		return;
	}
	opk_buf_add_text(&safe, "'");
	opk_buf_add(&safe, plain.data, plain.size);
	safe.failed |= plain.failed;
	put_text(&out->buf, &safe);
}

static void put_cell(struct opk_out *out, enum opk_cell_type type, const union opk_cell *cell)
{
	opk_autobuf struct opk_buf text = { 0 };
	struct opk_buf *buf = &out->buf;

	if (out->csv_safe && (type == OPK_CELL_STRING || type == OPK_CELL_LIST)) {
		put_string(out, type, cell);
		return;
	}
	/* Numbers need no quotes, and go straight to the output. */
	if (type == OPK_CELL_UINT || type == OPK_CELL_DOUBLE || type == OPK_CELL_BOOL) {
		opk_cell_text(buf, type, cell);
		return;
	}
	opk_cell_text(&text, type, cell);
	put_text(buf, &text);
}

static void put_pair(struct opk_out *out, const char *prefix, const struct opk_column *column,
                     const union opk_cell *cell)
{
	opk_autobuf struct opk_buf field = { 0 };

	opk_buf_add_printf(&field, "%s%s", prefix, column->name);
	put_text(&out->buf, &field);
	opk_buf_add(&out->buf, ",", 1);
	put_cell(out, column->type, cell);
	opk_buf_add(&out->buf, "\n", 1);
}

static void record(struct opk_out *out, const struct opk_column *columns,
                   const union opk_cell *cells, size_t count)
{
	opk_buf_add_text(&out->buf, "field,value\n");
	for (size_t i = 0; i < count; i++)
		put_pair(out, "", &columns[i], &cells[i]);
}

/* Readers skip empty lines, so a row of one empty cell is written as "". */
static void end_line(struct opk_out *out, size_t begin)
{
	if (out->buf.size == begin && out->column_count)
		opk_buf_add_text(&out->buf, "\"\"");
	opk_buf_add(&out->buf, "\n", 1);
}

static void begin_table(struct opk_out *out)
{
	size_t begin = out->buf.size;

	if (out->has_record)
		return;
	for (size_t i = 0; i < out->column_count; i++) {
		if (i)
			opk_buf_add(&out->buf, ",", 1);
		put_field(&out->buf, out->columns[i].name);
	}
	end_line(out, begin);
}

/* A table of a record becomes further fields of the record: sections[0].type,META. */
static void row_of_record(struct opk_out *out, const union opk_cell *cells)
{
	opk_autofree char *prefix = opk_printf("%s[%zu].", out->table, out->row_count);

	if (!prefix) {
		out->buf.failed = true;
		return;
	}
	for (size_t i = 0; i < out->cell_count; i++)
		put_pair(out, prefix, &out->columns[i], &cells[i]);
}

static void row(struct opk_out *out, const union opk_cell *cells)
{
	size_t begin = out->buf.size;

	if (out->has_record) {
		row_of_record(out, cells);
		return;
	}
	for (size_t i = 0; i < out->column_count; i++) {
		if (i)
			opk_buf_add(&out->buf, ",", 1);
		if (i < out->cell_count)
			put_cell(out, out->columns[i].type, &cells[i]);
	}
	end_line(out, begin);
}

const struct opk_out_ops opk_out_csv_ops = {
	.record = record,
	.begin_table = begin_table,
	.row = row,
};
