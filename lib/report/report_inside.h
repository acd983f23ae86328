/* SPDX-License-Identifier: BSD-2-Clause */
/* A page while it is written, and its parts: what the files of this folder share. */
#ifndef OPK_REPORT_INSIDE_H
#define OPK_REPORT_INSIDE_H

#include <string.h>

#include "base/buf.h"
#include "base/ctx.h"
#include "base/index.h"
#include "base/json_write.h"
#include "container/door.h"
#include "images/door.h"
#include "summary/door.h"

/* The values of a metric in a kernel's launches, in their order; or their least and greatest. */
struct report_spread {
	size_t each;   /* 1: values; more: pairs of the least and greatest of so many launches */
	size_t count;  /* of values */
	float *values; /* NULL: there are none */
	/* What came from each lane; NULL: there is one lane alone, or too much. */
	struct report_sum *lanes;
};

/* The values of one lane. */
struct report_sum {
	double sum;
	uint64_t count;
};

/* A rank of a job, or a GPU where ranks are not known: columns of a heat map. */
struct report_lanes {
	size_t count;     /* less than 2: there is nothing to compare */
	char **names;     /* "rank 3" */
	uint32_t *of_row; /* one a row of the evaluation */
	size_t row_count;
	size_t kept; /* sums of lanes, of all values */
};

/* A recording. Its kernels are those of report_kernels(), in this order on the whole page. */
struct report_run {
	size_t number;
	const char *path;
	struct opk_file *file;
	const struct opk_meta *meta;
	struct opk_summary *summary;
	struct opk_index kernels; /* by whole names, where recordings are compared */
	/* What is kept of values: rows are key groups, by `number`, columns the evaluation's. */
	struct report_spread *spreads;
	size_t spread_columns, spread_count;
	struct report_lanes lanes;
	bool failed; /* memory was out while they came */
};

struct report_page {
	struct opk_ctx *ctx;
	struct opk_buf html; /* of the articles; assembled with the rest by report_assemble() */
	struct opk_buf contents;
	struct opk_json_writer json; /* of the data block that is open, into `block` */
	struct opk_buf block;
	struct report_run *runs;
	size_t run_count;
	enum opk_kernel_style style;
	size_t long_names;   /* bytes of names that are whole although they are long */
	char *not_compared;  /* why two recordings are not; NULL: they are, or there are not two */
	bool needs_dygraphs; /* some part draws with it */
};

/* A section of a run: it is written if the recording has what it is about. */
struct report_part {
	const char *id, *title;
	int (*write)(struct report_page *page, const struct report_run *run,
	             const struct report_part *part);
};

/* ---- markup: report_page.c */

/* Text as markup that shows it, whatever it is. */
void report_text(struct opk_buf *html, const char *text);
/* The article of a recording, or of a comparison of them; and its end. */
void report_begin_run(struct report_page *page, const struct report_run *run, const char *name);
void report_end_run(struct report_page *page);
/* A section begins, with what is to be known of it in words of ours; and ends. */
void report_begin(struct report_page *page, const struct report_run *run,
                  const struct report_part *part, const char *title, const char *intro);
void report_end(struct report_page *page);
/* A data block of a run, "data-0-NAME": page->json writes it; nothing in it is ever markup. */
void report_begin_data(struct report_page *page, const struct report_run *run, const char *name);
void report_end_data(struct report_page *page);
/* Bytes as base64, a block of its own. */
void report_bytes(struct report_page *page, const struct report_run *run, const char *name,
                  const void *data, size_t size);
/*
 * "name", no longer than a table needs, and "full", which a click shows, where it is another or
 * longer; NULL: there is none. Where the page has no room for it, it has a gap, and "cut" is true.
 */
void report_put_name(struct report_page *page, const char *name, const char *full);
/* The beginning and end of a long text. */
void report_put_short(struct report_page *page, const char *key, const char *text);
/* A number with seven digits; null where it is NaN. */
void report_number(struct opk_json_writer *json, double number);
/* The page as a whole, with styles and scripts: `out` is its text. */
int report_assemble(struct opk_buf *out, const struct report_page *page, const char *title);

/* ---- shipped files: report_assets.c */

/* A file of the data folder. */
int report_asset(char **out, struct opk_ctx *ctx, const char *name);
/* All styles, or all scripts of ours, one after the other. */
int report_styles(struct opk_buf *out, struct opk_ctx *ctx, bool dygraphs);
int report_scripts(struct opk_buf *out, struct opk_ctx *ctx);
/* "'sha256-...'", as a Content-Security-Policy names an inline script. */
void report_add_hash(struct opk_buf *out, const struct opk_buf *script);
void report_add_base64(struct opk_buf *out, const uint8_t *data, size_t size);

/* Rows of a table: the first kernels by time. Others can't be chosen. */
enum { REPORT_MOST_ROWS = 5000 };

/* ---- parts, each in a file of its name */

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

/* Whether the run has a roofline; its figure alone. */
bool report_has_roofline(const struct report_run *run);
int report_add_roofline(struct report_page *page, const struct report_run *run);
/* An article of what changed, where the page has two recordings that can be compared. */
int report_write_diff(struct report_page *page, const struct opk_eval_options *eval);
/* "run.opk" of "runs/run.opk". */
const char *report_file_name(const char *path);

/* ---- ranks: report_ranks.c */

/* The lanes of the run's ranges, or of its launches; before its summary is made. */
int report_find_lanes(struct report_run *run, struct opk_ctx *ctx);
void report_clear_lanes(struct report_lanes *lanes);

/* ---- how values are spread: report_spread.c */

/* As `take` of struct opk_summary_values; `data` is a struct report_run. */
void report_take_values(void *data, size_t group, size_t column, const double *values,
                        const size_t *rows, size_t count);
void report_clear_spreads(struct report_run *run);

#endif
