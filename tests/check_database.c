/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Databases of evaluations, over the fake and read back with SQLite itself. An image has three
 * ranges, in each of which the n-th requested metric has the value 100 * range + n + 0.5.
 */
#include <fcntl.h>
#include <math.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <signal.h>

#include "allocation.h"
#include "base/mem.h"
#include "database/database.h"
#include "database/door.h"
#include "eval/door.h"
#include "fake_nv.h"
#include "folder.h"

enum { METRICS = 3, RANGES = 3 };

static const char *const names[METRICS] = { "fake__a.sum", "fake__b.sum", "fake__ratio.pct" };
static const struct opk_meta_label labels[] = { { "fake__b.sum", "b" } };
static const struct opk_meta_derived derived[] = { { "twice", "2 * b", "byte", "two of them" } };
static const struct opk_property facts[] = {
	{ "hostname", "node1" },
	{ "device.0.name", "H100" },
	{ "device.0.multiprocessors", "132" },
	{ "device.0.compute_capability_major", "9" },
	{ "device.0.compute_capability_minor", "0" },
	{ "device.12.name", "other" },
	{ "device.x", "none" },
	{ "device.0x.name", "wrong" },
	{ "device.00.name", "wrong" },
};
static const struct opk_meta base = {
	.kind = "recording",
	.chip = "FA100",
	.metrics = names,
	.metric_count = METRICS,
	.labels = labels,
	.label_count = 1,
	.derived = derived,
	.derived_count = 1,
	.run = facts,
	.run_count = COUNT(facts),
	.set_name = "some set",
	.passes = 3,
	.mode = "kernel",
};
static const struct opk_range ranges[RANGES] = {
	{ .name = "first",
	  .kernel = "k<a, \"b\">(int)",
	  .symbol = "_Zk",
	  .grid = { 4, 2, 1 },
	  .block = { 32, 1, 1 },
	  .device = 1,
	  .launch = 7,
	  .nvtx = "step",
	  .rank = 0 },
	{ .name = "it's",
	  .kernel = "",
	  .symbol = "",
	  .device = -1,
	  .nvtx = "",
	  .rank = -1,
	  .duration_ns = UINT64_MAX },
	{ .name = "last",
	  .kernel = "k2",
	  .symbol = "",
	  .device = 0,
	  .nvtx = "",
	  .rank = -1,
	  .start_ns = INT64_MAX,
	  .stream = 3 },
};

/* ---- writing ---------------------------------------------------------------------------- */

/* A recording and its evaluation, which a test writes. */
struct source {
	struct opk_ctx *ctx;
	struct opk_file *file;
	struct opk_evaluation *evaluation;
	const struct opk_meta *meta;
};

static void open_source(struct source *source, const struct opk_meta *meta)
{
	struct opk_eval_options options = OPK_INIT(options);
	struct opk_ctx *ctx = fake_ctx();
	struct opk_writer *writer;

	fake.image_is_pm = meta->profiler == OPK_PROFILER_PM;
	ck_ok(ctx, opk_writer_new(&writer, ctx, in_folder("t.opk")));
	ck_ok(ctx, opk_writer_add_meta(writer, meta));
	ck_ok(ctx, opk_writer_add(writer, OPK_SECTION_DATA, fake_image(), FAKE_IMAGE_SIZE));
	if (!fake.image_is_pm)
		ck_ok(ctx, opk_writer_add_ranges(writer, ranges, RANGES, sizeof(struct opk_range)));
	ck_ok(ctx, opk_writer_finish(writer));
	opk_writer_free(writer);
	ctx->timeout_s = 20;
	*source = (struct source){ .ctx = ctx };
	ck_ok(ctx, opk_file_open(&source->file, ctx, in_folder("t.opk")));
	ck_ok(ctx, opk_eval_file(&source->evaluation, ctx, source->file, &options));
	ck_ok(ctx, opk_file_meta(&source->meta, ctx, source->file));
}

static void close_source(struct source *source)
{
	opk_evaluation_free(source->evaluation);
	opk_file_free(source->file);
	opk_ctx_free(source->ctx);
}

static int add_rows(struct opk_database *database, const struct source *source)
{
	const struct opk_row *row;
	int code;

	while (!(code = opk_evaluation_next(&row, source->ctx, source->evaluation)) && row) {
		code = opk_database_add_row(database, row,
		                            opk_evaluation_values(source->evaluation), NULL);
		if (code)
			break;
	}
	return code;
}

