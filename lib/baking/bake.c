/* SPDX-License-Identifier: BSD-2-Clause */
/* Copies a recording with its values, and with or without its images. */
#include <string.h>

#include "answers/door.h"
#include "baked/baked.h"
#include "baking/door.h"
#include "chip/chip.h"
#include "config.h"
#include "container/container.h"
#include "eval/eval.h"
#include "images/images.h"
#include "summary/door.h"

struct bake {
	struct opk_ctx *ctx;
	struct opk_file *file;
	const struct opk_meta *meta;
	const struct opk_bake_options *options;
	/* The file: its values say what metrics there are. NULL: NVIDIA's library does. */
	const struct opk_file *known_by;
	bool keep; /* its values are those that are asked for */
	struct opk_value_sink sink;
	struct opk_catalog *catalog; /* of the recording's chip */
	struct opk_answers *answers; /* NULL: the recording lacks what they need */
	struct opk_set_meta *sets;   /* that were asked for */
	struct opk_strlist also;     /* what answers need, and what was asked for */
	struct opk_strlist metrics;  /* of the rows */
	size_t named;                /* of these: others only help to store them */
	struct opk_baked baked;
	struct opk_excerpt excerpt;
};

static void clear(struct bake *b)
{
	opk_sink_clear(&b->sink);
	opk_strlist_clear(&b->metrics);
	opk_strlist_clear(&b->also);
	for (size_t i = 0; b->sets && i < b->options->set_count; i++)
		opk_set_meta_clear(&b->sets[i]);
	free(b->sets);
	opk_catalog_free(b->catalog);
	opk_answers_free(b->answers);
	opk_excerpt_clear(&b->excerpt);
	free((void *)b->baked.images);
}

/* ---- what is copied -------------------------------------------------------------------------- */

static int check(const struct bake *b)
{
	struct opk_file *file = b->file;

	if (!strcmp(b->meta->kind, "set"))
		return opk_fail(b->ctx, OPK_EINPUT, "%s: it was built, not yet recorded",
		                file->path);
	TRY(opk_file_check_complete(b->ctx, file, OPK_REMEDY_RECOVER));
	TRY(opk_baked_check_images(b->ctx, file, "baking"));
	if (opk_file_find(file, OPK_SECTION_DATA) < 0)
		return opk_fail(b->ctx, OPK_EUSAGE,
		                "%s: it has no counter data: all else can be read without "
		                "NVIDIA's libraries as it is",
		                file->path);
	return OPK_OK;
}

static int copy_image(struct bake *b, size_t section, uint32_t number)
{
	uint32_t crc = b->file->sections[section].header_crc;

	TRY(b->options->only ? opk_writer_add_place(b->sink.writer, crc, number)
	                     : opk_writer_copy(b->sink.writer, b->file, section));
	return opk_writer_copy_tables(b->sink.writer, b->file, section);
}

/* Without images nothing needs what a GPU is to count. */
static bool is_kept(const struct bake *b, const struct opk_section *section)
{
	if (section->type == OPK_SECTION_BAKED || section->type == OPK_SECTION_VALUES)
		return b->keep;
	if (opk_is_attached(section))
		return false;
	return !b->options->only
	       || !(opk_is_of_plan(section->type) || section->type == OPK_SECTION_AVAILABILITY);
}

static int copy_all(struct bake *b)
{
	uint32_t images = 0;

	for (size_t i = 0; i < b->file->section_count; i++) {
		const struct opk_section *section = &b->file->sections[i];

		if (section->type == OPK_SECTION_DATA)
			TRY(copy_image(b, i, images++));
		else if (is_kept(b, section))
			TRY(opk_writer_copy(b->sink.writer, b->file, i));
	}
	return OPK_OK;
}

/* ---- values ---------------------------------------------------------------------------------- */

static int begin_answers(struct bake *b)
{
	if (b->meta->profiler != OPK_PROFILER_RANGE)
		return OPK_OK;
	return opk_allow(b->ctx, opk_answers_begin(&b->answers, b->ctx, b->file), OPK_EUSAGE);
}

static int add_also(struct bake *b, const char *name)
{
	if (!strstr(name, "__"))
		return opk_fail(b->ctx, OPK_EUSAGE, "'%s' is not a full metric name", name);
	return opk_strlist_contains(&b->also, name) || opk_strlist_add(&b->also, name)
	               ? OPK_OK
	               : opk_nomem(b->ctx, "metrics");
}

static int add_set(struct bake *b, size_t number)
{
	struct opk_set_meta *set = &b->sets[number];

	TRY(opk_set_meta_init(set, b->ctx, b->options->sets[number], b->known_by, b->meta->chip,
	                      b->meta->profiler, b->meta));
	for (size_t i = 0; i < set->meta.metric_count; i++)
		TRY(add_also(b, set->meta.metrics[i]));
	return OPK_OK;
}

