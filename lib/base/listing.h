/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes lists that callers read as rows: struct opk_listing of offpeak.h. */
#ifndef OPK_LISTING_H
#define OPK_LISTING_H

#include "base/ctx.h"
#include "base/strlist.h"

/*
 * Makes an empty list with columns such as "metric passes# optional? full_domains*". The suffix is
 * the type: none: text, # OPK_CELL_UINT, ? _BOOL, * _LIST, ~ _OPTIONAL, % _DOUBLE, | _EITHER,
 * ! _OPTIONAL_BOOL. NULL: out of memory, or `columns` is NULL.
 */
struct opk_listing *opk_listing_new(const char *columns);
/*
 * Adds a row: a cell for each column. Texts and lists are copied. When out of memory, or if `rows`
 * is NULL, nothing is added, and opk_listing_finish() fails.
 */
void opk_listing_add(struct opk_listing *rows, const union opk_cell *cells);
/* Sets the chip of all rows, a copy; and returns it, NULL if it was not set. */
void opk_listing_set_chip(struct opk_listing *rows, const char *chip);
const char *opk_listing_chip(const struct opk_listing *rows);
/* Hands the list over as *out. OPK_ENOMEM: something could not be added; the list was freed. */
int opk_listing_finish(struct opk_listing **out, struct opk_ctx *ctx, struct opk_listing *rows);
OPK_DEFINE_AUTO(opk_listing)
/* Returns the same list for one more owner, who also frees it. */
struct opk_listing *opk_listing_hold(const struct opk_listing *rows);

/* opk_listing_row(rows, cell_text("dram"), cell_number(12)) */
#define opk_listing_row(rows, ...) opk_listing_add(rows, (union opk_cell[]){ __VA_ARGS__ })

/* Whether the cell has a value: "" is not a value; lists and OPK_CELL_EITHER never count. */
static inline bool cell_is_known(enum opk_cell_type type, const union opk_cell *cell)
{
	switch (type) {
	case OPK_CELL_STRING:
		return cell->string && *cell->string;
	case OPK_CELL_OPTIONAL:
	case OPK_CELL_OPTIONAL_BOOL:
		return cell->optional.known;
	case OPK_CELL_LIST:
	case OPK_CELL_EITHER:
		return false;
	default:
		return true;
	}
}

static inline union opk_cell cell_text(const char *text)
{
	return (union opk_cell){ .string = text };
}
static inline union opk_cell cell_number(uint64_t number)
{
	return (union opk_cell){ .uint = number };
}
static inline union opk_cell cell_value(double number)
{
	return (union opk_cell){ .number = number };
}
static inline union opk_cell cell_flag(bool flag)
{
	return (union opk_cell){ .boolean = flag };
}
static inline union opk_cell cell_list(const char *const *items, size_t count)
{
	return (union opk_cell){ .list = { items, count } };
}
static inline union opk_cell cell_texts(const struct opk_strlist *texts)
{
	return cell_list(opk_strlist_items(texts), texts->count);
}
/* OPK_CELL_OPTIONAL, or OPK_CELL_OPTIONAL_BOOL. */
static inline union opk_cell cell_known(uint64_t number, bool known)
{
	return (union opk_cell){ .optional = { number, known } };
}
/* OPK_CELL_EITHER: the number, unless there is a word. */
static inline union opk_cell cell_either(const char *word, uint64_t number)
{
	return (union opk_cell){ .either = { word, number } };
}
/* OPK_CELL_EITHER: a number of passes, "unschedulable", or empty if not known. */
static inline union opk_cell cell_passes(int passes)
{
	return passes > 0 ? cell_either(NULL, (uint64_t)passes)
	                  : cell_either(passes ? "unschedulable" : "", 0);
}

#endif
