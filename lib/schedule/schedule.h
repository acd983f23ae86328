/* SPDX-License-Identifier: BSD-2-Clause */
/* What CUPTI and PerfWorks say fits a pass. */
#ifndef OPK_SCHEDULE_H
#define OPK_SCHEDULE_H

#include "base/ctx.h"
#include "base/problems.h"
#include "base/strlist.h"
#include "schedule/beside.h"

/* The raw counters of some metrics, and which metric needs which. */

struct opk_counters {
	struct opk_strlist names; /* each once, in the order in which metrics need them */
	/* Metric i needs those at needs[first[i]] to needs[first[i + 1] - 1]. */
	size_t *first;
	size_t *needs;
	size_t metric_count;
};

struct opk_nv_scheduler;

/* For range metrics by full name; NVPW_MetricsEvaluator_GetMetricRawDependencies. */
int opk_counters_of(struct opk_counters *out, struct opk_ctx *ctx, const char *chip,
                    const struct opk_strlist *metrics);
void opk_counters_clear(struct opk_counters *counters);
#define opk_autocounters __attribute__((cleanup(opk_counters_clear)))

/* What PerfWorks said of sets of counters, which are numbers among some names: begins zeroed. */
struct opk_answers {
	struct opk_answer *slots;
	size_t capacity, used;
	struct opk_beside beside;
};

/*
 * Whether PerfWorks schedules these counters, each given once, in one pass; what was asked before
 * is not asked again. The names and what the scheduler knows stay the same.
 */
int opk_answers_ask(bool *out, struct opk_ctx *ctx, struct opk_answers *answers,
                    const struct opk_strlist *names, struct opk_nv_scheduler *scheduler,
                    const size_t *counters, size_t count);
void opk_answers_clear(struct opk_answers *answers);
/* The same for all counters of these metrics. */
int opk_counters_fit(bool *out, struct opk_ctx *ctx, struct opk_answers *answers,
                     const struct opk_counters *counters, struct opk_nv_scheduler *scheduler,
                     const size_t *metrics, size_t count);
/* Where it is among the names; their number where it is not. */
size_t opk_counters_find(const struct opk_counters *counters, const char *name);

/* The trace of when work began and ended: nearly every metric needs it, and it takes no room. */
bool opk_is_trace(const char *counter);

/* What CUPTI, or PerfWorks for it, makes of some metrics when they are tried together. */

struct opk_nv_host;

/* For what metrics are scheduled. */
struct opk_target {
	const char *chip; /* as the library spells it */
	enum opk_profiler profiler;
	const void *availability; /* a counter-availability image; NULL: all that the chip has */
	const char *single_pass;  /* CUPTI's single-pass set that is planned; NULL: none */
};

struct opk_schedule_result {
	size_t passes;
	size_t apart; /* so many metrics CUPTI plans only apart from the others: PerfWorks did it */
	void *config; /* the config image */
	size_t size;
	size_t cheap; /* in so many passes, the last ones, no counter is in a dear domain */
	int refused;  /* the CUPTI status with which it refused the metrics; 0: it did not */
};

/*
 * Schedules metrics in CUPTI's order, and by CUPTI where it can be. OPK_EUSAGE where it does not
 * know one, OPK_EFAILED where they can't be scheduled; *out is to be cleared only after OPK_OK.
 */
int opk_schedule_try(struct opk_schedule_result *out, struct opk_ctx *ctx,
                     const struct opk_target *target, const char *const *metrics, size_t count);
/* The same for one metric; if CUPTI refuses it, this does not fail, and there is no image. */
int opk_schedule_alone(struct opk_schedule_result *out, struct opk_ctx *ctx,
                       const struct opk_target *target, const char *metric);
/* The result for metrics that the host object has been given. */
int opk_schedule_image(struct opk_schedule_result *out, struct opk_ctx *ctx,
                       struct opk_nv_host *host);
void opk_schedule_result_clear(struct opk_schedule_result *result);
#define opk_autoresult __attribute__((cleanup(opk_schedule_result_clear)))

