/* SPDX-License-Identifier: BSD-2-Clause */
/* offpeak sets: lists metric sets, shows one, checks one, makes one. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/ascii.h"
#include "base/number_text.h"
#include "commands.h"
#include "common/args.h"
#include "common/files.h"
#include "nsight/door.h"
#include "plan/door.h"
#include "sets/sets_check.h"
#include "sets/sets_collect.h"
#include "sets/sets_show.h"

struct sets_args {
	const char *check, *single_pass, *import, *effort;
	struct option_list chips, params;
	unsigned table;
	bool yaml;
};

static const struct option_spec specs[] = {
	{ "check", 0, "SET", "check this set: its form, and its metrics on the chips it claims",
	  OPTION_INPUT, offsetof(struct sets_args, check) },
	{ "chip", 0, "CHIP",
	  "show, check or import it for this chip, or list all sets; GH100,GB202 to check, import",
	  OPTION_LIST, offsetof(struct sets_args, chips) },
	PARAM_OPTION(struct sets_args, params),
	{ "table", 0, SETS_TABLES, "with SET: print this table alone; CSV has one, else metrics",
	  OPTION_WORD, offsetof(struct sets_args, table) },
	{ "effort", 0, "SECONDS",
	  "look so long for shorter plans, on all chips or of all sets together (60)", OPTION_TEXT,
	  offsetof(struct sets_args, effort) },
	{ "single-pass", 0, "CHIP", "list this chip's sets of one pass, or the metrics of one",
	  OPTION_TEXT, offsetof(struct sets_args, single_pass) },
	{ "yaml", 0, NULL, "with --single-pass CHIP SET: as a metric set", OPTION_FLAG,
	  offsetof(struct sets_args, yaml) },
	{ "import", 0, "FILE",
	  "make a metric set of a section file or command line of Nsight Compute, or of names",
	  OPTION_INPUT, offsetof(struct sets_args, import) },
	{ 0 },
};

/* Columns of opk_set_list() to show; people don't see path and version. */
enum { PROFILER = 1, FOR_PEOPLE = 4, SHOWN = 6, ERROR = 8 };

/* A bad file must not hide the others. */
static void note_bad(const struct opk_listing *sets)
{
	for (size_t i = 0; i < opk_listing_count(sets); i++) {
		const char *error = opk_listing_get(sets, i)[ERROR].string;

		if (error)
			app_note("left out: %.*s", (int)strcspn(error, "\n"), error);
	}
}

static int list(struct app *app, const struct sets_args *args, double effort)
{
	opk_auto(opk_listing) struct opk_listing *sets = NULL;
	const struct opk_column *columns;
	size_t unused;

	TRY(opk_set_list(&sets, app->ctx, NULL));
	note_bad(sets);
	if (args->chips.count)
		return sets_on_chip(app, sets, args->chips.items[0], effort);
	TRY(app_begin_output(app));
	columns = opk_listing_columns(sets, &unused);
	/* For one set, people can ask for its path. */
	TRY(opk_out_table(app->out, "sets", columns, app_shows_table(app) ? FOR_PEOPLE : SHOWN));
	for (size_t i = 0; i < opk_listing_count(sets); i++) {
		union opk_cell row[SHOWN];

		memcpy(row, opk_listing_get(sets, i), sizeof row);
		if (!row[PROFILER].string)
			row[PROFILER] = cell_text(opk_profiler_name(OPK_PROFILER_RANGE));
		if (!opk_listing_get(sets, i)[ERROR].string)
			TRY(opk_out_row(app->out, row));
	}
	return app_end_output(app);
}

/* ---- sets as YAML */

static int write_file(struct app *app, const char *path, const char *text)
{
	opk_autonewfile struct opk_newfile file = { 0 };

	TRY(opk_newfile_create(&file, app->ctx, path, opk_check_output, OPK_OUTPUT_WRITTEN_SET));
	TRY(opk_newfile_write(&file, text, strlen(text)));
	return opk_newfile_commit(&file);
}

