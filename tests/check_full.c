/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The shipped sets have all metrics that Nsight Compute collects with --set full: tests/files/full-
 * metrics.tsv, one metric a line with its chips. Range metrics are in `full`, metrics that CUPTI
 * refuses together with others in sets of links, and PM sampling metrics in any single-pass set.
 */
#include "base/file.h"
#include "base/index.h"
#include "base/strlist.h"
#include "chip/chip.h"
#include "resolve/resolve.h"
#include "set/door.h"
#include "set/set.h"
#include "folder.h"
#include "metric_sets.h"
#include "real.h"

enum { MAX_SETS = 100, FEWEST_ASKED = 500, FEWEST_SAMPLED = 10 };

/* A line of the file of metrics that were asked for. */
struct asked {
	const char *profiler, *metric, *chips;
};

static struct opk_ctx *ctx;
static struct opk_chips *chips;
static struct opk_set *sets[MAX_SETS]; /* the shipped ones */
static size_t set_count;
static char *text; /* the file; its lines are split in place */
static struct asked *lines;
static size_t line_count;

/* The metrics of the sets on a chip. */
struct offer {
	const struct opk_chip *chip;
	enum opk_profiler profiler;
	struct opk_resolved sets[MAX_SETS];
	size_t set_count;
	struct opk_index metrics;
	struct opk_catalog *catalog;
};

/* ---- the file */

static void read_lines(void)
{
	void *data;
	size_t size;
	char *rest;

	ck_ok(ctx, opk_read_file(&data, &size, ctx, FILES "full-metrics.tsv"));
	text = rest = strndup(data, size);
	free(data);
	lines = calloc(size, sizeof *lines);
	while (rest) {
		char *line = strsep(&rest, "\n");
		struct asked *asked = &lines[line_count];

		if (!*line || *line == '#')
			continue;
		asked->profiler = strsep(&line, "\t");
		asked->metric = strsep(&line, "\t");
		asked->chips = line;
		ck_assert_msg(asked->metric && line && !strchr(line, '\t'), "not three columns: %s",
		              asked->profiler);
		/* All lines except the heading. */
		line_count += strcmp(asked->profiler, "profiler") != 0;
	}
}

static bool is_asked(const struct asked *asked, const struct offer *offer)
{
	opk_autofree char *words = strdup(asked->chips);
	char *rest = words;

	if (strcmp(asked->profiler, opk_profiler_name(offer->profiler)))
		return false;
	while (rest) {
		const char *word = strsep(&rest, " ");

		if (!strcmp(word, "all")
		    || opk_where_matches(word, offer->chip->name, offer->profiler))
			return true;
	}
	return false;
}

/* ---- the sets */

static void load_sets(void)
{
	opk_autostrlist struct opk_strlist paths = { 0 };

	ck_ok(ctx, opk_set_paths(&paths, ctx));
	set_count = paths.count;
	ck_assert_uint_le(set_count, MAX_SETS);
	for (size_t i = 0; i < set_count; i++)
		ck_ok(ctx, opk_set_load(&sets[i], ctx, paths.items[i]));
}

static const struct opk_set *set_of_name(const char *name)
{
	for (size_t i = 0; i < set_count; i++)
		if (!strcmp(opk_set_name(sets[i]), name))
			return sets[i];
	ck_abort_msg("no set %s", name);
}

/* Runs once, for all tests. */
static void set_up(void)
{
	ctx = new_ctx();
	free((char *)ctx->env.sets);
	ctx->env.sets = NULL;
	make_folder();
	ctx->cache_dir = strdup(folder);
	ck_ok(ctx, opk_chips_new(&chips, ctx));
	load_sets();
	read_lines();
}

static void tear_down(void)
{
	remove_folder();
	for (size_t i = 0; i < set_count; i++)
		opk_set_free(sets[i]);
	free(lines);
	free(text);
	line_count = 0;
	opk_chips_free(chips);
	opk_ctx_free(ctx);
}

static void add_set(struct offer *offer, const struct opk_set *set)
{
	struct opk_resolved *resolved = &offer->sets[offer->set_count++];

	ck_assert_uint_le(offer->set_count, MAX_SETS);
	ck_ok(ctx, opk_set_resolve(resolved, ctx, set, offer->chip->name, offer->profiler));
	for (size_t i = 0; i < resolved->metrics.count; i++)
		ck_assert(opk_index_add(&offer->metrics, resolved->metrics.items[i], 0, NULL));
}

static void add_range_sets(struct offer *offer)
{
	static const char *const names[] = { "full", "pcie", "nvlink", "c2c", "memory-soc" };

	for (size_t i = 0; i < COUNT(names); i++) {
		const struct opk_set *set = set_of_name(names[i]);

		ck_assert(i || opk_set_supports(set, offer->chip));
		if (opk_set_supports(set, offer->chip))
			add_set(offer, set);
	}
}

static void add_pm_sets(struct offer *offer)
{
	for (size_t i = 0; i < set_count; i++)
		if (opk_set_has_profiler(sets[i]) && opk_set_profiler(sets[i]) == OPK_PROFILER_PM
		    && opk_set_supports(sets[i], offer->chip))
			add_set(offer, sets[i]);
}

static void clear_offer(struct offer *offer)
{
	for (size_t i = 0; i < offer->set_count; i++)
		opk_resolved_clear(&offer->sets[i]);
	opk_index_clear(&offer->metrics);
	opk_catalog_free(offer->catalog);
}

/* ---- the comparison */

