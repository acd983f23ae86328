/* SPDX-License-Identifier: BSD-2-Clause */
/* Lists of what is known of a plan. */
#include "adapters/nv/nv.h"
#include "base/listing.h"
#include "plan/door.h"
#include "plan/plan_detail.h"

static union opk_cell cell_texts(const struct opk_strlist *texts)
{
	return cell_list(opk_strlist_items(texts), texts->count);
}

/* ---- what costs nothing */

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

/* ---- what takes long */

/* The mean of what a launch costs, and the sum of all passes of replay. */
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

/* The domains of which the pass has counters, each with how many: "gpu_lts:8". */
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

/* The other way round: a row a metric. */
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

static const struct opk_column about_columns[] = {
	{ "chip", OPK_CELL_STRING },
	{ "profiler", OPK_CELL_STRING },
	{ "set", OPK_CELL_STRING },
	{ "metrics", OPK_CELL_LIST },
	{ "passes", OPK_CELL_UINT },
	{ "missing", OPK_CELL_LIST },
	{ "left_out", OPK_CELL_UINT },
	{ "lost", OPK_CELL_LIST },
	{ "sample_bytes", OPK_CELL_OPTIONAL },
};
static const struct opk_column columns_columns[] = {
	{ "column", OPK_CELL_STRING },      { "shown", OPK_CELL_BOOL },
	{ "unit", OPK_CELL_STRING },        { "group", OPK_CELL_STRING },
	{ "metric", OPK_CELL_STRING },      { "formula", OPK_CELL_STRING },
	{ "description", OPK_CELL_STRING }, { "prose", OPK_CELL_STRING },
};
static const struct opk_column left_out_columns[] = {
	{ "metric", OPK_CELL_STRING },
	{ "would_fit", OPK_CELL_BOOL },
	{ "full_domains", OPK_CELL_LIST },
};
static const struct opk_column costs_columns[] = {
	{ "lower_bound", OPK_CELL_UINT },
	{ "launch_us", OPK_CELL_OPTIONAL },
	{ "replay_us", OPK_CELL_OPTIONAL },
	{ "measured", OPK_CELL_STRING },
};
static const struct opk_column passes_columns[] = {
	{ "pass", OPK_CELL_UINT },          { "counters", OPK_CELL_UINT },
	{ "domains", OPK_CELL_LIST },       { "launch_us", OPK_CELL_OPTIONAL },
	{ "replay_us", OPK_CELL_OPTIONAL }, { "metrics", OPK_CELL_LIST },
};
static const struct opk_column metrics_columns[] = {
	{ "metric", OPK_CELL_STRING }, { "passes", OPK_CELL_UINT }, { "in", OPK_CELL_LIST },
	{ "saves", OPK_CELL_UINT },    { "split", OPK_CELL_BOOL },
};
static const struct opk_column notable_columns[] = {
	{ "metric", OPK_CELL_STRING },
	{ "saves", OPK_CELL_UINT },
	{ "split", OPK_CELL_BOOL },
};
static const struct opk_column domains_columns[] = {
	{ "domains", OPK_CELL_LIST }, { "counters", OPK_CELL_UINT },
	{ "passes", OPK_CELL_UINT },  { "lower_bound", OPK_CELL_UINT },
	{ "fullest", OPK_CELL_UINT }, { "software", OPK_CELL_BOOL },
};

static const struct list {
	const struct opk_column *columns;
	size_t count;
	int (*add)(struct opk_listing *rows, struct opk_ctx *ctx, const struct opk_plan *plan);
} lists[] = {
#define LIST(columns, add)                                                                         \
	{                                                                                          \
		columns, sizeof columns / sizeof *columns, add                                     \
	}
	[OPK_PLAN_ABOUT] = LIST(about_columns, add_about),
	[OPK_PLAN_COLUMNS] = LIST(columns_columns, opk_plan_add_columns),
	[OPK_PLAN_LEFT_OUT] = LIST(left_out_columns, opk_plan_add_left_out),
	[OPK_PLAN_COSTS] = LIST(costs_columns, add_costs),
	[OPK_PLAN_PASSES] = LIST(passes_columns, add_passes),
	[OPK_PLAN_METRICS] = LIST(metrics_columns, add_metrics),
	[OPK_PLAN_NOTABLE] = LIST(notable_columns, add_notable),
	[OPK_PLAN_DOMAINS] = LIST(domains_columns, add_domains),
#undef LIST
};

int opk_plan_list(struct opk_listing **out, struct opk_ctx *ctx, struct opk_plan *plan,
                  enum opk_plan_list which)
{
	opk_auto(opk_listing) struct opk_listing *rows = NULL;
	const struct list *list;
	int code = OPK_OK;

	if ((size_t)which >= sizeof lists / sizeof *lists)
		return opk_fail(ctx, OPK_EUSAGE, "a plan has no list %d", (int)which);
	if (which >= OPK_PLAN_COSTS && !plan->detail)
		code = opk_plan_detail_new(&plan->detail, ctx, plan);
	if (code)
		return code;
	list = &lists[which];
	rows = opk_listing_new(list->columns, list->count);
	code = list->add(rows, ctx, plan);
	return code ? code : opk_listing_finish(out, ctx, opk_take(rows));
}
