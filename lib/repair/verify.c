/* SPDX-License-Identifier: BSD-2-Clause */
/* Verifies a container: checks each section, then how sections fit together, then the values. */
#include <string.h>

#include "adapters/nv/nv.h"
#include "baked/baked.h"
#include "base/buf.h"
#include "base/option_struct.h"
#include "eval/eval.h"
#include "container/container.h"
#include "repair/repair_inside.h"

struct verification {
	struct opk_ctx *ctx;
	const struct opk_verify_options *options;
	struct opk_scan scan;
	bool blamed; /* a problem was found after the scan */
};

static int blame(struct verification *v, size_t section, const char *problem)
{
	v->blamed = true;
	return opk_finding_blame(opk_scan_finding(&v->scan, section), v->ctx, problem);
}

/* The failed call's message is the section's problem, unless the call failed for another reason. */
static int blame_input(struct verification *v, size_t section, int code)
{
	return code == OPK_EINPUT ? blame(v, section, opk_innermost(v->ctx)) : code;
}

static bool has_problem(const struct verification *v)
{
	for (size_t i = 0; i < v->scan.findings.count; i++)
		if (v->scan.findings.items[i].problem)
			return true;
	return false;
}

/* ---- each section by itself */

/* Checks the first metadata section, as others are never read, and its formulas. */
static int check_meta(struct opk_ctx *ctx, struct opk_file *file, size_t i)
{
	const struct opk_meta *meta;
	struct opk_columns columns;

	if (opk_file_find(file, OPK_SECTION_META) != (long)i)
		return OPK_OK;
	TRY(opk_file_meta(&meta, ctx, file));
	TRY(opk_columns_init(&columns, ctx, meta, &(struct opk_wanted){ 0 }));
	opk_columns_clear(&columns);
	return OPK_OK;
}

int opk_section_check(struct opk_ctx *ctx, struct opk_file *file, size_t i)
{
	opk_autoactivities struct opk_activity_table activities = { 0 };
	opk_autoinstructions struct opk_instruction_block instructions = { 0 };
	opk_autoranges struct opk_range_table ranges = { 0 };
	opk_autotimes struct opk_time_table times = { 0 };
	opk_autofree void *data = NULL;
	opk_auto(opk_baked_file) struct opk_baked_file *baked = NULL;
	struct opk_module module;
	size_t size;

	switch (file->sections[i].type) {
	case OPK_SECTION_CONFIG:
	case OPK_SECTION_ROTATION:
	case OPK_SECTION_PREFIX:
	case OPK_SECTION_AVAILABILITY:
	case OPK_SECTION_DATA:
		return opk_file_read(&data, &size, ctx, file, i);
	case OPK_SECTION_LEFT_OUT:
		TRY(opk_file_read(&data, &size, ctx, file, i));
		return size == 8 ? OPK_OK
		                 : opk_fail(ctx, OPK_EINPUT, "it has %zu bytes, not 8", size);
	case OPK_SECTION_BAKED:
		return opk_baked_read(&baked, ctx, file, i);
	case OPK_SECTION_VALUES:
		return opk_value_table_check(ctx, file, i);
	case OPK_SECTION_META:
		return check_meta(ctx, file, i);
	case OPK_SECTION_RANGES:
		return opk_range_table_read(&ranges, ctx, file, i);
	case OPK_SECTION_TIMES:
		return opk_time_table_read(&times, ctx, file, i);
	case OPK_SECTION_STATS:
		return opk_stats_check(ctx, file, i);
	case OPK_SECTION_ACTIVITIES:
		return opk_activity_table_read(&activities, ctx, file, i);
	case OPK_SECTION_CODE:
		return opk_module_read(&module, &data, ctx, file, i);
	case OPK_SECTION_INSTRUCTIONS:
		return opk_instruction_block_read(&instructions, ctx, file, i);
	default:
		/* Readers skip what a later version added. */
		return OPK_OK;
	}
}

/* ---- how sections fit together */

static size_t count_of(const struct opk_file *file, uint32_t type)
{
	size_t count = 0;

	for (size_t i = 0; i < file->section_count; i++)
		count += file->sections[i].type == type;
	return count;
}

static int blame_first(struct verification *v, uint32_t type, const char *format, size_t a,
                       size_t b)
{
	long section = opk_file_find(v->scan.file, type);
	char problem[128];

	snprintf(problem, sizeof problem, format, a, b);
	return section < 0 ? OPK_OK : blame(v, (size_t)section, problem);
}

