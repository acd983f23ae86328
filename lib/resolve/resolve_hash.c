/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A number for what a set means on a chip. It is the same however the file is written, and in
 * whatever order derived metrics are defined; it is another one for another profiler, metric,
 * formula, constant or parameter. The few versions of a set that somebody has 32 bits tell apart,
 * in the form that recordings have always had it in; nothing is looked up by it, and nobody is to
 * be kept from forging it.
 */
#include <string.h>

#include "adapters/deflate/deflate.h"
#include "base/buf.h"
#include "formula/formula.h"
#include "resolve/resolver.h"

/* A line; what it has in it makes no second one. */
static void add_line(struct opk_buf *out, const char *kind, const char *text)
{
	opk_buf_add_text(out, kind);
	opk_buf_add_printf(out, " %zu %s\n", strlen(text), text);
}

static void add_list(struct opk_buf *out, const char *kind, const struct opk_strlist *list,
                     size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		add_line(out, kind, list->items[i]);
}

/* However it is written: "a - c" with c = -5 is "a - -5". */
static bool add_formula(struct opk_buf *out, struct opk_ctx *ctx, const char *text)
{
	opk_auto(opk_formula) struct opk_formula *formula = NULL;

	if (opk_formula_parse(&formula, ctx, text, NULL))
		return false;
	opk_buf_add_text(out, "formula ");
	opk_formula_add_code(out, formula);
	opk_buf_add_text(out, "\n");
	return true;
}

static int compare_derived(const void *a, const void *b)
{
	return strcmp(((const struct opk_meta_derived *)a)->name,
	              ((const struct opk_meta_derived *)b)->name);
}

static bool add_derived(struct opk_buf *out, struct opk_ctx *ctx,
                        const struct opk_resolved *resolved)
{
	size_t size = resolved->derived_count * sizeof *resolved->derived;
	opk_autofree struct opk_meta_derived *sorted = opk_alloc(size + 1);

	if (!sorted)
		return false;
	if (size) {
		memcpy(sorted, resolved->derived, size);
		qsort(sorted, resolved->derived_count, sizeof *sorted, compare_derived);
	}
	for (size_t i = 0; i < resolved->derived_count; i++) {
		add_line(out, "derived", sorted[i].name);
		if (!add_formula(out, ctx, sorted[i].formula))
			return false;
		add_line(out, "unit", sorted[i].unit);
		add_line(out, "description", sorted[i].description);
	}
	return true;
}

/* Hidden metrics come in the order of the formulas, which does not matter. */
static bool add_hidden(struct opk_buf *out, const struct opk_resolved *resolved)
{
	opk_autostrlist struct opk_strlist hidden = { 0 };

	for (size_t i = resolved->shown; i < resolved->metrics.count; i++)
		if (!opk_strlist_add(&hidden, resolved->metrics.items[i]))
			return false;
	opk_strlist_sort(&hidden);
	add_list(out, "hidden", &hidden, 0, hidden.count);
	return true;
}

char *opk_resolved_hash(const struct opk_resolved *resolved, struct opk_ctx *ctx, const char *name)
{
	opk_autobuf struct opk_buf out = { 0 };

	add_line(&out, "name", name);
	opk_buf_add_printf(&out, "version %u\n", resolved->version);
	add_line(&out, "profiler", opk_profiler_name(resolved->profiler));
	add_list(&out, "metric", &resolved->metrics, 0, resolved->shown);
	add_list(&out, "label", &resolved->labels, 0, resolved->shown);
	add_list(&out, "column", &resolved->columns, 0, resolved->listed);
	for (size_t i = 0; i < resolved->heading_count; i++) {
		const struct opk_meta_heading *heading = &resolved->headings[i];

		add_line(&out, "heading", heading->title);
		add_line(&out, "text", heading->text);
		opk_buf_add_printf(&out, "%zu %zu\n", heading->first, heading->count);
	}
	add_list(&out, "left_out", &resolved->left_out, 0, resolved->left_out.count);
	if (!add_hidden(&out, resolved) || !add_derived(&out, ctx, resolved) || out.failed)
		return NULL;
	return opk_printf("crc32:%08x", (unsigned)opk_crc32(0, out.data, out.size));
}
