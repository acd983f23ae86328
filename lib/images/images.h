/* SPDX-License-Identifier: BSD-2-Clause */
/* What is done to recordings: they are trimmed, split, summed, aggregated. */
#ifndef OPK_IMAGES_H
#define OPK_IMAGES_H

#include <string.h>

#include "base/ctx.h"
#include "base/strlist.h"
#include "child/child.h"
#include "eval/eval.h"
#include "images/door.h"

/*
 * Values that come row by row and are wanted column by column, in little memory: blocks of rows,
 * each by columns, in a temporary file where there is more than one.
 */

struct opk_column_file {
	size_t columns, row_count;
	size_t block_rows;
	uint8_t *block; /* the last one: of each column values, then whether they are there */
	int fd;         /* a file of those before it; -1: there are none */
};

int opk_column_file_init(struct opk_column_file *file, struct opk_ctx *ctx, size_t columns);
/* Adds a row; where `present` is false, there is no value. */
int opk_column_file_add(struct opk_column_file *file, struct opk_ctx *ctx, const double *values,
                        const bool *present);
/* Both have room for as many as there are rows. */
int opk_column_file_read(double *values, bool *present, struct opk_column_file *file,
                         struct opk_ctx *ctx, size_t column);
void opk_column_file_clear(struct opk_column_file *file);

/* What the images of recordings hold: how many ranges, their names, and which can be summed. */

struct opk_surveyed {
	struct opk_file *file;
	size_t section;
	const struct opk_segment *segment; /* with its tables */
	bool skipped; /* none of its rows is wanted: nothing is known of it but their number */
	size_t first; /* number of its first range or sample over all images of all files */
	struct opk_range sample; /* what is known of each where no range table says it */
	/* What the child that looked at it found; sent in native layout. */
	struct opk_surveyed_facts {
		uint64_t rows; /* ranges, or samples that are whole */
		uint64_t slots;
		uint64_t slot_size; /* bytes that a range takes in a copy */
		/* A number for the counters and the GPU: ranges with the same can be summed. */
		uint64_t layout;
		int32_t profiler;
		int32_t reserved;
	} facts;
};

struct opk_survey {
	struct opk_surveyed *images;
	size_t image_count;
	size_t row_count;
	struct opk_strlist names; /* one a row, as the images have them; "" for samples */
};

/*
 * Verifies every checksum of the files, which have to be complete and have counter data, then asks
 * NVIDIA's code about all their images, in a child. The files outlive the result.
 */
int opk_survey_make(struct opk_survey *out, struct opk_ctx *ctx, struct opk_file *const *files,
                    size_t file_count);
/*
 * This surveys one file of which some rows are left out, one a row: images are not read where their
 * tables say that they have no others.
 */
int opk_survey_make_some(struct opk_survey *out, struct opk_ctx *ctx, struct opk_file *file,
                         const bool *left_out, size_t count);
void opk_survey_clear(struct opk_survey *survey);

/* The image that a row is in. */
const struct opk_surveyed *opk_survey_image(const struct opk_survey *survey, size_t row);
/* What is known of a row; and its name, which the range table may replace. */
const struct opk_range *opk_survey_range(const struct opk_survey *survey, size_t row);
const char *opk_survey_name(const struct opk_survey *survey, size_t row);

/* The limits of a child that works on these images. */
struct opk_contain_options opk_survey_contain(const struct opk_survey *survey);

/* Makes counter data images of ranges of others: for trim, split, sums and totals. */

/* A range that goes into a slot, on top of what is there. */
struct opk_move {
	size_t row; /* of the survey */
	size_t slot;
};

/* An image to be made. */
struct opk_target {
	const struct opk_move
		*moves; /* in the order of their rows; the first one's image has the layout */
	size_t move_count;
	size_t slots;
	/* Names of the slots, each once; NULL: "0", "1", ..., as CUPTI names automatic ranges. */
	const char *const *names;
	/* Instead of all that: the image of this row without its free slots. For samples. */
	bool trim;
};

struct opk_recombination {
	const struct opk_survey *survey;
	/*
	 * Of the first OPK_MOST_AVERAGED ranges of each slot, and of each pass by itself, instead
	 * of sums.
	 */
	bool mean;
	const struct opk_target *targets;
	size_t target_count;
	/* In the child, with each image once it is made; NULL: they are the result. */
	int (*use)(struct opk_ctx *ctx, void *data, struct opk_child *child, size_t target,
	           const void *image, size_t size);
	void *data;
};

/* So many bytes of slots go into one image, and one slot at least. */
size_t opk_recombine_slots(const struct opk_surveyed *image);

/* Makes all images in a child; the result is them, or what `use` puts there. */
int opk_recombine(struct opk_result *result, struct opk_ctx *ctx,
                  const struct opk_recombination *recombination);

/* The next image of the result; free(). */
int opk_recombine_next(void **image, size_t *size, struct opk_ctx *ctx, struct opk_result *result);

/* Least, greatest and percentiles of values. */

/* No value may be NaN. */
void opk_sort_values(double *values, size_t count);
/*
 * In proportion between the two of `count` > 0 sorted values next to the place; exact if they are
 * equal, or infinite. `share` is 0 to 1.
 */
double opk_quantile(const double *sorted, size_t count, double share);
/* Fills in min, max and percentiles; sorts the values. All are NaN without values, or if one is. */
void opk_statistics_order(struct opk_statistics *out, double *values, size_t count);

/* Ranges inside others: a range and its parts are never added to one sum. */

