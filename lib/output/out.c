/* SPDX-License-Identifier: BSD-2-Clause */
/* The writer of rows: chooses format and tables, and sends bytes to the sink. */
#include "output/output.h"

#include "base/option_struct.h"

enum { FLUSH_AT = 1 << 16 };

static const struct {
	const struct opk_out_ops *ops;
	bool lines;
} formats[] = {
	[OPK_FORMAT_TABLE] = { &opk_out_table_ops, false },
	[OPK_FORMAT_CSV] = { &opk_out_csv_ops, false },
	[OPK_FORMAT_JSON] = { &opk_out_json_ops, false },
	[OPK_FORMAT_NDJSON] = { &opk_out_json_ops, true },
	[OPK_FORMAT_OPENMETRICS] = { &opk_out_openmetrics_ops, false },
};

int opk_out_new(struct opk_out **out, struct opk_ctx *ctx, const struct opk_out_options *given,
                opk_sink_fn *sink, void *sink_data)
{
	OPK_OPTIONS(opk_out_options, options, given);
	opk_autofree struct opk_out *new_out = opk_alloc(sizeof *new_out);
	char *only = options.only ? opk_strdup(options.only) : NULL;

	if (!new_out || (options.only && !only)) {
		free(only);
		return opk_nomem(ctx, "output");
	}
	new_out->ctx = ctx;
	new_out->ops = formats[options.format].ops;
	new_out->lines = formats[options.format].lines;
	new_out->width = options.width;
	new_out->height = options.height;
	new_out->bold = options.bold;
	new_out->csv_safe = options.csv_safe;
	new_out->only = only;
	new_out->sink = sink;
	new_out->sink_data = sink_data;
	new_out->json.buf = &new_out->buf;
	*out = opk_take(new_out);
	return OPK_OK;
}

static void clear_headings(struct opk_out_headings *headings)
{
	for (size_t i = 0; i < headings->count; i++) {
		free(headings->items[i].title);
		free(headings->items[i].text);
	}
	free(headings->items);
	*headings = (struct opk_out_headings){ 0 };
}

/* Frees what waited for the table's end. */
static void clear_table(struct opk_out *out)
{
	for (size_t i = 0; i < out->cells.count; i++)
		free(out->cells.items[i].text);
	free(out->cells.items);
	memset(&out->cells, 0, sizeof out->cells);
	opk_strlist_clear(&out->units);
	clear_headings(&out->spans);
	clear_headings(&out->headings);
	opk_openmetrics_free(opk_take(out->metrics));
}

void opk_out_free(struct opk_out *out)
{
	if (!out)
		return;
	opk_buf_clear(&out->buf);
	clear_table(out);
	free(out->columns);
	free(out->only);
	free(out);
}

static int flush(struct opk_out *out, size_t least)
{
	if (!out->code && out->buf.failed)
		out->code = opk_nomem(out->ctx, "output");
	if (out->code) {
		out->buf.size = 0;
		return out->code;
	}
	if (out->buf.size < least || !out->buf.size)
		return OPK_OK;
	/* If the sink is the library's own, its cause stays in the chain. */
	opk_clear_errors(out->ctx);
	if (out->sink(out->sink_data, out->buf.data, out->buf.size))
		out->code = opk_add(out->ctx, OPK_EFAILED, "can't write the output");
	out->buf.size = 0;
	return out->code;
}

static bool is_wanted(const struct opk_out *out, const char *name)
{
	return !out->only || !strcmp(out->only, name);
}

int opk_out_record(struct opk_out *out, const struct opk_column *columns,
                   const union opk_cell *cells, size_t count)
{
	if (!is_wanted(out, "summary"))
		return OPK_OK;
	out->has_record = true;
	out->ops->record(out, columns, cells, count);
	return flush(out, FLUSH_AT);
}

static void end_table(struct opk_out *out)
{
	if (out->in_table && out->ops->end_table && !out->code)
		out->ops->end_table(out);
	out->in_table = false;
	clear_table(out);
}

