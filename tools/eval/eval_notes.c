/* SPDX-License-Identifier: BSD-2-Clause */
/* Remarks of eval: what is missing, and what is to be known of values. */
#include <string.h>

#include "base/mem.h"
#include "eval/eval_table.h"

/* ---- files */

static bool is_of_what_ran(const struct opk_table_file *file)
{
	return file->rows == OPK_ROWS_KERNELS || file->rows == OPK_ROWS_LAUNCHES;
}

static void note_state(const struct opk_table_file *file, const struct opk_set *set)
{
	const char *own = opk_profiler_name(file->meta->profiler);

	/* What the set has for another profiler alone is not in the table, and is no error. */
	if (set && opk_set_has_profiler(set) && opk_set_profiler(set) != file->meta->profiler)
		app_note(
			"%s: of profiler %s, and set %s is for %s: evaluated is what it has for %s",
			file->path, own, opk_set_name(set),
			opk_profiler_name(opk_set_profiler(set)), own);
	if (!opk_file_complete(file->file))
		app_note("%s: cut off: these are the %s of its %zu whole sections", file->path,
		         is_of_what_ran(file) ? "records" : "ranges",
		         opk_file_section_count(file->file));
}

/* `earlier`: samples that begin before sampling did. */
static void note_samples(const struct eval *eval, const struct opk_table_file *file,
                         uint64_t earlier)
{
	uint64_t incomplete = opk_evaluation_incomplete_samples(file->evaluation);

	if (incomplete)
		app_note("%s: %ju sample%s begun but not completed; left out", file->path,
		         (uintmax_t)incomplete, incomplete == 1 ? " was" : "s were");
	if (!earlier || eval->first_sample == FIRST_MARK || eval->drops_as_told)
		return;
	app_note("%s: %ju sample%s at an earlier event, so that times and values span more than "
	         "an interval; %s",
	         file->path, (uintmax_t)earlier, earlier == 1 ? " begins" : "s begin",
	         eval->first_sample == FIRST_DROP ? "left out (--first-sample keep)"
	                                          : "kept (--first-sample mark or drop)");
}

/* ---- key groups */

/* One group of everything is not what was asked for. */
static void note_undivided(const struct opk_table_file *file, const char *key)
{
	const struct opk_range *range;

	if (opk_aggregate_count(file->aggregate) != 1)
		return;
	range = &opk_aggregate_get(file->aggregate, 0)->range;
	if ((!strcmp(key, "nvtx") && !*range->nvtx) || (!strcmp(key, "rank") && range->rank < 0)
	    || (!strcmp(key, "kernel") && !*range->kernel)
	    || (!strcmp(key, "device") && range->device < 0 && !(range->gpu && *range->gpu)))
		app_note("%s: no %s is recorded of its %s: they are one group", file->path, key,
		         file->meta->profiler == OPK_PROFILER_PM ? "samples" : "ranges");
}

/* Only the total and the mean of a sum are those of its ranges. */
static void note_summed(const struct opk_table_file *file)
{
	size_t groups = opk_aggregate_count(file->aggregate), count = 0;

	for (size_t i = 0; i < groups; i++)
		count += opk_aggregate_get(file->aggregate, i)->summed;
	if (count)
		app_note("%s: %zu of %zu key groups have rows that are sums of ranges: min, max "
		         "and percentiles, which are over single ranges, are nan",
		         file->path, count, groups);
}

/* Where launches of different kernels have one pass each, each pass has its own mix of them. */
static void note_mixed(const struct opk_table_file *file)
{
	size_t groups = opk_aggregate_count(file->aggregate), count = 0;

	if (strcmp(file->meta->join, "kernel") != 0)
		return;
	for (size_t i = 0; i < groups; i++) {
		const struct opk_range *range = &opk_aggregate_get(file->aggregate, i)->range;

		count += !*range->kernel || !range->grid[0];
	}
	if (count)
		app_note(
			"%s: %zu of %zu key groups have launches of different kernels or shapes, "
			"each of one pass: ratios of counters of different passes are of different "
			"launches; --aggregate kernel,shape keeps them apart",
			file->path, count, groups);
}

