/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The only reader of containers. It checks each length before it uses it. The strict reader,
 * opk_file_open(), fails at the first problem. The lenient one, opk_scan_file(), notes all of them.
 * After damage it looks at every byte for the next section header, which has its own checksum:
 * inserted or lost bytes may have moved the rest.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "adapters/deflate/deflate.h"
#include "base/ascii.h"
#include "base/stream.h"
#include "base/file.h"
#include "container/container.h"

enum {
	WINDOW = 1 << 16,
	MIN_WINDOW = 1 << 8, /* often the next header is near */
	/* So many times the file's size is read for damaged sections; ordinary damage takes one. */
	MAX_VAIN = 16,
};

struct walk {
	struct opk_ctx *ctx;
	struct opk_file *file;
	struct opk_scan *scan; /* NULL: strict */
	uint8_t *window;       /* bytes in which headers are searched; NULL before a search */
	uint64_t at;
	uint64_t vain;        /* bytes of payloads that were damaged */
	size_t found;         /* sections, including damaged ones */
	uint32_t headers_crc; /* to compare with the end section's */
	bool gaps;            /* headers were lost, so the end section can't match */
	bool ended;
};

/* ---- problems --------------------------------------------------------------------------- */

/*
 * Notes a section, or the bytes up to `end`. `breaks`: what is missing from there on is not known.
 * A problem ends the strict walk.
 */
static int note(struct walk *w, const struct opk_section *section, uint64_t end,
                const char *problem, bool breaks)
{
	struct opk_finding finding = { .byte = w->at, .size = end - w->at, .breaks = breaks };

	w->found += section != NULL;
	if (!w->scan)
		return problem ? opk_fail(w->ctx, OPK_EINPUT, "%s: byte %ju: %s", w->file->path,
		                          (uintmax_t)w->at, problem)
		               : OPK_OK;
	if (section) {
		finding.type = section->type;
		finding.section = w->found;
	}
	return opk_findings_add(&w->scan->findings, w->ctx, finding, problem);
}

static int read_at(struct walk *w, void *to, size_t size, uint64_t at)
{
	if (opk_pread_all(w->file->fd, to, size, at))
		return OPK_OK;
	return opk_fail_errno(w->ctx, OPK_EINPUT, "can't read", w->file->path);
}

/* ---- headers ---------------------------------------------------------------------------- */

/* False if its checksum differs. */
static bool parse_header(struct opk_section *section, const uint8_t *bytes, uint64_t at)
{
	struct opk_reader reader = { .data = bytes, .left = OPK_SECTION_HEADER_SIZE };

	section->type = opk_read_u32(&reader);
	section->flags = opk_read_u32(&reader);
	section->stored_size = opk_read_u64(&reader);
	section->plain_size = opk_read_u64(&reader);
	section->stride = opk_read_u32(&reader);
	section->crc = opk_read_u32(&reader);
	section->packed_size = opk_read_u32(&reader);
	section->distance = opk_read_u32(&reader);
	section->linked_crc = opk_read_u32(&reader);
	section->link = SIZE_MAX;
	section->offset = at + OPK_SECTION_HEADER_SIZE;
	section->header_crc = opk_read_u32(&reader);
	return opk_same_crc(section->header_crc, opk_crc32(0, bytes, OPK_SECTION_SUMMED));
}

static bool is_sound_header(struct opk_section *section, const uint8_t *bytes, uint64_t at)
{
	return parse_header(section, bytes, at) && !opk_section_flaw(section);
}

/* A quick check whether this may be a header: a type in letters, and few flags. */
static bool may_be_header(const uint8_t *bytes)
{
	for (int i = 0; i < 4; i++)
		if (!isalnum(bytes[i]) && bytes[i] != ' ')
			return false;
	return !bytes[5] && !bytes[6] && !bytes[7];
}

/* Finds the next sound header, from `at` on, or else the end of the file. */
static int find_header(uint64_t *out, struct walk *w, uint64_t at)
{
	size_t window = MIN_WINDOW;

	if (!w->window)
		w->window = opk_realloc(NULL, WINDOW);
	if (!w->window)
		return opk_nomem(w->ctx, "a window");
	while (at + OPK_SECTION_HEADER_SIZE <= w->file->size) {
		uint64_t left = w->file->size - at;
		size_t size = left < window ? (size_t)left : window;
		size_t ends = size - OPK_SECTION_HEADER_SIZE + 1;
		struct opk_section section;

		TRY(read_at(w, w->window, size, at));
		for (size_t i = 0; i < ends; i++)
			if (may_be_header(w->window + i)
			    && is_sound_header(&section, w->window + i, at + i)) {
				*out = at + i;
				return OPK_OK;
			}
		at += ends;
		window = window < WINDOW ? 2 * window : WINDOW;
	}
	*out = w->file->size;
	return OPK_OK;
}

