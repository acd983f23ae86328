/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the files of lib/baked alone. */
#ifndef OPK_BAKED_INSIDE_H
#define OPK_BAKED_INSIDE_H

#include "base/buf.h"
#include "base/ctx.h"

/* Columns of 64-bit entries as bytes: value_columns.c. */

enum opk_value_encoding {
	OPK_ENCODED_PLAIN,
	OPK_ENCODED_PLANES,
	OPK_ENCODED_NUMBERS,     /* doubles that are whole numbers over a denominator */
	OPK_ENCODED_DIFFERENCES, /* whole numbers */
	OPK_VALUE_ENCODINGS
};

/* Appends the column in the encoding that deflates best. */
int opk_value_encode(uint32_t *encoding, struct opk_buf *out, struct opk_ctx *ctx,
                     const uint64_t *entries, size_t count, bool doubles);
/* What is wrong with the column's bytes; NULL: nothing, and the entries are filled in. */
const char *opk_value_decode(uint64_t *entries, size_t count, uint32_t encoding,
                             const uint8_t *data, size_t size);

#endif
