/* SPDX-License-Identifier: BSD-2-Clause */
/* Lists about a plan. */
#include "adapters/nv/nv.h"
#include "base/listing.h"
#include "plan/door.h"
#include "plan/plan_detail.h"

/* ---- lists that cost nothing */

int opk_plan_sample_bytes(size_t *out, struct opk_ctx *ctx, const struct opk_plan *plan)
{
	if (plan->target.profiler != OPK_PROFILER_PM)
		return opk_fail(ctx, OPK_EUSAGE, "only PM sampling takes samples");
	return opk_nv_sample_size(out, ctx, plan->schedule.config, plan->schedule.size);
}

static int add_about(struct opk_listing *rows, struct opk_ctx *ctx, const struct opk_plan *plan)
{
	static const struct opk_strlist none;
	size_t sample_bytes = 0;
	bool known = !opk_plan_sample_bytes(&sample_bytes, ctx, plan);

	opk_clear_errors(ctx);
	opk_listing_row(rows, cell_text(plan->target.chip),
	                cell_text(opk_profiler_name(plan->target.profiler)),
	                cell_text(plan->set_name), cell_texts(&plan->metrics),
	                cell_number(plan->schedule.passes), cell_texts(&plan->resolved.left_out),
	                cell_number(plan->left_out.count),
	                cell_texts(plan->lost ? plan->lost : &none),
	                cell_known(sample_bytes, known));
	return OPK_OK;
}

/* ---- lists that take long */

/* Adds the mean cost of a launch, and the sum over all passes of replay. */
static int add_costs(struct opk_listing *rows, struct opk_ctx *ctx, const struct opk_plan *plan)
{
	const struct opk_plan_detail *detail = plan->detail;
	uint64_t launch = 0, replay = 0;
	bool known = true; /* an unknown pass makes the sum unknown */

	(void)ctx;
	for (size_t pass = 0; pass < detail->passes; pass++) {
		launch += detail->costs[pass].launch_us;
		replay += detail->costs[pass].replay_us;
		known &= detail->costs[pass].launch_us > 0;
	}
	opk_listing_row(rows, cell_number(detail->lower_bound),
	                cell_known((launch + detail->passes / 2) / detail->passes, known),
	                cell_known(replay, known), cell_text(known ? detail->measured : ""));
	return OPK_OK;
}

/* The domains in which the pass has counters, each with how many: "gpu_lts:8". */
static bool list_fill(struct opk_strlist *out, const struct opk_plan_detail *detail, size_t pass)
{
	for (size_t i = 0; i < detail->parts.count; i++) {
		size_t fill = detail->fill[pass * detail->parts.count + i];
		const char *name = detail->parts.all[i].domains.items[0];

		if (fill && !opk_strlist_take(out, opk_printf("%s:%zu", name, fill)))
			return false;
	}
	return true;
}

static int add_passes(struct opk_listing *rows, struct opk_ctx *ctx, const struct opk_plan *plan)
{
	const struct opk_plan_detail *detail = plan->detail;
	opk_autofree const char **served = opk_alloc_array(plan->metrics.count + 1, sizeof *served);

	for (size_t pass = 0; pass < detail->passes; pass++) {
		opk_autostrlist struct opk_strlist fill = { 0 };
		const struct opk_pass_cost *cost = &detail->costs[pass];
		size_t count = 0;

		if (!served || !list_fill(&fill, detail, pass))
			return opk_nomem(ctx, "passes");
		for (size_t i = 0; i < plan->metrics.count; i++)
			if (opk_pass_serves(&detail->use, pass, i))
				served[count++] = plan->metrics.items[i];
		opk_listing_row(rows, cell_number(pass + 1),
		                cell_number(detail->use.counters[pass].count), cell_texts(&fill),
		                cell_known(cost->launch_us, cost->launch_us > 0),
		                cell_known(cost->replay_us, cost->replay_us > 0),
		                cell_list(served, count));
	}
	return OPK_OK;
}

