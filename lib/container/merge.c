/* SPDX-License-Identifier: BSD-2-Clause */
/* Merges recordings. */
#include <string.h>

#include "base/index.h"
#include "base/metric.h"
#include "base/option_struct.h"
#include "container/container.h"

/* ---- metadata that all recordings share -------------------------------------------------- */

/* Borrows from the first recording's metadata. */
struct common_meta {
	struct opk_meta meta;
	struct opk_index metrics; /* of the first: name to number */
	bool *is_inflated;        /* one a metric: in any recording */
	const char **inflated;
	struct opk_property *run; /* facts that all share */
	bool many_hosts;          /* several hosts or GPUs: each row must name its own */
};

static bool allocate_common(struct common_meta *common, const struct opk_meta *first)
{
	common->is_inflated = opk_alloc_array(first->metric_count, sizeof *common->is_inflated);
	common->inflated = opk_alloc_array(first->metric_count, sizeof *common->inflated);
	common->run = opk_alloc_array(first->run_count + 1, sizeof *common->run);
	if (!common->is_inflated || !common->inflated || !common->run)
		return false;
	for (size_t i = 0; i < first->metric_count; i++)
		if (!opk_index_add(&common->metrics, first->metrics[i], i, NULL))
			return false;
	return true;
}

static int begin_common(struct common_meta *common, struct opk_ctx *ctx,
                        const struct opk_meta *first)
{
	*common = (struct common_meta){ .meta = *first };
	if (!allocate_common(common, first))
		return opk_nomem(ctx, "metadata");
	if (first->run_count)
		memcpy(common->run, first->run, first->run_count * sizeof *common->run);
	common->meta.run = common->run;
	common->meta.inflated = common->inflated;
	common->meta.inflated_count = 0;
	common->meta.made_by = "";
	return OPK_OK;
}

static void clear_common(struct common_meta *common)
{
	opk_index_clear(&common->metrics);
	free(common->is_inflated);
	free(common->inflated);
	free(common->run);
	*common = (struct common_meta){ 0 };
}

/* A metric that is inflated in one recording counts as inflated in all. */
static void add_inflated(struct common_meta *common, const struct opk_meta *meta)
{
	for (size_t i = 0; i < meta->inflated_count; i++) {
		size_t metric;

		if (!opk_index_find(&metric, &common->metrics, meta->inflated[i])
		    || common->is_inflated[metric])
			continue;
		common->is_inflated[metric] = true;
		common->inflated[common->meta.inflated_count++] = common->meta.metrics[metric];
	}
}

/* Drops facts that differ: one host's facts would seem true for ranges of others. */
static int keep_common_facts(struct common_meta *common, struct opk_ctx *ctx,
                             const struct opk_meta *meta)
{
	opk_autoindex struct opk_index facts = { 0 };
	size_t kept = 0, at;

	for (size_t i = 0; common->meta.run_count && i < meta->run_count; i++)
		if (!opk_index_add(&facts, meta->run[i].name, i, NULL))
			return opk_nomem(ctx, "metadata");
	for (size_t i = 0; i < common->meta.run_count; i++)
		if (opk_index_find(&at, &facts, common->run[i].name)
		    && !strcmp(common->run[i].value, meta->run[at].value))
			common->run[kept++] = common->run[i];
		else
			common->many_hosts |= opk_fact_is_origin(common->run[i].name);
	for (size_t i = 0; i < meta->run_count; i++)
		common->many_hosts |= opk_fact_is_origin(meta->run[i].name)
		                      && !opk_property_find(common->run, kept, meta->run[i].name);
	common->meta.run_count = kept;
	return OPK_OK;
}

static const char *common_text(const char *so_far, const char *one, const char *otherwise)
{
	return strcmp(so_far, one) ? otherwise : so_far;
}

/* Whether it has only records of what ran, without metrics. */
static bool has_records_alone(const struct opk_meta *meta)
{
	return meta->profiler == OPK_PROFILER_PM && !meta->metric_count;
}

