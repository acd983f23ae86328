/* SPDX-License-Identifier: BSD-2-Clause */
/* What a set means on a chip: full metric names, derived metrics, columns. */
#ifndef OPK_RESOLVE_H
#define OPK_RESOLVE_H

#include "base/strlist.h"
#include "container/door.h"
#include "set/set.h"

struct opk_resolved {
	/* Parallel; the label may be "". Metrics that only formulas need come last. */
	struct opk_strlist metrics, labels;
	size_t shown; /* the set asks for the first so many metrics */
	/* Metric names, labels or derived names, in the order of the set. */
	struct opk_strlist columns;
	size_t listed;                    /* so many of them are in a list of metrics */
	struct opk_meta_derived *derived; /* owned, like the headings; over full metric names */
	size_t derived_count, derived_capacity;
	struct opk_meta_heading *headings;
	size_t heading_count, heading_capacity;
	struct opk_meta_roofline roofline; /* owned, by names of columns */
	/* Optional metrics that the chip lacks or CUPTI refuses, and what is computed from them. */
	struct opk_strlist left_out;
	char *hash; /* "crc32:xxxxxxxx" of all of the above, with name and version */
	/* Likewise of what was written, before the chip's catalog chose any of it. */
	char *definition;
	bool chosen; /* a pattern, `any` or optional entry: another catalog may choose otherwise */
	unsigned version;
	enum opk_profiler profiler;
	/* The places of the metrics, parallel to them, and the source of these places. */
	struct opk_place *marks;
	struct opk_source **sources;
	size_t source_count;
};

/*
 * `chip` is spelt as in the library. A plain list of full names needs no catalog, and no NVIDIA
 * library. OPK_EINPUT; or OPK_EUSAGE for a chip that the set does not claim, and for names from the
 * command line: the chain has every error, with its line.
 */
int opk_set_resolve(struct opk_resolved *out, struct opk_ctx *ctx, const struct opk_set *set,
                    const char *chip, enum opk_profiler profiler);
/* The recording whose values are read, and its chip and profiler. */
struct opk_baked_origin {
	const struct opk_file *file;
	const char *chip;
	enum opk_profiler profiler;
};
/*
 * Resolves a set whose values the recording has, without any NVIDIA library; *found is false if it
 * does not have them. Where the catalog chose metrics, the file must have been made with the same
 * definition.
 */
int opk_set_resolve_baked(bool *found, struct opk_resolved *out, struct opk_ctx *ctx,
                          const struct opk_set *set, const struct opk_baked_origin *of);
/* Reports what is wrong with the set on the chip, but not again the errors from reading it. */
int opk_set_judge(struct opk_ctx *ctx, const struct opk_set *set, const char *chip,
                  enum opk_profiler profiler);
/*
 * Returns OPK_EINPUT with everything that is wrong with the set on one chip: metrics, patterns and
 * constants that the chip lacks, units, and metrics that CUPTI refuses by themselves
 * (cuptiProfilerHostConfigAddMetrics). OPK_EUSAGE for a chip that the set does not claim. Only a
 * plan shows whether the metrics go together.
 */
int opk_set_check_on(struct opk_ctx *ctx, const struct opk_set *set, const char *chip);
/* Keeps these metrics, what needs no others, and their columns; `name` is the set's name. */
int opk_resolved_keep(struct opk_resolved *resolved, struct opk_ctx *ctx, const char *name,
                      const struct opk_strlist *metrics);
/*
 * Writes what the set says besides its metrics' names to the metadata: borrowed, except the labels,
 * which the caller frees.
 */
int opk_resolved_to_meta(struct opk_meta *meta, struct opk_meta_label **labels, struct opk_ctx *ctx,
                         const struct opk_resolved *resolved);
void opk_resolved_clear(struct opk_resolved *resolved);
#define opk_autoresolved __attribute__((cleanup(opk_resolved_clear)))

#endif
