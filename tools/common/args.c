/* SPDX-License-Identifier: BSD-2-Clause */
/* Converts options that several commands share to options of the library. */
#include "common/args.h"

#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "base/decimal.h"
#include "chip/door.h"
#include "common/files.h"
#include "plan/door.h"
#include "set/door.h"

int check_given(struct app *app, const char *command, const char *inputs, const char *output)
{
	bool given = app->argument_count > 0;

	if (given && app->output)
		return OPK_OK;
	if (given || app->output)
		return app_error(app, OPK_EUSAGE, "%s: %s is needed", command,
		                 given ? output : inputs);
	return app_error(app, OPK_EUSAGE, "%s: %s and %s are needed", command, inputs, output);
}

int parse_between(struct app *app, double *out, const char *option, const char *text, double above,
                  double below, const char *like)
{
	size_t length = 0;

	if (opk_decimal_read(out, &length, text) == OPK_DECIMAL_GOOD && !text[length]
	    && *out > above && *out < below)
		return OPK_OK;
	return app_error(app, OPK_EUSAGE, "%s %s: use %s", option, text, like);
}

int split_names(struct app *app, struct opk_strlist *out, const char *option, const char *list)
{
	const char *rest = list;

	while (rest) {
		size_t length = strcspn(rest, ",");
		opk_autofree char *name = opk_strndup(rest, length);

		rest = rest[length] ? rest + length + 1 : NULL;
		if (!length)
			return app_error(app, OPK_EUSAGE, "%s '%s': a name is missing", option,
			                 list);
		if (name && opk_strlist_contains(out, name))
			return app_error(app, OPK_EUSAGE, "%s: %s is there twice", option, name);
		if (!opk_strlist_take(out, opk_take(name)))
			return app_nomem(app);
	}
	return OPK_OK;
}

/* Whether an earlier parameter begins with the same "NAME=". */
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
	for (size_t i = 0; i < params->count; i++) {
		const char *text = params->items[i];
		opk_autofree char *name = opk_strndup(text, strcspn(text, "="));

		if (!strchr(text, '=') || *text == '=')
			return app_error(app, OPK_EUSAGE, "--param %s: NAME=VALUE is needed", text);
		if (!name)
			return app_nomem(app);
		if (is_given(params, i))
			return app_error(app, OPK_EUSAGE,
			                 "--param %s: the parameter has a value already", text);
		if (opk_set_parameter(set, app->ctx, name, strchr(text, '=') + 1))
			return OPK_EUSAGE;
	}
	return OPK_OK;
}

/* ---- plans */

int effort_of(struct app *app, double *out, const char *text)
{
	char *end;

	if (!text)
		return OPK_OK;
	*out = strtod(text, &end);
	if (end == text || *end || !(*out >= 0 && *out <= 86400))
		return app_error(app, OPK_EUSAGE, "--effort %s: use seconds, at most a day", text);
	/* 0 is the library's default. */
	*out = *out > 0 ? *out : -1;
	return OPK_OK;
}

/* Other commands take the chip as their first argument. */
static int refuse_without_chip(struct app *app)
{
	opk_auto(opk_chips) struct opk_chips *chips = NULL;
	const struct opk_chip *chip = NULL;
	const char *first = app->argument_count ? app->arguments[0] : "";
	int code = opk_chips_new(&chips, app->ctx);

	if (!code && opk_chips_resolve(&chip, app->ctx, chips, first))
		chip = NULL;
	opk_clear_errors(app->ctx);
	return app_error(app, OPK_EUSAGE, "%s: --chip CHIP is required%s%s%s", app->command,
	                 chip ? ", did you mean --chip " : "", chip ? first : "", chip ? "?" : "");
}

/* A bare image does not contain its chip, and GPUs of several chips may have been probed. */
static int take_chip(struct app *app, struct plan_args *args)
{
	opk_autofree char *chip = NULL;
	int code = args->chip || !args->availability
	                   ? OPK_OK
	                   : opk_availability_chip(&chip, app->ctx, args->availability);

	if (code || args->chip)
		return code;
	snprintf(args->file_chip, sizeof args->file_chip, "%s", chip ? chip : "");
	if (!*args->file_chip)
		return refuse_without_chip(app);
	args->chip = args->file_chip;
	return OPK_OK;
}

int plan_options(struct app *app, struct plan_args *args, struct opk_plan_options *options)
{
	*options = (struct opk_plan_options)OPK_INIT(*options);
	if (args->strict_order && !args->single_pass)
		return app_error(app, OPK_EUSAGE, "%s: --strict-order goes with --single-pass",
		                 app->command);
	if (args->prefer == PREFER_CHEAP && args->single_pass)
		return app_error(
			app, OPK_EUSAGE,
			"%s: --prefer cheap takes more passes, --single-pass one: not both",
			app->command);
	if (args->prefer == PREFER_CHEAP && args->effort && !strtod(args->effort, NULL))
		return app_error(
			app, OPK_EUSAGE,
			"%s: --prefer cheap looks for a plan, --effort 0 for none: not both",
			app->command);
	TRY(take_chip(app, args));
	options->chip = args->chip;
	options->max_passes = args->max_passes;
	options->prefer_cheap = args->prefer == PREFER_CHEAP;
	options->single_pass = args->single_pass;
	options->strict_order = args->strict_order;
	options->has_profiler = args->profiler != 0;
	options->profiler = profiler_of_word(args->profiler);
	return effort_of(app, &options->effort, args->effort);
}

