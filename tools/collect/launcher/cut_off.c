/* SPDX-License-Identifier: BSD-2-Clause */
/* Completes the parts of processes that were killed, or became another program. */
#include "collect/launcher/launcher.h"

#include <ctype.h>

static const char lost[] = "not written yet when the process was killed or became another program";
static const char stuck[] =
	"not written, as the program ended while a launch or a preparation went on";
static const char unwritten[] = "the file could not be written any more";
static const char unknown[] =
	"the process was killed or became another program: what came later is not known";

/* Adds samples of instructions, or launches whose instructions were counted. */
static int count_code(struct opk_stats *stats, struct opk_ctx *ctx, const struct opk_file *file)
{
	uint64_t counted;

	for (size_t i = 0; i < opk_file_section_count(file); i++) {
		if (opk_file_section(file, i)->type != OPK_SECTION_INSTRUCTIONS)
			continue;
		TRY(opk_section_counted(&counted, ctx, file, i));
		stats->ranges += counted;
	}
	return OPK_OK;
}

/* Counts the contents of the file. */
static int count(struct opk_stats *stats, struct opk_ctx *ctx, struct opk_file *file)
{
	const struct opk_activity *activities;
	const struct opk_range *ranges;
	const struct opk_time *times;
	size_t range_count = 0, time_count = 0, activity_count = 0;

	TRY(opk_file_ranges(&ranges, &range_count, ctx, file));
	TRY(opk_file_times(&times, &time_count, ctx, file));
	TRY(opk_file_activities(&activities, &activity_count, ctx, file));
	stats->ranges = range_count > time_count ? range_count : time_count;
	stats->activities = activity_count;
	return count_code(stats, ctx, file);
}

/* The number of further lost samples and records is unknown. */
static void add_losses(struct opk_stats *stats, struct opk_drop *drop, const struct part *part,
                       const struct opk_meta *meta)
{
	const struct tally *known = tallies_find(part->process, part->image);
	uint64_t lost_ranges = 0;

	*drop = (struct opk_drop){ unknown, 1 };
	if (known) {
		stats->launches = known->launches;
		stats->depth = known->depth;
		lost_ranges = known->ranges > stats->ranges ? known->ranges - stats->ranges : 0;
	}
	if (known && known->failed)
		*drop = (struct opk_drop){ unwritten, lost_ranges ? lost_ranges : 1 };
	else if (known && meta->profiler != OPK_PROFILER_PM)
		*drop = (struct opk_drop){ known->stuck ? stuck : lost, lost_ranges };
	stats->drops = drop;
	stats->drop_count = drop->count > 0;
}

static void report(const struct part *part, const struct opk_stats *stats)
{
	const struct opk_drop *drop = stats->drops;
	uint64_t recorded = stats->ranges + stats->activities;

	if (drop->reason == unknown)
		say(0, "note: process %u: %" PRIu64 " recorded; %s", part->process, recorded,
		    unknown);
	else
		say(0, "note: process %u: %" PRIu64 " recorded; %" PRIu64 " are missing: %s",
		    part->process, recorded, drop->count, drop->reason);
}

static int complete(struct opk_ctx *ctx, struct opk_file *file, const struct part *part,
                    bool verbose)
{
	opk_auto(opk_writer) struct opk_writer *writer = NULL;
	bool counted = opk_file_find(file, OPK_SECTION_STATS) >= 0;
	const struct opk_meta *meta;
	struct opk_drop drop;
	struct opk_stats stats = { 0 };

	TRY(opk_file_meta(&meta, ctx, file));
	TRY(count(&stats, ctx, file));
	TRY(opk_writer_resume(&writer, ctx, file));
	add_losses(&stats, &drop, part, meta);
	if (!counted)
		TRY(opk_writer_add_stats(writer, &stats));
	TRY(opk_writer_finish(writer));
	if (!counted && (stats.drop_count || verbose))
		report(part, &stats);
	return OPK_OK;
}

