/* SPDX-License-Identifier: BSD-2-Clause */
/* offpeak info: the contents of a container, and whether it is intact. */
#include <inttypes.h>
#include <string.h>

#include "baked/door.h"
#include "base/buf.h"
#include "commands.h"
#include "common/files.h"
#include "container/door.h"
#include "eval/door.h"

struct info_args {
	const char *raw_config;
	unsigned table;
};

#define TABLES                                                                                     \
	"summary|sections|set_facts|labels|derived|headings|run|availability|stats|drops|"         \
	"activities|nvtx|code|functions|plan|baked"

static const struct option_spec specs[] = {
	TABLE_OPTION(TABLES, "summary", struct info_args, table),
	{ "raw-config", 0, "FILE", "instead: chip and passes of a bare config image", OPTION_INPUT,
	  offsetof(struct info_args, raw_config) },
	{ 0 },
};

/* Cells of OPK_FILE_VERIFIED. */
enum { TYPE, CONTENT, STORED, PLAIN, ENCODING, STRIDE, INTEGRITY };

/* Sums over all sections. */
struct totals {
	uint64_t plain;
	uint64_t images;
	bool damaged; /* any section */
};

static struct totals sum(const struct opk_listing *sections)
{
	struct totals totals = { 0 };

	for (size_t i = 0; i < opk_listing_count(sections); i++) {
		const union opk_cell *section = opk_listing_get(sections, i);

		totals.plain += section[PLAIN].uint;
		totals.images += !strcmp(section[TYPE].string, "DATA");
		totals.damaged |= strcmp(section[INTEGRITY].string, "ok") != 0;
	}
	return totals;
}

/* ---- metadata */

/* Totals over the tables. */
struct counted {
	size_t ranges, activities;
	struct opk_clocks clocks;
	const struct opk_stats *stats; /* NULL: none */
	struct opk_values_origin values;
	size_t baked_metrics;
	struct opk_listing *baked; /* the sets that have values; NULL: not read */
};

static void clear_counted(struct counted *counted)
{
	opk_listing_free(counted->baked);
}

/* "3: reason; 1: another"; NULL without memory. */
static char *missing_text(const struct opk_stats *stats)
{
	struct opk_buf text = { 0 };

	for (size_t i = 0; stats && i < stats->drop_count; i++)
		opk_buf_add_printf(&text, "%s%" PRIu64 ": %s", i ? "; " : "", stats->drops[i].count,
		                   stats->drops[i].reason);
	return opk_buf_take_text(&text);
}

static void print_summary(struct app *app, const char *path, struct opk_file *file,
                          const struct opk_meta *meta, const struct totals *totals,
                          const struct counted *counted)
{
	const struct opk_clocks *clocks = &counted->clocks;
	char sm[OPK_CLOCK_TEXT], memory[OPK_CLOCK_TEXT];
	struct app_fields fields = { 0 };
	opk_autofree char *missing = missing_text(counted->stats);

	opk_clock_text(sm, &clocks->sm);
	opk_clock_text(memory, &clocks->memory);
	field_text(&fields, "file", path);
	field_number(&fields, "size", opk_file_size(file));
	field_text(&fields, "integrity",
	           totals->damaged           ? "damaged"
	           : opk_file_complete(file) ? "ok"
	                                     : "cut off: the end section is missing");
	field_flag(&fields, "complete",
	           opk_file_complete(file) && !(counted->stats && counted->stats->drop_count));
	field_text(&fields, "missing", missing ? missing : "not enough memory");
	field_text(&fields, "kind", meta->kind);
	field_text(&fields, "generator", meta->generator);
	field_text(&fields, "made_by", meta->made_by);
	field_number(&fields, "cupti_version", meta->cupti_version);
	field_text(&fields, "source", meta->source);
	field_text(&fields, "chip", meta->chip);
	field_text(&fields, "profiler", opk_profiler_name(meta->profiler));
	field_text(&fields, "set", meta->set_name);
	field_number(&fields, "passes", meta->passes);
	if (meta->rotation.passes)
		field_number(&fields, "rotation_passes", meta->rotation.passes);
	field_flag(&fields, "keep_instances", meta->keep_instances);
	field_text(&fields, "config_hash", meta->config_hash);
	field_text(&fields, "mode", meta->mode);
	field_number(&fields, "images", totals->images);
	field_number(&fields, "recorded_ranges", counted->ranges);
	field_number(&fields, "recorded_activities", counted->activities);
	field_number(&fields, "plain_size", totals->plain);
	field_list(&fields, "metrics", meta->metrics, meta->metric_count);
	if (*counted->values.generator) {
		field_text(&fields, "values_by", counted->values.generator);
		field_number(&fields, "values_cupti_version", counted->values.cupti_version);
	}
	field_text(&fields, "join", meta->join);
	field_text(&fields, "backend", meta->backend);
	field_list(&fields, "inflated", meta->inflated, meta->inflated_count);
	field_text(&fields, "sm_mhz", sm);
	field_text(&fields, "memory_mhz", memory);
	field_flag(&fields, "clocks_drifted", clocks->sm.drifted || clocks->memory.drifted);
	if (counted->baked_metrics)
		field_number(&fields, "baked_metrics", counted->baked_metrics);
	app_record(app, &fields);
}

