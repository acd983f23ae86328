/* SPDX-License-Identifier: BSD-2-Clause */
/* A report's values in the form of recordings. */
#ifndef OPK_NCU_VALUES_H
#define OPK_NCU_VALUES_H

#include "ncu/report.h"

/* Names and units are borrowed from the report. */
struct opk_ncu_values {
	const char **names, **units;
	size_t metric_count;
	double *values; /* launch by launch, one for each metric; NaN: there is none */
	OPK_LIST(struct opk_property) facts; /* "device.0.name", owned */
	struct opk_index fact_names;
	struct opk_strlist texts; /* metrics that have texts as values, which are left out */
	struct opk_strlist odd;   /* "3 of METRIC": texts among its numbers, which became NaN */
};

struct opk_ncu_imported;
/*
 * Finds the report's chip where `*chip` is NULL; otherwise takes the launches on GPUs of other
 * chips out of the report. OPK_EUSAGE: the report does not say the chip, or has several, or has no
 * GPU with the chip that is named.
 */
int opk_ncu_choose_chip(const char **chip, struct opk_ncu_imported *out, struct opk_ctx *ctx,
                        struct opk_ncu_report *report);

/* Facts about launches go into the report's ranges. */
int opk_ncu_values_init(struct opk_ncu_values *out, struct opk_ctx *ctx,
                        struct opk_ncu_report *report);
void opk_ncu_values_clear(struct opk_ncu_values *values);
#define opk_autoncuvalues __attribute__((cleanup(opk_ncu_values_clear)))

#endif
