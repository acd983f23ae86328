/* SPDX-License-Identifier: BSD-2-Clause */
/* Matches shell patterns. */
#include "base/glob.h"

#include <string.h>

/* The ']' that closes this bracket, or NULL. A leading ']' is one of its characters. */
static const char *bracket_end(const char *open)
{
	const char *first = open + 1 + (open[1] == '!' || open[1] == '^');

	return *first ? strchr(first + 1, ']') : NULL;
}

bool opk_glob_sound(const char *pattern)
{
	while ((pattern = strchr(pattern, '['))) {
		pattern = bracket_end(pattern);
		if (!pattern)
			return false;
	}
	return true;
}

static bool in_bracket(const char *open, const char *end, char c)
{
	bool inverted = open[1] == '!' || open[1] == '^', found = false;

	for (const char *at = open + 1 + inverted; at < end; at++) {
		if (at[1] == '-' && at + 2 < end) {
			found |= c >= at[0] && c <= at[2];
			at += 2;
		} else {
			found |= c == *at;
		}
	}
	return found != inverted;
}

/* Whether this element of the pattern matches the character; *next is the element after it. */
static bool match_one(const char *pattern, char c, const char **next)
{
	const char *end = *pattern == '[' ? bracket_end(pattern) : NULL;

	*next = end ? end + 1 : pattern + 1;
	return end ? in_bracket(pattern, end, c) : *pattern == '?' || *pattern == c;
}

bool opk_glob_match(const char *pattern, const char *text)
{
	return opk_glob_match_part(pattern, text, strlen(text));
}

bool opk_glob_match_part(const char *pattern, const char *text, size_t length)
{
	const char *star = NULL, *from = NULL, *end = text + length, *next;

	while (text < end) {
		if (*pattern == '*') {
			star = ++pattern;
			from = text;
		} else if (*pattern && match_one(pattern, *text, &next)) {
			pattern = next;
			text++;
		} else if (star) {
			/* Only the last star needs to take one more character. */
			pattern = star;
			text = ++from;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}
