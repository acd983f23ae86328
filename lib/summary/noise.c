/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds how far means can be trusted, and how many more launches would do. */
#include <math.h>

#include "base/nearest.h"
#include "base/sum.h"
#include "container/container.h"
#include "eval/eval.h"
#include "summary/summary_inside.h"
#include "timeline/door.h"

/* It is not advised to record more than ten times as many launches, or 30. */
enum { MOST_TIMES = 10, FEW = 30 };

static const char duration[] = "duration_ns";

/* What the result borrows from, and what is needed until it is complete. */
struct opk_noise_inside {
	struct opk_ctx *ctx;
	struct opk_noise_options options;
	unsigned by; /* of the options */
	struct opk_strlist metrics, units;
	struct opk_strlist known; /* metrics that are not wanted, for suggestions */
	struct opk_index numbers; /* of metrics */
	struct opk_grouping groups;
	struct opk_kernel_names *names;
	OPK_LIST(struct opk_evaluation *) timelines; /* have the names of what ran */
	bool has_shapes;                             /* of launches */
};

/* A column of a group in one file. */
struct taken {
	size_t group, column;
	struct opk_moments of;
};

/* One file, while it is read. */
struct reader {
	struct opk_noise *noise;
	struct opk_noise_inside *in;
	struct opk_file *file;
	OPK_LIST(struct taken) taken;
	bool failed; /* out of memory */
};

static int fail_nomem(const struct opk_noise_inside *in)
{
	return opk_nomem(in->ctx, "the noise of metrics");
}

/* ---- rooms for values ------------------------------------------------------------------- */

static bool is_wanted(const struct opk_noise_inside *in, const char *metric)
{
	for (size_t i = 0; i < in->options.column_count; i++)
		if (!strcmp(in->options.columns[i], metric))
			return true;
	return !in->options.column_count;
}

/* SIZE_MAX: the metric is not wanted. */
static int find_metric(size_t *out, struct opk_noise_inside *in, const char *metric,
                       const char *unit)
{
	size_t next = in->metrics.count;

	*out = SIZE_MAX;
	if (!is_wanted(in, metric))
		return opk_strlist_add(&in->known, metric) ? OPK_OK : fail_nomem(in);
	if (opk_index_find(out, &in->numbers, metric))
		return OPK_OK;
	if (!opk_strlist_add(&in->metrics, metric) || !opk_strlist_add(&in->units, unit)
	    || !opk_index_add(&in->numbers, in->metrics.items[next], next, NULL))
		return fail_nomem(in);
	*out = next;
	return OPK_OK;
}

/* The number of the kernel of a range; a new one has no values yet. */
static int find_kernel(size_t *out, struct reader *r, const char *name,
                       const struct opk_range *range)
{
	TRY(opk_grouping_add(out, &r->in->groups, r->in->ctx, name, range));
	if (*out == r->noise->kernels.count && !opk_list_add(&r->noise->kernels))
		return fail_nomem(r->in);
	return OPK_OK;
}

/* Until all files are read, values are in the order of metrics, with gaps. */
static int add_values(struct reader *r, size_t kernel, size_t metric, const struct opk_moments *of,
                      double mean)
{
	struct opk_noise_kernel *to = &r->noise->kernels.items[kernel];
	struct opk_noise_value *value;

	while (to->values.count <= metric)
		if (!opk_list_add(&to->values))
			return fail_nomem(r->in);
	value = &to->values.items[metric];
	/* Several files have no mean of all their launches together. */
	value->mean = value->metric ? (double)NAN : mean;
	value->metric = r->in->metrics.items[metric];
	value->unit = r->in->units.items[metric];
	value->number = metric;
	opk_moments_merge(&value->of, of);
	return OPK_OK;
}

/* ---- ranges ----------------------------------------------------------------------------- */