static int add_common(struct common_meta *common, struct opk_ctx *ctx, const struct opk_meta *meta)
{
	struct opk_meta *all = &common->meta;

	if (all->profiler != meta->profiler || (has_records_alone(meta) && !has_records_alone(all)))
		return keep_common_facts(common, ctx, meta);
	all->mode = common_text(all->mode, meta->mode, "mixed");
	all->backend = common_text(all->backend, meta->backend, "mixed");
	all->config_hash = common_text(all->config_hash, meta->config_hash, "");
	all->source = common_text(all->source, meta->source, "");
	all->keep_instances &= meta->keep_instances;
	add_inflated(common, meta);
	return keep_common_facts(common, ctx, meta);
}

/* ---- whether recordings can be merged --------------------------------------------------- */

/* The tables that describe the images of the first part that has any. */
struct tables {
	const char *path; /* NULL: none so far */
	bool ranges, times;
	int64_t shift;
};

struct opk_merger {
	struct opk_ctx *ctx;
	const char *join; /* overrides the first file's; or NULL */
	struct opk_file *first;
	const struct opk_meta *meta; /* the first's */
	struct common_meta common;   /* of all files */
	struct tables tables;
	struct opk_twice twice;
	struct opk_modules modules;
	bool valued; /* some file has values, which no merged file has */
};

static bool same_names(const char *const *a, size_t a_count, const char *const *b, size_t b_count)
{
	bool same = a_count == b_count;

	for (size_t i = 0; same && i < a_count; i++)
		same = !strcmp(a[i], b[i]);
	return same;
}

static bool same_passes(const struct opk_meta *a, const struct opk_meta *b)
{
	bool same = a->passes == b->passes && a->metric_pass_count == b->metric_pass_count;

	for (size_t i = 0; same && i < a->metric_pass_count; i++) {
		const struct opk_pass_list *x = &a->metric_passes[i], *y = &b->metric_passes[i];

		same = x->count == y->count
		       && (!x->count
		           || !memcmp(x->passes, y->passes, x->count * sizeof *x->passes));
	}
	return same;
}

/* Whether the part has only counts of instructions, which name their metrics themselves. */
static bool has_counts_alone(const struct opk_file *file, const struct opk_meta *meta)
{
	return opk_profiler_is_code(meta->profiler) && opk_file_find(file, OPK_SECTION_DATA) < 0;
}

/* Counts of instructions go with others, and with counters of ranges, which the metadata say. */
static bool can_join_profilers(const struct opk_meta *first, const struct opk_file *file,
                               const struct opk_meta *meta)
{
	return meta->profiler == first->profiler
	       || (has_counts_alone(file, meta)
	           && (first->profiler == OPK_PROFILER_RANGE
	               || opk_profiler_is_code(first->profiler)));
}

static bool leaves_metadata(const struct opk_file *file, const struct opk_meta *meta)
{
	return has_counts_alone(file, meta) || has_records_alone(meta);
}

/* All parts must agree on how the rows of the merged file are read. */
static int check_meta(struct opk_merger *m, const struct opk_file *file, const char *path,
                      const struct opk_meta *meta)
{
	const struct opk_meta *first = m->meta;
	const char *first_path = m->first->path;
	bool same;

	if (strcmp(meta->chip, first->chip) || !can_join_profilers(first, file, meta))
		return opk_fail(
			m->ctx, OPK_EUSAGE,
			"%s is of %s and profiler %s, %s of %s and profiler %s: they can't be "
			"merged",
			path, meta->chip, opk_profiler_name(meta->profiler), first_path,
			first->chip, opk_profiler_name(first->profiler));
	if (leaves_metadata(file, meta))
		return OPK_OK;
	if (!same_names(meta->metrics, meta->metric_count, first->metrics, first->metric_count))
		return opk_fail(m->ctx, OPK_EUSAGE, "%s: its metrics differ from those of %s", path,
		                first_path);
	if ((*meta->join || *first->join) && !same_passes(meta, first))
		return opk_fail(m->ctx, OPK_EUSAGE,
		                "%s: its metrics are in other passes than those of %s", path,
		                first_path);
	TRY(opk_meta_same_set(&same, m->ctx, meta, first));
	if (!same)
		return opk_fail(m->ctx, OPK_EUSAGE,
		                "%s: version, labels, derived metrics or columns of "
		                "its set differ from those of %s",
		                path, first_path);
	if (!m->join && strcmp(meta->join, first->join))
		return opk_fail(m->ctx, OPK_EUSAGE,
		                "%s: its ranges are joined by '%s', those of %s by "
		                "'%s'",
		                path, meta->join, first_path, first->join);
	return OPK_OK;
}

