/* SPDX-License-Identifier: BSD-2-Clause */
/* The name of a row: all that rows were matched by. */
#include <string.h>

#include "base/ascii.h"
#include "base/buf.h"
#include "compare/compare.h"

static const char *kernel_of(const struct opk_diff_row *row, struct opk_kernel_names *names)
{
	return *row->range.kernel && names ? opk_kernel_names_get(names, &row->range)
	                                   : row->range.kernel;
}

static void put_code(struct opk_buf *out, enum opk_rows rows, const struct opk_diff_row *row)
{
	const struct opk_code *code = row->code;

	if (rows == OPK_ROWS_INSTRUCTIONS)
		opk_buf_add_printf(out, " +%u", code->offset);
	else if (code->line)
		opk_buf_add_printf(out, " %s:%u", opk_base_name(code->source), code->line);
	if (rows == OPK_ROWS_LINES && code->line && row->before_line
	    && row->before_line != code->line)
		opk_buf_add_printf(out, " (before: %u)", row->before_line);
}

char *opk_diff_row_name(const struct opk_diff *diff, const struct opk_diff_row *row,
                        struct opk_kernel_names *names)
{
	const char *kernel = kernel_of(row, names);
	struct opk_buf out = { 0 };

	if (!row->code)
		return opk_key_name(diff->groups.key, kernel, row->name, &row->range);
	opk_buf_add_text(&out, kernel);
	put_code(&out, diff->options.rows, row);
	return opk_buf_take_text(&out);
}
