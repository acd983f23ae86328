/* SPDX-License-Identifier: BSD-2-Clause */
/* What a container says of its set beyond the metrics. */
#ifndef OPK_INFO_SET_H
#define OPK_INFO_SET_H

#include "common/app.h"

/* Tables behind the record: set, labels, derived, headings; those that are there. */
int info_set_print(struct app *app, const struct opk_meta *meta);

#endif
