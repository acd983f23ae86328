/* SPDX-License-Identifier: BSD-2-Clause */
/* Why a table has no rows: which condition no row meets, and what rows would meet. */
#include <string.h>

#include "base/buf.h"
#include "base/listing.h"
#include "table/table_inside.h"

/* A condition on a fact of ranges, taken apart. */
struct condition {
	const char *text;
	char *name;
	const char *pattern; /* NULL: not of the form NAME=PATTERN */
	enum opk_fact fact;
};

static bool read_condition(struct condition *out, const char *text)
{
	size_t length = strcspn(text, " \t=<>!");
	const char *rest = text + length + strspn(text + length, " \t");

	*out = (struct condition){ .text = text, .name = opk_strndup(text, length) };
	if (*rest == '=' && strcmp(out->name ? out->name : "", "index") != 0)
		out->pattern = rest + 1 + strspn(rest + 1, "= \t");
	/* "range" is the range's name. */
	return out->name
	       && opk_fact_find(&out->fact, strcmp(out->name, "range") ? out->name : "name",
	                        OPK_PROFILER_RANGE);
}

/* The ranges in an input's tables; none if only images have ranges. */
static size_t ranges_of(const struct opk_range **ranges, struct opk_table *table,
                        const struct opk_table_file *input)
{
	size_t count = 0;

	if (opk_table_is_timeline(input) || opk_table_is_resampled(table))
		return opk_evaluation_ranges(ranges, input->evaluation);
	if (input->file && opk_file_ranges(ranges, &count, table->ctx, input->file))
		opk_clear_errors(table->ctx);
	return count;
}

/* ---- facts that no file has */

static bool has_fact(struct opk_table *table, const struct opk_table_file *input,
                     enum opk_fact fact)
{
	const struct opk_column *header = opk_fact_column(fact, OPK_PROFILER_RANGE);
	const struct opk_range *ranges;
	size_t count = ranges_of(&ranges, table, input);

	for (size_t i = 0; i < count; i++) {
		const struct opk_row row = { .name = ranges[i].name, .range = &ranges[i] };
		struct opk_fact_text text;
		union opk_cell cell = opk_fact_get(&text, fact, &row);

		if (cell_is_known(header->type, &cell))
			return true;
	}
	return false;
}

/* Numbers and names may be in images alone; all other facts are in range tables. */
static bool is_recorded(struct opk_table *table, enum opk_fact fact)
{
	if (fact == OPK_FACT_RANGE || fact == OPK_FACT_NAME)
		return true;
	for (size_t i = 0; i < table->input_count; i++)
		if (!table->inputs[i].file || has_fact(table, &table->inputs[i], fact))
			return true;
	return false;
}

/* ---- conditions that rows would meet */

/* How many ranges meet a condition; ranges of bare images are not known. */
static size_t count_met(struct opk_table *table, const char *text)
{
	struct opk_filter *filter;
	size_t met = 0;

	if (opk_filter_new(&filter, table->ctx, &text, 1)) {
		opk_clear_errors(table->ctx);
		return 0;
	}
	for (size_t i = 0; i < table->input_count; i++) {
		const struct opk_range *ranges;
		size_t count = ranges_of(&ranges, table, &table->inputs[i]);

		for (size_t j = 0; j < count; j++) {
			const struct opk_row row = { .index = j,
				                     .name = ranges[j].name,
				                     .range = &ranges[j] };
			bool accepted = false;

			if (opk_filter_accepts(&accepted, table->ctx, filter, OPK_PROFILER_RANGE,
			                       &row, 0))
				opk_clear_errors(table->ctx);
			met += accepted;
		}
	}
	opk_filter_free(filter);
	return met;
}

