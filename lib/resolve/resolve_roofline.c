/* SPDX-License-Identifier: BSD-2-Clause */
/* The roofline of a set on a chip: the parts that the chip has, by names of columns. */
#include <string.h>

#include "resolve/resolver.h"

static void drop_roof(const struct opk_meta_roof *roof)
{
	free((char *)roof->name);
	free((char *)roof->bytes);
	free((char *)roof->peak);
	free((char *)roof->work);
	free((char *)roof->throughput);
}

void opk_resolved_clear_roofline(struct opk_meta_roofline *roofline)
{
	for (size_t i = 0; i < roofline->work_count; i++)
		free((char *)roofline->work[i]);
	for (size_t i = 0; i < roofline->roof_count; i++)
		drop_roof(&roofline->roofs[i]);
	free((char *)roofline->title);
	free((char *)roofline->time);
	free((char **)roofline->work);
	free((struct opk_meta_roof *)roofline->roofs);
	*roofline = (struct opk_meta_roofline){ 0 };
}

/* The column with this name in the set; NULL if the chip has no such column. */
static const char *column_of(const struct opk_resolver *r, const struct opk_word *word)
{
	const struct opk_entry *entry;

	if (!word->text)
		return NULL;
	if (opk_index_find(NULL, &r->labels, word->text))
		return word->text;
	entry = opk_entries_find(r->list, word->text);
	return !entry ? NULL : entry->label ? entry->label->text : entry->name;
}

/* Adds those kinds of operations that the chip counts. */
static bool add_work(struct opk_meta_roofline *out, const struct opk_resolver *r,
                     const struct opk_words *work)
{
	char **names = opk_alloc_array(work->count + 1, sizeof *names);

	out->work = (const char *const *)names;
	for (size_t i = 0; names && i < work->count; i++) {
		const char *column = column_of(r, &work->items[i]);

		if (column && !(names[out->work_count++] = opk_strdup(column)))
			return false;
	}
	return names != NULL;
}

/* A copy; "": there is no column; NULL: out of memory. */
static char *copy_column(const struct opk_resolver *r, const struct opk_word *word)
{
	const char *column = column_of(r, word);

	return opk_strdup(column ? column : "");
}

static bool add_roof(struct opk_meta_roof *out, const struct opk_resolver *r,
                     const struct opk_set_roof *from)
{
	out->name = opk_strdup(from->name.text);
	out->bytes = copy_column(r, &from->bytes);
	out->peak = copy_column(r, &from->peak);
	out->work = copy_column(r, &from->work);
	out->throughput = copy_column(r, &from->throughput);
	return out->name && out->bytes && out->peak && out->work && out->throughput;
}

static bool add_roofs(struct opk_meta_roofline *out, const struct opk_resolver *r,
                      const struct opk_set_roofline *from)
{
	struct opk_meta_roof *roofs = opk_alloc_array(from->roofs.count + 1, sizeof *roofs);

	out->roofs = roofs;
	for (size_t i = 0; roofs && i < from->roofs.count; i++) {
		const struct opk_set_roof *roof = &from->roofs.items[i];

		if (!column_of(r, &roof->peak) || (roof->bytes.text && !column_of(r, &roof->bytes)))
			continue;
		if (!add_roof(&roofs[out->roof_count++], r, roof))
			return false;
	}
	return roofs != NULL;
}

/* Without operations, time or a level of memory no dot can be drawn. */
static bool is_whole(const struct opk_meta_roofline *roofline)
{
	bool level = false;

	for (size_t i = 0; i < roofline->roof_count; i++)
		level |= *roofline->roofs[i].bytes != '\0';
	return level && roofline->work_count && roofline->time;
}

/* The set that includes the others; if none does, the last one. */
static const struct opk_set_roofline *find(const struct opk_symbols *symbols)
{
	for (size_t i = symbols->sets.count; i-- > 0;)
		if (symbols->sets.items[i]->roofline.roofs.count)
			return &symbols->sets.items[i]->roofline;
	return NULL;
}

void opk_resolve_roofline(struct opk_resolver *r)
{
	const struct opk_set_roofline *from = find(&r->symbols);
	struct opk_meta_roofline *out = &r->out->roofline;
	const char *time = from ? column_of(r, &from->time) : NULL;
	bool good;

	if (!time || r->problems.code)
		return;
	out->title = opk_strdup(from->title.text ? from->title.text : "");
	out->time = opk_strdup(time);
	good = out->title && out->time && add_work(out, r, &from->work) && add_roofs(out, r, from);
	if (opk_problems_need(&r->problems, good) && !is_whole(out))
		opk_resolved_clear_roofline(out);
}

/* ---- after columns were removed */

static bool has_column(const struct opk_resolved *resolved, const char *name)
{
	return !*name || opk_strlist_contains(&resolved->columns, name);
}

/* Clears a missing column: the roof stays a line, and the picture says what is unknown. */
static void keep_column(const char *name, const struct opk_resolved *resolved)
{
	if (!has_column(resolved, name))
		*(char *)name = '\0';
}

/* Without some of the operations all marks would be too low. */
static bool has_dots(const struct opk_resolved *resolved)
{
	const struct opk_meta_roofline *roofline = &resolved->roofline;

	for (size_t i = 0; i < roofline->work_count; i++)
		if (!has_column(resolved, roofline->work[i]))
			return false;
	return has_column(resolved, roofline->time) && is_whole(roofline);
}

void opk_resolved_keep_roofline(struct opk_resolved *resolved)
{
	struct opk_meta_roofline *roofline = &resolved->roofline;
	struct opk_meta_roof *roofs = (struct opk_meta_roof *)roofline->roofs;
	size_t roof_count = 0;

	for (size_t i = 0; i < roofline->roof_count; i++) {
		if (has_column(resolved, roofs[i].bytes) && has_column(resolved, roofs[i].peak))
			roofs[roof_count++] = roofs[i];
		else
			drop_roof(&roofs[i]);
	}
	for (size_t i = 0; i < roof_count; i++) {
		keep_column(roofs[i].work, resolved);
		keep_column(roofs[i].throughput, resolved);
	}
	roofline->roof_count = roof_count;
	if (roofline->time && !has_dots(resolved))
		opk_resolved_clear_roofline(roofline);
}
