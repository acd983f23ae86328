/* SPDX-License-Identifier: BSD-2-Clause */
/* The views long and wide: what people want to see, over tables that computers like. */
#include <string.h>

#include "base/buf.h"
#include "database/database.h"

enum { MOST_COLUMNS = 2000 }; /* as SQLite is usually built */

/* A view's text in the making. */
struct view {
	const struct opk_database *database;
	struct opk_buf text;
	size_t columns;
};

static void put(struct view *view, const char *text)
{
	opk_buf_add_text(&view->text, text);
}

/* "name", with quotes doubled. */
static void put_name(struct view *view, const char *name)
{
	put(view, "\"");
	for (; *name; name++)
		opk_buf_add(&view->text, *name == '"' ? "\"\"" : name, *name == '"' ? 2 : 1);
	put(view, "\"");
}

static void next_column(struct view *view)
{
	put(view, view->columns++ ? ",\n\t" : "\n\t");
}

static bool is_pm(const struct opk_database *database)
{
	return database->profiler == OPK_PROFILER_PM;
}

static void put_fact(struct view *view, const char *name)
{
	next_column(view);
	put(view, "r.");
	put_name(view, name);
}

static void put_file(struct view *view)
{
	next_column(view);
	put(view, "runs.file");
}

/* All facts, and the file where tables have it. */
static void put_facts(struct view *view, bool joined)
{
	for (enum opk_fact fact = 0; fact < OPK_FACT_COUNT; fact++) {
		const struct opk_column *column = opk_fact_column(fact, view->database->profiler);

		if (column && (joined || fact < OPK_FACT_LAUNCHES))
			put_fact(view, column->name);
		if (column && (fact == OPK_FACT_NAME || fact == OPK_FACT_SAMPLE_END))
			put_file(view);
	}
}

static void put_from(struct view *view)
{
	put(view, is_pm(view->database) ? "\nFROM samples r JOIN runs ON runs.id = r.run_id"
	                                : "\nFROM ranges r JOIN runs ON runs.id = r.run_id");
}

/* One value of the row: of the metric by this name, whichever of the runs' it is. */
static void put_metric(struct view *view, const char *name)
{
	const struct opk_strlist *names = &view->database->names;
	const char *comma = "";

	next_column(view);
	put(view,
	    is_pm(view->database)
	            ? "(SELECT value FROM sample_values WHERE sample_id = r.id AND metric_id IN ("
	            : "(SELECT value FROM range_values WHERE range_id = r.id AND metric_id IN (");
	for (size_t i = 0; i < names->count; i++)
		if (!strcmp(names->items[i], name)) {
			opk_buf_add_printf(&view->text, "%s%zu", comma, i + 1);
			comma = ", ";
		}
	put(view, ")) AS ");
	put_name(view, name);
}

static void put_named(struct view *view, const char *name)
{
	enum opk_fact fact;

	if (!strcmp(name, "file"))
		put_file(view);
	else if (opk_fact_find(&fact, name, view->database->profiler))
		put_fact(view, name);
	else
		put_metric(view, name);
}

static void put_all(struct view *view)
{
	const struct opk_strlist *names = &view->database->names;
	opk_autoindex struct opk_index seen = { 0 };

	put_facts(view, true);
	for (size_t i = 0; i < names->count && view->columns <= MOST_COLUMNS; i++) {
		size_t first;

		if (!opk_index_add(&seen, names->items[i], i, &first))
			view->text.failed = true;
		else if (first == i)
			put_metric(view, names->items[i]);
	}
}

static int create(struct view *view)
{
	opk_buf_add(&view->text, "", 1);
	return view->text.failed
	               ? opk_nomem(view->database->ctx, "a database")
	               : opk_sqlite_run(view->database->sqlite, (const char *)view->text.data);
}

static int add_wide(struct opk_database *database)
{
	struct view view = { .database = database };
	int code = OPK_OK;

	put(&view, "CREATE VIEW wide AS SELECT");
	for (size_t i = 0; i < database->shown.count; i++)
		put_named(&view, database->shown.items[i]);
	if (!database->shown.count)
		put_all(&view);
	put_from(&view);
	if (view.columns > MOST_COLUMNS)
		opk_log(database->ctx,
		        "%s: the view wide is left out: it would have more than %d columns",
		        database->file.path, MOST_COLUMNS);
	else
		code = create(&view);
	opk_buf_clear(&view.text);
	return code;
}

static int add_long(struct opk_database *database)
{
	struct view view = { .database = database };
	int code;

	put(&view, "CREATE VIEW long AS SELECT");
	put_facts(&view, false);
	put(&view, ",\n\tm.name AS metric,\n\tm.unit,\n\tv.value,\n\t");
	put(&view, is_pm(database) ? "k.inflated,\n\tk.position"
	                           : "v.launches,\n\tk.inflated,\n\tk.position");
	put_from(&view);
	put(&view, is_pm(database) ? "\nJOIN sample_values v ON v.sample_id = r.id"
	                           : "\nJOIN range_values v ON v.range_id = r.id");
	put(&view, "\nJOIN metrics m ON m.id = v.metric_id"
	           "\nJOIN run_metrics k ON k.run_id = r.run_id AND k.metric_id = m.id");
	code = create(&view);
	opk_buf_clear(&view.text);
	return code;
}

int opk_database_add_views(struct opk_database *database)
{
	int code = add_wide(database);

	return code ? code : add_long(database);
}
