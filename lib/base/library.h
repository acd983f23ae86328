/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks shared libraries before they are opened. */
#ifndef OPK_LIBRARY_H
#define OPK_LIBRARY_H

/*
 * Why this file can't be opened as a library: dlopen() waits forever for a pipe, and crashes on a
 * library that is cut off. NULL: no flaw was found, or the path is a bare name, or the file can't
 * be read, which dlopen() reports.
 */
const char *opk_library_flaw(const char *path);

#endif
