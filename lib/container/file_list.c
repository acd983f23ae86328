/* SPDX-License-Identifier: BSD-2-Clause */
/* What a file says besides values, as lists. */
#include "base/listing.h"
#include "container/container.h"

/* What lists are made of. */
struct source {
	struct opk_ctx *ctx;
	struct opk_file *file;
	const struct opk_meta *meta;
};

/* ---- metadata --------------------------------------------------------------------------- */

static int add_meta(struct opk_listing *rows, const struct source *from)
{
	const struct opk_meta *meta = from->meta;

	opk_listing_row(rows, cell_text(meta->kind), cell_text(meta->generator),
	                cell_text(meta->made_by), cell_number(meta->cupti_version),
	                cell_text(meta->source), cell_text(meta->chip),
	                cell_text(opk_profiler_name(meta->profiler)), cell_text(meta->set_name),
	                cell_text(meta->set_description), cell_number(meta->set_version),
	                cell_text(meta->set_hash), cell_number(meta->passes),
	                cell_flag(meta->keep_instances), cell_text(meta->config_hash),
	                cell_text(meta->mode), cell_text(meta->join), cell_text(meta->backend),
	                cell_known((uint64_t)meta->gpu_time_shift, meta->has_gpu_time_shift),
	                cell_list(meta->metrics, meta->metric_count),
	                cell_list(meta->hidden, meta->hidden_count),
	                cell_list(meta->inflated, meta->inflated_count),
	                cell_list(meta->columns, meta->column_count));
	return OPK_OK;
}

static int add_shown(struct opk_listing *rows, const struct source *from)
{
	opk_autostrlist struct opk_strlist names = { 0 };

	if (!opk_meta_list_columns(&names, from->meta))
		return opk_nomem(from->ctx, "columns");
	for (size_t i = 0; i < names.count; i++)
		opk_listing_row(rows, cell_text(names.items[i]));
	return OPK_OK;
}

static int add_passes(struct opk_listing *rows, const struct source *from)
{
	const struct opk_meta *meta = from->meta;

	for (size_t i = 0; i < meta->metric_pass_count; i++)
		for (size_t j = 0; j < meta->metric_passes[i].count; j++)
			opk_listing_row(rows, cell_text(meta->metrics[i]),
			                cell_number(meta->metric_passes[i].passes[j]));
	return OPK_OK;
}

static int add_labels(struct opk_listing *rows, const struct source *from)
{
	const struct opk_meta *meta = from->meta;

	for (size_t i = 0; i < meta->label_count; i++)
		opk_listing_row(rows, cell_text(meta->labels[i].name),
		                cell_text(meta->labels[i].metric));
	return OPK_OK;
}

static int add_derived(struct opk_listing *rows, const struct source *from)
{
	const struct opk_meta *meta = from->meta;

	for (size_t i = 0; i < meta->derived_count; i++)
		opk_listing_row(rows, cell_text(meta->derived[i].name),
		                cell_text(meta->derived[i].unit),
		                cell_text(meta->derived[i].formula),
		                cell_text(meta->derived[i].description));
	return OPK_OK;
}

static int add_headings(struct opk_listing *rows, const struct source *from)
{
	const struct opk_meta *meta = from->meta;

	for (size_t i = 0; i < meta->heading_count; i++)
		opk_listing_row(rows, cell_text(meta->headings[i].title),
		                cell_number(meta->headings[i].first),
		                cell_number(meta->headings[i].count),
		                cell_text(meta->headings[i].text));
	return OPK_OK;
}

static int add_run(struct opk_listing *rows, const struct source *from)
{
	const struct opk_meta *meta = from->meta;

	for (size_t i = 0; i < meta->run_count; i++)
		opk_listing_row(rows, cell_text(meta->run[i].name), cell_text(meta->run[i].value));
	return OPK_OK;
}

static int add_availability(struct opk_listing *rows, const struct source *from)
{
	const struct opk_meta *meta = from->meta;

	for (size_t i = 0; i < meta->availability_count; i++)
		opk_listing_row(rows, cell_number((uint64_t)meta->availability[i].device),
		                cell_text(meta->availability[i].chip),
		                cell_text(opk_profiler_name(meta->availability[i].profiler)));
	return OPK_OK;
}

/* ---- sections --------------------------------------------------------------------------- */

