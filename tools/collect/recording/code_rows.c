/* SPDX-License-Identifier: BSD-2-Clause */
/* Counts of instructions, added up by place until they are written. */
#include "collect/recording/recording.h"

/* A table of the numbers of rows, plus 1, by the hash of their place; at most half is used. */
static size_t *slot_of(const struct code_rows *rows, const struct opk_instruction *place)
{
	uint64_t hash = (place->module ^ (uintptr_t)place->function * 31 ^ place->offset)
	                * 0x9e3779b97f4a7c15;
	size_t at = hash >> 20 & (rows->slot_count - 1);

	for (; rows->slots[at]; at = (at + 1) & (rows->slot_count - 1)) {
		const struct opk_instruction *row = &rows->rows[rows->slots[at] - 1];

		if (row->module == place->module && row->function == place->function
		    && row->offset == place->offset)
			break;
	}
	return &rows->slots[at];
}

static bool grow(struct code_rows *rows)
{
	size_t count = rows->room ? 2 * rows->room : 1024;
	size_t *slots = opk_alloc_array(2 * count, sizeof *slots);
	struct opk_instruction *more = opk_realloc_array(rows->rows, count, sizeof *more);
	uint64_t *values;

	rows->rows = more ? more : rows->rows;
	values = more ? opk_realloc_array(rows->values, count * rows->metric_count + 1,
	                                  sizeof *values)
	              : NULL;
	rows->values = values ? values : rows->values;
	if (!slots || !values) {
		free(slots);
		return false;
	}
	free(rows->slots);
	rows->slots = slots;
	rows->slot_count = 2 * count;
	rows->room = count;
	for (size_t i = 0; i < rows->count; i++)
		*slot_of(rows, &rows->rows[i]) = i + 1;
	return true;
}

uint64_t *code_rows_at(struct code_rows *rows, const struct opk_instruction *place)
{
	size_t *slot;

	if (rows->count == rows->room && !grow(rows))
		return NULL;
	slot = slot_of(rows, place);
	if (!*slot) {
		rows->rows[rows->count] = *place;
		memset(rows->values + rows->count * rows->metric_count, 0,
		       rows->metric_count * sizeof *rows->values);
		*slot = ++rows->count;
	}
	return rows->values + (*slot - 1) * rows->metric_count;
}

void code_rows_clear(struct code_rows *rows)
{
	free(rows->slots);
	free(rows->rows);
	free(rows->values);
	*rows = (struct code_rows){ .metrics = rows->metrics, .metric_count = rows->metric_count };
}

void code_rows_hand_on(struct code_rows *rows, struct segments *segments)
{
	struct segment segment = {
		.instructions = { .metrics = rows->metrics,
		                  .metric_count = rows->metric_count,
		                  .rows = rows->rows,
		                  .count = rows->count,
		                  .values = rows->values },
	};

	if (!rows->count) {
		code_rows_clear(rows);
		return;
	}
	for (size_t i = 0; i < rows->count; i++)
		if (!i || rows->rows[i].module != rows->rows[i - 1].module)
			modules_use(segments, rows->rows[i].module);
	segments_add(segments, &segment);
	rows->rows = NULL;
	rows->values = NULL;
	code_rows_clear(rows);
}
