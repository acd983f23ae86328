/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/problems.h"

#include <stdarg.h>
#include <string.h>

/* Who has more does not read them. */
enum { MAX_KEPT = 100 };

void opk_problems_add(struct opk_problems *problems, const struct opk_place *place, const char *format, ...)
{
	char *message = NULL;
	va_list args;
	int length;

	if (problems->count == MAX_KEPT) {
		problems->untold++;
		return;
	}
	va_start(args, format);
	length = vasprintf(&message, format, args);
	va_end(args);
	if (length < 0
	    || !opk_grow(&problems->items, &problems->capacity, problems->count, sizeof *problems->items)) {
		free(length < 0 ? NULL : message);
		problems->no_memory = true;
		return;
	}
	problems->items[problems->count++] = (struct opk_problem){ *place, message };
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

static void push(struct opk_ctx *ctx, int code, const struct opk_problem *problem)
{
	opk_autofree char *where = opk_place_text(&problem->place);

	opk_add_excerpt(ctx, code, &problem->place);
	opk_add(ctx, code, "%s%s%s", where ? where : "", where && *where ? ": " : "", problem->message);
}

int opk_problems_fail(struct opk_ctx *ctx, struct opk_problems *problems, int code, const char *title)
{
	if (problems->no_memory)
		return opk_nomem(ctx, "a metric set");
	if (!problems->count)
		return OPK_OK;
	sort(problems);
	opk_clear_errors(ctx);
	for (size_t i = problems->count; i-- > 0;)
		push(ctx, code, &problems->items[i]);
	if (problems->untold)
		return opk_add(ctx, code, "%s: %zu errors, the first %zu of them:", title,
		               problems->count + problems->untold, problems->count);
	return problems->count > 1 ? opk_add(ctx, code, "%s: %zu errors", title, problems->count) : code;
}

void opk_problems_clear(struct opk_problems *problems)
{
	for (size_t i = 0; i < problems->count; i++)
		free(problems->items[i].message);
	free(problems->items);
	*problems = (struct opk_problems){ 0 };
}
