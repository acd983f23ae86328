/* SPDX-License-Identifier: BSD-2-Clause */
/* A comparison as tables: other differences, rows, their values, rows of one side, rules. */
#include <math.h>
#include <string.h>

#include "base/buf.h"
#include "diff/diff.h"
#include "eval/door.h"

/* If a set has more metrics, people see only those that changed. */
enum { MOST_SHOWN = 30, TEXT = 24 };

/* ---- names of rows ---------------------------------------------------------------------- */

static const char *kernel_of(const struct diff *diff, const struct opk_diff_row *row)
{
	return *row->range.kernel ? opk_kernel_names_get(diff->names, &row->range) : "";
}

static void find_facts(struct diff *diff, const struct opk_diff_row *row)
{
	diff->facts[OPK_FACT_KERNEL] |= *row->range.kernel != '\0';
	diff->facts[OPK_FACT_GRID] |= row->range.grid[0] > 0;
	diff->facts[OPK_FACT_BLOCK] |= row->range.block[0] > 0;
	diff->facts[OPK_FACT_SHARED_BYTES] |= row->range.shared_bytes > 0;
	diff->facts[OPK_FACT_NAME] |= !*row->range.kernel && *row->name;
}

static void choose_facts(struct diff *diff)
{
	static const struct {
		const char *word;
		enum opk_fact fact;
	} words[] = {
		{ "name", OPK_FACT_NAME }, { "nvtx", OPK_FACT_NVTX }, { "device", OPK_FACT_DEVICE },
		{ "host", OPK_FACT_HOST }, { "rank", OPK_FACT_RANK },
	};

	if (diff->code) {
		diff->facts[OPK_FACT_FUNCTION] = true;
		diff->facts[OPK_FACT_SOURCE] = strcmp(diff->by, "function") != 0;
		diff->facts[OPK_FACT_LINE] = diff->facts[OPK_FACT_SOURCE];
		diff->facts[OPK_FACT_OFFSET] = !strcmp(diff->by, "instruction");
		return;
	}

	for (size_t i = 0; i < COUNT(words); i++)
		diff->facts[words[i].fact] = strstr(diff->by, words[i].word) != NULL;
	for (size_t i = 0; i < diff->found->row_count; i++)
		find_facts(diff, &diff->found->rows[i]);
	for (size_t i = 0; i < diff->found->unmatched_count; i++)
		find_facts(diff, &diff->found->unmatched[i]);
}

/* Buffers for the texts of a row's facts. */
struct fact_texts {
	struct opk_fact_text of[OPK_FACT_COUNT];
};

static void add_facts(struct app_fields *fields, const struct diff *diff,
                      const struct opk_diff_row *diff_row, struct fact_texts *texts)
{
	struct opk_row row = { .name = diff_row->name,
		               .range = &diff_row->range,
		               .code = diff_row->code };
	enum opk_profiler profiler = diff->code ? OPK_PROFILER_SASS : OPK_PROFILER_RANGE;

	for (enum opk_fact fact = 0; fact < OPK_FACT_COUNT; fact++) {
		const struct opk_column *column = opk_fact_column(fact, profiler);

		if (!diff->facts[fact])
			continue;
		if (fact == OPK_FACT_KERNEL || fact == OPK_FACT_FUNCTION)
			field_text(fields, column->name, kernel_of(diff, diff_row));
		else
			field_add(fields, column->name, column->type,
			          opk_fact_get(&texts->of[fact], fact, &row));
	}
}

/* ---- numbers ---------------------------------------------------------------------------- */

static void write_change(char out[TEXT], double change)
{
	if (isnan(change))
		strcpy(out, "nan");
	else if (isinf(change))
		strcpy(out, change > 0 ? "from 0" : "from 0 down");
	else if (fabs(change) < 999.5)
		snprintf(out, TEXT, change == 0 ? "%.3g%%" : "%+.3g%%", change);
	else
		snprintf(out, TEXT, fabs(change) < 1e15 ? "%+.0f%%" : "%+.3g%%", change);
}

/* The part of a change that the SM's clock explains; "": unknown. */
static void write_clock(char out[TEXT], const struct opk_diff_value *value)
{
	*out = '\0';
	if (!isnan(value->clock))
		write_change(out, value->clock);
}

