/* SPDX-License-Identifier: BSD-2-Clause */
/* Structs as objects of JSON. */
#include "container/members.h"

#include <string.h>

#include "base/metric.h"
#include "container/container.h"

static const void *at(const void *object, size_t offset)
{
	return (const char *)object + offset;
}

static uint64_t number_at(const void *number, size_t width)
{
	return width == 8 ? *(const uint64_t *)number : *(const uint32_t *)number;
}

static size_t count_of(const struct opk_member *member, const void *object)
{
	return *(const size_t *)at(object, member->count);
}

/* ---- writing ---------------------------------------------------------------------------- */

static bool is_empty(const struct opk_member *member, const void *object)
{
	const void *value = at(object, member->offset);

	switch (member->form) {
	case OPK_MEMBER_TEXT:
		return !*(const char *const *)value || !**(const char *const *)value;
	case OPK_MEMBER_NUMBER:
	case OPK_MEMBER_PLUS_1:
		return !number_at(value, member->width);
	case OPK_MEMBER_INDEX:
		return *(const int32_t *)value < 0;
	case OPK_MEMBER_SHAPE:
		return !*(const uint32_t *)value;
	case OPK_MEMBER_SHIFT:
		return !*(const bool *)at(object, member->count);
	case OPK_MEMBER_FLAG:
	case OPK_MEMBER_PROFILER:
		return false;
	default:
		return !count_of(member, object);
	}
}

static void put_numbers(struct opk_json_writer *json, const uint32_t *numbers, size_t count)
{
	opk_json_begin_array(json);
	for (size_t i = 0; i < count; i++)
		opk_json_put_u64(json, numbers[i]);
	opk_json_end_array(json);
}

static void put_object(struct opk_json_writer *json, const struct opk_members *table,
                       const void *from)
{
	opk_json_begin_object(json);
	opk_members_write(json, table, from);
	opk_json_end_object(json);
}

static void put_pairs(struct opk_json_writer *json, const char *const (*pairs)[2], size_t count)
{
	opk_json_begin_object(json);
	for (size_t i = 0; i < count; i++) {
		opk_json_key(json, pairs[i][0]);
		opk_json_put_string(json, pairs[i][1]);
	}
	opk_json_end_object(json);
}

static void put_list(struct opk_json_writer *json, const struct opk_member *member,
                     const void *items, size_t count)
{
	const struct opk_pass_list *lists = items;

	opk_json_begin_array(json);
	for (size_t i = 0; i < count; i++)
		if (member->form == OPK_MEMBER_PASSES)
			put_numbers(json, lists[i].passes, lists[i].count);
		else
			put_object(json, member->elements, at(items, i * member->elements->size));
	opk_json_end_array(json);
}

static void put_value(struct opk_json_writer *json, const struct opk_member *member,
                      const void *object)
{
	const void *value = at(object, member->offset);

	switch (member->form) {
	case OPK_MEMBER_TEXT:
		opk_json_put_string(json, *(const char *const *)value);
		break;
	case OPK_MEMBER_NUMBER:
	case OPK_MEMBER_INDEX:
		opk_json_put_u64(json, number_at(value, member->width));
		break;
	case OPK_MEMBER_PLUS_1:
		opk_json_put_u64(json, number_at(value, member->width) - 1);
		break;
	case OPK_MEMBER_FLAG:
		opk_json_put_bool(json, *(const bool *)value);
		break;
	case OPK_MEMBER_PROFILER:
		opk_json_put_string(json, opk_profiler_name(*(const enum opk_profiler *)value));
		break;
	case OPK_MEMBER_SHAPE:
		put_numbers(json, value, 3);
		break;
	case OPK_MEMBER_SHIFT:
		opk_json_put_i64(json, *(const int64_t *)value);
		break;
	case OPK_MEMBER_OBJECT:
		put_object(json, member->elements, value);
		break;
	case OPK_MEMBER_TEXTS:
		opk_json_put_strings(json, *(const char *const *const *)value,
		                     count_of(member, object));
		break;
	case OPK_MEMBER_PAIRS:
		put_pairs(json, *(const char *const(*const *)[2])value, count_of(member, object));
		break;
	default:
		put_list(json, member, *(const void *const *)value, count_of(member, object));
	}
}

void opk_members_write(struct opk_json_writer *json, const struct opk_members *table,
                       const void *from)
{
	for (size_t i = 0; i < table->count; i++) {
		const struct opk_member *member = &table->items[i];

		if (is_empty(member, from) && !(member->rules & OPK_MEMBER_NEEDED))
			continue;
		opk_json_key(json, member->key);
		put_value(json, member, from);
	}
}

/* ---- reading ---------------------------------------------------------------------------- */

