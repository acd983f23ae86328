/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The KERN sections: what ran on the GPU and when, and ranges of the program. Columns, each with
 * its number and width, so that one of a later version can be skipped.
 */
#include <string.h>

#include "base/utf8.h"
#include "container/container.h"

enum { MAX_COLUMNS = 64 };

/* How a member of a record becomes a number of its column; 0 where nothing is known. */
enum coding {
	NUMBER,
	INDEX,      /* the column has the index from 0, plus 1: 0 is the unknown index -1 */
	TEXT,       /* the number of a text of the section, from 1 */
	DIFFERENCE, /* from the record before */
	LENGTH,     /* end, less start; 0 where a clock went back in between */
};

struct column {
	uint32_t id; /* docs/format.md */
	uint32_t width;
	enum coding coding;
	size_t offset;
};

#define COLUMN(id, coding, member)                                                                 \
	{                                                                                          \
		id, (coding) == TEXT ? 4 : sizeof(((struct opk_activity *)0)->member), coding,     \
			offsetof(struct opk_activity, member)                                      \
	}
static const struct column columns[] = {
	COLUMN(1, NUMBER, kind),
	COLUMN(2, TEXT, name),
	COLUMN(3, TEXT, symbol),
	COLUMN(4, DIFFERENCE, start_ns),
	COLUMN(5, LENGTH, end_ns),
	COLUMN(6, INDEX, device),
	COLUMN(7, NUMBER, context),
	COLUMN(8, NUMBER, stream),
	COLUMN(9, DIFFERENCE, correlation),
	COLUMN(10, NUMBER, graph_node),
	COLUMN(11, NUMBER, bytes),
	COLUMN(12, NUMBER, thread),
	COLUMN(13, NUMBER, grid[0]),
	COLUMN(14, NUMBER, grid[1]),
	COLUMN(15, NUMBER, grid[2]),
	COLUMN(16, NUMBER, block[0]),
	COLUMN(17, NUMBER, block[1]),
	COLUMN(18, NUMBER, block[2]),
	COLUMN(19, NUMBER, registers),
	COLUMN(20, NUMBER, static_shared_bytes),
	COLUMN(21, NUMBER, shared_bytes),
	COLUMN(22, NUMBER, process),
	COLUMN(23, INDEX, rank),
	COLUMN(24, TEXT, host),
	COLUMN(25, TEXT, gpu),
};
enum { COLUMNS = sizeof columns / sizeof *columns };

_Static_assert(sizeof(struct opk_activity) <= OPK_ACTIVITY_WEIGHT, "");
_Static_assert(sizeof(((struct opk_activity *)0)->kind) == 4, "");

static void *member_of(const struct opk_activity *activity, const struct column *column)
{
	return (char *)activity + column->offset;
}

static uint64_t get(const struct opk_activity *activity, const struct column *column)
{
	const void *member = member_of(activity, column);

	return column->width == 8 ? *(const uint64_t *)member : *(const uint32_t *)member;
}

static void set(struct opk_activity *activity, const struct column *column, uint64_t value)
{
	void *member = member_of(activity, column);

	if (column->width == 8)
		*(uint64_t *)member = value;
	else
		*(uint32_t *)member = (uint32_t)value;
}

/* ---- writing ---------------------------------------------------------------------------- */

struct encoder {
	struct opk_buf columns[COLUMNS];
	bool used[COLUMNS]; /* not all zero */
	struct opk_buf texts;
	struct opk_strlist list;
	struct opk_index numbers; /* of the texts in the list */
	bool failed;
};

/* The number of a text in the section, from 1. Bytes that are not UTF-8 are replaced. */
static uint32_t number_of(struct encoder *encoder, const char *text)
{
	size_t number = encoder->list.count;
	char *repaired;

	if (!text || !*text)
		return 0;
	if (opk_index_find(&number, &encoder->numbers, text))
		return (uint32_t)number + 1;
	repaired = opk_utf8_repair(text);
	if (repaired)
		opk_buf_add(&encoder->texts, repaired, strlen(repaired) + 1);
	free(repaired);
	if (!repaired || !opk_strlist_add(&encoder->list, text)
	    || !opk_index_add(&encoder->numbers, encoder->list.items[number], number, NULL))
		encoder->failed = true;
	return (uint32_t)number + 1;
}

