/* SPDX-License-Identifier: BSD-2-Clause */
#include "nsight/section_text.h"

#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "nsight/section_fail.h"
#include "nsight/section_scan.h"

enum { MAX_DEPTH = 32, MAX_FIELDS = 200000 };

/* A message that is open: where its bracket stands, and what closes it. */
struct bracket {
	struct opk_place place;
	char open, close;
};

static int parse_fields(struct opk_scan *s, struct opk_field *message,
                        const struct bracket *bracket, int depth);

static struct opk_field *add_field(struct opk_scan *s, struct opk_field *message, const char *name)
{
	struct opk_field *field;

	if (++s->fields > MAX_FIELDS) {
		opk_fail_at(s->ctx, &s->place, "more than %d fields", MAX_FIELDS);
		return NULL;
	}
	if (!opk_grow(&message->fields, &message->capacity, message->count, sizeof *field)) {
		opk_nomem(s->ctx, "a section");
		return NULL;
	}
	field = &message->fields[message->count];
	*field = (struct opk_field){ .name = opk_strdup(name) };
	if (!field->name) {
		opk_nomem(s->ctx, "a section");
		return NULL;
	}
	message->count++;
	return field;
}

static bool opens_message(char c)
{
	return c == '{' || c == '<';
}

static int parse_message(struct opk_scan *s, struct opk_field *out, struct opk_place name,
                         int depth)
{
	struct bracket bracket = { .place = s->place, .open = opk_scan_peek(s) };

	bracket.close = bracket.open == '{' ? '}' : '>';
	out->kind = OPK_FIELD_MESSAGE;
	out->place = name;
	if (depth > MAX_DEPTH)
		return opk_fail_at(s->ctx, &s->place, "nested deeper than %d levels", MAX_DEPTH);
	opk_scan_next(s);
	return parse_fields(s, out, &bracket, depth);
}

/* "a" 'b' beside each other are one string. */
static int parse_strings(struct opk_scan *s, struct opk_field *out)
{
	opk_autobuf struct opk_buf buf = { 0 };
	int code = OPK_OK;

	out->kind = OPK_FIELD_STRING;
	while (!code && (opk_scan_peek(s) == '"' || opk_scan_peek(s) == '\'')) {
		code = opk_scan_string(s, &buf);
		if (!code)
			opk_scan_skip(s);
	}
	opk_buf_add(&buf, "", 1);
	if (buf.failed)
		return opk_nomem(s->ctx, "a section");
	out->text = (char *)opk_take(buf.data);
	return code;
}

static int parse_scalar(struct opk_scan *s, struct opk_field *out)
{
	char c = opk_scan_peek(s);

	out->place = s->place;
	if (c == '"' || c == '\'')
		return parse_strings(s, out);
	out->kind = OPK_FIELD_WORD;
	return opk_scan_word(s, &out->text, out->name);
}

static int parse_value(struct opk_scan *s, struct opk_field *message, const char *name,
                       struct opk_place place, int depth)
{
	struct opk_field *field = add_field(s, message, name);

	if (!field)
		return s->fields > MAX_FIELDS ? OPK_EINPUT : OPK_ENOMEM;
	return opens_message(opk_scan_peek(s)) ? parse_message(s, field, place, depth + 1)
	                                       : parse_scalar(s, field);
}

static int parse_list(struct opk_scan *s, struct opk_field *message, const char *name,
                      struct opk_place place, int depth)
{
	int code = OPK_OK;

	opk_scan_next(s);
	opk_scan_skip(s);
	if (opk_scan_accept(s, ']'))
		return OPK_OK;
	do {
		opk_scan_skip(s);
		code = parse_value(s, message, name, place, depth);
		opk_scan_skip(s);
	} while (!code && opk_scan_accept(s, ','));
	if (!code && !opk_scan_accept(s, ']'))
		return opk_fail_at(s->ctx, &s->place,
		                   "',' or ']' is needed here, in the list of %s", name);
	return code;
}

static int parse_field(struct opk_scan *s, struct opk_field *message, int depth)
{
	struct opk_place place = s->place;
	opk_autofree char *name = NULL;
	bool colon;
	int code = opk_scan_name(s, &name);

	if (code)
		return code;
	opk_scan_skip(s);
	colon = opk_scan_accept(s, ':');
	opk_scan_skip(s);
	if (!colon && !opens_message(opk_scan_peek(s)) && opk_scan_peek(s) != '[')
		return opk_fail_at(s->ctx, &s->place, "':' or '{' is needed after %s", name);
	code = opk_scan_peek(s) == '[' ? parse_list(s, message, name, place, depth)
	                               : parse_value(s, message, name, place, depth);
	opk_scan_skip(s);
	if (!code && !opk_scan_accept(s, ';'))
		opk_scan_accept(s, ',');
	return code;
}

/* Up to the bracket that closes the message, or the end of the file. */
static int parse_fields(struct opk_scan *s, struct opk_field *message,
                        const struct bracket *bracket, int depth)
{
	int code = OPK_OK;

	for (opk_scan_skip(s); !code && !opk_scan_at_end(s); opk_scan_skip(s)) {
		char c = opk_scan_peek(s);

		if (bracket && opk_scan_accept(s, bracket->close))
			return OPK_OK;
		if ((c == '}' || c == '>') && bracket)
			return opk_fail_at(s->ctx, &s->place,
			                   "'%c' does not close the '%c' of line %zu", c,
			                   bracket->open, bracket->place.line);
		if (c == '}' || c == '>')
			return opk_fail_at(s->ctx, &s->place, "'%c' closes nothing", c);
		code = parse_field(s, message, depth);
	}
	if (!code && bracket)
		return opk_fail_at(s->ctx, &bracket->place, "'%c' is never closed", bracket->open);
	return code;
}

int opk_section_parse(struct opk_field **out, struct opk_ctx *ctx, struct opk_source *source)
{
	struct opk_scan s = {
		.ctx = ctx, .text = source->text, .size = source->size, .place = { source, 1, 1 }
	};
	struct opk_field *root = opk_alloc(sizeof *root);
	int code;

	if (!root || !(root->name = opk_strdup(""))) {
		free(root);
		return opk_nomem(ctx, "a section");
	}
	root->place = s.place;
	code = parse_fields(&s, root, NULL, 0);
	if (code) {
		opk_section_free(root);
		return code;
	}
	*out = root;
	return OPK_OK;
}

static void clear(struct opk_field *field)
{
	for (size_t i = 0; i < field->count; i++)
		clear(&field->fields[i]);
	free(field->fields);
	free(field->name);
	free(field->text);
}

void opk_section_free(struct opk_field *root)
{
	if (!root)
		return;
	clear(root);
	free(root);
}

const struct opk_field *opk_field_find(const struct opk_field *message, const char *name,
                                       enum opk_field_kind kind)
{
	for (size_t i = message->count; i-- > 0;)
		if (message->fields[i].kind == kind && !strcmp(message->fields[i].name, name))
			return &message->fields[i];
	return NULL;
}

const char *opk_field_string(const struct opk_field *message, const char *name)
{
	const struct opk_field *field = opk_field_find(message, name, OPK_FIELD_STRING);

	return field ? field->text : NULL;
}