/* If no launch has the whole value, none is counted. */
static void take(void *data, size_t group, size_t column, const double *values, const size_t *rows,
                 size_t count)
{
	struct reader *r = data;
	struct taken *taken = opk_list_add(&r->taken);
	bool known = false;

	(void)rows;
	r->failed |= !taken;
	for (size_t i = 0; i < count; i++)
		known |= !isnan(values[i]);
	if (!taken)
		return;
	*taken = (struct taken){ group, column, { 0 } };
	for (size_t i = 0; known && i < count; i++)
		opk_moments_add(&taken->of, values[i]);
}

/* The numbers of the metrics in the columns of the evaluation; free(). */
static int list_metrics(size_t **out, struct reader *r, const struct opk_summary *s)
{
	size_t columns = opk_evaluation_column_count(s->evaluation);

	*out = opk_alloc_array(columns + 1, sizeof **out);
	if (!*out)
		return fail_nomem(r->in);
	for (size_t i = 0; i < columns; i++)
		(*out)[i] = SIZE_MAX;
	for (size_t i = 0; i < s->column_count; i++)
		if (s->columns[i].at != SIZE_MAX)
			TRY(find_metric(&(*out)[s->columns[i].at], r->in, s->columns[i].name,
			                s->columns[i].unit));
	return OPK_OK;
}

/* The numbers of the kernels of the summary's groups, in recorded order; free(). */
static int list_kernels(size_t **out, struct reader *r, const struct opk_summary *s)
{
	*out = opk_alloc_array(s->group_count + 1, sizeof **out);
	if (!*out)
		return fail_nomem(r->in);
	for (size_t i = 0; i < s->group_count; i++) {
		const struct opk_summary_group *group = &s->groups[i];
		size_t *kernel = &(*out)[group->number];

		TRY(find_kernel(kernel, r, group->of->name, &group->of->range));
		r->noise->kernels.items[*kernel].time += group->time;
	}
	return OPK_OK;
}

static int add_taken(struct reader *r, const struct opk_summary *s)
{
	opk_autofree size_t *metrics = NULL, *kernels = NULL;

	TRY(list_metrics(&metrics, r, s));
	TRY(list_kernels(&kernels, r, s));
	for (size_t i = 0; i < r->taken.count; i++) {
		const struct taken *taken = &r->taken.items[i];
		const struct opk_aggregated *of = opk_aggregate_get(s->aggregate, taken->group);

		if (metrics[taken->column] != SIZE_MAX)
			TRY(add_values(r, kernels[taken->group], metrics[taken->column], &taken->of,
			               of->columns[taken->column].mean));
	}
	return OPK_OK;
}

static int read_ranges(struct reader *r)
{
	struct opk_summary_options options = OPK_INIT(options);
	const struct opk_summary_values values = { take, r, r->in->options.by };
	struct opk_summary *s = NULL;
	int code;

	options.kernel = r->in->options.kernel;
	code = opk_summary_make(&s, r->in->ctx, r->file, &options, &values);
	if (!code)
		code = r->failed ? fail_nomem(r->in) : add_taken(r, s);
	opk_summary_free(s);
	return code;
}

/* ---- what ran --------------------------------------------------------------------------- */

static int add_launch(struct reader *r, const struct opk_row *row, size_t metric)
{
	struct opk_moments of = { .count = 1, .mean = (double)row->ran->time_ns };
	size_t kernel;

	if (strcmp(row->ran->kind, "kernel") != 0)
		return OPK_OK;
	TRY(find_kernel(&kernel, r, row->name, row->range));
	r->noise->kernels.items[kernel].time += of.mean;
	r->in->has_shapes |= row->range->grid[0] > 0;
	return metric == SIZE_MAX ? OPK_OK : add_values(r, kernel, metric, &of, of.mean);
}

static int read_launches(struct reader *r, struct opk_evaluation *launches)
{
	const struct opk_row *row;
	size_t metric;
	int code = find_metric(&metric, r->in, duration, "nanoseconds");

	while (!code && !(code = opk_evaluation_next(&row, r->in->ctx, launches)) && row)
		code = add_launch(r, row, metric);
	return code;
}

