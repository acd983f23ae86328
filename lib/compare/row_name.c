/* SPDX-License-Identifier: BSD-2-Clause */
/* The name of a row: all that rows were matched by. */
#include <string.h>

#include "base/ascii.h"
#include "base/buf.h"
#include "compare/compare.h"

static void put(struct opk_buf *out, const char *text)
{
	if (*text)
		opk_buf_add_printf(out, "%s%s", out->size ? " " : "", text);
}

static void put_shape(struct opk_buf *out, const uint32_t shape[3])
{
	if (shape[0])
		opk_buf_add_printf(out, "%s%ux%ux%u", out->size ? " " : "", shape[0], shape[1],
		                   shape[2]);
}

static const char *kernel_of(const struct opk_diff_row *row, struct opk_kernel_names *names)
{
	return *row->range.kernel && names ? opk_kernel_names_get(names, &row->range)
	                                   : row->range.kernel;
}

static void put_place(struct opk_buf *out, unsigned key, const struct opk_range *range)
{
	if (key & OPK_KEY_HOST && range->host)
		put(out, range->host);
	if (key & OPK_KEY_RANK && range->rank >= 0)
		opk_buf_add_printf(out, " rank %d", range->rank);
	if (key & OPK_KEY_GPU && range->device >= 0)
		opk_buf_add_printf(out, " device %d", range->device);
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
	const struct opk_range *range = &row->range;
	const char *kernel = kernel_of(row, names);
	unsigned key = diff->groups.key;
	struct opk_buf out = { 0 };

	if (row->code) {
		put(&out, kernel);
		put_code(&out, diff->options.rows, row);
		return opk_buf_take_text(&out);
	}
	if (key & OPK_KEY_NVTX)
		put(&out, range->nvtx);
	if (key & OPK_KEY_NAME)
		put(&out, row->name);
	if (key & OPK_KEY_KERNEL)
		put(&out, *kernel ? kernel : key & OPK_KEY_NAME ? "" : row->name);
	if (key & OPK_KEY_SHAPE) {
		put_shape(&out, range->grid);
		put_shape(&out, range->block);
	}
	if (key & OPK_KEY_SHARED && range->shared_bytes)
		opk_buf_add_printf(&out, " %uB", range->shared_bytes);
	put_place(&out, key, range);
	return opk_buf_take_text(&out);
}
