/* SPDX-License-Identifier: BSD-2-Clause */
/* offpeak sets --check, and all sets on a chip. */
#ifndef OPK_SETS_CHECK_H
#define OPK_SETS_CHECK_H

#include "common/options.h"

/* Checks the set's form, and plans it on the named chips, or on all that it claims. */
int sets_check(struct app *app, const char *spec, const struct option_list *chips,
               const struct option_list *params, double effort);
/* Adds the chips of "GH100,GA100" and the like; false when out of memory. */
bool sets_split_chips(struct opk_strlist *names, const struct option_list *wanted);
/* Lists the sets of opk_set_list(), with the passes of each on the chip; sets_chip.c */
int sets_on_chip(struct app *app, const struct opk_listing *sets, const char *chip, double effort);

#endif
