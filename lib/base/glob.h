/* SPDX-License-Identifier: BSD-2-Clause */
/* Shell patterns: * ? [abc] [a-z] [!a]. Time is at most pattern length times text length. */
#ifndef OPK_GLOB_H
#define OPK_GLOB_H

#include <stdbool.h>
#include <stddef.h>

/* Whether each bracket is closed. */
bool opk_glob_sound(const char *pattern);
/* Whether the pattern matches the whole text. */
bool opk_glob_match(const char *pattern, const char *text);
/* The same for `length` bytes of text without a NUL. */
bool opk_glob_match_part(const char *pattern, const char *text, size_t length);

#endif
