/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counts the passes of many full names. Names that depend on the same raw counters take the same
 * passes, and PerfWorks' scheduler finds in 0.02 ms that most of these sets fit one pass. CUPTI is
 * asked about the others, each on its own host object, over all cores. CUPTI also refuses some sets
 * that PerfWorks would schedule, because of their domains: so it is asked about one set of each
 * combination of domains, and about all sets of a combination if it refuses that one. PerfWorks
 * does not know PM-sampling metrics; their names show which take the same passes. With a GPU's
 * availability image all this happens in a child.
 */
#include <string.h>

#include "adapters/nv/nv.h"
#include "base/option_struct.h"
#include "chip/chip.h"
#include "plan/door.h"
#include "schedule/schedule.h"
#include "child/child.h"

struct set {
	/* The text that its names share: their raw counters, sorted; or that of shared_name(). */
	uint32_t key;
	uint32_t domains; /* the domains of these counters, as text; 0: not known */
	size_t name;      /* one of the names that depend on them */
	bool fits;        /* in one pass, according to PerfWorks */
	uint32_t method;
	int32_t passes;
};

struct counting {
	struct opk_ctx *ctx;
	struct opk_catalog *catalog;
	const struct opk_full_name *names;
	size_t count;
	const struct opk_metric_list_options *options;
	const void *availability;           /* only in the child */
	struct opk_nv_evaluator *evaluator; /* NULL: sets are made by name */
	struct opk_nv_scheduler *scheduler; /* NULL: CUPTI is asked about all sets */
	struct opk_catalog_table text;
	struct set *sets;
	size_t set_count, set_capacity;
	size_t *set_of; /* one set for each name */
	size_t *asked;  /* sets to ask CUPTI about now */
	size_t asked_count;
};

static struct opk_sub_record *record_of(const struct counting *c, size_t name)
{
	const struct opk_metric *metric = c->names[name].metric;
	const struct opk_catalog_table *table = &c->catalog->table;

	return &table->subs[table->bases[metric - c->catalog->metrics].first
	                    + c->names[name].submetric];
}

static char *full_name(const struct counting *c, size_t name)
{
	return opk_printf("%s%s", c->names[name].metric->name,
	                  opk_catalog_table_get(&c->catalog->table, record_of(c, name)->suffix));
}

/* Joins the list's items, sorted, by blanks. */
static int join(uint32_t *out, struct counting *c, struct opk_strlist *list)
{
	opk_autobuf struct opk_buf joined = { 0 };
	opk_autofree char *text = NULL;

	opk_strlist_sort(list);
	for (size_t i = 0; i < list->count; i++)
		opk_buf_add_printf(&joined, "%s ", list->items[i]);
	text = opk_buf_take_text(&joined);
	return text && opk_catalog_table_text(out, &c->text, text)
	               ? OPK_OK
	               : opk_nomem(c->ctx, "pass counts");
}

static uint32_t method_of(const struct opk_strlist *domains)
{
	size_t sass = 0;

	for (size_t i = 0; i < domains->count; i++)
		sass += !strcmp(domains->items[i], "gpu_sass");
	return !domains->count          ? OPK_METHOD_UNKNOWN
	       : !sass                  ? OPK_METHOD_HARDWARE
	       : sass == domains->count ? OPK_METHOD_SASS
	                                : OPK_METHOD_BOTH;
}

static int look_at(struct set *set, struct counting *c, const struct opk_strlist *counters)
{
	opk_autostrlist struct opk_strlist domains = { 0 };
	int code = opk_nv_scheduler_fits(&set->fits, c->ctx, c->scheduler,
	                                 opk_strlist_items(counters), counters->count);

	if (code)
		return code;
	for (size_t i = 0; !code && i < counters->count; i++)
		code = opk_nv_counter_domains(&domains, c->ctx, c->scheduler, counters->items[i]);
	/* CUPTI refuses metrics with counters that no domain of the chip counts. */
	set->fits = set->fits && !code;
	if (code)
		return opk_allow(c->ctx, code, OPK_EUSAGE);
	set->method = method_of(&domains);
	return join(&set->domains, c, &domains);
}

