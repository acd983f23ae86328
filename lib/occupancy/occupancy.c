/* SPDX-License-Identifier: BSD-2-Clause */
/* Computes occupancy: the lowest limit of warps, registers, shared memory and so on. */
#include "occupancy/occupancy.h"

/*
 * Registers are allocated for a whole warp, from its partition of the SM. A block is checked as if
 * each partition had equally many of its warps.
 */
enum {
	REGISTERS = 65536,
	PARTITIONS = 4,
	WARP_REGISTER_UNIT = 256,
	MOST_REGISTERS = 256, /* of a thread */
	MOST_THREADS = 1024,  /* of a block */
};

static uint64_t round_up(uint64_t number, uint64_t unit)
{
	return (number + unit - 1) / unit * unit;
}

static uint64_t at_most(uint64_t number, uint64_t limit)
{
	return number < limit ? number : limit;
}

static uint64_t warps_of(const struct opk_launch_needs *needs)
{
	return round_up(needs->threads, OPK_WARP_THREADS) / OPK_WARP_THREADS;
}

static bool fits_block(const struct opk_launch_needs *needs)
{
	return needs->threads && needs->threads <= MOST_THREADS;
}

static uint64_t warp_limit(const struct opk_sm *sm, const struct opk_launch_needs *needs)
{
	return fits_block(needs) ? sm->warps / warps_of(needs) : 0;
}

static uint64_t warp_registers(const struct opk_launch_needs *needs)
{
	return round_up((uint64_t)needs->registers * OPK_WARP_THREADS, WARP_REGISTER_UNIT);
}

static uint64_t register_limit(const struct opk_sm *sm, const struct opk_launch_needs *needs)
{
	uint64_t of_warp = warp_registers(needs), warps = warps_of(needs);

	if (!fits_block(needs) || needs->registers > MOST_REGISTERS
	    || of_warp * round_up(warps, PARTITIONS) > REGISTERS)
		return 0;
	return of_warp ? REGISTERS / PARTITIONS / of_warp * PARTITIONS / warps : sm->blocks;
}

/* ---- shared memory */

/* The smallest size of shared memory that has so many bytes, or else the largest. */
static uint64_t fitting_size(const struct opk_sm *sm, uint64_t bytes)
{
	uint32_t i = 0;

	while (i + 1 < sm->carveout_count && sm->carveouts[i] * (uint64_t)1024 < bytes)
		i++;
	return sm->carveouts[i] * (uint64_t)1024;
}

/* The driver may choose among the sizes without a preference, so the largest one counts. */
static uint64_t preferred_size(const struct opk_sm *sm, int32_t carveout)
{
	uint64_t largest = fitting_size(sm, UINT64_MAX);

	return carveout < 0 ? largest : fitting_size(sm, largest * (uint32_t)carveout / 100);
}

/* A preference that leaves no room for one block does not count. */
static uint64_t set_size(const struct opk_sm *sm, const struct opk_launch_needs *needs,
                         uint64_t block)
{
	uint64_t preferred = preferred_size(sm, needs->carveout);

	return preferred < block ? fitting_size(sm, block) : preferred;
}

static uint64_t shared_limit(const struct opk_sm *sm, const struct opk_launch_needs *needs,
                             const struct opk_occupancy *occupancy)
{
	if (needs->shared_bytes > sm->block_bytes)
		return 0;
	return occupancy->block_bytes ? occupancy->sm_bytes / occupancy->block_bytes : sm->blocks;
}

/* ---- all limits */

static uint64_t barrier_limit(const struct opk_sm *sm, const struct opk_launch_needs *needs)
{
	return sm->barriers && needs->barriers ? sm->barriers / needs->barriers : sm->blocks;
}

static uint64_t limit_of(enum opk_limit limit, const struct opk_sm *sm,
                         const struct opk_launch_needs *needs,
                         const struct opk_occupancy *occupancy)
{
	switch (limit) {
	case OPK_LIMIT_WARPS:
		return warp_limit(sm, needs);
	case OPK_LIMIT_REGISTERS:
		return register_limit(sm, needs);
	case OPK_LIMIT_SHARED:
		return shared_limit(sm, needs, occupancy);
	case OPK_LIMIT_BARRIERS:
		return barrier_limit(sm, needs);
	case OPK_LIMIT_CLUSTER:
		return needs->cluster <= sm->cluster ? sm->blocks : 0;
	default:
		return sm->blocks;
	}
}

struct opk_occupancy opk_occupancy_of(const struct opk_sm *sm, const struct opk_launch_needs *needs)
{
	struct opk_occupancy out = {
		.blocks = sm->blocks,
		.thread_registers = (uint32_t)(warp_registers(needs) / OPK_WARP_THREADS),
		.driver_bytes = sm->driver_bytes,
		.block_bytes = round_up(needs->shared_bytes + sm->driver_bytes, sm->unit_bytes),
	};

	out.sm_bytes = set_size(sm, needs, out.block_bytes);
	for (enum opk_limit i = 0; i < OPK_LIMITS; i++) {
		out.limits[i] = (uint32_t)at_most(limit_of(i, sm, needs, &out), UINT32_MAX);
		out.blocks = (uint32_t)at_most(out.blocks, out.limits[i]);
	}
	for (enum opk_limit i = 0; i < OPK_LIMITS; i++)
		out.limiters |= (out.limits[i] == out.blocks ? 1u : 0u) << i;
	out.warps = out.blocks * (uint32_t)warps_of(needs);
	out.percent = 100.0 * out.warps / sm->warps;
	return out;
}

uint64_t opk_occupancy_most_clusters(const struct opk_occupancy *occupancy,
                                     const struct opk_launch_needs *needs, uint32_t sms)
{
	return (uint64_t)occupancy->blocks * sms / (needs->cluster ? needs->cluster : 1);
}
