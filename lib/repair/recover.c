/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes a complete recording of the sound parts of a damaged one. Sections are decoded and written
 * again: a copied section could depend on one that is lost.
 */
#include <string.h>

#include "adapters/nv/nv.h"
#include "base/file.h"
#include "repair/repair_inside.h"

/* Why something is missing; the new file's drops report it. */
enum loss {
	LOST_END,
	LOST_STRETCHES,
	LOST_PLACES,
	LOST_IMAGES,
	LOST_ROWLESS,
	LOST_ROWS,
	LOST_LAUNCHES,
	LOST_ACTIVITIES,
	LOST_INSTRUCTIONS,
	LOST_MODULES,
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
	[LOST_LAUNCHES] = "counter data images of which no more is known than is in them",
	[LOST_ACTIVITIES] = "sections of records of kernels that were damaged",
	[LOST_INSTRUCTIONS] = "sections of counts of instructions that were damaged",
	[LOST_MODULES] = "modules that were damaged",
	[LOST_OTHERS] = "other sections that were damaged",
};

/* A sound section. */
struct part {
	unsigned tables; /* of an image: the tables that it has */
	size_t rows;     /* of a table, of records, or of an image that has a table */
	uint32_t pass;   /* of an image: the pass that its rows name; 0: all, or it has no rows */
	bool counted;    /* of an image: NVIDIA's code found `ranges` ranges or samples in it */
	uint64_t ranges;
};

struct recovery {
	struct opk_ctx *ctx;
	struct opk_scan scan;
	const struct opk_meta *meta;
	struct part *parts; /* one for each section of the scan's file */
	bool of_passes;     /* each range is of one pass, which its row names */
	unsigned needed;    /* tables that each image needs */
	uint64_t losses[LOSSES];
	struct opk_writer *writer;
};

static int leave_out(struct recovery *r, size_t section, const char *problem)
{
	return opk_finding_blame(opk_scan_finding(&r->scan, section), r->ctx, problem);
}

/* If the code means damage, leaves the section out: the innermost cause is the problem. */
static int leave_out_bad(struct recovery *r, size_t section, int code)
{
	return code == OPK_EINPUT ? leave_out(r, section, opk_innermost(r->ctx)) : code;
}

static bool is_kept(struct recovery *r, size_t section)
{
	return !opk_scan_finding(&r->scan, section)->problem;
}

/* ---- what is there */

/* A section may be wrong although its checksum is right. */
static int check_sections(struct recovery *r)
{
	for (size_t i = 0; i < r->scan.file->section_count; i++) {
		const struct opk_section *section = &r->scan.file->sections[i];

		TRY(leave_out_bad(r, i, opk_section_check(r->ctx, r->scan.file, i)));
		if (section->flags & ~OPK_SECTION_KNOWN)
			TRY(leave_out(r, i, "stored in a way that a later offpeak knows"));
		else if (!opk_is_table(section->type) && opk_is_attached(section)
		         && section->link == SIZE_MAX)
			TRY(leave_out(r, i, "the image that it describes is lost"));
	}
	return OPK_OK;
}

static int find_meta(struct recovery *r)
{
	struct opk_file *file = r->scan.file;
	long first = opk_file_find(file, OPK_SECTION_META);

	if (first < 0 || !is_kept(r, (size_t)first))
		return opk_fail(r->ctx, OPK_EINPUT,
		                "%s: its metadata is lost, and with it which metrics were counted; "
		                "images that are whole can be extracted",
		                file->path);
	for (size_t i = (size_t)first + 1; i < file->section_count; i++) {
		if (file->sections[i].type == OPK_SECTION_META)
			TRY(leave_out(r, i, "there is other metadata before it"));
	}
	return opk_file_meta(&r->meta, r->ctx, file);
}

