/* SPDX-License-Identifier: BSD-2-Clause */
/* offpeak sets --check: a set's own errors, and what it is on each chip. */
#include "sets/sets_check.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/ctx.h"
#include "base/mem.h"
#include "common/args.h"

/* One run, over several chips. */
struct check {
	struct app *app;
	const struct opk_set *set;
	bool partly; /* its files have errors: it can't be planned, and there are no rows */
	const struct opk_chips *chips;
	struct shown {
		char *file, *general; /* as struct opk_cause has them */
		size_t line, column;
	} * shown; /* errors of earlier chips */
	size_t shown_count, shown_capacity;
	int worst;
	double effort; /* opk_plan_options.effort, for all chips */
	double begun;  /* when it was, by CLOCK_MONOTONIC */
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

/* Whether the error was shown for an earlier chip; it counts as shown from now on. */
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
 * Shows the errors that no earlier chip had, below the outermost message. A chip without new errors
 * has its row in the table.
 */
static void report(struct check *check)
{
	const struct opk_ctx *ctx = check->app->ctx;
	size_t count = opk_error_cause_count(ctx);
	const struct opk_cause *last = count ? opk_error_cause(ctx, count - 1) : NULL;
	bool begun = false;

	app_progress_end();
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

static int put_row(struct check *check, const char *chip, const struct opk_plan *plan,
                   const char *status)
{
	bool known = plan != NULL;

	return app_row(check->app, cell_text(chip),
	               cell_known(known ? opk_plan_passes(plan) : 0, known),
	               cell_known(known ? opk_plan_metric_count(plan) : 0, known),
	               cell_known(known ? opk_plan_missing_count(plan) : 0, known),
	               cell_text(status));
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

/* Where no effort is given. */
enum { ALL_SECONDS = 60 };

static double seconds_of(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* For all chips together; when it is over they are planned as CUPTI does. */
static double effort_left(const struct check *check)
{
	double left = check->effort - (seconds_of(CLOCK_MONOTONIC) - check->begun);

	if (check->effort > 0)
		return left > 0 ? left : -1;
	/* Processor time, so that the load of the machine changes nothing. */
	return seconds_of(CLOCK_PROCESS_CPUTIME_ID) < ALL_SECONDS ? check->effort : -1;
}

static int plan_on(struct check *check, const struct opk_chip *chip)
{
	struct opk_plan_options options = OPK_INIT(options);
	opk_auto(opk_plan) struct opk_plan *plan = NULL;
	struct opk_ctx *ctx = check->app->ctx;
	size_t lines;
	int code;

	options.chip = chip->name;
	options.effort = effort_left(check);
	options.progress = app_progress;
	options.progress_data = (char *)"looking for a shorter plan, hundredth";
	code = opk_plan_new(&plan, ctx, check->set, &options);
	if (!code)
		return put_row(check, chip->name, plan, "ok");
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
		return OPK_EUSAGE;
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

/* "GH100,GA100" is two. Each has to be a chip. */
static int list_chips(struct app *app, struct opk_strlist *names, const struct opk_chips *chips,
                      const struct option_list *wanted)
{
	const struct opk_chip *chip;
	int code = OPK_OK;

	for (size_t i = 0; i < wanted->count; i++) {
		const char *rest = wanted->items[i];

		for (size_t length; *rest; rest += length + (rest[length] == ',')) {
			length = strcspn(rest, ",");
			if (length && !opk_strlist_take(names, opk_strndup(rest, length)))
				return app_nomem(app);
		}
	}
	for (size_t i = 0; !code && i < names->count; i++)
		code = opk_chips_resolve(&chip, app->ctx, chips, names->items[i]);
	return code;
}

static int check_chips(struct check *check, const struct opk_strlist *names)
{
	int code = OPK_OK;

	if (opk_set_check_claims(check->app->ctx, check->set, check->chips))
		check->worst = app_fail(check->app, OPK_EINPUT);
	if (!names->count)
		code = check_all(check);
	for (size_t i = 0; !code && i < names->count; i++)
		code = check_named(check, names->items[i]);
	return code;
}

static int print_chips(struct check *check, const struct opk_strlist *names)
{
	struct app *app = check->app;
	int code = app_begin_output(app);

	if (!code)
		code = app_table(app, "chips", columns);
	if (!code)
		code = check_chips(check, names);
	if (!code)
		code = app_end_output(app);
	if (!check->worst)
		return code;
	if (code)
		app_fail(app, code);
	/* The rows have shown the rest. */
	app->reported = true;
	return check->worst;
}

static int check_set(struct check *check, const struct option_list *wanted)
{
	opk_auto(opk_chips) struct opk_chips *chips = NULL;
	opk_autostrlist struct opk_strlist names = { 0 };
	struct app *app = check->app;
	int code = opk_chips_new(&chips, app->ctx);

	if (code && check->partly) {
		app_note("without NVIDIA's libraries it was not checked on any chip");
		return OPK_EINPUT;
	}
	check->chips = chips;
	if (!code)
		code = list_chips(app, &names, chips, wanted);
	if (!check->partly)
		return code ? code : print_chips(check, &names);
	/* What reading the files has not shown already. */
	if (code || check_chips(check, &names))
		app_fail(app, OPK_EINPUT);
	return OPK_EINPUT;
}

int sets_check(struct app *app, const char *spec, const struct option_list *chips,
               const struct option_list *params, double effort)
{
	opk_auto(opk_set) struct opk_set *set = NULL;
	struct check check = { .app = app, .effort = effort, .begun = seconds_of(CLOCK_MONOTONIC) };
	int code = opk_set_find_partly(&set, app->ctx, spec);

	check.partly = code && set;
	if (code)
		app_fail(app, code);
	if (!set)
		return code;
	check.set = set;
	code = give_parameters(app, params, set);
	code = code ? app_fail(app, code) : check_set(&check, chips);
	for (size_t i = 0; i < check.shown_count; i++)
		forget(&check.shown[i]);
	free(check.shown);
	return code;
}
