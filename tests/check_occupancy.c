/* SPDX-License-Identifier: BSD-2-Clause */
/* Occupancy: limits of SMs, known launches, and NVIDIA's calculator as a witness. */
#include <math.h>

#include "chip/chip.h"
#include "container/container.h"
#include "occupancy/occupancy.h"
#include "random.h"
#include "testing.h"

/* ---- limits of SMs ---------------------------------------------------------------------- */

static void check_carveouts(const struct opk_sm *sm)
{
	for (uint32_t i = 1; i < sm->carveout_count; i++)
		ck_assert_uint_lt(sm->carveouts[i - 1], sm->carveouts[i]);
	ck_assert_uint_eq(sm->carveouts[sm->carveout_count - 1] * 1024,
	                  sm->block_bytes + sm->driver_bytes);
}

TEST(limits_are_in_order)
{
	const struct opk_sm *sm, *before = NULL;

	for (size_t i = 0; (sm = opk_sm_known(i)) != NULL; i++, before = sm) {
		ck_assert(!before
		          || before->major * 100 + before->minor < sm->major * 100 + sm->minor);
		ck_assert_ptr_eq(opk_sm_find(sm->major, sm->minor), sm);
		check_carveouts(sm);
	}
	ck_assert_ptr_null(opk_sm_find(6, 0));
}

TEST(all_chips_are_known)
{
	const char *chip;

	for (size_t i = 0; (chip = opk_chip_known(i)) != NULL; i++) {
		const char *capability = opk_chip_known_facts(i).compute_capability;
		unsigned major, minor;

		if (sscanf(capability, "%u.%u", &major, &minor) == 2)
			ck_assert_msg(opk_sm_find(major, minor), "%s: %s", chip, capability);
	}
}

/* What the driver of an H100 says about its device. */
CTX_TEST(driver_agrees)
{
	freed(opk_file) *file = NULL;
	const struct opk_sm *sm = opk_sm_find(9, 0);
	const struct opk_meta *meta;
#define FACT(name) opk_attribute_value("device__attribute_" name, meta, NULL)

	ck_ok(ctx, opk_file_open(&file, ctx, TEST_DATA_DIR "/recordings/gh100-witness.opk"));
	ck_ok(ctx, opk_file_meta(&meta, ctx, file));
	ck_assert(FACT("compute_capability_major") == 9);
	ck_assert(FACT("max_threads_per_multiprocessor") == sm->warps * OPK_WARP_THREADS);
	ck_assert(FACT("max_blocks_per_multiprocessor") == sm->blocks);
	ck_assert(FACT("max_registers_per_multiprocessor") == 65536);
	ck_assert(FACT("max_shared_memory_per_block_optin") == sm->block_bytes);
	ck_assert(FACT("reserved_shared_memory_per_block") == sm->driver_bytes);
	ck_assert(FACT("max_shared_memory_per_multiprocessor")
	          == sm->block_bytes + sm->driver_bytes);
#undef FACT
}

/* ---- launches --------------------------------------------------------------------------- */

enum {
	BLOCKS = 1 << OPK_LIMIT_BLOCKS,
	WARPS = 1 << OPK_LIMIT_WARPS,
	REGISTERS = 1 << OPK_LIMIT_REGISTERS,
	SHARED = 1 << OPK_LIMIT_SHARED,
	BARRIERS = 1 << OPK_LIMIT_BARRIERS,
	CLUSTER = 1 << OPK_LIMIT_CLUSTER,
};

