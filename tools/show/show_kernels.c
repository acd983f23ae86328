/* SPDX-License-Identifier: BSD-2-Clause */
/* What ran and when: kernels by time and what samples say of them, streams, copies, ranges. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/buf.h"
#include "base/index.h"
#include "base/sum.h"
#include "show/show.h"

/* Beside the others. */
enum { MOST_SHARES = 6 };

/* A stream, a kind of copy or an NVTX range, all of it. */
struct total {
	const struct opk_activity *first;
	uint64_t count, time, bytes, least, greatest;
	char *key;
};

struct totals {
	struct total *items;
	size_t count, capacity;
	struct opk_index numbers;
};

static union opk_cell cell_double(double number)
{
	return (union opk_cell){ .number = number };
}

static bool is_ran(const struct opk_activity *activity)
{
	return activity->kind != OPK_ACTIVITY_RANGE;
}

/* ---- kernels ---------------------------------------------------------------------------- */

/* What has a share of a peak is shown by it. */
static size_t list_shares(const char *names[MOST_SHARES], const struct show *show)
{
	size_t count = 0;

	for (size_t i = 0; i < show->shown && count < MOST_SHARES; i++) {
		const char *peak = show->peaks.items[i];
		bool known = !*peak;

		for (size_t j = 0; j < count; j++)
			known |= !strcmp(names[j], peak);
		if (!known)
			names[count++] = peak;
	}
	return count;
}

static int evaluate(struct show *show)
{
	struct opk_timeline_options timeline = OPK_INIT(timeline);
	struct opk_eval_options options = OPK_INIT(options);
	const char *shares[MOST_SHARES];

	options.metric_count = list_shares(shares, show);
	options.metrics = shares;
	options.allow_incomplete = true;
	options.filter = show->filter;
	options.progress = app_progress;
	options.progress_data = (void *)"evaluating sample";
	timeline.eval = &options;
	return opk_timeline_eval(&show->timeline, show->app->ctx, show->file, &timeline);
}

static int take_row(struct show *show, const struct opk_row *row)
{
	size_t shares = opk_evaluation_column_count(show->timeline);
	struct show_kernel *kernel;

	/* Copies have a table of their own, and of idle time the run says enough. */
	if (strcmp(row->ran->kind, "kernel") != 0)
		return OPK_OK;
	kernel = opk_append(&show->kernels, &show->kernel_capacity, &show->kernel_count,
	                    sizeof *kernel);

	if (!kernel)
		return app_nomem(show->app);
	*kernel = (struct show_kernel){ .range = row->range, .ran = row->ran };
	kernel->shares = opk_alloc_array(shares + 1, sizeof *kernel->shares);
	if (!kernel->shares)
		return app_nomem(show->app);
	opk_evaluation_compute(kernel->shares, show->timeline, row->values);
	return opk_kernel_names_add(show->kernel_names, show->app->ctx, row->range, 1);
}

static int compare(const void *a, const void *b)
{
	const struct show_kernel *x = a, *y = b;

	if (x->key != y->key && !(isnan(x->key) && isnan(y->key)))
		return isnan(y->key) || x->key > y->key ? -1 : 1;
	return strcmp(x->name, y->name);
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(((const struct show_kernel *)a)->name, ((const struct show_kernel *)b)->name);
}

/* The share to sort by; SIZE_MAX: by time. */
static int find_sort(size_t *share, struct show *show)
{
	const char *by = show->sort ? show->sort : "time";
	size_t count = opk_evaluation_column_count(show->timeline);

	for (*share = 0; *share < count; ++*share)
		if (!strcmp(opk_evaluation_column(show->timeline, *share), by))
			return OPK_OK;
	*share = SIZE_MAX;
	if (show->evaluation || !strcmp(by, "time") || !strcmp(by, "launches")
	    || !strcmp(by, "name"))
		return OPK_OK;
	return app_error(show->app, OPK_EUSAGE, "--sort %s: use time, launches or name", by);
}

