/* SPDX-License-Identifier: BSD-2-Clause */
#include "common/plan_args.h"

#include <stdlib.h>
#include <string.h>

static int parse_effort(struct app *app, double *out, const char *text)
{
	char *end;

	if (!text)
		return OPK_OK;
	*out = strtod(text, &end);
	if (end == text || *end || !(*out >= 0 && *out <= 86400))
		return app_error(app, OPK_EUSAGE, "--effort %s: use seconds, at most a day", text);
	/* To the library 0 is the default. */
	*out = *out > 0 ? *out : -1;
	return OPK_OK;
}

int plan_options(struct app *app, const struct plan_args *args, struct opk_plan_options *options)
{
	*options = (struct opk_plan_options)OPK_INIT(*options);
	if (!args->chip)
		return app_error(app, OPK_EUSAGE, "%s: --chip CHIP is required", app->command);
	options->chip = args->chip;
	options->max_passes = args->max_passes;
	options->single_pass = args->single_pass;
	options->has_profiler = args->profiler != NULL;
	options->progress = app_progress;
	options->progress_data = (char *)"looking for a shorter plan, millisecond";
	if (args->profiler && !opk_profiler_parse(&options->profiler, args->profiler))
		return app_error(app, OPK_EUSAGE, "--profiler %s: use range or pm", args->profiler);
	return parse_effort(app, &options->effort, args->effort);
}

/* "NAME=" of an earlier one. */
static bool is_given(const struct option_list *params, size_t i)
{
	size_t length = strcspn(params->items[i], "=") + 1;

	for (size_t j = 0; j < i; j++)
		if (!strncmp(params->items[i], params->items[j], length))
			return true;
	return false;
}

int give_parameters(struct app *app, const struct option_list *params, struct opk_set *set)
{
	int code = OPK_OK;

	for (size_t i = 0; !code && i < params->count; i++) {
		const char *sign = strchr(params->items[i], '=');
		char *name = sign ? strndup(params->items[i], (size_t)(sign - params->items[i]))
		                  : NULL;

		if (!sign || sign == params->items[i])
			code = app_error(app, OPK_EUSAGE, "--param %s: NAME=VALUE is needed",
			                 params->items[i]);
		else if (!name)
			code = app_error(app, OPK_EFAILED, "out of memory");
		else if (is_given(params, i))
			code = app_error(app, OPK_EUSAGE,
			                 "--param %s: the parameter has a value already",
			                 params->items[i]);
		else if (opk_set_parameter(set, app->ctx, name, sign + 1))
			code = app_fail(app, OPK_EUSAGE);
		free(name);
	}
	return code;
}

void note_missing(const struct opk_plan *plan)
{
	enum { SHOWN = 8 };
	size_t count = opk_plan_missing_count(plan);

	if (!count)
		return;
	fprintf(stderr, "offpeak: note: %s has not all of set %s: left out", opk_plan_chip(plan),
	        opk_plan_set_name(plan));
	for (size_t i = 0; i < count && i < SHOWN; i++)
		fprintf(stderr, "%s %s", i ? "," : "", opk_plan_missing(plan, i));
	if (count > SHOWN)
		fprintf(stderr, " and %zu more", count - SHOWN);
	fputc('\n', stderr);
}

static const char prefix[] = "single-pass:";

/* One of the sets of 'sets --single-pass CHIP'. */
static int find_single_pass(struct app *app, struct opk_set **out, const char *chip,
                            const char *name)
{
	const struct opk_single_pass_set *single;
	struct opk_single_pass_sets *sets;
	int code = opk_single_pass_sets_new(&sets, app->ctx, chip);

	if (code)
		return app_fail(app, code);
	single = opk_single_pass_sets_find(sets, name);
	code = single ? opk_set_from_single_pass(out, app->ctx, single) : OPK_OK;
	code = single ? code ? app_fail(app, code) : OPK_OK
	              : app_error(app, OPK_EUSAGE,
	                          "%s has no single-pass set '%s'; 'offpeak sets --single-pass %s' "
	                          "lists them",
	                          chip, name, chip);
	opk_single_pass_sets_free(sets);
	return code;
}

static int find_set(struct app *app, struct opk_set **out, const char *chip, const char *spec)
{
	int code;

	if (!strncmp(spec, prefix, sizeof prefix - 1))
		return find_single_pass(app, out, chip, spec + sizeof prefix - 1);
	code = opk_set_find(out, app->ctx, spec);
	return code ? app_fail(app, code) : OPK_OK;
}

int plan_sets(struct app *app, const struct plan_args *args, struct opk_set **out)
{
	size_t count = 0;
	struct opk_set **sets, *joined = NULL;
	int code = OPK_OK;

	if (!app->argument_count)
		return app_error(app, OPK_EUSAGE,
		                 "%s: which set? 'offpeak sets' lists the shipped ones",
		                 app->command);
	sets = calloc(app->argument_count, sizeof *sets);
	if (!sets)
		return app_error(app, OPK_EFAILED, "out of memory");
	while (!code && count < app->argument_count) {
		code = find_set(app, &sets[count], args->chip, app->arguments[count]);
		count += !code;
	}
	if (!code) {
		code = opk_set_join(&joined, app->ctx, (const struct opk_set *const *)sets, count);
		code = code ? app_fail(app, code) : give_parameters(app, &args->params, joined);
	}
	if (code)
		opk_set_free(joined);
	else
		*out = joined;
	for (size_t i = 0; i < count; i++)
		opk_set_free(sets[i]);
	free(sets);
	return code;
}

bool plan_sample_bytes(struct app *app, const struct opk_plan *plan, size_t *out)
{
	return opk_plan_profiler(plan) == OPK_PROFILER_PM
	       && !opk_plan_sample_bytes(out, app->ctx, plan);
}
