/* SPDX-License-Identifier: BSD-2-Clause */
/* A recording's columns: names, descriptions and shares of peaks. */
#include <math.h>

#include "base/index.h"
#include "chip/door.h"
#include "container/container.h"
#include "eval/door.h"
#include "formula/formula.h"
#include "summary/summary_inside.h"

static const struct opk_meta_derived *find_derived(const struct opk_meta *meta, const char *name)
{
	for (size_t i = 0; i < meta->derived_count; i++)
		if (!strcmp(meta->derived[i].name, name))
			return &meta->derived[i];
	return NULL;
}

/* The full name of the metric that a column shows; NULL: derived. */
static const char *metric_of(const struct opk_meta *meta, const char *column)
{
	for (size_t i = 0; i < meta->label_count; i++)
		if (!strcmp(meta->labels[i].name, column))
			return meta->labels[i].metric;
	return find_derived(meta, column) ? NULL : column;
}

static const char *description_of(const struct opk_summary *s, const char *column)
{
	const struct opk_meta_derived *derived = find_derived(s->meta, column);
	const char *name = metric_of(s->meta, column);
	const struct opk_metric *metric = name ? opk_catalog_find(s->catalog, name) : NULL;

	if (derived)
		return derived->description;
	return metric ? metric->description : "";
}

/* Copies the description: the catalog, 4 MB, is freed before the summary. */
static bool add_description(struct opk_summary *s, const char *column, bool sparse)
{
	return opk_strlist_take(&s->descriptions,
	                        opk_printf("%s%s", description_of(s, column),
	                                   sparse ? "; the peak is that of sparse operands" : ""));
}

/* ---- peaks */

static bool has_submetric(const struct opk_summary *s, const struct opk_metric *metric,
                          const char *suffix)
{
	for (size_t i = 0; i < opk_catalog_submetric_count(s->catalog, metric); i++)
		if (!strcmp(opk_catalog_submetric(s->catalog, metric, i).suffix, suffix))
			return true;
	return false;
}

/* Elapsed cycles and times are always at their peak. */
static bool may_be_below_peak(const struct opk_metric *metric)
{
	return metric && metric->type == OPK_COUNTER && !strstr(metric->name, "cycles_elapsed")
	       && !strstr(metric->name, "cycles_in_") && !strstr(metric->name, "__time_");
}

/* The name of the metric's share of its peak, or ""; free(). NULL when out of memory. */
static char *peak_of(const struct opk_summary *s, const char *name)
{
	const struct opk_metric *metric = name ? opk_catalog_find(s->catalog, name) : NULL;
	const char *suffix, *rest;
	opk_autofree char *share = NULL;

	if (name && strstr(name, ".pct_of_peak_sustained"))
		return opk_strdup(name);
	if (!may_be_below_peak(metric))
		return opk_strdup("");
	suffix = name + strlen(metric->name);
	rest = *suffix == '.' ? suffix + 1 + strcspn(suffix + 1, ".") : "?";
	if (*rest && strcmp(rest, ".per_second") && strcmp(rest, ".per_cycle_elapsed"))
		return opk_strdup("");
	share = opk_printf("%.*s.pct_of_peak_sustained_elapsed", (int)(rest - suffix), suffix);
	if (!share || !has_submetric(s, metric, share))
		return share ? opk_strdup("") : NULL;
	return opk_printf("%s%s", metric->name, share);
}

static const char tensor[] = "__ops_path_tensor_", realtime[] = "_realtime";

/*
 * Whether the share is of the peak for sparse operands. This is so if the chip also counts sparse
 * operands of the type, and the name does not say which it means.
 */
static bool has_sparse_peak(const struct opk_summary *s, const char *name)
{
	const char *type = name ? strstr(name, tensor) : NULL;
	opk_autofree char *text = NULL;
	size_t length;

	type = type && !strstr(type, "_sparsity_") ? strstr(type, "_src_") : NULL;
	if (!type)
		return false;
	length = strcspn(type, ".");
	if (length > strlen(realtime)
	    && !strncmp(type + length - strlen(realtime), realtime, strlen(realtime)))
		length -= strlen(realtime);
	text = opk_printf("%.*s_sparsity_on", (int)length, type);
	for (size_t i = 0; text && i < opk_catalog_count(s->catalog); i++) {
		const char *other = opk_catalog_get(s->catalog, i)->name;

		if (strstr(other, tensor) && strstr(other, text))
			return true;
	}
	return false;
}

static bool add_once(struct opk_strlist *names, const char *name)
{
	return !*name || opk_strlist_contains(names, name) || opk_strlist_add(names, name);
}

static int fill_columns(struct opk_summary *s)
{
	s->columns = opk_alloc_array(s->column_count + 1, sizeof *s->columns);
	if (!s->columns)
		return summary_nomem(s);
	TRY(opk_metric_labels(&s->column_words, s->ctx, opk_strlist_items(&s->names),
	                      s->column_count));
	for (size_t i = 0; i < s->column_count; i++) {
		const char *name = s->names.items[i], *metric = metric_of(s->meta, name);
		bool sparse = i < s->peaks.count && *s->peaks.items[i]
		              && has_sparse_peak(s, metric);

		if (!add_description(s, name, sparse))
			return summary_nomem(s);
		s->columns[i] = (struct opk_summary_column){
			.name = name,
			.words = s->column_words.items[i],
			.metric = metric,
			.unit = "",
			.description = s->descriptions.items[i],
			.at = SIZE_MAX,
			.peak = SIZE_MAX,
			.limit = SIZE_MAX,
			.inflated = metric && opk_meta_is_inflated(s->meta, metric),
			.sparse_peak = sparse,
		};
	}
	return OPK_OK;
}

