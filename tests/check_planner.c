/* SPDX-License-Identifier: BSD-2-Clause */
/* Packing, and plans shorter than CUPTI's: over the fake, and with NVIDIA's own libraries. */
#include "adapters/nv/nv.h"
#include "base/buf.h"
#include "plan/door.h"
#include "plan/plan_detail.h"
#include "schedule/schedule.h"
#include "fake_nv.h"
#include "real.h"
#include "set/door.h"

/* ---- packing */

/* A bin has room for four items; items of the same odd class clash. */
static unsigned questions;

static int fits(bool *out, struct opk_ctx *ctx, void *data, const size_t *items, size_t count)
{
	const size_t *class = data;

	(void)ctx;
	questions++;
	*out = count <= 4;
	for (size_t i = 0; i < count; i++)
		for (size_t j = i + 1; j < count; j++)
			if (class[items[i]] % 2 && class[items[i]] == class[items[j]])
				*out = false;
	return OPK_OK;
}

enum { ITEMS = 60 };

static void make_classes(size_t *class)
{
	/* Items that clash come last, where first fit by number would find them too late. */
	for (size_t i = 0; i < ITEMS; i++)
		class[i] = i < ITEMS - 15 ? 0 : 7;
}

/* Puts each item into the first bin with room, in the order of their numbers. */
static void first_fit(struct opk_packed *bins, size_t *class, size_t count)
{
	bins->count = 0;
	bins->bin_of = calloc(count + 1, sizeof *bins->bin_of);
	for (size_t i = 0; i < count; i++) {
		bool good = false;

		for (size_t bin = 0; !good; bin++) {
			size_t items[ITEMS], used = 0;

			for (size_t j = 0; j < i; j++)
				if (bins->bin_of[j] == bin)
					items[used++] = j;
			items[used++] = i;
			fits(&good, NULL, class, items, used);
			bins->bin_of[i] = bin;
			bins->count = good && bin >= bins->count ? bin + 1 : bins->count;
		}
	}
}

/* The same number clashes within each class, with all or some items. */
FAKE_TEST(clashes)
{
	struct opk_packing packing;
	size_t class[ITEMS], bound;
	double hardness[ITEMS] = { 0 };

	make_classes(class);
	questions = 0;
	packing = (struct opk_packing){
		.count = ITEMS, .fits = fits, .data = class, .hardness = hardness, .patience = NULL
	};
	ck_ok(ctx, opk_packing_init(&packing, ctx));
	ck_assert_uint_eq(questions, 0);
	ck_ok(ctx, opk_packing_clashes(hardness, ctx, &packing));
	/* About twenty questions for each item, not all 1,770 pairs. */
	ck_assert_uint_le(questions, 1300);
	for (size_t i = 0; i < ITEMS; i++)
		ck_assert_msg((hardness[i] > 0) == (class[i] % 2), "%zu: %g", i, hardness[i]);
	ck_ok(ctx, opk_packing_clique(&bound, ctx, &packing));
	ck_assert_uint_eq(bound, 15);
	opk_packing_clear(&packing);
}

TEST(hardest_first)
{
	static const double hardness[] = { 1, 3, 0, 3, 2 };
	static const size_t wanted[] = { 1, 3, 4, 0, 2 };
	opk_autofree struct opk_ranked *order = opk_hardest_first(hardness, COUNT(hardness));

	ck_assert_ptr_nonnull(order);
	for (size_t i = 0; i < COUNT(wanted); i++)
		ck_assert_uint_eq(order[i].item, wanted[i]);
}

/* Bins are numbered without gaps; an item without a bin goes to the first. */
TEST(renumbers)
{
	size_t bin_of[] = { 7, 2, SIZE_MAX, 7, 4 };
	static const size_t wanted[] = { 3, 1, 0, 3, 2 };
	struct opk_packed bins = { .bin_of = bin_of };

	ck_assert(opk_packed_renumber(&bins, COUNT(bin_of)));
	ck_assert_uint_eq(bins.count, 4);
	ck_assert_mem_eq(bin_of, wanted, sizeof wanted);
}

