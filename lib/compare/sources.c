/* SPDX-License-Identifier: BSD-2-Clause */
/* Evaluates the recordings of both sides, and collects their columns. */
#include <string.h>

#include "base/option_struct.h"
#include "code/door.h"
#include "compare/compare.h"
#include "compare/door.h"
#include "container/container.h"
#include "eval/door.h"
#include "timeline/door.h"

static const char time_metric[] = "gpu__time_duration.sum";

/* ---- the recordings -------------------------------------------------------------------- */

static bool has_ran(const struct opk_activity *activities, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (opk_activity_ran(&activities[i]))
			return true;
	return false;
}

static int find_mode(struct opk_compared_source *source, struct opk_ctx *ctx)
{
	const struct opk_meta *meta = source->meta;
	const struct opk_activity *activities;
	size_t count;
	int code = opk_file_activities(&activities, &count, ctx, source->file);

	source->mode = OPK_COMPARED_RANGES;
	if (!strcmp(meta->mode, "trace") || meta->profiler == OPK_PROFILER_PM)
		source->mode = OPK_COMPARED_RAN;
	else if (*meta->join)
		source->mode = strcmp(meta->join, "launch") ? OPK_COMPARED_PASSES
		                                            : OPK_COMPARED_JOINED;
	if (!code && source->mode == OPK_COMPARED_RAN && !has_ran(activities, count)) {
		opk_fail(
			ctx, OPK_EUSAGE,
			"%s has PM samples that are of no kernel, and neighbouring samples are not "
			"independent: changes can't be told from noise, but statistics by device "
			"can be compared",
			source->file->path);
		return opk_advise(ctx, OPK_EUSAGE, OPK_REMEDY_TRACE);
	}
	return code;
}

/* Launches that count twice would be twice the evidence. */
static int check_twice(const struct opk_diff *diff, struct opk_ctx *ctx,
                       enum opk_compared_side side)
{
	opk_autofree struct opk_file **files = opk_alloc_array(diff->source_count + 1,
	                                                       sizeof *files);
	size_t count = 0;
	int code;

	if (!files)
		return opk_nomem(ctx, "a comparison");
	for (size_t i = 0; i < diff->source_count; i++)
		if (diff->sources[i].side == side)
			files[count++] = diff->sources[i].file;
	code = opk_twice_check(ctx, files, count, OPK_EUSAGE);
	return code == OPK_EUSAGE ? opk_add(ctx, code, "one side has the same launches twice")
	                          : code;
}

static int begin(struct opk_compared_source *source, struct opk_ctx *ctx, const struct opk_set *set,
                 bool code_rows)
{
	int code = opk_file_meta(&source->meta, ctx, source->file);

	if (!code && !strcmp(source->meta->kind, "set"))
		return opk_fail(ctx, OPK_EINPUT, "%s: it was built, not yet recorded",
		                source->file->path);
	source->names = source->meta;
	source->mode = OPK_COMPARED_CODE;
	if (code || code_rows)
		return code;
	if (opk_hot_is_alone(source->file, source->meta))
		return opk_fail(ctx, OPK_EUSAGE,
		                "%s has only counts or samples of instructions: its rows are "
		                "instructions, lines or functions",
		                source->file->path);
	if (set && strcmp(source->meta->mode, "trace") != 0) {
		code = opk_set_meta_init(&source->set, ctx, set, source->file, source->meta->chip,
		                         source->meta->profiler, source->meta);
		source->names = &source->set.meta;
	}
	return code ? code : find_mode(source, ctx);
}

static int check_alike(const struct opk_diff *diff, struct opk_ctx *ctx)
{
	const struct opk_compared_source *first = &diff->sources[0];

	for (size_t i = 1; i < diff->source_count; i++) {
		const struct opk_compared_source *other = &diff->sources[i];
		bool ran = first->mode == OPK_COMPARED_RAN;

		if (ran != (other->mode == OPK_COMPARED_RAN))
			return opk_fail(ctx, OPK_EUSAGE,
			                "%s has %s, and %s has %s: their rows don't go together",
			                first->file->path,
			                ran ? "launches on a timeline" : "ranges",
			                other->file->path,
			                ran ? "ranges" : "launches on a timeline");
	}
	return OPK_OK;
}

/* ---- values that are needed but not shown ---------------------------------------------- */

