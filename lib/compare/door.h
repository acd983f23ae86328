/* SPDX-License-Identifier: BSD-2-Clause */
/* What the command and other folders use of this one, besides the public functions. */
#ifndef OPK_COMPARE_DOOR_H
#define OPK_COMPARE_DOOR_H

#include "base/ctx.h"
#include "base/mem.h"
#include "eval/door.h"

/* The verdict on the two values of a row and column. */
enum opk_verdict {
	OPK_VERDICT_SAME,    /* all launches of both sides have the same value */
	OPK_VERDICT_NOISE,   /* launches differ from each other by as much */
	OPK_VERDICT_CHANGED, /* they differ by more than noise */
	OPK_VERDICT_TOO_FEW, /* too few launches to decide */
	OPK_VERDICT_NAN,     /* on one side a launch has no value, though it was measured */
	OPK_VERDICT_MISSING, /* not measured on one side */
	OPK_VERDICT_CLOCK,   /* more than noise, but the SM's clock can explain all of it */
	OPK_VERDICTS
};
/* "same", "noise", "changed", "too few", "nan", "missing", "clock". */
const char *opk_verdict_name(enum opk_verdict verdict);

/* A value before or after, in its column's unit. */
struct opk_diff_side {
	uint64_t count; /* number of values: launches, or groups of launches; or samples */
	/* The median; for different kernels, code, means of several launches: the mean; or NaN. */
	double value;
	double low, high; /* quartiles; NaN for less than two values */
};

/* A value on both sides. */
struct opk_diff_value {
	struct opk_diff_side before, after;
	/* In percent of the value before; infinite if only that is 0; NaN: unknown. */
	double change;
	double p; /* of the test; NaN: not tested */
	enum opk_verdict verdict;
	bool has_spread; /* on either side */
	double least;    /* of p, for so many samples; 0: it is of launches */
	bool by_student; /* samples: p is of Student's t-test, else of the binomial one */
	/*
	 * For a time or a rate: the change in percent that the SM's clock causes if all else takes
	 * as many cycles as before, and so the most that it can have caused. NaN: the clock is
	 * unknown, or the value does not depend on it.
	 */
	double clock;
};

/* A kernel, or another thing that rows are matched by, on one side or both. */
struct opk_diff_row {
	const char *name;            /* "" if ranges have different names */
	struct opk_range range;      /* what all ranges have in common, on both sides */
	const struct opk_code *code; /* of code, afterwards if it is there; else NULL */
	size_t function;             /* of code: its number in the comparison */
	uint32_t before_line;        /* of a line or instruction; 0: unknown */
	/*
	 * Its function has code at other lines than before, counted from the first; for an
	 * instruction, or other instructions of a line. So the row may be compared with another.
	 */
	bool rewritten;
	const struct opk_diff_value *of_function; /* the samples of all of it; NULL: unknown */
	uint64_t before_launches, after_launches;
	/*
	 * The change in time: the change of one launch, times the lesser number of launches of the
	 * two sides; in the unit of the column with is_time. NaN: unknown.
	 */
	double time_change;
	bool time_changed;                   /* by more than noise */
	const struct opk_diff_value *values; /* one per column */
};

/* A metric, label, derived metric, or "duration_ns": times of ranges, or launches on a timeline. */
struct opk_diff_column {
	const char *name, *unit;
	const char *heading, *prose; /* of the set's group that the column is in; NULL: none */
	bool shown;   /* false: only for rules, the order of rows or a clock; or a peak */
	bool is_time; /* rows are ordered by this column */
};

/* Comparisons tested together. */
struct opk_diff_family {
	double level;           /* share of false discoveries */
	size_t compared;        /* tested values: they have a spread */
	size_t launches_needed; /* on each side, to detect a single change among so many values */
};
/*
 * A peak or a clock: what the GPU can do, not what the program did. It is judged only if a rule
 * names it, and is listed once: its values are of all launches of a side.
 */
struct opk_diff_peak {
	const char *name, *unit;
	struct opk_diff_side before, after;
	double change; /* percent */
};
/* How much was compared, and how certain the findings are. */
struct opk_diff_summary {
	double level; /* of both families: the foremost gets four fifths, unless one is empty */
	/* Times and metrics in rules: a thousand other metrics shall not hide a change in them. */
	struct opk_diff_family foremost, others;
	uint64_t launches_least, launches_most; /* of a value with a spread, on a side */
	size_t verdicts[OPK_VERDICTS];          /* number of values with each verdict */
	/* Kernels with several launch shapes: their samples are not in the row of any one shape. */
	size_t unplaced;
	bool shares; /* samples of code are in percent of all samples, since launches are unknown */
	/* The SM's clock comes first, if both sides know it: times and rates depend on it. */
	const struct opk_diff_peak *peaks;
	size_t peak_count;
};

/* A fact that differs between the sides: "chip", "gpu", "cupti_version", "sm_mhz"... */
struct opk_diff_difference {
	const char *what, *before, *after;
};

/* A rule that was read. */
struct opk_diff_rule {
	const char *text; /* as written */
	const char
		*metric;  /* or label, or derived metric, or "duration_ns"; "": on unmatched rows */
	bool less, equal; /* `<`, not `>`; the limit itself breaks the rule */
	double limit;
	bool relative;            /* the limit is a change in percent */
	const char *const *where; /* conditions of opk_filter_new() for its rows */
	size_t where_count;
	const char *reason; /* the purpose of the rule, or "" */
};
/* A rule and a row that it applies to. */
struct opk_diff_judged {
	const struct opk_diff_rule *rule;
	const struct opk_diff_row *row; /* NULL: it applies to all rows, or to none */
	bool broken;
	const char *row_name; /* opk_diff_row_name(); "" */
	const char *text;     /* the finding: "+7.3%, from 1200 to 1287.6 ns" */
};

/* The results of a comparison, borrowed from it. */
struct opk_diff_found {
	struct opk_diff_column *columns; /* the columns of a row's `values`, in order */
	size_t column_count;
	struct opk_diff_row *rows; /* on both sides */
	size_t row_count;
	struct opk_diff_row *unmatched; /* on one side; the other side has 0 launches */
	size_t unmatched_count;
	struct opk_diff_summary summary;
	struct opk_diff_difference *differences;
	size_t difference_count;
	OPK_LIST(struct opk_diff_judged) judged; /* for each rule, each row that it applies to */
	size_t broken;                           /* how many of them are broken */
};
const struct opk_diff_found *opk_diff_found(const struct opk_diff *diff);
/*
 * All that a row was matched by: "gemm 16x6x1 128x1x1". free() it; NULL: out of memory. Kernels
 * have the names of `names`; NULL: full names.
 */
char *opk_diff_row_name(const struct opk_diff *diff, const struct opk_diff_row *row,
                        struct opk_kernel_names *names);
/*
 * What changed in time, by how much, and how sure that is: a sentence or two. free() it; NULL: out
 * of memory. Kernels have the names of `names`; NULL: full names.
 */
char *opk_diff_headline(const struct opk_diff *diff, struct opk_kernel_names *names);
/* Whether these rules are valid: other options are ignored. */
int opk_diff_check_rules(struct opk_ctx *ctx, const struct opk_diff_options *options);

#endif
