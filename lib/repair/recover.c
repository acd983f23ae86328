/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A complete recording of what is whole in a damaged one. Sections are read and written anew, none
 * is copied as it lies there: what one may build on could be lost.
 */
#include "repair/recover.h"

#include <string.h>

#include "base/file.h"
#include "container/container_scan.h"
#include "container/meta.h"

/* Why something is missing, as the drops of the new file tell it. */
enum loss {
	LOST_END,
	LOST_STRETCHES,
	LOST_PLACES,
	LOST_IMAGES,
	LOST_ROWLESS,
	LOST_ROWS,
	LOST_LAUNCHES,
	LOST_OTHERS,
	LOSSES,
};
static const char *const loss_texts[LOSSES] = {
	[LOST_END] = "the file was cut off: what came later is not known",
	[LOST_STRETCHES] = "stretches of the file that were damaged",
	[LOST_PLACES] = "sections are missing or were moved",
	[LOST_IMAGES] = "counter data images that were damaged",
	[LOST_ROWLESS] = "counter data images whose rows were damaged",
	[LOST_ROWS] = "ranges or samples whose counter data was damaged",
	[LOST_LAUNCHES] = "ranges or samples of which no more is known than is in their image",
	[LOST_OTHERS] = "other sections that were damaged",
};

struct recovery {
	struct opk_ctx *ctx;
	struct opk_scan scan;
	const struct opk_meta *meta;
	struct opk_recovered *parts;
	size_t part_count;
	bool broken;  /* something is missing before the first part */
	bool before;  /* tables stand before their images */
	bool counted; /* ranges of images are known */
	bool grouped; /* ranges have a group's metrics only: without its row none can be evaluated */
	unsigned needed; /* tables that images in the new file have */
	uint64_t losses[LOSSES];
	struct opk_writer *writer;
};

static unsigned table_of(uint32_t type)
{
	return type == OPK_SECTION_RANGES  ? OPK_TABLE_RANGES
	       : type == OPK_SECTION_TIMES ? OPK_TABLE_TIMES
	                                   : 0;
}

static int leave_out(struct recovery *r, size_t section, const char *problem)
{
	return opk_finding_blame(opk_scan_finding(&r->scan, section), r->ctx, problem);
}

static bool is_kept(struct recovery *r, size_t section)
{
	return !opk_scan_finding(&r->scan, section)->problem;
}

/* ---- what is there */

/* Checksums may be right, and what is under them wrong. */
static int check_sections(struct recovery *r)
{
	for (size_t i = 0; i < r->scan.file->section_count; i++) {
		int code = opk_section_check(r->ctx, r->scan.file, i);

		if (code == OPK_EINPUT)
			code = leave_out(r, i, opk_innermost(r->ctx));
		if (code)
			return code;
	}
	return OPK_OK;
}

static int find_meta(struct recovery *r)
{
	struct opk_file *file = r->scan.file;
	long first = opk_file_find(file, OPK_SECTION_META);
	int code;

	if (first < 0 || !is_kept(r, (size_t)first))
		return opk_fail(
			r->ctx, OPK_EINPUT,
			"%s: its metadata is lost, and with it which metrics were counted; 'offpeak "
			"extract' finds images that are whole",
			file->path);
	for (size_t i = (size_t)first + 1; i < file->section_count; i++) {
		if (file->sections[i].type != OPK_SECTION_META)
			continue;
		code = leave_out(r, i, "there is other metadata before it");
		if (code)
			return code;
	}
	return opk_file_meta(&r->meta, r->ctx, file);
}

/* How many rows a table has, and whether they name groups. */
static int count_rows(struct recovery *r, struct opk_recovered *part)
{
	struct opk_file view = opk_view(r->scan.file, part->section);
	const struct opk_range *ranges;
	const struct opk_time *times;
	int code;

	if (part->table == OPK_TABLE_TIMES)
		code = opk_file_times(&times, &part->rows, r->ctx, &view);
	else
		code = opk_file_ranges(&ranges, &part->rows, r->ctx, &view);
	for (size_t i = 0; !code && part->table == OPK_TABLE_RANGES && i < part->rows; i++)
		r->grouped = r->grouped || ranges[i].group;
	opk_view_clear(&view);
	return code;
}

/* A section of the scan's file or a damaged one, if it is an image or a table. */
static int add_part(struct recovery *r, const struct opk_finding *finding, size_t section)
{
	struct opk_recovered *part = &r->parts[r->part_count];

	if (!table_of(finding->type) && finding->type != OPK_SECTION_DATA)
		return OPK_OK;
	*part = (struct opk_recovered){ .table = table_of(finding->type),
		                        .section = section,
		                        .sound = !finding->problem };
	r->part_count++;
	return part->table && part->sound ? count_rows(r, part) : OPK_OK;
}

static void break_here(struct recovery *r)
{
	if (r->part_count)
		r->parts[r->part_count - 1].breaks = true;
	else
		r->broken = true;
}

