/* SPDX-License-Identifier: BSD-2-Clause */
#include "schedule/refused.h"

struct search {
	const struct opk_refused *what;
	int code; /* of what is no refusal */
	bool ended;
};

/* In a context of its own: trying must not disturb the chain. */
static bool is_refused(struct search *s, size_t from, size_t to)
{
	struct opk_ctx quiet = { .nv = s->what->ctx->nv };
	size_t passes, most = s->what->max_passes;
	int code = opk_plan_try(&passes, NULL, NULL, &quiet, s->what->plan, s->what->names + from,
	                        to - from);
	const char *reason;

	if (!code && most && passes > most)
		code = opk_fail(&quiet, OPK_EFAILED, "it needs %zu passes", passes);
	reason = opk_error_count(&quiet) ? opk_error_message(&quiet, 0) : "out of memory";

	if (code && code != OPK_EUSAGE && code != OPK_EFAILED)
		s->code = opk_fail(s->what->ctx, code, "%s", reason);
	else if (code && to - from == 1)
		s->ended = !s->what->tell(s->what->data, from, reason);
	opk_clear_errors(&quiet);
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
