/* SPDX-License-Identifier: BSD-2-Clause */
#include "eval/eval_choice.h"

#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"

static bool contains(const char *const *names, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

/* ---- the list --------------------------------------------------------------------------- */

static size_t count_commas(const char *text)
{
	size_t count = 0;

	for (; *text; text++)
		count += *text == ',';
	return count;
}

int eval_choice_parse(struct eval_choice *choice, struct app *app, const char *list)
{
	char *rest;

	choice->text = strdup(list);
	choice->names = calloc(count_commas(list) + 1, sizeof *choice->names);
	choice->values = calloc(count_commas(list) + 1, sizeof *choice->values);
	if (!choice->text || !choice->names || !choice->values)
		return app_error(app, OPK_EFAILED, "out of memory");
	rest = choice->text;
	while (rest) {
		const char *name = strsep(&rest, ",");

		if (!*name)
			return app_error(app, OPK_EUSAGE, "--columns '%s': a name is missing",
			                 list);
		if (contains(choice->names, choice->count, name))
			return app_error(app, OPK_EUSAGE, "--columns: %s is there twice", name);
		choice->names[choice->count++] = name;
	}
	return OPK_OK;
}

void eval_choice_clear(struct eval_choice *choice)
{
	free(choice->text);
	free(choice->names);
	free(choice->values);
}

/* ---- names of values -------------------------------------------------------------------- */

static int allocate(struct eval_known *known, struct app *app, size_t count)
{
	*known = (struct eval_known){ .names = calloc(count + 1, sizeof *known->names) };
	return known->names ? OPK_OK : app_error(app, OPK_EFAILED, "out of memory");
}

int eval_known_of_meta(struct eval_known *known, struct app *app, const struct opk_meta *meta)
{
	int code = allocate(known, app,
	                    meta->metric_count + meta->label_count + meta->derived_count);

	known->more = true;
	if (code)
		return code;
	for (size_t i = 0; i < meta->metric_count; i++)
		known->names[known->count++] = meta->metrics[i];
	for (size_t i = 0; i < meta->label_count; i++)
		known->names[known->count++] = meta->labels[i].name;
	for (size_t i = 0; i < meta->derived_count; i++)
		known->names[known->count++] = meta->derived[i].name;
	return OPK_OK;
}

int eval_known_of_evaluation(struct eval_known *known, struct app *app,
                             const struct opk_evaluation *evaluation)
{
	int code = allocate(known, app, opk_evaluation_column_count(evaluation));

	if (code)
		return code;
	for (size_t i = 0; i < opk_evaluation_column_count(evaluation); i++)
		known->names[known->count++] = opk_evaluation_column(evaluation, i);
	return OPK_OK;
}

void eval_known_clear(struct eval_known *known)
{
	free(known->names);
}

/* ---- what names mean -------------------------------------------------------------------- */

/* All that could have been meant. */
static int fail_unknown(struct app *app, const struct eval_shape *shape, enum opk_profiler profiler,
                        const struct eval_known *known, const char *name, const char *path)
{
	const char *fixed[EVAL_FIXED_COLUMNS];
	size_t count = eval_columns_fixed(fixed, shape, profiler);
	const char **all = calloc(count + known->count, sizeof *all);
	const char *nearest;

	if (!all)
		return app_error(app, OPK_EFAILED, "out of memory");
	memcpy(all, fixed, count * sizeof *all);
	memcpy(all + count, known->names, known->count * sizeof *all);
	nearest = opk_nearest_of(name, all, count + known->count);
	free(all);
	return app_error(app, OPK_EUSAGE, "--columns: %s has no column '%s'%s%s%s", path, name,
	                 nearest ? ", did you mean " : "", nearest ? nearest : "",
	                 nearest ? "?" : "");
}

int eval_choice_check(struct app *app, const struct eval_shape *shape, enum opk_profiler profiler,
                      const struct eval_known *known, const char *path)
{
	for (size_t i = 0; i < shape->choice.count; i++) {
		const char *name = shape->choice.names[i];
		bool fixed = eval_column_find(NULL, NULL, shape, profiler, name);
		bool value = contains(known->names, known->count, name);

		if (fixed && value)
			return app_error(
				app, OPK_EUSAGE,
				"--columns: in %s %s is a value and a column of every table: "
				"without --columns both can be had%s",
				path, name, shape->aggregated ? "" : " with --layout long");
		if (!fixed && !value && !(known->more && strstr(name, "__")))
			return fail_unknown(app, shape, profiler, known, name, path);
	}
	return OPK_OK;
}

int eval_choice_check_all(struct app *app, const struct eval_shape *shape,
                          const struct opk_evaluation *evaluation, const char *path)
{
	struct eval_known known;
	int code = eval_known_of_evaluation(&known, app, evaluation);

	if (!code)
		code = eval_choice_check(app, shape, opk_evaluation_profiler(evaluation), &known,
		                         path);
	eval_known_clear(&known);
	return code;
}

size_t eval_choice_values(const char **out, const struct eval_shape *shape,
                          enum opk_profiler profiler)
{
	size_t count = 0;

	for (size_t i = 0; i < shape->choice.count; i++)
		if (!eval_column_find(NULL, NULL, shape, profiler, shape->choice.names[i]))
			out[count++] = shape->choice.names[i];
	return count;
}

size_t eval_choice_pick(size_t *out, const struct eval_shape *shape,
                        const struct opk_evaluation *evaluation)
{
	size_t all = opk_evaluation_column_count(evaluation), count = 0;

	for (size_t i = 0; i < shape->choice.count; i++)
		for (size_t j = 0; j < all; j++)
			if (!strcmp(opk_evaluation_column(evaluation, j), shape->choice.names[i])) {
				out[count++] = j;
				break;
			}
	for (size_t i = 0; !count && i < all; i++)
		out[i] = i;
	return count ? count : all;
}
