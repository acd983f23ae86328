/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks metadata, whether they are read or written; and what their names mean. */
#include <ctype.h>
#include <string.h>

#include "base/ascii.h"
#include "base/index.h"
#include "container/container.h"

enum {
	MAX_PROPERTIES = 10000,
	MAX_INFLATED = 10000,
	MAX_DERIVED = 10000,
	MAX_FORMULAS = 1 << 20,
	MAX_HEADINGS = 10000,
	MAX_ROOFS = 1000,
	MAX_PASSES = 100000,         /* joined rows have a count for each pass */
	MAX_METRIC_PASSES = 1000000, /* of all metrics together */
};

/* ---- names ------------------------------------------------------------------------------ */

/* By name. Metrics come first: a label or derived metric with the same name is the mistake. */
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
			                "label '%s' is of '%s', which is not a metric of "
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
			                "'%s' is used twice: as the name of metrics, labels or "
			                "derived metrics",
			                name->name);
	}
	return OPK_OK;
}

static int fill_names(struct opk_meta_names *names, struct opk_ctx *ctx,
                      const struct opk_meta *meta)
{
	if (!names->items)
		return opk_nomem(ctx, "names");
	for (size_t i = 0; i < meta->metric_count; i++)
		add(names, meta->metrics[i], false, false, i);
	qsort(names->items, names->count, sizeof *names->items, compare);
	TRY(add_labels(names, ctx, meta));
	for (size_t i = 0; i < meta->derived_count; i++)
		add(names, meta->derived[i].name, true, false, i);
	qsort(names->items, names->count, sizeof *names->items, compare);
	return find_doubles(names, ctx);
}

int opk_meta_names_init(struct opk_meta_names *names, struct opk_ctx *ctx,
                        const struct opk_meta *meta)
{
	size_t count = meta->metric_count + meta->label_count + meta->derived_count;
	int code;

	*names = (struct opk_meta_names){ .items = opk_alloc_array(count, sizeof *names->items) };
	code = fill_names(names, ctx, meta);
	if (code)
		opk_meta_names_clear(names);
	return code;
}

void opk_meta_names_clear(struct opk_meta_names *names)
{
	free(names->items);
	*names = (struct opk_meta_names){ 0 };
}

/* ---- the run ---------------------------------------------------------------------------- */

/* Chip names go to NVIDIA's code: letters and digits, and not many. */
static bool is_chip_name(const char *text)
{
	size_t length = strlen(text);

	for (size_t i = 0; i < length; i++)
		if (!isupper((unsigned char)text[i]) && !isdigit((unsigned char)text[i]))
			return false;
	return length > 0 && length < 16;
}

/* A trace says what ran and when. Samples of program counters have all reasons by default. */
static bool may_lack_metrics(const struct opk_meta *meta)
{
	return meta->profiler == OPK_PROFILER_PC || (meta->mode && !strcmp(meta->mode, "trace"));
}

bool opk_meta_is_probe(const struct opk_meta *meta)
{
	return meta->kind && !strcmp(meta->kind, "probe");
}

static bool is_metric_name(const char *text)
{
	size_t length = strlen(text);

	for (size_t i = 0; i < length; i++)
		if (!isalnum((unsigned char)text[i]) && text[i] != '_' && text[i] != '.')
			return false;
	return length > 0 && length < 512;
}

/* An unknown join would join rows wrongly. */
static bool is_join(const char *text)
{
	static const char *const known[] = { "", "launch", "kernel", "name" };

	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (!strcmp(text, known[i]))
			return true;
	return false;
}

static int check_pass_list(struct opk_ctx *ctx, const struct opk_pass_list *list, size_t metric,
                           size_t passes)
{
	for (size_t i = 0; i < list->count; i++) {
		uint32_t pass = list->passes[i];

		if (!pass || pass > passes)
			return opk_fail(
				ctx, OPK_EINPUT,
				"metadata: metric %zu is in a pass that is not one of the %zu",
				metric + 1, passes);
		if (i && pass <= list->passes[i - 1])
			return opk_fail(ctx, OPK_EINPUT,
			                "metadata: the passes of metric %zu don't ascend",
			                metric + 1);
	}
	return OPK_OK;
}

