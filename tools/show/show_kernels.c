/* SPDX-License-Identifier: BSD-2-Clause */
/* Tables of what ran: kernels by time, with facts from samples; streams, copies, ranges. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/buf.h"
#include "base/index.h"
#include "base/sum.h"
#include "container/door.h"
#include "show/show.h"

/* The least rows of tables without kernels: --top may ask for more. */
enum { OTHERS = 10 };

/* Totals of a stream, a kind of copy or an NVTX range. */
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

/* ---- tables ----------------------------------------------------------------------------- */

/* Adds a column of times; for numbers, its name includes the unit. */
static void add_time(struct app_fields *fields, const struct show *show, const char *name,
                     const char *name_ns, double time)
{
	field_add(fields, app_shows_table(show->app) ? name : name_ns, OPK_CELL_DOUBLE,
	          cell_value(time));
}

static void put_units(const struct show *show, const struct app_fields *fields)
{
	for (size_t i = 0; i < fields->count; i++) {
		const char *name = fields->columns[i].name;

		if (!strcmp(name, "min") || !strcmp(name, "max"))
			opk_out_unit(show->app->out, i, NULL);
		else if (fields->columns[i].type == OPK_CELL_DOUBLE)
			opk_out_unit(show->app->out, i,
			             !strcmp(name, "bytes") ? "bytes"
			             : !strcmp(name, "rate") || !strcmp(name, "bytes_per_second")
			                     ? "bytes/second"
			             : strstr(name, "pct") || !strcmp(name, "share")
			                     ? "percent"
			                     : "nanoseconds");
	}
}

static void fill_kernel(struct app_fields *fields, const struct show *show, size_t at)
{
	const struct opk_summary_kernel *kernel = &show->summary->kernels[at];
	const struct opk_ran *ran = kernel->ran;
	size_t peaks = opk_summary_peak_count(show->summary);
	int32_t device = kernel->range->device;

	fields->count = 0;
	field_text(fields, "kernel", kernel->name);
	if (show->has_devices)
		field_add(fields, "device", OPK_CELL_OPTIONAL,
		          cell_known((uint64_t)device, device >= 0));
	add_time(fields, show, "time", "time_ns", (double)ran->time_ns);
	field_add(fields, "share", OPK_CELL_DOUBLE, cell_value(kernel->share));
	field_number(fields, "launches", ran->launches);
	add_time(fields, show, "mean", "mean_ns", (double)ran->time_ns / (double)ran->launches);
	add_time(fields, show, "min", "min_ns", (double)ran->least_ns);
	add_time(fields, show, "max", "max_ns", (double)ran->most_ns);
	if (peaks)
		field_number(fields, "samples_alone", ran->samples_alone);
	for (size_t i = 0; i < peaks; i++)
		if (opk_summary_has_peak(show->summary, i))
			field_add(fields, opk_summary_peak(show->summary, i), OPK_CELL_DOUBLE,
			          cell_value(kernel->peaks[i]));
}

void show_rest(const char *word, size_t most, size_t count, const double *share)
{
	size_t left = count - most;
	const char *plural = left == 1 ? "" : "s", *them = left == 1 ? "it" : "them";

	if (left && !share)
		app_note("%zu more %s%s: --top %zu shows %s", left, word, plural, count, them);
	else if (left)
		app_note("%zu more %s%s, %.3g%% of the time: --top %zu shows %s", left, word,
		         plural, *share, count, them);
}

