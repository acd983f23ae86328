/* SPDX-License-Identifier: BSD-2-Clause */
/* eval --sort: the keys of rows and key groups. */
#include <math.h>
#include <string.h>

#include "code/door.h"
#include "eval/eval_table.h"

/* ---- rows */

static bool is_file(const struct eval_key *key)
{
	return !strcmp(key->name, "file");
}

/* Values of ranges may have the names of facts that only rows of code have. */
static bool is_value(const struct eval *eval, const struct eval_key *key)
{
	enum opk_fact fact;

	for (enum opk_profiler of = 0; of <= OPK_PROFILER_SASS; of++)
		if ((eval->of_code || !opk_profiler_is_code(of))
		    && opk_fact_find(&fact, key->name, of))
			return false;
	return !is_file(key);
}

size_t eval_sorted_values(struct eval *eval)
{
	size_t count = 0;

	for (size_t i = 0; i < eval->order.key_count; i++)
		if (is_value(eval, &eval->order.keys[i]))
			eval->also[count++] = eval->order.keys[i].name;
	return count;
}

bool eval_sorted_has_sass(const struct eval *eval)
{
	for (size_t i = 0; i < eval->order.key_count; i++)
		if (opk_code_names_sass(&(const char *){ eval->order.keys[i].name }, 1))
			return true;
	return false;
}

int eval_sorted_check(struct eval *eval)
{
	for (size_t i = 0; i < eval->order.key_count; i++) {
		const struct eval_key *key = &eval->order.keys[i];
		enum opk_fact fact;

		if (!is_file(key) && !is_value(eval, key)
		    && !opk_fact_find(&fact, key->name, eval->profiler))
			return app_error(eval->app, OPK_EUSAGE, "--sort %s: %s have none",
			                 key->name,
			                 eval->profiler == OPK_PROFILER_PM     ? "PM samples"
			                 : eval->profiler == OPK_PROFILER_SASS ? "rows of code"
			                                                       : "ranges");
	}
	return OPK_OK;
}

static const char *path_of(const struct eval *eval, const struct opk_table_source *source)
{
	return opk_table_get_file(eval->table, source->place.file)->path;
}

static void find_keys(struct eval_key_cell *cells, struct opk_fact_text *texts, struct eval *eval,
                      const struct opk_table_source *source)
{
	const struct eval_order *order = &eval->order;
	const struct opk_table_file *file = opk_table_get_file(eval->table, source->place.file);
	const double *also = opk_evaluation_also(file->evaluation);
	for (size_t i = 0; i < order->key_count; i++) {
		enum opk_fact fact;

		if (is_value(eval, &order->keys[i]))
			cells[i] = eval_key_of_number(*also++);
		else if (opk_fact_find(&fact, order->keys[i].name, eval->profiler))
			cells[i] = eval_key_of_fact(&texts[i], fact, eval->profiler, source);
		else
			cells[i] = eval_key_of_text(file->path);
	}
}

/* ---- key groups */

static const struct {
	const char *name;
	size_t offset;
} statistics[] = {
	{ "sum", offsetof(struct opk_statistics, sum) },
	{ "mean", offsetof(struct opk_statistics, mean) },
	{ "min", offsetof(struct opk_statistics, min) },
	{ "max", offsetof(struct opk_statistics, max) },
	{ "p50", offsetof(struct opk_statistics, p50) },
	{ "p90", offsetof(struct opk_statistics, p90) },
	{ "p99", offsetof(struct opk_statistics, p99) },
	{ "std", offsetof(struct opk_statistics, std) },
	{ "mean_low", offsetof(struct opk_statistics, mean_low) },
	{ "mean_high", offsetof(struct opk_statistics, mean_high) },
};

static bool find_statistic(size_t *offset, const char *name)
{
	for (size_t i = 0; i < COUNT(statistics); i++)
		if (!strcmp(statistics[i].name, name)) {
			*offset = statistics[i].offset;
			return true;
		}
	return false;
}

static double get_statistic(const struct opk_statistics *of, size_t offset)
{
	double value;

	memcpy(&value, (const char *)of + offset, sizeof value);
	return value;
}

