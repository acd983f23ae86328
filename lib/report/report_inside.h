/* SPDX-License-Identifier: BSD-2-Clause */
/* A page in the making, and its parts: what the files of this folder share. */
#ifndef OPK_REPORT_INSIDE_H
#define OPK_REPORT_INSIDE_H

#include <string.h>

#include "base/ascii.h"
#include "base/buf.h"
#include "base/ctx.h"
#include "base/index.h"
#include "base/json_write.h"
#include "base/strlist.h"
#include "code/door.h"
#include "container/door.h"
#include "images/door.h"
#include "picture/door.h"
#include "summary/door.h"

struct opk_answers;

/* A metric's values in a kernel's launches, in order; or their least and greatest values. */
struct report_spread {
	size_t each;   /* 1: values; more: pairs of the least and greatest of so many launches */
	size_t count;  /* number of values */
	float *values; /* NULL: none */
	/* The values of each lane; NULL: there is only one lane, or too much data. */
	struct report_sum *lanes;
};

/* The sum of one lane's values. */
struct report_sum {
	double sum;
	uint64_t count;
};

/* Ranks of a job, or GPUs if ranks are unknown: columns of a heat map. */
struct report_lanes {
	size_t count;     /* less than 2: nothing to compare */
	char **names;     /* "rank 3" */
	bool by_rank;     /* they are ranks, not GPUs */
	uint32_t *of_row; /* one per row of the evaluation */
	size_t row_count;
	size_t kept; /* number of lane sums kept, over all values */
};

/* A recording. Its kernels are those of report_kernels(), in the same order everywhere. */
struct report_run {
	size_t number;
	const char *path;
	struct opk_file *file;
	const struct opk_meta *meta;
	struct opk_summary *summary;
	struct opk_roofline *roofline; /* NULL: none is defined */
	struct opk_answers *answers;   /* NULL: the recording lacks what they need */
	struct opk_hot *hot;           /* instructions in order; NULL: none is counted */
	struct opk_index kernels;      /* by full name, if recordings are compared */
	/* Kept values: rows are key groups, by `number`, columns are the evaluation's. */
	struct report_spread *spreads;
	size_t spread_columns, spread_count;
	struct report_lanes lanes;
	bool failed; /* memory ran out while values arrived */
};

struct report_page {
	struct opk_ctx *ctx;
	struct opk_buf html; /* of the articles; report_assemble() adds the rest */
	struct opk_buf contents;
	struct opk_json_writer json; /* of the open data block, writes into `block` */
	struct opk_buf block;
	struct opk_file **files;
	size_t file_count;
	struct opk_runs recordings; /* made of these files */
	struct report_run *runs;
	size_t run_count;
	enum opk_kernel_style style;
	struct opk_sources *sources; /* NULL: the page does not embed source text */
	struct opk_strlist units;    /* those of its data */
	size_t long_names;           /* bytes of long names that are on the page in full */
	char *not_compared;          /* why two recordings are not compared, or NULL */
	bool needs_dygraphs;         /* a part draws with it */
};

/* A section of a run, written if the recording has data for it. */
struct report_part {
	const char *id, *title;
	int (*write)(struct report_page *page, const struct report_run *run,
	             const struct report_part *part);
};

/* ---- markup: report_page.c */

/* Any text, escaped as markup. */
void report_text(struct opk_buf *html, const char *text);
/* Begins the article of a recording, or of a comparison; and ends it. */
void report_begin_run(struct report_page *page, const struct report_run *run, const char *name);
void report_end_run(struct report_page *page);
/* Begins a section, with an introduction in fixed words; and ends it. */
void report_begin(struct report_page *page, const struct report_run *run,
                  const struct report_part *part, const char *title, const char *intro);
void report_end(struct report_page *page);
/* Begins a data block of a run, "data-0-NAME", for page->json; its content is never markup. */
void report_begin_data(struct report_page *page, const struct report_run *run, const char *name);
void report_end_data(struct report_page *page);
/* Writes bytes as base64 into a separate block. */
void report_bytes(struct report_page *page, const struct report_run *run, const char *name,
                  const void *data, size_t size);
/*
 * Writes "name", shortened for a table, and "full", which a click shows, if it differs from the
 * name; NULL: none. If the page has no room for it, "full" is shortened, too, and "cut" is true.
 */