/* What a test requests. */
struct wanted {
	const char *const *shown;
	size_t shown_count;
	const size_t *columns;
	size_t column_count;
	const bool *inflated;
	const char *set_name;
};

static int write_database(const struct source *source, const char *path,
                          const struct wanted *wanted)
{
	struct opk_database_options options = OPTIONS(options, .columns = wanted->shown,
	                                              .column_count = wanted->shown_count);
	struct opk_database_run run = OPTIONS(run, .file = "t.opk", .meta = source->meta,
	                                      .evaluation = source->evaluation,
	                                      .columns = wanted->columns,
	                                      .column_count = wanted->column_count,
	                                      .inflated = wanted->inflated,
	                                      .set_name = wanted->set_name);
	freed(opk_database) *database = NULL;

	TRY(opk_database_new(&database, source->ctx, path, &options));
	TRY(opk_database_add_run(database, &run));
	TRY(add_rows(database, source));
	return opk_database_finish(database);
}

/* ---- reading ---------------------------------------------------------------------------- */

static sqlite3 *open_database(const char *path)
{
	sqlite3 *sqlite;

	ck_assert_int_eq(sqlite3_open_v2(path, &sqlite, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	return sqlite;
}

/* All rows, "a|b" separated by newlines; doubles as %.17g, NULL as "-". */
static char *ask(const char *path, const char *sql)
{
	static char text[8192];
	sqlite3 *sqlite = open_database(path);
	sqlite3_stmt *statement;
	size_t used = 0;

	ck_assert_msg(sqlite3_prepare_v2(sqlite, sql, -1, &statement, NULL) == SQLITE_OK, "%s: %s",
	              sql, sqlite3_errmsg(sqlite));
	*text = '\0';
	while (sqlite3_step(statement) == SQLITE_ROW)
		for (int i = 0; i < sqlite3_column_count(statement); i++) {
			const char *before = i ? "|" : used ? "\n" : "";
			int type = sqlite3_column_type(statement, i);

			if (type == SQLITE_FLOAT)
				used += (size_t)snprintf(text + used, sizeof text - used, "%s%.17g",
				                         before,
				                         sqlite3_column_double(statement, i));
			else
				used += (size_t)snprintf(
					text + used, sizeof text - used, "%s%s", before,
					type == SQLITE_NULL
						? "-"
						: (const char *)sqlite3_column_text(statement, i));
			ck_assert_uint_lt(used, sizeof text);
		}
	sqlite3_finalize(statement);
	sqlite3_close(sqlite);
	return text;
}

static const char *path_of(void)
{
	static char path[512];

	snprintf(path, sizeof path, "%s", in_folder("t.db"));
	return path;
}

/* ---- tests ------------------------------------------------------------------------------ */

TEST(all_tables)
{
	static const bool inflated[] = { false, true, false, false };
	static const struct wanted wanted = { .inflated = inflated, .set_name = "another" };
	static const struct {
		struct here here;
		const char *sql, *wanted;
	} rows[] = {
		{ HERE, "PRAGMA integrity_check", "ok" },
		{ HERE, "PRAGMA foreign_key_check", "" },
		{ HERE, "PRAGMA user_version", "7" },
		{ HERE, "PRAGMA application_id", "1869638400" },
		{ HERE, "SELECT * FROM runs",
		  "1|t.opk|FA100|range|another|some set|-|-|-|3|kernel|-|-|-|-|-|1" },
		{ HERE, "SELECT count(*), min(value) FROM run_facts", "9|0" },
		{ HERE, "SELECT * FROM devices",
		  "1|0|H100|-|-|132|-|-|9.0\n1|1|-|-|-|-|-|-|-\n1|12|other|-|-|-|-|-|-" },
		{ HERE, "SELECT * FROM metrics ORDER BY id",
		  "1|fake__a.sum|fake__a.sum|counter|fake|bytes/second|a fake metric|-\n"
		  "2|b|fake__b.sum|counter|fake|bytes/second|a fake metric|-\n"
		  "3|fake__ratio.pct|fake__ratio.pct|ratio|fake|bytes/second|a fake metric|-\n"
		  "4|twice|-|derived|-|byte|two of them|2 * b" },
		{ HERE, "SELECT * FROM run_metrics ORDER BY position",
		  "1|1|1|0\n1|2|2|1\n1|3|3|0\n1|4|4|0" },
		{ HERE, "SELECT * FROM ranges",
		  "1|1|0|first|k<a, \"b\">(int)|_Zk|4x2x1|32x1x1|4|2|1|32|1|1|1|7|0|-|0|-|step|-|0|node1|-|-|-|-|-|-|1|1|-|-|-|-|-|-|-|-|-|-|-|-|-\n"
		  "2|1|1|it's|-|-|-|-|-|-|-|-|-|-|-|-|-|-|-|-|-|-|-|node1|-|-|-|-|-|1.8446744073709552e+19|1|1|-|-|-|-|-|-|-|-|-|-|-|-|-\n"
		  "3|1|2|last|k2|-|-|-|-|-|-|-|-|-|0|-|0|-|3|-|-|-|-|node1|-|-|-|9223372036854775807|-|-|1|1|-|-|-|-|-|-|-|-|-|-|-|-|-" },
		{ HERE, "SELECT * FROM range_values WHERE range_id = 2",
		  "2|1|100.5|-\n2|2|101.5|-\n2|3|102.5|-\n2|4|203|-" },
		{ HERE, "SELECT count(*) FROM samples", "0" },
		{ HERE, "SELECT * FROM \"values\" WHERE range_id = 3 AND metric_id = 1",
		  "3|-|-|1|200.5" },
		{ HERE,
		  "SELECT name, kernel, file, \"fake__a.sum\", b, twice FROM wide ORDER BY range",
		  "first|k<a, \"b\">(int)|t.opk|0.5|1.5|3\nit's|-|t.opk|100.5|101.5|203\n"
		  "last|k2|t.opk|200.5|201.5|403" },
		{ HERE,
		  "SELECT name, device, metric, unit, value, launches, inflated FROM long "
		  "WHERE range = 0 ORDER BY value",
		  "first|1|fake__a.sum|bytes/second|0.5|-|0\nfirst|1|b|bytes/second|1.5|-|1\n"
		  "first|1|fake__ratio.pct|bytes/second|2.5|-|0\nfirst|1|twice|byte|3|-|0" },
	};
	struct source source;

	open_source(&source, &base);
	ck_ok(source.ctx, write_database(&source, path_of(), &wanted));
	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *got = ask(path_of(), rows[i].sql);

		ck_row(&rows[i], !strcmp(got, rows[i].wanted), "%s: got\n%s", rows[i].sql, got);
	}
	ck_assert_int_eq(fake.hosts, 0);
	close_source(&source);
}

TEST(samples)
{
	static const struct wanted wanted = { 0 };
	struct opk_meta meta = base;
	struct source source;

	meta.profiler = OPK_PROFILER_PM;
	open_source(&source, &meta);
	ck_ok(source.ctx, write_database(&source, path_of(), &wanted));
	ck_assert_str_eq(ask(path_of(),
	                     "SELECT id, run_id, sample, end_ns > start_ns, device FROM samples"),
	                 "1|1|0|1|-\n2|1|1|1|-\n3|1|2|1|-");
	ck_assert_str_eq(ask(path_of(), "SELECT * FROM sample_values WHERE sample_id = 3"),
	                 "3|1|200.5\n3|2|201.5\n3|3|202.5\n3|4|403");
	ck_assert_str_eq(ask(path_of(), "SELECT sample, b FROM wide"), "0|1.5\n1|101.5\n2|201.5");
	ck_assert_str_eq(ask(path_of(),
	                     "SELECT sample, unit, value FROM long WHERE metric = 'twice'"),
	                 "0|byte|3\n1|byte|203\n2|byte|403");
	ck_assert_str_eq(ask(path_of(), "SELECT count(*) FROM ranges"), "0");
	close_source(&source);
}

/* Chosen columns: the view has these, and values of others are not stored. */
TEST(chosen_columns)
{
	static const char *const shown[] = { "twice", "file", "kernel", "name", "fake__a.sum" };
	static const size_t columns[] = { 3, 0, 3 };
	static const struct wanted wanted = { shown,          COUNT(shown), columns,
		                              COUNT(columns), NULL,         NULL };
	struct source source;

	open_source(&source, &base);
	ck_ok(source.ctx, write_database(&source, path_of(), &wanted));
	ck_assert_str_eq(
		ask(path_of(), "SELECT * FROM wide"),
		"3|t.opk|k<a, \"b\">(int)|first|0.5\n203|t.opk|-|it's|100.5\n403|t.opk|k2|last|200.5");
	ck_assert_str_eq(ask(path_of(), "SELECT group_concat(name) FROM pragma_table_info('wide')"),
	                 "twice,file,kernel,name,fake__a.sum");
	ck_assert_str_eq(ask(path_of(), "SELECT id, name FROM metrics ORDER BY id"),
	                 "1|twice\n2|fake__a.sum");
	ck_assert_str_eq(ask(path_of(),
	                     "SELECT count(*), min(metric_id), max(metric_id) FROM range_values"),
	                 "6|1|2");
	close_source(&source);
}

/* A metric that several runs have is kept once. */
TEST(keys_of_known_metrics)
{
	struct opk_database_options options = OPK_INIT(options);
	freed(opk_database) *database = NULL;
	struct source source;

	open_source(&source, &base);
	ck_ok(source.ctx, opk_database_new(&database, source.ctx, path_of(), &options));
	for (size_t i = 0; i < 3; i++) {
		struct opk_database_run run = OPTIONS(run, .file = "t.opk", .meta = source.meta,
		                                      .evaluation = source.evaluation);

		ck_ok(source.ctx, opk_database_add_run(database, &run));
		ck_assert_uint_eq(database->names.count, METRICS + 1);
		ck_assert_uint_eq(database->keys.count, METRICS + 1);
	}
	opk_database_free(opk_take(database));
	close_source(&source);
}

/* Both tables have all facts but those of samples put together, in the order of filled rows. */
TEST(columns_are_facts)
{
	static const struct wanted wanted = { 0 };
	static const char *const tables[] = { "ranges", "samples" };
	struct source source;

	open_source(&source, &base);
	ck_ok(source.ctx, write_database(&source, path_of(), &wanted));
	for (enum opk_profiler profiler = OPK_PROFILER_RANGE; profiler <= OPK_PROFILER_PM;
	     profiler++) {
		char sql[200], list[600] = "id,run_id";

		snprintf(sql, sizeof sql, "SELECT group_concat(name) FROM pragma_table_info('%s')",
		         tables[profiler]);
		for (enum opk_fact fact = 0; fact < OPK_FACT_MODULE; fact++) {
			const struct opk_column *column = opk_fact_column(fact, profiler);
			size_t used = strlen(list);

			if (column && fact != OPK_FACT_BINNED && fact != OPK_FACT_COVERED)
				snprintf(list + used, sizeof list - used, ",%s", column->name);
		}
		ck_assert_str_eq(ask(path_of(), sql), list);
	}
	close_source(&source);
}

/* Every bit, except the sign of 0 and the payload of a NaN. */
TEST(values_bit_for_bit)
{
	static const double odd[] = { 5e-324,
		                      2.2250738585072011e-308,
		                      1e300,
		                      (double)INFINITY,
		                      -(double)INFINITY,
		                      9007199254740993.0,
		                      0x1p63,
		                      0x1.8p62,
		                      -0x1p63,
		                      -1,
		                      0.1,
		                      1.0 / 3,
		                      12345678901234567890.0 };
	struct opk_database_run run = OPK_INIT(run);
	struct opk_database *database;
	uint64_t state = 88172645463325252u;
	double wanted[500];
	sqlite3_stmt *statement;
	struct source source;
	sqlite3 *sqlite;

	for (size_t i = 0; i < COUNT(wanted); i++) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		memcpy(&wanted[i], &state, sizeof *wanted);
		if (i < COUNT(odd))
			wanted[i] = odd[i];
	}
	wanted[COUNT(odd)] = (double)NAN;
	open_source(&source, &base);
	run.file = "t.opk";
	run.evaluation = source.evaluation;
	ck_ok(source.ctx, opk_database_new(&database, source.ctx, path_of(), NULL));
	ck_ok(source.ctx, opk_database_add_run(database, &run));
	for (size_t i = 0; i < COUNT(wanted); i++) {
		const struct opk_row row = { .index = i, .name = "" };
		double values[METRICS + 1] = { wanted[i] };

		ck_ok(source.ctx, opk_database_add_row(database, &row, values, NULL));
	}
	ck_ok(source.ctx, opk_database_finish(database));
	opk_database_free(database);
	sqlite = open_database(path_of());
	ck_assert_int_eq(sqlite3_prepare_v2(sqlite, "SELECT \"fake__a.sum\" FROM wide", -1,
	                                    &statement, NULL),
	                 SQLITE_OK);
	for (size_t i = 0; i < COUNT(wanted); i++) {
		double got;

		ck_assert_int_eq(sqlite3_step(statement), SQLITE_ROW);
		got = sqlite3_column_double(statement, 0);
		if (isnan(wanted[i]))
			ck_assert_int_eq(sqlite3_column_type(statement, 0), SQLITE_NULL);
		else
			ck_assert_msg(!memcmp(&got, &wanted[i], sizeof got), "%.17g is %.17g",
			              wanted[i], got);
	}
	sqlite3_finalize(statement);
	sqlite3_close(sqlite);
	close_source(&source);
}

