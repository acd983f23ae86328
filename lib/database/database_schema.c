/* SPDX-License-Identifier: BSD-2-Clause */
/* A database's tables and views. A test compares them with docs/formats.md. */
#include "database/database.h"

#include <string.h>

#include "base/buf.h"
#include "eval/door.h"

/* ---- tables, for programs ------------------------------------------------------------ */

const char opk_database_schema[] =
	/* "opk" and the version of these tables. */
	"PRAGMA application_id = 0x6f706b00;\n"
	"PRAGMA user_version = 7;\n"
	"CREATE TABLE runs (\n"
	"	id INTEGER PRIMARY KEY,\n"
	"	file TEXT NOT NULL,\n"
	"	chip TEXT NOT NULL,\n"
	"	profiler TEXT NOT NULL,\n"
	"	set_name TEXT,\n"
	"	recorded_set TEXT,\n"
	"	set_version INTEGER,\n"
	"	set_hash TEXT,\n"
	"	config_hash TEXT,\n"
	"	passes INTEGER,\n"
	"	mode TEXT,\n"
	"	backend TEXT,\n"
	"	joined TEXT,\n"
	"	cupti_version INTEGER,\n"
	"	generator TEXT,\n"
	"	source TEXT,\n"
	"	complete INTEGER\n"
	");\n"
	"CREATE TABLE run_facts (\n"
	"	run_id INTEGER NOT NULL REFERENCES runs (id),\n"
	"	name TEXT NOT NULL,\n"
	"	value TEXT,\n"
	"	PRIMARY KEY (run_id, name)\n"
	") WITHOUT ROWID;\n"
	"CREATE TABLE devices (\n"
	"	run_id INTEGER NOT NULL REFERENCES runs (id),\n"
	"	device INTEGER NOT NULL,\n"
	"	name TEXT,\n"
	"	pci TEXT,\n"
	"	mig TEXT,\n"
	"	multiprocessors INTEGER,\n"
	"	max_sm_clock_khz INTEGER,\n"
	"	max_memory_clock_khz INTEGER,\n"
	"	compute_capability TEXT,\n"
	"	PRIMARY KEY (run_id, device)\n"
	") WITHOUT ROWID;\n"
	"CREATE TABLE metrics (\n"
	"	id INTEGER PRIMARY KEY,\n"
	"	name TEXT NOT NULL,\n"
	"	metric TEXT,\n"
	"	type TEXT,\n"
	"	hw_unit TEXT,\n"
	"	unit TEXT,\n"
	"	description TEXT,\n"
	"	formula TEXT\n"
	");\n"
	"CREATE TABLE run_metrics (\n"
	"	run_id INTEGER NOT NULL REFERENCES runs (id),\n"
	"	metric_id INTEGER NOT NULL REFERENCES metrics (id),\n"
	"	position INTEGER NOT NULL,\n"
	"	inflated INTEGER NOT NULL,\n"
	"	PRIMARY KEY (run_id, metric_id)\n"
	") WITHOUT ROWID;\n"
	"CREATE TABLE ranges (\n"
	"	id INTEGER PRIMARY KEY,\n"
	"	run_id INTEGER NOT NULL REFERENCES runs (id),\n"
	"	range INTEGER NOT NULL,\n"
	"	name TEXT,\n"
	"	kernel TEXT,\n"
	"	symbol TEXT,\n"
	"	grid TEXT,\n"
	"	block TEXT,\n"
	"	grid_x INTEGER,\n"
	"	grid_y INTEGER,\n"
	"	grid_z INTEGER,\n"
	"	block_x INTEGER,\n"
	"	block_y INTEGER,\n"
	"	block_z INTEGER,\n"
	"	device INTEGER,\n"
	"	launch INTEGER,\n"
	"	shared_bytes INTEGER,\n"
	"	registers INTEGER,\n"
	"	stream INTEGER,\n"
	"	context INTEGER,\n"
	"	nvtx TEXT,\n"
	"	process INTEGER,\n"
	"	rank INTEGER,\n"
	"	host TEXT,\n"
	"	gpu TEXT,\n"
	"	sm_mhz INTEGER,\n"
	"	memory_mhz INTEGER,\n"
	"	start_ns INTEGER,\n"
	"	count INTEGER,\n"
	"	duration_ns INTEGER,\n"
	"	launches INTEGER,\n"
	"	launches_min INTEGER,\n"
	"	kind TEXT,\n"
	"	end_ns INTEGER,\n"
	"	time_ns INTEGER,\n"
	"	min_ns INTEGER,\n"
	"	max_ns INTEGER,\n"
	"	shared_ns INTEGER,\n"
	"	graph_node INTEGER,\n"
	"	launch_latency_ns INTEGER,\n"
	"	gap_ns INTEGER,\n"
	"	host_gap_ns INTEGER,\n"
	"	bytes INTEGER,\n"
	"	samples INTEGER,\n"
	"	samples_alone INTEGER\n"
	");\n"
	"CREATE TABLE range_values (\n"
	"	range_id INTEGER NOT NULL REFERENCES ranges (id),\n"
	"	metric_id INTEGER NOT NULL REFERENCES metrics (id),\n"
	"	value REAL,\n"
	"	launches INTEGER,\n"
	"	PRIMARY KEY (range_id, metric_id)\n"
	") WITHOUT ROWID;\n"
	"CREATE TABLE samples (\n"
	"	id INTEGER PRIMARY KEY,\n"
	"	run_id INTEGER NOT NULL REFERENCES runs (id),\n"
	"	sample INTEGER NOT NULL,\n"
	"	start_ns INTEGER NOT NULL,\n"
	"	end_ns INTEGER NOT NULL,\n"
	"	spans_earlier INTEGER NOT NULL,\n"
	"	device INTEGER,\n"
	"	rank INTEGER,\n"
	"	host TEXT,\n"
	"	gpu TEXT\n"
	");\n"
	"CREATE TABLE sample_values (\n"
	"	sample_id INTEGER NOT NULL REFERENCES samples (id),\n"
	"	metric_id INTEGER NOT NULL REFERENCES metrics (id),\n"
	"	value REAL,\n"
	"	PRIMARY KEY (sample_id, metric_id)\n"
	") WITHOUT ROWID;\n"
	"CREATE TABLE code (\n"
	"	id INTEGER PRIMARY KEY,\n"
	"	run_id INTEGER NOT NULL REFERENCES runs (id),\n"
	"	range INTEGER NOT NULL,\n"
	"	symbol TEXT,\n"
	"	launches INTEGER,\n"
	"	module TEXT,\n"
	"	function TEXT,\n"
	"	offset INTEGER,\n"
	"	opcode TEXT,\n"
	"	sass TEXT,\n"
	"	source TEXT,\n"
	"	line INTEGER,\n"
	"	inlined_at TEXT,\n"
	"	addresses INTEGER\n"
	");\n"
	"CREATE TABLE code_values (\n"
	"	code_id INTEGER NOT NULL REFERENCES code (id),\n"
	"	metric_id INTEGER NOT NULL REFERENCES metrics (id),\n"
	"	value REAL,\n"
	"	PRIMARY KEY (code_id, metric_id)\n"
	") WITHOUT ROWID;\n"
	"CREATE TABLE nvtx (\n"
	"	run_id INTEGER NOT NULL REFERENCES runs (id),\n"
	"	range INTEGER NOT NULL,\n"
	"	name TEXT,\n"
	"	path TEXT,\n"
	"	level INTEGER NOT NULL,\n"
	"	parent INTEGER,\n"
	"	start_ns INTEGER NOT NULL,\n"
	"	end_ns INTEGER NOT NULL,\n"
	"	duration_ns INTEGER NOT NULL,\n"
	"	process INTEGER,\n"
	"	thread INTEGER,\n"
	"	rank INTEGER,\n"
	"	host TEXT,\n"
	"	PRIMARY KEY (run_id, range)\n"
	") WITHOUT ROWID;\n"
	"CREATE VIEW \"values\" AS\n"
	"	SELECT range_id, NULL AS sample_id, NULL AS code_id, metric_id, value FROM range_values\n"
	"	UNION ALL SELECT NULL, sample_id, NULL, metric_id, value FROM sample_values\n"
	"	UNION ALL SELECT NULL, NULL, code_id, metric_id, value FROM code_values;\n";

