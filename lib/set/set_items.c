/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads a file's lists of metrics, and the changes to them. */
#include <string.h>

#include "set/set_read.h"

/* ---- an entry that is a map */

static void read_any(struct opk_set_reader *r, void *object, const struct opk_yaml *value)
{
	struct opk_set_item *item = object;

	item->kind = OPK_SET_ITEM_ANY;
	opk_set_read_words(r, &item->any, value, "metric", "metrics");
	if (!item->any.count)
		return;
	item->what.place = item->any.items[0].place;
	item->what.text = opk_strdup(item->any.items[0].text);
	opk_problems_need(r->problems, item->what.text);
}

static void read_as(struct opk_set_reader *r, void *object, const struct opk_yaml *value)
{
	struct opk_set_item *item = object;

	opk_set_read_word(r, &item->as, value);
	if (item->as.text)
		opk_set_check_name(r, &item->as, "metric");
}

static void read_optional(struct opk_set_reader *r, void *object, const struct opk_yaml *value)
{
	struct opk_set_item *item = object;

	item->wrong |= !opk_set_read_bool(r, &item->optional, value);
}

static void read_else(struct opk_set_reader *r, void *object, const struct opk_yaml *value)
{
	struct opk_set_item *item = object;

	item->has_else = opk_set_read_number(r, &item->otherwise, value);
}

static void read_only(struct opk_set_reader *r, void *object, const struct opk_yaml *value)
{
	struct opk_set_item *item = object;

	item->wrong |= !opk_set_read_where(r, &item->only, value);
}

static void read_except(struct opk_set_reader *r, void *object, const struct opk_yaml *value)
{
	struct opk_set_item *item = object;

	item->wrong |= !opk_set_read_where(r, &item->except, value);
}

/* ---- lists */

static void read_group_items(struct opk_set_reader *r, void *object, const struct opk_yaml *value)
{
	struct opk_set_item *item = object;
	bool inside = r->in_group;

	r->in_group = true;
	opk_set_read_items(r, &item->items, value);
	r->in_group = inside;
}

static void read_draw(struct opk_set_reader *r, void *object, const struct opk_yaml *value)
{
	struct opk_set_item *item = object;

	opk_set_read_word(r, &item->draw, value);
	if (item->draw.text && strcmp(item->draw.text, "stack") != 0)
		opk_problems_add(r->problems, &value->place,
		                 "a group is drawn as a stack: the word stack is needed here");
}

#define WORD(member) .word = offsetof(struct opk_set_item, member)
static const struct opk_set_field metric_fields[] = {
	{ "metric", WORD(what) },          { "as", .read = read_as },
	{ "only", .read = read_only },     { "optional", .read = read_optional },
	{ "except", .read = read_except }, { "else", .read = read_else },
};
static const struct opk_set_field any_fields[] = {
	{ "any", .read = read_any },       { "as", .read = read_as },
	{ "only", .read = read_only },     { "optional", .read = read_optional },
	{ "except", .read = read_except }, { "else", .read = read_else },
};
static const struct opk_set_field group_fields[] = {
	{ "group", WORD(what) },
	{ "text", WORD(prose) },
	{ "metrics", .read = read_group_items },
	{ "draw", .read = read_draw },
};

enum { GROUP_METRICS = 2 };

static void read_group_map(struct opk_set_reader *r, struct opk_set_item *item,
                           const struct opk_yaml *value)
{
	unsigned seen;

	item->kind = OPK_SET_ITEM_HEADING;
	if (r->in_group)
		opk_problems_add(r->problems, &value->place, "a group can't be in a group");
	seen = opk_set_read_map(r, item, value, group_fields, 4, "");
	if (!(seen & 1U << GROUP_METRICS))
		opk_problems_add(r->problems, &value->place,
		                 "the group's list is missing: it goes under the key 'metrics'");
}

static void read_kind(struct opk_set_reader *r, void *object, const struct opk_yaml *value)
{
	if (opk_yaml_has_key(value, "group"))
		read_group_map(r, object, value);
	else
		opk_set_read_map(r, object, value,
		                 opk_yaml_has_key(value, "any") ? any_fields : metric_fields, 6,
		                 "");
}

static void read_map(struct opk_set_reader *r, struct opk_set_item *item,
                     const struct opk_yaml *value)
{
	bool metric = opk_yaml_has_key(value, "metric"), any = opk_yaml_has_key(value, "any");
	bool group = opk_yaml_has_key(value, "group");

	if (metric + any + group == 1) {
		read_kind(r, item, value);
		if (item->has_else && !item->as.text)
			opk_problems_add(
				r->problems, &value->place,
				"'else' is what formulas take for a short name: the entry needs 'as', too");
		return;
	}
	opk_problems_add(r->problems, &value->place,
	                 "%s of the keys metric, any and group is needed here",
	                 metric || any || group ? "only one" : "one");
	/* The entry may define a name. */
	item->wrong = true;
	opk_set_read_quietly(r, item, value, &(struct opk_set_field){ .read = read_kind });
}

