/* SPDX-License-Identifier: BSD-2-Clause */
/* Parts whose process was killed, or became another program, become complete recordings. */
#include "collect/launcher/launcher.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"

OPK_DEFINE_AUTO(opk_ctx)
OPK_DEFINE_AUTO(opk_file)
OPK_DEFINE_AUTO(opk_writer)

static const char lost[] = "not written yet when the process was killed or became another program";
static const char unwritten[] = "the file could not be written any more";
static const char unknown[] =
	"the process was killed or became another program: what came later is not known";

static bool has_stats(const struct opk_file *file)
{
	for (size_t i = 0; i < opk_file_section_count(file); i++)
		if (opk_file_section(file, i)->type == OPK_SECTION_STATS)
			return true;
	return false;
}

/* Ranges or samples in the file. */
static int count_rows(size_t *count, struct opk_ctx *ctx, struct opk_file *file)
{
	const struct opk_range *ranges;
	const struct opk_time *times;
	size_t range_count, time_count;
	int code = opk_file_ranges(&ranges, &range_count, ctx, file);

	if (!code)
		code = opk_file_times(&times, &time_count, ctx, file);
	if (!code)
		*count = range_count > time_count ? range_count : time_count;
	return code;
}

/* Samples come without being asked for: how many more there were nobody knows. */
static struct opk_stats stats_of(struct opk_drop *drop, const struct part *part,
                                 const struct opk_meta *meta, size_t rows)
{
	const struct tally *known = tallies_find(part->process, part->image);
	struct opk_stats stats = { .ranges = rows, .drops = drop };

	if (known) {
		stats.launches = known->launches;
		stats.depth = known->depth;
	}
	*drop = (struct opk_drop){ unknown, 1 };
	if (known && (known->failed || meta->profiler != OPK_PROFILER_PM))
		*drop = (struct opk_drop){ known->failed ? unwritten : lost,
			                   known->ranges > rows ? known->ranges - rows : 0 };
	stats.drop_count = drop->count > 0;
	return stats;
}

static void report(const struct part *part, size_t rows, const struct opk_drop *drop)
{
	if (drop->reason == unknown)
		launcher_fail(0, "note: process %u: %zu recorded; %s", part->process, rows,
		              unknown);
	else
		launcher_fail(0, "note: process %u: %zu recorded; %" PRIu64 " are missing: %s",
		              part->process, rows, drop->count, drop->reason);
}

static int complete(struct opk_ctx *ctx, struct opk_file *file, const struct part *part,
                    bool verbose)
{
	opk_auto(opk_writer) struct opk_writer *writer = NULL;
	const struct opk_meta *meta;
	struct opk_drop drop;
	struct opk_stats stats;
	size_t rows = 0;
	int code = opk_file_meta(&meta, ctx, file);

	if (!code)
		code = count_rows(&rows, ctx, file);
	if (!code)
		code = opk_writer_resume(&writer, ctx, file);
	if (code)
		return code;
	stats = stats_of(&drop, part, meta, rows);
	if (!has_stats(file))
		code = opk_writer_add_stats(writer, &stats);
	if (!code)
		code = opk_writer_finish(writer);
	if (!code && !has_stats(file) && (stats.drop_count || verbose))
		report(part, rows, &drop);
	return code;
}

void parts_complete(const struct parts *parts, bool verbose)
{
	for (size_t i = 0; i < parts->count; i++) {
		opk_auto(opk_ctx) struct opk_ctx *ctx = NULL;
		opk_auto(opk_file) struct opk_file *file = NULL;
		const struct part *part = &parts->items[i];

		if (!opk_ctx_new(&ctx, NULL) && !opk_file_open(&file, ctx, part->path)
		    && !opk_file_complete(file) && complete(ctx, file, part, verbose))
			launcher_fail(0, "%s", opk_error_message(ctx, 0));
	}
}