static int sort(struct show *show)
{
	bool by_name = show->sort && !strcmp(show->sort, "name");
	bool by_count = show->sort && !strcmp(show->sort, "launches");
	size_t share;
	int code = find_sort(&share, show);

	for (size_t i = 0; i < show->kernel_count; i++) {
		struct show_kernel *kernel = &show->kernels[i];

		kernel->name = opk_kernel_names_get(show->kernel_names, kernel->range);
		kernel->key = share != SIZE_MAX ? kernel->shares[share]
		              : by_count        ? (double)kernel->ran->launches
		                                : (double)kernel->ran->time_ns;
	}
	if (!code && show->kernel_count)
		qsort(show->kernels, show->kernel_count, sizeof *show->kernels,
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

/* From the first record to the last one of each GPU, and how long anything ran in it. */
static int find_busy(struct show *show)
{
	opk_autofree const struct opk_activity **order = opk_alloc_array(show->activity_count + 1,
	                                                                 sizeof *order);
	uint64_t end = 0;
	size_t count = 0;

	if (!order)
		return app_nomem(show->app);
	for (size_t i = 0; i < show->activity_count; i++)
		if (is_ran(&show->activities[i]))
			order[count++] = &show->activities[i];
	qsort(order, count, sizeof *order, by_gpu_and_start);
	for (size_t i = 0; i < count; i++) {
		uint64_t start = order[i]->start_ns, stop = order[i]->end_ns;
		bool first = !i || !is_same_gpu(order[i], order[i - 1]);

		if (first)
			end = start;
		if (stop > end) {
			show->span_ns += stop - end;
			show->busy_ns += stop - (start > end ? start : end);
			end = stop;
		}
	}
	return OPK_OK;
}

int show_kernels_read(struct show *show)
{
	const struct opk_row *row;
	int code = opk_file_activities(&show->activities, &show->activity_count, show->app->ctx,
	                               show->file);
	bool any = false;

	for (size_t i = 0; !code && !any && i < show->activity_count; i++)
		any = is_ran(&show->activities[i]);
	if (code || !any || !(show_is_sampled(show) || show_is_trace(show)))
		return code;
	code = evaluate(show);
	while (!code && !(code = opk_evaluation_next(&row, show->app->ctx, show->timeline)) && row)
		code = take_row(show, row);
	app_progress_end();
	if (!code)
		code = find_busy(show);
	return code ? code : sort(show);
}

void show_kernels_clear(struct show *show)
{
	for (size_t i = 0; i < show->kernel_count; i++)
		free(show->kernels[i].shares);
	free(show->kernels);
	opk_evaluation_free(show->timeline);
}

/* ---- tables ----------------------------------------------------------------------------- */

/* A table's column of times, whose name has the unit where numbers are in it. */
static void add_time(struct app_fields *fields, const struct show *show, const char *name,
                     const char *name_ns, double time)
{
	field_add(fields, app_shows_table(show->app) ? name : name_ns, OPK_CELL_DOUBLE,
	          cell_double(time));
}

static void put_units(const struct show *show, const struct app_fields *fields)
{
	for (size_t i = 0; i < fields->count; i++) {
		const char *name = fields->columns[i].name;

		if (fields->columns[i].type == OPK_CELL_DOUBLE)
			opk_out_unit(show->app->out, i,
			             !strcmp(name, "bytes") ? "bytes"
			             : !strcmp(name, "rate") || !strcmp(name, "bytes_per_second")
			                     ? "bytes/second"
			             : strstr(name, "pct") || !strcmp(name, "share")
			                     ? "percent"
			                     : "nanoseconds");
	}
}

/* What no kernel has is not shown: PM sampling may lack the peak. */
static bool has_share(const struct show *show, size_t share)
{
	for (size_t i = 0; i < show->kernel_count; i++)
		if (!isnan(show->kernels[i].shares[share]))
			return true;
	return false;
}

static void fill_kernel(struct app_fields *fields, const struct show *show,
                        const struct show_kernel *kernel, double all)
{
	const struct opk_ran *ran = kernel->ran;
	int32_t device = kernel->range->device;

	fields->count = 0;
	field_text(fields, "kernel", kernel->name);
	if (show->has_devices)
		field_add(fields, "device", OPK_CELL_OPTIONAL,
		          cell_known((uint64_t)device, device >= 0));
	add_time(fields, show, "time", "time_ns", (double)ran->time_ns);
	field_add(fields, "share", OPK_CELL_DOUBLE, cell_double(100 * (double)ran->time_ns / all));
	field_number(fields, "launches", ran->launches);
	add_time(fields, show, "mean", "mean_ns", (double)kernel->range->duration_ns);
	add_time(fields, show, "min", "min_ns", (double)ran->least_ns);
	add_time(fields, show, "max", "max_ns", (double)ran->most_ns);
	if (opk_evaluation_column_count(show->timeline))
		field_number(fields, "samples_alone", ran->samples_alone);
	for (size_t i = 0; i < opk_evaluation_column_count(show->timeline); i++)
		if (has_share(show, i))
			field_add(fields, opk_evaluation_column(show->timeline, i), OPK_CELL_DOUBLE,
			          cell_double(kernel->shares[i]));
}

static int put_kernels(struct show *show)
{
	struct app_fields *fields = &show->kernel_fields, row;
	size_t most = show->top < show->kernel_count ? (size_t)show->top : show->kernel_count;
	double all = 0, rest = 0;
	int code;

	if (!show->kernel_count)
		return OPK_OK;
	for (size_t i = 0; i < show->kernel_count; i++) {
		all += (double)show->kernels[i].ran->time_ns;
		rest += i < most ? 0 : (double)show->kernels[i].ran->time_ns;
	}
	fill_kernel(fields, show, &show->kernels[0], all);
	code = app_fields_table(show->app, "kernels", fields);
	put_units(show, fields);
	for (size_t i = 0; !code && i < most; i++) {
		fill_kernel(&row, show, &show->kernels[i], all);
		code = opk_out_row(show->app->out, row.cells);
	}
	if (!code && most < show->kernel_count)
		app_note("%zu more kernel%s, %.3g%% of the time: --top %zu shows %s",
		         show->kernel_count - most, show->kernel_count - most == 1 ? "" : "s",
		         100 * rest / all, show->kernel_count,
		         show->kernel_count - most == 1 ? "it" : "them");
	return code;
}

/* ---- totals of records */

static int add_to_total(struct totals *totals, struct show *show,
                        const struct opk_activity *activity, char *key)
{
	uint64_t time = activity->end_ns - activity->start_ns;
	struct total *total;
	size_t number;

	if (!key)
		return app_nomem(show->app);
	if (!opk_index_find(&number, &totals->numbers, key)) {
		total = opk_append(&totals->items, &totals->capacity, &totals->count,
		                   sizeof *total);
		if (!total || !opk_index_add(&totals->numbers, key, totals->count - 1, NULL)) {
			free(key);
			return app_nomem(show->app);
		}
		*total = (struct total){ .first = activity, .key = key, .least = UINT64_MAX };
	} else {
		total = &totals->items[number];
		free(key);
	}
	total->count++;
	opk_sum_add(&total->time, time);
	opk_sum_add(&total->bytes, activity->bytes);
	total->least = time < total->least ? time : total->least;
	total->greatest = time > total->greatest ? time : total->greatest;
	return OPK_OK;
}

static void clear_totals(struct totals *totals)
{
	for (size_t i = 0; i < totals->count; i++)
		free(totals->items[i].key);
	free(totals->items);
	opk_index_clear(&totals->numbers);
}

static int by_time(const void *a, const void *b)
{
	const struct total *x = a, *y = b;

	if (x->time != y->time)
		return x->time > y->time ? -1 : 1;
	return (x->first > y->first) - (x->first < y->first);
}

/* What the records of a table have in common. */
static char *stream_of(const struct opk_activity *a)
{
	return is_ran(a) ? opk_printf("%s/%s/%d/%u/%u/%" PRIu64, a->host, a->gpu, a->device,
	                              a->process, a->context, a->stream)
	                 : NULL;
}

static char *copy_of(const struct opk_activity *a)
{
	return a->kind == OPK_ACTIVITY_COPY || a->kind == OPK_ACTIVITY_SET ? opk_strdup(a->name)
	                                                                   : NULL;
}

static char *range_of(const struct opk_activity *a)
{
	return a->kind == OPK_ACTIVITY_RANGE ? opk_strdup(a->name) : NULL;
}

static bool wants(const char *table, const struct opk_activity *a)
{
	return !strcmp(table, "nvtx") ? a->kind == OPK_ACTIVITY_RANGE
	       : !strcmp(table, "copies")
	               ? a->kind == OPK_ACTIVITY_COPY || a->kind == OPK_ACTIVITY_SET
	               : is_ran(a);
}

static void fill_total(struct app_fields *fields, const struct show *show, const char *table,
                       const struct total *total)
{
	const struct opk_activity *of = total->first;
	bool streams = !strcmp(table, "streams"), copies = !strcmp(table, "copies");

	fields->count = 0;
	if (streams)
		field_number(fields, "stream", of->stream);
	else
		field_text(fields, copies ? "copy" : "range", of->name);
	if (streams && show->has_devices)
		field_add(fields, "device", OPK_CELL_OPTIONAL,
		          cell_known((uint64_t)of->device, of->device >= 0));
	add_time(fields, show, "time", "time_ns", (double)total->time);
	field_number(fields, streams ? "records" : "count", total->count);
	if (!streams)
		add_time(fields, show, "mean", "mean_ns",
		         (double)total->time / (double)total->count);
	if (!streams && !copies) {
		add_time(fields, show, "min", "min_ns", (double)total->least);
		add_time(fields, show, "max", "max_ns", (double)total->greatest);
	}
	if (!copies)
		return;
	field_add(fields, "bytes", OPK_CELL_DOUBLE, cell_double((double)total->bytes));
	field_add(fields, app_shows_table(show->app) ? "rate" : "bytes_per_second", OPK_CELL_DOUBLE,
	          cell_double(total->time ? (double)total->bytes / (double)total->time * 1e9
	                                  : (double)NAN));
}

static int print_totals(struct show *show, const char *table, struct totals *totals,
                        struct app_fields *fields)
{
	size_t most = show->top < totals->count ? (size_t)show->top : totals->count;
	struct app_fields row;
	int code;

	if (!totals->count)
		return OPK_OK;
	qsort(totals->items, totals->count, sizeof *totals->items, by_time);
	fill_total(fields, show, table, &totals->items[0]);
	code = app_fields_table(show->app, table, fields);
	put_units(show, fields);
	for (size_t i = 0; !code && i < most; i++) {
		fill_total(&row, show, table, &totals->items[i]);
		code = opk_out_row(show->app->out, row.cells);
	}
	return code;
}

static int put_totals(struct show *show, const char *table,
                      char *(*key_of)(const struct opk_activity *a), struct app_fields *fields)
{
	struct totals totals = { 0 };
	int code = OPK_OK;

	for (size_t i = 0; !code && i < show->activity_count; i++)
		if (wants(table, &show->activities[i]))
			code = add_to_total(&totals, show, &show->activities[i],
			                    key_of(&show->activities[i]));
	if (!code)
		code = print_totals(show, table, &totals, fields);
	clear_totals(&totals);
	return code;
}

int show_kernels(struct show *show)
{
	int code;

	if (!show->timeline)
		return OPK_OK;
	for (size_t i = 0; i < show->activity_count; i++)
		show->has_devices |= show->activities[i].device > 0;
	code = put_kernels(show);
	if (!code)
		code = put_totals(show, "streams", stream_of, &show->stream_fields);
	if (!code)
		code = put_totals(show, "copies", copy_of, &show->copy_fields);
	return code ? code : put_totals(show, "nvtx", range_of, &show->nvtx_fields);
}