/* Beside the recorded metrics. */
static int list_also(struct bake *b)
{
	const struct opk_bake_options *options = b->options;
	const struct opk_strlist *answers = b->answers ? opk_answers_metrics(b->answers) : NULL;

	for (size_t i = 0; answers && i < answers->count; i++)
		TRY(add_also(b, answers->items[i]));
	for (size_t i = 0; i < options->metric_count; i++)
		TRY(add_also(b, options->metrics[i]));
	b->sets = opk_alloc_array(options->set_count + 1, sizeof *b->sets);
	if (!b->sets)
		return opk_nomem(b->ctx, "metric sets");
	for (size_t i = 0; i < options->set_count; i++)
		TRY(add_set(b, i));
	return OPK_OK;
}

static int add_metric(struct bake *b, const char *name)
{
	if (!strstr(name, "__") || opk_attribute_is_name(name)
	    || opk_strlist_contains(&b->metrics, name))
		return OPK_OK;
	return opk_strlist_add(&b->metrics, name) ? OPK_OK : opk_nomem(b->ctx, "metrics");
}

static int add_metrics(struct bake *b, const struct opk_strlist *names)
{
	for (size_t i = 0; i < names->count; i++)
		TRY(add_metric(b, names->items[i]));
	return OPK_OK;
}

/* Whether readers divide samples among kernels by the denominators of metrics. */
static bool needs_denominators(const struct bake *b)
{
	return b->meta->profiler == OPK_PROFILER_PM
	       && opk_file_find(b->file, OPK_SECTION_ACTIVITIES) >= 0;
}

/* With fewer rows, or rows that lack most metrics, denominators take more bytes than they save. */
static int pays(bool *out, struct bake *b)
{
	enum { FEW_ROWS = 16 };
	const struct opk_segment *segments;
	size_t count, rows = 0;

	TRY(opk_file_segments(&segments, &count, b->ctx, b->file));
	for (size_t i = 0; i < count; i++)
		rows += segments[i].row_count;
	*out = rows >= FEW_ROWS && !*b->meta->join;
	return OPK_OK;
}

/* Throughputs are shares of what a unit can do in its elapsed cycles. */
static int add_cycles(struct bake *b)
{
	size_t count = b->metrics.count;

	for (size_t i = 0; i < count; i++) {
		const char *name = b->metrics.items[i], *unit = strstr(name, "__");
		opk_autofree char *cycles = opk_printf("%.*s__cycles_elapsed.sum",
		                                       (int)(unit - name), name);

		if (!cycles)
			return opk_nomem(b->ctx, "metrics");
		if (strstr(name, "throughput") && opk_catalog_has_full(b->catalog, b->ctx, cycles))
			TRY(add_metric(b, cycles));
	}
	return OPK_OK;
}

static int add_denominators(struct bake *b)
{
	struct opk_rules rules = { 0 };
	bool wanted = needs_denominators(b);
	int code;

	b->named = b->metrics.count;
	if (!wanted)
		TRY(pays(&wanted, b));
	if (!wanted)
		return OPK_OK;
	code = opk_rules_init(&rules, b->ctx, b->meta->chip, b->meta->profiler,
	                      opk_strlist_items(&b->metrics), b->metrics.count, b->known_by);
	if (!code)
		code = add_metrics(b, &rules.helpers);
	opk_rules_clear(&rules);
	if (needs_denominators(b))
		b->named = b->metrics.count;
	return code ? code : add_cycles(b);
}

/* The recorded metrics, and what summaries and answers need besides. */
static int list_metrics(struct bake *b)
{
	opk_autostrlist struct opk_strlist names = { 0 };

	for (size_t i = 0; i < b->meta->metric_count; i++)
		TRY(add_metric(b, b->meta->metrics[i]));
	TRY(opk_summary_names(&names, b->ctx, b->file, &b->also));
	TRY(add_metrics(b, &names));
	return add_denominators(b);
}

/* ---- values that are there ------------------------------------------------------------------- */

static bool has_same_sets(const struct bake *b, const struct opk_baked *baked)
{
	size_t first = b->answers != NULL, count = first + b->options->set_count;

	if (baked->set_count != count
	    || (b->answers && strcmp(baked->sets[0], opk_answers_set_hash(b->answers)) != 0))
		return false;
	for (size_t i = first; i < count; i++)
		if (strcmp(baked->sets[i], b->sets[i - first].resolved.hash) != 0)
			return false;
	return true;
}

static int compare(bool *same, struct bake *b)
{
	opk_auto(opk_baked_file) struct opk_baked_file *baked = NULL;
	opk_autostrlist struct opk_strlist known = { 0 };

	TRY(opk_catalog_of_file(&b->catalog, b->ctx, b->file, b->meta->chip, b->meta->profiler));
	if (!b->catalog)
		return OPK_OK;
	TRY(begin_answers(b));
	TRY(list_also(b));
	TRY(list_metrics(b));
	TRY(opk_baked_open(&baked, b->ctx, b->file));
	TRY(opk_value_row_metrics(&known, b->ctx, b->file));
	*same = baked && has_same_sets(b, opk_baked_get(baked)) && known.count == b->named;
	for (size_t i = 0; *same && i < b->named; i++)
		*same = opk_strlist_contains(&known, b->metrics.items[i]);
	return OPK_OK;
}

