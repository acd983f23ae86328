/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A catalogue as flat records over one pool of text: filled from NVIDIA's libraries, and the same
 * in the cache's files. Text is named by its offset in the pool; offset 0 is "".
 */
#ifndef OPK_CATALOG_TABLE_H
#define OPK_CATALOG_TABLE_H

#include "base/buf.h"

struct opk_base_record {
	uint32_t name, hw_unit, dim_unit, description;
	uint32_t type;         /* enum opk_metric_type */
	uint32_t scope;        /* enum opk_scope */
	uint32_t first, count; /* its submetrics */
};

/* What comes after the base name in a full one. */
struct opk_sub_record {
	uint32_t suffix; /* ".sum.per_second" */
	uint32_t dim_unit;
	int32_t passes;  /* 0: not counted; negative: refused with this CUPTI status */
	uint32_t method; /* enum opk_method */
};

struct opk_table {
	struct opk_base_record *bases;
	size_t base_count;
	struct opk_sub_record *subs;
	size_t sub_count, sub_capacity;
	struct opk_buf text;
	uint32_t *slots; /* of the hash table that finds text again; only while it is filled */
	size_t slot_count, used;
};

/* Room for so many base metrics, zeroed; false when out of memory. */
bool opk_table_init(struct opk_table *table, size_t base_count);
/* Where the text is; false when out of memory. */
bool opk_table_text(uint32_t *out, struct opk_table *table, const char *text);
/* One more submetric of the last base metric that has any. */
bool opk_table_add(struct opk_table *table, struct opk_base_record *base,
                   const struct opk_sub_record *sub);
static inline const char *opk_table_get(const struct opk_table *table, uint32_t text)
{
	return (const char *)table->text.data + text;
}
void opk_table_clear(struct opk_table *table);

/* As bytes of this machine's order; buf.failed when out of memory. */
void opk_table_write(struct opk_buf *buf, const struct opk_table *table);
/* From such bytes; false where they are not sound, or memory is out. */
bool opk_table_read(struct opk_table *table, const void *data, size_t size);

#define opk_autotable __attribute__((cleanup(opk_table_clear)))

#endif
