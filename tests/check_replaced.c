/* SPDX-License-Identifier: BSD-2-Clause */
/* The files that a new file may replace, and the metadata of files made from others. */
#include <sys/resource.h>

#include "base/file.h"
#include "containers.h"

enum { OUTPUTS = OPK_OUTPUT_AVAILABILITY + 1, NOTHING = -1, ANYTHING = -2 };

/* An older file: its content, and its kind in a refusal, or the kind that it only resembles. */
struct older {
	struct here here;
	const char *name;
	const char *text;
	size_t size; /* 0: length of the text */
	int kind;    /* of enum opk_output; NOTHING or ANYTHING may replace it */
	const char *is;
};

/* Moves the older file to its name in the test's folder, and returns the path. */
static const char *write_older(const struct older *older)
{
	static char at[120];

	snprintf(at, sizeof at, "%s/%s", folder, older->name);
	rename(path, at);
	return at;
}

/* Tries to replace an older file by each kind of output; some kinds refuse the name's ending. */
static void check_outputs(struct opk_ctx *ctx, const struct older *older)
{
	const char *at = write_older(older);

	for (int output = 0; output < OUTPUTS; output++) {
		bool good = older->kind == ANYTHING || output == older->kind;
		int code = opk_check_output(ctx, at, (enum opk_output)output);

		ck_row(older, ctx->log == unexpected_log, "notes get lost");
		if (code && (told(ctx, ": use .") || told(ctx, "whose name ends in .opk")))
			continue;
		ck_row(older, code == (good ? OPK_OK : OPK_EUSAGE), "%d, code %d: %s", output, code,
		       errors_of(ctx));
		if (!good && older->is)
			ck_row(older, told(ctx, older->is), "%s", errors_of(ctx));
		ck_row(older,
		       good || told(ctx, older->is ? " exists and is a" : " exists and is not a"),
		       "%s", errors_of(ctx));
	}
	unlink(at);
}

/* The header of an empty image. */
#define TEN_ZEROS "\0\0\0\0\0\0\0\0\0\0"
#define DATABASE(application)                                                                      \
	"SQLite format 3\0" TEN_ZEROS TEN_ZEROS TEN_ZEROS TEN_ZEROS TEN_ZEROS "\0\0" application
