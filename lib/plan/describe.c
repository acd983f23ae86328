/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One metric with all that is known of it. As text, that is lines of "chip NAME", "counter NAME
 * DOMAIN..." and "constituent TYPE NAME" with tabs between; it is the same in the cache.
 */
#include <string.h>

#include "adapters/nv/nv.h"
#include "chip/chip.h"
#include "chip/door.h"
#include "plan/door.h"
#include "schedule/schedule.h"

/* ---- the text in the cache */

static const char kind[] = "description";

static char *whom_of(struct opk_ctx *ctx, const struct opk_catalog *catalog, const char *full)
{
	return opk_cache_whom(ctx, "%s %s %s\n", catalog->chip,
	                      opk_profiler_name(catalog->profiler), full);
}

static char *load_cached(struct opk_ctx *ctx, const struct opk_catalog *catalog, const char *full)
{
	opk_autofree char *whom = whom_of(ctx, catalog, full);
	size_t size;

	return opk_cache_load(&size, ctx, kind, whom);
}

static void store_cached(struct opk_ctx *ctx, const struct opk_catalog *catalog, const char *full,
                         const char *text)
{
	opk_autofree char *whom = whom_of(ctx, catalog, full);

	opk_cache_store(ctx, kind, whom, text, strlen(text));
}

/* ---- the text from NVIDIA's libraries */

struct asking {
	struct opk_ctx *ctx;
	const struct opk_catalog *catalog;
	const struct opk_metric *metric;
	const char *full;
	struct opk_buf *text;
	bool complete;
};

/* ---- other chips */

static int ask_chip(struct asking *a, const char *chip)
{
	opk_autostrlist struct opk_strlist names = { 0 };
	opk_auto(opk_nv_host) struct opk_nv_host *host = NULL;
	bool has = false;
	int code = opk_nv_host_supported(&has, a->ctx, chip, a->catalog->profiler);

	if (code || !has)
		return code;
	code = opk_nv_host_new(&host, a->ctx, chip, a->catalog->profiler, NULL);
	if (code)
		return code;
	code = opk_nv_all_base_metrics(&names, a->ctx, host);
	if (!code && opk_strlist_contains(&names, a->metric->name))
		opk_buf_add_printf(a->text, "chip\t%s\n", chip);
	return code;
}

static int ask_scope(struct asking *a)
{
	opk_auto(opk_nv_host) struct opk_nv_host *host = NULL;
	enum opk_scope scope = OPK_SCOPE_UNKNOWN;
	int code = opk_nv_host_new(&host, a->ctx, a->catalog->chip, a->catalog->profiler, NULL);

	if (!code)
		code = opk_nv_scope(&scope, a->ctx, host, a->metric->name);
	if (scope)
		opk_buf_add_printf(a->text, "scope\t%s\n", opk_scope_name(scope));
	/* 12.x lists some that it has no properties of. */
	return opk_allow(a->ctx, code, OPK_EUSAGE);
}

static int ask_chips(struct asking *a)
{
	opk_autostrlist struct opk_strlist chips = { 0 };
	int code = opk_nv_chips(&chips, a->ctx);

	for (size_t i = 0; !code && i < chips.count; i++)
		if (strcmp(chips.items[i], a->catalog->chip))
			code = ask_chip(a, chips.items[i]);
	return code;
}

/* ---- raw counters */

/* If a library is missing, the rest is described, and a log says what is left out. */
static int go_on(struct asking *a, int code, const char *without)
{
	if (code != OPK_ENVIDIA)
		return code;
	a->complete = false;
	opk_log(a->ctx, "%s are left out: %s", without, opk_innermost(a->ctx));
	return opk_allow(a->ctx, code, OPK_ENVIDIA);
}

