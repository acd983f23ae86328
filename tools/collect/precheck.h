/* SPDX-License-Identifier: BSD-2-Clause */
/* What can be found out before the program starts. */
#ifndef OPK_PRECHECK_H
#define OPK_PRECHECK_H

#include "collect/settings.h"

/*
 * Checks the set, the permission to profile, and which mode is sound; `wanted` is kernel, launch
 * or auto. Problems are told on stderr; OPK_EUSAGE, OPK_EINPUT or OPK_EFAILED.
 */
int precheck(enum collect_mode *mode, const char *set_path, const char *wanted, bool verbose);

/* Whether a range around a launch inflates the metric: it counts idle time around the kernel. */
bool inflated_by_launch_range(const char *metric);

#endif
