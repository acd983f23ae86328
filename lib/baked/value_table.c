/* SPDX-License-Identifier: BSD-2-Clause */
/* Tables of values, of rows or of sums or means of rows, and how VALS sections are written. */
#include "baked/baked.h"

#include <string.h>

#include "baked/baked_inside.h"

/* ---- tables ---------------------------------------------------------------------------------- */

void opk_value_table_clear(struct opk_value_table *table)
{
	for (size_t i = 0; i < table->column_count; i++)
		free(table->columns[i].entries);
	free(table->columns);
	opk_strlist_clear(&table->texts);
	opk_index_clear(&table->metrics);
	opk_value_source_free(table->source);
	*table = (struct opk_value_table){ 0 };
}

const struct opk_value_column *opk_value_table_find(const struct opk_value_table *table,
                                                    uint32_t role, const char *name)
{
	size_t at;

	if (role == OPK_VALUE_METRIC && name && table->metrics.used)
		return opk_index_find(&at, &table->metrics, name) ? &table->columns[at] : NULL;
	for (size_t i = 0; i < table->column_count; i++)
		if (table->columns[i].role == role
		    && (!name || !strcmp(table->columns[i].name, name)))
			return &table->columns[i];
	return NULL;
}

const struct opk_value_column *opk_value_table_find_alike(const struct opk_value_table *table,
                                                          const struct opk_value_column *column)
{
	for (size_t i = 0; i < table->column_count; i++)
		if (table->columns[i].role == column->role
		    && !strcmp(table->columns[i].name, column->name)
		    && !strcmp(table->columns[i].other, column->other))
			return &table->columns[i];
	return NULL;
}

uint64_t opk_value_entries(const struct opk_value_table *table, uint32_t role)
{
	return role == OPK_VALUE_GROUP ? table->members : table->count;
}

/* Keeps a text, which moves neither when the list grows nor when others are added. */
static const char *keep(struct opk_value_table *table, const char *text)
{
	if (!text || !*text)
		return "";
	return opk_strlist_add(&table->texts, text) ? table->texts.items[table->texts.count - 1]
	                                            : NULL;
}

int opk_value_table_add(uint64_t **entries, struct opk_value_table *table, struct opk_ctx *ctx,
                        uint32_t role, const char *name, const char *other)
{
	struct opk_value_column *grown = opk_realloc_array(table->columns, table->column_count + 1,
	                                                   sizeof *grown);
	struct opk_value_column added = { .role = role };

	if (!grown)
		return opk_nomem(ctx, "values");
	table->columns = grown;
	added.name = keep(table, name);
	added.other = keep(table, other);
	added.entries = opk_alloc_array(opk_value_entries(table, role) + 1, sizeof *added.entries);
	grown[table->column_count++] = added;
	*entries = added.entries;
	return added.name && added.other && added.entries ? OPK_OK : opk_nomem(ctx, "values");
}

/* ---- writing --------------------------------------------------------------------------------- */

struct encoder {
	struct opk_ctx *ctx;
	const struct opk_strlist *shared; /* texts of the first table; or NULL */
	const struct opk_value_table *table;
	struct opk_relation *relations; /* one per column of the table */
	uint32_t *order;                /* likewise: its number in the section */
	uint32_t kept;                  /* columns in the section */
	uint32_t name;                  /* of the column before */
	struct opk_section_texts texts;
	struct opk_buf headers, columns;
};

/* Renumbers the table's texts as the section has them. */
static int renumber(uint64_t **out, struct encoder *e, const struct opk_value_column *column)
{
	uint64_t *numbers = *out = opk_alloc_array(e->table->count + 1, sizeof *numbers);

	if (!numbers)
		return opk_nomem(e->ctx, "values");
	for (size_t i = 0; i < e->table->count; i++)
		if (column->entries[i])
			numbers[i] = opk_section_texts_put(
				&e->texts, e->table->texts.items[column->entries[i] - 1]);
	return OPK_OK;
}

static int put_entries(uint32_t *encoding, struct encoder *e, size_t i)
{
	const struct opk_value_column *column = &e->table->columns[i];
	uint64_t count = opk_value_entries(e->table, column->role);
	opk_autofree uint64_t *numbers = NULL;

	*encoding = e->relations[i].encoding;
	if (*encoding)
		return opk_relation_put(&e->columns, e->ctx, &e->relations[i], e->order, count);
	*encoding = OPK_ENCODED_BITS;
	if (opk_is_of_doubles(column->role)) {
		opk_numbers_put(&e->columns, column->entries, count);
		return OPK_OK;
	}
	*encoding = OPK_ENCODED_DIFFERENCES;
	if (column->role == OPK_VALUE_NAME)
		TRY(renumber(&numbers, e, column));
	return opk_differences_put(&e->columns, e->ctx, numbers ? numbers : column->entries, count);
}

