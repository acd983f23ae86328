/* SPDX-License-Identifier: BSD-2-Clause */
/* eval --sort and --top: the keys of rows or key groups, and where each row is. */
#ifndef OPK_TOOL_EVAL_ORDER_H
#define OPK_TOOL_EVAL_ORDER_H

#include "base/index.h"
#include "common/app.h"
#include "eval/door.h"
#include "table/door.h"

enum { MAX_SORT_KEYS = 16 };

struct eval_key {
	char *name;
	char *statistic; /* of a key group's metric, in the same memory; NULL: not given */
	bool descending;
	bool known; /* some row has it */
};

/* A row's value for one key. */
struct eval_key_cell {
	enum { KEY_UNKNOWN, KEY_TEXT, KEY_WHOLE, KEY_NUMBER } kind;
	union {
		const char *text;
		uint64_t whole;
		double number;
	};
};

struct eval_place {
	struct opk_table_place at;
	uint64_t serial; /* the number of rows added before it */
};

/* Start with { 0 }. */
struct eval_order {
	struct eval_key keys[MAX_SORT_KEYS];
	size_t key_count;
	uint64_t top; /* number of rows or key groups to keep; 0: all */
	unsigned char *items;
	size_t capacity, count;
	uint64_t added;
	struct opk_strlist texts; /* of keys, each once */
	struct opk_index numbers; /* text -> index */
};

/* --sort: names with commas between, '-' before descending ones. */
int eval_order_parse(struct eval_order *order, struct app *app, const char *list);
void eval_order_clear(struct eval_order *order);
/*
 * Adds a row: `cells` has one per key, and their texts are copied. If there are many more rows than
 * --top, keeps only the first.
 */
int eval_order_add(struct eval_order *order, struct app *app, const struct opk_table_place *place,
                   const struct eval_key_cell *cells);
/* Sorts the rows; returns their number. */
size_t eval_order_sort(struct eval_order *order);
/* Notes a key that no row has, so that it orders nothing. */
void eval_order_note_unknown(const struct eval_order *order);
const struct eval_place *eval_order_get(const struct eval_order *order, size_t i);

/* Makes a key of a fact. */
struct eval_key_cell eval_key_of_fact(struct opk_fact_text *text, enum opk_fact fact,
                                      enum opk_profiler profiler,
                                      const struct opk_table_source *source);
static inline struct eval_key_cell eval_key_of_number(double number)
{
	return (struct eval_key_cell){ KEY_NUMBER, { .number = number } };
}
static inline struct eval_key_cell eval_key_of_text(const char *text)
{
	return (struct eval_key_cell){ text && *text ? KEY_TEXT : KEY_UNKNOWN, { .text = text } };
}

#endif