/* Several runs share metrics that are equal in all; others stay separate. */
TEST(several_runs)
{
	static const struct opk_meta_derived other[] = { { "twice", "b + b", "byte",
		                                           "two of them" } };
	struct opk_database_run run = OPK_INIT(run);
	struct opk_database *database;
	struct source sources[2];
	struct opk_meta meta = base;

	open_source(&sources[0], &base);
	meta.derived = other;
	open_source(&sources[1], &meta);
	ck_ok(sources[0].ctx, opk_database_new(&database, sources[0].ctx, path_of(), NULL));
	for (size_t i = 0; i < 2; i++) {
		run.file = i ? "second" : "first";
		run.meta = sources[i].meta;
		run.evaluation = sources[i].evaluation;
		run.cut_off = i;
		ck_ok(sources[0].ctx, opk_database_add_run(database, &run));
		ck_ok(sources[i].ctx, add_rows(database, &sources[i]));
	}
	ck_ok(sources[0].ctx, opk_database_finish(database));
	opk_database_free(database);
	ck_assert_str_eq(ask(path_of(), "SELECT id, file, complete FROM runs"),
	                 "1|first|1\n2|second|0");
	ck_assert_str_eq(ask(path_of(), "SELECT id, name, formula FROM metrics WHERE id > 3"),
	                 "4|twice|2 * b\n5|twice|b + b");
	ck_assert_str_eq(ask(path_of(), "SELECT file, range, twice FROM wide WHERE range = 1"),
	                 "first|1|203\nsecond|1|203");
	ck_assert_str_eq(ask(path_of(), "SELECT count(*) FROM long"), "24");
	close_source(&sources[0]);
	close_source(&sources[1]);
}

