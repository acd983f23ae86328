/* SPDX-License-Identifier: BSD-2-Clause */
/* Reports of Nsight Compute as it prints them in CSV. */
#ifndef OPK_NCU_REPORT_H
#define OPK_NCU_REPORT_H

#include "base/ctx.h"
#include "base/index.h"
#include "base/strlist.h"
#include "container/container.h"

/* ---- records of CSV: csv.c */

struct opk_csv {
	struct opk_ctx *ctx;
	const char *name; /* of the file, for errors */
	char *text;       /* cells are cut out of it */
	size_t size, at;
	size_t line; /* of the byte `at`, from 1 */
};

struct opk_csv_record {
	char **cells; /* in the text, without quotes */
	size_t count, capacity;
	size_t line; /* where it begins */
};

/* Reads the next record; `count` is 0 at the end. OPK_EINPUT: it is malformed. */
int opk_csv_next(struct opk_csv_record *record, struct opk_csv *csv);
/* Whether this text is at `at`. */
bool opk_csv_begins(const struct opk_csv *csv, const char *text);
/* Moves after the line at `at`. */
void opk_csv_skip_line(struct opk_csv *csv);
/* "FILE:LINE: ..."; returns OPK_EINPUT. */
int opk_csv_fail(const struct opk_csv *csv, size_t line, const char *format, ...) OPK_PRINTF(3, 4);

/* ---- numbers as ncu prints them: printed.c */

/* How numbers are written, which depends on the locale in which ncu ran. */
struct opk_printed {
	size_t comma_line; /* a line whose decimal mark can only be a comma; 0: there is none */
	size_t point_line; /* likewise a point */
	size_t open_line;  /* the first with a point that can be either */
};

enum opk_printed_kind {
	OPK_PRINTED_NUMBER,
	OPK_PRINTED_NONE, /* "", "n/a", "nan": there is no value */
	OPK_PRINTED_TEXT, /* not a number */
};

/* Whether a text says that there is no value: "", "n/a", "nan". */
bool opk_printed_is_none(const char *text);
/* Learns from a value what the decimal mark is. */
void opk_printed_learn(struct opk_printed *printed, const char *text, size_t line);
/* The number times this power of ten. Instances after it, "12 (4; 8)", are left out. */
enum opk_printed_kind opk_printed_read(double *out, const struct opk_printed *printed,
                                       const char *text, int power);

/*
 * The unit of offpeak's for one of ncu's, such as "byte/second" for "Gbyte/s", and the power of ten
 * for its values; free(). A unit that is not known stays as it is. NULL when out of memory.
 */
char *opk_printed_unit(int *power, const char *text);

/* ---- ranges of NVTX: nvtx.c */

/*
 * The two columns in the form of struct opk_range, free(): the ranges of a thread that pushed some
 * and did not pop them, and those that are started and not ended. NULL when out of memory.
 */
char *opk_printed_ranges(const char *pushed, const char *started);

/* ---- what ncu itself says between tables: said.c */

struct opk_ncu_line {
	char *text; /* or NULL */
	size_t line;
};
/* The first "==ERROR== ..." and "==WARNING== ...". */
struct opk_ncu_said {
	struct opk_ncu_line error, warning;
};
/* Passes over a line that is not of a table. */
int opk_ncu_skip_line(struct opk_ncu_said *said, struct opk_csv *csv);
/* Fails with OPK_EINPUT: says what the file may be, in which no table begins. */
int opk_ncu_fail_without_table(const struct opk_csv *csv, const struct opk_ncu_said *said);
/* Likewise, with the reason that ncu gives. */
int opk_ncu_fail_empty(const struct opk_csv *csv, const struct opk_ncu_said *said,
                       const char *problem);

/* ---- the report: report.c */

struct opk_ncu_metric {
	const char *name; /* in the text */
	char *unit;       /* offpeak's; NULL: no value has had one */
	int power;        /* of ten, for the values of a column */
	size_t unit_line;
	size_t table; /* the last one, from 1, that has a column of it */
};

/*
 * A value, which is read when all of the report's have shown how numbers are written. There are as
 * many as cells in the file.
 */
struct opk_ncu_value {
	uint32_t launch, metric;
	const char *text;
	uint32_t line;
	int32_t power; /* of ten */
};

struct opk_ncu_report {
	const char *path;
	char *text; /* of the file; cells are in it */
	size_t size;
	struct opk_ncu_line error; /* that ncu itself reports */
	struct opk_range_table launches;
	OPK_LIST(struct opk_ncu_metric) metrics;
	struct opk_index metric_names;
	OPK_LIST(struct opk_ncu_value) values;
	struct opk_printed printed;
	struct opk_strlist labels;    /* names of metrics that are labels for people */
	struct opk_strlist sampled;   /* metrics that were sampled while kernels ran */
	struct opk_strlist processes; /* different names of programs */
	/* By the device's number; NULL where the report does not say it. */
	OPK_LIST(const char *) capabilities;
};

/* OPK_EINPUT: it is not such a report, or has errors, which carry file:line. */
int opk_ncu_report_read(struct opk_ncu_report **out, struct opk_ctx *ctx, const char *path);
void opk_ncu_report_free(struct opk_ncu_report *report);
OPK_DEFINE_AUTO(opk_ncu_report)

/* ---- columns and cells: cells.c */

enum opk_ncu_column {
	OPK_NCU_ID,
	OPK_NCU_PROCESS,
	OPK_NCU_PROCESS_NAME,
	OPK_NCU_HOST,
	OPK_NCU_KERNEL_NAME,
	OPK_NCU_CONTEXT,
	OPK_NCU_STREAM,
	OPK_NCU_BLOCK,
	OPK_NCU_GRID,
	OPK_NCU_DEVICE,
	OPK_NCU_CC,
	OPK_NCU_PUSHED,
	OPK_NCU_STARTED,
	OPK_NCU_METRIC_NAME,
	OPK_NCU_METRIC_UNIT,
	OPK_NCU_METRIC_VALUE,
	OPK_NCU_IGNORED, /* times of day, sections, rules */
	OPK_NCU_COLUMNS,
	OPK_NCU_METRIC = OPK_NCU_COLUMNS, /* any other column is one */
};

enum opk_ncu_column opk_ncu_column_of(const char *title);
/* "(256, 1, 1)" or "256, 1, 1"; false: it is neither. */
bool opk_ncu_read_shape(uint32_t out[3], const char *text);
/* A whole number of at most `most`; false: it is not one. */
bool opk_ncu_read_whole(uint64_t *out, const char *text, uint64_t most);
/*
 * The metric that a title names, "gpu__time_duration.sum" or "Duration (gpu__time_duration.sum)",
 * of which the bracket is cut; NULL: no recording can have a metric of this name.
 */
const char *opk_ncu_metric_in(char *title);
/* Whether the metric was sampled: "pmsampling:dram__read_throughput.avg". */
bool opk_ncu_is_sampled(const char *title);

#endif
