/* SPDX-License-Identifier: BSD-2-Clause */
/* Values of the ranges of many images, by the faster of two evaluators, in a child. */
#ifndef OPK_EVAL_VALUES_H
#define OPK_EVAL_VALUES_H

#include "adapters/nv/nv.h"

struct opk_values {
	const char *chip;
	enum opk_profiler profiler;
	const char *const *metrics;
	size_t metric_count;
	struct opk_nv_evaluator *evaluator; /* PerfWorks', borrowed; NULL: CUPTI alone */
	struct opk_nv_host *host;           /* CUPTI's, where it has to be */
	/* The image at hand. */
	const void *image;
	size_t image_size;
	void *head; /* of the device that the evaluators are set to; NULL: not known */
	size_t head_size;
	/* The metrics that its ranges have: which, their names, as PerfWorks takes them. */
	bool *wanted;
	const char **names;
	size_t name_count;
	double *values;
	struct opk_nv_requests *requests; /* NULL: by CUPTI */
};

/* Strings, names and the evaluator are borrowed. */
int opk_values_init(struct opk_values *values, struct opk_ctx *ctx, const char *chip,
                    enum opk_profiler profiler, const char *const *metrics, size_t count,
                    struct opk_nv_evaluator *evaluator);
void opk_values_clear(struct opk_values *values);
/* The image whose ranges are next, borrowed, and whether its ranges have each of the metrics. */
int opk_values_of_image(struct opk_values *values, struct opk_ctx *ctx, const void *image,
                        size_t size, const bool *wanted);
/* One a metric; NaN where it is not wanted. OPK_EUSAGE: a metric is unknown. */
int opk_values_of_range(double *out, struct opk_values *values, struct opk_ctx *ctx, size_t index);

#endif
