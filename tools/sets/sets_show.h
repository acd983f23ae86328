/* SPDX-License-Identifier: BSD-2-Clause */
/* offpeak sets SET. */
#ifndef OPK_SETS_SHOW_H
#define OPK_SETS_SHOW_H

#include "common/options.h"

/* The tables, as --table names them. */
#define SETS_TABLES "summary|metrics|groups"

/*
 * Shows all about one set: prose, groups, metrics and formulas, and its passes on one chip; without
 * NVIDIA's libraries, only the contents of its file.
 */
int sets_show(struct app *app, const char *spec, const struct option_list *chips,
              const struct option_list *params, unsigned table);

/* The catalog's metric with a full name, and its unit; NULL: none. */
const struct opk_metric *sets_find_metric(const struct opk_catalog *catalog, const char *name,
                                          const char **unit);

#endif
