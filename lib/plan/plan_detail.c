/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What each pass of a plan is for: raw counters and domains per pass, raw counters per metric, and
 * what each metric costs.
 */
#include <string.h>

#include "adapters/nv/nv.h"
#include "plan/plan_detail.h"
#include "schedule/schedule.h"

/* ---- what a plan saves without a metric */

/* If a pass has more counters, they are not moved: they rarely fit elsewhere. */
enum { MOVABLE = 4 };

struct saving {
	struct opk_ctx *ctx;
	const struct opk_patience *patience;
	const struct opk_counters *counters;
	const struct opk_parts *parts;
	const struct opk_schedule *schedule;
	size_t *needed;  /* one per counter: how many metrics need it */
	size_t *pass_of; /* a copy to move counters in; SIZE_MAX: removed */
	size_t *counts;  /* passes, one per part */
	const char **names;
	/* For each counter and pass, while the pass is unchanged: whether it has room. */
	enum opk_room { ROOM_UNKNOWN, ROOM, NO_ROOM } * room;
};

static size_t passes_of(const struct saving *s, const struct opk_part *part)
{
	size_t count = 0;

	for (size_t pass = 0; pass < s->schedule->passes; pass++)
		for (size_t i = 0; i < part->count; i++)
			if (s->pass_of[part->members[i]] == pass) {
				count++;
				break;
			}
	return count;
}

/* The part's pass with the fewest counters, and their number; SIZE_MAX if it has no pass. */
static size_t emptiest(size_t *fewest, const struct saving *s, const struct opk_part *part)
{
	size_t best = SIZE_MAX;

	for (size_t pass = 0; pass < s->schedule->passes; pass++) {
		size_t here = 0;

		for (size_t i = 0; i < part->count; i++)
			here += s->pass_of[part->members[i]] == pass;
		if (here && (best == SIZE_MAX || here < *fewest)) {
			best = pass;
			*fewest = here;
		}
	}
	return best;
}

static int ask(bool *out, const struct saving *s, const struct opk_part *part, size_t pass,
               size_t counter)
{
	size_t used = 0;

	s->names[used++] = s->counters->names.items[counter];
	for (size_t i = 0; i < part->count; i++)
		if (s->pass_of[part->members[i]] == pass)
			s->names[used++] = s->counters->names.items[part->members[i]];
	*out = used > 1;
	return *out ? opk_nv_scheduler_fits(out, s->ctx, part->scheduler, s->names, used) : OPK_OK;
}

/* No counter of the part was added to the pass, or removed. */
static bool is_unchanged(const struct saving *s, const struct opk_part *part, size_t pass)
{
	for (size_t i = 0; i < part->count; i++)
		if ((s->pass_of[part->members[i]] == pass)
		    != (s->schedule->pass_of[part->members[i]] == pass))
			return false;
	return true;
}

/* Nearly all passes are unchanged, so most questions are asked only once. */
static int fits(bool *out, const struct saving *s, const struct opk_part *part, size_t pass,
                size_t counter)
{
	enum opk_room *room = &s->room[counter * s->schedule->passes + pass];
	bool known = is_unchanged(s, part, pass);

	if (known && *room != ROOM_UNKNOWN) {
		*out = *room == ROOM;
		return OPK_OK;
	}
	TRY(ask(out, s, part, pass, counter));
	if (known)
		*room = *out ? ROOM : NO_ROOM;
	return OPK_OK;
}

/* Moves a counter to another of the part's passes that has room. */
static int move(bool *moved, struct saving *s, const struct opk_part *part, size_t counter,
                size_t from)
{
	*moved = false;
	for (size_t pass = 0; !*moved && pass < s->schedule->passes; pass++) {
		if (pass == from)
			continue;
		TRY(fits(moved, s, part, pass, counter));
		if (*moved)
			s->pass_of[counter] = pass;
	}
	return OPK_OK;
}

