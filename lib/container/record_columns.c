/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records as columns, each with its number and width, so that one of a later version can be
 * skipped: KERN and INSN sections.
 */
#include <string.h>

#include "base/utf8.h"
#include "container/container.h"

static void *member_of(const void *record, const struct opk_record_column *column)
{
	return (char *)record + column->offset;
}

static uint64_t get(const void *record, const struct opk_record_column *column)
{
	const void *member = member_of(record, column);

	return column->width == 8 ? *(const uint64_t *)member : *(const uint32_t *)member;
}

static void set(void *record, const struct opk_record_column *column, uint64_t value)
{
	void *member = member_of(record, column);

	if (column->width == 8)
		*(uint64_t *)member = value;
	else
		*(uint32_t *)member = (uint32_t)value;
}

/* ---- writing ---------------------------------------------------------------------------- */

struct encoded {
	uint32_t id, width;
	struct opk_buf data;
	bool used; /* not all zero */
};

struct encoder {
	struct encoded *columns;
	size_t count;
	struct opk_section_texts texts;
};

/* The length is the difference to the member before, 0 where a clock went back in between. */
static uint64_t encode_member(struct encoder *encoder, const struct opk_record_column *column,
                              const void *record, const void *before)
{
	uint64_t value = get(record, column), start;

	switch (column->coding) {
	case OPK_CODED_INDEX:
		return value + 1;
	case OPK_CODED_TEXT:
		return opk_section_texts_put(&encoder->texts,
		                             *(const char **)member_of(record, column));
	case OPK_CODED_DIFFERENCE:
		return value - get(before, column);
	case OPK_CODED_LENGTH:
		start = get(record, column - 1);
		return value > start ? value - start : 0;
	default:
		return value;
	}
}

static void put(struct encoded *column, uint64_t value)
{
	if (column->width == 8)
		opk_buf_add_u64(&column->data, value);
	else
		opk_buf_add_u32(&column->data, (uint32_t)value);
	column->used |= column->width == 8 ? value : (uint32_t)value;
}

static void encode_records(struct encoder *encoder, const struct opk_record_layout *layout,
                           const void *records, size_t count)
{
	static const uint64_t none[64];
	const void *before = none;

	for (size_t i = 0; i < count; i++) {
		const void *record = (const char *)records + i * layout->size;

		for (size_t j = 0; j < layout->count; j++)
			put(&encoder->columns[j],
			    encode_member(encoder, &layout->columns[j], record, before));
		before = record;
	}
}

static void encode_named(struct encoder *encoder, struct encoded *columns,
                         const struct opk_named_values *named, size_t count)
{
	for (size_t j = 0; j < named->count; j++) {
		columns[j].id = OPK_NAMED_COLUMN
		                + opk_section_texts_put(&encoder->texts, named->names[j]);
		for (size_t i = 0; i < count; i++)
			put(&columns[j], named->values[i * named->count + j]);
		/* Its name says that it was counted, even if nothing was. */
		columns[j].used = true;
	}
}

/* Columns of nothing but zeros are left out. */
static void put_section(struct opk_buf *out, const struct encoder *encoder, size_t count)
{
	uint32_t used = 0;

	for (size_t j = 0; j < encoder->count; j++)
		used += encoder->columns[j].used;
	opk_buf_add_u32(out, (uint32_t)count);
	opk_buf_add_u32(out, used);
	opk_buf_add_u32(out, (uint32_t)encoder->texts.list.count);
	opk_buf_add_u32(out, (uint32_t)encoder->texts.bytes.size);
	for (size_t j = 0; j < encoder->count; j++)
		if (encoder->columns[j].used) {
			opk_buf_add_u32(out, encoder->columns[j].id);
			opk_buf_add_u32(out, encoder->columns[j].width);
		}
	for (size_t j = 0; j < encoder->count; j++) {
		out->failed |= encoder->columns[j].data.failed;
		if (encoder->columns[j].used)
			opk_buf_add(out, encoder->columns[j].data.data,
			            encoder->columns[j].data.size);
	}
	opk_buf_add(out, encoder->texts.bytes.data, encoder->texts.bytes.size);
	out->failed |= encoder->texts.failed;
}