static uint64_t encode_member(struct encoder *encoder, const struct column *column,
                              const struct opk_activity *activity,
                              const struct opk_activity *before)
{
	switch (column->coding) {
	case INDEX:
		return get(activity, column) + 1;
	case TEXT:
		return number_of(encoder, *(const char **)member_of(activity, column));
	case DIFFERENCE:
		return get(activity, column) - get(before, column);
	case LENGTH:
		return activity->end_ns > activity->start_ns ? activity->end_ns - activity->start_ns
		                                             : 0;
	default:
		return get(activity, column);
	}
}

static void encode_records(struct encoder *encoder, const struct opk_activity *activities,
                           size_t count)
{
	static const struct opk_activity none;

	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < COLUMNS; j++) {
			uint64_t value = encode_member(encoder, &columns[j], &activities[i],
			                               i ? &activities[i - 1] : &none);

			if (columns[j].width == 8)
				opk_buf_add_u64(&encoder->columns[j], value);
			else
				opk_buf_add_u32(&encoder->columns[j], (uint32_t)value);
			encoder->used[j] |= columns[j].width == 8 ? value : (uint32_t)value;
		}
}

/* Columns of nothing but zeros are left out. */
static void put_section(struct opk_buf *out, const struct encoder *encoder, size_t count)
{
	uint32_t used = 0;

	for (size_t j = 0; j < COLUMNS; j++)
		used += encoder->used[j];
	opk_buf_add_u32(out, (uint32_t)count);
	opk_buf_add_u32(out, used);
	opk_buf_add_u32(out, (uint32_t)encoder->list.count);
	opk_buf_add_u32(out, (uint32_t)encoder->texts.size);
	for (size_t j = 0; j < COLUMNS; j++)
		if (encoder->used[j]) {
			opk_buf_add_u32(out, columns[j].id);
			opk_buf_add_u32(out, columns[j].width);
		}
	for (size_t j = 0; j < COLUMNS; j++) {
		out->failed |= encoder->columns[j].failed;
		if (encoder->used[j])
			opk_buf_add(out, encoder->columns[j].data, encoder->columns[j].size);
	}
	opk_buf_add(out, encoder->texts.data, encoder->texts.size);
	out->failed |= encoder->failed || encoder->texts.failed;
}

void opk_activities_encode(struct opk_buf *out, const struct opk_activity *activities, size_t count)
{
	struct encoder encoder = { 0 };

	encode_records(&encoder, activities, count);
	put_section(out, &encoder, count);
	for (size_t j = 0; j < COLUMNS; j++)
		opk_buf_clear(&encoder.columns[j]);
	opk_buf_clear(&encoder.texts);
	opk_strlist_clear(&encoder.list);
	opk_index_clear(&encoder.numbers);
}

/* ---- reading ---------------------------------------------------------------------------- */

/* A section, its sizes checked against each other. */
struct decoder {
	struct opk_ctx *ctx;
	struct opk_activity_table *table;
	uint32_t count, column_count, text_count, text_bytes;
	const struct column *columns[MAX_COLUMNS]; /* NULL: of a later version */
	uint32_t widths[MAX_COLUMNS];
	const char **texts; /* as the table keeps them */
};

/* ---- the section's sizes */

static int read_columns(struct decoder *d, struct opk_reader *reader)
{
	uint64_t size = d->text_bytes;
	bool seen[COLUMNS] = { false };

	if (d->column_count > MAX_COLUMNS)
		return opk_fail(d->ctx, OPK_EINPUT, "records with %u columns: at most %d",
		                d->column_count, MAX_COLUMNS);
	for (uint32_t i = 0; i < d->column_count; i++) {
		uint32_t id = opk_read_u32(reader);
		size_t known = 0;

		d->widths[i] = opk_read_u32(reader);
		while (known < COLUMNS && columns[known].id != id)
			known++;
		if ((d->widths[i] != 4 && d->widths[i] != 8)
		    || (known < COLUMNS && (seen[known] || columns[known].width != d->widths[i])))
			return opk_fail(d->ctx, OPK_EINPUT,
			                "column %u of the records is there twice, or of %u bytes",
			                id, d->widths[i]);
		d->columns[i] = known < COLUMNS ? &columns[known] : NULL;
		if (known < COLUMNS)
			seen[known] = true;
		size += (uint64_t)d->widths[i] * d->count;
	}
	if (reader->failed || size != reader->left || d->text_count > d->text_bytes)
		return opk_fail(d->ctx, OPK_EINPUT, "the records' lengths disagree");
	return OPK_OK;
}