TEST(samples_after_ranges)
{
	struct opk_database_run run = OPK_INIT(run);
	struct opk_meta meta = base;
	struct opk_database *database;
	struct source sources[2];

	open_source(&sources[0], &base);
	meta.profiler = OPK_PROFILER_PM;
	open_source(&sources[1], &meta);
	ck_ok(sources[0].ctx, opk_database_new(&database, sources[0].ctx, path_of(), NULL));
	run.file = "f";
	run.evaluation = sources[0].evaluation;
	ck_ok(sources[0].ctx, opk_database_add_run(database, &run));
	run.evaluation = sources[1].evaluation;
	ck_ok(sources[0].ctx, opk_database_add_run(database, &run));
	ck_ok(sources[1].ctx, add_rows(database, &sources[1]));
	ck_ok(sources[0].ctx, opk_database_finish(database));
	opk_database_free(database);
	ck_assert_str_eq(ask(path_of(), "SELECT count(*) FROM wide"), "0");
	ck_assert_str_eq(ask(path_of(), "SELECT count(*) > 0 FROM samples_wide"), "1");
	ck_assert_str_eq(ask(path_of(), "SELECT count(*) > 0 FROM samples_long"), "1");
	close_source(&sources[0]);
	close_source(&sources[1]);
}

/* A range's name may be any bytes, but readers of databases accept only UTF-8. */
TEST(text_becomes_utf8)
{
	static const struct {
		struct here here;
		const char *name, *wanted;
	} rows[] = {
		{ HERE, "plain", "plain" },
		{ HERE, "\xc3\xa9", "\xc3\xa9" },
		{ HERE, "a\xff\xc3", "a\xef\xbf\xbd\xef\xbf\xbd" },
		{ HERE, "", "-" },
	};
	struct opk_database_run run = OPK_INIT(run);
	struct source source;

	open_source(&source, &base);
	run.file = "f";
	run.evaluation = source.evaluation;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct opk_row row = { .name = rows[i].name };
		double values[METRICS + 1] = { 0 };
		struct opk_database *database;

		ck_ok(source.ctx, opk_database_new(&database, source.ctx, path_of(), NULL));
		ck_ok(source.ctx, opk_database_add_run(database, &run));
		ck_ok(source.ctx, opk_database_add_row(database, &row, values, NULL));
		ck_ok(source.ctx, opk_database_finish(database));
		opk_database_free(database);
		ck_row(&rows[i], !strcmp(ask(path_of(), "SELECT name FROM ranges"), rows[i].wanted),
		       "%s", ask(path_of(), "SELECT name FROM ranges"));
	}
	close_source(&source);
}

