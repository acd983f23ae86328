/* SPDX-License-Identifier: BSD-2-Clause */
/* Lists of all that a file has except values. */
#include "base/listing.h"
#include "container/container.h"

static void add_meta(struct opk_listing *rows, const struct opk_meta *meta)
{
	opk_listing_row(rows, cell_text(meta->kind), cell_text(meta->generator),
	                cell_text(meta->made_by), cell_number(meta->cupti_version),
	                cell_text(meta->source), cell_text(meta->chip),
	                cell_text(opk_profiler_name(meta->profiler)), cell_text(meta->set_name),
	                cell_text(meta->set_description), cell_number(meta->set_version),
	                cell_text(meta->set_hash), cell_number(meta->passes),
	                cell_number(meta->rotation.passes), cell_flag(meta->keep_instances),
	                cell_text(meta->config_hash), cell_text(meta->mode), cell_text(meta->join),
	                cell_text(meta->backend),
	                cell_known((uint64_t)meta->gpu_time_shift, meta->has_gpu_time_shift),
	                cell_list(meta->metrics, meta->metric_count),
	                cell_list(meta->hidden, meta->hidden_count),
	                cell_list(meta->inflated, meta->inflated_count),
	                cell_list(meta->columns, meta->column_count));
}

static int add_shown(struct opk_listing *rows, struct opk_ctx *ctx, const struct opk_meta *meta)
{
	opk_autostrlist struct opk_strlist names = { 0 };

	if (!opk_meta_list_columns(&names, meta))
		return opk_nomem(ctx, "columns");
	for (size_t i = 0; i < names.count; i++)
		opk_listing_row(rows, cell_text(names.items[i]));
	return OPK_OK;
}

static void add_passes(struct opk_listing *rows, const struct opk_meta *meta)
{
	for (size_t i = 0; i < meta->metric_pass_count; i++)
		for (size_t j = 0; j < meta->metric_passes[i].count; j++)
			opk_listing_row(rows, cell_text(meta->metrics[i]),
			                cell_number(meta->metric_passes[i].passes[j]));
}

/* Labels, derived metrics, headings, facts, images of a probe. */
static void add_items(struct opk_listing *rows, const struct opk_meta *meta,
                      enum opk_file_list list)
{
	const struct opk_meta_derived *derived = meta->derived;
	const struct opk_meta_heading *heading = meta->headings;
	const struct opk_availability *image = meta->availability;

	for (size_t i = 0; list == OPK_FILE_LABELS && i < meta->label_count; i++)
		opk_listing_row(rows, cell_text(meta->labels[i].name),
		                cell_text(meta->labels[i].metric));
	for (size_t i = 0; list == OPK_FILE_DERIVED && i < meta->derived_count; i++, derived++)
		opk_listing_row(rows, cell_text(derived->name), cell_text(derived->unit),
		                cell_text(derived->formula), cell_text(derived->description));
	for (size_t i = 0; list == OPK_FILE_HEADINGS && i < meta->heading_count; i++, heading++)
		opk_listing_row(rows, cell_text(heading->title), cell_number(heading->first),
		                cell_number(heading->count), cell_text(heading->text));
	for (size_t i = 0; list == OPK_FILE_RUN && i < meta->run_count; i++)
		opk_listing_row(rows, cell_text(meta->run[i].name), cell_text(meta->run[i].value));
	for (size_t i = 0; list == OPK_FILE_AVAILABILITY && i < meta->availability_count;
	     i++, image++)
		opk_listing_row(rows, cell_number((uint64_t)image->device), cell_text(image->chip),
		                cell_text(opk_profiler_name(image->profiler)));
}

/* ---- sections --------------------------------------------------------------------------- */

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

