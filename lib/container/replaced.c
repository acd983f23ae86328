/* SPDX-License-Identifier: BSD-2-Clause */
/* What a new file may replace: an older one of its own kind, which content tells, or the ending. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/descriptor.h"
#include "base/mem.h"
#include "base/stream.h"
#include "container/container.h"

/* Kinds are told by so many bytes: comments may stand before what matters. */
enum { START = 4096 };
struct start {
	char bytes[START + 1]; /* and zeros */
	size_t size;
	const char *path;
};

static const char blanks[] = " \t\r\n";

static bool begins(const struct start *start, const void *bytes, size_t size)
{
	return start->size >= size && !memcmp(start->bytes, bytes, size);
}

static bool ends(const char *text, const char *with)
{
	size_t length = strlen(text), end = strlen(with);

	return length >= end && !strcasecmp(text + length - end, with);
}

/* Whether the name has one of these endings, as in ".html .htm". */
static bool has_ending(const char *path, const char *endings)
{
	for (size_t length; *endings; endings += length + (endings[length] == ' ')) {
		char ending[16];

		length = strcspn(endings, " ");
		snprintf(ending, sizeof ending, "%.*s", (int)length, endings);
		if (ends(path, ending))
			return true;
	}
	return false;
}

static bool lacks_ending(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	const char *dot = strrchr(name, '.');

	return !dot || dot == name;
}

/* ---- content */

static bool is_opk(const struct start *start)
{
	return begins(start, OPK_MAGIC, OPK_MAGIC_SIZE);
}

static bool is_database(const struct start *start)
{
	return begins(start, "SQLite format 3", sizeof "SQLite format 3");
}

static bool is_parquet(const struct start *start)
{
	return begins(start, "PAR1", 4);
}

/* The name of a document's first element, after the XML declaration and comments; else "". */
static const char *first_element(const char *text)
{
	text += strspn(text, blanks);
	while (*text == '<' && (text[1] == '?' || text[1] == '!')) {
		const char *end = !strncmp(text, "<!--", 4) ? "-->" : ">";
		const char *found = strstr(text, end);

		if (!strncasecmp(text, "<!doctype html", 14))
			return "html";
		if (!found)
			return "";
		text = found + strlen(end);
		text += strspn(text, blanks);
	}
	return *text == '<' ? text + 1 : "";
}

static bool is_element(const struct start *start, const char *name)
{
	const char *found = first_element(start->bytes);
	size_t length = strlen(name);

	return !strncasecmp(found, name, length)
	       && (!found[length] || strchr(" \t\r\n>", found[length]));
}

static bool is_svg(const struct start *start)
{
	return is_element(start, "svg");
}

static bool is_html(const struct start *start)
{
	return is_element(start, "html");
}

static bool is_junit(const struct start *start)
{
	return is_element(start, "testsuites") || is_element(start, "testsuite");
}

/* An object or array; "[section]" of a settings file is none. */
static bool is_json(const struct start *start)
{
	const char *text = start->bytes + strspn(start->bytes, blanks);
	const char *inside = text + 1 + (*text ? strspn(text + 1, blanks) : 0);

	return (*text == '{' && *inside && strchr("\"}", *inside))
	       || (*text == '[' && *inside && strchr("{[\"]-0123456789", *inside));
}

/* What is compressed goes by its name. */
static bool is_trace(const struct start *start)
{
	if (begins(start, "\x1f\x8b", 2))
		return has_ending(start->path, ".json.gz .json");
	return is_json(start) && strstr(start->bytes, "\"traceEvents\"");
}

/* The comment at its beginning says which command wrote it; its lines may break anywhere. */
static bool is_written_set(const struct start *start)
{
	static const char author[] = "byoffpeaksets--";
	size_t matched = 0;

	for (const char *line = start->bytes; *line == '#'; line += *line == '\n') {
		for (; *line && *line != '\n'; line++) {
			if (strchr("# \t\r", *line))
				continue;
			matched = *line == author[matched] ? matched + 1 : *line == *author;
			if (!author[matched])
				return true;
		}
	}
	return false;
}

