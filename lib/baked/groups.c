/* SPDX-License-Identifier: BSD-2-Clause */
/* Values of sums and means, found by the rows that they are of. */
#include <math.h>
#include <string.h>

#include "baked/baked_inside.h"

struct gathering {
	struct opk_ctx *ctx;
	const struct opk_value_groups *wanted;
	struct opk_value_table *out;
	struct opk_value_table *from;
	size_t *sizes;    /* rows of each wanted group */
	size_t *places;   /* one per wanted group: its entry in `from`, from 1; 0: it has none */
	size_t *found;    /* likewise: how many of its rows are in that entry */
	size_t *columns;  /* of `out`, one per metric; SIZE_MAX: an attribute */
	uint32_t *filled; /* metric by metric, one per group: the kind of the table; 0: not yet */
};

static void clear(struct gathering *g)
{
	free(g->sizes);
	free(g->places);
	free(g->found);
	free(g->columns);
	free(g->filled);
}

int opk_value_groups_begin(struct opk_value_table *table, struct opk_ctx *ctx,
                           const struct opk_value_groups *groups)
{
	uint64_t *numbers;

	*table = (struct opk_value_table){ .kind = groups->kind,
		                           .count = groups->group_count,
		                           .members = groups->row_count };
	TRY(opk_value_table_add(&numbers, table, ctx, OPK_VALUE_GROUP, NULL, NULL));
	for (size_t i = 0; i < groups->row_count; i++)
		numbers[i] = groups->group_of[i] == SIZE_MAX ? 0 : groups->group_of[i] + 1;
	return OPK_OK;
}

/* Finds for each group the entry that has all of its rows, and no others. */
static int find_places(struct gathering *g, const uint64_t *numbers)
{
	opk_autofree size_t *sizes = opk_alloc_array(g->from->count + 1, sizeof *sizes);

	if (!sizes)
		return opk_nomem(g->ctx, "values");
	memset(g->places, 0, g->wanted->group_count * sizeof *g->places);
	memset(g->found, 0, g->wanted->group_count * sizeof *g->found);
	for (size_t i = 0; i < g->wanted->row_count; i++) {
		size_t group = g->wanted->group_of[i], place = numbers[i];

		if (place)
			sizes[place - 1]++;
		if (group == SIZE_MAX || !place)
			continue;
		if (!g->places[group])
			g->places[group] = place;
		g->found[group] += g->places[group] == place;
	}
	for (size_t i = 0; i < g->wanted->group_count; i++)
		if (g->places[i]
		    && (g->found[i] != g->sizes[i] || sizes[g->places[i] - 1] != g->sizes[i]))
			g->places[i] = 0;
	return OPK_OK;
}

static int take_metric(struct gathering *g, size_t metric)
{
	const struct opk_value_column *column = opk_value_table_find(g->from, OPK_VALUE_METRIC,
	                                                             g->wanted->metrics[metric]);
	uint64_t *entries = g->out->columns[g->columns[metric]].entries;
	uint32_t *filled = g->filled + metric * g->wanted->group_count;

	if (!column)
		return OPK_OK;
	TRY(opk_value_column_need(g->from, g->ctx, column));
	for (size_t i = 0; i < g->wanted->group_count; i++)
		if (g->places[i] && !filled[i]) {
			entries[i] = column->entries[g->places[i] - 1];
			filled[i] = g->from->kind;
		}
	return OPK_OK;
}

/* Groups whose values are not of this kind of table have other remarks. */
static int take_remark(struct gathering *g, const struct opk_value_column *column)
{
	size_t metric = opk_texts_find(g->wanted->metrics, g->wanted->metric_count, column->name);
	const struct opk_value_column *old = opk_value_table_find_alike(g->out, column);
	const uint32_t *filled = g->filled + metric * g->wanted->group_count;
	uint64_t *entries;

	if (metric == g->wanted->metric_count)
		return OPK_OK;
	TRY(opk_value_column_need(g->from, g->ctx, column));
	if (old) {
		entries = old->entries;
	} else {
		TRY(opk_value_table_add(&entries, g->out, g->ctx, column->role, column->name,
		                        column->other));
		for (size_t i = 0; i < g->wanted->group_count; i++)
			entries[i] = opk_bits_of((double)NAN);
	}
	for (size_t i = 0; i < g->wanted->group_count; i++)
		if (g->places[i] && (!filled[i] || filled[i] == g->from->kind))
			entries[i] = column->entries[g->places[i] - 1];
	return OPK_OK;
}

/* A group of one row has that row's values. */
static void find_rows(struct gathering *g)
{
	memset(g->places, 0, g->wanted->group_count * sizeof *g->places);
	for (uint64_t i = 0; i < g->from->count; i++) {
		uint64_t row = g->from->first + i;
		size_t group = row < g->wanted->row_count ? g->wanted->group_of[row] : SIZE_MAX;

		if (group != SIZE_MAX && g->sizes[group] == 1)
			g->places[group] = i + 1;
	}
}

