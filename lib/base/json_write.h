/* SPDX-License-Identifier: BSD-2-Clause */
/* A streaming JSON writer into a buffer; it adds the commas. */
#ifndef OPK_JSON_WRITE_H
#define OPK_JSON_WRITE_H

#include "base/buf.h"

struct opk_json_writer {
	struct opk_buf *buf;
	bool comma; /* this array or object already has an element */
};

void opk_json_begin_object(struct opk_json_writer *json);
void opk_json_end_object(struct opk_json_writer *json);
void opk_json_begin_array(struct opk_json_writer *json);
void opk_json_end_array(struct opk_json_writer *json);
void opk_json_key(struct opk_json_writer *json, const char *key);
void opk_json_put_string(struct opk_json_writer *json, const char *text); /* NULL: null */
void opk_json_put_u64(struct opk_json_writer *json, uint64_t value);
void opk_json_put_i64(struct opk_json_writer *json, int64_t value);
void opk_json_put_bool(struct opk_json_writer *json, bool value);
/* As %.17g; infinities and NaN become null, since JSON can't write them. */
void opk_json_put_double(struct opk_json_writer *json, double value);
void opk_json_put_strings(struct opk_json_writer *json, const char *const *items, size_t count);

/* Writes a value that was read, with its key if it has one. */
struct opk_json;
void opk_json_put(struct opk_json_writer *json, const struct opk_json *value);

/* Adds a member to an object, unless its value is NULL, "" or 0. */
void opk_json_add_string(struct opk_json_writer *json, const char *key, const char *text);
void opk_json_add_u64(struct opk_json_writer *json, const char *key, uint64_t value);

#endif
