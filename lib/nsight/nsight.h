/* SPDX-License-Identifier: BSD-2-Clause */
/* Imports Nsight Compute's section files and lists of names as metric sets. */
#ifndef OPK_NSIGHT_H
#define OPK_NSIGHT_H

#include "base/buf.h"
#include "base/ctx.h"
#include "base/index.h"
#include "base/source.h"
#include "base/strlist.h"
#include "chip/chip.h"
#include "offpeak.h"

/* Converts Nsight Compute's expressions of derived metrics to formulas of metric sets. */

/* A definition of the section, and the result of its conversion. */
struct opk_definition {
	const char *name, *expression; /* borrowed */
	opk_chip_mask chips;
	char *short_name, *formula;  /* NULL: there is none */
	char *problem;               /* the reason why there is no formula */
	bool busy;                   /* being resolved: a definition that needs it now is a cycle */
	struct opk_definition *same; /* the next of this name, for other chips; NULL: none */
};

struct opk_definitions {
	struct opk_definition *items;
	size_t count, capacity;
	struct opk_index names, short_names; /* name -> its first definition, once resolved */
};

int opk_definitions_add(struct opk_definitions *all, struct opk_ctx *ctx, const char *name,
                        const char *expression, opk_chip_mask chips);
/*
 * Finds short names and formulas. A formula may have numbers, + - * /, parentheses, simplify(),
 * hardware metrics, and definitions that have a formula themselves.
 */
int opk_definitions_resolve(struct opk_definitions *all, struct opk_ctx *ctx);
/* The first definition of that name; NULL: none. */
struct opk_definition *opk_definitions_find(const struct opk_definitions *all, const char *name);
void opk_definitions_clear(struct opk_definitions *all);

/* What a metric name means to Nsight Compute. */

struct opk_asked {
	const char *name;   /* inside the text, after its prefix */
	const char *reason; /* why hardware does not count it; NULL: it does */
	enum opk_profiler profiler;
	bool device;    /* counts the whole device, and is collected apart from other metrics */
	bool breakdown; /* "breakdown:": the constituents of this throughput */
	bool pattern;   /* "regex:": the name is a regular expression */
	bool group;     /* "group:": a list that Nsight Compute defines */
};

struct opk_asked opk_asked_name(const char *text);
/* Whether a full name has a rollup or submetric: "dram__bytes.sum", not "dram__bytes". */
bool opk_asked_has_rollup(const char *name);

/* Metric sets in the making, with comments, conditions and a list of what was left out. */

struct opk_draft_metric {
	char *name;    /* a full name, /a regular expression/, or a formula's name in this set */
	char *label;   /* the metric's short name if it is a valid one; or NULL */
	char *comment; /* for the line above, or NULL */
	opk_chip_mask chips;
	bool optional;
};

/* A heading above adjacent metrics. */
struct opk_draft_heading {
	char *title, *text; /* may be "" */
	size_t first, count;
};

struct opk_draft_formula {
	char *name, *formula;
};

/* Metrics that are not in the set for the same reason. */
struct opk_draft_reason {
	char *reason;
	struct opk_strlist names;
	struct opk_index known; /* for the names */
};

struct opk_draft {
	char *name, *description;    /* may be "" */
	struct opk_strlist comments; /* the first lines of the file */
	struct opk_strlist notes;    /* further lines after these */
	enum opk_profiler profiler;
	struct opk_strlist includes; /* names of shipped sets */
	struct opk_strlist chips;    /* claimed by the set; empty: all chips */
	opk_chip_mask claimed;       /* a metric for all of these needs no condition */
	OPK_LIST(struct opk_draft_metric) metrics;
	struct opk_index names; /* name -> metric */
	OPK_LIST(struct opk_draft_heading) headings;
	OPK_LIST(struct opk_draft_formula) formulas;
	struct opk_draft_reasons {
		struct opk_draft_reason *items;
		size_t count, capacity;
	} reasons;
	bool failed; /* out of memory at some point: the contents are invalid */
};

/* Copies the texts. */
void opk_draft_init(struct opk_draft *draft, const char *name, const char *description,
                    enum opk_profiler profiler);
/* Adds a line of comment at the beginning, and takes it over; NULL: memory is out. */
void opk_draft_comment(struct opk_draft *draft, char *text);
/* The metric of that name, anywhere in the set; NULL: none. */
struct opk_draft_metric *opk_draft_find(const struct opk_draft *draft, const char *name);
/* Adds a new metric below the last heading. */
void opk_draft_add(struct opk_draft *draft, const struct opk_draft_metric *metric);
void opk_draft_add_formula(struct opk_draft *draft, const char *name, const char *formula);
/* Adds a line after those comments, once, and takes it over; NULL: memory is out. */
void opk_draft_note(struct opk_draft *draft, char *text);
/* Includes a shipped set, once. */
void opk_draft_include(struct opk_draft *draft, const char *set);
bool opk_draft_is_empty(const struct opk_draft *draft);
/* Adds a left-out name, once for each reason. */
void opk_draft_leave_out(struct opk_draft *draft, const char *reason, const char *name);
size_t opk_draft_left_out_count(const struct opk_draft *draft);
void opk_draft_clear(struct opk_draft *draft);

/* The set as YAML (docs/metric-sets.md), free(); NULL: out of memory. */
char *opk_draft_write(const struct opk_draft *draft);

/* ---- the sets made from one file */