static bool is_header_at(struct walk *w, uint64_t at)
{
	uint8_t bytes[OPK_SECTION_HEADER_SIZE];
	struct opk_section section;

	return at <= w->file->size && w->file->size - at >= sizeof bytes
	       && opk_pread_all(w->file->fd, bytes, sizeof bytes, at)
	       && is_sound_header(&section, bytes, at);
}

/* ---- damage ----------------------------------------------------------------------------- */

/* From here to the next sound header nothing can be read. */
static int skip(struct walk *w, const char *problem)
{
	uint64_t next = w->file->size;

	if (w->scan)
		TRY(find_header(&next, w, w->at + 1));
	TRY(note(w, NULL, next, problem, true));
	w->at = next;
	w->gaps = true;
	return OPK_OK;
}

/* The file ends before the section that begins here does. */
static int end_early(struct walk *w, const char *problem)
{
	if (w->scan)
		TRY(note(w, NULL, w->file->size, problem, true));
	w->at = w->file->size;
	return OPK_OK;
}

/*
 * For a section with a sound header and a damaged payload. If another header follows right after
 * the payload, bytes were only changed. Else bytes were lost or inserted: searches the next header.
 */
static int lose_section(struct walk *w, const struct opk_section *section, uint64_t end, bool cut)
{
	bool in_place = !cut && (end == w->file->size || is_header_at(w, end));
	uint64_t next = end;

	if (!in_place) {
		TRY(find_header(&next, w, section->offset));
		cut = cut && next == w->file->size;
		next = next < end ? next : end;
	}
	TRY(note(w, section, next,
	         cut ? "cut off: the file ends inside of it"
	             : "damaged: its CRC-32 differs from the one stored",
	         !in_place && section->type != OPK_SECTION_END));
	w->at = next;
	/* Even a damaged end section means that the file was completed. */
	w->ended = section->type == OPK_SECTION_END;
	return OPK_OK;
}

/* Crafted, overlapping sections would take a time that grows with the square of their number. */
static int give_up(struct walk *w)
{
	TRY(note(w, NULL, w->file->size, "damaged: too many sections claim what others do", true));
	w->at = w->file->size;
	w->gaps = true;
	return OPK_OK;
}

/* ---- sections --------------------------------------------------------------------------- */

static bool can_name(const struct opk_section *section, const struct opk_section *named)
{
	if (named->header_crc != section->linked_crc || !opk_is_image(named->type))
		return false;
	return section->type != OPK_SECTION_DATA
	       || (named->type == OPK_SECTION_DATA && named->plain_size == section->plain_size
	           && !(named->flags & (~OPK_SECTION_KNOWN | OPK_SECTION_BASED)));
}

/*
 * Finds the section that this one names. If sections between the two were lost, it is nearer than
 * `distance` says, and its header's checksum identifies it.
 */
static bool find_link(const struct walk *w, struct opk_section *section)
{
	size_t count = w->file->section_count;

	for (size_t back = section->distance; back; back--) {
		if (back <= count && can_name(section, &w->file->sections[count - back])) {
			section->link = count - back;
			return true;
		}
		if (!w->scan)
			return false;
	}
	return false;
}

/* The problem, or NULL. A lenient walk keeps tables of a missing image. */
static const char *link_section(const struct walk *w, struct opk_section *section)
{
	if (!section->distance || (section->flags & ~OPK_SECTION_KNOWN) || find_link(w, section))
		return NULL;
	if (section->type == OPK_SECTION_DATA)
		return "it builds on a section that is not there";
	return w->scan ? NULL : "the image that it describes is not there";
}

static int keep(struct walk *w, struct opk_section *section, uint64_t end)
{
	struct opk_file *file = w->file;
	uint64_t padding = 0, payload_end = section->offset + section->stored_size;
	const char *problem = link_section(w, section);

	if (problem) {
		TRY(note(w, section, end, problem, false));
		w->at = end;
		return OPK_OK;
	}
	if (!opk_grow(&file->sections, &file->section_capacity, file->section_count,
	              sizeof *file->sections)
	    || (w->scan
	        && !opk_grow(&w->scan->places, &w->scan->places_capacity, file->section_count,
	                     sizeof *w->scan->places)))
		return opk_nomem(w->ctx, "sections");
	if (w->scan)
		w->scan->places[file->section_count] = w->scan->findings.count;
	file->sections[file->section_count++] = *section;
	TRY(note(w, section, end, NULL, false));
	TRY(read_at(w, &padding, (size_t)(end - payload_end), payload_end));
	w->at = payload_end;
	if (padding)
		TRY(note(w, NULL, end, "the bytes after a section are not zero", false));
	w->at = end;
	return OPK_OK;
}

