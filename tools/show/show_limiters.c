/* SPDX-License-Identifier: BSD-2-Clause */
/* What limits all kernels together, and those in each NVTX range of the program. */
#include <inttypes.h>
#include <math.h>

#include "answers/door.h"
#include "base/buf.h"
#include "base/index.h"
#include "base/utf8.h"
#include "eval/door.h"
#include "show/show.h"

enum { MANY_KERNELS = 10, MOST_LIMITERS = 4, INDENT = 4, LEAST_NAME = 12 };

/* ---- the time of each limiter --------------------------------------------------------------- */

/* The time of all kernels with the same limiter. */
struct limiter_time {
	const struct opk_limiter *limiter;
	double time;
};
struct limiter_times {
	struct limiter_time *items;
	size_t count, capacity;
};

static int by_time(const void *x, const void *y)
{
	const struct limiter_time *a = x, *b = y;

	return (a->time < b->time) - (a->time > b->time);
}

/* False: out of memory. */
static bool add_limiter(struct limiter_times *times, const struct opk_answer *answer)
{
	struct limiter_time *of = times->items, *end = of + times->count;

	if (!answer->limiter.label || isnan(answer->time_ns))
		return true;
	while (of < end && strcmp(of->limiter->label, answer->limiter.label) != 0)
		of++;
	if (of == end && !(of = opk_list_add(times)))
		return false;
	*of = (struct limiter_time){ &answer->limiter, of->time + answer->time_ns };
	return true;
}

static void sort(struct limiter_times *times)
{
	if (times->count)
		qsort(times->items, times->count, sizeof *times->items, by_time);
}

/* "limited by: DRAM 40%, L2 20%, ...": the longest, where there are many kernels. */
void show_limiters(struct opk_buf *out, const struct show *show)
{
	const struct opk_answers *answers = show->answers;
	size_t count = opk_answers_count(answers);
	struct limiter_times times = { 0 };
	struct opk_buf line = { 0 };
	opk_autofree char *text = NULL;

	if (count < MANY_KERNELS || !opk_answers_are_kernels(answers)
	    || !(opk_answers_time(answers) > 0))
		return;
	for (size_t i = 0; i < count; i++)
		out->failed |= !add_limiter(&times, opk_answers_get(answers, i));
	sort(&times);
	for (size_t i = 0; i < times.count && i < MOST_LIMITERS; i++)
		opk_buf_add_printf(&line, "%s%s %.0f%%",
		                   i ? ", " : "limited by: ", times.items[i].limiter->label,
		                   100 * times.items[i].time / opk_answers_time(answers));
	free(times.items);
	text = opk_buf_take_text(&line);
	out->failed |= !text;
	if (text)
		show_paragraph(out, show, 0, text);
}

/* ---- ranges --------------------------------------------------------------------------------- */

/* A range of the program with the kernels in it and in the ranges inside it. */
struct range {
	char *path; /* "": kernels outside all ranges */
	double time;
	uint64_t launches;
	struct limiter_times limiters;
};

struct ranges {
	OPK_LIST(struct range) list;
	struct opk_index numbers; /* by path */
};

static void clear(struct ranges *ranges)
{
	for (size_t i = 0; i < ranges->list.count; i++) {
		free(ranges->list.items[i].path);
		free(ranges->list.items[i].limiters.items);
	}
	free(ranges->list.items);
	opk_index_clear(&ranges->numbers);
}

/* NULL: out of memory. */
static struct range *find_range(struct ranges *ranges, const char *path, size_t length)
{
	opk_autofree char *text = opk_strndup(path, length);
	size_t at = ranges->list.count;
	struct range *new;

	if (!text)
		return NULL;
	if (opk_index_find(&at, &ranges->numbers, text))
		return &ranges->list.items[at];
	new = opk_list_add(&ranges->list);
	if (!new)
		return NULL;
	*new = (struct range){ .path = opk_take(text) };
	return opk_index_add(&ranges->numbers, new->path, at, NULL) ? new : NULL;
}

/* Adds a kernel to the range of its path, and to those around it: "step" is around "step/loss". */
static bool add_kernel(struct ranges *ranges, const struct opk_answer *answer)
{
	const char *path = answer->nvtx, *end = path;

	do {
		struct range *range;

		end += *end == '/' && end > path;
		end += strcspn(end, "/");
		range = find_range(ranges, path, (size_t)(end - path));
		if (!range || !add_limiter(&range->limiters, answer))
			return false;
		range->time += isnan(answer->time_ns) ? 0 : answer->time_ns;
		range->launches += answer->launches;
	} while (*end);
	return true;
}