/* `count` lists, one for each of the metrics, or none. */
static int check_passes(struct opk_ctx *ctx, const struct opk_pass_list *lists, size_t count,
                        size_t metrics, size_t passes)
{
	size_t total = 0;

	if (passes > MAX_PASSES)
		return opk_fail(ctx, OPK_EINPUT, "metadata: %zu passes are more than %d", passes,
		                MAX_PASSES);
	if (count && count != metrics)
		return opk_fail(ctx, OPK_EINPUT,
		                "metadata: passes of %zu metrics, and there are %zu", count,
		                metrics);
	for (size_t i = 0; i < count; i++) {
		total += lists[i].count;
		TRY(total > MAX_METRIC_PASSES
		            ? opk_fail(ctx, OPK_EINPUT,
		                       "metadata: the metrics are in more than %d passes",
		                       MAX_METRIC_PASSES)
		            : check_pass_list(ctx, &lists[i], i, passes));
	}
	return OPK_OK;
}

static int check_plans(struct opk_ctx *ctx, const struct opk_meta *meta)
{
	const struct opk_meta_rotation *rotation = &meta->rotation;

	TRY(check_passes(ctx, meta->metric_passes, meta->metric_pass_count, meta->metric_count,
	                 meta->passes));
	return check_passes(ctx, rotation->metric_passes, rotation->metric_pass_count,
	                    meta->metric_count, rotation->passes);
}

bool opk_meta_has_metric(const struct opk_meta *meta, const char *metric)
{
	return opk_texts_contain(meta->metrics, meta->metric_count, metric);
}

bool opk_meta_is_inflated(const struct opk_meta *meta, const char *metric)
{
	return opk_texts_contain(meta->inflated, meta->inflated_count, metric);
}

/* Many are looked up: a hostile list must not take minutes. */
static int check_inflated(struct opk_ctx *ctx, const struct opk_meta *meta)
{
	opk_autoindex struct opk_index metrics = { 0 };

	if (meta->inflated_count > MAX_INFLATED)
		return opk_fail(ctx, OPK_EINPUT, "metadata: too many inflated metrics");
	for (size_t i = 0; meta->inflated_count && i < meta->metric_count; i++)
		if (!opk_index_add(&metrics, meta->metrics[i], i, NULL))
			return opk_nomem(ctx, "metadata");
	for (size_t i = 0; i < meta->inflated_count; i++)
		if (!opk_index_find(NULL, &metrics, meta->inflated[i]))
			return opk_fail(ctx, OPK_EINPUT,
			                "metadata: inflated metric %zu is not in the set", i + 1);
	return OPK_OK;
}

static int check_run(struct opk_ctx *ctx, const struct opk_meta *meta)
{
	if (meta->run_count > MAX_PROPERTIES)
		return opk_fail(ctx, OPK_EINPUT, "metadata: more than %d facts about the run",
		                MAX_PROPERTIES);
	for (size_t i = 0; i < meta->run_count; i++)
		if (!meta->run[i].name || !*meta->run[i].name || !meta->run[i].value)
			return opk_fail(ctx, OPK_EINPUT,
			                "metadata: fact %zu about the run lacks a name or a text",
			                i + 1);
	return OPK_OK;
}

static int check_availability(struct opk_ctx *ctx, const struct opk_meta *meta)
{
	for (size_t i = 0; i < meta->availability_count; i++)
		if (!is_chip_name(meta->availability[i].chip))
			return opk_fail(ctx, OPK_EINPUT, "availability %zu names no usable chip",
			                i + 1);
	return OPK_OK;
}

/* ---- the set ---------------------------------------------------------------------------- */

/* Whether formulas can use the text as a name. */
static bool is_name(const char *text)
{
	size_t length = text && opk_is_letter(*text) ? opk_span(text, opk_in_full_name) : 0;

	return length && !text[length] && length < 512;
}