static const enum opk_json_type types[] = {
	[OPK_MEMBER_TEXT] = OPK_JSON_STRING,   [OPK_MEMBER_NUMBER] = OPK_JSON_NUMBER,
	[OPK_MEMBER_INDEX] = OPK_JSON_NUMBER,  [OPK_MEMBER_FLAG] = OPK_JSON_BOOL,
	[OPK_MEMBER_SHAPE] = OPK_JSON_ARRAY,   [OPK_MEMBER_PROFILER] = OPK_JSON_STRING,
	[OPK_MEMBER_SHIFT] = OPK_JSON_NUMBER,  [OPK_MEMBER_OBJECT] = OPK_JSON_OBJECT,
	[OPK_MEMBER_TEXTS] = OPK_JSON_ARRAY,   [OPK_MEMBER_PAIRS] = OPK_JSON_OBJECT,
	[OPK_MEMBER_OBJECTS] = OPK_JSON_ARRAY, [OPK_MEMBER_PASSES] = OPK_JSON_ARRAY,
	[OPK_MEMBER_PLUS_1] = OPK_JSON_NUMBER,
};

static int refuse(const struct opk_members_reader *r, const char *key, const char *why)
{
	return r->number ? opk_fail(r->ctx, OPK_EINPUT, "%s %zu: member %s is %s", r->what,
	                            r->number, key, why)
	                 : opk_fail(r->ctx, OPK_EINPUT, "%s: member %s is %s", r->what, key, why);
}

static void set_absent(void *value, enum opk_member_form form)
{
	if (form == OPK_MEMBER_TEXT)
		*(const char **)value = "";
	else if (form == OPK_MEMBER_INDEX)
		*(int32_t *)value = -1;
	else if (form == OPK_MEMBER_FLAG)
		*(bool *)value = true;
}

/* False: it is out of range. */
static bool read_number(void *value, const struct opk_json *number, uint64_t most)
{
	uint64_t read;

	if (!opk_json_to_u64(&read, number) || read > most)
		return false;
	if (most == UINT64_MAX)
		*(uint64_t *)value = read;
	else
		*(uint32_t *)value = (uint32_t)read;
	return true;
}

static bool read_plus_1(uint32_t *value, const struct opk_json *number)
{
	bool good = read_number(value, number, UINT32_MAX - 1);

	*value += good;
	return good;
}

/* The shape stays unknown if the list is not three numbers. */
static bool read_shape(uint32_t *shape, const struct opk_json *list)
{
	bool good = true;

	for (size_t i = 0; i < list->count; i++)
		if (list->count != 3 || list->children[i].type != OPK_JSON_NUMBER)
			return true;
	for (size_t i = 0; i < list->count; i++)
		good = good && read_number(&shape[i], &list->children[i], UINT32_MAX);
	return good;
}

/* False: it is out of range. */
static bool read_one(void *to, const struct opk_member *member, const struct opk_json *found)
{
	void *value = (char *)to + member->offset;

	switch (member->form) {
	case OPK_MEMBER_TEXT:
		*(const char **)value = found->text;
		return true;
	case OPK_MEMBER_NUMBER:
		return read_number(value, found, member->width == 8 ? UINT64_MAX : UINT32_MAX);
	case OPK_MEMBER_INDEX:
		return read_number(value, found, INT32_MAX);
	case OPK_MEMBER_PLUS_1:
		return read_plus_1(value, found);
	case OPK_MEMBER_FLAG:
		*(bool *)value = found->boolean;
		return true;
	case OPK_MEMBER_PROFILER:
		return opk_profiler_parse(value, found->text);
	case OPK_MEMBER_SHAPE:
		return read_shape(value, found);
	default:
		*((bool *)to + member->count) = opk_json_to_i64(value, found);
		return *((bool *)to + member->count);
	}
}

/* ---- lists */

void opk_arrays_clear(struct opk_arrays *arrays)
{
	for (size_t i = 0; i < arrays->count; i++)
		free(arrays->items[i]);
	free(arrays->items);
	*arrays = (struct opk_arrays){ 0 };
}

static void *new_array(const struct opk_members_reader *r, size_t count, size_t size)
{
	struct opk_arrays *arrays = r->arrays;
	void **array = opk_list_add(arrays);

	return array ? *array = opk_alloc_array(count, size) : NULL;
}

/* A value that is not a text becomes "", which is never a name. */
static int read_texts(const char **texts, const struct opk_member *member,
                      const struct opk_members_reader *r, const struct opk_json *list)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct opk_json *text = &list->children[i];

		texts[i] = text->type == OPK_JSON_STRING ? text->text : "";
		if (text->type != OPK_JSON_STRING && (member->rules & OPK_MEMBER_STRICT))
			return opk_fail(r->ctx, OPK_EINPUT, "%s %zu is not a text", member->key,
			                i + 1);
	}
	return OPK_OK;
}

static int read_pairs(const char *(*pairs)[2], const struct opk_members_reader *r,
                      const struct opk_json *list)
{
	for (size_t i = 0; i < list->count; i++) {
		if (list->children[i].type != OPK_JSON_STRING)
			return refuse(r, list->children[i].key, "of the wrong type");
		pairs[i][0] = list->children[i].key;
		pairs[i][1] = list->children[i].text;
	}
	return OPK_OK;
}

