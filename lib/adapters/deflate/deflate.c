/* SPDX-License-Identifier: BSD-2-Clause */
/* Compression by zlib. */
#include "adapters/deflate/deflate.h"

#include <zlib.h>

#include "base/mem.h"

int opk_deflate(void **out, size_t *out_size, struct opk_ctx *ctx, const void *data, size_t size,
                bool fast)
{
	uLongf bound = compressBound(size);
	opk_autofree void *packed = opk_realloc(NULL, bound);

	if (!packed
	    || compress2(packed, &bound, data, size, fast ? Z_BEST_SPEED : Z_BEST_COMPRESSION)
	               != Z_OK)
		return opk_nomem(ctx, "compression");
	*out_size = bound;
	*out = opk_take(packed);
	return OPK_OK;
}
