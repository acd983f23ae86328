/* SPDX-License-Identifier: BSD-2-Clause */
/* A comparison as lists. */
#include <math.h>

#include "base/listing.h"
#include "compare/compare.h"
#include "container/container.h"

static void add_paths(struct opk_strlist *out, const struct opk_diff *diff,
                      enum opk_compared_side side)
{
	for (size_t i = 0; i < diff->source_count; i++)
		if (diff->sources[i].side == side)
			opk_strlist_add(out, diff->sources[i].file->path);
}

/* How many values each test decided. */
struct diff_tests {
	size_t binomial, student;
};

static union opk_cell cell_needed(const struct opk_diff_family *family)
{
	return cell_known(family->launches_needed, family->compared > 0);
}

/* Names the tests that found the p of samples; free(). NULL: out of memory. */
static char *name_tests(const struct diff_tests *tests)
{
	static const char suffix[] = "two-sided; Benjamini-Hochberg";

	if (!tests->student && !tests->binomial)
		return opk_strdup("none: counts are exact");
	if (!tests->student || !tests->binomial)
		return opk_printf("%s, %s", tests->student ? "Student's t" : "binomial", suffix);
	return opk_printf("binomial (%zu values) or Student's t (%zu), %s", tests->binomial,
	                  tests->student, suffix);
}

/* Only shown values count. */
static char *describe_test(const struct opk_diff *diff)
{
	struct diff_tests tests = { 0 };

	if (!opk_compared_is_code(diff))
		return opk_strdup("Mann-Whitney U, two-sided; Benjamini-Hochberg");
	for (size_t i = 0; i < diff->found.row_count * diff->columns.count; i++) {
		size_t row = i / diff->columns.count, column = i % diff->columns.count;
		const struct opk_diff_value *value = &diff->found.rows[row].values[column];

		if (isnan(value->p) || !diff->columns.items[column].shown)
			continue;
		tests.student += value->by_student;
		tests.binomial += !value->by_student;
	}
	return name_tests(&tests);
}

static struct opk_listing *list_about(const struct opk_diff *diff)
{
	const struct opk_diff_summary *s = &diff->found.summary;
	opk_autostrlist struct opk_strlist before = { 0 }, after = { 0 };
	opk_autofree char *test = describe_test(diff);
	struct opk_listing *rows = opk_listing_new(
		"before* after* by matched_rows# unmatched_rows# launches_least# "
		"launches_most# test level% level_of_times% level_of_others% tested# "
		"launches_needed~ tested_others# launches_needed_others~ changed# noise# "
		"same# too_few# nan# missing# clock#");

	add_paths(&before, diff, OPK_BEFORE);
	add_paths(&after, diff, OPK_AFTER);
	if (!test || before.count + after.count != diff->source_count) {
		opk_listing_free(rows);
		return NULL;
	}
	opk_listing_row(rows, cell_texts(&before), cell_texts(&after), cell_text(diff->by),
	                cell_number(diff->found.row_count),
	                cell_number(diff->found.unmatched_count), cell_number(s->launches_least),
	                cell_number(s->launches_most), cell_text(test), cell_value(s->level),
	                cell_value(s->foremost.level), cell_value(s->others.level),
	                cell_number(s->foremost.compared), cell_needed(&s->foremost),
	                cell_number(s->others.compared), cell_needed(&s->others),
	                cell_number(s->verdicts[OPK_VERDICT_CHANGED]),
	                cell_number(s->verdicts[OPK_VERDICT_NOISE]),
	                cell_number(s->verdicts[OPK_VERDICT_SAME]),
	                cell_number(s->verdicts[OPK_VERDICT_TOO_FEW]),
	                cell_number(s->verdicts[OPK_VERDICT_NAN]),
	                cell_number(s->verdicts[OPK_VERDICT_MISSING]),
	                cell_number(s->verdicts[OPK_VERDICT_CLOCK]));
	return rows;
}

static struct opk_listing *list_differences(const struct opk_diff *diff)
{
	struct opk_listing *rows = opk_listing_new("fact before after");

	for (size_t i = 0; i < diff->found.difference_count; i++) {
		const struct opk_diff_difference *of = &diff->found.differences[i];

		opk_listing_row(rows, cell_text(of->what), cell_text(of->before),
		                cell_text(of->after));
	}
	return rows;
}

static struct opk_listing *list_columns(const struct opk_diff *diff)
{
	struct opk_listing *rows = opk_listing_new("name unit is_time?");

