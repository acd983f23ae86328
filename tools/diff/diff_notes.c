/* SPDX-License-Identifier: BSD-2-Clause */
/* Notes on a comparison for people, and its broken rules. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "diff/diff.h"

/* Counts kernels of one side that the other side has with another launch shape. */
static size_t count_reshaped(const struct diff *diff)
{
	size_t all = diff->found->unmatched_count, count = 0;

	for (size_t i = 0; i < all; i++) {
		const struct opk_diff_row *row = &diff->found->unmatched[i];

		for (size_t j = 0; row->before_launches && j < all; j++) {
			const struct opk_diff_row *other = &diff->found->unmatched[j];

			if (other->after_launches && *row->range.kernel
			    && !strcmp(row->range.kernel, other->range.kernel)) {
				count++;
				break;
			}
		}
	}
	return count;
}

static void note_same_files(const struct diff *diff)
{
	for (size_t i = 0; i < diff->before.count; i++)
		for (size_t j = 0; j < diff->after.count; j++)
			if (opk_is_same_file(diff->before.items[i], diff->after.items[j]))
				app_note("%s is the same file before and after",
				         diff->before.items[i]);
}

static void note_unmatched(const struct diff *diff)
{
	size_t count = diff->found->unmatched_count;
	size_t reshaped = diff->code ? 0 : count_reshaped(diff);

	if (!diff->found->row_count)
		app_note("no row is on both sides%s",
		         count ? ": the names of kernels or ranges differ" : "");
	else if (count)
		app_note("%zu row%s of one side alone", count, count == 1 ? " is" : "s are");
	if (reshaped)
		app_note("%zu kernel%s on both sides with different launch shapes: --ignore shape "
		         "matches them",
		         reshaped, reshaped == 1 ? " is" : "s are");
}

static void note_differences(const struct diff *diff)
{
	for (size_t i = 0; i < diff->found->difference_count; i++) {
		const struct opk_diff_difference *of = &diff->found->differences[i];

		app_note("%s differs, and may be why values do: %s before, %s after", of->what,
		         of->before, of->after);
	}
}

static void note_unplaced(const struct diff *diff)
{
	size_t count = diff->found->summary.unplaced;

	if (count)
		app_note(
			"samples of kernels that ran in several launch shapes are in no row of one "
			"shape (%zu): --ignore shape compares them",
			count);
}

static void note_time(const struct diff *diff)
{
	for (size_t i = 0; i < diff->found->column_count; i++)
		if (diff->found->columns[i].is_time)
			return;
	if (diff->found->row_count)
		app_note("no time was measured on both sides, nor cycles: rows are in the order in "
		         "which they appeared");
}

/* "7 for a single change in time, and 11 for one in other metrics"; free(). */
static char *describe_power(const struct diff *diff)
{
	const struct opk_diff_summary *summary = &diff->found->summary;
	const struct opk_diff_family *time = &summary->foremost, *others = &summary->others;
	const char *what = diff->has_rules ? "time or what rules name" : "time";

	if (!time->compared || !others->compared)
		return opk_printf("%zu for a single change",
		                  time->compared ? time->launches_needed : others->launches_needed);
	return opk_printf("%zu for a single change in %s, and %zu for one in other metrics",
	                  time->launches_needed, what, others->launches_needed);
}

/* Whether there are differences to be tested. */
static bool has_changes(const struct diff *diff)
{
	for (size_t i = 0; i < diff->found->row_count; i++)
		for (size_t j = 0; j < diff->found->column_count; j++) {
			const struct opk_diff_value *value = &diff->found->rows[i].values[j];

			if (value->verdict == OPK_VERDICT_TOO_FEW && value->change != 0)
				return true;
		}
	return false;
}

