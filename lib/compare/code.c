/* SPDX-License-Identifier: BSD-2-Clause */
/* Code of two builds: instructions, lines and functions, and what they are matched by. */
#include "code/door.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/ascii.h"
#include "base/option_struct.h"
#include "chip/chip.h"
#include "compare/compare.h"
#include "container/container.h"

const char opk_compared_samples[] = "smsp__pcsamp_sample_count";
const char opk_compared_executed[] = "smsp__sass_inst_executed";

/* Without --metrics: time, work, and memory traffic. */
static const char *const usual[] = { opk_compared_samples, opk_compared_executed,
	                             "smsp__sass_sectors_mem_global" };

bool opk_compared_is_code(const struct opk_diff *diff)
{
	return diff->options.rows >= OPK_ROWS_INSTRUCTIONS;
}

enum opk_count_kind opk_compared_kind(const struct opk_diff *diff, size_t column)
{
	return opk_compared_is_code(diff) ? opk_count_kind(diff->columns.items[column].name)
	                                  : OPK_COUNT_KINDS;
}

/* ---- what is compared ------------------------------------------------------------------- */

/* Any name is good if the catalog is missing. */
static int look_in_catalog(char **wrong, struct opk_ctx *ctx, const char *chip, const char *name)
{
	enum opk_profiler profiler = opk_count_kind(name) == OPK_SAMPLED ? OPK_PROFILER_PC
	                                                                 : OPK_PROFILER_SASS;
	struct opk_catalog *catalog = NULL;
	int code = opk_catalog_new(&catalog, ctx, chip, profiler);

	*wrong = NULL;
	if (!code && !opk_catalog_has_full(catalog, ctx, name)) {
		*wrong = opk_catalog_explain(catalog, ctx, chip, name);
		code = *wrong ? OPK_OK : opk_nomem(ctx, "metrics");
	}
	opk_catalog_free(catalog);
	return opk_allow(ctx, code, OPK_EFAILED);
}

static bool records(const struct opk_diff *diff, const char *name)
{
	for (size_t i = 0; i < diff->source_count; i++)
		for (size_t j = 0; j < diff->sources[i].meta->metric_count; j++)
			if (!strcmp(diff->sources[i].meta->metrics[j], name))
				return true;
	return false;
}

int opk_compared_explain_code(char **wrong, const struct opk_diff *diff, struct opk_ctx *ctx,
                              const char *name)
{
	*wrong = NULL;
	if (opk_count_kind(name) != OPK_COUNT_KINDS)
		return records(diff, name)
		               ? OPK_OK
		               : look_in_catalog(wrong, ctx, diff->sources[0].meta->chip, name);
	*wrong = opk_printf("'%.200s' is neither a count of instructions (smsp__sass_...) nor "
	                    "samples of them (smsp__pcsamp_...)",
	                    name);
	return *wrong ? OPK_OK : opk_nomem(ctx, "metrics");
}

static int check_metrics(const struct opk_diff *diff, struct opk_ctx *ctx,
                         const struct opk_eval_options *eval)
{
	if (eval->set)
		return opk_fail(ctx, OPK_EUSAGE,
		                "rows of code have counts and samples: choose metrics, not a set");
	for (size_t i = 0; eval->metrics && i < eval->metric_count; i++) {
		opk_autofree char *wrong = NULL;

		TRY(opk_compared_explain_code(&wrong, diff, ctx, eval->metrics[i]));
		if (wrong)
			return opk_fail(ctx, OPK_EUSAGE, "%s", wrong);
	}
	return OPK_OK;
}

/*
 * Without the interval of one recording with samples, all are taken as equal. A recording without
 * samples has no interval.
 */
void opk_compared_scale_exposures(struct opk_diff *diff)
{
	uint32_t first = 0;
	bool known = true;

	for (size_t i = 0; i < diff->source_count; i++) {
		struct opk_compared_source *source = &diff->sources[i];
		uint32_t shortest = source->interval.shortest;

		known &= shortest > 0 || !(source->all_samples > 0);
		first = first ? first : shortest;
		source->exposure = ldexp(1, (int)first - (int)shortest);
		source->most_weight = ldexp(1, (int)source->interval.longest - (int)shortest);
	}
	for (size_t i = 0; !known && i < diff->source_count; i++)
		diff->sources[i].exposure = 1;
}

int opk_compared_begin_code(struct opk_diff *diff, struct opk_ctx *ctx)
{
	OPK_OPTIONS(opk_eval_options, eval, diff->options.eval);

	TRY(check_metrics(diff, ctx, &eval));
	TRY(opk_filter_new(&diff->filter, ctx, eval.where, eval.where_count));
	opk_filter_judge_code(diff->filter);
	return opk_filter_check(diff->filter, ctx, OPK_PROFILER_SASS);
}

/* Whether a condition is of the opcode or the SASS text, of all rows or of a rule's. */
static bool names_sass(const struct opk_diff *diff)
{
	const struct opk_eval_options *eval = diff->options.eval;

	if (eval && opk_code_names_sass(eval->where, eval->where_count))
		return true;
	for (size_t i = 0; i < diff->rules.rules.count; i++) {
		const struct opk_strlist *where = &diff->rules.rules.items[i].where;

		if (opk_code_names_sass(opk_strlist_items(where), where->count))
			return true;
	}
	return false;
}

/* Shares are of all samples, so that conditions must not choose rows yet. */
int opk_compared_evaluate_code(struct opk_compared_source *source, struct opk_ctx *ctx,
                               const struct opk_diff *diff)
{
	OPK_OPTIONS(opk_eval_options, options, diff->options.eval);
	struct opk_eval_inside inside = { .also = opk_strlist_items(&source->also),
		                          .also_count = source->also.count,
		                          .interval = &source->interval };

	inside.without_sass = !names_sass(diff);
	options.size = sizeof options;
	options.inside = &inside;
	options.where = NULL;
	options.where_count = 0;
	if (!options.metrics) {
		options.metrics = usual;
		options.metric_count = sizeof usual / sizeof *usual;
	}
	return opk_code_eval(&source->launches, ctx, source->file, &options, diff->options.rows);
}

int opk_compared_name_units(struct opk_diff *diff, struct opk_ctx *ctx)
{
	for (size_t i = 0; diff->found.summary.shares && i < diff->columns.count; i++) {
		struct opk_compared_column *column = &diff->columns.items[i];

		if (opk_compared_kind(diff, i) != OPK_SAMPLED)
			continue;
		free(column->unit);
		column->unit = opk_strdup("percent");
		if (!column->unit)
			return opk_nomem(ctx, "columns");
	}
	return OPK_OK;
}

/* ---- what rows are matched by ----------------------------------------------------------- */

/*
 * Modules and folders have other names in another build. Lines count from the function's first one,
 * so that text above the function does not matter.
 */
char *opk_compared_code_key(const struct opk_diff *diff, const struct opk_row *row)
{
	const struct opk_code *code = row->code;
	const char *function = row->range->kernel;

	if (diff->options.rows == OPK_ROWS_FUNCTIONS)
		return opk_strdup(function);
	if (diff->options.rows == OPK_ROWS_INSTRUCTIONS)
		return opk_printf("%s\n%" PRIu32, function, code->offset);
	return opk_printf("%s\n%s\n%" PRId64 "%s", function, opk_base_name(code->source),
	                  (int64_t)code->line - (int64_t)code->lines.first,
	                  code->lines.first ? "" : " of the file");
}
