/* SPDX-License-Identifier: BSD-2-Clause */
/* A resolved set: its hash, what is left if only some metrics are kept, its metadata. */
#include "resolve/resolver.h"

#include <string.h>

#include "adapters/deflate/deflate.h"
#include "base/buf.h"
#include "base/index.h"
#include "container/container.h"
#include "formula/formula.h"

static void clear_derived(struct opk_meta_derived *derived)
{
	free((char *)derived->name);
	free((char *)derived->formula);
	free((char *)derived->unit);
	free((char *)derived->description);
}

static void clear_heading(struct opk_meta_heading *heading)
{
	free((char *)heading->title);
	free((char *)heading->text);
	free((char *)heading->draw);
}

void opk_resolved_clear(struct opk_resolved *resolved)
{
	opk_strlist_clear(&resolved->metrics);
	opk_strlist_clear(&resolved->labels);
	opk_strlist_clear(&resolved->columns);
	opk_strlist_clear(&resolved->left_out);
	for (size_t i = 0; i < resolved->derived_count; i++)
		clear_derived(&resolved->derived[i]);
	free(resolved->derived);
	for (size_t i = 0; i < resolved->heading_count; i++)
		clear_heading(&resolved->headings[i]);
	free(resolved->headings);
	opk_resolved_clear_roofline(&resolved->roofline);
	for (size_t i = 0; i < resolved->source_count; i++)
		opk_source_free(resolved->sources[i]);
	free(resolved->sources);
	free(resolved->marks);
	free(resolved->hash);
	free(resolved->definition);
	*resolved = (struct opk_resolved){ 0 };
}

int opk_resolved_to_meta(struct opk_meta *meta, struct opk_meta_label **labels, struct opk_ctx *ctx,
                         const struct opk_resolved *resolved)
{
	*labels = opk_alloc_array(resolved->metrics.count + 1, sizeof **labels);
	if (!*labels)
		return opk_nomem(ctx, "metadata");
	for (size_t i = 0; i < resolved->metrics.count; i++)
		if (*resolved->labels.items[i])
			(*labels)[meta->label_count++] = (struct opk_meta_label){
				resolved->metrics.items[i], resolved->labels.items[i]
			};
	meta->labels = *labels;
	meta->set_version = resolved->version;
	meta->set_hash = resolved->hash;
	meta->derived = resolved->derived;
	meta->derived_count = resolved->derived_count;
	meta->headings = resolved->headings;
	meta->heading_count = resolved->heading_count;
	meta->roofline = resolved->roofline;
	meta->hidden = opk_strlist_items(&resolved->metrics) + resolved->shown;
	meta->hidden_count = resolved->metrics.count - resolved->shown;
	meta->columns = opk_strlist_items(&resolved->columns);
	meta->column_count = resolved->columns.count;
	return OPK_OK;
}

/* ---- hash */

/*
 * The hash identifies what a set means on a chip. It does not depend on how the file is written,
 * nor on the order of derived metrics; it differs for another profiler, metric, formula, constant
 * or parameter. 32 bits are enough for the few versions of a set; the hash is not a key for
 * look-ups, and does not prevent forging.
 */

/* Adds a line with its length, so that a line break in the text can't imitate another line. */
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

/* Adds the parsed form, so that spelling does not matter: "a - c" with c = -5 is "a - -5". */
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

/* Hidden metrics come in the order of the formulas, which shall not matter. */
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

/* ---- keeping only some metrics */

/* The names that are kept: metrics, labels, derived metrics. */
struct kept {
	struct opk_index metrics, names;
	struct opk_strlist used; /* by kept formulas */
	bool no_memory;
};

static void add(struct kept *kept, struct opk_index *index, const char *name)
{
	kept->no_memory |= !opk_index_add(index, name, 0, NULL);
}

static void drop_item(struct opk_strlist *list, size_t from, size_t to)
{
	if (to != from)
		list->items[to] = list->items[from];
}

static void keep_metrics(struct kept *kept, struct opk_resolved *resolved)
{
	size_t count = 0, shown = 0;

	for (size_t i = 0; i < resolved->metrics.count; i++) {
		if (!opk_index_find(NULL, &kept->metrics, resolved->metrics.items[i])) {
			free(resolved->metrics.items[i]);
			free(resolved->labels.items[i]);
			continue;
		}
		add(kept, &kept->names, resolved->metrics.items[i]);
		if (*resolved->labels.items[i])
			add(kept, &kept->names, resolved->labels.items[i]);
		drop_item(&resolved->metrics, i, count);
		drop_item(&resolved->labels, i, count);
		resolved->marks[count++] = resolved->marks[i];
		shown += i < resolved->shown;
	}
	resolved->metrics.count = resolved->labels.count = count;
	resolved->shown = shown;
}

