/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the files of lib/baked alone. */
#ifndef OPK_BAKED_INSIDE_H
#define OPK_BAKED_INSIDE_H

#include "baked/baked.h"
#include "base/buf.h"

enum opk_value_encoding {
	OPK_ENCODED_PLAIN,
	OPK_ENCODED_PLANES,
	OPK_ENCODED_NUMBERS,     /* doubles that are whole numbers over a denominator */
	OPK_ENCODED_DIFFERENCES, /* whole numbers */
	OPK_ENCODED_MULTIPLE,    /* of the whole numbers of another column */
	OPK_ENCODED_QUOTIENT,    /* of whole numbers, by those of another column */
};

/* How many entries a column of this role has. */
uint64_t opk_value_entries(const struct opk_value_table *table, uint32_t role);
/* The table's column of the same role and texts; NULL: it has none. */
const struct opk_value_column *opk_value_table_find_alike(const struct opk_value_table *table,
                                                          const struct opk_value_column *column);
static inline bool opk_is_of_doubles(uint32_t role)
{
	return role == OPK_VALUE_METRIC || role == OPK_VALUE_HELP || role >= OPK_VALUE_REMARK;
}
/*
 * Writes a table, without the texts of the first one, `shared`, unless that is NULL or empty;
 * `texts`, unless NULL, gets all of its texts. value_table.c
 */
int opk_value_table_write(struct opk_writer *writer, struct opk_ctx *ctx,
                          const struct opk_value_table *table, const struct opk_strlist *shared,
                          struct opk_strlist *texts);

/* ---- columns by themselves: value_columns.c */

/* The only NaN that columns of whole numbers can hold, and the number that means it there. */
#define OPK_NOT_A_NUMBER UINT64_C(0x7ff8000000000000)
#define OPK_NO_NUMBER INT64_MIN

uint64_t opk_greatest_divisor(uint64_t a, uint64_t b);
/* A column of whole numbers over a denominator. */
struct opk_whole {
	int64_t *n; /* NULL: the column is something else */
	uint32_t denominator;
};
int opk_whole_find(struct opk_whole *whole, struct opk_ctx *ctx, const uint64_t *entries,
                   size_t count);
void opk_whole_clear(struct opk_whole *whole);
/* The entry whose value is n over the denominator. */
uint64_t opk_whole_entry(int64_t n, uint32_t denominator);
/* The numbers N and the least n of docs/format.md; free(). */
int opk_whole_numbers(uint64_t **out, int64_t *least, struct opk_ctx *ctx, const int64_t *n,
                      size_t count);
unsigned opk_planes_width(const uint64_t *numbers, size_t count);
/*
 * Appends numbers in the form that deflates best: the width of each in bytes, and whether its bytes
 * come together or in planes.
 */
#define OPK_BYTES_TOGETHER 256u
int opk_numbers_put(uint32_t *form, struct opk_buf *out, struct opk_ctx *ctx,
                    const uint64_t *numbers, size_t count);
/* The lowest byte of all numbers, then the next one, up to `width` bytes of each. */
void opk_planes_put(struct opk_buf *out, const uint64_t *numbers, size_t count, unsigned width);

/* Each appends a column, in an encoding of its own or the one that deflates best. */
int opk_whole_put(struct opk_buf *out, struct opk_ctx *ctx, const struct opk_whole *whole,
                  size_t count);
int opk_value_put_doubles(uint32_t *encoding, struct opk_buf *out, struct opk_ctx *ctx,
                          const uint64_t *entries, size_t count);
int opk_value_put_differences(struct opk_buf *out, struct opk_ctx *ctx, const uint64_t *entries,
                              size_t count);

/* What is wrong with a column's bytes; NULL: nothing, and the entries are filled in. */
const char *opk_value_decode(uint64_t *entries, size_t count, uint32_t encoding,
                             const uint8_t *data, size_t size);
/* The same for the n of OPK_ENCODED_NUMBERS, and for numbers N of this form alone. */
const char *opk_whole_decode(int64_t *n, uint32_t *denominator, size_t count, const uint8_t *data,
                             size_t size);
const char *opk_numbers_decode(int64_t *n, size_t count, int64_t least, uint32_t form,
                               const struct opk_reader *reader);

/* ---- columns by others: value_relations.c */

/* A multiple of another column's numbers: n M / D. */
struct opk_multiple {
	uint32_t base, m, d;
};
struct opk_quotient {
	struct opk_multiple under, over;     /* q and k; d is 0 where k is the column's own */
	uint32_t instances, under_instances; /* of k; of q: as many, or 1 */
	double factor;
	int64_t *k; /* its own, or NULL */
};
/* How a column is stored, of all columns of a table. */
struct opk_relation {
	enum opk_value_encoding encoding; /* NUMBERS, MULTIPLE, QUOTIENT, or else PLAIN */
	struct opk_whole whole;
	struct opk_multiple multiple;
	struct opk_quotient quotient;
	bool used; /* others name it */
	/* The numbers were divided by this: quotients multiply them again. */
	uint32_t common;
};
/* One per column of the table; those that are not of doubles are PLAIN. */
int opk_relations_find(struct opk_relation **out, struct opk_ctx *ctx,
                       const struct opk_value_table *table);
void opk_relations_free(struct opk_relation *relations, size_t count);
/* Appends a column; `numbers` has the number of each column in the section. */
int opk_relation_put(struct opk_buf *out, struct opk_ctx *ctx, const struct opk_relation *relation,
                     const uint32_t *numbers, size_t count);

/* The bytes of a column as they are stored. */
struct opk_stored_column {
	uint32_t encoding;
	const uint8_t *data;
	size_t size;
};
/* As opk_value_decode() for MULTIPLE and QUOTIENT. */
const char *opk_relation_decode(uint64_t *entries, size_t count,
                                const struct opk_stored_column *columns, size_t column_count,
                                size_t at);

#endif
