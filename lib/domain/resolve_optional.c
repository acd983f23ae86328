/* SPDX-License-Identifier: BSD-2-Clause */
/* Metrics that may be left out are planned beforehand: CUPTI refuses some that it lists. */
#include <string.h>

#include "domain/refused.h"
#include "domain/resolver.h"

bool opk_resolver_plans(struct opk_resolver *r, const char *const *names, size_t count)
{
	/* A context of its own: trying must not disturb the chain. */
	struct opk_ctx quiet = { .nv = r->ctx->nv };
	struct opk_plan plan = { .chip = (char *)(uintptr_t)r->chip, .profiler = r->profiler };
	size_t passes;
	int code = opk_plan_try(&passes, NULL, NULL, &quiet, &plan, names, count);

	if (code && code != OPK_EUSAGE && code != OPK_EFAILED)
		r->code = opk_fail(r->ctx, code, "%s", opk_error_count(&quiet) ? opk_error_message(&quiet, 0)
		                                                               : "out of memory");
	opk_clear_errors(&quiet);
	return !code;
}

static bool mark(void *data, size_t i, const char *reason)
{
	bool *refused = data;

	(void)reason;
	refused[i] = true;
	return true;
}

static bool may_be_left_out(const struct opk_entry *entry)
{
	return entry->derived == OPK_NOT_DERIVED && entry->optional;
}

/* Those that are refused leave the list. */
static void drop_refused(struct opk_resolver *r, const bool *refused)
{
	opk_autofree bool *marked = opk_alloc_array(r->list->count + 1, sizeof *marked);
	size_t at = 0;

	for (size_t i = 0; marked && i < r->list->count; i++) {
		const struct opk_entry *entry = &r->list->items[i];

		marked[i] = may_be_left_out(entry) && refused[at++];
		if (marked[i])
			opk_resolver_leave_out(r, entry->label ? entry->label->text : entry->name);
	}
	r->problems.no_memory |= !marked;
	if (marked)
		opk_entries_drop(r->list, &r->problems, marked);
}

void opk_resolve_optional(struct opk_resolver *r)
{
	size_t count = 0, all = r->list->count;
	opk_autofree const char **names = opk_alloc_array(all + 1, sizeof *names);
	opk_autofree bool *refused = opk_alloc_array(all + 1, sizeof *refused);
	struct opk_plan plan = { .chip = (char *)(uintptr_t)r->chip, .profiler = r->profiler };
	/* PM sampling has one pass, so what needs two can't be sampled. */
	struct opk_refused trial = { .ctx = r->ctx, .plan = &plan, .names = names, .tell = mark, .data = refused,
		                     .max_passes = r->profiler == OPK_PROFILER_PM };
	int code;

	if (!names || !refused) {
		r->problems.no_memory = true;
		return;
	}
	for (size_t i = 0; i < all; i++)
		if (may_be_left_out(&r->list->items[i]))
			names[count++] = r->list->items[i].name;
	code = opk_find_refused(&trial, count);
	if (code)
		r->code = code;
	else if (memchr(refused, true, count))
		drop_refused(r, refused);
}
