/* SPDX-License-Identifier: BSD-2-Clause */
/* offpeak plan --svg: a plan as a picture. */
#ifndef OPK_PLAN_SVG_H
#define OPK_PLAN_SVG_H

#include "common/app.h"

/*
 * A column per pass, and a row per group of counter domains, or one row if domains are unknown. Has
 * a temporary name until opk_newfile_commit().
 */
int plan_svg(struct opk_newfile *out, struct app *app, struct opk_plan *plan, size_t lower_bound,
             const char *path);

#endif
