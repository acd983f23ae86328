/* SPDX-License-Identifier: BSD-2-Clause */
/* Adds up what was counted at each instruction over all sections of a file. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "code/code_inside.h"

static int find_metric(size_t *out, struct opk_code_counts *counts, struct opk_ctx *ctx,
                       const char *name)
{
	*out = counts->metrics.count;
	if (opk_index_find(out, &counts->metric_numbers, name))
		return OPK_OK;
	return opk_strlist_add(&counts->metrics, name)
	                       && opk_index_add(&counts->metric_numbers,
	                                        counts->metrics.items[*out], *out, NULL)
	               ? OPK_OK
	               : opk_nomem(ctx, "metrics of instructions");
}

/* The module, the function and the offset, so that keys sort as code does. */
static char *key_of(const struct opk_instruction *at)
{
	return opk_printf("%016" PRIx64 " %s %08x", at->module, at->function, at->offset);
}

static int find_place(size_t *out, struct opk_code_counts *counts, struct opk_ctx *ctx,
                      const struct opk_instruction *at)
{
	opk_autofree char *key = key_of(at);
	struct opk_code_place *added;

	*out = counts->places.count;
	if (!key)
		return opk_nomem(ctx, "instructions");
	if (opk_index_find(out, &counts->numbers, key))
		return OPK_OK;
	if (!opk_strlist_add(&counts->keys, key)
	    || !opk_index_add(&counts->numbers, counts->keys.items[*out], *out, NULL)
	    || !(added = opk_list_add(&counts->places)))
		return opk_nomem(ctx, "instructions");
	added->at = *at;
	added->at.function = opk_texts_keep(&counts->texts, at->function);
	added->at.name = opk_texts_keep_kernel(&counts->texts, at->name);
	added->at.host = added->at.gpu = "";
	return counts->texts.failed ? opk_nomem(ctx, "instructions") : OPK_OK;
}

typedef OPK_LIST(struct opk_instruction_block) blocks_of;

static int read_blocks(blocks_of *blocks, struct opk_ctx *ctx, const struct opk_file *file)
{
	for (size_t i = 0; i < file->section_count; i++) {
		struct opk_instruction_block *block;

		if (file->sections[i].type != OPK_SECTION_INSTRUCTIONS)
			continue;
		block = opk_list_add(blocks);
		TRY(block ? opk_instruction_block_read(block, ctx, file, i)
		          : opk_nomem(ctx, "instructions"));
	}
	return OPK_OK;
}

static void clear_blocks(blocks_of *blocks)
{
	for (size_t i = 0; i < blocks->count; i++)
		opk_instruction_block_clear(&blocks->items[i]);
	free(blocks->items);
}

/*
 * Sections with the same metrics are of different launches; those with other metrics may be of the
 * same launches again, so the list with the most says how many there were.
 */
static void add_launches(struct opk_code_place *place, size_t list, uint64_t launches)
{
	if (place->list != list)
		place->of_list = 0;
	place->list = list;
	place->of_list += launches;
	if (place->of_list > place->launches[OPK_COUNTED])
		place->launches[OPK_COUNTED] = place->of_list;
}

/* A sample of twice the file's shortest interval counts as two. */
static double weight_of(const struct opk_code_counts *counts, const struct opk_instruction *row)
{
	return row->interval ? ldexp(1, (int)(row->interval - counts->interval.shortest)) : 1;
}

static void add_values(struct opk_code_counts *counts, const struct opk_instruction_table *table,
                       size_t row, const size_t *metrics, size_t place)
{
	double weight = weight_of(counts, &table->rows[row]);
	double *sums = counts->values + place * counts->metrics.count;

	for (size_t i = 0; i < table->metric_count; i++) {
		double value = weight * (double)table->values[row * table->metric_count + i];
		double *sum = &sums[metrics[i]];

		*sum = isnan(*sum) ? value : *sum + value;
	}
}

static int add_block(struct opk_code_counts *counts, struct opk_ctx *ctx,
                     const struct opk_instruction_table *table, const size_t *metrics, size_t list)
{
	bool sampled = table->metric_count && opk_count_kind(*table->metrics) == OPK_SAMPLED;

	for (size_t i = 0; i < table->count; i++) {
		struct opk_sampled_row row = { .at = &table->rows[i], .list = list };

		row.has_samples = opk_instruction_has_counts(table, i);
		row.is_nowhere = sampled && !row.at->module && !row.has_samples;
		TRY(opk_check_interrupt(ctx));
		if (!row.is_nowhere)
			TRY(find_place(&row.place, counts, ctx, row.at));
		if (sampled)
			TRY(opk_code_add_sampled(counts, ctx, &row));
		if (row.is_nowhere)
			continue;
		if (!sampled)
			add_launches(&counts->places.items[row.place], list, row.at->launches);
		add_values(counts, table, i, metrics, row.place);
	}
	return OPK_OK;
}

static bool is_same_list(const struct opk_instruction_table *a,
                         const struct opk_instruction_table *b)
{
	if (a->metric_count != b->metric_count)
		return false;
	for (size_t i = 0; i < a->metric_count; i++)
		if (strcmp(a->metrics[i], b->metrics[i]) != 0)
			return false;
	return true;
}

