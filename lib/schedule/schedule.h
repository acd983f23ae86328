/* SPDX-License-Identifier: BSD-2-Clause */
/* The counters and metrics that fit a pass, according to CUPTI and PerfWorks. */
#ifndef OPK_SCHEDULE_H
#define OPK_SCHEDULE_H

#include "base/ctx.h"
#include "base/problems.h"
#include "base/strlist.h"
#include "schedule/beside.h"

/* The raw counters of some metrics, and which metric needs which counters. */

struct opk_counters {
	struct opk_strlist names; /* each once, in the order in which metrics need them */
	/* Metric i needs the counters needs[first[i]] to needs[first[i + 1] - 1]. */
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

/* PerfWorks' answers to questions; start with it zeroed. */
struct opk_answers {
	struct opk_answer *slots;
	size_t capacity, used;
	struct opk_beside beside;
};

/* A question is not asked twice. The names and the scheduler's domains must stay the same. */
int opk_answers_ask(bool *out, struct opk_ctx *ctx, struct opk_answers *answers,
                    const struct opk_question *question);
void opk_answers_clear(struct opk_answers *answers);
/* All counters of these metrics, each once, with room for one more; free() it. */
int opk_counters_needed(size_t **out, size_t *out_count, struct opk_ctx *ctx,
                        const struct opk_counters *counters, const size_t *metrics, size_t count);
/* The number of the counter; the count of names if it is not there. */
size_t opk_counters_find(const struct opk_counters *counters, const char *name);

/* The trace of when work began and ended: nearly every metric needs it, and it takes no room. */
bool opk_is_trace(const char *counter);

/* The schedule that CUPTI, or PerfWorks instead, makes of metrics tried together. */

struct opk_nv_host;

/* The chip or GPU for which metrics are scheduled. */
struct opk_target {
	const char *chip; /* as the library spells it */
	enum opk_profiler profiler;
	const void *availability; /* a counter-availability image; NULL: all that the chip has */
	const char *single_pass;  /* CUPTI's single-pass set to plan; NULL: plan metrics */
};

struct opk_schedule_result {
	size_t passes;
	size_t apart; /* metrics that CUPTI plans only apart from the others; else 0 */
	void *config; /* the config image */
	size_t size;
	size_t cheap; /* number of passes, the last ones, without a counter in a dear domain */
	int refused;  /* CUPTI's status if it refused the metrics; else 0 */
};

/*
 * Schedules metrics in CUPTI's order, by CUPTI if possible. OPK_EUSAGE if it does not know a
 * metric, OPK_EFAILED if they can't be scheduled; *out is to be cleared only after OPK_OK.
 */
int opk_schedule_try(struct opk_schedule_result *out, struct opk_ctx *ctx,
                     const struct opk_target *target, const char *const *metrics, size_t count);
/* Schedules one metric; if CUPTI refuses it, this succeeds without an image. */
int opk_schedule_alone(struct opk_schedule_result *out, struct opk_ctx *ctx,
                       const struct opk_target *target, const char *metric);
/* The result for the metrics that were added to the host object. */
int opk_schedule_image(struct opk_schedule_result *out, struct opk_ctx *ctx,
                       struct opk_nv_host *host);
void opk_schedule_result_clear(struct opk_schedule_result *result);
#define opk_autoresult __attribute__((cleanup(opk_schedule_result_clear)))

/* Finds metrics that CUPTI refuses by themselves, or plans in too many passes. */
struct opk_refused {
	const struct opk_target *target;
	const char *const *names;
	size_t count;
	size_t max_passes; /* a metric that needs more is refused, too; 0: no limit */
	/* Reports the i-th name, with NVIDIA's message; false: stop. */
	bool (*report)(void *data, size_t i, const char *reason);
	void *data;
};

/* Reports refused metrics in order. Any code but OPK_OK says why nothing can be planned at all. */
int opk_find_refused(struct opk_ctx *ctx, const struct opk_refused *refused);
/* Adds the problem that CUPTI lists a metric but refuses it. */
void opk_refused_problem(struct opk_problems *problems, const struct opk_place *place,
                         const struct opk_target *target, const char *name, const char *reason);

/* The pass of a plan that counts each raw counter. */

struct opk_parts;

struct opk_schedule {
	size_t passes;
	size_t *pass_of; /* one per counter: its first pass; SIZE_MAX: none */
};

/* Reads which passes a config image has. */
int opk_schedule_read(struct opk_schedule *out, struct opk_ctx *ctx,
                      const struct opk_counters *counters, const struct opk_schedule_result *plan);
/* Puts the bins of each part into passes, so that most ratios keep their counters together. */
int opk_schedule_compose(struct opk_schedule *out, struct opk_ctx *ctx,
                         const struct opk_counters *counters, const struct opk_parts *parts,
                         const bool *ratios);
void opk_schedule_clear(struct opk_schedule *schedule);
#define opk_autoschedule __attribute__((cleanup(opk_schedule_clear)))

/* Whether a metric's counters, except the trace, are in more than one pass. */
bool opk_schedule_splits(const struct opk_schedule *schedule, const struct opk_counters *counters,
                         size_t metric);

/* A limit of the processor time for packing. */
struct opk_patience {
	double end; /* in opk_processor_seconds(); 0: never */
};

/* The processor time of this process, without its children. */
double opk_processor_seconds(void);
bool opk_patience_over(const struct opk_patience *patience);

/* The bin of each item. */
struct opk_packed {
	size_t count;   /* 0: no bins */
	size_t *bin_of; /* one per item */
};
void opk_packed_clear(struct opk_packed *bins);
#define opk_autopacked __attribute__((cleanup(opk_packed_clear)))

/*
 * Estimates how few bins items need, if only questions show what fits a bin together. Items that
 * fit still fit when one is taken out.
 */

struct opk_ranked {
	size_t item;
	double rank;
};

/* All items, hardest first, those of equal rank by number; NULL: out of memory. */
struct opk_ranked *opk_hardest_first(const double *hardness, size_t count);

/* Whether these items, by number, fit one bin. */
typedef int opk_packing_fits(bool *out, struct opk_ctx *ctx, void *data, const size_t *items,
                             size_t count);

struct opk_packing {
	size_t count; /* number of items */
	opk_packing_fits *fits;
	void *data;
	const double *hardness;        /* one per item: high for items that hardly fit */
	struct opk_patience *patience; /* NULL: no limit */
	uint8_t *pairs;                /* known answers for each pair: count * count */
};

/* Makes room for answers, and asks nothing yet; the other members are set. */
int opk_packing_init(struct opk_packing *packing, struct opk_ctx *ctx);
void opk_packing_clear(struct opk_packing *packing);
#define opk_autopacking __attribute__((cleanup(opk_packing_clear)))
/* One per item: how many others it clashes with; of many items only about twenty are tried. */
int opk_packing_clashes(double *out, struct opk_ctx *ctx, struct opk_packing *packing);

/* A lower bound of the bins: a set, found in time, of items that all clash in pairs. */
int opk_packing_clique(size_t *out, struct opk_ctx *ctx, struct opk_packing *packing);
/*
 * A lower bound like opk_packing_clique(), but only if no bin can hold more items than the fullest
 * of `bins` after adding all that still fits it; items that fit every bin don't count. 1 if time
 * runs out. In `bins` no item may fit a bin before its own.
 */
int opk_packing_bound(size_t *out, struct opk_ctx *ctx, struct opk_packing *packing,
                      const struct opk_packed *bins);

/*
 * Raw counters by where they are counted: counters of different parts share no counter domain, so
 * each part is packed into passes by itself.
 */

struct opk_part {
	struct opk_strlist domains;
	/* Counted by code patched into kernels: such counters share no pass with the hardware's. */
	bool software;
	bool has_trace_only; /* its counters take no room in hardware passes */
	size_t count;
	size_t *members;        /* numbers of counters */
	size_t *ways;           /* one per member: domains and pairs of domains that can count it */
	bool varied;            /* members differ in their number of ways */
	double choices;         /* the ways of all of them together, as a power of 2 */
	struct opk_packed bins; /* the best so far; items are members */
	/* The order in which PerfWorks finds these bins: in another it may not find room. */
	size_t *order;
	struct opk_packed tried; /* by the last try */
	size_t tries;
	size_t gained; /* the last try that needed fewer bins; 0: no try did */
	/* One per member: the first of the members in its group, and the group's size. */
	size_t *group_of, *sizes;
	double *clashes; /* one per member: how many others it clashes with; NULL: not counted */
	size_t counted;  /* the number of tries before counting */
	double *late;    /* one per member: how late it found room */
	bool *easy;      /* one per member: the first pass always had room */
	size_t bound;    /* no packing is known to have fewer bins */
	size_t enough;   /* no packing is expected to have fewer, by how full bins are */
	/* For questions. */
	const struct opk_counters *counters;
	struct opk_nv_scheduler *scheduler;
	struct opk_nv_scheduler *own; /* only with the part's domains, which is faster */
	/*
	 * For cheap bins: PerfWorks without the dear domains, and, one per counter, whether it
	 * needs a dear domain. A bin with such a counter may use all domains.
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
 * The number of passes of a plan in which part i takes counts[i]: first the hardware's, whose parts
 * share passes, then the software's. `first` is the first software pass.
 */
size_t opk_parts_passes(size_t *first, const struct opk_parts *parts, const size_t *counts);

/* Splits the counters. OPK_EUSAGE: one has no domain; OPK_ENVIDIA: no PerfWorks planner. */
int opk_parts_split(struct opk_parts *out, struct opk_ctx *ctx, const struct opk_counters *counters,
                    struct opk_nv_scheduler *scheduler);

/* Makes bins of the plan's passes. */
int opk_part_begin(struct opk_part *part, struct opk_ctx *ctx, const struct opk_schedule *plan);
/*
 * Lets PerfWorks put each counter into the first pass with room. Counters with the fewest ways that
 * found room late come first, or once clashes are counted, those that clash with most others. Keeps
 * the bins if there are fewer. The sequence of tries is always the same.
 */
int opk_part_try(struct opk_part *part, struct opk_ctx *ctx);
/* Removes empty bins; SIZE_MAX becomes the first. false: out of memory. */
bool opk_packed_renumber(struct opk_packed *bins, size_t items);
/* Counts clashes. */
int opk_part_count(struct opk_part *part, struct opk_ctx *ctx, struct opk_patience *patience);
/* Raises the bound to opk_packing_clique(). */
int opk_part_clique(struct opk_part *part, struct opk_ctx *ctx, struct opk_patience *patience);
/*
 * Also raises the bound to opk_packing_bound(); counts clashes for it, and makes a first try if
 * there was none.
 */
int opk_part_bound(struct opk_part *part, struct opk_ctx *ctx, struct opk_patience *patience);
/*
 * Joins the counters of each ratio, and of ratios that share some, if a pass has room for them;
 * ratios[i] says whether metric i is a ratio.
 */
int opk_part_join(struct opk_part *part, struct opk_ctx *ctx, const bool *ratios);
/* Moves joined counters into one bin, if one of at most `most` bins has room. */
int opk_part_gather(struct opk_part *part, struct opk_ctx *ctx, size_t most,
                    struct opk_patience *patience);
void opk_parts_clear(struct opk_parts *parts);
#define opk_autoparts __attribute__((cleanup(opk_parts_clear)))

#endif