/*
 * Runs after all rows were added, which is faster. The table of devices has those that ranges,
 * samples and the run's facts name.
 */
const char opk_database_indexes[] =
	"INSERT INTO devices\n"
	"	SELECT run_id, device,\n"
	"		max(CASE fact WHEN 'name' THEN value END),\n"
	"		max(CASE fact WHEN 'pci' THEN value END),\n"
	"		max(CASE fact WHEN 'mig' THEN value END),\n"
	"		max(CASE fact WHEN 'multiprocessors' THEN value END),\n"
	"		max(CASE fact WHEN 'max_sm_clock_khz' THEN value END),\n"
	"		max(CASE fact WHEN 'max_memory_clock_khz' THEN value END),\n"
	"		max(CASE fact WHEN 'compute_capability_major' THEN value END) || '.' ||\n"
	"		max(CASE fact WHEN 'compute_capability_minor' THEN value END)\n"
	"	FROM (\n"
	"		SELECT run_id, CAST(substr(name, 8) AS INTEGER) AS device,\n"
	"			substr(name, 8 + instr(substr(name, 8), '.')) AS fact, value\n"
	"		FROM run_facts WHERE name GLOB 'device.[0-9]*.*'\n"
	/* "0x" and "00" are not numbers of devices. */
	"			AND name GLOB 'device.' || CAST(substr(name, 8) AS INTEGER) || '.*'\n"
	"		UNION ALL SELECT DISTINCT run_id, device, NULL, NULL FROM ranges\n"
	"		UNION ALL SELECT DISTINCT run_id, device, NULL, NULL FROM samples\n"
	"	) WHERE device IS NOT NULL GROUP BY run_id, device;\n"
	"CREATE INDEX metrics_name ON metrics (name);\n"
	"CREATE INDEX ranges_run ON ranges (run_id, range);\n"
	"CREATE INDEX ranges_name ON ranges (name);\n"
	"CREATE INDEX ranges_kernel ON ranges (kernel);\n"
	"CREATE INDEX range_values_metric ON range_values (metric_id, value);\n"
	"CREATE INDEX samples_run ON samples (run_id, sample);\n"
	"CREATE INDEX samples_start ON samples (start_ns);\n"
	"CREATE INDEX sample_values_metric ON sample_values (metric_id, value);\n"
	"CREATE INDEX code_run ON code (run_id, range);\n"
	"CREATE INDEX code_function ON code (function);\n"
	"CREATE INDEX code_line ON code (source, line);\n"
	"CREATE INDEX nvtx_path ON nvtx (path);\n"
	"CREATE INDEX code_values_metric ON code_values (metric_id, value);\n";

