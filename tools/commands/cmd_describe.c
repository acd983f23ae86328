/* SPDX-License-Identifier: BSD-2-Clause */
/* offpeak describe: one metric, or one of nvprof's names. */
#include <string.h>

#include "base/ctx.h"
#include "chip/door.h"
#include "commands.h"
#include "common/args.h"
#include "container/door.h"
#include "plan/door.h"

struct describe_args {
	unsigned profiler, table;
};

#define TABLES "summary|submetrics|counters|constituents|terms"

static const struct option_spec specs[] = {
	{ "profiler", 0, PROFILER_WORDS, "whose catalog; default the first that has it",
	  OPTION_WORD, offsetof(struct describe_args, profiler) },
	TABLE_OPTION(TABLES, "summary", struct describe_args, table),
	{ 0 },
};

static int get(struct opk_listing **out, struct app *app, const struct opk_description *d,
               enum opk_description_list list)
{
	return opk_description_list(out, app->ctx, d, list);
}

static int print_list(struct app *app, const struct opk_description *d, const char *name,
                      enum opk_description_list list)
{
	struct opk_listing *rows;

	TRY(get(&rows, app, d, list));
	return app_list(app, name, rows);
}

/* ---- a metric */

/* Columns of OPK_DESCRIPTION_METRIC. */
enum { OF_CHIP, PROFILER, METRIC, BASE, TYPE };

/* Notes that instructions are counted under the same name, if a profiler was not asked for. */
static int note_code(struct app *app, const union opk_cell *about)
{
	enum opk_profiler profiler;
	bool found = false;

	if (!strcmp(about[PROFILER].string, opk_profiler_name(OPK_PROFILER_RANGE)))
		TRY(opk_allow(app->ctx,
		              opk_code_profiler_of(&found, &profiler, app->ctx,
		                                   about[OF_CHIP].string, about[BASE].string),
		              OPK_EFAILED));
	if (found)
		app_note("%s is also counted at each instruction: --profiler %s",
		         about[BASE].string, opk_profiler_name(profiler));
	return OPK_OK;
}

/* If only the summary is printed, as in CSV, it includes the constituents' names. */
static int print_record(struct app *app, const struct opk_listing *about,
                        const struct opk_listing *constituents)
{
	size_t count, parts = opk_listing_count(constituents);
	const struct opk_column *columns = opk_listing_columns(about, &count);
	const union opk_cell *cells = opk_listing_get(about, 0);
	opk_autofree const char **names = opk_alloc_array(parts + 1, sizeof *names);
	struct app_fields fields = { 0 };
	bool people = app_shows_table(app);

	if (!names)
		return app_nomem(app);
	for (size_t i = 0; i < parts; i++)
		names[i] = opk_listing_get(constituents, i)->string;
	/* Omit lines that tell people nothing: an unknown scope. */
	for (size_t i = 0; i < count; i++)
		if (!people || columns[i].type != OPK_CELL_STRING || cells[i].string)
			field_add(&fields, columns[i].name, columns[i].type, cells[i]);
	if (app_wants_table(app, "summary") && (parts || !people))
		field_list(&fields, "constituents", names, parts);
	return app_record(app, &fields);
}

static int print_submetrics(struct app *app, const struct opk_description *d)
{
	struct opk_listing *rows;

	TRY(get(&rows, app, d, OPK_DESCRIPTION_SUBMETRICS));
	/* Leave out method and status. */
	return app_list_columns(app, "submetrics", rows, 3);
}

static int describe_metric(struct app *app, const struct opk_description *d,
                           const struct opk_listing *about)
{
	opk_auto(opk_listing) struct opk_listing *constituents = NULL;

	TRY(get(&constituents, app, d, OPK_DESCRIPTION_CONSTITUENTS));
	TRY(app_begin_output(app));
	TRY(print_record(app, about, constituents));
	TRY(print_submetrics(app, d));
	TRY(print_list(app, d, "counters", OPK_DESCRIPTION_COUNTERS));
	/* A counter has no constituents. */
	if (strcmp(opk_listing_get(about, 0)[TYPE].string, "counter")
	    || app_wants_table(app, "constituents"))
		TRY(app_list(app, "constituents", opk_take(constituents)));
	return app_end_output(app);
}

/* ---- a name of nvprof's */

/* The columns of OPK_DESCRIPTION_LEGACY. */
enum { CHIP, NAME, KIND, FORMULA, UNIT, NVIDIA, NOTE, LACK, OTHER_KIND, OTHER_FORMULA };

/* Omits lines that tell people nothing. */
static void field_note(struct app *app, struct app_fields *fields, const char *name,
                       const char *text)
{
	if (*text || !app_shows_table(app))
		field_text(fields, name, text);
}

static int print_legacy(struct app *app, const union opk_cell *legacy)
{
	opk_autofree char *nothing = opk_printf("no counterpart on %s", legacy[CHIP].string);
	const char *formula = legacy[FORMULA].string;
	bool same = formula && !strcmp(legacy[NVIDIA].string, formula);
	struct app_fields fields = { 0 };

	field_text(&fields, "chip", legacy[CHIP].string);
	field_text(&fields, "legacy", legacy[NAME].string);
	field_text(&fields, "kind", legacy[KIND].string);
	field_text(&fields, "formula", formula ? formula : nothing);
	field_note(app, &fields, "unit", legacy[UNIT].string);
	field_note(app, &fields, "nvidia", same ? "" : legacy[NVIDIA].string);
	field_note(app, &fields, "note", legacy[NOTE].string);
	return app_record(app, &fields);
}