/* Finds the metrics that CUPTI refuses by themselves, or plans in too many passes. */
struct opk_refused {
	const struct opk_target *target;
	const char *const *names;
	size_t count;
	size_t max_passes; /* a metric that needs more is refused, too; 0: any number will do */
	/* Reports the i-th name, with what NVIDIA said; false: enough are known. */
	bool (*report)(void *data, size_t i, const char *reason);
	void *data;
};

/* Reports them in order. Anything but OPK_OK says why nothing can be planned at all. */
int opk_find_refused(struct opk_ctx *ctx, const struct opk_refused *refused);
/* Adds the problem that a metric is listed, but refused. */
void opk_refused_problem(struct opk_problems *problems, const struct opk_place *place,
                         const struct opk_target *target, const char *name, const char *reason);

/* The pass of a plan that counts each raw counter. */

struct opk_parts;

struct opk_schedule {
	size_t passes;
	size_t *pass_of; /* one a counter: its first pass; SIZE_MAX: none */
};

/* What a config image does. */
int opk_schedule_read(struct opk_schedule *out, struct opk_ctx *ctx,
                      const struct opk_counters *counters, const struct opk_schedule_result *plan);
/* The bins of each part as passes, so that counters of as many ratios as can be come together. */
int opk_schedule_compose(struct opk_schedule *out, struct opk_ctx *ctx,
                         const struct opk_counters *counters, const struct opk_parts *parts,
                         const bool *ratios);
void opk_schedule_clear(struct opk_schedule *schedule);
#define opk_autoschedule __attribute__((cleanup(opk_schedule_clear)))

/* Whether a metric's counters, without the trace, are in more than one pass. */
bool opk_schedule_splits(const struct opk_schedule *schedule, const struct opk_counters *counters,
                         size_t metric);

/* How much processor time packing may take. */
struct opk_patience {
	double end; /* of opk_processor_seconds(); 0: never */
};

/* This process's, without its children's. */
double opk_processor_seconds(void);
bool opk_patience_over(const struct opk_patience *patience);

/* The bin of each item. */
struct opk_bins {
	size_t count;   /* 0: there are none */
	size_t *bin_of; /* one an item */
};
void opk_bins_clear(struct opk_bins *bins);
#define opk_autobins __attribute__((cleanup(opk_bins_clear)))

/*
 * How few bins items take, where what fits a bin together has to be asked. What fits stays fit when
 * an item is taken out.
 */

struct opk_ranked {
	size_t item;
	double rank;
};

/* All items, those of equal rank by number; NULL: out of memory. */
struct opk_ranked *opk_hardest_first(const double *hardness, size_t count);

/* Whether these items, by number, fit one bin. */
typedef int opk_packing_fits(bool *out, struct opk_ctx *ctx, void *data, const size_t *items,
                             size_t count);

struct opk_packing {
	size_t count; /* of items */
	opk_packing_fits *fits;
	void *data;
	const double *hardness; /* one an item: those that hardly find room have most */
	struct opk_patience *patience;
	uint8_t *pairs; /* what is known of each two: count * count */
};

/* Asks nothing. `hardness` and `patience`, which may be NULL, outlive it. */
int opk_packing_init(struct opk_packing *out, struct opk_ctx *ctx, size_t count,
                     opk_packing_fits *fits, void *data, const double *hardness,
                     struct opk_patience *patience);
void opk_packing_clear(struct opk_packing *packing);
#define opk_autopacking __attribute__((cleanup(opk_packing_clear)))
/* One an item: how many others it clashes with, of all where they are few, else of about twenty. */
int opk_packing_clashes(double *out, struct opk_ctx *ctx, struct opk_packing *packing);

/* No packing has fewer bins: items that clash each with each, so far as there is time. */
int opk_packing_clique(size_t *out, struct opk_ctx *ctx, struct opk_packing *packing);
/*
 * The same, unless a bin can hold more items than the fullest of `bins` with all that still fits
 * it: items that fit every bin aside, there are so many to a bin. 1 where there is no time for it.
 * In these bins no item fits one before its own.
 */
int opk_packing_bound(size_t *out, struct opk_ctx *ctx, struct opk_packing *packing,
                      const struct opk_bins *bins);

/*
 * Raw counters by where they are counted: those of different parts share no counter domain, so that
 * each part is packed into passes by itself.
 */

