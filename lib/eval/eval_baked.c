/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads values that a file has already, as if children had evaluated its images. */
#include <fcntl.h>
#include <math.h>
#include <string.h>

#include "baked/baked.h"
#include "base/file.h"
#include "base/spool.h"
#include "eval/eval_inside.h"

/* What is to be said of a metric of the job. */
struct remark_column {
	const struct opk_value_column *column;
	size_t metric, kind;
};

struct reading {
	struct opk_ctx *ctx;
	const struct opk_eval_job *job;
	const struct opk_baked *baked;
	FILE *spool;
	struct opk_value_walk walk;
	/* Tables of the same rows. */
	struct opk_value_table *tables;
	size_t table_count, table_capacity;
	const struct opk_value_column **columns; /* one per metric of the job; NULL: an attribute */
	const struct opk_value_column *starts, *ends, *spans, *names; /* or NULL */
	const struct opk_value_table *named;                          /* the table of `names` */
	OPK_LIST(struct remark_column) said;
	const char *lacking; /* the first such metric; NULL: other rows are asked for */
	bool lacks;          /* some metric is not among the values */
	bool begun;          /* the header was written */
	double *values;
	struct opk_remark *remarks; /* OPK_REMARK_KINDS per metric */
	size_t segment;             /* of the next row */
	uint64_t row, number;       /* in the segment; in the file */
	uint64_t dropped;
	struct opk_spool_trailer counts;
};

static void clear(struct reading *r)
{
	for (size_t i = 0; i < r->table_count; i++)
		opk_value_table_clear(&r->tables[i]);
	opk_value_walk_clear(&r->walk);
	free(r->tables);
	free(r->said.items);
	free(r->columns);
	free(r->values);
	free(r->remarks);
	if (r->spool)
		fclose(r->spool);
}

/* ---- the spool ------------------------------------------------------------------------------- */

static void put(struct reading *r, const void *data, size_t size)
{
	if (size)
		fwrite(data, size, 1, r->spool);
}

static void put_bytes(struct reading *r, const char *text, size_t most)
{
	uint64_t size = strnlen(text, most);

	put(r, &size, sizeof size);
	put(r, text, size);
}

static void put_header(struct reading *r)
{
	const struct opk_baked *baked = r->baked;
	struct opk_spool_header header = {
		.profiler = (int32_t)r->job->profiler,
		.versions = { baked->cupti_version, baked->nvperf_year, baked->nvperf_number },
	};

	snprintf(header.chip, sizeof header.chip, "%s", r->job->chip);
	put(r, &header, sizeof header);
	for (size_t i = 0; i < r->job->metric_count; i++)
		put_bytes(r,
		          r->columns[i] ? r->columns[i]->other
		                        : opk_attribute_unit(r->job->metrics[i]),
		          OPK_MAX_UNIT);
	r->begun = true;
}

