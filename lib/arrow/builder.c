/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes a batch of rows: one array for each column. The array owns its buffers. */
#include <string.h>

#include "arrow/arrow_inside.h"
#include "base/utf8.h"

/* Limits of a batch. MAX_TEXT is in bytes: offsets of texts have 31 bits. */
enum { MAX_CELLS = 1 << 20, MIN_ROWS = 1 << 10, MAX_ROWS = 1 << 16, MAX_TEXT = 1 << 26 };

bool opk_arrow_builder_init(struct opk_arrow_builder *builder,
                            const struct opk_table_column *columns, size_t count)
{
	builder->columns = opk_alloc_array(count + 1, sizeof *builder->columns);
	builder->column_count = builder->columns ? count : 0;
	for (size_t i = 0; i < builder->column_count; i++)
		builder->columns[i] = (struct opk_arrow_column){
			.type = opk_arrow_type_of(&columns[i]),
			.cell_type = columns[i].header.type,
		};
	return builder->columns != NULL;
}

static void clear_column(struct opk_arrow_column *column)
{
	opk_buf_clear(&column->cells);
	opk_buf_clear(&column->nulls);
	opk_strlist_clear(&column->texts);
	opk_index_clear(&column->numbers);
	*column = (struct opk_arrow_column){ .type = column->type, .cell_type = column->cell_type };
}

void opk_arrow_builder_clear(struct opk_arrow_builder *builder)
{
	for (size_t i = 0; i < builder->column_count; i++)
		clear_column(&builder->columns[i]);
	free(builder->columns);
	*builder = (struct opk_arrow_builder){ 0 };
}

/* ---- cells */

/* Whole bytes of ones, for rows before the first null. */
static void put_ones(struct opk_buf *bits, size_t rows)
{
	static const uint8_t all = 0xff;

	while (!bits->failed && bits->size < (rows + 7) / 8)
		opk_buf_add(bits, &all, 1);
}

static void set_bit(struct opk_buf *bits, size_t row, bool value)
{
	static const uint8_t none;

	if (row / 8 >= bits->size)
		opk_buf_add(bits, &none, 1);
	if (bits->failed)
		return;
	if (value)
		bits->data[row / 8] |= (uint8_t)(1u << row % 8);
	else
		bits->data[row / 8] &= (uint8_t) ~(1u << row % 8);
}

static void put_known(struct opk_arrow_column *column, size_t row, bool known)
{
	if (!known && !column->null_count)
		put_ones(&column->nulls, row);
	column->null_count += !known;
	if (column->null_count)
		set_bit(&column->nulls, row, known);
}

/* Finds the text's number in the dictionary; adds a new text to it. */
static bool find_text(int32_t *out, struct opk_arrow_column *column, const char *text)
{
	size_t number = column->texts.count;

	if (!opk_index_find(&number, &column->numbers, text)) {
		if (!opk_strlist_add(&column->texts, text)
		    || !opk_index_add(&column->numbers, column->texts.items[number], number, NULL))
			return false;
		column->text_size += strlen(text);
	}
	*out = (int32_t)number;
	return true;
}

/* False: the number does not fit, and the cell is null. */
static bool find_number(int64_t *out, const struct opk_arrow_column *column,
                        const union opk_cell *cell)
{
	uint64_t number = column->cell_type == OPK_CELL_UINT ? cell->uint : cell->optional.uint;

	if (number > INT64_MAX)
		return false;
	*out = (int64_t)number;
	return true;
}

static bool put_cell(struct opk_arrow_column *column, size_t row, const union opk_cell *cell,
                     bool known)
{
	int64_t number = 0;
	int32_t index = 0;

	known = known && (column->type != OPK_ARROW_INT || find_number(&number, column, cell));
	put_known(column, row, known);
	switch (column->type) {
	case OPK_ARROW_DOUBLE:
		opk_buf_add(&column->cells, &cell->number, sizeof cell->number);
		break;
	case OPK_ARROW_INT:
		opk_buf_add(&column->cells, &number, sizeof number);
		break;
	case OPK_ARROW_BOOL:
		set_bit(&column->cells, row,
		        known
		                && (column->cell_type == OPK_CELL_BOOL ? cell->boolean
		                                                       : cell->optional.uint > 0));
		break;
	case OPK_ARROW_TEXT:
		if (known && !find_text(&index, column, cell->string))
			return false;
		opk_buf_add(&column->cells, &index, sizeof index);
		break;
	}
	return !column->cells.failed && !column->nulls.failed;
}

bool opk_arrow_builder_add(struct opk_arrow_builder *builder, const union opk_cell *cells,
                           const bool *known)
{
	for (size_t i = 0; i < builder->column_count; i++)
		if (!put_cell(&builder->columns[i], builder->rows, &cells[i], known[i]))
			return false;
	builder->rows++;
	return true;
}

