/* SPDX-License-Identifier: BSD-2-Clause */
/* Parts of a whole: their columns, their short names, and which of them get colours. */
#include "base/strlist.h"
#include "chip/door.h"
#include "eval/door.h"
#include "picture/stack.h"

#include <math.h>
#include <string.h>

/* ---- names */

static bool is_boundary(char c)
{
	return c == '_' || c == '.' || c == ' ';
}

/* The length of the beginning that all names share, up to a boundary. */
static size_t common_beginning(const struct opk_strlist *names)
{
	const char *first = names->items[0];
	size_t length = 0;

	for (size_t i = 0; first[i]; i++) {
		for (size_t j = 1; j < names->count; j++)
			if (names->items[j][i] != first[i])
				return length;
		if (is_boundary(first[i]))
			length = i + 1;
	}
	return length;
}

/* The length of the ending that all names share, from a boundary on. */
static size_t common_ending(const struct opk_strlist *names)
{
	const char *first = names->items[0];
	size_t size = strlen(first), length = 0;

	for (size_t i = 1; i <= size; i++) {
		for (size_t j = 1; j < names->count; j++) {
			const char *name = names->items[j];

			if (strlen(name) < i || name[strlen(name) - i] != first[size - i])
				return length;
		}
		if (is_boundary(first[size - i]))
			length = i;
	}
	return length;
}

/* "long scoreboard" of "stalls an issue: long scoreboard". */
static int shorten(struct opk_stack *stack, struct opk_ctx *ctx, const struct opk_strlist *names)
{
	size_t head = common_beginning(names), tail = common_ending(names);

	for (size_t i = 0; i < stack->count; i++) {
		const char *name = names->items[i];
		size_t size = strlen(name), skip = head + tail < size ? head : 0;
		size_t end = head + tail < size ? size - tail : size;
		char *text = opk_strndup(name + skip, end - skip);

		if (!text)
			return opk_nomem(ctx, "a picture");
		for (char *c = text; *c; c++)
			*c = *c == '_' ? ' ' : *c;
		stack->parts[i].text = text;
	}
	return OPK_OK;
}

/* What tables call the parts, without what all share. */
static int name_parts(struct opk_stack *stack, struct opk_ctx *ctx)
{
	opk_autofree const char **names = opk_alloc_array(stack->count, sizeof *names);
	opk_autostrlist struct opk_strlist words = { 0 };

	if (!names)
		return opk_nomem(ctx, "a picture");
	for (size_t i = 0; i < stack->count; i++)
		names[i] = stack->parts[i].name;
	TRY(opk_metric_labels(&words, ctx, names, stack->count));
	return shorten(stack, ctx, &words);
}

/* ---- colours */

/* The parts with the most time over all kernels get a colour each. */
static void find_colours(struct opk_stack *stack, const struct opk_drawn_kernels *kernels)
{
	size_t own = stack->count <= OPK_SVG_COLOURS ? stack->count : OPK_SVG_COLOURS - 1;

	for (size_t i = 0; i < stack->count; i++) {
		struct opk_stack_part *part = &stack->parts[i];

		part->colour = OPK_SVG_COLOURS - 1;
		for (size_t j = 0; j < kernels->count; j++) {
			const struct opk_drawn *kernel = &kernels->items[j];
			double value = kernel->values[part->column];
			double weight = kernel->time > 0 ? kernel->time : 1;

			part->weight += isfinite(value) ? value * weight : 0;
		}
	}
	for (size_t taken = 0; taken < own; taken++) {
		size_t best = SIZE_MAX;

		for (size_t i = 0; i < stack->count; i++)
			if (!stack->parts[i].own
			    && (best == SIZE_MAX
			        || stack->parts[i].weight > stack->parts[best].weight))
				best = i;
		stack->parts[best].own = true;
	}
	for (size_t i = 0, colour = 0; i < stack->count; i++)
		if (stack->parts[i].own)
			stack->parts[i].colour = colour++;
}

/* ---- the stack */

/* Without those that are unknown: nan or infinite. */
static double sum_parts(const struct opk_stack *stack, const struct opk_drawn *kernel)
{
	double sum = 0;

	for (size_t i = 0; i < stack->count; i++) {
		double value = kernel->values[stack->parts[i].column];

		sum += isfinite(value) && value > 0 ? value : 0;
	}
	return sum;
}

static bool has_unknown(const struct opk_stack *stack, const struct opk_drawn *kernel)
{
	for (size_t i = 0; i < stack->count; i++)
		if (!isfinite(kernel->values[stack->parts[i].column]))
			return true;
	return false;
}

/* Whether the parts of every kernel that has them all add up to one, and no others to more. */
static bool are_shares(const struct opk_stack *stack, const struct opk_drawn_kernels *kernels)
{
	size_t whole = 0;

	for (size_t i = 0; i < kernels->count; i++) {
		double sum = sum_parts(stack, &kernels->items[i]);
		bool all = !has_unknown(stack, &kernels->items[i]);

		if (sum > 1.02 || (all && sum > 0 && sum < 0.98))
			return false;
		whole += all && sum > 0;
	}
	return whole > 0;
}

void opk_stack_measure(struct opk_stack *stack, const struct opk_drawn_kernels *kernels)
{
	stack->shares = are_shares(stack, kernels);
	for (size_t i = 0; i < kernels->count; i++)
		stack->most = fmax(stack->most, sum_parts(stack, &kernels->items[i]));
}

int opk_stack_init(struct opk_stack *stack, struct opk_ctx *ctx,
                   const struct opk_evaluation *evaluation, const struct opk_drawn_kernels *kernels,
                   const struct opk_meta_heading *heading)
{
	size_t columns = opk_evaluation_column_count(evaluation);
	int code;

	*stack = (struct opk_stack){ .heading = heading, .unit = "" };
	stack->parts = opk_alloc_array(columns + 1, sizeof *stack->parts);
	if (!stack->parts)
		return opk_nomem(ctx, "a picture");
	for (size_t i = 0; i < columns; i++)
		if (opk_evaluation_column_heading(evaluation, i) == heading)
			stack->parts[stack->count++] = (struct opk_stack_part){
				.name = opk_evaluation_column(evaluation, i), .column = i
			};
	if (!stack->count)
		return OPK_OK;
	stack->unit = opk_evaluation_column_unit(evaluation, stack->parts[0].column);
	code = name_parts(stack, ctx);
	find_colours(stack, kernels);
	opk_stack_measure(stack, kernels);
	return code;
}

void opk_stack_clear(struct opk_stack *stack)
{
	for (size_t i = 0; i < stack->count; i++)
		free(stack->parts[i].text);
	free(stack->parts);
	*stack = (struct opk_stack){ 0 };
}

const struct opk_meta_heading *opk_picture_stack_heading(const struct opk_summary *summary,
                                                         size_t number)
{
	const struct opk_meta_heading *last = NULL;

	for (size_t i = 0; i < summary->column_count; i++) {
		const struct opk_meta_heading *heading = summary->columns[i].heading;

		if (!heading || heading == last || !heading->draw || strcmp(heading->draw, "stack"))
			continue;
		last = heading;
		if (!number--)
			return heading;
	}
	return NULL;
}
