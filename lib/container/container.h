/* SPDX-License-Identifier: BSD-2-Clause */
/* The layout of .opk files, docs/format.md, shared by reader and writer, and an open file. */
#ifndef OPK_CONTAINER_H
#define OPK_CONTAINER_H

#include "base/buf.h"
#include "base/ctx.h"

#define OPK_MAGIC "\x89OPK\r\n\x1a\n"

enum {
	OPK_MAGIC_SIZE = 8,
	OPK_FORMAT_VERSION = 2,
	OPK_FILE_HEADER_SIZE = 16,
	OPK_SECTION_HEADER_SIZE = 48,
	/* Bytes under the header's own CRC; with it, the CRC of any header is the same. */
	OPK_SECTION_SUMMED = 44,
	OPK_END_SIZE = 8,
	/* deflate can't pack tighter than 1032:1, so a section that claims more is lying. */
	OPK_MAX_RATIO = 1032,
	/* Packing leaves next to nothing of zeros. What is that empty is stored otherwise. */
	OPK_MAX_SPARSE_RATIO = 4 * OPK_MAX_RATIO,
	/* A section names another one that is at most so many sections before it. */
	OPK_LINK_DISTANCE = 1000,
};

/* All of a section is held in memory. */
#define OPK_MAX_PLAIN ((uint64_t)4 << 30)

/*
 * How many plain bytes a stored one can be. What equals its base leaves next to nothing: it is as
 * long as the base, which was believed already.
 */
static inline uint64_t opk_section_max_ratio(uint32_t flags)
{
	if (flags & OPK_SECTION_BASED)
		return OPK_MAX_PLAIN;
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

/* RNGS and TIME, which always name the image that they describe. */
static inline bool opk_is_table(uint32_t type)
{
	return type == OPK_SECTION_RANGES || type == OPK_SECTION_TIMES;
}

struct opk_file {
	char *path;
	int fd;
	uint64_t size;
	bool complete;
	struct opk_section *sections;
	size_t section_count;
	size_t section_capacity;
	/* Decoded on demand: meta.c, stats.c, recording.c. */
	struct opk_meta_storage *meta;
	struct opk_stats_storage *stats;
	struct opk_recording *recording;
};

/* False where a checksum differs. */
bool opk_same_crc(uint32_t stored, uint32_t computed);

/* What is wrong with a header whose checksum is right; NULL: nothing. */
const char *opk_section_flaw(const struct opk_section *section);
/* The checksum that its payload in the file has. */
int opk_section_crc(uint32_t *crc, struct opk_ctx *ctx, const struct opk_file *file,
                    const struct opk_section *section);

/* Memory for decoding many sections one after the other. Begins zeroed. */
struct opk_decoder {
	struct opk_buf stored, packed, plain;
	struct opk_buf base;
	size_t base_section;
};

/* This is opk_file_read(), but *data goes with the decoder, or with the next call. */
int opk_file_decode(const void **data, size_t *size, struct opk_ctx *ctx,
                    const struct opk_file *file, size_t i, struct opk_decoder *decoder);
void opk_decoder_clear(struct opk_decoder *decoder);

/* The first section of a type, or -1. */
long opk_file_find(const struct opk_file *file, uint32_t type);
/* Adds "FILE: section N (TYPE)" to the cause chain. */
int opk_file_add_place(struct opk_ctx *ctx, int code, const struct opk_file *file, size_t i);

/* Whether a section belongs to the image that it names, as a table does. */
bool opk_is_attached(const struct opk_file *file, size_t i);
/*
 * Decodes a section and adds it, stored as this writer stores it. What is attached names the last
 * image.
 */
int opk_writer_copy(struct opk_writer *writer, const struct opk_file *file, size_t i);
/* Copies all that is attached to an image, which was added last. */
int opk_writer_copy_tables(struct opk_writer *writer, const struct opk_file *file, size_t image);

#endif
