/* SPDX-License-Identifier: BSD-2-Clause */
/* How many blocks of a kernel an SM can hold, from facts about the launch, without a GPU. */
#ifndef OPK_OCCUPANCY_H
#define OPK_OCCUPANCY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { OPK_SM_CARVEOUTS = 10, OPK_WARP_THREADS = 32 };

/* An SM of a compute capability. All of them have 65,536 registers in four partitions. */
struct opk_sm {
	uint32_t major, minor;
	uint32_t warps, blocks; /* the most that are resident */
	uint32_t block_bytes;   /* the most shared memory of a block, without the driver's */
	uint32_t driver_bytes;  /* what the driver takes of each block's shared memory */
	uint32_t unit_bytes;    /* shared memory is given to blocks in units of this size */
	uint32_t barriers;      /* of all resident blocks; 0: they do not limit blocks */
	uint32_t cluster;       /* the most blocks of a cluster; 1: there are no clusters */
	uint32_t carveout_count;
	uint32_t carveouts[OPK_SM_CARVEOUTS]; /* sizes of shared memory in KiB, ascending */
};

/* NULL: the capability is not known. */
const struct opk_sm *opk_sm_find(uint32_t major, uint32_t minor);
/* All that are known, ascending; NULL past the end. */
const struct opk_sm *opk_sm_known(size_t i);

/* What a launch needs. */
struct opk_launch_needs {
	uint32_t threads;      /* of a block */
	uint32_t registers;    /* of a thread */
	uint64_t shared_bytes; /* of a block, static and dynamic */
	uint32_t cluster;      /* blocks; 0 and 1: none */
	uint32_t barriers;     /* of a block; 0: unknown, they are taken not to limit */
	int32_t carveout;      /* wanted percentage of the largest shared memory; -1: any */
};

/* What limits resident blocks. */
enum opk_limit {
	OPK_LIMIT_BLOCKS,
	OPK_LIMIT_WARPS,
	OPK_LIMIT_REGISTERS,
	OPK_LIMIT_SHARED,
	OPK_LIMIT_BARRIERS,
	OPK_LIMIT_CLUSTER,
	OPK_LIMITS,
};

struct opk_occupancy {
	uint32_t blocks, warps;      /* resident on an SM; 0: the kernel cannot be launched */
	double percent;              /* resident warps of the most that are possible */
	uint32_t limits[OPK_LIMITS]; /* blocks that each of them allows */
	unsigned limiters;           /* bit 1 << i: limits[i] is the lowest */
	uint32_t thread_registers;   /* allocated for a thread */
	uint32_t driver_bytes;       /* what the driver takes of a block's shared memory */
	uint64_t block_bytes; /* shared memory allocated for a block, the driver's included */
	uint64_t sm_bytes;    /* shared memory that the SM is set to */
};

struct opk_occupancy opk_occupancy_of(const struct opk_sm *sm,
                                      const struct opk_launch_needs *needs);
/*
 * No GPU with so many SMs runs more clusters at a time. It may be fewer: the blocks of a cluster
 * share a GPC, and GPCs may have different numbers of SMs.
 */
uint64_t opk_occupancy_most_clusters(const struct opk_occupancy *occupancy,
                                     const struct opk_launch_needs *needs, uint32_t sms);

#endif
