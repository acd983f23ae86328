/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the distance at which the ranges of an image repeat. */
#include "container/container_inside.h"

#include <stdbool.h>
#include <string.h>

#include "base/mem.h"

enum {
	WINDOW = 32,      /* bytes that must repeat */
	TABLE_BITS = 14,  /* of windows remembered */
	DISTANCES = 64,   /* candidates counted */
	FINALISTS = 6,    /* candidates measured on the whole data */
	SAMPLE_MASK = 63, /* one window in so many is looked at */
	MIN_STRIDE = 64,
};

struct candidate {
	size_t distance;
	size_t hits;
};

static uint64_t load64(const uint8_t *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof value);
	return value;
}

static uint64_t hash(const uint8_t *at)
{
	uint64_t h = 0;

	for (int i = 0; i < WINDOW; i += 8)
		h = (h ^ load64(at + i)) * 0x9e3779b97f4a7c15u;
	return h ^ h >> 29;
}

/* A run of one word, mostly zeros, repeats at every distance and says nothing. */
static bool is_flat(const uint8_t *at)
{
	uint64_t first = load64(at);

	return load64(at + 8) == first && load64(at + 16) == first && load64(at + 24) == first;
}

/* Counts a distance; a new one replaces the candidate with the lowest count. */
static void count(struct candidate *candidates, size_t distance)
{
	struct candidate *least = candidates;

	for (int i = 0; i < DISTANCES; i++) {
		if (candidates[i].distance == distance) {
			candidates[i].hits++;
			return;
		}
		if (candidates[i].hits < least->hits)
			least = &candidates[i];
	}
	if (least->hits)
		least->hits--;
	else
		*least = (struct candidate){ distance, 1 };
}

static bool collect(struct candidate *candidates, const uint8_t *data, size_t size)
{
	/* The place where each sampled window was seen last, plus one. */
	opk_autofree size_t *last = opk_alloc_array((size_t)1 << TABLE_BITS, sizeof *last);

	for (size_t i = 0; last && i + WINDOW <= size; i++) {
		uint64_t h;
		size_t *seen;

		if (is_flat(data + i))
			continue;
		h = hash(data + i);
		if (h & SAMPLE_MASK)
			continue;
		seen = &last[h >> (64 - TABLE_BITS)];
		if (*seen && i + 1 - *seen >= MIN_STRIDE
		    && !memcmp(data + i, data + *seen - 1, WINDOW))
			count(candidates, i + 1 - *seen);
		*seen = i + 1;
	}
	return last;
}

/* How many words become zero, minus how many are zero and become another value. */
static long gain(const uint8_t *data, size_t size, size_t stride)
{
	long gained = 0;

	for (size_t i = stride; i + 8 <= size; i += 8) {
		uint64_t word = load64(data + i), before = load64(data + i - stride);

		gained += word && word == before;
		gained -= !word && before;
	}
	return gained;
}

static struct candidate *most_hit(struct candidate *candidates)
{
	struct candidate *best = candidates;

	for (int i = 1; i < DISTANCES; i++)
		if (candidates[i].hits > best->hits)
			best = &candidates[i];
	return best;
}

bool opk_xor_find_stride(size_t *stride, const void *data, size_t size)
{
	struct candidate candidates[DISTANCES] = { 0 };
	long best_gain = 0;

	*stride = 0;
	if (!collect(candidates, data, size))
		return false;
	for (int i = 0; i < FINALISTS; i++) {
		struct candidate *next = most_hit(candidates);
		long gained;

		if (!next->hits)
			break;
		gained = gain(data, size, next->distance);
		if (gained > best_gain) {
			best_gain = gained;
			*stride = next->distance;
		}
		next->hits = 0;
	}
	return true;
}
