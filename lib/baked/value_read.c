/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads VALS sections: first what a table has, and the entries of columns when they are needed. */
#include <stdint.h>
#include <string.h>

#include "base/number_text.h"
#include "base/utf8.h"
#include "baked/baked_inside.h"

struct opk_value_source {
	const struct opk_file *file;
	size_t section;
	void *data;
	struct opk_reader left;
	uint32_t columns, texts, text_bytes;
	uint32_t name;                   /* of the column before */
	bool shared;                     /* its first texts are in the first table */
	const struct opk_strlist *first; /* these texts; or NULL */
	struct opk_stored_column *stored;
};

/* The texts of a file's first table. Earlier files of a joint one still need theirs. */
struct opk_value_texts {
	struct opk_value_texts *before;
	size_t part;
	struct opk_strlist list;
};

void opk_value_source_free(struct opk_value_source *source)
{
	if (!source)
		return;
	free(source->data);
	free(source->stored);
	free(source);
}

static int refuse(struct opk_ctx *ctx, const char *problem)
{
	return opk_fail(ctx, OPK_EINPUT, "%s", problem);
}

/* ---- the head -------------------------------------------------------------------------------- */

/* A reader passes over tables and columns of other kinds, which a later offpeak may write. */
static bool is_known_kind(uint32_t kind)
{
	return kind >= OPK_VALUES_OF_ROWS && kind <= OPK_VALUES_OF_MEANS;
}

static bool is_known_role(uint32_t role)
{
	return (role >= OPK_VALUE_METRIC && role <= OPK_VALUE_HELP)
	       || (role >= OPK_VALUE_REMARK && role <= OPK_VALUE_LAST_REMARK);
}

static int read_head(struct opk_value_table *table, struct opk_ctx *ctx)
{
	struct opk_value_source *s = table->source;

	table->kind = opk_read_u32(&s->left);
	s->columns = opk_read_u32(&s->left);
	table->first = opk_read_u64(&s->left);
	table->count = opk_read_u64(&s->left);
	table->members = opk_read_u64(&s->left);
	s->texts = opk_read_u32(&s->left);
	s->shared = s->texts & OPK_TEXTS_SHARED;
	s->texts &= ~OPK_TEXTS_SHARED;
	s->text_bytes = opk_read_u32(&s->left);
	if (!s->left.failed && !is_known_kind(table->kind))
		return OPK_OK;
	if (s->left.failed || s->text_bytes > s->left.left || s->texts > s->text_bytes)
		return refuse(ctx, "the table of values ends too early");
	if (!opk_values_fit(s->columns, table->count, table->members, OPK_MOST_VALUES))
		return refuse(ctx, "a table of values has too many entries");
	if (table->first > UINT64_MAX - table->count)
		return refuse(ctx, "the number of a row is out of range");
	return OPK_OK;
}

static int begin(struct opk_value_table *table, struct opk_ctx *ctx, const struct opk_file *file,
                 size_t section)
{
	struct opk_value_source *s = table->source = opk_alloc(sizeof *s);

	if (!s)
		return opk_nomem(ctx, "values");
	s->file = file;
	s->section = section;
	table->part = file->sections[section].part;
	TRY(opk_file_read(&s->data, &s->left.left, ctx, file, section));
	s->left.data = s->data;
	return read_head(table, ctx);
}

/* ---- texts ----------------------------------------------------------------------------------- */

static int read_texts(struct opk_value_table *table, struct opk_ctx *ctx)
{
	struct opk_value_source *s = table->source;
	const char *at = opk_read_bytes(&s->left, s->text_bytes), *end = at + s->text_bytes;

	for (uint32_t i = 0; i < s->texts; i++) {
		size_t size = strnlen(at, (size_t)(end - at));

		if (at + size == end || !opk_utf8_valid(at))
			return refuse(ctx, "a text of the values is not whole, or not UTF-8");
		if (!opk_strlist_add(&table->texts, at))
			return opk_nomem(ctx, "values");
		at += size + 1;
	}
	return at == end ? OPK_OK : refuse(ctx, "the texts of the values are of another length");
}

static int read_first_texts(struct opk_value_walk *walk, size_t first)
{
	opk_autovalues struct opk_value_table table = { 0 };
	struct opk_value_texts *texts;

	TRY(begin(&table, walk->ctx, walk->file, first));
	if (!is_known_kind(table.kind))
		return refuse(walk->ctx, "the first table of values is of a kind without texts");
	if (table.source->shared)
		return refuse(walk->ctx, "the first table of values names an earlier one");
	TRY(read_texts(&table, walk->ctx));
	texts = opk_alloc(sizeof *texts);
	if (!texts)
		return opk_nomem(walk->ctx, "values");
	*texts = (struct opk_value_texts){ walk->texts, table.part, table.texts };
	table.texts = (struct opk_strlist){ 0 };
	walk->texts = texts;
	return OPK_OK;
}