static int take_table(struct gathering *g)
{
	const struct opk_value_column *numbers = opk_value_table_find(g->from, OPK_VALUE_GROUP,
	                                                              NULL);

	if (g->from->kind == OPK_VALUES_OF_ROWS) {
		find_rows(g);
	} else if (numbers && g->from->members == g->wanted->row_count) {
		TRY(opk_value_column_need(g->from, g->ctx, numbers));
		TRY(find_places(g, numbers->entries));
	} else {
		return OPK_OK;
	}
	for (size_t i = 0; i < g->wanted->metric_count; i++)
		if (g->columns[i] != SIZE_MAX)
			TRY(take_metric(g, i));
	for (size_t i = 0; i < g->from->column_count; i++)
		if (g->from->columns[i].role >= OPK_VALUE_REMARK
		    && g->from->columns[i].role <= OPK_VALUE_LAST_REMARK)
			TRY(take_remark(g, &g->from->columns[i]));
	return OPK_OK;
}

static int add_column(struct gathering *g, size_t metric)
{
	const char *name = g->wanted->metrics[metric];
	uint64_t *entries;

	g->columns[metric] = opk_attribute_is_name(name) ? SIZE_MAX : g->out->column_count;
	if (g->columns[metric] == SIZE_MAX)
		return OPK_OK;
	return opk_value_table_add(&entries, g->out, g->ctx, OPK_VALUE_METRIC, name, NULL);
}

/* Columns have the units of the first table that has them. */
static int name_unit(struct gathering *g, size_t metric)
{
	struct opk_value_column *to;
	const struct opk_value_column *from;
	char *unit;

	if (g->columns[metric] == SIZE_MAX)
		return OPK_OK;
	to = &g->out->columns[g->columns[metric]];
	if (*to->other)
		return OPK_OK;
	from = opk_value_table_find(g->from, OPK_VALUE_METRIC, to->name);
	if (!from || !*from->other)
		return OPK_OK;
	unit = opk_strdup(from->other);
	if (!opk_strlist_take(&g->out->texts, unit))
		return opk_nomem(g->ctx, "values");
	to->other = unit;
	return OPK_OK;
}

static int allocate(struct gathering *g)
{
	size_t groups = g->wanted->group_count, metrics = g->wanted->metric_count;

	g->sizes = opk_alloc_array(groups + 1, sizeof *g->sizes);
	g->places = opk_alloc_array(groups + 1, sizeof *g->places);
	g->found = opk_alloc_array(groups + 1, sizeof *g->found);
	g->columns = opk_alloc_array(metrics + 1, sizeof *g->columns);
	g->filled = opk_alloc_array(groups * metrics + 1, sizeof *g->filled);
	if (!g->sizes || !g->places || !g->found || !g->columns || !g->filled)
		return opk_nomem(g->ctx, "values");
	for (size_t i = 0; i < g->wanted->row_count; i++)
		if (g->wanted->group_of[i] != SIZE_MAX)
			g->sizes[g->wanted->group_of[i]]++;
	for (size_t i = 0; i < metrics; i++)
		TRY(add_column(g, i));
	return OPK_OK;
}

static bool is_complete(const struct gathering *g)
{
	size_t groups = g->wanted->group_count;

	for (size_t i = 0; i < g->wanted->metric_count; i++)
		for (size_t j = 0; g->columns[i] != SIZE_MAX && j < groups; j++)
			if (!g->filled[i * groups + j])
				return false;
	return true;
}

static int take_tables(struct gathering *g, const struct opk_file *file, uint32_t kind)
{
	opk_autowalk struct opk_value_walk walk = { .ctx = g->ctx, .file = file, .kind = kind };

	for (bool found = true; found;) {
		opk_autovalues struct opk_value_table from = { 0 };

		TRY(opk_value_walk_next(&found, &from, &walk));
		if (!found)
			break;
		g->from = &from;
		TRY(take_table(g));
		for (size_t j = 0; j < g->wanted->metric_count; j++)
			TRY(name_unit(g, j));
	}
	return OPK_OK;
}

int opk_value_groups_gather(bool *found, struct opk_value_table *table, struct opk_ctx *ctx,
                            const struct opk_file *file, const struct opk_value_groups *wanted)
{
	__attribute__((cleanup(clear))) struct gathering g = { .ctx = ctx,
		                                               .wanted = wanted,
		                                               .out = table };

	table->kind = wanted->kind;
	table->count = wanted->group_count;
	TRY(allocate(&g));
	TRY(take_tables(&g, file, wanted->kind));
	if (!is_complete(&g))
		TRY(take_tables(&g, file, OPK_VALUES_OF_ROWS));
	*found = is_complete(&g);
	return OPK_OK;
}
