/* SPDX-License-Identifier: BSD-2-Clause */
/* Operations on recordings: trim, split, sum, aggregate. */
#ifndef OPK_IMAGES_H
#define OPK_IMAGES_H

#include <string.h>

#include "base/ctx.h"
#include "base/strlist.h"
#include "child/child.h"
#include "eval/eval.h"
#include "images/door.h"

/*
 * Stores values row by row and reads them column by column, in little memory. It keeps blocks of
 * rows, stored by columns, and has all except the last one in a temporary file.
 */

struct opk_column_file {
	size_t columns, row_count;
	size_t block_rows;
	uint8_t *block; /* the last one; per column: values, then whether they exist */
	int fd;         /* has the earlier blocks; -1: there are none */
};

int opk_column_file_init(struct opk_column_file *file, struct opk_ctx *ctx, size_t columns);
/* Adds a row; it has no value where `present` is false. */
int opk_column_file_add(struct opk_column_file *file, struct opk_ctx *ctx, const double *values,
                        const bool *present);
/* Reads a column; both arrays have room for all rows. */
int opk_column_file_read(double *values, bool *present, struct opk_column_file *file,
                         struct opk_ctx *ctx, size_t column);
void opk_column_file_clear(struct opk_column_file *file);

/* What the images of recordings hold: number and names of ranges, and which can be summed. */

struct opk_surveyed {
	struct opk_file *file;
	size_t section;
	const struct opk_segment *segment; /* with its tables */
	bool skipped; /* all its rows are left out: only their number is known */
	size_t first; /* number of its first range or sample over all images of all files */
	struct opk_range sample; /* its facts where the image has no range table */
	/* What the child found in the image; sent in native layout. */
	struct opk_surveyed_facts {
		uint64_t rows; /* ranges, or samples that are whole */
		uint64_t slots;
		uint64_t slot_size; /* bytes that a range takes in a copy */
		/* A number for counters and GPU: ranges with the same number can be summed. */
		uint64_t layout;
		int32_t profiler;
		int32_t reserved;
	} facts;
};

struct opk_survey {
	struct opk_surveyed *images;
	size_t image_count;
	size_t row_count;
	struct opk_strlist names; /* one per row, from the images; "" for samples */
	/* Images of a GPU are only taken for alike: combining them looks, and fails if not. */
	bool assumed;
};

/*
 * Verifies all checksums of the files, which have to be complete and have counter data. Then asks
 * NVIDIA's code about all their images, in a child. The files must outlive the result.
 */
int opk_survey_make(struct opk_survey *out, struct opk_ctx *ctx, struct opk_file *const *files,
                    size_t file_count);
/*
 * Surveys one file without some rows; `left_out` has one item per row. Images whose rows are all
 * left out, by their tables, are not read.
 */
int opk_survey_make_some(struct opk_survey *out, struct opk_ctx *ctx, struct opk_file *file,
                         const bool *left_out, size_t count);
/*
 * Surveys a file of ranges by its tables alone, which evaluation has checked: they can be assumed
 * to be true where they say how many rows each image has. Takes over the names of its rows.
 */
int opk_survey_can_assume(bool *out, struct opk_ctx *ctx, struct opk_file *file);
int opk_survey_assume(struct opk_survey *out, struct opk_ctx *ctx, struct opk_file *file,
                      struct opk_strlist *names);
/*
 * Surveys a file whose values were evaluated before, without its images. Takes over the names of
 * its rows.
 */
int opk_survey_of_baked(struct opk_survey *out, struct opk_ctx *ctx, struct opk_file *file,
                        struct opk_strlist *names);
void opk_survey_clear(struct opk_survey *survey);

/* The image that a row is in. */
const struct opk_surveyed *opk_survey_image(const struct opk_survey *survey, size_t row);
/* The facts of a row; and its name, which the range table may replace. */
const struct opk_range *opk_survey_range(const struct opk_survey *survey, size_t row);
const char *opk_survey_name(const struct opk_survey *survey, size_t row);

/* The limits of a child that works on these images. */
struct opk_contain_options opk_survey_contain(const struct opk_survey *survey);

/* Makes counter data images from ranges of other images: for trim, split, sums and totals. */

/* A range that is added to a slot. */
struct opk_move {
	size_t row; /* in the survey */
	size_t slot;
};

