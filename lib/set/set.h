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

/* Metric sets as they are written; what they mean on a chip is resolve.h's. */

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
	double otherwise; /* for formulas, where no metric of the chip has the short name */
	bool wrong;       /* its error was reported: what it leads to on a chip is not */
	struct opk_words only, except; /* chips, architectures, profilers */
	struct opk_word prose;         /* of a heading, as its items */
	struct opk_word draw;          /* of a heading: how it is drawn; no text: not at all */
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
	bool wrong;             /* as of an entry */
	double value;           /* the default */
	struct opk_words where; /* chips and architectures that have another one */
	double *values;         /* one for each of them */
	size_t value_capacity;
};

/* A metric that is computed from others. */
struct opk_formula_text {
	struct opk_word name, formula, unit, description;
};

/* What a roofline is drawn of, by names of metrics, short names and derived metrics. */
struct opk_set_roof {
	struct opk_word name, bytes, peak; /* no `bytes`: the peak is one of operations */
	struct opk_word work, throughput;  /* of a peak of operations; of a level; or none */
};
struct opk_set_roofline {
	struct opk_word title, time;
	struct opk_words work;
	OPK_LIST(struct opk_set_roof) roofs; /* none: the set has no roofline */
};

struct opk_parameter {
	struct opk_word name;
	char *value; /* NULL: there is no proper one, which was reported */
};

struct opk_set {
	size_t users; /* sets that include it, and the caller */
	char *name;
	char *description;
	char *path; /* "" unless from a file */
	struct opk_source *source;
	dev_t device; /* of the file; inode 0: of none */
	ino_t inode;
	unsigned version;
	bool has_profiler;
	enum opk_profiler profiler;
	char *single_pass; /* CUPTI's single-pass set that it is; NULL: none */
	bool joined; /* of sets that have nothing to do with each other: it claims every chip */
	/* Only sets that were read with errors have these: they can be checked, but not planned. */
	struct opk_problems errors;
	bool broken; /* what it includes, or defines, could not all be read */
	bool unfit;  /* so little is sure that nothing can be said of it on a chip */
	double left; /* seconds that regular expressions may take on a chip, after loading */
	struct opk_words chips;
	OPK_LIST(struct opk_set *) includes;
	struct opk_set_items items;
	OPK_LIST(struct opk_change) changes;
	OPK_LIST(struct opk_parameter) parameters;
	OPK_LIST(struct opk_constant) constants;
	OPK_LIST(struct opk_formula_text) derived;
	struct opk_set_roofline roofline;
	/* Values that parameters were given, of this set or of one that it includes. */
	OPK_LIST(struct opk_parameter) given;
	/* The sets that name the chips it claims: this one, or of those that it includes. */
	OPK_LIST(const struct opk_set *) claiming;
	/* The entries of all lists of metrics as they are written, each once. */
	struct opk_strlist metrics;
	/* What it and those that it includes define; sets of files and text have it, checked. */
	struct opk_symbols *symbols;
};

/* An empty set of that name. */
struct opk_set *opk_set_create(const char *name, const char *path);
struct opk_set *opk_set_use(struct opk_set *set);

/* One more; false when out of memory. */
bool opk_words_add(struct opk_words *words, const char *text, const struct opk_place *place);
void opk_words_clear(struct opk_words *words);
/* Appends a metric that does not come from a file; false when out of memory. */
bool opk_set_add_name(struct opk_set *set, const char *name);

/*
 * Whether a set may call something so: letters, digits and single underscores, a letter first, at
 * most 100.
 */
bool opk_set_is_name(const char *text);

/* Fills `claiming` and `metrics` from what it has and includes; false: no memory. */
bool opk_set_complete(struct opk_set *set);

/* Whether the set is made for the chip: it names it or its architecture, or none at all. */
bool opk_set_claims(const struct opk_set *set, const char *chip);
/* A chip or architecture that it names; NULL where it names none. */
const char *opk_set_example(const struct opk_set *set);
/* The shipped set that does for PM sampling what this one does: "pm-NAME", free(); NULL: none. */
char *opk_set_sampled(struct opk_ctx *ctx, const char *name);

