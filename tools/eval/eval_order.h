/* SPDX-License-Identifier: BSD-2-Clause */
/* eval --sort and --top: by what rows or key groups are ordered, and where each is. */
#ifndef OPK_TOOL_EVAL_ORDER_H
#define OPK_TOOL_EVAL_ORDER_H

#include "base/index.h"
#include "common/app.h"
#include "eval/door.h"
#include "table/door.h"

enum { MAX_SORT_KEYS = 16 };

struct eval_key {
	char *name;
	char *statistic; /* of a key group's metric, in the same memory; NULL: none was named */
	bool descending;
	bool known; /* of some row */
};

/* What one row has for one key. */
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
	uint64_t serial; /* what was taken before it */
};

/* Begin with { 0 }. */
struct eval_order {
	struct eval_key keys[MAX_SORT_KEYS];
	size_t key_count;
	uint64_t top; /* so many rows or key groups; 0: all */
	unsigned char *items;
	size_t capacity, count;
	uint64_t added;
	struct opk_strlist texts; /* of keys, each once */
	struct opk_index numbers; /* of them */
};

/* --sort: names with commas between, '-' before what is descending. */
int eval_order_parse(struct eval_order *order, struct app *app, const char *list);
void eval_order_clear(struct eval_order *order);
/*
 * Takes the row in: `cells` has one a key, whose texts are copied. Of many more rows than --top
 * wants only the first are kept.
 */
int eval_order_add(struct eval_order *order, struct app *app, const struct opk_table_place *place,
                   const struct eval_key_cell *cells);
/* Orders what was taken in; returns how many rows that is. */
size_t eval_order_sort(struct eval_order *order);
/* Says which key orders nothing, since no row has it. */
void eval_order_note_unknown(const struct eval_order *order);
const struct eval_place *eval_order_get(const struct eval_order *order, size_t i);

/* A fact as a key. */
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
