/* SPDX-License-Identifier: BSD-2-Clause */
/* Joins ranges that have one group's metrics each: a hash table over what they have in common. */
#include <math.h>
#include <string.h>

#include "domain/eval.h"
#include "domain/measured.h"

enum join_kind { JOIN_KERNEL, JOIN_LAUNCH, JOIN_NAME };

/* A row in the making: its values are sums. */
struct joined {
	struct opk_joined_row row;
	char *name; /* owned: the evaluation's own is gone with its next row */
	double *values;
	uint64_t *counts;
	double durations;
	uint64_t duration_count;
	uint64_t hash;
};

struct opk_join {
	enum join_kind kind;
	size_t metric_count;
	struct joined *rows;
	size_t count;
	size_t capacity;
	size_t *slots; /* open addressing: index of a row + 1, or 0 */
	size_t slot_count; /* a power of two */
	uint64_t left_out;
};

/* ---- keys ------------------------------------------------------------------------------- */

static uint64_t hash_bytes(uint64_t hash, const void *data, size_t size)
{
	const uint8_t *bytes = data;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ bytes[i]) * 0x100000001b3;
	return hash;
}

/* With the NUL, so that "ab","c" differs from "a","bc". */
static uint64_t hash_text(uint64_t hash, const char *text)
{
	return hash_bytes(hash, text, strlen(text) + 1);
}

static uint64_t hash_row(enum join_kind kind, const struct opk_row *row)
{
	const struct opk_range *range = row->range;
	uint64_t hash = hash_bytes(0xcbf29ce484222325, &range->device, sizeof range->device);

	if (kind != JOIN_KERNEL)
		hash = hash_bytes(hash, &range->rank, sizeof range->rank);
	if (kind == JOIN_NAME)
		return hash_text(hash, row->name);
	hash = hash_text(hash_text(hash, range->kernel), range->symbol);
	hash = hash_bytes(hash, range->grid, sizeof range->grid);
	hash = hash_bytes(hash, range->block, sizeof range->block);
	return kind == JOIN_LAUNCH
	               ? hash_bytes(hash, &range->launch, sizeof range->launch)
	               : hash_bytes(hash, &range->shared_bytes, sizeof range->shared_bytes);
}

static bool same_shape(const struct opk_range *a, const struct opk_range *b)
{
	return !strcmp(a->kernel, b->kernel) && !strcmp(a->symbol, b->symbol)
	       && !memcmp(a->grid, b->grid, sizeof a->grid)
	       && !memcmp(a->block, b->block, sizeof a->block);
}

/* A launch with the same index and another kernel is another one: that program took another way. */
static bool same_key(enum join_kind kind, const struct joined *joined, const struct opk_row *row)
{
	const struct opk_range *a = &joined->row.range, *b = row->range;

	if (a->device != b->device || (kind != JOIN_KERNEL && a->rank != b->rank))
		return false;
	if (kind == JOIN_NAME)
		return !strcmp(joined->name, row->name);
	return same_shape(a, b)
	       && (kind == JOIN_LAUNCH ? a->launch == b->launch
	                               : a->shared_bytes == b->shared_bytes);
}

/* ---- rows ------------------------------------------------------------------------------- */

static void put_slot(struct opk_join *join, size_t index)
{
	size_t at = join->rows[index].hash & (join->slot_count - 1);

	while (join->slots[at])
		at = (at + 1) & (join->slot_count - 1);
	join->slots[at] = index + 1;
}

/* Never more than half full. */
static int grow_slots(struct opk_join *join, struct opk_ctx *ctx)
{
	size_t wanted = join->slot_count ? join->slot_count * 2 : 64;
	size_t *slots;

	if (join->count * 2 < join->slot_count)
		return OPK_OK;
	slots = opk_alloc_array(wanted, sizeof *slots);
	if (!slots)
		return opk_nomem(ctx, "joined ranges");
	free(join->slots);
	join->slots = slots;
	join->slot_count = wanted;
	for (size_t i = 0; i < join->count; i++)
		put_slot(join, i);
	return OPK_OK;
}

static struct joined *find(struct opk_join *join, const struct opk_row *row, uint64_t hash)
{
	size_t at = hash & (join->slot_count - 1);

	for (; join->slots[at]; at = (at + 1) & (join->slot_count - 1)) {
		struct joined *joined = &join->rows[join->slots[at] - 1];

		if (joined->hash == hash && same_key(join->kind, joined, row))
			return joined;
	}
	return NULL;
}

static int add_row(struct joined **out, struct opk_join *join, struct opk_ctx *ctx,
                   const struct opk_row *row, uint64_t hash)
{
	struct joined *joined;

	if (!opk_grow(&join->rows, &join->capacity, join->count, sizeof *join->rows))
		return opk_nomem(ctx, "joined ranges");
	joined = &join->rows[join->count];
	*joined = (struct joined){
		.row.range = *row->range,
		.name = opk_strdup(row->name),
		.values = opk_alloc_array(join->metric_count, sizeof *joined->values),
		.counts = opk_alloc_array(join->metric_count, sizeof *joined->counts),
		.hash = hash,
	};
	/* It counts, so that it is freed. */
	join->count++;
	if (!joined->name || !joined->values || !joined->counts)
		return opk_nomem(ctx, "joined ranges");
	put_slot(join, join->count - 1);
	*out = joined;
	return OPK_OK;
}

static void keep_common_text(const char **text, const char *other)
{
	if (strcmp(*text, other))
		*text = "";
}

