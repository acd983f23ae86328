/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads containers that opk_file_open() would refuse. Behind damage it looks for the next section
 * header, which has a checksum of its own, at every byte: what was inserted or lost may have moved
 * the rest.
 */
#include "container/container_scan.h"

#include <ctype.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "adapters/deflate/deflate.h"
#include "base/file.h"

enum {
	WINDOW = 1 << 16,
	MIN_WINDOW = 1 << 8, /* often the next header is near */
	/* Bytes may be read so often for sections that turn out to be damaged: of honest damage hardly once. */
	MAX_VAIN = 16,
};

struct walk {
	struct opk_ctx *ctx;
	struct opk_scan *scan;
	struct opk_file *file;
	uint64_t at;
	uint64_t vain;        /* bytes of payloads that were damaged */
	size_t found;         /* sections, damaged ones, too */
	uint32_t headers_crc; /* as the end section sums them up */
	bool gaps;            /* headers were lost, so that the end section can't fit */
	bool ended;
};

static bool parse_header(struct opk_section *section, const uint8_t *bytes, uint64_t at)
{
	struct opk_reader reader = { .data = bytes, .left = OPK_SECTION_HEADER_SIZE };
	uint32_t crc;

	section->type = opk_read_u32(&reader);
	section->flags = opk_read_u32(&reader);
	section->stored_size = opk_read_u64(&reader);
	section->plain_size = opk_read_u64(&reader);
	section->stride = opk_read_u32(&reader);
	section->crc = opk_read_u32(&reader);
	section->packed_size = opk_read_u32(&reader);
	crc = opk_read_u32(&reader);
	section->offset = at + OPK_SECTION_HEADER_SIZE;
	return opk_same_crc(crc, opk_crc32(0, bytes, OPK_SECTION_SUMMED))
	       && !opk_section_flaw(section);
}

static int read_at(struct walk *w, void *to, size_t size, uint64_t at)
{
	if (opk_pread_all(w->file->fd, to, size, at))
		return OPK_OK;
	return opk_fail_errno(w->ctx, OPK_EINPUT, "can't read", w->file->path);
}

/* Quickly, whether a header may stand here: a type in letters, and few flags. */
static bool may_be_header(const uint8_t *bytes)
{
	for (int i = 0; i < 4; i++)
		if (!isalnum(bytes[i]) && bytes[i] != ' ')
			return false;
	return !bytes[5] && !bytes[6] && !bytes[7];
}

/* Where the next sound header is, from w->at on; the end of the file where there is none. */
static int find_header(uint64_t *out, struct walk *w)
{
	uint8_t bytes[WINDOW];
	uint64_t at = w->at;
	size_t window = MIN_WINDOW;

	while (at + OPK_SECTION_HEADER_SIZE <= w->file->size) {
		uint64_t left = w->file->size - at;
		size_t size = left < window ? (size_t)left : window;
		size_t ends = size - OPK_SECTION_HEADER_SIZE + 1;
		struct opk_section section;
		int code = read_at(w, bytes, size, at);

		if (code)
			return code;
		for (size_t i = 0; i < ends; i++)
			if (may_be_header(bytes + i) && parse_header(&section, bytes + i, at + i)) {
				*out = at + i;
				return OPK_OK;
			}
		at += ends;
		window = window < WINDOW ? 2 * window : WINDOW;
	}
	*out = w->file->size;
	return OPK_OK;
}

/* Of a section, or of the bytes up to `end`; whether more may be missing there is told behind it. */
static int note(struct walk *w, const struct opk_section *section, uint64_t end,
                const char *problem, bool breaks)
{
	struct opk_finding finding = { .byte = w->at, .size = end - w->at };
	struct opk_scan *scan = w->scan;

	if (section) {
		finding.type = section->type;
		finding.section = ++w->found;
	}
	if (!opk_grow(&scan->breaks, &scan->breaks_capacity, scan->findings.count,
	              sizeof *scan->breaks))
		return opk_nomem(w->ctx, "findings");
	scan->breaks[scan->findings.count] = breaks;
	return opk_findings_add(&scan->findings, w->ctx, finding, problem);
}

/* From here to the next sound header nothing can be read. */
static int skip(struct walk *w, const char *problem)
{
	uint64_t from = w->at, next;
	int code;

	w->at = from + 1;
	code = find_header(&next, w);
	w->at = from;
	if (!code)
		code = note(w, NULL, next, problem, true);
	w->at = next;
	w->gaps = true;
	return code;
}

static bool stands_header_at(struct walk *w, uint64_t at)
{
	uint8_t bytes[OPK_SECTION_HEADER_SIZE];
	struct opk_section section;

	return at <= w->file->size && w->file->size - at >= sizeof bytes
	       && opk_pread_all(w->file->fd, bytes, sizeof bytes, at)
	       && parse_header(&section, bytes, at);
}

