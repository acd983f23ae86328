/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds how far means can be trusted, and how many more launches would do. */
#include <math.h>

#include "base/nearest.h"
#include "set/door.h"
#include "summary/summary_inside.h"

/* It is not advised to record more than ten times as many launches, or 30. */
enum { MOST_TIMES = 10, FEW = 30 };

/* ---- what can be trusted ---------------------------------------------------------------- */

/* Where passes take turns, only some launches have the metric. */
static uint64_t find_more(const struct opk_noise_value *value, uint64_t launches)
{
	static const double most = 1e18;
	uint64_t needed = value->precision.needed, count = value->of.count;

	if (needed <= count)
		return 0;
	return (uint64_t)fmin(ceil((double)(needed - count) * (double)launches / (double)count),
	                      most);
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

static bool is_time(const struct opk_noise_value *value)
{
	return !strcmp(value->full, opk_summary_time_metric) || !strcmp(value->full, "duration_ns");
}

static void advise(struct opk_noise_kernel *kernel)
{
	uint64_t times = MOST_TIMES * kernel->launches, most = times > FEW ? times : FEW;

	for (size_t i = 0; i < kernel->values.count; i++) {
		const struct opk_noise_value *value = &kernel->values.items[i];
		bool hopeless = kernel->launches + value->more > most;

		kernel->all_but += !value->trusted && (!value->more || hopeless);
		if (!value->trusted && !hopeless && value->more > kernel->more)
			kernel->more = value->more;
		if (!is_time(value) || !value->precision.needed)
			continue;
		kernel->time_known = true;
		if (value->more > kernel->time_more)
			kernel->time_more = value->more;
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
			return noise_nomem(in);
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

/* ---- for people ------------------------------------------------------------------------- */

enum { RARELY_READ = 2 };

/* The time comes first, then what answers are made from: most of a large set is rarely read. */
static int rank_of(const struct opk_noise *noise, const struct opk_noise_value *value)
{
	if (is_time(value))
		return 0;
	return opk_index_find(NULL, &noise->inside->often_read, value->full) ? 1 : RARELY_READ;
}

/* Values that can't be trusted, and the time, which all others depend on. */
static bool is_of_interest(const struct opk_noise *noise, const struct opk_noise_value *value,
                           int rank)
{
	return !isnan(value->precision.half_width) && (!value->trusted || !rank)
	       && rank_of(noise, value) == rank;
}

size_t opk_noise_choose(const struct opk_noise_value **out, const struct opk_noise *noise,
                        const struct opk_noise_kernel *kernel, size_t most)
{
	size_t counts[RARELY_READ + 1] = { 0 }, chosen = 0;

	for (size_t i = 0; i < kernel->values.count; i++)
		for (int rank = 0; rank <= RARELY_READ; rank++)
			counts[rank] += is_of_interest(noise, &kernel->values.items[i], rank);
	/* Where not all have room, those that are read less often go, unless all are such. */
	if (counts[0] + counts[1] && counts[0] + counts[1] + counts[RARELY_READ] > most)
		counts[RARELY_READ] = 0;
	for (int rank = 0; rank <= RARELY_READ; rank++)
		for (size_t i = 0; counts[rank] && i < kernel->values.count && chosen < most; i++)
			if (is_of_interest(noise, &kernel->values.items[i], rank))
				out[chosen++] = &kernel->values.items[i];
	return chosen;
}

/* Without the set "answers" all metrics are alike. */
static int find_often_read(struct opk_noise_inside *in)
{
	struct opk_set *set = NULL;
	int code = opk_set_find(&set, in->ctx, "answers");
	bool good = true;

	if (code == OPK_ENOMEM)
		return code;
	opk_clear_errors(in->ctx);
	for (size_t i = 0; set && good && i < opk_set_metric_count(set); i++)
		good = opk_index_add(&in->often_read, opk_set_metric(set, i), i, NULL);
	opk_set_free(set);
	return good ? OPK_OK : noise_nomem(in);
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
	TRY(find_often_read(noise->inside));
	TRY(opk_noise_read(noise, files, count));
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
		opk_strlist_clear(&in->fulls);
		opk_strlist_clear(&in->units);
		opk_strlist_clear(&in->known);
		opk_index_clear(&in->numbers);
		opk_index_clear(&in->often_read);
		opk_grouping_clear(&in->groups);
		opk_kernel_names_free(in->names);
	}
	free(in);
	free(noise);
}
