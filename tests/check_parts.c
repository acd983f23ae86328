/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The parts of every throughput, from PerfWorks in two ways, and whether they are complete: a
 * throughput counts what its parts count.
 */
#include "chip/chip.h"
#include "eval/eval_inside.h"
#include "perfworks.h"

struct chip {
	struct opk_ctx *ctx;
	struct opk_nv_evaluator *evaluator;
	struct perfworks perfworks;
	size_t throughputs, parts, failing;
};

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* False: PerfWorks does not know what the metric counts. */
static bool add_counters(struct opk_strlist *out, const struct chip *chip, const char *metric)
{
	int code = opk_nv_raw_counters(out, chip->ctx, chip->evaluator, metric);

	ck_assert_int_ne(code, OPK_ENOMEM);
	opk_clear_errors(chip->ctx);
	return !code;
}

/* Whether a throughput's parts count all that it counts; they never count more. */
static bool are_all(const struct chip *chip, const struct opk_strlist *parts, const char *metric)
{
	opk_autostrlist struct opk_strlist whole = { 0 }, counted = { 0 };

	ck_assert(add_counters(&whole, chip, metric));
	for (size_t i = 0; i < parts->count; i++)
		ck_assert(add_counters(&counted, chip, parts->items[i]));
	opk_strlist_sort(&whole);
	opk_strlist_sort_unique(&counted);
	for (size_t i = 0; i < counted.count; i++)
		ck_assert_msg(opk_strlist_contains_sorted(&whole, counted.items[i]), "%s", metric);
	return whole.count == counted.count;
}

/* Full names of the parts that PerfWorks can compute, sorted. */
static void find_parts(struct opk_strlist *out, bool *undivided, struct chip *chip,
                       const char *base, const char *suffix)
{
	opk_autostrlist struct opk_strlist bases = { 0 };

	perfworks_parts(&bases, &chip->perfworks, base);
	for (size_t i = 0; i < bases.count && strcmp(bases.items[i], base); i++) {
		opk_autofree char *name = opk_printf("%s%s", bases.items[i], suffix);
		opk_autostrlist struct opk_strlist counters = { 0 };

		*undivided |= strstr(name, "throughput") != NULL;
		if (add_counters(&counters, chip, name))
			ck_assert(opk_strlist_add(out, name));
		else
			chip->failing++;
	}
	*undivided |= bases.count == 1 && !strcmp(bases.items[0], base);
}

/* lib/eval/throughput.c finds the same parts as this test. */
static void compare(struct chip *chip, const char *base)
{
	static const char suffix[] = ".avg.pct_of_peak_sustained_elapsed";
	opk_autofree char *metric = opk_printf("%s%s", base, suffix);
	opk_autostrlist struct opk_strlist parts = { 0 };
	const char *metrics[] = { metric };
	size_t before = chip->failing;
	struct opk_throughputs found;
	const struct opk_remark *remarks;
	bool undivided = false, unknown;

	find_parts(&parts, &undivided, chip, base, suffix);
	ck_ok(chip->ctx, opk_throughputs_init(&found, chip->ctx, chip->evaluator, metrics, 1));
	ck_assert_uint_eq(found.count, 1);
	ck_assert_msg(found.parts.count == parts.count, "%s: %zu parts of %zu", metric,
	              found.parts.count, parts.count);
	if (parts.count)
		qsort(found.parts.items, parts.count, sizeof *parts.items, by_text);
	for (size_t i = 0; i < parts.count; i++)
		ck_assert_str_eq(found.parts.items[i], parts.items[i]);
	remarks = found.items->remarks;
	ck_assert_msg(!*remarks[OPK_PART_FAILS].part == (chip->failing == before), "%s", metric);
	if (chip->failing == before) {
		unknown = undivided || !are_all(chip, &parts, metric);
		ck_assert_msg(!*remarks[OPK_PARTS_UNKNOWN].part == !unknown, "%s", metric);
	}
	opk_throughputs_clear(&found);
	chip->parts += parts.count;
	chip->throughputs++;
}

/* Nothing if PerfWorks does not know the chip; 12.6 lacks some. */
static void check_chip(struct chip *all, const char *name, enum opk_profiler profiler)
{
	struct chip chip = { .ctx = all->ctx };

	if (opk_nv_evaluator_of_new(&chip.evaluator, chip.ctx, name, profiler)) {
		opk_clear_errors(chip.ctx);
		return;
	}
	perfworks_open(&chip.perfworks, chip.ctx, name, profiler);
	for (size_t i = 0; i < chip.perfworks.throughputs.numMetrics; i++)
		compare(&chip, perfworks_name(&chip.perfworks.throughputs, i));
	perfworks_close(&chip.perfworks);
	opk_nv_evaluator_free(chip.evaluator);
	all->throughputs += chip.throughputs;
	all->parts += chip.parts;
	all->failing += chip.failing;
}

TEST(parts_of_throughputs)
{
	struct chip all = { .ctx = new_ctx() };
	opk_autostrlist struct opk_strlist chips = { 0 };

	ck_ok(all.ctx, opk_nv_chips(&chips, all.ctx));
	for (size_t i = 0; i < chips.count; i++) {
		check_chip(&all, chips.items[i], OPK_PROFILER_RANGE);
		check_chip(&all, chips.items[i], OPK_PROFILER_PM);
	}
	fprintf(stderr, "%zu throughputs of %zu parts; %zu can't be computed\n", all.throughputs,
	        all.parts, all.failing);
	ck_assert(all.throughputs > 1000 && all.parts > 2000);
	opk_ctx_free(all.ctx);
}

SUITE(.needs = have_cupti, .seconds = 600);
