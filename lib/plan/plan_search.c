/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds a plan with fewer passes than CUPTI's. CUPTI takes the metrics in order and puts each raw
 * counter into the first pass with room. Here, counters that clash with many others go first, and
 * parts of the GPU that share no counter domain are packed apart. The result is a config image as
 * CUPTI would make it.
 */
#include <math.h>
#include <string.h>
#include <time.h>

#include "adapters/nv/nv.h"
#include "plan/pass_costs.h"
#include "schedule/schedule.h"

/* Progress is reported in hundredths. */
enum { PROGRESS = 100 };

/*
 * Tries of a part rank its counters by how late they found room, and later by how many others they
 * clash with, up to a number of tries in all; with seconds to spend, the tries by clashes go on.
 */
enum { LATE_TRIES = 8, TRIES = 26 };
/*
 * If some counters can be counted in more ways than others, clashes matter more than lateness. With
 * many ways a try is costly; after so many tries without a gain, another gain is unlikely.
 */
enum { LATE_TRIES_OF_VARIED = 3, MANY_CHOICES = 56, TRIES_WITHOUT_GAIN = 6 };

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
	bool *ratios;   /* one per metric */
	size_t *counts; /* room for one per part */
	struct opk_patience patience;
	double begun;
};

double opk_plan_seconds(const struct opk_plan_options *options)
{
	return options->effort == 0 ? OPK_DEFAULT_SECONDS
	                            : fmax(options->effort, OPK_LEAST_SECONDS);
}

static bool is_ratio_by_itself(const char *metric)
{
	const char *dot = strrchr(metric, '.');

	return dot && (!strcmp(dot, ".ratio") || !strcmp(dot, ".pct") || !strcmp(dot, ".max_rate"));
}

bool opk_is_ratio(const char *metric)
{
	const char *dot = strrchr(metric, '.');

	return dot
	       && (is_ratio_by_itself(metric) || strstr(dot, ".pct_of_peak_") == dot
	           || strstr(dot, ".per_cycle_") == dot);
}

/* ---- tries */

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* With seconds to spend, only the bound ends the search: no packing has fewer bins. */
static size_t aim(const struct searching *s, const struct opk_part *part)
{
	return s->options->effort > 0 || part->bound > part->enough ? part->bound : part->enough;
}

/* The longest hardware or software part; NULL if another part needs as many passes anyway. */
static struct opk_part *improvable(const struct searching *s, bool software)
{
	struct opk_part *longest = NULL;
	size_t most = 0;

	for (size_t i = 0; i < s->parts.count; i++) {
		struct opk_part *part = &s->parts.all[i];

		if (part->software != software)
			continue;
		most = aim(s, part) > most ? aim(s, part) : most;
		if (!longest || part->bins.count > longest->bins.count)
			longest = part;
	}
	return longest && longest->bins.count > most ? longest : NULL;
}

static size_t late_tries(const struct opk_part *part)
{
	return part->varied ? LATE_TRIES_OF_VARIED : LATE_TRIES;
}

static bool may_gain(const struct opk_part *part)
{
	return part->tries < TRIES
	       && (part->choices < MANY_CHOICES || part->tries < part->gained + TRIES_WITHOUT_GAIN);
}

static bool has_time(const struct searching *s, const struct opk_part *part)
{
	if (opk_patience_over(&s->patience))
		return false;
	return may_gain(part) || (s->options->effort > 0 && now() - s->begun < s->options->effort);
}

static void report(const struct searching *s, const struct opk_part *part)
{
	double done = s->options->effort > 0 ? (now() - s->begun) / s->options->effort
	                                     : (double)part->tries / TRIES;

	opk_progress(s->ctx, OPK_PHASE_PLAN, (uint64_t)(fmin(done, 1) * PROGRESS), PROGRESS);
}

/* With few counters per pass, counters that all clash may be as many as the passes. */
static bool may_clash(const struct opk_part *part)
{
	enum { FEW = 4 };

	return part->count < FEW * part->bins.count;
}

/* Questions cost as much as tries: ask if they are likely to end the search, or are required. */
static int ask(struct searching *s, struct opk_part *part)
{
	bool early = part->tries == 1 && !part->varied && may_clash(part);

	if (part->bins.count <= aim(s, part))
		return OPK_OK;
	if (part->tries == late_tries(part))
		TRY(opk_part_count(part, s->ctx, &s->patience));
	if (early || part->tries == late_tries(part))
		TRY(opk_part_clique(part, s->ctx, &s->patience));
	if (part->tries == TRIES && s->options->effort > 0)
		TRY(opk_part_bound(part, s->ctx, &s->patience));
	return OPK_OK;
}

static int improve(struct searching *s, bool software)
{
	struct opk_part *part;

	while ((part = improvable(s, software)) && has_time(s, part)) {
		TRY(opk_part_try(part, s->ctx));
		TRY(ask(s, part));
		report(s, part);
	}
	return OPK_OK;
}

