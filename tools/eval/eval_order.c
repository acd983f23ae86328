/* SPDX-License-Identifier: BSD-2-Clause */
/* The order of rows: keys in memory; the rows stay where child processes left them. */
#include "eval/eval_order.h"

#include <math.h>
#include <string.h>

#include "base/ascii.h"
#include "eval/door.h"

struct item {
	struct eval_place place;
	struct eval_key_cell cells[];
};

/* ---- --sort */

int eval_order_parse(struct eval_order *order, struct app *app, const char *list)
{
	const char *rest = list;

	while (rest) {
		struct eval_key *key = &order->keys[order->key_count];
		size_t length = strcspn(rest, ","), sign = *rest == '-';

		if (length == sign)
			return app_error(app, OPK_EUSAGE, "--sort '%s': a name is missing", list);
		if (order->key_count == MAX_SORT_KEYS)
			return app_error(app, OPK_EUSAGE, "--sort: at most %d names",
			                 MAX_SORT_KEYS);
		key->name = opk_strndup(rest + sign, length - sign);
		if (!key->name)
			return app_nomem(app);
		key->descending = sign;
		/* In METRIC:within no statistic follows. */
		key->statistic = opk_ends(key->name, OPK_WITHIN) ? NULL : strchr(key->name, ':');
		if (key->statistic)
			*key->statistic++ = '\0';
		order->key_count++;
		rest = rest[length] ? rest + length + 1 : NULL;
	}
	return OPK_OK;
}

void eval_order_clear(struct eval_order *order)
{
	for (size_t i = 0; i < order->key_count; i++)
		free(order->keys[i].name);
	free(order->items);
	opk_strlist_clear(&order->texts);
	opk_index_clear(&order->numbers);
	*order = (struct eval_order){ 0 };
}

/* ---- comparison */

static bool is_unknown(const struct eval_key_cell *cell)
{
	return cell->kind == KEY_UNKNOWN || (cell->kind == KEY_NUMBER && isnan(cell->number));
}

static int compare_known(const struct eval_key_cell *a, const struct eval_key_cell *b)
{
	if (a->kind == KEY_TEXT)
		return strcmp(a->text, b->text);
	if (a->kind == KEY_WHOLE)
		return (a->whole > b->whole) - (a->whole < b->whole);
	return (a->number > b->number) - (a->number < b->number);
}

/* Unknown and nan values come last in both directions. */
static int compare_cells(const struct eval_key_cell *a, const struct eval_key_cell *b,
                         bool descending)
{
	bool a_unknown = is_unknown(a), b_unknown = is_unknown(b);
	int result;

	if (a_unknown || b_unknown)
		return a_unknown - b_unknown;
	result = compare_known(a, b);
	return descending ? -result : result;
}

static int compare(const void *a, const void *b, void *data)
{
	const struct eval_order *order = data;
	const struct item *one = a, *other = b;

	for (size_t i = 0; i < order->key_count; i++) {
		int result = compare_cells(&one->cells[i], &other->cells[i],
		                           order->keys[i].descending);

		if (result)
			return result;
	}
	/* Equal rows stay in order. */
	return (one->place.serial > other->place.serial)
	       - (one->place.serial < other->place.serial);
}

/* ---- rows */

static size_t item_size(const struct eval_order *order)
{
	return sizeof(struct item) + order->key_count * sizeof(struct eval_key_cell);
}

static struct item *item_of(const struct eval_order *order, size_t i)
{
	return (struct item *)(order->items + i * item_size(order));
}

size_t eval_order_sort(struct eval_order *order)
{
	if (order->key_count)
		qsort_r(order->items, order->count, item_size(order), compare, order);
	if (order->top && order->count > order->top)
		order->count = order->top;
	return order->count;
}

void eval_order_note_unknown(const struct eval_order *order)
{
	for (size_t i = 0; order->count && i < order->key_count; i++)
		if (!order->keys[i].known)
			app_note("--sort %s orders nothing: it is known of no row",
			         order->keys[i].name);
}

/* Keeps each text once: many launches have few kernels. */
static const char *keep_text(struct eval_order *order, const char *text)
{
	size_t at;

	if (opk_index_find(&at, &order->numbers, text))
		return order->texts.items[at];
	at = order->texts.count;
	if (!opk_strlist_add(&order->texts, text)
	    || !opk_index_add(&order->numbers, order->texts.items[at], at, NULL))
		return NULL;
	return order->texts.items[at];
}

int eval_order_add(struct eval_order *order, struct app *app, const struct opk_table_place *place,
                   const struct eval_key_cell *cells)
{
	enum { SPARE = 4096 };
	struct item *item;

	if (order->top && order->count >= SPARE && order->count / 2 > order->top)
		eval_order_sort(order);
	if (!opk_grow(&order->items, &order->capacity, order->count, item_size(order)))
		return app_nomem(app);
	item = item_of(order, order->count++);
	item->place = (struct eval_place){ *place, order->added++ };
	for (size_t i = 0; i < order->key_count; i++) {
		item->cells[i] = cells[i];
		order->keys[i].known |= !is_unknown(&cells[i]);
		if (cells[i].kind == KEY_TEXT
		    && !(item->cells[i].text = keep_text(order, cells[i].text)))
			return app_nomem(app);
	}
	return OPK_OK;
}

const struct eval_place *eval_order_get(const struct eval_order *order, size_t i)
{
	return &item_of(order, i)->place;
}

struct eval_key_cell eval_key_of_fact(struct opk_fact_text *text, enum opk_fact fact,
                                      enum opk_profiler profiler,
                                      const struct opk_table_source *source)
{
	const struct opk_column *column = opk_fact_column(fact, profiler);
	union opk_cell cell = opk_fact_get(text, fact, &source->row);

	switch (column->type) {
	case OPK_CELL_STRING:
		return eval_key_of_text(cell.string);
	case OPK_CELL_BOOL:
		return (struct eval_key_cell){ KEY_WHOLE, { .whole = cell.boolean } };
	case OPK_CELL_UINT:
		return (struct eval_key_cell){ KEY_WHOLE, { .whole = cell.uint } };
	default:
		return (struct eval_key_cell){ cell.optional.known ? KEY_WHOLE : KEY_UNKNOWN,
			                       { .whole = cell.optional.uint } };
	}
}