void report_put_name(struct report_page *page, const char *name, const char *full);
/* Writes the beginning and end of a long text. */
void report_put_short(struct report_page *page, const char *key, const char *text);
/* Writes what the page calls a column, if that is not its name. */
void report_put_words(struct report_page *page, const struct opk_summary_column *column);
/* Writes the three numbers of a grid or a block; "varies" if they are 0. */
void report_put_shape(struct opk_json_writer *json, const char *key, const uint32_t shape[3]);
/* Writes a number with seven digits; null for NaN. */
void report_number(struct opk_json_writer *json, double number);
/* The unit, of which the page's scripts get the names and sizes of its multiples. */
const char *report_unit(struct report_page *page, const char *unit);
/* Writes what report_unit() has collected: call it after all parts. */
void report_put_units(struct report_page *page);
/* Assembles the whole page, with styles and scripts, into `out`. */
int report_assemble(struct opk_buf *out, const struct report_page *page, const char *title);

/* ---- shipped files: report_assets.c */

/* Reads a file of the data folder. */
int report_asset(char **out, struct opk_ctx *ctx, const char *name);
/* All styles, or all of the page's scripts, joined. */
int report_styles(struct opk_buf *out, struct opk_ctx *ctx, bool dygraphs);
int report_scripts(struct opk_buf *out, struct opk_ctx *ctx);
/* Adds "'sha256-...'", as a Content-Security-Policy names an inline script. */
void report_add_hash(struct opk_buf *out, const struct opk_buf *script);
void report_add_base64(struct opk_buf *out, const uint8_t *data, size_t size);

/* Rows of a table: the first kernels by time. Only these can be chosen. */
enum { REPORT_MOST_ROWS = 5000 };
/* Kernels about which the page says more: the first by time. */
enum { REPORT_MOST_ANSWERS = 300 };

/* ---- parts, each in a file with its name */

int report_write_answers(struct report_page *page, const struct report_run *run,
                         const struct report_part *part);
int report_write_memory(struct report_page *page, const struct report_run *run,
                        const struct report_part *part);
int report_write_about(struct report_page *page, const struct report_run *run,
                       const struct report_part *part);
int report_write_kernels(struct report_page *page, const struct report_run *run,
                         const struct report_part *part);
int report_write_timeline(struct report_page *page, const struct report_run *run,
                          const struct report_part *part);
int report_write_devices(struct report_page *page, const struct report_run *run,
                         const struct report_part *part);
int report_write_roofline(struct report_page *page, const struct report_run *run,
                          const struct report_part *part);
int report_write_stacks(struct report_page *page, const struct report_run *run,
                        const struct report_part *part);
int report_write_ranks(struct report_page *page, const struct report_run *run,
                       const struct report_part *part);
int report_write_source(struct report_page *page, const struct report_run *run,
                        const struct report_part *part);

/* Writes the figure of the run's roofline alone. */
int report_add_roofline(struct report_page *page, const struct report_run *run);
/* Writes an article about the changes, if the page has two comparable recordings. */
int report_write_diff(struct report_page *page, const struct opk_eval_options *eval);

/* ---- answers: report_answers.c */

/* Finds what limits the run's kernels: call these before and after the summary is made. */
int report_begin_answers(struct report_run *run, struct opk_ctx *ctx);
/* `some`: the summary has not all kernels. */
int report_end_answers(struct report_run *run, struct opk_ctx *ctx, bool some);
void report_clear_answers(struct report_run *run);
/* Whether it is of ranges with values. */
bool report_has_counters(const struct report_run *run);
/* The kernel's whole name, or the range's. */
const char *report_full_name(const struct opk_summary_group *group);
/* The numbers of rows of the page's table, by whole names. */
int report_index_rows(struct opk_index *rows, struct report_page *page,
                      const struct report_run *run);
/* Writes "kernel", the number of the row that has this name, if there is one. */
void report_put_row(struct report_page *page, const struct opk_index *rows, const char *name);

/* ---- ranks: report_ranks.c */

/* Finds the lanes of the run's ranges, or launches; call it before the summary is made. */
int report_find_lanes(struct report_run *run, struct opk_ctx *ctx);
void report_clear_lanes(struct report_lanes *lanes);

/* ---- the spread of values: report_spread.c */

/* The `take` of struct opk_summary_values; `data` is a struct report_run. */
void report_take_values(void *data, size_t group, size_t column, const double *values,
                        const size_t *rows, size_t count);
/* The `begin`. */
void report_begin_values(void *data, size_t time_column);
void report_clear_spreads(struct report_run *run);

#endif
