/* SPDX-License-Identifier: BSD-2-Clause */
/* The layout of .opk files, docs/format.md, shared by reader and writer. */
#ifndef OPK_CONTAINER_H
#define OPK_CONTAINER_H

#include "base/buf.h"
#include "base/ctx.h"

#define OPK_MAGIC "\x89OPK\r\n\x1a\n"

enum {
	OPK_MAGIC_SIZE = 8,
	OPK_FORMAT_VERSION = 1,
	OPK_FILE_HEADER_SIZE = 16,
	OPK_SECTION_HEADER_SIZE = 40,
	/* Bytes under the header's own CRC. With that CRC behind them any header sums up to the same. */
	OPK_SECTION_SUMMED = 36,
	OPK_END_SIZE = 8,
	/* deflate can't pack tighter than 1032:1, so a section that claims more is lying. */
	OPK_MAX_RATIO = 1032,
	/* Of zeros packing leaves next to nothing. What is that empty is stored otherwise. */
	OPK_MAX_SPARSE_RATIO = 4 * OPK_MAX_RATIO,
	/* Of what equals its base not even that: it is as long as the base, which was believed already. */
	OPK_MAX_BASED_RATIO = 1024 * 1024,
	/* A base is at most so many sections away. */
	OPK_BASE_DISTANCE = 1000,
	OPK_BASE_CRC_SIZE = 4,
};

/* All of a section is held in memory. */
#define OPK_MAX_PLAIN ((uint64_t)4 << 30)

/* Plain bytes that a stored one can stand for. */
static inline uint64_t opk_section_max_ratio(uint32_t flags)
{
	if (flags & OPK_SECTION_BASED)
		return OPK_MAX_BASED_RATIO;
	return flags & OPK_SECTION_SPARSE ? OPK_MAX_SPARSE_RATIO : OPK_MAX_RATIO;
}

#define OPK_SECTION_KNOWN                                                                          \
	(OPK_SECTION_DEFLATED | OPK_SECTION_XORED | OPK_SECTION_SPARSE | OPK_SECTION_BASED)

/* Payloads are padded with zeros to a multiple of 8. */
static inline uint64_t opk_padding(uint64_t size)
{
	return -size & 7;
}

/* Packed data is made of blocks, each the difference to the one before. */
static inline uint64_t opk_section_block(const struct opk_section *section)
{
	return section->flags & OPK_SECTION_XORED ? section->stride : section->plain_size;
}

struct opk_file {
	char *path;
	int fd;
	uint64_t size;
	bool complete;
	struct opk_section *sections;
	size_t section_count;
	size_t section_capacity;
	/* Decoded on demand: meta.c, ranges.c, times.c, stats.c. */
	struct opk_meta_storage *meta;
	struct opk_range_storage *ranges;
	struct opk_time_storage *times;
	struct opk_stats_storage *stats;
};

void opk_meta_storage_free(struct opk_meta_storage *storage);
void opk_range_storage_free(struct opk_range_storage *storage);
void opk_time_storage_free(struct opk_time_storage *storage);
void opk_stats_storage_free(struct opk_stats_storage *storage);

/* Rows of one section, once opk_file_ranges() has read them. */
size_t opk_file_range_count(const struct opk_file *file, size_t section);

/* Entries of a TIME section of so many bytes. */
size_t opk_times_count(uint64_t size);
/* The TIME section's payload: times.c. */
void opk_times_encode(struct opk_buf *out, const struct opk_time *times, size_t count);

/* False where a checksum differs. */
bool opk_same_crc(uint32_t stored, uint32_t computed);

/* What is wrong with a header whose checksum is right; NULL: nothing. */
const char *opk_section_flaw(const struct opk_section *section);
/* Fills in `base`, of a section that comes next in the file and has OPK_SECTION_BASED. */
bool opk_section_find_base(const struct opk_file *file, struct opk_section *section);

/* Memory for decoding many sections one after the other. Begins zeroed. */
struct opk_decoder {
	struct opk_buf stored, packed, plain;
	struct opk_buf base;
	size_t base_section;
};

/* opk_file_read() whose *data goes with the decoder, or with the next call. */
int opk_file_decode(const void **data, size_t *size, struct opk_ctx *ctx,
                    const struct opk_file *file, size_t i, struct opk_decoder *decoder);
void opk_decoder_clear(struct opk_decoder *decoder);

/* The first section of a type, or -1. */
long opk_file_find(const struct opk_file *file, uint32_t type);
/* Images, and the tables that stand beside them: a bit each; 0 of all other types. */
enum { OPK_KIND_IMAGE = 1, OPK_KIND_RANGES = 2, OPK_KIND_TIMES = 4 };
unsigned opk_section_kind(uint32_t type);
/* Those that a file has. */
unsigned opk_file_kinds(const struct opk_file *file);
/* Decodes a section and adds it, stored as this writer stores it. */
int opk_writer_copy(struct opk_writer *writer, const struct opk_file *file, size_t i);
/* Adds "FILE: section N (TYPE)" to the cause chain. */
int opk_file_add_place(struct opk_ctx *ctx, int code, const struct opk_file *file, size_t i);

#endif
