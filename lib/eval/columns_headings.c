/* SPDX-License-Identifier: BSD-2-Clause */
/* Which heading of the recording's set stands over which column. */
#include "base/index.h"
#include "eval/columns.h"

/* What the set shows: its columns, or all metrics that are not hidden and derived ones. False when out of memory. */
static bool list_shown(struct opk_strlist *out, const struct opk_meta *meta)
{
	opk_autoindex struct opk_index hidden = { 0 };
	bool ok = true;

	for (size_t i = 0; ok && i < meta->column_count; i++)
		ok = opk_strlist_add(out, meta->columns[i]);
	if (meta->column_count)
		return ok;
	for (size_t i = 0; ok && i < meta->hidden_count; i++)
		ok = opk_index_add(&hidden, meta->hidden[i], i, NULL);
	for (size_t i = 0; ok && i < meta->metric_count; i++)
		ok = opk_index_find(NULL, &hidden, meta->metrics[i])
		     || opk_strlist_add(out, meta->metrics[i]);
	for (size_t i = 0; ok && i < meta->derived_count; i++)
		ok = opk_strlist_add(out, meta->derived[i].name);
	return ok;
}

/* A metric is under its heading by either of its names. */
static bool add_other_names(struct opk_index *index, const struct opk_meta *meta)
{
	bool ok = true;
	size_t at;

	for (size_t i = 0; ok && i < meta->label_count; i++) {
		const struct opk_meta_label *label = &meta->labels[i];

		if (opk_index_find(&at, index, label->name))
			ok = opk_index_add(index, label->metric, at, NULL);
		else if (opk_index_find(&at, index, label->metric))
			ok = opk_index_add(index, label->name, at, NULL);
	}
	return ok;
}

/* Headings come in order; what lies under one already is under no other. */
static bool index_headings(struct opk_index *index, const struct opk_strlist *shown,
                           const struct opk_meta *meta)
{
	size_t next = 0;
	bool ok = true;

	for (size_t i = 0; i < meta->heading_count; i++) {
		const struct opk_meta_heading *heading = &meta->headings[i];

		for (next = next > heading->first ? next : heading->first;
		     ok && next < heading->first + heading->count; next++)
			ok = opk_index_add(index, shown->items[next], i, NULL);
	}
	return ok && add_other_names(index, meta);
}

int opk_columns_find_headings(struct opk_columns *columns, struct opk_ctx *ctx,
                              const struct opk_meta *meta)
{
	opk_autostrlist struct opk_strlist shown = { 0 };
	opk_autoindex struct opk_index index = { 0 };
	size_t at;

	if (!meta->heading_count)
		return OPK_OK;
	if (!list_shown(&shown, meta) || !index_headings(&index, &shown, meta))
		return opk_nomem(ctx, "columns");
	for (size_t i = 0; i < columns->names.count; i++)
		if (opk_index_find(&at, &index, columns->names.items[i]))
			columns->headings[i] = &meta->headings[at];
	return OPK_OK;
}
