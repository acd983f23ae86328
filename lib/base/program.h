/* SPDX-License-Identifier: BSD-2-Clause */
/* Where this program lies, and the library. */
#ifndef OPK_PROGRAM_H
#define OPK_PROGRAM_H

/*
 * The first of these names, seen from the program's folder or whole paths, that is there, with
 * links resolved; free(). NULL: none is, or nothing says where the program lies. A container may
 * lack /proc, so the name by which the kernel was asked to run the program serves, too.
 */
char *opk_beside_program(const char *const *names, unsigned long count);
/* What has this name, seen from the folder of the file that this code is in; free(), or NULL. */
char *opk_beside_library(const char *name);

#endif