/* An image to be made. */
struct opk_target {
	const struct opk_move
		*moves; /* in the order of rows; the first one's image gives the layout */
	size_t move_count;
	size_t slots;
	/* Distinct names of the slots; NULL: "0", "1", ..., as CUPTI names automatic ranges. */
	const char *const *names;
	/* For samples, instead of the above: the image of this row without its free slots. */
	bool trim;
};

struct opk_recombination {
	const struct opk_survey *survey;
	/*
	 * Makes means instead of sums: of the first OPK_MOST_AVERAGED ranges of each slot, and of
	 * each pass by itself.
	 */
	bool mean;
	const struct opk_target *targets;
	size_t target_count;
	size_t workers; /* the most children that share large sums; 0: chosen by the cores */
	/* Called in the child with each image made; NULL: the images are the result. */
	int (*use)(struct opk_ctx *ctx, void *data, struct opk_child *child, size_t target,
	           const void *image, size_t size);
	void *data;
};

/* How many slots a new image may have: limited by their bytes, at least 1. */
size_t opk_recombine_slots(const struct opk_surveyed *image);

/* Makes all images in a child; the result has the images, or what `use` sends. */
int opk_recombine(struct opk_result *result, struct opk_ctx *ctx,
                  const struct opk_recombination *recombination);

/* Reads the next image of the result; free(). */
int opk_recombine_next(void **image, size_t *size, struct opk_ctx *ctx, struct opk_result *result);

/* Least, greatest and percentiles of values. */

/* Values must not be NaN. */
void opk_sort_values(double *values, size_t count);
/*
 * Interpolates between the two neighbours among `count` > 0 sorted values; exact if they are equal
 * or infinite. `share` is 0 to 1.
 */
double opk_quantile(const double *sorted, size_t count, double share);
/* Fills in min, max and percentiles; sorts the values. All are NaN without values or with a NaN. */
void opk_statistics_order(struct opk_statistics *out, double *values, size_t count);
/* Deviation, and the interval of the mean, whose weights are known; the order of values matters. */
void opk_statistics_spread(struct opk_statistics *out, const double *values, size_t count);

/* Ranges inside others: a sum never adds a range and its parts. */

enum opk_level {
	OPK_OUTERMOST, /* no other range of the same key holds them */
	OPK_INNERMOST, /* they hold no other range */
	OPK_ALL_LEVELS,
};
/* `text` NULL: outermost. OPK_EUSAGE lists the words. */
int opk_level_parse(enum opk_level *out, struct opk_ctx *ctx, const char *text);
struct opk_sums_options;
/*
 * Also leaves out the ranges of other levels, and logs what it did. A range holds ranges of the
 * same key, GPU, rank and pass whose names continue its own with '/', and kernels that ran in it.
 */
int opk_levels_choose(bool *left_out, struct opk_ctx *ctx, const struct opk_survey *survey,
                      const struct opk_sums_options *options);

/* Plans which ranges are summed into which images: for merged recordings and statistics. */

/* A range to be made: the sum of a group's ranges of one GPU and the same metrics. */
struct opk_summed {
	size_t group;       /* of opk_sums.groups */
	size_t source;      /* of opk_sums.sources */
	uint32_t pass;      /* of all its rows, if each pass has its own sum; else 0 */
	uint64_t *launches; /* of its rows: how many have all passes, then each */
	size_t first;       /* its first row */
	uint64_t layout;    /* of all its rows */
	size_t place;       /* its place in `order` */
	size_t target, slot;
};

struct opk_sums {
	const struct opk_survey *survey;
	struct opk_grouping groups;  /* by key */
	struct opk_grouping sources; /* groups divided by GPU, and by layout on one GPU */
	struct opk_grouping parts;   /* one per sum: sources divided by pass, if passes have sums */
	size_t passes;               /* the greatest number of a pass */
	struct opk_summed *sums;
	size_t count;
	size_t *group_of;           /* one per row; SIZE_MAX: left out */
	size_t *sum_of;             /* likewise */
	size_t *order;              /* of the sums, image by image and slot by slot */
	struct opk_strlist numbers; /* in that order: the names of the slots */
	struct opk_target *targets;
	size_t target_count;
	struct opk_move *moves; /* one per row that is not left out */
};

struct opk_sums_options {
	unsigned key; /* of opk_key_parse() */
	enum opk_level level;
	bool explained; /* it was logged before which levels are left out */
	/*
	 * A group has one sum per pass, and one GPU. OPK_EUSAGE says which ranges of a group can't
	 * be summed because their layouts or counters differ.
	 */
	bool single;
	bool part;            /* see struct opk_sum_options */
	const bool *left_out; /* one per row, in addition to other levels; or NULL */
};
/* Borrows the survey. */
int opk_sums_init(struct opk_sums *out, struct opk_ctx *ctx, const struct opk_survey *survey,
                  const struct opk_sums_options *options);
