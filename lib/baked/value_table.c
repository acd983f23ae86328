/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads and writes VALS sections: values of rows, or of sums or means of rows. */
#include "baked/baked.h"

#include <string.h>

#include "base/utf8.h"
#include "baked/baked_inside.h"

enum {
	MOST_ENTRIES = 1 << 25, /* of a table: 256 MiB */
	MOST_COLUMNS = 1 << 20,
};
#define TEXTS_SHARED 0x80000000u

/* ---- tables ---------------------------------------------------------------------------------- */

void opk_value_table_clear(struct opk_value_table *table)
{
	for (size_t i = 0; i < table->column_count; i++)
		free(table->columns[i].entries);
	free(table->columns);
	opk_strlist_clear(&table->texts);
	opk_index_clear(&table->metrics);
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
	struct opk_buf texts, headers, columns;
	struct opk_strlist list;
	struct opk_index numbers; /* of the texts in the list */
	bool failed;
};

/* The number of a text in the section, from 1. */
static uint32_t number_of(struct encoder *e, const char *text)
{
	opk_autofree char *repaired = NULL;
	size_t number = e->list.count;

	if (!*text)
		return 0;
	if (opk_index_find(&number, &e->numbers, text))
		return (uint32_t)number + 1;
	repaired = opk_utf8_repair(text);
	if (repaired)
		opk_buf_add(&e->texts, repaired, strlen(repaired) + 1);
	if (!repaired || !opk_strlist_add(&e->list, text)
	    || !opk_index_add(&e->numbers, e->list.items[number], number, NULL))
		e->failed = true;
	return (uint32_t)number + 1;
}

/* Renumbers the table's texts as the section has them. */
static int renumber(uint64_t **out, struct encoder *e, const struct opk_value_column *column)
{
	uint64_t *numbers = *out = opk_alloc_array(e->table->count + 1, sizeof *numbers);

	if (!numbers)
		return opk_nomem(e->ctx, "values");
	for (size_t i = 0; i < e->table->count; i++)
		if (column->entries[i])
			numbers[i] = number_of(e, e->table->texts.items[column->entries[i] - 1]);
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
	uint32_t encoding = 0, name = number_of(e, column->name);

	opk_buf_add_u32(&e->headers, column->role);
	opk_buf_add_u32(&e->headers, name - e->name);
	e->name = name;
	opk_buf_add_u32(&e->headers, number_of(e, column->other));
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
	opk_buf_add_u32(out, (uint32_t)(e->list.count - shared) | (shared ? TEXTS_SHARED : 0));
	opk_buf_add_u32(out, (uint32_t)e->texts.size);
	opk_buf_add(out, e->texts.data, e->texts.size);
	opk_buf_add(out, e->headers.data, e->headers.size);
	opk_buf_add(out, e->columns.data, e->columns.size);
	out->failed |= e->failed || e->texts.failed || e->headers.failed || e->columns.failed;
}

static void clear(struct encoder *e)
{
	opk_relations_free(e->relations, e->table->column_count);
	free(e->order);
	opk_buf_clear(&e->texts);
	opk_buf_clear(&e->headers);
	opk_buf_clear(&e->columns);
	opk_strlist_clear(&e->list);
	opk_index_clear(&e->numbers);
}

static int know_texts(struct encoder *e)
{
	for (size_t i = 0; e->shared && i < e->shared->count; i++)
		if (!opk_strlist_add(&e->list, e->shared->items[i])
		    || !opk_index_add(&e->numbers, e->list.items[i], i, NULL))
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
		*texts = e.list;
		e.list = (struct opk_strlist){ 0 };
	}
	return OPK_OK;
}

/* ---- reading --------------------------------------------------------------------------------- */

struct decoder {
	struct opk_ctx *ctx;
	struct opk_value_table *table;
	struct opk_reader left;
	uint32_t columns, texts, text_bytes;
	uint32_t name; /* of the column before */
	bool shared;   /* its first texts are in the first table */
};

static int refuse(struct decoder *d, const char *problem)
{
	return opk_fail(d->ctx, OPK_EINPUT, "%s", problem);
}