/* The end section counts the sections and sums up their headers. It can't fit if some were lost. */
static int check_end(const char **problem, struct walk *w, const struct opk_section *section)
{
	uint8_t bytes[OPK_END_SIZE];
	struct opk_reader reader = { .data = bytes, .left = sizeof bytes };
	bool fits;

	*problem = "the end section is damaged";
	if (section->stored_size != sizeof bytes || section->flags)
		return OPK_OK;
	TRY(read_at(w, bytes, sizeof bytes, section->offset));
	if (!opk_same_crc(section->crc, opk_crc32(0, bytes, sizeof bytes)))
		return OPK_OK;
	fits = opk_read_u32(&reader) == w->found;
	fits = opk_same_crc(opk_read_u32(&reader), w->headers_crc) && fits;
	w->file->complete = fits;
	*problem = fits || w->gaps ? NULL : "sections are missing or were moved";
	if (w->scan)
		w->scan->moved = *problem != NULL;
	return OPK_OK;
}

/* The end section ends the file, even if it does not match. */
static int take_end(struct walk *w, const struct opk_section *section, uint64_t end)
{
	const char *problem;

	TRY(check_end(&problem, w, section));
	w->ended = true;
	TRY(note(w, section, end, problem, false));
	w->at = end;
	return end < w->file->size
	               ? note(w, NULL, w->file->size, "there is more after the end section", false)
	               : OPK_OK;
}

static int take_section(struct walk *w, struct opk_section *section, const uint8_t *header)
{
	uint64_t left = w->file->size - section->offset,
		 padding = opk_padding(section->stored_size);
	uint64_t end = section->offset + section->stored_size + padding;
	const char *flaw = opk_section_flaw(section);
	uint32_t crc = section->crc;

	if (section->type != OPK_SECTION_END)
		w->headers_crc = opk_crc32(w->headers_crc, header, OPK_SECTION_SUMMED);
	if (section->stored_size > left || padding > left - section->stored_size)
		return w->scan ? lose_section(w, section, w->file->size, true) : end_early(w, NULL);
	if (flaw)
		return note(w, NULL, end, flaw, false);
	if (w->scan)
		TRY(opk_section_crc(&crc, w->ctx, w->file, section));
	if (!opk_same_crc(section->crc, crc)) {
		w->vain += section->stored_size;
		return lose_section(w, section, end, false);
	}
	return section->type == OPK_SECTION_END ? take_end(w, section, end) : keep(w, section, end);
}

static int take_next(struct walk *w)
{
	uint8_t bytes[OPK_SECTION_HEADER_SIZE];
	struct opk_section section = { 0 };

	if (w->file->size - w->at < sizeof bytes)
		return end_early(w, "cut off: the file ends inside a section header");
	TRY(read_at(w, bytes, sizeof bytes, w->at));
	/* A strict walk checks the header's contents later, with more precise messages. */
	if (w->scan ? !is_sound_header(&section, bytes, w->at)
	            : !parse_header(&section, bytes, w->at))
		return skip(w, "damaged: no section header, or one whose checksum differs");
	return take_section(w, &section, bytes);
}

/* ---- files ------------------------------------------------------------------------------ */

static int check_version(struct walk *w, uint32_t version)
{
	if (version == OPK_FORMAT_VERSION)
		return OPK_OK;
	return opk_fail(w->ctx, OPK_EINPUT,
	                "%s: format version %u, this offpeak knows version %d%s", w->file->path,
	                version, OPK_FORMAT_VERSION,
	                version != 1 ? "" : ": record it again, or use the offpeak that wrote it");
}

/* Whether a line begins like the titles of a report that ncu has printed in CSV. */
static bool has_titles(const char *text)
{
	static const char titles[] = "\"ID\",";

	while (text && strncmp(text, titles, strlen(titles)) != 0) {
		text = strchr(text, '\n');
		text += text != NULL;
	}
	return text;
}

#define OTHER "not an .opk file"
#define NCU_REPORT                                                                                 \
	OTHER ": this is a report of Nsight Compute, which prints its raw page in CSV, and that "  \
	      "can be imported"