static const struct {
	struct here here;
	size_t count, clashing, bins, bound;
} bounds_rows[] = {
	{ HERE, 0, 0, 0, 1 }, { HERE, 1, 0, 1, 1 }, { HERE, 4, 0, 1, 1 },  { HERE, 5, 0, 2, 2 },
	{ HERE, 9, 0, 3, 3 }, { HERE, 3, 3, 3, 3 }, { HERE, 12, 5, 5, 5 },
};

/* Items that fit everywhere don't count; without other items no bin is needed. */
FAKE_TEST_EACH(bounds, bounds_rows)
{
	struct opk_packing packing;
	struct opk_packed bins;
	size_t class[ITEMS] = { 0 }, bound, clique;
	double hardness[ITEMS] = { 0 };

	for (size_t j = 0; j < row->clashing; j++)
		class[j] = 1;
	packing = (struct opk_packing){ .count = row->count,
		                        .fits = fits,
		                        .data = class,
		                        .hardness = hardness,
		                        .patience = NULL };
	ck_ok(ctx, opk_packing_init(&packing, ctx));
	first_fit(&bins, class, row->count);
	ck_row(row, bins.count == row->bins, "%zu bins", bins.count);
	ck_ok(ctx, opk_packing_bound(&bound, ctx, &packing, &bins));
	ck_ok(ctx, opk_packing_clique(&clique, ctx, &packing));
	bound = clique > bound ? clique : bound;
	ck_row(row, bound == row->bound, "bound %zu", bound);
	opk_packed_clear(&bins);
	opk_packing_clear(&packing);
}

/* The bound is also valid when the time runs out. */
FAKE_TEST(out_of_patience)
{
	struct opk_patience patience = { .end = opk_processor_seconds() };
	struct opk_packing packing;
	size_t class[ITEMS], bound;
	double hardness[ITEMS] = { 0 };

	make_classes(class);
	questions = 0;
	ck_assert(opk_patience_over(&patience));
	packing = (struct opk_packing){ .count = ITEMS,
		                        .fits = fits,
		                        .data = class,
		                        .hardness = hardness,
		                        .patience = &patience };
	ck_ok(ctx, opk_packing_init(&packing, ctx));
	ck_ok(ctx, opk_packing_clashes(hardness, ctx, &packing));
	ck_ok(ctx, opk_packing_clique(&bound, ctx, &packing));
	ck_assert_uint_eq(bound, 1);
	ck_assert_uint_le(questions, 1);
	opk_packing_clear(&packing);
}

static int fails(bool *out, struct opk_ctx *ctx, void *data, const size_t *items, size_t count)
{
	(void)data;
	(void)items;
	*out = false;
	return count < 2 ? OPK_OK : opk_fail(ctx, OPK_EFAILED, "no answer");
}

FAKE_TEST(questions_fail)
{
	struct opk_packing packing;
	double hardness[5] = { 0 };
	size_t bound;

	packing = (struct opk_packing){
		.count = 5, .fits = fails, .data = NULL, .hardness = hardness, .patience = NULL
	};
	ck_ok(ctx, opk_packing_init(&packing, ctx));
	ck_code(ctx, opk_packing_clashes(hardness, ctx, &packing), OPK_EFAILED);
	opk_clear_errors(ctx);
	ck_code(ctx, opk_packing_clique(&bound, ctx, &packing), OPK_EFAILED);
	opk_packing_clear(&packing);
}

/* ---- plans over the fake, whose CUPTI wastes passes on demand */

static const char some[] = "fake__a.sum,fake__b.sum,fake__c.sum";

static int make_plan(struct opk_plan **plan, struct opk_ctx *ctx, const char *chip,
                     const char *names, double effort)
{
	struct opk_plan_options options = OPK_INIT(options);
	freed(opk_set) *set = NULL;

	ck_ok(ctx, opk_set_from_names(&set, ctx, names));
	options.chip = chip;
	options.effort = effort;
	return opk_plan_new(plan, ctx, set, &options);
}

