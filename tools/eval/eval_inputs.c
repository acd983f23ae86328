/* SPDX-License-Identifier: BSD-2-Clause */
/* Recordings and bare images, opened and evaluated; what they have besides values. */
#include <string.h>

#include "common/files.h"
#include "eval/eval_table.h"

static int read_image(struct eval *eval, const char *path, const struct opk_eval_options *options)
{
	struct eval_input *input = &eval->inputs[0];
	opk_autofree void *image = NULL;
	size_t size;
	int code = files_get(eval->app, &image, &size, path);

	if (code)
		return code;
	input->path = path;
	code = opk_eval_image(&input->evaluation, eval->app->ctx, image, size, options);
	return code ? opk_add(eval->app->ctx, code, "can't evaluate %s", path) : OPK_OK;
}

/* ---- evaluation */

static bool is_trace(const struct eval_input *input)
{
	return !strcmp(input->meta->mode, "trace");
}

/* What is about samples, or about ranges and their statistics. */
static int check_options(const struct eval *eval, const char *path)
{
	bool first = eval->drops_as_told || eval->first_sample != FIRST_DROP;
	const char *option = eval->per == PER_SAMPLE ? "--per sample"
	                     : first                 ? "--first-sample"
	                     : eval->single          ? "--join none"
	                     : eval->level           ? "--level"
	                                             : NULL;

	if (option)
		return app_error(eval->app, OPK_EUSAGE,
		                 "%s: %s only says what ran and when: it has no samples, and no "
		                 "ranges that could be joined or be inside each other",
		                 option, path);
	if (eval->is_tree || (eval->is_long && !eval->to_database))
		return app_error(
			eval->app, OPK_EUSAGE,
			"--layout %s: %s only says what ran and when: it has no values, and "
			"launches are not inside each other",
			eval->is_tree ? "tree" : "long", path);
	for (size_t i = 0; i < eval->order.key_count; i++)
		if (eval->order.keys[i].statistic)
			return app_error(eval->app, OPK_EUSAGE,
			                 "--sort %s:%s: %s only says what ran and when: time_ns is "
			                 "a sum, duration_ns a mean, and they have no statistics",
			                 eval->order.keys[i].name, eval->order.keys[i].statistic,
			                 path);
	return OPK_OK;
}

/* All launches of a kernel are a row, of recordings that only say what ran. */
static int choose_kernels(struct eval *eval, const char *path)
{
	if (strcmp(eval->key, "kernel") != 0)
		return app_error(eval->app, OPK_EUSAGE,
		                 "--aggregate %s: %s says what ran and when, which is put "
		                 "together by kernel",
		                 eval->key, path);
	free(eval->key);
	eval->key = NULL;
	eval->per = PER_KERNEL;
	eval->layout = EVAL_WIDE;
	return OPK_OK;
}

/* What only says what ran has no other rows, and those of values don't go with them. */
static int choose_rows(struct eval *eval)
{
	const struct eval_input *trace = NULL, *other = NULL;
	int code;

	for (size_t i = 0; i < eval->input_count; i++) {
		struct eval_input *input = &eval->inputs[i];

		input->of_kernels = eval->per >= PER_KERNEL || is_trace(input);
		if (is_trace(input))
			trace = input;
		else
			other = input;
	}
	if (!trace)
		return OPK_OK;
	if (other && eval->per < PER_KERNEL)
		return app_error(eval->app, OPK_EUSAGE,
		                 "%s only says what ran and when, unlike %s: evaluate them apart, "
		                 "or with --per kernel where both say what ran",
		                 trace->path, other->path);
	code = check_options(eval, trace->path);
	return code || !eval->key ? code : choose_kernels(eval, trace->path);
}

static int open_inputs(struct eval *eval)
{
	int code = OPK_OK;

	for (size_t i = 0; !code && i < eval->input_count; i++) {
		struct eval_input *input = &eval->inputs[i];

		input->path = eval->app->arguments[i];
		code = opk_file_open(&input->file, eval->app->ctx, input->path);
		if (!code)
			code = opk_file_meta(&input->meta, eval->app->ctx, input->file);
	}
	return code ? code : choose_rows(eval);
}

/* Of which profiler the rows are. */
static enum opk_profiler profiler_of(const struct eval_input *input)
{
	return input->of_kernels ? OPK_PROFILER_RANGE : input->meta->profiler;
}

