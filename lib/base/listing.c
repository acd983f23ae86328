/* SPDX-License-Identifier: BSD-2-Clause */
/* Lists in memory: columns, and rows of cells. */
#include "base/listing.h"

#include "base/strlist.h"

struct opk_listing {
	struct opk_column *columns;
	size_t column_count;
	OPK_LIST(union opk_cell) cells; /* row by row */
	struct opk_strlist texts;       /* all that cells and columns point to */
	OPK_LIST(const char **) lists;
	bool failed; /* out of memory */
};

static const char *keep_text(struct opk_listing *rows, const char *text)
{
	if (!text)
		return NULL;
	if (!opk_strlist_add(&rows->texts, text)) {
		rows->failed = true;
		return "";
	}
	return rows->texts.items[rows->texts.count - 1];
}

static const char **keep_list(struct opk_listing *rows, const char *const *items, size_t count)
{
	const char ***list = opk_list_add(&rows->lists);
	const char **kept = list ? opk_alloc_array(count + 1, sizeof *kept) : NULL;

	if (list)
		*list = kept;
	if (!kept) {
		rows->failed = true;
		return NULL;
	}
	for (size_t i = 0; i < count; i++)
		kept[i] = keep_text(rows, items[i]);
	return kept;
}

struct opk_listing *opk_listing_new(const struct opk_column *columns, size_t count)
{
	struct opk_listing *rows = opk_alloc(sizeof *rows);

	if (!rows)
		return NULL;
	rows->columns = opk_alloc_array(count + 1, sizeof *rows->columns);
	rows->failed = !rows->columns;
	for (size_t i = 0; rows->columns && i < count; i++)
		rows->columns[i] = (struct opk_column){ keep_text(rows, columns[i].name),
			                                columns[i].type };
	rows->column_count = count;
	return rows;
}

/* A cell that points to nothing of the caller's. */
static union opk_cell keep(struct opk_listing *rows, enum opk_cell_type type, union opk_cell cell)
{
	switch (type) {
	case OPK_CELL_STRING:
		cell.string = keep_text(rows, cell.string);
		break;
	case OPK_CELL_LIST:
		cell.list.items = keep_list(rows, cell.list.items, cell.list.count);
		cell.list.count = cell.list.items ? cell.list.count : 0;
		break;
	case OPK_CELL_EITHER:
		cell.either.word = keep_text(rows, cell.either.word);
		break;
	default:
		break;
	}
	return cell;
}

void opk_listing_add(struct opk_listing *rows, const union opk_cell *cells)
{
	for (size_t i = 0; rows && !rows->failed && i < rows->column_count; i++) {
		union opk_cell *cell = opk_list_add(&rows->cells);

		rows->failed = !cell;
		if (cell)
			*cell = keep(rows, rows->columns[i].type, cells[i]);
	}
}

int opk_listing_finish(struct opk_listing **out, struct opk_ctx *ctx, struct opk_listing *rows)
{
	if (!rows || rows->failed) {
		opk_listing_free(rows);
		return opk_nomem(ctx, "a list");
	}
	*out = rows;
	return OPK_OK;
}

const struct opk_column *opk_listing_columns(const struct opk_listing *rows, size_t *count)
{
	*count = rows->column_count;
	return rows->columns;
}

size_t opk_listing_count(const struct opk_listing *rows)
{
	return rows->column_count ? rows->cells.count / rows->column_count : 0;
}

const union opk_cell *opk_listing_get(const struct opk_listing *rows, size_t i)
{
	return &rows->cells.items[i * rows->column_count];
}

void opk_listing_free(struct opk_listing *rows)
{
	if (!rows)
		return;
	for (size_t i = 0; i < rows->lists.count; i++)
		free(rows->lists.items[i]);
	free(rows->lists.items);
	free(rows->cells.items);
	free(rows->columns);
	opk_strlist_clear(&rows->texts);
	free(rows);
}
