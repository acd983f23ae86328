/* SPDX-License-Identifier: BSD-2-Clause */
/* Takes the tables of a file that is being made, and leaves out what others say already. */
#include <math.h>
#include <string.h>

#include "baked/baked_inside.h"

/* Rows in memory, to compare groups with. More than these are not compared. */
enum { MOST_KEPT = 1 << 22 };

void opk_sink_clear(struct opk_value_sink *sink)
{
	for (size_t i = 0; i < sink->rows.count; i++)
		opk_value_table_clear(&sink->rows.items[i]);
	free(sink->rows.items);
	opk_value_table_clear(&sink->groups);
	opk_strlist_clear(&sink->names);
	opk_strlist_clear(&sink->texts);
}

static int copy(struct opk_value_table *kept, struct opk_ctx *ctx,
                const struct opk_value_table *table)
{
	*kept = (struct opk_value_table){ .kind = table->kind,
		                          .first = table->first,
		                          .count = table->count,
		                          .members = table->members };
	for (size_t i = 0; i < table->column_count; i++) {
		const struct opk_value_column *column = &table->columns[i];
		uint64_t *entries;

		TRY(opk_value_table_add(&entries, kept, ctx, column->role, column->name,
		                        column->other));
		memcpy(entries, column->entries,
		       opk_value_entries(table, column->role) * sizeof *entries);
	}
	return OPK_OK;
}

static int keep_rows(struct opk_value_sink *sink, struct opk_ctx *ctx,
                     const struct opk_value_table *table)
{
	struct opk_value_table *kept;

	sink->kept += table->count * table->column_count;
	if (sink->kept > MOST_KEPT)
		return OPK_OK;
	kept = opk_list_add(&sink->rows);
	return kept ? copy(kept, ctx, table) : opk_nomem(ctx, "values");
}

/* ---- groups of one row ----------------------------------------------------------------------- */

struct stripping {
	struct opk_value_table *table;
	const uint64_t *groups; /* its column of groups */
	size_t *rows;           /* of each entry: how many */
	size_t *row;            /* the last one */
	bool *same;             /* the entry has one row, and its values */
};

static void clear(struct stripping *s)
{
	free(s->rows);
	free(s->row);
	free(s->same);
}

/* A remark that the row's table lacks counts as NaN. */
static bool is_same(const struct opk_value_column *column, uint64_t entry,
                    const struct opk_value_column *of_rows, uint64_t row)
{
	if (of_rows)
		return column->entries[entry] == of_rows->entries[row];
	return column->role >= OPK_VALUE_REMARK && isnan(opk_double_of(column->entries[entry]));
}

static void compare_column(struct stripping *s, const struct opk_value_column *column,
                           const struct opk_value_table *rows)
{
	const struct opk_value_column *of_rows = opk_value_table_find_alike(rows, column);

	for (uint64_t i = 0; i < s->table->count; i++)
		if (s->same[i] && s->row[i] >= rows->first && s->row[i] - rows->first < rows->count)
			s->same[i] = is_same(column, i, of_rows, s->row[i] - rows->first);
}

static void compare(struct stripping *s, const struct opk_value_sink *sink)
{
	for (uint64_t i = 0; i < s->table->members; i++) {
		if (!s->groups[i])
			continue;
		s->rows[s->groups[i] - 1]++;
		s->row[s->groups[i] - 1] = i;
	}
	for (uint64_t i = 0; i < s->table->count; i++)
		s->same[i] = s->rows[i] == 1;
	for (size_t i = 0; i < s->table->column_count; i++)
		for (size_t j = 0; j < sink->rows.count; j++)
			if (s->table->columns[i].role != OPK_VALUE_GROUP
			    && s->table->columns[i].role != OPK_VALUE_HELP)
				compare_column(s, &s->table->columns[i], &sink->rows.items[j]);
}

static void remove_same(struct stripping *s, uint64_t *groups)
{
	uint64_t kept = 0;

	for (uint64_t i = 0; i < s->table->count; i++) {
		if (s->same[i])
			continue;
		for (size_t j = 0; j < s->table->column_count; j++)
			if (s->table->columns[j].role != OPK_VALUE_GROUP)
				s->table->columns[j].entries[kept] = s->table->columns[j]
				                                             .entries[i];
		s->row[i] = ++kept;
	}
	for (uint64_t i = 0; i < s->table->members; i++)
		if (groups[i])
			groups[i] = s->same[groups[i] - 1] ? 0 : s->row[groups[i] - 1];
	s->table->count = kept;
}

/* Readers take the values of a group of one row from that row. */
static int strip(struct opk_value_sink *sink, struct opk_ctx *ctx, struct opk_value_table *table)
{
	const struct opk_value_column *groups = opk_value_table_find(table, OPK_VALUE_GROUP, NULL);
	__attribute__((cleanup(clear))) struct stripping s = { .table = table };

	if (!groups || sink->kept > MOST_KEPT)
		return OPK_OK;
	s.groups = groups->entries;
	s.rows = opk_alloc_array(table->count + 1, sizeof *s.rows);
	s.row = opk_alloc_array(table->count + 1, sizeof *s.row);
	s.same = opk_alloc_array(table->count + 1, sizeof *s.same);
	if (!s.rows || !s.row || !s.same)
		return opk_nomem(ctx, "values");
	compare(&s, sink);
	remove_same(&s, groups->entries);
	return OPK_OK;
}