static void count_loss(struct recovery *r, const struct opk_finding *finding, bool breaks)
{
	if (!finding->section && breaks && finding->byte + finding->size == r->scan.file->size)
		r->losses[LOST_END] = 1;
	else if (!finding->section)
		r->losses[LOST_STRETCHES] += breaks;
	else if (!finding->problem)
		return;
	else if (finding->type == OPK_SECTION_DATA)
		r->losses[LOST_IMAGES]++;
	else if (finding->type != OPK_SECTION_END)
		r->losses[LOST_OTHERS]++;
}

static int list_parts(struct recovery *r)
{
	const struct opk_findings *findings = &r->scan.findings;
	size_t section = 0;
	int code = OPK_OK;

	r->parts = opk_alloc_array(findings->count, sizeof *r->parts);
	if (!r->parts)
		return opk_nomem(r->ctx, "sections");
	for (size_t i = 0; !code && i < findings->count; i++) {
		const struct opk_finding *finding = &findings->items[i];
		bool mine = section < r->scan.file->section_count
		            && opk_scan_finding(&r->scan, section) == finding;

		code = add_part(r, finding, mine ? section++ : SIZE_MAX);
		count_loss(r, finding, r->scan.breaks[i]);
		if (r->scan.breaks[i])
			break_here(r);
	}
	r->losses[LOST_PLACES] = r->scan.moved;
	return code;
}

/* ---- what can be kept */

/* Nothing is lost, so that there is nothing to be careful about. */
static bool is_whole(const struct recovery *r)
{
	bool whole = r->scan.file->complete;

	for (size_t i = 0; i < r->scan.findings.count; i++)
		whole = whole
		        && !(r->scan.findings.items[i].section
		             && r->scan.findings.items[i].problem);
	return whole;
}

/* Images are numbered by their order: behind a loss they would be others'. */
static int choose_numbered(struct recovery *r)
{
	const struct opk_file *file = r->scan.file;
	size_t sound_until = r->scan.moved ? 0 : r->scan.findings.count;

	for (size_t i = r->scan.findings.count; i-- > 0;) {
		const struct opk_finding *finding = &r->scan.findings.items[i];

		if (r->scan.breaks[i]
		    || (finding->problem
		        && (finding->type == OPK_SECTION_CONFIG
		            || finding->type == OPK_SECTION_PREFIX)))
			sound_until = r->scan.moved ? 0 : i;
	}
	for (size_t i = 0; i < file->section_count; i++) {
		uint32_t type = file->sections[i].type;
		size_t at = (size_t)(opk_scan_finding(&r->scan, i) - r->scan.findings.items);
		int code = OPK_OK;

		if ((type == OPK_SECTION_CONFIG || type == OPK_SECTION_PREFIX) && at > sound_until)
			code = leave_out(r, i, "one before it is lost: nobody knows whose it is");
		if (code)
			return code;
	}
	return OPK_OK;
}

/* An image that lacks rows that others have. */
static int choose_rowless(struct recovery *r, struct opk_recovered *image)
{
	const char *problem = "its rows are lost: nobody knows which metrics it has";
	bool ranges_alone = (r->needed & ~image->tables) == OPK_TABLE_RANGES;

	if (!r->grouped && ranges_alone && r->counted && image->ranges != OPK_UNCOUNTED) {
		image->rows = image->ranges;
		r->losses[LOST_LAUNCHES] += image->rows;
		return OPK_OK;
	}
	if (!r->grouped)
		problem = ranges_alone ? "its rows are lost, and its ranges can't be counted"
		                       : "its rows are lost: nobody knows when its samples were";
	r->losses[LOST_ROWLESS]++;
	return leave_out(r, image->section, problem);
}

static int choose_image(struct recovery *r, struct opk_recovered *image)
{
	bool rowless = r->grouped ? !(image->tables & OPK_TABLE_RANGES)
	                          : (r->needed & ~image->tables) != 0;

	return rowless ? choose_rowless(r, image) : OPK_OK;
}

static int choose_table(struct recovery *r, const struct opk_recovered *table, bool clear)
{
	if (table->tables)
		return OPK_OK;
	r->losses[clear ? LOST_ROWS : LOST_LAUNCHES] += table->rows;
	return leave_out(r, table->section,
	                 clear ? "the image that it describes is lost"
	                       : "nobody knows which image it describes");
}

/* Nobody writes tables before their images any more: without an end that fits, the first image may be missing. */
static bool is_order_certain(const struct recovery *r)
{
	return !r->before || r->scan.file->complete;
}

static int choose_parts(struct recovery *r)
{
	bool clear = opk_recover_pairs(&r->before, r->parts, r->part_count, r->broken)
	             && !r->scan.moved;
	int code = opk_recover_count(&r->counted, r->ctx, r->scan.file, r->parts, r->part_count);

	if (code)
		return code;
	clear = clear && (!r->counted || opk_recover_fits(r->parts, r->part_count, r->before))
	        && is_order_certain(r);
	r->grouped = r->grouped || *r->meta->join;
	for (size_t i = 0; i < r->part_count; i++) {
		if (!clear)
			r->parts[i].tables = 0;
		if (!r->parts[i].table && r->parts[i].sound)
			r->needed |= r->parts[i].tables;
	}
	for (size_t i = 0; !code && i < r->part_count; i++) {
		struct opk_recovered *part = &r->parts[i];

		if (part->sound)
			code = part->table ? choose_table(r, part, clear) : choose_image(r, part);
	}
	return code;
}

