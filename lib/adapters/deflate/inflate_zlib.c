/* SPDX-License-Identifier: BSD-2-Clause */
/* CRC-32 and decompression by zlib. */
#include <limits.h>
#include <zlib.h>

#include "adapters/deflate/deflate.h"

uint32_t opk_crc32(uint32_t crc, const void *data, size_t size)
{
	return (uint32_t)crc32_z(crc, data, size);
}

/* zlib counts in 32 bits: larger input is passed in pieces. */
static uInt piece(size_t left)
{
	return left > UINT_MAX ? UINT_MAX : (uInt)left;
}

int opk_inflate(void *out, size_t plain_size, struct opk_ctx *ctx, const void *data, size_t size)
{
	z_stream stream = { .next_in = (Bytef *)data, .next_out = out };
	const Bytef *in_end = (const Bytef *)data + size;
	Bytef *out_end = (Bytef *)out + plain_size;
	int status = inflateInit(&stream);

	if (status != Z_OK)
		return opk_nomem(ctx, "decompression");
	do {
		stream.avail_in = piece((size_t)(in_end - stream.next_in));
		stream.avail_out = piece((size_t)(out_end - stream.next_out));
		status = inflate(&stream, Z_NO_FLUSH);
	} while (status == Z_OK);
	inflateEnd(&stream);
	if (status == Z_MEM_ERROR)
		return opk_nomem(ctx, "decompression");
	if (status != Z_STREAM_END || stream.next_in != in_end || stream.next_out != out_end)
		return opk_fail(ctx, OPK_EINPUT, "compressed data is damaged: %s",
		                stream.msg ? stream.msg : "its length differs from the one stated");
	return OPK_OK;
}