/* Finds the words, in any case, in the text of the first range that has them. */
static const char *find_words(struct opk_table *table, enum opk_fact fact, const char *words)
{
	for (size_t i = 0; i < table->input_count; i++) {
		const struct opk_range *ranges;
		size_t count = ranges_of(&ranges, table, &table->inputs[i]);

		for (size_t j = 0; j < count; j++) {
			const struct opk_row row = { .name = ranges[j].name, .range = &ranges[j] };
			struct opk_fact_text room;
			const char *text = opk_fact_get(&room, fact, &row).string;
			/* Skips text in `room`, which does not last. */
			const char *at = text && text != room.text ? strcasestr(text, words) : NULL;

			if (at)
				return at;
		}
	}
	return NULL;
}

/* The condition with a pattern that matches a part of a text; NULL if nothing matches. */
static char *loosen(struct opk_table *table, const struct condition *condition)
{
	size_t begin = condition->pattern ? strspn(condition->pattern, "*") : 0, length;
	opk_autofree char *words = NULL;
	const char *found;

	if (!condition->pattern || !condition->pattern[begin]
	    || opk_fact_column(condition->fact, OPK_PROFILER_RANGE)->type != OPK_CELL_STRING)
		return NULL;
	for (length = strlen(condition->pattern + begin); length > 1; length--)
		if (condition->pattern[begin + length - 1] != '*')
			break;
	words = opk_strndup(condition->pattern + begin, length);
	found = words ? find_words(table, condition->fact, words) : NULL;
	return found ? opk_printf("%s=*%.*s*", condition->name, (int)length, found) : NULL;
}

static void hint(struct opk_buf *out, struct opk_table *table, const struct condition *condition)
{
	opk_autofree char *loose = NULL;
	size_t met;

	/* The user may mean a range's number, but "range" is its name. */
	if (!strcmp(condition->name, "range") && condition->pattern && *condition->pattern
	    && !condition->pattern[strspn(condition->pattern, "0123456789")]) {
		opk_autofree char *index = opk_printf("index=%s", condition->pattern);

		if (index && count_met(table, index))
			opk_buf_add_printf(out,
			                   "; range is the name there, and the range of that "
			                   "number %s",
			                   index);
		return;
	}
	if (count_met(table, condition->text))
		return;
	loose = loosen(table, condition);
	met = loose ? count_met(table, loose) : 0;
	if (met)
		opk_buf_add_printf(out, "; a pattern is of the whole text: %zu meet%s %s", met,
		                   met == 1 ? "s" : "", loose);
}

/* ---- as a note */

static void note_conditions(struct opk_table *table, const char *rows)
{
	bool samples = table->profiler == OPK_PROFILER_PM
	               || opk_evaluation_profiler(table->inputs->evaluation) == OPK_PROFILER_PM;
	bool code = opk_table_is_code(table->inputs);
	opk_autobuf struct opk_buf all = { 0 }, hints = { 0 };

	for (size_t i = 0; i < table->where.count; i++) {
		const char *text = table->where.items[i];
		struct condition condition;
		bool is_fact = read_condition(&condition, text) && !samples && !code;
		opk_autofree char *name = condition.name;

		opk_buf_add_printf(&all, "%s%s", i ? " and " : "", text);
		if (is_fact && !is_recorded(table, condition.fact) && !count_met(table, text)) {
			opk_log(table->ctx,
			        "no range here has %s recorded, which %s asks for: there are no %s",
			        name, text, rows);
			return;
		}
		if (is_fact)
			hint(&hints, table, &condition);
	}
	opk_buf_add(&all, "", 1);
	opk_buf_add(&hints, "", 1);
	if (!all.failed && !hints.failed)
		opk_log(table->ctx, "no %s meets %s: there are no %s%s",
		        samples ? "sample"
		        : code  ? "row of code"
		                : "range",
		        (const char *)all.data, rows, (const char *)hints.data);
}

void opk_table_note_none(struct opk_table *table)
{
	const char *rows = table->layout == OPK_TABLE_GROUPS ? "groups" : "rows";

	if (table->where.count)
		note_conditions(table, rows);
	else
		opk_log(table->ctx, "there are no %s", rows);
}
