/* SPDX-License-Identifier: BSD-2-Clause */
#include "adapters/yaml/yaml_tree.h"

#include <stdarg.h>
#include <string.h>
#include <yaml.h>

#include "base/mem.h"

enum { MAX_DEPTH = 16, MAX_KEYS = 256 };

struct builder {
	struct opk_ctx *ctx;
	const char *name;
	const char *text;
	size_t size;
	yaml_parser_t parser;
	yaml_event_t event;
};

static int fail_at(struct opk_ctx *ctx, const char *name, yaml_mark_t mark, const char *what)
{
	return opk_fail(ctx, OPK_EINPUT, "%s:%zu:%zu: %s", name, mark.line + 1, mark.column + 1,
	                what);
}

/* libyaml's reader tells a byte, its parser lines and columns. */
static yaml_mark_t place_of_byte(const struct builder *b, size_t byte)
{
	yaml_mark_t mark = { .index = byte };

	for (size_t i = 0; i < byte && i < b->size; i++) {
		mark.column = b->text[i] == '\n' ? 0 : mark.column + 1;
		mark.line += b->text[i] == '\n';
	}
	return mark;
}

/* Moves on to the next event. */
static int next(struct builder *b)
{
	const yaml_parser_t *parser = &b->parser;

	yaml_event_delete(&b->event);
	if (yaml_parser_parse(&b->parser, &b->event))
		return OPK_OK;
	if (parser->error == YAML_MEMORY_ERROR)
		return opk_nomem(b->ctx, "YAML");
	if (parser->error == YAML_READER_ERROR)
		return fail_at(b->ctx, b->name, place_of_byte(b, parser->problem_offset),
		               parser->problem);
	return fail_at(b->ctx, b->name, parser->problem_mark,
	               parser->problem ? parser->problem : "malformed YAML");
}

static int fail_here(struct builder *b, const char *what)
{
	return fail_at(b->ctx, b->name, b->event.start_mark, what);
}

static int build(struct builder *b, struct opk_yaml *out, int depth);

static int add_item(struct builder *b, struct opk_yaml *parent, int depth)
{
	struct opk_yaml *item;

	if (!opk_grow(&parent->items, &parent->capacity, parent->count, sizeof *item))
		return opk_nomem(b->ctx, "YAML");
	item = &parent->items[parent->count++];
	*item = (struct opk_yaml){ 0 };
	return build(b, item, depth + 1);
}

static int check_key(struct builder *b, const struct opk_yaml *map)
{
	const struct opk_yaml *key = &map->items[map->count - 1];

	if (key->kind != OPK_YAML_SCALAR)
		return opk_yaml_fail(b->ctx, b->name, key, "a key must be plain text");
	if (map->count > 2 * MAX_KEYS)
		return opk_yaml_fail(b->ctx, b->name, key, "more than %d keys", MAX_KEYS);
	for (size_t i = 0; i + 1 < map->count; i += 2)
		if (!strcmp(map->items[i].text, key->text))
			return opk_yaml_fail(b->ctx, b->name, key,
			                     "duplicate key '%s', first on line %zu", key->text,
			                     map->items[i].line);
	return OPK_OK;
}

/* The event that opened the list or map is current; the one that closes it is current after. */
static int build_items(struct builder *b, struct opk_yaml *out, yaml_event_type_t end, int depth)
{
	int code = next(b);

	while (!code && b->event.type != end) {
		code = add_item(b, out, depth);
		if (!code && out->kind == OPK_YAML_MAP && out->count % 2)
			code = check_key(b, out);
		if (!code)
			code = next(b);
	}
	return code;
}

static int build(struct builder *b, struct opk_yaml *out, int depth)
{
	const yaml_event_t *event = &b->event;

	out->line = event->start_mark.line + 1;
	out->column = event->start_mark.column + 1;
	if (depth > MAX_DEPTH)
		return fail_here(b, "nested too deeply");
	switch (event->type) {
	case YAML_SCALAR_EVENT:
		if (event->data.scalar.anchor)
			return fail_here(b, "anchors are not allowed here");
		if (memchr(event->data.scalar.value, 0, event->data.scalar.length))
			return fail_here(b, "a NUL character in text");
		out->kind = OPK_YAML_SCALAR;
		out->text = opk_strndup((const char *)event->data.scalar.value,
		                        event->data.scalar.length);
		return out->text ? OPK_OK : opk_nomem(b->ctx, "YAML");
	case YAML_SEQUENCE_START_EVENT:
		if (event->data.sequence_start.anchor)
			return fail_here(b, "anchors are not allowed here");
		out->kind = OPK_YAML_LIST;
		return build_items(b, out, YAML_SEQUENCE_END_EVENT, depth);
	case YAML_MAPPING_START_EVENT:
		if (event->data.mapping_start.anchor)
			return fail_here(b, "anchors are not allowed here");
		out->kind = OPK_YAML_MAP;
		return build_items(b, out, YAML_MAPPING_END_EVENT, depth);
	case YAML_ALIAS_EVENT:
		return fail_here(b, "aliases are not allowed here");
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
		return fail_here(b, "one document a file, please");
	return code;
}

int opk_yaml_parse(struct opk_yaml **out, struct opk_ctx *ctx, const char *name, const void *text,
                   size_t size)
{
	struct builder b = { .ctx = ctx, .name = name, .text = text, .size = size };
	struct opk_yaml *root = opk_alloc(sizeof *root);
	int code;

	if (!root || !yaml_parser_initialize(&b.parser)) {
		free(root);
		return opk_nomem(ctx, "YAML");
	}
	yaml_parser_set_input_string(&b.parser, text, size);
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

int opk_yaml_fail(struct opk_ctx *ctx, const char *name, const struct opk_yaml *node,
                  const char *format, ...)
{
	opk_autofree char *message = NULL;
	va_list args;
	int length;

	va_start(args, format);
	length = vasprintf(&message, format, args);
	va_end(args);
	if (length < 0)
		return opk_nomem(ctx, "an error message");
	return opk_fail(ctx, OPK_EINPUT, "%s:%zu:%zu: %s", name, node->line, node->column, message);
}