int plan_availability(struct app *app, const struct plan_args *args, const struct opk_set *set,
                      void **image, struct opk_plan_options *options)
{
	int code = args->availability
	                   ? opk_availability_load(image, &options->availability_size, app->ctx,
	                                           args->availability, args->chip,
	                                           options->has_profiler ? options->profiler
	                                                                 : opk_set_profiler(set))
	                   : OPK_OK;

	options->availability = *image;
	return code;
}

void note_missing(const struct opk_plan *plan)
{
	enum { SHOWN = 8 };
	opk_autobuf struct opk_buf names = { 0 };
	const struct opk_strlist *missing = opk_plan_missing(plan);

	if (!missing->count)
		return;
	for (size_t i = 0; i < missing->count && i < SHOWN; i++)
		opk_buf_add_printf(&names, "%s %s", i ? "," : "", missing->items[i]);
	if (missing->count > SHOWN)
		opk_buf_add_printf(&names, " and %zu more", missing->count - SHOWN);
	opk_buf_add(&names, "", 1);
	app_note("%s has not all of set %s: left out%s", opk_plan_chip(plan),
	         opk_plan_set_name(plan), names.failed ? "" : (const char *)names.data);
}

int plan_sets(struct app *app, const struct plan_args *args, struct opk_set **out)
{
	opk_auto(opk_set) struct opk_set *joined = NULL;
	opk_autofree struct opk_set **sets = opk_alloc_array(app->argument_count, sizeof *sets);
	size_t count = 0;
	int code = OPK_OK;

	if (!app->argument_count)
		return app_error(app, OPK_EUSAGE,
		                 "%s: which set? 'offpeak sets' lists the shipped ones",
		                 app->command);
	if (!sets)
		return app_nomem(app);
	/* Report the errors of each set, not only of the first. */
	for (size_t i = 0; i < app->argument_count; i++) {
		int found = opk_set_find_on(&sets[count], app->ctx, app->arguments[i], args->chip);

		count += !found;
		if (found && (code || i + 1 < app->argument_count))
			found = app_fail(app, found);
		code = code ? code : found;
	}
	if (!code)
		code = opk_set_join(&joined, app->ctx, (const struct opk_set *const *)sets, count);
	for (size_t i = 0; i < count; i++)
		opk_set_free(sets[i]);
	if (!code)
		code = give_parameters(app, &args->params, joined);
	if (!code)
		*out = opk_take(joined);
	return code;
}

bool plan_sample_bytes(struct app *app, const struct opk_plan *plan, size_t *out)
{
	return opk_plan_profiler(plan) == OPK_PROFILER_PM
	       && !opk_plan_sample_bytes(out, app->ctx, plan);
}

/* ---- what is evaluated */

static int take_metrics(struct app *app, struct opk_eval_options *options,
                        struct raw_metrics *metrics)
{
	size_t count = opk_set_metric_count(metrics->set);

	metrics->names = opk_alloc_array(count, sizeof *metrics->names);
	if (!metrics->names)
		return app_nomem(app);
	for (size_t i = 0; i < count; i++)
		metrics->names[i] = opk_set_metric(metrics->set, i);
	options->metrics = metrics->names;
	options->metric_count = count;
	return OPK_OK;
}

static int choose_metrics(struct app *app, const struct raw_args *args,
                          struct opk_eval_options *options, struct raw_metrics *metrics)
{
	if (args->metrics && args->set)
		return app_error(app, OPK_EUSAGE, "--metrics or --set, not both");
	if (args->params.count && !args->set)
		return app_error(app, OPK_EUSAGE, "--param goes with --set");
	if (!args->metrics && !args->set)
		return OPK_OK;
	TRY(args->metrics ? opk_set_from_names(&metrics->set, app->ctx, args->metrics)
	                  : opk_set_find(&metrics->set, app->ctx, args->set));
	TRY(give_parameters(app, &args->params, metrics->set));
	if (args->set) {
		options->set = metrics->set;
		/* The recording's own profiler has priority. */
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
	options->has_profiler = args->profiler != 0;
	options->profiler = profiler_of_word(args->profiler);
	if (args->time_shift && take_time_shift(app, args->time_shift, options))
		return OPK_EUSAGE;
	return choose_metrics(app, args, options, metrics);
}

void raw_metrics_free(struct raw_metrics *metrics)
{
	opk_set_free(metrics->set);
	free(metrics->names);
}

enum opk_kernel_style kernel_style(const struct app *app, unsigned word)
{
	static const enum opk_kernel_style styles[] = { OPK_KERNEL_SHORT, OPK_KERNEL_FULL,
		                                        OPK_KERNEL_SYMBOL };

	if (!word)
		word = app_shows_table(app) ? 1 : 2;
	return styles[word - 1];
}

int kernel_names_new(struct opk_kernel_names **out, struct app *app, unsigned word)
{
	return opk_kernel_names_new(out, app->ctx, kernel_style(app, word));
}
