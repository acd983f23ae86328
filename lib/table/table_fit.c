/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether files fit into one table; if not, which of them fit together. */
#include <string.h>

#include "base/buf.h"
#include "base/index.h"
#include "container/container.h"
#include "table/table_inside.h"

/* A message with too many names is not read. */
enum { MOST_FILES = 4, MOST_KINDS = 16, MOST_LACKING = 3, MOST_COMMON = 12 };

/* Files with the same columns. */
struct kind {
	struct opk_buf what, files;
	struct opk_strlist names;
	size_t count;
};

struct kinds {
	struct opk_ctx *ctx;
	struct opk_index index;
	struct opk_strlist keys;
	struct kind *items;
	size_t count, capacity;
};

static void clear(struct kinds *kinds)
{
	for (size_t i = 0; i < kinds->count; i++) {
		opk_buf_clear(&kinds->items[i].what);
		opk_buf_clear(&kinds->items[i].files);
		opk_strlist_clear(&kinds->items[i].names);
	}
	free(kinds->items);
	opk_index_clear(&kinds->index);
	opk_strlist_clear(&kinds->keys);
}

/* Finds the kind with this key, and takes over the key; NULL: out of memory. */
static struct kind *find(struct kinds *kinds, char *key)
{
	size_t at;

	if (!opk_strlist_take(&kinds->keys, key)
	    || !opk_index_add(&kinds->index, kinds->keys.items[kinds->keys.count - 1], kinds->count,
	                      &at))
		return NULL;
	if (at < kinds->count)
		free((char *)kinds->keys.items[--kinds->keys.count]);
	else if (opk_append(&kinds->items, &kinds->capacity, &kinds->count, sizeof *kinds->items))
		kinds->items[at] = (struct kind){ 0 };
	else
		return NULL;
	return &kinds->items[at];
}

enum rows { OF_TRACE, OF_GROUPS, OF_SAMPLES, OF_RANGES, OF_CODE };

static const char *const row_names[] = {
	[OF_TRACE] = "what ran and when alone",
	[OF_GROUPS] = "statistics of values",
	[OF_SAMPLES] = "PM samples",
	[OF_RANGES] = "ranges",
	[OF_CODE] = "rows of code",
};

static enum rows rows_of(const struct opk_table *table, const struct opk_table_file *input)
{
	if (input->rows <= OPK_ROWS_SINGLE && opk_table_is_trace(input))
		return OF_TRACE;
	if (table->layout == OPK_TABLE_GROUPS)
		return OF_GROUPS;
	if (opk_table_is_code(input))
		return OF_CODE;
	return opk_table_profiler_of(input) == OPK_PROFILER_PM ? OF_SAMPLES : OF_RANGES;
}

static int describe(struct kinds *kinds, struct kind *kind, const char *rows, const char *set,
                    const struct opk_strlist *names)
{
	opk_buf_add_text(&kind->what, rows);
	if (!names->count)
		return OPK_OK;
	for (size_t i = 0; i < names->count; i++)
		if (!opk_strlist_add(&kind->names, names->items[i]))
			return opk_nomem(kinds->ctx, "a table");
	opk_buf_add_printf(&kind->what, ", %zu metric%s ", names->count,
	                   names->count == 1 ? "" : "s");
	if (*set)
		opk_buf_add_printf(&kind->what, "of %s", set);
	else
		opk_buf_add_printf(&kind->what, "(%s%s)", names->items[0],
		                   names->count == 1 ? "" : ", ...");
	return OPK_OK;
}

/* Adds a file with these columns. Its key begins with `start`; `rows` names its rows in words. */
static int add(struct kinds *kinds, const char *start, const char *rows, const char *set,
               const struct opk_strlist *names, const char *path)
{
	opk_autobuf struct opk_buf key = { 0 };
	struct kind *kind = NULL;
	char *text;

	opk_buf_add_text(&key, start);
	for (size_t i = 0; i < names->count; i++)
		opk_buf_add_printf(&key, "\n%s", names->items[i]);
	text = opk_buf_take_text(&key);
	if (text)
		kind = find(kinds, text);
	if (!kind)
		return opk_nomem(kinds->ctx, "a table");
	if (!kind->count)
		TRY(describe(kinds, kind, rows, set, names));
	if (kind->count++ < MOST_FILES)
		opk_buf_add_printf(&kind->files, "%s%s", kind->count > 1 ? ", " : "", path);
	return OPK_OK;
}

