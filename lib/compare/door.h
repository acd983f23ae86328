/* SPDX-License-Identifier: BSD-2-Clause */
/* What the command and other rooms use of this one, beside the public functions. */
#ifndef OPK_COMPARE_DOOR_H
#define OPK_COMPARE_DOOR_H

#include "base/ctx.h"
#include "base/mem.h"
#include "eval/door.h"

/* What is to be said of the two values of a row and column. */
enum opk_verdict {
	OPK_VERDICT_SAME,    /* all launches of both sides have one value */
	OPK_VERDICT_NOISE,   /* launches differ from each other as much */
	OPK_VERDICT_CHANGED, /* by more than noise */
	OPK_VERDICT_TOO_FEW, /* so few launches can't tell */
	OPK_VERDICT_NAN,     /* on either side a launch has no value, though it was measured */
	OPK_VERDICT_MISSING, /* on either side nothing was measured */
	OPK_VERDICT_CLOCK,   /* by more than noise, but the SM's clock can explain all of it */
	OPK_VERDICTS
};
/* "same", "noise", "changed", "too few", "nan", "missing", "clock". */
const char *opk_verdict_name(enum opk_verdict verdict);

/* A value before or after, in the unit of its column. */
struct opk_diff_side {
	uint64_t count; /* values: of launches, or of what launches are together */
	/* The median; of different kernels, or means of several launches, the mean; or NaN. */
	double value;
	double low, high; /* quartiles; NaN for fewer than two */
};

/* A value on both sides. */
struct opk_diff_value {
	struct opk_diff_side before, after;
	/* Percent of what was before; infinite where only that is 0; NaN: not known. */
	double change;
	double p; /* of the test; NaN: it was not made */
	enum opk_verdict verdict;
	bool has_spread; /* on either side */
	/*
	 * Of a time or a rate: the change in percent that the SM's clock alone makes where all else
	 * takes as many cycles as before, and so the most that it can have made. NaN: the clock is
	 * not known, or the value does not depend on it.
	 */
	double clock;
};

/* A kernel, or what else rows are matched by, on both sides or one. */
struct opk_diff_row {
	const char *name;       /* "" where ranges have different ones */
	struct opk_range range; /* what all have in common, on both sides */
	uint64_t before_launches, after_launches;
	/*
	 * What changed in time: that of a launch, times the launches that both sides have at least;
	 * in the unit of the column with is_time. NaN: not known.
	 */
	double time_change;
	bool time_changed;                   /* by more than noise */
	const struct opk_diff_value *values; /* one a column */
};

/* A metric, label, derived metric, or "duration_ns": times of ranges, or launches on a timeline. */
struct opk_diff_column {
	const char *name, *unit;
	const char *heading, *prose; /* of the set's group that it is in; NULL */
	bool shown;   /* false: for rules, the order of rows or a clock alone; or it is a peak */
	bool is_time; /* rows are in order of this one */
};

/* Comparisons that are tested together. */
struct opk_diff_family {
	double level;           /* share of false discoveries */
	size_t compared;        /* values with a spread, which are tested */
	size_t launches_needed; /* on each side, to tell a single change among so many */
};
/*
 * A peak or a clock: what the GPU can do, not what the program did. It is not judged, unless a rule
 * names it, and each is here once: its values are of all launches of a side.
 */
struct opk_diff_peak {
	const char *name, *unit;
	struct opk_diff_side before, after;
	double change; /* percent */
};
/* How much was compared, and how sure what was found is. */
struct opk_diff_summary {
	double level; /* of both families: four fifths are the foremost's, unless one is empty */
	/* Times and what rules name: a thousand other metrics don't hide a change in them. */
	struct opk_diff_family foremost, others;
	uint64_t launches_least, launches_most; /* of a value with a spread, on a side */
	size_t verdicts[OPK_VERDICTS];          /* how many values have each */
	/* Kernels of several launch shapes: what samples say of them is in no row of one shape. */
	size_t unplaced;
	/* The SM's clock first, where it is known on both sides: times and rates depend on it. */
	const struct opk_diff_peak *peaks;
	size_t peak_count;
};

/* A fact that is another one on the other side: "chip", "gpu", "cupti_version", "sm_mhz"... */
struct opk_diff_difference {
	const char *what, *before, *after;
};

/* A rule as it was read. */
struct opk_diff_rule {
	const char *text; /* as it was written */
	const char
		*metric;  /* or label, or derived metric, or "duration_ns"; "": on unmatched rows */
	bool less, equal; /* < rather than >; and the limit itself breaks it */
	double limit;
	bool relative;            /* the limit is a change in percent */
	const char *const *where; /* conditions of opk_filter_new() on the facts of its rows */
	size_t where_count;
	const char *reason; /* what it is for; "" */
};
/* A rule and a row that it is about. */
struct opk_diff_judged {
	const struct opk_diff_rule *rule;
	const struct opk_diff_row *row; /* NULL: it is about all rows, or has none */
	bool broken;
	const char *row_name; /* opk_diff_row_name(); "" */
	const char *text;     /* what was found: "+7.3%, from 1200 to 1287.6 ns" */
};

/* What a comparison found, borrowed from it. */
struct opk_diff_found {
	struct opk_diff_column *columns; /* that `values` of a row are of, in their order */
	size_t column_count;
	struct opk_diff_row *rows; /* of both sides */
	size_t row_count;
	struct opk_diff_row *unmatched; /* of one side alone: the other one's launches are 0 */
	size_t unmatched_count;
	struct opk_diff_summary summary;
	struct opk_diff_difference *differences;
	size_t difference_count;
	OPK_LIST(struct opk_diff_judged) judged; /* rule by rule each row that it is about */
	size_t broken;                           /* so many of them are */
};
const struct opk_diff_found *opk_diff_found(const struct opk_diff *diff);
/*
 * All that a row was matched by: "gemm 16x6x1 128x1x1". free() it; NULL: out of memory. Kernels are
 * called as `names` has them; NULL: in full.
 */
char *opk_diff_row_name(const struct opk_diff *diff, const struct opk_diff_row *row,
                        struct opk_kernel_names *names);
/* Whether these rules can be read: nothing else of the options is looked at. */
int opk_diff_check_rules(struct opk_ctx *ctx, const struct opk_diff_options *options);

#endif