static bool is_shown(const struct opk_summary *s, const char *metric)
{
	for (size_t i = 0; i < s->column_count; i++) {
		const char *shown = metric_of(s->meta, s->names.items[i]);

		if (shown && !strcmp(shown, metric))
			return true;
	}
	return false;
}

static bool add_also(struct opk_summary *s)
{
	for (size_t i = 0; s->take.also && i < s->take.also->count; i++)
		if (!is_shown(s, s->take.also->items[i])
		    && !add_once(&s->names, s->take.also->items[i]))
			return false;
	return true;
}

int opk_summary_list_columns(struct opk_summary *s)
{
	bool good = opk_meta_list_columns(&s->names, s->meta);

	s->column_count = s->names.count;
	for (size_t i = 0; good && i < s->column_count; i++) {
		const char *metric = metric_of(s->meta, s->names.items[i]);

		good = opk_strlist_take(&s->peaks, peak_of(s, metric));
		/* A share that already is a column under a label is evaluated once more. */
		good = good && add_once(&s->names, s->peaks.items[i]);
	}
	if (good && !summary_is_sampled(s) && opk_catalog_find(s->catalog, opk_summary_time_metric))
		good = add_once(&s->names, opk_summary_time_metric);
	good = good && add_also(s);
	return good ? fill_columns(s) : summary_nomem(s);
}

/* ---- after the evaluation */

static bool ends_with(const char *name, const char *ending)
{
	size_t length = strlen(name), end = strlen(ending);

	return length > end && !strcmp(name + length - end, ending);
}

/* The peak of a level of the roofline whose bytes a second these are; or NULL. */
static const char *find_roof(const struct opk_summary *s, const char *name)
{
	const struct opk_meta_roofline *roofline = opk_evaluation_roofline(s->evaluation);

	for (size_t i = 0; i < roofline->roof_count; i++) {
		const char *bytes = roofline->roofs[i].bytes;
		size_t length = bytes ? strlen(bytes) : 0;

		if (length && !strncmp(name, bytes, length)
		    && !strcmp(name + length, ".per_second"))
			return roofline->roofs[i].peak;
	}
	return NULL;
}

/* The name that a rate's peak has in its own unit, free(); "": it is not a rate. */
static char *limit_of(const struct opk_summary *s, const char *name)
{
	static const char rate[] = "_rate", second[] = ".per_second";
	const char *roof = find_roof(s, name);

	if (roof)
		return opk_strdup(roof);
	if (ends_with(name, rate))
		return opk_printf("%.*s_peak", (int)(strlen(name) - strlen(rate)), name);
	if (ends_with(name, second) && !strstr(name, ".peak_sustained"))
		return opk_printf("%.*s.peak_sustained_elapsed%s",
		                  (int)(strlen(name) - strlen(second)), name, second);
	return opk_strdup("");
}

/* "bytes/second" and "byte/second" are. */
static bool are_equal_units(const char *a, const char *b)
{
	struct opk_unit one, other;

	return opk_unit_try(&one, a) && opk_unit_try(&other, b) && opk_unit_equal(&one, &other);
}

/* Finds the columns of peaks; `numbers` has the places of columns by their names. */
static int find_limits(struct opk_summary *s, const struct opk_index *numbers)
{
	for (size_t i = 0; i < s->column_count; i++) {
		struct opk_summary_column *column = &s->columns[i];
		opk_autofree char *name = limit_of(s, column->name);
		size_t limit;

		if (!name)
			return summary_nomem(s);
		if (column->at != SIZE_MAX && opk_index_find(&limit, numbers, name)
		    && s->columns[limit].at != SIZE_MAX
		    && are_equal_units(s->columns[limit].unit, column->unit))
			column->limit = limit;
	}
	return OPK_OK;
}

static bool is_unknown(const struct opk_summary *s, size_t at)
{
	for (size_t i = 0; at != SIZE_MAX && i < s->group_count; i++)
		if (!isnan(s->groups[i].of->columns[at].mean))
			return false;
	return at != SIZE_MAX && s->group_count;
}

int opk_summary_place_columns(struct opk_summary *s)
{
	opk_autoindex struct opk_index places = { 0 }, numbers = { 0 };
	size_t count = opk_evaluation_column_count(s->evaluation);

	for (size_t i = 0; i < count; i++)
		if (!opk_index_add(&places, opk_evaluation_column(s->evaluation, i), i, NULL))
			return summary_nomem(s);
	for (size_t i = 0; i < s->column_count; i++) {
		struct opk_summary_column *column = &s->columns[i];

		if (!opk_index_add(&numbers, column->name, i, NULL))
			return summary_nomem(s);
		if (!opk_index_find(&column->at, &places, column->name))
			continue;
		opk_index_find(&column->peak, &places, s->peaks.items[i]);
		column->unit = opk_evaluation_column_unit(s->evaluation, column->at);
		column->heading = opk_evaluation_column_heading(s->evaluation, column->at);
		column->unknown = is_unknown(s, column->at);
	}
	return find_limits(s, &numbers);
}