static int put_kernels(struct show *show)
{
	struct app_fields row;
	size_t count = show->summary->kernel_count;
	size_t most = show->top < count ? (size_t)show->top : count;
	double rest = 0;

	if (!count)
		return show->kernel ? show_unlike(show) : OPK_OK;
	fill_kernel(&row, show, 0);
	TRY(app_fields_table(show->app, "kernels", &row));
	put_units(show, &row);
	for (size_t i = 0; i < most; i++) {
		fill_kernel(&row, show, i);
		TRY(opk_out_row(show->app->out, row.cells));
	}
	for (size_t i = most; i < count; i++)
		rest += show->summary->kernels[i].share;
	show_rest("kernel", most, count, &rest);
	return OPK_OK;
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

/* Records with the same key are added up. */
static char *key_of(const char *table, const struct opk_activity *a)
{
	return strcmp(table, "streams") ? opk_strdup(a->name)
	                                : opk_printf("%s/%s/%d/%u/%u/%" PRIu64, a->host, a->gpu,
	                                             a->device, a->process, a->context, a->stream);
}

static bool wants(const char *table, const struct opk_activity *a)
{
	return !strcmp(table, "nvtx") ? a->kind == OPK_ACTIVITY_RANGE
	       : !strcmp(table, "copies")
	               ? a->kind == OPK_ACTIVITY_COPY || a->kind == OPK_ACTIVITY_SET
	               : opk_activity_ran(a);
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
	field_add(fields, "bytes", OPK_CELL_DOUBLE, cell_value((double)total->bytes));
	field_add(fields, app_shows_table(show->app) ? "rate" : "bytes_per_second", OPK_CELL_DOUBLE,
	          cell_value(total->time ? (double)total->bytes / (double)total->time * 1e9
	                                 : (double)NAN));
}

static void note_rest(const char *table, size_t rest, size_t count)
{
	const char *one = !strcmp(table, "nvtx")     ? "NVTX range"
	                  : !strcmp(table, "copies") ? "kind of copy"
	                                             : "stream";
	const char *many = !strcmp(table, "nvtx")     ? "NVTX ranges"
	                   : !strcmp(table, "copies") ? "kinds of copies"
	                                              : "streams";

	if (rest)
		app_note("%zu more %s: --top %zu shows %s", rest, rest == 1 ? one : many, count,
		         rest == 1 ? "it" : "them");
}

static int print_totals(struct show *show, const char *table, struct totals *totals)
{
	uint64_t top = show->top > OTHERS ? show->top : OTHERS;
	size_t most = top < totals->count ? (size_t)top : totals->count;
	struct app_fields row;

	if (!totals->count)
		return OPK_OK;
	qsort(totals->items, totals->count, sizeof *totals->items, by_time);
	fill_total(&row, show, table, &totals->items[0]);
	TRY(app_fields_table(show->app, table, &row));
	put_units(show, &row);
	for (size_t i = 0; i < most; i++) {
		fill_total(&row, show, table, &totals->items[i]);
		TRY(opk_out_row(show->app->out, row.cells));
	}
	note_rest(table, totals->count - most, totals->count);
	return OPK_OK;
}

static int put_totals(struct show *show, const char *table)
{
	__attribute__((cleanup(clear_totals))) struct totals totals = { 0 };

	for (size_t i = 0; i < show->activity_count; i++)
		if (wants(table, &show->activities[i]))
			TRY(add_to_total(&totals, show, &show->activities[i],
			                 key_of(table, &show->activities[i])));
	return print_totals(show, table, &totals);
}

/* Kernels were read only as far as they are shown. */
static bool has_timeline(const struct show *show)
{
	return (show->meta->profiler == OPK_PROFILER_PM || !strcmp(show->meta->mode, "trace"))
	       && strcmp(show->meta->kind, "set") != 0;
}

int show_kernels(struct show *show)
{
	TRY(opk_file_activities(&show->activities, &show->activity_count, show->app->ctx,
	                        show->file));
	if (!has_timeline(show))
		return OPK_OK;
	for (size_t i = 0; i < show->activity_count; i++)
		show->has_devices |= show->activities[i].device > 0;
	TRY(put_kernels(show));
	TRY(put_totals(show, "streams"));
	TRY(put_totals(show, "copies"));
	return put_totals(show, "nvtx");
}
