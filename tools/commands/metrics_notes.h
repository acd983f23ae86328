/* SPDX-License-Identifier: BSD-2-Clause */
/* Notes for the case that no metric of a chip matches. */
#ifndef METRICS_NOTES_H
#define METRICS_NOTES_H

#include "common/app.h"

/* Notes which condition matches nothing, and what would match. */
void note_no_metric(struct app *app, const struct opk_catalog *catalog,
                    const struct opk_metric_list_options *filter, bool submetrics);
/* Notes each pattern that matches nothing while others match. */
void note_idle_patterns(struct app *app, const struct opk_catalog *catalog,
                        const struct opk_metric_list_options *filter, bool submetrics);

#endif
