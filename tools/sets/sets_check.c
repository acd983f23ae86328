/* SPDX-License-Identifier: BSD-2-Clause */
/* offpeak sets --check: a set's own errors, and what it is on each chip. */
#include "sets/sets_check.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "base/ctx.h"
#include "base/mem.h"
#include "common/args.h"
#include "plan/door.h"

/* An error, which several chips may have. */
struct found {
	char *file, *general; /* as struct opk_cause has them */
	size_t line, column;
	char *message, *excerpt, *caret; /* for the first chip */
	bool is_error;
	struct opk_strlist chips;
};

/* One run, over several chips. */
struct check {
	struct app *app;
	const struct opk_set *set;
	bool partly; /* its files have errors: it can't be planned */
	const struct opk_chips *chips;
	OPK_LIST(struct found) errors;
	size_t failed; /* so many chips have some */
	char *first;   /* the outermost message of the first of them */
	int worst;
	double effort; /* opk_plan_options.effort, for all chips */
	double begun;  /* when it was, by CLOCK_MONOTONIC */
};

/* ---- errors: each once, for all chips that have it */

static void forget(struct found *found)
{
	free(found->file);
	free(found->general);
	free(found->message);
	free(found->excerpt);
	free(found->caret);
	opk_strlist_clear(&found->chips);
}

static void clear_errors(struct check *check)
{
	for (size_t i = 0; i < check->errors.count; i++)
		forget(&check->errors.items[i]);
	free(check->errors.items);
	free(check->first);
}

static struct found *find(const struct check *check, const struct opk_cause *cause)
{
	for (size_t i = 0; i < check->errors.count; i++) {
		struct found *found = &check->errors.items[i];

		if (found->line == cause->line && found->column == cause->column
		    && !strcmp(found->general, cause->general)
		    && !strcmp(found->file, cause->file ? cause->file : ""))
			return found;
	}
	return NULL;
}

static struct found *add(struct check *check, const struct opk_cause *cause)
{
	struct found *added = opk_list_add(&check->errors);

	if (!added)
		return NULL;
	*added = (struct found){
		.file = opk_strdup(cause->file ? cause->file : ""),
		.general = opk_strdup(cause->general),
		.line = cause->line,
		.column = cause->column,
		.message = opk_strdup(cause->message),
		.excerpt = cause->excerpt ? opk_strdup(cause->excerpt) : NULL,
		.caret = cause->caret ? opk_strdup(cause->caret) : NULL,
		.is_error = cause->kind == OPK_CAUSE_ERROR,
	};
	if (added->file && added->general && added->message)
		return added;
	forget(added);
	check->errors.count--;
	return NULL;
}

/* Takes what is wrong on a chip but the outermost message, which its row has. */
static int take(struct check *check, const char *chip)
{
	const struct opk_ctx *ctx = check->app->ctx;
	size_t count = opk_error_cause_count(ctx);
	bool ok = true;

	if (!check->failed++ && count)
		check->first = opk_strdup(opk_error_cause(ctx, count - 1)->message);
	if (count > 1 && opk_error_cause(ctx, count - 1)->kind == OPK_CAUSE_WHILE)
		count--;
	while (ok && count-- > 0) {
		const struct opk_cause *cause = opk_error_cause(ctx, count);
		struct found *found = find(check, cause);

		if (!found)
			found = add(check, cause);
		ok = found && opk_strlist_add(&found->chips, chip);
	}
	return ok ? OPK_OK : app_nomem(check->app);
}

/* The message is the first chip's, and may name it. */
static void add_chips(struct opk_buf *text, const struct found *error)
{
	enum { NAMED = 3 };
	const struct opk_strlist *chips = &error->chips;
	const char *first = chips->count ? chips->items[0] : "";

	if (chips->count < 2)
		return;
	if (!strstr(error->message, first))
		opk_buf_add_printf(text, "; on %s", first);
	if (chips->count - 1 > NAMED)
		opk_buf_add_printf(text, "; the same on %zu more chips", chips->count - 1);
	for (size_t i = 1; chips->count - 1 <= NAMED && i < chips->count; i++)
		opk_buf_add_printf(text, "%s%s", i > 1 ? ", " : "; the same on ", chips->items[i]);
}

static void print_error(const char *prefix, const struct found *error)
{
	opk_autobuf struct opk_buf text = { 0 };

	opk_buf_add_text(&text, error->message);
	add_chips(&text, error);
	opk_buf_add(&text, "", 1);
	app_print_cause(prefix, text.failed ? error->message : (const char *)text.data);
	if (error->excerpt)
		app_print_cause("  ", error->excerpt);
	if (error->caret)
		app_print_cause("  ", error->caret);
}

static void print_errors(const struct check *check)
{
	opk_autofree char *all = NULL;
	size_t errors = 0;

	for (size_t i = 0; i < check->errors.count; i++)
		errors += check->errors.items[i].is_error;
	if (check->failed > 1)
		all = opk_printf("set %s: %zu errors on %zu chips", opk_set_name(check->set),
		                 errors, check->failed);
	if (check->errors.count > 1)
		app_print_cause("offpeak: ", all ? all : check->first ? check->first : "");
	for (size_t i = 0; i < check->errors.count; i++)
		print_error(check->errors.count > 1 ? "  " : "offpeak: ", &check->errors.items[i]);
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
	               cell_known(known ? opk_plan_metrics(plan)->count : 0, known),
	               cell_known(known ? opk_plan_missing(plan)->count : 0, known),
	               cell_text(status));
}

/* A chip that has errors: its row. */
static int put_failed(struct check *check, const struct opk_chip *chip)
{
	struct opk_ctx *ctx = check->app->ctx;
	size_t lines = opk_error_count(ctx);
	opk_autofree char *status = opk_strdup(lines ? opk_error_message(ctx, lines - 1)
	                                             : "out of memory");
	int code = take(check, chip->name);

	return code ? code : put_row(check, chip->name, NULL, status ? status : "");
}

/* Finds what else is wrong with a set whose files have errors. */
static int judge_on(struct check *check, const struct opk_chip *chip)
{
	int code = opk_set_check_on(check->app->ctx, check->set, chip->name);

	if (!code)
		return put_row(check, chip->name, NULL, "not planned: its files have errors");
	return code == OPK_EINPUT || code == OPK_EUSAGE ? put_failed(check, chip) : code;
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
	int code;

	options.chip = chip->name;
	options.effort = effort_left(check);
	options.progress = app_progress;
	options.progress_data = (char *)"looking for a shorter plan, hundredth";
	code = opk_plan_new(&plan, check->app->ctx, check->set, &options);
	if (!code)
		return put_row(check, chip->name, plan, "ok");
	check->worst = code == OPK_ENVIDIA ? code : OPK_EINPUT;
	return put_failed(check, chip);
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
	if (has_profiler(check->set, chip))
		return (check->partly ? judge_on : plan_on)(check, chip);
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
	print_errors(check);
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
	return code ? app_fail(app, code) : print_chips(check, &names);
}

int sets_check(struct app *app, const char *spec, const struct option_list *chips,
               const struct option_list *params, double effort)
{
	opk_auto(opk_set) struct opk_set *set = NULL;
	struct check check = { .app = app, .effort = effort, .begun = seconds_of(CLOCK_MONOTONIC) };
	int code = opk_set_find_partly(&set, app->ctx, spec);

	check.partly = code && set;
	check.worst = code;
	if (code)
		app_fail(app, code);
	if (!set)
		return code;
	check.set = set;
	code = give_parameters(app, params, set);
	code = code ? app_fail(app, code) : check_set(&check, chips);
	clear_errors(&check);
	return code;
}
