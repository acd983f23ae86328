/* SPDX-License-Identifier: BSD-2-Clause */
/* Opens .opk files; believes no length before it is checked. */
#include <endian.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "adapters/deflate/deflate.h"
#include "base/file.h"
#include "container/container.h"

/* What the walk over the section headers keeps. */
struct walk {
	struct opk_ctx *ctx;
	struct opk_file *file;
	uint64_t at;
	uint32_t headers_crc; /* over all headers so far, for the end section */
	bool cut;             /* the file ends inside a section */
};

void opk_section_type_name(char out[5], uint32_t type)
{
	for (int i = 0; i < 4; i++) {
		char c = (char)(type >> (8 * i));

		out[i] = c >= ' ' && c < 0x7f ? c : '?';
	}
	out[4] = '\0';
}

/* A fuzzer can't guess checksums: its build lets all of them pass, to reach what lies behind. */
bool opk_same_crc(uint32_t stored, uint32_t computed)
{
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
	(void)stored, (void)computed;
	return true;
#else
	return stored == computed;
#endif
}

static int damaged(struct walk *w, const char *what)
{
	return opk_fail(w->ctx, OPK_EINPUT, "%s: byte %ju: %s", w->file->path, (uintmax_t)w->at,
	                what);
}

static int read_at(struct walk *w, void *to, size_t size, uint64_t at)
{
	if (opk_pread_all(w->file->fd, to, size, at))
		return OPK_OK;
	return opk_fail_errno(w->ctx, OPK_EINPUT, "can't read", w->file->path);
}

static int read_file_header(struct walk *w)
{
	uint8_t bytes[OPK_FILE_HEADER_SIZE];
	struct opk_reader reader = { .data = bytes, .left = sizeof bytes };
	uint32_t version;
	int code;

	if (w->file->size < sizeof bytes)
		return damaged(w, "too short for an .opk file");
	code = read_at(w, bytes, sizeof bytes, 0);
	if (code)
		return code;
	if (memcmp(opk_read_bytes(&reader, OPK_MAGIC_SIZE), OPK_MAGIC, OPK_MAGIC_SIZE))
		return damaged(
			w,
			"not an .opk file; 'eval --raw' and 'import --raw' take bare counter data images");
	version = opk_read_u32(&reader);
	if (version != OPK_FORMAT_VERSION)
		return opk_fail(w->ctx, OPK_EINPUT,
		                "%s: format version %u, this offpeak knows version %d",
		                w->file->path, version, OPK_FORMAT_VERSION);
	if (opk_read_u32(&reader))
		return damaged(w, "the file header is damaged");
	w->headers_crc = opk_crc32(0, bytes, sizeof bytes);
	w->at = sizeof bytes;
	return OPK_OK;
}

const char *opk_section_flaw(const struct opk_section *section)
{
	bool sparse = section->flags & OPK_SECTION_SPARSE;
	uint64_t most;

	if (section->flags & ~OPK_SECTION_KNOWN)
		return NULL; /* a filter of a later version: can't be decoded, can be skipped */
	if (!(section->flags & OPK_SECTION_DEFLATED) && section->plain_size != section->stored_size)
		return "a section's two lengths disagree";
	if (__builtin_mul_overflow(section->stored_size, opk_section_max_ratio(section->flags),
	                           &most)
	    || section->plain_size > most)
		return "a section claims an impossible length";
	if (section->plain_size > OPK_MAX_PLAIN)
		return "a section of more than 4 GiB";
	if (sparse ? !(section->flags & OPK_SECTION_DEFLATED)
	                     || section->packed_size > section->stored_size * OPK_MAX_RATIO
	           : section->packed_size || (section->flags & OPK_SECTION_BASED))
		return "a section's packing is out of range";
	if ((section->flags & OPK_SECTION_XORED)
	    && (!section->stride || section->stride >= section->plain_size))
		return "a section's filter is out of range";
	return NULL;
}