/* A table goes with its image. */
static int follow_images(struct recovery *r)
{
	bool kept = false;
	int code = OPK_OK;

	for (size_t step = 0; !code && step < r->part_count; step++) {
		struct opk_recovered *part = &r->parts[r->before ? r->part_count - 1 - step : step];

		if (!part->table)
			kept = part->sound && is_kept(r, part->section);
		else if (part->tables && !kept)
			code = leave_out(r, part->section,
			                 "the image that it describes is left out");
	}
	return code;
}

static int choose(struct recovery *r)
{
	int code = choose_numbered(r);

	if (!code)
		code = choose_parts(r);
	return code ? code : follow_images(r);
}

static int find_any_image(struct recovery *r)
{
	const struct opk_file *file = r->scan.file;

	for (size_t i = 0; i < file->section_count; i++)
		if (file->sections[i].type == OPK_SECTION_DATA && is_kept(r, i))
			return OPK_OK;
	return opk_fail(r->ctx, OPK_EINPUT, "%s: no counter data is whole%s", file->path,
	                strcmp(r->meta->kind, "set") ? "" : "; it is a set: build it again");
}

/* ---- writing */

static int write_made_up(struct recovery *r, size_t count)
{
	struct opk_range *rows = opk_alloc_array(count, sizeof *rows);
	int code;

	if (!rows)
		return opk_nomem(r->ctx, "a range table");
	for (size_t i = 0; i < count; i++)
		rows[i].device = rows[i].rank = -1;
	code = opk_writer_add_ranges(r->writer, rows, count);
	free(rows);
	return code;
}

/* `rows` are to be made up, beside an image. */
static int copy_section(struct recovery *r, size_t section, size_t rows)
{
	int code = rows && r->before ? write_made_up(r, rows) : OPK_OK;

	if (!code)
		code = opk_writer_copy(r->writer, r->scan.file, section);
	if (!code && rows && !r->before)
		code = write_made_up(r, rows);
	return code;
}

/* What an unknown section belongs to is unknown, too: it stays where it was. */
static int copy_sections(struct recovery *r)
{
	const struct opk_recovered *part = r->parts, *end = r->parts + r->part_count;
	int code = OPK_OK;

	for (size_t i = 0; !code && i < r->scan.file->section_count; i++) {
		size_t rows = 0;

		while (part < end && !part->sound)
			part++;
		if (part < end && part->section == i) {
			rows = part->table ? 0 : part->rows;
			part++;
		}
		if (is_kept(r, i))
			code = copy_section(r, i, rows);
	}
	return code;
}

/* Without an end a collector has counted nothing: then it is what was kept. */
static int write_stats(struct recovery *r)
{
	struct opk_drop drops[LOSSES];
	struct opk_stats stats = { .drops = drops };

	for (int i = 0; i < LOSSES; i++)
		if (r->losses[i])
			drops[stats.drop_count++] = (struct opk_drop){ loss_texts[i],
				                                       r->losses[i] };
	if (!stats.drop_count)
		return OPK_OK;
	for (size_t i = 0; opk_file_find(r->scan.file, OPK_SECTION_STATS) < 0 && i < r->part_count;
	     i++)
		if (r->parts[i].table && r->parts[i].tables && is_kept(r, r->parts[i].section))
			stats.ranges += r->parts[i].rows;
	return opk_writer_add_stats(r->writer, &stats);
}

static int write_all(struct recovery *r, const char *to)
{
	int code = opk_writer_new(&r->writer, r->ctx, to);

	if (!code)
		code = copy_sections(r);
	if (!code)
		code = write_stats(r);
	return code ? code : opk_writer_finish(r->writer);
}

static int recover(struct recovery *r, const char *to)
{
	int code = check_sections(r);

	if (!code)
		code = find_meta(r);
	if (!code)
		code = list_parts(r);
	if (!code && !is_whole(r))
		code = choose(r);
	if (!code)
		code = find_any_image(r);
	return code ? code : write_all(r, to);
}

int opk_recover(struct opk_findings **out, struct opk_ctx *ctx, const char *from, const char *to)
{
	struct recovery r = { .ctx = ctx };
	struct opk_findings *findings = opk_alloc(sizeof *findings);
	int code = findings ? OPK_OK : opk_nomem(ctx, "findings");

	if (!code && opk_is_same_file(from, to))
		code = opk_fail(ctx, OPK_EUSAGE, "%s: is the damaged file itself, which is to stay",
		                to);
	if (!code)
		code = opk_scan_file(&r.scan, ctx, from);
	if (!code) {
		code = recover(&r, to);
		*findings = r.scan.findings;
		r.scan.findings = (struct opk_findings){ 0 };
		opk_scan_clear(&r.scan);
	}
	opk_writer_free(r.writer);
	free(r.parts);
	if (code || !out)
		opk_findings_free(findings);
	else
		*out = findings;
	return code;
}