/* The reverse: a row per metric. */
static int add_metrics(struct opk_listing *rows, struct opk_ctx *ctx, const struct opk_plan *plan)
{
	const struct opk_plan_detail *detail = plan->detail;

	for (size_t i = 0; i < plan->metrics.count; i++) {
		opk_autostrlist struct opk_strlist in = { 0 };

		for (size_t pass = 0; pass < detail->passes; pass++)
			if (opk_pass_serves(&detail->use, pass, i)
			    && !opk_strlist_take(&in, opk_printf("%zu", pass + 1)))
				return opk_nomem(ctx, "passes");
		opk_listing_row(rows, cell_text(plan->metrics.items[i]), cell_number(in.count),
		                cell_texts(&in), cell_number(detail->saves[i]),
		                cell_flag(detail->splits[i]));
	}
	return OPK_OK;
}

/* Metrics that make the plan longer, and ratios whose parts come from different passes. */
static int add_notable(struct opk_listing *rows, struct opk_ctx *ctx, const struct opk_plan *plan)
{
	const struct opk_plan_detail *detail = plan->detail;

	(void)ctx;
	for (size_t i = 0; i < plan->metrics.count; i++)
		if (detail->saves[i] || detail->splits[i])
			opk_listing_row(rows, cell_text(plan->metrics.items[i]),
			                cell_number(detail->saves[i]),
			                cell_flag(detail->splits[i]));
	return OPK_OK;
}

static int add_domains(struct opk_listing *rows, struct opk_ctx *ctx, const struct opk_plan *plan)
{
	const struct opk_plan_detail *detail = plan->detail;

	(void)ctx;
	for (size_t i = 0; i < detail->parts.count; i++) {
		const struct opk_part *part = &detail->parts.all[i];
		size_t passes = 0, fullest = 0;

		for (size_t pass = 0; pass < detail->passes; pass++) {
			size_t fill = detail->fill[pass * detail->parts.count + i];

			passes += fill > 0;
			fullest = fill > fullest ? fill : fullest;
		}
		opk_listing_row(rows, cell_texts(&part->domains), cell_number(part->count),
		                cell_number(passes), cell_number(part->bound), cell_number(fullest),
		                cell_flag(part->software));
	}
	return OPK_OK;
}

/* ---- all of them */

static const struct list {
	const char *columns;
	int (*add)(struct opk_listing *rows, struct opk_ctx *ctx, const struct opk_plan *plan);
} lists[] = {
	[OPK_PLAN_ABOUT] = { "chip profiler set metrics* passes# missing* left_out# lost* "
	                     "sample_bytes~",
	                     add_about },
	[OPK_PLAN_COLUMNS] = { "column shown? unit group metric formula description prose",
	                       opk_plan_add_columns },
	[OPK_PLAN_LEFT_OUT] = { "metric would_fit? full_domains*", opk_plan_add_left_out },
	[OPK_PLAN_COSTS] = { "lower_bound# launch_us~ replay_us~ measured", add_costs },
	[OPK_PLAN_PASSES] = { "pass# counters# domains* launch_us~ replay_us~ metrics*",
	                      add_passes },
	[OPK_PLAN_METRICS] = { "metric passes# in* saves# split?", add_metrics },
	[OPK_PLAN_NOTABLE] = { "metric saves# split?", add_notable },
	[OPK_PLAN_DOMAINS] = { "domains* counters# passes# lower_bound# fullest# software?",
	                       add_domains },
};

int opk_plan_list(struct opk_listing **out, struct opk_ctx *ctx, struct opk_plan *plan,
                  enum opk_plan_list which)
{
	opk_auto(opk_listing) struct opk_listing *rows = NULL;
	const struct list *list;

	if ((size_t)which >= sizeof lists / sizeof *lists)
		return opk_fail(ctx, OPK_EUSAGE, "a plan has no list %d", (int)which);
	if (which >= OPK_PLAN_COSTS && !plan->detail)
		TRY(opk_plan_detail_new(&plan->detail, ctx, plan));
	list = &lists[which];
	rows = opk_listing_new(list->columns);
	TRY(list->add(rows, ctx, plan));
	return opk_listing_finish(out, ctx, opk_take(rows));
}
