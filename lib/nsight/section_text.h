/* SPDX-License-Identifier: BSD-2-Clause */
/* The text format of protobuf, in which Nsight Compute's section files are: a tree that knows its places. */
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
	char *name; /* "" of the whole file */
	enum opk_field_kind kind;
	char *text; /* of a string without quotes and escapes, of a word as written; else NULL */
	struct opk_place place;   /* where the value begins; of a message its name */
	struct opk_field *fields; /* of a message, in order; a list is as many fields of one name */
	size_t count;
	size_t capacity;
};

/*
 * OPK_EINPUT: errors carry their place. Without a schema every field is welcome that is
 * well-formed; nesting beyond 32 levels and more than 200,000 fields are refused, and so are texts
 * that are not UTF-8.
 */
int opk_section_parse(struct opk_field **out, struct opk_ctx *ctx, struct opk_source *source);
void opk_section_free(struct opk_field *root);

/* The last field of that name and kind, as protobuf has it; NULL where there is none. */
const struct opk_field *opk_field_find(const struct opk_field *message, const char *name,
                                       enum opk_field_kind kind);
/* The text of a string field; NULL where there is none. */
const char *opk_field_string(const struct opk_field *message, const char *name);

#endif
