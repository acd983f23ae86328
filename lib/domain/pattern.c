/* SPDX-License-Identifier: BSD-2-Clause */
#include "domain/pattern.h"

#include <string.h>

#include "base/ascii.h"
#include "base/glob.h"

enum { MAX_PATTERN = 500, MAX_REPEATS = 100 };

enum opk_pattern_kind opk_pattern_kind(const char *text)
{
	if (*text == '/')
		return OPK_PATTERN_REGEX;
	return strpbrk(text, "*?[") ? OPK_PATTERN_GLOB : OPK_PATTERN_NAME;
}

/* How often the innermost piece may be repeated: a{9}{9}{9} makes an automaton of 729 pieces. */
static unsigned long repeats(const char *regex)
{
	unsigned long product = 1;

	for (const char *open = strchr(regex, '{'); open; open = strchr(open + 1, '{')) {
		const char *comma = open + 1 + strspn(open + 1, "0123456789");
		unsigned long most = strtoul(*comma == ',' ? comma + 1 : open + 1, NULL, 10);

		if (most > MAX_REPEATS || (product *= most ? most : 1) > MAX_REPEATS)
			return MAX_REPEATS + 1;
	}
	return product;
}

/* The ']' that ends the bracket which begins here, or the end. */
static const char *bracket_end(const char *open)
{
	const char *at = open + 1 + (open[1] == '^');

	if (*at == ']')
		at++;
	for (; *at && *at != ']'; at++)
		if (*at == '[' && at[1] && strchr(".:=", at[1]))
			for (const char kind = *++at; *++at && !(*at == kind && at[1] == ']');)
				;
	return at;
}

/*
 * What there is outside of all parentheses: a ')' that closes nothing, else a '|', else nothing. glibc takes such a ')'
 * for a character, and so "a)(b" would be sound between parentheses.
 */
static char outside(const char *regex)
{
	size_t depth = 0;
	char found = '\0';

	for (const char *c = regex; *c; c++) {
		if (*c == '[')
			c = bracket_end(c);
		else if (*c == '\\' && c[1])
			c++;
		else if (*c == '(')
			depth++;
		else if (*c == ')' && !depth--)
			return ')';
		else if (*c == '|' && !depth)
			found = '|';
		if (!*c)
			break;
	}
	return found;
}

/* How many characters every match begins with. */
static size_t literal_beginning(const char *regex)
{
	size_t length = 0;

	while (opk_is_letter(regex[length]) || opk_is_digit(regex[length]))
		length++;
	/* What may be left out is none. */
	if (length && regex[length] && strchr("?*{", regex[length]))
		length--;
	return outside(regex) == '|' ? 0 : length;
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

static bool init_regex(struct opk_pattern *out, struct opk_problems *problems, const char *inner,
                       const struct opk_place *place)
{
	opk_autofree char *whole = opk_printf("^(%s)$", inner);
	int status = !whole ? REG_ESPACE : regcomp(&out->regex, whole, REG_EXTENDED | REG_NOSUB);
	char reason[128];

	if (!status)
		return true;
	if (status == REG_ESPACE)
		problems->no_memory = true;
	regerror(status, &out->regex, reason, sizeof reason);
	opk_problems_add(problems, place, "regular expression /%.200s/: %s", inner, reason);
	return false;
}

static bool check_regex(struct opk_pattern *out, struct opk_problems *problems, const char *text,
                        const struct opk_place *place)
{
	size_t length = strlen(text);
	opk_autofree char *inner = length > 2 ? opk_strndup(text + 1, length - 2) : NULL;

	if (length < 3 || text[length - 1] != '/')
		opk_problems_add(problems, place, "a regular expression stands between two slashes: "
		                                  "/dram__bytes_(read|write)\\.sum/");
	else if (!inner)
		problems->no_memory = true;
	else if (has_back_reference(inner))
		opk_problems_add(problems, place, "back-references are not allowed in regular expressions");
	else if (outside(inner) == ')')
		opk_problems_add(problems, place, "regular expression /%.200s/: a ')' closes nothing", inner);
	else if (repeats(inner) > MAX_REPEATS)
		opk_problems_add(problems, place, "more than %d repetitions in a regular expression",
		                 MAX_REPEATS);
	else
		return init_regex(out, problems, inner, place);
	return false;
}

/* A glob has more than that in it, but nothing that divides. */
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
		opk_problems_add(problems, place, "'%.200s' is no metric name", text);
	else if (pattern->kind == OPK_PATTERN_GLOB && !opk_glob_sound(text))
		opk_problems_add(problems, place, "'%.200s': the bracket is not closed", text);
	else
		return true;
	return false;
}

bool opk_pattern_init(struct opk_pattern *out, struct opk_problems *problems, const char *text,
                      const struct opk_place *place)
{
	bool ok = strlen(text) <= MAX_PATTERN;

	*out = (struct opk_pattern){ .kind = opk_pattern_kind(text), .text = text };
	if (out->kind == OPK_PATTERN_GLOB)
		out->literal = strcspn(text, "*?[");
	else if (out->kind == OPK_PATTERN_REGEX)
		out->literal = literal_beginning(text + 1);
	if (!ok)
		opk_problems_add(problems, place, "a name or pattern has at most %d characters", MAX_PATTERN);
	else
		ok = out->kind == OPK_PATTERN_REGEX ? check_regex(out, problems, text, place)
		                                    : check_glob(out, problems, place);
	/* Nothing to give back. */
	if (!ok)
		out->kind = OPK_PATTERN_NAME;
	return ok;
}

void opk_pattern_clear(struct opk_pattern *pattern)
{
	if (pattern->kind == OPK_PATTERN_REGEX)
		regfree(&pattern->regex);
	pattern->kind = OPK_PATTERN_NAME;
}

bool opk_pattern_match(const struct opk_pattern *pattern, const char *name)
{
	if (pattern->kind == OPK_PATTERN_REGEX)
		return !regexec(&pattern->regex, name, 0, NULL, 0);
	return pattern->kind == OPK_PATTERN_GLOB ? opk_glob_match(pattern->text, name)
	                                         : !strcmp(pattern->text, name);
}

bool opk_pattern_may_match(const struct opk_pattern *pattern, const char *beginning)
{
	const char *text = pattern->text + (pattern->kind == OPK_PATTERN_REGEX);
	size_t length = strlen(beginning);

	return !strncmp(text, beginning, length < pattern->literal ? length : pattern->literal);
}
