/* SPDX-License-Identifier: BSD-2-Clause */
/* Metric sets as they are written in YAML. */
#ifndef OPK_SET_H
#define OPK_SET_H

#include <sys/types.h>

#include "base/ctx.h"
#include "base/index.h"
#include "base/nearest.h"
#include "base/problems.h"
#include "base/source.h"
#include "base/strlist.h"
#include "set/door.h"

/* Metric sets as written; resolve.h says what they mean on a chip. */

struct opk_set_items {
	struct opk_set_item *items;
	size_t count, capacity;
};

enum opk_set_item_kind { OPK_SET_ITEM_METRIC, OPK_SET_ITEM_ANY, OPK_SET_ITEM_HEADING };

/* An entry of a list of metrics. */
struct opk_set_item {
	enum opk_set_item_kind kind;
	struct opk_word what; /* a name, a glob or a /regex/; the first of `any`; a heading */
	struct opk_words any;
	struct opk_word as;
	bool optional;
	bool has_else;
	double otherwise; /* the value in formulas if no metric of the chip has the short name */
	bool wrong;       /* its error was reported: its consequences on a chip are not */
	struct opk_words only, except; /* chips, architectures, profilers */
	struct opk_word prose;         /* of a heading and of its items */
	struct opk_word draw;          /* of a heading: how it is drawn; no text: it is not drawn */
	struct opk_set_items items;
};

struct opk_change {
	struct opk_place place;
	struct opk_words where; /* chips, architectures, profilers */
	struct opk_set_items add;
	struct opk_words remove;
};

struct opk_constant {
	struct opk_word name, unit;
	bool has_default;
	bool wrong;             /* as in struct opk_set_item */
	double value;           /* the default */
	struct opk_words where; /* chips and architectures with another value */
	double *values;         /* one per word of `where` */
	size_t value_capacity;
};

/* A derived metric: it is computed from others. */
struct opk_formula_text {
	struct opk_word name, formula, unit, description;
};

/* What a roofline is drawn from: names of metrics, short names and derived metrics. */
struct opk_set_roof {
	struct opk_word name, bytes, peak; /* no `bytes`: a peak of operations */
	struct opk_word work, throughput;  /* for a peak of operations; for a level; may be empty */
};
struct opk_set_roofline {
	struct opk_word title, time;
	struct opk_words work;
	OPK_LIST(struct opk_set_roof) roofs; /* empty: no roofline */
};

struct opk_parameter {
	struct opk_word name;
	char *value; /* NULL: the value was wrong, which was reported */
};

struct opk_set {
	size_t users; /* sets that include it, and the caller */
	char *name;
	char *description;
	char *path; /* "" if not from a file */
	struct opk_source *source;
	dev_t device; /* of the file; inode 0: no file */
	ino_t inode;
	unsigned version;
	bool has_profiler;
	enum opk_profiler profiler;
	char *single_pass; /* the name of the CUPTI single-pass set that it is; NULL: none */
	bool joined;       /* joined from unrelated sets: it claims every chip */
	/* Only sets read with errors have these: such sets can be checked, but not planned. */
	struct opk_problems errors;
	bool broken; /* something that it includes or defines could not be read */
	bool unfit;  /* too little is certain to check it on a chip */
	double left; /* seconds left for regular expressions on a chip, after loading */
	struct opk_words chips;
	OPK_LIST(struct opk_set *) includes;
	struct opk_set_items items;
	OPK_LIST(struct opk_change) changes;
	OPK_LIST(struct opk_parameter) parameters;
	OPK_LIST(struct opk_constant) constants;
	OPK_LIST(struct opk_formula_text) derived;
	struct opk_set_roofline roofline;
	/* Given values of parameters, of this set or of one that it includes. */
	OPK_LIST(struct opk_parameter) given;
	/* The sets that say for which chips this one is meant: itself, or sets that it includes. */
	OPK_LIST(const struct opk_set *) claiming;
	/* The entries of all lists of metrics as written, each once. */
	struct opk_strlist metrics;
	/* What it and its included sets define, checked; only sets from files and text have it. */
	struct opk_symbols *symbols;
};

/* An empty set of that name. */
struct opk_set *opk_set_create(const char *name, const char *path);
struct opk_set *opk_set_use(struct opk_set *set);