void opk_records_encode(struct opk_buf *out, const struct opk_record_layout *layout,
                        const void *records, size_t count, const struct opk_named_values *named)
{
	struct encoder encoder = { .count = layout->count + named->count };

	encoder.columns = opk_alloc_array(encoder.count + 1, sizeof *encoder.columns);
	if (!encoder.columns) {
		out->failed = true;
		return;
	}
	for (size_t j = 0; j < encoder.count; j++) {
		encoder.columns[j].id = j < layout->count ? layout->columns[j].id : 0;
		encoder.columns[j].width = j < layout->count ? layout->columns[j].width : 8;
	}
	encode_records(&encoder, layout, records, count);
	encode_named(&encoder, encoder.columns + layout->count, named, count);
	put_section(out, &encoder, count);
	for (size_t j = 0; j < encoder.count; j++)
		opk_buf_clear(&encoder.columns[j].data);
	free(encoder.columns);
	opk_section_texts_clear(&encoder.texts);
}

/* ---- reading: the section's sizes ---------------------------------------------------------- */

/* The place of the column in the layout, or past its end. */
static size_t find_column(const struct opk_record_layout *layout, uint32_t id)
{
	size_t known = 0;

	while (known < layout->count && layout->columns[known].id != id)
		known++;
	return known;
}

static int fail_column(const struct opk_record_reader *r, uint32_t id, uint32_t width)
{
	return opk_fail(r->ctx, OPK_EINPUT,
	                "column %u of the records is there twice, or of %u bytes", id, width);
}

static int read_column(struct opk_record_reader *r, uint64_t *seen, struct opk_read_column *column)
{
	const struct opk_record_layout *layout = r->layout;
	uint32_t id = opk_read_u32(&r->left);
	size_t known = find_column(layout, id);

	column->width = opk_read_u32(&r->left);
	if (column->width != 4 && column->width != 8)
		return fail_column(r, id, column->width);
	if (layout->is_named && id > OPK_NAMED_COLUMN) {
		if (id - OPK_NAMED_COLUMN > r->text_count || column->width != 8)
			return fail_column(r, id, column->width);
		column->name = id - OPK_NAMED_COLUMN;
		r->name_count++;
	}
	if (known == layout->count)
		return OPK_OK;
	if (*seen & (uint64_t)1 << known || layout->columns[known].width != column->width)
		return fail_column(r, id, column->width);
	*seen |= (uint64_t)1 << known;
	column->column = &layout->columns[known];
	return OPK_OK;
}

static int read_columns(struct opk_record_reader *r)
{
	uint64_t size = r->text_bytes, seen = 0;

	if (r->column_count > r->layout->most)
		return opk_fail(r->ctx, OPK_EINPUT, "records with %u columns: at most %u",
		                r->column_count, r->layout->most);
	r->columns = opk_alloc_array((size_t)r->column_count + 1, sizeof *r->columns);
	if (!r->columns)
		return opk_nomem(r->ctx, "records");
	for (uint32_t i = 0; i < r->column_count; i++) {
		TRY(read_column(r, &seen, &r->columns[i]));
		size += (uint64_t)r->columns[i].width * r->count;
	}
	if (r->left.failed || size != r->left.left || r->text_count > r->text_bytes)
		return opk_fail(r->ctx, OPK_EINPUT, "the records' lengths disagree");
	return OPK_OK;
}

int opk_records_open(struct opk_record_reader *r, struct opk_ctx *ctx,
                     const struct opk_record_layout *layout, const struct opk_file *file,
                     size_t section)
{
	*r = (struct opk_record_reader){ .ctx = ctx, .layout = layout };
	TRY(opk_check_interrupt(ctx));
	TRY(opk_file_read(&r->data, &r->left.left, ctx, file, section));
	r->left.data = r->data;
	r->count = opk_read_u32(&r->left);
	r->column_count = opk_read_u32(&r->left);
	r->text_count = opk_read_u32(&r->left);
	r->text_bytes = opk_read_u32(&r->left);
	return read_columns(r);
}

