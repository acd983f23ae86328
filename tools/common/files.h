/* SPDX-License-Identifier: BSD-2-Clause */
/* No file is written over one that is read or of another kind, and none twice. */
#ifndef OPK_FILES_H
#define OPK_FILES_H

#include "common/app.h"

/* The command's input files: arguments, and values of options. */
int files_read(struct app *app, const char *path);
/* For a SET: the name of a shipped one, or of metrics, is no file. */
int files_read_set(struct app *app, const char *text);
/* Contents of a file that the user named, or nothing where path is NULL. */
int files_get(struct app *app, void **data, size_t *size, const char *path);
/*
 * Called before anything is written: OPK_EUSAGE where that is one of the inputs, by any of its
 * names, goes where another output goes, is a table whose ending chooses no format, or, once there
 * is a context, may not replace what is there: opk_check_output().
 */
int files_write(struct app *app, const char *path, enum opk_output kind);
/*
 * Called when there is a context: outputs are checked, pipes among the inputs are read, as far as
 * their bound, and those among the outputs opened.
 */
int files_open_streams(struct app *app);

/* "dir/out.opk" and 2: "dir/out-2.opk"; 0: the name itself. NULL: out of memory; free(). */
char *files_numbered(const char *name, size_t number);
/* OPK_EUSAGE where the name is of a pipe or device, which has room for one file. */
int files_check_several(struct app *app, const char *name);
/* Adds the names from "out-1.opk" on, each of which will be written. */
int files_number(struct app *app, struct opk_strlist *paths, const char *name, size_t count,
                 enum opk_output kind);
/* Whether "out-1.opk" may be written, before it is known how many there are. */
int files_check_first(struct app *app, const char *name, enum opk_output kind);
/* After "out-1.opk" to "out-3.opk" were written: a note where there is an older "out-4.opk". */
void files_note_older(const char *name, size_t count);

/* The name by which commands take a set of opk_set_list_path(): that of its file. */
enum { SET_NAME_SIZE = 256 };
const char *files_set_name(char out[SET_NAME_SIZE], const char *path);

#endif