/* A probe's metadata describes each availability image; other files have at most one. */
static int check_availability(struct verification *v, const struct opk_meta *meta)
{
	size_t count = count_of(v->scan.file, OPK_SECTION_AVAILABILITY);
	size_t named = meta->availability_count;

	if (named ? count == named : count <= 1)
		return OPK_OK;
	return blame_first(v, OPK_SECTION_AVAILABILITY,
	                   named ? "%zu of it, and the metadata names %zu" : "more than one of it",
	                   count, named);
}

static int check_images(struct verification *v, const struct opk_meta *meta)
{
	static const uint32_t single[] = { OPK_SECTION_CONFIG, OPK_SECTION_ROTATION,
		                           OPK_SECTION_PREFIX, OPK_SECTION_BAKED };

	for (size_t i = 0; i < sizeof single / sizeof *single; i++) {
		if (count_of(v->scan.file, single[i]) > 1)
			TRY(blame_first(v, single[i], "more than one of it", 0, 0));
	}
	if ((count_of(v->scan.file, OPK_SECTION_ROTATION) > 0) != (meta->rotation.passes > 0))
		TRY(blame_first(v, meta->rotation.passes ? OPK_SECTION_META : OPK_SECTION_ROTATION,
		                meta->rotation.passes ? "the config image for rotation is missing"
		                                      : "the metadata have no plan for rotation",
		                0, 0));
	return check_availability(v, meta);
}

static int check_config_hash(struct verification *v, uint32_t type, const char *named)
{
	long section = opk_file_find(v->scan.file, type);
	opk_autofree void *config = NULL;
	char hash[15];
	size_t size;

	if (section < 0 || !named || !*named)
		return OPK_OK;
	TRY(opk_file_read(&config, &size, v->ctx, v->scan.file, (size_t)section));
	opk_config_hash(hash, config, size);
	return strcmp(hash, named)
	               ? blame(v, (size_t)section, "the metadata names another config image")
	               : OPK_OK;
}

/* Checks that each image has its own tables, and that they fit together. */
static int check_links(struct verification *v, struct opk_file *file, const struct opk_meta *meta)
{
	size_t bad;
	int code = opk_file_link(&bad, v->ctx, file, meta);

	return code == OPK_EINPUT ? blame(v, bad, opk_error_message(v->ctx, 0)) : code;
}

/* Checks that the values are of the images that the file has, and of their rows. */
static int check_baked(struct verification *v, struct opk_file *file)
{
	long section = opk_file_find(file, OPK_SECTION_BAKED);
	opk_auto(opk_baked_file) struct opk_baked_file *baked = NULL;
	const struct opk_segment *segments;
	size_t count;

	if (section < 0)
		return blame_first(v, OPK_SECTION_VALUES,
		                   "nothing says how these values were evaluated", 0, 0);
	TRY(opk_baked_read(&baked, v->ctx, file, (size_t)section));
	TRY(opk_file_segments(&segments, &count, v->ctx, file));
	return blame_input(v, (size_t)section,
	                   opk_baked_check_segments(v->ctx, opk_baked_get(baked), segments, count));
}

static int check_meta_place(struct verification *v)
{
	const struct opk_file *file = v->scan.file;
	long first = opk_file_find(file, OPK_SECTION_META);
	struct opk_finding none = { .type = OPK_SECTION_META, .byte = OPK_FILE_HEADER_SIZE };

	if (first < 0) {
		v->blamed = true;
		return opk_findings_add(&v->scan.findings, v->ctx, none,
		                        "there is no sound metadata section");
	}
	if (first > 0)
		TRY(blame(v, (size_t)first, "the metadata is not the first section"));
	for (size_t i = (size_t)first + 1; i < file->section_count; i++) {
		if (file->sections[i].type == OPK_SECTION_META)
			TRY(blame(v, i, "there is other metadata before it"));
	}
	return OPK_OK;
}

/* ---- values */

