/* SPDX-License-Identifier: BSD-2-Clause */
/* offpeak sets --check. */
#ifndef OPK_SETS_CHECK_H
#define OPK_SETS_CHECK_H

#include "common/options.h"

/* Checks the set's form, and plans it on the named chips, or on all that it claims. */
int sets_check(struct app *app, const char *spec, const struct option_list *chips,
               const struct option_list *params, double effort);

#endif
