/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random sets of metrics, planned in CUPTI's order and by offpeak: bench_plan SECONDS [FOLDER]
 * Prints a row a set and the sums; writes each set's names into the folder, for Nsight Compute to
 * count.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "adapters/nv/nv.h"
#include "base/strlist.h"
#include "chip/chip.h"
#include "chip/door.h"
#include "plan/door.h"
#include "plan/plan_detail.h"
#include "set/door.h"
#include "freed.h"

enum { SETS = 6, LEAST = 50, MOST = 300, CHUNK = 25 };

static const char *const chips[] = { "TU102", "GA100", "GH100", "AD102", "GB100" };

struct totals {
	size_t cupti, fast, ours, bound;
};

static uint64_t state = 1;

static size_t random_below(size_t end)
{
	state = state * 6364136223846793005U + 1442695040888963407U;
	return (size_t)((state >> 33) % end);
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static int fail(struct opk_ctx *ctx, const char *what)
{
	for (size_t i = opk_error_count(ctx); i-- > 0;)
		fprintf(stderr, "bench_plan: %s: %s\n", what, opk_error_message(ctx, i));
	return 1;
}

/* Any full name, except names of NVIDIA's sets for PM sampling. */
static char *random_name(const struct opk_catalog *catalog)
{
	for (;;) {
		const struct opk_metric *metric = opk_catalog_get(catalog,
		                                                  random_below(opk_catalog_count(
									  catalog)));
		size_t count = opk_catalog_submetric_count(catalog, metric);

		if (count && !strchr(metric->name, '.'))
			return opk_printf(
				"%s%s", metric->name,
				opk_catalog_submetric(catalog, metric, random_below(count)).suffix);
	}
}

/* Whether CUPTI, without offpeak's planner, plans these together. */
static bool plans(struct opk_ctx *ctx, const char *chip, const struct opk_strlist *names)
{
	const struct opk_target target = { chip, OPK_PROFILER_RANGE, NULL, NULL };
	opk_autoresult struct opk_schedule_result result = { 0 };
	int code = opk_schedule_try(&result, ctx, &target, opk_strlist_items(names), names->count);

	opk_clear_errors(ctx);
	return !code && !result.apart;
}

static void drop_from(struct opk_strlist *names, size_t first)
{
	while (names->count > first)
		free(names->items[--names->count]);
}

/* Skips names that CUPTI refuses, alone or together with others. */
static void make_set(struct opk_strlist *names, struct opk_ctx *ctx,
                     const struct opk_catalog *catalog, const char *chip)
{
	size_t wanted = LEAST + random_below(MOST - LEAST + 1);

	while (names->count < wanted) {
		size_t before = names->count;
		opk_autostrlist struct opk_strlist chunk = { 0 };

		for (size_t i = 0; i < CHUNK && before + i < wanted; i++) {
			opk_strlist_take(&chunk, random_name(catalog));
			opk_strlist_add(names, chunk.items[i]);
		}
		if (plans(ctx, chip, names))
			continue;
		drop_from(names, before);
		for (size_t i = 0; i < chunk.count; i++) {
			opk_strlist_add(names, chunk.items[i]);
			if (!plans(ctx, chip, names))
				drop_from(names, names->count - 1);
		}
	}
}

static int plan_set(struct opk_plan **plan, struct opk_ctx *ctx, const char *chip,
                    const struct opk_strlist *names, double effort)
{
	opk_autofree char *joined = NULL;
	struct opk_plan_options options = OPK_INIT(options);
	freed(opk_set) *set = NULL;
	int code;

	for (size_t i = 0; i < names->count; i++) {
		char *longer = opk_printf("%s%s%s", i ? joined : "", i ? "," : "", names->items[i]);

		free(joined);
		joined = longer;
	}
	code = opk_set_from_names(&set, ctx, joined);
	if (code)
		return code;
	options.chip = chip;
	options.effort = effort;
	code = opk_plan_new(plan, ctx, set, &options);
	return code;
}

static int count_passes(size_t *passes, double *seconds, struct opk_ctx *ctx, const char *chip,
                        const struct opk_strlist *names, double effort, size_t *bound)
{
	struct opk_plan_detail *detail = NULL;
	struct opk_plan *plan;
	double begun = now();
	int code = plan_set(&plan, ctx, chip, names, effort);

	*seconds = now() - begun;
	if (code)
		return code;
	*passes = opk_plan_passes(plan);
	if (bound)
		code = opk_plan_detail_new(&detail, ctx, plan);
	if (!code && bound)
		*bound = detail->lower_bound;
	opk_plan_detail_free(detail);
	opk_plan_free(plan);
	return code;
}

static int bench_set(struct totals *totals, struct opk_ctx *ctx, const char *chip, size_t number,
                     const struct opk_strlist *names, double effort)
{
	size_t cupti, fast, ours, bound;
	double cupti_s, fast_s, ours_s;
	int code = count_passes(&cupti, &cupti_s, ctx, chip, names, -1, NULL);

	if (!code)
		code = count_passes(&fast, &fast_s, ctx, chip, names, 0, NULL);
	if (!code)
		code = count_passes(&ours, &ours_s, ctx, chip, names, effort, &bound);
	if (code)
		return fail(ctx, chip);
	printf("| %s %zu | %zu | %zu | %zu | %zu | %zu | %.0f | %.0f | %.0f |\n", chip, number + 1,
	       names->count, cupti, fast, ours, bound, cupti_s * 1e3, fast_s * 1e3, ours_s * 1e3);
	fflush(stdout);
	totals->cupti += cupti;
	totals->fast += fast;
	totals->ours += ours;
	totals->bound += bound;
	return fast > cupti || ours > fast ? fail(ctx, "longer than CUPTI's") : 0;
}

static void write_names(const char *folder, const char *chip, size_t number,
                        const struct opk_strlist *names)
{
	opk_autofree char *path = opk_printf("%s/%s-%zu.txt", folder, chip, number + 1);
	FILE *file = fopen(path, "w");

	for (size_t i = 0; file && i < names->count; i++)
		fprintf(file, "%s\n", names->items[i]);
	if (file)
		fclose(file);
}

static int bench_chip(struct totals *totals, struct opk_ctx *ctx, const char *chip, double effort,
                      const char *folder)
{
	freed(opk_catalog) *catalog = NULL;
	int failed = 0;

	if (opk_catalog_new(&catalog, ctx, chip, OPK_PROFILER_RANGE)
	    || opk_catalog_complete(catalog, ctx))
		return fail(ctx, chip);
	for (size_t i = 0; !failed && i < SETS; i++) {
		opk_autostrlist struct opk_strlist names = { 0 };

		make_set(&names, ctx, catalog, chip);
		if (folder)
			write_names(folder, chip, i, &names);
		failed = bench_set(totals, ctx, chip, i, &names, effort);
	}
	return failed;
}

int main(int argc, char **argv)
{
	struct opk_ctx_options options = OPK_INIT(options);
	struct totals totals = { 0 };
	double effort = argc > 1 ? strtod(argv[1], NULL) : 5;
	struct opk_env env = OPK_INIT(env);
	freed(opk_ctx) *ctx = NULL;
	int failed = 0;

	opk_env_read(&env);
	options.env = &env;
	if (opk_ctx_new(&ctx, &options))
		return 1;
	printf("| set | metrics | CUPTI's order | default | %g s | lower bound | ms | ms | ms |\n"
	       "|---|---|---|---|---|---|---|---|---|\n",
	       effort);
	for (size_t i = 0; !failed && i < sizeof chips / sizeof *chips; i++)
		failed = bench_chip(&totals, ctx, chips[i], effort, argc > 2 ? argv[2] : NULL);
	printf("| all | | %zu | %zu (%.3f) | %zu (%.3f) | %zu | | | |\n", totals.cupti, totals.fast,
	       (double)totals.fast / (double)totals.cupti, totals.ours,
	       (double)totals.ours / (double)totals.cupti, totals.bound);
	return failed;
}