static int read_head(struct decoder *d)
{
	struct opk_value_table *table = d->table;
	uint64_t longer;

	table->kind = opk_read_u32(&d->left);
	d->columns = opk_read_u32(&d->left);
	table->first = opk_read_u64(&d->left);
	table->count = opk_read_u64(&d->left);
	table->members = opk_read_u64(&d->left);
	d->texts = opk_read_u32(&d->left);
	d->shared = d->texts & TEXTS_SHARED;
	d->texts &= ~TEXTS_SHARED;
	d->text_bytes = opk_read_u32(&d->left);
	longer = table->count > table->members ? table->count : table->members;
	if (d->left.failed || d->text_bytes > d->left.left || d->texts > d->text_bytes)
		return refuse(d, "the table of values ends too early");
	if (d->columns > MOST_COLUMNS || longer > MOST_ENTRIES
	    || (d->columns && longer > MOST_ENTRIES / d->columns))
		return refuse(d, "a table of values has too many entries");
	if (table->first > UINT64_MAX - table->count)
		return refuse(d, "the number of a row is out of range");
	return OPK_OK;
}

static int read_texts(struct decoder *d)
{
	const char *at = opk_read_bytes(&d->left, d->text_bytes), *end = at + d->text_bytes;

	for (uint32_t i = 0; i < d->texts; i++) {
		size_t size = strnlen(at, (size_t)(end - at));

		if (at + size == end || !opk_utf8_valid(at))
			return refuse(d, "a text of the values is not whole, or not UTF-8");
		if (!opk_strlist_add(&d->table->texts, at))
			return opk_nomem(d->ctx, "values");
		at += size + 1;
	}
	return at == end ? OPK_OK : refuse(d, "the texts of the values are of another length");
}

/* Takes the texts of the first table, which come before its own. */
static int share_texts(struct decoder *d, const struct opk_file *file, size_t section)
{
	long first = opk_file_find(file, OPK_SECTION_VALUES);
	struct opk_value_table other = { 0 };
	struct decoder of = { .ctx = d->ctx, .table = &other };
	opk_autofree void *data = NULL;
	int code;

	if (!d->shared)
		return OPK_OK;
	if (first < 0 || (size_t)first >= section)
		return refuse(d, "the texts of a table of values are in one that is not there");
	TRY(opk_file_read(&data, &of.left.left, d->ctx, file, (size_t)first));
	of.left.data = data;
	code = read_head(&of);
	if (!code && of.shared)
		code = refuse(d, "the first table of values names an earlier one");
	if (!code)
		code = read_texts(&of);
	d->table->texts = other.texts;
	return code;
}

static int find_text(const char **out, struct decoder *d, uint32_t number)
{
	if (number > d->table->texts.count)
		return refuse(d, "a column of values names a text that is not there");
	*out = number ? d->table->texts.items[number - 1] : "";
	return OPK_OK;
}

static int read_column_head(struct decoder *d, struct opk_stored_column *stored)
{
	struct opk_value_column *column = &d->table->columns[d->table->column_count];

	column->role = opk_read_u32(&d->left);
	d->name += opk_read_u32(&d->left);
	TRY(find_text(&column->name, d, d->name));
	TRY(find_text(&column->other, d, opk_read_u32(&d->left)));
	stored->encoding = opk_read_u32(&d->left);
	stored->size = opk_read_u64(&d->left);
	if (d->left.failed)
		return refuse(d, "the table of values ends too early");
	d->table->column_count++;
	return OPK_OK;
}

/* Entries may be numbers of texts, or of entries of the table. */
static const char *check_entries(const struct opk_value_table *table,
                                 const struct opk_value_column *column)
{
	uint64_t count = opk_value_entries(table, column->role), most = UINT64_MAX;

	if (column->role == OPK_VALUE_NAME)
		most = table->texts.count;
	else if (column->role == OPK_VALUE_GROUP)
		most = table->count;
	for (uint64_t i = 0; i < count; i++)
		if (column->entries[i] > most)
			return column->role == OPK_VALUE_NAME
			               ? "a row's name is not among the texts of the values"
			               : "a row is in a sum that is not there";
	return NULL;
}

static int take_bytes(struct decoder *d, struct opk_stored_column *stored)
{
	stored->data = opk_read_bytes(&d->left, stored->size);
	return stored->data ? OPK_OK : refuse(d, "the table of values ends too early");
}