/* Prints what the set has besides its metrics. */
static void print_set(struct app *app, const struct opk_meta *meta)
{
	struct app_fields fields = { 0 };
	bool any = meta->set_version || (meta->set_hash && *meta->set_hash) || meta->hidden_count
	           || meta->column_count;

	if (!any && !app_wants_table(app, "set_facts"))
		return;
	field_number(&fields, "version", meta->set_version);
	field_text(&fields, "hash", meta->set_hash);
	field_list(&fields, "columns", meta->columns, meta->column_count);
	field_list(&fields, "hidden", meta->hidden, meta->hidden_count);
	app_fields_table(app, "set_facts", &fields);
	if (any)
		opk_out_row(app->out, fields.cells);
}

/* ---- what ran */

static void print_activity(struct app *app, const struct opk_activity *activity)
{
	static const char *const kinds[] = { "", "kernel", "copy", "set", "range", "call" };
	const uint32_t *grid = activity->grid, *block = activity->block;
	char shapes[2][40] = { "", "" };

	if (grid[0])
		snprintf(shapes[0], sizeof *shapes, "%ux%ux%u", grid[0], grid[1], grid[2]);
	if (block[0])
		snprintf(shapes[1], sizeof *shapes, "%ux%ux%u", block[0], block[1], block[2]);
	app_row(app, cell_text(kinds[activity->kind]), cell_text(activity->name),
	        cell_known((uint64_t)activity->device, activity->device >= 0),
	        cell_number(activity->start_ns), cell_number(activity->end_ns),
	        cell_number(activity->end_ns - activity->start_ns), cell_number(activity->stream),
	        cell_number(activity->context), cell_text(shapes[0]), cell_text(shapes[1]),
	        cell_number(activity->registers), cell_number(activity->static_shared_bytes),
	        cell_number(activity->shared_bytes), cell_number(activity->bytes),
	        cell_number(activity->graph_node), cell_number(activity->correlation),
	        cell_number(activity->thread), cell_number(activity->process),
	        cell_known((uint64_t)activity->rank, activity->rank >= 0),
	        cell_text(activity->symbol), cell_text(activity->host), cell_text(activity->gpu),
	        cell_number(activity->external));
}

/* Activities may be millions: print them only if asked for. */
static void print_activities(struct app *app, struct opk_file *file)
{
	static const struct opk_column columns[] = {
		{ "kind", OPK_CELL_STRING },       { "name", OPK_CELL_STRING },
		{ "device", OPK_CELL_OPTIONAL },   { "start_ns", OPK_CELL_UINT },
		{ "end_ns", OPK_CELL_UINT },       { "duration_ns", OPK_CELL_UINT },
		{ "stream", OPK_CELL_UINT },       { "context", OPK_CELL_UINT },
		{ "grid", OPK_CELL_STRING },       { "block", OPK_CELL_STRING },
		{ "registers", OPK_CELL_UINT },    { "static_shared_bytes", OPK_CELL_UINT },
		{ "shared_bytes", OPK_CELL_UINT }, { "bytes", OPK_CELL_UINT },
		{ "graph_node", OPK_CELL_UINT },   { "correlation", OPK_CELL_UINT },
		{ "thread", OPK_CELL_UINT },       { "process", OPK_CELL_UINT },
		{ "rank", OPK_CELL_OPTIONAL },     { "symbol", OPK_CELL_STRING },
		{ "host", OPK_CELL_STRING },       { "gpu", OPK_CELL_STRING },
		{ "external", OPK_CELL_UINT },
	};
	const struct opk_activity *activities;
	size_t count;

	if (!app->only || !app_wants_table(app, "activities")
	    || opk_file_activities(&activities, &count, app->ctx, file))
		return;
	app_table(app, "activities", columns);
	for (size_t i = 0; i < count; i++)
		print_activity(app, &activities[i]);
}

