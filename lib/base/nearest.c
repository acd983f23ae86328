/* SPDX-License-Identifier: BSD-2-Clause */
/* Edit distances between names. */
#include "base/nearest.h"

#include <ctype.h>
#include <string.h>

enum { MAX_LENGTH = 255 };

static size_t min3(size_t a, size_t b, size_t c)
{
	size_t least = a < b ? a : b;

	return least < c ? least : c;
}

static bool same(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

size_t opk_edit_distance(const char *a, const char *b, size_t limit)
{
	size_t length_a = strlen(a), length_b = strlen(b);
	size_t row[MAX_LENGTH + 1];

	if (length_a > MAX_LENGTH || length_b > MAX_LENGTH)
		return limit + 1;
	if ((length_a > length_b ? length_a - length_b : length_b - length_a) > limit)
		return limit + 1;
	for (size_t j = 0; j <= length_b; j++)
		row[j] = j;
	for (size_t i = 1; i <= length_a; i++) {
		size_t diagonal = row[0], least = i;

		row[0] = i;
		for (size_t j = 1; j <= length_b; j++) {
			size_t above = row[j];

			row[j] = min3(above + 1, row[j - 1] + 1,
			              diagonal + !same(a[i - 1], b[j - 1]));
			diagonal = above;
			if (row[j] < least)
				least = row[j];
		}
		if (least > limit)
			return limit + 1;
	}
	return row[length_b] > limit ? limit + 1 : row[length_b];
}

bool opk_is_abbreviation(const char *text, const char *name)
{
	if (strlen(text) < 3 || !same(*text, *name))
		return false;
	for (; *text && *name; name++)
		text += same(*text, *name);
	return !*text;
}

void opk_nearest_try(struct opk_nearest *nearest, const char *candidate)
{
	/* With a third of its letters wrong, a name is not a misspelling but another name. */
	size_t limit = nearest->best ? nearest->distance : strlen(nearest->name) / 3 + 1;
	size_t distance = opk_edit_distance(nearest->name, candidate, limit);

	if (nearest->except && !strcmp(candidate, nearest->except))
		return;
	if (distance > limit || (nearest->best && distance >= nearest->distance))
		return;
	nearest->best = candidate;
	nearest->distance = distance;
}