/* By its checksum, so that no other is taken for it where sections are missing. */
bool opk_section_find_base(const struct opk_file *file, struct opk_section *section)
{
	size_t count = file->section_count;
	uint32_t crc;

	if (section->type != OPK_SECTION_DATA || section->stored_size < sizeof crc
	    || !opk_pread_all(file->fd, &crc, sizeof crc, section->offset))
		return false;
	crc = le32toh(crc);
	for (size_t i = 1; i <= count && i <= OPK_BASE_DISTANCE; i++) {
		const struct opk_section *before = &file->sections[count - i];

		section->base = count - i;
		if (before->type == OPK_SECTION_DATA && before->crc == crc
		    && before->plain_size == section->plain_size
		    && !(before->flags & (~OPK_SECTION_KNOWN | OPK_SECTION_BASED)))
			return true;
	}
	return false;
}

static int check_form(struct walk *w, struct opk_section *section)
{
	const char *flaw = opk_section_flaw(section);

	if (flaw)
		return damaged(w, flaw);
	if ((section->flags & OPK_SECTION_BASED) && !(section->flags & ~OPK_SECTION_KNOWN)
	    && !opk_section_find_base(w->file, section))
		return damaged(w, "a section builds on one that is not there");
	return OPK_OK;
}

/* Fills *section, or sets w->cut where the file ends before the header or the payload does. */
static int read_section_header(struct walk *w, struct opk_section *section)
{
	uint8_t bytes[OPK_SECTION_HEADER_SIZE];
	struct opk_reader reader = { .data = bytes, .left = sizeof bytes };
	uint64_t left = w->file->size - w->at;
	uint32_t crc;
	int code;

	if (left < sizeof bytes) {
		w->cut = true;
		return OPK_OK;
	}
	code = read_at(w, bytes, sizeof bytes, w->at);
	if (code)
		return code;
	section->type = opk_read_u32(&reader);
	section->flags = opk_read_u32(&reader);
	section->stored_size = opk_read_u64(&reader);
	section->plain_size = opk_read_u64(&reader);
	section->stride = opk_read_u32(&reader);
	section->crc = opk_read_u32(&reader);
	section->packed_size = opk_read_u32(&reader);
	crc = opk_read_u32(&reader);
	if (!opk_same_crc(crc, opk_crc32(0, bytes, OPK_SECTION_SUMMED)))
		return damaged(w, "a section header is damaged: its checksum differs");
	left -= sizeof bytes;
	if (section->stored_size > left
	    || opk_padding(section->stored_size) > left - section->stored_size) {
		w->cut = true;
		return OPK_OK;
	}
	section->offset = w->at + sizeof bytes;
	code = check_form(w, section);
	if (!code && section->type != OPK_SECTION_END)
		w->headers_crc = opk_crc32(w->headers_crc, bytes, OPK_SECTION_SUMMED);
	return code;
}

static int check_padding(struct walk *w, const struct opk_section *section)
{
	uint64_t padding = 0, end = section->offset + section->stored_size;
	int code = read_at(w, &padding, opk_padding(section->stored_size), end);

	if (!code && padding)
		return damaged(w, "the bytes behind a section are not zero");
	return code;
}

/* The end section counts the sections and sums up their headers: none is missing or moved. */
static int check_end(struct walk *w, const struct opk_section *section)
{
	uint8_t bytes[OPK_END_SIZE];
	struct opk_reader reader = { .data = bytes, .left = sizeof bytes };
	uint32_t count, crc;
	int code;

	if (section->stored_size != sizeof bytes || section->flags)
		return damaged(w, "the end section is damaged");
	code = read_at(w, bytes, sizeof bytes, section->offset);
	if (code)
		return code;
	count = opk_read_u32(&reader);
	crc = opk_read_u32(&reader);
	if (!opk_same_crc(section->crc, opk_crc32(0, bytes, sizeof bytes)))
		return damaged(w, "the end section is damaged");
	if (count != w->file->section_count || !opk_same_crc(crc, w->headers_crc))
		return damaged(w, "sections are missing or were moved");
	if (section->offset + sizeof bytes != w->file->size)
		return damaged(w, "there is more after the end section");
	w->file->complete = true;
	return OPK_OK;
}

static int keep(struct walk *w, const struct opk_section *section)
{
	struct opk_file *file = w->file;

	if (!opk_grow(&file->sections, &file->section_capacity, file->section_count,
	              sizeof *file->sections))
		return opk_nomem(w->ctx, "sections");
	file->sections[file->section_count++] = *section;
	w->at = section->offset + section->stored_size + opk_padding(section->stored_size);
	return OPK_OK;
}

