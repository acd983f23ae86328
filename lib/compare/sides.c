/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the rows of all recordings with their values, in groups with the same key. */
#include <math.h>
#include <string.h>

#include "base/sum.h"
#include "compare/compare.h"
#include "eval/door.h"

/* One evaluation of a source, with buffers for one row. */
struct reader {
	struct opk_diff *diff;
	struct opk_ctx *ctx;
	struct opk_compared_source *source;
	struct opk_evaluation *evaluation;
	const size_t *numbers; /* the diff's numbers of its columns and of its other values */
	size_t column_count;
	double *values; /* in the diff's order */
	bool *present;
	bool *seen; /* columns that single launches have */
	bool of_means;
};

/* A row of one launch or of several. */
struct read_row {
	const char *name;
	const struct opk_range *range;
	uint64_t weight;            /* number of launches */
	bool is_sum;                /* its values are of all launches, not of one */
	const struct opk_row *code; /* the row, if it is of code */
	size_t function;            /* of code: its number */
};

static void clear(struct reader *r)
{
	free(r->values);
	free(r->present);
}

static int begin(struct reader *r)
{
	size_t columns = r->diff->columns.count + 1;

	r->column_count = opk_evaluation_column_count(r->evaluation);
	r->values = opk_alloc_array(columns, sizeof *r->values);
	r->present = opk_alloc_array(columns, sizeof *r->present);
	return r->values && r->present ? OPK_OK : opk_nomem(r->ctx, "a comparison");
}

/* ---- groups ----------------------------------------------------------------------------- */

static int add_group(size_t *out, struct reader *r, const char *name, const struct opk_range *range)
{
	struct opk_grouping *groups = &r->diff->groups;
	size_t before = groups->count;

	TRY(opk_grouping_add(out, groups, r->ctx, name, range));
	if (groups->count > before && !opk_list_add(&r->diff->about))
		return opk_nomem(r->ctx, "a comparison");
	return OPK_OK;
}

/*
 * Kernels are matched by name: their symbols differ if the same source in an unnamed namespace is
 * compiled again. A row without a kernel is matched by its own name. Facts about several launches
 * go to their group or are dropped: the launches may have several shapes.
 */
static int find_group(size_t *out, struct reader *r, const struct read_row *row)
{
	struct opk_grouping *groups = &r->diff->groups;
	struct opk_range range = { OPK_UNKNOWN_RANGE };
	bool nameless;

	if (row->range)
		range = *row->range;
	range.symbol = "";
	*out = SIZE_MAX;
	/* A row outside all NVTX ranges has nothing to match by. */
	if (groups->key == OPK_KEY_NVTX && !*range.nvtx)
		return OPK_OK;
	nameless = groups->key & OPK_KEY_KERNEL && !*range.kernel;
	if (nameless)
		range.kernel = row->name;
	if (r->of_means)
		return opk_grouping_find(out, groups, r->ctx, row->name, &range);
	TRY(add_group(out, r, row->name, &range));
	/* The name is freed with the row. */
	if (nameless)
		groups->groups[*out].range.kernel = "";
	else if (*range.kernel && !*groups->groups[*out].range.kernel)
		r->diff->about.items[*out].mixed = true;
	return OPK_OK;
}

static int find_code(size_t *out, struct reader *r, const struct read_row *read)
{
	const struct opk_row *row = read->code;
	opk_autofree char *key = opk_compared_code_key(r->diff, row);
	struct opk_compared_group *about;

	TRY(key ? add_group(out, r, key, row->range) : opk_nomem(r->ctx, "a comparison"));
	about = &r->diff->about.items[*out];
	about->code[r->source->side] = row->code;
	about->function = read->function;
	return OPK_OK;
}

/* A row of code has at least one launch, also where the number is unknown. */
static uint64_t launches_of(const struct read_row *row)
{
	uint64_t launches = row->code ? row->code->code->launches : row->weight;

	return launches ? launches : 1;
}

static int keep_row(struct reader *r, const struct read_row *row)
{
	struct opk_diff *diff = r->diff;
	enum opk_compared_side side = r->source->side;
	size_t group = 0, *at;
	uint64_t *weight;
	int code = row->code ? find_code(&group, r, row) : find_group(&group, r, row);

	if (!code && group == SIZE_MAX)
		diff->found.summary.unplaced += r->of_means;
	if (code || group == SIZE_MAX)
		return code;
	if (!r->of_means)
		opk_sum_add(&diff->about.items[group].launches[side], launches_of(row));
	at = opk_list_add(&diff->group_of[side]);
	weight = opk_list_add(&diff->weights[side]);
	if (!at || !weight)
		return opk_nomem(r->ctx, "a comparison");
	*at = group;
	*weight = row->weight;
	return opk_column_file_add(&diff->values[side], r->ctx, r->values, r->present);
}

/* ---- values ----------------------------------------------------------------------------- */

static void put_value(struct reader *r, size_t number, double value, bool present)
{
	bool known = r->of_means && r->seen[number];

	if (!present || known)
		return;
	r->values[number] = value;
	r->present[number] = true;
	if (!r->of_means)
		r->seen[number] = true;
}

/* Divides a sum by the launches that `merge --sum` added. */
static double of_launch(const struct reader *r, const struct read_row *row, size_t number,
                        double value)
{
	bool adds_up = r->diff->columns.items[number].traits.degree == 1;

	return row->is_sum && adds_up ? value / (double)row->weight : value;
}

static void fill_columns(struct reader *r, const struct read_row *row)
{
	const double *values = opk_evaluation_values(r->evaluation);
	const uint64_t *counts = opk_evaluation_counts(r->evaluation);

	for (size_t i = 0; i < r->column_count; i++)
		put_value(r, r->numbers[i], of_launch(r, row, r->numbers[i], values[i]),
		          counts[i] > 0);
}

