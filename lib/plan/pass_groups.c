/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Packs the metrics of a plan into as few pass groups as is reasonable: as PerfWorks'
 * scheduler says what fits a pass. What CUPTI does not agree to goes first-fit: each candidate is
 * planned, to see whether it fits.
 */
#include "plan/plan.h"

#include <string.h>

#include "adapters/nv/nv.h"
#include "child/child.h"
#include "schedule/schedule.h"

/* A candidate takes two milliseconds. After so many, only the newest group is tried. */
enum { MAX_CANDIDATES = 2000 };

struct pack {
	struct opk_ctx *ctx;
	const struct opk_plan *plan;
	struct opk_pass_groups *groups;
	const char **names; /* of a candidate */
	size_t *members;    /* of a candidate */
	bool *done;         /* one a metric: it is in a group, or fits none */
	size_t candidates;  /* tried so far */
	void (*progress)(void *data, uint64_t done, uint64_t total);
	void *progress_data;
};

static void free_group(struct opk_pass_group *group)
{
	free(group->metrics);
	opk_schedule_result_clear(&group->schedule);
}

/* Takes the first `count` of p->members over into *group where they fit one pass. */
static int try_members(bool *fits, struct pack *p, struct opk_pass_group *group, size_t count)
{
	opk_autoresult struct opk_schedule_result result = { 0 };
	size_t *members;
	int code;

	for (size_t i = 0; i < count; i++)
		p->names[i] = p->plan->metrics.items[p->members[i]];
	p->candidates++;
	code = opk_schedule_try(&result, p->ctx, &p->plan->target, p->names, count);
	*fits = !code && result.passes == 1;
	if (!*fits)
		return code;
	members = opk_realloc_array(group->metrics, count, sizeof *members);
	if (!members)
		return opk_nomem(p->ctx, "pass groups");
	memcpy(members, p->members, count * sizeof *members);
	opk_schedule_result_clear(&group->schedule);
	*group = (struct opk_pass_group){ members, count, result };
	result.config = NULL;
	for (size_t i = 0; i < count; i++)
		p->done[members[i]] = true;
	return OPK_OK;
}

/* A group of its own, if they fit one pass. */
static int try_new(bool *fits, struct pack *p, size_t count)
{
	struct opk_pass_groups *groups = p->groups;
	int code;

	if (!opk_grow(&groups->items, &groups->capacity, groups->count, sizeof *groups->items))
		return opk_nomem(p->ctx, "pass groups");
	groups->items[groups->count] = (struct opk_pass_group){ 0 };
	code = try_members(fits, p, &groups->items[groups->count], count);
	groups->count += !code && *fits;
	return code;
}

/* The members of a group with one more, in the order of the set. */
static size_t with(struct pack *p, const struct opk_pass_group *group, size_t metric)
{
	size_t before = 0;

	while (before < group->metric_count && group->metrics[before] < metric)
		before++;
	memcpy(p->members, group->metrics, before * sizeof *p->members);
	p->members[before] = metric;
	memcpy(p->members + before + 1, group->metrics + before,
	       (group->metric_count - before) * sizeof *p->members);
	return group->metric_count + 1;
}

/* ---- PerfWorks' scheduler says at once what might fit */

struct packing_metrics {
	struct opk_counters counters;
	struct opk_nv_scheduler *scheduler;
	size_t *metrics; /* those that fit a pass alone: the items */
	size_t count;
	struct opk_parts parts;          /* none: not known */
	const struct opk_part **part_of; /* one a counter */
	size_t *asked;                   /* room for all counters */
	bool *seen;                      /* one a counter */
	struct opk_answers answers;
	struct opk_patience patience;
};

/* The counters of these items that are in one part, or of all parts where `part` is NULL. */
static size_t list_counters(struct packing_metrics *m, const struct opk_part *part,
                            const size_t *items, size_t count)
{
	const struct opk_counters *counters = &m->counters;
	size_t used = 0;

	memset(m->seen, false, counters->names.count * sizeof *m->seen);
	/* What was added last goes first: where it does not fit, that is found soonest. */
	for (size_t i = count; i-- > 0;) {
		size_t metric = m->metrics[items[i]];

		for (size_t j = counters->first[metric]; j < counters->first[metric + 1]; j++) {
			size_t counter = counters->needs[j];

			if (m->seen[counter] || (part && m->part_of[counter] != part))
				continue;
			m->seen[counter] = true;
			m->asked[used++] = counter;
		}
	}
	return used;
}