OPK_DEFINE_AUTO(opk_set)

/* Regular expressions from other people's files: compiling or matching them may take for ever. */

/*
 * What all expressions of a set may take together on a chip, on a processor, and each in memory.
 * One that is nothing special takes 0.2 s and 2 MB over all names of GH100.
 */
enum { OPK_EXPRESSION_SECONDS = 5, OPK_EXPRESSION_MEGABYTES = 256 };

/* Names to match, one by one. */
struct opk_names {
	const char *(*next)(void *data); /* NULL: that was the last */
	void *data;
	double *seconds; /* that expressions may still take; from OPK_EXPRESSION_SECONDS down */
};

/*
 * The names that the POSIX extended expression matches as a whole: their numbers from 0 on,
 * ascending; free(). A child process finds them (child/child.h), for nothing bounds what glibc
 * takes to compile or to match, and its time on a processor goes off the seconds; an expression
 * that is a choice of names and little more needs none. OPK_EUSAGE: what is wrong with the
 * expression; OPK_EINPUT: no time or memory is left.
 */
int opk_expression_match(size_t **out, size_t *count, struct opk_ctx *ctx, const char *expression,
                         const struct opk_names *names);

/* Whether it is one: as above without names, and without a child where compiling is quick. */
int opk_expression_check(struct opk_ctx *ctx, const char *expression, double *seconds);

/* What a set names metrics with: a name, a glob, or a regular expression between slashes. */

/* In a set, since each is tried on every name of a chip. */
enum { OPK_MAX_PATTERNS = 500 };

enum opk_pattern_kind { OPK_PATTERN_NAME, OPK_PATTERN_GLOB, OPK_PATTERN_REGEX };

/* Whether the expression is one of several by '|', outside parentheses. */
bool opk_regex_is_choice(const char *regex);
enum opk_pattern_kind opk_pattern_kind(const char *text);

struct opk_pattern {
	enum opk_pattern_kind kind;
	const char *text; /* borrowed */
	/* How many characters each match begins with; after the slash of a regular expression. */
	size_t literal;
};

/* False, and a problem, where the text at that place has not the form of one. */
bool opk_pattern_init(struct opk_pattern *out, struct opk_problems *problems, const char *text,
                      const struct opk_place *place);

/* Some of the names that were asked for, by their numbers from 0 on, ascending. */
struct opk_selection {
	size_t *numbers;
	size_t count;
};

/*
 * Those that match as a whole. A code means that a problem is reported: OPK_EUSAGE, this is no
 * expression; OPK_EINPUT, expressions have no time or memory left.
 */
int opk_pattern_select(struct opk_selection *out, struct opk_ctx *ctx,
                       struct opk_problems *problems, const struct opk_pattern *pattern,
                       const struct opk_place *place, const struct opk_names *names);
void opk_selection_clear(struct opk_selection *selection);
#define opk_autoselection __attribute__((cleanup(opk_selection_clear)))
/* The same without names: whether it can match at all. */
int opk_pattern_check(struct opk_ctx *ctx, struct opk_problems *problems,
                      const struct opk_pattern *pattern, const struct opk_place *place,
                      double *seconds);
/* Whether a name that begins so may match. */
bool opk_pattern_may_match(const struct opk_pattern *pattern, const char *beginning);

/* The names that a set and those that it includes define, and the formulas over them. */

struct opk_formula;

/* A derived metric, possibly one that a name of nvprof's means. */
struct opk_derived_symbol {
	struct opk_word name; /* borrowed, as `unit` and `description` */
	struct opk_word
		written; /* the formula in the set's file; no text: from data/legacy_names.tsv */
	char *formula;   /* with the parameters' values */
	struct opk_formula *parsed; /* NULL: it is not a formula */
	struct opk_word unit, description;
	char *legacy;          /* the name of nvprof's, possibly its own; else NULL */
	char *legacy_formulas; /* of these the chip decides which is the formula */
	char *legacy_unit;     /* where `unit` is from the table */
};