static int empty_pass(bool *emptied, struct saving *s, const struct opk_part *part)
{
	size_t fewest = 0, pass = emptiest(&fewest, s, part);

	*emptied = pass != SIZE_MAX && fewest <= MOVABLE && passes_of(s, part) > 1;
	for (size_t i = 0; *emptied && i < part->count; i++) {
		if (s->pass_of[part->members[i]] == pass)
			TRY(move(emptied, s, part, part->members[i], pass));
	}
	return OPK_OK;
}

/* Removes the counters that only this metric needs; false if there are none. */
static bool take_out(struct saving *s, size_t metric)
{
	bool any = false;

	memcpy(s->pass_of, s->schedule->pass_of, s->counters->names.count * sizeof *s->pass_of);
	for (size_t i = s->counters->first[metric]; i < s->counters->first[metric + 1]; i++)
		if (s->needed[s->counters->needs[i]] == 1) {
			s->pass_of[s->counters->needs[i]] = SIZE_MAX;
			any = true;
		}
	return any;
}

static bool lost_counters(const struct saving *s, const struct opk_part *part)
{
	for (size_t i = 0; i < part->count; i++)
		if (s->pass_of[part->members[i]] != s->schedule->pass_of[part->members[i]])
			return true;
	return false;
}

static int find_saving(size_t *out, struct saving *s, size_t metric, size_t passes)
{
	size_t first;

	if (!take_out(s, metric))
		return OPK_OK;
	for (size_t i = 0; i < s->parts->count; i++) {
		const struct opk_part *part = &s->parts->all[i];
		bool emptied = lost_counters(s, part);

		while (emptied && !opk_patience_over(s->patience))
			TRY(empty_pass(&emptied, s, part));
		s->counts[i] = passes_of(s, part);
	}
	first = opk_parts_passes(&first, s->parts, s->counts);
	*out = first < passes ? passes - first : 0;
	return OPK_OK;
}

/* ---- passes */

/* Finds the domains of the counters in the plan's only pass. */
static int find_single_domains(struct opk_plan_detail *detail, struct opk_ctx *ctx,
                               const struct opk_plan *plan)
{
	opk_auto(opk_nv_scheduler) struct opk_nv_scheduler *scheduler = NULL;
	int code = opk_nv_scheduler_new(&scheduler, ctx, plan->target.chip, NULL);

	if (!code)
		code = opk_parts_split(&detail->parts, ctx, &detail->counters, scheduler);
	if (code)
		return opk_allow(ctx, opk_allow(ctx, code, OPK_ENVIDIA), OPK_EUSAGE);
	detail->fill = opk_alloc_array(detail->parts.count + 1, sizeof *detail->fill);
	if (!detail->fill)
		return opk_nomem(ctx, "a plan");
	for (size_t i = 0; i < detail->parts.count; i++) {
		detail->fill[i] = detail->parts.all[i].count;
		detail->parts.all[i].bound = 1;
	}
	return OPK_OK;
}

/* PerfWorks' evaluator does not know PM-sampling metrics: the image lists their counters. */
static int load_single(struct opk_plan_detail *detail, struct opk_ctx *ctx,
                       const struct opk_plan *plan)
{
	const struct opk_strlist *here = &detail->use.counters[0];

	for (size_t i = 0; i < here->count; i++)
		if (!opk_strlist_add(&detail->counters.names, here->items[i]))
			return opk_nomem(ctx, "a plan");
	detail->lower_bound = 1;
	return find_single_domains(detail, ctx, plan);
}

/* ---- domains */

static int describe_part(struct opk_plan_detail *detail, struct opk_ctx *ctx,
                         const struct opk_schedule *schedule, size_t at)
{
	struct opk_part *part = &detail->parts.all[at];
	size_t parts = detail->parts.count;

	TRY(opk_part_begin(part, ctx, schedule));
	TRY(opk_part_bound(part, ctx, &detail->patience));
	for (size_t i = 0; i < part->count; i++)
		if (schedule->pass_of[part->members[i]] < detail->passes)
			detail->fill[schedule->pass_of[part->members[i]] * parts + at]++;
	return OPK_OK;
}

