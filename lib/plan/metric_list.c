/* SPDX-License-Identifier: BSD-2-Clause */
/* Lists metrics of a chip, and what each costs. */
#include <string.h>

#include "base/listing.h"
#include "base/option_struct.h"
#include "chip/chip.h"
#include "chip/door.h"
#include "plan/door.h"

/* If passes are counted, a base name means one of its full names. */
struct opk_metric_list {
	struct opk_catalog *catalog;
	struct opk_metric_list_options options;
	struct opk_full_name *names;
	size_t count, capacity;
	size_t refused, costly;
	bool counted;
};

static int add(struct opk_metric_list *list, struct opk_ctx *ctx, const struct opk_metric *metric,
               size_t submetric)
{
	struct opk_full_name *name = opk_append(&list->names, &list->capacity, &list->count,
	                                        sizeof *name);

	if (!name)
		return opk_nomem(ctx, "a list of metrics");
	*name = (struct opk_full_name){ metric, submetric };
	return OPK_OK;
}

/* The base name and the suffix in one; a text that is too long is cut off. */
static void join(char out[OPK_METRIC_NAME], const char *base, const char *suffix)
{
	char *end = memccpy(out, base, '\0', OPK_METRIC_NAME);

	if (end)
		memccpy(end - 1, suffix, '\0', (size_t)(out + OPK_METRIC_NAME - end + 1));
	out[OPK_METRIC_NAME - 1] = '\0';
}

static int add_full(struct opk_metric_list *list, struct opk_ctx *ctx,
                    const struct opk_matcher *matcher, const struct opk_metric *metric)
{
	size_t count = opk_catalog_submetric_count(list->catalog, metric);
	char full[OPK_METRIC_NAME];

	for (size_t i = 0; i < count; i++) {
		join(full, metric->name, opk_catalog_submetric(list->catalog, metric, i).suffix);
		if (opk_matcher_match_full(matcher, metric, full))
			TRY(add(list, ctx, metric, i));
	}
	return OPK_OK;
}

/* Asks once for each base metric found. */
static int ask_scopes(const struct opk_metric_list *list, struct opk_ctx *ctx)
{
	opk_autofree const struct opk_metric **metrics = opk_alloc_array(list->count + 1,
	                                                                 sizeof *metrics);
	size_t count = 0;

	for (size_t i = 0; metrics && i < list->count; i++)
		if (!count || metrics[count - 1] != list->names[i].metric)
			metrics[count++] = list->names[i].metric;
	return metrics ? opk_catalog_ask_scopes(list->catalog, ctx, metrics, count)
	               : opk_nomem(ctx, "a list of metrics");
}

/* If the library reports no scopes, the filter would leave nothing. */
static int choose_scope(struct opk_metric_list *list, struct opk_ctx *ctx)
{
	enum opk_scope scope = list->options.scope;
	size_t found = list->count, known = 0;
	bool wanted = list->options.scopes || scope != OPK_SCOPE_UNKNOWN;
	int code = wanted ? ask_scopes(list, ctx) : OPK_OK;

	if (code || !wanted)
		return code;
	list->count = 0;
	for (size_t i = 0; i < found; i++) {
		enum opk_scope one = list->names[i].metric->scope;

		known += one != OPK_SCOPE_UNKNOWN;
		if (scope == OPK_SCOPE_UNKNOWN || one == scope)
			list->names[list->count++] = list->names[i];
	}
	if (known || !found)
		return OPK_OK;
	return opk_fail(ctx, OPK_ENVIDIA,
	                "this CUPTI does not say which metrics are of a context and which of the "
	                "device; 13.1 and later do");
}

static int find(struct opk_metric_list *list, struct opk_ctx *ctx,
                const struct opk_matcher *matcher)
{
	for (size_t i = 0; i < opk_catalog_count(list->catalog); i++) {
		const struct opk_metric *metric = opk_catalog_get(list->catalog, i);

		if (list->options.submetrics)
			TRY(add_full(list, ctx, matcher, metric));
		else if (opk_matcher_match(matcher, metric))
			TRY(add(list, ctx, metric, opk_catalog_plainest(list->catalog, metric)));
	}
	return choose_scope(list, ctx);
}

/* Keeps metrics that can be collected in few passes. */
static void keep_collectable(struct opk_metric_list *list)
{
	uint64_t most = list->options.max_passes ? list->options.max_passes : UINT64_MAX;
	size_t found = list->count;

	list->count = 0;
	for (size_t i = 0; i < found; i++) {
		int passes = opk_catalog_submetric_of(list->catalog, &list->names[i]).passes;

		if (passes > 0 && (uint64_t)passes <= most)
			list->names[list->count++] = list->names[i];
		else
			++*(passes > 0 ? &list->costly : &list->refused);
	}
}