/*
 * The header is sound and its payload is not. Where another header stands right behind, only bytes
 * were changed. Else some are missing or too many, and what follows is to be looked for.
 */
static int lose_section(struct walk *w, const struct opk_section *section, uint64_t end, bool cut)
{
	bool in_place = !cut && (end == w->file->size || stands_header_at(w, end));
	uint64_t from = w->at, next = end;
	int code = OPK_OK;

	if (!in_place) {
		w->at = section->offset;
		code = find_header(&next, w);
		w->at = from;
		cut = cut && next == w->file->size;
		next = next < end ? next : end;
	}
	if (!code)
		code = note(w, section, next,
		            cut ? "cut off: the file ends inside of it"
		                : "damaged: its CRC-32 differs from the one stored",
		            !in_place && section->type != OPK_SECTION_END);
	w->at = next;
	/* Even so, the end section tells that all before it is there. */
	w->ended = section->type == OPK_SECTION_END;
	return code;
}

static int check_payload(bool *sound, struct walk *w, const struct opk_section *section)
{
	uint64_t at = section->offset, left = section->stored_size;
	uint8_t piece[WINDOW];
	uint32_t crc = 0;

	while (left) {
		size_t size = left < sizeof piece ? (size_t)left : sizeof piece;
		int code = read_at(w, piece, size, at);

		if (code)
			return code;
		crc = opk_crc32(crc, piece, size);
		at += size;
		left -= size;
	}
	*sound = opk_same_crc(section->crc, crc);
	return OPK_OK;
}

static int keep(struct walk *w, struct opk_section *section, uint64_t end)
{
	struct opk_file *file = w->file;
	uint64_t padding = 0, payload_end = section->offset + section->stored_size;
	int code;

	if ((section->flags & OPK_SECTION_BASED) && !(section->flags & ~OPK_SECTION_KNOWN)
	    && !opk_section_find_base(file, section)) {
		code = note(w, section, end, "it builds on a section that is not there", false);
		w->at = end;
		return code;
	}
	if (!opk_grow(&file->sections, &file->section_capacity, file->section_count,
	              sizeof *file->sections)
	    || !opk_grow(&w->scan->places, &w->scan->places_capacity, file->section_count,
	                 sizeof *w->scan->places))
		return opk_nomem(w->ctx, "sections");
	w->scan->places[file->section_count] = w->scan->findings.count;
	file->sections[file->section_count++] = *section;
	code = note(w, section, end, NULL, false);
	if (!code)
		code = read_at(w, &padding, (size_t)(end - payload_end), payload_end);
	w->at = payload_end;
	if (!code && padding)
		code = note(w, NULL, end, "the bytes behind a section are not zero", false);
	w->at = end;
	return code;
}

/* Whether the end section is of these sections; none can tell where headers were lost. */
static int check_end(const char **problem, struct walk *w, const struct opk_section *section)
{
	uint8_t bytes[OPK_END_SIZE];
	struct opk_reader reader = { .data = bytes, .left = sizeof bytes };
	bool fits;
	int code;

	if (section->stored_size != sizeof bytes || section->flags) {
		*problem = "the end section is damaged";
		return OPK_OK;
	}
	code = read_at(w, bytes, sizeof bytes, section->offset);
	if (code)
		return code;
	fits = opk_read_u32(&reader) == w->found;
	fits = opk_same_crc(opk_read_u32(&reader), w->headers_crc) && fits;
	w->file->complete = fits;
	w->scan->moved = !fits && !w->gaps;
	*problem = w->scan->moved ? "sections are missing or were moved" : NULL;
	return OPK_OK;
}

/* Closes the file, whether it fits or not: what is behind it is of no file. */
static int take_end(struct walk *w, const struct opk_section *section, uint64_t end)
{
	const char *problem;
	int code = check_end(&problem, w, section);

	w->ended = true;
	if (!code)
		code = note(w, section, end, problem, false);
	w->at = end;
	if (!code && end < w->file->size)
		code = note(w, NULL, w->file->size, "there is more after the end section", false);
	return code;
}

static int take_section(struct walk *w, struct opk_section *section, const uint8_t *header)
{
	uint64_t left = w->file->size - section->offset;
	uint64_t stop = section->offset + section->stored_size + opk_padding(section->stored_size);
	bool sound;
	int code;

	if (section->type != OPK_SECTION_END)
		w->headers_crc = opk_crc32(w->headers_crc, header, OPK_SECTION_SUMMED);
	if (section->stored_size > left
	    || opk_padding(section->stored_size) > left - section->stored_size)
		return lose_section(w, section, w->file->size, true);
	code = check_payload(&sound, w, section);
	if (code)
		return code;
	if (!sound) {
		w->vain += section->stored_size;
		return lose_section(w, section, stop, false);
	}
	return section->type == OPK_SECTION_END ? take_end(w, section, stop)
	                                        : keep(w, section, stop);
}