/* The head of an image; in a prefix the offsets after it are 0. */
#define IMAGE_HEAD "\x18\0\0\0\1\0\0\0\x3c\0\0\0\x80\1\0\0\x59\0\0\0\0\0\0\0\x3c\0\0\0"
#define SVG "<svg xmlns=\"http://www.w3.org/2000/svg\">"
static const struct older texts[] = {
	{ HERE, "empty", "", 0, ANYTHING, NULL },
	{ HERE, "notes", "hello\n", 0, NOTHING, NULL },
	{ HERE, "notes.txt", "hello\n", 0, NOTHING, NULL },
	{ HERE, "todo.txt", "TODO\n\nbuy milk\n", 0, NOTHING, NULL },
	{ HERE, "requirements.txt", "numpy\npandas\n", 0, NOTHING, NULL },
	{ HERE, "notes.csv", "hel\0lo\n", 7, NOTHING, NULL },
	{ HERE, "prose.csv", "Hello there\n", 0, NOTHING, NULL },
	{ HERE, "letter", "Hello, you\n", 0, NOTHING, NULL },
	{ HERE, "letter.txt", "Hello,\nyou\n", 0, NOTHING, NULL },
	{ HERE, "list.txt", "milk,butter,eggs\nand bread\n", 0, NOTHING, NULL },
	{ HERE, "imports", "import os,sys\nimport re,json\n", 0, NOTHING, NULL },
	{ HERE, "spaced.txt", "Done.  Next:\nall the rest\n", 0, NOTHING, NULL },
	{ HERE, "indented.txt", "    to do\n    done\n", 0, NOTHING, NULL },
	{ HERE, "one.txt", "name  value\n", 0, NOTHING, NULL },
	{ HERE, "table", "name,value\na,1\n", 0, OPK_OUTPUT_TABLE, NULL },
	{ HERE, "heading", "name,value\n", 0, OPK_OUTPUT_TABLE, NULL },
	{ HERE, "quoted", "name,value\n\"f(int, \"\"b\"\",\n int)\",1\n", 0, OPK_OUTPUT_TABLE,
	  NULL },
	{ HERE, "ragged", "name,value\n\"a,1\"\n", 0, NOTHING, NULL },
	{ HERE, "unended.csv", "name,value\n\"a,1\n", 0, NOTHING, NULL },
	{ HERE, "text", "chip   range\nGH100  yes\n", 0, OPK_OUTPUT_TABLE, NULL },
	{ HERE, "right", "  range  name\n    0 1  a b\n", 0, OPK_OUTPUT_TABLE, NULL },
	{ HERE, "units", "name     time\n           us\n", 0, OPK_OUTPUT_TABLE, NULL },
	{ HERE, "unit", "cycles  name\n     k\n     1  a\n", 0, OPK_OUTPUT_TABLE, NULL },
	{ HERE, "steps", "all  of it\n  in\nsteps\n", 0, NOTHING, NULL },
	{ HERE, "titles", "      Memory ----\nname  dram  l2\na     1     2\n", 0, OPK_OUTPUT_TABLE,
	  NULL },
	{ HERE, "record", "set   roofline\nwhat  Bytes\n      and more\n", 0, OPK_OUTPUT_TABLE,
	  NULL },
	{ HERE, "none", "segments: no rows\n", 0, OPK_OUTPUT_TABLE, NULL },
	{ HERE, "a.prom", "# HELP offpeak_samples samples\n", 0, OPK_OUTPUT_TABLE, NULL },
	{ HERE, "none.prom", "# EOF\n", 0, OPK_OUTPUT_TABLE, NULL },
	{ HERE, "b.prom", "# HELP node_load1 load\n", 0, NOTHING, NULL },
	{ HERE, "names.csv", "name\na\n", 0, OPK_OUTPUT_TABLE, NULL },
	{ HERE, "names.dat", "name\na\n", 0, NOTHING, NULL },
	{ HERE, "told", "name\n\0", 6, NOTHING, NULL },
	{ HERE, "essay", "It was a dark night.\n", 0, NOTHING, NULL },
	{ HERE, "rows", "[{\"a\":1}\n,{\"a\":2}\n]\n", 0, OPK_OUTPUT_TABLE, NULL },
	{ HERE, "row", "{\"a\":1}", 0, OPK_OUTPUT_TABLE, NULL },
	{ HERE, "no-rows", "[]\n", 0, OPK_OUTPUT_TABLE, NULL },
	{ HERE, "package.json", "{\n  \"name\": \"mine\"\n}\n", 0, NOTHING, NULL },
	{ HERE, "python.json", "{\"name\": \"mine\"}\n", 0, NOTHING, NULL },
	{ HERE, "list.json", "[{\"name\": 1}]\n", 0, NOTHING, NULL },
	{ HERE, "numbers.json", "[1,2]\n", 0, NOTHING, NULL },
	{ HERE, "settings", "[core]\n", 0, NOTHING, NULL },
	{ HERE, "program", "import os, sys\n", 0, NOTHING, NULL },
	{ HERE, "db", DATABASE("opk"), 72, OPK_OUTPUT_DATABASE, "a SQLite database of offpeak" },
	{ HERE, "db.csv", DATABASE("opk"), 72, OPK_OUTPUT_DATABASE,
	  "a SQLite database of offpeak" },
	{ HERE, "theirs", DATABASE("gpkg"), 72, NOTHING, NULL },
	{ HERE, "columns", "PAR1...", 0, OPK_OUTPUT_PARQUET, "a Parquet file" },
	{ HERE, "data", "LOPDATA\0...", 11, OPK_OUTPUT_IMAGE, "a bare counter data image" },
	{ HERE, "image", "LOPDATA\0" IMAGE_HEAD "\1" TEN_ZEROS TEN_ZEROS, 57, OPK_OUTPUT_IMAGE,
	  "a bare counter data image" },
	{ HERE, "prefix", "LOPDATA\0" IMAGE_HEAD "\0" TEN_ZEROS TEN_ZEROS, 57, OPK_OUTPUT_PREFIX,
	  "a bare counter-data prefix" },
	{ HERE, "config", "\x14\0\0\0LOPC...", 11, OPK_OUTPUT_CONFIG, "a bare config image" },
	{ HERE, "config2", "\x18\0\0\0LOPC\0\0\0\0", 12, OPK_OUTPUT_CONFIG, "a bare config image" },
	{ HERE, "available", "\x10\0\0\0\x0c\0\x14\0", 8, OPK_OUTPUT_AVAILABILITY,
	  "a bare counter-availability image" },
	{ HERE, "aligned", "\x14\0\0\0\0\0\x0e\0", 8, OPK_OUTPUT_AVAILABILITY,
	  "a bare counter-availability image" },
	{ HERE, "m.tflite", "\x20\0\0\0TFL3\0\0\0\0", 12, NOTHING, NULL },
	{ HERE, "numbers", "\4\0\0\0\1\0\0\0\2\0\0\0", 12, NOTHING, NULL },
	{ HERE, "zeros", "\x94\0\0\0\0\0\0\0", 8, NOTHING, NULL },
	{ HERE, "picture", SVG, 0, OPK_OUTPUT_SVG, "an SVG picture" },
	{ HERE, "commented", "<?xml version=\"1.0\"?>\n<!-- <html> -->\n" SVG, 0, OPK_OUTPUT_SVG,
	  "an SVG picture" },
	{ HERE, "unended", "<!-- " SVG, 0, NOTHING, NULL },
	{ HERE, "other", "<svgs>", 0, NOTHING, NULL },
	{ HERE, "page", "<!DOCTYPE html>\n<title>x</title>" SVG, 0, OPK_OUTPUT_HTML,
	  "an HTML page" },
	{ HERE, "old-page", "<HTML lang=\"en\">", 0, OPK_OUTPUT_HTML, "an HTML page" },
	{ HERE, "tests", "<?xml version=\"1.0\"?><testsuites tests=\"1\">", 0, OPK_OUTPUT_JUNIT,
	  "a JUnit file" },
	{ HERE, "trace", "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", 0, OPK_OUTPUT_TRACE,
	  "a trace" },
	{ HERE, "t.json.gz", "\x1f\x8b\b", 0, OPK_OUTPUT_TRACE, "a trace" },
	{ HERE, "t.tar.gz", "\x1f\x8b\b", 0, NOTHING, NULL },
	{ HERE, "set", "# A\n# B. From b by offpeak sets --import.\nname: x", 0,
	  OPK_OUTPUT_WRITTEN_SET, "a set that" },
	{ HERE, "wrapped", "# From b by\n# offpeak sets\n# --import.\nname: x", 0,
	  OPK_OUTPUT_WRITTEN_SET, "a set that" },
	{ HERE, "own", "# my set\nname: by offpeak sets --import\n", 0, NOTHING, NULL },
};

