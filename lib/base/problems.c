/* SPDX-License-Identifier: BSD-2-Clause */
/* Collects errors in text files and makes a cause chain of them. */
#include "base/problems.h"

#include <stdarg.h>
#include <string.h>

#include "base/buf.h"

static void clear(struct opk_problem *problem)
{
	opk_source_free(problem->place.source);
	free(problem->text);
}

static bool has(const struct opk_problems *problems, const struct opk_place *place,
                const char *text)
{
	for (size_t i = 0; i < problems->count; i++) {
		const struct opk_place *other = &problems->items[i].place;

		if (other->source == place->source && other->line == place->line
		    && other->column == place->column && !strcmp(problems->items[i].text, text))
			return true;
	}
	return false;
}

bool opk_problems_stop(struct opk_problems *problems, int code)
{
	if (code == OPK_ENOMEM || !problems->code)
		problems->code = code;
	return !code;
}

bool opk_problems_full(const struct opk_problems *problems)
{
	return problems->count >= OPK_MAX_PROBLEMS;
}

struct opk_problem *opk_problems_add(struct opk_problems *problems, const struct opk_place *place,
                                     const char *format, ...)
{
	opk_autofree char *text = NULL;
	va_list args;

	if (opk_problems_full(problems)) {
		problems->unlisted++;
		return NULL;
	}
	va_start(args, format);
	text = opk_vprintf(format, args);
	va_end(args);
	if (text && has(problems, place, text))
		return NULL;
	if (!text
	    || !opk_grow(&problems->items, &problems->capacity, problems->count,
	                 sizeof *problems->items)) {
		problems->code = OPK_ENOMEM;
		return NULL;
	}
	problems->items[problems->count] = (struct opk_problem){ .place = *place,
		                                                 .text = opk_take(text) };
	opk_source_use(place->source);
	return &problems->items[problems->count++];
}

/* Sorts by place; files stay in the order of their first problems. */
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

/* Replaces each OPK_THE_CHIP by the chip; NULL if the text has none, or when out of memory. */
static char *put_chip(const char *text, const char *chip)
{
	opk_autobuf struct opk_buf out = { 0 };
	size_t length = strcspn(text, OPK_THE_CHIP);

	if (!chip || !text[length])
		return NULL;
	for (; *text; length = strcspn(text, OPK_THE_CHIP)) {
		opk_buf_add(&out, text, length);
		if (text[length])
			opk_buf_add_text(&out, chip);
		text += length + !!text[length];
	}
	return opk_buf_take_text(&out);
}

/* Adds the problem as a cause; it is lost when out of memory. */
static void push(struct opk_ctx *ctx, int code, enum opk_cause_kind kind, const char *chip,
                 const struct opk_problem *problem)
{
	const struct opk_place *place = &problem->place;
	opk_autofree char *where = opk_place_text(place), *text = put_chip(problem->text, chip);
	struct opk_cause cause = { .code = code,
		                   .kind = kind,
		                   .line = place->line,
		                   .column = place->column,
		                   .remedy = problem->remedy };
	opk_autofree char *excerpt = NULL, *caret = NULL;

	if (!where)
		return;
	cause.message = opk_printf("%s%s%s", where, *where ? ": " : "",
	                           text ? text : problem->text);
	cause.text = cause.message + strlen(where) + 2 * !!*where;
	cause.general = text ? put_chip(problem->text, "*") : NULL;
	cause.file = place->source ? opk_strdup(place->source->name) : NULL;
	if (opk_place_show(&excerpt, &caret, place)) {
		cause.excerpt = opk_printf("  %s", excerpt);
		cause.caret = cause.excerpt ? opk_printf("  %s", caret) : NULL;
	}
	opk_add_cause(ctx, cause);
}

void opk_problems_push(struct opk_ctx *ctx, struct opk_problems *problems, int code)
{
	sort(problems);
	for (size_t i = problems->count; i-- > 0;)
		push(ctx, code, OPK_CAUSE_ERROR, problems->chip, &problems->items[i]);
}

int opk_problems_fail(struct opk_ctx *ctx, struct opk_problems *problems, int code,
                      const char *title)
{
	size_t count = problems->count + problems->unlisted;
	opk_autofree char *text = NULL;

	if (problems->code == OPK_ENOMEM)
		return opk_nomem(ctx, "a metric set");
	if (!count)
		return OPK_OK;
	opk_clear_errors(ctx);
	opk_problems_push(ctx, problems, code);
	if (count == 1)
		return code;
	text = problems->unlisted ? opk_printf("%s: %zu errors, the first %zu of them:", title,
	                                       count, problems->count)
	                          : opk_printf("%s: %zu errors", title, count);
	if (text)
		push(ctx, code, OPK_CAUSE_WHILE, problems->chip,
		     &(struct opk_problem){ .text = text });
	return code;
}

int opk_fail_at(struct opk_ctx *ctx, const struct opk_place *place, const char *format, ...)
{
	opk_autofree char *text = NULL;
	va_list args;

	va_start(args, format);
	text = opk_vprintf(format, args);
	va_end(args);
	if (!text)
		return opk_nomem(ctx, "an error");
	opk_clear_errors(ctx);
	push(ctx, OPK_EINPUT, OPK_CAUSE_ERROR, NULL,
	     &(struct opk_problem){ .place = *place, .text = text });
	return OPK_EINPUT;
}

static bool is_first(const struct opk_problems *problems, size_t count,
                     const struct opk_source *source)
{
	for (size_t i = 0; i < count; i++)
		if (problems->items[i].place.source == source)
			return false;
	return true;
}

void opk_problems_hide(struct opk_problems *problems)
{
	size_t kept = 0;

	for (size_t i = 0; i < problems->count; i++) {
		struct opk_problem *problem = &problems->items[i];
		const struct opk_source *source = problem->place.source;
		bool hidden = source && source->hidden;

		if (hidden && !is_first(problems, kept, source)) {
			clear(problem);
			continue;
		}
		if (hidden) {
			free(problem->text);
			problem->text = opk_strdup(
				"not a sound metric set; a check of this file alone shows its "
				"errors: here only those of files in the including set's folder "
				"that end in .yaml or .yml are shown");
			problem->place.line = problem->place.column = 1;
		}
		if (!problem->text) {
			problems->code = OPK_ENOMEM;
			problem->text = opk_strdup("");
		}
		problems->items[kept++] = *problem;
	}
	problems->count = kept;
}

void opk_problems_drop(struct opk_problems *problems, const struct opk_problems *known)
{
	size_t kept = 0;

	for (size_t i = 0; i < problems->count; i++) {
		struct opk_problem *problem = &problems->items[i];

		if (has(known, &problem->place, problem->text))
			clear(problem);
		else
			problems->items[kept++] = *problem;
	}
	problems->count = kept;
}

void opk_problems_clear(struct opk_problems *problems)
{
	for (size_t i = 0; i < problems->count; i++)
		clear(&problems->items[i]);
	free(problems->items);
	*problems = (struct opk_problems){ 0 };
}
