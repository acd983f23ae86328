/* SPDX-License-Identifier: BSD-2-Clause */
/* What the command uses of this folder. */
#ifndef OPK_NCU_DOOR_H
#define OPK_NCU_DOOR_H

#include "base/strlist.h"
#include "offpeak.h"

/* What was made of a report. */
struct opk_ncu_imported {
	size_t launches, metrics;
	bool decimal_comma; /* the report has decimal commas */
	size_t open_line; /* the first with a point that begins decimals, or else thousands; or 0 */
	char *error;      /* the first line in which ncu itself reports one; or NULL */
	size_t error_line;
	bool needs_chip; /* it failed, since the report does not say which chip to take */
	/* GPUs of other chips with the number of their launches, which were left out. */
	struct opk_strlist other_gpus;
	struct opk_strlist unknown_gpus; /* no known chip has their compute capability */
	/* Names that were left out. */
	struct opk_strlist labels;  /* are for people: no name of a metric looks so */
	struct opk_strlist texts;   /* have texts as values */
	struct opk_strlist sampled; /* were sampled while kernels ran */
	struct opk_strlist odd;     /* "3 of METRIC": texts among its numbers, which became NaN */
};
void opk_ncu_imported_clear(struct opk_ncu_imported *imported);
#define opk_autoimported __attribute__((cleanup(opk_ncu_imported_clear)))
/*
 * Makes a recording with the values of a report that Nsight Compute has printed in CSV: its raw
 * page, or a row for each metric. `chip` NULL: by the compute capability and the device's name;
 * OPK_EUSAGE: these are not enough. OPK_EINPUT: errors carry file:line. Opens no NVIDIA library.
 */
int opk_ncu_import(struct opk_ncu_imported *out, struct opk_ctx *ctx, const char *report,
                   const char *chip, const char *path);

#endif