/* From the config image of the metric alone; none where it is refused. */
static int counters_of_config(struct opk_strlist *out, struct asking *a)
{
	const struct opk_target target = { a->catalog->chip, a->catalog->profiler, NULL, NULL };
	opk_autoresult struct opk_schedule_result alone = { 0 };
	int code = opk_schedule_alone(&alone, a->ctx, &target, a->full);

	for (size_t i = 0; !code && i < alone.passes; i++)
		code = opk_nv_config_counters(out, a->ctx, alone.config, alone.size, i);
	return go_on(a, code, "raw counters");
}

static int add_counter(struct asking *a, struct opk_nv_scheduler *scheduler, const char *counter)
{
	opk_autostrlist struct opk_strlist domains = { 0 };
	int code = scheduler ? opk_nv_counter_domains(&domains, a->ctx, scheduler, counter)
	                     : OPK_OK;

	opk_buf_add_printf(a->text, "counter\t%s", counter);
	for (size_t i = 0; i < domains.count; i++)
		opk_buf_add_printf(a->text, "\t%s", domains.items[i]);
	opk_buf_add_text(a->text, "\n");
	/* A name that PerfWorks does not know may well be one of CUPTI's own. */
	return opk_allow(a->ctx, code, OPK_EUSAGE);
}

static int add_counters(struct asking *a, const struct opk_strlist *counters)
{
	opk_auto(opk_nv_scheduler) struct opk_nv_scheduler *scheduler = NULL;
	int code = opk_nv_scheduler_new(&scheduler, a->ctx, a->catalog->chip, NULL);

	code = go_on(a, code, "domains of raw counters");
	for (size_t i = 0; !code && i < counters->count; i++)
		code = add_counter(a, scheduler, counters->items[i]);
	return code;
}

static int ask_counters(struct asking *a, struct opk_nv_evaluator *evaluator)
{
	opk_autostrlist struct opk_strlist counters = { 0 };
	int code = evaluator ? opk_nv_raw_counters(&counters, a->ctx, evaluator, a->full)
	                     : OPK_EUSAGE;

	if (code == OPK_EUSAGE) {
		opk_clear_errors(a->ctx);
		opk_strlist_clear(&counters);
		code = counters_of_config(&counters, a);
	}
	return code || !counters.count ? code : add_counters(a, &counters);
}

/* ---- constituents */

static void add_constituents(struct opk_buf *text, enum opk_metric_type type,
                             const struct opk_strlist *names)
{
	for (size_t i = 0; i < names->count; i++)
		opk_buf_add_printf(text, "constituent\t%s\t%s\n", opk_metric_type_name(type),
		                   names->items[i]);
}

static bool are_among(const struct opk_strlist *counters, const struct opk_strlist *sorted)
{
	size_t own = 0;

	for (size_t i = 0; i < counters->count; i++) {
		if (!opk_strlist_contains_sorted(sorted, counters->items[i]))
			return false;
		own += !opk_is_trace(counters->items[i]);
	}
	return own > 0;
}

/* NVIDIA does not say what a ratio divides; counters over its raw counters are good guesses. */
static int ask_ratio(struct opk_strlist *out, struct asking *a, struct opk_nv_evaluator *evaluator)
{
	opk_autostrlist struct opk_strlist wanted = { 0 };
	int code = opk_nv_raw_counters(&wanted, a->ctx, evaluator, a->full);

	opk_strlist_sort(&wanted);
	for (size_t i = 0; !code && i < a->catalog->table.base_count; i++) {
		const struct opk_metric *metric = &a->catalog->metrics[i];
		opk_autofree char *full = opk_printf("%s%s", metric->name,
		                                     opk_plainest_suffix(metric->type));
		opk_autostrlist struct opk_strlist counters = { 0 };

		if (metric->type != OPK_COUNTER)
			continue;
		code = full ? opk_nv_raw_counters(&counters, a->ctx, evaluator, full)
		            : opk_nomem(a->ctx, "a metric's name");
		if (code == OPK_EUSAGE) {
			opk_clear_errors(a->ctx);
			code = OPK_OK;
		} else if (!code && are_among(&counters, &wanted)
		           && !opk_strlist_add(out, metric->name)) {
			code = opk_nomem(a->ctx, "constituents");
		}
	}
	return code;
}