/* Finds out whether only the images of a baked file are to be left out. */
static int find_kept(struct bake *b)
{
	__attribute__((cleanup(clear))) struct bake as = { .ctx = b->ctx,
		                                           .file = b->file,
		                                           .meta = b->meta,
		                                           .options = b->options,
		                                           .known_by = b->file };
	struct opk_errors_mark mark;
	int code;

	if (!b->options->only || !opk_file_is_baked(b->file))
		return OPK_OK;
	opk_errors_mark(&mark, b->ctx);
	code = compare(&b->keep, &as);
	opk_errors_rewind(b->ctx, &mark);
	return code == OPK_ENOMEM ? opk_nomem(b->ctx, "values") : OPK_OK;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static int write_how(struct bake *b)
{
	size_t most = b->options->set_count + 1;
	opk_autofree const char **sets = opk_alloc_array(2 * most, sizeof *sets);
	opk_autofree struct opk_baked_set *named = opk_alloc_array(most, sizeof *named);
	const char **definitions = sets + most;

	if (!sets || !named)
		return opk_nomem(b->ctx, "metric sets");
	TRY(opk_catalog_complete(b->catalog, b->ctx));
	TRY(opk_excerpt_make(&b->excerpt, b->ctx, b->catalog, &b->sink.names));
	b->baked.generator = "offpeak " PACKAGE_VERSION;
	b->baked.metrics = b->excerpt.items;
	b->baked.metric_count = b->excerpt.count;
	b->baked.sets = sets;
	b->baked.definitions = definitions;
	b->baked.named_sets = named;
	if (b->answers) {
		named[0] = (struct opk_baked_set){ "answers",
			                           opk_answers_metrics(b->answers)->count };
		definitions[b->baked.set_count] = opk_answers_definition(b->answers);
		sets[b->baked.set_count++] = opk_answers_set_hash(b->answers);
	}
	for (size_t i = 0; i < b->options->set_count; i++) {
		named[b->baked.set_count] = (struct opk_baked_set){
			opk_set_name(b->options->sets[i]), b->sets[i].meta.metric_count
		};
		definitions[b->baked.set_count] = b->sets[i].resolved.definition;
		sets[b->baked.set_count++] = b->sets[i].resolved.hash;
	}
	b->baked.definition_count = b->baked.named_set_count = b->baked.set_count;
	return opk_writer_add_baked(b->sink.writer, &b->baked);
}

static int write_values(struct bake *b)
{
	TRY(opk_catalog_new(&b->catalog, b->ctx, b->meta->chip, b->meta->profiler));
	TRY(begin_answers(b));
	TRY(list_also(b));
	TRY(list_metrics(b));
	TRY(opk_bake_rows(&b->baked, b->ctx, &b->sink, b->file, &b->metrics, b->named));
	if (*b->meta->join)
		TRY(opk_bake_joined(b->ctx, &b->sink, b->file, &b->metrics));
	b->sink.helpers = opk_strlist_items(&b->metrics) + b->named;
	b->sink.helper_count = b->metrics.count - b->named;
	for (size_t i = b->named; i < b->metrics.count; i++)
		TRY(add_also(b, b->metrics.items[i]));
	TRY(opk_summary_bake(b->ctx, b->file, &b->also, &b->sink));
	return write_how(b);
}

static int bake(struct bake *b, const char *path)
{
	opk_auto(opk_writer) struct opk_writer *writer = NULL;

	TRY(opk_check_output(b->ctx, path, OPK_OUTPUT_BAKED));
	TRY(opk_file_meta(&b->meta, b->ctx, b->file));
	TRY(check(b));
	TRY(find_kept(b));
	if (opk_file_is_baked(b->file) && !b->keep)
		opk_log(b->ctx,
		        "%s: it has values already: those of metrics that are not asked for again are "
		        "left out",
		        b->file->path);
	TRY(opk_writer_new_made(&writer, b->ctx, path, OPK_OUTPUT_BAKED));
	b->sink.writer = writer;
	TRY(copy_all(b));
	TRY(b->keep ? OPK_OK : write_values(b));
	return opk_writer_finish(writer);
}

int opk_bake(struct opk_ctx *ctx, struct opk_file *file, const struct opk_bake_options *options,
             const char *path)
{
	__attribute__((
		cleanup(clear))) struct bake b = { .ctx = ctx, .file = file, .options = options };
	int code = bake(&b, path);

	return code ? opk_add(ctx, code, "can't bake %s", file->path) : OPK_OK;
}