/* Writes to the file of -o, or to stdout. */
static int write_text(struct app *app, const char *text)
{
	if (app->output)
		return write_file(app, app->output, text);
	if (app_print(app, text, strlen(text)) || fflush(stdout))
		return app_error(app, OPK_EFAILED, "can't write the output: %s", strerror(errno));
	return OPK_OK;
}

/* Names the other sets after the first: "pm.yaml", "pm-pm2.yaml". */
static int name_others(struct app *app, struct opk_strlist *paths,
                       const struct opk_set_import *import)
{
	const char *first = app->output;
	size_t stem = strlen(first) - strlen(opk_ending(first));

	for (size_t i = 1; i < opk_set_import_count(import); i++) {
		const char *suffix = opk_set_import_get(import, i)->suffix;

		if (!opk_strlist_take(paths, opk_printf("%.*s%s%s", (int)stem, first, suffix,
		                                        first + stem)))
			return app_nomem(app);
		TRY(files_write(app, paths->items[i - 1], OPK_OUTPUT_WRITTEN_SET));
	}
	return OPK_OK;
}

/* "SUBJECT has 12 metrics and 1 included set, for profiler pmEND". */
static void note_set(const char *subject, const struct opk_imported_set *set, const char *end)
{
	size_t metrics = set->metric_count, includes = set->include_count;
	char of_metrics[40] = "", of_sets[40] = "";

	if (metrics || !includes)
		snprintf(of_metrics, sizeof of_metrics, "%zu metric%s", metrics,
		         opk_plural(metrics));
	if (includes)
		snprintf(of_sets, sizeof of_sets, "%s%zu included set%s", metrics ? " and " : "",
		         includes, opk_plural(includes));
	app_note("%s has %s%s, for profiler %s%s", subject, of_metrics, of_sets,
	         opk_profiler_name(set->profiler), end);
}

static int write_others(struct app *app, const struct opk_strlist *paths,
                        const struct opk_set_import *import)
{
	for (size_t i = 0; i < paths->count; i++) {
		const struct opk_imported_set *set = opk_set_import_get(import, i + 1);

		TRY(write_file(app, paths->items[i], set->yaml));
		note_set(paths->items[i], set, "");
	}
	return OPK_OK;
}

static void report(const struct app *app, const struct opk_set_import *import)
{
	const struct opk_imported_set *first = opk_set_import_get(import, 0);

	opk_autofree char *end =
		opk_printf("; %zu name%s left out: its last lines say which and why",
	                   first->left_out_count, first->left_out_count == 1 ? " is" : "s are");

	if (first->left_out_count && end)
		note_set("the set", first, end);
	if (first->undivided)
		app_note(
			"breakdown: is left out, since chips differ: with --chip CHIP the set has its "
			"parts there");
	for (size_t i = 1; !app->output && i < opk_set_import_count(import); i++) {
		const struct opk_imported_set *set = opk_set_import_get(import, i);
		opk_autofree char *file = opk_printf(
			"a further set, which -o FILE.yaml writes to FILE%s.yaml,", set->suffix);

		if (file)
			note_set(file, set, "");
	}
}

/* Prints the commands, unless stdout has the set, and what they don't say. */
static int report_commands(struct app *app, const struct opk_set_import *import,
                           const struct sets_collect *collect)
{
	const struct opk_ncu_command *command = opk_set_import_command(import);

	if (app->output)
		TRY(app_print(app, collect->text.data, collect->text.size));
	if (command->sections)
		app_note("sections are replaced by shipped sets of the same subjects: the first "
		         "lines say which; --import FILE.section takes a section itself");
	for (size_t i = 0; i < collect->defaults.count; i++)
		app_note("%s", collect->defaults.items[i]);
	for (size_t i = 0; i < collect->lost.count; i++)
		app_note("not translated: %s", collect->lost.items[i]);
	if (command->further)
		app_note("only the first command line of ncu was read: there %s %zu more",
		         command->further == 1 ? "is" : "are", command->further);
	return OPK_OK;
}

