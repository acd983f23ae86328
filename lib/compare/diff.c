/* SPDX-License-Identifier: BSD-2-Clause */
/* Two sides of recordings, matched row by row. */
#include <math.h>
#include <string.h>

#include "base/option_struct.h"
#include "compare/compare.h"

static const double default_level = 0.005;

static int fail_nomem(struct opk_ctx *ctx)
{
	return opk_nomem(ctx, "a comparison");
}

static const char *name_key(const struct opk_diff_options *options)
{
	switch (options->rows) {
	case OPK_ROWS_INSTRUCTIONS:
		return "instruction";
	case OPK_ROWS_LINES:
		return "line";
	case OPK_ROWS_FUNCTIONS:
		return "function";
	default:
		return options->by ? options->by : "kernel";
	}
}

/* ---- what is compared ------------------------------------------------------------------- */

static int find_key(unsigned *key, struct opk_ctx *ctx, const struct opk_diff_options *options)
{
	if (options->rows >= OPK_ROWS_INSTRUCTIONS) {
		*key = OPK_KEY_NAME;
		return options->ignore_shape ? opk_fail(ctx, OPK_EUSAGE, "code has no shape")
		                             : OPK_OK;
	}
	TRY(opk_key_parse(key, ctx, options->by));
	if (options->ignore_shape && *key & OPK_KEY_SHAPE)
		return opk_fail(ctx, OPK_EUSAGE, "rows are to be matched by shape, or without it");
	if (*key & OPK_KEY_KERNEL && !options->ignore_shape)
		*key |= OPK_KEY_SHAPE | OPK_KEY_SHARED;
	return OPK_OK;
}

static int add_sources(struct opk_diff *diff, struct opk_ctx *ctx, struct opk_file *const *files,
                       size_t count, enum opk_compared_side side)
{
	if (!count)
		return opk_fail(ctx, OPK_EUSAGE, "there is no recording of what was %s",
		                side == OPK_BEFORE ? "before" : "after");
	for (size_t i = 0; i < count; i++)
		diff->sources[diff->source_count++] = (struct opk_compared_source){
			.file = files[i],
			.side = side,
		};
	return OPK_OK;
}

/* ---- rows ------------------------------------------------------------------------------- */

static bool is_matched(const struct opk_diff *diff, size_t group)
{
	const uint64_t *launches = diff->about.items[group].launches;

	return launches[OPK_BEFORE] && launches[OPK_AFTER];
}

/* Lines pair by their distance from the first one, instructions by their offsets. */
static bool is_rewritten(const struct opk_diff *diff, const struct opk_compared_group *about)
{
	const struct opk_code *before = about->code[OPK_BEFORE], *after = about->code[OPK_AFTER];

	if (!before || !after || !before->lines.set || !after->lines.set)
		return false;
	return diff->options.rows == OPK_ROWS_INSTRUCTIONS
	               ? before->lines.layout != after->lines.layout
	               : before->lines.set != after->lines.set;
}

/* Code is described as it is afterwards: lines move. */
static void describe_code(struct opk_diff_row *row, const struct opk_diff *diff, size_t group)
{
	const struct opk_compared_group *about = &diff->about.items[group];
	const struct opk_code *before = about->code[OPK_BEFORE], *after = about->code[OPK_AFTER];

	row->code = after ? after : before;
	row->function = about->function;
	row->before_line = before ? before->line : 0;
	row->rewritten = is_rewritten(diff, about);
	row->of_function = diff->of_functions ? &diff->of_functions[about->function] : NULL;
}

/* Rows on both sides come first, then the others, each in order of appearance. */
static int place_rows(struct opk_diff *diff, struct opk_ctx *ctx, size_t *places)
{
	size_t groups = diff->groups.count;

	diff->found.rows = opk_alloc_array(groups + 1, sizeof *diff->found.rows);
	diff->compared = opk_alloc_array(groups * diff->columns.count + 1, sizeof *diff->compared);
	diff->beyond_clock = opk_alloc_array(groups * diff->columns.count + 1,
	                                     sizeof *diff->beyond_clock);
	if (!diff->found.rows || !diff->compared || !diff->beyond_clock)
		return fail_nomem(ctx);
	for (size_t i = 0; i < groups; i++)
		diff->found.row_count += is_matched(diff, i);
	diff->found.unmatched = diff->found.rows + diff->found.row_count;
	for (size_t i = 0, next = 0; i < groups; i++) {
		const struct opk_grouped *group = &diff->groups.groups[i];
		size_t place = is_matched(diff, i)
		                       ? next++
		                       : diff->found.row_count + diff->found.unmatched_count++;

		places[i] = place;
		diff->found.rows[place] = (struct opk_diff_row){
			.name = group->many_names || opk_compared_is_code(diff) ? "" : group->name,
			.range = group->range,
			.before_launches = diff->about.items[i].launches[OPK_BEFORE],
			.after_launches = diff->about.items[i].launches[OPK_AFTER],
			.values = diff->compared + place * diff->columns.count,
		};
		describe_code(&diff->found.rows[place], diff, i);
	}
	return OPK_OK;
}