static const struct {
	struct here here;
	unsigned needless;
	double effort;
	size_t passes;
} shortens_rows[] = {
	{ HERE, 0, 0, 2 },   { HERE, 1, 0, 2 },  { HERE, 5, 0, 2 },
	{ HERE, 5, 0.1, 2 }, { HERE, 5, -1, 7 },
};

FAKE_TEST_EACH(shortens, shortens_rows)
{
	freed(opk_plan) *plan = NULL;

	fake.needless_passes = row->needless;
	ck_ok(ctx, make_plan(&plan, ctx, "FA100", some, row->effort));
	ck_row(row, opk_plan_passes(plan) == row->passes, "%zu", opk_plan_passes(plan));
	ck_assert_int_eq(fake.hosts + fake.evaluators + fake.schedulers, 0);
}

/* CUPTI's plan is used if the library lacks a call. */
TEST(without_planner)
{
	static const enum fake_call calls[] = {
		FAKE_NVPW_CUDA_RawCounterConfig_Create,
		FAKE_NVPW_RawCounterConfig_AddRawCounters,
		FAKE_NVPW_Config_GetRawCounters,
	};

	for (size_t i = 0; i < COUNT(calls); i++) {
		struct nv_table table = fake_table();
		freed(opk_ctx) *ctx = NULL;
		freed(opk_plan) *plan = NULL;

		fake_reset();
		fake.needless_passes = 3;
		*fake_slot(&table, calls[i]) = NULL;
		ctx = fake_ctx_of(&table);
		ck_ok(ctx, make_plan(&plan, ctx, "FA100", some, 0));
		ck_assert_uint_eq(opk_plan_passes(plan), 5);
		ck_assert_uint_eq(opk_error_count(ctx), 0);
	}
}

TEST(calls_fail)
{
	static const enum fake_call calls[] = {
		FAKE_NVPW_CUDA_RawCounterConfig_Create,
		FAKE_NVPW_MetricsEvaluator_GetMetricRawDependencies,
		FAKE_NVPW_RawCounterConfig_AreRawCountersSchedulable,
		FAKE_NVPW_RawCounterConfig_AddRawCounters,
		FAKE_NVPW_RawCounterConfig_GenerateConfigImage,
		FAKE_NVPW_Config_GetRawCounters,
	};

	for (size_t i = 0; i < COUNT(calls); i++) {
		freed(opk_ctx) *ctx = fake_ctx();
		struct opk_plan *plan = NULL;

		fake.needless_passes = 3;
		fake.status[calls[i]] = 1;
		ck_fails(ctx, make_plan(&plan, ctx, "FA100", some, 0), OPK_EFAILED,
		         "no shorter plan of set");
		ck_assert_ptr_null(plan);
		ck_assert_int_eq(fake.hosts + fake.evaluators + fake.schedulers, 0);
	}
}

/* ---- NVIDIA's own libraries */

static char *wide_names(struct opk_ctx *ctx)
{
	struct opk_buf text = { 0 };
	const struct opk_meta *meta;
	freed(opk_file) *file = NULL;

	ck_ok(ctx, opk_file_open(&file, ctx, TEST_DATA_DIR "/recordings/gh100-wide-auto.opk"));
	ck_ok(ctx, opk_file_meta(&meta, ctx, file));
	for (size_t i = 0; i < meta->metric_count; i++)
		opk_buf_add_printf(&text, "%s%s", i ? "," : "", meta->metrics[i]);
	opk_buf_add(&text, "", 1);
	ck_assert(!text.failed);
	return (char *)text.data;
}

/* Nsight Compute takes 19 passes for these metrics, and CUPTI's order 16. */
CTX_TEST(real_wide, .needs = have_cupti)
{
	struct opk_plan_detail *detail;
	struct opk_plan *plan;
	opk_autofree char *names = wide_names(ctx);
	size_t splits = 0, saving = 0;

	if (version_of(ctx) == CUPTI_13_0) {
		ck_ok(ctx, make_plan(&plan, ctx, "GH100", names, 0));
		ck_assert_uint_eq(opk_plan_passes(plan), 15);
		ck_ok(ctx, opk_plan_detail_new(&detail, ctx, plan));
		ck_assert_uint_eq(detail->lower_bound, 15);
		for (size_t i = 0; i < opk_plan_metrics(plan)->count; i++) {
			splits += detail->splits[i];
			saving += detail->saves[i] > 0;
		}
		/* Of 39 ratios, with shares of cycles, some have both counters in one pass. */
		ck_assert_uint_le(splits, 32);
		ck_assert_uint_le(saving, 10);
		opk_plan_detail_free(detail);
		opk_plan_free(plan);
	}
}

