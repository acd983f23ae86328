/* SPDX-License-Identifier: BSD-2-Clause */
/* The groups by time, their values, and what the columns mean: rows for people or programs. */
#include <math.h>
#include <string.h>

#include "base/buf.h"
#include "eval/door.h"
#include "picture/door.h"
#include "show/show.h"

/* Lengths: of a bar, and of a kernel's full name, which ends with template arguments. */
enum { BAR = 8, LONG_NAME = 160 };

static size_t most(const struct show *show)
{
	size_t count = show->summary->group_count;

	return show->top < count ? (size_t)show->top : count;
}

static bool has_kernels(const struct show *show)
{
	return show->summary->kind == OPK_SUMMARY_KERNELS;
}

static bool is_sampled(const struct show *show)
{
	return show->summary->kind == OPK_SUMMARY_DEVICES;
}

static const char *word(const struct show *show)
{
	return is_sampled(show) ? "device" : has_kernels(show) ? "kernel" : "range";
}

/* ---- the groups */

static void add_time(struct app_fields *fields, const struct show *show,
                     const struct opk_summary_group *group)
{
	bool people = app_shows_table(show->app);

	if (!show->summary->time)
		return;
	field_add(fields,
	          show->summary->time == OPK_SUMMARY_CYCLES ? "cycles"
	          : people                                  ? "time"
	                                                    : "time_ns",
	          OPK_CELL_DOUBLE, cell_value(group->time));
	if (show->summary->group_count > 1)
		field_add(fields, "share", OPK_CELL_DOUBLE, cell_value(group->share));
}

/* The device is only shown if there is another than the first. */
static bool has_devices(const struct show *show)
{
	for (size_t i = 0; i < show->summary->group_count && !is_sampled(show); i++)
		if (show->summary->groups[i].of->range.device > 0)
			return true;
	return false;
}

static void fill_group(struct app_fields *fields, const struct show *show,
                       const struct opk_summary_group *group)
{
	int32_t number = group->of->range.device;

	fields->count = 0;
	field_add(fields, word(show), OPK_CELL_STRING, cell_text(group->name));
	if (has_devices(show))
		field_add(fields, "device", OPK_CELL_OPTIONAL,
		          cell_known((uint64_t)number, number >= 0));
	add_time(fields, show, group);
	field_number(fields,
	             has_kernels(show)  ? "launches"
	             : is_sampled(show) ? "samples"
	                                : "ranges",
	             group->of->range.count ? group->of->range.count : 1);
}

static void put_rest(const struct show *show)
{
	const struct opk_summary *summary = show->summary;
	size_t known = 0;
	double share = 0;

	for (size_t i = most(show); i < summary->group_count; i++) {
		known += !isnan(summary->groups[i].share);
		share += isnan(summary->groups[i].share) ? 0 : summary->groups[i].share;
	}
	show_rest(word(show), most(show), summary->group_count,
	          known && has_kernels(show) ? &share : NULL);
}

static int put_groups(struct show *show)
{
	struct opk_out *out = show->app->out;
	struct app_fields row;

	if (!show->summary->group_count)
		return OPK_OK;
	fill_group(&row, show, &show->summary->groups[0]);
	TRY(app_fields_table(show->app, "groups", &row));
	for (size_t i = 0; i < row.count; i++)
		if (row.columns[i].type == OPK_CELL_DOUBLE)
			opk_out_unit(out, i,
			             !strcmp(row.columns[i].name, "share")   ? "percent"
			             : show->summary->time == OPK_SUMMARY_NS ? "nanoseconds"
			                                                     : "cycles");
	for (size_t i = 0; i < most(show); i++) {
		fill_group(&row, show, &show->summary->groups[i]);
		TRY(opk_out_row(out, row.cells));
	}
	return OPK_OK;
}

/* ---- their values */

/* What text shows besides values: columns that are not rows of their own, by their places. */
struct values {
	struct show *show;
	bool *zero;   /* in all groups */
	bool *beside; /* a peak that is shown in the row of its rate */
};

static void values_clear(struct values *values)
{
	free(values->zero);
	free(values->beside);
}

