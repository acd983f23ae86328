/* SPDX-License-Identifier: BSD-2-Clause */
/* offpeak build --split: a set as several files. */
#ifndef OPK_BUILD_SPLIT_H
#define OPK_BUILD_SPLIT_H

#include "common/app.h"

/* OUT.opk: OUT-1.opk, OUT-2.opk and so on; all of them or none. Reports them, or the failure. */
int build_split(struct app *app, const struct opk_set *set, const struct opk_plan_options *how,
                const struct opk_build_options *options, const char *output);

#endif