static void fill_also(struct reader *r, const struct read_row *row)
{
	const struct opk_strlist *also = &r->source->also;
	const double *values = opk_evaluation_also(r->evaluation);

	for (size_t i = 0; i < also->count; i++) {
		bool maybe_of_other = (r->source->mode == OPK_COMPARED_PASSES && !r->of_means)
		                      || r->source->mode == OPK_COMPARED_CODE;
		size_t number = r->numbers[r->column_count + i];

		put_value(r, number, of_launch(r, row, number, values[i]),
		          !maybe_of_other || !isnan(values[i]));
	}
}

/*
 * Counts all samples of the recording, also those of rows that conditions leave out. Samples of
 * which launches are not known make shares of all samples.
 */
static int take_code(bool *wanted, struct reader *r, struct read_row *read)
{
	const struct opk_row *row = read->code;
	size_t samples = 0;

	opk_index_find(&samples, &r->diff->numbers, opk_compared_samples);
	TRY(opk_compared_add_function(&read->function, r->diff, r->ctx, r->source, row,
	                              r->present[samples] ? r->values[samples] : (double)NAN));
	for (size_t i = 0; i < r->diff->columns.count; i++)
		r->source->measured[i] |= r->present[i];
	if (r->present[samples]) {
		r->source->all_samples += r->values[samples];
		r->diff->found.summary.shares |= !row->code->launches_of[OPK_SAMPLED];
	}
	return opk_filter_accepts(wanted, r->ctx, r->diff->filter, OPK_PROFILER_SASS, row, 0);
}

static int take(struct reader *r, struct read_row *row)
{
	bool wanted = true;
	const struct opk_range *range = row->range;
	size_t duration = 0, mhz = 0;

	memset(r->present, 0, r->diff->columns.count * sizeof *r->present);
	opk_index_find(&duration, &r->diff->numbers, opk_compared_duration);
	if (range && range->duration_ns)
		put_value(r, duration, of_launch(r, row, duration, (double)range->duration_ns),
		          true);
	opk_index_find(&mhz, &r->diff->numbers, opk_compared_mhz);
	if (range && range->sm_mhz)
		put_value(r, mhz, range->sm_mhz, true);
	fill_columns(r, row);
	/* Launches on the timeline have no such values. */
	if (r->source->mode != OPK_COMPARED_RAN || r->of_means)
		fill_also(r, row);
	if (row->code)
		TRY(take_code(&wanted, r, row));
	return wanted ? keep_row(r, row) : OPK_OK;
}

/* ---- rows ------------------------------------------------------------------------------- */

/* Ranges joined into one launch count as one; otherwise each range counts. */
static uint64_t weight_of(const struct reader *r, const struct opk_row *row)
{
	if (row->ran)
		return row->ran->launches;
	if (row->code)
		return row->code->launches_of[OPK_COUNTED] ? row->code->launches_of[OPK_COUNTED]
		                                           : 1;
	if (row->joined)
		return r->source->mode == OPK_COMPARED_JOINED ? 1 : row->joined->ranges;
	return row->range && row->range->count ? row->range->count : 1;
}

static int take_row(struct reader *r, const struct opk_row *row)
{
	struct read_row read = {
		.name = row->name,
		.range = row->range,
		.weight = weight_of(r, row),
		.is_sum = !row->ran && !row->joined && row->range && row->range->count > 1,
		.code = row->code ? row : NULL,
	};

	if (row->ran && !strcmp(row->ran->kind, "idle"))
		return OPK_OK;
	return take(r, &read);
}

static int read_rows(struct reader *r)
{
	const struct opk_row *row;
	int code;

	while (!(code = opk_evaluation_next(&row, r->ctx, r->evaluation)) && row) {
		code = take_row(r, row);
		if (code)
			break;
	}
	return code;
}

static int read_evaluation(struct opk_diff *diff, struct opk_ctx *ctx,
                           struct opk_compared_source *source, bool *seen, bool means)
{
	struct reader r = {
		.diff = diff,
		.ctx = ctx,
		.source = source,
		.evaluation = means ? source->means : source->launches,
		.numbers = means ? source->columns_of_means : source->columns,
		.seen = seen,
		.of_means = means,
	};
	int code = begin(&r);

	if (!code)
		code = read_rows(&r);
	clear(&r);
	return code;
}

static int read_source(struct opk_diff *diff, struct opk_ctx *ctx,
                       struct opk_compared_source *source)
{
	opk_autofree bool *seen = opk_alloc_array(diff->columns.count + 1, sizeof *seen);

	source->first_row = diff->group_of[source->side].count;
	source->measured = opk_alloc_array(diff->columns.count + 1, sizeof *source->measured);
	TRY(seen && source->measured ? read_evaluation(diff, ctx, source, seen, false)
	                             : opk_nomem(ctx, "a comparison"));

	if (source->means)
		TRY(read_evaluation(diff, ctx, source, seen, true));
	return OPK_OK;
}

int opk_compared_read(struct opk_diff *diff, struct opk_ctx *ctx)
{
	for (int side = 0; side < OPK_SIDES; side++)
		TRY(opk_column_file_init(&diff->values[side], ctx, diff->columns.count));
	for (size_t i = 0; i < diff->source_count; i++)
		TRY(read_source(diff, ctx, &diff->sources[i]));
	if (!diff->groups.count && diff->groups.key == OPK_KEY_NVTX)
		return opk_fail(ctx, OPK_EUSAGE, "no row is in an NVTX range");
	return OPK_OK;
}