static int walk_sections(struct walk *w)
{
	int code = read_file_header(w);

	while (!code && !w->file->complete && w->at < w->file->size) {
		struct opk_section section = { 0 };

		code = read_section_header(w, &section);
		if (code || w->cut)
			break;
		code = check_padding(w, &section);
		if (!code)
			code = section.type == OPK_SECTION_END ? check_end(w, &section)
			                                       : keep(w, &section);
	}
	return code;
}

int opk_file_open(struct opk_file **out, struct opk_ctx *ctx, const char *path)
{
	struct opk_file *file = opk_alloc(sizeof *file);
	struct walk w = { .ctx = ctx, .file = file };
	struct stat info;
	int code;

	if (!file)
		return opk_nomem(ctx, "a file");
	/* Without O_NONBLOCK a pipe would be waited for before it can be refused. */
	file->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	file->path = opk_strdup(path);
	if (!file->path)
		code = opk_nomem(ctx, "a file name");
	else if (file->fd < 0 || fstat(file->fd, &info))
		code = opk_fail_errno(ctx, OPK_EINPUT, "can't open", path);
	else if (!S_ISREG(info.st_mode))
		code = opk_fail(ctx, OPK_EINPUT, "%s: not a regular file", path);
	else {
		file->size = (uint64_t)info.st_size;
		code = walk_sections(&w);
	}
	if (code) {
		opk_file_free(file);
		return code;
	}
	*out = file;
	return OPK_OK;
}

void opk_file_free(struct opk_file *file)
{
	if (!file)
		return;
	if (file->fd >= 0)
		close(file->fd);
	opk_meta_storage_free(file->meta);
	opk_range_storage_free(file->ranges);
	opk_time_storage_free(file->times);
	opk_stats_storage_free(file->stats);
	free(file->sections);
	free(file->path);
	free(file);
}

bool opk_file_complete(const struct opk_file *file)
{
	return file->complete;
}

uint64_t opk_file_size(const struct opk_file *file)
{
	return file->size;
}

size_t opk_file_section_count(const struct opk_file *file)
{
	return file->section_count;
}

const struct opk_section *opk_file_section(const struct opk_file *file, size_t i)
{
	return &file->sections[i];
}

long opk_file_find(const struct opk_file *file, uint32_t type)
{
	for (size_t i = 0; i < file->section_count; i++)
		if (file->sections[i].type == type)
			return (long)i;
	return -1;
}

unsigned opk_section_kind(uint32_t type)
{
	return type == OPK_SECTION_DATA     ? OPK_KIND_IMAGE
	       : type == OPK_SECTION_RANGES ? OPK_KIND_RANGES
	       : type == OPK_SECTION_TIMES  ? OPK_KIND_TIMES
	                                    : 0;
}

unsigned opk_file_kinds(const struct opk_file *file)
{
	unsigned kinds = 0;

	for (size_t i = 0; i < file->section_count; i++)
		kinds |= opk_section_kind(file->sections[i].type);
	return kinds;
}

int opk_file_add_place(struct opk_ctx *ctx, int code, const struct opk_file *file, size_t i)
{
	char type[5];

	opk_section_type_name(type, file->sections[i].type);
	return opk_add(ctx, code, "%s: section %zu (%s)", file->path, i + 1, type);
}

int opk_file_verify(struct opk_ctx *ctx, const struct opk_file *file, size_t i)
{
	const struct opk_section *section = &file->sections[i];
	uint8_t piece[1 << 16];
	uint64_t at = section->offset, left = section->stored_size;
	uint32_t crc = 0;

	while (left) {
		size_t size = left < sizeof piece ? (size_t)left : sizeof piece;

		if (!opk_pread_all(file->fd, piece, size, at)) {
			opk_fail_errno(ctx, OPK_EINPUT, "can't read", file->path);
			return opk_file_add_place(ctx, OPK_EINPUT, file, i);
		}
		crc = opk_crc32(crc, piece, size);
		at += size;
		left -= size;
	}
	if (opk_same_crc(section->crc, crc))
		return OPK_OK;
	opk_fail(ctx, OPK_EINPUT, "damaged: its CRC-32 differs from the one stored");
	return opk_file_add_place(ctx, OPK_EINPUT, file, i);
}
