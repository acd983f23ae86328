/* SPDX-License-Identifier: BSD-2-Clause */
/* What ran and when: kernels by time with values from samples, and how busy the GPUs were. */
#include <math.h>

#include "base/sum.h"
#include "summary/summary_inside.h"
#include "timeline/door.h"

/* The most shares of peaks per kernel. */
enum { MOST_PEAKS = 6 };

/* ---- kernels ---------------------------------------------------------------------------- */

/* Lists the shares of peaks of the columns that have one. */
static size_t list_peaks(const char *names[MOST_PEAKS], const struct opk_summary *s)
{
	size_t count = 0;

	for (size_t i = 0; i < s->column_count && count < MOST_PEAKS; i++) {
		const char *peak = s->peaks.items[i];
		bool known = !*peak;

		for (size_t j = 0; j < count; j++)
			known |= !strcmp(names[j], peak);
		if (!known)
			names[count++] = peak;
	}
	return count;
}

static int evaluate(struct opk_summary *s)
{
	struct opk_eval_options options = OPK_INIT(options);
	struct opk_eval_inside inside = { .by = s->take.by };
	const char *peaks[MOST_PEAKS];

	options.inside = &inside;
	options.metric_count = list_peaks(peaks, s);
	options.metrics = peaks;
	options.allow_incomplete = true;
	options.where = &s->condition;
	options.where_count = s->condition != NULL;
	return opk_timeline_eval(&s->timeline, s->ctx, s->file, &options, false);
}

static int take_row(struct opk_summary *s, const struct opk_row *row)
{
	size_t count = opk_evaluation_column_count(s->timeline);
	double *peaks = opk_alloc_array(count + 1, sizeof *peaks);
	struct opk_summary_kernel *kernel;

	kernel = peaks ? opk_append(&s->kernels, &s->kernel_capacity, &s->kernel_count,
	                            sizeof *kernel)
	               : NULL;
	if (!kernel) {
		free(peaks);
		return summary_nomem(s);
	}
	*kernel = (struct opk_summary_kernel){ .range = row->range, .ran = row->ran };
	memcpy(peaks, opk_evaluation_values(s->timeline), count * sizeof *peaks);
	kernel->peaks = peaks;
	return opk_kernel_names_add(s->kernel_names, s->ctx, row->range, 1);
}

/*
 * Skips copies, and idle time, which the words of the summary have. *any_value: in some row, since
 * what was not collected has none.
 */
static int read_kernels(bool *any_value, struct opk_summary *s)
{
	const struct opk_row *row;
	int code = OPK_OK;

	while (!code && !(code = opk_evaluation_next(&row, s->ctx, s->timeline)) && row) {
		const double *values = opk_evaluation_values(s->timeline);

		for (size_t i = 0; i < opk_evaluation_column_count(s->timeline); i++)
			*any_value |= !isnan(values[i]);
		if (!strcmp(row->ran->kind, "kernel"))
			code = take_row(s, row);
	}
	return code;
}

/* ---- their order ------------------------------------------------------------------------ */

static int compare(const void *a, const void *b)
{
	const struct opk_summary_kernel *x = a, *y = b;

	if (x->key != y->key && !(isnan(x->key) && isnan(y->key)))
		return isnan(y->key) || x->key > y->key ? -1 : 1;
	return strcmp(x->name, y->name);
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(((const struct opk_summary_kernel *)a)->name,
	              ((const struct opk_summary_kernel *)b)->name);
}

/* The share of a peak to sort by; SIZE_MAX: by time. */
static int find_sort(size_t *peak, const struct opk_summary *s)
{
	const char *by = s->options.sort ? s->options.sort : "time";

	for (*peak = 0; *peak < opk_evaluation_column_count(s->timeline); ++*peak)
		if (!strcmp(opk_evaluation_column(s->timeline, *peak), by))
			return OPK_OK;
	*peak = SIZE_MAX;
	if (s->evaluation || !strcmp(by, "time") || !strcmp(by, "launches") || !strcmp(by, "name"))
		return OPK_OK;
	return opk_fail(s->ctx, OPK_EUSAGE, "can't sort by %s: use time, launches or name", by);
}

/* With what `by` keeps apart: "gemm rank 1". */
static int name_kernels(struct opk_summary *s)
{
	unsigned key = 0;

	if (s->take.by)
		TRY(opk_key_parse(&key, s->ctx, s->take.by));
	for (size_t i = 0; i < s->kernel_count; i++) {
		struct opk_summary_kernel *kernel = &s->kernels[i];
		const char *name = opk_kernel_names_get(s->kernel_names, kernel->range);
		char *whole = opk_key_name(key | OPK_KEY_KERNEL, name, "", kernel->range);

		kernel->name = whole;
		if (!opk_strlist_take(&s->kernel_texts, whole))
			return summary_nomem(s);
	}
	return OPK_OK;
}

/* Also of the kernels that are not among these. */
static double time_of_all(const struct opk_summary *s)
{
	uint64_t all = 0;

	for (size_t i = 0; i < s->activity_count; i++)
		if (s->activities[i].kind == OPK_ACTIVITY_KERNEL)
			opk_sum_add(&all, s->activities[i].end_ns - s->activities[i].start_ns);
	return (double)all;
}

