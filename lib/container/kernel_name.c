/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of kernels. Demanglers spell one name in several ways, "float const*" and "const float *",
 * and its arguments are longer than people want to read.
 */
#include <string.h>

#include "base/ascii.h"
#include "container/container.h"

#define NO_MATCH SIZE_MAX

/* Bytes. Longer names stay as they are: tokens take 50 times as much memory as the text. */
enum { MAX_NAME = 64 << 10 };

struct token {
	const char *text;
	size_t length;
	size_t match;       /* of a bracket: the matching bracket; else NO_MATCH */
	const char *before; /* qualifiers to write before the token: "const " */
	const char *after;  /* of a number: its suffix */
	bool left_out;
};

struct tokens {
	struct token *items;
	size_t count, capacity;
};

static bool is(const struct token *token, const char *text)
{
	return strlen(text) == token->length && !memcmp(token->text, text, token->length);
}

/* Bytes of UTF-8 letters belong to words, and so do dots: "foo.part.0". */
static bool in_word(char c)
{
	return opk_in_name(c) || c == '$' || c == '.' || (unsigned char)c >= 0x80;
}

static bool is_word(const struct token *token)
{
	return in_word(*token->text);
}

static bool is_qualifier(const struct token *token)
{
	return is(token, "const") || is(token, "volatile");
}

static bool is_builtin(const struct token *token)
{
	static const char *const words[] = { "unsigned", "signed", "char",   "short", "int",
		                             "long",     "float",  "double", "bool",  "void" };

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (is(token, words[i]))
			return true;
	return false;
}

/* ---- tokens ----------------------------------------------------------------------------- */

/* "operator()" and "operator<<" are words: their brackets are not matched. */
static size_t operator_length(const char *text)
{
	size_t length = strlen("operator");

	if (strncmp(text, "operator", length) || in_word(text[length]))
		return 0;
	if (!strncmp(text + length, "()", 2))
		return length + 2;
	return length + strspn(text + length, "<>=!+-*/%^&|~,[]");
}

static size_t token_length(const char *text)
{
	static const char *const pairs[] = { "::", "&&", "->" };

	if (operator_length(text))
		return operator_length(text);
	if (in_word(*text))
		return opk_span(text, in_word);
	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
		if (!strncmp(text, pairs[i], 2))
			return 2;
	return 1;
}

/* False: out of memory. *odd: no demangler writes such a name. */
static bool cut(struct tokens *tokens, const char *name, bool *odd)
{
	while (*name) {
		struct token *token;

		if (*name == ' ') {
			name++;
			continue;
		}
		if (!in_word(*name) && !strchr("<>(){}[],*&:#'-+=!|^~/%?\"", *name))
			*odd = true;
		token = opk_append(&tokens->items, &tokens->capacity, &tokens->count,
		                   sizeof *token);
		if (!token)
			return false;
		*token = (struct token){ .text = name, .length = token_length(name) };
		token->match = NO_MATCH;
		name += token->length;
	}
	return true;
}

static char opening_of(char closing)
{
	static const char pairs[] = "()<>[]{}";
	const char *at = strchr(pairs, closing);

	return at && (at - pairs) % 2 ? at[-1] : '\0';
}

/* Matches brackets; "<" may mean "less" and have no match. False: another bracket has no match. */
static bool match(struct tokens *tokens, size_t *open)
{
	size_t depth = 0;

	for (size_t i = 0; i < tokens->count; i++) {
		struct token *token = &tokens->items[i];
		char opening = token->length == 1 ? opening_of(*token->text) : '\0';

		if (token->length == 1 && strchr("(<[{", *token->text))
			open[depth++] = i;
		if (!opening)
			continue;
		while (opening != '<' && depth && *tokens->items[open[depth - 1]].text == '<')
			depth--;
		if (!depth || *tokens->items[open[depth - 1]].text != opening) {
			if (opening == '<')
				continue;
			return false;
		}
		token->match = open[--depth];
		tokens->items[token->match].match = i;
	}
	return !depth;
}

/* False: out of memory. *odd: the name stays as it is. */
static bool read_tokens(struct tokens *tokens, const char *name, bool *odd)
{
	opk_autofree size_t *open = NULL;

	if (!cut(tokens, name, odd))
		return false;
	open = opk_alloc_array(tokens->count + 1, sizeof *open);
	if (!open)
		return false;
	*odd = *odd || !tokens->count || !match(tokens, open);
	return true;
}

/* ---- one spelling ----------------------------------------------------------------------- */