/* Refuses to mix rows with and without facts, or rows on two clocks. */
static int check_tables(struct opk_merger *m, const struct opk_file *file, const char *path,
                        const struct opk_meta *meta)
{
	struct tables has = {
		.path = path,
		.ranges = opk_file_find(file, OPK_SECTION_RANGES) >= 0,
		.times = opk_file_find(file, OPK_SECTION_TIMES) >= 0,
		.shift = meta->gpu_time_shift,
	};
	const struct tables *first = &m->tables;

	if (opk_file_find(file, OPK_SECTION_DATA) < 0)
		return OPK_OK;
	if (!first->path)
		m->tables = has;
	if (has.ranges != first->ranges || has.times != first->times)
		return opk_fail(m->ctx, OPK_EUSAGE,
		                "%s: only one of it and %s has %s, so they can't be one recording; "
		                "readers take several files",
		                path, first->path,
		                has.ranges != first->ranges ? "a range table" : "times of samples");
	if (!has.ranges && !has.times && has.shift != first->shift)
		return opk_fail(m->ctx, OPK_EUSAGE,
		                "%s: its clock differs from that of %s, and no "
		                "host times are recorded",
		                path, first->path);
	return OPK_OK;
}

static int open_part(struct opk_file **out, const struct opk_meta **meta, struct opk_ctx *ctx,
                     const char *path)
{
	opk_auto(opk_file) struct opk_file *file = NULL;

	TRY(opk_file_open(&file, ctx, path));
	TRY(opk_file_meta(meta, ctx, file));
	TRY(opk_file_check_complete(ctx, file, OPK_REMEDY_RECOVER));
	if (opk_meta_is_probe(*meta))
		return opk_fail(ctx, OPK_EUSAGE, "%s: is a probe of a GPU, not a recording", path);
	if (opk_file_find(file, OPK_SECTION_LEFT_OUT) >= 0)
		return opk_fail(ctx, OPK_EUSAGE,
		                "%s: merging needs counters, and there are only values: merge the "
		                "recordings that were baked, or give readers several files",
		                path);
	*out = opk_take(file);
	return OPK_OK;
}

/* Checks one part; all are checked before the first is copied. Closes it, as parts may be many. */
static int check_part(struct opk_merger *m, const char *path, size_t number)
{
	opk_auto(opk_file) struct opk_file *file = NULL;
	const struct opk_segment *segments;
	const struct opk_meta *meta;
	size_t count;

	TRY(open_part(&file, &meta, m->ctx, path));
	TRY(check_meta(m, file, path, meta));
	TRY(check_tables(m, file, path, meta));
	/* Its tables and images have to belong together one to one. */
	TRY(opk_file_segments(&segments, &count, m->ctx, file));
	TRY(add_common(&m->common, m->ctx, meta));
	m->valued |= opk_file_find(file, OPK_SECTION_BAKED) >= 0;
	TRY(opk_modules_add(&m->modules, m->ctx, file, number));
	return opk_twice_add(&m->twice, m->ctx, file);
}

/* If hosts or GPUs differ, each row and record gets those that the facts of its file name. */
static int add_placed_rows(struct opk_merger *m, struct opk_writer *writer,
                           const struct opk_segment *segment)
{
	opk_autofree struct opk_range *rows = NULL;

	if (segment->ranges || !segment->times)
		return opk_writer_add_ranges(writer, segment->ranges,
		                             segment->ranges ? segment->row_count : 0,
		                             sizeof(struct opk_range));
	rows = opk_alloc_array(segment->row_count, sizeof *rows);
	if (!rows)
		return opk_nomem(m->ctx, "a range table");
	for (size_t i = 0; i < segment->row_count; i++) {
		rows[i] = (struct opk_range){ OPK_UNKNOWN_RANGE };
		rows[i].device = (int32_t)segment->times[i].device;
		rows[i].host = segment->host;
		rows[i].gpu = segment->gpu;
		rows[i].rank = segment->rank;
	}
	return opk_writer_add_ranges(writer, rows, segment->row_count, sizeof(struct opk_range));
}