static void keep_common(struct opk_joined_row *row, const struct opk_range *other)
{
	struct opk_range *range = &row->range;

	keep_common_text(&range->name, other->name);
	keep_common_text(&range->kernel, other->kernel);
	keep_common_text(&range->symbol, other->symbol);
	keep_common_text(&range->nvtx, other->nvtx);
	if (memcmp(range->grid, other->grid, sizeof range->grid))
		memset(range->grid, 0, sizeof range->grid);
	if (memcmp(range->block, other->block, sizeof range->block))
		memset(range->block, 0, sizeof range->block);
	row->many_streams |= range->stream != other->stream;
	range->stream = row->many_streams ? 0 : range->stream;
#define KEEP_COMMON(member, unknown)                                                               \
	range->member = range->member == other->member ? range->member : (unknown)
	KEEP_COMMON(start_ns, 0);
	KEEP_COMMON(end_ns, 0);
	KEEP_COMMON(shared_bytes, 0);
	KEEP_COMMON(launch, 0);
	KEEP_COMMON(registers, 0);
	KEEP_COMMON(context, 0);
	KEEP_COMMON(process, 0);
	KEEP_COMMON(group, 0);
	KEEP_COMMON(rank, -1);
#undef KEEP_COMMON
}

static int take(struct opk_join *join, struct opk_ctx *ctx, const struct opk_row *row)
{
	uint64_t hash = hash_row(join->kind, row);
	int code = grow_slots(join, ctx);
	struct joined *joined = code ? NULL : find(join, row, hash);

	if (!code && !joined)
		code = add_row(&joined, join, ctx, row, hash);
	if (code)
		return code;
	keep_common(&joined->row, row->range);
	joined->row.ranges++;
	joined->durations += (double)row->range->duration_ns;
	joined->duration_count += row->range->duration_ns > 0;
	/* A measured NaN spoils the sum, and so the mean: that it could not be computed must show. */
	for (size_t i = 0; i < join->metric_count; i++)
		if (row->measured[i]) {
			joined->values[i] += row->values[i];
			joined->counts[i]++;
		}
	return OPK_OK;
}

/* ---- all of them ------------------------------------------------------------------------ */

/* Metrics that could have been there: those of a group, and whatever some range has. */
static void find_expected(bool *expected, const struct opk_join *join, const bool *grouped)
{
	memcpy(expected, grouped, join->metric_count * sizeof *expected);
	for (size_t i = 0; i < join->count; i++)
		for (size_t j = 0; j < join->metric_count; j++)
			expected[j] |= join->rows[i].counts[j] > 0;
}

static void finish_row(const struct opk_join *join, struct joined *joined, const bool *expected)
{
	struct opk_joined_row *row = &joined->row;
	uint64_t least = row->ranges;

	for (size_t i = 0; i < join->metric_count; i++) {
		uint64_t count = joined->counts[i];

		joined->values[i] = count ? joined->values[i] / (double)count : (double)NAN;
		if (expected[i] && count < least)
			least = count;
	}
	row->ranges_min = least;
	row->name = joined->name;
	row->values = joined->values;
	row->counts = joined->counts;
	row->range.duration_ns =
		joined->duration_count
			? (uint64_t)(joined->durations / (double)joined->duration_count + 0.5)
			: 0;
}

static int join_rows(struct opk_join *join, struct opk_ctx *ctx, struct opk_evaluation *evaluation)
{
	opk_autofree bool *expected = opk_alloc_array(join->metric_count, sizeof *expected);
	const struct opk_row *row;
	int code = expected ? OPK_OK : opk_nomem(ctx, "joined ranges");

	while (!code && !(code = opk_evaluation_next(&row, ctx, evaluation)) && row) {
		if (row->range)
			code = take(join, ctx, row);
		else
			join->left_out++;
	}
	if (!code && !join->count && join->left_out)
		code = opk_fail(ctx, OPK_EINPUT, "ranges can't be joined without a range table");
	if (code)
		return code;
	find_expected(expected, join, opk_evaluation_groups(evaluation)->grouped);
	for (size_t i = 0; i < join->count; i++)
		finish_row(join, &join->rows[i], expected);
	return OPK_OK;
}

static int find_kind(enum join_kind *kind, struct opk_ctx *ctx, struct opk_evaluation *evaluation,
                     const char *how)
{
	static const char *const names[] = { "kernel", "launch", "name" };
	const struct opk_meta *meta = opk_evaluation_groups(evaluation)->meta;

	if (!meta || meta->profiler != OPK_PROFILER_RANGE)
		return opk_fail(ctx, OPK_EUSAGE, "only ranges of a recording can be joined");
	how = how ? how : meta->join;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(how, names[i])) {
			*kind = (enum join_kind)i;
			return OPK_OK;
		}
	return opk_fail(ctx, OPK_EUSAGE, "'%s' is no way to join ranges", how);
}

int opk_join_new(struct opk_join **out, struct opk_ctx *ctx, struct opk_evaluation *evaluation,
                 const char *how)
{
	struct opk_join *join = opk_alloc(sizeof *join);
	int code = join ? find_kind(&join->kind, ctx, evaluation, how)
	                : opk_nomem(ctx, "joined ranges");

	if (!code) {
		join->metric_count = opk_evaluation_metric_count(evaluation);
		code = join_rows(join, ctx, evaluation);
	}
	if (code) {
		opk_join_free(join);
		return code;
	}
	*out = join;
	return OPK_OK;
}

void opk_join_free(struct opk_join *join)
{
	if (!join)
		return;
	for (size_t i = 0; i < join->count; i++) {
		free(join->rows[i].name);
		free(join->rows[i].values);
		free(join->rows[i].counts);
	}
	free(join->rows);
	free(join->slots);
	free(join);
}

size_t opk_join_count(const struct opk_join *join)
{
	return join->count;
}

const struct opk_joined_row *opk_join_get(const struct opk_join *join, size_t i)
{
	return &join->rows[i].row;
}

uint64_t opk_join_left_out(const struct opk_join *join)
{
	return join->left_out;
}