static int find_verdicts(struct opk_diff *diff, struct opk_ctx *ctx)
{
	opk_autofree bool *foremost = opk_alloc_array(diff->columns.count + 1, sizeof *foremost);
	opk_autofree bool *hidden = opk_alloc_array(diff->columns.count + 1, sizeof *hidden);
	struct opk_compared_table table = {
		.values = diff->compared,
		.foremost = foremost,
		.hidden = hidden,
		.beyond_clock = diff->beyond_clock,
		.sampled = opk_compared_is_code(diff),
		.rows = diff->found.row_count,
		.columns = diff->columns.count,
	};
	size_t column;

	if (!foremost || !hidden)
		return fail_nomem(ctx);
	if (diff->time != SIZE_MAX)
		foremost[diff->time] = true;
	for (size_t i = 0; i < diff->rules.rules.count; i++)
		if (opk_index_find(&column, &diff->numbers, diff->rules.rules.items[i].metric))
			foremost[column] = true;
	for (size_t i = 0; i < diff->columns.count; i++)
		hidden[i] = !diff->columns.items[i].shown && !foremost[i];
	return opk_find_verdicts(&diff->found.summary, ctx, &table);
}

static bool find_column(size_t *out, const struct opk_diff *diff, const char *name)
{
	return opk_index_find(out, &diff->numbers, name) && opk_compared_has_both(diff, *out);
}

/* The kernel's own time, else the host's time of a range, else cycles: what both sides have. */
static size_t find_time(const struct opk_diff *diff)
{
	bool ran = diff->sources[0].mode == OPK_COMPARED_RAN;
	size_t column;

	if (opk_compared_is_code(diff))
		return find_column(&column, diff, opk_compared_samples)
		                       || find_column(&column, diff, opk_compared_executed)
		               ? column
		               : SIZE_MAX;
	if ((!ran && find_column(&column, diff, "gpu__time_duration.sum"))
	    || find_column(&column, diff, opk_compared_duration))
		return column;
	for (size_t i = 0; i < diff->columns.count; i++)
		if (opk_metric_is_cycles(diff->columns.items[i].name)
		    && opk_compared_has_both(diff, i))
			return i;
	return SIZE_MAX;
}

/* How many launches a change in time counts for. */
static uint64_t launches_of_change(const struct opk_diff *diff, const struct opk_diff_row *row)
{
	size_t function = row->function;
	uint64_t before = row->before_launches, after = row->after_launches;

	if (diff->time != SIZE_MAX && opk_compared_kind(diff, diff->time) == OPK_SAMPLED) {
		/* A share is of all launches. */
		if (diff->found.summary.shares)
			return 1;
		before = opk_compared_sampled_of_side(diff, OPK_BEFORE, function);
		after = opk_compared_sampled_of_side(diff, OPK_AFTER, function);
	}
	return before < after ? before : after;
}

static void find_time_changes(struct opk_diff *diff)
{
	for (size_t i = 0; i < diff->found.row_count; i++) {
		struct opk_diff_row *row = &diff->found.rows[i];
		const struct opk_diff_value *time;
		uint64_t launches = launches_of_change(diff, row);

		row->time_change = (double)NAN;
		if (diff->time == SIZE_MAX)
			continue;
		time = &row->values[diff->time];
		row->time_change = (time->after.value - time->before.value) * (double)launches;
		row->time_changed = time->verdict == OPK_VERDICT_CHANGED;
	}
}

/* Rows with more than noise come first, then by size of the change; equal ones stay in order. */
static int by_time_change(const void *a, const void *b)
{
	const struct opk_diff_row *x = a, *y = b;
	double change = isnan(x->time_change) ? -1 : fabs(x->time_change);
	double other = isnan(y->time_change) ? -1 : fabs(y->time_change);

	if (x->time_changed != y->time_changed)
		return x->time_changed ? -1 : 1;
	if (change != other)
		return change > other ? -1 : 1;
	return x->values < y->values ? -1 : x->values > y->values;
}

static int match(struct opk_diff *diff, struct opk_ctx *ctx)
{
	opk_autofree size_t *places = opk_alloc_array(diff->groups.count + 1, sizeof *places);

	TRY(places ? place_rows(diff, ctx, places) : fail_nomem(ctx));
	TRY(opk_compare_columns(diff, ctx, places));
	diff->time = find_time(diff);
	TRY(find_verdicts(diff, ctx));
	find_time_changes(diff);
	qsort(diff->found.rows, diff->found.row_count, sizeof *diff->found.rows, by_time_change);
	return OPK_OK;
}

