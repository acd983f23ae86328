/* SPDX-License-Identifier: BSD-2-Clause */
/* The syntax of names, globs and regular expressions, and which names match. */
#include "set/set.h"

#include <string.h>

#include "base/ascii.h"
#include "base/glob.h"

enum { MAX_PATTERN = 500 };

enum opk_pattern_kind opk_pattern_kind(const char *text)
{
	if (*text == '/')
		return OPK_PATTERN_REGEX;
	return strpbrk(text, "*?[") ? OPK_PATTERN_GLOB : OPK_PATTERN_NAME;
}

/* Text after the ":]", ".]" or "=]" that closes the "[:", "[." or "[=" here, or the end. */
static const char *class_end(const char *open)
{
	const char close[] = { open[1], ']', '\0' };
	const char *at = strstr(open + 2, close);

	return at ? at + 2 : strchr(open, '\0');
}

/* The ']' that closes the bracket here, or the end. */
static const char *bracket_end(const char *open)
{
	const char *at = open + 1 + (open[1] == '^');

	if (*at == ']')
		at++;
	while (*at && *at != ']')
		at = *at == '[' && at[1] && strchr(".:=", at[1]) ? class_end(at) : at + 1;
	return at;
}

/* The next character of `signs` that is an operator, or the end. */
static const char *next_sign(const char *regex, const char *signs)
{
	for (; *regex && !strchr(signs, *regex); regex += *regex != '\0')
		if (*regex == '[')
			regex = bracket_end(regex);
		else if (*regex == '\\' && regex[1])
			regex++;
	return regex;
}

/* glibc takes an unmatched ')' as a character: inside parentheses "a)(b" would look sound. */
static bool closes_too_much(const char *regex)
{
	size_t depth = 0;

	for (const char *c = next_sign(regex, "()"); *c; c = next_sign(c + 1, "()"))
		if (*c == '(')
			depth++;
		else if (!depth--)
			return true;
	return false;
}

bool opk_regex_is_choice(const char *regex)
{
	size_t depth = 0;

	for (const char *c = next_sign(regex, "()|"); *c; c = next_sign(c + 1, "()|")) {
		if (*c == '|' && !depth)
			return true;
		depth += *c == '(' ? 1 : *c == ')' ? (size_t)-1 : 0;
	}
	return false;
}

/* The length of the text with which all matches begin; "ab*" begins with a. */
static size_t regex_literal(const char *regex)
{
	size_t length = opk_regex_is_choice(regex) ? 0 : opk_span(regex, opk_in_name);

	return length && regex[length] && strchr("*?{", regex[length]) ? length - 1 : length;
}

static bool has_back_reference(const char *regex)
{
	for (const char *c = regex; *c; c++)
		if (*c == '\\' && *++c && opk_is_digit(*c))
			return true;
		else if (!*c)
			return false;
	return false;
}

/* Checks the syntax; compiling shows whether POSIX accepts the expression. */
static bool check_regex(struct opk_problems *problems, const char *text,
                        const struct opk_place *place)
{
	size_t length = strlen(text);
	opk_autofree char *inner = length > 2 ? opk_strndup(text + 1, length - 2) : NULL;

	if (length < 3 || text[length - 1] != '/')
		opk_problems_add(problems, place,
		                 "a regular expression is written between two slashes: "
		                 "/dram__bytes_(read|write)\\.sum/");
	else if (!inner)
		problems->code = OPK_ENOMEM;
	else if (has_back_reference(inner))
		opk_problems_add(problems, place,
		                 "back-references are not allowed in regular expressions");
	else if (closes_too_much(inner))
		opk_problems_add(problems, place,
		                 "regular expression /%.200s/: a ')' closes nothing", inner);
	else
		return true;
	return false;
}

/* A glob may have other characters, too, but no separators. */
static bool is_sound(const struct opk_pattern *pattern)
{
	if (pattern->kind == OPK_PATTERN_GLOB)
		return !strpbrk(pattern->text, " \t\n,\"");
	return *pattern->text && !pattern->text[opk_span(pattern->text, opk_in_full_name)];
}