/* Adds the blocks whose metrics are those of block `list`, unless an earlier one has them, too. */
static int add_list(struct opk_code_counts *counts, struct opk_ctx *ctx, const blocks_of *blocks,
                    size_t list)
{
	const struct opk_instruction_table *first = &blocks->items[list].table;
	opk_autofree size_t *metrics = opk_alloc_array(first->metric_count + 1, sizeof *metrics);

	if (!metrics)
		return opk_nomem(ctx, "instructions");
	for (size_t i = 0; i < first->metric_count; i++)
		TRY(find_metric(&metrics[i], counts, ctx, first->metrics[i]));
	for (size_t i = list; i < blocks->count; i++)
		if (is_same_list(&blocks->items[i].table, first))
			TRY(add_block(counts, ctx, &blocks->items[i].table, metrics, list));
	return OPK_OK;
}

static bool begins_list(const blocks_of *blocks, size_t number)
{
	for (size_t i = 0; i < number; i++)
		if (is_same_list(&blocks->items[i].table, &blocks->items[number].table))
			return false;
	return true;
}

/* All sections of a file are there before the first is added up. */
static void find_interval(struct opk_code_interval *out, const struct opk_instruction_table *table)
{
	for (size_t i = 0; i < table->count; i++) {
		uint32_t interval = table->rows[i].interval;

		if (interval && (!out->shortest || interval < out->shortest))
			out->shortest = interval;
		if (interval > out->longest)
			out->longest = interval;
	}
}

/* Metrics come first: then rows of values have one width. */
static int add_blocks(struct opk_code_counts *counts, struct opk_ctx *ctx, const blocks_of *blocks)
{
	size_t most = 0, number;

	for (size_t i = 0; i < blocks->count; i++) {
		most += blocks->items[i].table.count;
		find_interval(&counts->interval, &blocks->items[i].table);
		for (size_t j = 0; j < blocks->items[i].table.metric_count; j++)
			TRY(find_metric(&number, counts, ctx, blocks->items[i].table.metrics[j]));
	}
	counts->values = opk_alloc_array(most * counts->metrics.count + 1, sizeof *counts->values);
	if (!counts->values)
		return opk_nomem(ctx, "instructions");
	for (size_t i = 0; i < most * counts->metrics.count; i++)
		counts->values[i] = (double)NAN;
	for (size_t i = 0; i < blocks->count; i++)
		if (begins_list(blocks, i))
			TRY(add_list(counts, ctx, blocks, i));
	return OPK_OK;
}

static int by_key(const void *a, const void *b, void *keys)
{
	const struct opk_strlist *of = keys;

	return strcmp(of->items[*(const size_t *)a], of->items[*(const size_t *)b]);
}

static int sort(struct opk_code_counts *counts, struct opk_ctx *ctx)
{
	size_t count = counts->places.count;

	counts->order = opk_alloc_array(count + 1, sizeof *counts->order);
	if (!counts->order)
		return opk_nomem(ctx, "instructions");
	for (size_t i = 0; i < count; i++)
		counts->order[i] = i;
	qsort_r(counts->order, count, sizeof *counts->order, by_key, &counts->keys);
	return OPK_OK;
}

static bool is_one_function(const struct opk_instruction *a, const struct opk_instruction *b)
{
	return a->module == b->module && !strcmp(a->function, b->function);
}

/* All instructions of a function are launched alike, those without samples, too. */
static void share_launches(struct opk_code_counts *counts)
{
	struct opk_code_place *places = counts->places.items;
	const size_t *order = counts->order;

	for (size_t first = 0, end; first < counts->places.count; first = end) {
		uint64_t launches = 0;
		bool unknown = false;

		for (end = first;
		     end < counts->places.count
		     && is_one_function(&places[order[end]].at, &places[order[first]].at);
		     end++) {
			if (places[order[end]].launches[OPK_SAMPLED] > launches)
				launches = places[order[end]].launches[OPK_SAMPLED];
			unknown |= places[order[end]].launches_unknown;
		}
		for (size_t i = first; i < end; i++) {
			places[order[i]].launches[OPK_SAMPLED] = launches;
			places[order[i]].launches_unknown = unknown;
		}
	}
}

int opk_code_counts_read(struct opk_code_counts *counts, struct opk_ctx *ctx, struct opk_file *file)
{
	__attribute__((cleanup(clear_blocks))) blocks_of blocks = { 0 };

	TRY(read_blocks(&blocks, ctx, file));
	if (!blocks.count)
		return opk_fail(ctx, OPK_EUSAGE,
		                "%s has no counts or samples of instructions: record it with a set "
		                "for the profiler sass or pc",
		                file->path);
	TRY(add_blocks(counts, ctx, &blocks));
	opk_code_find_launches(counts);
	TRY(sort(counts, ctx));
	share_launches(counts);
	return OPK_OK;
}

int opk_code_add_text(uint32_t *out, struct opk_code_counts *counts, struct opk_ctx *ctx,
                      const char *text)
{
	size_t number = counts->found.count;

	if (!opk_index_find(&number, &counts->found_numbers, text)
	    && (!opk_strlist_add(&counts->found, text)
	        || !opk_index_add(&counts->found_numbers, counts->found.items[number], number,
	                          NULL)))
		return opk_nomem(ctx, "texts of code");
	*out = (uint32_t)number + 1;
	return OPK_OK;
}

const char *opk_code_text(const struct opk_code_counts *counts, uint32_t number)
{
	return number ? counts->found.items[number - 1] : "";
}

void opk_code_counts_clear(struct opk_code_counts *counts)
{
	free(counts->places.items);
	free(counts->sampled.items);
	free(counts->order);
	free(counts->values);
	opk_strlist_clear(&counts->metrics);
	opk_index_clear(&counts->metric_numbers);
	opk_strlist_clear(&counts->keys);
	opk_index_clear(&counts->numbers);
	opk_texts_clear(&counts->texts);
	opk_strlist_clear(&counts->found);
	opk_index_clear(&counts->found_numbers);
}