/* Whether a recording seems to have a value of this name; it is not evaluated yet. */
static int knows(bool *out, struct opk_ctx *ctx, const struct opk_compared_source *source,
                 const char *name)
{
	struct opk_columns columns;
	const char *const names[] = { name };
	int code;

	*out = !strcmp(name, opk_compared_duration);
	if (*out || !strcmp(source->meta->mode, "trace"))
		return OPK_OK;
	code = opk_columns_init(&columns, ctx, source->names,
	                        &(struct opk_wanted){ .shown = names, .shown_count = 1 });
	*out = !code;
	if (!code)
		opk_columns_clear(&columns);
	else if (code != OPK_ENOMEM)
		opk_clear_errors(ctx);
	return code == OPK_ENOMEM ? code : OPK_OK;
}

static const char *find_cycles(const struct opk_meta *meta)
{
	for (size_t i = 0; i < meta->metric_count; i++)
		if (opk_metric_is_cycles(meta->metrics[i]))
			return meta->metrics[i];
	return NULL;
}

/* Rows are ordered by time, which may not be shown. */
static int want_time(struct opk_compared_source *source, struct opk_ctx *ctx)
{
	const char *cycles = find_cycles(source->meta);
	bool good = true;

	if (source->mode == OPK_COMPARED_RAN)
		return OPK_OK;
	if (source->mode == OPK_COMPARED_CODE)
		return opk_strlist_add(&source->also, opk_compared_samples)
		               ? OPK_OK
		               : opk_nomem(ctx, "a comparison");
	if (opk_meta_has_metric(source->meta, time_metric))
		good = opk_strlist_add(&source->also, time_metric);
	if (good && cycles)
		good = opk_strlist_add(&source->also, cycles);
	return good ? OPK_OK : opk_nomem(ctx, "a comparison");
}

/* Times and rates depend on the clock. */
static int want_clock(struct opk_compared_source *source, struct opk_ctx *ctx)
{
	const struct opk_meta *meta = source->meta;

	for (size_t i = 0; i < meta->metric_count; i++)
		if (opk_metric_is_sm_clock(meta->metrics[i]))
			return opk_strlist_add(&source->also, meta->metrics[i])
			               ? OPK_OK
			               : opk_nomem(ctx, "a comparison");
	return OPK_OK;
}

static int want_ruled(struct opk_compared_source *source, struct opk_ctx *ctx,
                      const struct opk_diff_rules *rules)
{
	for (size_t i = 0; i < rules->rules.count; i++) {
		const char *metric = rules->rules.items[i].metric;
		bool known;

		if (!*metric || !strcmp(metric, opk_compared_duration))
			continue;
		if (source->mode == OPK_COMPARED_CODE)
			known = true;
		else
			TRY(knows(&known, ctx, source, metric));
		if (known && !opk_strlist_contains(&source->also, metric)
		    && !opk_strlist_add(&source->also, metric))
			return opk_nomem(ctx, "a comparison");
	}
	return OPK_OK;
}

/* ---- evaluation ------------------------------------------------------------------------- */

/* The options point into *inside. */
static struct opk_eval_options options_of(struct opk_eval_inside *inside,
                                          const struct opk_diff *diff,
                                          const struct opk_compared_source *source)
{
	OPK_OPTIONS(opk_eval_options, options, diff->options.eval);

	options.size = sizeof options;
	options.inside = inside;
	*inside = (struct opk_eval_inside){
		.also = opk_strlist_items(&source->also),
		.also_count = source->also.count,
		.join = source->mode == OPK_COMPARED_JOINED ? "" : NULL,
	};
	return options;
}

/* Launches have their times; what samples show is only known for each kernel. */
static int evaluate_ran(struct opk_compared_source *source, struct opk_ctx *ctx,
                        const struct opk_eval_options *options)
{
	struct opk_eval_options none = *options;
	static const char *const no_metrics[1];

	none.metrics = no_metrics;
	none.metric_count = 0;
	none.set = NULL;
	none.inside = NULL;
	TRY(opk_timeline_eval(&source->launches, ctx, source->file, &none, true));
	if (source->meta->metric_count)
		TRY(opk_timeline_eval(&source->means, ctx, source->file, options, false));
	return OPK_OK;
}

/* Values from counters of several passes exist only for several ranges together. */
static int evaluate_passes(struct opk_compared_source *source, struct opk_ctx *ctx,
                           struct opk_eval_options *options)
{
	struct opk_eval_inside joined = *options->inside;

	if (opk_evaluation_chooses_values(source->launches))
		return opk_fail(ctx, OPK_EUSAGE,
		                "%s: its ranges have one pass each, and so some of the metrics: "
		                "values can't choose among them, only what is known of them can",
		                source->file->path);
	joined.join = "";
	options->inside = &joined;
	return opk_eval_file(&source->means, ctx, source->file, options);
}