/* Half the distance between the quartiles, as a share of the median. */
static void write_spread(char out[TEXT], const struct opk_diff_side *side)
{
	double spread = 50 * (side->high - side->low) / fabs(side->value);

	*out = '\0';
	if (isfinite(spread))
		snprintf(out, TEXT,
		         spread > 0 && spread < 0.01 ? "<0.01%%"
		         : spread < 99.5             ? "%.2g%%"
		                                     : "%.0f%%",
		         spread);
}

/* ---- tables without rows: for programs, with columns ------------------------------------ */

static const struct opk_diff_row *first_row(const struct diff *diff)
{
	static const struct opk_diff_row none = {
		.name = "",
		.range = { .name = "", .kernel = "", .nvtx = "" },
	};

	return diff->found->row_count         ? &diff->found->rows[0]
	       : diff->found->unmatched_count ? &diff->found->unmatched[0]
	                                      : &none;
}

/* NULL: no such column. */
static const struct opk_diff_value *value_of(const struct opk_diff_row *row, size_t column)
{
	static const struct opk_diff_value none = { .change = 0 };

	if (column == SIZE_MAX)
		return NULL;
	return row->values ? &row->values[column] : &none;
}

static bool is_left_out(const struct diff *diff, size_t count)
{
	return !count && app_shows_table(diff->app);
}

/* ---- rows ------------------------------------------------------------------------------- */

static size_t time_column(const struct diff *diff)
{
	for (size_t i = 0; i < diff->found->column_count; i++)
		if (diff->found->columns[i].is_time)
			return i;
	return SIZE_MAX;
}

static const char *unit_name(const char *unit)
{
	return !strcmp(unit, "ns") ? "nanoseconds" : unit;
}

struct row_texts {
	struct fact_texts facts;
	char change[TEXT], clock[TEXT], before[TEXT], after[TEXT], of_function[TEXT];
};

/* Names of a column for people (text) and for programs. */
static const char *const change_names[] = { "change", "change_pct" };
static const char *const clock_names[] = { "clock", "clock_pct" };
static const char *const function_names[] = { "whole function", "function_change_pct" };

static void add_percent(struct app_fields *fields, const struct diff *diff,
                        const char *const names[2], const char *text, double percent)
{
	if (app_shows_table(diff->app))
		field_text(fields, names[0], text);
	else
		field_add(fields, names[1], OPK_CELL_DOUBLE, cell_value(percent));
}

/* Whether rows are parts of functions. */
static bool has_parts(const struct diff *diff)
{
	return diff->code && diff->facts[OPK_FACT_LINE];
}

static void add_before_line(struct app_fields *fields, const char *name,
                            const struct opk_diff_row *row)
{
	field_add(fields, name, OPK_CELL_OPTIONAL,
	          cell_known(row->before_line, row->before_line > 0));
}

/* What is known of the row's whole function. */
static void add_function(struct app_fields *fields, const struct diff *diff,
                         const struct opk_diff_row *row, struct row_texts *texts)
{
	bool people = app_shows_table(diff->app);
	const struct opk_diff_value *of = row->of_function;
	double change = of ? of->change : (double)NAN;

	write_change(texts->of_function, change);
	add_percent(fields, diff, function_names, texts->of_function, change);
	field_text(fields, people ? "its verdict" : "function_verdict",
	           of ? opk_verdict_name(of->verdict) : "");
	if (people)
		field_text(fields, "rewritten", row->rewritten ? "yes" : "");
	else
		field_flag(fields, "rewritten", row->rewritten);
}

static void fill_row(struct app_fields *fields, const struct diff *diff,
                     const struct opk_diff_row *row, size_t time, struct row_texts *texts)
{
	const struct opk_diff_value *value = value_of(row, time);
	bool people = app_shows_table(diff->app);

	fields->count = 0;
	add_facts(fields, diff, row, &texts->facts);
	if (has_parts(diff) && people)
		add_before_line(fields, "line before", row);
	if (!diff->code) {
		field_number(fields, "before_launches", row->before_launches);
		field_number(fields, "after_launches", row->after_launches);
	}
	if (!value)
		return;
	field_add(fields, "before", OPK_CELL_DOUBLE, cell_value(value->before.value));
	field_add(fields, "after", OPK_CELL_DOUBLE, cell_value(value->after.value));
	write_change(texts->change, value->change);
	write_clock(texts->clock, value);
	add_percent(fields, diff, change_names, texts->change, value->change);
	field_text(fields, "verdict", opk_verdict_name(value->verdict));
	field_add(fields, "time_change", OPK_CELL_DOUBLE, cell_value(row->time_change));
	/* Samples do not depend on the clock. */
	if (!diff->code || !people)
		add_percent(fields, diff, clock_names, texts->clock, value->clock);
	if (has_parts(diff) && !people)
		add_before_line(fields, "before_line", row);
	if (has_parts(diff))
		add_function(fields, diff, row, texts);
}

