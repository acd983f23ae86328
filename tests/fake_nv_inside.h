/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of fake_nv.h share: its metrics, its images, and its functions. */
#ifndef OPK_FAKE_NV_INSIDE_H
#define OPK_FAKE_NV_INSIDE_H

#include "fake_nv.h"
#include "testing.h"

enum { FULL_COUNT = 13, NVPA_INVALID_ARGUMENT = 8 };

/* A pass holds a cost of 4. */
struct full_metric {
	const char *name;
	int status; /* returned when it is added */
	unsigned cost;
	const char *raw;
};
extern const struct full_metric full_metrics[FULL_COUNT];

/* NULL if there is none. */
const struct full_metric *find_full(const char *name);
/* The metric's index among all names that are evaluated; SIZE_MAX if it is unknown. */
size_t find_evaluated(const char *name);
const char *name_of(size_t evaluated);
/* Whether its raw counter is the link's. */
bool is_link(const char *raw);

void do_deed(enum fake_deed deed);
int chip_status(const char *chip, int profiler);
void write_config(uint8_t *image, uint32_t passes);

enum { FAKE_PASSES = 4 };

/* An image that the combiner makes: each metric is a sum or mean over the ranges in a slot. */
struct fake_copy {
	char magic[8];
	uint64_t is_copy;
	uint64_t gpu; /* of its source; at the same offset */
	uint64_t slots, used;
	struct fake_slot {
		struct fake_part {
			uint64_t ranges, indices, times; /* times: the divisor of sums */
		} passes[FAKE_PASSES];
		char name[64];
	} sums[];
};

/* 0: of all passes. */
unsigned pass_of(const void *image);
/* NULL if it is not a copy. */
const struct fake_copy *as_copy(const void *image);
void add_part(struct fake_part *to, const struct fake_part *from);

void make_values(double *values, size_t count, const void *image, size_t range);
/* Values that depend on the name: those of parts of throughputs. 1: the value is not available. */
int change_value(double *value, const char *name);

#define X(symbol, params, last, feature) int do_##symbol(struct nv_##params *params);
NV_CUPTI_SYMBOLS(X)
NV_NVPERF_SYMBOLS(X)
#undef X

#endif