static int copy_placed(struct opk_merger *m, struct opk_writer *writer, const struct opk_file *file,
                       const struct opk_segment *segment)
{
	size_t image = segment->image, i = image;

	TRY(opk_writer_copy(writer, file, image));
	while ((i = opk_file_next_attached(file, image, i)) != SIZE_MAX)
		if (file->sections[i].type != OPK_SECTION_RANGES)
			TRY(opk_writer_copy(writer, file, i));
	if (opk_segment_is_counted(segment))
		TRY(add_placed_rows(m, writer, segment));
	return OPK_OK;
}

static int copy_placed_counts(struct opk_merger *m, struct opk_writer *writer,
                              const struct opk_file *file, size_t section,
                              const struct opk_meta *meta)
{
	opk_autoinstructions struct opk_instruction_block block = { 0 };

	TRY(opk_instruction_block_read(&block, m->ctx, file, section));
	opk_instructions_place(block.rows, block.table.count, meta);
	return opk_writer_add_instructions(writer, &block.table);
}

/* All records of what ran go into one section. */
static int copy_placed_records(struct opk_merger *m, struct opk_writer *writer,
                               struct opk_file *file)
{
	const struct opk_activity *activities;
	size_t count;

	TRY(opk_file_activities(&activities, &count, m->ctx, file));
	return count ? opk_writer_add_activities(writer, activities, count) : OPK_OK;
}

/* A file while it is copied. */
struct part {
	struct opk_file *file;
	const struct opk_meta *meta;
	size_t number; /* of the file */
	const struct opk_segment *segments;
	size_t segment; /* the next one */
};

static int begin_part(struct opk_merger *m, struct opk_writer *writer, struct part *part)
{
	size_t count;

	TRY(opk_file_meta(&part->meta, m->ctx, part->file));
	TRY(opk_file_segments(&part->segments, &count, m->ctx, part->file));
	return m->common.many_hosts ? copy_placed_records(m, writer, part->file) : OPK_OK;
}

/* Copies a section that is neither an image nor belongs to one. */
static int copy_record(struct opk_merger *m, struct opk_writer *writer, const struct part *part,
                       size_t i)
{
	bool placed = m->common.many_hosts;

	switch (part->file->sections[i].type) {
	case OPK_SECTION_STATS:
		return opk_writer_copy(writer, part->file, i);
	case OPK_SECTION_ACTIVITIES:
		return placed ? OPK_OK : opk_writer_copy(writer, part->file, i);
	case OPK_SECTION_INSTRUCTIONS:
		return placed ? copy_placed_counts(m, writer, part->file, i, part->meta)
		              : opk_writer_copy(writer, part->file, i);
	case OPK_SECTION_CODE:
		return opk_modules_keep(&m->modules, part->number, i)
		               ? opk_writer_copy(writer, part->file, i)
		               : OPK_OK;
	default:
		return OPK_OK;
	}
}

int opk_merger_copy_records(struct opk_merger *m, struct opk_writer *writer, struct opk_file *file,
                            size_t number)
{
	struct part part = { .file = file, .number = number };

	TRY(begin_part(m, writer, &part));
	for (size_t i = 0; i < file->section_count; i++)
		TRY(copy_record(m, writer, &part, i));
	return OPK_OK;
}

/* Copies an image with the sections attached to it. */
static int copy_image(struct opk_merger *m, struct opk_writer *writer, struct part *part, size_t i)
{
	if (m->common.many_hosts)
		return copy_placed(m, writer, part->file, &part->segments[part->segment++]);
	TRY(opk_writer_copy(writer, part->file, i));
	return opk_writer_copy_tables(writer, part->file, i);
}

static int copy_part(struct opk_merger *m, struct opk_writer *writer, const char *path,
                     size_t number)
{
	opk_auto(opk_file) struct opk_file *file = NULL;
	struct part part = { .number = number };

	TRY(opk_file_open(&file, m->ctx, path));
	part.file = file;
	TRY(begin_part(m, writer, &part));
	for (size_t i = 0; i < file->section_count; i++)
		TRY(file->sections[i].type == OPK_SECTION_DATA ? copy_image(m, writer, &part, i)
		                                               : copy_record(m, writer, &part, i));
	return OPK_OK;
}

