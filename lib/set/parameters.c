/* SPDX-License-Identifier: BSD-2-Clause */
/* Parameters: ${name} becomes a value, which is not looked through again. */
#include <string.h>

#include "base/ascii.h"
#include "base/buf.h"
#include "base/nearest.h"
#include "set/symbols.h"

enum { MAX_TEXT = 1 << 16, MAX_VALUE = 256, MAX_NAME = 100 };

/* A piece of text: plain, or a parameter. */
struct piece {
	size_t size;      /* in the text */
	const char *name; /* NULL: plain */
	size_t name_size;
};

/* False where "${" has no end. */
static bool next_piece(struct piece *out, const char *text)
{
	const char *open = strstr(text, "${"), *close;

	*out = (struct piece){ .size = open ? (size_t)(open - text) : strlen(text) };
	if (open != text)
		return true;
	close = strchr(text, '}');
	if (!close)
		return false;
	*out = (struct piece){ (size_t)(close + 1 - text), text + 2, (size_t)(close - text - 2) };
	return true;
}

static const char *value_of(const struct opk_symbols *symbols, const struct piece *piece,
                            bool *known)
{
	char name[MAX_NAME + 1];
	size_t i;

	*known = false;
	if (piece->name_size > MAX_NAME)
		return NULL;
	memcpy(name, piece->name, piece->name_size);
	name[piece->name_size] = '\0';
	*known = opk_index_find(&i, &symbols->parameters, name);
	return *known ? symbols->values[i] : NULL;
}

static void tell_at(struct opk_problems *problems, const struct opk_word *word, const char *at,
                    const char *what, const char *value)
{
	struct opk_place place = opk_place_within(&word->place, word->text,
	                                          (size_t)(at - word->text));

	opk_problems_add(problems, &place, "%s%.100s", what, value);
}

static void tell_unknown(const struct opk_symbols *symbols, struct opk_problems *problems,
                         const struct opk_word *word, const char *at, const struct piece *piece)
{
	opk_autofree char *name = opk_strndup(piece->name, piece->name_size);
	struct opk_place place = opk_place_within(&word->place, word->text,
	                                          (size_t)(at - word->text));
	struct opk_nearest nearest = { .name = name };

	if (!name) {
		problems->no_memory = true;
		return;
	}
	for (size_t i = 0; i < symbols->parameters.count; i++)
		if (symbols->parameters.slots[i].key)
			opk_nearest_try(&nearest, symbols->parameters.slots[i].key);
	if (!symbols->broken)
		opk_problems_add(problems, &place,
		                 "there is no parameter '%.100s'" OPK_DID_YOU_MEAN, name,
		                 OPK_NEAR(nearest.best));
}

/* In a formula a part of a name or number; all else is an operand, and has parentheses. */
static bool is_operand(const char *value)
{
	return value[opk_span(value, opk_in_full_name)];
}

/* Whether parentheses around it are a pair: "1)+(2" would close them. */
static bool is_whole(const char *value)
{
	size_t depth = 0;

	for (; *value; value++)
		if (*value == '(')
			depth++;
		else if (*value == ')' && !depth--)
			return false;
	return !depth;
}

static char *substitute(const struct opk_symbols *symbols, struct opk_problems *problems,
                        const struct opk_word *word, bool formula)
{
	opk_autobuf struct opk_buf out = { 0 };
	struct piece piece;

	for (const char *at = word->text; *at && !out.failed; at += piece.size) {
		const char *value;
		bool known;

		if (!next_piece(&piece, at)) {
			tell_at(problems, word, at, "a '}' is missing behind '${'", "");
			return NULL;
		}
		value = piece.name ? value_of(symbols, &piece, &known) : NULL;
		/* One that has no value was told where it is defined. */
		if (piece.name && !known)
			tell_unknown(symbols, problems, word, at, &piece);
		if (piece.name && !value)
			return NULL;
		if (formula && value && !is_whole(value)) {
			tell_at(problems, word, at,
			        "a value in a formula has parentheses in pairs, not ", value);
			return NULL;
		}
		if (formula && value && is_operand(value))
			opk_buf_add_printf(&out, "(%s)", value);
		else
			opk_buf_add(&out, value ? value : at, value ? strlen(value) : piece.size);
	}
	opk_buf_add(&out, "", 1);
	problems->no_memory |= out.failed;
	if (!out.failed && out.size > MAX_TEXT) {
		opk_problems_add(problems, &word->place,
		                 "with its parameters this has more than %d characters", MAX_TEXT);
		return NULL;
	}
	return out.failed ? NULL : (char *)opk_take(out.data);
}

char *opk_symbols_substitute(const struct opk_symbols *symbols, struct opk_problems *problems,
                             const struct opk_word *word)
{
	return substitute(symbols, problems, word, false);
}

char *opk_symbols_substitute_formula(const struct opk_symbols *symbols,
                                     struct opk_problems *problems, const struct opk_word *word)
{
	return substitute(symbols, problems, word, true);
}

size_t opk_symbols_written_at(const struct opk_symbols *symbols, const char *written, size_t offset)
{
	struct piece piece;
	size_t from = 0;

	for (const char *at = written; *at && next_piece(&piece, at); at += piece.size) {
		bool known;
		const char *value = piece.name ? value_of(symbols, &piece, &known) : NULL;
		size_t size = value ? strlen(value) + 2 * is_operand(value) : piece.size;

		if (offset < from + size)
			return (size_t)(at - written) + (piece.name ? 0 : offset - from);
		from += size;
	}
	return strlen(written);
}

/* ---- values from outside */

static int give(struct opk_set *set, struct opk_ctx *ctx, const char *name, const char *value)
{
	struct opk_parameter *given = opk_append(&set->given.items, &set->given.capacity,
	                                         &set->given.count, sizeof *given);

	if (given) {
		given->name.text = opk_strdup(name);
		given->value = opk_strdup(value);
	}
	if (given && given->name.text && given->value)
		return OPK_OK;
	if (given) {
		free(given->name.text);
		free(given->value);
		set->given.count--;
	}
	return opk_nomem(ctx, "a parameter");
}

int opk_set_parameter(struct opk_set *set, struct opk_ctx *ctx, const char *name, const char *value)
{
	opk_autoproblems struct opk_problems quiet = { 0 };
	opk_autosymbols struct opk_symbols symbols = { 0 };
	struct opk_nearest nearest = { .name = name };

	opk_symbols_init(&symbols, ctx, &quiet, set);
	opk_clear_errors(ctx);
	if (quiet.no_memory)
		return opk_nomem(ctx, "a parameter");
	if (strlen(value) > MAX_VALUE)
		return opk_fail(ctx, OPK_EUSAGE, "parameter %s: a value has at most %d characters",
		                name, MAX_VALUE);
	if (opk_index_find(NULL, &symbols.parameters, name))
		return give(set, ctx, name, value);
	for (size_t i = 0; i < symbols.parameters.count; i++)
		if (symbols.parameters.slots[i].key)
			opk_nearest_try(&nearest, symbols.parameters.slots[i].key);
	return opk_fail(ctx, OPK_EUSAGE, "set %s has no parameter '%s'" OPK_DID_YOU_MEAN, set->name,
	                name, OPK_NEAR(nearest.best));
}