static int ask(bool *out, struct opk_ctx *ctx, struct packing_metrics *m, size_t count)
{
	return opk_answers_ask(out, ctx, &m->answers, &m->counters.names, m->scheduler, m->asked,
	                       count);
}

/* Counters of patched code share no pass with the hardware's, whatever the parts say. */
static bool has_both(const struct packing_metrics *m, size_t count)
{
	bool software = false, hardware = false;

	for (size_t i = 0; i < count; i++) {
		const struct opk_part *part = m->part_of[m->asked[i]];

		software |= part && part->software;
		hardware |= part && !part->software;
	}
	return software && hardware;
}

/*
 * An opk_packing_fits; items are metrics by their place in that list. Parts don't compete, so each
 * is asked about alone: most were asked before.
 */
static int fit_together(bool *out, struct opk_ctx *ctx, void *data, const size_t *items,
                        size_t count)
{
	struct packing_metrics *m = data;
	size_t used = list_counters(m, NULL, items, count);
	int code = OPK_OK;

	if (!m->parts.count || has_both(m, used))
		return ask(out, ctx, m, used);
	*out = true;
	for (size_t i = 0; !code && *out && i < m->parts.count; i++) {
		used = list_counters(m, &m->parts.all[i], items, count);
		if (used)
			code = ask(out, ctx, m, used);
	}
	return code;
}

/* Without the parts, where the library lacks a call, all counters are asked about together. */
static int find_parts(struct packing_metrics *m, struct opk_ctx *ctx)
{
	int code = opk_parts_split(&m->parts, ctx, &m->counters, m->scheduler);

	for (size_t i = 0; !code && i < m->parts.count; i++)
		for (size_t j = 0; j < m->parts.all[i].count; j++)
			m->part_of[m->parts.all[i].members[j]] = &m->parts.all[i];
	return opk_allow(ctx, opk_allow(ctx, code, OPK_ENVIDIA), OPK_EUSAGE);
}

static bool allocate(struct packing_metrics *m, size_t metrics)
{
	size_t counters = m->counters.names.count;

	m->metrics = opk_alloc_array(metrics + 1, sizeof *m->metrics);
	m->asked = opk_alloc_array(counters + 1, sizeof *m->asked);
	m->seen = opk_alloc_array(counters + 1, sizeof *m->seen);
	m->part_of = opk_alloc_array(counters + 1, sizeof(struct opk_part *));
	return m->metrics && m->asked && m->seen && m->part_of;
}

static int find_items(struct packing_metrics *m, struct pack *p)
{
	size_t count = p->plan->metrics.count;
	int code = opk_nv_scheduler_new(&m->scheduler, p->ctx, p->plan->target.chip,
	                                p->plan->target.availability);

	if (!code)
		code = opk_counters_of(&m->counters, p->ctx, p->plan->target.chip,
		                       &p->plan->metrics);
	if (!code && !allocate(m, count))
		code = opk_nomem(p->ctx, "pass groups");
	if (!code)
		code = find_parts(m, p->ctx);
	for (size_t i = 0; !code && i < count; i++) {
		bool fits;

		/* The last one that was added, or the next. */
		m->metrics[m->count] = i;
		code = fit_together(&fits, p->ctx, m, &m->count, 1);
		m->count += !code && fits;
		p->done[i] = !code && !fits;
	}
	return code;
}

/* Bins of metrics as groups, where CUPTI agrees. */
static int take_bins(struct pack *p, const struct packing_metrics *m, const struct opk_bins *bins)
{
	int code = OPK_OK;

	for (size_t bin = 0; !code && bin < bins->count; bin++) {
		size_t count = 0;
		bool fits;

		for (size_t i = 0; i < m->count; i++)
			if (bins->bin_of[i] == bin)
				p->members[count++] = m->metrics[i];
		code = try_new(&fits, p, count);
	}
	return code;
}

static int begin_with_bins(struct pack *p)
{
	struct packing_metrics m = {
		.patience = { .end = opk_processor_seconds() + p->plan->seconds,
		              .progress = p->progress,
		              .progress_data = p->progress_data,
		              .total = 2 * p->plan->metrics.count },
	};
	struct opk_packing packing = { 0 };
	struct opk_bins bins = { 0 };
	int code = find_items(&m, p);

	if (!code)
		code = opk_packing_init(&packing, p->ctx, m.count, fit_together, &m, &m.patience);
	if (!code)
		code = opk_packing_try(&bins, p->ctx, &packing, 0);
	if (!code && bins.count)
		code = take_bins(p, &m, &bins);
	/* What is left then is tried with the newest group alone. */
	if (!code && opk_patience_over(&m.patience))
		p->candidates = MAX_CANDIDATES;
	opk_bins_clear(&bins);
	opk_packing_clear(&packing);
	opk_counters_clear(&m.counters);
	opk_nv_scheduler_free(m.scheduler);
	free(m.metrics);
	free(m.asked);
	free(m.seen);
	free(m.part_of);
	opk_parts_clear(&m.parts);
	opk_answers_clear(&m.answers);
	/* Without the scheduler all go first-fit. */
	return opk_allow(p->ctx, code, OPK_ENVIDIA);
}