/* ---- all of it */

/* Prints tables that have rows, or were asked for; modules take long to read. */
static int print_lists(struct app *app, struct opk_file *file)
{
	static const struct {
		enum opk_file_list list;
		const char *name;
	} lists[] = {
		{ OPK_FILE_LABELS, "labels" },
		{ OPK_FILE_DERIVED, "derived" },
		{ OPK_FILE_HEADINGS, "headings" },
		{ OPK_FILE_RUN, "run" },
		{ OPK_FILE_AVAILABILITY, "availability" },
		{ OPK_FILE_STATS, "stats" },
		{ OPK_FILE_DROPS, "drops" },
		{ OPK_FILE_CODE, "code" },
		{ OPK_FILE_FUNCTIONS, "functions" },
		{ OPK_FILE_NVTX, "nvtx" },
	};

	for (size_t i = 0; i < COUNT(lists); i++) {
		opk_auto(opk_listing) struct opk_listing *rows = NULL;

		if (lists[i].list >= OPK_FILE_CODE
		    && (!app->only || !app_wants_table(app, lists[i].name)))
			continue;
		TRY(opk_file_list_whole(&rows, app->ctx, file, lists[i].list));
		if (opk_listing_count(rows) || app_wants_table(app, lists[i].name))
			TRY(app_list(app, lists[i].name, opk_take(rows)));
	}
	return OPK_OK;
}

/* Reads rows and counts; reports their errors, unless damage was reported. All else is shown. */
static int read_tables(struct app *app, struct opk_file *file, struct counted *counted,
                       bool damaged)
{
	const struct opk_activity *activities;
	const struct opk_range *ranges;
	int code = opk_file_ranges(&ranges, &counted->ranges, app->ctx, file);
	int next;

	if (!code)
		opk_clocks_find(&counted->clocks, ranges, counted->ranges);
	if (!code)
		code = opk_file_activities(&activities, &counted->activities, app->ctx, file);
	if (!code)
		code = opk_values_origin_find(&counted->values, app->ctx, file);
	if (!code)
		code = opk_values_list(&counted->baked, &counted->baked_metrics, app->ctx, file);
	if (code && !damaged)
		app_fail(app, code);
	next = opk_file_stats(&counted->stats, app->ctx, file);
	if (next && !code && !damaged)
		app_fail(app, next);
	return code ? code : next;
}

static int print(struct app *app, const char *path, struct opk_file *file,
                 struct opk_listing **sections, const struct totals *totals)
{
	/* A file may be cut off before its metadata: then less can be shown. */
	static const struct opk_meta nothing = { .keep_instances = true };
	const struct opk_meta *meta = &nothing;
	__attribute__((cleanup(clear_counted))) struct counted counted = { 0 };
	int code = opk_file_meta(&meta, app->ctx, file), tables;

	if (code && !totals->damaged && opk_file_complete(file))
		return code;
	tables = read_tables(app, file, &counted, totals->damaged);
	TRY(app_begin_output(app));
	print_summary(app, path, file, meta, totals, &counted);
	TRY(app_list(app, "sections", opk_take(*sections)));
	print_set(app, meta);
	TRY(print_lists(app, file));
	print_activities(app, file);
	if (counted.baked && (opk_listing_count(counted.baked) || app_wants_table(app, "baked")))
		TRY(app_list(app, "baked", opk_take(counted.baked)));
	code = app_end_output(app);
	return code ? code : tables;
}

/* ---- a bare config image */

static int print_config(struct app *app, const char *path, size_t size, struct opk_listing *passes)
{
	struct app_fields fields = { 0 };
	int code = app_begin_output(app);

	if (code) {
		opk_listing_free(passes);
		return code;
	}
	field_text(&fields, "file", path);
	field_number(&fields, "size", size);
	field_text(&fields, "chip", opk_listing_get(passes, 0)[2].string);
	field_number(&fields, "passes", opk_listing_count(passes));
	app_record(app, &fields);
	code = app_list_columns(app, "plan", passes, 2);
	return code ? code : app_end_output(app);
}

