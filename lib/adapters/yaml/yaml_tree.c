/* SPDX-License-Identifier: BSD-2-Clause */
#include "adapters/yaml/yaml_tree.h"

#include <string.h>
#include <yaml.h>

#include "base/index.h"
#include "base/mem.h"

enum { MAX_DEPTH = 16, MAX_KEYS = 10000 };

struct builder {
	struct opk_ctx *ctx;
	struct opk_problems *problems;
	struct opk_source *source;
	yaml_parser_t parser;
	yaml_event_t event;
	size_t alias_line; /* of the last alias that was told */
};

static int nomem(struct builder *b)
{
	return opk_nomem(b->ctx, "YAML");
}

static struct opk_place place_of(const struct builder *b, yaml_mark_t mark)
{
	return (struct opk_place){ b->source, mark.line + 1, mark.column + 1 };
}

/* What to do about libyaml's errors. */
static const struct hint {
	const char *problem, *advice;
} hints[] = {
	{ "found character that cannot start any token",
	  "; text that begins so goes in quotes, and lines are indented with blanks, not tabs" },
	{ "mapping values are not allowed in this context",
	  "; text with a colon and a blank in it goes in quotes" },
	{ "did not find expected key", "; is the line indented as its neighbours are?" },
	{ "did not find expected '-' indicator", "; is the line indented as its neighbours are?" },
};

static const char *advice_on(const char *problem)
{
	for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
		if (!strcmp(problem, hints[i].problem))
			return hints[i].advice;
	return "";
}

/* Why libyaml can't go on. Its reader tells a byte, its parser lines and columns. */
static int fail_to_parse(struct builder *b)
{
	const yaml_parser_t *parser = &b->parser;
	struct opk_place place = parser->error == YAML_READER_ERROR
	                                 ? opk_place_of_byte(b->source, parser->problem_offset)
	                                 : place_of(b, parser->problem_mark);
	const char *problem = parser->problem ? parser->problem : "malformed YAML";

	/* At the end of the file it helps to know what is still open. */
	if (parser->context && parser->context_mark.line < parser->problem_mark.line)
		opk_problems_add(b->problems, &place, "%s, %s that begins on line %zu%s", problem,
		                 parser->context, parser->context_mark.line + 1,
		                 advice_on(problem));
	else
		opk_problems_add(b->problems, &place, "%s%s", problem, advice_on(problem));
	return OPK_EINPUT;
}

/* Moves on to the next event. */
static int next(struct builder *b)
{
	yaml_event_delete(&b->event);
	if (yaml_parser_parse(&b->parser, &b->event))
		return OPK_OK;
	return b->parser.error == YAML_MEMORY_ERROR ? nomem(b) : fail_to_parse(b);
}

static int fail_here(struct builder *b, const char *what)
{
	struct opk_place place = place_of(b, b->event.start_mark);

	opk_problems_add(b->problems, &place, "%s", what);
	return OPK_EINPUT;
}

/* The same, and the tree goes on. */
static void tell_here(struct builder *b, const char *what)
{
	fail_here(b, what);
}

static int build(struct builder *b, struct opk_yaml *out, int depth);

static int add_item(struct builder *b, struct opk_yaml *parent, int depth)
{
	struct opk_yaml *item;

	if (!opk_grow(&parent->items, &parent->capacity, parent->count, sizeof *item))
		return nomem(b);
	item = &parent->items[parent->count++];
	*item = (struct opk_yaml){ 0 };
	return build(b, item, depth + 1);
}

/* Of two equal keys the first one counts. */
static int check_twice(struct builder *b, struct opk_index *keys, struct opk_yaml *key)
{
	size_t first = 0;

	if (!opk_index_find(&first, keys, key->text))
		return opk_index_add(keys, key->text, key->place.line, NULL) ? OPK_OK : nomem(b);
	opk_problems_add(b->problems, &key->place, "duplicate key '%.100s', first on line %zu",
	                 key->text, first);
	key->kind = OPK_YAML_BAD;
	return OPK_OK;
}

static int check_key(struct builder *b, struct opk_yaml *map, struct opk_index *keys)
{
	struct opk_yaml *key = &map->items[map->count - 1];

	if (map->count > 2 * MAX_KEYS) {
		opk_problems_add(b->problems, &key->place, "more than %d keys", MAX_KEYS);
		return OPK_EINPUT;
	}
	if (key->kind == OPK_YAML_LIST || key->kind == OPK_YAML_MAP) {
		opk_problems_add(b->problems, &key->place, "a key must be plain text");
		key->kind = OPK_YAML_BAD;
	}
	return key->kind == OPK_YAML_SCALAR ? check_twice(b, keys, key) : OPK_OK;
}