static int write_import(struct app *app, const struct opk_set_import *import, const char *yaml)
{
	opk_autostrlist struct opk_strlist others = { 0 };

	/* Check that all can be written before the first is written. */
	if (app->output)
		TRY(name_others(app, &others, import));
	TRY(write_text(app, yaml));
	TRY(write_others(app, &others, import));
	report(app, import);
	return OPK_OK;
}

static int import_line(struct app *app, const struct opk_set_import *import,
                       const struct opk_strlist *chips)
{
	const struct opk_imported_set *first = opk_set_import_get(import, 0);
	opk_autofree char *path = app->output ? opk_strdup(app->output)
	                                      : opk_printf("%s.yaml", first->name);
	sets_autocollect struct sets_collect collect = { 0 };
	opk_autofree char *yaml = NULL;

	if (!path)
		return app_nomem(app);
	TRY(sets_collect_init(&collect, app, import, path,
	                      chips->count == 1 ? chips->items[0] : NULL));
	yaml = sets_collect_yaml(&collect, first->yaml);
	if (!yaml)
		return app_nomem(app);
	TRY(write_import(app, import, yaml));
	return report_commands(app, import, &collect);
}

/* A command line itself, or metrics, where no file has such a name. */
static bool is_text(const char *path)
{
	return (strchr(path, ' ') || (strstr(path, "__") && strchr(path, ',')))
	       && access(path, F_OK);
}

static int import(struct app *app, const char *path, const struct option_list *wanted)
{
	opk_auto(opk_set_import) struct opk_set_import *import = NULL;
	opk_autostrlist struct opk_strlist chips = { 0 };
	struct opk_set_import_options options = { .path = path };
	char name[SET_NAME_SIZE];

	if (!sets_split_chips(&chips, wanted))
		return app_nomem(app);
	options.chips = opk_strlist_items(&chips);
	options.chip_count = chips.count;
	if (is_text(path)) {
		options.path = "ncu";
		options.text = path;
	}
	/* A file without an ending, such as /dev/stdout, gives the set no name. */
	if (app->output && *opk_ending(app->output))
		options.name = files_set_name(name, app->output);
	TRY(opk_set_import_new(&import, app->ctx, &options));
	if (options.text && !opk_set_import_command(import) && !strstr(path, "__")
	    && !strchr(path, ':'))
		return app_error(app, OPK_EINPUT,
		                 "'%s' is not a file, a command line of Nsight Compute, or names "
		                 "of metrics",
		                 path);
	return opk_set_import_command(import)
	               ? import_line(app, import, &chips)
	               : write_import(app, import, opk_set_import_get(import, 0)->yaml);
}

/* ---- single-pass sets */

static int list_single_pass(struct app *app, const char *chip)
{
	struct opk_listing *sets = NULL;

	TRY(opk_single_pass_list(&sets, app->ctx, chip));
	TRY(app_begin_output(app));
	/* Leave out the metrics' names. */
	TRY(app_list_columns(app, "sets", sets, 5));
	return app_end_output(app);
}

static void print_metric(struct app *app, const struct opk_catalog *catalog, const char *name)
{
	static const struct opk_metric unknown;
	const char *unit = NULL;
	const struct opk_metric *found = sets_find_metric(catalog, name, &unit);
	const struct opk_metric *metric = found ? found : &unknown;

	app_row(app, cell_text(name), cell_text(found ? opk_metric_type_name(metric->type) : NULL),
	        cell_text(metric->hw_unit), cell_text(unit), cell_text(metric->description));
}

/* Shows the metrics of one set, with facts from the catalog. */
static int show_single_pass(struct app *app, const struct opk_single_pass_set *set,
                            const char *chip)
{
	static const struct opk_column columns[] = {
		{ "metric", OPK_CELL_STRING },      { "type", OPK_CELL_STRING },
		{ "hw_unit", OPK_CELL_STRING },     { "dim_unit", OPK_CELL_STRING },
		{ "description", OPK_CELL_STRING },
	};
	opk_auto(opk_catalog) struct opk_catalog *catalog = NULL;

	TRY(opk_catalog_new(&catalog, app->ctx, chip, set->profiler));
	TRY(opk_catalog_complete(catalog, app->ctx));
	if (set->left_out_count)
		app_note("%zu more metrics of %s don't fit beside these", set->left_out_count,
		         set->name);
	TRY(app_begin_output(app));
	app_table(app, "metrics", columns);
	for (size_t i = 0; i < set->metric_count; i++)
		print_metric(app, catalog, set->metrics[i]);
	return app_end_output(app);
}