struct opk_part {
	struct opk_strlist domains;
	/* Counted by code patched into kernels: such counters share no pass with the hardware's. */
	bool software;
	bool has_trace_only; /* counters that take no room of the hardware's */
	size_t count;
	size_t *members;      /* numbers of counters */
	size_t *ways;         /* one a member: domains and pairs of domains that can count it */
	bool varied;          /* not all have the same number of ways */
	double choices;       /* how many ways there are for all of them, as a power of 2 */
	struct opk_bins bins; /* the best so far; an item is a member */
	/* In this order PerfWorks finds the bins: in another it may not find room. */
	size_t *order;
	struct opk_bins tried; /* the last try's */
	size_t tries;
	size_t gained; /* the number of the try that made the bins fewer; 0: none did */
	/* One a member: the first of those that go into one bin with it, and how many there are. */
	size_t *group_of, *sizes;
	double *clashes; /* one a member: with how many others it clashes; NULL: not counted */
	size_t counted;  /* after so many tries */
	double *late;    /* one a member: how far behind it found room */
	bool *easy;      /* one a member: the first pass had room for it each time */
	size_t bound;    /* no packing has fewer bins, so far as is known */
	size_t enough;   /* nor is one expected to, by how full bins are */
	/* What the questions need. */
	const struct opk_counters *counters;
	struct opk_nv_scheduler *scheduler;
	struct opk_nv_scheduler *own; /* with the part's domains alone, which answers sooner */
	/*
	 * Where bins are to be cheap: PerfWorks without the dear domains, and the counters, one a
	 * counter, that it has no room for. A bin with one of these has all domains.
	 */
	struct opk_nv_scheduler *cheap;
	const bool *dear;
	struct opk_answers answers;
};

struct opk_parts {
	struct opk_part *all;
	size_t count;
};

/*
 * Passes of a plan where part i takes counts[i]: those of the hardware, whose parts go side by
 * side, and after them those of software. `first` is the first one of software.
 */
size_t opk_parts_passes(size_t *first, const struct opk_parts *parts, const size_t *counts);

/* Splits the counters. OPK_EUSAGE: one is in no domain; OPK_ENVIDIA: no PerfWorks' planner. */
int opk_parts_split(struct opk_parts *out, struct opk_ctx *ctx, const struct opk_counters *counters,
                    struct opk_nv_scheduler *scheduler);

/* The passes that a plan has for its counters as bins. */
int opk_part_begin(struct opk_part *part, struct opk_ctx *ctx, const struct opk_schedule *plan);
/*
 * Lets PerfWorks take the counters, each into the first pass with room, those first that can be
 * counted in fewest ways and found it late until now, or that clash with most others where that is
 * known. Fewer bins than there were are kept. The same tries come one after the other each time.
 */
int opk_part_try(struct opk_part *part, struct opk_ctx *ctx);
/* Bins of nothing are no more; SIZE_MAX is the first. false: out of memory. */
bool opk_bins_renumber(struct opk_bins *bins, size_t items);
/* Counts clashes. */
int opk_part_count(struct opk_part *part, struct opk_ctx *ctx, struct opk_patience *patience);
/* Raises the bound to opk_packing_clique(). */
int opk_part_clique(struct opk_part *part, struct opk_ctx *ctx, struct opk_patience *patience);
/*
 * Raises it to opk_packing_bound(), too; for that it counts clashes, and tries where nothing was
 * tried.
 */
int opk_part_bound(struct opk_part *part, struct opk_ctx *ctx, struct opk_patience *patience);
/*
 * Joins the counters of each ratio, where a pass has room for them, and of those that share some;
 * ratios[i] says whether metric i is one.
 */
int opk_part_join(struct opk_part *part, struct opk_ctx *ctx, const bool *ratios);
/* Moves what is joined into one bin, of `most` at most, where one has room. */
int opk_part_gather(struct opk_part *part, struct opk_ctx *ctx, size_t most,
                    struct opk_patience *patience);
void opk_parts_clear(struct opk_parts *parts);
#define opk_autoparts __attribute__((cleanup(opk_parts_clear)))

#endif