/* ---- ratios */

/* The number of passes that the best bins so far make, and the first one of software. */
static size_t passes_now(const struct searching *s, size_t *software)
{
	for (size_t i = 0; i < s->parts.count; i++)
		s->counts[i] = s->parts.all[i].bins.count;
	return opk_parts_passes(software, &s->parts, s->counts);
}

/* Each part may use as many passes as the longest part has. */
static int gather(struct searching *s)
{
	size_t software, passes = passes_now(s, &software);

	for (size_t i = 0; i < s->parts.count; i++) {
		struct opk_part *part = &s->parts.all[i];

		TRY(opk_part_join(part, s->ctx, s->ratios));
		TRY(opk_part_gather(part, s->ctx, part->software ? passes - software : software,
		                    &s->patience));
	}
	return OPK_OK;
}

/* ---- the plan */

static bool is_cheap(const void *costs, const char *domain)
{
	return !opk_domain_is_dear(costs, domain);
}

static struct opk_composed composed(const struct searching *s, struct opk_schedule *schedule)
{
	return (struct opk_composed){
		.counters = &s->counters,
		.parts = &s->parts,
		.schedule = schedule,
		.asked = s->scheduler,
		.dear = s->dear,
		.costs = &s->costs,
	};
}

static size_t count_split(const struct searching *s, const struct opk_schedule *schedule)
{
	size_t count = 0;

	for (size_t i = 0; i < s->counters.metric_count; i++)
		count += s->ratios[i] && opk_schedule_splits(schedule, &s->counters, i);
	return count;
}

