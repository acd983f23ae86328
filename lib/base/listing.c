/* SPDX-License-Identifier: BSD-2-Clause */
/* Lists in memory: columns, and rows of cells. */
#include "base/listing.h"

#include <limits.h>
#include <stdatomic.h>
#include <string.h>

enum { CHUNK = 16384 };

struct opk_listing {
	struct opk_column *columns;
	size_t column_count;
	union opk_cell *cells;      /* row by row */
	size_t row_count, capacity; /* rows */
	OPK_LIST(char *) chunks;    /* all texts that cells and columns point to */
	size_t left;                /* bytes of the last chunk */
	const char *chip;
	OPK_LIST(const char **) lists;
	bool failed;        /* out of memory */
	atomic_uint others; /* number of owners besides the first */
};

static char *take_room(struct opk_listing *rows, size_t size)
{
	char **chunk;

	if (size > rows->left) {
		size_t whole = size > CHUNK ? size : CHUNK;

		chunk = opk_list_add(&rows->chunks);
		rows->left = 0;
		if (!chunk || !(*chunk = opk_alloc(whole)))
			return NULL;
		/* A chunk is filled from its end. */
		rows->left = whole;
	}
	rows->left -= size;
	return rows->chunks.items[rows->chunks.count - 1] + rows->left;
}

static const char *keep_text(struct opk_listing *rows, const char *text)
{
	size_t size = text ? strlen(text) + 1 : 0;
	char *kept = text ? take_room(rows, size) : NULL;

	rows->failed |= text && !kept;
	return kept ? memcpy(kept, text, size) : NULL;
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

/* Reads a column from text such as "passes#"; the text without its suffix becomes the name. */
static struct opk_column read_column(struct opk_listing *rows, char *text)
{
	static const enum opk_cell_type types[UCHAR_MAX + 1] = {
		['#'] = OPK_CELL_UINT,          ['?'] = OPK_CELL_BOOL,   ['*'] = OPK_CELL_LIST,
		['~'] = OPK_CELL_OPTIONAL,      ['%'] = OPK_CELL_DOUBLE, ['|'] = OPK_CELL_EITHER,
		['!'] = OPK_CELL_OPTIONAL_BOOL,
	};
	char *end = text + strcspn(text, "#?*~%|!");
	enum opk_cell_type type = types[(unsigned char)*end];

	*end = '\0';
	return (struct opk_column){ keep_text(rows, text), type };
}

static size_t count_columns(const char *text)
{
	size_t count = 1;

	for (; *text; text++)
		count += *text == ' ';
	return count;
}

struct opk_listing *opk_listing_new(const char *columns)
{
	opk_autofree char *text = columns ? opk_strdup(columns) : NULL;
	struct opk_listing *rows = text ? opk_alloc(sizeof *rows) : NULL;
	char *rest = text;

	if (!rows)
		return NULL;
	rows->columns = opk_alloc_array(count_columns(text), sizeof *rows->columns);
	rows->failed = !rows->columns;
	while (rows->columns && rest)
		rows->columns[rows->column_count++] = read_column(rows, strsep(&rest, " "));
	return rows;
}

/* A cell whose texts and lists are copies. */
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

/* Whether the text is the same as in the cell of the row before, which it can share. */
static bool is_again(enum opk_cell_type type, const union opk_cell *before, const char *text)
{
	return before && type == OPK_CELL_STRING && text && before->string
	       && !strcmp(text, before->string);
}

void opk_listing_add(struct opk_listing *rows, const union opk_cell *cells)
{
	union opk_cell *row, *before;

	if (!rows || rows->failed)
		return;
	row = opk_append(&rows->cells, &rows->capacity, &rows->row_count,
	                 rows->column_count * sizeof *row);
	rows->failed = !row;
	before = row && rows->row_count > 1 ? row - rows->column_count : NULL;
	for (size_t i = 0; row && i < rows->column_count; i++) {
		enum opk_cell_type type = rows->columns[i].type;
		bool again = is_again(type, before ? &before[i] : NULL, cells[i].string);

		row[i] = again ? before[i] : keep(rows, type, cells[i]);
	}
}

void opk_listing_set_chip(struct opk_listing *rows, const char *chip)
{
	if (rows)
		rows->chip = keep_text(rows, chip);
}

const char *opk_listing_chip(const struct opk_listing *rows)
{
	return rows->chip;
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
	return rows->row_count;
}

const union opk_cell *opk_listing_get(const struct opk_listing *rows, size_t i)
{
	return &rows->cells[i * rows->column_count];
}

struct opk_listing *opk_listing_hold(const struct opk_listing *rows)
{
	struct opk_listing *held = (struct opk_listing *)(uintptr_t)rows;

	held->others++;
	return held;
}

void opk_listing_free(struct opk_listing *rows)
{
	if (!rows || atomic_fetch_sub(&rows->others, 1))
		return;
	for (size_t i = 0; i < rows->lists.count; i++)
		free(rows->lists.items[i]);
	free(rows->lists.items);
	free(rows->cells);
	free(rows->columns);
	for (size_t i = 0; i < rows->chunks.count; i++)
		free(rows->chunks.items[i]);
	free(rows->chunks.items);
	free(rows);
}
