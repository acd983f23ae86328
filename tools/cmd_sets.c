/* SPDX-License-Identifier: BSD-2-Clause */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "commands.h"

struct sets_args {
	const char *check;
};

static const struct option_spec specs[] = {
	{ "check", 0, "SET", "check this set: its form, and its metrics on the chips it claims",
	  OPTION_TEXT, offsetof(struct sets_args, check) },
	{ 0 },
};

static int print_set(struct app *app, const char *path)
{
	char name[APP_SET_NAME];
	struct opk_set *set;
	int code = opk_set_load(&set, app->ctx, path);

	if (code == OPK_EINPUT) {
		/* One bad file is no reason to hide the others. */
		app_note("left out: %s", opk_error_message(app->ctx, 0));
		return OPK_OK;
	}
	if (code)
		return code;
	code = opk_out_row(app->out, (union opk_cell[]){
		{ .string = app_set_name(name, path) },
		{ .string = opk_profiler_name(opk_set_profiler(set)) },
		{ .uint = opk_set_metric_count(set) },
		{ .string = opk_set_description(set) },
		{ .string = path },
	});
	opk_set_free(set);
	return code;
}

static int list(struct app *app)
{
	static const struct opk_column columns[] = {
		{ "set", OPK_CELL_STRING },         { "profiler", OPK_CELL_STRING },
		{ "metrics", OPK_CELL_UINT },       { "description", OPK_CELL_STRING },
		{ "path", OPK_CELL_STRING },
	};
	struct opk_set_list *list;
	int code = opk_set_list_new(&list, app->ctx);

	if (code)
		return app_fail(app, code);
	code = app_begin_output(app, app_default_format(app));
	if (!code) {
		code = opk_out_table(app->out, "sets", columns, 5);
		for (size_t i = 0; !code && i < opk_set_list_count(list); i++)
			code = print_set(app, opk_set_list_path(list, i));
		code = app_end_output(app, code);
	}
	opk_set_list_free(list);
	return code;
}

/* All causes for the first chip; for the others, which mostly repeat them, the message alone. */
static int report(struct app *app, int code, bool first)
{
	size_t count = opk_error_count(app->ctx);

	if (first || !count)
		app_fail(app, code);
	else
		app_error(app, code, "%s", opk_error_message(app->ctx, count - 1));
	return OPK_EINPUT;
}

/* Plans the set on one chip; `first`: nothing was reported so far. */
static int plan_on(struct app *app, const struct opk_set *set, const struct opk_chip *chip,
                   bool first)
{
	struct opk_plan_options options = OPK_INIT(options);
	struct opk_plan *plan = NULL;
	size_t passes;
	int code;

	options.chip = chip->name;
	code = opk_plan_new(&plan, app->ctx, set, &options);
	if (code)
		return report(app, code, first);
	passes = opk_plan_passes(plan);
	opk_plan_free(plan);
	code = opk_out_row(app->out, (union opk_cell[]){ { .string = chip->name },
	                                                { .uint = passes } });
	return code ? app_fail(app, code) : OPK_OK;
}

/* A chip that the library does not know is an error of the file, with its place. */
static int check_claims(struct app *app, const struct opk_set *set, const struct opk_chips *chips)
{
	int worst = OPK_OK;

	for (size_t i = 0; i < opk_set_chip_count(set); i++) {
		const struct opk_chip *chip = opk_chips_find(chips, opk_set_chip(set, i));

		if (!chip)
			worst = app_error(app, OPK_EINPUT, "%s: unknown chip '%s'",
			                  opk_set_chip_place(set, i), opk_set_chip(set, i));
		else if (!opk_set_supports(set, chip))
			worst = app_error(app, OPK_EINPUT, "%s: %s has no profiler %s",
			                  opk_set_chip_place(set, i), chip->name,
			                  opk_profiler_name(opk_set_profiler(set)));
	}
	return worst;
}

static int check_chips(struct app *app, const struct opk_set *set)
{
	static const struct opk_column columns[] = {
		{ "chip", OPK_CELL_STRING },
		{ "passes", OPK_CELL_UINT },
	};
	struct opk_chips *chips;
	int worst, code = opk_chips_new(&chips, app->ctx);

	if (code)
		return app_fail(app, code);
	worst = check_claims(app, set, chips);
	code = opk_out_table(app->out, "chips", columns, 2);
	for (size_t i = 0; !code && i < opk_chips_count(chips); i++) {
		const struct opk_chip *chip = opk_chips_get(chips, i);
		int one = opk_set_supports(set, chip) ? plan_on(app, set, chip, !worst)
		                                     : OPK_OK;

		worst = one ? one : worst;
	}
	code = app_end_output(app, code);
	opk_chips_free(chips);
	return worst ? worst : code;
}

static int check(struct app *app, const char *spec)
{
	struct opk_set *set;
	int code = opk_set_find(&set, app->ctx, spec);

	if (code)
		return app_fail(app, code);
	code = app_begin_output(app, app_default_format(app));
	if (!code)
		code = check_chips(app, set);
	opk_set_free(set);
	return code;
}

static int run(struct app *app, void *data)
{
	const struct sets_args *args = data;

	return args->check ? check(app, args->check) : list(app);
}

const struct command sets_command = {
	.name = "sets",
	.synopsis = "[--check SET]",
	.summary = "list the shipped metric sets, or check one",
	.details = "--check plans the set on every chip that it claims and prints the passes. Sets are\n"
	           "looked for in OFFPEAK_SETS and beside the program; docs/metric-sets.md describes\n"
	           "their form.",
	.options = specs,
	.args_size = sizeof(struct sets_args),
	.run = run,
};