static int describe_parts(struct opk_plan_detail *detail, struct opk_ctx *ctx,
                          const struct opk_schedule *schedule)
{
	size_t parts = detail->parts.count, first;
	opk_autofree size_t *bounds = opk_alloc_array(parts + 1, sizeof *bounds);

	detail->fill = opk_alloc_array(parts * detail->passes + 1, sizeof *detail->fill);
	if (!bounds || !detail->fill)
		return opk_nomem(ctx, "a plan");
	for (size_t i = 0; i < parts; i++) {
		TRY(describe_part(detail, ctx, schedule, i));
		bounds[i] = detail->parts.all[i].bound;
	}
	detail->lower_bound = opk_parts_passes(&first, &detail->parts, bounds);
	/* The plan may have no separate pass for some part. */
	if (detail->lower_bound > detail->passes)
		detail->lower_bound = detail->passes;
	return OPK_OK;
}

/*
 * Fills saves[i] for each metric: how many passes the plan would save without it. Its own counters
 * are removed, and the few counters left in the emptiest pass of a part are moved to the other
 * passes. Metrics for which no time is left save nothing.
 */
static int find_savings(struct opk_plan_detail *detail, struct opk_ctx *ctx,
                        const struct opk_schedule *schedule)
{
	const struct opk_counters *counters = &detail->counters;
	size_t count = counters->names.count;
	opk_autofree size_t *needed = opk_alloc_array(count + 1, sizeof *needed);
	opk_autofree size_t *pass_of = opk_alloc_array(count + 1, sizeof *pass_of);
	opk_autofree size_t *counts = opk_alloc_array(detail->parts.count + 1, sizeof *counts);
	opk_autofree const char **names = opk_alloc_array(count + 2, sizeof *names);
	opk_autofree enum opk_room *room = opk_alloc_array(count * schedule->passes + 1,
	                                                   sizeof *room);
	struct saving s = {
		.ctx = ctx,
		.patience = &detail->patience,
		.counters = counters,
		.parts = &detail->parts,
		.schedule = schedule,
		.needed = needed,
		.pass_of = pass_of,
		.counts = counts,
		.names = names,
		.room = room,
	};

	if (!(needed && pass_of && counts && names && room))
		return opk_nomem(ctx, "a plan");
	for (size_t i = 0; i < counters->first[counters->metric_count]; i++)
		needed[counters->needs[i]]++;
	for (size_t i = 0; i < counters->metric_count && !opk_patience_over(&detail->patience); i++)
		TRY(find_saving(&detail->saves[i], &s, i, schedule->passes));
	return OPK_OK;
}

static int find_domains(struct opk_plan_detail *detail, struct opk_ctx *ctx,
                        const struct opk_plan *plan, struct opk_nv_scheduler *scheduler)
{
	opk_autoschedule struct opk_schedule schedule = { 0 };

	TRY(opk_parts_split(&detail->parts, ctx, &detail->counters, scheduler));
	TRY(opk_schedule_read(&schedule, ctx, &detail->counters, &plan->schedule));
	TRY(describe_parts(detail, ctx, &schedule));
	TRY(find_savings(detail, ctx, &schedule));
	for (size_t i = 0; i < detail->metrics; i++)
		detail->splits[i] = detail->splits[i]
		                    && opk_schedule_splits(&schedule, &detail->counters, i);
	return OPK_OK;
}

/* Without the domains, plans each metric alone. */
static int bound_by_metrics(struct opk_plan_detail *detail, struct opk_ctx *ctx,
                            const struct opk_plan *plan)
{
	memset(detail->splits, false, detail->metrics * sizeof *detail->splits);
	opk_parts_clear(&detail->parts);
	for (size_t i = 0; i < detail->metrics; i++) {
		const char *name = plan->metrics.items[i];
		opk_autoresult struct opk_schedule_result alone = { 0 };

		TRY(opk_schedule_try(&alone, ctx, &plan->target, &name, 1));
		if (alone.passes > detail->lower_bound)
			detail->lower_bound = alone.passes;
	}
	return OPK_OK;
}

