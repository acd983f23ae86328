/* SPDX-License-Identifier: BSD-2-Clause */
/* Two sides of recordings: values with one key, what is more than noise, and rules on it. */
#ifndef OPK_COMPARE_H
#define OPK_COMPARE_H

#include "adapters/yaml/yaml_tree.h"
#include "base/ctx.h"
#include "base/strlist.h"
#include "compare/door.h"
#include "eval/eval.h"
#include "images/images.h"

enum opk_compared_side { OPK_BEFORE, OPK_AFTER, OPK_SIDES };

/* ---- rank_test.c ---- */

/*
 * How often values as far apart would come about if both sides were alike, by Mann and Whitney's U
 * test; exactly for few launches. No value may be NaN. False when out of memory.
 */
bool opk_rank_test(double *out, const double *before, size_t before_count, const double *after,
                   size_t after_count);
/* The least that this can be for so many launches. */
double opk_rank_test_least(size_t before, size_t after);

/* ---- verdicts.c ---- */

/* The values of one metric and side of a row. */
struct opk_compared_values {
	double *values;
	uint64_t *weights; /* how many launches each stands for */
	size_t count;
	bool mixed; /* they are of different kernels, a value a recording */
};
/* Fills in all but the verdicts of those that a test tells; sorts the values. */
bool opk_compare_values(struct opk_diff_value *out, struct opk_compared_values sides[OPK_SIDES]);
/* All rows' values, one a column, and whether a column is of the foremost family. */
struct opk_compared_table {
	struct opk_diff_value *values;
	const bool *foremost;
	const bool *hidden; /* neither tested nor counted; NULL: no column is */
	size_t rows, columns;
	/*
	 * p of the same test, once more as if the clock had been the same; NaN: it is not known, or
	 * the value does not depend on it. NULL: none is known.
	 */
	const double *beyond_clock;
};
/*
 * Tells changes from noise. Fills in what was tested, and from how many launches on it can tell;
 * summary->level is given.
 */
int opk_find_verdicts(struct opk_diff_summary *summary, struct opk_ctx *ctx,
                      const struct opk_compared_table *table);

/* ---- rules.c ---- */

struct opk_compared_rule {
	struct opk_diff_rule rule; /* borrows from the others */
	char *text, *metric, *reason;
	struct opk_strlist where;
	struct opk_filter *filter; /* NULL: all rows are its */
	struct opk_place place;    /* of a rule from a file */
};
/* Begin with zeros. */
struct opk_diff_rules {
	OPK_LIST(struct opk_compared_rule) rules;
	OPK_LIST(struct opk_source *) sources;
};
/* Adds one, OPK_EUSAGE: it is none; or those of a YAML file, OPK_EINPUT with all errors in it. */
int opk_diff_rules_add(struct opk_diff_rules *rules, struct opk_ctx *ctx, const char *text);
int opk_diff_rules_load(struct opk_diff_rules *rules, struct opk_ctx *ctx, const char *path);
/* All of the options. */
int opk_diff_rules_read(struct opk_diff_rules *rules, struct opk_ctx *ctx,
                        const struct opk_diff_options *options);
void opk_diff_rules_clear(struct opk_diff_rules *rules);
/* "METRIC>5%"; *wrong is what is wrong with it. False also when out of memory: it is NULL then. */
bool opk_compared_rule_parse(struct opk_compared_rule *out, const char **wrong, const char *text);
void opk_compared_rule_clear(struct opk_compared_rule *rule);
bool opk_compared_is_ruled(const struct opk_diff_rules *rules, const char *metric);

/* ---- sources.c: recordings, evaluated ---- */

/* What a row of a recording is. */
enum opk_compared_mode {
	OPK_COMPARED_RANGES, /* each range has all passes */
	OPK_COMPARED_JOINED, /* ranges of several runs are one launch */
	OPK_COMPARED_PASSES, /* each range has one pass of the set */
	OPK_COMPARED_RAN,    /* launches on the timeline */
};

struct opk_compared_source {
	struct opk_file *file;
	const struct opk_meta *meta;
	struct opk_set_meta set;      /* that is evaluated instead of the recorded one */
	const struct opk_meta *names; /* what names of values mean: that of the set, or `meta` */
	enum opk_compared_side side;
	enum opk_compared_mode mode;
	struct opk_strlist also;         /* what is compared, or the time, and not shown */
	struct opk_evaluation *launches; /* a row each */
	struct opk_evaluation *means;    /* a row for what several launches are together; NULL */
	/* The diff's column that each column is, and then each of `also`. */
	size_t *columns, *columns_of_means;
	size_t first_row; /* among those of its side */
};

struct opk_compared_column {
	char *name, *unit;
	const char *heading, *prose; /* of the set's group; NULL */
	struct opk_traits traits;
	bool shown;
	bool is_peak; /* or a clock, which is stated once instead */
};

/* What is known of a group besides what its ranges have in common. */
struct opk_compared_group {
	uint64_t launches[OPK_SIDES];
	bool mixed; /* of different kernels */
};

struct opk_diff {
	struct opk_diff_options options;
	struct opk_diff_rules rules;
	char *by;
	struct opk_kernel_names *names;
	struct opk_compared_source *sources;
	size_t source_count;
	OPK_LIST(struct opk_compared_column) columns;
	struct opk_index numbers; /* of columns */
	size_t time;              /* the column of times; SIZE_MAX */
	size_t clock;             /* that of the SM's clock; SIZE_MAX */
	struct opk_grouping groups;
	OPK_LIST(struct opk_compared_group) about; /* one a group */
	struct opk_column_file values[OPK_SIDES];
	OPK_LIST(size_t) group_of[OPK_SIDES];  /* one a row of values */
	OPK_LIST(uint64_t) weights[OPK_SIDES]; /* the same */
	struct opk_diff_value *compared;       /* of each group, one a column */
	double *beyond_clock;                  /* the same: as opk_compared_table has it */
	struct opk_diff_peak *peaks;
	struct opk_diff_found found;
	struct opk_strlist texts; /* that they borrow */
};

/* Columns that are not metrics: times, and the clock as NVML has it. */
extern const char opk_compared_duration[], opk_compared_mhz[];

/* Evaluates all sources, and lists the columns. */
int opk_compared_evaluate(struct opk_diff *diff, struct opk_ctx *ctx);
/* Whether a recording has a value of this name, as far as that is known before it is evaluated. */
int opk_compared_knows(bool *out, struct opk_ctx *ctx, const struct opk_compared_source *source,
                       const char *name);
void opk_compared_source_clear(struct opk_compared_source *source);

/* sides.c: reads the rows of all sources, group by group. */
int opk_compared_read(struct opk_diff *diff, struct opk_ctx *ctx);

/* columns.c: the values of each column, group by group; places: the row of each group. */
int opk_compare_columns(struct opk_diff *diff, struct opk_ctx *ctx, const size_t *places);
bool opk_compared_has_both(const struct opk_diff *diff, size_t column);

/* differences.c: what makes recordings differ besides the program. */
int opk_find_differences(struct opk_diff *diff, struct opk_ctx *ctx);

/* ---- rules ---- */

/* rules_check.c: OPK_EUSAGE, or OPK_EINPUT for those from files, where one names nothing. */
int opk_compared_check_rules(struct opk_diff *diff, struct opk_ctx *ctx);
/* judge.c: finds those that are broken. */
int opk_compared_judge(struct opk_diff *diff, struct opk_ctx *ctx);

#endif
