/* SPDX-License-Identifier: BSD-2-Clause */
/* Text files, kept in memory for as long as errors may point into them. */
#ifndef OPK_SOURCE_H
#define OPK_SOURCE_H

#include "base/mem.h"

/* Shared: each user gives it back with opk_source_free(). */
struct opk_source {
	size_t users;
	char *name; /* as errors tell it */
	char *text;
	size_t size;
};

/* Copies; NULL when out of memory. */
struct opk_source *opk_source_new(const char *name, const void *text, size_t size);
struct opk_source *opk_source_use(struct opk_source *source);
void opk_source_free(struct opk_source *source);
OPK_DEFINE_AUTO(opk_source)

/*
 * A character in a source, borrowed; no source: nowhere. Lines and columns are counted from 1, and
 * columns in characters. Lines end as YAML has it: also with U+0085, U+2028 and U+2029.
 */
struct opk_place {
	struct opk_source *source;
	size_t line, column;
};

/* Text and where it stands. */
struct opk_word {
	char *text; /* NULL: there is none */
	struct opk_place place;
};

struct opk_words {
	struct opk_word *items;
	size_t count, capacity;
};

/* "FILE:LINE:COLUMN"; "" of nowhere; free(). */
char *opk_place_text(const struct opk_place *place);
/* The place of a byte. */
struct opk_place opk_place_of_byte(struct opk_source *source, size_t byte);
/* On from the byte *at, whose place it is, to a later one. */
void opk_place_move(struct opk_place *place, size_t *at, size_t byte);
/*
 * The place of a byte of text that stands at `place`, there possibly in quotes, or over several
 * lines; `place` itself where that can't be told.
 */
struct opk_place opk_place_within(const struct opk_place *place, const char *text, size_t offset);
/*
 * The line of a place, or of a long one the part around it, without tabs or control characters, and
 * a caret below the place; each free(). False, and NULL, where there is nothing to show or memory
 * is out.
 */
bool opk_place_show(char **line, char **caret, const struct opk_place *place);

#endif
