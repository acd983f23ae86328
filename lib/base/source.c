/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds places in text files, and shows their lines with a caret. */
#include "base/source.h"

#include <string.h>

#include "base/ascii.h"
#include "base/buf.h"
#include "base/terminal.h"
#include "base/utf8.h"

enum {
	MAX_SHOWN = 120, /* characters of a line */
	MAX_BEFORE = 60, /* characters shown before the place in a longer line */
	TAB = 8,
};

struct opk_source *opk_source_new(const char *name, const void *text, size_t size)
{
	opk_auto(opk_source) struct opk_source *source = opk_alloc(sizeof *source);

	if (!source)
		return NULL;
	source->users = 1;
	source->name = opk_strdup(name);
	source->text = opk_strndup(text, size);
	source->size = size;
	return source->name && source->text ? opk_take(source) : NULL;
}

struct opk_source *opk_source_use(struct opk_source *source)
{
	if (source)
		source->users++;
	return source;
}

void opk_source_free(struct opk_source *source)
{
	if (!source || --source->users)
		return;
	free(source->name);
	free(source->text);
	free(source);
}

char *opk_place_text(const struct opk_place *place)
{
	return place->source
	               ? opk_printf("%s:%zu:%zu", place->source->name, place->line, place->column)
	               : opk_strdup("");
}

/* The length of the line break here, in bytes; 0: not a line break. */
static size_t break_length(const char *text, size_t size)
{
	/* Fast path for nearly all bytes. */
	if (!size || ((unsigned char)*text < 0xc2 && *text != '\r' && *text != '\n'))
		return 0;
	if (*text == '\r')
		return size > 1 && text[1] == '\n' ? 2 : 1;
	if (*text == '\n')
		return 1;
	if (size > 1 && !memcmp(text, "\xc2\x85", 2))
		return 2;
	return size > 2 && (!memcmp(text, "\xe2\x80\xa8", 3) || !memcmp(text, "\xe2\x80\xa9", 3))
	               ? 3
	               : 0;
}

/* The byte order mark: libyaml does not count it as a column. */
static size_t mark_length(const struct opk_source *source)
{
	return source->size >= 3 && !memcmp(source->text, "\xef\xbb\xbf", 3) ? 3 : 0;
}

void opk_place_move(struct opk_place *place, size_t *at, size_t byte)
{
	const struct opk_source *source = place->source;

	while (*at < byte && *at < source->size) {
		size_t end = break_length(source->text + *at, source->size - *at);

		place->column = end ? 1 : place->column + 1;
		place->line += end != 0;
		*at += end ? end : opk_utf8_step(source->text + *at, source->size - *at);
	}
}

struct opk_place opk_place_of_byte(struct opk_source *source, size_t byte)
{
	struct opk_place place = { source, 1, 1 };
	size_t at = mark_length(source);

	opk_place_move(&place, &at, byte);
	return place;
}

/* libyaml also reads UTF-16, which we can't show. */
static bool is_utf16(const struct opk_source *source)
{
	return source->size >= 2
	       && (!memcmp(source->text, "\xff\xfe", 2) || !memcmp(source->text, "\xfe\xff", 2));
}

/* The place's line without its end; false if the text has fewer lines. */
static bool find_line(const char **start, size_t *size, const struct opk_place *place)
{
	const struct opk_source *source = place->source;
	size_t at, left, line = 1;

	if (!source || is_utf16(source))
		return false;
	for (at = mark_length(source); line < place->line && at < source->size;) {
		size_t end = break_length(source->text + at, source->size - at);

		line += end != 0;
		at += end ? end : 1;
	}
	*start = source->text + at;
	left = source->size - at;
	for (*size = 0; *size < left && !break_length(*start + *size, left - *size);)
		++*size;
	return line == place->line;
}

/* The byte at which a place's text begins: after a quote, or below | or >. */
static size_t find_text(const struct opk_place *place)
{
	const char *text;
	size_t size, at;

	if (!find_line(&text, &size, place))
		return place->source->size + 1;
	at = (size_t)(text - place->source->text);
	for (size_t i = 1; i < place->column && size; i++) {
		size_t length = opk_utf8_step(text, size);

		text += length;
		at += length;
		size -= length;
	}
	if (!size || !strchr("\"'|>", *text))
		return at;
	return *text == '|' || *text == '>' ? at + size : at + 1;
}

struct opk_place opk_place_within(const struct opk_place *place, const char *text, size_t offset)
{
	struct opk_source *source = place->source;
	size_t at = source ? find_text(place) : 0;

	/* Folding lines changes blanks only. */
	for (size_t i = 0; source && at <= source->size && i <= offset; i++) {
		if (i < offset && opk_is_blank(text[i]))
			continue;
		/* The text ends right after its last byte, before blanks of the source. */
		while (text[i] && at < source->size && opk_is_blank(source->text[at]))
			at++;
		if (i == offset)
			return opk_place_of_byte(source, at);
		if (at == source->size || source->text[at++] != text[i])
			break;
	}
	return *place;
}

/* Writes a character, or a printable replacement; returns its number of columns. */
static size_t show(struct opk_buf *out, const char *text, size_t length, size_t column)
{
	static const char blanks[] = "        ";

	if (*text == '\t') {
		opk_buf_add(out, blanks, TAB - column % TAB);
		return TAB - column % TAB;
	}
	if (opk_terminal_obeys(text, length))
		opk_buf_add(out, "?", 1);
	else
		opk_buf_add(out, text, length);
	return 1;
}

static size_t count_chars(const char *text, size_t size)
{
	size_t count = 0;

	for (size_t at = 0; at < size; count++)
		at += opk_utf8_step(text + at, size - at);
	return count;
}

/* Writes the characters from `first` on; returns the caret's column. */
static size_t show_part(struct opk_buf *out, const char *text, size_t size, size_t first,
                        size_t wanted)
{
	size_t column = first ? 3 : 0, caret = 0, i = 0;

	if (first)
		opk_buf_add_text(out, "...");
	for (size_t at = 0; at < size; i++) {
		size_t length = opk_utf8_step(text + at, size - at);

		if (i == wanted)
			caret = column;
		if (i >= first + MAX_SHOWN) {
			opk_buf_add_text(out, "...");
			return caret;
		}
		if (i >= first)
			column += show(out, text + at, length, column);
		at += length;
	}
	return wanted < i ? caret : column;
}

bool opk_place_show(char **line, char **caret, const struct opk_place *place)
{
	opk_autobuf struct opk_buf shown = { 0 };
	const char *text;
	size_t size, at, wanted = place->column - 1, first = 0;

	*line = *caret = NULL;
	if (place->source && place->source->hidden)
		return false;
	/* An empty line is not worth showing. */
	if (!find_line(&text, &size, place) || !size)
		return false;
	if (count_chars(text, size) > MAX_SHOWN && wanted > MAX_BEFORE)
		first = wanted - MAX_BEFORE;
	at = show_part(&shown, text, size, first, wanted);
	*caret = opk_printf("%*s^", (int)at, "");
	*line = opk_buf_take_text(&shown);
	if (*line && *caret)
		return true;
	free(*line);
	free(*caret);
	*line = *caret = NULL;
	return false;
}