static int sort(struct opk_summary *s)
{
	const char *by = s->options.sort ? s->options.sort : "time";
	bool by_name = !strcmp(by, "name"), by_count = !strcmp(by, "launches");
	double all = time_of_all(s);
	size_t peak;
	int code = find_sort(&peak, s);

	if (!code)
		code = name_kernels(s);
	for (size_t i = 0; !code && i < s->kernel_count; i++) {
		struct opk_summary_kernel *kernel = &s->kernels[i];

		kernel->share = 100 * (double)kernel->ran->time_ns / all;
		kernel->key = peak != SIZE_MAX ? kernel->peaks[peak]
		              : by_count       ? (double)kernel->ran->launches
		                               : (double)kernel->ran->time_ns;
	}
	if (!code && s->kernel_count)
		qsort(s->kernels, s->kernel_count, sizeof *s->kernels,
		      by_name ? compare_names : compare);
	return code;
}

/* ---- busy time -------------------------------------------------------------------------- */

static bool is_same_gpu(const struct opk_activity *a, const struct opk_activity *b)
{
	return a->device == b->device && !strcmp(a->host, b->host) && !strcmp(a->gpu, b->gpu);
}

static int by_gpu_and_start(const void *a, const void *b)
{
	const struct opk_activity *x = *(const struct opk_activity *const *)a;
	const struct opk_activity *y = *(const struct opk_activity *const *)b;
	int order = strcmp(x->host, y->host);

	order = order ? order : strcmp(x->gpu, y->gpu);
	order = order ? order : (x->device > y->device) - (x->device < y->device);
	return order ? order : (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/*
 * Sums up for each GPU the time from its first to its last record, its busy time, and how long it
 * waited for the program's calls; these also have a median latency.
 */
static int find_busy(struct opk_summary *s)
{
	opk_autofree const struct opk_activity **order = opk_alloc_array(s->activity_count + 1,
	                                                                 sizeof *order);
	opk_autofree uint64_t *latencies = opk_alloc_array(s->activity_count + 1,
	                                                   sizeof *latencies);
	__attribute__((cleanup(opk_calls_clear))) struct opk_calls calls = { 0 };
	uint64_t end = 0;
	size_t count = 0;

	if (!order || !latencies)
		return summary_nomem(s);
	TRY(opk_calls_find(&calls, s->ctx, s->activities, s->activity_count));
	for (size_t i = 0; i < s->activity_count; i++)
		if (opk_activity_ran(&s->activities[i]))
			order[count++] = &s->activities[i];
	qsort(order, count, sizeof *order, by_gpu_and_start);
	for (size_t i = 0; i < count; i++) {
		uint64_t start = order[i]->start_ns, stop = order[i]->end_ns;
		const struct opk_activity *call = opk_calls_of(&calls, order[i]);

		if (!i || !is_same_gpu(order[i], order[i - 1])) {
			end = start;
			s->gpu_count++;
		}
		if (call) {
			s->host_gap_ns += opk_calls_host_gap(call, order[i], end);
			latencies[s->called++] = start - call->start_ns;
		}
		if (stop > end) {
			s->span_ns += stop - end;
			s->busy_ns += stop - (start > end ? start : end);
			end = stop;
		}
	}
	qsort(latencies, s->called, sizeof *latencies, by_number);
	s->latency_ns = latencies[s->called / 2];
	return OPK_OK;
}

/* Says why kernels have no values from samples. */
static int remark_unknown(struct opk_summary *s)
{
	size_t count = 0;

	for (size_t i = 0; i < s->kernel_count; i++)
		count += s->kernels[i].ran->unknown;
	if (!count || !summary_is_sampled(s))
		return OPK_OK;
	return opk_summary_add_remark(
		s,
		opk_printf(
			"%zu of %zu kernel%s ran for less than a sample, or too few samples "
			"tell %s apart from others: nan; a shorter interval of samples shows more",
			count, s->kernel_count, s->kernel_count == 1 ? "" : "s",
			count == 1 ? "it" : "them"));
}

/* Says where values of short kernels are from. */
static int remark_fitted(struct opk_summary *s)
{
	size_t count = 0;

	for (size_t i = 0; i < s->kernel_count; i++)
		count += s->kernels[i].ran->fitted;
	return count ? opk_summary_add_remark(
		       s, opk_printf("values of %zu of %zu kernels, whose launches take "
	                             "few samples or less, are from all of their "
	                             "launches together",
	                             count, s->kernel_count))
	             : OPK_OK;
}

int opk_summary_read_kernels(struct opk_summary *s)
{
	int code = opk_file_activities(&s->activities, &s->activity_count, s->ctx, s->file);
	bool any = false, any_value = false;

	for (size_t i = 0; !code && !any && i < s->activity_count; i++)
		any = opk_activity_ran(&s->activities[i]);
	if (code || !any || !(summary_is_sampled(s) || summary_is_trace(s)))
		return code;
	code = evaluate(s);
	if (!code)
		code = read_kernels(&any_value, s);
	if (!code)
		code = find_busy(s);
	if (!code && any_value)
		code = remark_unknown(s);
	if (!code)
		code = remark_fitted(s);
	return code ? code : sort(s);
}

void opk_summary_clear_kernels(struct opk_summary *s)
{
	for (size_t i = 0; i < s->kernel_count; i++)
		free((void *)s->kernels[i].peaks);
	free(s->kernels);
	opk_strlist_clear(&s->kernel_texts);
	opk_strlist_clear(&s->group_texts);
	opk_evaluation_free(s->timeline);
}
