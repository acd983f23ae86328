/* SPDX-License-Identifier: BSD-2-Clause */
/* The files that a run's processes left, until they have their final names. */
#ifndef OPK_PARTS_H
#define OPK_PARTS_H

#include <glob.h>
#include <stdbool.h>

/* Finds those of this launcher's processes, by the output's name with its %-items; may be none. */
void parts_find(glob_t *parts, const char *output);
/* One file a process, under its own name. */
void parts_rename(const glob_t *parts, bool verbose);
/* One file of all of them; then they are gone. `join` as in struct opk_meta, NULL: as recorded. */
int parts_merge(const glob_t *parts, const char *output, const char *join, bool verbose);
/* The deepest level of user ranges that the processes saw, at least 1. */
unsigned parts_depth(const glob_t *parts);
/* Moves them out of the way of the program's next run, which runs under the same launcher. */
void parts_keep(glob_t *kept, const glob_t *parts, unsigned run);

#endif