/* Blames with the chain without its outermost cause, which names the file. */
static int blame_evaluation(struct verification *v)
{
	long data = opk_file_find(v->scan.file, OPK_SECTION_DATA);
	long section = data < 0 ? opk_file_find(v->scan.file, OPK_SECTION_BAKED) : data;
	struct opk_buf text = { 0 };
	size_t count = opk_error_count(v->ctx);
	opk_autofree char *problem = NULL;

	for (size_t i = 0; i < count && (!i || i + 1 < count); i++)
		opk_buf_add_printf(&text, "%s%s", i ? "; " : "", opk_error_message(v->ctx, i));
	problem = opk_buf_take_text(&text);
	if (!problem)
		return opk_nomem(v->ctx, "findings");
	if (section >= 0 && count_of(v->scan.file, OPK_SECTION_DATA) <= 1)
		return blame(v, (size_t)section, problem);
	return opk_findings_add(&v->scan.findings, v->ctx,
	                        (struct opk_finding){ .type = OPK_SECTION_DATA }, problem);
}

static int blame_values(struct verification *v, size_t row)
{
	long section = opk_file_find(v->scan.file, OPK_SECTION_VALUES);
	char problem[96];

	snprintf(problem, sizeof problem, "the values of row %zu are not those of its image", row);
	return section < 0 ? OPK_OK : blame(v, (size_t)section, problem);
}

/* Reads all rows of both; `values` may be NULL. */
static int compare(struct verification *v, struct opk_evaluation *images,
                   struct opk_evaluation *values)
{
	size_t size = opk_evaluation_metric_count(images) * sizeof(double);
	const struct opk_row *one, *other;

	do {
		TRY(opk_evaluation_next(&one, v->ctx, images));
		if (!values)
			continue;
		TRY(opk_evaluation_next(&other, v->ctx, values));
		if (!one != !other || (one && memcmp(one->values, other->values, size) != 0))
			return blame_values(v, one ? one->index : other->index);
	} while (one);
	return OPK_OK;
}

static int begin(struct opk_evaluation **out, struct verification *v, struct opk_file *file,
                 bool from_images)
{
	struct opk_eval_options options = OPK_INIT(options);
	struct opk_eval_inside inside = { .from_images = from_images };

	options.allow_incomplete = true;
	options.inside = &inside;
	return opk_eval_file(out, v->ctx, file, &options);
}

/* Other releases may compute other values of the same counters. */
static bool is_same_release(struct verification *v, const struct opk_evaluation *images,
                            const struct opk_evaluation *values)
{
	uint32_t now = opk_evaluation_cupti(images), then = opk_evaluation_cupti(values);

	if (now != then)
		opk_log(v->ctx,
		        "%s: its values were not compared with its images: %s gave them, and this is "
		        "%s",
		        v->scan.file->path, opk_nv_release_of(then).name,
		        opk_nv_release_of(now).name);
	return now == then;
}

/* Without NVIDIA's libraries, or without images, values are read by themselves. */
static int evaluate_values(struct verification *v, struct opk_file *file, const char *why)
{
	opk_auto(opk_evaluation) struct opk_evaluation *values = NULL;

	opk_log(v->ctx, "%s: its values were not compared with its images: %s", file->path, why);
	opk_clear_errors(v->ctx);
	TRY(begin(&values, v, file, false));
	return compare(v, values, NULL);
}

static int evaluate_both(struct verification *v, struct opk_file *file)
{
	opk_auto(opk_evaluation) struct opk_evaluation *images = NULL, *values = NULL;
	int code = begin(&images, v, file, true);

	if (code == OPK_ENVIDIA)
		return evaluate_values(v, file, opk_innermost(v->ctx));
	TRY(code);
	TRY(begin(&values, v, file, false));
	return compare(v, images, is_same_release(v, images, values) ? values : NULL);
}

static int evaluate(struct verification *v, struct opk_file *file)
{
	opk_auto(opk_evaluation) struct opk_evaluation *images = NULL;

	if (!opk_file_is_baked(file)) {
		TRY(begin(&images, v, file, true));
		return compare(v, images, NULL);
	}
	if (opk_file_find(file, OPK_SECTION_DATA) < 0) {
		const char *why;

		TRY(opk_baked_why_no_images(&why, v->ctx, file));
		return evaluate_values(v, file, why);
	}
	return evaluate_both(v, file);
}

/* Modules without their code can't be checked. */
static int check_modules(struct verification *v, const struct opk_file *file)
{
	for (size_t i = 0; i < file->section_count; i++)
		if (file->sections[i].type == OPK_SECTION_CODE)
			TRY(blame_input(v, i, opk_module_check_crc(v->ctx, file, i)));
	return OPK_OK;
}

