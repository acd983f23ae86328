/* SPDX-License-Identifier: BSD-2-Clause */
/* The places in code where time goes: rows of code, each with its samples, reason and counts. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "code/code_inside.h"

enum role { OTHER, REASON, EXECUTED, THREADS, SECTORS, IDEAL };

struct known {
	enum role role;
	const char *reason; /* without the metric's beginning */
};

struct opk_hot {
	struct opk_evaluation *evaluation;
	struct opk_strlist metrics;
	struct known *known; /* one per metric */
	size_t reason_count; /* the first metrics */
	struct opk_row *rows;
	struct opk_hot_place *places;
	double *of_reasons; /* of each place */
	size_t count;
	double whole;
	bool has[IDEAL + 1];
};

static struct known role_of(const char *metric)
{
	static const char stalled[] = "_stalled_";
	static const char *const names[] = {
		[EXECUTED] = "smsp__sass_inst_executed",
		[THREADS] = "smsp__sass_thread_inst_executed",
		[SECTORS] = "smsp__sass_sectors_mem_global",
		[IDEAL] = "smsp__sass_sectors_mem_global_ideal",
	};

	if (opk_is_stall(metric))
		return (struct known){ REASON, strstr(metric, stalled) + sizeof stalled - 1 };
	for (enum role role = EXECUTED; role <= IDEAL; role++)
		if (!strcmp(metric, names[role]))
			return (struct known){ role, NULL };
	return (struct known){ OTHER, NULL };
}

static int add_metrics(struct opk_hot *hot, struct opk_ctx *ctx, const struct opk_strlist *metrics,
                       bool reasons)
{
	for (size_t i = 0; i < metrics->count; i++) {
		size_t added = hot->metrics.count;
		enum role role = role_of(metrics->items[i]).role;

		if (role == OTHER || (role == REASON) != reasons)
			continue;
		if (!opk_strlist_add(&hot->metrics, metrics->items[i]))
			return opk_nomem(ctx, "places in code");
		hot->known[added] = role_of(hot->metrics.items[added]);
		hot->has[role] = true;
	}
	return OPK_OK;
}

/* The metrics of the file that say something here: reasons first. */
static int find_metrics(struct opk_hot *hot, struct opk_ctx *ctx, struct opk_file *file)
{
	opk_autocounts struct opk_code_counts counts = { 0 };

	TRY(opk_code_counts_read(&counts, ctx, file));
	hot->known = opk_alloc_array(counts.metrics.count + 1, sizeof *hot->known);
	if (!hot->known)
		return opk_nomem(ctx, "places in code");
	TRY(add_metrics(hot, ctx, &counts.metrics, true));
	hot->reason_count = hot->metrics.count;
	return add_metrics(hot, ctx, &counts.metrics, false);
}

/* ---- places -------------------------------------------------------------------------------- */

/* Warps that are ready do not wait for anything. */
static bool is_wait(const char *reason)
{
	return strcmp(reason, "selected") != 0 && strcmp(reason, "not_selected") != 0;
}

static void add_reason(struct opk_hot_place *place, const char *reason, double samples)
{
	place->samples = isnan(place->samples) ? samples : place->samples + samples;
	if (!is_wait(reason) || !(samples > place->of_reason))
		return;
	place->reason = reason;
	place->of_reason = samples;
}

static struct opk_hot_place place_of(const struct opk_hot *hot, const struct opk_row *row)
{
	struct opk_hot_place place = {
		.row = row,
		.samples = (double)NAN,
		.reason = "",
		.executed = (double)NAN,
		.threads = (double)NAN,
		.sectors = (double)NAN,
		.ideal = (double)NAN,
	};

	for (size_t i = 0; i < hot->metrics.count; i++) {
		const struct known *known = &hot->known[i];
		double value = row->values[i];

		if (!row->measured[i])
			continue;
		if (known->role == REASON)
			add_reason(&place, known->reason, value);
		else
			*(known->role == EXECUTED  ? &place.executed
			  : known->role == THREADS ? &place.threads
			  : known->role == SECTORS ? &place.sectors
			                           : &place.ideal) = value;
	}
	return place;
}

static double heat_of(const struct opk_hot *hot, const struct opk_hot_place *place)
{
	double heat = hot->has[REASON] ? place->samples : place->executed;

	return isnan(heat) ? 0 : heat;
}

/* The values of a row last until the next one. */
static void keep_row(struct opk_hot *hot, const struct opk_row *row)
{
	struct opk_hot_place *place = &hot->places[hot->count];
	double *of_reasons = hot->of_reasons + hot->count * hot->reason_count;

	memcpy(of_reasons, row->values, hot->reason_count * sizeof *of_reasons);
	hot->rows[hot->count] = *row;
	place->row = &hot->rows[hot->count++];
	place->of_reasons = of_reasons;
}