static int check_labels(struct opk_ctx *ctx, const struct opk_meta *meta,
                        const struct opk_meta_names *names)
{
	opk_autofree bool *seen = opk_alloc_array(meta->metric_count, sizeof *seen);

	if (!seen)
		return opk_nomem(ctx, "metadata");
	for (size_t i = 0; i < meta->label_count; i++) {
		const struct opk_meta_label *label = &meta->labels[i];
		size_t metric = opk_meta_names_find(names, label->metric)->index;

		if (seen[metric])
			return opk_fail(ctx, OPK_EINPUT, "metric %s has two labels", label->metric);
		seen[metric] = true;
	}
	return OPK_OK;
}

/* Runs before any lookup of names. */
static int check_texts(struct opk_ctx *ctx, const struct opk_meta *meta)
{
	size_t total = 0;

	if (meta->label_count > meta->metric_count)
		return opk_fail(ctx, OPK_EINPUT, "more labels than metrics");
	for (size_t i = 0; i < meta->label_count; i++)
		if (!meta->labels[i].metric || !is_name(meta->labels[i].name))
			return opk_fail(ctx, OPK_EINPUT, "label %zu is not a usable name", i + 1);
	if (meta->derived_count > MAX_DERIVED)
		return opk_fail(ctx, OPK_EINPUT, "more than %d derived metrics", MAX_DERIVED);
	for (size_t i = 0; i < meta->derived_count; i++) {
		const struct opk_meta_derived *derived = &meta->derived[i];

		if (!is_name(derived->name))
			return opk_fail(ctx, OPK_EINPUT, "derived metric %zu has no usable name",
			                i + 1);
		if (!derived->formula || !*derived->formula)
			return opk_fail(ctx, OPK_EINPUT, "derived metric '%s' has no formula",
			                derived->name);
		total += strlen(derived->formula);
		if (total > MAX_FORMULAS)
			return opk_fail(ctx, OPK_EINPUT, "formulas of more than %d bytes",
			                MAX_FORMULAS);
	}
	return OPK_OK;
}

static int check_hidden(bool *hidden, struct opk_ctx *ctx, const struct opk_meta *meta,
                        const struct opk_meta_names *names)
{
	for (size_t i = 0; i < meta->hidden_count; i++) {
		const struct opk_meta_name *found = opk_meta_names_find(names, meta->hidden[i]);

		if (!found || found->derived || found->label)
			return opk_fail(ctx, OPK_EINPUT,
			                "'%s' is hidden and not a metric of the set",
			                meta->hidden[i]);
		if (hidden[found->index])
			return opk_fail(ctx, OPK_EINPUT, "'%s' is hidden twice", meta->hidden[i]);
		hidden[found->index] = true;
	}
	return OPK_OK;
}

/* `taken` has the hidden metrics, and room for the derived ones after all metrics. */
static int check_columns(bool *taken, struct opk_ctx *ctx, const struct opk_meta *meta,
                         const struct opk_meta_names *names)
{
	for (size_t i = 0; i < meta->column_count; i++) {
		const struct opk_meta_name *found = opk_meta_names_find(names, meta->columns[i]);
		size_t at;

		if (!found)
			return opk_fail(ctx, OPK_EINPUT,
			                "column '%s' is not a metric, label or derived metric",
			                meta->columns[i]);
		at = found->index + (found->derived ? meta->metric_count : 0);
		if (taken[at])
			return opk_fail(ctx, OPK_EINPUT, "column '%s' is hidden, or is there twice",
			                meta->columns[i]);
		taken[at] = true;
	}
	return OPK_OK;
}

static int check_headings(struct opk_ctx *ctx, const struct opk_meta *meta)
{
	/* Without a list of columns, all metrics that are not hidden are shown. */
	size_t all = meta->metric_count - meta->hidden_count + meta->derived_count;
	size_t columns = meta->column_count ? meta->column_count : all;

	if (meta->heading_count > MAX_HEADINGS)
		return opk_fail(ctx, OPK_EINPUT, "more than %d headings", MAX_HEADINGS);
	for (size_t i = 0; i < meta->heading_count; i++) {
		const struct opk_meta_heading *heading = &meta->headings[i];

		if (!heading->title || heading->first > columns
		    || heading->count > columns - heading->first)
			return opk_fail(ctx, OPK_EINPUT,
			                "heading %zu lacks a title, or is not over the %zu columns",
			                i + 1, columns);
	}
	return OPK_OK;
}