/* Samples give one value of each kernel: only the times of launches are many. */
static int read_ran(struct reader *r)
{
	static const char *const no_metrics[1];
	struct opk_eval_options options = OPK_INIT(options);
	struct opk_evaluation **kept = opk_list_add(&r->in->timelines);
	opk_autofree char *condition = NULL;

	if (r->in->options.kernel)
		condition = opk_printf("kernel=%s", r->in->options.kernel);
	if (!kept || (r->in->options.kernel && !condition))
		return fail_nomem(r->in);
	options.metrics = no_metrics;
	options.allow_incomplete = true;
	options.where = (const char *const *)&condition;
	options.where_count = condition != NULL;
	TRY(opk_timeline_eval(kept, r->in->ctx, r->file, &options, true));
	return read_launches(r, *kept);
}

/* ---- files ------------------------------------------------------------------------------ */

static void find_kinds(bool *kernels, bool *shapes, const struct opk_range *ranges, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		*kernels |= *ranges[i].kernel != '\0';
		*shapes |= ranges[i].grid[0] > 0;
	}
}

static bool is_ran(const struct opk_meta *meta)
{
	return !strcmp(meta->mode, "trace") || meta->profiler == OPK_PROFILER_PM;
}

static int check_ran(const struct reader *r)
{
	const struct opk_activity *activities;
	size_t count;

	TRY(opk_file_activities(&activities, &count, r->in->ctx, r->file));
	for (size_t i = 0; i < count; i++)
		if (activities[i].kind == OPK_ACTIVITY_KERNEL)
			return OPK_OK;
	opk_fail(r->in->ctx, OPK_EUSAGE,
	         "%s has PM samples that are of no kernel: neighbouring samples are not "
	         "independent, so they do not show how far a mean can be trusted",
	         r->file->path);
	return opk_advise(r->in->ctx, OPK_EUSAGE, OPK_REMEDY_TRACE);
}

static int check_file(const struct reader *r, const struct opk_meta *meta)
{
	if (!strcmp(meta->kind, "set"))
		return opk_fail(r->in->ctx, OPK_EINPUT, "%s: it was built, not yet recorded",
		                r->file->path);
	if (opk_hot_is_alone(r->file, meta))
		return opk_fail(r->in->ctx, OPK_EUSAGE,
		                "%s has only counts or samples of instructions: it has no "
		                "launches to compare",
		                r->file->path);
	return is_ran(meta) ? check_ran(r) : OPK_OK;
}

/* Launches of another chip, or ranges beside kernels, are not further launches of the same. */
static int check_alike(const struct reader *r, const struct opk_file *first, bool of_kernels,
                       const struct opk_meta *meta)
{
	const struct opk_meta *other;

	TRY(opk_file_meta(&other, r->in->ctx, (struct opk_file *)first));
	if (strcmp(meta->chip, other->chip) != 0)
		return opk_fail(r->in->ctx, OPK_EUSAGE,
		                "%s is of %s, and %s of %s: their launches don't add up",
		                first->path, other->chip, r->file->path, meta->chip);
	if (of_kernels != r->noise->of_kernels)
		return opk_fail(r->in->ctx, OPK_EUSAGE,
		                "%s has %s, and %s has %s: they don't go together", first->path,
		                of_kernels ? "ranges of the program" : "kernels", r->file->path,
		                of_kernels ? "kernels" : "ranges of the program");
	return OPK_OK;
}

