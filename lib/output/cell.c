/* SPDX-License-Identifier: BSD-2-Clause */
/* Cells as text, for tables and CSV. */
#include <math.h>

#include "output/output.h"

static void put_number(struct opk_buf *out, double number)
{
	if (isnan(number))
		opk_buf_add_text(out, "nan");
	else
		opk_buf_add_double(out, number);
}

static void put_list(struct opk_buf *out, const union opk_cell *cell)
{
	for (size_t i = 0; i < cell->list.count; i++) {
		if (i)
			opk_buf_add(out, " ", 1);
		opk_buf_add_text(out, cell->list.items[i]);
	}
}

void opk_cell_text(struct opk_buf *out, enum opk_cell_type type, const union opk_cell *cell)
{
	switch (type) {
	case OPK_CELL_STRING:
		opk_buf_add_text(out, cell->string ? cell->string : "");
		break;
	case OPK_CELL_UINT:
		opk_buf_add_number(out, cell->uint);
		break;
	case OPK_CELL_DOUBLE:
		put_number(out, cell->number);
		break;
	case OPK_CELL_BOOL:
		opk_buf_add_text(out, cell->boolean ? "yes" : "no");
		break;
	case OPK_CELL_LIST:
		put_list(out, cell);
		break;
	case OPK_CELL_OPTIONAL:
		if (cell->optional.known)
			opk_buf_add_number(out, cell->optional.uint);
		break;
	case OPK_CELL_EITHER:
		if (cell->either.word)
			opk_buf_add_text(out, cell->either.word);
		else
			opk_buf_add_number(out, cell->either.uint);
		break;
	case OPK_CELL_OPTIONAL_BOOL:
		if (cell->optional.known)
			opk_buf_add_text(out, cell->optional.uint ? "yes" : "no");
		break;
	}
}

bool opk_cell_is_number(enum opk_cell_type type)
{
	return type == OPK_CELL_UINT || type == OPK_CELL_DOUBLE || type == OPK_CELL_OPTIONAL
	       || type == OPK_CELL_EITHER;
}