const char *const opk_database_inserts[OPK_TABLES] = {
	[OPK_INTO_RUNS] = "INSERT INTO runs VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
	/* The collector may note a fact twice. */
	[OPK_INTO_RUN_FACTS] = "INSERT OR REPLACE INTO run_facts VALUES (?,?,?)",
	[OPK_INTO_METRICS] = "INSERT INTO metrics VALUES (?,?,?,?,?,?,?,?)",
	[OPK_INTO_RUN_METRICS] = "INSERT INTO run_metrics VALUES (?,?,?,?)",
	[OPK_INTO_RANGES] = "INSERT INTO ranges VALUES "
			    "(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,"
			    "?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
	[OPK_INTO_RANGE_VALUES] = "INSERT INTO range_values VALUES (?,?,?,?)",
	[OPK_INTO_SAMPLES] = "INSERT INTO samples VALUES (?,?,?,?,?,?,?,?,?,?)",
	[OPK_INTO_SAMPLE_VALUES] = "INSERT INTO sample_values VALUES (?,?,?)",
	[OPK_INTO_CODE] = "INSERT INTO code VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
	[OPK_INTO_CODE_VALUES] = "INSERT INTO code_values VALUES (?,?,?)",
	[OPK_INTO_NVTX] = "INSERT INTO nvtx VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)",
};

const struct opk_database_kind *opk_database_kind(enum opk_profiler profiler)
{
	static const struct opk_database_kind kinds[] = {
		{ OPK_INTO_RANGES, OPK_INTO_RANGE_VALUES, "ranges", "range_values", "range_id",
		  "" },
		{ OPK_INTO_SAMPLES, OPK_INTO_SAMPLE_VALUES, "samples", "sample_values", "sample_id",
		  "samples_" },
		{ OPK_INTO_CODE, OPK_INTO_CODE_VALUES, "code", "code_values", "code_id", "code_" },
	};

	return &kinds[opk_profiler_is_code(profiler) ? 2 : profiler == OPK_PROFILER_PM];
}

const struct opk_column *opk_database_fact(enum opk_fact fact, enum opk_profiler profiler)
{
	bool is_code = opk_profiler_is_code(profiler);

	/* Rows of code have their function instead. */
	if (is_code && (fact == OPK_FACT_NAME || fact == OPK_FACT_KERNEL))
		return NULL;
	/* A database has samples as they were recorded. */
	if (fact == OPK_FACT_BINNED || fact == OPK_FACT_COVERED)
		return NULL;
	return opk_fact_column(fact, profiler);
}

/* ---- the views long and wide, for people ------------------------------------------------ */