static int read_file(struct reader *r, const struct opk_file *first)
{
	const struct opk_meta *meta;
	const struct opk_range *ranges;
	size_t count;
	bool of_kernels;

	TRY(opk_file_meta(&meta, r->in->ctx, r->file));
	TRY(check_file(r, meta));
	TRY(opk_file_ranges(&ranges, &count, r->in->ctx, r->file));
	of_kernels = is_ran(meta);
	find_kinds(&of_kernels, &r->in->has_shapes, ranges, count);
	if (r->file == first)
		r->noise->of_kernels = of_kernels;
	r->in->groups.key = r->in->by | (of_kernels ? OPK_KEY_KERNEL : OPK_KEY_NAME);
	TRY(check_alike(r, first, of_kernels, meta));
	return is_ran(meta) ? read_ran(r) : read_ranges(r);
}

static int read_files(struct opk_noise *noise, struct opk_file *const *files, size_t count)
{
	TRY(opk_twice_check(noise->inside->ctx, files, count, OPK_EUSAGE));
	for (size_t i = 0; i < count; i++) {
		struct reader r = { .noise = noise, .in = noise->inside, .file = files[i] };
		int code = read_file(&r, files[0]);

		free(r.taken.items);
		TRY(code);
	}
	return OPK_OK;
}

/* ---- what can be trusted ---------------------------------------------------------------- */

/* Where passes take turns, only some launches have the metric. */
static uint64_t find_more(const struct opk_noise_value *value, uint64_t launches)
{
	uint64_t needed = value->precision.needed, count = value->of.count;

	return needed > count
	               ? (uint64_t)ceil((double)(needed - count) * (double)launches / (double)count)
	               : 0;
}

static void judge_value(struct opk_noise_value *value, const struct opk_noise_kernel *kernel,
                        const struct opk_noise_options *options)
{
	if (value->of.count)
		value->mean = value->of.mean;
	value->deviation = opk_moments_deviation(&value->of);
	opk_precision_find(&value->precision, value->of.count, value->mean, value->deviation,
	                   options->level, options->within);
	value->more = find_more(value, kernel->launches);
	value->trusted = value->precision.half_width <= options->within;
}