static const struct {
	struct here here;
	const char *begin, *piece;
	bool table;
} long_lines_rows[] = {
	{ HERE, "name", ",b", true },    { HERE, "name", "  b", true },
	{ HERE, "a,b\n1", "2", true },   { HERE, "a   b\n1  ", " 2", true },
	{ HERE, "name", "b", false },    { HERE, "name", " b", false },
	{ HERE, "name\nb", "b", false },
};

/* The first line of a table may be longer than the part that is read, and so may the second. */
CTX_TEST_EACH(long_lines, long_lines_rows)
{
	enum { LONG = 9000 };
	opk_autobuf struct opk_buf text = { 0 };

	*strrchr(path, '.') = '\0'; /* .opk is for recordings */
	opk_buf_add_text(&text, row->begin);
	while (text.size < LONG)
		opk_buf_add_text(&text, row->piece);
	write_bytes(text.data, text.size);
	ck_row(row,
	       opk_check_output(ctx, path, OPK_OUTPUT_TABLE) == (row->table ? OPK_OK : OPK_EUSAGE),
	       "%s", errors_of(ctx));
}

CTX_TEST_EACH(kinds_by_content, texts)
{
	write_bytes(row->text, row->size ? row->size : strlen(row->text));
	check_outputs(ctx, row);
}

/* Writes a file with only metadata. */
static void write_opk(struct opk_ctx *ctx, const char *kind, const char *made_by, int output)
{
	const struct opk_meta meta = {
		.kind = kind,
		.chip = "GH100",
		.metrics = metric_names,
		.metric_count = strcmp(kind, "probe") ? 1 : 0,
		.made_by = made_by,
	};
	freed(opk_writer) *writer = NULL;

	ck_ok(ctx, opk_writer_new_made(&writer, ctx, path, (enum opk_output)output));
	ck_ok(ctx, opk_writer_add_meta(writer, &meta));
	ck_ok(ctx, opk_writer_finish(writer));
}

