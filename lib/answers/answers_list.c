/* SPDX-License-Identifier: BSD-2-Clause */
/* Answers as lists: findings, noise, occupancy. */
#include <math.h>

#include "answers/door.h"
#include "base/listing.h"
#include "base/option_struct.h"
#include "container/door.h"
#include "images/door.h"
#include "set/set.h"
#include "summary/door.h"

struct list {
	struct opk_ctx *ctx;
	struct opk_file *const *files;
	size_t count;
	const struct opk_answers_options *options;
};

static int check_single(const struct list *list)
{
	return list->count == 1
	               ? OPK_OK
	               : opk_fail(list->ctx, OPK_EUSAGE,
	                          "this list is of one recording, not of %zu", list->count);
}

/* ---- findings ------------------------------------------------------------------------------- */

/* NULL: the kernel has no finding. */
static void add_finding(struct opk_listing *rows, const struct opk_answer *answer,
                        const struct opk_answer_finding *finding)
{
	static const struct opk_answer_finding none = { "", "", "", "", (double)NAN, false };
	const struct opk_answer_finding *of = finding ? finding : &none;

	opk_listing_row(rows, cell_text(answer->name),
	                cell_text(answer->limiter.name ? answer->limiter.name : ""),
	                cell_value(answer->limiter.percent), cell_flag(answer->sure),
	                cell_text(of->name), cell_value(100 * of->gain), cell_text(of->text),
	                cell_text(of->advice), cell_text(of->because), cell_value(answer->share),
	                cell_value(answer->time_ns), cell_number(answer->launches),
	                cell_text(answer->text));
}

static int list_findings(struct opk_listing **out, const struct list *list)
{
	opk_auto(opk_answers) struct opk_answers *answers = NULL;
	struct opk_listing *rows;

	TRY(check_single(list));
	TRY(opk_answers_new(&answers, list->ctx, list->files[0], list->options));
	if (!opk_answers_are_whole(answers)
	    && (opk_answers_count(answers) || !list->options->kernel))
		return opk_fail(list->ctx, OPK_EUSAGE,
		                "what limits these kernels is not known from these metrics: record "
		                "the set 'answers'");
	rows = opk_listing_new("kernel limiter percent% sure? finding gain% text advice because "
	                       "share% time% launches# answer");
	for (size_t i = 0; i < opk_answers_count(answers); i++) {
		const struct opk_answer *answer = opk_answers_get(answers, i);

		for (size_t j = 0; j < answer->finding_count; j++)
			add_finding(rows, answer, &answer->findings[j]);
		if (!answer->finding_count)
			add_finding(rows, answer, NULL);
	}
	return opk_listing_finish(out, list->ctx, rows);
}

/* ---- noise ---------------------------------------------------------------------------------- */

static void add_noise(struct opk_listing *rows, const struct opk_noise_kernel *kernel,
                      const struct opk_noise_value *value)
{
	const struct opk_precision *precision = &value->precision;
	bool known = precision->needed > 0;

	opk_listing_row(rows, cell_text(value->metric), cell_text(kernel->name),
	                cell_number(value->of.count), cell_value(precision->spread),
	                cell_value(precision->half_width), cell_known(precision->needed, known),
	                cell_known(value->more, known), cell_value(value->mean),
	                cell_text(value->unit));
}

static int list_noise(struct opk_listing **out, const struct list *list)
{
	const struct opk_answers_options *given = list->options;
	const struct opk_noise_options options = {
		.kernel = given->kernel,
		.by = given->by,
		.columns = given->columns,
		.column_count = given->column_count,
		.kernel_names = given->kernel_names,
		.level = given->level > 0 ? given->level : 0.95,
		.within = given->within > 0 ? given->within : 1,
	};
	opk_auto(opk_noise) struct opk_noise *noise = NULL;
	struct opk_listing *rows;

	TRY(opk_noise_new(&noise, list->ctx, list->files, list->count, &options));
	rows = opk_listing_new("metric kernel launches# spread% trusted_pct% launches_needed~ "
	                       "more_launches~ mean% unit");
	for (size_t i = 0; i < noise->kernels.count; i++) {
		const struct opk_noise_kernel *kernel = &noise->kernels.items[i];

		for (size_t j = 0; j < kernel->values.count; j++)
			add_noise(rows, kernel, &kernel->values.items[j]);
	}
	return opk_listing_finish(out, list->ctx, rows);
}

/* ---- occupancy ------------------------------------------------------------------------------ */

/* A recording that lacks the metric has it as NaN. */
static const char achieved_set[] =
	"name: achieved\n"
	"metrics:\n"
	"  - {metric: sm__warps_active.avg.pct_of_peak_sustained_active, optional: true}\n";

static const struct {
	const char *name, *limiter; /* an attribute; what limits if it is the lowest, or NULL */
} launch_numbers[] = {
	{ "launch__block_size", NULL },
	{ "launch__registers_per_thread", NULL },
	{ "launch__shared_mem_per_block_static", NULL },
	{ "launch__shared_mem_per_block_dynamic", NULL },
	{ "launch__occupancy_limit_blocks", "blocks" },
	{ "launch__occupancy_limit_warps", "warps" },
	{ "launch__occupancy_limit_registers", "registers" },
	{ "launch__occupancy_limit_shared_mem", "shared_mem" },
};
enum { LAUNCH_NUMBERS = sizeof launch_numbers / sizeof *launch_numbers, LIMITERS_TEXT = 64 };

/* The evaluation of one metric, and its statistics by kernel and launch shape. */
struct achieved {
	struct opk_set *set;
	struct opk_evaluation *evaluation;
	struct opk_aggregate *aggregate;
	struct opk_kernel_names *names;
};