static const char *content_text(uint32_t type)
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
		{ OPK_SECTION_ACTIVITIES, "records of what ran" },
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
		[5] = "sparse+deflate",
		[7] = "xor+sparse+deflate",
		[13] = "base+sparse+deflate",
		[15] = "base+xor+sparse+deflate",
	};
	const char *text = section->flags < 16 ? texts[section->flags] : NULL;

	return text ? text : "unknown";
}

static int list_sections(struct opk_listing *rows, const struct source *from, bool verify)
{
	const struct opk_file *file = from->file;

	for (size_t i = 0; i < file->section_count; i++) {
		const struct opk_section *section = &file->sections[i];
		const char *integrity = NULL;
		char type[5];

		if (verify)
			integrity = opk_file_verify(from->ctx, file, i) ? "damaged" : "ok";
		opk_section_type_name(type, section->type);
		opk_listing_row(rows, cell_text(type), cell_text(content_text(section->type)),
		                cell_number(section->stored_size), cell_number(section->plain_size),
		                cell_text(encoding_text(section)), cell_number(section->stride),
		                cell_text(integrity));
	}
	return OPK_OK;
}

static int add_sections(struct opk_listing *rows, const struct source *from)
{
	return list_sections(rows, from, false);
}

static int add_verified(struct opk_listing *rows, const struct source *from)
{
	return list_sections(rows, from, true);
}

/* ---- tables ----------------------------------------------------------------------------- */

static int add_counts(struct opk_listing *rows, const struct source *from)
{
	const struct opk_activity *activities;
	const struct opk_range *ranges;
	const struct opk_time *times;
	const struct opk_stats *stats;
	size_t range_count, time_count, activity_count;
	int code = opk_file_ranges(&ranges, &range_count, from->ctx, from->file);

	if (!code)
		code = opk_file_times(&times, &time_count, from->ctx, from->file);
	if (!code)
		code = opk_file_activities(&activities, &activity_count, from->ctx, from->file);
	if (!code)
		code = opk_file_stats(&stats, from->ctx, from->file);
	if (code)
		return code;
	opk_listing_row(rows, cell_number(from->file->size),
	                cell_flag(from->file->complete && !(stats && stats->drop_count)),
	                cell_number(range_count ? range_count : time_count),
	                cell_number(activity_count));
	return OPK_OK;
}

static int add_clocks(struct opk_listing *rows, const struct source *from)
{
	static const char *const names[] = { "sm", "memory" };
	const struct opk_range *ranges;
	struct opk_clocks clocks;
	size_t count;
	int code = opk_file_ranges(&ranges, &count, from->ctx, from->file);

	if (code)
		return code;
	opk_clocks_find(&clocks, ranges, count);
	for (int i = 0; i < 2; i++) {
		const struct opk_clock_span *span = i ? &clocks.memory : &clocks.sm;

		if (span->most)
			opk_listing_row(rows, cell_text(names[i]), cell_number(span->least),
			                cell_number(span->most), cell_flag(span->drifted));
	}
	return OPK_OK;
}

static int add_stats(struct opk_listing *rows, const struct source *from)
{
	const struct opk_stats *stats;
	int code = opk_file_stats(&stats, from->ctx, from->file);

	if (!code && stats)
		opk_listing_row(rows, cell_number(stats->launches), cell_number(stats->ranges),
		                cell_number(stats->depth), cell_number(stats->activities));
	return code;
}

static int add_drops(struct opk_listing *rows, const struct source *from)
{
	const struct opk_stats *stats;
	int code = opk_file_stats(&stats, from->ctx, from->file);

	for (size_t i = 0; !code && stats && i < stats->drop_count; i++)
		opk_listing_row(rows, cell_text(stats->drops[i].reason),
		                cell_number(stats->drops[i].count));
	return code;
}

/* ---- all of them ------------------------------------------------------------------------ */

enum { MOST_COLUMNS = 22 };

#define TEXT OPK_CELL_STRING
#define NUMBER OPK_CELL_UINT
#define FLAG OPK_CELL_BOOL
#define LIST OPK_CELL_LIST
#define SECTION_COLUMNS                                                                            \
	{                                                                                          \
		{ "type", TEXT }, { "content", TEXT }, { "stored", NUMBER }, { "plain", NUMBER },  \
			{ "encoding", TEXT }, { "stride", NUMBER }, { "integrity", TEXT },         \
	}