static const struct opk_statistics *statistics(const struct opk_summary_group *group,
                                               const struct opk_summary_column *column)
{
	return &group->of->columns[column->at];
}

static bool is_zero(const struct show *show, const struct opk_summary_column *column)
{
	for (size_t i = 0; i < most(show) && column->at != SIZE_MAX; i++) {
		const struct opk_statistics *of = statistics(&show->summary->groups[i], column);

		if (of->mean != 0 || of->min < 0 || of->max > 0)
			return false;
	}
	return column->at != SIZE_MAX;
}

static int find_values(struct values *values, struct show *show)
{
	size_t count = show->summary->column_count;

	values->show = show;
	values->zero = opk_alloc_array(count + 1, sizeof *values->zero);
	values->beside = opk_alloc_array(count + 1, sizeof *values->beside);
	if (!values->zero || !values->beside)
		return app_nomem(show->app);
	if (!app_shows_table(show->app) || show->all)
		return OPK_OK;
	for (size_t i = 0; i < count; i++)
		values->zero[i] = is_zero(show, &show->summary->columns[i]);
	for (size_t i = 0; i < count; i++) {
		size_t limit = show->summary->columns[i].limit;

		if (limit != SIZE_MAX && !values->zero[i])
			values->beside[limit] = true;
	}
	return OPK_OK;
}

static bool is_left_out(const struct values *values, size_t i)
{
	return values->zero[i] || values->beside[i];
}

static const char *name_of(const struct show *show, const struct opk_summary_column *column)
{
	/* Sets are read by those who write them. */
	bool words = app_shows_table(show->app) && !show->full_names && show->summary->evaluation;

	return words ? column->words : column->name;
}

static double mean_of(const struct opk_summary_group *group, size_t at)
{
	return at == SIZE_MAX ? (double)NAN : group->of->columns[at].mean;
}

/* The value's peak in its own unit; NaN: unknown. */
static double limit_of(const struct show *show, const struct opk_summary_group *group,
                       const struct opk_summary_column *column)
{
	return column->limit == SIZE_MAX ? (double)NAN
	                                 : mean_of(group, show->summary->columns[column->limit].at);
}

/* "73.5% #######" of a peak, which may be for sparse operands; "": no peak. */
static void write_share(char text[OPK_VALUE_TEXT], double share, bool bar, bool sparse)
{
	size_t full = share >= 100 ? BAR : share > 0 ? (size_t)(share / 100 * BAR + 0.5) : 0;

	full = bar ? full : 0;
	*text = '\0';
	if (!isnan(share))
		snprintf(text, OPK_VALUE_TEXT, "%5.1f%%%s%.*s%s", share, full ? " " : "", (int)full,
		         "########", sparse ? " sparse" : "");
}

/* Adds " of 3.35 TB/s" to a share. */
static void add_limit(char text[OPK_VALUE_TEXT], double limit, const char *unit)
{
	char value[OPK_VALUE_TEXT];
	size_t used = strlen(text);

	if (!used || isnan(limit))
		return;
	opk_value_text(value, limit, unit);
	snprintf(text + used, OPK_VALUE_TEXT - used, " of %s", value);
}

static bool has_extremes(const struct show *show)
{
	for (size_t i = 0; i < most(show); i++)
		if (show->summary->groups[i].of->range.count > 1 || is_sampled(show))
			return true;
	return false;
}

