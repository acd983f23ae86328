/* SPDX-License-Identifier: BSD-2-Clause */
/* Structs as objects of JSON: one table of a struct's members reads and writes them. */
#ifndef OPK_MEMBERS_H
#define OPK_MEMBERS_H

#include "base/ctx.h"
#include "base/json_read.h"
#include "base/json_write.h"

/* For each form: the struct's member, the value in JSON, and the default without one. */
enum opk_member_form {
	OPK_MEMBER_TEXT,     /* const char *: a text; "" */
	OPK_MEMBER_NUMBER,   /* of 4 or 8 bytes, unsigned; 0 */
	OPK_MEMBER_INDEX,    /* int32_t, counted from 0; -1 */
	OPK_MEMBER_PLUS_1,   /* uint32_t: the number plus 1; 0 */
	OPK_MEMBER_FLAG,     /* bool, always written; true */
	OPK_MEMBER_PROFILER, /* enum opk_profiler: its name */
	OPK_MEMBER_SHAPE,    /* uint32_t[3]: an array; zeros */
	OPK_MEMBER_SHIFT,    /* int64_t; the bool at `count` says whether it is known */
	OPK_MEMBER_OBJECT,   /* a struct of `elements`, written if its `count` is not 0 */
	/* Lists: a pointer to the first element, and in `count` the number of them. */
	OPK_MEMBER_TEXTS,   /* const char *: an array of texts */
	OPK_MEMBER_PAIRS,   /* two const char *: an object of texts */
	OPK_MEMBER_OBJECTS, /* structs of `elements`: an array of objects */
	OPK_MEMBER_PASSES,  /* struct opk_pass_list: an array of arrays of numbers */
};

enum {
	OPK_MEMBER_BOUNDED = 1, /* refuses a number out of range; without: ignores it */
	OPK_MEMBER_STRICT = 2,  /* also refuses a value of another type */
	OPK_MEMBER_NEEDED = 4,  /* always written; must exist when read, except texts */
};

struct opk_member {
	const char *key;
	enum opk_member_form form;
	unsigned rules;
	size_t offset, width, count;
	const struct opk_members *elements;
};
struct opk_members {
	const struct opk_member *items;
	size_t count, size; /* of the struct, in bytes */
};

/* A member of a struct and its key. Without further fields it is a text, and any text will do. */
#define OPK_MEMBER(type, member, name, ...)                                                        \
	{                                                                                          \
		.key = (name), .offset = offsetof(struct type, member),                            \
		.width = sizeof(((struct type *)0)->member), __VA_ARGS__                           \
	}
#define OPK_MEMBERS(array, type)                                                                   \
	{                                                                                          \
		array, sizeof(array) / sizeof *(array), sizeof(struct type)                        \
	}

void opk_members_write(struct opk_json_writer *json, const struct opk_members *table,
                       const void *from);

/* The object that is read: errors name "WHAT", or "WHAT 3". */
struct opk_members_reader {
	struct opk_ctx *ctx;
	struct opk_arrays *arrays; /* owns the lists; NULL: no lists */
	const char *what;
	size_t number; /* 0: the only object */
};
struct opk_arrays {
	void **items;
	size_t count, capacity;
};
void opk_arrays_clear(struct opk_arrays *arrays);

/* Fills a zeroed struct, whose texts and lists borrow from the object and the arrays. */
int opk_members_read(void *to, const struct opk_members *table,
                     const struct opk_members_reader *reader, const struct opk_json *object);

#endif
