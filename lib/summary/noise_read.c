/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads all launches of recordings, kernel by kernel, for what noise.c finds in them. */
#include <math.h>

#include "container/container.h"
#include "summary/summary_inside.h"
#include "timeline/door.h"

static const char duration[] = "duration_ns";

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

/* ---- rooms for values ------------------------------------------------------------------- */

static bool is_wanted(const struct opk_noise_inside *in, const char *metric)
{
	return !in->options.column_count
	       || opk_texts_contain(in->options.columns, in->options.column_count, metric);
}

/* SIZE_MAX: the metric is not wanted. */
static int find_metric(size_t *out, struct opk_noise_inside *in, const char *metric,
                       const char *full, const char *unit)
{
	size_t next = in->metrics.count;

	*out = SIZE_MAX;
	if (!is_wanted(in, metric))
		return opk_strlist_add(&in->known, metric) ? OPK_OK : noise_nomem(in);
	if (opk_index_find(out, &in->numbers, metric))
		return OPK_OK;
	if (!opk_strlist_add(&in->metrics, metric) || !opk_strlist_add(&in->units, unit)
	    || !opk_strlist_add(&in->fulls, full ? full : metric)
	    || !opk_index_add(&in->numbers, in->metrics.items[next], next, NULL))
		return noise_nomem(in);
	*out = next;
	return OPK_OK;
}

/* The number of the kernel of a range; a new one has no values yet. */
static int find_kernel(size_t *out, struct reader *r, const char *name,
                       const struct opk_range *range)
{
	TRY(opk_grouping_add(out, &r->in->groups, r->in->ctx, name, range));
	if (*out == r->noise->kernels.count && !opk_list_add(&r->noise->kernels))
		return noise_nomem(r->in);
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
			return noise_nomem(r->in);
	value = &to->values.items[metric];
	/* Several files have no mean of all their launches together. */
	value->mean = value->metric ? (double)NAN : mean;
	value->metric = r->in->metrics.items[metric];
	value->full = r->in->fulls.items[metric];
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
		return noise_nomem(r->in);
	for (size_t i = 0; i < columns; i++)
		(*out)[i] = SIZE_MAX;
	for (size_t i = 0; i < s->column_count; i++)
		if (s->columns[i].at != SIZE_MAX)
			TRY(find_metric(&(*out)[s->columns[i].at], r->in, s->columns[i].name,
			                s->columns[i].metric, s->columns[i].unit));
	return OPK_OK;
}

/* The numbers of the kernels of the summary's groups, in recorded order; free(). */
static int list_kernels(size_t **out, struct reader *r, const struct opk_summary *s)
{
	*out = opk_alloc_array(s->group_count + 1, sizeof **out);
	if (!*out)
		return noise_nomem(r->in);
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
	const struct opk_summary_values values = { .take = take,
		                                   .data = r,
		                                   .by = r->in->options.by };
	struct opk_summary *s = NULL;
	int code;

	options.kernel = r->in->options.kernel;
	code = opk_summary_make(&s, r->in->ctx, r->file, &options, &values);
	if (!code)
		code = r->failed ? noise_nomem(r->in) : add_taken(r, s);
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
	int code = find_metric(&metric, r->in, duration, NULL, "nanoseconds");

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
		return noise_nomem(r->in);
	options.metrics = no_metrics;
	options.allow_incomplete = true;
	options.where = (const char *const *)&condition;
	options.where_count = condition != NULL;
	TRY(opk_timeline_eval(kept, r->in->ctx, r->file, &options, true));
	return read_launches(r, *kept);
}

/* ---- files ------------------------------------------------------------------------------ */

static bool have_shapes(const struct opk_range *ranges, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (ranges[i].grid[0])
			return true;
	return false;
}

static bool is_ran(const struct opk_meta *meta)
{
	return !strcmp(meta->mode, "trace") || meta->profiler == OPK_PROFILER_PM;
}

static bool has_launches(const struct opk_activity *activities, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (activities[i].kind == OPK_ACTIVITY_KERNEL)
			return true;
	return false;
}

static int check_samples(const struct reader *r)
{
	const struct opk_activity *activities;
	size_t count;

	TRY(opk_file_activities(&activities, &count, r->in->ctx, r->file));
	if (has_launches(activities, count))
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
	return meta->profiler == OPK_PROFILER_PM ? check_samples(r) : OPK_OK;
}

/* Other things, or those of another chip, are not further launches of the same. */
static int check_alike(struct reader *r, const struct opk_meta *meta, const char *what)
{
	struct opk_noise_inside *in = r->in;

	if (!in->first) {
		in->first = r->file;
		in->chip = meta->chip;
		in->what = what;
	}
	if (strcmp(meta->chip, in->chip) != 0)
		return opk_fail(in->ctx, OPK_EUSAGE,
		                "%s is of %s, and %s of %s: their launches don't add up",
		                in->first->path, in->chip, r->file->path, meta->chip);
	if (strcmp(what, in->what) != 0)
		return opk_fail(in->ctx, OPK_EUSAGE,
		                "%s has %s, and %s has %s: they don't go together", in->first->path,
		                in->what, r->file->path, what);
	return OPK_OK;
}

static int read_file(struct reader *r)
{
	const struct opk_meta *meta;
	const struct opk_range *ranges;
	size_t count;
	bool ran, kernels;

	TRY(opk_file_meta(&meta, r->in->ctx, r->file));
	TRY(check_file(r, meta));
	TRY(opk_file_ranges(&ranges, &count, r->in->ctx, r->file));
	ran = is_ran(meta);
	kernels = ran || opk_ranges_have_kernels(ranges, count);
	r->in->has_shapes |= have_shapes(ranges, count);
	TRY(check_alike(r, meta,
	                ran       ? "launches on a timeline"
	                : kernels ? "ranges around kernels"
	                          : "ranges of the program"));
	r->noise->of_kernels = kernels;
	r->in->groups.key = r->in->by | (kernels ? OPK_KEY_KERNEL : OPK_KEY_NAME);
	return ran ? read_ran(r) : read_ranges(r);
}

int opk_noise_read(struct opk_noise *noise, struct opk_file *const *files, size_t count)
{
	TRY(opk_twice_check(noise->inside->ctx, files, count, OPK_EUSAGE));
	for (size_t i = 0; i < count; i++) {
		struct reader r = { .noise = noise, .in = noise->inside, .file = files[i] };
		int code = read_file(&r);

		free(r.taken.items);
		TRY(code);
	}
	return OPK_OK;
}