/* With the counters of CUPTI's own passes in their order, the image is CUPTI's, byte for byte. */
CTX_TEST(real_images_are_the_same, .needs = have_cupti)
{
	opk_autofree char *names = wide_names(ctx);
	struct opk_nv_scheduler *scheduler;
	struct opk_counters counters;
	struct opk_plan *plan;
	size_t size, ours_size, passes;
	const void *theirs;
	void *ours;

	if (version_of(ctx) == CUPTI_13_0) {
		ck_ok(ctx, make_plan(&plan, ctx, "GH100", names, -1));
		theirs = opk_plan_config(plan, &size);
		ck_ok(ctx, opk_counters_of(&counters, ctx, "GH100", &plan->metrics));
		ck_ok(ctx, opk_nv_scheduler_new(&scheduler, ctx, "GH100", NULL));
		ck_ok(ctx,
		      opk_nv_scheduler_add_pass(ctx, scheduler, opk_strlist_items(&counters.names),
		                                counters.names.count));
		ck_ok(ctx, opk_nv_scheduler_image(&ours, &ours_size, &passes, ctx, scheduler));
		ck_assert_uint_eq(passes, opk_plan_passes(plan));
		ck_assert_uint_eq(ours_size, size);
		ck_assert_mem_eq(ours, theirs, size);
		free(ours);
		opk_nv_scheduler_free(scheduler);
		opk_counters_clear(&counters);
		opk_plan_free(plan);
	}
}

/* Every raw counter of every metric is in some pass of the image. */
CTX_TEST(real_plans_are_complete, .needs = have_cupti)
{
	static const char *const chips[] = { "TU102", "GA100", "GH100", "GB202" };
	static const char names[] =
		"lts__t_sectors_op_read.sum,lts__t_sectors_op_write.sum,lts__t_sectors_op_atom.sum,"
		"lts__t_sectors_op_red.sum,lts__t_sectors_srcunit_tex.sum,lts__t_requests.sum,"
		"lts__t_sectors_lookup_hit.sum,lts__t_sectors_lookup_miss.sum,lts__t_sectors.sum,"
		"sm__inst_executed.sum,sm__warps_active.avg.per_cycle_active,sm__inst_issued.sum,"
		"l1tex__t_sectors.sum,l1tex__t_sector_hit_rate.pct,lts__t_sector_hit_rate.pct,"
		"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum,sm__throughput.avg.pct_of_peak_"
		"sustained_elapsed";
	/* TU102 and GH100; in make check-long every chip. */
	size_t step = is_long() ? 1 : 2;

	for (size_t i = 0; version_of(ctx) >= 130000 && i < COUNT(chips); i += step) {
		struct opk_schedule schedule;
		struct opk_counters counters;
		freed(opk_plan) *ours = NULL, *theirs = NULL;

		ck_ok(ctx, make_plan(&theirs, ctx, chips[i], names, -1));
		ck_ok(ctx, make_plan(&ours, ctx, chips[i], names, 0));
		ck_assert_msg(opk_plan_passes(ours) <= opk_plan_passes(theirs), "%s: %zu, %zu",
		              chips[i], opk_plan_passes(ours), opk_plan_passes(theirs));
		ck_ok(ctx, opk_counters_of(&counters, ctx, chips[i], &ours->metrics));
		ck_ok(ctx, opk_schedule_read(&schedule, ctx, &counters, &ours->schedule));
		for (size_t j = 0; j < counters.names.count; j++)
			ck_assert_msg(schedule.pass_of[j] < ours->schedule.passes, "%s: %s",
			              chips[i], counters.names.items[j]);
		opk_schedule_clear(&schedule);
		opk_counters_clear(&counters);
	}
}

SUITE(.seconds = 300);
