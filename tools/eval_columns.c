/* SPDX-License-Identifier: BSD-2-Clause */
#include "eval_columns.h"

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
			add(lists, COLUMN_FILE, 0, (struct opk_column){ "file", OPK_CELL_STRING });
	}
}

size_t eval_columns_most(const struct eval_shape *shape)
{
	return OPK_FACT_COUNT + COLUMN_KINDS + shape->value_count;
}

size_t eval_columns_list(struct eval_column *columns, struct opk_column *out,
                         const struct eval_shape *shape)
{
	struct lists lists = { columns, out, 0 };

	add_facts(&lists, shape);
	for (size_t i = 0; !shape->long_layout && i < shape->value_count; i++)
		add(&lists, COLUMN_VALUE, i,
		    (struct opk_column){ shape->names[i], OPK_CELL_DOUBLE });
	for (enum eval_column_kind kind = COLUMN_METRIC;
	     shape->long_layout && kind < COLUMN_KINDS; kind++)
		if (shows_long(shape, kind))
			add(&lists, kind, 0, long_columns[kind]);
	return lists.count;
}
