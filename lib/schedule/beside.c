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

bool opk_beside_note(struct opk_beside *b, const struct opk_question *q)
{
	if (!b->marks) {
		b->marks = opk_alloc_array(q->names->count + 1, sizeof *b->marks);
		b->mark_count = b->marks ? q->names->count : 0;
	}
	if (!b->marks)
		return false;
	if (b->like != q->scheduler)
		forget(b);
	b->like = q->scheduler;
	for (size_t i = 0; i < b->mark_count; i++)
		b->marks[i] &= HELD;
	for (size_t i = 0; i < q->count; i++)
		b->marks[q->counters[i]] |= FITTING;
	b->fitting_count = q->count;
	return true;
}

/* Whether the question has all counters that fit, and at least one more. */
static bool are_more(const struct opk_beside *b, const struct opk_question *q)
{
	size_t found = 0;

	for (size_t i = 0; i < q->count; i++)
		found += (b->marks[q->counters[i]] & FITTING) != 0;
	return found == b->fitting_count && q->count > found;
}

/* Lists the names of counters with the one mark and without the other. */
static size_t list(const char **out, const struct opk_beside *b, const struct opk_question *q,
                   uint8_t mark, uint8_t without)
{
	size_t used = 0;

	for (size_t i = 0; i < q->count; i++)
		if ((b->marks[q->counters[i]] & (mark | without)) == mark)
			out[used++] = q->names->items[q->counters[i]];
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
static int hold(struct opk_beside *b, struct opk_ctx *ctx, const struct opk_question *q,
                const char **room)
{
	size_t used;

	if (!b->pass || holds_other(b)) {
		opk_nv_scheduler_free(opk_take(b->pass));
		for (size_t i = 0; i < b->mark_count; i++)
			b->marks[i] &= FITTING;
		TRY(opk_nv_scheduler_like(&b->pass, ctx, b->like, NULL));
	}
	used = list(room, b, q, FITTING, HELD);
	if (used)
		TRY(opk_nv_scheduler_hold(ctx, b->pass, room, used));
	for (size_t i = 0; i < q->count; i++)
		if (b->marks[q->counters[i]] & FITTING)
			b->marks[q->counters[i]] |= HELD;
	b->held_count = b->fitting_count;
	return OPK_OK;
}

/* If the library can't hold counters, all of them are asked about. */
static int begin(bool *held, struct opk_beside *b, struct opk_ctx *ctx,
                 const struct opk_question *q, const char **room)
{
	int code;

	*held = b->fitting_count > FEW && are_more(b, q);
	if (!*held)
		return OPK_OK;
	code = hold(b, ctx, q, room);
	*held = !code;
	return opk_allow(ctx, code, OPK_ENVIDIA);
}

int opk_beside_ask(bool *out, struct opk_ctx *ctx, struct opk_beside *b,
                   const struct opk_question *q)
{
	opk_autofree const char **asked = opk_alloc_array(q->count + 1, sizeof *asked);
	bool held = false;

	if (!asked)
		return opk_nomem(ctx, "raw counters");
	if (b->like == q->scheduler)
		TRY(begin(&held, b, ctx, q, asked));
	if (held)
		return opk_nv_scheduler_fits(out, ctx, b->pass, asked, list(asked, b, q, 0, HELD));
	for (size_t i = 0; i < q->count; i++)
		asked[i] = q->names->items[q->counters[i]];
	return opk_nv_scheduler_fits(out, ctx, q->scheduler, asked, q->count);
}
