/* SPDX-License-Identifier: BSD-2-Clause */
/* A resolved set as text. */
#ifndef OPK_RESOLVED_TEXT_H
#define OPK_RESOLVED_TEXT_H

#include "base/buf.h"
#include "resolve/resolve.h"
#include "testing.h"

static inline void add_list(struct opk_buf *out, const char *name, const struct opk_strlist *list)
{
	if (!list->count)
		return;
	opk_buf_add_text(out, name);
	for (size_t i = 0; i < list->count; i++)
		opk_buf_add_printf(out, " %s", list->items[i]);
	opk_buf_add_text(out, "\n");
}

/* Columns are listed only if they differ from the metrics that are shown. */
static inline bool plain_columns(const struct opk_resolved *resolved)
{
	if (resolved->columns.count != resolved->shown)
		return false;
	for (size_t i = 0; i < resolved->shown; i++)
		if (strcmp(resolved->columns.items[i], resolved->metrics.items[i]))
			return false;
	return true;
}

static inline void describe_resolved(struct opk_buf *out, const struct opk_resolved *resolved)
{
	ck_assert_uint_eq(resolved->labels.count, resolved->metrics.count);
	for (size_t i = 0; i < resolved->metrics.count; i++)
		opk_buf_add_printf(out, "%s%s%s%s\n", i < resolved->shown ? "" : "hidden ",
		                   resolved->metrics.items[i],
		                   *resolved->labels.items[i] ? " as " : "",
		                   resolved->labels.items[i]);
	for (size_t i = 0; i < resolved->derived_count; i++) {
		const struct opk_meta_derived *derived = &resolved->derived[i];

		opk_buf_add_printf(out, "%s = %s", derived->name, derived->formula);
		opk_buf_add_printf(out, *derived->unit ? " [%s]" : "", derived->unit);
		opk_buf_add_printf(out, *derived->description ? " (%s)\n" : "\n",
		                   derived->description);
	}
	if (!plain_columns(resolved))
		add_list(out, "columns", &resolved->columns);
	for (size_t i = 0; i < resolved->heading_count; i++) {
		const struct opk_meta_heading *heading = &resolved->headings[i];

		opk_buf_add_printf(out, "heading %s: %s: %zu from %zu\n", heading->title,
		                   heading->text, heading->count, heading->first);
	}
	add_list(out, "left out", &resolved->left_out);
}

#endif