static int put_row_table(struct diff *diff, const struct app_fields *fields, const char *name,
                         size_t time)
{
	TRY(app_fields_table(diff->app, name, fields));
	for (size_t i = 0; i < fields->count; i++)
		if (!strcmp(fields->columns[i].name, "clock"))
			opk_out_optional(diff->app->out, i);
		else if (!strcmp(fields->columns[i].name, "after"))
			opk_out_unit(diff->app->out, i, NULL);
		else if (fields->columns[i].type == OPK_CELL_DOUBLE
		         && !strstr(fields->columns[i].name, "_pct") && time != SIZE_MAX)
			opk_out_unit(diff->app->out, i, unit_name(diff->found->columns[time].unit));
	return OPK_OK;
}

static int put_rows(struct diff *diff)
{
	size_t time = time_column(diff), count = diff->found->row_count;
	size_t shown = diff->code && diff->top < count ? diff->top : count;
	struct row_texts texts;
	struct app_fields row;

	if (is_left_out(diff, count))
		return OPK_OK;
	fill_row(&row, diff, first_row(diff), time, &texts);
	TRY(put_row_table(diff, &row, "rows", time));
	for (size_t i = 0; i < shown; i++) {
		fill_row(&row, diff, &diff->found->rows[i], time, &texts);
		TRY(opk_out_row(diff->app->out, row.cells));
	}
	return OPK_OK;
}

static void fill_unmatched(struct app_fields *fields, const struct diff *diff,
                           const struct opk_diff_row *row, size_t time, struct fact_texts *texts)
{
	bool before = row->before_launches > 0;
	const struct opk_diff_value *value = value_of(row, time);

	fields->count = 0;
	field_text(fields, "side", before ? "before" : "after");
	add_facts(fields, diff, row, texts);
	if (!diff->code)
		field_number(fields, "launches",
		             before ? row->before_launches : row->after_launches);
	if (value)
		field_add(fields, "time", OPK_CELL_DOUBLE,
		          cell_value(before ? value->before.value : value->after.value));
}

static int put_unmatched(struct diff *diff)
{
	size_t time = time_column(diff), count = diff->found->unmatched_count;
	struct fact_texts texts;
	struct app_fields row;

	if (is_left_out(diff, count))
		return OPK_OK;
	fill_unmatched(&row, diff, count ? &diff->found->unmatched[0] : first_row(diff), time,
	               &texts);
	TRY(put_row_table(diff, &row, "unmatched", time));
	for (size_t i = 0; i < count; i++) {
		fill_unmatched(&row, diff, &diff->found->unmatched[i], time, &texts);
		TRY(opk_out_row(diff->app->out, row.cells));
	}
	return OPK_OK;
}

static void put_column(struct opk_out *out, const char *name, size_t i)
{
	if (!strcmp(name, "unit"))
		opk_out_unit_in(out, i);
	if (!strcmp(name, "metric"))
		opk_out_whole(out, i);
	if (!strncmp(name, "spread ", 7) || !strcmp(name, "clock"))
		opk_out_optional(out, i);
}

/* Prints a table whose rows have the units of their values. */
static int put_unit_table(struct diff *diff, const struct app_fields *fields, const char *name)
{
	TRY(app_fields_table(diff->app, name, fields));
	for (size_t i = 0; i < fields->count; i++)
		put_column(diff->app->out, fields->columns[i].name, i);
	return OPK_OK;
}

/* ---- values ----------------------------------------------------------------------------- */

static void add_for_programs(struct app_fields *fields, const struct opk_diff_value *value,
                             const char *unit)
{
	field_text(fields, "unit", unit);
	field_add(fields, "before", OPK_CELL_DOUBLE, cell_value(value->before.value));
	field_add(fields, "after", OPK_CELL_DOUBLE, cell_value(value->after.value));
	field_add(fields, "change_pct", OPK_CELL_DOUBLE, cell_value(value->change));
	field_text(fields, "verdict", opk_verdict_name(value->verdict));
	field_add(fields, "p", OPK_CELL_DOUBLE, cell_value(value->p));
	field_number(fields, "before_count", value->before.count);
	field_number(fields, "after_count", value->after.count);
	field_add(fields, "before_low", OPK_CELL_DOUBLE, cell_value(value->before.low));
	field_add(fields, "before_high", OPK_CELL_DOUBLE, cell_value(value->before.high));
	field_add(fields, "after_low", OPK_CELL_DOUBLE, cell_value(value->after.low));
	field_add(fields, "after_high", OPK_CELL_DOUBLE, cell_value(value->after.high));
	field_add(fields, "clock_pct", OPK_CELL_DOUBLE, cell_value(value->clock));
}