static int read_column(struct decoder *d, size_t i, const struct opk_stored_column *stored)
{
	struct opk_value_column *column = &d->table->columns[i];
	uint64_t count = opk_value_entries(d->table, column->role);
	const char *wrong;

	column->entries = opk_alloc_array(count + 1, sizeof *column->entries);
	if (!column->entries)
		return opk_nomem(d->ctx, "values");
	if (stored[i].encoding > OPK_ENCODED_DIFFERENCES && !opk_is_of_doubles(column->role))
		return refuse(d, "a column of whole numbers is computed from others");
	wrong = opk_column_decode(column->entries, count, stored, d->table->column_count, i);
	wrong = wrong ? wrong : check_entries(d->table, column);
	return wrong ? refuse(d, wrong) : OPK_OK;
}

/* A metric may have several remarks, each with its part. */
static int check_twice(struct decoder *d)
{
	opk_autoindex struct opk_index seen = { 0 };
	opk_autostrlist struct opk_strlist keys = { 0 };

	for (size_t i = 0; i < d->table->column_count; i++) {
		const struct opk_value_column *column = &d->table->columns[i];
		bool of_part = column->role >= OPK_VALUE_REMARK;
		char *key = opk_printf("%u %s %s", column->role, column->name,
		                       of_part ? column->other : "");

		if (!opk_strlist_take(&keys, key))
			return opk_nomem(d->ctx, "values");
		if (column->role != OPK_VALUE_HELP && opk_index_find(NULL, &seen, key))
			return refuse(d, "a column of values is there twice");
		if (!opk_index_add(&seen, key, i, NULL)
		    || (column->role == OPK_VALUE_METRIC
		        && !opk_index_add(&d->table->metrics, column->name, i, NULL)))
			return opk_nomem(d->ctx, "values");
	}
	return OPK_OK;
}

static int read_table(struct decoder *d, const struct opk_file *file, size_t section)
{
	opk_autofree struct opk_stored_column *stored = NULL;

	TRY(read_head(d));
	TRY(share_texts(d, file, section));
	TRY(read_texts(d));
	stored = opk_alloc_array(d->columns + 1, sizeof *stored);
	d->table->columns = opk_alloc_array(d->columns + 1, sizeof *d->table->columns);
	if (!stored || !d->table->columns)
		return opk_nomem(d->ctx, "values");
	for (uint32_t i = 0; i < d->columns; i++)
		TRY(read_column_head(d, &stored[i]));
	TRY(check_twice(d));
	for (uint32_t i = 0; i < d->columns; i++)
		TRY(take_bytes(d, &stored[i]));
	for (uint32_t i = 0; i < d->columns; i++)
		TRY(read_column(d, i, stored));
	return d->left.left ? refuse(d, "there is more after a table of values") : OPK_OK;
}

int opk_value_table_read(struct opk_value_table *table, struct opk_ctx *ctx,
                         const struct opk_file *file, size_t section)
{
	opk_autofree void *data = NULL;
	struct decoder d = { .ctx = ctx, .table = table };
	int code;

	TRY(opk_file_read(&data, &d.left.left, ctx, file, section));
	d.left.data = data;
	code = read_table(&d, file, section);
	if (code)
		opk_value_table_clear(table);
	return code == OPK_EINPUT ? opk_file_add_place(ctx, code, file, section) : code;
}

static int add_metrics(struct opk_strlist *out, struct opk_ctx *ctx,
                       const struct opk_value_table *table)
{
	for (size_t i = 0; i < table->column_count; i++)
		if (table->columns[i].role == OPK_VALUE_METRIC
		    && !opk_strlist_add(out, table->columns[i].name))
			return opk_nomem(ctx, "values");
	return OPK_OK;
}

/* All rows have the same metrics. */
int opk_value_row_metrics(struct opk_strlist *out, struct opk_ctx *ctx, const struct opk_file *file)
{
	for (size_t i = 0; i < file->section_count; i++) {
		opk_autovalues struct opk_value_table table = { 0 };

		if (file->sections[i].type != OPK_SECTION_VALUES)
			continue;
		TRY(opk_value_table_read(&table, ctx, file, i));
		if (table.kind == OPK_VALUES_OF_ROWS && !table.first)
			TRY(add_metrics(out, ctx, &table));
	}
	return OPK_OK;
}