static int count_passes(struct opk_metric_list *list, struct opk_ctx *ctx)
{
	const struct opk_metric_list_options *options = &list->options;
	bool choosy = options->max_passes || options->availability;
	int code;

	if (!choosy && !options->passes)
		return OPK_OK;
	code = opk_catalog_count_passes(list->catalog, ctx, list->names, list->count, options);
	list->counted = !code;
	if (!code && choosy)
		keep_collectable(list);
	return code;
}

static int open_catalog(struct opk_metric_list *list, struct opk_ctx *ctx, const char *chip,
                        enum opk_profiler profiler)
{
	const struct opk_metric_list_options *options = &list->options;

	if (options->availability)
		TRY(opk_availability_allowed(ctx, profiler));
	TRY(opk_catalog_new(&list->catalog, ctx, chip, profiler));
	if (!options->submetrics && !options->passes && !options->max_passes
	    && !options->availability) {
		opk_catalog_keep(list->catalog, ctx);
		return OPK_OK;
	}
	TRY(opk_catalog_complete(list->catalog, ctx));
	if (options->availability)
		TRY(opk_catalog_set_availability(list->catalog, ctx, options->availability,
		                                 options->availability_size));
	return OPK_OK;
}

OPK_DEFINE_AUTO(opk_metric_list)
OPK_DEFINE_AUTO(opk_matcher)

int opk_metric_list_new(struct opk_metric_list **out, struct opk_ctx *ctx, const char *chip,
                        enum opk_profiler profiler, const struct opk_metric_list_options *options)
{
	opk_auto(opk_metric_list) struct opk_metric_list *list = opk_alloc(sizeof *list);
	opk_auto(opk_matcher) struct opk_matcher *matcher = NULL;

	if (!list)
		return opk_nomem(ctx, "a list of metrics");
	opk_copy_options(&list->options, sizeof list->options, options);
	list->options.size = sizeof list->options;
	TRY(opk_matcher_new(&matcher, ctx, &list->options));
	TRY(open_catalog(list, ctx, chip, profiler));
	TRY(find(list, ctx, matcher));
	TRY(count_passes(list, ctx));
	*out = opk_take(list);
	return OPK_OK;
}

void opk_metric_list_free(struct opk_metric_list *list)
{
	if (!list)
		return;
	opk_catalog_free(list->catalog);
	free(list->names);
	free(list);
}

const struct opk_catalog *opk_metric_list_catalog(const struct opk_metric_list *list)
{
	return list->catalog;
}

size_t opk_metric_list_count(const struct opk_metric_list *list)
{
	return list->count;
}

size_t opk_metric_list_refused(const struct opk_metric_list *list)
{
	return list->refused;
}

size_t opk_metric_list_costly(const struct opk_metric_list *list)
{
	return list->costly;
}

void opk_metric_list_get(struct opk_listed_metric *out, const struct opk_metric_list *list,
                         size_t i)
{
	const struct opk_full_name *name = &list->names[i];

	out->of = name->metric;
	out->sub = opk_catalog_submetric_of(list->catalog, name);
	if (!list->options.submetrics)
		out->sub.dim_unit = name->metric->dim_unit;
	join(out->name, name->metric->name, list->options.submetrics ? out->sub.suffix : "");
}

/* ---- as rows */

/* The last three columns need pass counts. */
#define UNCOUNTED "metric type hw_unit dim_unit description scope"
#define COUNTED UNCOUNTED " passes~ method status"

static void add_row(struct opk_listing *rows, const struct opk_listed_metric *metric)
{
	int passes = metric->sub.passes;

	opk_listing_row(rows, cell_text(metric->name),
	                cell_text(opk_metric_type_name(metric->of->type)),
	                cell_text(metric->of->hw_unit), cell_text(metric->sub.dim_unit),
	                cell_text(metric->of->description),
	                cell_text(opk_scope_name(metric->of->scope)),
	                cell_known((uint64_t)passes, passes > 0),
	                cell_text(opk_method_name(metric->sub.method)),
	                cell_text(opk_refusal_name(passes)));
}

int opk_metric_list(struct opk_listing **out, struct opk_ctx *ctx, const char *chip,
                    enum opk_profiler profiler, const struct opk_metric_list_options *given)
{
	OPK_OPTIONS(opk_metric_list_options, options, given);
	opk_auto(opk_metric_list) struct opk_metric_list *list = NULL;
	struct opk_listed_metric metric;
	struct opk_listing *rows;

	TRY(opk_metric_list_new(&list, ctx, chip, profiler, &options));
	rows = opk_listing_new(list->counted ? COUNTED : UNCOUNTED);
	opk_listing_set_chip(rows, opk_catalog_chip(list->catalog));
	for (size_t i = 0; i < list->count; i++) {
		opk_metric_list_get(&metric, list, i);
		add_row(rows, &metric);
	}
	TRY(opk_listing_finish(out, ctx, rows));
	if (options.refused)
		*options.refused = list->refused;
	if (options.costly)
		*options.costly = list->costly;
	return OPK_OK;
}