static int read_objects(void *objects, const struct opk_member *member,
                        const struct opk_members_reader *r, const struct opk_json *list)
{
	for (size_t i = 0; i < list->count; i++) {
		struct opk_members_reader each = { r->ctx, r->arrays, member->key, i + 1 };

		if (list->children[i].type != OPK_JSON_OBJECT)
			return opk_fail(r->ctx, OPK_EINPUT, "%s %zu is not an object", member->key,
			                i + 1);
		TRY(opk_members_read((char *)objects + i * member->elements->size, member->elements,
		                     &each, &list->children[i]));
	}
	return OPK_OK;
}

/* All numbers go into one array. A value that is not a number becomes one past all passes. */
static int read_passes(struct opk_pass_list *lists, const struct opk_members_reader *r,
                       const struct opk_json *list)
{
	size_t total = 1;
	uint32_t *passes;

	for (size_t i = 0; i < list->count; i++) {
		if (list->children[i].type != OPK_JSON_ARRAY)
			return opk_fail(r->ctx, OPK_EINPUT,
			                "metadata: the passes of metric %zu are not an array",
			                i + 1);
		total += list->children[i].count;
	}
	passes = new_array(r, total, sizeof *passes);
	if (!passes)
		return opk_nomem(r->ctx, r->what);
	for (size_t i = 0; i < list->count; i++) {
		const struct opk_json *numbers = &list->children[i];

		lists[i] = (struct opk_pass_list){ passes, numbers->count };
		for (size_t j = 0; j < numbers->count; j++, passes++)
			if (!read_number(passes, &numbers->children[j], UINT32_MAX))
				*passes = UINT32_MAX;
	}
	return OPK_OK;
}

static int read_list(void *to, const struct opk_member *member, const struct opk_members_reader *r,
                     const struct opk_json *list)
{
	static const size_t sizes[] = {
		[OPK_MEMBER_TEXTS] = sizeof(char *),
		[OPK_MEMBER_PAIRS] = 2 * sizeof(char *),
		[OPK_MEMBER_PASSES] = sizeof(struct opk_pass_list),
	};
	struct opk_members_reader inside = { r->ctx, r->arrays, member->key, 0 };
	void *array;

	if (!list->count)
		return OPK_OK;
	array = new_array(r, list->count,
	                  member->elements ? member->elements->size : sizes[member->form]);
	if (!array)
		return opk_nomem(r->ctx, r->what);
	*(void **)((char *)to + member->offset) = array;
	*(size_t *)((char *)to + member->count) = list->count;
	switch (member->form) {
	case OPK_MEMBER_TEXTS:
		return read_texts(array, member, r, list);
	case OPK_MEMBER_PAIRS:
		return read_pairs(array, &inside, list);
	case OPK_MEMBER_PASSES:
		return read_passes(array, r, list);
	default:
		return read_objects(array, member, r, list);
	}
}

static int read_member(void *to, const struct opk_member *member,
                       const struct opk_members_reader *r, const struct opk_json *found)
{
	struct opk_members_reader inside = { r->ctx, r->arrays, member->key, 0 };

	if (member->form == OPK_MEMBER_OBJECT)
		return opk_members_read((char *)to + member->offset, member->elements, &inside,
		                        found);
	if (member->form >= OPK_MEMBER_TEXTS)
		return read_list(to, member, r, found);
	if (read_one(to, member, found)
	    || !(member->rules & (OPK_MEMBER_BOUNDED | OPK_MEMBER_STRICT)))
		return OPK_OK;
	return refuse(r, member->key, "out of range");
}

enum { MOST_MEMBERS = 64 };

/* A writer puts members in the order of the table: the search goes on after the last one. */
static void find_members(const struct opk_json **found, const struct opk_members *table,
                         const struct opk_json *object)
{
	size_t count = object->type == OPK_JSON_OBJECT ? object->count : 0, next = 0;

	for (size_t i = 0; i < count; i++)
		for (size_t tried = 0; tried < table->count; tried++) {
			size_t at = next;

			next = next + 1 < table->count ? next + 1 : 0;
			if (strcmp(table->items[at].key, object->children[i].key) != 0)
				continue;
			found[at] = found[at] ? found[at] : &object->children[i];
			break;
		}
}

int opk_members_read(void *to, const struct opk_members *table,
                     const struct opk_members_reader *reader, const struct opk_json *object)
{
	const struct opk_json *all[MOST_MEMBERS] = { NULL };

	if (table->count > MOST_MEMBERS)
		return opk_fail(reader->ctx, OPK_EFAILED, "%s: too many members", reader->what);
	find_members(all, table, object);
	for (size_t i = 0; i < table->count; i++) {
		const struct opk_member *member = &table->items[i];
		const struct opk_json *found = all[i];
		bool missing = !found && member->rules & OPK_MEMBER_NEEDED
		               && member->form != OPK_MEMBER_TEXT
		               && member->form < OPK_MEMBER_TEXTS;

		set_absent((char *)to + member->offset, member->form);
		if (found && found->type == types[member->form])
			TRY(read_member(to, member, reader, found));
		else if (missing || (found && member->rules & OPK_MEMBER_STRICT))
			return refuse(reader, member->key,
			              missing ? "missing" : "of the wrong type");
	}
	return OPK_OK;
}