/* What a recording names, before it is evaluated: any full metric name may be, too. */
static bool list_values(struct opk_strlist *out, const struct opk_meta *meta)
{
	bool good = true;

	for (size_t i = 0; i < meta->metric_count; i++)
		good = good && opk_strlist_add(out, meta->metrics[i]);
	for (size_t i = 0; i < meta->label_count; i++)
		good = good && opk_strlist_add(out, meta->labels[i].name);
	for (size_t i = 0; i < meta->derived_count; i++)
		good = good && opk_strlist_add(out, meta->derived[i].name);
	return good;
}

/* Where --columns alone says which metrics are wanted, no others are evaluated. */
static int choose_metrics(struct eval *eval, const struct eval_input *input,
                          struct opk_eval_options *options)
{
	opk_autostrlist struct opk_strlist values = { 0 };
	int code;

	if (!list_values(&values, input->meta))
		return app_nomem(eval->app);
	code = eval_columns_check(eval, input->meta, profiler_of(input), &values, true,
	                          input->path);
	if (code)
		return code;
	options->metric_count = eval_columns_values(eval, profiler_of(input));
	/* A wide table of what is known of rows needs no value. */
	options->metrics = options->metric_count || eval_is_wide(eval) ? eval->chosen_values : NULL;
	return OPK_OK;
}

/* Recordings of one profiler, of which the same metrics are wanted. */
static int evaluate_alike(struct eval *eval, struct eval_input *inputs, size_t count,
                          const struct opk_eval_options *given)
{
	opk_autofree struct opk_evaluation **evaluations = opk_alloc_array(count,
	                                                                   sizeof *evaluations);
	opk_autofree struct opk_file **files = opk_alloc_array(count, sizeof *files);
	struct opk_eval_options options = *given;
	int code = evaluations && files ? OPK_OK : app_nomem(eval->app);

	for (size_t i = 0; !code && i < count; i++) {
		files[i] = inputs[i].file;
		if (eval->chosen.count && !given->metrics)
			code = choose_metrics(eval, &inputs[i], &options);
	}
	if (!code)
		code = opk_eval_files(evaluations, eval->app->ctx, files, count, &options);
	for (size_t i = 0; !code && i < count; i++)
		inputs[i].evaluation = evaluations[i];
	return code;
}

/* What ran, and the samples that were recorded beside it. */
static int evaluate_kernels(struct eval *eval, struct eval_input *input,
                            const struct opk_eval_options *given)
{
	struct opk_timeline_options timeline = OPK_INIT(timeline);
	struct opk_eval_options options = *given;
	int code = OPK_OK;

	timeline.each_launch = eval->per == PER_LAUNCH || (eval->per != PER_KERNEL && !eval->key);
	timeline.eval = &options;
	if (eval->chosen.count && !given->metrics)
		code = choose_metrics(eval, input, &options);
	return code ? code
	            : opk_timeline_eval(&input->evaluation, eval->app->ctx, input->file, &timeline);
}

static bool go_together(const struct eval_input *a, const struct eval_input *b)
{
	return !a->of_kernels && !b->of_kernels && a->meta->profiler == b->meta->profiler;
}

static int evaluate(struct eval *eval, const struct opk_eval_options *options)
{
	struct eval_input *inputs = eval->inputs;
	int code = OPK_OK;

	for (size_t at = 0, end; !code && at < eval->input_count; at = end) {
		for (end = at + 1;
		     end < eval->input_count && go_together(&inputs[at], &inputs[end]); end++)
			;
		if (inputs[at].of_kernels)
			code = evaluate_kernels(eval, &inputs[at], options);
		else
			code = evaluate_alike(eval, eval->inputs + at, end - at, options);
	}
	return code;
}

/* ---- what they have besides values */