/* Adds a word; false when out of memory. */
bool opk_words_add(struct opk_words *words, const char *text, const struct opk_place *place);
void opk_words_clear(struct opk_words *words);
/* Appends a metric that does not come from a file; false when out of memory. */
bool opk_set_add_name(struct opk_set *set, const char *name);

/*
 * Whether a set may use the text as a name: at most 100 letters, digits and single underscores, a
 * letter first.
 */
bool opk_set_is_name(const char *text);

/* Fills `claiming` and `metrics` from its contents and includes; false: out of memory. */
bool opk_set_complete(struct opk_set *set);

/* Whether the set is made for the chip: it names the chip, its architecture, or no chip at all. */
bool opk_set_claims(const struct opk_set *set, const char *chip);
/* A chip or architecture that the set names; NULL: none. */
const char *opk_set_example(const struct opk_set *set);
/* The shipped set for PM sampling that corresponds to this one: "pm-NAME", free(); NULL: none. */
char *opk_set_sampled(struct opk_ctx *ctx, const char *name);

OPK_DEFINE_AUTO(opk_set)

/* Regular expressions from other people's files: compiling or matching them may never end. */

/*
 * The limits for all expressions of a set on a chip together: processor time, and memory for each.
 * An ordinary expression takes 0.2 s and 2 MB over all names of GH100.
 */
enum { OPK_EXPRESSION_SECONDS = 5, OPK_EXPRESSION_MEGABYTES = 256 };

/* Names to match, one by one. */
struct opk_names {
	const char *(*next)(void *data); /* NULL: there are no more names */
	void *data;
	double *seconds; /* left for expressions; starts at OPK_EXPRESSION_SECONDS */
};

/*
 * The names that the POSIX extended expression matches as a whole: their numbers from 0, ascending;
 * free(). A child process finds them (child/child.h), because glibc has no limits for compiling and
 * matching, and its processor time is taken from the seconds; an expression that is little more
 * than a choice of names needs no child. OPK_EUSAGE: what is wrong with the expression; OPK_EINPUT:
 * no time or memory is left.
 */
int opk_expression_match(size_t **out, size_t *count, struct opk_ctx *ctx, const char *expression,
                         const struct opk_names *names);

/* Whether the expression is valid: as above without names; no child if compiling is quick. */
int opk_expression_check(struct opk_ctx *ctx, const char *expression, double *seconds);

/* What a set names metrics with: a name, a glob, or a regular expression between slashes. */

/* A set's limit, since each pattern is tried on every name of a chip. */
enum { OPK_MAX_PATTERNS = 500 };

enum opk_pattern_kind { OPK_PATTERN_NAME, OPK_PATTERN_GLOB, OPK_PATTERN_REGEX };

/* Whether the expression has a '|' outside parentheses. */
bool opk_regex_is_choice(const char *regex);
enum opk_pattern_kind opk_pattern_kind(const char *text);

struct opk_pattern {
	enum opk_pattern_kind kind;
	const char *text; /* borrowed */
	/* The length of the text with which each match begins; for a /regex/, after the slash. */
	size_t literal;
};

/* False, and a problem, if the text at that place is malformed. */
bool opk_pattern_init(struct opk_pattern *out, struct opk_problems *problems, const char *text,
                      const struct opk_place *place);

/* Numbers of the selected names, from 0, ascending. */
struct opk_selection {
	size_t *numbers;
	size_t count;
};

/*
 * Selects the names that match as a whole. On failure a problem is reported: OPK_EUSAGE, this is
 * not a valid expression; OPK_EINPUT, no time or memory is left for expressions.
 */
int opk_pattern_select(struct opk_selection *out, struct opk_ctx *ctx,
                       struct opk_problems *problems, const struct opk_pattern *pattern,
                       const struct opk_place *place, const struct opk_names *names);
void opk_selection_clear(struct opk_selection *selection);
#define opk_autoselection __attribute__((cleanup(opk_selection_clear)))
/* As opk_pattern_select(), without names: whether the pattern can match at all. */
int opk_pattern_check(struct opk_ctx *ctx, struct opk_problems *problems,
                      const struct opk_pattern *pattern, const struct opk_place *place,
                      double *seconds);
/* Whether a name with this beginning may match. */
bool opk_pattern_may_match(const struct opk_pattern *pattern, const char *beginning);

/* The names that a set and its included sets define, and the formulas over them. */

struct opk_formula;

