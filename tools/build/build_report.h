/* SPDX-License-Identifier: BSD-2-Clause */
/* What build tells of the files that it wrote. */
#ifndef OPK_BUILD_REPORT_H
#define OPK_BUILD_REPORT_H

#include "common/app.h"

/* Of one file. `grouped`: it was packed into groups. */
int build_report(struct app *app, const struct opk_plan *plan, const char *path, bool grouped);
/* Of several, a row a file; path i is plan i's. */
int build_report_split(struct app *app, const struct opk_plan_split *split, char *const *paths,
                       bool grouped);

#endif
