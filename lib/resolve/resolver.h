/* SPDX-License-Identifier: BSD-2-Clause */
/* A resolution in progress: only for resolve.c and its neighbours. */
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
	const struct opk_set_item *heading; /* NULL: no heading */
	long derived;                       /* number of the derived metric, or OPK_NOT_DERIVED */
	bool optional;
};

struct opk_entries {
	struct opk_entry *items;
	size_t count, capacity;
	struct opk_index names; /* name -> index in the items */
};

/*
 * Adds a copy, unless the name is there: then that entry takes the label, if it has none. A second
 * label is a problem, and an entry is optional only if all that name it are optional.
 */
void opk_entries_add(struct opk_entries *entries, struct opk_problems *problems,
                     const struct opk_entry *entry);
/* Removes the marked entries, one flag per entry. */
void opk_entries_drop(struct opk_entries *entries, struct opk_problems *problems,
                      const bool *marked);
/* NULL: no such entry. */
struct opk_entry *opk_entries_find(const struct opk_entries *entries, const char *name);
void opk_entries_clear(struct opk_entries *entries);

/* ---- the resolution */

/* What a derived metric lacks on the chip. */
enum opk_lack {
	OPK_LACKS_NOTHING,
	OPK_LACKS_OPTIONAL, /* something optional: the derived metric is left out, too */
	OPK_LACKS_NEEDED,
};

struct opk_derived_state {
	bool needed; /* shown, or used by a needed one */
	enum opk_lack lack;
	bool blamed; /* what it lacks is reported as a problem */
	char *unit;  /* NULL: unknown */
};

struct opk_resolver {
	struct opk_ctx *ctx;
	const struct opk_set *set;
	struct opk_target target;
	struct opk_problems problems;
	struct opk_symbols symbols;
	struct opk_catalog *catalog;      /* NULL until it is needed */
	bool excerpt;                     /* it has only metrics that CUPTI has planned before */
	bool full;                        /* the error of too many metrics was reported */
	bool lost;                        /* an entry was left out: its error was reported */
	struct opk_strlist lost_labels;   /* labels of such entries */
	bool check;                       /* only looks for errors, all of them */
	double seconds;                   /* left for expressions */
	struct opk_entries *lists, *list; /* one per set of the symbols; the last one */
	bool *suppressed; /* one per derived metric: shown only if a list names it */
	struct opk_derived_state *states; /* one per derived metric */
	struct opk_index labels;          /* short name -> entry of the last list */
	struct opk_resolved *out;
};

/* Opens the chip's catalog, with all full names; on failure false, and `code` is set. */
bool opk_resolver_need_catalog(struct opk_resolver *r);
/* Reports that the chip lacks this metric. */
void opk_resolver_explain(struct opk_resolver *r, const char *name, const struct opk_place *place);
void opk_resolver_leave_out(struct opk_resolver *r, const char *name);
void opk_resolver_add_metric(struct opk_resolver *r, const char *name, const char *label,
                             const struct opk_place *place);
/* The constant's value on the chip; NULL: none. */
const double *opk_resolver_value(const struct opk_resolver *r, const struct opk_constant *constant);

/* resolve_items.c: makes the list of the n-th set of symbols, after all earlier lists. */
void opk_resolve_list(struct opk_resolver *r, size_t n);
/* resolve_refused.c: whether CUPTI plans this metric; refused optional metrics are dropped. */
bool opk_resolver_plans(struct opk_resolver *r, const char *name);
void opk_resolve_optional(struct opk_resolver *r);
/* resolve_missing.c: finds what is needed; drops derived metrics that can't be computed. */
void opk_resolve_missing(struct opk_resolver *r);
/* resolve_derived.c: adds derived metrics, and metrics that only these need. */
void opk_resolve_derived(struct opk_resolver *r);
/* resolve_roofline.c: finds the parts of the roofline that the chip has; needs the columns. */
void opk_resolve_roofline(struct opk_resolver *r);
/* Removes names that are no longer columns. */
void opk_resolved_keep_roofline(struct opk_resolved *resolved);
void opk_resolved_clear_roofline(struct opk_meta_roofline *roofline);
/* Computes only the units, of derived metrics with sound formulas. */
void opk_resolve_units(struct opk_resolver *r);
/* resolve_refused.c: reports a problem for each metric that CUPTI refuses. */
void opk_resolve_refused(struct opk_resolver *r);
/* resolved.c; NULL when out of memory. */
char *opk_resolved_hash(const struct opk_resolved *resolved, struct opk_ctx *ctx, const char *name);

#endif