/* How many kinds have each name. */
struct shares {
	struct opk_index index;
	OPK_LIST(size_t) counts;
};

static void clear_shares(struct shares *shares)
{
	opk_index_clear(&shares->index);
	free(shares->counts.items);
}

static int count_shares(struct shares *shares, const struct kinds *kinds)
{
	for (size_t i = 0; i < kinds->count; i++) {
		const struct opk_strlist *names = &kinds->items[i].names;

		for (size_t k = 0; k < names->count; k++) {
			size_t at;

			if (!opk_index_add(&shares->index, names->items[k], shares->counts.count,
			                   &at)
			    || (at == shares->counts.count && !opk_list_add(&shares->counts)))
				return opk_nomem(kinds->ctx, "a table");
			shares->counts.items[at]++;
		}
	}
	return OPK_OK;
}

/* "A, B and 2 more" of the names that all kinds have, or that some lack; "": there are none. */
static char *names_of(const struct kinds *kinds, const struct shares *shares,
                      const struct kind *kind, bool common)
{
	size_t most = common ? MOST_COMMON : MOST_LACKING, count = 0;
	opk_autobuf struct opk_buf text = { 0 };

	for (size_t i = 0; i < kind->names.count; i++) {
		const char *name = kind->names.items[i];
		size_t at;

		if (!opk_index_find(&at, &shares->index, name)
		    || (shares->counts.items[at] == kinds->count) != common)
			continue;
		if (count++ < most)
			opk_buf_add_printf(&text, "%s%s", count > 1 ? ", " : "", name);
	}
	if (count > most)
		opk_buf_add_printf(&text, " and %zu more", count - most);
	return opk_buf_take_text(&text);
}

static int add_kind(struct kinds *kinds, const struct shares *shares, const struct kind *kind)
{
	opk_autofree char *lacking = names_of(kinds, shares, kind, false);
	opk_autofree char *more = kind->count > MOST_FILES
	                                  ? opk_printf(" and %zu more", kind->count - MOST_FILES)
	                                  : NULL;

	return opk_add(kinds->ctx, OPK_EUSAGE, "%.*s: %.*s%s%s%s", (int)kind->what.size,
	               (char *)kind->what.data, (int)kind->files.size, (char *)kind->files.data,
	               more ? more : "", lacking && *lacking ? "; not in all files: " : "",
	               lacking ? lacking : "");
}

/* Adds errors in reverse, since the chain is read from its last cause. */
static int refuse(struct kinds *kinds, const char *headline, bool of_metrics)
{
	__attribute__((cleanup(clear_shares))) struct shares shares = { 0 };
	size_t shown = kinds->count < MOST_KINDS ? kinds->count : MOST_KINDS;
	opk_autofree char *common = NULL;

	/* Where rows differ, metrics are not what is wrong. */
	if (of_metrics)
		TRY(count_shares(&shares, kinds));
	opk_clear_errors(kinds->ctx);
	common = names_of(kinds, &shares, kinds->items, true);
	if (of_metrics && common)
		opk_fail(kinds->ctx, OPK_EUSAGE, "in all files: %s",
		         *common ? common : "no recorded column");
	if (shown < kinds->count)
		opk_add(kinds->ctx, OPK_EUSAGE, "and %zu more kinds of files",
		        kinds->count - shown);
	while (shown)
		add_kind(kinds, &shares, &kinds->items[--shown]);
	opk_add(kinds->ctx, OPK_EUSAGE, "%s", headline);
	return of_metrics ? opk_advise(kinds->ctx, OPK_EUSAGE, OPK_REMEDY_COMMON) : OPK_EUSAGE;
}

