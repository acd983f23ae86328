/* SPDX-License-Identifier: BSD-2-Clause */
/* Text of others on a terminal, which obeys control characters. */
#ifndef OPK_TERMINAL_H
#define OPK_TERMINAL_H

#include <stdio.h>

#include "base/buf.h"

/*
 * The length of what `text` begins with, if a terminal obeys it, or shows what follows in another
 * order: control characters, those of C1 like U+009B, too, overrides of the writing direction, and
 * bytes that are no character. 0: it is harmless. Line ends and tabs are control characters here.
 */
size_t opk_terminal_obeys(const char *text, size_t size);

/*
 * Appends output with \u009b in place of what a terminal obeys, as JSON would have it; line ends
 * and tabs stay. `bold`: so do the sequences for bold text and its end.
 */
void opk_terminal_escape(struct opk_buf *out, const char *text, size_t size, bool bold);
/* In place: a '?' for each such character, line ends and tabs, too: for a cell, or a message. */
void opk_terminal_defuse(char *text);
/* A message of one line, defused, with the line's end. */
void opk_terminal_say(FILE *to, const char *prefix, const char *message);

#endif