/* The first token of the type whose last one is `at`: "ns::list<int>::item"; NO_MATCH: no type. */
static size_t type_begin(const struct tokens *tokens, size_t at)
{
	const struct token *items = tokens->items;

	for (;;) {
		/* The type is local to a function, which may be const. */
		if (is_qualifier(&items[at]) && at && is(&items[at - 1], ")"))
			at--;
		while (items[at].match < at && !is(&items[at], "}")) {
			at = items[at].match;
			if (!at || !(is_word(&items[at - 1]) || items[at - 1].match < at))
				break;
			at--;
		}
		if (is(&items[at], "}"))
			at = items[at].match;
		if (at < 2 || !is(&items[at - 1], "::"))
			break;
		at -= 2;
	}
	while (at && is_builtin(&items[at]) && is_builtin(&items[at - 1]))
		at--;
	return is_word(&items[at]) || items[at].match != NO_MATCH ? at : NO_MATCH;
}

/* The first token of the type whose last one is `last`; NO_MATCH: a pointer's or function's. */
static size_t qualified_type(const struct tokens *tokens, size_t last)
{
	const struct token *token = &tokens->items[last];

	if (is_qualifier(token)
	    || !(is_word(token) || is(token, "}") || (is(token, ">") && token->match < last)))
		return NO_MATCH;
	return type_begin(tokens, last);
}

/*
 * "float const" to "const float"; a pointer's or function's const stays where it is. `type`: where
 * the qualifier before this one went.
 */
static void move_qualifier(struct tokens *tokens, size_t i, size_t *type)
{
	struct token *token = &tokens->items[i];

	if (!i || !is_qualifier(token - 1) || !token[-1].left_out)
		*type = i ? qualified_type(tokens, i - 1) : NO_MATCH;
	if (*type == NO_MATCH)
		return;
	token->left_out = true;
	tokens->items[*type].before = tokens->items[*type].before ? "const volatile "
	                              : is(token, "const")        ? "const "
	                                                          : "volatile ";
}

/* The suffix that a number gets instead of this cast: "(unsigned int)4" becomes 4u. */
static const char *cast_suffix(const struct tokens *tokens, size_t first, size_t count)
{
	static const struct {
		const char *words[4], *suffix;
	} casts[] = {
		{ { "int" }, "" },
		{ { "unsigned", "int" }, "u" },
		{ { "long" }, "l" },
		{ { "unsigned", "long" }, "ul" },
		{ { "long", "long" }, "ll" },
		{ { "unsigned", "long", "long" }, "ull" },
		{ { "bool" }, "bool" },
	};

	for (size_t i = 0; i < sizeof casts / sizeof *casts; i++) {
		size_t same = 0;

		while (same < count && same < 3 && casts[i].words[same]
		       && is(&tokens->items[first + same], casts[i].words[same]))
			same++;
		if (same == count && !casts[i].words[same])
			return casts[i].suffix;
	}
	return NULL;
}

static void drop_cast(struct tokens *tokens, size_t i)
{
	struct token *items = tokens->items;
	size_t end = items[i].match, number = end + 1;
	const char *suffix;

	if (!i || !is(&items[i], "(") || end == NO_MATCH || end < i
	    || !(is(&items[i - 1], "<") || is(&items[i - 1], ",")))
		return;
	number += number < tokens->count && is(&items[number], "-");
	suffix = cast_suffix(tokens, i + 1, end - i - 1);
	if (!suffix || number >= tokens->count || !opk_is_digit(*items[number].text))
		return;
	for (size_t j = i; j <= end; j++)
		items[j].left_out = true;
	if (strcmp(suffix, "bool") != 0) {
		items[number].after = suffix;
		return;
	}
	items[number].text = is(&items[number], "0") ? "false" : "true";
	items[number].length = strlen(items[number].text);
}

static bool is_sign(const struct token *token)
{
	return *token->text == '*' || *token->text == '&';
}

/* "(*)" of a pointer to a function or an array, "(ns::type::*)" of a pointer to a member. */
static bool is_pointer_group(const struct tokens *tokens, size_t i)
{
	const struct token *items = tokens->items;
	size_t end = items[i].match;

	return end != NO_MATCH && end > i + 1
	       && (is_sign(&items[i + 1])
	           || (is_sign(&items[end - 1]) && is(&items[end - 2], "::")));
}