static void achieved_clear(struct achieved *achieved)
{
	opk_kernel_names_free(achieved->names);
	opk_aggregate_free(achieved->aggregate);
	opk_evaluation_free(achieved->evaluation);
	opk_set_free(achieved->set);
}

static int evaluate(struct achieved *achieved, const struct list *list, struct opk_file *file)
{
	struct opk_eval_options options = OPK_INIT(options);
	struct opk_aggregate_options by = OPK_INIT(by);
	const char *kernel = list->options->kernel;
	opk_autofree char *condition = opk_printf("kernel=%s", kernel ? kernel : "?*");

	if (!condition)
		return opk_nomem(list->ctx, "occupancy");
	TRY(opk_set_parse(&achieved->set, list->ctx, achieved_set, sizeof achieved_set - 1,
	                  "occupancy"));
	options.set = achieved->set;
	options.allow_incomplete = true;
	options.where = (const char *const *)&condition;
	options.where_count = 1;
	TRY(opk_eval_file(&achieved->evaluation, list->ctx, file, &options));
	by.key = "kernel,shape";
	return opk_aggregate_new(&achieved->aggregate, list->ctx, achieved->evaluation, file, &by);
}

/* "registers,shared_mem": the lowest limits. Either all are known or none is. */
static void write_limiters(char out[LIMITERS_TEXT], const double *numbers)
{
	double least = (double)INFINITY;
	size_t length = 0;

	*out = '\0';
	for (size_t i = 0; i < LAUNCH_NUMBERS; i++)
		if (launch_numbers[i].limiter && numbers[i] < least)
			least = numbers[i];
	for (size_t i = 0; i < LAUNCH_NUMBERS; i++)
		if (launch_numbers[i].limiter && numbers[i] == least)
			length += (size_t)snprintf(out + length, LIMITERS_TEXT - length, "%s%s",
			                           length ? "," : "", launch_numbers[i].limiter);
}

static void add_occupancy(struct opk_listing *rows, const struct achieved *achieved,
                          const struct opk_meta *meta, const struct opk_aggregated *of)
{
	/* All launches of the group have one shape, as if there were one. */
	struct opk_range range = of->range;
	double numbers[LAUNCH_NUMBERS];
	union opk_cell cells[LAUNCH_NUMBERS + 5];
	char limiters[LIMITERS_TEXT];
	size_t at = 0;
	bool has_achieved = opk_evaluation_column_count(achieved->evaluation) > 0;

	range.count = 1;
	cells[at++] = cell_text(opk_kernel_names_get(achieved->names, &of->range));
	cells[at++] = cell_number(of->range.count);
	for (size_t i = 0; i < LAUNCH_NUMBERS; i++) {
		numbers[i] = opk_attribute_value(launch_numbers[i].name, meta, &range);
		cells[at++] = cell_known(isnan(numbers[i]) ? 0 : (uint64_t)numbers[i],
		                         !isnan(numbers[i]));
	}
	write_limiters(limiters, numbers);
	cells[at++] = cell_text(limiters);
	cells[at++] = cell_value(
		opk_attribute_value("sm__maximum_warps_per_active_cycle_pct", meta, &range));
	cells[at++] = cell_value(has_achieved ? of->columns[0].mean : (double)NAN);
	opk_listing_add(rows, cells);
}

static int make_occupancy(struct opk_listing **out, const struct list *list,
                          struct achieved *achieved)
{
	const struct opk_meta *meta;
	struct opk_listing *rows;
	size_t count;

	TRY(opk_file_meta(&meta, list->ctx, list->files[0]));
	if (meta->profiler != OPK_PROFILER_RANGE)
		return opk_fail(list->ctx, OPK_EUSAGE, "it has no launches of kernels");
	TRY(evaluate(achieved, list, list->files[0]));
	count = opk_aggregate_count(achieved->aggregate);
	if (!count && !list->options->kernel)
		return opk_fail(list->ctx, OPK_EUSAGE, "it has no launches of kernels");
	TRY(opk_kernel_names_new(&achieved->names, list->ctx, list->options->kernel_names));
	for (size_t i = 0; i < count; i++)
		TRY(opk_kernel_names_add(achieved->names, list->ctx,
		                         &opk_aggregate_get(achieved->aggregate, i)->range, 1));
	rows = opk_listing_new("kernel launches# block_size~ registers~ static_shared~ "
	                       "dynamic_shared~ limit_blocks~ limit_warps~ limit_registers~ "
	                       "limit_shared_mem~ limiter theoretical% achieved%");
	for (size_t i = 0; i < count; i++)
		add_occupancy(rows, achieved, meta, opk_aggregate_get(achieved->aggregate, i));
	return opk_listing_finish(out, list->ctx, rows);
}

static int list_occupancy(struct opk_listing **out, const struct list *list)
{
	__attribute__((cleanup(achieved_clear))) struct achieved achieved = { 0 };

	TRY(check_single(list));
	return make_occupancy(out, list, &achieved);
}

/* ---- all of them ---------------------------------------------------------------------------- */

int opk_answers_list(struct opk_listing **out, struct opk_ctx *ctx, struct opk_file *const *files,
                     size_t count, enum opk_answers_list which,
                     const struct opk_answers_options *given)
{
	static int (*const lists[])(struct opk_listing **, const struct list *) = {
		[OPK_ANSWERS_FINDINGS] = list_findings,
		[OPK_ANSWERS_NOISE] = list_noise,
		[OPK_ANSWERS_OCCUPANCY] = list_occupancy,
	};
	OPK_OPTIONS(opk_answers_options, options, given);
	const struct list list = { ctx, files, count, &options };

	return lists[which](out, &list);
}
