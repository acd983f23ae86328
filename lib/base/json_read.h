/* SPDX-License-Identifier: BSD-2-Clause */
/* A strict JSON reader (RFC 8259) for the JSON in .opk files. */
#ifndef OPK_JSON_READ_H
#define OPK_JSON_READ_H

#include "base/ctx.h"

enum opk_json_type {
	OPK_JSON_NULL,
	OPK_JSON_BOOL,
	OPK_JSON_NUMBER,
	OPK_JSON_STRING,
	OPK_JSON_ARRAY,
	OPK_JSON_OBJECT
};

struct opk_json {
	enum opk_json_type type;
	char *key;  /* of an object's member, otherwise NULL */
	char *text; /* a decoded string, or a number as written */
	bool boolean;
	struct opk_json *children;
	size_t count;
	size_t capacity;
};

/* Parses all of `text`. The message of OPK_EINPUT says at which byte it fails and why. */
int opk_json_parse(struct opk_json **out, struct opk_ctx *ctx, const char *text, size_t size);
void opk_json_free(struct opk_json *root);
OPK_DEFINE_AUTO(opk_json)

/* The member of that name, or NULL. */
const struct opk_json *opk_json_member(const struct opk_json *object, const char *key);
/* The member of that name and type, or NULL. */
const struct opk_json *opk_json_get(const struct opk_json *object, const char *key,
                                    enum opk_json_type type);
/* The string member, or "". */
const char *opk_json_string(const struct opk_json *object, const char *key);
/* Whole numbers in range; false, and *out unchanged, if the member is missing or something else. */
bool opk_json_u64(uint64_t *out, const struct opk_json *object, const char *key);
bool opk_json_to_u64(uint64_t *out, const struct opk_json *number);
bool opk_json_to_i64(int64_t *out, const struct opk_json *number);

#endif
