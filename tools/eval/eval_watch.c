/* SPDX-License-Identifier: BSD-2-Clause */
/* Watches for values that are nan everywhere: a note, or with --strict an error. */
#include "eval/eval_watch.h"

#include <math.h>
#include <string.h>

#include "base/buf.h"
#include "base/extreme.h"

static int find(struct eval_watch *watch, struct app *app, const char *name, size_t *out)
{
	if (opk_index_find(out, &watch->numbers, name))
		return OPK_OK;
	*out = watch->names.count;
	if (!opk_grow(&watch->values, &watch->capacity, *out, sizeof *watch->values)
	    || !opk_strlist_add(&watch->names, name)
	    || !opk_index_add(&watch->numbers, watch->names.items[*out], *out, NULL))
		return app_nomem(app);
	watch->values[*out] = (struct eval_watched){ 0 };
	return OPK_OK;
}

static void clear_input(struct eval_watch *watch)
{
	free(watch->columns);
	free(watch->of);
	free(watch->known);
	free(watch->least);
	watch->columns = watch->of = NULL;
	watch->known = watch->least = NULL;
	watch->count = 0;
}

int eval_watch_begin(struct eval_watch *watch, struct app *app,
                     const struct opk_evaluation *evaluation, const size_t *columns, size_t count)
{
	size_t metrics = opk_evaluation_metric_count(evaluation);
	size_t all = opk_evaluation_column_count(evaluation);
	int code = OPK_OK;

	clear_input(watch);
	watch->evaluation = evaluation;
	watch->columns = opk_alloc_array(count + 1, sizeof *watch->columns);
	watch->of = opk_alloc_array(count + 1, sizeof *watch->of);
	watch->known = opk_alloc_array(metrics + 1, sizeof *watch->known);
	watch->least = opk_alloc_array(all + 1, sizeof *watch->least);
	if (!watch->columns || !watch->of || !watch->known || !watch->least)
		return app_nomem(app);
	for (size_t i = 0; !code && i < count; i++) {
		watch->columns[i] = columns[i];
		code = find(watch, app, opk_evaluation_column(evaluation, columns[i]),
		            &watch->of[i]);
	}
	watch->count = count;
	return code;
}

void eval_watch_row(struct eval_watch *watch, const double *values, const double *metrics)
{
	bool in_doubt = false;

	watch->rows++;
	for (size_t i = 0; i < watch->count; i++) {
		struct eval_watched *value = &watch->values[watch->of[i]];

		value->computed |= !isnan(values[watch->columns[i]]);
		in_doubt |= !value->computed && !value->measured;
	}
	if (!in_doubt)
		return;
	for (size_t i = 0; i < opk_evaluation_metric_count(watch->evaluation); i++)
		watch->known[i] = !isnan(metrics[i]);
	opk_evaluation_least(watch->least, watch->evaluation, watch->known);
	for (size_t i = 0; i < watch->count; i++)
		watch->values[watch->of[i]].measured |= watch->least[watch->columns[i]] > 0;
}

void eval_watch_value(struct eval_watch *watch, size_t at, bool computed)
{
	watch->values[watch->of[at]].computed |= computed;
}

/* Sets whether any of them is a minimum or maximum, which only what kept its instances has. */
static size_t count_nan(const struct eval_watch *watch, bool measured, const char **first,
                        bool *extremes)
{
	size_t count = 0;

	for (size_t i = 0; i < watch->names.count; i++) {
		if (watch->values[i].computed || watch->values[i].measured != measured)
			continue;
		*first = count++ ? *first : watch->names.items[i];
		*extremes |= opk_metric_is_extreme(watch->names.items[i]);
	}
	return count;
}

static void note(const struct eval_watch *watch, bool measured, const char *rows, const char *why)
{
	const char *first = NULL;
	bool extremes = false;
	size_t count = count_nan(watch, measured, &first, &extremes);

	if (count)
		app_note(
			"%zu of %zu metrics are nan in every %s, such as %s: %s%s", count,
			watch->names.count, rows, first, why,
			!measured && extremes
				? "; minima and maxima need a set that names them, or one that was "
				  "built with --instances"
				: "");
}

static int fail(const struct eval_watch *watch, struct app *app, const char *rows)
{
	enum { NAMED = 5 };
	opk_autobuf struct opk_buf names = { 0 };
	size_t count = 0;

	if (!watch->rows)
		return app_error(app, OPK_EFAILED, "--strict: there are no %ss", rows);
	for (size_t i = 0; i < watch->names.count; i++)
		if (!watch->values[i].computed && ++count <= NAMED)
			opk_buf_add_printf(&names, "%s%s", count > 1 ? ", " : "",
			                   watch->names.items[i]);
	if (!count)
		return OPK_OK;
	if (count > NAMED)
		opk_buf_add_printf(&names, " and %zu others", count - NAMED);
	opk_buf_add(&names, "", 1);
	return app_error(app, OPK_EFAILED, "--strict: nan in every %s: %s", rows,
	                 names.failed ? "" : (const char *)names.data);
}

int eval_watch_end(const struct eval_watch *watch, struct app *app, bool strict, const char *rows,
                   bool quiet)
{
	if (!quiet && watch->rows) {
		note(watch, false, rows,
		     watch->apart ? "no range has all passes that they need: without --join none "
		                    "rows have them"
		                  : "what they need was not collected");
		note(watch, true, rows,
		     "what they need is there, and their formulas have no value, as 0 / 0 has none");
	}
	return strict ? fail(watch, app, rows) : OPK_OK;
}

void eval_watch_clear(struct eval_watch *watch)
{
	clear_input(watch);
	free(watch->values);
	opk_strlist_clear(&watch->names);
	opk_index_clear(&watch->numbers);
	*watch = (struct eval_watch){ 0 };
}
