/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds how far the clocks of ranges are apart on each GPU. */
#include <stdio.h>
#include <string.h>

#include "container/door.h"

/* More GPUs than files have in practice; any further ones share the last place. */
enum { MAX_GPUS = 64 };

struct gpu {
	const struct opk_range *first; /* its first range */
	struct opk_clock_span sm, memory;
};

static void take(struct opk_clock_span *span, uint32_t mhz)
{
	if (!mhz)
		return;
	span->least = span->least && span->least < mhz ? span->least : mhz;
	span->most = span->most > mhz ? span->most : mhz;
}

static bool same_gpu(const struct opk_range *a, const struct opk_range *b)
{
	return a->device == b->device && !strcmp(a->host, b->host) && !strcmp(a->gpu, b->gpu);
}

static struct gpu *find(struct gpu *gpus, size_t *count, const struct opk_range *range)
{
	for (size_t i = 0; i < *count; i++)
		if (same_gpu(gpus[i].first, range))
			return &gpus[i];
	if (*count < MAX_GPUS)
		gpus[(*count)++] = (struct gpu){ .first = range };
	return &gpus[*count - 1];
}

static void join(struct opk_clock_span *all, const struct opk_clock_span *one)
{
	take(all, one->least);
	take(all, one->most);
	all->drifted |= one->least < one->most * (1 - OPK_CLOCK_DRIFT);
}

void opk_clocks_find(struct opk_clocks *out, const struct opk_range *ranges, size_t count)
{
	struct gpu gpus[MAX_GPUS];
	size_t known = 0;

	*out = (struct opk_clocks){ 0 };
	for (size_t i = 0; i < count; i++) {
		struct gpu *gpu = find(gpus, &known, &ranges[i]);

		take(&gpu->sm, ranges[i].sm_mhz);
		take(&gpu->memory, ranges[i].memory_mhz);
	}
	for (size_t i = 0; i < known; i++) {
		join(&out->sm, &gpus[i].sm);
		join(&out->memory, &gpus[i].memory);
	}
}

void opk_clock_text(char out[OPK_CLOCK_TEXT], const struct opk_clock_span *span)
{
	if (!span->most)
		*out = '\0';
	else if (span->least < span->most)
		snprintf(out, OPK_CLOCK_TEXT, "%u to %u", span->least, span->most);
	else
		snprintf(out, OPK_CLOCK_TEXT, "%u", span->most);
}