/* Counts the rows of a table, and checks that the passes that they name exist. */
static int count_rows(struct recovery *r, size_t section)
{
	const struct opk_section *table = &r->scan.file->sections[section];
	opk_autoranges struct opk_range_table ranges = { 0 };
	opk_autotimes struct opk_time_table times = { 0 };
	int code = table->type == OPK_SECTION_TIMES
	                   ? opk_time_table_read(&times, r->ctx, r->scan.file, section)
	                   : opk_range_table_read(&ranges, r->ctx, r->scan.file, section);

	for (size_t i = 0; i < ranges.rows.count; i++)
		r->of_passes = r->of_passes || ranges.rows.items[i].pass;
	r->parts[section].rows = ranges.rows.count + times.count;
	if (!code)
		code = opk_ranges_check_pass(r->ctx, ranges.rows.items, ranges.rows.count,
		                             r->meta->passes);
	if (!code && ranges.rows.count && r->scan.file->sections[section].link != SIZE_MAX)
		r->parts[r->scan.file->sections[section].link].pass = ranges.rows.items->pass;
	return leave_out_bad(r, section, code);
}

static int count_activities(struct recovery *r, size_t section)
{
	opk_autoactivities struct opk_activity_table table = { 0 };

	TRY(opk_activity_table_read(&table, r->ctx, r->scan.file, section));
	r->parts[section].rows = table.count;
	return OPK_OK;
}

static int count_instructions(struct recovery *r, size_t section)
{
	uint64_t counted;

	TRY(opk_section_counted(&counted, r->ctx, r->scan.file, section));
	r->parts[section].rows = (size_t)counted;
	return OPK_OK;
}

static int list_parts(struct recovery *r)
{
	const struct opk_file *file = r->scan.file;

	r->parts = opk_alloc_array(file->section_count + 1, sizeof *r->parts);
	if (!r->parts)
		return opk_nomem(r->ctx, "sections");
	r->of_passes = *r->meta->join;
	for (size_t i = 0; i < file->section_count; i++) {
		if (opk_is_table(file->sections[i].type) && is_kept(r, i))
			TRY(count_rows(r, i));
		else if (file->sections[i].type == OPK_SECTION_ACTIVITIES && is_kept(r, i))
			TRY(count_activities(r, i));
		else if (file->sections[i].type == OPK_SECTION_INSTRUCTIONS && is_kept(r, i))
			TRY(count_instructions(r, i));
	}
	return OPK_OK;
}

/* Counts each image by itself, to find the one that can't be evaluated. */
static int count_each(struct recovery *r, const struct opk_some_images *images)
{
	for (size_t i = 0; i < images->count; i++) {
		struct opk_some_images one = { images->file, images->profiler, &images->sections[i],
			                       &images->passes[i], 1 };
		struct part *part = &r->parts[images->sections[i]];
		int code = opk_image_rows(&part->ranges, r->ctx, &one);

		part->counted = !code;
		TRY(leave_out_bad(r, images->sections[i], code));
	}
	return OPK_OK;
}

static int count_all(struct recovery *r, const size_t *sections, size_t count)
{
	opk_autofree uint64_t *ranges = opk_alloc_array(count + 1, sizeof *ranges);
	opk_autofree uint32_t *passes = opk_alloc_array(count + 1, sizeof *passes);
	const struct opk_some_images images = { r->scan.file, r->meta->profiler, sections, passes,
		                                count };
	int code;

	if (!ranges || !passes)
		return opk_nomem(r->ctx, "sections");
	/* An image whose rows are lost has one pass: which one does not matter here. */
	for (size_t i = 0; i < count; i++)
		passes[i] = r->parts[sections[i]].pass ? r->parts[sections[i]].pass : r->of_passes;
	code = opk_image_rows(ranges, r->ctx, &images);
	if (code == OPK_EINPUT)
		return count_each(r, &images);
	for (size_t i = 0; !code && i < count; i++) {
		r->parts[sections[i]].ranges = ranges[i];
		r->parts[sections[i]].counted = true;
	}
	return code;
}

