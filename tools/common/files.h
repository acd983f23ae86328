/* SPDX-License-Identifier: BSD-2-Clause */
/* Protects files: an output never replaces an input, another output, or another kind of file. */
#ifndef OPK_FILES_H
#define OPK_FILES_H

#include "common/app.h"

/* Arguments like 'run-*.opk' become the files of such names, sorted; OPK_EINPUT: there are none. */
int files_expand(struct app *app);
/* Notes an input file of the command: an argument, or an option's value. */
int files_read(struct app *app, const char *path);
/* For a SET: the name of a shipped set, or of metrics, is not a file. */
int files_read_set(struct app *app, const char *text);
/* The contents of a file that the user named, or nothing if path is NULL. */
int files_get(struct app *app, void **data, size_t *size, const char *path);
/*
 * Call it before anything is written. OPK_EUSAGE if the path is one of the inputs, by any name, or
 * another output, or a table whose ending selects no format, or, once there is a context, may not
 * replace the existing file: opk_check_output().
 */
int files_write(struct app *app, const char *path, enum opk_output kind);
/*
 * Checks outputs, reads inputs that are pipes, up to a limit, and opens outputs that are pipes. The
 * context must exist.
 */
int files_open_streams(struct app *app);

/* "dir/out.opk" and 2: "dir/out-2.opk"; 0: the name itself. NULL: out of memory; free(). */
char *files_numbered(const char *name, size_t number);
/* OPK_EUSAGE if the name is a pipe or device, which takes only one file. */
int files_check_several(struct app *app, const char *name);
/* Adds the names from "out-1.opk" on, each of which will be written. */
int files_number(struct app *app, struct opk_strlist *paths, const char *name, size_t count,
                 enum opk_output kind);
/* Whether "out-1.opk" may be written, while the number of files is unknown. */
int files_check_first(struct app *app, const char *name, enum opk_output kind);
/* Call it after writing "out-1.opk" to "out-3.opk": notes an older "out-4.opk". */
void files_note_older(const char *name, size_t count);

/* Prints what a command has made: the file, its size and rows, and how many metrics have values. */
int files_report(struct app *app, const char *path);

/* The name by which commands take a set: the file name of its path, without the ending. */
enum { SET_NAME_SIZE = 256 };
const char *files_set_name(char out[SET_NAME_SIZE], const char *path);

#endif