static int refuse_key(struct eval *eval, const struct eval_key *key, const char *why)
{
	return app_error(eval->app, OPK_EUSAGE, "--sort %s%s%s: %s", key->name,
	                 key->statistic ? ":" : "", key->statistic ? key->statistic : "", why);
}

/* The key of a group is its total if it has one, else its mean. */
static int key_of_metric(struct eval_key_cell *out, struct eval *eval,
                         const struct opk_table_source *source, const struct eval_key *key,
                         const char *statistic, size_t column)
{
	const struct opk_statistics *of = &source->group->columns[column];
	size_t offset;

	if (!statistic)
		*out = eval_key_of_number(isnan(of->sum) ? of->mean : of->sum);
	else if (!strcmp(statistic, "count"))
		*out = (struct eval_key_cell){ KEY_WHOLE, { .whole = of->count } };
	else if (find_statistic(&offset, statistic))
		*out = eval_key_of_number(get_statistic(of, offset));
	else
		return refuse_key(
			eval, key,
			"a statistic is count, sum, mean, min, max, p50, p90, p99, std, mean_low or mean_high");
	return OPK_OK;
}

static int key_of_value(struct eval_key_cell *out, struct eval *eval,
                        const struct opk_table_source *source, const struct eval_key *key)
{
	size_t file = source->place.file, offset, count;
	const size_t *columns;

	count = opk_table_get_values(&columns, eval->table, file);
	if (!key->statistic
	    && (!strcmp(key->name, "count") || find_statistic(&offset, key->name))) {
		if (count != 1)
			return refuse_key(eval, key,
			                  "of which metric? METRIC:sum, METRIC:max and so on");
		return key_of_metric(out, eval, source, key, key->name, columns[0]);
	}
	for (size_t i = 0; i < count; i++)
		if (!strcmp(opk_evaluation_column(opk_table_get_file(eval->table, file)->evaluation,
		                                  columns[i]),
		            key->name))
			return key_of_metric(out, eval, source, key, key->statistic, columns[i]);
	return refuse_key(eval, key,
	                  "key groups are ordered by what they share, such as kernel or name, or "
	                  "by a metric of the table");
}

static int key_of_group(struct eval_key_cell *out, struct opk_fact_text *text, struct eval *eval,
                        const struct opk_table_source *source, const struct eval_key *key)
{
	enum opk_fact fact;

	if (is_file(key)) {
		*out = eval_key_of_text(path_of(eval, source));
		return OPK_OK;
	}
	if (opk_fact_find(&fact, key->name, OPK_PROFILER_RANGE) && fact >= OPK_FACT_NAME
	    && fact <= OPK_FACT_DURATION && fact != OPK_FACT_SUMMED) {
		*out = eval_key_of_fact(text, fact, OPK_PROFILER_RANGE, source);
		return OPK_OK;
	}
	return key_of_value(out, eval, source, key);
}

/* ---- all of them */

int eval_sorted_take(struct eval *eval, const struct opk_table_source *source)
{
	struct eval_order *order = &eval->order;
	struct eval_key_cell cells[MAX_SORT_KEYS];
	struct opk_fact_text texts[MAX_SORT_KEYS];

	if (!source->group)
		find_keys(cells, texts, eval, source);
	for (size_t i = 0; source->group && i < order->key_count; i++)
		TRY(key_of_group(&cells[i], &texts[i], eval, source, &order->keys[i]));
	return eval_order_add(order, eval->app, &source->place, cells);
}

int eval_sorted_print(struct eval *eval)
{
	size_t count = eval_order_sort(&eval->order), last = SIZE_MAX;
	const struct opk_table_source *source;
	int code = OPK_OK;

	eval_order_note_unknown(&eval->order);
	for (size_t i = 0; !code && i < count; i++) {
		const struct opk_table_place *place = &eval_order_get(&eval->order, i)->at;

		if (place->file != last)
			code = eval_rows_begin_file(eval, place->file);
		last = place->file;
		if (!code)
			code = eval_table_result(eval,
			                         opk_table_go_to(&source, eval->table, place));
		if (!code)
			code = eval_rows_print_source(eval, source);
	}
	return code;
}
