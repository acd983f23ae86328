/* SPDX-License-Identifier: BSD-2-Clause */
/* No file is written over one that is read, and none twice. */
#ifndef OPK_FILES_H
#define OPK_FILES_H

#include "common/app.h"

/* The command's input files: arguments, and values of options. Reports failures, as all here do. */
int files_read(struct app *app, const char *path);
/* For a SET: a name of the data folder's, or of metrics, is none. */
int files_read_set(struct app *app, const char *text);
/*
 * Told before anything is written: OPK_EUSAGE where that is one of the inputs, by any of its names,
 * or goes where another output goes.
 */
int files_write(struct app *app, const char *path);
/* Of "out-1.opk" to "out-3.opk", newly written: a note where there is an older "out-4.opk". */
void files_note_older(const char *output, size_t count);
void files_clear(struct app_files *files);

#endif
