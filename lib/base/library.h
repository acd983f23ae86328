/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared libraries, before they are opened. */
#ifndef OPK_LIBRARY_H
#define OPK_LIBRARY_H

/*
 * Why this file can't be opened as a library: dlopen() waits forever for a pipe, and crashes where
 * a library is cut off. NULL: there is no reason, or it can't be read, which dlopen() reports, or
 * it is a bare name.
 */
const char *opk_library_flaw(const char *path);

#endif