static int compare_key(const void *key, const void *set)
{
	uint32_t a = *(const uint32_t *)key, b = ((const struct set *)set)->key;

	return (a > b) - (a < b);
}

static int find_set(size_t *out, struct counting *c, uint32_t key,
                    const struct opk_strlist *counters, size_t name)
{
	struct set *found = c->set_count ? bsearch(&key, c->sets, c->set_count, sizeof *c->sets,
	                                           compare_key)
	                                 : NULL;

	if (found) {
		*out = (size_t)(found - c->sets);
		return OPK_OK;
	}
	if (!opk_grow(&c->sets, &c->set_capacity, c->set_count, sizeof *c->sets))
		return opk_nomem(c->ctx, "pass counts");
	*out = c->set_count;
	c->sets[c->set_count++] = (struct set){ .key = key, .name = name };
	return c->scheduler && counters->count ? look_at(&c->sets[*out], c, counters) : OPK_OK;
}

/* The name's raw counters; an empty list if PerfWorks does not know the name. */
static int counters_of(struct opk_strlist *out, struct counting *c, const char *name)
{
	int code = c->evaluator ? opk_nv_raw_counters(out, c->ctx, c->evaluator, name) : OPK_EUSAGE;

	if (code == OPK_EUSAGE)
		opk_strlist_clear(out);
	return opk_allow(c->ctx, code, OPK_EUSAGE);
}

/*
 * PM-sampling names take the same passes if they differ only in the rollup, in a constant factor
 * (the peak's, or 100), or in a division by time, which comes with each sample. This holds for all
 * names of all 28 chips of 13.0; check_real_catalog checks some of the library in use.
 */
static const char *without_rollup(const char *suffix)
{
	static const char *const rollups[] = { ".sum", ".avg", ".min", ".max" };

	for (size_t i = 0; i < sizeof rollups / sizeof *rollups; i++)
		if (!strncmp(suffix, rollups[i], 4) && (!suffix[4] || suffix[4] == '.'))
			return suffix + 4;
	return suffix;
}

static const char *likeness(const char *suffix)
{
	static const struct {
		const char *suffix, *like;
	} alike[] = {
		{ ".per_second", "" },
		{ ".peak_sustained_active.per_second", ".peak_sustained_active" },
		{ ".peak_sustained_elapsed.per_second", ".peak_sustained_elapsed" },
		{ ".pct_of_peak_sustained_active", ".per_cycle_active" },
		{ ".pct_of_peak_sustained_elapsed", ".per_cycle_elapsed" },
		{ ".pct", ".ratio" },
	};
	const char *rest = without_rollup(suffix);

	for (size_t i = 0; i < sizeof alike / sizeof *alike; i++)
		if (!strcmp(rest, alike[i].suffix))
			return alike[i].like;
	return rest;
}

/* PM sampling: names of a metric with like suffixes share a number. Ranges: each has its own. */
static int shared_name(uint32_t *out, struct counting *c, size_t name)
{
	const char *suffix = opk_catalog_table_get(&c->catalog->table, record_of(c, name)->suffix);
	bool pm = c->catalog->profiler == OPK_PROFILER_PM;
	opk_autofree char *shared = opk_printf("%s%s", c->names[name].metric->name,
	                                       pm ? likeness(suffix) : suffix);

	return shared && opk_catalog_table_text(out, &c->text, shared)
	               ? OPK_OK
	               : opk_nomem(c->ctx, "pass counts");
}

static int assign(struct counting *c, size_t name)
{
	opk_autofree char *full = full_name(c, name);
	opk_autostrlist struct opk_strlist counters = { 0 };
	uint32_t key = 0;

	TRY(full ? counters_of(&counters, c, full) : opk_nomem(c->ctx, "pass counts"));
	TRY(counters.count ? join(&key, c, &counters) : shared_name(&key, c, name));
	return find_set(&c->set_of[name], c, key, &counters, name);
}

/* ---- what CUPTI says */