static void note_legacy(const union opk_cell *legacy)
{
	const char *other = legacy[OTHER_FORMULA].string;

	if (legacy[LACK].string)
		app_note("nvprof's %s has no counterpart on %s: %s", legacy[NAME].string,
		         legacy[CHIP].string, legacy[LACK].string);
	if (legacy[OTHER_KIND].string)
		app_note("there is an %s %s, too: %s", legacy[OTHER_KIND].string,
		         legacy[NAME].string, *other ? other : "no counterpart");
}

static int describe_legacy(struct app *app, const struct opk_description *d,
                           const union opk_cell *legacy)
{
	TRY(app_begin_output(app));
	TRY(print_legacy(app, legacy));
	TRY(print_list(app, d, "terms", OPK_DESCRIPTION_TERMS));
	note_legacy(legacy);
	return app_end_output(app);
}

/* A metric has other tables than a name of nvprof's. */
static int check_table(struct app *app, bool legacy)
{
	bool terms = app_wants_table(app, "terms");

	if (!app->only || app_wants_table(app, "summary") || terms == legacy)
		return OPK_OK;
	return app_error(app, OPK_EUSAGE, "--table %s: %s is %s; use %s", app->only,
	                 app->arguments[1], legacy ? "a name of nvprof's" : "a metric",
	                 legacy ? "summary or terms"
	                        : "summary, submetrics, counters or constituents");
}

/* `any`: of any profiler that has it. */
static int describe(struct app *app, const struct opk_description *d, bool any)
{
	opk_auto(opk_listing) struct opk_listing *legacy = NULL, *metric = NULL;

	TRY(get(&legacy, app, d, OPK_DESCRIPTION_LEGACY));
	TRY(get(&metric, app, d, OPK_DESCRIPTION_METRIC));
	TRY(check_table(app, opk_listing_count(legacy)));
	if (opk_listing_count(legacy))
		return describe_legacy(app, d, opk_listing_get(legacy, 0));
	TRY(describe_metric(app, d, metric));
	return any ? note_code(app, opk_listing_get(metric, 0)) : OPK_OK;
}

/* ---- a number about a launch or its device */

static int describe_attribute(struct app *app, const char *name)
{
	const char *unit = opk_attribute_unit(name);
	struct app_fields fields = { 0 };

	if (app->only && !app_wants_table(app, "summary"))
		return app_error(app, OPK_EUSAGE, "--table %s: %s is not a metric; use summary",
		                 app->only, name);
	TRY(app_begin_output(app));
	field_text(&fields, "attribute", name);
	field_note(app, &fields, "unit", unit);
	field_text(&fields, "description", opk_attribute_text(name));
	field_flag(&fields, "adds", opk_attribute_adds(name));
	TRY(app_record(app, &fields));
	return app_end_output(app);
}

static int new_description(struct opk_description **out, struct app *app, unsigned profiler)
{
	const char *chip = app->arguments[0], *name = app->arguments[1];

	return profiler ? opk_description_new(out, app->ctx, chip, profiler_of_word(profiler), name)
	                : opk_description_find(out, app->ctx, chip, name);
}

static int run(struct app *app, void *data)
{
	const struct describe_args *args = data;
	opk_auto(opk_description) struct opk_description *d = NULL;

	if (app->argument_count < 2)
		return app_error(app, OPK_EUSAGE, "describe: which chip and which metric?");
	TRY(app_choose_table(app, TABLES, args->table, "summary"));
	if (opk_attribute_is_name(app->arguments[1]))
		return describe_attribute(app, app->arguments[1]);
	TRY(new_description(&d, app, args->profiler));
	return describe(app, d, !args->profiler);
}

const struct command describe_command = {
	.name = "describe",
	.synopsis = "CHIP METRIC",
	.summary = "show all that is known about one metric",
	.details =
		"METRIC is a full name, or a base name such as dram__bytes, which means its plainest\n"
		"full name (.sum, .ratio or, of a throughput, .avg.pct_of_peak_sustained_elapsed). The\n"
		"output has its properties, the other chips that have it, its submetrics with the\n"
		"passes that each takes alone, the raw counters that it is computed from with the\n"
		"domains that can count them, and its constituents: the counters and throughputs of\n"
		"which a throughput is the highest, or, for a ratio of the range profiler, the counters\n"
		"that are computed from its raw counters. single_pass names the chip's sets of one pass\n"
		"that have the metric. The scope, with CUPTI 13.1 and later, is context or device: see\n"
		"'offpeak help metrics'. Without --profiler the first of range, pm, sass and pc that has\n"
		"the metric counts; a last line says if it is also counted at each instruction.\n"
		"\n"
		"METRIC may also be a metric or event of nvprof: the output has the formula over metrics of\n"
		"the chip, NVIDIA's own text where it is another one, and a note that says why. A term with\n"
		"{op} means several metrics; the first is named. Where the chip has no counterpart, a\n"
		"message says what it lacks.\n"
		"\n"
		"METRIC may also be Nsight Compute's name for a number about a launch or its device,\n"
		"which recordings have without counters, such as launch__waves_per_multiprocessor; adds\n"
		"says whether it is added over launches.",
	.examples = {
		{ "describe GH100 dram__throughput",
		  "its unit, passes, raw counters and constituents" },
		{ "describe GB100 achieved_occupancy", "a name of nvprof's: today's formula" },
		{ "describe GH100 sm__throughput --table constituents -o parts.csv",
		  "what a throughput is the highest of, as CSV" },
	},
	.options = specs,
	.args_size = sizeof(struct describe_args),
	.max_arguments = 2,
	.run = run,
};