static bool check_glob(const struct opk_pattern *pattern, struct opk_problems *problems,
                       const struct opk_place *place)
{
	const char *text = pattern->text;

	if (!is_sound(pattern))
		opk_problems_add(problems, place, "'%.200s' is not a metric name", text);
	else if (pattern->kind == OPK_PATTERN_GLOB && !opk_glob_sound(text))
		opk_problems_add(problems, place, "'%.200s': the bracket is not closed", text);
	else
		return true;
	return false;
}

bool opk_pattern_init(struct opk_pattern *out, struct opk_problems *problems, const char *text,
                      const struct opk_place *place)
{
	*out = (struct opk_pattern){ .kind = opk_pattern_kind(text), .text = text };
	out->literal = out->kind == OPK_PATTERN_GLOB    ? strcspn(text, "*?[")
	               : out->kind == OPK_PATTERN_REGEX ? regex_literal(text + 1)
	                                                : 0;
	if (strlen(text) <= MAX_PATTERN)
		return out->kind == OPK_PATTERN_REGEX ? check_regex(problems, text, place)
		                                      : check_glob(out, problems, place);
	opk_problems_add(problems, place, "a name or pattern has at most %d characters",
	                 MAX_PATTERN);
	return false;
}

/* ---- names */

static bool is_match(const struct opk_pattern *pattern, const char *name)
{
	return pattern->kind == OPK_PATTERN_GLOB ? opk_glob_match(pattern->text, name)
	                                         : !strcmp(pattern->text, name);
}

static int select_plain(struct opk_selection *out, const struct opk_pattern *pattern,
                        const struct opk_names *names)
{
	size_t capacity = 0;
	const char *name;

	for (size_t i = 0; (name = names->next(names->data)); i++) {
		if (!is_match(pattern, name))
			continue;
		if (!opk_grow(&out->numbers, &capacity, out->count, sizeof *out->numbers))
			return OPK_ENOMEM;
		out->numbers[out->count++] = i;
	}
	return OPK_OK;
}

/* Without names, only checks the expression. */
static int select_regex(struct opk_selection *out, struct opk_ctx *ctx,
                        struct opk_problems *problems, const struct opk_pattern *pattern,
                        const struct opk_place *place, const struct opk_names *names)
{
	opk_autofree char *inner = opk_strndup(pattern->text + 1, strlen(pattern->text) - 2);
	int code = !inner ? OPK_ENOMEM
	           : names->next
	                   ? opk_expression_match(&out->numbers, &out->count, ctx, inner, names)
	                   : opk_expression_check(ctx, inner, names->seconds);

	if (code && code != OPK_ENOMEM)
		opk_problems_add(problems, place, "regular expression /%.200s/: %s", inner,
		                 opk_outermost(ctx));
	if (code)
		opk_clear_errors(ctx);
	return code;
}

int opk_pattern_select(struct opk_selection *out, struct opk_ctx *ctx,
                       struct opk_problems *problems, const struct opk_pattern *pattern,
                       const struct opk_place *place, const struct opk_names *names)
{
	int code;

	*out = (struct opk_selection){ 0 };
	code = pattern->kind == OPK_PATTERN_REGEX
	               ? select_regex(out, ctx, problems, pattern, place, names)
	               : select_plain(out, pattern, names);
	opk_problems_need(problems, code != OPK_ENOMEM);
	return code;
}

void opk_selection_clear(struct opk_selection *selection)
{
	free(selection->numbers);
	*selection = (struct opk_selection){ 0 };
}

int opk_pattern_check(struct opk_ctx *ctx, struct opk_problems *problems,
                      const struct opk_pattern *pattern, const struct opk_place *place,
                      double *seconds)
{
	opk_autoselection struct opk_selection none = { 0 };

	return pattern->kind != OPK_PATTERN_REGEX
	               ? OPK_OK
	               : opk_pattern_select(&none, ctx, problems, pattern, place,
	                                    &(struct opk_names){ .seconds = seconds });
}

bool opk_pattern_may_match(const struct opk_pattern *pattern, const char *beginning)
{
	const char *literal = pattern->text + (pattern->kind == OPK_PATTERN_REGEX);
	size_t length = strlen(beginning);

	return !strncmp(literal, beginning, length < pattern->literal ? length : pattern->literal);
}
