/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Asks which counters fit a pass beside those already in it: PerfWorks answers sooner if it is
 * asked about fewer counters, and a growing pass is asked about many times.
 */
#include "schedule/beside.h"

#include "adapters/nv/nv.h"

/* Up to so many counters are asked about in one question, without a pass that holds them. */
enum { FEW = 3 };

/* Marks of a counter. */
enum { HELD = 1, FITTING = 2 };

static void forget(struct opk_beside *b)
{
	opk_nv_scheduler_free(opk_take(b->pass));
	for (size_t i = 0; i < b->mark_count; i++)
		b->marks[i] = 0;
	b->held_count = b->fitting_count = 0;
}

void opk_beside_clear(struct opk_beside *b)
{
	opk_nv_scheduler_free(b->pass);
	free(b->marks);
	*b = (struct opk_beside){ 0 };
}

bool opk_beside_note(struct opk_beside *b, const struct opk_strlist *names,
                     const struct opk_nv_scheduler *scheduler, const size_t *counters, size_t count)
{
	if (!b->marks) {
		b->marks = opk_alloc_array(names->count + 1, sizeof *b->marks);
		b->mark_count = b->marks ? names->count : 0;
	}
	if (!b->marks)
		return false;
	if (b->like != scheduler)
		forget(b);
	b->like = scheduler;
	for (size_t i = 0; i < b->mark_count; i++)
		b->marks[i] &= HELD;
	for (size_t i = 0; i < count; i++)
		b->marks[counters[i]] |= FITTING;
	b->fitting_count = count;
	return true;
}

/* Whether these are all fitting counters and at least one more. */
static bool are_more(const struct opk_beside *b, const size_t *counters, size_t count)
{
	size_t found = 0;

	for (size_t i = 0; i < count; i++)
		found += (b->marks[counters[i]] & FITTING) != 0;
	return found == b->fitting_count && count > found;
}

/* Lists the names of counters with the one mark and without the other. */
static size_t list(const char **out, const struct opk_beside *b, const struct opk_strlist *names,
                   const size_t *counters, size_t count, uint8_t mark, uint8_t without)
{
	size_t used = 0;

	for (size_t i = 0; i < count; i++)
		if ((b->marks[counters[i]] & (mark | without)) == mark)
			out[used++] = names->items[counters[i]];
	return used;
}

/* Whether the pass holds a counter that is not marked as fitting. */
static bool holds_other(const struct opk_beside *b)
{
	size_t both = 0;

	for (size_t i = 0; i < b->mark_count; i++)
		both += b->marks[i] == (HELD | FITTING);
	return both < b->held_count;
}

/* Makes the pass hold the fitting counters; `counters` includes them. */
static int hold(struct opk_beside *b, struct opk_ctx *ctx, const struct opk_strlist *names,
                const size_t *counters, size_t count, const char **room)
{
	size_t used;

	if (!b->pass || holds_other(b)) {
		opk_nv_scheduler_free(opk_take(b->pass));
		for (size_t i = 0; i < b->mark_count; i++)
			b->marks[i] &= FITTING;
		TRY(opk_nv_scheduler_like(&b->pass, ctx, b->like, NULL));
	}
	used = list(room, b, names, counters, count, FITTING, HELD);
	if (used)
		TRY(opk_nv_scheduler_hold(ctx, b->pass, room, used));
	for (size_t i = 0; i < count; i++)
		if (b->marks[counters[i]] & FITTING)
			b->marks[counters[i]] |= HELD;
	b->held_count = b->fitting_count;
	return OPK_OK;
}

/* If the library can't hold counters, all of them are asked about. */
static int begin(bool *held, struct opk_beside *b, struct opk_ctx *ctx,
                 const struct opk_strlist *names, const size_t *counters, size_t count,
                 const char **room)
{
	int code;

	*held = b->fitting_count > FEW && are_more(b, counters, count);
	if (!*held)
		return OPK_OK;
	code = hold(b, ctx, names, counters, count, room);
	*held = !code;
	return opk_allow(ctx, code, OPK_ENVIDIA);
}

int opk_beside_ask(bool *out, struct opk_ctx *ctx, struct opk_beside *b,
                   const struct opk_strlist *names, struct opk_nv_scheduler *scheduler,
                   const size_t *counters, size_t count)
{
	opk_autofree const char **asked = opk_alloc_array(count + 1, sizeof *asked);
	bool held = false;

	if (!asked)
		return opk_nomem(ctx, "raw counters");
	if (b->like == scheduler)
		TRY(begin(&held, b, ctx, names, counters, count, asked));
	if (held)
		return opk_nv_scheduler_fits(out, ctx, b->pass, asked,
		                             list(asked, b, names, counters, count, 0, HELD));
	for (size_t i = 0; i < count; i++)
		asked[i] = names->items[counters[i]];
	return opk_nv_scheduler_fits(out, ctx, scheduler, asked, count);
}