static void put_trailer(struct reading *r)
{
	for (size_t i = 0; i < OPK_REMARK_KINDS * r->job->metric_count; i++) {
		r->remarks[i].metric = i / OPK_REMARK_KINDS;
		r->remarks[i].kind = i % OPK_REMARK_KINDS;
		if (!r->remarks[i].rows)
			continue;
		put(r, &r->remarks[i], sizeof r->remarks[i]);
		r->counts.remarks++;
	}
	for (size_t i = 0; i < r->baked->image_count; i++)
		if (r->job->end > r->job->first)
			r->counts.incomplete_samples += r->baked->images[i].incomplete;
	put(r, &r->counts, sizeof r->counts);
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* What the images said of the row. */
static void describe(struct opk_spool_row *out, const char **name, const struct reading *r,
                     uint64_t entry)
{
	uint64_t text = r->names ? r->names->entries[entry] : 0;

	*out = (struct opk_spool_row){
		.segment = r->segment,
		.row = r->row,
		.start_ns = r->starts ? r->starts->entries[entry] : 0,
		.end_ns = r->ends ? r->ends->entries[entry] : 0,
		.spans_earlier = r->spans && r->spans->entries[entry],
	};
	*name = text ? opk_value_table_text(r->named, text) : "";
}

static int is_wanted(bool *wanted, struct reading *r, const struct opk_spool_row *row,
                     const char *name)
{
	struct opk_row as = { .index = r->number,
		              .name = name,
		              .start_ns = row->start_ns,
		              .end_ns = row->end_ns,
		              .spans_earlier = row->spans_earlier };
	struct opk_range room;

	*wanted = !r->job->unwanted[r->segment];
	if (!*wanted || !r->job->filter)
		return OPK_OK;
	opk_segment_describe(&as, &room, &r->job->segments[r->segment], r->row);
	return opk_filter_accepts(wanted, r->ctx, r->job->filter, r->job->profiler, &as, 0);
}

/* The metric of the job that a remark is of; or their number. */
static size_t metric_of(const struct reading *r, const struct opk_value_column *remark)
{
	size_t i = 0;

	while (i < r->job->metric_count && strcmp(r->job->metrics[i], remark->name))
		i++;
	return i;
}

static void add_remarks(struct reading *r, uint64_t entry)
{
	for (size_t i = 0; i < r->said.count; i++) {
		const struct remark_column *said = &r->said.items[i];
		struct opk_remark one = { .rows = 1 };

		one.least = one.most = opk_double_of(said->column->entries[entry]);
		if (isnan(one.most))
			continue;
		snprintf(one.part, sizeof one.part, "%s", said->column->other);
		opk_remark_add(&r->remarks[OPK_REMARK_KINDS * said->metric + said->kind], &one);
	}
}

static void put_row(struct reading *r, struct opk_spool_row *row, const char *name, uint64_t entry)
{
	size_t count = r->job->metric_count;

	for (size_t i = 0; i < count; i++) {
		r->values[i] = r->columns[i] ? opk_double_of(r->columns[i]->entries[entry])
		                             : (double)NAN;
		opk_remark_above(&r->remarks[OPK_REMARK_KINDS * i + OPK_ABOVE_WHOLE],
		                 &r->job->metrics[i], &r->values[i], 1);
	}
	add_remarks(r, entry);
	row->dropped = r->dropped;
	r->dropped = 0;
	r->counts.stored++;
	put(r, row, sizeof *row);
	put_bytes(r, name, OPK_MAX_RANGE_NAME);
	put(r, r->values, count * sizeof *r->values);
}

static void skip_ended_segments(struct reading *r)
{
	while (r->segment < r->baked->image_count && r->row == r->baked->images[r->segment].rows) {
		r->segment++;
		r->row = 0;
	}
}

/* Whether the next image is in the same file of a joint one as the values. */
static bool is_of_part(const struct reading *r)
{
	size_t image = r->job->segments[r->segment].image;

	return r->job->file->sections[image].part == r->tables->part;
}

static int take_row(struct reading *r, uint64_t entry)
{
	struct opk_spool_row row;
	const char *name;
	bool wanted;

	skip_ended_segments(r);
	if (r->segment == r->baked->image_count || !is_of_part(r))
		return opk_fail(r->ctx, OPK_EINPUT, "it has values of more rows than images");
	describe(&row, &name, r, entry);
	TRY(is_wanted(&wanted, r, &row, name));
	if (wanted)
		put_row(r, &row, name, entry);
	else
		r->dropped++;
	r->counts.rows++;
	r->number++;
	r->row++;
	return OPK_OK;
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* Takes it from the first of the tables that has it; NULL: none has. */
static int find_column(const struct opk_value_column **out, struct reading *r, uint32_t role,
                       const char *name)
{
	*out = NULL;
	for (size_t i = 0; i < r->table_count; i++) {
		*out = opk_value_table_find(&r->tables[i], role, name);
		if (!*out)
			continue;
		r->named = role == OPK_VALUE_NAME ? &r->tables[i] : r->named;
		return opk_value_column_need(&r->tables[i], r->ctx, *out);
	}
	return OPK_OK;
}

static int find_metrics(struct reading *r)
{
	for (size_t i = 0; i < r->job->metric_count; i++) {
		const char *metric = r->job->metrics[i];

		r->columns[i] = NULL;
		if (opk_attribute_is_name(metric))
			continue;
		TRY(find_column(&r->columns[i], r, OPK_VALUE_METRIC, metric));
		if (!r->columns[i] && !r->lacks)
			r->lacking = metric;
		r->lacks |= !r->columns[i];
	}
	return OPK_OK;
}

static int find_said(struct reading *r, struct opk_value_table *table)
{
	for (size_t i = 0; i < table->column_count; i++) {
		const struct opk_value_column *column = &table->columns[i];
		size_t kind = column->role - OPK_VALUE_REMARK, metric;
		struct remark_column *said;

		if (column->role < OPK_VALUE_REMARK || kind >= OPK_THROUGHPUT_KINDS)
			continue;
		metric = metric_of(r, column);
		if (metric == r->job->metric_count)
			continue;
		TRY(opk_value_column_need(table, r->ctx, column));
		said = opk_list_add(&r->said);
		if (!said)
			return opk_nomem(r->ctx, "remarks");
		*said = (struct remark_column){ column, metric, kind };
	}
	return OPK_OK;
}

static int find_columns(struct reading *r)
{
	TRY(find_metrics(r));
	TRY(find_column(&r->starts, r, OPK_VALUE_START, NULL));
	TRY(find_column(&r->ends, r, OPK_VALUE_END, NULL));
	TRY(find_column(&r->spans, r, OPK_VALUE_SPANS, NULL));
	TRY(find_column(&r->names, r, OPK_VALUE_NAME, NULL));
	r->said.count = 0;
	for (size_t i = 0; i < r->table_count; i++)
		TRY(find_said(r, &r->tables[i]));
	return OPK_OK;
}

/* The tables of some rows are complete. */
static int take_rows(struct reading *r)
{
	enum { BETWEEN_INTERRUPTS = 1 << 16 };
	uint64_t count = r->table_count ? r->tables->count : 0;

	if (!r->table_count)
		return OPK_OK;
	TRY(find_columns(r));
	if (r->lacks)
		return OPK_OK;
	if (!r->begun)
		put_header(r);
	for (uint64_t i = 0; i < count && r->job->end > r->job->first; i++) {
		TRY(i % BETWEEN_INTERRUPTS ? OPK_OK : opk_check_interrupt(r->ctx));
		TRY(take_row(r, i));
	}
	while (r->table_count)
		opk_value_table_clear(&r->tables[--r->table_count]);
	return OPK_OK;
}

static int take_table(struct reading *r, struct opk_value_table *table)
{
	struct opk_value_table *added;

	if (r->table_count && (table->first != r->tables->first || table->part != r->tables->part))
		TRY(take_rows(r));
	if (r->lacks)
		return OPK_OK;
	added = opk_append(&r->tables, &r->table_capacity, &r->table_count, sizeof *r->tables);
	if (!added)
		return opk_nomem(r->ctx, "values");
	*added = *table;
	*table = (struct opk_value_table){ 0 };
	return OPK_OK;
}

static int read_tables(struct reading *r)
{
	r->walk = (struct opk_value_walk){ .ctx = r->ctx,
		                           .file = r->job->file,
		                           .kind = OPK_VALUES_OF_ROWS };
	for (bool found = true; found && !r->lacks;) {
		opk_autovalues struct opk_value_table table = { 0 };

		TRY(opk_value_walk_next(&found, &table, &r->walk));
		if (found)
			TRY(take_table(r, &table));
	}
	TRY(r->lacks ? OPK_OK : take_rows(r));
	skip_ended_segments(r);
	if (!r->begun)
		r->lacks = true;
	if (!r->lacks && r->job->end > r->job->first && r->segment < r->baked->image_count)
		return opk_fail(r->ctx, OPK_EINPUT, "it lacks the values of some rows");
	return OPK_OK;
}

/* ---- joined rows ----------------------------------------------------------------------------- */

static int take_joined(struct reading *r)
{
	const struct opk_joining *joining = r->job->joining;
	struct opk_value_table *table = opk_append(&r->tables, &r->table_capacity, &r->table_count,
	                                           sizeof *r->tables);
	struct opk_value_groups groups;
	bool found;

	if (!table)
		return opk_nomem(r->ctx, "values");
	groups = opk_joining_groups(joining, r->job);
	TRY(opk_value_groups_gather(&found, table, r->ctx, r->job->file, &groups));
	r->lacks = !found;
	if (!found)
		return OPK_OK;
	TRY(find_columns(r));
	put_header(r);
	for (size_t i = 0; i < joining->count; i++) {
		struct opk_spool_row row = { .row = i };

		put_row(r, &row, "", i);
		r->counts.rows++;
	}
	return OPK_OK;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static int allocate(struct reading *r)
{
	size_t count = r->job->metric_count;
	int fd;

	r->columns = opk_alloc_array(count + 1, sizeof *r->columns);
	r->values = opk_alloc_array(count + 1, sizeof *r->values);
	r->remarks = opk_alloc_array(OPK_REMARK_KINDS * count + 1, sizeof *r->remarks);
	if (!r->columns || !r->values || !r->remarks)
		return opk_nomem(r->ctx, "values");
	TRY(opk_spool_new(&fd, r->ctx));
	r->spool = fdopen(fd, "w+");
	if (r->spool)
		return OPK_OK;
	close(fd);
	return opk_nomem(r->ctx, "values");
}

/* Hands what was written over as a child's result. */
static int finish(struct reading *r, struct opk_spools *spools)
{
	int fd;

	put_trailer(r);
	if (fflush(r->spool) || ferror(r->spool))
		return opk_spool_fail(r->ctx);
	fd = fcntl(fileno(r->spool), F_DUPFD_CLOEXEC, 3);
	if (fd < 0)
		return opk_spool_fail(r->ctx);
	TRY(opk_spools_init(spools, r->ctx, 1));
	return opk_result_open(spools->results, r->ctx, fd);
}

/* With images, NVIDIA's libraries give the values. */
static int explain(struct reading *r)
{
	const struct opk_file *file = r->job->file;

	if (opk_file_find(file, OPK_SECTION_LEFT_OUT) < 0)
		return OPK_OK;
	if (!r->lacking && !r->job->joining)
		return opk_fail(r->ctx, OPK_EINPUT, "it lacks the values of its rows");
	if (!r->lacking)
		TRY(opk_baked_find_lacking(&r->lacking, r->ctx, file, r->job->metrics,
		                           r->job->metric_count));
	if (!r->lacking)
		return opk_baked_check_images(r->ctx, file,
		                              r->job->filter
		                                      ? "a mean of only some of a row's ranges"
		                                      : "joining these ranges");
	return opk_baked_lacks(r->ctx, file, r->lacking);
}

int opk_eval_by_baked(bool *served, struct opk_spools *spools, struct opk_ctx *ctx,
                      const struct opk_eval_job *job)
{
	__attribute__((cleanup(clear))) struct reading r = { .ctx = ctx, .job = job };
	opk_auto(opk_baked_file) struct opk_baked_file *file = NULL;

	*served = false;
	if (!job->file || job->bins || job->apart)
		return OPK_OK;
	TRY(opk_baked_open(&file, ctx, job->file));
	if (!file)
		return OPK_OK;
	r.baked = opk_baked_get(file);
	if (job->end > job->first)
		TRY(opk_baked_check_segments(ctx, r.baked, job->segments, job->end));
	TRY(allocate(&r));
	TRY(job->joining ? take_joined(&r) : read_tables(&r));
	if (r.lacks)
		return explain(&r);
	*served = true;
	return finish(&r, spools);
}
