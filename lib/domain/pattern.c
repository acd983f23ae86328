/* SPDX-License-Identifier: BSD-2-Clause */
#include "domain/pattern.h"

#include <ctype.h>
#include <string.h>

#include "base/glob.h"

enum { MAX_PATTERN = 500, MAX_REPEATS = 1000 };

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

static bool has_back_reference(const char *regex)
{
	for (const char *c = regex; *c; c++)
		if (*c == '\\' && *++c && isdigit((unsigned char)*c))
			return true;
		else if (!*c)
			return false;
	return false;
}

static bool init_regex(struct opk_pattern *out, struct opk_problems *problems, const char *inner,
                       const struct opk_place *place)
{
	/* On its own, too, because of "a)(b". */
	opk_autofree char *whole = opk_printf("^(%s)$", inner);
	int status = regcomp(&out->regex, inner, REG_EXTENDED | REG_NOSUB);
	char reason[128];

	if (!status) {
		regfree(&out->regex);
		status = whole ? regcomp(&out->regex, whole, REG_EXTENDED | REG_NOSUB) : REG_ESPACE;
	}
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
	else if (repeats(inner) > MAX_REPEATS)
		opk_problems_add(problems, place, "more than %d repetitions in a regular expression",
		                 MAX_REPEATS);
	else
		return init_regex(out, problems, inner, place);
	return false;
}

static bool check_glob(const struct opk_pattern *pattern, struct opk_problems *problems,
                       const struct opk_place *place)
{
	const char *text = pattern->text;

	if (!*text || strpbrk(text, " \t\n,\""))
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
	out->literal = out->kind == OPK_PATTERN_GLOB ? strcspn(text, "*?[") : 0;
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
	size_t length = strlen(beginning);

	return !strncmp(pattern->text, beginning, length < pattern->literal ? length : pattern->literal);
}