/* A config image names its chip: check that the availability image is not another chip's. */
static int check_chip(struct opk_ctx *ctx, const struct counting *c,
                      const struct opk_schedule_result *plan)
{
	const char *chip = c->catalog->chip;

	if (!c->availability || !plan->config
	    || memmem(plan->config, plan->size, chip, strlen(chip)))
		return OPK_OK;
	return opk_fail(ctx, OPK_EINPUT, "it is of another chip than %s", chip);
}

static int ask_cupti(int32_t *result, struct opk_ctx *ctx, void *data, size_t i)
{
	const struct counting *c = data;
	const struct opk_target target = { c->catalog->chip, c->catalog->profiler, c->availability,
		                           c->catalog->set };
	opk_autofree char *name = full_name(c, c->sets[c->asked[i]].name);
	opk_autoresult struct opk_schedule_result alone = { 0 };
	int code = name ? opk_schedule_alone(&alone, ctx, &target, name)
	                : opk_nomem(ctx, "a metric's name");

	*result = alone.refused ? -alone.refused : (int32_t)alone.passes;
	return code ? code : check_chip(ctx, c, &alone);
}

static int ask(struct counting *c)
{
	opk_autofree int32_t *results = opk_alloc_array(c->asked_count + 1, sizeof *results);
	struct opk_workers workers = {
		.job = ask_cupti,
		.data = c,
		.processes = c->options->processes,
		.phase = OPK_PHASE_PASSES,
	};

	TRY(results ? opk_workers_run(results, c->ctx, &workers, c->asked_count)
	            : opk_nomem(c->ctx, "pass counts"));
	for (size_t i = 0; i < c->asked_count; i++)
		c->sets[c->asked[i]].passes = results[i];
	return OPK_OK;
}

/* The first set with these domains that fits one pass; it represents the others. */
static struct set *example_of(const struct counting *c, const struct set *set)
{
	struct set *example = c->sets;

	while (!example->fits || example->domains != set->domains)
		example++;
	return example;
}

static int ask_first(struct counting *c)
{
	c->asked_count = 0;
	for (size_t i = 0; i < c->set_count; i++) {
		struct set *set = &c->sets[i];

		if (!set->fits || example_of(c, set) == set)
			c->asked[c->asked_count++] = i;
	}
	return ask(c);
}

static int ask_again(struct counting *c)
{
	c->asked_count = 0;
	for (size_t i = 0; i < c->set_count; i++) {
		struct set *set = &c->sets[i];

		if (set->passes || !set->fits)
			continue;
		if (example_of(c, set)->passes == 1)
			set->passes = 1;
		else
			c->asked[c->asked_count++] = i;
	}
	return ask(c);
}

static void keep(const struct counting *c)
{
	for (size_t i = 0; i < c->count; i++) {
		const struct set *set = &c->sets[c->set_of[i]];
		struct opk_sub_record *record = record_of(c, i);

		record->passes = set->passes;
		record->method = set->method;
	}
}

/* PerfWorks knows only the range profiler's metrics, and its scheduler came with 12.9. */
static int open_perfworks(struct counting *c)
{
	int code;

	if (c->catalog->profiler != OPK_PROFILER_RANGE)
		return OPK_OK;
	code = opk_nv_evaluator_new(&c->evaluator, c->ctx, c->catalog->chip);
	if (!code)
		code = opk_nv_scheduler_new(&c->scheduler, c->ctx, c->catalog->chip,
		                            c->availability);
	return opk_allow(c->ctx, code, OPK_ENVIDIA);
}

static int count(struct counting *c)
{
	c->set_of = opk_alloc_array(c->count + 1, sizeof *c->set_of);
	if (!c->set_of || !opk_catalog_table_init(&c->text, 0))
		return opk_nomem(c->ctx, "pass counts");
	TRY(open_perfworks(c));
	for (size_t i = 0; i < c->count; i++)
		TRY(assign(c, i));
	c->asked = opk_alloc_array(c->set_count + 1, sizeof *c->asked);
	if (!c->asked)
		return opk_nomem(c->ctx, "pass counts");
	TRY(ask_first(c));
	TRY(ask_again(c));
	keep(c);
	return OPK_OK;
}

/* ---- with an availability image, in a child: such an image can't be checked */

