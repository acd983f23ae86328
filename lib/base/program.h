/* SPDX-License-Identifier: BSD-2-Clause */
/* The paths of this program and of the library. */
#ifndef OPK_PROGRAM_H
#define OPK_PROGRAM_H

#include <stdbool.h>

/*
 * The first of these names that exists, with links resolved; free(). Names are relative to the
 * program's folder, or absolute. NULL: none exists, or the program's path is not known. As a
 * container may lack /proc, the name that the kernel was asked to run is also tried.
 */
char *opk_beside_program(const char *const *names, unsigned long count);
/*
 * Whether the shared library that this code is in can be run as a program that begins at `entry`.
 * If so, returns the loader's path and its argument, the library's path; free() both.
 */
bool opk_as_program(char **loader, char **library, void (*entry)(void));
/* The path of `name`, relative to the folder of the file that this code is in; free(), or NULL. */
char *opk_beside_library(const char *name);

#endif
