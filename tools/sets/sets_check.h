/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef OPK_SETS_CHECK_H
#define OPK_SETS_CHECK_H

#include "common/options.h"

/* offpeak sets --check: a set's form, and what it is on chips; all that it claims where none is named. */
int sets_check(struct app *app, const char *spec, const struct option_list *chips,
               const struct option_list *params);

#endif