/* The first group that takes it, else a new one. */
static int place(struct pack *p, size_t metric)
{
	size_t count = p->groups->count;
	size_t first = p->candidates < MAX_CANDIDATES || !count ? 0 : count - 1;
	bool alone, fits = false;
	int code;

	p->members[0] = metric;
	code = try_new(&alone, p, 1);
	if (code || !alone)
		return code;
	for (size_t i = first; !code && !fits && i < count; i++) {
		struct opk_pass_group *group = &p->groups->items[i];

		code = try_members(&fits, p, group, with(p, group, metric));
	}
	if (fits)
		free_group(&p->groups->items[--p->groups->count]);
	return code;
}

/* CUPTI opens a new pass for what another call adds. */
static int add_groups(struct pack *p, struct opk_nv_host *host)
{
	int code = OPK_OK;

	for (size_t i = 0; !code && i < p->groups->count; i++) {
		const struct opk_pass_group *group = &p->groups->items[i];

		for (size_t j = 0; j < group->metric_count; j++)
			p->names[j] = p->plan->metrics.items[group->metrics[j]];
		code = opk_nv_add_metrics(p->ctx, host, p->names, group->metric_count);
	}
	return code;
}

static int schedule_by_cupti(struct opk_schedule_result *out, struct pack *p)
{
	const struct opk_target *target = &p->plan->target;
	opk_auto(opk_nv_host) struct opk_nv_host *host = NULL;
	int code = opk_nv_host_new(&host, p->ctx, target->chip, target->profiler,
	                           target->availability);

	if (!code)
		code = add_groups(p, host);
	return code ? code : opk_schedule_image(out, p->ctx, host);
}

static int add_passes(struct pack *p, struct opk_nv_evaluator *evaluator,
                      struct opk_nv_scheduler *scheduler)
{
	int code = OPK_OK;

	for (size_t i = 0; !code && i < p->groups->count; i++) {
		const struct opk_pass_group *group = &p->groups->items[i];
		opk_autostrlist struct opk_strlist raw = { 0 };

		for (size_t j = 0; !code && j < group->metric_count; j++)
			code = opk_nv_raw_counters(&raw, p->ctx, evaluator,
			                           p->plan->metrics.items[group->metrics[j]]);
		if (!code)
			code = opk_nv_scheduler_add_pass(p->ctx, scheduler, opk_strlist_items(&raw),
			                                 raw.count);
	}
	return code;
}

/* The same where CUPTI refuses the groups together. */
static int schedule_by_perfworks(struct opk_schedule_result *out, struct pack *p)
{
	const struct opk_target *target = &p->plan->target;
	opk_auto(opk_nv_evaluator) struct opk_nv_evaluator *evaluator = NULL;
	opk_auto(opk_nv_scheduler) struct opk_nv_scheduler *scheduler = NULL;
	int code = opk_nv_evaluator_new(&evaluator, p->ctx, target->chip);

	if (!code)
		code = opk_nv_scheduler_new(&scheduler, p->ctx, target->chip, target->availability);
	if (!code)
		code = add_passes(p, evaluator, scheduler);
	if (!code)
		code = opk_nv_scheduler_image(&out->config, &out->size, &out->passes, p->ctx,
		                              scheduler);
	return code ? code : opk_nv_passes(&out->passes, p->ctx, out->config, out->size);
}

static int schedule(struct pack *p)
{
	struct opk_schedule_result *made = &p->groups->schedule;
	int code = p->plan->schedule.apart ? schedule_by_perfworks(made, p)
	                                   : schedule_by_cupti(made, p);

	if (code || made->passes == p->groups->count)
		return code;
	return opk_fail(
		p->ctx, OPK_EFAILED,
		"CUPTI takes %zu pass%s for %zu pass groups; --no-groups builds without them",
		made->passes, made->passes == 1 ? "" : "es", p->groups->count);
}

