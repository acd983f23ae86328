/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of several files where one was asked for. */
#ifndef OPK_NUMBERED_H
#define OPK_NUMBERED_H

#include <stddef.h>

/* "dir/out.opk" and 2: "dir/out-2.opk"; free(), NULL when out of memory. */
char *numbered_path(const char *output, size_t number);

#endif