struct opk_symbols {
	struct opk_ctx *ctx;
	struct opk_problems *problems; /* what is wrong is reported here */
	bool borrowed; /* from the set: only formulas of nvprof's names are its own */
	/* Each set once, and before those that include it. */
	OPK_LIST(const struct opk_set *) sets;
	bool broken; /* a set could not be read whole: what is not known may be defined there */
	bool unfit;  /* as a set's */
	struct opk_index parameters; /* name -> `values` */
	OPK_LIST(const char *) values;
	struct opk_index constants; /* name -> `constant` */
	OPK_LIST(const struct opk_constant *) constant;
	struct opk_index labels;                     /* short names of metrics, -> `label` */
	OPK_LIST(const struct opk_set_item *) label; /* of several entries one that has `else` */
	struct opk_index names;                      /* of derived metrics, -> `derived` */
	OPK_LIST(struct opk_derived_symbol) derived;
	size_t *order; /* of the derived metrics, so that each comes after those that it uses */
	size_t ordered;
};

/*
 * Reports what is wrong with the definitions, entries and changes, as far as they can be judged
 * without a chip; only without memory is it incomplete. Regular expressions are compiled in the
 * time that is left, of which they take their part; NULL: they are not, and matching finds what is
 * wrong with them.
 */
void opk_symbols_init(struct opk_symbols *symbols, struct opk_ctx *ctx,
                      struct opk_problems *problems, const struct opk_set *set, double *seconds);
/* What the set has kept of its symbols; those of another set, and with other values, are made. */
void opk_symbols_of(struct opk_symbols *symbols, struct opk_ctx *ctx, struct opk_problems *problems,
                    const struct opk_set *set);
void opk_symbols_clear(struct opk_symbols *symbols);
#define opk_autosymbols __attribute__((cleanup(opk_symbols_clear)))

/* symbol_formulas.c: parses all formulas, knows their names and orders them. */
void opk_symbols_check_formulas(struct opk_symbols *symbols);
/* Fills `parsed` from `formula`, or reports why not. */
void opk_symbols_parse(const struct opk_symbols *symbols, struct opk_derived_symbol *derived);
/* Where in the set's file a byte of the formula came from. */
struct opk_place opk_symbols_place(const struct opk_symbols *symbols,
                                   const struct opk_derived_symbol *derived, size_t offset);

/* Tries all names of an index. */
void opk_symbols_try_all(struct opk_nearest *nearest, const struct opk_index *index);
/* The text with parameters' values for ${name}; free(). NULL: a problem is reported. */
char *opk_symbols_substitute(const struct opk_symbols *symbols, const struct opk_word *word);
/* set_check.c: entries and changes. False where there is too much to be tried on a chip. */
bool opk_symbols_check(const struct opk_symbols *symbols, double *seconds);

/* set_roofline.c: whether what the rooflines are of is defined, or listed. */
void opk_set_check_rooflines(const struct opk_symbols *symbols);
void opk_set_roofline_clear(struct opk_set_roofline *roofline);

/* Words that say where something holds: chips, architectures and profilers, in any case. */

/* Opens NVIDIA's libraries for a word that we don't know: they may know newer chips. */
bool opk_where_known(struct opk_ctx *ctx, struct opk_problems *problems, const char *word,
                     bool profilers);
/* The word that a misspelt one probably was; NULL where none is near. */
const char *opk_where_nearest(const char *word, bool profilers);

/* The first among so many of the words that is this one, in any case; NULL: none is. */
const struct opk_word *opk_where_find(const struct opk_words *words, size_t count,
                                      const char *word);

/* Whether the word is the chip's name, its architecture or the profiler. */
bool opk_where_matches(const char *word, const char *chip, enum opk_profiler profiler);
/* Whether any of the words does. */
bool opk_where_any(const struct opk_words *words, const char *chip, enum opk_profiler profiler);

#endif