bool still_runs(unsigned process)
{
	static const char *const ours[] = { COLLECTOR_LIBRARY };
	char number[24];
	size_t found;

	if (!process || (kill((pid_t)process, 0) && errno != EPERM))
		return false;
	snprintf(number, sizeof number, "%u", process);
	/* If the process can't be inspected, assume that it runs: its file must not be cut. */
	if (!mapped_find(&found, number, ours, 1))
		return errno != ENOENT;
	return !found;
}

/* Without even metadata, the file must not replace a recording. */
static bool is_nothing(const char *path, const struct opk_file *file)
{
	enum { FILE_HEADER = 16 };
	struct stat info;

	return file ? !opk_file_section_count(file)
	            : !lstat(path, &info) && info.st_size < FILE_HEADER;
}

/* False if the part is not worth keeping, or its process is still writing it (*runs). */
static bool complete_part(bool *runs, const struct part *part, bool verbose)
{
	/* Check before reading the file: the process may end in between. */
	bool ran = still_runs(part->process);
	opk_autopeek struct peek peek = peek_at(part->path);
	struct opk_file *file = peek.file;

	if (!peek.ctx)
		return true;
	*runs = ran && !(file && opk_file_complete(file));
	if (*runs)
		return say(false, "note: process %u still runs: its recording stays %s",
		           part->process, part->path);
	if (is_nothing(part->path, file)) {
		say(0, "note: process %u: its recording had not begun when it ended",
		    part->process);
		unlink(part->path);
		return false;
	}
	if (file && !opk_file_complete(file) && complete(peek.ctx, file, part, verbose))
		say(0, "%s", opk_error_message(peek.ctx, 0));
	return true;
}

void parts_complete(struct parts *parts, bool verbose)
{
	size_t kept = 0;

	for (size_t i = 0; i < parts->count; i++) {
		bool runs = false;

		if (complete_part(&runs, &parts->items[i], verbose))
			parts->items[kept++] = parts->items[i];
		else
			free(parts->items[i].path);
		parts->running += runs;
	}
	parts->count = kept;
}

/* ---- processes without a part ------------------------------------------------------------ */

/* A program that overwrites its environment hides its processes. */
static bool has_token(const char *process, const char *token)
{
	enum { MOST_ENVIRONMENT = 4 << 20 };
	const char *variable = settings_table[SETTING_TOKEN].variable;
	opk_autofree char *path = opk_printf("/proc/%s/environ", process);
	opk_autofree char *wanted = opk_printf("%s=%s", variable, token);
	opk_autoclose int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	opk_autobuf struct opk_buf text = { 0 };
	char piece[4096];
	ssize_t size;

	while (fd >= 0 && text.size < MOST_ENVIRONMENT
	       && (size = read(fd, piece, sizeof piece)) > 0)
		opk_buf_add(&text, piece, (size_t)size);
	return wanted && !text.failed && text.size
	       && memmem(text.data, text.size, wanted, strlen(wanted));
}

void running_find(struct opk_strlist *processes, const struct settings *settings)
{
	opk_autoclosedir DIR *folder = opendir("/proc");
	struct dirent *entry;

	while (folder && (entry = readdir(folder)) != NULL)
		if (isdigit((unsigned char)*entry->d_name) && atoi(entry->d_name) != getpid()
		    && has_token(entry->d_name, settings->token))
			opk_strlist_add(processes, entry->d_name);
}

static bool has_part(const struct parts *parts, unsigned process)
{
	for (size_t i = 0; i < parts->count; i++)
		if (parts->items[i].process == process)
			return true;
	return false;
}

/* In another namespace the process has another number: the part's name contains that one. */
void running_report(const struct opk_strlist *processes, struct parts *parts,
                    const struct settings *settings)
{
	char output[PATH_MAX], name[32];

	if (!name_pattern(output, sizeof output, settings->output))
		return;
	for (size_t i = 0; i < processes->count; i++) {
		unsigned process = (unsigned)atoi(processes->items[i]);

		if (has_part(parts, process) || kill((pid_t)process, 0))
			continue;
		parts->silent++;
		process_name(name, processes->items[i]);
		say(0,
		    "note: process %u (%s) still runs: what it records will be in "
		    "%s.%s-*" PART_ENDING,
		    process, name, output, settings->token);
	}
}
