/* SPDX-License-Identifier: BSD-2-Clause */
/* What the processes left: one recording each, which get their final names. */
#ifndef OPK_PARTS_H
#define OPK_PARTS_H

#include <stdbool.h>

/* Removes what an earlier run left under these names. */
void parts_clear(const char *output);
/* OUTPUT.PID.part of a single process becomes OUTPUT, of several OUTPUT with -PID before .opk. */
void parts_collect(const char *output, bool verbose);

#endif
