/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What an evaluation shows, and which metrics it takes: columns are metrics, under their names or
 * labels, and what is derived from metrics.
 */
#ifndef OPK_COLUMNS_H
#define OPK_COLUMNS_H

#include "base/strlist.h"
#include "formula/formula.h"

/* The names in the formula are numbered as the values are: derived ones, then metrics. */
struct opk_derivation {
	struct opk_formula *formula; /* NULL: no column needs it */
	size_t *operands;
	char *unit; /* declared or computed; NULL: not known */
};

struct opk_columns {
	const struct opk_meta *meta; /* NULL: a bare image's */
	const char *const
		*metrics; /* to evaluate: `owned`, or those of the caller or the recording */
	const char **owned;
	size_t metric_count;
	struct opk_strlist names; /* of the columns */
	size_t *sources;          /* of each column: which value it shows */
	const struct opk_meta_heading *
		*headings; /* over each column, or NULL; borrowed from the metadata */
	struct opk_derivation *derived;
	size_t derived_count;
	double *values;
	uint64_t *numbers;
};

/*
 * `meta` is NULL for a bare image. Without `wanted` all is shown that a recording shows by itself.
 * Wanted are metrics, labels and derived ones. OPK_EINPUT where a formula that is needed can't be
 * computed, OPK_EUSAGE where a wanted name is nothing's. Borrows from both.
 */
int opk_columns_init(struct opk_columns *columns, struct opk_ctx *ctx, const struct opk_meta *meta,
                     const char *const *wanted, size_t wanted_count);
void opk_columns_clear(struct opk_columns *columns);
/* Computes undeclared units from those of the metrics, where "" is an unknown unit. */
int opk_columns_find_units(struct opk_columns *columns, struct opk_ctx *ctx,
                           const struct opk_strlist *units);
/* The values of all columns for those of all metrics. */
void opk_columns_compute(double *out, const struct opk_columns *columns, const double *metrics);
/* The least of the metrics that each column is made from; UINT64_MAX where there is no metric. */
void opk_columns_least(uint64_t *out, const struct opk_columns *columns, const uint64_t *metrics);
/*
 * Finds whether the values of each column can be added up over ranges: 1; or whether that of
 * several ranges is a ratio of their sums, or whatever does not grow with their number: 0; or
 * OPK_NO_DEGREE. A metric's name says it.
 */
int opk_columns_degrees(int *out, struct opk_ctx *ctx, const struct opk_columns *columns);
/* The degree of one metric, by its full name. */
int opk_metric_degree(const char *metric);

#endif