static int put_column(struct encoder *e, size_t i)
{
	const struct opk_value_column *column = &e->table->columns[i];
	size_t before = e->columns.size;
	uint32_t encoding = 0, name = opk_section_texts_put(&e->texts, column->name);

	opk_buf_add_u32(&e->headers, column->role);
	opk_buf_add_u32(&e->headers, name - e->name);
	e->name = name;
	opk_buf_add_u32(&e->headers, opk_section_texts_put(&e->texts, column->other));
	TRY(put_entries(&encoding, e, i));
	opk_buf_add_u32(&e->headers, encoding);
	opk_buf_add_u64(&e->headers, e->columns.size - before);
	return OPK_OK;
}

/* Numbers that help no other column are left out. */
static bool is_kept(const struct encoder *e, size_t i)
{
	return e->table->columns[i].role != OPK_VALUE_HELP
	       || (e->relations[i].used && e->relations[i].encoding == OPK_ENCODED_FRACTIONS);
}

static int put_columns(struct encoder *e)
{
	TRY(opk_relations_find(&e->relations, e->ctx, e->table));
	e->order = opk_alloc_array(e->table->column_count + 1, sizeof *e->order);
	if (!e->order)
		return opk_nomem(e->ctx, "values");
	for (size_t i = 0; i < e->table->column_count; i++)
		if (is_kept(e, i))
			e->order[i] = e->kept++;
	if (!opk_values_fit(e->kept, e->table->count, e->table->members, OPK_MOST_VALUES))
		return opk_fail(e->ctx, OPK_EFAILED,
		                "a table of values can't have %u columns of %ju entries", e->kept,
		                (uintmax_t)e->table->count);
	for (size_t i = 0; i < e->table->column_count; i++)
		if (is_kept(e, i))
			TRY(put_column(e, i));
	return OPK_OK;
}

static void put_together(struct opk_buf *out, const struct encoder *e)
{
	const struct opk_value_table *table = e->table;
	size_t shared = e->shared ? e->shared->count : 0;

	opk_buf_add_u32(out, table->kind);
	opk_buf_add_u32(out, e->kept);
	opk_buf_add_u64(out, table->first);
	opk_buf_add_u64(out, table->count);
	opk_buf_add_u64(out, table->members);
	opk_buf_add_u32(out,
	                (uint32_t)(e->texts.list.count - shared) | (shared ? OPK_TEXTS_SHARED : 0));
	opk_buf_add_u32(out, (uint32_t)e->texts.bytes.size);
	opk_buf_add(out, e->texts.bytes.data, e->texts.bytes.size);
	opk_buf_add(out, e->headers.data, e->headers.size);
	opk_buf_add(out, e->columns.data, e->columns.size);
	out->failed |= e->texts.failed || e->headers.failed || e->columns.failed;
}

static void clear(struct encoder *e)
{
	opk_relations_free(e->relations, e->table->column_count);
	free(e->order);
	opk_section_texts_clear(&e->texts);
	opk_buf_clear(&e->headers);
	opk_buf_clear(&e->columns);
}

static int know_texts(struct encoder *e)
{
	for (size_t i = 0; e->shared && i < e->shared->count; i++)
		if (!opk_strlist_add(&e->texts.list, e->shared->items[i])
		    || !opk_index_add(&e->texts.numbers, e->texts.list.items[i], i, NULL))
			return opk_nomem(e->ctx, "values");
	return OPK_OK;
}

int opk_value_table_write(struct opk_writer *writer, struct opk_ctx *ctx,
                          const struct opk_value_table *table, const struct opk_strlist *shared,
                          struct opk_strlist *texts)
{
	__attribute__((cleanup(clear))) struct encoder e = {
		.ctx = ctx,
		.table = table,
		.shared = shared && shared->count ? shared : NULL,
	};
	opk_autobuf struct opk_buf out = { 0 };

	TRY(know_texts(&e));
	TRY(put_columns(&e));
	put_together(&out, &e);
	TRY(opk_writer_add_buf(writer, OPK_SECTION_VALUES, &out, "values"));
	if (texts) {
		*texts = e.texts.list;
		e.texts.list = (struct opk_strlist){ 0 };
	}
	return OPK_OK;
}
