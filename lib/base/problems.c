/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/problems.h"

#include <stdarg.h>
#include <string.h>

static bool was_told(const struct opk_problems *problems, const struct opk_place *place,
                     const char *message)
{
	for (size_t i = 0; i < problems->count; i++) {
		const struct opk_place *other = &problems->items[i].place;

		if (other->source == place->source && other->line == place->line
		    && other->column == place->column
		    && !strcmp(problems->items[i].message, message))
			return true;
	}
	return false;
}

bool opk_problems_full(const struct opk_problems *problems)
{
	return problems->count >= OPK_MAX_PROBLEMS;
}

void opk_problems_add(struct opk_problems *problems, const struct opk_place *place,
                      const char *format, ...)
{
	opk_autofree char *message = NULL;
	va_list args;

	if (opk_problems_full(problems)) {
		problems->untold++;
		return;
	}
	va_start(args, format);
	if (vasprintf(&message, format, args) < 0)
		message = NULL;
	va_end(args);
	if (message && was_told(problems, place, message))
		return;
	if (!message
	    || !opk_grow(&problems->items, &problems->capacity, problems->count,
	                 sizeof *problems->items))
		problems->no_memory = true;
	else
		problems->items[problems->count++] = (struct opk_problem){ *place,
			                                                   opk_take(message) };
}

/* Files come in the order in which they first have one. */
static void sort(struct opk_problems *problems)
{
	for (size_t i = 1; i < problems->count; i++) {
		struct opk_problem moved = problems->items[i];
		size_t to = i, same = i;

		while (same && problems->items[same - 1].place.source != moved.place.source)
			same--;
		for (to = same ? same : i; to; to--) {
			const struct opk_place *before = &problems->items[to - 1].place;

			if (before->source != moved.place.source || before->line < moved.place.line
			    || (before->line == moved.place.line
			        && before->column <= moved.place.column))
				break;
		}
		memmove(&problems->items[to + 1], &problems->items[to], (i - to) * sizeof moved);
		problems->items[to] = moved;
	}
}

/* The chain is read from its outer end, so the caret comes first. */
void opk_add_excerpt(struct opk_ctx *ctx, int code, const struct opk_place *place)
{
	opk_autofree char *line = NULL;
	opk_autofree char *caret = NULL;

	if (!opk_place_show(&line, &caret, place))
		return;
	opk_add(ctx, code, "  %s", caret);
	opk_add(ctx, code, "  %s", line);
}

/* "PLACE: MESSAGE"; NULL when out of memory. */
static char *text_of(const struct opk_problem *problem)
{
	opk_autofree char *where = opk_place_text(&problem->place);

	return where ? opk_printf("%s%s%s", where, *where ? ": " : "", problem->message) : NULL;
}

static void push(struct opk_ctx *ctx, int code, const struct opk_problem *problem)
{
	opk_autofree char *text = text_of(problem);

	opk_add_excerpt(ctx, code, &problem->place);
	opk_add(ctx, code, "%s", text ? text : problem->message);
}

void opk_problems_push(struct opk_ctx *ctx, struct opk_problems *problems, int code)
{
	sort(problems);
	for (size_t i = problems->count; i-- > 0;)
		push(ctx, code, &problems->items[i]);
}

int opk_problems_fail(struct opk_ctx *ctx, struct opk_problems *problems, int code,
                      const char *title)
{
	if (problems->no_memory)
		return opk_nomem(ctx, "a metric set");
	if (!problems->count)
		return OPK_OK;
	opk_clear_errors(ctx);
	opk_problems_push(ctx, problems, code);
	if (problems->untold)
		return opk_add(ctx, code, "%s: %zu errors, the first %zu of them:", title,
		               problems->count + problems->untold, problems->count);
	return problems->count > 1 ? opk_add(ctx, code, "%s: %zu errors", title, problems->count)
	                           : code;
}

bool opk_problems_list(struct opk_strlist *out, const struct opk_problems *problems)
{
	for (size_t i = 0; i < problems->count; i++)
		if (!opk_strlist_take(out, text_of(&problems->items[i])))
			return false;
	return true;
}

void opk_problems_drop(struct opk_problems *problems, const struct opk_strlist *told)
{
	size_t kept = 0;

	for (size_t i = 0; i < problems->count; i++) {
		opk_autofree char *text = text_of(&problems->items[i]);

		problems->no_memory |= !text;
		if (text && opk_strlist_contains(told, text))
			free(problems->items[i].message);
		else
			problems->items[kept++] = problems->items[i];
	}
	problems->count = kept;
}

void opk_problems_clear(struct opk_problems *problems)
{
	for (size_t i = 0; i < problems->count; i++)
		free(problems->items[i].message);
	free(problems->items);
	*problems = (struct opk_problems){ 0 };
}