static void add_for_people(struct app_fields *fields, const struct opk_diff_value *value,
                           const char *unit, struct row_texts *texts)
{
	write_change(texts->change, value->change);
	write_spread(texts->before, &value->before);
	write_spread(texts->after, &value->after);
	write_clock(texts->clock, value);
	field_text(fields, "change", texts->change);
	field_add(fields, "before", OPK_CELL_DOUBLE, cell_value(value->before.value));
	field_add(fields, "after", OPK_CELL_DOUBLE, cell_value(value->after.value));
	field_text(fields, "unit", unit);
	field_text(fields, "verdict", opk_verdict_name(value->verdict));
	field_text(fields, "spread before", texts->before);
	field_text(fields, "spread after", texts->after);
	field_text(fields, "clock", texts->clock);
}

static void fill_value(struct app_fields *fields, const struct diff *diff,
                       const struct opk_diff_row *row, size_t column, struct row_texts *texts)
{
	const struct opk_diff_value *value = value_of(row, column);
	struct opk_diff_column of = diff->found->columns[column];
	bool people = app_shows_table(diff->app);

	fields->count = 0;
	if (!people)
		add_facts(fields, diff, row, &texts->facts);
	field_text(fields, "metric", of.name);
	if (people)
		add_for_people(fields, value, unit_name(of.unit), texts);
	else
		add_for_programs(fields, value, of.unit);
	if (!people && has_parts(diff))
		add_before_line(fields, "before_line", row);
}

/* Whether one side lacks the column in all rows. */
static bool is_one_sided(const struct diff *diff, size_t column)
{
	for (size_t i = 0; i < diff->found->row_count; i++)
		if (diff->found->rows[i].values[column].verdict != OPK_VERDICT_MISSING)
			return false;
	return true;
}

static bool is_shown(const struct opk_diff_value *value, bool many)
{
	return !many || (value->verdict != OPK_VERDICT_SAME && value->verdict != OPK_VERDICT_NOISE);
}

/* Chooses columns that have rows: people don't need one for each metric that one side lacks. */
static bool *choose_columns(const struct diff *diff, size_t *one_sided)
{
	size_t count = diff->found->column_count;
	bool *chosen = opk_alloc_array(count + 1, sizeof *chosen);
	bool all = diff->all || !app_shows_table(diff->app);

	for (size_t i = 0; chosen && i < count; i++) {
		bool lacking = !all && is_one_sided(diff, i);

		chosen[i] = diff->found->columns[i].shown && !lacking;
		*one_sided += diff->found->columns[i].shown && lacking;
	}
	return chosen;
}

/* "2. scale 64x64x1 32x32x1" */
static int put_title(struct diff *diff, size_t i)
{
	const struct opk_diff_row *row = &diff->found->rows[i];
	opk_autofree char *name = opk_diff_row_name(diff->of, row, diff->names);
	opk_autofree char *title = name ? opk_printf("%zu. %s", i + 1, name) : NULL;

	return title ? opk_out_heading(diff->app->out, title, "") : app_nomem(diff->app);
}

/* Prints a heading of the set before its first column. */
static int put_heading(struct diff *diff, const struct opk_diff_column *column, const char **last)
{
	const char *heading = column->heading ? column->heading : *last ? "Other" : NULL;
	opk_autofree char *title = NULL;

	if (!heading || (*last && !strcmp(heading, *last)))
		return OPK_OK;
	*last = heading;
	title = opk_printf("  %s", heading);
	return title ? opk_out_heading(diff->app->out, title, "") : app_nomem(diff->app);
}

static int put_values_of(struct diff *diff, size_t i, const bool *chosen, bool many)
{
	const struct opk_diff_row *row = &diff->found->rows[i];
	const char *heading = NULL;
	struct row_texts texts;
	struct app_fields fields;

	TRY(put_title(diff, i));
	for (size_t j = 0; j < diff->found->column_count; j++) {
		if (!chosen[j])
			continue;
		if (!is_shown(&row->values[j], many)) {
			diff->left_out++;
			continue;
		}
		TRY(put_heading(diff, &diff->found->columns[j], &heading));
		fill_value(&fields, diff, row, j, &texts);
		TRY(opk_out_row(diff->app->out, fields.cells));
	}
	return OPK_OK;
}