void opk_sums_clear(struct opk_sums *sums);

/* Combines values of several GPUs by a rule for each kind of metric: docs/formats.md. combine.c */

/* The `weighted_by` of a ratio of summed counters: each range weighs as its denominator. */
#define opk_by_denominator "denominator"
static inline bool opk_is_ratio_of_sums(const struct opk_statistics *of)
{
	return of->weighted_by && !strcmp(of->weighted_by, opk_by_denominator);
}
static inline bool opk_is_approximate(const struct opk_statistics *of)
{
	return of->weighted_by && !opk_is_ratio_of_sums(of);
}

/* The weights of a mean over GPUs. */
enum opk_weight { OPK_BY_COUNT, OPK_BY_CYCLES, OPK_BY_TIME, OPK_EXACT };

struct opk_rules {
	struct opk_rule *rules; /* one per metric */
	size_t metric_count;
	struct opk_strlist helpers; /* further metrics for rules; numbered after the others */
	long weights[OPK_EXACT];    /* the metric of each enum opk_weight; -1: none */
};
/* `file`, unless NULL, is the recording whose values the rules are for. */
int opk_rules_init(struct opk_rules *rules, struct opk_ctx *ctx, const char *chip,
                   enum opk_profiler profiler, const char *const *metrics, size_t count,
                   const struct opk_file *file);
/* The same, where only these metrics can help. */
int opk_rules_among(struct opk_rules *rules, struct opk_ctx *ctx, const char *const *metrics,
                    size_t count, const struct opk_strlist *helpers);
void opk_rules_clear(struct opk_rules *rules);
/*
 * The metric's denominator; 0: nothing was counted; NaN: not known. `all` has metrics and helpers.
 * A mean with denominators as weights is the ratio of the sums.
 */
double opk_rules_denominator(const struct opk_rules *rules, size_t metric, const double *all);

struct opk_part_value {
	double value;
	uint64_t count;    /* ranges */
	const double *all; /* metrics and helpers */
};
/* Returns OPK_EXACT unless the value is a mean whose weights are not its denominators. */
enum opk_weight opk_combine(double *out, const struct opk_rules *rules, size_t metric,
                            const struct opk_part_value *parts, size_t count);
/* Likewise for ratios, some of one GPU at different times: extremes have means, too. */
enum opk_weight opk_combine_ratios(double *out, const struct opk_rules *rules, size_t metric,
                                   const struct opk_part_value *parts, size_t count);

/* The metrics of each group of sums, group by group. totals.c */
struct opk_totals {
	double *values;   /* over all its ranges; NaN: none */
	double *added;    /* the sum of its GPUs' values */
	uint64_t *counts; /* ranges that have it */
	uint8_t *weights; /* enum opk_weight */
	/*
	 * The metric's passes have different numbers of ranges; `counts` is the least. The value is
	 * the mean range's; there is no total, and `added` is the mean times the count.
	 */
	bool *uneven;
	size_t *sources; /* one per group: the number of its sources */
};
struct opk_totals_options {
	bool baked;                  /* of values that the file has; OPK_EUSAGE: it lacks some */
	struct opk_value_sink *bake; /* takes the values of the sums; NULL: they are not kept */
};
int opk_totals_init(struct opk_totals *totals, struct opk_ctx *ctx,
                    const struct opk_evaluation *evaluation, struct opk_file *file,
                    const struct opk_sums *sums, const struct opk_totals_options *options);
/*
 * Totals of a file that has neither images nor the values of these sums: of the ranges' own values,
 * combined as those of several GPUs are. row_totals.c
 */
int opk_totals_of_rows(struct opk_totals *totals, struct opk_ctx *ctx,
                       const struct opk_evaluation *evaluation, struct opk_file *file,
                       const struct opk_sums *sums);
/* Allocates for all groups. */
int opk_totals_allocate(struct opk_totals *totals, struct opk_ctx *ctx, size_t groups,
                        size_t metrics);
void opk_totals_clear(struct opk_totals *totals);
/* Fills in the evaluation's metrics that are attributes. attribute_totals.c */
int opk_totals_add_attributes(struct opk_totals *totals, struct opk_ctx *ctx,
                              const struct opk_evaluation *evaluation, const struct opk_meta *meta,
                              const struct opk_sums *sums);

#endif
