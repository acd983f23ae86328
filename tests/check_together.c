/* SPDX-License-Identifier: BSD-2-Clause */
/* Plans of metrics that CUPTI refuses together: with the fake and with NVIDIA's libraries. */
#include "adapters/nv/nv.h"
#include "allocation.h"
#include "plan/door.h"
#include "schedule/schedule.h"
#include "plan/plan.h"
#include "fake_nv.h"
#include "real.h"
#include "set/door.h"

static char logged[1024];

static void keep_log(void *data, const char *message)
{
	size_t used = strlen(logged);

	(void)data;
	snprintf(logged + used, sizeof logged - used, "%s\n", message);
}

static int make_plan(struct opk_plan **plan, struct opk_ctx *ctx, const char *chip,
                     const char *names, double effort, const char *availability)
{
	struct opk_plan_options options = OPK_INIT(options);
	freed(opk_set) *set = NULL;

	*plan = NULL;
	logged[0] = '\0';
	ctx->log = keep_log;
	ck_ok(ctx, opk_set_from_names(&set, ctx, names));
	options.chip = chip;
	options.effort = effort;
	options.availability = availability;
	options.availability_size = availability ? 8 : 0;
	return opk_plan_new(plan, ctx, set, &options);
}

/* ---- the fake's b belongs to a link, and CUPTI refuses it together with others */

static const char mixed[] = "fake__a.sum,fake__b.sum,fake__c.sum";

static struct opk_ctx *link_ctx(void)
{
	struct opk_ctx *ctx = fake_ctx();

	fake.link = "raw_b";
	return ctx;
}

static const struct {
	struct here here;
	const char *names;
	const char *availability;
	size_t passes;
	const char *told;
} plans_rows[] = {
	{ HERE, "fake__a.sum,fake__b.sum", NULL, 1, "refuses 1 of the metrics" },
	{ HERE, mixed, NULL, 2, "refuses 1 of the metrics" },
	{ HERE, mixed, "avail   ", 2, "refuses 1 of the metrics" },
	/* CUPTI's own plan. */
	{ HERE, "fake__b.sum", NULL, 1, NULL },
	{ HERE, "fake__a.sum,fake__c.sum", NULL, 1, NULL },
};

TEST_EACH(plans, plans_rows)
{
	freed(opk_ctx) *ctx = link_ctx();
	freed(opk_plan) *plan = NULL;

	ck_ok(ctx, make_plan(&plan, ctx, "FA100", row->names, 0, row->availability));
	ck_row(row, opk_plan_passes(plan) == row->passes, "%zu passes", opk_plan_passes(plan));
	ck_row(row, row->told ? strstr(logged, row->told) != NULL : !*logged, "%s", logged);
	ck_assert_uint_eq(opk_error_count(ctx), 0);
	ck_assert_int_eq(fake.hosts + fake.evaluators + fake.schedulers, 0);
}

static const struct {
	struct here here;
	const char *names;
	enum fake_call missing; /* or failing */
	int status;
	const char *told; /* texts with | between */
} refuses_rows[] = {
	{ HERE, mixed, FAKE_NVPW_RawCounterConfig_AddRawCounters, 0,
	  "NOT_SUPPORTED (27)|"
	  "1 of 3 metrics are refused with those before: fake__b.sum|"
	  "FA100 refuses the metrics of set custom together, not one by one" },
	{ HERE, mixed, FAKE_NVPW_RawCounterConfig_AddRawCounters, 18,
	  "NOT_SUPPORTED (27)|refused with those before: fake__b.sum" },
	{ HERE, mixed, FAKE_NVPW_RawCounterConfig_GenerateConfigImage, 1,
	  "NOT_SUPPORTED (27)|refused with those before: fake__b.sum" },
	{ HERE, mixed, FAKE_NVPW_RawCounterConfig_GetRawCounterProperties, 1,
	  "NOT_SUPPORTED (27)|refused with those before: fake__b.sum" },
	{ HERE, mixed, FAKE_NVPW_CUDA_MetricsEvaluator_Initialize, 1,
	  "NOT_SUPPORTED (27)|refused with those before: fake__b.sum" },
	{ HERE, "fake__a.sum,fake__b.sum,fake__listed.sum", 0, 0,
	  "fake__listed.sum is listed for FA100 but can't be scheduled|1 of 3 metrics" },
};

/* Names that PerfWorks can't plan are in the message; what CUPTI refuses alone is refused. */
TEST_EACH(refuses, refuses_rows)
{
	struct nv_table table = fake_table();
	struct opk_plan *plan;
	freed(opk_ctx) *ctx = NULL;

	fake_reset();
	fake.link = "raw_b";
	if (row->missing && !row->status)
		*fake_slot(&table, row->missing) = NULL;
	else
		fake.status[row->missing] = row->status;
	ctx = fake_ctx_of(&table);
	ck_code(ctx, make_plan(&plan, ctx, "FA100", row->names, 0, NULL), OPK_EFAILED);
	ck_assert_ptr_null(plan);
	ck_row(row, !untold(ctx, row->told), "no '%s' in: %s", untold(ctx, row->told),
	       errors_of(ctx));
	ck_assert_int_eq(fake.hosts + fake.evaluators + fake.schedulers, 0);
}