/* ---- the file --------------------------------------------------------------------------- */

TEST(replaced_when_complete)
{
	static const struct wanted wanted = { 0 };
	struct opk_database *database;
	struct source source;

	open_source(&source, &base);
	for (int finished = 1; finished >= 0; finished--) {
		ck_ok(source.ctx, opk_database_new(&database, source.ctx, path_of(), NULL));
		ck_assert(!finished || !opk_database_finish(database));
		opk_database_free(database);
	}
	ck_assert_uint_eq(entries(false), 2);
	ck_ok(source.ctx, write_database(&source, path_of(), &wanted));
	ck_assert_str_eq(ask(path_of(), "SELECT count(*) FROM ranges"), "3");
	ck_assert_uint_eq(entries(false), 2);
	close_source(&source);
}

/* SQLite would take these for URIs, special names, or its own files. */
TEST(odd_names)
{
	static const char *const odd[] = { ":memory:", "file:x?mode=memory", "a'b\"c%41.db", "x" };
	static const struct wanted wanted = { 0 };
	struct source source;
	char here[4096];

	ck_assert_ptr_nonnull(getcwd(here, sizeof here));
	ck_assert_int_eq(chdir(folder), 0);
	for (size_t i = 0; i < COUNT(odd); i++) {
		opk_autofree char *path = opk_printf("./%s", odd[i]);

		open_source(&source, &base);
		ck_ok(source.ctx, write_database(&source, odd[i], &wanted));
		ck_assert_str_eq(ask(path, "SELECT count(*) FROM ranges"), "3");
		close_source(&source);
	}
	ck_assert_int_eq(chdir(here), 0);
}

