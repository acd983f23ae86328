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
 * The probability of values at least as far apart if both sides are alike, by Mann and Whitney's U
 * test; exact for few launches. No value may be NaN. False when out of memory.
 */
bool opk_rank_test(double *out, const double *before, size_t before_count, const double *after,
                   size_t after_count);
/* The smallest possible result for these numbers of launches. */
double opk_rank_test_least(size_t before, size_t after);

/* ---- rate_test.c ---- */

/* Counts of one thing in the recordings of one side. */
struct opk_counted {
	double *samples;   /* or exact counts */
	double *exposures; /* how many launches, or samples of anything, these are of; above 0 */
	size_t count;      /* of recordings */
};
/* By how much more than Poisson's distribution recordings of one side differ. Begins with zeros. */
struct opk_dispersion {
	double excess, squares, weight, weight_squares;
};
/* Adds what the recordings of a side show of it. */
void opk_dispersion_add(struct opk_dispersion *dispersion, const struct opk_counted *side);
struct opk_rate_result {
	double p, least; /* the smallest possible p for as many samples */
	bool by_student; /* p is of Student's t-test, which is less certain of a change */
};
/*
 * The probability of samples at least as far apart if the rates of both sides are equal. With one
 * recording a side: the exact conditional binomial test. With several it is Student's t-test, too,
 * with the variance that they show, but at least Poisson's.
 */
void opk_rate_test(struct opk_rate_result *out, const struct opk_counted sides[OPK_SIDES],
                   const struct opk_dispersion *dispersion);

/* ---- verdicts.c ---- */

/* Counts of instructions; exact where `dispersion` is NULL. Overwrites the samples. */
void opk_compare_counts(struct opk_diff_value *out, struct opk_counted sides[OPK_SIDES],
                        const struct opk_dispersion *dispersion);

/* The values of one metric and side of a row. */
struct opk_compared_values {
	double *values;
	uint64_t *weights; /* the number of launches of each value */
	size_t count;
	bool mixed; /* each value is of one recording, over different kernels */
};
/* Fills in everything except the verdicts that need a test; sorts the values. */
bool opk_compare_values(struct opk_diff_value *out, struct opk_compared_values sides[OPK_SIDES]);
/* The values of all rows, one per column, and which columns belong to the foremost family. */
struct opk_compared_table {
	struct opk_diff_value *values;
	const bool *foremost;
	const bool *hidden; /* columns that are neither tested nor counted; NULL: none */
	size_t rows, columns;
	/*
	 * p of the same test as if the clock were equal on both sides; NaN: unknown, or the value
	 * does not depend on the clock. NULL: all are unknown.
	 */
	const double *beyond_clock;
	bool sampled; /* values are samples of code, not of launches */
};
/*
 * Separates changes from noise. Fills in what was tested, and how many launches are needed;
 * summary->level is given.
 */
int opk_find_verdicts(struct opk_diff_summary *summary, struct opk_ctx *ctx,
                      const struct opk_compared_table *table);

/* ---- rules.c ---- */

struct opk_compared_rule {
	struct opk_diff_rule rule; /* borrows from the other members */
	char *text, *metric, *reason;
	struct opk_strlist where;
	struct opk_filter *filter; /* NULL: the rule applies to all rows */
	struct opk_place place;    /* of a rule from a file */
};
/* Start with zeros. */
struct opk_diff_rules {
	OPK_LIST(struct opk_compared_rule) rules;
	OPK_LIST(struct opk_source *) sources;
};
/* Adds a rule (OPK_EUSAGE: invalid), or a YAML file's rules (OPK_EINPUT, with all its errors). */
int opk_diff_rules_add(struct opk_diff_rules *rules, struct opk_ctx *ctx, const char *text);
int opk_diff_rules_load(struct opk_diff_rules *rules, struct opk_ctx *ctx, const char *path,
                        bool code_rows);
/* Reads all rules of the options. */
int opk_diff_rules_read(struct opk_diff_rules *rules, struct opk_ctx *ctx,
                        const struct opk_diff_options *options);
void opk_diff_rules_clear(struct opk_diff_rules *rules);
/* Parses "METRIC>5%"; *wrong is the error. False, with *wrong NULL, when out of memory. */
bool opk_compared_rule_parse(struct opk_compared_rule *out, const char **wrong, const char *text);
bool opk_compared_is_ruled(const struct opk_diff_rules *rules, const char *metric);

/* ---- sources.c: recordings, evaluated ---- */

/* What a row of a recording consists of. */
enum opk_compared_mode {
	OPK_COMPARED_RANGES, /* each range has all passes */
	OPK_COMPARED_JOINED, /* ranges of several runs are one launch */
	OPK_COMPARED_PASSES, /* each range has one pass of the set */
	OPK_COMPARED_RAN,    /* launches on the timeline */
	OPK_COMPARED_CODE,   /* instructions, lines or functions */
};

/* A function in one recording, with its rows that conditions leave out. */
struct opk_compared_function {
	uint64_t launches; /* that samples were taken of; 0: unknown, or it was not sampled */
	double samples;
};

struct opk_compared_source {
	struct opk_file *file;
	const struct opk_meta *meta;
	struct opk_set_meta set;      /* evaluated instead of the recorded set */
	const struct opk_meta *names; /* the meanings of names, from the set or `meta` */
	enum opk_compared_side side;
	enum opk_compared_mode mode;
	struct opk_strlist also;         /* the time, and compared names that are not shown */
	struct opk_evaluation *launches; /* one row per launch */
	struct opk_evaluation *means;    /* one row per group of launches; NULL */
	/* The diff's column for each column, and then for each of `also`. */
	size_t *columns, *columns_of_means;
	size_t first_row; /* index among the rows of its side */
	bool *measured;   /* of code: the columns that any row has, also one that is left out */
	struct opk_code_interval interval;
	double all_samples;                               /* of all code */
	OPK_LIST(struct opk_compared_function) functions; /* by the diff's numbers of them */
	double exposure;    /* of a launch to samples: more if the interval is shorter */
	double most_weight; /* of one sample, where the interval changed; else 1 */
};

