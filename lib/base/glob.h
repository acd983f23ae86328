/* SPDX-License-Identifier: BSD-2-Clause */
/* Shell patterns: * ? [abc] [a-z] [!a]. Never slower than pattern times text. */
#ifndef OPK_GLOB_H
#define OPK_GLOB_H

#include <stdbool.h>

/* Whether each bracket is closed. */
bool opk_glob_sound(const char *pattern);
/* Whether the pattern matches the whole text. */
bool opk_glob_match(const char *pattern, const char *text);

#endif