/* Images of CUPTI and PerfWorks: counter data and prefixes; flatbuffers, which begin so. */
static bool is_image(const struct start *start)
{
	return begins(start, "LOPDATA", sizeof "LOPDATA")
	       || (start->size >= 8 && start->bytes[0] >= 4
	           && !memcmp(start->bytes + 1, "\0\0", 3));
}

/* Several columns, the first with a name of one word, and no text in which blanks follow commas. */
static bool has_csv_heading(const struct start *start)
{
	static const char word[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.%";
	const char *comma = start->bytes + strspn(start->bytes, word);

	return comma > start->bytes && *comma == ',' && comma[1] && !strchr(blanks, comma[1]);
}

static bool is_table(const struct start *start)
{
	if (is_json(start) || has_csv_heading(start))
		return true;
	return strlen(start->bytes) == start->size
	       && has_ending(start->path, ".csv .json .ndjson .jsonl .txt");
}

/* ---- kinds */

/*
 * In the order in which they are asked. A name must have one of the endings, or none; without a
 * hint any will do. Those of a maker are .opk files that metadata say it made.
 */
static const struct kind {
	enum opk_output output;
	const char *name;
	bool (*is)(const struct start *start);
	const char *endings, *hint;
	const char *maker;
} kinds[] = {
	{ OPK_OUTPUT_RECORDING, "a recording", is_opk, NULL, NULL, NULL },
	{ OPK_OUTPUT_SET, "a built set", is_opk, NULL, NULL, NULL },
	{ OPK_OUTPUT_MERGED, "a merged recording", is_opk, NULL, NULL, "merge" },
	{ OPK_OUTPUT_TRIMMED, "a trimmed recording", is_opk, NULL, NULL, "trim" },
	{ OPK_OUTPUT_PART, "a part of a divided recording", is_opk, NULL, NULL, "split" },
	{ OPK_OUTPUT_RECOVERED, "a recovered recording", is_opk, NULL, NULL, "recover" },
	{ OPK_OUTPUT_IMPORTED, "an imported recording", is_opk, NULL, NULL, "import" },
	{ OPK_OUTPUT_DATABASE, "a SQLite database", is_database, NULL, NULL, NULL },
	{ OPK_OUTPUT_PARQUET, "a Parquet file", is_parquet, NULL, NULL, NULL },
	{ OPK_OUTPUT_IMAGE, "a bare image of CUPTI", is_image, NULL, NULL, NULL },
	{ OPK_OUTPUT_SVG, "an SVG picture", is_svg, ".svg",
	  "a picture is SVG: use .svg, of which rsvg-convert makes PNG or PDF: rsvg-convert -z 2 "
	  "x.svg -o x.png",
	  NULL },
	{ OPK_OUTPUT_HTML, "an HTML page", is_html, ".html .htm",
	  "a page is HTML: use .html; a browser can print it as PDF", NULL },
	{ OPK_OUTPUT_JUNIT, "a JUnit file", is_junit, NULL, NULL, NULL },
	{ OPK_OUTPUT_TRACE, "a trace", is_trace, ".json .json.gz",
	  "a trace is JSON, compressed or not: use .json.gz or .json", NULL },
	{ OPK_OUTPUT_WRITTEN_SET, "a set that offpeak wrote", is_written_set, NULL, NULL, NULL },
	{ OPK_OUTPUT_TABLE, "a table", is_table, NULL, NULL, NULL },
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static const struct kind *kind_of(enum opk_output output)
{
	size_t i = 0;

	while (i < KINDS - 1 && kinds[i].output != output)
		i++;
	return &kinds[i];
}

const char *opk_output_maker(enum opk_output output)
{
	return kind_of(output)->maker;
}

/* ---- what is there */

static int refuse(struct opk_ctx *ctx, const char *path, const char *is, const char *what)
{
	return opk_fail(ctx, OPK_EUSAGE,
	                "%s: %s %s, and would be replaced; write to another name, or remove it "
	                "first",
	                path, is, what);
}

/* False where nothing can be lost: there is no file, an empty one, or what no file replaces. */
static int read_start(bool *found, struct start *start, struct opk_ctx *ctx, const char *path)
{
	opk_autoclose int fd = -1;
	struct stat info;
	ssize_t count;

	*found = !opk_stream_find(ctx, path) && !opk_names_stream(path) && !stat(path, &info)
	         && S_ISREG(info.st_mode) && info.st_size;
	if (!*found)
		return OPK_OK;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	count = fd < 0 ? -1 : pread(fd, start->bytes, START, 0);
	if (count < 0)
		return refuse(ctx, path, "can't be read:", strerror(errno));
	start->size = (size_t)count;
	return OPK_OK;
}

/* An .opk file by its metadata. What no command says that it made was recorded. */
static const struct kind *kind_of_meta(const struct opk_meta *meta)
{
	static const struct kind probe = { .output = OPK_OUTPUT_RECORDING,
		                           .name = "a probe of a GPU" };

	if (!strcmp(meta->kind, "probe"))
		return &probe;
	if (!strcmp(meta->kind, "set"))
		return kind_of(OPK_OUTPUT_SET);
	for (size_t i = 0; i < KINDS; i++)
		if (kinds[i].maker && !strcmp(meta->made_by, kinds[i].maker))
			return &kinds[i];
	return kind_of(OPK_OUTPUT_RECORDING);
}

static int read_opk_kind(const struct kind **out, struct opk_ctx *ctx, const char *path)
{
	struct opk_file *file = NULL;
	const struct opk_meta *meta;
	struct opk_errors_mark mark;
	int code;

	opk_errors_mark(&mark, ctx);
	code = opk_file_open(&file, ctx, path);
	if (!code)
		code = opk_file_meta(&meta, ctx, file);
	if (!code)
		*out = kind_of_meta(meta);
	opk_file_free(file);
	opk_errors_rewind(ctx, &mark);
	if (code == OPK_ENOMEM)
		return opk_nomem(ctx, "metadata");
	if (!code)
		return OPK_OK;
	code = refuse(ctx, path, "is", "a damaged .opk file");
	return opk_advise(ctx, code, OPK_REMEDY_RECOVER);
}

/* NULL: of none that is known. */
static int find_kind(const struct kind **out, struct opk_ctx *ctx, const struct start *start)
{
	*out = NULL;
	if (is_opk(start))
		return read_opk_kind(out, ctx, start->path);
	for (size_t i = 0; !*out && i < KINDS; i++)
		if (kinds[i].is(start))
			*out = &kinds[i];
	return OPK_OK;
}

int opk_check_output(struct opk_ctx *ctx, const char *path, enum opk_output output)
{
	const struct kind *kind = kind_of(output), *older;
	struct start start = { .path = path };
	bool found;
	int code;

	if (kind->hint && !opk_names_stream(path) && !lacks_ending(path)
	    && !has_ending(path, kind->endings))
		return opk_fail(ctx, OPK_EUSAGE, "%s: %s", path, kind->hint);
	code = read_start(&found, &start, ctx, path);
	if (code || !found || (output == OPK_OUTPUT_RECORDING && is_opk(&start)))
		return code;
	code = find_kind(&older, ctx, &start);
	if (code || older == kind)
		return code;
	/* Text that may be a table may be anything. */
	if (older && older->output != OPK_OUTPUT_TABLE)
		return refuse(ctx, path, "is", older->name);
	return refuse(ctx, path, "is no",
	              kind->is == is_opk ? ".opk file" : strchr(kind->name, ' ') + 1);
}
