/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "commands.h"

/* One file and what decides whether it fits to the first. */
struct part {
	const char *path;
	struct opk_file *file;
	const struct opk_meta *meta;
	const struct opk_range *ranges;
	size_t range_count;
};

static bool same_metrics(const struct opk_meta *a, const struct opk_meta *b)
{
	if (a->metric_count != b->metric_count)
		return false;
	for (size_t i = 0; i < a->metric_count; i++)
		if (strcmp(a->metrics[i], b->metrics[i]))
			return false;
	return true;
}

static int check_fit(struct app *app, const struct part *first, const struct part *part)
{
	if (!opk_file_complete(part->file))
		return app_error(app, OPK_EINPUT, "%s: cut off: its end section is missing", part->path);
	if (strcmp(part->meta->chip, first->meta->chip)
	    || part->meta->profiler != first->meta->profiler)
		return app_error(app, OPK_EUSAGE, "%s: of %s, profiler %s; %s is of %s, profiler %s",
		                 part->path, part->meta->chip,
		                 opk_profiler_name(part->meta->profiler), first->path,
		                 first->meta->chip, opk_profiler_name(first->meta->profiler));
	if (!same_metrics(part->meta, first->meta))
		return app_error(app, OPK_EUSAGE, "%s: its metrics differ from those of %s", part->path,
		                 first->path);
	/* Rows are counted over all images: a gap would shift those behind it. */
	if (!part->range_count != !first->range_count)
		return app_error(app, OPK_EUSAGE, "%s: only one of it and %s has a range table",
		                 part->path, first->path);
	return OPK_OK;
}

static int open_part(struct app *app, struct part *part)
{
	int code = opk_file_open(&part->file, app->ctx, part->path);

	if (!code)
		code = opk_file_meta(&part->meta, app->ctx, part->file);
	if (!code)
		code = opk_file_ranges(&part->ranges, &part->range_count, app->ctx, part->file);
	return code ? app_fail(app, code) : OPK_OK;
}

/* Copies the sections of one type, or of all but images and tables where `type` is 0. */
static int copy_sections(struct app *app, struct opk_writer *writer, const struct part *part,
                         uint32_t type)
{
	int code = OPK_OK;

	for (size_t i = 0; !code && i < opk_file_section_count(part->file); i++) {
		uint32_t found = opk_file_section(part->file, i)->type;
		bool other = found == OPK_SECTION_CONFIG || found == OPK_SECTION_PREFIX
		             || found == OPK_SECTION_AVAILABILITY;
		void *data;
		size_t size;

		if (type ? found != type : !other)
			continue;
		code = opk_file_read(&data, &size, app->ctx, part->file, i);
		if (code)
			break;
		code = opk_writer_add(writer, found, data, size);
		free(data);
	}
	return code;
}

static int write_all(struct app *app, struct opk_writer *writer, const struct part *parts,
                     size_t count)
{
	int code = opk_writer_add_meta(writer, parts[0].meta);

	if (!code)
		code = copy_sections(app, writer, &parts[0], 0);
	for (size_t i = 0; !code && i < count; i++) {
		code = copy_sections(app, writer, &parts[i], OPK_SECTION_DATA);
		if (!code && parts[i].range_count)
			code = opk_writer_add_ranges(writer, parts[i].ranges,
			                             parts[i].range_count);
	}
	return code ? code : opk_writer_finish(writer);
}

static int merge(struct app *app, struct part *parts, size_t count)
{
	struct opk_writer *writer;
	int code = OPK_OK;

	for (size_t i = 0; !code && i < count; i++) {
		parts[i].path = app->arguments[i];
		code = open_part(app, &parts[i]);
		if (!code)
			code = check_fit(app, &parts[0], &parts[i]);
	}
	if (code)
		return code;
	code = opk_writer_new(&writer, app->ctx, app->output);
	if (!code) {
		code = write_all(app, writer, parts, count);
		opk_writer_free(writer);
	}
	return code ? app_fail(app, code) : OPK_OK;
}

static int run(struct app *app, void *args)
{
	size_t count = app->argument_count;
	struct part *parts;
	int code;

	(void)args;
	if (!app->output || !count)
		return app_error(app, OPK_EUSAGE, "merge: -o OUT.opk and FILE.opk... are needed");
	parts = calloc(count, sizeof *parts);
	if (!parts)
		return app_error(app, OPK_EFAILED, "out of memory");
	code = merge(app, parts, count);
	for (size_t i = 0; i < count; i++)
		opk_file_free(parts[i].file);
	free(parts);
	return code;
}

const struct command merge_command = {
	.name = "merge",
	.synopsis = "-o OUT.opk FILE.opk...",
	.summary = "make one recording of several: the ranges of all files, in order",
	.details = "For the processes of one run. Chip, profiler and metrics must be the same; the\n"
	           "config image and the rest of the metadata are those of the first file. Needs no\n"
	           "NVIDIA library.",
	.max_arguments = ANY_NUMBER,
	.run = run,
};