/* The event that opened the list or map is current; the one that closes it is current after. */
static int build_items(struct builder *b, struct opk_yaml *out, yaml_event_type_t end, int depth)
{
	opk_autoindex struct opk_index keys = { 0 };
	int code = next(b);

	while (!code && b->event.type != end) {
		code = add_item(b, out, depth);
		if (!code && out->kind == OPK_YAML_MAP && out->count % 2)
			code = check_key(b, out, &keys);
		if (!code)
			code = next(b);
	}
	return code;
}

static int build_scalar(struct builder *b, struct opk_yaml *out)
{
	const yaml_event_t *event = &b->event;

	if (event->data.scalar.anchor)
		tell_here(b, "anchors are not allowed here");
	if (memchr(event->data.scalar.value, 0, event->data.scalar.length)) {
		tell_here(b, "a NUL character in text");
		out->kind = OPK_YAML_BAD;
		return OPK_OK;
	}
	out->kind = OPK_YAML_SCALAR;
	out->text = opk_strndup((const char *)event->data.scalar.value, event->data.scalar.length);
	return out->text ? OPK_OK : nomem(b);
}

/* One a line is enough. */
static void tell_alias(struct builder *b, size_t line)
{
	if (line != b->alias_line)
		tell_here(
			b,
			"aliases are not allowed here; a pattern that begins with '*' goes in quotes");
	b->alias_line = line;
}

static int build(struct builder *b, struct opk_yaml *out, int depth)
{
	const yaml_event_t *event = &b->event;

	out->place = place_of(b, event->start_mark);
	if (depth > MAX_DEPTH)
		return fail_here(b, "nested too deeply");
	switch (event->type) {
	case YAML_SCALAR_EVENT:
		return build_scalar(b, out);
	case YAML_SEQUENCE_START_EVENT:
		if (event->data.sequence_start.anchor)
			tell_here(b, "anchors are not allowed here");
		out->kind = OPK_YAML_LIST;
		return build_items(b, out, YAML_SEQUENCE_END_EVENT, depth);
	case YAML_MAPPING_START_EVENT:
		if (event->data.mapping_start.anchor)
			tell_here(b, "anchors are not allowed here");
		out->kind = OPK_YAML_MAP;
		return build_items(b, out, YAML_MAPPING_END_EVENT, depth);
	case YAML_ALIAS_EVENT:
		tell_alias(b, out->place.line);
		out->kind = OPK_YAML_BAD;
		return OPK_OK;
	default:
		return fail_here(b, "the document is empty");
	}
}

static int build_document(struct builder *b, struct opk_yaml *root)
{
	int code = next(b); /* stream start */

	if (!code)
		code = next(b);
	if (!code && b->event.type != YAML_DOCUMENT_START_EVENT)
		return fail_here(b, "the file is empty");
	if (!code)
		code = next(b);
	if (!code)
		code = build(b, root, 0);
	if (!code)
		code = next(b); /* document end */
	if (!code)
		code = next(b);
	if (!code && b->event.type != YAML_STREAM_END_EVENT)
		tell_here(b, "one document a file, please");
	return code;
}

int opk_yaml_parse(struct opk_yaml **out, struct opk_ctx *ctx, struct opk_problems *problems,
                   struct opk_source *source)
{
	struct builder b = { .ctx = ctx, .problems = problems, .source = source };
	struct opk_yaml *root = opk_alloc(sizeof *root);
	int code;

	if (!root || !yaml_parser_initialize(&b.parser)) {
		free(root);
		return nomem(&b);
	}
	yaml_parser_set_input_string(&b.parser, (const unsigned char *)source->text, source->size);
	code = build_document(&b, root);
	yaml_event_delete(&b.event);
	yaml_parser_delete(&b.parser);
	if (code) {
		opk_yaml_free(root);
		return code;
	}
	*out = root;
	return OPK_OK;
}

static void clear(struct opk_yaml *node)
{
	for (size_t i = 0; i < node->count; i++)
		clear(&node->items[i]);
	free(node->items);
	free(node->text);
}

void opk_yaml_free(struct opk_yaml *root)
{
	if (!root)
		return;
	clear(root);
	free(root);
}