static bool same_list(const struct opk_strlist *a, const struct opk_strlist *b)
{
	bool same = a->count == b->count;

	for (size_t i = 0; same && i < a->count; i++)
		same = !strcmp(a->items[i], b->items[i]);
	return same;
}

/* Evaluates files with the same needs in one go, which takes less time. */
static int evaluate_alike(struct opk_diff *diff, struct opk_ctx *ctx, size_t first)
{
	struct opk_compared_source *like = &diff->sources[first];
	size_t room = diff->source_count + 1, count = 0;
	opk_autofree struct opk_evaluation **done = opk_alloc_array(room, sizeof *done);
	opk_autofree struct opk_file **files = opk_alloc_array(room, sizeof *files);
	opk_autofree size_t *numbers = opk_alloc_array(room, sizeof *numbers);
	struct opk_eval_inside inside;
	struct opk_eval_options options = options_of(&inside, diff, like);

	if (!done || !files || !numbers)
		return opk_nomem(ctx, "a comparison");
	for (size_t i = first; i < diff->source_count; i++) {
		struct opk_compared_source *source = &diff->sources[i];

		if (source->mode != like->mode || !same_list(&source->also, &like->also))
			continue;
		numbers[count] = i;
		files[count++] = source->file;
	}
	TRY(opk_eval_files(done, ctx, files, count, &options));
	for (size_t i = 0; i < count; i++)
		diff->sources[numbers[i]].launches = done[i];
	return OPK_OK;
}

static int evaluate(struct opk_diff *diff, struct opk_ctx *ctx)
{
	for (size_t i = 0; i < diff->source_count; i++) {
		struct opk_compared_source *source = &diff->sources[i];
		struct opk_eval_inside inside;
		struct opk_eval_options options = options_of(&inside, diff, source);

		if (source->mode == OPK_COMPARED_CODE)
			TRY(opk_compared_evaluate_code(source, ctx, diff));
		else if (source->mode == OPK_COMPARED_RAN)
			TRY(evaluate_ran(source, ctx, &options));
		else if (!source->launches)
			TRY(evaluate_alike(diff, ctx, i));
		if (source->mode == OPK_COMPARED_PASSES)
			TRY(evaluate_passes(source, ctx, &options));
	}
	return OPK_OK;
}

/* ---- columns ---------------------------------------------------------------------------- */

static int add_column(size_t *out, struct opk_diff *diff, struct opk_ctx *ctx, const char *name,
                      const char *unit, const struct opk_traits *traits)
{
	struct opk_compared_column *column;

	if (opk_index_find(out, &diff->numbers, name))
		return OPK_OK;
	*out = diff->columns.count;
	column = opk_list_add(&diff->columns);
	if (!column)
		return opk_nomem(ctx, "columns");
	column->name = opk_strdup(name);
	column->unit = opk_strdup(unit ? unit : "");
	column->traits = *traits;
	return column->name && column->unit
	                       && opk_index_add(&diff->numbers, column->name, *out, NULL)
	               ? OPK_OK
	               : opk_nomem(ctx, "columns");
}

static int list_shown(size_t *numbers, struct opk_diff *diff, struct opk_ctx *ctx,
                      const struct opk_evaluation *evaluation, const struct opk_traits *traits)
{
	size_t count = opk_evaluation_column_count(evaluation);

	for (size_t i = 0; i < count; i++) {
		const struct opk_meta_heading *heading = opk_evaluation_column_heading(evaluation,
		                                                                       i);

		TRY(add_column(&numbers[i], diff, ctx, opk_evaluation_column(evaluation, i),
		               opk_evaluation_column_unit(evaluation, i), &traits[i]));
		diff->columns.items[numbers[i]].shown = true;
		if (heading && !diff->columns.items[numbers[i]].heading) {
			diff->columns.items[numbers[i]].heading = heading->title;
			diff->columns.items[numbers[i]].prose = heading->text;
		}
	}
	return OPK_OK;
}

static const char *unit_of_metric(const struct opk_evaluation *evaluation, const char *name)
{
	for (size_t i = 0; i < opk_evaluation_metric_count(evaluation); i++)
		if (!strcmp(opk_evaluation_metric(evaluation, i), name))
			return opk_evaluation_unit(evaluation, i);
	return NULL;
}

