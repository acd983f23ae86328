/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the files of lib/baked alone. */
#ifndef OPK_BAKED_INSIDE_H
#define OPK_BAKED_INSIDE_H

#include "baked/baked.h"
#include "base/buf.h"

enum opk_value_encoding {
	OPK_ENCODED_BITS = 1,
	OPK_ENCODED_FRACTIONS,   /* doubles that are whole numbers over a denominator */
	OPK_ENCODED_DIFFERENCES, /* whole numbers */
	OPK_ENCODED_MULTIPLE,    /* of the whole numbers of another column */
	OPK_ENCODED_QUOTIENT,    /* of whole numbers, by those of another column */
};

/* A flag in a table's number of texts: they continue the texts of the first table. */
#define OPK_TEXTS_SHARED 0x80000000u

/* The bytes of a table that is being read. */
struct opk_value_source;
void opk_value_source_free(struct opk_value_source *source);
OPK_DEFINE_AUTO(opk_value_source)

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
/* Doubles hold all whole numbers up to 2^53. */
#define OPK_MOST_EXACT 9007199254740992.0

uint64_t opk_greatest_divisor(uint64_t a, uint64_t b);

/* Append numbers, or the difference of each from the one before it. */
void opk_numbers_put(struct opk_buf *out, const uint64_t *numbers, size_t count);
int opk_differences_put(struct opk_buf *out, struct opk_ctx *ctx, const uint64_t *entries,
                        size_t count);
/* Whole numbers, or OPK_NO_NUMBER. Reading returns what is wrong with the bytes, or NULL. */
int opk_whole_put(struct opk_buf *out, struct opk_ctx *ctx, const int64_t *n, size_t count);
const char *opk_whole_get(int64_t *n, size_t count, struct opk_reader *reader);

/* A column of whole numbers over a denominator. */
struct opk_fractions {
	int64_t *n; /* NULL: the column is something else */
	uint32_t denominator;
};
int opk_fractions_find(struct opk_fractions *out, struct opk_ctx *ctx, const uint64_t *entries,
                       size_t count);
/* The entry whose value is n over the denominator. */
uint64_t opk_fraction_entry(int64_t n, uint32_t denominator);
int opk_fractions_put(struct opk_buf *out, struct opk_ctx *ctx,
                      const struct opk_fractions *fractions, size_t count);

/* The bytes of a column as they are stored. */
struct opk_stored_column {
	uint32_t encoding;
	const uint8_t *data;
	size_t size;
};
const char *opk_fractions_get(int64_t *n, uint32_t *denominator, size_t count,
                              const struct opk_stored_column *column);
/* Fills in the entries of a column of any encoding. Quotients need `scratch` for as many. */
const char *opk_column_decode(uint64_t *entries, int64_t *scratch, size_t count,
                              const struct opk_stored_column *columns, size_t column_count,
                              size_t at);

/* ---- columns by others: value_relations.c */

/* A multiple of another column's numbers: n M / D. */
struct opk_multiple {
	uint32_t base, m, d;
};
struct opk_quotient {
	struct opk_multiple under, over;     /* q and k */
	uint32_t instances, under_instances; /* of k; of q: as many, or 1 */
	double factor;
	int64_t *k; /* its own, in place of `over`; or NULL */
};
/* How a column is stored, of all columns of a table. */
struct opk_relation {
	enum opk_value_encoding encoding; /* FRACTIONS, MULTIPLE, QUOTIENT; 0: none of these */
	struct opk_fractions own;
	struct opk_multiple multiple;
	struct opk_quotient quotient;
	bool used; /* others name it */
	/* The numbers were divided by this: quotients multiply them again. */
	uint32_t common;
};
/* One per column of the table; those that are not of doubles have no encoding. */
int opk_relations_find(struct opk_relation **out, struct opk_ctx *ctx,
                       const struct opk_value_table *table);
void opk_relations_free(struct opk_relation *relations, size_t count);
/* Appends a column; `numbers` has the number of each column in the section. */
int opk_relation_put(struct opk_buf *out, struct opk_ctx *ctx, const struct opk_relation *relation,
                     const uint32_t *numbers, size_t count);

/* opk_column_decode() for these. */
const char *opk_multiple_decode(uint64_t *entries, size_t count, struct opk_reader *reader,
                                const struct opk_stored_column *columns, size_t column_count);
const char *opk_quotient_decode(uint64_t *entries, int64_t *scratch, size_t count,
                                struct opk_reader *reader, const struct opk_stored_column *columns,
                                size_t column_count);

#endif
