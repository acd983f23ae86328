/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nvprof's names among the wanted metrics become derived metrics, as if the recording's set had
 * them.
 */
#include <string.h>

#include "chip/chip.h"
#include "container/container.h"
#include "eval/eval_inside.h"
#include "set/door.h"

static int is_nvprof(bool *out, struct opk_ctx *ctx, const char *name)
{
	opk_autolegacyrow struct opk_legacy_row row = { 0 };
	int code = strstr(name, "__") ? OPK_OK : opk_legacy_find(&row, ctx, name);

	*out = row.name != NULL;
	return code;
}

/* If only full metric names and nvprof's are possible, suggests one like the misspelt name. */
static int explain(struct opk_ctx *ctx, const struct opk_meta *meta, const char *name)
{
	opk_autofree char *near = NULL;
	struct opk_nearest said = { .name = name };

	if (strstr(name, "__") || (meta && (meta->label_count || meta->derived_count)))
		return OPK_OK;
	if (meta)
		TRY(opk_nearest_by_words(&said, ctx, meta->metrics, meta->metric_count));
	/* Words of the recording's metrics are explained where these are looked up. */
	if (said.best)
		return OPK_OK;
	TRY(opk_name_meant(&near, ctx, name));
	if (!near)
		return OPK_OK;
	return opk_fail(ctx, OPK_EUSAGE,
	                "'%s' is not a full metric name or a name of nvprof's, did you mean %s?",
	                name, near);
}

/* Lists nvprof's names that the recording does not know, separated by commas. */
static int list_names(struct opk_buf *out, struct opk_ctx *ctx, const struct opk_meta *meta,
                      const struct opk_wanted *wanted)
{
	struct opk_meta_names known = { 0 };
	int code = meta ? opk_meta_names_init(&known, ctx, meta) : OPK_OK;

	for (size_t i = 0; !code && i < wanted->shown_count + wanted->also_count; i++) {
		const char *name = i < wanted->shown_count ? wanted->shown[i]
		                                           : wanted->also[i - wanted->shown_count];
		bool nvprof = false;

		if (opk_meta_names_find(&known, name))
			continue;
		code = is_nvprof(&nvprof, ctx, name);
		if (nvprof)
			opk_buf_add_printf(out, "%s%s", out->size ? "," : "", name);
		else if (!code && i < wanted->shown_count)
			code = explain(ctx, meta, name);
	}
	opk_meta_names_clear(&known);
	return code;
}

static int resolve(struct opk_resolved *out, struct opk_ctx *ctx, const char *names,
                   const char *chip, enum opk_profiler profiler)
{
	struct opk_set *set = NULL;
	int code;

	if (!chip)
		return opk_fail(ctx, OPK_EUSAGE,
		                "what nvprof's names mean depends on the chip: name it, too");
	code = opk_set_from_names(&set, ctx, names);
	if (!code)
		code = opk_set_resolve(out, ctx, set, chip, profiler);
	opk_set_free(set);
	return code;
}

/* Metrics that the recording's set lacks are hidden: only formulas use them. */
static int extend(struct opk_nvprof_names *n, struct opk_ctx *ctx)
{
	const struct opk_resolved *resolved = &n->resolved;
	size_t room = resolved->metrics.count + 1;
	struct opk_meta *meta = &n->meta;

	n->metrics = opk_alloc_array(meta->metric_count + room, sizeof *n->metrics);
	n->hidden = opk_alloc_array(meta->hidden_count + room, sizeof *n->hidden);
	n->derived = opk_alloc_array(meta->derived_count + resolved->derived_count + 1,
	                             sizeof *n->derived);
	if (!opk_meta_list_columns(&n->columns, meta) || !n->metrics || !n->hidden || !n->derived)
		return opk_nomem(ctx, "metrics");
	/* The default columns stay as they were, without nvprof's names. */
	meta->columns = opk_strlist_items(&n->columns);
	meta->column_count = n->columns.count;
	for (size_t i = 0; i < meta->metric_count; i++)
		n->metrics[i] = meta->metrics[i];
	for (size_t i = 0; i < meta->hidden_count; i++)
		n->hidden[i] = meta->hidden[i];
	for (size_t i = 0; i < meta->derived_count; i++)
		n->derived[i] = meta->derived[i];
	meta->metrics = n->metrics;
	meta->hidden = n->hidden;
	meta->derived = n->derived;
	for (size_t i = 0; i < resolved->metrics.count; i++) {
		const char *name = resolved->metrics.items[i];

		if (!opk_meta_has_metric(meta, name))
			n->metrics[meta->metric_count++] = n->hidden[meta->hidden_count++] = name;
	}
	for (size_t i = 0; i < resolved->derived_count; i++)
		n->derived[meta->derived_count++] = resolved->derived[i];
	return OPK_OK;
}

int opk_nvprof_names_add(struct opk_nvprof_names *n, struct opk_ctx *ctx,
                         const struct opk_meta **meta, const struct opk_eval_options *options,
                         const struct opk_wanted *wanted)
{
	const char *chip = *meta ? (*meta)->chip : options->chip;
	enum opk_profiler profiler = *meta ? (*meta)->profiler : options->profiler;
	opk_autobuf struct opk_buf list = { 0 };
	opk_autofree char *names = NULL;
	int code = list_names(&list, ctx, *meta, wanted);

	if (code || !list.size)
		return code;
	names = opk_buf_take_text(&list);
	TRY(names ? resolve(&n->resolved, ctx, names, chip, profiler) : opk_nomem(ctx, "metrics"));
	n->meta = *meta ? **meta : (struct opk_meta){ 0 };
	code = extend(n, ctx);
	*meta = &n->meta;
	return code;
}

void opk_nvprof_names_clear(struct opk_nvprof_names *n)
{
	opk_resolved_clear(&n->resolved);
	free(n->metrics);
	free(n->hidden);
	opk_strlist_clear(&n->columns);
	free(n->derived);
	*n = (struct opk_nvprof_names){ 0 };
}
