/* SPDX-License-Identifier: BSD-2-Clause */
/* CRC-32 and decompression by libdeflate. */
#include <libdeflate.h>

#include "adapters/deflate/deflate.h"

uint32_t opk_crc32(uint32_t crc, const void *data, size_t size)
{
	return libdeflate_crc32(crc, data, size);
}

int opk_inflate(void *out, size_t plain_size, struct opk_ctx *ctx, const void *data, size_t size)
{
	struct libdeflate_decompressor *decompressor = libdeflate_alloc_decompressor();
	enum libdeflate_result result;
	size_t used;

	if (!decompressor)
		return opk_nomem(ctx, "decompression");
	result = libdeflate_zlib_decompress_ex(decompressor, data, size, out, plain_size, &used,
	                                       NULL);
	libdeflate_free_decompressor(decompressor);
	if (result == LIBDEFLATE_SUCCESS && used == size)
		return OPK_OK;
	return opk_fail(ctx, OPK_EINPUT, "compressed data is damaged: %s",
	                result == LIBDEFLATE_BAD_DATA ? "it can't be inflated"
	                                              : "its length differs from the one stated");
}