bool opk_arrow_builder_full(const struct opk_arrow_builder *builder)
{
	size_t rows = MAX_CELLS / (builder->column_count + 1);

	rows = rows < MIN_ROWS ? MIN_ROWS : rows > MAX_ROWS ? MAX_ROWS : rows;
	for (size_t i = 0; i < builder->column_count; i++)
		if (builder->columns[i].text_size > MAX_TEXT)
			return true;
	return builder->rows >= rows;
}

/* ---- arrays */

/* What an array owns. Its children are in one allocation; consumers may move them out of it. */
struct held {
	void *buffers[3];
	const void *pointers[3];
	struct ArrowArray *children, **child_pointers;
	struct ArrowArray dictionary;
};

static void release(struct ArrowArray *array)
{
	struct held *held = array->private_data;

	for (int64_t i = 0; i < array->n_children; i++)
		if (held->children[i].release)
			held->children[i].release(&held->children[i]);
	if (held->dictionary.release)
		held->dictionary.release(&held->dictionary);
	for (size_t i = 0; i < sizeof held->buffers / sizeof *held->buffers; i++)
		free(held->buffers[i]);
	free(held->children);
	free(held->child_pointers);
	free(held);
	*array = (struct ArrowArray){ 0 };
}

static struct held *begin(struct ArrowArray *out, size_t length)
{
	struct held *held = opk_alloc(sizeof *held);

	*out = (struct ArrowArray){ 0 };
	if (!held)
		return NULL;
	*out = (struct ArrowArray){
		.length = (int64_t)length,
		.buffers = held->pointers,
		.release = release,
		.private_data = held,
	};
	return held;
}

/* Makes the bytes the array's next buffer: shrinks them to their size and takes them over. */
static void take_buffer(struct ArrowArray *array, struct opk_buf *bytes)
{
	struct held *held = array->private_data;
	void *fitting = bytes->size ? opk_realloc(bytes->data, bytes->size) : NULL;

	if (fitting)
		bytes->data = fitting;
	held->buffers[array->n_buffers] = bytes->data;
	held->pointers[array->n_buffers++] = bytes->data;
	*bytes = (struct opk_buf){ 0 };
}

static bool put_dictionary(struct ArrowArray *array, struct opk_arrow_column *column)
{
	struct held *held = array->private_data;
	opk_autobuf struct opk_buf offsets = { 0 }, text = { 0 };
	int32_t end = 0;

	opk_buf_add(&offsets, &end, sizeof end);
	for (size_t i = 0; i < column->texts.count; i++) {
		opk_autofree char *repaired = opk_utf8_repair(column->texts.items[i]);

		if (!repaired)
			return false;
		opk_buf_add_text(&text, repaired);
		end = (int32_t)text.size;
		opk_buf_add(&offsets, &end, sizeof end);
	}
	array->dictionary = &held->dictionary;
	if (offsets.failed || text.failed || !begin(array->dictionary, column->texts.count))
		return false;
	take_buffer(array->dictionary, &(struct opk_buf){ 0 });
	take_buffer(array->dictionary, &offsets);
	take_buffer(array->dictionary, &text);
	return true;
}

static bool finish_column(struct ArrowArray *out, struct opk_arrow_column *column, size_t rows)
{
	if (!begin(out, rows))
		return false;
	out->null_count = (int64_t)column->null_count;
	take_buffer(out, &column->nulls);
	take_buffer(out, &column->cells);
	return column->type != OPK_ARROW_TEXT || put_dictionary(out, column);
}

static bool finish_columns(struct ArrowArray *out, struct opk_arrow_builder *builder)
{
	struct held *held = begin(out, builder->rows);
	size_t count = builder->column_count;

	if (!held)
		return false;
	take_buffer(out, &(struct opk_buf){ 0 });
	held->children = opk_alloc_array(count + 1, sizeof *held->children);
	held->child_pointers = opk_alloc_array(count + 1, sizeof *held->child_pointers);
	if (!held->children || !held->child_pointers)
		return false;
	out->children = held->child_pointers;
	for (size_t i = 0; i < count; i++) {
		held->child_pointers[i] = &held->children[i];
		out->n_children++;
		if (!finish_column(&held->children[i], &builder->columns[i], builder->rows))
			return false;
		clear_column(&builder->columns[i]);
	}
	return true;
}

bool opk_arrow_builder_finish(struct ArrowArray *out, struct opk_arrow_builder *builder)
{
	bool good = finish_columns(out, builder);

	if (!good && out->release)
		out->release(out);
	builder->rows = 0;
	return good;
}
