/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef OPK_PAGER_H
#define OPK_PAGER_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Shows a text through a shell command; NULL or "" stand for less. False where there is no such
 * program: nothing was shown then.
 */
bool pager_show(const char *command, const char *text, size_t size);

#endif
