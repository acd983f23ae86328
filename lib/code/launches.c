/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How often functions were launched whose instructions were sampled: a few rows of each process and
 * device say it, unless that is not known there.
 */
#include <stdlib.h>
#include <string.h>

#include "base/sum.h"
#include "code/code_inside.h"

int opk_code_add_sampled(struct opk_code_counts *counts, struct opk_ctx *ctx,
                         const struct opk_sampled_row *row)
{
	struct opk_sampled_row *added = opk_list_add(&counts->sampled);

	if (!added)
		return opk_nomem(ctx, "samples of instructions");
	*added = *row;
	return OPK_OK;
}

#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

static int compare_functions(const struct opk_instruction *a, const struct opk_instruction *b)
{
	int order = ORDER(a->module, b->module);

	return order ? order : strcmp(a->function, b->function);
}

/* A process on a device: one sampler after the other. */
static int compare_parts(const struct opk_instruction *a, const struct opk_instruction *b)
{
	int order = ORDER(a->process, b->process);

	if (!order)
		order = ORDER(a->device, b->device);
	if (!order)
		order = ORDER(a->rank, b->rank);
	return order ? order : strcmp(a->host, b->host);
}

static int by_part(const void *a, const void *b)
{
	const struct opk_sampled_row *x = a, *y = b;

	return compare_parts(x->at, y->at);
}

/* Rows of unknown modules come first. */
static int by_function(const void *a, const void *b)
{
	const struct opk_sampled_row *x = a, *y = b;
	int order = ORDER(y->is_nowhere, x->is_nowhere);

	if (!order)
		order = compare_functions(x->at, y->at);
	if (!order)
		order = ORDER(x->list, y->list);
	if (!order)
		order = compare_parts(x->at, y->at);
	return order ? order : ORDER(x->at->offset, y->at->offset);
}

/* A part that says nothing may have launched any function. */
static bool all_say_launches(const struct opk_sampled_row *rows, size_t count)
{
	for (size_t first = 0, end; first < count; first = end) {
		bool sampled = false, launched = false;

		for (end = first; end < count && !by_part(&rows[end], &rows[first]); end++) {
			sampled |= rows[end].has_samples;
			launched |= rows[end].at->launches != 0;
		}
		if (sampled && !launched)
			return false;
	}
	return true;
}

/* What one part says about a function: the most of any instruction. False if it says nothing. */
static bool launches_of_part(uint64_t *launches, const struct opk_sampled_row *rows, size_t count)
{
	bool sampled = false;
	uint64_t here = 0;

	*launches = 0;
	for (size_t i = 0; i < count; i++) {
		if (!i || rows[i].at->offset != rows[i - 1].at->offset)
			here = 0;
		here += rows[i].at->launches;
		sampled |= rows[i].has_samples;
		if (here > *launches)
			*launches = here;
	}
	return *launches || !sampled;
}

/*
 * The launches of a function; 0: not all of them are known. A sampler writes all its metrics in one
 * list, so sections with other lists are of other launches, as of another release of CUPTI.
 */
static uint64_t launches_of_function(const struct opk_sampled_row *rows, size_t count)
{
	uint64_t sum = 0, launches;

	for (size_t first = 0, end; first < count; first = end) {
		for (end = first; end < count && rows[end].list == rows[first].list
		                  && !by_part(&rows[end], &rows[first]);
		     end++)
			;
		if (!launches_of_part(&launches, rows + first, end - first))
			return 0;
		opk_sum_add(&sum, launches);
	}
	return sum;
}

static int by_symbol(const void *a, const void *b)
{
	const struct opk_sampled_row *x = a, *y = b;

	return strcmp(x->at->function, y->at->function);
}

static size_t end_of_function(const struct opk_sampled_row *rows, size_t count, size_t first)
{
	size_t end = first + 1;

	while (end < count && !compare_functions(rows[end].at, rows[first].at))
		end++;
	return end;
}

void opk_code_find_launches(struct opk_code_counts *counts)
{
	struct opk_sampled_row *rows = counts->sampled.items;
	size_t count = counts->sampled.count, nowhere = 0;
	bool all_known;

	if (!count)
		return;
	qsort(rows, count, sizeof *rows, by_part);
	all_known = all_say_launches(rows, count);
	qsort(rows, count, sizeof *rows, by_function);
	while (nowhere < count && rows[nowhere].is_nowhere)
		nowhere++;
	for (size_t first = nowhere, end; first < count; first = end) {
		uint64_t launches = 0;

		end = end_of_function(rows, count, first);
		if (all_known && !bsearch(&rows[first], rows, nowhere, sizeof *rows, by_symbol))
			launches = launches_of_function(rows + first, end - first);
		for (size_t i = first; i < end; i++) {
			struct opk_code_place *place = &counts->places.items[rows[i].place];

			place->launches[OPK_SAMPLED] = launches;
			place->launches_unknown = !launches;
		}
	}
	free(opk_take(counts->sampled.items));
	counts->sampled.count = counts->sampled.capacity = 0;
}
