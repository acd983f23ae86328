/* SPDX-License-Identifier: BSD-2-Clause */
/* Takes the tables of a file that is being made, and leaves out what others say already. */
#include <math.h>
#include <string.h>

#include "baked/baked.h"

/* Rows in memory, to compare groups with. More than these are not compared. */
enum { MOST_KEPT = 1 << 22 };

void opk_sink_clear(struct opk_value_sink *sink)
{
	for (size_t i = 0; i < sink->rows.count; i++)
		opk_value_table_clear(&sink->rows.items[i]);
	free(sink->rows.items);
	opk_strlist_clear(&sink->names);
}

static int keep_rows(struct opk_value_sink *sink, struct opk_ctx *ctx,
                     const struct opk_value_table *table)
{
	struct opk_value_table *kept;

	sink->kept += table->count * table->column_count;
	if (sink->kept > MOST_KEPT)
		return OPK_OK;
	kept = opk_list_add(&sink->rows);
	if (!kept)
		return opk_nomem(ctx, "values");
	*kept = (struct opk_value_table){ .kind = table->kind,
		                          .first = table->first,
		                          .count = table->count };
	for (size_t i = 0; i < table->column_count; i++) {
		const struct opk_value_column *column = &table->columns[i];
		uint64_t *entries;

		TRY(opk_value_table_add(&entries, kept, ctx, column->role, column->name,
		                        column->other));
		memcpy(entries, column->entries, table->count * sizeof *entries);
	}
	return OPK_OK;
}

/* ---- groups of one row ------------------------------------------------------------------------ */

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

static const struct opk_value_column *find_alike(const struct opk_value_table *rows,
                                                 const struct opk_value_column *column)
{
	for (size_t i = 0; i < rows->column_count; i++)
		if (rows->columns[i].role == column->role
		    && !strcmp(rows->columns[i].name, column->name)
		    && !strcmp(rows->columns[i].other, column->other))
			return &rows->columns[i];
	return NULL;
}

/* A remark that no row has is as good as NaN. */
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
	const struct opk_value_column *of_rows = find_alike(rows, column);

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
			if (s->table->columns[i].role != OPK_VALUE_GROUP)
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
		return opk_writer_add_value_table(sink->writer, ctx, table);
	}
	TRY(strip(sink, ctx, table));
	return table->count ? opk_writer_add_value_table(sink->writer, ctx, table) : OPK_OK;
}