/* The first table of the same file. */
static size_t find_first(const struct opk_value_table *table, const struct opk_file *file)
{
	size_t i = 0;

	while (file->sections[i].type != OPK_SECTION_VALUES
	       || file->sections[i].part != table->part)
		i++;
	return i;
}

/* Takes the texts of the first table, which come before the table's own. */
static int share_texts(struct opk_value_table *table, struct opk_value_walk *walk)
{
	size_t first;

	if (!table->source->shared)
		return OPK_OK;
	first = find_first(table, walk->file);
	if (first == table->source->section)
		return refuse(walk->ctx,
		              "the texts of a table of values are in one that is not there");
	if (!walk->texts || walk->texts->part != table->part)
		TRY(read_first_texts(walk, first));
	table->source->first = &walk->texts->list;
	return OPK_OK;
}

static uint64_t count_texts(const struct opk_value_table *table)
{
	const struct opk_strlist *first = table->source->first;

	return table->texts.count + (first ? first->count : 0);
}

const char *opk_value_table_text(const struct opk_value_table *table, uint64_t number)
{
	const struct opk_strlist *first = table->source->first;
	uint64_t shared = first ? first->count : 0;

	if (!number)
		return "";
	return number <= shared ? first->items[number - 1]
	                        : table->texts.items[number - shared - 1];
}

/* ---- what columns there are ------------------------------------------------------------------ */

static int find_text(const char **out, const struct opk_value_table *table, struct opk_ctx *ctx,
                     uint32_t number)
{
	if (number > count_texts(table))
		return refuse(ctx, "a column of values names a text that is not there");
	*out = opk_value_table_text(table, number);
	return OPK_OK;
}

static int read_column_head(struct opk_value_table *table, struct opk_ctx *ctx)
{
	struct opk_value_column *column = &table->columns[table->column_count];
	struct opk_value_source *s = table->source;
	struct opk_stored_column *stored = &s->stored[table->column_count];
	uint32_t other;

	column->role = opk_read_u32(&s->left);
	s->name += opk_read_u32(&s->left);
	other = opk_read_u32(&s->left);
	stored->encoding = opk_read_u32(&s->left);
	stored->size = opk_read_u64(&s->left);
	if (s->left.failed)
		return refuse(ctx, "the table of values ends too early");
	column->name = column->other = "";
	if (is_known_role(column->role)) {
		TRY(find_text(&column->name, table, ctx, s->name));
		TRY(find_text(&column->other, table, ctx, other));
	}
	table->column_count++;
	return OPK_OK;
}

/* A metric may have several remarks, each with its part. */
static int check_twice(struct opk_value_table *table, struct opk_ctx *ctx)
{
	opk_autoindex struct opk_index seen = { 0 };
	opk_autostrlist struct opk_strlist keys = { 0 };

	for (size_t i = 0; i < table->column_count; i++) {
		const struct opk_value_column *column = &table->columns[i];
		bool of_part = column->role >= OPK_VALUE_REMARK;
		char *key;

		if (column->role == OPK_VALUE_HELP || !is_known_role(column->role))
			continue;
		key = opk_printf("%u %s %s", column->role, column->name,
		                 of_part ? column->other : "");
		if (!opk_strlist_take(&keys, key))
			return opk_nomem(ctx, "values");
		if (opk_index_find(NULL, &seen, key))
			return refuse(ctx, "a column of values is there twice");
		if (!opk_index_add(&seen, key, i, NULL)
		    || (column->role == OPK_VALUE_METRIC
		        && !opk_index_add(&table->metrics, column->name, i, NULL)))
			return opk_nomem(ctx, "values");
	}
	return OPK_OK;
}

static int take_bytes(struct opk_value_source *s, struct opk_ctx *ctx,
                      struct opk_stored_column *stored)
{
	stored->data = opk_read_bytes(&s->left, stored->size);
	return stored->data ? OPK_OK : refuse(ctx, "the table of values ends too early");
}