/* Several GPUs in one group, and which means of theirs are not exact. */
static void note_gpus(const struct opk_table_file *file)
{
	size_t columns = opk_evaluation_column_count(file->evaluation), most = 0, weighted = 0;
	size_t groups = opk_aggregate_count(file->aggregate), first = 0, group = 0;

	for (size_t i = groups; i-- > 0;)
		if (opk_aggregate_get(file->aggregate, i)->gpus > most)
			most = opk_aggregate_get(file->aggregate, group = i)->gpus;
	for (size_t i = columns; most > 1 && i-- > 0;) {
		bool any = false;

		for (size_t j = 0; j < groups; j++)
			if (opk_aggregate_get(file->aggregate, j)->columns[i].weighted_by) {
				any = true;
				group = j;
				first = i;
			}
		weighted += any;
	}
	if (most > 1)
		app_note("%s: key groups have ranges of up to %zu GPUs, or of images that can't be "
		         "summed, and their values are put together; --by device keeps GPUs apart",
		         file->path, most);
	if (weighted)
		app_note("%s: %zu of %zu metrics, such as %s, can't be computed of several GPUs: "
		         "their means are weighted by %s, as the column weighted_by says",
		         file->path, weighted, columns,
		         opk_evaluation_column(file->evaluation, first),
		         opk_aggregate_get(file->aggregate, group)->columns[first].weighted_by);
}

void eval_note_files(const struct eval *eval, const struct opk_set *set)
{
	const struct opk_table_file *file;

	for (size_t i = 0; (file = opk_table_get_file(eval->table, i)); i++)
		if (file->file)
			note_state(file, set);
	for (size_t i = 0; eval->key && (file = opk_table_get_file(eval->table, i)); i++) {
		note_samples(eval, file, opk_aggregate_left_out(file->aggregate));
		note_undivided(file, eval->key);
		note_summed(file);
		note_mixed(file);
		note_gpus(file);
	}
}

/* ---- rows */

/* Names metrics to distrust; a long table has a column for it. */
static void note_inflated(const struct opk_table_file *file)
{
	size_t total = opk_evaluation_column_count(file->evaluation), count = 0, named = 0;
	const char *names[3] = { "", "", "" };

	for (size_t i = 0; file->inflated && i < total; i++) {
		if (!file->inflated[i])
			continue;
		if (named < 3)
			names[named++] = opk_evaluation_column(file->evaluation, i);
		count++;
	}
	if (count)
		app_note("%s: %zu of %zu metrics count idle time around short kernels as it was "
		         "collected: %s%s%s%s%s%s; --replay kernel does not",
		         file->path, count, total, names[0], named > 1 ? ", " : "", names[1],
		         named > 2 ? ", " : "", names[2], count > 3 ? "..." : "");
}

/* Kernels of which samples say too little. */
static void note_unknown(const struct eval *eval)
{
	if (eval->unknown_count)
		app_note("%zu of %ju %s ran for less than a sample, or too few samples tell "
		         "%s apart (samples_alone): nan; a shorter --interval shows more",
		         eval->unknown_count, (uintmax_t)eval->row_count,
		         opk_table_get_file(eval->table, 0)->rows == OPK_ROWS_KERNELS ? "kernels"
		                                                                      : "launches",
		         eval->unknown_count == 1 ? "it" : "them");
}

void eval_note_rows(const struct eval *eval)
{
	const struct opk_table_file *file;

	for (size_t i = 0; !eval->key && (file = opk_table_get_file(eval->table, i)); i++) {
		if (!file->join)
			note_samples(eval, file, file->spans_earlier);
		else if (opk_join_left_out(file->join))
			app_note("%s: cut off: %ju of its images are left out, for nothing says "
			         "what their ranges are",
			         file->path, (uintmax_t)opk_join_left_out(file->join));
	}
	for (size_t i = 0; eval_is_wide(eval) && (file = opk_table_get_file(eval->table, i)); i++)
		note_inflated(file);
	note_unknown(eval);
}

/* ---- no rows */