static const struct {
	struct older older;
	const char *kind, *made_by;
	int output;
} kinds_by_metadata_rows[] = {
	{ { HERE, "r", "", 0, OPK_OUTPUT_RECORDING, "a recording" },
	  "recording",
	  "",
	  OPK_OUTPUT_RECORDING },
	{ { HERE, "r.csv", "", 0, OPK_OUTPUT_RECORDING, "a recording" },
	  "recording",
	  NULL,
	  OPK_OUTPUT_RECORDING },
	{ { HERE, "later", "", 0, OPK_OUTPUT_RECORDING, "a recording" },
	  "recording",
	  "mix",
	  OPK_OUTPUT_RECORDING },
	{ { HERE, "p", "", 0, OPK_OUTPUT_PROBE, "a probe" }, "probe", "", OPK_OUTPUT_RECORDING },
	{ { HERE, "set", "", 0, OPK_OUTPUT_SET, "a built set" }, "set", "", OPK_OUTPUT_SET },
	{ { HERE, "m", "", 0, OPK_OUTPUT_MERGED, "a merged recording" },
	  "recording",
	  "",
	  OPK_OUTPUT_MERGED },
	{ { HERE, "t", "", 0, OPK_OUTPUT_TRIMMED, "a trimmed recording" },
	  "recording",
	  "merge",
	  OPK_OUTPUT_TRIMMED },
	{ { HERE, "s", "", 0, OPK_OUTPUT_PART, "a part of" },
	  "recording",
	  "a\"b",
	  OPK_OUTPUT_PART },
	{ { HERE, "f", "", 0, OPK_OUTPUT_RECOVERED, "a recovered recording" },
	  "recording",
	  "",
	  OPK_OUTPUT_RECOVERED },
	{ { HERE, "i", "", 0, OPK_OUTPUT_IMPORTED, "an imported recording" },
	  "recording",
	  "",
	  OPK_OUTPUT_IMPORTED },
};

CTX_TEST_EACH(kinds_by_metadata, kinds_by_metadata_rows)
{
	write_opk(ctx, row->kind, row->made_by, row->output);
	check_outputs(ctx, &row->older);
}

/* Unknown members stay. */
CTX_TEST(makers_of_copies)
{
	static const char earlier[] =
		"{\"made_by\":\"merge\",\"kind\":\"recording\",\"chip\":\"GH100\","
		"\"profiler\":\"range\",\"metrics\":[\"a__b.sum\"],\"later\":1}";
	opk_autofree char *text = NULL;
	const struct opk_meta *meta;
	struct opk_writer *writer;
	freed(opk_file) *file = NULL;
	size_t size;

	for (int i = 0; i < 3; i++) {
		ck_ok(ctx, opk_writer_new_made(&writer, ctx, path, OPK_OUTPUT_TRIMMED));
		if (file)
			ck_ok(ctx, opk_writer_copy(writer, file, 0));
		else
			ck_ok(ctx, opk_writer_add(writer, OPK_SECTION_META, earlier,
			                          sizeof earlier - 1));
		ck_ok(ctx, opk_writer_finish(writer));
		opk_writer_free(writer);
		opk_file_free(file);
		ck_ok(ctx, opk_file_open(&file, ctx, path));
		unlink(path);
	}
	ck_ok(ctx, opk_file_meta(&meta, ctx, file));
	ck_assert_str_eq(meta->made_by, "trim");
	ck_ok(ctx, opk_file_read((void **)&text, &size, ctx, file, 0));
	ck_assert(memmem(text, size, "\"later\":1}", 10) && !memmem(text, size, "merge", 5));
}

/*
 * Unreadable metadata may be a recording's; and the kind of a file that can't be opened is unknown.
 */
