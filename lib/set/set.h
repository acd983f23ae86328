/* SPDX-License-Identifier: BSD-2-Clause */
/* Metric sets as they are written; what they mean on a chip is resolve.h's. */
#ifndef OPK_SET_H
#define OPK_SET_H

#include <sys/types.h>

#include "base/ctx.h"
#include "base/problems.h"
#include "base/strlist.h"

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
	bool joined; /* of sets that have nothing to do with each other: it claims every chip */
	/* Only sets that were read with errors have these: they can be checked, but not planned. */
	struct opk_problems errors;
	bool broken; /* what it includes, or defines, could not all be read */
	bool unfit;  /* so little is sure that nothing can be said of it on a chip */
	struct opk_words chips;
	OPK_LIST(struct opk_set *) includes;
	struct opk_set_items items;
	OPK_LIST(struct opk_change) changes;
	OPK_LIST(struct opk_parameter) parameters;
	OPK_LIST(struct opk_constant) constants;
	OPK_LIST(struct opk_formula_text) derived;
	/* Values that parameters were given, of this set or of one that it includes. */
	OPK_LIST(struct opk_parameter) given;
	/* The sets that name the chips it claims: this one, or of those that it includes. */
	OPK_LIST(const struct opk_set *) claiming;
	/* The entries of all lists of metrics as they are written, each once, and their places. */
	struct opk_strlist metrics, places;
};

/* An empty set of that name. */
struct opk_set *opk_set_create(const char *name, const char *path);
struct opk_set *opk_set_use(struct opk_set *set);

/* One more of each; false or NULL when out of memory. */
bool opk_words_add(struct opk_words *words, const char *text, const struct opk_place *place);
void opk_words_clear(struct opk_words *words);
struct opk_set_item *opk_set_items_add(struct opk_set_items *items);
void opk_set_items_clear(struct opk_set_items *items);
/* Appends a metric that is in no file; false when out of memory. */
bool opk_set_add_name(struct opk_set *set, const char *name);

/*
 * Whether a set may call something so: letters, digits and single underscores, a letter first, at
 * most 100.
 */
bool opk_set_is_name(const char *text);

/* Fills `claiming`, `metrics` and `places` from what it has and includes; false: no memory. */
bool opk_set_complete(struct opk_set *set);

/* Whether the set is made for the chip: it names it or its architecture, or none at all. */
bool opk_set_claims(const struct opk_set *set, const char *chip);
/* A chip or architecture that it names; NULL where it names none. */
const char *opk_set_example(const struct opk_set *set);

OPK_DEFINE_AUTO(opk_set)

#endif