struct opk_compared_column {
	char *name, *unit;
	const char *heading, *prose; /* of the set's group; NULL: none */
	struct opk_traits traits;
	bool shown;
	bool is_peak; /* a peak or clock, which is listed once instead */
};

/* Facts about a group besides those that its ranges share. */
struct opk_compared_group {
	uint64_t launches[OPK_SIDES];
	bool mixed;                             /* of different kernels */
	const struct opk_code *code[OPK_SIDES]; /* NULL: it is not there, or not of code */
	size_t function;                        /* of code: its number */
};

struct opk_diff {
	struct opk_diff_options options;
	struct opk_diff_rules rules;
	char *by;
	struct opk_kernel_names *names;
	struct opk_filter *filter; /* of rows of code; NULL: all */
	struct opk_compared_source *sources;
	size_t source_count;
	OPK_LIST(struct opk_compared_column) columns;
	struct opk_index numbers;   /* of columns */
	struct opk_index functions; /* of code: their numbers */
	struct opk_strlist function_names;
	struct opk_diff_value *of_functions; /* their samples on both sides; NULL: not of lines */
	size_t time;                         /* the column of times; SIZE_MAX: none */
	size_t clock;                        /* the column of the SM's clock; SIZE_MAX: none */
	struct opk_grouping groups;
	OPK_LIST(struct opk_compared_group) about; /* one per group */
	struct opk_column_file values[OPK_SIDES];
	OPK_LIST(size_t) group_of[OPK_SIDES];  /* one per row of values */
	OPK_LIST(uint64_t) weights[OPK_SIDES]; /* one per row of values */
	struct opk_diff_value *compared;       /* for each group, one per column */
	double *beyond_clock;                  /* parallel to it: as in opk_compared_table */
	struct opk_diff_peak *peaks;
	struct opk_diff_found found;
	struct opk_strlist texts; /* owned texts that `found` borrows */
};

/* Evaluates all sources, and lists the columns. */
int opk_compared_evaluate(struct opk_diff *diff, struct opk_ctx *ctx);
void opk_compared_source_clear(struct opk_compared_source *source);

/* code.c: instructions, lines and functions. */
extern const char opk_compared_samples[], opk_compared_executed[];
bool opk_compared_is_code(const struct opk_diff *diff);
/* *wrong: why no code has this metric, free(); NULL: it may have it. */
int opk_compared_explain_code(char **wrong, const struct opk_diff *diff, struct opk_ctx *ctx,
                              const char *name);
int opk_compared_begin_code(struct opk_diff *diff, struct opk_ctx *ctx);
int opk_compared_evaluate_code(struct opk_compared_source *source, struct opk_ctx *ctx,
                               const struct opk_diff *diff);
/* Once all rows are read. */
void opk_compared_scale_exposures(struct opk_diff *diff);
/* The text that code of all builds is matched by: free(); NULL: out of memory. */
char *opk_compared_code_key(const struct opk_diff *diff, const struct opk_row *row);
/* Once all rows are read: shares are in percent. */
int opk_compared_name_units(struct opk_diff *diff, struct opk_ctx *ctx);
/* The kind of a column's counts; OPK_COUNT_KINDS: it is not of code. */
enum opk_count_kind opk_compared_kind(const struct opk_diff *diff, size_t column);

/*
 * functions.c: adds what a row says about its function, which gets the number *out. Samples may be
 * NaN.
 */
int opk_compared_add_function(size_t *out, struct opk_diff *diff, struct opk_ctx *ctx,
                              struct opk_compared_source *source, const struct opk_row *row,
                              double samples);
/* Finds the verdicts on the samples of whole functions, where rows are parts of functions. */
int opk_compared_judge_functions(struct opk_diff *diff, struct opk_ctx *ctx);
/* What samples are divided by. */
double opk_compared_exposure(const struct opk_diff *diff, const struct opk_compared_source *source,
                             size_t function);
/* Launches of a function that the recordings of a side have samples of. */
uint64_t opk_compared_sampled_of_side(const struct opk_diff *diff, enum opk_compared_side side,
                                      size_t function);

/* sides.c: reads the rows of all sources, group by group. */
int opk_compared_read(struct opk_diff *diff, struct opk_ctx *ctx);

/* columns.c: columns that are not metrics: times, and the clock from NVML. */
extern const char opk_compared_duration[], opk_compared_mhz[];
/* The values of each column, by group; places: the row of each group. */
int opk_compare_columns(struct opk_diff *diff, struct opk_ctx *ctx, const size_t *places);
bool opk_compared_has_both(const struct opk_diff *diff, size_t column);

/* differences.c: finds other reasons why recordings differ than the program. */
int opk_find_differences(struct opk_diff *diff, struct opk_ctx *ctx);

/* ---- rules ---- */

/* rules_check.c: finds rules with unknown names. OPK_EUSAGE, or OPK_EINPUT for rules from files. */
int opk_compared_check_rules(struct opk_diff *diff, struct opk_ctx *ctx);
/* judge.c: finds broken rules. */
int opk_compared_judge(struct opk_diff *diff, struct opk_ctx *ctx);

#endif
