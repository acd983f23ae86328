/* SPDX-License-Identifier: BSD-2-Clause */
/* The records and the text of a catalog: filling, writing and reading them. */
#include "chip/chip.h"

#include <string.h>

enum { FIRST_SLOTS = 1 << 14, MAX_RECORDS = 1 << 24, MAX_TEXT = 1 << 30, MAX_STATUS = 99999 };

struct header {
	uint32_t base_count, sub_count, text_size, reserved;
};

bool opk_catalog_table_init(struct opk_catalog_table *table, size_t base_count)
{
	*table = (struct opk_catalog_table){ .base_count = base_count };
	table->bases = opk_alloc_array(base_count + 1, sizeof *table->bases);
	table->slots = opk_alloc_array(FIRST_SLOTS, sizeof *table->slots);
	table->slot_count = FIRST_SLOTS;
	opk_buf_add(&table->text, "", 1);
	return table->bases && table->slots && !table->text.failed;
}

static uint32_t hash_of(const char *text)
{
	uint32_t hash = 2166136261U;

	for (; *text; text++)
		hash = (hash ^ (uint8_t)*text) * 16777619U;
	return hash;
}

/* The slot of the text, or the free slot for it. There is always a free slot. */
static uint32_t *find_slot(const struct opk_catalog_table *table, uint32_t *slots, size_t count,
                           const char *text)
{
	size_t i = hash_of(text) & (count - 1);

	while (slots[i] && strcmp(opk_catalog_table_get(table, slots[i]), text))
		i = (i + 1) & (count - 1);
	return &slots[i];
}

static bool grow_slots(struct opk_catalog_table *table)
{
	size_t count = table->slot_count * 2;
	uint32_t *slots = opk_alloc_array(count, sizeof *slots);

	if (!slots)
		return false;
	for (size_t i = 0; i < table->slot_count; i++)
		if (table->slots[i])
			*find_slot(table, slots, count,
			           opk_catalog_table_get(table, table->slots[i])) = table->slots[i];
	free(table->slots);
	table->slots = slots;
	table->slot_count = count;
	return true;
}

bool opk_catalog_table_text(uint32_t *out, struct opk_catalog_table *table, const char *text)
{
	uint32_t *slot;

	*out = 0;
	if (!*text)
		return true;
	if (table->used * 2 >= table->slot_count && !grow_slots(table))
		return false;
	slot = find_slot(table, table->slots, table->slot_count, text);
	if (!*slot) {
		size_t at = table->text.size;

		if (at > MAX_TEXT)
			return false;
		opk_buf_add(&table->text, text, strlen(text) + 1);
		if (table->text.failed)
			return false;
		/* Set after the text was added: until then there is nothing to compare with. */
		*slot = (uint32_t)at;
		table->used++;
	}
	*out = *slot;
	return true;
}

bool opk_catalog_table_add(struct opk_catalog_table *table, struct opk_base_record *base,
                           const struct opk_sub_record *sub)
{
	if (!opk_grow(&table->subs, &table->sub_capacity, table->sub_count, sizeof *table->subs))
		return false;
	if (!base->count++)
		base->first = (uint32_t)table->sub_count;
	table->subs[table->sub_count++] = *sub;
	return true;
}

void opk_catalog_table_clear(struct opk_catalog_table *table)
{
	free(table->bases);
	free(table->subs);
	free(table->slots);
	opk_buf_clear(&table->text);
	*table = (struct opk_catalog_table){ 0 };
}

void opk_catalog_table_write(struct opk_buf *buf, const struct opk_catalog_table *table)
{
	struct header header = {
		.base_count = (uint32_t)table->base_count,
		.sub_count = (uint32_t)table->sub_count,
		.text_size = (uint32_t)table->text.size,
	};

	opk_buf_add(buf, &header, sizeof header);
	opk_buf_add(buf, table->bases, table->base_count * sizeof *table->bases);
	opk_buf_add(buf, table->subs, table->sub_count * sizeof *table->subs);
	opk_buf_add(buf, table->text.data, table->text.size);
}

static bool is_text(const struct opk_catalog_table *table, uint32_t text)
{
	return text < table->text.size;
}

static bool is_sorted(const struct opk_catalog_table *table)
{
	for (size_t i = 1; i < table->base_count; i++)
		if (strcmp(opk_catalog_table_get(table, table->bases[i - 1].name),
		           opk_catalog_table_get(table, table->bases[i].name))
		    >= 0)
			return false;
	return true;
}

static bool is_sound(const struct opk_catalog_table *table)
{
	for (size_t i = 0; i < table->base_count; i++) {
		const struct opk_base_record *base = &table->bases[i];

		if (!is_text(table, base->name) || !is_text(table, base->hw_unit)
		    || !is_text(table, base->dim_unit) || !is_text(table, base->description)
		    || base->type > OPK_THROUGHPUT || base->scope > OPK_SCOPE_DEVICE
		    || base->first > table->sub_count
		    || base->count > table->sub_count - base->first)
			return false;
	}
	for (size_t i = 0; i < table->sub_count; i++)
		if (!is_text(table, table->subs[i].suffix)
		    || !is_text(table, table->subs[i].dim_unit)
		    || table->subs[i].passes < -MAX_STATUS
		    || table->subs[i].method > OPK_METHOD_BOTH)
			return false;
	/* Any offset leads to a text that ends, and bsearch finds names. */
	return !table->text.data[table->text.size - 1] && is_sorted(table);
}

static bool copy(void *out, struct opk_reader *reader, size_t count, size_t element)
{
	const void *from = opk_read_bytes(reader, count * element);
	void *to = from ? opk_realloc(NULL, count * element + 1) : NULL;

	if (!to)
		return false;
	memcpy(to, from, count * element);
	*(void **)out = to;
	return true;
}

bool opk_catalog_table_read(struct opk_catalog_table *table, const void *data, size_t size)
{
	struct opk_reader reader = { data, size, false };
	const void *bytes = opk_read_bytes(&reader, sizeof(struct header));
	struct header header = { 0 };

	*table = (struct opk_catalog_table){ 0 };
	if (bytes)
		memcpy(&header, bytes, sizeof header);
	if (header.base_count > MAX_RECORDS || header.sub_count > MAX_RECORDS || !header.text_size
	    || header.text_size > MAX_TEXT)
		return false;
	table->base_count = header.base_count;
	table->sub_count = header.sub_count;
	table->text.size = header.text_size;
	if (copy(&table->bases, &reader, table->base_count, sizeof *table->bases)
	    && copy(&table->subs, &reader, table->sub_count, sizeof *table->subs)
	    && copy(&table->text.data, &reader, table->text.size, 1) && !reader.left
	    && is_sound(table))
		return true;
	opk_catalog_table_clear(table);
	return false;
}