static int write_single_pass(struct app *app, const struct opk_single_pass_set *set,
                             const char *chip)
{
	opk_autofree char *text = NULL;

	TRY(opk_single_pass_set_yaml(&text, app->ctx, set, chip));
	return write_text(app, text);
}

/* Fails like a plan with this name: CUPTI may list it, or only a later release may have it. */
static int fail_single_pass(struct app *app, const char *chip, const char *name)
{
	opk_autofree char *spec = opk_printf("single-pass:%s", name);
	struct opk_set *set = NULL;
	int code = spec ? opk_set_find_on(&set, app->ctx, spec, chip) : app_nomem(app);

	opk_set_free(set);
	return code;
}

static int single_pass(struct app *app, const char *chip, const char *name, bool yaml)
{
	opk_auto(opk_single_pass_sets) struct opk_single_pass_sets *sets = NULL;
	const struct opk_single_pass_set *set;

	if (!name)
		return list_single_pass(app, chip);
	TRY(opk_single_pass_sets_new(&sets, app->ctx, chip));
	set = opk_single_pass_sets_find(sets, name);
	if (!set)
		return fail_single_pass(app, chip, name);
	return yaml ? write_single_pass(app, set, chip) : show_single_pass(app, set, chip);
}

static bool shows_set(const struct app *app, const struct sets_args *args)
{
	return app->argument_count && !args->check && !args->single_pass && !args->import;
}

static int check_usage(struct app *app, const struct sets_args *args)
{
	if (!!args->check + !!args->single_pass + !!args->import > 1)
		return app_error(app, OPK_EUSAGE,
		                 "sets: one of --check, --single-pass and --import");
	if (args->single_pass && args->chips.count)
		return app_error(app, OPK_EUSAGE, "sets: --chip goes without --single-pass");
	if (!args->check && !shows_set(app, args) && (args->params.count || args->table))
		return app_error(app, OPK_EUSAGE,
		                 "sets: --param goes with SET or --check SET, --table with SET");
	if (args->check && args->table)
		return app_error(app, OPK_EUSAGE, "sets: --table goes with SET");
	if (!args->check && !args->import && args->chips.count > 1)
		return app_error(app, OPK_EUSAGE,
		                 "sets: SET is shown on one chip, and all are listed on one");
	if (args->yaml && !(args->single_pass && app->argument_count))
		return app_error(app, OPK_EUSAGE, "sets: --yaml goes with --single-pass CHIP SET");
	if (app->argument_count && args->import)
		return app_error(app, OPK_EUSAGE, "sets: --import takes one FILE: '%s' is surplus",
		                 app->arguments[0]);
	if (app->argument_count && args->check && !args->chips.count)
		return app_error(
			app, OPK_EUSAGE,
			"sets: --check takes one SET, not '%s', too; chips come after --chip",
			app->arguments[0]);
	if (app->argument_count > 1 && !args->check)
		return app_error(app, OPK_EUSAGE, "sets: surplus argument '%s'", app->arguments[1]);
	return OPK_OK;
}

/* Words after --chip CHIP are also chips. */
static int take_chips(struct app *app, struct option_list *chips)
{
	for (size_t i = 0; i < app->argument_count; i++) {
		if (chips->count == MAX_REPEATS)
			return app_error(app, OPK_EUSAGE, "--chip more than %d times", MAX_REPEATS);
		chips->items[chips->count++] = app->arguments[i];
	}
	return OPK_OK;
}