static void note_power(const struct diff *diff)
{
	const struct opk_diff_summary *summary = &diff->found->summary;
	size_t count = summary->verdicts[OPK_VERDICT_TOO_FEW];
	opk_autofree char *power = describe_power(diff);

	if (count && diff->code && has_changes(diff))
		app_note("%zu value%s of too few samples to tell a change from noise: it takes %s",
		         count, count == 1 ? " is" : "s are", power ? power : "more");
	else if (count && has_changes(diff))
		app_note("%zu value%s of too few launches to tell a change from noise: a side has "
		         "from %" PRIu64 " to %" PRIu64 "; it takes %s",
		         count, count == 1 ? " is" : "s are", summary->launches_least,
		         summary->launches_most, power ? power : "more");
}

static bool differ(const struct opk_diff_value *value)
{
	return !value->before.count != !value->after.count
	       || isnan(value->before.value) != isnan(value->after.value)
	       || (!isnan(value->change) && value->change != 0);
}

/* Whether any row has the column on both sides; *all becomes false if both differ. */
static bool has_both(bool *all, const struct diff *diff, size_t column)
{
	bool any = false;

	for (size_t i = 0; i < diff->found->row_count; i++) {
		const struct opk_diff_value *value = &diff->found->rows[i].values[column];

		*all &= !differ(value);
		any |= !isnan(value->change);
	}
	return any;
}

static size_t count_relaunched(const struct diff *diff)
{
	size_t count = 0;

	for (size_t i = 0; i < diff->found->row_count; i++) {
		const struct opk_diff_row *row = &diff->found->rows[i];

		count += row->before_launches != row->after_launches;
	}
	return count;
}

/* Notes that no table shows a change. */
static void note_equal(const struct diff *diff)
{
	const struct opk_diff_summary *summary = &diff->found->summary;
	size_t rows = diff->found->row_count, metrics = 0, relaunched = count_relaunched(diff);
	bool all = !diff->found->unmatched_count;

	for (size_t i = 0; i < diff->found->column_count; i++)
		metrics += diff->found->columns[i].shown && has_both(&all, diff, i);
	for (size_t i = 0; i < summary->peak_count; i++)
		all &= isnan(summary->peaks[i].change) || summary->peaks[i].change == 0;
	if (all && metrics)
		app_note("%s: both sides have the same values of %zu metric%s in %zu row%s",
		         relaunched ? "only numbers of launches differ" : "nothing differs",
		         metrics, metrics == 1 ? "" : "s", rows, rows == 1 ? "" : "s");
	if (all && metrics && relaunched)
		app_note("the number of launches changed in %zu row%s: --table rows shows them",
		         relaunched, relaunched == 1 ? "" : "s");
}

/* Explains why the table of values is empty. */
static void note_peaks(const struct diff *diff)
{
	const char *only = diff->app->only;
	bool any = false;

	for (size_t i = 0; i < diff->found->column_count; i++)
		any |= diff->found->columns[i].shown;
	if (!any && only && !strcmp(only, "values"))
		app_note("peaks and clocks alone were compared, which are not judged: "
		         "--table peaks has them");
}

static void note_clock(const struct diff *diff)
{
	size_t count = diff->found->summary.verdicts[OPK_VERDICT_CLOCK];

	if (count)
		app_note("%zu value%s changed by as much as the SM's clock can explain, which is "
		         "the verdict clock",
		         count, count == 1 ? "" : "s");
}

static void note_left_out(const struct diff *diff)
{
	const char *only = diff->app->only;

	if (only && strcmp(only, "values") != 0)
		return;
	if (diff->left_out)
		app_note("%zu values that are the same, or no more than noise, are not shown: "
		         "--all shows them",
		         diff->left_out);
	if (diff->one_sided)
		app_note("%zu metric%s measured on one side alone: --all shows them",
		         diff->one_sided, diff->one_sided == 1 ? " was" : "s were");
}

static void note_shares(const struct diff *diff)
{
	for (size_t i = 0; i < diff->found->column_count; i++) {
		const struct opk_diff_column *column = &diff->found->columns[i];

		if (column->is_time && diff->code && !strcmp(column->unit, "percent"))
			app_note("the samples' launches are not known: before and after are shares "
			         "of all samples of a side, in percent");
	}
}