/* Fills a cell per column; programs get group and heading in each row, and no bar. */
static void fill_value(struct app_fields *fields, const struct show *show,
                       const struct opk_summary_group *group, size_t i, char text[OPK_VALUE_TEXT])
{
	const struct opk_summary_column *column = &show->summary->columns[i];
	const struct opk_statistics *of = statistics(group, column);
	bool people = app_shows_table(show->app), extremes = has_extremes(show);
	double share = mean_of(group, column->peak), limit = limit_of(show, group, column);

	fields->count = 0;
	if (!people) {
		field_add(fields, word(show), OPK_CELL_STRING, cell_text(group->name));
		field_text(fields, "heading", column->heading ? column->heading->title : NULL);
	}
	field_text(fields, "metric", name_of(show, column));
	/* For programs the name is always the same. */
	field_add(fields, people && extremes ? "mean" : "value", OPK_CELL_DOUBLE,
	          cell_value(of->mean));
	if (extremes) {
		field_add(fields, "min", OPK_CELL_DOUBLE, cell_value(of->min));
		field_add(fields, "max", OPK_CELL_DOUBLE, cell_value(of->max));
	}
	/* In text, a note explains it. */
	if (extremes && !people)
		field_text(fields, "weighted_by", of->weighted_by);
	field_text(fields, "unit", column->unit);
	/* Beside a peak, three columns of values leave no room for bars. */
	write_share(text, isnan(share) && limit > 0 ? 100 * of->mean / limit : share,
	            !extremes || isnan(limit), column->sparse_peak);
	add_limit(text, limit, column->unit);
	if (people)
		field_text(fields, "of peak", text);
	else
		field_add(fields, "of_peak", OPK_CELL_DOUBLE, cell_value(share));
}

static void put_shape(struct opk_buf *out, const char *before, const uint32_t shape[3])
{
	if (shape[0])
		opk_buf_add_printf(out, "%s%ux%ux%u", before, shape[0], shape[1], shape[2]);
}

/* "2. vadd", and its launch. */
static int put_title(struct show *show, size_t i)
{
	const struct opk_summary_group *group = &show->summary->groups[i];
	const struct opk_range *range = &group->of->range;
	opk_autofree char *title = NULL, *prose = NULL;
	struct opk_buf text = { 0 };

	opk_buf_add_printf(&text, "%zu. %s%s", i + 1, is_sampled(show) ? "device " : "",
	                   group->name);
	title = opk_buf_take_text(&text);
	text = (struct opk_buf){ 0 };
	if (strcmp(range->kernel, group->name) != 0)
		opk_buf_add_printf(&text, "%.*s%s", LONG_NAME, range->kernel,
		                   strlen(range->kernel) > LONG_NAME ? "..." : "");
	put_shape(&text, text.size ? ", grid " : "grid ", range->grid);
	put_shape(&text, ", block ", range->block);
	prose = opk_buf_take_text(&text);
	if (!title || !prose)
		return app_nomem(show->app);
	return opk_out_heading(show->app->out, title, prose);
}

/* Prints a heading of the set before its first column; its prose only once. */
static int put_heading(struct show *show, const struct opk_meta_heading *heading, bool first)
{
	opk_autofree char *title = opk_printf("  %s", heading ? heading->title : "Other");

	return title ? opk_out_heading(show->app->out, title, heading && first ? heading->text : "")
	             : app_nomem(show->app);
}

static int put_group(const struct values *values, size_t at)
{
	struct show *show = values->show;
	const struct opk_meta_heading *last = NULL;
	char text[OPK_VALUE_TEXT];
	struct app_fields row;

	TRY(put_title(show, at));
	for (size_t i = 0; i < show->summary->column_count; i++) {
		const struct opk_meta_heading *heading = show->summary->columns[i].heading;

		if (show->summary->columns[i].at == SIZE_MAX || is_left_out(values, i))
			continue;
		if (heading != last)
			TRY(put_heading(show, heading, !at));
		last = heading;
		fill_value(&row, show, &show->summary->groups[at], i, text);
		TRY(opk_out_row(show->app->out, row.cells));
	}
	return OPK_OK;
}

static void put_column(struct show *show, const char *name, size_t i)
{
	if (!strcmp(name, "metric"))
		opk_out_whole(show->app->out, i);
	if (!strcmp(name, "unit"))
		opk_out_unit_in(show->app->out, i);
	if (!strcmp(name, "min") || !strcmp(name, "max"))
		opk_out_optional(show->app->out, i);
}