/* All rows count for the whole, and those of the kernel are kept. */
static int read_rows(struct opk_hot *hot, struct opk_ctx *ctx, const struct opk_filter *filter)
{
	const struct opk_range *ranges;
	size_t most = opk_evaluation_ranges(&ranges, hot->evaluation);
	const struct opk_row *row;

	hot->rows = opk_alloc_array(most + 1, sizeof *hot->rows);
	hot->places = opk_alloc_array(most + 1, sizeof *hot->places);
	hot->of_reasons = opk_alloc_array(most * hot->reason_count + 1, sizeof *hot->of_reasons);
	if (!hot->rows || !hot->places || !hot->of_reasons)
		return opk_nomem(ctx, "places in code");
	TRY(opk_evaluation_next(&row, ctx, hot->evaluation));
	while (row) {
		struct opk_hot_place *place = &hot->places[hot->count];
		bool wanted;

		TRY(opk_filter_accepts(&wanted, ctx, filter, OPK_PROFILER_SASS, row, 0));
		*place = place_of(hot, row);
		hot->whole += heat_of(hot, place);
		if (wanted)
			keep_row(hot, row);
		TRY(opk_evaluation_next(&row, ctx, hot->evaluation));
	}
	return OPK_OK;
}

/* Places that are equally hot stay in the order of code. */
static int by_heat(const void *a, const void *b, void *data)
{
	const struct opk_hot *hot = data;
	const struct opk_hot_place *one = a, *other = b;
	double x = heat_of(hot, one), y = heat_of(hot, other);

	if (x != y)
		return x < y ? 1 : -1;
	return one->row < other->row ? -1 : one->row > other->row;
}

static int make(struct opk_hot *hot, struct opk_ctx *ctx, struct opk_file *file,
                const struct opk_hot_options *options)
{
	struct opk_eval_options eval = OPK_INIT(eval);
	opk_auto(opk_filter) struct opk_filter *filter = NULL;
	opk_autofree char *condition = NULL;

	if (options->kernel) {
		condition = opk_printf("kernel=%s", options->kernel);
		if (!condition)
			return opk_nomem(ctx, "a condition");
		TRY(opk_filter_new(&filter, ctx, (const char *const *)&condition, 1));
	}
	eval.allow_incomplete = options->allow_incomplete;
	eval.metrics = opk_strlist_items(&hot->metrics);
	eval.metric_count = hot->metrics.count;
	TRY(opk_code_eval(&hot->evaluation, ctx, file, &eval, options->rows));
	TRY(read_rows(hot, ctx, filter));
	if (!options->in_order)
		qsort_r(hot->places, hot->count, sizeof *hot->places, by_heat, hot);
	return OPK_OK;
}

int opk_hot_new(struct opk_hot **out, struct opk_ctx *ctx, struct opk_file *file,
                const struct opk_hot_options *options)
{
	opk_auto(opk_hot) struct opk_hot *hot = opk_alloc(sizeof *hot);

	if (!hot)
		return opk_nomem(ctx, "places in code");
	TRY(find_metrics(hot, ctx, file));
	if (!hot->has[REASON] && !hot->has[EXECUTED])
		return opk_fail(ctx, OPK_EUSAGE,
		                "%s has neither samples of instructions nor counts of how often "
		                "they were executed: record it with the set hot or source",
		                file->path);
	TRY(make(hot, ctx, file, options));
	*out = opk_take(hot);
	return OPK_OK;
}

void opk_hot_free(struct opk_hot *hot)
{
	if (!hot)
		return;
	opk_evaluation_free(hot->evaluation);
	opk_strlist_clear(&hot->metrics);
	free(hot->known);
	free(hot->rows);
	free(hot->places);
	free(hot->of_reasons);
	free(hot);
}

bool opk_hot_is_alone(const struct opk_file *file, const struct opk_meta *meta)
{
	return opk_profiler_is_code(meta->profiler)
	       && opk_file_find(file, OPK_SECTION_INSTRUCTIONS) >= 0
	       && opk_file_find(file, OPK_SECTION_DATA) < 0
	       && opk_file_find(file, OPK_SECTION_LEFT_OUT) < 0;
}

size_t opk_hot_count(const struct opk_hot *hot)
{
	return hot->count;
}

const struct opk_hot_place *opk_hot_get(const struct opk_hot *hot, size_t i)
{
	return &hot->places[i];
}

double opk_hot_whole(const struct opk_hot *hot)
{
	return hot->whole;
}

double opk_hot_share(const struct opk_hot *hot, size_t i)
{
	const struct opk_hot_place *place = &hot->places[i];
	double heat = hot->has[REASON] ? place->samples : place->executed;

	return 100 * heat / hot->whole;
}

size_t opk_hot_reason_count(const struct opk_hot *hot)
{
	return hot->reason_count;
}

const char *opk_hot_reason(const struct opk_hot *hot, size_t reason)
{
	return hot->known[reason].reason;
}

bool opk_hot_is_sampled(const struct opk_hot *hot)
{
	return hot->has[REASON];
}

bool opk_hot_is_counted(const struct opk_hot *hot)
{
	return hot->has[EXECUTED];
}

bool opk_hot_has_sectors(const struct opk_hot *hot)
{
	return hot->has[SECTORS] && hot->has[IDEAL];
}
