/* SPDX-License-Identifier: BSD-2-Clause */
/* What verify and recover found, as rows and as messages. */
#ifndef OPK_TOOL_FINDINGS_H
#define OPK_TOOL_FINDINGS_H

#include "common/app.h"

/* Begins the table, with a row a finding: file,section,type,byte,size,status. */
void findings_table(struct app *app);
/* `sound` is the status of what has no problem. */
void findings_print(struct app *app, const char *path, const struct opk_findings *findings,
                    const char *sound);
size_t findings_problems(const struct opk_findings *findings);
/* Each problem on stderr, indented, as the causes of a message. */
void findings_explain(const struct opk_findings *findings);

#endif