/* A range that takes as long as the one inside it comes first. */
static int by_range_time(const void *x, const void *y)
{
	const struct range *a = x, *b = y;

	if (a->time != b->time)
		return a->time > b->time ? -1 : 1;
	return strcmp(a->path, b->path);
}

static int find_ranges(struct ranges *ranges, const struct show *show)
{
	for (size_t i = 0; i < opk_answers_count(show->answers); i++)
		if (!add_kernel(ranges, opk_answers_get(show->answers, i)))
			return app_nomem(show->app);
	for (size_t i = 0; i < ranges->list.count; i++)
		sort(&ranges->list.items[i].limiters);
	if (ranges->list.count)
		qsort(ranges->list.items, ranges->list.count, sizeof *ranges->list.items,
		      by_range_time);
	return OPK_OK;
}

static const char *label_of(const struct range *range)
{
	return *range->path ? range->path : opk_no_range;
}

static double percent(double part, double whole)
{
	return whole > 0 ? 100 * part / whole : (double)NAN;
}

static void put_range(struct opk_buf *out, const struct show *show, const struct range *range)
{
	const struct limiter_time *most = range->limiters.items;
	double share = percent(range->time, opk_answers_time(show->answers));
	char time[OPK_ANSWER_TEXT], facts[100];
	opk_autofree char *name = NULL;
	size_t width = app_width(show->app);

	snprintf(facts, sizeof facts, "  %s  %.3g%%  %" PRIu64 " launch%s",
	         opk_answer_time(time, range->time), share, range->launches,
	         range->launches == 1 ? "" : "es");
	width = width ? width : SHOW_COLUMNS;
	width = width > INDENT + strlen(facts) + LEAST_NAME ? width - INDENT - strlen(facts)
	                                                    : LEAST_NAME;
	name = opk_utf8_fit(label_of(range), width);
	out->failed |= !name;
	if (name)
		opk_buf_add_printf(out, "%*s%s%s\n", INDENT, "", name, facts);
	if (range->limiters.count)
		opk_buf_add_printf(out, "%*slimited most by %s, %.0f%% of that time\n", 2 * INDENT,
		                   "", most->limiter->label, percent(most->time, range->time));
}

/* ---- as text and as rows -------------------------------------------------------------------- */

static void fill_row(struct app_fields *fields, const struct show *show, const struct range *range)
{
	const struct limiter_time *most = range->limiters.count ? range->limiters.items : NULL;

	fields->count = 0;
	field_text(fields, "range", label_of(range));
	field_number(fields, "launches", range->launches);
	field_add(fields, "time_ns", OPK_CELL_DOUBLE, cell_value(round(range->time)));
	field_add(fields, "share", OPK_CELL_DOUBLE,
	          cell_value(round(percent(range->time, opk_answers_time(show->answers)))));
	field_text(fields, "limiter", most ? most->limiter->name : "");
	field_add(fields, "limiter_share", OPK_CELL_DOUBLE,
	          cell_value(most ? round(percent(most->time, range->time)) : (double)NAN));
}

static int put_rows(const struct show *show, const struct ranges *ranges, size_t most)
{
	struct app_fields fields = { 0 };

	for (size_t i = 0; i < most; i++) {
		fill_row(&fields, show, &ranges->list.items[i]);
		if (!i)
			TRY(app_fields_table(show->app, "ranges", &fields));
		TRY(opk_out_row(show->app->out, fields.cells));
	}
	return OPK_OK;
}

/* Much time outside all ranges surprises users whose ranges are around all of the work. */
static void note_outside(const struct show *show, const struct ranges *ranges)
{
	static const double much = 20;

	for (size_t i = 0; i < ranges->list.count; i++) {
		const struct range *range = &ranges->list.items[i];
		double share = percent(range->time, opk_answers_time(show->answers));

		if (!*range->path && share > much && ranges->list.count > 1)
			app_note("%.0f%% of the time is in no range: NVTX ranges are open in one "
			         "thread alone, and libraries launch in threads of their own, as "
			         "PyTorch does for the backward pass",
			         share);
	}
}

int show_ranges(struct opk_buf *out, const struct show *show)
{
	__attribute__((cleanup(clear))) struct ranges ranges = { 0 };
	size_t most;

	if (!opk_answers_by_nvtx(show->answers) || !opk_answers_are_kernels(show->answers))
		return OPK_OK;
	TRY(find_ranges(&ranges, show));
	note_outside(show, &ranges);
	most = show->top < ranges.list.count ? (size_t)show->top : ranges.list.count;
	if (!out)
		return put_rows(show, &ranges, most);
	opk_buf_add_text(out, "\nranges, each with the kernels in it\n");
	for (size_t i = 0; i < most; i++)
		put_range(out, show, &ranges.list.items[i]);
	show_rest("range", most, ranges.list.count, NULL);
	return OPK_OK;
}
