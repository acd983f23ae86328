/* SPDX-License-Identifier: BSD-2-Clause */
/* Empties the L2 cache of what the program left there. */
#include "collect/profilers/profilers.h"

#include <stdio.h>

static bool allocate(struct cache *cache, const struct target *target)
{
	CUdevice device;
	int bytes = 0;

	if (target->cuCtxGetDevice(&device)
	    || target->cuDeviceGetAttribute(&bytes, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, device)
	    || bytes <= 0)
		return false;
	cache->bytes = (size_t)bytes;
	return !target->cuMemAlloc(&cache->buffer, cache->bytes);
}

static bool fail(struct cache *cache, const char *why)
{
	if (!cache->failed)
		fprintf(stderr, "offpeak-collect: --cache-control flush: %s\n", why);
	cache->failed = true;
	return false;
}

bool cache_flush(struct cache *cache, const struct target *target, CUstream stream)
{
	if (cache->failed)
		return false;
	if (!cache->buffer && !allocate(cache, target))
		return fail(cache, "no memory of the size of the L2 cache is left on the device");
	if (target->cuMemsetD8Async(cache->buffer, 0, cache->bytes, stream)
	    || target->cuStreamSynchronize(stream))
		return fail(cache, "the memory that is to fill the L2 cache can't be written");
	return true;
}