/* Whether the metric could be collected by itself. */
static bool could_be_had(const struct offer *offer, const char *metric)
{
	struct opk_plan_options options = OPTIONS(options, .chip = offer->chip->name,
	                                          .has_profiler = true, .profiler = offer->profiler,
	                                          .effort = -1);
	struct opk_plan *plan = NULL;
	struct opk_set *set;
	int code;

	ck_ok(ctx, opk_set_from_names(&set, ctx, metric));
	code = opk_plan_new(&plan, ctx, set, &options);
	opk_plan_free(plan);
	opk_set_free(set);
	if (code)
		opk_clear_errors(ctx);
	return !code;
}

/* A metric that CUPTI lists before it can schedule it: no set has it. */
static bool is_later(const char *metric)
{
	static const struct {
		const char *metric;
		uint32_t since;
	} rows[] = {
		{ "lts__t_sectors_srcnode_hub_lookup_miss_realtime.sum", 130100 },
		{ "lts__t_sectors_srcunit_gcc_lookup_miss_realtime.sum", 130100 },
		{ "sm__inst_executed_pipe_alu_realtime.avg.pct_of_peak_sustained_elapsed", 130100 },
		{ "ctc__rx_bytes_data_user.sum.pct_of_peak_sustained_elapsed", 130200 },
		{ "ctc__tx_bytes_data_user.sum.pct_of_peak_sustained_elapsed", 130200 },
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		if (!strcmp(metric, rows[i].metric))
			return version_of(ctx) >= rows[i].since;
	return false;
}

static bool is_missing(const struct offer *offer, const char *metric)
{
	return !is_later(metric) && !opk_index_find(NULL, &offer->metrics, metric)
	       && opk_catalog_has_full(offer->catalog, ctx, metric) && could_be_had(offer, metric);
}

/* Prints the metrics that the sets lack, and returns their number. */
static size_t compare(const struct offer *offer)
{
	size_t asked = 0, missing = 0;

	for (size_t i = 0; i < line_count; i++) {
		if (!is_asked(&lines[i], offer))
			continue;
		asked++;
		if (!is_missing(offer, lines[i].metric))
			continue;
		missing++;
		fprintf(stderr, "%s, %s: no set has %s\n", offer->chip->name,
		        opk_profiler_name(offer->profiler), lines[i].metric);
	}
	/* The file has metrics of every chip. */
	ck_assert_uint_ge(asked,
	                  offer->profiler == OPK_PROFILER_PM ? FEWEST_SAMPLED : FEWEST_ASKED);
	return missing;
}

static size_t missing_on(const struct opk_chip *chip, enum opk_profiler profiler)
{
	struct offer offer = { .chip = chip, .profiler = profiler };
	size_t missing;

	ck_ok(ctx, opk_catalog_new(&offer.catalog, ctx, chip->name, profiler));
	if (profiler == OPK_PROFILER_PM)
		add_pm_sets(&offer);
	else
		add_range_sets(&offer);
	missing = compare(&offer);
	clear_offer(&offer);
	return missing;
}

/* Nsight Compute's list has no chip of a later release. */
static bool is_listed(const struct opk_chip *chip, enum opk_profiler profiler)
{
	struct offer offer = { .chip = chip, .profiler = profiler };
	bool listed = false;

	for (size_t i = 0; !listed && i < line_count; i++)
		listed = is_asked(&lines[i], &offer);
	listed = listed
	         && (profiler == OPK_PROFILER_PM || opk_set_supports(set_of_name("full"), chip));
	if (!listed)
		printf("skipped: %s is of a later release than the list\n", chip->name);
	return listed || version_of(ctx) == CUPTI_13_0;
}

static void compare_all(enum opk_profiler profiler)
{
	size_t compared = 0, missing = 0;

	/* Older releases have fewer metrics, and the sets are not meant for them. */
	if (version_of(ctx) < 130000)
		return;
	for (size_t i = 0; i < opk_chips_count(chips); i++) {
		const struct opk_chip *chip = opk_chips_get(chips, i);

		if (!(profiler == OPK_PROFILER_PM ? chip->pm_sampling : chip->range)
		    || !is_sampled(chip->name) || !is_listed(chip, profiler))
			continue;
		compared++;
		missing += missing_on(chip, profiler);
	}
	ck_assert_uint_ge(compared, is_long() ? 21 : 5);
	ck_assert_msg(!missing, "%zu metrics are in no set, see above", missing);
}

TEST(ranges)
{
	compare_all(OPK_PROFILER_RANGE);
}

TEST(samples)
{
	compare_all(OPK_PROFILER_PM);
}

/* The comparison finds a metric that no set has. */
TEST(what_is_missing)
{
	struct offer offer = { .chip = opk_chips_find(chips, "GH100"),
		               .profiler = OPK_PROFILER_RANGE };

	ck_ok(ctx, opk_catalog_new(&offer.catalog, ctx, "GH100", OPK_PROFILER_RANGE));
	ck_assert(is_missing(&offer, "lts__t_sectors.sum"));
	ck_assert(opk_index_add(&offer.metrics, "lts__t_sectors.sum", 0, NULL));
	ck_assert(!is_missing(&offer, "lts__t_sectors.sum"));
	ck_assert(!is_missing(&offer, "no__such.sum"));
	clear_offer(&offer);
}

/* Thousands of plans, whose code other tests cover: only the plain build makes them. */
static bool can_plan(void)
{
	return is_plain_build() && have_cupti();
}

SUITE(.once = set_up, .finally = tear_down, .needs = can_plan, .seconds = 600);