static const char other_rows[] = "the files don't go into one table: evaluate those of each line "
				 "apart, or into a database";
static const char other_metrics[] = "the files have different metrics: choose the long layout, "
				    "metrics that all have, or a database";

/* The default columns of ranges and samples are known before evaluation. */
static int add_recorded(struct kinds *kinds, const struct opk_table *table,
                        const struct opk_table_file *input)
{
	bool by_itself = opk_table_is_wide(table) && !table->eval.set && !table->eval.metrics
	                 && !table->chosen.count && input->rows != OPK_ROWS_TABLES
	                 && !opk_table_is_code(input);
	opk_autostrlist struct opk_strlist names = { 0 };
	const char *rows = row_names[rows_of(table, input)];

	if (by_itself && !opk_meta_list_columns(&names, input->meta))
		return opk_nomem(kinds->ctx, "a table");
	return add(kinds, rows, rows, input->meta->set_name, &names, input->path);
}

static bool has_same_names(const struct opk_strlist *one, const struct opk_strlist *other)
{
	opk_autoindex struct opk_index index = { 0 };

	if (one->count != other->count)
		return false;
	for (size_t i = 0; i < one->count; i++)
		if (!opk_index_add(&index, one->items[i], i, NULL))
			return false;
	for (size_t i = 0; i < other->count; i++)
		if (!opk_index_find(NULL, &index, other->items[i]))
			return false;
	return true;
}

/* Files that have the same metrics in another order get the order of the first file. */
static int put_in_order(bool *done, struct opk_table *table, const struct kinds *kinds)
{
	const struct kind *first = kinds->items;

	*done = first->names.count;
	for (size_t i = 1; i < kinds->count; i++)
		*done = *done && has_same_names(&first->names, &kinds->items[i].names);
	for (size_t i = 0; *done && i < first->names.count; i++)
		if (!opk_strlist_add(&table->metrics, first->names.items[i]))
			return opk_nomem(kinds->ctx, "a table");
	if (*done) {
		table->eval.metrics = opk_strlist_items(&table->metrics);
		table->eval.metric_count = table->metrics.count;
	}
	return OPK_OK;
}

int opk_table_check_recorded_fit(struct opk_table *table, struct opk_ctx *ctx)
{
	struct kinds kinds = { .ctx = ctx };
	bool same = true, done = false;
	int code = OPK_OK;

	if (table->inside.only_sources || table->input_count == 1)
		return OPK_OK;
	for (size_t i = 0; !code && i < table->input_count; i++) {
		same &= rows_of(table, &table->inputs[i]) == rows_of(table, table->inputs);
		code = add_recorded(&kinds, table, &table->inputs[i]);
	}
	if (!code && kinds.count > 1 && same)
		code = put_in_order(&done, table, &kinds);
	if (!code && kinds.count > 1 && !done)
		code = refuse(&kinds, same ? other_metrics : other_rows, same);
	clear(&kinds);
	return code;
}

/* A set may have different metrics on different chips. */
int opk_table_check_evaluated_fit(const struct opk_table *table, struct opk_ctx *ctx)
{
	struct kinds kinds = { .ctx = ctx };
	int code = OPK_OK;

	if (!opk_table_is_wide(table) || table->input_count == 1)
		return OPK_OK;
	for (size_t i = 0; !code && i < table->input_count; i++) {
		const struct opk_evaluation *evaluation = table->inputs[i].evaluation;
		opk_autostrlist struct opk_strlist names = { 0 };

		for (size_t j = 0; !code && j < opk_evaluation_column_count(evaluation); j++)
			if (!opk_strlist_add(&names, opk_evaluation_column(evaluation, j)))
				code = opk_nomem(ctx, "a table");
		if (!code)
			code = add(&kinds, "", opk_evaluation_chip(evaluation), "", &names,
			           table->inputs[i].path);
	}
	if (!code && kinds.count > 1)
		code = refuse(&kinds, other_metrics, true);
	clear(&kinds);
	return code;
}