/* ---- the same groups twice ------------------------------------------------------------------- */

static bool are_same_groups(const struct opk_value_table *a, const struct opk_value_table *b)
{
	const struct opk_value_column *x = opk_value_table_find(a, OPK_VALUE_GROUP, NULL);
	const struct opk_value_column *y = opk_value_table_find(b, OPK_VALUE_GROUP, NULL);

	return a->kind == b->kind && a->count == b->count && a->members == b->members && x && y
	       && !memcmp(x->entries, y->entries, a->members * sizeof *x->entries);
}

/* Joined rows and statistics are means of the same ranges. */
static void drop_known(const struct opk_value_sink *sink, struct opk_value_table *table)
{
	size_t kept = 0;

	if (!are_same_groups(&sink->groups, table))
		return;
	for (size_t i = 0; i < table->column_count; i++) {
		struct opk_value_column *column = &table->columns[i];
		const struct opk_value_column *known = opk_value_table_find_alike(&sink->groups,
		                                                                  column);

		if (column->role == OPK_VALUE_METRIC && known
		    && !memcmp(column->entries, known->entries, table->count * sizeof(uint64_t)))
			free(column->entries);
		else
			table->columns[kept++] = *column;
	}
	table->column_count = kept;
}

/* ---- writing --------------------------------------------------------------------------------- */

/* How many columns of it a table may have. */
static size_t room_of(const struct opk_value_sink *sink, const struct opk_value_table *table)
{
	size_t room = table->column_count;

	while (room
	       && !opk_values_fit(room, table->count, table->members,
	                          sink->most ? sink->most : OPK_MOST_VALUES))
		room--;
	return room;
}

static int write_part(struct opk_value_sink *sink, struct opk_ctx *ctx,
                      const struct opk_value_table *part)
{
	bool first = !sink->any;

	sink->any = true;
	return opk_value_table_write(sink->writer, ctx, part, first ? NULL : &sink->texts,
	                             first ? &sink->texts : NULL);
}

/* Each part has the groups, and some of the other columns. */
static int write_parts(struct opk_value_sink *sink, struct opk_ctx *ctx,
                       const struct opk_value_table *table)
{
	const struct opk_value_column *groups = opk_value_table_find(table, OPK_VALUE_GROUP, NULL);
	opk_autofree struct opk_value_column *columns = opk_alloc_array(table->column_count + 1,
	                                                                sizeof *columns);
	size_t room = room_of(sink, table), next = 0;

	if (!columns)
		return opk_nomem(ctx, "values");
	if (room <= (groups ? 1 : 0))
		room = table->column_count;
	do {
		struct opk_value_table part = *table;

		part.columns = columns;
		part.column_count = 0;
		if (groups)
			columns[part.column_count++] = *groups;
		for (; next < table->column_count && part.column_count < room; next++)
			if (&table->columns[next] != groups)
				columns[part.column_count++] = table->columns[next];
		TRY(write_part(sink, ctx, &part));
	} while (next < table->column_count);
	return OPK_OK;
}

static int add_groups(struct opk_value_sink *sink, struct opk_ctx *ctx,
                      struct opk_value_table *table)
{
	bool any;

	TRY(strip(sink, ctx, table));
	drop_known(sink, table);
	any = opk_value_table_find(table, OPK_VALUE_METRIC, NULL) && table->count;
	if (!any || table->members > MOST_KEPT)
		return any ? write_parts(sink, ctx, table) : OPK_OK;
	/* Tables of sums may come between two tables of means: keep the means. */
	if (table->kind == OPK_VALUES_OF_MEANS) {
		opk_value_table_clear(&sink->groups);
		TRY(copy(&sink->groups, ctx, table));
	}
	return write_parts(sink, ctx, table);
}

int opk_sink_add(struct opk_value_sink *sink, struct opk_ctx *ctx, struct opk_value_table *table)
{
	for (size_t i = 0; i < table->column_count; i++) {
		const struct opk_value_column *column = &table->columns[i];

		if (column->role == OPK_VALUE_METRIC
		    && !opk_strlist_contains(&sink->names, column->name)
		    && !opk_strlist_add(&sink->names, column->name))
			return opk_nomem(ctx, "values");
	}
	if (table->kind == OPK_VALUES_OF_ROWS) {
		TRY(keep_rows(sink, ctx, table));
		return write_parts(sink, ctx, table);
	}
	return add_groups(sink, ctx, table);
}

bool opk_sink_helps(const struct opk_value_sink *sink, const char *metric)
{
	return opk_texts_contain(sink->helpers, sink->helper_count, metric);
}