/* The traits of the evaluation's columns, and of the names in `also`; free(). */
static int find_traits(struct opk_traits **out, struct opk_ctx *ctx,
                       const struct opk_evaluation *evaluation)
{
	const struct opk_columns *columns = opk_evaluation_columns(evaluation);

	*out = opk_alloc_array(columns->names.count + columns->also_count + 1, sizeof **out);
	return *out ? opk_columns_traits(*out, ctx, columns) : opk_nomem(ctx, "columns");
}

static int list_also(size_t *numbers, struct opk_diff *diff, struct opk_ctx *ctx,
                     const struct opk_strlist *also, const struct opk_evaluation *evaluation,
                     const struct opk_traits *traits)
{
	for (size_t i = 0; i < also->count; i++)
		TRY(add_column(&numbers[i], diff, ctx, also->items[i],
		               unit_of_metric(evaluation, also->items[i]), &traits[i]));
	return OPK_OK;
}

static int list_columns_of(size_t **out, struct opk_diff *diff, struct opk_ctx *ctx,
                           const struct opk_compared_source *source,
                           const struct opk_evaluation *evaluation)
{
	size_t count = evaluation ? opk_evaluation_column_count(evaluation) : 0, all;
	size_t *numbers = *out = opk_alloc_array(count + source->also.count + 1, sizeof *numbers);
	opk_autofree struct opk_traits *traits = NULL;
	int code = numbers ? OPK_OK : opk_nomem(ctx, "columns");

	if (code || !evaluation)
		return code;
	code = find_traits(&traits, ctx, evaluation);
	if (!code)
		code = list_shown(numbers, diff, ctx, evaluation, traits);
	/* The columns for conditions come first. */
	all = count + opk_evaluation_columns(evaluation)->also_count;
	return code ? code
	            : list_also(numbers + count, diff, ctx, &source->also, evaluation,
	                        traits + all - source->also.count);
}

/* Peaks are listed once, and judged only if a rule names them. */
static void choose_peaks(struct opk_diff *diff)
{
	for (size_t i = 0; i < diff->columns.count; i++) {
		struct opk_compared_column *column = &diff->columns.items[i];

		column->is_peak = column->shown && column->traits.of_gpu
		                  && !opk_compared_is_ruled(&diff->rules, column->name);
		column->shown &= !column->is_peak;
	}
}

static int list_columns(struct opk_diff *diff, struct opk_ctx *ctx)
{
	static const struct opk_traits time = { 1, -1, false }, clock = { 0, 1, true };
	size_t column;
	int code = add_column(&column, diff, ctx, opk_compared_duration, "ns", &time);

	if (!code)
		code = add_column(&column, diff, ctx, opk_compared_mhz, "MHz", &clock);
	for (size_t i = 0; !code && i < diff->source_count; i++) {
		struct opk_compared_source *source = &diff->sources[i];

		code = list_columns_of(&source->columns, diff, ctx, source, source->launches);
		if (!code)
			code = list_columns_of(&source->columns_of_means, diff, ctx, source,
			                       source->means);
	}
	choose_peaks(diff);
	return code;
}

/* ---- all of it -------------------------------------------------------------------------- */

int opk_compared_evaluate(struct opk_diff *diff, struct opk_ctx *ctx)
{
	OPK_OPTIONS(opk_eval_options, eval, diff->options.eval);
	int code = OPK_OK;

	for (size_t i = 0; !code && i < diff->source_count; i++)
		code = begin(&diff->sources[i], ctx, eval.set, opk_compared_is_code(diff));
	if (!code && opk_compared_is_code(diff))
		code = opk_compared_begin_code(diff, ctx);
	for (enum opk_compared_side side = OPK_BEFORE; !code && side < OPK_SIDES; side++)
		code = check_twice(diff, ctx, side);
	if (!code)
		code = check_alike(diff, ctx);
	if (!code)
		code = opk_compared_check_rules(diff, ctx);
	for (size_t i = 0; !code && i < diff->source_count; i++) {
		code = want_time(&diff->sources[i], ctx);
		if (!code)
			code = want_clock(&diff->sources[i], ctx);
		if (!code)
			code = want_ruled(&diff->sources[i], ctx, &diff->rules);
	}
	if (!code)
		code = evaluate(diff, ctx);
	return code ? code : list_columns(diff, ctx);
}

void opk_compared_source_clear(struct opk_compared_source *source)
{
	opk_evaluation_free(source->launches);
	opk_evaluation_free(source->means);
	opk_strlist_clear(&source->also);
	free(source->functions.items);
	free(source->measured);
	opk_set_meta_clear(&source->set);
	free(source->columns);
	free(source->columns_of_means);
}