static const struct {
	struct here here;
	const char *name;
	size_t size;
	int code;
} another_program_beside_rows[] = {
	{ HERE, "t.db-wal", 4, OPK_EFAILED },
	{ HERE, "t.db-journal", 4, OPK_EFAILED },
	{ HERE, "t.db-wal", 0, OPK_OK },
	{ HERE, "t.db-shm", 4, OPK_OK },
};

TEST_EACH(another_program_beside, another_program_beside_rows)
{
	static const struct wanted wanted = { 0 };
	struct source source;
	int code;

	open_source(&source, &base);
	put_file(row->name, "left", row->size);
	code = write_database(&source, path_of(), &wanted);
	ck_row(row, code == row->code, "%d: %s", code, errors_of(source.ctx));
	ck_row(row, !code || told(source.ctx, row->name), "%s", errors_of(source.ctx));
	ck_row(row, !code == !access(path_of(), F_OK), "there or not");
	close_source(&source);
	entries(true);
}

/* The commit fails on a full disk at the latest, and no file stays. */
TEST(disk_full)
{
	static const struct wanted wanted = { 0 };
	struct rlimit old, small;
	struct source source;

	open_source(&source, &base);
	signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &old), 0);
	small = old;
	small.rlim_cur = 8192;
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
	ck_code(source.ctx, write_database(&source, path_of(), &wanted), OPK_EFAILED);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &old), 0);
	ck_assert(told(source.ctx, "SQLite"));
	ck_assert_uint_eq(entries(false), 1);
	close_source(&source);
}

FAKE_TEST(no_such_folder)
{
	struct opk_database *database = NULL;

	ck_fails(ctx, opk_database_new(&database, ctx, in_folder("none/t.db"), NULL), OPK_EFAILED,
	         "can't create");
	ck_assert_ptr_null(database);
	opk_database_free(NULL);
}

TEST(out_of_memory)
{
	static const char *const shown[] = { "twice", "name" };
	static const struct wanted wanted = { .shown = shown, .shown_count = 2 };
	long n = 0;
	int code;

	do {
		struct source source;

		open_source(&source, &base);
		fail_allocation(n++);
		code = write_database(&source, path_of(), &wanted);
		if (!allocation_failed())
			n = 0;
		ck_assert_msg(code == OPK_OK || code == OPK_ENOMEM, "%ld: %d", n, code);
		ck_assert_msg(!code == !access(path_of(), F_OK), "%ld", n);
		unlink(path_of());
		ck_assert_uint_eq(entries(false), 1);
		close_source(&source);
	} while (n);
}

SUITE(.set_up = make_folder, .tear_down = remove_folder);
