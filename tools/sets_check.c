/* SPDX-License-Identifier: BSD-2-Clause */
#include "sets_check.h"

#include <stdlib.h>
#include <string.h>

#include "common/plan_args.h"

/* One check of several chips. */
struct check {
	struct app *app;
	const struct opk_set *set;
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

/* Whether the message was told of another chip; from now on it was. */
static bool was_told(struct check *check, const char *message, const char *chip)
{
	char *key = without_chip(message, chip), **grown;

	for (size_t i = 0; key && i < check->told_count; i++) {
		if (strcmp(check->told[i], key))
			continue;
		free(key);
		return true;
	}
	grown = key ? realloc(check->told, (check->told_count + 1) * sizeof *grown) : NULL;
	if (!grown) {
		free(key);
		return false;
	}
	check->told = grown;
	check->told[check->told_count++] = key;
	return false;
}

/* The outermost message, and those that no chip before had; a line and its caret go with their message. */
static void report(struct check *check, const char *chip)
{
	const struct opk_ctx *ctx = check->app->ctx;
	size_t count = opk_error_count(ctx);
	bool skip = false;

	for (size_t i = count; i-- > 0;) {
		const char *message = opk_error_message(ctx, i);
		bool excerpt = *message == ' ';

		if (!excerpt)
			skip = was_told(check, message, chip);
		if (!skip || i == count - 1)
			app_print_cause(i == count - 1 ? "offpeak: " : "  ", message);
	}
}

/* ---- rows */

static const struct opk_column columns[] = {
	{ "chip", OPK_CELL_STRING },       { "passes", OPK_CELL_OPTIONAL },
	{ "metrics", OPK_CELL_OPTIONAL },  { "left_out", OPK_CELL_OPTIONAL },
	{ "status", OPK_CELL_STRING },
};

enum { COLUMNS = sizeof columns / sizeof *columns };

static int put_row(struct check *check, const char *chip, const struct opk_plan *plan, const char *status)
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
			code = plan_on(check, opk_chips_get(check->chips, i));
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
	struct app *app = check->app;
	int code = app_begin_output(app, app_default_format(app));

	if (code)
		return code;
	if (opk_set_check_claims(app->ctx, check->set, check->chips))
		check->worst = app_fail(app, OPK_EINPUT);
	code = opk_out_table(app->out, "chips", columns, COLUMNS);
	if (!code && !*names)
		code = check_all(check);
	for (; !code && *names; names++)
		code = check_named(check, *names);
	code = app_end_output(app, code);
	return check->worst ? check->worst : code;
}

static int check_set(struct app *app, const struct opk_set *set, const struct option_list *wanted)
{
	struct check check = { .app = app, .set = set };
	char **names = split(wanted);
	struct opk_chips *chips = NULL;
	int code;

	if (!names)
		return app_error(app, OPK_EFAILED, "out of memory");
	code = opk_chips_new(&chips, app->ctx);
	check.chips = chips;
	code = code ? app_fail(app, code) : check_names(app, chips, names);
	if (!code)
		code = check_chips(&check, names);
	for (size_t i = 0; i < check.told_count; i++)
		free(check.told[i]);
	free(check.told);
	free(names);
	opk_chips_free(chips);
	return code;
}

int sets_check(struct app *app, const char *spec, const struct option_list *chips,
               const struct option_list *params)
{
	struct opk_set *set;
	int code = opk_set_find(&set, app->ctx, spec);

	if (code)
		return app_fail(app, code);
	code = give_parameters(app, params, set);
	if (!code)
		code = check_set(app, set, chips);
	opk_set_free(set);
	return code;
}