static bool contains(const char *const *names, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

/* Columns are inflated where the metadata name a metric that they need. */
static int find_inflated(struct eval *eval, struct eval_input *input)
{
	const struct opk_meta *meta = input->meta;
	size_t count = opk_evaluation_column_count(input->evaluation);
	size_t metrics = opk_evaluation_metric_count(input->evaluation);
	opk_autofree uint64_t *sound = NULL, *least = NULL;

	if (!meta->inflated_count)
		return OPK_OK;
	sound = opk_alloc_array(metrics + 1, sizeof *sound);
	least = opk_alloc_array(count + 1, sizeof *least);
	input->inflated = opk_alloc_array(count + 1, sizeof *input->inflated);
	if (!sound || !least || !input->inflated)
		return app_nomem(eval->app);
	for (size_t i = 0; i < metrics; i++)
		sound[i] = !contains(meta->inflated, meta->inflated_count,
		                     opk_evaluation_metric(input->evaluation, i));
	opk_evaluation_least(least, input->evaluation, sound);
	for (size_t i = 0; i < count; i++) {
		input->inflated[i] = !least[i];
		eval->inflated |= input->inflated[i];
	}
	return OPK_OK;
}

static void note_state(const struct eval_input *input, const struct opk_set *set)
{
	const char *own = opk_profiler_name(input->meta->profiler);

	/* What the set has for another profiler alone is not in the table, and is no error. */
	if (set && opk_set_has_profiler(set) && opk_set_profiler(set) != input->meta->profiler)
		app_note(
			"%s: of profiler %s, and set %s is for %s: evaluated is what it has for %s",
			input->path, own, opk_set_name(set),
			opk_profiler_name(opk_set_profiler(set)), own);
	if (!opk_file_complete(input->file))
		app_note("%s: cut off: these are the %s of its %zu whole sections", input->path,
		         input->of_kernels ? "records" : "ranges",
		         opk_file_section_count(input->file));
}

/* Only kernels have names of theirs: not idle time and copies. */
static int look_at_kernels(struct eval *eval, struct eval_input *input, const struct opk_set *set)
{
	struct opk_ctx *ctx = eval->app->ctx;
	const struct opk_range *ranges;
	size_t count = opk_evaluation_ranges(&ranges, input->evaluation);
	int code = OPK_OK;

	opk_facts_find_ran(eval->facts, ranges, count, eval->all_facts);
	for (size_t i = 0; !code && i < count; i++)
		if (*ranges[i].symbol)
			code = opk_kernel_names_add(eval->kernel_names, ctx, &ranges[i], 1);
	note_state(input, set);
	eval->of_kernels = true;
	return code ? code : find_inflated(eval, input);
}

static int look_at(struct eval *eval, struct eval_input *input, const struct opk_set *set)
{
	struct opk_ctx *ctx = eval->app->ctx;
	const struct opk_range *ranges;
	size_t range_count;
	int code;

	if (input->of_kernels)
		return look_at_kernels(eval, input, set);
	code = opk_file_ranges(&ranges, &range_count, ctx, input->file);
	if (!code)
		code = opk_kernel_names_add(eval->kernel_names, ctx, ranges, range_count);
	if (!code)
		code = opk_facts_find_recorded(eval->facts, ctx, input->file, eval->all_facts);
	if (code)
		return code;
	eval->watch.apart |= *input->meta->join && eval->single;
	if (*input->meta->join && !eval->single && eval->layout != EVAL_GROUPS)
		code = opk_join_new(&input->join, ctx, input->evaluation);
	if (code)
		return code;
	note_state(input, set);
	eval->joined |= input->join != NULL;
	return find_inflated(eval, input);
}

/* ---- all of them */

int eval_inputs_read(struct eval *eval, const char *raw_image,
                     const struct opk_eval_options *options)
{
	int code;

	eval->input_count = raw_image ? 1 : eval->app->argument_count;
	eval->inputs = opk_alloc_array(eval->input_count, sizeof *eval->inputs);
	if (!eval->inputs)
		return app_nomem(eval->app);
	if (raw_image)
		return read_image(eval, raw_image, options);
	code = open_inputs(eval);
	if (!code)
		code = evaluate(eval, options);
	for (size_t i = 0; !code && i < eval->input_count; i++)
		code = look_at(eval, &eval->inputs[i], options->set);
	return code;
}

static void note_drift(const char *path, const char *clock, const struct opk_clock_span *span)
{
	if (span->drifted)
		app_note(
			"%s: the %s clock was between %u and %u MHz, so that times and rates differ "
			"for that alone; --launch-columns all shows it for each launch",
			path, clock, span->least, span->most);
}

void eval_inputs_note_drift(const struct eval *eval)
{
	for (size_t i = 0; i < eval->input_count; i++) {
		const struct opk_range *ranges;
		struct opk_clocks clocks;
		size_t count;

		if (!eval->inputs[i].file
		    || opk_file_ranges(&ranges, &count, eval->app->ctx, eval->inputs[i].file))
			continue;
		opk_clocks_find(&clocks, ranges, count);
		note_drift(eval->inputs[i].path, "SM", &clocks.sm);
		note_drift(eval->inputs[i].path, "memory", &clocks.memory);
	}
}

void eval_inputs_free(struct eval *eval)
{
	for (size_t i = 0; eval->inputs && i < eval->input_count; i++) {
		opk_join_free(eval->inputs[i].join);
		opk_aggregate_free(eval->inputs[i].aggregate);
		opk_evaluation_free(eval->inputs[i].evaluation);
		opk_file_free(eval->inputs[i].file);
		free(eval->inputs[i].inflated);
	}
	free(eval->inputs);
}
