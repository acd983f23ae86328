/* SPDX-License-Identifier: BSD-2-Clause */
/* Removes the program's data from the L2 cache. */
#include "collect/profilers/profilers.h"

/* Copies go to one buffer of this size, so that few lines need to be written back. */
enum { STEP = 2 << 20 };

static bool allocate(struct cache *cache)
{
	CUdevice device;
	int bytes = 0;

	if (target.cuCtxGetDevice(&device)
	    || target.cuDeviceGetAttribute(&bytes, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, device)
	    || bytes <= 0)
		return false;
	cache->bytes = ((size_t)bytes + STEP - 1) / STEP * STEP;
	return !target.cuMemAlloc(&cache->buffer, cache->bytes + STEP);
}

static bool fail(struct cache *cache, const char *why)
{
	if (!cache->failed)
		say(0, "--cache-control flush: %s", why);
	cache->failed = true;
	return false;
}

/*
 * Reads memory as large as L2. Overwriting memory would also work, at the cost of the write-back in
 * the next kernel that writes: 24 us instead of 18 for one that adds two vectors. The driver's
 * copies do not become ranges of the profiler; a kernel would.
 */
static bool fill(const struct cache *cache, CUstream stream)
{
	CUdeviceptr into = cache->buffer + cache->bytes;

	for (size_t at = 0; at < cache->bytes; at += STEP)
		if (target.cuMemcpyDtoDAsync(into, cache->buffer + at, STEP, stream))
			return false;
	return !target.cuStreamSynchronize(stream);
}

bool cache_flush(struct cache *cache, CUstream stream)
{
	if (cache->failed)
		return false;
	if (!cache->buffer && !allocate(cache))
		return fail(cache, "no memory of the size of the L2 cache is left on the device");
	if (!fill(cache, stream))
		return fail(cache, "the memory that is to fill the L2 cache can't be copied");
	return true;
}
