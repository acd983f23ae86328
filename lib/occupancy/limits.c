/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Limits of an SM: warps, blocks and sizes of shared memory from the tables "Device and Streaming
 * Multiprocessor (SM) Information", "Memory Information" and "Shared Memory Capacity per Compute
 * Capability" of NVIDIA's CUDA Programming Guide 13, those of 7.0 and 7.2 from earlier editions;
 * units of allocation and barriers from the occupancy calculator in the CUDA toolkit.
 */
#include "occupancy/occupancy.h"

#define KIB 1024
#define CARVEOUTS(...)                                                                             \
	.carveout_count = sizeof((uint32_t[]){ __VA_ARGS__ }) / sizeof(uint32_t),                  \
	.carveouts = { __VA_ARGS__ }
#define VOLTA CARVEOUTS(0, 8, 16, 32, 64, 96)
#define UP_TO_100 CARVEOUTS(0, 8, 16, 32, 64, 100)
#define UP_TO_164 CARVEOUTS(0, 8, 16, 32, 64, 100, 132, 164)
#define UP_TO_228 CARVEOUTS(0, 8, 16, 32, 64, 100, 132, 164, 196, 228)

/* capability, warps, blocks, KiB of a block, bytes of the driver, unit, barriers, cluster */
static const struct opk_sm known[] = {
	{ 7, 0, 64, 32, 96 * KIB, 0, 256, 0, 1, VOLTA },
	{ 7, 2, 64, 32, 96 * KIB, 0, 256, 0, 1, VOLTA },
	{ 7, 5, 32, 16, 64 * KIB, 0, 256, 0, 1, CARVEOUTS(32, 64) },
	{ 8, 0, 64, 32, 163 * KIB, KIB, 128, 0, 1, UP_TO_164 },
	{ 8, 6, 48, 16, 99 * KIB, KIB, 128, 0, 1, UP_TO_100 },
	{ 8, 7, 48, 16, 163 * KIB, KIB, 128, 0, 1, UP_TO_164 },
	{ 8, 9, 48, 24, 99 * KIB, KIB, 128, 0, 1, UP_TO_100 },
	{ 9, 0, 64, 32, 227 * KIB, KIB, 128, 64, 16, UP_TO_228 },
	{ 10, 0, 64, 32, 227 * KIB, KIB, 128, 64, 16, UP_TO_228 },
	/* CUDA 12.8 and 12.9 call 11.0 so. */
	{ 10, 1, 48, 24, 227 * KIB, KIB, 128, 24, 16, UP_TO_228 },
	{ 10, 3, 64, 32, 227 * KIB, KIB, 128, 64, 16, UP_TO_228 },
	{ 11, 0, 48, 24, 227 * KIB, KIB, 128, 24, 16, UP_TO_228 },
	{ 12, 0, 48, 24, 99 * KIB, KIB, 128, 24, 16, UP_TO_100 },
	{ 12, 1, 48, 24, 99 * KIB, KIB, 128, 24, 16, UP_TO_100 },
};
enum { KNOWN = sizeof known / sizeof *known };

const struct opk_sm *opk_sm_known(size_t i)
{
	return i < KNOWN ? &known[i] : NULL;
}

const struct opk_sm *opk_sm_find(uint32_t major, uint32_t minor)
{
	for (size_t i = 0; i < KNOWN; i++)
		if (known[i].major == major && known[i].minor == minor)
			return &known[i];
	return NULL;
}