static const struct list {
	int (*add)(struct opk_listing *rows, const struct source *from);
	struct opk_column columns[MOST_COLUMNS]; /* until one without a name */
} lists[] = {
	[OPK_FILE_COUNTS] = { add_counts,
	                      { { "size", NUMBER },
	                        { "complete", FLAG },
	                        { "ranges", NUMBER },
	                        { "activities", NUMBER } } },
	[OPK_FILE_SECTIONS] = { add_sections, SECTION_COLUMNS },
	[OPK_FILE_VERIFIED] = { add_verified, SECTION_COLUMNS },
	[OPK_FILE_META] = { add_meta,
	                    { { "kind", TEXT },
	                      { "generator", TEXT },
	                      { "made_by", TEXT },
	                      { "cupti_version", NUMBER },
	                      { "source", TEXT },
	                      { "chip", TEXT },
	                      { "profiler", TEXT },
	                      { "set", TEXT },
	                      { "set_description", TEXT },
	                      { "set_version", NUMBER },
	                      { "set_hash", TEXT },
	                      { "passes", NUMBER },
	                      { "keep_instances", FLAG },
	                      { "config_hash", TEXT },
	                      { "mode", TEXT },
	                      { "join", TEXT },
	                      { "backend", TEXT },
	                      { "gpu_time_shift", OPK_CELL_OPTIONAL },
	                      { "metrics", LIST },
	                      { "hidden", LIST },
	                      { "inflated", LIST },
	                      { "columns", LIST } } },
	[OPK_FILE_SHOWN] = { add_shown, { { "name", TEXT } } },
	[OPK_FILE_PASSES] = { add_passes, { { "metric", TEXT }, { "pass", NUMBER } } },
	[OPK_FILE_LABELS] = { add_labels, { { "label", TEXT }, { "metric", TEXT } } },
	[OPK_FILE_DERIVED] = { add_derived,
	                       { { "name", TEXT },
	                         { "unit", TEXT },
	                         { "formula", TEXT },
	                         { "description", TEXT } } },
	[OPK_FILE_HEADINGS] = { add_headings,
	                        { { "title", TEXT },
	                          { "first", NUMBER },
	                          { "count", NUMBER },
	                          { "text", TEXT } } },
	[OPK_FILE_RUN] = { add_run, { { "name", TEXT }, { "value", TEXT } } },
	[OPK_FILE_AVAILABILITY] = { add_availability,
	                            { { "device", NUMBER },
	                              { "chip", TEXT },
	                              { "profiler", TEXT } } },
	[OPK_FILE_STATS] = { add_stats,
	                     { { "launches", NUMBER },
	                       { "ranges", NUMBER },
	                       { "depth", NUMBER },
	                       { "activities", NUMBER } } },
	[OPK_FILE_DROPS] = { add_drops, { { "reason", TEXT }, { "count", NUMBER } } },
	[OPK_FILE_CLOCKS] = { add_clocks,
	                      { { "clock", TEXT },
	                        { "least", NUMBER },
	                        { "most", NUMBER },
	                        { "drifted", FLAG } } },
};

static int make(struct opk_listing **out, const struct source *from, const struct list *list,
                bool lenient)
{
	opk_auto(opk_listing) struct opk_listing *rows = NULL;
	size_t count = 0;
	int code;

	while (count < MOST_COLUMNS && list->columns[count].name)
		count++;
	rows = opk_listing_new(list->columns, count);
	code = list->add(rows, from);
	if (code && !(lenient && code == OPK_EINPUT))
		return code;
	return opk_listing_finish(out, from->ctx, opk_take(rows));
}

static bool needs_meta(enum opk_file_list list)
{
	return list >= OPK_FILE_META && list <= OPK_FILE_AVAILABILITY;
}

int opk_file_list(struct opk_listing **out, struct opk_ctx *ctx, struct opk_file *file,
                  enum opk_file_list list)
{
	struct source from = { ctx, file, NULL };
	int code = OPK_OK;

	if ((unsigned)list >= sizeof lists / sizeof *lists)
		return opk_fail(ctx, OPK_EUSAGE, "a file has no list %d", (int)list);
	if (needs_meta(list))
		code = opk_file_meta(&from.meta, ctx, file);
	return code ? code : make(out, &from, &lists[list], false);
}

int opk_file_list_whole(struct opk_listing **out, struct opk_ctx *ctx, struct opk_file *file,
                        enum opk_file_list list)
{
	static const struct opk_meta nothing = { .keep_instances = true };
	struct source from = { ctx, file, &nothing };
	int code = opk_file_meta(&from.meta, ctx, file);

	return code && code != OPK_EINPUT ? code : make(out, &from, &lists[list], true);
}
