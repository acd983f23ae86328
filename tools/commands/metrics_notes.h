/* SPDX-License-Identifier: BSD-2-Clause */
/* What to say where no metric of a chip matches. */
#ifndef METRICS_NOTES_H
#define METRICS_NOTES_H

#include "common/app.h"

/* A note that says which condition matches nothing there, and what would. */
void note_no_metric(struct app *app, const struct opk_catalog *catalog,
                    const struct opk_metric_list_options *filter, bool submetrics);
/* One for each of several patterns that matches nothing, where others do. */
void note_idle_patterns(struct app *app, const struct opk_catalog *catalog,
                        const struct opk_metric_list_options *filter, bool submetrics);

#endif