/* All that a table says, without its entries. */
static int read_columns(struct opk_value_table *table, struct opk_value_walk *walk)
{
	struct opk_value_source *s = table->source;
	struct opk_ctx *ctx = walk->ctx;

	TRY(share_texts(table, walk));
	TRY(read_texts(table, ctx));
	s->stored = opk_alloc_array(s->columns + 1, sizeof *s->stored);
	table->columns = opk_alloc_array(s->columns + 1, sizeof *table->columns);
	if (!s->stored || !table->columns)
		return opk_nomem(ctx, "values");
	for (uint32_t i = 0; i < s->columns; i++)
		TRY(read_column_head(table, ctx));
	TRY(check_twice(table, ctx));
	for (uint32_t i = 0; i < s->columns; i++)
		TRY(take_bytes(s, ctx, &s->stored[i]));
	return s->left.left ? refuse(ctx, "there is more after a table of values") : OPK_OK;
}

/* ---- entries --------------------------------------------------------------------------------- */

/* Entries may be numbers of texts, or of entries of the table. */
static const char *check_entries(const struct opk_value_table *table, uint32_t role,
                                 const uint64_t *entries)
{
	uint64_t count = opk_value_entries(table, role), most = UINT64_MAX;

	if (role == OPK_VALUE_NAME)
		most = count_texts(table);
	else if (role == OPK_VALUE_GROUP)
		most = table->count;
	for (uint64_t i = 0; most < UINT64_MAX && i < count; i++)
		if (entries[i] > most)
			return role == OPK_VALUE_NAME
			               ? "a row's name is not among the texts of the values"
			               : "a row is in a sum that is not there";
	return NULL;
}

static int decode(struct opk_value_table *table, struct opk_ctx *ctx, size_t i)
{
	const struct opk_stored_column *stored = table->source->stored;
	uint32_t role = table->columns[i].role;
	uint64_t count = opk_value_entries(table, role);
	opk_autofree uint64_t *entries = opk_alloc_array(count + 1, sizeof *entries);
	opk_autofree int64_t *scratch = NULL;
	const char *wrong;

	if (stored[i].encoding == OPK_ENCODED_QUOTIENT)
		scratch = opk_alloc_array(count + 1, sizeof *scratch);
	if (!entries || (stored[i].encoding == OPK_ENCODED_QUOTIENT && !scratch))
		return opk_nomem(ctx, "values");
	if (stored[i].encoding > OPK_ENCODED_DIFFERENCES && !opk_is_of_doubles(role))
		return refuse(ctx, "a column of whole numbers is computed from others");
	wrong = opk_column_decode(entries, scratch, count, stored, table->column_count, i);
	wrong = wrong ? wrong : check_entries(table, role, entries);
	if (wrong)
		return refuse(ctx, wrong);
	table->columns[i].entries = opk_take(entries);
	return opk_check_interrupt(ctx);
}