	for (size_t i = 0; i < diff->columns.count; i++) {
		const struct opk_compared_column *of = &diff->columns.items[i];

		if (of->shown)
			opk_listing_row(rows, cell_text(of->name), cell_text(of->unit),
			                cell_flag(i == diff->time));
	}
	return rows;
}

/* NULL: out of memory. */
static struct opk_listing *list_rows(const struct opk_diff *diff, const struct opk_diff_row *of,
                                     size_t count)
{
	opk_auto(opk_listing) struct opk_listing *rows = opk_listing_new(
		"name kernel before_launches# after_launches# time_change% time_changed?");

	for (size_t i = 0; i < count; i++) {
		opk_autofree char *name = opk_diff_row_name(diff, &of[i], diff->names);

		if (!name)
			return NULL;
		opk_listing_row(rows, cell_text(name),
		                cell_text(opk_kernel_names_get(diff->names, &of[i].range)),
		                cell_number(of[i].before_launches),
		                cell_number(of[i].after_launches), cell_value(of[i].time_change),
		                cell_flag(of[i].time_changed));
	}
	return opk_take(rows);
}

#define CELLS_OF(of)                                                                               \
	cell_number((of)->before.count), cell_number((of)->after.count),                           \
		cell_value((of)->before.low), cell_value((of)->before.high),                       \
		cell_value((of)->after.low), cell_value((of)->after.high)

static struct opk_listing *list_values(const struct opk_diff *diff)
{
	struct opk_listing *rows = opk_listing_new(
		"row# metric before% after% change_pct% verdict p% before_count# "
		"after_count# before_low% before_high% after_low% after_high% clock_pct%");

	for (size_t i = 0; i < diff->found.row_count * diff->columns.count; i++) {
		size_t row = i / diff->columns.count, column = i % diff->columns.count;
		const struct opk_diff_value *of = &diff->found.rows[row].values[column];

		if (diff->columns.items[column].shown)
			opk_listing_row(rows, cell_number(row),
			                cell_text(diff->columns.items[column].name),
			                cell_value(of->before.value), cell_value(of->after.value),
			                cell_value(of->change),
			                cell_text(opk_verdict_name(of->verdict)), cell_value(of->p),
			                CELLS_OF(of), cell_value(of->clock));
	}
	return rows;
}

static struct opk_listing *list_peaks(const struct opk_diff *diff)
{
	struct opk_listing *rows = opk_listing_new(
		"metric unit before% after% change_pct% before_count# after_count# "
		"before_low% before_high% after_low% after_high%");

	for (size_t i = 0; i < diff->found.summary.peak_count; i++) {
		const struct opk_diff_peak *of = &diff->found.summary.peaks[i];

		opk_listing_row(rows, cell_text(of->name), cell_text(of->unit),
		                cell_value(of->before.value), cell_value(of->after.value),
		                cell_value(of->change), CELLS_OF(of));
	}
	return rows;
}

static struct opk_listing *list_judged(const struct opk_diff *diff)
{
	struct opk_listing *rows = opk_listing_new("rule row broken? found reason");

	for (size_t i = 0; i < diff->found.judged.count; i++) {
		const struct opk_diff_judged *of = &diff->found.judged.items[i];

		opk_listing_row(rows, cell_text(of->rule->text), cell_text(of->row_name),
		                cell_flag(of->broken), cell_text(of->text),
		                cell_text(of->rule->reason));
	}
	return rows;
}

static struct opk_listing *list(const struct opk_diff *diff, enum opk_diff_list which)
{
	switch (which) {
	case OPK_DIFF_ABOUT:
		return list_about(diff);
	case OPK_DIFF_DIFFERENCES:
		return list_differences(diff);
	case OPK_DIFF_COLUMNS:
		return list_columns(diff);
	case OPK_DIFF_ROWS:
		return list_rows(diff, diff->found.rows, diff->found.row_count);
	case OPK_DIFF_UNMATCHED:
		return list_rows(diff, diff->found.unmatched, diff->found.unmatched_count);
	case OPK_DIFF_VALUES:
		return list_values(diff);
	case OPK_DIFF_PEAKS:
		return list_peaks(diff);
	default:
		return list_judged(diff);
	}
}

int opk_diff_list(struct opk_listing **out, struct opk_ctx *ctx, const struct opk_diff *diff,
                  enum opk_diff_list which)
{
	return opk_listing_finish(out, ctx, list(diff, which));
}