/* Files with values are read where there are no NVIDIA libraries, and modules can wait. */
static int check_modules_if_possible(struct verification *v, const struct opk_file *file)
{
	int code = check_modules(v, file);

	if (code != OPK_ENVIDIA || !opk_file_is_baked(file))
		return code;
	opk_log(v->ctx, "%s: its modules were not compared with their CRCs: %s", file->path,
	        opk_innermost(v->ctx));
	opk_clear_errors(v->ctx);
	return OPK_OK;
}

/* ---- all together */

/* Checks the file as strict readers see it. */
static int check_whole(struct verification *v, struct opk_file *file)
{
	const struct opk_meta *meta;
	size_t bad = 0;
	int code;

	TRY(opk_file_meta(&meta, v->ctx, file));
	if (file->complete)
		TRY(check_images(v, meta));
	TRY(check_config_hash(v, OPK_SECTION_CONFIG, meta->config_hash));
	TRY(check_config_hash(v, OPK_SECTION_ROTATION, meta->rotation.config_hash));
	TRY(check_links(v, file, meta));
	if (!v->blamed)
		TRY(check_baked(v, file));
	code = opk_value_tables_check(&bad, v->ctx, file);
	TRY(blame_input(v, bad, code));
	if (!v->options->deep || v->blamed)
		return OPK_OK;
	TRY(check_modules_if_possible(v, file));
	if (v->blamed
	    || (opk_file_find(file, OPK_SECTION_DATA) < 0
	        && opk_file_find(file, OPK_SECTION_LEFT_OUT) < 0))
		return OPK_OK;
	/* Loads once, before the fork, for the children of this file and of later ones. */
	opk_nv_load(v->ctx);
	code = evaluate(v, file);
	return code == OPK_EINPUT ? blame_evaluation(v) : code;
}

/* Every section is sound, or the last one was cut off: the strict reader must accept the file. */
static int check_together(struct verification *v, const char *path)
{
	opk_auto(opk_file) struct opk_file *file = NULL;
	int code = opk_file_open(&file, v->ctx, path);

	if (code == OPK_EINPUT && has_problem(v))
		return OPK_OK;
	if (code == OPK_EINPUT)
		return opk_findings_add(&v->scan.findings, v->ctx, (struct opk_finding){ 0 },
		                        opk_innermost(v->ctx));
	if (code || file->section_count != v->scan.file->section_count)
		return code;
	return check_whole(v, file);
}

static int check(struct verification *v, const char *path)
{
	const struct opk_file *file = v->scan.file;
	bool sound;

	TRY(check_meta_place(v));
	for (size_t i = 0; i < file->section_count; i++)
		TRY(blame_input(v, i, opk_section_check(v->ctx, v->scan.file, i)));
	/* If something is damaged, it may be that image. */
	sound = !has_problem(v);
	for (size_t i = 0; sound && !v->blamed && i < file->section_count; i++)
		if (opk_is_attached(&file->sections[i]) && file->sections[i].link == SIZE_MAX
		    && !(file->sections[i].flags & ~OPK_SECTION_KNOWN))
			TRY(blame(v, i, "the image that it describes is not there"));
	return v->blamed ? OPK_OK : check_together(v, path);
}

int opk_findings_list(struct opk_listing **out, struct opk_ctx *ctx,
                      const struct opk_findings *findings)
{
	struct opk_listing *rows = opk_listing_new("section# type byte# size# problem");

	for (size_t i = 0; i < findings->count; i++) {
		const struct opk_finding *finding = &findings->items[i];
		char type[5] = "";

		if (finding->type)
			opk_section_type_name(type, finding->type);
		opk_listing_row(rows, cell_number(finding->section), cell_text(type),
		                cell_number(finding->byte), cell_number(finding->size),
		                cell_text(finding->problem));
	}
	return opk_listing_finish(out, ctx, rows);
}

static void clear(struct verification *v)
{
	opk_scan_clear(&v->scan);
}

int opk_verify(struct opk_listing **out, struct opk_ctx *ctx, const char *path,
               const struct opk_verify_options *given)
{
	OPK_OPTIONS(opk_verify_options, options, given);
	__attribute__((cleanup(clear))) struct verification v = { .ctx = ctx, .options = &options };

	TRY(opk_scan_file(&v.scan, ctx, path));
	TRY(check(&v, path));
	return opk_findings_list(out, ctx, &v.scan.findings);
}