/* range= is taken for the number. */
static const char *name_hint(const struct option_list *where)
{
	static const char start[] = "range=";

	for (size_t i = 0; i < where->count; i++)
		if (!strncmp(where->items[i], start, sizeof start - 1)
		    && where->items[i][sizeof start - 1]
		    && !where->items[i][strspn(where->items[i], "range=0123456789")])
			return where->items[i] + sizeof start - 1;
	return NULL;
}

static bool is_known(enum opk_fact fact, const struct opk_range *range)
{
	const struct opk_row row = { .name = range->name, .range = range };
	struct opk_fact_text text;
	union opk_cell cell = opk_fact_get(&text, fact, &row, NULL);
	enum opk_cell_type type = opk_fact_column(fact, OPK_PROFILER_RANGE)->type;

	if (type == OPK_CELL_STRING)
		return cell.string && *cell.string;
	return type != OPK_CELL_OPTIONAL || cell.optional.known;
}

static bool any_known(enum opk_fact fact, const struct opk_range *ranges, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (is_known(fact, &ranges[i]))
			return true;
	return false;
}

/*
 * False: some file's ranges have it, or it can't be said. Of images come numbers and names alone,
 * all else from tables of ranges.
 */
static bool is_recorded_nowhere(const struct eval *eval, enum opk_fact fact)
{
	const struct opk_range *ranges;
	size_t count;

	if (eval->profiler != OPK_PROFILER_RANGE || fact == OPK_FACT_RANGE || fact == OPK_FACT_NAME)
		return false;
	for (size_t i = 0; i < opk_table_file_count(eval->table); i++) {
		struct opk_file *file = opk_table_get_file(eval->table, i)->file;

		if (!file)
			continue;
		if (opk_file_ranges(&ranges, &count, eval->app->ctx, file)) {
			opk_clear_errors(eval->app->ctx);
			return false;
		}
		if (any_known(fact, ranges, count))
			return false;
	}
	return true;
}

/* The fact of a condition that no range has; NULL. */
static const char *find_unrecorded(const struct eval *eval)
{
	for (size_t i = 0; i < eval->where->count; i++) {
		const char *condition = eval->where->items[i];
		opk_autofree char *name = opk_strndup(condition, strcspn(condition, " \t=<>!"));
		enum opk_fact fact;

		if (name && opk_fact_find(&fact, name, OPK_PROFILER_RANGE)
		    && is_recorded_nowhere(eval, fact))
			return opk_fact_column(fact, OPK_PROFILER_RANGE)->name;
	}
	return NULL;
}

void eval_note_none(const struct eval *eval)
{
	const char *rows = eval->key ? "groups" : "rows";
	const char *number = name_hint(eval->where), *unrecorded = find_unrecorded(eval);

	if (!eval->where->count) {
		app_note("there are no %s", rows);
		return;
	}
	if (unrecorded) {
		app_note("no range here has %s recorded, which --where asks for: there are no %s",
		         unrecorded, rows);
		return;
	}
	app_note("no %s meets --where: there are no %s%s%s",
	         eval->profiler == OPK_PROFILER_PM ? "sample" : "range", rows,
	         number ? "; range is the name there, and the range of that number index=" : "",
	         number ? number : "");
}

static void note_drift(const char *path, const char *clock, const struct opk_clock_span *span)
{
	if (span->drifted)
		app_note(
			"%s: the %s clock was between %u and %u MHz, so that times and rates differ "
			"for that alone; --launch-columns all shows it for each launch",
			path, clock, span->least, span->most);
}

void eval_note_drift(const struct eval *eval)
{
	const struct opk_table_file *file;

	for (size_t i = 0; (file = opk_table_get_file(eval->table, i)); i++) {
		const struct opk_range *ranges;
		struct opk_clocks clocks;
		size_t count;

		if (!file->file || opk_file_ranges(&ranges, &count, eval->app->ctx, file->file))
			continue;
		opk_clocks_find(&clocks, ranges, count);
		note_drift(file->path, "SM", &clocks.sm);
		note_drift(file->path, "memory", &clocks.memory);
	}
}
