/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>

#include "commands.h"
#include "info/info_set.h"

static const char *type_text(uint32_t type)
{
	static const struct {
		uint32_t type;
		const char *text;
	} known[] = {
		{ OPK_SECTION_META, "metadata" },
		{ OPK_SECTION_CONFIG, "config image" },
		{ OPK_SECTION_PREFIX, "counter-data prefix" },
		{ OPK_SECTION_AVAILABILITY, "counter-availability image" },
		{ OPK_SECTION_DATA, "counter data image" },
		{ OPK_SECTION_RANGES, "range table" },
		{ OPK_SECTION_TIMES, "times of samples" },
		{ OPK_SECTION_STATS, "counts of the run" },
	};

	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (known[i].type == type)
			return known[i].text;
	return "unknown, skipped";
}

static const char *encoding_text(const struct opk_section *section)
{
	static const char *const texts[16] = {
		"plain",
		"deflate",
		"xor",
		"xor+deflate",
		[5] = "sparse+deflate",
		[7] = "xor+sparse+deflate",
		[13] = "base+sparse+deflate",
		[15] = "base+xor+sparse+deflate",
	};
	const char *text = section->flags < 16 ? texts[section->flags] : NULL;

	return text ? text : "unknown";
}

/* What all sections sum up to. */
struct totals {
	uint64_t plain;
	uint64_t images;
	bool damaged;          /* any section */
	bool *damaged_section; /* which; freed by the caller, NULL: out of memory */
};

static struct totals sum(struct app *app, const struct opk_file *file)
{
	struct totals totals = { 0 };

	totals.damaged_section = calloc(opk_file_section_count(file) + 1,
	                                sizeof *totals.damaged_section);
	for (size_t i = 0; totals.damaged_section && i < opk_file_section_count(file); i++) {
		const struct opk_section *section = opk_file_section(file, i);

		totals.plain += section->plain_size;
		totals.images += section->type == OPK_SECTION_DATA;
		totals.damaged_section[i] = opk_file_verify(app->ctx, file, i) != OPK_OK;
		totals.damaged |= totals.damaged_section[i];
	}
	return totals;
}

static int print_summary(struct app *app, const char *path, struct opk_file *file,
                         const struct opk_meta *meta, const struct totals *totals, size_t ranges)
{
	static const struct opk_column columns[] = {
		{ "file", OPK_CELL_STRING },          { "size", OPK_CELL_UINT },
		{ "integrity", OPK_CELL_STRING },     { "complete", OPK_CELL_BOOL },
		{ "kind", OPK_CELL_STRING },          { "generator", OPK_CELL_STRING },
		{ "cupti_version", OPK_CELL_UINT },   { "source", OPK_CELL_STRING },
		{ "chip", OPK_CELL_STRING },          { "profiler", OPK_CELL_STRING },
		{ "set", OPK_CELL_STRING },           { "passes", OPK_CELL_UINT },
		{ "keep_instances", OPK_CELL_BOOL },  { "config_hash", OPK_CELL_STRING },
		{ "mode", OPK_CELL_STRING },          { "images", OPK_CELL_UINT },
		{ "recorded_ranges", OPK_CELL_UINT }, { "plain_size", OPK_CELL_UINT },
		{ "metrics", OPK_CELL_LIST },         { "groups", OPK_CELL_UINT },
		{ "join", OPK_CELL_STRING },          { "backend", OPK_CELL_STRING },
		{ "inflated", OPK_CELL_LIST },
	};

	return opk_out_record(app->out, columns,
	                      (union opk_cell[]){
				      { .string = path },
				      { .uint = opk_file_size(file) },
				      { .string = totals->damaged ? "damaged"
	                                          : opk_file_complete(file)
	                                                  ? "ok"
	                                                  : "cut off: the end section is missing" },
				      { .boolean = opk_file_complete(file) },
				      { .string = meta->kind },
				      { .string = meta->generator },
				      { .uint = meta->cupti_version },
				      { .string = meta->source },
				      { .string = meta->chip },
				      { .string = opk_profiler_name(meta->profiler) },
				      { .string = meta->set_name },
				      { .uint = meta->passes },
				      { .boolean = meta->keep_instances },
				      { .string = meta->config_hash },
				      { .string = meta->mode },
				      { .uint = totals->images },
				      { .uint = ranges },
				      { .uint = totals->plain },
				      { .list = { meta->metrics, meta->metric_count } },
				      { .uint = meta->group_count },
				      { .string = meta->join },
				      { .string = meta->backend },
				      { .list = { meta->inflated, meta->inflated_count } },
			      },
	                      sizeof columns / sizeof *columns);
}

static int print_sections(struct app *app, const struct opk_file *file, const bool *damaged)
{
	static const struct opk_column columns[] = {
		{ "type", OPK_CELL_STRING },      { "content", OPK_CELL_STRING },
		{ "stored", OPK_CELL_UINT },      { "plain", OPK_CELL_UINT },
		{ "encoding", OPK_CELL_STRING },  { "stride", OPK_CELL_UINT },
		{ "integrity", OPK_CELL_STRING },
	};
	int code = opk_out_table(app->out, "sections", columns, sizeof columns / sizeof *columns);

	for (size_t i = 0; !code && i < opk_file_section_count(file); i++) {
		const struct opk_section *section = opk_file_section(file, i);
		char type[5];

		opk_section_type_name(type, section->type);
		code = opk_out_row(app->out, (union opk_cell[]){
						     { .string = type },
						     { .string = type_text(section->type) },
						     { .uint = section->stored_size },
						     { .uint = section->plain_size },
						     { .string = encoding_text(section) },
						     { .uint = section->stride },
						     { .string = damaged[i] ? "damaged" : "ok" },
					     });
	}
	return code;
}

