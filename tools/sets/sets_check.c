/* SPDX-License-Identifier: BSD-2-Clause */
#include "sets/sets_check.h"

#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/mem.h"
#include "common/args.h"

/* One check of several chips. */
struct check {
	struct app *app;
	const struct opk_set *set;
	bool partly; /* its files have errors: it can't be planned, and there are no rows */
	const struct opk_chips *chips;
	struct shown {
		char *file, *general; /* as struct opk_cause has them */
		size_t line, column;
	} * shown; /* errors of chips before */
	size_t shown_count, shown_capacity;
	int worst;
};

/* ---- errors, each for the first chip that has it */

static void forget(struct shown *shown)
{
	free(shown->file);
	free(shown->general);
}

static bool is_same(const struct shown *shown, const struct opk_cause *cause)
{
	return shown->line == cause->line && shown->column == cause->column
	       && !strcmp(shown->general, cause->general)
	       && !strcmp(shown->file, cause->file ? cause->file : "");
}

/* Whether the error was shown for a chip before; from now on it was. */
static bool was_shown(struct check *check, const struct opk_cause *cause)
{
	struct shown *added;

	for (size_t i = 0; i < check->shown_count; i++)
		if (is_same(&check->shown[i], cause))
			return true;
	added = opk_append(&check->shown, &check->shown_capacity, &check->shown_count,
	                   sizeof *added);
	if (!added)
		return false;
	added->file = opk_strdup(cause->file ? cause->file : "");
	added->general = opk_strdup(cause->general);
	added->line = cause->line;
	added->column = cause->column;
	if (!added->file || !added->general)
		forget(&check->shown[--check->shown_count]);
	return false;
}

/*
 * The errors that no chip before had, below the outermost message. In the matrix each chip that has
 * errors shows that message, else those with new ones.
 */
static void report(struct check *check)
{
	const struct opk_ctx *ctx = check->app->ctx;
	size_t count = opk_error_cause_count(ctx);
	const struct opk_cause *last = count ? opk_error_cause(ctx, count - 1) : NULL;
	bool begun = last && !check->partly;

	if (begun)
		app_print_cause("offpeak: ", last->message);
	if (count > 1 && last->kind == OPK_CAUSE_WHILE)
		count--;
	while (count-- > 0) {
		const struct opk_cause *cause = opk_error_cause(ctx, count);

		if (was_shown(check, cause))
			continue;
		if (!begun)
			app_print_cause("offpeak: ", last->message);
		begun = true;
		if (cause != last)
			app_print_cause("  ", cause->message);
		if (cause->excerpt)
			app_print_cause("  ", cause->excerpt);
		if (cause->caret)
			app_print_cause("  ", cause->caret);
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
		report(check);
	else if (code)
		return code;
	return OPK_OK;
}

static int plan_on(struct check *check, const struct opk_chip *chip)
{
	struct opk_plan_options options = OPK_INIT(options);
	struct opk_plan *plan = NULL;
	struct opk_ctx *ctx = check->app->ctx;
	size_t lines;
	int code;

	options.chip = chip->name;
	code = opk_plan_new(&plan, ctx, check->set, &options);
	if (!code) {
		code = put_row(check, chip->name, plan, "ok");
		opk_plan_free(plan);
		return code;
	}
	report(check);
	check->worst = code == OPK_ENVIDIA ? code : OPK_EINPUT;
	lines = opk_error_count(ctx);
	return put_row(check, chip->name, NULL,
	               lines ? opk_error_message(ctx, lines - 1) : "out of memory");
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
	int code = app_begin_output(app);

	if (code)
		return code;
	code = opk_out_table(app->out, "chips", columns, COLUMNS);
	if (!code)
		code = check_chips(check, names);
	code = code ? code : app_end_output(app);
	if (!check->worst)
		return code;
	/* The rows say it. */
	app->reported = true;
	return check->worst;
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
		return app_nomem(app);
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
	for (size_t i = 0; i < check.shown_count; i++)
		forget(&check.shown[i]);
	free(check.shown);
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