static int check_drawn(struct opk_ctx *ctx, const struct opk_meta_names *names, const char *name,
                       bool needed)
{
	const char *text = name ? name : "";

	if ((!needed && !*text) || opk_meta_names_find(names, text))
		return OPK_OK;
	return opk_fail(ctx, OPK_EINPUT,
	                "the roofline: '%s' is not a metric, label or derived metric", text);
}

static int check_roofline(struct opk_ctx *ctx, const struct opk_meta_roofline *roofline,
                          const struct opk_meta_names *names)
{
	if (!roofline->roof_count)
		return OPK_OK;
	if (roofline->roof_count > MAX_ROOFS || roofline->work_count > MAX_ROOFS)
		return opk_fail(ctx, OPK_EINPUT, "a roofline of more than %d roofs", MAX_ROOFS);
	TRY(check_drawn(ctx, names, roofline->time, true));
	for (size_t i = 0; i < roofline->work_count; i++)
		TRY(check_drawn(ctx, names, roofline->work[i], true));
	for (size_t i = 0; i < roofline->roof_count; i++) {
		const struct opk_meta_roof *roof = &roofline->roofs[i];

		TRY(check_drawn(ctx, names, roof->peak, true));
		TRY(check_drawn(ctx, names, roof->bytes, false));
		TRY(check_drawn(ctx, names, roof->work, false));
		TRY(check_drawn(ctx, names, roof->throughput, false));
	}
	return OPK_OK;
}

static int check_names(struct opk_ctx *ctx, const struct opk_meta *meta,
                       const struct opk_meta_names *names)
{
	opk_autofree bool *taken = opk_alloc_array(meta->metric_count + meta->derived_count,
	                                           sizeof *taken);

	TRY(taken ? check_labels(ctx, meta, names) : opk_nomem(ctx, "metadata"));
	TRY(check_hidden(taken, ctx, meta, names));
	TRY(check_columns(taken, ctx, meta, names));
	TRY(check_headings(ctx, meta));
	return check_roofline(ctx, &meta->roofline, names);
}

static int check_set(struct opk_ctx *ctx, const struct opk_meta *meta)
{
	opk_autonames struct opk_meta_names names = { 0 };

	if (!meta->label_count && !meta->hidden_count && !meta->derived_count && !meta->column_count
	    && !meta->heading_count && !meta->roofline.roof_count)
		return OPK_OK;
	TRY(check_texts(ctx, meta));
	TRY(opk_meta_names_init(&names, ctx, meta));
	return check_names(ctx, meta, &names);
}

/* ---- all of it -------------------------------------------------------------------------- */

int opk_meta_check(struct opk_ctx *ctx, const struct opk_meta *meta)
{
	if (!meta->chip || !is_chip_name(meta->chip))
		return opk_fail(ctx, OPK_EINPUT, "the metadata names no usable chip");
	if ((!meta->metric_count && !may_lack_metrics(meta) && !opk_meta_is_probe(meta))
	    || meta->metric_count > OPK_MAX_METRICS)
		return opk_fail(ctx, OPK_EINPUT, "the metadata has no usable list of metrics");
	for (size_t i = 0; i < meta->metric_count; i++)
		if (!is_metric_name(meta->metrics[i]))
			return opk_fail(ctx, OPK_EINPUT, "metadata: metric %zu has no usable name",
			                i + 1);
	if (!is_join(meta->join ? meta->join : ""))
		return opk_fail(ctx, OPK_EINPUT, "'%s' is not a way to join ranges", meta->join);
	TRY(check_inflated(ctx, meta));
	TRY(check_run(ctx, meta));
	TRY(check_availability(ctx, meta));
	TRY(check_plans(ctx, meta));
	return check_set(ctx, meta);
}
