/* SPDX-License-Identifier: BSD-2-Clause */
#include "sets/sets_check.h"

#include <stdlib.h>
#include <string.h>

#include "common/plan_args.h"

/* One check of several chips. */
struct check {
	struct app *app;
	const struct opk_set *set;
	bool partly; /* its files have errors: it can't be planned, and there are no rows */
	const struct opk_chips *chips;
	char **told; /* messages, with '*' for the chip */
	size_t told_count;
	int worst;
};

/* ---- errors, each for the first chip that has it */

static char *without_chip(const char *message, const char *chip)
{
	char *copy = strdup(message);

	for (char *at = copy; at && (at = strstr(at, chip)); at++) {
		*at = '*';
		memmove(at + 1, at + strlen(chip), strlen(at + strlen(chip)) + 1);
	}
	return copy;
}

static bool is_known(const struct check *check, const char *key)
{
	for (size_t i = 0; i < check->told_count; i++)
		if (!strcmp(check->told[i], key))
			return true;
	return false;
}

/* Whether the message was told of another chip; from now on it was. */
static bool was_told(struct check *check, const char *message, const char *chip)
{
	char *key = without_chip(message, chip), **grown;
	bool known = key && is_known(check, key);

	grown = key && !known ? realloc(check->told, (check->told_count + 1) * sizeof *grown)
	                      : NULL;
	if (!grown) {
		free(key);
		return known;
	}
	check->told = grown;
	check->told[check->told_count++] = key;
	return false;
}

/* A line and its caret go with the message before them. */
static bool is_excerpt(const char *message)
{
	return *message == ' ';
}

/* Of several errors the outermost message is a title. */
static bool has_title(const struct opk_ctx *ctx)
{
	size_t count = opk_error_count(ctx);

	return count > 1 && !is_excerpt(opk_error_message(ctx, count - 2));
}

/* The title over the errors that no chip before had: in the matrix each chip that has any, else those with new ones. */
static void report(struct check *check, const char *chip)
{
	const struct opk_ctx *ctx = check->app->ctx;
	size_t last = opk_error_count(ctx) - 1, errors = last + !has_title(ctx);
	bool skip = false, begun = !check->partly;

	if (!opk_error_count(ctx))
		return;
	if (begun)
		app_print_cause("offpeak: ", opk_error_message(ctx, last));
	for (size_t i = errors; i-- > 0;) {
		const char *message = opk_error_message(ctx, i);

		if (!is_excerpt(message))
			skip = was_told(check, message, chip);
		if (skip || (i == last && begun))
			continue;
		if (!begun)
			app_print_cause("offpeak: ", opk_error_message(ctx, last));
		begun = true;
		if (i != last)
			app_print_cause("  ", message);
	}
}

/* ---- rows */

static const struct opk_column columns[] = {
	{ "chip", OPK_CELL_STRING },      { "passes", OPK_CELL_OPTIONAL },
	{ "metrics", OPK_CELL_OPTIONAL }, { "left_out", OPK_CELL_OPTIONAL },
	{ "status", OPK_CELL_STRING },
};

enum { COLUMNS = sizeof columns / sizeof *columns };

static int put_row(struct check *check, const char *chip, const struct opk_plan *plan,
                   const char *status)
{
	size_t passes = plan ? opk_plan_passes(plan) : 0;
	size_t metrics = plan ? opk_plan_metric_count(plan) : 0;
	size_t left_out = plan ? opk_plan_missing_count(plan) : 0;

	return opk_out_row(check->app->out, (union opk_cell[COLUMNS]){
						    { .string = chip },
						    { .optional = { passes, plan != NULL } },
						    { .optional = { metrics, plan != NULL } },
						    { .optional = { left_out, plan != NULL } },
						    { .string = status },
					    });
}

static int judge_on(struct check *check, const struct opk_chip *chip)
{
	int code = opk_set_check_on(check->app->ctx, check->set, chip->name);

	if (code == OPK_EINPUT || code == OPK_EUSAGE)
		report(check, chip->name);
	else if (code)
		return code;
	return OPK_OK;
}

static int plan_on(struct check *check, const struct opk_chip *chip)
{
	struct opk_plan_options options = OPK_INIT(options);
	struct opk_plan *plan = NULL;
	struct opk_ctx *ctx = check->app->ctx;
	int code;

	options.chip = chip->name;
	code = opk_plan_new(&plan, ctx, check->set, &options);
	if (!code) {
		code = put_row(check, chip->name, plan, "ok");
		opk_plan_free(plan);
		return code;
	}
	report(check, chip->name);
	check->worst = code == OPK_ENVIDIA ? code : OPK_EINPUT;
	return put_row(check, chip->name, NULL,
	               opk_error_count(ctx) ? opk_error_message(ctx, opk_error_count(ctx) - 1)
	                                    : "out of memory");
}