static void add_sections(struct opk_listing *rows, struct opk_ctx *ctx, const struct opk_file *file,
                         bool verify)
{
	for (size_t i = 0; i < file->section_count; i++) {
		const struct opk_section *section = &file->sections[i];
		const char *text = opk_section_text(section->type), *integrity = NULL;
		char type[5];

		if (verify)
			integrity = opk_file_verify(ctx, file, i) ? "damaged" : "ok";
		opk_section_type_name(type, section->type);
		opk_listing_row(rows, cell_text(type), cell_text(text ? text : "unknown, skipped"),
		                cell_number(section->stored_size), cell_number(section->plain_size),
		                cell_text(encoding_text(section)), cell_number(section->stride),
		                cell_text(integrity));
	}
}

/* ---- tables ----------------------------------------------------------------------------- */

static int add_counts(struct opk_listing *rows, struct opk_ctx *ctx, struct opk_file *file)
{
	const struct opk_activity *activities;
	const struct opk_range *ranges;
	const struct opk_time *times;
	const struct opk_stats *stats;
	size_t range_count, time_count, activity_count;

	TRY(opk_file_ranges(&ranges, &range_count, ctx, file));
	TRY(opk_file_times(&times, &time_count, ctx, file));
	TRY(opk_file_activities(&activities, &activity_count, ctx, file));
	TRY(opk_file_stats(&stats, ctx, file));
	opk_listing_row(rows, cell_number(file->size),
	                cell_flag(file->complete && !(stats && stats->drop_count)),
	                cell_number(range_count ? range_count : time_count),
	                cell_number(activity_count));
	return OPK_OK;
}

static void add_clock(struct opk_listing *rows, const char *name, const struct opk_clock_span *span)
{
	if (span->most)
		opk_listing_row(rows, cell_text(name), cell_number(span->least),
		                cell_number(span->most), cell_flag(span->drifted));
}

static int add_clocks(struct opk_listing *rows, struct opk_ctx *ctx, struct opk_file *file)
{
	const struct opk_range *ranges;
	struct opk_clocks clocks;
	size_t count;

	TRY(opk_file_ranges(&ranges, &count, ctx, file));
	opk_clocks_find(&clocks, ranges, count);
	add_clock(rows, "sm", &clocks.sm);
	add_clock(rows, "memory", &clocks.memory);
	return OPK_OK;
}

static int add_stats(struct opk_listing *rows, struct opk_ctx *ctx, struct opk_file *file,
                     bool drops)
{
	const struct opk_stats *stats;

	TRY(opk_file_stats(&stats, ctx, file));
	if (!stats)
		return OPK_OK;
	if (!drops)
		opk_listing_row(rows, cell_number(stats->launches), cell_number(stats->ranges),
		                cell_number(stats->depth), cell_number(stats->activities));
	for (size_t i = 0; drops && i < stats->drop_count; i++)
		opk_listing_row(rows, cell_text(stats->drops[i].reason),
		                cell_number(stats->drops[i].count));
	return OPK_OK;
}

/* ---- all of them ------------------------------------------------------------------------ */

#define SECTION_COLUMNS "type content stored# plain# encoding stride# integrity"

static const char *const columns[] = {
	[OPK_FILE_COUNTS] = "size# complete? ranges# activities#",
	[OPK_FILE_SECTIONS] = SECTION_COLUMNS,
	[OPK_FILE_VERIFIED] = SECTION_COLUMNS,
	[OPK_FILE_META] =
		"kind generator made_by cupti_version# source chip profiler set "
		"set_description set_version# set_hash passes# rotation_passes# "
		"keep_instances? config_hash mode join backend gpu_time_shift~ metrics* hidden* "
		"inflated* columns*",
	[OPK_FILE_SHOWN] = "name",
	[OPK_FILE_PASSES] = "metric pass#",
	[OPK_FILE_LABELS] = "label metric",
	[OPK_FILE_DERIVED] = "name unit formula description",
	[OPK_FILE_HEADINGS] = "title first# count# text",
	[OPK_FILE_RUN] = "name value",
	[OPK_FILE_AVAILABILITY] = "device# chip profiler",
	[OPK_FILE_STATS] = "launches# ranges# depth# activities#",
	[OPK_FILE_DROPS] = "reason count#",
	[OPK_FILE_CLOCKS] = "clock least# most# drifted?",
	[OPK_FILE_CODE] = "module size~ stored# code? lines? functions~ ran#",
	[OPK_FILE_FUNCTIONS] = "module function symbol size~ instructions#",
	[OPK_FILE_NVTX] = "range# name path level# parent~ start_ns# end_ns# duration_ns# "
			  "process# thread~ rank~ host",
};

