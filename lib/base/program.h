/* SPDX-License-Identifier: BSD-2-Clause */
/* Where this program lies, and the library. */
#ifndef OPK_PROGRAM_H
#define OPK_PROGRAM_H

#include <stdbool.h>

/*
 * The first of these names, seen from the program's folder or whole paths, that is there, with
 * links resolved; free(). NULL: none is, or nothing says where the program lies. A container may
 * lack /proc, so the name by which the kernel was asked to run the program serves, too.
 */
char *opk_beside_program(const char *const *names, unsigned long count);
/*
 * Whether the shared library that this code is in can be run as a program that begins with `entry`:
 * the loader's path and the library's, which is its argument; free().
 */
bool opk_as_program(char **loader, char **library, void (*entry)(void));
/* What has this name, seen from the folder of the file that this code is in; free(), or NULL. */
char *opk_beside_library(const char *name);

#endif
