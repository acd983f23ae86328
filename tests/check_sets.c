/* SPDX-License-Identifier: BSD-2-Clause */
/* Every shipped metric set on the chips that it names: make check-long takes all pairs. */
#include <fnmatch.h>
#include <strings.h>

#include "chip/chip.h"
#include "chip/door.h"
#include "plan/door.h"
#include "set/set.h"
#include "folder.h"

enum { MAX_SETS = 100 };

/* Loaded once, for all tests. */
static struct opk_ctx *ctx;
static struct opk_chips *chips;
static struct opk_strlist paths;
static struct opk_set *sets[MAX_SETS]; /* in the order of the list */
static size_t set_count;
static uint32_t version;

/* The release that the sets were written for. */
enum { CUPTI_13_0 = 130001 };

static void set_up(void)
{
	struct opk_nvidia_info info = OPK_INIT(info);

	ctx = new_ctx();
	/* Uses the shipped sets, and no folder of the user's. */
	free((char *)ctx->env.sets);
	ctx->env.sets = NULL;
	/* The cache saves repeated queries about a chip. */
	make_folder();
	ctx->cache_dir = strdup(folder);
	ck_ok(ctx, opk_nvidia_get_info(&info, ctx));
	version = info.cupti_version;
	ck_ok(ctx, opk_chips_new(&chips, ctx));
	ck_ok(ctx, opk_set_paths(&paths, ctx));
	set_count = paths.count;
	ck_assert(set_count > 20 && set_count <= MAX_SETS);
	for (size_t i = 0; i < set_count; i++)
		ck_ok(ctx, opk_set_load(&sets[i], ctx, paths.items[i]));
}

static void tear_down(void)
{
	remove_folder();
	for (size_t i = 0; i < set_count; i++)
		opk_set_free(sets[i]);
	opk_strlist_clear(&paths);
	opk_chips_free(chips);
	opk_ctx_free(ctx);
}

static bool is_pm(const struct opk_set *set)
{
	return opk_set_has_profiler(set) && opk_set_profiler(set) == OPK_PROFILER_PM;
}

/* Sets whose required metrics a release before 13.0 lacks, with the last such release. */
enum { CUPTI_12_6 = 24, CUPTI_12_8 = 26, CUPTI_12_9 = 28 };
static const struct {
	uint32_t until;
	const char *sets, *chips;
} refusals[] = {
	{ CUPTI_12_9, "latency", "range" },
	{ CUPTI_12_6, "memory-soc", "GA10B" },
	/* Most metrics of PM sampling came to these chips with 12.9. */
	{ CUPTI_12_8, "pm-*", "GB202 GB203 GB205" },
	/* 12.9 has four metrics of its L2, and none of its memory. */
	{ CUPTI_12_9, "compression full l2 l2-traffic memory pm-l2 roofline", "GB20B" },
	{ CUPTI_12_9, "roofline-clock roofline-hierarchical speed-of-light* tensor", "GB20B" },
};

/* Whether the function matches one of the words. */
static bool has_word(const char *words, bool matches(const char *word, const void *what),
                     const void *what)
{
	opk_autofree char *copy = strdup(words);
	char *rest = copy;

	while (rest)
		if (matches(strsep(&rest, " "), what))
			return true;
	return false;
}

static bool names_set(const char *word, const void *set)
{
	return !fnmatch(word, opk_set_name(set), 0);
}

static bool names_chip(const char *word, const void *what)
{
	const struct opk_chip *chip = what;

	return opk_where_matches(word, chip->name, OPK_PROFILER_RANGE);
}

static bool is_refused(const struct opk_set *set, const struct opk_chip *chip)
{
	for (size_t i = 0; i < COUNT(refusals); i++)
		if (version <= refusals[i].until && has_word(refusals[i].sets, names_set, set)
		    && has_word(refusals[i].chips, names_chip, chip))
			return true;
	return false;
}

/* Whether optional metrics may be missing: on older releases, and on chips newer than the sets. */
static bool may_lack(const struct opk_chip *chip)
{
	return version < CUPTI_13_0 || !strcmp(chip->name, "GR100");
}

static int plan_on(struct opk_plan **out, const struct opk_set *set, const struct opk_chip *chip)
{
	struct opk_plan_options options = OPTIONS(options, .chip = chip->name);

	options.effort = -1; /* no search: a shorter plan does not matter here */
	return opk_plan_new(out, ctx, set, &options);
}

/* Whether each metric has a short label of its own; prints those that have none. */
static bool has_labels(const struct opk_set *set, const struct opk_chip *chip,
                       const struct opk_strlist *metrics)
{
	opk_autostrlist struct opk_strlist labels = { 0 };
	size_t failed = 0;

	ck_ok(ctx, opk_metric_labels(&labels, ctx, opk_strlist_items(metrics), metrics->count));
	ck_assert_uint_eq(labels.count, metrics->count);
	for (size_t i = 0; i < labels.count; i++) {
		if (strstr(metrics->items[i], "__")
		    && (!*labels.items[i] || !strcmp(labels.items[i], metrics->items[i]))) {
			fprintf(stderr, "%s on %s: no label of its own: %s\n", opk_set_name(set),
			        chip->name, metrics->items[i]);
			failed++;
		}
	}
	return !failed;
}