enum { MOST_COLUMNS = 2000 }; /* SQLite's default limit */

/* The text of a view of ranges, samples or code, while it is written. */
struct view {
	const struct opk_database *database;
	const struct opk_database_kind *kind;
	enum opk_profiler profiler;
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

/* A row of a database is one sample. */
static void put_fact(struct view *view, enum opk_fact fact)
{
	next_column(view);
	if (opk_database_fact(fact, view->profiler))
		put(view, "r.");
	else if (fact == OPK_FACT_BINNED)
		put(view, "1 AS ");
	else if (fact == OPK_FACT_COVERED)
		put(view, "r.end_ns - r.start_ns AS ");
	else
		put(view, "r.function AS ");
	put_name(view, opk_fact_column(fact, view->profiler)->name);
}

static void put_file(struct view *view)
{
	next_column(view);
	put(view, "runs.file");
}

/* Some facts exist only for rows that describe what ran. */
static bool has_fact(const struct view *view, enum opk_fact fact, bool joined)
{
	if (opk_profiler_is_code(view->profiler))
		return true;
	if (fact > OPK_FACT_LAUNCHES_MIN)
		return view->database->has_ran;
	return joined || fact < OPK_FACT_LAUNCHES;
}

/* All facts, and the file if tables show it. */
static void put_facts(struct view *view, bool joined)
{
	for (enum opk_fact fact = 0; fact < OPK_FACT_COUNT; fact++) {
		const struct opk_column *column = opk_database_fact(fact, view->profiler);

		if (column && has_fact(view, fact, joined))
			put_fact(view, fact);
		if (column
		    && (fact == OPK_FACT_NAME || fact == OPK_FACT_SAMPLE_END
		        || fact == OPK_FACT_FUNCTION))
			put_file(view);
	}
}

static void put_from(struct view *view)
{
	opk_buf_add_printf(&view->text, "\nFROM %s r JOIN runs ON runs.id = r.run_id",
	                   view->kind->rows);
}

/* The row's value of the metric of this name: runs may have different metrics of one name. */
static void put_metric(struct view *view, const char *name)
{
	const struct opk_strlist *names = &view->database->names;
	const char *comma = "";

	next_column(view);
	opk_buf_add_printf(&view->text, "(SELECT value FROM %s WHERE %s = r.id AND metric_id IN (",
	                   view->kind->values, view->kind->id);
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
	else if (opk_fact_find(&fact, name, view->profiler))
		put_fact(view, fact);
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

		if (!view->database->uses[i].by[view->profiler])
			continue;
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

/* The first kind of rows has views with the plain names. */
static bool is_first(const struct view *view)
{
	for (enum opk_profiler profiler = 0; profiler < view->profiler; profiler++)
		if (view->database->has[profiler])
			return false;
	return true;
}

static void begin_view(struct view *view, const char *name)
{
	opk_buf_add_printf(&view->text, "CREATE VIEW %s%s AS SELECT",
	                   is_first(view) ? "" : view->kind->prefix, name);
}

static int add_wide(struct opk_database *database, enum opk_profiler profiler)
{
	struct view view = { .database = database,
		             .kind = opk_database_kind(profiler),
		             .profiler = profiler };
	int code = OPK_OK;

	begin_view(&view, "wide");
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

static int add_long(struct opk_database *database, enum opk_profiler profiler)
{
	struct view view = { .database = database,
		             .kind = opk_database_kind(profiler),
		             .profiler = profiler };
	bool ranges = profiler == OPK_PROFILER_RANGE;
	int code;

	begin_view(&view, "long");
	put_facts(&view, false);
	put(&view, ",\n\tm.name AS metric,\n\tm.unit,\n\tv.value,\n\t");
	put(&view,
	    ranges ? "v.launches,\n\tk.inflated,\n\tk.position" : "k.inflated,\n\tk.position");
	put_from(&view);
	opk_buf_add_printf(&view.text, "\nJOIN %s v ON v.%s = r.id", view.kind->values,
	                   view.kind->id);
	put(&view, "\nJOIN metrics m ON m.id = v.metric_id"
	           "\nJOIN run_metrics k ON k.run_id = r.run_id AND k.metric_id = m.id");
	code = create(&view);
	opk_buf_clear(&view.text);
	return code;
}

int opk_database_add_views(struct opk_database *database)
{
	for (enum opk_profiler profiler = 0; profiler < OPK_PROFILER_COUNT; profiler++) {
		if (!database->has[profiler])
			continue;
		TRY(add_wide(database, profiler));
		TRY(add_long(database, profiler));
	}
	return OPK_OK;
}