TEST(without_memory)
{
	bool failed = true;

	for (long n = 0; failed; n++) {
		freed(opk_ctx) *ctx = link_ctx();
		struct opk_plan_options options = OPK_INIT(options);
		freed(opk_set) *set = NULL;
		freed(opk_plan) *plan = NULL;

		ctx->log = keep_log;
		ck_ok(ctx, opk_set_from_names(&set, ctx, mixed));
		options.chip = "FA100";
		failed = is_short(ctx, n, opk_plan_new(&plan, ctx, set, &options));
		ck_assert_int_eq(fake.hosts + fake.evaluators + fake.schedulers, 0);
	}
}

/* ---- NVIDIA's own libraries */

#define OTHERS                                                                                     \
	"sm__inst_executed.sum,lts__t_sectors_op_read.sum,lts__t_sectors_op_write.sum,"            \
	"lts__t_sectors_op_atom.sum,lts__t_sectors_op_red.sum,lts__t_sector_hit_rate.pct,"         \
	"l1tex__t_sector_hit_rate.pct,smsp__sass_thread_inst_executed_op_ffma_pred_on.sum,"        \
	"gpu__time_duration.sum"

static const struct real_row {
	struct here here;
	const char *chip, *device, *all;
} real_rows[] = {
#define ROW(chip, device)                                                                          \
	{                                                                                          \
		HERE, chip, device, OTHERS "," device                                              \
	}
	ROW("TU102",
	    "pcie__read_bytes.sum,pcie__write_bytes.sum,nvltx__bytes.sum,nvlrx__bytes.sum"),
	ROW("GA10B", "mcc__dram_throughput_op_read.avg.pct_of_peak_sustained_elapsed"),
	ROW("GH100",
	    "pcie__read_bytes.sum,nvlrx__bytes.sum,nvltx__bytes.sum.per_second,ctc__rx_bytes.sum"),
	ROW("GB100", "pcie__throughput.avg.pct_of_peak_sustained_elapsed,ctc__tx_bytes.sum"),
	ROW("GB202", "pcie__read_bytes.sum"),
#undef ROW
};

/* Each raw counter of each metric is in a pass. */
static void check_complete(struct opk_ctx *ctx, const struct real_row *row, struct opk_plan *plan)
{
	struct opk_schedule schedule;
	struct opk_counters counters;

	ck_ok(ctx, opk_counters_of(&counters, ctx, row->chip, &plan->metrics));
	ck_ok(ctx, opk_schedule_read(&schedule, ctx, &counters, &plan->schedule));
	for (size_t i = 0; i < counters.names.count; i++)
		ck_row(row, schedule.pass_of[i] < plan->schedule.passes, "%s",
		       counters.names.items[i]);
	opk_schedule_clear(&schedule);
	opk_counters_clear(&counters);
}

/* CUPTI's order: device metrics share passes with the others, and need no further pass. */
TEST_EACH(real_plans, real_rows, .needs = have_cupti)
{
	struct opk_plan *others, *device, *all, *ours;
	struct opk_ctx *ctx = new_ctx();
	size_t passes, most;
	void *prefix;
	size_t size;

	if (version_of(ctx) < 130000) {
		opk_ctx_free(ctx);
		return;
	}
	ck_ok(ctx, make_plan(&others, ctx, row->chip, OTHERS, -1, NULL));
	ck_ok(ctx, make_plan(&device, ctx, row->chip, row->device, -1, NULL));
	ck_row(row, !*logged, "%s", logged);
	ck_ok(ctx, make_plan(&all, ctx, row->chip, row->all, -1, NULL));
	ck_row(row, strstr(logged, "CUPTI alone refuses"), "%s", logged);
	ck_ok(ctx, make_plan(&ours, ctx, row->chip, row->all, 0, NULL));
	most = others->schedule.passes > device->schedule.passes ? others->schedule.passes
	                                                         : device->schedule.passes;
	ck_row(row, all->schedule.passes == most, "%zu, not %zu", all->schedule.passes, most);
	ck_row(row, ours->schedule.passes <= most, "%zu, not %zu", ours->schedule.passes, most);
	/* CUPTI counts the same passes in the image. */
	ck_ok(ctx, opk_nv_passes(&passes, ctx, ours->schedule.config, ours->schedule.size));
	ck_row(row, passes == ours->schedule.passes, "%zu", passes);
	check_complete(ctx, row, all);
	check_complete(ctx, row, ours);
	ck_ok(ctx, opk_prefix_new(&prefix, &size, ctx, ours, NULL));
	ck_assert_uint_gt(size, 0);
	free(prefix);
	opk_plan_free(others);
	opk_plan_free(device);
	opk_plan_free(all);
	opk_plan_free(ours);
	opk_ctx_free(ctx);
}

SUITE(.seconds = 300);