CTX_TEST(what_cant_be_read)
{
	struct rlimit before, none;
	const struct opk_cause *cause;

	write_bytes(OPK_MAGIC "\2\0\0\0\0\0\0\0", OPK_MAGIC_SIZE + 8);
	ck_code(ctx, opk_check_output(ctx, path, OPK_OUTPUT_SET), OPK_EUSAGE);
	cause = opk_error_cause(ctx, 0);
	ck_assert_ptr_nonnull(strstr(cause->message, "is a damaged .opk file: it is not replaced"));
	ck_assert_int_eq(cause->remedy, OPK_REMEDY_RECOVER);
	ck_code(ctx, opk_check_output(ctx, path, OPK_OUTPUT_RECORDING), OPK_EUSAGE);
	write_bytes(OPK_MAGIC "\x63\0\0\0\0\0\0\0", OPK_MAGIC_SIZE + 8);
	ck_code(ctx, opk_check_output(ctx, path, OPK_OUTPUT_SET), OPK_EUSAGE);
	cause = opk_error_cause(ctx, 0);
	ck_assert_ptr_nonnull(
		strstr(cause->message, "of another format version: it is not replaced"));
	ck_assert_int_eq(cause->remedy, OPK_REMEDY_FORCE);
	ck_code(ctx, opk_check_output(ctx, path, OPK_OUTPUT_RECORDING), OPK_EUSAGE);
	ctx->force = true;
	ck_ok(ctx, opk_check_output(ctx, path, OPK_OUTPUT_RECORDING));
	ctx->force = false;
	getrlimit(RLIMIT_NOFILE, &before);
	none = (struct rlimit){ 0, before.rlim_max };
	setrlimit(RLIMIT_NOFILE, &none);
	ck_code(ctx, opk_check_output(ctx, path, OPK_OUTPUT_RECORDING), OPK_EUSAGE);
	setrlimit(RLIMIT_NOFILE, &before);
	ck_assert(told(ctx, "exists and can't be read: Too many open files: it is not replaced"));
}

/* The message suggests --force only if this user may replace the file. */
CTX_TEST(who_may_replace)
{
	static const struct {
		struct here here;
		mode_t mode;  /* of the folder */
		bool ours;    /* the file */
		bool advised; /* for root, who can become two users */
		bool alone;   /* for other users, who own both */
	} rows[] = {
		{ HERE, 0777, false, true, true },
		{ HERE, 0555, false, false, false },
		{ HERE, 01777, false, false, true },
		{ HERE, 01777, true, true, true },
	};
	bool root = !geteuid();

	write_bytes("<svg>", 5);
	for (size_t i = 0; i < COUNT(rows); i++) {
		enum opk_remedy remedy;

		ck_assert_int_eq(root && chown(path, rows[i].ours ? 65534 : 0, 0), 0);
		ck_assert_int_eq(chmod(folder, rows[i].mode), 0);
		ck_assert_int_eq(root && setresuid(65534, 65534, 0), 0);
		ck_code(ctx, opk_check_output(ctx, path, OPK_OUTPUT_RECORDING), OPK_EUSAGE);
		remedy = opk_error_cause(ctx, 0)->remedy;
		ck_row(&rows[i],
		       (remedy == OPK_REMEDY_FORCE) == (root ? rows[i].advised : rows[i].alone),
		       "%d", remedy);
		ck_assert_int_eq(root && setresuid(0, 0, 0), 0);
	}
	chmod(folder, 0700);
}

/* Another program writes a file of that name meanwhile; no part of our file stays. */
CTX_TEST(what_came_meanwhile)
{
	static const struct {
		struct here here;
		const char *text;
		int code;
	} rows[] = {
		{ HERE, "", OPK_OK },
		{ HERE, "<testsuites>", OPK_OK },
		{ HERE, "notes\n", OPK_EUSAGE },
		{ HERE, OPK_MAGIC "\1\0\0\0", OPK_EUSAGE },
	};
	opk_autofree void *bytes = NULL;
	size_t size;

	*strrchr(path, '.') = '\0'; /* .opk is for recordings */
	for (size_t i = 0; i < 2 * COUNT(rows); i++) {
		const char *text = rows[i / 2].text;
		struct opk_newfile file = { 0 }, *files[] = { &file };
		int code;

		unlink(path);
		ck_ok(ctx,
		      opk_newfile_create(&file, ctx, path, opk_check_output, OPK_OUTPUT_JUNIT));
		ck_ok(ctx, opk_newfile_write(&file, "new", 3));
		write_bytes(text, strlen(text));
		code = i % 2 ? opk_newfile_commit(&file) : opk_newfiles_commit(files, 1);
		ck_row(&rows[i / 2], code == rows[i / 2].code, "%d: %s", code, errors_of(ctx));
		opk_newfile_discard(&file);
		free(opk_take(bytes));
		ck_ok(ctx, opk_read_file(&bytes, &size, ctx, path));
		ck_row(&rows[i / 2], !strcmp(bytes, code ? text : "new"), "%s", (char *)bytes);
	}
}