/* Where and how it was run, if the collector noted it. */
static int print_run(struct app *app, const struct opk_meta *meta)
{
	static const struct opk_column columns[] = {
		{ "name", OPK_CELL_STRING },
		{ "value", OPK_CELL_STRING },
	};
	int code = OPK_OK;

	if (meta->run_count)
		code = opk_out_table(app->out, "run", columns, 2);
	for (size_t i = 0; !code && i < meta->run_count; i++)
		code = opk_out_row(app->out, (union opk_cell[]){
						     { .string = meta->run[i].name },
						     { .string = meta->run[i].value },
					     });
	return code;
}

static int print_drops(struct app *app, const struct opk_stats *stats)
{
	static const struct opk_column columns[] = {
		{ "reason", OPK_CELL_STRING },
		{ "count", OPK_CELL_UINT },
	};
	int code = OPK_OK;

	if (stats->drop_count)
		code = opk_out_table(app->out, "drops", columns, 2);
	for (size_t i = 0; !code && i < stats->drop_count; i++)
		code = opk_out_row(app->out, (union opk_cell[]){
						     { .string = stats->drops[i].reason },
						     { .uint = stats->drops[i].count },
					     });
	return code;
}

/* What the collector counted; a killed one leaves nothing. */
static int print_stats(struct app *app, const struct opk_stats *stats)
{
	static const struct opk_column columns[] = {
		{ "launches", OPK_CELL_UINT },
		{ "ranges", OPK_CELL_UINT },
		{ "depth", OPK_CELL_UINT },
	};
	int code;

	if (!stats)
		return OPK_OK;
	code = opk_out_table(app->out, "stats", columns, 3);
	if (!code)
		code = opk_out_row(app->out, (union opk_cell[]){
						     { .uint = stats->launches },
						     { .uint = stats->ranges },
						     { .uint = stats->depth },
					     });
	return code ? code : print_drops(app, stats);
}

static int print(struct app *app, const char *path, struct opk_file *file,
                 const struct totals *totals)
{
	/* A file may be cut off before its metadata: then there is less to tell. */
	static const struct opk_meta none = { .keep_instances = true };
	const struct opk_range *ranges;
	const struct opk_meta *meta = &none;
	const struct opk_stats *stats = NULL;
	size_t range_count = 0;
	int code = opk_file_meta(&meta, app->ctx, file);

	if (code && !totals->damaged && opk_file_complete(file))
		return app_fail(app, code);
	opk_file_ranges(&ranges, &range_count, app->ctx, file);
	opk_file_stats(&stats, app->ctx, file);
	code = app_begin_output(app, app_default_format(app));
	if (code)
		return code;
	code = print_summary(app, path, file, meta, totals, range_count);
	if (!code)
		code = print_sections(app, file, totals->damaged_section);
	if (!code)
		code = info_set_print(app, meta);
	if (!code)
		code = print_run(app, meta);
	if (!code)
		code = print_stats(app, stats);
	code = app_end_output(app, code);
	if (!code && totals->damaged)
		return app_error(
			app, OPK_EINPUT,
			"%s: damaged: a section's CRC-32 differs; 'offpeak recover' keeps what is whole",
			path);
	if (!code && !opk_file_complete(file))
		return app_error(
			app, OPK_EINPUT,
			"%s: cut off after %zu whole sections; the end section is missing; 'offpeak "
			"recover' keeps what is whole",
			path, opk_file_section_count(file));
	return code;
}

static int run(struct app *app, void *args)
{
	struct opk_file *file;
	struct totals totals;
	int code;

	(void)args;
	if (app->argument_count != 1)
		return app_error(app, OPK_EUSAGE, "info: one FILE.opk is needed");
	code = opk_file_open(&file, app->ctx, app->arguments[0]);
	if (code)
		return app_fail(app, code);
	totals = sum(app, file);
	code = totals.damaged_section ? print(app, app->arguments[0], file, &totals)
	                              : app_error(app, OPK_EFAILED, "out of memory");
	free(totals.damaged_section);
	opk_file_free(file);
	return code;
}

const struct command info_command = {
	.name = "info",
	.synopsis = "FILE.opk [--format FORMAT]",
	.summary = "show what a container holds: sections, sizes, chip, metrics, integrity",
	.details =
		"Needs no NVIDIA library. Every section's checksum is verified; a damaged or cut-off\n"
		"file is shown as far as it can be read, and the exit code is 4. CSV gives\n"
		"field,value rows. Where the set says more than its metrics, tables follow: set_facts,\n"
		"its version, hash, columns and hidden metrics; labels; derived metrics; headings. Where\n"
		"the collector noted them: run, facts about machine and environment; stats, what it\n"
		"counted; drops, what is missing and why.",
	.max_arguments = 1,
	.arguments = ARGUMENTS_ARE_FILES,
	.run = run,
};