/* A file may name a metric twice only if that depends on chips. */
static void check_twice(struct opk_set_reader *r, struct opk_set_item *item)
{
	const struct opk_word *word = &item->what;
	size_t first;

	if (item->kind != OPK_SET_ITEM_METRIC || item->only.count || item->except.count
	    || strstr(word->text, "${"))
		return;
	if (!opk_problems_need(r->problems, opk_words_add(&r->metrics, "", &word->place)
	                                            && opk_index_add(&r->seen, word->text,
	                                                             r->metrics.count - 1, &first)))
		return;
	if (first != r->metrics.count - 1) {
		opk_autofree char *place = opk_place_text(&r->metrics.items[first].place);

		opk_problems_add(r->problems, &word->place,
		                 "metric %.200s is listed twice, first at %s", word->text,
		                 place ? place : "");
		item->wrong = true;
	}
}

static void read_item(struct opk_set_reader *r, struct opk_set_items *out,
                      const struct opk_yaml *value)
{
	struct opk_set_item *item;

	/* An alias may have meant anything. */
	r->set->broken |= value->kind == OPK_YAML_BAD;
	if (value->kind == OPK_YAML_BAD)
		return;
	if (value->kind == OPK_YAML_LIST || (value->kind == OPK_YAML_SCALAR && !*value->text)) {
		opk_problems_add(
			r->problems, &value->place,
			"one of the metrics is needed here: a name, a pattern, or a map with the "
			"key metric, any or group");
		return;
	}
	item = opk_list_add(out);
	if (!opk_problems_need(r->problems, item))
		return;
	if (value->kind == OPK_YAML_SCALAR)
		opk_set_read_word(r, &item->what, value);
	else
		read_map(r, item, value);
	if (item->what.text && !r->in_change)
		check_twice(r, item);
}

void opk_set_read_items(struct opk_set_reader *r, struct opk_set_items *out,
                        const struct opk_yaml *value)
{
	size_t count;
	const struct opk_yaml *items = opk_set_check_list(r, &count, value, "metrics");

	r->set->broken |= !count;
	for (size_t i = 0; i < count; i++)
		read_item(r, out, &items[i]);
}

/* ---- changes */

static void read_for(struct opk_set_reader *r, void *object, const struct opk_yaml *value)
{
	struct opk_change *change = object;

	/* It is unclear on which chips the list is changed. */
	r->set->unfit |= !opk_set_read_where(r, &change->where, value);
}

static void read_add(struct opk_set_reader *r, void *object, const struct opk_yaml *value)
{
	struct opk_change *change = object;

	r->in_change = true;
	opk_set_read_items(r, &change->add, value);
	r->in_change = false;
}

static void read_remove(struct opk_set_reader *r, void *object, const struct opk_yaml *value)
{
	struct opk_change *change = object;

	opk_set_read_words(r, &change->remove, value, "metric", "metrics");
}

static const struct opk_set_field change_fields[] = {
	{ "for", .read = read_for },
	{ "add", .read = read_add },
	{ "remove", .read = read_remove },
};

static void read_change(struct opk_set_reader *r, const struct opk_yaml *value)
{
	struct opk_change *change = opk_list_add(&r->set->changes);
	unsigned seen;

	if (!opk_problems_need(r->problems, change))
		return;
	change->place = value->place;
	seen = opk_set_read_map(r, change, value, change_fields, 3,
	                        "a map with for, and add or remove, is needed here");
	if (!(seen & 1))
		opk_problems_add(
			r->problems, &value->place,
			"for which chips, architectures or profilers: the key 'for' is missing");
	r->set->unfit |= !change->where.count;
	if (!(seen & 6))
		opk_problems_add(r->problems, &value->place,
		                 "the change has neither 'add' nor 'remove'");
}

void opk_set_read_changes(struct opk_set_reader *r, void *object, const struct opk_yaml *value)
{
	(void)object;
	r->set->unfit |= value->kind != OPK_YAML_LIST || !value->count;
	if (value->kind == OPK_YAML_BAD)
		return;
	if (value->kind != OPK_YAML_LIST || !value->count)
		opk_problems_add(r->problems, &value->place, "a list of changes is needed here");
	else
		for (size_t i = 0; i < value->count; i++)
			read_change(r, &value->items[i]);
}
