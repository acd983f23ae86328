/* SPDX-License-Identifier: BSD-2-Clause */
/* Divides a set into plans of a few passes each; an estimate chooses the metrics of each plan. */
#include <string.h>

#include "adapters/nv/nv.h"
#include "base/buf.h"
#include "base/index.h"
#include "base/option_struct.h"
#include "plan/door.h"
#include "plan/filling.h"
#include "plan/plan.h"
#include "schedule/schedule.h"
#include "set/set.h"

/* ---- the division */

/* If at most so many metrics are left, they are tried one by one. */
enum { FEW = 8 };

/* The most orders: the set's own, and the two of split_metrics(). */
enum { ORDERS = 3 };

struct opk_plan_split {
	struct opk_plan **plans;
	size_t count, capacity;
	struct opk_strlist lost; /* columns of the whole set that no plan has */
};

struct splitting {
	struct opk_ctx *ctx;
	const struct opk_set *set;
	struct opk_plan_options options;
	size_t limit, count; /* maximal passes; number of metrics */
	struct opk_plan *whole;
	struct opk_filling filling;
	bool estimates; /* the filling is used */
	size_t order;   /* number of the current order */
	/* Numbers of metrics: still to be planned; being tried. */
	size_t *left, *chosen, *sorted;
	size_t left_count, chosen_count;
};

OPK_DEFINE_AUTO(opk_plan_split)

void opk_plan_split_free(struct opk_plan_split *split)
{
	if (!split)
		return;
	for (size_t i = 0; i < split->count; i++)
		opk_plan_free(split->plans[i]);
	free(split->plans);
	opk_strlist_clear(&split->lost);
	free(split);
}

size_t opk_plan_split_count(const struct opk_plan_split *split)
{
	return split->count;
}

struct opk_plan *opk_plan_split_get(const struct opk_plan_split *split, size_t i)
{
	return i < split->count ? split->plans[i] : NULL;
}

const struct opk_strlist *opk_plan_split_lost(const struct opk_plan_split *split)
{
	return &split->lost;
}