static int ask_constituents(struct asking *a, struct opk_nv_evaluator *evaluator)
{
	opk_autostrlist struct opk_strlist counters = { 0 }, throughputs = { 0 };
	int code = evaluator && a->metric->type == OPK_RATIO ? ask_ratio(&counters, a, evaluator)
	           : evaluator ? opk_nv_constituents(&counters, &throughputs, a->ctx, evaluator,
	                                             a->full)
	                       : OPK_OK;

	if (code)
		return go_on(a, opk_allow(a->ctx, code, OPK_EUSAGE), "constituents");
	add_constituents(a->text, OPK_COUNTER, &counters);
	add_constituents(a->text, OPK_THROUGHPUT, &throughputs);
	return OPK_OK;
}

/* *complete: whether all of the libraries could be asked; `full` is a full name of the metric. */
static int ask_libraries(struct opk_buf *text, bool *complete, struct opk_ctx *ctx,
                         const struct opk_catalog *catalog, const struct opk_metric *metric,
                         const char *full)
{
	struct asking a = {
		.ctx = ctx,
		.catalog = catalog,
		.metric = metric,
		.full = full,
		.text = text,
		.complete = true,
	};
	opk_auto(opk_nv_evaluator) struct opk_nv_evaluator *evaluator = NULL;
	int code = ask_scope(&a);

	if (!code)
		code = ask_chips(&a);
	/* Only the range profiler's metrics are known to PerfWorks. */
	if (!code && catalog->profiler == OPK_PROFILER_RANGE)
		code = go_on(&a, opk_nv_evaluator_new(&evaluator, ctx, catalog->chip),
		             "raw counters");
	if (!code)
		code = ask_counters(&a, evaluator);
	if (!code)
		code = ask_constituents(&a, evaluator);
	if (!code && text->failed)
		code = opk_nomem(ctx, "a description");
	*complete = a.complete;
	return code;
}

/* ---- the description */

/* Owns the arrays of `shown` and their text. */
struct description {
	struct opk_description shown;
	char *name;
	char *text; /* cut into pieces */
	const char **chips, **domains;
	struct opk_raw_counter *counters;
	struct opk_constituent *constituents;
	struct opk_single_pass_sets *sets; /* NULL: not known */
	const char **single_pass;
};

/* ---- which one */

/* "dram_bytes" for "dram__bytes". */
static bool differs_in_underscores(const char *a, const char *b)
{
	for (;; a++, b++) {
		while (*a == '_')
			a++;
		while (*b == '_')
			b++;
		if (*a != *b)
			return false;
		if (!*a)
			return true;
	}
}

static int fail_unknown(struct opk_ctx *ctx, const struct opk_catalog *catalog, const char *name)
{
	opk_autostrlist struct opk_strlist near = { 0 };
	opk_autobuf struct opk_buf list = { 0 };
	opk_autofree char *nearest = NULL;
	const struct opk_metric *metric = opk_catalog_find(catalog, name);
	struct opk_nv_release release;
	int code = OPK_OK;

	if (!opk_catalog_suggest(&near, catalog, name, OPK_MAX_SUGGESTIONS))
		return opk_nomem(ctx, "names");
	/* nvprof's names have no double underscore; neither have today's where it was mistyped. */
	if (!strstr(name, "__") && !(near.count && differs_in_underscores(near.items[0], name)))
		code = opk_legacy_suggest(&near, ctx, name);
	if (code)
		return code;
	for (size_t i = 0; i < near.count && i < OPK_MAX_SUGGESTIONS; i++)
		opk_buf_add_printf(&list, "%s%s", i ? ", " : "; the nearest: ", near.items[i]);
	nearest = opk_buf_take_text(&list);
	if (!nearest)
		return opk_nomem(ctx, "names");
	if (metric)
		return opk_fail(ctx, OPK_EUSAGE, "%s has no rollup or submetric '%s'%s",
		                metric->name, name + strlen(metric->name), nearest);
	release = opk_nv_release(ctx);
	return opk_fail(ctx, OPK_EUSAGE, "%s has no metric '%s'%s%s%s%s", catalog->chip, name,
	                catalog->profiler == OPK_PROFILER_PM ? " for PM sampling" : "",
	                release.old ? " in " : "", release.old ? release.name : "", nearest);
}