static int pack(struct opk_pass_groups *groups, struct opk_ctx *ctx, const struct opk_plan *plan)
{
	size_t count = plan->metrics.count;
	opk_autofree const char **names = opk_alloc_array(count, sizeof *names);
	opk_autofree size_t *members = opk_alloc_array(count, sizeof *members);
	opk_autofree bool *done = opk_alloc_array(count, sizeof *done);
	struct pack p = {
		.ctx = ctx,
		.plan = plan,
		.groups = groups,
		.names = names,
		.members = members,
		.done = done,
		.progress = plan->progress,
		.progress_data = plan->progress_data,
	};
	int code = names && members && done ? begin_with_bins(&p) : opk_nomem(ctx, "pass groups");

	for (size_t i = 0; !code && i < count; i++)
		if (!done[i])
			code = place(&p, i);
	return code || !groups->count ? code : schedule(&p);
}

/* ---- with an availability image, in a child: nothing can be checked of one */

struct contained_pack {
	const struct opk_plan *plan;
	const void *availability;
	size_t availability_size;
};

static void put_groups(struct opk_child *child, const struct opk_pass_groups *groups)
{
	opk_put_number(child, groups->count);
	for (size_t i = 0; i < groups->count; i++) {
		const struct opk_pass_group *group = &groups->items[i];

		opk_put_bytes(child, group->metrics, group->metric_count * sizeof *group->metrics);
		opk_put_bytes(child, group->schedule.config, group->schedule.size);
	}
	opk_put_bytes(child, groups->schedule.config, groups->schedule.size);
}

static int pack_in_child(struct opk_ctx *ctx, void *data, struct opk_child *child)
{
	const struct contained_pack *job = data;
	struct opk_plan plan = *job->plan;
	opk_autopassgroups struct opk_pass_groups groups = { 0 };
	int code;

	plan.target.availability = opk_child_guarded_copy(job->availability,
	                                                  job->availability_size);
	if (!plan.target.availability)
		return opk_nomem(ctx, "a counter-availability image");
	code = pack(&groups, ctx, &plan);
	if (!code)
		put_groups(child, &groups);
	return code;
}

static void get_group(struct opk_pass_group *group, struct opk_result *result, size_t metrics)
{
	size_t size;

	group->metrics = opk_get_bytes(&size, result, metrics * sizeof *group->metrics);
	group->metric_count = size / sizeof *group->metrics;
	group->schedule.passes = 1;
	group->schedule.config = opk_get_bytes(&group->schedule.size, result, OPK_MAX_CONFIG);
	opk_result_expect(result, group->metric_count && group->schedule.size);
	for (size_t i = 0; i < group->metric_count; i++)
		opk_result_expect(result, group->metrics[i] < metrics);
}

static int read_contained(struct opk_pass_groups *groups, struct opk_ctx *ctx,
                          struct opk_result *result, size_t metrics)
{
	size_t count = opk_get_number(result, metrics);

	groups->items = opk_alloc_array(count + 1, sizeof *groups->items);
	if (!groups->items)
		return opk_nomem(ctx, "pass groups");
	while (groups->count < count && !result->code)
		get_group(&groups->items[groups->count++], result, metrics);
	groups->schedule.passes = count;
	groups->schedule.config = opk_get_bytes(&groups->schedule.size, result, OPK_MAX_CONFIG);
	opk_result_expect(result, !count || groups->schedule.size);
	return opk_result_check(result, ctx);
}

int opk_pass_groups_pack(struct opk_pass_groups *out, struct opk_ctx *ctx,
                         const struct opk_plan *plan, const void *availability,
                         size_t availability_size)
{
	struct contained_pack job = { plan, availability, availability_size };
	struct opk_contain_options contain = { .timeout_s = 600 };
	opk_autopassgroups struct opk_pass_groups groups = { 0 };
	opk_autosent struct opk_result result = { 0 };
	int code;

	if (!availability)
		code = pack(&groups, ctx, plan);
	else if (!(code = opk_contain(&result, ctx, pack_in_child, &job, &contain)))
		code = read_contained(&groups, ctx, &result, plan->metrics.count);
	if (code)
		return opk_add(ctx, code, "set %s can't be packed into pass groups",
		               plan->set_name);
	*out = groups;
	groups = (struct opk_pass_groups){ 0 };
	return OPK_OK;
}

void opk_pass_groups_clear(struct opk_pass_groups *groups)
{
	for (size_t i = 0; i < groups->count; i++)
		free_group(&groups->items[i]);
	free(groups->items);
	opk_schedule_result_clear(&groups->schedule);
	*groups = (struct opk_pass_groups){ 0 };
}
