/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes untrusted text safe for a terminal, which obeys control characters. */
#ifndef OPK_TERMINAL_H
#define OPK_TERMINAL_H

#include <stdio.h>

#include "base/buf.h"

/*
 * The length of a harmful sequence at the start of `text`; 0: harmless. Harmful are control
 * characters, also of C1 such as U+009B, changes of the writing direction, and bytes that are not
 * UTF-8. Line ends and tabs are control characters here.
 */
size_t opk_terminal_obeys(const char *text, size_t size);

/*
 * Appends the text with harmful characters escaped as in JSON, such as \u009b. Line ends and tabs
 * stay. `bold`: so do the sequences for bold text and its end.
 */
void opk_terminal_escape(struct opk_buf *out, const char *text, size_t size, bool bold);
/* Replaces each harmful character by '?', also line ends and tabs: for a cell or a message. */
void opk_terminal_defuse(char *text);
/* Prints a defused message as one line. */
void opk_terminal_say(FILE *to, const char *prefix, const char *message);

#endif