static int run(struct app *app, void *data)
{
	struct sets_args *args = data;
	bool yaml = args->import || args->yaml;
	double effort = 0;

	if (check_usage(app, args) || effort_of(app, &effort, args->effort))
		return OPK_EUSAGE;
	if (app->output)
		TRY(files_write(app, app->output,
		                yaml ? OPK_OUTPUT_WRITTEN_SET : OPK_OUTPUT_TABLE));
	if (args->single_pass)
		return single_pass(app, args->single_pass, app->arguments[0], args->yaml);
	if (args->import)
		return import(app, args->import, &args->chips);
	if (shows_set(app, args))
		return sets_show(app, app->arguments[0], &args->chips, &args->params, args->table);
	if (!args->check)
		return list(app, args, effort);
	return take_chips(app, &args->chips)
	               ? OPK_EUSAGE
	               : sets_check(app, args->check, &args->chips, &args->params, effort);
}

const struct command sets_command = {
	.name = "sets",
	.synopsis =
		"[SET [--chip CHIP] | --chip CHIP | --check SET [--chip CHIP...] | --single-pass CHIP [SET] | --import FILE]",
	.summary = "list the shipped metric sets, or check one",
	.details =
		"With SET, all about it: its prose, groups, metrics with units and descriptions, formulas,\n"
		"and how many passes it takes on a chip, GH100 unless --chip names another or the set is\n"
		"for others. On a terminal this is a page; CSV has a row a metric, and JSON all of it.\n"
		"\n"
		"--chip CHIP without a set lists all sets with their passes on that chip.\n"
		"\n"
		"--check shows every error of a set's file with its line, and plans the set on every\n"
		"chip that it claims, or on those that are named: it prints passes and metrics;\n"
		"left_out is the number of optional metrics that the chip lacks, and of derived ones\n"
		"that need them; status is ok, or what is wrong. If the file has errors, what could be\n"
		"read is checked on the chips, too, but not planned. An error that several chips have\n"
		"is shown once. In the list of sets, metrics counts entries: a pattern is one. Sets are\n"
		"looked for in OFFPEAK_SETS and beside the program; docs/metric-sets.md describes their\n"
		"form.\n"
		"\n"
		"--single-pass lists metrics of a chip that fit one pass together, as CUPTI says by\n"
		"origin: cupti, its own sets (13.2 and later); emulated, the sets that names like\n"
		"SM_A.TriageCompute.sm__x name, packed metric by metric; offpeak, our own selection where\n"
		"NVIDIA has no sets, and for the range profiler. Each was planned as a whole. left_out\n"
		"counts metrics of the set that did not fit. With SET, it lists the set's metrics; plan and\n"
		"build take it as single-pass:SET, and --yaml writes it as a metric set.\n"
		"\n"
		"--import makes a metric set, as YAML, of a .section file of Nsight Compute, of metric\n"
		"names as ncu takes them, with lines, commas and # comments, or of a command line of ncu\n"
		"itself, in a file, from stdin (-), or quoted as the argument. What no hardware\n"
		"counter can give is left out, and the last lines say why. Metrics of the two profilers,\n"
		"of several passes of PM sampling, and of links and buses go into sets of their own: with\n"
		"-o FILE.yaml these are FILE.yaml, FILE-pm.yaml, FILE-device.yaml and so on; without it,\n"
		"the largest is shown. Of a command line, the commands of offpeak that do the same come\n"
		"to stdout, and into the set as comments; notes name each option that has no\n"
		"counterpart. With --chip the set is for these chips, and has the parts of throughputs\n"
		"for which breakdown: asks.",
	.examples = {
		{ "sets --chip GB202", "the shipped ones, and their passes on a chip" },
		{ "sets --check my.yaml --chip GH100,GB202",
		  "what is wrong with your own, and its passes" },
		{ "sets --import 'ncu -k gemm ./app' -o gemm.yaml",
		  "what ncu would collect, and how to collect it" },
	},
	.options = specs,
	.args_size = sizeof(struct sets_args),
	.max_arguments = ANY_NUMBER,
	.arguments = ARGUMENTS_ARE_SETS,
	.output = OUTPUT_IS_ANY,
	.run = run,
};