/* As many texts as the header says, each ended by a zero. */
static int read_texts(struct decoder *d, const char *text, size_t left)
{
	d->texts = opk_alloc_array((size_t)d->text_count + 1, sizeof *d->texts);
	if (!d->texts)
		return opk_nomem(d->ctx, "records");
	d->texts[0] = "";
	for (uint32_t i = 1; i <= d->text_count; i++) {
		size_t length = strnlen(text, left);

		if (length == left || !opk_utf8_valid(text))
			return opk_fail(d->ctx, OPK_EINPUT,
			                "text %u of the records is not UTF-8, or has no end", i);
		d->texts[i] = opk_texts_keep(&d->table->texts, text);
		text += length + 1;
		left -= length + 1;
	}
	if (left)
		return opk_fail(d->ctx, OPK_EINPUT, "the records' lengths disagree");
	return d->table->texts.failed ? opk_nomem(d->ctx, "records") : OPK_OK;
}

/* ---- the records */

/* What is wrong with the value, or NULL. */
static const char *decode_member(struct opk_activity *activity, const struct opk_activity *before,
                                 const struct column *column, const struct decoder *d,
                                 uint64_t value)
{
	switch (column->coding) {
	case INDEX:
		if (value > INT32_MAX)
			return "device or rank is out of range";
		set(activity, column, value - 1);
		break;
	case TEXT:
		if (value > d->text_count)
			return "it names a text that is not there";
		*(const char **)member_of(activity, column) = d->texts[value];
		break;
	case DIFFERENCE:
		set(activity, column, value + get(before, column));
		break;
	default: /* a length becomes an end when the start is known, too */
		set(activity, column, value);
		break;
	}
	return NULL;
}

static const char *finish_record(struct opk_activity *activity, struct opk_activity_table *table)
{
	if (__builtin_add_overflow(activity->start_ns, activity->end_ns, &activity->end_ns))
		return "it ends before it starts";
	if (activity->kind == OPK_ACTIVITY_KERNEL)
		activity->name = opk_texts_keep_kernel(&table->texts, activity->name);
	return NULL;
}

static int decode_records(struct decoder *d, struct opk_reader *reader, struct opk_activity *rows)
{
	static const struct opk_activity none = {
		.device = -1, .rank = -1, .name = "", .symbol = "", .host = "", .gpu = ""
	};
	const char *bad = NULL;

	for (uint32_t i = 0; i < d->count; i++)
		rows[i] = none;
	for (uint32_t j = 0; !bad && j < d->column_count; j++)
		for (uint32_t i = 0; !bad && i < d->count; i++) {
			uint64_t value = d->widths[j] == 8 ? opk_read_u64(reader)
			                                   : opk_read_u32(reader);

			if (d->columns[j])
				bad = decode_member(&rows[i], i ? &rows[i - 1] : &none,
				                    d->columns[j], d, value);
		}
	for (uint32_t i = 0; !bad && i < d->count; i++)
		bad = finish_record(&rows[i], d->table);
	if (bad)
		return opk_fail(d->ctx, OPK_EINPUT, "a record of what ran: %s", bad);
	return d->table->texts.failed ? opk_nomem(d->ctx, "records") : OPK_OK;
}

/* Records of a kind that a later version knows are left out. */
static size_t drop_unknown(struct opk_activity *rows, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		if (rows[i].kind >= OPK_ACTIVITY_KERNEL && rows[i].kind <= OPK_ACTIVITY_RANGE)
			rows[kept++] = rows[i];
	return kept;
}

static uint64_t weight_of(const struct opk_activity_table *table, uint64_t more)
{
	return (table->count + more) * OPK_ACTIVITY_WEIGHT + table->texts.weight;
}