/*
 * CUPTI refuses metrics of the whole device beside others. A set for PM sampling has one pass: a
 * chip's second pass goes into the second set, and so on.
 */
enum {
	OPK_DRAFT_RANGE,
	OPK_DRAFT_DEVICE,
	OPK_DRAFT_PM,
	OPK_DRAFT_PASSES = 16,
	OPK_DRAFTS = OPK_DRAFT_PM + OPK_DRAFT_PASSES,
};

/* A chip whose throughputs are divided; by the evaluator, once it was needed. */
struct opk_divided {
	char *chip;
	struct opk_nv_evaluator *evaluator;
};

struct opk_drafts {
	struct opk_ctx *ctx;
	const char *path;   /* of the file, for errors */
	const char *source; /* the file's name without folders */
	char *name, *description, *title;
	bool optional; /* metrics that a chip lacks are left out there */
	struct opk_draft drafts[OPK_DRAFTS];
	struct opk_draft left; /* contains only what was left out of any set */
	size_t asked;          /* number of metrics so far, with repetitions */
	size_t patterns;       /* how many of them are patterns */
	opk_chip_mask chips;   /* that the sets are for */
	/* The chips whose throughputs are divided. */
	OPK_LIST(struct opk_divided) divided;
	bool undivided; /* parts of a throughput were left out, since there are no such chips */
	double seconds; /* left for checking expressions */
	int code;       /* of the first failure: after it nothing is added */
};

/*
 * Counts one more metric; false if there are too many. One of a message with many fields, which
 * takes time, counts several times.
 */
bool opk_drafts_count(struct opk_drafts *drafts, size_t fields);
/*
 * Adds a metric below the heading with that title: the last one, or a new one, since metrics stay
 * in order. If the metric is already there, it now also applies to these chips.
 */
void opk_drafts_put(struct opk_drafts *drafts, size_t which, const char *title, const char *text,
                    const struct opk_draft_metric *metric);
/* Leaves out "name (label)" for a reason; the label may be NULL. */
void opk_drafts_leave_out(struct opk_drafts *drafts, const char *reason, const char *name,
                          const char *label);
/*
 * The set's text for a name that is `text` in the file at that place, free(): the name, an
 * expression, or for a base metric an expression for its first submetrics. NULL: a failure, or no
 * set can contain the name.
 */
char *opk_drafts_name(struct opk_drafts *drafts, const struct opk_asked *asked, const char *text,
                      const struct opk_place *place);
/*
 * If the name asks for a throughput's parts, adds them below the heading, on each chip of the
 * options those that it has there; without such chips leaves them out.
 */
void opk_drafts_put_parts(struct opk_drafts *drafts, const struct opk_asked *asked,
                          const char *text, const char *title);
void opk_divided_clear(struct opk_drafts *drafts);
/*
 * Adds a metric that a list or a command line names. `label` is the text of its comment, `comment`
 * comes on a line above it; both may be NULL. False: it was left out, or a failure.
 */
bool opk_drafts_put_name(struct opk_drafts *drafts, const char *text, const struct opk_place *place,
                         const char *label, const char *comment);

/* Reads a section file of Nsight Compute. */

/* Adds the section's metrics and formulas to the drafts; a failure sets the drafts' code. */
void opk_section_import(struct opk_drafts *drafts, struct opk_source *source);

/* Parses section files, in protobuf's text format, into a tree with places. */

enum opk_field_kind {
	OPK_FIELD_MESSAGE,
	OPK_FIELD_STRING,
	OPK_FIELD_WORD, /* a number, or the name of an enum's value */
};

struct opk_field {
	char *name; /* "" for the whole file */
	enum opk_field_kind kind;
	char *text;               /* a string, without quotes and escapes, or a word; else NULL */
	struct opk_place place;   /* where the value begins; for a message, where its name begins */
	struct opk_field *fields; /* of a message, in order; a list is several fields of one name */
	size_t count;
	size_t capacity;
};

/*
 * OPK_EINPUT: errors carry their place. Without a schema, it accepts every well-formed field. It
 * refuses more than 32 levels, more than 200,000 fields, and text that is not UTF-8.
 */
int opk_section_parse(struct opk_field **out, struct opk_ctx *ctx, struct opk_source *source);
void opk_section_free(struct opk_field *root);

/* The last field of that name and kind, which overrides the others in protobuf; or NULL. */
const struct opk_field *opk_field_find(const struct opk_field *message, const char *name,
                                       enum opk_field_kind kind);
/* The text of a string field; or NULL. */
const char *opk_field_string(const struct opk_field *message, const char *name);

/*
 * Writes YAML as a person would. libyaml's emitter can't write comments, hence this file; what it
 * writes is read back as the same text.
 */

/* Text, with quotes if needed; bytes that are not UTF-8 become U+FFFD. */
void opk_yaml_put_text(struct opk_buf *out, const char *text);
/* "[a, b]" */
void opk_yaml_put_list(struct opk_buf *out, const struct opk_strlist *items);
/* "key: text" and a line break; folds long prose. */
void opk_yaml_put_prose(struct opk_buf *out, size_t indent, const char *key, const char *text);
/* "# text", without a line break; a character that could end the comment becomes a blank. */
void opk_yaml_put_comment(struct opk_buf *out, const char *text);
void opk_yaml_put_indent(struct opk_buf *out, size_t indent);

#endif