static int add_end_facts(struct opk_listing *rows, struct opk_ctx *ctx, struct opk_file *file)
{
	const struct opk_stats *stats;

	TRY(opk_file_stats(&stats, ctx, file));
	for (size_t i = 0; stats && i < stats->run_count; i++)
		opk_listing_row(rows, cell_text(stats->run[i].name),
		                cell_text(stats->run[i].value));
	return OPK_OK;
}

static bool is_of_meta(enum opk_file_list list)
{
	return list >= OPK_FILE_META && list <= OPK_FILE_AVAILABILITY;
}

static int fill(struct opk_listing *rows, struct opk_ctx *ctx, struct opk_file *file,
                const struct opk_meta *meta, enum opk_file_list list)
{
	switch (list) {
	case OPK_FILE_COUNTS:
		return add_counts(rows, ctx, file);
	case OPK_FILE_SECTIONS:
	case OPK_FILE_VERIFIED:
		add_sections(rows, ctx, file, list == OPK_FILE_VERIFIED);
		return OPK_OK;
	case OPK_FILE_META:
		add_meta(rows, meta);
		return OPK_OK;
	case OPK_FILE_SHOWN:
		return add_shown(rows, ctx, meta);
	case OPK_FILE_PASSES:
		add_passes(rows, meta);
		return OPK_OK;
	case OPK_FILE_RUN:
		add_items(rows, meta, list);
		return add_end_facts(rows, ctx, file);
	case OPK_FILE_STATS:
	case OPK_FILE_DROPS:
		return add_stats(rows, ctx, file, list == OPK_FILE_DROPS);
	case OPK_FILE_CLOCKS:
		return add_clocks(rows, ctx, file);
	case OPK_FILE_CODE:
	case OPK_FILE_FUNCTIONS:
		return opk_code_list_add(rows, ctx, file, list == OPK_FILE_FUNCTIONS);
	case OPK_FILE_NVTX:
		return opk_nvtx_list_add(rows, ctx, file);
	default:
		add_items(rows, meta, list);
		return OPK_OK;
	}
}

static int make(struct opk_listing **out, struct opk_ctx *ctx, struct opk_file *file,
                enum opk_file_list list, bool lenient)
{
	static const struct opk_meta nothing = { .keep_instances = true };
	opk_auto(opk_listing) struct opk_listing *rows = NULL;
	const struct opk_meta *meta = &nothing;
	int code = is_of_meta(list) ? opk_file_meta(&meta, ctx, file) : OPK_OK;

	if (code && !(lenient && code == OPK_EINPUT))
		return code;
	rows = opk_listing_new(columns[list]);
	code = fill(rows, ctx, file, meta, list);
	if (code && !(lenient && code == OPK_EINPUT))
		return code;
	return opk_listing_finish(out, ctx, opk_take(rows));
}

int opk_file_list(struct opk_listing **out, struct opk_ctx *ctx, struct opk_file *file,
                  enum opk_file_list list)
{
	if ((unsigned)list >= sizeof columns / sizeof *columns)
		return opk_fail(ctx, OPK_EUSAGE, "a file has no list %d", (int)list);
	return make(out, ctx, file, list, false);
}

int opk_file_list_whole(struct opk_listing **out, struct opk_ctx *ctx, struct opk_file *file,
                        enum opk_file_list list)
{
	return make(out, ctx, file, list, true);
}
