/* SPDX-License-Identifier: BSD-2-Clause */
/* The columns of a table as an Arrow schema: names, types and metadata. */
#include <string.h>

#include "arrow/arrow_inside.h"
#include "base/utf8.h"

/* What a schema owns. Its children are in one allocation; consumers may move them out of it. */
struct held {
	char *name;
	struct opk_buf metadata;
	struct ArrowSchema *children, **pointers;
	struct ArrowSchema dictionary;
};

static void release(struct ArrowSchema *schema)
{
	struct held *held = schema->private_data;

	for (int64_t i = 0; i < schema->n_children; i++)
		if (held->children[i].release)
			held->children[i].release(&held->children[i]);
	if (held->dictionary.release)
		held->dictionary.release(&held->dictionary);
	free(held->children);
	free(held->pointers);
	free(held->name);
	opk_buf_clear(&held->metadata);
	free(held);
	*schema = (struct ArrowSchema){ 0 };
}

static bool begin(struct ArrowSchema *out, const char *format, const char *name)
{
	struct held *held = opk_alloc(sizeof *held);

	*out = (struct ArrowSchema){ 0 };
	if (!held)
		return false;
	*out = (struct ArrowSchema){
		.format = format,
		.flags = ARROW_FLAG_NULLABLE,
		.release = release,
		.private_data = held,
	};
	held->name = opk_utf8_repair(name);
	out->name = held->name;
	return held->name != NULL;
}

/* ---- metadata: a count of pairs, then texts, each after its length; numbers are native int32 */

static void add_int(struct opk_buf *metadata, size_t number)
{
	int32_t value = (int32_t)number;

	opk_buf_add(metadata, &value, sizeof value);
}

static void add_pair(struct opk_buf *metadata, const char *key, const char *value)
{
	opk_autofree char *repaired = opk_utf8_repair(value);

	metadata->failed |= !repaired;
	add_int(metadata, strlen(key));
	opk_buf_add_text(metadata, key);
	add_int(metadata, repaired ? strlen(repaired) : 0);
	opk_buf_add_text(metadata, repaired ? repaired : "");
}

static bool put_unit(struct ArrowSchema *schema, const char *unit)
{
	struct held *held = schema->private_data;

	if (!unit || !*unit)
		return true;
	add_int(&held->metadata, 1);
	add_pair(&held->metadata, "unit", unit);
	schema->metadata = (const char *)held->metadata.data;
	return !held->metadata.failed;
}

static bool put_about(struct ArrowSchema *schema, const struct opk_property *about, size_t count)
{
	struct held *held = schema->private_data;

	add_int(&held->metadata, count + 1);
	add_pair(&held->metadata, "offpeak", opk_version());
	for (size_t i = 0; i < count; i++)
		add_pair(&held->metadata, about[i].name, about[i].value);
	schema->metadata = (const char *)held->metadata.data;
	return !held->metadata.failed;
}

/* ---- columns */

enum opk_arrow_type opk_arrow_type_of(const struct opk_table_column *column)
{
	switch (column->header.type) {
	case OPK_CELL_UINT:
	case OPK_CELL_OPTIONAL:
		return OPK_ARROW_INT;
	case OPK_CELL_BOOL:
	case OPK_CELL_OPTIONAL_BOOL:
		return OPK_ARROW_BOOL;
	case OPK_CELL_DOUBLE:
		return OPK_ARROW_DOUBLE;
	default:
		return OPK_ARROW_TEXT;
	}
}

static bool put_column(struct ArrowSchema *out, const struct opk_table_column *column)
{
	static const char *const formats[] = {
		[OPK_ARROW_TEXT] = "i", /* indices of 32 bits into texts */
		[OPK_ARROW_INT] = "l",  /* signed: a difference may be negative */
		[OPK_ARROW_BOOL] = "b",
		[OPK_ARROW_DOUBLE] = "g",
	};
	enum opk_arrow_type type = opk_arrow_type_of(column);
	struct held *held;

	if (!begin(out, formats[type], column->header.name) || !put_unit(out, column->unit))
		return false;
	held = out->private_data;
	if (type != OPK_ARROW_TEXT)
		return true;
	out->dictionary = &held->dictionary;
	return begin(out->dictionary, "u", "");
}

static bool put_columns(struct ArrowSchema *out, const struct opk_table_column *columns,
                        size_t count)
{
	struct held *held = out->private_data;

	held->children = opk_alloc_array(count + 1, sizeof *held->children);
	held->pointers = opk_alloc_array(count + 1, sizeof *held->pointers);
	if (!held->children || !held->pointers)
		return false;
	out->children = held->pointers;
	for (size_t i = 0; i < count; i++) {
		held->pointers[i] = &held->children[i];
		out->n_children++;
		if (!put_column(&held->children[i], &columns[i]))
			return false;
	}
	return true;
}

bool opk_arrow_schema(struct ArrowSchema *out, const struct opk_table_column *columns, size_t count,
                      const struct opk_property *about, size_t about_count)
{
	bool good = begin(out, "+s", "") && put_about(out, about, about_count)
	            && put_columns(out, columns, count);

	out->flags = 0;
	if (!good && out->release)
		out->release(out);
	return good;
}
