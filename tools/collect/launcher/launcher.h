/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of the launcher share. */
#ifndef OPK_COLLECT_LAUNCHER_H
#define OPK_COLLECT_LAUNCHER_H

#include <glob.h>
#include <stdbool.h>

#include "collect/shared/shared.h"

/* The launcher's command line. */

/*
 * OPK_OK or OPK_EUSAGE, with a message on stderr; *program and its arguments end with NULL. --help
 * and --version end the process.
 */
int command_line_read(struct settings *settings, char ***program, int argc, char **argv);
/* Says on stderr what is wrong, and returns the code. */
__attribute__((format(printf, 2, 3))) int launcher_fail(int code, const char *format, ...);

/* Before the program starts: whether the set can be collected, and how. */

/*
 * The fastest way that is sound for the set's metrics, or the one that was asked for, into the
 * settings; *groups of the set take turns, or 0: the whole set is collected. Checks every checksum
 * of the set. OPK_OK or an exit code, with a message on stderr.
 */
int strategy_choose(struct settings *settings, size_t *groups);
/* Whether this user may read GPU counters, as far as the driver says; otherwise a message. */
int strategy_permission(void);

/* The files that a run's processes left, until they have their final names. */

/* Finds those of this launcher's processes, by the output's name with its %-items; may be none. */
void parts_find(glob_t *parts, const char *output);
/* Whether one of them has a range or a sample. */
bool parts_recorded(const glob_t *parts);
/* One file a process, under its own name. */
int parts_rename(const glob_t *parts, bool verbose);
/* One file of all of them; then they are gone. `join` as in struct opk_meta, NULL: as recorded. */
int parts_merge(const glob_t *parts, const char *output, const char *join, bool verbose);
/* The deepest level of user ranges that the processes saw, at least 1. */
unsigned parts_depth(const glob_t *parts);
/* Moves them out of the way of the program's next run, which runs under the same launcher. */
void parts_keep(glob_t *kept, const glob_t *parts, unsigned run);

#endif
