/* SPDX-License-Identifier: BSD-2-Clause */
#include "eval/aggregate_columns.h"

#include <string.h>

static const struct opk_column headers_of[GROUP_KINDS] = {
	[GROUP_NUMBER] = { "group", OPK_CELL_UINT },
	[GROUP_NAME] = { "name", OPK_CELL_STRING },
	[GROUP_FILE] = { "file", OPK_CELL_STRING },
	[GROUP_METRIC] = { "metric", OPK_CELL_STRING },
	[GROUP_UNIT] = { "unit", OPK_CELL_STRING },
	[GROUP_COUNT] = { "count", OPK_CELL_UINT },
	[GROUP_SUM] = { "sum", OPK_CELL_DOUBLE },
	[GROUP_MEAN] = { "mean", OPK_CELL_DOUBLE },
	[GROUP_MIN] = { "min", OPK_CELL_DOUBLE },
	[GROUP_MAX] = { "max", OPK_CELL_DOUBLE },
	[GROUP_P50] = { "p50", OPK_CELL_DOUBLE },
	[GROUP_P90] = { "p90", OPK_CELL_DOUBLE },
	[GROUP_P99] = { "p99", OPK_CELL_DOUBLE },
	[GROUP_INFLATED] = { "inflated", OPK_CELL_BOOL },
};

/* Each metric has a count of its own. */
static bool is_of_groups(enum opk_fact fact)
{
	return fact >= OPK_FACT_KERNEL && fact <= OPK_FACT_DURATION && fact != OPK_FACT_SUMMED;
}

bool aggregate_column_find(struct aggregate_column *column, struct opk_column *header,
                           const char *name)
{
	struct aggregate_column found = { GROUP_FACT, OPK_FACT_COUNT };
	struct opk_column its_header = { 0 };

	for (enum aggregate_kind kind = 0; kind < GROUP_KINDS; kind++)
		if (headers_of[kind].name && !strcmp(headers_of[kind].name, name)) {
			found.kind = kind;
			its_header = headers_of[kind];
		}
	if (found.kind == GROUP_FACT) {
		if (!opk_fact_find(&found.fact, name, OPK_PROFILER_RANGE)
		    || !is_of_groups(found.fact))
			return false;
		its_header = *opk_fact_column(found.fact, OPK_PROFILER_RANGE);
	}
	if (column)
		*column = found;
	if (header)
		*header = its_header;
	return true;
}

/* The lists in the making; `headers` may be NULL. */
struct lists {
	struct aggregate_column *columns;
	struct opk_column *headers;
	size_t count;
};

static void add(struct lists *lists, enum aggregate_kind kind)
{
	lists->columns[lists->count] = (struct aggregate_column){ .kind = kind };
	lists->headers[lists->count++] = headers_of[kind];
}

static void add_facts(struct lists *lists, const bool *shown)
{
	for (enum opk_fact fact = 0; fact < OPK_FACT_COUNT; fact++) {
		if (!is_of_groups(fact) || (shown && !shown[fact]))
			continue;
		lists->columns[lists->count] = (struct aggregate_column){ GROUP_FACT, fact };
		lists->headers[lists->count++] = *opk_fact_column(fact, OPK_PROFILER_RANGE);
	}
}

static void add_kinds(struct lists *lists, enum aggregate_kind first, enum aggregate_kind last)
{
	for (enum aggregate_kind kind = first; kind <= last; kind++)
		add(lists, kind);
}

static bool has_kind(const struct lists *lists, enum aggregate_kind first, enum aggregate_kind last)
{
	for (size_t i = 0; i < lists->count; i++)
		if (lists->columns[i].kind >= first && lists->columns[i].kind <= last)
			return true;
	return false;
}

/* Names of values are rows, and what makes a row of them follows where it is not named. */
static void add_chosen(struct lists *lists, const struct eval_choice *choice)
{
	for (size_t i = 0; i < choice->count; i++)
		if (aggregate_column_find(&lists->columns[lists->count],
		                          &lists->headers[lists->count], choice->names[i]))
			lists->count++;
	for (enum aggregate_kind kind = GROUP_METRIC; kind <= GROUP_UNIT; kind++)
		if (!has_kind(lists, kind, kind))
			add(lists, kind);
	if (!has_kind(lists, GROUP_COUNT, GROUP_P99))
		add_kinds(lists, GROUP_COUNT, GROUP_P99);
}

size_t aggregate_columns_list(struct aggregate_column columns[AGGREGATE_COLUMNS],
                              struct opk_column headers[AGGREGATE_COLUMNS],
                              const struct eval_shape *shape)
{
	struct lists lists = { columns, headers, 0 };

	if (shape->choice.count) {
		add_chosen(&lists, &shape->choice);
		return lists.count;
	}
	add_kinds(&lists, GROUP_NUMBER, shape->file_count > 1 ? GROUP_FILE : GROUP_NAME);
	add_facts(&lists, shape->facts);
	add_kinds(&lists, GROUP_METRIC, shape->inflated ? GROUP_INFLATED : GROUP_P99);
	return lists.count;
}

size_t aggregate_columns_fixed(const char *out[AGGREGATE_COLUMNS])
{
	struct aggregate_column columns[AGGREGATE_COLUMNS];
	struct opk_column headers[AGGREGATE_COLUMNS];
	struct lists lists = { columns, headers, 0 };

	add_kinds(&lists, GROUP_NUMBER, GROUP_FILE);
	add_facts(&lists, NULL);
	add_kinds(&lists, GROUP_METRIC, GROUP_INFLATED);
	for (size_t i = 0; i < lists.count; i++)
		out[i] = headers[i].name;
	return lists.count;
}