/* Returns whether the set works on the chip, or is refused as expected; prints why not. */
static bool plans(const struct opk_set *set, const struct opk_chip *chip)
{
	struct opk_plan *plan;
	bool labels;
	int code = plan_on(&plan, set, chip);
	size_t passes;

	if (!code != !is_refused(set, chip)) {
		fprintf(stderr, "%s on %s: %d: %s\n", opk_set_name(set), chip->name, code,
		        code ? errors_of(ctx) : "is not refused");
		return false;
	}
	if (code) {
		ck_assert(code == OPK_EINPUT || code == OPK_EFAILED);
		opk_clear_errors(ctx);
		return true;
	}
	passes = opk_plan_passes(plan);
	/* On a chip that it names, a set has all its metrics. */
	for (size_t i = 0; i < opk_plan_missing(plan)->count; i++)
		ck_assert_msg(may_lack(chip), "%s on %s leaves out %s", opk_set_name(set),
		              chip->name, opk_plan_missing(plan)->items[i]);
	labels = has_labels(set, chip, opk_plan_metrics(plan));
	opk_plan_free(plan);
	if (passes >= 1 && (!is_pm(set) || passes == 1))
		return labels;
	fprintf(stderr, "%s on %s: %zu passes\n", opk_set_name(set), chip->name, passes);
	return false;
}

TEST(plan_everywhere)
{
	size_t planned = 0, failed = 0;

	for (size_t i = 0; i < set_count; i++) {
		const struct opk_set *set = sets[i];
		size_t supported = 0, sampled = 0, nth;

		for (size_t c = 0; c < opk_chips_count(chips); c++) {
			const struct opk_chip *chip = opk_chips_get(chips, c);

			if (!opk_set_supports(set, chip))
				continue;
			supported++;
			if (!is_sampled(chip->name))
				continue;
			/* The first one, then every third; make check-long takes all. */
			nth = sampled++;
			if (nth && nth % 3 != i % 3 && !is_long())
				continue;
			planned++;
			failed += !plans(set, chip);
		}
		ck_assert_msg(supported || version != CUPTI_13_0, "%s supports no chip",
		              opk_set_name(set));
	}
	ck_assert_uint_gt(planned, is_long() ? 400 : 50);
	ck_assert_msg(!failed, "%zu of %zu plans failed, see above", failed, planned);
}

TEST(metrics_are_unique)
{
	for (size_t i = 0; i < set_count; i++) {
		const struct opk_set *set = sets[i];

		ck_assert_uint_gt(opk_set_metric_count(set), 0);
		ck_assert_msg(*opk_set_description(set), "%s", opk_set_name(set));
		for (size_t m = 0; m < opk_set_metric_count(set); m++) {
			const char *metric = opk_set_metric(set, m);

			for (size_t n = 0; n < m; n++)
				ck_assert_msg(strcmp(metric, opk_set_metric(set, n)),
				              "%s: %s twice", opk_set_name(set), metric);
		}
	}
}

/* A set has its file's name. */
TEST(names_match_files)
{
	for (size_t i = 0; i < set_count; i++) {
		const struct opk_set *set = sets[i];
		freed(opk_set) *found = NULL;
		char file[256];

		snprintf(file, sizeof file, "/%s.yaml", opk_set_name(set));
		ck_assert_msg(strstr(paths.items[i], file), "%s in %s", opk_set_name(set),
		              paths.items[i]);
		ck_ok(ctx, opk_set_find(&found, ctx, opk_set_name(set)));
		ck_assert_uint_eq(opk_set_metric_count(found), opk_set_metric_count(set));
	}
}

/* Whether the set supports the chip, or one of the architecture. */
static bool is_supported(const struct opk_set *set, const char *word)
{
	for (size_t i = 0; i < opk_chips_count(chips); i++) {
		const struct opk_chip *chip = opk_chips_get(chips, i);

		if ((!strcasecmp(word, chip->name)
		     || !strcasecmp(word, opk_chip_architecture(chip->name)))
		    && opk_set_supports(set, chip))
			return true;
	}
	return false;
}

/* Whether this release lacks the chip. */
static bool is_later(const char *name)
{
	for (size_t i = 0; opk_chip_known(i); i++)
		if (!strcasecmp(name, opk_chip_known(i)))
			return !opk_chips_find(chips, name);
	return false;
}

TEST(chips_are_known)
{
	if (version != CUPTI_13_0)
		return;
	for (size_t i = 0; i < set_count; i++) {
		const struct opk_set *set = sets[i];

		for (size_t c = 0; c < set->chips.count; c++) {
			const char *name = set->chips.items[c].text;

			ck_assert_msg(is_supported(set, name) || is_later(name),
			              "%s: no chip %s, or not with its profiler", opk_set_name(set),
			              name);
			for (size_t d = 0; d < c; d++)
				ck_assert_msg(strcasecmp(name, set->chips.items[d].text),
				              "%s lists %s twice", opk_set_name(set), name);
		}
	}
}

TEST(every_chip_is_covered)
{
	for (size_t c = 0; c < opk_chips_count(chips); c++) {
		const struct opk_chip *chip = opk_chips_get(chips, c);
		bool covered = !chip->range;

		for (size_t i = 0; i < set_count && !covered; i++)
			covered = !is_pm(sets[i]) && opk_set_supports(sets[i], chip);
		ck_assert_msg(covered, "no set for %s", chip->name);
	}
}

/* Thousands of plans, whose code other tests cover: only the plain build makes them. */
static bool can_plan(void)
{
	return is_plain_build() && have_cupti();
}

SUITE(.once = set_up, .finally = tear_down, .needs = can_plan, .seconds = 600);
