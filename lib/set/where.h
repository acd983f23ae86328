/* SPDX-License-Identifier: BSD-2-Clause */
/* Words that say where something holds: chips, architectures and profilers, in any case. */
#ifndef OPK_WHERE_H
#define OPK_WHERE_H

#include "base/problems.h"
#include "base/source.h"

/* Opens NVIDIA's libraries for a word that we don't know: they may know newer chips. */
bool opk_where_known(struct opk_ctx *ctx, struct opk_problems *problems, const char *word,
                     bool profilers);
/* The word that a misspelt one probably was; NULL where none is near. */
const char *opk_where_nearest(const char *word, bool profilers);

/* The first among so many of the words that is this one, in any case; NULL: none is. */
const struct opk_word *opk_where_find(const struct opk_words *words, size_t count,
                                      const char *word);

/* Whether the word is the chip's name, its architecture or the profiler. */
bool opk_where_matches(const char *word, const char *chip, enum opk_profiler profiler);
/* Whether any of the words does. */
bool opk_where_any(const struct opk_words *words, const char *chip, enum opk_profiler profiler);

#endif
