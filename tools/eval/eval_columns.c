/* SPDX-License-Identifier: BSD-2-Clause */
#include "eval/eval_columns.h"

#include <string.h>

#include "eval/aggregate_columns.h"

_Static_assert((int)EVAL_FIXED_COLUMNS >= OPK_FACT_COUNT + 1 + (int)COLUMN_KINDS, "room for all");
_Static_assert((int)EVAL_FIXED_COLUMNS >= (int)AGGREGATE_COLUMNS, "room for all");

/* A long table's columns behind the facts. */
static const struct opk_column long_columns[COLUMN_KINDS] = {
	[COLUMN_METRIC] = { "metric", OPK_CELL_STRING },
	[COLUMN_UNIT] = { "unit", OPK_CELL_STRING },
	[COLUMN_NUMBER] = { "value", OPK_CELL_DOUBLE },
	[COLUMN_LAUNCHES] = { "launches", OPK_CELL_UINT },
	[COLUMN_INFLATED] = { "inflated", OPK_CELL_BOOL },
};

/* Shown where some range has something there; true: without asking. */
static const bool basic[OPK_FACT_COUNT] = {
	[OPK_FACT_NVTX] = true,
	[OPK_FACT_RANK] = true,
	[OPK_FACT_SUMMED] = true,
	[OPK_FACT_DURATION] = true,
};

/* Rank 0 is one; of all other numbers 0 is nothing to show. */
static bool has_something(enum opk_fact fact, const struct opk_row *row)
{
	struct opk_fact_text text;
	union opk_cell cell = opk_fact_get(&text, fact, row, NULL);

	if (opk_fact_column(fact, OPK_PROFILER_RANGE)->type == OPK_CELL_STRING)
		return cell.string && *cell.string;
	return cell.optional.known && (cell.optional.uint || fact == OPK_FACT_RANK);
}

void eval_shape_find(struct eval_shape *shape, const struct opk_range *ranges, size_t count)
{
	bool *found = shape->facts;

	for (size_t i = 0; i < count; i++) {
		const struct opk_row row = { .name = "", .range = &ranges[i] };

		found[OPK_FACT_KERNEL] |= *ranges[i].kernel;
		found[OPK_FACT_DEVICE] |= ranges[i].device > 0;
		for (enum opk_fact fact = OPK_FACT_LAUNCH; fact <= OPK_FACT_DURATION; fact++)
			if (!found[fact] && (shape->all_facts || basic[fact]))
				found[fact] = has_something(fact, &row);
	}
	found[OPK_FACT_GRID] = found[OPK_FACT_BLOCK] = found[OPK_FACT_KERNEL];
	found[OPK_FACT_DEVICE] |= found[OPK_FACT_KERNEL];
}

static bool shows_fact(const struct eval_shape *shape, enum opk_fact fact)
{
	switch (fact) {
	case OPK_FACT_SAMPLE:
	case OPK_FACT_SAMPLE_START:
	case OPK_FACT_SAMPLE_END:
	case OPK_FACT_RANGE:
	case OPK_FACT_NAME:
		return true;
	case OPK_FACT_SPANS_EARLIER:
		return shape->first_sample == FIRST_MARK;
	case OPK_FACT_LAUNCHES:
	case OPK_FACT_LAUNCHES_MIN:
		return shape->joined && !shape->long_layout;
	default:
		return shape->facts[fact];
	}
}

static bool shows_long(const struct eval_shape *shape, enum eval_column_kind kind)
{
	if (kind == COLUMN_LAUNCHES)
		return shape->joined;
	return kind != COLUMN_INFLATED || shape->inflated;
}

static const struct opk_column file_column = { "file", OPK_CELL_STRING };

bool eval_column_find(struct eval_column *column, struct opk_column *header,
                      const struct eval_shape *shape, enum opk_profiler profiler, const char *name)
{
	struct eval_column found = { COLUMN_FACT, 0 };
	struct opk_column its_header = file_column;
	enum opk_fact fact;

	if (shape->aggregated)
		return aggregate_column_find(NULL, header, name);
	/* In a long table launches are those of a value. */
	for (enum eval_column_kind kind = COLUMN_METRIC; shape->long_layout && kind < COLUMN_KINDS;
	     kind++)
		if (!strcmp(name, long_columns[kind].name)) {
			found.kind = kind;
			its_header = long_columns[kind];
		}
	if (!strcmp(name, file_column.name))
		found.kind = COLUMN_FILE;
	if (found.kind == COLUMN_FACT) {
		if (!opk_fact_find(&fact, name, profiler))
			return false;
		found.index = fact;
		its_header = *opk_fact_column(fact, profiler);
	}
	if (column)
		*column = found;
	if (header)
		*header = its_header;
	return true;
}