static bool has_profiler(const struct opk_set *set, const struct opk_chip *chip)
{
	return opk_set_profiler(set) == OPK_PROFILER_PM ? chip->pm_sampling : chip->range;
}

static int check_named(struct check *check, const char *name)
{
	const struct opk_chip *chip;

	if (opk_chips_resolve(&chip, check->app->ctx, check->chips, name))
		return app_fail(check->app, OPK_EUSAGE);
	if (check->partly)
		return has_profiler(check->set, chip) ? judge_on(check, chip) : OPK_OK;
	if (has_profiler(check->set, chip))
		return plan_on(check, chip);
	check->worst = OPK_EINPUT;
	return put_row(check, chip->name, NULL, "the chip lacks the set's profiler");
}

static int check_all(struct check *check)
{
	int code = OPK_OK;

	for (size_t i = 0; !code && i < opk_chips_count(check->chips); i++)
		if (opk_set_supports(check->set, opk_chips_get(check->chips, i)))
			code = (check->partly ? judge_on : plan_on)(check,
			                                            opk_chips_get(check->chips, i));
	return code;
}

/* ---- the command */

/* "GH100,GA100" is two; ends with NULL, and free() takes all of it. */
static char **split(const struct option_list *chips)
{
	size_t size = 0, count = 0;
	char **names, *text;

	for (size_t i = 0; i < chips->count; i++)
		size += strlen(chips->items[i]) + 1;
	/* No name is shorter than a letter and a comma. */
	names = calloc(1, (size + 2) * sizeof *names + size);
	text = names ? (char *)(names + size + 2) : NULL;
	for (size_t i = 0; names && i < chips->count; i++) {
		char *rest = strcpy(text, chips->items[i]);

		text += strlen(text) + 1;
		for (char *name; (name = strsep(&rest, ","));)
			if (*name)
				names[count++] = name;
	}
	return names;
}

static int check_names(struct app *app, const struct opk_chips *chips, char **names)
{
	const struct opk_chip *chip;

	for (; *names; names++)
		if (opk_chips_resolve(&chip, app->ctx, chips, *names))
			return app_fail(app, OPK_EUSAGE);
	return OPK_OK;
}

static int check_chips(struct check *check, char **names)
{
	int code = OPK_OK;

	if (opk_set_check_claims(check->app->ctx, check->set, check->chips))
		check->worst = app_fail(check->app, OPK_EINPUT);
	if (!*names)
		code = check_all(check);
	for (; !code && *names; names++)
		code = check_named(check, *names);
	return code;
}

static int print_chips(struct check *check, char **names)
{
	struct app *app = check->app;
	int code = app_begin_output(app, app_default_format(app));

	if (code)
		return code;
	code = opk_out_table(app->out, "chips", columns, COLUMNS);
	if (!code)
		code = check_chips(check, names);
	code = app_end_output(app, code);
	return check->worst ? check->worst : code;
}

/* What is wrong beside what its files' text told. */
static void judge(struct check *check, char **names)
{
	if (check_chips(check, names))
		app_fail(check->app, OPK_EINPUT);
}

static int check_set(struct app *app, const struct opk_set *set, bool partly,
                     const struct option_list *wanted)
{
	struct check check = { .app = app, .set = set, .partly = partly };
	char **names = split(wanted);
	struct opk_chips *chips = NULL;
	int code;

	if (!names)
		return app_error(app, OPK_EFAILED, "out of memory");
	code = opk_chips_new(&chips, app->ctx);
	check.chips = chips;
	if (code && partly)
		app_note("without NVIDIA's libraries it was not checked on any chip");
	else
		code = code ? app_fail(app, code) : check_names(app, chips, names);
	if (!code && partly)
		judge(&check, names);
	else if (!code)
		code = print_chips(&check, names);
	for (size_t i = 0; i < check.told_count; i++)
		free(check.told[i]);
	free(check.told);
	free(names);
	opk_chips_free(chips);
	return partly ? OPK_EINPUT : code;
}

int sets_check(struct app *app, const char *spec, const struct option_list *chips,
               const struct option_list *params)
{
	struct opk_set *set;
	int code = opk_set_find_partly(&set, app->ctx, spec);
	bool partly = code && set;

	if (code)
		app_fail(app, code);
	if (!set)
		return code;
	code = give_parameters(app, params, set);
	if (!code)
		code = check_set(app, set, partly, chips);
	opk_set_free(set);
	return code;
}