int opk_merger_put_head(struct opk_merger *m, struct opk_writer *writer, const char *join)
{
	struct opk_meta meta = m->common.meta;

	if (join)
		meta.join = join;
	TRY(opk_writer_add_meta(writer, &meta));
	for (size_t i = 0; i < m->first->section_count; i++) {
		uint32_t type = m->first->sections[i].type;

		if (opk_is_of_plan(type) || type == OPK_SECTION_AVAILABILITY)
			TRY(opk_writer_copy(writer, m->first, i));
	}
	return OPK_OK;
}

/* The first file has the metadata, unless it leaves them to another. */
static int open_first(struct opk_merger *m, const char *const *paths, size_t count)
{
	TRY(open_part(&m->first, &m->meta, m->ctx, paths[0]));
	for (size_t i = 1; i < count && leaves_metadata(m->first, m->meta); i++) {
		opk_auto(opk_file) struct opk_file *file = NULL;
		const struct opk_meta *meta;

		TRY(open_part(&file, &meta, m->ctx, paths[i]));
		if (leaves_metadata(file, meta))
			continue;
		opk_file_free(m->first);
		m->first = opk_take(file);
		m->meta = meta;
	}
	return OPK_OK;
}

static int check_all(struct opk_merger *m, const char *const *paths, size_t count)
{
	TRY(open_first(m, paths, count));
	TRY(begin_common(&m->common, m->ctx, m->meta));
	for (size_t i = 0; i < count; i++)
		TRY(check_part(m, paths[i], i));
	return OPK_OK;
}

int opk_merger_new(struct opk_merger **out, struct opk_ctx *ctx, const char *const *paths,
                   size_t count, const char *join)
{
	opk_auto(opk_merger) struct opk_merger *m = opk_alloc(sizeof *m);

	if (!count)
		return opk_fail(ctx, OPK_EUSAGE, "nothing to merge");
	if (!m)
		return opk_nomem(ctx, "metadata");
	m->ctx = ctx;
	m->join = join;
	TRY(check_all(m, paths, count));
	*out = opk_take(m);
	return OPK_OK;
}

void opk_merger_free(struct opk_merger *m)
{
	if (!m)
		return;
	clear_common(&m->common);
	opk_twice_clear(&m->twice);
	opk_modules_clear(&m->modules);
	opk_file_free(m->first);
	free(m);
}

void opk_merger_note_twice(const struct opk_merger *m)
{
	opk_twice_note(&m->twice, m->ctx);
}

int opk_merger_check_run(const struct opk_merger *m)
{
	if (m->twice.found.count)
		return opk_fail(m->ctx, OPK_EUSAGE, "%s", m->twice.found.items[0]);
	if (m->common.many_hosts)
		return opk_fail(m->ctx, OPK_EUSAGE,
		                "the files are of different hosts or GPUs, and not one run: merge "
		                "them first, or take those of each host by themselves");
	return OPK_OK;
}

const struct opk_meta *opk_merger_meta(const struct opk_merger *m)
{
	return m->meta;
}

const struct opk_meta *opk_merger_common(const struct opk_merger *m)
{
	return &m->common.meta;
}

int opk_merge(struct opk_ctx *ctx, const char *const *paths, size_t count,
              const struct opk_merge_options *given, const char *path)
{
	OPK_OPTIONS(opk_merge_options, options, given);
	opk_auto(opk_merger) struct opk_merger *m = NULL;
	opk_auto(opk_writer) struct opk_writer *writer = NULL;
	enum opk_output output = options.original ? OPK_OUTPUT_RECORDING : OPK_OUTPUT_MERGED;

	TRY(opk_check_output(ctx, path, output));
	TRY(opk_merger_new(&m, ctx, paths, count, options.join));
	opk_twice_note(&m->twice, ctx);
	if (m->valued)
		opk_log(ctx, "%s: has no values, which are of single recordings: bake it again",
		        path);
	TRY(opk_writer_new_made(&writer, ctx, path, output));
	/* A collector's files are joined while others wait for them, as for a dump. */
	if (options.original)
		opk_writer_hurry(writer);
	TRY(opk_merger_put_head(m, writer, m->join));
	for (size_t i = 0; i < count; i++)
		TRY(copy_part(m, writer, paths[i], i));
	return opk_writer_finish(writer);
}