/* Says what a file is that does not begin like an .opk file, by its bytes, or else its name. */
static const char *say_other(struct walk *w)
{
	enum { START = 4096 };
	static const struct {
		const char *magic;
		size_t size;
		const char *text;
	} contents[] = {
		{ "SQLite format 3", 16,
		  OTHER ": this is a SQLite database; if Nsight Systems exported it, import it" },
		{ "NVR", 4, NCU_REPORT },
		{ "LOPDATA", 8, OTHER ": this is a bare counter data image; say so, or import it" },
	};
	static const struct {
		const char *ending, *text;
	} names[] = {
		{ ".csv", OTHER "; if it is a report of Nsight Compute, import it" },
		{ ".ncu-rep", NCU_REPORT },
		{ ".nsys-rep", OTHER ": this is a report of Nsight Systems, which exports it to "
		                     "SQLite, and that can be imported" },
	};
	char start[START + 1] = "";
	size_t size = w->file->size < START ? (size_t)w->file->size : START;

	if (!opk_pread_all(w->file->fd, start, size, 0))
		return OTHER;
	for (size_t i = 0; i < sizeof contents / sizeof *contents; i++)
		if (!memcmp(start, contents[i].magic, contents[i].size))
			return contents[i].text;
	if (has_titles(start))
		return OTHER ": this is a report of Nsight Compute in CSV; import it";
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (opk_ends(w->file->path, names[i].ending))
			return names[i].text;
	return OTHER;
}

static int read_file_header(struct walk *w)
{
	uint8_t bytes[OPK_FILE_HEADER_SIZE];
	struct opk_reader reader = { .data = bytes, .left = sizeof bytes };
	const char *problem = NULL;

	if (w->file->size < sizeof bytes)
		return opk_fail(w->ctx, OPK_EINPUT, "%s: byte 0: too short for an .opk file",
		                w->file->path);
	TRY(read_at(w, bytes, sizeof bytes, 0));
	w->headers_crc = opk_crc32(0, bytes, sizeof bytes);
	if (memcmp(opk_read_bytes(&reader, OPK_MAGIC_SIZE), OPK_MAGIC, OPK_MAGIC_SIZE)) {
		problem = say_other(w);
	} else {
		TRY(check_version(w, opk_read_u32(&reader)));
		problem = opk_read_u32(&reader) ? "the file header is damaged" : NULL;
	}
	w->gaps = problem != NULL;
	if (problem)
		TRY(note(w, NULL, sizeof bytes, w->scan ? "the file header is damaged" : problem,
		         false));
	w->at = sizeof bytes;
	return OPK_OK;
}

static int walk(struct walk *w)
{
	TRY(read_file_header(w));
	while (!w->ended && w->at < w->file->size)
		TRY(w->vain / MAX_VAIN > w->file->size ? give_up(w) : take_next(w));
	if (!w->scan)
		return OPK_OK;
	/* A file without any section may be anything. */
	if (!w->found && w->gaps)
		return opk_fail(w->ctx, OPK_EINPUT,
		                "%s: not an .opk file: there is no section in it", w->file->path);
	w->at = w->file->size;
	return w->ended ? OPK_OK
	                : note(w, NULL, w->at, "cut off: its end section is missing", true);
}

/* `scan`: NULL for a strict walk. */
static int open_file(struct opk_file **out, struct opk_ctx *ctx, const char *path,
                     struct opk_scan *scan)
{
	opk_auto(opk_file) struct opk_file *file = opk_alloc(sizeof *file);
	struct walk w = { .ctx = ctx, .file = file, .scan = scan };
	struct stat info;
	int code;

	if (!file)
		return opk_nomem(ctx, "a file");
	file->fd = opk_stream_open(ctx, path);
	if (file->fd < 0 || fstat(file->fd, &info))
		return opk_fail_errno(ctx, OPK_EINPUT, "can't open", path);
	if (S_ISDIR(info.st_mode)) {
		code = opk_fail(ctx, OPK_EINPUT,
		                "%s: is a folder; the recordings in it are %s/*.opk", path, path);
		return opk_os_error(ctx, code, EISDIR);
	}
	if (!S_ISREG(info.st_mode))
		return opk_fail(ctx, OPK_EINPUT, "%s: not a regular file", path);
	file->path = opk_strdup(path);
	if (!file->path)
		return opk_nomem(ctx, "a file name");
	file->size = (uint64_t)info.st_size;
	code = walk(&w);
	free(w.window);
	*out = code ? NULL : opk_take(file);
	return code;
}

int opk_file_open(struct opk_file **out, struct opk_ctx *ctx, const char *path)
{
	/* Long calls open many files or copy many sections: these are good moments to look. */
	TRY(opk_check_interrupt(ctx));
	return open_file(out, ctx, path, NULL);
}

int opk_scan_file(struct opk_scan *scan, struct opk_ctx *ctx, const char *path)
{
	int code;

	*scan = (struct opk_scan){ 0 };
	code = open_file(&scan->file, ctx, path, scan);
	if (code)
		opk_scan_clear(scan);
	return code;
}

void opk_scan_clear(struct opk_scan *scan)
{
	opk_file_free(scan->file);
	free(scan->places);
	opk_findings_clear(&scan->findings);
	*scan = (struct opk_scan){ 0 };
}

struct opk_finding *opk_scan_finding(struct opk_scan *scan, size_t section)
{
	return &scan->findings.items[scan->places[section]];
}
