/* SPDX-License-Identifier: BSD-2-Clause */
/* A resolution at work: resolve.c and its neighbours alone. */
#ifndef OPK_RESOLVER_H
#define OPK_RESOLVER_H

#include "chip/chip.h"
#include "base/index.h"
#include "resolve/resolve.h"
#include "schedule/schedule.h"
#include "set/set.h"

/* ---- a set's list of metrics in the making: each metric once, in order */

enum { OPK_NOT_DERIVED = -1 };

struct opk_entry {
	char *name;
	const struct opk_word *label; /* NULL: none */
	struct opk_place place;
	const struct opk_set_item *item;
	const struct opk_set_item *heading; /* NULL: under none */
	long derived;                       /* which one of the scope's, or OPK_NOT_DERIVED */
	bool optional;
};

struct opk_entries {
	struct opk_entry *items;
	size_t count, capacity;
	struct opk_index names; /* to the items */
};

/*
 * Adds a copy, unless the name is there: then it takes the label, if it has none. A second label is
 * a problem, and an entry is optional only if all are that name it.
 */
void opk_entries_add(struct opk_entries *entries, struct opk_problems *problems,
                     const struct opk_entry *entry);
/* Removes those that are marked, one flag an entry. */
void opk_entries_drop(struct opk_entries *entries, struct opk_problems *problems,
                      const bool *marked);
/* NULL: not there. */
struct opk_entry *opk_entries_find(const struct opk_entries *entries, const char *name);
void opk_entries_clear(struct opk_entries *entries);

/* ---- the resolution */

/* What a derived metric can't have on the chip. */
enum opk_lack {
	OPK_LACKS_NOTHING,
	OPK_LACKS_OPTIONAL, /* what the set itself does without there: it is left out, too */
	OPK_LACKS_NEEDED,
};

struct opk_derived_state {
	bool needed; /* shown, or used by one that is */
	enum opk_lack lack;
	bool blamed; /* what it lacks is a problem */
	char *unit;  /* NULL: not known */
};

struct opk_resolver {
	struct opk_ctx *ctx;
	const struct opk_set *set;
	struct opk_target target;
	struct opk_problems problems;
	struct opk_symbols symbols;
	struct opk_catalog *catalog;      /* NULL until it is needed */
	bool full;                        /* that there are too many metrics was reported */
	bool lost;                        /* an entry whose error was reported is in no list */
	struct opk_strlist lost_labels;   /* of such entries */
	bool check;                       /* for the errors alone, all of them */
	double seconds;                   /* that are left for expressions */
	struct opk_entries *lists, *list; /* one a set of the symbols, and the last */
	bool *suppressed; /* one a derived metric: shown only where a list says so */
	struct opk_derived_state *states; /* one a derived metric */
	struct opk_index labels;          /* to the last list's entries */
	struct opk_resolved *out;
};

/* Opens the chip's catalog, with all full names; false, with `code`, where it can't. */
bool opk_resolver_need_catalog(struct opk_resolver *r);
/* Reports that the chip has no such metric. */
void opk_resolver_explain(struct opk_resolver *r, const char *name, const struct opk_place *place);
void opk_resolver_leave_out(struct opk_resolver *r, const char *name);
void opk_resolver_add_metric(struct opk_resolver *r, const char *name, const char *label,
                             const struct opk_place *place);
/* The constant's value on the chip; NULL where it has none. */
const double *opk_resolver_value(const struct opk_resolver *r, const struct opk_constant *constant);

/* resolve_items.c: the list of the n-th set of symbols; those before it are there. */
void opk_resolve_list(struct opk_resolver *r, size_t n);
/* resolve_refused.c: whether CUPTI plans this one; optional metrics that it refuses are dropped. */
bool opk_resolver_plans(struct opk_resolver *r, const char *name);
void opk_resolve_optional(struct opk_resolver *r);
/* resolve_missing.c: finds what is needed; derived metrics that can't be computed are dropped. */
void opk_resolve_missing(struct opk_resolver *r);
/* resolve_derived.c: derived metrics, and the metrics that only they want. */
void opk_resolve_derived(struct opk_resolver *r);
/* resolve_roofline.c: what of the roofline there is on the chip, once the columns are known. */
void opk_resolve_roofline(struct opk_resolver *r);
/* Removes what is not a column any more. */
void opk_resolved_keep_roofline(struct opk_resolved *resolved);
void opk_resolved_clear_roofline(struct opk_meta_roofline *roofline);
/* Their units alone, of those whose formulas are sound. */
void opk_resolve_units(struct opk_resolver *r);
/* resolve_refused.c: those that CUPTI refuses are a problem each. */
void opk_resolve_refused(struct opk_resolver *r);
/* resolved.c; NULL when out of memory. */
char *opk_resolved_hash(const struct opk_resolved *resolved, struct opk_ctx *ctx, const char *name);

#endif