/* The metadata of a new file from opk_writer_new() name its kind. */
CTX_TEST(kinds_of_new_files)
{
	static const char *const kinds[] = { "recording", "set", "probe" };
	struct opk_meta meta = { .chip = "GH100", .metrics = metric_names };
	struct opk_writer *writer;

	for (size_t i = 0; i < 2 * COUNT(kinds) * COUNT(kinds); i++) {
		size_t older = i / 2 % COUNT(kinds), newer = i / 2 / COUNT(kinds);
		const char *kind = kinds[newer];

		unlink(path);
		write_opk(ctx, kinds[older], "", OPK_OUTPUT_RECORDING);
		ctx->force = i % 2;
		meta.kind = kind;
		meta.metric_count = strcmp(kind, "probe") ? 1 : 0;
		ck_ok(ctx, opk_writer_new(&writer, ctx, path));
		ck_code(ctx, opk_writer_add_meta(writer, &meta),
		        older == newer || ctx->force ? OPK_OK : OPK_EUSAGE);
		opk_writer_free(writer);
		ctx->force = false;
	}
}

static const struct {
	struct here here;
	const char *name;
	enum opk_output output;
	const char *message; /* NULL: accepted */
} endings_and_devices_rows[] = {
	{ HERE, "/nowhere/x.SVG", OPK_OUTPUT_SVG, NULL },
	{ HERE, "/no.where/x", OPK_OUTPUT_SVG, NULL },
	{ HERE, "/nowhere/.x", OPK_OUTPUT_SVG, NULL },
	{ HERE, "/nowhere/x.png", OPK_OUTPUT_SVG, "use .svg" },
	{ HERE, "/nowhere/x.htm", OPK_OUTPUT_HTML, NULL },
	{ HERE, "/nowhere/x.txt", OPK_OUTPUT_HTML, "use .html" },
	{ HERE, "/nowhere/x.json.gz", OPK_OUTPUT_TRACE, NULL },
	{ HERE, "/nowhere/x.trace", OPK_OUTPUT_TRACE, "use .json.gz or .json" },
	{ HERE, "/nowhere/x.y", OPK_OUTPUT_DATABASE, NULL },
	{ HERE, "/nowhere/x.CSV", OPK_OUTPUT_BAKED,
	  "x.CSV: the output is a baked recording, whose name ends in .opk" },
	{ HERE, "/nowhere/x.db", OPK_OUTPUT_SET,
	  "the output is a built set, whose name ends in .opk" },
	{ HERE, "/nowhere/x.yaml", OPK_OUTPUT_SET, "whose name ends in .opk" },
	{ HERE, "/nowhere/x.json.gz", OPK_OUTPUT_MERGED, "whose name ends in .opk" },
	{ HERE, "/nowhere/x.png", OPK_OUTPUT_RECORDING, "whose name ends in .opk" },
	{ HERE, "/nowhere/x.ncu-rep", OPK_OUTPUT_IMPORTED, "whose name ends in .opk" },
	{ HERE, "/nowhere/x.sqlite-db", OPK_OUTPUT_TRIMMED, "whose name ends in .opk" },
	{ HERE, "/nowhere/x.y", OPK_OUTPUT_RECORDING, NULL },
	{ HERE, "/nowhere/x.csv", OPK_OUTPUT_IMAGE, NULL },
	{ HERE, "/nowhere/x.opk", OPK_OUTPUT_PARQUET,
	  "x.opk: .opk is for recordings and built sets, and the output is a Parquet file" },
	{ HERE, "/nowhere/x.OPK", OPK_OUTPUT_JUNIT, "the output is a JUnit file" },
	{ HERE, "/nowhere/x.opk", OPK_OUTPUT_DATABASE, "the output is a SQLite database" },
	{ HERE, "/dev/null", OPK_OUTPUT_HTML, NULL },
	{ HERE, "/dev/stdout", OPK_OUTPUT_RECORDING, NULL },
	{ HERE, "/", OPK_OUTPUT_TABLE, NULL }, /* not writable */
};

CTX_TEST_EACH(endings_and_devices, endings_and_devices_rows)
{
	int code = opk_check_output(ctx, row->name, row->output);

	ck_row(row, code == (row->message ? OPK_EUSAGE : OPK_OK), "%d: %s", code, errors_of(ctx));
	if (code)
		ck_row(row, told(ctx, row->message), "%s", errors_of(ctx));
}

SUITE(.set_up = make_path, .tear_down = remove_path);