/* Readers refuse a table with a row too many or too few, though its checksum is right. */
static int count_ranges(struct recovery *r)
{
	const struct opk_file *file = r->scan.file;
	opk_autofree size_t *images = opk_alloc_array(file->section_count + 1, sizeof *images);
	size_t count = 0;
	int code;

	if (!images)
		return opk_nomem(r->ctx, "sections");
	for (size_t i = 0; i < file->section_count; i++)
		if (file->sections[i].type == OPK_SECTION_DATA && is_kept(r, i))
			images[count++] = i;
	if (!count)
		return OPK_OK;
	opk_nv_load(r->ctx);
	code = count_all(r, images, count);
	if (code != OPK_ENVIDIA)
		return code;
	opk_log(r->ctx,
	        "without libcupti, rows are not compared with the ranges that are in images; "
	        "a deep verification does so where it is");
	return opk_allow(r->ctx, code, OPK_ENVIDIA);
}

static void count_loss(struct recovery *r, const struct opk_finding *finding)
{
	if (!finding->section && finding->breaks
	    && finding->byte + finding->size == r->scan.file->size)
		r->losses[LOST_END] = 1;
	else if (!finding->section)
		r->losses[LOST_STRETCHES] += finding->breaks;
	else if (!finding->problem)
		return;
	else if (finding->type == OPK_SECTION_DATA)
		r->losses[LOST_IMAGES]++;
	else if (finding->type == OPK_SECTION_ACTIVITIES)
		r->losses[LOST_ACTIVITIES]++;
	else if (finding->type == OPK_SECTION_INSTRUCTIONS)
		r->losses[LOST_INSTRUCTIONS]++;
	else if (finding->type == OPK_SECTION_CODE)
		r->losses[LOST_MODULES]++;
	else if (finding->type != OPK_SECTION_END)
		r->losses[LOST_OTHERS]++;
}

static void count_losses(struct recovery *r)
{
	for (size_t i = 0; i < r->scan.findings.count; i++)
		count_loss(r, &r->scan.findings.items[i]);
	r->losses[LOST_PLACES] = r->scan.moved;
}

/* ---- what can be kept */

/* Whether nothing is lost, so that everything can be kept. */
static bool is_whole(const struct recovery *r)
{
	for (size_t i = 0; i < r->scan.findings.count; i++)
		if (r->scan.findings.items[i].section && r->scan.findings.items[i].problem)
			return false;
	return r->scan.file->complete;
}

/* Config images and prefixes are numbered by their order: a lost one would shift the numbers. */
static int choose_numbered(struct recovery *r)
{
	const struct opk_file *file = r->scan.file;
	size_t sound_until = r->scan.moved ? 0 : r->scan.findings.count;

	for (size_t i = r->scan.findings.count; i-- > 0;) {
		const struct opk_finding *finding = &r->scan.findings.items[i];

		if (finding->breaks || (finding->problem && opk_is_of_plan(finding->type)))
			sound_until = r->scan.moved ? 0 : i;
	}
	for (size_t i = 0; i < file->section_count; i++) {
		uint32_t type = file->sections[i].type;
		size_t at = (size_t)(opk_scan_finding(&r->scan, i) - r->scan.findings.items);

		if (opk_is_of_plan(type) && at > sound_until)
			TRY(leave_out(
				r, i,
				"a section before it is lost, so it is not known what this one belongs to"));
	}
	return OPK_OK;
}

/* Keeps a table only with its image, which has at most one of each kind. */
static int choose_table(struct recovery *r, size_t i)
{
	const struct opk_section *table = &r->scan.file->sections[i];
	unsigned kind = opk_is_table(table->type);
	const struct part *image;
	char numbers[80];
	const char *problem = NULL;

	if (table->link == SIZE_MAX || !is_kept(r, table->link)) {
		r->losses[LOST_ROWS] += r->parts[i].rows;
		return leave_out(r, i, "the image that it describes is lost");
	}
	image = &r->parts[table->link];
	snprintf(numbers, sizeof numbers, "its image has %ju ranges or samples, and it has %zu",
	         (uintmax_t)image->ranges, r->parts[i].rows);
	if (image->counted && image->ranges != r->parts[i].rows)
		problem = numbers;
	else if (image->tables & kind)
		problem = "the image that it describes has another such table";
	else if (image->tables && image->rows != r->parts[i].rows)
		problem = "the other table of its image has more rows, or fewer";
	if (problem) {
		r->losses[LOST_OTHERS]++;
		return leave_out(r, i, problem);
	}
	r->parts[table->link].tables |= kind;
	r->parts[table->link].rows = r->parts[i].rows;
	r->needed |= kind;
	return OPK_OK;
}