void opk_records_close(struct opk_record_reader *r)
{
	free(r->data);
	free(r->columns);
	free(r->texts);
}

/* ---- reading: the records ------------------------------------------------------------------ */

int opk_records_read_texts(struct opk_record_reader *r, struct opk_texts *texts)
{
	const char *text = (const char *)r->left.data + r->left.left - r->text_bytes;
	size_t left = r->text_bytes;

	r->texts = opk_alloc_array((size_t)r->text_count + 1, sizeof *r->texts);
	if (!r->texts)
		return opk_nomem(r->ctx, "records");
	r->texts[0] = "";
	for (uint32_t i = 1; i <= r->text_count; i++) {
		size_t length = strnlen(text, left);

		if (length == left || !opk_utf8_valid(text))
			return opk_fail(r->ctx, OPK_EINPUT,
			                "text %u of the records is not UTF-8, or has no end", i);
		r->texts[i] = opk_texts_keep(texts, text);
		text += length + 1;
		left -= length + 1;
	}
	if (left)
		return opk_fail(r->ctx, OPK_EINPUT, "the records' lengths disagree");
	return texts->failed ? opk_nomem(r->ctx, "records") : OPK_OK;
}

/* What is wrong with the value, or NULL. A length becomes an end when the start is known, too. */
static const char *decode_member(void *record, const void *before,
                                 const struct opk_record_column *column,
                                 const struct opk_record_reader *r, uint64_t value)
{
	switch (column->coding) {
	case OPK_CODED_INDEX:
		if (value > INT32_MAX)
			return "device or rank is out of range";
		set(record, column, value - 1);
		break;
	case OPK_CODED_TEXT:
		if (value > r->text_count)
			return "it names a text that is not there";
		*(const char **)member_of(record, column) = r->texts[value];
		break;
	case OPK_CODED_DIFFERENCE:
		set(record, column, value + get(before, column));
		break;
	default:
		set(record, column, value);
		break;
	}
	return NULL;
}

static const char *add_lengths(const struct opk_record_layout *layout, void *record)
{
	for (size_t j = 0; j < layout->count; j++) {
		const struct opk_record_column *column = &layout->columns[j];
		uint64_t end;

		if (column->coding != OPK_CODED_LENGTH)
			continue;
		if (__builtin_add_overflow(get(record, column - 1), get(record, column), &end))
			return "it ends before it starts";
		set(record, column, end);
	}
	return NULL;
}

int opk_records_decode(struct opk_record_reader *r, void *rows, uint64_t *values)
{
	const struct opk_record_layout *layout = r->layout;
	const char *bad = NULL;
	size_t named = 0;

	for (uint32_t i = 0; i < r->count; i++)
		memcpy((char *)rows + i * layout->size, layout->unknown, layout->size);
	for (uint32_t j = 0; !bad && j < r->column_count; j++) {
		const struct opk_read_column *read = &r->columns[j];
		const void *before = layout->unknown;

		for (uint32_t i = 0; !bad && i < r->count; i++) {
			uint64_t value = read->width == 8 ? opk_read_u64(&r->left)
			                                  : opk_read_u32(&r->left);
			void *record = (char *)rows + i * layout->size;

			if (read->column)
				bad = decode_member(record, before, read->column, r, value);
			else if (read->name)
				values[i * r->name_count + named] = value;
			before = record;
		}
		named += read->name > 0;
	}
	for (uint32_t i = 0; !bad && i < r->count; i++)
		bad = add_lengths(layout, (char *)rows + i * layout->size);
	return bad ? opk_fail(r->ctx, OPK_EINPUT, "a record of %s: %s", layout->what, bad) : OPK_OK;
}