/* A derived metric, perhaps the meaning of one of nvprof's names. */
struct opk_derived_symbol {
	struct opk_word name; /* borrowed, like `unit` and `description` */
	struct opk_word
		written; /* the formula in the set's file; no text: from data/legacy_names.tsv */
	char *formula;   /* with parameters replaced by values */
	struct opk_formula *parsed; /* NULL: not a formula */
	struct opk_word unit, description;
	char *legacy;          /* the name of nvprof, maybe the derived metric's own; else NULL */
	char *legacy_formulas; /* the chip decides which of these is the formula */
	char *legacy_unit;     /* if `unit` is from the table */
};

struct opk_symbols {
	struct opk_ctx *ctx;
	struct opk_problems *problems; /* errors are reported here */
	bool borrowed; /* from the set; only the formulas of nvprof's names are owned */
	/* Each set once, after the sets that it includes. */
	OPK_LIST(const struct opk_set *) sets;
	bool broken; /* a set could not be read whole: it may define an unknown name */
	bool unfit;  /* as in struct opk_set */
	struct opk_index parameters; /* name -> `values` */
	OPK_LIST(const char *) values;
	struct opk_index constants; /* name -> `constant` */
	OPK_LIST(const struct opk_constant *) constant;
	struct opk_index labels;                     /* short names of metrics, -> `label` */
	OPK_LIST(const struct opk_set_item *) label; /* of several entries, one with `else` */
	struct opk_index names;                      /* of derived metrics, -> `derived` */
	OPK_LIST(struct opk_derived_symbol) derived;
	size_t *order; /* each derived metric after those that it uses */
	size_t ordered;
};

/*
 * Reports what is wrong with the definitions, entries and changes, as far as that can be judged
 * without a chip; it is incomplete only when out of memory. Compiles regular expressions in the
 * time that is left, and takes their time from it; NULL: it does not compile them, and matching
 * finds what is wrong with them.
 */
void opk_symbols_init(struct opk_symbols *symbols, struct opk_ctx *ctx,
                      struct opk_problems *problems, const struct opk_set *set, double *seconds);
/* Takes the set's kept symbols; makes them for another set, or for other parameter values. */
void opk_symbols_of(struct opk_symbols *symbols, struct opk_ctx *ctx, struct opk_problems *problems,
                    const struct opk_set *set);
void opk_symbols_clear(struct opk_symbols *symbols);
#define opk_autosymbols __attribute__((cleanup(opk_symbols_clear)))

/* symbol_formulas.c: parses all formulas, checks their names and orders them. */
void opk_symbols_check_formulas(struct opk_symbols *symbols);
/* Fills `parsed` from `formula`, or reports an error. */
void opk_symbols_parse(const struct opk_symbols *symbols, struct opk_derived_symbol *derived);
/* The place in the set's file from which a byte of the formula came. */
struct opk_place opk_symbols_place(const struct opk_symbols *symbols,
                                   const struct opk_derived_symbol *derived, size_t offset);

/* Tries all names of an index. */
void opk_symbols_try_all(struct opk_nearest *nearest, const struct opk_index *index);
/* The text with ${name} replaced by parameters' values; free(). NULL: a problem is reported. */
char *opk_symbols_substitute(const struct opk_symbols *symbols, const struct opk_word *word);
/* set_check.c: checks entries and changes. False if there is too much to try on a chip. */
bool opk_symbols_check(const struct opk_symbols *symbols, double *seconds);

/* set_roofline.c: checks that all names in rooflines are defined, or listed. */
void opk_set_check_rooflines(const struct opk_symbols *symbols);
void opk_set_roofline_clear(struct opk_set_roofline *roofline);

/* Words that say where something holds: chips, architectures and profilers, in any case. */

/* Asks NVIDIA's libraries about words that this library does not know: they may be newer chips. */
bool opk_where_known(struct opk_ctx *ctx, struct opk_problems *problems, const char *word,
                     bool profilers);
/* The most similar known word, for a misspelt one; NULL: none is near. */
const char *opk_where_nearest(const char *word, bool profilers);

/* The first of the first `count` words that equals this one, in any case; NULL: none. */
const struct opk_word *opk_where_find(const struct opk_words *words, size_t count,
                                      const char *word);

/* Whether the word is the chip's name, its architecture or the profiler. */
bool opk_where_matches(const char *word, const char *chip, enum opk_profiler profiler);
/* Whether opk_where_matches() holds for any of the words. */
bool opk_where_any(const struct opk_words *words, const char *chip, enum opk_profiler profiler);

#endif