int opk_value_column_need(struct opk_value_table *table, struct opk_ctx *ctx,
                          const struct opk_value_column *column)
{
	int code = OPK_OK;

	if (!column->entries)
		code = decode(table, ctx, (size_t)(column - table->columns));
	return code == OPK_EINPUT
	               ? opk_file_add_place(ctx, code, table->source->file, table->source->section)
	               : code;
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* As many as RNGS or TIME may have, because a table without columns needs no bytes for its rows. */
static uint64_t most_rows(const struct opk_file *file)
{
	return opk_file_find(file, OPK_SECTION_TIMES) >= 0 ? (1U << 22) + 2 * file->size
	                                                   : (1U << 19) + file->size / 4;
}

/* Counts before anything is decoded. */
static int count_entries(struct opk_value_walk *walk, const struct opk_value_table *table)
{
	uint64_t most = (UINT64_C(1) << 27) + 512 * walk->file->size;

	walk->entries += table->count * table->source->columns + table->members;
	if (walk->entries <= most)
		return OPK_OK;
	return refuse(walk->ctx, "the values are more than a file of this size can have");
}

/*
 * Tables come in the order of their rows; several of the same rows have different columns. Rows of
 * a joint file are counted over all of its files.
 */
static int check_rows(struct opk_value_walk *walk, struct opk_value_table *table)
{
	bool too_large;

	if (table->kind != OPK_VALUES_OF_ROWS)
		return OPK_OK;
	if (table->part != walk->part) {
		walk->part = table->part;
		walk->before = walk->after;
		walk->any = false;
	}
	too_large = __builtin_add_overflow(table->first, walk->before, &table->first);
	if (walk->any && table->first == walk->first) {
		uint64_t before = walk->after - walk->first;

		return table->count == before
		               ? OPK_OK
		               : opk_fail(walk->ctx, OPK_EINPUT,
		                          "it has %ju row%s, and the table before it, which begins "
		                          "with the same row, has %ju",
		                          (uintmax_t)table->count, opk_plural(table->count),
		                          (uintmax_t)before);
	}
	if (too_large || table->first != walk->after)
		return refuse(walk->ctx, "its rows do not follow those before it");
	walk->any = true;
	walk->first = table->first;
	walk->after = table->first + table->count;
	if (walk->after <= most_rows(walk->file))
		return OPK_OK;
	return refuse(walk->ctx, "it has more rows than a file of this size can have");
}

static int read_section(bool *found, struct opk_value_table *table, struct opk_value_walk *walk)
{
	*found = false;
	TRY(begin(table, walk->ctx, walk->file, walk->section));
	if (!is_known_kind(table->kind))
		return OPK_OK;
	TRY(count_entries(walk, table));
	TRY(check_rows(walk, table));
	*found = table->kind == walk->kind;
	return *found ? read_columns(table, walk) : OPK_OK;
}

int opk_value_walk_next(bool *found, struct opk_value_table *table, struct opk_value_walk *walk)
{
	int code;

	*found = false;
	while (!*found && walk->next < walk->file->section_count) {
		walk->section = walk->next++;
		if (walk->file->sections[walk->section].type != OPK_SECTION_VALUES)
			continue;
		TRY(opk_check_interrupt(walk->ctx));
		code = read_section(found, table, walk);
		if (!*found || code)
			opk_value_table_clear(table);
		if (code)
			return code == OPK_EINPUT ? opk_file_add_place(walk->ctx, code, walk->file,
			                                               walk->section)
			                          : code;
	}
	return OPK_OK;
}

void opk_value_walk_clear(struct opk_value_walk *walk)
{
	while (walk->texts) {
		struct opk_value_texts *texts = walk->texts;

		walk->texts = texts->before;
		opk_strlist_clear(&texts->list);
		free(texts);
	}
}

/* Whether a column is stored in a way that this offpeak knows. */
static bool is_known_column(const struct opk_value_table *table, size_t i)
{
	uint32_t encoding = table->source->stored[i].encoding;

	return is_known_role(table->columns[i].role) && encoding >= OPK_ENCODED_BITS
	       && encoding <= OPK_ENCODED_QUOTIENT;
}

static int check_section(struct opk_value_table *table, struct opk_value_walk *walk)
{
	TRY(begin(table, walk->ctx, walk->file, walk->section));
	if (!is_known_kind(table->kind))
		return OPK_OK;
	TRY(read_columns(table, walk));
	for (size_t i = 0; i < table->column_count; i++) {
		if (!is_known_column(table, i))
			continue;
		TRY(decode(table, walk->ctx, i));
		free(opk_take(table->columns[i].entries));
	}
	return OPK_OK;
}

int opk_value_table_check(struct opk_ctx *ctx, const struct opk_file *file, size_t section)
{
	opk_autowalk struct opk_value_walk walk = { .ctx = ctx, .file = file, .section = section };
	opk_autovalues struct opk_value_table table = { 0 };
	int code = check_section(&table, &walk);

	return code == OPK_EINPUT ? opk_file_add_place(ctx, code, file, section) : code;
}

int opk_value_tables_check(size_t *bad, struct opk_ctx *ctx, const struct opk_file *file)
{
	opk_autowalk struct opk_value_walk walk = { .ctx = ctx, .file = file };
	opk_auto(opk_baked_file) struct opk_baked_file *baked = NULL;
	struct opk_value_table table = { 0 };
	uint64_t rows = 0;
	bool found;
	int code = opk_value_walk_next(&found, &table, &walk);

	*bad = walk.section;
	TRY(code);
	TRY(opk_baked_open(&baked, ctx, file));
	for (size_t i = 0; baked && i < opk_baked_get(baked)->image_count; i++)
		rows += opk_baked_get(baked)->images[i].rows;
	if (!baked || !walk.any || walk.after == rows)
		return OPK_OK;
	return opk_fail(ctx, OPK_EINPUT, "the values are of %ju rows, and the images have %ju",
	                (uintmax_t)walk.after, (uintmax_t)rows);
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
	opk_autowalk struct opk_value_walk walk = { .ctx = ctx,
		                                    .file = file,
		                                    .kind = OPK_VALUES_OF_ROWS };

	for (bool found = true; found;) {
		opk_autovalues struct opk_value_table table = { 0 };

		TRY(opk_value_walk_next(&found, &table, &walk));
		if (found && !table.first)
			TRY(add_metrics(out, ctx, &table));
	}
	return OPK_OK;
}
