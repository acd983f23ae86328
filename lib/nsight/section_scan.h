/* SPDX-License-Identifier: BSD-2-Clause */
/* The characters of protobuf's text format: blanks and comments, names, numbers, strings. */
#ifndef OPK_SECTION_SCAN_H
#define OPK_SECTION_SCAN_H

#include "base/buf.h"
#include "base/ctx.h"
#include "base/source.h"

struct opk_scan {
	struct opk_ctx *ctx;
	const char *text;
	size_t size, at;
	struct opk_place place; /* of `at` */
	size_t fields;          /* how many there are so far */
};

bool opk_scan_at_end(const struct opk_scan *s);
/* The next character; '\0' at the end. */
char opk_scan_peek(const struct opk_scan *s);
void opk_scan_next(struct opk_scan *s);
bool opk_scan_accept(struct opk_scan *s, char c);
/* Over blanks and comments. */
void opk_scan_skip(struct opk_scan *s);
/* free() what these give: the name of a field; a number or an enum's value, of the field `name`. */
int opk_scan_name(struct opk_scan *s, char **out);
int opk_scan_word(struct opk_scan *s, char **out, const char *name);
/* A quoted string, without quotes and escapes, onto the buffer. */
int opk_scan_string(struct opk_scan *s, struct opk_buf *out);

#endif