static int find(struct opk_full_name *out, struct opk_ctx *ctx, const struct opk_catalog *catalog,
                const char *name)
{
	const struct opk_metric *metric = opk_catalog_find(catalog, name);
	const char *suffix = metric ? name + strlen(metric->name) : NULL;
	size_t submetric = 0;

	if (metric && !*suffix)
		submetric = opk_catalog_plainest(catalog, metric);
	else if (!metric || !opk_catalog_find_submetric(&submetric, catalog, metric, suffix))
		return fail_unknown(ctx, catalog, name);
	*out = (struct opk_full_name){ metric, submetric };
	return OPK_OK;
}

/* ---- the text in pieces */

static size_t count_of(const char *text, char which)
{
	size_t count = 0;

	for (; *text; text++)
		count += *text == which;
	return count;
}

static bool take_constituent(struct description *d, char *rest)
{
	const char *type = strsep(&rest, "\t");
	struct opk_constituent *to = &d->constituents[d->shown.constituent_count];

	if (!rest || !opk_metric_type_parse(&to->type, type))
		return false;
	to->name = rest;
	d->shown.constituent_count++;
	return true;
}

static bool take_line(struct description *d, char *line, size_t *domains)
{
	const char *what = strsep(&line, "\t");

	if (!line)
		return false;
	if (!strcmp(what, "chip")) {
		d->chips[d->shown.other_chip_count++] = line;
	} else if (!strcmp(what, "counter")) {
		struct opk_raw_counter *counter = &d->counters[d->shown.counter_count++];

		counter->name = strsep(&line, "\t");
		counter->domains = &d->domains[*domains];
		for (; line; counter->domain_count++)
			d->domains[(*domains)++] = strsep(&line, "\t");
	} else if (!strcmp(what, "scope")) {
		d->shown.scope = strcmp(line, opk_scope_name(OPK_SCOPE_DEVICE)) ? OPK_SCOPE_CONTEXT
		                                                                : OPK_SCOPE_DEVICE;
	} else {
		return !strcmp(what, "constituent") && take_constituent(d, line);
	}
	return true;
}

/* False where the text is not ours, or memory is out: then it is asked for. */
static bool cut(struct description *d)
{
	size_t lines = count_of(d->text, '\n') + 1, domains = 0;
	char *rest = d->text;

	d->chips = opk_alloc_array(lines, sizeof *d->chips);
	d->domains = opk_alloc_array(count_of(d->text, '\t') + 1, sizeof *d->domains);
	d->counters = opk_alloc_array(lines, sizeof *d->counters);
	d->constituents = opk_alloc_array(lines, sizeof *d->constituents);
	if (!d->chips || !d->domains || !d->counters || !d->constituents)
		return false;
	for (char *line; (line = strsep(&rest, "\n"));)
		if (*line && !take_line(d, line, &domains))
			return false;
	d->shown.other_chips = d->chips;
	d->shown.counters = d->counters;
	d->shown.constituents = d->constituents;
	return true;
}

static void forget(struct description *d)
{
	free(opk_take(d->text));
	free(opk_take(d->chips));
	free(opk_take(d->domains));
	free(opk_take(d->counters));
	free(opk_take(d->constituents));
	d->shown.other_chip_count = d->shown.counter_count = d->shown.constituent_count = 0;
}

/* ---- all of it */

