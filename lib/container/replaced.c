/* SPDX-License-Identifier: BSD-2-Clause */
/* A new file may replace an older one of the same kind. Finds kinds by content or ending. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/ascii.h"
#include "base/buf.h"
#include "base/descriptor.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/stream.h"
#include "container/container.h"

/* Bytes that are read to find the kind: comments may come first. */
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

static bool has_ending(const char *path, const char *const *endings)
{
	while (*endings && !opk_ends(path, *endings))
		endings++;
	return *endings != NULL;
}

/* ---- content */

static bool is_opk(const struct start *start)
{
	return begins(start, OPK_MAGIC, OPK_MAGIC_SIZE);
}

/* The application_id must be lib/database's: other programs' databases are not replaced. */
static bool is_database(const struct start *start)
{
	return begins(start, "SQLite format 3", sizeof "SQLite format 3")
	       && !memcmp(start->bytes + 68, "opk", sizeof "opk");
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

	return !strncasecmp(found, name, length) && strchr(" \t\r\n>", found[length]);
}

static bool is_junit(const struct start *start)
{
	return is_element(start, "testsuites") || is_element(start, "testsuite");
}

/* An object or array, and not "[section]" of a settings file. */
static bool is_json(const struct start *start)
{
	const char *text = start->bytes + strspn(start->bytes, blanks);
	const char *inside = text + 1 + (*text ? strspn(text + 1, blanks) : 0);

	return (*text == '{' && *inside && strchr("\"}", *inside))
	       || (*text == '[' && *inside && strchr("{[\"]-0123456789", *inside));
}

static const char *const trace_endings[] = { ".json", ".json.gz", NULL };

