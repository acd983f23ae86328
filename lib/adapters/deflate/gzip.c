/* SPDX-License-Identifier: BSD-2-Clause */
/* The gzip format (RFC 1952), piece by piece. */
#include <zlib.h>

#include "adapters/deflate/deflate.h"
#include "base/mem.h"

enum { GZIP_WINDOW = 15 + 16, MEMORY = 8, PIECE = 64 << 10 };

struct opk_gzip {
	struct opk_ctx *ctx;
	opk_sink_fn *sink;
	void *sink_data;
	z_stream stream;
	unsigned char out[PIECE];
};

int opk_gzip_new(struct opk_gzip **out, struct opk_ctx *ctx, opk_sink_fn *sink, void *sink_data)
{
	struct opk_gzip *gzip = opk_alloc(sizeof *gzip);

	if (!gzip
	    || deflateInit2(&gzip->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, MEMORY,
	                    Z_DEFAULT_STRATEGY)
	               != Z_OK) {
		free(gzip);
		return opk_nomem(ctx, "compression");
	}
	gzip->ctx = ctx;
	gzip->sink = sink;
	gzip->sink_data = sink_data;
	*out = gzip;
	return OPK_OK;
}

/* Compresses the pending input; `flush` is Z_FINISH at the end. */
static int drain(struct opk_gzip *gzip, int flush)
{
	size_t size;

	do {
		gzip->stream.next_out = gzip->out;
		gzip->stream.avail_out = PIECE;
		deflate(&gzip->stream, flush);
		size = PIECE - gzip->stream.avail_out;
		if (size && gzip->sink(gzip->sink_data, gzip->out, size))
			return OPK_EFAILED;
	} while (!gzip->stream.avail_out);
	return OPK_OK;
}

int opk_gzip_write(void *data, const void *bytes, size_t size)
{
	struct opk_gzip *gzip = data;

	gzip->stream.next_in = (Bytef *)bytes;
	while (size) {
		uInt piece = size < PIECE ? (uInt)size : PIECE;

		gzip->stream.avail_in = piece;
		size -= piece;
		TRY(drain(gzip, Z_NO_FLUSH));
	}
	return OPK_OK;
}

int opk_gzip_finish(struct opk_gzip *gzip)
{
	return drain(gzip, Z_FINISH);
}

void opk_gzip_free(struct opk_gzip *gzip)
{
	if (gzip)
		deflateEnd(&gzip->stream);
	free(gzip);
}
