/* SPDX-License-Identifier: BSD-2-Clause */
/* offpeak sets --chip CHIP: all sets, and the passes of each on the chip. */
#include <time.h>

#include "common/app.h"
#include "plan/door.h"
#include "sets/sets_check.h"

/* Columns of opk_set_list(), and of opk_set_check(). */
enum { NAME, PROFILER, ERROR = 8 };
enum { CHIP, PASSES, METRICS, LEFT_OUT, STATUS };

struct all {
	struct app *app;
	const struct opk_chip *chip;
	double effort, begun; /* seconds for all sets together, as for --effort; since when */
};

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* When it is spent, sets are planned as CUPTI does. */
static double effort_left(const struct all *all)
{
	double left = all->effort - (now() - all->begun);

	if (all->effort <= 0)
		return all->effort;
	return left > 0 ? left : -1;
}

static int put(const struct all *all, const char *name, const char *profiler,
               const union opk_cell *found, const char *status)
{
	static const union opk_cell unknown[STATUS + 1];
	const union opk_cell *of = found ? found : unknown;

	return app_row(all->app, cell_text(name), cell_text(profiler), of[PASSES], of[METRICS],
	               of[LEFT_OUT], cell_text(found ? of[STATUS].string : status));
}

static int put_set(const struct all *all, const char *name, const char *profiler)
{
	struct opk_set_check_options options = OPK_INIT(options);
	opk_auto(opk_listing) struct opk_listing *chips = NULL, *errors = NULL;
	opk_auto(opk_set) struct opk_set *set = NULL;
	struct opk_ctx *ctx = all->app->ctx;

	TRY(opk_set_find_on(&set, ctx, name, all->chip->name));
	if (!opk_set_supports(set, all->chip))
		return put(all, name, profiler, NULL, "for other chips");
	options.chips = &all->chip->name;
	options.chip_count = 1;
	options.effort = effort_left(all);
	TRY(opk_set_check_on_chips(&chips, &errors, ctx, set, &options));
	return put(all, name, profiler, opk_listing_get(chips, 0), NULL);
}

static int put_all(const struct all *all, const struct opk_listing *sets)
{
	static const struct opk_column columns[] = {
		{ "set", OPK_CELL_STRING },        { "profiler", OPK_CELL_STRING },
		{ "passes", OPK_CELL_OPTIONAL },   { "metrics", OPK_CELL_OPTIONAL },
		{ "left_out", OPK_CELL_OPTIONAL }, { "status", OPK_CELL_STRING },
	};
	size_t count = opk_listing_count(sets);

	app_table(all->app, "sets", columns);
	for (size_t i = 0; i < count; i++) {
		const union opk_cell *set = opk_listing_get(sets, i);
		const char *profiler = set[PROFILER].string;

		opk_progress(all->app->ctx, OPK_PHASE_SETS, i, count);
		if (!set[ERROR].string)
			TRY(put_set(all, set[NAME].string,
			            profiler ? profiler : opk_profiler_name(OPK_PROFILER_RANGE)));
	}
	return OPK_OK;
}

int sets_on_chip(struct app *app, const struct opk_listing *sets, const char *chip, double effort)
{
	opk_auto(opk_chips) struct opk_chips *chips = NULL;
	struct all all = { .app = app, .effort = effort, .begun = now() };
	int code;

	TRY(opk_chips_new(&chips, app->ctx));
	TRY(opk_chips_resolve(&all.chip, app->ctx, chips, chip));
	TRY(app_begin_output(app));
	app->ctx->whole = OPK_PHASE_SETS;
	code = put_all(&all, sets);
	app->ctx->whole = OPK_PHASE_NONE;
	return code ? code : app_end_output(app);
}