enum opk_level {
	OPK_OUTERMOST, /* those that no other one of their key holds */
	OPK_INNERMOST, /* those that hold no other one */
	OPK_ALL_LEVELS,
};
/* NULL: outermost. OPK_EUSAGE says which words there are. */
int opk_level_parse(enum opk_level *out, struct opk_ctx *ctx, const char *text);
/*
 * Leaves out the ranges of other levels, too, and logs what it did. A range holds another one of
 * the same key, GPU, rank and pass whose name goes on with '/', and kernels that ran in it.
 */
int opk_levels_choose(bool *left_out, struct opk_ctx *ctx, const struct opk_survey *survey,
                      unsigned key, enum opk_level level);

/* Plans which ranges are summed, into which images: for merged recordings and statistics. */

/* A range to be made: the sum of those of one group and GPU that have the same metrics. */
struct opk_summed {
	size_t group;       /* of opk_sums.groups */
	size_t source;      /* of opk_sums.sources */
	uint32_t pass;      /* of all its rows, where each pass has a sum; else 0 */
	uint64_t *launches; /* that its rows are of: of all passes, and then of each pass */
	size_t first;       /* its first row */
	uint64_t layout;    /* of all its rows */
	size_t place;       /* among the sums, in the order of the images */
	size_t target, slot;
};

struct opk_sums {
	const struct opk_survey *survey;
	struct opk_grouping groups;  /* by the key */
	struct opk_grouping sources; /* the same by GPU, and by what can't be summed on one */
	struct opk_grouping parts;   /* one a sum: the same, and by pass where each has one */
	size_t passes;               /* the greatest number of one */
	struct opk_summed *sums;
	size_t count;
	size_t *group_of;           /* one a row; SIZE_MAX: left out */
	size_t *sum_of;             /* the same */
	size_t *order;              /* the sums, image by image and slot by slot */
	struct opk_strlist numbers; /* in that order: the names of the slots */
	struct opk_target *targets;
	size_t target_count;
	struct opk_move *moves; /* one a row that is not left out */
};

struct opk_sums_options {
	unsigned key; /* of opk_key_parse() */
	enum opk_level level;
	/*
	 * A group has one sum for each pass: it is of one GPU, and OPK_EUSAGE says which
	 * ranges of one can't be summed, for they are of different layout, or of other counters.
	 */
	bool single;
	bool part;            /* see struct opk_sum_options */
	const bool *left_out; /* one a row, besides those of other levels; or NULL */
};
/* Borrows the survey. */
int opk_sums_init(struct opk_sums *out, struct opk_ctx *ctx, const struct opk_survey *survey,
                  const struct opk_sums_options *options);
void opk_sums_clear(struct opk_sums *sums);

/* Values of several GPUs as one: each kind of metric has its rule, docs/formats.md. combine.c */

/* What `weighted_by` of a ratio of summed counters says: each range weighs as its denominator. */
#define opk_by_denominator "denominator"
static inline bool opk_is_ratio_of_sums(const struct opk_statistics *of)
{
	return of->weighted_by && !strcmp(of->weighted_by, opk_by_denominator);
}
static inline bool opk_is_approximate(const struct opk_statistics *of)
{
	return of->weighted_by && !opk_is_ratio_of_sums(of);
}

/* What a mean over GPUs is weighted by. */
enum opk_weight { OPK_BY_COUNT, OPK_BY_CYCLES, OPK_BY_TIME, OPK_EXACT };

struct opk_rules {
	struct opk_rule *rules; /* one a metric */
	size_t metric_count;
	struct opk_strlist helpers; /* metrics that rules need besides; numbered after the others */
	long weights[OPK_EXACT];    /* the metric of each enum opk_weight; -1: there is none */
};
int opk_rules_init(struct opk_rules *rules, struct opk_ctx *ctx, const char *chip,
                   enum opk_profiler profiler, const char *const *metrics, size_t count);
void opk_rules_clear(struct opk_rules *rules);
/*
 * What the metric's value is divided by, 0 where nothing was counted; NaN: not known. `all` has
 * metrics and helpers. Values that such are the weights of make the mean that of their sums.
 */
double opk_rules_denominator(const struct opk_rules *rules, size_t metric, const double *all);

struct opk_part_value {
	double value;
	uint64_t count;    /* of its ranges */
	const double *all; /* metrics and helpers */
};
/* OPK_EXACT unless the value is a mean with weights that are not its denominators. */
enum opk_weight opk_combine(double *out, const struct opk_rules *rules, size_t metric,
                            const struct opk_part_value *parts, size_t count);

/* The metrics of each group of sums, one group's after the other's. totals.c */
struct opk_totals {
	double *values;   /* over all its ranges; NaN where there is none */
	double *added;    /* the sum of the values of its GPUs */
	uint64_t *counts; /* ranges that have it */
	uint8_t *weights; /* enum opk_weight */
	/*
	 * Its passes have different numbers of ranges, of which `counts` is the least: the value is
	 * of their mean, and what adds up has no total, but `added` is the mean times the count.
	 */
	bool *uneven;
	size_t *sources; /* one a group: GPUs that it is of */
};
int opk_totals_init(struct opk_totals *totals, struct opk_ctx *ctx,
                    const struct opk_evaluation *evaluation, struct opk_file *file,
                    const struct opk_sums *sums);
void opk_totals_clear(struct opk_totals *totals);
/* Fills in those of the evaluation's metrics that are attributes. attribute_totals.c */
void opk_totals_add_attributes(struct opk_totals *totals, const struct opk_evaluation *evaluation,
                               const struct opk_meta *meta, const struct opk_sums *sums);

#endif