/* ---- functions -------------------------------------------------------------------------- */

/* What rows of a function show. */
enum { REWRITTEN = 1, ROSE = 2, FELL = 4, STILL = 8, MOVED = ROSE | FELL | STILL, MOST_NAMED = 3 };

struct function {
	const struct opk_diff_row *row; /* the first one */
	unsigned shown;
};

static unsigned shown_by(const struct opk_diff_row *row)
{
	const struct opk_diff_value *of = row->of_function;
	bool still = of && (of->verdict == OPK_VERDICT_NOISE || of->verdict == OPK_VERDICT_SAME);

	return (row->rewritten ? REWRITTEN : 0) | (still ? STILL : 0)
	       | (!row->time_changed     ? 0
	          : row->time_change > 0 ? ROSE
	                                 : FELL);
}

/* The functions by their numbers; free(). NULL: out of memory. */
static struct function *list_functions(const struct diff *diff, size_t *count)
{
	const struct opk_diff_row *rows = diff->found->rows;
	struct function *functions;

	*count = 0;
	for (size_t i = 0; i < diff->found->row_count; i++)
		if (rows[i].function >= *count)
			*count = rows[i].function + 1;
	functions = opk_alloc_array(*count + 1, sizeof *functions);
	for (size_t i = 0; functions && i < diff->found->row_count; i++) {
		struct function *of = &functions[rows[i].function];

		of->row = of->row ? of->row : &rows[i];
		of->shown |= shown_by(&rows[i]);
	}
	return functions;
}

/* "axpy, relax": the functions that show all this; "" if there are none. free() */
static char *name_functions(const struct diff *diff, const struct function *functions, size_t count,
                            unsigned shown)
{
	struct opk_buf out = { 0 };
	size_t named = 0;

	for (size_t i = 0; i < count; i++)
		if ((functions[i].shown & shown) == shown && named++ < MOST_NAMED)
			opk_buf_add_printf(&out, "%s%s", named > 1 ? ", " : "",
			                   opk_kernel_names_get(diff->names,
			                                        &functions[i].row->range));
	if (named > MOST_NAMED)
		opk_buf_add_printf(&out, " and %zu more", named - MOST_NAMED);
	return opk_buf_take_text(&out);
}

static void note_functions(const struct diff *diff)
{
	size_t count = 0;
	opk_autofree struct function *functions = list_functions(diff, &count);
	opk_autofree char *rewritten = NULL, *moved = NULL;

	if (!diff->code || !functions)
		return;
	rewritten = name_functions(diff, functions, count, REWRITTEN);
	moved = name_functions(diff, functions, count, MOVED);
	if (rewritten && *rewritten)
		app_note("rewritten: %s; %s may be compared with another one: trust the change of "
		         "the whole function",
		         rewritten, !strcmp(diff->by, "line") ? "a line" : "an instruction");
	if (moved && *moved)
		app_note("%ss changed, but not the total of their function: samples moved between "
		         "%ss of %s",
		         diff->by, diff->by, moved);
}

void diff_notes(const struct diff *diff)
{
	note_same_files(diff);
	note_equal(diff);
	note_left_out(diff);
	note_peaks(diff);
	note_clock(diff);
	note_differences(diff);
	note_unmatched(diff);
	note_time(diff);
	note_unplaced(diff);
	note_shares(diff);
	note_functions(diff);
	note_power(diff);
}

void diff_breaches(const struct diff *diff)
{
	for (size_t i = 0; i < diff->found->judged.count; i++) {
		const struct opk_diff_judged *of = &diff->found->judged.items[i];
		const char *reason = of->rule->reason;
		opk_autofree char *text = NULL;

		if (!of->broken)
			continue;
		text = opk_printf("%s: %s%s%s%s%s%s", of->rule->text, of->row_name,
		                  *of->row_name ? ": " : "", of->text, *reason ? " (" : "", reason,
		                  *reason ? ")" : "");
		app_print_cause("offpeak: broken: ", text ? text : "out of memory");
	}
}
