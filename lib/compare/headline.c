/* SPDX-License-Identifier: BSD-2-Clause */
/* A comparison in a sentence or two: what changed, by how much, and how sure that is. */
#include <math.h>
#include <string.h>

#include "base/buf.h"
#include "compare/compare.h"

enum { MOST_NAMED = 4 };

/* "kernels" */
static const char *rows_word(const struct opk_diff *diff)
{
	static const char *const words[] = { "instructions", "lines", "functions" };
	bool kernels = diff->found.row_count > 0;

	if (opk_compared_is_code(diff))
		return words[diff->options.rows - OPK_ROWS_INSTRUCTIONS];
	for (size_t i = 0; i < diff->found.row_count; i++)
		kernels &= *diff->found.rows[i].range.kernel != '\0';
	return kernels ? "kernels" : "rows";
}

/* What the rows are ordered by. */
static const char *time_word(const struct opk_diff *diff)
{
	const char *name = diff->columns.items[diff->time].name;

	if (!opk_compared_is_code(diff))
		return "time";
	return strcmp(name, opk_compared_samples) ? "executed instructions" : "samples";
}

static size_t count_changed(const struct opk_diff *diff)
{
	size_t count = 0;

	for (size_t i = 0; i < diff->found.row_count; i++)
		count += diff->found.rows[i].time_changed;
	return count;
}

static size_t count_too_few(const struct opk_diff *diff)
{
	size_t count = 0;

	for (size_t i = 0; i < diff->found.row_count; i++)
		count += diff->found.rows[i].values[diff->time].verdict == OPK_VERDICT_TOO_FEW;
	return count;
}

/* The short name of a kernel is enough where rows are kernels; free(). */
static char *name_row(const struct opk_diff *diff, const struct opk_diff_row *row,
                      struct opk_kernel_names *names)
{
	const char *kernel = row->range.kernel;

	if (row->code || !*kernel || strcmp(diff->by, "kernel") != 0)
		return opk_diff_row_name(diff, row, names);
	return opk_strdup(names ? opk_kernel_names_get(names, &row->range) : kernel);
}

/* "transpose (-70.4%, of which the SM clock's part is up to +0.292%)" */
static void put_row(struct opk_buf *out, const struct opk_diff *diff,
                    const struct opk_diff_row *row, struct opk_kernel_names *names)
{
	const struct opk_diff_value *value = &row->values[diff->time];
	opk_autofree char *name = name_row(diff, row, names);

	out->failed |= !name;
	opk_buf_add_printf(out, "%s (", name ? name : "");
	if (isfinite(value->change))
		opk_buf_add_printf(out, "%+.3g%%", value->change);
	else
		opk_buf_add_text(out, "from 0");
	if (!isnan(value->clock) && value->clock != 0)
		opk_buf_add_printf(out, ", of which the SM clock's part is up to %+.3g%%",
		                   value->clock);
	opk_buf_add_text(out, ")");
}

static void put_changes(struct opk_buf *out, const struct opk_diff *diff, size_t changed,
                        struct opk_kernel_names *names)
{
	size_t named = 0;

	opk_buf_add_printf(out, "%zu of %zu %s changed in %s by more than noise: ", changed,
	                   diff->found.row_count, rows_word(diff), time_word(diff));
	for (size_t i = 0; i < diff->found.row_count && named < MOST_NAMED; i++) {
		if (!diff->found.rows[i].time_changed)
			continue;
		opk_buf_add_text(out, named++ ? ", " : "");
		put_row(out, diff, &diff->found.rows[i], names);
	}
	if (changed > named)
		opk_buf_add_printf(out, " and %zu more", changed - named);
	opk_buf_add_text(out, ".");
	if (diff->found.summary.foremost.compared)
		opk_buf_add_printf(out, " At most %.3g%% of such changes are false.",
		                   100 * diff->found.summary.foremost.level);
}

static void put_none(struct opk_buf *out, const struct opk_diff *diff)
{
	size_t few = count_too_few(diff), rows = diff->found.row_count;
	const char *what = opk_compared_is_code(diff) ? "samples" : "launches";

	if (few < rows)
		opk_buf_add_printf(out, "In %s nothing changed by more than noise",
		                   time_word(diff));
	if (few && few < rows)
		opk_buf_add_printf(out, "; %zu of %zu %s have too few %s to tell", few, rows,
		                   rows_word(diff), what);
	else if (few)
		opk_buf_add_printf(out, "There are too few %s to tell changes in %s from noise",
		                   what, time_word(diff));
	opk_buf_add_text(out, ".");
}

char *opk_diff_headline(const struct opk_diff *diff, struct opk_kernel_names *names)
{
	struct opk_buf out = { 0 };
	size_t changed = diff->time == SIZE_MAX ? 0 : count_changed(diff);

	if (!diff->found.row_count)
		opk_buf_add_text(&out, "No row of one side matches one of the other.");
	else if (diff->time == SIZE_MAX)
		opk_buf_add_text(&out, "No time was recorded on both sides; values are below.");
	else if (changed)
		put_changes(&out, diff, changed, names);
	else
		put_none(&out, diff);
	return opk_buf_take_text(&out);
}