/* ---- all of it -------------------------------------------------------------------------- */

/* Names the kernels on both sides first, in listed order. */
static int name_kernels(struct opk_diff *diff, struct opk_ctx *ctx)
{
	TRY(opk_kernel_names_new(&diff->names, ctx, diff->options.kernel_names));
	for (size_t i = 0; i < diff->found.row_count + diff->found.unmatched_count; i++)
		TRY(opk_kernel_names_add(diff->names, ctx, &diff->found.rows[i].range, 1));
	return OPK_OK;
}

static int describe_columns(struct opk_diff *diff, struct opk_ctx *ctx)
{
	struct opk_diff_found *found = &diff->found;

	found->column_count = diff->columns.count;
	found->columns = opk_alloc_array(found->column_count + 1, sizeof *found->columns);
	if (!found->columns)
		return fail_nomem(ctx);
	for (size_t i = 0; i < found->column_count; i++) {
		const struct opk_compared_column *column = &diff->columns.items[i];

		found->columns[i] = (struct opk_diff_column){
			.name = column->name,
			.unit = column->unit,
			.heading = column->heading,
			.prose = column->prose,
			.shown = column->shown,
			.is_time = i == diff->time,
		};
	}
	return OPK_OK;
}

static int make(struct opk_diff *diff, struct opk_ctx *ctx)
{
	TRY(opk_diff_rules_read(&diff->rules, ctx, &diff->options));
	TRY(find_key(&diff->groups.key, ctx, &diff->options));
	TRY(opk_compared_evaluate(diff, ctx));
	TRY(opk_compared_read(diff, ctx));
	opk_compared_scale_exposures(diff);
	TRY(opk_compared_judge_functions(diff, ctx));
	TRY(opk_compared_name_units(diff, ctx));
	TRY(match(diff, ctx));
	TRY(opk_find_differences(diff, ctx));
	TRY(describe_columns(diff, ctx));
	TRY(name_kernels(diff, ctx));
	return opk_compared_judge(diff, ctx);
}

int opk_diff_new(struct opk_diff **out, struct opk_ctx *ctx, struct opk_file *const *files,
                 size_t before_count, size_t after_count, const struct opk_diff_options *given)
{
	struct opk_diff *diff = opk_alloc(sizeof *diff);
	int code;

	if (!diff)
		return fail_nomem(ctx);
	opk_copy_options(&diff->options, sizeof diff->options, given);
	diff->by = opk_strdup(name_key(&diff->options));
	diff->options.by = diff->by;
	diff->found.summary.level = diff->options.level > 0 ? diff->options.level : default_level;
	diff->sources = opk_alloc_array(before_count + after_count + 1, sizeof *diff->sources);
	code = diff->sources && diff->by ? add_sources(diff, ctx, files, before_count, OPK_BEFORE)
	                                 : fail_nomem(ctx);
	if (!code)
		code = add_sources(diff, ctx, files + before_count, after_count, OPK_AFTER);
	if (!code)
		code = make(diff, ctx);
	if (!code)
		*out = opk_take(diff);
	opk_diff_free(diff);
	return code;
}

void opk_diff_free(struct opk_diff *diff)
{
	if (!diff)
		return;
	for (size_t i = 0; i < diff->source_count; i++)
		opk_compared_source_clear(&diff->sources[i]);
	for (size_t i = 0; i < diff->columns.count; i++) {
		free(diff->columns.items[i].name);
		free(diff->columns.items[i].unit);
	}
	for (int side = 0; side < OPK_SIDES; side++) {
		opk_column_file_clear(&diff->values[side]);
		free(diff->group_of[side].items);
		free(diff->weights[side].items);
	}
	free(diff->sources);
	free(diff->columns.items);
	opk_index_clear(&diff->numbers);
	opk_index_clear(&diff->functions);
	opk_strlist_clear(&diff->function_names);
	opk_grouping_clear(&diff->groups);
	free(diff->about.items);
	free(diff->compared);
	free(diff->beyond_clock);
	free(diff->of_functions);
	free(diff->peaks);
	free(diff->found.columns);
	free(diff->found.rows);
	free(diff->found.differences);
	free(diff->found.judged.items);
	free(diff->by);
	opk_kernel_names_free(diff->names);
	opk_filter_free(diff->filter);
	opk_diff_rules_clear(&diff->rules);
	opk_strlist_clear(&diff->texts);
	free(diff);
}

const struct opk_diff_found *opk_diff_found(const struct opk_diff *diff)
{
	return &diff->found;
}
