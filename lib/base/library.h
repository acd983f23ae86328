/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks shared libraries before they are opened. */
#ifndef OPK_LIBRARY_H
#define OPK_LIBRARY_H

/*
 * Why this file can't be opened as a library, as the end of a sentence that begins with its path:
 * dlopen() waits forever for a pipe, crashes on a library that is cut off, and does not say that a
 * library is for another machine or needs more memory than the process may have. NULL: no flaw was
 * found, or the path is a bare name, or there is no such file, which dlopen() reports.
 */
const char *opk_library_flaw(const char *path);

#endif
