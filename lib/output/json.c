/* SPDX-License-Identifier: BSD-2-Clause */
/* JSON: an array of objects, or a record as one object; NDJSON: one object per line. */
#include "output/output.h"

static void put_cell(struct opk_json_writer *json, const struct opk_column *column,
                     const union opk_cell *cell)
{
	opk_json_key(json, column->name);
	switch (column->type) {
	case OPK_CELL_STRING:
		opk_json_put_string(json, cell->string);
		break;
	case OPK_CELL_UINT:
		opk_json_put_u64(json, cell->uint);
		break;
	case OPK_CELL_DOUBLE:
		opk_json_put_double(json, cell->number);
		break;
	case OPK_CELL_BOOL:
		opk_json_put_bool(json, cell->boolean);
		break;
	case OPK_CELL_LIST:
		opk_json_put_strings(json, cell->list.items, cell->list.count);
		break;
	case OPK_CELL_OPTIONAL:
	case OPK_CELL_OPTIONAL_BOOL:
		if (!cell->optional.known)
			opk_json_put_string(json, NULL);
		else if (column->type == OPK_CELL_OPTIONAL)
			opk_json_put_u64(json, cell->optional.uint);
		else
			opk_json_put_bool(json, cell->optional.uint != 0);
		break;
	case OPK_CELL_EITHER:
		if (cell->either.word)
			opk_json_put_string(json, *cell->either.word ? cell->either.word : NULL);
		else
			opk_json_put_u64(json, cell->either.uint);
		break;
	}
}

static void put_cells(struct opk_out *out, const struct opk_column *columns,
                      const union opk_cell *cells, size_t count)
{
	for (size_t i = 0; i < count; i++)
		put_cell(&out->json, &columns[i], &cells[i]);
}

static void record(struct opk_out *out, const struct opk_column *columns,
                   const union opk_cell *cells, size_t count)
{
	opk_json_begin_object(&out->json);
	put_cells(out, columns, cells, count);
}

/* Whether this is NDJSON; records are not rows, and are written as in JSON. */
static bool has_lines(const struct opk_out *out)
{
	return out->lines && !out->has_record;
}

static void begin_table(struct opk_out *out)
{
	if (has_lines(out))
		return;
	if (out->has_record)
		opk_json_key(&out->json, out->table);
	opk_json_begin_array(&out->json);
}

static void row(struct opk_out *out, const union opk_cell *cells)
{
	if (has_lines(out))
		out->json.comma = false;
	opk_json_begin_object(&out->json);
	put_cells(out, out->columns, cells, out->column_count);
	opk_json_end_object(&out->json);
	/* Each row of a plain table has its own line, for diffs and readers. */
	if (!out->has_record)
		opk_buf_add(&out->buf, "\n", 1);
}

/* Ends rows until `open` are open. */
static void close_rows(struct opk_out *out, size_t open)
{
	for (; out->open > open; out->open--) {
		if (out->has_children)
			opk_json_end_array(&out->json);
		opk_json_end_object(&out->json);
		out->has_children = true;
	}
	if (!open && out->has_children && !out->has_record)
		opk_buf_add(&out->buf, "\n", 1);
	out->has_children &= open > 0;
}

static void nested_row(struct opk_out *out, size_t depth, const union opk_cell *cells)
{
	close_rows(out, depth);
	if (!out->open && has_lines(out))
		out->json.comma = false;
	if (out->open && !out->has_children) {
		opk_json_key(&out->json, "children");
		opk_json_begin_array(&out->json);
	}
	opk_json_begin_object(&out->json);
	put_cells(out, out->columns, cells, out->cell_count);
	out->open++;
	out->has_children = false;
}

static void end_table(struct opk_out *out)
{
	close_rows(out, 0);
	if (!has_lines(out))
		opk_json_end_array(&out->json);
}

static void finish(struct opk_out *out)
{
	if (has_lines(out))
		return;
	if (out->has_record)
		opk_json_end_object(&out->json);
	opk_buf_add(&out->buf, "\n", 1);
}

const struct opk_out_ops opk_out_json_ops = {
	.record = record,
	.begin_table = begin_table,
	.row = row,
	.nested_row = nested_row,
	.end_table = end_table,
	.finish = finish,
};
