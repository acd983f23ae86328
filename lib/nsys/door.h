/* SPDX-License-Identifier: BSD-2-Clause */
/* What the command uses of this folder. */
#ifndef OPK_NSYS_DOOR_H
#define OPK_NSYS_DOOR_H

#include "base/strlist.h"
#include "offpeak.h"

/* How much of each kind was taken from a database. */
struct opk_nsys_imported {
	uint64_t kernels, copies, sets, ranges, calls;
	uint64_t open_ranges; /* left out, since they did not end */
	uint64_t odd_ranges;  /* left out: they end before they begin, or their type is unknown */
	uint64_t odd_records; /* of what ran, and values of samples, left out: impossible times */
	uint64_t graphs;      /* CUDA graphs that are recorded as a whole */
	bool no_clock;     /* the database does not say when its times begin: they count from 0 */
	bool needs_chip;   /* it failed, since the database does not say which chip to take */
	uint64_t negative; /* values of samples that are nan, as they can't be negative */
	uint64_t texts;    /* likewise, since they are texts */
	bool no_names;     /* it has samples of GPU metrics, but not the metrics' names */
	struct opk_strlist
		labels; /* of GPU metrics that are left out: which these are is not known */
	struct opk_strlist second; /* likewise: another label means the same metric */
};
void opk_nsys_imported_clear(struct opk_nsys_imported *imported);
#define opk_autonsysimported __attribute__((cleanup(opk_nsys_imported_clear)))
/*
 * Makes a trace of the database that Nsight Systems exports: kernels, graphs, copies, sets, NVTX
 * ranges and calls of CUDA's runtime; with values of the GPU metrics that were sampled. `chip`
 * NULL: as the database says. OPK_EUSAGE: it does not say it. OPK_EINPUT: it is not such a
 * database. OPK_EFAILED: built without SQLite, or nothing ran on a GPU.
 */
int opk_nsys_import(struct opk_nsys_imported *out, struct opk_ctx *ctx, const char *database,
                    const char *chip, const char *path);

#endif
