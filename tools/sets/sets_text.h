/* SPDX-License-Identifier: BSD-2-Clause */
/* Metric sets as YAML, to stdout or into files. */
#ifndef OPK_SETS_TEXT_H
#define OPK_SETS_TEXT_H

#include "common/app.h"

/* sets --import FILE; returns an exit code, as the other one. */
int sets_import(struct app *app, const char *path);
/* sets --single-pass CHIP SET --yaml */
int sets_write_single_pass(struct app *app, const struct opk_single_pass_set *set,
                           const char *chip);

#endif
