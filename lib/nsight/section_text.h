/* SPDX-License-Identifier: BSD-2-Clause */
/* Section files of Nsight Compute, in protobuf's text format, as a tree that knows its places. */
#ifndef OPK_SECTION_TEXT_H
#define OPK_SECTION_TEXT_H

#include "base/ctx.h"
#include "base/source.h"

enum opk_field_kind {
	OPK_FIELD_MESSAGE,
	OPK_FIELD_STRING,
	OPK_FIELD_WORD, /* a number, or the name of an enum's value */
};

struct opk_field {
	char *name; /* "" for the whole file */
	enum opk_field_kind kind;
	char *text;               /* a string, without quotes and escapes, or a word; else NULL */
	struct opk_place place;   /* where the value begins; for a message, its name */
	struct opk_field *fields; /* a message's, in order; a list is several fields of one name */
	size_t count;
	size_t capacity;
};

/*
 * OPK_EINPUT: errors carry their place. There is no schema: every well-formed field is taken.
 * Nesting beyond 32 levels, more than 200,000 fields, and text that is not UTF-8 are refused.
 */
int opk_section_parse(struct opk_field **out, struct opk_ctx *ctx, struct opk_source *source);
void opk_section_free(struct opk_field *root);

/* The last field of that name and kind, which is the one that counts in protobuf; or NULL. */
const struct opk_field *opk_field_find(const struct opk_field *message, const char *name,
                                       enum opk_field_kind kind);
/* The text of a string field; or NULL. */
const char *opk_field_string(const struct opk_field *message, const char *name);

#endif