/* A compressed file is recognised by its name only. */
static bool is_trace(const struct start *start)
{
	if (begins(start, "\x1f\x8b", 2))
		return has_ending(start->path, trace_endings);
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

static bool is_counter_data(const struct start *start)
{
	return begins(start, "LOPDATA", sizeof "LOPDATA");
}

/* A prefix begins like an image, but the offsets of parts that only images have are 0. */
static bool is_prefix(const struct start *start)
{
	enum { OFFSETS = 0x24, OFFSETS_END = 0x38 };
	size_t at = OFFSETS;

	while (at < OFFSETS_END && !start->bytes[at])
		at++;
	return is_counter_data(start) && start->size > OFFSETS_END && at == OFFSETS_END;
}

/* A flatbuffer begins with the offset of its first table. */
static bool is_flatbuffer(const struct start *start)
{
	return start->size >= 8 && !memcmp(start->bytes + 1, "\0\0", 3);
}

static bool is_config(const struct start *start)
{
	return is_flatbuffer(start) && !memcmp(start->bytes + 4, "LOPC", 4);
}

/* Without a name: the first table comes right after its vtable, which begins with its size. */
static bool is_availability(const struct start *start)
{
	const unsigned char *bytes = (const unsigned char *)start->bytes;
	size_t table = bytes[0], vtable = 4;

	while (vtable < table && !bytes[vtable])
		vtable += 2;
	return is_flatbuffer(start) && vtable < table && vtable + bytes[vtable] == table;
}

/* An ELF file for EM_CUDA: other programs are not replaced. */
static bool is_cubin(const struct start *start)
{
	return start->size > 20 && begins(start, ELFMAG, SELFMAG)
	       && !memcmp(start->bytes + 18, "\xbe", 2);
}

static bool is_text(const struct start *start)
{
	return strlen(start->bytes) == start->size;
}

/* ---- tables: their first two lines, as lib/output writes them */

/* A line that goes on after what was read, so that nothing more is known of it. */
static bool is_cut(const struct start *start, const char *end)
{
	return !*end && start->size == START;
}

/* The end of a field of CSV. */
static const char *field_end(const char *text)
{
	if (*text != '"')
		return text + strcspn(text, ",\n");
	do
		text += 1 + strcspn(text + 1, "\"");
	while (*text && *++text == '"');
	return text;
}

/* The number of fields in a line of CSV; 0 if one is not a plain name, as `names` are. */
static size_t count_fields(const char **end, const char *line, bool names)
{
	size_t count = 0;

	do {
		*end = field_end(line);
		if (names
		    && (*end == line || opk_span(line, opk_in_full_name) != (size_t)(*end - line)))
			return 0;
		line = *end + 1;
		count++;
	} while (**end == ',');
	return count;
}

/* CSV with one column looks like a list of words: only the file's name shows that it is CSV. */
static bool is_csv(const struct start *start)
{
	const char *end, *row_end;
	size_t names = count_fields(&end, start->bytes, true);

	if (names < 2)
		return names && *end == '\n' && opk_ends(start->path, ".csv");
	if (is_cut(start, end) || (*end && !end[1]))
		return true;
	return *end == '\n'
	       && (count_fields(&row_end, end + 1, false) == names || is_cut(start, row_end));
}

/* Titles over columns, each drawn out with '-', are a line of their own before the names. */
static const char *skip_titles(const char *text)
{
	const char *end = text + strcspn(text, "\n");

	return *end && end > text && end[-1] == '-' ? end + 1 : text;
}

/* The next row: the next line, or the one after it if the next has only units. */
static const char *next_row(const char *end, size_t width)
{
	const char *row = *end ? end + 1 : end, *after = row + strcspn(row, "\n");

	return *row == ' ' && *after && (size_t)(after - row) <= width ? after + 1 : row;
}

/* Whether two of the blanks after the first column's name are blanks in a row, too. */
static bool is_aligned(const char *row, size_t at, size_t count)
{
	size_t length = strcspn(row, "\n");

	for (size_t end = at + count; at + 2 <= end && at + 2 < length; at++)
		if (!strncmp(row + at, "  ", 2))
			return true;
	return false;
}

/* Words with two blanks or more between them, above cells of the same columns. */
static bool is_text_table(const struct start *start)
{
	const char *line = skip_titles(start->bytes), *name = line + strspn(line, " ");
	const char *gap = name + opk_span(name, opk_in_full_name), *end = gap + strcspn(gap, "\n");
	size_t width = (size_t)(gap - line), count = strspn(gap, " ");

	if (gap > name && !strcmp(gap, ": no rows\n"))
		return true;
	return gap > name && count > 1 && gap + count < end
	       && (is_cut(start, end) || is_aligned(next_row(end, width), width, count));
}

/* An object or a list of them, without blanks: Python's json writes one after the colon. */
static bool is_own_json(const struct start *start)
{
	const char *text = start->bytes, *end;

	if (begins(start, "[]", strlen("[]")))
		return true;
	text += *text == '[';
	if (text[0] != '{' || text[1] != '"')
		return false;
	end = text + 2 + strcspn(text + 2, "\"\n");
	return end[0] == '"' && end[1] == ':' && end[2] && !opk_is_blank(end[2]);
}

/* Prometheus' text format; a file without metrics only says where it ends. */
static bool is_metrics(const struct start *start)
{
	return begins(start, "# HELP offpeak_", strlen("# HELP offpeak_"))
	       || !strcmp(start->bytes, "# EOF\n");
}

static bool is_table(const struct start *start)
{
	return is_text(start)
	       && (is_own_json(start) || is_csv(start) || is_text_table(start)
	           || is_metrics(start));
}

/* ---- kinds */

/*
 * Checked in this order. A name must have one of the endings, or no ending; without a `hint` any
 * ending will do. Kinds with a maker are .opk files with that `made_by`.
 */
static const struct kind {
	enum opk_output output;
	const char *name;
	bool (*is)(const struct start *start);
	const char *element; /* of XML, in place of is() */
	const char *maker;
	const char *const *endings;
	const char *hint;
} kinds[] = {
	{ OPK_OUTPUT_RECORDING, "a recording", .is = is_opk },
	{ OPK_OUTPUT_SET, "a built set", .is = is_opk },
	{ OPK_OUTPUT_MERGED, "a merged recording", .is = is_opk, .maker = "merge" },
	{ OPK_OUTPUT_TRIMMED, "a trimmed recording", .is = is_opk, .maker = "trim" },
	{ OPK_OUTPUT_PART, "a part of a divided recording", .is = is_opk, .maker = "split" },
	{ OPK_OUTPUT_RECOVERED, "a recovered recording", .is = is_opk, .maker = "recover" },
	{ OPK_OUTPUT_IMPORTED, "an imported recording", .is = is_opk, .maker = "import" },
	{ OPK_OUTPUT_BAKED, "a baked recording", .is = is_opk, .maker = "bake" },
	{ OPK_OUTPUT_DATABASE, "a SQLite database of offpeak", .is = is_database },
	{ OPK_OUTPUT_PARQUET, "a Parquet file", .is = is_parquet },
	{ OPK_OUTPUT_PROBE, "a probe of a GPU", .is = is_opk },
	{ OPK_OUTPUT_CONFIG, "a bare config image of CUPTI", .is = is_config },
	{ OPK_OUTPUT_PREFIX, "a bare counter-data prefix of CUPTI", .is = is_prefix },
	{ OPK_OUTPUT_AVAILABILITY, "a bare counter-availability image of CUPTI",
	  .is = is_availability },
	{ OPK_OUTPUT_IMAGE, "a bare counter data image of CUPTI", .is = is_counter_data },
	{ OPK_OUTPUT_CUBIN, "a cubin", .is = is_cubin },
	{ OPK_OUTPUT_SVG, "an SVG picture", .element = "svg",
	  .endings = (const char *const[]){ ".svg", NULL },
	  .hint = "a picture is SVG: use .svg, of which rsvg-convert makes PNG or PDF: "
	          "rsvg-convert -z 2 x.svg -o x.png" },
	{ OPK_OUTPUT_HTML, "an HTML page", .element = "html",
	  .endings = (const char *const[]){ ".html", ".htm", NULL },
	  .hint = "a page is HTML: use .html; a browser can print it as PDF" },
	{ OPK_OUTPUT_JUNIT, "a JUnit file", .is = is_junit },
	{ OPK_OUTPUT_TRACE, "a trace", .is = is_trace, .endings = trace_endings,
	  .hint = "a trace is JSON, compressed or not: use .json.gz or .json" },
	{ OPK_OUTPUT_WRITTEN_SET, "a set that offpeak wrote", .is = is_written_set,
	  .endings = (const char *const[]){ ".yaml", ".yml", NULL },
	  .hint = "a metric set is YAML: use .yaml or .yml" },
	{ OPK_OUTPUT_TABLE, "a table that offpeak wrote", .is = is_table },
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

/* ---- the older file */

static int refuse(struct opk_ctx *ctx, const char *path, const char *is, const char *what)
{
	int code = opk_fail(ctx, OPK_EUSAGE,
	                    "%s exists and %s %s: it is not replaced; choose another name", path,
	                    is, what);

	return opk_can_replace(path) ? opk_advise(ctx, code, OPK_REMEDY_FORCE) : code;
}

/* False if nothing can be lost: no file, an empty one, or one that is never replaced. */
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

/* NULL is allowed: metadata that were not read from a file may lack texts. */
static bool is_word(const char *text, const char *word)
{
	return text && !strcmp(text, word);
}

/* An .opk file by its metadata. Without a maker it is a recording. */
static const struct kind *kind_of_meta(const struct opk_meta *meta)
{
	if (is_word(meta->kind, "probe"))
		return kind_of(OPK_OUTPUT_PROBE);
	if (is_word(meta->kind, "set"))
		return kind_of(OPK_OUTPUT_SET);
	for (size_t i = 0; i < KINDS; i++)
		if (kinds[i].maker && is_word(meta->made_by, kinds[i].maker))
			return &kinds[i];
	return kind_of(OPK_OUTPUT_RECORDING);
}

enum opk_output opk_output_of_meta(const struct opk_meta *meta)
{
	return kind_of_meta(meta)->output;
}

static int read_opk_kind(const struct kind **out, struct opk_ctx *ctx, const struct start *start)
{
	struct opk_reader reader = { (const uint8_t *)start->bytes + OPK_MAGIC_SIZE, .left = 4 };
	uint32_t version = opk_read_u32(&reader);
	struct opk_file *file = NULL;
	const struct opk_meta *meta;
	struct opk_errors_mark mark;
	int code;

	if (version && version != OPK_FORMAT_VERSION)
		return refuse(ctx, start->path, "is", "an .opk file of another format version");
	opk_errors_mark(&mark, ctx);
	code = opk_file_open(&file, ctx, start->path);
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
	code = refuse(ctx, start->path, "is", "a damaged .opk file");
	return opk_advise(ctx, code, OPK_REMEDY_RECOVER);
}

/* NULL: no known kind. */
static int find_kind(const struct kind **out, struct opk_ctx *ctx, const struct start *start)
{
	*out = NULL;
	if (is_opk(start))
		return read_opk_kind(out, ctx, start);
	for (size_t i = 0; !*out && i < KINDS; i++)
		if (kinds[i].is ? kinds[i].is(start) : is_element(start, kinds[i].element))
			*out = &kinds[i];
	return OPK_OK;
}

/* Files that other programs would read as something else: .opk files don't get such names. */
static const char *const foreign_endings[] = {
	".csv",      ".tsv",     ".json",      ".ndjson", ".jsonl", ".txt",  ".prom", ".db",
	".sqlite",   ".sqlite3", ".parquet",   ".html",   ".htm",   ".svg",  ".xml",  ".yaml",
	".yml",      ".gz",      ".png",       ".jpg",    ".pdf",   ".xlsx", ".md",   ".ncu-rep",
	".nsys-rep", ".qdrep",   ".sqlite-db", ".arrow",  NULL,
};

static int check_ending(struct opk_ctx *ctx, const char *path, const struct kind *kind)
{
	bool before_values = kind->output == OPK_OUTPUT_SET || kind->output == OPK_OUTPUT_PROBE;
	int code;

	if (opk_names_stream(path) || !*opk_ending(path))
		return OPK_OK;
	if (kind->hint && !has_ending(path, kind->endings))
		return opk_fail(ctx, OPK_EUSAGE, "%s: %s", path, kind->hint);
	if (kind->is != is_opk && opk_ends(path, ".opk"))
		return opk_fail(ctx, OPK_EUSAGE,
		                "%s: .opk is for recordings and built sets, and the output is %s",
		                path, kind->name);
	if (kind->is != is_opk || !has_ending(path, foreign_endings))
		return OPK_OK;
	code = opk_fail(ctx, OPK_EUSAGE, "%s: the output is %s, whose name ends in .opk", path,
	                kind->name);
	return before_values ? code : opk_advise(ctx, code, OPK_REMEDY_EVALUATE);
}

int opk_check_output(struct opk_ctx *ctx, const char *path, enum opk_output output)
{
	const struct kind *kind = kind_of(output), *older;
	struct start start = { .path = path };
	bool found;

	TRY(check_ending(ctx, path, kind));
	if (ctx->force)
		return OPK_OK;
	TRY(read_start(&found, &start, ctx, path));
	if (!found)
		return OPK_OK;
	TRY(find_kind(&older, ctx, &start));
	if (older == kind)
		return OPK_OK;
	/* Other programs' text may look like a table. */
	if (older && older->output != OPK_OUTPUT_TABLE)
		return refuse(ctx, path, "is", older->name);
	return refuse(ctx, path, "is not", kind->is == is_opk ? "an .opk file" : kind->name);
}
