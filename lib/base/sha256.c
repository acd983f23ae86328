/* SPDX-License-Identifier: BSD-2-Clause */
/* SHA-256, as FIPS 180-4 describes it. */
#include "base/sha256.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const uint32_t constants[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
	0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
	0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
	0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
	0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
	0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
	0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
	0xc67178f2
};

#ifdef __x86_64__
#include <cpuid.h>
#include <immintrin.h>

/* SHA instructions are seven times as fast: CPUID leaf 7 reports them, leaf 1 reports SSE 4.1. */
static bool has_instructions(void)
{
	static bool asked, found; /* CPUID is slow in a virtual machine */
	unsigned a, b, c, d, b7, c1;

	if (!asked)
		found = __get_cpuid_count(7, 0, &a, &b7, &c, &d) && __get_cpuid(1, &a, &b, &c1, &d)
		        && b7 >> 29 & 1 && c1 >> 19 & 1;
	asked = true;
	return found;
}

/* Computes four schedule words at a time; keeps the state in the order of the instructions. */
__attribute__((target("sha,sse4.1"))) static void compress_fast(uint32_t state[8],
                                                                const uint8_t *block)
{
	const __m128i order = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
	__m128i dcba = _mm_loadu_si128((const __m128i *)state);
	__m128i hgfe = _mm_loadu_si128((const __m128i *)(state + 4));
	__m128i cdab = _mm_shuffle_epi32(dcba, 0xb1), efgh = _mm_shuffle_epi32(hgfe, 0x1b);
	__m128i abef = _mm_alignr_epi8(cdab, efgh, 8), cdgh = _mm_blend_epi16(efgh, cdab, 0xf0);
	__m128i first = abef, second = cdgh, feba, dchg;
	__m128i w[4] = { _mm_setzero_si128() };

	for (int i = 0; i < 16; i++) {
		__m128i *now = &w[i % 4], before = w[(i + 3) % 4], sum;

		if (i < 4) {
			sum = _mm_loadu_si128((const __m128i *)(block + i * 16));
			*now = _mm_shuffle_epi8(sum, order);
		} else {
			sum = _mm_sha256msg1_epu32(*now, w[(i + 1) % 4]);
			sum = _mm_add_epi32(sum, _mm_alignr_epi8(before, w[(i + 2) % 4], 4));
			*now = _mm_sha256msg2_epu32(sum, before);
		}
		sum = _mm_add_epi32(*now, _mm_loadu_si128((const __m128i *)(constants + i * 4)));
		cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
		abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0e));
	}
	feba = _mm_shuffle_epi32(_mm_add_epi32(abef, first), 0x1b);
	dchg = _mm_shuffle_epi32(_mm_add_epi32(cdgh, second), 0xb1);
	_mm_storeu_si128((__m128i *)state, _mm_blend_epi16(feba, dchg, 0xf0));
	_mm_storeu_si128((__m128i *)(state + 4), _mm_alignr_epi8(dchg, feba, 8));
}
#else
static bool has_instructions(void)
{
	return false;
}

static void compress_fast(uint32_t state[8], const uint8_t *block)
{
	(void)state, (void)block;
}
#endif

static uint32_t rotate(uint32_t x, int by)
{
	return x >> by | x << (32 - by);
}

static void expand(uint32_t w[64], const uint8_t *block)
{
	for (int i = 0; i < 16; i++, block += 4)
		w[i] = (uint32_t)block[0] << 24 | (uint32_t)block[1] << 16 | (uint32_t)block[2] << 8
		       | block[3];
	for (int i = 16; i < 64; i++) {
		uint32_t a = w[i - 15], b = w[i - 2];

		w[i] = w[i - 16] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) + w[i - 7]
		       + (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
	}
}

/* Each round, the names of the eight words rotate by one place instead of the words. */
#define ROUND(a, b, c, d, e, f, g, h, i)                                                           \
	do {                                                                                       \
		uint32_t one = h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25))                  \
		               + ((e & f) ^ (~e & g)) + constants[i] + w[i];                       \
		d += one;                                                                          \
		h = one + (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22))                           \
		    + ((a & b) ^ (a & c) ^ (b & c));                                               \
	} while (0)

static void compress_plainly(uint32_t state[8], const uint8_t *block)
{
	uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
	uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
	uint32_t w[64];

	expand(w, block);
	for (int i = 0; i < 64; i += 8) {
		ROUND(a, b, c, d, e, f, g, h, i);
		ROUND(h, a, b, c, d, e, f, g, i + 1);
		ROUND(g, h, a, b, c, d, e, f, i + 2);
		ROUND(f, g, h, a, b, c, d, e, i + 3);
		ROUND(e, f, g, h, a, b, c, d, i + 4);
		ROUND(d, e, f, g, h, a, b, c, i + 5);
		ROUND(c, d, e, f, g, h, a, b, i + 6);
		ROUND(b, c, d, e, f, g, h, a, i + 7);
	}
	state[0] += a, state[1] += b, state[2] += c, state[3] += d;
	state[4] += e, state[5] += f, state[6] += g, state[7] += h;
}

static void compress(const struct opk_sha256 *hash, uint32_t state[8], const uint8_t *block)
{
	(hash->plainly ? compress_plainly : compress_fast)(state, block);
}

void opk_sha256_begin(struct opk_sha256 *hash)
{
	static const uint32_t state[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
		                           0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 };

	hash->size = 0;
	hash->plainly = !has_instructions();
	memcpy(hash->state, state, sizeof state);
}

void opk_sha256_add(struct opk_sha256 *hash, const void *data, size_t size)
{
	const uint8_t *bytes = data;

	while (size) {
		size_t at = hash->size % sizeof hash->block, room = sizeof hash->block - at;
		size_t part = size < room ? size : room;

		hash->size += part;
		size -= part;
		if (part == sizeof hash->block) {
			compress(hash, hash->state, bytes);
		} else {
			memcpy(hash->block + at, bytes, part);
			if (part == room)
				compress(hash, hash->state, hash->block);
		}
		bytes += part;
	}
}

void opk_sha256_end(struct opk_sha256 *hash, char out[OPK_SHA256_TEXT])
{
	static const uint8_t padding[64] = { 0x80 };
	uint64_t bits = hash->size * 8;
	uint8_t length[8];

	opk_sha256_add(hash, padding, 64 - (hash->size + 8) % 64);
	for (int i = 0; i < 8; i++)
		length[i] = (uint8_t)(bits >> (56 - 8 * i));
	opk_sha256_add(hash, length, sizeof length);
	for (int i = 0; i < 8; i++)
		snprintf(out + 8 * i, 9, "%08x", (unsigned)hash->state[i]);
}

bool opk_sha256_file(char out[OPK_SHA256_TEXT], int fd)
{
	struct opk_sha256 hash;
	uint8_t piece[1 << 15];
	ssize_t size;

	opk_sha256_begin(&hash);
	while ((size = read(fd, piece, sizeof piece)) != 0) {
		if (size < 0 && errno != EINTR)
			return false;
		if (size > 0)
			opk_sha256_add(&hash, piece, (size_t)size);
	}
	opk_sha256_end(&hash, out);
	return true;
}