int opk_out_table(struct opk_out *out, const char *name, const struct opk_column *columns,
                  size_t count)
{
	struct opk_column *copy;

	end_table(out);
	if (!is_wanted(out, name))
		return OPK_OK;
	copy = opk_alloc_array(count + 1, sizeof *copy);
	if (!copy) {
		out->code = opk_nomem(out->ctx, "output");
		return out->code;
	}
	memcpy(copy, columns, count * sizeof *copy);
	free(out->columns);
	out->in_table = true;
	out->table = name;
	out->columns = copy;
	out->column_count = count;
	out->row_count = 0;
	out->unit_column = NO_COLUMN;
	out->optional = out->whole = 0;
	out->shared = 0;
	out->ops->begin_table(out);
	return flush(out, FLUSH_AT);
}

int opk_out_nested_row(struct opk_out *out, size_t depth, const union opk_cell *cells, size_t count)
{
	if (!out->in_table)
		return out->code;
	out->cell_count = count;
	if (out->ops->nested_row)
		out->ops->nested_row(out, depth, cells);
	else
		out->ops->row(out, cells);
	out->row_count++;
	return flush(out, FLUSH_AT);
}

int opk_out_row(struct opk_out *out, const union opk_cell *cells)
{
	if (!out->in_table)
		return out->code;
	out->cell_count = out->column_count;
	out->ops->row(out, cells);
	out->row_count++;
	return flush(out, FLUSH_AT);
}

int opk_out_span(struct opk_out *out, const char *title, size_t first, size_t count)
{
	if (out->in_table && out->ops->span && count && first < out->column_count
	    && count <= out->column_count - first)
		out->ops->span(out, title, first, count);
	return flush(out, FLUSH_AT);
}

int opk_out_unit(struct opk_out *out, size_t column, const char *unit)
{
	if (out->in_table && !out->code && out->ops->unit && column < out->column_count)
		out->ops->unit(out, column, unit);
	return flush(out, FLUSH_AT);
}

int opk_out_unit_in(struct opk_out *out, size_t column)
{
	if (out->in_table && column < out->column_count
	    && out->columns[column].type == OPK_CELL_STRING)
		out->unit_column = column;
	return flush(out, FLUSH_AT);
}

int opk_out_optional(struct opk_out *out, size_t column)
{
	if (out->in_table && column < out->column_count && column < 64)
		out->optional |= UINT64_C(1) << column;
	return flush(out, FLUSH_AT);
}

int opk_out_whole(struct opk_out *out, size_t column)
{
	if (out->in_table && column < out->column_count && column < 64)
		out->whole |= UINT64_C(1) << column;
	return flush(out, FLUSH_AT);
}

int opk_out_role(struct opk_out *out, size_t column, enum opk_out_role role)
{
	if (out->in_table && !out->code && out->ops->role && column < out->column_count)
		out->ops->role(out, column, role);
	return flush(out, FLUSH_AT);
}

int opk_out_constant(struct opk_out *out, const char *name, const char *value)
{
	if (out->in_table && !out->code && out->ops->constant)
		out->ops->constant(out, name, value);
	return flush(out, FLUSH_AT);
}

size_t opk_out_row_count(const struct opk_out *out)
{
	return out->row_count;
}

int opk_out_heading(struct opk_out *out, const char *title, const char *text)
{
	if (out->in_table && out->ops->heading)
		out->ops->heading(out, title, text);
	return flush(out, FLUSH_AT);
}

int opk_out_text(struct opk_out *out, const char *text)
{
	end_table(out);
	if (!out->ops->heading)
		return OPK_OK;
	opk_buf_add_text(&out->buf, text);
	out->row_count = 1;
	return flush(out, FLUSH_AT);
}

int opk_out_prose(struct opk_out *out, const char *text)
{
	TRY(opk_out_text(out, out->has_record ? "\n" : ""));
	if (out->ops->heading)
		opk_table_prose(out, text, 0, false);
	return flush(out, FLUSH_AT);
}

int opk_out_finish(struct opk_out *out)
{
	end_table(out);
	if (out->ops->finish)
		out->ops->finish(out);
	return flush(out, 0);
}
