/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A plan of fewer passes than CUPTI's. CUPTI takes the metrics in order and each raw counter into
 * the first pass with room; here counters that clash with many others go first, and the parts of
 * the GPU that share no counter domain are packed apart. What comes of it is a config image as
 * CUPTI would make it.
 */
#include "plan/pass_costs.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "adapters/nv/nv.h"
#include "schedule/schedule.h"
#include "child/child.h"

/* Progress is reported in hundredths. */
enum { PROGRESS = 100 };

/* Shuffles at a time, and all there are by default: fewer where each takes long. */
enum { BIG = 100, FEW_OF_BIG = 4, FEW = 16 };

struct searching {
	struct opk_ctx *ctx;
	struct opk_plan *plan;
	const struct opk_plan_options *options;
	struct opk_counters counters;
	struct opk_nv_scheduler *scheduler;
	/* For a cheap plan: what domains cost, PerfWorks without the dear ones, and the counters
	   that it has no room for. */
	struct opk_pass_costs costs;
	struct opk_nv_scheduler *cheap;
	bool *dear;
	struct opk_parts parts;
	bool *ratios;   /* one a metric */
	bool *whole;    /* one a part */
	size_t *counts; /* room for one a part */
	struct opk_patience patience;
	/* For the shuffles that are tried now. */
	struct opk_part *part;
	uint64_t seed;
	double shuffle_seconds; /* for each at most */
	double begun;
};

double opk_plan_seconds(const struct opk_plan_options *options)
{
	return options->effort == 0 ? OPK_DEFAULT_SECONDS
	                            : fmax(options->effort, OPK_LEAST_SECONDS);
}

/* In parts of a whole: what is counted in between changes. */
static void report(void *data, uint64_t done, uint64_t total)
{
	const struct opk_plan_options *options = data;

	if (options->progress && options->effort <= 0)
		options->progress(options->progress_data,
		                  done < total ? done * PROGRESS / total : PROGRESS, PROGRESS);
}

/* Ratios alone have these submetrics. */
bool opk_is_ratio(const char *metric)
{
	const char *dot = strrchr(metric, '.');

	return dot && (!strcmp(dot, ".ratio") || !strcmp(dot, ".pct") || !strcmp(dot, ".max_rate"));
}

/* ---- shuffles */

/* Even numbers are of loose items, odd ones of whole. */
static struct opk_items *items_of(const struct searching *s, size_t i)
{
	return i % 2 ? &s->part->whole : &s->part->loose;
}

/* In a child, whose processor time begins anew. */
static int shuffle(int32_t *result, struct opk_ctx *ctx, void *data, size_t i)
{
	const struct searching *s = data;
	struct opk_packing packing = items_of(s, i)->packing;
	struct opk_patience patience = { .end = opk_processor_seconds() + s->shuffle_seconds };
	struct opk_bins bins = { 0 };
	int code;

	packing.patience = &patience;
	packing.most = items_of(s, i)->bins.count - 1;
	code = opk_packing_try(&bins, ctx, &packing, s->seed + i / 2);
	*result = bins.count ? (int32_t)bins.count : INT32_MAX;
	opk_bins_clear(&bins);
	return code;
}

/* Keeps the best of these shuffles; the first one of equals. */
static int keep_best(struct searching *s, const int32_t *results, size_t count)
{
	int code = OPK_OK;

	for (size_t i = 0; !code && i < count; i++) {
		struct opk_items *items = items_of(s, i);
		struct opk_packing packing = items->packing;
		struct opk_bins bins = { 0 };

		if ((size_t)results[i] >= items->bins.count)
			continue;
		/* What a child had time for is made again to its end. */
		packing.patience = NULL;
		code = opk_packing_try(&bins, s->ctx, &packing, s->seed + i / 2);
		if (code)
			break;
		opk_bins_clear(&items->bins);
		items->bins = bins;
	}
	return code;
}

static int try_shuffles(struct searching *s, struct opk_part *part, size_t count)
{
	opk_autofree int32_t *results = opk_alloc_array(count, sizeof *results);
	struct opk_workers workers = { .job = shuffle, .data = s };
	int code;

	s->part = part;
	s->shuffle_seconds = fmax(s->patience.end - opk_processor_seconds(), 0);
	if (!results)
		return opk_nomem(s->ctx, "a plan");
	code = opk_workers_run(results, s->ctx, &workers, count);
	if (!code)
		code = keep_best(s, results, count);
	s->seed += (count + 1) / 2;
	return code;
}

static size_t fewest(const struct opk_part *part)
{
	return part->loose.bins.count < part->whole.bins.count ? part->loose.bins.count
	                                                       : part->whole.bins.count;
}

