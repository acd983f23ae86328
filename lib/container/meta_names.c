/* SPDX-License-Identifier: BSD-2-Clause */
#include "container/meta_names.h"

#include <string.h>

#include "base/mem.h"

/* Metrics before others of the same name, so that these are found out. */
static int compare(const void *a, const void *b)
{
	const struct opk_meta_name *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	if (order)
		return order;
	if ((x->derived || x->label) != (y->derived || y->label))
		return x->derived || x->label ? 1 : -1;
	return x->index < y->index ? -1 : x->index > y->index;
}

static int compare_name(const void *name, const void *item)
{
	return strcmp(name, ((const struct opk_meta_name *)item)->name);
}

const struct opk_meta_name *opk_meta_names_find(const struct opk_meta_names *names,
                                                const char *name)
{
	if (!names->count)
		return NULL;
	return bsearch(name, names->items, names->count, sizeof *names->items, compare_name);
}

static void add(struct opk_meta_names *names, const char *name, bool derived, bool label,
                size_t index)
{
	names->items[names->count++] = (struct opk_meta_name){ name, derived, label, index };
}

/* The metrics are sorted already, and so can be found. */
static int add_labels(struct opk_meta_names *names, struct opk_ctx *ctx,
                      const struct opk_meta *meta)
{
	struct opk_meta_names metrics = *names;

	for (size_t i = 0; i < meta->label_count; i++) {
		const struct opk_meta_label *label = &meta->labels[i];
		const struct opk_meta_name *metric = opk_meta_names_find(&metrics, label->metric);

		if (!metric)
			return opk_fail(ctx, OPK_EINPUT,
			                "label '%s' is of '%s', which is no metric of "
			                "the set",
			                label->name, label->metric);
		add(names, label->name, false, true, metric->index);
	}
	return OPK_OK;
}

static int find_doubles(const struct opk_meta_names *names, struct opk_ctx *ctx)
{
	for (size_t i = 1; i < names->count; i++) {
		const struct opk_meta_name *name = &names->items[i];

		if ((name->derived || name->label) && !strcmp(name[-1].name, name->name))
			return opk_fail(ctx, OPK_EINPUT,
			                "'%s' is the name of two: metrics, labels or "
			                "derived metrics",
			                name->name);
	}
	return OPK_OK;
}

int opk_meta_names_init(struct opk_meta_names *names, struct opk_ctx *ctx,
                        const struct opk_meta *meta)
{
	size_t count = meta->metric_count + meta->label_count + meta->derived_count;
	int code;

	*names = (struct opk_meta_names){ .items = opk_alloc_array(count, sizeof *names->items) };
	if (!names->items)
		return opk_nomem(ctx, "names");
	for (size_t i = 0; i < meta->metric_count; i++)
		add(names, meta->metrics[i], false, false, i);
	qsort(names->items, names->count, sizeof *names->items, compare);
	code = add_labels(names, ctx, meta);
	for (size_t i = 0; !code && i < meta->derived_count; i++)
		add(names, meta->derived[i].name, true, false, i);
	if (!code) {
		qsort(names->items, names->count, sizeof *names->items, compare);
		code = find_doubles(names, ctx);
	}
	if (code)
		opk_meta_names_clear(names);
	return code;
}

void opk_meta_names_clear(struct opk_meta_names *names)
{
	free(names->items);
	*names = (struct opk_meta_names){ 0 };
}
