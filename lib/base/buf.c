/* SPDX-License-Identifier: BSD-2-Clause */
/* Growing buffers and bounded reading. */
#include "base/buf.h"

#include <endian.h>
#include <stdarg.h>
#include <string.h>

#include "base/number_text.h"

static bool reserve(struct opk_buf *buf, size_t size)
{
	size_t wanted;
	void *grown;

	if (buf->failed || __builtin_add_overflow(buf->size, size, &wanted))
		return !(buf->failed = true);
	if (wanted <= buf->capacity)
		return true;
	if (wanted < buf->capacity + buf->capacity / 2)
		wanted = buf->capacity + buf->capacity / 2;
	grown = opk_realloc(buf->data, wanted);
	if (!grown)
		return !(buf->failed = true);
	buf->data = grown;
	buf->capacity = wanted;
	return true;
}

void opk_buf_add(struct opk_buf *buf, const void *data, size_t size)
{
	if (!size || !reserve(buf, size))
		return;
	memcpy(buf->data + buf->size, data, size);
	buf->size += size;
}

void opk_buf_add_text(struct opk_buf *buf, const char *text)
{
	opk_buf_add(buf, text, strlen(text));
}

void opk_buf_add_u32(struct opk_buf *buf, uint32_t value)
{
	value = htole32(value);
	opk_buf_add(buf, &value, sizeof value);
}

void opk_buf_add_u64(struct opk_buf *buf, uint64_t value)
{
	value = htole64(value);
	opk_buf_add(buf, &value, sizeof value);
}

void opk_buf_add_number(struct opk_buf *buf, uint64_t number)
{
	if (reserve(buf, OPK_NUMBER_SIZE))
		buf->size += opk_format_u64((char *)buf->data + buf->size, number);
}

void opk_buf_add_double(struct opk_buf *buf, double number)
{
	if (reserve(buf, OPK_NUMBER_SIZE))
		buf->size += opk_format_double((char *)buf->data + buf->size, number);
}

void opk_buf_add_printf(struct opk_buf *buf, const char *format, ...)
{
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(NULL, 0, format, args);
	va_end(args);
	/* vsnprintf writes a NUL after the text, hence one byte more. */
	if (length < 0 || !reserve(buf, (size_t)length + 1))
		return;
	va_start(args, format);
	vsnprintf((char *)buf->data + buf->size, (size_t)length + 1, format, args);
	va_end(args);
	buf->size += (size_t)length;
}

char *opk_buf_take_text(struct opk_buf *buf)
{
	opk_buf_add(buf, "", 1);
	if (!buf->failed)
		return (char *)opk_take(buf->data);
	free(opk_take(buf->data));
	return NULL;
}

void opk_buf_clear(struct opk_buf *buf)
{
	free(buf->data);
	*buf = (struct opk_buf){ 0 };
}

const void *opk_read_bytes(struct opk_reader *reader, size_t size)
{
	const uint8_t *here = reader->data;

	if (reader->failed || size > reader->left) {
		reader->failed = true;
		return NULL;
	}
	reader->data += size;
	reader->left -= size;
	return here;
}

uint32_t opk_read_u32(struct opk_reader *reader)
{
	const void *bytes = opk_read_bytes(reader, 4);
	uint32_t value = 0;

	if (bytes)
		memcpy(&value, bytes, sizeof value);
	return le32toh(value);
}

uint64_t opk_read_u64(struct opk_reader *reader)
{
	const void *bytes = opk_read_bytes(reader, 8);
	uint64_t value = 0;

	if (bytes)
		memcpy(&value, bytes, sizeof value);
	return le64toh(value);
}