static int read_rows(struct decoder *d, struct opk_reader *reader, const struct opk_file *file,
                     size_t section)
{
	struct opk_activity_table *table = d->table;
	struct opk_activity *grown;
	const char *texts = (const char *)reader->data + reader->left - d->text_bytes;

	TRY(opk_table_check(d->ctx, file, section, d->count, weight_of(table, d->count)));
	TRY(read_texts(d, texts, d->text_bytes));
	/* Its texts are known only now. */
	TRY(opk_table_check(d->ctx, file, section, d->count, weight_of(table, d->count)));
	grown = opk_realloc_array(table->rows, table->count + d->count, sizeof *grown);
	if (!grown)
		return opk_nomem(d->ctx, "records");
	table->rows = grown;
	TRY(decode_records(d, reader, grown + table->count));
	table->count += drop_unknown(grown + table->count, d->count);
	return OPK_OK;
}

int opk_activity_table_read(struct opk_activity_table *table, struct opk_ctx *ctx,
                            const struct opk_file *file, size_t section)
{
	struct decoder d = { .ctx = ctx, .table = table };
	struct opk_reader reader = { 0 };
	opk_autofree void *data = NULL;
	int code;

	/* Millions of records are in many tables. */
	TRY(opk_check_interrupt(ctx));
	TRY(opk_file_read(&data, &reader.left, ctx, file, section));
	reader.data = data;
	d.count = opk_read_u32(&reader);
	d.column_count = opk_read_u32(&reader);
	d.text_count = opk_read_u32(&reader);
	d.text_bytes = opk_read_u32(&reader);
	code = read_columns(&d, &reader);
	if (!code)
		code = read_rows(&d, &reader, file, section);
	free(d.texts);
	return code ? opk_file_add_place(ctx, code, file, section) : OPK_OK;
}

void opk_activity_table_clear(struct opk_activity_table *table)
{
	opk_texts_clear(&table->texts);
	free(table->rows);
	*table = (struct opk_activity_table){ 0 };
}

/* ---- records as rows -------------------------------------------------------------------- */

struct opk_range opk_activity_range(const struct opk_activity *activity)
{
	struct opk_range range = {
		.name = activity->name,
		.kernel = activity->name,
		.symbol = activity->symbol,
		.nvtx = "",
		.host = activity->host,
		.gpu = activity->gpu,
		.device = activity->device,
		.rank = activity->rank,
		.start_ns = activity->start_ns,
		.end_ns = activity->end_ns,
		.duration_ns = activity->end_ns - activity->start_ns,
		.stream = activity->stream,
		.context = activity->context,
		.process = activity->process,
		.registers = activity->registers,
		.shared_bytes = activity->shared_bytes,
	};

	memcpy(range.grid, activity->grid, sizeof range.grid);
	memcpy(range.block, activity->block, sizeof range.block);
	return range;
}

const char *opk_activity_word(const struct opk_activity *activity)
{
	static const char *const kinds[] = {
		[OPK_ACTIVITY_KERNEL] = "kernel",
		[OPK_ACTIVITY_COPY] = "copy",
		[OPK_ACTIVITY_SET] = "set",
		[OPK_ACTIVITY_RANGE] = "nvtx",
	};

	return kinds[activity->kind];
}

/* ---- all of a file ---------------------------------------------------------------------- */

int opk_file_activities(const struct opk_activity **activities, size_t *count, struct opk_ctx *ctx,
                        struct opk_file *file)
{
	const struct opk_meta *meta;

	TRY(opk_file_meta(&meta, ctx, file));
	if (!file->activities) {
		opk_auto(opk_activity_table) struct opk_activity_table *table = opk_alloc(
			sizeof *table);

		if (!table)
			return opk_nomem(ctx, "records");
		for (size_t i = 0; i < file->section_count; i++)
			if (file->sections[i].type == OPK_SECTION_ACTIVITIES)
				TRY(opk_activity_table_read(table, ctx, file, i));
		opk_activities_place(table->rows, table->count, meta);
		file->activities = opk_take(table);
	}
	*activities = file->activities->rows;
	*count = file->activities->count;
	return OPK_OK;
}

void opk_activity_table_free(struct opk_activity_table *table)
{
	if (table)
		opk_activity_table_clear(table);
	free(table);
}