static int put_values(struct diff *diff)
{
	size_t count = diff->found->row_count, columns = 0;
	opk_autofree bool *chosen = choose_columns(diff, &diff->one_sided);
	struct row_texts texts;
	struct app_fields row;
	bool many;

	if (!chosen)
		return app_nomem(diff->app);
	if (is_left_out(diff, count))
		return OPK_OK;
	for (size_t i = 0; i < diff->found->column_count; i++)
		columns += chosen[i];
	many = columns > MOST_SHOWN && !diff->all && app_shows_table(diff->app);
	fill_value(&row, diff, first_row(diff), 0, &texts);
	TRY(put_unit_table(diff, &row, "values"));
	for (size_t i = 0; i < count && i < diff->top; i++)
		TRY(put_values_of(diff, i, chosen, many));
	return OPK_OK;
}

/* ---- the others ------------------------------------------------------------------------- */

/* Prints `most` columns of a list of the library. */
static int put_list(struct diff *diff, const char *name, enum opk_diff_list which, size_t most)
{
	struct opk_listing *rows = NULL;

	TRY(opk_diff_list(&rows, diff->app->ctx, diff->of, which));
	return app_list_columns(diff->app, name, rows, most);
}

static int put_about(struct diff *diff)
{
	struct opk_listing *about = NULL;

	TRY(opk_diff_list(&about, diff->app->ctx, diff->of, OPK_DIFF_ABOUT));
	return app_record_list(diff->app, about);
}

static void fill_peak(struct app_fields *fields, const struct diff *diff,
                      const struct opk_diff_peak *peak, char text[TEXT])
{
	bool people = app_shows_table(diff->app);

	fields->count = 0;
	field_text(fields, people ? "peak or clock" : "metric", peak->name);
	field_text(fields, "unit", people ? unit_name(peak->unit) : peak->unit);
	field_add(fields, "before", OPK_CELL_DOUBLE, cell_value(peak->before.value));
	field_add(fields, "after", OPK_CELL_DOUBLE, cell_value(peak->after.value));
	write_change(text, peak->change);
	add_percent(fields, diff, change_names, text, peak->change);
}

/* Prints what the GPU can do once, not for each row, and without a verdict. */
static int put_peaks(struct diff *diff)
{
	static const struct opk_diff_peak none = { .name = "", .unit = "" };
	const struct opk_diff_summary *summary = &diff->found->summary;
	struct app_fields row;
	char text[TEXT];

	if (is_left_out(diff, summary->peak_count))
		return OPK_OK;
	fill_peak(&row, diff, summary->peak_count ? summary->peaks : &none, text);
	TRY(put_unit_table(diff, &row, "peaks"));
	for (size_t i = 0; i < summary->peak_count; i++) {
		fill_peak(&row, diff, &summary->peaks[i], text);
		TRY(opk_out_row(diff->app->out, row.cells));
	}
	return OPK_OK;
}

/* For people, a sentence comes first; a file begins as tables do, so that it can be replaced. */
static int put_headline(struct diff *diff)
{
	opk_autofree char *text = opk_diff_headline(diff->of, diff->names);

	if (!app_shows_table(diff->app) || diff->app->only || diff->app->output)
		return OPK_OK;
	if (!text)
		return app_nomem(diff->app);
	TRY(opk_out_prose(diff->app->out, text));
	return opk_out_text(diff->app->out, "\n");
}

int diff_tables(struct diff *diff)
{
	/* The reason of a broken rule is in its message. */
	enum { WITHOUT_REASON = 4 };

	choose_facts(diff);
	TRY(put_headline(diff));
	TRY(put_about(diff));
	if (!is_left_out(diff, diff->found->difference_count))
		TRY(put_list(diff, "differences", OPK_DIFF_DIFFERENCES, SIZE_MAX));
	TRY(put_rows(diff));
	TRY(put_values(diff));
	TRY(put_peaks(diff));
	TRY(put_unmatched(diff));
	if (!diff->found->judged.count)
		return OPK_OK;
	return put_list(diff, "rules", OPK_DIFF_RULES, WITHOUT_REASON);
}