#define NEEDS(threads_, registers_, shared_, ...)                                                  \
	PREFERS(threads_, registers_, shared_, -1, ##__VA_ARGS__)
#define PREFERS(threads_, registers_, shared_, carveout_, ...)                                     \
	{                                                                                          \
		.threads = (threads_), .registers = (registers_), .shared_bytes = (shared_),       \
		.carveout = (carveout_), ##__VA_ARGS__                                             \
	}

static const struct {
	struct here here;
	uint32_t major, minor;
	struct opk_launch_needs needs;
	uint32_t blocks, warps;
	unsigned limiters;
} launch_rows[] = {
	{ HERE, 9, 0, NEEDS(256, 32, 0), 8, 64, WARPS | REGISTERS },
	{ HERE, 9, 0, NEEDS(256, 33, 0), 6, 48, REGISTERS },
	{ HERE, 9, 0, NEEDS(32, 16, 0), 32, 32, BLOCKS | BARRIERS | CLUSTER },
	{ HERE, 9, 0, NEEDS(33, 16, 0), 32, 64, BLOCKS | WARPS | BARRIERS | CLUSTER },
	{ HERE, 8, 6, NEEDS(64, 16, 0), 16, 32, BLOCKS | BARRIERS | CLUSTER },
	{ HERE, 8, 9, NEEDS(64, 16, 0), 24, 48, BLOCKS | WARPS | BARRIERS | CLUSTER },
	{ HERE, 7, 5, NEEDS(1024, 64, 0), 1, 32, WARPS | REGISTERS },
	/* The driver takes a KiB of each block. */
	{ HERE, 9, 0, NEEDS(128, 32, 227 * 1024), 1, 4, SHARED },
	{ HERE, 9, 0, NEEDS(128, 32, 113 * 1024), 2, 8, SHARED },
	{ HERE, 9, 0, NEEDS(128, 32, 113 * 1024 + 1), 1, 4, SHARED },
	{ HERE, 7, 0, NEEDS(128, 32, 48 * 1024), 2, 8, SHARED },
	/* A preference is a size that the SM has, and one block always has room. */
	{ HERE, 9, 0, PREFERS(128, 32, 7 * 1024, 0), 1, 4, SHARED },
	{ HERE, 9, 0, PREFERS(128, 32, 7 * 1024, 1), 1, 4, SHARED },
	{ HERE, 9, 0, PREFERS(128, 32, 7 * 1024, 4), 2, 8, SHARED },
	{ HERE, 9, 0, PREFERS(128, 32, 7 * 1024, 50), 16, 64, WARPS | REGISTERS | SHARED },
	{ HERE, 7, 5, PREFERS(32, 32, 8 * 1024, 0), 4, 4, SHARED },
	{ HERE, 9, 0, NEEDS(64, 32, 0, .barriers = 16), 4, 8, BARRIERS },
	/* These cannot be launched. */
	{ HERE, 9, 0, NEEDS(1025, 32, 0), 0, 0, WARPS | REGISTERS },
	{ HERE, 9, 0, NEEDS(0, 32, 0), 0, 0, WARPS | REGISTERS },
	{ HERE, 9, 0, NEEDS(512, 255, 0), 0, 0, REGISTERS },
	{ HERE, 9, 0, NEEDS(32, 257, 0), 0, 0, REGISTERS },
	{ HERE, 9, 0, NEEDS(32, 32, 227 * 1024 + 1), 0, 0, SHARED },
	{ HERE, 9, 0, NEEDS(32, 32, UINT64_MAX / 2), 0, 0, SHARED },
	{ HERE, 8, 0, NEEDS(32, 32, 0, .cluster = 2), 0, 0, CLUSTER },
	{ HERE, 9, 0, NEEDS(32, 32, 0, .cluster = 17), 0, 0, CLUSTER },
	{ HERE, 9, 0, NEEDS(1024, 32, 0, .cluster = 16), 2, 64, WARPS | REGISTERS },
};

TEST_EACH(launches, launch_rows)
{
	const struct opk_sm *sm = opk_sm_find(row->major, row->minor);
	struct opk_occupancy got = opk_occupancy_of(sm, &row->needs);

	ck_row(row, got.blocks == row->blocks, "%u blocks", got.blocks);
	ck_row(row, got.warps == row->warps, "%u warps", got.warps);
	ck_row(row, got.limiters == row->limiters, "limiters %x", got.limiters);
	ck_row(row, got.percent == 100.0 * row->warps / sm->warps, "%g%%", got.percent);
}

TEST(allocations)
{
	const struct opk_launch_needs needs = NEEDS(96, 33, 1025, .cluster = 4);
	struct opk_occupancy got = opk_occupancy_of(opk_sm_find(9, 0), &needs);

	ck_assert_uint_eq(got.thread_registers, 40);
	ck_assert_uint_eq(got.block_bytes, 2176);
	ck_assert_uint_eq(got.sm_bytes, 228 * 1024);
	ck_assert_uint_eq(got.blocks, 16);
	ck_assert_uint_eq(opk_occupancy_most_clusters(&got, &needs, 132), 528);
}

/* ---- numbers of recordings -------------------------------------------------------------- */

#define H100                                                                                       \
	{ "device.0.compute_capability_major", "9" },                                              \
		{ "device.0.compute_capability_minor", "0" },                                      \
	{                                                                                          \
		"device.0.multiprocessors", "132"                                                  \
	}

static const struct opk_property facts[] = { H100 };
static const struct opk_property odd_facts[] = { { "device.0.compute_capability_major", "-1e300" },
	                                         { "device.0.compute_capability_minor", "1e300" } };

static const struct opk_range known_launch = {
	.kernel = "k",
	.grid = { 264, 2, 1 },
	.block = { 16, 16, 1 },
	.registers = 33,
	.shared_bytes = 1000,
	.static_shared_plus_1 = 25,
	.cluster = { 2, 1, 1 },
};

static double value_of(const char *name, const struct opk_range *range)
{
	const struct opk_meta meta = { .run = facts, .run_count = COUNT(facts) };

	return opk_attribute_value(name, &meta, range);
}

static const struct {
	struct here here;
	const char *name;
	double value;
} value_rows[] = {
	{ HERE, "launch__occupancy_limit_blocks", 32 },
	{ HERE, "launch__occupancy_limit_registers", 6 },
	{ HERE, "launch__occupancy_limit_shared_mem", 114 },
	{ HERE, "launch__occupancy_limit_warps", 8 },
	{ HERE, "launch__registers_per_thread_allocated", 40 },
	{ HERE, "launch__shared_mem_per_block_allocated", 2048 },
	{ HERE, "launch__shared_mem_per_block_driver", 1024 },
	{ HERE, "launch__shared_mem_per_block_static", 24 },
	{ HERE, "launch__cluster_size", 2 },
	{ HERE, "launch__waves_per_multiprocessor", 528.0 / (6 * 132) },
	{ HERE, "sm__maximum_warps_avg_per_active_cycle", 48 },
	{ HERE, "sm__maximum_warps_per_active_cycle_pct", 75 },
};

TEST_EACH(values, value_rows)
{
	double got = value_of(row->name, &known_launch);

	ck_row(row, got == row->value, "%.17g", got);
	ck_row(row, opk_attribute_is_name(row->name), "it is a metric");
	ck_row(row, *opk_attribute_text(row->name), "text");
}

static const char pct[] = "sm__maximum_warps_per_active_cycle_pct";

/* A preference in the recording counts. */
TEST(preferred_carveout)
{
	struct opk_range range = known_launch;

	range.carveout_plus_1 = 1 + 4;
	ck_assert(value_of("launch__occupancy_limit_shared_mem", &range) == 8);
}

/* Launches that were added up have what they have in common. */
TEST(sum_of_launches)
{
	struct opk_range range = known_launch;

	range.count = 2;
	ck_assert(value_of(pct, &range) == 75);
	range.grid[0] = range.grid[1] = range.grid[2] = 0;
	ck_assert(isnan(value_of("launch__waves_per_multiprocessor", &range)));
	range.registers = 0;
	ck_assert(isnan(value_of(pct, &range)));
}

/* A range without a device has what all devices have in common. */
TEST(several_devices)
{
	static const struct opk_property alike[] = { H100,
		                                     { "device.1.compute_capability_major", "9" },
		                                     { "device.1.multiprocessors", "114" } };
	const struct opk_meta meta = { .run = alike, .run_count = COUNT(alike) };
	struct opk_range range = known_launch;

	range.device = -1;
	ck_assert(opk_attribute_value(pct, &meta, &range) == 75);
	ck_assert(isnan(opk_attribute_value("launch__waves_per_multiprocessor", &meta, &range)));
	range.device = 0;
	ck_assert(opk_attribute_value("launch__waves_per_multiprocessor", &meta, &range) > 0);
	range.device = 1;
	ck_assert(isnan(opk_attribute_value(pct, &meta, &range)));
}

/* What is not known makes nan, never 0. */
TEST(unknown_values)
{
	const struct opk_meta none = { 0 }, odd = { .run = odd_facts, .run_count = 2 };
	struct opk_range range = known_launch;

	ck_assert(isnan(opk_attribute_value(pct, &none, &range)));
	ck_assert(isnan(opk_attribute_value(pct, &odd, &range)));
	ck_assert(isnan(opk_attribute_value(pct, NULL, &range)));
	ck_assert(isnan(value_of(pct, NULL)));
	range.static_shared_plus_1 = 0;
	ck_assert(isnan(value_of(pct, &range)));
	ck_assert(isnan(value_of("launch__shared_mem_per_block_static", &range)));
	range = known_launch;
	range.block[2] = 0;
	ck_assert(isnan(value_of(pct, &range)));
	range.block[2] = UINT32_MAX;
	ck_assert(value_of(pct, &range) == 0);
	ck_assert(isnan(value_of("launch__waves_per_multiprocessor", &range)));
}

/* ---- NVIDIA's calculator ---------------------------------------------------------------- */

#if __has_include(<cuda_occupancy.h>)
#include <cuda_occupancy.h>

static const struct opk_launch_needs *random_needs(const struct opk_sm *sm)
{
	static struct opk_launch_needs needs;

	needs = (struct opk_launch_needs){
		.threads = 1 + (uint32_t)(random64() % 1024),
		.registers = (uint32_t)(random64() % 257),
		.shared_bytes = random64() % 3 ? random64() % (sm->block_bytes + 200) : 0,
		.carveout = (int32_t)(random64() % 102) - 1,
		.barriers = sm->barriers ? (uint32_t)(random64() % 17) : 0,
	};
	return &needs;
}

/* False: an older toolkit's calculator does not know the capability. */
static bool ask_calculator(cudaOccResult *result, const struct opk_sm *sm,
                           const struct opk_launch_needs *needs)
{
	const cudaOccDeviceProp device = {
		.computeMajor = (int)sm->major,
		.computeMinor = (int)sm->minor,
		.maxThreadsPerBlock = 1024,
		.maxThreadsPerMultiprocessor = (int)sm->warps * 32,
		.regsPerBlock = 65536,
		.regsPerMultiprocessor = 65536,
		.warpSize = 32,
		.sharedMemPerBlock = 48 * 1024,
		.sharedMemPerMultiprocessor = sm->block_bytes + sm->driver_bytes,
		.numSms = 1,
		.sharedMemPerBlockOptin = sm->block_bytes,
		.reservedSharedMemPerBlock = sm->driver_bytes,
	};
	const cudaOccFuncAttributes function = {
		.maxThreadsPerBlock = 1024,
		.numRegs = (int)needs->registers,
		.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN,
		.maxDynamicSharedSizeBytes = needs->shared_bytes,
		.numBlockBarriers = (int)needs->barriers,
	};
	const cudaOccDeviceState state = { .carveoutConfig = needs->carveout };
	cudaOccError status = cudaOccMaxActiveBlocksPerMultiprocessor(result, &device, &function,
	                                                              &state, (int)needs->threads,
	                                                              needs->shared_bytes);

	ck_assert(!status || status == CUDA_OCC_ERROR_UNKNOWN_DEVICE);
	return !status;
}

static void check_limit(const struct opk_sm *sm, const struct opk_occupancy *got,
                        enum opk_limit limit, int wanted)
{
	/* Where nothing is needed, the calculator has no limit. */
	uint32_t most = wanted == INT_MAX ? sm->blocks : (uint32_t)wanted;

	ck_assert_msg(got->limits[limit] == most, "%u.%u: limit %u is %u, not %u", sm->major,
	              sm->minor, limit, got->limits[limit], most);
}

TEST(calculator_agrees)
{
	enum { LAUNCHES = 20000 };
	const struct opk_sm *sm;

	for (size_t i = 0; (sm = opk_sm_known(i)) != NULL; i++)
		for (int j = 0; j < LAUNCHES; j++) {
			const struct opk_launch_needs *needs = random_needs(sm);
			struct opk_occupancy got = opk_occupancy_of(sm, needs);
			cudaOccResult wanted;

			if (!ask_calculator(&wanted, sm, needs))
				break;
			ck_assert_uint_eq(got.blocks, wanted.activeBlocksPerMultiprocessor);
			check_limit(sm, &got, OPK_LIMIT_BLOCKS, wanted.blockLimitBlocks);
			check_limit(sm, &got, OPK_LIMIT_WARPS, wanted.blockLimitWarps);
			check_limit(sm, &got, OPK_LIMIT_REGISTERS, wanted.blockLimitRegs);
			check_limit(sm, &got, OPK_LIMIT_SHARED, wanted.blockLimitSharedMem);
			check_limit(sm, &got, OPK_LIMIT_BARRIERS, wanted.blockLimitBarriers);
			ck_assert_uint_eq(got.block_bytes, wanted.allocatedSharedMemPerBlock);
		}
}
#endif