static int by_trust(const void *a, const void *b)
{
	const struct opk_noise_value *x = a, *y = b;
	double left = x->precision.half_width, right = y->precision.half_width;

	if (isnan(left) != isnan(right))
		return isnan(left) ? 1 : -1;
	if (!isnan(left) && left != right)
		return left > right ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

static void advise(struct opk_noise_kernel *kernel)
{
	uint64_t most = kernel->launches > FEW / MOST_TIMES ? MOST_TIMES * kernel->launches : FEW;

	for (size_t i = 0; i < kernel->values.count; i++) {
		const struct opk_noise_value *value = &kernel->values.items[i];
		bool hopeless = kernel->launches + value->more > most;

		kernel->all_but += !value->trusted && (!value->more || hopeless);
		if (!value->trusted && !hopeless && value->more > kernel->more)
			kernel->more = value->more;
	}
}

static void judge_kernel(struct opk_noise *noise, struct opk_noise_kernel *kernel)
{
	size_t kept = 0;

	for (size_t i = 0; i < kernel->values.count; i++) {
		struct opk_noise_value value = kernel->values.items[i];

		if (!value.metric)
			continue;
		judge_value(&value, kernel, &noise->inside->options);
		kernel->trusted += value.trusted;
		kernel->unknown += isnan(value.precision.half_width);
		noise->zero += value.precision.half_width == 0 && value.mean == 0;
		kernel->values.items[kept++] = value;
	}
	kernel->values.count = kept;
	if (kept)
		qsort(kernel->values.items, kept, sizeof *kernel->values.items, by_trust);
	advise(kernel);
	noise->values += kept;
	noise->trusted += kernel->trusted;
	noise->unknown += kernel->unknown;
}

static int by_time(const void *a, const void *b)
{
	const struct opk_noise_kernel *x = a, *y = b;

	if (x->time != y->time && !(isnan(x->time) && isnan(y->time)))
		return isnan(y->time) || x->time > y->time ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

static int name_kernels(struct opk_noise *noise)
{
	struct opk_noise_inside *in = noise->inside;

	TRY(opk_kernel_names_new(&in->names, in->ctx, in->options.kernel_names));
	for (size_t i = 0; i < noise->kernels.count; i++)
		TRY(opk_kernel_names_add(in->names, in->ctx, &in->groups.groups[i].range, 1));
	for (size_t i = 0; i < noise->kernels.count; i++) {
		const struct opk_grouped *group = &in->groups.groups[i];

		noise->kernels.items[i].name = opk_key_name(in->groups.key,
		                                            opk_kernel_names_get(in->names,
		                                                                 &group->range),
		                                            group->name, &group->range);
		if (!noise->kernels.items[i].name)
			return fail_nomem(in);
	}
	return OPK_OK;
}

static int judge(struct opk_noise *noise)
{
	TRY(name_kernels(noise));
	for (size_t i = 0; i < noise->kernels.count; i++) {
		const struct opk_grouped *group = &noise->inside->groups.groups[i];
		struct opk_noise_kernel *kernel = &noise->kernels.items[i];

		kernel->number = i;
		kernel->range = &group->range;
		kernel->launches = group->ranges;
		kernel->mixed = noise->inside->has_shapes && noise->of_kernels
		                && !group->range.grid[0];
		judge_kernel(noise, kernel);
	}
	if (noise->kernels.count)
		qsort(noise->kernels.items, noise->kernels.count, sizeof *noise->kernels.items,
		      by_time);
	return OPK_OK;
}

static int check_columns(const struct opk_noise *noise)
{
	const struct opk_noise_options *options = &noise->inside->options;

	for (size_t i = 0; i < options->column_count; i++) {
		struct opk_nearest nearest = { .name = options->columns[i] };

		if (opk_index_find(NULL, &noise->inside->numbers, options->columns[i]))
			continue;
		for (size_t j = 0; j < noise->inside->known.count; j++)
			opk_nearest_try(&nearest, noise->inside->known.items[j]);
		return opk_fail(noise->inside->ctx, OPK_EUSAGE, "there is no column %s%s%s%s",
		                options->columns[i], nearest.best ? ": do you mean " : "",
		                nearest.best ? nearest.best : "", nearest.best ? "?" : "");
	}
	return OPK_OK;
}

/* ---- all of it -------------------------------------------------------------------------- */

int opk_noise_new(struct opk_noise **out, struct opk_ctx *ctx, struct opk_file *const *files,
                  size_t count, const struct opk_noise_options *options)
{
	opk_auto(opk_noise) struct opk_noise *noise = opk_alloc(sizeof *noise);

	if (noise)
		noise->inside = opk_alloc(sizeof *noise->inside);
	if (!noise || !noise->inside)
		return opk_nomem(ctx, "the noise of metrics");
	noise->inside->ctx = ctx;
	noise->inside->options = *options;
	if (options->by)
		TRY(opk_key_parse(&noise->inside->by, ctx, options->by));
	TRY(read_files(noise, files, count));
	TRY(check_columns(noise));
	TRY(judge(noise));
	*out = opk_take(noise);
	return OPK_OK;
}

void opk_noise_free(struct opk_noise *noise)
{
	struct opk_noise_inside *in = noise ? noise->inside : NULL;

	if (!noise)
		return;
	for (size_t i = 0; i < noise->kernels.count; i++) {
		free(noise->kernels.items[i].name);
		free(noise->kernels.items[i].values.items);
	}
	free(noise->kernels.items);
	if (in) {
		for (size_t i = 0; i < in->timelines.count; i++)
			opk_evaluation_free(in->timelines.items[i]);
		free(in->timelines.items);
		opk_strlist_clear(&in->metrics);
		opk_strlist_clear(&in->units);
		opk_strlist_clear(&in->known);
		opk_index_clear(&in->numbers);
		opk_grouping_clear(&in->groups);
		opk_kernel_names_free(in->names);
	}
	free(in);
	free(noise);
}