/* Whether a blank is written between two tokens. */
static bool is_apart(const struct tokens *tokens, const struct token *a, size_t i)
{
	const struct token *b = &tokens->items[i];

	if (is(a, ",") || (b->before && is_word(a)))
		return true;
	if (is(b, ",") || is(a, "::") || is(b, "::") || is(a, "("))
		return false;
	if (is_sign(b))
		return is_word(a) || is(a, ">") || is(a, "}") || is(a, "]");
	if (is_word(b))
		return is_word(a) || is(a, ">") || is(a, "]")
		       || (is(a, ")") && !opk_is_digit(*b->text));
	if (is(b, "("))
		return (is_word(a) || is(a, ">"))
		       && (is_builtin(a) || is_qualifier(a) || is_pointer_group(tokens, i));
	if (is(b, "<"))
		return a->text[a->length - 1] == '<';
	if (is(b, "["))
		return !is(a, ")") && !is(a, "]")
		       && !(i + 1 < tokens->count && is(&tokens->items[i + 1], "abi"));
	return false;
}

static char *spell(struct tokens *tokens)
{
	struct opk_buf out = { 0 };
	const struct token *last = NULL;
	size_t type = NO_MATCH;

	for (size_t i = 0; i < tokens->count; i++) {
		if (is_qualifier(&tokens->items[i]))
			move_qualifier(tokens, i, &type);
		drop_cast(tokens, i);
	}
	for (size_t i = 0; i < tokens->count; i++) {
		const struct token *token = &tokens->items[i];

		if (token->left_out)
			continue;
		if (last && is_apart(tokens, last, i))
			opk_buf_add(&out, " ", 1);
		opk_buf_add_text(&out, token->before ? token->before : "");
		opk_buf_add(&out, token->text, token->length);
		opk_buf_add_text(&out, token->after ? token->after : "");
		last = token;
	}
	return opk_buf_take_text(&out);
}

/* NVIDIA's demangler writes "<unnamed>::" where others write "(anonymous namespace)::". free() */
static char *name_unnamed(const char *name)
{
	static const char unnamed[] = "<unnamed>::", anonymous[] = "(anonymous namespace)::";
	struct opk_buf out = { 0 };

	for (const char *at = name; *at;) {
		/* After a word these are a template's arguments. */
		bool found = !strncmp(at, unnamed, strlen(unnamed))
		             && (at == name || !in_word(at[-1]));

		if (found)
			opk_buf_add_text(&out, anonymous);
		else
			opk_buf_add(&out, at, 1);
		at += found ? strlen(unnamed) : 1;
	}
	return opk_buf_take_text(&out);
}

char *opk_kernel_spell(const char *name)
{
	opk_autofree char *named = NULL;
	struct tokens tokens = { 0 };
	bool odd = false;
	char *spelled = NULL;

	/* Most names in libraries are plain words. */
	if (!strpbrk(name, " <(") || strlen(name) > MAX_NAME)
		return opk_strdup(name);
	if (strstr(name, "<unnamed>")) {
		named = name_unnamed(name);
		name = named;
	}
	if (name && read_tokens(&tokens, name, &odd))
		spelled = odd ? opk_strdup(name) : spell(&tokens);
	free(tokens.items);
	return spelled;
}

/* ---- parts ------------------------------------------------------------------------------ */

static struct opk_span_of_text between(const struct tokens *tokens, size_t first, size_t end)
{
	const char *begin = tokens->items[first].text + 1;

	return (struct opk_span_of_text){ begin, (size_t)(tokens->items[end].text - begin) };
}

static void find_parts(struct opk_kernel_parts *parts, const struct tokens *tokens)
{
	const struct token *items = tokens->items;
	size_t end = tokens->count;

	/* Skips "const", and marks of copies that compilers made: "[clone .part.0]". */
	while (end > 1 && (is_qualifier(&items[end - 1]) || is(&items[end - 1], "]")))
		end = is(&items[end - 1], "]") ? items[end - 1].match : end - 1;
	/* Words alone are not a function's: "CUDA graph 3". */
	if (end > 1 && is_word(&items[end - 1]) && is_word(&items[end - 2]))
		return;
	if (end > 1 && is(&items[end - 1], ")")) {
		parts->arguments = between(tokens, items[end - 1].match, end - 1);
		end = items[end - 1].match;
	}
	if (end > 1 && is(&items[end - 1], ">") && items[end - 1].match != NO_MATCH) {
		parts->templates = between(tokens, items[end - 1].match, end - 1);
		end = items[end - 1].match;
	}
	if (end && is_word(&items[end - 1]))
		parts->base = (struct opk_span_of_text){ items[end - 1].text,
			                                 items[end - 1].length };
}

bool opk_kernel_find_parts(struct opk_kernel_parts *parts, const char *name)
{
	struct tokens tokens = { 0 };
	size_t length = strlen(name);
	bool odd = false, good = length > MAX_NAME || read_tokens(&tokens, name, &odd);

	*parts = (struct opk_kernel_parts){ .base = { name, length } };
	if (good && !odd)
		find_parts(parts, &tokens);
	free(tokens.items);
	return good;
}