/* ---- what launches cost */

static int find_costs(struct opk_plan_detail *detail, struct opk_ctx *ctx,
                      const struct opk_plan *plan)
{
	opk_autopasscosts struct opk_pass_costs costs = { 0 };
	opk_auto(opk_nv_scheduler) struct opk_nv_scheduler *scheduler = NULL;
	int code = opk_pass_costs_read(&costs, ctx, plan->target.chip);

	detail->measured = costs.count ? opk_printf("%s, %s", costs.gpu, costs.date)
	                               : opk_strdup("");
	if (!code && !detail->measured)
		code = opk_nomem(ctx, "a plan");
	if (code || !costs.count || plan->target.profiler != OPK_PROFILER_RANGE)
		return code;
	code = opk_nv_scheduler_new(&scheduler, ctx, plan->target.chip, NULL);
	for (size_t pass = 0; !code && pass < detail->passes; pass++)
		code = opk_pass_cost_of(&detail->costs[pass], ctx, &costs, scheduler,
		                        &detail->use.counters[pass],
		                        pass + plan->schedule.cheap >= detail->passes);
	return opk_allow(ctx, opk_allow(ctx, code, OPK_ENVIDIA), OPK_EUSAGE);
}

/* ---- all of it */

static int fill(struct opk_plan_detail *detail, struct opk_ctx *ctx, const struct opk_plan *plan)
{
	opk_auto(opk_nv_scheduler) struct opk_nv_scheduler *scheduler = NULL;
	bool single = detail->passes == 1;
	int code;

	if (!single)
		TRY(opk_counters_of(&detail->counters, ctx, plan->target.chip, &plan->metrics));
	TRY(opk_pass_use_find(&detail->use, ctx, plan, &detail->counters));
	detail->lower_bound = 1;
	if (!plan->schedule.config)
		return OPK_OK;
	if (single)
		return load_single(detail, ctx, plan);
	for (size_t i = 0; i < detail->metrics; i++)
		detail->splits[i] = opk_is_ratio(plan->metrics.items[i]);
	code = opk_nv_scheduler_new(&scheduler, ctx, plan->target.chip, NULL);
	if (!code)
		code = find_domains(detail, ctx, plan, scheduler);
	if (code != OPK_ENVIDIA && code != OPK_EUSAGE)
		return code;
	opk_clear_errors(ctx);
	return bound_by_metrics(detail, ctx, plan);
}

OPK_DEFINE_AUTO(opk_plan_detail)

int opk_plan_detail_new(struct opk_plan_detail **out, struct opk_ctx *ctx,
                        const struct opk_plan *plan)
{
	opk_auto(opk_plan_detail) struct opk_plan_detail *detail = opk_alloc(sizeof *detail);
	size_t metrics = plan->metrics.count;

	if (!detail)
		return opk_nomem(ctx, "a plan");
	detail->passes = plan->schedule.passes;
	detail->metrics = metrics;
	detail->patience.end = opk_processor_seconds() + plan->seconds;
	detail->splits = opk_alloc_array(metrics + 1, sizeof *detail->splits);
	detail->saves = opk_alloc_array(metrics + 1, sizeof *detail->saves);
	detail->costs = opk_alloc_array(plan->schedule.passes, sizeof *detail->costs);
	if (!detail->splits || !detail->saves || !detail->costs)
		return opk_nomem(ctx, "a plan");
	TRY(fill(detail, ctx, plan));
	TRY(find_costs(detail, ctx, plan));
	*out = opk_take(detail);
	return OPK_OK;
}

void opk_plan_detail_free(struct opk_plan_detail *detail)
{
	if (!detail)
		return;
	opk_parts_clear(&detail->parts);
	opk_counters_clear(&detail->counters);
	opk_pass_use_clear(&detail->use);
	free(detail->splits);
	free(detail->saves);
	free(detail->fill);
	free(detail->costs);
	free(detail->measured);
	free(detail);
}