static int ask(struct description *d, struct opk_ctx *ctx, const struct opk_catalog *catalog)
{
	opk_autobuf struct opk_buf text = { 0 };
	bool complete;
	int code = ask_libraries(&text, &complete, ctx, catalog, d->shown.of.metric, d->name);

	if (code)
		return code;
	d->text = opk_buf_take_text(&text);
	if (d->text && complete)
		store_cached(ctx, catalog, d->name, d->text);
	return d->text && cut(d) ? OPK_OK : opk_nomem(ctx, "a description");
}

static int count_passes(struct opk_ctx *ctx, struct opk_catalog *catalog,
                        const struct opk_metric *metric)
{
	size_t count = opk_catalog_submetric_count(catalog, metric);
	opk_autofree struct opk_full_name *names = opk_alloc_array(count + 1, sizeof *names);

	for (size_t i = 0; names && i < count; i++)
		names[i] = (struct opk_full_name){ metric, i };
	return names ? opk_catalog_count_passes(catalog, ctx, names, count, NULL)
	             : opk_nomem(ctx, "submetrics");
}

static bool is_in(const struct opk_single_pass_set *set, const char *base)
{
	size_t length = strlen(base);

	for (size_t i = 0; i < set->metric_count; i++)
		if (opk_base_length(set->metrics[i]) == length
		    && !strncmp(set->metrics[i], base, length))
			return true;
	return false;
}

/* Those of this profiler's that have the metric; where the library is missing, none. */
static int find_sets(struct description *d, struct opk_ctx *ctx, const struct opk_catalog *catalog)
{
	int code = opk_single_pass_sets_new(&d->sets, ctx, catalog->chip);

	if (code)
		return opk_allow(ctx, code, OPK_ENVIDIA);
	d->single_pass = opk_alloc_array(opk_single_pass_sets_count(d->sets) + 1,
	                                 sizeof *d->single_pass);
	if (!d->single_pass)
		return opk_nomem(ctx, "a description");
	for (size_t i = 0; i < opk_single_pass_sets_count(d->sets); i++) {
		const struct opk_single_pass_set *set = opk_single_pass_sets_get(d->sets, i);

		if (set->profiler == catalog->profiler && is_in(set, d->shown.of.metric->name))
			d->single_pass[d->shown.single_pass_count++] = set->name;
	}
	d->shown.single_pass = d->single_pass;
	return OPK_OK;
}

static int fill(struct description *d, struct opk_ctx *ctx, struct opk_catalog *catalog,
                const char *name)
{
	struct opk_full_name *of = &d->shown.of;
	int code = find(of, ctx, catalog, name);

	if (!code)
		code = count_passes(ctx, catalog, of->metric);
	if (code)
		return code;
	d->name = opk_printf("%s%s", of->metric->name,
	                     opk_catalog_submetric_count(catalog, of->metric)
	                             ? opk_catalog_submetric(catalog, of->metric, of->submetric)
	                                       .suffix
	                             : "");
	d->shown.name = d->name;
	code = d->name ? find_sets(d, ctx, catalog) : opk_nomem(ctx, "a description");
	if (code)
		return code;
	d->text = load_cached(ctx, catalog, d->name);
	if (d->text && cut(d))
		return OPK_OK;
	forget(d);
	return ask(d, ctx, catalog);
}

int opk_description_new(struct opk_description **out, struct opk_ctx *ctx,
                        struct opk_catalog *catalog, const char *name)
{
	struct description *d = opk_alloc(sizeof *d);
	int code = d ? fill(d, ctx, catalog, name) : opk_nomem(ctx, "a description");

	if (code) {
		opk_description_free(d ? &d->shown : NULL);
		return code;
	}
	*out = &d->shown;
	return OPK_OK;
}

void opk_description_free(struct opk_description *description)
{
	/* `shown` comes first. */
	struct description *d = (struct description *)description;

	if (!d)
		return;
	forget(d);
	opk_single_pass_sets_free(d->sets);
	free(d->single_pass);
	free(d->name);
	free(d);
}
