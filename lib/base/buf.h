/* SPDX-License-Identifier: BSD-2-Clause */
/* Bytes: a growing buffer whose failure sticks, and a bounded little-endian reader. */
#ifndef OPK_BUF_H
#define OPK_BUF_H

#include "base/mem.h"

struct opk_buf {
	uint8_t *data;
	size_t size;
	size_t capacity;
	bool failed; /* out of memory at some point: the contents are useless */
};

void opk_buf_add(struct opk_buf *buf, const void *data, size_t size);
void opk_buf_add_text(struct opk_buf *buf, const char *text);
void opk_buf_add_u32(struct opk_buf *buf, uint32_t value);
void opk_buf_add_u64(struct opk_buf *buf, uint64_t value);
/* As "%" PRIu64 and "%.17g". */
void opk_buf_add_number(struct opk_buf *buf, uint64_t number);
void opk_buf_add_double(struct opk_buf *buf, double number);
void opk_buf_add_printf(struct opk_buf *buf, const char *format, ...) OPK_PRINTF(2, 3);
/* The bytes as a string, which is the caller's; NULL when out of memory. */
char *opk_buf_take_text(struct opk_buf *buf);
void opk_buf_clear(struct opk_buf *buf);
#define opk_autobuf __attribute__((cleanup(opk_buf_clear)))

struct opk_reader {
	const uint8_t *data;
	size_t left;
	bool failed; /* something was read past the end; all reads since gave 0 */
};

uint32_t opk_read_u32(struct opk_reader *reader);
uint64_t opk_read_u64(struct opk_reader *reader);
/* NULL past the end. */
const void *opk_read_bytes(struct opk_reader *reader, size_t size);

#endif
