/* SPDX-License-Identifier: BSD-2-Clause */
/* Builds the tree from libyaml's events, and reports problems with their places. */
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
	size_t alias_line; /* of the last alias that was reported */
	int code;          /* the failure that ended the tree */
};

static void end(struct builder *b, int code)
{
	if (!b->code)
		b->code = code;
}

static void end_without_memory(struct builder *b)
{
	end(b, opk_nomem(b->ctx, "YAML"));
}

static struct opk_place place_of(const struct builder *b, yaml_mark_t mark)
{
	return (struct opk_place){ b->source, mark.line + 1, mark.column + 1 };
}

/* Advice on errors of libyaml. */
static const struct hint {
	const char *problem, *advice;
} hints[] = {
	{ "found character that cannot start any token",
	  "; text that begins so goes in quotes, and lines are indented with blanks, not tabs" },
	{ "mapping values are not allowed in this context",
	  "; text with a colon and a blank in it goes in quotes" },
	{ "did not find expected alphabetic or numeric character",
	  "; a pattern that begins with '*' goes in quotes" },
	{ "found unexpected end of stream", "; a quotation mark is not closed" },
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

/* A common mistake: in a flow list or map, YAML reads "${op}" as "$" and an opening brace. */
static bool has_parameter(const struct builder *b, size_t line)
{
	const char *at = b->source->text;

	while (line-- > 1 && at)
		at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL;
	return at && memmem(at, strcspn(at, "\n"), "${", 2);
}

/* Reports why libyaml stopped: its reader gives a byte, its parser a line and column. */
static void fail_to_parse(struct builder *b)
{
	const yaml_parser_t *parser = &b->parser;
	struct opk_place place = parser->error == YAML_READER_ERROR
	                                 ? opk_place_of_byte(b->source, parser->problem_offset)
	                                 : place_of(b, parser->problem_mark);
	const char *problem = parser->problem ? parser->problem : "malformed YAML";
	const char *advice = parser->error != YAML_READER_ERROR && has_parameter(b, place.line)
	                             ? "; inside {...} and [...] a text with ${...} goes in quotes"
	                             : advice_on(problem);

	/* For a problem far below, it helps to know what is still open. */
	if (parser->context && parser->context_mark.line < parser->problem_mark.line)
		opk_problems_add(b->problems, &place, "%s, %s that begins on line %zu%s", problem,
		                 parser->context, parser->context_mark.line + 1, advice);
	else
		opk_problems_add(b->problems, &place, "%s%s", problem, advice);
	end(b, OPK_EINPUT);
}

/* Moves on to the next event, and returns its type; YAML_NO_EVENT after a failure. */
static yaml_event_type_t next(struct builder *b)
{
	yaml_event_delete(&b->event);
	if (b->code)
		return YAML_NO_EVENT;
	if (yaml_parser_parse(&b->parser, &b->event))
		return b->event.type;
	if (b->parser.error == YAML_MEMORY_ERROR)
		end_without_memory(b);
	else
		fail_to_parse(b);
	return YAML_NO_EVENT;
}

/* A problem that does not end the tree. */
static void report_here(struct builder *b, const char *what)
{
	struct opk_place place = place_of(b, b->event.start_mark);

	opk_problems_add(b->problems, &place, "%s", what);
}

static void fail_here(struct builder *b, const char *what)
{
	report_here(b, what);
	end(b, OPK_EINPUT);
}

/* Reports a key that is used twice; the first one counts. */
static void check_twice(struct builder *b, struct opk_index *keys, struct opk_yaml *key)
{
	size_t first = 0;

	if (opk_index_find(&first, keys, key->text)) {
		opk_problems_add(b->problems, &key->place,
		                 "duplicate key '%.100s', first on line %zu", key->text, first);
		key->kind = OPK_YAML_BAD;
	} else if (!opk_index_add(keys, key->text, key->place.line, NULL)) {
		end_without_memory(b);
	}
}

static void check_key(struct builder *b, struct opk_yaml *map, struct opk_index *keys)
{
	struct opk_yaml *key = &map->items[map->count - 1];

	if (map->count > 2 * MAX_KEYS) {
		opk_problems_add(b->problems, &key->place, "more than %d keys", MAX_KEYS);
		end(b, OPK_EINPUT);
	} else if (key->kind == OPK_YAML_LIST || key->kind == OPK_YAML_MAP) {
		opk_problems_add(b->problems, &key->place, "a key must be plain text");
		key->kind = OPK_YAML_BAD;
	} else if (key->kind == OPK_YAML_SCALAR) {
		check_twice(b, keys, key);
	}
}

/*
 * Ends the tree with BAD nodes, as missing items and the last key's value may have followed.
 * A list or map in brackets that is not closed becomes BAD as a whole.
 */
static void break_off(struct builder *b, struct opk_yaml *out, bool bracketed)
{
	size_t bad = out->kind == OPK_YAML_MAP ? 2 + out->count % 2 : 1;

	/* The last key is an unfinished list or map, not a text. */
	if (bad == 3 && !out->items[out->count - 1].text)
		out->items[out->count - 1].kind = OPK_YAML_BAD;
	if (bracketed)
		out->kind = OPK_YAML_BAD;
	while (bad-- > 0) {
		struct opk_yaml *item = opk_append(&out->items, &out->capacity, &out->count,
		                                   sizeof *item);

		if (!item) {
			b->code = opk_nomem(b->ctx, "YAML");
			return;
		}
		item->kind = OPK_YAML_BAD;
		item->place = out->place;
	}
}

static void build(struct builder *b, struct opk_yaml *out, int depth);

/* Builds from the event that opened the list or map to the one that closes it. */
static void build_items(struct builder *b, struct opk_yaml *out, yaml_event_type_t end_type,
                        int depth, bool bracketed)
{
	opk_autoindex struct opk_index keys = { 0 };

	while (next(b) != end_type && !b->code) {
		struct opk_yaml *item = opk_append(&out->items, &out->capacity, &out->count,
		                                   sizeof *item);

		if (item)
			build(b, item, depth + 1);
		else
			end_without_memory(b);
		if (!b->code && out->kind == OPK_YAML_MAP && out->count % 2)
			check_key(b, out, &keys);
	}
	if (b->code == OPK_EINPUT)
		break_off(b, out, bracketed);
}

static void build_scalar(struct builder *b, struct opk_yaml *out)
{
	const char *text = (const char *)b->event.data.scalar.value;
	size_t length = b->event.data.scalar.length;

	if (memchr(text, 0, length)) {
		report_here(b, "a NUL character in text");
		return;
	}
	out->kind = OPK_YAML_SCALAR;
	out->text = opk_strndup(text, length);
	if (!out->text)
		end_without_memory(b);
}

/* Reports one alias for each line. */
static void report_alias(struct builder *b, size_t line)
{
	if (line != b->alias_line)
		report_here(
			b,
			"aliases are not allowed here; a pattern that begins with '*' goes in quotes");
	b->alias_line = line;
}

static void build(struct builder *b, struct opk_yaml *out, int depth)
{
	const yaml_event_t *event = &b->event;
	yaml_event_type_t type = event->type;

	out->place = place_of(b, event->start_mark);
	out->kind = OPK_YAML_BAD;
	if (depth > MAX_DEPTH) {
		fail_here(b, "nested too deeply");
		return;
	}
	if ((type == YAML_SCALAR_EVENT && event->data.scalar.anchor)
	    || (type == YAML_SEQUENCE_START_EVENT && event->data.sequence_start.anchor)
	    || (type == YAML_MAPPING_START_EVENT && event->data.mapping_start.anchor))
		report_here(b, "anchors are not allowed here");
	if (type == YAML_SCALAR_EVENT) {
		build_scalar(b, out);
	} else if (type == YAML_SEQUENCE_START_EVENT) {
		out->kind = OPK_YAML_LIST;
		build_items(b, out, YAML_SEQUENCE_END_EVENT, depth,
		            event->data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE);
	} else if (type == YAML_MAPPING_START_EVENT) {
		out->kind = OPK_YAML_MAP;
		build_items(b, out, YAML_MAPPING_END_EVENT, depth,
		            event->data.mapping_start.style == YAML_FLOW_MAPPING_STYLE);
	} else if (type == YAML_ALIAS_EVENT) {
		report_alias(b, out->place.line);
	} else {
		fail_here(b, "the document is empty");
	}
}

static void build_document(struct builder *b, struct opk_yaml *root)
{
	root->kind = OPK_YAML_BAD;
	next(b); /* stream start */
	if (next(b) != YAML_DOCUMENT_START_EVENT) {
		if (!b->code)
			fail_here(b, "the file is empty");
		return;
	}
	if (next(b) != YAML_NO_EVENT)
		build(b, root, 0);
	next(b); /* document end */
	if (next(b) != YAML_STREAM_END_EVENT && !b->code)
		report_here(b, "one document a file, please");
}

int opk_yaml_parse(struct opk_yaml **out, struct opk_ctx *ctx, struct opk_problems *problems,
                   struct opk_source *source)
{
	struct builder b = { .ctx = ctx, .problems = problems, .source = source };
	struct opk_yaml *root = opk_alloc(sizeof *root);

	if (!root || !yaml_parser_initialize(&b.parser)) {
		free(root);
		return opk_nomem(ctx, "YAML");
	}
	yaml_parser_set_input_string(&b.parser, (const unsigned char *)source->text, source->size);
	build_document(&b, root);
	yaml_event_delete(&b.event);
	yaml_parser_delete(&b.parser);
	if (b.code && (b.code != OPK_EINPUT || root->kind == OPK_YAML_BAD))
		opk_yaml_free(opk_take(root));
	*out = root;
	return b.code;
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
