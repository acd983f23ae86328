/* SPDX-License-Identifier: BSD-2-Clause */
#include "common/raw_args.h"

#include <errno.h>
#include <stdlib.h>

static int take_metrics(struct app *app, struct opk_eval_options *options,
                        struct raw_metrics *metrics)
{
	size_t count = opk_set_metric_count(metrics->set);

	metrics->names = calloc(count, sizeof *metrics->names);
	if (!metrics->names)
		return app_error(app, OPK_EFAILED, "out of memory");
	for (size_t i = 0; i < count; i++)
		metrics->names[i] = opk_set_metric(metrics->set, i);
	options->metrics = metrics->names;
	options->metric_count = count;
	return OPK_OK;
}

static int choose_metrics(struct app *app, const struct raw_args *args,
                          struct opk_eval_options *options, struct raw_metrics *metrics)
{
	int code;

	if (args->metrics && args->set)
		return app_error(app, OPK_EUSAGE, "--metrics or --set, not both");
	if (args->params.count && !args->set)
		return app_error(app, OPK_EUSAGE, "--param goes with --set");
	if (!args->metrics && !args->set)
		return OPK_OK;
	code = args->metrics ? opk_set_from_names(&metrics->set, app->ctx, args->metrics)
	                     : opk_set_find(&metrics->set, app->ctx, args->set);
	if (code)
		return app_fail(app, code);
	code = give_parameters(app, &args->params, metrics->set);
	if (code)
		return code;
	if (args->set) {
		options->set = metrics->set;
		/* Of a recording its own counts. */
		if (!args->profiler)
			options->profiler = opk_set_profiler(metrics->set);
	}
	return take_metrics(app, options, metrics);
}

static int take_time_shift(struct app *app, const char *text, struct opk_eval_options *options)
{
	char *end;

	errno = 0;
	options->gpu_time_shift = strtoll(text, &end, 10);
	options->has_gpu_time_shift = true;
	if (end == text || *end || errno)
		return app_error(app, OPK_EUSAGE, "--time-shift %s: nanoseconds are needed", text);
	return OPK_OK;
}

int raw_eval_options(struct app *app, const struct raw_args *args, struct opk_eval_options *options,
                     struct raw_metrics *metrics)
{
	*options = (struct opk_eval_options)OPK_INIT(*options);
	options->chip = args->chip;
	options->timeout_s = args->timeout > 86400 ? 86400 : (unsigned)args->timeout;
	options->progress = app_progress;
	options->has_profiler = args->profiler != NULL;
	if (args->profiler && !opk_profiler_parse(&options->profiler, args->profiler))
		return app_error(app, OPK_EUSAGE, "--profiler %s: use range or pm", args->profiler);
	if (args->time_shift && take_time_shift(app, args->time_shift, options))
		return OPK_EUSAGE;
	return choose_metrics(app, args, options, metrics);
}

void raw_metrics_free(struct raw_metrics *metrics)
{
	opk_set_free(metrics->set);
	free(metrics->names);
}