/* Counts the passes with counters that CUPTI counts in a dear domain. */
static int count_dear(size_t *out, const struct searching *s, const struct opk_schedule *schedule)
{
	opk_autofree bool *dear = opk_alloc_array(schedule->passes + 1, sizeof *dear);

	*out = 0;
	if (!dear)
		return opk_nomem(s->ctx, "a plan");
	for (size_t i = 0; i < s->counters.names.count; i++) {
		opk_autostrlist struct opk_strlist domains = { 0 };
		size_t pass = schedule->pass_of[i];

		TRY(opk_nv_counter_domains(&domains, s->ctx, s->scheduler,
		                           s->counters.names.items[i]));
		for (size_t j = 0; pass < schedule->passes && j < domains.count; j++)
			dear[pass] |= opk_domain_is_dear(&s->costs, domains.items[j]);
	}
	for (size_t i = 0; i < schedule->passes; i++)
		*out += dear[i];
	return OPK_OK;
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

/* A plan with fewer dear passes is taken, even if it has more passes. */
static int replace_dear(struct searching *s, struct opk_schedule *ours,
                        const struct opk_schedule *theirs)
{
	opk_autoresult struct opk_schedule_result made = { 0 };
	struct opk_composed what = composed(s, ours);
	size_t dear = opk_dear_passes_first(&what), dear_before;

	TRY(count_dear(&dear_before, s, theirs));
	if (dear < dear_before)
		TRY(opk_compose_image(&made, s->ctx, &s->plan->target, &what));
	if (made.passes)
		take_image(s->plan, &made, made.passes - dear);
	return OPK_OK;
}

static int replace(struct searching *s, struct opk_schedule *ours,
                   const struct opk_schedule *theirs)
{
	opk_autoresult struct opk_schedule_result made = { 0 };
	struct opk_composed what = composed(s, ours);

	if (!is_better(s, ours->passes, ours, theirs))
		return OPK_OK;
	TRY(opk_compose_image(&made, s->ctx, &s->plan->target, &what));
	if (is_better(s, made.passes, ours, theirs))
		take_image(s->plan, &made, 0);
	return OPK_OK;
}

/* Finds counters that PerfWorks can't place without the dear domains. */
static int find_dear(struct searching *s)
{
	size_t count = s->counters.names.count;

	TRY(opk_nv_scheduler_new(&s->cheap, s->ctx, s->plan->target.chip,
	                         s->plan->target.availability));
	TRY(opk_nv_scheduler_choose(s->ctx, s->cheap, is_cheap, &s->costs));
	s->dear = opk_alloc_array(count + 1, sizeof *s->dear);
	if (!s->dear)
		return opk_nomem(s->ctx, "a plan");
	for (size_t i = 0; i < count; i++) {
		const char *name = s->counters.names.items[i];
		bool fits = false;

		/* PerfWorks reports an error if a counter has no other domain. */
		if (opk_nv_scheduler_fits(&fits, s->ctx, s->cheap, &name, 1))
			opk_clear_errors(s->ctx);
		s->dear[i] = !fits;
	}
	for (size_t i = 0; i < s->parts.count; i++) {
		s->parts.all[i].cheap = s->cheap;
		s->parts.all[i].dear = s->dear;
	}
	return OPK_OK;
}

/* Collects what is known before the first try. */
static int prepare(struct searching *s, const struct opk_schedule *theirs)
{
	const struct opk_plan *plan = s->plan;

	TRY(opk_parts_split(&s->parts, s->ctx, &s->counters, s->scheduler));
	if (s->costs.count)
		TRY(find_dear(s));
	s->ratios = opk_alloc_array(plan->metrics.count + 1, sizeof *s->ratios);
	s->counts = opk_alloc_array(s->parts.count + 1, sizeof *s->counts);
	if (!s->ratios || !s->counts)
		return opk_nomem(s->ctx, "a plan");
	for (size_t i = 0; i < plan->metrics.count; i++)
		s->ratios[i] = is_ratio_by_itself(plan->metrics.items[i]);
	for (size_t i = 0; i < s->parts.count; i++) {
		TRY(opk_part_begin(&s->parts.all[i], s->ctx, theirs));
		TRY(opk_part_join(&s->parts.all[i], s->ctx, s->ratios));
	}
	return OPK_OK;
}

/* CUPTI's plan has no cheap bins to begin with. *done: there was time for all parts. */
static int begin_cheap(bool *done, struct searching *s)
{
	*done = true;
	for (size_t i = 0; s->cheap && i < s->parts.count; i++) {
		*done = !opk_patience_over(&s->patience);
		if (!*done)
			break;
		TRY(opk_part_try(&s->parts.all[i], s->ctx));
	}
	if (!*done)
		opk_log(s->ctx, "set %s: no plan of fewer costly passes was found in %g seconds",
		        s->plan->set_name, s->plan->seconds);
	return OPK_OK;
}

/* Makes the plan from the better bins. */
static int finish(struct searching *s, const struct opk_schedule *theirs)
{
	opk_autoschedule struct opk_schedule schedule = { 0 };
	size_t software;

	/* Not earlier: so many counters are divided by cycles that tries would need more passes. */
	for (size_t i = 0; i < s->counters.metric_count; i++)
		s->ratios[i] = opk_is_ratio(s->plan->metrics.items[i]);
	/* The plan can't become better. */
	if (!s->cheap && passes_now(s, &software) >= theirs->passes && !count_split(s, theirs))
		return OPK_OK;
	TRY(gather(s));
	TRY(opk_schedule_compose(&schedule, s->ctx, &s->counters, &s->parts, s->ratios));
	return (s->cheap ? replace_dear : replace)(s, &schedule, theirs);
}

static int search(struct searching *s)
{
	struct opk_plan *plan = s->plan;
	opk_autoschedule struct opk_schedule theirs = { 0 };
	bool begun = false;

	TRY(opk_nv_scheduler_new(&s->scheduler, s->ctx, plan->target.chip,
	                         plan->target.availability));
	TRY(opk_counters_of(&s->counters, s->ctx, plan->target.chip, &plan->metrics));
	TRY(opk_schedule_read(&theirs, s->ctx, &s->counters, &plan->schedule));
	TRY(prepare(s, &theirs));
	TRY(begin_cheap(&begun, s));
	if (begun) {
		TRY(improve(s, false));
		TRY(improve(s, true));
		TRY(finish(s, &theirs));
	}
	plan->searched = true;
	return OPK_OK;
}

/* Costs on this chip, or else on the measured one: their domains have the same names. */
static int read_costs(struct searching *s)
{
	TRY(opk_pass_costs_read(&s->costs, s->ctx, s->plan->target.chip));
	if (s->costs.count)
		return OPK_OK;
	opk_pass_costs_clear(&s->costs);
	TRY(opk_pass_costs_read(&s->costs, s->ctx, "GH100"));
	if (s->costs.count)
		opk_log(s->ctx, "what a launch costs was not measured on %s: taken to be as on %s",
		        s->plan->target.chip, s->costs.gpu);
	return OPK_OK;
}

static void clear(struct searching *s)
{
	opk_pass_costs_clear(&s->costs);
	opk_nv_scheduler_free(s->cheap);
	free(s->dear);
	opk_parts_clear(&s->parts);
	opk_counters_clear(&s->counters);
	opk_nv_scheduler_free(s->scheduler);
	free(s->ratios);
	free(s->counts);
}

static int search_ranges(struct opk_plan *plan, struct opk_ctx *ctx,
                         const struct opk_plan_options *options)
{
	__attribute__((cleanup(clear))) struct searching s = {
		.ctx = ctx,
		.plan = plan,
		.options = options,
		.begun = now(),
		.patience = { .end = opk_processor_seconds() + plan->seconds },
	};

	if (options->prefer_cheap)
		TRY(read_costs(&s));
	return plan->schedule.passes > 1 || s.costs.count ? search(&s) : OPK_OK;
}

int opk_plan_search(struct opk_plan *plan, struct opk_ctx *ctx,
                    const struct opk_plan_options *options)
{
	int code = plan->target.profiler == OPK_PROFILER_RANGE ? search_ranges(plan, ctx, options)
	                                                       : OPK_OK;

	/* CUPTI's plan stays if a library is missing, or does not know a counter. */
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
