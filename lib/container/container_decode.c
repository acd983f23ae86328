/* SPDX-License-Identifier: BSD-2-Clause */
/* Decodes a section's payload: CRC, inflate, unpack. */
#include <string.h>
#include <sys/mman.h>

#include "adapters/deflate/deflate.h"
#include "base/file.h"
#include "container/container.h"
#include "container/container_inside.h"

/*
 * An image has megabytes, and mapping them page by page takes longer than decoding them. Has no
 * effect if the kernel has no huge pages.
 */
static void want_huge_pages(uint8_t *data, size_t size)
{
	const uintptr_t huge = (uintptr_t)2 << 20;
	uintptr_t start = ((uintptr_t)data + huge - 1) / huge * huge;
	uintptr_t end = ((uintptr_t)data + size) / huge * huge;

	if (start < end)
		madvise((void *)start, end - start, MADV_HUGEPAGE);
}

/* Makes room for `size` uninitialized bytes, and a NUL after them. */
static uint8_t *make_room(struct opk_buf *buf, uint64_t size)
{
	if (size >= SIZE_MAX)
		return NULL;
	if (size >= buf->capacity) {
		opk_buf_clear(buf);
		buf->data = opk_realloc(NULL, (size_t)size + 1);
		buf->capacity = buf->data ? (size_t)size + 1 : 0;
		want_huge_pages(buf->data, buf->capacity);
	}
	if (!buf->data)
		return NULL;
	buf->size = (size_t)size;
	buf->data[size] = '\0';
	return buf->data;
}

/* Reads the stored payload and checks its CRC. */
static int read_stored(struct opk_buf *stored, struct opk_ctx *ctx, const struct opk_file *file,
                       const struct opk_section *section)
{
	uint8_t *bytes;

	if (section->flags & ~OPK_SECTION_KNOWN)
		return opk_fail(ctx, OPK_EINPUT, "stored in a way that a later offpeak knows");
	bytes = make_room(stored, section->stored_size);
	if (!bytes)
		return opk_nomem(ctx, "a section");
	if (!opk_section_pread(file, section, bytes, stored->size, section->offset))
		return opk_fail_errno(ctx, OPK_EINPUT, "can't read",
		                      opk_section_path(file, section));
	if (!opk_same_crc(section->crc, opk_crc32(0, bytes, stored->size)))
		return opk_fail(ctx, OPK_EINPUT, "damaged: its CRC-32 differs from the one stored");
	return OPK_OK;
}

/* Block by block: each is the difference to the one before it, the first one to the base's. */
static int unpack(struct opk_buf *plain, struct opk_ctx *ctx, const struct opk_section *section,
                  const struct opk_buf *packed, const struct opk_buf *base)
{
	struct opk_reader reader = { .data = packed->data, .left = packed->size };
	size_t block = (size_t)opk_section_block(section);
	bool sound = true;

	for (size_t at = 0; sound && at < plain->size; at += block) {
		uint8_t *to = plain->data + at;
		size_t size = plain->size - at < block ? plain->size - at : block;

		if (at)
			memcpy(to, to - block, size);
		else if (section->flags & OPK_SECTION_BASED)
			memcpy(to, base->data, size);
		else
			memset(to, 0, size);
		sound = opk_sparse_unpack(&reader, to, size);
	}
	if (!sound || reader.left)
		return opk_fail(ctx, OPK_EINPUT, "packed data is damaged");
	return OPK_OK;
}

static int inflate_to(struct opk_buf *to, uint64_t size, struct opk_ctx *ctx,
                      const struct opk_buf *stored)
{
	if (!make_room(to, size))
		return opk_nomem(ctx, "a section");
	return opk_inflate(to->data, to->size, ctx, stored->data, stored->size);
}

static int decode(struct opk_decoder *decoder, struct opk_buf *plain, struct opk_ctx *ctx,
                  const struct opk_section *section)
{
	struct opk_buf *stored = &decoder->stored, *packed = &decoder->packed;

	if (section->flags & OPK_SECTION_SPARSE) {
		TRY(inflate_to(packed, section->packed_size, ctx, stored));
		if (!make_room(plain, section->plain_size))
			return opk_nomem(ctx, "a section");
		return unpack(plain, ctx, section, packed, &decoder->base);
	}
	if (section->flags & OPK_SECTION_DEFLATED)
		return inflate_to(plain, section->plain_size, ctx, stored);
	if (!make_room(plain, section->plain_size))
		return opk_nomem(ctx, "a section");
	memcpy(plain->data, stored->data, plain->size);
	return OPK_OK;
}

static int read_and_decode(struct opk_decoder *decoder, struct opk_buf *plain, struct opk_ctx *ctx,
                           const struct opk_file *file, size_t i)
{
	const struct opk_section *section = &file->sections[i];
	int code = read_stored(&decoder->stored, ctx, file, section);

	if (!code)
		code = decode(decoder, plain, ctx, section);
	return code ? opk_file_add_place(ctx, code, file, i) : OPK_OK;
}

/* Many sections in a row have the same base. */
static int need_base(struct opk_decoder *decoder, struct opk_ctx *ctx, const struct opk_file *file,
                     size_t i)
{
	size_t base = file->sections[i].link;
	int code;

	if (decoder->base.size && decoder->base_section == base)
		return OPK_OK;
	decoder->base.size = 0;
	code = read_and_decode(decoder, &decoder->base, ctx, file, base);
	if (code) {
		decoder->base.size = 0;
		return opk_add(ctx, code, "%s: section %zu builds on it", file->path, i + 1);
	}
	decoder->base_section = base;
	return OPK_OK;
}

int opk_file_decode(const void **data, size_t *size, struct opk_ctx *ctx,
                    const struct opk_file *file, size_t i, struct opk_decoder *decoder)
{
	/* A based section whose flags are all known has a base. */
	if ((file->sections[i].flags & OPK_SECTION_BASED)
	    && !(file->sections[i].flags & ~OPK_SECTION_KNOWN))
		TRY(need_base(decoder, ctx, file, i));
	TRY(read_and_decode(decoder, &decoder->plain, ctx, file, i));
	*data = decoder->plain.data;
	*size = decoder->plain.size;
	return OPK_OK;
}

void opk_decoder_clear(struct opk_decoder *decoder)
{
	opk_buf_clear(&decoder->stored);
	opk_buf_clear(&decoder->packed);
	opk_buf_clear(&decoder->plain);
	opk_buf_clear(&decoder->base);
}

int opk_file_read(void **data, size_t *size, struct opk_ctx *ctx, const struct opk_file *file,
                  size_t i)
{
	opk_autodecoder struct opk_decoder decoder = { 0 };
	const void *plain;

	TRY(opk_file_decode(&plain, size, ctx, file, i, &decoder));
	*data = opk_take(decoder.plain.data);
	return OPK_OK;
}
