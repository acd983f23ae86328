/* SPDX-License-Identifier: BSD-2-Clause */
#include "common/plan_args.h"

#include <stdlib.h>

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

int plan_sets(struct app *app, struct opk_set **out)
{
	size_t count = 0;
	struct opk_set **sets;
	int code = OPK_OK;

	if (!app->argument_count)
		return app_error(app, OPK_EUSAGE,
		                 "%s: which set? 'offpeak sets' lists the shipped ones", app->command);
	sets = calloc(app->argument_count, sizeof *sets);
	if (!sets)
		return app_error(app, OPK_EFAILED, "out of memory");
	while (!code && count < app->argument_count) {
		code = opk_set_find(&sets[count], app->ctx, app->arguments[count]);
		count += !code;
	}
	if (!code)
		code = opk_set_join(out, app->ctx, (const struct opk_set *const *)sets, count);
	if (code)
		code = app_fail(app, code);
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
