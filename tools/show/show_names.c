/* SPDX-License-Identifier: BSD-2-Clause */
/* A recording's columns: what they are called and what they mean, and their share of a peak. */
#include <string.h>

#include "show/show.h"

static const char time_metric[] = "gpu__time_duration.sum";

static const char *label_of(const struct opk_meta *meta, const char *metric)
{
	for (size_t i = 0; i < meta->label_count; i++)
		if (!strcmp(meta->labels[i].metric, metric))
			return meta->labels[i].name;
	return metric;
}

static bool is_hidden(const struct opk_meta *meta, const char *metric)
{
	for (size_t i = 0; i < meta->hidden_count; i++)
		if (!strcmp(meta->hidden[i], metric))
			return true;
	return false;
}

/* As opk_meta says what is shown. */
static bool list_columns(struct opk_strlist *names, const struct opk_meta *meta)
{
	bool good = true;

	for (size_t i = 0; good && i < meta->column_count; i++)
		good = opk_strlist_add(names, meta->columns[i]);
	for (size_t i = 0; good && !meta->column_count && i < meta->metric_count; i++)
		if (!is_hidden(meta, meta->metrics[i]))
			good = opk_strlist_add(names, label_of(meta, meta->metrics[i]));
	for (size_t i = 0; good && !meta->column_count && i < meta->derived_count; i++)
		good = opk_strlist_add(names, meta->derived[i].name);
	return good;
}

static const struct opk_meta_derived *find_derived(const struct opk_meta *meta, const char *name)
{
	for (size_t i = 0; i < meta->derived_count; i++)
		if (!strcmp(meta->derived[i].name, name))
			return &meta->derived[i];
	return NULL;
}

const char *show_metric_of(const struct show *show, const char *column)
{
	for (size_t i = 0; i < show->meta->label_count; i++)
		if (!strcmp(show->meta->labels[i].name, column))
			return show->meta->labels[i].metric;
	return find_derived(show->meta, column) ? NULL : column;
}

const char *show_description(const struct show *show, const char *column)
{
	const struct opk_meta_derived *derived = find_derived(show->meta, column);
	const char *name = show_metric_of(show, column);
	const struct opk_metric *metric = name ? opk_catalog_find(show->catalog, name) : NULL;

	if (derived)
		return derived->description;
	return metric ? metric->description : "";
}

/* ---- peaks */

static bool has_submetric(const struct show *show, const struct opk_metric *metric,
                          const char *suffix)
{
	for (size_t i = 0; i < opk_catalog_submetric_count(show->catalog, metric); i++)
		if (!strcmp(opk_catalog_submetric(show->catalog, metric, i).suffix, suffix))
			return true;
	return false;
}

/* Elapsed cycles and times are always at their peak. */
static bool has_peak(const struct opk_metric *metric)
{
	return metric && metric->type == OPK_COUNTER && !strstr(metric->name, "cycles_elapsed")
	       && !strstr(metric->name, "cycles_in_") && !strstr(metric->name, "__time_");
}

/* The name of the metric's share of its peak, or ""; free(). NULL when out of memory. */
static char *peak_of(const struct show *show, const char *name)
{
	const struct opk_metric *metric = name ? opk_catalog_find(show->catalog, name) : NULL;
	const char *suffix, *rest;
	opk_autofree char *share = NULL;

	if (name && strstr(name, ".pct_of_peak_sustained"))
		return opk_strdup(name);
	if (!has_peak(metric))
		return opk_strdup("");
	suffix = name + strlen(metric->name);
	rest = *suffix == '.' ? suffix + 1 + strcspn(suffix + 1, ".") : "?";
	if (*rest && strcmp(rest, ".per_second") && strcmp(rest, ".per_cycle_elapsed"))
		return opk_strdup("");
	share = opk_printf("%.*s.pct_of_peak_sustained_elapsed", (int)(rest - suffix), suffix);
	if (!share || !has_submetric(show, metric, share))
		return share ? opk_strdup("") : NULL;
	return opk_printf("%s%s", metric->name, share);
}

static bool add_once(struct opk_strlist *names, const char *name)
{
	return !*name || opk_strlist_contains(names, name) || opk_strlist_add(names, name);
}

int show_names_list(struct show *show)
{
	bool good = list_columns(&show->names, show->meta);

	show->shown = show->names.count;
	for (size_t i = 0; good && i < show->shown; i++) {
		const char *metric = show_metric_of(show, show->names.items[i]);

		good = opk_strlist_take(&show->peaks, peak_of(show, metric));
		/* A share that is there under a short name is evaluated once more. */
		good = good && add_once(&show->names, show->peaks.items[i]);
	}
	if (good && !show_is_sampled(show) && opk_catalog_find(show->catalog, time_metric))
		good = add_once(&show->names, time_metric);
	return good ? OPK_OK : app_nomem(show->app);
}