struct outcome {
	int32_t passes;
	uint32_t method;
};

static void tell_parent(void *child, enum opk_phase phase, uint64_t done, uint64_t total)
{
	(void)phase;
	opk_child_progress(child, done, total);
}

static int count_in_child(struct opk_ctx *ctx, void *data, struct opk_child *child)
{
	struct counting *c = data;
	int code;

	ctx->progress = tell_parent;
	ctx->progress_data = child;
	c->availability = opk_child_guarded_copy(c->catalog->availability,
	                                         c->catalog->availability_size);
	if (!c->availability)
		return opk_nomem(ctx, "a counter-availability image");
	code = count(c);
	for (size_t i = 0; !code && i < c->count; i++) {
		const struct opk_sub_record *record = record_of(c, i);
		const struct outcome outcome = { record->passes, record->method };

		opk_put(child, &outcome, sizeof outcome);
	}
	return opk_blame_image(code);
}

static int read_outcomes(struct counting *c, struct opk_result *result)
{
	opk_autofree struct outcome *outcomes = opk_alloc_array(c->count, sizeof *outcomes);

	if (!outcomes)
		return opk_nomem(c->ctx, "pass counts");
	for (size_t i = 0; i < c->count; i++) {
		opk_get(result, &outcomes[i], sizeof *outcomes);
		opk_result_expect(result, outcomes[i].passes >= -INT32_MAX
		                                  && outcomes[i].method <= OPK_METHOD_BOTH);
	}
	TRY(opk_result_check(result, c->ctx));
	for (size_t i = 0; i < c->count; i++) {
		record_of(c, i)->passes = outcomes[i].passes;
		record_of(c, i)->method = outcomes[i].method;
	}
	return OPK_OK;
}

static int count_contained(struct counting *c)
{
	const struct opk_contain_options contain = {
		.timeout_s = 600,
		.phase = OPK_PHASE_PASSES,
	};
	opk_autosent struct opk_result result = { 0 };

	TRY(opk_contain(&result, c->ctx, count_in_child, c, &contain));
	return read_outcomes(c, &result);
}

/* ---- all */

/* Finds the names without a count, except names that the metric does not have. */
static size_t find_unknown(struct opk_full_name *out, struct opk_catalog *catalog,
                           const struct opk_full_name *names, size_t name_count)
{
	size_t found = 0;

	for (size_t i = 0; i < name_count; i++)
		if (names[i].submetric < opk_catalog_submetric_count(catalog, names[i].metric)
		    && !opk_catalog_submetric(catalog, names[i].metric, names[i].submetric).passes)
			out[found++] = names[i];
	return found;
}

int opk_catalog_count_passes(struct opk_catalog *catalog, struct opk_ctx *ctx,
                             const struct opk_full_name *names, size_t name_count,
                             const struct opk_metric_list_options *given)
{
	OPK_OPTIONS(opk_metric_list_options, options, given);
	opk_autofree struct opk_full_name *unknown = opk_alloc_array(name_count + 1,
	                                                             sizeof *unknown);
	struct counting c = {
		.ctx = ctx, .catalog = catalog, .names = unknown, .options = &options
	};
	int code;

	if (!unknown)
		return opk_nomem(ctx, "pass counts");
	c.count = find_unknown(unknown, catalog, names, name_count);
	if (!c.count)
		return OPK_OK;
	code = catalog->availability ? count_contained(&c) : count(&c);
	opk_nv_scheduler_free(c.scheduler);
	opk_nv_evaluator_free(c.evaluator);
	opk_catalog_table_clear(&c.text);
	free(c.sets);
	free(c.set_of);
	free(c.asked);
	if (code)
		return opk_add(ctx, code,
		               catalog->availability && code == OPK_EINPUT
		                       ? "the counter-availability image can't be used for %s"
		                       : "passes of the metrics of %s can't be counted",
		               catalog->chip);
	/* Counts for one GPU may differ from its chip's. */
	if (!catalog->availability)
		opk_catalog_cache_write(ctx, &catalog->table, catalog->chip, catalog->profiler);
	return OPK_OK;
}
