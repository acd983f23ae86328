/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of PC sampling share. */
#ifndef OPK_COLLECT_PC_INSIDE_H
#define OPK_COLLECT_PC_INSIDE_H

#include "collect/profilers/profilers.h"
#include "collect/ranges/launch.h"
#include "collect/ranges/ranges.h"

/* ---- pc_functions.c */

/* Begins zeroed. */
struct pc_functions {
	/* The thread that fetches samples uses these. */
	struct launched sampled;
	/* Threads that launch use these, with the lock. */
	pthread_mutex_t lock;
	struct launched launched;
	bool used;
	bool incomplete; /* graphs were launched, whose kernels are not known, or memory was out */
};
/* False: out of memory. Clear it in any case. */
bool pc_functions_init(struct pc_functions *functions);
void pc_functions_clear(struct pc_functions *functions);

/* The fewest samples of a function that was launched, at most `enough`; none is a half. */
double pc_functions_fewest(struct pc_functions *functions, double enough);

/* Something is about to be launched. */
void pc_functions_begin(struct pc_functions *functions);
void pc_functions_launched(struct pc_functions *functions, const struct launch *launch);
bool pc_functions_are_idle(struct pc_functions *functions);

/* Some launches on the device are not known. */
void pc_launches_unknown(int device);
/* Keeps launches until pc_launches_write(). `place` has what all rows have, `like` the metrics. */
void pc_launches_keep(struct pc_functions *functions, const struct code_rows *like,
                      const struct opk_instruction *place);

/* ---- pc_reasons.c */

/* CUPTI's reasons of stalls, and two more numbers of samples, which are our metrics. */
struct pc_reasons {
	size_t count;
	uint32_t *numbers;
	char **names;  /* of CUPTI_STALL_REASON_STRING_SIZE bytes; outlive the recording */
	bool *counted; /* those of which each sample has one */
	size_t all;    /* the one that CUPTI leaves empty, for the number of all samples */
};
/* False, with a message on stderr unless memory is out. */
bool pc_reasons_ask(struct pc_reasons *reasons, CUcontext context);
/* Adds the samples of one record to the values of its place; returns how many there are. */
uint64_t pc_reasons_add(uint64_t *values, const struct pc_reasons *reasons,
                        const CUpti_PCSamplingPCData *record);
void pc_reasons_clear(struct pc_reasons *reasons);

#endif