static int take_next(struct walk *w)
{
	uint8_t bytes[OPK_SECTION_HEADER_SIZE];
	struct opk_section section = { 0 };
	int code;

	if (w->file->size - w->at < sizeof bytes) {
		code = note(w, NULL, w->file->size,
		            "cut off: the file ends inside a section header", true);
		w->at = w->file->size;
		return code;
	}
	code = read_at(w, bytes, sizeof bytes, w->at);
	if (code)
		return code;
	return parse_header(&section, bytes, w->at)
	               ? take_section(w, &section, bytes)
	               : skip(w, "damaged: no section header, or one whose checksum differs");
}

/* Sections made to lie over each other would take a time that grows with the square of their number. */
static int give_up(struct walk *w)
{
	int code = note(w, NULL, w->file->size, "damaged: too many sections claim what others do",
	                true);

	w->at = w->file->size;
	w->gaps = true;
	return code;
}

static int read_file_header(struct walk *w)
{
	uint8_t bytes[OPK_FILE_HEADER_SIZE];
	struct opk_reader reader = { .data = bytes, .left = sizeof bytes };
	bool sound;
	int code;

	if (w->file->size < sizeof bytes)
		return opk_fail(w->ctx, OPK_EINPUT, "%s: too short for an .opk file",
		                w->file->path);
	code = read_at(w, bytes, sizeof bytes, 0);
	if (code)
		return code;
	sound = !memcmp(opk_read_bytes(&reader, OPK_MAGIC_SIZE), OPK_MAGIC, OPK_MAGIC_SIZE);
	if (sound && opk_read_u32(&reader) != OPK_FORMAT_VERSION)
		return opk_fail(w->ctx, OPK_EINPUT,
		                "%s: another format version than this offpeak knows",
		                w->file->path);
	sound = sound && !opk_read_u32(&reader);
	w->headers_crc = opk_crc32(0, bytes, sizeof bytes);
	if (!sound) {
		w->gaps = true;
		code = note(w, NULL, sizeof bytes, "the file header is damaged", false);
	}
	w->at = sizeof bytes;
	return code;
}

static int walk(struct walk *w)
{
	int code = read_file_header(w);

	while (!code && !w->ended && w->at < w->file->size)
		code = w->vain / MAX_VAIN > w->file->size ? give_up(w) : take_next(w);
	if (code)
		return code;
	/* Without a single section it could be anything. */
	if (!w->found && w->gaps)
		return opk_fail(w->ctx, OPK_EINPUT,
		                "%s: not an .opk file: there is no section in it", w->file->path);
	w->at = w->file->size;
	return w->ended ? OPK_OK
	                : note(w, NULL, w->at, "cut off: its end section is missing", true);
}

static int open_file(struct opk_file **out, struct opk_ctx *ctx, const char *path)
{
	struct opk_file *file = opk_alloc(sizeof *file);
	struct stat info;

	if (!file)
		return opk_nomem(ctx, "a file");
	*out = file;
	/* Without O_NONBLOCK a pipe would be waited for before it can be refused. */
	file->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	file->path = opk_strdup(path);
	if (!file->path)
		return opk_nomem(ctx, "a file name");
	if (file->fd < 0 || fstat(file->fd, &info))
		return opk_fail_errno(ctx, OPK_EINPUT, "can't open", path);
	if (!S_ISREG(info.st_mode))
		return opk_fail(ctx, OPK_EINPUT, "%s: not a regular file", path);
	file->size = (uint64_t)info.st_size;
	return OPK_OK;
}

int opk_scan_file(struct opk_scan *scan, struct opk_ctx *ctx, const char *path)
{
	struct walk w = { .ctx = ctx, .scan = scan };
	int code;

	*scan = (struct opk_scan){ 0 };
	code = open_file(&scan->file, ctx, path);
	w.file = scan->file;
	if (!code)
		code = walk(&w);
	if (code)
		opk_scan_clear(scan);
	return code;
}

void opk_scan_clear(struct opk_scan *scan)
{
	opk_file_free(scan->file);
	free(scan->breaks);
	free(scan->places);
	opk_findings_clear(&scan->findings);
	*scan = (struct opk_scan){ 0 };
}

struct opk_finding *opk_scan_finding(struct opk_scan *scan, size_t section)
{
	return &scan->findings.items[scan->places[section]];
}

void opk_view_clear(struct opk_file *view)
{
	opk_meta_storage_free(view->meta);
	opk_range_storage_free(view->ranges);
	opk_time_storage_free(view->times);
	opk_stats_storage_free(view->stats);
}
