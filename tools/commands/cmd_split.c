/* SPDX-License-Identifier: BSD-2-Clause */
/* offpeak split: makes several recordings of one. */
#include <string.h>

#include "commands.h"
#include "common/args.h"
#include "common/files.h"
#include "eval/door.h"
#include "table/door.h"

struct split_args {
	const char *by;
};

static const struct option_spec specs[] = {
	{ "by", 0, "KEY", "what the ranges of a part share; or segment; or how many a part gets",
	  OPTION_TEXT, offsetof(struct split_args, by) },
	TIMEOUT_OPTION,
	{ 0 },
};

/* Describes a part's file, and facts that its ranges share, if any part's ranges share them. */
static int describe(struct app_fields *fields, struct app *app, struct opk_fact_text *texts,
                    const bool *facts, const struct opk_piece *part, const char *path)
{
	const struct opk_joined joined = { .many_streams = part->many_streams };
	const struct opk_row row = { .name = "", .range = &part->range, .joined = &joined };
	opk_auto(opk_file) struct opk_file *file = NULL;

	TRY(opk_file_open(&file, app->ctx, path));
	fields->count = 0;
	field_text(fields, "file", path);
	field_number(fields, "size", opk_file_size(file));
	field_number(fields, "rows", part->rows);
	field_text(fields, "name", part->name);
	for (enum opk_fact fact = OPK_FACT_KERNEL; fact <= OPK_FACT_DURATION; fact++) {
		const struct opk_column *column = opk_fact_column(fact, OPK_PROFILER_RANGE);

		if (facts[fact])
			field_add(fields, column->name, column->type,
			          opk_fact_get(&texts[fact], fact, &row));
	}
	return OPK_OK;
}

static int report(struct app *app, const struct opk_split *split, const char *by,
                  const struct opk_strlist *paths)
{
	bool facts[OPK_FACT_COUNT] = { [OPK_FACT_DEVICE] = strstr(by, "device") != NULL };
	struct opk_fact_text texts[OPK_FACT_COUNT];
	struct app_fields fields;
	int code = app_begin_report(app);

	for (size_t i = 0; i < paths->count; i++)
		opk_facts_find(facts, &opk_split_get(split, i)->range, 1, false);
	for (size_t i = 0; !code && i < paths->count; i++) {
		code = describe(&fields, app, texts, facts, opk_split_get(split, i),
		                paths->items[i]);
		if (!code && !i)
			code = app_fields_table(app, "files", &fields);
		if (!code)
			code = opk_out_row(app->out, fields.cells);
	}
	return code ? code : app_end_output(app);
}

static int run(struct app *app, void *data)
{
	const struct split_args *args = data;
	opk_auto(opk_split) struct opk_split *split = NULL;
	opk_auto(opk_file) struct opk_file *file = NULL;
	opk_autostrlist struct opk_strlist paths = { 0 };

	if (!app->output || !app->argument_count || !args->by)
		return app_error(app, OPK_EUSAGE,
		                 "split: FILE.opk, --by and -o OUT.opk are needed");
	TRY(files_check_first(app, app->output, OPK_OUTPUT_PART));
	TRY(opk_file_open(&file, app->ctx, app->arguments[0]));
	TRY(opk_split_new(&split, app->ctx, file, args->by));
	TRY(files_number(app, &paths, app->output, opk_split_count(split), OPK_OUTPUT_PART));
	TRY(opk_split_write(app->ctx, split, opk_strlist_items(&paths)));
	files_note_older(app->output, paths.count);
	return report(app, split, args->by, &paths);
}

const struct command split_command = {
	.name = "split",
	.synopsis = "FILE.opk --by KEY -o OUT.opk",
	.summary = "make several recordings of one",
	.details =
		"OUT-1.opk, OUT-2.opk and so on get the ranges that share a key: name, kernel, shape\n"
		"(grid, block, shared memory), nvtx, device, host or rank, or several with ',' between. By\n"
		"segment, each part is one counter data image; by a number, each has so many ranges,\n"
		"in order. Each is a whole recording, of at most 500; all are written or none. Older parts\n"
		"of these names are replaced; a note names an older file of the next number. Values\n"
		"are the same bit for bit. What the collector counted goes into the first, so that\n"
		"merge has it once.\n"
		"\n"
		"Images of PM samples stay whole, for PerfWorks can't divide them: by device where each\n"
		"image is of one, by rank, or by segment. Checksums are verified first, and NVIDIA's\n"
		"code runs in a child process. Prints a table of the parts.",
	.examples = {
		{ "split run.opk --by kernel -o kernel.opk",
		  "kernel-1.opk, kernel-2.opk and so on, a kernel each" },
		{ "split run.opk --by 2 -o two.opk", "two ranges each" },
		{ "split pm.opk --by segment -o image.opk", "an image each" },
	},
	.options = specs,
	.args_size = sizeof(struct split_args),
	.max_arguments = 1,
	.arguments = ARGUMENTS_ARE_FILES,
	.output = OUTPUT_IS_NUMBERED,
	.run = run,
};