/* The passes that the best bins so far come to. */
static size_t passes_now(const struct searching *s)
{
	size_t first;

	for (size_t i = 0; i < s->parts.count; i++)
		s->counts[i] = fewest(&s->parts.all[i]);
	return opk_parts_passes(&first, &s->parts, s->counts);
}

/* The longest of the hardware's or the software's parts, unless one needs as much in any case. */
static struct opk_part *improvable(const struct searching *s, bool software)
{
	struct opk_part *longest = NULL;
	size_t bound = 0;

	for (size_t i = 0; i < s->parts.count; i++) {
		struct opk_part *part = &s->parts.all[i];

		if (part->software != software)
			continue;
		bound = part->bound > bound ? part->bound : bound;
		if (!longest || fewest(part) > fewest(longest))
			longest = part;
	}
	return longest && fewest(longest) > bound ? longest : NULL;
}

/* The part that makes the plan long; NULL: no shorter plan is known to be possible. */
static struct opk_part *worst_part(const struct searching *s)
{
	struct opk_part *part = improvable(s, false);

	return part ? part : improvable(s, true);
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static int improve(struct searching *s)
{
	double effort = s->options->effort;
	struct opk_part *part;
	int code = OPK_OK;

	s->seed = 1;
	while (!code && (part = worst_part(s)) && !opk_patience_over(&s->patience)) {
		double taken = now() - s->begun;

		if (effort > 0 ? taken >= effort : s->seed > 1)
			break;
		code = try_shuffles(s, part, part->count > BIG ? FEW_OF_BIG : FEW);
		if (s->options->progress && effort > 0)
			s->options->progress(s->options->progress_data,
			                     (uint64_t)(fmin(taken / effort, 1) * PROGRESS),
			                     PROGRESS);
	}
	return code;
}

/* ---- the plan */

/* Ratios stay whole where that costs no pass. */
static void choose_kinds(struct searching *s)
{
	size_t passes = passes_now(s), first;

	for (size_t i = 0; i < s->parts.count; i++) {
		s->counts[i] = s->parts.all[i].whole.bins.count;
		s->whole[i] = opk_parts_passes(&first, &s->parts, s->counts) <= passes;
		if (!s->whole[i])
			s->counts[i] = fewest(&s->parts.all[i]);
	}
}

static bool leave_out(const void *costs, const char *domain)
{
	return opk_domain_is_dear(costs, domain);
}

static bool is_dear_pass(const struct searching *s, const struct opk_schedule *schedule,
                         size_t pass)
{
	for (size_t i = 0; i < s->counters.names.count; i++)
		if (schedule->pass_of[i] == pass && s->dear[i])
			return true;
	return false;
}

/* Dear passes come first. How many there are. */
static size_t order_passes(const struct searching *s, struct opk_schedule *schedule)
{
	size_t dear = 0;

	for (size_t pass = 0; pass < schedule->passes; pass++) {
		if (!is_dear_pass(s, schedule, pass))
			continue;
		for (size_t i = 0; i < s->counters.names.count; i++)
			if (schedule->pass_of[i] == pass || schedule->pass_of[i] == dear)
				schedule->pass_of[i] = schedule->pass_of[i] == pass ? dear : pass;
		dear++;
	}
	return dear;
}

static int add_passes(const struct searching *s, struct opk_nv_scheduler *scheduler,
                      const struct opk_schedule *schedule)
{
	const struct opk_strlist *counters = &s->counters.names;
	opk_autofree const char **names = opk_alloc_array(counters->count + 1, sizeof *names);
	int code = names ? OPK_OK : opk_nomem(s->ctx, "a plan");

	if (!code && s->cheap)
		code = opk_nv_scheduler_without(s->ctx, scheduler, leave_out, &s->costs);
	for (size_t pass = 0; !code && pass < schedule->passes; pass++) {
		size_t count = 0;

		if (s->cheap)
			code = opk_nv_scheduler_choose(s->ctx, scheduler,
			                               is_dear_pass(s, schedule, pass));
		if (code)
			break;

		for (size_t i = 0; i < counters->count; i++)
			if (schedule->pass_of[i] == pass)
				names[count++] = counters->items[i];
		code = opk_nv_scheduler_add_pass(s->ctx, scheduler, names, count);
	}
	return code;
}

static int make_image(struct opk_schedule_result *out, const struct searching *s,
                      const struct opk_schedule *schedule)
{
	opk_auto(opk_nv_scheduler) struct opk_nv_scheduler *scheduler = NULL;
	int code = opk_nv_scheduler_new(&scheduler, s->ctx, s->plan->target.chip,
	                                s->plan->target.availability);

	if (code)
		return code;
	code = add_passes(s, scheduler, schedule);
	if (!code)
		code = opk_nv_scheduler_image(&out->config, &out->size, &out->passes, s->ctx,
		                              scheduler);
	/* CUPTI's own word counts. */
	return code ? code : opk_nv_passes(&out->passes, s->ctx, out->config, out->size);
}

static size_t count_split(const struct searching *s, const struct opk_schedule *schedule)
{
	size_t count = 0;

	for (size_t i = 0; i < s->counters.metric_count; i++)
		count += s->ratios[i] && opk_schedule_splits(schedule, &s->counters, i);
	return count;
}

/* Passes with counters that CUPTI counts in a dear domain. */
static int count_dear(size_t *out, const struct searching *s, const struct opk_schedule *schedule)
{
	opk_autofree bool *dear = opk_alloc_array(schedule->passes + 1, sizeof *dear);
	int code = dear ? OPK_OK : opk_nomem(s->ctx, "a plan");

	*out = 0;
	for (size_t i = 0; !code && i < s->counters.names.count; i++) {
		opk_autostrlist struct opk_strlist domains = { 0 };

		code = opk_nv_counter_domains(&domains, s->ctx, s->scheduler,
		                              s->counters.names.items[i]);
		for (size_t j = 0; !code && j < domains.count; j++)
			if (schedule->pass_of[i] < schedule->passes)
				dear[schedule->pass_of[i]] |= opk_domain_is_dear(&s->costs,
				                                                 domains.items[j]);
	}
	for (size_t i = 0; !code && i < schedule->passes; i++)
		*out += dear[i];
	return code;
}

static bool is_better(const struct searching *s, size_t passes, const struct opk_schedule *ours,
                      const struct opk_schedule *theirs)
{
	return passes < s->plan->schedule.passes
	       || (passes == s->plan->schedule.passes
	           && count_split(s, ours) < count_split(s, theirs));
}

static void take_image(struct opk_plan *plan, struct opk_schedule_result *made, size_t cheap)
{
	struct opk_schedule_result old = plan->schedule;

	made->apart = old.apart;
	made->cheap = cheap;
	plan->schedule = *made;
	*made = old;
}

/* A plan with fewer dear passes, whatever else it has. */
static int replace_dear(struct searching *s, struct opk_schedule *ours)
{
	opk_autoresult struct opk_schedule_result made = { 0 };
	size_t dear = order_passes(s, ours), dear_before;
	struct opk_schedule theirs;
	int code = opk_schedule_read(&theirs, s->ctx, &s->counters, &s->plan->schedule);

	if (code)
		return code;
	code = count_dear(&dear_before, s, &theirs);
	if (!code && dear < dear_before)
		code = make_image(&made, s, ours);
	if (!code && made.passes)
		take_image(s->plan, &made, made.passes - dear);
	opk_schedule_clear(&theirs);
	return code;
}

static int replace(struct searching *s, const struct opk_schedule *ours)
{
	struct opk_plan *plan = s->plan;
	opk_autoresult struct opk_schedule_result made = { 0 };
	struct opk_schedule theirs;
	int code = opk_schedule_read(&theirs, s->ctx, &s->counters, &plan->schedule);

	if (code)
		return code;
	if (is_better(s, ours->passes, ours, &theirs)) {
		code = make_image(&made, s, ours);
		if (!code && is_better(s, made.passes, ours, &theirs))
			take_image(plan, &made, 0);
	}
	opk_schedule_clear(&theirs);
	return code;
}

/* Counters that PerfWorks has no room for without the dear domains. */
static int find_dear(struct searching *s)
{
	size_t count = s->counters.names.count;
	int code = opk_nv_scheduler_new(&s->cheap, s->ctx, s->plan->target.chip,
	                                s->plan->target.availability);

	if (!code)
		code = opk_nv_scheduler_without(s->ctx, s->cheap, leave_out, &s->costs);
	s->dear = opk_alloc_array(count + 1, sizeof *s->dear);
	if (!code && !s->dear)
		code = opk_nomem(s->ctx, "a plan");
	for (size_t i = 0; !code && i < count; i++) {
		const char *name = s->counters.names.items[i];
		bool fits = false;

		/* One that has no other domain is an error to it. */
		if (opk_nv_scheduler_fits(&fits, s->ctx, s->cheap, &name, 1))
			opk_clear_errors(s->ctx);
		s->dear[i] = !fits;
	}
	for (size_t i = 0; !code && i < s->parts.count; i++) {
		s->parts.all[i].cheap = s->cheap;
		s->parts.all[i].dear = s->dear;
	}
	return code;
}

static int prepare(struct searching *s)
{
	const struct opk_plan *plan = s->plan;
	int code = opk_nv_scheduler_new(&s->scheduler, s->ctx, plan->target.chip,
	                                plan->target.availability);

	if (!code)
		code = opk_counters_of(&s->counters, s->ctx, plan->target.chip, &plan->metrics);
	if (!code)
		code = opk_parts_split(&s->parts, s->ctx, &s->counters, s->scheduler);
	if (!code && s->costs.count)
		code = find_dear(s);
	/* Items are counted three times: their pairs, and in both packings. */
	s->patience.total = 4 * s->counters.names.count;
	s->ratios = opk_alloc_array(plan->metrics.count + 1, sizeof *s->ratios);
	s->whole = opk_alloc_array(s->parts.count + 1, sizeof *s->whole);
	s->counts = opk_alloc_array(s->parts.count + 1, sizeof *s->counts);
	if (!code && (!s->ratios || !s->whole || !s->counts))
		code = opk_nomem(s->ctx, "a plan");
	for (size_t i = 0; !code && i < plan->metrics.count; i++)
		s->ratios[i] = opk_is_ratio(plan->metrics.items[i]);
	for (size_t i = 0; !code && i < s->parts.count; i++)
		code = opk_part_pack(&s->parts.all[i], s->ctx, s->ratios, &s->patience);
	return code;
}

static int keep_bounds(struct searching *s)
{
	size_t count = s->parts.count;

	s->plan->bounds = opk_alloc_array(count + 1, sizeof *s->plan->bounds);
	if (!s->plan->bounds)
		return opk_nomem(s->ctx, "a plan");
	s->plan->bound_count = count;
	for (size_t i = 0; i < count; i++)
		s->plan->bounds[i] = s->parts.all[i].bound;
	return OPK_OK;
}

/* Without a packing of every part there is no plan. */
static bool had_time(const struct searching *s)
{
	for (size_t i = 0; i < s->parts.count; i++)
		if (!s->parts.all[i].loose.bins.count || !s->parts.all[i].whole.bins.count)
			return false;
	return true;
}

static int search(struct searching *s)
{
	struct opk_schedule schedule = { 0 };
	int code = prepare(s);

	/* Of a cheap plan they are none. */
	if (!code && !s->cheap)
		code = keep_bounds(s);
	if (!code && !had_time(s)) {
		opk_log(s->ctx, "set %s: no plan of fewer %spasses was found in %g seconds",
		        s->plan->set_name, s->cheap ? "costly " : "", s->plan->seconds);
		return OPK_OK;
	}
	if (!code)
		code = improve(s);
	if (code)
		return code;
	choose_kinds(s);
	code = opk_schedule_compose(&schedule, s->ctx, &s->counters, &s->parts, s->whole,
	                            s->ratios);
	if (!code)
		code = s->cheap ? replace_dear(s, &schedule) : replace(s, &schedule);
	opk_schedule_clear(&schedule);
	return code;
}

/* Of this chip, or else of the one that was measured: their domains have the same names. */
static int read_costs(struct searching *s)
{
	int code = opk_pass_costs_read(&s->costs, s->ctx, s->plan->target.chip);

	if (code || s->costs.count)
		return code;
	opk_pass_costs_clear(&s->costs);
	code = opk_pass_costs_read(&s->costs, s->ctx, "GH100");
	if (!code && s->costs.count)
		opk_log(s->ctx, "what a launch costs was not measured on %s: taken to be as on %s",
		        s->plan->target.chip, s->costs.gpu);
	return code;
}

int opk_plan_search(struct opk_plan *plan, struct opk_ctx *ctx,
                    const struct opk_plan_options *options)
{
	struct searching s = {
		.ctx = ctx,
		.plan = plan,
		.options = options,
		.begun = now(),
		.patience = { .end = opk_processor_seconds() + plan->seconds,
		              .progress = report,
		              .progress_data = (void *)options },
	};
	bool ranges = plan->target.profiler == OPK_PROFILER_RANGE;
	int code = OPK_OK;

	if (ranges && options->prefer_cheap)
		code = read_costs(&s);
	if (!code && ranges && (plan->schedule.passes > 1 || s.costs.count))
		code = search(&s);
	opk_pass_costs_clear(&s.costs);
	opk_nv_scheduler_free(s.cheap);
	free(s.dear);
	opk_parts_clear(&s.parts);
	opk_counters_clear(&s.counters);
	opk_nv_scheduler_free(s.scheduler);
	free(s.ratios);
	free(s.whole);
	free(s.counts);
	/* CUPTI's plan stays where a library, or what it knows of a counter, is missing. */
	if (code == OPK_ENVIDIA || code == OPK_EUSAGE) {
		if (options->effort > 0)
			opk_log(ctx, "no shorter plan is looked for: %s", opk_innermost(ctx));
		opk_clear_errors(ctx);
		return OPK_OK;
	}
	return code ? opk_add(ctx, code, "no shorter plan of set %s on %s", plan->set_name,
	                      plan->target.chip)
	            : OPK_OK;
}