/* Leaves out an image that lacks rows that it needs. */
static int choose_image(struct recovery *r, size_t i)
{
	unsigned missing = r->needed & ~r->parts[i].tables;

	if (r->of_passes && !(r->parts[i].tables & OPK_TABLE_RANGES)) {
		r->losses[LOST_ROWLESS]++;
		return leave_out(r, i, "its rows are lost: which metrics it has is not known");
	}
	if (missing & OPK_TABLE_TIMES) {
		r->losses[LOST_ROWLESS]++;
		return leave_out(r, i, "its rows are lost: when its samples were is not known");
	}
	r->losses[LOST_LAUNCHES] += missing != 0;
	return OPK_OK;
}

static int choose_tables(struct recovery *r)
{
	const struct opk_file *file = r->scan.file;

	for (size_t i = 0; i < file->section_count; i++) {
		if (opk_is_table(file->sections[i].type) && is_kept(r, i))
			TRY(choose_table(r, i));
	}
	return OPK_OK;
}

/* Sections that are attached to an image are left out with it. */
static int choose_images(struct recovery *r)
{
	const struct opk_file *file = r->scan.file;

	for (size_t i = 0; i < file->section_count; i++) {
		size_t image = file->sections[i].link;

		if (file->sections[i].type == OPK_SECTION_DATA && is_kept(r, i))
			TRY(choose_image(r, i));
		else if (image != SIZE_MAX && !is_kept(r, image))
			TRY(leave_out(r, i, "the image that it describes is left out"));
	}
	return OPK_OK;
}

/* If nothing is lost, an image without tables never had any, and stays. */
static int choose(struct recovery *r)
{
	int code = choose_tables(r);

	if (code || is_whole(r))
		return code;
	code = choose_numbered(r);
	return code ? code : choose_images(r);
}

static int find_anything(struct recovery *r)
{
	const struct opk_file *file = r->scan.file;

	for (size_t i = 0; i < file->section_count; i++)
		if ((file->sections[i].type == OPK_SECTION_DATA
		     || file->sections[i].type == OPK_SECTION_BAKED
		     || file->sections[i].type == OPK_SECTION_ACTIVITIES
		     || file->sections[i].type == OPK_SECTION_INSTRUCTIONS)
		    && is_kept(r, i))
			return OPK_OK;
	return opk_fail(r->ctx, OPK_EINPUT, "%s: nothing that was recorded is whole%s", file->path,
	                strcmp(r->meta->kind, "set") ? "" : "; it is a set: build it again");
}

/* ---- writing */

static int copy_segment(struct recovery *r, size_t image)
{
	const struct opk_file *file = r->scan.file;
	size_t i = image;

	TRY(opk_writer_copy(r->writer, file, image));
	while ((i = opk_file_next_attached(file, image, i)) != SIZE_MAX)
		if (is_kept(r, i))
			TRY(opk_writer_copy(r->writer, file, i));
	return OPK_OK;
}

/* A section of an unknown type stays where it was, as it may belong to its neighbors. */
static int copy_sections(struct recovery *r)
{
	const struct opk_file *file = r->scan.file;

	for (size_t i = 0; i < file->section_count; i++) {
		if (is_kept(r, i) && !opk_is_attached(&file->sections[i]))
			TRY(opk_is_image(file->sections[i].type)
			            ? copy_segment(r, i)
			            : opk_writer_copy(r->writer, file, i));
	}
	return OPK_OK;
}

