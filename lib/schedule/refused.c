/* SPDX-License-Identifier: BSD-2-Clause */
#include "schedule/refused.h"

struct search {
	const struct opk_refused *what;
	int code; /* of what is no refusal */
	bool ended;
};

static bool is_refused(struct search *s, size_t from, size_t to)
{
	struct opk_ctx *ctx = s->what->ctx;
	size_t passes, most = s->what->max_passes;
	struct opk_errors_mark mark;
	int code;

	opk_errors_mark(&mark, ctx);
	code = opk_plan_try(&passes, NULL, NULL, ctx, s->what->plan, s->what->names + from,
	                    to - from);
	if (!code && most && passes > most)
		code = opk_fail(ctx, OPK_EFAILED, "it needs %zu passes", passes);
	if (code && code != OPK_EUSAGE && code != OPK_EFAILED) {
		s->code = opk_errors_keep(ctx, &mark, code);
		return true;
	}
	if (code && to - from == 1)
		s->ended = !s->what->tell(s->what->data, from,
		                          opk_error_count(ctx) ? opk_error_message(ctx, 0)
		                                               : "out of memory");
	opk_errors_rewind(ctx, &mark);
	return code;
}

/* Halves by halves, since few are refused. */
static void search(struct search *s, size_t from, size_t to)
{
	size_t middle = from + (to - from) / 2;

	if (from == to || s->code || s->ended || !is_refused(s, from, to) || to - from == 1)
		return;
	search(s, from, middle);
	search(s, middle, to);
}

int opk_find_refused(const struct opk_refused *refused, size_t count)
{
	struct search s = { .what = refused };

	search(&s, 0, count);
	return s.code;
}

void opk_tell_refused(struct opk_problems *problems, const struct opk_place *place,
                      const struct opk_plan *plan, const char *name, const char *reason)
{
	opk_problems_add(problems, place,
	                 "%s is listed for %s but can't be scheduled on it, profiler %s (%s)", name,
	                 plan->chip, opk_profiler_name(plan->profiler), reason);
}