size_t eval_columns_fixed(const char *out[EVAL_FIXED_COLUMNS], const struct eval_shape *shape,
                          enum opk_profiler profiler)
{
	size_t count = 0;

	if (shape->aggregated)
		return aggregate_columns_fixed(out);
	out[count++] = file_column.name;
	for (enum opk_fact fact = 0; fact < OPK_FACT_COUNT; fact++)
		if (opk_fact_column(fact, profiler))
			out[count++] = opk_fact_column(fact, profiler)->name;
	for (enum eval_column_kind kind = COLUMN_METRIC; shape->long_layout && kind < COLUMN_KINDS;
	     kind++)
		out[count++] = long_columns[kind].name;
	return count;
}

/* The lists in the making. */
struct lists {
	struct eval_column *columns;
	struct opk_column *out;
	size_t count;
};

static void add(struct lists *lists, enum eval_column_kind kind, size_t index,
                struct opk_column column)
{
	lists->columns[lists->count] = (struct eval_column){ kind, index };
	lists->out[lists->count++] = column;
}

static void add_facts(struct lists *lists, const struct eval_shape *shape)
{
	for (enum opk_fact fact = 0; fact < OPK_FACT_COUNT; fact++) {
		const struct opk_column *column = opk_fact_column(fact, shape->profiler);

		if (column && shows_fact(shape, fact))
			add(lists, COLUMN_FACT, fact, *column);
		/* Behind what tells rows of a file apart. */
		if (column && (fact == OPK_FACT_NAME || fact == OPK_FACT_SAMPLE_END)
		    && shape->file_count > 1)
			add(lists, COLUMN_FILE, 0, file_column);
	}
}

static void add_long(struct lists *lists, const struct eval_shape *shape)
{
	for (enum eval_column_kind kind = COLUMN_METRIC; kind < COLUMN_KINDS; kind++)
		if (shows_long(shape, kind))
			add(lists, kind, 0, long_columns[kind]);
}

static bool has_kind(const struct lists *lists, enum eval_column_kind kind)
{
	for (size_t i = 0; i < lists->count; i++)
		if (lists->columns[i].kind == kind)
			return true;
	return false;
}

static void add_value(struct lists *lists, const struct eval_shape *shape, const char *name)
{
	for (size_t i = 0; i < shape->value_count; i++)
		if (!strcmp(shape->names[i], name)) {
			add(lists, COLUMN_VALUE, i,
			    (struct opk_column){ shape->names[i], OPK_CELL_DOUBLE });
			return;
		}
}

/* Names of values are rows of a long table, and what makes a row of it follows where it is not named. */
static void add_chosen(struct lists *lists, const struct eval_shape *shape)
{
	for (size_t i = 0; i < shape->choice.count; i++) {
		const char *name = shape->choice.names[i];
		struct eval_column column;
		struct opk_column header;

		if (eval_column_find(&column, &header, shape, shape->profiler, name))
			add(lists, column.kind, column.index, header);
		else if (!shape->long_layout)
			add_value(lists, shape, name);
	}
	for (enum eval_column_kind kind = COLUMN_METRIC;
	     shape->long_layout && kind <= COLUMN_NUMBER; kind++)
		if (!has_kind(lists, kind))
			add(lists, kind, 0, long_columns[kind]);
}

size_t eval_columns_most(const struct eval_shape *shape)
{
	return EVAL_FIXED_COLUMNS + shape->value_count;
}

size_t eval_columns_list(struct eval_column *columns, struct opk_column *out,
                         const struct eval_shape *shape)
{
	struct lists lists = { columns, out, 0 };

	if (shape->choice.count) {
		add_chosen(&lists, shape);
		return lists.count;
	}
	add_facts(&lists, shape);
	for (size_t i = 0; !shape->long_layout && i < shape->value_count; i++)
		add(&lists, COLUMN_VALUE, i,
		    (struct opk_column){ shape->names[i], OPK_CELL_DOUBLE });
	if (shape->long_layout)
		add_long(&lists, shape);
	return lists.count;
}