static int compare_numbers(const void *a, const void *b)
{
	const size_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* ---- plans of some metrics */

/* Uses CUPTI's own plan, or if that is too long, searches for a shorter one. */
static int plan_names(struct opk_plan **out, struct splitting *s, const struct opk_strlist *names)
{
	struct opk_plan_options quick = s->options;
	int code;

	quick.effort = -1;
	code = opk_plan_some(out, s->ctx, s->whole, s->set, &quick, names);
	if (code || (*out)->schedule.passes <= s->limit || s->options.effort < 0)
		return code;
	opk_plan_free(opk_take(*out));
	return opk_plan_some(out, s->ctx, s->whole, s->set, &s->options, names);
}

/* Makes a plan; NULL if these metrics need more passes than allowed. */
static int plan_some(struct opk_plan **out, struct splitting *s, const size_t *metrics,
                     size_t count)
{
	opk_auto(opk_plan) struct opk_plan *plan = NULL;
	opk_autostrlist struct opk_strlist names = { 0 };

	*out = NULL;
	/* Restore the set's own order. */
	memcpy(s->sorted, metrics, count * sizeof *metrics);
	qsort(s->sorted, count, sizeof *s->sorted, compare_numbers);
	for (size_t i = 0; i < count; i++)
		if (!opk_strlist_add(&names, s->whole->metrics.items[s->sorted[i]]))
			return opk_nomem(s->ctx, "a plan");
	TRY(plan_names(&plan, s, &names));
	if (plan->schedule.passes <= s->limit)
		*out = opk_take(plan);
	return OPK_OK;
}

/* Reports the metrics that fit no plan. */
static int check_each(struct splitting *s)
{
	opk_autobuf struct opk_buf names = { 0 };
	opk_autofree char *list = NULL;
	size_t refused = 0;

	for (size_t i = 0; i < s->count; i++) {
		opk_auto(opk_plan) struct opk_plan *plan = NULL;

		TRY(plan_some(&plan, s, &i, 1));
		if (!plan)
			opk_buf_add_printf(&names, "%s%s", refused++ ? ", " : "",
			                   s->whole->metrics.items[i]);
	}
	if (!refused)
		return OPK_OK;
	list = opk_buf_take_text(&names);
	if (!list)
		return opk_nomem(s->ctx, "a plan");
	return opk_fail(s->ctx, OPK_EFAILED,
	                "%zu of the metrics of set %s need%s more than %zu pass%s "
	                "by %s on %s: %s",
	                refused, s->set->name, refused == 1 ? "s" : "", s->limit,
	                s->limit == 1 ? "" : "es", refused == 1 ? "itself" : "themselves",
	                s->whole->target.chip, list);
}

/* ---- one plan after another */

/* Reports progress in hundredths of the three orders. */
static void report(const struct splitting *s)
{
	opk_progress(s->ctx, OPK_PHASE_SPLIT,
	             100 * (s->order * s->count + s->count - s->left_count) / (ORDERS * s->count),
	             100);
}

/* Chooses remaining metrics, in order, that seem to fit one plan; without an estimate all. */
static int choose(struct splitting *s)
{
	s->chosen_count = 0;
	if (s->estimates)
		opk_filling_restart(&s->filling);
	for (size_t i = 0; i < s->left_count; i++) {
		bool fits = true;

		if (s->estimates)
			TRY(opk_filling_add(&fits, s->ctx, &s->filling, s->left[i]));
		if (fits)
			s->chosen[s->chosen_count++] = s->left[i];
	}
	/* The first metric's counters may share passes in ways that first fit does not find. */
	if (!s->chosen_count)
		s->chosen[s->chosen_count++] = s->left[0];
	return OPK_OK;
}

/* Plans the chosen metrics, or the longest prefix of them that fits. */
static int plan_chosen(struct opk_plan **out, struct splitting *s)
{
	size_t fits = 0, too_many = s->chosen_count + 1, middle = s->chosen_count;

	*out = NULL;
	while (too_many - fits > 1) {
		struct opk_plan *plan = NULL;

		TRY(plan_some(&plan, s, s->chosen, middle));
		if (plan) {
			opk_plan_free(*out);
			*out = plan;
			fits = middle;
		} else {
			too_many = middle;
		}
		middle = fits + (too_many - fits) / 2;
	}
	s->chosen_count = fits;
	return OPK_OK;
}

/* Adds each remaining metric that still fits. */
static int add_others(struct opk_plan **plan, struct splitting *s)
{
	for (size_t i = 0; i < s->left_count; i++) {
		struct opk_plan *longer = NULL;
		bool has = false;

		for (size_t j = 0; !has && j < s->chosen_count; j++)
			has = s->chosen[j] == s->left[i];
		if (has)
			continue;
		s->chosen[s->chosen_count] = s->left[i];
		TRY(plan_some(&longer, s, s->chosen, s->chosen_count + 1));
		if (!longer)
			continue;
		opk_plan_free(*plan);
		*plan = longer;
		s->chosen_count++;
	}
	return OPK_OK;
}

static void take_chosen(struct splitting *s)
{
	size_t count = 0;

	qsort(s->chosen, s->chosen_count, sizeof *s->chosen, compare_numbers);
	for (size_t i = 0; i < s->left_count; i++)
		if (!bsearch(&s->left[i], s->chosen, s->chosen_count, sizeof *s->chosen,
		             compare_numbers))
			s->left[count++] = s->left[i];
	s->left_count = count;
}

static int add_plan(struct opk_plan_split *split, struct splitting *s)
{
	opk_auto(opk_plan) struct opk_plan *plan = NULL;

	TRY(choose(s));
	TRY(plan_chosen(&plan, s));
	if (!plan)
		return opk_fail(s->ctx, OPK_EFAILED, "%s does not fit a plan of its own",
		                s->whole->metrics.items[s->left[0]]);
	/* If many are left, the estimate has to be enough. */
	if (!s->estimates || s->left_count - s->chosen_count <= FEW)
		TRY(add_others(&plan, s));
	if (!opk_grow(&split->plans, &split->capacity, split->count, sizeof plan))
		return opk_nomem(s->ctx, "a plan");
	split->plans[split->count++] = opk_take(plan);
	take_chosen(s);
	report(s);
	return OPK_OK;
}

/* ---- orders */

struct ranked {
	size_t metric, first, last;
};

static int compare_ranks(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	if (x->last != y->last)
		return x->last < y->last ? -1 : 1;
	return (x->metric > y->metric) - (x->metric < y->metric);
}

/* Ranks metrics so that those with similar passes in the plan of the whole set are adjacent. */
static int rank_by_passes(struct ranked *ranked, struct splitting *s)
{
	const struct opk_counters *counters = &s->filling.counters;
	struct opk_schedule schedule;

	TRY(opk_schedule_read(&schedule, s->ctx, counters, &s->whole->schedule));
	for (size_t i = 0; i < s->count; i++) {
		ranked[i].first = SIZE_MAX;
		for (size_t j = counters->first[i]; j < counters->first[i + 1]; j++) {
			size_t pass = schedule.pass_of[counters->needs[j]];

			if (opk_is_trace(counters->names.items[counters->needs[j]]))
				continue;
			ranked[i].first = pass < ranked[i].first ? pass : ranked[i].first;
			ranked[i].last = pass > ranked[i].last ? pass : ranked[i].last;
		}
	}
	opk_schedule_clear(&schedule);
	return OPK_OK;
}

/* Ranks metrics that need the most counters first. */
static int rank_by_need(struct ranked *ranked, struct splitting *s)
{
	const size_t *first = s->filling.counters.first;

	for (size_t i = 0; i < s->count; i++)
		ranked[i].first = SIZE_MAX - (first[i + 1] - first[i]);
	return OPK_OK;
}

typedef int rank_fn(struct ranked *ranked, struct splitting *s);

/* Orders the metrics; without `rank`, as the set does. */
static int order(struct splitting *s, rank_fn *rank)
{
	opk_autofree struct ranked *ranked = opk_alloc_array(s->count + 1, sizeof *ranked);

	if (!ranked)
		return opk_nomem(s->ctx, "a plan");
	for (size_t i = 0; i < s->count; i++)
		ranked[i].metric = i;
	if (rank)
		TRY(rank(ranked, s));
	qsort(ranked, s->count, sizeof *ranked, compare_ranks);
	for (size_t i = 0; i < s->count; i++)
		s->left[i] = ranked[i].metric;
	s->left_count = s->count;
	return OPK_OK;
}

static int split_by_order(struct opk_plan_split **out, struct splitting *s, rank_fn *rank)
{
	opk_auto(opk_plan_split) struct opk_plan_split *split = opk_alloc(sizeof *split);

	TRY(split ? order(s, rank) : opk_nomem(s->ctx, "a plan"));
	while (s->left_count)
		TRY(add_plan(split, s));
	*out = opk_take(split);
	return OPK_OK;
}

/* ---- all of it */

/* Makes a single plan of all metrics. */
static int take_whole(struct opk_plan_split **out, struct splitting *s)
{
	*out = opk_alloc(sizeof **out);
	if (!*out || !opk_grow(&(*out)->plans, &(*out)->capacity, 0, sizeof s->whole))
		return opk_nomem(s->ctx, "a plan");
	(*out)->plans[(*out)->count++] = opk_take(s->whole);
	return OPK_OK;
}

/* Finds formulas whose metrics are now in several plans. */
static int find_lost(struct opk_plan_split *split, struct splitting *s)
{
	const struct opk_strlist *columns = &s->whole->resolved.columns;
	opk_autoindex struct opk_index kept = { 0 };
	bool ok = true;

	for (size_t i = 0; i < split->count; i++) {
		const struct opk_strlist *some = &split->plans[i]->resolved.columns;

		split->plans[i]->lost = &split->lost;
		for (size_t j = 0; ok && j < some->count; j++)
			ok = opk_index_add(&kept, some->items[j], j, NULL);
	}
	for (size_t i = 0; ok && i < columns->count; i++)
		ok = opk_index_find(NULL, &kept, columns->items[i])
		     || opk_strlist_add(&split->lost, columns->items[i]);
	return ok ? OPK_OK : opk_nomem(s->ctx, "a plan");
}

/* PerfWorks knows only range metrics. */
static int begin_estimates(struct splitting *s)
{
	int code;

	if (s->whole->target.profiler != OPK_PROFILER_RANGE)
		return OPK_OK;
	code = opk_filling_init(&s->filling, s->ctx, s->whole->target.chip, &s->whole->metrics,
	                        s->limit);
	s->estimates = !code;
	return opk_allow(s->ctx, opk_allow(s->ctx, code, OPK_ENVIDIA), OPK_EUSAGE);
}

/* Whether one plan fewer would have less room than the passes that the whole set needs. */
static bool is_shortest(const struct opk_plan_split *split, const struct splitting *s)
{
	return (split->count - 1) * s->limit < s->whole->schedule.passes;
}

/* Finishes a plan as opk_plan_new() does: with a search, and with what it shows. */
static int finish_plan(struct opk_plan **plan, struct splitting *s)
{
	struct opk_plan *searched = NULL;

	if (s->options.effort >= 0 && !(*plan)->searched)
		TRY(opk_plan_some(&searched, s->ctx, s->whole, s->set, &s->options,
		                  &(*plan)->metrics));
	if (searched) {
		opk_plan_free(*plan);
		*plan = searched;
	}
	return opk_plan_resolve(*plan, s->ctx, s->set);
}

static int finish(struct opk_plan_split *split, struct splitting *s)
{
	for (size_t i = 0; i < split->count; i++)
		TRY(finish_plan(&split->plans[i], s));
	return OPK_OK;
}

static int split_metrics(struct opk_plan_split **out, struct splitting *s)
{
	static rank_fn *const ranks[] = { rank_by_need, rank_by_passes };

	TRY(check_each(s));
	TRY(begin_estimates(s));
	TRY(split_by_order(out, s, NULL));
	/* The set's own order stays unless another is better. */
	for (size_t i = 0; s->estimates && !is_shortest(*out, s) && i < 2; i++) {
		struct opk_plan_split *other, *worse;

		s->order = i + 1;
		TRY(split_by_order(&other, s, ranks[i]));
		worse = other->count < (*out)->count ? *out : other;
		*out = worse == other ? *out : other;
		opk_plan_split_free(worse);
	}
	return finish(*out, s);
}

static int prepare(struct splitting *s)
{
	s->limit = s->options.max_passes;
	if (s->options.single_pass || !s->limit)
		return opk_fail(s->ctx, OPK_EUSAGE,
		                "a set is split into plans of a number of passes, "
		                "not cut to one");
	TRY(opk_plan_unlimited(&s->whole, s->ctx, s->set, &s->options));
	s->ctx->whole = OPK_PHASE_SPLIT;
	s->count = s->whole->metrics.count;
	s->left = opk_alloc_array(s->count + 1, sizeof *s->left);
	s->chosen = opk_alloc_array(s->count + 1, sizeof *s->chosen);
	s->sorted = opk_alloc_array(s->count + 1, sizeof *s->sorted);
	return s->left && s->chosen && s->sorted ? OPK_OK : opk_nomem(s->ctx, "a plan");
}

static void clear(struct splitting *s)
{
	s->ctx->whole = OPK_PHASE_NONE;
	opk_plan_free(s->whole);
	opk_filling_clear(&s->filling);
	free(s->left);
	free(s->chosen);
	free(s->sorted);
}

int opk_plan_split_new(struct opk_plan_split **out, struct opk_ctx *ctx, const struct opk_set *set,
                       const struct opk_plan_options *given)
{
	OPK_OPTIONS(opk_plan_options, options, given);
	opk_auto(opk_plan_split) struct opk_plan_split *split = NULL;
	__attribute__((cleanup(clear))) struct splitting s = { .ctx = ctx,
		                                               .set = set,
		                                               .options = options };

	TRY(prepare(&s));
	if (opk_profiler_is_code(s.whole->target.profiler))
		return opk_fail(
			ctx, OPK_EUSAGE,
			"profiler %s takes all metrics of a set in one pass: nothing can be "
			"divided",
			opk_profiler_name(s.whole->target.profiler));
	if (s.whole->target.profiler == OPK_PROFILER_PM)
		s.limit = 1;
	TRY(s.whole->schedule.passes <= s.limit ? take_whole(&split, &s)
	                                        : split_metrics(&split, &s));
	if (s.whole)
		TRY(find_lost(split, &s));
	*out = opk_take(split);
	return OPK_OK;
}
