/* SPDX-License-Identifier: BSD-2-Clause */
/* Text files, kept in memory while errors point into them. */
#ifndef OPK_SOURCE_H
#define OPK_SOURCE_H

#include "base/mem.h"

/* Shared: each user releases it with opk_source_free(). */
struct opk_source {
	size_t users;
	char *name; /* for errors */
	char *text;
	size_t size;
	bool hidden; /* errors must not quote it */
};

/* Copies the name and the text; NULL when out of memory. */
struct opk_source *opk_source_new(const char *name, const void *text, size_t size);
struct opk_source *opk_source_use(struct opk_source *source);
void opk_source_free(struct opk_source *source);
OPK_DEFINE_AUTO(opk_source)

/*
 * The place of a character in a borrowed source; `source` NULL: the place is not known. Lines and
 * columns count from 1; a column is a character. As in YAML, U+0085, U+2028 and U+2029 also end
 * lines.
 */
struct opk_place {
	struct opk_source *source;
	size_t line, column;
};

/* A piece of text and its place. */
struct opk_word {
	char *text; /* NULL: no text */
	struct opk_place place;
};

struct opk_words {
	struct opk_word *items;
	size_t count, capacity;
};

/* "FILE:LINE:COLUMN", or "" if not known; free(). */
char *opk_place_text(const struct opk_place *place);
/* The place of a byte. */
struct opk_place opk_place_of_byte(struct opk_source *source, size_t byte);
/* Moves a place from the byte *at to a later byte. */
void opk_place_move(struct opk_place *place, size_t *at, size_t byte);
/*
 * The place of byte `offset` of the text at `place`; the source may have the text in quotes or over
 * several lines. Returns `place` itself if the byte can't be found.
 */
struct opk_place opk_place_within(const struct opk_place *place, const char *text, size_t offset);
/*
 * The place's line, or the part of a long line around it, without tabs and control characters, and
 * a caret below the place; free() both. False, and NULL, if there is nothing to show, or when out
 * of memory.
 */
bool opk_place_show(char **line, char **caret, const struct opk_place *place);

#endif