/* A recording without its end lacks the collector's counts: counts what was kept instead. */
static int write_stats(struct recovery *r)
{
	const struct opk_file *file = r->scan.file;
	struct opk_drop drops[LOSSES];
	struct opk_stats stats = { .drops = drops };
	bool counted = opk_file_find(file, OPK_SECTION_STATS) >= 0;

	for (int i = 0; i < LOSSES; i++)
		if (r->losses[i])
			drops[stats.drop_count++] = (struct opk_drop){ loss_texts[i],
				                                       r->losses[i] };
	if (!stats.drop_count)
		return OPK_OK;
	for (size_t i = 0; !counted && i < file->section_count; i++)
		if ((file->sections[i].type == OPK_SECTION_DATA
		     || file->sections[i].type == OPK_SECTION_INSTRUCTIONS)
		    && is_kept(r, i))
			stats.ranges += r->parts[i].rows;
		else if (file->sections[i].type == OPK_SECTION_ACTIVITIES && is_kept(r, i))
			stats.activities += r->parts[i].rows;
	return opk_writer_add_stats(r->writer, &stats);
}

static bool is_of_values(uint32_t type)
{
	return type == OPK_SECTION_BAKED || type == OPK_SECTION_VALUES;
}

/* Whether it is in the place of an image, or describes one that is not there. */
static bool is_left_out(const struct opk_file *file, size_t i)
{
	size_t image = file->sections[i].link == SIZE_MAX ? i : file->sections[i].link;

	return file->sections[image].type == OPK_SECTION_LEFT_OUT;
}

/* How values were made is written after all of them; before them in imports of older versions. */
static bool has_all_values(const struct opk_file *file)
{
	bool values = false;

	for (size_t i = 0; i < file->section_count; i++) {
		if (file->sections[i].type == OPK_SECTION_BAKED)
			return values;
		values |= file->sections[i].type == OPK_SECTION_VALUES;
	}
	return false;
}

/* Values are of all images together: without one of these, or a part of them, they say nothing. */
static int choose_values(struct recovery *r)
{
	const struct opk_file *file = r->scan.file;
	bool whole = !r->losses[LOST_STRETCHES] && (!r->losses[LOST_END] || has_all_values(file));
	const char *problem =
		opk_file_find(file, OPK_SECTION_LEFT_OUT) < 0
			? "its values are of images that are lost, or not all there: bake the "
			  "recovered recording"
			: "its values are not all there, and there are no images to compute them "
			  "from";

	/* Sections whose checksum is wrong are findings alone. */
	for (size_t i = 0; i < r->scan.findings.count; i++) {
		const struct opk_finding *finding = &r->scan.findings.items[i];

		if (opk_is_image(finding->type) || is_of_values(finding->type))
			whole = whole && !finding->problem;
	}
	for (size_t i = 0; !whole && i < file->section_count; i++)
		if ((is_of_values(file->sections[i].type) || is_left_out(file, i)) && is_kept(r, i))
			TRY(leave_out(r, i, problem));
	return OPK_OK;
}

static int recover(struct recovery *r, const char *to)
{
	TRY(check_sections(r));
	TRY(find_meta(r));
	TRY(list_parts(r));
	TRY(count_ranges(r));
	count_losses(r);
	TRY(choose(r));
	TRY(choose_values(r));
	TRY(find_anything(r));
	TRY(opk_writer_new_made(&r->writer, r->ctx, to, OPK_OUTPUT_RECOVERED));
	TRY(copy_sections(r));
	return write_stats(r);
}

static void clear(struct recovery *r)
{
	opk_scan_clear(&r->scan);
	opk_writer_free(r->writer);
	free(r->parts);
}

int opk_recover(struct opk_listing **out, struct opk_ctx *ctx, const char *from, const char *to)
{
	__attribute__((cleanup(clear))) struct recovery r = { .ctx = ctx };
	opk_auto(opk_listing) struct opk_listing *findings = NULL;

	if (opk_is_same_file(from, to))
		return opk_fail(ctx, OPK_EUSAGE, "%s: is the damaged file itself, which is to stay",
		                to);
	TRY(opk_check_output(ctx, to, OPK_OUTPUT_RECOVERED));
	TRY(opk_scan_file(&r.scan, ctx, from));
	TRY(recover(&r, to));
	TRY(opk_findings_list(&findings, ctx, &r.scan.findings));
	TRY(opk_writer_finish(r.writer));
	if (out)
		*out = opk_take(findings);
	return OPK_OK;
}
