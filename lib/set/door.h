/* SPDX-License-Identifier: BSD-2-Clause */
/* What the command and other folders use of this one, besides the public functions. */
#ifndef OPK_SET_DOOR_H
#define OPK_SET_DOOR_H

#include "base/ctx.h"
#include "chip/door.h"

/* Makes a set of metric names with commas between; does not check them. OPK_EUSAGE: no names. */
int opk_set_from_names(struct opk_set **out, struct opk_ctx *ctx, const char *names);
/* opk_set_find_on() without a chip, and so without "single-pass:". */
int opk_set_find(struct opk_set **out, struct opk_ctx *ctx, const char *spec);
/*
 * Like opk_set_find() and opk_set_parse(), for a check. If files have errors (OPK_EINPUT, with the
 * chain of opk_set_load()), *out is still the set, as far as it could be read. Only
 * opk_set_check_claims() and opk_set_check_on() take it; they repeat neither these errors nor their
 * consequences. NULL: nothing more can be checked.
 */
int opk_set_find_partly(struct opk_set **out, struct opk_ctx *ctx, const char *spec);
int opk_set_parse_partly(struct opk_set **out, struct opk_ctx *ctx, const char *text, size_t size,
                         const char *name);

/* What opk_set_list() shows. */
const char *opk_set_name(const struct opk_set *set);
const char *opk_set_description(const struct opk_set *set);
const char *opk_set_path(const struct opk_set *set);
bool opk_set_has_profiler(const struct opk_set *set);
enum opk_profiler opk_set_profiler(const struct opk_set *set);
size_t opk_set_metric_count(const struct opk_set *set);
const char *opk_set_metric(const struct opk_set *set, size_t i);
/* Whether the chip has the set's profiler; opk_set_supports(): and the set claims the chip. */
bool opk_set_has_profiler_on(const struct opk_set *set, const struct opk_chip *chip);
bool opk_set_supports(const struct opk_set *set, const struct opk_chip *chip);
/*
 * OPK_EINPUT with each claimed name that is neither a chip of NVIDIA's library nor an architecture,
 * or that lacks the set's profiler.
 */
int opk_set_check_claims(struct opk_ctx *ctx, const struct opk_set *set,
                         const struct opk_chips *chips);

/* Adds the paths of all sets that are found by name, as in opk_set_list(). */
int opk_set_paths(struct opk_strlist *out, struct opk_ctx *ctx);

#endif
