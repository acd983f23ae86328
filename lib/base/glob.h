/* SPDX-License-Identifier: BSD-2-Clause */
/* Shell patterns: * ? [abc] [a-z] [!a]. Never slower than pattern times text. */
#ifndef OPK_GLOB_H
#define OPK_GLOB_H

#include <stdbool.h>
#include <stddef.h>

/* Whether each bracket is closed. */
bool opk_glob_sound(const char *pattern);
/* Whether the pattern matches the whole text. */
bool opk_glob_match(const char *pattern, const char *text);
/* The same for so many bytes of text, none of them NUL. */
bool opk_glob_match_part(const char *pattern, const char *text, size_t length);

#endif