/* "0 in all: fp64_flop, fp64_rate (--all shows them)" */
static int put_zeros(const struct values *values)
{
	struct show *show = values->show;
	struct opk_buf text = { 0 };
	opk_autofree char *zeros = NULL;
	size_t count = 0;

	for (size_t i = 0; i < show->summary->column_count; i++)
		if (values->zero[i])
			opk_buf_add_printf(&text, "%s%s", count++ ? ", " : "0 in all: ",
			                   name_of(show, &show->summary->columns[i]));
	if (count)
		opk_buf_add_text(&text, " (--all shows them)");
	zeros = opk_buf_take_text(&text);
	if (!zeros)
		return app_nomem(show->app);
	return count ? opk_out_prose(show->app->out, zeros) : OPK_OK;
}

static int put_values(const struct values *values)
{
	struct show *show = values->show;
	char text[OPK_VALUE_TEXT];
	struct app_fields row;

	if (!show->summary->group_count || !show->summary->column_count)
		return OPK_OK;
	fill_value(&row, show, &show->summary->groups[0], 0, text);
	TRY(app_fields_table(show->app, "values", &row));
	for (size_t i = 0; i < row.count; i++)
		put_column(show, row.columns[i].name, i);
	for (size_t i = 0; i < most(show); i++)
		TRY(put_group(values, i));
	return put_zeros(values);
}

/* ---- the meanings of columns */

/* NULL: of all columns. */
static int put_descriptions(struct show *show, const struct values *values)
{
	static const struct opk_column columns[] = { { "metric", OPK_CELL_STRING },
		                                     { "description", OPK_CELL_STRING } };

	TRY(app_table(show->app, "descriptions", columns));
	opk_out_whole(show->app->out, 0);
	for (size_t i = 0; i < show->summary->column_count; i++) {
		const struct opk_summary_column *column = &show->summary->columns[i];
		const char *metric = column->metric;
		bool share = metric && strstr(metric, ".pct_of_peak_sustained");
		const char *described = column->description;
		opk_autofree char *text = opk_printf("%s%s%s", described,
		                                     share && *described ? ", " : "",
		                                     share ? "in percent of the peak" : "");

		if (text && (!*text || (values && is_left_out(values, i))))
			continue;
		TRY(text ? app_row(show->app, cell_text(name_of(show, column)), cell_text(text))
		         : app_nomem(show->app));
	}
	return OPK_OK;
}

int show_descriptions(struct show *show)
{
	return put_descriptions(show, NULL);
}

/* ---- distances from the lines of a roofline */

static void fill_nearness(struct app_fields *fields, const struct show *show,
                          const struct opk_roofline *roofline, size_t i)
{
	const struct opk_summary_group *group = &show->summary->groups[i];

	fields->count = 0;
	field_add(fields, word(show), OPK_CELL_STRING, cell_text(group->name));
	field_text(fields, "highest_share", roofline->kernels[i].highest);
	field_text(fields, "roofline", roofline->kernels[i].text);
}

static int put_roofline(struct show *show)
{
	opk_auto(opk_roofline) struct opk_roofline *roofline = NULL;
	const struct opk_evaluation *evaluation = show->summary->evaluation;
	struct app_fields row;

	if (!opk_evaluation_roofline(evaluation)->roof_count || !most(show))
		return OPK_OK;
	TRY(opk_roofline_new(&roofline, show->app->ctx, show->summary));
	fill_nearness(&row, show, roofline, 0);
	TRY(app_fields_table(show->app, "rooflines", &row));
	for (size_t i = 0; i < most(show); i++) {
		fill_nearness(&row, show, roofline, i);
		TRY(opk_out_row(show->app->out, row.cells));
	}
	return OPK_OK;
}

int show_tables(struct show *show)
{
	__attribute__((cleanup(values_clear))) struct values values = { 0 };

	TRY(find_values(&values, show));
	TRY(put_groups(show));
	TRY(put_roofline(show));
	TRY(put_values(&values));
	if (show->summary->group_count)
		TRY(put_descriptions(show, &values));
	/* For samples, a remark explains it. */
	if (show->summary->group_count || is_sampled(show))
		put_rest(show);
	else if (show->kernel)
		return show_unlike(show);
	else
		app_note("the recording has no ranges: nothing to show");
	return OPK_OK;
}