static int has_all(bool *out, struct opk_ctx *ctx, struct kept *kept, const char *text)
{
	opk_auto(opk_formula) struct opk_formula *formula = NULL;

	TRY(opk_formula_parse(&formula, ctx, text, NULL));
	*out = true;
	for (size_t i = 0; i < opk_formula_name_count(formula); i++)
		*out &= opk_index_find(NULL, &kept->names, opk_formula_name(formula, i))
		        || opk_attribute_is_name(opk_formula_name(formula, i));
	for (size_t i = 0; *out && i < opk_formula_name_count(formula); i++)
		kept->no_memory |= !opk_strlist_add(&kept->used, opk_formula_name(formula, i));
	return OPK_OK;
}

static int keep_derived(struct kept *kept, struct opk_ctx *ctx, struct opk_resolved *resolved)
{
	size_t count = 0;
	int code = OPK_OK;

	for (size_t i = 0; i < resolved->derived_count; i++) {
		struct opk_meta_derived *derived = &resolved->derived[i];
		bool keeps = true;

		if (!code)
			code = has_all(&keeps, ctx, kept, derived->formula);
		if (keeps) {
			add(kept, &kept->names, derived->name);
			resolved->derived[count++] = *derived;
			continue;
		}
		clear_derived(derived);
	}
	resolved->derived_count = count;
	return code;
}

/* Removes the column from its heading, and a heading without columns. */
static void shrink_headings(struct opk_resolved *resolved, size_t column)
{
	for (size_t i = 0; i < resolved->heading_count; i++) {
		struct opk_meta_heading *heading = &resolved->headings[i];

		if (column < heading->first)
			heading->first--;
		else if (column < heading->first + heading->count)
			heading->count--;
	}
}

static void drop_headings(struct opk_resolved *resolved)
{
	size_t count = 0;

	for (size_t i = 0; i < resolved->heading_count; i++) {
		if (resolved->headings[i].count)
			resolved->headings[count++] = resolved->headings[i];
		else
			clear_heading(&resolved->headings[i]);
	}
	resolved->heading_count = count;
}

static void keep_columns(const struct kept *kept, struct opk_resolved *resolved)
{
	size_t count = 0, listed = 0;

	for (size_t i = 0; i < resolved->columns.count; i++) {
		if (!opk_index_find(NULL, &kept->names, resolved->columns.items[i])) {
			free(resolved->columns.items[i]);
			shrink_headings(resolved, count);
			continue;
		}
		drop_item(&resolved->columns, i, count++);
		listed += i < resolved->listed;
	}
	resolved->columns.count = count;
	resolved->listed = listed;
	drop_headings(resolved);
}

static void move_item(struct opk_strlist *list, size_t from, size_t to)
{
	char *item = list->items[from];

	memmove(list->items + to + 1, list->items + to, (from - to) * sizeof item);
	list->items[to] = item;
}

/* Metrics collected only for formulas that are gone get columns. */
static void show_unused(struct kept *kept, struct opk_resolved *resolved)
{
	opk_strlist_sort(&kept->used);
	for (size_t i = resolved->shown; i < resolved->metrics.count; i++) {
		const char *name = resolved->metrics.items[i];
		struct opk_place mark = resolved->marks[i];
		size_t to = resolved->shown;

		if (opk_strlist_contains_sorted(&kept->used, name))
			continue;
		kept->no_memory |= !opk_strlist_add(&resolved->columns, name);
		move_item(&resolved->metrics, i, to);
		move_item(&resolved->labels, i, to);
		memmove(resolved->marks + to + 1, resolved->marks + to, (i - to) * sizeof mark);
		resolved->marks[to] = mark;
		resolved->shown++;
	}
}

static void clear_kept(struct kept *kept)
{
	opk_index_clear(&kept->metrics);
	opk_index_clear(&kept->names);
	opk_strlist_clear(&kept->used);
}

int opk_resolved_keep(struct opk_resolved *resolved, struct opk_ctx *ctx, const char *name,
                      const struct opk_strlist *metrics)
{
	__attribute__((cleanup(clear_kept))) struct kept kept = { 0 };
	opk_autofree char *hash = NULL;

	for (size_t i = 0; i < metrics->count; i++)
		add(&kept, &kept.metrics, metrics->items[i]);
	if (!kept.no_memory) {
		keep_metrics(&kept, resolved);
		TRY(keep_derived(&kept, ctx, resolved));
		keep_columns(&kept, resolved);
		show_unused(&kept, resolved);
		opk_resolved_keep_roofline(resolved);
		hash = opk_resolved_hash(resolved, ctx, name);
	}
	if (kept.no_memory || !hash)
		return opk_nomem(ctx, "a plan");
	free(resolved->hash);
	resolved->hash = opk_take(hash);
	return OPK_OK;
}