static int show_config(struct app *app, const char *path)
{
	opk_autofree void *image = NULL;
	struct opk_listing *passes = NULL;
	size_t size;
	int code = files_get(app, &image, &size, path);

	if (!code)
		code = opk_config_info(&passes, app->ctx, image, size);
	return code ? opk_add(app->ctx, code, "%s", path) : print_config(app, path, size, passes);
}

/* A config image has the table plan, a container all others. */
static int choose_table(struct app *app, const struct info_args *args)
{
	int code = app_choose_table(app, TABLES, args->table, "summary");

	if (code || !app->only || app_wants_table(app, "summary")
	    || app_wants_table(app, "plan") == !!args->raw_config)
		return code;
	return app_error(app, OPK_EUSAGE, "info: --table %s goes with %s", app->only,
	                 args->raw_config ? "FILE.opk" : "--raw-config FILE");
}

static int run(struct app *app, void *data)
{
	const struct info_args *args = data;
	opk_auto(opk_file) struct opk_file *file = NULL;
	opk_auto(opk_listing) struct opk_listing *sections = NULL;
	struct totals totals;
	const char *path = app->argument_count ? app->arguments[0] : NULL;

	if (app->argument_count + !!args->raw_config != 1)
		return app_error(app, OPK_EUSAGE,
		                 "info: one FILE.opk, or --raw-config FILE, is needed");
	TRY(choose_table(app, args));
	if (args->raw_config)
		return show_config(app, args->raw_config);
	TRY(opk_file_open(&file, app->ctx, path));
	TRY(opk_file_list(&sections, app->ctx, file, OPK_FILE_VERIFIED));
	totals = sum(sections);
	TRY(print(app, path, file, &sections, &totals));
	if (totals.damaged)
		return app_error(
			app, OPK_EINPUT,
			"%s: damaged: a section's CRC-32 differs; 'offpeak recover' keeps what is whole",
			path);
	if (!opk_file_complete(file))
		return app_error(
			app, OPK_EINPUT,
			"%s: cut off after %zu whole sections; the end section is missing; 'offpeak "
			"recover' keeps what is whole",
			path, opk_file_section_count(file));
	return OPK_OK;
}

const struct command info_command = {
	.name = "info",
	.synopsis = "FILE.opk | --raw-config FILE",
	.summary = "show what a container holds: sections, sizes, chip, metrics, integrity",
	.details =
		"Needs no NVIDIA library. Every section's checksum is verified; a damaged or cut-off\n"
		"file is shown as far as it can be read, and the exit code is 4. CSV has one table: the\n"
		"summary in field,value rows, or that of --table, such as sections.\n"
		"Where the set says more than its metrics, tables follow: set_facts,\n"
		"its version, hash, columns and hidden metrics; labels; derived metrics; headings. Where\n"
		"the collector noted them: run, facts about machine and environment; stats, what it\n"
		"counted; drops, what is missing and why. --table activities alone lists what ran on the GPU,\n"
		"and when, where offpeak-collect was told to record that; --table nvtx the NVTX ranges beside\n"
		"it. So do code and functions,\n"
		"where instructions were counted: modules, whether they have code and lines, and how many of\n"
		"their functions have counts; functions, their sizes, and how many instructions have counts.\n"
		"Where values were baked, or imported, baked_metrics says of how many metrics, and the table\n"
		"baked of which sets.\n"
		"\n"
		"--raw-config shows chip, passes and, in the table plan, raw counters of a bare config\n"
		"image, of any CUPTI program. NVIDIA's library reads it, in a process of its own, since it\n"
		"crashes on other bytes.",
	.examples = {
		{ "info run.opk", "what is in a recording, and whether it is whole" },
		{ "info run.opk --table activities -o ran.csv",
		  "one of its tables, as CSV: what ran on the GPU, and when" },
		{ "info run.opk --format json", "all of it, for scripts" },
	},
	.options = specs,
	.args_size = sizeof(struct info_args),
	.max_arguments = 1,
	.arguments = ARGUMENTS_ARE_FILES,
	.run = run,
};
